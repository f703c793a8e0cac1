/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A packet in a few words. See brief.h. */
#include "cli/brief.h"

#include "packet/names.h"
#include "policy/addr.h"

static bool known(const struct facts *f, enum field x)
{
	return f->has[x] == EVAL_YES && f->known[x];
}

static unsigned value(const struct facts *f, enum field x)
{
	return (unsigned)f->v[x];
}

static void add_end(struct buf *b, const struct facts *f, enum field addr, enum field port)
{
	bool brackets = f->family == FAMILY_IP6 && known(f, port);

	buf_printf(b, "%s", brackets ? "[" : "");
	addr_print(b, f->family, f->v[addr]);
	buf_printf(b, "%s", brackets ? "]" : "");
	if (known(f, port))
		buf_printf(b, ":%u", value(f, port));
}

static void add_flags(struct buf *b, unsigned flags)
{
	static const char letters[] = "FSRPAUEC";

	buf_printf(b, " flags=");
	for (unsigned i = 0; i < 8; i++)
		if (flags >> i & 1)
			buf_add(b, &letters[i], 1);
}

struct str brief_packet(struct arena *a, const struct packet *p, const struct facts *f)
{
	struct buf b = { .a = a };
	const char *proto;
	enum field icmp = f->family == FAMILY_IP6 ? FIELD_ICMP6 : FIELD_ICMP;

	if (!f->is_ip)
		return arena_printf(a, "not IP, %u bytes", p->wire_len);
	if (!known(f, FIELD_SRC) || !known(f, FIELD_DST))
		return arena_printf(a, "%s, %u bytes", f->family == FAMILY_IP6 ? "ip6" : "ip", p->wire_len);
	proto = known(f, FIELD_PROTO) ? names_of(&names_proto, value(f, FIELD_PROTO)) : NULL;
	if (proto)
		buf_printf(&b, "%s ", proto);
	else
		buf_printf(&b, "proto=%u ", value(f, FIELD_PROTO));
	add_end(&b, f, FIELD_SRC, FIELD_SPORT);
	buf_printf(&b, " > ");
	add_end(&b, f, FIELD_DST, FIELD_DPORT);
	if (known(f, FIELD_TCP_FLAGS))
		add_flags(&b, value(f, FIELD_TCP_FLAGS));
	if (known(f, icmp))
		buf_printf(&b, " type=%u/%u", value(f, icmp) >> 8, value(f, icmp) & 255);
	if (known(f, FIELD_FRAG) && f->v[FIELD_FRAG])
		buf_printf(&b, " later-fragment");
	if (known(f, FIELD_LENGTH))
		buf_printf(&b, " len=%u", value(f, FIELD_LENGTH));
	return buf_str(&b);
}
