/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What follows `match` in a u32 filter, made into keys: words of the packet under masks.
 *
 *     match ip dport 22 0xffff            00000016/0000ffff at 20
 *     match u8 6 0xff at 9                00060000/00ff0000 at 8
 *     match tcp dst 22 0xffff             00000016/0000ffff at nexthdr+0
 *
 * As tc does, keys for the same word become one; bits of a value outside its mask are dropped (and a lint says so).
 */
#include <stdio.h>

#include "lang/tc/parse.h"
#include "policy/addr.h"

/* Selectors that are a number and a mask: how many bits, and where. */
static const struct selector {
	const char *group, *name;
	uint8_t bits;
	int16_t off;
	bool is_next;
	uint8_t shift; /* of value and mask, in its bits */
} selectors[] = {
	{ "ip", "ihl", 8, 0, false, 0 },	 { "ip", "tos", 8, 1, false, 0 },
	{ "ip", "dsfield", 8, 1, false, 0 },	 { "ip", "precedence", 8, 1, false, 0 },
	{ "ip", "protocol", 8, 9, false, 0 },	 { "ip", "icmp_type", 8, 20, false, 0 },
	{ "ip", "icmp_code", 8, 21, false, 0 }, { "ip", "sport", 16, 20, false, 0 },
	{ "ip", "dport", 16, 22, false, 0 },	 { "ip6", "priority", 8, 0, false, 20 },
	{ "ip6", "flowlabel", 32, 0, false, 0 }, { "ip6", "protocol", 8, 6, false, 0 },
	{ "ip6", "icmp_type", 8, 40, false, 0 }, { "ip6", "icmp_code", 8, 41, false, 0 },
	{ "ip6", "sport", 16, 40, false, 0 },	 { "ip6", "dport", 16, 42, false, 0 },
	{ "tcp", "src", 16, 0, true, 0 },	 { "tcp", "dst", 16, 2, true, 0 },
	{ "udp", "src", 16, 0, true, 0 },	 { "udp", "dst", 16, 2, true, 0 },
	{ "icmp", "type", 8, 0, true, 0 },	 { "icmp", "code", 8, 1, true, 0 },
};
static const struct {
	const char *name;
	uint16_t value, mask;
} fragments[] = { { "nofrag", 0, 0x3fff }, { "firstfrag", 0x2000, 0x3fff }, { "df", 0x4000, 0x4000 }, { "mf", 0x2000, 0x2000 } };

/* A word that is already a key takes the new bits; bits that contradict are an error. */
static bool put_key(struct tc_parse *p, struct tc_filter *f, struct tcu32_key key, struct loc at)
{
	for (size_t i = 0; i < f->keys.n; i++) {
		struct tcu32_key *k = &f->keys.v[i];

		if (k->off != key.off || k->is_next != key.is_next)
			continue;
		if ((k->value ^ key.value) & k->mask & key.mask) {
			diag_error(p->d, at, "this match contradicts an earlier one on the same bytes: the filter cannot match");
			return false;
		}
		k->value |= key.value;
		k->mask |= key.mask;
		return true;
	}
	if (f->keys.n == 128) {
		diag_error(p->d, at, "a filter has up to 128 words to compare");
		return false;
	}
	*vec_add(p->a, &f->keys) = key;
	return true;
}

/* A value of 8, 16 or 32 bits at off: its word, and where in the word. */
static bool put_value(struct tc_parse *p, struct tc_filter *f, unsigned bits, struct tcu32_key key)
{
	int32_t in_word = key.off & 3;
	struct loc at = p->line->w[p->i - 1].at;
	unsigned up = 32 - bits - 8 * (unsigned)in_word;

	if ((bits == 32 && in_word) || (bits == 16 && in_word & 1)) {
		diag_hint(p->d, diag_error(p->d, at, "offset %d is not a multiple of %u", key.off, bits / 8),
			  "use u8 matches, or the word at %d with a mask", key.off - in_word);
		return false;
	}
	key.value = (key.value & key.mask) << (bits == 32 ? 0 : up);
	key.mask <<= bits == 32 ? 0 : up;
	key.off -= in_word;
	return put_key(p, f, key, at);
}

/* at 12, at nexthdr+2 */
static bool take_at(struct tc_parse *p, struct tcu32_key *key)
{
	const struct tc_word *w;
	struct str s;
	uint64_t v;
	bool is_negative;

	if (!tc_take(p, "at"))
		return true;
	w = tc_next(p, "an offset");
	if (!w)
		return false;
	s = w->text;
	key->is_next = str_starts(s, "nexthdr+");
	if (key->is_next)
		s = str_slice(s, 8, s.n);
	is_negative = s.n && s.p[0] == '-';
	if (is_negative)
		s = str_slice(s, 1, s.n);
	if (!str_u64(s, 0, 0x7fff, &v)) {
		diag_error(p->d, w->at, "'%.*s' is not an offset: N or nexthdr+N, -32767 to 32767", STR_ARG(w->text));
		return false;
	}
	key->off = is_negative ? -(int32_t)v : (int32_t)v;
	return true;
}

static bool take_value_mask(struct tc_parse *p, unsigned bits, struct tcu32_key *key)
{
	uint64_t max = bits == 32 ? UINT32_MAX : (1u << bits) - 1, value, mask;
	struct loc at = tc_here(p);

	if (!tc_number(p, 0, max, "a value", &value) || !tc_number(p, 16, max, "a mask, in hex", &mask))
		return false;
	if (value & ~mask)
		diag_hint(p->d, diag_warn(p->d, at, "value-outside-mask", "value has bits outside the mask: 0x%llx is compared",
					  (unsigned long long)(value & mask)), "write the mask 0x%llx, or the value 0x%llx",
			  (unsigned long long)(value | mask), (unsigned long long)(value & mask));
	key->value = (uint32_t)value;
	key->mask = (uint32_t)mask;
	return true;
}

static bool match_number(struct tc_parse *p, struct tc_filter *f, const struct selector *s)
{
	struct tcu32_key key = { .off = s->off, .is_next = s->is_next };

	if (!take_value_mask(p, s->bits, &key) || !take_at(p, &key))
		return false;
	if (s->shift) {
		key.value = (key.value & key.mask) << s->shift;
		key.mask <<= s->shift;
		return put_key(p, f, key, p->line->w[p->i - 1].at);
	}
	return put_value(p, f, s->bits, key);
}

/* addr, addr/len, addr/mask (IPv4), any */
static bool match_addr(struct tc_parse *p, struct tc_filter *f, enum family fam, bool is_dst)
{
	const struct tc_word *w = tc_next(p, "an address");
	unsigned bits = fam == FAMILY_IP4 ? 32 : 128;
	struct tcu32_key key = { .off = fam == FAMILY_IP4 ? (is_dst ? 16 : 12) : (is_dst ? 24 : 8) };
	struct str len, addr;
	u128 a = 0, mask = ~(u128)0;
	uint64_t n = bits;
	bool has_len, ok = true;

	if (!w)
		return false;
	addr = str_cut(w->text, '/', &len, &has_len);
	if (str_is(addr, "any") || str_is(addr, "all") || str_is(addr, "default"))
		n = 0;
	else if (!addr_parse(fam, addr, &a) || (has_len && !str_u64(len, 10, bits, &n) &&
						 !(fam == FAMILY_IP4 && addr_parse(fam, len, &mask)))) {
		diag_error(p->d, w->at, "'%.*s' is not an %s address", STR_ARG(w->text), fam == FAMILY_IP4 ? "IPv4" : "IPv6");
		return false;
	}
	if (mask == ~(u128)0)
		mask = n ? ~(u128)0 << (bits - n) : 0;
	if (a & ~mask)
		diag_warn(p->d, w->at, "value-outside-mask", "the address has bits outside the mask, which are not compared");
	if (!take_at(p, &key))
		return false;
	if (key.off & 3) {
		diag_error(p->d, p->line->w[p->i - 1].at, "offset %d is not a multiple of 4", key.off);
		return false;
	}
	for (unsigned i = 0; i < bits / 32 && ok; i++, key.off += 4) {
		key.mask = (uint32_t)(mask >> (bits - 32 * (i + 1)));
		key.value = (uint32_t)(a >> (bits - 32 * (i + 1))) & key.mask;
		if (bits == 32 || key.mask)
			ok = put_key(p, f, key, w->at);
	}
	return ok;
}

static bool match_ether(struct tc_parse *p, struct tc_filter *f)
{
	bool is_dst = tc_is(p, "dst");
	const struct tc_word *w;
	struct tcu32_key key = { .off = is_dst ? -14 : -8 };
	unsigned byte[6];
	char end;

	if (!is_dst && !tc_is(p, "src")) {
		diag_error(p->d, tc_here(p), "match ether has src or dst");
		return false;
	}
	p->i++;
	w = tc_next(p, "an Ethernet address");
	if (!w)
		return false;
	if (w->text.n != 17 || sscanf(arena_cstr(p->a, w->text), "%2x:%2x:%2x:%2x:%2x:%2x%c", &byte[0], &byte[1], &byte[2],
				      &byte[3], &byte[4], &byte[5], &end) != 6) {
		diag_error(p->d, w->at, "'%.*s' is not an Ethernet address", STR_ARG(w->text));
		return false;
	}
	if (!take_at(p, &key))
		return false;
	for (unsigned i = 0; i < 6; i += 2, key.off += 2) {
		struct tcu32_key part = key;

		part.value = byte[i] << 8 | byte[i + 1];
		part.mask = 0xffff;
		if (!put_value(p, f, 16, part))
			return false;
	}
	return true;
}

static bool match_mark(struct tc_parse *p, struct tc_filter *f)
{
	struct tcu32_key key = { 0 };

	if (!take_value_mask(p, 32, &key))
		return false;
	f->has_mark = true;
	f->mark = key.value & key.mask;
	f->mark_mask = key.mask;
	return true;
}

static bool match_field(struct tc_parse *p, struct tc_filter *f, struct str group)
{
	const struct tc_word *w = tc_next(p, "a field");
	const char *names[sizeof selectors / sizeof *selectors + 6];
	const char *near;
	size_t n = 0;

	if (!w)
		return false;
	if ((str_is(group, "ip") || str_is(group, "ip6")) && (str_is(w->text, "src") || str_is(w->text, "dst")))
		return match_addr(p, f, str_is(group, "ip") ? FAMILY_IP4 : FAMILY_IP6, str_is(w->text, "dst"));
	for (size_t i = 0; i < sizeof fragments / sizeof *fragments && str_is(group, "ip"); i++) {
		if (str_is(w->text, fragments[i].name))
			return put_value(p, f, 16, (struct tcu32_key){ fragments[i].value, fragments[i].mask, 6, false });
		names[n++] = fragments[i].name;
	}
	for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
		if (!str_is(group, selectors[i].group))
			continue;
		if (str_is(w->text, selectors[i].name))
			return match_number(p, f, &selectors[i]);
		names[n++] = selectors[i].name;
	}
	near = str_nearest(w->text, names, n);
	struct diag *g = diag_error(p->d, w->at, "match %.*s has no field '%.*s'", STR_ARG(group), STR_ARG(w->text));

	if (near)
		diag_hint(p->d, g, "did you mean '%s'?", near);
	return false;
}

bool tc_match(struct tc_parse *p, struct tc_filter *f)
{
	static const char *const groups[] = { "u8", "u16", "u32", "ip", "ip6", "tcp", "udp", "icmp", "ether", "mark" };
	static const struct selector plain[] = { { "", "u8", 8, 0, false, 0 }, { "", "u16", 16, 0, false, 0 },
						 { "", "u32", 32, 0, false, 0 } };
	const struct tc_word *w = tc_next(p, "what to match");
	struct diag *g;
	const char *near;

	if (!w)
		return false;
	for (unsigned i = 0; i < 3; i++)
		if (str_is(w->text, plain[i].name))
			return match_number(p, f, &plain[i]);
	if (str_is(w->text, "ether"))
		return match_ether(p, f);
	if (str_is(w->text, "mark"))
		return match_mark(p, f);
	for (unsigned i = 3; i < 8; i++)
		if (str_is(w->text, groups[i]))
			return match_field(p, f, w->text);
	near = str_nearest(w->text, groups, sizeof groups / sizeof *groups);
	g = diag_error(p->d, w->at, "u32 does not match '%.*s'", STR_ARG(w->text));
	if (near)
		diag_hint(p->d, g, "did you mean '%s'?", near);
	return false;
}
