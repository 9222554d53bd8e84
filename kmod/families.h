/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The families of events/ that are the module's: all but the kernel's own events, and those of
 * sched_ext, which no kernel without BPF has.
 */
#include "pelt.h"
#include "util_est.h"
#include "capacity.h"
#include "nr_running.h"
#include "energy.h"
#include "uclamp.h"
#include "resched.h"
#include "dl.h"
#include "pick.h"
