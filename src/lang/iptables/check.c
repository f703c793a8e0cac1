/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks of meaning. The kernel checks a match or target against the hooks from which its chain can be reached, user
 * chains too; so the hooks are carried along jumps first, round and round until nothing changes.
 *
 *     -A PREROUTING -j mine
 *     -A mine -j MASQUERADE      error: MASQUERADE works in POSTROUTING, and 'mine' is reached from PREROUTING
 */
#include "lang/iptables/check.h"

#include <stdio.h>

#include "lang/iptables/ext.h"

static const struct table_row {
	const char *name;
	uint8_t bit, hooks;
} tables[] = {
	{ "filter", TABLE_FILTER, AT_INPUT | AT_FORWARD | AT_OUTPUT },
	{ "nat", TABLE_NAT, AT_PREROUTING | AT_INPUT | AT_OUTPUT | AT_POSTROUTING },
	{ "mangle", TABLE_MANGLE, AT_PREROUTING | AT_INPUT | AT_FORWARD | AT_OUTPUT | AT_POSTROUTING },
	{ "raw", TABLE_RAW, AT_PREROUTING | AT_OUTPUT },
	{ "security", TABLE_SECURITY, AT_INPUT | AT_FORWARD | AT_OUTPUT },
};
enum { N_TABLES = sizeof(tables) / sizeof(*tables), CHAIN_NAME_MAX = 28 };

static const struct table_row *table_row(struct str name)
{
	for (size_t i = 0; i < N_TABLES; i++) {
		if (str_is(name, tables[i].name))
			return &tables[i];
	}
	return NULL;
}

bool ipt_check_is_table(struct str name)
{
	return table_row(name) != NULL;
}

const char *ipt_check_nearest_table(struct str name)
{
	const char *names[N_TABLES];

	for (size_t i = 0; i < N_TABLES; i++)
		names[i] = tables[i].name;
	return str_nearest(name, names, N_TABLES);
}

enum hook ipt_check_hook(struct str table, struct str chain)
{
	const struct table_row *row = table_row(table);

	for (enum hook h = 0; row && h < HOOK_IP_COUNT; h++) {
		if ((row->hooks & 1 << h) && str_is(chain, policy_hook_chain(h)))
			return h;
	}
	return HOOK_NONE;
}

bool ipt_check_chain_name(struct diags *d, struct str name, struct loc at)
{
	bool is_odd = false;

	for (size_t i = 0; i < name.n; i++)
		is_odd |= (unsigned char)name.p[i] <= ' ' || name.p[i] == '"' || name.p[i] == 0x7f;
	if (name.n == 0)
		diag_error(d, at, "the name of a chain is missing");
	else if (name.n > CHAIN_NAME_MAX)
		diag_error(d, at, "chain name '%.*s' is too long: %zu bytes, %d are allowed", STR_ARG(name), name.n, CHAIN_NAME_MAX);
	else if (name.p[0] == '-' || name.p[0] == '!')
		diag_error(d, at, "a chain's name cannot begin with '%c'", name.p[0]);
	else if (is_odd)
		diag_error(d, at, "a chain's name cannot have blanks, quotes or control characters in it");
	return name.n && name.n <= CHAIN_NAME_MAX && name.p[0] != '-' && name.p[0] != '!' && !is_odd;
}

/* ---------- one rule: protocols ---------- */

static const char *proto_name(uint8_t proto)
{
	return ipt_name_of(ipt_names_proto, proto)->name;
}

static bool has_proto(const struct ipt_rule *r, const uint8_t *protos, size_t n)
{
	for (size_t i = 0; i < n && protos[i]; i++) {
		if (r->proto == protos[i] && !r->proto_negated)
			return true;
	}
	return false;
}

static bool check_protos(struct diags *d, enum family family, const struct ipt_rule *r, const struct ipt_use *u)
{
	const struct ipt_ext_row *row = ipt_ext_row(u->ext);
	char names[128];
	size_t n = 0;
	struct diag *g;

	if (!row->protos[0] || (row->proto_families && !(row->proto_families & 1 << family)) ||
	    has_proto(r, row->protos, IPT_MAX_PROTOS))
		return true;
	for (size_t i = 0; i < IPT_MAX_PROTOS && row->protos[i]; i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i ? "|" : "", proto_name(row->protos[i]));
	g = diag_error(d, u->at, "%s needs -p %s", row->name, names);
	if (r->proto)
		diag_hint(d, g, r->proto_negated ? "'! -p' lets other protocols through" : "the rule has -p %s",
			  ipt_name_of(ipt_names_proto, r->proto) ? proto_name(r->proto) : "another");
	return false;
}

static const uint8_t tcp_only[] = { 6 };

static bool check_reject(struct diags *d, const struct ipt_rule *r)
{
	const struct ipt_opt *with = ipt_opt_find(&r->target, IPT_T_REJECT_WITH);

	if (!with || with->v.range.lo != REJECT_TCP_RST || has_proto(r, tcp_only, 1))
		return true;
	diag_error(d, with->value_at, "--reject-with tcp-reset needs -p tcp");
	return false;
}

static bool check_nat_ports(struct diags *d, enum family family, const struct ipt_rule *r)
{
	static const uint8_t with_ports[] = { 6, 17, 132, 33, 1 };

	for (size_t i = 0; i < r->target.opts.n; i++) {
		const struct ipt_opt *o = &r->target.opts.v[i];

		if (o->v.kind != IPT_VALUE_NAT)
			continue;
		if (o->v.nat->has_port && !has_proto(r, with_ports, sizeof(with_ports))) {
			diag_error(d, o->value_at, "a port needs -p tcp, udp, sctp or dccp");
			return false;
		}
		if (family == FAMILY_IP4 && o->id == IPT_T_DNAT_TO && o->v.nat->has_addr && o->v.nat->addr_lo >> 24 == 127)
			diag_warn(d, o->value_at, "loopback-dnat",
				  "the kernel drops what is sent to 127.0.0.0/8 from outside, unless route_localnet is set");
	}
	return true;
}

static bool check_ecn(struct diags *d, const struct ipt_rule *r, const struct ipt_use *u)
{
	const struct ipt_opt *o = ipt_opt_find(u, IPT_M_ECN_CWR);

	if (!o)
		o = ipt_opt_find(u, IPT_M_ECN_ECE);
	if (!o || has_proto(r, tcp_only, 1))
		return true;
	diag_error(d, o->at, "--%s needs -p tcp", ipt_opt_name(o->id));
	return false;
}

/* The kernel of legacy iptables takes TCPMSS only on packets that surely are SYNs. */
static void warn_tcpmss(struct diags *d, const struct ipt_rule *r)
{
	for (size_t i = 0; i < r->matches.n; i++) {
		const struct ipt_opt *flags = ipt_opt_find(&r->matches.v[i], IPT_M_TCP_FLAGS);

		if (flags && !flags->negated && (flags->v.masked.value & 0x02))
			return;
	}
	diag_hint(d, diag_warn(d, r->target.at, "tcpmss-without-syn", "TCPMSS works on SYN packets, and legacy iptables refuses it "
								       "where the rule does not ask for them"),
		  "add --syn or --tcp-flags SYN,RST SYN");
}

bool ipt_check_rule(struct diags *d, enum family family, const struct ipt_rule *r)
{
	bool ok = true;

	for (size_t i = 0; i < r->matches.n; i++) {
		ok &= check_protos(d, family, r, &r->matches.v[i]);
		if (r->matches.v[i].ext == IPT_M_ECN)
			ok &= check_ecn(d, r, &r->matches.v[i]);
	}
	if (r->jump != IPT_JUMP_TARGET)
		return ok;
	ok &= check_protos(d, family, r, &r->target);
	if (r->target.ext == IPT_T_REJECT)
		ok &= check_reject(d, r);
	if (r->target.ext == IPT_T_TCPMSS)
		warn_tcpmss(d, r);
	return check_nat_ports(d, family, r) && ok;
}

/* ---------- a table: where chains are reached from ---------- */

struct places {
	struct arena *a;
	struct diags *d;
	const struct ipt_table *t;
	const struct ipt_chain *chain; /* at hand */
	uint8_t reached;	       /* AT_*: hooks from which it is reached */
};

static uint8_t *hooks_of(struct strmap *m, struct arena *a, struct str chain)
{
	void **slot = strmap_slot(a, m, chain);

	if (!*slot)
		*slot = arena_new(a, uint8_t, 1);
	return *slot;
}

static bool carry_hooks(struct arena *a, const struct ipt_table *t, struct strmap *m)
{
	bool changed = false;

	for (size_t i = 0; i < t->chains.n; i++) {
		const struct ipt_chain *c = t->chains.v[i];
		uint8_t from = *hooks_of(m, a, c->name);

		for (size_t k = 0; from && k < c->rules.n; k++) {
			const struct ipt_rule *r = c->rules.v[k];
			uint8_t *to;

			if (r->jump != IPT_JUMP_CHAIN && r->jump != IPT_GOTO_CHAIN)
				continue;
			to = hooks_of(m, a, r->chain_name);
			changed |= (*to | from) != *to;
			*to |= from;
		}
	}
	return changed;
}

static struct str hook_names(struct arena *a, unsigned hooks)
{
	struct buf b = { .a = a };

	for (enum hook h = 0; h < HOOK_IP_COUNT; h++) {
		if (hooks & 1u << h)
			buf_printf(&b, "%s%s", b.n ? ", " : "", policy_hook_chain(h));
	}
	return buf_str(&b);
}

/* ---------- a table: jumps ---------- */

static bool is_piece(const struct ipt_table *t)
{
	for (size_t i = 0; i < t->chains.n; i++) {
		if (t->chains.v[i]->hook != HOOK_NONE)
			return false;
	}
	return true;
}

/* Chains are not guessed at in a piece: its siblings are called much alike. */
static const char *nearest_target(struct places *p, struct str name, bool is_goto)
{
	VEC(const char *) all = { 0 };

	for (size_t i = 0; !is_piece(p->t) && i < p->t->chains.n; i++) {
		if (p->t->chains.v[i]->hook == HOOK_NONE)
			*vec_add(p->a, &all) = arena_cstr(p->a, p->t->chains.v[i]->name);
	}
	for (enum ipt_ext_id id = IPT_NONE + 1; !is_goto && id < IPT_EXT_COUNT; id++) {
		if (!ipt_ext_row(id)->is_target)
			continue;
		if (str_is_nocase(name, ipt_ext_name(id)))
			return ipt_ext_name(id);
		*vec_add(p->a, &all) = ipt_ext_name(id);
	}
	return str_nearest(name, all.v, all.n);
}

static void unknown_chain(struct places *p, struct ipt_rule *r)
{
	const char *near = nearest_target(p, r->chain_name, r->jump == IPT_GOTO_CHAIN);
	struct diag *g;

	if (ipt_ext_is_foreign(r->chain_name, true)) {
		diag_error(p->d, r->target_at, "weir does not read the target '%.*s'", STR_ARG(r->chain_name));
		return;
	}
	if (!near && is_piece(p->t)) {
		r->chain_is_missing = true;
		g = diag_warn(p->d, r->target_at, "missing-chain", "chain '%.*s' is not in this file; what it does is unknown",
			      STR_ARG(r->chain_name));
		diag_hint(p->d, g, "the table has no built-in chain: this looks like a piece of a larger ruleset");
		return;
	}
	g = diag_error(p->d, r->target_at,
		       r->jump == IPT_GOTO_CHAIN ? "there is no chain '%.*s' in table %.*s"
						 : "there is no chain or target '%.*s' (table %.*s)",
		       STR_ARG(r->chain_name), STR_ARG(p->t->name));
	if (near)
		diag_hint(p->d, g, "did you mean '%s'?", near);
	else
		diag_hint(p->d, g, "declare the chain: ':%.*s - [0:0]'", STR_ARG(r->chain_name));
}

static void check_jump(struct places *p, struct ipt_rule *r)
{
	const struct ipt_chain *c = ipt_chain_find(p->t, r->chain_name);

	if (!c && ipt_check_hook(p->t->name, r->chain_name) == HOOK_NONE)
		unknown_chain(p, r);
	else if (!c || c->hook != HOOK_NONE)
		diag_error(p->d, r->target_at, "%.*s is a built-in chain; a rule cannot jump to it", STR_ARG(r->chain_name));
	else if (c->at.off > r->target_at.off)
		diag_hint(p->d,
			  diag_warn(p->d, r->target_at, "late-chain", "chain '%.*s' is declared below this rule, too late for "
									"iptables-restore", STR_ARG(r->chain_name)),
			  "declare chains before the rules of the table");
}

/* ---------- a table: places ---------- */

static void check_iface(struct places *p, const struct ipt_iface *i, const char *option, unsigned bad)
{
	bool is_there = i->name.n || i->is_prefix;

	if (!is_there || !p->reached || (p->reached & ~bad))
		return;
	if (p->chain->hook != HOOK_NONE)
		diag_error(p->d, i->at, "%s has no meaning in %.*s: packets there have no such interface", option,
			   STR_ARG(p->chain->name));
	else if (!i->negated && i->name.n && !p->t->lacks_rules)
		diag_warn(p->d, i->at, "never-matches", "chain '%.*s' is reached only where packets have no %s interface",
			  STR_ARG(p->chain->name), option[1] == 'i' ? "input" : "output");
}

/* Complains unless every hook that reaches the chain is among `good`. */
static void check_hooks(struct places *p, struct loc at, const char *what, unsigned good)
{
	unsigned bad = p->reached & ~good;
	struct str allowed, found;

	if (!bad)
		return;
	allowed = hook_names(p->a, good & table_row(p->t->name)->hooks);
	found = hook_names(p->a, bad);
	if (p->chain->hook != HOOK_NONE)
		diag_error(p->d, at, "%s does not work in %.*s; in table %.*s it works in %.*s", what, STR_ARG(found),
			   STR_ARG(p->t->name), STR_ARG(allowed.n ? allowed : STR("no chain")));
	else
		diag_error(p->d, at, "%s works in %.*s, and chain '%.*s' is reached from %.*s", what,
			   STR_ARG(allowed.n ? allowed : STR("no chain")), STR_ARG(p->chain->name), STR_ARG(found));
}

static void check_table(struct places *p, struct loc at, const char *what, unsigned good)
{
	struct buf b = { .a = p->a };

	if (good & table_row(p->t->name)->bit)
		return;
	for (size_t i = 0; i < N_TABLES; i++) {
		if (good & tables[i].bit)
			buf_printf(&b, "%s%s", b.n ? ", " : "", tables[i].name);
	}
	diag_error(p->d, at, "%s works in table %.*s only, and this is table %.*s", what, (int)b.n, b.v, STR_ARG(p->t->name));
}

static void check_policy(struct places *p, const struct ipt_use *u)
{
	const struct ipt_opt *dir = ipt_opt_find(u, IPT_M_POLICY_DIR);

	if (dir)
		check_hooks(p, dir->value_at, dir->v.range.lo == 0 ? "--dir in" : "--dir out",
			    dir->v.range.lo == 0 ? AT_PREROUTING | AT_INPUT | AT_FORWARD : AT_FORWARD | AT_OUTPUT | AT_POSTROUTING);
}

static void check_use(struct places *p, const struct ipt_use *u)
{
	const struct ipt_ext_row *row = ipt_ext_row(u->ext);
	const struct ipt_opt *map = ipt_opt_find(u, IPT_T_SET_MAP);

	if (row->tables)
		check_table(p, u->at, row->name, row->tables);
	if (row->hooks && (!row->tables || (row->tables & table_row(p->t->name)->bit)))
		check_hooks(p, u->at, row->name, row->hooks);
	for (size_t i = 0; i < u->opts.n; i++) {
		const struct ipt_opt_row *o = ipt_opt_row(u->opts.v[i].id);

		if (o->bad_hooks)
			check_hooks(p, u->opts.v[i].at, arena_printf(p->a, "--%s", o->name).p, 0x1fu & ~(unsigned)o->bad_hooks);
	}
	if (u->ext == IPT_M_POLICY)
		check_policy(p, u);
	if (map) {
		check_table(p, map->at, "--map-set", TABLE_MANGLE);
		if (ipt_opt_find(u, IPT_T_SET_MAP_PRIO) || ipt_opt_find(u, IPT_T_SET_MAP_QUEUE))
			check_hooks(p, map->at, "--map-set", AT_FORWARD | AT_OUTPUT | AT_POSTROUTING);
	}
	if ((u->ext == IPT_M_STATE || u->ext == IPT_M_CONNTRACK) && str_is(p->t->name, "raw"))
		diag_warn(p->d, u->at, "before-conntrack", "connections are looked up behind table raw: here no packet has a state yet");
}

void ipt_check_table(struct arena *a, struct diags *d, const struct ipt_table *t)
{
	struct strmap hooks = { 0 };
	struct places p = { .a = a, .d = d, .t = t };

	for (size_t i = 0; i < t->chains.n; i++) {
		if (t->chains.v[i]->hook != HOOK_NONE)
			*hooks_of(&hooks, a, t->chains.v[i]->name) |= (uint8_t)(1u << t->chains.v[i]->hook);
	}
	while (carry_hooks(a, t, &hooks))
		;
	for (size_t i = 0; i < t->chains.n; i++) {
		p.chain = t->chains.v[i];
		p.reached = *hooks_of(&hooks, a, p.chain->name);
		for (size_t k = 0; k < p.chain->rules.n; k++) {
			struct ipt_rule *r = p.chain->rules.v[k];

			check_iface(&p, &r->in, "-i", AT_OUTPUT | AT_POSTROUTING);
			check_iface(&p, &r->out, "-o", AT_PREROUTING | AT_INPUT);
			for (size_t m = 0; m < r->matches.n; m++)
				check_use(&p, &r->matches.v[m]);
			if (r->jump == IPT_JUMP_TARGET)
				check_use(&p, &r->target);
			else if (r->jump != IPT_JUMP_NONE)
				check_jump(&p, r);
		}
	}
}
