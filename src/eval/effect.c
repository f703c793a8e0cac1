/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What rules change: marks, the connection's mark, TOS and TTL, sets; nat.c does the addresses. Later rules and later
 * hooks see it.
 *
 * Marks may be known in part: `mark = (mark & ~0xff) ^ (ct.mark & 0xff)` of an unknown ct.mark leaves the upper bits
 * known. A rewritten packet also has other bytes; tests on bytes see a copy, whose checksums follow as the kernel's do.
 */
#include "eval/walk.h"

bool effect_is_harmless(const struct effect *ef)
{
	return ef->kind == EFFECT_LOG || ef->kind == EFFECT_NONE ||
	       (ef->kind == EFFECT_OTHER && !ef->has_clobbered && !ef->written && !(ef->name && !strcmp(ef->name, "CT")));
}

/* ---------- the packet's bytes ---------- */

static void copy_bytes(struct walk *w)
{
	if (w->bytes)
		return;
	w->bytes = arena_new(w->a, uint8_t, w->f.l3_len + 1);
	w->bad = arena_new(w->a, uint8_t, w->f.l3_len + 1);
	memcpy(w->bytes, w->f.l3, w->f.l3_len);
}

static void spoil(struct walk *w, uint32_t off, uint32_t n)
{
	for (uint32_t i = off; i < off + n && i < w->f.l3_len; i++)
		w->bad[i] = 1;
}

/* The 16 bits at off; false: they are not known. */
static bool word_known(const struct walk *w, uint32_t off, uint16_t *v)
{
	if (off + 2 > w->f.l3_len || w->bad[off] || w->bad[off + 1])
		return false;
	*v = (uint16_t)(w->bytes[off] << 8 | w->bytes[off + 1]);
	return true;
}

/* The one's complement sum at `sum` follows a word that went from old to new (RFC 1624). */
static void sum_follows(struct walk *w, uint32_t sum, uint16_t old, uint16_t new, bool is_udp)
{
	uint16_t check;
	uint32_t x;

	if (!word_known(w, sum, &check)) {
		spoil(w, sum, 2);
		return;
	}
	if (is_udp && check == 0) /* sent without one */
		return;
	x = (uint32_t)(uint16_t)~check + (uint16_t)~old + new;
	x = (x & 0xffff) + (x >> 16);
	x = (x & 0xffff) + (x >> 16);
	check = (uint16_t)~x;
	if (is_udp && check == 0)
		check = 0xffff;
	w->bytes[sum] = (uint8_t)(check >> 8);
	w->bytes[sum + 1] = (uint8_t)check;
}

/* Where the transport checksum stands, or 0: there is none here that covers addresses and ports. */
static uint32_t l4_sum(const struct walk *w)
{
	if (!w->f.known[FIELD_PROTO] || !w->f.known[FIELD_FRAG] || w->f.v[FIELD_FRAG])
		return 0;
	switch ((unsigned)w->f.v[FIELD_PROTO]) {
	case 6:
		return w->f.l4_off + 16;
	case 17:
	case 136:
		return w->f.l4_off + 6;
	case 58:
		return w->f.l4_off + 2;
	default:
		return 0;
	}
}

/* One word of the packet becomes new, or nobody knows what (is_known false). */
static void patch_word(struct walk *w, uint32_t off, bool is_known, uint16_t new, bool is_in_l4_sum)
{
	uint32_t l4 = is_in_l4_sum ? l4_sum(w) : 0;
	bool is_udp = l4 == w->f.l4_off + 6, in_ip4 = w->f.family == FAMILY_IP4 && off < w->f.l4_off;
	uint16_t old;

	if (off + 2 > w->f.l3_len)
		return;
	if (!word_known(w, off, &old) || !is_known) {
		spoil(w, 10, in_ip4 ? 2 : 0);
		spoil(w, l4, l4 ? 2 : 0);
	} else {
		if (in_ip4)
			sum_follows(w, 10, old, new, false);
		if (l4)
			sum_follows(w, l4, old, new, is_udp);
	}
	w->bytes[off] = (uint8_t)(new >> 8);
	w->bytes[off + 1] = (uint8_t)new;
	w->bad[off] = w->bad[off + 1] = !is_known;
}

void effect_patch(struct walk *w, uint32_t off, uint32_t n, const u128 *value)
{
	if (w->f.l3_len == 0)
		return;
	copy_bytes(w);
	if (n == 1) { /* half a word: the other half stays */
		uint32_t even = off & ~1u;
		uint16_t new = 0;
		bool is_known = word_known(w, even, &new) && value;

		uint8_t byte = value ? (uint8_t)*value : 0;

		if (off == even)
			new = (uint16_t)((uint32_t)byte << 8 | (new & 0x00ffu));
		else
			new = (uint16_t)((new & 0xff00u) | byte);
		patch_word(w, even, is_known, new, false);
		return;
	}
	for (uint32_t i = 0; i < n; i += 2) {
		u128 v = value ? *value >> (8 * (n - 2 - i)) : 0;

		patch_word(w, off + i, value != NULL, (uint16_t)v, true);
	}
}

/* ---------- values ---------- */

/* field = (field & ~mask) ^ (value, of which value_mask is known) */
static void set_bits(struct walk *w, enum field f, u128 mask, u128 value, u128 value_mask)
{
	u128 old, old_mask;

	guess_bits(w, f, &old, &old_mask);
	guess_set_bits(w, f, (old & ~mask) ^ value, (old_mask | mask) & value_mask);
}

static void set_tos(struct walk *w, const struct effect *ef)
{
	u128 v;

	if (w->f.has[FIELD_TOS] != EVAL_YES)
		return;
	set_bits(w, FIELD_TOS, ef->mask, ef->value, ~(u128)0);
	v = w->f.v[FIELD_TOS];
	if (w->f.family == FAMILY_IP4) {
		effect_patch(w, 1, 1, w->f.known[FIELD_TOS] ? &v : NULL);
	} else if (w->f.l3_len >= 2) {
		u128 first;

		copy_bytes(w);
		first = (u128)(w->bytes[0] & 0xf0) | v >> 4;
		effect_patch(w, 0, 1, w->f.known[FIELD_TOS] ? &first : NULL);
		v = (u128)(w->bytes[1] & 0x0f) | (v & 15) << 4;
		effect_patch(w, 1, 1, w->f.known[FIELD_TOS] ? &v : NULL);
	}
}

static void set_ttl(struct walk *w, const struct effect *ef)
{
	int64_t v;
	u128 out;

	if (w->f.has[FIELD_TTL] != EVAL_YES)
		return;
	if (ef->mask != 0 && !w->f.known[FIELD_TTL]) {
		guess_forget(w, FIELD_TTL);
		return;
	}
	v = ef->mask == 0 ? ef->value : (int64_t)w->f.v[FIELD_TTL] + (ef->mask == 1 ? 1 : -1) * (int64_t)ef->value;
	out = v < 0 ? 0 : v > 255 ? 255 : (u128)v;
	guess_put(w, FIELD_TTL, out);
	effect_patch(w, w->f.family == FAMILY_IP4 ? 8 : 7, 1, &out);
}

/* ---------- the connection's mark ---------- */

/* A mark, and which of its bits are known, shifted; what comes in is 0, and known. */
static void shift(int by, u128 *value, u128 *mask)
{
	uint32_t v = (uint32_t)*value, m = (uint32_t)*mask;

	*value = by >= 0 ? v << by : v >> -by;
	*mask = by >= 0 ? m << by | ((1u << by) - 1) : m >> -by | ~(UINT32_MAX >> -by);
}

static void set_ct_mark(struct walk *w, const struct effect *ef)
{
	u128 value, mask;

	if (conn_exists(w) != EVAL_YES)
		return;
	conn_ready(w, FIELD_CT_MARK);
	if (ef->kind == EFFECT_SAVE_MARK) {
		guess_bits(w, FIELD_MARK, &value, &mask);
		value &= ef->mask;
		mask |= ~ef->mask;
		shift(ef->shift, &value, &mask);
		set_bits(w, FIELD_CT_MARK, ef->ct_mask, value, mask);
	} else {
		set_bits(w, FIELD_CT_MARK, ef->mask, ef->value, UINT32_MAX);
		guess_bits(w, FIELD_CT_MARK, &value, &mask);
		shift(ef->shift, &value, &mask);
		guess_set_bits(w, FIELD_CT_MARK, value, mask);
	}
	if (w->e->opt.track)
		track_mark(w);
}

static void restore_mark(struct walk *w, const struct effect *ef)
{
	u128 value, mask;

	if (conn_exists(w) != EVAL_YES)
		return;
	conn_ready(w, FIELD_CT_MARK);
	guess_bits(w, FIELD_CT_MARK, &value, &mask);
	value &= ef->ct_mask;
	mask |= ~ef->ct_mask;
	shift(ef->shift, &value, &mask);
	set_bits(w, FIELD_MARK, ef->mask, value, mask);
}

static void notrack(struct walk *w)
{
	if (w->ct_done)
		return;
	w->is_untracked = true;
	guess_put(w, FIELD_CT_STATE, 1 << CT_UNTRACKED);
}

static void make_unknown(struct walk *w, enum field f)
{
	w->guess[f] = NULL;
	w->f.has[f] = EVAL_UNKNOWN;
	w->f.known[f] = 0;
}

/* Sets the MSS; the option is added where it is missing. */
static void clobber_mss(struct walk *w)
{
	if (w->f.has[FIELD_TCP_MSS] == EVAL_YES) {
		guess_forget(w, FIELD_TCP_MSS);
	} else if (w->f.has[FIELD_TCP_FLAGS] != EVAL_NO) {
		make_unknown(w, FIELD_TCP_MSS);
		guess_forget(w, FIELD_TCP_OPTS);
		guess_forget(w, FIELD_LENGTH);
	}
}

/* Bits of a header were written: what is known of that header is not any more. */
static void forget_header(struct walk *w, enum payload_base base)
{
	static const enum field l2[] = { FIELD_MAC_SRC, FIELD_MAC_DST, FIELD_ETHERTYPE };
	enum field_layer layer = base == PAYLOAD_NETWORK ? FIELD_LAYER_L3 : FIELD_LAYER_L4;

	for (unsigned i = 0; i < sizeof l2 / sizeof *l2 && base == PAYLOAD_LINK; i++)
		if (w->f.has[l2[i]] != EVAL_NO)
			guess_forget(w, l2[i]);
	for (enum field f = 0; f < FIELD_COUNT && base != PAYLOAD_LINK; f++)
		if (field_table[f].layer == layer && w->f.has[f] != EVAL_NO && f != FIELD_SRC && f != FIELD_DST)
			guess_forget(w, f);
	if (base == PAYLOAD_LINK || !w->f.l3_len)
		return;
	copy_bytes(w);
	if (base == PAYLOAD_NETWORK) {
		spoil(w, 0, w->f.l4_off);
		nat_put_addr(w, false, NULL);
		nat_put_addr(w, true, NULL);
	} else {
		spoil(w, w->f.l4_off, w->f.l3_len - w->f.l4_off);
	}
}

static void other(struct walk *w, const struct effect *ef)
{
	if (ef->written)
		forget_header(w, ef->written->base);
	if (ef->name && !strcmp(ef->name, "CT") && !w->ct_done && !w->is_untracked)
		guess_put(w, FIELD_CT_STATE, 1 << CT_NEW); /* a template is attached; it reads like a new connection */
	if (!ef->has_clobbered)
		return;
	if (ef->clobbered == FIELD_TCP_MSS)
		clobber_mss(w);
	else if (w->f.has[ef->clobbered] == EVAL_NO)
		return;
	else if (ef->clobbered == FIELD_SRC || ef->clobbered == FIELD_DST)
		nat_put_addr(w, ef->clobbered == FIELD_DST, NULL);
	else
		guess_forget(w, ef->clobbered);
	if (ef->clobbered == FIELD_TCP_OPTS && w->f.has[FIELD_TCP_MSS] == EVAL_YES)
		make_unknown(w, FIELD_TCP_MSS);
	if (field_table[ef->clobbered].layer == FIELD_LAYER_L4 && w->f.l3_len) {
		copy_bytes(w);
		spoil(w, w->f.l4_off, w->f.l4_len);
	}
}

enum verdict effect_apply(struct walk *w, const struct effect *ef)
{
	switch (ef->kind) {
	case EFFECT_MARK:
		set_bits(w, FIELD_MARK, ef->mask, ef->value, ~(u128)0);
		break;
	case EFFECT_CT_MARK:
	case EFFECT_SAVE_MARK:
		set_ct_mark(w, ef);
		break;
	case EFFECT_RESTORE_MARK:
		restore_mark(w, ef);
		break;
	case EFFECT_LOG:
	case EFFECT_COUNT:
	case EFFECT_NONE:
		break;
	case EFFECT_SET_ADD:
		sets_add(w, ef->set);
		break;
	case EFFECT_SET_DEL:
		sets_del(w, ef->set);
		break;
	case EFFECT_NOTRACK:
		notrack(w);
		break;
	case EFFECT_TOS:
		set_tos(w, ef);
		break;
	case EFFECT_TTL:
		set_ttl(w, ef);
		break;
	case EFFECT_SNAT:
	case EFFECT_DNAT:
	case EFFECT_MASQUERADE:
	case EFFECT_REDIRECT:
	case EFFECT_NETMAP:
	case EFFECT_TPROXY:
		return nat_apply(w, ef);
	case EFFECT_OTHER:
		other(w, ef);
		break;
	}
	return VERDICT_NONE;
}
