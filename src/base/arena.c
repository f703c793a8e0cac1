/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arenas as a list of blocks, each twice as large as the last one up to 4 MiB. See arena.h. */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif
#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define arena_poison(p, n) ASAN_POISON_MEMORY_REGION(p, n)
#define arena_unpoison(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
enum { ARENA_GAP = 16 };
#else
#define arena_poison(p, n) ((void)(p), (void)(n))
#define arena_unpoison(p, n) ((void)(p), (void)(n))
enum { ARENA_GAP = 0 };
#endif

enum { ARENA_FIRST = 16 << 10, ARENA_LARGEST = 4 << 20, ARENA_HUGE = 2 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t size, used;
	_Alignas(16) char mem[];
};

struct arena {
	struct arena_block *top;
	size_t used, next_size;
	struct arena_guard *guard; /* under which it was made, as long as that is open: */
	struct arena *next, *prev; /* its others */
};

static _Thread_local struct arena_guard *guard_open; /* of this thread's call into the library, or NULL */

static _Noreturn void out_of_memory(size_t size)
{
	struct arena_guard *g = guard_open;

	if (!g) {
		fprintf(stderr, "weir: out of memory (%zu bytes wanted)\n", size);
		exit(3);
	}
	while (g->made)
		arena_destroy(g->made);
	free(g->held);
	guard_open = NULL;
	longjmp(g->out, 1);
}

static void *take(size_t size)
{
	struct arena_guard *g = guard_open;
	void *p;

	if (g && g->most && size > g->most - g->taken)
		out_of_memory(size);
	p = calloc(1, size);
	if (!p)
		out_of_memory(size);
	if (g)
		g->taken += size;
	return p;
}

static void link_guard(struct arena *a)
{
	struct arena_guard *g = guard_open;

	if (!g)
		return;
	a->guard = g;
	a->next = g->made;
	if (g->made)
		g->made->prev = a;
	g->made = a;
}

static void unlink_guard(struct arena *a)
{
	if (!a->guard)
		return;
	if (a->prev)
		a->prev->next = a->next;
	else
		a->guard->made = a->next;
	if (a->next)
		a->next->prev = a->prev;
}

void arena_guard_open(struct arena_guard *g, size_t most)
{
	g->made = NULL;
	g->held = NULL;
	g->most = most;
	g->taken = 0;
	guard_open = g;
}

void arena_guard_close(struct arena_guard *g)
{
	guard_open = NULL;
	for (struct arena *a = g->made; a; a = a->next)
		a->guard = NULL;
}

void arena_guard_hold(void *malloced)
{
	if (guard_open)
		guard_open->held = malloced;
}

struct arena *arena_create(void)
{
	struct arena *a = take(sizeof *a);

	a->next_size = ARENA_FIRST;
	link_guard(a);
	return a;
}

void arena_reset(struct arena *a)
{
	struct arena_block *b = a->top, *next;

	for (; b; b = next) {
		next = b->next;
		if (a->guard)
			a->guard->taken -= sizeof *b + b->size;
		arena_unpoison(b->mem, b->size);
		free(b);
	}
	a->top = NULL;
	a->used = 0;
	a->next_size = ARENA_FIRST;
}

void arena_destroy(struct arena *a)
{
	if (!a)
		return;
	arena_reset(a);
	unlink_guard(a);
	free(a);
}

/* What is large is written soon: one fault for 2 MiB costs far less than one for each page. */
static void ask_for_huge_pages(void *p, size_t size)
{
	uintptr_t from = ((uintptr_t)p + ARENA_HUGE - 1) & ~(uintptr_t)(ARENA_HUGE - 1), to = ((uintptr_t)p + size) & ~(uintptr_t)(ARENA_HUGE - 1);

	if (size >= 2 * ARENA_HUGE && to > from)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

static void add_block(struct arena *a, size_t least)
{
	size_t size = a->next_size > least ? a->next_size : least;
	struct arena_block *b = take(sizeof *b + size);

	ask_for_huge_pages(b, sizeof *b + size);
	b->size = size;
	b->next = a->top;
	a->top = b;
	arena_poison(b->mem, size);
	if (a->next_size < ARENA_LARGEST)
		a->next_size *= 2;
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
	size_t off = a->top ? (a->top->used + align - 1) & ~(align - 1) : 0;
	void *p;

	if (size > SIZE_MAX / 2)
		out_of_memory(size);
	if (!a->top || off + size + ARENA_GAP > a->top->size) {
		add_block(a, size + ARENA_GAP);
		off = 0;
	}
	p = a->top->mem + off;
	arena_unpoison(p, size);
	a->top->used = off + size + ARENA_GAP;
	a->used += size;
	return p;
}

size_t arena_used(const struct arena *a)
{
	return a->used;
}

struct str arena_str(struct arena *a, const char *p, size_t n)
{
	char *q = arena_alloc(a, n + 1, 1);

	if (n)
		memcpy(q, p, n);
	return (struct str){ q, n };
}

char *arena_cstr(struct arena *a, struct str s)
{
	char *q = arena_alloc(a, s.n + 1, 1);

	if (s.n)
		memcpy(q, s.p, s.n);
	return q;
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	int n;
	char *q;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		n = 0;
	q = arena_alloc(a, (size_t)n + 1, 1);
	vsnprintf(q, (size_t)n + 1, fmt, ap);
	return (struct str){ q, (size_t)n };
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	struct str s;

	va_start(ap, fmt);
	s = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return s;
}

/* At least doubles, so that many small wishes cost little. */
void *arena_reserve(struct arena *a, void *v, size_t n, size_t *cap, size_t want, size_t elem_bytes)
{
	size_t more = *cap * 2 > want ? *cap * 2 : want;
	void *q;

	if (want <= *cap)
		return v;
	q = arena_alloc(a, more * elem_bytes, 16);
	if (n)
		memcpy(q, v, n * elem_bytes);
	*cap = more;
	return q;
}

void *arena_grow(struct arena *a, void *v, size_t n, size_t *cap, size_t elem_bytes)
{
	return n < *cap ? v : arena_reserve(a, v, n, cap, *cap ? n + 1 : 8, elem_bytes);
}

static void buf_reserve(struct buf *b, size_t more)
{
	size_t want = b->n + more + 1, cap = b->cap ? b->cap : 64;
	char *q;

	if (want <= b->cap)
		return;
	while (cap < want)
		cap *= 2;
	q = arena_alloc(b->a, cap, 1);
	if (b->n)
		memcpy(q, b->v, b->n);
	b->v = q;
	b->cap = cap;
}

void buf_add(struct buf *b, const char *p, size_t n)
{
	buf_reserve(b, n);
	if (n)
		memcpy(b->v + b->n, p, n);
	b->n += n;
	b->v[b->n] = '\0';
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n > 0) {
		buf_reserve(b, (size_t)n);
		vsnprintf(b->v + b->n, (size_t)n + 1, fmt, ap);
		b->n += (size_t)n;
	}
	va_end(ap);
}

struct str buf_str(const struct buf *b)
{
	return b->v ? (struct str){ b->v, b->n } : STR("");
}
