/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looking up options as getopt_long() does for iptables: a whole name first, core options before those of extensions,
 * the extension that came last before earlier ones; then a beginning that only one name has.
 *
 *     -p tcp --dport 22          nobody has --dport yet: the match tcp is called up
 *     -p tcp --dest 192.0.2.1    a beginning of --destination, and of nothing else that is there so far
 */
#include "lang/iptables/option.h"

#include "lang/iptables/ext.h"

static const struct ipt_core_row core_rows[] = {
	{ "source", 's', CORE_SRC, true, 1 },
	{ "src", 's', CORE_SRC, true, 1 },
	{ "destination", 'd', CORE_DST, true, 1 },
	{ "dst", 'd', CORE_DST, true, 1 },
	{ "in-interface", 'i', CORE_IN, true, 1 },
	{ "out-interface", 'o', CORE_OUT, true, 1 },
	{ "protocol", 'p', CORE_PROTO, true, 1 },
	{ "jump", 'j', CORE_JUMP, false, 1 },
	{ "goto", 'g', CORE_GOTO, false, 1 },
	{ "match", 'm', CORE_MATCH, false, 1 },
	{ "fragments", 'f', CORE_FRAG, true, 0 },
	{ "set-counters", 'c', CORE_COUNTS, false, 2 },
	{ "verbose", 'v', CORE_VERBOSE, false, 0 },
	{ "ipv4", '4', CORE_VERBOSE, false, 0 },
	{ "ipv6", '6', CORE_VERBOSE, false, 0 },
	{ "table", 't', CORE_TABLE, false, 1 },
	{ "append", 'A', CORE_COMMAND, false, 1 },
	{ "insert", 'I', CORE_COMMAND, false, 1 },
	{ "delete", 'D', CORE_COMMAND, false, 1 },
	{ "replace", 'R', CORE_COMMAND, false, 1 },
	{ "numeric", 'n', CORE_LISTING, false, 0 },
	{ "exact", 'x', CORE_LISTING, false, 0 },
	{ "line-numbers", '0', CORE_LISTING, false, 0 },
	{ "wait", 'w', CORE_LISTING, false, 0 },
	{ "modprobe", 'M', CORE_LISTING, false, 0 },
};
enum { N_CORE = sizeof(core_rows) / sizeof(*core_rows) };

static void candidate(struct ipt_found *f, const struct ipt_core_row *core, enum ipt_opt_id opt, int use)
{
	const char *name = core ? core->name : ipt_opt_row(opt)->name;

	if (!f->name) {
		*f = (struct ipt_found){ .core = core, .opt = opt, .use = use, .name = name };
		return;
	}
	if (core ? f->core && f->core->core == core->core : f->opt == opt)
		return;
	f->other = name;
}

static bool is_name(struct str s, const char *name, bool whole)
{
	size_t n = strlen(name);

	return n && (whole ? s.n == n : s.n <= n) && memcmp(s.p, name, s.n) == 0;
}

static void look_in(struct ipt_found *f, enum ipt_ext_id ext, int use, struct str s, bool whole)
{
	enum ipt_opt_id id = ipt_ext_row(ext)->first;

	for (; ext != IPT_NONE && id < IPT_OPT_COUNT && ipt_opt_row(id)->ext == ext; id++) {
		const struct ipt_opt_row *row = ipt_opt_row(id);

		if (is_name(s, row->name, whole) || is_name(s, row->alias, whole))
			candidate(f, NULL, id, use);
	}
}

static struct ipt_found look_up(const struct ipt_rule *r, struct str s, bool whole)
{
	struct ipt_found f = { 0 };

	for (size_t i = 0; i < N_CORE; i++) {
		if (is_name(s, core_rows[i].name, whole))
			candidate(&f, &core_rows[i], IPT_OPT_NONE, 0);
	}
	if (whole && f.name)
		return f;
	if (r->jump == IPT_JUMP_TARGET)
		look_in(&f, r->target.ext, IPT_TARGET_USE, s, whole);
	for (size_t i = r->matches.n; i-- > 0 && !(whole && f.name);)
		look_in(&f, r->matches.v[i].ext, (int)i, s, whole);
	return f;
}

/* In the match that the protocol calls up. */
static struct ipt_found look_in_implied(const struct ipt_rule *r, enum family family, struct str s)
{
	enum ipt_ext_id ext = r->proto_negated ? IPT_NONE : ipt_ext_implied_by(r->proto, family);
	struct ipt_found f = { 0 };

	if (ext == IPT_NONE)
		return f;
	look_in(&f, ext, (int)r->matches.n, s, true);
	if (!f.name)
		look_in(&f, ext, (int)r->matches.n, s, false);
	f.calls = f.name ? ext : IPT_NONE;
	return f;
}

struct ipt_found ipt_option_long(const struct ipt_rule *r, enum family family, struct str name, bool may_call)
{
	struct ipt_found f = { 0 };

	if (name.n == 0)
		return f;
	f = look_up(r, name, true);
	if (!f.name)
		f = look_up(r, name, false);
	if (!f.name && may_call)
		f = look_in_implied(r, family, name);
	return f;
}

const struct ipt_core_row *ipt_option_short(char letter)
{
	for (size_t i = 0; i < N_CORE; i++) {
		if (core_rows[i].letter == letter)
			return &core_rows[i];
	}
	return NULL;
}

/* ---------- reporting ---------- */

/* A match or target elsewhere that has this option. */
static enum ipt_opt_id option_elsewhere(enum family family, struct str s)
{
	for (enum ipt_opt_id id = IPT_OPT_NONE + 1; id < IPT_OPT_COUNT; id++) {
		const struct ipt_opt_row *row = ipt_opt_row(id);

		if ((ipt_ext_row(row->ext)->families & 1 << family) && (is_name(s, row->name, true) || is_name(s, row->alias, true)))
			return id;
	}
	return IPT_OPT_NONE;
}

/* The name nearest to an option's among all that are known at this place. */
static const char *nearest_option(struct arena *a, const struct ipt_rule *r, struct str s)
{
	VEC(const char *) all = { 0 };

	for (size_t i = 0; i < N_CORE; i++)
		*vec_add(a, &all) = core_rows[i].name;
	for (enum ipt_opt_id id = IPT_OPT_NONE + 1; id < IPT_OPT_COUNT; id++) {
		enum ipt_ext_id ext = ipt_opt_row(id)->ext;
		bool is_loaded = r->jump == IPT_JUMP_TARGET && r->target.ext == ext;

		for (size_t i = 0; i < r->matches.n; i++)
			is_loaded |= r->matches.v[i].ext == ext;
		if (is_loaded || (r->proto && ipt_ext_row(ext)->implied_by == r->proto))
			*vec_add(a, &all) = ipt_opt_row(id)->name;
	}
	return str_nearest(s, all.v, all.n);
}

void ipt_option_unknown(struct diags *d, enum family family, const struct ipt_rule *r, const struct ipt_word *w, struct str name)
{
	struct diag *g = diag_error(d, w->at, "unknown option '%.*s'", STR_ARG(w->text));
	enum ipt_opt_id id = option_elsewhere(family, name);
	const struct ipt_opt_row *row = ipt_opt_row(id);
	const char *near;

	if (id != IPT_OPT_NONE && row->arg == ARG_PORTS) {
		diag_hint(d, g, "a port needs a protocol in front: -p tcp --%s or -p udp --%s", row->name, row->name);
	} else if (id != IPT_OPT_NONE) {
		diag_hint(d, g, "--%s belongs to %s %s, which must come before it", row->name,
			  ipt_ext_row(row->ext)->is_target ? "-j" : "-m", ipt_ext_name(row->ext));
	} else {
		near = nearest_option(d->a, r, name);
		if (near)
			diag_hint(d, g, "did you mean '--%s'?", near);
	}
}
