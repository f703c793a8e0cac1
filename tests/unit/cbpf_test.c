/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Classic BPF programs that the kernel refuses are refused, and the instruction is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/cbpf.h"

static const struct {
	const char *what;
	struct bytes_insn insn[5];
	uint32_t n;
	const char *text[3];
} cases[] = {
	{ "a good one", { { 40, 0, 0, 12 }, { 21, 0, 1, 2048 }, { 6, 0, 0, 65535 }, { 6, 0, 0, 0 } }, 4, { NULL } },
	{ "a jump past the end", { { 40, 0, 0, 12 }, { 21, 0, 5, 2048 } }, 2,
	  { "instruction 1 jumps to 2, program has 2", "instruction 1 jumps to 7, program has 2",
	    "instruction 1 is the last one and no return" } },
	{ "ja past the end", { { 5, 0, 0, 0xffffffff }, { 6, 0, 0, 0 } }, 2,
	  { "instruction 0 jumps to 4294967296, program has 2" } },
	{ "division by 0", { { 52, 0, 0, 0 }, { 148, 0, 0, 0 }, { 22, 0, 0, 0 } }, 3,
	  { "instruction 0 divides by 0", "instruction 1 divides by 0" } },
	{ "a shift that is too far", { { 100, 0, 0, 32 }, { 22, 0, 0, 0 } }, 2,
	  { "instruction 0 shifts by 32, a word has 32 bits" } },
	{ "no such code", { { 7, 0, 0, 0 }, { 255, 0, 0, 0 }, { 14, 0, 0, 0 } }, 3,
	  { "instruction 1 has the code 255, which does not exist",
	    "instruction 2 has the code 14, which does not exist" } },
	{ "a word of memory that does not exist", { { 2, 0, 0, 16 }, { 6, 0, 0, 0 } }, 2,
	  { "instruction 0 uses word 16 of memory, there are 16" } },
	{ "a word written on one way only", { { 21, 0, 1, 1 }, { 2, 0, 0, 3 }, { 96, 0, 0, 3 }, { 22, 0, 0, 0 } }, 4,
	  { "instruction 2 reads word 3 of memory, which is not written on every way there" } },
	{ "a word written on both ways", { { 21, 0, 2, 1 }, { 2, 0, 0, 3 }, { 5, 0, 0, 1 }, { 3, 0, 0, 3 }, { 96, 0, 0, 3 } }, 5,
	  { "instruction 4 is the last one and no return" } },
	{ "no such fact", { { 32, 0, 0, 0xfffff040 }, { 22, 0, 0, 0 } }, 2,
	  { "instruction 0 loads from -4032, where the kernel has no fact" } },
	{ "a fact", { { 48, 0, 0, 0xfffff030 }, { 22, 0, 0, 0 } }, 2, { NULL } },
	{ "nothing", { { 6, 0, 0, 0 } }, 0, { "a program has 1 to 4096 instructions, this one 0" } },
};

static void faults_are_named(void **state)
{
	struct arena *a = arena_create();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct cbpf_faults f = cbpf_check(a, cases[i].insn, cases[i].n);

		for (size_t k = 0; k < 3 && cases[i].text[k]; k++) {
			if (k >= f.all.n)
				fail_msg("%s: only %zu faults", cases[i].what, f.all.n);
			if (!str_is(f.all.v[k].text, cases[i].text[k]))
				fail_msg("%s: %.*s", cases[i].what, STR_ARG(f.all.v[k].text));
		}
		if (f.all.n < 3 && cases[i].text[f.all.n] != NULL)
			fail_msg("%s: a fault is missing", cases[i].what);
		if (!cases[i].text[0])
			assert_int_equal(f.all.n, 0);
	}
	arena_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(faults_are_named) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
