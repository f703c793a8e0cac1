/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets and maps.
 *
 * A named set of up to three dimensions becomes a set of the model, once for all families, which can be changed while rules
 * run; intervals are prefixes there. What has no such form (more dimensions, '*', intervals that would be too many prefixes,
 * values that the model has in another form), and what is written in a rule, becomes a collection of keys, which stays as it
 * is. A map becomes one of the model for each family that asks it, because its jumps go to chains of a family; each different
 * outcome is in it once.
 */
#include "lang/nft/lower.h"

/* Of one dimension of an element, enough for any range of IPv6 addresses; and of all together. */
enum { DIM_PREFIXES = 256, MOST_PREFIXES = 4096 };

static const char why_elem[] = "an element is no constant here";
static const char why_filled[] = "rules fill it while they run, which is not followed for such keys";

struct nft_lower_shared {
	struct arena *a;
	struct strmap sets; /* by name of the model: struct set, or absent */
	struct strmap states; /* by kind and name: struct state_spec */
	struct strmap maps; /* by name, family and what is done with it: struct map */
};

struct nft_lower_shared *nft_lower_shared_create(struct arena *a)
{
	struct nft_lower_shared *s = arena_new(a, struct nft_lower_shared, 1);

	s->a = a;
	return s;
}

struct state_spec **nft_lower_named_state(struct nft_lower *l, const char *kind, struct str name)
{
	struct str key = arena_printf(l->a, "%s %.*s", kind, STR_ARG(nft_lower_name(l, name)));

	return (struct state_spec **)strmap_slot(l->shared->a, &l->shared->states, key);
}

struct str nft_lower_name(struct nft_lower *l, struct str name)
{
	return arena_printf(l->a, "%s/%.*s/%.*s", nft_family_name(l->table->family), STR_ARG(l->table->name), STR_ARG(name));
}

/* ---------- keys as spans ---------- */

/* The spans of each dimension that an element's key names, as written. False: '*', or no constant. */
static bool elem_values(struct nft_lower *l, const struct nft_expr *key, unsigned n, struct nft_lower_values *v)
{
	if (n == 1 && key->kind != NFT_CONCAT)
		return key->kind != NFT_ANY && nft_lower_values(l, key, &v[0]);
	if (key->kind != NFT_CONCAT || key->n_parts != n)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (!nft_lower_values(l, key->part[i], &v[i]))
			return false;
	return true;
}

/*
 * Adds an element's keys, one for each choice of a span in each dimension; dimensions that are constant are only asked. False:
 * as nft_lower_own().
 */
static bool add_entries(struct nft_lower *l, struct map *m, const struct nft_lower_key *k, unsigned n, struct nft_lower_values *v,
			uint32_t outcome, struct loc at)
{
	size_t pos[MAP_MAX_DIMS] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		struct nft_lower_values own;

		if (k[i].kind == NFT_LOWER_CONST) {
			if (!nft_lower_has(&v[i], k[i].constant))
				return true;
			continue;
		}
		if (!nft_lower_own(l, &k[i], &v[i], &own))
			return false;
		v[i] = own;
		if (own.v.n == 0)
			return true;
	}
	for (;;) {
		struct map_span *key = arena_new(l->a, struct map_span, m->n_dims ? m->n_dims : 1);
		unsigned d = 0, i;

		for (i = 0; i < n; i++)
			if (k[i].kind != NFT_LOWER_CONST)
				key[d++] = (struct map_span){ v[i].v.v[pos[i]].lo, v[i].v.v[pos[i]].hi };
		*vec_add(l->a, &m->entries) = (struct map_entry){ .key = key, .outcome = outcome, .at = at };
		for (i = 0; i < n; i++) {
			if (k[i].kind == NFT_LOWER_CONST)
				continue;
			if (++pos[i] < v[i].v.n)
				break;
			pos[i] = 0;
		}
		if (i == n)
			return true;
	}
}

static struct map_key *map_keys(struct nft_lower *l, const struct nft_lower_key *k, unsigned n, uint8_t *n_dims)
{
	struct map_key *out = arena_new(l->a, struct map_key, n + 1);

	*n_dims = 0;
	for (unsigned i = 0; i < n; i++)
		if (k[i].kind != NFT_LOWER_CONST)
			out[(*n_dims)++] = k[i].key;
	return out;
}

static const char *whats(struct nft_lower *l, const struct nft_lower_key *k, unsigned n)
{
	struct buf b = { .a = l->a };

	for (unsigned i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? " . " : "", k[i].what);
	return arena_printf(l->a, "%.*s", STR_ARG(buf_str(&b))).p;
}

/* ---------- named sets ---------- */

static unsigned key_bits(const struct nft_set *s, unsigned i)
{
	const struct nft_expr *e = i < s->key_typeof.n ? s->key_typeof.v[i] : NULL;
	unsigned bits = nft_type_table[s->key.v[i]].bits;

	if (bits || !e)
		return bits;
	if (e->kind == NFT_SELECT)
		return nft_select_table[e->sel].bits;
	return e->kind == NFT_PAYLOAD ? e->payload.n_bits : 0;
}

/* Values that stand in the model in another form than in nft: in other bits of a field, or as names of bits. */
static bool is_coded(enum nft_type t)
{
	return t == NFT_TYPE_CT_STATE || t == NFT_TYPE_FIB_ADDRTYPE || t == NFT_TYPE_ICMP_TYPE || t == NFT_TYPE_ICMPV6_TYPE ||
	       t == NFT_TYPE_DSCP;
}

static bool set_dims(struct set *m, const struct nft_set *s)
{
	for (unsigned i = 0; i < s->key.n; i++) {
		enum nft_type type = s->key.v[i];

		m->value_bits[i] = 0;
		switch (nft_type_table[type].kind) {
		case NFT_KIND_ADDR4:
		case NFT_KIND_ADDR6:
			m->dim[i] = s->flags & NFT_SET_INTERVAL ? SET_DIM_NET : SET_DIM_ADDR;
			if (m->has_addrs && m->family != (nft_type_table[type].bits == 32 ? FAMILY_IP4 : FAMILY_IP6))
				return false;
			m->has_addrs = true;
			m->family = nft_type_table[type].bits == 32 ? FAMILY_IP4 : FAMILY_IP6;
			break;
		case NFT_KIND_MAC:
			m->dim[i] = SET_DIM_MAC;
			break;
		case NFT_KIND_NAME:
			if (type != NFT_TYPE_IFNAME && type != NFT_TYPE_IFACE_INDEX)
				return false;
			m->dim[i] = SET_DIM_IFACE;
			break;
		default:
			if (is_coded(type) || key_bits(s, i) == 0 || key_bits(s, i) > 128)
				return false;
			m->dim[i] = SET_DIM_VALUE;
			m->value_bits[i] = (uint8_t)key_bits(s, i);
		}
	}
	return true;
}

static unsigned dim_bits(const struct set *m, unsigned i)
{
	switch (m->dim[i]) {
	case SET_DIM_VALUE:
		return m->value_bits[i];
	case SET_DIM_MAC:
		return 48;
	case SET_DIM_IFACE:
		return 128;
	default:
		return m->family == FAMILY_IP4 ? 32 : 128;
	}
}

struct dim_prefixes {
	u128 v[DIM_PREFIXES];
	uint8_t plen[DIM_PREFIXES];
	unsigned n;
	bool is_wild;
};

static bool elem_prefixes(const struct set *m, unsigned i, const struct nft_expr *part, const struct nft_lower_values *v,
			  struct dim_prefixes *out)
{
	unsigned bits = dim_bits(m, i);
	u128 lo, hi;

	out->n = 0;
	out->is_wild = m->dim[i] == SET_DIM_IFACE && part->is_prefix;
	if (v->v.n != 1)
		return false;
	lo = v->v.v[0].lo;
	hi = out->is_wild ? lo : v->v.v[0].hi;
	if (m->dim[i] == SET_DIM_IFACE && (part->kind != NFT_TEXT || part->text.n == 0))
		return false;
	if (hi > nft_lower_mask_bits(bits) || (lo != hi && m->dim[i] != SET_DIM_NET && m->dim[i] != SET_DIM_VALUE))
		return false;
	do {
		if (out->n == DIM_PREFIXES)
			return false;
		out->plen[out->n] = (uint8_t)nft_lower_prefix(&lo, hi, bits, &out->v[out->n]);
		out->n++;
	} while (lo > out->v[out->n - 1] && lo <= hi);
	return true;
}

/* One element; false: it has no such form. */
static bool set_elem(struct nft_lower *l, struct set *m, const struct nft_elem *e, struct dim_prefixes *p)
{
	struct nft_lower_values v[SET_MAX_DIMS] = { 0 };
	unsigned at[SET_MAX_DIMS] = { 0 }, total = 1;

	if (!elem_values(l, e->key, m->n_dims, v))
		return false;
	for (unsigned i = 0; i < m->n_dims; i++) {
		if (!elem_prefixes(m, i, m->n_dims == 1 && e->key->kind != NFT_CONCAT ? e->key : e->key->part[i], &v[i], &p[i]))
			return false;
		total *= p[i].n;
	}
	if (total > MOST_PREFIXES)
		return false;
	for (unsigned k = 0; k < total; k++) {
		struct set_elem *out = vec_add(l->a, &m->elems);

		for (unsigned i = 0, left = k; i < m->n_dims; i++) {
			at[i] = left % p[i].n;
			left /= p[i].n;
			out->v[i] = p[i].v[at[i]];
			out->plen[i] = p[i].plen[at[i]];
			out->wildcard |= p[i].is_wild;
		}
		out->has_timeout = e->has_timeout || e->has_expires;
		out->timeout_s = (uint32_t)((e->has_expires ? e->expires_ms : e->timeout_ms) / 1000);
		out->comment = e->comment;
		out->at = e->at;
	}
	return true;
}

static struct str type_text(struct nft_lower *l, const struct nft_set *s)
{
	struct buf b = { .a = l->a };

	for (size_t i = 0; i < s->key.n; i++)
		buf_printf(&b, "%s%s", i ? " . " : "", nft_type_table[s->key.v[i]].name);
	return buf_str(&b);
}

void nft_lower_set(struct nft_lower *l, const struct nft_set *s)
{
	struct set *m = arena_new(l->a, struct set, 1), *in;
	struct dim_prefixes *p;

	if (s->is_map || s->key.n == 0 || s->key.n > SET_MAX_DIMS || !set_dims(m, s))
		return;
	m->n_dims = (uint8_t)s->key.n;
	p = arena_new(l->a, struct dim_prefixes, SET_MAX_DIMS);
	for (size_t i = 0; i < s->elems.n; i++)
		if (!set_elem(l, m, &s->elems.v[i], p))
			return;
	m->type = type_text(l, s);
	m->mark_mask = UINT32_MAX;
	m->netmask = m->family == FAMILY_IP4 ? 32 : 128;
	m->max_elems = s->has_size ? s->size : m->elems.n > 65536 ? m->elems.n * 2 : 65536;
	if (m->max_elems < m->elems.n)
		m->max_elems = m->elems.n;
	m->has_default_timeout = s->flags & NFT_SET_TIMEOUT;
	m->default_timeout_s = s->has_timeout ? (uint32_t)(s->timeout_ms / 1000) : 0;
	m->options = s->flags & NFT_SET_INTERVAL ? STR("interval") : STR("");
	in = policy_set_add(l->rs, nft_lower_name(l, s->name), s->at);
	m->name = in->name;
	m->at = in->at;
	m->id = in->id;
	*in = *m;
	*strmap_slot(l->shared->a, &l->shared->sets, in->name) = in;
}

/* ---------- the use of a set ---------- */

static bool is_plain(const struct nft_lower_key *k, const struct set *m, unsigned i)
{
	bool is_addr = m->dim[i] == SET_DIM_ADDR || m->dim[i] == SET_DIM_NET;

	return k->kind == NFT_LOWER_KEY && k->up == 0 && k->flip == 0 && k->code == NFT_LOWER_PLAIN &&
	       (is_addr || m->dim[i] == SET_DIM_IFACE || k->bits == dim_bits(m, i)) && !(is_addr && k->key.payload);
}

static const struct set *model_of(struct nft_lower *l, const struct nft_lower_key *k, unsigned n, const struct nft_set *s)
{
	const struct set *m = s->name.n ? strmap_get(&l->shared->sets, nft_lower_name(l, s->name)) : NULL;

	if (!m || m->n_dims != n)
		return NULL;
	for (unsigned i = 0; i < n; i++)
		if (!is_plain(&k[i], m, i))
			return NULL;
	return m;
}

struct set_use *nft_lower_set_use(struct nft_lower *l, const struct nft_lower_key *k, unsigned n, const struct nft_set *s, struct loc at)
{
	const struct set *m = model_of(l, k, n, s);
	struct set_use *u;
	uint8_t n_dims;

	if (!m)
		return NULL;
	u = arena_new(l->a, struct set_use, 1);
	u->name = m->name;
	u->at = at;
	u->set = m;
	u->by_field = true;
	u->key = map_keys(l, k, n, &n_dims);
	return u;
}

/* What an absent key reads as: only names of interfaces are there even where there is no interface. */
static bool answers_absent(struct nft_lower *l, const struct nft_lower_key *k, unsigned n)
{
	bool has = false;

	for (unsigned i = 0; i < n; i++)
		has |= k[i].kind == NFT_LOWER_KEY && k[i].is_absent_zero;
	for (unsigned i = 0; has && i < n; i++) {
		enum field f = k[i].key.field;

		if (k[i].kind == NFT_LOWER_KEY && !k[i].is_absent_zero &&
		    (k[i].key.payload || (f != FIELD_SRC && f != FIELD_DST && f != FIELD_PROTO && f != FIELD_MARK && f != FIELD_CT_STATE)))
			nft_lower_in(l, &k[i], valset_one(l->a, 0, k[i].key.payload ? ~(u128)0 : field_max(f)), false);
	}
	return has;
}

/* A set's keys, for a use of it. NULL, or why nobody can tell what is in it. */
static const char *fill_tuple(struct nft_lower *l, struct map *m, const struct nft_lower_key *k, unsigned n, const struct nft_set *s)
{
	for (size_t i = 0; i < s->elems.n; i++) {
		struct nft_lower_values v[MAP_MAX_DIMS] = { 0 };

		if (s->elems.v[i].key->kind == NFT_ANY)
			m->has_other = true;
		else if (!elem_values(l, s->elems.v[i].key, n, v))
			return why_elem;
		else if (!add_entries(l, m, k, n, v, 0, s->elems.v[i].at))
			return nft_lower_why_ranges;
	}
	return s->is_filled ? why_filled : NULL;
}

static void in_tuple(struct nft_lower *l, struct nft_lower_key *k, unsigned n, const struct nft_set *s, struct loc at, bool negated)
{
	struct map *m = policy_map_add(l->rs, s->name.n ? nft_lower_name(l, s->name) : s->name, s->at);
	struct map_use *u = arena_new(l->a, struct map_use, 1);
	const char *why;
	struct test *t;
	bool on_absent;

	u->what = whats(l, k, n);
	u->at = at;
	u->map = m;
	u->key = map_keys(l, k, n, &m->n_dims);
	why = fill_tuple(l, m, k, n, s);
	on_absent = !why && m->n_dims && negated && answers_absent(l, k, n);
	if (why) {
		nft_lower_unknown(l, at, u->what, why);
	} else if (m->n_dims == 0) {
		if ((m->entries.n > 0 || m->has_other) == negated)
			nft_lower_never(l, at, u->what);
		m->entries.n = 0;
	} else {
		t = nft_lower_test(l, TEST_TUPLE, at, u->what);
		t->tuple = u;
		t->negated = negated;
		t->on_absent = on_absent;
	}
}

void nft_lower_in_set(struct nft_lower *l, struct nft_lower_key *k, unsigned n, const struct nft_set *s, struct loc at, bool negated)
{
	struct set_use *u;
	struct test *t;
	bool on_absent;

	for (unsigned i = 0; i < n; i++) {
		if (k[i].kind == NFT_LOWER_UNKNOWN) {
			nft_lower_unknown(l, at, k[i].what, k[i].why);
			return;
		}
	}
	u = nft_lower_set_use(l, k, n, s, at);
	if (!u) {
		if (s->name.n && strmap_get(&l->shared->sets, nft_lower_name(l, s->name)))
			diag_warn(l->d, at, "fixed-set", "%s: this rule does not follow later changes of set %.*s", whats(l, k, n),
				  STR_ARG(s->name));
		in_tuple(l, k, n, s, at, negated);
		return;
	}
	on_absent = negated && answers_absent(l, k, n);
	t = nft_lower_test(l, TEST_SET, at, whats(l, k, n));
	t->set = u;
	t->negated = negated;
	t->on_absent = on_absent;
}

/* ---------- maps ---------- */

struct outcomes {
	struct strmap by_text;
	VEC(struct step) v;
};

static uint32_t outcome_index(struct nft_lower *l, struct outcomes *o, const struct nft_expr *data, nft_lower_outcome *make,
			      const void *arg)
{
	struct str text = nft_print_expr(l->a, data);
	void **slot = strmap_slot(l->a, &o->by_text, text);

	if (!*slot) {
		struct step *s = vec_add(l->a, &o->v);

		make(l, data, arg, s);
		*slot = (void *)(uintptr_t)o->v.n;
	}
	return (uint32_t)((uintptr_t)*slot - 1);
}

/* Has every number that `numgen ... mod N` gives an entry? */
static bool covers(struct nft_lower *l, const struct nft_expr *key, const struct nft_set *s)
{
	struct nft_lower_values v = { 0 };
	struct valset all, asked;

	if ((key->kind != NFT_NUMGEN && key->kind != NFT_HASH) || key->gen.modulus == 0)
		return false;
	for (size_t i = 0; i < s->elems.n; i++)
		if (!nft_lower_values(l, s->elems.v[i].key, &v))
			return false;
	all = valset_make(l->a, v.v.v, v.v.n);
	asked = valset_one(l->a, key->gen.offset, key->gen.offset + key->gen.modulus - 1);
	return valset_covers(&all, &asked);
}

/* NULL, or why nobody can tell which entry it is. */
static const char *fill_map(struct nft_lower *l, struct map *m, const struct nft_lower_key *k, unsigned n, const struct nft_set *s,
		     nft_lower_outcome *outcome, const void *arg)
{
	struct outcomes o = { 0 };
	const char *why = s->is_filled ? why_filled : NULL;

	for (size_t i = 0; i < s->elems.n; i++) {
		const struct nft_elem *e = &s->elems.v[i];
		struct nft_lower_values v[MAP_MAX_DIMS] = { 0 };
		uint32_t index;

		if (!e->data)
			continue;
		index = outcome_index(l, &o, e->data, outcome, arg);
		if (e->key->kind == NFT_ANY) {
			m->has_other = true;
			m->other = index;
		} else if (!elem_values(l, e->key, n, v)) {
			why = why_elem;
		} else if (!add_entries(l, m, k, n, v, index, e->at)) {
			why = nft_lower_why_ranges;
		}
	}
	m->outcome = o.v.v;
	m->n_outcomes = (uint32_t)o.v.n;
	return why;
}

/* May a name of an interface be absent at the hooks of this chain? */
static bool may_lack_interface(const struct nft_lower *l, const struct nft_lower_key *k, unsigned n)
{
	static const uint32_t has_in = 1u << HOOK_PREROUTING | 1u << HOOK_INPUT | 1u << HOOK_FORWARD | 1u << HOOK_INGRESS;
	static const uint32_t has_out = 1u << HOOK_FORWARD | 1u << HOOK_OUTPUT | 1u << HOOK_POSTROUTING | 1u << HOOK_EGRESS;

	for (unsigned i = 0; i < n; i++) {
		uint32_t has = k[i].key.field == FIELD_IIF ? has_in : has_out;

		if (k[i].kind == NFT_LOWER_KEY && k[i].is_absent_zero && (!l->chain->is_base || !(has >> l->chain->hook & 1)))
			return true;
	}
	return false;
}

void nft_lower_map(struct nft_lower *l, const struct nft_expr *map, nft_lower_outcome *outcome, const void *arg, const void *kind)
{
	const struct nft_set *s = map->part[1]->kind == NFT_SETREF ? map->part[1]->set : map->part[1]->lit;
	struct nft_lower_key k[MAP_MAX_DIMS];
	unsigned n = nft_lower_keys(l, map->part[0], k);
	struct map_use *u;
	struct map *m = NULL;
	struct step *step;
	bool is_plain_all = s->name.n > 0;
	void **slot = NULL;

	if (n == 0)
		return;
	u = arena_new(l->a, struct map_use, 1);
	for (unsigned i = 0; i < n; i++) {
		is_plain_all &= k[i].kind == NFT_LOWER_KEY && k[i].up == 0 && k[i].flip == 0 && k[i].code == NFT_LOWER_PLAIN;
		if (k[i].kind == NFT_LOWER_UNKNOWN) {
			u->why = k[i].why;
			k[i].kind = NFT_LOWER_KEY;
			k[i].bits = 32;
			k[i].key = (struct map_key){ .field = FIELD_MARK, .mask = UINT32_MAX };
		}
	}
	if (is_plain_all) {
		slot = strmap_slot(l->shared->a, &l->shared->maps,
				   arena_printf(l->a, "%.*s %u %d %p", STR_ARG(nft_lower_name(l, s->name)), l->family, l->is_last, kind));
		m = *slot;
	}
	if (!m) {
		const char *why;

		m = policy_map_add(l->rs, s->name.n ? nft_lower_name(l, s->name) : s->name, s->at);
		map_keys(l, k, n, &m->n_dims);
		why = fill_map(l, m, k, n, s, outcome, arg);
		u->why = u->why ? u->why : why;
		if (u->why && n == 1 && !m->has_other && m->n_outcomes && covers(l, map->part[0], s))
			m->has_other = true;
		if (slot && !why)
			*slot = m;
	}
	if (m->has_other && !u->why && may_lack_interface(l, k, n))
		u->why = "without an interface the name is empty, which is not looked up";
	u->map = m;
	u->key = map_keys(l, k, n, &(uint8_t){ 0 });
	u->what = whats(l, k, n);
	u->at = map->at;
	if (m->n_outcomes == 0 || (m->n_dims == 0 && m->entries.n == 0 && !m->has_other)) {
		nft_lower_never(l, map->at, u->what);
		return;
	}
	step = vec_add(l->a, &l->steps);
	if (m->n_dims == 0) { /* the family alone decides */
		*step = m->outcome[m->entries.n ? m->entries.v[0].outcome : m->other];
		m->entries.n = 0;
		return;
	}
	step->kind = STEP_MAP;
	step->map = u;
}
