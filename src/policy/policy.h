/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The model: what a ruleset says, whatever language it was written in.
 *
 * A ruleset has chains and sets. A chain has rules; a base chain hangs at a hook with a priority and a policy. A
 * rule is steps in order: tests, effects, and at most one verdict, the last. A rule applies as far as its tests
 * pass, left to right: `-m limit -p tcp -j DROP` spends a token before it looks at the protocol.
 *
 *     -A INPUT -s 192.0.2.0/24 -p tcp --dport 22 -j DROP
 *     chain INPUT: [test ip.src in {192.0.2.0-192.0.2.255}] [test ip.proto in {6}] [test dport in {22}] [count] [drop]
 *
 * Every test carries what it answers when a field is absent (on_absent, the final answer): the languages differ,
 * so the front end writes it down in the open. Counting is implicit: a rule's counter adds one when all tests that
 * stand before its first effect or verdict passed (every test, in iptables).
 *
 * Nothing here reads or writes files, or knows a language. `text` of a rule is its canonical text in its own
 * language, made by the front end's printer; it serves identity, listing and printing.
 */
#ifndef WEIR_POLICY_POLICY_H
#define WEIR_POLICY_POLICY_H

#include "base/diag.h"
#include "base/strmap.h"
#include "policy/valset.h"

/*
 * A chain sees the packets of one family. FAMILY_FRAME, behind those of IP, is any other frame: ARP and the like, which only
 * chains at a device see. Rules of a language that are for several families (nft inet, netdev; tc) become a chain for each:
 * twins, which see to it that they are listed and counted as the one that was written (chain.root, rule.root).
 */
enum family { FAMILY_IP4, FAMILY_IP6, FAMILY_COUNT, FAMILY_FRAME = FAMILY_COUNT, FAMILY_ALL };
/* HOOK_IP_COUNT: those of IP packets. At a device frames are seen, before prerouting and behind postrouting. */
enum hook {
	HOOK_PREROUTING, HOOK_INPUT, HOOK_FORWARD, HOOK_OUTPUT, HOOK_POSTROUTING, HOOK_IP_COUNT,
	HOOK_INGRESS = HOOK_IP_COUNT, HOOK_EGRESS, HOOK_COUNT, HOOK_NONE = HOOK_COUNT
};

enum verdict {
	VERDICT_NONE,	/* go on with the next rule */
	VERDICT_ACCEPT, /* ends this base chain; later base chains at the hook still run */
	VERDICT_DROP,	/* ends the packet */
	VERDICT_REJECT, /* drop with an answer: rule's reject kind */
	VERDICT_JUMP,	/* to step.chain, coming back behind this rule */
	VERDICT_GOTO,	/* to step.chain, coming back to where the caller of this chain goes on */
	VERDICT_RETURN, /* back to the caller; in a base chain: its policy */
	VERDICT_QUEUE,	/* a user-space program decides: unknown to us */
	VERDICT_STOLEN, /* the packet goes another way (TPROXY): ends like accept */
};

/* ---------- tests ---------- */

enum test_kind {
	TEST_IN,      /* any of field[0..n_fields) has a value in `set` */
	TEST_MASK,    /* any of masks[]: (value of field[masks[i].of] & mask) == value */
	TEST_SET,     /* the packet's values, one for each direction of `set`, are in the named set */
	TEST_STATE,   /* limit, hashlimit, recent...: `state` */
	TEST_BYTES,   /* looks at packet bytes: u32, string, bpf, bits of a header: `bytes` */
	TEST_TUPLE,   /* the packet's values together are among the keys of `tuple`; which entry's does not matter */
	TEST_UNKNOWN, /* read and printed, but nobody here can decide it: `why` */
};

struct test_mask {
	u128 value, mask;
	uint8_t of; /* which of test.field[] it looks at: 0, unless the test has several fields */
};

enum { TEST_MAX_FIELDS = 6 };

struct test {
	enum test_kind kind;
	bool negated;	/* applied to the answer when all fields are present */
	/*
	 * The final answer when what the test looks at is absent (not negated again). A test on several fields (TEST_IN,
	 * TEST_MASK) is absent when all of them are; one that is absent alone just does not pass.
	 */
	bool on_absent;
	struct loc at;	/* the option that made it */
	enum field field[TEST_MAX_FIELDS];
	uint8_t n_fields;
	struct valset in;	 /* TEST_IN */
	struct test_mask *masks; /* TEST_MASK */
	uint32_t n_masks;
	struct set_use *set;	       /* TEST_SET */
	const struct state_spec *state; /* TEST_STATE */
	const struct bytes_spec *bytes; /* TEST_BYTES */
	const struct map_use *tuple;	/* TEST_TUPLE */
	const char *why;		/* TEST_UNKNOWN: "needs the routing table"; also names the match: */
	const char *what;		/* short name for people: "tcp dport", "limit", "u32" */
	struct str params;		/* what else was asked and is not looked into, as text: tells two such tests apart */
};

/*
 * How a rule uses a named set: one direction per dimension, and the match options. What a dimension takes from the packet:
 *   ADDR, NET  SRC or DST
 *   PORT       proto << 16 | SPORT or DPORT (TCP, UDP, UDP-Lite, SCTP), type << 8 | code (ICMP, ICMPv6, in any direction),
 *              0 (other protocols). Absent on later fragments, in IPv4 only of the protocols named. bitmap:port: TCP and
 *              UDP only, and the protocol is 0 in the set
 *   IFACE      IIF or OIF; of a physdev element PHYSIN or PHYSOUT
 *   MAC        MAC_SRC or MAC_DST
 *   MARK       MARK, in any direction
 *   VALUE      of the field that by_field names
 * With by_field no direction counts: dimension i takes key[i], whatever it is; the test is absent when one of them is.
 * A set never matches when the rule gives fewer directions than it has dimensions or its family is another; more are
 * ignored. An element's nomatch is an exception: the most specific element decides. A list:set asks its members in order.
 */
enum set_dir { SET_DIR_SRC, SET_DIR_DST };
struct set;
struct set_use {
	struct str name;
	struct loc at;
	const struct set *set; /* by policy_number(); NULL: nobody defined it */
	enum set_dir dir[TEST_MAX_FIELDS];
	uint8_t n_dirs;
	bool by_field;	       /* key[0..n_dims of the set) instead of dir */
	const struct map_key *key;
	bool return_nomatch;
	/* --packets-lt and the like need element counters: the evaluator says unknown when has_counters is set */
	bool has_counters;
	/* for SET add: */
	bool exist, has_timeout;
	uint32_t timeout_s;
};

/*
 * What a map or a tuple takes from the packet for one dimension: a field's value, or bits of a header, under a mask. `mask`
 * has all bits of the field when nothing was said. Absent when the field is, or when the packet has no such bits.
 */
struct payload_ref;
struct map_key {
	enum field field;
	u128 mask;
	const struct payload_ref *payload; /* if not NULL: instead of field; mask counts from its lowest bit */
};

enum state_kind {
	STATE_LIMIT, STATE_HASHLIMIT, STATE_RECENT, STATE_CONNLIMIT, STATE_NTH, STATE_RANDOM, STATE_QUOTA, STATE_TIME,
};
enum recent_op { RECENT_SET, RECENT_CHECK, RECENT_UPDATE, RECENT_REMOVE };
enum { HASHLIMIT_SRCIP = 1, HASHLIMIT_SRCPORT = 2, HASHLIMIT_DSTIP = 4, HASHLIMIT_DSTPORT = 8 };

/*
 * Parameters of a test that keeps state between packets. Tests with `shared_name` set share the state by that name
 * within a family; otherwise the state belongs to the rule; rules that point at the same state_spec (twins) share it, too. Semantics: iptables-extensions(8) and the kernel's xt_*.c.
 */
struct state_spec {
	enum state_kind kind;
	struct str shared_name;
	struct {			/* LIMIT, HASHLIMIT */
		uint64_t units;	   /* this many packets (or bytes) ... */
		uint64_t per_ms;   /* ... per this time */
		uint64_t burst;	   /* in packets; in bytes if by_bytes */
		bool by_bytes, above; /* above: true when over the rate (--hashlimit-above) */
		/*
		 * As nft counts: in nanoseconds, a packet costs per_ms / units; of bytes the bucket holds what comes in per_ms, and
		 * burst. Always so for LIMIT by_bytes and for HASHLIMIT with keys.
		 */
		bool in_ns;
		uint8_t mode;	   /* HASHLIMIT_* bits; 0: one bucket for all */
		uint8_t src_plen, dst_plen; /* --hashlimit-srcmask/-dstmask */
		uint32_t max_entries, expire_ms;
		const struct map_key *key; /* HASHLIMIT: a bucket for each value of these together, instead of mode; absent: */
		uint8_t n_keys;		   /* the test is */
	} rate;
	struct {
		enum recent_op op;
		bool by_dst, rttl, reap;
		u128 mask;
		uint32_t seconds, hitcount; /* 0: not asked */
	} recent;
	struct {
		uint32_t limit;
		uint8_t plen;
		bool by_dst, above; /* above: more than limit; else at most */
		bool of_rule;	    /* connections of this rule, whatever their addresses: plen, by_dst are nothing */
		const struct map_key *key; /* of each value of these together, instead of an address */
		uint8_t n_keys;
	} connlimit;
	struct { uint32_t every, packet; } nth;	   /* --every, --packet */
	struct { uint32_t threshold; } random;	   /* of 2^31, as the kernel compares */
	struct { uint64_t bytes, used; bool above; } quota; /* above: once it is spent; else until then. used: when loaded */
	struct {
		int64_t start_s, stop_s;   /* epoch seconds; INT64_MIN, INT64_MAX when not given */
		uint32_t day_start_s, day_stop_s;
		uint32_t monthdays; /* bit 1..31; 0 = all */
		uint8_t weekdays;   /* bit 1 Monday .. 7 Sunday; 0 = all */
		bool local_tz, contiguous;
	} time;
};

/* Tests on bytes of the packet, from the first byte of the IP header. */
enum bytes_kind { BYTES_U32, BYTES_STRING, BYTES_CBPF, BYTES_IP6_OPTS, BYTES_RT_ADDRS, BYTES_PAYLOAD, BYTES_TC_U32 };
/*
 * Bits of a packet, the first one highest: `at_bit` counts from where the base begins. LINK: the Ethernet header; NETWORK: the
 * IP header (of a frame without IP: what follows the Ethernet header and its tags); TRANSPORT: what follows the IP header and
 * its extension headers; INNER: what follows the header of TCP, UDP and so on. They are absent where the packet has no such
 * header, on later fragments for TRANSPORT and INNER, and where it ends before. Which protocol it is, tests in front must ask.
 */
enum payload_base { PAYLOAD_LINK, PAYLOAD_NETWORK, PAYLOAD_TRANSPORT, PAYLOAD_INNER };
enum { PAYLOAD_MAX_BITS = 128 };
struct payload_ref {
	enum payload_base base;
	uint32_t at_bit;
	uint8_t n_bits; /* 1 to PAYLOAD_MAX_BITS */
};
enum u32_op { U32_AND, U32_LEFT, U32_RIGHT, U32_AT };
struct u32_loc { struct { enum u32_op op; uint32_t number; } op[11]; uint8_t n_ops; uint32_t start; };
struct u32_test { struct u32_loc loc; struct { uint32_t lo, hi; } *value; uint8_t n_values; };
/*
 * The walk of tc's u32. It begins in bucket 0 of a table and asks filters in their order; one whose keys all hold and that
 * has a link goes on in the linked table, in the bucket that its hash chooses, and comes back when nothing there matches. A key
 * beyond the packet's end, and a ninth link, end the walk with nothing. Offsets count from the network header plus what links
 * have eaten; with is_next from there plus what the last link computed. Words, and masks of them: first byte highest.
 */
struct tcu32_key { uint32_t value, mask; int32_t off; bool is_next; };
struct tcu32_filter {
	struct tcu32_key *key;
	uint32_t n_keys;
	uint32_t mark, mark_mask;
	struct str indev;	/* empty: any */
	bool is_skipped;	/* skip_sw: the machine itself does not ask it */
	bool is_terminal;	/* it has an outcome: something follows from it */
	bool goes_on;		/* its outcome is to go on with the walk */
	struct tcu32_table *link; /* NULL: none */
	uint32_t hash_mask; int32_t hash_at;
	bool has_offset, has_offset_at, eats;
	uint32_t plus, offset_at, offset_mask, offset_shift;
};
enum { TCU32_MAX_DEPTH = 8 };
struct tcu32_bucket { VEC(struct tcu32_filter *) filters; };
struct tcu32_table { uint32_t id, n_buckets; struct tcu32_bucket *bucket; }; /* n_buckets: a power of 2, up to 256 */
struct bytes_insn { uint16_t code; uint8_t jt, jf; uint32_t k; };
struct bytes_spec {
	enum bytes_kind kind;
	struct u32_test *u32; /* BYTES_U32: all must hold */
	uint32_t n_u32;
	struct str pattern;   /* BYTES_STRING */
	bool icase;
	uint32_t from, to;    /* start and last offset of the search, from the IP header */
	struct bytes_insn *insn; /* BYTES_CBPF */
	uint32_t n_insn;
	uint8_t header;	      /* BYTES_IP6_OPTS: 0 hop-by-hop, 60 destination */
	bool not_strict;
	struct { uint8_t type; bool has_len; uint8_t len; } *opt;
	uint32_t n_opts;
	u128 *addr;	      /* BYTES_RT_ADDRS: rt type 0 addresses in order */
	uint32_t n_addrs;
	struct payload_ref payload; /* BYTES_PAYLOAD: (bits & payload_mask) is in payload_in */
	u128 payload_mask;
	struct valset payload_in;
	bool from_frame;      /* BYTES_CBPF: counts from the frame's first byte, as at a device */
	bool has_result;      /* BYTES_CBPF: a match is this result, instead of any but 0 */
	uint32_t result;
	const struct tcu32_table *walk; /* BYTES_TC_U32: the walk from here ... */
	const struct tcu32_filter *stop; /* ... comes to this filter, and it matches */
};

/* ---------- effects ---------- */

/*
 * EFFECT_COUNT: the rule's counter adds one here, instead of in front of its first effect. With `counter` that named counter
 * does, and the rule's own counts as ever.
 */
enum effect_kind {
	EFFECT_MARK,	 /* mark = (mark & ~mask) ^ value */
	EFFECT_CT_MARK,	 /* the same on the connection's mark */
	EFFECT_SAVE_MARK,    /* ct.mark = (ct.mark & ~ct_mask) ^ (mark & mask) */
	EFFECT_RESTORE_MARK, /* mark = (mark & ~mask) ^ (ct.mark & ct_mask) */
	EFFECT_LOG,	 /* text: the prefix. LOG: value is the level, mask flags. NFLOG: group, value bytes to copy, mask threshold */
	EFFECT_SET_ADD, EFFECT_SET_DEL, /* set */
	EFFECT_NOTRACK,	 /* ct.state becomes UNTRACKED */
	EFFECT_TOS,	 /* tos = (tos & ~mask) ^ value */
	EFFECT_TTL,	 /* op in mask: 0 set, 1 inc, 2 dec; by value */
	EFFECT_SNAT, EFFECT_DNAT, EFFECT_MASQUERADE, EFFECT_REDIRECT, EFFECT_NETMAP, EFFECT_TPROXY, /* nat */
	EFFECT_OTHER,	 /* changes the packet or tells somebody, never the verdict: name says which */
	EFFECT_COUNT,
	EFFECT_NONE,	 /* nothing: an entry of a map that lets the rule go on */
};

struct nat_spec {
	bool has_addr, has_port;
	u128 addr_lo, addr_hi;	/* NETMAP: network and mask */
	uint16_t port_lo, port_hi;
	bool has_base;		/* DNAT: port - port_base goes to port_lo ... */
	uint16_t port_base;
	uint32_t mark_value, mark_mask; /* TPROXY */
};

/* A counter with a name, which several rules may add to. */
struct counter {
	struct str name; /* with its table: "inet/filter/web" */
	uint64_t packets, bytes; /* as written */
	struct loc at;
	uint32_t id; /* index in ruleset.counters */
};

struct effect {
	enum effect_kind kind;
	uint32_t value, mask, ct_mask;
	/*
	 * CT_MARK, SAVE_MARK, RESTORE_MARK: bits to shift left, or right if below 0. CT_MARK: the result is shifted; the others:
	 * what is taken over, after its mask.
	 */
	int8_t shift;
	struct str text; /* LOG: the prefix; OTHER: its options as text */
	uint16_t group;
	/* OTHER: what value this field has afterwards nobody here knows (TCPMSS: tcp.mss) */
	bool has_clobbered;
	enum field clobbered;
	/* OTHER: bits of a header that are not known afterwards, and with them no field of its layer */
	const struct payload_ref *written;
	struct set_use *set;
	const struct nat_spec *nat;
	struct counter *counter;
	const char *name; /* the target as the user knows it: "TCPMSS" */
	struct loc at;
};

/* ---------- rules, chains, sets ---------- */

enum reject_kind {
	REJECT_NET_UNREACH, REJECT_HOST_UNREACH, REJECT_PROTO_UNREACH, REJECT_PORT_UNREACH, REJECT_NET_PROHIB,
	REJECT_HOST_PROHIB, REJECT_ADMIN_PROHIB, REJECT_TCP_RST, /* IPv4 and both */
	REJECT6_NO_ROUTE, REJECT6_ADMIN_PROHIB, REJECT6_ADDR_UNREACH, REJECT6_PORT_UNREACH, REJECT6_POLICY_FAIL, REJECT6_REJECT_ROUTE,
	REJECT_COUNT
};
const char *policy_reject_name(enum reject_kind k); /* "icmp-port-unreach", "tcp-rst" */

/*
 * MAP: the packet's values choose an entry of a map, and the entry's outcome, an effect or a verdict, is what happens. Absent
 * values, or no entry: the rule does not apply any further (and the next one is asked), as after a test that fails. An outcome
 * with VERDICT_NONE ends the rule, too.
 */
enum step_kind { STEP_TEST, STEP_EFFECT, STEP_VERDICT, STEP_MAP };
struct step {
	enum step_kind kind;
	union {
		struct test test;
		struct effect effect;
		const struct map_use *map;
		struct {
			enum verdict verdict;
			struct chain *chain; /* JUMP, GOTO */
			enum reject_kind reject;
			uint16_t queue;
			struct loc at;
		} v;
	};
};

/*
 * A map, or with n_outcomes 0 a plain collection of keys (TEST_TUPLE). Keys are intervals in each dimension, both ends
 * inside; no two entries' keys overlap, so their order says nothing.
 */
enum { MAP_MAX_DIMS = 8 };
struct map_span {
	u128 lo, hi;
};
struct map_entry {
	const struct map_span *key; /* n_dims */
	uint32_t outcome;	    /* index in outcome[] */
	struct loc at;
};
struct map {
	struct str name; /* with its table, "inet/filter/ports"; empty: written in the rule itself */
	uint8_t n_dims;
	VEC(struct map_entry) entries;
	bool has_other;	 /* keys that no entry has: outcome `other` (TEST_TUPLE: they are in it) */
	uint32_t other;
	struct step *outcome; /* effects and verdicts, each once; jumps and gotos go to chains of one family */
	uint32_t n_outcomes;
	struct loc at;
	uint32_t id; /* index in ruleset.maps */
};
struct map_use {
	const struct map *map;
	const struct map_key *key; /* map->n_dims */
	/*
	 * Not NULL: nobody here can tell the key ("numgen random"), so any entry's outcome may happen, or none; where every key
	 * that may come has an entry, has_other names one of their outcomes, and none cannot happen.
	 */
	const char *why;
	const char *what; /* short, for people: "ip daddr . tcp dport" */
	struct loc at;
};

struct rule {
	struct chain *chain;
	struct rule *root;  /* the twin that stands for all, itself or one of another chain; NULL: has no twins */
	uint32_t index;	    /* in its chain, from 0 */
	uint32_t expansion; /* 0, or 1.. when one line made several rules */
	uint32_t duplicate; /* n-th rule of this chain with this very text, from 0 */
	struct loc at;	    /* the whole rule */
	struct str text;    /* canonical, without "-A CHAIN" */
	struct str comment;
	struct step *step;
	uint32_t n_steps;
	uint64_t packets, bytes; /* as written in the file */
	bool has_counts;
	uint32_t id;	    /* index in ruleset.rules */
};

struct chain {
	struct str table, name;
	enum family family;
	enum hook hook;	  /* HOOK_NONE: not a base chain */
	int priority;
	bool is_nat;
	enum verdict policy; /* of a base chain: ACCEPT or DROP */
	bool policy_stated;
	struct loc at;
	uint64_t packets, bytes;
	bool has_counts;
	VEC(struct rule *) rules;
	struct chain *root; /* as rule.root */
	VEC(struct str) devices; /* INGRESS, EGRESS: names; one that ends in * is a prefix */
	uint32_t id; /* index in ruleset.chains */
};

enum set_dim { SET_DIM_ADDR, SET_DIM_NET, SET_DIM_PORT, SET_DIM_IFACE, SET_DIM_MAC, SET_DIM_MARK, SET_DIM_LIST, SET_DIM_VALUE };
enum { SET_MAX_DIMS = 3 };

/*
 * One element: a value and a prefix length (in bits of the field, from its top) for each dimension. VALUE has the bits of the
 * set's value_bits[]; intervals are several prefixes.
 */
struct set_elem {
	u128 v[SET_MAX_DIMS]; /* ADDR/NET: address; PORT: proto << 16 | port; IFACE: name; MAC; MARK */
	uint8_t plen[SET_MAX_DIMS]; /* ADDR/NET: 0..32 or 0..128; else full width */
	bool nomatch;
	bool wildcard; /* IFACE: a prefix of the name */
	bool physdev;  /* IFACE: the bridge port's name */
	bool mac_any;  /* bitmap:ip,mac without an address: any; the kernel then keeps the first one it sees */
	bool has_timeout;
	uint32_t timeout_s;
	struct str list; /* SET_DIM_LIST: name of the member set */
	struct str comment;
	struct loc at;
};

struct set {
	struct str name;
	struct str type; /* "hash:net,port" */
	enum family family; /* of its addresses */
	bool has_addrs;	    /* false: mac, port-only... any family may use it */
	enum set_dim dim[SET_MAX_DIMS];
	uint8_t n_dims;
	uint8_t value_bits[SET_MAX_DIMS]; /* VALUE: 1 to 128 */
	bool has_bitmask; /* the first address is compared under this mask, which is no prefix; elements are masked */
	u128 bitmask;
	uint32_t mark_mask; /* MARK is compared under this mask; elements are masked */
	uint8_t netmask;    /* ADDR is compared under this prefix length, 32 or 128 if nothing was said; elements are masked */
	bool has_range;	    /* bitmap: the first dimension is from range_lo to range_hi; what lies outside is never in it */
	u128 range_lo, range_hi;
	uint64_t max_elems; /* a rule cannot add more, unless forceadd */
	bool has_default_timeout, has_counters, has_comments, has_skbinfo, forceadd;
	uint32_t default_timeout_s;
	struct str options; /* the rest of its create line as far as it matters, canonical */
	bool is_doubtful;   /* what was said about it has an error: it may not be what it looks like */
	VEC(struct set_elem) elems;
	struct loc at;
	uint32_t id;
};

/* Something that was said beside rules and that no program here can do: load refuses it by name, the rest ignores it. */
struct beyond {
	struct loc at;
	struct str what, why; /* "flowtable ft", "packets that a flowtable forwards pass by every rule" */
};

struct ruleset {
	struct arena *a;
	VEC(struct chain *) chains;
	VEC(struct rule *) rules;
	VEC(struct set *) sets;
	VEC(struct map *) maps; /* also those written in a rule */
	VEC(struct counter *) counters;
	VEC(struct beyond) beyond;
	bool has_all_families; /* its language's files speak of all: where one has no chain, nothing is filtered */
	bool lacks_rules, lacks_sets; /* some could not be read; then there was an error, and this is for policy_check() only */
	struct strmap chain_by_name, set_by_name; /* for the functions below */
};

struct ruleset *policy_create(struct arena *a);
struct chain *policy_chain_add(struct ruleset *rs, enum family fam, struct str table, struct str name, struct loc at);
struct chain *policy_chain_find(const struct ruleset *rs, enum family fam, struct str table, struct str name); /* NULL */
/* pos: index to insert at, or UINT32_MAX to append. Renumbers and sets rule.id. Duplicates by policy_number(). */
struct rule *policy_rule_add(struct ruleset *rs, struct chain *c, uint32_t pos);
struct set *policy_set_add(struct ruleset *rs, struct str name, struct loc at);
struct set *policy_set_find(const struct ruleset *rs, struct str name);
struct map *policy_map_add(struct ruleset *rs, struct str name, struct loc at);
struct counter *policy_counter_add(struct ruleset *rs, struct str name, struct loc at);
/* The one that stands for a rule or chain and its twins; itself when it has none. */
const struct rule *policy_rule_root(const struct rule *r);
const struct chain *policy_chain_root(const struct chain *c);
/*
 * The rules of a root as they were written: its own, and those of its twins that are for one family alone, each once, in the
 * order of their places. Result: *n of them, in a; of a chain without twins: its own array.
 */
const struct rule *const *policy_written_rules(struct arena *a, const struct ruleset *rs, const struct chain *root, size_t *n);
/* After all rules are in: index, id (chain by chain), duplicate of every rule; ids of chains and sets. */
void policy_number(struct ruleset *rs);
/*
 * Whoever walks along many rules waits for memory more than anything else: this, called at rule i, asks for what the next
 * ones consist of, their tests' values too.
 */
void policy_ahead(const struct chain *c, size_t i);
/* Where a base chain really stands: those that translate hang where the kernel does so, whatever priority they name. */
int policy_priority(const struct chain *c);
/*
 * Base chains of a family at a hook in the order in which packets meet them (policy_priority(); chains that translate by
 * the priority they name; equal ones: the later registered first). Result: array of pointers in a, *n of them.
 */
struct chain **policy_base_chains(struct arena *a, const struct ruleset *rs, enum family fam, enum hook hook, size_t *n);
/*
 * Checks the whole: jump loops reachable from a base chain are errors with the cycle written out. Loops that
 * nobody reaches are warnings. Sets that are used and not defined are warnings (id "unknown-set"). What base chains do to
 * each other, too (hooks.c). Of twins it speaks once.
 */
void policy_check(const struct ruleset *rs, struct diags *d);
const char *policy_hook_name(enum hook h);	   /* "prerouting" */
const char *policy_hook_chain(enum hook h);	   /* "PREROUTING" */
const char *policy_family_name(enum family f);	   /* "ip", "ip6" */
const char *policy_verdict_name(enum verdict v);   /* "accept" */
/* The model as text, one line a rule; equal models give equal texts. Neither places nor comments nor counts are in it. */
struct str policy_dump(struct arena *a, const struct ruleset *rs);
struct str policy_dump_rule(struct arena *a, const struct rule *r); /* the same of one rule: "[iif in {...}] [drop]" */

#endif
