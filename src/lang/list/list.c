/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of a list, their options, and the elements that they stand for. */
#include "lang/list/list.h"
#include "policy/addr.h"

struct loc list_place(const struct list_reader *r, const char *from, const char *to)
{
	return (struct loc){ r->source, (uint32_t)(from - r->text), (uint32_t)(to - from) };
}

struct diag *list_error(struct list_reader *r, struct loc at, const char *fmt, ...)
{
	struct diag *g = NULL;
	va_list ap;

	if (++r->n_errors <= LIST_MAX_ERRORS) {
		va_start(ap, fmt);
		g = diag_error(r->d, at, "%s", arena_vprintf(r->d->a, fmt, ap).p);
		va_end(ap);
	}
	return g;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && is_blank(*p))
		p++;
	return p;
}

/* ---------- elements ---------- */

/* One element for each step, from lo to hi. */
static void add_addrs(struct list_reader *r, const struct list_span *v, struct set_elem *e)
{
	const struct set *s = r->s;
	unsigned bits = addr_bits(s->family), plen = s->netmask ? s->netmask : bits;
	u128 mask = addr_mask(s->family, plen) & (s->has_bitmask ? s->bitmask : ~(u128)0);
	u128 step = (u128)1 << (bits - plen), at = v->lo & mask, last = v->hi & mask;

	e->plen[0] = (uint8_t)plen;
	for (;; at += step) {
		e->v[0] = at;
		*vec_add(r->a, &r->s->elems) = *e;
		if (at >= last)
			return;
	}
}

/* The prefixes that make up a range, the largest that fit from its start on. */
static void add_prefixes(struct list_reader *r, const struct list_span *v, struct set_elem *e)
{
	unsigned width = addr_bits(r->s->family), bits;
	u128 at = v->lo, host;

	for (;; at = (at | host) + 1) {
		for (bits = 0, host = 0; bits < width; bits++) {
			u128 more = bits + 1 == 128 ? ~(u128)0 : ((u128)1 << (bits + 1)) - 1;

			if ((at & more) || (at | more) > v->hi)
				break;
			host = more;
		}
		e->v[0] = at;
		e->plen[0] = (uint8_t)(width - bits);
		*vec_add(r->a, &r->s->elems) = *e;
		if ((at | host) >= v->hi)
			return;
	}
}

static bool check_addrs(struct list_reader *r, const struct list_span *v, struct loc at)
{
	const struct set *s = r->s;
	struct diag *g;

	if (v->hi - v->lo >= LIST_LINE_MAX) {
		g = list_error(r, at, "this stands for more than %d addresses", LIST_LINE_MAX);
		if (g)
			diag_hint(r->d, g, "a set of type hash:net holds prefixes");
	} else if (s->has_bitmask && v->lo != v->hi) {
		list_error(r, at, "a set with a bitmask takes single addresses");
	} else if (s->has_range && (v->lo < s->range_lo || v->hi > s->range_hi)) {
		list_error(r, at, "this is outside of the range of set %.*s", STR_ARG(s->name));
	} else if (str_is(s->type, "hash:ip") && v->lo == 0) {
		list_error(r, at, "a set of type hash:ip cannot hold the address zero");
	} else {
		return true;
	}
	return false;
}

static bool check_prefix(struct list_reader *r, const struct list_span *v, struct loc at)
{
	struct diag *g;

	if (v->lo != 0 || v->hi != addr_mask(v->family, addr_bits(v->family)))
		return true;
	g = list_error(r, at, "a set of type %.*s cannot hold every address", STR_ARG(r->s->type));
	if (g)
		diag_hint(r->d, g, v->family == FAMILY_IP4 ? "write two lines: 0.0.0.0/1 and 128.0.0.0/1" :
							     "write two lines: ::/1 and 8000::/1");
	return false;
}

/* What does not fit the set is told after merging; this is a bound on memory. */
static void check_room(struct list_reader *r, struct loc at)
{
	if (r->s->elems.n > LIST_MAX)
		list_error(r, at, "more than %d elements", LIST_MAX);
	r->is_full = r->s->elems.n > LIST_MAX;
}

/* ---------- options ---------- */

/* A word or a text in quotation marks. */
static struct str next_word(const char **p, const char *end)
{
	const char *from = *p = skip_blanks(*p, end), *q = from;

	if (q < end && *q == '"') {
		const char *close = memchr(q + 1, '"', (size_t)(end - q - 1));

		*p = close ? close + 1 : end;
		return (struct str){ q + 1, (size_t)((close ? close : end) - q - 1) };
	}
	while (q < end && !is_blank(*q) && *q != '#' && *q != ';')
		q++;
	*p = q;
	return (struct str){ from, (size_t)(q - from) };
}

static bool set_has(struct list_reader *r, bool *has, struct str word, const char *create)
{
	struct diag *g;

	if (*has || r->o->is_declared_here) {
		*has = true;
		return true;
	}
	g = list_error(r, list_place(r, word.p, word.p + word.n), "'%.*s' needs a set that was created with '%s'; %.*s was not",
		       STR_ARG(word), create, STR_ARG(r->s->name));
	if (g && r->s->at.source)
		diag_hint(r->d, g, "it is created in %.*s", STR_ARG(source_name_line(r->d->a, r->d->sources, r->s->at)));
	return false;
}

static bool read_timeout(struct list_reader *r, struct str name, const char **p, const char *end, struct set_elem *e)
{
	struct str word;
	uint64_t v;

	if (!set_has(r, &r->s->has_default_timeout, name, "timeout"))
		return false;
	word = next_word(p, end);
	if (!str_u64(word, 10, 2147483, &v)) {
		list_error(r, list_place(r, word.p, word.p + word.n), "seconds up to 2147483 are expected; found '%.*s'",
			   STR_ARG(word));
		return false;
	}
	e->has_timeout = true;
	e->timeout_s = (uint32_t)v;
	return true;
}

static bool read_comment(struct list_reader *r, struct str name, const char **p, const char *end, struct set_elem *e)
{
	const char *from;

	if (!set_has(r, &r->s->has_comments, name, "comment"))
		return false;
	from = skip_blanks(*p, end);
	e->comment = next_word(p, end);
	if (from < end && *from == '"' && e->comment.p + e->comment.n == *p) {
		list_error(r, list_place(r, from, *p), "the text that begins here has no closing quotation mark");
		return false;
	}
	if (e->comment.n <= 255 && (!e->comment.n || !memchr(e->comment.p, '"', e->comment.n)))
		return true;
	list_error(r, list_place(r, e->comment.p, e->comment.p + e->comment.n),
		   "a comment has at most 255 bytes, and no quotation marks in it; this one has %zu bytes", e->comment.n);
	return false;
}

static bool unknown_option(struct list_reader *r, struct str word)
{
	static const char *const names[] = { "timeout", "nomatch", "comment" };
	const char *near = str_nearest(word, names, sizeof names / sizeof *names);
	struct diag *g = list_error(r, list_place(r, word.p, word.p + word.n), "only options may stand behind the address; found '%.*s'",
				    STR_ARG(word));
	uint64_t v;

	if (g && near)
		diag_hint(r->d, g, "did you mean '%s'?", near);
	else if (g && str_u64(word, 10, UINT64_MAX, &v))
		diag_hint(r->d, g, "of a list with columns only the first can be read: cut -f 1 LIST");
	return false;
}

static bool read_options(struct list_reader *r, const char *p, const char *end, struct set_elem *e)
{
	for (;;) {
		struct str word;

		p = skip_blanks(p, end);
		if (p == end || *p == '#' || *p == ';')
			return true;
		word = next_word(&p, end);
		if (str_is(word, "timeout") ? !read_timeout(r, word, &p, end, e) :
		    str_is(word, "comment") ? !read_comment(r, word, &p, end, e) :
		    str_is(word, "nomatch") && r->s->dim[0] == SET_DIM_NET ? !(e->nomatch = true) :
					      !unknown_option(r, word))
			return false;
	}
}

/* ---------- lines ---------- */

static void warn_host_bits(struct list_reader *r, struct loc at)
{
	if (r->out->n_warned++ < LIST_MAX_ERRORS)
		diag_warn(r->d, at, "host-bits", "'%.*s' has bits set behind its prefix; the set holds the network", (int)at.len,
			  r->text + at.off);
}

static bool check_family(struct list_reader *r, const struct list_span *v, struct loc at)
{
	struct diag *g;

	if (v->family == r->s->family)
		return true;
	if (r->o->only_family) {
		r->out->n_left_out++;
		return false;
	}
	g = list_error(r, at, "this is an IPv%c address; set %.*s holds those of IPv%c", v->family == FAMILY_IP4 ? '4' : '6',
		       STR_ARG(r->s->name), v->family == FAMILY_IP4 ? '6' : '4');
	if (g)
		diag_hint(r->d, g, "--only-family leaves out those of the other family");
	return false;
}

static void read_line(struct list_reader *r, const char *p, const char *end)
{
	struct set_elem e = { .nomatch = false };
	struct list_span v;
	const char *after;

	if (!list_value(r, p, end, &v, &after))
		return;
	e.at = list_place(r, p, after);
	if (!check_family(r, &v, e.at) || !read_options(r, after, end, &e))
		return;
	if (r->s->dim[0] == SET_DIM_ADDR ? !check_addrs(r, &v, e.at) : !check_prefix(r, &v, e.at))
		return;
	if (v.has_host_bits)
		warn_host_bits(r, e.at);
	if (r->o->take && (e.has_timeout || e.comment.n)) {
		r->out->needs_elements = true;
		return;
	}
	r->out->n_entries++;
	if (r->o->take) {
		r->o->take(r->o->take_arg, v.lo, v.hi, e.nomatch);
		return;
	}
	if (r->s->dim[0] == SET_DIM_ADDR) {
		add_addrs(r, &v, &e);
	} else if (v.is_range) {
		add_prefixes(r, &v, &e);
	} else {
		e.v[0] = v.lo;
		e.plen[0] = v.plen;
		*vec_add(r->a, &r->s->elems) = e;
	}
	check_room(r, e.at);
}

/* Room for one element a line, so that the array is not moved again and again. */
static void reserve(struct list_reader *r, size_t n_lines)
{
	struct set *s = r->s;
	size_t want = s->elems.n + n_lines + 1;
	struct set_elem *v;

	if (want <= s->elems.cap)
		return;
	v = arena_new(r->a, struct set_elem, want);
	if (s->elems.n)
		memcpy(v, s->elems.v, s->elems.n * sizeof *v);
	s->elems.v = v;
	s->elems.cap = want;
}

static void report_progress(struct list_reader *r, const struct source *src, uint32_t line)
{
	if (r->o->progress && (line & 0xffff) == 0xffff)
		r->o->progress(r->o->progress_arg, src->line_off[line], src->text.n);
}

void list_read(struct arena *a, struct diags *d, uint32_t source, struct set *s, const struct lang_list_options *o,
	       struct lang_list *out)
{
	const struct source *src = source_get(d->sources, source);
	struct list_reader r = { .a = a, .d = d, .s = s, .o = o, .out = out, .text = src->text.p, .source = source };

	if (!o->take)
		reserve(&r, src->n_lines);
	for (uint32_t i = 0; i < src->n_lines && !r.is_full && !out->needs_elements; i++) {
		const char *p = src->text.p + src->line_off[i];
		const char *end = src->text.p + (i + 1 < src->n_lines ? src->line_off[i + 1] - 1 : src->text.n);

		if (i == 0 && end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
			p += 3; /* how some editors begin a text */
		while (end > p && (end[-1] == '\n' || is_blank(end[-1])))
			end--;
		p = skip_blanks(p, end);
		if (p < end && *p != '#' && *p != ';')
			read_line(&r, p, end);
		report_progress(&r, src, i);
	}
	if (r.n_errors > LIST_MAX_ERRORS)
		diag_note(d, (struct loc){ source, (uint32_t)src->text.n, 0 }, "%u more errors in this list", r.n_errors - LIST_MAX_ERRORS);
	out->n_bytes += src->text.n;
}

/* ---------- sets that nothing but the list declares ---------- */

enum family list_family(const struct source *src)
{
	for (uint32_t i = 0; i < src->n_lines; i++) {
		struct str line = source_line(src, src->first_line + i), rest;

		line = str_trim(str_cut(str_cut(line, '#', &rest, NULL), ';', &rest, NULL));
		if (line.n)
			return memchr(line.p, ':', line.n) ? FAMILY_IP6 : FAMILY_IP4;
	}
	return FAMILY_IP4;
}

void list_declare(struct set *s, enum family family)
{
	s->type = STR("hash:net");
	s->n_dims = 1;
	s->dim[0] = SET_DIM_NET;
	s->has_addrs = true;
	s->family = family;
	s->netmask = (uint8_t)addr_bits(family);
	s->mark_mask = UINT32_MAX;
	s->max_elems = 0; /* until list_size() */
	s->options = STR("");
}

void list_size(struct arena *a, struct set *s)
{
	s->max_elems = LIST_SET_MIN;
	while (s->max_elems < 2 * s->elems.n)
		s->max_elems *= 2;
	if (s->max_elems > LIST_SET_MIN)
		s->options = arena_printf(a, "maxelem %llu", (unsigned long long)s->max_elems);
}

bool list_can_fill(const struct set *s)
{
	return s->n_dims == 1 && (s->dim[0] == SET_DIM_NET || s->dim[0] == SET_DIM_ADDR);
}
