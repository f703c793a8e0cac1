/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sets of the model. See model.h. */
#include "sets/model.h"

#include <errno.h>

struct set *model_declare(struct arena *a, bool is_hosts)
{
	struct set *s = arena_new(a, struct set, 1);

	s->name = STR("bench");
	s->type = is_hosts ? STR("hash:ip") : STR("hash:net");
	s->family = FAMILY_IP4;
	s->has_addrs = true;
	s->dim[0] = is_hosts ? SET_DIM_ADDR : SET_DIM_NET;
	s->n_dims = 1;
	s->netmask = 32;
	s->max_elems = 1 << 24;
	return s;
}

struct setmem_span *model_spans(struct arena *a, const struct net *v, size_t n)
{
	struct setmem_span *span = arena_new(a, struct setmem_span, n);

	for (size_t i = 0; i < n; i++)
		span[i] = (struct setmem_span){ .lo = v[i].addr, .hi = v[i].addr + (uint32_t)((1ull << (32 - v[i].plen)) - 1) };
	return span;
}

unsigned model_log2(const struct set *s, size_t n)
{
	unsigned log2 = SETMEM_MIN_LOG2;

	while (SETMEM_FIXED_WORDS + 2 * setmem_words_for(s, n) > 1ull << log2)
		log2++;
	return log2;
}

int model_add(struct setmem *m, uint32_t id, uint32_t addr)
{
	struct set_elem el = { .v = { addr }, .plen = { 32 } };
	int err = setmem_add(m, id, &el);

	if (err != -EAGAIN)
		return err;
	setmem_grace(m); /* nobody reads what was let go of */
	return setmem_add(m, id, &el);
}
