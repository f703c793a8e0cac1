/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What rules do, as text: matches, verdicts, counters, limits, logs, translations, and the rest of nft's statements. */
#include <linux/netfilter/nf_log.h>

#include "lang/nft/print.h"

/* ---------- matches ---------- */

static void print_match(struct nft_print *p, const struct nft_stmt *s)
{
	static const char *const ops[] = {
		[NFT_EQ] = "== ", [NFT_NE] = "!= ", [NFT_LT] = "< ",	  [NFT_LE] = "<= ",
		[NFT_GT] = "> ",  [NFT_GE] = ">= ", [NFT_ANY_BIT] = "", [NFT_NO_BIT] = "! ",
	};
	const struct nft_expr *l = s->match.left, *r = s->match.right;
	bool is_flags = nft_type_table[l->type].kind == NFT_KIND_BITMASK && (r->kind == NFT_NUMBER || r->kind == NFT_LIST);
	bool is_silent = s->match.op == NFT_EQ && !s->match.op_written && l->kind != NFT_BINOP && !is_flags;

	nft_print_expr_to(p, l);
	buf_printf(&p->b, " %s", is_silent ? "" : ops[s->match.op]);
	if (l->kind == NFT_BINOP && is_flags)
		nft_print_expr_joined(p, r);
	else
		nft_print_expr_to(p, r);
}

/* ---------- what counts ---------- */

static void print_name(struct nft_print *p, const char *word, const struct nft_stmt *s)
{
	buf_printf(&p->b, "%s ", word);
	if (s->name_map)
		nft_print_expr_to(p, s->name_map);
	else
		nft_print_quoted(&p->b, s->name);
}

static bool is_named(const struct nft_stmt *s)
{
	return s->name.n || s->name_map;
}

static void print_counter(struct nft_print *p, const struct nft_stmt *s)
{
	if (is_named(s)) {
		print_name(p, "counter name", s);
		return;
	}
	buf_printf(&p->b, "counter");
	if (p->with_counts)
		buf_printf(&p->b, " packets %llu bytes %llu", (unsigned long long)s->counter.packets,
			   (unsigned long long)s->counter.bytes);
}

/* A number of bytes in the largest unit that divides it. */
static void print_bytes(struct buf *b, uint64_t bytes, const char *behind)
{
	static const char *const units[] = { "bytes", "kbytes", "mbytes" };
	unsigned u = 0;

	for (; u < 2 && bytes && bytes % 1024 == 0; u++)
		bytes /= 1024;
	buf_printf(b, "%llu %s%s", (unsigned long long)bytes, units[u], behind);
}

static const char *rate_unit(uint64_t seconds)
{
	switch (seconds) {
	case 60:
		return "minute";
	case 3600:
		return "hour";
	case 86400:
		return "day";
	case 604800:
		return "week";
	default:
		return "second";
	}
}

void nft_print_limit(struct nft_print *p, const struct nft_stmt *s)
{
	buf_printf(&p->b, "rate %s", s->limit.over ? "over " : "");
	if (s->limit.by_bytes)
		print_bytes(&p->b, s->limit.rate, "");
	else
		buf_printf(&p->b, "%llu", (unsigned long long)s->limit.rate);
	buf_printf(&p->b, "/%s", rate_unit(s->limit.unit_s));
	if (!s->limit.has_burst)
		return;
	buf_printf(&p->b, " burst ");
	if (s->limit.by_bytes)
		print_bytes(&p->b, s->limit.burst, "");
	else
		buf_printf(&p->b, "%llu packets", (unsigned long long)s->limit.burst);
}

void nft_print_quota(struct nft_print *p, const struct nft_stmt *s)
{
	buf_printf(&p->b, "%s", s->quota.over ? "over " : "");
	print_bytes(&p->b, s->quota.bytes, "");
	if (s->quota.used && p->with_counts) {
		buf_printf(&p->b, " used ");
		print_bytes(&p->b, s->quota.used, "");
	}
}

/* ---------- log, reject ---------- */

static void print_log_flags(struct buf *b, uint32_t flags)
{
	if (flags == NF_LOG_MASK) {
		buf_printf(b, " flags all");
		return;
	}
	if (flags & (NF_LOG_TCPSEQ | NF_LOG_TCPOPT))
		buf_printf(b, " flags tcp %s%s%s", flags & NF_LOG_TCPSEQ ? "sequence" : "",
			   (flags & 3) == 3 ? "," : "", flags & NF_LOG_TCPOPT ? "options" : "");
	if (flags & NF_LOG_IPOPT)
		buf_printf(b, " flags ip options");
	if (flags & NF_LOG_UID)
		buf_printf(b, " flags skuid");
	if (flags & NF_LOG_MACDECODE)
		buf_printf(b, " flags ether");
}

static void print_log(struct nft_print *p, const struct nft_stmt *s)
{
	static const char *const levels[] = { "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug", "audit" };
	struct buf *b = &p->b;

	buf_printf(b, "log");
	if (s->log.prefix.n) {
		buf_printf(b, " prefix ");
		nft_print_quoted(b, s->log.prefix);
	}
	if (s->log.has_group)
		buf_printf(b, " group %u", s->log.group);
	if (s->log.has_snaplen)
		buf_printf(b, " snaplen %u", s->log.snaplen);
	if (s->log.has_threshold)
		buf_printf(b, " queue-threshold %u", s->log.threshold);
	if (s->log.has_level)
		buf_printf(b, " level %s", levels[s->log.level]);
	print_log_flags(b, s->log.flags);
}

static void print_reject(struct nft_print *p, const struct nft_stmt *s)
{
	static const struct {
		const char *word;
		enum nft_type type;
	} kinds[] = { [NFT_REJECT_ICMP] = { "icmp", NFT_TYPE_ICMP_CODE },
		      [NFT_REJECT_ICMP6] = { "icmpv6", NFT_TYPE_ICMPV6_CODE },
		      [NFT_REJECT_ICMPX] = { "icmpx", NFT_TYPE_ICMPX_CODE } };

	buf_printf(&p->b, "reject");
	if (s->reject.kind == NFT_REJECT_TCP_RST) {
		buf_printf(&p->b, " with tcp reset");
	} else if (s->reject.kind != NFT_REJECT_DEFAULT) {
		buf_printf(&p->b, " with %s ", kinds[s->reject.kind].word);
		nft_print_number(&p->b, kinds[s->reject.kind].type, s->reject.code, true);
	}
}

/* ---------- translations and where packets go ---------- */

static void print_nat_flags(struct buf *b, uint32_t flags)
{
	const char *sep = " ";
	static const struct {
		uint32_t bit;
		const char *word;
	} words[] = { { NFT_NAT_RANDOM, "random" },
		      { NFT_NAT_FULLY_RANDOM, "fully-random" },
		      { NFT_NAT_PERSISTENT, "persistent" } };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (flags & words[i].bit) {
			buf_printf(b, "%s%s", sep, words[i].word);
			sep = ",";
		}
	}
}

/* An IPv6 address in front of a port stands in brackets; so does each end of a range. */
static void print_nat_addr(struct nft_print *p, const struct nft_expr *e, bool has_port)
{
	if (!has_port || e->type != NFT_TYPE_IPV6_ADDR || (e->kind != NFT_NUMBER && e->kind != NFT_RANGE)) {
		nft_print_expr_to(p, e);
		return;
	}
	buf_printf(&p->b, "[");
	nft_print_number(&p->b, e->type, e->lo, false);
	if (e->kind == NFT_RANGE) {
		buf_printf(&p->b, "]-[");
		nft_print_number(&p->b, e->type, e->hi, false);
	}
	buf_printf(&p->b, "]");
}

static void print_nat(struct nft_print *p, const struct nft_stmt *s)
{
	static const char *const words[] = { "snat", "dnat", "masquerade", "redirect", "tproxy" };
	struct buf *b = &p->b;

	buf_printf(b, "%s", words[s->nat.kind]);
	if (s->nat.has_family)
		buf_printf(b, " %s", nft_family_name(s->nat.family));
	if (s->nat.flags & NFT_NAT_INTERVAL)
		buf_printf(b, " interval");
	if (s->nat.flags & NFT_NAT_PREFIX)
		buf_printf(b, " prefix");
	if (s->nat.addr || s->nat.port)
		buf_printf(b, " to ");
	if (s->nat.addr)
		print_nat_addr(p, s->nat.addr, s->nat.port != NULL);
	if (s->nat.port) {
		buf_printf(b, ":");
		nft_print_expr_to(p, s->nat.port);
	}
	print_nat_flags(b, s->nat.flags);
}

static void print_fwd(struct nft_print *p, const struct nft_stmt *s)
{
	const struct nft_expr *addr = s->fwd.addr, *device = s->fwd.device;

	buf_printf(&p->b, "%s", s->kind == NFT_STMT_DUP ? "dup" : "fwd");
	if (addr && s->kind == NFT_STMT_FWD)
		buf_printf(&p->b, addr->type == NFT_TYPE_IPV6_ADDR ? " ip6" : " ip");
	buf_printf(&p->b, " to ");
	if (addr)
		nft_print_expr_to(p, addr);
	if (addr && device)
		buf_printf(&p->b, " device ");
	if (device)
		nft_print_expr_to(p, device);
}

static void print_queue(struct nft_print *p, const struct nft_stmt *s)
{
	buf_printf(&p->b, "queue");
	if (s->queue.bypass || s->queue.fanout)
		buf_printf(&p->b, " flags %s%s%s", s->queue.bypass ? "bypass" : "", s->queue.bypass && s->queue.fanout ? "," : "",
			   s->queue.fanout ? "fanout" : "");
	buf_printf(&p->b, " to ");
	if (s->queue.num)
		nft_print_expr_to(p, s->queue.num);
	else
		buf_printf(&p->b, "0");
}

/* ---------- sets, objects ---------- */

static void print_dynset(struct nft_print *p, const struct nft_stmt *s)
{
	static const char *const ops[] = { "add", "update", "delete" };
	const struct nft_set *set = s->dynset.set;
	struct buf *b = &p->b;

	if (set->is_meter) {
		buf_printf(b, "meter %.*s ", STR_ARG(set->name));
		if (set->has_size)
			buf_printf(b, "size %llu ", (unsigned long long)set->size);
	} else {
		buf_printf(b, "%s @%.*s ", ops[s->dynset.op], STR_ARG(set->name));
	}
	buf_printf(b, "{ ");
	nft_print_elem(p, s->dynset.elem, true);
	buf_printf(b, " }");
}

static void print_object(struct nft_print *p, const struct nft_stmt *s)
{
	static const char *const words[NFT_OBJ_COUNT] = {
		[NFT_OBJ_COUNTER] = "counter name",	[NFT_OBJ_QUOTA] = "quota name",
		[NFT_OBJ_LIMIT] = "limit name",		[NFT_OBJ_CT_HELPER] = "ct helper set",
		[NFT_OBJ_CT_TIMEOUT] = "ct timeout set", [NFT_OBJ_CT_EXPECTATION] = "ct expectation set",
		[NFT_OBJ_SECMARK] = "meta secmark set", [NFT_OBJ_SYNPROXY] = "synproxy name",
	};

	print_name(p, words[s->object], s);
}

void nft_print_synproxy(struct nft_print *p, const struct nft_stmt *s)
{
	if (s->synproxy.has_mss)
		buf_printf(&p->b, " mss %u", s->synproxy.mss);
	if (s->synproxy.has_wscale)
		buf_printf(&p->b, " wscale %u", s->synproxy.wscale);
	if (s->synproxy.timestamp)
		buf_printf(&p->b, " timestamp");
	if (s->synproxy.sack_perm)
		buf_printf(&p->b, " sack-perm");
}

/* ---------- all ---------- */

static void print_stateful(struct nft_print *p, const struct nft_stmt *s)
{
	switch (s->kind) {
	case NFT_STMT_COUNTER:
		print_counter(p, s);
		break;
	case NFT_STMT_LIMIT:
		if (is_named(s)) {
			print_name(p, "limit name", s);
			break;
		}
		buf_printf(&p->b, "limit ");
		nft_print_limit(p, s);
		break;
	case NFT_STMT_QUOTA:
		if (is_named(s)) {
			print_name(p, "quota name", s);
			break;
		}
		buf_printf(&p->b, "quota ");
		nft_print_quota(p, s);
		break;
	case NFT_STMT_CT_COUNT:
		buf_printf(&p->b, "ct count %s%u", s->ct_count.over ? "over " : "", s->ct_count.count);
		break;
	default:
		buf_printf(&p->b, "last");
	}
}

static void print_rare(struct nft_print *p, const struct nft_stmt *s)
{
	switch (s->kind) {
	case NFT_STMT_NOTRACK:
		buf_printf(&p->b, "notrack");
		break;
	case NFT_STMT_OBJECT:
		print_object(p, s);
		break;
	case NFT_STMT_SYNPROXY:
		if (is_named(s)) {
			print_name(p, "synproxy name", s);
			break;
		}
		buf_printf(&p->b, "synproxy");
		nft_print_synproxy(p, s);
		break;
	case NFT_STMT_FLOW:
		buf_printf(&p->b, "flow add @%.*s", STR_ARG(s->name));
		break;
	case NFT_STMT_RESET:
		buf_printf(&p->b, "reset ");
		nft_print_expr_to(p, s->expr);
		break;
	case NFT_STMT_XT:
		buf_printf(&p->b, "xt match ");
		nft_print_quoted(&p->b, s->name);
		break;
	default:
		print_stateful(p, s);
	}
}

void nft_print_stmt(struct nft_print *p, const struct nft_stmt *s)
{
	switch (s->kind) {
	case NFT_STMT_MATCH:
		print_match(p, s);
		break;
	case NFT_STMT_VERDICT:
		nft_print_expr_to(p, s->expr);
		break;
	case NFT_STMT_MANGLE:
		nft_print_expr_to(p, s->set.left);
		buf_printf(&p->b, " set ");
		nft_print_expr_to(p, s->set.right);
		break;
	case NFT_STMT_LOG:
		print_log(p, s);
		break;
	case NFT_STMT_REJECT:
		print_reject(p, s);
		break;
	case NFT_STMT_NAT:
		print_nat(p, s);
		break;
	case NFT_STMT_DUP:
	case NFT_STMT_FWD:
		print_fwd(p, s);
		break;
	case NFT_STMT_QUEUE:
		print_queue(p, s);
		break;
	case NFT_STMT_SET:
		print_dynset(p, s);
		break;
	default:
		print_rare(p, s);
	}
}

void nft_print_stmts(struct nft_print *p, struct nft_stmt *const *s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		buf_printf(&p->b, "%s", i ? " " : "");
		nft_print_stmt(p, s[i]);
	}
}
