/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A packet as one line of the notation. See notation.h.
 *
 * The line is read again before it is given away. If it does not make the same bytes, they are written in hex, which
 * always does.
 */
#include <arpa/inet.h>

#include "packet/frame.h"
#include "packet/names.h"
#include "packet/notation.h"

static void print_hex(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		buf_printf(b, "%02x", (unsigned char)s.p[i]);
}

static bool all_zero(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i])
			return false;
	return true;
}

static void print_addr(struct buf *b, enum frame_net net, u128 addr)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t raw[16];
	int n = net == FRAME_NET_IP6 ? 16 : 4;

	for (int i = 0; i < n; i++)
		raw[i] = (uint8_t)(addr >> (8 * (n - 1 - i)));
	buf_printf(b, "%s", inet_ntop(n == 16 ? AF_INET6 : AF_INET, raw, text, sizeof text));
}

/* ---------- what the machine knew ---------- */

static void print_iface(struct buf *b, const char *key, const char *name, bool is_said)
{
	if (is_said)
		buf_printf(b, "%s=%s ", key, name[0] ? name : "-");
}

static void print_id(struct buf *b, const char *key, int64_t v)
{
	if (v == -2)
		buf_printf(b, "%s=- ", key);
	else if (v >= 0)
		buf_printf(b, "%s=%lld ", key, (long long)v);
}

static void print_time(struct buf *b, const struct packet *p)
{
	long long s = p->time_ns / 1000000000, ns = p->time_ns % 1000000000;

	if (!p->has_time || p->time_ns < 0)
		return;
	if (ns)
		buf_printf(b, "t=%lld.%09lld ", s, ns);
	else
		buf_printf(b, "t=%lld ", s);
}

static void print_meta(struct buf *b, const struct packet *p)
{
	if (p->id.n)
		buf_printf(b, "%.*s: ", STR_ARG(p->id));
	print_time(b, p);
	print_iface(b, "in", p->iif, p->has_iif);
	print_iface(b, "out", p->oif, p->has_oif);
	print_iface(b, "physin", p->physin, p->has_physin);
	print_iface(b, "physout", p->physout, p->has_physout);
	if (p->has_mark)
		buf_printf(b, "mark=0x%x ", p->mark);
	if (p->ct >= 0)
		buf_printf(b, "ct=%s ", names_of(&names_ct, (unsigned)p->ct));
	if (p->has_ct_mark)
		buf_printf(b, "ctmark=0x%x ", p->ct_mark);
	print_id(b, "uid", p->uid);
	print_id(b, "gid", p->gid);
	print_id(b, "cpu", p->cpu);
	print_id(b, "realm", p->realm);
	if (p->pkttype >= 0 && names_of(&names_pkttype, (unsigned)p->pkttype))
		buf_printf(b, "pkttype=%s ", names_of(&names_pkttype, (unsigned)p->pkttype));
	else if (p->pkttype >= 0)
		buf_printf(b, "pkttype=%d ", p->pkttype);
	if (p->vlan_meta >= 0)
		buf_printf(b, "vlan=%u(metadata,pcp=%u%s) ", p->vlan_meta & 0xfff, (unsigned)p->vlan_meta >> 13 & 7,
			   p->vlan_meta & 0x1000 ? ",dei" : "");
}

/* ---------- headers ---------- */

static void print_mac(struct buf *b, const char *key, const uint8_t m[6])
{
	buf_printf(b, "%s=%02x:%02x:%02x:%02x:%02x:%02x ", key, m[0], m[1], m[2], m[3], m[4], m[5]);
}

static void print_ether(struct buf *b, const struct frame *f)
{
	buf_printf(b, "eth ");
	if (f->has_src_mac)
		print_mac(b, "mac", f->src_mac);
	if (f->has_dst_mac)
		print_mac(b, "dstmac", f->dst_mac);
	for (unsigned i = 0; i < f->n_vlans; i++) {
		const struct frame_vlan *v = &f->vlans[i];
		unsigned pcp = v->tci >> 13;

		buf_printf(b, "vlan=%u", v->tci & 0xfffu);
		if (pcp || v->tci & 0x1000 || v->tpid == 0x88a8)
			buf_printf(b, "(%s,pcp=%u%s)", v->tpid == 0x88a8 ? "ad" : "q", pcp,
				   v->tci & 0x1000 ? ",dei" : "");
		buf_add(b, " ", 1);
	}
	if (f->ethertype >= 0)
		buf_printf(b, "type=0x%04x ", (unsigned)f->ethertype);
}

static void print_ext(struct buf *b, const struct frame_ext *e)
{
	static const char pad[] = "\1\4\0\0\0\0";
	bool is_ah = e->type == FRAME_AH;

	switch (e->type) {
	case FRAME_FRAGMENT:
		buf_printf(b, "frag(off=%u,mf=%u,id=%u,res=%u)", e->frag_off, e->more, e->id, e->reserved);
		return;
	case FRAME_ROUTING:
		buf_printf(b, "rt(type=%u,left=%u,seq=%u", e->rt_type, e->rt_left, e->seq);
		break;
	case FRAME_AH:
		buf_printf(b, "ah(spi=%u,seq=%u,res=%u", e->id, e->seq, e->reserved);
		break;
	default:
		buf_printf(b, "%s", e->type == FRAME_HOPOPTS ? "hbh" : "dst");
		if (e->body.n == 6 && memcmp(e->body.p, pad, 6) == 0)
			return;
		buf_printf(b, "(hex=");
		print_hex(b, e->body);
		buf_printf(b, ")");
		return;
	}
	if (is_ah && e->body.n == 0)
		buf_printf(b, ",len=12");
	else if (e->body.n && !(is_ah && e->body.n == 12 && all_zero(e->body))) {
		buf_printf(b, ",hex=");
		print_hex(b, e->body);
	}
	buf_printf(b, ")");
}

static void print_net(struct buf *b, const struct frame *f)
{
	buf_printf(b, "%s ", f->net == FRAME_NET_IP4 ? "ip" : f->net == FRAME_NET_IP6 ? "ip6" : "arp");
	print_addr(b, f->net == FRAME_NET_ARP ? FRAME_NET_IP4 : f->net, f->src);
	buf_printf(b, " > ");
	print_addr(b, f->net == FRAME_NET_ARP ? FRAME_NET_IP4 : f->net, f->dst);
	if (f->net == FRAME_NET_ARP) {
		buf_printf(b, " op=%u", f->arp_op);
		return;
	}
	if (f->ip_opts.n) {
		buf_printf(b, " ipopts=hex:");
		print_hex(b, f->ip_opts);
	}
	if (f->ttl != 64)
		buf_printf(b, " %s=%u", f->net == FRAME_NET_IP4 ? "ttl" : "hlim", f->ttl);
	if (f->tos)
		buf_printf(b, " tos=0x%02x", f->tos);
	if (f->ip_id)
		buf_printf(b, " id=%u", f->ip_id);
	if (f->flow)
		buf_printf(b, " flow=%u", f->flow);
	buf_printf(b, "%s%s", f->df ? " df" : "", f->evil ? " evil=1" : "");
	if (f->frag_off || f->more)
		buf_printf(b, " frag=%u mf=%u", f->frag_off, f->more);
	for (unsigned i = 0; i < f->n_exts; i++) {
		buf_printf(b, i ? "," : " ext=");
		print_ext(b, &f->exts[i]);
	}
	if (f->bad_len >= 0)
		buf_printf(b, " badlen=%lld", (long long)f->bad_len);
	if (f->ip_sum >= 0)
		buf_printf(b, " ipsum=0x%04llx", (unsigned long long)f->ip_sum);
}

static void print_tcp(struct buf *b, const struct frame *f)
{
	buf_printf(b, " flags=");
	for (unsigned i = 0; i < 8; i++)
		if (f->tcp_flags >> i & 1)
			buf_add(b, &"FSRPAUEC"[i], 1);
	if (f->seq)
		buf_printf(b, " seq=%u", f->seq);
	if (f->ack)
		buf_printf(b, " ack=%u", f->ack);
	if (f->window != 65535)
		buf_printf(b, " win=%u", f->window);
	if (f->urgent)
		buf_printf(b, " urp=%u", f->urgent);
	if (f->doff >= 0)
		buf_printf(b, " doff=%d", f->doff);
	if (f->tcp_opts.n == 4 && f->tcp_opts.p[0] == 2 && f->tcp_opts.p[1] == 4) {
		buf_printf(b, " mss=%u", (unsigned)(uint8_t)f->tcp_opts.p[2] << 8 | (uint8_t)f->tcp_opts.p[3]);
	} else if (f->tcp_opts.n) {
		buf_printf(b, " opts=hex:");
		print_hex(b, f->tcp_opts);
	}
}

/* Chunks of 4 bytes each by name, others in hex. */
static void print_sctp(struct buf *b, const struct frame *f)
{
	struct str c = f->chunks;
	bool plain = c.n > 0 && c.n % 4 == 0;

	if (f->seq)
		buf_printf(b, " seq=%u", f->seq);
	for (size_t i = 0; plain && i < c.n; i += 4)
		plain = c.p[i + 2] == 0 && c.p[i + 3] == 4;
	buf_printf(b, plain ? " chunks=" : " chunks=hex:");
	for (size_t i = 0; plain && i < c.n; i += 4) {
		const char *name = names_of(&names_sctp, (uint8_t)c.p[i]);

		if (name)
			buf_printf(b, "%s%s:%u", i ? "," : "", name, (unsigned)(uint8_t)c.p[i + 1]);
		else
			buf_printf(b, "%s%u:%u", i ? "," : "", (unsigned)(uint8_t)c.p[i], (unsigned)(uint8_t)c.p[i + 1]);
	}
	if (!plain)
		print_hex(b, c);
}

static void print_l4(struct buf *b, const struct frame *f)
{
	if (f->l4 < 0) {
		buf_printf(b, " proto=%d", f->proto);
		return;
	}
	buf_printf(b, " %s", names_of(&names_proto, (unsigned)f->l4));
	if (frame_has_ports(f->l4))
		buf_printf(b, " %u > %u", f->sport, f->dport);
	switch (f->l4) {
	case FRAME_TCP:
		print_tcp(b, f);
		break;
	case FRAME_SCTP:
		print_sctp(b, f);
		break;
	case FRAME_DCCP:
		buf_printf(b, " type=%u", f->dccp_type);
		if (f->seq)
			buf_printf(b, " seq=%u", f->seq);
		break;
	case FRAME_ICMP:
	case FRAME_ICMP6:
		buf_printf(b, " type=%u", f->icmp_type);
		if (f->icmp_code)
			buf_printf(b, "/%u", f->icmp_code);
		if (f->icmp_rest)
			buf_printf(b, " rest=0x%08x", f->icmp_rest);
		break;
	case FRAME_ESP:
	case FRAME_AH:
		buf_printf(b, " spi=%u", f->spi);
		if (f->seq)
			buf_printf(b, " seq=%u", f->seq);
		break;
	}
	if (f->l4_sum >= 0)
		buf_printf(b, " sum=0x%llx", (unsigned long long)f->l4_sum);
}

static void print_blob(struct buf *b, const char *key, struct str s)
{
	if (all_zero(s)) {
		buf_printf(b, " %s=%zuB", key, s.n);
		return;
	}
	buf_printf(b, " %s=hex:", key);
	print_hex(b, s);
}

static void print_payload(struct buf *b, const struct frame *f)
{
	if (f->has_payload)
		print_blob(b, "payload", f->payload);
	if (f->pad.n)
		print_blob(b, "pad", f->pad);
	if (f->cut >= 0)
		buf_printf(b, " cut=%lld", (long long)f->cut);
}

/* ---------- the line ---------- */

static struct str print_bytes(struct arena *a, const struct packet *p)
{
	static const char *const link[] = { [PACKET_LINK_ETHER] = "eth ", [PACKET_LINK_IP] = "", [PACKET_LINK_OTHER] = "other " };
	struct buf b = { .a = a };

	print_meta(&b, p);
	if (p->len < p->wire_len)
		buf_printf(&b, "cut=%u ", p->len);
	buf_printf(&b, "%shex ", link[p->link]);
	print_hex(&b, (struct str){ (const char *)p->bytes, p->len });
	for (uint32_t i = p->len; i < p->wire_len && i < FRAME_MAX_BYTES; i++)
		buf_add(&b, "00", 2);
	return str_trim(buf_str(&b));
}

static bool reads_back(struct arena *a, struct str line, const struct packet *p)
{
	struct packet q;

	return notation_parse(a, NULL, line, (struct loc){ 0 }, &q) && q.link == p->link && q.len == p->len &&
	       q.wire_len == p->wire_len && (p->len == 0 || memcmp(q.bytes, p->bytes, p->len) == 0);
}

struct str notation_print(struct arena *a, const struct packet *p)
{
	struct buf b = { .a = a };
	struct frame f;
	struct str line;

	if (p->len == 0 && p->wire_len == 0) {
		if (p->id.n)
			buf_printf(&b, "%.*s: ", STR_ARG(p->id));
		buf_add(&b, "-", 1);
		return buf_str(&b);
	}
	if (!frame_decode(a, p, &f))
		return print_bytes(a, p);
	print_meta(&b, p);
	if (f.is_ether)
		print_ether(&b, &f);
	if (f.net != FRAME_NET_NONE)
		print_net(&b, &f);
	if (f.net == FRAME_NET_IP4 || f.net == FRAME_NET_IP6)
		print_l4(&b, &f);
	print_payload(&b, &f);
	line = str_trim(buf_str(&b));
	return reads_back(a, line, p) ? line : print_bytes(a, p);
}
