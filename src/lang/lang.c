/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The door to the languages: who reads and who prints a text. See lang.h. */
#include "lang/lang.h"
#include "lang/detect.h"
#include "lang/ipset/ipset.h"
#include "lang/iptables/check.h"
#include "lang/iptables/lower.h"
#include "lang/list/list.h"
#include "lang/nft/elem_text.h"
#include "lang/nft/tree.h"
#include "lang/tc/tree.h"

static const char *const names[LANG_COUNT] = {
	[LANG_AUTO] = "auto", [LANG_IPTABLES] = "iptables", [LANG_IP6TABLES] = "ip6tables", [LANG_IPSET] = "ipset",
	[LANG_NFT] = "nft",   [LANG_IPFW] = "ipfw",	    [LANG_PF] = "pf",		    [LANG_TC] = "tc",
};

enum lang lang_by_name(struct str name)
{
	for (unsigned l = 0; l < LANG_COUNT; l++)
		if (str_is(name, names[l]))
			return (enum lang)l;
	return LANG_COUNT;
}

const char *lang_name(enum lang l)
{
	return l < LANG_COUNT ? names[l] : "unknown";
}

enum lang lang_detect(const struct source *src)
{
	return detect_language(src);
}

bool lang_has_table(enum lang l, struct str name)
{
	return (l == LANG_IPTABLES || l == LANG_IP6TABLES) && ipt_check_is_table(name);
}

static void read_iptables(struct ruleset *rs, struct diags *d, uint32_t source, struct lang_file *out)
{
	enum family fam = out->lang == LANG_IP6TABLES ? FAMILY_IP6 : FAMILY_IP4;
	unsigned errors = d->n_errors;
	struct ipt_file *f = iptables_parse(rs->a, d, d->sources, source, fam);

	out->tree = f;
	rs->lacks_rules |= d->n_errors > errors;
	if (!f->is_undone)
		iptables_lower(rs, d, f);
}

static void read_nft(struct ruleset *rs, struct diags *d, uint32_t source, struct lang_file *out)
{
	struct nft_file *f = nft_parse(rs->a, d, source);

	out->tree = f;
	rs->lacks_rules |= f->lacks_rules;
	rs->lacks_sets |= f->lacks_rules;
	if (f->is_undone || f->lacks_rules)
		return;
	nft_merge(rs->a, f);
	nft_check(rs->a, d, f);
	nft_lower(rs, d, f);
}

static void read_tc(struct ruleset *rs, struct diags *d, uint32_t source, struct lang_file *out)
{
	unsigned errors = d->n_errors;
	struct tc_file *f = tc_parse(rs, d, source);

	out->tree = f;
	if (d->n_errors == errors)
		tc_lower(rs, d, f);
	rs->lacks_rules |= d->n_errors > errors;
}

/* No language has NUL bytes in its texts, and what prints a name would stop at one. */
static bool is_text(const struct source *src, struct diags *d, uint32_t source)
{
	const char *nul = src->text.n ? memchr(src->text.p, '\0', src->text.n) : NULL;

	if (nul)
		diag_error(d, (struct loc){ source, (uint32_t)(nul - src->text.p), 1 }, "this is no text: there is a NUL byte here");
	return nul == NULL;
}

void lang_read(struct ruleset *rs, struct diags *d, uint32_t source, enum lang l, struct lang_file *out)
{
	const struct source *src = source_get(d->sources, source);

	*out = (struct lang_file){ .lang = l == LANG_AUTO ? lang_detect(src) : l, .source = source };
	if (!is_text(src, d, source)) {
		rs->lacks_rules = rs->lacks_sets = true;
		return;
	}
	switch (out->lang) {
	case LANG_IPTABLES:
	case LANG_IP6TABLES:
		read_iptables(rs, d, source, out);
		break;
	case LANG_IPSET: {
		struct ipset_file *f = ipset_read(rs->a, d, source);

		out->tree = f;
		ipset_lower(rs, d, f);
		break;
	}
	case LANG_NFT:
		read_nft(rs, d, source, out);
		break;
	case LANG_TC:
		read_tc(rs, d, source, out);
		break;
	case LANG_AUTO:
	case LANG_COUNT:
		diag_error(d, (struct loc){ source, 0, 0 }, "cannot tell the language of this file");
		rs->lacks_rules = rs->lacks_sets = true;
		break;
	default:
		diag_error(d, (struct loc){ source, 0, 0 }, "%s rules are not read yet", lang_name(out->lang));
		rs->lacks_rules = rs->lacks_sets = true;
		break;
	}
}

void lang_elems_read(struct arena *a, struct diags *d, uint32_t source, struct set *s)
{
	if (!is_text(source_get(d->sources, source), d, source))
		return;
	if (nft_elems_are(s))
		nft_elems_read(a, d, source, s);
	else
		ipset_loose_read(a, d, source, s);
}

void lang_elem_print(struct buf *b, const struct set *s, const struct set_elem *e)
{
	if (nft_elems_are(s))
		nft_elem_print(b, s, e);
	else
		ipset_loose_print(b, s, e);
}

void lang_set_print(struct buf *b, const struct set *s)
{
	if (nft_elems_are(s))
		nft_set_print(b, s);
	else
		ipset_loose_create(b, s);
}

bool lang_list_can_fill(const struct set *s)
{
	return list_can_fill(s);
}

enum family lang_list_family(const struct source *src)
{
	return list_family(src);
}

void lang_list_declare(struct set *s, enum family family)
{
	list_declare(s, family);
}

void lang_list_size(struct arena *a, struct set *s)
{
	list_size(a, s);
}

void lang_list_read(struct arena *a, struct diags *d, uint32_t source, struct set *s, const struct lang_list_options *o,
		    struct lang_list *out)
{
	if (is_text(source_get(d->sources, source), d, source))
		list_read(a, d, source, s, o, out);
}

void lang_list_merge(struct diags *d, struct set *s, bool is_strict, struct lang_list *out)
{
	list_merge(d, s, is_strict, out);
}

struct str lang_print(struct arena *a, const struct lang_file *f, bool with_counts)
{
	switch (f->tree ? f->lang : LANG_AUTO) {
	case LANG_IPTABLES:
	case LANG_IP6TABLES:
		return iptables_print_file(a, f->tree, with_counts);
	case LANG_IPSET:
		return ipset_print(a, f->tree, with_counts);
	case LANG_NFT:
		return nft_print_file(a, f->tree, with_counts);
	case LANG_TC:
		return tc_print_file(a, f->tree);
	default:
		return STR("");
	}
}
