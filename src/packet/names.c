/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of numbers. See names.h. The ICMP names are those that iptables has. */
#include "packet/names.h"

#include "policy/field.h"

static const struct names_row proto_rows[] = {
	{ "tcp", 6, 0 }, { "udp", 17, 0 }, { "icmp", 1, 0 }, { "icmp6", 58, 0 }, { "icmpv6", 58, 0 },
	{ "ipv6-icmp", 58, 0 }, { "sctp", 132, 0 }, { "dccp", 33, 0 }, { "udplite", 136, 0 },
	{ "udp-lite", 136, 0 }, { "esp", 50, 0 }, { "ah", 51, 0 }, { "igmp", 2, 0 }, { "ipip", 4, 0 },
	{ "ipencap", 4, 0 }, { "ipv6", 41, 0 }, { "gre", 47, 0 }, { "ospf", 89, 0 }, { "pim", 103, 0 },
	{ "ipcomp", 108, 0 }, { "vrrp", 112, 0 }, { "l2tp", 115, 0 },
};

#define T(type) (uint16_t)((type) << 8), true
#define C(type, code) (uint16_t)((type) << 8 | (code)), false
static const struct names_row icmp_rows[] = {
	{ "echo-reply", T(0) }, { "pong", T(0) }, { "destination-unreachable", T(3) },
	{ "network-unreachable", C(3, 0) }, { "host-unreachable", C(3, 1) }, { "protocol-unreachable", C(3, 2) },
	{ "port-unreachable", C(3, 3) }, { "fragmentation-needed", C(3, 4) }, { "source-route-failed", C(3, 5) },
	{ "network-unknown", C(3, 6) }, { "host-unknown", C(3, 7) }, { "network-prohibited", C(3, 9) },
	{ "host-prohibited", C(3, 10) }, { "tos-network-unreachable", C(3, 11) },
	{ "tos-host-unreachable", C(3, 12) }, { "communication-prohibited", C(3, 13) },
	{ "host-precedence-violation", C(3, 14) }, { "precedence-cutoff", C(3, 15) }, { "source-quench", T(4) },
	{ "redirect", T(5) }, { "network-redirect", C(5, 0) }, { "host-redirect", C(5, 1) },
	{ "tos-network-redirect", C(5, 2) }, { "tos-host-redirect", C(5, 3) }, { "echo-request", T(8) },
	{ "ping", T(8) }, { "router-advertisement", T(9) }, { "router-solicitation", T(10) },
	{ "time-exceeded", T(11) }, { "ttl-exceeded", T(11) }, { "ttl-zero-during-transit", C(11, 0) },
	{ "ttl-zero-during-reassembly", C(11, 1) }, { "parameter-problem", T(12) }, { "ip-header-bad", C(12, 0) },
	{ "required-option-missing", C(12, 1) }, { "timestamp-request", T(13) }, { "timestamp-reply", T(14) },
	{ "address-mask-request", T(17) }, { "address-mask-reply", T(18) },
};

static const struct names_row icmp6_rows[] = {
	{ "destination-unreachable", T(1) }, { "no-route", C(1, 0) }, { "communication-prohibited", C(1, 1) },
	{ "beyond-scope", C(1, 2) }, { "address-unreachable", C(1, 3) }, { "port-unreachable", C(1, 4) },
	{ "failed-policy", C(1, 5) }, { "reject-route", C(1, 6) }, { "packet-too-big", T(2) },
	{ "time-exceeded", T(3) }, { "ttl-exceeded", T(3) }, { "ttl-zero-during-transit", C(3, 0) },
	{ "ttl-zero-during-reassembly", C(3, 1) }, { "parameter-problem", T(4) }, { "bad-header", C(4, 0) },
	{ "unknown-header-type", C(4, 1) }, { "unknown-option", C(4, 2) }, { "echo-request", T(128) },
	{ "ping", T(128) }, { "echo-reply", T(129) }, { "pong", T(129) }, { "mld-listener-query", T(130) },
	{ "mld-listener-report", T(131) }, { "mld-listener-done", T(132) }, { "router-solicitation", T(133) },
	{ "router-advertisement", T(134) }, { "neighbour-solicitation", T(135) },
	{ "neighbor-solicitation", T(135) }, { "neighbour-advertisement", T(136) },
	{ "neighbor-advertisement", T(136) }, { "redirect", T(137) }, { "mld2-listener-report", T(143) },
};
#undef T
#undef C

static const struct names_row dscp_rows[] = {
	{ "cs0", 0, 0 },   { "be", 0, 0 },    { "cs1", 8, 0 },	 { "cs2", 16, 0 },  { "cs3", 24, 0 },
	{ "cs4", 32, 0 },  { "cs5", 40, 0 },  { "cs6", 48, 0 },  { "cs7", 56, 0 },  { "af11", 10, 0 },
	{ "af12", 12, 0 }, { "af13", 14, 0 }, { "af21", 18, 0 }, { "af22", 20, 0 }, { "af23", 22, 0 },
	{ "af31", 26, 0 }, { "af32", 28, 0 }, { "af33", 30, 0 }, { "af41", 34, 0 }, { "af42", 36, 0 },
	{ "af43", 38, 0 }, { "ef", 46, 0 },   { "va", 44, 0 },	 { "le", 1, 0 },
};
static const struct names_row ecn_rows[] = {
	{ "not-ect", 0, 0 }, { "ect1", 1, 0 }, { "ect0", 2, 0 }, { "ce", 3, 0 },
};
static const struct names_row tcp_opt_rows[] = {
	{ "eol", 0, 0 }, { "nop", 1, 0 }, { "mss", 2, 0 }, { "wscale", 3, 0 }, { "sackok", 4, 0 },
	{ "sack-perm", 4, 0 }, { "sack", 5, 0 }, { "ts", 8, 0 }, { "timestamp", 8, 0 }, { "md5", 19, 0 },
	{ "mptcp", 30, 0 }, { "fastopen", 34, 0 },
};
static const struct names_row sctp_rows[] = {
	{ "data", 0, 0 }, { "init", 1, 0 }, { "init_ack", 2, 0 }, { "sack", 3, 0 }, { "heartbeat", 4, 0 },
	{ "heartbeat_ack", 5, 0 }, { "abort", 6, 0 }, { "shutdown", 7, 0 }, { "shutdown_ack", 8, 0 },
	{ "error", 9, 0 }, { "cookie_echo", 10, 0 }, { "cookie_ack", 11, 0 }, { "ecn_ecne", 12, 0 },
	{ "ecn_cwr", 13, 0 }, { "shutdown_complete", 14, 0 }, { "i_data", 64, 0 }, { "re_config", 130, 0 },
	{ "pad", 132, 0 }, { "asconf", 193, 0 }, { "asconf_ack", 128, 0 }, { "forward_tsn", 192, 0 },
};
static const struct names_row dccp_rows[] = {
	{ "request", 0, 0 }, { "response", 1, 0 }, { "data", 2, 0 }, { "ack", 3, 0 }, { "dataack", 4, 0 },
	{ "closereq", 5, 0 }, { "close", 6, 0 }, { "reset", 7, 0 }, { "sync", 8, 0 }, { "syncack", 9, 0 },
};
static const struct names_row ct_rows[] = {
	{ "invalid", CT_INVALID, 0 }, { "new", CT_NEW, 0 }, { "established", CT_ESTABLISHED, 0 },
	{ "related", CT_RELATED, 0 }, { "untracked", CT_UNTRACKED, 0 }, { "est", CT_ESTABLISHED, 0 },
};
static const struct names_row pkttype_rows[] = {
	{ "host", 0, 0 }, { "unicast", 0, 0 }, { "broadcast", 1, 0 }, { "multicast", 2, 0 }, { "otherhost", 3, 0 },
};
static const struct names_row ip_opt_rows[] = {
	{ "eol", 0, 0 }, { "nop", 1, 0 }, { "rr", 7, 0 }, { "ts", 68, 0 }, { "lsrr", 131, 0 }, { "ssrr", 137, 0 },
	{ "ra", 148, 0 },
};
static const struct names_row arp_rows[] = { { "request", 1, 0 }, { "reply", 2, 0 } };

#define TABLE(name, what) const struct names_table names_##name = { what, name##_rows, sizeof name##_rows / sizeof *name##_rows }
TABLE(proto, "protocol");
TABLE(icmp, "ICMP type");
TABLE(icmp6, "ICMPv6 type");
TABLE(dscp, "DSCP class");
TABLE(ecn, "ECN value");
TABLE(tcp_opt, "TCP option");
TABLE(sctp, "SCTP chunk");
TABLE(dccp, "DCCP packet type");
TABLE(ct, "connection state");
TABLE(pkttype, "packet type");
TABLE(ip_opt, "IPv4 option");
TABLE(arp, "ARP operation");

const struct names_row *names_find(const struct names_table *t, struct str name)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_is_nocase(name, t->rows[i].name))
			return &t->rows[i];
	return NULL;
}

const char *names_of(const struct names_table *t, unsigned value)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].value == value)
			return t->rows[i].name;
	return NULL;
}

const char *names_nearest(const struct names_table *t, struct str name)
{
	const char *names[64];

	for (size_t i = 0; i < t->n && i < 64; i++)
		names[i] = t->rows[i].name;
	return str_nearest(name, names, t->n < 64 ? t->n : 64);
}
