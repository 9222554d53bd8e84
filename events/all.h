/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Includes every family of events, in the order in which events are numbered. Each header is
 * included several times, once per stage of the code that expands it. A family's file name is the
 * name of its group (`record -e GROUP`).
 */
/*
 * throttle.h and pick.h record extra events at the sched_switch tracepoint. They precede sched.h,
 * so that their records precede the record of sched_switch. A reader of sched_switch then already
 * knows whether prev is throttled.
 */
#include "throttle.h"
/* Precedes sched.h so that a reader of sched_switch already knows next's EEVDF numbers. */
#include "pick.h"
/* The kernel's own events, which schedtap records itself so that all events are in one order. */
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
/* Queues and slices that a BPF scheduler (sched_ext) assigns to tasks. */
#include "scx.h"
/* Events about the recording itself, which the recorder writes. */
#include "lost.h"
#include "mark.h"
/* Kernel and user stacks of events. */
#include "stack.h"
/* Added last: event numbers follow the order of these includes, and older events keep theirs. */
#include "cgroup.h"
#include "rename.h"
#include "lean.h"
