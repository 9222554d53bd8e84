// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a recording, opened as every report does: it is refused, or it can be read to its
 * end twice with the same result; then a pass over all of it and a pass over its middle must
 * account for every nanosecond. Built by clang with -fsanitize=fuzzer,address,undefined; with
 * -DFUZZ_MAIN it is a plain program that reads the files given as arguments.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "analysis/critical/path.h"
#include "analysis/critical/watch.h"
#include "analysis/explain/explain.h"
#include "analysis/folded.h"
#include "show/drawn/part.h"
#include "show/export/export.h"
#include "show/report/measured.h"
#include "show/report/report.h"
#include "check.h"
#include "mutate.h"

/* A few bytes can describe any number of CPUs that share sub-buffers, so limit the events. */
#define MAX_EVENTS 200000u

/* ---- the reader: each event in its place, with all its bytes ---- */

/* Read all events. Return: their number; @sum: a checksum of their content. */
static unsigned int read_all(struct tap_reader *r, uint64_t *sum)
{
	struct tap_err err;
	struct tap_event ev;
	unsigned int nr = 0;
	uint64_t last = 0;

	*sum = 0;
	tap_reader_rewind(r);
	while (nr <= MAX_EVENTS && tap_reader_next(r, &ev, &err) == 1) {
		CHECK(ev.ts_ns >= last);
		CHECK(!ev.fmt || ev.size >= ev.fmt->min_size);
		CHECK(ev.fmt || ev.lost.first_ns <= ev.lost.last_ns);
		last = ev.ts_ns;
		*sum = *sum * 31 + last + (ev.fmt ? 0 : ev.lost.count);
		for (uint32_t i = 0; ev.fmt && i < ev.size; i++)
			*sum = *sum * 31 + ((const unsigned char *)ev.data)[i];
		nr++;
	}
	return nr;
}

/* Return: true if the recording is usable; then @from and @to are set to its middle third. */
static bool check_reader(const char *path, uint64_t *from, uint64_t *to)
{
	struct tap_reader_span span;
	struct tap_reader *r;
	struct tap_err err;
	uint64_t first, second;
	unsigned int nr;

	if (tap_reader_open(path, &r, &err))
		return false;
	nr = read_all(r, &first);
	span = tap_reader_span(r);
	CHECK(read_all(r, &second) == nr && first == second);
	tap_reader_free(r);
	*from = span.first_ns < span.last_ns ? span.first_ns + (span.last_ns - span.first_ns) / 3
					     : 0;
	*to = span.first_ns < span.last_ns ? span.last_ns - (span.last_ns - span.first_ns) / 3 : 0;
	return nr <= MAX_EVENTS;
}

/* ---- a report: its numbers add up ---- */

#define MAX_PATHS 50u
#define NR_FOLDED 3u /* one for each enum tap_folded_of */

struct checks {
	struct tap_run run;
	struct tap_event_stacks *stacks;
	struct tap_folded folded[NR_FOLDED];
	struct tap_explain_waits waits;
	struct tap_explain explained;
	struct tap_critical_watch critical;
	uint64_t cpu_ns; /* of all CPUs */
	uint64_t last_ns;
};

static bool pick_all(void *ctx, const struct tap_task *task, int cpu)
{
	(void)ctx;
	return task && cpu >= -1;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct checks *checks = ctx;

	(void)t;
	CHECK(s->from_ns <= s->to_ns && s->to_ns <= checks->run.window.to_ns);
	CHECK(s->to_ns >= checks->run.window.from_ns);
	CHECK(s->state != TAP_STATE_DEAD && !(s->whole && s->state == TAP_STATE_UNKNOWN));
	CHECK(s->state != TAP_STATE_RUNNING || s->cpu >= 0);
	CHECK(s->next != TAP_STATE_RUNNING || s->state == s->next || s->next_cpu >= 0);
	return 0;
}

/* The components of each wait add up to it. */
static int on_wait(void *ctx, const struct tap_wait_told *w)
{
	struct checks *checks = ctx;
	uint64_t sum_ns = 0;

	for (unsigned int i = 0; i < w->nr_pieces; i++) {
		CHECK(w->pieces[i].ns &&
		      (w->pieces[i].kind >= TAP_PIECE_STOP) == (w->pieces[i].task != NULL));
		CHECK(w->pieces[i].from_ns >= w->from_ns &&
		      w->pieces[i].from_ns + w->pieces[i].ns <= w->to_ns);
		CHECK(!i || w->pieces[i].from_ns > w->pieces[i - 1].from_ns);
		sum_ns += w->pieces[i].ns;
	}
	CHECK(sum_ns == w->to_ns - w->from_ns);
	return tap_explain_wait(&checks->explained, &checks->waits, w);
}

static int on_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct checks *checks = ctx;

	(void)t;
	CHECK(s->from_ns < s->to_ns);
	CHECK(s->from_ns >= checks->run.window.from_ns && s->to_ns <= checks->run.window.to_ns);
	CHECK((s->what == TAP_CPU_RUN) == (s->task != NULL));
	checks->cpu_ns += s->to_ns - s->from_ns;
	return 0;
}

static int in_order(struct checks *checks, uint64_t ts_ns)
{
	CHECK(ts_ns >= checks->last_ns);
	CHECK(ts_ns >= checks->run.window.from_ns && ts_ns <= checks->run.window.to_ns);
	checks->last_ns = ts_ns;
	return 0;
}

static int on_wakeup(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *w)
{
	(void)t;
	CHECK(w->task);
	return in_order(ctx, w->ts_ns);
}

static int on_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	(void)t;
	CHECK(m->task && m->why < TAP_NR_MIGRATE);
	return in_order(ctx, m->ts_ns);
}

static const struct tap_watcher_ops check_ops = {
	.states = TAP_STATE_ALL,
	.lost_states = TAP_STATE_ALL,
	.interval = on_interval,
	.cpu = on_cpu,
	.wakeup = on_wakeup,
	.migration = on_migration,
};

static void check_sums(struct checks *checks)
{
	struct tap_run *run = &checks->run;
	uint64_t window_ns = tap_window_ns(&run->window), lost = 0;
	unsigned int nr_cpus, nr_tasks;
	const struct tap_cpu *cpus = tap_timeline_cpus(run->timeline, &nr_cpus);
	struct tap_task *const *tasks = tap_timeline_tasks(run->timeline, &nr_tasks);

	for (unsigned int i = 0; i < nr_cpus; i++) {
		CHECK(cpus[i].run_ns + cpus[i].idle_ns + cpus[i].offline_ns + cpus[i].unknown_ns +
			      cpus[i].outside_ns ==
		      window_ns);
		lost += cpus[i].lost;
	}
	CHECK(checks->cpu_ns == nr_cpus * window_ns);
	CHECK(lost <= run->survey.lost);
	for (unsigned int i = 0; i < nr_tasks; i++) {
		uint64_t sum_ns = 0;
		uint32_t len;

		for (int state = 0; state < TAP_NR_STATES; state++)
			sum_ns += tasks[i]->total_ns[state];
		CHECK(sum_ns == tap_task_life_ns(run->timeline, tasks[i]));
		CHECK(sum_ns <= window_ns && !tasks[i]->total_ns[TAP_STATE_DEAD]);
		tap_run_label(run, tasks[i], &len);
		CHECK(len);
	}
}

/* Each task's critical path has neither gaps nor overlaps. */
static int on_segment(void *ctx, const struct tap_path_segment *s)
{
	uint64_t *at_ns = ctx;

	CHECK(s->to_ns == *at_ns && s->from_ns < s->to_ns && s->state < TAP_NR_PATH_STATES);
	*at_ns = s->from_ns;
	return 0;
}

static int check_paths(struct checks *checks)
{
	struct tap_window window = checks->run.window;
	struct tap_walk walk = { .log = &checks->critical.log };
	unsigned int nr;
	int ret = 0;

	tap_timeline_tasks(checks->run.timeline, &nr);
	for (unsigned int i = 0; !ret && i < nr && i < MAX_PATHS; i++) {
		uint64_t at_ns = window.to_ns;

		ret = tap_walk_back(&walk, i, window.from_ns, window.to_ns, on_segment, &at_ns);
		CHECK(ret || at_ns == window.from_ns);
	}
	tap_walk_release(&walk);
	return ret;
}

/* The kinds add up to all wait time, and the pairs to the time of all runners. */
static void check_explained(struct tap_explain *e)
{
	uint64_t kinds_ns = 0, runners_ns = 0;

	tap_explain_end(e);
	for (unsigned int i = 0; i < TAP_NR_PIECE_KINDS; i++)
		kinds_ns += e->kinds[i].ns;
	CHECK(kinds_ns == e->all.ns);
	for (unsigned int i = 0; i < e->nr_runners; i++)
		runners_ns += e->runners[i].ns;
	for (unsigned int i = 0; i < e->nr_pairs; i++)
		runners_ns -= e->pairs[i].sum.ns;
	CHECK(!runners_ns);
}

/* Each entry is one line, and they add up to the time of the tasks in @states. */
static void check_folded(struct checks *checks, struct tap_folded *f, uint32_t states)
{
	unsigned int nr;
	struct tap_task *const *tasks = tap_timeline_tasks(checks->run.timeline, &nr);
	const struct tap_folded_line *lines;
	struct tap_buf text = { 0 };
	uint64_t sum_ns = 0;

	lines = f->lines.v;
	for (unsigned int i = 0; i < f->lines.nr; i++) {
		tap_buf_clear(&text);
		tap_folded_put(f, &lines[i], &text);
		CHECK(text.len > 4 &&
		      memchr(text.data, '\n', text.len) == text.data + text.len - 1);
		CHECK(memchr(text.data, ';', text.len) > (void *)text.data);
		sum_ns += lines[i].ns;
	}
	for (unsigned int i = 0; states && i < nr; i++)
		for (unsigned int state = 0;
		     tap_timeline_had(checks->run.timeline, tasks[i]) && state < TAP_NR_STATES;
		     state++)
			sum_ns -= states & TAP_STATE_BIT(state) ? tasks[i]->total_ns[state] : 0;
	CHECK(!states || !sum_ns);
	tap_buf_release(&text);
}

static int feed(struct checks *checks, struct tap_err *err)
{
	struct tap_watcher watchers[TAP_MAX_WATCHERS];
	unsigned int nr = 0;

	tap_explain_waits_init(&checks->waits, &(const struct tap_explain_waits_opts){
						       .asks_avoidable = true,
						       .tell = on_wait,
						       .ctx = checks,
					       });
	if (tap_event_stacks_new(tap_reader_info(checks->run.rec.reader), &checks->run.survey,
				 &checks->stacks) ||
	    tap_explain_init(&checks->explained, 5))
		return -ENOMEM;
	watchers[nr++] =
		(struct tap_watcher){ .ops = &tap_event_stacks_ops, .ctx = checks->stacks };
	watchers[nr++] = (struct tap_watcher){ .ops = &check_ops, .ctx = checks };
	watchers[nr++] =
		(struct tap_watcher){ .ops = &tap_explain_waits_ops, .ctx = &checks->waits };
	watchers[nr++] =
		(struct tap_watcher){ .ops = &tap_critical_watch_ops, .ctx = &checks->critical };
	for (unsigned int i = 0; i < NR_FOLDED; i++) {
		checks->folded[i] = (struct tap_folded){
			.of = i,
			.window = checks->run.window,
			.stacks = checks->stacks,
			.picks = pick_all,
		};
		watchers[nr++] = (struct tap_watcher){ .ops = &tap_folded_ops,
						       .ctx = &checks->folded[i],
						       .states = tap_folded_states(i) };
	}
	return tap_run_watch(&checks->run, watchers, nr, err);
}

static void check_report(const char *path, const char *window)
{
	const struct tap_input_opts opts = { .input = { &path, 1 }, .window = window };
	struct checks checks = { 0 };
	struct tap_err err;
	bool usage;

	if (!tap_run_input(&checks.run, &opts, NULL, &usage, &err) &&
	    !tap_run_survey(&checks.run, &err) && !feed(&checks, &err) && !check_paths(&checks)) {
		check_sums(&checks);
		check_explained(&checks.explained);
		/* of wakeups only finished sleeps are counted */
		for (unsigned int i = 0; i < NR_FOLDED; i++)
			check_folded(&checks, &checks.folded[i],
				     i == TAP_FOLDED_WAKEUPS ? 0 : tap_folded_states(i));
	}
	for (unsigned int i = 0; i < NR_FOLDED; i++)
		tap_folded_release(&checks.folded[i]);
	tap_explain_waits_release(&checks.waits);
	tap_explain_release(&checks.explained);
	tap_critical_watch_release(&checks.critical);
	tap_event_stacks_free(checks.stacks);
	tap_run_close(&checks.run);
}

/*
 * Metrics have distinct names, shares are at most 100 %, and no time is longer than the recording.
 */
static void check_metrics(const char *path, bool by_task)
{
	const struct tap_input_opts input = { 0 };
	const struct tap_measured_opts opts = { .input = &input,
						.by_task = by_task,
						.has_blocks = !by_task };
	struct tap_measured m = { .path = path };
	struct tap_err err;
	bool usage;

	if (!tap_measured_read(&m, 1, &opts, &usage, &err))
		for (unsigned int i = 0; i < m.metrics.nr; i++) {
			const struct tap_metric *one = &m.metrics.v[i];

			CHECK(one->value >= 0 && one->value < 1e20);
			CHECK(!i || strcmp(one->name, m.metrics.v[i - 1].name));
			/* an error may exceed the value that it refers to */
			CHECK(one->unit != TAP_METRIC_PCT || by_task || one->value < 100.000001 ||
			      strstr(one->name, "error.share"));
		}
	tap_measured_release(&m);
}

/*
 * A trace consists of packets, each filled completely by its fields. Return: the end of the number.
 */
static const unsigned char *read_varint(const unsigned char *p, const unsigned char *end,
					uint64_t *v)
{
	*v = 0;
	for (unsigned int shift = 0; shift < 70; shift += 7) {
		CHECK(p < end);
		*v |= (uint64_t)(*p & 0x7f) << (shift < 64 ? shift : 63);
		if (*p++ < 0x80)
			return p;
	}
	CHECK(false);
	return end;
}

static void check_fields(const unsigned char *p, const unsigned char *end, unsigned int depth)
{
	uint64_t key, v;

	while (p < end) {
		p = read_varint(p, end, &key);
		CHECK(key >> 3);
		if ((key & 7) == 0) {
			p = read_varint(p, end, &v);
		} else if ((key & 7) == 1) {
			CHECK(end - p >= 8);
			p += 8;
		} else {
			CHECK((key & 7) == 2);
			p = read_varint(p, end, &v);
			CHECK(v <= (uint64_t)(end - p) && (depth || key >> 3 == 1));
			if (!depth)
				check_fields(p, p + v, 1);
			p += v;
		}
	}
}

static void begin_nothing(void *ctx)
{
	(void)ctx;
}

static void check_export(const char *path, const char *window)
{
	const struct tap_export_opts opts = { .input = { .input = { &path, 1 },
							 .window = window } };
	struct tap_export_file file = { .fd = memfd_create("fuzz_export", MFD_CLOEXEC) };
	struct tap_export e = {
		.opts = &opts, .begin = begin_nothing, .file = &file, .machine.nr = 1
	};
	struct tap_buf trace = { 0 };
	struct tap_err err;
	char at[64];
	bool usage;

	snprintf(at, sizeof(at), "/proc/self/fd/%d", file.fd);
	CHECK(file.fd >= 0);
	if (!tap_run_input(&e.run, &opts.input, NULL, &usage, &err) &&
	    !tap_export_perfetto.write(&e, &err) && !tap_buf_read_file(&trace, at))
		check_fields((unsigned char *)trace.data, (unsigned char *)trace.data + trace.len,
			     0);
	tap_buf_release(&trace);
	close(file.fd);
	tap_run_close(&e.run);
}

/* Count the numbers in a column; the last one must end at its end. */
static uint64_t count_numbers(const unsigned char *bytes, size_t len, const char *type)
{
	uint64_t nr = 0;

	if (strcmp(type, "varint"))
		return len / (strcmp(type, "u8") ? 4 : 1);
	for (size_t i = 0; i < len; i++)
		nr += bytes[i] < 0x80;
	CHECK(!len || bytes[len - 1] < 0x80);
	return nr;
}

/* Check the columns against docs/internals/html.md. */
static void check_columns(const struct tap_buf *part)
{
	const unsigned char *bytes = (const unsigned char *)part->data;
	const size_t len =
		bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
	/* times may exceed jansson's integers */
	json_t *json = json_loadb(part->data + 4, len, JSON_DECODE_INT_AS_REAL, NULL), *place;
	const double slices = json_number_value(json_object_get(json, "slices"));
	const char *name, *type;
	double at, nr;

	CHECK(json && (len + 4) % 8 == 0);
	json_object_foreach(json_object_get(json, "columns"), name, place) {
		CHECK(!json_unpack(place, "[F,F,s]", &at, &nr, &type));
		CHECK((uint64_t)at % 8 == 0 && at >= (double)len + 4 && nr >= 0 &&
		      at + nr <= (double)part->len);
		nr = (double)count_numbers(bytes + (size_t)at, (size_t)nr, type);
		CHECK(strncmp(name, "slices.", 7) || !strcmp(name, "slices.nr") || nr == slices);
	}
	json_decref(json);
}

static void check_part(const char *path, const char *window, uint64_t max_slices)
{
	const struct tap_input_opts input = { .input = { &path, 1 }, .window = window };
	struct tap_lanes lanes = { 0 };
	struct tap_buf part = { 0 };
	struct tap_run run;
	struct tap_err err;
	bool usage;

	if (!tap_run_input(&run, &input, NULL, &usage, &err) && !tap_run_survey(&run, &err)) {
		const struct tap_drawn_opts opts = {
			.origin_ns = run.window.from_ns,
			.lanes = &lanes,
			.max_slices = max_slices,
			.has_levels = true,
			.buckets = 200,
			.max_tasks = 8,
			.has_curves = true,
		};

		CHECK(!tap_lanes_init(&lanes, &run));
		if (!tap_drawn_part(&run, &opts, &part, NULL, &err))
			check_columns(&part);
	}
	tap_lanes_release(&lanes);
	tap_buf_release(&part);
	tap_run_close(&run);
}

static void check_file(const char *path)
{
	uint64_t from, to;
	char window[64];

	if (!check_reader(path, &from, &to))
		return;
	snprintf(window, sizeof(window), "%juns,%juns", (uintmax_t)from, (uintmax_t)to);
	check_report(path, NULL);
	check_report(path, window);
	check_metrics(path, false);
	check_metrics(path, true);
	check_export(path, NULL);
	check_export(path, window);
	check_part(path, NULL, 1000);
	check_part(path, window, 2);
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	return 0;
}
#else
/*
 * Write a file like the recorder's next one, with the number 2. Return: a descriptor that the
 * caller closes; -1 if this is not file 1.
 */
static int make_next(const unsigned char *data, size_t size)
{
	static const char key[] = "\"file\":1";
	const unsigned char *at = memmem(data, size, key, sizeof(key) - 1);
	unsigned char *next = at ? malloc(size) : NULL;
	int fd;

	if (!next)
		return -1;
	memcpy(next, data, size);
	next[at - data + (ptrdiff_t)sizeof(key) - 2] = '2';
	fix_checksums(next, size);
	fd = memfd_create("fuzz_next", MFD_CLOEXEC);
	CHECK(fd >= 0 && !tap_write_all(fd, next, size));
	free(next);
	return fd;
}

/* Join two files of one recorder; the second one may have the same events, others, or none. */
static void check_joined(const char *path, const unsigned char *data, size_t size)
{
	const char *paths[2] = { path };
	struct tap_reader *r;
	struct tap_err err;
	uint64_t first, second;
	char other[64];
	unsigned int nr;
	int fd = make_next(data, size);

	if (fd < 0)
		return;
	snprintf(other, sizeof(other), "/proc/self/fd/%d", fd);
	paths[1] = other;
	if (!tap_reader_open_files(paths, 2, &r, &err)) {
		nr = read_all(r, &first);
		CHECK(read_all(r, &second) == nr && first == second);
		tap_reader_free(r);
	}
	close(fd);
}

size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t max_size,
			       unsigned int seed);

size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t max_size, unsigned int seed)
{
	static struct scan s;

	s = (struct scan){ .data = data, .len = size, .max = max_size };
	scan_recording(&s, 0, size);
	mutate(&s, seed);
	fix_checksums(data, s.len);
	return s.len;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz_report", MFD_CLOEXEC);
	char path[64];

	if (fd < 0 || tap_write_all(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_file(path);
	check_joined(path, data, size);
	close(fd);
	return 0;
}
#endif
