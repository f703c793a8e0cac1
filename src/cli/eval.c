/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `weir eval`: a capture through the rules. Packets are judged in order by one evaluator, so that limits, sets and
 * connections carry over; what one packet needs is thrown away before the next.
 */
#include <inttypes.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/brief.h"
#include "cli/eval_tables.h"
#include "cli/hits.h"
#include "cli/read.h"
#include "cli/report.h"
#include "packet/capture.h"

enum { ENGINE_EVAL, ENGINE_TABLES, ENGINE_KERNEL }; /* as in option.def */

struct run {
	struct cli *c;
	struct eval *eval;
	struct eval_tables *tables; /* NULL: the evaluator judges all packets */
	struct capture *capture;
	struct hits hits;
	const struct env *env;	/* of --env, or NULL */
	struct arena *scratch; /* of one packet */
	bool show_progress;
	uint64_t shown_at_ms;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void show_progress(struct run *r)
{
	uint64_t now = now_ms(), size = capture_size(r->capture), at = capture_bytes_read(r->capture);

	if (now - r->shown_at_ms < 200)
		return;
	r->shown_at_ms = now;
	if (size)
		fprintf(stderr, "\r%3" PRIu64 " %%  ", at * 100 / size);
	else
		fputc('\r', stderr);
	fprintf(stderr, "%" PRIu64 " packets", capture_packets(r->capture));
	fflush(stderr);
}

static void set_iface(char name[16], bool *has, const char *text)
{
	if (!text || *has)
		return;
	memset(name, 0, 16);
	strncpy(name, text, 15);
	*has = true;
}

/* With --on, the direction of a packet is told by whose address its source is. */
static void set_ifaces(struct run *r, struct packet *p, const struct facts *f)
{
	const char *const *text = r->c->opt.text;
	bool is_ours = text[OPTION_ON] && f->is_ip && f->known[FIELD_SRC] &&
		       env_addr_type(r->env, f->family, f->v[FIELD_SRC]) == RTN_LOCAL;

	set_iface(p->iif, &p->has_iif, text[OPTION_ON] && !is_ours ? text[OPTION_ON] : text[OPTION_IN]);
	set_iface(p->oif, &p->has_oif, is_ours ? text[OPTION_ON] : text[OPTION_OUT]);
}

static void print_each(struct run *r, const struct packet *p, const struct facts *f, const struct eval_result *e)
{
	struct cli one = *r->c;
	uint64_t n = capture_packets(r->capture);

	one.run = r->scratch;
	if (r->c->opt.given[OPTION_JSON]) {
		json_t *j = json_object();

		json_object_set_new(j, "number", json_integer((json_int_t)n));
		json_object_set_new(j, "packet", report_json_str(r->scratch, brief_packet(r->scratch, p, f)));
		json_object_update_new(j, answer_json(&one, e));
		json_dumpf(j, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
		putchar('\n');
		json_decref(j);
		return;
	}
	printf("%" PRIu64 " %.*s  # %.*s\n", n, STR_ARG(answer_text(&one, p, e)),
	       STR_ARG(brief_packet(r->scratch, p, f)));
}

static void judge(struct run *r, struct packet *p)
{
	struct eval_result e = { 0 };
	struct facts f = { 0 };
	uint64_t bytes;

	facts_read(&f, p);
	set_ifaces(r, p, &f);
	bytes = f.is_ip ? f.l3_wire_len : p->wire_len;
	eval_packet(r->eval, r->scratch, p, &e);
	hits_add(r->c->run, &r->hits, &e, f.is_ip, bytes);
	if (r->c->opt.given[OPTION_EACH])
		print_each(r, p, &f, &e);
	arena_reset(r->scratch);
}

static void judge_by_tables(struct run *r, struct packet *p)
{
	struct facts f = { 0 };

	if (r->c->opt.text[OPTION_ON])
		facts_read(&f, p);
	set_ifaces(r, p, &f);
	eval_tables_add(r->tables, p);
}

static int run_capture(struct run *r)
{
	struct packet p;
	int got;

	r->show_progress = isatty(STDERR_FILENO) && !(r->c->opt.given[OPTION_EACH] && isatty(STDOUT_FILENO));
	while ((got = capture_next(r->capture, &p)) > 0) {
		if (r->tables)
			judge_by_tables(r, &p);
		else
			judge(r, &p);
		if (r->show_progress && capture_packets(r->capture) % 256 == 0)
			show_progress(r);
	}
	if (r->show_progress && r->shown_at_ms)
		fputs("\r\033[K", stderr);
	if (got < 0)
		return cli_fail(CLI_REFUSED, "%.*s", STR_ARG(capture_error(r->capture)));
	return CLI_YES;
}

static void print_result(struct run *r)
{
	const bool *given = r->c->opt.given;

	if (given[OPTION_EACH])
		return;
	if (given[OPTION_JSON])
		report_json_print(hits_json(r->c, &r->hits));
	else
		hits_print(r->c, &r->hits);
}

static bool name_fits(const char *name)
{
	return !name || (*name && strlen(name) < 16);
}

/* The tables of --engine tables, or, where they cannot give the evaluator's answers, a line that says why. */
static void open_tables(struct run *r, const struct ruleset *rs, const struct eval_options *opt)
{
	struct str why = STR("--each tells how each packet was decided");

	if (option_choice(&r->c->opt, OPTION_ENGINE) != ENGINE_TABLES)
		return;
	if (!r->c->opt.given[OPTION_EACH])
		r->tables = eval_tables_open(r->c->run, rs, opt, &r->hits, &why);
	if (!r->tables)
		cli_fail(0, "--engine tables: %.*s; the evaluator judges all packets", STR_ARG(why));
}

static void close_tables(struct run *r)
{
	uint64_t n = r->tables ? eval_tables_end(r->tables) : 0;

	if (n)
		cli_fail(0, "--engine tables: the evaluator judged %" PRIu64 " packet%s that say%s too little, or are not well-formed IP", n,
			 n == 1 ? "" : "s", n == 1 ? "s" : "");
}

static int check_ifaces(struct cli *c)
{
	const char *const *text = c->opt.text;

	if (!name_fits(text[OPTION_IN]) || !name_fits(text[OPTION_OUT]) || !name_fits(text[OPTION_ON]))
		return cli_usage(c, "an interface name has 1 to 15 bytes");
	if (option_choice(&c->opt, OPTION_ENGINE) == ENGINE_KERNEL)
		return cli_usage(c, "--engine kernel: the kernel judges what is loaded; 'weir test' tries rules there");
	if (text[OPTION_ON] && !text[OPTION_ENV])
		return cli_usage(c, "--on needs --env: the addresses of the host tell the direction of a packet");
	if (text[OPTION_ON] && (text[OPTION_IN] || text[OPTION_OUT]))
		return cli_usage(c, "--on tells both interfaces; --in and --out cannot stand beside it");
	return CLI_YES;
}

/* Rules, environment and options; CLI_YES if the capture can be run. */
static int prepare(struct cli *c, struct rules *rules, struct env *env, struct eval_options *opt)
{
	int status = check_ifaces(c), env_status;

	if (!status)
		status = read_rules(c, c->arg, c->n_args - 1, rules);
	if (status == CLI_REFUSED || status == CLI_USAGE)
		return status;
	env_status = read_eval_options(c, env, opt);
	if (env_status == CLI_REFUSED)
		return env_status;
	report_print(c, REPORT_ERRORS);
	opt->track = opt->ct < 0;
	return status ? status : env_status;
}

int eval_verb(struct cli *c)
{
	struct run r = { .c = c };
	struct rules rules;
	struct env env;
	struct eval_options opt;
	struct str why = { 0 };
	uint64_t unknown;
	int status = prepare(c, &rules, &env, &opt);

	if (status)
		return status;
	r.capture = capture_open(c->run, c->arg[c->n_args - 1], &why);
	if (!r.capture)
		return cli_fail(CLI_REFUSED, "%.*s", STR_ARG(why));
	r.scratch = arena_create();
	r.env = opt.env;
	r.eval = eval_create(c->run, rules.set, &opt);
	hits_init(c->run, &r.hits, rules.set);
	open_tables(&r, rules.set, &opt);
	status = run_capture(&r);
	close_tables(&r);
	print_result(&r);
	unknown = r.hits.verdict[VERDICT_NONE].packets;
	if (unknown && !c->opt.given[OPTION_IN] && !c->opt.given[OPTION_OUT] && !c->opt.given[OPTION_HOOK] &&
	    !c->opt.given[OPTION_ON])
		cli_fail(0, "a capture knows no interfaces: --in, --out, --hook or --on say the path of its packets");
	capture_close(r.capture);
	arena_destroy(r.scratch);
	return status ? status : unknown ? CLI_UNKNOWN : CLI_YES;
}
