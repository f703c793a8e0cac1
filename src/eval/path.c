/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet's way: which hooks it passes, and what is known at each.
 *
 *     in=        prerouting, input; with `forwarding yes` in the environment, or after a DNAT, the destination decides
 *     in= out=   prerouting, forward, postrouting
 *     out=       output, postrouting
 *     neither    any of the three: known only if all end alike
 *
 * What a hook can see is what the kernel passes to it: no output interface before routing, no input interface for the
 * machine's own packets, no socket for others' packets, no Ethernet header for its own. A forwarded packet has its TTL
 * taken down by one before the forward hook.
 */
#include "eval/walk.h"

#include <linux/rtnetlink.h>

/* The field is as the packet says, or as it was narrowed since. */
static void show(struct walk *w, enum field f)
{
	const struct guess *g = w->guess[f];

	if (w->f.has[f] == EVAL_NO && w->read->has[f] != EVAL_NO) {
		w->f.has[f] = w->read->has[f];
		w->f.known[f] = w->read->known[f];
		w->f.v[f] = w->read->v[f];
	}
	if (g)
		guess_narrow(w, f, g);
}

/* It is absent here; what is known of it stays, for a later hook. */
static void hide(struct walk *w, enum field f)
{
	w->f.has[f] = EVAL_NO;
	w->f.known[f] = 0;
}

static void show_if(struct walk *w, enum field f, bool is_here)
{
	if (is_here)
		show(w, f);
	else
		hide(w, f);
}

/* There is an interface at this hook; its name may be unknown. */
static void show_iface(struct walk *w, enum field f, enum field group, bool is_here)
{
	const struct env_iface *e = NULL;
	bool is_in = f == FIELD_IIF;

	show_if(w, f, is_here);
	show_if(w, group, is_here);
	if (!is_here)
		return;
	if (w->f.has[f] != EVAL_YES) {
		struct valset any = valset_one(w->a, 0, field_max(f));

		guess_values(w, f, &any, false);
	}
	if (is_in ? w->p->has_iif : w->p->has_oif && !w->dst_changed)
		e = env_iface_find(w->e->opt.env, is_in ? w->p->iif : w->p->oif);
	if (e && e->has_group)
		guess_put(w, group, e->group);
	else if (!w->guess[group])
		guess_forget(w, group);
}

static void enter_sockets(struct walk *w, bool is_local)
{
	show_if(w, FIELD_UID, is_local);
	show_if(w, FIELD_GID, is_local);
	show(w, FIELD_HAS_SOCKET);
	if (!is_local)
		guess_put(w, FIELD_HAS_SOCKET, 0);
}

/* IP drops what is for another machine before any hook; so a frame to one station is for this one. */
static void enter_pkttype(struct walk *w, bool is_local)
{
	const struct facts *f = w->read;

	if (w->p->pkttype >= 0)
		return;
	if (is_local || (f->has[FIELD_MAC_DST] == EVAL_YES && f->known[FIELD_MAC_DST] && !f->known[FIELD_PKTTYPE]))
		guess_put(w, FIELD_PKTTYPE, 0);
}

static void enter(struct walk *w, enum hook hook)
{
	bool is_local = hook == HOOK_OUTPUT || (hook == HOOK_POSTROUTING && !w->is_forwarded);
	bool has_in = !is_local, has_out = hook != HOOK_PREROUTING && hook != HOOK_INPUT;

	w->hook = hook;
	show_iface(w, FIELD_IIF, FIELD_IIF_GROUP, has_in);
	show_iface(w, FIELD_OIF, FIELD_OIF_GROUP, has_out);
	show_if(w, FIELD_PHYSIN, has_in);
	show_if(w, FIELD_PHYSOUT, has_in && has_out);
	show_if(w, FIELD_MAC_SRC, has_in);
	show_if(w, FIELD_MAC_DST, has_in);
	show_if(w, FIELD_ETHERTYPE, has_in);
	show_if(w, FIELD_REALM, hook != HOOK_PREROUTING);
	enter_sockets(w, is_local);
	enter_pkttype(w, is_local);
	w->guess[FIELD_SRC_TYPE] = w->guess[FIELD_DST_TYPE] = NULL;
	if (hook == HOOK_PREROUTING || hook == HOOK_OUTPUT)
		conn_before(w);
	else if (!w->ct_done)
		conn_enter(w);
}

/* The hook's verdict. A malformed packet is dropped (or let through) by the first hook where a chain would judge it. */
static enum verdict at_hook(struct walk *w, enum hook hook)
{
	enter(w, hook);
	if (w->f.is_malformed && w->e->base[w->f.family][hook].n) {
		w->out->why = str_from(w->f.malformed);
		walk_note(w, "malformed: %s", w->f.malformed);
		return w->e->opt.malformed_accept ? VERDICT_ACCEPT : VERDICT_DROP;
	}
	return walk_hook(w, hook);
}

/* ---------- the three ways ---------- */

static enum verdict forward(struct walk *w)
{
	enum verdict v;

	w->is_forwarded = true;
	if (w->f.has[FIELD_TTL] == EVAL_YES && w->f.known[FIELD_TTL]) {
		u128 ttl = w->f.v[FIELD_TTL];

		if (ttl <= 1)
			walk_note(w, "the TTL is %u: a router answers \"time exceeded\" and forwards nothing", (unsigned)ttl);
		ttl = ttl ? ttl - 1 : 0;
		guess_put(w, FIELD_TTL, ttl);
		effect_patch(w, w->f.family == FAMILY_IP4 ? 8 : 7, 1, &ttl);
	}
	v = at_hook(w, HOOK_FORWARD);
	return v == VERDICT_ACCEPT && !w->has_given_up ? at_hook(w, HOOK_POSTROUTING) : v;
}

/* After prerouting, with no output interface given: is the packet for this machine? */
static bool is_for_us(struct walk *w)
{
	const struct env *env = w->e->opt.env;
	int type = w->f.known[FIELD_DST] ? test_addr_type(w, w->f.v[FIELD_DST]) : -1;

	if (w->is_redirected)
		return true;
	if (!w->dst_changed && !(env && env->forwarding))
		return true;
	if (type == RTN_LOCAL || type == RTN_BROADCAST || type == RTN_MULTICAST || type == RTN_ANYCAST)
		return true;
	if (type == RTN_UNICAST && env && env->forwarding)
		return false;
	return !fork_choose(w, "whether the packet is for this machine or forwarded is not known; out= or --env says it");
}

/* Did a rule give a packet that was to be forwarded a destination on this machine? */
static bool is_turned_to_us(struct walk *w)
{
	bool is_ours = w->is_redirected || (w->dst_changed && w->f.known[FIELD_DST] &&
					    test_addr_type(w, w->f.v[FIELD_DST]) == RTN_LOCAL);

	if (is_ours)
		walk_note(w, "the new destination is this machine: not forwarded");
	return is_ours;
}

static enum verdict received(struct walk *w, bool has_out)
{
	enum verdict v;

	w->says_forward = has_out || (w->e->opt.env && w->e->opt.env->forwarding);
	v = at_hook(w, HOOK_PREROUTING);
	if (v != VERDICT_ACCEPT || w->has_given_up)
		return v;
	if (has_out ? is_turned_to_us(w) : is_for_us(w))
		return at_hook(w, HOOK_INPUT);
	return forward(w);
}

static enum verdict sent(struct walk *w)
{
	enum verdict v = at_hook(w, HOOK_OUTPUT);

	if (v != VERDICT_ACCEPT || w->has_given_up)
		return v;
	if (w->is_redirected)
		guess_put(w, FIELD_OIF, field_name_value(STR("lo")));
	else if (w->dst_changed)
		guess_forget(w, FIELD_OIF); /* it was routed again */
	return at_hook(w, HOOK_POSTROUTING);
}

static enum verdict way(struct walk *w)
{
	const struct packet *p = w->p;
	bool has_in = p->has_iif && p->iif[0], has_out = p->has_oif && p->oif[0];

	if (w->e->opt.hook >= 0) {
		w->is_forwarded = w->e->opt.hook == HOOK_FORWARD || (has_in && has_out);
		return at_hook(w, (enum hook)w->e->opt.hook);
	}
	if (has_in || has_out)
		return has_in ? received(w, has_out) : sent(w);
	if (fork_choose(w, "whether the packet is received or sent by this machine is not known; in=, out= or --hook says it"))
		return sent(w);
	return received(w, fork_choose(w, "whether the packet is forwarded is not known; in=, out= or --hook says it"));
}

void path_run(struct walk *w)
{
	enum verdict v = way(w);
	struct eval_result *out = w->out;

	if (w->has_given_up) {
		out->verdict = VERDICT_NONE;
		return;
	}
	out->verdict = v;
	out->is_malformed = w->f.is_malformed && out->why.n != 0;
	out->mark_known = w->f.known[FIELD_MARK];
	out->mark = out->mark_known ? (uint32_t)w->f.v[FIELD_MARK] : 0;
	if (w->e->opt.track)
		track_leave(w, v);
}
