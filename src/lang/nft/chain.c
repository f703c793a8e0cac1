/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains: `type filter hook input priority filter; policy drop;`, devices, flowtables, which hang at hooks, too. */
#include "lang/nft/parse.h"

struct nft_chain *nft_chain_make(struct nft_parse *p, struct nft_table *t, struct str name, struct loc at)
{
	struct nft_chain **slot = (struct nft_chain **)strmap_slot(p->a, &t->chain_by_name, name);

	if (!*slot) {
		*slot = arena_new(p->a, struct nft_chain, 1);
		(*slot)->name = name;
		(*slot)->at = at;
		(*slot)->policy = VERDICT_ACCEPT;
		(*slot)->hook = HOOK_NONE;
		*vec_add(p->a, &t->chains) = *slot;
	}
	return *slot;
}

/* ---------- hooks and priorities ---------- */

static bool hook_is_of(enum nft_family fam, enum hook h)
{
	switch (fam) {
	case NFT_NETDEV: return h == HOOK_INGRESS || h == HOOK_EGRESS;
	case NFT_ARP: return h == HOOK_INPUT || h == HOOK_OUTPUT;
	case NFT_INET: return h < HOOK_IP_COUNT || h == HOOK_INGRESS;
	default: return h < HOOK_IP_COUNT;
	}
}

bool nft_hook(struct nft_parse *p, enum nft_family fam, enum hook *hook)
{
	static const char *const names[] = { "prerouting", "input", "forward", "output", "postrouting", "ingress", "egress" };
	const struct nft_token *t = nft_peek(p);
	const char *near;

	for (unsigned i = 0; i < 7; i++)
		if (nft_take_word(p, names[i])) {
			*hook = i < 5 ? (enum hook)(HOOK_PREROUTING + i) : i == 5 ? HOOK_INGRESS : HOOK_EGRESS;
			if (!hook_is_of(fam, *hook))
				nft_error(p, nft_token_loc(t), "family %s has no hook %s", nft_family_name(fam), names[i]);
			return true;
		}
	near = t->kind == NFT_TOK_WORD ? str_nearest(nft_token_text(t), names, 7) : NULL;
	if (near)
		nft_hint(p, nft_error(p, nft_token_loc(t), "there is no hook '%.*s'", STR_ARG(nft_token_text(t))), "did you mean '%s'?", near);
	else
		nft_expected(p, "a hook: prerouting, input, forward, output, postrouting, ingress or egress");
	return false;
}

static const struct priority_name {
	const char *name;
	int ip, bridge; /* in families of IP, in bridge */
	bool is_ip, is_bridge;
	uint8_t hooks; /* bits of enum hook; 0: any */
} priority_names[] = {
	{ "raw", -300, 0, true, false, 0 },
	{ "mangle", -150, 0, true, false, 0 },
	{ "dstnat", -100, -300, true, true, 1 << HOOK_PREROUTING | 1 << HOOK_OUTPUT },
	{ "filter", 0, -200, true, true, 0 },
	{ "security", 50, 0, true, false, 0 },
	{ "srcnat", 100, 300, true, true, 1 << HOOK_POSTROUTING | 1 << HOOK_INPUT },
	{ "out", 0, 100, false, true, 1 << HOOK_OUTPUT },
};
enum { N_PRIORITIES = sizeof priority_names / sizeof *priority_names };

/* A name's number in a family, at a hook. */
static bool priority_value(struct nft_parse *p, const struct nft_token *t, enum nft_family fam, enum hook hook, int *v)
{
	const char *names[N_PRIORITIES], *near;
	struct str s = nft_token_text(t);

	*v = 0;
	for (size_t i = 0; i < N_PRIORITIES; i++) {
		const struct priority_name *n = &priority_names[i];

		names[i] = n->name;
		if (!str_is(s, n->name))
			continue;
		*v = fam == NFT_BRIDGE ? n->bridge : n->ip;
		if ((fam == NFT_BRIDGE ? !n->is_bridge : !n->is_ip) || ((fam == NFT_NETDEV || fam == NFT_ARP) && strcmp(n->name, "filter")))
			nft_error(p, nft_token_loc(t), "family %s has no priority '%s'", nft_family_name(fam), n->name);
		else if (n->hooks && hook < HOOK_COUNT && !(n->hooks >> hook & 1))
			nft_hint(p, nft_error(p, nft_token_loc(t), "the priority '%s' is not for this hook", n->name), "write the number: %d", *v);
		return true;
	}
	near = str_nearest(s, names, N_PRIORITIES);
	nft_hint(p, nft_error(p, nft_token_loc(t), "there is no priority '%.*s'", STR_ARG(s)),
		 near ? "did you mean '%s'?" : "write a number, or raw, mangle, dstnat, filter, security or srcnat, as 'filter + 10' with blanks", near);
	return true;
}

static bool signed_number(struct nft_parse *p, bool negative, int *v)
{
	uint64_t n;

	if (!nft_need_number(p, "a priority", INT32_MAX, &n))
		return false;
	*v = negative ? -(int)n : (int)n;
	return true;
}

bool nft_priority(struct nft_parse *p, enum nft_family fam, enum hook hook, struct str *text, int *priority)
{
	const struct nft_token *t = nft_peek(p);
	int more = 0;

	if (t->kind == NFT_TOK_POISON)
		return nft_next(p), true;
	if (t->kind != NFT_TOK_WORD && t->kind != NFT_TOK_QUOTED) {
		bool negative = nft_take(p, '-');

		if (!nft_is(p, NFT_TOK_NUMBER))
			return nft_expected(p, "a priority: a number, or raw, mangle, dstnat, filter, security, srcnat");
		if (!signed_number(p, negative, priority))
			return false;
		*text = arena_printf(p->a, "%d", *priority);
		return true;
	}
	nft_next(p);
	priority_value(p, t, fam, hook, priority);
	*text = nft_token_text(t);
	if (nft_is(p, '+') || nft_is(p, '-')) {
		bool negative = nft_next(p)->kind == '-';

		if (!signed_number(p, negative, &more))
			return false;
		*text = arena_printf(p->a, "%.*s %c %d", STR_ARG(*text), negative ? '-' : '+', negative ? -more : more);
		*priority += more;
	}
	return true;
}

/* ---------- devices ---------- */

struct nft_names_list {
	VEC(struct str) all;
};

static bool device_list(struct nft_parse *p, struct nft_names_list *out)
{
	struct str name;

	if (p->depth >= NFT_DEPTH)
		return nft_expected(p, "fewer braces inside each other");
	if (!nft_take(p, '{')) {
		if (!nft_need_name(p, "a device", &name, NULL))
			return false;
		*vec_add(p->a, &out->all) = name;
		return true;
	}
	p->depth++;
	do {
		nft_skip_lines(p);
		if (nft_is(p, '}'))
			break;
		if (nft_is(p, NFT_TOK_POISON))
			nft_next(p);
		else if (!device_list(p, out))
			return false;
		nft_skip_lines(p);
	} while (nft_take(p, ','));
	p->depth--;
	return nft_need(p, '}');
}

/* device X | devices = { X, Y } */
bool nft_devices(struct nft_parse *p, struct nft_chain *c, struct nft_flowtable *ft)
{
	struct nft_names_list list = { { 0 } };

	if (nft_take_word(p, "device")) {
		struct str name;

		if (nft_is(p, '{') ? !device_list(p, &list) : !nft_need_name(p, "a device", &name, NULL))
			return false;
		if (!list.all.n)
			*vec_add(p->a, &list.all) = name;
	} else if (!nft_need_word(p, "devices") || !nft_need(p, '=') || !device_list(p, &list)) {
		return false;
	}
	for (size_t i = 0; i < list.all.n; i++)
		*vec_add(p->a, c ? &c->devices : (__typeof__(&c->devices))&ft->devices) = list.all.v[i];
	return true;
}

/* ---------- the head of a chain ---------- */

static bool type_line(struct nft_parse *p, struct nft_chain *c)
{
	static const char *const types[] = { "filter", "nat", "route" };
	enum nft_family fam = p->table->family;
	unsigned i = 0;

	while (i < 3 && !nft_take_word(p, types[i]))
		i++;
	if (i == 3)
		return nft_expected(p, "filter, nat or route");
	c->is_base = true;
	c->type = (enum nft_chain_type)i;
	c->devices.n = 0;
	if (!nft_need_word(p, "hook") || !nft_hook(p, fam, &c->hook))
		return false;
	if ((nft_is_word(p, "device") || nft_is_word(p, "devices")) && !nft_devices(p, c, NULL))
		return false;
	return nft_need_word(p, "priority") && nft_priority(p, fam, c->hook, &c->priority_text, &c->priority);
}

static bool policy_line(struct nft_parse *p, struct nft_chain *c)
{
	c->policy_stated = true;
	c->policy = nft_is_word(p, "drop") ? VERDICT_DROP : VERDICT_ACCEPT;
	if (!nft_take_word(p, "drop") && !nft_take_word(p, "accept"))
		return nft_expected(p, "accept or drop");
	if (!c->is_base)
		nft_error(p, c->at, "'%.*s' hangs at no hook, so it has no policy", STR_ARG(c->name));
	return true;
}

bool nft_chain_spec_is_next(struct nft_parse *p)
{
	const struct nft_token *t = nft_peek2(p);

	return nft_is_word(p, "type") || nft_is_word(p, "policy") || nft_is_word(p, "devices") || nft_is_word(p, "flags") ||
	       (nft_is_word(p, "comment") && (t->kind == NFT_TOK_QUOTED || t->kind == NFT_TOK_WORD)) ||
	       (nft_is_word(p, "device") && t->kind >= NFT_TOK_WORD);
}

bool nft_chain_spec(struct nft_parse *p, struct nft_chain *c)
{
	if (nft_take_word(p, "type"))
		return type_line(p, c);
	if (nft_take_word(p, "policy"))
		return policy_line(p, c);
	if (nft_take_word(p, "flags"))
		return c->is_offload = true, nft_need_word(p, "offload");
	if (nft_take_word(p, "comment"))
		return nft_need_quoted(p, "a comment in quotes", &c->comment);
	return nft_devices(p, c, NULL);
}

/* ---------- flowtables ---------- */

static bool flowtable_line(struct nft_parse *p, struct nft_flowtable *ft)
{
	enum hook hook = HOOK_NONE;

	if (nft_take_word(p, "hook")) {
		ft->has_hook = true;
		return nft_hook(p, NFT_NETDEV, &hook) && nft_need_word(p, "priority") &&
		       nft_priority(p, p->table->family, HOOK_NONE, &ft->priority_text, &ft->priority);
	}
	if (nft_take_word(p, "flags"))
		return ft->is_offload = true, nft_need_word(p, "offload");
	if (nft_take_word(p, "counter"))
		return ft->has_counter = true;
	if (nft_is_word(p, "devices") || nft_is_word(p, "device"))
		return nft_devices(p, NULL, ft);
	return nft_expected(p, "hook, devices, flags or counter");
}

bool nft_flowtable_block(struct nft_parse *p)
{
	struct nft_flowtable *ft = arena_new(p->a, struct nft_flowtable, 1);

	if (!nft_need_name(p, "a flowtable's name", &ft->name, &ft->at) || !nft_need(p, '{'))
		return false;
	ft->handle = nft_peek(p)->handle;
	*vec_add(p->a, &p->table->flowtables) = ft;
	for (;;) {
		const struct nft_token *from = nft_base(p);

		if (nft_take(p, NFT_TOK_LINE) || nft_take(p, ';'))
			continue;
		if (nft_take(p, '}'))
			return true;
		if (nft_is(p, NFT_TOK_END))
			return nft_expected(p, "'}'");
		if (!flowtable_line(p, ft))
			nft_skip_rest(p, nft_braces_open(from, nft_base(p)));
	}
}
