/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of iptables-restore input cut into words, as iptables-restore cuts them, each with its place. */
#ifndef WEIR_LANG_IPTABLES_SCAN_H
#define WEIR_LANG_IPTABLES_SCAN_H

#include "base/diag.h"

struct ipt_word {
	struct str text;   /* without quotes and backslashes */
	struct loc at;	   /* as written, quotes included */
	uint32_t text_off; /* where text begins in the source, if is_plain */
	bool is_plain;	   /* text stands in the source byte by byte */
	bool is_quoted;	   /* there was a quote in it */
};

struct ipt_words {
	VEC(struct ipt_word) all;
};

/*
 * Cuts the piece `at` of a source into words. A quote that is not closed is an error at the quote: false.
 *
 *     -A INPUT -m comment --comment "a \"b\"" -j DROP     ->  -A|INPUT|-m|comment|--comment|a "b"|-j|DROP
 */
bool ipt_scan_words(struct arena *a, struct diags *d, struct loc at, struct ipt_words *out);
/* Place of bytes [off, off + n) of a word's text; the whole word if it was written with backslashes. */
struct loc ipt_word_part(const struct ipt_word *w, size_t off, size_t n);
/* Place of a slice of a word's text. */
struct loc ipt_word_slice(const struct ipt_word *w, struct str slice);

#endif
