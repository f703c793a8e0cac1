/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet of an established connection that the tracker does not know: may its destination be translated?
 *
 *     -A POSTROUTING -o eth0 -j MASQUERADE
 *     in=eth0 out=eth1 tcp 198.51.100.7:443 > 192.0.2.1:40000 ct=established
 *
 * If it answers a connection that this rule translated, the forward chain sees another destination than 192.0.2.1. The
 * rules tell where that is possible: a reply goes to an address that a source translation gives, and comes from where
 * its rule was about; a packet in the first one's direction is one that a destination translation's rule is about. Of
 * those rules' tests only addresses, ports, protocol and interface are looked at; what else they ask may have held.
 * Where it is possible, the way forks, and on one way the destination and its port are unknown.
 *
 * A line that says in= alone tells that the packet is for this machine (path.c), so replies to others are not thought of.
 */
#include "eval/walk.h"

#include <linux/rtnetlink.h>

/* What the packet may be to the connection. */
enum part { PART_FIRST, PART_REPLY, PART_ERROR };

/* The field of a reply that shows what the first packet had in f; FIELD_COUNT: none does. */
static enum field reversed(enum field f)
{
	switch (f) {
	case FIELD_DST:
		return FIELD_SRC;
	case FIELD_DPORT:
		return FIELD_SPORT;
	case FIELD_OIF:
		return FIELD_IIF;
	case FIELD_PROTO:
		return f;
	default:
		return FIELD_COUNT;
	}
}

static enum field shows(enum field f, enum part part)
{
	bool is_kept = f == FIELD_SRC || f == FIELD_DST || f == FIELD_SPORT || f == FIELD_DPORT || f == FIELD_PROTO ||
		       f == FIELD_IIF || f == FIELD_OIF;

	if (part == PART_REPLY)
		return reversed(f);
	if (part == PART_ERROR)
		is_kept = f == FIELD_DST;
	return is_kept ? f : FIELD_COUNT;
}

/* Could the first packet have passed this test? f shows its value. */
static bool may_pass(const struct walk *w, const struct test *t, enum field f)
{
	if (f == FIELD_COUNT || w->f.has[f] != EVAL_YES || !w->f.known[f])
		return true;
	return test_value(t, 0, w->f.v[f]) != t->negated;
}

static bool may_match(const struct walk *w, const struct rule *r, enum part part)
{
	for (uint32_t i = 0; i < r->n_steps && r->step[i].kind == STEP_TEST; i++) {
		const struct test *t = &r->step[i].test;

		if ((t->kind != TEST_IN && t->kind != TEST_MASK) || t->n_fields != 1)
			continue;
		if (!may_pass(w, t, shows(t->field[0], part)))
			return false;
	}
	return true;
}

/* Does the packet go to what this source translation gives? */
static bool may_be_given(const struct walk *w, const struct effect *ef)
{
	const struct nat_spec *n = ef->nat;
	u128 dst = w->f.v[FIELD_DST], port = w->f.v[FIELD_DPORT];
	bool port_known = w->f.has[FIELD_DPORT] == EVAL_YES && w->f.known[FIELD_DPORT];

	if (!w->f.known[FIELD_DST])
		return true;
	if (ef->kind == EFFECT_NETMAP)
		return (dst & n->addr_hi) == (n->addr_lo & n->addr_hi);
	if (n && n->has_port && port_known && (port < n->port_lo || port > n->port_hi))
		return false;
	if (ef->kind == EFFECT_MASQUERADE) {
		int type = test_addr_type(w, dst);

		return type < 0 || type == RTN_LOCAL;
	}
	return !n || !n->has_addr || (dst >= n->addr_lo && dst <= n->addr_hi);
}

static bool is_translation(const struct step *s)
{
	return s->kind == STEP_EFFECT && s->effect.kind >= EFFECT_SNAT && s->effect.kind <= EFFECT_NETMAP;
}

/* The rule's n-th translation, of its own or of a map; NULL: there are no more. */
static const struct effect *translation_of(const struct rule *r, uint32_t n)
{
	for (uint32_t i = 0; i < r->n_steps; i++) {
		const struct map *m = r->step[i].kind == STEP_MAP ? r->step[i].map->map : NULL;

		if (is_translation(&r->step[i]) && n-- == 0)
			return &r->step[i].effect;
		for (uint32_t k = 0; m && k < m->n_outcomes; k++)
			if (is_translation(&m->outcome[k]) && n-- == 0)
				return &m->outcome[k].effect;
	}
	return NULL;
}

/* A base chain's rules are asked at its own hook; those of other chains may be asked at any. */
static bool is_asked_at(const struct rule *r, enum hook a, enum hook b)
{
	return r->chain->hook == HOOK_NONE || r->chain->hook == a || r->chain->hook == b;
}

static bool may_translate(const struct walk *w, const struct rule *r, const struct effect *ef, bool is_error)
{
	bool is_src, is_dst, says_here = w->hook == HOOK_PREROUTING && !w->says_forward;

	if (r->chain->family != w->f.family)
		return false;
	is_src = ef->kind == EFFECT_SNAT || ef->kind == EFFECT_MASQUERADE || ef->kind == EFFECT_NETMAP;
	is_dst = !is_src || ef->kind == EFFECT_NETMAP;
	is_src &= !says_here && is_asked_at(r, w->hook == HOOK_OUTPUT ? HOOK_INPUT : HOOK_POSTROUTING, HOOK_INPUT);
	is_dst &= is_asked_at(r, w->hook, w->hook);
	if (is_src && may_be_given(w, ef) && (is_error || may_match(w, r, PART_REPLY)))
		return true;
	return is_dst && may_match(w, r, is_error ? PART_ERROR : PART_FIRST);
}

static bool any_translates(const struct walk *w, bool is_error)
{
	for (size_t i = 0; i < w->e->translating.n; i++) {
		const struct rule *r = w->e->rs->rules.v[w->e->translating.v[i]];
		const struct effect *ef;

		for (uint32_t n = 0; (ef = translation_of(r, n)); n++)
			if (may_translate(w, r, ef, is_error))
				return true;
	}
	return false;
}

bool binding_is_made_by(const struct rule *r)
{
	return r->chain->is_nat && translation_of(r, 0);
}

void binding_guess(struct walk *w)
{
	bool is_icmp = w->f.has[FIELD_ICMP] != EVAL_NO || w->f.has[FIELD_ICMP6] != EVAL_NO;

	if (w->is_bound || w->tracked || !w->ct_done || w->is_dst_nat || !w->e->translating.n)
		return;
	w->is_bound = true;
	if (!any_translates(w, is_icmp) ||
	    conn_state_in(w, 1 << CT_ESTABLISHED | (is_icmp ? 1u << CT_RELATED : 0),
			  "whether the packet's connection is established") != EVAL_YES)
		return;
	if (!fork_choose(w, "whether the packet's destination is translated as its connection's is not known"))
		return;
	walk_note(w, "the destination may be translated as the connection's is");
	nat_write(w, true, NULL, NULL);
}
