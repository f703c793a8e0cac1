/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Statements that count, limit, tell, write and decide.
 *
 *     counter            [count]: the rule counts here, not in front of what it does first
 *     limit rate 5/s     [state limit ...] with a bucket as nft has it; twins share it
 *     meta mark set X    [mark ...]; from the connection's mark: [restore-mark ...]
 */
#include "lang/nft/lower.h"

struct effect *nft_lower_effect(struct nft_lower *l, enum effect_kind kind, const char *name, struct loc at)
{
	struct step *s = vec_add(l->a, &l->steps);

	s->kind = STEP_EFFECT;
	s->effect.kind = kind;
	s->effect.name = name;
	s->effect.at = at;
	return &s->effect;
}

void nft_lower_end(struct nft_lower *l, enum verdict v, struct loc at)
{
	struct step *s = vec_add(l->a, &l->steps);

	s->kind = STEP_VERDICT;
	s->v.verdict = v;
	s->v.at = at;
}

void nft_lower_verdict(struct nft_lower *l, const struct nft_expr *data, const void *arg, struct step *out)
{
	(void)arg;
	if (data->verdict.verdict == VERDICT_NONE && !l->is_last) { /* on with the next statement: nothing is done */
		out->kind = STEP_EFFECT;
		out->effect = (struct effect){ .kind = EFFECT_NONE, .name = "continue", .at = data->at };
		return;
	}
	out->kind = STEP_VERDICT;
	out->v.verdict = data->verdict.verdict;
	out->v.at = data->at;
	if (data->verdict.verdict == VERDICT_JUMP || data->verdict.verdict == VERDICT_GOTO)
		out->v.chain = policy_chain_find(l->rs, l->family, l->table_name, data->verdict.chain);
}

/* ---------- counters ---------- */

static struct counter *named_counter(struct nft_lower *l, struct str name, struct loc at)
{
	const struct nft_object *o = nft_object_find(l->table, NFT_OBJ_COUNTER, name);
	struct str full = nft_lower_name(l, name);
	struct counter *c;

	for (size_t i = 0; i < l->rs->counters.n; i++)
		if (str_eq(l->rs->counters.v[i]->name, full))
			return l->rs->counters.v[i];
	c = policy_counter_add(l->rs, full, o ? o->at : at);
	if (o && o->stmt) {
		c->packets = o->stmt->counter.packets;
		c->bytes = o->stmt->counter.bytes;
	}
	return c;
}

static void counter_outcome(struct nft_lower *l, const struct nft_expr *data, const void *arg, struct step *out)
{
	(void)arg;
	out->kind = STEP_EFFECT;
	out->effect.kind = EFFECT_COUNT;
	out->effect.name = "counter";
	out->effect.at = data->at;
	out->effect.counter = named_counter(l, data->text, data->at);
}

static void lower_counter(struct nft_lower *l, const struct nft_stmt *s)
{
	if (s->name_map)
		nft_lower_map(l, s->name_map, counter_outcome, NULL, "counter");
	else if (s->name.n)
		nft_lower_effect(l, EFFECT_COUNT, "counter", s->at)->counter = named_counter(l, s->name, s->at);
	else
		nft_lower_effect(l, EFFECT_COUNT, "counter", s->at);
}

/* ---------- state ---------- */

/* The state of a statement: one for all twins of the rule. */
static struct state_spec *spec_of(struct nft_lower *l, const void *stmt, enum state_kind kind)
{
	struct state_spec *s;

	for (size_t i = 0; i < l->specs.n; i++)
		if (l->specs.v[i].stmt == stmt)
			return l->specs.v[i].spec;
	s = arena_new(l->a, struct state_spec, 1);
	s->kind = kind;
	*vec_add(l->a, &l->specs) = (struct nft_lower_spec){ stmt, s };
	return s;
}

static void fill_rate(struct state_spec *x, const struct nft_stmt *s)
{
	x->rate.units = s->limit.rate;
	x->rate.per_ms = s->limit.unit_s * 1000;
	x->rate.burst = s->limit.has_burst ? s->limit.burst : s->limit.by_bytes ? 0 : 5;
	x->rate.by_bytes = s->limit.by_bytes;
	x->rate.above = s->limit.over;
	x->rate.in_ns = true;
}

static void lower_state(struct nft_lower *l, const struct nft_stmt *s)
{
	enum nft_stmt_object kind = s->kind == NFT_STMT_LIMIT ? NFT_OBJ_LIMIT : NFT_OBJ_QUOTA;
	const struct nft_object *o = s->name.n ? nft_object_find(l->table, kind, s->name) : NULL;
	const struct nft_stmt *p = o && o->stmt ? o->stmt : s;
	const char *what = s->kind == NFT_STMT_LIMIT ? "limit" : s->kind == NFT_STMT_QUOTA ? "quota" : "ct count";
	enum state_kind kinds = s->kind == NFT_STMT_LIMIT ? STATE_LIMIT : s->kind == NFT_STMT_QUOTA ? STATE_QUOTA : STATE_CONNLIMIT;
	struct state_spec *x;

	if (s->name_map || (s->name.n && !o)) {
		nft_lower_unknown(l, s->at, what, "which one of several it is is not followed");
		return;
	}
	if (s->name.n) {
		struct state_spec **named = nft_lower_named_state(l, what, s->name);

		if (!*named)
			*named = spec_of(l, p, kinds);
		x = *named; /* which is its name: of both families in inet */
	} else {
		x = spec_of(l, p, kinds);
	}
	if (s->kind == NFT_STMT_LIMIT) {
		fill_rate(x, p);
	} else if (s->kind == NFT_STMT_QUOTA) {
		x->quota.bytes = p->quota.bytes;
		x->quota.used = p->quota.used;
		x->quota.above = p->quota.over;
	} else {
		x->connlimit.limit = s->ct_count.count;
		x->connlimit.above = s->ct_count.over;
		x->connlimit.of_rule = true;
	}
	nft_lower_test(l, TEST_STATE, s->at, what)->state = x;
}

/* ---------- telling and answering ---------- */

static void lower_log(struct nft_lower *l, const struct nft_stmt *s)
{
	struct effect *e = nft_lower_effect(l, EFFECT_LOG, s->log.has_group ? "NFLOG" : "LOG", s->at);

	e->text = s->log.prefix;
	e->group = s->log.group;
	e->value = s->log.has_group ? s->log.snaplen : s->log.has_level ? s->log.level : 4;
	e->mask = s->log.has_group ? (s->log.has_threshold ? s->log.threshold : 1) : s->log.flags;
}

static enum reject_kind icmp_kind(uint8_t code)
{
	static const struct { uint8_t code; enum reject_kind kind; } rows[] = {
		{ 0, REJECT_NET_UNREACH }, { 1, REJECT_HOST_UNREACH }, { 2, REJECT_PROTO_UNREACH }, { 3, REJECT_PORT_UNREACH },
		{ 9, REJECT_NET_PROHIB }, { 10, REJECT_HOST_PROHIB }, { 13, REJECT_ADMIN_PROHIB },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].code == code)
			return rows[i].kind;
	return REJECT_PORT_UNREACH;
}

static enum reject_kind icmp6_kind(uint8_t code)
{
	static const struct { uint8_t code; enum reject_kind kind; } rows[] = {
		{ 0, REJECT6_NO_ROUTE }, { 1, REJECT6_ADMIN_PROHIB }, { 3, REJECT6_ADDR_UNREACH }, { 4, REJECT6_PORT_UNREACH },
		{ 5, REJECT6_POLICY_FAIL }, { 6, REJECT6_REJECT_ROUTE },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].code == code)
			return rows[i].kind;
	return REJECT6_PORT_UNREACH;
}

/* icmpx: no-route, port-unreachable, host-unreachable, admin-prohibited, in each family's own words. */
static enum reject_kind icmpx_kind(enum family f, uint8_t code)
{
	static const enum reject_kind kinds[4][2] = {
		{ REJECT_NET_UNREACH, REJECT6_NO_ROUTE },
		{ REJECT_PORT_UNREACH, REJECT6_PORT_UNREACH },
		{ REJECT_HOST_UNREACH, REJECT6_ADDR_UNREACH },
		{ REJECT_ADMIN_PROHIB, REJECT6_ADMIN_PROHIB },
	};

	return kinds[code < 4 ? code : 1][f == FAMILY_IP6];
}

static void lower_reject(struct nft_lower *l, const struct nft_stmt *s)
{
	enum reject_kind kind = l->family == FAMILY_IP6 ? REJECT6_PORT_UNREACH : REJECT_PORT_UNREACH;

	if (l->family == FAMILY_FRAME && (s->reject.kind == NFT_REJECT_DEFAULT || s->reject.kind == NFT_REJECT_ICMPX)) {
		nft_lower_end(l, VERDICT_DROP, s->at); /* there is nothing to answer with */
		return;
	}
	if (l->family == FAMILY_FRAME || (s->reject.kind == NFT_REJECT_ICMP && l->family != FAMILY_IP4) ||
	    (s->reject.kind == NFT_REJECT_ICMP6 && l->family != FAMILY_IP6)) {
		nft_lower_never(l, s->at, "reject");
		return;
	}
	if (s->reject.kind == NFT_REJECT_TCP_RST) {
		nft_lower_needs_proto(l, 6, s->at);
		kind = REJECT_TCP_RST;
	} else if (s->reject.kind == NFT_REJECT_ICMP) {
		kind = icmp_kind(s->reject.code);
	} else if (s->reject.kind == NFT_REJECT_ICMP6) {
		kind = icmp6_kind(s->reject.code);
	} else if (s->reject.kind == NFT_REJECT_ICMPX) {
		kind = icmpx_kind(l->family, s->reject.code);
	}
	nft_lower_end(l, VERDICT_REJECT, s->at);
	l->steps.v[l->steps.n - 1].v.reject = kind;
}

/* ---------- writing ---------- */

static struct effect *other(struct nft_lower *l, const struct nft_stmt *s, const char *name)
{
	return nft_lower_effect(l, EFFECT_OTHER, name, s->at);
}

static void written_field(struct nft_lower *l, const struct nft_stmt *s, const struct nft_lower_key *k)
{
	struct effect *e = other(l, s, arena_printf(l->a, "%s set", k->what).p);

	e->text = nft_lower_text(l, s->set.right);
	if (k->kind == NFT_LOWER_KEY && !k->key.payload && k->key.field != FIELD_IIF && k->key.field != FIELD_OIF) {
		e->has_clobbered = true;
		e->clobbered = k->key.field;
	}
	if (k->kind == NFT_LOWER_KEY)
		e->written = k->key.payload;
}

/* The constant that a data of a map, or a right side, gives to a mark. */
static void mark_outcome(struct nft_lower *l, const struct nft_expr *data, const void *arg, struct step *out)
{
	const enum nft_select_id *sel = arg;
	u128 v = 0;

	out->kind = STEP_EFFECT;
	out->effect.at = data->at;
	out->effect.name = *sel == NFT_SEL_CT_MARK ? "ct mark set" : "meta mark set";
	out->effect.kind = *sel == NFT_SEL_CT_MARK ? EFFECT_CT_MARK : EFFECT_MARK;
	if (!nft_lower_number(data, &v)) {
		out->effect.kind = EFFECT_OTHER;
		out->effect.text = nft_lower_text(l, data);
		out->effect.has_clobbered = true;
		out->effect.clobbered = *sel == NFT_SEL_CT_MARK ? FIELD_CT_MARK : FIELD_MARK;
		return;
	}
	out->effect.value = (uint32_t)v;
	out->effect.mask = UINT32_MAX;
}

/* meta mark set, ct mark set: a constant, a sum with itself, or the other one. */
static void set_mark(struct nft_lower *l, const struct nft_stmt *s, const struct nft_lower_key *k)
{
	enum nft_select_id sel = s->set.left->sel;
	enum field own = k->key.field, twin = own == FIELD_MARK ? FIELD_CT_MARK : FIELD_MARK;
	struct nft_lower_key from;
	struct effect *e;
	u128 v;

	if (s->set.right->kind == NFT_MAP) {
		nft_lower_map(l, s->set.right, mark_outcome, &sel, own == FIELD_MARK ? "mark" : "ct mark");
		return;
	}
	if (nft_lower_number(s->set.right, &v)) {
		e = nft_lower_effect(l, own == FIELD_MARK ? EFFECT_MARK : EFFECT_CT_MARK, k->what, s->at);
		e->value = (uint32_t)v;
		e->mask = UINT32_MAX;
		return;
	}
	if (!nft_lower_key(l, s->set.right, &from))
		return;
	if (from.kind != NFT_LOWER_KEY || from.up || from.key.payload || (from.key.field != own && from.key.field != twin) ||
	    (from.key.field == twin && from.flip)) {
		written_field(l, s, k);
		return;
	}
	if (from.key.field == FIELD_CT_MARK) /* without a connection the rule ends here */
		nft_lower_field(l, FIELD_CT_MARK, valset_one(l->a, 0, UINT32_MAX), s->at, "ct mark");
	if (from.key.field == own) {
		e = nft_lower_effect(l, own == FIELD_MARK ? EFFECT_MARK : EFFECT_CT_MARK, k->what, s->at);
		e->mask = (uint32_t)~from.key.mask;
		e->value = (uint32_t)from.flip;
		return;
	}
	e = nft_lower_effect(l, own == FIELD_MARK ? EFFECT_RESTORE_MARK : EFFECT_SAVE_MARK, k->what, s->at);
	e->mask = own == FIELD_MARK ? UINT32_MAX : (uint32_t)from.key.mask;
	e->ct_mask = own == FIELD_MARK ? (uint32_t)from.key.mask : UINT32_MAX;
}

static void lower_set_stmt(struct nft_lower *l, const struct nft_stmt *s)
{
	const struct nft_expr *left = s->set.left;
	struct nft_lower_key k;
	u128 v;

	if (!nft_lower_key(l, left, &k))
		return;
	if (left->kind == NFT_SELECT && (left->sel == NFT_SEL_META_MARK || left->sel == NFT_SEL_CT_MARK)) {
		set_mark(l, s, &k);
	} else if (k.kind == NFT_LOWER_KEY && !k.key.payload && k.key.field == FIELD_TOS && nft_lower_number(s->set.right, &v)) {
		struct effect *e = nft_lower_effect(l, EFFECT_TOS, k.what, s->at);

		e->value = (uint32_t)v << k.up;
		e->mask = (uint32_t)k.key.mask;
	} else if (k.kind == NFT_LOWER_KEY && !k.key.payload && k.key.field == FIELD_TTL && nft_lower_number(s->set.right, &v)) {
		nft_lower_effect(l, EFFECT_TTL, k.what, s->at)->value = (uint32_t)v;
	} else {
		written_field(l, s, &k);
	}
}

/* ---------- dynamic sets ---------- */

/* A limit or a number of connections for each key. */
static void keyed_state(struct nft_lower *l, const struct nft_stmt *s, const struct nft_stmt *in, const struct nft_lower_key *k, unsigned n)
{
	bool is_rate = in->kind == NFT_STMT_LIMIT;
	struct state_spec *x = spec_of(l, in, is_rate ? STATE_HASHLIMIT : STATE_CONNLIMIT);
	struct map_key *key = arena_new(l->a, struct map_key, n);

	for (unsigned i = 0; i < n; i++)
		key[i] = k[i].key;
	x->shared_name = nft_lower_name(l, s->dynset.set->name);
	if (is_rate) {
		fill_rate(x, in);
		x->rate.key = key;
		x->rate.n_keys = (uint8_t)n;
		x->rate.max_entries = s->dynset.set->has_size ? (uint32_t)s->dynset.set->size : 65535;
		x->rate.expire_ms = (uint32_t)(s->dynset.elem->has_timeout ? s->dynset.elem->timeout_ms : s->dynset.set->timeout_ms);
	} else {
		x->connlimit.limit = in->ct_count.count;
		x->connlimit.above = in->ct_count.over;
		x->connlimit.key = key;
		x->connlimit.n_keys = (uint8_t)n;
	}
	nft_lower_test(l, TEST_STATE, s->at, is_rate ? "limit" : "ct count")->state = x;
}

static void lower_dynset(struct nft_lower *l, const struct nft_stmt *s)
{
	const struct nft_elem *e = s->dynset.elem;
	struct nft_lower_key k[MAP_MAX_DIMS];
	unsigned n = nft_lower_keys(l, e->key, k);
	struct set_use *u = NULL;
	bool is_known = true;

	if (n == 0)
		return;
	for (unsigned i = 0; i < n; i++)
		is_known &= k[i].kind == NFT_LOWER_KEY && !k[i].flip;
	if (is_known && !e->data && !s->dynset.set->is_meter)
		u = nft_lower_set_use(l, k, n, s->dynset.set, s->at);
	if (u) {
		u->exist = s->dynset.op == NFT_DYN_UPDATE;
		u->has_timeout = e->has_timeout;
		u->timeout_s = (uint32_t)(e->timeout_ms / 1000);
		nft_lower_effect(l, s->dynset.op == NFT_DYN_DELETE ? EFFECT_SET_DEL : EFFECT_SET_ADD, "set", s->at)->set = u;
	} else if (!s->dynset.set->is_meter) {
		other(l, s, "set add")->text = nft_lower_name(l, s->dynset.set->name);
	}
	for (uint32_t i = 0; i < e->n_stmts; i++) {
		const struct nft_stmt *in = e->stmt[i];

		if (in->kind != NFT_STMT_LIMIT && in->kind != NFT_STMT_CT_COUNT && in->kind != NFT_STMT_QUOTA)
			continue;
		if (!is_known || in->kind == NFT_STMT_QUOTA)
			nft_lower_unknown(l, s->at, "a limit of each element", "what it is kept by is not followed");
		else
			keyed_state(l, s, in, k, n);
	}
}

/* ---------- the rest ---------- */

static void lower_forward(struct nft_lower *l, const struct nft_stmt *s)
{
	struct buf b = { .a = l->a };

	if (s->fwd.addr)
		buf_printf(&b, "to %.*s ", STR_ARG(nft_lower_text(l, s->fwd.addr)));
	if (s->fwd.device)
		buf_printf(&b, "device %.*s", STR_ARG(nft_lower_text(l, s->fwd.device)));
	other(l, s, s->kind == NFT_STMT_FWD ? "fwd" : "dup")->text = buf_str(&b);
	if (s->kind == NFT_STMT_FWD)
		nft_lower_end(l, VERDICT_STOLEN, s->at);
}

static void lower_queue(struct nft_lower *l, const struct nft_stmt *s)
{
	u128 v = 0;

	if (s->queue.num && s->queue.num->kind == NFT_RANGE)
		v = s->queue.num->lo;
	else if (s->queue.num)
		nft_lower_number(s->queue.num, &v);
	nft_lower_end(l, VERDICT_QUEUE, s->at);
	l->steps.v[l->steps.n - 1].v.queue = (uint16_t)v;
}

void nft_lower_stmt(struct nft_lower *l, const struct nft_stmt *s)
{
	switch (s->kind) {
	case NFT_STMT_MATCH:
		nft_lower_match(l, s);
		break;
	case NFT_STMT_VERDICT:
		if (s->expr->kind == NFT_MAP)
			nft_lower_map(l, s->expr, nft_lower_verdict, NULL, l->is_last ? "last verdict" : "verdict");
		else
			nft_lower_verdict(l, s->expr, NULL, vec_add(l->a, &l->steps));
		break;
	case NFT_STMT_COUNTER:
		lower_counter(l, s);
		break;
	case NFT_STMT_LIMIT:
	case NFT_STMT_QUOTA:
	case NFT_STMT_CT_COUNT:
		lower_state(l, s);
		break;
	case NFT_STMT_LOG:
		lower_log(l, s);
		break;
	case NFT_STMT_REJECT:
		lower_reject(l, s);
		break;
	case NFT_STMT_MANGLE:
		lower_set_stmt(l, s);
		break;
	case NFT_STMT_NAT:
		nft_lower_nat(l, s);
		break;
	case NFT_STMT_NOTRACK:
		nft_lower_effect(l, EFFECT_NOTRACK, "notrack", s->at);
		break;
	case NFT_STMT_DUP:
	case NFT_STMT_FWD:
		lower_forward(l, s);
		break;
	case NFT_STMT_QUEUE:
		lower_queue(l, s);
		break;
	case NFT_STMT_SET:
		lower_dynset(l, s);
		break;
	case NFT_STMT_OBJECT:
		other(l, s, "object")->text = s->name;
		break;
	case NFT_STMT_SYNPROXY:
		nft_lower_unknown(l, s->at, "synproxy", "the kernel answers the handshake itself and takes or drops its packets");
		other(l, s, "synproxy");
		nft_lower_end(l, VERDICT_STOLEN, s->at);
		break;
	case NFT_STMT_FLOW:
		other(l, s, "flow add")->text = s->name;
		if (!l->is_last)
			nft_lower_unknown(l, s->at, "flow add", "whether the flow can be offloaded the kernel decides");
		break;
	case NFT_STMT_RESET:
		other(l, s, "reset")->text = nft_lower_text(l, s->expr);
		break;
	case NFT_STMT_XT:
		nft_lower_unknown(l, s->at, "xt", "nft does not tell what a foreign match looks at");
		break;
	case NFT_STMT_LAST:
	case NFT_STMT_COMMENT:
		break;
	}
}
