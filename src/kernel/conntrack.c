/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tables of the families ip and ip6, by libnftables: each a transaction of its own name. See conntrack.h. */
#include "kernel/conntrack.h"

#include "base/library.h"

#include <errno.h>
#include <nftables/libnftables.h>

struct str conntrack_table(const struct instance *in)
{
	return arena_printf(in->a, "weir_%s", in->name);
}

static struct {
	__typeof__(nft_ctx_buffer_error) *ctx_buffer_error;
	__typeof__(nft_ctx_buffer_output) *ctx_buffer_output;
	__typeof__(nft_ctx_free) *ctx_free;
	__typeof__(nft_ctx_get_error_buffer) *ctx_get_error_buffer;
	__typeof__(nft_ctx_new) *ctx_new;
	__typeof__(nft_ctx_set_dry_run) *ctx_set_dry_run;
	__typeof__(nft_run_cmd_from_buffer) *run_cmd_from_buffer;
} lib;

static bool bind_library(void)
{
	static const char *const names[] = { "libnftables.so.1", "libnftables.so", NULL };
#define S(name) { "nft_" #name, (void **)&lib.name }
	static const struct library_symbol symbols[] = {
		S(ctx_buffer_error), S(ctx_buffer_output), S(ctx_free), S(ctx_get_error_buffer), S(ctx_new), S(ctx_set_dry_run), S(run_cmd_from_buffer),
	};
#undef S

	return library_bind(names, symbols, sizeof symbols / sizeof *symbols);
}

/* 0 or -EIO; *error is nft's own text. */
static int run_nft(const struct instance *in, bool dry_run, struct str commands, struct str *error)
{
	struct nft_ctx *nft;
	const char *text;
	int failed;

	*error = (struct str){ 0 };
	if (!bind_library()) {
		*error = arena_printf(in->a, "libnftables cannot be loaded: %s", library_error());
		return -EIO;
	}
	nft = lib.ctx_new(NFT_CTX_DEFAULT);
	if (!nft)
		return -ENOMEM;
	lib.ctx_buffer_error(nft);
	lib.ctx_buffer_output(nft);
	lib.ctx_set_dry_run(nft, dry_run);
	failed = lib.run_cmd_from_buffer(nft, commands.p);
	text = lib.ctx_get_error_buffer(nft);
	*error = arena_str(in->a, text ? text : "", text ? strcspn(text, "\n") : 0);
	lib.ctx_free(nft);
	return failed ? -EIO : 0;
}

static bool has_chain(const struct instance *in, enum family f)
{
	struct str error, list = arena_printf(in->a, "list chain %s weir_%s tracks_connections\n",
					      policy_family_name(f), in->name);

	return run_nft(in, false, list, &error) == 0;
}

bool conntrack_is_enabled(const struct instance *in, const bool *families)
{
	for (int f = 0; f < FAMILY_COUNT; f++)
		if (families[f] && !has_chain(in, (enum family)f))
			return false;
	return true;
}

bool conntrack_is_possible(const struct instance *in, struct str *error)
{
	struct str probe = STR("table inet weir_probe\ntable inet weir_probe {\n\tchain c {\n\t\tct state new\n\t}\n}\n");

	return run_nft(in, true, probe, error) == 0;
}

int conntrack_enable(const struct instance *in, const bool *families, struct refusal *why)
{
	struct buf b = { .a = in->a };
	struct str error;

	for (int f = 0; f < FAMILY_COUNT; f++) {
		const char *family = policy_family_name((enum family)f), *name = in->name;

		if (!families[f])
			continue;
		buf_printf(&b, "table %s weir_%s\n", family, name);
		buf_printf(&b, "delete table %s weir_%s\n", family, name);
		buf_printf(&b, "table %s weir_%s {\n\tchain tracks_connections {\n\t\tct state new\n\t}\n}\n", family, name);
	}
	if (!b.n || conntrack_is_enabled(in, families))
		return 0;
	if (run_nft(in, false, buf_str(&b), &error) == 0)
		return 0;
	refusal_set(why, 0, "cannot make the kernel track connections: %.*s", STR_ARG(error));
	refusal_help(why, "rules that look at connections need nf_tables with CONFIG_NFT_CT, or any other user of conntrack");
	return -EIO;
}

int conntrack_keep_only(const struct instance *in, const bool *families, struct refusal *why)
{
	struct buf b = { .a = in->a };
	struct str error;

	for (int f = 0; f < FAMILY_COUNT; f++) {
		const char *family = policy_family_name((enum family)f);

		if (!families[f] && has_chain(in, (enum family)f))
			buf_printf(&b, "delete table %s weir_%s\n", family, in->name);
	}
	if (!b.n || run_nft(in, false, buf_str(&b), &error) == 0)
		return 0;
	return refusal_set(why, 0, "cannot remove the table %.*s: %.*s", STR_ARG(conntrack_table(in)), STR_ARG(error));
}
