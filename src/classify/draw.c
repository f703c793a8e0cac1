/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drawing a decision graph. Children that are the same are one edge, named by the values that lead there:
 *
 *     n4 [label="dst 31..24"];    n4 -> n24 [label="10, 192-193"];    n24 -> n40 [style=dashed];
 */
#include "classify/graph_read.h"
#include "classify/inspect.h"

enum { VALUES_MOST = 6 }; /* spans of values named on one edge */

struct pen {
	const struct graph_lookup *g;
	const struct tables_list *list;
	const struct sources *sources;
	struct buf *b;
	struct arena *scratch;
	uint8_t *drawn; /* by offset */
	VEC(uint64_t) waiting; /* descriptors */
};

/* The name of a dimension, and the number of its lowest bit within the field. */
static const struct {
	const char *name;
	uint8_t low;
} names[BOX_DIMS] = {
	[BOX_SRC3] = { "src", 96 },  [BOX_SRC2] = { "src", 64 },  [BOX_SRC1] = { "src", 32 },	 [BOX_SRC0] = { "src", 0 },
	[BOX_DST3] = { "dst", 96 },  [BOX_DST2] = { "dst", 64 },  [BOX_DST1] = { "dst", 32 },	 [BOX_DST0] = { "dst", 0 },
	[BOX_SPORT] = { "sport", 0 }, [BOX_DPORT] = { "dport", 0 }, [BOX_PROTO] = { "proto", 0 }, [BOX_FLAGS] = { "flags", 0 },
	[BOX_ICMP] = { "icmp", 0 },  [BOX_MARK] = { "mark", 0 },  [BOX_CT_MARK] = { "ct mark", 0 }, [BOX_CT_STATE] = { "ct state", 0 },
	[BOX_IIF3] = { "iif", 96 },  [BOX_IIF2] = { "iif", 64 },  [BOX_IIF1] = { "iif", 32 },	 [BOX_IIF0] = { "iif", 0 },
	[BOX_OIF3] = { "oif", 96 },  [BOX_OIF2] = { "oif", 64 },  [BOX_OIF1] = { "oif", 32 },	 [BOX_OIF0] = { "oif", 0 },
	[BOX_TOS] = { "tos", 0 },    [BOX_TTL] = { "ttl", 0 },	  [BOX_LENGTH] = { "length", 0 }, [BOX_ETHER] = { "ether", 0 },
	[BOX_PKTTYPE] = { "pkttype", 0 },
};

static void put_bits(struct pen *p, const struct graph_part *c)
{
	unsigned bits = (unsigned)__builtin_popcount(c->mask);

	for (unsigned d = 0; d < BOX_DIMS; d++) {
		const struct box_place *at = &box_places[d];
		unsigned low = c->shift - at->shift + names[d].low;

		if (at->word != c->word || c->shift < at->shift || c->shift >= at->shift + at->bits)
			continue;
		buf_printf(p->b, "%s %u..%u", names[d].name, low + bits - 1, low);
		return;
	}
	buf_printf(p->b, "word %u, %u..%u", c->word, c->shift + bits - 1, c->shift);
}

static void put_edge(struct pen *p, uint32_t from, uint64_t d, const char *style)
{
	struct graph_part to = graph_read_part(p->g, d);

	if (to.kind == GRAPH_END)
		buf_printf(p->b, "\tn%u -> policy [%s", from, style);
	else
		buf_printf(p->b, "\tn%u -> n%u [%s", from, to.offset, style);
}

/* Of child i and all later ones that are the same, the values. */
static void put_values(struct pen *p, const struct graph_part *c, uint32_t i)
{
	const uint64_t *child = p->g->word + c->offset;
	unsigned n = 0;

	buf_printf(p->b, "label=\"");
	for (uint32_t k = i; k <= c->mask && n <= VALUES_MOST; k++) {
		uint32_t last = k;

		if (child[k] != child[i])
			continue;
		while (last < c->mask && child[last + 1] == child[i])
			last++;
		if (n++ == VALUES_MOST)
			buf_printf(p->b, ", ...");
		else if (last > k)
			buf_printf(p->b, "%s%u-%u", n > 1 ? ", " : "", k, last);
		else
			buf_printf(p->b, "%s%u", n > 1 ? ", " : "", k);
		k = last;
	}
	buf_printf(p->b, "\"];\n");
}

static bool is_first_of_kind(const uint64_t *child, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (child[k] == child[i])
			return false;
	return true;
}

static void draw_cut(struct pen *p, const struct graph_part *c)
{
	const uint64_t *child = p->g->word + c->offset;

	buf_printf(p->b, "\tn%u [shape=diamond, label=\"", c->offset);
	put_bits(p, c);
	buf_printf(p->b, "\"];\n");
	for (uint32_t i = 0; i <= c->mask; i++) {
		if (!is_first_of_kind(child, i))
			continue;
		put_edge(p, c->offset, child[i], "");
		put_values(p, c, i);
		*vec_add(p->scratch, &p->waiting) = child[i];
	}
}

static void put_place(struct pen *p, const struct rule *r)
{
	if (r->expansion)
		buf_printf(p->b, "%.*s:%u", STR_ARG(source_name_line(p->scratch, p->sources, r->at)), r->expansion);
	else
		buf_printf(p->b, "%.*s", STR_ARG(source_name_line(p->scratch, p->sources, r->at)));
}

enum { NAMED_MOST = 8 };

/* "rules.v4:5 + rules.v4:6" */
static void put_entry(struct pen *p, const struct tables_entry *e)
{
	for (uint32_t i = 0; e && i < e->n && i < NAMED_MOST; i++) {
		buf_printf(p->b, i ? " + " : "");
		put_place(p, e->rule[i]);
	}
	if (e && e->n > NAMED_MOST)
		buf_printf(p->b, " + %u more", e->n - NAMED_MOST);
	buf_printf(p->b, e ? "\\n" : "policy\\n");
}

static void draw_leaf(struct pen *p, const struct graph_part *leaf)
{
	buf_printf(p->b, "\tn%u [shape=box, label=\"", leaf->offset);
	for (uint32_t i = 0; i < leaf->n; i++) {
		put_entry(p, inspect_entry_at(p->list, (uint32_t)(graph_read_result(p->g, leaf, i) >> DP_PLACE_SHIFT)));
	}
	buf_printf(p->b, "\"];\n");
	put_edge(p, leaf->offset, leaf->cont, "style=dashed");
	buf_printf(p->b, "];\n");
	*vec_add(p->scratch, &p->waiting) = leaf->cont;
}

static void draw_all(struct pen *p)
{
	while (p->waiting.n) {
		struct graph_part x = graph_read_part(p->g, p->waiting.v[--p->waiting.n]);

		if (x.kind == GRAPH_END || p->drawn[x.offset])
			continue;
		p->drawn[x.offset] = 1;
		if (x.kind == GRAPH_CUT)
			draw_cut(p, &x);
		else
			draw_leaf(p, &x);
	}
}

struct str inspect_draw(struct arena *a, const struct tables *t, const struct tables_list *l, const struct sources *sources)
{
	struct graph_lookup g = graph_read_insn(t->word, l->pc);
	struct buf b = { .a = a };
	struct pen p = { .g = &g, .list = l, .sources = sources, .b = &b, .scratch = arena_create() };
	const struct chain *c = l->chain;

	p.drawn = arena_new(p.scratch, uint8_t, l->n_words + 1);
	buf_printf(&b, "digraph \"%s %.*s/%.*s\" {\n\tpolicy [shape=plaintext, label=\"%s\"];\n\tstart [shape=point];\n",
		   policy_family_name(c->family), STR_ARG(c->table), STR_ARG(c->name), c->hook == HOOK_NONE ? "return" : "policy");
	buf_printf(&b, "\tstart -> n%u;\n", graph_read_part(&g, g.root).offset);
	*vec_add(p.scratch, &p.waiting) = g.root;
	draw_all(&p);
	buf_printf(&b, "}\n");
	arena_destroy(p.scratch);
	return buf_str(&b);
}
