/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets that somebody else has parsed, as the words that our parser would have made: see weir.h, tables/key.h. */
#include <netinet/in.h>

#include "api/api.h"
#include "tables/key.h"

static uint64_t be(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

static void read_addresses(const struct weir_key *k, uint64_t *w)
{
	if (k->flags & WEIR_KEY_IP6) {
		w[DP_W_SRC_HI] = be(k->src, 8);
		w[DP_W_SRC_LO] = be(k->src + 8, 8);
		w[DP_W_DST_HI] = be(k->dst, 8);
		w[DP_W_DST_LO] = be(k->dst + 8, 8);
	} else {
		w[DP_W_SRC_LO] = be(k->src, 4);
		w[DP_W_DST_LO] = be(k->dst, 4);
	}
}

static void read_ports(const struct weir_key *k, uint64_t *w)
{
	w[DP_W_L4] |= (uint64_t)k->sport << 48 | (uint64_t)k->dport << 32 | DP_HAS_PORTS;
	if (k->proto == IPPROTO_TCP)
		w[DP_W_L4] |= (uint64_t)k->tcp_flags << 16 | DP_HAS_TCP;
	if (k->proto == IPPROTO_SCTP)
		w[DP_W_L4] |= DP_HAS_SCTP;
	if (k->proto == IPPROTO_DCCP) {
		w[DP_W_L4] |= DP_HAS_DCCP;
		w[DP_W_FRAG] |= (uint64_t)(k->tcp_flags & 15) << 48;
	}
}

/* ICMP in IPv6, ICMPv6 in IPv4 are protocols like any other. */
static void read_transport(const struct weir_key *k, uint64_t *w)
{
	bool is_ip6 = k->flags & WEIR_KEY_IP6;

	switch (k->proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		read_ports(k, w);
		break;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		if (is_ip6 != (k->proto == IPPROTO_ICMPV6))
			break;
		w[DP_W_L4B] = (uint64_t)k->icmp_type << 56 | (uint64_t)k->icmp_code << 48;
		w[DP_W_L4] |= is_ip6 ? DP_HAS_ICMP6 : DP_HAS_ICMP;
		break;
	case IPPROTO_ESP:
		w[DP_W_L4B] = k->spi;
		w[DP_W_L4] |= DP_HAS_ESP;
		break;
	}
}

uint32_t key_read(const struct weir_key *k, uint64_t *w)
{
	bool is_ip6 = k->flags & WEIR_KEY_IP6;

	memset(w, 0, DP_KEY_WORDS * sizeof *w);
	read_addresses(k, w);
	w[DP_W_IP] = (uint64_t)(k->length & 0xfffff) << 32 | (uint64_t)k->ttl << 24 | (uint64_t)k->tos << 16;
	w[DP_W_L4] = (uint64_t)k->proto << 24;
	if (k->flags & WEIR_KEY_LATER)
		w[DP_W_L4] |= DP_IS_LATER;
	else
		read_transport(k, w);
	return (k->flags & WEIR_KEY_HEADER ? WEIR_FACT_HEADER : 0) | (k->flags & WEIR_KEY_CT_MARK ? WEIR_FACT_CT_MARK : 0) |
	       (!is_ip6 && k->proto != IPPROTO_AH ? WEIR_FACT_EXTENSIONS : 0);
}
