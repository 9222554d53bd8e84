// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Read a round's recording twice: first the lengths of the load's waits and each task's CPU time,
 * then the components of the waits above the percentiles, which are known only after that.
 */
#include <errno.h>
#include <unistd.h>

#include "show/bench/bench.h"
#include "show/out/input.h"

const struct tap_bench_percentile tap_bench_percentiles[TAP_BENCH_ABOVE] = {
	{ "p99", "p99", 0.99 },
	{ "p999", "p99.9", 0.999 },
};

struct reading {
	struct tap_bench_recorded *result;
	enum tap_load_kind kind;
	pid_t load, recorder;
	struct tap_window measured; /* the waits that end in this time count */
	char process_name[TAP_LOAD_COMM];
	struct tap_explain_waits waits;
};

void tap_bench_recorded_release(struct tap_bench_recorded *r)
{
	tap_hist_release(&r->waits);
	for (unsigned int i = 0; i < TAP_BENCH_ABOVE; i++)
		tap_above_release(&r->above[i]);
	*r = (struct tap_bench_recorded)TAP_BENCH_RECORDED_INIT;
}

/* ---- which task is whose ---- */

static bool is_named(const struct tap_task *task, const char *name)
{
	return !strncmp(task->comm, name, TAP_TASK_COMM);
}

/* Other processes of the load are known by their name, which contains the load's PID. */
static enum tap_reason who(const void *reading, const struct tap_task *task)
{
	const struct reading *r = reading;
	int tgid = tap_task_tgid(task);

	if (tgid == r->load || is_named(task, r->process_name))
		return TAP_REASON_OWN;
	return tgid == r->recorder || tgid == getpid() ? TAP_REASON_RECORDER : TAP_REASON_OTHER;
}

/* Return true if the load is about this task's waits. */
static bool is_waiter(const struct reading *r, const struct tap_task *task)
{
	bool is_thread = tap_task_tgid(task) == r->load;

	switch (r->kind) {
	case TAP_LOAD_MESSAGES:
	case TAP_LOAD_MIXED:
	case TAP_LOAD_YIELD:
		return is_thread && is_named(task, tap_load_worker);
	case TAP_LOAD_HOG:
		return is_thread && is_named(task, tap_load_hog);
	case TAP_LOAD_PIPE:
		return is_named(task, r->process_name) && (!is_thread || task->tid == (int)r->load);
	default:
		return is_named(task, r->process_name) && !is_thread;
	}
}

/* yield and hog never sleep: what they wait for is their turn. */
static enum tap_state waits_in(enum tap_load_kind kind)
{
	return kind == TAP_LOAD_YIELD || kind == TAP_LOAD_HOG ? TAP_STATE_PREEMPTED
							      : TAP_STATE_WAKING;
}

/* ---- the first reading ---- */

static bool is_measured(const struct reading *r, uint64_t ns)
{
	return ns >= r->measured.from_ns && ns <= r->measured.to_ns;
}

static int add_length(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct reading *r = ctx;

	(void)t;
	if (!s->whole || s->next != TAP_STATE_RUNNING || s->state != waits_in(r->kind) ||
	    !is_measured(r, s->to_ns) || !is_waiter(r, s->task))
		return 0;
	return tap_hist_add(&r->result->waits, s->to_ns - s->from_ns);
}

/* Sum up what the CPUs did in the measured time. */
static int add_cpu_time(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct reading *r = ctx;
	struct tap_bench_recorded *out = r->result;
	uint64_t ns = tap_window_part_ns(&r->measured, s->from_ns, s->to_ns);

	(void)t;
	if (s->what != TAP_CPU_OFFLINE)
		out->cpus_ns += ns;
	if (s->what != TAP_CPU_RUN)
		return 0;
	switch (who(r, s->task)) {
	case TAP_REASON_OWN:
		out->own_ns += ns;
		out->switches += !s->unseen && is_measured(r, s->from_ns);
		break;
	case TAP_REASON_RECORDER:
		out->recorder_ns += ns;
		break;
	default:
		out->other_ns += ns;
	}
	return 0;
}

static int add_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	struct reading *r = ctx;

	(void)t;
	if (is_measured(r, m->ts_ns) && who(r, m->task) == TAP_REASON_OWN)
		r->result->migrations++;
	return 0;
}

static const struct tap_watcher_ops lengths_ops = {
	.states = TAP_STATE_BIT(TAP_STATE_WAKING) | TAP_STATE_BIT(TAP_STATE_PREEMPTED),
	.interval = add_length,
	.cpu = add_cpu_time,
	.migration = add_migration,
};

/* ---- the second reading ---- */

static int add_wait(void *ctx, const struct tap_wait_told *w)
{
	struct reading *r = ctx;
	struct tap_avoidable_idle idle = { 0 };
	int ret;

	if (w->state != waits_in(r->kind) || !is_measured(r, w->to_ns) || !is_waiter(r, w->task) ||
	    w->to_ns - w->from_ns <= r->result->above[0].limit_ns)
		return 0;
	if (!w->whole) { /* the task may have run meanwhile: no length, as in the percentiles */
		r->result->censored++;
		return 0;
	}
	ret = tap_explain_waits_take_avoidable(&r->waits, w, &idle);
	for (unsigned int i = 0; !ret && i < TAP_BENCH_ABOVE; i++)
		ret = tap_above_wait(&r->result->above[i], w, &idle);
	tap_avoidable_idle_release(&idle);
	return ret;
}

static int explain(struct reading *r, struct tap_run *run, struct tap_err *err)
{
	const struct tap_watcher watcher = { .ops = &tap_explain_waits_ops, .ctx = &r->waits };
	int ret;

	for (unsigned int i = 0; i < TAP_BENCH_ABOVE; i++)
		r->result->above[i] = (struct tap_above){
			.limit_ns =
				tap_hist_quantile(&r->result->waits, tap_bench_percentiles[i].part),
			.who = who,
			.ctx = r,
		};
	tap_explain_waits_init(&r->waits, &(const struct tap_explain_waits_opts){
						  .without_reasons = true,
						  .asks_avoidable = true,
						  .tell = add_wait,
						  .ctx = r,
					  });
	ret = tap_run_watch(run, &watcher, 1, err);
	tap_explain_waits_release(&r->waits);
	for (unsigned int i = 0; i < TAP_BENCH_ABOVE; i++)
		r->result->above[i].ctx = NULL; /* it ends with this reading */
	return ret;
}

static int read_run(struct reading *r, struct tap_run *run, struct tap_err *err)
{
	const struct tap_watcher watcher = { .ops = &lengths_ops, .ctx = r };
	int ret = tap_run_survey(run, err);

	ret = ret ?: tap_run_check_needs(run, TAP_NEEDS_SWITCHES, err);
	ret = ret ?: tap_run_watch(run, &watcher, 1, err);
	if (ret)
		return ret;
	r->result->lost = run->survey.lost;
	return explain(r, run, err);
}

/*
 * All of the recording is read, because the load's threads are created before the measured time,
 * and only their births tell whose they are.
 */
int tap_bench_read(const char *path, enum tap_load_kind kind, const struct tap_load_result *load,
		   pid_t recorder, const struct tap_listener *listener,
		   struct tap_bench_recorded *out, struct tap_err *err)
{
	struct reading r = {
		.result = out,
		.kind = kind,
		.load = load->pid,
		.recorder = recorder,
		.measured = { load->from_ns, load->to_ns },
	};
	const struct tap_input_opts input = { .input = { .v = &path, .nr = 1 } };
	struct tap_run run;
	bool usage;
	int ret;

	tap_load_process_name(load->pid, r.process_name);
	ret = tap_run_input(&run, &input, listener, &usage, err);
	ret = ret ?: read_run(&r, &run, err);
	tap_run_close(&run);
	return ret;
}
