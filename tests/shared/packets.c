/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets that were not made here: the packet lines of $WEIR_SHARED/cases and the captures of $WEIR_SHARED/pcaps
 * (default ../shared). Every line is read, but for those that are remarks; every capture is read to its end or
 * refused with its name; every packet is judged, printed and read back. Prints TAP.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "eval/eval.h"
#include "packet/capture.h"
#include "packet/notation.h"

static unsigned n_tests, n_failed;

static void result(bool ok, const char *what, const char *detail)
{
	printf("%sok %u - %s\n", ok ? "" : "not ", ++n_tests, what);
	if (detail && detail[0])
		printf("# %s\n", detail);
	n_failed += !ok;
}

static const char *shared(void)
{
	const char *dir = getenv("WEIR_SHARED");

	return dir ? dir : "../shared";
}

/* Printed and read back, the bytes are the same. */
static bool reads_back(struct arena *a, const struct packet *p)
{
	struct packet q;

	return notation_parse(a, NULL, notation_print(a, p), (struct loc){ 0 }, &q) && q.link == p->link && q.len == p->len &&
	       q.wire_len == p->wire_len && (p->len == 0 || memcmp(q.bytes, p->bytes, p->len) == 0);
}

static struct str line_cut(struct str *text)
{
	return str_cut(*text, '\n', text, NULL);
}

/* Lines that describe packets in prose, or name a capture. */
static bool is_remark(struct str line)
{
	return str_starts(line, "p1 ") || str_starts(line, "p2 ") || str_starts(line, "p1: pcaps/") || line.n == 0;
}

static void check_case(const char *path, unsigned *lines)
{
	struct arena *a = arena_create();
	struct sources ss = { .a = a };
	struct diags d = { .a = a, .sources = &ss };
	struct str rest, line;
	bool inside = false, ok = true;
	uint32_t id;

	if (source_open(&ss, path, &id) != 0) {
		result(false, path, "cannot be read");
		arena_destroy(a);
		return;
	}
	rest = source_get(&ss, id)->text;
	while (rest.n) {
		struct packet p;
		struct loc at = { id, 0, 0 };

		line = line_cut(&rest);
		at.off = (uint32_t)(line.p - source_get(&ss, id)->text.p);
		if (str_is(line, "END"))
			inside = false;
		if (inside && !is_remark(line)) {
			*lines += 1;
			if (notation_parse(a, &d, line, at, &p))
				ok &= reads_back(a, &p);
		}
		inside |= str_is(line, "packet<<END");
	}
	if (d.n_errors || !ok)
		result(false, path, d.n_errors ? d.all.v[0].text.p : "a packet does not read back");
	arena_destroy(a);
}

static void check_capture(const char *path)
{
	struct arena *a = arena_create(), *each = arena_create();
	struct str why;
	struct capture *c = capture_open(a, path, &why);
	struct packet p;
	bool ok = true;
	int got;

	if (!c) {
		result(strstr(why.p, "is not supported") != NULL, path, why.p);
	} else {
		unsigned malformed = 0, not_ip = 0;
		struct str text;

		while ((got = capture_next(c, &p)) > 0) {
			struct facts f;

			facts_read(&f, &p);
			malformed += f.is_malformed;
			not_ip += !f.is_ip;
			ok &= reads_back(each, &p);
			arena_reset(each);
		}
		text = arena_printf(a, "%llu packets, %u malformed, %u not IP %.*s", (unsigned long long)capture_packets(c),
				    malformed, not_ip, STR_ARG(capture_error(c)));
		/* libpcap itself refuses files whose interfaces differ, and says so */
		result(ok && (got == 0 || strstr(text.p, "different from")), path, text.p);
		capture_close(c);
	}
	arena_destroy(each);
	arena_destroy(a);
}

int main(void)
{
	glob_t cases, pcaps;
	char pattern[4096];
	unsigned lines = 0, before;

	snprintf(pattern, sizeof pattern, "%s/cases/*.txt", shared());
	if (glob(pattern, 0, NULL, &cases) != 0) {
		printf("1..0 # SKIP no packets: WEIR_SHARED/cases is not there\n");
		return 0;
	}
	before = n_failed;
	for (size_t i = 0; i < cases.gl_pathc; i++)
		check_case(cases.gl_pathv[i], &lines);
	snprintf(pattern, sizeof pattern, "%u packet lines of %zu cases are read and read back", lines, cases.gl_pathc);
	result(n_failed == before && lines > 0, pattern, "");
	globfree(&cases);
	snprintf(pattern, sizeof pattern, "%s/pcaps/*.pcap*", shared());
	if (glob(pattern, 0, NULL, &pcaps) == 0) {
		for (size_t i = 0; i < pcaps.gl_pathc; i++)
			check_capture(pcaps.gl_pathv[i]);
		globfree(&pcaps);
	}
	printf("1..%u\n", n_tests);
	return n_failed ? 1 : 0;
}
