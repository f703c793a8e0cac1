/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Any text as a packet line: an error with a place inside the text, or a packet that is printed and read back. */
#include <stdlib.h>

#include "packet/notation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_create();
	struct sources ss = { .a = a };
	struct diags d = { .a = a, .sources = &ss };
	struct packet p, q;
	uint32_t id = source_add(&ss, "fuzz", (struct str){ (const char *)data, size });
	bool ok = notation_parse(a, &d, source_get(&ss, id)->text, (struct loc){ id, 0, 0 }, &p);

	if (ok != (d.n_errors == 0))
		abort();
	for (size_t i = 0; i < d.all.n; i++)
		if (d.all.v[i].at.off + d.all.v[i].at.len > size)
			abort();
	if (ok) {
		if (!notation_parse(a, NULL, notation_print(a, &p), (struct loc){ 0 }, &q))
			abort();
		if (q.len != p.len || q.wire_len != p.wire_len || (p.len && memcmp(q.bytes, p.bytes, p.len) != 0))
			abort();
	}
	arena_destroy(a);
	return 0;
}
