/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names that stand for numbers in iptables: protocols, services, ICMP types, states, levels ... No file is read. */
#ifndef WEIR_LANG_IPTABLES_NAMES_H
#define WEIR_LANG_IPTABLES_NAMES_H

#include "base/arena.h"

/* Tables end with a row without a name. The first row with a value is the one that is printed. */
struct ipt_name {
	const char *name;
	uint64_t value;
	uint64_t more; /* a second number: last of a range, mask */
};

/*
 * The row whose name is s, whatever the case; else the only one that begins with s (several rows of one value count as
 * one). NULL: none, or (*other is set) two that it could be.
 */
const struct ipt_name *ipt_name_find(const struct ipt_name *table, struct str s, const struct ipt_name **other);
const struct ipt_name *ipt_name_of(const struct ipt_name *table, uint64_t value); /* NULL */
/* The name nearest to what was written, to suggest; NULL. */
const char *ipt_name_nearest(struct arena *a, const struct ipt_name *table, struct str s);

bool ipt_name_service(struct str s, uint16_t *port);
extern const struct ipt_name ipt_names_proto[], ipt_names_icmp[], ipt_names_icmp6[], ipt_names_state[], ipt_names_ctstate[],
	ipt_names_ctstatus[], ipt_names_ctdir[], ipt_names_addrtype[], ipt_names_pkttype[], ipt_names_dscp[], ipt_names_tos[], ipt_names_hashmode[],
	ipt_names_statmode[], ipt_names_ip6header[], ipt_names_mh[], ipt_names_dccp[], ipt_names_chunk[], ipt_names_poldir[], ipt_names_pol[],
	ipt_names_polmode[], ipt_names_connmode[], ipt_names_conndir[], ipt_names_reject[], ipt_names_reject6[], ipt_names_loglevel[],
	ipt_names_ctevents[], ipt_names_expevents[], ipt_names_audit[], ipt_names_tcpopts[], ipt_names_tcpflags[], ipt_names_weekday[],
	ipt_names_chunkmode[], ipt_names_realm[], ipt_names_group[];

#endif
