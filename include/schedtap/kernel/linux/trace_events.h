/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <linux/tracepoint.h>
#include <schedtap/trace_events.h>
