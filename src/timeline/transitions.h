/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state machine of a task: what each event means for a task in each phase. A phase is a state
 * (enum tap_state) refined by what other events have shown. events.c decides by this table;
 * fast_path.h handles only events whose rule is plain. docs/timeline.md explains and prints the
 * table.
 */
#ifndef TAP_TIMELINE_TRANSITIONS_H
#define TAP_TIMELINE_TRANSITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtap/timeline.h>

enum tap_phase {
	/* unknown, and no event showed the task running or in a run queue: it may sleep */
	TAP_PHASE_UNSEEN,
	TAP_PHASE_LOST, /* unknown, after an event showed the task running or in a run queue */
	TAP_PHASE_RUNNING,
	/*
	 * running, and a wakeup came meanwhile: it has no effect, or the task is on its way to
	 * sleep
	 */
	TAP_PHASE_RUNNING_WOKEN,
	TAP_PHASE_RUNNING_UNSEEN, /* running, and began to run at an unknown time before */
	/* running since an unknown time, and a wakeup came meanwhile */
	TAP_PHASE_RUNNING_UNSEEN_WOKEN,
	TAP_PHASE_PREEMPTED,
	TAP_PHASE_WAKING,
	/*
	 * waking, inferred from a wakeup before the sleep; another wakeup would show that the task
	 * slept until then
	 */
	TAP_PHASE_WAKING_INFERRED,
	TAP_PHASE_ASLEEP, /* sleeping, blocked or stopped */
	/*
	 * asleep, unless a wakeup was missed: one just before the sleep, or one that a later
	 * migration belongs to
	 */
	TAP_PHASE_ASLEEP_DOUBTFUL,
	/* asleep, unless the wakeup just before the sleep was still in progress */
	TAP_PHASE_ASLEEP_WOKEN,
	/*
	 * asleep, but if the task runs without another wakeup, the one long before the sleep was
	 * still in progress
	 */
	TAP_PHASE_ASLEEP_WOKEN_EARLY,
	TAP_PHASE_THROTTLED,
	TAP_PHASE_DEAD,
	TAP_NR_PHASES,
};

/* Signs: the meanings of events for a task. */
enum tap_sign {
	TAP_SIGN_IN, /* switched in */
	TAP_SIGN_OUT, /* switched out */
	/* woken by another task: sched_waking; sched_wakeup where that was not recorded */
	TAP_SIGN_WAKING,
	TAP_SIGN_WAKEUP, /* sched_wakeup after sched_waking: the wakeup is complete */
	TAP_SIGN_MOVED, /* sched_migrate_task */
	TAP_SIGN_THROTTLED, /* sched_throttle, while another task runs there */
	TAP_SIGN_UNTHROTTLED,
	TAP_NR_SIGNS,
};

/*
 * Correction that applies when an event contradicts the phase. The rule of the corrected phase
 * applies after it.
 */
enum tap_amend {
	TAP_AMEND_NOTHING,
	TAP_AMEND_LOSE, /* the state ended unseen: the task is lost */
	/*
	 * the wakeup before the sleep was still in progress: the task is waking since the sleep
	 * began; lost if a hole touched it
	 */
	TAP_AMEND_WAKE_LATE,
	TAP_AMEND_BREAK, /* the task left its CPU unseen: that CPU's chain of switches is broken */
};

/* .next of a rule: the phase follows from prev_state, or from how a throttled task waited before */
#define TAP_PHASE_BY_EVENT TAP_NR_PHASES

struct tap_rule {
	/* enum tap_phase, or TAP_PHASE_BY_EVENT; 0: the phase stays (no event leads to phase 0) */
	uint8_t next;
	uint8_t amend; /* enum tap_amend */
	bool ends; /* the state ends */
	bool fits; /* the event can end the state; if not, the state ended earlier, unseen */
	bool plain; /* away from holes, this rule alone decides */
};

/*
 * Indexed by sign and phase. After a correction (.amend), the rule of the corrected phase applies.
 */
extern const struct tap_rule tap_rules[TAP_NR_SIGNS][TAP_NR_PHASES];

static inline bool tap_phase_is_unknown(enum tap_phase phase)
{
	return phase <= TAP_PHASE_LOST;
}

/* Return true if it is undecided whether the task sleeps: its next event will show that. */
static inline bool tap_phase_is_doubtful(enum tap_phase phase)
{
	return phase == TAP_PHASE_ASLEEP_DOUBTFUL || phase == TAP_PHASE_ASLEEP_WOKEN;
}

/* Return true if the state began at an unknown time before the task is known to be in it. */
static inline bool tap_phase_is_part(enum tap_phase phase)
{
	return phase == TAP_PHASE_RUNNING_UNSEEN || phase == TAP_PHASE_RUNNING_UNSEEN_WOKEN;
}

/* Return the phase of a task that has just entered the state. */
static inline enum tap_phase tap_phase_entered(enum tap_state state)
{
	static const uint8_t phases[TAP_NR_STATES] = {
		[TAP_STATE_UNKNOWN] = TAP_PHASE_LOST,
		[TAP_STATE_RUNNING] = TAP_PHASE_RUNNING,
		[TAP_STATE_PREEMPTED] = TAP_PHASE_PREEMPTED,
		[TAP_STATE_WAKING] = TAP_PHASE_WAKING,
		[TAP_STATE_SLEEPING] = TAP_PHASE_ASLEEP,
		[TAP_STATE_BLOCKED] = TAP_PHASE_ASLEEP,
		[TAP_STATE_STOPPED] = TAP_PHASE_ASLEEP,
		[TAP_STATE_DEAD] = TAP_PHASE_DEAD,
		[TAP_STATE_THROTTLED] = TAP_PHASE_THROTTLED,
	};

	return (enum tap_phase)phases[state];
}

#endif
