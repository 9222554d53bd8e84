// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares programs that say they record with those that were recorded, at the end of a session. */
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "record/plan.h"
#include "record/user/pid_ns.h"
#include "record/user/state.h"

#define WHY "the program recorded, but its control file did not reach the recorder"

/*
 * Add a program that was not recorded, in the format of tap_user_tracee_json(). If out of memory
 * its name is empty.
 */
static void add_missing(void *ctx, const struct tap_user_entry *e)
{
	struct tap_user_state *s = ctx;
	bool is_ours = e->pid_ns == tap_pid_ns_own();
	int pid = is_ours ? (int)tap_pids_initial(&s->plan->pids, e->pid) : 0;
	struct tap_buf comm = { 0 };

	tap_text_escape(&comm, e->comm, strlen(e->comm));
	json_array_append_new(s->past, json_pack("{s:i, s:s, s:i, s:i, s:b, s:s}", "pid", pid,
						 "comm", tap_buf_str(&comm), "events", 0, "lost", 0,
						 "lost_is_lower_bound", 1, "reason", WHY));
	tap_buf_release(&comm);
}

/*
 * Do not count programs as missing that are still locked, or that another recorder records: their
 * own entries in the list of programs say so.
 */
static void take_rest(struct tap_user_state *s)
{
	for (unsigned int i = 0; i < s->nr_tracees; i++)
		if (s->tracees[i]->locked || s->tracees[i]->is_anothers)
			tap_user_take(s->set, s->tracees[i]->p);
}

int tap_user_lose_programs(struct tap_user_state *s, struct tap_drain *res, struct tap_err *err)
{
	take_rest(s);
	if (!tap_user_close_books(s->set, add_missing, s))
		return 0;
	res->lost_unknown = true;
	return tap_user_out_lost(&s->out, -1, 0, s->start_ns, s->now.mono_ns, err);
}
