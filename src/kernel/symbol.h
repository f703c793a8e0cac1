/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of the kernel's own functions, static ones and those of modules too. */
#ifndef WEIR_KERNEL_SYMBOL_H
#define WEIR_KERNEL_SYMBOL_H

#include <stdint.h>

uint64_t symbol_address(const char *name); /* 0: there is none, or it cannot be told. Needs root. */

#endif
