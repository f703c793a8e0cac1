/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Facts of the transport header: ports, flags, options, types. What is malformed is said in facts.c. */
#include "eval/facts_reader.h"

/* As the kernel's tcp match: an end-of-list does not end it, and a length of 0 counts as 1. */
static void read_tcp_options(struct facts *f, const struct reader *r, uint32_t off, uint32_t end)
{
	bool has_mss = false;

	if (reader_has(r, off, end - off) != SPAN_HERE) {
		facts_put_unknown(f, FIELD_TCP_OPTS);
		facts_put_unknown(f, FIELD_TCP_MSS);
		return;
	}
	f->has[FIELD_TCP_OPTS] = EVAL_YES;
	f->known[FIELD_TCP_OPTS] = 1;
	while (off < end) {
		unsigned kind = reader_u8(r, off), len = off + 1 < end ? reader_u8(r, off + 1) : 1;

		f->tcp_opts.v[f->tcp_opts.n++] = (uint16_t)kind; /* at most 40 */
		if (kind == 2 && len == 4 && end - off >= 4 && !has_mss) {
			facts_put(f, FIELD_TCP_MSS, reader_u16(r, off + 2));
			has_mss = true;
		}
		off += kind < 2 || len == 0 ? 1 : len;
	}
}

static void read_tcp(struct facts *f, const struct reader *r, uint32_t off)
{
	uint32_t header;

	facts_put_at(f, FIELD_TCP_FLAGS, r, off + 13, 1);
	if (reader_has(r, off + 12, 1) != SPAN_HERE) {
		facts_put_unknown(f, FIELD_TCP_OPTS);
		facts_put_unknown(f, FIELD_TCP_MSS);
		return;
	}
	header = (reader_u8(r, off + 12) >> 4) * 4;
	if (header < 20)
		facts_malformed(f, "the TCP data offset is below 5 words");
	else if (reader_has(r, off, header) == SPAN_BEYOND)
		facts_malformed(f, "the TCP data offset is beyond the packet");
	else
		read_tcp_options(f, r, off + 20, off + header);
}

/* Each chunk: type, flags, length with this header; padded to words. The list ends with the packet. */
static void read_sctp(struct facts *f, const struct reader *r, uint32_t off)
{
	f->has[FIELD_SCTP_CHUNKS] = EVAL_YES;
	f->known[FIELD_SCTP_CHUNKS] = 1;
	do {
		unsigned len;

		if (reader_has(r, off, 4) != SPAN_HERE || f->sctp_chunks.n == FACTS_MANY_MAX) {
			facts_put_unknown(f, FIELD_SCTP_CHUNKS);
			return;
		}
		len = reader_u16(r, off + 2);
		if (len == 0) {
			facts_put_unknown(f, FIELD_SCTP_CHUNKS);
			return;
		}
		f->sctp_chunks.v[f->sctp_chunks.n++] = (uint16_t)reader_u16(r, off);
		off += (len + 3) / 4 * 4;
	} while (off < r->end);
}

static void read_dccp(struct facts *f, const struct reader *r, uint32_t off)
{
	facts_put_at(f, FIELD_DCCP_TYPE, r, off + 8, 1);
	f->v[FIELD_DCCP_TYPE] = f->v[FIELD_DCCP_TYPE] >> 1 & 15;
}

void facts_read_ah(struct facts *f, const struct reader *r, uint32_t off)
{
	facts_put_at(f, FIELD_AH_LEN, r, off + 1, 1);
	f->v[FIELD_AH_LEN] = (f->v[FIELD_AH_LEN] + 2) * 4;
	facts_put_at(f, FIELD_AH_RES, r, off + 2, 2);
	facts_put_at(f, FIELD_AH_SPI, r, off + 4, 4);
}

/* The shortest whole header of a protocol; 0: we read nothing of it. */
static uint32_t l4_min(enum family fam, unsigned proto)
{
	switch (proto) {
	case NEXT_TCP:
		return 20;
	case NEXT_UDP:
	case NEXT_UDPLITE:
	case NEXT_ESP:
		return 8;
	case NEXT_SCTP:
	case NEXT_DCCP:
		return 12;
	case NEXT_ICMP:
		return fam == FAMILY_IP4 ? 8 : 0;
	case NEXT_ICMP6:
		return fam == FAMILY_IP6 ? 8 : 0;
	case NEXT_AH:
		return fam == FAMILY_IP4 ? 12 : 0;
	}
	return 0;
}

void facts_read_l4(struct facts *f, const struct reader *r, unsigned proto, uint32_t off)
{
	uint32_t need = l4_min(f->family, proto);

	if (need == 0)
		return;
	if (reader_has(r, off, need) == SPAN_BEYOND) {
		facts_malformed(f, "the transport header is cut short");
		return;
	}
	if (proto == NEXT_TCP || proto == NEXT_UDP || proto == NEXT_UDPLITE || proto == NEXT_SCTP ||
	    proto == NEXT_DCCP) {
		facts_put_at(f, FIELD_SPORT, r, off, 2);
		facts_put_at(f, FIELD_DPORT, r, off + 2, 2);
	}
	if (proto == NEXT_TCP)
		read_tcp(f, r, off);
	else if (proto == NEXT_SCTP)
		read_sctp(f, r, off + 12);
	else if (proto == NEXT_DCCP)
		read_dccp(f, r, off);
	else if (proto == NEXT_ESP)
		facts_put_at(f, FIELD_ESP_SPI, r, off, 4);
	else if (proto == NEXT_AH)
		facts_read_ah(f, r, off);
	else if (proto == NEXT_ICMP)
		facts_put_at(f, FIELD_ICMP, r, off, 2);
	else if (proto == NEXT_ICMP6)
		facts_put_at(f, FIELD_ICMP6, r, off, 2);
}
