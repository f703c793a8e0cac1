/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests on sets as code. First what makes a packet be in no set at all (a dimension that it lacks), as plain tests; then
 * the asking. The sets themselves are made by sets/.
 */
#include "classify/sets.h"

#include <errno.h>

#include "classify/bytes.h"
#include "classify/test.h"
#include "sets/setmem.h"

enum state { STATE_NOT_ASKED, STATE_ASKED, STATE_REFUSED };

/* A set that is asked by fields, while its words are found. */
struct by_field {
	bool is_ip4;
	int absent;
	unsigned n_made;
	uint8_t w[2];
};

struct sets {
	struct arena *a;
	const struct ruleset *rs;
	struct diags *d;
	bool may_expire;
	enum state *state;  /* by set.id */
	uint32_t *n_shapes; /* by set.id, of those that are asked: how many at most */
	struct sets_asked asked;
};

struct sets *sets_collect(struct arena *a, const struct ruleset *rs, struct diags *d, bool may_expire)
{
	struct sets *s = arena_new(a, struct sets, 1);

	s->a = a;
	s->rs = rs;
	s->d = d;
	s->may_expire = may_expire;
	s->state = arena_new(a, enum state, rs->sets.n + 1);
	s->n_shapes = arena_new(a, uint32_t, rs->sets.n + 1);
	return s;
}

/* ---------- what can be asked ---------- */

static const struct set_elem *find_elem(const struct set *s, bool (*is_bad)(const struct set *s, const struct set_elem *el))
{
	for (size_t i = 0; i < s->elems.n; i++)
		if (is_bad(s, &s->elems.v[i]))
			return &s->elems.v[i];
	return NULL;
}

static bool expires(const struct set *s, const struct set_elem *el)
{
	return (el->has_timeout ? el->timeout_s : s->has_default_timeout ? s->default_timeout_s : 0) != 0;
}

static bool is_physdev(const struct set *s, const struct set_elem *el)
{
	(void)s;
	return el->physdev;
}

static bool learns_mac(const struct set *s, const struct set_elem *el)
{
	(void)s;
	return el->mac_any;
}

static bool refuse(struct sets *s, const struct set *set, const struct set_elem *el, const char *why, const char *hint)
{
	struct diag *g = diag_error(s->d, el ? el->at : set->at, "set %.*s: %s", STR_ARG(set->name), why);

	if (hint)
		diag_hint(s->d, g, "%s", hint);
	s->state[set->id] = STATE_REFUSED;
	return false;
}

static bool may_ask(struct sets *s, const struct set *set)
{
	enum state *state = &s->state[set->id];
	const struct set_elem *el = s->may_expire ? NULL : find_elem(set, expires);

	if (*state != STATE_NOT_ASKED)
		return *state == STATE_ASKED;
	if (el)
		return refuse(s, set, el, "elements that expire are not kept here",
			      "add it without a timeout, or with timeout 0");
	el = find_elem(set, is_physdev);
	if (el)
		return refuse(s, set, el, "the ports of a bridge are not visible to a program", NULL);
	el = find_elem(set, learns_mac);
	if (el)
		return refuse(s, set, el, "an element cannot take the Ethernet address of the first packet here",
			      "say the address: add SET IP,MAC");
	s->n_shapes[set->id] = setmem_most_shapes(set);
	if (!s->n_shapes[set->id])
		return refuse(s, set, NULL, "its elements have too many different prefix lengths", NULL);
	if (s->asked.set.n == DP_MAX_SETS)
		return refuse(s, set, NULL, arena_printf(s->a, "rules ask more than %d sets", DP_MAX_SETS).p, NULL);
	*state = STATE_ASKED;
	*vec_add(s->a, &s->asked.set) = set;
	return true;
}

/* ---------- asking ---------- */

/* A test in front of the look-up: `no` unless it holds. */
static void require(struct code *c, struct code_atom t, int no)
{
	int go_on = code_label(c);

	code_test(c, t, go_on, no);
	code_put(c, go_on);
}

static void forbid(struct code *c, struct code_atom t, int no)
{
	int go_on = code_label(c);

	code_test(c, t, no, go_on);
	code_put(c, go_on);
}

static struct code_atom proto_is(uint64_t proto)
{
	return (struct code_atom){ DP_W_L4, 0xffull << 24, proto << 24, 0 };
}

static void port_is_there(struct code *c, const struct set *s, bool is_ip4, int no)
{
	static const uint8_t with_ports[] = { 1, 6, 17, 132, 136 };
	struct code_atom later = { DP_W_L4, DP_IS_LATER, DP_IS_LATER, 0 };
	int go_on = code_label(c);

	c->features |= DP_F_PORTS;
	if (str_is(s->type, "bitmap:port")) {
		require(c, (struct code_atom){ DP_W_L4, DP_HAS_PORTS, DP_HAS_PORTS, 0 }, no);
		code_test(c, proto_is(6), go_on, CODE_NEXT);
		code_test(c, proto_is(17), go_on, no);
		code_put(c, go_on);
		return;
	}
	forbid(c, proto_is(0), no);
	if (!is_ip4) {
		forbid(c, proto_is(59), no); /* no next header: no protocol either */
		forbid(c, later, no);
		return;
	}
	code_test(c, later, CODE_NEXT, go_on);
	for (size_t i = 0; i < sizeof with_ports; i++)
		forbid(c, proto_is(with_ports[i]), no);
	code_put(c, go_on);
}

/* hash:ip never holds the address 0, as far as its masks look. */
static void addr_is_not_zero(struct code *c, const struct set *s, bool is_src, int no)
{
	unsigned bits = s->family == FAMILY_IP4 ? 32 : 128, plen = s->netmask && s->netmask < bits ? s->netmask : bits;
	u128 mask = s->has_bitmask ? s->bitmask : ~(((u128)1 << (bits - plen)) - 1);
	int go_on = code_label(c);

	if (bits == 32)
		mask &= UINT32_MAX;
	else
		code_test(c, (struct code_atom){ is_src ? DP_W_SRC_HI : DP_W_DST_HI, (uint64_t)(mask >> 64), 0, 0 }, CODE_NEXT,
			  go_on);
	code_test(c, (struct code_atom){ is_src ? DP_W_SRC_LO : DP_W_DST_LO, (uint64_t)mask, 0, 0 }, no, go_on);
	code_put(c, go_on);
}

static void dim_is_there(struct code *c, const struct set *s, unsigned dim, bool is_src, bool is_ip4, int no)
{
	uint64_t has = is_src ? DP_HAS_IIF : DP_HAS_OIF;

	switch (s->dim[dim]) {
	case SET_DIM_PORT:
		port_is_there(c, s, is_ip4, no);
		break;
	case SET_DIM_IFACE:
		c->features |= DP_F_IFACE;
		require(c, (struct code_atom){ DP_W_DEV, has, has, 0 }, no);
		break;
	case SET_DIM_MAC:
		c->features |= DP_F_MAC;
		require(c, (struct code_atom){ DP_W_DEV, DP_HAS_ETHER, DP_HAS_ETHER, 0 }, no);
		forbid(c, (struct code_atom){ is_src ? DP_W_MACS : DP_W_MACD, 0xffffffffffff, 0, 0 }, no);
		break;
	case SET_DIM_ADDR:
		if (str_is(s->type, "hash:ip"))
			addr_is_not_zero(c, s, is_src, no);
		break;
	default:
		break;
	}
}

static unsigned addr_words(const struct set *s, bool is_src, uint8_t w[2])
{
	w[0] = is_src ? DP_W_SRC_HI : DP_W_DST_HI;
	w[1] = is_src ? DP_W_SRC_LO : DP_W_DST_LO;
	if (s->family == FAMILY_IP6)
		return 2;
	w[0] = w[1];
	return 1;
}

/* The words of the key that a dimension is asked with; returns how many. */
static unsigned dim_words(const struct set *s, unsigned dim, bool is_src, uint8_t w[2])
{
	bool is_bitmap = str_is(s->type, "bitmap:port");

	switch (s->dim[dim]) {
	case SET_DIM_IFACE:
		w[0] = is_src ? DP_W_IIF0 : DP_W_OIF0;
		w[1] = is_src ? DP_W_IIF1 : DP_W_OIF1;
		return 2;
	case SET_DIM_PORT:
		w[0] = is_src ? (is_bitmap ? DP_SET_SPORT_ONLY : DP_SET_SPORT) : (is_bitmap ? DP_SET_DPORT_ONLY : DP_SET_DPORT);
		return 1;
	case SET_DIM_MAC:
		w[0] = is_src ? DP_SET_MACS : DP_SET_MACD;
		return 1;
	case SET_DIM_MARK:
		w[0] = DP_SET_MARK;
		return 1;
	default:
		return addr_words(s, is_src, w);
	}
}

/* A value in a word of its own. */
static void emit_take(struct code *c, const struct place *p, unsigned from, uint64_t mask, unsigned to)
{
	struct code_insn *i = code_add(c, DP_OP_TAKE);

	i->arg = (uint8_t)to;
	i->a = mask << p->shift;
	i->b = p->shift;
	i->c = from;
}

/*
 * The words of dimension d, and what puts the values there; n_made words are used already, from the lower one on. Absent
 * values go to absent.
 */
static unsigned key_words_of(struct code *c, const struct set *s, const struct set_use *use, unsigned d, struct by_field *f)
{
	const struct map_key *key = &use->key[d];
	struct place p = place_of(key->field, f->is_ip4);
	unsigned lo = f->n_made ? DP_W_MADE_HI : DP_W_MADE_LO;
	int there = code_label(c);

	if (key->payload) {
		bytes_emit_payload(c, key->payload, lo, there, f->absent);
		code_put(c, there);
		f->n_made += key->payload->n_bits > 64 ? 2 : 1;
		f->w[0] = key->payload->n_bits > 64 ? DP_W_MADE_HI : (uint8_t)lo;
		f->w[1] = DP_W_MADE_LO;
		return key->payload->n_bits > 64 ? 2 : 1;
	}
	c->features |= p.feature;
	if (p.has_mask)
		test_emit_presence(c, &p, there, f->absent);
	code_put(c, there);
	if (s->dim[d] != SET_DIM_VALUE)
		return dim_words(s, d, key->field == FIELD_SRC || key->field == FIELD_IIF || key->field == FIELD_MAC_SRC, f->w);
	f->w[0] = (uint8_t)lo;
	f->n_made++;
	if (p.bits <= 64) {
		emit_take(c, &p, p.word, (uint64_t)key->mask & (p.bits == 64 ? ~0ull : (1ull << p.bits) - 1), lo);
		return 1;
	}
	f->n_made++;
	f->w[0] = DP_W_MADE_HI;
	f->w[1] = DP_W_MADE_LO;
	emit_take(c, &p, p.high, (uint64_t)(key->mask >> 64), DP_W_MADE_HI);
	emit_take(c, &p, p.word, (uint64_t)key->mask, DP_W_MADE_LO);
	return 2;
}

static void emit_by_field(struct sets *s, struct code *c, const struct test *t, bool is_ip4, int yes, int no)
{
	int in = t->negated ? no : yes, out = t->negated ? yes : no;
	const struct set *set = t->set->set;
	struct by_field f = { .is_ip4 = is_ip4, .absent = t->on_absent ? yes : no };
	struct code_insn *i;
	uint64_t words = 0;
	unsigned n = 0;

	if ((set->has_addrs && set->family != (is_ip4 ? FAMILY_IP4 : FAMILY_IP6)) || !may_ask(s, set)) {
		code_test(c, (struct code_atom){ DP_W_L4, 0, 1, 0 }, in, out);
		return;
	}
	for (unsigned d = 0; d < set->n_dims; d++) {
		unsigned k = key_words_of(c, set, t->set, d, &f);

		for (unsigned j = 0; j < k; j++)
			words |= (uint64_t)f.w[j] << 8 * n++;
	}
	i = code_add(c, DP_OP_SET);
	i->a = set->id;
	i->b = words;
	i->c = is_ip4 ? DP_SET_IS_IP4 : 0;
	i->yes = in;
	i->no = out;
	c->features |= DP_F_SET;
	c->steps += s->n_shapes[set->id];
}

static void emit_one(struct sets *s, struct code *c, const struct set *set, const struct set_use *use, bool is_ip4, int in, int out)
{
	enum family family = is_ip4 ? FAMILY_IP4 : FAMILY_IP6;
	struct code_insn *i;
	uint64_t words = 0;
	unsigned n = 0;
	bool has_nets = false;

	if (use->n_dirs < set->n_dims || (set->has_addrs && set->family != family) || !may_ask(s, set)) {
		code_test(c, (struct code_atom){ DP_W_L4, 0, 1, 0 }, in, out);
		return;
	}
	for (unsigned d = 0; d < set->n_dims; d++) {
		bool is_src = use->dir[d] == SET_DIR_SRC;
		uint8_t w[2];
		unsigned k = dim_words(set, d, is_src, w);

		has_nets |= set->dim[d] == SET_DIM_NET;
		dim_is_there(c, set, d, is_src, is_ip4, out);
		for (unsigned j = 0; j < k; j++)
			words |= (uint64_t)w[j] << 8 * n++;
	}
	i = code_add(c, DP_OP_SET);
	i->a = set->id;
	i->b = words;
	i->c = (use->return_nomatch && has_nets ? DP_SET_EXCEPTION : 0) | (is_ip4 ? DP_SET_IS_IP4 : 0);
	i->yes = in;
	i->no = out;
	c->features |= DP_F_SET;
	c->steps += s->n_shapes[set->id];
}

static bool is_list(const struct set *s)
{
	return s->n_dims == 1 && s->dim[0] == SET_DIM_LIST;
}

/* The members of a list in their order. */
static void emit_list(struct sets *s, struct code *c, const struct test *t, bool is_ip4, int in, int out)
{
	const struct set *list = t->set->set;

	if (find_elem(list, expires) && s->state[list->id] == STATE_NOT_ASKED)
		refuse(s, list, find_elem(list, expires), "elements that expire are not kept here", NULL);
	for (size_t i = 0; i < list->elems.n; i++) {
		const struct set *member = policy_set_find(s->rs, list->elems.v[i].list);
		int next = code_label(c);

		if (!member || is_list(member))
			refuse(s, list, &list->elems.v[i], member ? "a list in a list is not looked into" : "there is no such set",
			       NULL);
		else
			emit_one(s, c, member, t->set, is_ip4, in, next);
		code_put(c, next);
	}
	code_test(c, (struct code_atom){ DP_W_L4, 0, 1, 0 }, in, out);
}

void sets_emit(struct sets *s, struct code *c, const struct test *t, bool is_ip4, int yes, int no)
{
	int in = t->negated ? no : yes, out = t->negated ? yes : no;

	if (t->set->by_field)
		emit_by_field(s, c, t, is_ip4, yes, no);
	else if (is_list(t->set->set) && t->set->n_dirs >= 1)
		emit_list(s, c, t, is_ip4, in, out);
	else
		emit_one(s, c, t->set->set, t->set, is_ip4, in, out);
}

/* ---------- numbers ---------- */

struct sets_asked sets_asked(struct sets *s, const struct code *c, uint32_t pc)
{
	for (size_t i = 0; i < c->insn.n; i++)
		if (c->insn.v[i].op == DP_OP_SET)
			*vec_add(s->a, &s->asked.at) = (struct sets_asking){ 4 * (pc + (uint32_t)i) + 1, (uint32_t)c->insn.v[i].a };
	return s->asked;
}

void sets_number(const struct sets_asked *s, uint64_t *word, const uint32_t *id)
{
	for (size_t i = 0; i < s->at.n; i++)
		word[s->at.v[i].word] = id[s->at.v[i].set];
}

/* ---------- an image of one's own ---------- */

static unsigned log2_up(size_t n)
{
	unsigned k = SETMEM_MIN_LOG2;

	while (((size_t)1 << k) < n)
		k++;
	return k;
}

static size_t words_wanted(const struct sets_asked *s)
{
	size_t n = SETMEM_FIXED_WORDS;

	for (size_t i = 0; i < s->set.n; i++)
		n += setmem_words_for(s->set.v[i], s->set.v[i]->elems.n);
	return n;
}

static int fill(struct setmem *m, const struct sets_asked *s, uint32_t *id)
{
	int err = 0;

	for (size_t i = 0; i < s->set.n && !err; i++)
		err = setmem_build(m, s->set.v[i], NULL, &id[s->set.v[i]->id], NULL);
	return err;
}

int sets_image(struct arena *a, const struct sets_asked *s, struct sets_clock clock, uint64_t *word, struct sets_image *out)
{
	uint32_t most = 0;
	int err = -ENOSPC;

	for (size_t i = 0; i < s->set.n; i++)
		most = s->set.v[i]->id > most ? s->set.v[i]->id : most;
	*out = (struct sets_image){ .log2 = log2_up(words_wanted(s)) };
	for (; err == -ENOSPC && out->log2 <= SETMEM_MAX_LOG2; out->log2++) {
		uint32_t *id = arena_new(a, uint32_t, most + 1u);
		struct setmem_space space;
		struct setmem m;

		out->word = arena_new(a, uint64_t, ((size_t)1 << out->log2) + DP_TABLE_PAD);
		setmem_create(&m, out->word, out->log2);
		m.now = clock.now;
		m.hz = clock.hz;
		err = fill(&m, s, id);
		setmem_space(&m, &space);
		out->n_used = space.used;
		setmem_close(&m);
		if (err)
			continue;
		sets_number(s, word, id);
		return 0;
	}
	return err;
}
