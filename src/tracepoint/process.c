// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Per-process state: locks, a memory pool, and the reason of the last failure. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracepoint/clock.h"
#include "tracepoint/internal.h"
#include "tracepoint/patch.h"

#ifndef FUTEX_LOCK_PI2 /* since Linux 5.14 */
#define FUTEX_LOCK_PI2 13
#endif

#ifdef __x86_64__
#define BIGGEST_PAGE 4096u
#else
#define BIGGEST_PAGE 65536u
#endif
#define POOL_BYTES ((size_t)64 << 10)
#define POOL_CLASSES 12u /* 16 bytes to 32 KiB */
#define FORK_WAITS_S 1

struct tap_process *tap_process;
struct tap_control *tap_control;
struct tap_object *tap_objects;

static __thread bool locked_for_fork __attribute__((tls_model("initial-exec")));
static __thread bool stopped_for_fork __attribute__((tls_model("initial-exec")));
static struct pool_free {
	struct pool_free *next;
} * pool_free[POOL_CLASSES];
static char first_pool[1024] __attribute__((aligned(16))); /* enough for most programs */
static char *pool_at = first_pool, *pool_end = first_pool + sizeof(first_pool);
/* two buffers: one may be read while the other is written */
static char reasons[2][sizeof(((struct tap_control *)0)->reason)];
static const char *reason;

unsigned int tap_nr_cpus(void)
{
	static unsigned int known;

	if (!__atomic_load_n(&known, __ATOMIC_RELAXED)) {
		long nr = sysconf(_SC_NPROCESSORS_CONF);

		__atomic_store_n(&known, nr > 0 ? (unsigned int)nr : 1, __ATOMIC_RELAXED);
	}
	return __atomic_load_n(&known, __ATOMIC_RELAXED);
}

uint64_t tap_page_up(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

int tap_process_init(void)
{
	/* page-aligned for madvise(); only the pages that are used take memory */
	static union {
		struct tap_process process;
		_Alignas(BIGGEST_PAGE) char pages[(sizeof(struct tap_process) / BIGGEST_PAGE + 1) *
						  BIGGEST_PAGE];
	} room;

	if (__atomic_load_n(&tap_process, __ATOMIC_ACQUIRE))
		return 0;
	if (madvise(&room, sizeof(room), MADV_WIPEONFORK))
		return -ENOMEM;
	__atomic_store_n(&room.process.pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
	__atomic_store_n(&tap_process, &room.process, __ATOMIC_RELEASE);
	return 0;
}

/* ---- locks ---- */

/*
 * Return the calling thread's id, cached per process: after a fork the thread of the child still
 * has its parent's cached value.
 */
static uint32_t own_tid(void)
{
	static __thread uint32_t tid __attribute__((tls_model("initial-exec")));
	static __thread uint32_t pid __attribute__((tls_model("initial-exec")));
	uint32_t process = tap_process->pid;

	if (!process || pid != process) {
		tid = (uint32_t)syscall(SYS_gettid);
		pid = process;
	}
	return tid;
}

/*
 * Locks are priority-inheritance futexes: 0, or the tid of the holder. The kernel lends the holder
 * the highest priority of the waiters. A real-time thread that spun instead could keep a holder on
 * the same CPU from running.
 */
static bool try_lock(uint32_t *lock)
{
	uint32_t none = 0, self = own_tid();

	return __atomic_compare_exchange_n(lock, &none, self, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static bool is_mine(const uint32_t *lock)
{
	return (__atomic_load_n(lock, __ATOMIC_RELAXED) & FUTEX_TID_MASK) == own_tid();
}

static bool is_past(const struct timespec *end)
{
	return tap_mono_ns() >= (uint64_t)end->tv_sec * 1000000000u + (uint64_t)end->tv_nsec;
}

/*
 * @end: timeout on CLOCK_MONOTONIC; NULL: none. Return: false after the timeout, or if this thread
 * already has the lock.
 */
static bool lock_until(uint32_t *lock, const struct timespec *end)
{
	const struct timespec pause = { .tv_nsec = 100000 };

	while (!try_lock(lock)) {
		int op = (end ? FUTEX_LOCK_PI2 : FUTEX_LOCK_PI) | FUTEX_PRIVATE_FLAG;

		if (is_mine(lock))
			return false;
		if (!syscall(SYS_futex, lock, op, 0, end, NULL, 0)) {
			/* the kernel took the lock for us: this shows it to ThreadSanitizer */
			__atomic_load_n(lock, __ATOMIC_ACQUIRE);
			return true;
		}
		if (end && (errno == ETIMEDOUT || is_past(end)))
			return false;
		if (errno != EINTR && errno != EAGAIN) /* this kernel has no such futex operation */
			nanosleep(&pause, NULL);
	}
	return true;
}

void tap_unlock_of(uint32_t *lock)
{
	uint32_t self = __atomic_load_n(lock, __ATOMIC_RELAXED) & FUTEX_TID_MASK;

	if (__atomic_compare_exchange_n(lock, &self, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return;
	/* the kernel hands the lock on: this shows it to ThreadSanitizer */
	__atomic_fetch_or(lock, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, lock, FUTEX_UNLOCK_PI | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
}

bool tap_trylock(void)
{
	return try_lock(&tap_process->lock);
}

bool tap_lock(void)
{
	return lock_until(&tap_process->lock, NULL);
}

void tap_unlock(void)
{
	tap_unlock_of(&tap_process->lock);
}

bool tap_lock_of(uint32_t *lock)
{
	return lock_until(lock, NULL);
}

/*
 * Take the locks before a fork, so that a child finds no half-finished change, such as a regfunc()
 * that was called but whose probe is not registered yet. The wait is limited, because the lock's
 * holder may wait for a lock that this thread has. A regfunc() that forks already has the lock.
 */
static void before_fork(void)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += FORK_WAITS_S;
	locked_for_fork = lock_until(&tap_process->lock, &end);
	/*
	 * also wait for a thread that is creating a ring or a control file: the child must not
	 * inherit its descriptors
	 */
	stopped_for_fork = lock_until(&tap_process->stack, &end);
	if (tap_control)
		__atomic_store_n(&tap_control->forked, 1, __ATOMIC_RELAXED);
}

/* Release the locks in the parent; in the child they are wiped. */
static void after_fork(void)
{
	if (stopped_for_fork)
		tap_unlock_of(&tap_process->stack);
	if (locked_for_fork)
		tap_unlock();
}

void tap_process_watch_forks(void (*in_child)(void))
{
	static bool watched;

	if (watched)
		return;
	/* registered first, so its lock is taken last: prepare handlers run in reverse order */
	tap_patch_watch_forks();
	watched = !pthread_atfork(before_fork, after_fork, in_child);
}

static unsigned int pool_class(size_t bytes)
{
	unsigned int class = 0;

	while (((size_t)16 << class) < bytes)
		class ++;
	return class;
}

void *tap_pool_get(size_t bytes)
{
	unsigned int class = pool_class(bytes);
	struct pool_free *p;

	if (class >= POOL_CLASSES)
		return NULL;
	p = pool_free[class];
	if (p) {
		pool_free[class] = p->next;
		return p;
	}
	bytes = (size_t)16 << class;
	/* the rest of the old block is lost, which is little */
	if (bytes > (size_t)(pool_end - pool_at)) {
		char *more = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (more == MAP_FAILED)
			return NULL;
		pool_at = more;
		pool_end = more + POOL_BYTES;
	}
	pool_at += bytes;
	return pool_at - bytes;
}

void tap_pool_put(void *p, size_t bytes)
{
	unsigned int class = pool_class(bytes);
	struct pool_free *f = p;

	f->next = pool_free[class];
	pool_free[class] = f;
}

void tap_set_reason(const char *fmt, ...)
{
	char *text = reasons[reason == reasons[0]];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(reasons[0]), fmt, args);
	va_end(args);
	__atomic_store_n(&reason, text, __ATOMIC_RELEASE);
	if (tap_control)
		memcpy(tap_control->reason, text, sizeof(reasons[0]));
}

const char *tap_trace_reason(void)
{
	return __atomic_load_n(&reason, __ATOMIC_ACQUIRE);
}
