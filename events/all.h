/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every family of events, in the order in which they are numbered. Each header is read several
 * times, once per stage of a reading; a family's file name is its group (`record -e GROUP`).
 */
/* Before sched_switch, beside which they stand. Who is throttled when it is switched out is known by then. */
#include "throttle.h"
/* The same of whom it picked: by its numbers one knows for what it waited until this switch. */
#include "pick.h"
/* The kernel's own events, recorded beside ours so that one order holds. */
#include "sched.h"
#include "task.h"
#include "idle.h"
#include "freq.h"
#include "irq.h"
#include "cpuhp.h"
#include "sched_ext.h"
/* The scheduler's bare tracepoints, for which the kernel defines no events. */
#include "pelt.h"
#include "util_est.h"
#include "capacity.h"
#include "nr_running.h"
#include "energy.h"
#include "uclamp.h"
#include "resched.h"
#include "dl.h"
/* What a BPF scheduler has a task do. */
#include "scx.h"
/* What a recording says of itself. */
#include "lost.h"
#include "mark.h"
/* Where an event's task was. */
#include "stack.h"
/* Later than the others, so that those keep their numbers. */
#include "cgroup.h"
