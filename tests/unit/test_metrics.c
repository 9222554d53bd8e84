// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The metrics of `schedtap serve`: their sums, their formats, and which format a client gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tmp_dir.h"
#include "show/metrics/accept.h"
#include "show/metrics/metrics.h"
#include "show/metrics/throttled.h"

/* ---- a tally that is made up ---- */

#define SLOTS (TAP_TALLY_FIRST_FREE + 3)
#define FIRST TAP_TALLY_FIRST_FREE

static struct tap_tally_row rows[SLOTS];
static uint64_t run_ns[SLOTS], released_ns[SLOTS];
static const char *names[SLOTS];
static struct tap_tally_cpu_view cpu;
static struct tap_tally_llc_view llcs[2];
static unsigned int nr_llcs;

static struct tap_tally_view view_of(uint64_t to_ns)
{
	return (struct tap_tally_view){ .to_ns = to_ns,
					.nr_slots = SLOTS,
					.rows = rows,
					.run_ns = run_ns,
					.names = names,
					.released_ns = released_ns,
					.cpus = &cpu,
					.nr_cpus = 1,
					.llcs = llcs,
					.nr_llcs = nr_llcs };
}

static void begin_tally(const char *a, const char *b, const char *c)
{
	const char *all[SLOTS] = { "idle", "kernel threads", "/", NULL, a, b, c };

	memset(rows, 0, sizeof(rows));
	memset(run_ns, 0, sizeof(run_ns));
	memset(released_ns, 0, sizeof(released_ns));
	memcpy(names, all, sizeof(names));
}

/* Tasks of a slot waited for another slot. */
static void add_wait(unsigned int slot, unsigned int culprit, uint64_t ns)
{
	struct tap_tally_row *row = &rows[slot];
	unsigned int i = 0;

	row->wait_ns[TAP_TALLY_WAKING] += ns;
	row->buckets[TAP_TALLY_WAKING][tap_tally_bucket(ns)]++;
	while (row->culprits[i].ns && row->culprits[i].slot != culprit)
		i++;
	row->culprits[i].slot = culprit;
	row->culprits[i].ns += ns;
}

static struct tap_total *find(const struct tap_totals *t, const char *path)
{
	for (unsigned int i = 0; i < t->nr; i++)
		if (!strcmp(t->v[i]->path, path))
			return t->v[i];
	return NULL;
}

static uint64_t waited_ns(const struct tap_total *c)
{
	return c->wait_ns[0] + c->wait_ns[1] + c->wait_ns[2];
}

static uint64_t caused_ns(const struct tap_total *c)
{
	uint64_t ns = c->self_ns + c->idle_ns + c->kernel_ns + c->other_ns + c->elsewhere_ns;

	for (unsigned int i = 0; i < TAP_TOTALS_CULPRITS; i++)
		ns += c->culprits[i].ns;
	return ns;
}

static void add(struct tap_totals *t, uint64_t to_ns)
{
	const struct tap_tally_view view = view_of(to_ns);

	assert_int_equal(tap_totals_add(t, &view), 0);
	for (unsigned int i = 0; i < t->nr; i++)
		assert_int_equal(waited_ns(t->v[i]), caused_ns(t->v[i]));
}

/* ---- sums ---- */

static void readings_add_up(void **state)
{
	struct tap_totals t = { 0 };

	(void)state;
	begin_tally("/a", "/b", "/a/below");
	add_wait(FIRST, FIRST + 1, 1000000);
	run_ns[FIRST] = 7;
	add(&t, 1);
	add(&t, 2);
	assert_int_equal(find(&t, "/a")->run_ns, 14);
	assert_int_equal(find(&t, "/a")->wait_ns[TAP_TALLY_WAKING], 2000000);
	assert_int_equal(find(&t, "/a")->waits[TAP_TALLY_WAKING], 2);
	assert_string_equal(find(&t, "/a")->culprits[0].path, "/b");
	assert_int_equal(find(&t, "/a")->culprits[0].ns, 2000000);
	tap_totals_release(&t);
}

/* Below 5 % of a reading's waits a culprit gets no place of its own. */
static void small_culprits_are_others(void **state)
{
	struct tap_totals t = { 0 };

	(void)state;
	begin_tally("/a", "/b", "/c");
	add_wait(FIRST, FIRST + 1, 1000000);
	add_wait(FIRST, FIRST + 2, 40000);
	add(&t, 1);
	assert_int_equal(find(&t, "/a")->other_ns, 40000);
	add_wait(FIRST, FIRST + 2, 40000);
	add(&t, 2);
	assert_int_equal(find(&t, "/a")->other_ns, 40000);
	assert_string_equal(find(&t, "/a")->culprits[1].path, "/c");
	assert_int_equal(find(&t, "/a")->culprits[1].ns, 80000);
	tap_totals_release(&t);
}

static void depth_and_glob_count_with_ancestors(void **state)
{
	struct tap_totals by_depth = { .depth = 1 }, by_glob = { .glob = "/a/*" };

	(void)state;
	begin_tally("/a/x/y", "/a/z", "/b");
	add_wait(FIRST, FIRST + 1, 1000000);
	add_wait(FIRST + 2, FIRST + 1, 5000);
	add(&by_depth, 1);
	assert_int_equal(by_depth.nr, 4);
	assert_int_equal(find(&by_depth, "/a")->self_ns, 1000000);
	assert_string_equal(find(&by_depth, "/b")->culprits[0].path, "/a");
	add(&by_glob, 1);
	assert_null(find(&by_glob, "/b"));
	assert_int_equal(waited_ns(find(&by_glob, "/")), 5000);
	tap_totals_release(&by_depth);
	tap_totals_release(&by_glob);
}

static void prepare(struct tap_totals *t, uint64_t now_ns)
{
	assert_int_equal(tap_totals_prepare(t, now_ns), 0);
}

static void last_numbers_are_shown_once(void **state)
{
	struct tap_totals t = { 0 };

	(void)state;
	begin_tally("/a", "/b", NULL);
	add_wait(FIRST, FIRST + 1, 1000);
	add(&t, 1);
	prepare(&t, 1);
	released_ns[FIRST] = 2;
	add(&t, 2);
	prepare(&t, 2); /* with what it did last */
	assert_int_equal(waited_ns(find(&t, "/a")), 2000);
	begin_tally(NULL, "/b", NULL);
	add(&t, 3);
	prepare(&t, 3);
	assert_null(find(&t, "/a"));
	tap_totals_release(&t);
}

/* Of a cgroup that came and went nothing is lost. */
static void unseen_cgroups_are_folded(void **state)
{
	struct tap_totals t = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		char a[32], b[32];

		snprintf(a, sizeof(a), "/p/short-%u", i);
		snprintf(b, sizeof(b), "/%u/short", i);
		begin_tally(a, b, "/c");
		add_wait(FIRST, FIRST + 2, 1000);
		add_wait(FIRST + 1, FIRST, 1000);
		released_ns[FIRST] = released_ns[FIRST + 1] = 1;
		add(&t, i);
		assert_true(t.nr < 3000);
	}
	prepare(&t, 5001);
	assert_int_equal(waited_ns(find(&t, "/p/(removed)")), 5000 * 1000);
	uint64_t all_ns = 0;
	for (unsigned int i = 0; i < t.nr; i++)
		all_ns += waited_ns(t.v[i]);
	assert_int_equal(all_ns, 2 * 5000 * 1000);
	tap_totals_release(&t);
}

static void same_path_goes_on(void **state)
{
	struct tap_totals t = { 0 };

	(void)state;
	begin_tally("/a", "/b", NULL);
	add_wait(FIRST, FIRST + 1, 1000);
	add(&t, 1);
	prepare(&t, 1);
	begin_tally(NULL, "/b", "/a");
	add_wait(FIRST + 2, FIRST + 1, 1000);
	add(&t, 2);
	prepare(&t, 2);
	assert_int_equal(waited_ns(find(&t, "/a")), 2000);
	tap_totals_release(&t);
}

/* ---- formats ---- */

static const char *write_as(enum tap_metrics_format format, const struct tap_totals *t,
			    unsigned int max_series, struct tap_metrics_own *own)
{
	static struct tap_buf out;
	struct tap_metrics_writer w;

	tap_buf_clear(&out);
	tap_metrics_writer_init(&w, format, &out);
	tap_metrics_write(&w, t, own, max_series);
	tap_metrics_writer_release(&w);
	return tap_buf_str(&out);
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("without '%s':\n%s", part, text);
}

static void text_has_all(void **state)
{
	struct tap_metrics_own own = { .lost = 3 };
	struct tap_totals t = { 0 };
	const char *text;

	(void)state;
	begin_tally("/a\\x2d\"\n\xff\xe2\x80\xae", "/b", NULL);
	add_wait(FIRST, FIRST + 1, 953); /* 2^-20 s is 953.67 ns */
	add_wait(FIRST, FIRST + 1, 954);
	add_wait(FIRST, FIRST + 1, 40000000000);
	add(&t, 1);
	t.length_ns[0] = 5000;
	t.length_ns[9] = 3000; /* 9 to 16 */
	t.length_ns[12] = 1999; /* over 64 */
	t.runnable_ns = 77000;
	t.migrations[TAP_TALLY_NODE] = 4;
	text = write_as(TAP_METRICS_TEXT, &t, 1000, &own);
#define NAME "cgroup=\"/a\\\\x2d\\\"\\\\x0A\\\\xFF\\\\xE2\\\\x80\\\\xAE\""
	assert_has(text, "# TYPE sched_wait_seconds histogram\n");
	assert_has(text, "\nsched_wait_seconds_bucket{" NAME
			 ",kind=\"waking\",le=\"9.5367431640625e-07\"} 1\n");
	assert_has(text, "le=\"3.814697265625e-06\"} 2\n");
	assert_has(text, "le=\"16.0\"} 2\n");
	assert_has(text, "le=\"+Inf\"} 3\n");
	assert_has(text, "\nsched_wait_seconds_count{" NAME ",kind=\"waking\"} 3\n");
	assert_has(text, "\nsched_wait_seconds_sum{" NAME ",kind=\"waking\"} 40.000001907\n");
	assert_has(text, "\nsched_wait_caused_seconds_total{" NAME ",by=\"/b\"} 40.000001907\n");
	assert_has(text, "# TYPE schedtap_lost_switches_total counter\n"
			 "schedtap_lost_switches_total 3\n");
	assert_has(text, "\nsched_run_queue_tasks_bucket{le=\"0.0\"} 5\n"
			 "sched_run_queue_tasks_bucket{le=\"1.0\"} 5\n");
	assert_has(text, "{le=\"8.0\"} 5\nsched_run_queue_tasks_bucket{le=\"16.0\"} 8\n");
	assert_has(text, "{le=\"64.0\"} 8\nsched_run_queue_tasks_bucket{le=\"+Inf\"} 9\n"
			 "sched_run_queue_tasks_count 9\nsched_run_queue_tasks_sum 77\n");
	assert_has(text, "\nsched_migrations_total{scope=\"node\"} 4\n");
	assert_null(strstr(text, "# EOF"));
	text = write_as(TAP_METRICS_OPENMETRICS, &t, 1000, &own);
	assert_has(text, "# TYPE sched_wait_caused_seconds counter\n"
			 "# UNIT sched_wait_caused_seconds seconds\n"
			 "sched_wait_caused_seconds_total{");
	assert_string_equal(text + strlen(text) - strlen("\n# EOF\n"), "\n# EOF\n");
	tap_totals_release(&t);
}

/* An LLC may come later, when one of its CPUs first switches, and the order may differ. */
static void llcs_add_up(void **state)
{
	struct tap_metrics_own own = { 0 };
	struct tap_totals t = { 0 };

	(void)state;
	begin_tally("/a", "/b", "/c");
	llcs[0] = (struct tap_tally_llc_view){ 8, 1500000000 };
	nr_llcs = 1;
	add(&t, 1);
	llcs[0] = (struct tap_tally_llc_view){ 0, 0 };
	llcs[1] = (struct tap_tally_llc_view){ 8, 500000000 };
	nr_llcs = 2;
	add(&t, 2);
	nr_llcs = 0;
	add(&t, 3);
	assert_has(write_as(TAP_METRICS_OPENMETRICS, &t, 1000, &own),
		   "# TYPE sched_idle_while_waiting_seconds counter\n"
		   "# UNIT sched_idle_while_waiting_seconds seconds\n"
		   "sched_idle_while_waiting_seconds_total{llc=\"8\"} 2.000000000\n"
		   "sched_idle_while_waiting_seconds_total{llc=\"0\"} 0.000000000\n");
	tap_totals_release(&t);
}

static void lengths_are_of_the_buckets_limits(void **state)
{
	(void)state;
	assert_int_equal(tap_tally_length(0), 0);
	assert_int_equal(tap_tally_length(8), 8);
	assert_int_equal(tap_tally_length(9), 9);
	assert_int_equal(tap_tally_length(16), 9);
	assert_int_equal(tap_tally_length(32), 10);
	assert_int_equal(tap_tally_length(64), 11);
	assert_int_equal(tap_tally_length(UINT32_MAX), TAP_TALLY_LENGTHS - 1);
}

/* ---- throttled time ---- */

static void write_cpu_stat(struct tmp_dir *tmp, const char *folder, const char *text)
{
	char name[64];

	assert_true(!mkdir(tmp_at(tmp, folder), 0755) || errno == EEXIST);
	snprintf(name, sizeof(name), "%s/cpu.stat", folder);
	tmp_write(tmp, name, text, strlen(text));
}

static void throttled_time_is_of_the_cgroup_with_the_quota(void **state)
{
	struct tap_totals t = { 0 };
	struct tmp_dir tmp;

	(void)state;
	tmp_make(&tmp);
	write_cpu_stat(&tmp, ".", "usage_usec 5\n");
	write_cpu_stat(&tmp, "q", "usage_usec 5\nthrottled_usec 70\n");
	write_cpu_stat(&tmp, "q/in", "nr_throttled 0\nthrottled_time 0\n");
	write_cpu_stat(&tmp, "other", "throttled_usec 9\n");
	begin_tally("/q/in", "/other", NULL);
	rows[FIRST].wait_ns[TAP_TALLY_THROTTLED] = rows[FIRST].self_ns = 1000;
	rows[FIRST].buckets[TAP_TALLY_THROTTLED][tap_tally_bucket(1000)] = 1;
	add(&t, 1);
	assert_int_equal(tap_throttled_read(&t, tmp.path), 0);
	assert_int_equal(find(&t, "/q")->throttled_ns, 70000);
	assert_int_equal(find(&t, "/q/in")->throttled_ns, 0);
	assert_int_equal(find(&t, "/other")->throttled_ns, 0); /* none of its tasks waited for it */
	/* made again: the kernel begins at 0 */
	write_cpu_stat(&tmp, "q", "throttled_usec 20\n");
	assert_int_equal(tap_throttled_read(&t, tmp.path), 0);
	assert_int_equal(find(&t, "/q")->throttled_ns, 90000);
	write_cpu_stat(&tmp, "q", "throttled_usec 25\n");
	assert_int_equal(tap_throttled_read(&t, tmp.path), 0);
	assert_int_equal(find(&t, "/q")->throttled_ns, 95000);
	tap_totals_release(&t);
	tmp_remove(&tmp);
}

/* Different names have different labels, or an answer would have a series twice. */
static void values_stay_different(void **state)
{
	static const char *const cases[][2] = {
		{ "a\x01", "a\\x01" },
		{ "a\\x01", "a\\x5Cx01" },
		{ "a\\x5Cx01", "a\\x5Cx5Cx01" },
		{ "a\x7f\xff", "a\\x7F\\xFF" },
		{ "a\\x7F\\xFF", "a\\x5Cx7F\\x5CxFF" },
		{ "a\t\n", "a\\x09\\x0A" },
		{ "a\\t\\n", "a\\t\\n" },
		{ "a\\x2d\\x5c\\x20", "a\\x2d\\x5c\\x20" }, /* as systemd writes names */
		{ "a\\\\x0", "a\\\\x0" },
		{ "a\\", "a\\" },
		{ "a\\x", "a\\x" },
		{ "a\\x0", "a\\x0" },
	};
	struct tap_buf out = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tap_buf_clear(&out);
		tap_metrics_value(&out, cases[i][0]);
		assert_string_equal(tap_buf_str(&out), cases[i][1]);
	}
	tap_buf_release(&out);
}

static void series_are_limited(void **state)
{
	struct tap_metrics_own own = { 0 };
	struct tap_totals t = { 0 };
	const char *text;

	(void)state;
	begin_tally("/a", "/b", "/c");
	add_wait(FIRST + 2, FIRST + 1, 1000);
	add(&t, 1);
	/* kernel threads, "/", /a and /b have two each, /c has 16 + 6 + 2 */
	text = write_as(TAP_METRICS_TEXT, &t, 8, &own);
	assert_has(text, "sched_cpu_seconds_total{cgroup=\"/b\"}");
	assert_null(strstr(text, "cgroup=\"/c\""));
	assert_int_equal(own.dropped, 24);
	assert_has(text, "\nschedtap_series_dropped_total 24\n");
	text = write_as(TAP_METRICS_TEXT, &t, 32, &own);
	assert_has(text, "cgroup=\"/c\"");
	assert_int_equal(own.dropped, 24);
	tap_totals_release(&t);
}

/* ---- containers ---- */

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789ABCDEF"

static void write_file(const struct tmp_dir *tmp, const char *folder, const char *file,
		       const char *text)
{
	char path[PATH_MAX], command[PATH_MAX + 16];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/" ID "/%s", tmp->path, folder, file);
	snprintf(command, sizeof(command), "mkdir -p '%s'", dirname(strdupa(path)));
	assert_int_equal(system(command), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void check_container(const char *path, const char *root, const char *name, const char *pod,
			    const char *pod_namespace)
{
	struct tap_container c;

	tap_container_find(path, root, &c);
	assert_string_equal(c.name ?: "", name);
	assert_string_equal(c.pod ?: "", pod);
	assert_string_equal(c.pod_namespace ?: "", pod_namespace);
	tap_container_release(&c);
}

static void containers_have_names(void **state)
{
	struct tmp_dir tmp;

	(void)state;
	tmp_make(&tmp);
	check_container("/docker/" ID, tmp.path, "", "", "");
	write_file(&tmp, "var/lib/docker/containers", "config.v2.json",
		   "{\"Name\":\"/web\",\"Config\":{\"Labels\":{}}}");
	check_container("/docker/" ID, tmp.path, "web", "", "");
	check_container("/system.slice/docker-" ID ".scope/below", tmp.path, "web", "", "");
	check_container("/docker/" ID "0", tmp.path, "", "", "");
	check_container("/docker/0" ID, tmp.path, "", "", "");
	check_container("/user.slice", tmp.path, "", "", "");
	write_file(
		&tmp, "run/containers/storage/overlay-containers", "userdata/config.json",
		"{\"annotations\":{\"io.kubernetes.container.name\":\"db\","
		"\"io.kubernetes.pod.name\":\"db-0\",\"io.kubernetes.pod.namespace\":\"shop\"}}");
	check_container("/kubepods/crio-" ID ".scope", tmp.path, "db", "db-0", "shop");
	write_file(&tmp, "run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json",
		   "{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"db-0\","
		   "\"io.kubernetes.cri.sandbox-namespace\":\"shop\"}}");
	check_container("/kubepods/cri-containerd-" ID ".scope", tmp.path, "", "db-0", "shop");
	write_file(&tmp, "run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json",
		   "{\"annotations\":[1,{\"io.kubernetes.cri.sandbox-name\":2}]}");
	check_container("/kubepods/cri-containerd-" ID ".scope", tmp.path, "", "", "");
	write_file(&tmp, "run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json", "{");
	check_container("/kubepods/cri-containerd-" ID ".scope", tmp.path, "db", "db-0", "shop");
	tmp_remove(&tmp);
}

static void containers_are_labels(void **state)
{
	struct tap_metrics_own own = { 0 };
	struct tap_totals t = { 0 };
	struct tmp_dir tmp;
	const char *text;

	(void)state;
	tmp_make(&tmp);
	write_file(&tmp, "var/lib/docker/containers", "config.v2.json", "{\"Name\":\"/web\"}");
	t.root = tmp.path;
	begin_tally("/docker/" ID, "/b", NULL);
	add_wait(FIRST, FIRST + 1, 1000);
	add(&t, 1);
	text = write_as(TAP_METRICS_TEXT, &t, 1000, &own);
	assert_has(text, "\nsched_cpu_seconds_total{cgroup=\"/docker/" ID "\",container=\"web\"} ");
	assert_has(text, "container=\"web\",by=\"/b\"} ");
	assert_has(text, "container=\"web\",kind=\"waking\",le=\"+Inf\"} ");
	assert_has(text, "\nsched_cpu_seconds_total{cgroup=\"/b\"} ");
	write_file(&tmp, "var/lib/docker/containers", "config.v2.json", "{\"Name\":\"/new\"}");
	tap_totals_find_containers(&t);
	assert_has(write_as(TAP_METRICS_TEXT, &t, 1000, &own), "container=\"new\"");
	tap_totals_release(&t);
	tmp_remove(&tmp);
}

/* ---- protobuf, read as its specification says ---- */

struct message {
	const unsigned char *at, *end;
};

struct field {
	unsigned int nr, type;
	uint64_t v; /* of a number: its bits */
	struct message message;
};

static uint64_t take_varint(struct message *m)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(m->at < m->end && shift < 64);
		v |= (uint64_t)(*m->at & 0x7f) << shift;
		if (!(*m->at++ & 0x80))
			return v;
	}
}

static bool take_field(struct message *m, struct field *f)
{
	uint64_t key;

	if (m->at == m->end)
		return false;
	key = take_varint(m);
	*f = (struct field){ .nr = (unsigned int)(key >> 3), .type = key & 7 };
	if (f->type == 0) {
		f->v = take_varint(m);
	} else if (f->type == 1) {
		memcpy(&f->v, m->at, 8);
		m->at += 8;
	} else {
		uint64_t len = take_varint(m);

		assert_int_equal(f->type, 2);
		assert_true(len <= (uint64_t)(m->end - m->at));
		f->message = (struct message){ m->at, m->at + len };
		m->at += len;
	}
	assert_true(m->at <= m->end);
	return true;
}

static int64_t signed_of(uint64_t zigzag)
{
	return (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
}

static double double_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* A histogram as Prometheus reads it: by the schema's number of the bucket, plus 1000. */
struct native {
	uint64_t count, zero, buckets[2000];
	double sum;
};

static void read_native(struct message m, struct native *n)
{
	struct {
		int64_t offset;
		uint64_t length;
	} spans[400];
	int64_t deltas[400], at = 1000, value = 0;
	unsigned int nr_spans = 0, nr_deltas = 0, used = 0;
	struct field f, g;

	memset(n, 0, sizeof(*n));
	while (take_field(&m, &f)) {
		if (f.nr == 1)
			n->count = f.v;
		else if (f.nr == 2)
			n->sum = double_of(f.v);
		else if (f.nr == 5)
			assert_int_equal(signed_of(f.v), 3);
		else if (f.nr == 6)
			assert_true(double_of(f.v) == 1.0 / 4194304);
		else if (f.nr == 7)
			n->zero = f.v;
		else if (f.nr == 13)
			deltas[nr_deltas++] = signed_of(f.v);
		else if (f.nr == 12) {
			memset(&spans[nr_spans], 0, sizeof(spans[0]));
			while (take_field(&f.message, &g)) {
				if (g.nr == 1)
					spans[nr_spans].offset = signed_of(g.v);
				else
					spans[nr_spans].length = g.v;
			}
			nr_spans++;
		}
	}
	assert_true(nr_spans > 0);
	for (unsigned int i = 0; i < nr_spans; i++) {
		at += spans[i].offset;
		for (uint64_t k = 0; k < spans[i].length; k++, at++)
			n->buckets[at] = (uint64_t)(value += deltas[used++]);
	}
	assert_int_equal(used, nr_deltas);
}

/* The first histogram of the first family. */
static void first_histogram(const struct tap_totals *t, struct native *n)
{
	struct tap_metrics_own own = { 0 };
	struct tap_metrics_writer w;
	struct tap_buf out = { 0 };
	struct message all, family;
	struct field f, g;
	bool found = false;
	uint64_t len;

	tap_metrics_writer_init(&w, TAP_METRICS_PROTOBUF, &out);
	tap_metrics_write(&w, t, &own, 1000);
	tap_metrics_writer_release(&w);
	all = (struct message){ (unsigned char *)out.data, (unsigned char *)out.data + out.len };
	len = take_varint(&all);
	family = (struct message){ all.at, all.at + len };
	while (!found && take_field(&family, &f))
		while (f.nr == 4 && take_field(&f.message, &g))
			if (g.nr == 7) {
				read_native(g.message, n);
				found = true;
			}
	assert_true(found);
	tap_buf_release(&out);
}

static void native_histograms_have_the_buckets(void **state)
{
	unsigned short seed[3] = { 4, 5, 6 };
	struct tap_totals t = { 0 };
	static struct native n;
	uint64_t sum = 0;

	(void)state;
	begin_tally("/a", "/b", NULL);
	for (unsigned int i = 0; i < 300; i++) {
		uint64_t ns = 1ull << (nrand48(seed) % 36);

		ns += (uint64_t)nrand48(seed) % ns;
		add_wait(FIRST, FIRST + 1, ns);
		sum += ns;
	}
	add(&t, 1);
	first_histogram(&t, &n);
	assert_int_equal(n.count, 300);
	assert_true(n.sum == (double)sum / 1e9);
	assert_int_equal(n.zero, find(&t, "/a")->buckets[TAP_TALLY_WAKING][0]);
	for (unsigned int i = 1; i < TAP_TALLY_BUCKETS; i++)
		assert_int_equal(n.buckets[1000 - 176 + i],
				 find(&t, "/a")->buckets[TAP_TALLY_WAKING][i]);
	tap_totals_release(&t);
}

/* ---- which format ---- */

static void clients_get_what_they_prefer(void **state)
{
	static const struct {
		const char *accept;
		enum tap_metrics_format format;
	} cases[] = {
		{ NULL, TAP_METRICS_TEXT },
		{ "", TAP_METRICS_TEXT },
		{ "*/*", TAP_METRICS_TEXT },
		{ "text/html", TAP_METRICS_TEXT },
		/* Prometheus 2.42, with native histograms and without */
		{ "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
		  "encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,"
		  "application/openmetrics-text;version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  TAP_METRICS_PROTOBUF },
		{ "application/openmetrics-text;version=1.0.0,"
		  "application/openmetrics-text;version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		  TAP_METRICS_OPENMETRICS },
		{ "text/plain ; version=0.0.4 ; q=0.9 , application/openmetrics-text; q=0.3",
		  TAP_METRICS_TEXT },
		{ "application/openmetrics-text;version=0.0.1", TAP_METRICS_TEXT },
		{ "application/vnd.google.protobuf;encoding=text", TAP_METRICS_TEXT },
		{ "APPLICATION/OpenMetrics-Text; Version=1.0.0", TAP_METRICS_OPENMETRICS },
		{ ",;,=;q,;q=,", TAP_METRICS_TEXT },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (tap_metrics_accepted(cases[i].accept) != cases[i].format)
			fail_msg("%s", cases[i].accept ?: "NULL");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_add_up),
		cmocka_unit_test(small_culprits_are_others),
		cmocka_unit_test(depth_and_glob_count_with_ancestors),
		cmocka_unit_test(last_numbers_are_shown_once),
		cmocka_unit_test(unseen_cgroups_are_folded),
		cmocka_unit_test(same_path_goes_on),
		cmocka_unit_test(text_has_all),
		cmocka_unit_test(llcs_add_up),
		cmocka_unit_test(lengths_are_of_the_buckets_limits),
		cmocka_unit_test(throttled_time_is_of_the_cgroup_with_the_quota),
		cmocka_unit_test(values_stay_different),
		cmocka_unit_test(series_are_limited),
		cmocka_unit_test(containers_have_names),
		cmocka_unit_test(containers_are_labels),
		cmocka_unit_test(native_histograms_have_the_buckets),
		cmocka_unit_test(clients_get_what_they_prefer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
