// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>

#include "base/array.h"
#include "show/export/perfetto.h"

/*
 * Perfetto shows the last task switched in as running until the next switch, even if events are
 * missing after it. So a CPU whose task is unknown is shown as running a thread named "unknown",
 * and an offline CPU one named "offline". Their tids are above all task ids. Each CPU has its own
 * two, as a thread can run on only one CPU at a time.
 */
#define UNKNOWN_TID(cpu) ((int)TAP_MAX_TIDS + 1 + 2 * (cpu))
#define OFFLINE_TID(cpu) (UNKNOWN_TID(cpu) + 1)
static const char unknown[TAP_TASK_COMM] = "unknown", offline[TAP_TASK_COMM] = "offline",
		  idle[TAP_TASK_COMM] = "swapper";
#define UNKNOWN_PRIO 120
/* prev_state of a task whose state after it left the CPU is unknown */
#define RUNNABLE 0

/* Return: NULL if out of memory. */
static struct tap_bundle *bundle_of(struct tap_pf *pf, int cpu)
{
	struct tap_bundle **b =
		tap_array_at(&pf->bundles, &pf->nr_bundles, (unsigned int)cpu, sizeof(*b), NULL);

	if (!b)
		return NULL;
	if (!*b)
		*b = tap_bundle_new(&pf->e->machine, cpu);
	return *b;
}

static int end_row(struct tap_pf *pf, struct tap_bundle *b)
{
	return tap_bundle_is_full(b) ? tap_bundle_put(b, &pf->out) : 0;
}

static void let_run(struct tap_bundle *b, int tid)
{
	b->current = tid;
	b->has_switch = true;
}

static bool is_lost(const struct tap_bundle *b)
{
	return b->current == UNKNOWN_TID(b->cpu) || b->current == OFFLINE_TID(b->cpu);
}

static void put_message(struct tap_bundle *b, const struct tap_ftrace_switch *s)
{
	tap_ftrace_switch_put(b, s);
	b->message_ns = s->ts_ns;
}

static void lose_cpu_at(const struct tap_pf *pf, struct tap_bundle *b, uint64_t ts_ns,
			bool is_offline)
{
	const struct tap_task *task = tap_timeline_task(pf->e->run.timeline, b->current);
	const int tid = is_offline ? OFFLINE_TID(b->cpu) : UNKNOWN_TID(b->cpu);
	const char *what = is_offline ? offline : unknown;

	/* at equal time stamps, Perfetto sorts rows of columns before messages */
	if (ts_ns == b->message_ns)
		put_message(
			b, &(const struct tap_ftrace_switch){ .ts_ns = ts_ns,
							      .prev = b->current,
							      .prev_prio = UNKNOWN_PRIO,
							      .prev_comm = task ? task->comm : idle,
							      .prev_state = RUNNABLE,
							      .next = tid,
							      .next_prio = UNKNOWN_PRIO,
							      .next_comm = what });
	else
		tap_bundle_switch(b, ts_ns, RUNNABLE, tid, UNKNOWN_PRIO, what);
	let_run(b, tid);
}

int tap_pf_lose_cpu(struct tap_pf *pf, const struct tap_cpu_interval *s)
{
	struct tap_bundle *b = bundle_of(pf, s->cpu);

	if (!b)
		return -ENOMEM;
	if (!b->has_switch || is_lost(b))
		return 0;
	lose_cpu_at(pf, b, s->from_ns, s->what == TAP_CPU_OFFLINE);
	return end_row(pf, b);
}

static const struct tap_cpu *cpu_of(const struct tap_pf *pf, int cpu)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(pf->e->run.timeline, &nr);

	return (unsigned int)cpu < nr ? &cpus[cpu] : NULL;
}

/* Write that the CPU runs @task without a switch event. @task: NULL: the CPU is idle. */
static int find_cpu(struct tap_pf *pf, int cpu, const struct tap_task *task, uint64_t ts_ns)
{
	struct tap_bundle *b = bundle_of(pf, cpu);
	int tid = task ? task->tid : 0, prio = task ? task->prio : UNKNOWN_PRIO;
	const char *comm = task ? task->comm : idle;

	if (!b)
		return -ENOMEM;
	if (b->has_switch)
		tap_bundle_switch(b, ts_ns, RUNNABLE, tid, prio, comm);
	else
		put_message(b, &(const struct tap_ftrace_switch){ .ts_ns = ts_ns,
								  .prev = UNKNOWN_TID(cpu),
								  .prev_prio = UNKNOWN_PRIO,
								  .prev_comm = unknown,
								  .next = tid,
								  .next_prio = prio,
								  .next_comm = comm });
	let_run(b, tid);
	return end_row(pf, b);
}

int tap_pf_find_cpu(struct tap_pf *pf, const struct tap_origin *origin)
{
	const struct tap_task *task =
		origin->tid ? tap_timeline_task(pf->e->run.timeline, origin->tid) : NULL;

	return origin->tid && !task ? 0 : find_cpu(pf, origin->cpu, task, origin->from_ns);
}

int tap_pf_begin_cpus(struct tap_pf *pf)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(pf->e->run.timeline, &nr);
	int ret = 0;

	for (unsigned int cpu = 0; !ret && cpu < nr; cpu++)
		if (cpus[cpu].known && tap_run_cpu(&pf->e->run, (int)cpu))
			ret = find_cpu(pf, (int)cpu, cpus[cpu].task, pf->e->run.window.from_ns);
	return ret;
}

/*
 * Return a name's TAP_TASK_COMM bytes: in the record, or copied to @to if the record's field is
 * shorter.
 */
static const char *comm_of(const struct tap_field *f, const struct tap_event *ev,
			   char to[TAP_TASK_COMM])
{
	const char *bytes;
	uint32_t len;

	if (f && tap_is_plain_comm(f))
		return (const char *)ev->data + f->offset;
	memset(to, 0, TAP_TASK_COMM);
	if (f) {
		bytes = tap_field_bytes(f, ev->data, ev->size, &len);
		memcpy(to, bytes, len < TAP_TASK_COMM ? len : TAP_TASK_COMM);
	}
	return to;
}

int tap_pf_put_switch(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev)
{
	const struct tap_sched_fields *f = kind->sched;
	const int prev = tap_num_int(&f->from, ev), next = tap_num_int(&f->tid, ev),
		  prio = tap_num_int(&f->prio, ev);
	struct tap_bundle *b = bundle_of(pf, ev->cpu);
	const struct tap_cpu *cpu = cpu_of(pf, ev->cpu);
	char comm[TAP_TASK_COMM];

	if (!b)
		return -ENOMEM;
	if (!b->has_switch) {
		tap_ftrace_event_put(&kind->ftrace, b, ev);
		b->message_ns = ev->ts_ns;
	} else {
		if (b->current != prev) /* the switch to @prev was lost: switch to it now */
			tap_bundle_switch(b, ev->ts_ns, RUNNABLE, prev, UNKNOWN_PRIO,
					  comm_of(f->from_comm, ev, comm));
		tap_bundle_switch(b, ev->ts_ns, tap_num_get(&f->value, ev), next, prio,
				  comm_of(f->comm, ev, comm));
	}
	let_run(b, next);
	if (cpu && !cpu->known)
		lose_cpu_at(pf, b, ev->ts_ns, cpu->offline);
	return end_row(pf, b);
}

int tap_pf_put_waking(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev)
{
	const struct tap_sched_fields *f = kind->sched;
	struct tap_bundle *b = bundle_of(pf, ev->cpu);
	char comm[TAP_TASK_COMM];

	if (!b)
		return -ENOMEM;
	/*
	 * a row in the columns has no waker: Perfetto takes the last task switched in, so a
	 * wakeup by another task, and the CPU's first wakeup, are written as messages
	 */
	if (!b->has_waking || !b->has_switch || b->current != tap_num_int(&f->current, ev))
		tap_ftrace_event_put(&kind->ftrace, b, ev);
	else
		tap_bundle_waking(b, ev->ts_ns, tap_num_int(&f->tid, ev), tap_num_int(&f->prio, ev),
				  tap_num_int(&f->value, ev),
				  (unsigned int)tap_num_int(&f->flags, ev) & 0xff,
				  comm_of(f->comm, ev, comm));
	b->has_waking = true;
	return end_row(pf, b);
}

int tap_pf_put_late_waking(struct tap_pf *pf, const struct tap_task *task)
{
	struct tap_bundle *b = task->run_cpu >= 0 && task->since_ns >= pf->e->run.window.from_ns
				       ? bundle_of(pf, task->run_cpu)
				       : NULL;

	if (!b || !tap_run_cpu(&pf->e->run, b->cpu))
		return 0;
	/* one ns after the switch: order at equal time stamps is undefined */
	tap_ftrace_waking_put(b, task->since_ns + 1, task->waker_tid > 0 ? task->waker_tid : 0,
			      task);
	return end_row(pf, b);
}

int tap_pf_put_ftrace(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev)
{
	struct tap_bundle *b = bundle_of(pf, ev->cpu);

	if (!b)
		return -ENOMEM;
	tap_ftrace_event_put(&kind->ftrace, b, ev);
	return end_row(pf, b);
}

int tap_pf_put_loss(struct tap_pf *pf, const struct tap_event *ev)
{
	struct tap_bundle *b;
	int ret;

	if (ev->cpu < 0 || ev->lost.is_off)
		return 0;
	b = bundle_of(pf, ev->cpu);
	if (!b)
		return -ENOMEM;
	ret = tap_bundle_put(b, &pf->out);
	b->has_loss = true; /* applies to the events after it only */
	return ret;
}

int tap_pf_end_cpus(struct tap_pf *pf)
{
	struct tap_bundle *b;
	int ret = 0;

	for (unsigned int cpu = 0; !ret && cpu < pf->nr_bundles; cpu++) {
		b = pf->bundles[cpu];
		/* another machine's recording may go on, and Perfetto draws up to the last one's
		 * end */
		if (b && pf->e->machine.nr > 1 && b->has_switch && !is_lost(b))
			lose_cpu_at(pf, b, pf->e->run.window.to_ns, false);
		ret = b ? tap_bundle_put(b, &pf->out) : 0;
	}
	return ret;
}
