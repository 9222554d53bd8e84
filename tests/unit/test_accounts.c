// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The accounts of made-up /proc folders and cgroups, and what is unknown of malformed ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "record/accounts/accounts.h"
#include "tmp_dir.h"

#define TICK_NS (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK))

struct made {
	struct tmp_dir dir;
	struct tap_accounts *accounts;
	struct tap_accounts_view view;
	char proc[80], cgroups[80], cpuacct[80];
};

/* Write a file, and make the folders that it is in. @text: NULL: remove the file. */
static void put(struct made *m, const char *name, const char *text)
{
	char folder[256];

	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
		mkdir(tmp_at(&m->dir, folder), 0755);
	}
	if (text)
		tmp_write(&m->dir, name, text, strlen(text));
	else
		remove(tmp_at(&m->dir, name));
}

static int make(void **state)
{
	static struct made m;

	m = (struct made){ 0 };
	tmp_make(&m.dir);
	snprintf(m.proc, sizeof(m.proc), "%s/proc", m.dir.path);
	snprintf(m.cgroups, sizeof(m.cgroups), "%s/cgroups", m.dir.path);
	snprintf(m.cpuacct, sizeof(m.cpuacct), "%s/cpuacct", m.dir.path);
	put(&m, "proc/uptime", "");
	put(&m, "cgroups/cgroup.procs", "");
	*state = &m;
	return 0;
}

static int unmake(void **state)
{
	struct made *m = *state;

	tap_accounts_close(m->accounts);
	tmp_remove(&m->dir);
	return 0;
}

static void open_made(struct made *m)
{
	const struct tap_accounts_opts opts = {
		.proc = m->proc, .cgroups = m->cgroups, .cpuacct = m->cpuacct, .reads_tasks = true
	};

	assert_int_equal(tap_accounts_open(&m->accounts, &opts, NULL), 0);
}

static const struct tap_accounts_view *read_made(struct made *m)
{
	assert_int_equal(tap_accounts_read(m->accounts, &m->view, NULL), 0);
	return &m->view;
}

/* ---- the machine ---- */

static void numbers_of_the_machine(void **state)
{
	const struct tap_accounts_view *v;
	struct made *m = *state;

	put(m, "proc/stat",
	    "cpu  9 9 9 9\ncpu0 10 1 5 100 50 2 3 4 9 9\ncpu2 1 1 1 1 2\nintr 5\nctxt 1000\n");
	put(m, "proc/schedstat",
	    "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 70 100 10\ndomain0 3 1 2\n"
	    "cpu2 0 0 0 0 0 0 7 50 5\n");
	put(m, "proc/pressure/cpu",
	    "some avg10=0.00 avg60=1.00 avg300=0.00 total=500\nfull avg10=0 total=9\n");
	open_made(m);
	/* less I/O wait than before; a CPU that is new */
	put(m, "proc/stat",
	    "cpu  9 9 9 9\ncpu0 13 1 5 140 49 3 3 5 9 9\ncpu1 1 1 1 1\ncpu2 2 1 1 4 8\nctxt "
	    "1234\n");
	put(m, "proc/schedstat",
	    "version 17\ncpu0 0 0 0 0 0 0 70 400 12\ncpu2 0 0 0 0 0 0 7 50 6\n");
	put(m, "proc/pressure/cpu", "some avg10=0.00 total=507\n");
	v = read_made(m);
	assert_int_equal(v->cpus_err, 0);
	assert_int_equal(v->nr_cpus, 2);
	assert_int_equal(v->cpus[0].cpu, 0);
	assert_int_equal(v->cpus[0].cpu_ns, 45 * TICK_NS);
	assert_int_equal(v->cpus[0].idle_ns, 40 * TICK_NS);
	assert_int_equal(v->cpus[1].cpu, 2);
	assert_int_equal(v->cpus[1].cpu_ns, 10 * TICK_NS);
	assert_int_equal(v->cpu_ns, 55 * TICK_NS);
	assert_int_equal(v->idle_ns, 49 * TICK_NS);
	assert_int_equal(v->switches.v, 234);
	assert_int_equal(v->waits.v, 3);
	assert_int_equal(v->wait_ns.v, 300);
	assert_int_equal(v->pressure_ns.v, 7000);
	assert_int_equal(v->switches.err | v->waits.err | v->wait_ns.err | v->pressure_ns.err, 0);
}

#define GOOD_STAT "cpu0 1 2 3 4\nctxt 5\n"
#define GOOD_SCHEDSTAT "version 15\ncpu0 0 0 0 0 0 0 0 8 9\n"
#define GOOD_PRESSURE "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"

/* One malformed file each; NULL: it does not exist. The others are good. */
static const struct bad_file {
	const char *name, *file, *text;
	int cpus, switches, waits, pressure; /* expected errors */
} bad_files[] = {
	{ "no stat", "stat", NULL, -ENOENT, -ENOENT },
	{ "an empty stat", "stat", "", -EBADMSG, -EBADMSG },
	{ "no ctxt", "stat", "cpu0 1 2 3 4\n", 0, -EBADMSG },
	{ "ctxt within a line", "stat", "cpu0 1 2 3 4\nxctxt 5\nintr ctxt 7\n", 0, -EBADMSG },
	{ "ctxt beyond 64 bits", "stat", "cpu0 1 2 3 4\nctxt 18446744073709551616\n", 0, -EBADMSG },
	{ "ctxt below zero", "stat", "cpu0 1 2 3 4\nctxt -5\n", 0, -EBADMSG },
	{ "the sum of CPUs alone", "stat", "cpu  1 2 3 4\nctxt 5\n", -EBADMSG },
	{ "a CPU's line that is cut", "stat", "cpu0 1 2 3", -EBADMSG, -EBADMSG },
	{ "CPUs in another order", "stat", "cpu1 1 2 3 4\ncpu0 1 2 3 4\nctxt 5\n", -EBADMSG },
	{ "a CPU twice", "stat", "cpu0 1 2 3 4\ncpu0 1 2 3 4\nctxt 5\n", -EBADMSG },
	{ "a CPU's number above the limit", "stat", "cpu99999999999 1 2 3 4\nctxt 5\n", -EBADMSG },
	{ "no number of a CPU", "stat", "cpufreq 1 2 3 4\nctxt 5\n", -EBADMSG },
	{ "ticks beyond 64 bits", "stat", "cpu0 99999999999999999999 2 3 4\nctxt 5\n", -EBADMSG },
	{ "no schedstat", "schedstat", NULL, 0, 0, -ENOENT },
	{ "an old schedstat", "schedstat", "version 14\ncpu0 1 2 3 4 5 6 7 8 9 10 11 12\n", 0, 0,
	  -EBADMSG },
	{ "schedstat without a version", "schedstat", "cpu0 1 2 3 4 5 6 7 8 9\n", 0, 0, -EBADMSG },
	{ "schedstat without CPUs", "schedstat", "version 15\ntimestamp 4\n", 0, 0, -EBADMSG },
	{ "a line of schedstat that is cut", "schedstat", "version 15\ncpu0 1 2 3 4 5 6 7 8", 0, 0,
	  -EBADMSG },
	{ "no pressure", "pressure/cpu", NULL, 0, 0, 0, -ENOENT },
	{ "an empty pressure", "pressure/cpu", "", 0, 0, 0, -EBADMSG },
	{ "pressure without a total", "pressure/cpu", "some avg10=1.0\nfull avg10=0 total=9\n", 0,
	  0, 0, -EBADMSG },
	{ "pressure of all tasks alone", "pressure/cpu", "full avg10=0.00 total=9\n", 0, 0, 0,
	  -EBADMSG },
	{ "pressure beyond 64 bits of ns", "pressure/cpu", "some total=18446744073709551615\n", 0,
	  0, 0, -ERANGE },
	{ "pressure that is no number", "pressure/cpu", "some total=x\n", 0, 0, 0, -EBADMSG },
	{ "switches that decrease", "stat", "cpu0 1 2 3 4\nctxt 4\n", 0, -ERANGE },
	{ "pressure that decreases", "pressure/cpu", "some total=4\n", 0, 0, 0, -ERANGE },
};

static void malformed_files_make_their_numbers_unknown(void **state)
{
	struct made *m = *state;

	for (size_t i = 0; i < sizeof(bad_files) / sizeof(*bad_files); i++) {
		const struct bad_file *f = &bad_files[i];
		const struct tap_accounts_view *v;
		char name[64];

		put(m, "proc/stat", GOOD_STAT);
		put(m, "proc/schedstat", GOOD_SCHEDSTAT);
		put(m, "proc/pressure/cpu", GOOD_PRESSURE);
		open_made(m);
		snprintf(name, sizeof(name), "proc/%s", f->file);
		put(m, name, f->text);
		v = read_made(m);
		if (v->cpus_err != f->cpus || v->switches.err != f->switches ||
		    v->waits.err != f->waits || v->wait_ns.err != f->waits ||
		    v->pressure_ns.err != f->pressure)
			fail_msg("%s: %d %d %d %d", f->name, v->cpus_err, v->switches.err,
				 v->waits.err, v->pressure_ns.err);
		assert_int_equal(v->switches.v | v->pressure_ns.v, 0);
		/* good again, but the reading before was not */
		put(m, "proc/stat", GOOD_STAT);
		put(m, "proc/schedstat", GOOD_SCHEDSTAT);
		put(m, "proc/pressure/cpu", GOOD_PRESSURE);
		read_made(m);
		v = read_made(m);
		assert_int_equal(v->cpus_err | v->switches.err | v->waits.err | v->pressure_ns.err,
				 0);
		tap_accounts_close(m->accounts);
		m->accounts = NULL;
	}
}

static void nothing_there_is_nothing_known(void **state)
{
	const struct tap_accounts_opts opts = { .proc = "/nonexistent", .reads_tasks = true };
	const struct tap_accounts_view *v;
	struct made *m = *state;

	assert_int_equal(tap_accounts_open(&m->accounts, &opts, NULL), 0);
	v = read_made(m);
	assert_int_equal(v->cpus_err, -ENOENT);
	assert_int_equal(v->all_tasks.err, -ENOENT);
	assert_int_equal(v->run_err, -ENOENT);
	assert_int_equal(v->nr_cpus | v->nr_cgroups | v->nr_tasks, 0);
}

/* ---- cgroups ---- */

/* Return: the view's cgroup; NULL: it is not there. */
static const struct tap_accounts_cgroup *find_cgroup(const struct tap_accounts_view *v,
						     const char *path)
{
	for (unsigned int i = 0; i < v->nr_cgroups; i++)
		if (!strcmp(v->cgroups[i].path, path))
			return &v->cgroups[i];
	return NULL;
}

static uint64_t run_us(const struct tap_accounts_view *v, const char *path)
{
	const struct tap_accounts_cgroup *c = find_cgroup(v, path);

	assert_non_null(c);
	assert_int_equal(c->run_ns.err, 0);
	return c->run_ns.v / 1000;
}

static void cgroups_of_version_2(void **state)
{
	const struct tap_accounts_view *v;
	struct made *m = *state;

	put(m, "cgroups/cpu.stat", "usage_usec 1000\nuser_usec 7\n");
	put(m, "cgroups/a/cpu.stat", "usage_usec 500\nnr_throttled 1\nthrottled_usec 10\n");
	put(m, "cgroups/a/b/cpu.stat", "usage_usec 200\nthrottled_usec 0\n");
	put(m, "cgroups/a/b/c/cpu.stat", "usage_usec 20\nthrottled_usec 0\n");
	put(m, "cgroups/still/cpu.stat", "usage_usec 20\nthrottled_usec 0\n");
	put(m, "cgroups/a/cpu.pressure", "some total=100\n");
	put(m, "cgroups/gone/cpu.stat", "usage_usec 30\n");
	open_made(m);
	put(m, "cgroups/cpu.stat", "usage_usec 1500\n");
	put(m, "cgroups/a/cpu.stat", "usage_usec 850\nnr_throttled 2\nthrottled_usec 25\n");
	put(m, "cgroups/a/b/cpu.stat", "usage_usec 500\nthrottled_usec 0\n");
	put(m, "cgroups/a/b/c/cpu.stat", "usage_usec 120\nthrottled_usec 0\n");
	put(m, "cgroups/a/new/cpu.stat", "usage_usec 7\nthrottled_usec 1\n");
	put(m, "cgroups/a/cpu.pressure", "some total=104\n");
	put(m, "cgroups/gone/cpu.stat", NULL);
	assert_int_equal(rmdir(tmp_at(&m->dir, "cgroups/gone")), 0);
	v = read_made(m);
	assert_int_equal(run_us(v, "/"), 150);
	assert_int_equal(run_us(v, "/a"), 350 - 300 - 7);
	assert_int_equal(run_us(v, "/a/b"), 200);
	assert_int_equal(run_us(v, "/a/b/c"), 100);
	assert_int_equal(run_us(v, "/a/new"), 7);
	assert_null(find_cgroup(v, "/still"));
	assert_null(find_cgroup(v, "/gone"));
	assert_int_equal(find_cgroup(v, "/a")->throttled_ns.v, 15000);
	assert_int_equal(find_cgroup(v, "/a")->pressure_ns.v, 4000);
	/* the root has no quota */
	assert_int_equal(find_cgroup(v, "/")->throttled_ns.err, -EBADMSG);
	assert_int_equal(find_cgroup(v, "/a/b")->pressure_ns.err, -ENOENT);
	assert_int_equal(v->run_err | v->throttled_err | v->cgroup_pressure_err, 0);
}

static void cgroups_of_version_1(void **state)
{
	const struct tap_accounts_view *v;
	struct made *m = *state;

	put(m, "cgroups/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
	put(m, "cgroups/a/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 50\n");
	put(m, "cgroups/b/cpu.stat", "throttled_time 0\n");
	put(m, "cgroups/b/cpuacct.usage", "70\n");
	put(m, "cpuacct/cpuacct.usage", "1000\n");
	put(m, "cpuacct/a/cpuacct.usage", "300\n");
	put(m, "cpuacct/b/cpuacct.usage", "5555\n"); /* not this one */
	open_made(m);
	put(m, "cgroups/a/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 57\n");
	put(m, "cgroups/b/cpuacct.usage", "80\n");
	put(m, "cpuacct/cpuacct.usage", "1100\n");
	put(m, "cpuacct/a/cpuacct.usage", "330\n");
	v = read_made(m);
	assert_int_equal(find_cgroup(v, "/")->run_ns.v, 60);
	assert_int_equal(find_cgroup(v, "/a")->run_ns.v, 30);
	assert_int_equal(find_cgroup(v, "/a")->throttled_ns.v, 7);
	assert_int_equal(find_cgroup(v, "/b")->run_ns.v, 10);
	assert_int_equal(v->cgroup_pressure_err, -ENOENT);
}

static void malformed_cgroups_are_unknown(void **state)
{
	static const char *const texts[] = { "",
					     "usage_usec\n",
					     "usage_usec x\n",
					     " usage_usec 5\n",
					     "xusage_usec 5\n",
					     "usage_usec 18446744073709551615\n",
					     "usage_usec 99999999999999999999999\n",
					     "usage_usec 99\n" /* it decreases */ };
	const struct tap_accounts_view *v;
	struct made *m = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		put(m, "cgroups/cpu.stat", "usage_usec 1000\n");
		put(m, "cgroups/a/cpu.stat", "usage_usec 100\nthrottled_usec 1\n");
		put(m, "cgroups/a/b/cpu.stat", "usage_usec 40\n");
		open_made(m);
		put(m, "cgroups/cpu.stat", "usage_usec 1100\n");
		put(m, "cgroups/a/cpu.stat", texts[i]);
		put(m, "cgroups/a/cpu.pressure", "some total=5\n");
		put(m, "cgroups/a/b/cpu.stat", "usage_usec 50\n");
		v = read_made(m);
		assert_null(find_cgroup(v, "/a"));
		/* what is below an unknown one is not the root's */
		assert_int_equal(run_us(v, "/"), 90);
		put(m, "cgroups/a/cpu.pressure", NULL);
		tap_accounts_close(m->accounts);
		m->accounts = NULL;
	}
}

/* ---- tasks ---- */

#define STAT(comm, start)                                                                          \
	"7 (" comm ") R 1 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 " start " 1 2 3\n"
#define STATUS(voluntary, involuntary)                                                             \
	"Name:\tx\nvoluntary_ctxt_switches:\t" voluntary                                           \
	"\nnonvoluntary_ctxt_switches:\t" involuntary "\n"
#define LATE "9999999999999" /* starts after any reading */

static void put_task(struct made *m, const char *task, const char *schedstat, const char *stat,
		     const char *status)
{
	char name[128];

	snprintf(name, sizeof(name), "proc/%s/schedstat", task);
	put(m, name, schedstat);
	snprintf(name, sizeof(name), "proc/%s/stat", task);
	put(m, name, stat);
	snprintf(name, sizeof(name), "proc/%s/status", task);
	put(m, name, status);
}

static const struct tap_accounts_task *find_task(const struct tap_accounts_view *v,
						 unsigned int tid)
{
	for (unsigned int i = 0; i < v->nr_tasks; i++)
		if (v->tasks[i].t.tid == tid)
			return &v->tasks[i];
	return NULL;
}

static void numbers_of_tasks(void **state)
{
	const struct tap_accounts_task *t;
	const struct tap_accounts_view *v;
	struct made *m = *state;

	put_task(m, "7/task/7", "100 20 3\n", STAT("a) R (b", "5"), STATUS("10", "20"));
	put_task(m, "7/task/8", "100 20 3\n", STAT("sleeps", "5"), STATUS("10", "20"));
	put_task(m, "9/task/9", "100 20 3\n", STAT("reused", "5"), STATUS("10", "20"));
	put_task(m, "10/task/10", "100 20 3\n", STAT("lost", "5"), STATUS("0", "0"));
	put_task(m, "12/task/12", "100 20 3\n", STAT("goes back", "5"), STATUS("10", "20"));
	open_made(m);
	put_task(m, "7/task/7", "150 27 5\n", STAT("a) R (b\n0123456789", "5"), STATUS("11", "24"));
	put_task(m, "9/task/9", "30 2 1\n", STAT("reused", LATE), STATUS("1", "2"));
	put_task(m, "10/task/10", "130 20 4\n", STAT("lost", "5"), "Name:\tlost\n");
	put_task(m, "11/task/11", "130 20 4\n", STAT("old", "5"), STATUS("1", "2"));
	put_task(m, "12/task/12", "10 2 1\n", STAT("goes back", "5"), STATUS("1", "2"));
	v = read_made(m);
	assert_int_equal(v->all_tasks.err, 0);
	assert_int_equal(v->all_tasks.v, 6);
	assert_int_equal(v->nr_tasks, 3);
	t = find_task(v, 7);
	assert_int_equal(t->t.tgid, 7);
	assert_int_equal(t->t.run_ns, 50);
	assert_int_equal(t->t.wait_ns, 7);
	assert_int_equal(t->t.waits, 2);
	assert_true(t->knows_switches);
	assert_int_equal(t->t.voluntary, 1);
	assert_int_equal(t->t.involuntary, 4);
	assert_memory_equal(t->t.comm, "a) R (b\n01234567", 16);
	assert_null(find_task(v, 8)); /* it did nothing */
	t = find_task(v, 9);
	assert_int_equal(t->t.run_ns, 30); /* another task than before */
	assert_int_equal(t->t.voluntary, 1);
	t = find_task(v, 10);
	assert_int_equal(t->t.run_ns, 30);
	assert_false(t->knows_switches);
	assert_null(find_task(v, 11)); /* older than the last reading, which did not see it */
	assert_null(find_task(v, 12));
}

static void malformed_tasks_are_left_out(void **state)
{
	static const struct {
		const char *folder, *schedstat, *stat;
	} tasks[] = {
		{ "5/task/5", "", STAT("x", LATE) },
		{ "6/task/6", "1 2\n", STAT("x", LATE) },
		{ "7/task/7", "1 2 -3\n", STAT("x", LATE) },
		{ "8/task/8", "99999999999999999999 2 3\n", STAT("x", LATE) },
		{ "9/task/9", "1 2 3\n", "" },
		{ "10/task/10", "1 2 3\n", ")(" },
		{ "11/task/11", "1 2 3\n", "11 (x) R 1 2 3\n" },
		{ "12x/task/12", "1 2 3\n", STAT("x", LATE) },
		{ "13/task/13x", "1 2 3\n", STAT("x", LATE) },
		{ "99999999999/task/14", "1 2 3\n", STAT("x", LATE) },
		{ "-1/task/15", "1 2 3\n", STAT("x", LATE) },
	};
	const struct tap_accounts_view *v;
	struct made *m = *state;

	open_made(m);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++)
		put_task(m, tasks[i].folder, tasks[i].schedstat, tasks[i].stat, STATUS("1", "2"));
	v = read_made(m);
	assert_int_equal(v->nr_tasks, 0);
	put_task(m, "20/task/20", "1 2 3\n", STAT("good", LATE), STATUS("1", "2"));
	v = read_made(m);
	assert_int_equal(v->nr_tasks, 1);
	assert_int_equal(v->all_tasks.v, 1);
	assert_string_equal(v->tasks[0].t.comm, "good");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make, unmake)
	const struct CMUnitTest tests[] = {
		CASE(numbers_of_the_machine),
		CASE(malformed_files_make_their_numbers_unknown),
		CASE(nothing_there_is_nothing_known),
		CASE(cgroups_of_version_2),
		CASE(cgroups_of_version_1),
		CASE(malformed_cgroups_are_unknown),
		CASE(numbers_of_tasks),
		CASE(malformed_tasks_are_left_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
