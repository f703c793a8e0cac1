/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests on the packet's bytes: u32, string, options and addresses of IPv6 extension headers; cbpf.c runs classic BPF,
 * payload.c looks at bits of headers.
 *
 *     u32 "0 >> 22 & 0x3C @ 0 = 22"     the first four bytes, shifted and masked, are where the next four are read
 *     string --from 40 --to 50          the whole pattern lies within bytes 40 to 49
 *
 * A read beyond the packet makes the test false before negation. A read beyond what was captured, or of a byte that a rule
 * rewrote to something unknown, makes it unknown. (The kernel's string match can miss a pattern that is spread over
 * two fragments of one buffer; here a packet is one buffer.)
 */
#include "eval/bytes.h"

enum { NEXT_HOPOPTS = 0, NEXT_ROUTING = 43, NEXT_FRAGMENT = 44, NEXT_AH = 51, NEXT_DSTOPTS = 60, EXT_MAX = 16 };

enum bytes_read bytes_get(const struct walk *w, uint64_t off, unsigned n, uint32_t *v)
{
	const uint8_t *p = w->bytes ? w->bytes : w->f.l3;

	*v = 0;
	if (off + n > w->f.l3_wire_len)
		return BYTES_BEYOND;
	if (off + n > w->f.l3_len)
		return BYTES_UNKNOWN;
	for (unsigned i = 0; i < n; i++) {
		if (w->bad && w->bad[off + i])
			return BYTES_UNKNOWN;
		*v = *v << 8 | p[off + i];
	}
	return BYTES_READ;
}

/* ---------- u32 ---------- */

/* A word, and which of its bits are known: a rule that rewrote the TTL leaves the checksum beside it unknown. */
struct word {
	uint32_t v, known;
};

static enum bytes_read word_get(const struct walk *w, uint64_t off, struct word *out)
{
	*out = (struct word){ 0 };
	if (off + 4 > w->f.l3_wire_len)
		return BYTES_BEYOND;
	for (unsigned i = 0; i < 4; i++) {
		uint32_t v;
		bool is_known = bytes_get(w, off + i, 1, &v) == BYTES_READ;

		out->v = out->v << 8 | v;
		out->known = out->known << 8 | (is_known ? 0xff : 0);
	}
	return BYTES_READ;
}

static enum bytes_read u32_value(const struct walk *w, const struct u32_loc *l, struct word *x)
{
	uint32_t at = 0;
	enum bytes_read got = word_get(w, l->start, x);

	for (unsigned i = 0; i < l->n_ops && got == BYTES_READ; i++) {
		uint32_t n = l->op[i].number;

		switch (l->op[i].op) {
		case U32_AND:
			x->v &= n;
			x->known |= ~n;
			break;
		case U32_LEFT:
			x->v <<= n & 31;
			x->known = x->known << (n & 31) | ((1u << (n & 31)) - 1);
			break;
		case U32_RIGHT:
			x->v >>= n & 31;
			x->known = x->known >> (n & 31) | ~(UINT32_MAX >> (n & 31));
			break;
		case U32_AT:
			if (x->known != UINT32_MAX)
				return BYTES_UNKNOWN;
			if (at + x->v < at)
				return BYTES_BEYOND;
			at += x->v;
			got = word_get(w, (uint64_t)at + n, x);
			break;
		}
	}
	return got;
}

static enum eval_truth in_span(struct word x, uint32_t lo, uint32_t hi)
{
	if (x.known == UINT32_MAX)
		return lo <= x.v && x.v <= hi ? EVAL_YES : EVAL_NO;
	return lo == hi && ((x.v ^ lo) & x.known) ? EVAL_NO : EVAL_UNKNOWN;
}

static enum eval_truth u32_one(const struct walk *w, const struct u32_test *t)
{
	enum eval_truth any = EVAL_NO;
	struct word x;
	enum bytes_read got = u32_value(w, &t->loc, &x);

	if (got != BYTES_READ)
		return got == BYTES_BEYOND ? EVAL_NO : EVAL_UNKNOWN;
	for (unsigned i = 0; i < t->n_values; i++) {
		enum eval_truth y = in_span(x, t->value[i].lo, t->value[i].hi);

		if (y == EVAL_YES)
			return y;
		if (y == EVAL_UNKNOWN)
			any = y;
	}
	return any;
}

static enum eval_truth u32_truth(const struct walk *w, const struct bytes_spec *b)
{
	enum eval_truth all = EVAL_YES;

	for (uint32_t i = 0; i < b->n_u32; i++) {
		enum eval_truth x = u32_one(w, &b->u32[i]);

		if (x == EVAL_NO)
			return EVAL_NO;
		if (x == EVAL_UNKNOWN)
			all = x;
	}
	return all;
}

/* ---------- string ---------- */

/* As the kernel folds case: its table of letters goes on beyond ASCII, through Latin-1. */
static uint8_t upper(uint8_t c)
{
	bool is_lower = (c >= 'a' && c <= 'z') || (c >= 0xdf && c != 0xf7);

	return is_lower ? (uint8_t)(c - 32) : c;
}

/* Is the pattern at off? */
static enum eval_truth pattern_at(const struct walk *w, const struct bytes_spec *b, uint64_t off)
{
	enum eval_truth all = EVAL_YES;

	for (size_t i = 0; i < b->pattern.n; i++) {
		uint8_t want = (uint8_t)b->pattern.p[i];
		uint32_t have;
		enum bytes_read x = bytes_get(w, off + i, 1, &have);

		if (x == BYTES_BEYOND)
			return EVAL_NO;
		if (x == BYTES_UNKNOWN)
			all = EVAL_UNKNOWN;
		else if (b->icase ? upper((uint8_t)have) != upper(want) : have != want)
			return EVAL_NO;
	}
	return all;
}

static enum eval_truth string_truth(const struct walk *w, const struct bytes_spec *b)
{
	uint64_t end = b->to < w->f.l3_wire_len ? b->to : w->f.l3_wire_len;
	enum eval_truth any = EVAL_NO;

	if (w->f.l3_wire_len > w->f.l3_len && b->pattern.n && b->from + b->pattern.n <= end && end > w->f.l3_len)
		any = EVAL_UNKNOWN;
	if (end > w->f.l3_len)
		end = w->f.l3_len;
	for (uint64_t off = b->from; off + b->pattern.n <= end; off++) {
		enum eval_truth x = pattern_at(w, b, off);

		if (x == EVAL_YES)
			return EVAL_YES;
		if (x == EVAL_UNKNOWN)
			any = EVAL_UNKNOWN;
	}
	return any;
}

/* ---------- IPv6 extension headers ---------- */

/* The first header of type `next`: where it is and its length. BEYOND: there is none. */
static enum bytes_read find_header(const struct walk *w, uint32_t next, uint32_t *off, uint32_t *len)
{
	uint32_t type, words, frag;
	enum bytes_read x = bytes_get(w, 6, 1, &type);

	*off = 40;
	for (unsigned i = 0; i < EXT_MAX && x == BYTES_READ; i++) {
		x = bytes_get(w, *off + 1, 1, &words);
		if (x != BYTES_READ)
			return x;
		*len = type == NEXT_AH ? (words + 2) * 4 : type == NEXT_FRAGMENT ? 8 : (words + 1) * 8;
		if (type == next)
			return (uint64_t)*off + *len <= w->f.l3_wire_len ? BYTES_READ : BYTES_BEYOND;
		if (type != NEXT_HOPOPTS && type != NEXT_ROUTING && type != NEXT_FRAGMENT && type != NEXT_AH &&
		    type != NEXT_DSTOPTS)
			return BYTES_BEYOND;
		if (type == NEXT_FRAGMENT) {
			x = bytes_get(w, *off + 2, 2, &frag);
			if (x != BYTES_READ || frag >> 3)
				return x == BYTES_READ ? BYTES_BEYOND : x;
		}
		x = bytes_get(w, *off, 1, &type);
		*off += *len;
	}
	return x == BYTES_READ ? BYTES_BEYOND : x;
}

/* The options from the header's first on are those listed, in order; more may follow. */
static enum eval_truth options_truth(const struct walk *w, const struct bytes_spec *b, uint32_t off, uint32_t len)
{
	uint32_t left = len - 2, type, opt_len = 0;

	off += 2;
	for (uint32_t i = 0; i < b->n_opts; i++) {
		uint32_t step = 1;
		enum bytes_read x = left < 1 ? BYTES_BEYOND : bytes_get(w, off, 1, &type);

		if (x == BYTES_READ && type != b->opt[i].type)
			return EVAL_NO;
		if (x == BYTES_READ && type) {
			x = left < 2 ? BYTES_BEYOND : bytes_get(w, off + 1, 1, &opt_len);
			if (x == BYTES_READ && b->opt[i].has_len && b->opt[i].len != opt_len)
				return EVAL_NO;
			step = opt_len + 2;
		}
		if (x != BYTES_READ)
			return x == BYTES_BEYOND ? EVAL_NO : EVAL_UNKNOWN;
		if ((left < step || (uint64_t)off + step > w->f.l3_wire_len) && i + 1 < b->n_opts)
			return EVAL_NO;
		off += step;
		left -= step;
	}
	return EVAL_YES;
}

static enum bytes_read read_addr(const struct walk *w, uint32_t off, u128 *addr)
{
	*addr = 0;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t v;
		enum bytes_read x = bytes_get(w, off + 4 * i, 4, &v);

		if (x != BYTES_READ)
			return x;
		*addr = *addr << 32 | v;
	}
	return BYTES_READ;
}

/* Strict: the header's addresses are those listed, and no more. Not strict: they come in this order among others. */
static enum eval_truth addrs_truth(const struct walk *w, const struct bytes_spec *b, uint32_t off, uint32_t len)
{
	uint32_t n = (len - 8) / 16, found = 0;

	if (b->n_addrs > n || (!b->not_strict && b->n_addrs != n))
		return EVAL_NO;
	for (uint32_t i = 0; i < n && found < b->n_addrs; i++) {
		u128 addr;
		enum bytes_read x = read_addr(w, off + 8 + 16 * i, &addr);

		if (x != BYTES_READ)
			return x == BYTES_BEYOND ? EVAL_NO : EVAL_UNKNOWN;
		if (addr == b->addr[found])
			found++;
		else if (!b->not_strict)
			return EVAL_NO;
	}
	return found == b->n_addrs ? EVAL_YES : EVAL_NO;
}

static enum eval_truth header_truth(const struct walk *w, const struct test *t, bool *is_absent)
{
	const struct bytes_spec *b = t->bytes;
	uint32_t off, len;
	enum bytes_read x = BYTES_BEYOND;

	if (w->f.family == FAMILY_IP6)
		x = find_header(w, b->kind == BYTES_RT_ADDRS ? NEXT_ROUTING : b->header, &off, &len);
	*is_absent = x == BYTES_BEYOND;
	if (x != BYTES_READ)
		return x == BYTES_UNKNOWN ? EVAL_UNKNOWN : EVAL_NO;
	return b->kind == BYTES_RT_ADDRS ? addrs_truth(w, b, off, len) : options_truth(w, b, off, len);
}

enum eval_truth bytes_truth(struct walk *w, const struct test *t)
{
	const char *name = t->what ? t->what : "a match on bytes";
	bool is_absent = false;
	enum eval_truth x;

	switch (t->bytes->kind) {
	case BYTES_U32:
		x = u32_truth(w, t->bytes);
		break;
	case BYTES_STRING:
		x = string_truth(w, t->bytes);
		break;
	case BYTES_CBPF:
		x = cbpf_truth(w, t->bytes);
		break;
	case BYTES_TC_U32:
		x = tcu32_truth(w, t->bytes);
		break;
	case BYTES_PAYLOAD:
		x = payload_truth(w, t->bytes, &is_absent);
		break;
	default:
		x = header_truth(w, t, &is_absent);
		break;
	}
	if (x == EVAL_UNKNOWN) {
		if (!w->is_peeking)
			return fork_choose(w, "%s: the bytes it looks at are not known", name) ? EVAL_YES : EVAL_NO;
		w->why = arena_printf(w->a, "%s: the bytes it looks at are not known", name);
		return x;
	}
	if (w->has_trace)
		w->why = arena_printf(w->a, is_absent ? "%s: the header is absent" : x == EVAL_YES ?
							"%s: the bytes are there" : "%s: the bytes are not there", name);
	if (is_absent)
		return t->on_absent ? EVAL_YES : EVAL_NO;
	return (x == EVAL_YES) != t->negated ? EVAL_YES : EVAL_NO;
}
