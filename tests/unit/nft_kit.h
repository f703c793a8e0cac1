/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of the nft front end share: a text read into its tree, and errors as "LINE:COLUMN TEXT". */
#ifndef WEIR_TESTS_NFT_KIT_H
#define WEIR_TESTS_NFT_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lang/nft/tree.h"

struct nft_kit {
	struct arena *a;
	struct sources s;
	struct diags d;
	struct nft_file *f;
};

static inline void nft_kit_read(struct nft_kit *k, const char *text)
{
	*k = (struct nft_kit){ .a = arena_create() };
	k->s = (struct sources){ .a = k->a, .has_no_files = true };
	k->d = (struct diags){ .a = k->a, .sources = &k->s };
	k->f = nft_parse(k->a, &k->d, source_add(&k->s, "r", str_from(text)));
}

/* All errors and warnings, sorted, one line each: "2:17 text | hint". */
static inline struct str nft_kit_errors(struct nft_kit *k)
{
	struct buf b = { .a = k->a };

	diag_sort(&k->d);
	for (size_t i = 0; i < k->d.all.n; i++) {
		const struct diag *g = &k->d.all.v[i];
		uint32_t line = 0, col = 0;

		source_place(&k->s, g->at, &line, &col);
		buf_printf(&b, "%s%u:%u %s%.*s", i ? "\n" : "", line, col, g->severity == DIAG_WARNING ? "warning: " : "", STR_ARG(g->text));
		if (g->hint.n)
			buf_printf(&b, " | %.*s", STR_ARG(g->hint));
	}
	return b.n ? buf_str(&b) : STR("");
}

/* One rule in a chain that has what rules may want around it. Statements begin in line 11, column 1. */
static inline void nft_kit_rule(struct nft_kit *k, const char *family, const char *rule)
{
	char text[4096];

	snprintf(text, sizeof text,
		 "define port = 22\n"
		 "table %s t {\nset s { type ipv4_addr; flags interval; }\nset dyn { type ipv4_addr; flags dynamic, timeout; }\n"
		 "map vm { type ipv4_addr : verdict; }\nmap mm { type ipv4_addr : mark; }\ncounter web { }\n\n"
		 "chain x { }\nchain c {\n%s\n}\n}\n",
		 family, rule);
	nft_kit_read(k, text);
}

static inline const struct nft_rule *nft_kit_first(const struct nft_kit *k)
{
	const struct nft_chain *c = nft_chain_find(k->f->tables.v[0], STR("c"));

	return c && c->rules.n ? c->rules.v[0] : NULL;
}

#endif
