/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Classic BPF at a device answers as the capture library's own filter does: 300 expressions, over packets in the notation and
 * over the Ethernet captures of $WEIR_SHARED/pcaps, every packet that was captured whole. Expressions are primitives, their
 * negations, and pairs of them drawn with a fixed seed.
 */
#include <glob.h>
#include <pcap.h>
#include <stdlib.h>

#include "unit/eval_kit.h"

#include "packet/capture.h"

enum { EXPRESSIONS = 300 };

static const char *const primitives[] = {
	"ip", "ip6", "arp", "tcp", "udp", "icmp", "icmp6", "ip proto 47", "ip6 proto 6", "vlan", "port 80", "port 53",
	"tcp dst port 22", "tcp src port 80", "udp port 53", "portrange 1-1023", "tcp portrange 1024-65535", "host 192.0.2.1",
	"src net 10.0.0.0/8", "dst net 192.168.0.0/16", "net 198.51.100.0/24", "ip6 net 2001:db8::/32", "host 2001:db8::1",
	"ether broadcast", "ether multicast", "ip multicast", "greater 100", "less 64", "len = 60", "tcp[tcpflags] & tcp-syn != 0",
	"tcp[13] = 2", "tcp[tcpflags] & (tcp-rst|tcp-fin) = 0", "ip[8] < 65", "ip[0] & 0xf > 5", "ip[6:2] & 0x1fff != 0",
	"icmp[icmptype] = icmp-echo", "ether[12:2] > 0x600", "ip[2:2] - 20 > ip[8] * 2", "ip[4:2] / 3 > 1000", "ip[16] % 7 = 3",
	"ether[0] & 1 = 0", "ip6[6] = 58", "udp[4:2] >= 30", "tcp[((tcp[12:1] & 0xf0) >> 2):4] = 0x47455420", "ether proto 0x8847",
	"ip[10:2] ^ 0xffff > 0x7fff", "ip[1] << 2 = 0", "mpls", "pppoes", "ether[100:4] > 5", "ip[ip[0] & 15] > 9",
};

static const char *const packets[] = {
	"in=eth0 eth ip 192.0.2.1 > 192.0.2.2 tcp 1024 > 22 flags=S",
	"in=eth0 eth ip 192.0.2.1 > 192.0.2.2 tcp 80 > 40000 flags=PA payload=\"GET / HTTP\"",
	"in=eth0 eth ip 198.51.100.7 > 192.0.2.1 ihl=6 tcp 4 > 22 flags=S",
	"in=eth0 eth ip 10.1.2.3 > 192.168.0.9 udp 53 > 53 payload=\"abcd\"",
	"in=eth0 eth icmp 10.1.2.3 > 192.168.0.9 type=8",
	"in=eth0 eth ip 192.0.2.1 > 192.0.2.2 proto=6 frag=3 payload=\"abcdefgh\"",
	"in=eth0 eth ip6 2001:db8::1 > 2001:db8::2 udp 1 > 53",
	"in=eth0 eth ip6 2001:db8::1 > 2001:db8::2 tcp 1 > 80 flags=S",
	"in=eth0 eth icmp6 2001:db8::1 > 2001:db8::2 type=128",
	"in=eth0 eth vlan=5 ip 192.0.2.1 > 192.0.2.2 tcp 1 > 22 flags=S",
	"in=eth0 eth ip 192.0.2.1 > 192.0.2.2 proto=47 payload=\"0000\"",
};

struct both {
	struct kit *k;
	pcap_t *dead;
	struct bpf_program prog[EXPRESSIONS];
	char *text[EXPRESSIONS];
	struct arena *pass;
	unsigned n_judged, n_matches, n_left_out;
};

static uint32_t draw(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

static void compile(struct both *b)
{
	uint32_t seed = 7, np = sizeof primitives / sizeof *primitives;

	for (unsigned i = 0; i < EXPRESSIONS;) {
		const char *x = primitives[i < np ? i : draw(&seed, np)], *y = primitives[draw(&seed, np)];
		const char *forms[] = { "%s", "not (%s)", "(%s) and (%s)", "(%s) or not (%s)", "(%s) and not (%s)" };
		char *text = arena_new(b->k->a, char, 256);

		snprintf(text, 256, i < np ? forms[0] : forms[1 + draw(&seed, 4)], x, y);
		if (pcap_compile(b->dead, &b->prog[i], text, 1, 0xffffff)) {
			if (i < np)
				fail_msg("'%s' is not compiled: %s", text, pcap_geterr(b->dead));
			continue; /* a pair that the compiler knows to be impossible */
		}
		b->text[i++] = text;
	}
}

static void make_chains(struct both *b)
{
	for (unsigned fam = 0; fam < FAMILY_ALL; fam++) {
		struct chain *c = kit_chain(b->k, (enum family)fam, "tc", "ingress", HOOK_INGRESS, 0);

		*vec_add(b->k->a, &c->devices) = STR("*");
		for (unsigned i = 0; i < EXPRESSIONS; i++) {
			struct bytes_spec *s = kit_bytes(b->k, kit_rule(b->k, c), BYTES_CBPF);

			s->from_frame = true;
			s->n_insn = b->prog[i].bf_len;
			s->insn = arena_new(b->k->a, struct bytes_insn, s->n_insn);
			for (uint32_t n = 0; n < s->n_insn; n++)
				s->insn[n] = (struct bytes_insn){ b->prog[i].bf_insns[n].code, b->prog[i].bf_insns[n].jt,
								  b->prog[i].bf_insns[n].jf, b->prog[i].bf_insns[n].k };
		}
	}
	policy_number(b->k->rs);
	b->k->opt.hook = HOOK_INGRESS;
	b->k->e = eval_create(b->k->a, b->k->rs, &b->k->opt);
}

static void judge(struct both *b, const struct packet *p, const char *where, unsigned n)
{
	struct pcap_pkthdr h = { .caplen = p->len, .len = p->len };
	struct eval_result r = { 0 };
	bool hit[EXPRESSIONS] = { false };

	if (p->link != PACKET_LINK_ETHER || p->wire_len > p->len || p->len < 14) {
		b->n_left_out++;
		return;
	}
	arena_reset(b->pass);
	eval_packet(b->k->e, b->pass, p, &r);
	if (r.is_malformed) { /* no rule is asked */
		b->n_left_out++;
		return;
	}
	for (size_t i = 0; i < r.hits.n; i++)
		hit[r.hits.v[i]->index] = true;
	for (unsigned i = 0; i < EXPRESSIONS; i++) {
		bool is_match = pcap_offline_filter(&b->prog[i], &h, p->bytes) != 0;

		if (is_match != hit[i])
			fail_msg("%s, packet %u: '%s' is %s for the capture library", where, n, b->text[i], is_match ? "true" : "false");
		b->n_matches += is_match;
	}
	b->n_judged++;
}

static int setup(void **state)
{
	struct both *b;

	kit_setup(state);
	b = arena_new(((struct kit *)*state)->a, struct both, 1);
	b->k = *state;
	b->dead = pcap_open_dead(DLT_EN10MB, 262144);
	b->pass = arena_create();
	compile(b);
	make_chains(b);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct both *b = *state;

	for (unsigned i = 0; i < EXPRESSIONS; i++)
		pcap_freecode(&b->prog[i]);
	pcap_close(b->dead);
	arena_destroy(b->pass);
	arena_destroy(b->k->a);
	return 0;
}

static void packets_in_the_notation_are_judged_alike(void **state)
{
	struct both *b = *state;

	for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
		struct packet p;

		if (!notation_parse(b->k->a, &b->k->d, str_from(packets[i]), (struct loc){ 0 }, &p))
			fail_msg("%s: not read", packets[i]);
		judge(b, &p, packets[i], 0);
	}
	assert_int_equal(b->n_judged, sizeof packets / sizeof *packets);
	assert_true(b->n_matches > EXPRESSIONS);
}

static void captures_are_judged_alike(void **state)
{
	struct both *b = *state;
	const char *shared = getenv("WEIR_SHARED");
	glob_t g = { 0 };

	b->n_judged = b->n_matches = b->n_left_out = 0;
	if (!shared || glob(arena_cstr(b->k->a, arena_printf(b->k->a, "%s/pcaps/*.pcap*", shared)), 0, NULL, &g)) {
		print_message("# WEIR_SHARED is not set, or has no captures in pcaps\n");
		skip();
	}
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct str why;
		struct capture *c = capture_open(b->k->a, g.gl_pathv[i], &why);
		struct packet p;

		for (unsigned n = 1; c && n <= 400 && capture_next(c, &p) > 0; n++)
			judge(b, &p, g.gl_pathv[i], n);
		if (c)
			capture_close(c);
	}
	globfree(&g);
	print_message("# %u packets, %u matches; %u packets left out: cut short, malformed or not Ethernet\n", b->n_judged,
		      b->n_matches, b->n_left_out);
	assert_true(b->n_judged > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(packets_in_the_notation_are_judged_alike),
					    cmocka_unit_test(captures_are_judged_alike) };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
