/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `weir explain`: one packet, every rule that it meets, and the verdict. */
#include <stdio.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/read.h"
#include "cli/report.h"
#include "cli/trace.h"
#include "packet/notation.h"

/* The packet is a source too, so that an error in it has a place: "packet:1:12: error: ...". */
static bool read_packet(struct cli *c, const char *text, struct packet *out)
{
	uint32_t source = source_add(&c->sources, "packet", str_from(text));
	struct loc at = { source, 0, (uint32_t)strlen(text) };

	packet_init(out);
	return notation_parse(c->run, &c->diags, source_get(&c->sources, source)->text, at, out);
}

static void print_verdict(struct cli *c, const struct packet *p, const struct eval_result *r)
{
	const char *color = r->is_unknown ? "\033[1;33m" : r->verdict == VERDICT_ACCEPT ? "\033[1;32m" : "\033[1;31m";

	if (!c->color_out)
		color = "";
	printf("%sverdict: %.*s%s\n", color, STR_ARG(answer_text(c, p, r)), c->color_out ? "\033[0m" : "");
}

static void print_json(struct cli *c, const char *packet, const struct eval_result *r)
{
	json_t *j = json_object();

	json_object_set_new(j, "packet", report_json_str(c->run, str_from(packet)));
	json_object_update_new(j, answer_json(c, r));
	if (!c->opt.given[OPTION_SHORT])
		json_object_set_new(j, "trace", trace_json(c, r));
	report_json_print(j);
}

int explain_verb(struct cli *c)
{
	const char *text = c->arg[c->n_args - 1];
	struct rules rules;
	struct env env;
	struct eval_options opt;
	struct packet p;
	struct eval_result r = { 0 };
	int status = read_rules(c, c->arg, c->n_args - 1, &rules), env_status;

	if (status == CLI_REFUSED || status == CLI_USAGE)
		return status;
	env_status = read_eval_options(c, &env, &opt);
	if (env_status == CLI_REFUSED)
		return env_status;
	if (!read_packet(c, text, &p))
		env_status = CLI_USAGE;
	report_print(c, REPORT_ERRORS);
	if (env_status == CLI_USAGE && access(text, F_OK) == 0)
		cli_fail(CLI_USAGE, "the last argument is the packet; '%s' is a file", text);
	if (status || env_status)
		return status ? status : env_status;
	opt.want_trace = !c->opt.given[OPTION_SHORT];
	eval_packet(eval_create(c->run, rules.set, &opt), c->run, &p, &r);
	if (c->opt.given[OPTION_JSON]) {
		print_json(c, text, &r);
		return answer_status(&r);
	}
	if (opt.want_trace)
		trace_print(c, &r);
	print_verdict(c, &p, &r);
	return answer_status(&r);
}
