// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "explain/avoidable.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void tap_avoidable_release(struct tap_avoidable *a)
{
	for (unsigned int i = 0; i < a->nr_allowed; i++)
		tap_cpus_release(&a->allowed[i]);
	free(a->allowed);
	free(a->times);
}

int tap_avoidable_ran(struct tap_avoidable *a, const struct tap_task *task, int cpu)
{
	struct tap_cpus *allowed = tap_array_at(&a->allowed, &a->nr_allowed, task->index, sizeof(*allowed), NULL);

	if (!allowed)
		return -ENOMEM;
	return cpu < 0 || tap_cpus_has(allowed, (unsigned int)cpu) ? 0 : tap_cpus_add(allowed, (unsigned int)cpu);
}

int tap_avoidable_moved(struct tap_avoidable *a, const struct tap_migration *m)
{
	if (m->why == TAP_MIGRATE_OTHER && m->task->index < a->nr_allowed)
		tap_cpus_release(&a->allowed[m->task->index]);
	return tap_avoidable_ran(a, m->task, m->to);
}

bool tap_avoidable_allows(const struct tap_avoidable *a, const struct tap_task *task, int cpu)
{
	return task->index < a->nr_allowed && tap_cpus_has(&a->allowed[task->index], (unsigned int)cpu);
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

int tap_avoidable_add(struct tap_avoidable *a, const struct tap_cpu_logs *logs, const struct tap_cpu *cpus,
		      unsigned int nr_cpus, const struct tap_task *task, int cpu, uint64_t from_ns, uint64_t to_ns, uint64_t *ns,
		      struct tap_cpus *idle)
{
	const struct tap_cpus *allowed = task->index < a->nr_allowed ? &a->allowed[task->index] : NULL;
	int ret = 0;

	a->nr_times = 0;
	for (unsigned int other = 0; allowed && other < nr_cpus && !ret; other++) {
		struct tap_cpu_parts parts;
		bool any = false;

		if ((int)other == cpu || !tap_cpus_has(allowed, other))
			continue;
		tap_cpu_log_read(logs, (int)other, from_ns, to_ns, &cpus[other], &parts);
		ret = find_idle(a, &parts, &any);
		if (any)
			ret = ret ?: tap_cpus_add(idle, other);
	}
	*ns += union_ns(a->times, a->nr_times);
	return ret;
}
