/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The evaluator's own reading of a packet: bytes and what the machine said -> the fields of field.def.
 *
 * Here: what the machine knew and the link layer; facts_ip.c and facts_l4.c read on.
 *
 * Slow and obvious on purpose. Every byte is fetched through reader_has(), which knows two ends: `end`, where the IP
 * packet ends on the wire, and `captured`, how much of it we hold. A header that goes beyond `end` is malformed; a
 * header that was only not captured is unknown, never absent and never malformed. A capture that ends before the
 * first byte of the IP header tells nothing at all: the packet is unseen.
 *
 *     Ethernet [tag [tag]] IPv4 ........ TCP ...... payload | padding
 *                          ^l3           ^l4_off            ^end
 *
 * What is malformed (a packet is dropped for it unless the user says otherwise):
 *   - an Ethernet frame of less than 14 bytes, a cut tag, more than two VLAN tags (0x8100, 0x88a8);
 *   - a version that is not what the link layer says, a cut IP header, IPv4 header length below 20;
 *   - IPv4 total length below the header length, or beyond the packet; IPv6 payload length beyond the packet. 0 is
 *     legal (big TCP): the packet is as long as the bytes there, except IPv6 with "no next header", which is empty;
 *   - more than 16 IPv6 extension headers, one that goes beyond the packet, and a later fragment whose next header is
 *     one more of them (nobody can tell its protocol from here; the kernel drops it at the first -p as well);
 *   - in the first or only fragment a transport header that is not whole: TCP 20 bytes, and its data offset at least
 *     5 words and inside the packet; UDP, UDP-Lite, ICMP, ICMPv6, ESP 8; SCTP, DCCP, and AH in IPv4 12;
 *   - an IPv4 TCP fragment at offset 8, inside the TCP header: nobody sends it but to rewrite the flags of the first
 *     fragment behind a filter's back (RFC 1858).
 * What is not: any checksum, UDP's length field, a bad list of TCP options (it is walked as the kernel does: on past
 * an end-of-list, an option of length 0 is stepped over), IPv4 options. A bad list of SCTP chunks makes it unknown.
 *
 * The protocol of an IPv6 packet is the one behind the last extension header, so `-p ah` holds for AH in IPv4 only:
 * hop-by-hop, routing, fragment, AH and destination options are walked, ESP and everything else is final. Fields of
 * extension headers speak of the first header of that type.
 */
#include "eval/facts_reader.h"

enum { MAX_TAGS = 2 };

/* ---------- what the machine knew ---------- */

static void read_iface(struct facts *f, enum field x, const char *name, bool is_said)
{
	if (!is_said)
		facts_put_unknown(f, x);
	else if (name[0])
		facts_put(f, x, field_name_value(str_from(name)));
}

static void read_socket(struct facts *f, const struct packet *p)
{
	bool forwarded = p->has_iif && p->iif[0] && p->has_oif && p->oif[0];
	bool none = p->uid == -2 || p->gid == -2 || (forwarded && p->uid < 0 && p->gid < 0);

	if (none) {
		facts_put(f, FIELD_HAS_SOCKET, 0);
		return;
	}
	if (p->uid >= 0 || p->gid >= 0)
		facts_put(f, FIELD_HAS_SOCKET, 1);
	else
		facts_put_unknown_value(f, FIELD_HAS_SOCKET);
	facts_put_unknown(f, FIELD_UID);
	facts_put_unknown(f, FIELD_GID);
	if (p->uid >= 0)
		facts_put(f, FIELD_UID, (u128)p->uid);
	else if (p->gid >= 0)
		facts_put_unknown_value(f, FIELD_UID);
	if (p->gid >= 0)
		facts_put(f, FIELD_GID, (u128)p->gid);
	else if (p->uid >= 0)
		facts_put_unknown_value(f, FIELD_GID);
}

static void read_ct(struct facts *f, const struct packet *p)
{
	bool no_connection = p->ct == CT_INVALID || p->ct == CT_UNTRACKED;

	if (p->ct >= 0)
		facts_put(f, FIELD_CT_STATE, (u128)1 << p->ct);
	else
		facts_put_unknown_value(f, FIELD_CT_STATE);
	for (int x = FIELD_CT_STATE + 1; x <= FIELD_CT_REPL_DPORT; x++)
		if (!no_connection)
			facts_put_unknown(f, (enum field)x);
	if (p->has_ct_mark && !no_connection)
		facts_put(f, FIELD_CT_MARK, p->ct_mark);
}

static void read_meta(struct facts *f, const struct packet *p)
{
	bool local = !p->has_iif && p->has_oif; /* sent by this machine */

	read_iface(f, FIELD_IIF, p->iif, p->has_iif || local);
	read_iface(f, FIELD_OIF, p->oif, p->has_oif);
	read_iface(f, FIELD_PHYSIN, p->physin, p->has_physin);
	read_iface(f, FIELD_PHYSOUT, p->physout, p->has_physout);
	if (f->has[FIELD_IIF] != EVAL_NO)
		facts_put_unknown(f, FIELD_IIF_GROUP);
	if (f->has[FIELD_OIF] != EVAL_NO)
		facts_put_unknown(f, FIELD_OIF_GROUP);
	facts_put(f, FIELD_MARK, p->has_mark ? p->mark : 0);
	if (p->pkttype >= 0)
		facts_put(f, FIELD_PKTTYPE, (u128)p->pkttype);
	else
		facts_put_unknown_value(f, FIELD_PKTTYPE);
	if (p->cpu >= 0)
		facts_put(f, FIELD_CPU, (u128)p->cpu);
	else
		facts_put_unknown_value(f, FIELD_CPU);
	if (p->realm >= 0)
		facts_put(f, FIELD_REALM, (u128)p->realm);
	else
		facts_put_unknown(f, FIELD_REALM);
	facts_put_unknown_value(f, FIELD_SRC_TYPE);
	facts_put_unknown_value(f, FIELD_DST_TYPE);
	read_socket(f, p);
	read_ct(f, p);
}

/* ---------- link layer ---------- */

static void read_macs(struct facts *f, const struct packet *p, const struct reader *r)
{
	u128 dst;

	facts_put_at(f, FIELD_MAC_DST, r, 0, 6);
	facts_put_at(f, FIELD_MAC_SRC, r, 6, 6);
	if (p->pkttype >= 0 || !f->known[FIELD_MAC_DST])
		return;
	dst = f->v[FIELD_MAC_DST];
	if (dst == field_max(FIELD_MAC_DST))
		facts_put(f, FIELD_PKTTYPE, 1);
	else if (dst >> 40 & 1)
		facts_put(f, FIELD_PKTTYPE, 2);
}

/*
 * Walks the tags of an Ethernet frame. Returns the type behind them and where the next header starts in *off, or
 * -1: malformed, or unseen.
 */
static int read_ether(struct facts *f, const struct packet *p, const struct reader *r, uint32_t *off)
{
	unsigned tags = p->vlan_meta >= 0;

	*off = 12;
	read_macs(f, p, r);
	for (;;) {
		enum span here = reader_has(r, *off, 2);
		unsigned type;

		if (here == SPAN_BEYOND)
			return facts_malformed(f, *off == 12 ? "the Ethernet header is cut short" : "a VLAN tag is cut short"), -1;
		if (here == SPAN_UNSEEN)
			return f->is_unseen = true, -1;
		type = reader_u16(r, *off);
		*off += 2;
		if (type != ETHERTYPE_Q && type != ETHERTYPE_AD) {
			if (type >= 0x600) /* below: the length of an 802.3 frame */
				facts_put(f, FIELD_ETHERTYPE, type);
			return (int)type;
		}
		if (++tags > MAX_TAGS)
			return facts_malformed(f, "there are more than two VLAN tags"), -1;
		if (reader_has(r, *off, 2) == SPAN_BEYOND)
			return facts_malformed(f, "a VLAN tag is cut short"), -1;
		if (tags == 1) {
			facts_put_at(f, FIELD_VLAN, r, *off, 2);
			f->v[FIELD_VLAN] &= 0xfff;
		}
		*off += 2;
	}
}

/* A frame without IP: what is behind its tags. */
static void read_frame(struct facts *f, const struct reader *r, uint32_t off)
{
	f->l3 = r->p + off;
	f->l3_len = r->captured > off ? r->captured - off : 0;
	f->l3_wire_len = r->end - off;
	facts_put(f, FIELD_LENGTH, f->l3_wire_len);
}

void facts_read(struct facts *f, const struct packet *p)
{
	struct reader r = { p->bytes, p->len, p->wire_len > p->len ? p->wire_len : p->len };
	uint32_t off = 0;
	int type = 0;

	memset(f, 0, sizeof *f);
	f->family = FAMILY_FRAME;
	read_meta(f, p);
	if (p->vlan_meta >= 0)
		facts_put(f, FIELD_VLAN, (u128)(p->vlan_meta & 0xfff));
	if (p->link == PACKET_LINK_OTHER)
		return;
	if (p->link == PACKET_LINK_ETHER) {
		type = read_ether(f, p, &r, &off);
		if (type != ETHERTYPE_IP4 && type != ETHERTYPE_IP6) {
			if (type >= 0)
				read_frame(f, &r, off);
			return;
		}
		r.p += off;
		r.captured -= off;
		r.end -= off;
	} else if (f->has[FIELD_IIF] != EVAL_NO) { /* received somewhere: by a device that may be Ethernet */
		facts_put_unknown(f, FIELD_MAC_SRC);
		facts_put_unknown(f, FIELD_MAC_DST);
		facts_put_unknown(f, FIELD_ETHERTYPE);
	}
	facts_read_ip(f, &r, (unsigned)type);
}
