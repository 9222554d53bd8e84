// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/metric/measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

static const enum tap_state states[TAP_NR_MEASURED] = {
	[TAP_MEASURED_WAKING] = TAP_STATE_WAKING,
	[TAP_MEASURED_PREEMPTED] = TAP_STATE_PREEMPTED,
	[TAP_MEASURED_THROTTLED] = TAP_STATE_THROTTLED,
};

/* ---- watching ---- */

/*
 * Without migration events, the balance analysis would count a CPU that a task has left as free for
 * that task, so balance is not measured.
 */
static bool has_balance(const struct tap_measure *m)
{
	return m->opts.has_migrations && !m->opts.by_task;
}

static int add_to_block(struct tap_measure *m, unsigned int wait, const struct tap_interval *s)
{
	const struct tap_window *w = &m->opts.window;
	uint64_t at_ns = tap_window_clip(w, s->to_ns) - w->from_ns, all_ns = tap_window_ns(w);
	unsigned int block =
		all_ns ? (unsigned int)((unsigned __int128)at_ns * m->nr_blocks / all_ns) : 0;

	if (block >= m->nr_blocks)
		block = m->nr_blocks - 1;
	return tap_hist_add(&m->blocks[wait][block], s->to_ns - s->from_ns);
}

static void note_longest(const struct tap_measure *m, uint64_t from_ns, uint64_t to_ns,
			 uint64_t *longest_ns)
{
	uint64_t ns =
		tap_window_clip(&m->opts.window, to_ns) - tap_window_clip(&m->opts.window, from_ns);

	if (ns > *longest_ns)
		*longest_ns = ns;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_measure *m = ctx;
	int ret = m->opts.has_bounds ? tap_hidden_interval(&m->hidden, t, s) : 0;

	for (unsigned int i = 0; !ret && i < TAP_NR_MEASURED; i++) {
		if (s->state != states[i])
			continue;
		ret = tap_latency_ops.interval(&m->waits[i], t, s);
		if (!ret && m->nr_blocks && tap_latency_counts(&m->waits[i], s))
			ret = add_to_block(m, i, s);
		if (m->opts.has_bounds && !tap_latency_counts(&m->waits[i], s))
			note_longest(m, s->from_ns, s->to_ns, &m->cut_ns[i]);
	}
	return ret;
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct tap_measure *m = ctx;

	(void)t;
	tap_hidden_cpu(&m->hidden, s);
	return 0;
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_measure *m = ctx;
	int ret = 0;

	m->timeline = t;
	tap_hidden_end(&m->hidden);
	for (unsigned int i = 0; !ret && i < TAP_NR_MEASURED; i++)
		ret = tap_latency_ops.end(&m->waits[i], t);
	return ret;
}

/* Each state has its own kind of wait. */
static const struct tap_watcher_ops waits_ops = {
	.states = TAP_STATE_ALL,
	.lost_states = TAP_STATE_ALL,
	.unknown_cpus_only = true,
	.interval = on_interval,
	.cpu = on_cpu,
	.end = on_end,
};

unsigned int tap_measure_add_watchers(struct tap_measure *m, struct tap_watcher *v)
{
	unsigned int nr = 0;

	v[nr++] = (struct tap_watcher){ .ops = &waits_ops, .ctx = m, .pick = TAP_PICK_TASKS };
	v[nr++] = (struct tap_watcher){ .ops = &tap_migrations_ops,
					.ctx = &m->migrations,
					.pick = TAP_PICK_TASKS };
	if (m->opts.by_task)
		return nr;
	v[nr++] = (struct tap_watcher){ .ops = &tap_explain_waits_ops,
					.ctx = &m->explain_waits,
					.states = TAP_EXPLAIN_STATES };
	v[nr++] = (struct tap_watcher){ .ops = &tap_pelt_of_cpus_ops, .ctx = m->signals };
	v[nr++] = (struct tap_watcher){ .ops = &tap_util_est_ops, .ctx = &m->util_est };
	v[nr++] = (struct tap_watcher){ .ops = &tap_frequency_ops, .ctx = &m->frequency };
	if (m->has_resched)
		v[nr++] = (struct tap_watcher){ .ops = &tap_resched_ops, .ctx = &m->resched };
	if (m->has_paths)
		nr += tap_paths_add_watchers(&m->paths, v + nr);
	if (m->opts.has_deadlines)
		v[nr++] = (struct tap_watcher){ .ops = &tap_deadlines_ops, .ctx = &m->deadlines };
	if (m->has_picks)
		v[nr++] = (struct tap_watcher){ .ops = &tap_eevdf_ops, .ctx = &m->eevdf };
	if (has_balance(m))
		v[nr++] = (struct tap_watcher){ .ops = &tap_balance_ops, .ctx = &m->balance };
	return nr;
}

static bool wants_signal(void *ctx, const struct tap_pelt_signal *s)
{
	(void)ctx;
	return s->subject == TAP_PELT_CPU && !strcmp(s->name, "util");
}

static int on_explained(void *ctx, const struct tap_wait_told *w)
{
	struct tap_measure *m = ctx;

	return w->task->selected ? tap_explain_wait(&m->explained, &m->explain_waits, w) : 0;
}

static bool wants_task(void *measure, const struct tap_task *task)
{
	(void)measure;
	return task->selected;
}

static bool wants_pick(void *measure, const struct tap_task *task, int cpu)
{
	(void)measure;
	(void)cpu;
	return task->selected;
}

/* ---- init and release ---- */

static int init_blocks(struct tap_measure *m)
{
	const struct tap_hist empty = TAP_HIST_INIT;
	uint64_t nr = tap_window_ns(&m->opts.window) / TAP_MEASURE_BLOCK_NS;

	m->nr_blocks = nr < 1			     ? 1
		       : nr > TAP_MEASURE_MAX_BLOCKS ? TAP_MEASURE_MAX_BLOCKS
						     : (unsigned int)nr;
	for (unsigned int i = 0; i < TAP_NR_MEASURED; i++) {
		m->blocks[i] = calloc(m->nr_blocks, sizeof(empty));
		if (!m->blocks[i])
			return -ENOMEM;
		for (unsigned int k = 0; k < m->nr_blocks; k++)
			m->blocks[i][k] = empty;
	}
	return 0;
}

int tap_measure_init(struct tap_measure *m, const struct tap_measure_opts *opts)
{
	int ret = 0;

	*m = (struct tap_measure){ .opts = *opts };
	tap_explain_waits_init(&m->explain_waits, &(const struct tap_explain_waits_opts){
							  .tell = on_explained, .ctx = m });
	m->any_throttling = tap_survey_has_event(opts->survey, "sched_throttle") ||
			    tap_survey_has_event(opts->survey, "sched_throttle_wakeup") ||
			    tap_survey_has_event(opts->survey, "sched_unthrottle");
	m->has_resched =
		opts->all_tasks && (tap_survey_has_event(opts->survey, "sched_set_need_resched") ||
				    tap_survey_has_event(opts->survey, "cpu_idle"));
	tap_resched_init(&m->resched, &(const struct tap_resched_opts){ .survey = opts->survey });
	tap_util_est_init(&m->util_est, &(const struct tap_util_est_opts){
						.timeline = opts->timeline,
						.survey = opts->survey,
						.want = wants_task,
						.ctx = m,
					});
	m->frequency.losses.survey = opts->survey;
	m->has_picks = !opts->by_task && tap_survey_has_event(opts->survey, "sched_pick");
	tap_eevdf_init(&m->eevdf, &(const struct tap_eevdf_opts){ .want = wants_pick, .ctx = m });
	if (!opts->by_task)
		ret = tap_pelt_new(&(const struct tap_pelt_opts){ .window = opts->window,
								  .survey = opts->survey,
								  .cpus_only = true,
								  .want_signal = wants_signal },
				   &m->signals);
	for (unsigned int i = 0; !ret && i < TAP_NR_MEASURED; i++)
		ret = tap_latency_init(&m->waits[i], states[i], 0);
	ret = ret ?: tap_explain_init(&m->explained, 0);
	/* lengths come from a function that is never called here: only violations are wanted */
	ret = ret
		      ?: tap_balance_init(&m->balance, &(const struct tap_balance_opts){
							       .survey = opts->survey,
							       .lengths_told = true,
						       });
	m->paths = (struct tap_paths){
		.opts = opts->paths,
		.survey = opts->survey,
		.all_tasks = opts->all_tasks,
	};
	m->has_paths = !opts->by_task && (opts->paths.of_tasks || opts->paths.requests) &&
		       tap_survey_has_wakeups(opts->survey);
	if (m->has_paths)
		ret = ret ?: tap_paths_init(&m->paths);
	return !ret && opts->has_blocks ? init_blocks(m) : ret;
}

void tap_measure_release(struct tap_measure *m)
{
	tap_hidden_release(&m->hidden);
	for (unsigned int i = 0; i < TAP_NR_MEASURED; i++) {
		tap_latency_release(&m->waits[i]);
		for (unsigned int k = 0; m->blocks[i] && k < m->nr_blocks; k++)
			tap_hist_release(&m->blocks[i][k]);
		free(m->blocks[i]);
	}
	tap_migrations_release(&m->migrations);
	tap_explain_waits_release(&m->explain_waits);
	tap_explain_release(&m->explained);
	tap_balance_release(&m->balance);
	tap_resched_release(&m->resched);
	tap_pelt_free(m->signals);
	tap_util_est_release(&m->util_est);
	tap_frequency_release(&m->frequency);
	tap_eevdf_release(&m->eevdf);
	tap_deadlines_release(&m->deadlines);
	tap_paths_release(&m->paths);
	*m = (struct tap_measure){ 0 };
}

/* ---- metrics ---- */

static double per_s(const struct tap_measure *m, uint64_t nr)
{
	uint64_t ns = tap_window_ns(&m->opts.window);

	return ns ? (double)nr * 1e9 / (double)ns : NAN;
}

static double share_pct(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

static int add_recording(const struct tap_measure *m, struct tap_metrics *out)
{
	return tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_NEITHER,
			       (double)tap_window_ns(&m->opts.window), "recording.window")
		       ?: tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_NEITHER,
					  (double)m->opts.survey->lost, "recording.lost");
}

static int add_cpus(const struct tap_measure *m, struct tap_metrics *out)
{
	double run_ns = 0, unknown_ns = 0, all_ns = 0;
	uint64_t switches = 0;
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(m->timeline, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		run_ns += (double)cpus[i].run_ns;
		unknown_ns += (double)cpus[i].unknown_ns;
		all_ns += (double)tap_window_ns(&m->opts.window);
		switches += cpus[i].switches;
	}
	return tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_NEITHER,
			       share_pct(run_ns, all_ns), "summary.run.share") ?:
	       tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_NEITHER,
			       share_pct(unknown_ns, all_ns), "summary.unknown.share") ?:
	       tap_metrics_add(out, TAP_METRIC_PER_S, TAP_BETTER_NEITHER,
			       per_s(m, switches), "summary.switches.rate");
}

/* Add the average over all CPUs' known time. */
static int add_util(const struct tap_measure *m, struct tap_metrics *out)
{
	unsigned int nr;
	struct tap_pelt_series *const *series = tap_pelt_series(m->signals, &nr);
	double sum = 0, known_ns = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (series[i]->subject != TAP_PELT_CPU)
			continue;
		sum += (double)series[i]->hist.sum;
		known_ns += (double)series[i]->hist.count;
	}
	return tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_NEITHER,
			       known_ns > 0 ? sum / known_ns : NAN, "summary.util.avg");
}

#define WAIT "latency.%s."
#define UTIL_EST "pelt.util_est."
#define OF_TASK " -c %.16s"

/* Return false if the start of such waits is unknown, so that none has a length. */
bool tap_measure_knows(const struct tap_measure *m, enum tap_measured_wait wait)
{
	return wait == TAP_MEASURED_WAKING	? tap_survey_has_wakeups(m->opts.survey)
	       : wait == TAP_MEASURED_THROTTLED ? m->opts.has_throttling
						: true;
}

static int add_waits(const struct tap_measure *m, unsigned int wait, struct tap_metrics *out)
{
	const struct tap_hist *waits = &m->waits[wait].all.waits;
	const char *state = tap_state_name(states[wait]);
	int ret = tap_metrics_add(out, TAP_METRIC_PER_S, TAP_BETTER_NEITHER, per_s(m, waits->count),
				  WAIT "rate", state);

	if (ret || !waits->count)
		return ret;
	ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, tap_hist_mean(waits), WAIT "avg",
			      state);
	for (unsigned int i = 0; !ret && i < TAP_NR_QUANTILES; i++)
		ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
				      (double)tap_hist_quantile(waits, tap_quantiles[i].part),
				      WAIT "%s", state, tap_quantiles[i].name);
	return ret
		       ?: tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, (double)waits->max,
					  WAIT "max", state);
}

static int add_explained(const struct tap_measure *m, struct tap_metrics *out)
{
	int ret = 0;

	/* waits that begin at the queueing lack what came before */
	if (tap_survey_has_queueings(m->opts.survey))
		return 0;
	for (enum tap_piece_kind k = 0; !ret && k < TAP_NR_PIECE_KINDS; k++)
		ret = tap_metrics_add(
			out, TAP_METRIC_PCT, TAP_BETTER_NEITHER,
			share_pct((double)m->explained.kinds[k].ns, (double)m->explained.all.ns),
			"explain.%s.share", tap_piece_name(k));
	return ret;
}

static int add_migrations(const struct tap_measure *m, struct tap_metrics *out)
{
	int ret = 0;

	if (!m->opts.has_migrations)
		return 0;
	for (enum tap_migration_why why = 0; !ret && why < TAP_NR_MIGRATE; why++)
		ret = tap_metrics_add(out, TAP_METRIC_PER_S, TAP_BETTER_NEITHER,
				      per_s(m, m->migrations.by[why]), "migrations.%s.rate",
				      tap_migration_why_name(why));
	return ret
		       ?: tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_LESS,
					  share_pct((double)m->balance.violations.lengths.sum,
						    (double)m->balance.violations.wait_ns),
					  "balance.violation.share");
}

static int add_resched(const struct tap_measure *m, struct tap_metrics *out)
{
	int ret = 0;

	for (enum tap_resched_stage i = 0; !ret && i < TAP_NR_RESCHED_STAGES; i++) {
		const struct tap_hist *ns = &m->resched.stages[i].ns;
		const char *stage = tap_resched_stage_name(i);

		if (!m->has_resched || !ns->count)
			continue;
		ret = tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
				      tap_hist_mean(ns), "resched.%s.avg", stage) ?:
		      tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
				      (double)tap_hist_quantile(ns, 0.5), "resched.%s.p50",
				      stage) ?:
		      tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
				      (double)tap_hist_quantile(ns, 0.99), "resched.%s.p99",
				      stage) ?:
		      tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
				      (double)ns->max, "resched.%s.max", stage);
	}
	return ret;
}

static int add_util_est(const struct tap_measure *m, struct tap_metrics *out)
{
	const struct tap_util_est_sums *s = &m->util_est.all;
	double judged = (double)s->error.count;
	int ret;

	if (!judged)
		return 0;
	ret = tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_LESS, tap_hist_mean(&s->error),
			      UTIL_EST "error.avg");
	for (unsigned int i = 0; !ret && i < TAP_NR_QUANTILES - 1; i++)
		ret = tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_LESS,
				      (double)tap_hist_quantile(&s->error, tap_quantiles[i].part),
				      UTIL_EST "error.%s", tap_quantiles[i].name);
	return ret ?:
	       tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_LESS,
			       (double)s->error.max, UTIL_EST "error.max") ?:
	       tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_LESS,
			       share_pct((double)s->error.sum, (double)s->need.sum),
			       UTIL_EST "error.share") ?:
	       tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_NEITHER,
			       share_pct((double)s->over.count, judged), UTIL_EST "over.share") ?:
	       tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_NEITHER,
			       share_pct((double)s->under.count, judged), UTIL_EST "under.share");
}

static int add_frequency(const struct tap_measure *m, struct tap_metrics *out)
{
	const struct tap_frequency *f = &m->frequency;
	double known_ns = (double)f->known_ns;

	return tap_metrics_add(out, TAP_METRIC_KHZ, TAP_BETTER_NEITHER,
			       f->known_ns ? (double)f->sum / known_ns : NAN, "frequency.avg")
		       ?: tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_NEITHER,
					  share_pct((double)f->highest_ns, known_ns),
					  "frequency.highest.share");
}

static int add_eevdf(const struct tap_measure *m, struct tap_metrics *out)
{
	const struct tap_hist *lag = &m->eevdf.all.lag_size_ns;
	int ret = 0;

	for (enum tap_eevdf_rule i = 0; !ret && i < TAP_NR_EEVDF_RULES; i++)
		ret = tap_metrics_add(out, TAP_METRIC_PCT, TAP_BETTER_LESS,
				      share_pct((double)m->eevdf.rules[i],
						(double)tap_eevdf_judged(&m->eevdf, i)),
				      "eevdf.%s.share", tap_eevdf_rule_name(i));
	if (ret || !lag->count)
		return ret;
	return tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
			       (double)tap_hist_quantile(lag, 0.5), "eevdf.lag_size.p50") ?:
	       tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
			       (double)tap_hist_quantile(lag, 0.99), "eevdf.lag_size.p99") ?:
	       tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
			       (double)lag->max, "eevdf.lag_size.max");
}

/*
 * If the type of a server was not recorded, it is unknown which class was starved: omit both
 * classes.
 */
static int add_servers(const struct tap_deadlines *d, struct tap_metrics *out)
{
	int ret = tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_LESS, (double)d->by_server,
				  "deadline.server.picks");

	if (ret || d->by_server != d->by_fair_server + d->by_ext_server)
		return ret;
	return tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_LESS, (double)d->by_fair_server,
			       "deadline.server.fair.picks")
		       ?: tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_LESS,
					  (double)d->by_ext_server, "deadline.server.ext.picks");
}

/* Without jobs there is no lateness, so add no metric. */
static int add_deadlines(const struct tap_measure *m, struct tap_metrics *out)
{
	const struct tap_deadlines *d = &m->deadlines;
	int ret = m->opts.has_deadlines ? add_servers(d, out) : 0;

	if (ret || (!d->jobs && !d->undecided))
		return ret;
	return tap_metrics_add(out, TAP_METRIC_COUNT, TAP_BETTER_LESS, (double)d->missed,
			       "deadline.misses")
		       ?: tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS, (double)d->late_ns,
					  "deadline.late.max");
}

/* ---- by task ---- */

/* All tasks of one name. */
struct group {
	char comm[TAP_TASK_COMM];
	uint64_t run_ns, migrations;
	struct tap_hist waits[TAP_NR_MEASURED]; /* owned */
};

static void free_groups(struct group *groups, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int w = 0; w < TAP_NR_MEASURED; w++)
			tap_hist_release(&groups[i].waits[w]);
	free(groups);
}

static int by_comm(const void *a, const void *b)
{
	const struct tap_task *x = *(struct tap_task *const *)a, *y = *(struct tap_task *const *)b;
	int order = strncmp(x->comm, y->comm, TAP_TASK_COMM);

	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int add_to_group(const struct tap_measure *m, struct group *group,
			const struct tap_task *task)
{
	int ret = 0;

	group->run_ns += task->total_ns[TAP_STATE_RUNNING];
	if (task->index < m->migrations.nr_tasks)
		group->migrations += m->migrations.tasks[task->index].total;
	for (unsigned int w = 0; !ret && w < TAP_NR_MEASURED; w++)
		if (task->index < m->waits[w].nr_tasks)
			ret = tap_hist_merge(&group->waits[w],
					     &m->waits[w].tasks[task->index].waits);
	return ret;
}

/* @tasks: sorted by name. */
static int make_groups(const struct tap_measure *m, struct tap_task *const *tasks, unsigned int nr,
		       struct group **groups, unsigned int *nr_groups)
{
	static const struct group empty = {
		.waits = { TAP_HIST_INIT, TAP_HIST_INIT, TAP_HIST_INIT },
	};
	unsigned int cap = 0;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++) {
		if (!*nr_groups ||
		    strncmp((*groups)[*nr_groups - 1].comm, tasks[i]->comm, TAP_TASK_COMM)) {
			if (tap_array_grow(groups, *nr_groups, &cap, sizeof(**groups)))
				return -ENOMEM;
			(*groups)[*nr_groups] = empty;
			memcpy((*groups)[(*nr_groups)++].comm, tasks[i]->comm, TAP_TASK_COMM);
		}
		ret = add_to_group(m, &(*groups)[*nr_groups - 1], tasks[i]);
	}
	return ret;
}

static int add_group_waits(const struct group *g, unsigned int wait, struct tap_metrics *out)
{
	const struct tap_hist *waits = &g->waits[wait];
	const char *state = tap_state_name(states[wait]);

	if (!waits->count)
		return 0;
	return tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
			       (double)tap_hist_quantile(waits, 0.5), WAIT "p50" OF_TASK,
			       state, g->comm) ?:
	       tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
			       (double)tap_hist_quantile(waits, 0.99), WAIT "p99" OF_TASK,
			       state, g->comm) ?:
	       tap_metrics_add(out, TAP_METRIC_NS, TAP_BETTER_LESS,
			       (double)waits->max, WAIT "max" OF_TASK, state, g->comm);
}

static int add_group(const struct tap_measure *m, const struct group *g, struct tap_metrics *out)
{
	int ret = tap_metrics_add(
			  out, TAP_METRIC_PCT, TAP_BETTER_NEITHER,
			  share_pct((double)g->run_ns, (double)tap_window_ns(&m->opts.window)),
			  "states.running.share" OF_TASK, g->comm)
			  ?: tap_metrics_add(out, TAP_METRIC_PER_S, TAP_BETTER_NEITHER,
					     m->opts.has_migrations ? per_s(m, g->migrations) : NAN,
					     "migrations.rate" OF_TASK, g->comm);

	for (unsigned int w = 0; !ret && w < TAP_NR_MEASURED; w++)
		if (tap_measure_knows(m, w))
			ret = add_group_waits(g, w, out);
	return ret;
}

/* Add metrics of tasks that lived in the window and have a name. */
static int add_tasks(const struct tap_measure *m, struct tap_metrics *out)
{
	unsigned int nr, nr_groups = 0, nr_tasks = 0;
	struct tap_task *const *all = tap_timeline_tasks(m->timeline, &nr);
	struct tap_task **tasks = calloc(nr + 1, sizeof(struct tap_task *));
	struct group *groups = NULL;
	int ret = -ENOMEM;

	if (!tasks)
		return ret;
	for (unsigned int i = 0; i < nr; i++)
		if (all[i]->comm[0] && tap_task_life_ns(m->timeline, all[i]) && all[i]->selected)
			tasks[nr_tasks++] = all[i];
	qsort(tasks, nr_tasks, sizeof(struct tap_task *), by_comm);
	ret = make_groups(m, tasks, nr_tasks, &groups, &nr_groups);
	for (unsigned int i = 0; !ret && i < nr_groups; i++)
		ret = add_group(m, &groups[i], out);
	free_groups(groups, nr_groups);
	free(tasks);
	return ret;
}

int tap_measure_end(struct tap_measure *m, struct tap_metrics *out)
{
	int ret = 0;

	if (m->opts.by_task)
		return add_tasks(m, out);
	ret = add_recording(m, out) ?: add_cpus(m, out) ?: add_util(m, out);
	for (unsigned int i = 0; !ret && i < TAP_NR_MEASURED; i++)
		if (tap_measure_knows(m, i))
			ret = add_waits(m, i, out);
	tap_explain_end(&m->explained);
	return ret ?:
	       add_explained(m, out) ?:
	       add_migrations(m, out) ?:
	       add_resched(m, out) ?:
	       add_util_est(m, out) ?:
	       add_frequency(m, out) ?:
	       add_eevdf(m, out) ?:
	       add_deadlines(m, out) ?:
	       (m->has_paths ? tap_paths_end(&m->paths, m->timeline, out) : 0);
}
