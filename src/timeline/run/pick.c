// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/pick.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int no_such_event(const struct tap_select_word *w, const struct tap_format *const *formats,
			 unsigned int nr, struct tap_err *err)
{
	struct tap_select_name *names = calloc(nr + 1, sizeof(*names));
	struct tap_buf near = { 0 };
	int ret;

	for (unsigned int i = 0; names && i < nr; i++)
		names[i] = (struct tap_select_name){ formats[i]->system, formats[i]->name };
	if (names)
		tap_select_suggest(w, names, nr, &near);
	ret = tap_err_set(err, -ENODATA, "-e: the recording has no event '%s'%s", w->text,
			  tap_buf_str(&near));
	tap_buf_release(&near);
	free(names);
	return ret;
}

static int check_events(const struct tap_select *s, const struct tap_format *const *formats,
			unsigned int nr, struct tap_err *err)
{
	unsigned int i, k;

	for (i = 0; i < s->nr_events; i++) {
		const struct tap_select_word *w = &s->events[i];

		for (k = 0;
		     k < nr && !tap_select_word_fits(w, formats[k]->system, formats[k]->name); k++)
			;
		if (k == nr)
			return no_such_event(w, formats, nr, err);
	}
	return 0;
}

int tap_pick_init(struct tap_pick *p, const struct tap_select_words *words,
		  const struct tap_format *const *formats, unsigned int nr, struct tap_err *err)
{
	int ret;

	*p = (struct tap_pick){ .window = TAP_WINDOW_ALL };
	ret = tap_select_read(words, &p->own, err);
	p->select = p->own;
	ret = ret ?: check_events(p->select, formats, nr, err);
	ret = ret ?: tap_kind_filters_init(&p->filters, p->select, formats, nr, &p->note, err);
	if (ret)
		tap_pick_release(p);
	return ret;
}

void tap_pick_release(struct tap_pick *p)
{
	tap_select_free(p->own);
	free(p->kinds);
	tap_kind_filters_release(&p->filters);
	tap_buf_release(&p->note);
	*p = (struct tap_pick){ 0 };
}

/* Return: NULL when out of memory. */
static const struct tap_pick_kind *kind_of(struct tap_pick *p, const struct tap_event_kind *kind)
{
	struct tap_pick_kind *k =
		kind->index < p->nr_kinds
			? &p->kinds[kind->index]
			: tap_array_at(&p->kinds, &p->nr_kinds, kind->index, sizeof(*k), NULL);

	if (k && !k->known)
		*k = (struct tap_pick_kind){ true, tap_pick_wants(p, kind->fmt),
					     tap_kind_filter(&p->filters, kind->fmt) };
	return k;
}

bool tap_pick_task_by(const struct tap_pick *p, const struct tap_cgroups *cgroups, unsigned int by,
		      const struct tap_task *task)
{
	struct tap_select_task t = { task->tid, .comm = task->comm };

	by &= p->select->by;
	if (by & TAP_SELECT_TGIDS)
		t.tgid = tap_task_tgid(task);
	if (by & TAP_SELECT_COMMS)
		t.comm_len = strnlen(task->comm, TAP_TASK_COMM);
	if (by & TAP_SELECT_CGROUPS)
		t.cgroup = tap_cgroups_path(cgroups, task->cgroup);
	return tap_select_task_by(p->select, by, &t);
}

/* @comm: the event's field with the task's name; NULL: it has none. Return: 1 or 0; -ENOMEM. */
static int tid_matches(const struct tap_pick *p, struct tap_identities *ids, unsigned int by,
		       int tid, const struct tap_field *comm, const struct tap_event *ev)
{
	const struct tap_task *task;
	const char *text;
	uint32_t len;

	if ((by & TAP_SELECT_TIDS) && !tap_select_tid(p->select, tid))
		return 0;
	by &= ~(unsigned int)TAP_SELECT_TIDS;
	if (comm && (by & TAP_SELECT_COMMS)) {
		text = tap_field_bytes(comm, ev->data, ev->size, &len);
		if (!tap_select_task_by(
			    p->select, TAP_SELECT_COMMS,
			    &(struct tap_select_task){ .tid = tid, .comm = text, .comm_len = len }))
			return 0;
		by &= ~(unsigned int)TAP_SELECT_COMMS;
	}
	if (!by)
		return 1;
	task = tap_identity(ids, tid);
	return task ? tap_pick_task_by(p, &ids->cgroups, by, task) : -ENOMEM;
}

static int tasks_match(const struct tap_pick *p, struct tap_identities *ids, unsigned int by,
		       const struct tap_event_kind *kind, const struct tap_event *ev)
{
	int ret = 0;

	if (kind->current)
		ret = tid_matches(p, ids, by, tap_event_current(kind, ev), NULL, ev);
	for (unsigned int i = 0; i < kind->nr_tasks && !ret; i++)
		ret = tid_matches(p, ids, by,
				  (int)tap_field_u64(kind->tasks[i].tid, ev->data, ev->size),
				  kind->tasks[i].comm, ev);
	return ret;
}

/* Match -g against the cgroup that an event names, instead of the cgroup of any task. */
static bool cgroup_matches(const struct tap_pick *p, const struct tap_cgroups *cgroups,
			   const struct tap_event_kind *kind, const struct tap_event *ev)
{
	const struct tap_select_task task = {
		.cgroup =
			tap_cgroups_path(cgroups, tap_field_u64(kind->cgroup, ev->data, ev->size)),
	};

	return tap_select_task_by(p->select, TAP_SELECT_CGROUPS, &task);
}

static int filter_holds(const struct tap_pick *p, struct tap_identities *ids,
			const struct tap_filter *filter, const struct tap_event_kind *kind,
			const struct tap_event *ev)
{
	const struct tap_task *task = NULL;

	if (p->filters.wants_comm && kind->current) {
		task = tap_identity(ids, tap_event_current(kind, ev));
		if (!task)
			return -ENOMEM;
	}
	return tap_pick_filter(filter, ev, task && *task->comm ? task->comm : NULL);
}

int tap_pick_match(struct tap_pick *p, struct tap_identities *ids,
		   const struct tap_event_kind *kind, const struct tap_event *ev)
{
	unsigned int by = p->select->by & TAP_SELECT_TASKS;
	const struct tap_pick_kind *k;
	int ret = 1;

	if (!tap_window_overlaps(&p->window, kind ? ev->ts_ns : ev->lost.first_ns, ev->ts_ns))
		return 0;
	if (!kind)
		return 1;
	k = kind_of(p, kind);
	if (!k || !k->wanted)
		return k ? 0 : -ENOMEM;
	/* first, as in the BPF programs, where events that the filter rejects leave no trace */
	if (k->filter)
		ret = filter_holds(p, ids, k->filter, kind, ev);
	if (ret <= 0)
		return ret;
	if (!tap_select_cpu(p->select, ev->cpu))
		return 0;
	if ((by & TAP_SELECT_CGROUPS) && kind->cgroup) {
		if (!cgroup_matches(p, &ids->cgroups, kind, ev))
			return 0;
		by &= ~(unsigned int)TAP_SELECT_CGROUPS;
	}
	return by ? tasks_match(p, ids, by, kind, ev) : 1;
}
