// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/metrics/metrics.h"

#include <stdio.h>

#include "record/tally/waits.h"

/* The cgroups that are written. */
struct cgroups {
	struct tap_total *const *v;
	unsigned int nr;
};

#define for_each_cgroup(c, list)                                                                   \
	for (struct tap_total *const *c##_at = (list)->v, *c;                                      \
	     c##_at < (list)->v + (list)->nr && (c = *c##_at); c##_at++)

static bool waited(const struct tap_total *c)
{
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		if (c->waits[k])
			return true;
	return false;
}

/* ---- families by cgroup ---- */

#define MAX_LABELS 6 /* with the zero element at the end */

/* Set the labels of a cgroup's metric. @name: of one more; NULL: none. */
static void set_labels(struct tap_metric_label labels[MAX_LABELS], const struct tap_total *c,
		       const char *name, const char *value)
{
	const struct tap_metric_label all[] = {
		{ "cgroup", c->path },
		{ "container", c->container.name },
		{ "pod", c->container.pod },
		{ "namespace", c->container.pod_namespace },
		{ name, value },
	};

	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].name && all[i].value)
			*labels++ = all[i];
	*labels = (struct tap_metric_label){ 0 };
}

static void write_waits(struct tap_metrics_writer *w, const struct cgroups *list, bool from_waking)
{
	const struct tap_metric_family family = {
		"sched_wait_seconds",
		from_waking
			? "How long tasks waited for a CPU, from the waking."
			: "How long tasks waited for a CPU, from the time that they were queued.",
		TAP_METRIC_HISTOGRAM,
		true,
	};

	w->begin(w, &family);
	for_each_cgroup(c, list)
	{
		for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
			const struct tap_metric_histogram h = { c->buckets[k], c->waits[k],
								c->wait_ns[k] };
			struct tap_metric_label labels[MAX_LABELS];

			if (!c->waits[k])
				continue;
			set_labels(labels, c, "kind", tap_wait_kinds[k]);
			w->histogram(w, labels, &h);
		}
	}
	w->end(w);
}

static void write_cause(struct tap_metrics_writer *w, const struct tap_total *c, const char *by,
			uint64_t ns)
{
	struct tap_metric_label labels[MAX_LABELS];

	set_labels(labels, c, "by", by);
	w->number(w, labels, ns);
}

static void write_causes(struct tap_metrics_writer *w, const struct cgroups *list)
{
	static const struct tap_metric_family family = {
		"sched_wait_caused_seconds",
		"Waits of a cgroup's tasks, by what ran on the CPU meanwhile.",
		TAP_METRIC_COUNTER,
		true,
	};

	w->begin(w, &family);
	for_each_cgroup(c, list)
	{
		if (!waited(c))
			continue;
		write_cause(w, c, "self", c->self_ns);
		write_cause(w, c, "idle", c->idle_ns);
		write_cause(w, c, TAP_TOTALS_KERNEL, c->kernel_ns);
		write_cause(w, c, "other", c->other_ns);
		write_cause(w, c, "elsewhere", c->elsewhere_ns);
		for (unsigned int i = 0; i < TAP_TOTALS_CULPRITS && c->culprits[i].path; i++)
			write_cause(w, c, c->culprits[i].path, c->culprits[i].ns);
	}
	w->end(w);
}

static void write_censored(struct tap_metrics_writer *w, const struct cgroups *list)
{
	static const struct tap_metric_family family = {
		"sched_wait_censored",
		"Waits whose length is not known. They are in no other metric.",
		TAP_METRIC_COUNTER,
	};

	w->begin(w, &family);
	for_each_cgroup(c, list)
	{
		struct tap_metric_label labels[MAX_LABELS];

		set_labels(labels, c, NULL, NULL);
		w->number(w, labels, c->censored);
	}
	w->end(w);
}

/* cgroups whose quota was used up */
static void write_throttled(struct tap_metrics_writer *w, const struct cgroups *list)
{
	static const struct tap_metric_family family = {
		"sched_throttled_seconds",
		"Time that the quota of a cgroup was used up, of all CPUs together (cpu.stat).",
		TAP_METRIC_COUNTER,
		true,
	};

	w->begin(w, &family);
	for_each_cgroup(c, list)
	{
		struct tap_metric_label labels[MAX_LABELS];

		if (!c->throttled_ns)
			continue;
		set_labels(labels, c, NULL, NULL);
		w->number(w, labels, c->throttled_ns);
	}
	w->end(w);
}

static void write_run_time(struct tap_metrics_writer *w, const struct cgroups *list)
{
	static const struct tap_metric_family family = {
		"sched_cpu_seconds",
		"Time that the tasks of a cgroup ran.",
		TAP_METRIC_COUNTER,
		true,
	};

	w->begin(w, &family);
	for_each_cgroup(c, list)
	{
		struct tap_metric_label labels[MAX_LABELS];

		set_labels(labels, c, NULL, NULL);
		w->number(w, labels, c->run_ns);
	}
	w->end(w);
}

/* Return: number of series of one cgroup. */
static unsigned int nr_series(const struct tap_metrics_writer *w, const struct tap_total *c)
{
	unsigned int nr = 2 + !!c->throttled_ns; /* run time, censored */

	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		nr += c->waits[k] ? w->histogram_series : 0;
	if (waited(c))
		nr += 5;
	for (unsigned int i = 0; i < TAP_TOTALS_CULPRITS && c->culprits[i].path; i++)
		nr++;
	return nr;
}

/* The first cgroups that have at most @max_series series in all. */
static struct cgroups choose(const struct tap_metrics_writer *w, const struct tap_totals *t,
			     unsigned int max_series, uint64_t *dropped)
{
	struct cgroups list = { .v = t->v };
	uint64_t nr = 0;

	for (unsigned int i = 0; i < t->nr; i++) {
		unsigned int more = nr_series(w, t->v[i]);

		nr += more;
		if (nr <= max_series)
			list.nr = i + 1;
		else
			*dropped += more;
	}
	return list;
}

/* ---- families of the machine ---- */

/* An observation stands for a microsecond: a histogram's counts are integers in all formats. */
static void write_lengths(struct tap_metrics_writer *w, const struct tap_totals *t)
{
	static const struct tap_metric_family family = {
		"sched_run_queue_tasks",
		"Runnable tasks of a CPU, the one that runs included. An observation is a "
		"microsecond "
		"of a CPU.",
		TAP_METRIC_HISTOGRAM,
	};
	static const unsigned int limits[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64 };
	uint64_t us[TAP_TALLY_LENGTHS];
	const struct tap_metric_lengths h = { limits, us, sizeof(limits) / sizeof(limits[0]),
					      t->runnable_ns / 1000 };

	_Static_assert(sizeof(limits) / sizeof(limits[0]) + 1 == TAP_TALLY_LENGTHS,
		       "those of tap_tally_length()");
	for (unsigned int i = 0; i < TAP_TALLY_LENGTHS; i++)
		us[i] = t->length_ns[i] / 1000;
	w->begin(w, &family);
	w->lengths(w, &h);
	w->end(w);
}

static void write_migrations(struct tap_metrics_writer *w, const struct tap_totals *t)
{
	static const struct tap_metric_family family = {
		"sched_migrations",
		"Moves of a task to another CPU: with the same last level of cache, of the same "
		"NUMA "
		"node, or another one.",
		TAP_METRIC_COUNTER,
	};

	w->begin(w, &family);
	for (unsigned int i = 0; i < TAP_TALLY_SCOPES; i++) {
		const struct tap_metric_label labels[] = { { "scope", tap_migration_scopes[i] },
							   { 0 } };

		w->number(w, labels, t->migrations[i]);
	}
	w->end(w);
}

static void write_idle_while_waiting(struct tap_metrics_writer *w, const struct tap_totals *t)
{
	static const struct tap_metric_family family = {
		"sched_idle_while_waiting_seconds",
		"Time that tasks waited for a CPU while another one with the same last level of "
		"cache, which they could use, was idle. Only waits of 1 ms or longer; for each, "
		"the longest time that a single CPU was idle.",
		TAP_METRIC_COUNTER,
		true,
	};

	w->begin(w, &family);
	for (unsigned int i = 0; i < t->nr_llcs; i++) {
		char llc[16];
		const struct tap_metric_label labels[] = { { "llc", llc }, { 0 } };

		snprintf(llc, sizeof(llc), "%u", t->llcs[i].llc);
		w->number(w, labels, t->llcs[i].idle_while_waiting_ns);
	}
	w->end(w);
}

static void write_numbers(struct tap_metrics_writer *w, const struct tap_totals *t,
			  const struct tap_metrics_own *own)
{
	const struct {
		struct tap_metric_family family;
		uint64_t v;
		bool is_absent;
	} numbers[] = {
		{ { "sched_idle_seconds", "Time that CPUs were idle.", TAP_METRIC_COUNTER, true },
		  t->idle_ns },
		{ { "sched_switches", "Switches from one task to another.", TAP_METRIC_COUNTER },
		  t->switches },
		{ { "schedtap_probe_seconds",
		    "CPU time of the BPF program, estimated from a sample of 20 ms each minute.",
		    TAP_METRIC_COUNTER, true },
		  own->probe_ns,
		  !own->has_probe_ns },
		{ { "schedtap_cpu_seconds", "CPU time of this process.", TAP_METRIC_COUNTER, true },
		  own->cpu_ns },
		{ { "schedtap_lost_switches",
		    "Switches for which the kernel did not run the BPF program.",
		    TAP_METRIC_COUNTER },
		  own->lost },
		{ { "schedtap_cgroups_folded",
		    "New cgroups that count with an ancestor, because there was no place for them.",
		    TAP_METRIC_COUNTER },
		  own->folded },
		{ { "schedtap_series_dropped",
		    "Series that were left out of an answer, because there were too many.",
		    TAP_METRIC_COUNTER },
		  own->dropped },
		{ { "schedtap_start_time_seconds", "When schedtap began, since 1970.",
		    TAP_METRIC_GAUGE, true },
		  (uint64_t)own->start_ns },
	};

	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (numbers[i].is_absent)
			continue;
		w->begin(w, &numbers[i].family);
		w->number(w, NULL, numbers[i].v);
		w->end(w);
	}
}

static void write_build(struct tap_metrics_writer *w, bool from_waking)
{
	static const struct tap_metric_family family = {
		"schedtap_build_info", "The version of schedtap, and where its waits begin.",
		TAP_METRIC_GAUGE
	};
	const struct tap_metric_label labels[] = { { "version", TAP_VERSION },
						   { "waits_begin",
						     from_waking ? "waking" : "queued" },
						   { 0 } };

	w->begin(w, &family);
	w->number(w, labels, 1);
	w->end(w);
}

void tap_metrics_write(struct tap_metrics_writer *w, const struct tap_totals *totals,
		       struct tap_metrics_own *own, unsigned int max_series)
{
	const struct cgroups list = choose(w, totals, max_series, &own->dropped);

	write_waits(w, &list, own->from_waking);
	write_causes(w, &list);
	write_censored(w, &list);
	write_run_time(w, &list);
	write_throttled(w, &list);
	write_lengths(w, totals);
	write_migrations(w, totals);
	write_idle_while_waiting(w, totals);
	write_numbers(w, totals, own);
	write_build(w, own->from_waking);
	w->finish(w);
}
