// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/task_end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/text.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* include/uapi/linux/pidfd.h, 6.9 */
#endif

int tap_task_end_open(struct tap_task_end *e, const char *id, bool thread, struct tap_err *err)
{
	const char *what = thread ? "thread" : "process";
	int64_t number;

	if (tap_text_parse_int(id, 1, INT32_MAX, &number))
		return tap_err_set(err, -EINVAL, "'%s' is no %s id", id, what);
	*e = (struct tap_task_end){ .fd = pidfd_open((pid_t)number, thread ? PIDFD_THREAD : 0),
				    .id = (int)number };
	if (e->fd < 0 && !(thread && errno == EINVAL))
		return tap_err_set(err, -errno, "cannot watch %s %s: %m", what, id);
	return 0;
}

bool tap_task_end_came(struct tap_task_end *e, bool readable)
{
	if (e->fd < 0 && !e->came)
		readable = kill(e->id, 0) && errno == ESRCH;
	e->came |= readable;
	if (e->came)
		tap_task_end_close(e);
	return e->came;
}

void tap_task_end_close(struct tap_task_end *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1; /* poll() passes over it */
}
