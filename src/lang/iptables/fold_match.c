/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Matches that say one thing in several ways, or whose options hang together in a way of their own. */
#include "lang/iptables/arg.h"
#include "lang/iptables/fold.h"
#include "policy/addr.h"

static void warn_outside_mask(struct ipt_fold *f, const struct ipt_opt *o)
{
	if (o && (o->v.masked.value & ~o->v.masked.mask))
		diag_warn(f->d, o->value_at, "never-matches", "the value has bits outside the mask, so the test %s matches",
			  o->negated ? "always" : "never");
}

/* ---------- marks, flags, TOS ---------- */

static bool fold_tcp(struct ipt_fold *f)
{
	struct ipt_opt *syn = ipt_fold_get(f, IPT_M_TCP_SYN), *flags;

	if (syn)
		ipt_fold_masked(syn, IPT_M_TCP_FLAGS, 0x02, 0x17);
	flags = ipt_fold_get(f, IPT_M_TCP_FLAGS);
	warn_outside_mask(f, flags);
	if (flags && !flags->v.masked.mask && !flags->v.masked.value && !flags->negated)
		ipt_fold_drop(f, flags);
	return true;
}

static bool fold_masked(struct ipt_fold *f)
{
	if (f->u->opts.n)
		warn_outside_mask(f, &f->u->opts.v[0]);
	return true;
}

static bool fold_dscp(struct ipt_fold *f)
{
	struct ipt_opt *c = ipt_fold_get(f, IPT_M_DSCP_CLASS);

	if (c)
		c->id = IPT_M_DSCP_DSCP;
	return true;
}

/* ---------- rates ---------- */

static bool fold_limit(struct ipt_fold *f)
{
	if (!ipt_fold_get(f, IPT_M_LIMIT_LIMIT)) {
		struct ipt_opt *o = ipt_fold_add(f, IPT_M_LIMIT_LIMIT);

		o->v.kind = IPT_VALUE_RATE;
		o->v.rate = (struct ipt_rate){ .units = 3, .per_s = 3600, .ticks = 12000000, .written = 3, .written_s = 3600 };
	}
	return true;
}

/* `! --upto n` is `--above n`, and the other way round. */
static struct ipt_opt *fold_above(struct ipt_fold *f, enum ipt_opt_id upto, enum ipt_opt_id above)
{
	struct ipt_opt *o = ipt_fold_get(f, upto) ? ipt_fold_get(f, upto) : ipt_fold_get(f, above);

	if (o->negated) {
		o->id = o->id == upto ? above : upto;
		o->negated = false;
	}
	return o;
}

/* Packets; beside a rate in bytes a multiple of what a second lets through. */
static bool hashlimit_burst(struct ipt_fold *f, const struct ipt_rate *rate)
{
	struct ipt_opt *o = ipt_fold_get(f, IPT_M_HASHLIMIT_BURST);
	uint64_t n;

	if (!o) {
		ipt_fold_number(f, IPT_M_HASHLIMIT_BURST, rate->by_bytes ? rate->units : 5);
		return true;
	}
	n = o->v.kind == IPT_VALUE_RATE ? o->v.rate.units : o->v.range.lo;
	if (!rate->by_bytes) {
		if (o->v.kind == IPT_VALUE_RATE)
			return ipt_fold_fail(f, o, "a burst in bytes needs a rate in bytes: --hashlimit-upto 512kb/s");
		if (n >= 1 && n <= 1000000)
			return true;
		diag_error(f->d, o->value_at, "--hashlimit-burst is 1 to 1000000 packets");
		return false;
	}
	if (n < rate->units) {
		diag_error(f->d, o->value_at, "the burst cannot be smaller than what a second lets through: %llu bytes",
			   (unsigned long long)rate->units);
		return false;
	}
	n = ipt_arg_burst_seconds(rate, n) * rate->units;
	o->v.kind = IPT_VALUE_RANGE;
	o->v.range = (struct ipt_range){ n, n };
	return true;
}

static void drop_full_plen(struct ipt_fold *f, enum ipt_opt_id id)
{
	struct ipt_opt *o = ipt_fold_get(f, id);

	if (o && o->v.range.lo == addr_bits(f->family))
		ipt_fold_drop(f, o);
}

static bool fold_hashlimit(struct ipt_fold *f)
{
	struct ipt_opt *o = fold_above(f, IPT_M_HASHLIMIT_UPTO, IPT_M_HASHLIMIT_ABOVE), *interval;
	struct ipt_rate *rate = &o->v.rate, copy;
	bool is_count = ipt_fold_get(f, IPT_M_HASHLIMIT_RATE_MATCH) != NULL;

	if (is_count && !rate->by_bytes) { /* the number stands for itself, whatever the unit */
		rate->units = rate->written;
		rate->per_s = 1;
	}
	copy = *rate;
	interval = ipt_fold_get(f, IPT_M_HASHLIMIT_RATE_INTERVAL);
	if (interval && (!is_count || interval->v.range.lo == 1)) {
		if (!is_count)
			ipt_fold_no_effect(f, interval, "no --hashlimit-rate-match");
		ipt_fold_drop(f, interval);
	}
	ipt_fold_number(f, IPT_M_HASHLIMIT_EXPIRE, (uint64_t)copy.written_s * 1000);
	drop_full_plen(f, IPT_M_HASHLIMIT_SRCMASK);
	drop_full_plen(f, IPT_M_HASHLIMIT_DSTMASK);
	return hashlimit_burst(f, &copy);
}

static bool fold_connlimit(struct ipt_fold *f)
{
	fold_above(f, IPT_M_CONNLIMIT_UPTO, IPT_M_CONNLIMIT_ABOVE);
	ipt_fold_number(f, IPT_M_CONNLIMIT_MASK, addr_bits(f->family));
	return true;
}

/* ---------- recent, statistic, time ---------- */

static bool fold_recent(struct ipt_fold *f)
{
	static const enum ipt_opt_id asks[] = { IPT_M_RECENT_SECONDS, IPT_M_RECENT_HITCOUNT, IPT_M_RECENT_RTTL };
	const struct ipt_opt *set = ipt_fold_get(f, IPT_M_RECENT_SET), *remove = ipt_fold_get(f, IPT_M_RECENT_REMOVE);
	struct ipt_opt *o;
	bool ok = true;

	for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++) {
		o = ipt_fold_get(f, asks[i]);
		if (!o || !(set || remove))
			continue;
		diag_error(f->d, o->at, "--%s asks about earlier packets: it goes with --rcheck or --update, not --%s",
			   ipt_opt_name(o->id), set ? "set" : "remove");
		ok = false;
	}
	if (!ipt_fold_get(f, IPT_M_RECENT_NAME)) {
		o = ipt_fold_add(f, IPT_M_RECENT_NAME);
		o->v.kind = IPT_VALUE_TEXT;
		o->v.text = STR("DEFAULT");
	}
	if (!ipt_fold_get(f, IPT_M_RECENT_MASK)) {
		o = ipt_fold_add(f, IPT_M_RECENT_MASK);
		o->v.kind = IPT_VALUE_ADDR;
		o->v.addr.mask = addr_mask(f->family, addr_bits(f->family));
	}
	return ok;
}

static bool fold_statistic(struct ipt_fold *f)
{
	bool is_nth = ipt_fold_get(f, IPT_M_STATISTIC_MODE)->v.range.lo == 1;
	const struct ipt_opt *p = ipt_fold_get(f, IPT_M_STATISTIC_PROBABILITY), *every = ipt_fold_get(f, IPT_M_STATISTIC_EVERY);
	const struct ipt_opt *packet = ipt_fold_get(f, IPT_M_STATISTIC_PACKET);

	if (!is_nth && !p)
		return ipt_fold_fail(f, NULL, "--mode random needs --probability");
	if (is_nth && !every)
		return ipt_fold_fail(f, NULL, "--mode nth needs --every and --packet");
	if (is_nth && p)
		return ipt_fold_fail(f, p, "--probability belongs to --mode random");
	if (!is_nth && every)
		return ipt_fold_fail(f, every, "--every belongs to --mode nth");
	if (is_nth && packet->v.range.lo >= every->v.range.lo) {
		diag_error(f->d, packet->value_at, "--packet counts from 0, so it must be below --every %llu",
			   (unsigned long long)every->v.range.lo);
		return false;
	}
	return true;
}

/* Negated days are the other days; all days ask for nothing; none never come. */
static void fold_days(struct ipt_fold *f, enum ipt_opt_id id, uint64_t all)
{
	struct ipt_opt *o = ipt_fold_get(f, id);

	if (!o)
		return;
	if (o->negated)
		o->v.bits = all & ~o->v.bits;
	o->negated = false;
	if (o->v.bits == all)
		ipt_fold_drop(f, o);
	else if (!o->v.bits)
		diag_warn(f->d, o->at, "never-matches", "no day is left, so the rule never matches");
}

static bool fold_time(struct ipt_fold *f)
{
	struct ipt_opt *tz = ipt_fold_get(f, IPT_M_TIME_LOCALTZ), *utc, *start, *stop, *contiguous;
	uint64_t from, to;

	if (tz) {
		tz->id = IPT_M_TIME_KERNELTZ;
		diag_warn(f->d, tz->at, "old-spelling", "--localtz means the kernel's time zone and is now called --kerneltz");
	}
	utc = ipt_fold_get(f, IPT_M_TIME_UTC);
	if (utc)
		ipt_fold_drop(f, utc);
	fold_days(f, IPT_M_TIME_MONTHDAYS, 0xfffffffe);
	fold_days(f, IPT_M_TIME_WEEKDAYS, 0xfe);
	start = ipt_fold_get(f, IPT_M_TIME_TIMESTART);
	from = start ? start->v.range.lo : 0;
	stop = ipt_fold_get(f, IPT_M_TIME_TIMESTOP);
	to = stop ? stop->v.range.lo : 24 * 60 * 60 - 1;
	contiguous = ipt_fold_get(f, IPT_M_TIME_CONTIGUOUS);
	if (contiguous && from <= to)
		return ipt_fold_fail(f, contiguous, "--contiguous goes with a --timestop before its --timestart");
	if (from == 0 && to == 24 * 60 * 60 - 1) {
		if (start)
			ipt_fold_drop(f, start);
		if ((stop = ipt_fold_get(f, IPT_M_TIME_TIMESTOP)))
			ipt_fold_drop(f, stop);
		return true;
	}
	ipt_fold_number(f, IPT_M_TIME_TIMESTART, from);
	ipt_fold_number(f, IPT_M_TIME_TIMESTOP, to);
	return true;
}

/* ---------- others ---------- */

static bool fold_string(struct ipt_fold *f)
{
	struct ipt_opt *hex = ipt_fold_get(f, IPT_M_STRING_HEX);
	const struct ipt_opt *algo = ipt_fold_get(f, IPT_M_STRING_ALGO), *from = ipt_fold_get(f, IPT_M_STRING_FROM);
	const struct ipt_opt *to = ipt_fold_get(f, IPT_M_STRING_TO);

	if (hex)
		hex->id = IPT_M_STRING_STRING;
	if (!str_is(algo->v.text, "bm") && !str_is(algo->v.text, "kmp")) {
		diag_error(f->d, algo->value_at, "'%.*s' is not a search algorithm: bm or kmp", STR_ARG(algo->v.text));
		return false;
	}
	if (from && to && from->v.range.lo > to->v.range.lo)
		return ipt_fold_fail(f, to, "--to is before --from");
	return true;
}

static bool fold_rt(struct ipt_fold *f)
{
	const struct ipt_opt *type = ipt_fold_get(f, IPT_M_RT_TYPE);
	const struct ipt_opt *o = ipt_fold_get(f, IPT_M_RT_RES) ? ipt_fold_get(f, IPT_M_RT_RES) : ipt_fold_get(f, IPT_M_RT_ADDRS);
	struct ipt_opt *loose;

	if (o && (!type || type->negated || type->v.range.lo != 0)) {
		diag_error(f->d, o->at, "--%s needs --rt-type 0", ipt_opt_name(o->id));
		return false;
	}
	loose = ipt_fold_get(f, IPT_M_RT_NOT_STRICT);
	if (loose) {
		struct ipt_opt *addrs = ipt_fold_get(f, IPT_M_RT_ADDRS);
		struct bytes_spec *b = arena_new(f->a, struct bytes_spec, 1);

		*b = *addrs->v.bytes;
		b->not_strict = true;
		addrs->v.bytes = b;
	}
	return true;
}

static bool fold_addrtype(struct ipt_fold *f)
{
	if (ipt_fold_get(f, IPT_M_ADDRTYPE_SRC) || ipt_fold_get(f, IPT_M_ADDRTYPE_DST))
		return true;
	return ipt_fold_fail(f, NULL, "-m addrtype needs --src-type or --dst-type");
}

static bool fold_cluster(struct ipt_fold *f)
{
	struct ipt_opt *node = ipt_fold_get(f, IPT_M_CLUSTER_NODE);
	const struct ipt_opt *total = ipt_fold_get(f, IPT_M_CLUSTER_TOTAL);
	uint64_t n;

	if (!node)
		return true;
	n = node->v.range.lo;
	if (n > total->v.range.lo) {
		diag_error(f->d, node->value_at, "there is no node %llu of %llu", (unsigned long long)n,
			   (unsigned long long)total->v.range.lo);
		return false;
	}
	node->id = IPT_M_CLUSTER_NODEMASK;
	node->v.range.lo = node->v.range.hi = (uint64_t)1 << (n - 1);
	return true;
}

/* ---------- policy ---------- */

static bool is_element_option(enum ipt_opt_id id)
{
	return id >= IPT_M_POLICY_REQID && id < IPT_M_POLICY_NEXT;
}

/* One element, opts[from, to): each option once, a tunnel's ends in tunnel mode only. */
static bool policy_element(struct ipt_fold *f, size_t from, size_t to, bool is_strict)
{
	bool has[IPT_OPT_COUNT] = { false }, is_tunnel = false, ok = true;
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		const struct ipt_opt *o = &f->u->opts.v[i];

		if (!is_element_option(o->id))
			continue;
		n++;
		is_tunnel |= o->id == IPT_M_POLICY_MODE && o->v.range.lo == 1 && !o->negated;
		if (has[o->id]) {
			diag_error(f->d, o->at, "--%s is given twice in one element", ipt_opt_name(o->id));
			ok = false;
		}
		has[o->id] = true;
		if (o->id == IPT_M_POLICY_PROTO && o->v.range.lo != 50 && o->v.range.lo != 51 && o->v.range.lo != 108) {
			diag_error(f->d, o->value_at, "the protocol of a policy is esp, ah or ipcomp");
			ok = false;
		}
	}
	if (is_strict && n == 0)
		return ipt_fold_fail(f, NULL, "--strict asks for elements, and one of them is empty");
	if (!is_tunnel && (has[IPT_M_POLICY_TUNNEL_SRC] || has[IPT_M_POLICY_TUNNEL_DST]))
		return ipt_fold_fail(f, NULL, "--tunnel-src and --tunnel-dst go with --mode tunnel");
	return ok;
}

/* Order of printing: the options of the whole, then element by element. */
void ipt_fold_policy_sort(struct ipt_use *u)
{
	unsigned rank[64];
	unsigned element = 1;

	for (size_t i = 0; i < u->opts.n; i++) {
		enum ipt_opt_id id = u->opts.v[i].id;

		rank[i] = id < IPT_M_POLICY_REQID ? (unsigned)id : element * 10000 + (unsigned)id;
		if (id == IPT_M_POLICY_NEXT)
			element++;
	}
	for (size_t i = 1; i < u->opts.n; i++) {
		for (size_t k = i; k > 0 && rank[k - 1] > rank[k]; k--) {
			struct ipt_opt o = u->opts.v[k];
			unsigned r = rank[k];

			u->opts.v[k] = u->opts.v[k - 1];
			u->opts.v[k - 1] = o;
			rank[k] = rank[k - 1];
			rank[k - 1] = r;
		}
	}
}

static bool fold_policy(struct ipt_fold *f)
{
	const struct ipt_opt *pol = ipt_fold_get(f, IPT_M_POLICY_POL), *strict = ipt_fold_get(f, IPT_M_POLICY_STRICT);
	bool is_none = pol && pol->v.range.lo == 0, ok = true;
	size_t from = 0, n_elements = 1;

	if (is_none && strict)
		return ipt_fold_fail(f, strict, "--strict asks for elements, which --pol none has not");
	if (f->u->opts.n > 60)
		return ipt_fold_fail(f, NULL, "too many options for -m policy");
	for (size_t i = 0; i <= f->u->opts.n; i++) {
		if (i < f->u->opts.n && f->u->opts.v[i].id != IPT_M_POLICY_NEXT)
			continue;
		ok &= is_none || policy_element(f, from, i, strict != NULL);
		from = i + 1;
		n_elements += i < f->u->opts.n;
	}
	if (n_elements > 4)
		return ipt_fold_fail(f, NULL, "a policy has at most 4 elements");
	for (size_t i = f->u->opts.n; is_none && i-- > 0;) {
		if (!is_element_option(f->u->opts.v[i].id))
			continue;
		ipt_fold_no_effect(f, &f->u->opts.v[i], "--pol none");
		ipt_fold_drop(f, &f->u->opts.v[i]);
	}
	return ok;
}

static const struct {
	enum ipt_ext_id ext;
	bool (*fold)(struct ipt_fold *f);
} folds[] = {
	{ IPT_M_TCP, fold_tcp },
	{ IPT_M_DSCP, fold_dscp },
	{ IPT_M_LIMIT, fold_limit },
	{ IPT_M_HASHLIMIT, fold_hashlimit },
	{ IPT_M_CONNLIMIT, fold_connlimit },
	{ IPT_M_RECENT, fold_recent },
	{ IPT_M_STATISTIC, fold_statistic },
	{ IPT_M_TIME, fold_time },
	{ IPT_M_STRING, fold_string },
	{ IPT_M_RT, fold_rt },
	{ IPT_M_ADDRTYPE, fold_addrtype },
	{ IPT_M_CLUSTER, fold_cluster },
	{ IPT_M_POLICY, fold_policy },
	{ IPT_M_MARK, fold_masked },
	{ IPT_M_CONNMARK, fold_masked },
	{ IPT_M_TOS, fold_masked },
	{ IPT_M_REALM, fold_masked },
};

bool ipt_fold_match(struct ipt_fold *f)
{
	for (size_t i = 0; i < sizeof(folds) / sizeof(*folds); i++) {
		if (folds[i].ext == f->u->ext)
			return folds[i].fold(f);
	}
	return true;
}
