/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree as text, word for word what iptables-save prints after iptables-restore has read the file. It differs in
 * three places where iptables-save loses something: a negated range that covers everything, `! -i +`, and a rate whose
 * printed form would be read back as another one.
 */
#include "lang/iptables/arg.h"

static void print_bang(struct buf *b, bool negated)
{
	if (negated)
		buf_printf(b, "! ");
}

static void print_core_addr(struct buf *b, enum family f, const char *option, const struct ipt_addr *addr, bool negated)
{
	if (!addr || (addr->mask == 0 && !negated))
		return;
	print_bang(b, negated);
	buf_printf(b, "%s ", option);
	ipt_arg_print_network(b, f, addr, true);
	buf_printf(b, " ");
}

static void print_iface(struct buf *b, const char *option, const struct ipt_iface *i)
{
	struct str name = arena_printf(b->a, "%.*s%s", STR_ARG(i->name), i->is_prefix ? "+" : "");

	if (i->name.n == 0 && !(i->is_prefix && i->negated))
		return;
	print_bang(b, i->negated);
	buf_printf(b, "%s ", option);
	ipt_arg_print_name(b, name);
	buf_printf(b, " ");
}

static void print_core(struct buf *b, enum family f, const struct ipt_rule *r, uint32_t k)
{
	const struct ipt_name *proto = ipt_name_of(ipt_names_proto, r->proto);
	const struct ipt_addr *src, *dst;

	ipt_rule_expansion(r, k, &src, &dst);
	print_core_addr(b, f, "-s", src, r->src.negated);
	print_core_addr(b, f, "-d", dst, r->dst.negated);
	print_iface(b, "-i", &r->in);
	print_iface(b, "-o", &r->out);
	if (r->proto) {
		print_bang(b, r->proto_negated);
		if (proto)
			buf_printf(b, "-p %s ", proto->name);
		else
			buf_printf(b, "-p %u ", r->proto);
	}
	if (r->frag) {
		print_bang(b, r->frag_negated);
		buf_printf(b, "-f ");
	}
}

/* Not printed: what iptables-save leaves out because reading gives it back. */
static bool is_silent(const struct ipt_opt *o, const struct ipt_rate *rate)
{
	const struct ipt_opt_row *row = ipt_opt_row(o->id);

	if (row->flags & F_SILENT)
		return o->v.range.lo == row->dflt;
	if (o->id == IPT_M_HASHLIMIT_BURST)
		return o->implied && rate->by_bytes;
	return o->id == IPT_M_HASHLIMIT_EXPIRE && o->v.range.lo == rate->per_s * 1000;
}

static const struct ipt_rate *hashlimit_rate(const struct ipt_use *u)
{
	const struct ipt_opt *o = ipt_opt_find(u, IPT_M_HASHLIMIT_UPTO);

	return &(o ? o : ipt_opt_find(u, IPT_M_HASHLIMIT_ABOVE))->v.rate;
}

static bool needs_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < ' ' || s.p[i] > '~')
			return true;
	}
	return s.n && s.p[s.n - 1] == '\\';
}

static void print_option(struct buf *b, enum family f, const struct ipt_opt *o)
{
	const struct ipt_opt_row *row = ipt_opt_row(o->id);
	bool is_days = o->id == IPT_M_TIME_WEEKDAYS || o->id == IPT_M_TIME_MONTHDAYS;
	struct ipt_opt every = *o;

	if (o->id == IPT_M_STRING_STRING && needs_hex(o->v.text))
		row = ipt_opt_row(IPT_M_STRING_HEX);
	if (is_days && !o->v.bits) { /* no day: all days, negated */
		every.negated = true;
		every.v.bits = UINT64_MAX;
	}
	print_bang(b, every.negated);
	buf_printf(b, "--%s ", row->name);
	if (row->arg == ARG_NONE)
		return;
	ipt_arg_row(row->arg)->print(b, f, &every);
	buf_printf(b, " ");
}

static void print_use(struct buf *b, enum family f, const struct ipt_use *u)
{
	const struct ipt_rate *rate = u->ext == IPT_M_HASHLIMIT ? hashlimit_rate(u) : NULL;

	buf_printf(b, "%s %s ", ipt_ext_row(u->ext)->is_target ? "-j" : "-m", ipt_ext_name(u->ext));
	for (size_t i = 0; i < u->opts.n; i++) {
		const struct ipt_opt *o = &u->opts.v[i];

		if (is_silent(o, rate))
			continue;
		if (o->id == IPT_M_HASHLIMIT_BURST && rate->by_bytes) {
			buf_printf(b, "--%s ", ipt_opt_name(o->id));
			ipt_arg_print_byte_burst(b, rate, o->v.range.lo);
			buf_printf(b, " ");
		} else {
			print_option(b, f, o);
		}
	}
}

struct str iptables_print_rule(struct arena *a, enum family family, const struct ipt_rule *r, uint32_t k)
{
	struct buf b = { .a = a };

	print_core(&b, family, r, k);
	for (size_t i = 0; i < r->matches.n; i++)
		print_use(&b, family, &r->matches.v[i]);
	if (r->jump == IPT_JUMP_TARGET)
		print_use(&b, family, &r->target);
	else if (r->jump != IPT_JUMP_NONE)
		buf_printf(&b, "%s %.*s ", r->jump == IPT_GOTO_CHAIN ? "-g" : "-j", STR_ARG(r->chain_name));
	if (b.n)
		b.v[--b.n] = '\0';
	return buf_str(&b);
}

/* ---------- files ---------- */

static void print_chain_rules(struct buf *b, enum family f, const struct ipt_chain *c, bool with_counts)
{
	for (size_t i = 0; i < c->rules.n; i++) {
		const struct ipt_rule *r = c->rules.v[i];

		for (uint32_t k = 0; k < ipt_rule_expansions(r); k++) {
			struct str text = iptables_print_rule(b->a, f, r, k);

			if (with_counts)
				buf_printf(b, "[%llu:%llu] ", (unsigned long long)r->packets, (unsigned long long)r->bytes);
			buf_printf(b, "-A %.*s%s", STR_ARG(c->name), text.n ? " " : "");
			buf_add(b, text.p, text.n);
			buf_add(b, "\n", 1);
		}
	}
}

static bool is_before(const struct ipt_chain *x, const struct ipt_chain *y)
{
	size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
	int c = memcmp(x->name.p, y->name.p, n);

	if (x->hook != y->hook)
		return x->hook < y->hook;
	if (x->hook != HOOK_NONE)
		return false;
	return c ? c < 0 : x->name.n < y->name.n;
}

static void merge_sort(struct ipt_chain **v, struct ipt_chain **spare, size_t n)
{
	size_t half = n / 2, i = 0, k = half, at = 0;

	if (n < 2)
		return;
	merge_sort(v, spare, half);
	merge_sort(v + half, spare, n - half);
	while (i < half || k < n)
		spare[at++] = k == n || (i < half && !is_before(v[k], v[i])) ? v[i++] : v[k++];
	memcpy(v, spare, n * sizeof(*v));
}

/* Built-in chains in the order of hooks, then user chains by name, as the kernel keeps them. */
static struct ipt_chain **sorted_chains(struct arena *a, const struct ipt_table *t)
{
	struct ipt_chain **v = arena_new(a, struct ipt_chain *, t->chains.n), **spare = arena_new(a, struct ipt_chain *, t->chains.n);

	if (t->chains.n)
		memcpy(v, t->chains.v, t->chains.n * sizeof(*v));
	merge_sort(v, spare, t->chains.n);
	return v;
}

struct str iptables_print_file(struct arena *a, const struct ipt_file *f, bool with_counts)
{
	struct buf b = { .a = a };

	for (size_t i = 0; i < f->tables.n; i++) {
		const struct ipt_table *t = f->tables.v[i];
		struct ipt_chain **chains = sorted_chains(a, t);

		buf_printf(&b, "*%.*s\n", STR_ARG(t->name));
		for (size_t k = 0; k < t->chains.n; k++) {
			const struct ipt_chain *c = chains[k];
			const char *policy = c->hook == HOOK_NONE ? "-" : c->policy == VERDICT_DROP ? "DROP" : "ACCEPT";

			buf_printf(&b, ":%.*s %s [%llu:%llu]\n", STR_ARG(c->name), policy, (unsigned long long)c->packets,
				   (unsigned long long)c->bytes);
		}
		for (size_t k = 0; k < t->chains.n; k++)
			print_chain_rules(&b, f->family, chains[k], with_counts);
		buf_printf(&b, "COMMIT\n");
	}
	return buf_str(&b);
}
