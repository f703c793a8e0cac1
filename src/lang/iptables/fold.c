/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The final form of a match's or target's options. First what the table of extensions says: options that exclude or
 * need each other, that must be there. Then each extension's own ways of saying one thing in several ways (fold_match.c,
 * fold_target.c). At last defaults are added, options that say nothing go, and the rest is put into table order.
 *
 *     --syn               ->  --tcp-flags FIN,SYN,RST,ACK SYN
 *     --or-mark 0x4       ->  --set-xmark 0x4/0x4
 *     -m recent --set     ->  --set --name DEFAULT --mask 255.255.255.255 --rsource
 */
#include "lang/iptables/fold.h"

#include "lang/iptables/arg.h"
#include "lang/iptables/rule.h"

/* ---------- helpers ---------- */

struct ipt_opt *ipt_fold_get(const struct ipt_fold *f, enum ipt_opt_id id)
{
	for (size_t i = 0; i < f->u->opts.n; i++) {
		if (f->u->opts.v[i].id == id)
			return &f->u->opts.v[i];
	}
	return NULL;
}

void ipt_fold_drop(struct ipt_fold *f, const struct ipt_opt *o)
{
	struct ipt_opt *v = f->u->opts.v;
	size_t i = (size_t)(o - v);

	memmove(v + i, v + i + 1, (f->u->opts.n - i - 1) * sizeof(*v));
	f->u->opts.n--;
}

struct ipt_opt *ipt_fold_add(struct ipt_fold *f, enum ipt_opt_id id)
{
	struct ipt_opt *o = vec_add(f->a, &f->u->opts);

	o->id = id;
	o->implied = true;
	o->at = o->value_at = f->u->at;
	return o;
}

void ipt_fold_number(struct ipt_fold *f, enum ipt_opt_id id, uint64_t n)
{
	struct ipt_opt *o;

	if (ipt_fold_get(f, id))
		return;
	o = ipt_fold_add(f, id);
	o->v.kind = IPT_VALUE_RANGE;
	o->v.range = (struct ipt_range){ n, n };
}

void ipt_fold_masked(struct ipt_opt *o, enum ipt_opt_id id, uint64_t value, uint64_t mask)
{
	o->id = id;
	o->v.kind = IPT_VALUE_MASKED;
	o->v.masked.value = (uint32_t)value;
	o->v.masked.mask = (uint32_t)mask;
}

bool ipt_fold_fail(struct ipt_fold *f, const struct ipt_opt *o, const char *text)
{
	diag_error(f->d, o ? o->at : f->u->at, "%s", text);
	return false;
}

void ipt_fold_no_effect(struct ipt_fold *f, const struct ipt_opt *o, const char *beside)
{
	diag_warn(f->d, o->at, "no-effect", "--%s says nothing beside %s", ipt_opt_name(o->id), beside);
}

/* ---------- what the table says ---------- */

static bool check_pairs(struct ipt_fold *f)
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
		if (row->with != IPT_OPT_NONE && !ipt_fold_get(f, row->with)) {
			diag_error(f->d, o->at, "--%s needs --%s", row->name, ipt_opt_name(row->with));
			ok = false;
		}
	}
	return ok;
}

/* Names of the options of a group, to say what is missing. */
static struct str group_names(struct ipt_fold *f, uint8_t group)
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

static bool check_presence(struct ipt_fold *f)
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
		if (!(ipt_opt_row(id)->flags & F_MUST) || ipt_fold_get(f, id))
			continue;
		diag_error(f->d, f->u->at, "%s %s needs --%s", letter, row->name, ipt_opt_name(id));
		ok = false;
	}
	return ok;
}

/* Options that test nothing go; one that never passes is warned of. */
static void drop_idle(struct ipt_fold *f)
{
	for (size_t i = f->u->opts.n; i-- > 0;) {
		const struct ipt_opt *o = &f->u->opts.v[i];
		const struct ipt_opt_row *row = ipt_opt_row(o->id);
		bool is_full = (row->flags & F_DROP_FULL) && o->v.range.lo == 0 && o->v.range.hi == row->max;

		if (is_full && o->negated)
			diag_warn(f->d, o->value_at, "never-matches", "nothing is outside this range, so the rule never matches");
		else if (is_full || ((row->flags & F_DROP_ZERO) && o->v.range.lo == 0))
			ipt_fold_drop(f, o);
	}
}

static void add_defaults(struct ipt_fold *f)
{
	const struct ipt_ext_row *row = ipt_ext_row(f->u->ext);

	for (enum ipt_opt_id id = row->first; id < IPT_OPT_COUNT && ipt_opt_row(id)->ext == f->u->ext; id++) {
		const struct ipt_opt_row *r = ipt_opt_row(id);
		bool is_there = ipt_fold_get(f, id) != NULL;

		for (size_t i = 0; i < f->u->opts.n; i++)
			is_there |= r->group && ipt_opt_row(f->u->opts.v[i].id)->group == r->group;
		if ((r->flags & F_DFLT) && !is_there)
			ipt_fold_add(f, id)->v = ipt_arg_default(r, f->family);
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
	struct ipt_fold f = { .a = a, .d = d, .family = family, .u = u };
	bool ok = check_pairs(&f);

	ok &= check_presence(&f);
	ok = ok && (ipt_ext_row(u->ext)->is_target ? ipt_fold_target(&f) : ipt_fold_match(&f));
	if (!ok)
		return false;
	drop_idle(&f);
	add_defaults(&f);
	if (u->ext == IPT_M_POLICY)
		ipt_fold_policy_sort(u);
	else
		sort_options(u);
	return true;
}
