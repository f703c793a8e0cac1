/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Following guards. See box.h. */
#include "classify/box.h"

#include <assert.h>
#include <string.h>

/* dimension, word of the key, shift, bits */
#define PLACES(X) \
	X(BOX_SRC3, DP_W_SRC_HI, 32, 32) X(BOX_SRC2, DP_W_SRC_HI, 0, 32) \
	X(BOX_SRC1, DP_W_SRC_LO, 32, 32) X(BOX_SRC0, DP_W_SRC_LO, 0, 32) \
	X(BOX_DST3, DP_W_DST_HI, 32, 32) X(BOX_DST2, DP_W_DST_HI, 0, 32) \
	X(BOX_DST1, DP_W_DST_LO, 32, 32) X(BOX_DST0, DP_W_DST_LO, 0, 32) \
	X(BOX_SPORT, DP_W_L4, 48, 16) X(BOX_DPORT, DP_W_L4, 32, 16) \
	X(BOX_PROTO, DP_W_L4, 24, 8) X(BOX_FLAGS, DP_W_L4, 16, 8) \
	X(BOX_ICMP, DP_W_L4B, 48, 16) X(BOX_MARK, DP_W_MARK, 0, 32) \
	X(BOX_CT_MARK, DP_W_MARK, 32, 32) X(BOX_CT_STATE, DP_W_CT, 32, 8) \
	X(BOX_IIF3, DP_W_IIF0, 32, 32) X(BOX_IIF2, DP_W_IIF0, 0, 32) \
	X(BOX_IIF1, DP_W_IIF1, 32, 32) X(BOX_IIF0, DP_W_IIF1, 0, 32) \
	X(BOX_OIF3, DP_W_OIF0, 32, 32) X(BOX_OIF2, DP_W_OIF0, 0, 32) \
	X(BOX_OIF1, DP_W_OIF1, 32, 32) X(BOX_OIF0, DP_W_OIF1, 0, 32) \
	X(BOX_TOS, DP_W_IP, 16, 8) X(BOX_TTL, DP_W_IP, 24, 8) \
	X(BOX_LENGTH, DP_W_IP, 32, 20) X(BOX_ETHER, DP_W_MACS, 48, 16) \
	X(BOX_PKTTYPE, DP_W_DEV, 32, 8)

#define PLACE(d, word, shift, bits) [d] = { word, shift, bits },
#define MOST(d, word, shift, bits) [d] = (uint32_t)((1ull << (bits)) - 1),
const struct box_place box_places[BOX_DIMS] = { PLACES(PLACE) };
static const struct box full = { .hi = { PLACES(MOST) } };

/* The dimensions of a word lie side by side. */
static const struct {
	uint8_t first, end;
} dims_of[DP_KEY_WORDS] = {
	[DP_W_SRC_HI] = { BOX_SRC3, BOX_SRC1 },	 [DP_W_SRC_LO] = { BOX_SRC1, BOX_DST3 },
	[DP_W_DST_HI] = { BOX_DST3, BOX_DST1 },	 [DP_W_DST_LO] = { BOX_DST1, BOX_SPORT },
	[DP_W_L4] = { BOX_SPORT, BOX_ICMP },	 [DP_W_L4B] = { BOX_ICMP, BOX_MARK },
	[DP_W_MARK] = { BOX_MARK, BOX_CT_STATE }, [DP_W_CT] = { BOX_CT_STATE, BOX_IIF3 },
	[DP_W_IIF0] = { BOX_IIF3, BOX_IIF1 },	 [DP_W_IIF1] = { BOX_IIF1, BOX_OIF3 },
	[DP_W_OIF0] = { BOX_OIF3, BOX_OIF1 },	 [DP_W_OIF1] = { BOX_OIF1, BOX_TOS },
	[DP_W_IP] = { BOX_TOS, BOX_ETHER },	 [DP_W_MACS] = { BOX_ETHER, BOX_PKTTYPE },
	[DP_W_DEV] = { BOX_PKTTYPE, BOX_DIMS },
};

uint32_t box_dim_max(enum box_dim d)
{
	return (uint32_t)((1ull << box_places[d].bits) - 1);
}

void box_full(struct box *b)
{
	*b = full;
}

/* ---------- one compare ---------- */

static uint64_t bits_of(enum box_dim d)
{
	return (uint64_t)box_dim_max(d) << box_places[d].shift;
}

bool box_narrow(struct box *b, enum box_dim d, uint32_t lo, uint32_t hi)
{
	if (lo > b->lo[d])
		b->lo[d] = lo;
	if (hi < b->hi[d])
		b->hi[d] = hi;
	if (b->lo[d] || b->hi[d] != box_dim_max(d))
		b->dims |= 1u << d;
	return b->lo[d] <= b->hi[d];
}

static bool narrow_l4(struct box *b, uint32_t mask, uint32_t value)
{
	if ((b->l4_value ^ value) & b->l4_mask & mask)
		return false;
	b->l4_mask |= mask;
	b->l4_value |= value & mask;
	return true;
}

/* The masked bits have a value. */
static bool narrow_value(struct box *b, const struct code_insn *x)
{
	bool some = !(x->b & ~x->a);

	for (unsigned d = dims_of[x->arg].first; d < dims_of[x->arg].end && some; d++) {
		uint32_t mask = (uint32_t)((x->a & bits_of((enum box_dim)d)) >> box_places[d].shift);
		uint32_t value = (uint32_t)((x->b & bits_of((enum box_dim)d)) >> box_places[d].shift);

		if (mask)
			some = box_narrow(b, (enum box_dim)d, value, value | (box_dim_max((enum box_dim)d) & ~mask));
	}
	if (some && x->arg == DP_W_L4)
		some = narrow_l4(b, (uint32_t)x->a, (uint32_t)x->b);
	return some;
}

/* The dimension whose values a compare with a span is about, BOX_DIMS if none: all its bits, and perhaps lower ones with a value. */
static enum box_dim dim_of_span(const struct code_insn *x)
{
	for (unsigned d = dims_of[x->arg].first; d < dims_of[x->arg].end; d++) {
		uint64_t f = bits_of((enum box_dim)d), below = (1ull << box_places[d].shift) - 1;

		if ((x->a & f) == f && !(x->a & ~f & ~below) && !(x->c & ~f) &&
		    (x->b & f) + x->c >= x->c && (x->b & f) + x->c <= f && !(x->b & ~x->a))
			return (enum box_dim)d;
	}
	return BOX_DIMS;
}

/* A span of a whole word of two dimensions, the upper one `d`. */
static bool narrow_wide(struct box *b, enum box_dim d, uint64_t lo, uint64_t hi)
{
	if (lo >> 32 == hi >> 32)
		return box_narrow(b, d, (uint32_t)(lo >> 32), (uint32_t)(hi >> 32)) &&
		       box_narrow(b, d + 1, (uint32_t)lo, (uint32_t)hi);
	return box_narrow(b, d, (uint32_t)(lo >> 32), (uint32_t)(hi >> 32));
}

static bool narrow_span(struct box *b, const struct code_insn *x)
{
	enum box_dim d = dim_of_span(x);

	if (d != BOX_DIMS) {
		uint32_t lo = (uint32_t)((x->b & bits_of(d)) >> box_places[d].shift);

		/* Fields that are absent are 0, so the bits that say they are there hold with the span. */
		if (x->arg == DP_W_L4 && !narrow_l4(b, (uint32_t)(x->a & ~bits_of(d)), (uint32_t)(x->b & ~bits_of(d))))
			return false;
		return box_narrow(b, d, lo, lo + (uint32_t)(x->c >> box_places[d].shift));
	}
	if (~x->a || x->b + x->c < x->b)
		return true;
	for (unsigned i = dims_of[x->arg].first; i < dims_of[x->arg].end; i++)
		if (box_places[i].shift == 32 && box_places[i].bits == 32)
			return narrow_wide(b, (enum box_dim)i, x->b, x->b + x->c);
	return true;
}

/* The box of those for whom the compare is true; false: there are none. */
static bool narrow_true(struct box *b, const struct code_insn *x)
{
	if (x->a == 0)
		return 0 - x->b <= x->c;
	return x->c == 0 ? narrow_value(b, x) : narrow_span(b, x);
}

/* ---------- what a box holds exactly ---------- */

static bool is_prefix_mask(uint64_t mask, unsigned bits)
{
	uint64_t all = bits == 64 ? ~0ull : (1ull << bits) - 1, wild = ~mask & all;

	return !(mask & ~all) && !(wild & (wild + 1));
}

static bool is_exact_address(const struct code_insn *x)
{
	bool is_ip4 = !(x->a >> 32);

	if (x->c == 0)
		return is_prefix_mask(x->a, is_ip4 ? 32 : 64);
	return (is_ip4 ? x->a == UINT32_MAX : x->a == ~0ull) && !(x->c & (x->c + 1)) && !(x->b & x->c);
}

static bool is_exact_l4(const struct code_insn *x)
{
	enum box_dim d;

	if (x->c) {
		d = dim_of_span(x);
		return (d == BOX_SPORT || d == BOX_DPORT) && !(x->a & ~bits_of(d) & ~(uint64_t)UINT32_MAX);
	}
	for (d = BOX_SPORT; d <= BOX_DPORT; d++)
		if ((x->a & bits_of(d)) && (x->a & bits_of(d)) != bits_of(d))
			return false;
	return true;
}

/* Does the box, once narrowed, answer this compare for good? */
static bool is_exact(const struct code_insn *x)
{
	if (x->a == 0)
		return true;
	if (x->arg <= DP_W_DST_LO)
		return is_exact_address(x);
	return x->arg == DP_W_L4 && is_exact_l4(x);
}

bool box_holds(const struct code_insn *x)
{
	uint64_t held = x->arg == DP_W_L4 ? UINT32_MAX : 0;
	enum box_dim d;

	if (x->a == 0)
		return 0 - x->b <= x->c;
	if (x->c && x->arg <= DP_W_DST_LO && x->a == ~0ull)
		return is_exact_address(x);
	if (x->c) {
		d = dim_of_span(x);
		return d != BOX_DIMS && (x->a == bits_of(d) || (x->arg == DP_W_L4 && !(x->a & ~bits_of(d) & ~0xffffull)));
	}
	for (unsigned i = 0; i < BOX_DIMS; i++)
		if (box_places[i].word == x->arg && is_prefix_mask((x->a & bits_of((enum box_dim)i)) >> box_places[i].shift, box_places[i].bits))
			held |= bits_of((enum box_dim)i);
	return !(x->b & ~x->a) && !(x->a & ~held);
}

bool box_covers(const struct box *a, const struct box *b)
{
	if (a->dims & ~b->dims)
		return false;
	for (uint32_t left = a->dims; left; left &= left - 1) {
		unsigned d = (unsigned)__builtin_ctz(left);

		if (a->lo[d] > b->lo[d] || a->hi[d] < b->hi[d])
			return false;
	}
	return !(a->l4_mask & ~b->l4_mask) && (b->l4_value & a->l4_mask) == a->l4_value;
}

/* ---------- one rule ---------- */

struct flow {
	const struct code *c;
	struct box_rule *r;
	uint32_t policy;
	struct box_room *room;
	bool has_result, has_escape;
	uint32_t at; /* the instruction at hand */
};

static void join(struct box *to, const struct box *b)
{
	for (unsigned d = 0; d < BOX_DIMS; d++) {
		if (b->lo[d] < to->lo[d])
			to->lo[d] = b->lo[d];
		if (b->hi[d] > to->hi[d])
			to->hi[d] = b->hi[d];
		if (to->lo[d] == 0 && to->hi[d] == box_dim_max((enum box_dim)d))
			to->dims &= ~(1u << d);
	}
	to->l4_mask &= b->l4_mask & ~(b->l4_value ^ to->l4_value);
	to->l4_value &= to->l4_mask;
}

static void flow_to(struct flow *f, uint32_t target, const struct box *b)
{
	uint32_t i = target - f->r->first;

	if (target > f->policy) {
		f->has_escape = true;
		f->r->escape = f->at;
	}
	if (target >= f->r->end)
		return;
	if (f->room->reached[i])
		join(&f->room->box[i], b);
	else
		f->room->box[i] = *b;
	f->room->reached[i] = true;
}

static uint32_t target_of(const struct code *c, uint32_t at, int label)
{
	return label == CODE_NEXT ? at + 1 : c->label.v[label];
}

/* Asks and changes nothing, so that it need not be asked of those who do not pass anyway. */
static bool is_question(uint8_t op)
{
	return op == DP_OP_SET || op == DP_OP_TCPOPT || op == DP_OP_TCPMSS || op == DP_OP_U32 || op == DP_OP_STRING ||
	       op == DP_OP_TUPLE || op == DP_OP_PAYLOAD || op == DP_OP_TAKE;
}

/* Can the compare be false? */
static bool may_fail(const struct code_insn *x)
{
	return x->a || 0 - x->b > x->c;
}

static void flow_step(struct flow *f, uint32_t at)
{
	const struct code_insn *x = &f->c->insn.v[at];
	const struct box *b = &f->room->box[at - f->r->first];
	struct box yes = *b, no = *b;
	bool is_test = x->op == DP_OP_TEST;

	f->at = at;
	if (!is_test && !is_question(x->op)) {
		if (f->has_result)
			join(&f->r->box, b);
		else
			f->r->box = *b;
		f->has_result = true;
		return;
	}
	if (!is_test || narrow_true(&yes, x))
		flow_to(f, target_of(f->c, at, x->yes), &yes);
	if (!is_test || may_fail(x))
		flow_to(f, target_of(f->c, at, x->no), &no);
}

/*
 * Most guards do not branch: a compare goes on at the next instruction, or it leaves the rule. Then there is only one box.
 * False: this one branches.
 */
static bool read_straight(struct flow *f)
{
	struct box *b = &f->r->box;
	uint32_t end = f->r->end;

	for (uint32_t at = f->r->first; at < end; at++) {
		const struct code_insn *x = &f->c->insn.v[at];
		uint32_t yes = target_of(f->c, at, x->yes), no = target_of(f->c, at, x->no), out;
		bool is_test = x->op == DP_OP_TEST, may_be_false = !is_test || may_fail(x);

		if (!is_test && !is_question(x->op)) {
			f->has_result = true;
			break;
		}
		if (yes < end ? yes != at + 1 || (may_be_false && no < end) : no != at + 1)
			return false;
		out = yes >= end ? yes : may_be_false ? no : 0;
		if (out > f->policy) {
			f->has_escape = true;
			f->r->escape = at;
		}
		if (yes >= end ? !may_be_false : is_test && !narrow_true(b, x))
			break;
	}
	return true;
}

/* Follows the rule's code up to the instruction `end`. */
static void follow(struct flow *f, uint32_t end)
{
	struct box_room *room = f->room;
	uint32_t first = f->r->first, n = f->r->end - first + 1;

	if (n > room->n) {
		room->n = 2 * n;
		room->box = arena_new(room->a, struct box, room->n);
		room->reached = arena_new(room->a, uint8_t, room->n);
	}
	memset(room->reached, 0, n);
	room->box[0] = full;
	room->reached[0] = true;
	for (uint32_t i = first; i < end; i++)
		if (room->reached[i - first])
			flow_step(f, i);
}

/* The first instruction that the box does not answer: compares in a row whose `no` leaves the rule are passed by. */
static uint32_t place_of_rule(const struct code *c, const struct box_rule *r)
{
	uint32_t i = r->first;

	for (; i < r->end; i++) {
		const struct code_insn *x = &c->insn.v[i];

		if (x->op != DP_OP_TEST || !is_exact(x) || target_of(c, i, x->yes) != i + 1 ||
		    (target_of(c, i, x->no) != r->end && x->a))
			break;
	}
	return i;
}

/* Nothing but effects from the rule's place to its end, and the last instruction does not come back. */
static bool is_final(const struct code *c, const struct box_rule *r)
{
	uint8_t last = r->end > r->place ? c->insn.v[r->end - 1].op : DP_OP_COUNT;

	return r->is_whole && (last == DP_OP_ACCEPT || last == DP_OP_DROP || last == DP_OP_GOTO || last == DP_OP_RETURN ||
				last == DP_OP_END);
}

static bool is_whole(const struct code *c, const struct box_rule *r)
{
	for (uint32_t i = r->place; i < r->end; i++)
		if (code_is_test(c->insn.v[i].op))
			return false;
	return true;
}

void box_read(struct box_room *room, const struct code *c, uint32_t first, uint32_t end, uint32_t policy, struct box_rule *r,
	      bool *has_escape)
{
	struct flow f = { .c = c, .r = r, .policy = policy, .room = room };

	*r = (struct box_rule){ .box = full, .first = first, .end = end, .escape = BOX_NO_ESCAPE };
	if (!read_straight(&f)) {
		f.has_escape = false;
		r->escape = BOX_NO_ESCAPE;
		follow(&f, end);
	}
	*has_escape |= f.has_escape;
	r->is_never = !f.has_result;
	r->place = place_of_rule(c, r);
	r->is_whole = is_whole(c, r);
	r->is_final = is_final(c, r);
}

bool box_at(struct box_room *room, const struct code *c, const struct box_rule *r, uint32_t at, struct box *out)
{
	struct box_rule copy = *r;
	struct flow f = { .c = c, .r = &copy, .policy = UINT32_MAX, .room = room };

	follow(&f, at);
	*out = room->box[at - r->first];
	return room->reached[at - r->first];
}

/* ---------- entries ---------- */

/* How many low bits the values of lo..hi may differ in. */
static unsigned wild_bits(const struct box *b, enum box_dim d)
{
	uint32_t differ = b->lo[d] ^ b->hi[d];

	return differ ? 32 - (unsigned)__builtin_clz(differ) : 0;
}

/* A word of two dimensions and its two shifts; what lies behind a bit that may differ is not compared. */
static uint64_t address_word(const struct box *b, enum box_dim high, uint64_t *shifts)
{
	unsigned upper = wild_bits(b, high), lower = upper ? 32 : wild_bits(b, high + 1);

	*shifts = lower | upper << 8;
	return (uint64_t)b->lo[high] << 32 | b->lo[high + 1];
}

void box_entry(const struct box *b, bool is_ip6, uint64_t result, uint64_t *word)
{
	uint64_t ports = b->lo[BOX_SPORT] | (uint64_t)(b->hi[BOX_SPORT] - b->lo[BOX_SPORT]) << 16 |
			 (uint64_t)b->lo[BOX_DPORT] << 32 | (uint64_t)(b->hi[BOX_DPORT] - b->lo[BOX_DPORT]) << 48;
	uint64_t low = (uint64_t)b->l4_mask << 32 | b->l4_value, shifts;

	if (!is_ip6) {
		word[0] = (uint64_t)b->lo[BOX_SRC0] << 32 | b->lo[BOX_DST0];
		word[1] = ports;
		word[2] = low;
		word[3] = result | (uint64_t)wild_bits(b, BOX_SRC0) << DP_SHIFT_SRC | (uint64_t)wild_bits(b, BOX_DST0) << DP_SHIFT_DST;
		return;
	}
	word[6] = 0;
	for (unsigned i = 0; i < 4; i++) {
		word[i] = address_word(b, (enum box_dim)(BOX_SRC3 + 2 * i), &shifts);
		word[6] |= shifts << 16 * i;
	}
	word[4] = ports;
	word[5] = low;
	word[7] = result;
}
