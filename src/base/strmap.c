/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open addressing with linear steps, at most half full, FNV-1a. See strmap.h. */
#include "base/strmap.h"

static uint64_t hash_of(struct str s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 0x100000001b3u;
	return h ^ h >> 32;
}

/* The entry of key, or the free one where it would go. */
static struct strmap_entry *find(const struct strmap *m, struct str key, uint64_t hash)
{
	size_t i = (size_t)hash & (m->cap - 1);

	while (m->entry[i].is_used && (m->entry[i].hash != hash || !str_eq(m->entry[i].key, key)))
		i = (i + 1) & (m->cap - 1);
	return &m->entry[i];
}

static void grow(struct arena *a, struct strmap *m)
{
	struct strmap old = *m;

	m->cap = old.cap ? old.cap * 2 : 16;
	m->entry = arena_new(a, struct strmap_entry, m->cap);
	for (size_t i = 0; i < old.cap; i++)
		if (old.entry[i].is_used)
			*find(m, old.entry[i].key, old.entry[i].hash) = old.entry[i];
}

void **strmap_slot(struct arena *a, struct strmap *m, struct str key)
{
	uint64_t hash = hash_of(key);
	struct strmap_entry *e;

	if (m->n * 2 >= m->cap)
		grow(a, m);
	e = find(m, key, hash);
	if (!e->is_used) {
		*e = (struct strmap_entry){ .key = key, .hash = hash, .is_used = true };
		m->n++;
	}
	return &e->value;
}

void *strmap_get(const struct strmap *m, struct str key)
{
	return m->cap ? find(m, key, hash_of(key))->value : NULL;
}
