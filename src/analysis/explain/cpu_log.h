/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recent past of each CPU: which task it ran and how that was picked, whether it was in an idle
 * state, and its interrupts. Intervals are added when they are over, everything else when it
 * happens. The log is kept until all waiting tasks have been looked at (waits.h).
 */
#ifndef TAP_EXPLAIN_CPU_LOG_H
#define TAP_EXPLAIN_CPU_LOG_H

#include "analysis/explain/picks.h"

/* The capacity of one CPU's log: as many intervals and as many other entries. */
#define TAP_CPU_LOG_ENTRIES 1024u

enum tap_in_irq { TAP_IN_NO_IRQ, TAP_IN_SOFTIRQ, TAP_IN_IRQ };
enum tap_asked { TAP_NOT_ASKED, TAP_ASKED_LAZY, TAP_ASKED };
enum tap_in_idle { TAP_IDLE_NOT_TOLD, TAP_IDLE_IN, TAP_IDLE_OUT };

/* What a CPU did from .from_ns to .to_ns, without any change in between. */
struct tap_cpu_part {
	uint64_t from_ns, to_ns;
	enum tap_cpu_what what;
	const struct tap_task *task; /* if .what is TAP_CPU_RUN, else NULL */
	int prio; /* priority of .task */
	/*
	 * how .task was picked, as in struct tap_picked; NULL: unknown; valid until the log is
	 * cleared
	 */
	const struct tap_picked_run *picked;
	unsigned int nr_picked;
	struct tap_repicks repicks;
	bool is_served; /* a deadline server let it run */
	enum tap_asked asked; /* whether it was asked to reschedule */
	uint64_t asked_ns;
	enum tap_in_irq irq;
	enum tap_in_idle idle;
};

struct tap_cpu_log;

struct tap_cpu_logs { /* all zero: empty */
	/* set by the caller: a reschedule request may be missing in its holes; NULL: none is */
	const struct tap_survey *survey;
	struct tap_cpu_log **cpus; /* owned */
	unsigned int nr_cpus;
};

void tap_cpu_logs_release(struct tap_cpu_logs *l);

/*
 * Add to the log of a CPU, in time order per CPU. Return: 0; 1: the CPU's log is full, and all logs
 * must be cleared; -ENOMEM.
 */
int tap_cpu_log_interval(struct tap_cpu_logs *l, const struct tap_cpu_interval *s);
int tap_cpu_log_irq(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool is_soft, bool begins);
int tap_cpu_log_idle(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool enters);
int tap_cpu_log_asked(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, enum tap_asked asked);
/* The priority of the task that the CPU runs changed. */
int tap_cpu_log_prio(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, int old, int new);
/*
 * Add a sched_pick, before the switch to the picked task; its .tid may be 0. Return: 0 or -ENOMEM.
 */
int tap_cpu_log_picked(struct tap_cpu_logs *l, const struct tap_sched_pick *picked);
/* Before a switch: a deadline server lets this task run; 0: none does. Return: 0 or -ENOMEM. */
int tap_cpu_log_served(struct tap_cpu_logs *l, int cpu, int tid);
/*
 * sched_exit: __schedule() picked the running task again, or switched. Return: as
 * tap_cpu_log_interval().
 */
int tap_cpu_log_exited(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool is_switch);
/*
 * Find how the task that a CPU runs, or is about to switch to, was picked. Return false if that is
 * unknown.
 */
bool tap_cpu_log_pick_of(const struct tap_cpu_logs *l, int cpu, const struct tap_task *task,
			 struct tap_picked *out);
/* Return true if the CPU was idle in an interval of its log. */
bool tap_cpu_log_has_idle(const struct tap_cpu_logs *l, int cpu);
/* Clear all logs. The state of each CPU at this moment is kept. */
void tap_cpu_logs_clear(struct tap_cpu_logs *l);
/*
 * Read a CPU's log: call tap_cpu_parts_next() until it returns false. The parts follow each other
 * without gaps. What the log does not contain because it is not over comes from @now, the
 * timeline's CPU; NULL: that is unknown.
 */
struct tap_cpu_parts {
	const struct tap_cpu_log *log;
	const struct tap_survey *survey;
	bool has_picks; /* some intervals of the log have picks */
	const struct tap_cpu *now;
	uint64_t at_ns, to_ns;
	unsigned int interval, point; /* indices of the next entries */
};
void tap_cpu_log_read(const struct tap_cpu_logs *l, int cpu, uint64_t from_ns, uint64_t to_ns,
		      const struct tap_cpu *now, struct tap_cpu_parts *out);
bool tap_cpu_parts_next(struct tap_cpu_parts *p, struct tap_cpu_part *part);

/*
 * Read a time within a log's last interval in one step, which works for most waits. Return false if
 * the time does not lie within that interval, or if the CPU's state changed during it.
 */
bool tap_cpu_log_last(const struct tap_cpu_logs *l, int cpu, uint64_t from_ns, uint64_t to_ns,
		      struct tap_cpu_part *part);

/*
 * A block is TAP_CPU_LOG_BLOCK consecutive intervals of a log, from a multiple of that number on.
 * What was computed for a block may be cached until the log is cleared.
 *
 * tap_cpu_parts_block() returns true if a whole block comes next; @block: its number; @to_ns: its
 * end. Then tap_cpu_parts_pass() may skip it.
 */
#define TAP_CPU_LOG_BLOCK 32u
#define TAP_CPU_LOG_BLOCKS (TAP_CPU_LOG_ENTRIES / TAP_CPU_LOG_BLOCK)
bool tap_cpu_parts_block(const struct tap_cpu_parts *p, unsigned int *block, uint64_t *to_ns);
void tap_cpu_parts_pass(struct tap_cpu_parts *p, uint64_t to_ns);

#endif
