/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of names. Order is the order in which iptables-save prints them where several stand in a list. */
#include "lang/iptables/names.h"

#include <linux/rtnetlink.h>
#include <strings.h>

#include "policy/policy.h"

enum { CTSTATE_SNAT = 1 << 6, CTSTATE_DNAT = 1 << 7 };

/* IANA protocol numbers under the names that /etc/protocols gives them. */
const struct ipt_name ipt_names_proto[] = {
	{ "all", 0, 0 },	{ "ip", 0, 0 },		{ "hopopt", 0, 0 },	 { "tcp", 6, 0 },
	{ "udp", 17, 0 },	{ "icmp", 1, 0 },	{ "igmp", 2, 0 },	 { "ggp", 3, 0 },
	{ "ipencap", 4, 0 },	{ "ip-encap", 4, 0 },	{ "st", 5, 0 },		 { "egp", 8, 0 },
	{ "igp", 9, 0 },	{ "pup", 12, 0 },	{ "hmp", 20, 0 },	 { "xns-idp", 22, 0 },
	{ "rdp", 27, 0 },	{ "iso-tp4", 29, 0 },	{ "dccp", 33, 0 },	 { "xtp", 36, 0 },
	{ "ddp", 37, 0 },	{ "idpr-cmtp", 38, 0 }, { "ipv6", 41, 0 },	 { "ipv6-route", 43, 0 },
	{ "ipv6-frag", 44, 0 }, { "idrp", 45, 0 },	{ "rsvp", 46, 0 },	 { "gre", 47, 0 },
	{ "esp", 50, 0 },	{ "ipsec-esp", 50, 0 }, { "ah", 51, 0 },	 { "ipsec-ah", 51, 0 },
	{ "skip", 57, 0 },	{ "ipv6-icmp", 58, 0 }, { "icmpv6", 58, 0 },	 { "icmp6", 58, 0 },
	{ "ipv6-nonxt", 59, 0 }, { "ipv6-opts", 60, 0 }, { "rspf", 73, 0 },	 { "cphb", 73, 0 },
	{ "vmtp", 81, 0 },	{ "eigrp", 88, 0 },	{ "ospf", 89, 0 },	 { "ospfigp", 89, 0 },
	{ "ax.25", 93, 0 },	{ "ipip", 94, 0 },	{ "etherip", 97, 0 },	 { "encap", 98, 0 },
	{ "pim", 103, 0 },	{ "ipcomp", 108, 0 },	{ "vrrp", 112, 0 },	 { "l2tp", 115, 0 },
	{ "isis", 124, 0 },	{ "sctp", 132, 0 },	{ "fc", 133, 0 },	 { "mobility-header", 135, 0 },
	{ "ipv6-mh", 135, 0 },	{ "mh", 135, 0 },	{ "udplite", 136, 0 },	 { "mpls-in-ip", 137, 0 },
	{ "manet", 138, 0 },	{ "hip", 139, 0 },	{ "shim6", 140, 0 },	 { "wesp", 141, 0 },
	{ "rohc", 142, 0 },	{ "ethernet", 143, 0 }, { NULL, 0, 0 },
};

/* type << 8 | code, first and last */
#define TYPE(name, t) { name, (t) << 8, (t) << 8 | 0xff }
#define CODE(name, t, c) { name, (t) << 8 | (c), (t) << 8 | (c) }

const struct ipt_name ipt_names_icmp[] = {
	{ "any", 0, 0xffff },
	TYPE("echo-reply", 0),
	TYPE("pong", 0),
	TYPE("destination-unreachable", 3),
	CODE("network-unreachable", 3, 0),
	CODE("host-unreachable", 3, 1),
	CODE("protocol-unreachable", 3, 2),
	CODE("port-unreachable", 3, 3),
	CODE("fragmentation-needed", 3, 4),
	CODE("source-route-failed", 3, 5),
	CODE("network-unknown", 3, 6),
	CODE("host-unknown", 3, 7),
	CODE("network-prohibited", 3, 9),
	CODE("host-prohibited", 3, 10),
	CODE("TOS-network-unreachable", 3, 11),
	CODE("TOS-host-unreachable", 3, 12),
	CODE("communication-prohibited", 3, 13),
	CODE("host-precedence-violation", 3, 14),
	CODE("precedence-cutoff", 3, 15),
	TYPE("source-quench", 4),
	TYPE("redirect", 5),
	CODE("network-redirect", 5, 0),
	CODE("host-redirect", 5, 1),
	CODE("TOS-network-redirect", 5, 2),
	CODE("TOS-host-redirect", 5, 3),
	TYPE("echo-request", 8),
	TYPE("ping", 8),
	TYPE("router-advertisement", 9),
	TYPE("router-solicitation", 10),
	TYPE("time-exceeded", 11),
	TYPE("ttl-exceeded", 11),
	CODE("ttl-zero-during-transit", 11, 0),
	CODE("ttl-zero-during-reassembly", 11, 1),
	TYPE("parameter-problem", 12),
	CODE("ip-header-bad", 12, 0),
	CODE("required-option-missing", 12, 1),
	TYPE("timestamp-request", 13),
	TYPE("timestamp-reply", 14),
	TYPE("address-mask-request", 17),
	TYPE("address-mask-reply", 18),
	{ NULL, 0, 0 },
};

const struct ipt_name ipt_names_icmp6[] = {
	TYPE("destination-unreachable", 1),
	CODE("no-route", 1, 0),
	CODE("communication-prohibited", 1, 1),
	CODE("beyond-scope", 1, 2),
	CODE("address-unreachable", 1, 3),
	CODE("port-unreachable", 1, 4),
	CODE("failed-policy", 1, 5),
	CODE("reject-route", 1, 6),
	TYPE("packet-too-big", 2),
	TYPE("time-exceeded", 3),
	TYPE("ttl-exceeded", 3),
	CODE("ttl-zero-during-transit", 3, 0),
	CODE("ttl-zero-during-reassembly", 3, 1),
	TYPE("parameter-problem", 4),
	CODE("bad-header", 4, 0),
	CODE("unknown-header-type", 4, 1),
	CODE("unknown-option", 4, 2),
	TYPE("echo-request", 128),
	TYPE("ping", 128),
	TYPE("echo-reply", 129),
	TYPE("pong", 129),
	TYPE("router-solicitation", 133),
	TYPE("router-advertisement", 134),
	TYPE("neighbour-solicitation", 135),
	TYPE("neighbor-solicitation", 135),
	TYPE("neighbour-advertisement", 136),
	TYPE("neighbor-advertisement", 136),
	TYPE("redirect", 137),
	{ NULL, 0, 0 },
};

#define STATES                                                                                     \
	{ "INVALID", 1 << CT_INVALID, 0 }, { "NEW", 1 << CT_NEW, 0 }, { "RELATED", 1 << CT_RELATED, 0 }, \
		{ "ESTABLISHED", 1 << CT_ESTABLISHED, 0 }, { "UNTRACKED", 1 << CT_UNTRACKED, 0 }

const struct ipt_name ipt_names_state[] = { STATES, { NULL, 0, 0 } };
const struct ipt_name ipt_names_ctstate[] = { STATES, { "SNAT", CTSTATE_SNAT, 0 }, { "DNAT", CTSTATE_DNAT, 0 }, { NULL, 0, 0 } };
const struct ipt_name ipt_names_ctstatus[] = {
	{ "NONE", 0, 0 },
	{ "EXPECTED", CT_STATUS_EXPECTED, 0 },
	{ "SEEN_REPLY", CT_STATUS_SEEN_REPLY, 0 },
	{ "ASSURED", CT_STATUS_ASSURED, 0 },
	{ "CONFIRMED", CT_STATUS_CONFIRMED, 0 },
	{ NULL, 0, 0 },
};
const struct ipt_name ipt_names_ctdir[] = { { "ORIGINAL", 0, 0 }, { "REPLY", 1, 0 }, { NULL, 0, 0 } };

const struct ipt_name ipt_names_addrtype[] = {
	{ "UNSPEC", 1 << RTN_UNSPEC, 0 },
	{ "UNICAST", 1 << RTN_UNICAST, 0 },
	{ "LOCAL", 1 << RTN_LOCAL, 0 },
	{ "BROADCAST", 1 << RTN_BROADCAST, 0 },
	{ "ANYCAST", 1 << RTN_ANYCAST, 0 },
	{ "MULTICAST", 1 << RTN_MULTICAST, 0 },
	{ "BLACKHOLE", 1 << RTN_BLACKHOLE, 0 },
	{ "UNREACHABLE", 1 << RTN_UNREACHABLE, 0 },
	{ "PROHIBIT", 1 << RTN_PROHIBIT, 0 },
	{ "THROW", 1 << RTN_THROW, 0 },
	{ "NAT", 1 << RTN_NAT, 0 },
	{ "XRESOLVE", 1 << RTN_XRESOLVE, 0 },
	{ NULL, 0, 0 },
};

const struct ipt_name ipt_names_pkttype[] = {
	{ "unicast", 0, 0 },   { "host", 0, 0 },      { "broadcast", 1, 0 }, { "bcast", 1, 0 },
	{ "multicast", 2, 0 }, { "mcast", 2, 0 },     { "otherhost", 3, 0 }, { NULL, 0, 0 },
};

const struct ipt_name ipt_names_dscp[] = {
	{ "CS0", 0, 0 },   { "BE", 0, 0 },    { "CS1", 8, 0 },   { "CS2", 16, 0 },  { "CS3", 24, 0 },  { "CS4", 32, 0 },
	{ "CS5", 40, 0 },  { "CS6", 48, 0 },  { "CS7", 56, 0 },  { "AF11", 10, 0 }, { "AF12", 12, 0 }, { "AF13", 14, 0 },
	{ "AF21", 18, 0 }, { "AF22", 20, 0 }, { "AF23", 22, 0 }, { "AF31", 26, 0 }, { "AF32", 28, 0 }, { "AF33", 30, 0 },
	{ "AF41", 34, 0 }, { "AF42", 36, 0 }, { "AF43", 38, 0 }, { "EF", 46, 0 },   { NULL, 0, 0 },
};

const struct ipt_name ipt_names_tos[] = {
	{ "Minimize-Delay", 0x10, 0 },	{ "Maximize-Throughput", 0x08, 0 }, { "Maximize-Reliability", 0x04, 0 },
	{ "Minimize-Cost", 0x02, 0 },	{ "Normal-Service", 0x00, 0 },	    { NULL, 0, 0 },
};

const struct ipt_name ipt_names_hashmode[] = {
	{ "srcip", HASHLIMIT_SRCIP, 0 },   { "srcport", HASHLIMIT_SRCPORT, 0 }, { "dstip", HASHLIMIT_DSTIP, 0 },
	{ "dstport", HASHLIMIT_DSTPORT, 0 }, { NULL, 0, 0 },
};

const struct ipt_name ipt_names_statmode[] = { { "random", 0, 0 }, { "nth", 1, 0 }, { NULL, 0, 0 } };

const struct ipt_name ipt_names_ip6header[] = {
	{ "hop-by-hop", HDR_HOPOPTS, 0 }, { "hop", HDR_HOPOPTS, 0 },   { "0", HDR_HOPOPTS, 0 },
	{ "ipv6-opts", HDR_DSTOPTS, 0 },  { "dst", HDR_DSTOPTS, 0 },   { "60", HDR_DSTOPTS, 0 },
	{ "ipv6-route", HDR_ROUTE, 0 },	  { "route", HDR_ROUTE, 0 },   { "43", HDR_ROUTE, 0 },
	{ "ipv6-frag", HDR_FRAG, 0 },	  { "frag", HDR_FRAG, 0 },     { "44", HDR_FRAG, 0 },
	{ "ah", HDR_AUTH, 0 },		  { "auth", HDR_AUTH, 0 },     { "51", HDR_AUTH, 0 },
	{ "esp", HDR_ESP, 0 },		  { "50", HDR_ESP, 0 },	       { "ipv6-nonxt", HDR_NONE, 0 },
	{ "none", HDR_NONE, 0 },	  { "59", HDR_NONE, 0 },       { "protocol", HDR_PROTO, 0 },
	{ "proto", HDR_PROTO, 0 },	  { "255", HDR_PROTO, 0 },     { NULL, 0, 0 },
};

const struct ipt_name ipt_names_mh[] = {
	{ "binding-refresh-request", 0, 0 }, { "brr", 0, 0 },  { "home-test-init", 1, 0 }, { "hoti", 1, 0 },
	{ "careof-test-init", 2, 0 },	     { "coti", 2, 0 }, { "home-test", 3, 0 },	   { "hot", 3, 0 },
	{ "careof-test", 4, 0 },	     { "cot", 4, 0 },  { "binding-update", 5, 0 }, { "bu", 5, 0 },
	{ "binding-acknowledgement", 6, 0 }, { "ba", 6, 0 },   { "binding-error", 7, 0 },  { "be", 7, 0 },
	{ NULL, 0, 0 },
};

const struct ipt_name ipt_names_dccp[] = {
	{ "REQUEST", 1 << 0, 0 }, { "RESPONSE", 1 << 1, 0 }, { "DATA", 1 << 2, 0 },  { "ACK", 1 << 3, 0 },
	{ "DATAACK", 1 << 4, 0 }, { "CLOSEREQ", 1 << 5, 0 }, { "CLOSE", 1 << 6, 0 }, { "RESET", 1 << 7, 0 },
	{ "SYNC", 1 << 8, 0 },	  { "SYNCACK", 1 << 9, 0 },  { "INVALID", 1 << 10, 0 }, { NULL, 0, 0 },
};

/* more: which flag bits have letters, see arg_pack.c */
const struct ipt_name ipt_names_chunk[] = {
	{ "DATA", 0, 0 },	      { "INIT", 1, 0 },		 { "INIT_ACK", 2, 0 },	  { "SACK", 3, 0 },
	{ "HEARTBEAT", 4, 0 },	      { "HEARTBEAT_ACK", 5, 0 }, { "ABORT", 6, 0 },	  { "SHUTDOWN", 7, 0 },
	{ "SHUTDOWN_ACK", 8, 0 },     { "ERROR", 9, 0 },	 { "COOKIE_ECHO", 10, 0 }, { "COOKIE_ACK", 11, 0 },
	{ "ECN_ECNE", 12, 0 },	      { "ECN_CWR", 13, 0 },	 { "SHUTDOWN_COMPLETE", 14, 0 }, { "I_DATA", 64, 0 },
	{ "RE_CONFIG", 130, 0 },      { "PAD", 132, 0 },	 { "ASCONF", 193, 0 },	  { "ASCONF_ACK", 128, 0 },
	{ "FORWARD_TSN", 192, 0 },    { "I_FORWARD_TSN", 194, 0 }, { NULL, 0, 0 },
};
const struct ipt_name ipt_names_chunkmode[] = { { "all", 0, 0 }, { "any", 1, 0 }, { "only", 2, 0 }, { NULL, 0, 0 } };

const struct ipt_name ipt_names_poldir[] = { { "in", 0, 0 }, { "out", 1, 0 }, { NULL, 0, 0 } };
const struct ipt_name ipt_names_pol[] = { { "none", 0, 0 }, { "ipsec", 1, 0 }, { NULL, 0, 0 } };
const struct ipt_name ipt_names_polmode[] = { { "transport", 0, 0 }, { "tunnel", 1, 0 }, { NULL, 0, 0 } };
const struct ipt_name ipt_names_connmode[] = { { "packets", 0, 0 }, { "bytes", 1, 0 }, { "avgpkt", 2, 0 }, { NULL, 0, 0 } };
const struct ipt_name ipt_names_conndir[] = { { "original", 0, 0 }, { "reply", 1, 0 }, { "both", 2, 0 }, { NULL, 0, 0 } };

const struct ipt_name ipt_names_reject[] = {
	{ "icmp-net-unreachable", REJECT_NET_UNREACH, 0 },     { "net-unreach", REJECT_NET_UNREACH, 0 },
	{ "icmp-host-unreachable", REJECT_HOST_UNREACH, 0 },   { "host-unreach", REJECT_HOST_UNREACH, 0 },
	{ "icmp-proto-unreachable", REJECT_PROTO_UNREACH, 0 }, { "proto-unreach", REJECT_PROTO_UNREACH, 0 },
	{ "icmp-port-unreachable", REJECT_PORT_UNREACH, 0 },   { "port-unreach", REJECT_PORT_UNREACH, 0 },
	{ "icmp-net-prohibited", REJECT_NET_PROHIB, 0 },       { "net-prohib", REJECT_NET_PROHIB, 0 },
	{ "icmp-host-prohibited", REJECT_HOST_PROHIB, 0 },     { "host-prohib", REJECT_HOST_PROHIB, 0 },
	{ "tcp-reset", REJECT_TCP_RST, 0 },		       { "tcp-rst", REJECT_TCP_RST, 0 },
	{ "icmp-admin-prohibited", REJECT_ADMIN_PROHIB, 0 },   { "admin-prohib", REJECT_ADMIN_PROHIB, 0 },
	{ NULL, 0, 0 },
};
const struct ipt_name ipt_names_reject6[] = {
	{ "icmp6-no-route", REJECT6_NO_ROUTE, 0 },	    { "no-route", REJECT6_NO_ROUTE, 0 },
	{ "icmp6-adm-prohibited", REJECT6_ADMIN_PROHIB, 0 }, { "adm-prohibited", REJECT6_ADMIN_PROHIB, 0 },
	{ "icmp6-addr-unreachable", REJECT6_ADDR_UNREACH, 0 }, { "addr-unreach", REJECT6_ADDR_UNREACH, 0 },
	{ "icmp6-port-unreachable", REJECT6_PORT_UNREACH, 0 }, { "port-unreach", REJECT6_PORT_UNREACH, 0 },
	{ "tcp-reset", REJECT_TCP_RST, 0 },		    { "tcp-rst", REJECT_TCP_RST, 0 },
	{ "icmp6-policy-fail", REJECT6_POLICY_FAIL, 0 },    { "policy-fail", REJECT6_POLICY_FAIL, 0 },
	{ "icmp6-reject-route", REJECT6_REJECT_ROUTE, 0 },  { "reject-route", REJECT6_REJECT_ROUTE, 0 },
	{ NULL, 0, 0 },
};

const struct ipt_name ipt_names_loglevel[] = {
	{ "emerg", 0, 0 },  { "panic", 0, 0 },	 { "alert", 1, 0 }, { "crit", 2, 0 },
	{ "error", 3, 0 },  { "warning", 4, 0 }, { "notice", 5, 0 }, { "info", 6, 0 },
	{ "debug", 7, 0 },  { NULL, 0, 0 },
};

const struct ipt_name ipt_names_ctevents[] = {
	{ "new", 1 << 0, 0 },	    { "related", 1 << 1, 0 },	 { "destroy", 1 << 2, 0 }, { "reply", 1 << 3, 0 },
	{ "assured", 1 << 4, 0 },   { "protoinfo", 1 << 5, 0 },	 { "helper", 1 << 6, 0 },  { "mark", 1 << 7, 0 },
	{ "natseqinfo", 1 << 8, 0 }, { "secmark", 1 << 9, 0 },	 { NULL, 0, 0 },
};
const struct ipt_name ipt_names_expevents[] = { { "new", 1, 0 }, { NULL, 0, 0 } };
const struct ipt_name ipt_names_audit[] = { { "accept", 0, 0 }, { "drop", 1, 0 }, { "reject", 2, 0 }, { NULL, 0, 0 } };
const struct ipt_name ipt_names_tcpopts[] = {
	{ "mss", 2, 0 }, { "wscale", 3, 0 }, { "sack-permitted", 4, 0 }, { "sack", 5, 0 }, { "timestamp", 8, 0 }, { "md5", 19, 0 },
	{ NULL, 0, 0 },
};
const struct ipt_name ipt_names_tcpflags[] = {
	{ "FIN", 0x01, 0 }, { "SYN", 0x02, 0 }, { "RST", 0x04, 0 },  { "PSH", 0x08, 0 },
	{ "ACK", 0x10, 0 }, { "URG", 0x20, 0 }, { "ALL", 0x3f, 0 },  { "NONE", 0x00, 0 },
	{ NULL, 0, 0 },
};
const struct ipt_name ipt_names_weekday[] = {
	{ "Mon", 1, 0 }, { "Tue", 2, 0 }, { "Wed", 3, 0 }, { "Thu", 4, 0 }, { "Fri", 5, 0 }, { "Sat", 6, 0 }, { "Sun", 7, 0 },
	{ NULL, 0, 0 },
};
const struct ipt_name ipt_names_realm[] = { { "cosmos", 0, 0 }, { NULL, 0, 0 } };
const struct ipt_name ipt_names_group[] = { { "default", 0, 0 }, { NULL, 0, 0 } };

static const struct service {
	const char *name;
	uint16_t port;
} services[] = {
#define S(name, port) { name, port },
#include "base/services.def"
#undef S
};

const struct ipt_name *ipt_name_find(const struct ipt_name *table, struct str s, const struct ipt_name **other)
{
	const struct ipt_name *found = NULL;

	*other = NULL;
	if (s.n == 0)
		return NULL;
	for (const struct ipt_name *r = table; r->name; r++) {
		if (str_is_nocase(s, r->name))
			return r;
	}
	for (const struct ipt_name *r = table; r->name; r++) {
		if (s.n > strlen(r->name) || strncasecmp(s.p, r->name, s.n) != 0)
			continue;
		if (found && (found->value != r->value || found->more != r->more)) {
			*other = r;
			return NULL;
		}
		if (!found)
			found = r;
	}
	return found;
}

const struct ipt_name *ipt_name_of(const struct ipt_name *table, uint64_t value)
{
	for (const struct ipt_name *r = table; r->name; r++) {
		if (r->value == value)
			return r;
	}
	return NULL;
}

const char *ipt_name_nearest(struct arena *a, const struct ipt_name *table, struct str s)
{
	VEC(const char *) all = { 0 };

	for (const struct ipt_name *r = table; r->name; r++)
		*vec_add(a, &all) = r->name;
	return str_nearest(s, all.v, all.n);
}

static int service_compare(struct str s, const char *name)
{
	int c = strncmp(s.p, name, s.n);

	return c ? c : name[s.n] ? -1 : 0;
}

bool ipt_name_service(struct str s, uint16_t *port)
{
	size_t lo = 0, hi = sizeof(services) / sizeof(*services);

	if (s.n == 0 || memchr(s.p, '\0', s.n))
		return false;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int c = service_compare(s, services[mid].name);

		if (c == 0) {
			*port = services[mid].port;
			return true;
		}
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}
