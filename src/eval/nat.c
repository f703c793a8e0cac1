/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address translation, as far as it decides what later rules see.
 *
 * Only a packet that starts a connection goes through nat chains: state NEW, or RELATED that is no ICMP error; the
 * first binding of each kind (destination at prerouting and output, source at input and postrouting) ends them. A
 * single new address and port is written into the packet; one of a range, or the address of an interface that nobody
 * named, is unknown from there on. A packet of a connection that the tracker knows gets the connection's translation.
 */
#include "eval/walk.h"

static bool is_dst_hook(enum hook h)
{
	return h == HOOK_PREROUTING || h == HOOK_OUTPUT;
}

static bool is_icmp(const struct walk *w)
{
	return w->f.known[FIELD_PROTO] && w->f.v[FIELD_PROTO] == (w->f.family == FAMILY_IP4 ? 1u : 58u);
}

bool nat_is_asked(struct walk *w, const struct chain *base)
{
	bool is_dst = is_dst_hook(w->hook);

	w->chain = base;
	if (is_dst ? w->is_dst_nat : w->is_src_nat)
		return false;
	if (w->tracked) {
		track_translate(w);
		if (is_dst ? w->is_dst_nat : w->is_src_nat)
			return false;
	}
	if (conn_state_in(w, 1 << CT_NEW | 1 << CT_RELATED, "whether the packet starts a connection") != EVAL_YES) {
		walk_note(w, "%.*s/%.*s is not asked: the packet does not start a connection", STR_ARG(base->table),
			  STR_ARG(base->name));
		return false;
	}
	if (is_icmp(w) && conn_state_in(w, 1 << CT_RELATED, "whether this is an ICMP error of a connection") == EVAL_YES)
		return false;
	if (w->tracked && !track_starts(w))
		return false;
	return true;
}

/* ---------- writing addresses and ports ---------- */

void nat_put_addr(struct walk *w, bool is_dst, const u128 *v)
{
	enum field f = is_dst ? FIELD_DST : FIELD_SRC;
	uint32_t n = w->f.family == FAMILY_IP4 ? 4 : 16;
	uint32_t off = w->f.family == FAMILY_IP4 ? (is_dst ? 16u : 12u) : (is_dst ? 24u : 8u);

	if (v)
		guess_put(w, f, *v);
	else
		guess_forget(w, f);
	effect_patch(w, off, n, v);
	w->guess[is_dst ? FIELD_DST_TYPE : FIELD_SRC_TYPE] = NULL;
	if (is_dst)
		w->dst_changed = true;
}

static void put_port(struct walk *w, bool is_dst, const u128 *v)
{
	enum field f = is_dst ? FIELD_DPORT : FIELD_SPORT;

	if (w->f.has[f] == EVAL_NO)
		return;
	if (v)
		guess_put(w, f, *v);
	else
		guess_forget(w, f);
	effect_patch(w, w->f.l4_off + (is_dst ? 2u : 0u), 2, v);
}

static void translate_addr(struct walk *w, bool is_dst, const struct nat_spec *n, bool *is_known)
{
	u128 v = n->addr_lo;

	*is_known = n->addr_lo == n->addr_hi;
	nat_put_addr(w, is_dst, *is_known ? &v : NULL);
	if (*is_known)
		walk_note(w, "%s becomes %.*s", is_dst ? "destination" : "source",
			  STR_ARG(reason_value(w->a, FIELD_DST, w->f.family, v)));
	else
		walk_note(w, "%s becomes one of several addresses", is_dst ? "destination" : "source");
}

static void translate_port(struct walk *w, bool is_dst, const struct nat_spec *n, bool *is_known)
{
	u128 v = n->port_lo;
	enum field f = is_dst ? FIELD_DPORT : FIELD_SPORT;

	if (n->port_lo == n->port_hi) {
		put_port(w, is_dst, &v);
		walk_note(w, "%s port becomes %u", is_dst ? "destination" : "source", n->port_lo);
		return;
	}
	/* A source port that is in the range already is kept; the destination's is chosen anew. */
	if (!is_dst && w->f.known[f] && w->f.v[f] >= n->port_lo && w->f.v[f] <= n->port_hi)
		return;
	*is_known = false;
	put_port(w, is_dst, NULL);
	walk_note(w, "%s port becomes one of %u-%u", is_dst ? "destination" : "source", n->port_lo, n->port_hi);
}

static void netmap(struct walk *w, bool is_dst, const struct nat_spec *n, bool *is_known)
{
	enum field f = is_dst ? FIELD_DST : FIELD_SRC;
	u128 v;

	*is_known = w->f.has[f] == EVAL_YES && w->f.known[f];
	v = (w->f.v[f] & ~n->addr_hi) | (n->addr_lo & n->addr_hi);
	if (w->f.family == FAMILY_IP4)
		v &= 0xffffffff;
	nat_put_addr(w, is_dst, *is_known ? &v : NULL);
	if (*is_known)
		walk_note(w, "%s becomes %.*s", is_dst ? "destination" : "source",
			  STR_ARG(reason_value(w->a, FIELD_DST, w->f.family, v)));
}

/* The only address of a family on an interface of the environment. */
static bool iface_addr(const struct walk *w, enum field f, u128 *v)
{
	const struct env_iface *e = NULL;
	unsigned n = 0;

	if (f == FIELD_IIF && w->p->has_iif)
		e = env_iface_find(w->e->opt.env, w->p->iif);
	else if (f == FIELD_OIF && w->p->has_oif && !w->dst_changed)
		e = env_iface_find(w->e->opt.env, w->p->oif);
	for (size_t i = 0; e && i < e->addrs.n; i++)
		if (e->addrs.v[i].family == w->f.family) {
			*v = e->addrs.v[i].addr;
			n++;
		}
	return n == 1;
}

static void redirect(struct walk *w, bool *is_known)
{
	u128 v = w->f.family == FAMILY_IP4 ? 0x7f000001 : 1;

	*is_known = w->hook == HOOK_OUTPUT || iface_addr(w, FIELD_IIF, &v);
	nat_put_addr(w, true, *is_known ? &v : NULL);
	w->is_redirected = true;
	walk_note(w, "redirected to this machine");
}

static void masquerade(struct walk *w, bool *is_known)
{
	u128 v;

	*is_known = iface_addr(w, FIELD_OIF, &v);
	nat_put_addr(w, false, *is_known ? &v : NULL);
	walk_note(w, "source becomes the address of the output interface");
}

/* One end of the packet. A port that is not there does not change. */
struct end {
	u128 addr, port;
	bool addr_known, port_known, has_port;
};

static struct end end_of(const struct walk *w, bool is_dst)
{
	enum field addr = is_dst ? FIELD_DST : FIELD_SRC, port = is_dst ? FIELD_DPORT : FIELD_SPORT;
	bool has_port = w->f.has[port] == EVAL_YES;

	return (struct end){ .addr = w->f.v[addr], .port = has_port ? w->f.v[port] : 0, .addr_known = w->f.known[addr],
			     .port_known = !has_port || w->f.known[port], .has_port = has_port };
}

static bool is_outside(u128 v, u128 lo, u128 hi)
{
	return v < lo || v > hi;
}

/* The connection says SNAT or DNAT only if the binding changed something. */
static void note_change(struct walk *w, bool is_dst, struct end old, const struct nat_spec *n)
{
	uint32_t bit = is_dst ? CT_STATUS_DST_NAT : CT_STATUS_SRC_NAT;
	struct end now = end_of(w, is_dst);
	bool addr_differs = old.addr_known && (now.addr_known ? old.addr != now.addr :
					       n->has_addr && is_outside(old.addr, n->addr_lo, n->addr_hi));
	bool port_differs = old.has_port && old.port_known && (now.port_known ? old.port != now.port :
							       n->has_port && is_outside(old.port, n->port_lo, n->port_hi));

	if (addr_differs || port_differs)
		w->nat_status |= bit;
	else if (!old.addr_known || !now.addr_known || !old.port_known || !now.port_known)
		w->nat_doubt |= bit;
	w->guess[FIELD_CT_STATUS] = NULL;
}

enum verdict nat_apply(struct walk *w, const struct effect *ef)
{
	static const struct nat_spec nothing;
	const struct nat_spec *n = ef->nat ? ef->nat : &nothing;
	bool is_dst = is_dst_hook(w->hook), is_known = true;
	struct end old = end_of(w, is_dst);

	if (ef->kind == EFFECT_TPROXY) {
		walk_note(w, "a local socket takes the packet, or it is dropped if there is none");
		return VERDICT_STOLEN;
	}
	if (ef->kind == EFFECT_REDIRECT)
		redirect(w, &is_known);
	else if (ef->kind == EFFECT_MASQUERADE)
		masquerade(w, &is_known);
	else if (ef->kind == EFFECT_NETMAP)
		netmap(w, is_dst, n, &is_known);
	else if (n->has_addr)
		translate_addr(w, is_dst, n, &is_known);
	if (n->has_port && ef->kind != EFFECT_NETMAP)
		translate_port(w, is_dst, n, &is_known);
	note_change(w, is_dst, old, n);
	if (is_dst)
		w->is_dst_nat = true;
	else
		w->is_src_nat = true;
	if (w->e->opt.track)
		track_nat(w, is_dst, is_known);
	return VERDICT_ACCEPT;
}

void nat_write(struct walk *w, bool is_dst, const u128 *addr, const u128 *port)
{
	nat_put_addr(w, is_dst, addr);
	put_port(w, is_dst, port);
}
