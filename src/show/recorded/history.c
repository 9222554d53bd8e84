// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/recorded/history.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/latency.h"
#include "base/array.h"
#include "timeline/run/meta_rows.h"

#define WAITS                                                                                      \
	(TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_PREEMPTED) |                    \
	 TAP_STATE_BIT(TAP_STATE_THROTTLED))

void tap_history_release(struct tap_history *h)
{
	tap_recorded_slots_release(&h->slots);
	tap_starts_release(&h->starts);
	free(h->lives);
	free(h->cpu_is_known);
	free(h->llcs);
	free(h->ran_ns);
	*h = (struct tap_history){ 0 };
}

/* ---- while the recording is read ---- */

/*
 * Note when a task began to run. Without wakeups, its next wait after a sleep is known only if the
 * timeline saw that.
 */
static int note_run(struct tap_history *h, const struct tap_interval *s)
{
	uint64_t *ran_ns =
		tap_array_at(&h->ran_ns, &h->nr_ran_ns, s->task->index, sizeof(*ran_ns), NULL);

	if (!ran_ns)
		return -ENOMEM;
	*ran_ns = s->from_ns;
	return 0;
}

/* Return since when the timeline must have seen the task to know the wait; 0: since its begin. */
static uint64_t needed_ns(const struct tap_history *h, const struct tap_interval *s)
{
	return s->state == TAP_STATE_WAKING && s->task->index < h->nr_ran_ns
		       ? h->ran_ns[s->task->index]
		       : 0;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_history *h = ctx;
	const struct tap_latency kind = { .state = s->state };
	int ret = tap_recorded_slots_note(&h->slots, t, s->task, s->to_ns);

	if (!ret && (TAP_STATE_BIT(s->state) & WAITS) && tap_latency_counts(&kind, s))
		ret = tap_starts_wait(&h->starts, s, needed_ns(h, s));
	else if (!ret && s->next == TAP_STATE_RUNNING && s->state == TAP_STATE_UNKNOWN)
		ret = tap_starts_unknown(&h->starts, s);
	if (!ret && s->state == TAP_STATE_RUNNING && h->has_queueings)
		ret = note_run(h, s);
	return ret;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_history *h = ctx;

	(void)t;
	return tap_starts_cpu(&h->starts, s);
}

static const struct tap_watcher_ops history_ops = {
	.states = TAP_STATE_BIT(TAP_STATE_RUNNING) | TAP_STATE_BIT(TAP_STATE_UNKNOWN) | WAITS,
	.interval = on_interval,
	.cpu = on_cpu,
};

/* ---- after that ---- */

static int copy_lives(struct tap_history *h, const struct tap_run *run)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(run->timeline, &nr);

	h->lives = calloc(nr + 1, sizeof(*h->lives));
	if (!h->lives)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++)
		h->lives[h->nr_lives++] =
			(struct tap_recorded_life){ tasks[i]->born_ns, tasks[i]->died_ns };
	tap_map_for_each(&run->rec.ids.lists.by_tid, s)
		h->nr_listed += !tap_timeline_task(run->timeline, (int)s->key);
	return 0;
}

/* Find the package of each CPU; -1: not known. */
static void read_packages(const struct tap_run *run, int *packages, unsigned int nr)
{
	const json_t *row, *cpu, *package;
	size_t i;

	for (i = 0; i < nr; i++)
		packages[i] = -1;
	json_array_foreach(json_object_get(run->rec.meta, "cpus"), i, row) {
		cpu = json_object_get(row, "cpu");
		package = json_object_get(row, "package");
		if (json_is_integer(cpu) && json_integer_value(cpu) >= 0 &&
		    json_integer_value(cpu) < nr && json_is_integer(package) &&
		    json_integer_value(package) >= 0 && json_integer_value(package) <= INT32_MAX)
			packages[json_integer_value(cpu)] = (int)json_integer_value(package);
	}
}

static int copy_cpus(struct tap_history *h, const struct tap_run *run)
{
	const struct tap_cpu *cpus = tap_timeline_cpus(run->timeline, &h->nr_cpus);
	int *packages = calloc(h->nr_cpus + 1, sizeof(*packages));
	struct tap_map first = { 0 };
	int ret = 0;

	h->cpu_is_known = calloc(h->nr_cpus + 1, sizeof(*h->cpu_is_known));
	h->llcs = calloc(h->nr_cpus + 1, sizeof(*h->llcs));
	if (!packages || !h->cpu_is_known || !h->llcs)
		ret = -ENOMEM;
	else
		read_packages(run, packages, h->nr_cpus);
	for (unsigned int i = 0; !ret && i < h->nr_cpus; i++) {
		uint64_t *plus_one = tap_map_put(&first, (uint64_t)packages[i]);

		h->cpu_is_known[i] = cpus[i].seen;
		ret = plus_one ? 0 : -ENOMEM;
		if (!ret && !*plus_one)
			*plus_one = i + 1;
		h->llcs[i] = ret ? 0 : (unsigned int)*plus_one - 1;
	}
	tap_map_release(&first);
	free(packages);
	return ret;
}

int tap_history_read(struct tap_history *h, struct tap_run *run, struct tap_err *err)
{
	const struct tap_watcher watcher = { .ops = &history_ops, .ctx = h };
	int ret;

	*h = (struct tap_history){ .has_queueings = tap_survey_has_queueings(&run->survey) };
	if (tap_recorded_slots_init(&h->slots))
		return tap_err_nomem(err);
	ret = tap_run_watch(run, &watcher, 1, err);
	if (ret)
		return ret;
	return copy_lives(h, run) || copy_cpus(h, run) ? tap_err_nomem(err) : 0;
}
