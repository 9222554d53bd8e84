// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/explain/placement.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

const char *tap_placed_name(enum tap_placed_why why)
{
	static const char *const names[TAP_NR_PLACED_WHY] = {
		[TAP_PLACED_UNKNOWN] = "unknown",
		[TAP_PLACED_ENERGY] = "energy",
		[TAP_PLACED_PREVIOUS_IDLE] = "previous_idle",
		[TAP_PLACED_IDLE] = "idle",
		[TAP_PLACED_WAKER] = "waker",
		[TAP_PLACED_PREVIOUS] = "previous",
		[TAP_PLACED_NO_REASON] = "no_reason",
	};

	return names[why];
}

void tap_placements_init(struct tap_placements *p, const struct tap_placements_opts *opts)
{
	*p = (struct tap_placements){ .opts = *opts };
}

void tap_placements_release(struct tap_placements *p)
{
	tap_avoidable_release(&p->allowed);
	free(p->idle_states);
	free(p->now);
}

static enum tap_cpu_what what_of(const struct tap_placements *p, int cpu)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(p->timeline, &nr);

	return cpu >= 0 && (unsigned int)cpu < nr ? tap_cpu_what(&cpus[cpu]) : TAP_CPU_UNKNOWN;
}

/* Return the state of cpu_idle that an idle CPU is in; -1: none, or unknown. */
static int idle_state_of(const struct tap_placements *p, int cpu)
{
	if (what_of(p, cpu) != TAP_CPU_IDLE || (unsigned int)cpu >= p->nr_idle_states)
		return -1;
	return (int)p->idle_states[cpu] - 1;
}

int tap_placements_idle(struct tap_placements *p, int cpu, int state)
{
	unsigned int *place = tap_array_at(&p->idle_states, &p->nr_idle_states, (unsigned int)cpu,
					   sizeof(*place), NULL);

	if (!place)
		return -ENOMEM;
	*place = state < 0 ? 0 : (unsigned int)state + 1;
	return 0;
}

/* Return the number of idle CPUs, other than @but, that the task may use. */
static unsigned int nr_idle(const struct tap_placements *p, const struct tap_task *task, int but)
{
	unsigned int nr, idle = 0;
	const struct tap_cpu *cpus = tap_timeline_cpus(p->timeline, &nr);

	for (unsigned int cpu = 0; cpu < nr; cpu++)
		idle += (int)cpu != but && tap_cpu_what(&cpus[cpu]) == TAP_CPU_IDLE &&
			tap_avoidable_may(&p->allowed, p->timeline, task, (int)cpu) == TAP_MAY;
	return idle;
}

/* Return: NULL when out of memory. */
static struct tap_placed *now_get(struct tap_placements *p, const struct tap_task *task)
{
	return tap_array_at(&p->now, &p->nr_now, task->index, sizeof(*p->now), NULL);
}

/* Begin a placement: migrations and energies from now until the task runs belong to it. */
static int on_wakeup(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *w)
{
	struct tap_placements *p = ctx;
	struct tap_placed *now;

	p->timeline = t;
	if (!w->task->selected)
		return 0;
	now = now_get(p, w->task);
	if (!now)
		return -ENOMEM;
	*now = (struct tap_placed){
		.task = w->task,
		.waker = w->waker,
		.ts_ns = w->ts_ns,
		.waker_cpu = w->cpu,
		.previous = w->target_cpu,
		.chosen = w->target_cpu,
		.previous_what = what_of(p, w->target_cpu),
		.chosen_what = what_of(p, w->target_cpu),
		.previous_idle_state = idle_state_of(p, w->target_cpu),
		.chosen_idle_state = idle_state_of(p, w->target_cpu),
		.nr_idle = nr_idle(p, w->task, w->target_cpu),
	};
	return 0;
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	struct tap_placements *p = ctx;
	struct tap_placed *now = m->task->index < p->nr_now ? &p->now[m->task->index] : NULL;

	p->timeline = t;
	if (now && now->task && m->why == TAP_MIGRATE_WAKEUP) {
		now->chosen = m->to;
		now->chosen_what = what_of(p, m->to);
		now->chosen_idle_state = idle_state_of(p, m->to);
	}
	return tap_avoidable_moved(&p->allowed, m);
}

void tap_placements_energy(struct tap_placements *p, const struct tap_task *task, int cpu,
			   uint64_t energy)
{
	struct tap_placed *now = task->index < p->nr_now ? &p->now[task->index] : NULL;

	if (!now || !now->task)
		return;
	if (cpu < 0) {
		now->base_energy = energy;
	} else if (now->nr_energies < TAP_PLACED_ENERGIES) {
		now->energies[now->nr_energies].cpu = cpu;
		now->energies[now->nr_energies++].energy = (int64_t)(energy - now->base_energy);
	}
}

static bool is_least(const struct tap_placed *p)
{
	const int64_t *chosen = NULL;

	for (unsigned int i = 0; i < p->nr_energies; i++)
		if (p->energies[i].cpu == p->chosen)
			chosen = &p->energies[i].energy;
	for (unsigned int i = 0; chosen && i < p->nr_energies; i++)
		if (p->energies[i].energy < *chosen)
			return false;
	return chosen;
}

static enum tap_placed_why find_reason(const struct tap_placed *p)
{
	bool is_previous = p->chosen == p->previous, chosen_idle = p->chosen_what == TAP_CPU_IDLE;

	if (is_least(p))
		return TAP_PLACED_ENERGY;
	if (p->chosen_what == TAP_CPU_UNKNOWN || p->previous_what == TAP_CPU_UNKNOWN)
		return TAP_PLACED_UNKNOWN;
	if (chosen_idle && is_previous)
		return TAP_PLACED_PREVIOUS_IDLE;
	if (chosen_idle && p->previous_what != TAP_CPU_IDLE)
		return TAP_PLACED_IDLE;
	if (!chosen_idle && p->previous_what != TAP_CPU_IDLE && !is_previous &&
	    p->chosen == p->waker_cpu)
		return TAP_PLACED_WAKER;
	if (is_previous && !p->nr_idle)
		return TAP_PLACED_PREVIOUS;
	return TAP_PLACED_NO_REASON;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_placements *p = ctx;
	struct tap_placed *now = s->task->index < p->nr_now ? &p->now[s->task->index] : NULL;
	struct tap_placed over;

	p->timeline = t;
	if (s->state == TAP_STATE_RUNNING)
		return tap_avoidable_ran(&p->allowed, s->task, s->cpu);
	if (!now || !now->task)
		return 0;
	over = *now;
	now->task = NULL;
	if (!s->whole || s->next != TAP_STATE_RUNNING)
		return 0;
	over.why = find_reason(&over);
	over.wait_ns = s->to_ns - over.ts_ns;
	return p->opts.tell(p->opts.ctx, &over);
}

const struct tap_watcher_ops tap_placements_ops = {
	.states = TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_RUNNING),
	.interval = on_interval,
	.wakeup = on_wakeup,
	.migration = on_migration,
};
