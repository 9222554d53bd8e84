// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/watchers.h"

#include <assert.h>

/* Return the bits of .pick for which the user selected something. */
static unsigned int effective_pick(const struct tap_watchers *all, const struct tap_watcher *w)
{
	return w->pick & ((all->selected.task ? TAP_PICK_TASKS : 0) |
			  (all->selected.cpu ? TAP_PICK_CPUS : 0));
}

static uint32_t wanted_states(const struct tap_watcher *w)
{
	return w->ops->states & (w->states ? w->states : TAP_STATE_ALL);
}

static void add_to_list(const struct tap_watchers *all, struct tap_watcher_list *list,
			const struct tap_watcher *w, bool wants)
{
	if (!wants)
		return;
	list->v[list->nr] = *w;
	list->v[list->nr++].pick = effective_pick(all, w);
}

/* Add a watcher to the list of a state. @list: the list's index in .lists. */
static void add_state(struct tap_watchers *all, const struct tap_interval_watcher **head,
		      unsigned int list, const struct tap_watcher *w)
{
	struct tap_interval_watcher *to = all->lists[list];

	*head = to;
	while (to->interval)
		to++;
	*to = (struct tap_interval_watcher){ w->ops->interval, w->ctx, effective_pick(all, w) };
}

static void add_watcher(struct tap_watchers *all, const struct tap_watcher *w)
{
	const struct tap_watcher_ops *ops = w->ops;
	const uint32_t states = wanted_states(w), lost = states | ops->lost_states;

	for (unsigned int i = 0; i < TAP_NR_STATES; i++) {
		if (ops->interval && (states & TAP_STATE_BIT(i)))
			add_state(all, &all->of_state[i], i, w);
		if (ops->interval && (lost & TAP_STATE_BIT(i)))
			add_state(all, &all->of_lost_state[i], TAP_NR_STATES + i, w);
	}
	add_to_list(all, &all->all, w, true);
	add_to_list(all, &all->of_cpus, w, ops->cpu && !ops->early && !ops->unknown_cpus_only);
	add_to_list(all, &all->of_unknown_cpus, w, ops->cpu && !ops->early);
	add_to_list(all, &all->of_early_cpus, w, ops->cpu && ops->early);
	add_to_list(all, &all->of_wakeups, w, ops->wakeup);
	add_to_list(all, &all->of_migrations, w, ops->migration);
	add_to_list(all, &all->of_waits, w, ops->waits);
	add_to_list(all, &all->of_early_intervals, w, ops->interval && ops->early_tasks);
	add_to_list(all, &all->of_moves, w, ops->migration && ops->moves);
	add_to_list(all, &all->of_early_migrations, w, ops->migration && ops->early_tasks);
}

void tap_watchers_init(struct tap_watchers *w, const struct tap_watcher *v, unsigned int nr,
		       const struct tap_selected *selected)
{
	assert(nr <= TAP_MAX_WATCHERS);
	*w = (struct tap_watchers){ .selected = *selected };
	for (unsigned int i = 0; i < nr; i++)
		add_watcher(w, &v[i]);
}

static bool has_task(unsigned int pick, const struct tap_task *task)
{
	return !(pick & TAP_PICK_TASKS) || task->selected;
}

static bool has_cpu(const struct tap_watchers *all, unsigned int pick, int cpu)
{
	return !(pick & TAP_PICK_CPUS) || all->selected.cpu(all->selected.ctx, cpu);
}

bool tap_watchers_pick_interval(const struct tap_watchers *all, unsigned int pick,
				const struct tap_interval *s)
{
	return has_task(pick, s->task) &&
	       has_cpu(all, pick, s->next == TAP_STATE_RUNNING ? s->next_cpu : s->cpu);
}

bool tap_watchers_pick_cpu(const struct tap_watchers *all, unsigned int pick, int cpu)
{
	return has_cpu(all, pick, cpu);
}

bool tap_watchers_pick_wakeup(const struct tap_watchers *all, unsigned int pick,
			      const struct tap_wakeup *w)
{
	return has_task(pick, w->task) && has_cpu(all, pick, w->cpu);
}

int tap_watchers_early_interval(const struct tap_watchers *all, const struct tap_timeline *t,
				const struct tap_interval *s)
{
	const struct tap_watcher_list *to = &all->of_early_intervals;
	int ret = 0;

	for (const struct tap_watcher *w = to->v; !ret && w < to->v + to->nr; w++) {
		uint32_t states =
			wanted_states(w) | (s->next == TAP_STATE_UNKNOWN ? w->ops->lost_states : 0);

		if ((states & TAP_STATE_BIT(s->state)) &&
		    tap_watchers_pick_interval(all, w->pick, s))
			ret = w->ops->interval(w->ctx, t, s);
	}
	return ret;
}

static int report_migration(const struct tap_watchers *all, const struct tap_watcher_list *to,
			    const struct tap_timeline *t, const struct tap_migration *m)
{
	int ret = 0;

	for (const struct tap_watcher *w = to->v; !ret && w < to->v + to->nr; w++)
		if (!w->pick || (has_task(w->pick, m->task) &&
				 (has_cpu(all, w->pick, m->from) || has_cpu(all, w->pick, m->to))))
			ret = w->ops->migration(w->ctx, t, m);
	return ret;
}

int tap_watchers_migration(const struct tap_watchers *all, const struct tap_timeline *t,
			   const struct tap_migration *m)
{
	return report_migration(all, &all->of_migrations, t, m);
}

int tap_watchers_move(const struct tap_watchers *all, const struct tap_timeline *t,
		      const struct tap_migration *m)
{
	return report_migration(all, &all->of_moves, t, m);
}

int tap_watchers_early_migration(const struct tap_watchers *all, const struct tap_timeline *t,
				 const struct tap_migration *m)
{
	return report_migration(all, &all->of_early_migrations, t, m);
}

int tap_watchers_waits(const struct tap_watchers *all, const struct tap_timeline *t,
		       struct tap_task *task, uint64_t ts_ns)
{
	const struct tap_watcher_list *to = &all->of_waits;
	int ret = 0;

	for (const struct tap_watcher *w = to->v; !ret && w < to->v + to->nr; w++)
		if (has_task(w->pick, task))
			ret = w->ops->waits(w->ctx, t, task, ts_ns);
	return ret;
}

int tap_watchers_end(const struct tap_watchers *all, const struct tap_timeline *t)
{
	const struct tap_watcher_list *to = &all->all;
	int ret = 0;

	for (const struct tap_watcher *w = to->v; !ret && w < to->v + to->nr; w++)
		if (w->ops->end)
			ret = w->ops->end(w->ctx, t);
	return ret;
}
