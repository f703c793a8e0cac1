/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the tests of the model share: an empty ruleset over a source of nine lines, for places. */
#ifndef WEIR_TESTS_POLICY_KIT_H
#define WEIR_TESTS_POLICY_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/policy.h"

struct fixture {
	struct arena *a;
	struct sources s;
	struct diags d;
	struct ruleset *rs;
	uint32_t source;
};

static inline int setup(void **state)
{
	struct arena *a = arena_create();
	struct fixture *f = arena_new(a, struct fixture, 1);

	f->a = f->s.a = f->d.a = a;
	f->d.sources = &f->s;
	f->rs = policy_create(a);
	f->source = source_add(&f->s, "rules", STR("1\n2\n3\n4\n5\n6\n7\n8\n9\n"));
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	arena_destroy(((struct fixture *)*state)->a);
	return 0;
}

static inline struct loc line(const struct fixture *f, uint32_t n)
{
	return (struct loc){ f->source, (n - 1) * 2, 1 };
}

#endif
