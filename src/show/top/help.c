// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The keys, and what the numbers mean. */
#include "show/top/draw.h"

static const char *const lines[] = {
	"1..6 Tab      home, tasks, cgroups, CPUs, BPF programs, sched_ext; ? this help",
	"arrows PgUp PgDn Home End   move the cursor; it stays at its row",
	"Enter         a task: its waits, explained; a cgroup: its tasks",
	"< > (F6)      sort by the next column   I reverse   P by CPU   W by waits",
	"/ (F4)        filter tasks, such as: comm ~ \"nginx*\" && max_wait > 1ms",
	"t (F5)        by process, by cgroup, or each by itself",
	"z             freeze   + -   refresh less or more often",
	"x             explain a task's worst waits; begins to buffer events",
	"m             save the last 10 s   r   record, or end it   o   HTML report",
	"u             CPUs: colour by use or by waits",
	"a recording:  Left Right by one step   [ ] by ten   { } first, last   Space play",
	"Esc           back   q (F10)   quit",
	"",
};

static const char *const numbers[] = {
	"waiting%      part of the time that a task waited for a CPU",
	"p99, max      of the waits that ended: 99 % took at most p99",
	"!             the wait is over a threshold (--threshold)",
	"strips        the last 60 refreshes; each step in height is four times as long",
};

int tap_draw_help(struct tap_frame *f, struct tap_top_ui *ui, const struct tap_top_shown *shown)
{
	unsigned int line = 1;

	tap_draw_head(f, ui, shown, "help");
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		tap_frame_put(f, line++, 0, TAP_STYLE_PLAIN, lines[i]);
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		tap_frame_put(f, line++, 0, TAP_STYLE_PLAIN, numbers[i]);
	tap_frame_put(
		f, line++, 0, TAP_STYLE_PLAIN,
		shown->now->from_waking
			? "waits         begin when the task is woken"
			: "waits         begin when the kernel puts the task into a run queue");
	if (shown->now->why)
		tap_frame_printf(f, line, 0, TAP_STYLE_YELLOW, "much is unknown: %s",
				 shown->now->why);
	tap_draw_keys(f, ui, "Esc back");
	return 0;
}
