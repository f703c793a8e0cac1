/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands of tc, a line each, with or without the word tc in front (tc -batch):
 *
 *     tc qdisc add dev eth0 clsact
 *     tc filter add dev eth0 ingress protocol ip prio 1 handle 800::1 u32 match ... action drop
 *     tc filter del dev eth0 ingress prio 1
 *
 * The direction comes from the parent: ffff: and ffff:fff2 are ingress; ffff:fff3, root and classful qdiscs egress. A line
 * that is wrong is left out, and the next one read.
 */
#include "lang/tc/parse.h"

/* ---------- words ---------- */

struct loc tc_here(const struct tc_parse *p)
{
	const struct tc_line *l = p->line;

	if (p->i < l->n)
		return l->w[p->i].at;
	return (struct loc){ l->at.source, l->at.off + l->at.len, 0 };
}

bool tc_is(const struct tc_parse *p, const char *what)
{
	return p->i < p->line->n && str_is(p->line->w[p->i].text, what);
}

bool tc_take(struct tc_parse *p, const char *what)
{
	bool is = tc_is(p, what);

	p->i += is;
	return is;
}

const struct tc_word *tc_next(struct tc_parse *p, const char *expected)
{
	if (p->i < p->line->n)
		return &p->line->w[p->i++];
	diag_error(p->d, tc_here(p), "the line ends here, %s is missing", expected);
	return NULL;
}

bool tc_number(struct tc_parse *p, int base, uint64_t max, const char *expected, uint64_t *v)
{
	const struct tc_word *w = tc_next(p, expected);
	struct str s;

	if (!w)
		return false;
	s = base == 16 && (str_starts(w->text, "0x") || str_starts(w->text, "0X")) ? str_slice(w->text, 2, w->text.n) : w->text;
	if (str_u64(s, base, max, v))
		return true;
	if (str_u64(s, base, UINT64_MAX, v))
		diag_error(p->d, w->at, "%.*s is above 0x%llx", STR_ARG(w->text), (unsigned long long)max);
	else
		diag_error(p->d, w->at, "'%.*s' is not %s", STR_ARG(w->text), expected);
	return false;
}

bool tc_signed(struct tc_parse *p, int32_t *v)
{
	const struct tc_word *w = tc_next(p, "an offset");
	bool is_negative = w && w->text.n && w->text.p[0] == '-';
	uint64_t n;

	if (!w)
		return false;
	if (!str_u64(is_negative ? str_slice(w->text, 1, w->text.n) : w->text, 0, 0x7fff, &n)) {
		diag_error(p->d, w->at, "'%.*s' is not an offset, -32767 to 32767", STR_ARG(w->text));
		return false;
	}
	*v = is_negative ? -(int32_t)n : (int32_t)n;
	return true;
}

static bool part(struct str s, uint64_t max, uint32_t *v)
{
	uint64_t n = 0;

	if (s.n && !str_u64(s, 16, max, &n))
		return false;
	*v = (uint32_t)n;
	return true;
}

bool tc_handle(struct tc_parse *p, struct tc_handle *h)
{
	const struct tc_word *w = tc_next(p, "a handle");
	struct str rest, node;
	bool more = false, last = false;

	if (!w)
		return false;
	*h = (struct tc_handle){ .is_given = true };
	if (str_starts(w->text, "0x")) {
		uint32_t v;

		if (part(str_slice(w->text, 2, w->text.n), UINT32_MAX, &v)) {
			h->table = v >> 20;
			h->hash = v >> 12 & 0xff;
			h->node = v & 0xfff;
			return true;
		}
	} else if (part(str_cut(w->text, ':', &rest, &more), 0xfff, &h->table) && more &&
		   part(str_cut(rest, ':', &node, &last), 0xff, &h->hash) && part(node, 0xfff, &h->node)) {
		return true;
	}
	diag_error(p->d, w->at, "'%.*s' is not a handle of u32: TABLE:[HASH:[NODE]], in hex", STR_ARG(w->text));
	return false;
}

/* ---------- what stands in front of the filter's kind ---------- */

static bool take_protocol(struct tc_parse *p, struct tc_filter *f)
{
	static const struct {
		const char *name;
		uint16_t number;
	} names[] = { { "all", 3 },	  { "ip", 0x800 },	   { "ipv4", 0x800 },	 { "ipv6", 0x86dd },  { "ip6", 0x86dd },
		      { "arp", 0x806 }, { "802.1q", 0x8100 }, { "802.1Q", 0x8100 }, { "802.1ad", 0x88a8 }, { "802.1AD", 0x88a8 } };
	const char *list[sizeof names / sizeof *names];
	const struct tc_word *w = tc_next(p, "a protocol");
	struct diag *g;
	uint64_t v;

	if (!w)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		list[i] = names[i].name;
		if (str_is(w->text, names[i].name)) {
			f->protocol = names[i].number;
			return true;
		}
	}
	if (str_u64(w->text, 0, UINT16_MAX, &v) && v) {
		f->protocol = (uint16_t)v;
		return true;
	}
	g = diag_error(p->d, w->at, "'%.*s' is not a protocol: ip, ipv6, arp, 802.1q, 802.1ad, all or its number", STR_ARG(w->text));
	if (str_nearest(w->text, list, sizeof list / sizeof *list))
		diag_hint(p->d, g, "did you mean '%s'?", str_nearest(w->text, list, sizeof list / sizeof *list));
	return false;
}

static void stand_at(struct tc_filter *f, enum hook hook, struct str parent)
{
	f->hook = hook;
	f->parent = parent;
}

static bool take_parent(struct tc_parse *p, struct tc_filter *f)
{
	const struct tc_word *w = tc_next(p, "a parent");
	struct str rest, major;
	bool more;
	uint32_t v, minor;
	struct diag *g;

	if (!w)
		return false;
	major = str_cut(w->text, ':', &rest, &more);
	if (!more || !part(major, 0xffff, &v) || !part(rest, 0xffff, &minor)) {
		diag_error(p->d, w->at, "'%.*s' is not a parent: ffff:, ffff:fff2, ffff:fff3 or MAJOR:[MINOR]", STR_ARG(w->text));
		return false;
	}
	if (v == 0xffff && (minor == 0 || minor == 0xfff2 || minor == 0xfff1)) {
		stand_at(f, HOOK_INGRESS, STR("ingress"));
	} else if (v == 0xffff && minor == 0xfff3) {
		stand_at(f, HOOK_EGRESS, STR("egress"));
	} else if (minor) {
		g = diag_error(p->d, w->at, "filters of a class are not read, '%.*s': only packets that the class gets meet them",
			       STR_ARG(w->text));
		if (v != 0xffff)
			diag_hint(p->d, g, "parent %x: is the qdisc itself", v);
		return false;
	} else {
		stand_at(f, HOOK_EGRESS, arena_printf(p->a, "parent %x:", v));
	}
	return true;
}

static bool take_class(struct tc_parse *p, struct tc_filter *f)
{
	const struct tc_word *w = tc_next(p, "a class");
	struct str rest, first;
	uint32_t major, minor;
	bool more;

	if (!w)
		return false;
	first = str_cut(w->text, ':', &rest, &more);
	f->has_class = true;
	if (str_is(w->text, "root") || str_is(w->text, "none")) {
		f->classid = str_is(w->text, "root") ? UINT32_MAX : 0;
		return true;
	}
	if (part(first, more ? 0xffff : UINT32_MAX, &major) && part(rest, 0xffff, &minor)) {
		f->classid = more ? major << 16 | minor : major;
		return true;
	}
	diag_error(p->d, w->at, "'%.*s' is not a class: MAJOR:MINOR, in hex", STR_ARG(w->text));
	return false;
}

static bool take_prio(struct tc_parse *p, struct tc_filter *f)
{
	uint64_t v;

	if (!tc_number(p, 0, UINT16_MAX, "a priority", &v))
		return false;
	f->has_prio = v != 0;
	f->prio = (uint32_t)v;
	return true;
}

/* ---------- u32 ---------- */

static bool take_offset(struct tc_parse *p, struct tc_filter *f)
{
	uint64_t v;

	f->offset.is_given = true;
	for (;;) {
		if (tc_take(p, "plus")) {
			if (!tc_number(p, 0, 0xffff, "a number of bytes", &v))
				return false;
			f->offset.plus = (uint32_t)v;
		} else if (tc_take(p, "at")) {
			if (!tc_number(p, 0, 0x7fff, "an offset", &v))
				return false;
			if (v % 2) {
				diag_error(p->d, p->line->w[p->i - 1].at, "offset %llu is not a multiple of 2", (unsigned long long)v);
				return false;
			}
			f->offset.has_at = true;
			f->offset.at = (uint32_t)v;
		} else if (tc_take(p, "mask")) {
			if (!tc_number(p, 16, 0xffff, "a mask, in hex", &v))
				return false;
			f->offset.has_at = true;
			f->offset.mask = (uint16_t)v;
		} else if (tc_take(p, "shift")) {
			if (!tc_number(p, 0, 15, "a number of bits", &v))
				return false;
			f->offset.shift = (uint32_t)v;
		} else if (tc_take(p, "eat")) {
			f->offset.eats = true;
		} else {
			return true;
		}
	}
}

static bool take_hashkey(struct tc_parse *p, struct tc_filter *f)
{
	uint64_t v;

	f->hashkey.is_given = true;
	for (;;) {
		if (tc_take(p, "mask")) {
			if (!tc_number(p, 16, UINT32_MAX, "a mask, in hex", &v))
				return false;
			f->hashkey.mask = (uint32_t)v;
		} else if (tc_take(p, "at")) {
			if (!tc_signed(p, &f->hashkey.at))
				return false;
			if (f->hashkey.at & 3) {
				diag_error(p->d, p->line->w[p->i - 1].at, "offset %d is not a multiple of 4", f->hashkey.at);
				return false;
			}
		} else {
			return true;
		}
	}
}

/* A sample says by example in which bucket the filter lies: its value, shifted down by the mask's lowest bit, modulo. */
static bool take_sample(struct tc_parse *p, struct tc_filter *f)
{
	struct tc_filter sample = { 0 };
	uint64_t divisor = 256;
	uint32_t mask;

	if (!tc_match(p, &sample))
		return false;
	if (tc_take(p, "divisor") && !tc_number(p, 0, 256, "a divisor", &divisor))
		return false;
	if (sample.keys.n != 1 || sample.keys.v[0].mask == 0 || divisor == 0 || (divisor & (divisor - 1))) {
		diag_error(p->d, p->line->w[p->i - 1].at, "a sample is one word with a mask, and its divisor a power of 2 up to 256");
		return false;
	}
	mask = sample.keys.v[0].mask;
	f->ht.hash = (sample.keys.v[0].value >> __builtin_ctz(mask)) & ((uint32_t)divisor - 1);
	return true;
}

static bool take_divisor(struct tc_parse *p, struct tc_filter *f)
{
	uint64_t v;

	if (!tc_number(p, 0, 256, "a divisor", &v))
		return false;
	if (v == 0 || (v & (v - 1))) {
		diag_error(p->d, p->line->w[p->i - 1].at, "a divisor is a power of 2, 1 to 256");
		return false;
	}
	f->divisor = (uint32_t)v;
	return true;
}

static bool take_order(struct tc_parse *p, struct tc_filter *f)
{
	uint64_t v;

	if (!tc_number(p, 0, 0xfff, "an order", &v))
		return false;
	if (f->handle.node) {
		diag_error(p->d, p->line->w[p->i - 1].at, "order and a handle both say where the filter stands");
		return false;
	}
	f->has_order = true;
	f->handle.is_given = true;
	f->handle.node = (uint32_t)v;
	return true;
}

static bool take_indev(struct tc_parse *p, struct tc_filter *f)
{
	const struct tc_word *w = tc_next(p, "a device");

	if (w)
		f->indev = w->text;
	return w != NULL;
}

static bool unknown_option(struct tc_parse *p, const char *const *names, size_t n, const char *kind)
{
	const struct tc_word *w = &p->line->w[p->i];
	const char *near = str_nearest(w->text, names, n);
	struct diag *g = diag_error(p->d, w->at, "%s has no option '%.*s'", kind, STR_ARG(w->text));

	if (near)
		diag_hint(p->d, g, "did you mean '%s'?", near);
	return false;
}

static bool take_u32_option(struct tc_parse *p, struct tc_filter *f)
{
	static const char *const names[] = { "match", "offset", "hashkey", "classid", "flowid", "divisor", "order", "ht", "sample",
					     "link",  "indev",	"action",  "police",  "skip_sw", "skip_hw" };

	if (tc_take(p, "match"))
		return tc_match(p, f);
	if (tc_take(p, "offset"))
		return take_offset(p, f);
	if (tc_take(p, "hashkey"))
		return take_hashkey(p, f);
	if (tc_take(p, "classid") || tc_take(p, "flowid"))
		return take_class(p, f);
	if (tc_take(p, "divisor"))
		return take_divisor(p, f);
	if (tc_take(p, "order"))
		return take_order(p, f);
	if (tc_take(p, "ht"))
		return tc_handle(p, &f->ht);
	if (tc_take(p, "sample"))
		return take_sample(p, f);
	if (tc_take(p, "link"))
		return tc_handle(p, &f->link);
	if (tc_take(p, "indev"))
		return take_indev(p, f);
	if (tc_take(p, "action"))
		return tc_action(p, false);
	if (tc_take(p, "police"))
		return tc_action(p, true);
	if (tc_take(p, "skip_sw")) {
		f->skips_sw = true;
		return true;
	}
	return tc_take(p, "skip_hw") || unknown_option(p, names, sizeof names / sizeof *names, "u32");
}

static bool is_whole_u32(struct tc_parse *p, struct tc_filter *f)
{
	struct loc at = f->at;

	if (f->divisor && (f->keys.n || f->actions.n || f->link.is_given || f->has_class))
		diag_error(p->d, at, "divisor makes a table: such a line has no match, link or action");
	else if (f->divisor && (!f->handle.is_given || f->handle.hash || f->handle.node))
		diag_error(p->d, at, "divisor makes a table, whose handle TABLE: must stand in front of u32");
	else if (!f->divisor && !f->keys.n && !f->has_mark)
		diag_hint(p->d, diag_error(p->d, at, "this u32 filter matches nothing"), "match u32 0 0 matches every packet");
	else if (f->link.hash || f->link.node)
		diag_error(p->d, at, "a link goes to a table, not to a bucket or filter in it");
	else if ((f->offset.is_given || f->hashkey.is_given) && !f->link.is_given)
		diag_error(p->d, at, "offset and hashkey are for a filter that has a link");
	else
		return true;
	return false;
}

/* ---------- bpf ---------- */

static bool take_bpf_option(struct tc_parse *p, struct tc_filter *f)
{
	static const char *const names[] = { "bytecode", "da", "direct-action", "classid", "flowid", "action", "police" };

	if (tc_take(p, "bytecode")) {
		const struct tc_word *w = tc_next(p, "a program");

		return w && tc_bytecode(p, w, &f->code);
	}
	if (tc_take(p, "da") || tc_take(p, "direct-action")) {
		f->is_direct = true;
		return true;
	}
	if (tc_take(p, "classid") || tc_take(p, "flowid"))
		return take_class(p, f);
	if (tc_take(p, "action"))
		return tc_action(p, false);
	if (tc_take(p, "police"))
		return tc_action(p, true);
	if (tc_is(p, "bytecode-file") || tc_is(p, "object-file") || tc_is(p, "obj") || tc_is(p, "pinned") || tc_is(p, "fd") ||
	    tc_is(p, "object-pinned")) {
		diag_hint(p->d, diag_error(p->d, tc_here(p), "a program that is not in the line is not read"), "bytecode '...'");
		return false;
	}
	return unknown_option(p, names, sizeof names / sizeof *names, "bpf");
}

static bool is_whole_bpf(struct tc_parse *p, struct tc_filter *f)
{
	if (!f->code)
		diag_error(p->d, f->at, "bpf needs bytecode '...'");
	else if (f->is_direct && f->actions.n)
		diag_error(p->d, f->actions.v[0].at, "with da the program's result is the action, and there are no others");
	else
		return true;
	return false;
}

/* ---------- commands ---------- */

static bool take_kind(struct tc_parse *p, struct tc_filter *f)
{
	static const char *const others[] = { "flower", "matchall", "fw", "basic", "route", "rsvp", "tcindex", "flow", "cgroup" };
	static const char *const words[] = { "u32", "bpf", "protocol", "prio", "pref", "handle", "parent", "ingress", "egress", "chain" };
	struct str w = p->line->w[p->i].text;

	if (tc_take(p, "u32") || tc_take(p, "bpf")) {
		bool is_u32 = str_is(w, "u32");

		f->kind = is_u32 ? TC_FILTER_U32 : TC_FILTER_BPF;
		while (p->i < p->line->n)
			if (!(is_u32 ? take_u32_option(p, f) : take_bpf_option(p, f)))
				return false;
		return is_u32 ? is_whole_u32(p, f) : is_whole_bpf(p, f);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (str_is(w, others[i])) {
			diag_error(p->d, tc_here(p), "filters of the kind %s are not read: u32 and bpf are", others[i]);
			return false;
		}
	return unknown_option(p, words, sizeof words / sizeof *words, "tc filter");
}

static bool take_zero_chain(struct tc_parse *p)
{
	uint64_t v;

	if (!tc_number(p, 0, UINT32_MAX, "a chain", &v))
		return false;
	if (v)
		diag_error(p->d, p->line->w[p->i - 1].at, "chains other than 0 are not read");
	return v == 0;
}

/* 1: one of the words in front of the kind; 0: an error; -1: another word. */
static int take_front(struct tc_parse *p, struct tc_filter *f)
{
	if (tc_take(p, "dev")) {
		const struct tc_word *w = tc_next(p, "a device");

		if (w)
			f->dev = w->text;
		return w != NULL;
	}
	if (tc_take(p, "ingress"))
		stand_at(f, HOOK_INGRESS, STR("ingress"));
	else if (tc_take(p, "egress"))
		stand_at(f, HOOK_EGRESS, STR("egress"));
	else if (tc_take(p, "root"))
		stand_at(f, HOOK_EGRESS, STR("root"));
	else if (tc_take(p, "parent"))
		return take_parent(p, f);
	else if (tc_take(p, "protocol") || tc_take(p, "proto"))
		return take_protocol(p, f);
	else if (tc_take(p, "prio") || tc_take(p, "pref") || tc_take(p, "preference") || tc_take(p, "priority"))
		return take_prio(p, f);
	else if (tc_take(p, "chain"))
		return take_zero_chain(p);
	else if (tc_take(p, "handle")) {
		uint64_t v;

		if (p->i < p->line->n && !memchr(p->line->w[p->i].text.p, ':', p->line->w[p->i].text.n) &&
		    !str_starts(p->line->w[p->i].text, "0x")) {
			f->handle.is_given = true;
			if (!tc_number(p, 16, 0xffff, "a handle", &v))
				return false;
			f->handle.table = (uint32_t)v;
			return true;
		}
		return tc_handle(p, &f->handle);
	} else
		return -1;
	return 1;
}

static struct tc_filter *take_filter(struct tc_parse *p, bool is_tail)
{
	struct tc_filter *f = arena_new(p->a, struct tc_filter, 1);
	int x = 1;

	p->f = f;
	f->at = p->line->at;
	f->is_tail = is_tail;
	f->protocol = 3;
	stand_at(f, is_tail ? HOOK_INGRESS : HOOK_EGRESS, is_tail ? STR("ingress") : STR("root"));
	while (p->i < p->line->n && (x = take_front(p, f)) > 0)
		;
	if (x == 0)
		return NULL;
	if (!is_tail && !f->dev.n) {
		diag_error(p->d, f->at, "dev NAME is missing");
		return NULL;
	}
	return f;
}

static void add_filter(struct tc_parse *p, bool is_tail)
{
	struct tc_filter *f = take_filter(p, is_tail);

	if (!f)
		return;
	if (p->i == p->line->n)
		diag_error(p->d, tc_here(p), "the filter's kind is missing: u32 or bpf");
	else if (take_kind(p, f))
		*vec_add(p->a, &p->file->filters) = f;
}

static bool is_same_handle(const struct tc_handle *a, const struct tc_handle *b)
{
	return a->table == b->table && a->hash == b->hash && a->node == b->node;
}

/* del: those of a device and parent, of one priority and handle where it says so. */
static void del_filter(struct tc_parse *p)
{
	struct tc_filter *w = take_filter(p, false);
	size_t n = 0;
	bool any = false;

	if (!w)
		return;
	for (size_t i = 0; i < p->file->filters.n; i++) {
		struct tc_filter *f = p->file->filters.v[i];
		bool goes = str_eq(f->dev, w->dev) && str_eq(f->parent, w->parent) &&
			    (!w->has_prio || f->prio == w->prio) && (!w->handle.is_given || is_same_handle(&f->handle, &w->handle));

		any |= goes;
		if (!goes)
			p->file->filters.v[n++] = f;
	}
	p->file->filters.n = n;
	if (!any)
		diag_warn(p->d, p->line->at, "nothing-deleted", "no filter of this text is deleted by this");
}

static void take_qdisc(struct tc_parse *p)
{
	struct buf b = { .a = p->a };

	buf_printf(&b, "tc");
	for (size_t i = p->i - 2; i < p->line->n; i++)
		buf_printf(&b, " %.*s", STR_ARG(p->line->w[i].text));
	*vec_add(p->a, &p->file->qdiscs) = buf_str(&b);
}

static void take_line(struct tc_parse *p)
{
	struct str first = p->line->w[0].text;

	if (str_is(first, "tc") || str_ends(first, "/tc"))
		p->i++;
	if (tc_take(p, "filter")) {
		if (tc_take(p, "add") || tc_take(p, "replace"))
			add_filter(p, false);
		else if (tc_take(p, "del") || tc_take(p, "delete"))
			del_filter(p);
		else
			diag_error(p->d, tc_here(p), "tc filter add, replace and del are read");
	} else if (tc_take(p, "qdisc") || tc_take(p, "class")) {
		if (tc_take(p, "add") || tc_take(p, "replace") || tc_take(p, "change") || tc_take(p, "del") || tc_take(p, "delete"))
			take_qdisc(p);
		else
			diag_error(p->d, tc_here(p), "tc qdisc add, replace, change or del is read");
	} else if (p->i) {
		diag_error(p->d, tc_here(p), "tc filter and tc qdisc are read");
	} else {
		add_filter(p, true);
	}
}

/* A line that is only a program: N,code jt jf k,... Its blanks made words of it. */
static void take_program(struct tc_parse *p)
{
	const struct source *src = source_get(p->d->sources, p->line->at.source);
	struct tc_word w = { str_slice(src->text, p->line->at.off, p->line->at.off + p->line->at.len), p->line->at, true };
	struct tc_filter *f = arena_new(p->a, struct tc_filter, 1);

	f->at = p->line->at;
	f->kind = TC_FILTER_BPF;
	f->is_bare = true;
	f->protocol = 3;
	stand_at(f, HOOK_INGRESS, STR("ingress"));
	if (tc_bytecode(p, &w, &f->code))
		*vec_add(p->a, &p->file->filters) = f;
}

struct tc_file *tc_parse(struct ruleset *rs, struct diags *d, uint32_t source)
{
	struct tc_lines l = tc_scan(rs->a, d, source);
	struct tc_parse p = { .a = rs->a, .d = d, .file = arena_new(rs->a, struct tc_file, 1) };

	p.file->a = rs->a;
	if (l.all.n && l.all.v[0].n == 1 && l.all.v[0].w[0].text.n && strspn(l.all.v[0].w[0].text.p, "0123456789") == l.all.v[0].w[0].text.n) {
		p.line = &l.all.v[0];
		tc_listing(&p, &l);
		return p.file;
	}
	for (size_t i = 0; i < l.all.n; i++) {
		struct str first = l.all.v[i].w[0].text;

		p.line = &l.all.v[i];
		p.i = 0;
		if (first.n && first.p[0] >= '0' && first.p[0] <= '9')
			take_program(&p);
		else
			take_line(&p);
	}
	return p.file;
}
