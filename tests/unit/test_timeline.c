// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steps.h"
#include "timeline/timeline.h"

struct timeline_case {
	const char *name;
	uint64_t start_ns, end_ns; /* of the window; 0: from the first event, to the last */
	const char *steps;
	const char *cpus;  /* "CPU: what NS ...", one behind the other; zeros are left out */
	const char *tasks; /* "TID: state NS ...", in order of appearance */
	const char *waits; /* whole ones: "TID waking FROM-TO on CPU"; and "moved TID why" */
};

static const struct timeline_case cases[] = {
	{
		.name = "slices between switches belong to the task switched in",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 130 0 switch 1 R 2; 150 0 switch 2 S 1; 200 0 switch 1 S 2",
		.cpus = "0: run 100 switches 4",
		.tasks = "9: sleeping 100 | 1: running 80 preempted 20 slices 2 | "
			 "2: running 20 unknown 80 slices 1",
		.waits = "1 preempted 130-150 on 0 | ",
	},
	{
		.name = "before the first switch the time is unknown, after the last it is charged",
		.start_ns = 100, .end_ns = 200,
		.steps = "140 0 switch 9 S 1",
		.cpus = "0: run 60 unknown 40 switches 1",
		.tasks = "9: sleeping 60 unknown 40 | 1: running 60 unknown 40",
	},
	{
		.name = "idle is no task",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 S 0; 150 0 waking 1 by 0; 160 0 switch 0 R 1; 170 0 switch 1 S 0",
		.cpus = "0: run 10 idle 90 switches 3",
		.tasks = "1: running 10 waking 10 sleeping 80 slices 1",
		.waits = "1 waking 150-160 on 0 | ",
	},
	{
		.name = "a broken chain belongs to nobody",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 130 0 switch 5 S 2; 150 0 switch 2 S 0",
		.cpus = "0: run 20 idle 50 unknown 30 switches 3 breaks 1",
		/* 1 left unseen, and 9 may have run in between */
		.tasks = "9: unknown 100 | 1: unknown 100 | 5: unknown 100 | "
			 "2: running 20 unknown 80 slices 1",
	},
	{
		.name = "a hole ends what is certain about those who wait, not about those who run",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 100 1 switch 8 S 2; 110 1 waking 3 by 2; "
			 "120 0 switch 1 S 4; 140 0 switch 5 S 6; 150 1 switch 2 R+ 3; "
			 "160 0 switch 6 S 0; 180 1 switch 3 S 2; 190 1 switch 2 S 0",
		/* the hole is 120 to 140: 3 may have run on CPU 0 and have been woken again. Nothing
		 * was told of it: so what still lasts at the end is nowhere certain */
		.cpus = "0: run 40 idle 40 unknown 20 switches 4 breaks 1 | 1: run 90 idle 10 switches 4",
		.tasks = "9: unknown 100 | 1: running 20 unknown 80 slices 1 | "
			 "8: unknown 100 | 2: running 60 preempted 30 unknown 10 slices 2 | "
			 "3: running 30 waking 10 unknown 60 slices 1 | 4: unknown 100 | "
			 "5: unknown 100 | 6: running 20 unknown 80 slices 1",
		.waits = "2 preempted 150-180 on 1 | ",
	},
	{
		.name = "a loss on one CPU leaves what runs on the others alone",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 100 1 switch 8 S 2; 150 0 lost 120 7; "
			 "160 0 switch 1 S 0; 170 1 switch 2 S 0",
		.cpus = "0: run 20 idle 40 unknown 40 switches 2 lost 7 | 1: run 70 idle 30 switches 2",
		.tasks = "9: sleeping 20 unknown 80 | 1: running 20 unknown 80 | "
			 "8: sleeping 20 unknown 80 | 2: running 70 unknown 30 slices 1",
	},
	{
		.name = "after a loss a switch is no broken chain",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 150 0 lost 120 0; 160 0 switch 5 S 0",
		.cpus = "0: run 20 idle 40 unknown 40 switches 2",
		.tasks = "9: sleeping 20 unknown 80 | 1: running 20 unknown 80 | 5: unknown 100",
	},
	{
		.name = "what goes to sleep long after a hole certainly sleeps",
		.start_ns = 100, .end_ns = 60000,
		.steps = "100 0 switch 9 S 1; 150 0 lost 120 0; 160 0 switch 1 S 5; 20000 0 switch 5 S 0; "
			 "50000 0 waking 5 by 0; 50100 0 switch 0 R 5",
		.cpus = "0: run 29760 idle 30100 unknown 40 switches 4",
		.tasks = "9: sleeping 20 unknown 59880 | 1: running 20 unknown 59880 | "
			 "5: running 29740 waking 100 sleeping 30000 unknown 60 slices 1",
		.waits = "5 waking 50000-50100 on 0 | ",
	},
	{
		.name = "a loss of a single event is a hole as well",
		.start_ns = 1000, .end_ns = 13000,
		.steps = "1000 0 switch 9 S 1; 2000 0 switch 1 R+ 2; 5000 0 lost 5000 1; "
			 "9000 0 switch 1 R+ 2; 12000 0 switch 2 S 1",
		.cpus = "0: run 8000 unknown 4000 switches 4 lost 1",
		.tasks = "9: sleeping 4000 unknown 8000 | 1: running 2000 preempted 3000 unknown 7000 slices 1 | "
			 "2: running 6000 unknown 6000 slices 1",
		.waits = "1 preempted 9000-12000 on 0 | ",
	},
	{
		.name = "asleep or woken on its way: a hole leaves that open",
		.start_ns = 1000, .end_ns = 40000,
		.steps = "1000 0 switch 0 R 1; 1500 1 switch 0 R 2; 5000 1 waking 1 by 2 to 0; "
			 "6000 0 switch 1 S 0; 20000 0 lost 9000 5; 30000 0 switch 0 R 1",
		.cpus = "0: run 15000 idle 3000 unknown 21000 switches 3 lost 5 | 1: run 38500 unknown 500 switches 1",
		.tasks = "1: running 15000 unknown 24000 slices 1 | 2: running 38500 unknown 500",
	},
	{
		.name = "a waking behind a hole may be of a task that was preempted in it",
		.start_ns = 1000, .end_ns = 20000,
		.steps = "1000 0 switch 0 R 1; 2000 0 lost 1500 5; 3000 1 waking 1 by 0 to 0; 9000 0 switch 7 S 1",
		.cpus = "0: run 11500 unknown 7500 switches 2 lost 5 | 1: unknown 19000",
		.tasks = "1: running 11500 unknown 7500 | 7: unknown 19000",
	},
	{
		.name = "tasks that are hidden break chains, but leave others what they are",
		.start_ns = 100, .end_ns = 400,
		.steps = "100 0 switch 1 R 66; 100 1 switch 3 S 4; 110 0 switch 1 R 66; 120 0 switch 1 R 66; 130 0 switch 1 R 66; "
			 "140 0 switch 1 R 66; 150 0 switch 1 R 66; 160 0 switch 1 R 66; 170 0 switch 1 R 66; "
			 "180 0 switch 1 S 2; 250 1 waking 3 by 4; 260 1 switch 4 S 3; "
			 "300 0 switch 2 S 66",
		.cpus = "0: run 120 unknown 180 switches 10 breaks 8 | 1: run 300 switches 2",
		/* 3 slept all along; at the end nobody knows whether 66 has woken someone */
		.tasks = "1: unknown 300 | 66: unknown 300 | 3: running 140 waking 10 sleeping 150 | "
			 "4: running 160 unknown 140 slices 1 | 2: running 120 unknown 180 slices 1",
		.waits = "3 waking 250-260 on 1 | ",
	},
	{
		.name = "a loss that has no CPU is one of all of them",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 100 1 switch 8 S 2; 160 -1 lost 150 7",
		.cpus = "0: run 50 unknown 50 switches 1 | 1: run 50 unknown 50 switches 1",
		.tasks = "9: sleeping 50 unknown 50 | 1: running 50 unknown 50 | "
			 "8: sleeping 50 unknown 50 | 2: running 50 unknown 50",
	},
	{
		.name = "a loss in a buffer without scheduler events says nothing about tasks",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 150 0 lost 120 7 @1",
		.cpus = "0: run 100 switches 1 lost 7",
		.tasks = "9: sleeping 100 | 1: running 100",
	},
	{
		.name = "overwritten: what is before a first loss is unknown",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 1 switch 8 S 2; 150 0 lost 150 0; 150 0 switch 1 S 0; 180 1 waking 8 by 2",
		.cpus = "0: idle 50 unknown 50 switches 1 | 1: run 100 switches 1",
		.tasks = "8: unknown 100 | 2: running 100 | 1: unknown 100",
	},
	{
		.name = "a wakeup before the first switch seen is a wait like others",
		.start_ns = 100, .end_ns = 200,
		.steps = "120 0 waking 1 by 9; 140 0 switch 9 S 1",
		.cpus = "0: run 60 unknown 40 switches 1",
		.tasks = "1: running 60 waking 20 unknown 20 | 9: sleeping 60 unknown 40",
		.waits = "1 waking 120-140 on 0 | ",
	},
	{
		.name = "a switch-in of a sleeper means that its wakeup was missed",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 S 2; 150 0 switch 2 S 1",
		.cpus = "0: run 100 switches 2",
		.tasks = "1: running 50 unknown 50 | 2: running 50 sleeping 50 slices 1",
	},
	{
		.name = "R and R+ are both preempted; D is blocked, T and t and P stopped, I asleep",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 R 2; 110 0 switch 2 R+ 3; 120 0 switch 3 D 4; "
			 "130 0 switch 4 T 5; 140 0 switch 5 t 6; 150 0 switch 6 P 7; 160 0 switch 7 I 8",
		.cpus = "0: run 100 switches 7",
		.tasks = "1: preempted 100 | 2: running 10 preempted 90 slices 1 | "
			 "3: running 10 blocked 80 unknown 10 slices 1 | "
			 "4: running 10 stopped 70 unknown 20 slices 1 | "
			 "5: running 10 stopped 60 unknown 30 slices 1 | "
			 "6: running 10 stopped 50 unknown 40 slices 1 | "
			 "7: running 10 sleeping 40 unknown 50 slices 1 | 8: running 40 unknown 60",
	},
	{
		.name = "exit ends a life, and the tid that is given out again begins another",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 120 0 exit 1; 130 0 switch 1 X 9; 150 0 fork 9 1; "
			 "155 0 new 1 by 9; 170 0 switch 9 R 1",
		.cpus = "0: run 100 switches 3",
		.tasks = "9: running 40 preempted 30 unknown 30 slices 1 | 1: running 30 slices 1 life 30 | "
			 "1: running 30 waking 15 life 45",
		.waits = "1 waking 155-170 on 0 | ",
	},
	{
		.name = "a tid that was given out again unseen does not inherit its past",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 120 0 switch 1 S 0; 150 0 new 1 by 0",
		.cpus = "0: run 20 idle 80 switches 2",
		.tasks = "9: sleeping 100 | 1: running 20 unknown 30 slices 1 life 50 | "
			 "1: waking 50 life 50",
	},
	{
		.name = "fork alone: the child waits for nobody knows how long",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 120 0 fork 1 2; 150 0 switch 1 R 2",
		.cpus = "0: run 100 switches 2",
		.tasks = "9: sleeping 100 | 1: running 50 preempted 50 slices 1 | 2: running 50 unknown 30 "
			 "life 80",
	},
	{
		.name = "a thread that executes a program takes over the leader's tid",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 2; 130 0 exec 1 2; 160 0 switch 1 S 0",
		.cpus = "0: run 60 idle 40 switches 2",
		.tasks = "9: sleeping 100 | 2: running 30 life 30 | 1: unknown 30 life 30 | "
			 "1: running 30 sleeping 40 slices 1 life 70",
	},
	{
		.name = "the waking comes first, the wakeup confirms it",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 S 0; 120 1 waking 1 by 7 to 0; 125 0 wakeup 1 by 0 to 0; "
			 "130 0 switch 0 R 1",
		.cpus = "0: run 70 idle 30 switches 2 | 1: unknown 100",
		.tasks = "1: running 70 waking 10 sleeping 20",
		.waits = "1 waking 120-130 on 0 | ",
	},
	{
		.name = "where only wakeups are recorded they begin the wait",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 S 0; 125 0 wakeup 1 by 0 to 0; 130 0 switch 0 R 1",
		.cpus = "0: run 70 idle 30 switches 2",
		.tasks = "1: running 70 waking 5 sleeping 25",
		.waits = "1 waking 125-130 on 0 | ",
	},
	{
		.name = "a wakeup whose waking was missed begins at a time that nobody knows",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 S 0; 125 0 wakeup 1 by 0 to 0; 130 0 switch 0 R 1; 140 0 waking 2 by 1",
		.cpus = "0: run 70 idle 30 switches 2",
		.tasks = "1: running 70 unknown 30 | 2: waking 60 unknown 40",
	},
	{
		.name = "a waking just before the task is off its CPU lets it wait from then on",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 150 0 switch 1 S 0; 170 0 switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: unknown 100",
		.tasks = "9: sleeping 100 | 1: running 80 waking 20 slices 1",
		.waits = "1 waking 150-170 on 0 | ",
	},
	{
		.name = "... but not if a wakeup says that it was over while the task ran",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 149 1 wakeup 1 by 7 to 0; "
			 "150 0 switch 1 S 0; 170 0 switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: unknown 100",
		.tasks = "9: sleeping 100 | 1: running 80 unknown 20 slices 1",
	},
	{
		.name = "... nor if it was long before",
		.start_ns = 100, .end_ns = 50000,
		.steps = "100 0 switch 9 S 1; 200 1 waking 1 by 7 to 0; 20200 0 switch 1 S 0; 30200 0 switch 0 R 1",
		.cpus = "0: run 39900 idle 10000 switches 3 | 1: unknown 49900",
		.tasks = "9: sleeping 49900 | 1: running 39900 unknown 10000 slices 1",
	},
	{
		.name = "... and a second waking shows that the first was over",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 148 1 waking 1 by 7 to 0; 150 0 switch 1 S 0; "
			 "160 1 waking 1 by 7 to 0; 170 0 switch 0 R 1",
		.cpus = "0: run 80 idle 20 switches 3 | 1: unknown 100",
		.tasks = "9: sleeping 100 | 1: running 80 waking 10 sleeping 10 slices 1",
		.waits = "1 waking 160-170 on 0 | ",
	},
	{
		.name = "two wakings without a switch between: it ran meanwhile, unseen",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 S 0; 120 1 waking 1 by 7 to 0; 150 1 waking 1 by 7 to 0; "
			 "160 0 switch 0 R 1",
		.cpus = "0: run 40 idle 60 switches 2 | 1: unknown 100",
		.tasks = "1: running 40 unknown 60",
	},
	{
		.name = "a waking of a preempted task changes nothing",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 R+ 2; 120 0 waking 1 by 2; 150 0 switch 2 S 1",
		.cpus = "0: run 100 switches 2",
		.tasks = "1: running 50 preempted 50 | 2: running 50 sleeping 50 slices 1",
		.waits = "1 preempted 100-150 on 0 | ",
	},
	{
		.name = "a waking and a switch-in at the same time on two CPUs: unknown, not wrong",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 S 0; 150 0 switch 0 R 1; 150 1 waking 1 by 7 to 0; "
			 "150 0 switch 1 S 0; 180 0 switch 0 R 1",
		.cpus = "0: run 20 idle 80 switches 4 | 1: unknown 100",
		.tasks = "1: running 20 unknown 80 slices 1",
	},
	{
		.name = "moved by its wakeup, pulled while it waits, pushed by the stopper",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 S 0; 100 1 switch 9 S 7; 110 1 waking 1 by 7 to 0; "
			 "111 1 migrate 1 0 1 by 7; 130 0 migrate 1 1 0 by 0; 140 0 switch 0 R 1; "
			 "150 0 switch 1 R+ 2; 160 1 migrate 1 0 1 by 7; 170 1 switch 7 R 1",
		.cpus = "0: run 60 idle 40 switches 3 | 1: run 100 switches 2",
		.tasks = "1: running 40 preempted 20 waking 30 sleeping 10 slices 1 migrations 3 | "
			 "9: sleeping 100 | 7: running 70 preempted 30 slices 1 | 2: running 50 unknown 50",
		.waits = "moved 1 wakeup 0>1 | moved 1 balance 1>0 | 1 waking 110-140 on 0 | "
			 "moved 1 balance 0>1 | 1 preempted 150-170 on 1 | ",
	},
	{
		.name = "the first and the last slice of the window are cut, and no whole waits",
		.start_ns = 100, .end_ns = 200,
		.steps = "50 0 switch 9 S 1; 90 0 waking 2 by 1; 150 0 switch 1 S 2; 160 0 waking 1 by 2",
		.cpus = "0: run 100 switches 1",
		.tasks = "9: sleeping 100 | 1: running 50 waking 40 sleeping 10 slices 1 | "
			 "2: running 50 waking 50",
		.waits = "2 waking 90-150 on 0 | ",
	},
	{
		.name = "a CPU that was never seen is unknown",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 2 switch 9 S 0",
		.cpus = "0: unknown 100 | 1: unknown 100 | 2: idle 100 switches 1",
		.tasks = "9: sleeping 100",
	},
	{
		.name = "a CPU that goes away runs its idle task until it comes back",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 5 S 3; 120 0 switch 3 P 0; 180 0 switch 0 R 5",
		.cpus = "0: run 40 idle 60 switches 3",
		.tasks = "5: running 20 unknown 80 | 3: running 20 stopped 80 slices 1",
	},
	{
		.name = "of an event in two buffers one counts",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 100 0 switch 9 S 1 @1; 150 0 switch 1 S 0; 150 0 switch 1 S 0 @1",
		.cpus = "0: run 50 idle 50 switches 2",
		.tasks = "9: sleeping 100 | 1: running 50 sleeping 50 slices 1",
	},
	{
		.name = "time that goes back on a CPU is no time",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 150 0 switch 1 S 2; 140 0 switch 2 S 0",
		.cpus = "0: run 50 idle 50 switches 3",
		.tasks = "9: sleeping 100 | 1: running 50 sleeping 50 slices 1 | 2: sleeping 50 unknown 50 slices 1",
	},
	{
		.name = "iowait is part of blocked",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 1 D 0; 150 0 waking 1 by 0; 150 0 stat 1 45; 160 0 switch 0 R 1",
		.cpus = "0: run 40 idle 60 switches 2",
		.tasks = "1: running 40 waking 10 blocked 50 iowait 45",
		.waits = "1 waking 150-160 on 0 | ",
	},
	{
		.name = "a loss behind the window is none of its own",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S 1; 120 1 switch 8 S 2; 260 0 lost 250 3",
		.cpus = "0: run 100 switches 1 | 1: run 80 unknown 20 switches 1",
		.tasks = "9: sleeping 100 | 1: running 100 | 8: sleeping 80 unknown 20 | 2: running 80 unknown 20",
	},
	{
		.name = "without a window it goes from the first event to the last",
		.steps = "100 0 switch 9 S 1; 150 0 switch 1 S 0",
		.cpus = "0: run 50 switches 2",
		.tasks = "9: sleeping 50 | 1: running 50 slices 1",
	},
	{
		.name = "a tid that can be no task's breaks the chain",
		.start_ns = 100, .end_ns = 200,
		.steps = "100 0 switch 9 S -5; 150 0 switch 8 S 0",
		.cpus = "0: idle 50 unknown 50 switches 2 breaks 1",
		.tasks = "9: unknown 100 | 8: unknown 100",
	},
};

/* ---- what comes out, as text ---- */

struct log {
	struct tap_buf text;
	uint64_t end_ns; /* 0: not known beforehand */
};

static int log_stretch(void *ctx, const struct tap_stretch *s)
{
	struct log *l = ctx;

	assert_true(s->from_ns <= s->to_ns);
	assert_true(!l->end_ns || s->to_ns <= l->end_ns);
	if (s->whole && (s->state == TAP_WAKING || s->state == TAP_PREEMPTED))
		tap_buf_printf(&l->text, "%d %s %d-%d on %d | ", s->task->tid,
			       tap_state_name(s->state), (int)s->from_ns, (int)s->to_ns, s->cpu);
	return 0;
}

static int log_migration(void *ctx, const struct tap_migration *m)
{
	static const char *const why[] = { "wakeup", "balance", "other" };
	struct log *l = ctx;

	tap_buf_printf(&l->text, "moved %d %s %d>%d | ", m->task->tid, why[m->why], m->from, m->to);
	return 0;
}

static const struct tap_observer observer = {
	.states = TAP_STATE_ALL,
	.stretch = log_stretch,
	.migration = log_migration,
};

static void put(struct tap_buf *b, const char *name, uint64_t v)
{
	if (v)
		tap_buf_printf(b, " %s %d", name, (int)v);
}

static void check_cpus(const struct tap_timeline *t, const struct timeline_case *c)
{
	struct tap_buf b = { 0 };
	unsigned int nr;
	const struct tap_cpu *cpus = tap_timeline_cpus(t, &nr);

	for (unsigned int i = 0; i < nr; i++) {
		tap_buf_printf(&b, "%s%u:", i ? " | " : "", i);
		put(&b, "run", cpus[i].run_ns);
		put(&b, "idle", cpus[i].idle_ns);
		put(&b, "unknown", cpus[i].unknown_ns);
		put(&b, "switches", cpus[i].switches);
		put(&b, "breaks", cpus[i].breaks);
		put(&b, "lost", cpus[i].lost);
	}
	assert_string_equal(tap_buf_str(&b), c->cpus);
	tap_buf_release(&b);
}

static void put_task(struct tap_buf *b, const struct tap_timeline *t, const struct tap_task *task)
{
	static const enum tap_state order[] = { TAP_RUNNING, TAP_PREEMPTED, TAP_WAKING,
						TAP_SLEEPING, TAP_BLOCKED, TAP_STOPPED,
						TAP_UNKNOWN };
	uint64_t life = tap_task_life_ns(t, task), sum = 0, start, end;

	tap_timeline_span(t, &start, &end);
	tap_buf_printf(b, "%d:", task->tid);
	for (unsigned int i = 0; i < sizeof(order) / sizeof(*order); i++) {
		sum += task->total_ns[order[i]];
		put(b, tap_state_name(order[i]), task->total_ns[order[i]]);
	}
	put(b, "iowait", task->iowait_ns);
	put(b, "slices", task->slices);
	put(b, "migrations", task->migrations);
	if (life != end - start)
		put(b, "life", life);
	assert_int_equal(sum, life);
	assert_int_equal(task->total_ns[TAP_DEAD], 0);
}

static void check_tasks(const struct tap_timeline *t, const struct timeline_case *c)
{
	struct tap_task *const *tasks;
	struct tap_buf b = { 0 };
	unsigned int nr;

	tasks = tap_timeline_tasks(t, &nr);
	for (unsigned int i = 0, shown = 0; i < nr; i++) {
		if (!tap_task_life_ns(t, tasks[i]) && tasks[i]->state == TAP_DEAD)
			continue;
		tap_buf_puts(&b, shown++ ? " | " : "");
		put_task(&b, t, tasks[i]);
		assert_int_equal(tasks[i]->index, i);
	}
	assert_string_equal(tap_buf_str(&b), c->tasks);
	tap_buf_release(&b);
}

/* As a reader hands it out that does not merge: CPU after CPU. */
static void survey(struct tap_survey *s, const struct steps *steps, const struct timeline_case *c)
{
	assert_int_equal(tap_survey_init(s, c->start_ns, c->end_ns ? c->end_ns : UINT64_MAX), 0);
	for (int cpu = -1; cpu < 8; cpu++)
		for (unsigned int buffer = 0; buffer < 2; buffer++)
			for (unsigned int i = 0; i < steps->nr; i++)
				if (steps->ev[i].cpu == cpu && steps->ev[i].buffer == buffer)
					assert_int_equal(tap_survey_event(s, &steps->ev[i]), 0);
	for (unsigned int i = 0; i < steps->nr; i++)
		if (steps->ev[i].fmt)
			tap_survey_note(s, steps->ev[i].fmt);
	assert_int_equal(tap_survey_end(s), 0);
}

static void test_case(void **state)
{
	const struct timeline_case *c = *state;
	struct tap_timeline_opts opts = { .start_ns = c->start_ns, .end_ns = c->end_ns,
					  .observer = &observer };
	struct log log = { .end_ns = c->end_ns };
	struct tap_timeline *t;
	struct tap_survey s;
	struct steps steps;

	steps_parse(&steps, c->steps);
	survey(&s, &steps, c);
	opts.survey = &s;
	opts.ctx = &log;
	assert_int_equal(tap_timeline_new(&opts, &t), 0);
	for (unsigned int i = 0; i < steps.nr; i++)
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

int main(void)
{
	struct CMUnitTest tests[sizeof(cases) / sizeof(*cases)];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name, .test_func = test_case,
						.initial_state = (void *)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("timeline", tests, sizeof(cases) / sizeof(*cases), NULL, NULL);
}
