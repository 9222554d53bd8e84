// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/deadlines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The kernel's numbers (since v7.2), which events/dl.h also uses on older kernels. */
enum { DL_SERVER_FAIR = 2, DL_SERVER_EXT = 3 };

void tap_deadlines_release(struct tap_deadlines *d)
{
	free(d->of);
	*d = (struct tap_deadlines){ 0 };
}

static bool init_fields(struct tap_deadlines *d, const struct tap_format *fmt)
{
	const struct {
		struct tap_num *num;
		const char *name;
	} fields[] = {
		{ &d->prev, "prev_pid" },  { &d->yielded, "prev_yielded" },
		{ &d->next, "next_pid" },  { &d->is_deadline, "next_deadline" },
		{ &d->left, "next_left" },
	};
	bool is_whole = !strcmp(fmt->system, "schedtap") && !strcmp(fmt->name, "sched_dl_pick");

	d->fmt = fmt;
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		tap_num_init(fields[i].num, tap_number_field(fmt, fields[i].name));
		is_whole &= fields[i].num->size != 0;
	}
	tap_num_init(&d->is_by_server, tap_number_field(fmt, "next_by_server"));
	tap_num_init(&d->server, tap_number_field(fmt, "next_server"));
	return is_whole;
}

static struct tap_deadline_job *job_of(struct tap_deadlines *d, const struct tap_task *task)
{
	return tap_array_at(&d->of, &d->nr, task->index, sizeof(*d->of), NULL);
}

static void end_job(struct tap_deadlines *d, struct tap_deadline_job *job, uint64_t ts_ns)
{
	bool is_late = job->is_open && ts_ns > job->deadline_ns;

	d->jobs += job->is_open && (job->was_seen || is_late);
	d->missed += is_late;
	if (is_late && ts_ns - job->deadline_ns > d->late_ns)
		d->late_ns = ts_ns - job->deadline_ns;
	*job = (struct tap_deadline_job){ .is_over = true };
}

/* Return the deadline's time, clamped to 0 and UINT64_MAX (a damaged file). */
static uint64_t deadline_of(uint64_t ts_ns, int64_t left_ns)
{
	uint64_t past_ns = left_ns < 0 ? 0 - (uint64_t)left_ns : 0;

	if (left_ns < 0)
		return past_ns < ts_ns ? ts_ns - past_ns : 0;
	return (uint64_t)left_ns < UINT64_MAX - ts_ns ? ts_ns + (uint64_t)left_ns : UINT64_MAX;
}

static void begin_job(struct tap_deadlines *d, const struct tap_task *task,
		      struct tap_deadline_job *job, const struct tap_event *ev)
{
	*job = (struct tap_deadline_job){
		.is_open = true,
		.was_seen = job->is_over || task->state == TAP_STATE_WAKING,
		.deadline_ns = deadline_of(ev->ts_ns, tap_num_get(&d->left, ev)),
	};
}

static bool is_done(const struct tap_interval *s)
{
	return s->state == TAP_STATE_RUNNING &&
	       (tap_state_is_sleep(s->next) || s->next == TAP_STATE_DEAD);
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_deadlines *d = ctx;
	struct tap_deadline_job *job = s->task->index < d->nr ? &d->of[s->task->index] : NULL;

	(void)t;
	if (!job)
		return 0;
	if (s->state == TAP_STATE_UNKNOWN && s->from_ns < s->to_ns) {
		d->undecided += job->is_open;
		*job = (struct tap_deadline_job){ 0 };
	} else if (is_done(s)) {
		end_job(d, job, s->to_ns);
	}
	return 0;
}

static void count_server(struct tap_deadlines *d, const struct tap_event *ev)
{
	int64_t type = tap_num_get(&d->server, ev);

	if (!d->is_by_server.size || !tap_num_get(&d->is_by_server, ev))
		return;
	d->by_server++;
	d->by_fair_server += type == DL_SERVER_FAIR;
	d->by_ext_server += type == DL_SERVER_EXT;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	struct tap_deadlines d;

	(void)ctx;
	return fmt && init_fields(&d, fmt);
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_deadlines *d = ctx;
	struct tap_task *prev, *next;
	struct tap_deadline_job *job;

	if (d->fmt != ev->fmt)
		init_fields(d, ev->fmt);
	prev = tap_timeline_task(t, (int)tap_num_get(&d->prev, ev));
	if (prev && tap_num_get(&d->yielded, ev) && prev->selected) {
		job = job_of(d, prev);
		if (!job)
			return -ENOMEM;
		end_job(d, job, ev->ts_ns);
	}
	next = tap_timeline_task(t, (int)tap_num_get(&d->next, ev));
	if (!next || !next->selected)
		return 0;
	count_server(d, ev);
	if (!tap_num_get(&d->is_deadline, ev))
		return 0;
	job = job_of(d, next);
	if (job && !job->is_open)
		begin_job(d, next, job, ev);
	return job ? 0 : -ENOMEM;
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	const uint64_t to_ns = tap_timeline_window(t).to_ns;
	struct tap_deadlines *d = ctx;

	for (unsigned int i = 0; i < d->nr; i++)
		if (d->of[i].is_open && to_ns > d->of[i].deadline_ns)
			end_job(d, &d->of[i], to_ns);
	return 0;
}

const struct tap_watcher_ops tap_deadlines_ops = {
	.states = TAP_STATE_BIT(TAP_STATE_RUNNING) | TAP_STATE_BIT(TAP_STATE_UNKNOWN),
	.interval = on_interval,
	.wants = wants_event,
	.event = on_event,
	.end = on_end,
};
