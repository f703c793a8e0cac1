/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The door of the nft front end: a whole file, with what it includes. See tree.h and parse.h. */
#include "lang/nft/parse.h"
#include "lang/nft/change.h"

/* Jumps to chains that come only later, or never. */
void nft_jumps_check(struct nft_parse *p, bool is_last)
{
	size_t n = 0;

	for (size_t i = 0; i < p->jumps.n; i++) {
		struct nft_jump *j = &p->jumps.v[i];
		struct nft_chain *c = nft_chain_find(j->table, j->chain);

		if (c && !is_last && !j->is_late)
			continue;
		if (!is_last) {
			j->is_late = true;
			p->jumps.v[n++] = *j;
			continue;
		}
		p->table = j->table;
		if (c)
			nft_hint(p, nft_error(p, j->at, "chain '%.*s' is made only later", STR_ARG(j->chain)), "add the chain in front of the rule");
		else
			nft_change_no_chain(p, j->chain, j->at);
	}
	p->jumps.n = n;
}

/* -D name=value, as if it stood in front of the file. */
static void scan_defines(struct arena *a, struct diags *d, struct nft_tokens *tok)
{
	for (size_t i = 0; i < d->sources->defines.n; i++) {
		const struct source_define *def = &d->sources->defines.v[i];

		nft_scan(a, d, source_add(d->sources, "-D", arena_printf(a, "define %.*s = %.*s", STR_ARG(def->name), STR_ARG(def->value))), tok);
	}
}

static void read_all(struct nft_parse *p)
{
	const struct nft_token *from;

	while (!nft_is(p, NFT_TOK_END)) {
		if (nft_take(p, NFT_TOK_LINE) || nft_take(p, ';') || nft_define(p))
			continue;
		if (nft_is(p, '}')) {
			nft_error(p, nft_token_loc(nft_next(p)), "there is no '{' for this '}'");
			continue;
		}
		from = nft_base(p);
		nft_command(p);
		if (nft_base(p) == from) /* nothing there could be stepped over */
			nft_next(p);
	}
	nft_jumps_check(p, true);
	nft_change_finish(p);
}

struct nft_file *nft_parse(struct arena *a, struct diags *d, uint32_t source)
{
	struct nft_parse p = { .a = a, .d = d, .names = { .a = a } };
	struct nft_tokens tok = { 0 };
	struct nft_token *end;

	p.f = arena_new(a, struct nft_file, 1);
	*vec_add(a, &tok.all) = (struct nft_token){ .kind = NFT_TOK_LINE, .source = source }; /* so that every line begins behind one */
	scan_defines(a, d, &tok);
	nft_scan(a, d, source, &tok);
	end = vec_add(a, &tok.all);
	*end = (struct nft_token){ .source = source, .off = (uint32_t)source_get(d->sources, source)->text.n };
	p.t = tok.all.v;
	p.end = p.whole_end = &tok.all.v[tok.all.n - 1];
	p.f->lacks_rules = !nft_symbols_read(a, d, &p.symbols, &tok) || tok.lacks_some;
	read_all(&p);
	return p.f;
}
