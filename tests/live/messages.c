// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * messages WORKERS ROUNDS: a message thread wakes workers, and each worker measures its wakeup
 * latency as schbench does: from just before the futex call that wakes it until it runs in user
 * space. Prints "TID FROM TO" (CLOCK_MONOTONIC, ns) for each wait that a wakeup ended.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct wait {
	uint64_t from_ns, to_ns;
};

struct worker {
	pthread_t thread;
	pid_t tid;
	_Atomic uint32_t posted; /* odd: a message is pending */
	_Atomic uint64_t posted_ns;
	struct wait *waits;
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

	w->tid = gettid();
	pthread_setname_np(pthread_self(), "message-worker");
	while (!over) {
		uint32_t seen = w->posted;

		if (!(seen & 1)) {
			/* 0: a wakeup ended the wait */
			if (!futex(&w->posted, FUTEX_WAIT, seen) && !over && w->nr < nr_rounds)
				w->waits[w->nr++] = (struct wait){ w->posted_ns, now_ns() };
			continue;
		}
		w->posted = seen + 1;
	}
	return NULL;
}

static void send(struct worker *w)
{
	if (w->posted & 1) /* still busy with the previous message */
		return;
	w->posted_ns = now_ns();
	w->posted++;
	futex(&w->posted, FUTEX_WAKE, 1);
}

static void report(const struct worker *w)
{
	for (unsigned int i = 0; i < w->nr; i++)
		printf("%d %ju %ju\n", w->tid, (uintmax_t)w->waits[i].from_ns,
		       (uintmax_t)w->waits[i].to_ns);
}

int main(int argc, char **argv)
{
	unsigned int nr_workers = argc > 1 ? (unsigned int)atoi(argv[1]) : 0;
	struct worker *w = calloc(nr_workers + 1, sizeof(*w));

	nr_rounds = argc > 2 ? (unsigned int)atoi(argv[2]) : 0;
	if (!nr_workers || !nr_rounds || !w)
		return 2;
	for (unsigned int i = 0; i < nr_workers; i++) {
		w[i].waits = calloc(nr_rounds, sizeof(*w[i].waits));
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
		report(&w[i]);
	}
	return 0;
}
