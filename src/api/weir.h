/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * weir.h - firewall rules as a library: compile rules once, classify packets in batches.
 *
 *     struct weir_source src = { .name = "rules.v4" };           a file; or .text and .text_len: a text in memory
 *     struct weir_rules *rules;
 *     struct weir_report *report;
 *
 *     if (weir_compile(&src, 1, NULL, &rules, &report))
 *             fputs(weir_report_text(report), stderr);
 *     struct weir_context *ctx = weir_context_create(rules, NULL);       one for each thread
 *     weir_classify(ctx, WEIR_HOOK_INPUT, packets, 32, results);
 *     ... results[i].verdict, weir_rules_get(rules, results[i].rule)->line ...
 *
 * Threads: struct weir_rules never changes once it is made; any number of threads may use one. A struct weir_context holds
 * counters and the memory of limits and belongs to one thread at a time. Everything else is a value. The library has no
 * state of its own, prints nothing, ends nothing, starts no thread and catches no signal.
 *
 * Memory: what a function returns lives as long as the object that it was asked of. Contexts keep their rules alive, so
 * rules may be freed while contexts still use them. weir_classify() takes no memory.
 *
 * ABI: objects are opaque. Structs that callers fill begin with their size or are described to weir_context_create(), so
 * later versions can add members at the end; zero always means what it means today. Structs that the library returns by
 * pointer may grow at their end.
 */
#ifndef WEIR_H
#define WEIR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_API_VERSION 1
#if defined(__GNUC__)
#define WEIR_PUBLIC __attribute__((visibility("default")))
#else
#define WEIR_PUBLIC
#endif

/* What functions return: 0, or one of these. */
enum weir_error {
	WEIR_OK,
	WEIR_ERROR_RULES,  /* the rules have errors: the report tells */
	WEIR_ERROR_FILE,   /* a file cannot be read: the report tells */
	WEIR_ERROR_MEMORY, /* memory ran out, or the limit of the options was met */
	WEIR_ERROR_USE,	   /* the call itself is wrong: a NULL, a size or a value that cannot be */
};
WEIR_PUBLIC const char *weir_error_text(enum weir_error e);
WEIR_PUBLIC const char *weir_version(void);   /* of the library, for people */
WEIR_PUBLIC unsigned weir_api_version(void);  /* WEIR_API_VERSION of the library */

/* ---------- compiling ---------- */

/* One text of rules, of a set dump, ...; all of a call make one ruleset, as with `weir check A B C`. */
struct weir_source {
	const char *name;     /* the file to read; with text, what reports call it */
	const char *text;     /* NULL: the file is read */
	size_t text_len;
	const char *language; /* "iptables", "ip6tables", "ipset", ...; NULL: the text itself tells */
};

enum weir_compile_flag {
	WEIR_MALFORMED_ACCEPT = 1, /* packets that are cut short or contradict themselves are not dropped */
};
struct weir_options {
	size_t size;	    /* sizeof(struct weir_options) */
	unsigned flags;	    /* enum weir_compile_flag */
	const char *tables; /* "filter,raw": base chains of other tables are left out; NULL: all */
	size_t most_memory; /* bytes that compiling may hold at a time; 0: no limit. For rules of strangers */
};

struct weir_rules;
struct weir_report;

/*
 * Compiles. options may be NULL. *rules is NULL unless WEIR_OK is returned. report may be NULL; else *report is NULL only
 * where there was no memory for it, or nothing to report; it is made of errors and warnings, whatever is returned.
 *
 * REJECT is a verdict of its own here, MARK gives a mark, LOG only counts. What a library cannot do (NAT, groups of
 * interfaces, routes) is an error at its rule.
 */
WEIR_PUBLIC enum weir_error weir_compile(const struct weir_source *source, size_t n, const struct weir_options *options,
					 struct weir_rules **rules, struct weir_report **report);
WEIR_PUBLIC void weir_rules_free(struct weir_rules *rules); /* NULL is allowed */

/* ---------- reports ---------- */

enum weir_severity { WEIR_SEVERITY_ERROR, WEIR_SEVERITY_WARNING, WEIR_SEVERITY_NOTE };
struct weir_diagnostic {
	enum weir_severity severity;
	const char *file;      /* NULL: no place; then line, column, length are 0 */
	uint32_t line, column; /* from 1; columns in bytes */
	uint32_t length;       /* bytes */
	const char *id;	       /* stable short name of a warning, or NULL */
	const char *text;      /* what was found and what was expected */
	const char *help;      /* what to write instead, or NULL */
	const char *rendered;  /* all of it with the line and a caret, as `weir check` prints it */
};
/* By place; notes stand behind what they explain. All of these allow NULL: an empty report. */
WEIR_PUBLIC size_t weir_report_count(const struct weir_report *report);
WEIR_PUBLIC const struct weir_diagnostic *weir_report_get(const struct weir_report *report, size_t i); /* NULL beyond the end */
WEIR_PUBLIC const char *weir_report_text(const struct weir_report *report); /* all that is rendered, one after the other */
WEIR_PUBLIC void weir_report_free(struct weir_report *report);

/* ---------- rules ---------- */

/* A rule, or the policy of a base chain. */
struct weir_rule {
	const char *file; /* NULL: nobody wrote it (a policy that no file states) */
	uint32_t line;
	uint32_t expansion; /* 1..: this line made several rules; else 0 */
	const char *family; /* "ip", "ip6" */
	const char *table, *chain;
	const char *text;   /* "-p tcp -m tcp --dport 22 -j DROP", one spelling whatever the file's; of a policy "policy drop" */
	int is_policy;
};
enum { WEIR_NO_RULE = 0xffffffff };
WEIR_PUBLIC uint32_t weir_rules_count(const struct weir_rules *rules); /* policies too */
WEIR_PUBLIC const struct weir_rule *weir_rules_get(const struct weir_rules *rules, uint32_t rule); /* NULL: there is none */
WEIR_PUBLIC size_t weir_rules_bytes(const struct weir_rules *rules); /* of the tables that packets are judged by */

/* The hooks of a packet's way. A packet that a router forwards passes PREROUTING, FORWARD and POSTROUTING, in this order. */
enum weir_hook {
	WEIR_HOOK_PREROUTING = 1,
	WEIR_HOOK_INPUT = 2,
	WEIR_HOOK_FORWARD = 4,
	WEIR_HOOK_OUTPUT = 8,
	WEIR_HOOK_POSTROUTING = 16,
};

/* What is not in a packet's bytes. */
enum weir_fact {
	WEIR_FACT_IN = 1,	 /* input interface */
	WEIR_FACT_OUT = 2,	 /* output interface */
	WEIR_FACT_CT = 4,	 /* state of the connection */
	WEIR_FACT_CT_MARK = 8,
	WEIR_FACT_CT_MORE = 16,	 /* more about a connection (DNAT, direction ...): nobody can say it here */
	WEIR_FACT_SOCKET = 32,	 /* owner of the socket */
	WEIR_FACT_PKTTYPE = 64,
	WEIR_FACT_CPU = 128,
	WEIR_FACT_REALM = 256,
	WEIR_FACT_ETHERNET = 512, /* Ethernet addresses and VLAN tags: said by bytes that begin with that header */
	WEIR_FACT_EXTENSIONS = 1024, /* insides of extension headers: said by bytes, never by a struct weir_key */
	WEIR_FACT_HEADER = 4096,     /* TTL, TOS, length of the IP header: said by bytes, and by a key with WEIR_KEY_HEADER */
	WEIR_FACT_BYTES = 8192,	     /* anything else in the bytes: options of TCP, u32, strings */
};
/* Facts that rules at these hooks may ask. A packet that does not say one of them is WEIR_UNKNOWN there. */
WEIR_PUBLIC uint32_t weir_rules_asks(const struct weir_rules *rules, unsigned hooks);

/* ---------- packets ---------- */

/* What the machine knows, for all packets of which it is the same. Filled by weir_facts_set(). */
struct weir_facts {
	uint64_t opaque[16];
};
struct weir_said {
	size_t size;		 /* sizeof(struct weir_said) */
	const char *in, *out;	 /* interface names, 1 to 15 bytes; "": there is none; NULL: not said */
	uint32_t facts;		 /* which of the following are said: WEIR_FACT_SOCKET, PKTTYPE, CPU, REALM */
	int64_t uid, gid;	 /* owner; -2: there is no socket */
	uint32_t pkttype;	 /* PACKET_HOST 0, BROADCAST 1, MULTICAST 2, OTHERHOST 3 */
	uint32_t cpu, realm;
	int32_t vlan;		 /* 0x10000 + tag control word of a VLAN tag that is not in the bytes; 0: none */
};
WEIR_PUBLIC enum weir_error weir_facts_set(struct weir_facts *facts, const struct weir_said *said);

enum weir_ct {
	WEIR_CT_NOT_SAID,
	WEIR_CT_NEW,
	WEIR_CT_ESTABLISHED,
	WEIR_CT_RELATED,
	WEIR_CT_INVALID, /* also where nothing tracks connections */
	WEIR_CT_UNTRACKED,
};
enum weir_link { WEIR_LINK_ETHERNET, WEIR_LINK_IP };
enum weir_packet_flag { WEIR_PACKET_CT_MARK = 1 /* ct_mark is said */ };

struct weir_packet {
	const void *data;	      /* first byte of the Ethernet or IP header */
	uint32_t len;		      /* bytes there */
	uint32_t wire_len;	      /* bytes that the packet had; 0, or below len: len */
	const struct weir_facts *facts; /* NULL: nothing is said */
	uint32_t mark, ct_mark;
	uint8_t link;		      /* enum weir_link */
	uint8_t ct;		      /* enum weir_ct */
	uint16_t flags;		      /* enum weir_packet_flag */
	uint32_t reserved;	      /* 0 */
};

/* A packet that somebody has parsed. Rules that ask for more than this make it WEIR_UNKNOWN. */
enum weir_key_flag {
	WEIR_KEY_IP6 = 1,
	WEIR_KEY_LATER = 2,  /* a fragment that is not the first: no ports, no flags, no ICMP type */
	WEIR_KEY_HEADER = 4, /* ttl, tos, length are said */
	WEIR_KEY_CT_MARK = 8,
};
struct weir_key {
	uint8_t src[16], dst[16]; /* network order; IPv4 in the first four bytes */
	uint16_t sport, dport;	  /* host order; of TCP, UDP, UDP-Lite, SCTP, DCCP */
	uint8_t proto;		  /* the transport protocol, behind extension headers */
	uint8_t tcp_flags;	  /* the header's byte 13; of DCCP its type */
	uint8_t icmp_type, icmp_code; /* of ICMP, ICMPv6 */
	uint8_t ttl, tos;
	uint8_t ct;		  /* enum weir_ct */
	uint8_t flags;		  /* enum weir_key_flag */
	uint32_t length;	  /* of the IP packet; what counters add */
	uint32_t mark, ct_mark;
	const struct weir_facts *facts;
	uint32_t spi;		  /* of ESP */
	uint32_t reserved;	  /* 0 */
};

enum weir_verdict {
	WEIR_ACCEPT,
	WEIR_DROP,
	WEIR_REJECT, /* drop, and tell the sender */
	WEIR_NOT_IP, /* no IPv4 or IPv6 packet: no chain judges it */
	WEIR_UNKNOWN, /* `lacks` says what was not said; 0: bytes that were not there */
};
struct weir_result {
	uint8_t verdict;    /* enum weir_verdict */
	uint8_t malformed;  /* the verdict comes from that: headers cut short or contradictory */
	uint16_t reserved;
	uint32_t rule;	    /* that decided, for weir_rules_get(); or WEIR_NO_RULE: no chain there, malformed, unknown */
	uint32_t mark;	    /* after the rules */
	uint32_t lacks;	    /* enum weir_fact, of WEIR_UNKNOWN */
};

/* ---------- classifying ---------- */

struct weir_context;
struct weir_context_options {
	size_t size;			       /* sizeof(struct weir_context_options) */
	size_t packet_size, key_size, result_size; /* of those structs, as the caller knows them */
};
#define WEIR_CONTEXT_OPTIONS \
	{ sizeof(struct weir_context_options), sizeof(struct weir_packet), sizeof(struct weir_key), sizeof(struct weir_result) }

/* options NULL: the sizes of WEIR_API_VERSION 1. Returns NULL: no memory, or sizes below those. */
WEIR_PUBLIC struct weir_context *weir_context_create(struct weir_rules *rules, const struct weir_context_options *options);
WEIR_PUBLIC void weir_context_free(struct weir_context *ctx);

/*
 * Judges n packets, in order, each at all these hooks (a sum of enum weir_hook) until it is dropped. Best are 32 or 64 at a
 * time, or more. Returns WEIR_OK, or WEIR_ERROR_USE: nothing was judged because of an argument; or values in some packets cannot be,
 * and these are WEIR_UNKNOWN, the others judged.
 */
WEIR_PUBLIC enum weir_error weir_classify(struct weir_context *ctx, unsigned hooks, const struct weir_packet *packet, size_t n,
					  struct weir_result *result);
WEIR_PUBLIC enum weir_error weir_classify_keys(struct weir_context *ctx, unsigned hooks, const struct weir_key *key, size_t n,
					       struct weir_result *result);
/* The time of what follows, for limits: nanoseconds of a clock that never goes back. Never called: CLOCK_MONOTONIC. */
WEIR_PUBLIC void weir_context_clock(struct weir_context *ctx, uint64_t now_ns);
/* What a rule or policy has counted in this context; both 0 for a rule that is not there. Any of the two may be NULL. */
WEIR_PUBLIC void weir_context_count(const struct weir_context *ctx, uint32_t rule, uint64_t *packets, uint64_t *bytes);

#ifdef __cplusplus
}
#endif
#endif
