/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events that explain waits and of which the timeline does not tell: sched_wakeup, cpu_idle, interrupts, sched_pick, sched_set_need_resched and sched_scx_*. */
#ifndef TAP_EXPLAIN_SOURCES_H
#define TAP_EXPLAIN_SOURCES_H

#include "explain/waits.h"

struct tap_explain_sources { /* all zero: none yet */
	struct tap_explain_source *v; /* owned; by kind of event */
	unsigned int nr, cap, last;
	int tif; /* the lowest flag by which a CPU was asked to give way; 0: none yet */
};

bool tap_explain_source_wants(const struct tap_format *fmt);
/* Of those: whether it says when some task ran, rather than why that one did. */
bool tap_explain_source_tells_when(const struct tap_format *fmt);
/* Any event, after the timeline has seen it. Return: 0; -ENOMEM; what the waits' .tell returned. */
int tap_explain_sources_event(struct tap_explain_sources *s, struct tap_explain_waits *waits, const struct tap_event *ev);
void tap_explain_sources_release(struct tap_explain_sources *s);

#endif
