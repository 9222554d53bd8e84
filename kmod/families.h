/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The families of events/ in the module: all except the kernel's own events, and those of
 * sched_ext, because a kernel with sched_ext always has BPF.
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
