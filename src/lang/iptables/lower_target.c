/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Targets: effects, then a verdict if the target has one. A target that only writes, tells or marks lets the packet go on
 * with the next rule, so it has no verdict; a NAT target decides the address and ends the chain like ACCEPT.
 *
 *     -j MARK --set-xmark 0x1/0xff     [mark = (mark & ~0xff) ^ 0x1]
 *     -j DNAT --to-destination ...     [dnat ...] [accept]
 *     -j TPROXY --on-port 8080         [tproxy ...] [stolen]
 */
#include "lang/iptables/lower.h"

static struct effect *add_effect(struct lower *l, enum effect_kind kind)
{
	struct step *s = vec_add(l->a, &l->steps);

	s->kind = STEP_EFFECT;
	s->effect.kind = kind;
	s->effect.at = l->use->at;
	s->effect.name = ipt_ext_name(l->use->ext);
	return &s->effect;
}

static void add_verdict(struct lower *l, enum verdict v)
{
	struct step *s = vec_add(l->a, &l->steps);

	s->kind = STEP_VERDICT;
	s->v.verdict = v;
	s->v.at = l->use->at;
}

/* What nobody looks into but must not get lost: the target with its options. */
static struct effect *add_other(struct lower *l)
{
	struct effect *e = add_effect(l, EFFECT_OTHER);

	e->text = lower_params(l->a, l->use);
	return e;
}

static void clobber(struct effect *e, enum field f)
{
	e->has_clobbered = true;
	e->clobbered = f;
}

static const struct ipt_opt *opt(const struct lower *l, enum ipt_opt_id id)
{
	return ipt_opt_find(l->use, id);
}

static uint64_t number(const struct lower *l, enum ipt_opt_id id, uint64_t dflt)
{
	const struct ipt_opt *o = opt(l, id);

	return o ? o->v.range.lo : dflt;
}

static void reject(struct lower *l)
{
	const struct ipt_opt *o = opt(l, IPT_T_REJECT_WITH);

	add_verdict(l, VERDICT_REJECT);
	l->steps.v[l->steps.n - 1].v.reject = o ? (enum reject_kind)o->v.range.lo
					       : l->family == FAMILY_IP4 ? REJECT_PORT_UNREACH
									 : REJECT6_PORT_UNREACH;
}

static void log_target(struct lower *l)
{
	const struct ipt_opt *prefix = opt(l, IPT_T_LOG_PREFIX);
	struct effect *e = add_effect(l, EFFECT_LOG);

	if (prefix)
		e->text = prefix->v.text;
	e->value = (uint32_t)number(l, IPT_T_LOG_LEVEL, 4);
	for (unsigned i = 0; i <= IPT_T_LOG_MACDECODE - IPT_T_LOG_TCP_SEQUENCE; i++)
		if (opt(l, IPT_T_LOG_TCP_SEQUENCE + i))
			e->mask |= 1u << i;
}

static void nflog(struct lower *l)
{
	const struct ipt_opt *prefix = opt(l, IPT_T_NFLOG_PREFIX);
	struct effect *e = add_effect(l, EFFECT_LOG);

	if (prefix)
		e->text = prefix->v.text;
	e->group = (uint16_t)number(l, IPT_T_NFLOG_GROUP, 0);
	e->value = (uint32_t)number(l, IPT_T_NFLOG_SIZE, number(l, IPT_T_NFLOG_RANGE, 0));
	e->mask = (uint32_t)number(l, IPT_T_NFLOG_THRESHOLD, 1);
}

static void mark(struct lower *l)
{
	const struct ipt_opt *o = opt(l, IPT_T_MARK_SET_XMARK);
	struct effect *e = add_effect(l, EFFECT_MARK);

	e->value = o->v.masked.value;
	e->mask = o->v.masked.mask;
}

static void connmark(struct lower *l)
{
	const struct ipt_opt *set = opt(l, IPT_T_CONNMARK_SET_XMARK);
	struct effect *e = add_effect(l, EFFECT_CT_MARK);

	e->shift = (int8_t)((int)number(l, IPT_T_CONNMARK_LEFT_SHIFT, 0) - (int)number(l, IPT_T_CONNMARK_RIGHT_SHIFT, 0));
	if (set) {
		e->value = set->v.masked.value;
		e->mask = set->v.masked.mask;
		return;
	}
	e->kind = opt(l, IPT_T_CONNMARK_SAVE) ? EFFECT_SAVE_MARK : EFFECT_RESTORE_MARK;
	e->mask = (uint32_t)number(l, IPT_T_CONNMARK_NFMASK, UINT32_MAX);
	e->ct_mask = (uint32_t)number(l, IPT_T_CONNMARK_CTMASK, UINT32_MAX);
}

static void ct(struct lower *l)
{
	if (opt(l, IPT_T_CT_NOTRACK))
		add_effect(l, EFFECT_NOTRACK);
	else
		add_other(l);
}

static void tos(struct lower *l)
{
	const struct ipt_opt *o = opt(l, IPT_T_TOS_SET_TOS);
	struct effect *e = add_effect(l, EFFECT_TOS);

	if (l->use->ext == IPT_T_DSCP) {
		e->value = (uint32_t)number(l, IPT_T_DSCP_SET_DSCP, 0) << 2;
		e->mask = 0xfc;
	} else {
		e->value = o->v.masked.value;
		e->mask = o->v.masked.mask;
	}
}

static void ttl(struct lower *l)
{
	static const enum ipt_opt_id ids[][3] = {
		{ IPT_T_TTL_SET, IPT_T_TTL_INC, IPT_T_TTL_DEC },
		{ IPT_T_HL_SET, IPT_T_HL_INC, IPT_T_HL_DEC },
	};
	struct effect *e = add_effect(l, EFFECT_TTL);

	for (uint32_t op = 0; op < 3; op++) {
		const struct ipt_opt *o = opt(l, ids[l->use->ext == IPT_T_HL][op]);

		if (o) {
			e->mask = op;
			e->value = (uint32_t)o->v.range.lo;
		}
	}
}

static void set_effect(struct lower *l, enum ipt_opt_id id, enum effect_kind kind)
{
	const struct ipt_opt *o = opt(l, id), *timeout = opt(l, IPT_T_SET_TIMEOUT);
	struct effect *e;

	if (!o)
		return;
	e = kind == EFFECT_OTHER ? add_other(l) : add_effect(l, kind);
	e->set = lower_set_use(l, o);
	if (kind == EFFECT_SET_ADD) {
		e->set->exist = opt(l, IPT_T_SET_EXIST) != NULL;
		e->set->has_timeout = timeout != NULL;
		e->set->timeout_s = timeout ? (uint32_t)timeout->v.range.lo : 0;
	}
	if (kind == EFFECT_OTHER && opt(l, IPT_T_SET_MAP_MARK))
		clobber(e, FIELD_MARK);
}

/* The kernel adds first, then deletes, then maps. */
static void set(struct lower *l)
{
	set_effect(l, IPT_T_SET_ADD, EFFECT_SET_ADD);
	set_effect(l, IPT_T_SET_DEL, EFFECT_SET_DEL);
	set_effect(l, IPT_T_SET_MAP, EFFECT_OTHER);
}

static void nfqueue(struct lower *l)
{
	uint64_t num = number(l, IPT_T_NFQUEUE_BALANCE, number(l, IPT_T_NFQUEUE_NUM, 0));

	if (opt(l, IPT_T_NFQUEUE_BYPASS) || opt(l, IPT_T_NFQUEUE_FANOUT) || opt(l, IPT_T_NFQUEUE_BALANCE))
		add_other(l);
	add_verdict(l, VERDICT_QUEUE);
	l->steps.v[l->steps.n - 1].v.queue = (uint16_t)num;
}

static void nat(struct lower *l)
{
	static const struct {
		enum ipt_ext_id ext;
		enum ipt_opt_id to;
		enum effect_kind kind;
	} kinds[] = {
		{ IPT_T_SNAT, IPT_T_SNAT_TO, EFFECT_SNAT },
		{ IPT_T_DNAT, IPT_T_DNAT_TO, EFFECT_DNAT },
		{ IPT_T_MASQUERADE, IPT_T_MASQUERADE_TO_PORTS, EFFECT_MASQUERADE },
		{ IPT_T_REDIRECT, IPT_T_REDIRECT_TO_PORTS, EFFECT_REDIRECT },
		{ IPT_T_NETMAP, IPT_T_NETMAP_TO, EFFECT_NETMAP },
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const struct ipt_opt *to = opt(l, kinds[i].to);
		struct nat_spec *n;
		struct effect *e;

		if (kinds[i].ext != l->use->ext)
			continue;
		e = add_effect(l, kinds[i].kind);
		if (l->use->opts.n > (to != NULL))
			e->text = lower_params(l->a, l->use);
		n = arena_new(l->a, struct nat_spec, 1);
		if (to && to->v.kind == IPT_VALUE_NAT)
			*n = *to->v.nat;
		else if (to)
			*n = (struct nat_spec){ .has_addr = true, .addr_lo = to->v.addr.addr, .addr_hi = to->v.addr.mask };
		e->nat = n;
	}
	add_verdict(l, VERDICT_ACCEPT);
}

static void tproxy(struct lower *l)
{
	const struct ipt_opt *ip = opt(l, IPT_T_TPROXY_ON_IP), *m = opt(l, IPT_T_TPROXY_MARK);
	struct nat_spec *n = arena_new(l->a, struct nat_spec, 1);

	add_effect(l, EFFECT_TPROXY)->nat = n;
	n->has_port = true;
	n->port_lo = n->port_hi = (uint16_t)number(l, IPT_T_TPROXY_ON_PORT, 0);
	if (ip && ip->v.addr.addr) { /* 0: the address of the device, as if nothing was said */
		n->has_addr = true;
		n->addr_lo = n->addr_hi = ip->v.addr.addr;
	}
	if (m) {
		n->mark_value = m->v.masked.value;
		n->mark_mask = m->v.masked.mask;
	}
	add_verdict(l, VERDICT_STOLEN);
}

/* Answers SYNs itself, takes or drops what completes a handshake, and lets the rest go on: nobody here can tell which. */
static void synproxy(struct lower *l)
{
	lower_unknown(l, NULL, "the kernel answers the handshake itself and takes or drops its packets");
	add_other(l);
	add_verdict(l, VERDICT_STOLEN);
}

/* Writes a field with what is not worked out here. */
static void rewriter(struct lower *l)
{
	struct effect *e = add_other(l);

	if (l->use->ext == IPT_T_TCPMSS)
		clobber(e, FIELD_TCP_MSS);
	else if (l->use->ext == IPT_T_TCPOPTSTRIP)
		clobber(e, FIELD_TCP_OPTS);
	else
		clobber(e, FIELD_TCP_FLAGS);
}

void lower_target(struct lower *l, const struct ipt_rule *r)
{
	static const struct {
		enum ipt_ext_id ext;
		void (*lower)(struct lower *l);
	} targets[] = {
		{ IPT_T_REJECT, reject },   { IPT_T_LOG, log_target },	{ IPT_T_NFLOG, nflog },	    { IPT_T_MARK, mark },
		{ IPT_T_CONNMARK, connmark }, { IPT_T_CT, ct },		{ IPT_T_DSCP, tos },	    { IPT_T_TOS, tos },
		{ IPT_T_TTL, ttl },	    { IPT_T_HL, ttl },		{ IPT_T_SET, set },	    { IPT_T_NFQUEUE, nfqueue },
		{ IPT_T_SNAT, nat },	    { IPT_T_DNAT, nat },	{ IPT_T_MASQUERADE, nat },  { IPT_T_REDIRECT, nat },
		{ IPT_T_NETMAP, nat },	    { IPT_T_TPROXY, tproxy },	{ IPT_T_SYNPROXY, synproxy }, { IPT_T_TCPMSS, rewriter },
		{ IPT_T_TCPOPTSTRIP, rewriter }, { IPT_T_ECN, rewriter },
	};

	switch (r->target.ext) {
	case IPT_T_ACCEPT:
		add_verdict(l, VERDICT_ACCEPT);
		return;
	case IPT_T_DROP:
		add_verdict(l, VERDICT_DROP);
		return;
	case IPT_T_RETURN:
		add_verdict(l, VERDICT_RETURN);
		return;
	case IPT_T_QUEUE:
		add_verdict(l, VERDICT_QUEUE);
		return;
	case IPT_T_NOTRACK:
		add_effect(l, EFFECT_NOTRACK);
		return;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		if (targets[i].ext == r->target.ext) {
			targets[i].lower(l);
			return;
		}
	add_other(l); /* CLASSIFY, TRACE, CHECKSUM, AUDIT, TEE: the packet goes on as it is */
}
