/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* schedtap critical: critical.c shows one task's path, critical_requests.c those of requests,
 * critical_waits.c explains their waits. */
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

	/* of one task */
	struct tap_path path;
	const struct tap_task *task; /* whose it is */
	struct tap_window life;

	/* of requests */
	struct tap_request_source source;
	struct tap_request_watch request_watch;
	struct tap_requests requests;
	struct tap_request_times times;
	struct tap_request_waits waits; /* of those that are shown */
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

/* "312.000 ms of 8100.000 ms (3.9 %) is the most that a perfect scheduler could save." */
void tap_critical_put_share(struct tap_buf *b, uint64_t scheduling_ns, uint64_t all_ns,
			    uint64_t unknown_ns);

/* All has been told. Return: 0; -errno with a sentence. */
int tap_critical_find_requests(struct critical *c, struct tap_err *err);
/* Finds .waits of the first @nr requests, which are in their order by then. Return: as above. */
int tap_critical_explain_requests(struct critical *c, unsigned int nr, struct tap_err *err);

/* Sections. */
void tap_critical_put_members(struct tap_report *r, struct tap_table *t);
void tap_critical_put_sentence(struct tap_report *r, struct tap_table *t);
extern const struct tap_column tap_critical_time_columns[], tap_critical_request_columns[];
void tap_critical_put_times(struct tap_report *r, struct tap_table *t);
void tap_critical_put_request(struct tap_report *r, struct tap_table *t, unsigned int i);
void tap_critical_put_waits(struct tap_report *r, struct tap_table *t);
unsigned int tap_critical_nr_shown(const struct tap_report *r);

#endif
