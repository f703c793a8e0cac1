/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Binding at run time. See library.h. */
#include "base/library.h"

#include <dlfcn.h>

static const char *last_error;

const char *library_error(void)
{
	return last_error ? last_error : "unknown";
}

bool library_bind(const char *const *names, const struct library_symbol *symbol, size_t n)
{
	void *lib = NULL;

	for (; *names && !lib; names++) {
		lib = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
		if (!lib)
			last_error = dlerror();
	}
	for (size_t i = 0; lib && i < n; i++) {
		*symbol[i].to = dlsym(lib, symbol[i].name);
		if (!*symbol[i].to) {
			last_error = dlerror();
			return false;
		}
	}
	return lib != NULL;
}
