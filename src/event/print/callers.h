/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Print what ftrace's own events have of addresses: stacks, innermost first, and function calls. */
#ifndef TAP_PRINT_CALLERS_H
#define TAP_PRINT_CALLERS_H

#include "base/buf.h"
#include "event/format.h"
#include "event/print/symbols.h"

struct tap_callers {
	const struct tap_field *address; /* of each caller; NULL: the event is not a stack */
	const struct tap_field *nr; /* their number, or NULL */
	bool is_kernel;
	/*
	 * of a call, if its print format does not name them (before Linux 5.14): the function, and
	 * who called it; or NULL
	 */
	const struct tap_field *ip, *parent;
};

/* Find the fields of ftrace's kernel_stack, user_stack or function. */
struct tap_callers tap_callers_find(const struct tap_format *fmt);

/*
 * Add "\n => NAME" for each caller, as schedtap's own stacks are printed. Addresses of user space,
 * and those without a symbol, are printed in hex. @symbols: may be NULL.
 */
void tap_callers_put(const struct tap_callers *c, const unsigned char *rec, uint32_t size,
		     const struct tap_symbols *symbols, struct tap_buf *out);

/* Add " NAME <-- NAME", as later kernels print it. */
void tap_callers_put_call(const struct tap_callers *c, const unsigned char *rec, uint32_t size,
			  const struct tap_symbols *symbols, struct tap_buf *out);

#endif
