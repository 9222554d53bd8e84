// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"

/*
 * In the child: wait for a byte from @go, then become the command. On failure, write a byte to
 * @not_run.
 */
static void run_command(char **argv, int go, int not_run)
{
	char word;
	int code;

	if (read(go, &word, 1) != 1)
		_exit(TAP_EXIT_FAILED); /* the caller gave up */
	execvp(argv[0], argv);
	code = errno == ENOENT ? 127 : 126;
	fprintf(stderr, "schedtap: cannot run '%s': %s\n", argv[0], strerror(errno));
	_exit(write(not_run, "n", 1) == 1 ? code : TAP_EXIT_FAILED);
}

int tap_child_fork(struct tap_child *c, char **argv, void (*prepare)(void *ctx), void *ctx,
		   struct tap_err *err)
{
	int go[2], not_run[2];
	sigset_t none;

	if (pipe2(go, O_CLOEXEC))
		return tap_err_set(err, -errno, "cannot make a pipe: %m");
	c->go = go[1];
	if (pipe2(not_run, O_CLOEXEC | O_NONBLOCK)) {
		close(go[0]);
		return tap_err_set(err, -errno, "cannot make a pipe: %m");
	}
	c->not_run = not_run[0];
	c->pid = fork();
	if (c->pid < 0)
		return tap_err_set(err, -errno, "cannot fork: %m");
	if (!c->pid) {
		close(go[1]);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		prepare(ctx);
		run_command(argv, go[0], not_run[1]);
	}
	close(go[0]);
	close(not_run[1]);
	c->end_fd = pidfd_open(c->pid, 0);
	return c->end_fd < 0
		       ? tap_err_set(err, -errno, "cannot wait for the end of the command: %m")
		       : 0;
}

int tap_child_go(const struct tap_child *c, struct tap_err *err)
{
	if (write(c->go, "g", 1) == 1)
		return 0;
	/* tap_cmd_fail() takes EPIPE for a reader of our output that has gone */
	if (errno == EPIPE)
		return tap_err_set(err, -ECHILD, "the command's process ended before it ran");
	return tap_err_set(err, -errno, "cannot start the command: %m");
}

bool tap_child_was_not_run(const struct tap_child *c)
{
	char word;

	return c->not_run >= 0 && read(c->not_run, &word, 1) == 1;
}

void tap_child_reap(struct tap_child *c)
{
	if (c->go >= 0)
		close(c->go);
	c->go = -1;
	if (c->pid <= 0)
		return;
	if (wait4(c->pid, &c->status, WNOHANG, &c->usage) == 0) {
		kill(c->pid, SIGTERM);
		wait4(c->pid, &c->status, 0, &c->usage);
	}
	c->pid = 0;
}

int tap_child_exit_code(const struct tap_child *c)
{
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}
