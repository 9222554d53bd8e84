/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests, each from one event to another: their durations and their critical paths. */
#ifndef TAP_CRITICAL_REQUESTS_H
#define TAP_CRITICAL_REQUESTS_H

#include "base/hist.h"
#include "base/map.h"
#include "analysis/critical/path.h"

struct tap_request {
	uint64_t from_ns, to_ns;
	unsigned int task; /* .index of the task that finished it */
};

struct tap_requests { /* all zero: empty */
	/*
	 * owned; in the order in which they finished, or after tap_requests_add_up() the longest
	 * first
	 */
	struct tap_request *v;
	unsigned int nr, cap;
	uint64_t unfinished; /* begun and then begun again, or never finished */
	uint64_t unbegun; /* finished without having begun */
	/* private */
	struct tap_map open; /* key -> time of the begin, plus 1; 0: not open */
};

/*
 * Begin or finish a request, in time order. @key: identifies the request in both events. Return: 0
 * or -ENOMEM, also for tap_requests_add_up().
 */
int tap_requests_begin(struct tap_requests *r, uint64_t key, uint64_t ns);
int tap_requests_finish(struct tap_requests *r, uint64_t key, uint64_t ns, unsigned int task);
/* Call after the last event. */
void tap_requests_end(struct tap_requests *r);
/* After tap_requests_end(): drop requests that were not finished by a selected task. */
void tap_requests_keep_selected(struct tap_requests *r, const struct tap_timeline *timeline);
void tap_requests_release(struct tap_requests *r);

/* Distributions over all requests, in ns. */
struct tap_request_times {
	struct tap_hist all; /* duration */
	struct tap_hist others; /* time on the path in other tasks than the finishing one */
	struct tap_hist states[TAP_NR_PATH_STATES];
};

/*
 * Walk the paths of all requests, and sort @r by duration. @r: in the order in which they finished.
 * The caller releases @t in either case.
 */
int tap_requests_add_up(struct tap_requests *r, struct tap_walk *w, struct tap_request_times *t);
void tap_request_times_release(struct tap_request_times *t);
/* Return how long tasks on the paths were runnable without a CPU, in ns. */
uint64_t tap_request_times_scheduling_ns(const struct tap_request_times *t);

#endif
