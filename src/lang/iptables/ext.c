/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of ext.def, and finding one. */
#include "lang/iptables/ext.h"

/* Where each row of ext.def stands among all of them: the first option of an extension is the row behind it. */
enum {
#define EXT(id, ...) POS_##id,
#define OPT(ext, id, ...) POS_##ext##_##id,
#include "lang/iptables/ext.def"
	POS_COUNT
};

enum { MATCH = 0, TARGET = 1 };

static const struct ipt_ext_row ext_rows[IPT_EXT_COUNT] = {
/* POS counts extensions and options from 0, IPT_ each of them from 1. */
#define EXT(id, text, kind, fams, ...)                                                          \
	[IPT_##id] = { .name = text,                                                            \
		       .is_target = (kind),                                                     \
		       .families = (fams),                                                      \
		       .first = (enum ipt_opt_id)((int)POS_##id - (int)IPT_##id + 2),           \
		       __VA_ARGS__ },
#define OPT(...)
#include "lang/iptables/ext.def"
};

static const struct ipt_opt_row opt_rows[IPT_OPT_COUNT] = {
#define EXT(...)
#define OPT(e, id, text, other, kind, opt_flags, ...)                                              \
	[IPT_##e##_##id] = { .name = text,                                                      \
			     .alias = other,                                                    \
			     .ext = IPT_##e,                                                    \
			     .arg = ARG_##kind,                                                 \
			     .flags = (opt_flags),                                              \
			     __VA_ARGS__ },
#include "lang/iptables/ext.def"
};

const struct ipt_ext_row *ipt_ext_row(enum ipt_ext_id id)
{
	return &ext_rows[id];
}

const struct ipt_opt_row *ipt_opt_row(enum ipt_opt_id id)
{
	return &opt_rows[id];
}

const char *ipt_ext_name(enum ipt_ext_id id)
{
	return ext_rows[id].name;
}

const char *ipt_opt_name(enum ipt_opt_id id)
{
	return opt_rows[id].name;
}

static bool is_named(const struct ipt_ext_row *r, struct str name)
{
	struct str rest = str_from(r->alias);
	bool found = true;

	if (str_is(name, r->name))
		return true;
	while (rest.n && found) {
		struct str one = str_cut(rest, ' ', &rest, &found);

		if (str_eq(name, one))
			return true;
	}
	return false;
}

enum ipt_ext_id ipt_ext_find(struct str name, bool is_target, enum family family)
{
	for (enum ipt_ext_id id = IPT_NONE + 1; id < IPT_EXT_COUNT; id++) {
		const struct ipt_ext_row *r = &ext_rows[id];

		if (r->is_target == is_target && (r->families & 1 << family) && is_named(r, name))
			return id;
	}
	return IPT_NONE;
}

const char *ipt_ext_nearest(struct arena *a, struct str name, bool is_target, enum family family)
{
	VEC(const char *) all = { 0 };

	for (enum ipt_ext_id id = IPT_NONE + 1; id < IPT_EXT_COUNT; id++) {
		const struct ipt_ext_row *r = &ext_rows[id];

		if (r->is_target != is_target || !(r->families & 1 << family))
			continue;
		if (str_is_nocase(name, r->name))
			return r->name;
		*vec_add(a, &all) = r->name;
	}
	return str_nearest(name, all.v, all.n);
}

bool ipt_ext_is_foreign(struct str name, bool is_target)
{
	static const char *const matches[] = { "ipvs", "osf", "rateest", "srh", NULL };
	static const char *const targets[] = { "CLUSTERIP", "DNPT", "HMARK", "LED", "RATEEST", "SNPT", "ULOG", NULL };

	for (const char *const *n = is_target ? targets : matches; *n; n++) {
		if (str_is(name, *n))
			return true;
	}
	return false;
}

enum ipt_ext_id ipt_ext_implied_by(uint8_t proto, enum family family)
{
	for (enum ipt_ext_id id = IPT_NONE + 1; proto && id < IPT_EXT_COUNT; id++) {
		if (ext_rows[id].implied_by == proto && (ext_rows[id].families & 1 << family))
			return id;
	}
	return IPT_NONE;
}
