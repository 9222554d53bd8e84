/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * watchers FILE [TID [CPUS]]: reads a recording once, for all built-in watchers
 * (schedtap/analyses.h) and two of its own, and prints what they found, a line each.
 * tests/library/same compares that with the program's own reports.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedtap/analyses.h>

#define NR_WAITS 3

static const enum tap_state waits[NR_WAITS] = { TAP_STATE_WAKING, TAP_STATE_PREEMPTED,
						TAP_STATE_THROTTLED };

struct handles {
	struct tap_latencies *latencies[NR_WAITS];
	struct tap_longest_states *longest;
	struct tap_gap_reasons *gaps;
	struct tap_signals *signals;
	struct tap_long_waits *long_waits;
	unsigned int nr_before, nr_switches, nr_losses;
	uint64_t unknown_ns[8];
	const char *reasons[8];
};

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

/* ---- watchers of its own ---- */

/* The unknown time of CPUs, by the reasons that the watcher before it in the list gives. */
static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct handles *h = ctx;
	const char *reason = tap_gap_reasons_text(h->gaps, s);
	unsigned int i = 0;

	(void)t;
	if ((s->what == TAP_CPU_UNKNOWN) != !!reason)
		die("there is a reason exactly if the CPU is unknown");
	if (!reason)
		return 0;
	while (h->reasons[i] && strcmp(h->reasons[i], reason) != 0)
		i++;
	h->reasons[i] = reason;
	h->unknown_ns[i] += s->to_ns - s->from_ns;
	return 0;
}

static void put_figures(const char *wait, int tid, const struct tap_latency_figures *f)
{
	if (f)
		printf("latency %s %d %ju %ju %ju %ju %ju %ju %ju %ju %ju\n", wait, tid,
		       (uintmax_t)f->count, (uintmax_t)f->censored, (uintmax_t)f->min_ns,
		       (uintmax_t)f->avg_ns, (uintmax_t)f->p50_ns, (uintmax_t)f->p90_ns,
		       (uintmax_t)f->p99_ns, (uintmax_t)f->max_ns, (uintmax_t)f->max_at_ns);
}

static void put_task(const struct tap_timeline *t, const struct tap_task *task)
{
	const char *path = tap_timeline_cgroup_path(t, tap_task_cgroup(task));
	char name[80], printable[1024];
	size_t len;
	const char *comm = tap_task_comm(task, &len);

	if (tap_name_escape(name, sizeof(name), comm, len) >= sizeof(name))
		die("a name takes four times its length at most");
	tap_name_escape(printable, sizeof(printable), path ? path : "", path ? strlen(path) : 0);
	printf("task %d %s %s\n", tap_task_tid(task), name, printable);
}

/* Getters work in .end of a watcher that comes later in the list. */
static int on_end(void *ctx, const struct tap_timeline *t)
{
	struct handles *h = ctx;
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(t, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		const int tid = tap_task_tid(tasks[i]);

		if (tap_timeline_task(t, tid) != tasks[i]) { /* a newer one has the same number */
			printf("reused %d\n", tid);
			continue;
		}
		put_task(t, tasks[i]);
		for (unsigned int w = 0; w < NR_WAITS; w++)
			put_figures(tap_state_name(waits[w]), tid,
				    tap_latencies_task(h->latencies[w], tid));
		for (unsigned int s = 0; s < TAP_NR_STATES; s++) {
			uint64_t from_ns, ns = tap_longest_states_ns(h->longest, tid, s, &from_ns);

			if (ns)
				printf("longest %d %s %ju %ju\n", tid, tap_state_name(s),
				       (uintmax_t)ns, (uintmax_t)from_ns);
		}
	}
	printf("window %ju %ju\n", (uintmax_t)tap_timeline_from_ns(t),
	       (uintmax_t)tap_timeline_to_ns(t));
	return 0;
}

/* Raw events of the same pass: switches and losses. */
static bool wants(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return !fmt || !strcmp(fmt->name, "sched_switch");
}

static int before(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	(void)t;
	((struct handles *)ctx)->nr_before += !!ev->fmt;
	return 0;
}

/* The timeline has processed the event: it knows the task that the CPU runs now. */
static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	const struct tap_field *next = ev->fmt ? tap_format_field(ev->fmt, "next_pid") : NULL;
	struct handles *h = ctx;
	const struct tap_task *task;

	if (!ev->fmt) {
		h->nr_losses += !ev->lost.is_off;
		return 0;
	}
	h->nr_switches++;
	task = tap_timeline_task(t, (int)tap_field_u64(next, ev->data, ev->size));
	if (task && tap_task_state(task) != TAP_STATE_RUNNING &&
	    tap_task_state(task) != TAP_STATE_UNKNOWN)
		die("a task is switched to, and neither runs nor is unknown");
	return 0;
}

static int on_point(void *ctx, const struct tap_signal *s, uint64_t ts_ns, int64_t value)
{
	(void)ctx;
	printf("point %d %d %d %ju %ju %jd\n", (int)s->subject, s->cpu, s->tid,
	       (uintmax_t)(s->subject == TAP_SIGNAL_CGROUP ? s->cgroup : 0), (uintmax_t)ts_ns,
	       (intmax_t)value);
	return 0;
}

/* ---- the run ---- */

static void put_rest(struct handles *h)
{
	const struct tap_signal *s;
	const struct tap_long_wait *w;

	for (unsigned int i = 0; i < NR_WAITS; i++)
		put_figures(tap_state_name(waits[i]), 0, tap_latencies_all(h->latencies[i]));
	for (unsigned int i = 0; i < 8 && h->reasons[i]; i++)
		printf("unknown %ju %s\n", (uintmax_t)h->unknown_ns[i], h->reasons[i]);
	for (unsigned int i = 0; (s = tap_signals_get(h->signals, i)); i++) {
		char name[80];

		tap_name_escape(name, sizeof(name), s->comm, s->comm_len);
		printf("signal %d %d %d %ju %ju %ju %jd %jd %jd %jd %jd %.6f %s\n", (int)s->subject,
		       s->cpu, s->tid, (uintmax_t)(s->subject == TAP_SIGNAL_CGROUP ? s->cgroup : 0),
		       (uintmax_t)s->updates, (uintmax_t)s->known_ns, (intmax_t)s->min,
		       (intmax_t)s->p50, (intmax_t)s->p90, (intmax_t)s->p99, (intmax_t)s->max,
		       s->avg, name);
	}
	for (unsigned int i = 0; (w = tap_long_waits_get(h->long_waits, i)); i++) {
		uint64_t ns = 0;

		printf("wait %d %s %s %d %ju %ju %d %s\n", w->tid, w->name,
		       tap_state_name(w->state), w->cpu, (uintmax_t)w->from_ns, (uintmax_t)w->to_ns,
		       w->whole, w->verdict);
		for (unsigned int k = 0; k < w->nr_reasons; k++) {
			printf("reason %d %ju %ju %s\n", w->tid, (uintmax_t)w->from_ns,
			       (uintmax_t)w->reasons[k].ns, w->reasons[k].text);
			ns += w->reasons[k].ns;
			if (k && w->reasons[k].ns > w->reasons[k - 1].ns)
				die("the longest reason comes first");
		}
		if (ns != w->to_ns - w->from_ns)
			die("reasons add up to the wait");
	}
	if (h->nr_before != h->nr_switches)
		die("each event is reported before and after the timeline has processed it");
	printf("events %u\nlosses %d\n", h->nr_switches, h->nr_losses > 0);
}

static void make(struct handles *h, struct tap_err *err)
{
	for (unsigned int i = 0; i < NR_WAITS; i++)
		h->latencies[i] = tap_latencies_new(waits[i], err);
	h->longest = tap_longest_states_new(err);
	h->gaps = tap_gap_reasons_new(err);
	h->signals = tap_signals_new("util", on_point, NULL, err);
	h->long_waits = tap_long_waits_new(10, err);
	if (!h->latencies[0] || !h->latencies[1] || !h->latencies[2] || !h->longest || !h->gaps ||
	    !h->signals || !h->long_waits)
		die(err->text);
}

static void release(struct handles *h)
{
	for (unsigned int i = 0; i < NR_WAITS; i++)
		tap_latencies_free(h->latencies[i]);
	tap_longest_states_free(h->longest);
	tap_gap_reasons_free(h->gaps);
	tap_signals_free(h->signals);
	tap_long_waits_free(h->long_waits);
}

int main(int argc, char **argv)
{
	const struct tap_watcher_ops own = { .size = sizeof(own), .cpu = on_cpu, .end = on_end };
	const struct tap_watcher_ops raw = {
		.size = sizeof(raw), .wants = wants, .before = before, .event = on_event
	};
	const char *tid = argc > 2 ? argv[2] : NULL;
	const struct tap_select_opts words = {
		.size = sizeof(words),
		.tids = &tid,
		.nr_tids = tid && *tid,
		.cpus = argc > 3 ? argv[3] : NULL,
	};
	struct tap_run_opts opts = { .size = sizeof(opts) };
	struct handles h = { .nr_switches = 0 };
	struct tap_select *select = NULL;
	struct tap_reader *reader = NULL;
	struct tap_err err = { .text = "usage: watchers FILE [TID [CPUS]]" };

	make(&h, &err);
	const struct tap_watcher watchers[] = {
		tap_latencies_watcher(h.latencies[0]),
		tap_latencies_watcher(h.latencies[1]),
		tap_latencies_watcher(h.latencies[2]),
		tap_longest_states_watcher(h.longest),
		tap_gap_reasons_watcher(h.gaps),
		tap_signals_watcher(h.signals),
		tap_long_waits_watcher(h.long_waits),
		{ .ops = &own, .ctx = &h, .pick = TAP_PICK_CPUS },
		{ .ops = &raw, .ctx = &h },
	};

	if (argc < 2 || tap_select_new(&words, &select, &err) ||
	    tap_reader_open(argv[1], &reader, &err))
		die(err.text);
	opts.select = select;
	if (tap_run(reader, &opts, watchers, sizeof(watchers) / sizeof(*watchers), &err))
		die(err.text);
	tap_reader_free(reader);
	tap_select_free(select);
	put_rest(&h);
	release(&h);
	return 0;
}
