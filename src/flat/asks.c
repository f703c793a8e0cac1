/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rules ask. See asks.h. */
#include "flat/asks.h"

#include "flat/flat.h"

static const uint32_t of_field[FIELD_COUNT] = {
	[FIELD_IIF] = ASKS_IIF, [FIELD_OIF] = ASKS_OIF,
	[FIELD_PHYSIN] = ASKS_HOST, [FIELD_PHYSOUT] = ASKS_HOST,
	[FIELD_IIF_GROUP] = ASKS_HOST, [FIELD_OIF_GROUP] = ASKS_HOST,
	[FIELD_PKTTYPE] = ASKS_PKTTYPE, [FIELD_CPU] = ASKS_CPU,
	[FIELD_UID] = ASKS_SOCKET, [FIELD_GID] = ASKS_SOCKET, [FIELD_HAS_SOCKET] = ASKS_SOCKET,
	[FIELD_REALM] = ASKS_REALM,
	[FIELD_MAC_SRC] = ASKS_ETHER, [FIELD_MAC_DST] = ASKS_ETHER, [FIELD_ETHERTYPE] = ASKS_ETHER, [FIELD_VLAN] = ASKS_ETHER,
	[FIELD_SRC_TYPE] = ASKS_HOST, [FIELD_DST_TYPE] = ASKS_HOST,
	[FIELD_CT_STATE] = ASKS_CT, [FIELD_CT_MARK] = ASKS_CT | ASKS_CT_MARK,
	[FIELD_LENGTH] = ASKS_HEADER, [FIELD_TTL] = ASKS_HEADER, [FIELD_TOS] = ASKS_HEADER,
	[FIELD_TCP_OPTS] = ASKS_BYTES, [FIELD_TCP_MSS] = ASKS_BYTES, [FIELD_SCTP_CHUNKS] = ASKS_BYTES,
	/* The other fields of layers CT and EXT are told by their layer. */
};

static uint32_t asks_field(enum field f)
{
	if (of_field[f])
		return of_field[f];
	if (field_table[f].layer == FIELD_LAYER_CT)
		return ASKS_CT | ASKS_CT_MORE;
	return field_table[f].layer == FIELD_LAYER_EXT ? ASKS_EXT : 0;
}

static uint32_t asks_payload(const struct payload_ref *p)
{
	return ASKS_BYTES | (p->base == PAYLOAD_LINK ? ASKS_ETHER : 0);
}

static uint32_t asks_set(const struct set_use *use)
{
	uint32_t asks = 0;

	for (unsigned i = 0; use->by_field && use->set && i < use->set->n_dims; i++)
		asks |= use->key[i].payload ? asks_payload(use->key[i].payload) : asks_field(use->key[i].field);
	if (use->by_field)
		return asks;
	for (unsigned i = 0; i < use->n_dirs; i++)
		asks |= use->dir[i] == SET_DIR_SRC ? ASKS_IIF : ASKS_OIF;
	if (!use->set)
		return asks | ASKS_ETHER;
	/* A list's members may be of any kind; of other sets the dimensions tell. */
	for (unsigned i = 0; i < use->set->n_dims; i++)
		if (use->set->dim[i] == SET_DIM_IFACE || use->set->dim[i] == SET_DIM_MAC || use->set->dim[i] == SET_DIM_LIST)
			return asks | ASKS_ETHER;
	return 0;
}

static uint32_t asks_key(const struct map_use *u)
{
	uint32_t asks = 0;

	for (unsigned i = 0; i < u->map->n_dims; i++)
		asks |= u->key[i].payload ? asks_payload(u->key[i].payload) : asks_field(u->key[i].field);
	return asks;
}

uint32_t asks_of_test(const struct test *t, enum family f)
{
	uint32_t asks = 0;

	if (t->kind == TEST_SET)
		return asks_set(t->set);
	if (t->kind == TEST_TUPLE)
		return asks_key(t->tuple);
	if (t->kind == TEST_BYTES)
		return t->bytes->kind == BYTES_PAYLOAD ? asks_payload(&t->bytes->payload) : ASKS_BYTES;
	if (f == FAMILY_IP4 && flat_asks_multicast(t)) /* the address tells */
		return 0;
	for (unsigned i = 0; (t->kind == TEST_IN || t->kind == TEST_MASK) && i < t->n_fields; i++)
		asks |= asks_field(t->field[i]);
	return asks;
}

static uint32_t asks_step(const struct step *s, enum family f)
{
	if (s->kind == STEP_TEST)
		return asks_of_test(&s->test, f);
	if (s->kind == STEP_MAP)
		return asks_key(s->map);
	if (s->kind == STEP_EFFECT && s->effect.kind == EFFECT_RESTORE_MARK)
		return ASKS_CT | ASKS_CT_MARK;
	return 0;
}

/* Chains that are reached, each once: the list is its own queue. */
struct queue {
	struct arena *a;
	VEC(const struct chain *) chain;
	bool *seen; /* by chain.id */
};

static void reach(struct queue *q, const struct chain *c)
{
	if (q->seen[c->id])
		return;
	q->seen[c->id] = true;
	*vec_add(q->a, &q->chain) = c;
}

static uint32_t asks_rule(struct queue *q, const struct rule *r)
{
	uint32_t asks = 0;

	for (uint32_t i = 0; i < r->n_steps; i++)
		asks |= asks_step(&r->step[i], r->chain->family);
	for (struct flat_call c = { .rule = r }; flat_next_call(&c);)
		reach(q, c.verdict->v.chain);
	return asks;
}

uint32_t asks_of(const struct ruleset *rs, const struct chain *const *chain, unsigned n)
{
	struct queue q = { .a = arena_create() };
	uint32_t asks = 0;

	q.seen = arena_new(q.a, bool, rs->chains.n + 1);
	for (unsigned i = 0; i < n; i++)
		reach(&q, chain[i]);
	for (size_t at = 0; at < q.chain.n; at++)
		for (size_t i = 0; i < q.chain.v[at]->rules.n; i++)
			asks |= asks_rule(&q, q.chain.v[at]->rules.v[i]);
	arena_destroy(q.a);
	return asks;
}
