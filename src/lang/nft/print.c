/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree as text, as `nft list ruleset` would write it: tables with their objects, sets, flowtables and chains. Read again,
 * by nft or by weir, it gives the same rules: what a rule needs comes before it.
 *
 * It differs from nft where the form of a rule was chosen by its author: elements keep their order, a port is a number, a
 * counter tells what it has counted only if asked to.
 */
#include "lang/nft/print.h"

static void print_handle(struct buf *b, uint64_t handle)
{
	if (handle)
		buf_printf(b, " # handle %llu", (unsigned long long)handle);
}

static void print_comment(struct buf *b, const char *indent, struct str comment)
{
	if (!comment.n)
		return;
	buf_printf(b, "%scomment ", indent);
	nft_print_quoted(b, comment);
	buf_printf(b, "\n");
}

/* ---------- objects ---------- */

static void print_object_body(struct nft_print *p, const struct nft_object *o)
{
	const struct nft_stmt *s = o->stmt;

	switch (o->kind) {
	case NFT_OBJ_COUNTER:
		if (p->with_counts && s)
			buf_printf(&p->b, "\t\tpackets %llu bytes %llu\n", (unsigned long long)s->counter.packets,
				   (unsigned long long)s->counter.bytes);
		return;
	case NFT_OBJ_QUOTA:
		buf_printf(&p->b, "\t\t");
		nft_print_quota(p, s);
		break;
	case NFT_OBJ_LIMIT:
		buf_printf(&p->b, "\t\t");
		nft_print_limit(p, s);
		break;
	case NFT_OBJ_SYNPROXY:
		buf_printf(&p->b, "\t\t"); /* its words bring a blank in front of each */
		nft_print_synproxy(p, s);
		break;
	default:
		buf_printf(&p->b, "\t\t%.*s", STR_ARG(o->text));
	}
	buf_printf(&p->b, "\n");
}

static void print_object(struct nft_print *p, const struct nft_object *o)
{
	static const char *const words[NFT_OBJ_COUNT] = {
		"", "counter", "quota", "limit", "ct helper", "ct timeout", "ct expectation", "secmark", "synproxy",
	};

	buf_printf(&p->b, "\t%s %.*s {", words[o->kind], STR_ARG(o->name));
	print_handle(&p->b, o->handle);
	buf_printf(&p->b, "\n");
	print_comment(&p->b, "\t\t", o->comment);
	print_object_body(p, o);
	buf_printf(&p->b, "\t}\n");
}

/* ---------- hooks ---------- */

struct priority_name {
	const char *name;
	int at, at_bridge; /* NONE: no name there */
	enum hook only;	   /* HOOK_NONE: of any hook */
};
enum { PRIORITY_NONE = 1 << 20, PRIORITY_NEAR = 10 };
static const struct priority_name priority_names[] = {
	{ "raw", -300, PRIORITY_NONE, HOOK_NONE },	{ "mangle", -150, PRIORITY_NONE, HOOK_NONE },
	{ "dstnat", -100, -300, HOOK_PREROUTING },	{ "filter", 0, -200, HOOK_NONE },
	{ "security", 50, PRIORITY_NONE, HOOK_NONE },	{ "srcnat", 100, 300, HOOK_POSTROUTING },
	{ "out", PRIORITY_NONE, 100, HOOK_OUTPUT },
};

/* By the nearest name of at most ten away, as nft does: "filter", "mangle + 1". */
static void print_priority(struct buf *b, enum nft_family fam, enum hook hook, int priority)
{
	bool only_filter = fam == NFT_NETDEV || fam == NFT_ARP || hook == HOOK_NONE || hook >= HOOK_IP_COUNT;

	for (size_t i = 0; i < sizeof priority_names / sizeof *priority_names; i++) {
		const struct priority_name *n = &priority_names[i];
		int at = fam == NFT_BRIDGE ? n->at_bridge : n->at, far = priority - at;

		if ((only_filter && strcmp(n->name, "filter") != 0) || (n->only != HOOK_NONE && n->only != hook))
			continue;
		if (at == PRIORITY_NONE || far > PRIORITY_NEAR || far < -PRIORITY_NEAR)
			continue;
		buf_printf(b, "%s", n->name);
		if (far)
			buf_printf(b, " %c %d", far < 0 ? '-' : '+', far < 0 ? -far : far);
		return;
	}
	buf_printf(b, "%d", priority);
}

static void print_devices(struct buf *b, const struct str *v, size_t n)
{
	if (n == 1) {
		buf_printf(b, " device \"%.*s\"", STR_ARG(v[0]));
		return;
	}
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s\"%.*s\"", i ? ", " : " devices = { ", STR_ARG(v[i]));
	buf_printf(b, "%s", n ? " }" : "");
}

/* ---------- chains ---------- */

static void print_rule(struct nft_print *p, const struct nft_rule *r)
{
	nft_print_stmts(p, r->stmt, r->n_stmts);
	if (r->comment.n) {
		buf_printf(&p->b, " comment ");
		nft_print_quoted(&p->b, r->comment);
	}
	print_handle(&p->b, r->handle);
}

static void print_base(struct buf *b, enum nft_family fam, const struct nft_chain *c)
{
	static const char *const types[] = { "filter", "nat", "route" };

	buf_printf(b, "\t\ttype %s hook %s", types[c->type], policy_hook_name(c->hook));
	print_devices(b, c->devices.v, c->devices.n);
	buf_printf(b, " priority ");
	print_priority(b, fam, c->hook, c->priority);
	buf_printf(b, "; policy %s;\n", policy_verdict_name(c->policy_stated ? c->policy : VERDICT_ACCEPT));
	if (c->is_offload)
		buf_printf(b, "\t\tflags offload;\n");
}

static void print_chain(struct nft_print *p, enum nft_family fam, const struct nft_chain *c)
{
	buf_printf(&p->b, "\tchain %.*s {", STR_ARG(c->name));
	print_handle(&p->b, c->handle);
	buf_printf(&p->b, "\n");
	print_comment(&p->b, "\t\t", c->comment);
	if (c->is_base)
		print_base(&p->b, fam, c);
	for (size_t i = 0; i < c->rules.n; i++) {
		buf_printf(&p->b, "\t\t");
		print_rule(p, c->rules.v[i]);
		buf_printf(&p->b, "\n");
	}
	buf_printf(&p->b, "\t}\n");
}

/* ---------- tables ---------- */

static void print_flowtable(struct nft_print *p, enum nft_family fam, const struct nft_flowtable *ft)
{
	struct buf *b = &p->b;

	buf_printf(b, "\tflowtable %.*s {", STR_ARG(ft->name));
	print_handle(b, ft->handle);
	buf_printf(b, "\n");
	if (ft->has_hook) {
		buf_printf(b, "\t\thook ingress priority ");
		print_priority(b, fam, HOOK_INGRESS, ft->priority);
		buf_printf(b, "\n");
	}
	for (size_t i = 0; i < ft->devices.n; i++)
		buf_printf(b, "%s\"%.*s\"", i ? ", " : "\t\tdevices = { ", STR_ARG(ft->devices.v[i]));
	buf_printf(b, "%s", ft->devices.n ? " }\n" : "");
	buf_printf(b, "%s%s\t}\n", ft->is_offload ? "\t\tflags offload\n" : "", ft->has_counter ? "\t\tcounter\n" : "");
}

static void print_table(struct nft_print *p, const struct nft_table *t)
{
	buf_printf(&p->b, "table %s %.*s {", nft_family_name(t->family), STR_ARG(t->name));
	print_handle(&p->b, t->handle);
	buf_printf(&p->b, "\n");
	print_comment(&p->b, "\t", t->comment);
	if (t->is_dormant)
		buf_printf(&p->b, "\tflags dormant\n");
	for (size_t i = 0; i < t->objects.n; i++)
		print_object(p, t->objects.v[i]);
	for (size_t i = 0; i < t->sets.n; i++)
		if (!t->sets.v[i]->is_meter) /* the rule with the meter makes it */
			nft_print_set(p, t->sets.v[i]);
	for (size_t i = 0; i < t->flowtables.n; i++)
		print_flowtable(p, t->family, t->flowtables.v[i]);
	for (size_t i = 0; i < t->chains.n; i++)
		print_chain(p, t->family, t->chains.v[i]);
	buf_printf(&p->b, "}\n");
}

struct str nft_print_file(struct arena *a, const struct nft_file *f, bool with_counts)
{
	struct nft_print p = { .b.a = a, .with_counts = with_counts };

	for (size_t i = 0; i < f->tables.n; i++)
		print_table(&p, f->tables.v[i]);
	return buf_str(&p.b);
}

struct str nft_print_rule(struct arena *a, const struct nft_rule *r)
{
	struct nft_print p = { .b.a = a };

	print_rule(&p, r);
	return buf_str(&p.b);
}
