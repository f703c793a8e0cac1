/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of the iptables front end share: a text read, its rules printed, its diagnostics looked up. */
#ifndef WEIR_TESTS_UNIT_IPTABLES_KIT_H
#define WEIR_TESTS_UNIT_IPTABLES_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lang/iptables/tree.h"

struct kit {
	struct arena *a;
	struct sources s;
	struct diags d;
	struct ipt_file *file;
};

static inline void kit_read(struct kit *k, enum family family, struct str text)
{
	uint32_t source;

	*k = (struct kit){ .a = arena_create() };
	k->s.a = k->d.a = k->a;
	k->d.sources = &k->s;
	source = source_add(&k->s, "rules", text);
	k->file = iptables_parse(k->a, &k->d, &k->s, source, family);
	diag_sort(&k->d);
}

static inline void kit_close(struct kit *k)
{
	arena_destroy(k->a);
}

/* One rule in a table that has a user chain UC. family is 4 or 6, as in the tables of rows. */
static inline void kit_read_rule(struct kit *k, int family, const char *table, const char *rule)
{
	static char text[8192];

	snprintf(text, sizeof(text), "*%s\n:UC - [0:0]\n%s\nCOMMIT\n", table, rule);
	kit_read(k, family == 6 ? FAMILY_IP6 : FAMILY_IP4, str_from(text));
}

/* The first diagnostic of that severity (and id, if not NULL); NULL. */
static inline const struct diag *kit_find(const struct kit *k, enum diag_severity severity, const char *id)
{
	for (size_t i = 0; i < k->d.all.n; i++) {
		const struct diag *g = &k->d.all.v[i];

		if (g->severity == severity && (!id || (g->id && strcmp(g->id, id) == 0)))
			return g;
	}
	return NULL;
}

static inline const char *kit_show(struct kit *k, const struct diag *g)
{
	return g ? arena_cstr(k->a, diag_format(k->a, &k->d, g)) : "nothing";
}

/* "-A CHAIN ..." of every rule, '|' between them. */
static inline const char *kit_rules(struct kit *k)
{
	struct buf b = { .a = k->a };
	struct str text = iptables_print_file(k->a, k->file, false), line;
	bool more = true;

	while (more) {
		line = str_cut(text, '\n', &text, &more);
		if (str_starts(line, "-A"))
			buf_printf(&b, "%s%.*s", b.n ? "|" : "", STR_ARG(line));
	}
	return b.n ? b.v : "";
}

#endif
