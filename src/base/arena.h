/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arenas: memory with a lifetime instead of an owner per object.
 *
 * Everything that lives equally long is taken from one arena and goes away with it. A function that
 * allocates takes `struct arena *a` first; one that does not take an arena does not allocate. Memory
 * comes zeroed, and zero is a valid empty value of every struct of this program. Running out of
 * memory ends the program with exit status 3 and one line on stderr, or, for a library, jumps to the
 * guard that is open in this thread; so no caller checks for NULL.
 *
 *     struct arena *run = arena_create();
 *     struct rule *r = arena_new(run, struct rule, 1);
 *     arena_destroy(run);
 */
#ifndef WEIR_BASE_ARENA_H
#define WEIR_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

struct arena;

struct arena *arena_create(void);
void arena_destroy(struct arena *a); /* NULL is allowed */
void arena_reset(struct arena *a);   /* frees all, keeps the arena; stale pointers are poisoned */
void *arena_alloc(struct arena *a, size_t size, size_t align); /* zeroed, never NULL */
size_t arena_used(const struct arena *a);		       /* bytes handed out since the last reset */

/* Copies n bytes of p and ends them with a NUL that is not counted. */
struct str arena_str(struct arena *a, const char *p, size_t n);
char *arena_cstr(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* result is NUL-ended too */
struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/*
 * Where a thread goes on when memory runs out: a library must not end its program. Of all arenas made since the guard was
 * opened none is left then, and the guard is closed. Other memory is freed if arena_guard_hold() was told of it.
 *
 *     struct arena_guard g;
 *     if (setjmp(g.out)) return -ENOMEM;
 *     arena_guard_open(&g, 0);
 *     ...                             arenas that are still there belong to the caller
 *     arena_guard_close(&g);
 *
 * most: bytes that these arenas may hold at a time; 0: as many as there are. Guards do not nest.
 */
struct arena_guard {
	jmp_buf out;
	struct arena *made; /* since it was opened, the last one first */
	size_t most, taken;
	void *held;
};
void arena_guard_open(struct arena_guard *g, size_t most);
void arena_guard_close(struct arena_guard *g);
void arena_guard_hold(void *malloced); /* one at a time; NULL: nothing any more. Without a guard: nothing happens */

#define arena_new(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n), _Alignof(T)))

/*
 * A growing array in an arena: VEC(int) xs = { 0 }; *vec_add(a, &xs) = 7; xs.v[0], xs.n.
 * Growing moves the elements: keep indexes, not pointers, while adding. vec_add() gives a zeroed element.
 */
#define VEC(T)                \
	struct {              \
		T *v;         \
		size_t n, cap; \
	}
#define vec_add(a, vec)                                                                             \
	((vec)->v = arena_grow((a), (vec)->v, (vec)->n, &(vec)->cap, sizeof *(vec)->v), &(vec)->v[(vec)->n++])

/* Room for so many elements in all: adding up to there moves nothing. */
#define vec_reserve(a, vec, want) ((vec)->v = arena_reserve((a), (vec)->v, (vec)->n, &(vec)->cap, (want), sizeof *(vec)->v))

void *arena_grow(struct arena *a, void *v, size_t n, size_t *cap, size_t elem_bytes);
void *arena_reserve(struct arena *a, void *v, size_t n, size_t *cap, size_t want, size_t elem_bytes);

/* A text that grows: buf_printf(&b, "%d", 1) ... b.v, b.n (NUL-ended, the NUL not counted). */
struct buf {
	struct arena *a;
	char *v;
	size_t n, cap;
};
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_add(struct buf *b, const char *p, size_t n);
struct str buf_str(const struct buf *b);

#endif
