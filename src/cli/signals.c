// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

int tap_take_signals(struct tap_err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? tap_err_set(err, -errno, "cannot wait for signals: %m") : fd;
}
