// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "timeline/timeline.h"
#include "steps.h"

struct timeline_case {
	const char *name;
	struct tap_window window;
	bool is_on; /* from the window's start on switches were recorded on all CPUs */
	const char *steps;
	const char *cpus; /* "CPU: what NS ...", separated by " | "; zeros are left out */
	const char *tasks; /* "TID: state NS ...", in order of appearance */
	const char *waits; /* whole ones: "TID waking FROM-TO on CPU"; and "moved TID why" */
};

static const struct timeline_case cases[] = {
	{
		.name = "slices between switches belong to the task switched in",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 130 0 switch 1 R 2; 150 0 switch 2 S 1; 200 0 switch "
			 "1 S 2",
		.cpus = "0: run 100 switches 4",
		.tasks = "9: sleeping 100 | 1: running 80 preempted 20 slices 2 | 2: running 20 "
			 "sleeping 50 unknown 30 slices 1",
		.waits = "1 preempted 130-150 on 0 | ",
	},
	{
		.name = "before the first switch the time is unknown, after the last it is charged",
		.window = { 100, 200 },
		.steps = "140 0 switch 9 S 1",
		.cpus = "0: run 60 unknown 40 switches 1",
		.tasks = "9: sleeping 60 unknown 40 | 1: running 60 unknown 40",
	},
	{
		.name = "where switches were recorded from the start, the first one shows what ran "
			"before",
		.window = { 100, 200 },
		.is_on = true,
		.steps = "140 0 switch 9 S 1; 150 1 switch 0 R 2",
		.cpus = "0: run 100 switches 1 | 1: run 50 idle 50 switches 1",
		.tasks = "9: running 40 sleeping 60 slices 1 | 1: running 60 unknown 40 | 2: "
			 "running 50 unknown 50",
	},
	{
		.name = "after a loss, too: from its end on",
		.window = { 100, 200 },
		.is_on = true,
		.steps = "100 0 switch 9 S 1; 130 0 lost 120 3; 160 0 switch 2 S 0",
		.cpus = "0: run 50 idle 40 unknown 10 switches 2 lost 3",
		.tasks = "9: sleeping 20 unknown 80 | 1: running 20 unknown 80 | 2: running 30 "
			 "unknown 70 slices 1",
	},
	{
		.name = "but not what a CPU did that may have been offline",
		.window = { 100, 200 },
		.is_on = true,
		.steps = "100 0 switch 9 S 0; 140 1 switch 0 R 951",
		.cpus = "0: idle 100 switches 1 | 1: run 60 unknown 40 switches 1",
		.tasks = "9: sleeping 100 | 951: running 60 unknown 40",
	},
	{
		.name = "nor where a switch is missing without a loss record: a hidden task may "
			"have run first",
		.window = { 100, 200 },
		.is_on = true,
		.steps = "100 0 switch 9 S 1; 120 0 switch 3 S 1; 140 1 switch 8 S 0",
		.cpus = "0: run 80 unknown 20 switches 2 breaks 1 | 1: idle 60 unknown 40 switches "
			"1",
		.tasks = "9: unknown 100 | 1: running 80 unknown 20 | 3: unknown 100 | 8: unknown "
			 "100",
	},
	{
		.name = "a birth shows the process: of its own, its parent's, that of a parent "
			"seen before",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 110 0 newtask 1 2; 110 0 fork 1 2; 110 0 new 2 by 1; "
			 "120 0 switch 1 S 2; 130 0 newtask 2 3 thread; 130 0 fork 2 3; 130 0 new "
			 "3 by 2; 140 0 newtask 2 4 thread; 140 0 new 4 by 2; 150 0 switch 2 S 3; "
			 "160 0 switch 3 S 4; 170 0 switch 4 S 0",
		.cpus = "0: run 70 idle 30 switches 5",
		.tasks = "9: sleeping 100 | 1: running 20 sleeping 80 slices 1 | 2: running 30 "
			 "waking 10 sleeping 50 slices 1 tgid 2 life 90 | 3: running 10 waking 20 "
			 "sleeping 40 slices 1 tgid 2 tgid_of 2 life 70 | 4: running 10 waking 20 "
			 "sleeping 30 slices 1 tgid 2 tgid_of 2 life 60",
		.waits = "2 waking 110-120 on 0 | 3 waking 130-150 on 0 | 4 waking 140-160 on 0 | ",
	},
	{
		.name = "a thread's thread is of the same process, whose number a list may have",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 110 0 newtask 1 2 thread; 110 0 new 2 by 1; 120 0 "
			 "switch 1 S 2; 130 0 newtask 2 3 thread; 130 0 new 3 by 2",
		.cpus = "0: run 100 switches 2",
		.tasks = "9: sleeping 100 | 1: running 20 sleeping 80 slices 1 | 2: running 80 "
			 "waking 10 tgid_of 1 life 90 | 3: waking 70 tgid_of 1 life 70",
		.waits = "2 waking 110-120 on 0 | ",
	},
	{
		.name = "a tid that is given out again: each task has the process that its own "
			"birth shows",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 110 0 newtask 1 2 thread; 110 0 fork 1 2; 110 0 new "
			 "2 by 1; 120 0 switch 1 S 2; 130 0 switch 2 X 1; 140 0 newtask 1 2; 140 0 "
			 "fork 1 2; 140 0 new 2 by 1; 150 0 switch 1 S 2; 160 0 switch 2 X 1; 170 "
			 "0 fork 1 2; 170 0 new 2 by 1",
		.cpus = "0: run 100 switches 5",
		.tasks = "9: sleeping 100 | 1: running 80 sleeping 20 slices 2 | 2: running 10 "
			 "waking 10 slices 1 tgid_of 1 life 20 | 2: running 10 waking 10 slices 1 "
			 "tgid 2 life 20 | 2: waking 30 life 30",
		.waits = "2 waking 110-120 on 0 | 2 waking 140-150 on 0 | ",
	},
	{
		.name = "idle is no task",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 150 0 waking 1 by 0; 160 0 switch 0 R 1; 170 0 "
			 "switch 1 S 0",
		.cpus = "0: run 10 idle 90 switches 3",
		.tasks = "1: running 10 waking 10 sleeping 80 slices 1",
		.waits = "1 waking 150-160 on 0 | ",
	},
	{
		.name = "a broken chain belongs to no task",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 130 0 switch 5 S 2; 150 0 switch 2 S 0",
		.cpus = "0: run 20 idle 50 unknown 30 switches 3 breaks 1",
		/* 1 left unseen, and 9 may have run in between */
		.tasks = "9: unknown 100 | 1: unknown 100 | 5: unknown 100 | 2: running 20 unknown "
			 "80 slices 1",
	},
	{
		.name = "a hole ends what is certain about those who wait, not about those who run",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 100 1 switch 8 S 2; 110 1 waking 3 by 2; 120 0 "
			 "switch 1 S 4; 140 0 switch 5 S 6; 150 1 switch 2 R+ 3; 160 0 switch 6 S "
			 "0; 180 1 switch 3 S 2; 190 1 switch 2 S 0",
		/* the hole is 120 to 140: 3 may have run on CPU 0 and have been woken again.
		 * No event shows it, so no state that lasts until the end is certain */
		.cpus = "0: run 40 idle 40 unknown 20 switches 4 breaks 1 | 1: run 90 idle 10 "
			"switches 4",
		.tasks = "9: unknown 100 | 1: running 20 unknown 80 slices 1 | 8: unknown 100 | 2: "
			 "running 60 preempted 30 unknown 10 slices 2 | 3: running 30 waking 10 "
			 "unknown 60 slices 1 | 4: unknown 100 | 5: unknown 100 | 6: running 20 "
			 "unknown 80 slices 1",
		.waits = "2 preempted 150-180 on 1 | ",
	},
	{
		.name = "a loss on one CPU leaves what runs on the others alone",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 100 1 switch 8 S 2; 150 0 lost 120 7; 160 0 switch 1 "
			 "S 0; 170 1 switch 2 S 0",
		.cpus = "0: run 20 idle 40 unknown 40 switches 2 lost 7 | 1: run 70 idle 30 "
			"switches 2",
		.tasks = "9: sleeping 20 unknown 80 | 1: running 20 unknown 80 | 8: sleeping 20 "
			 "unknown 80 | 2: running 70 unknown 30 slices 1",
	},
	{
		.name = "after a loss a switch is no broken chain",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 150 0 lost 120 0; 160 0 switch 5 S 0",
		.cpus = "0: run 20 idle 40 unknown 40 switches 2",
		.tasks = "9: sleeping 20 unknown 80 | 1: running 20 unknown 80 | 5: unknown 100",
	},
	{
		.name = "what goes to sleep long after a hole certainly sleeps",
		.window = { 100, 60000 },
		.steps = "100 0 switch 9 S 1; 150 0 lost 120 0; 160 0 switch 1 S 5; 20000 0 switch "
			 "5 S 0; 50000 0 waking 5 by 0; 50100 0 switch 0 R 5",
		.cpus = "0: run 29760 idle 30100 unknown 40 switches 4",
		.tasks = "9: sleeping 20 unknown 59880 | 1: running 20 unknown 59880 | 5: running "
			 "29740 waking 100 sleeping 30000 unknown 60 slices 1",
		.waits = "5 waking 50000-50100 on 0 | ",
	},
	{
		.name = "a loss of a single event is a hole as well",
		.window = { 1000, 13000 },
		.steps = "1000 0 switch 9 S 1; 2000 0 switch 1 R+ 2; 5000 0 lost 5000 1; 9000 0 "
			 "switch 1 R+ 2; 12000 0 switch 2 S 1",
		.cpus = "0: run 8000 unknown 4000 switches 4 lost 1",
		.tasks = "9: sleeping 4000 unknown 8000 | 1: running 2000 preempted 3000 unknown "
			 "7000 slices 1 | 2: running 6000 unknown 6000 slices 1",
		.waits = "1 preempted 9000-12000 on 0 | ",
	},
	{
		.name = "asleep or woken on its way: a hole leaves that open",
		.window = { 1000, 40000 },
		.steps = "1000 0 switch 0 R 1; 1500 1 switch 0 R 2; 5000 1 waking 1 by 2 to 0; "
			 "6000 0 switch 1 S 0; 20000 0 lost 9000 5; 30000 0 switch 0 R 1",
		.cpus = "0: run 15000 idle 3000 unknown 21000 switches 3 lost 5 | 1: run 38500 "
			"unknown 500 switches 1",
		.tasks = "1: running 15000 unknown 24000 slices 1 | 2: running 38500 unknown 500",
	},
	{
		.name = "a waking after a hole may be of a task that was preempted in it",
		.window = { 1000, 20000 },
		.steps = "1000 0 switch 0 R 1; 2000 0 lost 1500 5; 3000 1 waking 1 by 0 to 0; 9000 "
			 "0 switch 7 S 1",
		.cpus = "0: run 11500 unknown 7500 switches 2 lost 5 | 1: unknown 19000",
		.tasks = "1: running 11500 unknown 7500 | 7: unknown 19000",
	},
	{
		.name = "tasks that are hidden break chains, but leave others what they are",
		.window = { 100, 400 },
		.steps = "100 0 switch 1 R 66; 100 1 switch 3 S 4; 110 0 switch 1 R 66; 120 0 "
			 "switch 1 R 66; 130 0 switch 1 R 66; 140 0 switch 1 R 66; 150 0 switch 1 "
			 "R 66; 160 0 switch 1 R 66; 170 0 switch 1 R 66; 180 0 switch 1 S 2; 250 "
			 "1 waking 3 by 4; 260 1 switch 4 S 3; 300 0 switch 2 S 66",
		.cpus = "0: run 120 unknown 180 switches 10 breaks 8 | 1: run 300 switches 2",
		/* 3 slept all along; at the end it is unknown whether 66 has woken a task */
		.tasks = "1: unknown 300 | 66: unknown 300 | 3: running 140 waking 10 sleeping 150 "
			 "| 4: running 160 unknown 140 slices 1 | 2: running 120 unknown 180 "
			 "slices 1",
		.waits = "3 waking 250-260 on 1 | ",
	},
	{
		.name = "a loss that has no CPU is one of all of them",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 100 1 switch 8 S 2; 160 -1 lost 150 7",
		.cpus = "0: run 50 unknown 50 switches 1 | 1: run 50 unknown 50 switches 1",
		.tasks = "9: sleeping 50 unknown 50 | 1: running 50 unknown 50 | 8: sleeping 50 "
			 "unknown 50 | 2: running 50 unknown 50",
	},
	{
		.name = "a loss in a buffer without scheduler events says nothing about tasks",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 150 0 lost 120 7 @1",
		.cpus = "0: run 100 switches 1 lost 7",
		.tasks = "9: sleeping 100 | 1: running 100",
	},
	{
		.name = "overwritten: what is before a first loss is unknown",
		.window = { 100, 200 },
		.steps = "100 1 switch 8 S 2; 150 0 lost 150 0; 150 0 switch 1 S 0; 180 1 waking 8 "
			 "by 2",
		.cpus = "0: idle 50 unknown 50 switches 1 | 1: run 100 switches 1",
		.tasks = "8: unknown 100 | 2: running 100 | 1: unknown 100",
	},
	{
		.name = "a wakeup before the first switch seen is a wait like others",
		.window = { 100, 200 },
		.steps = "120 0 waking 1 by 9; 140 0 switch 9 S 1",
		.cpus = "0: run 60 unknown 40 switches 1",
		.tasks = "1: running 60 waking 20 unknown 20 | 9: sleeping 60 unknown 40",
		.waits = "1 waking 120-140 on 0 | ",
	},
	{
		.name = "a switch-in of a sleeper means that its wakeup was missed",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 2; 150 0 switch 2 S 1; 160 0 waking 1 by 1",
		.cpus = "0: run 100 switches 2",
		.tasks = "1: running 50 unknown 50 | 2: running 50 sleeping 50 slices 1",
	},
	{
		.name = "... unless the recording has none: then a sleep lasts until its task runs",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 2; 150 0 switch 2 D 1; 170 0 switch 1 T 2; 190 0 switch "
			 "2 R 1",
		.cpus = "0: run 100 switches 4",
		.tasks = "1: running 30 sleeping 50 stopped 20 slices 1 | 2: running 70 preempted "
			 "10 blocked 20 slices 2",
	},
	{
		.name = "... or until a hole",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 2; 100 1 switch 8 S 9; 130 1 lost 120 3; 150 0 switch 2 "
			 "R 1",
		.cpus = "0: run 100 switches 2 | 1: run 20 unknown 80 switches 1 lost 3",
		.tasks = "1: running 50 sleeping 20 unknown 30 | 2: running 50 preempted 50 slices "
			 "1 | 8: sleeping 20 unknown 80 | 9: running 20 unknown 80",
	},
	{
		.name = "... and a new task waits from its first wakeup on",
		.window = { 100, 200 },
		.steps = "100 0 switch 8 S 1; 110 0 fork 1 2; 110 0 new 2 by 1; 130 0 switch 1 S "
			 "2; 150 0 switch 2 S 1",
		.cpus = "0: run 100 switches 3",
		.tasks = "8: sleeping 100 | 1: running 80 sleeping 20 slices 1 | 2: running 20 "
			 "waking 20 sleeping 50 slices 1 life 90",
		.waits = "2 waking 110-130 on 0 | ",
	},
	{
		.name = "R and R+ are both preempted; D is blocked, T and t and P stopped, I "
			"asleep",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 R 2; 110 0 switch 2 R+ 3; 120 0 switch 3 D 4; 130 0 "
			 "switch 4 T 5; 140 0 switch 5 t 6; 150 0 switch 6 P 7; 160 0 switch 7 I 8",
		.cpus = "0: run 100 switches 7",
		.tasks = "1: preempted 100 | 2: running 10 preempted 90 slices 1 | 3: running 10 "
			 "blocked 80 unknown 10 slices 1 | 4: running 10 stopped 70 unknown 20 "
			 "slices 1 | 5: running 10 stopped 60 unknown 30 slices 1 | 6: running 10 "
			 "stopped 50 unknown 40 slices 1 | 7: running 10 sleeping 40 unknown 50 "
			 "slices 1 | 8: running 40 unknown 60",
	},
	{
		.name = "exit ends a life, and the tid that is given out again begins another",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 120 0 exit 1; 130 0 switch 1 X 9; 150 0 fork 9 1; "
			 "155 0 new 1 by 9; 170 0 switch 9 R 1",
		.cpus = "0: run 100 switches 3",
		.tasks = "9: running 40 preempted 30 sleeping 30 slices 1 | 1: running 30 slices 1 "
			 "life 30 | 1: running 30 waking 15 life 45",
		.waits = "1 waking 155-170 on 0 | ",
	},
	{
		.name = "a tid that was given out again unseen does not inherit its past",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 120 0 switch 1 S 0; 150 0 new 1 by 0",
		.cpus = "0: run 20 idle 80 switches 2",
		.tasks = "9: sleeping 100 | 1: running 20 unknown 30 slices 1 life 50 | 1: waking "
			 "50 life 50",
	},
	{
		.name = "... nor is a waking its first event: it may have been preempted before",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 120 0 switch 1 X 0; 150 0 waking 1 by 0; 160 0 "
			 "switch 0 R 1",
		.cpus = "0: run 60 idle 40 switches 3",
		.tasks = "9: sleeping 100 | 1: running 20 slices 1 life 20 | 1: running 40 unknown "
			 "10 life 50",
	},
	{
		.name = "fork alone: the child waits for an unknown time",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 120 0 fork 1 2; 150 0 switch 1 R 2",
		.cpus = "0: run 100 switches 2",
		.tasks = "9: sleeping 100 | 1: running 50 preempted 50 slices 1 | 2: running 50 "
			 "unknown 30 life 80",
	},
	{
		.name = "a thread that executes a program takes over the leader's tid, and keeps "
			"its priority",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 2!7; 130 0 exec 1 2; 160 0 switch 1 S 0",
		.cpus = "0: run 60 idle 40 switches 2",
		.tasks = "9: sleeping 100 | 2: running 30 prio 7 life 30 | 1: unknown 30 tgid 1 "
			 "life 30 | 1: running 30 sleeping 40 slices 1 prio 7 tgid 1 life 70",
	},
	{
		.name = "... and runs where that ran: what is lost there ends it",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 2; 130 0 exec 1 2; 160 0 lost 150 3",
		.cpus = "0: run 50 unknown 50 switches 1 lost 3",
		.tasks = "9: sleeping 50 unknown 50 | 2: running 30 life 30 | 1: unknown 30 tgid 1 "
			 "life 30 | 1: running 20 unknown 50 tgid 1 life 70",
	},
	{
		.name = "the waking comes first, the wakeup confirms it",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 120 1 waking 1 by 7 to 0; 125 0 wakeup 1 by 0 to 0; "
			 "130 0 switch 0 R 1",
		.cpus = "0: run 70 idle 30 switches 2 | 1: unknown 100",
		.tasks = "1: running 70 waking 10 sleeping 20",
		.waits = "1 waking 120-130 on 0 | ",
	},
	{
		.name = "where only wakeups are recorded they begin the wait",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 125 0 wakeup 1 by 0 to 0; 130 0 switch 0 R 1",
		.cpus = "0: run 70 idle 30 switches 2",
		.tasks = "1: running 70 waking 5 sleeping 25",
		.waits = "1 waking 125-130 on 0 | ",
	},
	{
		.name = "a wakeup whose waking was missed begins at an unknown time",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 125 0 wakeup 1 by 0 to 0; 130 0 switch 0 R 1; 140 0 "
			 "waking 2 by 1",
		.cpus = "0: run 70 idle 30 switches 2",
		.tasks = "1: running 70 unknown 30 | 2: waking 60 unknown 40",
	},
	{
		.name = "a waking just before the task is off its CPU lets it wait from then on",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 150 0 switch 1 S 0; 170 0 "
			 "switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: unknown 100",
		.tasks = "9: sleeping 100 | 1: running 80 waking 20 slices 1",
		.waits = "1 waking 150-170 on 0 | ",
	},
	{
		.name = "... but not if a wakeup says that it was over while the task ran",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 149 1 wakeup 1 by 7 to 0; "
			 "150 0 switch 1 S 0; 170 0 switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: unknown 100",
		.tasks = "9: sleeping 100 | 1: running 80 unknown 20 slices 1",
	},
	{
		.name = "... also if it came long before, and no other can have ended the sleep",
		.window = { 100, 50000 },
		.steps = "100 0 switch 9 S 1; 200 1 waking 1 by 7 to 0; 20200 0 switch 1 S 0; "
			 "30200 0 switch 0 R 1",
		.cpus = "0: run 39900 idle 10000 switches 3 | 1: unknown 49900",
		.tasks = "9: sleeping 49900 | 1: running 39900 waking 10000 slices 1",
		.waits = "1 waking 20200-30200 on 0 | ",
	},
	{
		.name = "... also if a wakeup says that it was over only then",
		.window = { 100, 50000 },
		.steps = "100 0 switch 9 S 1; 200 1 waking 1 by 7 to 0; 20200 0 switch 1 S 0; "
			 "20300 1 wakeup 1 by 7 to 0; 30200 0 switch 0 R 1",
		.cpus = "0: run 39900 idle 10000 switches 3 | 1: unknown 49900",
		.tasks = "9: sleeping 49900 | 1: running 39900 waking 10000 slices 1",
		.waits = "1 waking 20200-30200 on 0 | ",
	},
	{
		.name = "... and if it is not over when the window ends, the task may wait",
		.window = { 100, 50000 },
		.steps = "100 0 switch 9 S 1; 200 1 waking 1 by 7 to 0; 20200 0 switch 1 S 0; "
			 "30200 1 wakeup 7 by 8 to 1",
		.cpus = "0: run 20100 idle 29800 switches 2 | 1: unknown 49900",
		.tasks = "9: sleeping 49900 | 1: running 20100 unknown 29800 slices 1 | 7: unknown "
			 "49900",
	},
	{
		.name = "... but without wakeups it was over, unless the task runs again",
		.window = { 100, 50000 },
		.steps = "100 0 switch 9 S 1; 200 1 waking 1 by 7 to 0; 20200 0 switch 1 S 0; "
			 "30200 1 waking 2 by 7 to 1",
		.cpus = "0: run 20100 idle 29800 switches 2 | 1: unknown 49900",
		.tasks = "9: sleeping 49900 | 1: running 20100 sleeping 29800 slices 1 | 2: waking "
			 "19800 unknown 30100",
	},
	{
		.name = "... and with another waking it was over long before",
		.window = { 100, 50000 },
		.steps = "100 0 switch 9 S 1; 200 1 waking 1 by 7 to 0; 20200 0 switch 1 S 0; "
			 "25200 1 waking 1 by 7 to 0; 30200 0 switch 0 R 1",
		.cpus = "0: run 39900 idle 10000 switches 3 | 1: unknown 49900",
		.tasks = "9: sleeping 49900 | 1: running 39900 waking 5000 sleeping 5000 slices 1",
		.waits = "1 waking 25200-30200 on 0 | ",
	},
	{
		.name = "... and with a gap after it, any other may have ended the sleep",
		.window = { 100, 50000 },
		.steps = "100 0 switch 9 S 1; 200 1 waking 1 by 7 to 0; 2200 1 lost 2100 1; 20200 "
			 "0 switch 1 S 0; 30200 0 switch 0 R 1",
		.cpus = "0: run 39900 idle 10000 switches 3 | 1: unknown 49900 lost 1",
		.tasks = "9: sleeping 2000 unknown 47900 | 1: running 39900 unknown 10000 slices 1",
	},
	{
		.name = "... nor does it count where events are missing without a recorded loss",
		.window = { 100, 50000 },
		.steps = "100 0 switch 9 S 1; 110 1 switch 8 S 7; 150 1 switch 6 S 7; 200 1 waking "
			 "1 by 7 to 0; 20200 0 switch 1 S 0; 30200 0 switch 0 R 1",
		.cpus = "0: run 39900 idle 10000 switches 3 | 1: run 49850 unknown 50 switches 2 "
			"breaks 1",
		.tasks = "9: unknown 49900 | 1: running 39900 unknown 10000 slices 1 | 8: unknown "
			 "49900 | 7: running 49850 unknown 50 | 6: unknown 49900",
	},
	{
		.name = "... and a waker that moves the task long after did not place it",
		.window = { 100, 50000 },
		.steps =
			"100 0 switch 9 S 1; 200 1 waking 1 by 7 to 0; 20200 0 switch 1 S 0; 25200 "
			"1 migrate 1 0 1 by 7; 25300 1 migrate 1 1 1 by 7; 30200 1 switch 7 R 1",
		.cpus = "0: run 20100 idle 29800 switches 2 | 1: run 19800 unknown 30100 switches "
			"1",
		.tasks = "9: sleeping 49900 | 1: running 39900 waking 10000 slices 1 migrations 2 "
			 "| 7: preempted 19800 unknown 30100",
		.waits = "moved 1 other 0>1 | moved 1 other 1>1 | 1 waking 20200-30200 on 1 | ",
	},
	{
		.name = "where only wakeups are recorded, one that finds its task running is over",
		.window = { 100, 50000 },
		.steps = "100 0 switch 9 S 1; 20199 1 wakeup 1 by 7 to 0; 20200 0 switch 1 S 0; "
			 "30200 0 switch 0 R 1",
		.cpus = "0: run 39900 idle 10000 switches 3 | 1: unknown 49900",
		.tasks = "9: sleeping 49900 | 1: running 39900 unknown 10000 slices 1",
	},
	{
		.name = "... and a second waking shows that the first was over",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 150 0 switch 1 S 0; 160 1 "
			 "waking 1 by 7 to 0; 170 0 switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: unknown 100",
		.tasks = "9: sleeping 100 | 1: running 80 waking 10 sleeping 10 slices 1",
		.waits = "1 waking 160-170 on 0 | ",
	},
	{
		.name = "... also if it seemed to end only after the task left its CPU",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 150 0 switch 1 S 0; 151 1 "
			 "wakeup 1 by 7 to 0; 160 1 waking 1 by 7 to 0; 170 0 switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: unknown 100",
		.tasks = "9: sleeping 100 | 1: running 80 waking 10 unknown 10 slices 1",
		.waits = "1 waking 160-170 on 0 | ",
	},
	{
		.name = "... but a third one shows that it ran meanwhile, unseen",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 150 0 switch 1 S 0; 151 1 "
			 "wakeup 1 by 7 to 0; 160 1 waking 1 by 7 to 0; 165 1 waking 1 by 7 to 0; "
			 "170 0 switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: unknown 100",
		.tasks = "9: sleeping 100 | 1: running 80 unknown 20 slices 1",
	},
	{
		.name = "... and where events are missing, already the second one does",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 110 1 switch 8 S 7; 120 1 switch 6 S 7; 148 1 waking "
			 "1 by 7 to 0; 150 0 switch 1 S 0; 151 1 wakeup 1 by 7 to 0; 160 1 waking "
			 "1 by 7 to 0; 170 0 switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: run 80 unknown 20 switches 2 breaks 1",
		.tasks = "9: unknown 100 | 1: running 80 unknown 20 slices 1 | 8: unknown 100 | 7: "
			 "running 80 unknown 20 | 6: unknown 100",
	},
	{
		.name = "two wakings without a switch between: it ran meanwhile, unseen",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 120 1 waking 1 by 7 to 0; 150 1 waking 1 by 7 to 0; "
			 "160 0 switch 0 R 1",
		.cpus = "0: run 40 idle 60 switches 2 | 1: unknown 100",
		.tasks = "1: running 40 unknown 60",
	},
	{
		.name = "a waking of a preempted task changes nothing",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 R+ 2; 120 0 waking 1 by 2; 150 0 switch 2 S 1",
		.cpus = "0: run 100 switches 2",
		.tasks = "1: running 50 preempted 50 | 2: running 50 sleeping 50 slices 1",
		.waits = "1 preempted 100-150 on 0 | ",
	},
	{
		.name = "a waking and a switch-in at the same time on two CPUs: unknown, not wrong",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 150 0 switch 0 R 1; 150 1 waking 1 by 7 to 0; 150 0 "
			 "switch 1 S 0; 180 0 switch 0 R 1",
		.cpus = "0: run 20 idle 80 switches 4 | 1: unknown 100",
		.tasks = "1: running 20 unknown 80 slices 1",
	},
	{
		.name = "moved by its wakeup, pulled while it waits, pushed by the stopper",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 100 1 switch 9 S 7; 110 1 waking 1 by 7 to 0; 111 1 "
			 "migrate 1 0 1 by 7; 130 0 migrate 1 1 0 by 0; 140 0 switch 0 R 1; 150 0 "
			 "switch 1 R+ 2; 160 1 migrate 1 0 1 by 7; 170 1 switch 7 R 1",
		.cpus = "0: run 60 idle 40 switches 3 | 1: run 100 switches 2",
		.tasks = "1: running 40 preempted 20 waking 30 sleeping 10 slices 1 migrations 3 | "
			 "9: sleeping 100 | 7: running 70 preempted 30 slices 1 | 2: running 50 "
			 "unknown 50",
		.waits = "moved 1 wakeup 0>1 | moved 1 balance 1>0 | 1 waking 110-140 on 0 | moved "
			 "1 balance 0>1 | 1 preempted 150-170 on 1 | ",
	},
	{
		.name = "placed once, by its wakeup or to stay: what moves it after that balances",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 100 1 switch 2 S 7; 110 1 waking 1 by 7 to 0; 111 1 "
			 "migrate 1 0 1 by 7; 112 1 migrate 1 1 0 by 7; 120 1 waking 2 by 7 to 1; "
			 "121 1 wakeup 2 by 7 to 1; 122 1 migrate 2 1 0 by 7",
		.cpus = "0: idle 100 switches 1 | 1: run 100 switches 1",
		.tasks = "1: waking 90 sleeping 10 migrations 2 | 2: waking 80 sleeping 20 "
			 "migrations 1 | 7: running 100",
		.waits = "moved 1 wakeup 0>1 | moved 1 balance 1>0 | moved 2 balance 1>0 | ",
	},
	{
		.name = "... but its next wakeup places it anew",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 100 1 switch 9 S 7; 110 1 waking 1 by 7 to 0; 111 1 "
			 "migrate 1 0 1 by 7; 120 1 switch 7 R 1; 150 1 switch 1 S 7; 160 1 waking "
			 "1 by 7 to 1; 161 1 migrate 1 1 0 by 7",
		.cpus = "0: idle 100 switches 1 | 1: run 100 switches 3",
		.tasks = "1: running 30 waking 50 sleeping 20 slices 1 migrations 2 | 9: sleeping "
			 "100 | 7: running 70 preempted 30 slices 1",
		.waits = "moved 1 wakeup 0>1 | 1 waking 110-120 on 1 | 7 preempted 120-150 on 1 | "
			 "moved 1 wakeup 1>0 | ",
	},
	{
		.name = "a waker that pulls what it woke long ago did not place it, as far as is "
			"known",
		.window = { 100, 30200 },
		.steps = "100 0 switch 1 S 0; 100 1 switch 9 S 7; 110 1 waking 1 by 7 to 0; 20111 "
			 "1 migrate 1 0 1 by 7; 20120 1 switch 7 S 1",
		.cpus = "0: idle 30100 switches 1 | 1: run 30100 switches 2",
		.tasks = "1: running 10080 waking 20010 sleeping 10 migrations 1 | 9: sleeping "
			 "30100 | 7: running 20020 sleeping 10080 slices 1",
		.waits = "moved 1 other 0>1 | 1 waking 110-20120 on 1 | ",
	},
	{
		.name = "a waiting task that moves after a hole moves for an unknown reason",
		.window = { 100, 1000 },
		.steps = "100 0 switch 1 S 0; 100 1 switch 9 S 7; 110 1 waking 1 by 7 to 0; 200 0 "
			 "lost 150 3; 300 1 migrate 1 0 1 by 7; 310 1 switch 7 S 1",
		.cpus = "0: idle 50 unknown 850 switches 1 lost 3 | 1: run 900 switches 2",
		.tasks = "1: running 690 waking 40 sleeping 10 unknown 160 migrations 1 | 9: "
			 "sleeping 50 unknown 850 | 7: running 210 unknown 690 slices 1",
		.waits = "moved 1 other 0>1 | ",
	},
	{
		.name = "another name where something is missing: unknown, but one task",
		.window = { 100, 400 },
		.steps = "100 0 switch 9 S 5; 150 0 switch 6 S 1; 200 0 switch 1 S 0; 250 0 waking "
			 "1 by 0; 300 0 switch 0 R 1=x",
		.cpus = "0: run 150 idle 100 unknown 50 switches 4 breaks 1",
		.tasks = "9: unknown 300 | 5: unknown 300 | 6: unknown 300 | 1: running 150 "
			 "unknown 150 slices 1",
	},
	{
		.name = "a sleeper that is moved sleeps on: its waking ends that",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 120 1 migrate 1 0 1 by 0; 150 0 waking 1 by 0 to 1; "
			 "160 1 switch 0 R 1",
		.cpus = "0: idle 100 switches 1 | 1: run 40 unknown 60 switches 1",
		.tasks = "1: running 40 waking 10 sleeping 50 migrations 1",
		.waits = "moved 1 other 0>1 | 1 waking 150-160 on 1 | ",
	},
	{
		.name = "... and if none comes, its state is unknown",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 120 1 migrate 1 0 1 by 0; 150 1 waking 2 by 0",
		.cpus = "0: idle 100 switches 1 | 1: unknown 100",
		.tasks = "1: unknown 100 migrations 1 | 2: waking 50 unknown 50",
		.waits = "moved 1 other 0>1 | ",
	},
	{
		.name = "... but it was moved by a waking that came before it was off its CPU",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 150 0 switch 1 S 0; 155 1 "
			 "migrate 1 0 1 by 7; 170 1 switch 7 R 1",
		.cpus = "0: run 50 idle 50 switches 2 | 1: run 30 unknown 70 switches 1",
		.tasks = "9: sleeping 100 | 1: running 80 waking 20 slices 1 migrations 1 | 7: "
			 "preempted 30 unknown 70",
		.waits = "moved 1 wakeup 0>1 | 1 waking 150-170 on 1 | ",
	},
	{
		.name = "... also if it was moved in its wait before that",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 S 0; 100 1 switch 9 S 7; 110 1 waking 1 by 7 to 0; 111 1 "
			 "migrate 1 0 1 by 7; 120 1 switch 7 R 1; 148 0 waking 1 by 0 to 1; 150 1 "
			 "switch 1 S 7; 155 0 migrate 1 1 0 by 0; 170 0 switch 0 R 1",
		.cpus = "0: run 30 idle 70 switches 2 | 1: run 100 switches 3",
		.tasks = "1: running 60 waking 30 sleeping 10 slices 1 migrations 2 | 9: sleeping "
			 "100 | 7: running 70 preempted 30 slices 1",
		.waits = "moved 1 wakeup 0>1 | 1 waking 110-120 on 1 | 7 preempted 120-150 on 1 | "
			 "moved 1 wakeup 1>0 | 1 waking 150-170 on 0 | ",
	},
	{
		.name = "the first and the last slice of the window are cut, and no whole waits",
		.window = { 100, 200 },
		.steps = "50 0 switch 9 S 1; 90 0 waking 2 by 1; 150 0 switch 1 S 2; 160 0 waking "
			 "1 by 2",
		.cpus = "0: run 100 switches 1",
		.tasks = "9: sleeping 100 | 1: running 50 waking 40 sleeping 10 slices 1 | 2: "
			 "running 50 waking 50",
		.waits = "2 waking 90-150 on 0 | ",
	},
	{
		.name = "a CPU that was never seen is unknown",
		.window = { 100, 200 },
		.steps = "100 2 switch 9 S 0",
		.cpus = "0: unknown 100 | 1: unknown 100 | 2: idle 100 switches 1",
		.tasks = "9: sleeping 100",
	},
	{
		.name = "a CPU that goes away runs its idle task until it comes back",
		.window = { 100, 200 },
		.steps = "100 0 switch 5 S 3; 120 0 switch 3 P 0; 180 0 switch 0 R 5",
		.cpus = "0: run 40 idle 60 switches 3",
		.tasks = "5: running 20 sleeping 80 | 3: running 20 stopped 80 slices 1",
	},
	{
		.name = "a CPU that is taken down is offline until it runs something again, and "
			"nothing else is unknown",
		.window = { 100, 300 },
		.steps = "100 0 switch 9 S 1; 100 1 switch 9 S 2; 110 1 switch 2 S 0; 120 1 switch "
			 "0 R 901; 250 1 switch 0 R 951; 260 0 waking 2 by 1 to 0; 270 1 switch "
			 "951 S 0; 280 0 switch 1 S 2",
		.cpus = "0: run 200 switches 2 | 1: run 30 idle 40 offline 130 switches 5",
		.tasks = "9: sleeping 200 | 1: running 180 sleeping 20 slices 1 | 2: running 30 "
			 "waking 20 sleeping 150 slices 1 migrations 1 | 901: unknown 200 | 951: "
			 "running 20 sleeping 30 unknown 150 slices 1",
		.waits = "2 waking 260-280 on 0 | ",
	},
	{
		.name = "... also one that comes back with its migration thread",
		.window = { 100, 300 },
		.steps = "100 0 switch 9 S 1; 120 1 switch 0 R 901; 250 1 switch 0 R 901; 260 1 "
			 "switch 901 S 0",
		.cpus = "0: run 200 switches 1 | 1: run 10 idle 40 offline 130 unknown 20 switches "
			"3",
		.tasks = "9: sleeping 200 | 1: running 200 | 901: running 10 sleeping 40 unknown "
			 "150 slices 1",
	},
	{
		.name = "... but not if somebody else comes first: then a switch is missing",
		.window = { 100, 300 },
		.steps = "100 0 switch 9 S 1; 120 1 switch 0 R 901; 250 1 switch 0 R 2",
		.cpus = "0: run 200 switches 1 | 1: run 50 unknown 150 switches 2 breaks 1",
		.tasks = "9: unknown 200 | 1: running 200 | 901: unknown 200 | 2: running 50 "
			 "unknown 150",
	},
	{
		.name = "a CPU that stays away is offline if the one that took it down says so",
		.window = { 100, 300 },
		.steps = "100 0 switch 9 S 1; 120 1 switch 0 R 901; 130 0 hotplug 1",
		.cpus = "0: run 200 switches 1 | 1: offline 180 unknown 20 switches 1",
		.tasks = "9: sleeping 200 | 1: running 200 | 901: unknown 200",
	},
	{
		.name = "... else it is unknown, and nothing but it",
		.window = { 100, 300 },
		.steps = "100 0 switch 9 S 1; 110 0 hotplug 1; 120 1 switch 0 R 901",
		.cpus = "0: run 200 switches 1 | 1: unknown 200 switches 1",
		.tasks = "9: sleeping 200 | 1: running 200 | 901: unknown 200",
	},
	{
		.name = "... also where a loss follows: it may have gone away before",
		.window = { 100, 300 },
		.steps = "100 0 switch 9 S 1; 120 1 switch 0 R 901; 250 1 lost 200 3; 260 1 switch "
			 "5 S 0",
		.cpus = "0: run 200 switches 1 | 1: idle 40 unknown 160 switches 2 lost 3",
		.tasks = "9: sleeping 100 unknown 100 | 1: running 200 | 901: unknown 200 | 5: "
			 "unknown 200",
	},
	{
		.name = "... and if the loss lies after the window",
		.window = { 100, 190 },
		.steps = "100 0 switch 9 S 1; 120 1 switch 0 R 901; 250 1 lost 200 3; 260 1 switch "
			 "0 R 901",
		.cpus = "0: run 90 switches 1 | 1: unknown 90 switches 1",
		.tasks = "9: sleeping 90 | 1: running 90 | 901: unknown 90",
	},
	{
		.name = "a hidden task may have left long before a loss",
		.window = { 100, 300 },
		.steps = "100 0 switch 9 S 1; 110 1 switch 0 R 7; 120 1 switch 0 R 7; 130 1 switch "
			 "0 R 7; 140 1 switch 0 R 7; 150 1 switch 0 R 7; 160 1 switch 0 R 7; 170 1 "
			 "switch 0 R 7; 180 1 switch 0 R 7; 250 1 lost 200 3; 260 1 switch 5 S 0",
		.cpus = "0: unknown 200 switches 1 | 1: idle 40 unknown 160 switches 9 breaks 7 "
			"lost 3",
		.tasks = "9: unknown 200 | 1: unknown 200 | 7: unknown 200 | 5: unknown 200",
	},
	{
		.name = "of an event in two buffers one counts",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 100 0 switch 9 S 1 @1; 150 0 switch 1 S 0; 150 0 "
			 "switch 1 S 0 @1",
		.cpus = "0: run 50 idle 50 switches 2",
		.tasks = "9: sleeping 100 | 1: running 50 sleeping 50 slices 1",
	},
	{
		.name = "time that goes back on a CPU is no time",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 150 0 switch 1 S 2; 140 0 switch 2 S 0",
		.cpus = "0: run 50 idle 50 switches 3",
		.tasks = "9: sleeping 100 | 1: running 50 sleeping 50 slices 1 | 2: sleeping 50 "
			 "unknown 50 slices 1",
	},
	{
		.name = "iowait is part of blocked",
		.window = { 100, 200 },
		.steps = "100 0 switch 1 D 0; 150 0 waking 1 by 0; 150 0 stat 1 45; 160 0 switch 0 "
			 "R 1",
		.cpus = "0: run 40 idle 60 switches 2",
		.tasks = "1: running 40 waking 10 blocked 50 iowait 45",
		.waits = "1 waking 150-160 on 0 | ",
	},
	{
		.name = "a loss after the window does not count in it",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S 1; 120 1 switch 8 S 2; 260 0 lost 250 3",
		.cpus = "0: run 100 switches 1 | 1: run 80 unknown 20 switches 1",
		.tasks = "9: sleeping 100 | 1: running 100 | 8: sleeping 80 unknown 20 | 2: "
			 "running 80 unknown 20",
	},
	{
		.name = "without a window it goes from the first event to the last",
		.window = { 100, 150 },
		.steps = "100 0 switch 9 S 1; 150 0 switch 1 S 0",
		.cpus = "0: run 50 switches 2",
		.tasks = "9: sleeping 50 | 1: running 50 slices 1",
	},
	{
		.name = "a tid that can be no task's breaks the chain",
		.window = { 100, 200 },
		.steps = "100 0 switch 9 S -5; 150 0 switch 8 S 0",
		.cpus = "0: idle 50 unknown 50 switches 2 breaks 1",
		.tasks = "9: unknown 100 | 8: unknown 100",
	},
};

/* ---- what comes out, as text ---- */

struct log {
	struct tap_buf text;
	uint64_t end_ns;
};

static int log_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct log *l = ctx;

	(void)t;
	assert_true(s->from_ns <= s->to_ns);
	assert_true(s->to_ns <= l->end_ns);
	if (s->whole && (s->state == TAP_STATE_WAKING || s->state == TAP_STATE_PREEMPTED))
		tap_buf_printf(&l->text, "%d %s %d-%d on %d | ", s->task->tid,
			       tap_state_name(s->state), (int)s->from_ns, (int)s->to_ns, s->cpu);
	return 0;
}

static int log_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	static const char *const why[] = { "wakeup", "balance", "other" };
	struct log *l = ctx;

	(void)t;
	tap_buf_printf(&l->text, "moved %d %s %d>%d | ", m->task->tid, why[m->why], m->from, m->to);
	return 0;
}

static const struct tap_watcher_ops log_ops = {
	.states = TAP_STATE_ALL,
	.interval = log_interval,
	.migration = log_migration,
};

static void put(struct tap_buf *b, const char *name, uint64_t v)
{
	if (v)
		tap_buf_printf(b, " %s %d", name, (int)v);
}

static void put_cpus(struct tap_buf *b, const struct tap_timeline *t)
{
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		tap_buf_printf(b, "%s%u:", i ? " | " : "", i);
		put(b, "run", cpus[i].run_ns);
		put(b, "idle", cpus[i].idle_ns);
		put(b, "offline", cpus[i].offline_ns);
		put(b, "unknown", cpus[i].unknown_ns);
		put(b, "switches", cpus[i].switches);
		put(b, "breaks", cpus[i].breaks);
		put(b, "lost", cpus[i].lost);
	}
}

static void check_cpus(const struct tap_timeline *t, const struct timeline_case *c)
{
	struct tap_buf b = { 0 };

	put_cpus(&b, t);
	assert_string_equal(tap_buf_str(&b), c->cpus);
	tap_buf_release(&b);
}

static void put_task(struct tap_buf *b, const struct tap_timeline *t, const struct tap_task *task)
{
	static const enum tap_state order[] = { TAP_STATE_RUNNING, TAP_STATE_PREEMPTED,
						TAP_STATE_WAKING,  TAP_STATE_SLEEPING,
						TAP_STATE_BLOCKED, TAP_STATE_STOPPED,
						TAP_STATE_UNKNOWN };
	uint64_t life = tap_task_life_ns(t, task), sum = 0;
	struct tap_window window = tap_timeline_window(t);

	tap_buf_printf(b, "%d:", task->tid);
	for (unsigned int i = 0; i < sizeof(order) / sizeof(*order); i++) {
		sum += task->total_ns[order[i]];
		put(b, tap_state_name(order[i]), task->total_ns[order[i]]);
	}
	put(b, "iowait", task->iowait_ns);
	put(b, "slices", task->slices);
	put(b, "migrations", task->migrations);
	if (task->prio != 120 && task->prio != TAP_PRIO_UNKNOWN)
		put(b, "prio", (uint64_t)task->prio);
	put(b, "tgid", (uint64_t)task->tgid);
	put(b, "tgid_of", task->tgid_of ? (uint64_t)task->tgid_of->tid : 0);
	if (life != tap_window_ns(&window))
		put(b, "life", life);
	assert_int_equal(sum, life);
	assert_int_equal(task->total_ns[TAP_STATE_DEAD], 0);
}

static void put_tasks(struct tap_buf *b, const struct tap_timeline *t)
{
	struct tap_task *const *tasks;
	unsigned int nr;

	tasks = tap_timeline_tasks(t, &nr);
	for (unsigned int i = 0, shown = 0; i < nr; i++) {
		if (!tap_task_life_ns(t, tasks[i]) && tasks[i]->state == TAP_STATE_DEAD)
			continue;
		tap_buf_puts(b, shown++ ? " | " : "");
		put_task(b, t, tasks[i]);
		assert_int_equal(tasks[i]->index, i);
	}
}

static void check_tasks(const struct tap_timeline *t, const struct timeline_case *c)
{
	struct tap_buf b = { 0 };

	put_tasks(&b, t);
	assert_string_equal(tap_buf_str(&b), c->tasks);
	tap_buf_release(&b);
}

static int survey_event(struct tap_survey *s, const struct tap_event *ev)
{
	if (ev->ts_ns <= s->window.to_ns)
		return tap_survey_event(s, ev);
	return tap_survey_beyond(s, ev) < 0 ? -1 : 0;
}

/* Survey the events in the order of a reader that does not merge: CPU after CPU. */
static void survey(struct tap_survey *s, const struct steps *steps, const struct timeline_case *c)
{
	assert_int_equal(tap_survey_init(s, c->window), 0);
	s->on_from_ns = c->is_on ? c->window.from_ns : UINT64_MAX;
	for (int cpu = -1; cpu < 8; cpu++)
		for (unsigned int buffer = 0; buffer < 2; buffer++)
			for (unsigned int i = 0; i < steps->nr; i++)
				if (steps->ev[i].cpu == cpu && steps->ev[i].buffer == buffer)
					assert_int_equal(survey_event(s, &steps->ev[i]), 0);
	for (unsigned int i = 0; i < steps->nr; i++)
		if (steps->ev[i].fmt)
			tap_survey_note(s, steps->ev[i].fmt);
	assert_int_equal(tap_survey_end(s), 0);
}

static void check_case(const struct timeline_case *c)
{
	struct log log = { .end_ns = c->window.to_ns };
	const struct tap_watcher watcher = { .ops = &log_ops, .ctx = &log };
	struct tap_timeline_opts opts = { .window = c->window,
					  .watchers = &watcher,
					  .nr_watchers = 1 };
	struct tap_timeline *t;
	struct tap_survey s;
	struct steps steps;

	steps_parse(&steps, c->steps);
	survey(&s, &steps, c);
	opts.survey = &s;
	assert_int_equal(tap_timeline_new(&opts, &t), 0);
	assert_int_equal(tap_timeline_begin(t), 0);
	for (unsigned int i = 0; i < steps.nr && steps.ev[i].ts_ns <= s.window.to_ns; i++)
		assert_int_equal(tap_timeline_event(t, &steps.ev[i]), 0);
	assert_int_equal(tap_timeline_end(t), 0);
	check_cpus(t, c);
	check_tasks(t, c);
	assert_string_equal(tap_buf_str(&log.text), c->waits ? c->waits : "");
	tap_buf_release(&log.text);
	tap_timeline_free(t);
	tap_survey_release(&s);
	steps_release();
}

/* Append everything that a timeline reports without a survey of the losses. */
static void put_unsurveyed(struct tap_buf *b, const struct timeline_case *c)
{
	struct log log = { .end_ns = c->window.to_ns };
	const struct tap_watcher watcher = { .ops = &log_ops, .ctx = &log };
	struct tap_timeline_opts opts = { .window = c->window,
					  .watchers = &watcher,
					  .nr_watchers = 1 };
	struct tap_timeline *t;
	struct steps steps;

	steps_parse(&steps, c->steps);
	assert_int_equal(tap_timeline_new(&opts, &t), 0);
	for (unsigned int i = 0; i < steps.nr && steps.ev[i].ts_ns <= c->window.to_ns; i++)
		assert_int_equal(tap_timeline_event(t, &steps.ev[i]), 0);
	assert_int_equal(tap_timeline_end(t), 0);
	tap_buf_puts(b, tap_buf_str(&log.text));
	put_cpus(b, t);
	put_tasks(b, t);
	tap_buf_release(&log.text);
	tap_timeline_free(t);
	steps_release();
}

/* By the fast path or without it (steps_odd): one thing comes out. */
static void test_case(void **state)
{
	struct tap_buf unsurveyed[2] = { 0 };

	for (int odd = 0; odd < 2; odd++) {
		steps_odd = odd;
		check_case(*state);
		put_unsurveyed(&unsurveyed[odd], *state);
	}
	assert_string_equal(tap_buf_str(&unsurveyed[0]), tap_buf_str(&unsurveyed[1]));
	for (int odd = 0; odd < 2; odd++)
		tap_buf_release(&unsurveyed[odd]);
}

static void note_forgotten(void *text, const struct tap_task *task)
{
	tap_buf_printf(text, " %d/%u", task->tid, task->index);
}

/* Task 1 is born and dies, again and again; 2 lives, and is of the process of a dead one. */
static void test_forget(void **state)
{
	struct tap_timeline_opts opts = { .window = TAP_WINDOW_ALL, .forgets = true };
	struct tap_buf forgotten = { 0 };
	struct tap_timeline *t;
	struct steps steps;
	unsigned int nr;

	(void)state;
	assert_int_equal(tap_timeline_new(&opts, &t), 0);
	steps_parse(&steps, "10 0 newtask 7 1; 11 0 new 1 by 7; 20 0 switch 7 S 1; 21 0 newtask 1 "
			    "2 thread;22 0 new 2 by 1; 30 0 switch 1 X 2");
	for (unsigned int i = 0; i < steps.nr; i++)
		assert_int_equal(tap_timeline_event(t, &steps.ev[i]), 0);
	tap_timeline_forget(t, 30, note_forgotten, &forgotten);
	assert_string_equal(tap_buf_str(&forgotten), "");
	tap_timeline_forget(t, 31, note_forgotten, &forgotten);
	tap_timeline_forget(t, 32, note_forgotten, &forgotten);
	assert_string_equal(tap_buf_str(&forgotten), " 1/1");
	assert_null(tap_timeline_task(t, 1));
	assert_int_equal(tap_task_tgid(tap_timeline_task(t, 2)), 1);
	steps_parse(&steps, "40 0 newtask 2 3; 41 0 new 3 by 2; 50 0 switch 2 S 3");
	for (unsigned int i = 0; i < steps.nr; i++)
		assert_int_equal(tap_timeline_event(t, &steps.ev[i]), 0);
	assert_int_equal(tap_timeline_task(t, 3)->index, 1);
	assert_int_equal(tap_timeline_task(t, 3)->state, TAP_STATE_RUNNING);
	tap_timeline_tasks(t, &nr);
	assert_int_equal(nr, 3);
	tap_buf_release(&forgotten);
	tap_timeline_free(t);
	steps_release();
}

/* If there are more losses than the survey keeps, it merges neighbours. The merged loss has the sum
 * of both counts, or count 0 (unknown) if one is unknown. */
static void test_many_losses(void **state)
{
	struct tap_event ev = { .cpu = 0 }, *event = &ev;
	struct tap_survey s;

	(void)state;
	assert_int_equal(tap_survey_init(&s, TAP_WINDOW_ALL), 0);
	for (unsigned int i = 0; i <= TAP_MAX_HOLES; i++) {
		ev.lost.first_ns = 10 * (i + 1);
		ev.lost.last_ns = ev.ts_ns = ev.lost.first_ns + 5;
		ev.lost.count = i == 1 ? 0 : 3;
		assert_int_equal(tap_survey_events(&s, (const struct tap_event *const *)&event, 1),
				 0);
	}
	assert_int_equal(s.nr_kept_losses, TAP_MAX_HOLES / 2 + 1);
	assert_int_equal(s.nr_losses, TAP_MAX_HOLES + 1);
	assert_int_equal(s.losses[0].to_ns, 25);
	assert_int_equal(s.losses[0].count, 0);
	assert_int_equal(s.losses[1].from_ns, 30);
	assert_int_equal(s.losses[1].to_ns, 45);
	assert_int_equal(s.losses[1].count, 6);
	tap_survey_release(&s);
}

static int note_waker(void *text, const struct tap_timeline *t, const struct tap_wakeup *w)
{
	(void)t;
	tap_buf_printf(text, " %d by %d%s", w->task->tid, w->waker_tid,
		       w->in_interrupt ? " interrupted" : "");
	return 0;
}

/* What their flags say of wakings: nothing, hard interrupts, softirqs, NMIs, and what is none of
 * these. */
static void test_wakers(void **state)
{
	static const int flags[] = { 0, 0x08, 0x10, 0x40, 0xa7 };
	const struct tap_watcher_ops wakers = { .wakeup = note_waker };
	struct tap_buf text = { 0 };
	const struct tap_watcher watcher = { .ops = &wakers, .ctx = &text };
	struct tap_timeline_opts opts = { .window = TAP_WINDOW_ALL,
					  .watchers = &watcher,
					  .nr_watchers = 1 };
	struct tap_timeline *t;
	struct steps steps;

	(void)state;
	assert_int_equal(tap_timeline_new(&opts, &t), 0);
	steps_parse(&steps, "10 0 waking 1 by 7; 20 0 waking 2 by 7; 30 0 waking 3 by 7; 40 0 "
			    "waking 4 by 0; 50 0 waking 5 by 7");
	for (unsigned int i = 0; i < steps.nr; i++) {
		steps_put(&steps.ev[i], "common_flags", flags[i]);
		assert_int_equal(tap_timeline_event(t, &steps.ev[i]), 0);
	}
	assert_string_equal(
		tap_buf_str(&text),
		" 1 by 7 2 by 7 interrupted 3 by 7 interrupted 4 by 0 interrupted 5 by 7");
	tap_timeline_free(t);
	tap_buf_clear(&text);
	assert_int_equal(tap_timeline_new(&opts, &t), 0);
	/* 1: or by an interrupt there, whoever ran */
	steps_parse(&steps, "10 0 wakeup 1 by 7 to 0; 20 0 wakeup 2 by 7 to 1");
	for (unsigned int i = 0; i < steps.nr; i++)
		assert_int_equal(tap_timeline_event(t, &steps.ev[i]), 0);
	assert_string_equal(tap_buf_str(&text), " 1 by -1 2 by 7");
	tap_timeline_free(t);
	tap_buf_release(&text);
	steps_release();
}

int main(void)
{
	const size_t nr = sizeof(cases) / sizeof(*cases);
	struct CMUnitTest tests[sizeof(cases) / sizeof(*cases) + 3];

	tests[nr + 2] = (struct CMUnitTest)cmocka_unit_test(test_wakers);
	tests[nr + 1] = (struct CMUnitTest)cmocka_unit_test(test_forget);
	tests[nr] = (struct CMUnitTest)cmocka_unit_test(test_many_losses);
	for (size_t i = 0; i < nr; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name,
						.test_func = test_case,
						.initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("timeline", tests, sizeof(tests) / sizeof(*tests), NULL,
				       NULL);
}
