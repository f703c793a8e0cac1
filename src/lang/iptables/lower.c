/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files, tables, chains and the core options of a rule.
 *
 * The kernel asks the core options first and in a fixed order (source, destination, input, output, protocol, fragment),
 * then the matches as written, then the target. The order shows in what a rule costs and in what a match with a memory
 * sees, so it is kept.
 *
 *     -A INPUT -p tcp -s 192.0.2.1,192.0.2.9 -m limit --limit 5/min -j DROP
 *     rule 1: [ip.src in {192.0.2.1}] [ip.proto in {6}] [state limit] [drop]
 *     rule 2: [ip.src in {192.0.2.9}] [ip.proto in {6}] [state limit] [drop]
 */
#include "lang/iptables/lower.h"

/* Which table has which built-in chains, and where netfilter runs them. */
static const struct {
	const char *table;
	enum hook hook;
	int priority;
} builtins[] = {
	{ "raw", HOOK_PREROUTING, -300 },
	{ "raw", HOOK_OUTPUT, -300 },
	{ "mangle", HOOK_PREROUTING, -150 },
	{ "mangle", HOOK_INPUT, -150 },
	{ "mangle", HOOK_FORWARD, -150 },
	{ "mangle", HOOK_OUTPUT, -150 },
	{ "mangle", HOOK_POSTROUTING, -150 },
	{ "nat", HOOK_PREROUTING, -100 },
	{ "nat", HOOK_INPUT, 100 },
	{ "nat", HOOK_OUTPUT, -100 },
	{ "nat", HOOK_POSTROUTING, 100 },
	{ "filter", HOOK_INPUT, 0 },
	{ "filter", HOOK_FORWARD, 0 },
	{ "filter", HOOK_OUTPUT, 0 },
	{ "security", HOOK_INPUT, 50 },
	{ "security", HOOK_FORWARD, 50 },
	{ "security", HOOK_OUTPUT, 50 },
};

static int priority_of(struct str table, enum hook hook)
{
	for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
		if (builtins[i].hook == hook && str_is(table, builtins[i].table))
			return builtins[i].priority;
	return 0;
}

/* ---------- makers of tests ---------- */

static struct test *add_test(struct lower *l, enum test_kind kind, struct loc at, const char *what)
{
	struct step *s = vec_add(l->a, &l->steps);

	s->kind = STEP_TEST;
	s->test.kind = kind;
	s->test.at = at;
	s->test.what = what;
	return &s->test;
}

struct test *lower_test(struct lower *l, const struct ipt_opt *o, enum test_kind kind)
{
	const char *match = ipt_ext_name(l->use->ext), *what = match;
	struct test *t;

	if (o && strcmp(match, ipt_opt_name(o->id)) != 0)
		what = arena_printf(l->a, "%s %s", match, ipt_opt_name(o->id)).p;
	t = add_test(l, kind, o ? o->at : l->use->at, what);
	t->negated = o && o->negated;
	return t;
}

struct test *lower_in(struct lower *l, const struct ipt_opt *o, enum field f, u128 lo, u128 hi)
{
	struct test *t = lower_test(l, o, TEST_IN);

	t->field[0] = f;
	t->n_fields = 1;
	if (lo <= hi)
		t->in = valset_one(l->a, lo, hi);
	return t;
}

struct test *lower_exists(struct lower *l, enum field f)
{
	return lower_in(l, NULL, f, 0, field_max(f));
}

/* One of the bits is set: as values of a field that has one bit at a time, or as masks. */
struct test *lower_bits(struct lower *l, const struct ipt_opt *o, enum field f, uint64_t bits, bool as_masks)
{
	struct test *t = lower_test(l, o, as_masks ? TEST_MASK : TEST_IN);
	struct valset_span v[64];
	size_t n = 0;

	t->field[0] = f;
	t->n_fields = 1;
	for (unsigned i = 0; i < 64; i++)
		if (bits >> i & 1)
			v[n++] = (struct valset_span){ (u128)1 << i, (u128)1 << i };
	if (!as_masks) {
		t->in = valset_make(l->a, v, n);
		return t;
	}
	t->masks = arena_new(l->a, struct test_mask, n);
	t->n_masks = (uint32_t)n;
	for (size_t i = 0; i < n; i++)
		t->masks[i] = (struct test_mask){ .value = v[i].lo, .mask = v[i].lo };
	return t;
}

struct test *lower_mask(struct lower *l, const struct ipt_opt *o, enum field f, u128 value, u128 mask)
{
	struct test *t = lower_test(l, o, TEST_MASK);

	t->field[0] = f;
	t->n_fields = 1;
	t->n_masks = 1;
	t->masks = arena_new(l->a, struct test_mask, 1);
	t->masks[0] = (struct test_mask){ .value = value, .mask = mask };
	return t;
}

/* Makes t ask for an address: an interval where the mask is a prefix, else value and mask. */
static void ask_addr(struct lower *l, struct test *t, enum field f, const struct ipt_addr *addr)
{
	u128 all = l->family == FAMILY_IP4 ? (u128)UINT32_MAX : ~(u128)0, host = all & ~addr->mask;

	t->field[0] = f;
	t->n_fields = 1;
	if ((host & (host + 1)) == 0) {
		t->kind = TEST_IN;
		t->in = valset_one(l->a, addr->addr, addr->addr | host);
		return;
	}
	t->kind = TEST_MASK;
	t->n_masks = 1;
	t->masks = arena_new(l->a, struct test_mask, 1);
	t->masks[0] = (struct test_mask){ .value = addr->addr, .mask = addr->mask };
}

struct test *lower_addr(struct lower *l, const struct ipt_opt *o, enum field f, const struct ipt_addr *addr)
{
	struct test *t = lower_test(l, o, TEST_IN);

	ask_addr(l, t, f, addr);
	return t;
}

struct test *lower_unknown(struct lower *l, const struct ipt_opt *o, const char *why)
{
	struct test *t = lower_test(l, o, TEST_UNKNOWN);

	t->why = why;
	t->params = lower_params(l->a, l->use);
	return t;
}

struct state_spec *lower_state(struct lower *l, const struct ipt_opt *o, enum state_kind kind)
{
	struct test *t = lower_test(l, o, TEST_STATE);
	struct state_spec *s = arena_new(l->a, struct state_spec, 1);

	s->kind = kind;
	t->state = s;
	t->what = ipt_ext_name(l->use->ext);
	return s;
}

struct set_use *lower_set_use(struct lower *l, const struct ipt_opt *o)
{
	struct set_use *u = arena_new(l->a, struct set_use, 1);

	*u = *o->v.set;
	if (u->at.source == 0)
		u->at = o->value_at;
	return u;
}

static void put_range(struct buf *b, struct ipt_range r)
{
	buf_printf(b, "%llu", (unsigned long long)r.lo);
	if (r.hi != r.lo)
		buf_printf(b, "-%llu", (unsigned long long)r.hi);
}

static void put_u128(struct buf *b, u128 v)
{
	buf_printf(b, "%llx:%llx", (unsigned long long)(v >> 64), (unsigned long long)v);
}

static void put_value(struct buf *b, const struct ipt_value *v)
{
	switch (v->kind) {
	case IPT_VALUE_RANGE:
	case IPT_VALUE_MAC:
		put_range(b, v->range);
		break;
	case IPT_VALUE_LIST:
		for (uint32_t i = 0; i < v->list.n; i++) {
			buf_printf(b, i ? "," : "");
			put_range(b, v->list.v[i]);
		}
		break;
	case IPT_VALUE_MASKED:
		buf_printf(b, "%x/%x", v->masked.value, v->masked.mask);
		break;
	case IPT_VALUE_BITS:
		buf_printf(b, "%llx", (unsigned long long)v->bits);
		break;
	case IPT_VALUE_TEXT:
		buf_add(b, v->text.p, v->text.n);
		break;
	case IPT_VALUE_ADDR:
		put_u128(b, v->addr.addr);
		buf_printf(b, "/");
		put_u128(b, v->addr.mask);
		break;
	case IPT_VALUE_ADDR_RANGE:
		put_u128(b, v->addrs.lo);
		buf_printf(b, "-");
		put_u128(b, v->addrs.hi);
		break;
	case IPT_VALUE_SET:
		buf_printf(b, "%.*s", STR_ARG(v->set->name));
		for (uint8_t i = 0; i < v->set->n_dirs; i++)
			buf_printf(b, " %u", v->set->dir[i]);
		break;
	case IPT_VALUE_RATE:
		buf_printf(b, "%llu/%llu", (unsigned long long)v->rate.units, (unsigned long long)v->rate.per_s);
		break;
	case IPT_VALUE_NONE: /* what stands alone, and what is always lowered into the model itself: */
	case IPT_VALUE_NAT:
	case IPT_VALUE_BYTES:
	case IPT_VALUE_CHUNKS:
		break;
	}
}

struct str lower_params(struct arena *a, const struct ipt_use *u)
{
	struct buf b = { .a = a };

	for (size_t i = 0; i < u->opts.n; i++) {
		const struct ipt_opt *o = &u->opts.v[i];

		buf_printf(&b, "%s%s%s", i ? " " : "", o->negated ? "! " : "", ipt_opt_name(o->id));
		if (o->v.kind != IPT_VALUE_NONE)
			buf_printf(&b, " ");
		put_value(&b, &o->v);
	}
	return buf_str(&b);
}

/* ---------- core options ---------- */

static void core_addr(struct lower *l, enum field f, const struct ipt_addr *addr, bool negated)
{
	struct test *t;

	if (!addr || (addr->mask == 0 && !negated))
		return;
	t = add_test(l, TEST_IN, addr->at, f == FIELD_SRC ? "source address" : "destination address");
	t->negated = negated;
	ask_addr(l, t, f, addr);
}

/* A packet without the device is compared as if its name were empty; only `+` alone is a prefix of that. */
static void core_iface(struct lower *l, enum field f, const struct ipt_iface *i)
{
	struct test *t;
	u128 lo = field_name_value(i->name);

	if (i->name.n == 0 && !i->is_prefix)
		return;
	if (i->name.n == 0 && !i->negated)
		return;
	t = add_test(l, TEST_IN, i->at, f == FIELD_IIF ? "input interface" : "output interface");
	t->field[0] = f;
	t->n_fields = 1;
	t->negated = i->negated;
	t->in = valset_one(l->a, lo, i->is_prefix ? field_name_prefix_last(i->name) : lo);
	t->on_absent = (i->name.n == 0) != i->negated;
}

static void core_rest(struct lower *l, const struct ipt_rule *r)
{
	struct test *t;

	if (r->proto) {
		t = add_test(l, TEST_IN, r->proto_at, "protocol");
		t->field[0] = FIELD_PROTO;
		t->n_fields = 1;
		t->negated = r->proto_negated;
		t->in = valset_one(l->a, r->proto, r->proto);
	}
	if (r->frag) {
		t = add_test(l, TEST_IN, r->frag_at, "fragment");
		t->field[0] = FIELD_FRAG;
		t->n_fields = 1;
		t->negated = r->frag_negated;
		t->in = valset_one(l->a, 1, 1);
	}
}

/* ---------- rules, chains, tables ---------- */

/* A chain that is in no file may accept, drop or come back: two rules that nobody can decide say so. */
static struct chain *missing_chain(struct lower *l, struct ruleset *rs, const struct ipt_rule *r, const struct chain *from)
{
	static const enum verdict verdicts[] = { VERDICT_ACCEPT, VERDICT_DROP };
	struct chain *c = policy_chain_add(rs, from->family, from->table, r->chain_name, r->target_at);

	for (size_t i = 0; i < 2; i++) {
		struct rule *maybe = policy_rule_add(rs, c, UINT32_MAX);
		struct step *s = arena_new(l->a, struct step, 2);

		s[0].kind = STEP_TEST;
		s[0].test = (struct test){
			.kind = TEST_UNKNOWN, .at = r->target_at, .what = "chain", .why = "the chain is not in the files given"
		};
		s[1].kind = STEP_VERDICT;
		s[1].v.verdict = verdicts[i];
		s[1].v.at = r->target_at;
		maybe->at = r->target_at;
		maybe->text = STR("(missing chain)");
		maybe->step = s;
		maybe->n_steps = 2;
	}
	return c;
}

static void add_jump(struct lower *l, struct ruleset *rs, const struct ipt_rule *r, const struct chain *from)
{
	struct chain *to = policy_chain_find(rs, from->family, from->table, r->chain_name);
	struct step *s;

	if (!to && r->chain_is_missing)
		to = missing_chain(l, rs, r, from);
	if ((!to || to->hook != HOOK_NONE) && rs->lacks_rules)
		return; /* that was told when the file was read */
	if (!to || to->hook != HOOK_NONE) {
		diag_error(l->d, r->target_at, to ? "%.*s is a built-in chain; a rule cannot jump to it"
						  : "there is no chain or target '%.*s' in this table",
			   STR_ARG(r->chain_name));
		return;
	}
	s = vec_add(l->a, &l->steps);
	s->kind = STEP_VERDICT;
	s->v.verdict = r->jump == IPT_GOTO_CHAIN ? VERDICT_GOTO : VERDICT_JUMP;
	s->v.chain = to;
	s->v.at = r->target_at;
}

static struct str comment_of(const struct ipt_rule *r)
{
	for (size_t i = 0; i < r->matches.n; i++) {
		const struct ipt_opt *o = ipt_opt_find(&r->matches.v[i], IPT_M_COMMENT_TEXT);

		if (r->matches.v[i].ext == IPT_M_COMMENT && o)
			return o->v.text;
	}
	return (struct str){ 0 };
}

/* The k-th of the n rules that a line makes. */
static void lower_rule(struct lower *l, struct ruleset *rs, struct chain *c, const struct ipt_rule *r, uint32_t k)
{
	struct rule *out = policy_rule_add(rs, c, UINT32_MAX);
	const struct ipt_addr *src = NULL, *dst = NULL;

	l->steps.v = NULL;
	l->steps.n = l->steps.cap = 0;
	ipt_rule_expansion(r, k, &src, &dst);
	core_addr(l, FIELD_SRC, src, r->src.negated);
	core_addr(l, FIELD_DST, dst, r->dst.negated);
	core_iface(l, FIELD_IIF, &r->in);
	core_iface(l, FIELD_OIF, &r->out);
	core_rest(l, r);
	for (size_t i = 0; i < r->matches.n; i++) {
		l->use = &r->matches.v[i];
		lower_match(l, l->use);
	}
	if (r->jump == IPT_JUMP_CHAIN || r->jump == IPT_GOTO_CHAIN) {
		add_jump(l, rs, r, c);
	} else if (r->jump == IPT_JUMP_TARGET) {
		l->use = &r->target;
		lower_target(l, r);
	}
	out->at = r->at;
	out->expansion = ipt_rule_expansions(r) > 1 ? k + 1 : 0;
	out->text = iptables_print_rule(l->a, l->family, r, k);
	out->comment = comment_of(r);
	out->step = l->steps.v;
	out->n_steps = (uint32_t)l->steps.n;
	out->has_counts = r->has_counts;
	out->packets = r->packets;
	out->bytes = r->bytes;
}

static void lower_chain(struct ruleset *rs, enum family fam, const struct ipt_table *t, const struct ipt_chain *from)
{
	struct chain *c = policy_chain_add(rs, fam, t->name, from->name, from->at);

	c->hook = from->hook;
	c->policy = from->hook == HOOK_NONE ? VERDICT_NONE : from->policy;
	c->policy_stated = from->policy_stated;
	c->is_nat = str_is(t->name, "nat");
	c->has_counts = from->has_counts;
	c->packets = from->packets;
	c->bytes = from->bytes;
	if (from->hook != HOOK_NONE)
		c->priority = priority_of(t->name, from->hook);
}

/* True, with an error, if another file gave this table already: restoring both would keep the later one only. */
static bool is_given(const struct ruleset *rs, struct diags *d, enum family fam, const struct ipt_table *t)
{
	for (size_t i = 0; i < rs->chains.n; i++) {
		const struct chain *c = rs->chains.v[i];
		struct str where;

		if (c->family != fam || !str_eq(c->table, t->name))
			continue;
		where = source_name_line(d->a, d->sources, c->at);
		diag_hint(d,
			  diag_error(d, t->at, "table %.*s of %s is also given by another file (%.*s)", STR_ARG(t->name),
				     fam == FAMILY_IP6 ? "ip6tables" : "iptables", STR_ARG(where)),
			  "give each table in one file only; the kernel would keep the rules that come last");
		return true;
	}
	return false;
}

static void lower_table(struct ruleset *rs, struct diags *d, enum family fam, const struct ipt_table *t)
{
	struct lower l = { .a = rs->a, .d = d, .family = fam };

	if (is_given(rs, d, fam, t))
		return;
	for (size_t i = 0; i < t->chains.n; i++)
		lower_chain(rs, fam, t, t->chains.v[i]);
	for (size_t i = 0; i < t->chains.n; i++) {
		const struct ipt_chain *from = t->chains.v[i];
		struct chain *c = policy_chain_find(rs, fam, t->name, from->name);

		for (size_t j = 0; j < from->rules.n; j++)
			for (uint32_t k = 0; k < ipt_rule_expansions(from->rules.v[j]); k++)
				lower_rule(&l, rs, c, from->rules.v[j], k);
	}
}

void iptables_lower(struct ruleset *rs, struct diags *d, const struct ipt_file *f)
{
	for (size_t i = 0; i < f->tables.n; i++)
		lower_table(rs, d, f->family, f->tables.v[i]);
	policy_number(rs);
}
