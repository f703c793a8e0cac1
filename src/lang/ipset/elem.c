/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Elements: `add SET VALUE[,VALUE...] [options]`.
 *
 * Each value is a span (ipset.h); the elements of a line are all combinations of what the spans hold:
 *
 *     hash:net,port   192.0.2.1-192.0.2.2,80-81   =   192.0.2.1/32,80  192.0.2.1/32,81  192.0.2.2/32,80  192.0.2.2/32,81
 *
 * An element that is there already is kept once, with a warning unless -exist says that this is meant.
 */
#include "lang/ipset/ipset.h"
#include "policy/addr.h"

enum { ELEM_LINE_MAX = 1000000 };

/* What one value of a line may be: for a network the prefixes, else the numbers of the span. */
struct choice {
	u128 *v;
	uint8_t *plen;
	uint64_t n;
};

/* ---------- finding an element again ---------- */

static uint64_t hash_elem(const struct set_elem *e)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (unsigned i = 0; i < SET_MAX_DIMS; i++) {
		h = (h ^ (uint64_t)e->v[i]) * 0x9e3779b97f4a7c15u;
		h = (h ^ h >> 29 ^ (uint64_t)(e->v[i] >> 64)) * 0xbf58476d1ce4e5b9u;
		h = (h ^ h >> 32) + e->plen[i];
	}
	return h ^ h >> 31;
}

static bool is_same(const struct set_elem *x, const struct set_elem *y)
{
	for (unsigned i = 0; i < SET_MAX_DIMS; i++)
		if (x->v[i] != y->v[i] || x->plen[i] != y->plen[i])
			return false;
	return x->physdev == y->physdev && x->wildcard == y->wildcard && str_eq(x->list, y->list);
}

static uint32_t *find_slot(const struct ipset_set *s, const struct set_elem *e)
{
	size_t i = (size_t)hash_elem(e) & (s->index.cap - 1);

	while (s->index.slot[i] && !is_same(&s->model.elems.v[s->index.slot[i] - 1], e))
		i = (i + 1) & (s->index.cap - 1);
	return &s->index.slot[i];
}

static void index_grow(struct ipset_reader *r, struct ipset_set *s)
{
	if (s->model.elems.n * 2 < s->index.cap)
		return;
	for (s->index.cap = 16; s->index.cap <= s->model.elems.n * 2;)
		s->index.cap *= 2;
	s->index.slot = arena_new(r->scratch, uint32_t, s->index.cap);
	for (size_t i = 0; i < s->model.elems.n; i++)
		*find_slot(s, &s->model.elems.v[i]) = (uint32_t)i + 1;
}

static void add_elem(struct ipset_reader *r, struct ipset_set *s, const struct set_elem *e, struct ipset_word w)
{
	uint32_t *slot;

	index_grow(r, s);
	slot = find_slot(s, e);
	if (*slot) {
		struct set_elem *old = &s->model.elems.v[*slot - 1];

		if (!r->exist) {
			struct str where = source_name_line(r->d->a, r->d->sources, old->at);

			diag_warn(r->d, w.at, "duplicate-element", "'%.*s' is in set %.*s already (%.*s)", STR_ARG(w.text),
				  STR_ARG(s->model.name), STR_ARG(where));
		}
		*old = *e;
		r->has_updated = true;
		return;
	}
	if (s->model.elems.n >= s->max_elems && !s->is_forced) {
		if (!s->is_full) {
			struct diag *g = diag_error(r->d, w.at, "set %.*s is full: it holds at most %llu elements",
						    STR_ARG(s->model.name), (unsigned long long)s->max_elems);

			if (s->type->options & IPSET_HASH)
				diag_hint(r->d, g, "raise it where the set is created: maxelem N");
		}
		s->is_full = true;
		return;
	}
	*vec_add(r->a, &s->model.elems) = *e;
	*slot = (uint32_t)s->model.elems.n;
}

/* ---------- options ---------- */

static bool read_number(struct ipset_reader *r, struct ipset_word w, uint64_t max, uint64_t *out)
{
	if (str_u64(w.text, 0, max, out))
		return true;
	diag_error(r->d, w.at, "a number up to %llu is expected; found '%.*s'", (unsigned long long)max, STR_ARG(w.text));
	return false;
}

/* An option that the set was not created for. */
static bool needs(struct ipset_reader *r, bool has, const struct ipset_set *s, struct ipset_word w, const char *create)
{
	if (!has)
		diag_error(r->d, w.at, "'%.*s' needs a set that was created with '%s'; %.*s was not", STR_ARG(w.text), create,
			   STR_ARG(s->model.name));
	return has;
}

static bool read_comment(struct ipset_reader *r, struct ipset_word w, struct set_elem *e)
{
	e->comment = w.text;
	if (w.text.n > 255)
		diag_error(r->d, w.at, "a comment has at most 255 bytes; this one has %zu", w.text.n);
	return w.text.n <= 255;
}

/* 0xVALUE[/0xMASK] or MAJOR:MINOR or a number: what a target may copy into a packet. Nothing here looks at it. */
static bool read_skb(struct ipset_reader *r, struct ipset_word name, struct ipset_word w)
{
	bool is_prio = str_is(name.text, "skbprio"), has_rest;
	struct str rest, first = str_cut(w.text, is_prio ? ':' : '/', &rest, &has_rest);
	uint64_t v;
	bool ok = str_u64(first, is_prio ? 16 : 0, UINT32_MAX, &v) &&
		  (!has_rest || str_u64(rest, is_prio ? 16 : 0, UINT32_MAX, &v));

	if (!ok)
		diag_error(r->d, w.at, "'%.*s' is not a value for %.*s", STR_ARG(w.text), STR_ARG(name.text));
	return ok;
}

static const char *const value_options[] = { "timeout", "packets", "bytes", "comment", "skbmark", "skbprio", "skbqueue" };

static bool takes_value(struct str word)
{
	for (size_t i = 0; i < sizeof value_options / sizeof *value_options; i++)
		if (str_is(word, value_options[i]))
			return true;
	return false;
}

unsigned ipset_elem_option_words(struct str word)
{
	if (takes_value(word))
		return 2;
	return str_is(word, "nomatch") || str_is(word, "wildcard") || str_is(word, "-exist") || str_is(word, "-!");
}

static bool value_option(struct ipset_reader *r, struct ipset_set *s, const struct ipset_word w[2], struct set_elem *e)
{
	uint64_t v;

	if (str_is(w->text, "timeout")) {
		if (!needs(r, s->model.has_default_timeout, s, w[0], "timeout") || !read_number(r, w[1], 2147483, &v))
			return false;
		e->has_timeout = true;
		e->timeout_s = (uint32_t)v;
		return true;
	}
	if (str_is(w->text, "comment"))
		return needs(r, s->model.has_comments, s, w[0], "comment") && read_comment(r, w[1], e);
	if (str_starts(w->text, "skb"))
		return needs(r, s->model.has_skbinfo, s, w[0], "skbinfo") && read_skb(r, w[0], w[1]);
	return needs(r, s->model.has_counters, s, w[0], "counters") && read_number(r, w[1], UINT64_MAX, &v);
}

static bool has_dim(const struct ipset_set *s, enum set_dim dim)
{
	for (uint8_t i = 0; i < s->type->n_dims; i++)
		if (s->type->dim[i] == dim)
			return true;
	return false;
}

/* The words from l->word[from] on. */
static bool read_options(struct ipset_reader *r, struct ipset_set *s, const struct ipset_line *l, struct set_elem *e)
{
	for (uint32_t i = 3; i < l->n; i++) {
		struct ipset_word w = l->word[i];

		if (str_is(w.text, "-exist") || str_is(w.text, "-!"))
			continue;
		if (str_is(w.text, "nomatch") && has_dim(s, SET_DIM_NET)) {
			e->nomatch = true;
			continue;
		}
		if (str_is(w.text, "wildcard") && has_dim(s, SET_DIM_IFACE)) {
			e->wildcard = true;
			continue;
		}
		if (!takes_value(w.text)) {
			diag_error(r->d, w.at, "an element of type %s has no option '%.*s'", s->type->name, STR_ARG(w.text));
			return false;
		}
		if (++i == l->n) {
			diag_error(r->d, w.at, "'%.*s' needs a value", STR_ARG(w.text));
			return false;
		}
		if (!value_option(r, s, &l->word[i - 1], e))
			return false;
	}
	return true;
}

/* ---------- values ---------- */

static bool read_part(struct ipset_reader *r, const struct ipset_set *s, uint8_t i, struct ipset_word w, struct ipset_part *p)
{
	switch (s->type->dim[i]) {
	case SET_DIM_ADDR:
		if (!ipset_value_addr(r, s, w, p))
			return false;
		if (i > 0 && p->lo != p->hi) {
			diag_error(r->d, w.at, "only the first address of an element may be a range");
			return false;
		}
		return true;
	case SET_DIM_NET:
		return ipset_value_net(r, s, w, p);
	case SET_DIM_PORT:
		return ipset_value_port(r, s, w, p);
	case SET_DIM_IFACE:
		return ipset_value_iface(r, w, p);
	case SET_DIM_MAC:
		return ipset_value_mac(r, w, p);
	case SET_DIM_MARK:
		return ipset_value_mark(r, s, w, p);
	default:
		return false;
	}
}

/* What the kernel refuses of values that are well written. */
static bool check_part(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, const struct ipset_part *p)
{
	if ((s->type->options & IPSET_RANGE) && (p->lo < s->lo || p->hi > s->hi)) {
		diag_error(r->d, w.at, "'%.*s' is outside of the range of set %.*s", STR_ARG(w.text), STR_ARG(s->model.name));
		return false;
	}
	if (strcmp(s->type->name, "hash:ip") == 0 && p->lo == 0) {
		diag_error(r->d, w.at, "a set of type hash:ip cannot hold the address zero");
		return false;
	}
	return true;
}

/* Splits the span into prefixes, the largest that fit, from the start. */
static void split_net(struct ipset_reader *r, const struct ipset_set *s, const struct ipset_part *p, struct choice *c)
{
	unsigned width = addr_bits(s->model.family), room = 2 * width;
	u128 all = addr_mask(s->model.family, width), at = p->lo;

	if ((p->lo & (p->hi - p->lo)) == 0 && ((p->hi - p->lo) & (p->hi - p->lo + 1)) == 0)
		room = 2; /* one prefix, or the whole family */
	c->v = arena_new(r->line, u128, room);
	c->plen = arena_new(r->line, uint8_t, room);
	for (;;) {
		unsigned bits = 0;

		while (bits < width) {
			u128 host = bits + 1 == 128 ? all : ((u128)1 << (bits + 1)) - 1;

			if ((at & host) != 0 || (at | host) > p->hi)
				break;
			bits++;
		}
		c->v[c->n] = at;
		c->plen[c->n++] = (uint8_t)(width - bits);
		at |= bits == 0 ? 0 : bits == 128 ? all : ((u128)1 << bits) - 1;
		if (at >= p->hi)
			return;
		at++;
	}
}

static uint64_t span_count(const struct ipset_part *p)
{
	u128 n = (p->hi - p->lo) / p->step;

	return n >= ELEM_LINE_MAX ? ELEM_LINE_MAX + 1 : (uint64_t)n + 1;
}

static void choose(struct ipset_reader *r, const struct ipset_set *s, const struct ipset_part *p, struct choice *c)
{
	*c = (struct choice){ 0 };
	if (p->is_net) {
		split_net(r, s, p, c);
		return;
	}
	c->n = span_count(p);
}

static void add_all(struct ipset_reader *r, struct ipset_set *s, const struct ipset_part *p, struct set_elem *e,
		    struct ipset_word w)
{
	struct choice c[SET_MAX_DIMS];
	uint64_t at[SET_MAX_DIMS] = { 0 }, total = 1;
	uint8_t n = s->type->n_dims, i;

	for (i = 0; i < n; i++) {
		choose(r, s, &p[i], &c[i]);
		total = total * c[i].n > ELEM_LINE_MAX ? ELEM_LINE_MAX + 1 : total * c[i].n;
	}
	if (total > ELEM_LINE_MAX) {
		diag_error(r->d, w.at, "'%.*s' stands for more than %d elements", STR_ARG(w.text), ELEM_LINE_MAX);
		return;
	}
	do {
		for (i = 0; i < n; i++) {
			e->v[i] = c[i].v ? c[i].v[at[i]] : p[i].lo + at[i] * p[i].step;
			e->plen[i] = c[i].v ? c[i].plen[at[i]] : p[i].plen;
		}
		add_elem(r, s, e, w);
		for (i = n; i > 0; i--) {
			if (++at[i - 1] < c[i - 1].n)
				break;
			at[i - 1] = 0;
		}
	} while (i > 0);
}

/* How many values the element has, between commas. */
static uint8_t count_values(struct str s)
{
	uint8_t n = 1;

	for (size_t i = 0; i < s.n; i++)
		n = (uint8_t)(n + (s.p[i] == ',' && n < 255));
	return n;
}

bool ipset_elem_add(struct ipset_reader *r, struct ipset_set *s, const struct ipset_line *l)
{
	struct ipset_part part[SET_MAX_DIMS] = { 0 };
	struct ipset_word w = l->word[2];
	struct set_elem e = { .at = w.at };
	uint8_t got = count_values(w.text), n = s->type->n_dims;
	size_t from = 0;

	if (got == 1 && strcmp(s->type->name, "bitmap:ip,mac") == 0) {
		e.mac_any = true;
		part[1] = (struct ipset_part){ .step = 1 };
	} else if (got != n) {
		diag_error(r->d, w.at, "an element of type %s has %u value%s, '%.*s' has %u", s->type->name, n, n == 1 ? "" : "s",
			   STR_ARG(w.text), got);
		return false;
	}
	for (uint8_t i = 0; i < got; i++) {
		size_t to = from;

		while (to < w.text.n && w.text.p[to] != ',')
			to++;
		if (!read_part(r, s, i, ipset_value_piece(w, from, to), &part[i]) ||
		    (i == 0 && !check_part(r, s, ipset_value_piece(w, from, to), &part[i])))
			return false;
		e.physdev |= part[i].is_physdev;
		from = to + 1;
	}
	if (!read_options(r, s, l, &e))
		return false;
	add_all(r, s, part, &e, w);
	return true;
}

/* ---------- list:set ---------- */

static size_t member_at(const struct ipset_set *s, struct str name)
{
	for (size_t i = 0; i < s->model.elems.n; i++)
		if (str_eq(s->model.elems.v[i].list, name))
			return i;
	return s->model.elems.n;
}

/* add LIST SET [before|after SET]: takes those two words out of the options. */
bool ipset_elem_list(struct ipset_reader *r, struct ipset_set *s, const struct ipset_line *l)
{
	struct ipset_line rest = { arena_new(r->line, struct ipset_word, l->n), 0, false };
	struct ipset_word w = l->word[2];
	struct set_elem e = { .at = w.at, .list = w.text };
	size_t pos = s->model.elems.n, have = pos;

	for (uint32_t i = 0; i < l->n; i++) {
		bool is_after = str_is(l->word[i].text, "after");

		if (i < 3 || i + 1 == l->n || (!is_after && !str_is(l->word[i].text, "before"))) {
			rest.word[rest.n++] = l->word[i];
			continue;
		}
		pos = member_at(s, l->word[++i].text);
		if (pos == have) {
			diag_error(r->d, l->word[i].at, "'%.*s' is not a member of %.*s", STR_ARG(l->word[i].text),
				   STR_ARG(s->model.name));
			return false;
		}
		pos += is_after;
	}
	if (!read_options(r, s, &rest, &e))
		return false;
	add_elem(r, s, &e, w);
	if (s->model.elems.n > have) {
		memmove(&s->model.elems.v[pos + 1], &s->model.elems.v[pos], (have - pos) * sizeof e);
		s->model.elems.v[pos] = e;
		s->index.cap = 0; /* places moved: build it again */
	}
	return true;
}
