/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A capture through rules, by the library: batches of 32 packets, two threads.
 *
 *     cc -o classify classify.c $(pkg-config --cflags --libs weir) -lpcap -lpthread
 *     classify RULES... CAPTURE
 *
 * Packets are judged as a host judges what it receives on eth0 (the hooks PREROUTING and INPUT), new connections all. Both threads
 * use the same compiled rules; each has a context of its own, with counters of its own, which are added up at the end.
 * Without limits in the rules it does not matter which thread sees a packet.
 */
#include <inttypes.h>
#include <pcap/pcap.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir.h>

enum { BATCH = 32, THREADS = 2, HOOKS = WEIR_HOOK_PREROUTING | WEIR_HOOK_INPUT, MOST_FILES = 16 };

struct work {
	pthread_t thread;
	struct weir_context *ctx;
	const struct weir_packet *packet;
	size_t n;
	uint64_t verdict[WEIR_UNKNOWN + 1];
};

/* ---------- rules ---------- */

static struct weir_rules *compile(char **file, int n)
{
	struct weir_source source[MOST_FILES];
	struct weir_rules *rules;
	struct weir_report *report;
	enum weir_error e;

	memset(source, 0, sizeof source);
	for (int i = 0; i < n; i++)
		source[i].name = file[i];
	e = weir_compile(source, (size_t)n, NULL, &rules, &report);
	for (size_t i = 0; i < weir_report_count(report); i++)
		if (weir_report_get(report, i)->severity == WEIR_SEVERITY_ERROR)
			fputs(weir_report_get(report, i)->rendered, stderr);
	weir_report_free(report);
	if (e)
		fprintf(stderr, "classify: %s\n", weir_error_text(e));
	return rules;
}

/* ---------- packets ---------- */

struct packets {
	struct weir_packet *v;
	size_t n, cap;
};

static int add(struct packets *all, const struct weir_packet *p, const u_char *bytes)
{
	void *copy = malloc(p->len ? p->len : 1);

	if (all->n == all->cap) {
		size_t cap = all->cap ? all->cap * 2 : 1024;
		struct weir_packet *v = realloc(all->v, cap * sizeof *v);

		if (v) {
			all->v = v;
			all->cap = cap;
		}
	}
	if (!copy || all->n == all->cap) {
		free(copy);
		return 0;
	}
	all->v[all->n] = *p;
	all->v[all->n++].data = memcpy(copy, bytes, p->len);
	return 1;
}

/* All packets of a capture, for a program that has its packets in memory anyway needs no such thing. */
static int read_capture(const char *path, const struct weir_facts *facts, struct packets *all)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *cap = pcap_open_offline(path, why);
	struct pcap_pkthdr *head;
	const u_char *bytes;
	int ok = 1;

	if (!cap) {
		fprintf(stderr, "classify: %s\n", why);
		return 0;
	}
	while (ok && pcap_next_ex(cap, &head, &bytes) == 1) {
		struct weir_packet p = { .len = head->caplen, .wire_len = head->len, .facts = facts, .ct = WEIR_CT_NEW };

		p.link = pcap_datalink(cap) == DLT_EN10MB ? WEIR_LINK_ETHERNET : WEIR_LINK_IP;
		ok = add(all, &p, bytes);
	}
	pcap_close(cap);
	return ok;
}

/* ---------- threads ---------- */

static void *run(void *arg)
{
	struct work *w = arg;
	struct weir_result result[BATCH];

	for (size_t at = 0; at < w->n; at += BATCH) {
		size_t n = w->n - at < BATCH ? w->n - at : BATCH;

		if (weir_classify(w->ctx, HOOKS, w->packet + at, n, result))
			break;
		for (size_t i = 0; i < n; i++)
			w->verdict[result[i].verdict]++;
	}
	return NULL;
}

static int run_all(struct weir_rules *rules, const struct packets *all, struct work *work)
{
	size_t at = 0;
	int ok = 1;

	for (int i = 0; i < THREADS; i++) {
		size_t end = all->n * (size_t)(i + 1) / THREADS;

		work[i] = (struct work){ .ctx = weir_context_create(rules, NULL), .packet = all->v + at, .n = end - at };
		at = end;
		if (!work[i].ctx || pthread_create(&work[i].thread, NULL, run, &work[i])) {
			weir_context_free(work[i].ctx);
			work[i].ctx = NULL;
			ok = 0;
		}
	}
	for (int i = 0; i < THREADS; i++)
		if (work[i].ctx)
			pthread_join(work[i].thread, NULL);
	return ok;
}

/* ---------- what came of it ---------- */

static void print(const struct weir_rules *rules, const struct work *work)
{
	static const char *const names[] = { "accept", "drop", "reject", "not IP", "unknown" };

	for (int v = 0; v <= WEIR_UNKNOWN; v++) {
		uint64_t n = 0;

		for (int i = 0; i < THREADS; i++)
			n += work[i].verdict[v];
		if (n)
			printf("%" PRIu64 " %s\n", n, names[v]);
	}
	for (uint32_t r = 0; r < weir_rules_count(rules); r++) {
		const struct weir_rule *rule = weir_rules_get(rules, r);
		uint64_t sum = 0, n;

		for (int i = 0; i < THREADS; i++) {
			weir_context_count(work[i].ctx, r, &n, NULL);
			sum += n;
		}
		if (sum)
			printf("%8" PRIu64 "  %s:%u  %s/%s  %s\n", sum, rule->file ? rule->file : "-", rule->line, rule->table, rule->chain,
			       rule->text);
	}
}

int main(int argc, char **argv)
{
	struct weir_said said = { .size = sizeof said, .in = "eth0", .out = "" };
	struct packets all = { 0 };
	struct work work[THREADS];
	struct weir_facts facts;
	struct weir_rules *rules;
	int ok;

	if (argc < 3 || argc - 2 > MOST_FILES) {
		fprintf(stderr, "usage: classify RULES... CAPTURE\n");
		return 2;
	}
	weir_facts_set(&facts, &said);
	rules = compile(argv + 1, argc - 2);
	ok = rules && read_capture(argv[argc - 1], &facts, &all) && run_all(rules, &all, work);
	if (ok)
		print(rules, work);
	for (int i = 0; ok && i < THREADS; i++)
		weir_context_free(work[i].ctx);
	for (size_t i = 0; i < all.n; i++)
		free((void *)(uintptr_t)all.v[i].data);
	free(all.v);
	weir_rules_free(rules);
	return ok ? 0 : 1;
}
