/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* From which events requests are made: one begins them, one finishes them, and a field says which
 * belong together. */
#ifndef TAP_CRITICAL_REQUEST_SOURCE_H
#define TAP_CRITICAL_REQUEST_SOURCE_H

#include <schedtap/reader.h>

#include "event/span.h"
#include "analysis/critical/requests.h"

struct tap_request_source { /* all zero: there are no requests */
	struct tap_request_word {
		struct span system, name; /* .system may be empty: any */
	} begin, finish;
	const char *by; /* borrowed; NULL: the task */
	struct tap_request_event *events; /* owned; by format */
	unsigned int nr_events, cap_events;
};

/* @words: "SYSTEM:NAME,SYSTEM:NAME", the systems may be left out; borrowed, as @by. Return: 0;
 * -EINVAL with a sentence. */
int tap_request_source_init(struct tap_request_source *s, const char *words, const char *by,
			    struct tap_err *err);
void tap_request_source_release(struct tap_request_source *s);
/* Whether @formats, a recording's, have these events and their field. Return: 0; -ENODATA with a
 * sentence. */
int tap_request_source_check(const struct tap_request_source *s,
			     const struct tap_format *const *formats, unsigned int nr,
			     struct tap_err *err);
bool tap_request_source_wants(const struct tap_request_source *s, const struct tap_format *fmt);
/* In the order of time, after @timeline has seen it. Return: 0 or -ENOMEM. */
int tap_request_source_event(struct tap_request_source *s, struct tap_requests *r,
			     const struct tap_timeline *timeline, const struct tap_event *ev);

/* Collects the requests of a run. */
struct tap_request_watch {
	struct tap_request_source *source; /* both borrowed */
	struct tap_requests *requests;
};

/* ctx: struct tap_request_watch. */
extern const struct tap_watcher_ops tap_request_watch_ops;

#endif
