// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the loads do with their time: the work, and the phases. */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "record/load/parts.h"

#define SECOND_NS 1000000000ull
#define TRIES 5u

/* ---- the work ---- */

int tap_load_work_init(struct tap_load_work *w, unsigned int size)
{
	size_t nr = (size_t)3 * size * size;

	*w = (struct tap_load_work){ .m = malloc(nr * sizeof(*w->m)), .size = size };
	if (!w->m)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		w->m[i] = i;
	return 0;
}

void tap_load_work_release(struct tap_load_work *w)
{
	free(w->m);
	*w = (struct tap_load_work){ 0 };
}

/* Not inlined: a caller that frees the matrices would allow the compiler to leave the work out. */
__attribute__((noinline)) void tap_load_do(const struct tap_load_work *w, uint64_t nr)
{
	unsigned int n = w->size;
	const unsigned long *a = w->m, *b = a + (size_t)n * n;
	unsigned long *product = w->m + (size_t)2 * n * n;

	while (nr--)
		for (unsigned int i = 0; i < n; i++)
			for (unsigned int k = 0; k < n; k++) {
				product[i * n + k] = 0;
				for (unsigned int j = 0; j < n; j++)
					product[i * n + k] += a[i * n + j] * b[j * n + k];
			}
}

/* Products in about 20 ms; the fastest of several tries is the least disturbed one. */
uint64_t tap_load_calibrate(unsigned int matrix, uint64_t ns)
{
	struct tap_load_work work;
	uint64_t nr = 1, least_ns = UINT64_MAX;

	if (tap_load_work_init(&work, matrix))
		return 1;
	for (unsigned int i = 0; i < TRIES;) {
		uint64_t from_ns = tap_now_ns(), took_ns;

		tap_load_do(&work, nr);
		took_ns = tap_now_ns() - from_ns;
		if (took_ns < SECOND_NS / 250) {
			nr *= 2;
			continue;
		}
		if (took_ns < least_ns)
			least_ns = took_ns;
		i++;
	}
	tap_load_work_release(&work);
	nr = (uint64_t)((unsigned __int128)ns * nr / least_ns);
	return nr ?: 1;
}

/* ---- counting ---- */

void tap_load_operation(struct tap_load_count *c, uint64_t ns)
{
	uint64_t nr = atomic_load_explicit(&c->operations, memory_order_relaxed);

	atomic_store_explicit(&c->operations, nr + 1, memory_order_relaxed);
	c->err = c->err ?: tap_hist_add(&c->request, ns);
}

void tap_load_wakeup(struct tap_load_count *c, uint64_t ns)
{
	c->err = c->err ?: tap_hist_add(&c->wakeup, ns);
}

struct tap_load_count *tap_load_counts(struct tap_load *l, unsigned int nr)
{
	const struct tap_hist empty = TAP_HIST_INIT;
	struct tap_load_count *counts = aligned_alloc(TAP_LOAD_LINE, nr * sizeof(*counts));

	for (unsigned int i = 0; counts && i < nr; i++)
		counts[i] = (struct tap_load_count){ .load = l, .request = empty, .wakeup = empty };
	return counts;
}

int tap_load_sum(struct tap_load *l, struct tap_load_count *counts, unsigned int nr)
{
	int ret = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct tap_load_count *c = &counts[i];

		ret = ret ?: c->err;
		l->result->operations += c->operations;
		ret = ret ?: tap_hist_merge(&l->result->request, &c->request);
		ret = ret ?: tap_hist_merge(&l->result->wakeup, &c->wakeup);
		tap_hist_release(&c->request);
		tap_hist_release(&c->wakeup);
	}
	free(counts);
	return ret;
}

/* ---- phases ---- */

static void sleep_until(uint64_t ns)
{
	const struct timespec ts = { .tv_sec = (time_t)(ns / SECOND_NS),
				     .tv_nsec = (long)(ns % SECOND_NS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static uint64_t operations(const struct tap_load_count *counts, unsigned int nr)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < nr; i++)
		all += atomic_load_explicit(&counts[i].operations, memory_order_relaxed);
	return all;
}

/* Sleep for the measured time, and note the rate about once a second. */
static int measure(struct tap_load *l, const struct tap_load_count *counts, unsigned int nr)
{
	uint64_t all_ns = l->opts->duration_ns, steps = (all_ns + SECOND_NS / 2) / SECOND_NS ?: 1,
		 at_ns = l->result->from_ns, before = 0;
	int ret = 0;

	for (uint64_t i = 1; !ret && i <= steps; i++) {
		uint64_t now_ns, done;

		sleep_until(l->result->from_ns + (uint64_t)((unsigned __int128)all_ns * i / steps));
		now_ns = tap_now_ns();
		done = operations(counts, nr);
		ret = tap_hist_add(&l->result->rate, (uint64_t)((double)(done - before) * 1e9 /
								(double)(now_ns - at_ns + 1)));
		at_ns = now_ns;
		before = done;
	}
	return ret;
}

int tap_load_pass(struct tap_load *l, struct tap_load_count *counts, unsigned int nr,
		  void (*at)(void *ctx, bool ends), void *ctx)
{
	int ret;

	sleep_until(tap_now_ns() + l->opts->warm_up_ns);
	if (at)
		at(ctx, false);
	l->result->from_ns = tap_now_ns();
	atomic_store(&l->phase, TAP_LOAD_MEASURE);
	ret = measure(l, counts, nr);
	atomic_store(&l->phase, TAP_LOAD_STOP);
	l->result->to_ns = tap_now_ns();
	if (at)
		at(ctx, true);
	return ret;
}
