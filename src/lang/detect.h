/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which language a text is in, told by its words. See lang.h. */
#ifndef WEIR_LANG_DETECT_H
#define WEIR_LANG_DETECT_H

#include "lang/lang.h"

enum lang detect_language(const struct source *src); /* LANG_AUTO if nothing tells */

#endif
