/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Actions of a filter, in order, each with what it answers: `pipe` goes on to the next action, the others end the list.
 *
 *     action skbedit mark 7 pipe action drop
 *     action mirred egress redirect dev eth1
 *     police rate 1mbit burst 10k drop          drop is what happens to what is over the rate
 */
#include "lang/tc/parse.h"

static const struct {
	const char *name;
	enum tc_control control;
} controls[] = {
	{ "ok", TC_OK },	     { "pass", TC_OK },	      { "drop", TC_DROP }, { "shot", TC_DROP },
	{ "continue", TC_CONTINUE }, { "pipe", TC_PIPE },     { "trap", TC_STOLEN }, { "stolen", TC_STOLEN },
	{ "reclassify", TC_RECLASSIFY },
};
static const char *const control_names[] = { "pipe", "pass", "drop", "continue", "reclassify", "trap" };

static bool take_control(struct tc_parse *p, enum tc_control *out)
{
	for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
		if (tc_take(p, controls[i].name)) {
			*out = controls[i].control;
			return true;
		}
	return false;
}

static bool take_index(struct tc_parse *p, struct buf *b)
{
	uint64_t v;

	if (!tc_take(p, "index"))
		return true;
	if (!tc_number(p, 0, UINT32_MAX, "an index", &v))
		return false;
	buf_printf(b, " index %llu", (unsigned long long)v);
	return true;
}

static bool take_mirred(struct tc_parse *p, struct tc_action *x, struct buf *b)
{
	bool is_egress = tc_take(p, "egress"), is_redirect;
	const struct tc_word *dev;

	if (!is_egress && !tc_take(p, "ingress")) {
		diag_error(p->d, tc_here(p), "mirred needs ingress or egress");
		return false;
	}
	is_redirect = tc_take(p, "redirect");
	if (!is_redirect && !tc_take(p, "mirror")) {
		diag_error(p->d, tc_here(p), "mirred needs redirect or mirror");
		return false;
	}
	if (!tc_take(p, "dev")) {
		diag_error(p->d, tc_here(p), "mirred needs dev NAME");
		return false;
	}
	dev = tc_next(p, "a device");
	if (!dev)
		return false;
	buf_printf(b, "mirred %s %s dev %.*s", is_egress ? "egress" : "ingress", is_redirect ? "redirect" : "mirror",
		   STR_ARG(dev->text));
	x->control = is_redirect ? TC_STOLEN : TC_PIPE;
	return true;
}

/* mark V[/M], and others that change nothing that a filter sees */
static bool take_skbedit(struct tc_parse *p, struct tc_action *x, struct buf *b)
{
	static const char *const others[] = { "priority", "queue_mapping", "ptype" };
	bool any = false;

	buf_printf(b, "skbedit");
	for (;; any = true) {
		unsigned i = 0;

		if (tc_take(p, "mark")) {
			const struct tc_word *w = tc_next(p, "a mark");
			struct str mask;
			uint64_t v, m = UINT32_MAX;
			bool has_mask;

			if (!w)
				return false;
			if (!str_u64(str_cut(w->text, '/', &mask, &has_mask), 0, UINT32_MAX, &v) ||
			    (has_mask && !str_u64(mask, 0, UINT32_MAX, &m))) {
				diag_error(p->d, w->at, "'%.*s' is not a mark: VALUE[/MASK]", STR_ARG(w->text));
				return false;
			}
			x->has_mark = true;
			x->mark = (uint32_t)(v & m);
			x->mark_mask = (uint32_t)m;
			buf_printf(b, has_mask ? " mark %llu/0x%llx" : " mark %llu", (unsigned long long)v, (unsigned long long)m);
			continue;
		}
		while (i < 3 && !tc_is(p, others[i]))
			i++;
		if (i == 3)
			break;
		p->i++;
		const struct tc_word *w = tc_next(p, "a value");

		if (!w)
			return false;
		buf_printf(b, " %s %.*s", others[i], STR_ARG(w->text));
	}
	if (!any)
		diag_error(p->d, tc_here(p), "skbedit needs mark, priority, queue_mapping or ptype");
	return any;
}

/* rate R burst B [mtu M] ... [conform-exceed E[/OK]] | drop, ... */
static bool take_police(struct tc_parse *p, struct tc_action *x, struct buf *b)
{
	static const char *const with_value[] = { "rate", "burst", "buffer", "maxburst", "mtu", "minburst", "peakrate", "avrate",
						  "overhead", "linklayer", "mpu", "pkts_rate", "pkts_burst" };
	bool any = false;

	buf_printf(b, "police");
	x->control = TC_RECLASSIFY;
	for (;; any = true) {
		size_t i = 0, n = sizeof with_value / sizeof *with_value;

		while (i < n && !tc_is(p, with_value[i]))
			i++;
		if (i == n)
			break;
		p->i++;
		const struct tc_word *w = tc_next(p, "a value");

		if (!w)
			return false;
		buf_printf(b, " %s %.*s", with_value[i], STR_ARG(w->text));
	}
	if (!any) {
		diag_error(p->d, tc_here(p), "police needs rate R burst B");
		return false;
	}
	if (tc_take(p, "conform-exceed") && !take_control(p, &x->control)) {
		diag_hint(p->d, diag_error(p->d, tc_here(p), "conform-exceed needs one action: the one for what is over the rate"),
			  "what is within the rate passes");
		return false;
	}
	take_control(p, &x->control);
	buf_printf(b, " conform-exceed %s", control_names[x->control]);
	return true;
}

static bool take_one(struct tc_parse *p, struct tc_action *x, struct buf *b)
{
	static const char *const known[] = { "pedit", "csum", "nat",	"vlan",	 "ct",	   "connmark", "bpf", "simple", "sample",
					     "ife",   "gate", "skbmod", "mpls", "tunnel_key", "ctinfo",	  "xt",	 "ipt",	   "jump", "goto" };
	static const char *const read[] = { "ok", "pass", "drop", "shot", "continue", "pipe", "reclassify", "trap", "mirred",
					    "skbedit", "police", "gact" };
	const struct tc_word *w;
	const char *near;
	struct diag *g;

	x->at = tc_here(p);
	x->kind = TC_ACTION_GACT;
	x->control = TC_PIPE;
	tc_take(p, "gact");
	if (take_control(p, &x->control)) {
		buf_printf(b, "%s", control_names[x->control]);
		return true;
	}
	w = tc_next(p, "an action");
	if (!w)
		return false;
	x->kind = str_is(w->text, "mirred") ? TC_ACTION_MIRRED : str_is(w->text, "skbedit") ? TC_ACTION_SKBEDIT : TC_ACTION_POLICE;
	if (x->kind == TC_ACTION_MIRRED)
		return take_mirred(p, x, b);
	if (x->kind == TC_ACTION_SKBEDIT)
		return take_skbedit(p, x, b);
	if (str_is(w->text, "police"))
		return take_police(p, x, b);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_is(w->text, known[i])) {
			diag_hint(p->d, diag_error(p->d, w->at, "the action '%s' is not read", known[i]),
				  "pass, drop, continue, pipe, reclassify, trap, mirred, skbedit and police are");
			return false;
		}
	near = str_nearest(w->text, read, sizeof read / sizeof *read);
	g = diag_error(p->d, w->at, "there is no action '%.*s'", STR_ARG(w->text));
	if (near)
		diag_hint(p->d, g, "did you mean '%s'?", near);
	return false;
}

bool tc_action(struct tc_parse *p, bool is_police)
{
	struct tc_action x = { 0 };
	struct buf b = { .a = p->a };
	enum tc_control usual;

	if (is_police)
		p->i--; /* the word is the action's name, too */
	if (!take_one(p, &x, &b))
		return false;
	usual = x.control;
	if (x.kind == TC_ACTION_MIRRED || x.kind == TC_ACTION_SKBEDIT) {
		take_control(p, &x.control);
		if (usual != x.control)
			buf_printf(&b, " %s", control_names[x.control]);
	}
	if (!take_index(p, &b))
		return false;
	x.at.len = p->line->w[p->i - 1].at.off + p->line->w[p->i - 1].at.len - x.at.off;
	x.text = buf_str(&b);
	*vec_add(p->a, &p->f->actions) = x;
	return true;
}
