// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads of equal threads that need nothing from each other: yield, fork and hog. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/load/parts.h"

struct team {
	struct tap_load *load;
	struct tap_load_count *counts;
	pthread_t *threads;
	unsigned int nr; /* threads that were created */
};

static void *run_yield(void *count)
{
	struct tap_load_count *c = count;
	uint64_t from_ns = tap_now_ns();

	tap_load_name(tap_load_worker);
	while (!tap_load_stops(c->load)) {
		uint64_t to_ns;

		sched_yield();
		to_ns = tap_now_ns();
		if (tap_load_measures(c->load))
			tap_load_operation(c, to_ns - from_ns);
		from_ns = to_ns;
	}
	return NULL;
}

/* Fork a child, which stores its first time in @first_ns, shared memory. */
static void fork_once(struct tap_load_count *c, volatile uint64_t *first_ns)
{
	uint64_t from_ns = tap_now_ns(), to_ns;
	pid_t pid = fork();

	if (!pid) {
		*first_ns = tap_now_ns();
		_exit(EXIT_SUCCESS);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) < 0) {
		c->err = c->err ?: -errno;
		return;
	}
	to_ns = tap_now_ns();
	if (!tap_load_measures(c->load))
		return;
	tap_load_wakeup(c, *first_ns - from_ns);
	tap_load_operation(c, to_ns - from_ns);
}

/* The children inherit the thread's name, by which a recording shows them. */
static void *run_fork(void *count)
{
	struct tap_load_count *c = count;
	volatile uint64_t *first_ns = mmap(NULL, sizeof(*first_ns), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (first_ns == MAP_FAILED) {
		c->err = -errno;
		return NULL;
	}
	tap_load_name(c->load->process_name);
	while (!tap_load_stops(c->load) && !c->err)
		fork_once(c, first_ns);
	munmap((void *)first_ns, sizeof(*first_ns));
	return NULL;
}

static void *run_hog(void *count)
{
	struct tap_load_count *c = count;
	const struct tap_load_opts *o = c->load->opts;
	struct tap_load_work work;
	uint64_t from_ns = tap_now_ns();

	tap_load_name(tap_load_hog);
	c->err = tap_load_work_init(&work, o->matrix);
	while (!c->err && !tap_load_stops(c->load)) {
		uint64_t to_ns;

		tap_load_do(&work, o->products);
		to_ns = tap_now_ns();
		if (tap_load_measures(c->load))
			tap_load_operation(c, to_ns - from_ns);
		from_ns = to_ns;
	}
	tap_load_work_release(&work);
	return NULL;
}

/* Read the CPU time that each hog had while the load measured. */
static void read_cpu_time(void *team, bool ends)
{
	struct team *t = team;
	uint64_t *cpu_ns = t->load->result->cpu_ns;

	for (unsigned int i = 0; i < t->nr; i++) {
		clockid_t clock;
		uint64_t now_ns = 0;

		if (!pthread_getcpuclockid(t->threads[i], &clock))
			now_ns = tap_clock_ns(clock);
		cpu_ns[i] = ends ? now_ns - cpu_ns[i] : now_ns;
	}
}

static int start_all(struct team *t, struct tap_err *err)
{
	static void *(*const runs[TAP_NR_LOADS])(void *) = {
		[TAP_LOAD_YIELD] = run_yield,
		[TAP_LOAD_FORK] = run_fork,
		[TAP_LOAD_HOG] = run_hog,
	};
	const struct tap_load_opts *o = t->load->opts;

	for (; t->nr < o->threads; t->nr++) {
		int ret =
			pthread_create(&t->threads[t->nr], NULL, runs[o->kind], &t->counts[t->nr]);

		if (ret)
			return tap_err_set(err, -ret, "cannot start thread %u: %s", t->nr + 1,
					   strerror(ret));
	}
	return 0;
}

static int run_team(struct team *t, struct tap_err *err)
{
	struct tap_load *l = t->load;
	bool is_hog = l->opts->kind == TAP_LOAD_HOG;
	int ret = start_all(t, err);

	if (!ret && is_hog)
		l->result->nr_cpu_ns = t->nr;
	if (!ret && tap_load_pass(l, t->counts, l->opts->threads, is_hog ? read_cpu_time : NULL, t))
		ret = tap_err_nomem(err);
	atomic_store(&l->phase, TAP_LOAD_STOP);
	while (t->nr)
		pthread_join(t->threads[--t->nr], NULL);
	return ret;
}

int tap_load_threads(struct tap_load *l, struct tap_err *err)
{
	unsigned int nr = l->opts->threads;
	struct team t = { .load = l, .counts = tap_load_counts(l, nr) };
	int ret, summed = 0;

	t.threads = calloc(nr, sizeof(*t.threads));
	l->result->cpu_ns = calloc(nr, sizeof(*l->result->cpu_ns));
	ret = t.counts && t.threads && l->result->cpu_ns ? run_team(&t, err) : tap_err_nomem(err);
	if (t.counts)
		summed = tap_load_sum(l, t.counts, nr);
	free(t.threads);
	if (!ret && summed)
		ret = tap_err_set(err, summed, "the load failed: %s", strerror(-summed));
	return ret;
}
