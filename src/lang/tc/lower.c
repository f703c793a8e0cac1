/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tc filters as chains: one for each device and direction, in which rules stand as the kernel asks them.
 *
 * Filters of one priority are a classifier, asked in the order of priorities. Without a priority a filter gets one that
 * is smaller than all there are (the first: 49152), so it is asked before them. Within a bpf classifier the filter that
 * was added last is asked first; within u32 a walk over hash tables decides (policy.h), and a rule stands for each of its
 * ends. The first result other than "continue" is the packet's: ok and pipe let it pass, as does no match at all.
 *
 * A filter's protocol is the frame's as the machine names it: a packet with a tag is 802.1q, and `protocol ip` does
 * not see it.
 */
#include <linux/filter.h>

#include "lang/tc/tree.h"

enum { PRIO_FIRST = 49152, NODE_FIRST = 0x800, NODE_LAST = 0xfff, TABLE_ROOT = 0x800, TC_ALL = 3, TC_IP = 0x800, TC_IP6 = 0x86dd };

/* Filters of one priority. */
struct classifier {
	uint32_t prio;
	const struct tc_filter *first;
	struct tcu32_table *root;	 /* U32 */
	VEC(const struct tc_filter *) programs; /* BPF, in the order in which they are asked */
};
struct node {
	const struct tc_filter *tree;
	struct tcu32_filter *f;
	const struct tcu32_bucket *bucket;
	uint32_t number;
	bool is_reached;
};
/* All filters of one device and parent. */
struct block {
	const struct tc_filter *first;
	VEC(struct classifier *) classifiers; /* by priority */
	VEC(struct tcu32_table *) tables;
	VEC(struct node *) nodes;
	uint32_t n_roots;
};
struct lower {
	struct ruleset *rs;
	struct arena *a;
	struct diags *d;
	struct block *block;
	struct chain *chain[FAMILY_ALL];
	uint32_t expansion;
};

/* ---------- classifiers ---------- */

static struct classifier *add_classifier(struct lower *l, const struct tc_filter *f, uint32_t prio)
{
	struct classifier *c = arena_new(l->a, struct classifier, 1);
	size_t i;

	c->prio = prio;
	c->first = f;
	vec_add(l->a, &l->block->classifiers);
	for (i = l->block->classifiers.n - 1; i > 0 && l->block->classifiers.v[i - 1]->prio > prio; i--)
		l->block->classifiers.v[i] = l->block->classifiers.v[i - 1];
	l->block->classifiers.v[i] = c;
	if (f->kind == TC_FILTER_U32) {
		c->root = arena_new(l->a, struct tcu32_table, 1);
		c->root->id = TABLE_ROOT + l->block->n_roots++;
		c->root->n_buckets = 1;
		c->root->bucket = arena_new(l->a, struct tcu32_bucket, 1);
		*vec_add(l->a, &l->block->tables) = c->root;
	}
	return c;
}

static struct classifier *classifier_of(struct lower *l, const struct tc_filter *f)
{
	struct block *b = l->block;

	if (!f->has_prio)
		return add_classifier(l, f, b->classifiers.n ? b->classifiers.v[0]->prio - 1 : PRIO_FIRST);
	for (size_t i = 0; i < b->classifiers.n; i++) {
		struct classifier *c = b->classifiers.v[i];

		if (c->prio != f->prio)
			continue;
		if (c->first->kind == f->kind && c->first->protocol == f->protocol)
			return c;
		diag_hint(l->d, diag_error(l->d, f->at, "priority %u is already one of another kind or protocol", f->prio),
			  "give it a priority of its own");
		return NULL;
	}
	return add_classifier(l, f, f->prio);
}

/* ---------- tables of u32 ---------- */

static struct tcu32_table *find_table(const struct block *b, uint32_t id)
{
	for (size_t i = 0; i < b->tables.n; i++)
		if (b->tables.v[i]->id == id)
			return b->tables.v[i];
	return NULL;
}

static struct tcu32_table *add_table(struct lower *l, uint32_t id, uint32_t n)
{
	struct tcu32_table *t = arena_new(l->a, struct tcu32_table, 1);

	t->id = id;
	t->n_buckets = n;
	t->bucket = arena_new(l->a, struct tcu32_bucket, n);
	*vec_add(l->a, &l->block->tables) = t;
	return t;
}

/* NULL after an error. Lines without a device are pieces of a text: there the table is made where it is first named. */
static struct tcu32_table *table_of(struct lower *l, const struct tc_filter *f, uint32_t id)
{
	struct tcu32_table *t = find_table(l->block, id);

	if (t || !f->is_tail) {
		if (!t)
			diag_hint(l->d, diag_error(l->d, f->at, "there is no hash table %x: yet", id),
				  "tc filter add ... handle %x: u32 divisor 1 makes it", id);
		return t;
	}
	diag_warn(l->d, f->at, "table-not-made", "no line makes the hash table %x:, which tc asks for; it is taken to have one bucket", id);
	return add_table(l, id, 1);
}

static bool is_number_free(const struct block *b, const struct tcu32_bucket *bucket, uint32_t number)
{
	for (size_t i = 0; i < b->nodes.n; i++)
		if (b->nodes.v[i]->bucket == bucket && b->nodes.v[i]->number == number)
			return false;
	return true;
}

/* Filters of a bucket are asked in the order of their numbers. */
static bool put_node(struct lower *l, struct tcu32_bucket *bucket, struct node *n)
{
	uint32_t number = n->tree->handle.node;
	size_t i;

	if (number && !is_number_free(l->block, bucket, number)) {
		diag_error(l->d, n->tree->at, "there is a filter %x in this bucket already", number);
		return false;
	}
	for (uint32_t k = NODE_FIRST; !number && k <= NODE_LAST; k++)
		if (is_number_free(l->block, bucket, k))
			number = k;
	if (!number) {
		diag_error(l->d, n->tree->at, "this bucket is full");
		return false;
	}
	n->bucket = bucket;
	n->number = number;
	vec_add(l->a, &bucket->filters);
	for (i = bucket->filters.n - 1; i > 0; i--) {
		const struct node *before = NULL;

		for (size_t k = 0; k < l->block->nodes.n; k++)
			if (l->block->nodes.v[k]->f == bucket->filters.v[i - 1])
				before = l->block->nodes.v[k];
		if (!before || before->number < number)
			break;
		bucket->filters.v[i] = bucket->filters.v[i - 1];
	}
	bucket->filters.v[i] = n->f;
	*vec_add(l->a, &l->block->nodes) = n;
	return true;
}

static bool goes_on(const struct tc_filter *f)
{
	bool has_police = false;

	for (size_t i = 0; i < f->actions.n; i++) {
		enum tc_control c = f->actions.v[i].control;

		has_police |= f->actions.v[i].kind == TC_ACTION_POLICE;
		if (c != TC_PIPE)
			return c == TC_CONTINUE && !has_police;
	}
	return false;
}

static struct tcu32_filter *make_filter(struct lower *l, const struct tc_filter *f)
{
	struct tcu32_filter *u = arena_new(l->a, struct tcu32_filter, 1);

	u->key = f->keys.v;
	u->n_keys = (uint32_t)f->keys.n;
	u->mark = f->mark;
	u->mark_mask = f->mark_mask;
	u->indev = f->indev;
	u->is_skipped = f->skips_sw;
	u->is_terminal = f->has_class || f->actions.n;
	u->goes_on = goes_on(f);
	u->hash_mask = f->hashkey.mask;
	u->hash_at = f->hashkey.at;
	u->has_offset = f->offset.is_given;
	u->has_offset_at = f->offset.has_at;
	u->eats = f->offset.eats;
	u->plus = f->offset.plus;
	u->offset_at = f->offset.at;
	u->offset_mask = f->offset.mask;
	u->offset_shift = f->offset.shift;
	return u;
}

static void add_u32(struct lower *l, const struct tc_filter *f)
{
	struct classifier *c = classifier_of(l, f);
	struct tcu32_table *t;
	struct node *n;
	uint32_t hash = f->ht.is_given ? f->ht.hash : f->handle.hash;

	if (!c)
		return;
	if (f->divisor) {
		if (find_table(l->block, f->handle.table))
			diag_error(l->d, f->at, "there is a hash table %x: already", f->handle.table);
		else
			add_table(l, f->handle.table, f->divisor);
		return;
	}
	t = f->ht.is_given ? table_of(l, f, f->ht.table) : f->handle.table ? table_of(l, f, f->handle.table) : c->root;
	if (t && hash >= t->n_buckets) {
		diag_error(l->d, f->at, "table %x: has %u buckets, there is none %x", t->id, t->n_buckets, hash);
		return;
	}
	n = arena_new(l->a, struct node, 1);
	n->tree = f;
	n->f = make_filter(l, f);
	if (f->link.is_given)
		n->f->link = table_of(l, f, f->link.table);
	if (t && (n->f->link || !f->link.is_given))
		put_node(l, &t->bucket[hash], n);
}

static void add_bpf(struct lower *l, const struct tc_filter *f)
{
	struct classifier *c = classifier_of(l, f);

	if (!c)
		return;
	for (size_t i = 0; i < c->programs.n && f->handle.is_given; i++)
		if (c->programs.v[i]->handle.is_given && c->programs.v[i]->handle.table == f->handle.table) {
			diag_hint(l->d, diag_error(l->d, f->at, "there is a filter %x of this priority already", f->handle.table),
				  "tc filter del takes it away");
			return;
		}
	vec_add(l->a, &c->programs);
	memmove(c->programs.v + 1, c->programs.v, (c->programs.n - 1) * sizeof *c->programs.v);
	c->programs.v[0] = f;
}

/* ---------- steps ---------- */

struct steps {
	VEC(struct step) all;
};

static struct step *add_step(struct lower *l, struct steps *s, enum step_kind kind)
{
	struct step *x = vec_add(l->a, &s->all);

	x->kind = kind;
	return x;
}

static void add_in(struct lower *l, struct steps *s, enum field f, struct valset in, bool if_absent)
{
	struct test *t = &add_step(l, s, STEP_TEST)->test;

	t->kind = TEST_IN;
	t->field[0] = f;
	t->n_fields = 1;
	t->in = in;
	t->negated = if_absent;
	t->on_absent = if_absent;
	t->what = f == FIELD_VLAN ? "a tag in front" : "protocol";
}

/* false: no packet of this family has the protocol. */
static bool add_protocol(struct lower *l, struct steps *s, uint16_t protocol, enum family fam)
{
	bool is_tag = protocol == 0x8100 || protocol == 0x88a8;
	struct valset any = valset_one(l->a, 0, 0xfff);

	if (protocol == TC_ALL)
		return true;
	if (is_tag) {
		add_in(l, s, FIELD_VLAN, any, false);
		return true;
	}
	if (protocol == TC_IP || protocol == TC_IP6 ? fam != (protocol == TC_IP ? FAMILY_IP4 : FAMILY_IP6) : fam != FAMILY_FRAME)
		return false;
	add_in(l, s, FIELD_VLAN, any, true);
	if (fam == FAMILY_FRAME)
		add_in(l, s, FIELD_ETHERTYPE, valset_one(l->a, protocol, protocol), false);
	return true;
}

static void add_bytes(struct lower *l, struct steps *s, const struct bytes_spec *b, struct loc at)
{
	struct test *t = &add_step(l, s, STEP_TEST)->test;

	t->kind = TEST_BYTES;
	t->bytes = b;
	t->at = at;
	t->what = b->kind == BYTES_CBPF ? "bpf" : "u32";
}

static void add_other(struct lower *l, struct steps *s, const char *name, struct str text, struct loc at)
{
	struct effect *e = &add_step(l, s, STEP_EFFECT)->effect;

	e->kind = EFFECT_OTHER;
	e->name = name;
	e->text = text;
	e->at = at;
}

static void add_verdict(struct lower *l, struct steps *s, enum verdict v, struct loc at)
{
	struct step *x = add_step(l, s, STEP_VERDICT);

	x->v.verdict = v;
	x->v.at = at;
}

static void add_unknown(struct lower *l, struct steps *s, const char *why, const char *what, struct loc at)
{
	struct test *t = &add_step(l, s, STEP_TEST)->test;

	t->kind = TEST_UNKNOWN;
	t->why = why;
	t->what = what;
	t->at = at;
}

static void add_control(struct lower *l, struct steps *s, enum tc_control c, struct loc at)
{
	static const enum verdict verdicts[] = { [TC_PIPE] = VERDICT_ACCEPT,   [TC_OK] = VERDICT_ACCEPT,
						 [TC_DROP] = VERDICT_DROP,     [TC_CONTINUE] = VERDICT_NONE,
						 [TC_RECLASSIFY] = VERDICT_DROP, [TC_STOLEN] = VERDICT_STOLEN };

	if (c == TC_RECLASSIFY)
		add_unknown(l, s, "the packet is classified anew", "reclassify", at);
	if (verdicts[c] != VERDICT_NONE)
		add_verdict(l, s, verdicts[c], at);
}

/* ---------- rules ---------- */

static void add_rule(struct lower *l, const struct tc_filter *f, const struct steps *in, struct steps *out)
{
	struct rule *root = NULL;

	l->expansion++;
	for (unsigned fam = 0; fam < FAMILY_ALL; fam++) {
		struct steps s = { 0 };
		struct rule *r;

		if (!add_protocol(l, &s, f->protocol, (enum family)fam))
			continue;
		for (size_t i = 0; i < in->all.n; i++)
			*vec_add(l->a, &s.all) = in->all.v[i];
		for (size_t i = 0; i < out->all.n; i++)
			*vec_add(l->a, &s.all) = out->all.v[i];
		r = policy_rule_add(l->rs, l->chain[fam], UINT32_MAX);
		root = root ? root : r;
		r->root = root;
		r->at = f->at;
		r->expansion = l->expansion;
		r->text = tc_print_rule(l->a, f);
		r->step = s.all.v;
		r->n_steps = (uint32_t)s.all.n;
	}
	*out = (struct steps){ 0 };
}

/* What follows from a match: effects and a verdict; a police splits it in two, of which one happens. */
static void add_outcome(struct lower *l, const struct tc_filter *f, const struct steps *in)
{
	struct steps s = { 0 };

	if (f->has_class)
		add_other(l, &s, "flowid", arena_printf(l->a, "%x:%x", f->classid >> 16, f->classid & 0xffff), f->at);
	for (size_t i = 0; i < f->actions.n; i++) {
		const struct tc_action *x = &f->actions.v[i];

		if (x->has_mark) {
			struct effect *e = &add_step(l, &s, STEP_EFFECT)->effect;

			e->kind = EFFECT_MARK;
			e->value = x->mark;
			e->mask = x->mark_mask;
			e->at = x->at;
		} else if (x->kind == TC_ACTION_MIRRED || x->kind == TC_ACTION_SKBEDIT) {
			add_other(l, &s, x->kind == TC_ACTION_MIRRED ? "mirred" : "skbedit", x->text, x->at);
		}
		if (x->kind == TC_ACTION_POLICE) {
			add_unknown(l, &s, "whether it is within the rate is not kept", "police", x->at);
			add_verdict(l, &s, VERDICT_ACCEPT, x->at);
			add_rule(l, f, in, &s);
		}
		if (x->control != TC_PIPE) {
			add_control(l, &s, x->control, x->at);
			add_rule(l, f, in, &s);
			return;
		}
	}
	add_verdict(l, &s, VERDICT_ACCEPT, f->at);
	add_rule(l, f, in, &s);
}

/* How many rules come of a filter decides whether they are numbered. */
static void end_filter(struct lower *l)
{
	for (unsigned fam = 0; fam < FAMILY_ALL; fam++)
		if (l->expansion == 1 && l->chain[fam]->rules.n)
			l->chain[fam]->rules.v[l->chain[fam]->rules.n - 1]->expansion = 0;
}

/* Results that may come of a program: those that it returns as constants; any if it returns its accumulator. */
static bool may_return(const struct bytes_spec *b, uint32_t k)
{
	for (uint32_t i = 0; i < b->n_insn; i++)
		if (BPF_CLASS(b->insn[i].code) == BPF_RET && (BPF_RVAL(b->insn[i].code) == BPF_A || b->insn[i].k == k))
			return true;
	return k == 0; /* a load beyond the packet */
}

/* da: the result is the outcome. Numbers that are none are as if nothing had matched. */
static void add_direct(struct lower *l, const struct tc_filter *f)
{
	static const struct {
		uint32_t result;
		enum tc_control control;
		const char *name;
	} results[] = { { 0, TC_OK, NULL }, { 2, TC_DROP, NULL }, { 4, TC_STOLEN, NULL }, { 7, TC_STOLEN, "redirect" },
			{ 8, TC_STOLEN, "trap" } };

	for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
		struct bytes_spec *b = arena_new(l->a, struct bytes_spec, 1);
		struct steps in = { 0 }, s = { 0 };

		if (!may_return(f->code, results[i].result))
			continue;
		*b = *f->code;
		b->has_result = true;
		b->result = results[i].result;
		add_bytes(l, &in, b, f->at);
		if (results[i].name)
			add_other(l, &s, results[i].name, STR(""), f->at);
		add_control(l, &s, results[i].control, f->at);
		add_rule(l, f, &in, &s);
	}
}

static void lower_programs(struct lower *l, const struct classifier *c)
{
	for (size_t i = 0; i < c->programs.n; i++) {
		struct steps in = { 0 };

		l->expansion = 0;
		if (c->programs.v[i]->is_direct) {
			add_direct(l, c->programs.v[i]);
		} else {
			add_bytes(l, &in, c->programs.v[i]->code, c->programs.v[i]->at);
			add_outcome(l, c->programs.v[i], &in);
		}
		end_filter(l);
	}
}

static struct node *node_of(const struct block *b, const struct tcu32_filter *f)
{
	for (size_t i = 0; i < b->nodes.n; i++)
		if (b->nodes.v[i]->f == f)
			return b->nodes.v[i];
	return NULL;
}

/* The ends of the walk from c's root, in the order in which it may come to them: those behind a link before its filter's. */
static void lower_table(struct lower *l, const struct classifier *c, const struct tcu32_table *t, unsigned depth)
{
	for (uint32_t k = 0; k < t->n_buckets; k++)
		for (size_t i = 0; i < t->bucket[k].filters.n; i++) {
			struct tcu32_filter *f = t->bucket[k].filters.v[i];
			struct node *n = node_of(l->block, f);
			struct steps in = { 0 };
			struct bytes_spec *b;
			bool was_reached = n->is_reached;

			n->is_reached = true;
			if (f->link && depth < TCU32_MAX_DEPTH && !was_reached)
				lower_table(l, c, f->link, depth + 1);
			if (!f->is_terminal || was_reached)
				continue;
			b = arena_new(l->a, struct bytes_spec, 1);
			b->kind = BYTES_TC_U32;
			b->walk = c->root;
			b->stop = f;
			l->expansion = 0;
			add_bytes(l, &in, b, n->tree->at);
			add_outcome(l, n->tree, &in);
			end_filter(l);
		}
}

/* Each classifier has a walk of its own; a table may be met by several. */
static void lower_classifiers(struct lower *l)
{
	struct block *b = l->block;
	bool *reached = arena_new(l->a, bool, b->nodes.n + 1);

	for (size_t i = 0; i < b->classifiers.n; i++) {
		for (size_t k = 0; k < b->nodes.n; k++)
			b->nodes.v[k]->is_reached = false;
		if (b->classifiers.v[i]->root)
			lower_table(l, b->classifiers.v[i], b->classifiers.v[i]->root, 0);
		else
			lower_programs(l, b->classifiers.v[i]);
		for (size_t k = 0; k < b->nodes.n; k++)
			reached[k] |= b->nodes.v[k]->is_reached;
	}
	for (size_t k = 0; k < b->nodes.n; k++)
		if (!reached[k])
			diag_warn(l->d, b->nodes.v[k]->tree->at, "unreached", "no link leads to this filter's table: it is never asked");
}

/* ---------- chains ---------- */

static bool is_of(const struct tc_filter *a, const struct tc_filter *b)
{
	return str_eq(a->dev, b->dev) && str_eq(a->parent, b->parent) && a->hook == b->hook;
}

static void make_chains(struct lower *l, const struct tc_filter *f)
{
	bool is_clsact = str_is(f->parent, "ingress") || str_is(f->parent, "egress");
	struct str name = f->dev.n ? arena_printf(l->a, "%.*s %.*s", STR_ARG(f->dev), STR_ARG(f->parent)) : f->parent;

	for (unsigned fam = 0; fam < FAMILY_ALL; fam++) {
		struct chain *c = policy_chain_add(l->rs, (enum family)fam, STR("tc"), name, f->at);

		c->hook = f->hook;
		c->priority = is_clsact ? 0 : 1;
		c->policy = VERDICT_ACCEPT;
		*vec_add(l->a, &c->devices) = f->dev.n ? f->dev : STR("*");
		l->chain[fam] = c;
		c->root = l->chain[FAMILY_IP4];
	}
}

static void lower_block(struct lower *l, const struct tc_file *file, size_t from)
{
	unsigned errors = l->d->n_errors;

	l->block = arena_new(l->a, struct block, 1);
	l->block->first = file->filters.v[from];
	for (size_t i = from; i < file->filters.n; i++) {
		const struct tc_filter *f = file->filters.v[i];

		if (!is_of(f, l->block->first))
			continue;
		if (f->kind == TC_FILTER_U32)
			add_u32(l, f);
		else
			add_bpf(l, f);
	}
	if (l->d->n_errors > errors)
		return;
	make_chains(l, l->block->first);
	lower_classifiers(l);
}

void tc_lower(struct ruleset *rs, struct diags *d, const struct tc_file *f)
{
	struct lower l = { .rs = rs, .a = rs->a, .d = d };

	for (size_t i = 0; i < f->filters.n; i++) {
		bool is_first = true;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !is_of(f->filters.v[k], f->filters.v[i]);
		if (is_first)
			lower_block(&l, f, i);
	}
}
