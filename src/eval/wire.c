/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The packet as programs at a device see it: the whole frame, what stands behind the IP packet too (Ethernet pads short
 * frames). Up to the end of the IP packet bytes are as rules have left them.
 */
#include "eval/bytes.h"

static uint64_t net_off(const struct walk *w)
{
	return w->f.l3 ? (uint64_t)(w->f.l3 - w->p->bytes) : UINT32_MAX;
}

static enum bytes_read one(const struct walk *w, uint64_t off, uint32_t *v)
{
	const struct packet *p = w->p;
	uint32_t wire = wire_length(w);
	uint64_t l3 = net_off(w);

	if (off < l3)
		return bytes_frame(w, off, v);
	if (off - l3 < w->f.l3_wire_len)
		return bytes_get(w, off - l3, 1, v);
	*v = 0;
	if (off >= wire)
		return BYTES_BEYOND;
	if (off >= p->len)
		return BYTES_UNKNOWN;
	*v = p->bytes[off];
	return BYTES_READ;
}

uint32_t wire_length(const struct walk *w)
{
	return w->p->wire_len > w->p->len ? w->p->wire_len : w->p->len;
}

static enum bytes_read get(const struct walk *w, uint64_t off, unsigned n, uint32_t *v, uint32_t *known)
{
	enum bytes_read x = BYTES_READ;

	*v = *known = 0;
	for (unsigned i = 0; i < n; i++) {
		uint32_t byte;
		enum bytes_read y = one(w, off + i, &byte);

		if (y == BYTES_BEYOND)
			return y;
		x = y == BYTES_READ ? x : y;
		*v = *v << 8 | (y == BYTES_READ ? byte : 0);
		*known = *known << 8 | (y == BYTES_READ ? 0xff : 0);
	}
	return x;
}

enum bytes_read wire_net_get(const struct walk *w, int64_t off, unsigned n, uint32_t *v, uint32_t *known)
{
	int64_t at = (int64_t)net_off(w) + off;

	*v = *known = 0;
	return at < 0 ? BYTES_BEYOND : get(w, (uint64_t)at, n, v, known);
}

enum bytes_read wire_get(const struct walk *w, uint64_t off, unsigned n, uint32_t *v, uint32_t *known)
{
	uint32_t byte;

	*v = *known = 0;
	if (w->p->link != PACKET_LINK_ETHER) /* what stands before the IP header was not said */
		return bytes_frame(w, off, &byte);
	return get(w, off, n, v, known);
}
