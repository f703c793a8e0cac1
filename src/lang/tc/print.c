/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tc commands, canonically: one a line, every match as words of the packet, numbers in hex where they are bits. What was
 * read as a tail or as a program alone is printed as one.
 */
#include "lang/tc/tree.h"

static const struct {
	uint16_t number;
	const char *name;
} protocols[] = {
	{ 0x0003, "all" }, { 0x0800, "ip" }, { 0x86dd, "ipv6" }, { 0x0806, "arp" }, { 0x8100, "802.1q" }, { 0x88a8, "802.1ad" },
};

const char *tc_protocol_name(uint16_t p)
{
	for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
		if (protocols[i].number == p)
			return protocols[i].name;
	return NULL;
}

static void put_handle(struct buf *b, const char *what, const struct tc_handle *h)
{
	if (!h->is_given)
		return;
	buf_printf(b, " %s %x:", what, h->table);
	if (h->hash || h->node)
		buf_printf(b, "%x:", h->hash);
	if (h->node)
		buf_printf(b, "%x", h->node);
}

static void put_offset(struct buf *b, const struct tc_filter *f)
{
	if (f->offset.is_given) {
		buf_printf(b, " offset");
		if (f->offset.plus)
			buf_printf(b, " plus %u", f->offset.plus);
		if (f->offset.has_at)
			buf_printf(b, " at %u mask 0x%04x shift %u", f->offset.at, f->offset.mask, f->offset.shift);
		if (f->offset.eats)
			buf_printf(b, " eat");
	}
	if (f->hashkey.is_given)
		buf_printf(b, " hashkey mask 0x%08x at %d", f->hashkey.mask, f->hashkey.at);
}

static void put_u32(struct buf *b, const struct tc_filter *f)
{
	buf_printf(b, " u32");
	put_handle(b, "ht", &f->ht);
	if (f->has_order)
		buf_printf(b, " order %u", f->handle.node);
	if (f->divisor)
		buf_printf(b, " divisor %u", f->divisor);
	for (size_t i = 0; i < f->keys.n; i++) {
		const struct tcu32_key *k = &f->keys.v[i];

		buf_printf(b, " match u32 0x%08x 0x%08x at %s%d", k->value, k->mask, k->is_next ? "nexthdr+" : "", k->off);
	}
	if (f->has_mark)
		buf_printf(b, " match mark 0x%x 0x%x", f->mark, f->mark_mask);
	put_offset(b, f);
	put_handle(b, "link", &f->link);
	if (f->indev.n)
		buf_printf(b, " indev %.*s", STR_ARG(f->indev));
	if (f->skips_sw)
		buf_printf(b, " skip_sw");
}

static void put_code(struct buf *b, const struct bytes_spec *s)
{
	buf_printf(b, "%u", s->n_insn);
	for (uint32_t i = 0; i < s->n_insn; i++)
		buf_printf(b, ",%u %u %u %u", s->insn[i].code, s->insn[i].jt, s->insn[i].jf, s->insn[i].k);
}

struct str tc_print_rule(struct arena *a, const struct tc_filter *f)
{
	struct buf b = { .a = a };
	const char *name = tc_protocol_name(f->protocol);

	if (f->is_bare) {
		put_code(&b, f->code);
		return buf_str(&b);
	}
	if (name)
		buf_printf(&b, "protocol %s", name);
	else
		buf_printf(&b, "protocol 0x%04x", f->protocol);
	if (f->has_prio)
		buf_printf(&b, " prio %u", f->prio);
	if (f->kind == TC_FILTER_BPF && f->handle.is_given)
		buf_printf(&b, " handle %x", f->handle.table);
	else if (!f->has_order)
		put_handle(&b, "handle", &f->handle);
	if (f->kind == TC_FILTER_U32) {
		put_u32(&b, f);
	} else {
		buf_printf(&b, " bpf%s bytecode '", f->is_direct ? " da" : "");
		put_code(&b, f->code);
		buf_printf(&b, "'");
	}
	if (f->has_class)
		buf_printf(&b, " flowid %x:%x", f->classid >> 16, f->classid & 0xffff);
	for (size_t i = 0; i < f->actions.n; i++)
		buf_printf(&b, " action %.*s", STR_ARG(f->actions.v[i].text));
	return buf_str(&b);
}

struct str tc_print_file(struct arena *a, const struct tc_file *f)
{
	struct buf b = { .a = a };

	for (size_t i = 0; i < f->qdiscs.n; i++)
		buf_printf(&b, "%.*s\n", STR_ARG(f->qdiscs.v[i]));
	for (size_t i = 0; i < f->filters.n; i++) {
		const struct tc_filter *x = f->filters.v[i];
		struct str rule = tc_print_rule(a, x);

		if (!x->is_tail && !x->is_bare)
			buf_printf(&b, "tc filter add dev %.*s %.*s ", STR_ARG(x->dev), STR_ARG(x->parent));
		buf_printf(&b, "%.*s\n", STR_ARG(rule));
	}
	return buf_str(&b);
}
