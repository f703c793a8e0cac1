/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The transaction of a load. See load.h for its order. */
#include "kernel/load.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "classify/tables.h"
#include "kernel/conntrack.h"
#include "kernel/counts.h"
#include "flat/flat.h"
#include "kernel/describe.h"
#include "kernel/tidy.h"

struct load {
	struct arena *a;
	const struct instance *in;
	struct pins p;
	bool is_open; /* p */
	const struct load_request *q;
	struct diags *d;
	struct load_result *out;
	struct refusal *why;

	const struct info *active; /* NULL: no rules are loaded */
	struct info next;
	bool *in_use;
	struct tables *tables;
	uint64_t word, next_word;
	unsigned half;
	struct program_maps maps; /* of the slot that is written */
	bool has_new_counts;	  /* its counters are a map of its own */
	struct setload sets;
	bool has_new_sets; /* they lie in a map of their own */
	bool needs_room;   /* the sets did not fit where they seemed to */
};

/* ---------- deciding: nothing is touched ---------- */

static int read_active(struct load *l)
{
	int err = l->is_open ? pins_info(&l->p, l->a, &l->out->before, l->why) : -ENOENT;

	if (err && err != -ENOENT)
		return err;
	l->active = err ? NULL : &l->out->before;
	l->out->had_rules = !err;
	l->word = l->is_open ? pins_word(&l->p) : 0;
	return 0;
}

/*
 * Chains at one hook are judged by one program, unless somebody else hangs between them: then each needs its own place, so
 * that the order stays.
 */
static bool is_between(void *arg, enum family f, enum hook h, int lower, int upper)
{
	return hooks_between(arg, (struct nflink_place){ f, h, lower }, upper);
}

/* The positions in use, with their priorities. */
static void active_places(const struct load *l, struct flat_places *held)
{
	for (size_t i = 0; l->active && i < l->active->points.n; i++) {
		const struct info_point *p = &l->active->points.v[i];
		unsigned position = p->number % DP_POINTS_PER_FAMILY;

		held->at[position].is_used = true;
		held->at[position].priority = p->wanted;
	}
}

static uint32_t number_sum(void *arg, const struct rule *const *rule, size_t n)
{
	struct load *l = arg;

	return number_of_sum(l->a, &l->out->numbers, rule, n);
}

static int compile(struct load *l)
{
	struct numbers *n = &l->out->numbers;
	struct tables_options opt = { .special_counter = 0, .reject_as_drop = l->q->reject_as_drop,
				      .malformed_accept = l->q->malformed_accept };
	struct flat_places held = { 0 };
	struct hooks all;

	hooks_list(l->a, &all);
	active_places(l, &held);
	l->in_use = describe_in_use(l->a, l->q->rules);
	number_assign(l->a, l->q->rules, l->in_use, l->active, n);
	opt.rule_counter = n->rule;
	opt.chain_counter = n->chain;
	opt.may_sum = true;
	opt.sum_counter = number_sum;
	opt.sum_arg = l;
	opt.is_between = is_between;
	opt.between_arg = &all;
	opt.held = &held;
	opt.sets_apart = opt.sets_expire = true;
	l->tables = tables_build(l->a, l->q->rules, &opt, l->d);
	if (!l->tables)
		return -EINVAL;
	return setload_plan(l->a, &l->p, l->active, l->q->rules, l->tables, &l->sets, l->why);
}

static const struct info_point *find_point(const struct info *i, unsigned number)
{
	for (size_t k = 0; i && k < i->points.n; k++)
		if (i->points.v[k].number == number)
			return &i->points.v[k];
	return NULL;
}

/* Can the programs of the active slot judge by these tables? */
static bool fits_active_slot(const struct load *l)
{
	const struct tables *t = l->tables;

	if (!l->active || !l->sets.fits || l->needs_room || l->active->malformed_accept != l->q->malformed_accept ||
	    !str_eq(l->active->made_by, program_identity()) ||
	    !program_size_holds(&l->active->size, t->n_words, l->out->numbers.n, t->n_state))
		return false;
	for (unsigned i = 0; i < TABLES_MAX_POINTS; i++) {
		const struct info_point *had = find_point(l->active, i);

		if (t->point[i].is_used && had && (t->point[i].features & ~had->features))
			return false;
	}
	return true;
}

/* An image of sets with room for what may come: at least as large as the one whose sets go on in it. */
static uint32_t sets_log2(const struct load *l)
{
	uint64_t wanted = SETMEM_FIXED_WORDS + l->sets.words + l->sets.words / 4 + l->sets.spare;
	uint32_t k = l->sets.has_image ? l->active->size.sets_log2 + l->needs_room : SETMEM_MIN_LOG2;

	while (k < SETMEM_MAX_LOG2 && (uint64_t)1 << k < wanted)
		k++;
	return k;
}

static void choose_slot(struct load *l)
{
	const struct tables *t = l->tables;
	uint32_t n = l->out->numbers.n;

	if (fits_active_slot(l)) {
		l->next.slot = l->active->slot;
		l->next.size = l->active->size;
		l->half = 1 - pins_half(l->word, l->next.slot);
		return;
	}
	l->out->is_new_slot = true;
	l->next.slot = l->active ? 1 - l->active->slot : 0;
	l->next.size = program_size_fit(t->n_words, n, t->n_state);
	l->half = 0;
	l->has_new_counts = !l->active || l->active->size.rows_log2 != l->next.size.rows_log2 ||
			    n > 1u << l->active->size.counters_log2;
	if (!l->has_new_counts)
		l->next.size.counters_log2 = l->active->size.counters_log2;
	l->has_new_sets = !l->sets.fits || l->needs_room;
	l->next.size.sets_log2 = l->has_new_sets ? sets_log2(l) : l->active->size.sets_log2;
}

static uint64_t make_word(const struct load *l)
{
	uint64_t word = l->word & ~(DP_GEN_SLOT | DP_GEN_HALF(l->next.slot)) & 7;

	word |= l->next.slot ? DP_GEN_SLOT : 0;
	word |= l->half ? DP_GEN_HALF(l->next.slot) : 0;
	word |= (uint64_t)l->next.serial << DP_GEN_SERIAL_SHIFT;
	for (unsigned i = 0; i < TABLES_MAX_POINTS; i++)
		word |= l->tables->point[i].is_used ? DP_GEN_POINT(i) : 0;
	return word;
}

static void plan(struct load *l)
{
	l->next.made_by = program_identity();
	l->next.loaded_at = time(NULL);
	l->next.options = l->q->options;
	l->next.malformed_accept = l->q->malformed_accept;
	l->next.serial = pins_serial(l->word) % DP_GEN_SERIAL_MASK + 1;
	l->next.counts_from = l->active ? l->active->serial : 0;
	choose_slot(l);
	l->next_word = make_word(l);
	describe_rules(l->a, l->q->rules, l->d->sources, l->in_use, &l->out->numbers, l->tables, &l->next);
	describe_sums(l->a, &l->out->numbers, l->tables, l->has_new_counts ? NULL : l->active, &l->next);
	for (unsigned i = 0; i < TABLES_MAX_POINTS; i++) {
		const struct tables_point *t = &l->tables->point[i];
		struct load_point *to;

		if (!t->is_used)
			continue;
		to = vec_add(l->a, &l->out->points);
		*to = (struct load_point){ .number = i, .wanted = { t->family, t->hook, t->priority }, .rules = t };
		l->next.ct[t->family] = l->next.ct[t->family] || (t->features & (DP_F_CT | DP_F_CT_TUPLE));
	}
	memcpy(l->out->tracks, l->next.ct, sizeof l->next.ct);
	l->out->n_rules = (uint32_t)l->next.rules.n;
	l->out->n_words = l->tables->n_words;
	l->out->serial = l->next.serial;
}

/* ---------- preparing: nothing that the active rules use is touched ---------- */

static void exchange(int *x, int *y)
{
	int z = *x;

	*x = *y;
	*y = z;
}

static int open_maps(struct load *l)
{
	struct program_maps active = PROGRAM_NO_MAPS;
	int err;

	if (!l->out->is_new_slot)
		return pins_slot_get(&l->p, l->next.slot, &l->maps, l->why);
	err = program_maps_create(&l->maps, &l->next.size, l->p.generation);
	if (err)
		return refusal_set(l->why, -err, "cannot make BPF maps for %u words of tables", l->tables->n_words);
	l->maps.log = l->p.log;
	if (!l->active)
		return 0;
	err = pins_slot_get(&l->p, l->active->slot, &active, l->why);
	if (err)
		return err;
	if (!l->has_new_counts)
		exchange(&l->maps.count, &active.count);
	if (!l->has_new_sets)
		exchange(&l->maps.sets, &active.sets);
	active.log = -1;
	program_maps_close(&active);
	return 0;
}

static void clear_fresh_counters(const struct load *l, struct counts *c)
{
	for (size_t i = 0; i < l->next.chains.n; i++)
		if (!l->next.chains.v[i].is_kept)
			counts_clear(c, l->next.chains.v[i].counter);
	for (size_t i = 0; i < l->next.rules.n; i++)
		if (!l->next.rules.v[i].is_kept)
			counts_clear(c, l->next.rules.v[i].counter);
	for (size_t i = 0; i < l->next.sums.n; i++)
		if (!l->next.sums.v[i].is_kept)
			counts_clear(c, l->next.sums.v[i].counter);
}

static int copy_half(struct load *l, int fd, size_t map_bytes, uint32_t half_log2, const uint64_t *word, uint32_t n)
{
	uint64_t *to = pins_map(fd, map_bytes, l->why);

	if (!to)
		return -ENOMEM;
	if (n)
		memcpy(to + ((size_t)l->half << half_log2), word, n * sizeof *word);
	pins_unmap(to, map_bytes);
	return 0;
}

/* The new sets, beside those that packets ask meanwhile. */
static int write_sets(struct load *l)
{
	struct program_maps active = PROGRAM_NO_MAPS;
	struct setload_target to = { .fd = l->maps.sets, .from = -1, .log2 = l->next.size.sets_log2,
				     .active_serial = l->active ? l->active->serial : 0, .serial = l->next.serial,
				     .is_empty = l->has_new_sets };
	int err = 0;

	if (l->has_new_sets && l->sets.has_image) {
		err = pins_slot_get(&l->p, l->active->slot, &active, l->why);
		to.from = active.sets;
		to.from_log2 = l->active->size.sets_log2;
	}
	if (!err)
		err = setload_make(l->a, &l->sets, &to, l->tables, l->why);
	active.log = -1;
	program_maps_close(&active);
	return err;
}

static int write_maps(struct load *l)
{
	const struct program_size *s = &l->next.size;
	struct counts c;
	int err = write_sets(l);

	if (!err)
		err = counts_open(l->maps.count, s, &c, l->why);
	if (err)
		return err;
	clear_fresh_counters(l, &c);
	counts_close(&c);
	err = copy_half(l, l->maps.table, program_table_bytes(s), s->half_log2, l->tables->word, l->tables->n_words);
	if (!err)
		err = copy_half(l, l->maps.state, program_state_bytes(s), s->state_log2, l->tables->state,
				l->tables->n_state);
	if (!err && l->out->is_new_slot)
		err = pins_slot_put(&l->p, l->next.slot, &l->maps, l->why);
	return err;
}

static int load_program(struct load *l, const struct load_point *at)
{
	struct program_spec spec = { .type = PROGRAM_NF, .point = at->number, .slot = l->next.slot,
				     .features = at->rules->features, .size = l->next.size,
				     .malformed_accept = l->q->malformed_accept, .maps = l->maps };
	struct str log = { 0 };
	int fd = program_load(l->a, &spec, &log);

	if (fd >= 0)
		return fd;
	refusal_set(l->why, -fd, "the kernel does not take the program for %s %s", policy_family_name(at->wanted.family),
		    policy_hook_name(at->wanted.hook));
	refusal_help(l->why, "%.*s", STR_ARG(log));
	return fd;
}

/* The program of a point, unless the slot has one that will do; and the dispatcher at its hook. */
static int prepare_point(struct load *l, struct load_point *at)
{
	const struct info_point *had = l->out->is_new_slot ? NULL : find_point(l->active, at->number);
	struct info_point *to = vec_add(l->a, &l->next.points);
	int fd, err = 0;

	at->is_new = !(l->word & DP_GEN_POINT(at->number));
	*to = (struct info_point){ at->number, at->wanted.priority, 0, had ? had->features : at->rules->features };
	if (!had) {
		fd = load_program(l, at);
		if (fd < 0)
			return fd;
		err = l->q->dry_run ? 0 : points_set_program(&l->p, at->number, l->next.slot, fd, l->why);
		close(fd);
	}
	if (!err)
		err = l->q->dry_run ? points_try(&l->p, at->number, at->wanted, &at->got, l->why) :
				      points_attach(&l->p, at->number, at->wanted, &at->got, l->why);
	to->priority = at->got.priority;
	return err;
}

static int prepare_points(struct load *l)
{
	int err = 0;

	for (size_t i = 0; i < l->out->points.n && !err; i++)
		err = prepare_point(l, &l->out->points.v[i]);
	return err;
}

/* Rules that come back after a trial have counted during it, too. */
static int tell_before(struct load *l)
{
	struct info before;

	if (!l->q->confirm_s || !l->active || l->has_new_counts)
		return 0;
	before = *l->active;
	if (!describe_sums_to_come(l->a, &l->next, &before))
		return 0;
	return pins_info_store(&l->p, before.serial, info_write(l->a, &before), l->why);
}

static int prepare(struct load *l)
{
	int err = open_maps(l);

	if (!err)
		err = write_maps(l);
	if (!err)
		err = prepare_points(l);
	if (!err)
		err = conntrack_enable(l->p.in, l->next.ct, l->why);
	if (!err)
		err = tell_before(l);
	if (!err)
		err = pins_info_store(&l->p, l->next.serial, info_write(l->a, &l->next), l->why);
	if (!err && l->q->confirm_s)
		err = trial_begin(&l->p, l->word, l->next_word, l->q->confirm_s, l->q->told, l->q->told_arg, l->why);
	return err;
}

/* ---------- after the flip: the new rules are active, whatever happens ---------- */

static int finish(struct load *l)
{
	int err = pins_settle(&l->p, l->why);

	if (!err)
		err = tidy_carry_counts(&l->p, &l->next, l->why);
	if (err || l->q->confirm_s)
		return err;
	return tidy_run(&l->p, &l->next, l->why);
}

static int change(struct load *l)
{
	int err = l->is_open ? 0 : pins_create(l->in, &l->p, l->why);

	l->is_open = true;
	if (!err)
		err = tidy_run(&l->p, l->active, l->why);
	if (!err)
		err = prepare(l);
	if (!err) {
		pins_flip(&l->p, l->next_word);
		l->out->is_active = true;
		err = finish(l);
	} else if (l->active) {
		tidy_run(&l->p, l->active, l->why);
	} else {
		tidy_unload(&l->p, l->why);
	}
	return err;
}

/* The same with maps that nobody keeps, at hooks for a moment. */
static int rehearse(struct load *l)
{
	int generation = program_generation_create(), log = program_log_create(), err = 0;
	bool is_new_slot = l->out->is_new_slot;

	l->out->is_new_slot = true; /* so that every program is loaded */
	l->next.slot = 0;
	if (generation < 0 || log < 0)
		err = refusal_set(l->why, errno, "cannot make BPF maps");
	if (!err && program_maps_create(&l->maps, &l->next.size, generation))
		err = refusal_set(l->why, errno, "cannot make BPF maps for %u words of tables", l->tables->n_words);
	l->maps.log = log;
	if (!err)
		err = prepare_points(l);
	l->out->is_new_slot = is_new_slot;
	close(generation);
	close(log);
	return err;
}

static int carry_out(struct load *l)
{
	l->next = (struct info){ 0 };
	l->out->points.n = 0;
	plan(l);
	l->out->after = l->next;
	return l->q->dry_run ? rehearse(l) : change(l);
}

static int start(struct load *l)
{
	int err = pins_open(l->in, &l->p, l->why);

	l->is_open = err == 0;
	if (l->is_open)
		err = trial_resolve(&l->p, &l->out->rolled_back, l->why);
	l->is_open = l->p.word != NULL;
	return err == -ENOENT ? 0 : err;
}

int load_run(const struct instance *in, const struct load_request *q, struct diags *d, struct load_result *out,
	     struct refusal *why)
{
	struct load l = { .a = d->a, .in = in, .q = q, .d = d, .out = out, .why = why,
			  .maps = PROGRAM_NO_MAPS };
	int err;

	*out = (struct load_result){ 0 };
	err = start(&l);
	if (!err)
		err = read_active(&l);
	if (!err)
		err = compile(&l);
	if (!err)
		err = carry_out(&l);
	if (err == -ENOSPC && !q->dry_run && !out->is_active && !l.needs_room) {
		*why = (struct refusal){ .a = why->a };
		l.needs_room = true;
		l.maps.log = -1;
		program_maps_close(&l.maps);
		err = carry_out(&l);
	}
	out->sets = l.sets;
	l.maps.log = -1; /* the instance's, not the slot's */
	program_maps_close(&l.maps);
	pins_close(&l.p);
	return err;
}

bool *load_kept(struct arena *a, const struct load_result *r)
{
	bool *is_kept = arena_new(a, bool, r->before.n_counters + 1);

	for (size_t i = 0; i < r->after.rules.n; i++)
		if (r->after.rules.v[i].is_kept)
			is_kept[r->after.rules.v[i].counter] = true;
	return is_kept;
}
