/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands: what stands at the top of a file. Each is carried out at once on the tree.
 *
 *     add rule ip filter input tcp dport 22 accept      insert rule ... | replace rule ... handle 4 ... | delete rule ... handle 4
 *     table inet filter { ... }                         the same as add table
 */
#include "lang/nft/parse.h"
#include "lang/nft/change.h"

static enum nft_family family(struct nft_parse *p)
{
	for (unsigned i = 0; i < NFT_FAMILY_COUNT; i++)
		if (nft_take_word(p, nft_family_name((enum nft_family)i)))
			return (enum nft_family)i;
	return NFT_IP;
}

/* [family] TABLE; the table must be there. */
static bool need_table(struct nft_parse *p)
{
	enum nft_family fam = family(p);
	struct str name;
	struct loc at;

	if (!nft_need_name(p, "a table's name", &name, &at))
		return false;
	p->table = nft_table_find(p->f, fam, name);
	return p->table || nft_change_no_table(p, fam, name, at);
}

static bool need_chain(struct nft_parse *p)
{
	struct str name;
	struct loc at;

	if (!need_table(p) || !nft_need_name(p, "a chain's name", &name, &at))
		return false;
	p->chain = nft_chain_find(p->table, name);
	return p->chain || nft_change_no_chain(p, name, at);
}

static bool need_set(struct nft_parse *p, struct nft_set **s)
{
	struct str name;
	struct loc at;

	if (!need_table(p) || !nft_need_name(p, "a set's name", &name, &at))
		return false;
	*s = nft_set_find(p->table, name);
	return *s || nft_change_no_set(p, name, at);
}

/* ---------- add, create, insert, replace ---------- */

static bool add_table(struct nft_parse *p, bool is_create)
{
	enum nft_family fam = family(p);
	struct str name;
	struct loc at;
	struct nft_table *t;

	if (!nft_need_name(p, "a table's name", &name, &at))
		return false;
	if (is_create && nft_table_find(p->f, fam, name))
		nft_error(p, at, "table '%.*s' is there already", STR_ARG(name));
	t = nft_table_make(p, fam, name, at);
	return nft_take(p, '{') ? nft_table_body(p, t) : true;
}

static bool add_chain(struct nft_parse *p, bool is_create)
{
	struct str name;
	struct loc at;

	if (!need_table(p) || !nft_need_name(p, "a chain's name", &name, &at))
		return false;
	if (is_create && nft_chain_find(p->table, name))
		nft_error(p, at, "chain '%.*s' is there already", STR_ARG(name));
	p->chain = nft_chain_make(p, p->table, name, at);
	return nft_take(p, '{') ? nft_chain_block(p, p->chain) : true;
}

/* position 4 | handle 4 | index 2: where in the chain */
static bool rule_place(struct nft_parse *p, struct nft_change_place *place)
{
	static const char *const words[] = { "", "handle", "position", "index" };

	place->at = nft_token_loc(nft_peek(p));
	for (unsigned i = 1; i < 4; i++)
		if (nft_take_word(p, words[i])) {
			place->by = (enum nft_change_by)i;
			return nft_need_number(p, "a number", UINT64_MAX, &place->number);
		}
	return true;
}

enum rule_verb { RULE_ADD, RULE_INSERT, RULE_REPLACE };

static bool add_rule(struct nft_parse *p, enum rule_verb verb)
{
	struct nft_change_place place = { 0 };
	struct nft_rule *r;

	if (!need_chain(p) || !rule_place(p, &place))
		return false;
	r = nft_rule(p);
	if (!r)
		return true; /* it was stepped over */
	if (verb == RULE_REPLACE)
		return nft_change_replace(p, r, &place);
	return nft_change_add(p, r, &place, verb == RULE_INSERT);
}

static bool add_set(struct nft_parse *p, bool is_map, bool is_create)
{
	struct str name;
	struct loc at;
	struct nft_set *s;

	if (!need_table(p) || !nft_need_name(p, "a set's name", &name, &at))
		return false;
	if (is_create && nft_set_find(p->table, name))
		nft_error(p, at, "'%.*s' is there already", STR_ARG(name));
	s = nft_set_make(p, p->table, name, at);
	s->is_map = is_map;
	if (!nft_need(p, '{') || !nft_set_body(p, s))
		return false;
	nft_late_elems(p);
	return true;
}

static bool add_element(struct nft_parse *p)
{
	struct nft_set *s;

	if (!need_set(p, &s))
		return false;
	nft_change_forget(p, s);
	return nft_elems_for(p, s);
}

static bool add_object(struct nft_parse *p, enum nft_stmt_object kind)
{
	return need_table(p) && nft_object_block(p, kind);
}

static const char *const object_words[] = { "table", "chain", "rule", "set", "map", "element", "flowtable", "counter", "quota", "limit", "secmark", "synproxy", "ruleset" };

static bool report_object(struct nft_parse *p)
{
	const struct nft_token *t = nft_peek(p);
	const char *near = NULL;

	if (t->kind == NFT_TOK_WORD)
		near = str_nearest(nft_token_text(t), object_words, sizeof object_words / sizeof *object_words);
	if (!near)
		return nft_expected(p, "table, chain, rule, set, map, element, flowtable or an object");
	nft_hint(p, nft_error(p, nft_token_loc(t), "'%.*s' is nothing that nft has", STR_ARG(nft_token_text(t))), "did you mean '%s'?", near);
	return false;
}

static bool add(struct nft_parse *p, bool is_create)
{
	enum nft_stmt_object kind;

	if (nft_take_word(p, "table"))
		return add_table(p, is_create);
	if (nft_take_word(p, "chain"))
		return add_chain(p, is_create);
	if (nft_take_word(p, "rule"))
		return add_rule(p, RULE_ADD);
	if (nft_take_word(p, "set"))
		return add_set(p, false, is_create);
	if (nft_take_word(p, "map"))
		return add_set(p, true, is_create);
	if (nft_take_word(p, "element"))
		return add_element(p);
	if (nft_take_word(p, "flowtable"))
		return need_table(p) && nft_flowtable_block(p);
	if (nft_object_is_next(p, &kind))
		return add_object(p, kind);
	return report_object(p);
}

/* ---------- delete, destroy, flush, rename ---------- */

static bool delete_table(struct nft_parse *p, bool may_lack)
{
	enum nft_family fam = family(p);
	struct str name;
	struct loc at;

	if (nft_take_word(p, "handle")) {
		uint64_t handle;

		at = nft_token_loc(nft_peek(p));
		return nft_need_number(p, "a handle", UINT64_MAX, &handle) && nft_change_delete_table_handle(p, fam, handle, at);
	}
	if (!nft_need_name(p, "a table's name", &name, &at))
		return false;
	if (nft_change_delete_table(p, fam, name) || may_lack)
		return true;
	return nft_change_no_table(p, fam, name, at);
}

static bool delete_rule(struct nft_parse *p)
{
	struct nft_change_place place = { 0 };

	if (!need_chain(p) || !rule_place(p, &place))
		return false;
	return nft_change_delete_rule(p, &place);
}

/* A chain, set, map, flowtable or object of a table by its name. */
static bool delete_named(struct nft_parse *p, enum nft_change_what what, bool may_lack)
{
	enum nft_family fam = family(p);
	struct str table, name;
	struct loc table_at, at;

	if (!nft_need_name(p, "a table's name", &table, &table_at) || !nft_need_name(p, "a name", &name, &at))
		return false;
	p->table = nft_table_find(p->f, fam, table);
	if (!p->table)
		return may_lack || nft_change_no_table(p, fam, table, table_at);
	if (str_is(name, "handle") && nft_is(p, NFT_TOK_NUMBER))
		nft_next(p), name = STR("");
	if (nft_is(p, '{'))
		nft_next(p), nft_skip_block(p);
	if (nft_change_delete(p, what, name) || may_lack)
		return true;
	p->f->is_undone = true;
	nft_error(p, at, "there is no '%.*s' in table '%.*s' that could be deleted", STR_ARG(name), STR_ARG(table));
	return true;
}

static bool delete_element(struct nft_parse *p, bool may_lack)
{
	struct nft_set *s, gone = { 0 };

	if (!need_set(p, &s))
		return false;
	gone = *s;
	memset(&gone.elems, 0, sizeof gone.elems);
	return nft_elems_for(p, &gone) && nft_change_delete_elems(p, s, &gone, may_lack);
}

static bool delete(struct nft_parse *p, bool may_lack)
{
	enum nft_stmt_object kind;

	if (nft_take_word(p, "table"))
		return delete_table(p, may_lack);
	if (nft_take_word(p, "chain"))
		return delete_named(p, NFT_CHANGE_CHAIN, may_lack);
	if (nft_take_word(p, "rule"))
		return delete_rule(p);
	if (nft_take_word(p, "set") || nft_take_word(p, "map") || nft_take_word(p, "meter"))
		return delete_named(p, NFT_CHANGE_SET, may_lack);
	if (nft_take_word(p, "element"))
		return delete_element(p, may_lack);
	if (nft_take_word(p, "flowtable"))
		return delete_named(p, NFT_CHANGE_FLOWTABLE, may_lack);
	if (nft_object_is_next(p, &kind))
		return delete_named(p, (enum nft_change_what)(NFT_CHANGE_OBJECT + kind), may_lack);
	return report_object(p);
}

static bool flush_ruleset(struct nft_parse *p)
{
	bool one = !nft_is_end(p);
	enum nft_family fam = family(p);

	nft_change_flush(p, one, fam);
	return true;
}

static bool flush(struct nft_parse *p)
{
	struct nft_set *s;

	if (nft_take_word(p, "ruleset"))
		return flush_ruleset(p);
	if (nft_take_word(p, "table")) {
		if (!need_table(p))
			return false;
		for (size_t i = 0; i < p->table->chains.n; i++)
			p->table->chains.v[i]->rules.n = 0;
		return true;
	}
	if (nft_take_word(p, "chain")) {
		if (!need_chain(p))
			return false;
		p->chain->rules.n = 0;
		return true;
	}
	if (nft_take_word(p, "set") || nft_take_word(p, "map") || nft_take_word(p, "meter")) {
		if (!need_set(p, &s))
			return false;
		nft_change_forget(p, s);
		s->elems.n = 0;
		return true;
	}
	return nft_expected(p, "ruleset, table, chain, set or map");
}

static bool rename_chain(struct nft_parse *p)
{
	struct str name;
	struct loc at;

	if (!nft_need_word(p, "chain") || !need_chain(p) || !nft_need_name(p, "a new name", &name, &at))
		return false;
	return nft_change_rename(p, name, at);
}

/* ---------- all commands ---------- */

static bool only_asks(struct nft_parse *p)
{
	static const char *const words[] = { "list", "reset", "monitor", "describe", "export", "get" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (nft_take_word(p, words[i])) {
			nft_skip_rest(p, 0);
			return true;
		}
	return false;
}

static bool command(struct nft_parse *p)
{
	static const char *const bare[] = { "table", "chain", "rule", "set", "map", "element", "flowtable", "counter", "quota", "limit", "ct", "secmark", "synproxy" };

	if (nft_take_word(p, "add"))
		return add(p, false);
	if (nft_take_word(p, "create"))
		return add(p, true);
	if (nft_take_word(p, "insert"))
		return nft_need_word(p, "rule") && add_rule(p, RULE_INSERT);
	if (nft_take_word(p, "replace"))
		return nft_need_word(p, "rule") && add_rule(p, RULE_REPLACE);
	if (nft_take_word(p, "delete"))
		return delete(p, false);
	if (nft_take_word(p, "destroy"))
		return delete(p, true);
	if (nft_take_word(p, "flush"))
		return flush(p);
	if (nft_take_word(p, "rename"))
		return rename_chain(p);
	if (only_asks(p))
		return true;
	for (size_t i = 0; i < sizeof bare / sizeof *bare; i++)
		if (nft_is_word(p, bare[i]))
			return add(p, false);
	return nft_change_no_command(p);
}

void nft_command(struct nft_parse *p)
{
	const struct nft_token *from = nft_base(p);

	p->table = NULL;
	p->chain = NULL;
	p->depth = 0;
	if (!command(p) || (!nft_is_end(p) && !nft_expected(p, "the end of the line"))) {
		unsigned open = nft_braces_open(from, nft_base(p));

		nft_skip_rest(p, open);
		p->f->lacks_rules = true;
	}
	nft_late_elems(p);
	nft_jumps_check(p, false);
}
