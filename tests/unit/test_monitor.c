// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/monitor.h"
#include "steps.h"

#define BIT(event) (1u << (event))
#define SWITCHES                                                                                   \
	(BIT(TAP_MONITOR_SWITCH_IN) | BIT(TAP_MONITOR_SWITCH_PREEMPT) |                            \
	 BIT(TAP_MONITOR_SWITCH_YIELD) | BIT(TAP_MONITOR_SWITCH_SUSPEND) |                         \
	 BIT(TAP_MONITOR_SWITCH))

static bool want(void *ctx, const struct tap_task *task, int cpu)
{
	(void)ctx;
	(void)task;
	(void)cpu;
	return true;
}

struct monitor_case {
	const char *name, *model, *steps;
	const char *want; /* " TS:TID:EVENT" of each violation */
};

static const struct monitor_case cases[] = {
	{
		"who sleeps is woken before it runs again",
		"sssw",
		"10 0 switch 0 R 1; 20 0 switch 1 S 0; 30 0 wakeup 1 by 0; 40 0 switch 0 R 1; 50 0 "
		"switch 1 R+ 2; 60 0 switch 2 S 1;70 0 switch 1 S 0; 80 0 wakeup 2 by 0; 90 0 "
		"switch 0 R 2",
		"",
	},
	{
		"one that no task woke",
		"sssw",
		"10 0 switch 0 R 1; 20 0 switch 1 D 0; 30 0 wakeup 2 by 0; 40 0 switch 0 R 1; 50 0 "
		"switch 1 S 0; 60 0 wakeup 1 by 0;70 0 switch 0 R 1",
		" 40:1:switch_in",
	},
	{
		"on another CPU",
		"sssw",
		"10 0 switch 0 R 1; 20 0 switch 1 S 0; 30 1 switch 0 R 1; 40 1 wakeup 2 by 1",
		" 30:1:switch_in",
	},
	{
		"events were lost, maybe the wakeup",
		"sssw",
		"10 0 switch 0 R 1; 20 0 switch 1 S 0; 35 1 lost 30 1; 40 0 switch 0 R 1; 50 0 "
		"wakeup 2 by 1",
		"",
	},
	{
		"and before it slept: that is no excuse",
		"sssw",
		"5 1 lost 3 1; 10 0 switch 0 R 1; 20 0 switch 1 S 0; 40 0 switch 0 R 1; 50 0 "
		"wakeup 2 by 1",
		" 40:1:switch_in",
	},
	{
		"switches are missing, and so may wakeups be",
		"sssw",
		"10 0 switch 0 R 1; 20 0 switch 1 S 0; 40 0 switch 0 R 1; 50 0 wakeup 2 by 1; 60 0 "
		"switch 9 S 0",
		"",
	},
	{
		"no wakeups were recorded: nothing is known of them",
		"sssw",
		"10 0 switch 0 R 1; 20 0 switch 1 S 0; 40 0 switch 0 R 1",
		"",
	},
	{
		"two places at once",
		"wwnr",
		"10 0 switch 0 R 1; 20 0 switch 1 S 0; 30 0 switch 0 R 1; 40 1 switch 0 R 1; 50 0 "
		"switch 1 S 0",
		" 40:1:switch_in",
	},
	{
		"woken while it runs",
		"wwnr",
		"10 0 switch 0 R 1; 20 1 wakeup 1 by 2; 30 0 switch 1 S 0; 40 1 wakeup 1 by 2; 50 "
		"0 switch 0 R 1",
		" 20:1:wakeup",
	},
};

static void survey(struct tap_survey *s, const struct steps *steps)
{
	assert_int_equal(tap_survey_init(s, TAP_WINDOW_ALL), 0);
	for (int cpu = 0; cpu < 4; cpu++)
		for (unsigned int i = 0; i < steps->nr; i++)
			if (steps->ev[i].cpu == cpu)
				assert_int_equal(tap_survey_event(s, &steps->ev[i]), 0);
	assert_int_equal(tap_survey_end(s), 0);
}

static uint32_t recorded(const struct steps *steps)
{
	uint32_t events = 0;

	for (unsigned int i = 0; i < steps->nr; i++)
		events |= steps->ev[i].fmt ? tap_monitor_events_of(steps->ev[i].fmt) : 0;
	return events;
}

static void test_case(void **state)
{
	const struct monitor_case *c = *state;
	struct tap_monitor_opts opts = { .model = tap_monitor_model(c->model),
					 .max_violations = 100,
					 .want = want };
	struct tap_timeline *timeline;
	struct tap_buf got = { 0 };
	struct tap_survey s;
	struct tap_monitor m;
	struct steps steps;

	steps_parse(&steps, c->steps);
	survey(&s, &steps);
	assert_int_equal(
		tap_timeline_new(
			&(const struct tap_timeline_opts){ .window = TAP_WINDOW_ALL, .survey = &s },
			&timeline),
		0);
	opts.timeline = &timeline;
	opts.survey = &s;
	opts.recorded = recorded(&steps);
	tap_monitor_init(&m, &opts);
	for (unsigned int i = 0; i < steps.nr; i++)
		if (tap_monitor_ops.wants(&m, steps.ev[i].fmt))
			assert_int_equal(tap_monitor_ops.event(&m, timeline, &steps.ev[i]), 0);
	for (unsigned int i = 0; i < m.nr_violations; i++)
		tap_buf_printf(&got, " %d:%d:%s", (int)m.violations[i].ts_ns,
			       m.violations[i].task->tid,
			       tap_monitor_event_names[m.violations[i].event]);
	assert_string_equal(tap_buf_str(&got), c->want);
	assert_int_equal(m.violated, m.nr_violations);
	tap_buf_release(&got);
	tap_monitor_release(&m);
	tap_timeline_free(timeline);
	tap_survey_release(&s);
	steps_release();
}

/* What a violation can show in. */
static void test_decides(void **state)
{
	const uint32_t wakeup = BIT(TAP_MONITOR_WAKEUP), entry = BIT(TAP_MONITOR_ENTRY),
		       leave = BIT(TAP_MONITOR_EXIT);
	const uint32_t set_state = BIT(TAP_MONITOR_SET_RUNNABLE) | BIT(TAP_MONITOR_SET_SLEEPABLE);

	(void)state;
	assert_false(tap_monitor_decides(tap_monitor_model("sssw"), SWITCHES));
	assert_true(tap_monitor_decides(tap_monitor_model("sssw"), SWITCHES | wakeup));
	assert_true(tap_monitor_decides(tap_monitor_model("wwnr"), SWITCHES));
	/* in two places at once */
	assert_true(tap_monitor_decides(tap_monitor_model("snroc"), SWITCHES));
	assert_false(tap_monitor_decides(tap_monitor_model("sco"), set_state));
	assert_true(tap_monitor_decides(tap_monitor_model("sco"), entry | leave));
	assert_false(tap_monitor_decides(tap_monitor_model("tss"), SWITCHES));
	assert_true(tap_monitor_decides(tap_monitor_model("tss"), SWITCHES | entry | leave));
	assert_null(tap_monitor_model("nosuch"));
}

/* Each state of each model is led to, and each of its events has a state in which it may happen. */
static void test_models(void **state)
{
	(void)state;
	for (const struct tap_monitor_model *m = tap_monitor_models; m->name; m++) {
		uint8_t led_to = 0;

		for (enum tap_monitor_event e = 0; e < TAP_MONITOR_NR_EVENTS; e++) {
			unsigned int may = 0, has = 0;

			for (unsigned int s = 0; s < m->nr_states; s++) {
				uint8_t next = m->next[s][e];

				has += next != 0;
				if (!next || next == TAP_MONITOR_NEVER)
					continue;
				assert_true(next <= m->nr_states);
				led_to |= (uint8_t)(1u << (next - 1));
				may++;
			}
			assert_true(!has || (has == m->nr_states && may));
		}
		assert_int_equal(led_to, (1u << m->nr_states) - 1);
	}
}

#define NR_CASES (sizeof(cases) / sizeof(*cases))

int main(void)
{
	struct CMUnitTest tests[NR_CASES + 2] = { cmocka_unit_test(test_decides),
						  cmocka_unit_test(test_models) };

	for (size_t i = 0; i < NR_CASES; i++)
		tests[2 + i] = (struct CMUnitTest){ cases[i].name, test_case, NULL, NULL,
						    (void *)(uintptr_t)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("monitor", tests, NULL, NULL);
}
