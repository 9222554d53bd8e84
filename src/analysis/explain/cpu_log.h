/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What each CPU did lately: which task it ran and how that was picked, whether it was in an idle
 * state, and its interrupts. Intervals are told when they are over, the rest as it happens. It is
 * kept until whoever waits for a CPU has been told (waits.h).
 */
#ifndef TAP_EXPLAIN_CPU_LOG_H
#define TAP_EXPLAIN_CPU_LOG_H

#include "analysis/explain/picks.h"

/* So much is kept of a CPU; then it is full. */
#define TAP_CPU_LOG_ENTRIES 1024u

enum tap_in_irq { TAP_IN_NO_IRQ, TAP_IN_SOFTIRQ, TAP_IN_IRQ };
enum tap_asked { TAP_NOT_ASKED, TAP_ASKED_LAZY, TAP_ASKED };
enum tap_in_idle { TAP_IDLE_NOT_TOLD, TAP_IDLE_IN, TAP_IDLE_OUT };

/* What a CPU did from .from_ns to .to_ns, one thing all along. */
struct tap_cpu_part {
	uint64_t from_ns, to_ns;
	enum tap_cpu_what what;
	const struct tap_task *task; /* of TAP_CPU_RUN */
	int prio; /* its */
	/* how, as in struct tap_picked; NULL: not known. Until the log is cleared */
	const struct tap_picked_run *picked;
	unsigned int nr_picked;
	struct tap_repicks repicks;
	bool is_served; /* by a deadline server */
	enum tap_asked asked; /* to give way */
	uint64_t asked_ns;
	enum tap_in_irq irq;
	enum tap_in_idle idle;
};

struct tap_cpu_log;

struct tap_cpu_logs { /* all zero: nothing yet */
	/* set by the caller: in its holes a stronger request may be missing. NULL: none is */
	const struct tap_survey *survey;
	struct tap_cpu_log **cpus; /* owned */
	unsigned int nr_cpus;
};

void tap_cpu_logs_release(struct tap_cpu_logs *l);

/* In time order, per CPU. Return: 0; 1: the CPU's log is full, and all are to be cleared; -ENOMEM.
 */
int tap_cpu_log_interval(struct tap_cpu_logs *l, const struct tap_cpu_interval *s);
int tap_cpu_log_irq(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool is_soft, bool begins);
int tap_cpu_log_idle(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool enters);
int tap_cpu_log_asked(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, enum tap_asked asked);
/* The priority of the task that the CPU runs changes. */
int tap_cpu_log_prio(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, int old, int new);
/* Before the switch to the task that was picked, .tid of which may be 0. Return: 0 or -ENOMEM. */
int tap_cpu_log_picked(struct tap_cpu_logs *l, const struct tap_sched_pick *picked);
/* Before the switch: a deadline server lets this task run; 0: none does. Return: 0 or -ENOMEM. */
int tap_cpu_log_served(struct tap_cpu_logs *l, int cpu, int tid);
/* sched_exit: the CPU's task was picked again, or it switched. Return: as above. */
int tap_cpu_log_exited(struct tap_cpu_logs *l, int cpu, uint64_t ts_ns, bool is_switch);
/* How the task was picked that a CPU runs, or is about to. Return: whether it is known. */
bool tap_cpu_log_pick_of(const struct tap_cpu_logs *l, int cpu, const struct tap_task *task,
			 struct tap_picked *out);
/* Whether some interval that is over was idle. */
bool tap_cpu_log_has_idle(const struct tap_cpu_logs *l, int cpu);
/* Whoever asks from now on does not ask for what is in them. */
void tap_cpu_logs_clear(struct tap_cpu_logs *l);
/*
 * Reads a CPU's log: tap_cpu_parts_next() until it returns false. What has begun and is not over
 * comes from @now, the timeline's, NULL: it is unknown. The parts are without gaps.
 */
struct tap_cpu_parts {
	const struct tap_cpu_log *log;
	const struct tap_survey *survey;
	bool has_picks; /* of some of what it ran it is known how that was picked */
	const struct tap_cpu *now;
	uint64_t at_ns, to_ns;
	unsigned int interval, point; /* that come next */
};
void tap_cpu_log_read(const struct tap_cpu_logs *l, int cpu, uint64_t from_ns, uint64_t to_ns,
		      const struct tap_cpu *now, struct tap_cpu_parts *out);
bool tap_cpu_parts_next(struct tap_cpu_parts *p, struct tap_cpu_part *part);

/*
 * The same at once, of a time that is within the last interval of a log, as that of most waits is.
 * Return: whether it is, and the CPU did one thing all along.
 */
bool tap_cpu_log_last(const struct tap_cpu_logs *l, int cpu, uint64_t from_ns, uint64_t to_ns,
		      struct tap_cpu_part *part);

/*
 * So many intervals of a log, from a multiple of that on, are a block: what they come to may be
 * kept until the log is cleared. Return: whether all of one comes next: @block, its number, and
 * @to_ns, its end; then it may be passed over.
 */
#define TAP_CPU_LOG_BLOCK 32u
#define TAP_CPU_LOG_BLOCKS (TAP_CPU_LOG_ENTRIES / TAP_CPU_LOG_BLOCK)
bool tap_cpu_parts_block(const struct tap_cpu_parts *p, unsigned int *block, uint64_t *to_ns);
void tap_cpu_parts_pass(struct tap_cpu_parts *p, uint64_t to_ns);

#endif
