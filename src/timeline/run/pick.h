/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which events of a recording a command looks at: those of a selection (event/select/select.h),
 * within
 * --time. The options about tasks must all match one task: the one that was running, or one that
 * the event speaks of. A loss is always picked: nobody knows what was in it.
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
	struct tap_select *own; /* the same, made by tap_pick_init(); or NULL */
	struct tap_window window; /* --time; tap_pick_init() leaves it open */
	struct tap_pick_kind {
		bool known, wanted;
		const struct tap_filter *filter; /* or NULL */
	} * kinds; /* by their index */
	unsigned int nr_kinds;
	struct tap_kind_filters filters;
	struct tap_buf note; /* after tap_pick_init(): what the user should know, or nothing */
};

/*
 * @formats: what the recording has.
 * Return: 0; -EINVAL with a sentence that names the option; -ENODATA: with one that names the -e
 * that none of @formats fits; -ENOMEM.
 */
int tap_pick_init(struct tap_pick *p, const struct tap_select_words *words,
		  const struct tap_format *const *formats, unsigned int nr, struct tap_err *err);
void tap_pick_release(struct tap_pick *p);

/* -e: whether events of this kind can match at all. */
static inline bool tap_pick_wants(const struct tap_pick *p, const struct tap_format *fmt)
{
	return tap_select_event(p->select, fmt->system, fmt->name);
}

/* -f. @comm: of the task that was running, or NULL. Return: as tap_filter_match(). */
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

/* @kind: of ev->fmt; NULL for a loss. Return: 1 or 0; -ENOMEM. */
int tap_pick_match(struct tap_pick *p, struct tap_identities *ids,
		   const struct tap_event_kind *kind, const struct tap_event *ev);

/* -p -t -c -g about a task alone, by those of @by (enum tap_select_by). */
bool tap_pick_task_by(const struct tap_pick *p, const struct tap_cgroups *cgroups, unsigned int by,
		      const struct tap_task *task);

static inline bool tap_pick_task(const struct tap_pick *p, const struct tap_cgroups *cgroups,
				 const struct tap_task *task)
{
	return tap_pick_task_by(p, cgroups, TAP_SELECT_TASKS, task);
}

#endif
