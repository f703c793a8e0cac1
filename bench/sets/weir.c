/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One rule that asks the set for the destination and counts, in weir's program (bench/classify/key.bpf.c: the datapath on
 * keys that lie in a map); the base has no rules. Beside it a rule that asks for the protocol instead. The image of the set is built in the program's own map, and changed there.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "classify/tables.h"
#include "lang/lang.h"
#include "sets/model.h"
#include "sets/setmem.h"
#include "sets/ways.h"
#include "tables/format.h"
#include "tables/key.h"

enum { HALF_LOG2 = 12, COUNTERS_LOG2 = 8, KEY_WORDS = 5, POINT = DP_POSITION_PREROUTING_MANGLE };

struct weir {
	struct bpf_object *object;
	int fd;
	uint64_t *table, *keys, *image; /* mapped */
	size_t image_bytes;
	const struct tables *with, *without;
	struct setmem m;
	uint32_t id;
};

static const struct tables *compile(struct arena *a, const char *rule, struct set *s)
{
	struct sources src = { .a = a };
	struct diags d = { .a = a, .sources = &src };
	struct tables_options opt = { .test_run = true, .hz = 250, .sets_apart = true };
	struct ruleset *rs = policy_create(a);
	struct lang_file f;
	struct str text = arena_printf(a, "*mangle\n:PREROUTING ACCEPT [0:0]\n%sCOMMIT\n", rule);
	struct set *own = policy_set_add(rs, s->name, (struct loc){ 0 });

	*own = *s;
	lang_read(rs, &d, source_add(&src, "rules", text), LANG_IPTABLES, &f);
	policy_number(rs);
	return tables_build(a, rs, &opt, &d);
}

static void *map_of(const struct weir *x, const char *name, size_t *bytes)
{
	struct bpf_map *m = bpf_object__find_map_by_name(x->object, name);
	size_t n = (bpf_map__value_size(m) + 4095) & ~4095u;
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(m), 0);

	if (bytes)
		*bytes = n;
	return p == MAP_FAILED ? NULL : p;
}

static const char *load(struct weir *x, const struct bench *b, unsigned image_log2)
{
	struct dp_config c = { .table_mask = (2ull << HALF_LOG2) - 1, .counter_mask = (8ull << COUNTERS_LOG2) - 1, .state_mask = 7,
			       .sets_mask = (1ull << image_log2) - 1, .features = x->with->features, .point = POINT,
			       .half_log2 = HALF_LOG2, .counters_log2 = COUNTERS_LOG2 };
	struct bpf_object *o = x->object = bpf_object__open_file(b->key_object, NULL);

	if (!o)
		return "its object cannot be opened";
	bpf_map__set_initial_value(bpf_object__find_map_by_name(o, ".rodata"), &c, sizeof c);
	bpf_map__set_value_size(bpf_object__find_map_by_name(o, "dp_table"), (uint32_t)((2ull << HALF_LOG2) + DP_TABLE_PAD) * 8);
	bpf_map__set_value_size(bpf_object__find_map_by_name(o, "dp_count"), 16u * 8 << COUNTERS_LOG2);
	bpf_map__set_value_size(bpf_object__find_map_by_name(o, "dp_sets"), (uint32_t)((1ull << image_log2) + DP_TABLE_PAD) * 8);
	if (bpf_object__load(o))
		return "the kernel does not take the program";
	x->fd = bpf_program__fd(bpf_object__find_program_by_name(o, "bench_key"));
	x->table = map_of(x, "dp_table", NULL);
	x->keys = map_of(x, "bench_keys", NULL);
	x->image = map_of(x, "dp_sets", &x->image_bytes);
	return x->table && x->keys && x->image ? NULL : "its maps cannot be mapped";
}

/* A rule that every key matches. */
static const char *open_plain(struct way *w, const struct bench *b, double *ms)
{
	struct weir *x = w->own = arena_new(b->a, struct weir, 1);
	struct set *s = model_declare(b->a, b->is_hosts);

	*ms = 0;
	x->with = compile(b->a, "-A PREROUTING -p udp\n", s);
	x->without = compile(b->a, "", s);
	return x->with && x->without ? load(x, b, SETMEM_MIN_LOG2) : "the rule cannot be compiled";
}

static const char *open(struct way *w, const struct bench *b, double *ms)
{
	struct weir *x = w->own = arena_new(b->a, struct weir, 1);
	struct set *s = model_declare(b->a, b->is_hosts);
	struct setmem_source src = { .overlap = SETMEM_MERGE, .span = model_spans(b->a, b->net, b->n), .n_spans = b->n };
	unsigned log2 = model_log2(s, b->n + WAYS_ADDED);
	const char *why;

	x->with = compile(b->a, "-A PREROUTING -m set --match-set bench dst\n", s);
	x->without = compile(b->a, "", s);
	why = x->with && x->without ? load(x, b, log2) : "the rule cannot be compiled";
	if (why)
		return why;
	*ms = ways_now_ns();
	setmem_create(&x->m, x->image, log2);
	if (setmem_build(&x->m, s, &src, &x->id, NULL))
		return "the image is too small";
	*ms = (ways_now_ns() - *ms) / 1e6;
	sets_number(&x->with->sets, x->with->word, &x->id);
	return NULL;
}

static void keys(struct way *w, const uint32_t key[MAKE_KEYS])
{
	struct weir *x = w->own;

	memset(x->keys, 0, MAKE_KEYS * KEY_WORDS * sizeof *x->keys);
	for (size_t i = 0; i < MAKE_KEYS; i++) {
		x->keys[i * KEY_WORDS + DP_W_DST_LO] = key[i];
		x->keys[i * KEY_WORDS + DP_W_L4] = 17ull << 24;
	}
}

static double run(struct way *w, bool base)
{
	struct weir *x = w->own;
	const struct tables *t = base ? x->without : x->with;

	memcpy(x->table, t->word, t->n_words * sizeof *t->word);
	return ways_test_run(x->fd, MAKE_KEYS);
}

static int add(struct way *w, uint32_t addr)
{
	struct weir *x = w->own;

	return model_add(&x->m, x->id, addr);
}

static void end(struct way *w)
{
	struct weir *x = w->own;

	if (x->image)
		munmap(x->image, x->image_bytes);
	bpf_object__close(x->object);
}

const struct way way_weir = { "weir's program, a rule with a set", open, keys, run, add, end, NULL };
const struct way way_plain = { "weir's program, a rule without", open_plain, keys, run, NULL, end, NULL };
