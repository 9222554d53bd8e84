// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * messages WORKERS ROUNDS: a message thread wakes workers and each of them measures how long that
 * took, as schbench does: from just before the futex call that wakes it until it runs in user
 * space. Prints "count p50 p90 p99 max" in ns, of the waits in which the worker really slept.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct worker {
	pthread_t thread;
	_Atomic uint32_t posted; /* odd: a message waits */
	_Atomic uint64_t posted_ns;
	uint64_t *waits;
	unsigned int nr;
};

static unsigned int nr_rounds;
static atomic_bool over;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static long futex(_Atomic uint32_t *word, int op, uint32_t v)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, v, NULL, NULL, 0);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (!over) {
		uint32_t seen = w->posted;

		if (!(seen & 1)) {
			/* 0: it slept, and was woken */
			if (!futex(&w->posted, FUTEX_WAIT, seen) && !over)
				w->waits[w->nr++] = now_ns() - w->posted_ns;
			continue;
		}
		w->posted = seen + 1;
	}
	return NULL;
}

static void send(struct worker *w)
{
	if (w->posted & 1) /* still busy with the last one */
		return;
	w->posted_ns = now_ns();
	w->posted++;
	futex(&w->posted, FUTEX_WAKE, 1);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void report(const struct worker *w, unsigned int nr_workers)
{
	uint64_t *all = calloc((size_t)nr_workers * nr_rounds + 1, sizeof(*all));
	unsigned int nr = 0;

	for (unsigned int i = 0; i < nr_workers; i++)
		for (unsigned int k = 0; k < w[i].nr; k++)
			all[nr++] = w[i].waits[k];
	if (!nr)
		exit(1);
	qsort(all, nr, sizeof(*all), by_value);
	printf("%u %ju %ju %ju %ju\n", nr, (uintmax_t)all[(nr - 1) / 2],
	       (uintmax_t)all[(nr - 1) * 9ull / 10], (uintmax_t)all[(nr - 1) * 99ull / 100],
	       (uintmax_t)all[nr - 1]);
	free(all);
}

int main(int argc, char **argv)
{
	unsigned int nr_workers = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	struct worker *w = calloc(nr_workers + 1, sizeof(*w));

	nr_rounds = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	if (!nr_workers || !nr_rounds || !w)
		return 2;
	for (unsigned int i = 0; i < nr_workers; i++) {
		w[i].waits = calloc(nr_rounds + 1, sizeof(*w[i].waits));
		if (!w[i].waits || pthread_create(&w[i].thread, NULL, work, &w[i]))
			return 1;
	}
	for (unsigned int round = 0; round < nr_rounds; round++) {
		for (unsigned int i = 0; i < nr_workers; i++)
			send(&w[i]);
		usleep(200);
	}
	over = true;
	for (unsigned int i = 0; i < nr_workers; i++) {
		w[i].posted += 2;
		futex(&w[i].posted, FUTEX_WAKE, 1);
		pthread_join(w[i].thread, NULL);
	}
	report(w, nr_workers);
	return 0;
}
