/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Statements that send packets elsewhere or tell somebody, that change sets, and maps that statements ask. */
#include "lang/nft/parse.h"

/* ---------- maps ---------- */

/* Has the first element two values behind its ':'? The map begins here. */
static bool has_pairs(struct nft_parse *p)
{
	struct nft_mark m = nft_mark(p);
	bool behind = false, pairs = false;

	while (!nft_is(p, NFT_TOK_END) && !nft_is(p, '}') && !(behind && nft_is(p, ','))) {
		behind = behind || nft_is(p, ':');
		pairs = pairs || (behind && nft_is(p, '.'));
		nft_next(p);
	}
	nft_back(p, m);
	return pairs;
}

struct nft_expr *nft_operand_map(struct nft_parse *p, const struct nft_want *w, size_t n_data)
{
	struct nft_expr *e;

	if (!nft_select_is_next(p))
		return nft_operand(p, w, 1);
	e = nft_expr(p);
	if (!e || !nft_take_word(p, "map"))
		return e;
	return nft_map(p, e, w, n_data ? n_data : has_pairs(p) ? 2 : 1);
}

struct nft_expr *nft_object_map(struct nft_parse *p, struct nft_expr *key, enum nft_stmt_object object)
{
	struct nft_want none = { NFT_TYPE_NONE, 0, "" };
	struct nft_expr *e, *lit;

	if (nft_is(p, '@')) {
		e = nft_map(p, key, &none, 1);
		if (e && e->part[1]->set->is_map && e->part[1]->set->data_object != object)
			nft_error(p, e->part[1]->at, "this map has no objects of the kind '%s'", nft_object_name(object));
		return e;
	}
	e = nft_expr_new(p, NFT_MAP, key->at);
	lit = nft_expr_new(p, NFT_SETLIT, nft_token_loc(nft_peek(p)));
	lit->lit = nft_lit_for(p, key, object);
	e->part = arena_new(p->a, struct nft_expr *, 2);
	e->part[0] = key;
	e->part[1] = lit;
	e->n_parts = 2;
	return nft_elems_for(p, lit->lit) ? e : NULL;
}

/* ---------- dynamic sets ---------- */

static bool dyn_key(struct nft_parse *p, struct nft_stmt *s)
{
	struct nft_elem *e = arena_new(p->a, struct nft_elem, 1);
	struct nft_want data[NFT_MAX_KEYS];
	size_t n;

	s->dynset.elem = e;
	e->at = nft_token_loc(nft_peek(p));
	e->key = nft_expr(p);
	if (!e->key || !nft_elem_options(p, e))
		return false;
	if (!nft_take(p, ':'))
		return true;
	if (!s->dynset.set || !s->dynset.set->is_map)
		return nft_expected(p, "'}': this is a set, and not a map");
	n = nft_set_data_wants(p, s->dynset.set, data);
	e->data = s->dynset.set->data.n && s->dynset.set->data.v[0] == NFT_TYPE_VERDICT ? nft_verdict(p) : nft_operand(p, data, n);
	return e->data != NULL;
}

static bool dyn_set(struct nft_parse *p, struct nft_stmt *s)
{
	struct nft_expr *ref = nft_is(p, '@') ? nft_setref(p) : NULL;

	if (!ref)
		return nft_expected(p, "'@' and the name of a set");
	s->dynset.set = ref->set;
	if (ref->set)
		ref->set->is_filled = true;
	return true;
}

/* meter NAME [size N] { key limit ... }: a set that comes with its rule */
static struct nft_stmt *meter(struct nft_parse *p, struct nft_stmt *s)
{
	struct nft_set *set;
	struct str name = STR("");
	struct loc at;
	uint64_t size = 65535;

	nft_next(p);
	s->dynset.op = NFT_DYN_UPDATE;
	if (!nft_is(p, '{') && !nft_need_name(p, "a meter's name", &name, &at))
		return NULL;
	if (nft_take_word(p, "size") && !nft_need_number(p, "a size", UINT32_MAX, &size))
		return NULL;
	if (!nft_need(p, '{') || !dyn_key(p, s) || !nft_need(p, '}'))
		return NULL;
	set = name.n && p->table ? nft_set_find(p->table, name) : NULL;
	if (!set) {
		set = name.n && p->table ? nft_set_make(p, p->table, name, at) : arena_new(p->a, struct nft_set, 1);
		set->is_meter = true;
		set->has_size = true;
		set->size = size;
		set->flags = NFT_SET_DYNAMIC | (s->dynset.elem->has_timeout ? NFT_SET_TIMEOUT : 0u);
		nft_set_key_of(p, set, s->dynset.elem->key);
	}
	s->dynset.set = set;
	return s;
}

struct nft_stmt *nft_stmt_dynset(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_SET, nft_token_loc(nft_peek(p)));
	bool is_old = nft_is_word(p, "set");

	if (nft_is_word(p, "meter"))
		return meter(p, s);
	if (is_old)
		nft_next(p);
	s->dynset.op = nft_is_word(p, "update") ? NFT_DYN_UPDATE : nft_is_word(p, "delete") ? NFT_DYN_DELETE : NFT_DYN_ADD;
	if (!nft_take_word(p, "add") && !nft_take_word(p, "update") && !nft_take_word(p, "delete"))
		return nft_expected(p, "add, update or delete"), NULL;
	if (is_old)
		return dyn_key(p, s) && dyn_set(p, s) ? s : NULL;
	if (nft_is_word(p, "map") || nft_is_word(p, "set"))
		nft_next(p);
	if (!dyn_set(p, s) || !nft_need(p, '{') || !dyn_key(p, s) || !nft_need(p, '}'))
		return NULL;
	return s;
}

/* ---------- dup, fwd ---------- */

static struct nft_expr *device(struct nft_parse *p)
{
	struct nft_want w = { NFT_TYPE_IFACE_INDEX, 32, "a device" };

	return nft_operand(p, &w, 1);
}

static struct nft_expr *address(struct nft_parse *p, bool six)
{
	struct nft_want w = { six ? NFT_TYPE_IPV6_ADDR : NFT_TYPE_IPV4_ADDR, six ? 128 : 32, "an address" };

	return nft_operand_map(p, &w, 1);
}

static struct nft_stmt *dup_fwd(struct nft_parse *p, bool is_fwd)
{
	struct nft_stmt *s = nft_stmt_new(p, is_fwd ? NFT_STMT_FWD : NFT_STMT_DUP, nft_token_loc(nft_next(p)));
	bool netdev = p->table && p->table->family == NFT_NETDEV, has_family = false, six = p->table && p->table->family == NFT_IP6;

	if (is_fwd && (nft_is_word(p, "ip") || nft_is_word(p, "ip6"))) {
		has_family = true;
		six = nft_is_word(p, "ip6");
		nft_next(p);
	}
	if (!nft_need_word(p, "to"))
		return NULL;
	if (netdev && !has_family) {
		s->fwd.device = device(p);
		return s->fwd.device ? s : NULL;
	}
	if (nft_is(p, NFT_TOK_WORD) && memchr(nft_peek(p)->p, ':', nft_peek(p)->len))
		six = true;
	s->fwd.addr = address(p, six);
	if (!s->fwd.addr)
		return NULL;
	if (nft_take_word(p, "device")) {
		s->fwd.device = device(p);
		if (!s->fwd.device)
			return NULL;
	}
	return s;
}

/* ---------- queue ---------- */

static bool queue_flags(struct nft_parse *p, struct nft_stmt *s)
{
	do {
		if (nft_take_word(p, "bypass"))
			s->queue.bypass = true;
		else if (nft_take_word(p, "fanout"))
			s->queue.fanout = true;
		else
			return nft_expected(p, "bypass or fanout");
	} while (nft_take(p, ','));
	return true;
}

static struct nft_stmt *queue(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_QUEUE, nft_token_loc(nft_next(p)));
	struct nft_want w = { NFT_TYPE_INTEGER, 16, "a queue" };

	if (nft_take_word(p, "flags") && !queue_flags(p, s))
		return NULL;
	if (nft_take_word(p, "num")) {
		s->queue.num = nft_value(p, &w);
		if (!s->queue.num)
			return NULL;
	} else if (nft_take_word(p, "to")) {
		s->queue.num = nft_select_is_next(p) ? nft_operand(p, &w, 1) : nft_value(p, &w);
		if (!s->queue.num)
			return NULL;
	}
	if ((nft_is_word(p, "bypass") || nft_is_word(p, "fanout")) && !queue_flags(p, s))
		return NULL;
	return s;
}

/* ---------- the rest ---------- */

bool nft_stmt_synproxy_body(struct nft_parse *p, struct nft_stmt *s)
{
	uint64_t v;

	for (;;) {
		if (nft_take_word(p, "mss")) {
			if (!nft_need_number(p, "a segment size", 65535, &v))
				return false;
			s->synproxy.has_mss = true;
			s->synproxy.mss = (uint16_t)v;
		} else if (nft_take_word(p, "wscale")) {
			if (!nft_need_number(p, "a window scale", 14, &v))
				return false;
			s->synproxy.has_wscale = true;
			s->synproxy.wscale = (uint8_t)v;
		} else if (nft_take_word(p, "timestamp")) {
			s->synproxy.timestamp = true;
		} else if (nft_take_word(p, "sack-perm")) {
			s->synproxy.sack_perm = true;
		} else {
			return true;
		}
	}
}

static struct nft_stmt *synproxy(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_SYNPROXY, nft_token_loc(nft_next(p)));

	if (nft_take_word(p, "name"))
		return nft_stmt_named(p, NFT_STMT_SYNPROXY, NFT_OBJ_SYNPROXY, s->at);
	return nft_stmt_synproxy_body(p, s) ? s : NULL;
}

static struct nft_stmt *flow(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_FLOW, nft_token_loc(nft_next(p)));
	struct loc at;

	if (!nft_take_word(p, "add") && !nft_take_word(p, "offload"))
		return nft_expected(p, "add"), NULL;
	if (!nft_need(p, '@') || !nft_need_name(p, "the name of a flowtable", &s->name, &at))
		return NULL;
	for (size_t i = 0; p->table && i < p->table->flowtables.n; i++)
		if (str_eq(p->table->flowtables.v[i]->name, s->name))
			return s;
	nft_error(p, at, "there is no flowtable '%.*s' in this table", STR_ARG(s->name));
	return s;
}

static struct nft_stmt *reset(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_RESET, nft_token_loc(nft_next(p)));

	if (!nft_is_word(p, "tcp"))
		return nft_expected(p, "tcp option"), NULL;
	s->expr = nft_select(p);
	return s->expr ? s : NULL;
}

static struct nft_stmt *xt(struct nft_parse *p)
{
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_XT, nft_token_loc(nft_next(p)));

	if (!nft_is(p, NFT_TOK_WORD))
		return nft_expected(p, "match, target or watcher"), NULL;
	nft_next(p);
	return nft_need_quoted(p, "a name in quotes", &s->name) ? s : NULL;
}

bool nft_stmt_other_is_next(struct nft_parse *p)
{
	static const char *const words[] = { "dup", "fwd", "notrack", "flow", "synproxy", "reset", "xt" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (nft_is_word(p, words[i]))
			return true;
	return false;
}

struct nft_stmt *nft_stmt_other(struct nft_parse *p)
{
	if (nft_is_word(p, "dup") || nft_is_word(p, "fwd"))
		return dup_fwd(p, nft_is_word(p, "fwd"));
	if (nft_is_word(p, "queue"))
		return queue(p);
	if (nft_is_word(p, "flow"))
		return flow(p);
	if (nft_is_word(p, "synproxy"))
		return synproxy(p);
	if (nft_is_word(p, "reset"))
		return reset(p);
	if (nft_is_word(p, "xt"))
		return xt(p);
	return nft_stmt_new(p, NFT_STMT_NOTRACK, nft_token_loc(nft_next(p)));
}
