/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One line for what a rule of the model does, in a notation of its own that is the same for every language. */
#ifndef WEIR_CLI_EXPANDED_H
#define WEIR_CLI_EXPANDED_H

#include "policy/policy.h"

/* "ip.src = 192.0.2.0/24; ip.proto = tcp; dport in {22, 80-90}; count; drop" */
void expanded_rule(struct buf *b, const struct rule *r);
/* Packet values that a map asks for: "ip.src . dport". */
void expanded_keys(struct buf *b, const struct map_key *key, unsigned n);
/* "tcp . 22: accept"; u: a use that tells what the keys are, NULL: numbers. */
void expanded_entry(struct buf *b, enum family f, const struct map *m, const struct map_entry *e, const struct map_use *u);
/* The outcome of keys that no entry has: "*: drop". */
void expanded_other(struct buf *b, enum family f, const struct map *m);
void expanded_elem(struct buf *b, const struct set *s, const struct set_elem *e);
/* A name as it is, between quotes where it has blanks. */
void expanded_name(struct buf *b, struct str name);

#endif
