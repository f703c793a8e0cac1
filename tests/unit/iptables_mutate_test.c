/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that are nearly right. Rows of the tables of rules are spoilt at random - bytes changed, words dropped, doubled,
 * swapped or taken from another rule - and read. Nothing may crash; and what is read without an error must print, read
 * back and print the same. WEIR_SECONDS sets how long, WEIR_SEED which way.
 */
#include <stdlib.h>
#include <time.h>

#include "iptables_kit.h"

static const struct row {
	int family;
	const char *table, *rule;
} rows[] = {
#define R(family, table, rule, want) { family, table, rule },
#include "iptables_core.def"
#include "iptables_match.def"
#include "iptables_target.def"
#undef R
#define E(family, table, rule, col, text) { family, table, rule },
#include "iptables_error.def"
#undef E
};
enum { N_ROWS = sizeof(rows) / sizeof(*rows), TEXT_MAX = 2000, WORDS_MAX = 200 };

static uint64_t seed;

static size_t pick(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? (size_t)(seed % n) : 0;
}

struct words {
	struct str w[WORDS_MAX];
	size_t n;
};

static void cut(struct words *out, const char *text)
{
	struct str rest = str_from(text);
	bool more = true;

	out->n = 0;
	while (more && out->n < WORDS_MAX)
		out->w[out->n++] = str_cut(rest, ' ', &rest, &more);
}

/* Words of a, spoilt with those of b. */
static void spoil_words(struct words *a, const struct words *b)
{
	size_t i = pick(a->n), k = pick(a->n);
	struct str w = a->w[i];

	switch (pick(5)) {
	case 0: /* drop */
		memmove(&a->w[i], &a->w[i + 1], (a->n - i - 1) * sizeof(w));
		a->n--;
		break;
	case 1: /* swap */
		a->w[i] = a->w[k];
		a->w[k] = w;
		break;
	case 2: /* another rule's */
		a->w[i] = b->w[pick(b->n)];
		break;
	case 3: /* its tail */
		for (k = pick(b->n); k < b->n && a->n < WORDS_MAX; k++)
			a->w[a->n++] = b->w[k];
		break;
	default: /* double */
		if (a->n < WORDS_MAX)
			a->w[a->n++] = w;
		break;
	}
}

static void spoil_bytes(char *text, size_t n)
{
	static const char odd[] = " \"\\!#-:,/+[]=*.\t'0";

	for (size_t k = pick(3); n && k > 0; k--)
		text[pick(n)] = pick(4) ? odd[pick(sizeof(odd) - 1)] : (char)pick(256);
}

static size_t make_rule(char *text, const struct row *row)
{
	struct words a, b;
	size_t n = 0;

	cut(&a, row->rule);
	cut(&b, rows[pick(N_ROWS)].rule);
	for (size_t k = 1 + pick(3); k > 0 && a.n > 1; k--)
		spoil_words(&a, &b);
	for (size_t i = 0; i < a.n && n + a.w[i].n + 1 < TEXT_MAX; i++) {
		memcpy(text + n, a.w[i].p, a.w[i].n);
		n += a.w[i].n;
		text[n++] = ' ';
	}
	if (pick(2))
		spoil_bytes(text, n);
	return n;
}

static void read_spoilt(const struct row *row, const char *rule, size_t n)
{
	char text[TEXT_MAX + 100];
	int head = snprintf(text, sizeof(text), "*%s\n:UC - [0:0]\n", row->table);
	enum family family = row->family == 6 ? FAMILY_IP6 : FAMILY_IP4;
	struct str printed, again;
	struct kit k, back;

	memcpy(text + head, rule, n);
	memcpy(text + head + n, "\nCOMMIT\n", 9);
	kit_read(&k, family, (struct str){ text, (size_t)head + n + 8 });
	for (size_t i = 0; i < k.d.all.n; i++)
		assert_true(diag_format(k.a, &k.d, &k.d.all.v[i]).n > 0);
	if (k.d.n_errors == 0) {
		printed = iptables_print_file(k.a, k.file, true);
		kit_read(&back, family, printed);
		if (back.d.n_errors)
			fail_msg("%.*s\n%s", STR_ARG(printed), kit_show(&back, kit_find(&back, DIAG_ERROR, NULL)));
		again = iptables_print_file(back.a, back.file, true);
		if (!str_eq(printed, again))
			fail_msg("%.*s\n%.*s\n%.*s", (int)n, rule, STR_ARG(printed), STR_ARG(again));
		kit_close(&back);
	}
	kit_close(&k);
}

static void spoilt_rules_are_refused_or_read_back(void **state)
{
	const char *seconds = getenv("WEIR_SECONDS"), *start = getenv("WEIR_SEED");
	time_t end = time(NULL) + (seconds ? atoi(seconds) : 2);
	unsigned long long first = start ? strtoull(start, NULL, 0) : (unsigned long long)time(NULL) * 2654435761u + 1;
	char rule[TEXT_MAX];

	(void)state;
	seed = first ? first : 1;
	print_message("# seed %llu\n", first);
	while (time(NULL) <= end) {
		for (unsigned i = 0; i < 200; i++) {
			const struct row *row = &rows[pick(N_ROWS)];
			size_t n = make_rule(rule, row);

			read_spoilt(row, rule, n);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spoilt_rules_are_refused_or_read_back),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("iptables_mutate", tests, NULL, NULL);
}
