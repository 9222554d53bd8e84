/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Print the refreshes of `schedtap top -b`. */
#ifndef TAP_SHOW_TOP_TOP_H
#define TAP_SHOW_TOP_TOP_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/proc.h"
#include "record/accounts/accounts.h"
#include "record/tally/tally.h"

struct tap_top_refresh {
	const struct tap_tally_view *view; /* of the time since the last refresh */
	int64_t realtime_ns; /* of the refresh, ns since 1970; 0: unknown, of a recording */
	bool is_recorded; /* the numbers are of a recording */
	/* overhead: of the program on sched_switch, 0: unknown; and CPU time of this process */
	uint64_t ns_per_switch, own_cpu_ns;
};

/* A refresh without the tally. */
struct tap_top_accounts {
	const struct tap_accounts_view *view; /* of the time since the last refresh */
	const char *why; /* why the tally could not be opened */
	int64_t realtime_ns;
	uint64_t own_cpu_ns; /* CPU time of this process */
};

/* A culprit: a cgroup, or another use of a CPU that tasks waited for. */
struct tap_top_culprit {
	const char *name; /* a cgroup's path, "own cgroup", "kernel threads", "idle CPU", ... */
	uint64_t ns;
};

/*
 * List the culprits of all waits of a row, the greatest first. @row: NULL: of all rows. @list: set;
 * owned by the caller, NULL when out of memory. Return: number of entries.
 */
unsigned int tap_top_culprits(const struct tap_tally_view *view, const struct tap_tally_row *row,
			      struct tap_top_culprit **list);

uint64_t tap_top_switches(const struct tap_tally_view *view); /* of all CPUs */
uint64_t tap_top_max_wait(const struct tap_tally_view *view, enum tap_tally_kind kind);

uint64_t tap_top_censored(const struct tap_tally_view *view); /* number of waits, all reasons */
uint64_t tap_top_idle_while_waiting(const struct tap_tally_view *view); /* of all LLCs */

/* Return: percent of the CPU time that the tally takes; NAN if unknown. */
double tap_top_overhead(const struct tap_top_refresh *r);

/* Append the time of day of a refresh: "00:47:05". */
void tap_top_clock(struct tap_buf *out, int64_t realtime_ns);
/* Append "  1.2 k switches/s". @ns: the time that the number of switches is of. */
void tap_top_rate(struct tap_buf *out, uint64_t switches, uint64_t ns);
/* Append one line for people. */
void tap_top_line(struct tap_buf *out, const struct tap_top_refresh *r);
/* Append one JSON object and a newline; docs/json.md has the keys. */
void tap_top_json(struct tap_buf *out, const struct tap_top_refresh *r);
/* Append the line or the object without the tally: unknown parts are "-" or null. */
void tap_top_accounts_line(struct tap_buf *out, const struct tap_top_accounts *r);
void tap_top_accounts_json(struct tap_buf *out, const struct tap_top_accounts *r);

/* A command that has ended. */
struct tap_top_stat {
	const struct tap_tally_view *view; /* with the command's slot */
	char *const *command;
	int exit_code; /* 128 + N: signal N ended it */
};

/* Append lines for people. */
void tap_top_stat(struct tap_buf *out, const struct tap_top_stat *s);
/* Append one JSON object and a newline. */
void tap_top_stat_json(struct tap_buf *out, const struct tap_top_stat *s);

/* A command that has ended, without the tally. */
struct tap_top_usage {
	char *const *command;
	int exit_code;
	const char *why; /* why the tally could not be opened */
	uint64_t elapsed_ns;
	/* as wait4(2) gives them: of the process and of descendants that were waited for */
	uint64_t run_ns, voluntary, involuntary;
	/* of the process's main thread alone; _err: -errno if they could not be read */
	struct tap_proc_schedstat main_thread;
	int main_thread_err;
};

void tap_top_usage(struct tap_buf *out, const struct tap_top_usage *u);
void tap_top_usage_json(struct tap_buf *out, const struct tap_top_usage *u);

#endif
