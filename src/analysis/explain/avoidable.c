// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/avoidable.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void tap_avoidable_release(struct tap_avoidable *a)
{
	for (unsigned int i = 0; i < a->nr_used; i++)
		tap_cpus_release(&a->used[i]);
	free(a->used);
	free(a->times);
}

int tap_avoidable_ran(struct tap_avoidable *a, const struct tap_task *task, int cpu)
{
	struct tap_cpus *used =
		tap_array_at(&a->used, &a->nr_used, task->index, sizeof(*used), NULL);

	if (!used)
		return -ENOMEM;
	return cpu < 0 || tap_cpus_has(used, (unsigned int)cpu)
		       ? 0
		       : tap_cpus_add(used, (unsigned int)cpu);
}

int tap_avoidable_moved(struct tap_avoidable *a, const struct tap_migration *m)
{
	if (m->why == TAP_MIGRATE_OTHER && m->task->index < a->nr_used)
		tap_cpus_release(&a->used[m->task->index]);
	return tap_avoidable_ran(a, m->task, m->to);
}

enum tap_may tap_avoidable_may(const struct tap_avoidable *a, const struct tap_timeline *t,
			       const struct tap_task *task, int cpu)
{
	enum tap_may may = tap_timeline_may_use(t, task, (unsigned int)cpu);

	if (may != TAP_MAY_UNKNOWN)
		return may;
	return task->index < a->nr_used && tap_cpus_has(&a->used[task->index], (unsigned int)cpu)
		       ? TAP_MAY
		       : TAP_MAY_UNKNOWN;
}

void tap_avoidable_idle_release(struct tap_avoidable_idle *idle)
{
	tap_cpus_release(&idle->cpus);
	tap_cpus_release(&idle->barred);
	*idle = (struct tap_avoidable_idle){ 0 };
}

static int by_start(const void *a, const void *b)
{
	const struct tap_idle_time *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Sort the times and join those that overlap: CPUs that were idle at the same time count once. */
static void join_times(struct tap_avoidable *a)
{
	unsigned int nr = 0;

	if (a->nr_times > 1)
		qsort(a->times, a->nr_times, sizeof(*a->times), by_start);
	for (unsigned int i = 0; i < a->nr_times; i++) {
		struct tap_idle_time *last = nr ? &a->times[nr - 1] : NULL;

		if (!last || a->times[i].from_ns > last->to_ns)
			a->times[nr++] = a->times[i];
		else if (a->times[i].to_ns > last->to_ns)
			last->to_ns = a->times[i].to_ns;
	}
	a->nr_times = nr;
}

static uint64_t all_ns(const struct tap_avoidable *a)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < a->nr_times; i++)
		ns += a->times[i].to_ns - a->times[i].from_ns;
	return ns;
}

/*
 * Return how much of .times the CPU to which @parts belongs spent running a task, not in
 * interrupts.
 */
static uint64_t contended_ns(const struct tap_avoidable *a, struct tap_cpu_parts parts)
{
	struct tap_cpu_part part;
	unsigned int i = 0;
	uint64_t ns = 0;

	while (i < a->nr_times && tap_cpu_parts_next(&parts, &part)) {
		while (i < a->nr_times && a->times[i].to_ns <= part.from_ns)
			i++;
		for (unsigned int k = i; part.what == TAP_CPU_RUN && part.irq == TAP_IN_NO_IRQ &&
					 k < a->nr_times && a->times[k].from_ns < part.to_ns;
		     k++) {
			uint64_t from_ns = a->times[k].from_ns > part.from_ns ? a->times[k].from_ns
									      : part.from_ns;

			ns += (a->times[k].to_ns < part.to_ns ? a->times[k].to_ns : part.to_ns) -
			      from_ns;
		}
	}
	return ns;
}

static int find_idle(struct tap_avoidable *a, struct tap_cpu_parts *parts, bool *any)
{
	struct tap_cpu_part part;

	while (tap_cpu_parts_next(parts, &part)) {
		if (part.what != TAP_CPU_IDLE)
			continue;
		if (tap_array_grow(&a->times, a->nr_times, &a->cap_times, sizeof(*a->times)))
			return -ENOMEM;
		a->times[a->nr_times++] = (struct tap_idle_time){ part.from_ns, part.to_ns };
		*any = true;
	}
	return 0;
}

/*
 * Collect the idle times of those CPUs for which the task's permission is @may, except @cpu, and
 * add to @idle the CPUs that were idle.
 */
static int find_all_idle(struct tap_avoidable *a, const struct tap_cpu_logs *logs,
			 const struct tap_timeline *t, const struct tap_task *task, int cpu,
			 enum tap_may may, uint64_t from_ns, uint64_t to_ns, struct tap_cpus *idle)
{
	unsigned int nr_cpus;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr_cpus);
	int ret = 0;

	for (unsigned int other = 0; other < nr_cpus && !ret; other++) {
		struct tap_cpu_parts parts;
		bool any = false;

		if (!tap_cpu_log_has_idle(logs, (int)other) &&
		    tap_cpu_what(&cpus[other]) != TAP_CPU_IDLE)
			continue;
		if ((int)other == cpu || tap_avoidable_may(a, t, task, (int)other) != may)
			continue;
		tap_cpu_log_read(logs, (int)other, from_ns, to_ns, &cpus[other], &parts);
		ret = find_idle(a, &parts, &any);
		if (any)
			ret = ret ?: tap_cpus_add(idle, other);
	}
	return ret;
}

int tap_avoidable_add(struct tap_avoidable *a, const struct tap_cpu_logs *logs,
		      const struct tap_timeline *t, const struct tap_task *task, int cpu,
		      uint64_t from_ns, uint64_t to_ns, struct tap_avoidable_idle *idle)
{
	unsigned int nr_cpus;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr_cpus);
	struct tap_cpu_parts own;
	uint64_t ns, contended;
	int ret;

	tap_cpu_log_read(logs, cpu, from_ns, to_ns,
			 cpu >= 0 && (unsigned int)cpu < nr_cpus ? &cpus[cpu] : NULL, &own);
	a->nr_times = 0;
	ret = find_all_idle(a, logs, t, task, cpu, TAP_MAY, from_ns, to_ns, &idle->cpus);
	join_times(a);
	ns = all_ns(a);
	contended = contended_ns(a, own);
	ret = ret
		      ?: find_all_idle(a, logs, t, task, cpu, TAP_MAY_NOT, from_ns, to_ns,
				       &idle->barred);
	join_times(a);
	idle->ns += ns;
	idle->barred_ns += all_ns(a) - ns;
	idle->contended_ns += contended;
	if (idle->barred_ns)
		idle->contended_barred_ns += contended_ns(a, own) - contended;
	return ret;
}
