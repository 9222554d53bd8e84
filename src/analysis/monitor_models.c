// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/monitor_models.h"

#include <stddef.h>
#include <string.h>

const char *const tap_monitor_event_names[TAP_MONITOR_NR_EVENTS] = {
	[TAP_MONITOR_SWITCH_IN] = "switch_in",
	[TAP_MONITOR_SWITCH_PREEMPT] = "switch_preempt",
	[TAP_MONITOR_SWITCH_YIELD] = "switch_yield",
	[TAP_MONITOR_SWITCH_SUSPEND] = "switch_suspend",
	[TAP_MONITOR_WAKEUP] = "wakeup",
	[TAP_MONITOR_SET_RUNNABLE] = "set_state_runnable",
	[TAP_MONITOR_SET_SLEEPABLE] = "set_state_sleepable",
	[TAP_MONITOR_SIGNAL] = "signal_deliver",
	[TAP_MONITOR_SWITCH] = "sched_switch",
	[TAP_MONITOR_ENTRY] = "schedule_entry",
	[TAP_MONITOR_EXIT] = "schedule_exit",
};

#define NEVER TAP_MONITOR_NEVER
#define TO(state) ((state) + 1)
#define SWITCH_OUT(to)                                                                             \
	[TAP_MONITOR_SWITCH_PREEMPT] = to, [TAP_MONITOR_SWITCH_YIELD] = to,                        \
	[TAP_MONITOR_SWITCH_SUSPEND] = to
#define SET_STATE(to) [TAP_MONITOR_SET_RUNNABLE] = to, [TAP_MONITOR_SET_SLEEPABLE] = to

enum { NOT_RUNNING, RUNNING };
enum { THREAD, SCHEDULING };
enum { OTHER_CONTEXT, OWN_CONTEXT };
enum { RUNNABLE, SIGNAL_WAKEUP, SLEEPABLE, SLEEPING };

/* clang-format off */
const struct tap_monitor_model tap_monitor_models[] = {
	{
		.name = "sssw",
		.asserts = "a task sleeps only after it set a sleeping state, "
			   "and runs again only after a wakeup",
		.nr_states = 4, .states = { "runnable", "signal_wakeup", "sleepable", "sleeping" },
		.next = {
			[RUNNABLE] = {
				[TAP_MONITOR_SWITCH_IN] = TO(RUNNABLE),
				[TAP_MONITOR_SWITCH_PREEMPT] = TO(RUNNABLE),
				[TAP_MONITOR_SWITCH_YIELD] = TO(RUNNABLE),
				[TAP_MONITOR_SWITCH_SUSPEND] = NEVER,
				[TAP_MONITOR_WAKEUP] = TO(RUNNABLE),
				[TAP_MONITOR_SET_RUNNABLE] = TO(RUNNABLE),
				[TAP_MONITOR_SET_SLEEPABLE] = TO(SLEEPABLE),
				[TAP_MONITOR_SIGNAL] = TO(RUNNABLE),
			},
			[SIGNAL_WAKEUP] = {
				[TAP_MONITOR_SWITCH_IN] = TO(SIGNAL_WAKEUP),
				[TAP_MONITOR_SWITCH_PREEMPT] = TO(SIGNAL_WAKEUP),
				[TAP_MONITOR_SWITCH_YIELD] = TO(SIGNAL_WAKEUP),
				[TAP_MONITOR_SWITCH_SUSPEND] = NEVER,
				[TAP_MONITOR_WAKEUP] = TO(SIGNAL_WAKEUP),
				[TAP_MONITOR_SET_RUNNABLE] = NEVER,
				[TAP_MONITOR_SET_SLEEPABLE] = TO(SLEEPABLE),
				[TAP_MONITOR_SIGNAL] = TO(RUNNABLE),
			},
			[SLEEPABLE] = {
				[TAP_MONITOR_SWITCH_IN] = TO(SLEEPABLE),
				[TAP_MONITOR_SWITCH_PREEMPT] = TO(SLEEPABLE),
				[TAP_MONITOR_SWITCH_YIELD] = TO(SIGNAL_WAKEUP),
				[TAP_MONITOR_SWITCH_SUSPEND] = TO(SLEEPING),
				[TAP_MONITOR_WAKEUP] = TO(RUNNABLE),
				[TAP_MONITOR_SET_RUNNABLE] = TO(RUNNABLE),
				[TAP_MONITOR_SET_SLEEPABLE] = TO(SLEEPABLE),
				[TAP_MONITOR_SIGNAL] = TO(SLEEPABLE),
			},
			[SLEEPING] = {
				[TAP_MONITOR_SWITCH_IN] = NEVER, SWITCH_OUT(NEVER),
				[TAP_MONITOR_WAKEUP] = TO(RUNNABLE),
				SET_STATE(NEVER), [TAP_MONITOR_SIGNAL] = NEVER,
			},
		},
	},
	{
		.name = "snroc", .asserts = "only the task itself sets its state, while it runs",
		.nr_states = 2, .states = { "other_context", "own_context" },
		.next = {
			[OTHER_CONTEXT] = {
				[TAP_MONITOR_SWITCH_IN] = TO(OWN_CONTEXT), SWITCH_OUT(NEVER),
				SET_STATE(NEVER),
			},
			[OWN_CONTEXT] = {
				[TAP_MONITOR_SWITCH_IN] = NEVER, SWITCH_OUT(TO(OTHER_CONTEXT)),
				SET_STATE(TO(OWN_CONTEXT)),
			},
		},
	},
	{
		.name = "sco",
		.asserts = "a task's state is not set within __schedule()",
		.of_cpus = true,
		.nr_states = 2, .states = { "thread_context", "scheduling_context" },
		.next = {
			[THREAD] = {
				[TAP_MONITOR_ENTRY] = TO(SCHEDULING), [TAP_MONITOR_EXIT] = NEVER,
				SET_STATE(TO(THREAD)),
			},
			[SCHEDULING] = {
				[TAP_MONITOR_ENTRY] = NEVER, [TAP_MONITOR_EXIT] = TO(THREAD),
				SET_STATE(NEVER),
			},
		},
	},
	{
		.name = "tss",
		.asserts = "tasks are switched only within __schedule()",
		.of_cpus = true,
		.nr_states = 2, .states = { "thread", "sched" },
		.next = {
			[THREAD] = {
				[TAP_MONITOR_ENTRY] = TO(SCHEDULING), [TAP_MONITOR_EXIT] = NEVER,
				[TAP_MONITOR_SWITCH] = NEVER,
			},
			[SCHEDULING] = {
				[TAP_MONITOR_ENTRY] = NEVER, [TAP_MONITOR_EXIT] = TO(THREAD),
				[TAP_MONITOR_SWITCH] = TO(SCHEDULING),
			},
		},
	},
	{
		.name = "wwnr",
		.asserts = "a task is woken only while it does not run "
			   "(a model that the kernel's authors know to be wrong)",
		.nr_states = 2, .states = { "not_running", "running" },
		.next = {
			[NOT_RUNNING] = {
				[TAP_MONITOR_SWITCH_IN] = TO(RUNNING), SWITCH_OUT(NEVER),
				[TAP_MONITOR_WAKEUP] = TO(NOT_RUNNING),
			},
			[RUNNING] = {
				[TAP_MONITOR_SWITCH_IN] = NEVER, SWITCH_OUT(TO(NOT_RUNNING)),
				[TAP_MONITOR_WAKEUP] = NEVER,
			},
		},
	},
	{ 0 },
};
/* clang-format on */

/* These events need CONFIG_TRACE_PREEMPT_TOGGLE and CONFIG_TRACE_IRQFLAGS. */
#define NEEDS_PREEMPT                                                                              \
	"the model needs preemptirq:preempt_disable and preempt_enable whenever preemption is "    \
	"switched off or on"
#define NEEDS_IRQ                                                                                  \
	"the model needs preemptirq:irq_disable and irq_enable whenever interrupts are switched "  \
	"off or on"
#define IS_FORMULA "the model is a formula about real-time programs, not an automaton, and needs "

const struct tap_monitor_undecided tap_monitor_undecided[] = {
	{ "nrp", "the model needs every interrupt's entry (irq:irq_handler_entry and on x86 "
		 "irq_vectors:*_entry), besides schedtap:sched_set_need_resched and sched_entry" },
	{ "opid", NEEDS_PREEMPT
	  ", and irq_disable and irq_enable whenever interrupts are switched off or on" },
	{ "scpd", NEEDS_PREEMPT },
	{ "sncid", NEEDS_IRQ },
	{ "snep", NEEDS_PREEMPT },
	{ "sts", NEEDS_IRQ },
	{ "wip", NEEDS_PREEMPT },
	{ "nomiss", "the model needs each deadline replenishment, which no event reports before "
		    "v7.2: 'schedtap check deadline' checks jobs instead" },
	{ "stall",
	  "the model limits how long a task waits: 'schedtap check starvation' checks that time" },
	{ "rtapp", "rtapp is a group of models: pagefault, sleep and wakeup" },
	{ "pagefault", IS_FORMULA "exceptions:page_fault_user and page_fault_kernel" },
	{ "wakeup", "the model is a formula about priorities, not an automaton: 'schedtap wakers' "
		    "shows who woke whom" },
	{ "sleep", IS_FORMULA
	  "raw_syscalls:sys_enter and sys_exit, lock:contention_begin and contention_end" },
	{ 0 },
};

const struct tap_monitor_model *tap_monitor_model(const char *name)
{
	for (const struct tap_monitor_model *m = tap_monitor_models; m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}
