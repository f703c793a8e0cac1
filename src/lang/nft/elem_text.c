/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elements of a set in the kernel, as a command names them in nft's words.
 *
 *     192.0.2.0/24 timeout 5m 192.0.2.1      two elements
 *     192.0.2.1 . 80                         one, of a set of type ipv4_addr . inet_service
 *
 * They are read as the elements of a set in a file would be: the text is put into one, on a line of its own, with a comma
 * between elements where there is a blank.
 */
#include "lang/nft/elem_text.h"
#include "lang/nft/lower.h"
#include "policy/addr.h"

static bool is_option(struct str w)
{
	return str_is(w, "timeout") || str_is(w, "expires") || str_is(w, "comment");
}

/* Where a new element begins the blank in front of it becomes a comma. */
static void put_commas(char *text, size_t n)
{
	struct str last = { 0 };

	for (size_t i = 0; i < n;) {
		size_t from;
		struct str w;

		while (i < n && strchr(" \t\n", text[i]))
			i++;
		from = i;
		if (i < n && text[i] == '"')
			for (i++; i < n && text[i] != '"'; i++)
				;
		while (i < n && !strchr(" \t\n", text[i]))
			i++;
		w = (struct str){ text + from, i - from };
		if (w.n == 0)
			break;
		if (last.n && !str_is(w, ".") && !str_is(last, ".") && !str_is(w, ",") && last.p[last.n - 1] != ',' && w.p[0] != ',' &&
		    !is_option(w) && !is_option(last))
			text[from - 1] = ',';
		last = w;
	}
}

bool nft_elems_are(const struct set *s)
{
	return s->type.n && !memchr(s->type.p, ':', s->type.n);
}

void nft_elems_read(struct arena *a, struct diags *d, uint32_t source, struct set *s)
{
	struct str in = source_get(d->sources, source)->text, text;
	char *own = arena_new(a, char, in.n + 1);
	struct nft_lower l = { .a = a, .d = d, .rs = policy_create(a), .shared = nft_lower_shared_create(a) };
	unsigned errors = d->n_errors;
	const struct nft_file *f;
	const struct set *made;

	memcpy(own, in.p, in.n);
	put_commas(own, in.n);
	text = arena_printf(a, "table inet t { set s { type %.*s;%s%s elements = {\n%.*s\n} } }\n", STR_ARG(s->type),
			    str_is(s->options, "interval") ? " flags interval;" : "", s->has_default_timeout ? " flags timeout;" : "",
			    (int)in.n, own);
	f = nft_parse(a, d, source_add(d->sources, "element", text));
	if (d->n_errors > errors)
		return;
	l.table = f->tables.v[0];
	if (f->tables.n == 1 && l.table->sets.n == 1)
		nft_lower_set(&l, l.table->sets.v[0]);
	made = l.rs->sets.n ? l.rs->sets.v[0] : NULL;
	if (!made || made->n_dims != s->n_dims) {
		diag_error(d, (struct loc){ source, 0, (uint32_t)in.n }, "this cannot be an element of a set of type %.*s",
			   STR_ARG(s->type));
		return;
	}
	for (size_t i = 0; i < made->elems.n; i++)
		*vec_add(a, &s->elems) = made->elems.v[i];
}

/* ---------- printing ---------- */

static void print_number(struct buf *b, u128 v)
{
	if (v >> 64)
		buf_printf(b, "0x%llx%016llx", (unsigned long long)(v >> 64), (unsigned long long)v);
	else
		buf_printf(b, "%llu", (unsigned long long)v);
}

static void print_dim(struct buf *b, const struct set *s, const struct set_elem *e, unsigned i)
{
	u128 v = e->v[i];

	switch (s->dim[i]) {
	case SET_DIM_ADDR:
	case SET_DIM_NET:
		addr_print(b, s->family, v);
		if (e->plen[i] < addr_bits(s->family))
			buf_printf(b, "/%u", e->plen[i]);
		break;
	case SET_DIM_MAC:
		for (unsigned k = 0; k < 6; k++)
			buf_printf(b, "%s%02x", k ? ":" : "", (unsigned)(v >> (40 - 8 * k)) & 0xff);
		break;
	case SET_DIM_IFACE:
		for (unsigned k = 0; k < 16 && (char)(v >> (120 - 8 * k)); k++)
			buf_add(b, &(char){ (char)(v >> (120 - 8 * k)) }, 1);
		buf_printf(b, e->wildcard ? "*" : "");
		break;
	default:
		print_number(b, v);
		if (e->plen[i] < s->value_bits[i]) {
			buf_printf(b, "-");
			print_number(b, v | nft_lower_mask_bits((unsigned)(s->value_bits[i] - e->plen[i])));
		}
	}
}

void nft_elem_print(struct buf *b, const struct set *s, const struct set_elem *e)
{
	for (unsigned i = 0; i < s->n_dims; i++) {
		buf_printf(b, i ? " . " : "");
		print_dim(b, s, e, i);
	}
	if (e->has_timeout)
		buf_printf(b, " timeout %us", e->timeout_s);
	if (e->comment.n)
		buf_printf(b, " comment \"%.*s\"", STR_ARG(e->comment));
}

void nft_set_print(struct buf *b, const struct set *s)
{
	struct str table, name, family = str_cut(s->name, '/', &table, &(bool){ false });

	table = str_cut(table, '/', &name, &(bool){ false });
	buf_printf(b, "add set %.*s %.*s %.*s { type %.*s;", STR_ARG(family), STR_ARG(table), STR_ARG(name), STR_ARG(s->type));
	if (str_is(s->options, "interval"))
		buf_printf(b, " flags interval;");
	if (s->has_default_timeout)
		buf_printf(b, " flags timeout;");
	if (s->default_timeout_s)
		buf_printf(b, " timeout %us;", s->default_timeout_s);
	buf_printf(b, " }\n");
}
