/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet's way: which hooks it passes, and what is known at each.
 *
 *     in=        prerouting, input; with `forwarding yes` in the environment, or after a DNAT, the destination decides
 *     in= out=   prerouting, forward, postrouting
 *     out=       output, postrouting
 *     neither    any of the three: known only if all end alike
 *
 * Chains at a device see all frames that it receives before prerouting, and those it sends behind postrouting: ingress and
 * egress. A frame that is not IP passes nothing else.
 *
 * What a hook can see is what the kernel passes to it: no output interface before routing, no input interface for the
 * machine's own packets, no socket for others' packets, no Ethernet header for its own but at egress, where a forwarded
 * packet has another one than it came with. A forwarded packet has its TTL taken down by one before the forward hook.
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

/* At egress: the header that the packet leaves with. The line shows it only of what this machine sends itself. */
static void enter_egress(struct walk *w, bool is_local)
{
	static const enum field macs[] = { FIELD_MAC_SRC, FIELD_MAC_DST };
	bool is_shown = is_local && w->read->has[FIELD_MAC_SRC] == EVAL_YES;

	for (unsigned i = 0; i < 2 && !is_shown; i++) {
		guess_put(w, macs[i], 0);
		w->f.has[macs[i]] = w->p->link == PACKET_LINK_ETHER ? EVAL_YES : EVAL_UNKNOWN;
		w->f.known[macs[i]] = 0;
	}
}

/* Of IP the type of a frame is known, if it has a type at all. */
static void enter_ethertype(struct walk *w)
{
	u128 type = w->f.family == FAMILY_IP4 ? 0x0800 : 0x86dd;
	struct valset one = valset_one(w->a, type, type);

	show(w, FIELD_ETHERTYPE);
	if (w->f.family != FAMILY_FRAME && w->p->link != PACKET_LINK_ETHER)
		guess_values(w, FIELD_ETHERTYPE, &one, true);
}

/* Before and behind what IP does: no socket yet, nobody's connection, any kind of packet. */
static void enter_device(struct walk *w, enum hook hook)
{
	bool is_in = hook == HOOK_INGRESS, is_local = !is_in && !w->is_forwarded;

	w->hook = hook;
	show_iface(w, FIELD_IIF, FIELD_IIF_GROUP, is_in);
	show_iface(w, FIELD_OIF, FIELD_OIF_GROUP, !is_in);
	hide(w, FIELD_PHYSIN);
	hide(w, FIELD_PHYSOUT);
	show(w, FIELD_MAC_SRC);
	show(w, FIELD_MAC_DST);
	enter_ethertype(w);
	if (!is_in)
		enter_egress(w, is_local);
	show_if(w, FIELD_REALM, !is_in);
	enter_sockets(w, is_local);
	if (!is_in)
		enter_pkttype(w, is_local);
	w->guess[FIELD_SRC_TYPE] = w->guess[FIELD_DST_TYPE] = NULL;
	if (is_in || w->f.family == FAMILY_FRAME)
		conn_before(w);
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
	if (path_is_at_device(hook) && w->e->base[w->f.family][hook].n == 0)
		return VERDICT_ACCEPT;
	if (path_is_at_device(hook))
		enter_device(w, hook);
	else
		enter(w, hook);
	if (w->f.is_malformed && w->e->base[w->f.family][hook].n) {
		w->out->why = str_from(w->f.malformed);
		walk_note(w, "malformed: %s", w->f.malformed);
		return w->e->opt.malformed_accept ? VERDICT_ACCEPT : VERDICT_DROP;
	}
	return walk_hook(w, hook);
}

/* Two hooks, one behind the other. */
static enum verdict at_hooks(struct walk *w, enum hook first, enum hook then)
{
	enum verdict v = at_hook(w, first);

	return v == VERDICT_ACCEPT && !w->has_given_up ? at_hook(w, then) : v;
}

bool path_is_at_device(enum hook h)
{
	return h == HOOK_INGRESS || h == HOOK_EGRESS;
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
	return v == VERDICT_ACCEPT && !w->has_given_up ? at_hooks(w, HOOK_POSTROUTING, HOOK_EGRESS) : v;
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
	v = at_hooks(w, HOOK_INGRESS, HOOK_PREROUTING);
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
	return at_hooks(w, HOOK_POSTROUTING, HOOK_EGRESS);
}

/* A frame that is not IP; with in= and out= it crosses a bridge. */
static enum verdict frame(struct walk *w, bool has_in, bool has_out)
{
	if (!has_in && !has_out)
		has_out = fork_choose(w, "whether the frame is received or sent by this machine is not known; in=, out= or --hook "
					 "says it");
	w->is_forwarded = has_in && has_out;
	if (has_in && has_out)
		return at_hooks(w, HOOK_INGRESS, HOOK_EGRESS);
	return at_hook(w, has_out ? HOOK_EGRESS : HOOK_INGRESS);
}

static enum verdict way(struct walk *w)
{
	const struct packet *p = w->p;
	bool has_in = p->has_iif && p->iif[0], has_out = p->has_oif && p->oif[0];

	if (w->e->opt.hook >= 0) {
		w->is_forwarded = w->e->opt.hook == HOOK_FORWARD || (has_in && has_out);
		if (w->f.family == FAMILY_FRAME && !path_is_at_device((enum hook)w->e->opt.hook))
			return VERDICT_ACCEPT;
		return at_hook(w, (enum hook)w->e->opt.hook);
	}
	if (w->f.family == FAMILY_FRAME)
		return frame(w, has_in, has_out);
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
	if (w->e->opt.track && w->f.family != FAMILY_FRAME)
		track_leave(w, v);
}
