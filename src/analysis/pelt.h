/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The load-tracking (PELT) signals over time. A series is one signal of one subject: a CPU, a task,
 * a cgroup on a CPU, or a root domain. A value holds until the next update, until its task dies, or
 * until the window's end; before the first update in the window it is unknown. All statistics are
 * weighted with the time for which a value held.
 *
 * Where events are missing, a value is unknown until the next update after them. A loss on any CPU
 * may hide any update, because a CPU that wakes or balances tasks updates other CPUs' signals. A
 * broken chain of switches without a recorded loss makes that CPU's own signals, and those of
 * cgroups on it, unknown.
 */
#ifndef TAP_ANALYSIS_PELT_H
#define TAP_ANALYSIS_PELT_H

#include "base/hist.h"
#include "base/text.h"
#include "timeline/timeline.h"

enum tap_pelt_subject {
	TAP_PELT_CPU,
	TAP_PELT_TASK,
	TAP_PELT_CGROUP, /* a cgroup on one CPU */
	TAP_PELT_DOMAIN, /* the CPUs of a root domain */
};

enum tap_pelt_scale {
	TAP_PELT_1024, /* 1024: the biggest CPU's capacity; runnable may be higher */
	TAP_PELT_OPEN, /* no bound */
	TAP_PELT_COUNT,
	TAP_PELT_FLAG, /* 0 or 1 */
};

struct tap_pelt_signal {
	const char *name; /* "util", "util_rt", ... */
	const char *event; /* the event that has the field */
	const char *field;
	/*
	 * TAP_PELT_CPU: the subject is a cgroup on the CPU if the event names one. TAP_PELT_CGROUP:
	 * only cgroups.
	 */
	enum tap_pelt_subject subject;
	enum tap_pelt_scale scale;
	/*
	 * NULL, or fields: .queued counts sleeping tasks that are still queued, .runnable does not;
	 * their difference is subtracted from the value
	 */
	const char *queued, *runnable;
	bool is_signed; /* values may be below 0 */
};

extern const struct tap_pelt_signal tap_pelt_signals[]; /* ends with a row of zeros */

#define TAP_PELT_BANDS 5u

/* One column of a plot: a part of the window. */
struct tap_pelt_column {
	uint64_t ns; /* time with a known value */
	int64_t min, max;
	__int128 sum; /* sum of value times ns */
};

/* Instead of a value: the value is unknown from here on. */
#define TAP_PELT_GAP INT64_MIN

struct tap_pelt_point {
	uint64_t ts_ns;
	int64_t value;
};

struct tap_pelt_series {
	const struct tap_pelt_signal *signal;
	enum tap_pelt_subject subject;
	int cpu; /* of a CPU or a cgroup; of a domain: its first CPU */
	int tid; /* thread id, if the subject is a task */
	uint64_t cgroup; /* kernfs id; of a task: the cgroup it was in, 0: not known */
	char comm[TAP_TASK_COMM]; /* of a task; see struct tap_task */
	unsigned int life; /* of a task: distinguishes tasks that had the same tid */
	unsigned int number; /* 0, 1, ...: the series' number for .point */
	struct tap_cpus span; /* CPUs of a domain; owned */

	uint64_t updates; /* number of updates within the window */
	int64_t last;
	/* .count: ns with a known value; of a signed signal only values >= 0 */
	struct tap_hist hist;
	struct tap_hist below; /* of a signed signal: absolute values of those below 0 */
	/*
	 * scale TAP_PELT_1024: ns in each fifth of 1024; TAP_PELT_COUNT: ns at 0, 1, 2, 3, and 4 or
	 * more; else unused
	 */
	uint64_t bands_ns[TAP_PELT_BANDS];
	struct tap_pelt_column *columns; /* owned; tap_pelt_opts.nr_columns elements; NULL: none */
	struct tap_pelt_point *points; /* owned; only with .keep_points */
	unsigned int nr_points, cap_points;

	/* private */
	bool live; /* a point was reported, and no gap after it */
	bool partial; /* updates may have happened on CPUs that are not recorded */
	bool wanted, known; /* .known: .last holds since .at_ns, at most until .until_ns */
	uint64_t at_ns, until_ns;
	uint64_t key;
	struct tap_pelt_series *same_runner_next;
};

struct tap_pelt_opts {
	struct tap_window window;
	/* shows where events are missing; read by tap_pelt_new(); NULL: nothing is missing */
	const struct tap_survey *survey;
	unsigned int nr_columns; /* number of a plot's columns; 0: no plot */
	/*
	 * A task's values count only while it runs, a CPU's and a cgroup's only while the CPU is
	 * not idle.
	 */
	bool while_running;
	bool cpus_only; /* ignore values of cgroups; .want_signal must not want signals of tasks */
	/* keep each update that counts and each gap after one: memory grows with the recording */
	bool keep_points;
	/*
	 * Only points are needed: values are not weighted with time, and gaps are reported only for
	 * flags.
	 */
	bool points_alone;
	/* Return true if this signal is wanted; called once per signal. NULL: all are. */
	bool (*want_signal)(void *ctx, const struct tap_pelt_signal *s);
	/*
	 * Return true if this series is wanted; called once per series, before .columns, .hist and
	 * the members below it are filled in.
	 */
	bool (*want)(void *ctx, const struct tap_pelt_series *s);
	/*
	 * Called for each update that counts and for each gap after one, in time order. May be
	 * NULL. Return: 0, or -errno, which stops the run.
	 */
	int (*point)(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, int64_t value);
	void *ctx; /* for all three functions */
};

struct tap_pelt;

/* @opts is copied. Return: 0 or -ENOMEM. */
int tap_pelt_new(const struct tap_pelt_opts *opts, struct tap_pelt **out);
void tap_pelt_free(struct tap_pelt *p);

/* Return true if an event of this name has signals. */
bool tap_pelt_wants(const struct tap_format *fmt);

/*
 * Return true if an event of this name has signals that @want selects. @want: see
 * tap_pelt_opts.want_signal, with its @ctx.
 */
bool tap_pelt_has_signal(const struct tap_format *fmt,
			 bool (*want)(void *ctx, const struct tap_pelt_signal *s), void *ctx);

/* ctx: struct tap_pelt. The second suffices for signals of CPUs without .while_running. */
extern const struct tap_watcher_ops tap_pelt_ops, tap_pelt_of_cpus_ops;

/* Return all series, sorted by signal, then CPU, task, cgroup. Call after the end; borrowed. */
struct tap_pelt_series *const *tap_pelt_series(const struct tap_pelt *p, unsigned int *nr);

/*
 * For series that other code creates: a struct of zeros with empty .hist and .below is valid for
 * the functions below. Frees the series and what it owns.
 */
void tap_pelt_series_free(struct tap_pelt_series *s);
/*
 * Count that .last held in an interval of the window. @nr_columns: number of the plot's columns.
 * Return: 0 or -ENOMEM.
 */
int tap_pelt_series_hold(struct tap_pelt_series *s, const struct tap_window *window,
			 unsigned int nr_columns, uint64_t from_ns, uint64_t to_ns);
/* Append to .points. Return: 0 or -ENOMEM. */
int tap_pelt_series_point(struct tap_pelt_series *s, uint64_t ts_ns, int64_t value);

/*
 * Statistics of a series, signed or not: known time in ns, the others in units of the signal; 0 if
 * no time is known. @part: 0..1.
 */
uint64_t tap_pelt_known_ns(const struct tap_pelt_series *s);
double tap_pelt_mean(const struct tap_pelt_series *s);
int64_t tap_pelt_min(const struct tap_pelt_series *s);
int64_t tap_pelt_max(const struct tap_pelt_series *s);
int64_t tap_pelt_quantile(const struct tap_pelt_series *s, double part);

#endif
