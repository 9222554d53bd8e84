/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which events of a recording a command looks at: those of a selection (select/select.h), within
 * --time. The options about tasks must all match one task: the one that was running, or one that
 * the event speaks of. A loss is always picked: nobody knows what was in it.
 */
#ifndef TAP_ANALYSIS_PICK_H
#define TAP_ANALYSIS_PICK_H

#include "analysis/event_kind.h"
#include "analysis/identity.h"
#include "select/select.h"

struct tap_pick {
	const struct tap_select *select;
	struct tap_select *own; /* the same, made by tap_pick_init(); or NULL */
	uint64_t from_ns, to_ns; /* --time, window.h; 0, UINT64_MAX: open, as tap_pick_init() leaves it */
	signed char *wanted; /* by kind: 0 not looked at yet, 1 yes, -1 no */
	unsigned int nr_wanted;
};

/*
 * @formats: what the recording has.
 * Return: 0; -EINVAL with a sentence that names the option; -ENODATA: with one that names the -e that
 * none of @formats fits; -ENOMEM.
 */
int tap_pick_init(struct tap_pick *p, const struct tap_select_words *words,
		  const struct tap_format *const *formats, unsigned int nr, struct tap_err *err);
void tap_pick_release(struct tap_pick *p);

/* -e: whether events of this kind can match at all. */
static inline bool tap_pick_wants(const struct tap_pick *p, const struct tap_format *fmt)
{
	return tap_select_event(p->select, fmt->system, fmt->name);
}

/* @kind: of ev->fmt; NULL for a loss. Return: 1 or 0; -ENOMEM. */
int tap_pick_match(struct tap_pick *p, struct tap_identities *ids, const struct tap_event_kind *kind,
		   const struct tap_event *ev);

/* -p -t -c -g about a task alone, by those of @by (enum tap_select_by). */
bool tap_pick_task_by(const struct tap_pick *p, const struct tap_cgroups *cgroups, unsigned int by,
		      const struct tap_task *task);

static inline bool tap_pick_task(const struct tap_pick *p, const struct tap_cgroups *cgroups,
				 const struct tap_task *task)
{
	return tap_pick_task_by(p, cgroups, TAP_SELECT_TASKS, task);
}

#endif
