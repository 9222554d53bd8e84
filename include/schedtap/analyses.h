/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Built-in watchers (watcher.h): analyses of schedtap's own reports. All are used alike:
 *
 *   new      makes a handle. It is for one run: after that it can only be asked for results.
 *   watcher  returns the watcher to give to tap_run(). It follows the run's selection as the report
 * does. @h: NULL is accepted, so that a program can check for errors later; but tap_run() must not
 * get such a watcher. getters  return results once this watcher's .end was called: in .end of a
 * later watcher, or after tap_run(). free     accepts NULL.
 *
 * What getters return is borrowed from the handle. Later versions may add members to the end of
 * these structs.
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
	uint64_t ns; /* together, a wait's reasons add up to the wait */
};

/** struct tap_long_wait - One wait. */
struct tap_long_wait {
	int tid;
	const char *name; /* the task's; printable; "<...>": not known */
	/* in which it began: TAP_STATE_WAKING, TAP_STATE_PREEMPTED or TAP_STATE_THROTTLED */
	enum tap_state state;
	int cpu; /* that the task ran on afterwards */
	uint64_t from_ns, to_ns;
	bool whole; /* false: the task may have run or slept meanwhile, while events are missing */
	const char *verdict; /* the main cause in a word, such as "contention" */
	const struct tap_wait_reason *reasons; /* the longest first */
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
/** tap_long_waits_watcher() - Its .pick must stay 0: whatever is selected, every task may be the
 * reason for a wait. */
TAP_API struct tap_watcher tap_long_waits_watcher(struct tap_long_waits *h);
/** tap_long_waits_get() - The longest wait (@i is 0), the second longest, and so on. Return: NULL
 * after the last. */
TAP_API const struct tap_long_wait *tap_long_waits_get(const struct tap_long_waits *h,
						       unsigned int i);

/* ---- how long tasks waited ---- */

/* How long tasks waited for a CPU, as in schedtap-latency(1). */
struct tap_latencies;

/** struct tap_latency_figures - Of one task, or of all. */
struct tap_latency_figures {
	uint64_t count; /* waits of known length. 0: all figures below are 0 */
	/* waits of unknown length, at least: one end is outside the window, or events are missing
	 */
	uint64_t censored;
	uint64_t min_ns, avg_ns, max_ns;
	uint64_t p50_ns, p90_ns, p99_ns; /* within 0.8 %, if there are more than 32 waits */
	uint64_t max_at_ns; /* when the longest wait ended */
};

/**
 * tap_latencies_new() - Make a handle.
 * @state: TAP_STATE_WAKING: waits after a wakeup. A recording without wakeups has none.
 * TAP_STATE_PREEMPTED: waits after a preemption. TAP_STATE_THROTTLED: throttled time.
 *
 * Return: owned by the caller; NULL with @err set: -EINVAL, -ENOMEM.
 */
TAP_API TAP_MUST_CHECK struct tap_latencies *tap_latencies_new(enum tap_state state,
							       struct tap_err *err);
TAP_API void tap_latencies_free(struct tap_latencies *h);
/** tap_latencies_watcher() - A program may change its .pick; here and below, unless it says
 * otherwise. */
TAP_API struct tap_watcher tap_latencies_watcher(struct tap_latencies *h);
/** tap_latencies_all() - Of all tasks together. Return: borrowed until the next call for this
 * handle. */
TAP_API const struct tap_latency_figures *tap_latencies_all(struct tap_latencies *h);
/** tap_latencies_task() - Of the newest task with this thread ID. Return: as above; NULL: it did
 * not wait. */
TAP_API const struct tap_latency_figures *tap_latencies_task(struct tap_latencies *h, int tid);

/* ---- how long tasks were in a state ---- */

/* The longest interval of each state of each task, as in schedtap-states(1). A task's totals:
 * tap_task_total_ns(). */
struct tap_longest_states;

/** tap_longest_states_new() - Make a handle. Return: owned by the caller; NULL with @err set:
 * -ENOMEM. */
TAP_API TAP_MUST_CHECK struct tap_longest_states *tap_longest_states_new(struct tap_err *err);
TAP_API void tap_longest_states_free(struct tap_longest_states *h);
TAP_API struct tap_watcher tap_longest_states_watcher(struct tap_longest_states *h);
/**
 * tap_longest_states_ns() - The longest interval of the newest task with this thread ID.
 * @state: not TAP_STATE_DEAD.
 * @from_ns: set to when the interval began, if there is one; may be NULL.
 *
 * Return: its length within the window, ns; 0: the task was never in this state.
 */
TAP_API uint64_t tap_longest_states_ns(const struct tap_longest_states *h, int tid,
				       enum tap_state state, uint64_t *from_ns);

/* ---- why CPUs are unknown ---- */

/* Why it is unknown what a CPU ran, as in schedtap-summary(1). */
struct tap_gap_reasons;

/** tap_gap_reasons_new() - Make a handle. Return: owned by the caller; NULL with @err set: -ENOMEM.
 */
TAP_API TAP_MUST_CHECK struct tap_gap_reasons *tap_gap_reasons_new(struct tap_err *err);
TAP_API void tap_gap_reasons_free(struct tap_gap_reasons *h);
TAP_API struct tap_watcher tap_gap_reasons_watcher(struct tap_gap_reasons *h);
/**
 * tap_gap_reasons_text() - Why the CPU is unknown, for a .cpu function of a watcher that comes
 * after this one in the list.
 * @s: the interval that is being reported.
 *
 * Return: a sentence without a full stop, such as "events were lost"; static. NULL: the CPU is not
 * unknown, or the interval was not reported to this handle's watcher.
 */
TAP_API const char *tap_gap_reasons_text(const struct tap_gap_reasons *h,
					 const struct tap_cpu_interval *s);

/* ---- load tracking ---- */

/* One signal of load tracking (PELT), of every CPU, task and cgroup that has it, as in
 * schedtap-pelt(1). */
struct tap_signals;

enum tap_signal_subject {
	TAP_SIGNAL_CPU,
	TAP_SIGNAL_TASK,
	TAP_SIGNAL_CGROUP, /* on one CPU */
	TAP_SIGNAL_DOMAIN, /* a root domain */
};

/** struct tap_signal - The signal of one CPU, task, cgroup or domain. */
struct tap_signal {
	unsigned int number; /* 0, 1, 2, ...: for tables of your own */
	enum tap_signal_subject subject;
	int cpu; /* a domain's: its first one; -1: of a task */
	int tid; /* -1: not of a task */
	const char *comm; /* a task's name: @comm_len bytes, any but NUL; see tap_name_escape() */
	size_t comm_len;
	uint64_t cgroup; /* a cgroup's kernfs ID, or that of the task's cgroup; 0: not known */
	/* The rest is 0 until the end. Averages are weighted by how long each value lasted. */
	uint64_t updates; /* within the window */
	uint64_t known_ns; /* how long a value was known */
	int64_t min, max, p50, p90, p99;
	double avg;
};

#define TAP_SIGNAL_UNKNOWN INT64_MIN

/**
 * tap_signals_new() - Make a handle.
 * @name: as -s of schedtap-pelt(1), "util"; no glob. A recording without this signal has none.
 * @point: called in time order for each new value of a signal, or with TAP_SIGNAL_UNKNOWN when the
 * value stops being known. A value other than 0 stops the run, as of a watcher. May be NULL.
 *
 * Return: owned by the caller; NULL with @err set: -EINVAL: there is no such signal; -ENOMEM.
 */
TAP_API TAP_MUST_CHECK struct tap_signals *
tap_signals_new(const char *name,
		int (*point)(void *ctx, const struct tap_signal *s, uint64_t ts_ns, int64_t value),
		void *ctx, struct tap_err *err);
TAP_API void tap_signals_free(struct tap_signals *h);
/** tap_signals_watcher() - Its .pick has no effect: the signals are always those of selected tasks
 * and CPUs. */
TAP_API struct tap_watcher tap_signals_watcher(struct tap_signals *h);
/** tap_signals_get() - Each signal, CPUs and their cgroups first. Return: borrowed until the next
 * call for this handle; NULL after the last. */
TAP_API const struct tap_signal *tap_signals_get(struct tap_signals *h, unsigned int i);

#ifdef __cplusplus
}
#endif
#endif
