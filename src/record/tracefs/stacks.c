// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tracefs/stacks.h"

#include <errno.h>

#include "record/backend.h"

/* Append the event's filter. Without one, its file says "none". */
static void add_filter(const struct tap_instance *in, const struct tap_plan_event *ev,
		       struct tap_buf *text)
{
	struct tap_buf filter = { .max = 1 << 16 };

	if (!tap_instance_get(in, &filter, "events/%s/%s/filter", ev->system, ev->name) &&
	    strcmp(tap_buf_str(&filter), "none\n"))
		tap_buf_printf(text, " if %.*s", (int)strcspn(tap_buf_str(&filter), "\n"),
			       tap_buf_str(&filter));
	tap_buf_release(&filter);
}

int tap_tracefs_stacks_set(const struct tap_instance *in, const struct tap_plan_event *ev,
			   struct tap_err *err)
{
	struct tap_buf text = { 0 };
	int ret;

	if (!ev->stacks.depth)
		return 0;
	if (ev->stacks.user)
		return tap_err_set(err, -EINVAL,
				   "--stack: %s:%s is recorded over tracefs, which has no user "
				   "stacks: use --backend bpf",
				   ev->system, ev->name);
	tap_buf_puts(&text, "stacktrace");
	add_filter(in, ev, &text);
	ret = text.err
		      ?: tap_instance_put(in, tap_buf_str(&text), "events/%s/%s/trigger",
					  ev->system, ev->name);
	tap_buf_release(&text);
	errno = -ret;
	return ret ? tap_err_set(
			     err, -EINVAL,
			     "--stack: the kernel refuses the trigger 'stacktrace' of %s:%s: %m",
			     ev->system, ev->name)
		   : 0;
}

bool tap_tracefs_stacks_come(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_triggers; i++)
		if (!strncmp(plan->triggers[i].words, "stacktrace", strlen("stacktrace")))
			return true;
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].backend->kind == TAP_BY_TRACEFS &&
		    plan->events[i].stacks.kernel)
			return true;
	return false;
}
