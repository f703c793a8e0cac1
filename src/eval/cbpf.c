/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Classic BPF, as the kernel runs it. For `-m bpf --bytecode` the packet begins with its IP header, at a device (tc) with
 * the frame's first byte; a tag that the machine holds beside the frame is not among its bytes. A value other than 0 is a
 * match, or the one result that is asked for. A load beyond the packet, or a division by zero, ends the program with 0.
 * Loads from the kernel's own facts (SKF_AD_*) are unknown, but for the few that the evaluator has. Jumps go forward only,
 * so every program ends.
 */
#include <linux/filter.h>

#include "eval/bytes.h"

enum { MEMORY = BPF_MEMWORDS };

struct machine {
	const struct walk *w;
	bool from_frame;
	uint32_t a, x, m[MEMORY];
	bool is_unknown; /* something was read that nobody knows */
	bool has_ended;
	uint32_t result;
};

static void end(struct machine *m, uint32_t result)
{
	m->has_ended = true;
	m->result = result;
}

static void take_field(struct machine *m, enum field f, uint32_t *out)
{
	if (m->w->f.has[f] != EVAL_YES || !m->w->f.known[f])
		m->is_unknown = true;
	else
		*out = (uint32_t)m->w->f.v[f];
}

/* What the kernel calls the packet's protocol: the frame's type; below 1536 it is a length, and the frame 802.2. */
static void load_protocol(struct machine *m)
{
	enum bytes_read x;
	uint32_t known;

	if (!m->from_frame) {
		m->a = m->w->f.family == FAMILY_IP4 ? 0x0800 : 0x86dd;
		return;
	}
	x = wire_get(m->w, 12, 2, &m->a, &known);
	m->is_unknown |= x != BYTES_READ;
	if (m->a < 0x600)
		m->a = 4; /* ETH_P_802_2 */
}

/* The tag beside the frame. */
static void load_tag(struct machine *m, uint32_t what)
{
	int tag = m->w->p->vlan_meta;

	if (what == SKF_AD_VLAN_TAG_PRESENT)
		m->a = tag >= 0;
	else if (what == SKF_AD_VLAN_TAG)
		m->a = tag >= 0 ? (uint32_t)tag : 0;
	else if (tag >= 0)
		m->a = 0x8100;
	else
		m->is_unknown = true;
}

/* A load from SKF_AD_OFF. */
static void load_fact(struct machine *m, uint32_t what)
{
	switch (what) {
	case SKF_AD_PROTOCOL:
		load_protocol(m);
		break;
	case SKF_AD_PKTTYPE:
		take_field(m, FIELD_PKTTYPE, &m->a);
		break;
	case SKF_AD_MARK:
		take_field(m, FIELD_MARK, &m->a);
		break;
	case SKF_AD_CPU:
		take_field(m, FIELD_CPU, &m->a);
		break;
	case SKF_AD_VLAN_TAG:
	case SKF_AD_VLAN_TAG_PRESENT:
	case SKF_AD_VLAN_TPID:
		load_tag(m, what);
		break;
	case SKF_AD_ALU_XOR_X:
		m->a ^= m->x;
		break;
	default:
		m->is_unknown = true;
	}
}

/* Below 0: from the network header (SKF_NET_OFF) or from the link layer's (SKF_LL_OFF); else nowhere. */
static void load(struct machine *m, uint32_t off, unsigned n, uint32_t *out)
{
	int64_t at = (int32_t)off;
	bool in_frame = at >= 0 ? m->from_frame : at < SKF_NET_OFF;
	uint32_t v, known;
	enum bytes_read x;

	if (at < SKF_LL_OFF) {
		end(m, 0);
		return;
	}
	if (at < 0)
		at -= in_frame ? SKF_LL_OFF : SKF_NET_OFF;
	if (in_frame)
		x = wire_get(m->w, (uint64_t)at, n, &v, &known);
	else if (m->from_frame)
		x = wire_net_get(m->w, at, n, &v, &known);
	else
		x = bytes_get(m->w, (uint64_t)at, n, &v);
	if (x == BYTES_BEYOND)
		end(m, 0);
	else if (x == BYTES_UNKNOWN)
		m->is_unknown = true;
	else
		*out = v;
}

/* How long the packet is, from where it begins. */
static uint32_t length(struct machine *m)
{
	m->is_unknown |= m->from_frame && m->w->p->link != PACKET_LINK_ETHER;
	return m->from_frame ? wire_length(m->w) : m->w->f.l3_wire_len;
}

static unsigned size_of(uint16_t code)
{
	return BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

static void run_ld(struct machine *m, const struct bytes_insn *in)
{
	switch (BPF_MODE(in->code)) {
	case BPF_ABS:
		if (in->k >= (uint32_t)SKF_AD_OFF)
			load_fact(m, in->k - (uint32_t)SKF_AD_OFF);
		else
			load(m, in->k, size_of(in->code), &m->a);
		break;
	case BPF_IND:
		load(m, in->k + m->x, size_of(in->code), &m->a);
		break;
	case BPF_LEN:
		m->a = length(m);
		break;
	case BPF_IMM:
		m->a = in->k;
		break;
	case BPF_MEM:
		m->a = m->m[in->k % MEMORY];
		break;
	default:
		m->is_unknown = true;
	}
}

static void run_ldx(struct machine *m, const struct bytes_insn *in)
{
	switch (BPF_MODE(in->code)) {
	case BPF_IMM:
		m->x = in->k;
		break;
	case BPF_MEM:
		m->x = m->m[in->k % MEMORY];
		break;
	case BPF_LEN:
		m->x = length(m);
		break;
	case BPF_MSH:
		load(m, in->k, 1, &m->x);
		m->x = (m->x & 15) * 4;
		break;
	default:
		m->is_unknown = true;
	}
}

static void run_alu(struct machine *m, const struct bytes_insn *in)
{
	uint32_t k = BPF_SRC(in->code) == BPF_X ? m->x : in->k;

	switch (BPF_OP(in->code)) {
	case BPF_ADD:
		m->a += k;
		break;
	case BPF_SUB:
		m->a -= k;
		break;
	case BPF_MUL:
		m->a *= k;
		break;
	case BPF_DIV:
	case BPF_MOD:
		if (k == 0)
			end(m, 0);
		else
			m->a = BPF_OP(in->code) == BPF_DIV ? m->a / k : m->a % k;
		break;
	case BPF_OR:
		m->a |= k;
		break;
	case BPF_AND:
		m->a &= k;
		break;
	case BPF_XOR:
		m->a ^= k;
		break;
	case BPF_LSH:
		m->a <<= k & 31;
		break;
	case BPF_RSH:
		m->a >>= k & 31;
		break;
	case BPF_NEG:
		m->a = -m->a;
		break;
	default:
		m->is_unknown = true;
	}
}

/* How many instructions to skip. */
static uint32_t run_jmp(struct machine *m, const struct bytes_insn *in)
{
	uint32_t k = BPF_SRC(in->code) == BPF_X ? m->x : in->k;
	bool is_true;

	switch (BPF_OP(in->code)) {
	case BPF_JA:
		return in->k;
	case BPF_JEQ:
		is_true = m->a == k;
		break;
	case BPF_JGT:
		is_true = m->a > k;
		break;
	case BPF_JGE:
		is_true = m->a >= k;
		break;
	case BPF_JSET:
		is_true = (m->a & k) != 0;
		break;
	default:
		m->is_unknown = true;
		return 0;
	}
	return is_true ? in->jt : in->jf;
}

static uint64_t run(struct machine *m, const struct bytes_insn *in)
{
	switch (BPF_CLASS(in->code)) {
	case BPF_LD:
		run_ld(m, in);
		break;
	case BPF_LDX:
		run_ldx(m, in);
		break;
	case BPF_ST:
		m->m[in->k % MEMORY] = m->a;
		break;
	case BPF_STX:
		m->m[in->k % MEMORY] = m->x;
		break;
	case BPF_ALU:
		run_alu(m, in);
		break;
	case BPF_JMP:
		return run_jmp(m, in);
	case BPF_RET:
		end(m, BPF_RVAL(in->code) == BPF_A ? m->a : in->k);
		break;
	default: /* BPF_MISC */
		if (BPF_MISCOP(in->code) == BPF_TAX)
			m->x = m->a;
		else
			m->a = m->x;
	}
	return 0;
}

enum eval_truth cbpf_truth(struct walk *w, const struct bytes_spec *b)
{
	struct machine m = { .w = w, .from_frame = b->from_frame };

	for (uint64_t pc = 0; pc < b->n_insn && !m.has_ended && !m.is_unknown; pc++)
		pc += run(&m, &b->insn[pc]);
	if (m.is_unknown)
		return EVAL_UNKNOWN;
	if (b->has_result)
		return m.result == b->result ? EVAL_YES : EVAL_NO;
	return m.result ? EVAL_YES : EVAL_NO;
}
