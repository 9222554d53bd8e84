/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests, each from one event to another: how long they took, and the critical path of each. */
#ifndef TAP_CRITICAL_REQUESTS_H
#define TAP_CRITICAL_REQUESTS_H

#include "base/hist.h"
#include "base/map.h"
#include "analysis/critical/path.h"

struct tap_request {
	uint64_t from_ns, to_ns;
	unsigned int task; /* that finished it: its index */
};

struct tap_requests { /* all zero: none */
	/* owned; in the order in which they finished, or the longest first */
	struct tap_request *v;
	unsigned int nr, cap;
	uint64_t unfinished; /* began, and then began again, or were never finished */
	uint64_t unbegun; /* finished, and had not begun */
	/* inside */
	struct tap_map open; /* key -> when it began, plus 1; 0: it is finished */
};

/* In the order of time. @key: what both ends of a request have in common. Return: 0 or -ENOMEM,
 * here and below. */
int tap_requests_begin(struct tap_requests *r, uint64_t key, uint64_t ns);
int tap_requests_finish(struct tap_requests *r, uint64_t key, uint64_t ns, unsigned int task);
/* All has been told. */
void tap_requests_end(struct tap_requests *r);
/* After that: keeps those that a selected task finished. */
void tap_requests_keep_selected(struct tap_requests *r, const struct tap_timeline *timeline);
void tap_requests_release(struct tap_requests *r);

/* Of all requests, ns each. */
struct tap_request_times {
	struct tap_hist all; /* how long they took */
	struct tap_hist others; /* what of that was other tasks' than the one that finished it */
	struct tap_hist states[TAP_NR_PATH_STATES];
};

/* @r: in the order in which they finished; then it is sorted. @t: released in either case. */
int tap_requests_add_up(struct tap_requests *r, struct tap_walk *w, struct tap_request_times *t);
void tap_request_times_release(struct tap_request_times *t);
/* How long tasks of their paths were runnable and had no CPU. */
uint64_t tap_request_times_scheduling_ns(const struct tap_request_times *t);

#endif
