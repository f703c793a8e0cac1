/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree of an iptables-save or ip6tables-save file: what it leaves behind once every line has been carried out.
 *
 * A file has tables, a table has chains, a chain has its rules in their final order: -A, -I, -N, -P, -F, -X, -Z and a
 * table named twice are already carried out, so nobody behind the parser has to. A rule has core options, matches in
 * the order written, and a target. Matches and targets are uses of extensions, the rows of ext.def; their options are
 * rows of it too.
 *
 *     -A INPUT -s 192.0.2.0/24 -p tcp --syn ! --dport ssh -j REJECT
 *     src {192.0.2.0/24}  proto 6
 *     match M_TCP:     M_TCP_DPORT !range 22-22, M_TCP_FLAGS mask value=SYN mask=FIN|SYN|RST|ACK
 *     target T_REJECT: T_REJECT_WITH number=(icmp-port-unreachable)
 *
 * Three promises to those who read a tree that came without errors:
 *  - options are folded: one id per meaning. --syn is M_TCP_FLAGS, --set-mark, --or-mark and the like are
 *    T_MARK_SET_XMARK, --dscp-class is M_DSCP_DSCP, --hashlimit is M_HASHLIMIT_UPTO. ext.def marks the folded ids
 *    with F_FOLDED: they never appear in a tree.
 *  - a default that changes what a rule does is there, with `implied` set (limit burst 5, LOG level 4, REJECT's type,
 *    recent's name, side and mask, connlimit's mask and side, NFQUEUE 0 ...). Options appear in the order of ext.def,
 *    except in `policy`, where they are in elements (order as written, M_POLICY_NEXT between).
 *  - names are numbers: protocols, ports, ICMP types (type << 8 | code, as a range), states as CT_* bits.
 */
#ifndef WEIR_LANG_IPTABLES_TREE_H
#define WEIR_LANG_IPTABLES_TREE_H

#include "base/strmap.h"
#include "policy/policy.h"

enum { IPT_CTSTATE_SNAT = 1 << 6, IPT_CTSTATE_DNAT = 1 << 7 }; /* beside 1 << CT_* in --ctstate */

enum ipt_ext_id {
	IPT_NONE,
#define EXT(id, ...) IPT_##id,
#define OPT(...)
#include "lang/iptables/ext.def"
	IPT_EXT_COUNT
};

/* IPT_M_TCP_SPORT, IPT_T_LOG_PREFIX ... */
enum ipt_opt_id {
	IPT_OPT_NONE,
#define EXT(...)
#define OPT(ext, id, ...) IPT_##ext##_##id,
#include "lang/iptables/ext.def"
	IPT_OPT_COUNT
};

struct ipt_range {
	uint64_t lo, hi; /* both ends inside */
};

struct ipt_addr {
	u128 addr, mask; /* IPv4 in the low 32 bits; addr is masked already; a mask need not be a prefix */
	struct loc at;
};

/* Which member of struct ipt_value is meant. */
enum ipt_value_kind {
	IPT_VALUE_NONE,	  /* the option stands alone */
	IPT_VALUE_RANGE,  /* range: numbers, ports, names that are numbers (lo == hi) */
	IPT_VALUE_LIST,	  /* list, n: multiport's ports, days of the month ... */
	IPT_VALUE_MASKED, /* masked: marks, tos, tcp flags, realm, group: (x & mask) == value; targets: (x & ~mask) ^ value */
	IPT_VALUE_BITS,	  /* bits: states, address types, week days: a set of flags */
	IPT_VALUE_TEXT,	  /* text: names, prefixes, comments, patterns (bytes, may hold NUL) */
	IPT_VALUE_ADDR,	  /* addr: address and mask */
	IPT_VALUE_ADDR_RANGE, /* addrs: first and last address */
	IPT_VALUE_MAC,	  /* range.lo: 48 bits */
	IPT_VALUE_SET,	  /* set: name and directions (policy.h), without the options that stand beside */
	IPT_VALUE_RATE,	  /* rate */
	IPT_VALUE_NAT,	  /* nat: address and port range (policy.h) */
	IPT_VALUE_BYTES,  /* bytes: u32, bpf, hop-by-hop and destination options, rt addresses (policy.h) */
	IPT_VALUE_CHUNKS, /* chunks: sctp */
};

struct ipt_rate {
	uint64_t units;	 /* packets, or bytes if by_bytes: what the ticks amount to, ... */
	uint64_t per_s;	 /* ... in this many seconds */
	uint64_t ticks;	 /* what the kernel is given: 1/10000 s per packet (limit), 1/10000 or 1e-6 s (hashlimit) */
	bool by_bytes;
	uint64_t written; /* the number as written, ... */
	uint32_t written_s; /* ... and the seconds of its unit: the kernel forgets unused entries after that time */
};

enum ipt_chunk_mode { IPT_CHUNK_ALL, IPT_CHUNK_ANY, IPT_CHUNK_ONLY };
struct ipt_chunks {
	enum ipt_chunk_mode mode;
	uint64_t types[4]; /* bit t of types[t / 64] */
	struct { uint8_t type, mask, value; } *flag; /* tests on chunk flags */
	uint32_t n_flags;
};

struct ipt_value {
	enum ipt_value_kind kind;
	union {
		struct ipt_range range;
		struct { struct ipt_range *v; uint32_t n; } list;
		struct { uint32_t value, mask; } masked;
		uint64_t bits;
		struct str text;
		struct ipt_addr addr;
		struct { u128 lo, hi; } addrs;
		const struct set_use *set;
		struct ipt_rate rate;
		const struct nat_spec *nat;
		const struct bytes_spec *bytes;
		const struct ipt_chunks *chunks;
	};
};

/* One option of a match or target, as used. */
struct ipt_opt {
	enum ipt_opt_id id;
	bool negated;
	bool implied;	 /* not written: the default */
	struct loc at;	 /* the option's word; the match's name if implied */
	struct loc value_at; /* its value; the option's word if there is none */
	struct ipt_value v;
};

/* A match or target, as used. */
struct ipt_use {
	enum ipt_ext_id ext; /* IPT_NONE: no target, or a chain */
	bool is_implicit;    /* `-p tcp --dport 22` without -m tcp */
	struct loc at;	     /* its name; the option that called it up if implicit */
	VEC(struct ipt_opt) opts;
};
/* The first option with this id, or NULL. */
const struct ipt_opt *ipt_opt_find(const struct ipt_use *u, enum ipt_opt_id id);
const char *ipt_ext_name(enum ipt_ext_id id); /* "tcp", "REJECT"; icmp6 for -m icmp6, -m ipv6-icmp and the like */
const char *ipt_opt_name(enum ipt_opt_id id); /* "dport", without dashes, as iptables-save prints it */

/* -i, -o */
struct ipt_iface {
	struct str name; /* without the '+'; empty: the option is not there (or was '+' alone, not negated) */
	bool is_prefix;	 /* it ended in '+'; with an empty name: every interface */
	bool negated;
	struct loc at;	 /* the name */
};

struct ipt_addrs {
	VEC(struct ipt_addr) list; /* empty: any address. More than one: the line makes one rule for each */
	bool negated;
};

enum ipt_jump { IPT_JUMP_NONE, IPT_JUMP_TARGET, IPT_JUMP_CHAIN, IPT_GOTO_CHAIN };

struct ipt_rule {
	struct loc at;	   /* the line from -A to its end, without counters in front */
	struct ipt_addrs src, dst;
	struct ipt_iface in, out;
	uint8_t proto;	   /* 0: any, even if written (`-p all`) */
	bool proto_negated;
	struct loc proto_at; /* source 0 if there is no -p */
	bool frag, frag_negated; /* -f */
	struct loc frag_at;
	VEC(struct ipt_use) matches;
	enum ipt_jump jump;
	struct ipt_use target; /* JUMP_TARGET */
	struct str chain_name; /* JUMP_CHAIN, GOTO_CHAIN: a user chain of this table */
	/*
	 * The chain is not in this file, and the table has no built-in chain either: a piece of a larger ruleset (ufw keeps
	 * its rules in several files). Warned of; nobody knows what the chain does.
	 */
	bool chain_is_missing;
	struct loc target_at;  /* the name behind -j or -g */
	bool inserted;	   /* by -I: several addresses come in reverse order */
	bool has_counts;
	uint64_t packets, bytes;
};

struct ipt_chain {
	struct str name;
	enum hook hook;	  /* HOOK_NONE: a user chain */
	bool declared;	  /* a ":NAME" line, -N or -P; base chains only: else it is there because a rule names it */
	bool policy_stated; /* ACCEPT or DROP was written (not '-') */
	enum verdict policy; /* base chains: VERDICT_ACCEPT or VERDICT_DROP */
	struct loc at;	  /* the name where it is declared, else in the first rule */
	bool has_counts;
	uint64_t packets, bytes;
	VEC(struct ipt_rule *) rules; /* in the order in which packets meet them */
};

struct ipt_table {
	struct str name;
	struct loc at;	      /* the name behind '*' */
	struct loc commit_at; /* COMMIT */
	VEC(struct ipt_chain *) chains; /* base chains that the file names, and user chains, in file order */
	struct strmap by_name;	      /* struct ipt_chain of each */
	bool lacks_rules;	      /* some lines could not be read */
};

struct ipt_file {
	enum family family;
	VEC(struct ipt_table *) tables; /* in file order, each name once */
	bool is_undone; /* a line with an error would have taken rules away: nobody knows what is left */
};

struct ipt_chain *ipt_chain_find(const struct ipt_table *t, struct str name); /* NULL */

/*
 * A line with address lists makes n rules: -s a,b -d c,d makes a-c, a-d, b-c, b-d (in reverse after -I). *src and *dst
 * are the addresses of the k-th in packet order, NULL for any.
 */
uint32_t ipt_rule_expansions(const struct ipt_rule *r); /* at least 1 */
void ipt_rule_expansion(const struct ipt_rule *r, uint32_t k, const struct ipt_addr **src, const struct ipt_addr **dst);

/* Reads the whole text of a source. Errors and warnings go to d. Never NULL. family tells -save from ip6 -save. */
struct ipt_file *iptables_parse(struct arena *a, struct diags *d, const struct sources *s, uint32_t source, enum family family);
/* Canonical text of the k-th rule without "-A CHAIN": "-s 192.0.2.0/24 -p tcp -m tcp --dport 22 -j DROP". */
struct str iptables_print_rule(struct arena *a, enum family family, const struct ipt_rule *r, uint32_t k);
struct str iptables_print_file(struct arena *a, const struct ipt_file *f, bool with_counts);

#endif
