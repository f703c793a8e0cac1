/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands carried out on the tree. See change.h. */
#include "lang/nft/change.h"

/* ---------- what is not there ---------- */

bool nft_change_no_table(struct nft_parse *p, enum nft_family fam, struct str name, struct loc at)
{
	VEC(const char *) names = { 0 };
	struct diag *g = nft_error(p, at, "there is no table '%s %.*s' here", nft_family_name(fam), STR_ARG(name));
	const char *near;

	for (size_t i = 0; i < p->f->tables.n; i++) {
		const struct nft_table *t = p->f->tables.v[i];

		if (str_eq(t->name, name)) {
			nft_hint(p, g, "there is one of family %s: write '%s %.*s'", nft_family_name(t->family), nft_family_name(t->family),
				 STR_ARG(name));
			return false;
		}
		if (t->family == fam)
			*vec_add(p->a, &names) = arena_cstr(p->a, t->name);
	}
	near = str_nearest(name, names.v, names.n);
	nft_hint(p, g, near ? "did you mean '%s'?" : "a file is read by itself: add the table in front of this; to delete what may not be there, write 'destroy'", near);
	p->f->is_undone = true;
	return false;
}

bool nft_change_no_chain(struct nft_parse *p, struct str name, struct loc at)
{
	VEC(const char *) names = { 0 };
	const char *near;
	struct diag *g = nft_error(p, at, "there is no chain '%.*s' in table '%.*s'", STR_ARG(name), STR_ARG(p->table->name));

	for (size_t i = 0; i < p->table->chains.n; i++)
		*vec_add(p->a, &names) = arena_cstr(p->a, p->table->chains.v[i]->name);
	near = str_nearest(name, names.v, names.n);
	if (near)
		nft_hint(p, g, "did you mean '%s'?", near);
	return false;
}

bool nft_change_no_set(struct nft_parse *p, struct str name, struct loc at)
{
	VEC(const char *) names = { 0 };
	const char *near;
	struct diag *g = nft_error(p, at, "there is no set or map '%.*s' in table '%.*s'", STR_ARG(name), STR_ARG(p->table->name));

	for (size_t i = 0; i < p->table->sets.n; i++)
		*vec_add(p->a, &names) = arena_cstr(p->a, p->table->sets.v[i]->name);
	near = str_nearest(name, names.v, names.n);
	if (near)
		nft_hint(p, g, "did you mean '%s'?", near);
	return false;
}

bool nft_change_no_command(struct nft_parse *p)
{
	static const char *const words[] = { "add", "create", "insert", "replace", "delete", "destroy", "flush", "rename", "list", "reset",
					     "table", "chain", "rule", "set", "map", "element", "flowtable", "define", "redefine", "undefine", "include" };
	const struct nft_token *t = nft_peek(p);
	const char *near = NULL;

	if (t->kind == NFT_TOK_WORD)
		near = str_nearest(nft_token_text(t), words, sizeof words / sizeof *words);
	if (!near)
		return nft_expected(p, "a command: table, add, insert, replace, delete, flush, define, include");
	nft_hint(p, nft_error(p, nft_token_loc(t), "expected a command, found '%.*s'", STR_ARG(nft_token_text(t))), "did you mean '%s'?", near);
	return false;
}

/* ---------- rules ---------- */

/* The index of the rule that is meant; -1: there is none. */
static long place_of(struct nft_parse *p, const struct nft_change_place *place)
{
	const struct nft_chain *c = p->chain;

	if (place->by == NFT_BY_INDEX && place->number < c->rules.n)
		return (long)place->number;
	for (size_t i = 0; place->by != NFT_BY_INDEX && i < c->rules.n; i++)
		if (c->rules.v[i]->handle == place->number && place->number)
			return (long)i;
	p->f->is_undone = true;
	if (place->by == NFT_BY_INDEX)
		nft_error(p, place->at, "chain '%.*s' has %zu rules, so there is none with index %llu", STR_ARG(c->name), c->rules.n,
			  (unsigned long long)place->number);
	else if (place->by)
		nft_hint(p, nft_error(p, place->at, "no rule of chain '%.*s' has the handle %llu here", STR_ARG(c->name), (unsigned long long)place->number),
			 "handles are given by the kernel; a file has them when it was written by 'nft -a list ruleset'");
	else
		nft_expected(p, "handle or index, and a number");
	return -1;
}

static void put(struct nft_parse *p, struct nft_rule *r, size_t i)
{
	struct nft_chain *c = p->chain;

	(void)vec_add(p->a, &c->rules);
	memmove(&c->rules.v[i + 1], &c->rules.v[i], (c->rules.n - 1 - i) * sizeof *c->rules.v);
	c->rules.v[i] = r;
}

bool nft_change_add(struct nft_parse *p, struct nft_rule *r, const struct nft_change_place *place, bool in_front)
{
	long i;

	if (!place->by) {
		put(p, r, in_front ? 0 : p->chain->rules.n);
		return true;
	}
	i = place_of(p, place);
	if (i >= 0)
		put(p, r, (size_t)i + !in_front);
	return true;
}

bool nft_change_replace(struct nft_parse *p, struct nft_rule *r, const struct nft_change_place *place)
{
	long i = place_of(p, place);

	if (i >= 0) {
		r->handle = p->chain->rules.v[i]->handle;
		p->chain->rules.v[i] = r;
	}
	return true;
}

bool nft_change_delete_rule(struct nft_parse *p, const struct nft_change_place *place)
{
	struct nft_chain *c = p->chain;
	long i = place_of(p, place);

	if (i >= 0) {
		memmove(&c->rules.v[i], &c->rules.v[i + 1], (c->rules.n - 1 - (size_t)i) * sizeof *c->rules.v);
		c->rules.n--;
	}
	return place->by != NFT_BY_NOTHING;
}

static void rename_in(struct nft_table *t, struct str from, struct str to)
{
	for (size_t i = 0; i < t->chains.n; i++)
		for (size_t j = 0; j < t->chains.v[i]->rules.n; j++) {
			struct nft_rule *r = t->chains.v[i]->rules.v[j];

			for (uint32_t k = 0; k < r->n_stmts; k++)
				if (r->stmt[k]->kind == NFT_STMT_VERDICT && r->stmt[k]->expr->kind == NFT_VERDICT &&
				    str_eq(r->stmt[k]->expr->verdict.chain, from))
					r->stmt[k]->expr->verdict.chain = to;
		}
}

bool nft_change_rename(struct nft_parse *p, struct str name, struct loc at)
{
	if (nft_chain_find(p->table, name)) {
		nft_error(p, at, "chain '%.*s' is there already", STR_ARG(name));
		return true;
	}
	*strmap_slot(p->a, &p->table->chain_by_name, p->chain->name) = NULL;
	*strmap_slot(p->a, &p->table->chain_by_name, name) = p->chain;
	rename_in(p->table, p->chain->name, name);
	p->chain->name = name;
	return true;
}

/* ---------- tables and what is in them ---------- */

static void drop_table(struct nft_file *f, size_t i)
{
	memmove(&f->tables.v[i], &f->tables.v[i + 1], (f->tables.n - 1 - i) * sizeof *f->tables.v);
	f->tables.n--;
}

bool nft_change_delete_table(struct nft_parse *p, enum nft_family fam, struct str name)
{
	for (size_t i = 0; i < p->f->tables.n; i++)
		if (p->f->tables.v[i]->family == fam && str_eq(p->f->tables.v[i]->name, name)) {
			drop_table(p->f, i);
			return true;
		}
	return false;
}

bool nft_change_delete_table_handle(struct nft_parse *p, enum nft_family fam, uint64_t handle, struct loc at)
{
	for (size_t i = 0; i < p->f->tables.n; i++)
		if (p->f->tables.v[i]->family == fam && handle && p->f->tables.v[i]->handle == handle) {
			drop_table(p->f, i);
			return true;
		}
	p->f->is_undone = true;
	nft_error(p, at, "no table here has the handle %llu", (unsigned long long)handle);
	return true;
}

/* Takes what == one of the pointers out of a list of them. */
static bool drop(void *list, const void *what)
{
	struct { const void **v; size_t n, cap; } *l = list;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == what) {
			memmove(&l->v[i], &l->v[i + 1], (l->n - 1 - i) * sizeof *l->v);
			l->n--;
			return true;
		}
	return false;
}

bool nft_change_delete(struct nft_parse *p, enum nft_change_what what, struct str name)
{
	struct nft_table *t = p->table;
	struct strmap *map = what == NFT_CHANGE_CHAIN ? &t->chain_by_name : what == NFT_CHANGE_SET ? &t->set_by_name : NULL;
	void *found;

	if (what == NFT_CHANGE_FLOWTABLE) {
		for (size_t i = 0; i < t->flowtables.n; i++)
			if (str_eq(t->flowtables.v[i]->name, name))
				return drop(&t->flowtables, t->flowtables.v[i]);
		return false;
	}
	if (!map)
		map = &t->object_by_name[what - NFT_CHANGE_OBJECT];
	found = strmap_get(map, name);
	if (!found)
		return false;
	*strmap_slot(p->a, map, name) = NULL;
	return what == NFT_CHANGE_CHAIN ? drop(&t->chains, found) : what == NFT_CHANGE_SET ? drop(&t->sets, found) : drop(&t->objects, found);
}

void nft_change_flush(struct nft_parse *p, bool one_family, enum nft_family fam)
{
	size_t n = 0;

	for (size_t i = 0; i < p->f->tables.n; i++)
		if (one_family && p->f->tables.v[i]->family != fam)
			p->f->tables.v[n++] = p->f->tables.v[i];
	p->f->tables.n = n;
}

/* ---------- elements ---------- */

static void key_text(struct buf *b, const struct nft_expr *e)
{
	if (e->kind == NFT_CONCAT) {
		for (uint32_t i = 0; i < e->n_parts; i++)
			key_text(b, e->part[i]);
		return;
	}
	buf_add(b, e->kind == NFT_TEXT ? "t" : e->kind == NFT_ANY ? "*" : "n", 1);
	buf_add(b, (const char *)&e->lo, sizeof e->lo);
	buf_add(b, (const char *)&e->hi, sizeof e->hi);
	buf_printf(b, "%d%zu:", e->is_prefix, e->text.n);
	buf_add(b, e->text.p, e->text.n);
}

static struct str key_of(struct nft_parse *p, const struct nft_expr *e)
{
	struct buf b = { .a = p->a };

	key_text(&b, e);
	return buf_str(&b);
}

void nft_change_forget(struct nft_parse *p, const struct nft_set *s)
{
	if (p->indexed == s)
		p->indexed = NULL;
}

static void make_index(struct nft_parse *p, struct nft_set *s)
{
	if (p->indexed == s)
		return;
	p->indexed = s;
	p->index = (struct strmap){ 0 };
	for (size_t i = 0; i < s->elems.n; i++)
		if (s->elems.v[i].key)
			*strmap_slot(p->a, &p->index, key_of(p, s->elems.v[i].key)) = (void *)(uintptr_t)(i + 1);
}

bool nft_change_delete_elems(struct nft_parse *p, struct nft_set *s, const struct nft_set *gone, bool may_lack)
{
	make_index(p, s);
	for (size_t i = 0; i < gone->elems.n; i++) {
		void **slot = strmap_slot(p->a, &p->index, key_of(p, gone->elems.v[i].key));

		if (*slot) {
			s->elems.v[(uintptr_t)*slot - 1].key = NULL;
			p->has_gaps = true;
			*slot = NULL;
		} else if (!may_lack) {
			p->f->is_undone = true;
			nft_hint(p, nft_error(p, gone->elems.v[i].at, "'%.*s' has no such element", STR_ARG(s->name)),
				 "an element can only be deleted as it was added");
		}
	}
	return true;
}

void nft_change_finish(struct nft_parse *p)
{
	for (size_t i = 0; p->has_gaps && i < p->f->tables.n; i++)
		for (size_t j = 0; j < p->f->tables.v[i]->sets.n; j++) {
			struct nft_set *s = p->f->tables.v[i]->sets.v[j];
			size_t n = 0;

			for (size_t k = 0; k < s->elems.n; k++)
				if (s->elems.v[k].key)
					s->elems.v[n++] = s->elems.v[k];
			s->elems.n = n;
		}
}
