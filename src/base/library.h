/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared libraries that few verbs need, bound when one does: linking libpcap brings twelve other libraries with it, which
 * cost a verb that reads no capture more time than all that it does.
 *
 *     static struct { __typeof__(pcap_close) *close; } lib;
 *     static const struct library_symbol symbols[] = { { "pcap_close", (void **)&lib.close } };
 *     static const char *const names[] = { "libpcap.so.0.8", "libpcap.so.1", NULL };
 *     if (!library_bind(names, symbols, 1))
 *         ... names[0] cannot be loaded: library_error()
 */
#ifndef WEIR_BASE_LIBRARY_H
#define WEIR_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct library_symbol {
	const char *name;
	void **to;
};

/* Loads the first library that is there (names end with NULL) and binds all symbols. Again is well. false: none is bound. */
bool library_bind(const char *const *names, const struct library_symbol *symbol, size_t n);
const char *library_error(void); /* after a failure: what the dynamic linker says */

#endif
