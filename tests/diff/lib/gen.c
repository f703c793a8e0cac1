/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts that rules, sets and packets share. See gen.h. */
#include "diff/lib/gen.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gen_begin(struct gen *g, uint64_t seed, unsigned flags)
{
	memset(g, 0, sizeof *g);
	g->random = seed * 0x9e3779b97f4a7c15u + 0x1234567;
	g->flags = flags;
	if ((flags & (GEN_IP4 | GEN_IP6)) == GEN_IP4 || (flags & (GEN_IP4 | GEN_IP6)) == GEN_IP6)
		g->ip6 = flags & GEN_IP6;
	else
		g->ip6 = gen_chance(g, 50);
	g->is_large = !(flags & GEN_LIVE) && gen_chance(g, 8);
	g->has_frames = gen_chance(g, 50);
}

void gen_end(struct gen *g)
{
	free(g->text);
	g->text = NULL;
}

/* splitmix64 */
static uint64_t next(struct gen *g)
{
	uint64_t z = g->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t gen_below(struct gen *g, uint64_t n)
{
	return n ? next(g) % n : 0;
}

bool gen_chance(struct gen *g, unsigned percent)
{
	return gen_below(g, 100) < percent;
}

void gen_printf(struct gen *g, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (g->cap - g->n < 4096) {
		g->cap = g->cap * 2 + 65536;
		g->text = realloc(g->text, g->cap);
		if (!g->text)
			abort();
	}
	va_start(ap, fmt);
	n = vsnprintf(g->text + g->n, g->cap - g->n, fmt, ap);
	va_end(ap);
	g->n += (size_t)n;
}

static void pool_add(struct gen *g, enum gen_pool p, gen_u128 v)
{
	struct gen_values *x = &g->pool[p];
	unsigned most = sizeof x->v / sizeof *x->v;

	x->v[x->n < most ? x->n++ : gen_below(g, most)] = v;
}

void gen_edges(struct gen *g, enum gen_pool p, gen_u128 lo, gen_u128 hi)
{
	pool_add(g, p, lo - 1);
	pool_add(g, p, lo);
	pool_add(g, p, hi);
	pool_add(g, p, hi + 1);
}

gen_u128 gen_draw(struct gen *g, enum gen_pool p, gen_u128 other)
{
	const struct gen_values *x = &g->pool[p];

	return x->n && gen_chance(g, 80) ? x->v[gen_below(g, x->n)] : other;
}

gen_u128 gen_addr(struct gen *g)
{
	static const uint32_t net[] = { 0xc0000200, 0xc6336400, 0xcb007100, 0x0a000000, 0 };
	gen_u128 six = (gen_u128)0x20010db800000000u << 64;

	if (!g->ip6)
		return net[gen_below(g, 5)] | (uint32_t)gen_below(g, gen_chance(g, 70) ? 256 : 0x100000000u);
	six |= (gen_u128)gen_below(g, 4) << 80;
	return six | gen_below(g, gen_chance(g, 70) ? 16 : UINT64_MAX);
}

const char *gen_addr_text(const struct gen *g, gen_u128 a, char buf[64])
{
	unsigned char b[16];

	for (int i = 0; i < 16; i++)
		b[i] = (unsigned char)(a >> (8 * (15 - i)));
	inet_ntop(g->ip6 ? AF_INET6 : AF_INET, g->ip6 ? b : b + 12, buf, 64);
	return buf;
}

const char *gen_iface(struct gen *g)
{
	static const char *const names[] = { "eth0", "eth1", "eth0.5", "eth10", "wlan0", "br-lan", "lo", "e", "abcdefg",
					     "abcdefgh", "abcdefghi", "abcdefghijklmno" };

	return names[gen_below(g, sizeof names / sizeof *names)];
}
