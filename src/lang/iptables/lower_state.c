/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Matches that remember packets, or ask a clock or a die: limit, hashlimit, connlimit, recent, statistic, quota, time.
 *
 * A rate goes into the model as the kernel keeps it: the cost of one packet in ticks (1/10000 s for limit, 1e-6 s for
 * hashlimit), so that 3/second is 3333 ticks a packet, not a third of a second, and 5/second and 300/minute are one rate.
 */
#include "lang/iptables/lower.h"

enum { TICKS_LIMIT = 10000, TICKS_HASHLIMIT = 1000000 }; /* in a second */

static uint64_t number(const struct ipt_use *u, enum ipt_opt_id id, uint64_t dflt)
{
	const struct ipt_opt *o = ipt_opt_find(u, id);

	return o ? o->v.range.lo : dflt;
}

static void set_rate(struct state_spec *s, const struct ipt_rate *r, uint64_t ticks_per_s)
{
	s->rate.by_bytes = r->by_bytes;
	if (r->by_bytes) {
		s->rate.units = r->units;
		s->rate.per_ms = r->per_s * 1000;
	} else {
		s->rate.units = ticks_per_s;
		s->rate.per_ms = r->ticks * 1000;
	}
}

static void limit(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *o = ipt_opt_find(u, IPT_M_LIMIT_LIMIT);
	struct state_spec *s = lower_state(l, o, STATE_LIMIT);

	set_rate(s, &o->v.rate, TICKS_LIMIT);
	s->rate.burst = number(u, IPT_M_LIMIT_BURST, 5);
}

/* iptables gives an idle group the time unit of the rate, or as many seconds as its burst may refill it. */
static uint64_t default_expire_ms(const struct state_spec *s, const struct ipt_rate *r)
{
	uint64_t per_refill = r->units >> 4 << 4;

	if (!r->by_bytes || s->rate.burst == 0)
		return r->per_s * 1000;
	return per_refill ? (s->rate.burst + per_refill - 1) / per_refill * 1000 : 1000;
}

static void hashlimit(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *up = ipt_opt_find(u, IPT_M_HASHLIMIT_UPTO), *above = ipt_opt_find(u, IPT_M_HASHLIMIT_ABOVE);
	const struct ipt_opt *o = up ? up : above, *mode = ipt_opt_find(u, IPT_M_HASHLIMIT_MODE);
	uint64_t width = l->family == FAMILY_IP4 ? 32 : 128;
	struct state_spec *s;

	if (ipt_opt_find(u, IPT_M_HASHLIMIT_RATE_MATCH)) {
		lower_unknown(l, o, "measures the rate over an interval of the kernel's clock");
		return;
	}
	s = lower_state(l, o, STATE_HASHLIMIT);
	l->steps.v[l->steps.n - 1].test.negated = false;
	set_rate(s, &o->v.rate, TICKS_HASHLIMIT);
	s->rate.above = (o == above) != o->negated;
	s->rate.burst = number(u, IPT_M_HASHLIMIT_BURST, o->v.rate.by_bytes ? 0 : 5);
	s->rate.mode = mode ? (uint8_t)mode->v.bits : 0;
	s->rate.src_plen = (uint8_t)number(u, IPT_M_HASHLIMIT_SRCMASK, width);
	s->rate.dst_plen = (uint8_t)number(u, IPT_M_HASHLIMIT_DSTMASK, width);
	s->rate.max_entries = (uint32_t)number(u, IPT_M_HASHLIMIT_HTABLE_MAX, 0);
	s->rate.expire_ms = (uint32_t)number(u, IPT_M_HASHLIMIT_EXPIRE, default_expire_ms(s, &o->v.rate));
	s->shared_name = ipt_opt_find(u, IPT_M_HASHLIMIT_NAME)->v.text;
}

static void connlimit(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *up = ipt_opt_find(u, IPT_M_CONNLIMIT_UPTO), *above = ipt_opt_find(u, IPT_M_CONNLIMIT_ABOVE);
	const struct ipt_opt *o = up ? up : above;
	struct state_spec *s = lower_state(l, o, STATE_CONNLIMIT);

	l->steps.v[l->steps.n - 1].test.negated = false;
	s->connlimit.limit = (uint32_t)o->v.range.lo;
	s->connlimit.above = (o == above) != o->negated;
	s->connlimit.by_dst = ipt_opt_find(u, IPT_M_CONNLIMIT_DADDR) != NULL;
	s->connlimit.plen = (uint8_t)number(u, IPT_M_CONNLIMIT_MASK, l->family == FAMILY_IP4 ? 32 : 128);
}

static void recent(struct lower *l, const struct ipt_use *u)
{
	static const struct {
		enum ipt_opt_id id;
		enum recent_op op;
	} ops[] = {
		{ IPT_M_RECENT_SET, RECENT_SET },
		{ IPT_M_RECENT_RCHECK, RECENT_CHECK },
		{ IPT_M_RECENT_UPDATE, RECENT_UPDATE },
		{ IPT_M_RECENT_REMOVE, RECENT_REMOVE },
	};
	const struct ipt_opt *mask = ipt_opt_find(u, IPT_M_RECENT_MASK), *name = ipt_opt_find(u, IPT_M_RECENT_NAME);

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
		const struct ipt_opt *o = ipt_opt_find(u, ops[i].id);
		struct state_spec *s;

		if (!o)
			continue;
		s = lower_state(l, o, STATE_RECENT);
		s->recent.op = ops[i].op;
		s->recent.by_dst = ipt_opt_find(u, IPT_M_RECENT_RDEST) != NULL;
		s->recent.rttl = ipt_opt_find(u, IPT_M_RECENT_RTTL) != NULL;
		s->recent.reap = ipt_opt_find(u, IPT_M_RECENT_REAP) != NULL;
		s->recent.seconds = (uint32_t)number(u, IPT_M_RECENT_SECONDS, 0);
		s->recent.hitcount = (uint32_t)number(u, IPT_M_RECENT_HITCOUNT, 0);
		s->recent.mask = mask ? mask->v.addr.mask : l->family == FAMILY_IP4 ? (u128)UINT32_MAX : ~(u128)0;
		s->shared_name = name ? name->v.text : STR("DEFAULT");
		return;
	}
}

/* --mode nth or random; the negation stands at --every or --probability. */
static void statistic(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *every = ipt_opt_find(u, IPT_M_STATISTIC_EVERY);
	const struct ipt_opt *p = ipt_opt_find(u, IPT_M_STATISTIC_PROBABILITY);
	struct state_spec *s;

	if (number(u, IPT_M_STATISTIC_MODE, 0) == 1) {
		s = lower_state(l, every, STATE_NTH);
		s->nth.every = every ? (uint32_t)every->v.range.lo : 1;
		s->nth.packet = (uint32_t)number(u, IPT_M_STATISTIC_PACKET, 0);
	} else {
		s = lower_state(l, p, STATE_RANDOM);
		s->random.threshold = p ? (uint32_t)p->v.range.lo : 0;
	}
}

static void quota(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *o = ipt_opt_find(u, IPT_M_QUOTA_QUOTA);

	lower_state(l, o, STATE_QUOTA)->quota.bytes = o->v.range.lo;
}

/* Days that are asked; negated: all the others. 0 means all, so a day that never comes (bit 0) stands for none. */
static uint64_t days(const struct ipt_use *u, enum ipt_opt_id id, uint64_t all)
{
	const struct ipt_opt *o = ipt_opt_find(u, id);
	uint64_t bits;

	if (!o)
		return 0;
	bits = o->negated ? all & ~o->v.bits : o->v.bits & all;
	return bits == all ? 0 : bits ? bits : 1;
}

static void time_match(struct lower *l, const struct ipt_use *u)
{
	const struct ipt_opt *start = ipt_opt_find(u, IPT_M_TIME_DATESTART), *stop = ipt_opt_find(u, IPT_M_TIME_DATESTOP);
	struct state_spec *s = lower_state(l, NULL, STATE_TIME);

	s->time.start_s = start ? (int64_t)start->v.range.lo : INT64_MIN;
	s->time.stop_s = stop ? (int64_t)stop->v.range.lo : INT64_MAX;
	s->time.day_start_s = (uint32_t)number(u, IPT_M_TIME_TIMESTART, 0);
	s->time.day_stop_s = (uint32_t)number(u, IPT_M_TIME_TIMESTOP, 24 * 60 * 60 - 1);
	s->time.monthdays = (uint32_t)days(u, IPT_M_TIME_MONTHDAYS, 0xfffffffe);
	s->time.weekdays = (uint8_t)days(u, IPT_M_TIME_WEEKDAYS, 0xfe);
	s->time.local_tz = ipt_opt_find(u, IPT_M_TIME_KERNELTZ) != NULL;
	s->time.contiguous = ipt_opt_find(u, IPT_M_TIME_CONTIGUOUS) != NULL;
}

bool lower_state_match(struct lower *l, const struct ipt_use *u)
{
	static const struct {
		enum ipt_ext_id ext;
		void (*lower)(struct lower *l, const struct ipt_use *u);
	} matches[] = {
		{ IPT_M_LIMIT, limit },	    { IPT_M_HASHLIMIT, hashlimit }, { IPT_M_CONNLIMIT, connlimit },
		{ IPT_M_RECENT, recent },   { IPT_M_STATISTIC, statistic }, { IPT_M_QUOTA, quota },
		{ IPT_M_TIME, time_match },
	};

	for (size_t i = 0; i < sizeof matches / sizeof *matches; i++)
		if (matches[i].ext == u->ext) {
			matches[i].lower(l, u);
			return true;
		}
	return false;
}
