// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/wakeups.h"

#include <errno.h>
#include <stdio.h>

int tap_wakeups_check(const struct tap_pass *p, struct tap_err *err)
{
	if (tap_survey_has_wakeups(&p->survey))
		return 0;
	return tap_err_set(err, -ENODATA,
			   "'%.300s' has no sched_waking and no sched_wakeup events%s",
			   p->opts->input, p->opts->pick.window ? " in that window" : "");
}

void tap_wakeups_waker(struct tap_pass *p, struct tap_table *t, const struct tap_task *waker,
		       int tid)
{
	static const char idle[] = "<idle>";
	char by_tid[16];

	if (waker) {
		tap_pass_who(p, t, waker);
	} else if (tid == 0) {
		tap_table_text(t, idle, strlen(idle));
		tap_table_s64(t, 0);
		tap_table_none(t);
		tap_table_text(t, idle, strlen(idle));
	} else if (tid > 0) {
		snprintf(by_tid, sizeof(by_tid), "[%d]", tid);
		tap_table_text(t, by_tid, strlen(by_tid));
		tap_table_s64(t, tid);
		tap_table_none(t);
		tap_table_none(t);
	} else {
		for (int i = 0; i < 4; i++)
			tap_table_none(t);
	}
}
