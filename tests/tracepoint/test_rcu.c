// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Readers store into their slot without a fence, so the store of one that is inside may still be on
 * its way when a writer looks: what makes it arrive is the writer's membarrier(). Here a reader's
 * store is held back by hand, and arrives with that system call, which the linker leads through
 * this file (--wrap=syscall), or never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "unit/skip_test.h"
#include "tracepoint/rules.h"

#define HOLD_US 20000

int rules_reg(void)
{
	return 0;
}

void rules_unreg(void)
{
}

/* A thread inside of a section, which others cannot see yet. */
struct reader {
	pthread_t thread;
	struct tap_thread *slot;
	uint64_t period; /* the store */
	bool stays; /* until .may_leave; else a while longer than its store takes */
	int entered, arrived, may_leave, left;
};

static struct reader *reader; /* whose store is held back */

static void set(int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
}

static bool is_set(const int *flag)
{
	return __atomic_load_n(flag, __ATOMIC_SEQ_CST);
}

long __real_syscall(long nr, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f);

long __wrap_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	if (reader && nr == SYS_membarrier && a == MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
		__atomic_store_n(&reader->slot->inside, reader->period, __ATOMIC_SEQ_CST);
		set(&reader->arrived);
	}
	return __real_syscall(nr, a, b, c, d, e, f);
}

static void *be_inside(void *arg)
{
	struct reader *r = arg;
	uint64_t was;

	r->slot = tap_section_begin(&was);
	r->period = r->slot->inside;
	r->slot->inside = 0;
	set(&r->entered);
	while (!is_set(&r->may_leave) && (r->stays || !is_set(&r->arrived)))
		usleep(100);
	usleep(HOLD_US);
	set(&r->left);
	tap_section_end(r->slot, was);
	return NULL;
}

static void enter(struct reader *r, bool stays)
{
	*r = (struct reader){ .stays = stays };
	assert_int_equal(pthread_create(&r->thread, NULL, be_inside, r), 0);
	while (!is_set(&r->entered))
		usleep(100);
	reader = r;
}

static void leave(struct reader *r)
{
	set(&r->may_leave);
	pthread_join(r->thread, NULL);
	reader = NULL;
}

static void first_probe(void *data, int v)
{
	(void)data, (void)v;
}

static void second_probe(void *data, int v)
{
	(void)data, (void)v;
}

static int begin(void **state)
{
	(void)state;
	return register_trace_bare(first_probe, NULL);
}

static int end(void **state)
{
	(void)state;
	return unregister_trace_bare(first_probe, NULL);
}

static bool lacks_membarrier(void)
{
	if (tap_readers_fence)
		skip_test("no membarrier(): readers have a fence");
	return tap_readers_fence;
}

static void test_synchronize_waits(void **state)
{
	struct reader r;
	bool left;

	(void)state;
	if (lacks_membarrier())
		return;
	enter(&r, false);
	tracepoint_synchronize_unregister();
	left = is_set(&r.left);
	leave(&r);
	assert_true(left);
}

/* The array that a reader walks is not given to anybody else before it has left. */
static void test_array_stays(void **state)
{
	const struct tracepoint_func *walked, *next;
	struct reader r;

	(void)state;
	if (lacks_membarrier())
		return;
	enter(&r, true);
	walked = __tracepoint_bare.funcs;
	assert_int_equal(register_trace_bare(second_probe, NULL), 0); /* retires it */
	/* takes one of the same size */
	assert_int_equal(unregister_trace_bare(second_probe, NULL), 0);
	next = __tracepoint_bare.funcs;
	leave(&r);
	assert_ptr_not_equal(next, walked);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_synchronize_waits, begin, end),
		cmocka_unit_test_setup_teardown(test_array_stays, begin, end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("read-side sections", tests, NULL, NULL);
}
