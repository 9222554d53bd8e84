// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * patch_torture [SECONDS [THREADS]]: threads run through branches, some with all signals blocked,
 * while others switch them; signals arrive whose handlers do both; forks happen in between. That
 * nothing goes wrong proves little on the machine at hand: patch.c says why nothing should.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <schedtap/static_key.h>

#define THREADS_MAX 64

static DEFINE_STATIC_KEY_FALSE(key);
static DEFINE_STATIC_KEY_TRUE(inverse);
static bool stop;
static unsigned long passed, taken, flipped, forked, handled, wrong;

#define ADD(counter, n) __atomic_fetch_add(&(counter), (n), __ATOMIC_RELAXED)
#define PAD(bytes) __asm__ volatile(".skip " #bytes ", 0x90") /* branches at any address */

#if defined(__x86_64__)
#define PASS(bytes, branch)                                                                        \
	PAD(bytes);                                                                                \
	if (branch)                                                                                \
	(*on)++
#else
#define PASS(bytes, branch)                                                                        \
	if (branch)                                                                                \
	(*on)++
#endif

/* What was in registers before a branch is there after it. */
static __attribute__((noinline)) unsigned long pass(unsigned long *on)
{
	unsigned long check = 0x5bd1e995;

	PASS(1, static_branch_unlikely(&key));
	PASS(1, static_branch_likely(&key));
	PASS(1, static_branch_unlikely(&inverse));
	check = check * 31 + 7;
	PASS(1, static_branch_likely(&inverse));
	PASS(1, static_branch_unlikely(&key));
	PASS(1, static_branch_unlikely(&key));
	PASS(1, static_branch_unlikely(&key));
	PASS(1, static_branch_unlikely(&key));
	return check ^ (0x5bd1e995ul * 31 + 7);
}

static void pass_many(int times)
{
	unsigned long on = 0, bad = 0;

	for (int i = 0; i < times; i++)
		bad += !!pass(&on);
	ADD(passed, times);
	ADD(taken, on);
	ADD(wrong, bad);
}

static void flip(void)
{
	static_branch_inc(&key);
	static_branch_disable(&inverse);
	static_branch_dec(&key);
	static_branch_enable(&inverse);
	ADD(flipped, 1);
}

static bool stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void *pass_thread(void *blocked)
{
	sigset_t all;

	sigfillset(&all);
	if (blocked)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!stopped())
		pass_many(1000);
	return NULL;
}

static void *flip_thread(void *unused)
{
	while (!stopped())
		flip();
	return unused;
}

/* What hangs with the lock has all signals blocked: alarm() would wait with it. */
static void kill_after(int seconds)
{
	struct sigevent kill = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct itimerspec when = { .it_value.tv_sec = seconds };
	timer_t timer;

	if (!timer_create(CLOCK_MONOTONIC, &kill, &timer))
		timer_settime(timer, 0, &when, NULL);
}

/* In a forked child no branch is half patched and the lock is free. */
static void *fork_thread(void *unused)
{
	while (!stopped()) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			kill_after(10);
			pass_many(10);
			flip();
			_exit(wrong != 0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			ADD(wrong, 1);
		ADD(forked, 1);
		usleep(1000);
	}
	return unused;
}

static void on_signal(int signal)
{
	int saved = errno;

	(void)signal;
	pass_many(1);
	if (ADD(handled, 1) % 16 == 0)
		flip();
	errno = saved;
}

static void wait_seconds(int seconds)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
}

int main(int argc, char **argv)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	int seconds = argc > 1 ? atoi(argv[1]) : 1, nr = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t threads[THREADS_MAX + 3];

	if (nr < 1 || nr > THREADS_MAX)
		return 2;
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &every, NULL);
	for (long i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, pass_thread, (void *)(i % 2));
	pthread_create(&threads[nr], NULL, flip_thread, NULL);
	pthread_create(&threads[nr + 1], NULL, flip_thread, NULL);
	pthread_create(&threads[nr + 2], NULL, fork_thread, NULL);
	wait_seconds(seconds);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < nr + 3; i++)
		pthread_join(threads[i], NULL);
	printf("1..1\n%sok 1 - passed %lu (taken %lu), flipped %lu, forked %lu, handled %lu\n",
	       wrong || tap_patch_error() || !taken ? "not " : "", passed, taken, flipped, forked,
	       handled);
	if (tap_patch_error())
		printf("# %s\n", tap_patch_error());
	return wrong || tap_patch_error() || !taken;
}
