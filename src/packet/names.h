/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of numbers in packets, as the notation reads and prints them. Several names may mean one number; the first prints. */
#ifndef WEIR_PACKET_NAMES_H
#define WEIR_PACKET_NAMES_H

#include "base/str.h"

struct names_row {
	const char *name;
	uint16_t value; /* ICMP: type << 8 | code */
	bool is_type;	/* ICMP: a name for the type alone */
};
struct names_table {
	const char *what; /* "protocol", for errors */
	const struct names_row *rows;
	size_t n;
};
extern const struct names_table names_proto, names_icmp, names_icmp6, names_dscp, names_ecn, names_tcp_opt, names_sctp,
	names_dccp, names_ct, names_pkttype, names_ip_opt, names_arp;

/* The row of this name, or NULL. Case does not matter. */
const struct names_row *names_find(const struct names_table *t, struct str name);
/* The first name of a value, or NULL. */
const char *names_of(const struct names_table *t, unsigned value);
/* The name nearest to a misspelt one, or NULL. */
const char *names_nearest(const struct names_table *t, struct str name);

#endif
