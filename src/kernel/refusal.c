/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the machine refused, as data. See refusal.h. */
#include "kernel/refusal.h"

#include <errno.h>

int refusal_set(struct refusal *why, int err, const char *fmt, ...)
{
	va_list ap;

	if (!why->what.n) {
		va_start(ap, fmt);
		why->what = arena_vprintf(why->a, fmt, ap);
		va_end(ap);
		why->err = err;
		why->help = (struct str){ 0 };
	}
	return err ? -err : -EINVAL;
}

void refusal_help(struct refusal *why, const char *fmt, ...)
{
	va_list ap;

	if (why->help.n)
		return;
	va_start(ap, fmt);
	why->help = arena_vprintf(why->a, fmt, ap);
	va_end(ap);
}

struct str refusal_text(struct arena *a, const struct refusal *why)
{
	struct buf b = { .a = a };

	buf_printf(&b, "%.*s", STR_ARG(why->what));
	if (why->err)
		buf_printf(&b, ": %s", strerror(why->err));
	buf_printf(&b, "\n");
	if (why->help.n)
		buf_printf(&b, "  help: %.*s\n", STR_ARG(why->help));
	return buf_str(&b);
}
