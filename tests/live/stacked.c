// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tasks whose stacks are known, for stacks.t; built with frame pointers.
 *
 *   stacked mixed N           threads that wait in a sleep, poll(), a pipe and a futex, and one
 * that runs; until each of the first three has waited N times, for 2 ms each stacked deep N sleeps
 * 150 times below N calls of deep() stacked many BITS         a switch in each of 2^BITS stacks, of
 * left() and right()
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NAP_US 2000

static volatile int calls; /* counts up after each call, or it would be a tail call */
static volatile int over;
static volatile int slept, polled, waited;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *sleeps(void *arg)
{
	prctl(PR_SET_NAME, arg);
	for (; !over; slept++)
		usleep(NAP_US);
	return NULL;
}

static void *polls(void *arg)
{
	prctl(PR_SET_NAME, arg);
	for (; !over; polled++)
		poll(NULL, 0, NAP_US / 1000);
	return NULL;
}

static void *waits(void *arg)
{
	prctl(PR_SET_NAME, arg);
	pthread_mutex_lock(&lock);
	for (; !over; waited++) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += NAP_US * 1000;
		if (until.tv_nsec >= 1000000000)
			until.tv_nsec -= 1000000000, until.tv_sec++;
		pthread_cond_timedwait(&never, &lock, &until);
	}
	return NULL;
}

static int to[2], back[2];

static void *answers(void *arg)
{
	char byte;

	prctl(PR_SET_NAME, arg);
	while (read(to[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	return NULL;
}

static void *asks(void *arg)
{
	char byte = 0;

	prctl(PR_SET_NAME, arg);
	while (!over && write(to[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1)
		usleep(NAP_US / 4);
	return NULL;
}

static void *runs(void *arg)
{
	prctl(PR_SET_NAME, arg);
	while (!over)
		calls++;
	return NULL;
}

static void start(void *(*run)(void *), const char *name)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)name))
		exit(1);
}

static void mixed(int rounds)
{
	if (pipe(to) || pipe(back))
		exit(1);
	start(sleeps, "stk_sleeps");
	start(polls, "stk_polls");
	start(waits, "stk_waits");
	start(answers, "stk_answers");
	start(asks, "stk_asks");
	start(runs, "stk_runs");
	while (slept < rounds || polled < rounds || waited < rounds)
		usleep(NAP_US);
	over = 1;
}

__attribute__((noinline)) static void deep(int n)
{
	if (n > 1)
		deep(n - 1);
	else
		for (int i = 0; i < 150; i++)
			usleep(NAP_US);
	calls++;
}

/* Two on one CPU: each time that one waits the other one runs. */
static void swap(void)
{
	char byte = 0;

	if (write(to[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		exit(1);
}

static void right(int bits, int way);

__attribute__((noinline)) static void left(int bits, int way)
{
	if (!bits)
		swap();
	else if (way & 1)
		right(bits - 1, way >> 1);
	else
		left(bits - 1, way >> 1);
	calls++;
}

__attribute__((noinline)) static void right(int bits, int way)
{
	if (!bits)
		swap();
	else if (way & 1)
		right(bits - 1, way >> 1);
	else
		left(bits - 1, way >> 1);
	calls--;
}

static void many(int bits)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (pipe(to) || pipe(back) || sched_setaffinity(0, sizeof(one), &one))
		exit(1);
	start(answers, "stk_answers");
	prctl(PR_SET_NAME, "stk_many");
	for (int way = 0; way < 1 << bits; way++)
		left(bits, way);
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;

	if (!n)
		return 2;
	if (!strcmp(argv[1], "mixed"))
		mixed(n);
	else if (!strcmp(argv[1], "deep"))
		deep(n);
	else if (!strcmp(argv[1], "many"))
		many(n);
	return 0;
}
