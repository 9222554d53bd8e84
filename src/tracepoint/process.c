// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What there is once per process: the lock, memory, the reason why something failed. */
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracepoint/clock.h"
#include "tracepoint/internal.h"
#include "tracepoint/patch.h"

#define POOL_BYTES ((size_t)64 << 10)
#define POOL_CLASSES 12u /* 16 bytes to 32 KiB */
#define FORK_WAITS_NS 1000000000u

struct tap_process *tap_process;
struct tap_control *tap_control;
struct tap_object *tap_objects;

unsigned int tap_cpus;
static __thread bool locked_for_fork __attribute__((tls_model("initial-exec")));
static struct pool_free {
	struct pool_free *next;
} *pool_free[POOL_CLASSES];
static char *pool_at, *pool_end;
/* one is being read while the other is written */
static char reasons[2][sizeof(((struct tap_control *)0)->reason)];
static const char *reason;

unsigned int tap_nr_cpus(void)
{
	if (!tap_cpus) {
		long nr = sysconf(_SC_NPROCESSORS_CONF);

		__atomic_store_n(&tap_cpus, nr > 0 ? (unsigned int)nr : 1, __ATOMIC_RELAXED);
	}
	return tap_cpus;
}

uint64_t tap_page_up(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

int tap_process_init(void)
{
	size_t bytes = sizeof(*tap_process) +
		       TAP_RINGS_KINDS * tap_nr_cpus() * sizeof(tap_process->rings[0]);
	struct tap_process *p, *none = NULL;

	if (tap_process)
		return 0;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	if (madvise(p, bytes, MADV_WIPEONFORK)) {
		munmap(p, bytes);
		return -ENOMEM;
	}
	p->known = 1;
	if (!__atomic_compare_exchange_n(&tap_process, &none, p, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		munmap(p, bytes);
	return 0;
}

bool tap_trylock(void)
{
	uint32_t none = 0, self = (uint32_t)syscall(SYS_gettid);

	return __atomic_compare_exchange_n(&tap_process->lock, &none, self, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void tap_lock(void)
{
	while (!tap_trylock())
		sched_yield();
}

void tap_unlock(void)
{
	__atomic_store_n(&tap_process->lock, 0, __ATOMIC_RELEASE);
}

/*
 * Another thread may be between two steps that the child would see half done, as a regfunc() whose
 * probe is not there yet. It is waited for, but not for ever: it may be waiting for a lock that
 * this thread has. A regfunc() that forks has the lock already.
 */
static void before_fork(void)
{
	uint32_t self = (uint32_t)syscall(SYS_gettid);
	uint64_t end = tap_mono_ns() + FORK_WAITS_NS;

	locked_for_fork = false;
	if (__atomic_load_n(&tap_process->lock, __ATOMIC_RELAXED) == self)
		return;
	while (!(locked_for_fork = tap_trylock()) && tap_mono_ns() < end)
		sched_yield();
}

/* In the child the lock is wiped. */
static void after_fork(void)
{
	if (locked_for_fork)
		tap_unlock();
}

void tap_process_watch_forks(void (*in_child)(void))
{
	static bool watched;

	if (watched)
		return;
	tap_patch_watch_forks(); /* its lock is taken last: prepare handlers run backwards */
	watched = !pthread_atfork(before_fork, after_fork, in_child);
}

static unsigned int pool_class(size_t bytes)
{
	unsigned int class = 0;

	while (((size_t)16 << class) < bytes)
		class++;
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
	if (bytes > (size_t)(pool_end - pool_at)) { /* what is left of the old one is lost: little */
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
