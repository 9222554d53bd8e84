// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Does the tally add up at any moment? While cgroups are made and removed as fast as possible,
 * while it has fewer places than there are cgroups, and while tasks share its entries for tasks.
 * Are the numbers of single tasks theirs?
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "../unit/skip_test.h"
#include "base/clock.h"
#include "event/select/mount.h"
#include "record/machine.h"
#include "record/tally/tally.h"

#define NR_CROWD 8u /* cgroups, more than there are places */
#define READINGS 20u
#define READ_US 100000u
#define MAX_CLOCK_NS 10000 /* for each CPU: by which the run times may differ from the time */
/* for each CPU: the clocks' difference is not yet exact at the first readings of a busy machine */
#define MAX_COMPARED_NS 20000000

static char mount[PATH_MAX];
static char few_entries[PATH_MAX]; /* a BPF object */
static bool has_few_entries; /* the next tally is of .few_entries */
static pid_t self;
static pid_t children[NR_CROWD + 1];
static unsigned int nr_children;

struct bpf_object *__real_tap_bpf_open_tally(void);
struct bpf_object *__wrap_tap_bpf_open_tally(void);
struct bpf_object *__wrap_tap_bpf_open_tally(void)
{
	return has_few_entries ? bpf_object__open(few_entries) : __real_tap_bpf_open_tally();
}

#define FOLDER_MAX (PATH_MAX + 64)

static void folder_of(char path[FOLDER_MAX], const char *name, unsigned int nr)
{
	snprintf(path, FOLDER_MAX, "%s/tally-%d-%s%u", mount, self, name, nr);
}

static bool enter(const char *folder)
{
	char path[FOLDER_MAX + 16];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	f = fopen(path, "w");
	return f && fprintf(f, "%d", getpid()) > 0 && !fclose(f);
}

/* Fork a process that ends with this one, however that ends. Return: as fork(). */
static pid_t fork_child(void)
{
	pid_t pid = fork();

	if (pid > 0)
		children[nr_children++] = pid;
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static bool is_empty(const char *folder)
{
	char path[FOLDER_MAX + 16];
	unsigned int pid;
	FILE *f;
	bool has;

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	f = fopen(path, "re");
	has = f && fscanf(f, "%u", &pid) == 1;
	if (f)
		fclose(f);
	return !has;
}

/* Return: of a process that runs and sleeps in turns in this cgroup. */
static pid_t start_in(const char *folder)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	if (!enter(folder))
		_exit(1);
	for (;;) {
		for (volatile unsigned int i = 0; i < 100000; i++)
			;
		usleep(500);
	}
}

/* Make cgroups in which a process ends, and remove them, without end. */
static pid_t start_storm(void)
{
	char folder[FOLDER_MAX];
	pid_t pid = fork_child();

	if (pid)
		return pid;
	for (unsigned int i = 0;; i++) {
		folder_of(folder, "storm", i);
		if (mkdir(folder, 0755))
			_exit(1);
		pid = fork();
		if (!pid)
			_exit(!enter(folder));
		waitpid(pid, NULL, 0);
		while (rmdir(folder))
			usleep(100);
	}
}

/* Also after a failed test: end all children, and remove their cgroups. */
static int clean_up(void **state)
{
	char pattern[FOLDER_MAX];
	glob_t found;

	(void)state;
	for (unsigned int i = 0; i < nr_children; i++)
		kill(children[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	nr_children = 0;
	snprintf(pattern, sizeof(pattern), "%s/tally-%d-*", mount, self);
	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			while (rmdir(found.gl_pathv[i]))
				usleep(100);
	globfree(&found);
	return 0;
}

static uint64_t sum_of_waits(const struct tap_tally_row *row)
{
	return row->wait_ns[0] + row->wait_ns[1] + row->wait_ns[2];
}

static uint64_t sum_of_culprits(const struct tap_tally_row *row)
{
	uint64_t ns =
		row->self_ns + row->idle_ns + row->kernel_ns + row->other_ns + row->elsewhere_ns;

	for (unsigned int i = 0; i < TAP_TALLY_CULPRITS; i++)
		ns += row->culprits[i].ns;
	return ns;
}

/* Each bucket's waits are at least as long as the bucket before allows. */
static uint64_t least_of_buckets(const struct tap_tally_row *row)
{
	double ns = 0;

	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		for (unsigned int i = 1; i < TAP_TALLY_BUCKETS; i++)
			ns += row->buckets[k][i] * (1e9 / (1 << 22)) *
			      __builtin_exp2((i - 1) / 8.0);
	return (uint64_t)ns;
}

/* Of all CPUs, since the tally began. */
struct totals {
	uint64_t begin_ns; /* before the tally was opened */
	uint64_t cpu_ns, run_ns, idle_ns;
	uint64_t length_ns, empty_ns, runnable_ns; /* .empty_ns: the length was 0 */
};

static void add_cpu(struct totals *to, const struct tap_tally_cpu_view *c)
{
	to->cpu_ns += c->cpu_ns;
	to->idle_ns += c->idle_ns;
	to->empty_ns += c->length_ns[0];
	to->runnable_ns += c->runnable_ns;
	for (unsigned int i = 0; i < TAP_TALLY_LENGTHS; i++)
		to->length_ns += c->length_ns[i];
}

/*
 * Nothing is ever missing in the totals. When the clocks' difference is corrected, what a reading
 * had too much is taken off later ones of the same slot or length, so it may still be in them.
 */
static void assert_is_all(uint64_t ns, uint64_t all_ns, unsigned int nr_cpus)
{
	assert_in_range(ns + nr_cpus * MAX_CLOCK_NS - all_ns, 0,
			nr_cpus * (MAX_CLOCK_NS + MAX_COMPARED_NS));
}

static void check_sums(const struct tap_tally_view *v, struct totals *totals)
{
	for (unsigned int i = 0; i < v->nr_slots; i++) {
		const struct tap_tally_row *row = &v->rows[i];

		assert_int_equal(sum_of_waits(row), sum_of_culprits(row));
		assert_true(least_of_buckets(row) <= sum_of_waits(row));
		assert_true(v->names[i] || !sum_of_waits(row));
		totals->run_ns += v->run_ns[i];
	}
	for (unsigned int i = 0; i < v->nr_cpus; i++)
		add_cpu(totals, &v->cpus[i]);
	assert_is_all(totals->run_ns, totals->cpu_ns, v->nr_cpus);
	assert_is_all(totals->length_ns, totals->cpu_ns, v->nr_cpus);
	assert_is_all(totals->empty_ns, totals->idle_ns, v->nr_cpus);
	assert_true(totals->runnable_ns + v->nr_cpus * MAX_CLOCK_NS >=
		    totals->cpu_ns - totals->idle_ns);
	assert_true(v->cpu_ns > 0);
	/* up to now: a reader that is preempted reads some CPUs after the reading's end */
	assert_true(totals->cpu_ns <=
		    v->nr_cpus * (tap_now_ns() - totals->begin_ns + MAX_COMPARED_NS));
}

static unsigned int nr_named(const struct tap_tally_view *v, const char *part)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < v->nr_slots; i++)
		nr += v->names[i] && strstr(v->names[i], part);
	return nr;
}

static void sums_hold_in_a_storm(void **state)
{
	unsigned int seen = 0; /* of the storm's cgroups, in all readings */
	struct tap_tally_view v = { 0 };
	struct totals totals = { .begin_ns = tap_now_ns() };
	struct tap_err err = { 0 };
	struct tap_tally *t;
	uint64_t to_ns = 0;
	pid_t storm;

	(void)state;
	if (tap_tally_open(&t, &(struct tap_tally_opts){ 1024, true }, &err)) {
		skip_test(err.text);
		return;
	}
	storm = start_storm();
	for (unsigned int i = 0; i < READINGS; i++) {
		usleep(READ_US);
		assert_int_equal(tap_tally_read(t, &v, &err), 0);
		assert_true(!to_ns || v.from_ns == to_ns);
		to_ns = v.to_ns;
		check_sums(&v, &totals);
		seen += nr_named(&v, "/(removed)") + nr_named(&v, "/tally-");
	}
	assert_int_equal(waitpid(storm, NULL, WNOHANG), 0);
	tap_tally_close(t);
	assert_true(seen > READINGS);
}

/* ---- numbers of single tasks ---- */

static const struct tap_tally_opts with_waits = { 1024, true, true };

/* Return: a task of the reading, by tid; NULL. */
static const struct tap_tally_task *find_task(const struct tap_tally_view *v, pid_t tid)
{
	for (unsigned int i = 0; i < v->nr_tasks; i++)
		if (v->tasks[i].tid == (unsigned int)tid)
			return &v->tasks[i];
	return NULL;
}

/* Add up the waits of the slot's tasks, by bucket. */
static void sum_tasks(const struct tap_tally_view *v, unsigned int slot,
		      uint64_t sums[TAP_TALLY_TASK_BUCKETS])
{
	memset(sums, 0, TAP_TALLY_TASK_BUCKETS * sizeof(*sums));
	for (unsigned int i = 0; i < v->nr_tasks; i++)
		for (unsigned int k = 0; k < TAP_TALLY_TASK_BUCKETS; k++)
			if (v->tasks[i].slot == slot)
				sums[k] += v->task_waits[i].buckets[k];
}

static void sum_row(const struct tap_tally_row *row, uint64_t sums[TAP_TALLY_TASK_BUCKETS])
{
	memset(sums, 0, TAP_TALLY_TASK_BUCKETS * sizeof(*sums));
	for (unsigned int kind = 0; kind < TAP_TALLY_KINDS; kind++)
		for (unsigned int i = 0; i < TAP_TALLY_BUCKETS; i++)
			sums[tap_tally_task_bucket(i)] += row->buckets[kind][i];
}

/* The longest wait is in the last bucket with a wait. */
static void check_longest(const struct tap_tally_task_waits *w)
{
	unsigned int last = TAP_TALLY_TASK_BUCKETS;

	while (last && !w->buckets[last - 1])
		last--;
	if (last)
		assert_int_equal(tap_tally_task_bucket(tap_tally_bucket(w->max_wait_ns)), last - 1);
	else
		assert_int_equal(w->max_wait_ns, 0);
}

static bool is_of_crowd(const struct tap_tally_view *v, unsigned int slot)
{
	return v->names[slot] && strstr(v->names[slot], "-crowd");
}

/*
 * The waits of a cgroup are those of its tasks. Of tasks that share an entry, some are lost.
 * Return: number of waits of the crowd's tasks.
 */
static uint64_t check_tasks(const struct tap_tally_view *v, bool share_entries)
{
	uint64_t of_tasks[TAP_TALLY_TASK_BUCKETS], of_row[TAP_TALLY_TASK_BUCKETS], nr = 0;

	for (unsigned int i = 0; i < v->nr_tasks; i++)
		check_longest(&v->task_waits[i]);
	for (unsigned int i = 0; i < v->nr_slots; i++) {
		if (!is_of_crowd(v, i))
			continue;
		sum_tasks(v, i, of_tasks);
		sum_row(&v->rows[i], of_row);
		for (unsigned int k = 0; k < TAP_TALLY_TASK_BUCKETS; k++) {
			assert_in_range(of_tasks[k], share_entries ? 0 : of_row[k], of_row[k]);
			nr += of_tasks[k];
		}
	}
	return nr;
}

/* A task of the crowd counts in its cgroup or in the root, which is the nearest one with a place.
 */
static void check_slots(const struct tap_tally_view *v)
{
	for (unsigned int i = 0; i < nr_children; i++) {
		const struct tap_tally_task *task = find_task(v, children[i]);

		if (task)
			assert_true(is_of_crowd(v, task->slot) || task->slot == TAP_TALLY_ROOT);
	}
}

/* Return true if the longest wait of a task is that of a CPU. */
static bool has_longest(const struct tap_tally_view *v)
{
	uint64_t of_cpus = 0, of_tasks = 0;

	for (unsigned int i = 0; i < v->nr_cpus; i++)
		for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
			if (v->cpus[i].max_wait_ns[k] > of_cpus)
				of_cpus = v->cpus[i].max_wait_ns[k];
	for (unsigned int i = 0; i < v->nr_tasks; i++)
		if (v->task_waits[i].max_wait_ns > of_tasks)
			of_tasks = v->task_waits[i].max_wait_ns;
	assert_true(of_tasks <= of_cpus);
	return of_tasks == of_cpus;
}

static void start_crowd(void)
{
	char folder[FOLDER_MAX];

	for (unsigned int i = 0; i < NR_CROWD; i++) {
		folder_of(folder, "crowd", i);
		assert_int_equal(mkdir(folder, 0755), 0);
		assert_true(start_in(folder) > 0);
		while (is_empty(folder))
			usleep(100);
	}
}

/* Return false if the machine has another task whose tid may share an entry with the crowd's. */
static bool has_own_entries(void)
{
	FILE *f = fopen("/proc/sys/kernel/pid_max", "re");
	unsigned int max = 0;

	if (f && fscanf(f, "%u", &max) != 1)
		max = 0;
	if (f)
		fclose(f);
	return max && max <= TAP_TALLY_TAGS;
}

/* The cgroups without one of the @places count with the root, and nothing is lost. */
static void check_places(unsigned int places)
{
	struct tap_tally_view v = { 0 };
	struct totals totals = { .begin_ns = tap_now_ns() };
	struct tap_err err = { 0 };
	struct tap_tally *t;

	if (tap_tally_open(&t, &(struct tap_tally_opts){ places, true, true }, &err)) {
		skip_test(err.text);
		return;
	}
	start_crowd();
	for (unsigned int i = 0; i < READINGS; i++) {
		usleep(READ_US);
		assert_int_equal(tap_tally_read(t, &v, &err), 0);
		check_sums(&v, &totals);
		check_slots(&v);
		if (i) /* the crowd has entered its cgroups */
			check_tasks(&v, !has_own_entries());
	}
	assert_true(v.no_free_slot >= NR_CROWD - places);
	assert_in_range(nr_named(&v, "/tally-"), places > 1, places);
	assert_true(v.run_ns[TAP_TALLY_ROOT] > 0);
	tap_tally_close(t);
}

#define NR_MOVES 100u

static void move_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* Each move of this task is there, in the scope that the two CPUs share. */
static void migrations_are_counted(void **state)
{
	enum tap_tally_scope scope = tap_machine_llc(0) == tap_machine_llc(1) ? TAP_TALLY_LLC
				     : tap_machine_node(0) == tap_machine_node(1)
					     ? TAP_TALLY_NODE
					     : TAP_TALLY_SYSTEM;
	struct tap_tally_view v = { 0 };
	struct tap_err err = { 0 };
	struct tap_tally *t;
	cpu_set_t before;

	(void)state;
	sched_getaffinity(0, sizeof(before), &before);
	if (CPU_COUNT(&before) < 2 || tap_tally_open(&t, &(struct tap_tally_opts){ 8 }, &err)) {
		skip_test("needs two CPUs and BPF");
		return;
	}
	for (unsigned int i = 0; i < NR_MOVES; i++)
		move_to(i % 2);
	assert_int_equal(tap_tally_read(t, &v, &err), 0);
	assert_true(v.migrations[scope] >= NR_MOVES - 1);
	assert_int_equal(tap_tally_read(t, &v, &err), 0);
	assert_true(v.migrations[scope] < NR_MOVES - 1); /* not those of before */
	tap_tally_close(t);
	sched_setaffinity(0, sizeof(before), &before);
}

static void waits_of_tasks_add_up(void **state)
{
	struct tap_tally_view v = { 0 };
	struct tap_err err = { 0 };
	struct tap_tally *t;
	unsigned int nr_longest = 0;
	uint64_t nr = 0;

	(void)state;
	if (tap_tally_open(&t, &with_waits, &err)) {
		skip_test(err.text);
		return;
	}
	start_crowd();
	usleep(READ_US);
	assert_int_equal(tap_tally_read(t, &v, &err), 0); /* the crowd enters its cgroups */
	for (unsigned int i = 0; i < READINGS; i++) {
		usleep(READ_US);
		assert_int_equal(tap_tally_read(t, &v, &err), 0);
		nr += check_tasks(&v, !has_own_entries());
		nr_longest += has_longest(&v);
	}
	tap_tally_close(t);
	assert_true(nr > READINGS * NR_CROWD);
	assert_true(nr_longest > READINGS / 2); /* else it was of tasks that have ended */
}

/* What the iterator reads of this process. */
static struct tap_tally_task read_self(struct tap_tally *t)
{
	struct tap_tally_view v = { 0 };
	struct tap_err err = { 0 };

	usleep(1000);
	assert_int_equal(tap_tally_read(t, &v, &err), 0);
	assert_non_null(find_task(&v, self));
	assert_null(v.task_waits);
	return *find_task(&v, self);
}

static void set_policy(int policy, int priority)
{
	assert_int_equal(
		sched_setscheduler(0, policy, &(struct sched_param){ .sched_priority = priority }),
		0);
}

static void tasks_have_their_cpu_and_priority(void **state)
{
	struct tap_err err = { 0 };
	struct tap_tally_task is;
	struct tap_tally *t;
	cpu_set_t before;
	int nr_cpus;

	(void)state;
	if (tap_tally_open(&t, &(struct tap_tally_opts){ 8, true, .has_command = true }, &err)) {
		skip_test(err.text);
		return;
	}
	sched_getaffinity(0, sizeof(before), &before);
	nr_cpus = CPU_COUNT(&before) < 2 ? 1 : 2;
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		move_to((unsigned int)cpu);
		is = read_self(t);
		assert_int_equal(is.cpu, cpu);
		assert_int_equal(is.prio, 120 + getpriority(PRIO_PROCESS, 0));
		assert_true(is.util <= 1100);
		assert_true(is.slot == TAP_TALLY_ROOT || is.slot >= TAP_TALLY_FIRST_FREE);
	}
	sched_setaffinity(0, sizeof(before), &before);
	assert_int_equal(tap_tally_join(t), 0);
	set_policy(SCHED_FIFO, 7);
	is = read_self(t);
	set_policy(SCHED_OTHER, 0);
	assert_int_equal(is.prio, 99 - 7);
	assert_int_equal(is.slot, TAP_TALLY_COMMAND);
	tap_tally_close(t);
}

static void ancestors_count_for_cgroups_without_place(void **state)
{
	(void)state;
	check_places(4);
}

static void a_single_place_is_enough(void **state)
{
	(void)state;
	check_places(1);
}

/* Return: the tally, with few entries in its maps; NULL: the test was skipped. */
static struct tap_tally *open_with_few_entries(unsigned int max_cgroups)
{
	struct tap_err err = { 0 };
	struct tap_tally *t;

	has_few_entries = true;
	tap_tally_open(&t, &(struct tap_tally_opts){ max_cgroups, true, true }, &err);
	has_few_entries = false;
	if (!t)
		skip_test(err.text);
	return t;
}

/* A cgroup without a place is counted when it comes, not when it is looked up again. */
static void cgroups_without_place_are_counted_once(void **state)
{
	uint64_t switches = 0;
	struct tap_tally_view v = { 0 };
	struct totals totals = { .begin_ns = tap_now_ns() };
	struct tap_err err = { 0 };
	struct tap_tally *t = open_with_few_entries(1);

	(void)state;
	if (!t)
		return;
	start_crowd();
	for (unsigned int i = 0; i < READINGS; i++) {
		usleep(READ_US);
		assert_int_equal(tap_tally_read(t, &v, &err), 0);
		check_sums(&v, &totals);
		for (unsigned int cpu = 0; cpu < v.nr_cpus; cpu++)
			switches += v.cpus[cpu].switches;
	}
	tap_tally_close(t);
	/* others may make cgroups meanwhile */
	assert_in_range(v.no_free_slot, NR_CROWD - 1, switches / 8);
}

static uint64_t longest_wait(const struct tap_tally_view *v)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < v->nr_cpus; i++)
		for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
			if (v->cpus[i].max_wait_ns[k] > ns)
				ns = v->cpus[i].max_wait_ns[k];
	return ns;
}

/*
 * Tasks whose tids differ by a multiple of 65,536, here of 16, lose waits, but have no wrong ones.
 * A wait that began before the tally did has no known length, so none is longer than the tally.
 */
static void tasks_that_share_an_entry_have_no_wrong_waits(void **state)
{
	uint64_t shared = 0, known = 0, of_tasks = 0;
	struct tap_tally_view v = { 0 };
	struct totals totals = { .begin_ns = tap_now_ns() };
	struct tap_err err = { 0 };
	struct tap_tally *t = open_with_few_entries(1024);

	(void)state;
	if (!t)
		return;
	start_crowd();
	for (unsigned int i = 0; i < READINGS; i++) {
		usleep(READ_US);
		assert_int_equal(tap_tally_read(t, &v, &err), 0);
		check_sums(&v, &totals);
		assert_true(longest_wait(&v) < tap_now_ns() - totals.begin_ns);
		if (i) /* the crowd has entered its cgroups */
			of_tasks += check_tasks(&v, true);
		has_longest(&v);
		for (unsigned int n = 0; n < v.nr_slots; n++) {
			shared += v.rows[n].censored[TAP_TALLY_OTHER_TASK];
			known += sum_of_waits(&v.rows[n]) > 0;
		}
	}
	tap_tally_close(t);
	assert_true(shared > READINGS);
	assert_true(known > READINGS);
	assert_true(of_tasks > READINGS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(sums_hold_in_a_storm, clean_up),
		cmocka_unit_test_teardown(ancestors_count_for_cgroups_without_place, clean_up),
		cmocka_unit_test_teardown(a_single_place_is_enough, clean_up),
		cmocka_unit_test_teardown(cgroups_without_place_are_counted_once, clean_up),
		cmocka_unit_test_teardown(tasks_that_share_an_entry_have_no_wrong_waits, clean_up),
		cmocka_unit_test(migrations_are_counted),
		cmocka_unit_test_teardown(waits_of_tasks_add_up, clean_up),
		cmocka_unit_test(tasks_have_their_cpu_and_priority),
	};

	(void)argc;
	self = getpid();
	snprintf(few_entries, sizeof(few_entries), "%s/few_entries.bpf.o", dirname(argv[0]));
	if (geteuid() || !tap_cgroup_mount(mount, sizeof(mount))) {
		skip_test("needs root and cgroups");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
