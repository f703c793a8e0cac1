/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The model as text: everything that decides a packet, nothing else (no places, comments, counts, source texts, nor an
 * order that does not matter: of chains, sets and elements). Two rulesets with the same text do the same.
 *
 *     chain ip filter INPUT hook input priority 0 policy drop
 *       [ip.proto in {0x6}] [dport in {0x16}] [accept]
 *       [state limit 5/1000 burst 5] [log "x"]
 *
 * A test shows "!" when negated and "absent:yes" when it answers yes to a packet that lacks what it looks at.
 */
#include "policy/policy.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_u128(struct buf *b, u128 v)
{
	uint64_t hi = (uint64_t)(v >> 64), lo = (uint64_t)v;

	if (hi)
		buf_printf(b, "0x%" PRIx64 "%016" PRIx64, hi, lo);
	else
		buf_printf(b, "0x%" PRIx64, lo);
}

/* A text between quotes; bytes that do not print, quotes and backslashes as \xNN. */
static void put_text(struct buf *b, struct str s)
{
	buf_add(b, "\"", 1);
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c < 32 || c > 126 || c == '"' || c == '\\')
			buf_printf(b, "\\x%02x", c);
		else
			buf_add(b, (const char *)&c, 1);
	}
	buf_add(b, "\"", 1);
}

static void put_flag(struct buf *b, bool is_set, const char *name)
{
	if (is_set)
		buf_printf(b, " %s", name);
}

static void put_valset(struct buf *b, const struct valset *s)
{
	buf_add(b, "{", 1);
	for (uint32_t i = 0; i < s->n; i++) {
		buf_printf(b, i ? ", " : "");
		put_u128(b, s->span[i].lo);
		if (s->span[i].hi != s->span[i].lo) {
			buf_add(b, "-", 1);
			put_u128(b, s->span[i].hi);
		}
	}
	buf_add(b, "}", 1);
}

static void put_masks(struct buf *b, const struct test *t)
{
	for (uint32_t i = 0; i < t->n_masks; i++) {
		buf_printf(b, "%s%s & ", i ? " or " : "", field_table[t->field[t->masks[i].of]].name);
		put_u128(b, t->masks[i].mask);
		buf_printf(b, " == ");
		put_u128(b, t->masks[i].value);
	}
}

static void put_payload(struct buf *b, const struct payload_ref *p)
{
	static const char *const bases[] = { "ll", "nh", "th", "ih" };

	buf_printf(b, "@%s,%u,%u", bases[p->base], p->at_bit, p->n_bits);
}

static void put_keys(struct buf *b, const struct map_key *key, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct payload_ref *p = key[i].payload;
		u128 whole = !p ? field_max(key[i].field) : ~(u128)0 >> (PAYLOAD_MAX_BITS - p->n_bits);

		buf_printf(b, "%s", i ? " . " : "");
		if (p)
			put_payload(b, p);
		else
			buf_printf(b, "%s", field_table[key[i].field].name);
		if (key[i].mask == whole)
			continue;
		buf_printf(b, " & ");
		put_u128(b, key[i].mask);
	}
}

static void put_set_use(struct buf *b, const struct set_use *u)
{
	put_text(b, u->name);
	if (u->by_field && u->set) {
		buf_printf(b, " of ");
		put_keys(b, u->key, u->set->n_dims);
	}
	for (uint8_t i = 0; i < u->n_dirs && !u->by_field; i++)
		buf_printf(b, "%s%s", i ? "," : " ", u->dir[i] == SET_DIR_SRC ? "src" : "dst");
	put_flag(b, u->return_nomatch, "return-nomatch");
	put_flag(b, u->has_counters, "counters");
	put_flag(b, u->exist, "exist");
	if (u->has_timeout)
		buf_printf(b, " timeout %u", u->timeout_s);
}

static void put_rate(struct buf *b, const struct state_spec *s)
{
	buf_printf(b, " %" PRIu64 "/%" PRIu64 "ms burst %" PRIu64, s->rate.units, s->rate.per_ms, s->rate.burst);
	put_flag(b, s->rate.by_bytes, "bytes");
	put_flag(b, s->rate.in_ns, "in-ns");
	put_flag(b, s->rate.above, "above");
	if (s->kind == STATE_HASHLIMIT)
		buf_printf(b, " mode %u masks %u %u entries %u expire %u", s->rate.mode, s->rate.src_plen,
			   s->rate.dst_plen, s->rate.max_entries, s->rate.expire_ms);
	if (s->rate.n_keys) {
		buf_printf(b, " of ");
		put_keys(b, s->rate.key, s->rate.n_keys);
	}
}

static void put_recent(struct buf *b, const struct state_spec *s)
{
	static const char *const ops[] = { "set", "check", "update", "remove" };

	buf_printf(b, " %s by %s mask ", ops[s->recent.op], s->recent.by_dst ? "dst" : "src");
	put_u128(b, s->recent.mask);
	buf_printf(b, " seconds %u hits %u", s->recent.seconds, s->recent.hitcount);
	put_flag(b, s->recent.rttl, "rttl");
	put_flag(b, s->recent.reap, "reap");
}

static void put_state(struct buf *b, const struct state_spec *s)
{
	static const char *const kinds[] = { "limit",	  "hashlimit", "recent", "connlimit",
					     "nth", "random",	 "quota",  "time" };

	buf_printf(b, "state %s", kinds[s->kind]);
	if (s->shared_name.n) {
		buf_add(b, " ", 1);
		put_text(b, s->shared_name);
	}
	switch (s->kind) {
	case STATE_LIMIT:
	case STATE_HASHLIMIT:
		put_rate(b, s);
		break;
	case STATE_RECENT:
		put_recent(b, s);
		break;
	case STATE_CONNLIMIT:
		buf_printf(b, " %s %u by %s/%u", s->connlimit.above ? "above" : "upto", s->connlimit.limit,
			   s->connlimit.by_dst ? "dst" : "src", s->connlimit.plen);
		put_flag(b, s->connlimit.of_rule, "of-rule");
		if (s->connlimit.n_keys) {
			buf_printf(b, " of ");
			put_keys(b, s->connlimit.key, s->connlimit.n_keys);
		}
		break;
	case STATE_NTH:
		buf_printf(b, " every %u packet %u", s->nth.every, s->nth.packet);
		break;
	case STATE_RANDOM:
		buf_printf(b, " %u", s->random.threshold);
		break;
	case STATE_QUOTA:
		buf_printf(b, " %" PRIu64, s->quota.bytes);
		put_flag(b, s->quota.above, "above");
		break;
	case STATE_TIME:
		buf_printf(b, " dates %" PRId64 " %" PRId64 " clock %u-%u month %x week %x", s->time.start_s,
			   s->time.stop_s, s->time.day_start_s, s->time.day_stop_s, s->time.monthdays, s->time.weekdays);
		put_flag(b, s->time.local_tz, "localtz");
		put_flag(b, s->time.contiguous, "contiguous");
		break;
	}
}

static void put_u32(struct buf *b, const struct u32_test *t)
{
	static const char *const ops[] = { "&", "<<", ">>", "@" };

	buf_printf(b, " (%u", t->loc.start);
	for (uint8_t i = 0; i < t->loc.n_ops; i++)
		buf_printf(b, "%s%u", ops[t->loc.op[i].op], t->loc.op[i].number);
	buf_printf(b, "=");
	for (uint8_t i = 0; i < t->n_values; i++)
		buf_printf(b, "%s%u:%u", i ? "," : "", t->value[i].lo, t->value[i].hi);
	buf_printf(b, ")");
}

static void put_filter(struct buf *b, const struct tcu32_filter *f, bool is_stop)
{
	buf_printf(b, is_stop ? " [stop" : " [");
	for (uint32_t i = 0; i < f->n_keys; i++)
		buf_printf(b, " %x/%x%s%d", f->key[i].value, f->key[i].mask, f->key[i].is_next ? "+" : "@", f->key[i].off);
	if (f->mark_mask)
		buf_printf(b, " mark %x/%x", f->mark, f->mark_mask);
	if (f->indev.n)
		buf_printf(b, " indev %.*s", STR_ARG(f->indev));
	put_flag(b, f->is_skipped, "skipped");
	put_flag(b, f->is_terminal, "terminal");
	put_flag(b, f->goes_on, "goes-on");
	if (f->link)
		buf_printf(b, " link %x hash %x@%d", f->link->id, f->hash_mask, f->hash_at);
	if (f->has_offset)
		buf_printf(b, " offset %u", f->plus);
	if (f->has_offset_at)
		buf_printf(b, " %x@%u>>%u", f->offset_mask, f->offset_at, f->offset_shift);
	put_flag(b, f->eats, "eat");
	buf_printf(b, "]");
}

/* Tables that are linked are in it where a link leads to them, as deep as a walk may go. */
static void put_table(struct buf *b, const struct tcu32_table *t, const struct tcu32_filter *stop, unsigned depth)
{
	buf_printf(b, " %x:", t->id);
	for (uint32_t i = 0; i < t->n_buckets; i++)
		for (size_t k = 0; k < t->bucket[i].filters.n; k++) {
			const struct tcu32_filter *f = t->bucket[i].filters.v[k];

			if (t->n_buckets > 1)
				buf_printf(b, " %x", i);
			put_filter(b, f, f == stop);
			if (f->link && depth < TCU32_MAX_DEPTH)
				put_table(b, f->link, stop, depth + 1);
		}
}

static void put_walk(struct buf *b, const struct bytes_spec *s)
{
	put_table(b, s->walk, s->stop, 0);
}

static void put_bytes(struct buf *b, const struct bytes_spec *s)
{
	static const char *const kinds[] = { "u32", "string", "bpf", "options", "rt-addresses", "payload", "tc-u32" };

	buf_printf(b, "bytes %s", kinds[s->kind]);
	for (uint32_t i = 0; i < s->n_u32; i++)
		put_u32(b, &s->u32[i]);
	if (s->kind == BYTES_STRING) {
		buf_add(b, " ", 1);
		put_text(b, s->pattern);
		buf_printf(b, " from %u to %u", s->from, s->to);
	}
	put_flag(b, s->icase, "icase");
	for (uint32_t i = 0; i < s->n_insn; i++)
		buf_printf(b, " %u,%u,%u,%u", s->insn[i].code, s->insn[i].jt, s->insn[i].jf, s->insn[i].k);
	if (s->kind == BYTES_IP6_OPTS)
		buf_printf(b, " header %u", s->header);
	for (uint32_t i = 0; i < s->n_opts; i++) {
		buf_printf(b, " %u", s->opt[i].type);
		if (s->opt[i].has_len)
			buf_printf(b, ":%u", s->opt[i].len);
	}
	for (uint32_t i = 0; i < s->n_addrs; i++) {
		buf_add(b, " ", 1);
		put_u128(b, s->addr[i]);
	}
	put_flag(b, s->not_strict, "not-strict");
	put_flag(b, s->from_frame, "from-frame");
	if (s->has_result)
		buf_printf(b, " result %u", s->result);
	if (s->kind == BYTES_TC_U32)
		put_walk(b, s);
	if (s->kind == BYTES_PAYLOAD) {
		struct map_key key = { .payload = &s->payload, .mask = s->payload_mask };

		buf_printf(b, " ");
		put_keys(b, &key, 1);
		buf_printf(b, " in ");
		put_valset(b, &s->payload_in);
	}
}

static void put_outcomes(struct buf *b, const struct map *m);

/* The order of the entries says nothing, so the text has one of its own. */
static int cmp_entry(const void *x, const void *y, void *arg)
{
	const struct map *m = arg;
	const struct map_span *a = m->entries.v[*(const uint32_t *)x].key, *b = m->entries.v[*(const uint32_t *)y].key;

	for (unsigned d = 0; d < m->n_dims; d++) {
		if (a[d].lo != b[d].lo)
			return a[d].lo < b[d].lo ? -1 : 1;
		if (a[d].hi != b[d].hi)
			return a[d].hi < b[d].hi ? -1 : 1;
	}
	return 0;
}

static uint32_t *entry_order(struct arena *a, const struct map *m)
{
	uint32_t *order = arena_new(a, uint32_t, m->entries.n + 1);

	for (uint32_t i = 0; i < m->entries.n; i++)
		order[i] = i;
	qsort_r(order, m->entries.n, sizeof *order, cmp_entry, (void *)m);
	return order;
}

static void put_entry(struct buf *b, const struct map *m, const struct map_entry *e, bool is_first)
{
	const struct map_span *key = e->key;

	for (unsigned d = 0; d < m->n_dims; d++) {
		buf_printf(b, d ? " . " : is_first ? "" : ", ");
		put_u128(b, key[d].lo);
		if (key[d].hi != key[d].lo) {
			buf_add(b, "-", 1);
			put_u128(b, key[d].hi);
		}
	}
}

static void put_tuple(struct buf *b, const struct map_use *u)
{
	put_keys(b, u->key, u->map->n_dims);
	if (u->map->name.n) {
		buf_printf(b, " in ");
		put_text(b, u->map->name);
		return;
	}
	buf_printf(b, " in ");
	put_outcomes(b, u->map);
}

static void put_fields(struct buf *b, const struct test *t)
{
	for (uint8_t i = 0; i < t->n_fields; i++)
		buf_printf(b, "%s%s", i ? "|" : "", field_table[t->field[i]].name);
}

static void put_test(struct buf *b, const struct test *t)
{
	if (t->negated)
		buf_printf(b, "! ");
	switch (t->kind) {
	case TEST_IN:
		put_fields(b, t);
		buf_printf(b, " in ");
		put_valset(b, &t->in);
		break;
	case TEST_MASK:
		put_masks(b, t);
		break;
	case TEST_SET:
		buf_printf(b, "set ");
		put_set_use(b, t->set);
		break;
	case TEST_STATE:
		put_state(b, t->state);
		break;
	case TEST_BYTES:
		put_bytes(b, t->bytes);
		break;
	case TEST_TUPLE:
		put_tuple(b, t->tuple);
		break;
	case TEST_UNKNOWN:
		buf_printf(b, "unknown %s: %s", t->what ? t->what : "", t->why ? t->why : "");
		break;
	}
	if (t->params.n) {
		buf_printf(b, " ");
		put_text(b, t->params);
	}
	put_flag(b, t->on_absent, "absent:yes");
}

static void put_nat(struct buf *b, const struct nat_spec *n)
{
	if (n->has_addr) {
		buf_printf(b, " addr ");
		put_u128(b, n->addr_lo);
		buf_printf(b, "-");
		put_u128(b, n->addr_hi);
	}
	if (n->has_port)
		buf_printf(b, " port %u-%u", n->port_lo, n->port_hi);
	if (n->mark_value || n->mark_mask)
		buf_printf(b, " mark %x/%x", n->mark_value, n->mark_mask);
}

static void put_effect(struct buf *b, const struct effect *e)
{
	static const char *const kinds[] = { "mark",	"ct-mark", "save-mark", "restore-mark", "log",	  "set-add",
					     "set-del", "notrack", "tos",	"ttl",		"snat",	  "dnat",
					     "masquerade", "redirect", "netmap", "tproxy", "other", "count", "nothing" };

	buf_printf(b, "%s", kinds[e->kind]);
	if (e->kind == EFFECT_OTHER || e->kind == EFFECT_LOG) /* what the kind does not say already */
		buf_printf(b, " %s", e->name ? e->name : "");
	buf_printf(b, " value %x mask %x ctmask %x group %u", e->value, e->mask, e->ct_mask, e->group);
	if (e->shift)
		buf_printf(b, " shift %d", e->shift);
	if (e->written) {
		buf_printf(b, " writes ");
		put_payload(b, e->written);
	}
	if (e->has_clobbered)
		buf_printf(b, " clobbers %s", field_table[e->clobbered].name);
	if (e->text.n) {
		buf_printf(b, " text ");
		put_text(b, e->text);
	}
	if (e->set) {
		buf_printf(b, " set ");
		put_set_use(b, e->set);
	}
	if (e->nat)
		put_nat(b, e->nat);
	if (e->counter) {
		buf_printf(b, " counter ");
		put_text(b, e->counter->name);
	}
}

static void put_map(struct buf *b, const struct map_use *u);

static void put_step(struct buf *b, const struct step *s)
{
	buf_printf(b, " [");
	if (s->kind == STEP_MAP) {
		put_map(b, s->map);
	} else if (s->kind == STEP_TEST) {
		put_test(b, &s->test);
	} else if (s->kind == STEP_EFFECT) {
		put_effect(b, &s->effect);
	} else {
		buf_printf(b, "%s", policy_verdict_name(s->v.verdict));
		if (s->v.chain)
			buf_printf(b, " %.*s", STR_ARG(s->v.chain->name));
		if (s->v.verdict == VERDICT_REJECT)
			buf_printf(b, " %s", policy_reject_name(s->v.reject));
		if (s->v.verdict == VERDICT_QUEUE)
			buf_printf(b, " %u", s->v.queue);
	}
	buf_printf(b, "]");
}

static void put_outcomes(struct buf *b, const struct map *m)
{
	const uint32_t *order = entry_order(b->a, m);

	buf_printf(b, "{");
	for (size_t i = 0; i < m->entries.n; i++) {
		const struct map_entry *e = &m->entries.v[order[i]];

		put_entry(b, m, e, i == 0);
		if (m->n_outcomes) {
			buf_printf(b, " :");
			put_step(b, &m->outcome[e->outcome]);
		}
	}
	if (m->has_other) {
		buf_printf(b, " *");
		if (m->n_outcomes) {
			buf_printf(b, " :");
			put_step(b, &m->outcome[m->other]);
		}
	}
	buf_printf(b, "}");
}

/* A named map's entries are on a line of their own. */
static void put_map(struct buf *b, const struct map_use *u)
{
	put_keys(b, u->key, u->map->n_dims);
	if (u->why)
		buf_printf(b, " unknown: %s", u->why);
	buf_printf(b, " map ");
	if (u->map->name.n) {
		put_text(b, u->map->name);
		return;
	}
	put_outcomes(b, u->map);
}

static void put_rule(struct buf *b, const struct rule *r)
{
	for (uint32_t j = 0; j < r->n_steps; j++)
		put_step(b, &r->step[j]);
	buf_printf(b, r->n_steps ? "" : " []");
}

struct str policy_dump_rule(struct arena *a, const struct rule *r)
{
	struct buf b = { .a = a };

	put_rule(&b, r);
	return str_trim(buf_str(&b));
}

static void put_chain(struct buf *b, const struct chain *c)
{
	buf_printf(b, "chain %s %.*s %.*s", policy_family_name(c->family), STR_ARG(c->table), STR_ARG(c->name));
	if (c->hook != HOOK_NONE)
		buf_printf(b, " hook %s priority %d%s policy %s", policy_hook_name(c->hook), c->priority,
			   c->is_nat ? " nat" : "", policy_verdict_name(c->policy));
	for (size_t i = 0; i < c->devices.n; i++)
		buf_printf(b, " device %.*s", STR_ARG(c->devices.v[i]));
	buf_printf(b, "\n");
	for (size_t i = 0; i < c->rules.n; i++) {
		buf_printf(b, " ");
		put_rule(b, c->rules.v[i]);
		buf_printf(b, "\n");
	}
}

static void put_elem(struct buf *b, const struct set *s, const struct set_elem *e)
{
	buf_printf(b, " ");
	for (uint8_t i = 0; i < s->n_dims; i++) {
		buf_printf(b, " ");
		if (s->dim[i] == SET_DIM_LIST)
			put_text(b, e->list);
		else
			put_u128(b, e->v[i]);
		if (s->dim[i] == SET_DIM_ADDR || s->dim[i] == SET_DIM_NET || s->dim[i] == SET_DIM_VALUE)
			buf_printf(b, "/%u", e->plen[i]);
	}
	put_flag(b, e->nomatch, "nomatch");
	put_flag(b, e->wildcard, "wildcard");
	put_flag(b, e->physdev, "physdev");
	put_flag(b, e->mac_any, "mac-any");
	if (e->has_timeout || s->has_default_timeout)
		buf_printf(b, " timeout %u", e->has_timeout ? e->timeout_s : s->default_timeout_s);
	buf_printf(b, "\n");
}

static int cmp_str(struct str x, struct str y)
{
	size_t n = x.n < y.n ? x.n : y.n;
	int c = n ? memcmp(x.p, y.p, n) : 0;

	return c ? c : x.n < y.n ? -1 : x.n > y.n;
}

/* Family, table; base chains in the order of packets, then the others by name. */
static int cmp_chain(const void *x, const void *y)
{
	const struct chain *p = *(const struct chain *const *)x, *q = *(const struct chain *const *)y;
	int c = p->family != q->family ? (p->family < q->family ? -1 : 1) : cmp_str(p->table, q->table);

	if (c == 0 && p->hook != q->hook)
		c = p->hook < q->hook ? -1 : 1;
	return c ? c : cmp_str(p->name, q->name);
}

static int cmp_set(const void *x, const void *y)
{
	return cmp_str((*(const struct set *const *)x)->name, (*(const struct set *const *)y)->name);
}

static int cmp_elem(const void *x, const void *y)
{
	const struct set_elem *p = x, *q = y;

	for (unsigned i = 0; i < SET_MAX_DIMS; i++) {
		if (p->v[i] != q->v[i])
			return p->v[i] < q->v[i] ? -1 : 1;
		if (p->plen[i] != q->plen[i])
			return p->plen[i] < q->plen[i] ? -1 : 1;
	}
	return p->physdev != q->physdev ? p->physdev - q->physdev : p->wildcard - q->wildcard;
}

/* A copy in order, so that the order in a file does not show where it does not matter. */
static void *sorted(struct arena *scratch, const void *v, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	char *out = arena_alloc(scratch, n * size, 16);

	if (n) {
		memcpy(out, v, n * size);
		qsort(out, n, size, cmp);
	}
	return out;
}

static void put_set(struct buf *b, const struct set *s, struct arena *scratch)
{
	const struct set_elem *e = s->elems.v;

	if (s->dim[0] != SET_DIM_LIST)
		e = sorted(scratch, s->elems.v, s->elems.n, sizeof *e, cmp_elem);
	buf_printf(b, "set %.*s type %.*s family %s %.*s\n", STR_ARG(s->name), STR_ARG(s->type),
		   s->has_addrs ? policy_family_name(s->family) : "any", STR_ARG(s->options));
	for (size_t i = 0; i < s->elems.n; i++)
		put_elem(b, s, &e[i]);
}

/* Those that were lowered for several families have one name, and keep their order. */
static int cmp_map(const void *x, const void *y)
{
	const struct map *a = *(struct map *const *)x, *b = *(struct map *const *)y;
	size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
	int c = n ? memcmp(a->name.p, b->name.p, n) : 0;

	if (c || a->name.n != b->name.n)
		return c ? c : a->name.n < b->name.n ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

struct str policy_dump(struct arena *a, const struct ruleset *rs)
{
	struct buf b = { .a = a };
	struct arena *scratch = arena_create();
	struct chain **c = sorted(scratch, rs->chains.v, rs->chains.n, sizeof *c, cmp_chain);
	struct set **s = sorted(scratch, rs->sets.v, rs->sets.n, sizeof *s, cmp_set);
	struct map **m = sorted(scratch, rs->maps.v, rs->maps.n, sizeof *m, cmp_map);

	for (size_t i = 0; i < rs->chains.n; i++)
		put_chain(&b, c[i]);
	for (size_t i = 0; i < rs->sets.n; i++)
		put_set(&b, s[i], scratch);
	for (size_t i = 0; i < rs->maps.n; i++) {
		if (!m[i]->name.n)
			continue;
		buf_printf(&b, "map %.*s ", STR_ARG(m[i]->name));
		put_outcomes(&b, m[i]);
		buf_printf(&b, "\n");
	}
	arena_destroy(scratch);
	return buf_str(&b);
}
