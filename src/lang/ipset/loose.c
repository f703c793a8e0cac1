/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elements of a set that no file of this run created: of a set in the kernel, as a command names them.
 *
 *     192.0.2.0/24 timeout 300 nomatch 192.0.2.1      two elements
 *     192.0.2.1,tcp:80                                one, of a set of type hash:ip,port
 *
 * A line may have several; the words behind an element that are options belong to it. # and ; begin a comment.
 */
#include "lang/ipset/ipset.h"
#include "policy/addr.h"

/* ---------- reading ---------- */

static struct ipset_set *wrap(struct arena *a, const struct set *s)
{
	struct ipset_set *w = arena_new(a, struct ipset_set, 1);

	w->type = ipset_type_find(s->type);
	w->model = *s;
	w->max_elems = UINT64_MAX; /* whoever adds them to the set knows how many it has */
	w->lo = s->range_lo;
	w->hi = s->range_hi;
	w->netmask = s->netmask ? s->netmask : (uint8_t)addr_bits(s->family);
	return w;
}

static bool is_comment(const struct ipset_word *w)
{
	return !w->is_quoted && w->text.n && (w->text.p[0] == '#' || w->text.p[0] == ';');
}

/* The words of one element, the first of which is *w; *w is then the first of the next one. false: there is none. */
static bool read_element(struct ipset_reader *r, struct ipset_scan *s, struct ipset_word *w, struct ipset_line *l)
{
	VEC(struct ipset_word) words = { 0 };
	unsigned values = 0;
	bool more = true;

	*vec_add(r->line, &words) = (struct ipset_word){ .text = STR("add"), .at = w->at };
	*vec_add(r->line, &words) = (struct ipset_word){ .text = STR("set"), .at = w->at };
	for (unsigned i = 0; more && !is_comment(w); i++) {
		unsigned n = ipset_elem_option_words(w->text);

		if (i && !values && !n)
			break;
		values = values ? values - 1 : n ? n - 1 : 0;
		*vec_add(r->line, &words) = *w;
		more = ipset_next_word(s, w);
	}
	l->word = words.v;
	l->n = (uint32_t)words.n;
	return more && !is_comment(w);
}

static void read_line(struct ipset_reader *r, struct ipset_scan *s, struct ipset_set *set)
{
	struct ipset_word w;
	struct ipset_line l = { 0 };
	bool more = ipset_next_word(s, &w) && !is_comment(&w);

	while (more) {
		more = read_element(r, s, &w, &l);
		if (s->is_open)
			diag_error(r->d, w.at, "the text that begins here has no closing quotation mark");
		else if (set->type->options & IPSET_SIZE)
			ipset_elem_list(r, set, &l);
		else
			ipset_elem_add(r, set, &l);
		more = more && !s->is_open;
	}
}

void ipset_loose_read(struct arena *a, struct diags *d, uint32_t source, struct set *s)
{
	const struct source *src = source_get(d->sources, source);
	struct ipset_reader r = { .a = a, .scratch = arena_create(), .line = arena_create(), .d = d };
	struct ipset_set *w = wrap(a, s);

	for (uint32_t i = 0; w->type && i < src->n_lines; i++) {
		struct ipset_scan scan = ipset_scan_line(src, source, i);

		read_line(&r, &scan, w);
		arena_reset(r.line);
	}
	if (!w->type)
		diag_error(d, (struct loc){ source, 0, 0 }, "'%.*s' is not a set type", STR_ARG(s->type));
	s->elems.v = w->model.elems.v;
	s->elems.n = w->model.elems.n;
	s->elems.cap = w->model.elems.cap;
	arena_destroy(r.scratch);
	arena_destroy(r.line);
}

/* ---------- printing ---------- */

static void print_port(struct buf *b, const struct set *s, u128 v)
{
	unsigned proto = (unsigned)(v >> 16) & 0xff, port = (unsigned)v & 0xffff;
	const char *name = ipset_value_protocol(proto);

	if (str_is(s->type, "bitmap:port")) {
		buf_printf(b, "%u", port);
		return;
	}
	if (name)
		buf_printf(b, "%s:", name);
	else
		buf_printf(b, "%u:", proto);
	if (proto == 1 || proto == 58)
		buf_printf(b, "%u/%u", port >> 8, port & 0xff);
	else
		buf_printf(b, "%u", port);
}

static void print_mac(struct buf *b, u128 v)
{
	for (unsigned i = 0; i < 6; i++)
		buf_printf(b, "%s%02x", i ? ":" : "", (unsigned)(v >> (40 - 8 * i)) & 0xff);
}

static void print_iface(struct buf *b, const struct set_elem *e, u128 v)
{
	if (e->physdev)
		buf_printf(b, "physdev:");
	for (unsigned i = 0; i < 16; i++) {
		char c = (char)(v >> (120 - 8 * i));

		if (c)
			buf_add(b, &c, 1);
	}
}

static void print_dim(struct buf *b, const struct set *s, const struct set_elem *e, unsigned i)
{
	switch (s->dim[i]) {
	case SET_DIM_PORT:
		print_port(b, s, e->v[i]);
		break;
	case SET_DIM_IFACE:
		print_iface(b, e, e->v[i]);
		break;
	case SET_DIM_MAC:
		print_mac(b, e->v[i]);
		break;
	case SET_DIM_MARK:
	case SET_DIM_VALUE:
		buf_printf(b, "0x%08x", (unsigned)e->v[i]);
		break;
	case SET_DIM_LIST:
		buf_printf(b, "%.*s", STR_ARG(e->list));
		break;
	case SET_DIM_ADDR:
	case SET_DIM_NET:
		addr_print(b, s->family, e->v[i]);
		if (s->dim[i] == SET_DIM_NET && e->plen[i] < addr_bits(s->family))
			buf_printf(b, "/%u", e->plen[i]);
		break;
	}
}

void ipset_loose_print(struct buf *b, const struct set *s, const struct set_elem *e)
{
	for (unsigned i = 0; i < s->n_dims; i++) {
		if (i && e->mac_any && s->dim[i] == SET_DIM_MAC)
			continue;
		buf_printf(b, i ? "," : "");
		print_dim(b, s, e, i);
	}
	if (e->has_timeout)
		buf_printf(b, " timeout %u", e->timeout_s);
	if (e->nomatch)
		buf_printf(b, " nomatch");
	if (e->wildcard)
		buf_printf(b, " wildcard");
	if (e->comment.n)
		buf_printf(b, " comment \"%.*s\"", STR_ARG(e->comment));
}

void ipset_loose_create(struct buf *b, const struct set *s)
{
	const struct ipset_type *t = ipset_type_find(s->type);

	buf_printf(b, "create %.*s %.*s", STR_ARG(s->name), STR_ARG(s->type));
	if (t && (t->options & IPSET_FAMILY))
		buf_printf(b, " family %s", s->family == FAMILY_IP6 ? "inet6" : "inet");
	if (s->options.n)
		buf_printf(b, " %.*s", STR_ARG(s->options));
	buf_add(b, "\n", 1);
}
