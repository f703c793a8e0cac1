/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The final form of a match's or target's options. First what the table of extensions says: options that exclude or
 * need each other, that must be there. Then each extension's own ways of saying one thing in several ways, by a table
 * of functions below. At last defaults are added, options that say nothing go, and the rest is put into table order.
 *
 *     --syn               ->  --tcp-flags FIN,SYN,RST,ACK SYN
 *     --or-mark 0x4       ->  --set-xmark 0x4/0x4
 *     -m recent --set     ->  --set --name DEFAULT --mask 255.255.255.255 --rsource
 */
#include "lang/iptables/arg.h"
#include "lang/iptables/rule.h"
#include "policy/addr.h"

struct fold {
	struct arena *a;
	struct diags *d;
	enum family family;
	struct ipt_use *u;
};

/* ---------- helpers ---------- */

static struct ipt_opt *get(const struct fold *f, enum ipt_opt_id id)
{
	for (size_t i = 0; i < f->u->opts.n; i++) {
		if (f->u->opts.v[i].id == id)
			return &f->u->opts.v[i];
	}
	return NULL;
}

static void drop(struct fold *f, const struct ipt_opt *o)
{
	struct ipt_opt *v = f->u->opts.v;
	size_t i = (size_t)(o - v);

	memmove(v + i, v + i + 1, (f->u->opts.n - i - 1) * sizeof(*v));
	f->u->opts.n--;
}

static struct ipt_opt *add(struct fold *f, enum ipt_opt_id id)
{
	struct ipt_opt *o = vec_add(f->a, &f->u->opts);

	o->id = id;
	o->implied = true;
	o->at = o->value_at = f->u->at;
	return o;
}

static void add_number(struct fold *f, enum ipt_opt_id id, uint64_t n)
{
	struct ipt_opt *o;

	if (get(f, id))
		return;
	o = add(f, id);
	o->v.kind = IPT_VALUE_RANGE;
	o->v.range = (struct ipt_range){ n, n };
}

static void set_masked(struct ipt_opt *o, enum ipt_opt_id id, uint64_t value, uint64_t mask)
{
	o->id = id;
	o->v.kind = IPT_VALUE_MASKED;
	o->v.masked.value = (uint32_t)value;
	o->v.masked.mask = (uint32_t)mask;
}

static bool fail(struct fold *f, const struct ipt_opt *o, const char *text)
{
	diag_error(f->d, o ? o->at : f->u->at, "%s", text);
	return false;
}

static void no_effect(struct fold *f, const struct ipt_opt *o, const char *beside)
{
	diag_warn(f->d, o->at, "no-effect", "--%s says nothing beside %s", ipt_opt_name(o->id), beside);
}

static void warn_outside_mask(struct fold *f, const struct ipt_opt *o)
{
	if (o && (o->v.masked.value & ~o->v.masked.mask))
		diag_warn(f->d, o->value_at, "never-matches", "the value has bits outside the mask, so the test %s matches",
			  o->negated ? "always" : "never");
}

/* ---------- marks, flags, TOS ---------- */

static bool fold_tcp(struct fold *f)
{
	struct ipt_opt *syn = get(f, IPT_M_TCP_SYN), *flags;

	if (syn)
		set_masked(syn, IPT_M_TCP_FLAGS, 0x02, 0x17);
	flags = get(f, IPT_M_TCP_FLAGS);
	warn_outside_mask(f, flags);
	if (flags && !flags->v.masked.mask && !flags->v.masked.value && !flags->negated)
		drop(f, flags);
	return true;
}

static bool fold_masked_match(struct fold *f)
{
	if (f->u->opts.n)
		warn_outside_mask(f, &f->u->opts.v[0]);
	return true;
}

/* set: bits of the mask and the value are cleared first; and, or, xor: as they say. */
static void fold_mark(struct fold *f, enum ipt_opt_id xmark, uint32_t all)
{
	enum ipt_opt_id set = xmark + 1, and = xmark + 2, or = xmark + 3, xor = xmark + 4;

	for (size_t i = 0; i < f->u->opts.n; i++) {
		struct ipt_opt *o = &f->u->opts.v[i];
		uint64_t n = o->v.range.lo;

		if (o->id == set)
			set_masked(o, xmark, o->v.masked.value, o->v.masked.mask | o->v.masked.value);
		else if (o->id == and)
			set_masked(o, xmark, 0, ~n & all);
		else if (o->id == or)
			set_masked(o, xmark, n, n);
		else if (o->id == xor)
			set_masked(o, xmark, n, 0);
	}
}

static bool fold_mark_target(struct fold *f)
{
	fold_mark(f, IPT_T_MARK_SET_XMARK, UINT32_MAX);
	return true;
}

/* TOS has no set that differs from its xset: and, or, xor follow it at once. */
static bool fold_tos_target(struct fold *f)
{
	for (size_t i = 0; i < f->u->opts.n; i++) {
		struct ipt_opt *o = &f->u->opts.v[i];
		uint64_t n = o->v.range.lo;

		if (o->id == IPT_T_TOS_AND_TOS)
			set_masked(o, IPT_T_TOS_SET_TOS, 0, ~n & 0xff);
		else if (o->id == IPT_T_TOS_OR_TOS)
			set_masked(o, IPT_T_TOS_SET_TOS, n, n);
		else if (o->id == IPT_T_TOS_XOR_TOS)
			set_masked(o, IPT_T_TOS_SET_TOS, n, 0);
	}
	return true;
}

static bool connmark_masks(struct fold *f, bool copies)
{
	struct ipt_opt *mask = get(f, IPT_T_CONNMARK_MASK), *nf = get(f, IPT_T_CONNMARK_NFMASK);
	struct ipt_opt *ct = get(f, IPT_T_CONNMARK_CTMASK), *set = get(f, IPT_T_CONNMARK_SET_XMARK);
	uint64_t m = mask ? mask->v.range.lo : UINT32_MAX;

	if (mask && (nf || ct))
		return fail(f, mask, "--mask is both --nfmask and --ctmask; it cannot stand beside them");
	if (copies) {
		if (mask)
			drop(f, mask);
		add_number(f, IPT_T_CONNMARK_NFMASK, m);
		add_number(f, IPT_T_CONNMARK_CTMASK, m);
		return true;
	}
	if (mask && set)
		set->v.masked.mask = (uint32_t)m;
	if (mask)
		drop(f, mask);
	while ((nf = get(f, IPT_T_CONNMARK_NFMASK)) || (nf = get(f, IPT_T_CONNMARK_CTMASK))) {
		no_effect(f, nf, "--set-mark");
		drop(f, nf);
	}
	return true;
}

static bool fold_connmark(struct fold *f)
{
	fold_mark(f, IPT_T_CONNMARK_SET_XMARK, UINT32_MAX);
	return connmark_masks(f, get(f, IPT_T_CONNMARK_SAVE) || get(f, IPT_T_CONNMARK_RESTORE));
}

static bool fold_dscp(struct fold *f)
{
	struct ipt_opt *c = get(f, IPT_M_DSCP_CLASS), *set = get(f, IPT_T_DSCP_SET_CLASS);

	if (c)
		c->id = IPT_M_DSCP_DSCP;
	if (set)
		set->id = IPT_T_DSCP_SET_DSCP;
	return true;
}

/* ---------- rates ---------- */

static bool fold_limit(struct fold *f)
{
	if (!get(f, IPT_M_LIMIT_LIMIT)) {
		struct ipt_opt *o = add(f, IPT_M_LIMIT_LIMIT);

		o->v.kind = IPT_VALUE_RATE;
		o->v.rate = (struct ipt_rate){ .units = 3, .per_s = 3600, .ticks = 12000000, .written = 3, .written_s = 3600 };
	}
	return true;
}

/* `! --upto n` is `--above n`, and the other way round. */
static struct ipt_opt *fold_above(struct fold *f, enum ipt_opt_id upto, enum ipt_opt_id above)
{
	struct ipt_opt *o = get(f, upto) ? get(f, upto) : get(f, above);

	if (o->negated) {
		o->id = o->id == upto ? above : upto;
		o->negated = false;
	}
	return o;
}

/* Packets; beside a rate in bytes a multiple of what a second lets through. */
static bool hashlimit_burst(struct fold *f, const struct ipt_rate *rate)
{
	struct ipt_opt *o = get(f, IPT_M_HASHLIMIT_BURST);
	uint64_t n;

	if (!o) {
		add_number(f, IPT_M_HASHLIMIT_BURST, rate->by_bytes ? rate->units : 5);
		return true;
	}
	n = o->v.kind == IPT_VALUE_RATE ? o->v.rate.units : o->v.range.lo;
	if (!rate->by_bytes) {
		if (o->v.kind == IPT_VALUE_RATE)
			return fail(f, o, "a burst in bytes needs a rate in bytes: --hashlimit-upto 512kb/s");
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

static void drop_full_plen(struct fold *f, enum ipt_opt_id id)
{
	struct ipt_opt *o = get(f, id);

	if (o && o->v.range.lo == addr_bits(f->family))
		drop(f, o);
}

static bool fold_hashlimit(struct fold *f)
{
	struct ipt_opt *o = fold_above(f, IPT_M_HASHLIMIT_UPTO, IPT_M_HASHLIMIT_ABOVE), *interval;
	struct ipt_rate *rate = &o->v.rate, copy;
	bool is_count = get(f, IPT_M_HASHLIMIT_RATE_MATCH) != NULL;

	if (is_count && !rate->by_bytes) { /* the number stands for itself, whatever the unit */
		rate->units = rate->written;
		rate->per_s = 1;
	}
	copy = *rate;
	interval = get(f, IPT_M_HASHLIMIT_RATE_INTERVAL);
	if (interval && (!is_count || interval->v.range.lo == 1)) {
		if (!is_count)
			no_effect(f, interval, "no --hashlimit-rate-match");
		drop(f, interval);
	}
	add_number(f, IPT_M_HASHLIMIT_EXPIRE, (uint64_t)copy.written_s * 1000);
	drop_full_plen(f, IPT_M_HASHLIMIT_SRCMASK);
	drop_full_plen(f, IPT_M_HASHLIMIT_DSTMASK);
	return hashlimit_burst(f, &copy);
}

static bool fold_connlimit(struct fold *f)
{
	fold_above(f, IPT_M_CONNLIMIT_UPTO, IPT_M_CONNLIMIT_ABOVE);
	add_number(f, IPT_M_CONNLIMIT_MASK, addr_bits(f->family));
	return true;
}

/* ---------- recent, statistic, time ---------- */

static bool fold_recent(struct fold *f)
{
	static const enum ipt_opt_id asks[] = { IPT_M_RECENT_SECONDS, IPT_M_RECENT_HITCOUNT, IPT_M_RECENT_RTTL };
	const struct ipt_opt *set = get(f, IPT_M_RECENT_SET), *remove = get(f, IPT_M_RECENT_REMOVE);
	struct ipt_opt *o;
	bool ok = true;

	for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++) {
		o = get(f, asks[i]);
		if (!o || !(set || remove))
			continue;
		diag_error(f->d, o->at, "--%s asks about earlier packets: it goes with --rcheck or --update, not --%s",
			   ipt_opt_name(o->id), set ? "set" : "remove");
		ok = false;
	}
	if (!get(f, IPT_M_RECENT_NAME)) {
		o = add(f, IPT_M_RECENT_NAME);
		o->v.kind = IPT_VALUE_TEXT;
		o->v.text = STR("DEFAULT");
	}
	if (!get(f, IPT_M_RECENT_MASK)) {
		o = add(f, IPT_M_RECENT_MASK);
		o->v.kind = IPT_VALUE_ADDR;
		o->v.addr.mask = addr_mask(f->family, addr_bits(f->family));
	}
	return ok;
}

static bool fold_statistic(struct fold *f)
{
	bool is_nth = get(f, IPT_M_STATISTIC_MODE)->v.range.lo == 1;
	const struct ipt_opt *p = get(f, IPT_M_STATISTIC_PROBABILITY), *every = get(f, IPT_M_STATISTIC_EVERY);
	const struct ipt_opt *packet = get(f, IPT_M_STATISTIC_PACKET);

	if (!is_nth && !p)
		return fail(f, NULL, "--mode random needs --probability");
	if (is_nth && !every)
		return fail(f, NULL, "--mode nth needs --every and --packet");
	if (is_nth && p)
		return fail(f, p, "--probability belongs to --mode random");
	if (!is_nth && every)
		return fail(f, every, "--every belongs to --mode nth");
	if (is_nth && packet->v.range.lo >= every->v.range.lo) {
		diag_error(f->d, packet->value_at, "--packet counts from 0, so it must be below --every %llu",
			   (unsigned long long)every->v.range.lo);
		return false;
	}
	return true;
}

/* Negated days are the other days; all days ask for nothing; none never come. */
static void fold_days(struct fold *f, enum ipt_opt_id id, uint64_t all)
{
	struct ipt_opt *o = get(f, id);

	if (!o)
		return;
	if (o->negated)
		o->v.bits = all & ~o->v.bits;
	o->negated = false;
	if (o->v.bits == all)
		drop(f, o);
	else if (!o->v.bits)
		diag_warn(f->d, o->at, "never-matches", "no day is left, so the rule never matches");
}

static bool fold_time(struct fold *f)
{
	struct ipt_opt *tz = get(f, IPT_M_TIME_LOCALTZ), *utc, *start, *stop, *contiguous;
	uint64_t from, to;

	if (tz) {
		tz->id = IPT_M_TIME_KERNELTZ;
		diag_warn(f->d, tz->at, "old-spelling", "--localtz means the kernel's time zone and is now called --kerneltz");
	}
	utc = get(f, IPT_M_TIME_UTC);
	if (utc)
		drop(f, utc);
	fold_days(f, IPT_M_TIME_MONTHDAYS, 0xfffffffe);
	fold_days(f, IPT_M_TIME_WEEKDAYS, 0xfe);
	start = get(f, IPT_M_TIME_TIMESTART);
	from = start ? start->v.range.lo : 0;
	stop = get(f, IPT_M_TIME_TIMESTOP);
	to = stop ? stop->v.range.lo : 24 * 60 * 60 - 1;
	contiguous = get(f, IPT_M_TIME_CONTIGUOUS);
	if (contiguous && from <= to)
		return fail(f, contiguous, "--contiguous goes with a --timestop before its --timestart");
	if (from == 0 && to == 24 * 60 * 60 - 1) {
		if (start)
			drop(f, start);
		if ((stop = get(f, IPT_M_TIME_TIMESTOP)))
			drop(f, stop);
		return true;
	}
	add_number(f, IPT_M_TIME_TIMESTART, from);
	add_number(f, IPT_M_TIME_TIMESTOP, to);
	return true;
}

/* ---------- others ---------- */

static bool fold_string(struct fold *f)
{
	struct ipt_opt *hex = get(f, IPT_M_STRING_HEX);
	const struct ipt_opt *algo = get(f, IPT_M_STRING_ALGO), *from = get(f, IPT_M_STRING_FROM);
	const struct ipt_opt *to = get(f, IPT_M_STRING_TO);

	if (hex)
		hex->id = IPT_M_STRING_STRING;
	if (!str_is(algo->v.text, "bm") && !str_is(algo->v.text, "kmp")) {
		diag_error(f->d, algo->value_at, "'%.*s' is not a search algorithm: bm or kmp", STR_ARG(algo->v.text));
		return false;
	}
	if (from && to && from->v.range.lo > to->v.range.lo)
		return fail(f, to, "--to is before --from");
	return true;
}

static bool fold_rt(struct fold *f)
{
	const struct ipt_opt *type = get(f, IPT_M_RT_TYPE);
	const struct ipt_opt *o = get(f, IPT_M_RT_RES) ? get(f, IPT_M_RT_RES) : get(f, IPT_M_RT_ADDRS);
	struct ipt_opt *loose;

	if (o && (!type || type->negated || type->v.range.lo != 0)) {
		diag_error(f->d, o->at, "--%s needs --rt-type 0", ipt_opt_name(o->id));
		return false;
	}
	loose = get(f, IPT_M_RT_NOT_STRICT);
	if (loose) {
		struct ipt_opt *addrs = get(f, IPT_M_RT_ADDRS);
		struct bytes_spec *b = arena_new(f->a, struct bytes_spec, 1);

		*b = *addrs->v.bytes;
		b->not_strict = true;
		addrs->v.bytes = b;
	}
	return true;
}

static bool fold_addrtype(struct fold *f)
{
	if (get(f, IPT_M_ADDRTYPE_SRC) || get(f, IPT_M_ADDRTYPE_DST))
		return true;
	return fail(f, NULL, "-m addrtype needs --src-type or --dst-type");
}

static bool fold_cluster(struct fold *f)
{
	struct ipt_opt *node = get(f, IPT_M_CLUSTER_NODE);
	const struct ipt_opt *total = get(f, IPT_M_CLUSTER_TOTAL);
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

static bool fold_set_target(struct fold *f)
{
	if (!get(f, IPT_T_SET_MAP) || get(f, IPT_T_SET_MAP_MARK) || get(f, IPT_T_SET_MAP_PRIO) || get(f, IPT_T_SET_MAP_QUEUE))
		return true;
	return fail(f, get(f, IPT_T_SET_MAP), "--map-set needs one of --map-mark, --map-prio and --map-queue");
}

static bool fold_reject(struct fold *f)
{
	add_number(f, IPT_T_REJECT_WITH, f->family == FAMILY_IP6 ? REJECT6_PORT_UNREACH : REJECT_PORT_UNREACH);
	return true;
}

static bool fold_nflog(struct fold *f)
{
	const struct ipt_opt *range = get(f, IPT_T_NFLOG_RANGE);

	if (range)
		diag_hint(f->d, diag_warn(f->d, range->at, "no-effect", "--nflog-range has never worked"), "use --nflog-size");
	return true;
}

/* ---------- policy ---------- */

static bool is_element_option(enum ipt_opt_id id)
{
	return id >= IPT_M_POLICY_REQID && id < IPT_M_POLICY_NEXT;
}

/* One element, opts[from, to): each option once, a tunnel's ends in tunnel mode only. */
static bool policy_element(struct fold *f, size_t from, size_t to, bool is_strict)
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
		return fail(f, NULL, "--strict asks for elements, and one of them is empty");
	if (!is_tunnel && (has[IPT_M_POLICY_TUNNEL_SRC] || has[IPT_M_POLICY_TUNNEL_DST]))
		return fail(f, NULL, "--tunnel-src and --tunnel-dst go with --mode tunnel");
	return ok;
}

/* Order of printing: the options of the whole, then element by element. */
static void policy_sort(struct ipt_use *u)
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

static bool fold_policy(struct fold *f)
{
	const struct ipt_opt *pol = get(f, IPT_M_POLICY_POL), *strict = get(f, IPT_M_POLICY_STRICT);
	bool is_none = pol && pol->v.range.lo == 0, ok = true;
	size_t from = 0, n_elements = 1;

	if (is_none && strict)
		return fail(f, strict, "--strict asks for elements, which --pol none has not");
	if (f->u->opts.n > 60)
		return fail(f, NULL, "too many options for -m policy");
	for (size_t i = 0; i <= f->u->opts.n; i++) {
		if (i < f->u->opts.n && f->u->opts.v[i].id != IPT_M_POLICY_NEXT)
			continue;
		ok &= is_none || policy_element(f, from, i, strict != NULL);
		from = i + 1;
		n_elements += i < f->u->opts.n;
	}
	if (n_elements > 4)
		return fail(f, NULL, "a policy has at most 4 elements");
	for (size_t i = f->u->opts.n; is_none && i-- > 0;) {
		if (!is_element_option(f->u->opts.v[i].id))
			continue;
		no_effect(f, &f->u->opts.v[i], "--pol none");
		drop(f, &f->u->opts.v[i]);
	}
	return ok;
}

static const struct {
	enum ipt_ext_id ext;
	bool (*fold)(struct fold *f);
} folds[] = {
	{ IPT_M_TCP, fold_tcp },	  { IPT_M_DSCP, fold_dscp },	      { IPT_M_LIMIT, fold_limit },
	{ IPT_M_HASHLIMIT, fold_hashlimit }, { IPT_M_CONNLIMIT, fold_connlimit }, { IPT_M_RECENT, fold_recent },
	{ IPT_M_STATISTIC, fold_statistic }, { IPT_M_TIME, fold_time },	      { IPT_M_STRING, fold_string },
	{ IPT_M_RT, fold_rt },		  { IPT_M_ADDRTYPE, fold_addrtype },  { IPT_M_CLUSTER, fold_cluster },
	{ IPT_M_POLICY, fold_policy },	  { IPT_M_MARK, fold_masked_match },  { IPT_M_CONNMARK, fold_masked_match },
	{ IPT_M_TOS, fold_masked_match }, { IPT_M_REALM, fold_masked_match }, { IPT_T_MARK, fold_mark_target },
	{ IPT_T_CONNMARK, fold_connmark }, { IPT_T_TOS, fold_tos_target },    { IPT_T_DSCP, fold_dscp },
	{ IPT_T_SET, fold_set_target },	  { IPT_T_REJECT, fold_reject },      { IPT_T_NFLOG, fold_nflog },
};

/* ---------- what the table says ---------- */

static bool check_pairs(struct fold *f)
{
	bool ok = true;

	for (size_t i = 0; i < f->u->opts.n; i++) {
		const struct ipt_opt *o = &f->u->opts.v[i];
		const struct ipt_opt_row *row = ipt_opt_row(o->id);

		for (size_t k = 0; k < i; k++) {
			const struct ipt_opt *other = &f->u->opts.v[k];

			if (!row->group || ipt_opt_row(other->id)->group != row->group || other->id == o->id)
				continue;
			diag_error(f->d, o->at, "--%s cannot stand together with --%s", row->name, ipt_opt_name(other->id));
			ok = false;
		}
		if (row->with != IPT_OPT_NONE && !get(f, row->with)) {
			diag_error(f->d, o->at, "--%s needs --%s", row->name, ipt_opt_name(row->with));
			ok = false;
		}
	}
	return ok;
}

/* Names of the options of a group, to say what is missing. */
static struct str group_names(struct fold *f, uint8_t group)
{
	struct buf b = { .a = f->a };
	const struct ipt_ext_row *row = ipt_ext_row(f->u->ext);

	for (enum ipt_opt_id id = row->first; id < IPT_OPT_COUNT && ipt_opt_row(id)->ext == f->u->ext; id++) {
		const struct ipt_opt_row *o = ipt_opt_row(id);

		if (group == IPT_ANY_OPTION || o->group == group)
			buf_printf(&b, "%s--%s", b.n ? ", " : "", o->name);
	}
	return buf_str(&b);
}

static bool check_presence(struct fold *f)
{
	const struct ipt_ext_row *row = ipt_ext_row(f->u->ext);
	const char *letter = row->is_target ? "-j" : "-m";
	bool has_one = !row->one_of || (row->one_of == IPT_ANY_OPTION && f->u->opts.n), ok = true;

	for (size_t i = 0; i < f->u->opts.n; i++)
		has_one |= ipt_opt_row(f->u->opts.v[i].id)->group == row->one_of;
	if (!has_one) {
		struct str names = group_names(f, row->one_of);

		diag_error(f->d, f->u->at, "%s %s needs one of %.*s", letter, row->name, STR_ARG(names));
		ok = false;
	}
	for (enum ipt_opt_id id = row->first; id < IPT_OPT_COUNT && ipt_opt_row(id)->ext == f->u->ext; id++) {
		if (!(ipt_opt_row(id)->flags & F_MUST) || get(f, id))
			continue;
		diag_error(f->d, f->u->at, "%s %s needs --%s", letter, row->name, ipt_opt_name(id));
		ok = false;
	}
	return ok;
}

/* Options that test nothing go; one that never passes is warned of. */
static void drop_idle(struct fold *f)
{
	for (size_t i = f->u->opts.n; i-- > 0;) {
		const struct ipt_opt *o = &f->u->opts.v[i];
		const struct ipt_opt_row *row = ipt_opt_row(o->id);
		bool is_full = (row->flags & F_DROP_FULL) && o->v.range.lo == 0 && o->v.range.hi == row->max;

		if (is_full && o->negated)
			diag_warn(f->d, o->value_at, "never-matches", "nothing is outside this range, so the rule never matches");
		else if (is_full || ((row->flags & F_DROP_ZERO) && o->v.range.lo == 0))
			drop(f, o);
	}
}

static void add_defaults(struct fold *f)
{
	const struct ipt_ext_row *row = ipt_ext_row(f->u->ext);

	for (enum ipt_opt_id id = row->first; id < IPT_OPT_COUNT && ipt_opt_row(id)->ext == f->u->ext; id++) {
		const struct ipt_opt_row *r = ipt_opt_row(id);
		bool is_there = get(f, id) != NULL;

		for (size_t i = 0; i < f->u->opts.n; i++)
			is_there |= r->group && ipt_opt_row(f->u->opts.v[i].id)->group == r->group;
		if ((r->flags & F_DFLT) && !is_there)
			add(f, id)->v = ipt_arg_default(r, f->family);
	}
}

static void sort_options(struct ipt_use *u)
{
	for (size_t i = 1; i < u->opts.n; i++) {
		struct ipt_opt o = u->opts.v[i];
		size_t k = i;

		for (; k > 0 && u->opts.v[k - 1].id > o.id; k--)
			u->opts.v[k] = u->opts.v[k - 1];
		u->opts.v[k] = o;
	}
}

bool ipt_fold_use(struct arena *a, struct diags *d, enum family family, struct ipt_use *u)
{
	struct fold f = { .a = a, .d = d, .family = family, .u = u };
	bool ok = check_pairs(&f);

	ok &= check_presence(&f);
	for (size_t i = 0; ok && i < sizeof(folds) / sizeof(*folds); i++) {
		if (folds[i].ext == u->ext)
			ok &= folds[i].fold(&f);
	}
	if (!ok)
		return false;
	drop_idle(&f);
	add_defaults(&f);
	if (u->ext == IPT_M_POLICY)
		policy_sort(u);
	else
		sort_options(u);
	return true;
}
