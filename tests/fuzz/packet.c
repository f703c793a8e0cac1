/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as a packet: the first says the link type and how much was not captured. It is judged, printed, read back
 * (the same bytes) and judged again (the same facts).
 */
#include <stdlib.h>

#include "eval/eval.h"
#include "packet/notation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packet p, q;
	struct facts f, g;
	struct arena *a;
	struct str line;

	if (size < 1 || size > 4096)
		return 0;
	packet_init(&p);
	p.link = (enum packet_link)(data[0] % 3);
	p.bytes = data + 1;
	p.len = (uint32_t)size - 1;
	p.wire_len = p.len + (data[0] & 0x80 ? data[0] >> 2 & 31 : 0);
	a = arena_create();
	facts_read(&f, &p);
	line = notation_print(a, &p);
	if (!notation_parse(a, NULL, line, (struct loc){ 0 }, &q))
		abort();
	if (q.len != p.len || q.wire_len != p.wire_len || (p.len && memcmp(q.bytes, p.bytes, p.len) != 0))
		abort();
	if (p.len > 0) {
		facts_read(&g, &q);
		g.l3 = f.l3;
		if (f.is_malformed != g.is_malformed || memcmp(f.v, g.v, sizeof f.v) != 0 || memcmp(f.has, g.has, sizeof f.has) != 0)
			abort();
	}
	arena_destroy(a);
	return 0;
}
