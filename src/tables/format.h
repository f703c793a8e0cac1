/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table format: what the builder writes, the datapath reads and the loader moves. Constants only, for the C compiler
 * and for BPF.
 *
 * Tables are u64 words. All references inside are word offsets from the base of the half that they lie in, so the
 * same bytes work in either half:
 *
 *     T:  | half 0: 2^k words | half 1: 2^k words | DP_TABLE_PAD words |
 *     half:  word 4 p (p < DP_POINTS): where point p begins (tables/code.h), 0 = no rules there
 *            then lists, bodies, sets in any order
 *
 * A run of a program reads the generation word once; its bit for the program's own slot tells the half.
 *
 *     generation:  bit 0       active slot: the dispatcher of a point tail-calls the program of that slot
 *                  bit 1, 2    the half in use of slot 0, of slot 1
 *                  bit 8..31   serial, one more with each flip
 *                  bit 32 + p  point p is in use; a dispatcher whose bit is 0 accepts without a look
 *
 * So rules are replaced by writing the spare half of the active slot and storing one word; when the shape changes (sizes,
 * features) new maps and programs go to the other slot, and the same one word is stored.
 */
#ifndef WEIR_TABLES_FORMAT_H
#define WEIR_TABLES_FORMAT_H

#include <linux/types.h>

enum { DP_POINTS = 32, DP_POINTS_PER_FAMILY = 16, DP_POINT_WORDS = 4, DP_SLOTS = 2 };

/*
 * Positions of base chains within a family: point = family * 16 + position. The names are those of iptables' tables, whose
 * chains have these numbers wherever they are free. RAW: before connection tracking.
 */
enum dp_position {
	DP_POSITION_PREROUTING_RAW,
	DP_POSITION_PREROUTING_MANGLE,
	DP_POSITION_INPUT_MANGLE,
	DP_POSITION_INPUT_FILTER,
	DP_POSITION_INPUT_SECURITY,
	DP_POSITION_FORWARD_MANGLE,
	DP_POSITION_FORWARD_FILTER,
	DP_POSITION_FORWARD_SECURITY,
	DP_POSITION_OUTPUT_RAW,
	DP_POSITION_OUTPUT_MANGLE,
	DP_POSITION_OUTPUT_FILTER,
	DP_POSITION_OUTPUT_SECURITY,
	DP_POSITION_POSTROUTING_MANGLE,
	DP_POSITION_PREROUTING_MORE,
	DP_POSITION_PREROUTING_MOST,
	DP_POSITION_POSTROUTING_MORE,
	DP_POSITION_COUNT,
};
/* The hook of a position, as the kernel numbers them: PREROUTING 0, INPUT, FORWARD, OUTPUT, POSTROUTING 4. */
#define DP_POSITION_HOOK(p) ((__u32)(0x4004333322211100ull >> 4 * ((p) & 15) & 15))
#define DP_POSITION_IS_RAW(p) (((p) & 15) == DP_POSITION_PREROUTING_RAW || ((p) & 15) == DP_POSITION_OUTPUT_RAW)

#define DP_GEN_SLOT 1ull
#define DP_GEN_HALF(slot) (2ull << (slot))
#define DP_GEN_SERIAL_SHIFT 8
#define DP_GEN_SERIAL_MASK 0xffffffull
#define DP_GEN_POINT(p) (1ull << (32 + (p)))

/* Counters: CNT[row][counter] = {packets, bytes}. Row = CPU number; the row behind the last CPU belongs to user space. */
enum dp_counter {
	DP_COUNTER_MALFORMED,	 /* dropped, or let through with malformed_accept, because of its headers */
	DP_COUNTER_CT_MISSING,	 /* dropped at a conntrack test because nothing in the namespace tracks connections */
	DP_COUNTER_SLOT_MISSING, /* dropped by a dispatcher whose slot holds no program */
	DP_COUNTER_BOUND,	 /* dropped because a bound of the datapath was met: the builder should have refused */
	DP_COUNTER_LOG_LOST,	 /* log events that found the ring full; the packet went on */
	DP_COUNTERS_SPECIAL = 8,
};

enum { DP_TABLE_PAD = 64 }; /* words behind the second half, so that a masked offset plus a small record stays inside */

/* What a program must be able to do; a frozen constant, so what is not asked for is not there. */
enum dp_feature {
	DP_F_PORTS = 1 << 0,	 /* ports, TCP flags, ICMP types */
	DP_F_TCPOPT = 1 << 1,	 /* TCP options and the MSS among them */
	DP_F_EXT = 1 << 2,	 /* IPv6 extension headers, AH and ESP as facts (they are always walked) */
	DP_F_IFACE = 1 << 3,	 /* interface names */
	DP_F_GROUP = 1 << 4,	 /* interface groups */
	DP_F_MAC = 1 << 5,	 /* Ethernet addresses, type, VLAN */
	DP_F_SOCKET = 1 << 6,	 /* owner of the socket */
	DP_F_CT = 1 << 7,	 /* conntrack state, status, direction, mark */
	DP_F_CT_TUPLE = 1 << 8,	 /* addresses and ports of the connection */
	DP_F_SET = 1 << 9,	 /* named sets */
	DP_F_STATE = 1 << 10,	 /* limit, statistic, quota */
	DP_F_LOG = 1 << 11,	 /* log events */
	DP_F_MARK_WRITE = 1 << 12, /* the mark is written back to the packet (tcx) */
	DP_F_CALL = 1 << 13,	 /* chains of their own: the return stack */
	DP_F_BYTES = 1 << 14,	 /* u32 and the like */
	DP_F_TIME = 1 << 15,	 /* the time of day */
	DP_F_REALM = 1 << 16,
	DP_F_PKTTYPE = 1 << 17,
	DP_F_ROUTE = 1 << 18, /* what kind of address the route leads to */
	DP_F_LOOKUP = 1 << 19, /* lists with a lookup engine: tables/lookup.h */
	DP_F_MAP = 1 << 20, /* maps, and tests on several values together */
	DP_F_PAYLOAD = 1 << 21, /* bits of headers */
	DP_F_CLASSES = 1 << 22, /* lists with class tables: tables/classes.h */
};

/* The frozen constants of a program: its whole .rodata. */
struct dp_config {
	__u64 table_mask;   /* words of both halves - 1 */
	__u64 counter_mask; /* counters of all rows - 1 */
	__u64 state_mask;   /* words of both halves - 1 */
	__u64 sets_mask;    /* words of the image of the sets - 1 */
	__u64 conntrack_hook[2]; /* address of the kernel's conntrack hook function, IPv4 and IPv6; 0 = not there */
	__u32 features;
	__u32 point, slot;
	__u32 half_log2, counters_log2, state_log2;
	__u32 malformed_accept, test_meta;
	__u32 count_atomic; /* runs in process context, where a softirq may come between */
	__u32 sees_ct;	    /* conntrack ran before this point */
	__u32 egress;	    /* tcx: the device's egress */
	__u32 pad;
};

/* A log event as it lies in the ring. */
enum { DP_LOG_HEAD = 128 };
struct dp_log_event {
	__u64 time_ns;	/* CLOCK_MONOTONIC */
	__u32 counter;	/* the rule, by its counter */
	__u32 mark;
	__u32 iif, oif; /* ifindex, 0 = none */
	__u32 length;	/* of the IP packet */
	__u8 point;
	__u8 slot;
	__u16 head_len;
	__u32 generation; /* serial */
	__u32 pad;
	__u8 head[DP_LOG_HEAD]; /* from the IP header */
};

/* Metadata that a test run of a netfilter program cannot have from the kernel; one element of the test map. */
struct dp_test_meta {
	__u64 iif[2], oif[2]; /* names, first byte highest; 0 = none */
	__u64 now;	      /* test clock: jiffies */
	__u32 mark, ct_mark, ct_status;
	__u32 uid, gid;
	__u32 iif_group, oif_group;
	__u8 has_socket;
	__u8 ct_state;	      /* 1 << enum ct_state of policy/field.h */
	__u8 ct_dir;
	__u8 pkttype;
	__u8 has_ct, ct_proto;
	__u8 has_mac, has_realm;
	__u8 pad[7];
	__u64 mac_src, mac_dst; /* the source with the Ethernet type in its upper 16 bits */
	__u32 cpu, realm;
	__u32 linear; /* 0, or how much of the packet may be read where it lies */
	__u32 mark_out; /* written by the program: the mark after it */
};

#endif
