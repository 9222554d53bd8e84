/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Built-in watchers (watcher.h): the analyses of schedtap's own reports. All are used alike:
 *
 * new      makes a handle. A handle serves one run; after that it can only be asked for results.
 * watcher  returns the watcher to pass to tap_run(). It follows the run's selection as the report
 *          does. @h may be NULL, so that a program can check for errors later, but the watcher
 *          returned then must not be passed to tap_run().
 * getters  return results once this watcher's .end was called: in .end of a later watcher, or after
 *          tap_run().
 * free     accepts NULL.
 *
 * Pointers that getters return are borrowed from the handle. Later versions may add members to the
 * end of these structs.
 */
#ifndef SCHEDTAP_ANALYSES_H
#define SCHEDTAP_ANALYSES_H

#include <schedtap/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- why tasks waited ---- */

/* The longest waits for a CPU and their components, as in schedtap-explain(1). */
struct tap_long_waits;

/** struct tap_wait_reason - One component of a wait. */
struct tap_wait_reason {
	const char *text; /* "cc1plus [4410] ran", "its CPU was idle"; printable */
	uint64_t ns; /* the reasons of a wait add up to its length */
};

/** struct tap_long_wait - One wait. */
struct tap_long_wait {
	int tid;
	const char *name; /* the task's name, printable; "<...>": unknown */
	/*
	 * the state in which the wait began: TAP_STATE_WAKING, TAP_STATE_PREEMPTED or
	 * TAP_STATE_THROTTLED
	 */
	enum tap_state state;
	int cpu; /* the CPU that the task ran on after the wait */
	uint64_t from_ns, to_ns;
	/* false: events are missing, so the task may have run or slept during this time */
	bool whole;
	const char *verdict; /* the main cause in one word, such as "contention" */
	const struct tap_wait_reason *reasons; /* longest first */
	unsigned int nr_reasons;
	/* the reasons in one line: "14.200 ms cc1plus [4410] ran, 9.300 ms its CPU was idle" */
	const char *text;
};

/**
 * tap_long_waits_new() - Make a handle.
 * @nr: how many of the longest waits to keep, 1..10000.
 *
 * Return: owned by the caller; NULL with @err set: -EINVAL, -ENOMEM.
 */
TAP_API TAP_MUST_CHECK struct tap_long_waits *tap_long_waits_new(unsigned int nr,
								 struct tap_err *err);
TAP_API void tap_long_waits_free(struct tap_long_waits *h);
/**
 * tap_long_waits_watcher() - Return the watcher. Its .pick must stay 0: the tasks that delayed a
 * selected task may be any tasks.
 */
TAP_API struct tap_watcher tap_long_waits_watcher(struct tap_long_waits *h);
/**
 * tap_long_waits_get() - Return a wait by rank: @i is 0 for the longest wait, 1 for the second
 * longest, and so on. Return: NULL: there are fewer waits.
 */
TAP_API const struct tap_long_wait *tap_long_waits_get(const struct tap_long_waits *h,
						       unsigned int i);

/* ---- how long tasks waited ---- */

/* The lengths of tasks' waits for a CPU, as in schedtap-latency(1). */
struct tap_latencies;

/** struct tap_latency_figures - The waits of one task, or of all tasks. */
struct tap_latency_figures {
	uint64_t count; /* waits of known length. 0: all other members except .censored are 0 */
	/*
	 * waits whose length is only known to have a lower bound: they began before or ended after
	 * the window, or events are missing
	 */
	uint64_t censored;
	uint64_t min_ns, avg_ns, max_ns;
	/* accurate to 0.8 %; exact if there are at most 32 waits */
	uint64_t p50_ns, p90_ns, p99_ns;
	uint64_t max_at_ns; /* time stamp of the longest wait's end */
};

/**
 * tap_latencies_new() - Make a handle.
 * @state: TAP_STATE_WAKING: waits that follow a wakeup; a recording without wakeup events has none.
 * TAP_STATE_PREEMPTED: waits that follow a preemption. TAP_STATE_THROTTLED: throttled time.
 *
 * Return: owned by the caller; NULL with @err set: -EINVAL, -ENOMEM.
 */
TAP_API TAP_MUST_CHECK struct tap_latencies *tap_latencies_new(enum tap_state state,
							       struct tap_err *err);
TAP_API void tap_latencies_free(struct tap_latencies *h);
/**
 * tap_latencies_watcher() - Return the watcher. The caller may change .pick of this watcher, and of
 * those below for which no other rule is stated.
 */
TAP_API struct tap_watcher tap_latencies_watcher(struct tap_latencies *h);
/**
 * tap_latencies_all() - Return the figures of all tasks together. Return: borrowed until the next
 * call for this handle.
 */
TAP_API const struct tap_latency_figures *tap_latencies_all(struct tap_latencies *h);
/**
 * tap_latencies_task() - Return the figures of the newest task with this thread ID. Return:
 * borrowed until the next call for this handle; NULL: it did not wait.
 */
TAP_API const struct tap_latency_figures *tap_latencies_task(struct tap_latencies *h, int tid);

/* ---- how long tasks stayed in a state ---- */

/*
 * The longest interval that each task spent in each state, as in schedtap-states(1). For a task's
 * total time in a state use tap_task_total_ns().
 */
struct tap_longest_states;

/** tap_longest_states_new() - Make a handle. Return: owned by the caller; NULL with @err set:
 * -ENOMEM. */
TAP_API TAP_MUST_CHECK struct tap_longest_states *tap_longest_states_new(struct tap_err *err);
TAP_API void tap_longest_states_free(struct tap_longest_states *h);
TAP_API struct tap_watcher tap_longest_states_watcher(struct tap_longest_states *h);
/**
 * tap_longest_states_ns() - Return the longest interval that the newest task with this thread ID
 * spent in a state.
 * @state: any but TAP_STATE_DEAD.
 * @from_ns: set to the start of that interval, if the task was ever in the state; may be NULL.
 *
 * Return: the interval's length within the window, in ns; 0: the task was never in this state.
 */
TAP_API uint64_t tap_longest_states_ns(const struct tap_longest_states *h, int tid,
				       enum tap_state state, uint64_t *from_ns);

/* ---- why it is unknown what a CPU ran ---- */

/* The reasons why it is unknown what a CPU ran, as in schedtap-summary(1). */
struct tap_gap_reasons;

/**
 * tap_gap_reasons_new() - Make a handle. Return: owned by the caller; NULL with @err set: -ENOMEM.
 */
TAP_API TAP_MUST_CHECK struct tap_gap_reasons *tap_gap_reasons_new(struct tap_err *err);
TAP_API void tap_gap_reasons_free(struct tap_gap_reasons *h);
TAP_API struct tap_watcher tap_gap_reasons_watcher(struct tap_gap_reasons *h);
/**
 * tap_gap_reasons_text() - Return the reason why it is unknown what the CPU ran during an interval.
 * Call it from the .cpu function of a watcher that comes after this handle's watcher in the list.
 * @s: the interval that is being reported.
 *
 * Return: a sentence without a full stop, such as "events were lost"; static. NULL: the CPU is not
 * unknown, or the interval was not reported to this handle's watcher.
 */
TAP_API const char *tap_gap_reasons_text(const struct tap_gap_reasons *h,
					 const struct tap_cpu_interval *s);

/* ---- load tracking ---- */

/*
 * One load-tracking (PELT) signal, for every CPU, task and cgroup that has it, as in
 * schedtap-pelt(1).
 */
struct tap_signals;

enum tap_signal_subject {
	TAP_SIGNAL_CPU,
	TAP_SIGNAL_TASK,
	TAP_SIGNAL_CGROUP, /* a cgroup on one CPU */
	TAP_SIGNAL_DOMAIN, /* a root domain */
};

/** struct tap_signal - The signal of one CPU, task, cgroup or domain. */
struct tap_signal {
	unsigned int number; /* 0, 1, 2, ...: an index for the caller's own tables */
	enum tap_signal_subject subject;
	int cpu; /* of a domain: its first CPU; of a task: -1 */
	int tid; /* -1: the subject is not a task */
	/* of a task: its name, @comm_len bytes, any bytes but NUL; see tap_name_escape() */
	const char *comm;
	size_t comm_len;
	uint64_t cgroup; /* kernfs ID of the cgroup, or of the task's cgroup; 0: unknown */
	/*
	 * The members below are 0 until .end. Averages and percentiles are weighted by the duration
	 * of each value.
	 */
	uint64_t updates; /* new values within the window */
	uint64_t known_ns; /* total time during which the value was known */
	int64_t min, max, p50, p90, p99;
	double avg;
};

#define TAP_SIGNAL_UNKNOWN INT64_MIN

/**
 * tap_signals_new() - Make a handle.
 * @name: a name that -s of schedtap-pelt(1) accepts, such as "util", but no glob. A recording
 * without this signal yields no results.
 * @point: called in time order for each new value of a signal, and with TAP_SIGNAL_UNKNOWN when the
 * value becomes unknown. If it returns anything but 0, the run stops and returns that. May be NULL.
 * @ctx: passed to @point.
 *
 * Return: owned by the caller; NULL with @err set: -EINVAL: there is no such signal; -ENOMEM.
 */
TAP_API TAP_MUST_CHECK struct tap_signals *
tap_signals_new(const char *name,
		int (*point)(void *ctx, const struct tap_signal *s, uint64_t ts_ns, int64_t value),
		void *ctx, struct tap_err *err);
TAP_API void tap_signals_free(struct tap_signals *h);
/**
 * tap_signals_watcher() - Return the watcher. Its .pick has no effect: signals are always limited
 * to the selected tasks and CPUs.
 */
TAP_API struct tap_watcher tap_signals_watcher(struct tap_signals *h);
/**
 * tap_signals_get() - Return a signal by index, from 0 up: CPUs and their cgroups come first.
 * Return: borrowed until the next call for this handle; NULL: there are fewer signals.
 */
TAP_API const struct tap_signal *tap_signals_get(struct tap_signals *h, unsigned int i);

#ifdef __cplusplus
}
#endif
#endif
