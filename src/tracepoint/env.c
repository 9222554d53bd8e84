// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TAP_TRACE='app:*,db:query' TAP_TRACE_FILE=x.dat PROGRAM: the program starts with these events on
 * and a recorder of its own, `schedtap record -b user -p PID`, which outlives it and so completes
 * the file however it ends. The recorder is nobody's child, so that the program's wait() does not
 * see it.
 */
#include "tracepoint/internal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PATTERNS 64
#define READY_MS 10000
#define FINISH_MS 10000

static pid_t recorder, owner;

/* The recorder's command line, from the patterns in @patterns, which is cut up. */
static void make_args(const char **args, char *pid, char *patterns, const char *file)
{
	const char *const first[] = { "schedtap", "record", "-b", "user", "-p", pid, "-o", file };
	unsigned int nr = sizeof(first) / sizeof(first[0]);
	char *save = NULL;

	memcpy(args, first, sizeof(first));
	for (char *p = strtok_r(patterns, ", ", &save); p && nr + 2 < 2 * MAX_PATTERNS;
	     p = strtok_r(NULL, ", ", &save)) {
		args[nr++] = "-e";
		args[nr++] = p;
	}
	args[nr] = NULL;
}

/* Without a lock that another thread may have had when it forked. */
static void leave_out(const char *name)
{
	size_t len = strlen(name);
	char **to = environ;

	for (char **from = environ; from && *from; from++)
		if (strncmp(*from, name, len) || (*from)[len] != '=')
			*to++ = *from;
	if (to)
		*to = NULL;
}

/* In the grandchild: it says who it is. What the program has open is not the recorder's. */
static void become_recorder(const char **args, int messages)
{
	pid_t self = getpid();
	sigset_t none;

	if (write(messages, &self, sizeof(self)) != sizeof(self))
		_exit(127);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(messages, STDERR_FILENO);
	dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
	dup2(STDOUT_FILENO, STDIN_FILENO);
	syscall(SYS_close_range, 3u, ~0u, 0u);
	/* a library with tracepoints that is preloaded would start a recorder for the recorder */
	leave_out("TAP_TRACE");
	leave_out("LD_PRELOAD");
	execvp(args[0], (char *const *)args);
	dprintf(STDERR_FILENO, "cannot run '%s': %s\n", args[0], strerror(errno));
	_exit(127);
}

/* Return: where its messages come from; its id in `recorder`. -errno. */
static int start_recorder(const char **args)
{
	int messages[2];
	pid_t child;

	if (pipe2(messages, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child < 0) {
		close(messages[0]);
		close(messages[1]);
		return -errno;
	}
	if (!child) {
		setsid(); /* Ctrl-C is for the program: the recorder ends when that ends */
		if (!fork())
			become_recorder(args, messages[1]);
		_exit(0);
	}
	close(messages[1]);
	waitpid(child, NULL, 0);
	if (read(messages[0], &recorder, sizeof(recorder)) != sizeof(recorder)) {
		recorder = -1;
		close(messages[0]);
		return -EAGAIN;
	}
	return messages[0];
}

/* What the recorder says when it gives up. */
static void tell_failure(int messages)
{
	char text[200] = "";
	ssize_t len = read(messages, text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	tap_set_reason("TAP_TRACE: the recorder ended: %s", text);
}

/* Until the recorder has switched on what it wants of this program. */
static void wait_until_ready(int messages)
{
	for (unsigned int ms = 0; ms < READY_MS; ms++) {
		/* only for its end: a message that waits to be read would cut the waiting short */
		struct pollfd fd = { .fd = messages };

		if (__atomic_load_n(&tap_control->recording, __ATOMIC_ACQUIRE))
			return;
		if (poll(&fd, 1, 1) > 0 && fd.revents & POLLHUP) {
			tell_failure(messages);
			return;
		}
	}
	tap_set_reason("TAP_TRACE: the recorder is not ready after %u s", READY_MS / 1000);
}

void tap_env_start(void)
{
	const char *wish = secure_getenv("TAP_TRACE"), *file = secure_getenv("TAP_TRACE_FILE");
	const char *args[2 * MAX_PATTERNS + 8];
	char patterns[2048], pid[16];
	int messages;

	if (!wish || !*wish || !tap_control || recorder)
		return;
	if (snprintf(patterns, sizeof(patterns), "%s", wish) >= (int)sizeof(patterns)) {
		tap_set_reason("TAP_TRACE is longer than %zu bytes", sizeof(patterns) - 1);
		return;
	}
	owner = getpid();
	snprintf(pid, sizeof(pid), "%d", (int)owner);
	make_args(args, pid, patterns, file && *file ? file : "trace.dat");
	messages = start_recorder(args);
	if (messages < 0) {
		tap_set_reason("TAP_TRACE: cannot start a recorder: %s", strerror(-messages));
		return;
	}
	wait_until_ready(messages);
	close(messages);
}

/* Where the program ends as it should, the file is complete when it has ended. */
void tap_env_finish(void)
{
	struct pollfd fd = { .events = POLLIN };

	if (recorder <= 0 || owner != getpid())
		return;
	fd.fd = (int)syscall(SYS_pidfd_open, recorder, 0);
	if (fd.fd < 0)
		return;
	if (!syscall(SYS_pidfd_send_signal, fd.fd, SIGTERM, NULL, 0) &&
	    poll(&fd, 1, FINISH_MS) > 0)
		tap_wished = false; /* it has all events: nobody else has to collect them */
	close(fd.fd);
}
