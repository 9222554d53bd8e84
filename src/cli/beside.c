// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The recorder runs a command that says when it records, which is when the command is started, and
 * that ends when this process closes a pipe.
 */
#include "cli/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/own_path.h"

/* file descriptors of the command; SCRIPT uses their numbers */
#define BEGUN_FD 3
#define END_FD 4
#define SCRIPT "echo >&3; exec 3>&-; read end <&4; exit 0"
#define OWN_WORDS 10u /* words of the command line besides the caller's */

static char **recorder_words(const char *file, const char *const *words)
{
	static const char *const command[] = { "--", "/bin/sh", "-c", SCRIPT };
	unsigned int nr = 0, nr_words = 0;
	const char **v;

	while (words[nr_words])
		nr_words++;
	v = calloc(nr_words + OWN_WORDS, sizeof(*v));
	if (!v)
		return NULL;
	v[nr++] = "schedtap";
	v[nr++] = "record";
	v[nr++] = "-o";
	v[nr++] = file;
	for (unsigned int i = 0; i < nr_words; i++)
		v[nr++] = words[i];
	for (unsigned int i = 0; i < sizeof(command) / sizeof(*command); i++)
		v[nr++] = command[i];
	return (char **)v;
}

/* In the child. The descriptors are moved out of the way first: they may have these numbers. */
static void become_recorder(int begun, int end, int log, char **words)
{
	char path[PATH_MAX];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC),
	    begun_high = fcntl(begun, F_DUPFD_CLOEXEC, END_FD + 1),
	    end_high = fcntl(end, F_DUPFD_CLOEXEC, END_FD + 1),
	    log_high = fcntl(log, F_DUPFD_CLOEXEC, END_FD + 1);

	if (null >= 0 && begun_high >= 0 && end_high >= 0 && log_high >= 0 &&
	    dup2(null, STDIN_FILENO) >= 0 && dup2(null, STDOUT_FILENO) >= 0 &&
	    dup2(log_high, STDERR_FILENO) >= 0 && dup2(begun_high, BEGUN_FD) >= 0 &&
	    dup2(end_high, END_FD) >= 0)
		execv(tap_own_path(path), words);
	_exit(TAP_EXIT_FAILED);
}

static int wait_for_recorder(struct tap_beside *b)
{
	int status = 0;

	while (waitpid(b->pid, &status, 0) < 0 && errno == EINTR)
		;
	b->pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int tap_beside_stop(struct tap_beside *b)
{
	if (!b->pid)
		return 0;
	close(b->end);
	return wait_for_recorder(b);
}

/* Return: 0 once the recorder records; the exit code of a recorder that ended. */
static int wait_until_begun(struct tap_beside *b, int begun)
{
	ssize_t len;
	char byte;

	do
		len = read(begun, &byte, 1);
	while (len < 0 && errno == EINTR);
	if (len == 1)
		return 0;
	return tap_beside_stop(b) ?: TAP_EXIT_FAILED;
}

static int start_between(struct tap_beside *b, const int begun[2], const int end[2], int log,
			 char **words, struct tap_err *err)
{
	b->pid = fork();
	if (!b->pid)
		become_recorder(begun[1], end[0], log, words);
	close(begun[1]);
	close(end[0]);
	b->end = end[1];
	if (b->pid > 0)
		return wait_until_begun(b, begun[0]);
	b->pid = 0;
	close(end[1]);
	return tap_err_set(err, -errno, "cannot fork: %m");
}

int tap_beside_start(struct tap_beside *b, const char *file, const char *const *words, int log,
		     struct tap_err *err)
{
	char **all = recorder_words(file, words);
	int begun[2], end[2], ret;

	*b = (struct tap_beside){ .end = -1 };
	if (!all)
		return tap_err_nomem(err);
	if (pipe2(begun, O_CLOEXEC)) {
		ret = tap_err_set(err, -errno, "cannot make a pipe: %m");
	} else if (pipe2(end, O_CLOEXEC)) {
		ret = tap_err_set(err, -errno, "cannot make a pipe: %m");
		close(begun[0]);
		close(begun[1]);
	} else {
		ret = start_between(b, begun, end, log, all, err);
		close(begun[0]);
	}
	free(all);
	return ret;
}
