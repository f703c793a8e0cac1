/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reading captures. See capture.h.
 *
 * libpcap knows the file formats and gives a record: link type, bytes, length on the wire. Here the link header in
 * front is taken off, one function per kind. Nothing in a record is believed: lengths are checked against the bytes.
 *
 *     SLL   [0000 host][0001 ether][0006][6 bytes + 2][0800]  IP...    -> pkttype, IP
 *     NFLOG [02 family][version][id] [len type value]...               -> mark, owner, IP (in the value of type 9)
 */
#include "packet/capture.h"

#include "base/library.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <sys/stat.h>

/* A record: n bytes are here, `wire` were sent. take() cuts a link header off its front. */
struct record {
	const uint8_t *p;
	uint32_t n, wire;
};

struct capture {
	struct arena *a;
	struct str path;
	pcap_t *pcap;
	uint64_t size, packets;
	const struct link_row *link;
	struct str error;
};

struct link_row {
	int type;
	void (*read)(struct packet *p, struct record r);
};

enum { TYPE_IP4 = 0x0800, TYPE_IP6 = 0x86dd, TYPE_Q = 0x8100, TYPE_AD = 0x88a8 };

static unsigned get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static struct record take(struct record r, uint32_t header)
{
	if (header > r.n)
		header = r.n;
	return (struct record){ r.p + header, r.n - header, r.wire > header ? r.wire - header : 0 };
}

static void give(struct packet *p, struct record r, enum packet_link link)
{
	p->link = link;
	p->bytes = r.p;
	p->len = r.n;
	p->wire_len = r.wire > r.n ? r.wire : r.n;
}

/* An Ethernet type and what it says is behind it; VLAN tags that the pseudo header left in place are looked through. */
static void give_by_type(struct packet *p, struct record r, unsigned type)
{
	while ((type == TYPE_Q || type == TYPE_AD) && r.n >= 4) {
		if (p->vlan_meta >= 0 && (get16(r.p + 2) == TYPE_Q || get16(r.p + 2) == TYPE_AD))
			break; /* more tags than two */
		if (p->vlan_meta < 0)
			p->vlan_meta = (int)get16(r.p);
		type = get16(r.p + 2);
		r = take(r, 4);
	}
	give(p, r, type == TYPE_IP4 || type == TYPE_IP6 ? PACKET_LINK_IP : PACKET_LINK_OTHER);
}

/* ---------- link types ---------- */

static void read_ether(struct packet *p, struct record r)
{
	give(p, r, PACKET_LINK_ETHER);
}

static void read_raw(struct packet *p, struct record r)
{
	give(p, r, PACKET_LINK_IP);
}

/* Kinds 0-3 are the kernel's packet types; 4 is "sent by us", which says nothing about what rules saw. */
static void set_pkttype(struct packet *p, unsigned kind)
{
	if (kind <= 3)
		p->pkttype = (int)kind;
}

static void read_sll(struct packet *p, struct record r)
{
	if (r.n < 16) {
		give(p, r, PACKET_LINK_OTHER);
		return;
	}
	set_pkttype(p, get16(r.p));
	give_by_type(p, take(r, 16), get16(r.p + 14));
}

static void read_sll2(struct packet *p, struct record r)
{
	if (r.n < 20) {
		give(p, r, PACKET_LINK_OTHER);
		return;
	}
	set_pkttype(p, r.p[10]);
	give_by_type(p, take(r, 20), get16(r.p));
}

/* The address family of BSD systems, in the byte order of whoever captured, or big-endian. */
static bool is_ip_family(uint32_t af)
{
	return af == 2 || af == 10 || af == 24 || af == 28 || af == 30;
}

static void read_null(struct packet *p, struct record r)
{
	bool is_ip = r.n >= 4 && (is_ip_family(get32(r.p)) || is_ip_family(__builtin_bswap32(get32(r.p))));

	give(p, is_ip ? take(r, 4) : r, is_ip ? PACKET_LINK_IP : PACKET_LINK_OTHER);
}

/* [ff 03] protocol in one byte (odd) or two. */
static void read_ppp(struct packet *p, struct record r)
{
	unsigned proto, header;

	if (r.n >= 2 && r.p[0] == 0xff && r.p[1] == 0x03)
		r = take(r, 2);
	if (r.n < 2) {
		give(p, r, PACKET_LINK_OTHER);
		return;
	}
	header = r.p[0] & 1 ? 1 : 2;
	proto = header == 1 ? r.p[0] : get16(r.p);
	give(p, take(r, header), proto == 0x21 || proto == 0x57 ? PACKET_LINK_IP : PACKET_LINK_OTHER);
}

/* One byte in front: 0 received, 1 sent. */
static void read_ppp_dir(struct packet *p, struct record r)
{
	read_ppp(p, take(r, 1));
}

enum { NFLOG_MARK = 2, NFLOG_PAYLOAD = 9, NFLOG_UID = 11, NFLOG_GID = 14 };

/* The length that the IP header says: NFLOG's own record is no longer than what was copied. */
static uint32_t ip_length(struct record r)
{
	if (r.n >= 20 && r.p[0] >> 4 == 4)
		return get16(r.p + 2);
	if (r.n >= 40 && r.p[0] >> 4 == 6)
		return get16(r.p + 4) + 40u;
	return 0;
}

static void read_nflog(struct packet *p, struct record r)
{
	unsigned family = r.n ? r.p[0] : 0;
	struct record ip = { r.p, 0, 0 };

	r = take(r, 4);
	while (r.n >= 4) {
		uint16_t head[2]; /* length with this header, type: in this machine's order, as libpcap gives them */
		uint32_t value;

		memcpy(head, r.p, 4);
		if (head[0] < 4)
			break;
		value = head[0] - 4u < r.n - 4 ? head[0] - 4u : r.n - 4;
		switch (head[1] & 0x7fff) {
		case NFLOG_PAYLOAD:
			ip = (struct record){ r.p + 4, value, head[0] - 4u };
			break;
		case NFLOG_MARK:
			p->has_mark = value >= 4;
			p->mark = value >= 4 ? get32(r.p + 4) : 0;
			break;
		case NFLOG_UID:
			p->uid = value >= 4 ? (int64_t)get32(r.p + 4) : -1;
			break;
		case NFLOG_GID:
			p->gid = value >= 4 ? (int64_t)get32(r.p + 4) : -1;
			break;
		}
		r = take(r, (head[0] + 3u) / 4 * 4);
	}
	if (ip_length(ip) > ip.wire)
		ip.wire = ip_length(ip);
	give(p, ip, family == 2 || family == 10 ? PACKET_LINK_IP : PACKET_LINK_OTHER);
}

/* DLT_RAW is 12 on the systems whose files we see; libpcap maps the others. */
static const struct link_row links[] = {
	{ DLT_EN10MB, read_ether },
	{ DLT_RAW, read_raw },
	{ DLT_IPV4, read_raw },
	{ DLT_IPV6, read_raw },
	{ DLT_LINUX_SLL, read_sll },
	{ DLT_LINUX_SLL2, read_sll2 },
	{ DLT_NFLOG, read_nflog },
	{ DLT_PPP, read_ppp },
	{ DLT_PPP_SERIAL, read_ppp },
	{ DLT_PPP_PPPD, read_ppp_dir },
	{ DLT_NULL, read_null },
	{ DLT_LOOP, read_null },
};

/* ---------- the file ---------- */

static const struct link_row *link_find(int type)
{
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (links[i].type == type)
			return &links[i];
	return NULL;
}

static struct {
	__typeof__(pcap_close) *close;
	__typeof__(pcap_datalink) *datalink;
	__typeof__(pcap_datalink_val_to_name) *datalink_val_to_name;
	__typeof__(pcap_file) *file;
	__typeof__(pcap_fopen_offline_with_tstamp_precision) *fopen_offline_with_tstamp_precision;
	__typeof__(pcap_geterr) *geterr;
	__typeof__(pcap_next_ex) *next_ex;
} lib;

static bool bind_library(void)
{
	static const char *const names[] = { "libpcap.so.0.8", "libpcap.so.1", "libpcap.so", NULL };
#define S(name) { "pcap_" #name, (void **)&lib.name }
	static const struct library_symbol symbols[] = {
		S(close), S(datalink), S(datalink_val_to_name), S(file), S(fopen_offline_with_tstamp_precision), S(geterr), S(next_ex),
	};
#undef S

	return library_bind(names, symbols, sizeof symbols / sizeof *symbols);
}

static FILE *open_file(struct arena *a, const char *path, uint64_t *size, struct str *why)
{
	FILE *f = strcmp(path, "-") == 0 ? fdopen(fileno(stdin), "rb") : fopen(path, "rb");
	struct stat st;

	if (!f) {
		*why = arena_printf(a, "%s: %s", path, strerror(errno));
		return NULL;
	}
	*size = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return f;
}

static const char *link_text(int type)
{
	const char *name = lib.datalink_val_to_name(type);

	return name ? name : "unnamed";
}

struct capture *capture_open(struct arena *a, const char *path, struct str *why)
{
	struct capture *c = arena_new(a, struct capture, 1);
	char text[PCAP_ERRBUF_SIZE] = "";
	FILE *f;
	int type;

	*why = (struct str){ 0 };
	if (!bind_library()) {
		*why = arena_printf(a, "captures are read by libpcap, which cannot be loaded: %s", library_error());
		return NULL;
	}
	c->a = a;
	c->path = arena_str(a, path, strlen(path));
	f = open_file(a, path, &c->size, why);
	if (!f)
		return NULL;
	c->pcap = lib.fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, text);
	if (!c->pcap) {
		*why = arena_printf(a, "%s: not a capture that can be read: %s", path, text);
		if (f != stdin)
			fclose(f);
		return NULL;
	}
	type = lib.datalink(c->pcap);
	c->link = link_find(type);
	if (c->link)
		return c;
	*why = arena_printf(a,
			    "%s: link type %s (%d) is not supported; Ethernet, raw IP, Linux cooked (SLL, SLL2), NFLOG, PPP and "
			    "BSD loopback are",
			    path, link_text(type), type);
	lib.close(c->pcap);
	return NULL;
}

int capture_next(struct capture *c, struct packet *out)
{
	struct pcap_pkthdr *head;
	const u_char *bytes;
	int got = lib.next_ex(c->pcap, &head, &bytes);

	if (got == PCAP_ERROR_BREAK)
		return 0;
	if (got != 1) {
		const char *text = lib.geterr(c->pcap);

		c->error = arena_printf(c->a, "%.*s: after packet %llu: %s%s", STR_ARG(c->path),
					(unsigned long long)c->packets, text,
					strstr(text, "different from") ? "; editcap -F pcap makes a file of one kind" : "");
		return -1;
	}
	c->packets++;
	packet_init(out);
	out->has_time = out->time_is_epoch = true;
	out->time_ns = (int64_t)head->ts.tv_sec * 1000000000 + head->ts.tv_usec; /* nanoseconds, as asked for */
	c->link->read(out, (struct record){ bytes, head->caplen, head->len > head->caplen ? head->len : head->caplen });
	return 1;
}

struct str capture_error(const struct capture *c)
{
	return c->error;
}

const char *capture_link_name(const struct capture *c)
{
	return link_text(lib.datalink(c->pcap));
}

uint64_t capture_packets(const struct capture *c)
{
	return c->packets;
}

uint64_t capture_bytes_read(const struct capture *c)
{
	off_t at = ftello(lib.file(c->pcap));

	return at > 0 ? (uint64_t)at : 0;
}

uint64_t capture_size(const struct capture *c)
{
	return c->size;
}

void capture_close(struct capture *c)
{
	lib.close(c->pcap);
}
