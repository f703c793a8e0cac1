/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Targets that say one thing in several ways. All ways to write a mark, or TOS, become x = (x & ~mask) ^ value:
 *
 *     --and-mark n   0/~n        --or-mark n   n/n        --xor-mark n   n/0
 */
#include "lang/iptables/ext.h"
#include "lang/iptables/fold.h"

/* set: bits of the mask and the value are cleared first; and, or, xor: as they say. */
static void fold_mark(struct ipt_fold *f, enum ipt_opt_id xmark, uint32_t all)
{
	enum ipt_opt_id set = xmark + 1, and = xmark + 2, or = xmark + 3, xor = xmark + 4;

	for (size_t i = 0; i < f->u->opts.n; i++) {
		struct ipt_opt *o = &f->u->opts.v[i];
		uint64_t n = o->v.range.lo;

		if (o->id == set)
			ipt_fold_masked(o, xmark, o->v.masked.value, o->v.masked.mask | o->v.masked.value);
		else if (o->id == and)
			ipt_fold_masked(o, xmark, 0, ~n & all);
		else if (o->id == or)
			ipt_fold_masked(o, xmark, n, n);
		else if (o->id == xor)
			ipt_fold_masked(o, xmark, n, 0);
	}
}

static bool fold_mark_target(struct ipt_fold *f)
{
	fold_mark(f, IPT_T_MARK_SET_XMARK, UINT32_MAX);
	return true;
}

/* TOS has no set that differs from its xset: and, or, xor follow it at once. */
static bool fold_tos_target(struct ipt_fold *f)
{
	for (size_t i = 0; i < f->u->opts.n; i++) {
		struct ipt_opt *o = &f->u->opts.v[i];
		uint64_t n = o->v.range.lo;

		if (o->id == IPT_T_TOS_AND_TOS)
			ipt_fold_masked(o, IPT_T_TOS_SET_TOS, 0, ~n & 0xff);
		else if (o->id == IPT_T_TOS_OR_TOS)
			ipt_fold_masked(o, IPT_T_TOS_SET_TOS, n, n);
		else if (o->id == IPT_T_TOS_XOR_TOS)
			ipt_fold_masked(o, IPT_T_TOS_SET_TOS, n, 0);
	}
	return true;
}

static bool connmark_masks(struct ipt_fold *f, bool copies)
{
	struct ipt_opt *mask = ipt_fold_get(f, IPT_T_CONNMARK_MASK), *nf = ipt_fold_get(f, IPT_T_CONNMARK_NFMASK);
	struct ipt_opt *ct = ipt_fold_get(f, IPT_T_CONNMARK_CTMASK), *set = ipt_fold_get(f, IPT_T_CONNMARK_SET_XMARK);
	uint64_t m = mask ? mask->v.range.lo : UINT32_MAX;

	if (mask && (nf || ct))
		return ipt_fold_fail(f, mask, "--mask is both --nfmask and --ctmask; it cannot stand beside them");
	if (copies) {
		if (mask)
			ipt_fold_drop(f, mask);
		ipt_fold_number(f, IPT_T_CONNMARK_NFMASK, m);
		ipt_fold_number(f, IPT_T_CONNMARK_CTMASK, m);
		return true;
	}
	if (mask && set)
		set->v.masked.mask = (uint32_t)m;
	if (mask)
		ipt_fold_drop(f, mask);
	while ((nf = ipt_fold_get(f, IPT_T_CONNMARK_NFMASK)) || (nf = ipt_fold_get(f, IPT_T_CONNMARK_CTMASK))) {
		ipt_fold_no_effect(f, nf, "--set-mark");
		ipt_fold_drop(f, nf);
	}
	return true;
}

static bool fold_connmark(struct ipt_fold *f)
{
	fold_mark(f, IPT_T_CONNMARK_SET_XMARK, UINT32_MAX);
	return connmark_masks(f, ipt_fold_get(f, IPT_T_CONNMARK_SAVE) || ipt_fold_get(f, IPT_T_CONNMARK_RESTORE));
}

static bool fold_set_target(struct ipt_fold *f)
{
	if (!ipt_fold_get(f, IPT_T_SET_MAP) || ipt_fold_get(f, IPT_T_SET_MAP_MARK) || ipt_fold_get(f, IPT_T_SET_MAP_PRIO) || ipt_fold_get(f, IPT_T_SET_MAP_QUEUE))
		return true;
	return ipt_fold_fail(f, ipt_fold_get(f, IPT_T_SET_MAP), "--map-set needs one of --map-mark, --map-prio and --map-queue");
}

static bool fold_reject(struct ipt_fold *f)
{
	ipt_fold_number(f, IPT_T_REJECT_WITH, f->family == FAMILY_IP6 ? REJECT6_PORT_UNREACH : REJECT_PORT_UNREACH);
	return true;
}

static bool fold_nflog(struct ipt_fold *f)
{
	const struct ipt_opt *range = ipt_fold_get(f, IPT_T_NFLOG_RANGE);

	if (range)
		diag_hint(f->d, diag_warn(f->d, range->at, "no-effect", "--nflog-range has never worked"), "use --nflog-size");
	return true;
}

static bool fold_dscp_target(struct ipt_fold *f)
{
	struct ipt_opt *set = ipt_fold_get(f, IPT_T_DSCP_SET_CLASS);

	if (set)
		set->id = IPT_T_DSCP_SET_DSCP;
	return true;
}

static const struct {
	enum ipt_ext_id ext;
	bool (*fold)(struct ipt_fold *f);
} folds[] = {
	{ IPT_T_MARK, fold_mark_target },
	{ IPT_T_CONNMARK, fold_connmark },
	{ IPT_T_TOS, fold_tos_target },
	{ IPT_T_DSCP, fold_dscp_target },
	{ IPT_T_SET, fold_set_target },
	{ IPT_T_REJECT, fold_reject },
	{ IPT_T_NFLOG, fold_nflog },
};

bool ipt_fold_target(struct ipt_fold *f)
{
	for (size_t i = 0; i < sizeof(folds) / sizeof(*folds); i++) {
		if (folds[i].ext == f->u->ext)
			return folds[i].fold(f);
	}
	return true;
}
