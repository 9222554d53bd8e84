// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The sched_ext scheduler. */
#include "show/top/draw.h"

static unsigned int put_number(struct tap_frame *f, unsigned int line, const char *name, int64_t v)
{
	tap_frame_put(f, line, 0, TAP_STYLE_PLAIN, name);
	if (v < 0)
		tap_frame_put(f, line, 24, TAP_STYLE_PLAIN, "-");
	else
		tap_frame_printf(f, line, 24, TAP_STYLE_PLAIN, "%lld", (long long)v);
	return line + 1;
}

static unsigned int put_state(struct tap_frame *f, unsigned int line, const struct tap_scx *scx)
{
	tap_frame_put(f, line, 0, TAP_STYLE_PLAIN, "scheduler");
	tap_frame_put(f, line++, 24, TAP_STYLE_BOLD, *scx->scheduler ? scx->scheduler : "none");
	tap_frame_put(f, line, 0, TAP_STYLE_PLAIN, "state");
	tap_frame_put(f, line++, 24, TAP_STYLE_PLAIN, *scx->state ? scx->state : "-");
	tap_frame_put(f, line, 0, TAP_STYLE_PLAIN, "schedules");
	tap_frame_put(f, line++, 24, TAP_STYLE_PLAIN,
		      scx->all_tasks ? "all normal tasks" : "tasks of policy SCHED_EXT only");
	line = put_number(f, line, "refused tasks", scx->rejected);
	return put_number(f, line, "loaded since boot", scx->loads);
}

int tap_draw_scx(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	const struct tap_scx *scx = shown->scx;
	unsigned int line;

	tap_draw_head(f, ui, shown, "sched_ext");
	tap_draw_keys(f, ui, "z freeze  Esc back  ? help");
	if (!scx || !scx->is_supported) {
		tap_frame_put(f, 2, 0, TAP_STYLE_PLAIN,
			      scx ? "this kernel has no sched_ext (CONFIG_SCHED_CLASS_EXT)"
				  : "recordings contain no state of sched_ext");
		return 0;
	}
	line = put_state(f, 2, scx) + 1;
	if (!scx->nr_events)
		tap_frame_put(f, line, 0, TAP_STYLE_DIM,
			      "no event counters: the kernel has them since v6.15");
	else
		tap_frame_put(f, line++, 0, TAP_STYLE_BOLD, "events since it was loaded");
	for (unsigned int i = 0; i < scx->nr_events && line < f->rows - 1; i++, line++)
		tap_frame_printf(f, line, 0, TAP_STYLE_PLAIN, "%14llu  %s",
				 (unsigned long long)scx->events[i].count, scx->events[i].name);
	return 0;
}
