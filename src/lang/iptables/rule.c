/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Words of a rule, left to right:
 *
 *  - which option a word is depends on the matches and the target before it (option.c); one that is not found calls up
 *    the match of the protocol (-p tcp --dport 22), once;
 *  - '!' stands before the option it negates. The spelling of old, `-s ! x`, is read with a warning.
 *
 * A wrong value is reported and reading goes on; an option that is unknown ends the rule, since nobody knows how many
 * words are its own.
 */
#include "lang/iptables/rule.h"

#include "lang/iptables/arg.h"
#include "lang/iptables/check.h"
#include "lang/iptables/option.h"

enum { EXPANSIONS_MAX = 1000000 }; /* rules that one line may make */

struct reader {
	const struct ipt_rule_in *in;
	struct ipt_rule *r;
	size_t i;			/* next word */
	const struct ipt_word *bang;	/* a '!' that waits for its option */
	const struct ipt_word *option;	/* the option at hand */
	bool negated;			/* ... is negated */
	bool bang_told;			/* that there were several was said */
	unsigned seen;			/* bit per enum ipt_core */
	bool implicit_done;
	bool ok;
};

static struct ipt_use *add_match(struct reader *rd, enum ipt_ext_id ext, struct loc at, bool is_implicit)
{
	struct ipt_use *u = vec_add(rd->in->a, &rd->r->matches);

	u->ext = ext;
	u->at = at;
	u->is_implicit = is_implicit;
	return u;
}

/* What follows cannot be told apart: the rule ends here. */
static void rule_error_end(struct reader *rd)
{
	rd->ok = false;
	rd->i = rd->in->n;
}

/* ---------- values ---------- */

static bool is_bang(const struct ipt_word *w)
{
	return !w->is_quoted && str_is(w->text, "!");
}

static bool looks_like_option(const struct ipt_word *w)
{
	char c = w->text.n > 1 ? w->text.p[1] : '0';

	return !w->is_quoted && w->text.n > 1 && w->text.p[0] == '-' && !(c >= '0' && c <= '9') && c != '.';
}

/* `-s ! x`: the '!' that old versions took behind the option. false: a second one. */
static bool take_old_bang(struct reader *rd, bool can_negate)
{
	const struct ipt_word *w = &rd->in->w[rd->i];
	const struct ipt_word *option = rd->option;
	struct loc at;
	struct diag *g;

	if (rd->i + 1 >= rd->in->n || !is_bang(w) || !can_negate)
		return true;
	if (rd->negated || is_bang(w + 1)) {
		g = diag_error(rd->in->d, rd->negated ? w->at : w[1].at, "second '!' on %.*s", STR_ARG(option->text));
		diag_hint(rd->in->d, g, "write one '!' before the option: ! %.*s ...", STR_ARG(option->text));
		rule_error_end(rd);
		return false;
	}
	at = w->at;
	at.len = w[1].at.off + w[1].at.len - at.off;
	g = diag_warn(rd->in->d, at, "old-negation", "negation goes before the option: ! %.*s %.*s", STR_ARG(option->text),
		      STR_ARG(w[1].text));
	diag_hint(rd->in->d, g, "iptables has refused this spelling since 1.4.3");
	rd->negated = true;
	rd->i++;
	return true;
}

/* The words of an option's value; inline_value is what stands behind '=' or the letter. NULL: reported. */
static const struct ipt_word *take_value(struct reader *rd, const struct ipt_word *inline_value, unsigned n, bool takes_dash)
{
	const struct ipt_word *w = &rd->in->w[rd->i];
	struct ipt_word *both;
	unsigned have = inline_value ? 1 : 0;

	for (unsigned k = 0; k + have < n; k++) {
		if (rd->i + k >= rd->in->n || (!takes_dash && looks_like_option(&w[k]))) {
			diag_error(rd->in->d, rd->option->at, n > 1 ? "%.*s needs two values" : "%.*s needs a value",
				   STR_ARG(rd->option->text));
			rd->ok = false;
			rd->i += k;
			return NULL;
		}
	}
	rd->i += n - have;
	if (!inline_value)
		return w;
	both = arena_new(rd->in->a, struct ipt_word, n);
	both[0] = *inline_value;
	if (n > 1)
		both[1] = w[0];
	return both;
}

/* ---------- options of matches and targets ---------- */

static void read_ext_option(struct reader *rd, const struct ipt_found *f, const struct ipt_word *inline_value)
{
	const struct ipt_opt_row *row = ipt_opt_row(f->opt);
	const struct ipt_arg_row *arg = ipt_arg_row(row->arg);
	struct ipt_arg_in in = { .a = rd->in->a, .d = rd->in->d, .family = rd->in->family, .row = row };
	struct ipt_use *u = f->use == IPT_TARGET_USE ? &rd->r->target : &rd->r->matches.v[f->use];
	struct ipt_opt opt = { .id = f->opt, .at = rd->option->at, .value_at = rd->option->at };

	if (row->arg != ARG_NONE && !inline_value && !take_old_bang(rd, row->flags & F_NEG))
		return;
	if (row->arg == ARG_NONE && inline_value) {
		diag_error(rd->in->d, inline_value->at, "--%s takes no value", row->name);
		rd->ok = false;
		return;
	}
	if (rd->negated && !(row->flags & F_NEG)) {
		diag_error(rd->in->d, rd->bang ? rd->bang->at : rd->option->at, "--%s cannot be negated", row->name);
		rd->ok = false;
	}
	if (!(row->flags & F_MANY) && ipt_opt_find(u, f->opt)) {
		diag_error(rd->in->d, rd->option->at, "--%s is given twice", row->name);
		rd->ok = false;
	}
	if (row->arg != ARG_NONE) {
		in.w = take_value(rd, inline_value, arg->n_words, arg->takes_dash);
		if (!in.w)
			return;
		opt.value_at = in.w->at;
		opt.value_at.len = in.w[arg->n_words - 1].at.off + in.w[arg->n_words - 1].at.len - in.w->at.off;
		rd->ok &= arg->parse(&in, &opt.v);
	}
	opt.negated = rd->negated;
	*vec_add(rd->in->a, &u->opts) = opt;
}

/* ---------- core options ---------- */

static void read_addrs(struct reader *rd, struct ipt_arg_in *in, struct ipt_addrs *out)
{
	out->negated = rd->negated;
	rd->ok &= ipt_arg_networks(in, out);
	if (rd->negated && rd->ok && out->list.n == 1 && out->list.v[0].mask == 0)
		diag_warn(rd->in->d, in->w->at, "never-matches", "no address is outside %.*s, so the rule never matches",
			  STR_ARG(in->w->text));
}

static void read_iface(struct reader *rd, struct ipt_arg_in *in, struct ipt_iface *out)
{
	struct str s = in->w->text;

	out->at = in->w->at;
	out->negated = rd->negated;
	if (!ipt_arg_device(in, s)) {
		rd->ok = false;
		return;
	}
	out->is_prefix = s.p[s.n - 1] == '+';
	out->name = out->is_prefix ? str_slice(s, 0, s.n - 1) : s;
	if (out->name.n)
		return;
	if (rd->negated)
		diag_warn(rd->in->d, in->w->at, "never-matches", "'+' is every interface; negated, the rule never matches");
	else
		diag_hint(rd->in->d, diag_warn(rd->in->d, in->w->at, "plus-alone", "'+' alone is every interface"),
			  "leave the option out");
}

/* Headers that IPv6 walks over, so that -p never sees them as the protocol. */
static bool is_walked_over(uint8_t proto)
{
	return proto == 43 || proto == 44 || proto == 51 || proto == 60;
}

static void read_proto(struct reader *rd, struct ipt_arg_in *in)
{
	struct ipt_rule *r = rd->r;

	r->proto_at = in->w->at;
	if (!ipt_arg_proto(in, in->w->text, &r->proto)) {
		rd->ok = false;
		return;
	}
	r->proto_negated = rd->negated;
	if (r->proto == 0 && rd->negated) {
		diag_error(rd->in->d, in->w->at, "no protocol is outside '%.*s': the rule would never match", STR_ARG(in->w->text));
		rd->ok = false;
	}
	if (r->proto == (rd->in->family == FAMILY_IP4 ? 58 : 1))
		diag_hint(rd->in->d,
			  diag_warn(rd->in->d, in->w->at, "wrong-icmp", "this is the ICMP of IPv%d", r->proto == 1 ? 4 : 6),
			  r->proto == 1 ? "IPv6 has -p ipv6-icmp" : "IPv4 has -p icmp");
	if (rd->in->family == FAMILY_IP6 && is_walked_over(r->proto))
		diag_hint(rd->in->d,
			  diag_warn(rd->in->d, in->w->at, "never-matches",
				    "-p looks behind this extension header, so it %s matches", rd->negated ? "always" : "never"),
			  "use the match of that header: -m rt, -m frag, -m ah or -m dst");
}

static void unknown_match(struct reader *rd, const struct ipt_word *w)
{
	enum family other = rd->in->family == FAMILY_IP4 ? FAMILY_IP6 : FAMILY_IP4;
	const char *near = ipt_ext_nearest(rd->in->a, w->text, false, rd->in->family);
	struct diag *g;

	if (ipt_ext_find(w->text, false, other) != IPT_NONE) {
		g = diag_error(rd->in->d, w->at, "the match '%.*s' exists for IPv%d only", STR_ARG(w->text),
			       other == FAMILY_IP4 ? 4 : 6);
		if (str_is(w->text, "ttl") || str_is(w->text, "hl"))
			diag_hint(rd->in->d, g, "use -m %s", str_is(w->text, "ttl") ? "hl" : "ttl");
	} else if (ipt_ext_is_foreign(w->text, false)) {
		diag_error(rd->in->d, w->at, "weir does not read the match '%.*s'", STR_ARG(w->text));
	} else {
		g = diag_error(rd->in->d, w->at, "unknown match '%.*s'", STR_ARG(w->text));
		if (near)
			diag_hint(rd->in->d, g, "did you mean '%s'?", near);
	}
	rule_error_end(rd);
}

static void read_match(struct reader *rd, const struct ipt_word *w)
{
	enum ipt_ext_id ext = ipt_ext_find(w->text, false, rd->in->family);

	if (ext == IPT_NONE) {
		unknown_match(rd, w);
		return;
	}
	add_match(rd, ext, w->at, false);
	if (ext == ipt_ext_implied_by(rd->r->proto, rd->in->family))
		rd->implicit_done = true;
}

/* -j NAME, -g NAME */
static void read_jump(struct reader *rd, const struct ipt_word *w, bool is_goto)
{
	struct ipt_rule *r = rd->r;

	r->target_at = w->at;
	r->jump = is_goto ? IPT_GOTO_CHAIN : IPT_JUMP_CHAIN;
	r->chain_name = w->text;
	if (!ipt_check_chain_name(rd->in->d, w->text, w->at)) {
		rd->ok = false;
		return;
	}
	if (is_goto || ipt_chain_find(rd->in->table, w->text))
		return;
	r->target.ext = ipt_ext_find(w->text, true, rd->in->family);
	if (r->target.ext == IPT_NONE)
		return;
	r->jump = IPT_JUMP_TARGET;
	r->target.at = w->at;
	r->chain_name = (struct str){ 0 };
}

static void read_counts(struct reader *rd, struct ipt_arg_in *in)
{
	uint64_t packets, bytes;
	struct ipt_arg_in second = *in;

	second.w = &in->w[1];
	if (!ipt_arg_number(in, in->w->text, UINT64_MAX, &packets) ||
	    !ipt_arg_number(&second, second.w->text, UINT64_MAX, &bytes)) {
		rd->ok = false;
		return;
	}
	rd->r->has_counts = true;
	rd->r->packets = packets;
	rd->r->bytes = bytes;
}

static void read_frag(struct reader *rd)
{
	rd->r->frag = true;
	rd->r->frag_negated = rd->negated;
	rd->r->frag_at = rd->option->at;
	if (rd->in->family == FAMILY_IP4)
		return;
	diag_hint(rd->in->d, diag_error(rd->in->d, rd->option->at, "-f does not exist in IPv6"), "use -m frag");
	rd->ok = false;
}

static void refuse_core(struct reader *rd, const struct ipt_core_row *row)
{
	struct diag *g = NULL;

	switch (row->core) {
	case CORE_TABLE:
		g = diag_error(rd->in->d, rd->option->at, "-t has no place in a ruleset file");
		diag_hint(rd->in->d, g, "put the rule below the line '*TABLE'");
		break;
	case CORE_COMMAND:
		g = diag_error(rd->in->d, rd->option->at, "a second command on one line");
		diag_hint(rd->in->d, g, "-%c comes once, at the beginning of the line", row->letter);
		break;
	default:
		diag_error(rd->in->d, rd->option->at, "%.*s has no place in a ruleset file", STR_ARG(rd->option->text));
		break;
	}
	rule_error_end(rd);
}

static void dispatch_core(struct reader *rd, const struct ipt_core_row *row, const struct ipt_word *w)
{
	const struct ipt_opt_row as_opt = { .name = row->name };
	struct ipt_arg_in in = { .a = rd->in->a, .d = rd->in->d, .family = rd->in->family, .row = &as_opt, .w = w };

	switch (row->core) {
	case CORE_SRC:
		read_addrs(rd, &in, &rd->r->src);
		break;
	case CORE_DST:
		read_addrs(rd, &in, &rd->r->dst);
		break;
	case CORE_IN:
		read_iface(rd, &in, &rd->r->in);
		break;
	case CORE_OUT:
		read_iface(rd, &in, &rd->r->out);
		break;
	case CORE_PROTO:
		read_proto(rd, &in);
		break;
	case CORE_JUMP:
	case CORE_GOTO:
		read_jump(rd, w, row->core == CORE_GOTO);
		break;
	case CORE_MATCH:
		read_match(rd, w);
		break;
	case CORE_FRAG:
		read_frag(rd);
		break;
	case CORE_COUNTS:
		read_counts(rd, &in);
		break;
	default: /* -v, -4, -6: nothing to do */
		break;
	}
}

static void read_core_option(struct reader *rd, const struct ipt_core_row *row, const struct ipt_word *inline_value)
{
	enum ipt_core once = row->core == CORE_GOTO ? CORE_JUMP : row->core;
	const struct ipt_word *w = rd->option;

	if (row->core >= CORE_TABLE) {
		refuse_core(rd, row);
		return;
	}
	if (row->n_words && !inline_value && !take_old_bang(rd, row->can_negate))
		return;
	if (rd->negated && !row->can_negate) {
		diag_error(rd->in->d, rd->bang ? rd->bang->at : w->at, "'!' cannot stand before %.*s", STR_ARG(w->text));
		rd->ok = false;
	}
	if (once != CORE_MATCH && once != CORE_VERBOSE && (rd->seen & 1u << once)) {
		struct diag *g = diag_error(rd->in->d, w->at, "%.*s is given twice", STR_ARG(w->text));

		if (once == CORE_SRC || once == CORE_DST)
			diag_hint(rd->in->d, g, "several addresses are written as a comma list");
		rd->ok = false;
	}
	rd->seen |= 1u << once;
	if (row->n_words) {
		w = take_value(rd, inline_value, row->n_words, false);
		if (!w)
			return;
	}
	dispatch_core(rd, row, w);
}

/* An option that nobody has, behind a target that nobody has: the target is what is wrong. */
static bool unknown_target(struct reader *rd)
{
	const struct ipt_rule *r = rd->r;
	const char *near;
	struct diag *g;

	if (r->jump != IPT_JUMP_CHAIN || ipt_chain_find(rd->in->table, r->chain_name))
		return false;
	near = ipt_ext_nearest(rd->in->a, r->chain_name, true, rd->in->family);
	if (ipt_ext_is_foreign(r->chain_name, true)) {
		diag_error(rd->in->d, r->target_at, "weir does not read the target '%.*s'", STR_ARG(r->chain_name));
	} else {
		g = diag_error(rd->in->d, r->target_at, "unknown target '%.*s'", STR_ARG(r->chain_name));
		if (near)
			diag_hint(rd->in->d, g, "did you mean '%s'?", near);
	}
	rule_error_end(rd);
	return true;
}

/* ---------- words ---------- */

/* The part of a word behind `off` bytes, as a word of its own. */
static struct ipt_word *rest_of_word(struct reader *rd, const struct ipt_word *w, size_t off)
{
	struct ipt_word *v = arena_new(rd->in->a, struct ipt_word, 1);

	*v = *w;
	v->text = str_slice(w->text, off, w->text.n);
	v->at = ipt_word_part(w, off, v->text.n);
	v->text_off = w->text_off + (uint32_t)off;
	return v;
}

static void read_long(struct reader *rd)
{
	const struct ipt_word *w = rd->option, *value = NULL;
	struct str s = str_slice(w->text, 2, w->text.n), rest;
	bool has_value;
	struct str name = str_cut(s, '=', &rest, &has_value);
	struct ipt_found f = ipt_option_long(rd->r, rd->in->family, name, !rd->implicit_done);

	if (!f.name && unknown_target(rd))
		return;
	if (!f.name) {
		ipt_option_unknown(rd->in->d, rd->in->family, rd->r, w, name);
		rule_error_end(rd);
		return;
	}
	if (f.other) {
		diag_error(rd->in->d, w->at, "'%.*s' is ambiguous: --%s or --%s?", STR_ARG(w->text), f.name, f.other);
		rule_error_end(rd);
		return;
	}
	if (f.calls != IPT_NONE) {
		add_match(rd, f.calls, w->at, true);
		rd->implicit_done = true;
	}
	if (has_value)
		value = rest_of_word(rd, w, 3 + name.n);
	if (f.core)
		read_core_option(rd, f.core, value);
	else
		read_ext_option(rd, &f, value);
}

static void read_short(struct reader *rd)
{
	const struct ipt_word *w = rd->option, *value = NULL;
	const struct ipt_core_row *row = ipt_option_short(w->text.p[1]);

	if (!row || (w->text.n > 2 && row->n_words == 0)) {
		ipt_option_unknown(rd->in->d, rd->in->family, rd->r, w, str_slice(w->text, 1, w->text.n));
		rule_error_end(rd);
		return;
	}
	if (w->text.n > 2)
		value = rest_of_word(rd, w, 2);
	read_core_option(rd, row, value);
}

static void read_odd_word(struct reader *rd, const struct ipt_word *w)
{
	struct diag *g;

	if (!w->is_quoted && str_starts(w->text, "#")) {
		const struct ipt_word *last = &rd->in->w[rd->in->n - 1];
		struct loc at = w->at;

		at.len = last->at.off + last->at.len - at.off;
		g = diag_warn(rd->in->d, at, "trailing-comment", "comments must start the line; this one is skipped");
		diag_hint(rd->in->d, g, "use -m comment --comment; iptables-restore refuses the line");
		rd->i = rd->in->n;
		return;
	}
	g = diag_error(rd->in->d, w->at, "unexpected word '%.*s': an option is expected here", STR_ARG(w->text));
	if (memchr(w->text.p, '\'', w->text.n))
		diag_hint(rd->in->d, g, "only double quotes keep words together in a ruleset file");
	rule_error_end(rd);
}

static void read_word(struct reader *rd)
{
	const struct ipt_word *w = &rd->in->w[rd->i++];

	if (is_bang(w)) {
		if (rd->bang && !rd->bang_told) {
			diag_error(rd->in->d, w->at, "second '!' in a row");
			rd->ok = false;
			rd->bang_told = true;
		}
		rd->bang = w;
		return;
	}
	rd->option = w;
	rd->negated = rd->bang != NULL;
	if (w->text.n > 2 && str_starts(w->text, "--"))
		read_long(rd);
	else if (w->text.n > 1 && w->text.p[0] == '-')
		read_short(rd);
	else
		read_odd_word(rd, w);
	rd->bang = NULL;
	rd->bang_told = false;
}

/* All sources times all destinations. */
static void check_expansions(struct reader *rd)
{
	const struct ipt_addrs *src = &rd->r->src, *dst = &rd->r->dst;
	size_t n = (src->list.n ? src->list.n : 1) * (dst->list.n ? dst->list.n : 1);
	struct diag *g;

	if (n <= EXPANSIONS_MAX)
		return;
	g = diag_error(rd->in->d, dst->list.n ? dst->list.v[0].at : src->list.v[0].at,
		       "the line makes %zu rules, more than %d: one for each source and destination", n, EXPANSIONS_MAX);
	diag_hint(rd->in->d, g, "put the addresses into an ipset");
	rd->ok = false;
}

/* What can be said only when the whole rule is there. */
static void finish(struct reader *rd)
{
	struct ipt_rule *r = rd->r;
	bool has_list = r->src.list.n > 1 || r->dst.list.n > 1;

	if (rd->bang) {
		diag_error(rd->in->d, rd->bang->at, "'!' at the end of the rule negates nothing");
		rd->ok = false;
	}
	if (has_list && (r->src.negated || r->dst.negated)) {
		const struct ipt_addrs *at = r->src.list.n > 1 ? &r->src : &r->dst;
		struct loc loc = at->list.v[0].at, last = at->list.v[at->list.n - 1].at;
		struct diag *g;

		loc.len = last.off + last.len - loc.off;
		g = diag_error(rd->in->d, loc, "! not allowed with multiple source or destination addresses");
		diag_hint(rd->in->d, g, "jump to a chain that returns for each of the addresses, or use an ipset");
		rd->ok = false;
	}
	check_expansions(rd);
	for (size_t i = 0; i < r->matches.n; i++)
		rd->ok &= ipt_fold_use(rd->in->a, rd->in->d, rd->in->family, &r->matches.v[i]);
	if (r->jump == IPT_JUMP_TARGET)
		rd->ok &= ipt_fold_use(rd->in->a, rd->in->d, rd->in->family, &r->target);
}

bool ipt_rule_read(const struct ipt_rule_in *in, struct ipt_rule *r)
{
	struct reader rd = { .in = in, .r = r, .ok = true };

	while (rd.i < in->n)
		read_word(&rd);
	if (rd.ok)
		finish(&rd);
	return rd.ok;
}
