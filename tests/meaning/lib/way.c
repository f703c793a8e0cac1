/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See way.h. */
#include "meaning/lib/way.h"

#include <stdio.h>
#include <stdlib.h>

#include "packet/notation.h"

enum { MAX_SHOWN = 12 };

void way_hit(struct way *w, struct loc rule)
{
	if (w->n_hits == WAY_HITS)
		w->is_lost = true;
	else
		w->hit[w->n_hits++] = rule.off;
}

/* ---------- one case ---------- */

struct bench {
	struct arena *a;
	struct sources sources;
	struct diags d;
	struct ruleset *rs;
	struct lang_file file;
	struct eval *eval;
};

static bool bench_read(struct bench *b, const struct way_lang *l, struct str text)
{
	struct arena *a = arena_create();

	*b = (struct bench){ .a = a, .sources.a = a, .d.a = a };
	b->d.sources = &b->sources;
	b->rs = policy_create(a);
	lang_read(b->rs, &b->d, source_add(&b->sources, l->file, text), l->lang, &b->file);
	if (!b->d.n_errors)
		policy_check(b->rs, &b->d);
	return b->d.n_errors == 0;
}

static bool bench_open(struct bench *b, const struct way_lang *l, const char *text)
{
	static const struct eval_options options = { .hook = -1, .ct = -1 };
	struct arena *kept = arena_create();
	struct buf known = { .a = kept };
	bool ok = bench_read(b, l, str_from(text));

	if (ok && l->prune(b->file.tree, str_from(text), &known)) {
		arena_destroy(b->a);
		ok = bench_read(b, l, buf_str(&known));
		if (ok && l->prune(b->file.tree, buf_str(&known), &(struct buf){ .a = kept }))
			ok = false;
	}
	arena_destroy(kept);
	if (ok)
		b->eval = eval_create(b->a, b->rs, &options);
	return ok;
}

static unsigned hooks_of(const struct packet *p, enum hook out[WAY_HOOKS])
{
	bool in = p->has_iif && p->iif[0], forth = p->has_oif && p->oif[0];

	if (!in && !forth)
		return 0;
	out[0] = in ? HOOK_PREROUTING : HOOK_OUTPUT;
	out[1] = in ? forth ? HOOK_FORWARD : HOOK_INPUT : HOOK_POSTROUTING;
	out[2] = HOOK_POSTROUTING;
	return in && forth ? 3 : 2;
}

static bool same_hits(const struct way *w, const struct eval_result *r)
{
	if (w->n_hits != r->hits.n)
		return false;
	for (unsigned i = 0; i < w->n_hits; i++)
		if (w->hit[i] != r->hits.v[i]->at.off)
			return false;
	return true;
}

static bool same(const struct way *w, const struct eval_result *r)
{
	bool drops = r->verdict != VERDICT_ACCEPT;

	return drops == w->drops && (r->verdict == VERDICT_REJECT) == w->rejects &&
	       (drops || !r->mark_known || r->mark == w->mark) && same_hits(w, r);
}

static void show_line(const struct bench *b, const char *what, uint32_t off)
{
	const struct source *s = source_get(&b->sources, b->file.source);
	uint32_t end = off;

	while (end < s->text.n && s->text.p[end] != '\n')
		end++;
	printf("#   %s %.*s\n", what, (int)(end - off), s->text.p + off);
}

static void show(const struct bench *b, const struct way *w, const struct eval_result *r, const char *line)
{
	struct str v = eval_verdict_text(b->a, r);

	printf("#   packet %s\n#   tree: %s mark %#x, evaluator: %.*s mark %#x\n", line,
	       w->rejects ? "reject" : w->drops ? "drop" : "accept", w->mark, STR_ARG(v), r->mark);
	for (unsigned i = 0; i < w->n_hits || i < r->hits.n; i++) {
		if (i < w->n_hits && i < r->hits.n && w->hit[i] == r->hits.v[i]->at.off)
			continue;
		if (i < w->n_hits)
			show_line(b, "only the tree:     ", w->hit[i]);
		if (i < r->hits.n)
			show_line(b, "only the evaluator:", r->hits.v[i]->at.off);
		break;
	}
}

static void judge(struct bench *b, const struct way_lang *l, uint64_t seed, const char *line, struct way_total *t)
{
	struct arena *a = arena_create();
	struct eval_result r = { 0 };
	struct packet p;
	struct way w = { .p = &p };
	enum hook hooks[WAY_HOOKS];
	unsigned n;

	packet_init(&p);
	if (!notation_parse(a, NULL, str_from(line), (struct loc){ 0 }, &p) || !head_read(&w.h, &p)) {
		t->passed_by++;
		arena_destroy(a);
		return;
	}
	w.mark = p.mark;
	w.ct = p.ct;
	w.ct_mark = p.ct_mark;
	n = hooks_of(&p, hooks);
	eval_packet(b->eval, a, &p, &r);
	if (n && !r.is_unknown && !r.is_malformed)
		l->run(b->file.tree, &w, hooks, n);
	if (!n || r.is_unknown || r.is_malformed || w.is_lost) {
		t->passed_by++;
	} else {
		t->judged++;
		t->drops += w.drops;
		t->rejects += w.rejects;
		t->hits += w.n_hits;
		if (!same(&w, &r) && t->differ++ < MAX_SHOWN) {
			printf("# seed %llu\n", (unsigned long long)seed);
			show(b, &w, &r, line);
		}
	}
	arena_destroy(a);
}

void way_case(const struct way_lang *l, const char *text, uint64_t seed, char *const *lines, unsigned n, struct way_total *t)
{
	struct bench b;

	if (bench_open(&b, l, text)) {
		t->cases++;
		for (unsigned i = 0; i < n; i++)
			judge(&b, l, seed, lines[i], t);
	} else {
		t->refused++;
		if (t->refused < MAX_SHOWN && b.d.all.n) {
			struct str s = diag_format(b.a, &b.d, &b.d.all.v[0]);

			printf("# seed %llu is refused: %.*s\n", (unsigned long long)seed, (int)(s.n < 300 ? s.n : 300), s.p);
		}
	}
	arena_destroy(b.a);
}

/* ---------- as a tool ---------- */

static void print_hits(const struct bench *b, const struct way_lang *l, unsigned no, struct packet *p)
{
	struct way w = { .p = p, .mark = p->mark, .ct = p->ct < 0 ? CT_NEW : p->ct, .ct_mark = p->ct_mark };
	enum hook hooks[WAY_HOOKS];
	uint32_t line = 0, col = 0;

	if (head_read(&w.h, p))
		l->run(b->file.tree, &w, hooks, hooks_of(p, hooks));
	else
		w.is_lost = true;
	printf("packet %u %s ", no, p->link == PACKET_LINK_IP ? "ip" : "ether");
	for (uint32_t i = 0; i < p->len; i++)
		printf("%02x", p->bytes[i]);
	printf(" %s\n", w.is_lost ? "unknown" : w.drops ? "drop" : "accept");
	for (unsigned i = 0; i < w.n_hits; i++) {
		source_place(&b->sources, (struct loc){ b->file.source, w.hit[i], 1 }, &line, &col);
		printf("hit %u %u\n", no, line);
	}
}

int way_hits(const struct way_lang *l, const char *rules, const char *packets)
{
	struct sources s = { .a = arena_create() };
	const struct source *src;
	struct bench b;
	uint32_t r, p;
	unsigned no = 0;

	if (source_open(&s, rules, &r) < 0 || source_open(&s, packets, &p) < 0 || !bench_read(&b, l, source_get(&s, r)->text))
		return 1;
	src = source_get(&s, p);
	for (uint32_t line = 1; line <= src->n_lines; line++) {
		struct packet packet;

		packet_init(&packet);
		if (str_trim(source_line(src, line)).n && notation_parse(s.a, NULL, source_line(src, line), (struct loc){ 0 }, &packet))
			print_hits(&b, l, ++no, &packet);
	}
	arena_destroy(b.a);
	arena_destroy(s.a);
	return 0;
}

/* ---------- all ---------- */

static unsigned long number_of(const char *name, unsigned long other)
{
	const char *s = getenv(name);

	return s && *s ? strtoul(s, NULL, 10) : other;
}

/* A language whose rules nobody lowers yet gives a model without chains. */
static bool is_lowered(const struct way_make *m, unsigned long seed)
{
	static char line[WAY_LINES][WAY_LINE];
	const struct way_lang *l;
	const char *text = m->text(seed, &l, line);
	struct bench b;
	bool is = !bench_read(&b, l, str_from(text)) || b.rs->chains.n;

	arena_destroy(b.a);
	return is;
}

int way_main(const struct way_make *m, unsigned long packets)
{
	unsigned long wanted = number_of("WEIR_PACKETS", packets), seed = number_of("WEIR_SEED", 1);
	struct way_total t = { 0 };
	uint64_t tried = 0;

	if (!is_lowered(m, seed)) {
		printf("1..0 # SKIP %s rules are read, and not lowered yet\n", m->what);
		return 0;
	}
	for (; t.judged < wanted && t.differ < MAX_SHOWN && tried < wanted * 4; seed++) {
		static char line[WAY_LINES][WAY_LINE];
		char *lines[WAY_LINES];
		const struct way_lang *l;
		const char *text = m->text(seed, &l, line);

		for (unsigned i = 0; i < WAY_LINES; i++)
			lines[i] = line[i];
		tried += WAY_LINES;
		way_case(l, text, seed, lines, WAY_LINES, &t);
	}
	printf("1..3\n# %s: %llu packets judged, %llu passed by, %llu cases, %llu refused, %llu drops, %llu rejects, %llu hits\n",
	       m->what, (unsigned long long)t.judged, (unsigned long long)t.passed_by, (unsigned long long)t.cases,
	       (unsigned long long)t.refused, (unsigned long long)t.drops, (unsigned long long)t.rejects, (unsigned long long)t.hits);
	printf("%sok 1 - tree and evaluator mean the same by %s rules: %llu of %llu packets differ\n", t.differ ? "not " : "",
	       m->what, (unsigned long long)t.differ, (unsigned long long)t.judged);
	printf("%sok 2 - enough packets were judged, and rules were met\n", t.judged >= wanted && t.hits > wanted ? "" : "not ");
	printf("%sok 3 - no ruleset is refused\n", t.refused ? "not " : "");
	return t.differ || t.judged < wanted || t.refused || t.hits <= wanted;
}
