/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Classic BPF programs: as one word, and as tcpdump -ddd lists them, a number or an instruction a line.
 *
 *     4,40 0 0 12,21 0 1 2048,6 0 0 65535,6 0 0 0
 */
#include "lang/tc/parse.h"
#include "policy/cbpf.h"

/* The numbers in s: how many, up to max; -1 if one is no number. */
static int numbers(struct str s, uint64_t *v, int max)
{
	int n = 0;

	for (s = str_trim(s); s.n; s = str_trim(s)) {
		size_t k = 0;

		while (k < s.n && s.p[k] != ' ' && s.p[k] != '\t')
			k++;
		if (n == max || !str_u64(str_slice(s, 0, k), 10, UINT32_MAX, &v[n]))
			return -1;
		n++;
		s = str_slice(s, k, s.n);
	}
	return n;
}

static bool make_insn(const uint64_t *v, int n, struct bytes_insn *out)
{
	if (n != 4 || v[0] > UINT16_MAX || v[1] > UINT8_MAX || v[2] > UINT8_MAX)
		return false;
	*out = (struct bytes_insn){ (uint16_t)v[0], (uint8_t)v[1], (uint8_t)v[2], (uint32_t)v[3] };
	return true;
}

static struct bytes_spec *new_code(struct tc_parse *p, uint64_t n)
{
	struct bytes_spec *b = arena_new(p->a, struct bytes_spec, 1);

	b->kind = BYTES_CBPF;
	b->from_frame = true;
	b->insn = arena_new(p->a, struct bytes_insn, n ? n : 1);
	return b;
}

/* at[i]: where instruction i stands. */
static bool is_good(struct tc_parse *p, const struct bytes_spec *b, const struct loc *at)
{
	struct cbpf_faults f = cbpf_check(p->a, b->insn, b->n_insn);

	for (size_t i = 0; i < f.all.n; i++)
		diag_error(p->d, at[f.all.v[i].insn], "%.*s", STR_ARG(f.all.v[i].text));
	return f.all.n == 0;
}

static bool counts(struct tc_parse *p, struct loc at, uint64_t said, uint64_t given)
{
	if (said == given)
		return true;
	diag_hint(p->d, diag_error(p->d, at, "header says %llu instructions, %llu given", (unsigned long long)said,
				   (unsigned long long)given),
		  "the number in front is how many instructions follow it");
	return false;
}

/* Where a piece of a word stands, as far as quotes let one tell. */
static struct loc place(const struct tc_parse *p, const struct tc_word *w, struct str piece)
{
	const struct source *src = source_get(p->d->sources, w->at.source);
	struct str trimmed = str_trim(piece), written = str_slice(src->text, w->at.off, w->at.off + w->at.len);
	size_t off = (size_t)(trimmed.p - w->text.p), quote = written.n - w->text.n == 2 && !w->is_plain;

	if (off + quote + trimmed.n > written.n || memcmp(written.p + off + quote, trimmed.p, trimmed.n) != 0)
		return w->at;
	return (struct loc){ w->at.source, w->at.off + (uint32_t)(off + quote), (uint32_t)trimmed.n };
}

bool tc_bytecode(struct tc_parse *p, const struct tc_word *w, struct bytes_spec **out)
{
	uint64_t v[4], said, given = 0;
	bool more, ok = true;
	struct str rest, head = str_cut(w->text, ',', &rest, &more);
	struct loc *at;

	if (numbers(head, &said, 1) != 1 || said == 0 || said > CBPF_MAX_INSNS) {
		diag_error(p->d, place(p, w, head), "a program begins with the number of its instructions, 1 to %d",
			   CBPF_MAX_INSNS);
		return false;
	}
	*out = new_code(p, said);
	at = arena_new(p->a, struct loc, said);
	while (more) {
		struct str one = str_cut(rest, ',', &rest, &more);
		struct bytes_insn in;

		if (!more && str_trim(one).n == 0)
			break;
		if (!make_insn(v, numbers(one, v, 4), &in)) {
			diag_error(p->d, place(p, w, one), "instruction %llu is not four numbers: code jt jf k",
				   (unsigned long long)given);
			ok = false;
		} else if (given < said) {
			at[given] = place(p, w, one);
			(*out)->insn[given] = in;
		}
		given++;
	}
	if (!counts(p, place(p, w, head), said, given) || !ok)
		return false;
	(*out)->n_insn = (uint32_t)said;
	return is_good(p, *out, at);
}

static struct bytes_spec *read_listing(struct tc_parse *p, const struct tc_lines *l)
{
	uint64_t v[4], said = 0;
	struct bytes_spec *b;
	struct loc *at = arena_new(p->a, struct loc, l->all.n);
	bool ok = l->all.v[0].n == 1 && str_u64(l->all.v[0].w[0].text, 10, CBPF_MAX_INSNS, &said);

	if (!ok) {
		diag_error(p->d, l->all.v[0].at, "a program begins with the number of its instructions, 1 to %d", CBPF_MAX_INSNS);
		return NULL;
	}
	b = new_code(p, l->all.n);
	for (size_t i = 1; i < l->all.n; i++) {
		const struct tc_line *line = &l->all.v[i];
		int n = (int)line->n;

		for (int k = 0; k < 4 && k < n; k++)
			if (!str_u64(line->w[k].text, 10, UINT32_MAX, &v[k]))
				n = -1;
		at[i - 1] = line->at;
		if (!make_insn(v, n, &b->insn[i - 1])) {
			diag_error(p->d, line->at, "instruction %zu is not four numbers: code jt jf k", i - 1);
			ok = false;
		}
	}
	b->n_insn = (uint32_t)l->all.n - 1;
	return counts(p, l->all.v[0].at, said, b->n_insn) && ok && is_good(p, b, at) ? b : NULL;
}

bool tc_listing(struct tc_parse *p, const struct tc_lines *l)
{
	struct bytes_spec *b = read_listing(p, l);
	struct tc_filter *f;

	if (!b)
		return false;
	f = arena_new(p->a, struct tc_filter, 1);
	f->kind = TC_FILTER_BPF;
	f->is_bare = true;
	f->at = l->all.v[0].at;
	f->hook = HOOK_INGRESS;
	f->parent = STR("ingress");
	f->protocol = 3;
	f->code = b;
	*vec_add(p->a, &p->file->filters) = f;
	return true;
}
