/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules that ask maps, and the lists of the maps. See map.h. */
#include "classify/map.h"

#include "classify/bytes.h"
#include "classify/lookup.h"
#include "classify/maptree.h"

enum { STEPS = 8 }; /* instructions of a use that are no tests, at most */
enum { FEW_ROWS = 8, MANY_ROWS = 1024 };

struct map_list {
	const struct map *map;
	const struct map_key *key;
	bool is_ip4;
	uint32_t pc;
};

struct map_lists {
	struct arena *a;
	VEC(struct map_list) all;
};

struct map_lists *map_lists_create(struct arena *a)
{
	struct map_lists *m = arena_new(a, struct map_lists, 1);

	m->a = a;
	return m;
}

bool map_asks_conntrack(const struct map_use *u)
{
	for (unsigned i = 0; i < u->map->n_dims; i++)
		if (!u->key[i].payload && field_table[u->key[i].field].layer == FIELD_LAYER_CT)
			return true;
	return false;
}

/* ---------- lists ---------- */

static bool is_same_payload(const struct payload_ref *x, const struct payload_ref *y)
{
	if (!x || !y)
		return x == y;
	return x->base == y->base && x->at_bit == y->at_bit && x->n_bits == y->n_bits;
}

static bool is_same_key(const struct map_key *x, const struct map_key *y, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!is_same_payload(x[i].payload, y[i].payload) || x[i].mask != y[i].mask ||
		    (!x[i].payload && x[i].field != y[i].field))
			return false;
	return true;
}

static uint32_t list_of(struct test_room *r, const struct map_use *u)
{
	struct map_lists *m = r->maps;

	for (size_t i = m->all.n; i-- > 0;)
		if (m->all.v[i].map == u->map && m->all.v[i].is_ip4 == r->is_ip4 &&
		    is_same_key(m->all.v[i].key, u->key, u->map->n_dims))
			return (uint32_t)i;
	*vec_add(m->a, &m->all) = (struct map_list){ .map = u->map, .key = u->key, .is_ip4 = r->is_ip4 };
	return (uint32_t)m->all.n - 1;
}

/* ---------- in the rule ---------- */

/*
 * Reads what has to be read, and goes to absent if a value is not there. Where its absence leads the same way as a value that
 * is not found, the list itself may ask.
 */
static void emit_values(struct test_room *r, const struct map_use *u, bool must_ask, int absent)
{
	struct code *c = r->code;

	for (unsigned i = 0; i < u->map->n_dims; i++) {
		struct place p = maptree_place(u->key, i, r->is_ip4);
		int next = code_label(c);

		c->features |= p.feature;
		if (u->key[i].payload)
			bytes_emit_payload(c, u->key[i].payload, p.word, next, absent);
		else if (p.has_mask && (must_ask || p.has_word != p.word || p.bits > 64))
			test_emit_presence(c, &p, next, absent);
		code_put(c, next);
	}
}

static struct code_insn *emit_use(struct test_room *r, const struct map_use *u, enum dp_op op)
{
	struct code_insn *i = code_add(r->code, op);

	i->b = list_of(r, u);
	i->a = DP_NO_COUNTER;
	r->code->features |= DP_F_MAP | DP_F_LOOKUP;
	r->code->steps += STEPS;
	return i;
}

void map_emit_test(struct test_room *r, const struct test *t, int yes, int no)
{
	bool must_ask = t->on_absent != t->negated || t->tuple->map->has_other;
	struct code_insn *i;

	emit_values(r, t->tuple, must_ask, t->on_absent ? yes : no);
	i = emit_use(r, t->tuple, DP_OP_TUPLE);
	i->yes = t->negated ? no : yes;
	i->no = t->negated ? yes : no;
}

void map_emit_step(struct test_room *r, const struct map_use *u, uint64_t counter, int yes, int no)
{
	struct code_insn *i;

	emit_values(r, u, u->map->has_other, no);
	i = emit_use(r, u, DP_OP_MAP);
	i->a = counter;
	i->yes = yes;
	i->no = no;
}

/* ---------- what an entry leads to ---------- */

static void emit_end(struct code *c, enum dp_end end)
{
	struct code_insn *i = code_add(c, DP_OP_END);

	i->arg = (uint8_t)end;
	i->a = DP_NO_COUNTER;
}

static void emit_verdict(struct code *c, const struct step *s)
{
	static const uint8_t ops[] = { [VERDICT_ACCEPT] = DP_OP_ACCEPT, [VERDICT_DROP] = DP_OP_DROP, [VERDICT_REJECT] = DP_OP_DROP,
				       [VERDICT_JUMP] = DP_OP_GOTO, [VERDICT_GOTO] = DP_OP_GOTO, [VERDICT_RETURN] = DP_OP_RETURN,
				       [VERDICT_NONE] = DP_OP_RETURN };
	struct code_insn *i;

	/* Who jumps comes back to the rule behind, and so does who goes on there: through the frame that the map has opened. */
	emit_end(c, s->v.verdict == VERDICT_JUMP || s->v.verdict == VERDICT_NONE ? DP_END_STAY : DP_END_LEAVE);
	i = code_add(c, (enum dp_op)ops[s->v.verdict]);
	i->a = DP_NO_COUNTER;
	if (s->v.chain)
		i->b = s->v.chain->id;
}

static void emit_outcome(struct code *c, const struct map *m, uint32_t outcome)
{
	const struct step *s = m->n_outcomes ? &m->outcome[outcome] : NULL;
	struct code_insn *i;

	if (s && s->kind == STEP_VERDICT) {
		emit_verdict(c, s);
		return;
	}
	if (s && s->effect.kind == EFFECT_MARK) {
		c->features |= DP_F_MARK_WRITE;
		i = code_add(c, DP_OP_MARK);
		i->a = (uint64_t)UINT32_MAX << 32 | (uint32_t)~s->effect.mask;
		i->b = s->effect.value;
	}
	emit_end(c, DP_END_YES);
}

static void emit_rest(struct code *c, const struct map *m)
{
	if (m->has_other)
		emit_outcome(c, m, m->other);
	else
		emit_end(c, DP_END_NO);
}

/* ---------- the two shapes ---------- */

static void emit_tree(struct test_room *r, const struct maptree *t, const struct map *m)
{
	struct code *c = r->code;
	uint32_t n = m->n_outcomes ? m->n_outcomes : 1;
	int *label = arena_new(c->a, int, n), miss = code_label(c);

	for (uint32_t i = 0; i < n; i++)
		label[i] = code_label(c);
	maptree_emit(t, c, label, miss);
	for (uint32_t i = 0; i < n; i++) {
		code_put(c, label[i]);
		emit_outcome(c, m, i);
	}
	code_put(c, miss);
	emit_rest(c, m);
}

static void emit_row(struct code *c, const struct maptree *t, const struct maptree_row *row, const struct map *m)
{
	int next = code_label(c);

	for (unsigned k = 0; k < t->n_levels; k++)
		code_test(c, (struct code_atom){ t->level[k].word, t->level[k].mask, row->lo[k], row->hi[k] - row->lo[k] }, CODE_NEXT,
			  next);
	emit_outcome(c, m, row->outcome);
	code_put(c, next);
}

/* Nobody asks of the entries of a map which of them was hidden, so that one rule stands for all. */
static void emit_rows(struct test_room *r, const struct maptree *t, const struct map *m, struct words *w, enum tables_engine wanted)
{
	static struct rule nobody;
	static const struct rule *const rule = &nobody;
	struct code *c = r->code;
	struct arena *scratch = arena_create();
	struct chain chain = { .hook = HOOK_NONE, .family = r->is_ip4 ? FAMILY_IP4 : FAMILY_IP6 };
	struct tables_list report = { 0 };
	struct lookup_list look = { .code = c, .chain = &chain, .is_ip6 = !r->is_ip4, .wanted = wanted, .words = w, .n = t->n_rows,
				    .report = &report };

	look.start = arena_new(scratch, uint32_t, t->n_rows + 1);
	look.entry = arena_new(scratch, struct tables_entry, t->n_rows + 1);
	look.fate = arena_new(scratch, struct tables_fate, 1);
	chain.rules.v = arena_new(scratch, struct rule *, 1);
	chain.rules.v[0] = &nobody;
	chain.rules.n = 1;
	for (size_t i = 0; i < t->n_rows; i++) {
		look.start[i] = (uint32_t)c->insn.n;
		look.entry[i] = (struct tables_entry){ &rule, 1 };
		emit_row(c, t, &t->row[i], m);
	}
	look.start[t->n_rows] = (uint32_t)c->insn.n;
	emit_rest(c, m);
	lookup_make(&look);
	arena_destroy(scratch);
}

static void emit_list(struct test_room *r, struct map_list *l, struct words *w, enum tables_engine wanted, struct diags *d)
{
	struct arena *scratch = arena_create();
	struct maptree t;
	bool is_tree;

	r->is_ip4 = l->is_ip4;
	maptree_read(scratch, l->map, l->key, l->is_ip4, &t);
	code_list_open(r->code, t.n_rows);
	is_tree = maptree_sort(&t) && (t.n_rows <= FEW_ROWS || !t.is_indexed || (t.n_levels == 1 && t.n_rows <= MANY_ROWS));
	if (is_tree)
		emit_tree(r, &t, l->map);
	else
		emit_rows(r, &t, l->map, w, wanted);
	l->pc = (uint32_t)r->code->list;
	if (!code_list_close(r->code))
		diag_error(d, l->map->at, "this map is too long: its %zu entries take more than %d compares", l->map->entries.n,
			   DP_MAX_SCAN);
	arena_destroy(scratch);
}

void map_lists_emit(struct test_room *r, struct words *w, enum tables_engine wanted, struct diags *d)
{
	for (size_t i = 0; i < r->maps->all.n; i++)
		emit_list(r, &r->maps->all.v[i], w, wanted, d);
}

void map_lists_link(const struct map_lists *m, struct code *c, uint32_t pc)
{
	for (size_t i = 0; i < c->insn.n; i++)
		if (c->insn.v[i].op == DP_OP_MAP || c->insn.v[i].op == DP_OP_TUPLE)
			c->insn.v[i].b = m->all.v[c->insn.v[i].b].pc + pc;
}
