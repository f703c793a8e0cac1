/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Statements that keep something between packets: counter, limit, quota, last, ct count; alone, in sets, and as objects. */
#include "lang/nft/parse.h"

/* bytes, kbytes, mbytes: behind a number */
static bool byte_unit(struct str s, uint64_t *unit)
{
	*unit = str_is(s, "bytes") ? 1 : str_is(s, "kbytes") ? 1024 : str_is(s, "mbytes") ? 1024 * 1024 : str_is(s, "gbytes") ? 1024u * 1024 * 1024 : 0;
	return *unit != 0;
}

static bool time_unit(struct str s, uint64_t *seconds)
{
	*seconds = str_is(s, "second") ? 1 : str_is(s, "minute") ? 60 : str_is(s, "hour") ? 3600 : str_is(s, "day") ? 86400 : str_is(s, "week") ? 604800 : 0;
	return *seconds != 0;
}

/* 25 mbytes. false: an error. */
static bool bytes(struct nft_parse *p, uint64_t *v)
{
	uint64_t unit;

	if (!nft_need_number(p, "a number of bytes", UINT64_MAX / 4096 / 1024 / 1024, v))
		return false;
	if (!nft_is(p, NFT_TOK_WORD) || !byte_unit(nft_token_text(nft_peek(p)), &unit))
		return nft_expected(p, "bytes, kbytes or mbytes");
	nft_next(p);
	*v *= unit;
	return true;
}

static bool take_over(struct nft_parse *p)
{
	return nft_take_word(p, "over") || (nft_take_word(p, "until") && false);
}

/* "10/second", "10 mbytes/second", where the scanner may have kept "mbytes/second" together */
static bool rate(struct nft_parse *p, struct nft_stmt *s)
{
	struct str unit = { 0 }, rest = { 0 };
	uint64_t factor;
	bool has_slash = false;

	if (!nft_need_number(p, "a rate", UINT32_MAX, &s->limit.rate))
		return false;
	if (s->limit.rate == 0)
		nft_error(p, nft_token_loc(nft_peek(p)), "a rate must be above 0");
	if (nft_is(p, NFT_TOK_WORD)) {
		unit = str_cut(nft_token_text(nft_peek(p)), '/', &rest, &has_slash);
		if (!str_is(unit, "packets") && !byte_unit(unit, &factor))
			return nft_expected(p, "'/' and second, minute, hour, day or week");
		s->limit.by_bytes = !str_is(unit, "packets");
		if (s->limit.by_bytes)
			s->limit.rate *= factor;
		nft_next(p);
	}
	if (!has_slash || rest.n == 0) {
		if (!has_slash && !nft_need(p, '/'))
			return false;
		rest = nft_is(p, NFT_TOK_WORD) ? nft_token_text(nft_peek(p)) : STR("");
		if (!time_unit(rest, &s->limit.unit_s))
			return nft_expected(p, "second, minute, hour, day or week");
		nft_next(p);
		return true;
	}
	if (!time_unit(rest, &s->limit.unit_s))
		nft_error(p, s->at, "'%.*s' is none of second, minute, hour, day and week", STR_ARG(rest));
	return true;
}

bool nft_stmt_limit_body(struct nft_parse *p, struct nft_stmt *s)
{
	uint64_t unit;

	if (!nft_need_word(p, "rate"))
		return false;
	s->limit.over = take_over(p);
	if (!rate(p, s))
		return false;
	if (!nft_take_word(p, "burst"))
		return true;
	s->limit.has_burst = true;
	if (!nft_need_number(p, "a burst", UINT32_MAX, &s->limit.burst))
		return false;
	if (nft_take_word(p, "packets"))
		return !s->limit.by_bytes || nft_expected(p, "a burst in bytes, as the rate is");
	if (nft_is(p, NFT_TOK_WORD) && byte_unit(nft_token_text(nft_peek(p)), &unit)) {
		if (!s->limit.by_bytes)
			return nft_expected(p, "a burst in packets, as the rate is");
		nft_next(p);
		s->limit.burst *= unit;
		return true;
	}
	return nft_expected(p, s->limit.by_bytes ? "bytes, kbytes or mbytes" : "packets");
}

bool nft_stmt_quota_body(struct nft_parse *p, struct nft_stmt *s)
{
	s->quota.over = take_over(p);
	if (!bytes(p, &s->quota.bytes))
		return false;
	if (!nft_take_word(p, "used"))
		return true;
	s->quota.has_used = true;
	return bytes(p, &s->quota.used);
}

bool nft_stmt_counter_body(struct nft_parse *p, struct nft_stmt *s)
{
	if (!nft_take_word(p, "packets"))
		return true;
	s->counter.has_values = true;
	return nft_need_number(p, "a number of packets", UINT64_MAX, &s->counter.packets) && nft_need_word(p, "bytes") &&
	       nft_need_number(p, "a number of bytes", UINT64_MAX, &s->counter.bytes);
}

static bool ct_count_body(struct nft_parse *p, struct nft_stmt *s)
{
	uint64_t v;

	s->ct_count.over = take_over(p);
	if (!nft_need_number(p, "a number of connections", UINT32_MAX, &v))
		return false;
	s->ct_count.count = (uint32_t)v;
	return true;
}

static bool last_body(struct nft_parse *p)
{
	uint64_t ms;

	return !nft_take_word(p, "used") || nft_time(p, &ms);
}

static bool is_ct_count(struct nft_parse *p)
{
	const struct nft_token *t = nft_peek2(p);

	return nft_is_word(p, "ct") && t->kind == NFT_TOK_WORD && str_is(nft_token_text(t), "count");
}

bool nft_stmt_stateful_is_next(struct nft_parse *p)
{
	return nft_is_word(p, "counter") || nft_is_word(p, "limit") || nft_is_word(p, "quota") || nft_is_word(p, "last") || is_ct_count(p);
}

struct nft_stmt *nft_stmt_stateful(struct nft_parse *p)
{
	struct str word = nft_token_text(nft_peek(p));
	struct nft_stmt *s = nft_stmt_new(p, NFT_STMT_COUNTER, nft_token_loc(nft_next(p)));
	bool is_good;

	s->kind = str_is(word, "limit")	  ? NFT_STMT_LIMIT
		  : str_is(word, "quota") ? NFT_STMT_QUOTA
		  : str_is(word, "last")  ? NFT_STMT_LAST
		  : str_is(word, "ct")	  ? NFT_STMT_CT_COUNT
					  : NFT_STMT_COUNTER;
	if (s->kind != NFT_STMT_LAST && s->kind != NFT_STMT_CT_COUNT && nft_take_word(p, "name"))
		return nft_stmt_named(p, s->kind, s->kind == NFT_STMT_LIMIT ? NFT_OBJ_LIMIT : s->kind == NFT_STMT_QUOTA ? NFT_OBJ_QUOTA : NFT_OBJ_COUNTER, s->at);
	switch (s->kind) {
	case NFT_STMT_LIMIT:
		is_good = nft_stmt_limit_body(p, s);
		break;
	case NFT_STMT_QUOTA:
		is_good = nft_stmt_quota_body(p, s);
		break;
	case NFT_STMT_LAST:
		is_good = last_body(p);
		break;
	case NFT_STMT_CT_COUNT:
		nft_next(p); /* count */
		is_good = ct_count_body(p, s);
		break;
	default:
		is_good = nft_stmt_counter_body(p, s);
	}
	return is_good ? s : NULL;
}
