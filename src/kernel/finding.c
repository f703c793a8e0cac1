/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Findings. See finding.h. */
#include "kernel/finding.h"

static void add(struct doctor *d, enum doctor_state state, const char *what, struct str help, struct str text)
{
	*vec_add(d->a, &d->all) = (struct doctor_finding){ state, str_from(what), text, help, false };
	d->n_bad += state == DOCTOR_BAD;
	d->n_notes += state == DOCTOR_NOTE;
}

void finding_good(struct doctor *d, const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, DOCTOR_GOOD, what, (struct str){ 0 }, arena_vprintf(d->a, fmt, ap));
	va_end(ap);
}

void finding_note(struct doctor *d, const char *what, struct str help, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, DOCTOR_NOTE, what, help, arena_vprintf(d->a, fmt, ap));
	va_end(ap);
}

void finding_bad(struct doctor *d, const char *what, struct str help, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(d, DOCTOR_BAD, what, help, arena_vprintf(d->a, fmt, ap));
	va_end(ap);
}

void finding_repaired(struct doctor *d)
{
	d->all.v[d->all.n - 1].is_repaired = true;
	d->n_bad--;
}
