/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <linux/cpumask.h>
#include <linux/tracepoint_structs.h>
#include <linux/types.h>
#include <schedtap/tracepoint.h>
