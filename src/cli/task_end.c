// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/task_end.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* include/uapi/linux/pidfd.h, since v6.9 */
#endif

int tap_task_end_open(struct tap_task_end *e, int id, bool thread, struct tap_err *err)
{
	const char *what = thread ? "thread" : "process";

	*e = (struct tap_task_end){ .fd = pidfd_open(id, thread ? PIDFD_THREAD : 0), .id = id };
	if (e->fd < 0 && !(thread && errno == EINVAL))
		return tap_err_set(err, -errno, "cannot wait for the end of %s %d: %m", what, id);
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
	e->fd = -1; /* poll() ignores negative descriptors */
}
