/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The key: everything that rules may ask about a packet, as words that the parser fills and the tables test. A
 * field is some bits of a word; what may be absent has a bit of its own, so that port 0 is not "no ports".
 *
 *     word DP_W_L4:   | sport 16 | dport 16 | protocol 8 | tcp flags 8 | has bits 16 |
 *     "tcp dport 22": (w & 0x00ff_ff00_8000) ...    a mask, a lower end, a span: see code.h
 *
 * Host order. IPv4 addresses lie in the low word of their pair, the high one is 0.
 */
#ifndef WEIR_TABLES_KEY_H
#define WEIR_TABLES_KEY_H

enum { DP_KEY_WORDS = 24 };

enum dp_word {
	DP_W_SRC_HI,
	DP_W_SRC_LO,
	DP_W_DST_HI,
	DP_W_DST_LO,
	DP_W_L4,    /* sport 48, dport 32, protocol 24, tcp flags 16, DP_HAS_* 0 */
	DP_W_L4B,   /* icmp type-code 48, length of the tcp header 40, esp spi 0 */
	DP_W_IP,    /* type of the destination 52, length 32, ttl 24, tos 16, headers 0 */
	DP_W_MARK,  /* ct mark 32, mark 0 */
	DP_W_CT,    /* state 32, direction 40, has 41, protocol 48, status 0 */
	DP_W_DEV,   /* vlan 48, has bits 40, pkttype 32, cpu 0 */
	DP_W_SOCK,  /* gid 32, uid 0 */
	DP_W_GROUP, /* oif 32, iif 0 */
	DP_W_IIF0,
	DP_W_IIF1,
	DP_W_OIF0,
	DP_W_OIF1,
	DP_W_MACS, /* ether type 48, source address 0 */
	DP_W_MACD, /* destination address 0 */
	DP_W_EXT,  /* dst length 48, hbh length 32, rt length 16, rt segsleft 8, rt type 0 */
	DP_W_FRAG, /* dccp type 48, reserved 32, id 0 */
	DP_W_AH,   /* reserved 48, length 32, spi 0 */
	DP_W_OFF, /* realm 32; where the IP header begins 24, the transport header 0 */
	DP_W_MADE_HI, /* what an instruction has made of the rest: bits of a header */
	DP_W_MADE_LO,
};

/* Bits of DP_W_L4. */
enum dp_has_l4 {
	DP_HAS_PORTS = 1 << 0,
	DP_HAS_TCP = 1 << 1, /* TCP with its header here: flags, options */
	DP_HAS_ICMP = 1 << 3,
	DP_HAS_ICMP6 = 1 << 4,
	DP_HAS_SCTP = 1 << 5,
	DP_HAS_ESP = 1 << 6,
	DP_HAS_DCCP = 1 << 7,
	DP_HAS_AH = 1 << 8,
	DP_HAS_RT = 1 << 9,
	DP_HAS_FRAG = 1 << 10, /* IPv6 fragment header */
	DP_HAS_HBH = 1 << 11,
	DP_HAS_DSTOPT = 1 << 12,
	DP_IS_LATER = 1 << 13, /* a fragment that is not the first */
	DP_IS_FIRST = 1 << 14, /* IPv6 fragment header with offset 0 */
	DP_IS_MORE = 1 << 15,  /* ... with the more bit */
};

/* Bits of DP_W_DEV. */
#define DP_HAS_SOCKET (1ull << 40) /* full socket with an owner */
#define DP_HAS_ETHER (1ull << 41)
#define DP_HAS_VLAN (1ull << 42)
#define DP_IS_SOCKET (1ull << 43) /* any socket */
#define DP_HAS_REALM (1ull << 44)
#define DP_HAS_IIF (1ull << 45)
#define DP_HAS_OIF (1ull << 46)

/* Bits of DP_W_CT. */
#define DP_CT_STATE_SHIFT 32
#define DP_CT_DIR (1ull << 40)
#define DP_HAS_CT (1ull << 41)
#define DP_CT_MISSING 0x80ull /* a state of its own: nothing here tracks connections */

#endif
