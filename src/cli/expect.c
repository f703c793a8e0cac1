/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Expectations of packet lines: `VERDICT [rule N[:M] | policy [CHAIN] | malformed | none] [via N] [mark=N]`, or
 * `unknown [PART OF THE REASON]`. What is not said is not checked.
 */
#include "cli/caserun.h"

#include <ctype.h>

uint32_t expect_rule_number(struct cli *c, const struct case_one *k, const struct rule *r)
{
	uint32_t line, col;

	if (r && r->at.source == k->rules && source_place(&c->sources, r->at, &line, &col))
		for (size_t i = 0; i < k->rule_line.n; i++)
			if (k->rule_line.v[i] == line)
				return (uint32_t)i + 1;
	return 0;
}

static struct str next_word(struct str *rest)
{
	struct str s = str_trim(*rest);
	size_t n = 0;

	while (n < s.n && !isspace((unsigned char)s.p[n]))
		n++;
	*rest = str_trim(str_slice(s, n, s.n));
	return str_slice(s, 0, n);
}

static bool verdict_holds(struct str want, const struct engine_answer *got)
{
	if (str_eq(want, got->verdict))
		return true;
	if (str_is(want, "reject") && str_starts(got->verdict, "reject("))
		return true;
	return got->only_drops && str_starts(want, "reject") && str_is(got->verdict, "drop");
}

static bool number_holds(struct cli *c, const struct case_one *k, struct str want, const struct rule *r)
{
	struct str expansion;
	bool has_expansion;
	uint64_t n, e = 0;

	if (!r || !str_u64(str_cut(want, ':', &expansion, &has_expansion), 10, UINT32_MAX, &n))
		return false;
	if (has_expansion && (!str_u64(expansion, 10, UINT32_MAX, &e) || e != r->expansion))
		return false;
	return n == expect_rule_number(c, k, r);
}

static bool chain_holds(struct str want, const struct chain *ch)
{
	bool has_table;
	struct str name, table = str_cut(want, '/', &name, &has_table);

	return has_table ? str_eq(table, ch->table) && str_eq(name, ch->name) : str_eq(want, ch->name);
}

static bool is_keyword(struct str s)
{
	return s.n == 0 || str_is(s, "via") || str_starts(s, "mark=");
}

static bool policy_holds(struct str *rest, const struct engine_answer *got)
{
	struct str after = *rest, name = next_word(&after);
	bool holds = !got->rule && got->chain;

	if (is_keyword(name))
		return holds;
	*rest = after;
	return holds && chain_holds(name, got->chain);
}

static bool mark_holds(struct str want, const struct engine_answer *got)
{
	uint64_t mark;

	return str_u64(want, 0, UINT32_MAX, &mark) && got->mark_known && mark == got->mark;
}

bool expect_packet_holds(struct cli *c, const struct case_one *k, struct str expect, const struct engine_answer *got,
			 struct str *why)
{
	struct str rest = expect, word = next_word(&rest);

	*why = got->why;
	if (!verdict_holds(word, got))
		return false;
	if (str_is(word, "unknown"))
		return rest.n == 0 || memmem(got->why.p, got->why.n, rest.p, rest.n) != NULL;
	while (rest.n) {
		bool holds;

		word = next_word(&rest);
		if (str_is(word, "rule")) {
			holds = number_holds(c, k, next_word(&rest), got->rule);
		} else if (str_is(word, "policy")) {
			holds = policy_holds(&rest, got);
		} else if (str_is(word, "via")) {
			holds = number_holds(c, k, next_word(&rest), got->via);
		} else if (str_is(word, "malformed")) {
			holds = got->is_malformed;
		} else if (str_is(word, "none")) {
			holds = !got->rule && !got->chain && !got->is_malformed;
		} else if (str_starts(word, "mark=")) {
			holds = mark_holds(str_slice(word, 5, word.n), got);
		} else {
			*why = arena_printf(c->run, "'%.*s' is not something to expect", STR_ARG(word));
			return false;
		}
		if (!holds)
			return false;
	}
	return true;
}

static bool says(struct str expect, const char *part)
{
	return memmem(expect.p, expect.n, part, strlen(part)) != NULL;
}

struct str expect_packet_text(struct cli *c, const struct case_one *k, struct str expect,
			      const struct engine_answer *got)
{
	struct buf b = { .a = c->run };

	buf_printf(&b, "%.*s", STR_ARG(got->verdict));
	if (str_is(got->verdict, "unknown")) {
		if (got->why.n)
			buf_printf(&b, "  %.*s", STR_ARG(got->why));
		return buf_str(&b);
	}
	if (got->is_malformed)
		buf_printf(&b, "  malformed");
	else if (got->rule && got->rule->expansion && says(expect, ":"))
		buf_printf(&b, "  rule %u:%u", expect_rule_number(c, k, got->rule), got->rule->expansion);
	else if (got->rule)
		buf_printf(&b, "  rule %u", expect_rule_number(c, k, got->rule));
	else if (!got->chain)
		buf_printf(&b, "  none");
	else if (says(expect, "/"))
		buf_printf(&b, "  policy %.*s/%.*s", STR_ARG(got->chain->table), STR_ARG(got->chain->name));
	else if (says(expect, "policy "))
		buf_printf(&b, "  policy %.*s", STR_ARG(got->chain->name));
	else
		buf_printf(&b, "  policy");
	if (got->via && says(expect, "via"))
		buf_printf(&b, " via %u", expect_rule_number(c, k, got->via));
	if (got->mark_known && says(expect, "mark="))
		buf_printf(&b, "  mark=0x%x", got->mark);
	return buf_str(&b);
}
