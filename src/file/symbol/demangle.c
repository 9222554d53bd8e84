// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/symbol/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

struct text {
	char *at;
	size_t len;
	jmp_buf full;
};

/*
 * A short symbol can expand to an endless name, so leave the demangler by longjmp() at the limit.
 * The demangler uses only the stack, so nothing leaks.
 */
static void add_part(const char *part, size_t len, void *ctx)
{
	struct text *t = ctx;
	size_t room = TAP_DEMANGLED_MAX - t->len;

	memcpy(t->at + t->len, part, len < room ? len : room);
	t->len += len < room ? len : room;
	if (len >= room)
		longjmp(t->full, 1);
}

static bool is_demangled(const char *symbol, struct text *t)
{
	if (setjmp(t->full))
		return true;
	/* first, as legacy Rust names look like C++ names */
	if (rust_demangle_callback(symbol, DMGL_NO_OPTS, add_part, t))
		return true;
	t->len = 0;
	return cplus_demangle_v3_callback(symbol, DMGL_NO_OPTS, add_part, t);
}

size_t tap_demangle(const char *symbol, char *out)
{
	struct text t = { .at = out };
	size_t len;

	if (symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R') && is_demangled(symbol, &t))
		return t.len;
	len = strcspn(symbol, "@");
	if (!len)
		len = strlen(symbol);
	if (len > TAP_DEMANGLED_MAX)
		len = TAP_DEMANGLED_MAX;
	memcpy(out, symbol, len);
	return len;
}
