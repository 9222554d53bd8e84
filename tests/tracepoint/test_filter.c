// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A filter as the program takes it over: from its control file, while threads and a signal handler
 * pass the site. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tracepoint/shared.h"
#include "tracepoint/steps.h"
#include "own_folder.h"

#define CREATE_TRACE_POINTS
#include "rules.h"

#define THREADS 3
#define VALUES 1000 /* v is below it */
#define CHANGES 3000

int rules_reg(void)
{
	return 0;
}

void rules_unreg(void)
{
}

/* ---- the control file ---- */

static int fd;

static void put(uint64_t at, const void *data, size_t bytes)
{
	assert_int_equal(pwrite(fd, data, bytes, (off_t)at), (ssize_t)bytes);
}

static struct tap_word *word(void)
{
	return (struct tap_word *)__tracepoint_plain.on;
}

struct list {
	struct tap_steps head;
	struct tap_step steps[2];
};

/* Writes a filter as recorders do; @stamp: 0: none. */
static void put_filter(const struct list *list, uint32_t stamp)
{
	const uint64_t at = tap_filter_slot_at(event_plain.id);
	struct tap_filter_slot slot = { .bytes = list->head.bytes };

	put(at, &slot, sizeof(slot));
	put(at + TAP_FILTER_STEPS, list, sizeof(*list));
	put(at, &stamp, sizeof(stamp));
	__atomic_store_n(&word()->filters, 1, __ATOMIC_RELEASE);
}

/* v < @below; with @both: && v >= 0. */
static struct list below(uint64_t below, bool both)
{
	const struct tap_step v = { .kind = TAP_STEP_FIELD,
				    .op = TAP_OP_LT,
				    .is_signed = 1,
				    .yes = TAP_STEP_ACCEPT,
				    .no = TAP_STEP_REJECT,
				    .at = 8,
				    .size = 4,
				    .value = below };
	struct list l = { { .bytes = sizeof(struct tap_steps) + (both ? 2 : 1) * sizeof(v),
			    .nr = both ? 2 : 1,
			    .min_size = 12 },
			  { v, v } };

	if (!both)
		return l;
	l.steps[0].yes = 1;
	l.steps[1].op = TAP_OP_GE;
	l.steps[1].value = 0;
	return l;
}

/* ---- what is recorded ---- */

static unsigned int seen[VALUES], nr_seen;

static void read_sub(const unsigned char *sub)
{
	uint64_t commit;
	struct tap_record_head head;
	int32_t v;

	memcpy(&commit, sub + 8, sizeof(commit));
	for (uint32_t at = TAP_SUB_HEADER; at < TAP_SUB_HEADER + (uint32_t)commit;
	     at += (uint32_t)sizeof(head) - 4 + head.length) {
		memcpy(&head, sub + at, sizeof(head));
		memcpy(&v, sub + at + sizeof(head) + 8, sizeof(v));
		if (*(const uint16_t *)(sub + at + sizeof(head)) != event_plain.id)
			continue;
		if (v < 0 || v >= VALUES)
			fail_msg("v is %d", v);
		seen[v]++;
		nr_seen++;
	}
}

static void read_ring(const struct tap_area *a)
{
	unsigned char *p = mmap(NULL, a->size, PROT_READ, MAP_SHARED, fd, (off_t)a->offset);
	const struct tap_ring_head *h = (const struct tap_ring_head *)p;
	uint64_t from;

	assert_true(p != MAP_FAILED);
	from = h->head > h->bytes ? ((h->head - h->bytes) / TAP_SUB_BYTES + 1) * TAP_SUB_BYTES : 0;
	for (uint64_t pos = from; pos < h->head; pos += TAP_SUB_BYTES)
		read_sub(p + h->subs_offset + (pos & (h->bytes - 1)));
	munmap(p, a->size);
}

/* Count the records in all rings. No thread may write meanwhile. */
static void read_rings(void)
{
	struct tap_control c;
	struct tap_area a;

	memset(seen, 0, sizeof(seen));
	nr_seen = 0;
	assert_int_equal(pread(fd, &c, sizeof(c), 0), sizeof(c));
	for (uint32_t i = 0; i < c.areas_nr; i++) {
		assert_int_equal(
			pread(fd, &a, sizeof(a), (off_t)(TAP_CONTROL_PAGE + i * sizeof(a))),
			sizeof(a));
		if (a.kind == TAP_AREA_RING)
			read_ring(&a);
	}
}

/* Check that the rings have each value from @from to @to - 1 @times times, and no other. */
static void check_seen(unsigned int from, unsigned int to, unsigned int times)
{
	for (unsigned int v = 0; v < VALUES; v++)
		assert_int_equal(seen[v], v >= from && v < to ? times : 0);
}

static void fire_all(void)
{
	for (int v = 0; v < VALUES; v++)
		trace_plain(v, "x");
}

static unsigned int fired[VALUES];

/* What fire_all() adds to the rings. */
static void check_fire(unsigned int from, unsigned int to)
{
	read_rings();
	memcpy(fired, seen, sizeof(fired));
	fire_all();
	read_rings();
	for (unsigned int v = 0; v < VALUES; v++)
		seen[v] -= fired[v];
	check_seen(from, to, 1);
}

/* ---- cases ---- */

static int begin(void **state)
{
	const uint8_t shift = 22, clock = TAP_CLOCK_CYCLES; /* nothing is written over */
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/schedtap/%d-0", getenv("XDG_RUNTIME_DIR"), (int)getpid());
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	put(offsetof(struct tap_control, use_clock), &clock, 1);
	put(offsetof(struct tap_control, ring_shift), &shift, 1);
	word()->wanted = 1;
	return 0;
}

static void taken_and_given_back(void **state)
{
	const struct list one = below(100, false), two = below(200, true);

	(void)state;
	check_fire(0, VALUES);
	put_filter(&one, 1);
	check_fire(0, 100);
	assert_int_equal(word()->filters, 0);
	put_filter(&two, 2);
	check_fire(0, 200);
	put_filter(&one, 0);
	check_fire(0, VALUES);
}

static void what_is_in_the_file_later_changes_nothing(void **state)
{
	const uint64_t at = tap_filter_slot_at(event_plain.id) + TAP_FILTER_STEPS;
	const struct list one = below(100, true), other = below(300, true);

	(void)state;
	put_filter(&one, 1);
	check_fire(0, 100);
	put(at, &other, sizeof(other));
	check_fire(0, 100);
	put_filter(&one, 0);
	fire_all();
}

static void what_makes_no_sense_is_none(void **state)
{
	struct list l = below(100, true);

	(void)state;
	l.steps[1].yes = 0; /* back */
	put_filter(&l, 1);
	check_fire(0, VALUES);
	l = below(100, false);
	l.head.bytes -= 8; /* the step is longer */
	put_filter(&l, 2);
	check_fire(0, VALUES);
	l = below(100, false);
	l.head.bytes = UINT32_MAX;
	put_filter(&l, 3);
	check_fire(0, VALUES);
}

static bool stop;

static void *fire(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		for (int v = 0; v < VALUES; v += 37)
			trace_plain(v, "x");
	return NULL;
}

static void on_signal(int sig)
{
	(void)sig;
	trace_plain(VALUES / 2, "x");
	trace_plain(7, "x");
}

static void no_probe(void *data, int v)
{
	(void)data, (void)v;
}

/* One that is written while it is copied would be none, and the event recorded whole. */
static void wait_until_taken(void)
{
	while (__atomic_load_n(&word()->filters, __ATOMIC_RELAXED))
		;
	/* under the lock of who takes it */
	assert_int_equal(unregister_trace_bare(no_probe, NULL), -ENOENT);
}

static void changed_while_threads_fire(void **state)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	const struct list lists[] = { below(100, false), below(100, true), below(200, false),
				      below(200, true) };
	pthread_t threads[THREADS];

	(void)state;
	put_filter(&lists[2], 1);
	fire_all();
	read_rings();
	memcpy(fired, seen, sizeof(fired));
	stop = false;
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fire, NULL), 0);
	for (uint32_t i = 0; i < CHANGES; i++) {
		put_filter(&lists[i % 4], i + 2);
		wait_until_taken();
	}
	setitimer(ITIMER_REAL, &never, NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	read_rings();
	assert_true(nr_seen > 10000);
	for (unsigned int v = 200; v < VALUES; v++)
		assert_true(seen[v] <= fired[v]); /* some are overwritten */
}

static long resident(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	assert_int_equal(fscanf(f, "%*d %ld", &pages), 1);
	fclose(f);
	return pages;
}

static void memory_of_old_ones_is_used_again(void **state)
{
	const struct list two = below(0, true);
	long before = 0;

	(void)state;
	for (uint32_t i = 0; i < CHANGES; i++) {
		put_filter(&two, i + 1);
		trace_plain(1, "x");
		if (i == 100)
			before = resident();
	}
	assert_true(resident() - before < 64);
	put_filter(&two, 0);
	fire_all();
}

/* It has a file of its own, in which there is none. */
static void a_child_has_none(void **state)
{
	const struct list one = below(0, false);
	uint8_t applied;
	int status;

	(void)state;
	put_filter(&one, 1);
	check_fire(0, 0);
	if (!fork()) {
		trace_plain(1, "x");
		word()->wanted = 1;
		trace_plain(2, "x");
		applied = word()->applied;
		exit(applied == 1 && !word()->filters && !event_plain.filtered ? 0 : 1);
	}
	wait(&status);
	assert_int_equal(status, 0);
	check_fire(0, 0); /* the parent still has its own */
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(taken_and_given_back),
		cmocka_unit_test(what_is_in_the_file_later_changes_nothing),
		cmocka_unit_test(what_makes_no_sense_is_none),
		cmocka_unit_test(a_child_has_none),
		cmocka_unit_test(memory_of_old_ones_is_used_again),
		cmocka_unit_test(changed_while_threads_fire),
	};

	if (argc == 1)
		return run_in_folder(argv[0], NULL);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("filter", tests, begin, NULL);
}
