/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Watch which sched_ext scheduler (BPF) is loaded. No event shows what was loaded before the
 * recording, and before v7.3 no event shows an unload, so /sys is read ten times a second.
 */
#ifndef TAP_RECORD_SESSION_SCX_WATCH_H
#define TAP_RECORD_SESSION_SCX_WATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define TAP_SCX_ROOT "/sys/kernel/sched_ext"
#define TAP_SCX_MAX_ROWS 256u /* rows of `schedulers` in the meta; older ones are dropped */

struct tap_scx_watch {
	const char *root; /* TAP_SCX_ROOT, or another folder in tests */
	uint64_t looked_ns; /* time of the last look, ns; 0: never */
	json_t *row; /* the last row that was added; NULL: none */
};

/*
 * Append a row to `schedulers` in the meta if another scheduler is loaded than in the last row. On
 * a kernel without sched_ext there is no such list. Return: whether a row was added.
 */
bool tap_scx_watch_look(struct tap_scx_watch *w, uint64_t now_ns, json_t *meta);
void tap_scx_watch_release(struct tap_scx_watch *w);

#endif
