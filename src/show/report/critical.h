/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * schedtap critical: critical.c shows one task's critical path, critical_requests.c those of
 * requests, and critical_waits.c explains the requests' waits.
 */
#ifndef TAP_REPORT_CRITICAL_H
#define TAP_REPORT_CRITICAL_H

#include "analysis/critical/request_source.h"
#include "analysis/critical/request_waits.h"
#include "analysis/critical/watch.h"
#include "show/report/report.h"

struct critical_opts {
	struct tap_report_opts common;
	const char *between, *by;
	bool command, path;
};

struct critical {
	struct tap_report report;
	struct tap_critical_watch watch;
	struct tap_walk walk;
	struct tap_buf text;

	/* for one task */
	struct tap_path path;
	const struct tap_task *task; /* the task that .path belongs to */
	struct tap_window life;

	/* for requests */
	struct tap_request_source source;
	struct tap_request_watch request_watch;
	struct tap_requests requests;
	struct tap_request_times times;
	struct tap_request_waits waits; /* explained waits of the requests that are shown */
};

static inline struct critical *tap_critical_of(const struct tap_report *r)
{
	return (struct critical *)r;
}

static inline const struct critical_opts *tap_critical_opts(const struct tap_report *r)
{
	return (const struct critical_opts *)r->opts;
}

static inline bool tap_critical_is_between(const struct tap_report *r)
{
	return tap_critical_opts(r)->between;
}

/* Append "312.000 ms of 8100.000 ms (3.9 %) is the most that a perfect scheduler could save." */
void tap_critical_put_share(struct tap_buf *b, uint64_t scheduling_ns, uint64_t all_ns,
			    uint64_t unknown_ns);

/* Find the requests, after all events have been read. Return: 0; -errno with a sentence. */
int tap_critical_find_requests(struct critical *c, struct tap_err *err);
/*
 * Find .waits of the first @nr requests, which must be sorted already. Return: 0; -errno with a
 * sentence.
 */
int tap_critical_explain_requests(struct critical *c, unsigned int nr, struct tap_err *err);

/* Sections of the report. */
void tap_critical_put_members(struct tap_report *r, struct tap_table *t);
void tap_critical_put_sentence(struct tap_report *r, struct tap_table *t);
extern const struct tap_column tap_critical_time_columns[], tap_critical_request_columns[];
void tap_critical_put_times(struct tap_report *r, struct tap_table *t);
void tap_critical_put_request(struct tap_report *r, struct tap_table *t, unsigned int i);
void tap_critical_put_waits(struct tap_report *r, struct tap_table *t);
unsigned int tap_critical_nr_shown(const struct tap_report *r);

#endif
