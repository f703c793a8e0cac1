/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The programs in the kernel as an engine for tests, by test runs: nothing is attached. What a test run of a netfilter
 * program cannot be given (interfaces, connection, clock) comes from a map that only programs for tests read. Which rules
 * counted is told by the counters before and after; which of them decided, by what the rules say.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/engine_way.h"
#include "kernel/program.h"

enum { FRAME_BYTES = 14 };

struct kernel_state {
	struct engine_tables t;
	struct program_size size;
	struct program_maps maps;
	int generation;
	int fd[DP_POINTS];
	struct dp_test_meta *meta;
	uint64_t *count, *before; /* packets and bytes of each row and counter; sums of packets before the run */
};

/* As the kernel takes it from a test: hook and family; the rest must be 0. */
struct hook_state {
	uint8_t hook, pf, pad[6];
	uint64_t in, out, sk, net, okfn;
};

static size_t page_up(size_t n)
{
	return (n + 4095) & ~(size_t)4095;
}

static void *map_memory(int fd, size_t bytes)
{
	void *p = mmap(NULL, page_up(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool fill(int fd, size_t bytes, const uint64_t *v, size_t n)
{
	void *p = map_memory(fd, bytes);

	if (p && n)
		memcpy(p, v, n * sizeof *v);
	if (p)
		munmap(p, page_up(bytes));
	return p != NULL;
}

static int open_maps(struct kernel_state *k)
{
	const struct tables *t = k->t.tables;
	int err;

	k->generation = program_generation_create();
	if (k->generation < 0)
		return k->generation;
	k->size = program_size_fit(t->n_words, engine_counters(&k->t), t->n_state);
	k->size.sets_log2 = t->image.word ? t->image.log2 : k->size.sets_log2;
	err = program_maps_create(&k->maps, &k->size, k->generation);
	if (err)
		return err;
	k->maps.log = program_log_create();
	k->maps.meta = program_meta_create();
	if (k->maps.meta < 0)
		return k->maps.meta;
	k->meta = map_memory(k->maps.meta, sizeof *k->meta);
	k->count = map_memory(k->maps.count, program_count_bytes(&k->size));
	if (!k->meta || !k->count || !fill(k->maps.table, program_table_bytes(&k->size), t->word, t->n_words) ||
	    !fill(k->maps.state, program_state_bytes(&k->size), t->state, t->n_state) ||
	    !fill(k->maps.sets, program_sets_bytes(&k->size), t->image.word, t->image.word ? (size_t)1 << t->image.log2 : 0))
		return -ENOMEM;
	return 0;
}

static int open_programs(struct kernel_state *k, struct arena *a, struct str *why)
{
	for (unsigned p = 0; p < DP_POINTS; p++) {
		const struct tables_point *point = &k->t.tables->point[p];
		struct program_spec spec = { .type = PROGRAM_NF, .point = p, .features = point->features,
					     .size = k->size, .malformed_accept = k->t.opt.malformed_accept,
					     .test_meta = true, .maps = k->maps };

		if (!point->is_used)
			continue;
		k->fd[p] = program_load(a, &spec, why);
		if (k->fd[p] < 0)
			return k->fd[p];
	}
	return 0;
}

static void kernel_close(void *state)
{
	struct kernel_state *k = state;

	for (unsigned p = 0; p < DP_POINTS; p++)
		if (k->fd[p] > 0)
			close(k->fd[p]);
	if (k->meta)
		munmap(k->meta, page_up(sizeof *k->meta));
	if (k->count)
		munmap(k->count, page_up(program_count_bytes(&k->size)));
	if (k->generation >= 0)
		close(k->generation);
	program_maps_close(&k->maps);
}

static void *kernel_open(struct arena *a, const struct ruleset *rs, const struct eval_options *opt, struct str *skip)
{
	struct kernel_state *k = arena_new(a, struct kernel_state, 1);
	struct str why = { 0 };
	int err;

	if (!engine_tables_build(a, rs, opt, &k->t, skip))
		return NULL;
	k->maps = PROGRAM_NO_MAPS;
	k->before = arena_new(a, uint64_t, engine_counters(&k->t));
	err = open_maps(k);
	if (!err)
		err = open_programs(k, a, &why);
	if (!err)
		return k;
	*skip = arena_printf(a, "the kernel refused: %s", why.n ? why.p : strerror(-err));
	kernel_close(k);
	return NULL;
}

/* ---------- one packet at one point ---------- */

static void name_words(const char *name, __u64 w[2])
{
	u128 v = field_name_value(str_from(name));

	w[0] = (uint64_t)(v >> 64);
	w[1] = (uint64_t)v;
}

static uint64_t bytes_number(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static void put_meta(struct dp_test_meta *m, const struct packet *p, uint64_t now, uint32_t mark)
{
	int ct = p->ct < 0 ? CT_INVALID : p->ct;

	*m = (struct dp_test_meta){ .now = now, .mark = mark,
				    .ct_state = (uint8_t)(1u << ct),
				    .has_ct = ct == CT_NEW || ct == CT_ESTABLISHED || ct == CT_RELATED };
	name_words(p->iif, m->iif);
	name_words(p->oif, m->oif);
	m->ct_mark = m->has_ct ? p->ct_mark : 0;
	m->has_socket = p->uid >= 0;
	m->uid = p->uid >= 0 ? (uint32_t)p->uid : 0;
	m->gid = p->gid >= 0 ? (uint32_t)p->gid : 0;
	m->pkttype = p->pkttype > 0 ? (uint8_t)p->pkttype : 0;
	m->cpu = p->cpu > 0 ? (uint32_t)p->cpu : 0;
	m->has_realm = p->realm >= 0;
	m->realm = p->realm >= 0 ? (uint32_t)p->realm : 0;
	if (p->link == PACKET_LINK_ETHER && p->len >= FRAME_BYTES && p->iif[0]) {
		m->has_mac = 1;
		m->mac_dst = bytes_number(p->bytes, 6);
		m->mac_src = bytes_number(p->bytes + 6, 6) | bytes_number(p->bytes + 12, 2) << 48;
	}
}

/* The kernel wants an Ethernet frame with a whole IP header; at output the bytes without their Ethernet header. */
static struct str test_bytes(struct arena *a, const struct packet *p, bool is_output, bool is_ip6)
{
	struct buf b = { .a = a };
	uint8_t head[FRAME_BYTES] = { 0 };

	head[12] = is_ip6 ? 0x86 : 0x08;
	head[13] = is_ip6 ? 0xdd : 0x00;
	if (p->link != PACKET_LINK_ETHER && !is_output)
		buf_add(&b, (const char *)head, sizeof head);
	if (p->link == PACKET_LINK_ETHER && is_output)
		buf_add(&b, (const char *)p->bytes + FRAME_BYTES, p->len - FRAME_BYTES);
	else
		buf_add(&b, (const char *)p->bytes, p->len);
	return buf_str(&b);
}

static uint64_t counted(const struct kernel_state *k, uint32_t counter)
{
	uint64_t sum = 0;

	for (size_t row = 0; row < (size_t)1 << k->size.rows_log2; row++)
		sum += k->count[2 * ((row << k->size.counters_log2) + counter)];
	return sum;
}

static enum verdict verdict_of(const struct rule *r)
{
	const struct step *last = r->n_steps ? &r->step[r->n_steps - 1] : NULL;

	return last && last->kind == STEP_VERDICT ? last->v.verdict : VERDICT_NONE;
}

/* Which of the chains of a point, in their order, is the one of this table. */
static unsigned place_in(const struct tables_point *point, struct str table)
{
	unsigned i = 0;

	while (i < point->n_chains && !str_eq(point->chain[i]->table, table))
		i++;
	return i;
}

static bool is_end(enum verdict v)
{
	return v == VERDICT_ACCEPT || v == VERDICT_DROP || v == VERDICT_REJECT;
}

struct taken {
	const struct rule *ends, *returns; /* of the last chain that counted */
	const struct chain *policy;
};

static void take_rule(const struct tables_point *point, const struct rule *r, struct taken *t)
{
	if (verdict_of(r) == VERDICT_RETURN && r->chain->hook != HOOK_NONE)
		t->returns = r;
	if (is_end(verdict_of(r)) &&
	    (!t->ends || place_in(point, r->chain->table) > place_in(point, t->ends->chain->table)))
		t->ends = r;
}

/* Takes what went up. Of the chains of a point the last that counted decided: by its policy, or by a rule that ends. */
static void take_counts(struct kernel_state *k, struct arena *a, const struct tables_point *point,
			struct engine_answer *out)
{
	struct taken t = { 0 };

	for (uint32_t i = 0; i < engine_counters(&k->t); i++) {
		uint64_t n = counted(k, i) - k->before[i];
		const struct chain *chain;
		size_t n_rules;
		const struct rule *const *r = engine_counter(&k->t, i, &n_rules, &chain);

		out->is_malformed = out->is_malformed || (i == DP_COUNTER_MALFORMED && n);
		if (n && chain && (!t.policy || place_in(point, chain->table) > place_in(point, t.policy->table)))
			t.policy = chain;
		for (size_t x = 0; n && x < n_rules; x++) {
			take_rule(point, r[x], &t);
			for (uint64_t j = 0; j < n; j++)
				*vec_add(a, &out->hits) = r[x];
		}
	}
	if (t.ends && t.policy && place_in(point, t.policy->table) > place_in(point, t.ends->chain->table))
		t.ends = NULL;
	out->rule = t.ends;
	out->chain = t.ends ? NULL : t.policy;
	out->via = out->chain && t.returns && t.returns->chain == out->chain ? t.returns : NULL;
}

/* True when the packet goes on. */
static bool run_point(struct kernel_state *k, struct arena *a, const struct packet *p, unsigned point,
		      struct engine_answer *out)
{
	bool is_ip6 = point >= DP_POINTS_PER_FAMILY;
	struct hook_state state = { .hook = (uint8_t)DP_POSITION_HOOK(point), .pf = is_ip6 ? 10 : 2 };
	struct str bytes = test_bytes(a, p, state.hook == 3, is_ip6);
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = bytes.p, .data_size_in = (uint32_t)bytes.n, .ctx_in = &state,
		    .ctx_size_in = sizeof state, .repeat = 1);

	put_meta(k->meta, p, engine_now(&k->t, p), out->mark);
	for (uint32_t i = 0; i < engine_counters(&k->t); i++)
		k->before[i] = counted(k, i);
	if (bpf_prog_test_run_opts(k->fd[point], &o)) {
		out->skip = arena_printf(a, "the kernel does not take this packet for a test: %s", strerror(errno));
		return false;
	}
	if (o.retval == 0)
		out->verdict = STR("drop");
	out->mark = k->meta->mark_out;
	take_counts(k, a, &k->t.tables->point[point], out);
	return o.retval != 0;
}

static void kernel_run(void *state, struct arena *a, const struct packet *p, struct engine_answer *out)
{
	struct kernel_state *k = state;
	unsigned position[DP_POSITION_COUNT], n = engine_way(&k->t, p, position);
	struct facts *f = arena_new(a, struct facts, 1);

	*out = (struct engine_answer){ .verdict = STR("accept"), .mark = p->mark, .mark_known = true,
				       .only_drops = true };
	facts_read(f, p);
	if (k->t.opt.hook < 0 && !p->iif[0] && !p->oif[0])
		out->skip = STR("the way of the packet is not said");
	for (unsigned i = 0; i < n && f->is_ip && !out->skip.n; i++) {
		struct packet here = engine_packet_at(&k->t, p, position[i]);
		unsigned point = position[i] + (f->family == FAMILY_IP6 ? DP_POINTS_PER_FAMILY : 0);

		if (k->t.tables->point[point].is_used && !run_point(k, a, &here, point, out))
			return;
	}
}

const struct engine engine_kernel = { "kernel", kernel_open, kernel_run, kernel_close };
