// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * read FILE [NR [back | time] | FROM TO]: read the numbers of top from a recording
 * (src/show/recorded/): of all of it, then of NR parts of equal length, in order or from the last
 * one to the first; or of the part from FROM to TO, ns. Print one JSON object for each reading;
 * with "time", instead print the CPU time that they took.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "show/recorded/recorded.h"

static _Noreturn void die(const struct tap_err *err)
{
	fprintf(stderr, "read: %s\n", err->text);
	exit(1);
}

/* Return how long this process has used CPUs, which load of others does not change. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static json_t *numbers(const uint64_t *v, unsigned int nr)
{
	json_t *array = json_array();

	for (unsigned int i = 0; i < nr; i++)
		json_array_append_new(array, json_integer((json_int_t)v[i]));
	return array;
}

static json_t *buckets_of(const uint32_t *v, unsigned int nr)
{
	json_t *object = json_object();
	char key[16];

	for (unsigned int i = 0; i < nr; i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (v[i])
			json_object_set_new(object, key, json_integer(v[i]));
	}
	return object;
}

static void put(json_t *to, const char *key, uint64_t v)
{
	json_object_set_new(to, key, json_integer((json_int_t)v));
}

/* Return the slot's name; cgroups that had a path one after the other are "PATH", "PATH 2"... */
static const char *name_of(const struct tap_tally_view *v, uint64_t slot)
{
	static char name[4200];
	unsigned int nr = 1;

	for (uint64_t i = 0; i < slot; i++)
		nr += v->names[i] && !strcmp(v->names[i], v->names[slot]);
	if (nr == 1)
		return v->names[slot];
	snprintf(name, sizeof(name), "%s %u", v->names[slot], nr);
	return name;
}

static json_t *culprits_of(const struct tap_tally_view *v, const struct tap_tally_row *row)
{
	json_t *object = json_object();

	for (unsigned int i = 0; i < TAP_TALLY_CULPRITS; i++)
		if (row->culprits[i].slot)
			put(object, name_of(v, row->culprits[i].slot), row->culprits[i].ns);
	return object;
}

static json_t *row_of(const struct tap_tally_view *v, unsigned int slot)
{
	const struct tap_tally_row *row = &v->rows[slot];
	json_t *o = json_object(), *kinds = json_array();

	put(o, "run_ns", v->run_ns[slot]);
	json_object_set_new(o, "wait_ns", numbers((const uint64_t *)row->wait_ns, TAP_TALLY_KINDS));
	for (unsigned int i = 0; i < TAP_TALLY_KINDS; i++)
		json_array_append_new(kinds, buckets_of(row->buckets[i], TAP_TALLY_BUCKETS));
	json_object_set_new(o, "buckets", kinds);
	put(o, "self_ns", row->self_ns);
	put(o, "idle_ns", row->idle_ns);
	put(o, "kernel_ns", row->kernel_ns);
	put(o, "other_ns", row->other_ns);
	put(o, "elsewhere_ns", row->elsewhere_ns);
	json_object_set_new(o, "culprits", culprits_of(v, row));
	put(o, "censored", row->censored[TAP_TALLY_UNSEEN]);
	return o;
}

static json_t *cpu_of(const struct tap_tally_cpu_view *c)
{
	json_t *o = json_object();

	put(o, "cpu", c->cpu);
	put(o, "cpu_ns", c->cpu_ns);
	put(o, "idle_ns", c->idle_ns);
	put(o, "switches", c->switches);
	json_object_set_new(o, "max_wait_ns", numbers(c->max_wait_ns, TAP_TALLY_KINDS));
	return o;
}

static json_t *task_of(const struct tap_tally_view *v, unsigned int i)
{
	const struct tap_tally_task *t = &v->tasks[i];
	json_t *o = json_object();

	put(o, "tid", t->tid);
	put(o, "tgid", t->tgid);
	json_object_set_new(o, "comm", json_string(t->comm));
	put(o, "start_ns", t->start_ns);
	put(o, "run_ns", t->run_ns);
	put(o, "wait_ns", t->wait_ns);
	put(o, "waits", t->waits);
	put(o, "voluntary", t->voluntary);
	put(o, "involuntary", t->involuntary);
	put(o, "migrations", t->migrations);
	put(o, "cpu", t->cpu);
	json_object_set_new(o, "slot", json_string(name_of(v, t->slot)));
	json_object_set_new(o, "prio", json_integer(t->prio));
	json_object_set_new(o, "buckets",
			    buckets_of(v->task_waits[i].buckets, TAP_TALLY_TASK_BUCKETS));
	put(o, "max_wait_ns", v->task_waits[i].max_wait_ns);
	return o;
}

static json_t *llc_of(const struct tap_tally_llc_view *l)
{
	json_t *o = json_object();

	put(o, "llc", l->llc);
	put(o, "idle_while_waiting_ns", l->idle_while_waiting_ns);
	return o;
}

static void print(const struct tap_tally_view *v)
{
	json_t *o = json_object(), *rows = json_object(), *cpus = json_array(),
	       *llcs = json_array(), *tasks = json_array();

	put(o, "from_ns", v->from_ns);
	put(o, "to_ns", v->to_ns);
	json_object_set_new(o, "from_waking", json_boolean(v->from_waking));
	put(o, "cpu_ns", v->cpu_ns);
	put(o, "missed", v->missed);
	put(o, "all_tasks", v->all_tasks);
	json_object_set_new(o, "migrations", numbers(v->migrations, TAP_TALLY_SCOPES));
	for (unsigned int i = 0; i < v->nr_slots; i++)
		if (v->names[i])
			json_object_set_new(rows, name_of(v, i), row_of(v, i));
	for (unsigned int i = 0; i < v->nr_cpus; i++)
		json_array_append_new(cpus, cpu_of(&v->cpus[i]));
	for (unsigned int i = 0; i < v->nr_llcs; i++)
		json_array_append_new(llcs, llc_of(&v->llcs[i]));
	for (unsigned int i = 0; i < v->nr_tasks; i++)
		json_array_append_new(tasks, task_of(v, i));
	json_object_set_new(o, "rows", rows);
	json_object_set_new(o, "cpus", cpus);
	json_object_set_new(o, "llcs", llcs);
	json_object_set_new(o, "tasks", tasks);
	json_dumpf(o, stdout, JSON_COMPACT | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(o);
}

static void read_one(struct tap_recorded *r, uint64_t from_ns, uint64_t to_ns, const char *how)
{
	const uint64_t began_ns = cpu_ns();
	struct tap_tally_view view;
	struct tap_err err = { 0 };

	if (tap_recorded_read(r, from_ns, to_ns, &view, &err))
		die(&err);
	if (strcmp(how, "time"))
		print(&view);
	else
		printf("%.3f s of the recording: %.1f ms\n", (double)(to_ns - from_ns) / 1e9,
		       (double)(cpu_ns() - began_ns) / 1e6);
}

static void read_parts(struct tap_recorded *r, struct tap_window w, unsigned int nr,
		       const char *how)
{
	read_one(r, w.from_ns, w.to_ns, how);
	for (unsigned int i = 0; i < nr; i++) {
		const unsigned int part = strcmp(how, "back") ? i : nr - 1 - i;

		read_one(r, w.from_ns + tap_window_ns(&w) * part / nr,
			 w.from_ns + tap_window_ns(&w) * (part + 1) / nr, how);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 3 ? argv[3] : "";
	struct tap_recorded *r;
	struct tap_reader *reader;
	struct tap_run run;
	struct tap_err err = { 0 };
	uint64_t began_ns;

	if (argc < 2)
		return 2;
	if (tap_reader_open(argv[1], &reader, &err))
		die(&err);
	if (tap_run_borrow(&run, reader, NULL, NULL, NULL, &err) || tap_run_survey(&run, &err))
		die(&err);
	began_ns = cpu_ns();
	if (tap_recorded_open(&r, &run, &err))
		die(&err);
	if (!strcmp(how, "time"))
		printf("open: %.1f ms\n", (double)(cpu_ns() - began_ns) / 1e6);
	if (argc > 3 && *how >= '0' && *how <= '9')
		read_one(r, strtoull(argv[2], NULL, 10), strtoull(how, NULL, 10), "");
	else
		read_parts(r, run.window, argc > 2 ? (unsigned int)atoi(argv[2]) : 0, how);
	tap_recorded_close(r);
	tap_run_close(&run);
	tap_reader_free(reader);
	return 0;
}
