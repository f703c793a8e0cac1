/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses as numbers. The C library reads and prints the text; here is only the way to host order and back. */
#include "policy/addr.h"

#include <arpa/inet.h>

unsigned addr_bits(enum family f)
{
	return f == FAMILY_IP6 ? 128 : 32;
}

bool addr_parse(enum family f, struct str s, u128 *out)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t raw[16];
	u128 v = 0;

	if (s.n == 0 || s.n >= sizeof(text))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	if (memchr(text, '\0', s.n) || inet_pton(f == FAMILY_IP6 ? AF_INET6 : AF_INET, text, raw) != 1)
		return false;
	for (unsigned i = 0; i < addr_bits(f) / 8; i++)
		v = v << 8 | raw[i];
	*out = v;
	return true;
}

void addr_print(struct buf *b, enum family f, u128 addr)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t raw[16];
	unsigned n = addr_bits(f) / 8;

	for (unsigned i = 0; i < n; i++)
		raw[i] = (uint8_t)(addr >> (8 * (n - 1 - i)));
	if (inet_ntop(f == FAMILY_IP6 ? AF_INET6 : AF_INET, raw, text, sizeof(text)))
		buf_printf(b, "%s", text);
}

u128 addr_mask(enum family f, unsigned plen)
{
	u128 all = f == FAMILY_IP6 ? ~(u128)0 : (u128)UINT32_MAX;

	return plen == 0 ? 0 : all & (all << (addr_bits(f) - plen));
}

int addr_plen(enum family f, u128 mask)
{
	for (unsigned plen = 0; plen <= addr_bits(f); plen++) {
		if (addr_mask(f, plen) == mask)
			return (int)plen;
	}
	return -1;
}
