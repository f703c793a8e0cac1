/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `ipset save` files: what they leave behind once every line has been carried out.
 *
 *     create bad hash:net family inet hashsize 1024 maxelem 65536 timeout 600
 *     add bad 192.0.2.0/24 timeout 60
 *     add bad 198.51.100.1-198.51.100.6 nomatch
 *
 * A set keeps its lines as they were written, for printing; its elements are worked out: a range is its prefixes where
 * the type holds networks, and its addresses where it holds those. The commands create, add, flush, destroy, rename and
 * swap are carried out; what `ipset save` never writes and a set of rules does not need (del, test, list) is an error.
 *
 * ipset.c reads lines and makes the model, type.c knows set types and their create options, elem.c their elements,
 * value.c the values in them; loose.c reads and prints elements of a set that came from elsewhere.
 */
#ifndef WEIR_LANG_IPSET_IPSET_H
#define WEIR_LANG_IPSET_IPSET_H

#include "policy/policy.h"

struct ipset_file;

/* Errors and warnings go to d. Never NULL. */
struct ipset_file *ipset_read(struct arena *a, struct diags *d, uint32_t source);
/* Adds the file's sets to rs. A set that another file already gave is an error naming both places. */
void ipset_lower(struct ruleset *rs, struct diags *d, const struct ipset_file *f);
/* What was read, one spelling; with_counts keeps the elements' packets and bytes. */
struct str ipset_print(struct arena *a, const struct ipset_file *f, bool with_counts);

/* See lang_elems_read(), lang_elem_print() and lang_set_print(). */
void ipset_loose_read(struct arena *a, struct diags *d, uint32_t source, struct set *s);
void ipset_loose_print(struct buf *b, const struct set *s, const struct set_elem *e);
void ipset_loose_create(struct buf *b, const struct set *s);

/* ---------- inside ---------- */

struct ipset_scan {
	struct str text;
	uint32_t source;
	size_t pos, end; /* of the line */
	bool is_open;	 /* a quotation mark without its end */
};

struct ipset_word {
	struct str text; /* without the quotes around it */
	struct loc at;
	bool is_quoted;
};

bool ipset_next_word(struct ipset_scan *s, struct ipset_word *w); /* false: the line is at its end */
struct ipset_scan ipset_scan_line(const struct source *src, uint32_t source, uint32_t i); /* i from 0 */

struct ipset_line {
	struct ipset_word *word;
	uint32_t n;
	bool has_updated; /* meets elements of lines above: printed with -exist */
};

enum { /* create options of a type besides timeout, counters, comment, skbinfo */
	IPSET_FAMILY = 1,
	IPSET_HASH = 2,
	IPSET_NETMASK = 4,
	IPSET_BITMASK = 8,
	IPSET_MARKMASK = 16,
	IPSET_RANGE = 32,
	IPSET_SIZE = 64,
};

struct ipset_type {
	const char *name;
	uint8_t n_dims;
	enum set_dim dim[SET_MAX_DIMS];
	unsigned options;
	bool takes_any_net; /* a network of prefix length 0 may be an element */
};
const struct ipset_type *ipset_type_find(struct str name); /* NULL */
const char *ipset_type_nearest(struct str name);	   /* NULL */

/* Elements by their value, to find one again: indexes into elems + 1, 0 is free. */
struct ipset_index {
	uint32_t *slot;
	size_t cap;
};

struct ipset_set {
	const struct ipset_type *type;
	struct set model; /* name, options, elements */
	uint64_t max_elems;
	u128 lo, hi;	 /* range of a bitmap */
	uint8_t netmask; /* prefix length at which addresses are kept; the family's width if not said */
	bool is_forced;	 /* forceadd: never full */
	bool is_full;	 /* said so already */
	struct ipset_line create;
	VEC(struct ipset_line) adds;
	struct ipset_index index;
};

struct ipset_file {
	VEC(struct ipset_set *) sets;
	bool lacks_sets; /* a line that makes, names or takes away sets could not be read */
	VEC(struct str) lacking; /* the sets that these lines name first */
};

/* What reading hands around. */
struct ipset_reader {
	struct arena *a, *scratch, *line; /* of the result; of the reading; of one line */
	struct diags *d;
	struct ipset_file *file;
	bool exist;	  /* -exist on this line */
	bool has_updated; /* an element of this line was there and took what this line says */
};

/* Reads what stands behind `create NAME TYPE`; false after an error. */
bool ipset_type_options(struct ipset_reader *r, struct ipset_set *s, const struct ipset_line *l);
/* Reads what stands behind `add NAME`; false after an error. */
bool ipset_elem_add(struct ipset_reader *r, struct ipset_set *s, const struct ipset_line *l);
bool ipset_elem_list(struct ipset_reader *r, struct ipset_set *s, const struct ipset_line *l); /* of a list:set */
/* How many words an option of an element takes, itself included; 0: it is none. */
unsigned ipset_elem_option_words(struct str word);

/*
 * One part of an element: a span of values that are `step` apart, each with this prefix length; or, if is_net, the
 * prefixes that make up the span.
 */
struct ipset_part {
	u128 lo, hi, step;
	uint8_t plen;
	bool is_net, is_mac_any, is_physdev;
};
/* Each reads one part from the text at `at`; false after an error. */
bool ipset_value_addr(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, struct ipset_part *p);
bool ipset_value_net(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, struct ipset_part *p);
bool ipset_value_port(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, struct ipset_part *p);
bool ipset_value_mac(struct ipset_reader *r, struct ipset_word w, struct ipset_part *p);
bool ipset_value_iface(struct ipset_reader *r, struct ipset_word w, struct ipset_part *p);
bool ipset_value_mark(struct ipset_reader *r, const struct ipset_set *s, struct ipset_word w, struct ipset_part *p);
/* a-b or a/len: first and last address; false after an error. IPv4 only has ranges. */
bool ipset_value_span(struct ipset_reader *r, enum family fam, struct ipset_word w, u128 *lo, u128 *hi, bool *is_net);
const char *ipset_value_protocol(unsigned number); /* "tcp"; NULL */
/* A piece of a word, with its place. */
struct ipset_word ipset_value_piece(struct ipset_word w, size_t from, size_t to);

#endif
