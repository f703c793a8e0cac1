/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a guard asks exactly, as boxes of which one must hold: lists of ports, negations, interfaces, states of connections.
 *
 *     -i lan+ -p tcp -m multiport --dports 22,80     ->     {lan*, tcp, 22}, {lan*, tcp, 80}
 *
 * A graph has one box for a rule and leaves the rest to the guard; class tables have room for some, and then nothing of the
 * guard is left to be asked.
 */
#ifndef WEIR_CLASSIFY_CLASSBOX_H
#define WEIR_CLASSIFY_CLASSBOX_H

#include "classify/classes.h"

enum { CLASS_BOXES = 32 }; /* of a rule, at most */

struct class_list {
	struct box_rule *rule; /* as given, but whole where boxes say all; how far they reach (`until`) is for the caller to say */
	struct class_rule *v;  /* without results, and how far they reach */
	uint32_t *of;	       /* of each: the rule */
	size_t n;
	bool *asks_mark;       /* by rule */
};

/* False: there are more than `most` boxes. */
bool class_list_read(struct arena *a, const struct code *c, const struct box_rule *rule, size_t n, size_t most,
		     struct class_list *out);
bool class_box_is_wild(const struct class_box *b); /* every key is in it */

#endif
