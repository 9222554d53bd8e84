/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The load-tracking signals over time. A series is one signal of one subject: a CPU, a task, a
 * cgroup on a CPU, or a root domain. An update holds until the next one, until its task dies, or
 * until the window's end; before the first update in the window nothing is known. All figures are
 * weighted by how long a value held.
 *
 * Where events are missing a value is no longer known, until the next update behind them. A loss on
 * any CPU may hide any update: who wakes or balances updates another CPU's signals from its own. A
 * break of a CPU's chain, which no loss tells of, says that CPU's own signals and those of cgroups
 * on it are in doubt.
 */
#ifndef TAP_ANALYSIS_PELT_H
#define TAP_ANALYSIS_PELT_H

#include "base/hist.h"
#include "base/text.h"
#include "timeline/timeline.h"

enum tap_pelt_subject {
	TAP_PELT_CPU,
	TAP_PELT_TASK,
	TAP_PELT_CGROUP, /* on one CPU */
	TAP_PELT_DOMAIN, /* the CPUs of a root domain */
};

enum tap_pelt_scale {
	TAP_PELT_1024, /* parts of the biggest CPU; runnable may be above */
	TAP_PELT_OPEN, /* no bound */
	TAP_PELT_COUNT,
	TAP_PELT_FLAG, /* 0 or 1 */
};

struct tap_pelt_signal {
	const char *name; /* "util", "util_rt", ... */
	const char *event; /* whose field it is */
	const char *field;
	/* TAP_PELT_CPU: where the event says so, a cgroup on it. TAP_PELT_CGROUP: of these alone */
	enum tap_pelt_subject subject;
	enum tap_pelt_scale scale;
	/* NULL, or fields the first of which counts sleepers as well that the second does not: they
	 * are taken off the value */
	const char *queued, *runnable;
	bool is_signed; /* values may be below 0 */
};

extern const struct tap_pelt_signal tap_pelt_signals[]; /* ends with a row of zeros */

#define TAP_PELT_BANDS 5u

/* A part of the window, for a plot. */
struct tap_pelt_column {
	uint64_t ns; /* how much of it is known */
	int64_t min, max;
	__int128 sum; /* of values times ns */
};

/* In place of a value: it is not known from here on. */
#define TAP_PELT_GAP INT64_MIN

struct tap_pelt_point {
	uint64_t ts_ns;
	int64_t value;
};

struct tap_pelt_series {
	const struct tap_pelt_signal *signal;
	enum tap_pelt_subject subject;
	int cpu; /* of a CPU, a cgroup; of a domain: its first one */
	int tid; /* of a task */
	uint64_t cgroup; /* its kernfs id; of a task: where it was, 0: not known */
	char comm[TAP_TASK_COMM]; /* of a task; as in struct tap_task */
	unsigned int life; /* of a task: those of one that had its tid before have another */
	unsigned int number; /* 0, 1, ...: for who is told of points */
	struct tap_cpus span; /* of a domain; owned */

	uint64_t updates; /* within the window */
	int64_t last;
	/* .count: ns for which a value is known; of a signed one: and not below 0 */
	struct tap_hist hist;
	struct tap_hist below; /* of a signed one, for those below 0: how far they are */
	/* ns in fifths of 1024; a count: ns at 0, 1, 2, 3, 4 and above; else unused */
	uint64_t bands_ns[TAP_PELT_BANDS];
	struct tap_pelt_column *columns; /* owned; tap_pelt_opts.nr_columns; NULL: none */
	struct tap_pelt_point *points; /* owned; with .keep_points */
	unsigned int nr_points, cap_points;

	/* inside */
	bool live; /* a point was told, and no gap behind it */
	bool partial; /* other updates may have been made on CPUs that are not recorded */
	bool wanted, known; /* .last holds since .at_ns, at most until .until_ns */
	uint64_t at_ns, until_ns;
	uint64_t key;
	struct tap_pelt_series *same_runner_next;
};

struct tap_pelt_opts {
	struct tap_window window;
	/* what is missing; read by tap_pelt_new(); NULL: nothing */
	const struct tap_survey *survey;
	unsigned int nr_columns; /* that a plot divides it into; 0: none */
	/* A task's values count while it runs, a CPU's and a cgroup's while the CPU is not idle. */
	bool while_running;
	bool cpus_only; /* values of cgroups are passed over; .want_signal wants none of tasks */
	/* each update that counts, and each gap behind one: memory grows with the recording */
	bool keep_points;
	/* Of series nothing else is asked for: how long values held is not summed up, and gaps are
	 * those of flags alone. */
	bool points_alone;
	/* Whether this signal is looked at; asked once. NULL: all are. */
	bool (*want_signal)(void *ctx, const struct tap_pelt_signal *s);
	/* Whether this series is kept; asked once. .columns, .hist and below are not filled in. */
	bool (*want)(void *ctx, const struct tap_pelt_series *s);
	/* Told of each update that counts and each gap behind one, in time order, or NULL.
	 * Return: 0, or -errno, which stops. */
	int (*point)(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, int64_t value);
	void *ctx; /* of all three */
};

struct tap_pelt;

/* @opts is copied. Return: 0 or -ENOMEM. */
int tap_pelt_new(const struct tap_pelt_opts *opts, struct tap_pelt **out);
void tap_pelt_free(struct tap_pelt *p);

/* Whether an event of this name has signals: its rows have this .event. */
bool tap_pelt_wants(const struct tap_format *fmt);

/* Whether an event of this name has signals that @want wants. @want: as tap_pelt_opts.want_signal,
 * with its @ctx. */
bool tap_pelt_has_signal(const struct tap_format *fmt,
			 bool (*want)(void *ctx, const struct tap_pelt_signal *s), void *ctx);

/* ctx: struct tap_pelt. The second is enough for signals of CPUs without .while_running. */
extern const struct tap_watcher_ops tap_pelt_ops, tap_pelt_of_cpus_ops;

/* By signal, then CPU, task, cgroup. After the end; borrowed. */
struct tap_pelt_series *const *tap_pelt_series(const struct tap_pelt *p, unsigned int *nr);

/* For series that are made elsewhere. {0} but for .hist and .below, which are empty, is good for
 * both. */
void tap_pelt_series_free(struct tap_pelt_series *s);
/* .last held in this part of the window, of which the plot has so many columns. Return: 0 or
 * -ENOMEM. */
int tap_pelt_series_hold(struct tap_pelt_series *s, const struct tap_window *window,
			 unsigned int nr_columns, uint64_t from_ns, uint64_t to_ns);
/* Adds to .points. Return: as above. */
int tap_pelt_series_point(struct tap_pelt_series *s, uint64_t ts_ns, int64_t value);

/* Figures of a series, signed or not. Values but of no known time are 0. */
uint64_t tap_pelt_known_ns(const struct tap_pelt_series *s);
double tap_pelt_mean(const struct tap_pelt_series *s);
int64_t tap_pelt_min(const struct tap_pelt_series *s);
int64_t tap_pelt_max(const struct tap_pelt_series *s);
int64_t tap_pelt_quantile(const struct tap_pelt_series *s, double part);

#endif
