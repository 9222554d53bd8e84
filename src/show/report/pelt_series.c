// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap pelt: select series by -s, and show them. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "show/out/pelt.h"
#include "show/report/pelt.h"

const char *tap_pelt_report_second(const char *word)
{
	const char *comma = strchr(word, ',');

	return comma ? comma + 1 : NULL;
}

static bool is_first(const char *word, const char *signal)
{
	size_t len = strlen(signal);

	return !strncmp(word, signal, len) && word[len] == ',';
}

static bool names_signal(const char *word, const char *signal)
{
	const char *second = tap_pelt_report_second(word);

	return second ? is_first(word, signal) || !strcmp(second, signal)
		      : !fnmatch(word, signal, 0);
}

bool tap_pelt_report_names(const struct tap_pelt_report_opts *o, const char *signal,
			   bool by_default)
{
	bool yes = !o->signals.nr && by_default;

	for (unsigned int i = 0; i < o->signals.nr; i++)
		yes |= names_signal(o->signals.v[i], signal);
	return yes;
}

bool tap_pelt_report_wants_cgroup(const struct tap_pelt_report *p, uint64_t cgroup)
{
	return tap_pick_task(&p->report.run.pick, &p->report.run.rec.ids.cgroups,
			     &(const struct tap_task){ .cgroup = cgroup });
}

struct tap_out_pelt tap_pelt_report_about(struct tap_pelt_report *p,
					  const struct tap_pelt_series *s)
{
	struct tap_identities *ids = &p->report.run.rec.ids;
	struct tap_out_pelt o = { .series = s, .tgid = -1 };

	if (s->subject == TAP_PELT_CGROUP)
		o.path = tap_cgroups_path(&ids->cgroups, s->cgroup);
	/*
	 * tap_identity() also knows tasks without a sched_switch event, from the recording's task
	 * list.
	 */
	if (s->subject == TAP_PELT_TASK)
		o.tgid = tap_task_tgid(tap_identity(ids, s->tid));
	return o;
}

static struct tap_out_pelt shown_series(struct tap_pelt_report *p, const struct tap_pelt_series *s)
{
	struct tap_out_pelt o = tap_pelt_report_about(p, s);
	const struct tap_task *task = NULL;

	if (s->subject == TAP_PELT_TASK)
		task = tap_timeline_task(p->report.run.timeline, s->tid);
	if (task && task->born_ns <= s->at_ns) /* else its tid has been reused */
		o.label = tap_run_label(&p->report.run, task, &o.label_len);
	return o;
}

/* Return true if both series belong to the same CPU, task or cgroup. */
static bool is_partner(const struct tap_pelt_series *a, const struct tap_pelt_series *b)
{
	return a->subject == b->subject && a->cpu == b->cpu && a->tid == b->tid &&
	       a->life == b->life &&
	       /* a task's cgroup may change */
	       (a->subject != TAP_PELT_CGROUP || a->cgroup == b->cgroup);
}

/*
 * Return the series to draw in the strip of @s, if @word names two signals; NULL if it was not
 * recorded.
 */
static const struct tap_pelt_series *find_partner(const struct tap_pelt_series *s, const char *word,
						  struct tap_pelt_series *const *all,
						  unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (all[i]->signal != s->signal && names_signal(word, all[i]->signal->name) &&
		    is_partner(all[i], s))
			return all[i];
	return NULL;
}

/*
 * Add the strips whose first signal is that of @s: one for each pair in -s, and a single strip if
 * @s is also selected on its own or its partner is missing. Return: the number of strips.
 */
static unsigned int add_strips(struct tap_pelt_report *p, struct tap_out_pelt *to,
			       struct tap_pelt_series *s, struct tap_pelt_series *const *all,
			       unsigned int nr)
{
	const struct tap_strings *words = &p->opts->signals;
	bool alone = !words->nr;
	unsigned int n = 0;

	for (unsigned int i = 0; i < words->nr; i++) {
		const struct tap_pelt_series *other = NULL;

		if (!names_signal(words->v[i], s->signal->name))
			continue;
		if (tap_pelt_report_second(words->v[i]))
			other = find_partner(s, words->v[i], all, nr);
		alone |= !other;
		if (!other || !is_first(words->v[i], s->signal->name))
			continue;
		to[n] = shown_series(p, s);
		to[n++].line = other;
	}
	if (alone)
		to[n++] = shown_series(p, s);
	return n;
}

void tap_pelt_report_put(struct tap_pelt_report *p, struct tap_page *page,
			 struct tap_pelt_series *const *all, unsigned int nr)
{
	uint64_t window_ns = tap_window_ns(&p->report.run.window);
	struct tap_out_pelt *series =
		calloc((size_t)nr * (p->opts->signals.nr + 1) + 1, sizeof(*series));
	bool plots = !p->opts->table && !tap_page_is_for(page, TAP_FOR_PROGRAMS);
	unsigned int nr_shown = 0;

	if (!series) {
		page->buf.err = -ENOMEM;
		return;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (plots && !p->opts->what_if)
			nr_shown += add_strips(p, series + nr_shown, all[i], all, nr);
		else
			series[nr_shown++] = shown_series(p, all[i]);
	}
	if (plots)
		tap_out_pelt_plot(&page->buf, &p->plot, series, nr_shown);
	else
		tap_out_pelt_figures(page, series, nr_shown, window_ns, p->opts->points);
	if (p->opts->table)
		tap_out_pelt_bands(page, series, nr_shown);
	free(series);
}
