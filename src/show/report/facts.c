// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/facts.h"

#include <errno.h>
#include <stdlib.h>

static void read_cpus(struct tap_facts *f, const struct tap_run *run)
{
	const char *governor;
	json_t *cpu, *capacity;
	size_t i;

	if (tap_reader_info(run->rec.reader)->nr_cpus)
		tap_buf_u64(&f->text[TAP_FACT_CPUS], tap_reader_info(run->rec.reader)->nr_cpus);
	json_array_foreach(json_object_get(run->rec.meta, "cpus"), i, cpu) {
		capacity = json_object_get(cpu, "capacity");
		if (json_is_integer(capacity))
			tap_buf_printf(&f->text[TAP_FACT_CAPACITIES], "%s%lld", i ? "," : "",
				       (long long)json_integer_value(capacity));
		governor = json_string_value(json_object_get(cpu, "governor"));
		if (governor)
			tap_buf_printf(&f->text[TAP_FACT_GOVERNORS], "%s%s", i ? "," : "",
				       governor);
	}
}

/*
 * Read release and version. The version includes the preemption model: PREEMPT_RT, PREEMPT_DYNAMIC.
 */
static void read_kernel(struct tap_facts *f, const struct tap_run *run)
{
	const json_t *host = json_object_get(run->rec.meta, "host");
	const char *release = json_string_value(json_object_get(host, "release"));
	const char *version = json_string_value(json_object_get(host, "version"));

	if (release && version)
		tap_buf_printf(&f->text[TAP_FACT_KERNEL], "%s %s", release, version);
	else
		tap_buf_puts(&f->text[TAP_FACT_KERNEL], tap_reader_info(run->rec.reader)->uname);
}

static void read_text(struct tap_facts *f, enum tap_fact fact, const struct tap_run *run,
		      const char *key)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(run->rec.meta, "host"), key));

	if (text)
		tap_buf_puts(&f->text[fact], text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Read the names of the enabled events, sorted, one per line. */
static int read_events(struct tap_facts *f, const struct tap_run *run)
{
	const json_t *events = json_object_get(run->rec.meta, "events");
	const char **names = calloc(json_array_size(events) + 1, sizeof(*names));
	unsigned int nr = 0;
	json_t *event;
	size_t i;

	if (!names)
		return -ENOMEM;
	json_array_foreach(events, i, event) {
		const char *status = json_string_value(json_object_get(event, "status"));
		const char *name = json_string_value(json_object_get(event, "name"));

		if (status && name && !strcmp(status, "on"))
			names[nr++] = name;
	}
	qsort(names, nr, sizeof(*names), by_name);
	for (i = 0; i < nr; i++)
		tap_buf_printf(&f->text[TAP_FACT_EVENTS], "%s\n", names[i]);
	free(names);
	return 0;
}

int tap_facts_read(struct tap_facts *f, const struct tap_run *run)
{
	int ret = read_events(f, run);

	read_cpus(f, run);
	read_kernel(f, run);
	read_text(f, TAP_FACT_PREEMPTION, run, "preempt");
	read_text(f, TAP_FACT_SLICE, run, "base_slice_ns");
	f->lost = run->survey.lost;
	f->lost_unknown = run->survey.lost_unknown;
	for (enum tap_fact i = 0; i < TAP_NR_FACTS; i++)
		ret = ret ?: f->text[i].err;
	return ret;
}

int tap_facts_read_bench(struct tap_facts *f, const struct tap_bench_file *from)
{
	static const struct {
		enum tap_fact what;
		const char *key;
	} texts[] = { { TAP_FACT_GOVERNORS, "governor" },
		      { TAP_FACT_KERNEL, "kernel" },
		      { TAP_FACT_PREEMPTION, "preemption" },
		      { TAP_FACT_SCHEDULER, "scheduler" } },
	  numbers[] = { { TAP_FACT_CPUS, "cpus" }, { TAP_FACT_SLICE, "base_slice_ns" } };
	int ret = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		tap_buf_puts(&f->text[texts[i].what],
			     tap_bench_file_text(from, texts[i].key) ?: "");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (tap_bench_file_number(from, numbers[i].key) >= 0)
			tap_buf_s64(&f->text[numbers[i].what],
				    tap_bench_file_number(from, numbers[i].key));
	f->lost = from->lost;
	for (enum tap_fact i = 0; i < TAP_NR_FACTS; i++)
		ret = ret ?: f->text[i].err;
	return ret;
}

void tap_facts_release(struct tap_facts *f)
{
	for (enum tap_fact i = 0; i < TAP_NR_FACTS; i++)
		tap_buf_release(&f->text[i]);
}

bool tap_facts_has_event(struct tap_facts *f, const char *name)
{
	size_t len = strlen(name);

	for (const char *s = tap_buf_str(&f->text[TAP_FACT_EVENTS]); (s = strstr(s, name));
	     s += len)
		if (s[len] == '\n' && (s == f->text[TAP_FACT_EVENTS].data || s[-1] == '\n'))
			return true;
	return false;
}

/*
 * Find the first line of @lines that is not in @in; both are sorted. Return: its length; 0: all
 * are.
 */
static size_t first_missing(const char *lines, const char *in, const char **line)
{
	for (size_t len; *lines; lines += len + 1) {
		len = strcspn(lines, "\n");
		while (*in && strncmp(in, lines, len + 1) < 0)
			in += strcspn(in, "\n") + 1;
		*line = lines;
		if (strncmp(in, lines, len + 1))
			return len;
	}
	return 0;
}

static void put_events(const char *a, const char *file_a, const char *b, const char *file_b,
		       struct tap_buf *out)
{
	const char *name;
	size_t len = first_missing(a, b, &name);
	bool of_a = len;

	if (!of_a)
		len = first_missing(b, a, &name);
	tap_buf_printf(out, "the events differ: %.*s in '%.300s' and not in '%.300s'", (int)len,
		       name, of_a ? file_a : file_b, of_a ? file_b : file_a);
}

bool tap_facts_differ(struct tap_facts *a, const char *file_a, struct tap_facts *b,
		      const char *file_b, enum tap_fact what, struct tap_buf *out)
{
	static const char *const names[TAP_NR_FACTS] = {
		[TAP_FACT_CPUS] = "number of CPUs differs",
		[TAP_FACT_CAPACITIES] = "capacities of CPUs differ",
		[TAP_FACT_GOVERNORS] = "governors of frequency differ",
		[TAP_FACT_KERNEL] = "kernel differs",
		[TAP_FACT_PREEMPTION] = "preemption mode differs",
		[TAP_FACT_SLICE] = "base slice (ns) differs",
		[TAP_FACT_SCHEDULER] = "scheduler differs",
	};
	const char *of_a = tap_buf_str(&a->text[what]), *of_b = tap_buf_str(&b->text[what]);

	if (!*of_a || !*of_b || !strcmp(of_a, of_b))
		return false;
	if (what == TAP_FACT_EVENTS)
		put_events(of_a, file_a, of_b, file_b, out);
	else
		tap_buf_printf(out, "the %s: %.200s in '%.300s', %.200s in '%.300s'", names[what],
			       of_a, file_a, of_b, file_b);
	return true;
}
