/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Select the events of a recording that a command uses: events that match a selection
 * (event/select/select.h) and lie within --time. All options about tasks must match the same task:
 * the one that was running, or one that the event names. A loss always matches, since its contents
 * are unknown.
 */
#ifndef TAP_ANALYSIS_PICK_H
#define TAP_ANALYSIS_PICK_H

#include "base/window.h"
#include "event/select/select.h"
#include "timeline/run/event_kind.h"
#include "timeline/run/filters.h"
#include "timeline/run/identity.h"

struct tap_pick {
	const struct tap_select *select;
	struct tap_select *own; /* .select, if tap_pick_init() made it; else NULL */
	struct tap_window window; /* --time; tap_pick_init() sets it to all times */
	struct tap_pick_kind {
		bool known, wanted;
		const struct tap_filter *filter; /* or NULL */
	} * kinds; /* by .index of their tap_event_kind */
	unsigned int nr_kinds;
	struct tap_kind_filters filters;
	struct tap_buf note; /* set by tap_pick_init(): a sentence for the user, or empty */
};

/*
 * @formats: the recording's event formats.
 *
 * Return: 0; -EINVAL with a sentence that names the option; -ENODATA with a sentence that names the
 * -e word that matches no format; -ENOMEM.
 */
int tap_pick_init(struct tap_pick *p, const struct tap_select_words *words,
		  const struct tap_format *const *formats, unsigned int nr, struct tap_err *err);
void tap_pick_release(struct tap_pick *p);

/* Return true if -e selects events of this format. */
static inline bool tap_pick_wants(const struct tap_pick *p, const struct tap_format *fmt)
{
	return tap_select_event(p->select, fmt->system, fmt->name);
}

/*
 * Apply a filter of -f; NULL accepts every event. @comm: the running task's, or NULL. Return: as
 * tap_filter_match().
 */
static inline int tap_pick_filter(const struct tap_filter *f, const struct tap_event *ev,
				  const char *comm)
{
	const struct tap_filter_about about = {
		.cpu = ev->cpu,
		.comm = comm,
		.comm_len = comm ? (uint32_t)strnlen(comm, TAP_TASK_COMM) : 0,
	};

	return f ? tap_filter_match(f, ev->data, ev->size, &about) : 1;
}

/* @kind: of ev->fmt; NULL if @ev is a loss. Return: 1 if the event matches, 0 if not; -ENOMEM. */
int tap_pick_match(struct tap_pick *p, struct tap_identities *ids,
		   const struct tap_event_kind *kind, const struct tap_event *ev);

/*
 * Return true if the task matches those options among -p, -t, -c and -g that are in @by (bits of
 * enum tap_select_by).
 */
bool tap_pick_task_by(const struct tap_pick *p, const struct tap_cgroups *cgroups, unsigned int by,
		      const struct tap_task *task);

static inline bool tap_pick_task(const struct tap_pick *p, const struct tap_cgroups *cgroups,
				 const struct tap_task *task)
{
	return tap_pick_task_by(p, cgroups, TAP_SELECT_TASKS, task);
}

#endif
