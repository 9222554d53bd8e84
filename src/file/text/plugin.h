/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text of trace-cmd's plugin for sched events, which libtraceevent prints for perf, too:
 *
 *   sched_switch    bash:123 [120] S ==> swapper/0:0 [120]
 *   sched_wakeup    bash:123 [120] CPU:001, or with success=1 or <CPU:001>
 */
#ifndef TAP_FILE_TEXT_PLUGIN_H
#define TAP_FILE_TEXT_PLUGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "event/span.h"

struct tap_plugin_task {
	struct span comm;
	uint64_t tid, prio;
};

struct tap_plugin_switch {
	struct tap_plugin_task prev, next;
	uint64_t state;
};

struct tap_plugin_wakeup {
	struct tap_plugin_task task;
	uint64_t cpu;
};

/*
 * @tid: the task of the line's head. It decides if names make the text ambiguous.
 * Return: false if the text is something else.
 */
bool tap_plugin_switch(struct tap_plugin_switch *s, struct span body, int tid);
bool tap_plugin_wakeup(struct tap_plugin_wakeup *w, struct span body);

#endif
