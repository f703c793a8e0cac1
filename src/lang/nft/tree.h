/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tree of an nft file: what it leaves behind once every command has been carried out.
 *
 * `add`, `create`, `insert`, `replace`, `delete`, `destroy`, `flush`, `rename`, blocks of a table written twice, `define` and
 * `include` are carried out by the parser, so nobody behind it has to: a file has tables; a table has chains, sets and maps,
 * and objects; a chain has its rules in the order in which packets meet them; a rule has statements.
 *
 *     table inet filter { chain in { type filter hook input priority 0; policy drop;
 *             ip saddr . tcp dport { 192.0.2.1 . 22, 192.0.2.0/24 . 80-90 } counter accept } }
 *     match NFT_EQ: left   CONCAT(SELECT ip saddr, SELECT tcp dport)
 *                   right  SETLIT { CONCAT(NUMBER 192.0.2.1, NUMBER 22), CONCAT(PREFIX 192.0.2.0/24, RANGE 80-90) }
 *     counter
 *     verdict accept
 *
 * Promises to those who read a tree that came without errors:
 *  - variables are replaced, names are numbers of the type that the other side of the comparison gives (services, protocols,
 *    ICMP types, marks, states ... as the kernel's numbers; flags are bits), each number fits its type;
 *  - sets and maps that are named are there, and their types fit what they are compared with;
 *  - chains that a verdict names are in the table; a base chain's priority is a number;
 *  - what nft would add by itself (`ip` of `ip saddr` in an inet chain is asked first) is NOT in the tree: selector rows say
 *    what each needs (nft_select.needs), and lower adds it.
 */
#ifndef WEIR_LANG_NFT_TREE_H
#define WEIR_LANG_NFT_TREE_H

#include "base/strmap.h"
#include "policy/policy.h"

enum nft_family { NFT_IP, NFT_IP6, NFT_INET, NFT_NETDEV, NFT_ARP, NFT_BRIDGE, NFT_FAMILY_COUNT };
const char *nft_family_name(enum nft_family f);

/* ---------- types and selectors ---------- */

/* type.def: X(ID, "ipv4_addr", bits, kind); kind: what values look like and whether flags, names or ranges are allowed */
enum nft_type {
	NFT_TYPE_NONE,
#define X(id, ...) NFT_TYPE_##id,
#include "lang/nft/type.def"
#undef X
	NFT_TYPE_COUNT
};
enum nft_type_kind { NFT_KIND_NUMBER, NFT_KIND_BITMASK, NFT_KIND_ADDR4, NFT_KIND_ADDR6, NFT_KIND_MAC, NFT_KIND_NAME, NFT_KIND_TIME,
		     NFT_KIND_BOOL, NFT_KIND_VERDICT };
struct nft_type_row {
	const char *name;
	uint16_t bits;
	enum nft_type_kind kind;
};
extern const struct nft_type_row nft_type_table[NFT_TYPE_COUNT];

/*
 * select.def: everything of a packet that an expression can name.
 * X(ID, "ip", "saddr", TYPE, source, base, at_bit, bits, needs, proto, kind)
 *   source  HEADER (bits of a header, base and at_bit say where), META, CT, FIB, RT, SOCKET, EXTHDR, TCPOPT, IPOPT ...
 *   needs   what must hold for it to be there: a network protocol (IP, IP6, ARP, VLAN, ETHER) or a transport protocol (TCP ...)
 *   kind    by source: an extension header's number and the like; select.def says it
 */
enum nft_select_id {
	NFT_SEL_NONE,
#define X(id, ...) NFT_SEL_##id,
#include "lang/nft/select.def"
#undef X
	NFT_SEL_COUNT
};
enum nft_source { NFT_HEADER, NFT_META, NFT_CT, NFT_FIB, NFT_RT, NFT_SOCKET, NFT_EXTHDR, NFT_TCPOPT, NFT_IPOPT,
		  NFT_CHUNK, NFT_OTHER };
enum nft_needs {
	NFT_NEEDS_NOTHING, NFT_NEEDS_ETHER, NFT_NEEDS_VLAN, NFT_NEEDS_ARP, NFT_NEEDS_IP, NFT_NEEDS_IP6,
	NFT_NEEDS_PROTO, /* transport: the row's proto number */
};
struct nft_select_row {
	const char *word, *name; /* "ip", "saddr"; name NULL: one word alone */
	enum nft_type type;
	enum nft_source source;
	enum payload_base base;
	uint16_t at_bit, bits;
	enum nft_needs needs;
	uint8_t proto, kind;
};
extern const struct nft_select_row nft_select_table[NFT_SEL_COUNT];

/* ---------- expressions ---------- */

enum nft_expr_kind {
	NFT_NUMBER,  /* lo == hi: a value of `type` */
	NFT_RANGE,   /* lo to hi, both inside */
	NFT_PREFIX,  /* lo to hi by plen; host bits, if written, are cleared (and linted) */
	NFT_TEXT,    /* text: an interface name and the like; is_prefix: it ended in '*' */
	NFT_SELECT,  /* sel; dir for ct original/reply; text for what stands behind it (fib flags, helper) */
	NFT_PAYLOAD, /* raw bits: payload */
	NFT_BINOP,   /* part[0] op part[1] */
	NFT_CONCAT,  /* part[0] . part[1] ... */
	NFT_LIST,    /* part[0] , part[1] ... : flags */
	NFT_SETREF,  /* set: @name */
	NFT_SETLIT,  /* lit: { ... }, a set or the body of a map */
	NFT_MAP,     /* part[0] map part[1], which is NFT_SETREF or NFT_SETLIT with data */
	NFT_ANY,     /* '*' as an element */
	NFT_VERDICT, /* verdict */
	NFT_NUMGEN,  /* gen: inc or random, modulus, offset */
	NFT_HASH,    /* jhash of part[0], or symhash (n_parts 0): gen.modulus, seed, offset */
	NFT_OBJREF,  /* text: the name of a counter, quota ... that a map's data names */
};
enum nft_binop { NFT_AND, NFT_OR, NFT_XOR, NFT_LSHIFT, NFT_RSHIFT };

struct nft_verdict {
	enum verdict verdict; /* NONE: continue. QUEUE: queue 0 */
	struct str chain;
	struct loc chain_at;
};

struct nft_set;
struct nft_expr {
	enum nft_expr_kind kind;
	enum nft_type type; /* of its value; of a concatenation's parts each has its own */
	struct loc at;
	u128 lo, hi;
	uint8_t plen;
	struct str text;
	bool is_prefix;
	bool is_negated_flag; /* in a LIST of bits: written with '!' */
	enum nft_select_id sel;
	uint8_t dir;	    /* NFT_SELECT of ct: 0 none, 1 original, 2 reply */
	struct { uint32_t flags, result; } fib; /* NFT_FIB_*; see below */
	struct payload_ref payload;
	enum nft_binop op;
	struct nft_expr **part;
	uint32_t n_parts;
	struct nft_set *set;	 /* SETREF */
	struct nft_set *lit;	 /* SETLIT: as a set without name */
	struct nft_verdict verdict;
	struct { bool is_random; uint32_t modulus, offset, seed; bool has_seed; } gen;
};
enum { NFT_FIB_SADDR = 1, NFT_FIB_DADDR = 2, NFT_FIB_MARK = 4, NFT_FIB_IIF = 8, NFT_FIB_OIF = 16 };
enum { NFT_FIB_RESULT_OIF, NFT_FIB_RESULT_OIFNAME, NFT_FIB_RESULT_TYPE };

/* ---------- sets, maps ---------- */

struct nft_stmt;
struct nft_elem {
	struct nft_expr *key; /* NUMBER, RANGE, PREFIX, TEXT, CONCAT of these, ANY, LIST of flags as one NUMBER */
	struct nft_expr *data; /* maps: NUMBER, RANGE, TEXT, CONCAT, VERDICT, OBJREF ...; else NULL */
	bool has_timeout, has_expires;
	uint64_t timeout_ms, expires_ms;
	struct str comment;
	struct nft_stmt **stmt; /* counter, limit, quota of the element */
	uint32_t n_stmts;
	struct loc at;
};

enum { NFT_SET_CONSTANT = 1, NFT_SET_INTERVAL = 2, NFT_SET_TIMEOUT = 4, NFT_SET_DYNAMIC = 8 };
struct nft_set {
	struct str name; /* empty: written in a rule */
	bool is_map, is_meter;
	bool is_filled; /* some rule adds elements or takes them out */
	VEC(enum nft_type) key;		  /* one, or those of a concatenation */
	VEC(const struct nft_expr *) key_typeof; /* typeof: the expressions as written; empty with `type` */
	VEC(enum nft_type) data;	  /* maps; VERDICT for verdict maps; several: a concatenation */
	enum nft_stmt_object { NFT_OBJ_NONE, NFT_OBJ_COUNTER, NFT_OBJ_QUOTA, NFT_OBJ_LIMIT, NFT_OBJ_CT_HELPER, NFT_OBJ_CT_TIMEOUT,
			       NFT_OBJ_CT_EXPECTATION, NFT_OBJ_SECMARK, NFT_OBJ_SYNPROXY, NFT_OBJ_COUNT } data_object; /* maps of objects */
	const struct nft_expr *data_typeof;
	uint32_t flags;	      /* NFT_SET_* */
	bool auto_merge, is_data_interval;
	bool has_timeout, has_gc, has_size;
	uint64_t timeout_ms, gc_ms, size;
	struct str policy;    /* "memory", "performance" or empty */
	struct str comment;
	struct nft_stmt **stmt; /* of every element: counter, limit ... */
	uint32_t n_stmts;
	VEC(struct nft_elem) elems;
	struct loc at;
	uint64_t handle;
};

/* ---------- statements ---------- */

enum nft_stmt_kind {
	NFT_STMT_MATCH,	  /* match */
	NFT_STMT_VERDICT, /* expr: VERDICT, or MAP whose data are verdicts (vmap) */
	NFT_STMT_COUNTER, /* counter; with name: a named one; name_map: `counter name ip saddr map {...}` */
	NFT_STMT_LIMIT, NFT_STMT_QUOTA, NFT_STMT_LAST, NFT_STMT_CT_COUNT, /* limit, quota, ct_count; named ones as counters */
	NFT_STMT_LOG, NFT_STMT_REJECT,
	NFT_STMT_MANGLE,  /* set: left (SELECT, PAYLOAD) set right */
	NFT_STMT_NAT,	  /* nat: snat, dnat, masquerade, redirect, tproxy */
	NFT_STMT_NOTRACK, NFT_STMT_DUP, NFT_STMT_FWD, NFT_STMT_QUEUE,
	NFT_STMT_SET,	  /* dynset: add, update, delete @set { key stmts : data }; meter */
	NFT_STMT_OBJECT,  /* object: ct helper set "x", ct timeout set, ct expectation set, meta secmark set, synproxy name */
	NFT_STMT_SYNPROXY, NFT_STMT_FLOW, /* flow add @ft: name */
	NFT_STMT_RESET,	  /* reset tcp option: expr */
	NFT_STMT_XT,	  /* `xt match "x"` as nft lists foreign rules: name; nobody knows what it does */
	NFT_STMT_COMMENT, /* none: the parser puts comments in nft_rule.comment */
};
/* ANY: no operator, and the type is flags: some of these bits are set. EQ: `==`, or none. */
enum nft_op { NFT_EQ, NFT_NE, NFT_LT, NFT_LE, NFT_GT, NFT_GE, NFT_ANY_BIT, NFT_NO_BIT /* `!` */ };
enum nft_reject { NFT_REJECT_DEFAULT, NFT_REJECT_TCP_RST, NFT_REJECT_ICMP, NFT_REJECT_ICMP6, NFT_REJECT_ICMPX };
enum nft_nat { NFT_SNAT, NFT_DNAT, NFT_MASQUERADE, NFT_REDIRECT, NFT_TPROXY };
enum { NFT_NAT_RANDOM = 1, NFT_NAT_FULLY_RANDOM = 2, NFT_NAT_PERSISTENT = 4, NFT_NAT_PREFIX = 8, NFT_NAT_INTERVAL = 16 };
enum nft_dynset_op { NFT_DYN_ADD, NFT_DYN_UPDATE, NFT_DYN_DELETE };

struct nft_stmt {
	enum nft_stmt_kind kind;
	struct loc at;
	struct str name;	  /* of a named object, flowtable, xt match */
	struct nft_expr *name_map; /* instead of name */
	union {
		struct { struct nft_expr *left, *right; enum nft_op op; bool op_written; } match;
		struct nft_expr *expr;
		struct { uint64_t packets, bytes; bool has_values; } counter;
		struct { uint64_t rate, unit_s, burst; bool by_bytes, over, has_burst; } limit; /* bytes: already multiplied out */
		struct { uint64_t bytes, used; bool over, has_used; } quota;
		struct { uint32_t count; bool over; } ct_count;
		struct { struct str prefix; bool has_level, has_group, has_snaplen, has_threshold; uint8_t level; uint16_t group;
			 uint32_t snaplen; uint16_t threshold; uint32_t flags; } log; /* flags: NF_LOG_* (uapi nf_log.h); level 8: audit */
		struct { enum nft_reject kind; uint8_t code; } reject;
		struct { struct nft_expr *left, *right; } set;
		struct { enum nft_nat kind; enum nft_family family; bool has_family, with_port; struct nft_expr *addr, *port; uint32_t flags; } nat; /* with_port: the map of addr has ports, too */
		struct { struct nft_expr *addr, *device; } fwd; /* dup, fwd: NULL what is not there */
		struct { struct nft_expr *num; bool bypass, fanout; } queue; /* num: NUMBER, RANGE, or an expression; NULL: 0 */
		struct { enum nft_dynset_op op; struct nft_set *set; struct nft_elem *elem; } dynset; /* key of SELECTs; elem->stmt */
		enum nft_stmt_object object;
		struct { uint16_t mss; uint8_t wscale; bool has_mss, has_wscale, timestamp, sack_perm; } synproxy;
	};
};

/* ---------- rules, chains, tables ---------- */

struct nft_rule {
	struct loc at; /* from its first statement to its last */
	struct nft_stmt **stmt;
	uint32_t n_stmts;
	struct str comment;
	uint64_t handle; /* 0: not written */
};

enum nft_chain_type { NFT_CHAIN_FILTER, NFT_CHAIN_NAT, NFT_CHAIN_ROUTE };
struct nft_chain {
	struct str name;
	struct loc at; /* the name where it is declared */
	bool is_base;
	enum nft_chain_type type;
	enum hook hook;
	int priority;
	struct str priority_text; /* "filter + 10" as written */
	bool policy_stated;
	enum verdict policy;
	VEC(struct str) devices;
	bool is_offload;
	struct str comment;
	uint64_t handle;
	VEC(struct nft_rule *) rules;
};

struct nft_object {
	enum nft_stmt_object kind;
	struct str name, comment;
	struct loc at;
	struct nft_stmt *stmt; /* counter, quota, limit, synproxy: its parameters; else NULL */
	struct str text;       /* the body of the others, canonical */
	uint64_t handle;
};

struct nft_flowtable {
	struct str name;
	struct loc at;
	bool has_hook;
	int priority;
	struct str priority_text;
	VEC(struct str) devices;
	bool is_offload, has_counter;
	uint64_t handle;
};

struct nft_table {
	enum nft_family family;
	struct str name, comment;
	struct loc at;
	bool is_dormant;
	uint64_t handle;
	VEC(struct nft_chain *) chains; /* in the order of their creation: of two base chains of a priority the later one runs first */
	VEC(struct nft_set *) sets;	/* named, maps too */
	VEC(struct nft_object *) objects;
	VEC(struct nft_flowtable *) flowtables;
	struct strmap chain_by_name, set_by_name, object_by_name[NFT_OBJ_COUNT]; /* the same */
};

struct nft_file {
	VEC(struct nft_table *) tables;
	bool lacks_rules; /* something could not be read; then there was an error */
	bool is_undone;	  /* a command that takes away could not be carried out: nobody knows what is left */
};

struct nft_table *nft_table_find(const struct nft_file *f, enum nft_family fam, struct str name); /* NULL */
struct nft_chain *nft_chain_find(const struct nft_table *t, struct str name);
struct nft_set *nft_set_find(const struct nft_table *t, struct str name);
struct nft_object *nft_object_find(const struct nft_table *t, enum nft_stmt_object kind, struct str name);


/*
 * parse.c: reads the whole text of a source and what it includes. Errors and warnings go to d. Never NULL. print.c: the file
 * as `nft list ruleset` would write it, except that lists keep the order and rules the form in which they were written; one rule
 * without its comment's place. With handles: `# handle 3` behind what has one. lower.c: adds it to rs.
 */
struct nft_file *nft_parse(struct arena *a, struct diags *d, uint32_t source);
struct str nft_print_file(struct arena *a, const struct nft_file *f, bool with_counts);
struct str nft_print_rule(struct arena *a, const struct nft_rule *r);
struct str nft_print_expr(struct arena *a, const struct nft_expr *e);
void nft_lower(struct ruleset *rs, struct diags *d, const struct nft_file *f);
/* merge.c: carries out auto-merge of the sets that have it. Before nft_lower() and the printer. */
void nft_merge(struct arena *a, const struct nft_file *f);
/* check.c: what nft and the kernel would refuse of a tree that could be read, and lints. Before nft_lower(). */
void nft_check(struct arena *a, struct diags *d, const struct nft_file *f);

#endif
