// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/priority.h"

#include <errno.h>
#include <sched.h>

#include "base/refusal.h"

#define DEFAULT 40

static bool is_real_time(int policy)
{
	int plain = policy & ~SCHED_RESET_ON_FORK;

	return plain != SCHED_OTHER && plain != SCHED_BATCH && plain != SCHED_IDLE;
}

int tap_priority_raise(struct tap_priority *p, pid_t tid, int priority, struct tap_err *err)
{
	struct sched_param param;
	int policy = sched_getscheduler(tid), error;
	bool quietly = priority == TAP_PRIORITY_DEFAULT;

	*p = (struct tap_priority){ .tid = tid, .policy = policy };
	if (!priority || policy < 0 || (quietly && is_real_time(policy)) ||
	    sched_getparam(tid, &param))
		return 0;
	p->priority = param.sched_priority;
	param.sched_priority = quietly ? DEFAULT : priority;
	p->raised = !sched_setscheduler(tid, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
	error = errno;
	if (p->raised || quietly)
		return 0;
	return tap_err_set(err, -error, "cannot set real-time priority %d: %s", priority,
			   tap_refusal(TAP_STEP_PRIORITY, error).text);
}

void tap_priority_restore(struct tap_priority *p)
{
	struct sched_param param = { .sched_priority = p->priority };

	if (p->raised)
		sched_setscheduler(p->tid, p->policy, &param);
	p->raised = false;
}
