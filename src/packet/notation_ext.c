/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lists of the packet notation: IPv6 extension headers, options, chunks.
 *
 *     ext=hbh(opt=5:0000),rt(type=0,left=1,addr=2001:db8::9),frag(off=3,mf=1,id=7),ah(spi=5),dst
 *     opts=mss:05b4,nop,wscale,34:aabb        ipopts=rr,nop        opts=hex:02040000        chunks=init,data:3
 */
#include "packet/notation_state.h"

/* ---------- options ---------- */

/* What an option carries when only its name is said. Kinds 0 and 1 have no length byte at all. */
static struct str default_body(const struct names_table *t, uint64_t kind)
{
	if (t == &names_tcp_opt)
		switch (kind) {
		case 2:
			return STR("\x05\xb4");
		case 3:
			return STR("\x07");
		case 5:
		case 8:
			return STR("\0\0\0\0\0\0\0\0");
		case 19:
			return STR("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
		case 30:
			return STR("\0\0");
		}
	else
		switch (kind) {
		case 7:
		case 131:
		case 137:
			return STR("\4\0\0\0\0");
		case 68:
			return STR("\5\0\0\0\0\0");
		case 148:
			return STR("\0\0");
		}
	return STR("");
}

void notation_options(struct notation *n, struct str list, const struct names_table *t, struct str *opts)
{
	struct buf b = { .a = n->a };
	struct str item, body;

	buf_add(&b, opts->p, opts->n);
	if (str_starts(list, "hex:")) {
		if (notation_hex(n, str_slice(list, 4, list.n), &body))
			buf_add(&b, body.p, body.n);
		*opts = buf_str(&b);
		return;
	}
	while (notation_item(&list, &item)) {
		struct str hex, name = str_cut(item, ':', &hex, NULL);
		uint64_t kind;

		if (!notation_named(n, t, name, 255, &kind))
			continue;
		body = default_body(t, kind);
		if (hex.p && !notation_hex(n, hex, &body))
			continue;
		buf_add(&b, &(char){ (char)kind }, 1);
		if (kind < 2)
			continue;
		buf_add(&b, &(char){ (char)(body.n + 2) }, 1);
		buf_add(&b, body.p, body.n);
	}
	*opts = buf_str(&b);
}

/* chunks=NAME[:FLAGS],...: each of 4 bytes, type, flags and length. */
void notation_chunks(struct notation *n, struct str list)
{
	struct buf b = { .a = n->a };
	struct str item;

	if (str_starts(list, "hex:")) {
		notation_hex(n, str_slice(list, 4, list.n), &n->f.chunks);
		return;
	}
	buf_add(&b, "", 0);
	while (notation_item(&list, &item)) {
		struct str flags, name = str_cut(item, ':', &flags, NULL);
		uint64_t type = 0, bits = 0;

		if (!notation_named(n, &names_sctp, name, 255, &type) || (flags.p && !notation_number(n, flags, 255, &bits)))
			continue;
		buf_add(&b, (const char[]){ (char)type, (char)bits, 0, 4 }, 4);
	}
	n->f.chunks = buf_str(&b);
}

/* ---------- extension headers ---------- */

struct ext_read {
	struct notation *n;
	struct frame_ext e;
	uint64_t len; /* of the whole header; 0: as long as it needs */
};

static void append(struct ext_read *x, const void *p, size_t len)
{
	struct buf b = { .a = x->n->a };

	buf_add(&b, x->e.body.p, x->e.body.n);
	buf_add(&b, p, len);
	x->e.body = buf_str(&b);
}

static void ext_opt(struct ext_read *x, struct str v)
{
	struct str hex, body = { 0 }, name = str_cut(v, ':', &hex, NULL);
	uint64_t kind;

	if (!notation_number(x->n, name, 255, &kind) || (hex.p && !notation_hex(x->n, hex, &body)))
		return;
	append(x, &(char){ (char)kind }, 1);
	if (kind == 0)
		return;
	append(x, &(char){ (char)body.n }, 1);
	append(x, body.p, body.n);
}

static void ext_addr(struct ext_read *x, struct str v)
{
	enum frame_net net = FRAME_NET_NONE;
	char b[16];
	u128 addr;

	if (!notation_address(x->n, v, &net, &addr))
		return;
	if (net != FRAME_NET_IP6)
		notation_error(x->n, v, "a routing header holds IPv6 addresses");
	for (size_t i = 0; i < 16; i++)
		b[i] = (char)(addr >> (8 * (15 - i)));
	append(x, b, 16);
}

static void ext_hex(struct ext_read *x, struct str v)
{
	struct str bytes;

	if (notation_hex(x->n, v, &bytes))
		append(x, bytes.p, bytes.n);
}

enum { ON_FRAG = 1, ON_RT = 2, ON_AH = 4, ON_OPTS = 8 };

static unsigned ext_kind(unsigned type)
{
	return type == FRAME_FRAGMENT ? ON_FRAG : type == FRAME_ROUTING ? ON_RT : type == FRAME_AH ? ON_AH : ON_OPTS;
}

/* A key that is a number: the headers that have it, and which member keeps it. */
static bool ext_number(struct ext_read *x, struct str k, struct str v)
{
	enum where { OFF, MORE, RESERVED, ID, RT_TYPE, RT_LEFT, SEQ, LEN, BAD_LEN };
	static const struct {
		const char *name;
		unsigned on;
		uint32_t max;
		enum where where;
	} keys[] = {
		{ "off", ON_FRAG, 8191, OFF },	    { "mf", ON_FRAG, 1, MORE },
		{ "res", ON_FRAG, 1023, RESERVED }, { "res", ON_AH, 65535, RESERVED },
		{ "id", ON_FRAG, UINT32_MAX, ID },  { "spi", ON_AH, UINT32_MAX, ID },
		{ "type", ON_RT, 255, RT_TYPE },    { "left", ON_RT, 255, RT_LEFT },
		{ "segsleft", ON_RT, 255, RT_LEFT }, { "seq", ON_RT | ON_AH, UINT32_MAX, SEQ },
		{ "len", ON_RT | ON_AH | ON_OPTS, 2048, LEN }, { "badlen", ON_RT | ON_AH | ON_OPTS, 255, BAD_LEN },
	};
	struct frame_ext *e = &x->e;
	uint64_t num;
	size_t i = 0;

	while (i < sizeof keys / sizeof *keys && !(str_is(k, keys[i].name) && keys[i].on & ext_kind(e->type)))
		i++;
	if (i == sizeof keys / sizeof *keys)
		return false;
	if (!notation_number(x->n, v, keys[i].max, &num))
		return true;
	e->frag_off = keys[i].where == OFF ? (uint16_t)num : e->frag_off;
	e->more = keys[i].where == MORE ? num : e->more;
	e->reserved = keys[i].where == RESERVED ? (uint16_t)num : e->reserved;
	e->id = keys[i].where == ID ? (uint32_t)num : e->id;
	e->rt_type = keys[i].where == RT_TYPE ? (uint8_t)num : e->rt_type;
	e->rt_left = keys[i].where == RT_LEFT ? (uint8_t)num : e->rt_left;
	e->seq = keys[i].where == SEQ ? (uint32_t)num : e->seq;
	x->len = keys[i].where == LEN ? num : x->len;
	e->bad_len = keys[i].where == BAD_LEN ? (int)num : e->bad_len;
	return true;
}

static const char *ext_keys(unsigned type)
{
	switch (type) {
	case FRAME_FRAGMENT:
		return "off, mf, id, res";
	case FRAME_ROUTING:
		return "type, left, addr, seq, hex, len, badlen";
	case FRAME_AH:
		return "spi, seq, res, hex, len, badlen";
	}
	return "opt, hex, len, badlen";
}

static void ext_key(struct ext_read *x, struct str item)
{
	bool found;
	struct str v, k = str_cut(item, '=', &v, &found);
	bool has_opts = x->e.type == FRAME_HOPOPTS || x->e.type == FRAME_DSTOPTS;

	if (!v.p)
		v = str_slice(item, item.n, item.n);
	if (ext_number(x, k, v))
		return;
	if (has_opts && str_is(k, "opt"))
		ext_opt(x, v);
	else if (x->e.type == FRAME_ROUTING && str_is(k, "addr"))
		ext_addr(x, v);
	else if (x->e.type != FRAME_FRAGMENT && str_is(k, "hex"))
		ext_hex(x, v);
	else
		notation_hint(x->n, notation_error(x->n, k, "'%.*s' says nothing about this header", STR_ARG(k)), "%s",
			      ext_keys(x->e.type));
}

/* len=: the body grows with options that pad, or with zeros, until the header is that long. */
static void ext_fill(struct ext_read *x, struct str item)
{
	bool has_opts = x->e.type == FRAME_HOPOPTS || x->e.type == FRAME_DSTOPTS;
	size_t fixed = has_opts ? 2 : x->e.type == FRAME_AH ? 12 : 8, want = (size_t)x->len;

	if (x->e.type == FRAME_AH && !x->len && !x->e.body.p)
		want = 24;
	if (!want)
		return;
	if (want < fixed + x->e.body.n || want % (x->e.type == FRAME_AH ? 4 : 8)) {
		notation_error(x->n, item, "a header of %zu bytes cannot hold this; sizes go in steps of %d", want,
			       x->e.type == FRAME_AH ? 4 : 8);
		return;
	}
	while (has_opts && want > fixed + x->e.body.n) {
		size_t room = want - fixed - x->e.body.n, pad = room > 257 ? 257 : room;

		if (pad == 1) {
			append(x, "", 1);
			break;
		}
		append(x, (char[]){ 1, (char)(pad - 2) }, 2);
		append(x, (char[256]){ 0 }, pad - 2);
	}
	if (!has_opts)
		append(x, arena_alloc(x->n->a, want + 1, 1), want - fixed - x->e.body.n);
}

static int ext_type(struct str name)
{
	static const struct {
		const char *name;
		int type;
	} rows[] = {
		{ "hbh", FRAME_HOPOPTS },  { "hop", FRAME_HOPOPTS },	{ "hopopts", FRAME_HOPOPTS },
		{ "dst", FRAME_DSTOPTS },  { "dstopts", FRAME_DSTOPTS }, { "rt", FRAME_ROUTING },
		{ "route", FRAME_ROUTING }, { "frag", FRAME_FRAGMENT },	{ "ah", FRAME_AH },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_is(name, rows[i].name))
			return rows[i].type;
	return -1;
}

static void ext_item(struct notation *n, struct str item)
{
	struct str keys, key, name = str_cut(item, '(', &keys, NULL);
	struct ext_read x = { .n = n, .e = { .bad_len = -1 } };
	int type = ext_type(name);

	if (type < 0) {
		notation_hint(n, notation_error(n, name, "'%.*s' is no IPv6 extension header", STR_ARG(name)),
			      "hbh, rt, frag, ah or dst");
		return;
	}
	x.e.type = (uint8_t)type;
	if (keys.n && keys.p[keys.n - 1] == ')')
		keys.n--;
	if (keys.n)
		while (notation_item(&keys, &key))
			ext_key(&x, key);
	ext_fill(&x, item);
	if (n->f.n_exts == FRAME_MAX_EXTS)
		notation_error(n, item, "more than %d extension headers cannot be written", FRAME_MAX_EXTS);
	else
		n->f.exts[n->f.n_exts++] = x.e;
}

void notation_ext(struct notation *n, struct str list)
{
	struct str item;

	n->ext_word = list;
	while (notation_item(&list, &item))
		ext_item(n, item);
}
