// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What kernel/tracepoint.c promises to probes: their order, errors, regfunc, removal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracepoint/own_folder.h"

#define CREATE_TRACE_POINTS
#include "unit/skip_test.h"
#include "tracepoint/rules.h"

static char log_text[256];
static int reg_result;
static void (*reg_does)(void);

static void note(const char *word)
{
	strncat(log_text, word, sizeof(log_text) - strlen(log_text) - 1);
}

int rules_reg(void)
{
	note("reg ");
	if (reg_does)
		reg_does();
	return reg_result;
}

void rules_unreg(void)
{
	note("unreg ");
}

static void probe(void *data, int v)
{
	(void)v;
	note(data);
}

static void other_probe(void *data, int v)
{
	probe(data, v);
}

static int clear_log(void **state)
{
	(void)state;
	log_text[0] = '\0';
	reg_result = 0;
	reg_does = NULL;
	return 0;
}

enum what { ADD, ADD_PRIO, REMOVE, FIRE, END };

/* One step and its expected result. A probe is identified by its data. */
struct step {
	enum what what;
	const char *data;
	int prio, want;
};

static const struct order_case {
	const char *name;
	struct step steps[10];
	const char *want;
} orders[] = {
	{ "equal priorities: the order of registration",
	  { { ADD, "a " }, { ADD, "b " }, { ADD, "c " }, { FIRE } },
	  "reg a b c " },
	{ "higher priorities first",
	  { { ADD_PRIO, "a ", 5 }, { ADD_PRIO, "b ", 20 }, { ADD, "c " }, { FIRE } },
	  "reg b c a " },
	{ "a probe of equal priority runs after those registered before it",
	  { { ADD_PRIO, "a ", 7 }, { ADD_PRIO, "b ", 3 }, { ADD_PRIO, "c ", 7 }, { FIRE } },
	  "reg a c b " },
	{ "priorities may be negative",
	  { { ADD_PRIO, "a ", -1 }, { ADD_PRIO, "b ", 0 }, { FIRE } },
	  "reg b a " },
	{ "the same probe with the same data is there already",
	  { { ADD, "a " }, { ADD, "a ", 0, -EEXIST }, { ADD_PRIO, "a ", 99, -EEXIST }, { FIRE } },
	  "reg a " },
	{ "what is not there cannot be removed",
	  { { REMOVE, "a ", 0, -ENOENT }, { ADD, "a " }, { REMOVE, "b ", 0, -ENOENT }, { FIRE } },
	  "reg a " },
	{ "regfunc before the first, unregfunc after the last",
	  { { ADD, "a " }, { ADD, "b " }, { REMOVE, "a " }, { FIRE }, { REMOVE, "b " }, { FIRE } },
	  "reg b unreg " },
	{ "one in the middle goes, the others stay in order",
	  { { ADD, "a " }, { ADD, "b " }, { ADD, "c " }, { REMOVE, "b " }, { FIRE } },
	  "reg a c " },
};

static int take(const struct step *s)
{
	void *data = (void *)(uintptr_t)s->data;

	switch (s->what) {
	case ADD:
		return register_trace_guarded(probe, data);
	case ADD_PRIO:
		return register_trace_prio_guarded(probe, data, s->prio);
	case REMOVE:
		return unregister_trace_guarded(probe, data);
	default:
		trace_guarded(1);
		return 0;
	}
}

static void test_order(void **state)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		const struct order_case *c = &orders[i];
		const char *names[] = { "a ", "b ", "c " };

		clear_log(state);
		for (const struct step *s = c->steps; s->what || s->data; s++) {
			int ret = take(s);

			if (ret != s->want)
				fail_msg("%s: step %td returned %d, want %d", c->name, s - c->steps,
					 ret, s->want);
		}
		if (strcmp(log_text, c->want))
			fail_msg("%s: got '%s', want '%s'", c->name, log_text, c->want);
		for (size_t k = 0; k < 3; k++)
			unregister_trace_guarded(probe, (void *)(uintptr_t)names[k]);
		assert_false(trace_guarded_enabled());
	}
}

static void test_errors(void **state)
{
	(void)state;
	assert_int_equal(register_trace_bare(NULL, NULL), -EINVAL);
	assert_int_equal(unregister_trace_bare(NULL, NULL), -EINVAL);
	assert_int_equal(unregister_trace_bare(probe, NULL), -ENOENT);
	reg_result = -EBUSY;
	assert_int_equal(register_trace_guarded(probe, NULL), -EBUSY);
	assert_string_equal(log_text, "reg ");
	assert_false(trace_guarded_enabled());
	/* the same data with another function is another probe */
	assert_int_equal(register_trace_bare(probe, log_text + 255), 0);
	assert_int_equal(register_trace_bare(other_probe, log_text + 255), 0);
	assert_int_equal(unregister_trace_bare(probe, log_text + 255), 0);
	assert_int_equal(unregister_trace_bare(other_probe, log_text + 255), 0);
}

static void test_enabled(void **state)
{
	(void)state;
	assert_false(trace_bare_enabled());
	trace_bare(1);
	assert_string_equal(log_text, "");
	assert_int_equal(register_trace_bare(probe, "on "), 0);
	assert_true(trace_bare_enabled());
	assert_true(tracepoint_enabled(bare));
	assert_true(static_key_enabled(&__tracepoint_bare.key));
	trace_bare(1);
	assert_int_equal(unregister_trace_bare(probe, "on "), 0);
	assert_false(trace_bare_enabled());
	assert_false(static_key_enabled(&__tracepoint_bare.key));
	trace_bare(1);
	assert_string_equal(log_text, "on ");
}

static void test_condition(void **state)
{
	(void)state;
	assert_int_equal(register_trace_even(probe, "even "), 0);
	for (int i = 0; i < 4; i++)
		trace_even(i);
	assert_int_equal(unregister_trace_even(probe, "even "), 0);
	assert_string_equal(log_text, "even even ");
}

static int in_probe, may_leave;

static void slow_probe(void *data, int v)
{
	(void)data, (void)v;
	__atomic_store_n(&in_probe, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&may_leave, __ATOMIC_SEQ_CST))
		usleep(100);
	__atomic_store_n(&in_probe, 0, __ATOMIC_SEQ_CST);
}

static void *fire(void *unused)
{
	trace_bare(1);
	return unused;
}

static void *let_go(void *unused)
{
	usleep(30000);
	__atomic_store_n(&may_leave, 1, __ATOMIC_SEQ_CST);
	return unused;
}

static void test_synchronize(void **state)
{
	pthread_t firing, leaving;

	(void)state;
	assert_int_equal(register_trace_bare(slow_probe, NULL), 0);
	assert_int_equal(pthread_create(&firing, NULL, fire, NULL), 0);
	while (!__atomic_load_n(&in_probe, __ATOMIC_SEQ_CST))
		usleep(100);
	/* removal does not wait for it */
	assert_int_equal(unregister_trace_bare(slow_probe, NULL), 0);
	assert_int_equal(__atomic_load_n(&in_probe, __ATOMIC_SEQ_CST), 1);
	assert_int_equal(pthread_create(&leaving, NULL, let_go, NULL), 0);
	tracepoint_synchronize_unregister();
	assert_int_equal(__atomic_load_n(&in_probe, __ATOMIC_SEQ_CST), 0);
	pthread_join(firing, NULL);
	pthread_join(leaving, NULL);
}

static void *end_inside(void *unused)
{
	trace_bare(1);
	return unused;
}

static void ending_probe(void *data, int v)
{
	(void)data, (void)v;
	pthread_exit(NULL);
}

static void test_thread_that_ends_inside(void **state)
{
	pthread_t t;

	(void)state;
	assert_int_equal(register_trace_bare(ending_probe, NULL), 0);
	assert_int_equal(pthread_create(&t, NULL, end_inside, NULL), 0);
	pthread_join(t, NULL);
	assert_int_equal(unregister_trace_bare(ending_probe, NULL), 0);
	tracepoint_synchronize_unregister(); /* returns: there is no thread to wait for */
}

static void count_tracepoint(struct tracepoint *tp, void *priv)
{
	*(int *)priv += !strcmp(tp->name, "bare") || !strcmp(tp->name, "plain");
}

static void test_for_each(void **state)
{
	int nr = 0;

	(void)state;
	for_each_tracepoint(count_tracepoint, &nr);
	assert_int_equal(nr, 2);
}

static int on_module(struct notifier_block *nb, unsigned long action, void *data)
{
	const struct tp_module *module = data;
	int nr = 0;

	(void)nb;
	assert_int_equal(action, MODULE_STATE_COMING);
	for_each_module_tracepoint(count_tracepoint, module->mod, &nr);
	assert_int_equal(nr, 2);
	note("coming ");
	return 0;
}

static void test_notifier(void **state)
{
	static struct notifier_block nb = { .notifier_call = on_module };

	(void)state;
	assert_int_equal(unregister_tracepoint_module_notifier(&nb), -ENOENT);
	assert_int_equal(register_tracepoint_module_notifier(&nb), 0);
	assert_string_equal(log_text, "coming ");
	assert_int_equal(register_tracepoint_module_notifier(&nb), -EEXIST);
	assert_int_equal(unregister_tracepoint_module_notifier(&nb), 0);
}

/* An event's own probe goes when the event is switched off; other probes of the tracepoint stay. */
static void test_event_beside_probes(void **state)
{
	uint8_t *wanted = (uint8_t *)__tracepoint_guarded.on; /* as a controller writes it */

	(void)state;
	assert_int_equal(register_trace_guarded(probe, "p "), 0);
	*wanted = 1;
	trace_guarded(1);
	assert_non_null(__tracepoint_guarded.funcs[1].func);
	assert_int_equal(unregister_trace_guarded(probe, "p "), 0);
	assert_string_equal(log_text, "reg p ");
	trace_guarded(1);
	*wanted = 0;
	assert_true(trace_guarded_enabled()); /* until the next one passes and looks */
	trace_guarded(1);
	assert_false(trace_guarded_enabled());
	assert_string_equal(log_text, "reg p unreg ");
}

/* An event made of a tracepoint that is declared without one. */
static void test_custom_event(void **state)
{
	uint8_t *wanted = (uint8_t *)__tracepoint_bare.on;
	struct trace_event_info info;

	(void)state;
	assert_non_null(__tracepoint_bare.call);
	assert_null(__tracepoint_bare.call->next);
	__tracepoint_bare.call->info(&info);
	assert_string_equal(info.system, "rules");
	assert_string_equal(trace_event_name(__tracepoint_bare.call), "bare");
	*wanted = 1;
	trace_bare_rcuidle(1);
	assert_ptr_equal(__tracepoint_bare.funcs[0].func, __tracepoint_bare.call->probe);
	*wanted = 0;
	trace_bare(1);
	assert_null(__tracepoint_bare.funcs);
}

/* An event switched on in a child stays off in its parent. A child rereads the switches when it
 * first passes a site. */
static int in_child(void)
{
	uint8_t *wanted;

	if (!trace_even_enabled())
		return 1;
	trace_even(2);
	wanted = (uint8_t *)__tracepoint_even.on;
	if (trace_even_enabled() || *wanted)
		return 2;
	*wanted = 1;
	trace_even(2);
	return trace_even_enabled() ? 0 : 3;
}

static void test_child(void **state)
{
	uint8_t *wanted = (uint8_t *)__tracepoint_even.on;
	int status = -1;
	pid_t child;

	(void)state;
	child = fork();
	if (!child)
		_exit(in_child());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(*wanted, 0);
	assert_false(trace_even_enabled());
	/* past the C library: it is found out when it makes its first ring */
	*wanted = 1;
	trace_even(2);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (!child) {
		trace_even(2);
		*(uint8_t *)__tracepoint_even.on = 0;
		trace_even(2);
		_exit(trace_even_enabled() ? 4 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(*wanted, 1);
	*wanted = 0;
	trace_even(2);
	assert_false(trace_even_enabled());
}

static long ms_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

static sem_t is_registering;

static void take_long(void)
{
	sem_post(&is_registering);
	usleep(50000);
}

static void *register_slowly(void *unused)
{
	(void)unused;
	return (void *)(intptr_t)register_trace_guarded(probe, "a");
}

/* A fork while another thread is between regfunc() and the probe: the child has both. */
static void test_fork_while_registering(void **state)
{
	int status = -1;
	pthread_t thread;
	pid_t child;
	void *ret;

	(void)state;
	sem_init(&is_registering, 0, 0);
	reg_does = take_long;
	assert_int_equal(pthread_create(&thread, NULL, register_slowly, NULL), 0);
	sem_wait(&is_registering);
	child = fork();
	if (!child)
		_exit(unregister_trace_guarded(probe, "a") || strcmp(log_text, "reg unreg "));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(pthread_join(thread, &ret), 0);
	assert_null(ret);
	assert_int_equal(unregister_trace_guarded(probe, "a"), 0);
	sem_destroy(&is_registering);
}

static void fork_inside(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* A fork in regfunc must not wait for the thread that forks. */
static void test_fork_in_regfunc(void **state)
{
	struct timespec start;

	(void)state;
	reg_does = fork_inside;
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(register_trace_guarded(probe, "a"), 0);
	assert_in_range(ms_since(&start), 0, 900);
	assert_int_equal(unregister_trace_guarded(probe, "a"), 0);
}

/* ---- waiting for other threads ---- */

static void compute_long(void)
{
	struct timespec start;

	sem_post(&is_registering);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	for (struct timespec now = start;
	     now.tv_nsec - start.tv_nsec + (now.tv_sec - start.tv_sec) * 1000000000 < 150000000;)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
}

static int register_other(void)
{
	return register_trace_even(probe, "b");
}

static int fork_once(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	return waitpid(child, NULL, 0) != child;
}

static void use_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/*
 * @wait: waits for a thread of ordinary priority that registers a probe. Run by a real-time thread
 * on the same CPU: where that spins, the other has a twentieth of each second.
 */
static void check_urgent(int (*wait)(void))
{
	const struct sched_param urgent = { .sched_priority = 1 }, ordinary = { 0 };
	struct timespec start;
	cpu_set_t before;
	pthread_t thread;
	int allowed;
	void *ret;

	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	use_cpu(sched_getcpu());
	sem_init(&is_registering, 0, 0);
	reg_does = compute_long;
	assert_int_equal(pthread_create(&thread, NULL, register_slowly, NULL), 0);
	sem_wait(&is_registering);
	allowed = !sched_setscheduler(0, SCHED_FIFO, &urgent);
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(wait(), 0);
	if (allowed)
		assert_in_range(ms_since(&start), 0, 800);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &ordinary), 0);
	assert_int_equal(pthread_join(thread, &ret), 0);
	assert_null(ret);
	assert_int_equal(unregister_trace_guarded(probe, "a"), 0);
	sched_setaffinity(0, sizeof(before), &before);
	sem_destroy(&is_registering);
	if (!allowed)
		skip_test("no real-time priority");
}

static void test_urgent_register(void **state)
{
	(void)state;
	check_urgent(register_other);
	assert_int_equal(unregister_trace_even(probe, "b"), 0);
}

static void test_urgent_fork(void **state)
{
	(void)state;
	check_urgent(fork_once);
}

static int result_inside;

static void register_inside(void)
{
	result_inside = register_trace_even(probe, "b");
}

static void test_register_in_regfunc(void **state)
{
	(void)state;
	reg_does = register_inside;
	assert_int_equal(register_trace_guarded(probe, "a"), 0);
	assert_int_equal(result_inside, -EDEADLK);
	assert_int_equal(register_trace_even(probe, "b"), 0);
	assert_int_equal(unregister_trace_even(probe, "b"), 0);
	assert_int_equal(unregister_trace_guarded(probe, "a"), 0);
}

static const char *file_of_child(void)
{
	static char name[64];

	snprintf(name, sizeof(name), "%d-0", (int)getpid());
	return name;
}

/* A child that fires nothing has no file, and a process has one. */
static void test_file_of_child(void **state)
{
	char before[PATH_MAX], path[2 * PATH_MAX];
	int status = -1;
	pid_t child;

	(void)state;
	assert_non_null(getenv("XDG_RUNTIME_DIR"));
	snprintf(before, sizeof(before), "%s/schedtap", getenv("XDG_RUNTIME_DIR"));
	snprintf(path, sizeof(path), "%s/%s", before, file_of_child());
	assert_int_equal(access(path, F_OK), 0);
	child = fork();
	if (!child) {
		snprintf(path, sizeof(path), "%s/%s", before, file_of_child());
		status = access(path, F_OK) ? 0 : 1;
		trace_even(2);
		_exit(status | (access(path, F_OK) ? 2 : 0));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* What it had before exec is no file any more, though its link and the descriptor's number are the
 * same. */
static void test_file_after_exec(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	child = fork();
	if (!child)
		execl("/proc/self/exe", "test_probes", "exec", "again", NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int has_one_file(void)
{
	char path[PATH_MAX];
	int ret;

	ret = snprintf(path, sizeof(path), "%s/schedtap/%s", getenv("XDG_RUNTIME_DIR"),
		       file_of_child());
	if (access(path, F_OK))
		return 1;
	path[ret - 1] = '1';
	return !access(path, F_OK);
}

/* Of children that did not exit(). */
static void remove_files(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test_setup(test_errors, clear_log),
		cmocka_unit_test_setup(test_enabled, clear_log),
		cmocka_unit_test_setup(test_condition, clear_log),
		cmocka_unit_test(test_synchronize),
		cmocka_unit_test(test_thread_that_ends_inside),
		cmocka_unit_test(test_for_each),
		cmocka_unit_test_setup(test_notifier, clear_log),
		cmocka_unit_test_setup(test_event_beside_probes, clear_log),
		cmocka_unit_test(test_custom_event),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_file_of_child),
		cmocka_unit_test(test_file_after_exec),
		cmocka_unit_test_setup(test_fork_while_registering, clear_log),
		cmocka_unit_test_setup(test_fork_in_regfunc, clear_log),
		cmocka_unit_test_setup(test_urgent_register, clear_log),
		cmocka_unit_test_setup(test_urgent_fork, clear_log),
		cmocka_unit_test_setup(test_register_in_regfunc, clear_log),
	};

	if (argc == 1)
		return run_in_folder(argv[0], remove_files);
	if (argc == 3)
		return execl("/proc/self/exe", argv[0], "after", "second", "exec", NULL);
	if (argc == 4)
		return has_one_file();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("probes", tests, NULL, NULL);
}
