/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The kernel's side of the judges. See testrun.h. */
#include "diff/lib/testrun.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_WORDS = 1 << 19, MAX_COUNTERS = 8000, MAX_STATE = 1000, SETS_LOG2 = 17 };

static void *map_of(int fd, size_t bytes)
{
	void *p = mmap(NULL, (bytes + 4095) & ~(size_t)4095, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int open_maps(struct kernel *k, uint32_t words, uint32_t counters)
{
	int gen = program_generation_create(), err;

	if (gen < 0)
		return gen;
	k->size = program_size_fit(words, counters, MAX_STATE);
	k->size.sets_log2 = SETS_LOG2;
	err = program_maps_create(&k->maps, &k->size, gen);
	if (err)
		return err;
	k->maps.log = program_log_create();
	k->maps.meta = program_meta_create();
	k->generation = map_of(gen, 8);
	k->table = map_of(k->maps.table, program_table_bytes(&k->size));
	k->count = map_of(k->maps.count, program_count_bytes(&k->size));
	k->state = map_of(k->maps.state, program_state_bytes(&k->size));
	k->sets = map_of(k->maps.sets, program_sets_bytes(&k->size));
	k->meta = map_of(k->maps.meta, sizeof *k->meta);
	return k->generation && k->table && k->count && k->state && k->sets && k->meta ? 0 : -ENOMEM;
}

static int open_program(struct kernel *k, struct arena *a, enum program_type type, unsigned point, struct str *why)
{
	struct program_spec spec = { .type = type, .point = point, .features = k->features, .size = k->size, .test_meta = true,
				     .maps = k->maps };
	int fd = program_load(a, &spec, why);

	if (fd >= 0)
		k->fd[type][point] = fd;
	return fd < 0 ? fd : 0;
}

static void close_own(struct kernel *k)
{
	for (unsigned t = 0; t < 3; t++)
		for (unsigned p = 0; p < DP_POINTS; p++)
			if (k->own[t][p] > 0) {
				close(k->own[t][p]);
				k->own[t][p] = 0;
			}
}

static int program_fd(const struct kernel *k, enum program_type type, unsigned point)
{
	return k->own[type][point] > 0 ? k->own[type][point] : k->fd[type][point];
}

bool testrun_own(struct kernel *k, struct arena *a, const struct tables *t, const struct case_text *text, struct str *why)
{
	struct program_spec spec = { .size = k->size, .test_meta = true, .malformed_accept = text->malformed_accept,
				     .maps = k->maps };

	for (unsigned p = 0; p < DP_POINTS; p++) {
		if (!t->point[p].is_used)
			continue;
		for (enum program_type type = PROGRAM_NF; type < PROGRAM_TYPE_COUNT; type++) {
			spec.type = type;
			spec.point = type == PROGRAM_NF ? p : p % DP_POINTS_PER_FAMILY;
			spec.features = t->point[p].features;
			k->own[type][spec.point] = program_load(a, &spec, why);
			if (k->own[type][spec.point] < 0)
				return false;
		}
	}
	return true;
}

int kernel_open(struct kernel *k, struct arena *a, uint32_t features, struct str *why)
{
	int err;

	*k = (struct kernel){ .features = features };
	err = open_maps(k, MAX_WORDS, MAX_COUNTERS);
	if (err) {
		*why = arena_printf(a, "BPF maps: %s", strerror(-err));
		return err;
	}
	for (unsigned p = 0; p < DP_POSITION_COUNT && !err; p++) {
		err = open_program(k, a, PROGRAM_NF, p, why);
		if (!err)
			err = open_program(k, a, PROGRAM_NF, p + DP_POINTS_PER_FAMILY, why);
		if (!err)
			err = open_program(k, a, PROGRAM_TCX, p, why);
		if (!err)
			err = open_program(k, a, PROGRAM_XDP, p, why);
	}
	return err;
}

int kernel_open_one(struct kernel *k, struct arena *a, enum judge j, unsigned position, uint32_t words, uint32_t counters,
		    struct str *why)
{
	int err;

	*k = (struct kernel){ .features = ~0u };
	err = open_maps(k, words, counters);
	if (err)
		*why = arena_printf(a, "BPF maps: %s", strerror(-err));
	else
		err = open_program(k, a, (enum program_type)(j - JUDGE_NF), position, why);
	return err;
}

void kernel_close(struct kernel *k)
{
	close_own(k);
	for (unsigned t = 0; t < 3; t++)
		for (unsigned p = 0; p < DP_POINTS; p++)
			if (k->fd[t][p] > 0)
				close(k->fd[t][p]);
	munmap(k->table, (program_table_bytes(&k->size) + 4095) & ~(size_t)4095);
	munmap(k->count, (program_count_bytes(&k->size) + 4095) & ~(size_t)4095);
	munmap(k->state, (program_state_bytes(&k->size) + 4095) & ~(size_t)4095);
	munmap(k->sets, (program_sets_bytes(&k->size) + 4095) & ~(size_t)4095);
	munmap(k->meta, 4096);
	munmap(k->generation, 4096);
	close(k->maps.generation);
	program_maps_close(&k->maps);
}

/* The half that was not in use gets the tables, then the word is flipped; so both halves are asked in turn. */
bool testrun_put(struct kernel *k, const struct tables *t, uint32_t n_counters, struct str *why)
{
	unsigned half = *k->generation & DP_GEN_HALF(0) ? 0 : 1;
	size_t spare = ((size_t)1 << k->size.half_log2) - t->n_words;
	uint64_t *to;

	if (!program_size_holds(&k->size, t->n_words, n_counters, t->n_state) || t->image.log2 > SETS_LOG2) {
		*why = STR("the tables are larger than the test's maps");
		return false;
	}
	close_own(k);
	to = k->table + ((size_t)half << k->size.half_log2);
	memset(to + t->n_words, 0xa5, (spare < 1 << 15 ? spare : 1 << 15) * sizeof *to); /* must not matter */
	memcpy(to, t->word, t->n_words * sizeof *t->word);
	memset(k->state, 0xa5, program_state_bytes(&k->size));
	if (t->n_state)
		memcpy(k->state + ((size_t)half << k->size.state_log2), t->state, t->n_state * sizeof *t->state);
	if (t->image.word)
		memcpy(k->sets, t->image.word, sizeof *k->sets << t->image.log2);
	memset(k->count, 0, program_count_bytes(&k->size));
	*k->generation = half ? DP_GEN_HALF(0) : 0;
	return true;
}

uint64_t testrun_count(const struct kernel *k, uint32_t counter)
{
	uint64_t sum = 0;

	for (size_t row = 0; row < (size_t)1 << k->size.rows_log2; row++)
		sum += k->count[2 * ((row << k->size.counters_log2) + counter)];
	return sum;
}

/* ---------- one packet ---------- */

static void name_words(const char *name, __u64 w[2])
{
	u128 v = field_name_value(str_from(name));

	w[0] = (uint64_t)(v >> 64);
	w[1] = (uint64_t)v;
}

static uint64_t mac_at(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 6; i++)
		v = v << 8 | p[i];
	return v;
}

static void put_meta(struct dp_test_meta *m, const struct packet *p, unsigned position, uint32_t mark)
{
	bool is_raw = DP_POSITION_IS_RAW(position);
	int ct = is_raw || p->ct < 0 ? CT_INVALID : p->ct;

	*m = (struct dp_test_meta){ .now = (uint64_t)p->time_ns / (1000000000 / JUDGE_HZ), .mark = mark,
				    .ct_state = (uint8_t)(1u << ct),
				    .has_ct = ct == CT_NEW || ct == CT_ESTABLISHED || ct == CT_RELATED };
	if (native_sees_iif(position) && p->has_iif)
		name_words(p->iif, m->iif);
	if (native_sees_oif(position) && p->has_oif)
		name_words(p->oif, m->oif);
	m->ct_mark = m->has_ct ? p->ct_mark : 0;
	m->has_socket = p->uid >= 0;
	m->uid = p->uid >= 0 ? (uint32_t)p->uid : 0;
	m->gid = p->gid >= 0 ? (uint32_t)p->gid : 0;
	m->pkttype = p->pkttype > 0 ? (uint8_t)p->pkttype : 0;
	m->cpu = p->cpu > 0 ? (uint32_t)p->cpu : 0;
	m->has_realm = p->realm >= 0;
	m->realm = p->realm >= 0 ? (uint32_t)p->realm : 0;
	if (p->link == PACKET_LINK_ETHER && p->len >= 14 && p->has_iif) {
		m->has_mac = 1;
		m->mac_dst = mac_at(p->bytes);
		m->mac_src = mac_at(p->bytes + 6) | (uint64_t)p->bytes[12] << 56 | (uint64_t)p->bytes[13] << 48;
	}
	m->linear = p->time_ns / 100000 % 3 ? 0 : (uint32_t)(p->time_ns / 300000 % 60) + 20;
}

/* A struct nf_hook_state as the kernel takes it from a test: hook and family; the rest must be 0. */
struct hook_state {
	uint8_t hook, pf, pad[6];
	uint64_t in, out, sk, net, okfn;
};

static struct judged run_nf(struct kernel *k, unsigned point, const struct packet *p)
{
	bool ip6 = point >= DP_POINTS_PER_FAMILY, is_output = DP_POSITION_HOOK(point) == 3;
	struct hook_state state = { .hook = (uint8_t)DP_POSITION_HOOK(point), .pf = ip6 ? 10 : 2 };
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = p->bytes, .data_size_in = p->len, .ctx_in = &state,
		    .ctx_size_in = sizeof state, .repeat = 1);

	/* The kernel wants a frame with a whole IP header; at output without its Ethernet header. */
	if (p->link != PACKET_LINK_ETHER || p->len < 14 + (ip6 ? 40u : 20u))
		return (struct judged){ .is_skipped = true };
	if (is_output) {
		o.data_in = p->bytes + 14;
		o.data_size_in = p->len - 14;
	}
	if (bpf_prog_test_run_opts(program_fd(k, PROGRAM_NF, point), &o)) {
		fprintf(stderr, "# test run at point %u, %u bytes: %s\n", point, p->len, strerror(errno));
		return (struct judged){ .is_unknown = true };
	}
	return (struct judged){ .drops = o.retval == 0 };
}

static struct judged run_frame(struct kernel *k, enum program_type type, unsigned point, const struct packet *p)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = p->bytes, .data_size_in = p->len, .repeat = 1);
	uint32_t drop = type == PROGRAM_TCX ? 2 : 1; /* TCX_DROP, XDP_DROP */

	if (p->link != PACKET_LINK_ETHER || p->len < 14)
		return (struct judged){ .is_skipped = true };
	if (bpf_prog_test_run_opts(program_fd(k, type, point % DP_POINTS_PER_FAMILY), &o)) {
		fprintf(stderr, "# test run of %u bytes: %s\n", p->len, strerror(errno));
		return (struct judged){ .is_unknown = true };
	}
	return (struct judged){ .drops = o.retval == drop };
}

struct judged testrun_judge(struct kernel *k, enum judge j, unsigned point, const struct packet *p, uint32_t mark)
{
	struct judged x = { .is_skipped = true };

	put_meta(k->meta, p, point % DP_POINTS_PER_FAMILY, mark);
	if (j == JUDGE_NF)
		x = run_nf(k, point, p);
	else
		x = run_frame(k, j == JUDGE_TCX ? PROGRAM_TCX : PROGRAM_XDP, point, p);
	x.mark = k->meta->mark_out;
	return x;
}
