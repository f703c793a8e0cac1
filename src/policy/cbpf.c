/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is a classic BPF program one that the kernel runs? It answers "Invalid argument" and no more; here each instruction
 * that is wrong is named, by its number from 0.
 *
 *     0: ldh [12]
 *     1: jeq #0x800 jt 0 jf 5     instruction 1 jumps to 7, program has 2
 *                                 instruction 1 is the last one and no return
 *
 * The rules: only instructions that exist; jumps forward and within the program; no division by the constant 0, no
 * shift by 32 or more; 16 words of memory, each written on every way to where it is read; loads from the kernel's own
 * facts only where there is such a fact; a return at the end. Jumps go forward only, so that every program ends.
 */
#include <linux/filter.h>

#include "policy/cbpf.h"

enum { ALL_WORDS = 0xffff }; /* a bit for each of the 16 words of memory */

struct check {
	struct arena *a;
	const struct bytes_insn *insn;
	uint32_t n, at; /* the instruction looked at */
	struct cbpf_faults out;
};

static void fault(struct check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void fault(struct check *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*vec_add(c->a, &c->out.all) = (struct cbpf_fault){ c->at, arena_vprintf(c->a, fmt, ap) };
	va_end(ap);
}

static bool is_known_alu(uint16_t code)
{
	unsigned op = BPF_OP(code);

	if (op == BPF_NEG)
		return BPF_SRC(code) == BPF_K;
	return op <= BPF_XOR;
}

/* Is there an instruction with this code? Unused bits must be 0. */
static bool is_known(uint16_t code)
{
	unsigned mode = BPF_MODE(code), size = BPF_SIZE(code);

	if (code > 0xff)
		return false;
	switch (BPF_CLASS(code)) {
	case BPF_LD:
		return mode == BPF_ABS || mode == BPF_IND ? size == BPF_W || size == BPF_H || size == BPF_B
							  : mode <= BPF_LEN && mode != BPF_MSH && size == BPF_W;
	case BPF_LDX:
		return mode == BPF_MSH ? size == BPF_B : (mode == BPF_IMM || mode == BPF_MEM || mode == BPF_LEN) && size == BPF_W;
	case BPF_ST:
	case BPF_STX:
		return code == BPF_CLASS(code);
	case BPF_ALU:
		return is_known_alu(code);
	case BPF_JMP:
		return BPF_OP(code) == BPF_JA ? BPF_SRC(code) == BPF_K : BPF_OP(code) <= BPF_JSET;
	case BPF_RET:
		return code == (BPF_RET | BPF_K) || code == (BPF_RET | BPF_A);
	default:
		return code == (BPF_MISC | BPF_TAX) || code == (BPF_MISC | BPF_TXA);
	}
}

static void check_alu(struct check *c, const struct bytes_insn *in)
{
	unsigned op = BPF_OP(in->code);

	if (BPF_SRC(in->code) != BPF_K)
		return;
	if ((op == BPF_DIV || op == BPF_MOD) && in->k == 0)
		fault(c, "instruction %u divides by 0", c->at);
	if ((op == BPF_LSH || op == BPF_RSH) && in->k > 31)
		fault(c, "instruction %u shifts by %u, a word has 32 bits", c->at, in->k);
}

static void check_target(struct check *c, uint64_t skip)
{
	if (c->at + skip + 1 >= c->n)
		fault(c, "instruction %u jumps to %llu, program has %u", c->at, (unsigned long long)(c->at + skip + 1), c->n);
}

static void check_jump(struct check *c, const struct bytes_insn *in)
{
	if (BPF_OP(in->code) == BPF_JA) {
		check_target(c, in->k);
		return;
	}
	check_target(c, in->jt);
	if (in->jf != in->jt)
		check_target(c, in->jf);
}

static void check_one(struct check *c, const struct bytes_insn *in)
{
	unsigned class = BPF_CLASS(in->code);
	bool in_memory = class == BPF_ST || class == BPF_STX || ((class == BPF_LD || class == BPF_LDX) &&
								   BPF_MODE(in->code) == BPF_MEM);

	if (!is_known(in->code)) {
		fault(c, "instruction %u has the code %u, which does not exist", c->at, in->code);
		return;
	}
	if (class == BPF_ALU)
		check_alu(c, in);
	if (class == BPF_JMP)
		check_jump(c, in);
	if (in_memory && in->k >= BPF_MEMWORDS)
		fault(c, "instruction %u uses word %u of memory, there are %d", c->at, in->k, BPF_MEMWORDS);
	if (class == BPF_LD && BPF_MODE(in->code) == BPF_ABS && in->k >= (uint32_t)SKF_AD_OFF &&
	    (in->k - (uint32_t)SKF_AD_OFF >= SKF_AD_MAX || in->k % 4))
		fault(c, "instruction %u loads from %d, where the kernel has no fact", c->at, (int32_t)in->k);
}

/* Words that are written on every way to an instruction: a bit each. Ways come from the front only. */
static void meet(const struct check *c, uint16_t *written, uint64_t to, uint16_t now)
{
	if (to < c->n)
		written[to] &= now;
}

static void check_memory(struct check *c)
{
	uint16_t *written = arena_new(c->a, uint16_t, c->n);
	uint16_t now = 0;

	memset(written, 0xff, c->n * sizeof *written);
	for (c->at = 0; c->at < c->n; c->at++) {
		const struct bytes_insn *in = &c->insn[c->at];
		unsigned class = BPF_CLASS(in->code);

		now &= written[c->at];
		if (class == BPF_ST || class == BPF_STX)
			now |= (uint16_t)(in->k < BPF_MEMWORDS ? 1u << in->k : 0);
		if ((class == BPF_LD || class == BPF_LDX) && BPF_MODE(in->code) == BPF_MEM && in->k < BPF_MEMWORDS &&
		    !(now >> in->k & 1))
			fault(c, "instruction %u reads word %u of memory, which is not written on every way there", c->at, in->k);
		if (class == BPF_JMP) {
			meet(c, written, (uint64_t)c->at + 1 + (BPF_OP(in->code) == BPF_JA ? in->k : in->jt), now);
			if (BPF_OP(in->code) != BPF_JA)
				meet(c, written, (uint64_t)c->at + 1 + in->jf, now);
			now = ALL_WORDS;
		} else if (class == BPF_RET) {
			now = ALL_WORDS;
		}
	}
}

struct cbpf_faults cbpf_check(struct arena *a, const struct bytes_insn *insn, uint32_t n)
{
	struct check c = { .a = a, .insn = insn, .n = n };

	if (n == 0 || n > CBPF_MAX_INSNS) {
		fault(&c, "a program has 1 to %d instructions, this one %u", CBPF_MAX_INSNS, n);
		return c.out;
	}
	for (c.at = 0; c.at < n; c.at++)
		check_one(&c, &insn[c.at]);
	c.at = n - 1;
	if (BPF_CLASS(insn[c.at].code) != BPF_RET)
		fault(&c, "instruction %u is the last one and no return", c.at);
	if (c.out.all.n == 0)
		check_memory(&c);
	return c.out;
}
