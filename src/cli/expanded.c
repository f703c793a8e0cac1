/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules of the model as lines for people: tests, effects and the verdict in their order, with semicolons between them.
 *
 *     ip.src = 192.0.2.0/24; ip.proto = tcp; dport in {22, 80-90}; count; drop
 *     iif.name != lan* (or absent); ct.state in {established, related}; accept
 *     ip.proto = tcp; dport map {22: jump manage, 80: accept}
 *
 * What has no shorter form here is written as policy_dump_rule() does, so that nothing is left out.
 */
#include "cli/expanded.h"

#include <inttypes.h>

#include "lang/lang.h"
#include "packet/names.h"
#include "policy/addr.h"

/* ---------- values ---------- */

static void put_hex(struct buf *b, u128 v)
{
	if (v >> 64)
		buf_printf(b, "0x%" PRIx64 "%016" PRIx64, (uint64_t)(v >> 64), (uint64_t)v);
	else
		buf_printf(b, "0x%" PRIx64, (uint64_t)v);
}

static void put_number(struct buf *b, u128 v)
{
	if (v > UINT32_MAX)
		put_hex(b, v);
	else
		buf_printf(b, "%" PRIu32, (uint32_t)v);
}

static void put_range(struct buf *b, u128 lo, u128 hi)
{
	put_number(b, lo);
	if (hi == lo)
		return;
	buf_printf(b, "-");
	put_number(b, hi);
}

static void put_hex_range(struct buf *b, u128 lo, u128 hi)
{
	put_hex(b, lo);
	if (hi == lo)
		return;
	buf_printf(b, "-");
	put_hex(b, hi);
}

/* A prefix, or the first and the last address. */
static void put_addrs(struct buf *b, enum family f, u128 lo, u128 hi)
{
	u128 all = addr_mask(f, addr_bits(f));
	int plen = addr_plen(f, ~(lo ^ hi) & all);

	addr_print(b, f, lo);
	if (lo == hi)
		return;
	if (plen >= 0 && (lo & ~addr_mask(f, (unsigned)plen) & all) == 0) {
		buf_printf(b, "/%d", plen);
		return;
	}
	buf_printf(b, "-");
	addr_print(b, f, hi);
}

/* Bytes of an interface name that ends where the zeros begin. false: it has others than those that print. */
static bool put_bytes(struct buf *b, u128 v)
{
	char name[16];
	size_t n = 0;

	for (; n < 16 && (char)(v >> (120 - 8 * n)); n++) {
		name[n] = (char)(v >> (120 - 8 * n));
		if (name[n] <= 32 || name[n] > 126)
			return false;
	}
	if (n == 0 || n == 16 || v << (8 * n))
		return false;
	buf_add(b, name, n);
	return true;
}

static void put_names(struct buf *b, u128 lo, u128 hi)
{
	unsigned n = 0;

	while (n < 16 && (lo << (8 * n)))
		n++;
	if (lo == hi && put_bytes(b, lo))
		return;
	if (lo != hi && n < 16 && hi == (lo | ~(u128)0 >> (8 * n)) && put_bytes(b, lo))
		buf_printf(b, "*");
	else
		put_hex_range(b, lo, hi);
}

static void put_mac(struct buf *b, u128 v)
{
	for (int i = 40; i >= 0; i -= 8)
		buf_printf(b, "%02x%s", (unsigned)(v >> i) & 0xff, i ? ":" : "");
}

static void put_icmp(struct buf *b, const struct names_table *t, u128 lo, u128 hi)
{
	unsigned type = (unsigned)(lo >> 8), code = (unsigned)lo & 0xff;

	if (lo == hi) {
		buf_printf(b, "%u/%u", type, code);
		return;
	}
	for (size_t i = 0; i < t->n && code == 0 && hi == (lo | 0xff); i++)
		if (t->rows[i].is_type && t->rows[i].value >> 8 == type) {
			buf_printf(b, "%s", t->rows[i].name);
			return;
		}
	if (code == 0 && hi == (lo | 0xff))
		buf_printf(b, "%u", type);
	else
		buf_printf(b, "%u/%u-%u/%u", type, code, (unsigned)(hi >> 8), (unsigned)hi & 0xff);
}

static bool put_named(struct buf *b, enum field f, u128 v)
{
	static const char *const states[CT_STATE_COUNT] = { "invalid", "new", "established", "related", "untracked" };
	const char *name = NULL;

	if (f == FIELD_PROTO || f == FIELD_CT_PROTO)
		name = names_of(&names_proto, (unsigned)v);
	if (f == FIELD_CT_STATE)
		for (unsigned i = 0; i < CT_STATE_COUNT; i++)
			if (v == (u128)1 << i)
				name = states[i];
	if (name)
		buf_printf(b, "%s", name);
	return name != NULL;
}

/* Frames that are no IP have no addresses; what is asked of them there is as wide as it looks. */
static void put_span(struct buf *b, enum family fam, enum field f, u128 lo, u128 hi)
{
	if (field_table[f].kind == FIELD_KIND_ADDR)
		put_addrs(b, fam == FAMILY_IP4 && !(hi >> 32) ? FAMILY_IP4 : FAMILY_IP6, lo, hi);
	else if (field_table[f].kind == FIELD_KIND_NAME)
		put_names(b, lo, hi);
	else if ((f == FIELD_MAC_SRC || f == FIELD_MAC_DST) && lo == hi)
		put_mac(b, lo);
	else if (f == FIELD_ICMP || f == FIELD_ICMP6)
		put_icmp(b, f == FIELD_ICMP ? &names_icmp : &names_icmp6, lo, hi);
	else if (lo == hi && put_named(b, f, lo))
		return;
	else if (field_table[f].kind == FIELD_KIND_BITS || f == FIELD_ETHERTYPE || f == FIELD_MAC_SRC || f == FIELD_MAC_DST)
		put_hex_range(b, lo, hi);
	else
		put_range(b, lo, hi);
}

/* ---------- tests ---------- */

/* As policy_dump_rule() writes it, without the brackets. */
static void put_exactly(struct buf *b, const struct step *s)
{
	const struct rule alone = { .step = (struct step *)s, .n_steps = 1 };
	struct str text = policy_dump_rule(b->a, &alone);

	buf_add(b, text.p + 1, text.n - 2);
}

static void put_absent(struct buf *b, const struct test *t)
{
	if (t->on_absent)
		buf_printf(b, " (or absent)");
}

static void put_fields(struct buf *b, const struct test *t)
{
	for (uint8_t i = 0; i < t->n_fields; i++)
		buf_printf(b, "%s%s", i ? "|" : "", field_table[t->field[i]].name);
}

static void put_in(struct buf *b, enum family fam, const struct test *t)
{
	bool is_one = t->in.n == 1;

	put_fields(b, t);
	if (is_one)
		buf_printf(b, t->negated ? " != " : " = ");
	else
		buf_printf(b, t->negated ? " not in {" : " in {");
	for (uint32_t i = 0; i < t->in.n; i++) {
		buf_printf(b, i ? ", " : "");
		put_span(b, fam, t->field[0], t->in.span[i].lo, t->in.span[i].hi);
	}
	buf_printf(b, is_one ? "" : "}");
	put_absent(b, t);
}

void expanded_keys(struct buf *b, const struct map_key *key, unsigned n)
{
	static const char *const bases[] = { "ll", "nh", "th", "ih" };

	for (unsigned i = 0; i < n; i++) {
		const struct payload_ref *p = key[i].payload;
		u128 whole = !p ? field_max(key[i].field) : ~(u128)0 >> (PAYLOAD_MAX_BITS - p->n_bits);

		buf_printf(b, "%s", i ? " . " : "");
		if (p)
			buf_printf(b, "@%s,%u,%u", bases[p->base], p->at_bit, p->n_bits);
		else
			buf_printf(b, "%s", field_table[key[i].field].name);
		if (key[i].mask == whole)
			continue;
		buf_printf(b, " & ");
		put_hex(b, key[i].mask);
	}
}

static void put_directions(struct buf *b, const struct set_use *u)
{
	if (u->by_field)
		expanded_keys(b, u->key, u->set->n_dims);
	for (uint8_t i = 0; i < u->n_dirs && !u->by_field; i++)
		buf_printf(b, "%s%s", i ? "," : "", u->dir[i] == SET_DIR_SRC ? "src" : "dst");
}

static bool is_plain(const struct set_use *u)
{
	return u->set && !u->return_nomatch && !u->has_counters;
}

static void put_entries(struct buf *b, enum family f, const struct map_use *u);

static void put_tuple(struct buf *b, enum family f, const struct test *t)
{
	expanded_keys(b, t->tuple->key, t->tuple->map->n_dims);
	buf_printf(b, t->negated ? " not in " : " in ");
	put_entries(b, f, t->tuple);
	put_absent(b, t);
}

static void put_test(struct buf *b, enum family f, const struct step *s)
{
	const struct test *t = &s->test;

	if (t->kind == TEST_IN && !t->params.n) {
		put_in(b, f, t);
	} else if (t->kind == TEST_SET && is_plain(t->set) && !t->params.n) {
		put_directions(b, t->set);
		buf_printf(b, t->negated ? " not in set " : " in set ");
		expanded_name(b, t->set->name);
		put_absent(b, t);
	} else if (t->kind == TEST_TUPLE && !t->params.n) {
		put_tuple(b, f, t);
	} else {
		put_exactly(b, s);
	}
}

/* ---------- effects, verdicts, maps ---------- */

static void put_effect(struct buf *b, const struct step *s)
{
	const struct effect *e = &s->effect;
	bool is_set = e->kind == EFFECT_SET_ADD || e->kind == EFFECT_SET_DEL;

	if (e->kind == EFFECT_COUNT) {
		buf_printf(b, e->counter ? "count " : "count");
		if (e->counter)
			expanded_name(b, e->counter->name);
	} else if (e->kind == EFFECT_MARK && e->mask == UINT32_MAX && !e->shift) {
		buf_printf(b, "mark = 0x%x", e->value);
	} else if (e->kind == EFFECT_NOTRACK || e->kind == EFFECT_NONE) {
		buf_printf(b, e->kind == EFFECT_NONE ? "continue" : "notrack");
	} else if (is_set && is_plain(e->set)) {
		buf_printf(b, e->kind == EFFECT_SET_ADD ? "add " : "delete ");
		put_directions(b, e->set);
		buf_printf(b, e->kind == EFFECT_SET_ADD ? " to set " : " from set ");
		expanded_name(b, e->set->name);
		buf_printf(b, e->set->exist ? " exist" : "");
		if (e->set->has_timeout)
			buf_printf(b, " timeout %u", e->set->timeout_s);
	} else {
		put_exactly(b, s);
	}
}

static void put_step(struct buf *b, enum family f, const struct step *s)
{
	if (s->kind == STEP_TEST) {
		put_test(b, f, s);
	} else if (s->kind == STEP_EFFECT) {
		put_effect(b, s);
	} else if (s->kind == STEP_MAP) {
		expanded_keys(b, s->map->key, s->map->map->n_dims);
		buf_printf(b, " map ");
		put_entries(b, f, s->map);
		if (s->map->why)
			buf_printf(b, " (unknown: %s)", s->map->why);
	} else {
		put_exactly(b, s);
	}
}

void expanded_entry(struct buf *b, enum family f, const struct map *m, const struct map_entry *e, const struct map_use *u)
{
	for (unsigned d = 0; d < m->n_dims; d++) {
		buf_printf(b, d ? " . " : "");
		if (u && !u->key[d].payload)
			put_span(b, f, u->key[d].field, e->key[d].lo, e->key[d].hi);
		else
			put_range(b, e->key[d].lo, e->key[d].hi);
	}
	if (!m->n_outcomes)
		return;
	buf_printf(b, ": ");
	put_step(b, f, &m->outcome[e->outcome]);
}

void expanded_other(struct buf *b, enum family f, const struct map *m)
{
	buf_printf(b, m->n_outcomes ? "*: " : "*");
	if (m->n_outcomes)
		put_step(b, f, &m->outcome[m->other]);
}

/* Of a map with a name its name: its entries have lines of their own. */
static void put_entries(struct buf *b, enum family f, const struct map_use *u)
{
	const struct map *m = u->map;

	if (m->name.n) {
		expanded_name(b, m->name);
		return;
	}
	buf_printf(b, "{");
	for (size_t i = 0; i < m->entries.n; i++) {
		buf_printf(b, i ? ", " : "");
		expanded_entry(b, f, m, &m->entries.v[i], u);
	}
	if (m->has_other) {
		buf_printf(b, m->entries.n ? ", " : "");
		expanded_other(b, f, m);
	}
	buf_printf(b, "}");
}

/* ---------- whole things ---------- */

void expanded_name(struct buf *b, struct str name)
{
	bool has_blank = memchr(name.p, ' ', name.n) != NULL;

	buf_printf(b, has_blank ? "\"%.*s\"" : "%.*s", STR_ARG(name));
}

void expanded_rule(struct buf *b, const struct rule *r)
{
	for (uint32_t i = 0; i < r->n_steps; i++) {
		buf_printf(b, i ? "; " : "");
		put_step(b, r->chain->family, &r->step[i]);
	}
	buf_printf(b, r->n_steps ? "" : "nothing");
}

static void put_dim(struct buf *b, const struct set *s, const struct set_elem *e, unsigned i)
{
	if (s->dim[i] == SET_DIM_ADDR || s->dim[i] == SET_DIM_NET) {
		addr_print(b, s->family, e->v[i]);
		if (e->plen[i] < addr_bits(s->family))
			buf_printf(b, "/%u", e->plen[i]);
	} else if (s->dim[i] == SET_DIM_VALUE) {
		put_range(b, e->v[i], e->plen[i] ? e->v[i] | (((u128)1 << (s->value_bits[i] - e->plen[i])) - 1)
						 : ~(u128)0 >> (128 - s->value_bits[i]));
	} else if (s->dim[i] == SET_DIM_IFACE) {
		put_names(b, e->v[i], e->v[i]);
		buf_printf(b, e->wildcard ? "*" : "");
	} else if (s->dim[i] == SET_DIM_MAC) {
		put_mac(b, e->v[i]);
	} else {
		put_number(b, e->v[i]);
	}
}

void expanded_elem(struct buf *b, const struct set *s, const struct set_elem *e)
{
	bool has_value = false;

	for (unsigned i = 0; i < s->n_dims; i++)
		has_value |= s->dim[i] == SET_DIM_VALUE;
	if (!has_value) {
		lang_elem_print(b, s, e);
		return;
	}
	for (unsigned i = 0; i < s->n_dims; i++) {
		buf_printf(b, i ? " . " : "");
		put_dim(b, s, e, i);
	}
	if (e->has_timeout)
		buf_printf(b, " timeout %u", e->timeout_s);
}
