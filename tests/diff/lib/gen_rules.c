/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables, chains, rules, sets. Chains of a table are numbered, and a chain calls only later ones, so that there are no
 * loops. Each knows from which hooks it is reached, because some matches are allowed at some hooks only.
 */
#include "diff/lib/gen.h"

#include <stdio.h>
#include <string.h>

/* ---------- sets ---------- */

static const struct {
	const char *type, *dims;
} set_types[] = {
	{ "hash:ip", "a" },	 { "hash:net", "n" },	  { "hash:ip,port", "ap" },   { "hash:net,port", "np" },
	{ "hash:net,net", "nn" }, { "hash:ip,port,ip", "apa" }, { "hash:ip,port,net", "apn" }, { "hash:net,port,net", "npn" },
	{ "hash:net,iface", "ni" }, { "hash:mac", "m" },	  { "hash:ip,mac", "am" },    { "hash:ip,mark", "ak" },
	{ "bitmap:port", "p" },
};

static void set_addr(struct gen *g, bool is_net, unsigned dim)
{
	unsigned bits = g->ip6 ? 128 : 32, plen = bits;
	gen_u128 a = gen_addr(g), host;
	enum gen_pool pool = dim == 2 || gen_chance(g, 50) ? GEN_DST : GEN_SRC;
	char buf[64];

	if (is_net && gen_chance(g, 70))
		plen = bits - (unsigned)gen_below(g, gen_chance(g, 80) ? 12 : bits - 1);
	host = plen == bits ? 0 : ((gen_u128)1 << (bits - plen)) - 1;
	a &= ~host;
	if (!g->ip6)
		a &= UINT32_MAX;
	if (a == 0 && !is_net)
		a = 1;
	gen_edges(g, pool, a, a | host);
	gen_printf(g, "%s", gen_addr_text(g, a, buf));
	if (plen != bits)
		gen_printf(g, "/%u", plen);
}

static void set_port(struct gen *g, bool is_bitmap)
{
	static const char *const protos[] = { "tcp", "udp", "sctp", "udplite" };
	unsigned port = (unsigned)gen_below(g, gen_chance(g, 70) ? 32 : 65536);

	gen_edges(g, gen_chance(g, 50) ? GEN_SPORT : GEN_DPORT, port, port);
	if (is_bitmap)
		gen_printf(g, "%u", port);
	else if (gen_chance(g, 10) && g->ip6)
		gen_printf(g, "icmpv6:128/%u", port % 2);
	else if (gen_chance(g, 10) && !g->ip6)
		gen_printf(g, "icmp:8/%u", port % 2);
	else if (gen_chance(g, 5))
		gen_printf(g, "47:0");
	else
		gen_printf(g, "%s:%u", protos[gen_below(g, gen_chance(g, 80) ? 2 : 4)], port);
}

static void set_dim(struct gen *g, const struct gen_set *s, unsigned d)
{
	unsigned v = (unsigned)gen_below(g, 6);

	switch (s->dim[d]) {
	case 'a':
	case 'n':
		set_addr(g, s->dim[d] == 'n', d);
		break;
	case 'p':
		set_port(g, s->n_dims == 1);
		break;
	case 'i':
		gen_printf(g, "%s", gen_iface(g));
		break;
	case 'm':
		gen_edges(g, GEN_MAC, 0x020000000000 + v, 0x020000000000 + v);
		gen_printf(g, "02:00:00:00:00:%02x", v);
		break;
	default:
		gen_edges(g, GEN_MARK, v, v);
		gen_printf(g, "0x%x", v);
	}
}

static void make_set(struct gen *g, unsigned k)
{
	struct gen_set *s = &g->set[g->n_sets++];
	unsigned t = (unsigned)gen_below(g, sizeof set_types / sizeof *set_types), n = (unsigned)gen_below(g, 12);
	bool has_nets = strchr(set_types[t].dims, 'n'), has_times = gen_chance(g, 20);

	snprintf(s->name, sizeof s->name, "s%u", k);
	s->type = set_types[t].type;
	s->n_dims = (unsigned)strlen(set_types[t].dims);
	memcpy(s->dim, set_types[t].dims, s->n_dims);
	if (strcmp(s->type, "bitmap:port") == 0)
		gen_printf(g, "create %s bitmap:port range 0-65535", s->name);
	else if (strcmp(s->type, "hash:mac") == 0)
		gen_printf(g, "create %s hash:mac", s->name);
	else
		gen_printf(g, "create %s %s family %s", s->name, s->type, g->ip6 ? "inet6" : "inet");
	if (has_times)
		gen_printf(g, " timeout %u", (unsigned)gen_below(g, 4));
	gen_printf(g, "\n");
	for (unsigned i = 0; i < n; i++) {
		gen_printf(g, "add %s ", s->name);
		for (unsigned d = 0; d < s->n_dims; d++) {
			gen_printf(g, d ? "," : "");
			set_dim(g, s, d);
		}
		if (has_times && gen_chance(g, 50))
			gen_printf(g, " timeout %u", (unsigned)gen_below(g, 4));
		gen_printf(g, "%s -exist\n", has_nets && gen_chance(g, 20) ? " nomatch" : "");
	}
}

static void make_list(struct gen *g, unsigned k)
{
	struct gen_set *s = &g->set[g->n_sets];

	snprintf(s->name, sizeof s->name, "s%u", k);
	s->type = "list:set";
	s->n_dims = 3;
	memcpy(s->dim, "lll", 3);
	gen_printf(g, "create %s list:set size 8\n", s->name);
	for (unsigned i = 0; i < g->n_sets; i++)
		if (gen_chance(g, 60))
			gen_printf(g, "add %s %s\n", s->name, g->set[i].name);
	g->n_sets++;
}

const char *gen_sets(struct gen *g)
{
	unsigned n = gen_chance(g, 50) ? (unsigned)gen_below(g, 4) : 0;

	g->n = 0;
	gen_printf(g, "%s", "");
	for (unsigned k = 0; k < n; k++)
		make_set(g, k);
	if (n && gen_chance(g, 30))
		make_list(g, n);
	return g->text;
}

/* ---------- rules ---------- */

static const struct table {
	const char *name;
	unsigned hooks;
} tables[] = {
	{ "raw", 1 << GEN_PREROUTING | 1 << GEN_OUTPUT },
	{ "mangle", 31 },
	{ "filter", 1 << GEN_INPUT | 1 << GEN_FORWARD | 1 << GEN_OUTPUT },
	{ "security", 1 << GEN_INPUT | 1 << GEN_FORWARD | 1 << GEN_OUTPUT },
};
static const char *const hook_names[] = { "PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING" };

enum { MAX_CHAINS = 12 };

struct make {
	struct gen *g;
	const struct table *table;
	struct gen_chain chain[MAX_CHAINS];
	unsigned n_chains;
};

/* A chain that this one may call, or NULL. */
static const struct gen_chain *pick_callee(struct make *m, unsigned from)
{
	const struct gen_chain *may[MAX_CHAINS];
	unsigned n = 0;

	for (unsigned k = from + 1; k < m->n_chains; k++)
		if (!m->chain[k].is_base && (m->chain[from].hooks & ~m->chain[k].hooks) == 0)
			may[n++] = &m->chain[k];
	if (n == 0)
		return NULL;
	return may[gen_below(m->g, gen_chance(m->g, 50) ? 1 : n)]; /* often the next one: deep calls */
}

static void put_mark(struct gen *g)
{
	static const char *const ops[] = { "--set-mark", "--set-xmark", "--or-mark", "--and-mark", "--xor-mark" };
	unsigned op = (unsigned)gen_below(g, 5), v = (unsigned)gen_below(g, 8);

	gen_edges(g, GEN_MARK, v, v);
	gen_printf(g, " -j MARK %s 0x%x", ops[op], v);
	if (op < 2 && gen_chance(g, 50))
		gen_printf(g, "/0x%x", (unsigned)gen_below(g, 16));
}

static void put_target(struct make *m, unsigned from)
{
	struct gen *g = m->g;
	/* Many rules that call each other would make a way longer than may be. */
	const struct gen_chain *to = gen_chance(g, g->is_large ? 4 : 40) ? pick_callee(m, from) : NULL;
	unsigned x = (unsigned)gen_below(g, 100);
	bool live = g->flags & GEN_LIVE;

	if (to)
		gen_printf(g, " -%s %s", gen_chance(g, 75) ? "j" : "g", to->name);
	else if (x < 25)
		gen_printf(g, " -j ACCEPT");
	else if (x < 50)
		gen_printf(g, " -j DROP");
	else if (x < 65)
		gen_printf(g, " -j RETURN");
	else if (x < 70 && strcmp(m->table->name, "filter") == 0)
		gen_printf(g, " -j REJECT");
	else if (x < 74 && !live)
		gen_printf(g, " -j LOG --log-prefix \"x: \"");
	else if (x < 85 && strcmp(m->table->name, "mangle") == 0 && !live)
		put_mark(g);
	else if (x < 88 && strcmp(m->table->name, "mangle") == 0 && !live)
		gen_printf(g, " -j CONNMARK --restore-mark");
	/* else it only counts */
}

static void put_rules(struct make *m, unsigned k)
{
	struct gen *g = m->g;
	unsigned n = (unsigned)gen_below(g, g->is_large ? 60 : m->chain[k].is_base ? 7 : 5);

	for (unsigned i = 0; i < n; i++) {
		gen_printf(g, "-A %s", m->chain[k].name);
		if (gen_chance(g, 85))
			gen_matches(g, m->chain[k].hooks, strcmp(m->table->name, "mangle") == 0);
		put_target(m, k);
		gen_printf(g, "\n");
	}
}

static void make_chains(struct make *m)
{
	struct gen *g = m->g;
	unsigned n = (unsigned)gen_below(g, 7);

	for (unsigned h = 0; h < 5; h++) {
		struct gen_chain *c = &m->chain[m->n_chains];

		if (!(m->table->hooks >> h & 1))
			continue;
		*c = (struct gen_chain){ .hooks = 1u << h, .is_base = true };
		snprintf(c->name, sizeof c->name, "%s", hook_names[h]);
		m->n_chains++;
	}
	for (unsigned k = 0; k < n; k++) {
		struct gen_chain *c = &m->chain[m->n_chains++];

		*c = (struct gen_chain){ .hooks = m->table->hooks };
		if (gen_chance(g, 35)) /* of one hook only: more matches are allowed in it */
			c->hooks = 1u << gen_below(g, 5);
		snprintf(c->name, sizeof c->name, "c%u", k);
	}
}

static void make_table(struct gen *g, const struct table *t)
{
	struct make m = { .g = g, .table = t };

	make_chains(&m);
	gen_printf(g, "*%s\n", t->name);
	for (unsigned k = 0; k < m.n_chains; k++)
		gen_printf(g, ":%s %s [0:0]\n", m.chain[k].name,
			   !m.chain[k].is_base ? "-" : gen_chance(g, 15) ? "DROP" : "ACCEPT");
	for (unsigned k = 0; k < m.n_chains; k++)
		put_rules(&m, k);
	gen_printf(g, "COMMIT\n");
}

const char *gen_rules(struct gen *g)
{
	g->n = 0;
	if (g->flags & GEN_LIVE) {
		make_table(g, &tables[2]);
		return g->text;
	}
	for (unsigned t = 0; t < 4; t++)
		if (gen_chance(g, t == 2 ? 80 : 35) || (t == 3 && g->n == 0))
			make_table(g, &tables[t]);
	return g->text;
}
