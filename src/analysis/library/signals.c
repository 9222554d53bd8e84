// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <assert.h>
#include <string.h>

#include "analysis/library/handle.h"
#include "analysis/pelt.h"

struct tap_signals {
	const char *name; /* static */
	int (*point)(void *ctx, const struct tap_signal *s, uint64_t ts_ns, int64_t value);
	void *ctx;
	const struct tap_timeline *timeline; /* valid during the run */
	struct tap_pelt *pelt; /* owned; NULL: nothing was reported yet */
	struct tap_signal signal; /* result of the last getter */
};

static struct tap_signal signal_of(const struct tap_pelt_series *s)
{
	static const enum tap_signal_subject subjects[] = {
		[TAP_PELT_CPU] = TAP_SIGNAL_CPU,
		[TAP_PELT_TASK] = TAP_SIGNAL_TASK,
		[TAP_PELT_CGROUP] = TAP_SIGNAL_CGROUP,
		[TAP_PELT_DOMAIN] = TAP_SIGNAL_DOMAIN,
	};
	const bool is_task = s->subject == TAP_PELT_TASK;

	return (struct tap_signal){
		.number = s->number,
		.subject = subjects[s->subject],
		.cpu = is_task ? -1 : s->cpu,
		.tid = is_task ? s->tid : -1,
		.comm = s->comm,
		.comm_len = strnlen(s->comm, sizeof(s->comm)),
		.cgroup = s->cgroup,
	};
}

/* ---- callbacks of the analysis ---- */

static bool want_signal(void *ctx, const struct tap_pelt_signal *s)
{
	const struct tap_signals *h = ctx;

	return !strcmp(s->name, h->name);
}

static bool is_selected_domain(const struct tap_timeline *t, const struct tap_cpus *span)
{
	for (unsigned int cpu = 0; cpu < span->nr_words * 64; cpu++)
		if (tap_cpus_has(span, cpu) && tap_timeline_selects_cpu(t, (int)cpu))
			return true;
	return false;
}

static bool want_series(void *ctx, const struct tap_pelt_series *s)
{
	const struct tap_timeline *t = ((struct tap_signals *)ctx)->timeline;

	if (s->subject == TAP_PELT_TASK)
		return tap_timeline_selects_tid(t, s->tid);
	if (s->subject == TAP_PELT_DOMAIN)
		return is_selected_domain(t, &s->span);
	return tap_timeline_selects_cpu(t, s->cpu);
}

static int on_point(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, int64_t value)
{
	const struct tap_signals *h = ctx;
	const struct tap_signal signal = signal_of(s);

	static_assert(TAP_PELT_GAP == TAP_SIGNAL_UNKNOWN, "values are passed on");
	return h->point(h->ctx, &signal, ts_ns, value);
}

/* ---- run ---- */

/*
 * Make .pelt at the first call, since the timeline then knows the window and its gaps. Return: 0 or
 * -ENOMEM.
 */
static int prepare_pelt(struct tap_signals *h, const struct tap_timeline *t)
{
	const struct tap_pelt_opts opts = {
		.window = tap_timeline_window(t),
		.survey = tap_timeline_survey(t),
		.want_signal = want_signal,
		.want = want_series,
		.point = h->point ? on_point : NULL,
		.ctx = h,
	};

	h->timeline = t;
	return h->pelt ? 0 : tap_pelt_new(&opts, &h->pelt);
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_signals *h = ctx;

	return prepare_pelt(h, t) ?: tap_pelt_ops.interval(h->pelt, t, s);
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	return fmt && tap_pelt_has_signal(fmt, want_signal, ctx);
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_signals *h = ctx;

	return prepare_pelt(h, t) ?: tap_pelt_ops.event(h->pelt, t, ev);
}

static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct tap_signals *h = ctx;

	return prepare_pelt(h, t) ?: tap_pelt_ops.end(h->pelt, t);
}

/* tap_pelt_ops without .cpu, which is only needed for values that count while a CPU is busy. */
static const struct tap_watcher_ops ops = {
	.size = sizeof(ops),
	.states = TAP_STATE_ALL,
	.interval = on_interval,
	.wants = wants_event,
	.event = on_event,
	.end = on_end,
};

/* ---- public ---- */

struct tap_signals *tap_signals_new(const char *name,
				    int (*point)(void *ctx, const struct tap_signal *s,
						 uint64_t ts_ns, int64_t value),
				    void *ctx, struct tap_err *err)
{
	const struct tap_pelt_signal *s = tap_pelt_signals;
	struct tap_signals *h;

	while (s->name && strcmp(s->name, name))
		s++;
	if (!s->name) {
		tap_err_set(err, -EINVAL, "there is no signal '%.100s': see schedtap-pelt(1)",
			    name);
		return NULL;
	}
	h = tap_handle_new(sizeof(*h), err);
	if (h)
		*h = (struct tap_signals){ .name = s->name, .point = point, .ctx = ctx };
	return h;
}

void tap_signals_free(struct tap_signals *h)
{
	if (!h)
		return;
	tap_pelt_free(h->pelt);
	free(h);
}

struct tap_watcher tap_signals_watcher(struct tap_signals *h)
{
	return (struct tap_watcher){ .ops = &ops, .ctx = h };
}

const struct tap_signal *tap_signals_get(struct tap_signals *h, unsigned int i)
{
	unsigned int nr = 0;
	struct tap_pelt_series *const *all = h->pelt ? tap_pelt_series(h->pelt, &nr) : NULL;

	if (i >= nr)
		return NULL;
	h->signal = signal_of(all[i]);
	h->signal.updates = all[i]->updates;
	h->signal.known_ns = tap_pelt_known_ns(all[i]);
	h->signal.min = tap_pelt_min(all[i]);
	h->signal.max = tap_pelt_max(all[i]);
	h->signal.p50 = tap_pelt_quantile(all[i], 0.5);
	h->signal.p90 = tap_pelt_quantile(all[i], 0.9);
	h->signal.p99 = tap_pelt_quantile(all[i], 0.99);
	h->signal.avg = tap_pelt_mean(all[i]);
	return &h->signal;
}
