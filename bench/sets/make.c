/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses for bench/sets. See make.h.
 *
 * The addresses 1.0.0.0 ... 126.255.255.255 and 128.0.0.0 ... 223.255.255.255 are taken as one line and cut into n
 * stretches of one length; each holds one element. So none overlap, as nft wants it.
 */
#include "sets/make.h"

#define LINE (222ull << 24)

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* The place on the line as an address. */
static uint32_t address(uint64_t at)
{
	return (uint32_t)(at < 126ull << 24 ? at + (1u << 24) : at + (2u << 24));
}

static uint64_t place(uint32_t addr)
{
	return addr < 127u << 24 ? addr - (1u << 24) : addr - (2u << 24);
}

void make_nets(struct net *v, size_t n, bool is_hosts)
{
	static const uint8_t plens[] = { 24, 24, 24, 24, 24, 32, 32, 32, 28, 22 };
	uint64_t state = n, stretch = LINE / n;

	for (size_t i = 0; i < n; i++) {
		uint8_t plen = is_hosts ? 32 : plens[next(&state) % sizeof plens];
		uint64_t size = 1ull << (32 - plen), from = (stretch * i + size - 1) & ~(size - 1);
		uint64_t room = (stretch * (i + 1) - from) / size;

		v[i] = (struct net){ address(from + next(&state) % room * size), plen };
	}
	for (size_t i = n; i-- > 1;) {
		size_t k = next(&state) % (i + 1);
		struct net x = v[i];

		v[i] = v[k];
		v[k] = x;
	}
}

void make_keys(uint32_t key[MAKE_KEYS], const struct net *v, size_t n)
{
	uint64_t state = n + 1;

	for (size_t i = 0; i < MAKE_KEYS; i++) {
		const struct net *one = &v[next(&state) % n];
		uint64_t r = next(&state);

		key[i] = i % 2 ? address(r % LINE) : one->addr + (uint32_t)(r & ((1ull << (32 - one->plen)) - 1));
	}
}

/* Behind an element, or in front of it, lies an address of its stretch that is in none. */
uint32_t make_stranger(const struct net *v, size_t n, size_t i)
{
	const struct net *one = &v[i % n];
	uint64_t stretch = LINE / n, at = place(one->addr), begin = at / stretch * stretch;

	return address(at > begin ? at - 1 : at + (1ull << (32 - one->plen)));
}
