/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets to measure: n disjoint networks or n hosts, spread over the unicast addresses of IPv4, in random order; and
 * addresses to look up in them, half of them inside an element. The same n gives the same.
 */
#ifndef WEIR_BENCH_SETS_MAKE_H
#define WEIR_BENCH_SETS_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAKE_KEYS = 16384 };

struct net {
	uint32_t addr; /* host order */
	uint8_t plen;
};

/* v: room for n; n from 1 to 1,000,000. Networks are /22 to /32, hosts /32. */
void make_nets(struct net *v, size_t n, bool is_hosts);
void make_keys(uint32_t key[MAKE_KEYS], const struct net *v, size_t n);
/* An address in none of them, another one for each i < n. */
uint32_t make_stranger(const struct net *v, size_t n, size_t i);

#endif
