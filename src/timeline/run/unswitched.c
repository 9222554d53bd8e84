// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/unswitched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONTRADICTED (-1) /* a look's tid: the CPU's events name several tasks */

/* One CPU. */
struct unswitched {
	/*
	 * events after this time show what the CPU runs; UINT64_MAX: no look at this CPU is needed,
	 * or none would help
	 */
	uint64_t from_ns;
	struct tap_look look; /* .ts_ns: of the last event that was read; 0: none */
	bool is_proven; /* an event other than a wakeup was read */
};

/*
 * A wakeup proves little: trace-cmd record -P records wakeups of its tasks by any task, but no
 * switches between other tasks.
 */
static bool is_wakeup(const struct tap_sched_fields *f)
{
	return f->kind == TAP_SCHED_WAKING || f->kind == TAP_SCHED_WAKEUP ||
	       f->kind == TAP_SCHED_WAKEUP_NEW;
}

/*
 * Return true if the event wakes a task on this CPU while the CPU is idle: a switch must have
 * followed, but was not recorded.
 */
static bool ends_idling(const struct tap_sched_fields *f, const struct tap_event *ev, int tid)
{
	return !tid && is_wakeup(f) && tap_num_int(&f->value, ev) == ev->cpu;
}

static int task_of(const struct tap_sched_fields *f, const struct tap_event *ev)
{
	int tid = tap_num_int(&f->current, ev);

	return tid < 0 || tid >= (int)TAP_MAX_TIDS || ends_idling(f, ev, tid) ? CONTRADICTED : tid;
}

/* Return: 1: no more events of this CPU are needed; 0; -ENOMEM. */
static int take_event(struct unswitched *c, struct tap_sched_formats *formats,
		      const struct tap_event *ev)
{
	const struct tap_sched_fields *f;
	int tid;

	if (c->from_ns == UINT64_MAX || c->look.tid == CONTRADICTED)
		return 1;
	if (!ev->fmt || ev->ts_ns <= c->from_ns)
		return 0;
	f = tap_sched_formats_add(formats, ev->fmt);
	if (!f)
		return -ENOMEM;
	c->is_proven |= !is_wakeup(f);
	tid = task_of(f, ev);
	c->look = (struct tap_look){ ev->ts_ns, ev->cpu,
				     c->look.ts_ns && tid != c->look.tid ? CONTRADICTED : tid };
	return 0;
}

/* Call take_event() for the next events in the reader's order. Return: as take_event(). */
static int take_batch(const struct tap_survey *survey, struct unswitched *cpus,
		      unsigned int nr_cpus, struct tap_sched_formats *formats,
		      const struct tap_event *const *events, int nr)
{
	int ret = 0;

	for (int i = 0; !ret && i < nr; i++) {
		unsigned int cpu = (unsigned int)events[i]->cpu;

		/*
		 * other buffers contain events that are not of the CPU's scheduler: marks, and
		 * events of programs
		 */
		if (cpu >= nr_cpus || events[i]->buffer != survey->buffer[TAP_SCHED_SWITCH])
			ret = 1;
		else
			ret = take_event(&cpus[cpu], formats, events[i]);
	}
	return ret;
}

static int read_events(struct tap_reader *reader, const struct tap_survey *survey, uint64_t from_ns,
		       struct unswitched *cpus, unsigned int nr_cpus, struct tap_err *err)
{
	const struct tap_event *const *events;
	struct tap_sched_formats formats;
	int nr = 0, code = tap_sched_formats_init(&formats);

	tap_reader_rewind(reader);
	tap_reader_unmerged(reader, true);
	tap_reader_limit(reader, from_ns, survey->window.to_ns);
	tap_reader_mark(reader, NULL, NULL);
	while (code >= 0 && (nr = tap_reader_batch(reader, &events, err)) > 0) {
		code = take_batch(survey, cpus, nr_cpus, &formats, events, nr);
		if (code > 0)
			tap_reader_skip(reader);
	}
	tap_sched_formats_release(&formats);
	return code < 0 ? tap_err_set(err, code, "out of memory") : nr;
}

/* Return true if a CPU needs a look that the recording does not have. */
static bool find_cpus(const struct tap_recording *rec, const struct tap_survey *survey,
		      struct unswitched *cpus, unsigned int nr_cpus)
{
	bool any = false;

	for (unsigned int i = 0; i < nr_cpus; i++)
		cpus[i].from_ns = tap_survey_unswitched_ns(survey, i);
	for (unsigned int i = 0; i < rec->nr_looks; i++) {
		const struct tap_look *look = &rec->looks[i];

		if (look->ts_ns > cpus[look->cpu].from_ns)
			cpus[look->cpu].from_ns = UINT64_MAX;
	}
	for (unsigned int i = 0; i < nr_cpus; i++)
		any |= cpus[i].from_ns < survey->window.to_ns;
	return any;
}

/*
 * A CPU's migration thread may take the CPU offline. From then on the CPU has no events, not even
 * the switch away from that thread. A thread whose name is unknown may be such a thread. Return: 1:
 * the task is not such a thread; 0; -ENOMEM.
 */
static int stays_online(struct tap_recording *rec, int tid)
{
	const struct tap_task *task = tid ? tap_identity(&rec->ids, tid) : NULL;

	if (!task)
		return tid ? -ENOMEM : 1;
	return task->comm[0] && !tap_comm_is_stopper(task->comm);
}

/* Collect the recording's own looks and those found from events. */
static int keep_looks(struct tap_recording *rec, const struct unswitched *cpus,
		      unsigned int nr_cpus, struct tap_looks *out)
{
	int ret = 0;

	out->v = calloc(rec->nr_looks + nr_cpus + 1, sizeof(*out->v));
	if (!out->v)
		return -ENOMEM;
	out->nr = rec->nr_looks;
	memcpy(out->v, rec->looks, out->nr * sizeof(*out->v));
	for (unsigned int i = 0; ret >= 0 && i < nr_cpus; i++) {
		ret = cpus[i].is_proven && cpus[i].look.tid != CONTRADICTED
			      ? stays_online(rec, cpus[i].look.tid)
			      : 0;
		if (ret > 0)
			out->v[out->nr++] = cpus[i].look;
	}
	return ret < 0 ? ret : 0;
}

int tap_unswitched_read(struct tap_recording *rec, const struct tap_survey *survey,
			uint64_t from_ns, struct tap_looks *out, struct tap_err *err)
{
	unsigned int nr_cpus = tap_reader_info(rec->reader)->nr_cpus;
	struct unswitched *cpus = calloc(nr_cpus + 1, sizeof(*cpus));
	int ret;

	if (!cpus)
		return tap_err_nomem(err);
	tap_looks_release(out);
	ret = find_cpus(rec, survey, cpus, nr_cpus)
		      ? read_events(rec->reader, survey, from_ns, cpus, nr_cpus, err)
		      : 0;
	if (!ret && keep_looks(rec, cpus, nr_cpus, out))
		ret = tap_err_nomem(err);
	free(cpus);
	return ret;
}

void tap_looks_release(struct tap_looks *looks)
{
	free(looks->v);
	*looks = (struct tap_looks){ 0 };
}
