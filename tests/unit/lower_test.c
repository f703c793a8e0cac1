/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What iptables rules become in the model: one line of text in, the tests, effects and verdict out. The answers about
 * absent things ("absent:yes") are those of the kernel; docs/semantics.md says where they come from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dirent.h>

#include "lang/lang.h"

struct fixture {
	struct arena *a;
	struct sources s;
	struct diags d;
	struct ruleset *rs;
	struct lang_file file;
};

static void start(struct fixture *f)
{
	*f = (struct fixture){ .a = arena_create() };
	f->s.a = f->d.a = f->a;
	f->d.sources = &f->s;
	f->rs = policy_create(f->a);
}

static void read_as(struct fixture *f, enum lang l, const char *name, struct str text)
{
	lang_read(f->rs, &f->d, source_add(&f->s, name, text), l, &f->file);
}

static void show_errors(const struct fixture *f)
{
	for (size_t i = 0; i < f->d.all.n; i++)
		if (f->d.all.v[i].severity == DIAG_ERROR)
			print_message("# %s\n", arena_cstr(f->a, diag_format(f->a, &f->d, &f->d.all.v[i])));
}

/* The chain that a rule names, and a table where everything it uses may stand. */
static const char *table_of(const char *rule)
{
	if (strstr(rule, "NAT ") || strstr(rule, "MASQUERADE") || strstr(rule, "REDIRECT") || strstr(rule, "NETMAP"))
		return "nat";
	if (strstr(rule, "-j CT") || strstr(rule, "NOTRACK") || strstr(rule, "-j TRACE"))
		return "raw";
	if (strstr(rule, "REJECT"))
		return "filter";
	return "mangle";
}

struct row {
	const char *rule, *want;
};

/* Reads one rule and compares what it became; several rules are separated by lines. */
static void check_row(enum lang l, const struct row *row)
{
	struct fixture f;
	struct buf b = { 0 };
	const struct chain *c = NULL;
	struct str dump;
	const char *from;

	start(&f);
	b.a = f.a;
	buf_printf(&b, "*%s\n:U - [0:0]\n-A %s\nCOMMIT\n", table_of(row->rule), row->rule);
	read_as(&f, l, "rules", buf_str(&b));
	show_errors(&f);
	if (f.d.n_errors)
		fail_msg("'%s' has errors", row->rule);
	for (size_t i = 0; i < f.rs->chains.n; i++)
		if (f.rs->chains.v[i]->rules.n)
			c = f.rs->chains.v[i];
	assert_non_null(c);
	dump = policy_dump(f.a, f.rs);
	from = strstr(dump.p, "\n  ");
	from = from ? from + 3 : "";
	/* What ends in the middle of a test is only the beginning of what is wanted. */
	if (strncmp(from, row->want, strlen(row->want)) != 0 || (str_ends(str_from(row->want), "]") && from[strlen(row->want)] != '\n'))
		fail_msg("%s\n  became  %.*s\n  not     %s", row->rule, (int)strcspn(from, "\n"), from, row->want);
	arena_destroy(f.a);
}

static void check_rows(enum lang l, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_row(l, &rows[i]);
}

#define CHECK4(rows) check_rows(LANG_IPTABLES, rows, sizeof rows / sizeof *rows)
#define CHECK6(rows) check_rows(LANG_IP6TABLES, rows, sizeof rows / sizeof *rows)

static void core_options(void **state)
{
	static const struct row rows[] = {
		{ "INPUT -j DROP", "[drop]" },
		{ "INPUT", "[]" },
		{ "INPUT -s 192.0.2.0/24 -j ACCEPT", "[ip.src in {0xc0000200-0xc00002ff}] [accept]" },
		{ "INPUT ! -d 192.0.2.1 -j DROP", "[! ip.dst in {0xc0000201}] [drop]" },
		{ "INPUT -s 0.0.0.0/0 -j DROP", "[drop]" },
		{ "INPUT -s 192.0.0.5/255.0.255.255 -j DROP", "[ip.src & 0xff00ffff == 0xc0000005] [drop]" },
		{ "INPUT -i eth0 -j DROP", "[iif.name in {0x65746830000000000000000000000000}] [drop]" },
		{ "INPUT ! -i eth0 -j DROP", "[! iif.name in {0x65746830000000000000000000000000} absent:yes] [drop]" },
		{ "FORWARD -o eth+ -j DROP",
		  "[oif.name in {0x65746800000000000000000000000000-0x657468ffffffffffffffffffffffffff}] [drop]" },
		{ "FORWARD ! -o eth+ -j DROP",
		  "[! oif.name in {0x65746800000000000000000000000000-0x657468ffffffffffffffffffffffffff} absent:yes] [drop]" },
		{ "INPUT -i + -j DROP", "[drop]" },
		{ "INPUT -m comment --comment \"x y\" -j DROP", "[drop]" },
		{ "INPUT -p 47 -j DROP", "[ip.proto in {0x2f}] [drop]" },
		{ "INPUT ! -p icmp -j DROP", "[! ip.proto in {0x1}] [drop]" },
		{ "INPUT -f -j DROP", "[ip.later-fragment in {0x1}] [drop]" },
		{ "INPUT ! -f -j DROP", "[! ip.later-fragment in {0x1}] [drop]" },
		{ "FORWARD -p udp -i a -o b -d 192.0.2.2 -s 192.0.2.1 -j RETURN",
		  "[ip.src in {0xc0000201}] [ip.dst in {0xc0000202}] [iif.name in {0x61000000000000000000000000000000}] "
		  "[oif.name in {0x62000000000000000000000000000000}] [ip.proto in {0x11}] [return]" },
		{ "INPUT -j U", "[jump U]" },
		{ "INPUT -g U", "[goto U]" },
	};

	(void)state;
	CHECK4(rows);
}

static void transport_headers(void **state)
{
	static const struct row rows[] = {
		{ "INPUT -p tcp -m tcp -j DROP", "[ip.proto in {0x6}] [tcp.flags in {0x0-0xff}] [drop]" },
		{ "INPUT -p tcp --dport 22 -j DROP", "[ip.proto in {0x6}] [dport in {0x16}] [drop]" },
		{ "INPUT -p tcp ! --dport 22 -j DROP", "[ip.proto in {0x6}] [! dport in {0x16}] [drop]" },
		{ "INPUT -p tcp --sport 1024: --dport 80:90 -j DROP",
		  "[ip.proto in {0x6}] [sport in {0x400-0xffff}] [dport in {0x50-0x5a}] [drop]" },
		{ "INPUT -p tcp --syn -j DROP", "[ip.proto in {0x6}] [tcp.flags & 0x17 == 0x2] [drop]" },
		{ "INPUT -p tcp ! --tcp-flags ALL NONE -j DROP", "[ip.proto in {0x6}] [! tcp.flags & 0x3f == 0x0] [drop]" },
		{ "INPUT -p tcp ! --tcp-option 8 -j DROP", "[ip.proto in {0x6}] [! tcp.options in {0x8}] [drop]" },
		{ "INPUT -p udp -m udp -j DROP", "[ip.proto in {0x11}] [sport in {0x0-0xffff}] [drop]" },
		{ "INPUT -p udp -m udp --dport 53 -j DROP", "[ip.proto in {0x11}] [dport in {0x35}] [drop]" },
		{ "INPUT -p tcp -m multiport --dports 22,80:90,23 -j DROP",
		  "[ip.proto in {0x6}] [dport in {0x16-0x17, 0x50-0x5a}] [drop]" },
		{ "INPUT -p udp -m multiport ! --ports 5,7 -j DROP", "[ip.proto in {0x11}] [! sport|dport in {0x5, 0x7}] [drop]" },
		{ "INPUT -p icmp -m icmp --icmp-type 8 -j DROP",
		  "[ip.proto in {0x1}] [icmp.type-code in {0x800-0x8ff}] [drop]" },
		{ "INPUT -p icmp -m icmp --icmp-type 3/4 -j DROP", "[ip.proto in {0x1}] [icmp.type-code in {0x304}] [drop]" },
		{ "INPUT -p icmp -m icmp --icmp-type any -j DROP",
		  "[ip.proto in {0x1}] [icmp.type-code in {0x0-0xffff}] [drop]" },
		{ "INPUT -p tcp -m tcpmss ! --mss 1:536 -j DROP",
		  "[ip.proto in {0x6}] [tcp.flags in {0x0-0xff}] [! tcp.mss in {0x1-0x218} absent:yes] [drop]" },
		{ "INPUT -p tcp -m ecn --ecn-tcp-cwr ! --ecn-tcp-ece -j DROP",
		  "[ip.proto in {0x6}] [! tcp.flags & 0x40 == 0x40] [tcp.flags & 0x80 == 0x80] [drop]" },
		{ "INPUT -p esp -m esp --espspi 256:512 -j DROP", "[ip.proto in {0x32}] [esp.spi in {0x100-0x200}] [drop]" },
		{ "INPUT -p ah -m ah --ahspi 500 -j DROP", "[ip.proto in {0x33}] [ah.spi in {0x1f4}] [drop]" },
		{ "INPUT -p sctp -m sctp --chunk-types any INIT,DATA:Be -j DROP",
		  "[ip.proto in {0x84}] [sctp.chunks in {0x2, 0x6, 0xa, 0xe, 0x12, 0x16, 0x1a, 0x1e, 0x22" },
		{ "INPUT -p sctp -m sctp --chunk-types all INIT,SACK -j DROP",
		  "[ip.proto in {0x84}] [sctp.chunks in {0x100-0x1ff}] [sctp.chunks in {0x300-0x3ff}] [drop]" },
		{ "INPUT -p sctp -m sctp --chunk-types only INIT -j DROP",
		  "[ip.proto in {0x84}] [! sctp.chunks in {0x0-0xff, 0x200-0xffff}] [drop]" },
		{ "INPUT -p sctp -m sctp ! --chunk-types only INIT -j DROP",
		  "[ip.proto in {0x84}] [sctp.chunks in {0x0-0xff, 0x200-0xffff}] [drop]" },
		{ "INPUT -p dccp -m dccp --dccp-types REQUEST,RESPONSE -j DROP",
		  "[ip.proto in {0x21}] [dccp.type in {0x0-0x1}] [drop]" },
	};

	(void)state;
	CHECK4(rows);
}

static void network_headers(void **state)
{
	static const struct row rows[] = {
		{ "INPUT -m iprange --src-range 192.0.2.5-192.0.2.9 -j DROP", "[ip.src in {0xc0000205-0xc0000209}] [drop]" },
		{ "INPUT -m iprange ! --dst-range 192.0.2.9-192.0.2.5 -j DROP", "[! ip.dst in {}] [drop]" },
		{ "INPUT -m length --length 0:100 -j DROP", "[ip.length in {0x0-0x64}] [drop]" },
		{ "INPUT -m ttl --ttl-lt 5 -j DROP", "[ip.ttl in {0x0-0x4}] [drop]" },
		{ "INPUT -m ttl --ttl-gt 5 -j DROP", "[ip.ttl in {0x6-0xff}] [drop]" },
		{ "INPUT -m ttl ! --ttl-eq 5 -j DROP", "[! ip.ttl in {0x5}] [drop]" },
		{ "INPUT -m tos --tos 0x10/0x3f -j DROP", "[ip.tos & 0x3f == 0x10] [drop]" },
		{ "INPUT -m dscp --dscp 0x2e -j DROP", "[ip.tos & 0xfc == 0xb8] [drop]" },
		{ "INPUT -m dscp --dscp-class EF -j DROP", "[ip.tos & 0xfc == 0xb8] [drop]" },
		{ "INPUT -m ecn --ecn-ip-ect 3 -j DROP", "[ip.tos & 0x3 == 0x3] [drop]" },
	};
	static const struct row rows6[] = {
		{ "INPUT -s 2001:db8::/32 -j DROP",
		  "[ip.src in {0x20010db8000000000000000000000000-0x20010db8ffffffffffffffffffffffff}] [drop]" },
		{ "INPUT -m hl --hl-eq 255 -j DROP", "[ip.ttl in {0xff}] [drop]" },
		{ "INPUT -m rt -j DROP", "[rt.type in {0x0-0xff}] [drop]" },
		{ "INPUT -m rt ! --rt-type 0 --rt-segsleft 1:2 -j DROP", "[! rt.type in {0x0}] [rt.segsleft in {0x1-0x2}] [drop]" },
		{ "INPUT -m frag --fragid 7 --fragres --fragfirst --fragmore -j DROP",
		  "[frag.id in {0x7}] [frag.reserved in {0x0}] [frag.first in {0x1}] [frag.more in {0x1}] [drop]" },
		{ "INPUT -m frag --fraglast -j DROP", "[frag.more in {0x0}] [drop]" },
		{ "INPUT -m hbh -j DROP", "[hbh.length in {0x0-0xffff}] [drop]" },
		{ "INPUT -m dst ! --dst-len 8 -j DROP", "[! dst.length in {0x8}] [drop]" },
		{ "INPUT -m hbh --hbh-opts 5:2,1 -j DROP", "[bytes options header 0 5:2 1] [drop]" },
		{ "INPUT -m ipv6header --header hop-by-hop,dst --soft -j DROP", "[ip6.headers & 0x90 == 0x90] [drop]" },
		{ "INPUT -m ipv6header ! --header hop-by-hop,dst --soft -j DROP", "[ip6.headers & 0x90 == 0x0] [drop]" },
		{ "INPUT -m ipv6header --header esp -j DROP", "[ip6.headers & 0xffff == 0x2] [drop]" },
		{ "INPUT -m frag --fraglen 8 -j DROP", "[frag.id in {0x0-0xffffffff}] [drop]" },
		{ "INPUT -m ah --ahlen 0 -j DROP", "[ah.spi in {0x0-0xffffffff}] [drop]" },
		{ "INPUT -m rt --rt-type 0 --rt-0-addrs 2001:db8::9 --rt-0-not-strict -j DROP",
		  "[rt.type in {0x0}] [bytes rt-addresses 0x20010db8000000000000000000000009 not-strict] [drop]" },
		{ "INPUT -m ah --ahspi 1 ! --ahlen 24 --ahres -j DROP",
		  "[ah.spi in {0x1}] [! ah.length in {0x18}] [ah.reserved in {0x0}] [drop]" },
		{ "INPUT -p icmpv6 -m icmp6 --icmpv6-type 128 -j DROP",
		  "[ip.proto in {0x3a}] [icmp6.type-code in {0x8000-0x80ff}] [drop]" },
	};

	(void)state;
	CHECK4(rows);
	CHECK6(rows6);
}

static void what_the_machine_knows(void **state)
{
	static const struct row rows[] = {
		{ "INPUT -m mark --mark 0x1/0xff -j DROP", "[mark & 0xff == 0x1] [drop]" },
		{ "INPUT -m mark ! --mark 5 -j DROP", "[! mark & 0xffffffff == 0x5] [drop]" },
		{ "INPUT -m connmark ! --mark 5/7 -j DROP", "[! ct.mark & 0x7 == 0x5] [drop]" },
		{ "INPUT -m mac ! --mac-source 02:00:00:00:00:01 -j DROP", "[! ether.src in {0x20000000001}] [drop]" },
		{ "INPUT -m pkttype --pkt-type multicast -j DROP", "[pkttype in {0x2}] [drop]" },
		{ "INPUT -m cpu --cpu 1 -j DROP", "[cpu in {0x1}] [drop]" },
		{ "INPUT -m devgroup --src-group 0x7/0x5 -j DROP", "[iif.group & 0x5 == 0x5] [drop]" },
		{ "INPUT -m realm --realm 10 -j DROP", "[route.realm & 0xffffffff == 0xa] [drop]" },
		{ "OUTPUT -m owner --uid-owner 0 -j DROP", "[socket.uid in {0x0}] [drop]" },
		{ "OUTPUT -m owner ! --uid-owner 0 ! --gid-owner 1-3 -j DROP",
		  "[! socket.uid in {0x0} absent:yes] [! socket.gid in {0x1-0x3} absent:yes] [drop]" },
		{ "OUTPUT -m owner ! --socket-exists -j DROP", "[! socket.exists in {0x1}] [drop]" },
		{ "INPUT -m addrtype --dst-type LOCAL -j DROP", "[dst.type in {0x4}] [drop]" },
		{ "INPUT -m addrtype ! --src-type LOCAL,BROADCAST -j DROP", "[! src.type in {0x4, 0x8}] [drop]" },
		{ "INPUT -m addrtype --dst-type LOCAL --limit-iface-in -j DROP",
		  "[unknown addrtype dst-type: needs the addresses of the very interface \"dst-type 4 limit-iface-in\"] [drop]" },
		{ "FORWARD -m physdev ! --physdev-in eth0 --physdev-is-bridged -j DROP",
		  "[! physdev.in in {0x65746830000000000000000000000000} absent:yes] "
		  "[physdev.out in {0x0-0xffffffffffffffffffffffffffffffff}] [drop]" },
		{ "FORWARD -m physdev --physdev-out eth+ -j DROP",
		  "[physdev.out in {0x65746800000000000000000000000000-0x657468ffffffffffffffffffffffffff}] [drop]" },
		{ "INPUT -m set --match-set s src,dst -j DROP", "[set \"s\" src,dst] [drop]" },
		{ "INPUT -m set ! --match-set s src --return-nomatch -j DROP", "[! set \"s\" src return-nomatch absent:yes] [drop]" },
		{ "INPUT -m set --match-set s src --packets-gt 5 -j DROP",
		  "[set \"s\" src counters \"match-set s 0 packets-gt 5\"] [drop]" },
	};
	static const struct row rows6[] = {
		{ "INPUT -m addrtype --dst-type MULTICAST -j DROP",
		  "[ip.dst in {0xff000000000000000000000000000000-0xffffffffffffffffffffffffffffffff}] [drop]" },
		{ "INPUT -m addrtype ! --src-type UNICAST -j DROP",
		  "[! ip.src in {0x1-0xfffeffffffff, 0x1000000000000-0xfeffffffffffffffffffffffffffffff}] [drop]" },
		{ "INPUT -m addrtype --dst-type LOCAL,UNICAST -j DROP",
		  "[ip.dst in {0x1-0xfffeffffffff, 0x1000000000000-0xfeffffffffffffffffffffffffffffff}] [dst.type in {0x4}] [drop]" },
		{ "INPUT -m addrtype --dst-type UNREACHABLE -j DROP",
		  "[unknown addrtype dst-type: needs the routing table \"dst-type 80\"] [drop]" },
	};

	(void)state;
	CHECK4(rows);
	CHECK6(rows6);
}

static void connections(void **state)
{
	static const struct row rows[] = {
		{ "INPUT -m state --state ESTABLISHED,RELATED -j ACCEPT", "[ct.state in {0x4, 0x8}] [accept]" },
		{ "INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT", "[ct.state in {0x4, 0x8}] [accept]" },
		{ "INPUT -m conntrack ! --ctstate NEW,INVALID -j ACCEPT", "[! ct.state in {0x1-0x2}] [accept]" },
		{ "INPUT -m conntrack --ctstate DNAT -j ACCEPT", "[ct.status & 0x20 == 0x20] [accept]" },
		{ "INPUT -m conntrack ! --ctstate DNAT -j ACCEPT", "[! ct.status & 0x20 == 0x20 absent:yes] [accept]" },
		{ "INPUT -m conntrack --ctstate ESTABLISHED,DNAT -j ACCEPT",
		  "[ct.state & 0x4 == 0x4 or ct.status & 0x20 == 0x20] [accept]" },
		{ "INPUT -m conntrack --ctproto tcp -j ACCEPT", "[ct.proto in {0x6}] [accept]" },
		{ "INPUT -m conntrack --ctstate INVALID ! --ctproto tcp -j ACCEPT",
		  "[ct.state in {0x1}] [! ct.proto in {0x6} absent:yes] [accept]" },
		{ "INPUT -m conntrack --ctorigdst 192.0.2.0/24 --ctorigdstport 80:81 -j ACCEPT",
		  "[ct.orig.dst in {0xc0000200-0xc00002ff}] [ct.orig.dport in {0x50-0x51}] [accept]" },
		{ "INPUT -m conntrack --ctstatus ASSURED,SEEN_REPLY -j ACCEPT",
		  "[ct.status & 0x2 == 0x2 or ct.status & 0x4 == 0x4] [accept]" },
		{ "INPUT -m conntrack ! --ctexpire 10:20 --ctdir REPLY -j ACCEPT",
		  "[! ct.expire in {0xa-0x14}] [ct.direction in {0x1}] [accept]" },
	};

	(void)state;
	CHECK4(rows);
}

static void memories(void **state)
{
	static const struct row rows[] = {
		{ "INPUT -m limit --limit 3/second -j DROP", "[state limit 10000/3333000ms burst 5] [drop]" },
		{ "INPUT -m limit --limit 300/minute --limit-burst 7 -j DROP", "[state limit 10000/2000000ms burst 7] [drop]" },
		{ "INPUT -m hashlimit --hashlimit-upto 5/min --hashlimit-burst 7 --hashlimit-mode srcip,dstport --hashlimit-name a "
		  "--hashlimit-srcmask 24 -j DROP",
		  "[state hashlimit \"a\" 1000000/12000000000ms burst 7 mode 9 masks 24 32 entries 0 expire 60000] [drop]" },
		{ "INPUT -m hashlimit ! --hashlimit-upto 512kb/s --hashlimit-mode dstip --hashlimit-name b -j DROP",
		  "[state hashlimit \"b\" 524288/1000ms burst 524288 bytes above mode 4 masks 32 32 entries 0 expire 1000] [drop]" },
		{ "INPUT -m hashlimit --hashlimit-above 9/sec --hashlimit-name e --hashlimit-rate-match -j DROP",
		  "[unknown hashlimit hashlimit-above: measures the rate over an interval of the kernel's clock" },
		{ "INPUT -m recent --set --name ssh --mask 255.255.255.0 --rdest -j DROP",
		  "[state recent \"ssh\" set by dst mask 0xffffff00 seconds 0 hits 0] [drop]" },
		{ "INPUT -m recent ! --update --seconds 60 --hitcount 4 --rttl -j DROP",
		  "[! state recent \"DEFAULT\" update by src mask 0xffffffff seconds 60 hits 4 rttl] [drop]" },
		{ "INPUT -p tcp -m connlimit --connlimit-above 2 --connlimit-mask 24 -j DROP",
		  "[ip.proto in {0x6}] [state connlimit above 2 by src/24] [drop]" },
		{ "INPUT -p tcp -m connlimit ! --connlimit-upto 2 --connlimit-daddr -j DROP",
		  "[ip.proto in {0x6}] [state connlimit above 2 by dst/32] [drop]" },
		{ "INPUT -m statistic --mode nth --every 3 --packet 1 -j DROP", "[state nth every 3 packet 1] [drop]" },
		{ "INPUT -m statistic --mode random ! --probability 0.5 -j DROP", "[! state random 1073741824] [drop]" },
		{ "INPUT -m quota ! --quota 1000 -j DROP", "[! state quota 1000] [drop]" },
		{ "INPUT -m time --timestart 08:00 --timestop 17:30 --weekdays Mon,Tue -j DROP",
		  "[state time dates -9223372036854775808 2147483647 clock 28800-63000 month 0 week 6] [drop]" },
		{ "INPUT -m time ! --weekdays Sun -j DROP",
		  "[state time dates -9223372036854775808 2147483647 clock 0-86399 month 0 week 7e] [drop]" },
	};

	(void)state;
	CHECK4(rows);
}

static void bytes_and_what_stays_unknown(void **state)
{
	static const struct row rows[] = {
		{ "INPUT -m u32 --u32 6&0xFF=1 -j DROP", "[bytes u32 (6&255=1:1)] [drop]" },
		{ "INPUT -m string --string abc --algo bm -j DROP", "[bytes string \"abc\" from 0 to 65535] [drop]" },
		{ "INPUT -m string ! --hex-string \"a|00|\" --algo kmp --from 1 --to 9 --icase -j DROP",
		  "[! bytes string \"a\\x00\" from 1 to 9 icase] [drop]" },
		{ "INPUT -m bpf --bytecode \"1,6 0 0 1\" -j DROP", "[bytes bpf 6,0,0,1] [drop]" },
		{ "INPUT -m helper --helper ftp -j DROP", "[unknown helper: needs the connection's helper \"helper ftp\"] [drop]" },
		{ "PREROUTING -m rpfilter --loose --invert -j DROP",
		  "[unknown rpfilter: needs the routing table \"loose invert\"] [drop]" },
	};

	(void)state;
	CHECK4(rows);
}

static void targets(void **state)
{
	static const struct row rows[] = {
		{ "INPUT -j REJECT", "[reject icmp-port-unreach]" },
		{ "INPUT -p tcp -j REJECT --reject-with tcp-reset", "[ip.proto in {0x6}] [reject tcp-rst]" },
		{ "INPUT -j LOG --log-prefix \"x: \" --log-level 7 --log-ip-options",
		  "[log LOG value 7 mask 4 ctmask 0 group 0 text \"x: \"]" },
		{ "INPUT -j NFLOG --nflog-group 5 --nflog-prefix p", "[log NFLOG value 0 mask 1 ctmask 0 group 5 text \"p\"]" },
		{ "INPUT -j MARK --set-xmark 0x1/0xff", "[mark value 1 mask ff ctmask 0 group 0]" },
		{ "INPUT -j MARK --or-mark 0x4", "[mark value 4 mask 4 ctmask 0 group 0]" },
		{ "INPUT -j MARK --xor-mark 0x1", "[mark value 1 mask 0 ctmask 0 group 0]" },
		{ "INPUT -j CONNMARK --save-mark --nfmask 0xf --ctmask 0xff",
		  "[save-mark value 0 mask f ctmask ff group 0]" },
		{ "INPUT -j CONNMARK --restore-mark", "[restore-mark value 0 mask ffffffff ctmask ffffffff group 0]" },
		{ "INPUT -j CONNMARK --set-xmark 0x5/0x7", "[ct-mark value 5 mask 7 ctmask 0 group 0]" },
		{ "PREROUTING -j CT --notrack", "[notrack value 0 mask 0 ctmask 0 group 0]" },
		{ "PREROUTING -j NOTRACK", "[notrack value 0 mask 0 ctmask 0 group 0]" },
		{ "PREROUTING -j CT --zone 5", "[other CT value 0 mask 0 ctmask 0 group 0 text \"zone 5\"]" },
		{ "FORWARD -j SET --map-set s src --map-mark",
		  "[other SET value 0 mask 0 ctmask 0 group 0 clobbers mark text \"map-set s 0 map-mark\" set \"s\" src]" },
		{ "INPUT -j CONNMARK --restore-mark --left-shift-mark 4", "[restore-mark value 0 mask ffffffff ctmask "
									   "ffffffff group 0 shift 4]" },
		{ "FORWARD -p tcp -m tcp --syn -j TCPMSS --clamp-mss-to-pmtu",
		  "[ip.proto in {0x6}] [tcp.flags & 0x17 == 0x2] [other TCPMSS value 0 mask 0 ctmask 0 group 0 clobbers tcp.mss text "
		  "\"clamp-mss-to-pmtu\"]" },
		{ "INPUT -j DSCP --set-dscp 0x2e", "[tos value b8 mask fc ctmask 0 group 0]" },
		{ "INPUT -j TOS --set-tos 0x10/0x3f", "[tos value 10 mask 3f ctmask 0 group 0]" },
		{ "INPUT -j TTL --ttl-dec 2", "[ttl value 2 mask 2 ctmask 0 group 0]" },
		{ "INPUT -j SET --add-set s src,dst --exist --timeout 9",
		  "[set-add value 0 mask 0 ctmask 0 group 0 set \"s\" src,dst exist timeout 9]" },
		{ "INPUT -j SET --del-set s src", "[set-del value 0 mask 0 ctmask 0 group 0 set \"s\" src]" },
		{ "INPUT -j NFQUEUE --queue-num 3", "[queue 3]" },
		{ "PREROUTING -p tcp -j DNAT --to-destination 192.0.2.1:80-81",
		  "[ip.proto in {0x6}] [dnat value 0 mask 0 ctmask 0 group 0 addr 0xc0000201-0xc0000201 port 80-81] [accept]" },
		{ "POSTROUTING -j SNAT --to-source 192.0.2.1-192.0.2.9",
		  "[snat value 0 mask 0 ctmask 0 group 0 addr 0xc0000201-0xc0000209] [accept]" },
		{ "POSTROUTING -j MASQUERADE", "[masquerade value 0 mask 0 ctmask 0 group 0] [accept]" },
		{ "PREROUTING -p tcp -j REDIRECT --to-ports 8080",
		  "[ip.proto in {0x6}] [redirect value 0 mask 0 ctmask 0 group 0 port 8080-8080] [accept]" },
		{ "PREROUTING -j NETMAP --to 192.0.2.0/24",
		  "[netmap value 0 mask 0 ctmask 0 group 0 addr 0xc0000200-0xffffff00] [accept]" },
		{ "PREROUTING -p tcp -j TPROXY --on-port 8080 --tproxy-mark 0x1/0x1",
		  "[ip.proto in {0x6}] [tproxy value 0 mask 0 ctmask 0 group 0 port 8080-8080 mark 1/1] [stolen]" },
		{ "POSTROUTING -j CLASSIFY --set-class 1:10",
		  "[other CLASSIFY value 0 mask 0 ctmask 0 group 0 text \"set-class 65552\"]" },
		{ "INPUT -j NFQUEUE --queue-balance 2:5 --queue-bypass",
		  "[other NFQUEUE value 0 mask 0 ctmask 0 group 0 text \"queue-balance 2-5 queue-bypass\"] [queue 2]" },
	};

	(void)state;
	CHECK4(rows);
}

static void address_lists_make_several_rules(void **state)
{
	struct fixture f;
	const struct chain *c;

	(void)state;
	start(&f);
	read_as(&f, LANG_IPTABLES, "r", STR("*filter\n-A INPUT -s 192.0.2.1,192.0.2.2 -d 192.0.2.3,192.0.2.4 -j DROP\nCOMMIT\n"));
	assert_int_equal(f.d.n_errors, 0);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("filter"), STR("INPUT"));
	assert_int_equal(c->rules.n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		const struct rule *r = c->rules.v[i];

		assert_int_equal(r->expansion, i + 1);
		assert_true(r->step[0].test.in.span[0].lo == 0xc0000201 + i / 2);
		assert_true(r->step[1].test.in.span[0].lo == 0xc0000203 + i % 2);
	}
	assert_string_equal(arena_cstr(f.a, c->rules.v[2]->text), "-s 192.0.2.2/32 -d 192.0.2.3/32 -j DROP");
	arena_destroy(f.a);
}

static void chains_hang_where_netfilter_hangs_them(void **state)
{
	struct fixture f;
	const struct chain *c;

	(void)state;
	start(&f);
	read_as(&f, LANG_IPTABLES, "r",
		STR("*nat\n:POSTROUTING ACCEPT [3:180]\n:PREROUTING ACCEPT\nCOMMIT\n*filter\n:FORWARD DROP\n-A INPUT -j U\n:U -\nCOMMIT\n"
		    "*raw\n:OUTPUT ACCEPT\nCOMMIT\n*security\n:INPUT ACCEPT\nCOMMIT\n*mangle\n:INPUT ACCEPT\nCOMMIT\n"));
	show_errors(&f);
	assert_int_equal(f.d.n_errors, 0);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("nat"), STR("POSTROUTING"));
	assert_int_equal(c->priority, 100);
	assert_int_equal(c->hook, HOOK_POSTROUTING);
	assert_true(c->is_nat && c->has_counts && c->packets == 3 && c->bytes == 180);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("nat"), STR("PREROUTING"));
	assert_int_equal(c->priority, -100);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("filter"), STR("FORWARD"));
	assert_int_equal(c->priority, 0);
	assert_int_equal(c->policy, VERDICT_DROP);
	assert_true(c->policy_stated);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("filter"), STR("INPUT"));
	assert_int_equal(c->policy, VERDICT_ACCEPT);
	assert_false(c->policy_stated);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("filter"), STR("U"));
	assert_int_equal(c->hook, HOOK_NONE);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("raw"), STR("OUTPUT"));
	assert_int_equal(c->priority, -300);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("security"), STR("INPUT"));
	assert_int_equal(c->priority, 50);
	c = policy_chain_find(f.rs, FAMILY_IP4, STR("mangle"), STR("INPUT"));
	assert_int_equal(c->priority, -150);
	arena_destroy(f.a);
}

static void rules_keep_comment_counts_and_text(void **state)
{
	struct fixture f;
	const struct rule *r;

	(void)state;
	start(&f);
	read_as(&f, LANG_IPTABLES, "r",
		STR("*filter\n[5:300] -A INPUT -p tcp --dport ssh -m comment --comment \"from home\" -j ACCEPT\n-A INPUT -j DROP\n"
		    "-A INPUT -j DROP\nCOMMIT\n"));
	assert_int_equal(f.d.n_errors, 0);
	r = f.rs->rules.v[0];
	assert_true(r->has_counts && r->packets == 5 && r->bytes == 300);
	assert_string_equal(arena_cstr(f.a, r->comment), "from home");
	assert_int_equal(r->expansion, 0);
	assert_int_equal(f.rs->rules.v[1]->duplicate, 0);
	assert_int_equal(f.rs->rules.v[2]->duplicate, 1);
	arena_destroy(f.a);
}

static void a_table_of_two_files_is_refused(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	read_as(&f, LANG_IPTABLES, "one", STR("*filter\n:INPUT DROP\nCOMMIT\n"));
	read_as(&f, LANG_IP6TABLES, "six", STR("*filter\n:INPUT DROP\nCOMMIT\n"));
	assert_int_equal(f.d.n_errors, 0);
	read_as(&f, LANG_IPTABLES, "two", STR("*nat\n:OUTPUT ACCEPT\nCOMMIT\n*filter\n:INPUT ACCEPT\nCOMMIT\n"));
	assert_int_equal(f.d.n_errors, 1);
	assert_non_null(strstr(f.d.all.v[f.d.all.n - 1].text.p, "(one:2)"));
	assert_int_equal(policy_chain_find(f.rs, FAMILY_IP4, STR("filter"), STR("INPUT"))->policy, VERDICT_DROP);
	arena_destroy(f.a);
}

static void languages_without_a_reader_say_so(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	read_as(&f, LANG_PF, "r", STR("pass in all\n"));
	assert_int_equal(f.d.n_errors, 1);
	assert_string_equal(f.d.all.v[0].text.p, "pf rules are not read yet");
	assert_int_equal(f.file.lang, LANG_PF);
	assert_int_equal(lang_print(f.a, &f.file, true).n, 0);
	arena_destroy(f.a);
}

static void nul_bytes_are_no_text(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	read_as(&f, LANG_IPTABLES, "r", STR("*filter\n:\0U -\nCOMMIT\n"));
	assert_int_equal(f.d.n_errors, 1);
	assert_int_equal(f.d.all.v[0].at.off, 9);
	assert_int_equal(f.rs->chains.n, 0);
	arena_destroy(f.a);
}

static void names_of_languages_go_both_ways(void **state)
{
	(void)state;
	for (unsigned l = 0; l < LANG_COUNT; l++)
		assert_int_equal(lang_by_name(str_from(lang_name((enum lang)l))), l);
	assert_int_equal(lang_by_name(STR("iptable")), LANG_COUNT);
}

/* Reads, prints, reads what was printed: the same model, and the same text again. */
static void round_trip(const char *path, const char *name)
{
	struct fixture f, g;
	struct str once, twice;
	enum lang l;
	uint32_t id;

	start(&f);
	assert_int_equal(source_open(&f.s, path, &id), 0);
	lang_read(f.rs, &f.d, id, LANG_AUTO, &f.file);
	show_errors(&f);
	if (f.d.n_errors)
		fail_msg("%s has errors", name);
	l = f.file.lang;
	once = lang_print(f.a, &f.file, true);
	start(&g);
	read_as(&g, l, "printed", once);
	show_errors(&g);
	if (g.d.n_errors)
		fail_msg("%s: what was printed has errors", name);
	twice = lang_print(g.a, &g.file, true);
	assert_true(str_eq(once, twice));
	assert_true(str_eq(policy_dump(f.a, f.rs), policy_dump(g.a, g.rs)));
	assert_int_equal(f.rs->rules.n, g.rs->rules.n);
	arena_destroy(f.a);
	arena_destroy(g.a);
}

static void collected_rulesets_survive_a_round_trip(void **state)
{
	const char *shared = getenv("WEIR_SHARED") ? getenv("WEIR_SHARED") : "../shared";
	struct arena *a = arena_create();
	DIR *dir = opendir(arena_printf(a, "%s/rulesets/iptables", shared).p);
	const struct dirent *e;
	unsigned n = 0;

	(void)state;
	while (dir && (e = readdir(dir))) {
		if (!str_ends(str_from(e->d_name), ".rules"))
			continue;
		round_trip(arena_printf(a, "%s/rulesets/iptables/%s", shared, e->d_name).p, e->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	arena_destroy(a);
	if (n == 0) {
		print_message("# no rulesets in WEIR_SHARED (%s)\n", shared);
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(core_options),
		cmocka_unit_test(transport_headers),
		cmocka_unit_test(network_headers),
		cmocka_unit_test(what_the_machine_knows),
		cmocka_unit_test(connections),
		cmocka_unit_test(memories),
		cmocka_unit_test(bytes_and_what_stays_unknown),
		cmocka_unit_test(targets),
		cmocka_unit_test(address_lists_make_several_rules),
		cmocka_unit_test(chains_hang_where_netfilter_hangs_them),
		cmocka_unit_test(rules_keep_comment_counts_and_text),
		cmocka_unit_test(a_table_of_two_files_is_refused),
		cmocka_unit_test(languages_without_a_reader_say_so),
		cmocka_unit_test(nul_bytes_are_no_text),
		cmocka_unit_test(names_of_languages_go_both_ways),
		cmocka_unit_test(collected_rulesets_survive_a_round_trip),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
