/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events that requests are made of: one begins a request, one finishes it, and a field
 * identifies the request.
 */
#ifndef TAP_CRITICAL_REQUEST_SOURCE_H
#define TAP_CRITICAL_REQUEST_SOURCE_H

#include <schedtap/reader.h>

#include "event/span.h"
#include "analysis/critical/requests.h"

struct tap_request_source { /* all zero: no requests */
	struct tap_request_word {
		struct span system, name; /* .system: empty: any */
	} begin, finish;
	/* name of the field, borrowed; NULL: the current task identifies the request */
	const char *by;
	struct tap_request_event *events; /* owned; by format */
	unsigned int nr_events, cap_events;
};

/*
 * @words: "SYSTEM:NAME,SYSTEM:NAME"; "SYSTEM:" may be left out. @words and @by are borrowed.
 * Return: 0; -EINVAL with a sentence.
 */
int tap_request_source_init(struct tap_request_source *s, const char *words, const char *by,
			    struct tap_err *err);
void tap_request_source_release(struct tap_request_source *s);
/*
 * Check that @formats, a recording's, contain both events, and that these have the field. Return:
 * 0; -ENODATA with a sentence.
 */
int tap_request_source_check(const struct tap_request_source *s,
			     const struct tap_format *const *formats, unsigned int nr,
			     struct tap_err *err);
bool tap_request_source_wants(const struct tap_request_source *s, const struct tap_format *fmt);
/*
 * Add an event to @r. Call in time order, after @timeline has processed the event. Return: 0 or
 * -ENOMEM.
 */
int tap_request_source_event(struct tap_request_source *s, struct tap_requests *r,
			     const struct tap_timeline *timeline, const struct tap_event *ev);

/* A watcher that collects the requests of a run. */
struct tap_request_watch {
	struct tap_request_source *source; /* both are borrowed */
	struct tap_requests *requests;
};

/* ctx: struct tap_request_watch. */
extern const struct tap_watcher_ops tap_request_watch_ops;

#endif
