/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arguments of options: for each kind, how it is read and how it is printed. Reading reports what is wrong at the exact
 * place inside the word; printing writes what iptables-save writes.
 *
 *   arg_num.c   numbers, ranges, ports, marks
 *   arg_text.c  text, interfaces, sets
 *   arg_name.c  words that stand for numbers: states, types, protocols
 *   arg_addr.c  addresses, networks, ranges of them, NAT
 *   arg_time.c  rates, clock times, dates, days
 *   arg_pack.c  small languages: u32, BPF code, IPv6 header options, SCTP chunks
 */
#ifndef WEIR_LANG_IPTABLES_ARG_H
#define WEIR_LANG_IPTABLES_ARG_H

#include "lang/iptables/ext.h"
#include "lang/iptables/scan.h"

/* An argument to read. */
struct ipt_arg_in {
	struct arena *a;
	struct diags *d;
	enum family family;
	const struct ipt_opt_row *row;
	const struct ipt_word *w; /* its words, as many as the kind takes */
};

struct ipt_arg_row {
	uint8_t n_words;
	bool takes_dash; /* any text: a word that looks like an option too */
	bool (*parse)(const struct ipt_arg_in *in, struct ipt_value *v); /* false: reported */
	void (*print)(struct buf *b, enum family f, const struct ipt_opt *o);
};
const struct ipt_arg_row *ipt_arg_row(enum ipt_arg arg);
/* The value of an option that has a default and was not written. */
struct ipt_value ipt_arg_default(const struct ipt_opt_row *row, enum family f);

/* ---------- shared by the kinds ---------- */

/* Place of a slice of the first word. */
struct loc ipt_arg_at(const struct ipt_arg_in *in, struct str slice);
/* Decimal, 0x hex, or octal with a leading 0 (which is warned about). */
bool ipt_arg_number(const struct ipt_arg_in *in, struct str s, uint64_t max, uint64_t *out);
bool ipt_arg_service(const struct ipt_arg_in *in, struct str s, uint16_t *port); /* a number or a name */
/* Warns that a range never matches, or (F_ORDERED) reports it: false. */
bool ipt_arg_order(const struct ipt_arg_in *in, struct ipt_range r, struct str s);
/* The row of a name, or an error with the nearest one. */
const struct ipt_name *ipt_arg_name(const struct ipt_arg_in *in, const struct ipt_name *table, struct str s);
/* An address; one of the other family or a name is an error that says so. IPv4 as iptables reads it: 10.1 is 10.1.0.0 */
bool ipt_arg_address(const struct ipt_arg_in *in, struct str s, u128 *out);
/* address[/length|/mask]; warns of host bits and of /0. addr->at is its place. */
bool ipt_arg_network(const struct ipt_arg_in *in, struct str s, struct ipt_addr *addr);
/* A comma list of them. */
bool ipt_arg_networks(const struct ipt_arg_in *in, struct ipt_addrs *out);
bool ipt_arg_proto(const struct ipt_arg_in *in, struct str s, uint8_t *proto);
/* Name of a device, with or without the last '+'; warns of what the kernel never calls a device. */
bool ipt_arg_device(const struct ipt_arg_in *in, struct str s);
/* How many seconds' worth of a rate in bytes a burst of that many bytes is, rounded up; and such a burst as text. */
uint64_t ipt_arg_burst_seconds(const struct ipt_rate *rate, uint64_t bytes);
void ipt_arg_print_byte_burst(struct buf *b, const struct ipt_rate *rate, uint64_t burst);
void ipt_arg_print_network(struct buf *b, enum family f, const struct ipt_addr *addr, bool full);
/* Plain, or in quotes where a reader would take it apart. */
void ipt_arg_print_text(struct buf *b, struct str s);
/* As it is; in quotes only if it would not be read back as one word (iptables-save never quotes names). */
void ipt_arg_print_name(struct buf *b, struct str s);

#define ARG_KIND(name)                                                                    \
	bool ipt_parse_##name(const struct ipt_arg_in *in, struct ipt_value *v);          \
	void ipt_print_##name(struct buf *b, enum family f, const struct ipt_opt *o)
ARG_KIND(num);
ARG_KIND(range);
ARG_KIND(count_range);
ARG_KIND(port);
ARG_KIND(ports);
ARG_KIND(port_list);
ARG_KIND(queues);
ARG_KIND(mark);
ARG_KIND(xmark);
ARG_KIND(tos);
ARG_KIND(named_mask);
ARG_KIND(probability);
ARG_KIND(zone);
ARG_KIND(classid);
ARG_KIND(plen);
ARG_KIND(text);
ARG_KIND(name);
ARG_KIND(quoted);
ARG_KIND(string);
ARG_KIND(hex_text);
ARG_KIND(iface);
ARG_KIND(set);
ARG_KIND(word);
ARG_KIND(flags);
ARG_KIND(proto);
ARG_KIND(icmp);
ARG_KIND(tcp_flags);
ARG_KIND(tcp_options);
ARG_KIND(mh_type);
ARG_KIND(id);
ARG_KIND(addr);
ARG_KIND(addr_range);
ARG_KIND(addr_mask);
ARG_KIND(host);
ARG_KIND(network);
ARG_KIND(mac);
ARG_KIND(nat);
ARG_KIND(nat_ports);
ARG_KIND(rate);
ARG_KIND(hashrate);
ARG_KIND(burst);
ARG_KIND(clock);
ARG_KIND(date);
ARG_KIND(monthdays);
ARG_KIND(weekdays);
ARG_KIND(u32);
ARG_KIND(bytecode);
ARG_KIND(ip6_opts);
ARG_KIND(rt_addrs);
ARG_KIND(chunks);
#undef ARG_KIND

#endif
