// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/avoidable.h"

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
	struct tap_cpus *used = tap_array_at(&a->used, &a->nr_used, task->index, sizeof(*used), NULL);

	if (!used)
		return -ENOMEM;
	return cpu < 0 || tap_cpus_has(used, (unsigned int)cpu) ? 0 : tap_cpus_add(used, (unsigned int)cpu);
}

int tap_avoidable_moved(struct tap_avoidable *a, const struct tap_migration *m)
{
	if (m->why == TAP_MIGRATE_OTHER && m->task->index < a->nr_used)
		tap_cpus_release(&a->used[m->task->index]);
	return tap_avoidable_ran(a, m->task, m->to);
}

enum tap_may tap_avoidable_may(const struct tap_avoidable *a, const struct tap_timeline *t, const struct tap_task *task, int cpu)
{
	enum tap_may may = tap_timeline_may_use(t, task, (unsigned int)cpu);

	if (may != TAP_MAY_UNKNOWN)
		return may;
	return task->index < a->nr_used && tap_cpus_has(&a->used[task->index], (unsigned int)cpu) ? TAP_MAY : TAP_MAY_UNKNOWN;
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

/* At several CPUs at once is no more than at one. */
static uint64_t union_ns(struct tap_idle_time *times, unsigned int nr)
{
	uint64_t ns = 0, until_ns = 0;

	if (nr > 1)
		qsort(times, nr, sizeof(*times), by_start);
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t from_ns = times[i].from_ns > until_ns ? times[i].from_ns : until_ns;

		if (times[i].to_ns <= from_ns)
			continue;
		ns += times[i].to_ns - from_ns;
		until_ns = times[i].to_ns;
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

/* Of all CPUs that it may use, or may not: those too that were idle. */
static int find_all_idle(struct tap_avoidable *a, const struct tap_cpu_logs *logs, const struct tap_timeline *t, const struct tap_task *task,
			 int cpu, enum tap_may may, uint64_t from_ns, uint64_t to_ns, struct tap_cpus *idle)
{
	unsigned int nr_cpus;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr_cpus);
	int ret = 0;

	for (unsigned int other = 0; other < nr_cpus && !ret; other++) {
		struct tap_cpu_parts parts;
		bool any = false;

		if (!tap_cpu_log_has_idle(logs, (int)other) && tap_cpu_what(&cpus[other]) != TAP_CPU_IDLE)
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

int tap_avoidable_add(struct tap_avoidable *a, const struct tap_cpu_logs *logs, const struct tap_timeline *t, const struct tap_task *task,
		      int cpu, uint64_t from_ns, uint64_t to_ns, struct tap_avoidable_idle *idle)
{
	uint64_t ns;
	int ret;

	a->nr_times = 0;
	ret = find_all_idle(a, logs, t, task, cpu, TAP_MAY, from_ns, to_ns, &idle->cpus);
	ns = union_ns(a->times, a->nr_times);
	ret = ret ?: find_all_idle(a, logs, t, task, cpu, TAP_MAY_NOT, from_ns, to_ns, &idle->barred);
	idle->ns += ns;
	idle->barred_ns += union_ns(a->times, a->nr_times) - ns;
	return ret;
}
