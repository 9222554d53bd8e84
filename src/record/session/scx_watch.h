/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which BPF scheduler is loaded (sched_ext), and that another one is. No event tells what was
 * loaded before it, and before v7.3 none tells that one goes; so /sys is asked, ten times a second.
 */
#ifndef TAP_RECORD_SESSION_SCX_WATCH_H
#define TAP_RECORD_SESSION_SCX_WATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define TAP_SCX_ROOT "/sys/kernel/sched_ext"
#define TAP_SCX_MAX_ROWS 256u /* of the meta's `schedulers`: older ones are forgotten */

struct tap_scx_watch {
	const char *root; /* TAP_SCX_ROOT */
	uint64_t looked_ns; /* 0: never */
	json_t *row; /* what was seen last; NULL: nothing */
};

/*
 * Adds to the meta's `schedulers` what is loaded now, where that is not what was seen last. A
 * kernel without sched_ext has no such list. Return: whether there is something new.
 */
bool tap_scx_watch_look(struct tap_scx_watch *w, uint64_t now_ns, json_t *meta);
void tap_scx_watch_release(struct tap_scx_watch *w);

#endif
