// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What there is once per process: the lock, memory, the reason why something failed. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tracepoint/internal.h"

#define POOL_BYTES ((size_t)64 << 10)
#define POOL_CLASSES 12u /* 16 bytes to 32 KiB */

struct tap_process *tap_process;

unsigned int tap_cpus;
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
	return !__atomic_exchange_n(&tap_process->lock, 1, __ATOMIC_ACQUIRE);
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
