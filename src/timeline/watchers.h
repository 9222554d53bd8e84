/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A timeline's watchers (schedtap/watcher.h), sorted by what each wants to know, and the calls to them. */
#ifndef TAP_TIMELINE_WATCHERS_H
#define TAP_TIMELINE_WATCHERS_H

#include "timeline/timeline.h"

struct tap_watcher_list {
	const struct tap_watcher *v[TAP_MAX_WATCHERS];
	unsigned int nr;
};

struct tap_watchers {
	struct tap_watcher_list all;
	struct tap_watcher_list of_state[TAP_NR_STATES], of_lost_state[TAP_NR_STATES];
	struct tap_watcher_list of_cpus, of_unknown_cpus, of_wakeups, of_migrations, of_waits;
	struct tap_selected selected;
};

/* @v: @nr watchers, at most TAP_MAX_WATCHERS; must outlive @w. */
void tap_watchers_init(struct tap_watchers *w, const struct tap_watcher *v, unsigned int nr, const struct tap_selected *selected);

/* Whether the selection leaves the watcher this call. */
bool tap_watcher_has_interval(const struct tap_watchers *all, const struct tap_watcher *w, const struct tap_interval *s);
bool tap_watcher_has_cpu(const struct tap_watchers *all, const struct tap_watcher *w, int cpu);

/* For intervals, which are most calls. @to: of_state or of_lost_state. Return: 0; what a watcher returned. */
static inline int tap_watchers_interval(const struct tap_watchers *all, const struct tap_watcher_list *to, const struct tap_timeline *t,
					const struct tap_interval *s)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < to->nr; i++) {
		const struct tap_watcher *w = to->v[i];

		if (!w->pick || tap_watcher_has_interval(all, w, s))
			ret = w->ops->interval(w->ctx, t, s);
	}
	return ret;
}

/* @to: of_cpus or of_unknown_cpus. Return: 0; what a watcher returned: here and below. */
int tap_watchers_cpu(const struct tap_watchers *all, const struct tap_watcher_list *to, const struct tap_timeline *t,
		     const struct tap_cpu_interval *s);
int tap_watchers_wakeup(const struct tap_watchers *all, const struct tap_timeline *t, const struct tap_wakeup *w);
int tap_watchers_migration(const struct tap_watchers *all, const struct tap_timeline *t, const struct tap_migration *m);
int tap_watchers_waits(const struct tap_watchers *all, const struct tap_timeline *t, struct tap_task *task, uint64_t ts_ns);
int tap_watchers_end(const struct tap_watchers *all, const struct tap_timeline *t);

#endif
