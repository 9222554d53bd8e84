// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Messengers and workers, as in schbench: a worker asks its messenger for a message and sleeps on a
 * futex. The messenger wakes all workers that asked, and sleeps until one asks again.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/load/parts.h"

/* A bell that one task waits for. */
struct bell {
	_Atomic uint32_t rung;
};

struct worker {
	_Alignas(TAP_LOAD_LINE) struct bell bell;
	uint64_t woken_ns; /* when the messenger woke it */
	struct worker *next; /* in its messenger's list */
	struct messenger *messenger;
	struct tap_load_count *count;
	struct tap_load_work work;
	pthread_t thread;
};

struct messenger {
	_Alignas(TAP_LOAD_LINE) struct bell bell;
	_Atomic(struct worker *) asking;
	struct tap_load *load;
	pthread_t thread;
};

struct crew {
	struct tap_load *load;
	struct worker *workers;
	struct messenger *messengers;
	pthread_t *hogs;
	unsigned int nr_workers, nr_messengers, nr_hogs; /* threads that were created */
	struct tap_load_count *counts;
};

static void ring(struct bell *b)
{
	if (!atomic_exchange(&b->rung, 1))
		syscall(SYS_futex, &b->rung, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_for(struct bell *b)
{
	while (!atomic_exchange(&b->rung, 0))
		syscall(SYS_futex, &b->rung, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

/* ---- threads ---- */

static void ask(struct worker *w)
{
	struct messenger *m = w->messenger;

	w->next = atomic_load(&m->asking);
	while (!atomic_compare_exchange_weak(&m->asking, &w->next, w))
		;
	ring(&m->bell);
}

/* schbench wakes all workers with one time stamp; only a stamp for each is that worker's own. */
static void wake_all(struct messenger *m)
{
	struct worker *w = atomic_exchange(&m->asking, NULL), *next;
	bool one_stamp = m->load->opts->like_schbench;
	uint64_t now_ns = tap_now_ns();

	for (; w; w = next) {
		next = w->next; /* once woken, the worker may ask again */
		w->woken_ns = one_stamp ? now_ns : tap_now_ns();
		ring(&w->bell);
	}
}

static void *run_messenger(void *messenger)
{
	struct messenger *m = messenger;

	tap_load_name(tap_load_messenger);
	while (!tap_load_stops(m->load)) {
		wake_all(m);
		wait_for(&m->bell);
	}
	return NULL;
}

static void do_work(const struct worker *w, const struct tap_load_opts *o)
{
	const struct timespec sleep = { .tv_sec = (time_t)(o->sleep_ns / 1000000000u),
					.tv_nsec = (long)(o->sleep_ns % 1000000000u) };

	if (o->sleep_ns)
		nanosleep(&sleep, NULL);
	tap_load_do(&w->work, o->products);
}

static void *run_worker(void *worker)
{
	struct worker *w = worker;
	struct tap_load *l = w->messenger->load;

	tap_load_name(tap_load_worker);
	while (!tap_load_stops(l)) {
		uint64_t awake_ns, done_ns;

		ask(w);
		wait_for(&w->bell);
		awake_ns = tap_now_ns();
		if (tap_load_stops(l))
			break;
		do_work(w, l->opts);
		done_ns = tap_now_ns();
		if (!tap_load_measures(l))
			continue;
		tap_load_wakeup(w->count, awake_ns - w->woken_ns);
		tap_load_operation(w->count,
				   done_ns - (l->opts->like_schbench ? awake_ns : w->woken_ns));
	}
	return NULL;
}

static void *run_hog(void *load)
{
	struct tap_load *l = load;
	struct tap_load_work work;

	tap_load_name(tap_load_hog);
	if (tap_load_work_init(&work, l->opts->matrix))
		return NULL;
	while (!tap_load_stops(l))
		tap_load_do(&work, 1);
	tap_load_work_release(&work);
	return NULL;
}

/* ---- starting and stopping ---- */

static int start_messenger(struct crew *c, struct tap_err *err)
{
	struct messenger *m = &c->messengers[c->nr_messengers];
	int ret;

	m->load = c->load;
	ret = pthread_create(&m->thread, NULL, run_messenger, m);
	if (ret)
		return tap_err_set(err, -ret, "cannot start a messenger thread: %s", strerror(ret));
	c->nr_messengers++;
	return 0;
}

static int start_worker(struct crew *c, struct messenger *m, struct tap_err *err)
{
	struct worker *w = &c->workers[c->nr_workers];
	int ret;

	w->messenger = m;
	w->count = &c->counts[c->nr_workers];
	if (tap_load_work_init(&w->work, c->load->opts->matrix))
		return tap_err_nomem(err);
	ret = pthread_create(&w->thread, NULL, run_worker, w);
	if (ret) {
		tap_load_work_release(&w->work);
		return tap_err_set(err, -ret, "cannot start a worker thread: %s", strerror(ret));
	}
	c->nr_workers++;
	return 0;
}

static int start_hogs(struct crew *c, unsigned int nr, struct tap_err *err)
{
	c->hogs = calloc(nr, sizeof(*c->hogs));
	if (!c->hogs)
		return tap_err_nomem(err);
	for (; c->nr_hogs < nr; c->nr_hogs++) {
		int ret = pthread_create(&c->hogs[c->nr_hogs], NULL, run_hog, c->load);

		if (ret)
			return tap_err_set(err, -ret, "cannot start a CPU hog: %s", strerror(ret));
	}
	return 0;
}

static int start_all(struct crew *c, struct tap_err *err)
{
	const struct tap_load_opts *o = c->load->opts;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < o->messengers; i++) {
		ret = start_messenger(c, err);
		for (unsigned int k = 0; !ret && k < o->threads; k++)
			ret = start_worker(c, &c->messengers[i], err);
	}
	if (!ret && o->kind == TAP_LOAD_MIXED)
		ret = start_hogs(c, (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), err);
	return ret;
}

/* The phase is TAP_LOAD_STOP: a thread that wakes up now ends. */
static void stop_all(struct crew *c)
{
	for (unsigned int i = 0; i < c->nr_messengers; i++)
		ring(&c->messengers[i].bell);
	for (unsigned int i = 0; i < c->nr_workers; i++)
		ring(&c->workers[i].bell);
	for (unsigned int i = 0; i < c->nr_messengers; i++)
		pthread_join(c->messengers[i].thread, NULL);
	for (unsigned int i = 0; i < c->nr_workers; i++) {
		pthread_join(c->workers[i].thread, NULL);
		tap_load_work_release(&c->workers[i].work);
	}
	for (unsigned int i = 0; i < c->nr_hogs; i++)
		pthread_join(c->hogs[i], NULL);
}

static void *zeroed(size_t size)
{
	void *p = aligned_alloc(TAP_LOAD_LINE, size);

	return p ? memset(p, 0, size) : NULL;
}

int tap_load_messages(struct tap_load *l, struct tap_err *err)
{
	unsigned int nr = l->opts->threads * l->opts->messengers;
	struct crew c = { .load = l };
	int ret = 0, summed = 0;

	c.workers = zeroed(nr * sizeof(*c.workers));
	c.messengers = zeroed(l->opts->messengers * sizeof(*c.messengers));
	c.counts = tap_load_counts(l, nr);
	ret = c.workers && c.messengers && c.counts ? start_all(&c, err) : tap_err_nomem(err);
	if (!ret && tap_load_pass(l, c.counts, nr, NULL, NULL))
		ret = tap_err_nomem(err);
	atomic_store(&l->phase, TAP_LOAD_STOP);
	stop_all(&c);
	if (c.counts)
		summed = tap_load_sum(l, c.counts, nr);
	free(c.workers);
	free(c.messengers);
	free(c.hogs);
	return ret ?: (summed ? tap_err_nomem(err) : 0);
}
