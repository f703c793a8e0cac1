/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rules do: verdicts, counters, marks, logs, limits. The rest is told as what nobody here can decide. */
#include "lang/nft/lower.h"

static struct effect *add_effect(struct nft_lower *l, enum effect_kind kind, struct loc at)
{
	struct step *s = vec_add(l->a, &l->steps);

	s->kind = STEP_EFFECT;
	s->effect.kind = kind;
	s->effect.at = at;
	return &s->effect;
}

/* ---------- verdicts ---------- */

bool nft_lower_verdict(struct nft_lower *l, const struct nft_expr *e, struct step *out)
{
	if (e->kind != NFT_VERDICT)
		return false;
	out->kind = STEP_VERDICT;
	out->v.verdict = e->verdict.verdict;
	out->v.at = e->at;
	if (e->verdict.verdict == VERDICT_JUMP || e->verdict.verdict == VERDICT_GOTO)
		out->v.chain = policy_chain_find(l->rs, l->family, l->table_name, e->verdict.chain);
	return true;
}

static void lower_verdict(struct nft_lower *l, const struct nft_stmt *s)
{
	struct step v = { 0 };

	if (s->expr->kind == NFT_MAP) {
		if (nft_lower_needs(l, s->expr->part[0]) && !nft_lower_map(l, s->expr, nft_lower_verdict))
			nft_lower_unknown(l, s->at, "verdict map", "nobody here can tell what is in it");
		return;
	}
	if (nft_lower_verdict(l, s->expr, &v) && v.v.verdict != VERDICT_NONE)
		*vec_add(l->a, &l->steps) = v;
}

static enum reject_kind icmp_kind(uint8_t code)
{
	static const enum reject_kind kinds[] = {
		[0] = REJECT_NET_UNREACH, [1] = REJECT_HOST_UNREACH, [2] = REJECT_PROTO_UNREACH, [3] = REJECT_PORT_UNREACH,
		[9] = REJECT_NET_PROHIB, [10] = REJECT_HOST_PROHIB, [13] = REJECT_ADMIN_PROHIB,
	};

	return code < sizeof kinds / sizeof *kinds ? kinds[code] : REJECT_PORT_UNREACH;
}

static enum reject_kind icmp6_kind(uint8_t code)
{
	static const enum reject_kind kinds[] = { REJECT6_NO_ROUTE, REJECT6_ADMIN_PROHIB, REJECT6_PORT_UNREACH, REJECT6_ADDR_UNREACH,
						  REJECT6_PORT_UNREACH, REJECT6_POLICY_FAIL, REJECT6_REJECT_ROUTE };

	return code < sizeof kinds / sizeof *kinds ? kinds[code] : REJECT6_PORT_UNREACH;
}

/* icmpx: no-route 0, port-unreachable 1, host-unreachable 2, admin-prohibited 3 */
static enum reject_kind icmpx_kind(bool four, uint8_t code)
{
	static const enum reject_kind kinds[][2] = { { REJECT_NET_UNREACH, REJECT6_NO_ROUTE },
						     { REJECT_PORT_UNREACH, REJECT6_PORT_UNREACH },
						     { REJECT_HOST_UNREACH, REJECT6_ADDR_UNREACH },
						     { REJECT_ADMIN_PROHIB, REJECT6_ADMIN_PROHIB } };

	return kinds[code & 3][!four];
}

static void ask_proto(struct nft_lower *l, unsigned proto, struct loc at)
{
	struct test *t = nft_lower_test(l, TEST_IN, at, "protocol");

	t->field[0] = FIELD_PROTO;
	t->n_fields = 1;
	t->in = valset_one(l->a, proto, proto);
}

static void lower_reject(struct nft_lower *l, const struct nft_stmt *s)
{
	bool four = l->family == FAMILY_IP4;
	struct step *v;

	if ((s->reject.kind == NFT_REJECT_ICMP && !four) || (s->reject.kind == NFT_REJECT_ICMP6 && l->family != FAMILY_IP6)) {
		nft_lower_never(l, s->at);
		return;
	}
	if (s->reject.kind == NFT_REJECT_TCP_RST)
		ask_proto(l, 6, s->at); /* nft asks for it by itself */
	v = vec_add(l->a, &l->steps);
	v->kind = STEP_VERDICT;
	v->v.verdict = VERDICT_REJECT;
	v->v.at = s->at;
	v->v.reject = s->reject.kind == NFT_REJECT_TCP_RST ? REJECT_TCP_RST :
		      s->reject.kind == NFT_REJECT_ICMP	   ? icmp_kind(s->reject.code) :
		      s->reject.kind == NFT_REJECT_ICMP6   ? icmp6_kind(s->reject.code) :
		      s->reject.kind == NFT_REJECT_ICMPX   ? icmpx_kind(four, s->reject.code) :
							     icmpx_kind(four, 1);
}

/* ---------- marks ---------- */

static bool mark_outcome(struct nft_lower *l, const struct nft_expr *e, struct step *out)
{
	(void)l;
	if (e->kind != NFT_NUMBER)
		return false;
	out->kind = STEP_EFFECT;
	out->effect = (struct effect){ .kind = EFFECT_MARK, .value = (uint32_t)e->lo, .mask = UINT32_MAX, .at = e->at, .name = "meta mark" };
	return true;
}

/* MARK op NUMBER of the same mark, as (mark & ~mask) ^ value. */
static bool mark_of(const struct nft_expr *left, const struct nft_expr *r, struct effect *out)
{
	uint32_t n;

	if (r->kind == NFT_NUMBER) {
		out->mask = UINT32_MAX;
		out->value = (uint32_t)r->lo;
		return true;
	}
	if (r->kind != NFT_BINOP || r->part[0]->kind != NFT_SELECT || r->part[0]->sel != left->sel || r->part[1]->kind != NFT_NUMBER)
		return false;
	n = (uint32_t)r->part[1]->lo;
	out->mask = r->op == NFT_AND ? ~n : r->op == NFT_OR ? n : 0;
	out->value = r->op == NFT_AND ? 0 : n;
	return r->op == NFT_AND || r->op == NFT_OR || r->op == NFT_XOR;
}

static void ask_connection(struct nft_lower *l, struct loc at)
{
	struct test *t = nft_lower_test(l, TEST_IN, at, "ct mark");

	t->field[0] = FIELD_CT_MARK;
	t->n_fields = 1;
	t->in = valset_one(l->a, 0, field_max(FIELD_CT_MARK));
}

static bool lower_mark(struct nft_lower *l, const struct nft_stmt *s)
{
	const struct nft_expr *left = s->set.left, *r = s->set.right;
	bool is_ct = left->sel == NFT_SEL_CT_MARK;
	struct effect e = { .kind = is_ct ? EFFECT_CT_MARK : EFFECT_MARK, .at = s->at, .name = is_ct ? "ct mark" : "meta mark" };

	if (left->kind != NFT_SELECT || (!is_ct && left->sel != NFT_SEL_META_MARK))
		return false;
	if (r->kind == NFT_MAP && !is_ct)
		return !nft_lower_needs(l, r->part[0]) || nft_lower_map(l, r, mark_outcome);
	if (is_ct)
		ask_connection(l, s->at);
	if (mark_of(left, r, &e)) {
		*add_effect(l, e.kind, s->at) = e;
		return true;
	}
	if (r->kind != NFT_SELECT || r->sel != (is_ct ? NFT_SEL_META_MARK : NFT_SEL_CT_MARK))
		return false;
	if (!is_ct)
		ask_connection(l, s->at);
	e.kind = is_ct ? EFFECT_SAVE_MARK : EFFECT_RESTORE_MARK;
	e.mask = e.ct_mask = UINT32_MAX;
	*add_effect(l, e.kind, s->at) = e;
	return true;
}

/* ---------- the rest ---------- */

static void lower_counter(struct nft_lower *l, const struct nft_stmt *s)
{
	struct effect *e;
	struct str name;

	if (s->name_map) {
		nft_lower_unknown(l, s->at, "counter map", "which counter it is, if any, is not known here");
		return;
	}
	e = add_effect(l, EFFECT_COUNT, s->at);
	e->name = "counter";
	if (!s->name.n)
		return;
	name = arena_printf(l->a, "%s/%.*s/%.*s", nft_family_name(l->table->family), STR_ARG(l->table->name), STR_ARG(s->name));
	for (size_t i = 0; i < l->rs->counters.n; i++)
		if (str_eq(l->rs->counters.v[i]->name, name))
			e->counter = l->rs->counters.v[i];
	if (!e->counter)
		e->counter = policy_counter_add(l->rs, name, s->at);
}

static void lower_limit(struct nft_lower *l, const struct nft_stmt *s)
{
	struct state_spec *st;
	struct test *t;

	if (s->name.n || s->name_map) {
		nft_lower_unknown(l, s->at, "limit", "rules share it");
		return;
	}
	st = arena_new(l->a, struct state_spec, 1);
	st->kind = STATE_LIMIT;
	st->rate.units = s->limit.rate;
	st->rate.per_ms = s->limit.unit_s * 1000;
	st->rate.burst = s->limit.has_burst ? s->limit.burst : s->limit.by_bytes ? 0 : 5;
	st->rate.by_bytes = s->limit.by_bytes;
	st->rate.above = s->limit.over;
	st->rate.in_ns = true;
	t = nft_lower_test(l, TEST_STATE, s->at, "limit");
	t->state = st;
}

static void lower_queue(struct nft_lower *l, const struct nft_stmt *s)
{
	struct step *v = vec_add(l->a, &l->steps);

	v->kind = STEP_VERDICT;
	v->v.verdict = VERDICT_QUEUE;
	v->v.queue = s->queue.num && s->queue.num->kind == NFT_NUMBER ? (uint16_t)s->queue.num->lo : 0;
	v->v.at = s->at;
}

void nft_lower_stmt(struct nft_lower *l, const struct nft_stmt *s)
{
	struct effect *e;

	switch (s->kind) {
	case NFT_STMT_MATCH:
		nft_lower_match(l, s);
		break;
	case NFT_STMT_VERDICT:
		lower_verdict(l, s);
		break;
	case NFT_STMT_COUNTER:
		lower_counter(l, s);
		break;
	case NFT_STMT_LIMIT:
		lower_limit(l, s);
		break;
	case NFT_STMT_LOG:
		e = add_effect(l, EFFECT_LOG, s->at);
		e->text = s->log.prefix;
		e->value = s->log.has_level ? s->log.level : 4;
		e->name = "log";
		break;
	case NFT_STMT_REJECT:
		lower_reject(l, s);
		break;
	case NFT_STMT_NOTRACK:
		add_effect(l, EFFECT_NOTRACK, s->at)->name = "notrack";
		break;
	case NFT_STMT_QUEUE:
		lower_queue(l, s);
		break;
	case NFT_STMT_MANGLE:
		if (!lower_mark(l, s))
			nft_lower_unknown(l, s->at, "set", "what it changes is not looked into here");
		break;
	default:
		nft_lower_unknown(l, s->at, "statement", "what it does is not looked into here");
	}
}
