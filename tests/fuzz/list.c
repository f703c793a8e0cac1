/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer: any bytes as a list of addresses, for sets of every kind that a list can fill: read, merged, printed and read back.
 * The first byte says which set. As elements of ipset, too.
 */
#include <stdlib.h>

#include "lang/lang.h"

struct sets_of_run {
	struct arena *a;
	struct sources s;
	struct diags d;
	struct ruleset *rs;
};

static void start(struct sets_of_run *r)
{
	*r = (struct sets_of_run){ .a = arena_create() };
	r->s.a = r->d.a = r->a;
	r->d.sources = &r->s;
	r->rs = policy_create(r->a);
}

static struct set *make_set(struct sets_of_run *r, uint8_t kind)
{
	struct set *s = policy_set_add(r->rs, arena_printf(r->a, "s%u", (unsigned)r->rs->sets.n), (struct loc){ 0 });

	lang_list_declare(s, kind & 1 ? FAMILY_IP6 : FAMILY_IP4);
	if (kind & 2) {
		s->type = STR("hash:ip");
		s->dim[0] = SET_DIM_ADDR;
		s->netmask = kind & 4 ? 24 : s->netmask;
	}
	s->max_elems = kind & 8 ? 100 : 0;
	return s;
}

static void read_back(struct sets_of_run *r, struct set *s, uint8_t kind)
{
	struct buf b = { .a = r->a };
	struct set *again = make_set(r, kind);
	struct lang_list_options o = { .is_declared_here = true };
	struct lang_list got = { 0 };

	for (size_t i = 0; i < s->elems.n; i++) {
		lang_elem_print(&b, s, &s->elems.v[i]);
		buf_printf(&b, "\n");
	}
	lang_list_read(r->a, &r->d, source_add(&r->s, "again", buf_str(&b)), again, &o, &got);
	if (r->d.n_errors || again->elems.n != s->elems.n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t kind = size ? data[0] : 0;
	struct lang_list_options o = { .is_declared_here = kind & 16, .only_family = kind & 32 };
	struct lang_list got = { 0 };
	struct sets_of_run r;
	struct set *s;
	uint32_t text;

	start(&r);
	s = make_set(&r, kind);
	text = source_add(&r.s, "list", (struct str){ (const char *)data + (size > 0), size - (size > 0) });
	lang_list_family(source_get(&r.s, text));
	lang_list_read(r.a, &r.d, text, s, &o, &got);
	if (s->elems.n < 200000) {
		lang_list_merge(&r.d, s, kind & 64, &got);
		if (!r.d.n_errors && s->elems.n < 5000)
			read_back(&r, s, kind);
	}
	r.d.n_errors = 0;
	lang_elems_read(r.a, &r.d, text, make_set(&r, kind));
	for (size_t i = 0; i < r.d.all.n; i++)
		diag_format(r.a, &r.d, &r.d.all.v[i]);
	arena_destroy(r.a);
	return 0;
}
