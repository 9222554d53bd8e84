// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "analysis/critical/path.h"
#include "analysis/critical/waker_stack.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))

/* ---- paths of logs that are written down ---- */

/*
 * .log: "TASK STATE FROM TO [how it ended]; ...", tasks by number, in which order one likes but for
 * each task's own: by TASK, timer, interrupt   who ended a sleep; a lonely sleep ends in a way that
 * is not known ends                        the window does back STATE                  of unknown:
 * the sleep before it is taken back "TASK born by TASK" comes before all that it did.
 */
static const struct {
	const char *name, *log;
	unsigned int of;
	uint64_t from_ns, to_ns;
	const char *want;
} cases[] = {
	{ "its own time is what it ran and waited for",
	  "0 running 10 20; 0 preempted 20 30; 0 throttled 30 35; 0 running 35 50", 0, 10, 50,
	  "0 running 10-20, 0 preempted 20-30, 0 throttled 30-35, 0 running 35-50" },
	{ "a sleep is its waker's",
	  "0 running 0 100; 0 sleeping 100 200 by 1; 0 waking 200 210; 0 running 210 300; 1 "
	  "running 0 300",
	  0, 0, 300, "0 running 0-100, 1 running 100-200, 0 waking 200-210, 0 running 210-300" },
	{ "who slept meanwhile was woken, too: before that nothing had to wait for it",
	  "0 running 0 100; 0 sleeping 100 200 by 1; 0 running 200 210; 1 running 0 120; 1 blocked "
	  "120 150 by 2; 1 running 150 200; 2 running 0 200",
	  0, 0, 210, "0 running 0-100, 2 running 100-150, 1 running 150-200, 0 running 200-210" },
	{ "an interrupt that woke the waker leaves the time to it, and what it did before",
	  "0 running 0 100; 0 sleeping 100 200 by 1; 0 running 200 210; 1 running 0 120; 1 "
	  "sleeping 120 150 timer; 1 running 150 200",
	  0, 0, 210,
	  "0 running 0-100, 1 running 100-120, 1 timer 120-150, 1 running 150-200, 0 running "
	  "200-210" },
	{ "a waker is followed back to where the woken began to sleep",
	  "0 running 0 100; 0 sleeping 100 200 by 1; 0 running 200 210; 1 running 0 50; 1 sleeping "
	  "50 150 by 2; 1 running 150 200; 2 running 0 200",
	  0, 0, 210, "0 running 0-100, 2 running 100-150, 1 running 150-200, 0 running 200-210" },
	{ "a sleep that an interrupt ends stays the task's own time",
	  "0 running 0 10; 0 sleeping 10 20 timer; 0 running 20 30; 0 blocked 30 40 interrupt; 0 "
	  "running 40 50; 0 sleeping 50 60 interrupt; 0 running 60 70",
	  0, 0, 70,
	  "0 running 0-10, 0 timer 10-20, 0 running 20-30, 0 blocked 30-40, 0 running 40-50, 0 "
	  "interrupt 50-60, 0 running 60-70" },
	{ "a sleep that the window's end cuts, and one without a known waker",
	  "0 running 0 10; 0 sleeping 10 20; 0 running 20 30; 0 sleeping 30 40 ends", 0, 0, 40,
	  "0 running 0-10, 0 unknown 10-20, 0 running 20-30, 0 asleep 30-40" },
	{ "the wakeup after the window gives the waker of a sleep inside it",
	  "0 running 0 100; 0 sleeping 100 200 by 1; 0 running 200 300; 1 running 0 300", 0, 50,
	  150, "0 running 50-100, 1 running 100-150" },
	{ "who forked it was there before it",
	  "0 running 0 10; 0 sleeping 10 50 by 1; 0 running 50 60; 1 born by 2; 1 waking 30 35; 1 "
	  "running 35 50; 2 running 0 60",
	  0, 0, 60,
	  "0 running 0-10, 2 running 10-30, 1 waking 30-35, 1 running 35-50, 0 running 50-60" },
	{ "a task's own fork, too: what was before leads to it",
	  "0 running 0 60; 1 born by 0; 1 waking 30 35; 1 running 35 50", 1, 10, 50,
	  "0 running 10-30, 1 waking 30-35, 1 running 35-50" },
	{ "time without intervals is unknown: before the first and after the last",
	  "0 running 10 20; 0 sleeping 20 30 by 1; 0 running 30 40; 1 running 22 25", 0, 0, 50,
	  "0 unknown 0-10, 0 running 10-20, 1 unknown 20-30, 0 running 30-40, 0 unknown 40-50" },
	{ "an unknown slice of a waker makes its earlier time unknown, back to the sleep",
	  "0 running 0 10; 0 sleeping 10 90 by 1; 0 running 90 99; 1 running 0 30; 1 unknown 30 "
	  "40; 1 running 40 50; 1 sleeping 50 60 timer; 1 running 60 90",
	  0, 0, 99,
	  "0 running 0-10, 1 unknown 10-40, 1 running 40-50, 1 timer 50-60, 1 running 60-90, 0 "
	  "running 90-99" },
	{ "a waker that slept at the wakeup is unknown",
	  "0 running 0 10; 0 sleeping 10 20 by 1; 0 running 20 30; 1 running 0 5; 1 sleeping 5 25 "
	  "by 2; 2 running 0 30",
	  0, 0, 30, "0 running 0-10, 1 unknown 10-20, 0 running 20-30" },
	{ "who wake each other in one ns are not followed round",
	  "0 running 0 10; 0 sleeping 10 30 by 1; 0 running 30 40; 1 running 0 20; 1 sleeping 20 "
	  "30 by 0; 1 running 30 40",
	  0, 0, 40, "0 running 0-10, 0 unknown 10-30, 0 running 30-40" },
	{ "nor three, nor one by itself",
	  "0 running 0 10; 0 sleeping 10 30 by 1; 0 running 30 40; 1 sleeping 0 30 by 2; 2 "
	  "sleeping 0 30 by 0; 0 sleeping 40 50 by 0; 0 running 50 60",
	  0, 0, 60,
	  "0 running 0-10, 0 unknown 10-30, 0 running 30-40, 0 unknown 40-50, 0 running 50-60" },
	{ "a sleep that is taken back is unknown",
	  "0 running 0 10; 0 sleeping 10 20 by 1; 0 unknown 20 30 back sleeping; 0 running 30 40; "
	  "1 running 0 40",
	  0, 0, 40, "0 running 0-10, 0 unknown 10-30, 0 running 30-40" },
	{ "a gap is unknown, and what goes back is left out",
	  "0 running 0 10; 0 running 20 30; 0 waking 5 25; 0 preempted 28 40", 0, 0, 40,
	  "0 running 0-10, 0 unknown 10-20, 0 running 20-30, 0 preempted 30-40" },
	{ "states that last for longer than 32 bits of ns say",
	  "0 running 0 4294967295; 0 preempted 4294967295 8589934592; 0 running 8589934592 "
	  "98589934592",
	  0, 1, 98589934591,
	  "0 running 1-4294967295, 0 preempted 4294967295-8589934592, 0 running "
	  "8589934592-98589934591" },
	{ "nothing is known of any task", "", 5, 10, 20, "5 unknown 10-20" },
	{ "a window of no length", "0 running 0 10", 0, 5, 5, "" },
};

static enum tap_state state_of(const char *name)
{
	enum tap_state s = 0;

	while (s < TAP_NR_STATES && strcmp(name, tap_state_name(s)) != 0)
		s++;
	assert_true(s < TAP_NR_STATES);
	return s;
}

static void wake(struct tap_critical_log *l, unsigned int task, uint32_t by, bool is_new)
{
	assert_int_equal(
		tap_critical_log_wakeup(l, &(struct tap_task){ .index = task }, by, is_new), 0);
}

static void log_interval(struct tap_critical_log *l, struct tap_interval s, unsigned int task)
{
	s.task = &(struct tap_task){ .index = task };
	assert_int_equal(tap_critical_log_interval(l, &s), 0);
}

static void write_step(struct tap_critical_log *l, const char *step)
{
	struct tap_interval s = { .next = TAP_STATE_RUNNING };
	char state[20], how[20] = "", what[20] = "";
	unsigned int task, by;

	if (sscanf(step, " %u born by %u", &task, &by) == 2) {
		wake(l, task, TAP_WOKEN_BY_TASK + by, true);
		return;
	}
	assert_true(sscanf(step, " %u %19s %" SCNu64 " %" SCNu64 " %19s %19s", &task, state,
			   &s.from_ns, &s.to_ns, how, what) >= 4);
	s.state = state_of(state);
	if (!strcmp(how, "ends")) {
		s.next = s.state;
	} else if (!strcmp(how, "back")) {
		s.back = state_of(what);
	} else if (*how) {
		s.next = TAP_STATE_WAKING;
		wake(l, task,
		     !strcmp(how, "timer") ? TAP_WOKEN_TIMER
		     : !strcmp(how, "interrupt")
			     ? TAP_WOKEN_INTERRUPT
			     : TAP_WOKEN_BY_TASK + (uint32_t)strtoul(what, NULL, 10),
		     false);
	}
	log_interval(l, s, task);
}

static void write_log(struct tap_critical_log *l, const char *log)
{
	char text[1000], *save, *step;

	assert_true(strlen(log) < sizeof(text));
	strcpy(text, log);
	for (step = strtok_r(text, ";", &save); step; step = strtok_r(NULL, ";", &save))
		write_step(l, step);
}

static void test_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_critical_log log = { 0 };
		struct tap_walk walk = { .log = &log };
		struct tap_path path = { .keeps = true };
		struct tap_buf got = { 0 };
		uint64_t sum_ns = 0;

		write_log(&log, cases[i].log);
		assert_int_equal(
			tap_path_find(&path, &walk, cases[i].of, cases[i].from_ns, cases[i].to_ns),
			0);
		for (unsigned int k = 0; k < path.nr_segments; k++) {
			const struct tap_path_segment *s = &path.segments[k];

			tap_buf_printf(&got, "%s%u %s %" PRIu64 "-%" PRIu64, k ? ", " : "", s->task,
				       tap_path_state_name(s->state), s->from_ns, s->to_ns);
		}
		if (strcmp(tap_buf_str(&got), cases[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", cases[i].name, tap_buf_str(&got),
				 cases[i].want);
		for (unsigned int k = 0; k < path.nr_tasks; k++) {
			assert_true(!k || path.tasks[k].ns <= path.tasks[k - 1].ns);
			sum_ns += path.tasks[k].ns;
		}
		assert_int_equal(path.all.ns, cases[i].to_ns - cases[i].from_ns);
		assert_int_equal(sum_ns, path.all.ns);
		tap_buf_release(&got);
		tap_path_release(&path);
		tap_walk_release(&walk);
		tap_critical_log_release(&log);
	}
}

/* ---- many, made at random ---- */

static uint64_t seed = 1;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % sides;
}

#define MANY_TASKS 7u
#define MANY_NS 3000u

/* Whoever is said to have woken need not have run, nor been there. */
static void write_many(struct tap_critical_log *l)
{
	for (unsigned int task = 0; task < MANY_TASKS; task++) {
		uint64_t at_ns = dice(4) ? 0 : dice(MANY_NS);

		if (at_ns)
			wake(l, task, dice(2) * (TAP_WOKEN_BY_TASK + dice(MANY_TASKS)), true);
		while (at_ns < MANY_NS) {
			uint64_t to_ns = at_ns + 1 + dice(dice(3) ? 5 : 60);
			enum tap_state state = dice(TAP_NR_STATES);

			if (state == TAP_STATE_DEAD)
				continue;
			wake(l, task, dice(TAP_WOKEN_BY_TASK + MANY_TASKS), false);
			log_interval(
				l,
				(struct tap_interval){ .state = state,
						       .next = dice(4) ? TAP_STATE_WAKING : state,
						       .from_ns = at_ns,
						       .to_ns = to_ns },
				task);
			at_ns = to_ns + !dice(20);
		}
	}
}

/* What was whose at each ns, as the segments say. */
struct whose {
	uint64_t from_ns, at_ns;
	struct tap_path_segment ns[MANY_NS];
};

static int on_segment(void *ctx, const struct tap_path_segment *s)
{
	struct whose *w = ctx;

	assert_int_equal(s->to_ns, w->at_ns);
	assert_true(s->from_ns < s->to_ns && s->from_ns >= w->from_ns);
	w->at_ns = s->from_ns;
	for (uint64_t ns = s->from_ns; ns < s->to_ns; ns++)
		w->ns[ns] = *s;
	return 0;
}

static void find(struct tap_walk *walk, unsigned int task, uint64_t from_ns, uint64_t to_ns,
		 struct whose *w)
{
	w->from_ns = from_ns;
	w->at_ns = to_ns;
	assert_int_equal(tap_walk_back(walk, task, from_ns, to_ns, on_segment, w), 0);
	assert_int_equal(w->at_ns, from_ns);
}

/* A window's path is that part of the whole one, in whatever order they are asked for. */
static void test_windows(void **state)
{
	static struct whose whole, part;

	(void)state;
	for (unsigned int n = 0; n < 60; n++) {
		struct tap_critical_log log = { 0 };
		struct tap_walk walk = { .log = &log };

		write_many(&log);
		for (unsigned int task = 0; task < MANY_TASKS; task++) {
			find(&walk, task, 0, MANY_NS, &whole);
			for (unsigned int k = 0; k < 20; k++) {
				uint64_t from_ns = dice(MANY_NS),
					 to_ns = from_ns + dice((uint32_t)(MANY_NS - from_ns));
				/* not yet born: nothing leads to who will fork it */
				if (to_ns < log.tasks[task].from_ns)
					continue;
				find(&walk, task, from_ns, to_ns, &part);
				for (uint64_t ns = from_ns; ns < to_ns; ns++)
					if (part.ns[ns].task != whole.ns[ns].task ||
					    part.ns[ns].state != whole.ns[ns].state)
						fail_msg("run %u, task %u, %" PRIu64 "-%" PRIu64
							 " at %" PRIu64,
							 n, task, from_ns, to_ns, ns);
			}
		}
		tap_walk_release(&walk);
		tap_critical_log_release(&log);
	}
}

/* Of so many states that they lie in many chunks, long and short ones by turns. */
static void test_long(void **state)
{
	struct tap_critical_log log = { 0 };
	struct tap_walk walk = { .log = &log };
	struct tap_path path = { 0 };
	const uint64_t long_ns = 5000000000;
	uint64_t at_ns = 0, sums[2] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		bool runs = i % 2;
		uint64_t ns = i % 3 ? long_ns + i : 1;

		log_interval(&log,
			     (struct tap_interval){ .state = runs ? TAP_STATE_RUNNING
								  : TAP_STATE_PREEMPTED,
						    .from_ns = at_ns,
						    .to_ns = at_ns + ns },
			     0);
		at_ns += ns;
		sums[runs] += ns;
	}
	assert_int_equal(tap_path_find(&path, &walk, 0, 0, at_ns), 0);
	assert_int_equal(path.all.state_ns[TAP_PATH_PREEMPTED], sums[0]);
	assert_int_equal(path.all.state_ns[TAP_PATH_RUNNING], sums[1]);
	assert_int_equal(tap_path_scheduling_ns(&path.all), sums[0]);
	tap_path_release(&path);
	tap_walk_release(&walk);
	tap_critical_log_release(&log);
}

/* ---- stacks ---- */

static const struct {
	const char *names;
	enum tap_woken want;
} stacks[] = {
	{ "", TAP_WOKEN_NOT_KNOWN },
	{ "try_to_wake_up\nfutex_wake\ndo_syscall_64", TAP_WOKEN_NOT_KNOWN },
	/* by itself */
	{ "try_to_wake_up\nblk_mq_end_request\nblk_flush_plug\ndo_syscall_64",
	  TAP_WOKEN_NOT_KNOWN },
	{ "try_to_wake_up\nhrtimer_wakeup\nhrtimer_interrupt\nasm_sysvec_apic_timer_interrupt\nblk_"
	  "mq_submit_bio",
	  TAP_WOKEN_TIMER },
	{ "try_to_wake_up\nasm_common_interrupt\nhrtimer_start", TAP_WOKEN_INTERRUPT },
	{ "wake_up_bit\nbio_endio\nblk_mq_end_request\nnvme_irq\nel1h_64_irq_handler",
	  TAP_WOKEN_BLOCK },
	{ "sock_def_readable\ntcp_v4_rcv\nnet_rx_action\nhandle_softirqs\nasm_sysvec_apic_timer_"
	  "interrupt",
	  TAP_WOKEN_NET },
	{ "sock_def_readable\nnet_rx_action\nhandle_softirqs\ndo_softirq\n__local_bh_enable_"
	  "ip\ntcp_sendmsg",
	  TAP_WOKEN_BY_TASK },
	{ "net_rx_action\nhandle_softirqs\n__irq_exit_rcu\nasm_sysvec_x\n__local_bh_enable_ip",
	  TAP_WOKEN_NET },
	{ "try_to_wake_up\n__local_bh_enable_ip\ntcp_sendmsg", TAP_WOKEN_NOT_KNOWN },
	{ "try_to_wake_up\nhandle_softirqs\nrun_ksoftirqd\nblk_", TAP_WOKEN_INTERRUPT },
	{ "call_timer_fn\nrun_timer_softirq\n__do_softirq", TAP_WOKEN_TIMER },
	{ "asm_sysvec", TAP_WOKEN_NOT_KNOWN },
};

static void test_stacks(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(stacks); i++)
		if (tap_woken_of_stack(stacks[i].names, strlen(stacks[i].names)) != stacks[i].want)
			fail_msg("%s: not %d", stacks[i].names, stacks[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_stacks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
