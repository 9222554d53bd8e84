/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timeline of a recording: what each CPU ran, which state each task was in, and "unknown" where
 * events are missing. tap_run() (run.h) reports each interval to watchers (watcher.h) once the
 * interval has ended.
 *
 * Certainty: on a CPU, the prev of a switch must be the task that was switched in before.
 * Otherwise the CPU's chain of switches is broken, and the time since the last switch is unknown. A
 * task's interval in one state counts only if the event that ended it fits (a wakeup ends sleep; a
 * switch-in ends a wait) and if no hole overlaps it. A hole is a time in which some CPU's switches
 * are not all known, so the task may have run there. Each CPU's run, idle, offline and unknown
 * times add up to the window, and each task's states add up to its life within the window.
 *
 * All times are nanoseconds of the recording's clock. Structs passed to a watcher are valid until
 * the watcher returns; tasks and the timeline are valid until tap_run() returns. Later versions may
 * add members to the end of these structs.
 */
#ifndef SCHEDTAP_TIMELINE_H
#define SCHEDTAP_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtap/err.h>

#ifdef __cplusplus
extern "C" {
#endif

enum tap_state {
	TAP_STATE_UNKNOWN,
	TAP_STATE_RUNNING,
	TAP_STATE_PREEMPTED, /* runnable after being switched out (R, R+) */
	TAP_STATE_WAKING, /* runnable after a wakeup (or fork), not yet run */
	TAP_STATE_SLEEPING, /* S, I */
	TAP_STATE_BLOCKED, /* D */
	TAP_STATE_STOPPED, /* T, t, P */
	TAP_STATE_DEAD, /* exited; no time is counted */
	/*
	 * runnable, but must not run: its CFS quota or deadline budget is used up (sched_throttle)
	 */
	TAP_STATE_THROTTLED,
	TAP_NR_STATES,
};

#define TAP_STATE_BIT(s) (1u << (s))
#define TAP_STATE_ALL ((1u << TAP_NR_STATES) - 1)

/** tap_state_name() - "running", "preempted", ... */
TAP_API const char *tap_state_name(enum tap_state state);

/* One task. A reused tid gets a new task. The idle tasks (tid 0) are not tasks here. */
struct tap_task;

/* The state of all tasks and CPUs at the current time of a run. */
struct tap_timeline;

TAP_API int tap_task_tid(const struct tap_task *task);
/**
 * tap_task_index() - The task's number, 0, 1, 2, ... in order of appearance: an index for the
 * caller's own tables.
 */
TAP_API unsigned int tap_task_index(const struct tap_task *task);
/**
 * tap_task_tgid() - The task's process id, from its fork or exec event or from the recording's task
 * list. -1: not known.
 */
TAP_API int tap_task_tgid(const struct tap_task *task);
/**
 * tap_task_comm() - The task's name as last seen: any bytes but NUL; not NUL-terminated if 16 bytes
 * long.
 * @len: set to the number of bytes, up to 16; 0: name not known. Must not be NULL.
 */
TAP_API const char *tap_task_comm(const struct tap_task *task, size_t *len);
/** tap_task_cgroup() - The kernfs id of the task's cgroup; 0: not known. */
TAP_API uint64_t tap_task_cgroup(const struct tap_task *task);
/**
 * tap_task_state() - The task's state now. While a watcher's .interval runs, this is still the
 * state that ends.
 */
TAP_API enum tap_state tap_task_state(const struct tap_task *task);
/**
 * tap_task_cpu() - Running: the CPU it runs on. Runnable: the CPU whose run queue it is in.
 * Otherwise: the CPU it ran on last. -1: not known.
 */
TAP_API int tap_task_cpu(const struct tap_task *task);
#define TAP_PRIO_UNKNOWN INT32_MIN
/**
 * tap_task_prio() - The kernel's priority as last seen: 0..139; -1: deadline; or TAP_PRIO_UNKNOWN.
 */
TAP_API int tap_task_prio(const struct tap_task *task);
/**
 * tap_task_waker_tid() - The tid of the task's last waker; 0: an interrupt on an idle CPU; -1: not
 * known.
 */
TAP_API int tap_task_waker_tid(const struct tap_task *task);
/**
 * tap_task_total_ns() - Total time in a state within the window, ns; complete when a watcher's .end
 * is called.
 */
TAP_API uint64_t tap_task_total_ns(const struct tap_task *task, enum tap_state state);

/**
 * tap_name_escape() - Make a task's name or a cgroup's path printable, as schedtap's reports do.
 * @to: gets at most @size - 1 bytes and a NUL, like snprintf(); may be NULL if @size is 0.
 * @name: @len bytes. Control characters, backslashes, bidirectional control characters and bytes
 * that are not UTF-8 become \n, \t, \\ or \xHH. One input byte becomes at most four output bytes.
 *
 * Return: the length of the complete text without NUL; if that is @size or more, the text was
 * truncated. 0 and "" if memory is exhausted.
 */
TAP_API size_t tap_name_escape(char *to, size_t size, const char *name, size_t len);

/**
 * tap_timeline_from_ns() - The window's first instant, ns. The window is the whole recording, or
 * the part that tap_run_opts.window selects.
 */
TAP_API uint64_t tap_timeline_from_ns(const struct tap_timeline *t);
/** tap_timeline_to_ns() - The window's last instant, ns. */
TAP_API uint64_t tap_timeline_to_ns(const struct tap_timeline *t);
/**
 * tap_timeline_tasks() - All tasks that appeared so far, indexed by tap_task_index(). @nr: set to
 * their number. The array is borrowed until the next call.
 */
TAP_API struct tap_task *const *tap_timeline_tasks(const struct tap_timeline *t, unsigned int *nr);
/** tap_timeline_task() - The newest task with this thread ID, or NULL. */
TAP_API struct tap_task *tap_timeline_task(const struct tap_timeline *t, int tid);
/**
 * tap_timeline_cgroup_path() - A cgroup's path from the root of its hierarchy, from the recording's
 * list of cgroups: any bytes but NUL.
 * @id: a kernfs id, as tap_task_cgroup() returns it.
 *
 * Return: the path, borrowed until tap_run() returns; NULL if the recording does not list the
 * cgroup.
 */
TAP_API const char *tap_timeline_cgroup_path(const struct tap_timeline *t, uint64_t id);

/** struct tap_interval - A task left a state. */
struct tap_interval {
	struct tap_task *task; /* tap_task_state() is still .state */
	enum tap_state state, next;
	/*
	 * Both ends were seen and nothing between them is unknown, so the interval's length is
	 * exact. False at the window's ends and next to holes. Always false for TAP_STATE_UNKNOWN.
	 */
	bool whole;
	/* .from_ns may be before the window; .to_ns is not after its end */
	uint64_t from_ns, to_ns;
	/*
	 * Running: the CPU it ran on. Runnable: the CPU whose run queue it was in at the end. -1:
	 * not known.
	 */
	int cpu;
	/*
	 * Only if .state is TAP_STATE_UNKNOWN: the preceding sleep, of state .back and length
	 * .back_ns, was already reported and was wrong: subtract it. (The wakeup that ended it had
	 * found the task running or preempted.) Otherwise TAP_STATE_UNKNOWN and 0.
	 */
	enum tap_state back;
	uint64_t back_ns;
	/*
	 * if .state is TAP_STATE_RUNNING: the prev_state text that the recording prints, such as
	 * "R+"; otherwise ""
	 */
	const char *end;
	int next_cpu; /* if .next is TAP_STATE_RUNNING: the CPU it runs on now */
	/*
	 * if .state is TAP_STATE_UNKNOWN: the last known state, which ended at an unknown time;
	 * otherwise TAP_STATE_UNKNOWN
	 */
	enum tap_state was;
	/*
	 * .next is TAP_STATE_RUNNING, but the task was switched in at an unknown time before .to_ns
	 */
	bool unseen;
	/*
	 * The interval is a sleep that ended when the kernel queued the task. The timeline learned
	 * that time from the switch that let the task run, so it has already reported intervals
	 * that ended later.
	 */
	bool late;
};

/**
 * struct tap_cpu_interval - An interval ended in which a CPU ran one task, or was idle, offline or
 * unknown.
 */
struct tap_cpu_interval {
	int cpu;
	enum tap_cpu_what { TAP_CPU_UNKNOWN, TAP_CPU_OFFLINE, TAP_CPU_IDLE, TAP_CPU_RUN } what;
	struct tap_task *task; /* if .what is TAP_CPU_RUN */
	uint64_t from_ns, to_ns; /* within the window */
	/*
	 * .what is TAP_CPU_UNKNOWN because a task outside the recording's filter ran, or the CPU
	 * was idle: no event is missing
	 */
	bool outside;
	/*
	 * it began at an unknown time before .from_ns: the switch was not recorded, so interrupts
	 * that were already in progress are not known
	 */
	bool unseen;
};

/**
 * struct tap_wakeup - A sched_waking event, or sched_wakeup where sched_waking was not recorded.
 */
struct tap_wakeup {
	struct tap_task *task; /* still in its previous state, which may be running */
	struct tap_task *waker; /* NULL: an interrupt on an idle CPU, or not known */
	int cpu; /* where the event was recorded */
	int target_cpu; /* the event's target_cpu; for sched_waking the CPU the task ran on last */
	uint64_t ts_ns;
	bool is_new; /* first wakeup after fork */
	/*
	 * the event's flags say that an interrupt did the wakeup. False: no interrupt, or the event
	 * has no flags
	 */
	bool in_interrupt;
	int waker_tid; /* 0: an interrupt on an idle CPU; -1: not known */
};

enum tap_migration_why {
	TAP_MIGRATE_WAKEUP, /* placed on another CPU by its wakeup or its fork */
	TAP_MIGRATE_BALANCE, /* pulled or pushed while it waited in a run queue */
	/*
	 * by the stopper thread (affinity change, exec, active balance), while asleep, or unclear
	 */
	TAP_MIGRATE_OTHER,
	TAP_NR_MIGRATE,
};

/**
 * struct tap_migration - A sched_migrate_task event; or, see tap_watcher_ops.moves, a switch that
 * shows a move.
 */
struct tap_migration {
	struct tap_task *task;
	int from, to;
	int cpu; /* where the event was recorded */
	enum tap_migration_why why;
	uint64_t ts_ns;
};

#ifdef __cplusplus
}
#endif
#endif
