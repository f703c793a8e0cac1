/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets and maps as text: the blocks of named ones, and elements, which are the same within a rule. Elements keep their order.
 * A key that has no type of its own (a number of some bits) is told by `typeof`, as it was written.
 */
#include "lang/nft/print.h"

static void print_elem_stmts(struct nft_print *p, const struct nft_elem *e)
{
	if (!e->n_stmts)
		return;
	buf_printf(&p->b, " ");
	nft_print_stmts(p, e->stmt, e->n_stmts);
}

static void print_elem_options(struct nft_print *p, const struct nft_elem *e)
{
	if (e->has_timeout) {
		buf_printf(&p->b, " timeout ");
		nft_print_time(&p->b, e->timeout_ms);
	}
	if (e->has_expires) {
		buf_printf(&p->b, " expires ");
		nft_print_time(&p->b, e->expires_ms);
	}
	if (e->comment.n) {
		buf_printf(&p->b, " comment ");
		nft_print_quoted(&p->b, e->comment);
	}
}

/* nft reads the two halves in this order among the elements of a set, and the other way round in a rule that adds one. */
void nft_print_elem(struct nft_print *p, const struct nft_elem *e, bool is_in_rule)
{
	nft_print_expr_joined(p, e->key);
	if (is_in_rule)
		print_elem_options(p, e);
	print_elem_stmts(p, e);
	if (!is_in_rule)
		print_elem_options(p, e);
	if (e->data) {
		buf_printf(&p->b, " : ");
		nft_print_expr_joined(p, e->data);
	}
}

static void print_list(struct nft_print *p, const struct nft_set *s, const char *between)
{
	for (size_t i = 0; i < s->elems.n; i++) {
		buf_printf(&p->b, "%s", i ? between : "");
		nft_print_elem(p, &s->elems.v[i], false);
	}
}

void nft_print_elems(struct nft_print *p, const struct nft_set *s)
{
	buf_printf(&p->b, "{ ");
	print_list(p, s, ", ");
	buf_printf(&p->b, " }");
}

static const char *object_word(enum nft_stmt_object o)
{
	static const char *const words[NFT_OBJ_COUNT] = {
		"", "counter", "quota", "limit", "ct helper", "ct timeout", "ct expectation", "secmark", "synproxy",
	};

	return words[o];
}

static void print_data_type(struct nft_print *p, const struct nft_set *s)
{
	if (!s->is_map)
		return;
	buf_printf(&p->b, " : ");
	if (s->data_object) {
		buf_printf(&p->b, "%s", object_word(s->data_object));
		return;
	}
	buf_printf(&p->b, "%s", s->is_data_interval ? "interval " : "");
	if (s->data_typeof && s->key_typeof.n) {
		nft_print_expr_to(p, s->data_typeof);
		return;
	}
	for (size_t i = 0; i < s->data.n; i++)
		buf_printf(&p->b, "%s%s", i ? " . " : "", nft_type_table[s->data.v[i]].name);
}

static void print_type(struct nft_print *p, const struct nft_set *s)
{
	buf_printf(&p->b, s->key_typeof.n ? "\t\ttypeof " : "\t\ttype ");
	for (size_t i = 0; i < s->key_typeof.n; i++) {
		buf_printf(&p->b, "%s", i ? " . " : "");
		nft_print_expr_to(p, s->key_typeof.v[i]);
	}
	for (size_t i = 0; i < s->key.n && !s->key_typeof.n; i++)
		buf_printf(&p->b, "%s%s", i ? " . " : "", nft_type_table[s->key.v[i]].name);
	print_data_type(p, s);
	buf_printf(&p->b, "\n");
}

static void print_flags(struct nft_print *p, const struct nft_set *s)
{
	static const char *const names[] = { "constant", "interval", "timeout", "dynamic" };
	const char *sep = "";

	if (!s->flags)
		return;
	buf_printf(&p->b, "\t\tflags ");
	for (unsigned i = 0; i < 4; i++) {
		if (s->flags & 1u << i) {
			buf_printf(&p->b, "%s%s", sep, names[i]);
			sep = ",";
		}
	}
	buf_printf(&p->b, "\n");
}

static void print_duration(struct nft_print *p, bool is_there, const char *word, uint64_t ms)
{
	if (!is_there)
		return;
	buf_printf(&p->b, "\t\t%s ", word);
	nft_print_time(&p->b, ms);
	buf_printf(&p->b, "\n");
}

static void print_options(struct nft_print *p, const struct nft_set *s)
{
	if (s->has_size)
		buf_printf(&p->b, "\t\tsize %llu\n", (unsigned long long)s->size);
	print_flags(p, s);
	if (s->n_stmts) {
		buf_printf(&p->b, "\t\t");
		nft_print_stmts(p, s->stmt, s->n_stmts);
		buf_printf(&p->b, "\n");
	}
	print_duration(p, s->has_timeout, "timeout", s->timeout_ms);
	print_duration(p, s->has_gc, "gc-interval", s->gc_ms);
	if (s->policy.n)
		buf_printf(&p->b, "\t\tpolicy %.*s\n", STR_ARG(s->policy));
	if (s->auto_merge)
		buf_printf(&p->b, "\t\tauto-merge\n");
	if (s->comment.n) {
		buf_printf(&p->b, "\t\tcomment ");
		nft_print_quoted(&p->b, s->comment);
		buf_printf(&p->b, "\n");
	}
}

void nft_print_set(struct nft_print *p, const struct nft_set *s)
{
	buf_printf(&p->b, "\t%s %.*s {", s->is_map ? "map" : "set", STR_ARG(s->name));
	if (s->handle)
		buf_printf(&p->b, " # handle %llu", (unsigned long long)s->handle);
	buf_printf(&p->b, "\n");
	print_type(p, s);
	print_options(p, s);
	if (s->elems.n) {
		buf_printf(&p->b, "\t\telements = { ");
		print_list(p, s, ",\n\t\t\t     ");
		buf_printf(&p->b, " }\n");
	}
	buf_printf(&p->b, "\t}\n");
}
