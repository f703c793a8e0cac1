/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ClassBench rulesets, and sets made to be hard: read, as iptables-save text, as packets, and a linear reference that shares
 * nothing with the program.
 *
 * The text is a mangle table whose PREROUTING has one rule for each of the set. Not all of them end the list: some
 * only count, some write the mark, some test the mark that an earlier one wrote.
 */
#ifndef WEIR_TESTS_CLASSBENCH_H
#define WEIR_TESTS_CLASSBENCH_H

#include "base/arena.h"

enum classbench_target { CLASSBENCH_ACCEPT, CLASSBENCH_DROP, CLASSBENCH_COUNT, CLASSBENCH_MARK };
enum { CLASSBENCH_FRAME = 96 };

struct classbench_rule {
	uint32_t src, dst;
	uint8_t src_plen, dst_plen;
	uint16_t sport_lo, sport_hi, dport_lo, dport_hi;
	bool has_proto;
	uint8_t proto, flags, flags_mask;
	bool has_mark; /* passes only with this mark */
	uint8_t mark;
	enum classbench_target target;
};

struct classbench_packet {
	uint32_t src, dst;
	uint16_t sport, dport;
	uint8_t proto, flags;
};

struct classbench {
	struct classbench_rule *rule;
	size_t n;
	uint64_t random;
};

/* At most `most` rules of the file; mixed: not all of them end the list. False: it cannot be read. */
bool classbench_read(struct arena *a, const char *path, size_t most, bool mixed, struct classbench *c);
/* "wild", "bit", "nested", "reversed", "tuples", "ranges" */
void classbench_make(struct arena *a, const char *kind, size_t n, bool mixed, struct classbench *c);
struct str classbench_text(struct arena *a, const struct classbench *c, bool ip6);
/* Packets in the rules, at their edges, mixed of two, and anywhere; from c->random. */
void classbench_trace(struct classbench *c, struct classbench_packet *p, size_t n);
size_t classbench_frame(const struct classbench_packet *p, bool ip6, uint8_t frame[CLASSBENCH_FRAME]);
/* Rules that count the packet, in order; *mark and *drops are what becomes of it. */
size_t classbench_judge(const struct classbench *c, const struct classbench_packet *p, uint32_t *hit, uint32_t *mark,
			bool *drops);

#endif
