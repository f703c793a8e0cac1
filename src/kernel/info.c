/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The blob: numbers in little-endian base 128 (7 bits a byte, the low ones first), texts with their length before
 * them, in the order of walk_info(). One walk serves writing and reading, so the two cannot disagree:
 *
 *     walk_u32(w, &rule->line)     writes the line, or reads it
 */
#include "kernel/info.h"

struct walk {
	bool is_reading, is_bad;
	struct buf out;	 /* writing */
	struct str in;	 /* reading: what is left */
	struct arena *a;
};

static const char magic[8] = "weirinf";

static void walk_u64(struct walk *w, uint64_t *v)
{
	uint64_t left = *v;
	unsigned shift = 0;

	if (w->is_reading)
		*v = 0;
	for (bool more = true; more && !w->is_bad; shift += 7) {
		uint8_t byte = (uint8_t)(left & 127);

		if (!w->is_reading) {
			left >>= 7;
			more = left != 0;
			byte = (uint8_t)(byte | (more ? 128 : 0));
			buf_add(&w->out, (const char *)&byte, 1);
			continue;
		}
		if (w->in.n == 0 || shift > 63) {
			w->is_bad = true;
			return;
		}
		byte = (uint8_t)w->in.p[0];
		w->in = str_slice(w->in, 1, w->in.n);
		*v |= (uint64_t)(byte & 127) << shift;
		more = byte & 128;
	}
}

static void walk_u32(struct walk *w, uint32_t *v)
{
	uint64_t wide = *v;

	walk_u64(w, &wide);
	w->is_bad = w->is_bad || wide > UINT32_MAX;
	*v = (uint32_t)wide;
}

static void walk_int(struct walk *w, int *v)
{
	uint32_t bits = (uint32_t)*v;

	walk_u32(w, &bits);
	*v = (int)bits;
}

static void walk_bool(struct walk *w, bool *v)
{
	uint32_t bit = *v;

	walk_u32(w, &bit);
	*v = bit != 0;
}

/* A small number that must be below its limit. */
#define walk_enum(w, v, limit)                                            \
	do {                                                              \
		uint32_t number_ = (uint32_t)*(v);                        \
		walk_u32((w), &number_);                                  \
		(w)->is_bad = (w)->is_bad || number_ >= (uint32_t)(limit); \
		*(v) = (w)->is_bad ? 0 : (__typeof__(*(v)))number_;       \
	} while (0)

static void walk_str(struct walk *w, struct str *s)
{
	uint64_t n = s->n;

	walk_u64(w, &n);
	if (!w->is_reading) {
		buf_add(&w->out, s->p, s->n);
		return;
	}
	if (w->is_bad || n > w->in.n) {
		w->is_bad = true;
		return;
	}
	*s = str_slice(w->in, 0, (size_t)n);
	w->in = str_slice(w->in, (size_t)n, w->in.n);
}

/* Length of a list; when reading, makes room. Every element takes a byte at least, so a wild length is found out. */
#define walk_list(w, list)                                                                   \
	do {                                                                                 \
		uint64_t n_ = (list)->n;                                                     \
		walk_u64((w), &n_);                                                          \
		if ((w)->is_reading) {                                                       \
			(w)->is_bad = (w)->is_bad || n_ > (w)->in.n;                         \
			(list)->n = (list)->cap = (w)->is_bad ? 0 : (size_t)n_;              \
			(list)->v = arena_alloc((w)->a, sizeof *(list)->v * ((list)->n + 1), \
						_Alignof(__typeof__(*(list)->v)));           \
		}                                                                            \
	} while (0)

static void walk_rule(struct walk *w, struct info *f, struct info_rule *r)
{
	walk_enum(w, &r->chain, f->chains.n);
	walk_enum(w, &r->file, f->files.n);
	walk_u32(w, &r->line);
	walk_u32(w, &r->expansion);
	walk_u32(w, &r->duplicate);
	walk_enum(w, &r->counter, f->n_counters);
	walk_bool(w, &r->is_kept);
	walk_str(w, &r->text);
	walk_str(w, &r->comment);
}

static void walk_chain(struct walk *w, struct info *f, struct info_chain *c)
{
	walk_str(w, &c->table);
	walk_str(w, &c->name);
	walk_enum(w, &c->family, FAMILY_COUNT);
	walk_enum(w, &c->hook, HOOK_COUNT + 1);
	walk_int(w, &c->priority);
	walk_enum(w, &c->policy, VERDICT_STOLEN + 1);
	walk_u32(w, &c->point);
	walk_enum(w, &c->counter, f->n_counters);
	walk_bool(w, &c->is_kept);
	walk_enum(w, &c->file, f->files.n);
	walk_u32(w, &c->line);
}

static void walk_point(struct walk *w, struct info_point *p)
{
	walk_enum(w, &p->number, DP_POINTS);
	walk_int(w, &p->wanted);
	walk_int(w, &p->priority);
	walk_u32(w, &p->features);
}

static void walk_sum(struct walk *w, struct info *f, struct info_sum *s)
{
	walk_enum(w, &s->counter, f->n_counters);
	walk_bool(w, &s->is_kept);
	walk_list(w, &s->rules);
	for (size_t i = 0; i < s->rules.n && !w->is_bad; i++)
		walk_enum(w, &s->rules.v[i], f->rules.n);
}

static void walk_head(struct walk *w, struct info *f)
{
	uint64_t loaded_at = (uint64_t)f->loaded_at;

	walk_str(w, &f->made_by);
	walk_u64(w, &loaded_at);
	f->loaded_at = (int64_t)loaded_at;
	walk_str(w, &f->options);
	walk_u32(w, &f->serial);
	walk_enum(w, &f->slot, DP_SLOTS);
	walk_bool(w, &f->malformed_accept);
	for (int i = 0; i < FAMILY_COUNT; i++)
		walk_bool(w, &f->ct[i]);
	walk_enum(w, &f->size.half_log2, 31);
	walk_enum(w, &f->size.counters_log2, 31);
	walk_enum(w, &f->size.rows_log2, 31);
	walk_enum(w, &f->size.state_log2, 31);
	walk_enum(w, &f->size.sets_log2, 31);
	walk_u32(w, &f->n_counters);
	walk_u32(w, &f->counts_from);
}

static void walk_info(struct walk *w, struct info *f)
{
	uint32_t format = INFO_FORMAT;

	walk_u32(w, &format);
	if (format != INFO_FORMAT && format != 1) { /* 1 had no sums */
		w->is_bad = true;
		return;
	}
	walk_head(w, f);
	walk_list(w, &f->files);
	for (size_t i = 0; i < f->files.n && !w->is_bad; i++) {
		walk_str(w, &f->files.v[i].name);
		walk_str(w, &f->files.v[i].text);
	}
	walk_list(w, &f->chains);
	for (size_t i = 0; i < f->chains.n && !w->is_bad; i++)
		walk_chain(w, f, &f->chains.v[i]);
	walk_list(w, &f->rules);
	for (size_t i = 0; i < f->rules.n && !w->is_bad; i++)
		walk_rule(w, f, &f->rules.v[i]);
	walk_list(w, &f->points);
	for (size_t i = 0; i < f->points.n && !w->is_bad; i++)
		walk_point(w, &f->points.v[i]);
	if (format == 1)
		return;
	walk_list(w, &f->sums);
	for (size_t i = 0; i < f->sums.n && !w->is_bad; i++)
		walk_sum(w, f, &f->sums.v[i]);
}

struct str info_write(struct arena *a, struct info *info)
{
	struct walk w = { .a = a, .out = { .a = a } };

	buf_add(&w.out, magic, sizeof magic);
	walk_info(&w, info);
	return buf_str(&w.out);
}

bool info_read(struct arena *a, struct str blob, struct info *out)
{
	struct walk w = { .a = a, .is_reading = true };

	*out = (struct info){ 0 };
	if (blob.n < sizeof magic || memcmp(blob.p, magic, sizeof magic) != 0)
		return false;
	w.in = str_slice(blob, sizeof magic, blob.n);
	walk_info(&w, out);
	return !w.is_bad;
}

struct str info_files_text(struct arena *a, const struct info *info)
{
	size_t n = info->files.n;

	if (n == 0)
		return STR("no file");
	if (n > 3)
		return arena_printf(a, "%zu files", n);
	struct buf b = { .a = a };
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%.*s", i == 0 ? "" : i + 1 < n ? ", " : " and ", STR_ARG(info->files.v[i].name));
	return buf_str(&b);
}
