/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir log`: what LOG rules have seen, one line an event, the packet in the notation that `weir explain` reads.
 *
 *     15:04:05.123456 filter/INPUT rules.v4:12 LOG "ssh: " in=eth0 tcp 198.51.100.7:40000 > 192.0.2.1:22 flags=S
 */
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "cli/live.h"
#include "cli/report.h"
#include "kernel/ring.h"
#include "packet/notation.h"

struct printer {
	struct cli *c;
	struct arena *a; /* of one event */
	struct info info;
	struct pins *pins;
	int64_t wall_ns; /* to be added to an event's time */
};

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void packet_of(const struct dp_log_event *e, struct packet *p)
{
	uint32_t n = e->head_len < DP_LOG_HEAD ? e->head_len : DP_LOG_HEAD;

	packet_init(p);
	p->bytes = e->head;
	p->len = n;
	p->wire_len = e->length > n ? e->length : n;
	p->link = PACKET_LINK_IP;
	p->has_iif = e->iif && if_indextoname(e->iif, p->iif);
	p->has_oif = e->oif && if_indextoname(e->oif, p->oif);
	p->mark = e->mark;
	p->has_mark = e->mark != 0;
}

/* The rules may have been replaced since the last event: the event says which generation it belongs to. */
static const struct info_rule *rule_of(struct printer *pr, const struct dp_log_event *e)
{
	struct refusal ignored = { .a = pr->c->run };

	if (e->generation != pr->info.serial && pins_has_info(pr->pins, e->generation))
		pins_info_of(pr->pins, pr->c->run, e->generation, &pr->info, &ignored);
	for (size_t i = 0; e->generation == pr->info.serial && i < pr->info.rules.n; i++)
		if (pr->info.rules.v[i].counter == e->counter)
			return &pr->info.rules.v[i];
	return NULL;
}

static struct str time_text(struct arena *a, int64_t ns, const char *format)
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm;
	char text[40];

	localtime_r(&s, &tm);
	strftime(text, sizeof text, format, &tm);
	return arena_printf(a, "%s.%06lld", text, (long long)(ns % 1000000000 / 1000));
}

static void print_json(struct printer *pr, const struct info_rule *r, struct str packet, int64_t ns)
{
	json_t *j = json_object();

	json_object_set_new(j, "time", report_json_str(pr->a, time_text(pr->a, ns, "%Y-%m-%dT%H:%M:%S")));
	if (r) {
		const struct info_chain *ch = &pr->info.chains.v[r->chain];

		json_object_set_new(j, "family", json_string(policy_family_name(ch->family)));
		json_object_set_new(j, "table", report_json_str(pr->a, ch->table));
		json_object_set_new(j, "chain", report_json_str(pr->a, ch->name));
		json_object_set_new(j, "file", report_json_str(pr->a, pr->info.files.v[r->file].name));
		json_object_set_new(j, "line", json_integer(r->line));
		json_object_set_new(j, "rule", report_json_str(pr->a, r->text));
	}
	json_object_set_new(j, "packet", report_json_str(pr->a, packet));
	json_dumpf(j, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(j);
}

static void print_text(struct printer *pr, const struct info_rule *r, struct str packet, int64_t ns)
{
	printf("%.*s ", STR_ARG(time_text(pr->a, ns, "%H:%M:%S")));
	if (r) {
		const struct info_chain *ch = &pr->info.chains.v[r->chain];

		printf("%.*s/%.*s %.*s:%u  %.*s  ", STR_ARG(ch->table), STR_ARG(ch->name),
		       STR_ARG(pr->info.files.v[r->file].name), r->line, STR_ARG(r->text));
	} else {
		printf("a rule that is not loaded any more  ");
	}
	printf("%.*s\n", STR_ARG(packet));
}

static void print_event(void *arg, const struct dp_log_event *e)
{
	struct printer *pr = arg;
	const struct info_rule *r = rule_of(pr, e);
	int64_t ns = (int64_t)e->time_ns + pr->wall_ns;
	struct packet p;
	struct str text;

	packet_of(e, &p);
	text = notation_print(pr->a, &p);
	if (pr->c->opt.given[OPTION_JSON])
		print_json(pr, r, text, ns);
	else
		print_text(pr, r, text, ns);
	fflush(stdout);
	arena_reset(pr->a);
}

static volatile sig_atomic_t is_interrupted;

static void on_signal(int sig)
{
	(void)sig;
	is_interrupted = 1;
}

int log_verb(struct cli *c)
{
	struct printer pr = { .c = c, .wall_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC) };
	struct sigaction interrupt = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	bool follow = c->opt.given[OPTION_FOLLOW];
	struct pins p;
	struct live l;
	int status = live_open(c, &l), err;

	if (status)
		return status;
	err = pins_open(&l.in, &p, &l.why);
	if (!err)
		err = pins_info(&p, c->run, &pr.info, &l.why);
	if (err == -ENOENT)
		return cli_fail(CLI_REFUSED, "no rules are loaded");
	pr.pins = &p;
	pr.a = arena_create();
	if (follow) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGTERM, &interrupt, NULL);
	}
	if (!err)
		err = ring_read(&p, follow ? &is_interrupted : NULL, print_event, &pr, &l.why);
	if (follow && !err && !is_interrupted)
		fputs("weir: the rules have been unloaded\n", stderr);
	arena_destroy(pr.a);
	pins_close(&p);
	return err ? live_refused(c, &l) : CLI_YES;
}
