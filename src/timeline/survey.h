/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The first pass over a recording, which finds where events are missing. It takes each CPU's events
 * in time order, but the CPUs in any order. The second pass, in time order, must know of a hole
 * when it begins: events show a hole only at its end.
 *
 * There are two kinds of holes. A loss is reported by the recording. A broken chain of switches is
 * shown by a sched_switch whose prev was not switched in before. A task that is switched in again
 * and again, but never seen as the current task of an event, is hidden from tracing: after it ran,
 * events are missing from that CPU only, since the switches of all other tasks are recorded.
 *
 * A CPU that goes offline breaks its chain as well. Once it counts as offline the kernel traces
 * nothing there (cpu_online() is a condition of every tracepoint), not even that its migration
 * thread, which takes it down, is switched out. The prev of its first switch after it came back is
 * its idle task. Nothing else can have run there, so this is not a hole.
 */
#ifndef TAP_TIMELINE_SURVEY_H
#define TAP_TIMELINE_SURVEY_H

#include "base/window.h"
#include "timeline/promise.h"

#define TAP_MAX_CPUS 8192u /* maximum of CONFIG_NR_CPUS; higher CPU numbers are invalid */
#define TAP_MAX_TIDS 4194304u /* the kernel's PID_MAX_LIMIT; tids are lower */
/*
 * limit for each of: losses and breaks (neighbours are then merged), origins (the rest is dropped)
 */
#define TAP_MAX_HOLES (1u << 18)

/* A loss that the recording reports. */
struct tap_loss {
	uint64_t from_ns, to_ns; /* .to_ns is UINT64_MAX if the CPU has no later event */
	int cpu; /* -1: not known */
	unsigned int buffer;
	uint64_t count; /* number of lost events; 0: not known */
	bool is_off; /* not lost: the events were switched off by triggers */
	bool spares_switches; /* no sched_switch is among them */
};

enum tap_break_what {
	TAP_BREAK_MISSED, /* a switch is missing */
	TAP_BREAK_OFFLINE,
	/*
	 * only until tap_survey_end(): a loss follows, and the last task switched in may have left
	 * the CPU before the loss
	 */
	TAP_BREAK_CUT,
	/* the CPU is offline, or its migration thread still runs: no other task does */
	TAP_BREAK_STOPPER,
};

/*
 * A break in a CPU's chain of switches: the task switched in at @from_ns left @cpu before @to_ns,
 * unseen.
 */
struct tap_break {
	uint64_t from_ns, to_ns;
	int cpu;
	int tid; /* the task that left unseen; 0: idle */
	enum tap_break_what what;
};

/*
 * An origin: the task that a CPU ran before its first switch. All switches between @from_ns and
 * @to_ns are recorded, and there are none on @cpu, so the task that the switch at @to_ns takes off
 * the CPU ran there all the time. If a CPU has no switch at all, @to_ns is the time of a look
 * (struct tap_look) that saw the task running.
 */
struct tap_origin {
	uint64_t from_ns, to_ns;
	int cpu;
	int tid; /* 0: idle */
	unsigned int buffer;
};

/* An interval in which a task may have run, or changed state, unseen. */
struct tap_hole {
	uint64_t from_ns, to_ns;
};

/*
 * A look at a CPU: the task that ran there at one moment, known from something other than a switch.
 */
struct tap_look {
	uint64_t ts_ns;
	int cpu;
	int tid; /* 0: idle */
};

#define TAP_SURVEY_TIDS 1024u

/* The survey's knowledge of a tid. */
struct tap_survey_tid {
	bool at_work; /* was the current task of an event */
	bool hidden; /* set by tap_survey_end(): left CPUs unseen, and was never seen at work */
	/* a CPU's migration thread, which is the last task that runs before the CPU goes offline */
	bool stopper;
	uint8_t ins; /* number of times it was switched in; saturates at 255 */
};

struct tap_survey_kind {
	const struct tap_format *fmt;
	uint64_t count;
};

struct tap_survey {
	/* these count what is within the window */
	uint64_t events;
	uint64_t bytes; /* bytes of records, without sub-buffer headers; set by the reader */
	uint64_t lost; /* lost events; saturates at UINT64_MAX */
	uint64_t nr_off; /* number of intervals in which triggers had switched events off */
	uint64_t nr_losses; /* number of losses before neighbours in .losses are merged */
	bool lost_unknown; /* some losses have no count: .lost is a lower bound */
	struct tap_survey_kind *kinds; /* owned; sorted by tap_survey_end(), most frequent first */
	unsigned int nr_kinds, cap_kinds;

	struct tap_loss *losses; /* owned; after the end: by .from_ns */
	struct tap_break *breaks; /* owned; after the end: by .from_ns */
	/* owned; set by tap_survey_end(): by .from_ns, disjoint, with gaps between them */
	struct tap_hole *holes;
	struct tap_origin *origins; /* owned; after the end: by .from_ns */
	unsigned int nr_kept_losses, nr_breaks, nr_holes, nr_origins;
	unsigned int nr_cpus; /* highest CPU seen plus one */
	bool has_breaks; /* events are missing without a reported loss */
	bool tells_queued; /* sched_switch has next_queued_ns and next_delay_ns */
	/*
	 * The buffer whose events of a kind the timeline uses: the first of the recording's buffers
	 * that has this kind. TAP_NO_BUFFER: no buffer has it.
	 */
	unsigned int buffer[TAP_NR_SCHED_KINDS];

	/* set before the first event; NULL: the recording is unfiltered */
	const struct tap_promise *promise;
	const struct tap_lists *lists; /* names, if switches have none; borrowed, or NULL */
	/* Set before tap_survey_end(), borrowed until then. */
	const struct tap_look *looks;
	unsigned int nr_looks;
	/*
	 * Set before tap_survey_end(): since when the switches of all CPUs are recorded, ns. 0:
	 * since the first switch; UINT64_MAX: not known.
	 */
	uint64_t on_from_ns;

	/* private */
	struct tap_window window;
	struct tap_sched_formats formats;
	/* the newest sched_switch format that is plain, or NULL */
	const struct tap_sched_fields *switches;
	struct tap_survey_cpu *cpus;
	unsigned int cap_cpus, cap_losses, cap_breaks, cap_origins;
	/* owned: blocks of TAP_SURVEY_TIDS elements, or NULL */
	struct tap_survey_tid *tids[TAP_MAX_TIDS / TAP_SURVEY_TIDS];
	struct tap_survey_tid invalid_tid; /* stands for all invalid tids of a damaged file */
	/* time of the first switch on any CPU in .buffer[TAP_SCHED_SWITCH] */
	uint64_t first_switch_ns;
	bool blurred; /* breaks after tasks that seemed to be hidden were dropped */
	bool wrong; /* dropped breaks were needed, or a limit was reached: nothing is certain */
};

/*
 * Find the last hole that begins before @ns. Call after tap_survey_end(). Return: NULL: no such
 * hole.
 */
const struct tap_hole *tap_survey_last_hole(const struct tap_survey *s, uint64_t ns);
/*
 * Find the origin on @cpu that begins at @ns. Call after tap_survey_end(). Return: NULL: no such
 * origin.
 */
const struct tap_origin *tap_survey_origin_at(const struct tap_survey *s, int cpu, uint64_t ns);
/* Return: 0 or -ENOMEM. */
int tap_survey_init(struct tap_survey *s, struct tap_window window);
void tap_survey_release(struct tap_survey *s);

/*
 * Return true if the survey uses events of this kind; others need not be fed. @one_buffer: the
 * recording has only one buffer.
 */
bool tap_survey_wants(const struct tap_format *fmt, bool one_buffer);
/* Take the next events: each CPU's in time order. Return: 0 or -ENOMEM. */
int tap_survey_events(struct tap_survey *s, const struct tap_event *const *events, unsigned int nr);
static inline int tap_survey_event(struct tap_survey *s, const struct tap_event *ev)
{
	return tap_survey_events(s, &ev, 1);
}

/*
 * Take an event after the window's end. It may show that the task that a CPU ran at the end had
 * left it unseen. Return: 1: no more events of this CPU are needed; 0: more are; -ENOMEM.
 */
int tap_survey_beyond(struct tap_survey *s, const struct tap_event *ev);
/* Note that the recording has events of this format, even if they are not fed. */
void tap_survey_note(struct tap_survey *s, const struct tap_format *fmt);
/*
 * Set the number of the format's events in the window, fed or not. Call once per format. Return: 0
 * or -ENOMEM.
 */
int tap_survey_count(struct tap_survey *s, const struct tap_format *fmt, uint64_t count);
/*
 * Return the time, ns, since when the CPU has run one task throughout, because it has no recorded
 * switch and lost none; UINT64_MAX: no such time. Call after all events and before
 * tap_survey_end().
 */
uint64_t tap_survey_unswitched_ns(const struct tap_survey *s, unsigned int cpu);
/* Find and sort all holes, breaks, losses and origins, after all events. Return: 0 or -ENOMEM. */
int tap_survey_end(struct tap_survey *s);
/* Return what is known of a tid, or NULL if it was not seen or is invalid. */
static inline struct tap_survey_tid *tap_survey_tid(const struct tap_survey *s, int tid)
{
	struct tap_survey_tid *tids;

	if ((unsigned int)tid >= TAP_MAX_TIDS)
		return NULL;
	tids = s->tids[(unsigned int)tid / TAP_SURVEY_TIDS];
	return tids ? &tids[(unsigned int)tid % TAP_SURVEY_TIDS] : NULL;
}

/* Return true if wakeups are recorded, which end sleeps. */
static inline bool tap_survey_has_wakeups(const struct tap_survey *s)
{
	return s->buffer[TAP_SCHED_WAKING] != TAP_NO_BUFFER ||
	       s->buffer[TAP_SCHED_WAKEUP] != TAP_NO_BUFFER;
}

/*
 * Return true if no wakeups are recorded, and each sched_switch has the time since next was queued:
 * waits after a sleep then begin at the queueing.
 */
static inline bool tap_survey_has_queueings(const struct tap_survey *s)
{
	return s->tells_queued && !tap_survey_has_wakeups(s);
}

/* Return true if switches are recorded. */
static inline bool tap_survey_has_switches(const struct tap_survey *s)
{
	return s->buffer[TAP_SCHED_SWITCH] != TAP_NO_BUFFER;
}

/* Return true if the task is hidden from tracing: nothing that it does is certain. */
static inline bool tap_survey_is_hidden(const struct tap_survey *s, int tid)
{
	const struct tap_survey_tid *t = tap_survey_tid(s, tid);

	return t && t->hidden;
}

/* Return true if switches may be among the events that a loss event reports missing. */
bool tap_loss_has_switches(const struct tap_event *ev);

/*
 * Return true if the loss may contain events that the timeline uses: the timeline uses its buffer.
 */
bool tap_survey_counts_loss(const struct tap_survey *s, const struct tap_loss *l);

/* Return true if the window has events of this name. */
bool tap_survey_has_event(const struct tap_survey *s, const char *name);

#endif
