/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handles of built-in watchers (schedtap/analyses.h). */
#ifndef TAP_LIBRARY_HANDLE_H
#define TAP_LIBRARY_HANDLE_H

#include <errno.h>
#include <stdlib.h>

#include <schedtap/analyses.h>

/* Return: @size bytes of 0, owned; NULL with @err set. */
static inline void *tap_handle_new(size_t size, struct tap_err *err)
{
	void *h = calloc(1, size);

	if (!h)
		tap_err_nomem(err);
	return h;
}

#endif
