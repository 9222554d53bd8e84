// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which events the BPF programs find worth a record: bpf/scope.h and bpf/tasks.h on a kernel that
 * is made up; and what is selected as their constants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>

#include "event/select/mount.h"
#include "record/bpf/load.h"
#include "fake_bpf.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

/* /, /a, /a/b, and /c */
static struct kernfs_node nodes[] = { { 1 }, { 2 }, { 3 }, { 4 } };
static struct cgroup root = { &nodes[0], 0, { &root } };
static struct cgroup a = { &nodes[1], 1, { &root, &a } };
static struct cgroup b = { &nodes[2], 2, { &root, &a, &b } };
static struct cgroup c = { &nodes[3], 1, { &root, &c }, { &c } };
static struct cgroup_subsys_state cpu_b = { &b }, cpu_c = { &c };
static struct css_set in_root = { &root, { NULL, &cpu_c } }, in_a = { &a, { NULL, &cpu_c } },
		      in_b = { &b, { NULL, &cpu_b } }, in_c = { &c, { NULL, &cpu_b } };
static struct pid pids[] = {
	{ 1, { { 100 }, { 1 } } },
	{ 1, { { 101 }, { 2 } } },
	{ 1, { { 200 }, { 3 } } },
	{ 0, { { 300 } } },
};
/* a process of two threads, which is another one's parent; and one beside them */
static struct task_struct one = { 100, 100, &one, &pids[0], "make", { NULL }, &in_a };
static struct task_struct two = { 101, 100, &one, &pids[1], "make-two", { NULL }, &in_b };
static struct task_struct child = {
	200, 200, &child, &pids[2], "sixteen-letters!", { NULL }, &in_c
};
static struct task_struct other = { 300, 300, &other, &pids[3], "sh", { NULL }, &in_root };
static struct task_struct released = { 102, 100, &one, NULL, "make" };
static struct cfs_rq queue;
static struct task_struct no_task = { .se = { &queue } }; /* the entity is a cgroup's */

#define WANTED(args...)                                                                            \
	({                                                                                         \
		struct task_struct *current = fake_current;                                        \
                                                                                                   \
		TAP_WANTED(args);                                                                  \
	})

static void clear(void)
{
	memset(fake_entries, 0, sizeof(fake_entries));
	memset(fake_array, 0, sizeof(fake_array));
	fake_array_map = &tap_cgroup_cache;
	memset(&tap_missed, 0, sizeof(tap_missed));
	memset((void *)tap_cpu_bits, 0, sizeof(tap_cpu_bits));
	memset((void *)&tap_comms, 0, sizeof(tap_comms));
	tap_scope = 0;
	tap_follow = false;
	tap_by_cpu_controller = false;
	tap_nr_cgroups = 0;
	fake_cpu = 0;
	fake_current = &other;
}

static const struct {
	const char *name;
	unsigned int scope;
	struct task_struct *current, *arg;
	u32 cpu;
	bool want;
} cases[] = {
	{ "without a scope all is wanted", 0, &other, &other, 9, true },
	{ "-C: of the CPU", TAP_BY_CPU, &other, &other, 1, true },
	{ "-C: a CPU after the first word of the bit mask", TAP_BY_CPU, &other, &other, 64 + 42,
	  true },
	{ "-C: of another", TAP_BY_CPU, &one, &one, 2, false },
	{ "-p: the task that runs", TAP_BY_TGID, &one, &other, 0, true },
	{ "-p: a task among the arguments", TAP_BY_TGID, &other, &one, 0, true },
	{ "-p: neither", TAP_BY_TGID, &other, &child, 0, false },
	{ "-t: the set is the same", TAP_BY_TID, &one, &other, 0, true },
	{ "-t: of another", TAP_BY_TID, &other, &child, 0, false },
	{ "-c", TAP_BY_COMM, &one, &other, 0, true },
	{ "-c: of another", TAP_BY_COMM, &other, &two, 0, false },
	{ "-c: all sixteen bytes of a name", TAP_BY_COMM, &child, &other, 0, true },
	{ "-g: the cgroup", TAP_BY_CGROUP, &one, &other, 0, true },
	{ "-g: below it", TAP_BY_CGROUP, &other, &two, 0, true },
	{ "-g: beside it", TAP_BY_CGROUP, &child, &child, 0, false },
	{ "-g: above it", TAP_BY_CGROUP, &other, &other, 0, false },
	{ "-C and -p: both", TAP_BY_CPU | TAP_BY_TGID, &one, &other, 1, true },
	{ "-C and -p: another CPU", TAP_BY_CPU | TAP_BY_TGID, &one, &other, 0, false },
	{ "-C and -p: another task", TAP_BY_CPU | TAP_BY_TGID, &other, &other, 1, false },
	{ "-p and -c of one task", TAP_BY_TGID | TAP_BY_COMM, &one, &other, 0, true },
	{ "-p and -c of two tasks", TAP_BY_TGID | TAP_BY_COMM, &two, &child, 0, false },
	{ "-c and -g of one task", TAP_BY_COMM | TAP_BY_CGROUP, &one, &other, 0, true },
	{ "-c and -g of two tasks", TAP_BY_COMM | TAP_BY_CGROUP, &two, &child, 0, false },
};

/* CPUs 1 and 106, the process 100, the names "make" and "s*!", the cgroup /a */
static void set_scope(void)
{
	struct tap_glob comms = { 0 };

	assert_int_equal(tap_glob_add(&comms, "make") | tap_glob_add(&comms, "s*!"), 0);
	tap_comms = comms;
	tap_cpu_bits[0] = 2;
	tap_cpu_bits[1] = 1ull << 42;
	tap_cgroup_scope[0].id = nodes[1].id;
	tap_cgroup_scope[0].level = 1;
	tap_nr_cgroups = 1;
	tap_task_add(&one, TAP_TASK_FOUND);
	tap_task_add(&two, TAP_TASK_FOUND);
}

/* Twice: the second time a cgroup is in the cache. */
static void test_wanted(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4 * LEN(cases); i++) {
		size_t at = i / 4;

		if (i % 2 == 0)
			clear();
		set_scope();
		tap_has_cast = i & 2;
		tap_scope = cases[at].scope;
		fake_cpu = cases[at].cpu;
		fake_current = cases[at].current;
		if (WANTED(cases[at].arg) != cases[at].want ||
		    WANTED(&cases[at].arg->se) != cases[at].want)
			fail_msg("%s", cases[at].name);
	}
}

/* Another cgroup gets the address of one that is gone. */
static void test_cgroup_goes(void **state)
{
	(void)state;
	clear();
	set_scope();
	tap_scope = TAP_BY_CGROUP;
	fake_current = &child;
	assert_false(WANTED(&child));
	nodes[3].id = nodes[1].id;
	c.ancestors[1] = &c;
	assert_false(WANTED(&child));
	tap_cgroup_goes(&c);
	assert_true(WANTED(&child));
	nodes[3].id = 4;
}

/* Tracepoints have tasks in any place, or entities of tasks and of cgroups. */
static void test_arguments(void **state)
{
	(void)state;
	clear();
	set_scope();
	tap_scope = TAP_BY_TGID;
	assert_false(WANTED(1, &other));
	assert_true(WANTED(true, &other, &one));
	assert_true(WANTED(&one, 1, 2, 3, 4));
	assert_true(WANTED(1, &one, 2, 3, 4));
	assert_true(WANTED(1, 2, &one, 3, 4));
	assert_true(WANTED(1, 2, 3, &one, 4));
	assert_true(WANTED(1, 2, 3, 4, &one));
	assert_true(WANTED(&one.se));
	assert_false(WANTED(&other.se));
	tap_task_add(&no_task, TAP_TASK_FOUND);
	assert_false(WANTED(&no_task.se));
	tap_scope = TAP_BY_CPU; /* which no argument makes up for */
	assert_false(WANTED(&one));
}

/* Of version 1 a task's cgroup of the CPU controller counts, which may be another than that of
 * version 2. */
static void test_cpu_controller(void **state)
{
	(void)state;
	clear();
	set_scope();
	tap_scope = TAP_BY_CGROUP;
	tap_by_cpu_controller = true;
	assert_false(WANTED(&one));
	assert_true(WANTED(&child));
	memset(fake_array, 0, sizeof(fake_array)); /* it is filled again for another selection */
	tap_nr_cgroups = 0;
	assert_false(WANTED(&child));
	memset(fake_array, 0, sizeof(fake_array));
	tap_cgroup_scope[1].id = nodes[3].id;
	tap_cgroup_scope[1].level = 1;
	tap_nr_cgroups = 2;
	assert_true(WANTED(&one));
}

static void list(struct task_struct *recorder)
{
	struct task_struct *all[] = { &one, &two, &released, &child, &other, NULL };

	fake_current = recorder;
	for (size_t i = 0; i < LEN(all); i++) {
		__typeof__(*((struct bpf_iter__task *)0)->meta) meta = { 0 };
		struct bpf_iter__task ctx = { .meta = (void *)&meta, .task = all[i] };

		assert_int_equal(tap_each_task(&ctx), 0);
	}
}

static void test_list(void **state)
{
	u32 tgid = 100, tid = 2;
	u8 yes = 1;

	(void)state;
	clear();
	tap_scope = TAP_BY_TGID;
	bpf_map_update_elem(&tap_tgids, &tgid, &yes, BPF_ANY);
	list(&other);
	assert_true(tap_task_in_set(&one) && tap_task_in_set(&two));
	assert_false(tap_task_in_set(&child) || tap_task_in_set(&other) ||
		     tap_task_in_set(&released));
	assert_int_equal(fake_row.pid, 300);
	assert_int_equal(fake_row.own_tgid, 300);
	assert_string_equal(fake_row.comm, "sh");

	/* from within a namespace: numbers are its own, and who is not in it has none */
	clear();
	tap_scope = TAP_BY_TID;
	bpf_map_update_elem(&tap_tids, &tid, &yes, BPF_ANY);
	list(&one);
	assert_true(tap_task_in_set(&two));
	assert_false(tap_task_in_set(&one) || tap_task_in_set(&child) || tap_task_in_set(&other));
	assert_int_equal(fake_row.own_pid, 0);

	/* both: of that process that thread */
	clear();
	tap_scope = TAP_BY_TID | TAP_BY_TGID;
	bpf_map_update_elem(&tap_tids, &tid, &yes, BPF_ANY);
	list(&one);
	assert_false(tap_task_in_set(&two));

	clear();
	list(&other);
	/* without -p and -t no task is noted */
	assert_null(fake_find(&tap_tasks, (uintptr_t)&one));
}

static void test_comes_and_goes(void **state)
{
	(void)state;
	clear();
	tap_task_add(&one, TAP_TASK_FOUND);
	fake_current = &one;
	tap_task_comes(&child);
	assert_false(tap_task_in_set(&child));
	tap_task_comes(&two);
	assert_true(tap_task_in_set(&two));
	tap_follow = true;
	tap_task_comes(&child);
	assert_true(tap_task_in_set(&child));
	fake_current = &other;
	tap_task_comes(&other);
	assert_false(tap_task_in_set(&other));
	tap_task_goes(&child);
	assert_false(tap_task_in_set(&child));
	/* the end of the last one at its address was not seen */
	tap_task_add(&child, TAP_TASK_BORN);
	tap_task_comes(&child);
	assert_false(tap_task_in_set(&child));
	/* it was found while it was made */
	tap_task_add(&child, TAP_TASK_FOUND);
	tap_task_comes(&child);
	assert_true(tap_task_in_set(&child));
	tap_task_goes(&child);
	assert_int_equal(tap_missed.no_task, 0);
	for (size_t i = 0; i < LEN(fake_entries); i++)
		fake_add(&fake_cpu, i, 1);
	tap_task_add(&child, TAP_TASK_FOUND);
	assert_int_equal(tap_missed.no_task, 1);
}

/* In place of the library's: the constants are those of the programs above. */
int tap_bpf_set(struct bpf_object *obj, const char *name, const void *value, size_t len)
{
	static const struct {
		const char *name;
		volatile void *at;
		size_t size;
	} constants[] = {
#define CONSTANT(name) { #name, &name, sizeof(name) }
		CONSTANT(tap_scope),
		CONSTANT(tap_follow),
		CONSTANT(tap_cpu_bits),
		CONSTANT(tap_comms),
		CONSTANT(tap_cgroup_scope),
		CONSTANT(tap_nr_cgroups),
		CONSTANT(tap_by_cpu_controller),
	};

	(void)obj;
	for (size_t i = 0; i < LEN(constants); i++)
		if (!strcmp(constants[i].name, name)) {
			assert_true(len <= constants[i].size);
			memcpy((void *)(uintptr_t)constants[i].at, value, len);
			return 0;
		}
	fail_msg("there is no '%s'", name);
	return -ENOENT;
}

/* Return: of tap_bpf_scope_constants(). */
static int translate(struct tap_select_opts opts, bool follow, struct tap_err *err)
{
	struct tap_plan plan = { .follow = follow };
	struct tap_select *select;
	int ret;

	clear();
	opts.size = sizeof(opts);
	assert_int_equal(tap_select_new(&opts, &select, err), 0);
	plan.select = select;
	ret = tap_bpf_scope_constants(NULL, &plan, err);
	tap_select_free(select);
	return ret;
}

#define WORDS(...)                                                                                 \
	(const char *[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *)

static void test_translation(void **state)
{
	char mount[PATH_MAX];
	struct tap_err err = { 0 };

	(void)state;
	assert_int_equal(translate((struct tap_select_opts){ 0 }, false, &err), 0);
	assert_int_equal(tap_scope, 0);
	assert_true(WANTED(&other));

	assert_int_equal(translate((struct tap_select_opts){ .cpus = "1,64-65" }, false, &err), 0);
	for (fake_cpu = 0; fake_cpu < 130; fake_cpu++)
		assert_int_equal(WANTED(0), fake_cpu == 1 || fake_cpu == 64 || fake_cpu == 65);

	assert_int_equal(
		translate((struct tap_select_opts){ .comms = WORDS("mak[!x]", "x*") }, false, &err),
		0);
	assert_true(WANTED(&one));
	assert_false(WANTED(&two));

	/* no name is so long, and nothing is recorded */
	assert_int_equal(
		translate((struct tap_select_opts){ .comms = WORDS(
							    "*1234567890123456789012345678901234567"
							    "890123456789012345678901234*") },
			  false, &err),
		0);
	assert_false(WANTED(&one, &two, &child));
	assert_int_equal(
		translate((struct tap_select_opts){ .comms = WORDS(
							    "12345678901234567890123456789012",
							    "22345678901234567890123456789012") },
			  false, &err),
		-EINVAL);
	assert_string_equal(err.text, "-c: the patterns are longer than 62 characters in total");

	assert_int_equal(translate((struct tap_select_opts){ .tgids = WORDS("5") }, true, &err), 0);
	assert_int_equal(tap_scope, TAP_BY_TGID);
	assert_true(tap_follow);
	assert_int_equal(
		translate((struct tap_select_opts){ .tids = WORDS("5"), .cpus = "0" }, false, &err),
		0);
	assert_int_equal(tap_scope, TAP_BY_TID | TAP_BY_CPU);
	assert_false(tap_follow);

	assert_int_equal(translate((struct tap_select_opts){ .cgroups = WORDS("/no/such/cgroup") },
				   false, &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "-g: there is no cgroup '/no/such/cgroup'"));
	if (!tap_cgroup_mount(mount, sizeof(mount)))
		return;
	/* the root cgroup selects all tasks: only its id is passed on */
	assert_int_equal(translate((struct tap_select_opts){ .cgroups = WORDS("/") }, false, &err),
			 0);
	assert_int_equal(tap_scope, TAP_BY_CGROUP);
	assert_int_equal(tap_nr_cgroups, 1);
	assert_int_equal(tap_cgroup_scope[0].level, 0);
	assert_true(tap_cgroup_scope[0].id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wanted),	    cmocka_unit_test(test_cgroup_goes),
		cmocka_unit_test(test_arguments),   cmocka_unit_test(test_cpu_controller),
		cmocka_unit_test(test_list),	    cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_translation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
