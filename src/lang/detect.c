/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Telling languages apart. Every line votes by its first words; most of them say nothing, a few can stand in one
 * language only. The language with the most votes wins.
 *
 *     *filter              iptables      create s hash:ip     ipset
 *     table inet t {       nft           add 100 allow ip     ipfw
 *     pass in quick        pf            tc qdisc add         tc
 *
 * This is no parser: the first two or three words of a line are all that is looked at, and it knows no more of a
 * language than where these words may stand.
 *
 * Whether an iptables file is for IPv4 or IPv6 its text may leave open. First the line that the save tool wrote tells;
 * then the file's name, because whoever calls a file rules.v6 wants to hear of an IPv4 address in it; then whichever
 * family's addresses and protocols stand in it more often.
 */
#include "lang/detect.h"
#include "policy/addr.h"

enum { DETECT_LINES = 4000, SURE = 1000, STRONG = 20, WEAK = 1 };

struct votes {
	unsigned of[LANG_COUNT];
	unsigned ip4, ip6;	  /* words that belong to one family */
	bool says_ip4, says_ip6; /* the save tool's own line */
};

/* Words of one line: as many as matter. */
struct words {
	struct str w[4], all;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct str cut_word(struct str *s)
{
	size_t n = 0;
	struct str w;

	*s = str_trim(*s);
	while (n < s->n && !is_blank(s->p[n]))
		n++;
	w = str_slice(*s, 0, n);
	*s = str_slice(*s, n, s->n);
	return w;
}

static bool is_one_of(struct str w, const char *list)
{
	size_t n;

	for (const char *p = list; *p; p += n + (p[n] != '\0')) {
		n = strcspn(p, " ");
		if (w.n == n && n > 0 && memcmp(w.p, p, n) == 0)
			return true;
	}
	return false;
}

static bool contains(struct str s, const char *what)
{
	return s.n && memmem(s.p, s.n, what, strlen(what)) != NULL;
}

static bool is_number(struct str w)
{
	uint64_t v;

	return str_u64(w, 10, UINT64_MAX, &v);
}

static const char ipfw_actions[] = "allow accept pass permit deny drop reject reset reset6 unreach unreach6 count skipto fwd "
				   "forward divert tee pipe queue nat check-state call return setfib tag untag";

static void vote_iptables(struct votes *v, const struct words *l)
{
	struct str w = l->w[0];

	if (w.n > 1 && w.p[0] == '*' && l->w[1].n == 0)
		v->of[LANG_IPTABLES] += is_one_of(str_slice(w, 1, w.n), "filter nat mangle raw security") ? SURE : STRONG;
	else if (is_one_of(w, "-A -I -N -P -X -F") || (w.n > 2 && w.p[0] == '[' && is_one_of(l->w[1], "-A -I")))
		v->of[LANG_IPTABLES] += STRONG;
	else if (w.n > 1 && w.p[0] == ':' && is_one_of(l->w[1], "ACCEPT DROP QUEUE -"))
		v->of[LANG_IPTABLES] += STRONG;
	else if (str_is(w, "COMMIT"))
		v->of[LANG_IPTABLES] += WEAK;
}

static void vote_add(struct votes *v, const struct words *l)
{
	if (is_one_of(l->w[1], "table chain rule set map element flowtable counter quota limit"))
		v->of[LANG_NFT] += STRONG;
	else if (is_number(l->w[1]) || is_one_of(l->w[1], ipfw_actions))
		v->of[LANG_IPFW] += STRONG;
	else if (l->w[2].n)
		v->of[LANG_IPSET] += WEAK;
}

static void vote_ipset(struct votes *v, const struct words *l)
{
	if (str_is(l->w[0], "create") && contains(l->w[2], ":"))
		v->of[LANG_IPSET] += SURE;
	else if (str_is(l->w[0], "add"))
		vote_add(v, l);
}

static void vote_nft(struct votes *v, const struct words *l)
{
	struct str w = l->w[0];

	if (str_is(w, "table") && !str_starts(l->w[1], "<") &&
	    (is_one_of(l->w[1], "inet ip ip6 arp bridge netdev") || str_is(l->w[2], "{")))
		v->of[LANG_NFT] += SURE;
	else if (is_one_of(w, "flush delete destroy create insert replace rename reset list") &&
		 is_one_of(l->w[1], "ruleset table chain rule set map element"))
		v->of[LANG_NFT] += STRONG;
	else if (str_is(w, "type") && is_one_of(l->w[1], "filter nat route") && str_is(l->w[2], "hook"))
		v->of[LANG_NFT] += STRONG;
	else if ((is_one_of(w, "chain set map") && str_is(l->w[2], "{")) || is_one_of(w, "define nft") ||
		 str_starts(w, "{\"nftables\""))
		v->of[LANG_NFT] += STRONG;
	else if (str_is(w, "include"))
		v->of[LANG_NFT] += WEAK;
}

static void vote_ipfw(struct votes *v, const struct words *l)
{
	if (contains(l->all, "ipfw"))
		v->of[LANG_IPFW] += STRONG;
	else if (l->w[0].n && l->w[0].p[0] == '$' && (str_is(l->w[1], "add") || is_number(l->w[1])))
		v->of[LANG_IPFW] += STRONG;
	else if (is_one_of(l->w[0], "nat pipe queue table") && is_one_of(l->w[2], "config create add"))
		v->of[LANG_IPFW] += STRONG;
}

static void vote_pf(struct votes *v, const struct words *l)
{
	struct str w = l->w[0];

	if (is_one_of(w, "pass block match antispoof scrub anchor rdr binat altq nat-anchor rdr-anchor") ||
	    (str_is(w, "nat") && str_is(l->w[1], "on")) || (str_is(w, "load") && str_is(l->w[1], "anchor")) ||
	    (str_is(w, "table") && str_starts(l->w[1], "<")) ||
	    (str_is(w, "set") && is_one_of(l->w[1], "skip limit block-policy timeout optimization loginterface state-policy "
						     "ruleset-optimization debug fingerprints hostid require-order")))
		v->of[LANG_PF] += STRONG;
	else if (contains(w, "=") || str_is(l->w[1], "="))
		v->of[LANG_PF] += WEAK;
}

static void vote_tc(struct votes *v, const struct words *l)
{
	struct str rest;
	bool has_program;
	bool has_tc = str_is(l->w[0], "tc") || str_ends(l->w[0], "/tc") || is_one_of(l->w[0], "$TC $tc");

	if (is_one_of(l->w[has_tc], "qdisc filter class action") && is_one_of(l->w[has_tc + 1], "add replace change del"))
		v->of[LANG_TC] += SURE;
	else if (str_is(l->w[0], "protocol") && is_one_of(l->w[2], "u32 bpf prio pref handle"))
		v->of[LANG_TC] += STRONG;
	else if (is_number(str_cut(l->w[0], ',', &rest, &has_program)) && is_number(l->w[1]) && is_number(l->w[2]))
		v->of[LANG_TC] += STRONG; /* a BPF program */
}

/* An address, with or without its prefix length, brackets or a mark of negation. */
static enum family word_family(struct str w, bool *is_addr)
{
	struct str rest, addr;
	u128 a;

	while (w.n && (w.p[0] == '!' || w.p[0] == '['))
		w = str_slice(w, 1, w.n);
	addr = str_cut(str_cut(w, '/', &rest, NULL), ',', &rest, NULL);
	addr = str_cut(addr, ']', &rest, NULL);
	*is_addr = true;
	if (addr_parse(FAMILY_IP6, addr, &a))
		return FAMILY_IP6;
	if (addr_parse(FAMILY_IP4, str_cut(addr, ':', &rest, NULL), &a))
		return FAMILY_IP4;
	*is_addr = false;
	return FAMILY_IP4;
}

static void vote_family(struct votes *v, struct str line)
{
	struct str w;
	bool is_addr;

	while ((w = cut_word(&line)).n) {
		enum family f = word_family(w, &is_addr);

		if (is_addr)
			*(f == FAMILY_IP6 ? &v->ip6 : &v->ip4) += WEAK;
		else if (is_one_of(w, "icmpv6 ipv6-icmp icmp6 --icmpv6-type --hl-eq --hl-lt --hl-gt frag hbh ipv6header rt") ||
			 str_starts(w, "ufw6") || str_starts(w, ":ufw6") || str_starts(w, "icmp6-"))
			v->ip6 += 3 * WEAK; /* -p icmp stands in many an IPv6 file by mistake; never the other way round */
		else if (is_one_of(w, "icmp --icmp-type ttl --ttl-eq --ttl-lt --ttl-gt -f"))
			v->ip4 += WEAK;
	}
}

static void vote_comment(struct votes *v, struct str line, uint32_t n)
{
	if (n == 0 && str_starts(line, "#!") && contains(line, "nft"))
		v->of[LANG_NFT] += SURE;
	if (contains(line, "ip6tables-save"))
		v->says_ip6 = true;
	else if (contains(line, "Generated by iptables-save"))
		v->says_ip4 = true;
}

static void vote_line(struct votes *v, struct str line)
{
	struct words l = { .all = line };
	struct str rest = line;

	for (size_t i = 0; i < sizeof l.w / sizeof *l.w; i++)
		l.w[i] = cut_word(&rest);
	vote_iptables(v, &l);
	vote_ipset(v, &l);
	vote_nft(v, &l);
	vote_ipfw(v, &l);
	vote_pf(v, &l);
	vote_tc(v, &l);
	vote_family(v, line);
}

/* The part of a name behind the last '/': "rules.v6", "before6.rules", "ip6tables". */
static bool name_has(struct str name, const char *const *parts)
{
	for (size_t i = name.n; i > 0; i--)
		if (name.p[i - 1] == '/') {
			name = str_slice(name, i, name.n);
			break;
		}
	for (; *parts; parts++)
		if (contains(name, *parts))
			return true;
	return false;
}

static enum lang iptables_family(const struct votes *v, struct str name)
{
	static const char *const six[] = { "v6", "ip6", "6.rules", NULL }, *const four[] = { "v4", "ip4", NULL };
	bool name6 = name_has(name, six), name4 = name_has(name, four);

	if (v->says_ip6 != v->says_ip4)
		return v->says_ip6 ? LANG_IP6TABLES : LANG_IPTABLES;
	if (name6 != name4)
		return name6 ? LANG_IP6TABLES : LANG_IPTABLES;
	return v->ip6 > v->ip4 ? LANG_IP6TABLES : LANG_IPTABLES;
}

enum lang detect_language(const struct source *src)
{
	struct votes v = { 0 };
	enum lang best = LANG_AUTO;

	for (uint32_t i = 0; i < src->n_lines && i < DETECT_LINES; i++) {
		struct str line = str_trim(source_line(src, src->first_line + i));

		if (line.n && line.p[0] == '#')
			vote_comment(&v, line, i);
		else if (line.n)
			vote_line(&v, line);
	}
	for (unsigned l = LANG_AUTO + 1; l < LANG_COUNT; l++)
		if (v.of[l] > (best == LANG_AUTO ? 0 : v.of[best]))
			best = (enum lang)l;
	return best == LANG_IPTABLES ? iptables_family(&v, src->name) : best;
}
