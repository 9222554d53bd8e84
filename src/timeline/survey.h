/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A first pass over a recording, each CPU's events in their order but CPUs in any: it finds where
 * something is missing. Only with that known beforehand can a second pass, in time order, say at
 * every instant what is certain: the end of a hole shows that there was one.
 *
 * Holes are of two kinds. A loss is one that the recording tells. A broken chain is one that a
 * switch tells: its prev was never switched in. A task that is switched in again and again and
 * never seen at work is hidden from tracing: what breaks behind it is missing from that CPU alone,
 * for every other task's own switches are all there.
 *
 * A CPU that is taken out of use breaks its chain as well: from then on it counts as offline, and
 * the kernel traces nothing of it (cpu_online() is a condition of every tracepoint), not even that
 * its migration thread, which takes it down, leaves. The prev of the first switch behind that is
 * its idle task. Nothing else can have run there: so this is no hole.
 */
#ifndef TAP_TIMELINE_SURVEY_H
#define TAP_TIMELINE_SURVEY_H

#include "base/window.h"
#include "timeline/promise.h"

#define TAP_MAX_CPUS 8192u /* the most that CONFIG_NR_CPUS can be: other numbers are no CPU's */
#define TAP_MAX_TIDS 4194304u /* the kernel's PID_MAX_LIMIT: other tids are no task's */
#define TAP_MAX_HOLES (1u << 18) /* above that, neighbours are told as one */

/* What the recording says it lost. */
struct tap_loss {
	uint64_t from_ns, to_ns; /* .to_ns UINT64_MAX: nothing follows, up to the recording's end */
	int cpu; /* -1: not known */
	unsigned int buffer;
	uint64_t count; /* 0: some, number not known */
	bool is_off; /* triggers had switched them off */
	bool spares_switches; /* none is among them */
};

enum tap_break_what {
	TAP_BREAK_MISSED, /* a switch */
	TAP_BREAK_OFFLINE,
	/* until the end: a loss follows, and what was last switched in may have left before */
	TAP_BREAK_CUT,
	TAP_BREAK_STOPPER, /* it is offline, or its migration thread runs on: nobody else does */
};

/* What ran on @cpu from @from_ns on left it unseen, before @to_ns. */
struct tap_break {
	uint64_t from_ns, to_ns;
	int cpu;
	int tid; /* who was not seen leaving; 0: idle */
	enum tap_break_what what;
};

/*
 * From @from_ns on @cpu ran @tid, which its first switch, at @to_ns, takes off it: all switches
 * between are recorded, so there was none. Likewise of a CPU without a switch, where @to_ns is when
 * it was seen to run that.
 */
struct tap_origin {
	uint64_t from_ns, to_ns;
	int cpu;
	int tid; /* 0: idle */
	unsigned int buffer;
};

/* A time in which some task may have run, or changed its state, unseen. */
struct tap_hole {
	uint64_t from_ns, to_ns;
};

/* What a CPU ran at that time, by whatever other than a switch. */
struct tap_look {
	uint64_t ts_ns;
	int cpu;
	int tid; /* 0: idle */
};

#define TAP_SURVEY_TIDS 1024u

/* What is known of a tid. */
struct tap_survey_tid {
	bool at_work; /* was seen as the current task */
	bool hidden; /* after the end: left CPUs unseen, and never seen at work */
	bool stopper; /* a CPU's migration thread: it runs before the CPU goes away */
	uint8_t ins; /* how often it was switched in, up to 255 */
};

struct tap_survey_kind {
	const struct tap_format *fmt;
	uint64_t count;
};

struct tap_survey {
	/* within the window */
	uint64_t events;
	uint64_t bytes; /* of records, without page headers; set by who reads them */
	uint64_t lost; /* events that losses count */
	uint64_t nr_off; /* times that triggers had switched off */
	uint64_t nr_losses; /* also where .losses tells neighbours as one */
	bool lost_unknown; /* some losses have no count: .lost is a lower bound */
	struct tap_survey_kind *kinds; /* owned; after the end: most frequent first */
	unsigned int nr_kinds, cap_kinds;

	struct tap_loss *losses; /* owned; after the end: by .from_ns */
	struct tap_break *breaks; /* owned; after the end: by .from_ns */
	struct tap_hole *holes; /* owned; after the end: by .from_ns, none touches another */
	struct tap_origin *origins; /* owned; after the end: by .from_ns */
	unsigned int nr_kept_losses, nr_breaks, nr_holes, nr_origins;
	unsigned int nr_cpus; /* the highest CPU that was seen, + 1 */
	bool has_breaks; /* events are missing that no loss tells of */
	/* Which of a recording's buffers tells the timeline of events of a kind: where several
	 * have it, the first. TAP_NO_BUFFER: none has. */
	unsigned int buffer[TAP_NR_SCHED_KINDS];

	/* set before the first event; NULL: it has all of everybody */
	const struct tap_promise *promise;
	/* Set before the end, borrowed until then. */
	const struct tap_look *looks;
	unsigned int nr_looks;
	/* Likewise: from then on the switches of all CPUs are recorded. 0: from the first switch
	 * on; UINT64_MAX: not known. */
	uint64_t on_from_ns;

	/* inside */
	struct tap_window window;
	struct tap_sched_formats formats;
	const struct tap_sched_fields *switches; /* the newest that is plain, or NULL */
	struct tap_survey_cpu *cpus;
	unsigned int cap_cpus, cap_losses, cap_breaks, cap_origins;
	/* owned: TAP_SURVEY_TIDS of them each, or NULL */
	struct tap_survey_tid *tids[TAP_MAX_TIDS / TAP_SURVEY_TIDS];
	struct tap_survey_tid nobody; /* what a file may say that is no tid */
	uint64_t first_switch_ns; /* of any CPU, in .buffer[TAP_SCHED_SWITCH] */
	bool blurred; /* breaks behind tasks that seemed to be hidden were thrown away */
	bool wrong; /* what was thrown away was needed: nothing is certain */
};

/* The last hole that begins before @ns; after the end. Return: NULL: none does. */
const struct tap_hole *tap_survey_last_hole(const struct tap_survey *s, uint64_t ns);
/* The origin on @cpu at @ns; after the end. Return: NULL: there is none. */
const struct tap_origin *tap_survey_origin_at(const struct tap_survey *s, int cpu, uint64_t ns);
/* Return: 0 or -ENOMEM. */
int tap_survey_init(struct tap_survey *s, struct tap_window window);
void tap_survey_release(struct tap_survey *s);

/*
 * Whether the survey has a use for events of this kind: others need not be fed. @one_buffer: the
 * recording has no more.
 */
bool tap_survey_wants(const struct tap_format *fmt, bool one_buffer);
/* @events: the next ones. Return: 0 or -ENOMEM. */
int tap_survey_events(struct tap_survey *s, const struct tap_event *const *events, unsigned int nr);
static inline int tap_survey_event(struct tap_survey *s, const struct tap_event *ev)
{
	return tap_survey_events(s, &ev, 1);
}

/*
 * An event behind the window: it may show that what a CPU ran at the window's end had left it
 * unseen. Return: 1: of this CPU nothing more is needed; 0; -ENOMEM.
 */
int tap_survey_beyond(struct tap_survey *s, const struct tap_event *ev);
/* The recording has such events, whether they were fed or not. */
void tap_survey_note(struct tap_survey *s, const struct tap_format *fmt);
/* How many events of a kind the window has, whether they were fed or not. Return: 0 or -ENOMEM. */
int tap_survey_count(struct tap_survey *s, const struct tap_format *fmt, uint64_t count);
/*
 * After all events, before the end: since when the CPU runs the same task all the time, because
 * none of its switches is recorded, and none is lost. Return: UINT64_MAX: there is no such time.
 */
uint64_t tap_survey_unswitched_ns(const struct tap_survey *s, unsigned int cpu);
/* Sorts. Return: 0 or -ENOMEM. */
int tap_survey_end(struct tap_survey *s);
/* NULL: nothing is known of it, or it is no tid. */
static inline struct tap_survey_tid *tap_survey_tid(const struct tap_survey *s, int tid)
{
	struct tap_survey_tid *tids;

	if ((unsigned int)tid >= TAP_MAX_TIDS)
		return NULL;
	tids = s->tids[(unsigned int)tid / TAP_SURVEY_TIDS];
	return tids ? &tids[(unsigned int)tid % TAP_SURVEY_TIDS] : NULL;
}

/* Whether the recording tells when a sleep ends. */
static inline bool tap_survey_has_wakeups(const struct tap_survey *s)
{
	return s->buffer[TAP_SCHED_WAKING] != TAP_NO_BUFFER ||
	       s->buffer[TAP_SCHED_WAKEUP] != TAP_NO_BUFFER;
}

/* Whether it tells who ran. */
static inline bool tap_survey_has_switches(const struct tap_survey *s)
{
	return s->buffer[TAP_SCHED_SWITCH] != TAP_NO_BUFFER;
}

/* Nothing that such a task does is certain. */
static inline bool tap_survey_is_hidden(const struct tap_survey *s, int tid)
{
	const struct tap_survey_tid *t = tap_survey_tid(s, tid);

	return t && t->hidden;
}

/* Whether switches may be missing, for an event that is a loss. */
bool tap_loss_has_switches(const struct tap_event *ev);

/* Whether a loss can have taken events that the timeline uses: some came from its buffer. */
bool tap_survey_counts_loss(const struct tap_survey *s, const struct tap_loss *l);

/* Whether events of this name were seen in the window. */
bool tap_survey_has_event(const struct tap_survey *s, const char *name);

#endif
