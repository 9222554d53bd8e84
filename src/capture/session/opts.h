/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_CAPTURE_SESSION_OPTS_H
#define TAP_CAPTURE_SESSION_OPTS_H

#include "capture/plan.h"

/* Needed only until tap_session_open() returns, but for the selection. */
struct tap_session_opts {
	const char *file;
	const struct tap_select *select; /* needed until tap_session_free(); NULL: the default events of everybody */
	const struct tap_defs *own; /* events beside the built-in ones; needed until tap_session_free(); NULL: none */
	struct tap_kernel *kernel; /* where the caller has read the kernel's types; needed as long; NULL */
	const char *backend; /* "bpf", "tracefs", "user", or NULL: the cheapest per event */
	const struct tap_strings *triggers; /* NULL: none */
	bool follow; /* children of the selection's processes too */
	uint64_t buffer_bytes; /* per CPU; 0: by the number of CPUs */
	int priority; /* while recording; tap_priority_raise() */
	bool zstd;
	bool bpf_ringbuf; /* see struct tap_plan */
	/* How far packing has come, bytes; or NULL. */
	void (*packing)(void *ctx, uint64_t done, uint64_t whole);
	void *ctx;
};

#endif
