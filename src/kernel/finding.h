/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writing findings of the doctor down. */
#ifndef WEIR_KERNEL_FINDING_H
#define WEIR_KERNEL_FINDING_H

#include "kernel/doctor.h"

void finding_good(struct doctor *d, const char *what, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void finding_note(struct doctor *d, const char *what, struct str help, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void finding_bad(struct doctor *d, const char *what, struct str help, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void finding_repaired(struct doctor *d); /* the last one */

#endif
