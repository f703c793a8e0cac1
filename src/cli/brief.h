/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A packet in a few words, for lists: "tcp 192.0.2.1:4000 > 198.51.100.2:22 flags=S len=60". */
#ifndef WEIR_CLI_BRIEF_H
#define WEIR_CLI_BRIEF_H

#include "eval/eval.h"

/* Not everything that is in the packet: the bytes and most headers are left out. */
struct str brief_packet(struct arena *a, const struct packet *p, const struct facts *f);

#endif
