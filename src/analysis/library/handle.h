/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handles of the built-in watchers (schedtap/analyses.h). */
#ifndef TAP_LIBRARY_HANDLE_H
#define TAP_LIBRARY_HANDLE_H

#include <errno.h>
#include <stdlib.h>

#include <schedtap/analyses.h>

/* Return @size bytes, all zero, owned by the caller; NULL with @err set when out of memory. */
static inline void *tap_handle_new(size_t size, struct tap_err *err)
{
	void *h = calloc(1, size);

	if (!h)
		tap_err_nomem(err);
	return h;
}

#endif
