// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tally's waits from the queueing against those from the waking, wait by wait: two tallies run
 * at once, and both report each wait (waits.bpf.c). The pair of programs on wakings and switches is
 * how run queue latency is usually measured. At a switch both take the same time: what delays the
 * machine between them makes no difference.
 *
 * Two kinds of checks. Exact ones, which hold on any machine: each switch is in both tallies, the
 * kinds are equal, each censored wait has its cause, and each difference lies within what third
 * programs have measured of this wait (is_explained()). Statistical ones, which need a machine
 * whose wakeups are fast: not in an emulated guest (option -e).
 *
 * usage: test_live_waits [-e] [SECONDS]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/map.h"
#include "record/tally/tally.h"
#include "waits.h"

#define NEAR_NS 3000
#define MAX_WAITS 500000u
#define MAX_SHOWN 10 /* waits of each kind of failure */

static char object[PATH_MAX];
static bool is_emulated;
static unsigned int seconds = 3;
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

static void ignore(int nr)
{
	(void)nr;
}

/* Some signals come just before it goes to sleep, and keep it from sleeping. */
static void sleep_and_get_signals(void)
{
	const struct itimerval ms = { .it_interval.tv_usec = 1000, .it_value.tv_usec = 1000 };

	signal(SIGALRM, ignore);
	setitimer(ITIMER_REAL, &ms, NULL);
	for (;;)
		usleep(50);
}

#define NR_CHILDREN 8
#define ENOUGH_BIRTHS 40 /* new tasks: four times as many as the checks need */

static _Atomic unsigned int *births; /* number of tasks that have ended; shared with the children */

static void child(unsigned int nr, int there[2], int back[2])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (nr == 0)
		play(there[0], back[1], 0);
	if (nr == 1)
		play(back[0], there[1], 1);
	if (nr == 2 || nr == 3) /* they are moved to other CPUs while they wait */
		work_and_sleep(3000, 500);
	if (nr < 7)
		run_on(0);
	if (nr == 4)
		work_and_sleep(4000, 1000);
	if (nr == 5)
		work_and_sleep(1000, 2000);
	if (nr == 6)
		sleep_and_get_signals();
	for (;;) { /* tasks that begin and end */
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		++*births;
		usleep(500);
	}
}

static void start_load(pid_t children[NR_CHILDREN])
{
	int there[2], back[2];

	assert_int_equal(pipe(there) | pipe(back), 0);
	births = mmap(NULL, sizeof(*births), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(births != MAP_FAILED);
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
	struct tap_map by_switch; /* -> index */
};

/* Of the switches from .from_ns to .to_ns, when all programs ran. */
static struct waits queued, waking;
static uint64_t from_ns, to_ns;
/*
 * CLOCK_MONOTONIC minus the scheduler's clock: a lower limit, and by how much a reading before the
 * run and one after it differ.
 */
static int64_t least_offset_ns, drift_ns;

static uint64_t key_of(const struct wait_record *r)
{
	return (uint64_t)r->tid << 40 | (r->at_ns & ((1ull << 40) - 1));
}

static int add_wait(void *ctx, void *data, size_t size)
{
	struct waits *w = ctx;
	const struct wait_record *r = data;

	assert_int_equal(size, sizeof(*r));
	if (r->at_ns < from_ns || r->at_ns >= to_ns)
		return 0;
	assert_true(w->nr < MAX_WAITS);
	w->v[w->nr] = *r;
	assert_int_equal(tap_map_set(&w->by_switch, key_of(r), w->nr), 0);
	w->nr++;
	return 0;
}

static void read_waits(struct bpf_object *obj, struct waits *w)
{
	struct ring_buffer *rb;
	uint64_t lost = 0;
	uint32_t zero = 0;

	assert_int_equal(bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(obj, ".bss.waits"),
					     &zero, &lost),
			 0);
	assert_int_equal(lost, 0);
	w->v = calloc(MAX_WAITS, sizeof(*w->v));
	rb = ring_buffer__new(bpf_object__find_map_fd_by_name(obj, "waits"), add_wait, w, NULL);
	assert_non_null(rb);
	assert_true(ring_buffer__consume(rb) >= 0);
	ring_buffer__free(rb);
}

static const struct wait_record *counterpart(const struct waits *w, const struct wait_record *r)
{
	const uint64_t *at = tap_map_get(&w->by_switch, key_of(r));

	return at ? &w->v[*at] : NULL;
}

/*
 * Return CLOCK_MONOTONIC minus the scheduler's clock, or less. The kernel reads CLOCK_MONOTONIC
 * first: a delay before it reads the other clock makes the difference too small, so the greatest of
 * several is the best.
 */
static int64_t read_offset(void)
{
	int64_t greatest = INT64_MIN;

	for (unsigned int i = 0; i < 50; i++) {
		char text[1024], *at;
		int fd = open("/sys/kernel/debug/sched/debug", O_RDONLY | O_CLOEXEC);
		ssize_t n = read(fd, text, sizeof(text) - 1);
		int64_t ms[2], ns[2], offset;

		assert_true(n > 0);
		close(fd);
		text[n] = 0;
		at = strstr(text, "ktime ");
		assert_true(at && sscanf(at, "ktime : %" SCNd64 ".%" SCNd64, &ms[0], &ns[0]) == 2);
		at = strstr(text, "cpu_clk ");
		assert_true(at &&
			    sscanf(at, "cpu_clk : %" SCNd64 ".%" SCNd64, &ms[1], &ns[1]) == 2);
		offset = (ms[0] - ms[1]) * 1000000 + ns[0] - ns[1];
		greatest = offset > greatest ? offset : greatest;
	}
	return greatest;
}

static void attach(struct bpf_object *obj, const char *const names[], struct bpf_link *links[])
{
	for (unsigned int i = 0; names[i]; i++) {
		links[i] = bpf_program__attach(bpf_object__find_program_by_name(obj, names[i]));
		assert_non_null(links[i]);
	}
}

/* One run, on which all tests look. */
static int run_tallies(void **state)
{
	static const char *const witnesses[] = {
		"test_fork",	"test_waking", "test_wakeup", "test_wakeup_new",
		"test_migrate", "test_switch", NULL
	};
	const struct tap_tally_opts from_queueing = { .max_cgroups = 16 };
	const struct tap_tally_opts from_waking = { .max_cgroups = 16, .from_waking = true };
	struct bpf_link *links[sizeof(witnesses) / sizeof(witnesses[0])];
	struct tap_tally *by_queueing, *by_waking;
	struct bpf_object *queued_obj, *waking_obj;
	struct tap_tally_view view;
	pid_t children[NR_CHILDREN];
	struct tap_err err = { 0 };
	int64_t before_ns, after_ns;
	unsigned int born;

	(void)state;
	before_ns = read_offset();
	if (tap_tally_open(&by_queueing, &from_queueing, &err))
		fail_msg("%s", err.text);
	queued_obj = opened;
	/* at a waking they take the time before the second tally does */
	attach(queued_obj, witnesses, links);
	if (tap_tally_open(&by_waking, &from_waking, &err))
		fail_msg("%s", err.text);
	waking_obj = opened;
	start_load(children);
	sleep(1); /* the tally compares its clocks */
	from_ns = tap_now_ns();
	born = *births;
	sleep(seconds);
	for (int i = 0; i < 600 && *births - born < ENOUGH_BIRTHS; i++) /* a guest may be slow */
		usleep(100000);
	end_load(children);
	to_ns = tap_now_ns();
	/* waits for all running programs: switches before .to_ns are complete */
	if (tap_tally_read(by_queueing, &view, &err))
		fail_msg("%s", err.text);
	after_ns = read_offset();
	least_offset_ns = before_ns < after_ns ? before_ns : after_ns;
	drift_ns = llabs(after_ns - before_ns);
	read_waits(queued_obj, &queued);
	read_waits(waking_obj, &waking);
	for (unsigned int i = 0; witnesses[i]; i++)
		bpf_link__destroy(links[i]);
	tap_tally_close(by_queueing);
	tap_tally_close(by_waking);
	print_message("# %u waits from the queueing, %u from the waking\n", queued.nr, waking.nr);
	print_message("# CLOCK_MONOTONIC minus the scheduler's clock: %" PRId64 " ns, then %" PRId64
		      " ns\n",
		      before_ns, after_ns);
	return 0;
}

static int free_waits(void **state)
{
	(void)state;
	free(queued.v);
	free(waking.v);
	tap_map_release(&queued.by_switch);
	tap_map_release(&waking.by_switch);
	return 0;
}

/* ---- exact checks ---- */

static void show(const char *what, const struct wait_record *q, const struct wait_record *w,
		 unsigned int nr)
{
	const struct wait_seen *s = &q->seen;
	uint64_t at_ns = q->at_ns;

	if (nr >= MAX_SHOWN)
		return;
	print_message(
		"# %s: tid %u run %llu: queued %llu ns kind %u reason %u, waking %llu ns kind "
		"%u reason %u\n",
		what, q->tid, q->run, q->ns, q->kind, q->reason, w ? w->ns : 0, w ? w->kind : 99,
		w ? w->reason : 99);
	print_message(
		"#   before the end: out %lld, forked %lld, waking %lld, wakeup %lld ns; offsets "
		"%lld, %lld ns; %llu moves %lld ns; delayed %u, state %u, preempted %u, on CPU "
		"%u\n",
		s->out_ns ? (long long)(at_ns - s->out_ns) : -1,
		s->forked_ns ? (long long)(at_ns - s->forked_ns) : -1,
		s->waking_ns ? (long long)(at_ns - s->waking_ns) : -1,
		s->wakeup_ns ? (long long)(at_ns - s->wakeup_ns) : -1,
		(long long)(s->out_offset_ns - least_offset_ns),
		(long long)(q->offset_ns - least_offset_ns), s->nr_moves, (long long)s->moves_ns,
		s->is_delayed, s->out_state, s->is_preempted, s->was_on_cpu);
}

static void each_switch_is_in_both(void **state)
{
	unsigned int alone[2] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < queued.nr; i++)
		if (!counterpart(&waking, &queued.v[i]))
			show("only from the queueing", &queued.v[i], NULL, alone[0]++);
	for (unsigned int i = 0; i < waking.nr; i++)
		if (!counterpart(&queued, &waking.v[i]))
			show("only from the waking", &waking.v[i], NULL, alone[1]++);
	print_message("# without counterpart: %u, %u\n", alone[0], alone[1]);
	assert_int_equal(alone[0] + alone[1], 0);
}

static bool is_known(const struct wait_record *r)
{
	return r->reason == TAP_TALLY_REASONS;
}

static void kinds_are_equal(void **state)
{
	unsigned int nr[TAP_TALLY_KINDS] = { 0 }, other = 0;

	(void)state;
	for (unsigned int i = 0; i < queued.nr; i++) {
		const struct wait_record *q = &queued.v[i], *w = counterpart(&waking, q);

		if (!w || !is_known(q) || !is_known(w))
			continue;
		if (q->kind != w->kind)
			show("kinds differ", q, w, other++);
		else
			nr[q->kind]++;
	}
	print_message(
		"# compared: %u after wakings, %u preempted, %u throttled; kinds differ: %u\n",
		nr[TAP_TALLY_WAKING], nr[TAP_TALLY_PREEMPTED], nr[TAP_TALLY_THROTTLED], other);
	assert_int_equal(other, 0);
	assert_true(nr[TAP_TALLY_WAKING] > 300 && nr[TAP_TALLY_PREEMPTED] > 100);
}

/* Return true if the witnesses saw why the tally from the queueing does not know a length. */
static bool has_cause_queued(const struct wait_record *q, const struct wait_record *w)
{
	switch (q->reason) {
	case TAP_TALLY_UNSEEN:
		return !q->seen.out_ns && !q->is_other;
	case TAP_TALLY_OTHER_TASK:
		return q->is_other;
	case TAP_TALLY_DELAYED_DEQUEUE:
		return q->seen.is_delayed;
	case TAP_TALLY_NO_STAMP:
		/* it began before the witnesses did, so they cannot know why the kernel has none */
		return !q->seen.out_ns && !q->is_other && w->reason == TAP_TALLY_UNSEEN;
	default:
		return false;
	}
}

/*
 * Some machines hide tasks from tracing, and the wakings that come from these. sched_wakeup may be
 * seen: it can come from the CPU that queues the task.
 */
static bool is_hidden(const struct wait_record *q)
{
	return !is_emulated && q->seen.waking_ns < q->seen.out_ns;
}

/*
 * Return true if the task was queued after the tally noted its sleep, but sched_waking came before:
 * try_to_wake_up() was delayed while the task went to sleep. Where wakings may be hidden, the
 * number of unpaired ones says nothing, but the wakeup comes after the waking.
 */
static bool is_early(const struct wait_seen *s)
{
	return s->wakeup_ns && (!s->nr_unpaired || (!is_emulated && s->waking_ns < s->wakeup_ns)) &&
	       (s->waking_ns < s->out_ns || s->was_on_cpu);
}

/* Return true if the witnesses saw why the tally from the waking does not know a length. */
static bool has_cause_waking(const struct wait_record *q, const struct wait_record *w)
{
	uint64_t began_ns = q->seen.out_ns ?: q->seen.forked_ns;

	switch (w->reason) {
	case TAP_TALLY_UNSEEN:
		return began_ns < from_ns && !q->is_other;
	case TAP_TALLY_OTHER_TASK:
		return q->is_other;
	case TAP_TALLY_NO_STAMP:
		return is_early(&q->seen) || is_hidden(q);
	default:
		return false;
	}
}

static void censored_waits_have_causes(void **state)
{
	unsigned int nr[2][TAP_TALLY_REASONS + 1] = { 0 }, without = 0;

	(void)state;
	for (unsigned int i = 0; i < queued.nr; i++) {
		const struct wait_record *q = &queued.v[i], *w = counterpart(&waking, q);

		if (!w)
			continue;
		nr[0][q->reason]++;
		nr[1][w->reason]++;
		if (!is_known(q) && !has_cause_queued(q, w))
			show("no cause, from the queueing", q, w, without++);
		if (!is_known(w) && !has_cause_waking(q, w))
			show("no cause, from the waking", q, w, without++);
	}
	for (unsigned int i = 0; i < 2; i++)
		print_message("# censored from the %s: %u unseen, %u other task, %u no stamp, %u "
			      "negative, %u delayed dequeue\n",
			      i ? "waking" : "queueing", nr[i][TAP_TALLY_UNSEEN],
			      nr[i][TAP_TALLY_OTHER_TASK], nr[i][TAP_TALLY_NO_STAMP],
			      nr[i][TAP_TALLY_NEGATIVE], nr[i][TAP_TALLY_DELAYED_DEQUEUE]);
	assert_int_equal(without, 0);
}

struct limits {
	int64_t least, greatest;
};

/* By how much a wait may be wrong because the tally's estimate of the offset is too large. */
static int64_t too_large_ns(int64_t offset_ns)
{
	return offset_ns - least_offset_ns;
}

/* From the waking, as the tally took it, until the task was certainly queued. */
static int64_t wakeup_ns(const struct wait_record *q, const struct wait_record *w)
{
	return q->seen.wakeup_ns ? (int64_t)(q->seen.wakeup_ns - (w->at_ns - w->ns)) : 0;
}

/*
 * Find the limits of the difference: the wait from the waking minus the wait from the queueing.
 *
 * All these times were measured of this very wait. Neither limit has a constant.
 * - After a wakeup: at most the time from the waking to sched_wakeup, which comes after the
 *   queueing. A new task is queued after its sched_process_fork and before its sched_wakeup_new,
 *   where its wait from the waking begins.
 * - The tally estimates the offset of the two clocks from above, as the run queue's clock may be
 *   stale. An estimate that is too large makes a wait too short at its end, and a wait after a
 *   preemption too long at its beginning.
 * - The wait from the queueing lacks the time of moves from one queue to another.
 *
 * Return false if the witnesses did not see what is needed.
 */
static bool find_limits(const struct wait_record *q, const struct wait_record *w, struct limits *l)
{
	const struct wait_seen *s = &q->seen;

	l->least = -drift_ns;
	l->greatest = drift_ns + too_large_ns(q->offset_ns) + (int64_t)s->moves_ns;
	if (q->kind != TAP_TALLY_WAKING) {
		l->least -= too_large_ns(s->out_offset_ns);
		return s->out_ns;
	}
	if (!q->run) {
		l->least -= (int64_t)(w->at_ns - w->ns - s->forked_ns);
		return s->forked_ns;
	}
	l->greatest += wakeup_ns(q, w);
	return s->wakeup_ns;
}

/* What the limits consist of, over all waits. */
struct sizes {
	uint64_t *clocks;
	unsigned int nr, nr_moved, nr_new;
	int64_t moves, wakeups; /* greatest */
};

static void add_sizes(struct sizes *sizes, const struct wait_record *q, const struct wait_record *w)
{
	int64_t moves = (int64_t)q->seen.moves_ns, wakeup = q->run ? wakeup_ns(q, w) : 0;

	sizes->clocks[sizes->nr++] = (uint64_t)too_large_ns(q->offset_ns);
	sizes->nr_moved += !!q->seen.nr_moves;
	sizes->nr_new += !q->run;
	sizes->moves = moves > sizes->moves ? moves : sizes->moves;
	sizes->wakeups = wakeup > sizes->wakeups ? wakeup : sizes->wakeups;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t quantile(uint64_t *v, unsigned int nr, double part)
{
	qsort(v, nr, sizeof(*v), by_length);
	return v[(unsigned int)(part * (nr - 1))];
}

static void differences_are_explained(void **state)
{
	struct sizes sizes = { .clocks = calloc(MAX_WAITS, sizeof(uint64_t)) };
	int64_t most_beyond = INT64_MIN;
	unsigned int failed = 0;

	(void)state;
	for (unsigned int i = 0; i < queued.nr; i++) {
		const struct wait_record *q = &queued.v[i], *w = counterpart(&waking, q);
		int64_t difference, beyond;
		struct limits l;

		if (!w || !is_known(q) || !is_known(w) || q->kind != w->kind)
			continue;
		if (!find_limits(q, w, &l)) {
			show("not measured", q, w, failed++);
			continue;
		}
		add_sizes(&sizes, q, w);
		difference = (int64_t)(w->ns - q->ns);
		beyond = difference > l.greatest ? difference - l.greatest : l.least - difference;
		most_beyond = beyond > most_beyond ? beyond : most_beyond;
		if (beyond <= 0)
			continue;
		if (failed < MAX_SHOWN)
			print_message("# difference %" PRId64 ", limits %" PRId64 " and %" PRId64
				      " ns\n",
				      difference, l.least, l.greatest);
		show("not explained", q, w, failed++);
	}
	print_message("# explained: %u, of them %u moved, %u new; not: %u\n", sizes.nr - failed,
		      sizes.nr_moved, sizes.nr_new, failed);
	print_message("# limits: clocks %" PRIu64 " ns (median), %" PRIu64 " ns; wakeups %" PRId64
		      " ns; moves %" PRId64 " ns\n",
		      quantile(sizes.clocks, sizes.nr, 0.5), quantile(sizes.clocks, sizes.nr, 1),
		      sizes.wakeups, sizes.moves);
	print_message("# nearest to a limit: %" PRId64 " ns\n", -most_beyond);
	free(sizes.clocks);
	assert_int_equal(failed, 0);
	assert_true(sizes.nr_new > 10);
}

/* ---- statistical checks ---- */

struct compared {
	unsigned int nr, near,
		longer; /* within NEAR_NS; by more than that longer than from the waking */
	uint64_t *queued, *waking; /* lengths */
	unsigned int late; /* the wakeup does not explain the difference */
	uint64_t sum_queued, sum_waking, sum_wakeups;
};

static void compare(struct compared c[TAP_TALLY_KINDS])
{
	for (unsigned int i = 0; i < queued.nr; i++) {
		const struct wait_record *q = &queued.v[i], *w = counterpart(&waking, q);
		struct compared *k;

		if (!w || !is_known(q) || !is_known(w))
			continue;
		k = &c[q->kind];
		k->queued[k->nr] = q->ns;
		k->waking[k->nr++] = w->ns;
		k->sum_queued += q->ns;
		k->sum_waking += w->ns;
		k->sum_wakeups += (uint64_t)wakeup_ns(q, w);
		k->late += w->ns > q->ns + (uint64_t)wakeup_ns(q, w) + q->seen.moves_ns + NEAR_NS;
		/* the wait from the queueing lacks moves from one queue to another */
		k->near += q->seen.nr_moves || llabs((long long)(q->ns - w->ns)) <= NEAR_NS;
		/* a new task is queued before its sched_wakeup_new */
		k->longer += q->run && q->ns > w->ns + NEAR_NS;
	}
}

static void assert_near(const char *what, uint64_t queued, uint64_t waking, double part)
{
	double off = (double)queued / (double)waking - 1;

	print_message("# %s: %.3f ms queued, %.3f ms from the waking: %+.1f %%\n", what,
		      (double)queued / 1e6, (double)waking / 1e6, 100 * off);
	if (off > part || off < -part)
		fail_msg("%s differs by %.1f %%", what, 100 * off);
}

static void distributions_are_equal(void **state)
{
	struct compared c[TAP_TALLY_KINDS] = { 0 };

	(void)state;
	if (is_emulated)
		skip();
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		c[k].queued = calloc(MAX_WAITS, sizeof(uint64_t));
		c[k].waking = calloc(MAX_WAITS, sizeof(uint64_t));
	}
	compare(c);
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
}

/* For the scheduler's clock; gone with this process. */
static bool has_debugfs(void)
{
	if (access("/sys/kernel/debug/sched/debug", R_OK) == 0)
		return true;
	return unshare(CLONE_NEWNS) == 0 && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL) == 0 &&
	       access("/sys/kernel/debug/sched/debug", R_OK) == 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_switch_is_in_both),
		cmocka_unit_test(kinds_are_equal),
		cmocka_unit_test(censored_waits_have_causes),
		cmocka_unit_test(differences_are_explained),
		cmocka_unit_test(distributions_are_equal),
	};

	seconds = getenv("SOAK") ? 20 : 3;
	for (int opt; (opt = getopt(argc, argv, "e")) != -1;)
		is_emulated = opt == 'e';
	if (optind < argc)
		seconds = (unsigned int)atoi(argv[optind]);
	snprintf(object, sizeof(object), "%s/waits.bpf.o", dirname(strdupa(argv[0])));
	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK) || !has_debugfs()) {
		printf("1..0 # SKIP needs root, the kernel's BTF, and sched/debug in debugfs\n");
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("live_waits", tests, run_tallies, free_waits);
}
