/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a list says twice: the same prefix again, a prefix within another one, two halves of a larger one.
 *
 *     10.0.0.0/9  10.128.0.0/9  10.1.0.0/16  10.0.0.0/9     =     10.0.0.0/8
 *
 * Elements are sorted, an outer prefix before those within. One walk keeps those that enclose the present one on a stack
 * (at most one for each prefix length). An element says nothing new if the innermost that encloses it says the same and
 * stays as long; so `nomatch` between the two keeps it. Two halves become one unless the whole is there already,
 * saying the opposite. What expires by itself or has a comment is kept as it is.
 */
#include "lang/list/list.h"
#include "policy/addr.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct key {
	uint64_t word;
	uint32_t at; /* of the element */
	uint32_t flags;
};
enum { IS_PLAIN = 1, NOMATCH = 2, KIND = IS_PLAIN | NOMATCH, IS_GONE = 4, IS_WIDER = 8 };

/* ---------- sorting ---------- */

/* By one digit, stable. false: all have the same digit, and nothing was moved. */
static bool sort_digit(const struct key *from, struct key *to, size_t n, unsigned shift)
{
	uint32_t count[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		count[from[i].word >> shift & (DIGITS - 1)]++;
	if (count[from[0].word >> shift & (DIGITS - 1)] == n)
		return false;
	for (unsigned k = 0; k < DIGITS; k++) {
		uint32_t c = count[k];

		count[k] = sum;
		sum += c;
	}
	for (size_t i = 0; i < n; i++)
		to[count[from[i].word >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

static bool is_sorted(const struct key *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i - 1].word > v[i].word)
			return false;
	return true;
}

static void sort_keys(struct key **v, struct key **spare, size_t n)
{
	struct key *t;

	if (is_sorted(*v, n))
		return;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS)
		if (sort_digit(*v, *spare, n, shift)) {
			t = *v;
			*v = *spare;
			*spare = t;
		}
}

static uint32_t flags_of(const struct set_elem *e)
{
	return (!e->has_timeout && !e->comment.n ? IS_PLAIN : 0) | (e->nomatch ? NOMATCH : 0);
}

/*
 * The elements by address, then by prefix length, then as they stand. The words of an IPv4 set are then address << 8 |
 * prefix length.
 */
static struct key *sorted(struct arena *a, const struct set *s)
{
	size_t n = s->elems.n;
	struct key *v = arena_new(a, struct key, n), *spare = arena_new(a, struct key, n);
	bool is_ip4 = s->family == FAMILY_IP4;

	for (size_t i = 0; i < n; i++) {
		const struct set_elem *e = &s->elems.v[i];

		v[i] = (struct key){ (is_ip4 ? (uint64_t)e->v[0] << 8 : 0) | e->plen[0], (uint32_t)i, flags_of(e) };
	}
	sort_keys(&v, &spare, n);
	for (unsigned shift = 0; !is_ip4 && shift < 128; shift += 64) {
		for (size_t i = 0; i < n; i++)
			v[i].word = (uint64_t)(s->elems.v[v[i].at].v[0] >> shift);
		sort_keys(&v, &spare, n);
	}
	return v;
}

/* ---------- the walk ---------- */

enum { NONE = UINT32_MAX };

/* An element on the walk. They lie in the order of the walk, because the elements themselves are large and far apart. */
struct item {
	u128 lo;
	uint32_t at;	 /* of the element */
	uint32_t before; /* item before it within the same enclosing one; NONE */
	uint32_t flags;
	uint8_t plen;
};

struct frame {
	u128 hi;
	uint32_t at;   /* of the item */
	uint32_t last; /* the last item directly within; NONE */
	uint32_t flags;
	uint8_t plen;
};

struct merge {
	struct diags *d;
	struct set *s;
	struct lang_list *out;
	bool is_strict;
	struct item *item;
	struct frame stack[130];
	unsigned depth; /* stack[0] encloses everything, and is no element */
	unsigned n_errors;
};

static struct item *make_items(struct arena *a, const struct set *s)
{
	size_t n = s->elems.n;
	const struct key *k = sorted(a, s);
	struct item *v = arena_new(a, struct item, n);

	for (size_t i = 0; i < n; i++, k++) {
		v[i] = (struct item){ .lo = k->word >> 8, .at = k->at, .flags = k->flags, .plen = (uint8_t)k->word };
		if (s->family == FAMILY_IP4)
			continue;
		v[i].lo = s->elems.v[k->at].v[0];
		v[i].plen = s->elems.v[k->at].plen[0];
	}
	return v;
}

static void complain(struct merge *m, uint32_t at, uint32_t other, const char *how)
{
	const struct set_elem *e = &m->s->elems.v[m->item[at].at], *o = &m->s->elems.v[m->item[other].at];
	const struct source *src = source_get(m->d->sources, e->at.source);
	struct str text = src ? str_slice(src->text, e->at.off, e->at.off + e->at.len) : STR("");

	if (m->is_strict && ++m->n_errors <= LIST_MAX_ERRORS)
		diag_error(m->d, e->at, "'%.*s' %s (%.*s)", STR_ARG(text), how,
			   STR_ARG(source_name_line(m->d->a, m->d->sources, o->at)));
}

/* Do these two make up the prefix that is one bit shorter, and may they? */
static bool are_halves(const struct merge *m, const struct item *x, const struct item *y, const struct frame *f)
{
	unsigned bits = addr_bits(m->s->family);

	if (x->plen != y->plen || x->plen <= 1 || (x->lo ^ y->lo) != (u128)1 << (bits - x->plen))
		return false;
	if (((x->flags ^ y->flags) & KIND) || !(x->flags & IS_PLAIN))
		return false;
	return m->depth == 1 || f->plen != x->plen - 1;
}

/* Keeps an item, or makes one of it and the half before it, and so on. Returns the prefix length that came of it. */
static uint8_t keep(struct merge *m, uint32_t at)
{
	struct frame *f = &m->stack[m->depth - 1];
	struct item *v = m->item;
	uint8_t plen = v[at].plen;

	v[at].before = f->last;
	f->last = at;
	while (m->s->dim[0] == SET_DIM_NET && v[f->last].before != NONE) {
		struct item now = v[f->last];
		uint32_t half = now.before;

		now.plen = plen;
		if (!are_halves(m, &v[half], &now, f))
			break;
		plen = --v[half].plen;
		v[half].flags |= IS_WIDER;
		v[f->last].flags |= IS_GONE;
		f->last = half;
	}
	return plen;
}

static void add(struct merge *m, uint32_t at)
{
	struct item *e = &m->item[at];
	u128 all = addr_mask(m->s->family, addr_bits(m->s->family));
	const struct frame *f;
	uint8_t plen;

	while (m->depth > 1 && m->stack[m->depth - 1].hi < e->lo)
		m->depth--;
	f = &m->stack[m->depth - 1];
	if (m->depth > 1 && f->flags == e->flags && (e->flags & IS_PLAIN)) {
		m->out->n_overlaps++;
		complain(m, at, f->at, "lies within another entry");
		e->flags |= IS_GONE;
		return;
	}
	plen = keep(m, at);
	m->stack[m->depth++] = (struct frame){ .hi = e->lo | (all & ~addr_mask(m->s->family, plen)), .plen = plen, .at = at,
					       .last = NONE, .flags = e->flags & KIND };
}

/* Of equal elements the last one holds, as if each had been added in turn. */
static void walk(struct merge *m, uint32_t n)
{
	struct item *v = m->item;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = i;

		for (; i + 1 < n && v[i].lo == v[i + 1].lo && v[i].plen == v[i + 1].plen; i++) {
			m->out->n_duplicates++;
			v[i].flags |= IS_GONE;
			complain(m, i + 1, first, "is there already");
		}
		add(m, i);
	}
}

/* What is left, in the order of the list. */
static void take_over(struct merge *m, struct arena *a)
{
	struct set_elem *v = m->s->elems.v;
	size_t n = m->s->elems.n, k = 0, i = 0;
	bool *is_gone = arena_new(a, bool, n);

	for (i = 0; i < n; i++) {
		is_gone[m->item[i].at] = m->item[i].flags & IS_GONE;
		if (m->item[i].flags & IS_WIDER)
			v[m->item[i].at].plen[0] = m->item[i].plen;
	}
	for (i = 0; i < n && !is_gone[i]; i++)
		k++;
	for (; i < n; i++)
		if (!is_gone[i])
			v[k++] = v[i];
	m->s->elems.n = k;
}

static void check_room(struct merge *m)
{
	const struct set *s = m->s;
	struct diag *g;

	if (!s->max_elems || s->forceadd || s->elems.n <= s->max_elems)
		return;
	g = diag_error(m->d, s->elems.v[s->max_elems].at, "set %.*s is full: it holds at most %llu elements", STR_ARG(s->name),
		       (unsigned long long)s->max_elems);
	diag_hint(m->d, g, "raise it where the set is created: maxelem N");
}

void list_merge(struct diags *d, struct set *s, bool is_strict, struct lang_list *out)
{
	struct arena *scratch = arena_create();
	struct merge m = { .d = d, .s = s, .out = out, .is_strict = is_strict };
	size_t n = s->elems.n;

	out->n_duplicates = out->n_overlaps = 0;
	if (n && n < NONE) {
		m.item = make_items(scratch, s);
		m.stack[0] = (struct frame){ .hi = ~(u128)0, .last = NONE };
		m.depth = 1;
		walk(&m, (uint32_t)n);
		take_over(&m, scratch);
		check_room(&m);
	}
	if (m.n_errors > LIST_MAX_ERRORS)
		diag_note(d, s->elems.v[0].at, "%u more entries overlap", m.n_errors - LIST_MAX_ERRORS);
	out->n_merged = s->elems.n;
	arena_destroy(scratch);
}
