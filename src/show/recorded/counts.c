// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/recorded/counts.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/latency.h"
#include "base/array.h"

#define WAITS                                                                                      \
	(TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_PREEMPTED) |                    \
	 TAP_STATE_BIT(TAP_STATE_THROTTLED))

int tap_counts_init(struct tap_counts *c)
{
	c->rows = calloc(c->slots->nr, sizeof(*c->rows));
	c->run_ns = calloc(c->slots->nr, sizeof(*c->run_ns));
	c->cpus = calloc(c->nr_llcs + 1, sizeof(*c->cpus));
	return c->rows && c->run_ns && c->cpus ? 0 : -ENOMEM;
}

void tap_counts_release(struct tap_counts *c)
{
	for (unsigned int i = 0; c->cpus && i < c->nr_llcs; i++)
		tap_cpu_past_release(&c->cpus[i].past);
	tap_map_release(&c->culprits);
	free(c->rows);
	free(c->run_ns);
	free(c->tasks);
	free(c->cpus);
}

/* ---- tasks, CPUs ---- */

/* Return: NULL when out of memory. */
static struct tap_counted_task *task_of(struct tap_counts *c, const struct tap_task *task)
{
	return tap_array_at(&c->tasks, &c->nr_tasks, task->index, sizeof(*c->tasks), NULL);
}

static uint32_t slot_of(const struct tap_counts *c, struct tap_counted_task *counted,
			const struct tap_task *task, uint64_t ns)
{
	if (!counted->what || ns < counted->what->from_ns || ns >= counted->until_ns)
		counted->what = tap_recorded_slots_find(c->slots, task->tid, ns, counted->what,
							&counted->until_ns);
	return counted->what ? counted->what->slot : TAP_TALLY_ROOT;
}

/* Return: NULL: the recording does not know the CPU. */
static struct tap_counted_cpu *cpu_of(const struct tap_counts *c, int cpu)
{
	return cpu >= 0 && (unsigned int)cpu < c->nr_llcs ? &c->cpus[cpu] : NULL;
}

/* ---- what CPUs ran ---- */

static void count_run(struct tap_counts *c, struct tap_counted_cpu *cpu,
		      struct tap_counted_task *task, uint32_t slot,
		      const struct tap_cpu_interval *s)
{
	const struct tap_window part = { c->from_ns, c->to_ns };
	const uint64_t ns = tap_window_part_ns(&part, s->from_ns, s->to_ns);

	c->run_ns[slot] += ns;
	cpu->sums.cpu_ns += ns;
	if (task)
		task->sums.run_ns += ns;
	else
		cpu->sums.idle_ns += ns;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_counts *c = ctx;
	struct tap_counted_cpu *cpu = cpu_of(c, s->cpu);
	struct tap_counted_task *task = NULL;
	uint32_t slot = TAP_TALLY_NO_SLOT;

	(void)t;
	if (!cpu)
		return 0;
	if (s->what == TAP_CPU_RUN) {
		task = task_of(c, s->task);
		if (!task)
			return -ENOMEM;
		slot = slot_of(c, task, s->task, s->from_ns);
	} else if (s->what == TAP_CPU_IDLE) {
		slot = TAP_TALLY_IDLE;
	}
	if (slot != TAP_TALLY_NO_SLOT)
		count_run(c, cpu, task, slot, s);
	return tap_cpu_past_add(&cpu->past, s->from_ns, s->to_ns, slot);
}

/* ---- what ran while a task waited ---- */

struct waiting {
	struct tap_counts *c;
	struct tap_tally_row *row;
	uint32_t slot;
};

static int add_part(void *ctx, uint32_t slot, uint64_t ns)
{
	const struct waiting *w = ctx;
	uint64_t *sum;

	if (slot == w->slot) {
		w->row->self_ns += ns;
	} else if (slot == TAP_TALLY_IDLE) {
		w->row->idle_ns += ns;
	} else if (slot == TAP_TALLY_KERNEL) {
		w->row->kernel_ns += ns;
	} else if (slot == TAP_TALLY_NO_SLOT) {
		w->row->elsewhere_ns += ns;
	} else {
		sum = tap_map_put(&w->c->culprits, (uint64_t)w->slot << 32 | slot);
		if (!sum)
			return -ENOMEM;
		*sum += ns;
	}
	return 0;
}

/*
 * Return since when a wait was for the CPU on which the task ran then. If moves are not recorded,
 * it is not known when a preempted task was moved: no part of the wait is known to be for that CPU.
 */
static uint64_t queued_here_ns(const struct tap_counts *c, const struct tap_counted_task *task,
			       const struct tap_interval *s, int cpu)
{
	if (!c->has_migrations && s->state == TAP_STATE_PREEMPTED && s->task->run_cpu != cpu)
		return s->to_ns;
	return task->moved_ns > s->from_ns ? task->moved_ns : s->from_ns;
}

/* ---- CPUs that were idle while a task waited ---- */

static int add_idle(void *sum, uint32_t slot, uint64_t ns)
{
	*(uint64_t *)sum += slot == TAP_TALLY_IDLE ? ns : 0;
	return 0;
}

static uint64_t idle_ns(const struct tap_cpu_past *past, const struct tap_cpu *now,
			const struct tap_interval *s)
{
	const bool is_idle = tap_cpu_what(now) == TAP_CPU_IDLE && now->since_ns < s->to_ns;
	uint64_t to_ns = s->to_ns, ns = 0;

	if (is_idle) {
		to_ns = now->since_ns > s->from_ns ? now->since_ns : s->from_ns;
		ns = s->to_ns - to_ns;
	}
	tap_cpu_past_split(past, s->from_ns, to_ns, add_idle, &ns);
	return ns;
}

/* Look for a CPU of the LLC that the task could have used instead of waiting for @home. */
static void count_idle(struct tap_counts *c, const struct tap_timeline *t,
		       const struct tap_interval *s, int home)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr);
	uint64_t longest_ns = 0;

	for (unsigned int i = 0; i < nr && i < c->nr_llcs; i++) {
		uint64_t ns;

		if ((int)i == home || c->llcs[i] != c->llcs[home] ||
		    tap_timeline_may_use(t, s->task, i) != TAP_MAY)
			continue;
		ns = idle_ns(&c->cpus[i].past, &cpus[i], s);
		if (ns > longest_ns)
			longest_ns = ns;
	}
	c->cpus[home].idle_while_waiting_ns += longest_ns;
}

/* ---- waits ---- */

static enum tap_tally_kind kind_of(enum tap_state state)
{
	return state == TAP_STATE_WAKING      ? TAP_TALLY_WAKING
	       : state == TAP_STATE_PREEMPTED ? TAP_TALLY_PREEMPTED
					      : TAP_TALLY_THROTTLED;
}

static void add_to_task(struct tap_counted_task *task, uint64_t ns)
{
	task->waits.buckets[tap_tally_task_bucket(tap_tally_bucket(ns))]++;
	if (ns > task->waits.max_wait_ns)
		task->waits.max_wait_ns = ns;
	task->sums.wait_ns += ns;
	task->sums.waits++;
}

static int split_wait(struct tap_counts *c, const struct tap_timeline *t,
		      const struct tap_counted_task *task, uint32_t slot,
		      const struct tap_interval *s)
{
	struct waiting w = { c, &c->rows[slot], slot };
	const struct tap_counted_cpu *cpu = cpu_of(c, s->next_cpu);
	uint64_t since_ns = s->to_ns;

	if (cpu)
		since_ns = queued_here_ns(c, task, s, s->next_cpu);
	w.row->elsewhere_ns += since_ns - s->from_ns;
	if (!cpu)
		return 0;
	if (since_ns == s->from_ns && s->to_ns - since_ns >= TAP_TALLY_LONG_WAIT_NS)
		count_idle(c, t, s, s->next_cpu);
	return tap_cpu_past_split(&cpu->past, since_ns, s->to_ns, add_part, &w);
}

static int add_wait(struct tap_counts *c, const struct tap_timeline *t,
		    struct tap_counted_task *task, uint32_t slot, const struct tap_interval *s)
{
	const enum tap_tally_kind kind = kind_of(s->state);
	struct tap_tally_row *row = &c->rows[slot];
	struct tap_counted_cpu *cpu =
		cpu_of(c, s->next == TAP_STATE_RUNNING ? s->next_cpu : s->cpu);
	const uint64_t ns = s->to_ns - s->from_ns;

	row->wait_ns[kind] += ns;
	row->buckets[kind][tap_tally_bucket(ns)]++;
	if (cpu && ns > cpu->sums.max_wait_ns[kind])
		cpu->sums.max_wait_ns[kind] = ns;
	add_to_task(task, ns);
	if (kind != TAP_TALLY_THROTTLED)
		return split_wait(c, t, task, slot, s);
	row->self_ns += ns;
	return 0;
}

/* Return false for a slice that continues after the part. */
static bool is_switched_in(const struct tap_interval *s)
{
	return s->next == TAP_STATE_RUNNING && s->state != TAP_STATE_RUNNING;
}

static void end_slice(struct tap_counted_task *task, const struct tap_interval *s)
{
	if (tap_state_is_sleep(s->next) || s->next == TAP_STATE_DEAD)
		task->sums.voluntary++;
	else if (s->next == TAP_STATE_PREEMPTED || s->next == TAP_STATE_THROTTLED)
		task->sums.involuntary++;
}

static enum tap_tally_scope scope_of(const struct tap_counts *c, int from, int to)
{
	return cpu_of(c, from) && cpu_of(c, to) && c->llcs[from] == c->llcs[to] ? TAP_TALLY_LLC
										: TAP_TALLY_SYSTEM;
}

static void count_migration(struct tap_counts *c, struct tap_counted_task *task, int from, int to)
{
	task->sums.migrations++;
	c->migrations[scope_of(c, from, to)]++;
}

/* Count a migration, if there are no events of migrations. */
static void note_change_of_cpu(struct tap_counts *c, struct tap_counted_task *task, int from,
			       int to)
{
	if (!c->has_migrations && from >= 0 && from != to)
		count_migration(c, task, from, to);
}

/* A task waits before it runs. Here its state was unknown, so its wait has ended unseen. */
static int end_unknown(struct tap_counts *c, const struct tap_timeline *t,
		       struct tap_counted_task *task, uint32_t slot, const struct tap_interval *s)
{
	const struct tap_slept_wait *slept = tap_starts_slept(c->starts, s->task->tid, s->to_ns);
	struct tap_interval wait = *s;

	if (!slept) {
		c->rows[slot].censored[TAP_TALLY_UNSEEN] +=
			!c->has_no_wakeups &&
			tap_starts_is_unknown(c->starts, s->task->tid, s->to_ns);
		return 0;
	}
	note_change_of_cpu(c, task, slept->run_cpu, s->next_cpu);
	wait.state = TAP_STATE_WAKING;
	wait.from_ns = slept->from_ns;
	return add_wait(c, t, task, slot, &wait);
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_counts *c = ctx;
	const struct tap_latency kind = { .state = s->state };
	struct tap_counted_task *task;
	uint32_t slot;

	if (s->to_ns < c->first_ns) /* for .early_tasks, which migrations need */
		return 0;
	task = task_of(c, s->task);
	if (!task)
		return -ENOMEM;
	if (is_switched_in(s))
		note_change_of_cpu(c, task, s->task->run_cpu, s->next_cpu);
	if (s->state == TAP_STATE_RUNNING) {
		end_slice(task, s);
		return 0;
	}
	slot = slot_of(c, task, s->task, s->to_ns);
	if ((TAP_STATE_BIT(s->state) & WAITS) && tap_latency_counts(&kind, s) &&
	    !tap_starts_is_unknown(c->starts, s->task->tid, s->to_ns))
		return add_wait(c, t, task, slot, s);
	return is_switched_in(s) && !s->unseen ? end_unknown(c, t, task, slot, s) : 0;
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	struct tap_counts *c = ctx;
	struct tap_counted_task *task = task_of(c, m->task);

	(void)t;
	if (!task)
		return -ENOMEM;
	/* a wakeup chooses the queue: before that the task was in none */
	if (tap_state_is_wait(m->task->state) && m->why != TAP_MIGRATE_WAKEUP)
		task->moved_ns = m->ts_ns;
	if (m->ts_ns >= c->first_ns)
		count_migration(c, task, m->from, m->to);
	return 0;
}

/* ---- the end ---- */

/* Keep the greatest culprits of a row by name; the others together. */
static void add_culprit(struct tap_tally_row *row, uint32_t slot, uint64_t ns)
{
	struct tap_tally_culprit *least = row->culprits;

	for (unsigned int i = 1; i < TAP_TALLY_CULPRITS; i++)
		if (row->culprits[i].ns < least->ns)
			least = &row->culprits[i];
	if (ns <= least->ns) {
		row->other_ns += ns;
		return;
	}
	row->other_ns += least->ns;
	*least = (struct tap_tally_culprit){ ns, slot };
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_counts *c = ctx;
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr);

	for (unsigned int i = 0; i < nr && i < c->nr_llcs; i++)
		c->cpus[i].sums.switches = cpus[i].switches;
	for (unsigned int i = 0; i < c->slots->nr; i++)
		c->rows[i].run_ns = c->run_ns[i];
	tap_map_for_each(&c->culprits, s)
		add_culprit(&c->rows[s->key >> 32], (uint32_t)s->key, s->value);
	return 0;
}

const struct tap_watcher_ops tap_counts_ops = {
	.states = TAP_STATE_BIT(TAP_STATE_RUNNING) | TAP_STATE_BIT(TAP_STATE_UNKNOWN) | WAITS,
	.early = true,
	.early_tasks = true,
	.interval = on_interval,
	.cpu = on_cpu,
	.migration = on_migration,
	.end = on_end,
};
