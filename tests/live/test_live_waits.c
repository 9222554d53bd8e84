// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's waits from the queueing against those from the waking, wait by wait: two tallies run
 * at once, and both report each wait (waits.bpf.c). The pair of programs on wakings and switches is
 * how run queue latency is usually measured. At a switch both take the same time: what delays the
 * machine between them makes no difference.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/map.h"
#include "record/tally/tally.h"
#include "waits.h"

#define NEAR_NS 3000
#define MAX_WAITS 200000u

static char object[PATH_MAX];
static struct bpf_object *opened; /* by the last tap_tally_open() */

struct bpf_object *__wrap_tap_bpf_open_tally(void);
struct bpf_object *__wrap_tap_bpf_open_tally(void)
{
	static const char clock[] = "switch_clock";
	struct bpf_object *first = opened;

	opened = bpf_object__open_file(object, NULL);
	if (first && opened)
		assert_int_equal(bpf_map__reuse_fd(bpf_object__find_map_by_name(opened, clock),
						   bpf_object__find_map_fd_by_name(first, clock)),
				 0);
	return opened;
}

/* ---- load ---- */

static void work(uint64_t ns)
{
	for (uint64_t end = tap_now_ns() + ns; tap_now_ns() < end;)
		;
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void work_and_sleep(unsigned int work_us, unsigned int sleep_us)
{
	run_on(0);
	for (;;) {
		work(work_us * 1000ull);
		usleep(sleep_us);
	}
}

static void play(int from, int to, int cpu)
{
	char ball = 0;

	run_on(cpu);
	for (;;) {
		if (read(from, &ball, 1) != 1)
			_exit(1);
		work(20000);
		if (write(to, &ball, 1) != 1)
			_exit(1);
	}
}

#define NR_CHILDREN 5

static void child(unsigned int nr, int there[2], int back[2])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nr == 0)
		work_and_sleep(4000, 1000);
	if (nr == 1)
		work_and_sleep(1000, 2000);
	if (nr == 2)
		play(there[0], back[1], 0);
	if (nr == 3)
		play(back[0], there[1], 1);
	for (;;) { /* tasks that begin and end */
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		usleep(500);
	}
}

static void start_load(pid_t children[NR_CHILDREN])
{
	int there[2], back[2];

	assert_int_equal(pipe(there) | pipe(back), 0);
	for (unsigned int i = 0; i < NR_CHILDREN; i++) {
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (!children[i])
			child(i, there, back);
	}
	assert_int_equal(write(there[1], "b", 1), 1);
}

static void end_load(const pid_t children[NR_CHILDREN])
{
	for (unsigned int i = 0; i < NR_CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

/* ---- waits ---- */

struct waits {
	struct wait_record *v;
	unsigned int nr;
	struct tap_map by_run; /* -> index */
};

static uint64_t key_of(const struct wait_record *r)
{
	return (uint64_t)r->tid << 40 | r->run;
}

static int add_wait(void *ctx, void *data, size_t size)
{
	struct waits *w = ctx;

	assert_int_equal(size, sizeof(struct wait_record));
	if (w->nr == MAX_WAITS)
		return 0;
	w->v[w->nr] = *(const struct wait_record *)data;
	assert_int_equal(tap_map_set(&w->by_run, key_of(&w->v[w->nr]), w->nr), 0);
	w->nr++;
	return 0;
}

static void read_waits(struct bpf_object *obj, struct waits *w)
{
	struct ring_buffer *rb;

	w->v = calloc(MAX_WAITS, sizeof(*w->v));
	rb = ring_buffer__new(bpf_object__find_map_fd_by_name(obj, "waits"), add_wait, w, NULL);
	assert_non_null(rb);
	assert_true(ring_buffer__consume(rb) >= 0);
	ring_buffer__free(rb);
}

/* ---- comparison ---- */

struct compared {
	unsigned int nr, near,
		longer; /* within NEAR_NS; by more than that longer than from the waking */
	uint64_t *queued, *waking; /* lengths */
	unsigned int late; /* the wakeup does not explain the difference */
	uint64_t sum_queued, sum_waking, sum_wakeups;
};

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void compare(const struct waits *queued, const struct waits *waking,
		    struct compared c[TAP_TALLY_KINDS])
{
	for (unsigned int i = 0; i < queued->nr; i++) {
		const struct wait_record *q = &queued->v[i], *w;
		const uint64_t *at = tap_map_get(&waking->by_run, key_of(q));
		struct compared *k;

		if (!at || q->reason < TAP_TALLY_REASONS)
			continue;
		w = &waking->v[*at];
		if (w->reason < TAP_TALLY_REASONS)
			continue;
		assert_int_equal(q->kind, w->kind);
		k = &c[q->kind];
		k->queued[k->nr] = q->ns;
		k->waking[k->nr++] = w->ns;
		k->sum_queued += q->ns;
		k->sum_waking += w->ns;
		k->sum_wakeups += w->wakeup_ns;
		k->late += w->ns > q->ns + w->wakeup_ns + NEAR_NS;
		k->near += llabs((long long)(q->ns - w->ns)) <= NEAR_NS;
		/* a new task is queued before its sched_wakeup_new */
		k->longer += q->run && q->ns > w->ns + NEAR_NS;
	}
}

static uint64_t quantile(uint64_t *v, unsigned int nr, double part)
{
	qsort(v, nr, sizeof(*v), by_length);
	return v[(unsigned int)(part * (nr - 1))];
}

static void assert_near(const char *what, uint64_t queued, uint64_t waking, double part)
{
	double off = (double)queued / (double)waking - 1;

	print_message("# %s: %.3f ms queued, %.3f ms from the waking: %+.1f %%\n", what,
		      (double)queued / 1e6, (double)waking / 1e6, 100 * off);
	if (off > part || off < -part)
		fail_msg("%s differs by %.1f %%", what, 100 * off);
}

static void waits_are_equal(void **state)
{
	const struct tap_tally_opts from_queueing = { .max_cgroups = 16 };
	const struct tap_tally_opts from_waking = { .max_cgroups = 16, .from_waking = true };
	struct waits queued = { 0 }, waking = { 0 };
	struct compared c[TAP_TALLY_KINDS] = { 0 };
	struct bpf_object *queued_obj, *waking_obj;
	struct bpf_link *wakeups;
	struct tap_tally *by_queueing, *by_waking;
	pid_t children[NR_CHILDREN];
	struct tap_err err = { 0 };
	unsigned int nr_censored = 0;

	(void)state;
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		c[k].queued = calloc(MAX_WAITS, sizeof(uint64_t));
		c[k].waking = calloc(MAX_WAITS, sizeof(uint64_t));
	}
	if (tap_tally_open(&by_queueing, &from_queueing, &err))
		fail_msg("%s", err.text);
	queued_obj = opened;
	if (tap_tally_open(&by_waking, &from_waking, &err))
		fail_msg("%s", err.text);
	waking_obj = opened;
	wakeups = bpf_program__attach(bpf_object__find_program_by_name(waking_obj, "test_wakeup"));
	assert_non_null(wakeups);
	start_load(children);
	sleep(getenv("SOAK") ? 20 : 3);
	end_load(children);
	read_waits(queued_obj, &queued);
	read_waits(waking_obj, &waking);
	compare(&queued, &waking, c);
	for (unsigned int i = 0; i < waking.nr; i++)
		nr_censored += waking.v[i].reason < TAP_TALLY_REASONS;
	print_message("# %u waits, %u from the waking (%u censored)\n", queued.nr, waking.nr,
		      nr_censored);
	for (unsigned int k = 0; k < TAP_TALLY_THROTTLED; k++)
		print_message("# kind %u: %u, %u near, %u longer, %u late\n", k, c[k].nr, c[k].near,
			      c[k].longer, c[k].late);

	assert_true(c[TAP_TALLY_WAKING].nr > 1000 && c[TAP_TALLY_PREEMPTED].nr > 300);
	assert_true(c[TAP_TALLY_PREEMPTED].near >= 0.97 * c[TAP_TALLY_PREEMPTED].nr);
	assert_int_equal(c[TAP_TALLY_WAKING].longer, 0);
	assert_true(c[TAP_TALLY_WAKING].late <= 0.01 * c[TAP_TALLY_WAKING].nr);
	/* a sched_wakeup comes a little after the task was queued */
	print_message(
		"# sum after wakings: %.1f ms queued, %.1f ms wakeups, %.1f ms from the waking\n",
		(double)c[TAP_TALLY_WAKING].sum_queued / 1e6,
		(double)c[TAP_TALLY_WAKING].sum_wakeups / 1e6,
		(double)c[TAP_TALLY_WAKING].sum_waking / 1e6);
	assert_in_range(c[TAP_TALLY_WAKING].sum_waking, 0.99 * c[TAP_TALLY_WAKING].sum_queued,
			1.01 * (c[TAP_TALLY_WAKING].sum_queued + c[TAP_TALLY_WAKING].sum_wakeups));
	assert_near("p99 after wakings",
		    quantile(c[TAP_TALLY_WAKING].queued, c[TAP_TALLY_WAKING].nr, 0.99),
		    quantile(c[TAP_TALLY_WAKING].waking, c[TAP_TALLY_WAKING].nr, 0.99), 0.03);
	assert_near("p99.9 after wakings",
		    quantile(c[TAP_TALLY_WAKING].queued, c[TAP_TALLY_WAKING].nr, 0.999),
		    quantile(c[TAP_TALLY_WAKING].waking, c[TAP_TALLY_WAKING].nr, 0.999), 0.03);
	assert_near("sum after preemptions", c[TAP_TALLY_PREEMPTED].sum_queued,
		    c[TAP_TALLY_PREEMPTED].sum_waking, 0.03);
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		free(c[k].queued);
		free(c[k].waking);
	}
	bpf_link__destroy(wakeups);
	tap_tally_close(by_queueing);
	tap_tally_close(by_waking);
	free(queued.v);
	free(waking.v);
	tap_map_release(&queued.by_run);
	tap_map_release(&waking.by_run);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(waits_are_equal) };

	(void)argc;
	snprintf(object, sizeof(object), "%s/waits.bpf.o", dirname(strdupa(argv[0])));
	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("1..0 # SKIP needs root and the kernel's BTF\n");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("live_waits", tests, NULL, NULL);
}
