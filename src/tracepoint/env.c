// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TAP_TRACE='app:*,db:query' TAP_TRACE_FILE=x.dat PROGRAM: the program starts with these events on
 * and starts a recorder of its own, `schedtap record -b user -p PID`. The recorder outlives the
 * program, so the file is complete however the program ends. It is not the program's child (double
 * fork), so that the program's wait() never returns it. It is started once a program or library
 * with such events is loaded.
 *
 * Failures are reported in one line on stderr, because the user asked for a recording;
 * TAP_TRACE_QUIET=1 suppresses that.
 */
#include "tracepoint/internal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_BYTES 2048 /* of all patterns, with the NUL */
#define SEPARATORS ", " /* between patterns */
#define READY_MS 10000
#define FOUND_MS 100 /* running recorders look for new programs every 20 ms */
#define FINISH_MS 10000

static pid_t recorder, owner;

/* Set the reason of the failure, and print it. */
#define COMPLAIN(fmt, ...) (tap_set_reason("TAP_TRACE: " fmt, ##__VA_ARGS__), say_reason())

static void say_reason(void)
{
	const char *quiet = getenv("TAP_TRACE_QUIET");

	if (!quiet || !*quiet || !strcmp(quiet, "0"))
		dprintf(STDERR_FILENO, "%s: schedtap: %s\n", program_invocation_short_name,
			tap_trace_reason());
}

/* ---- the user's request ---- */

static bool has_event(const char *pattern)
{
	for (const struct tap_object *o = tap_objects; o; o = o->next)
		for (struct trace_event_call *const *call = o->events; call < o->events_end; call++)
			if (tap_event_matches(*call, pattern))
				return true;
	return false;
}

/*
 * Return true if any pattern matches an event so far. The first call reports patterns that match
 * none.
 */
static bool has_any(const char *patterns)
{
	char copy[MAX_BYTES], *at = copy, *pattern;
	static bool has_reported;
	bool any = false;

	strcpy(copy, patterns);
	if (!tap_lock())
		return false;
	while ((pattern = strtok_r(NULL, SEPARATORS, &at))) {
		if (has_event(pattern))
			any = true;
		else if (!has_reported)
			COMPLAIN("the program has no event '%s' so far", pattern);
	}
	has_reported = true;
	tap_unlock();
	return any;
}

/*
 * Expand a file name: %p is the pid, %c the program's name, %% is %. Return: false if it is too
 * long.
 */
static bool file_name(char *to, size_t room, const char *from)
{
	char *end = to + room;

	for (; *from && to < end; from++) {
		const char *word = (const char[]){ *from, '\0' };
		char comm[17] = "", pid[16];

		if (*from == '%' && from[1] == 'p') {
			snprintf(pid, sizeof(pid), "%d", (int)getpid());
			word = pid;
		} else if (*from == '%' && from[1] == 'c') {
			prctl(PR_GET_NAME, comm);
			for (char *c = comm; *c; c++)
				*c = *c == '/' ? '!' : *c; /* as the kernel does in core_pattern */
			word = comm;
		}
		from += *from == '%' && from[1] && strchr("pc%", from[1]);
		to += snprintf(to, (size_t)(end - to), "%s", word);
	}
	return to < end;
}

/* ---- the recorder ---- */

/* Build the recorder's command line. @patterns is cut into the arguments. */
static void make_args(const char **args, char *pid, char *patterns, const char *file)
{
	const char *program = secure_getenv("TAP_TRACE_RECORDER");
	const char *const first[] = { program && *program ? program : "schedtap",
				      "record",
				      "-b",
				      "user",
				      "-p",
				      pid,
				      "-o",
				      file };
	unsigned int nr = sizeof(first) / sizeof(first[0]);
	char *p;

	memcpy(args, first, sizeof(first));
	while ((p = strtok_r(NULL, SEPARATORS, &patterns))) {
		args[nr++] = "-e";
		args[nr++] = p;
	}
	args[nr] = NULL;
}

/*
 * Remove a variable from the environment. Not with unsetenv(): another thread may have held its
 * lock during the fork.
 */
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

/*
 * In the grandchild: send the own pid to @messages, close the program's descriptors and exec the
 * recorder.
 */
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
	/* else a preloaded library with tracepoints would start a recorder for the recorder */
	leave_out("TAP_TRACE");
	leave_out("LD_PRELOAD");
	execvp(args[0], (char *const *)args);
	dprintf(STDERR_FILENO, "cannot run '%s': %s\n", args[0], strerror(errno));
	_exit(127);
}

/*
 * Start the recorder and store its pid in `recorder`. Return: a descriptor to read its messages
 * from; -errno.
 */
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
		setsid(); /* Ctrl-C must only reach the program; the recorder ends after it */
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
	/* the only forks so far were those for the recorder */
	__atomic_store_n(&tap_control->forked, 0, __ATOMIC_RELAXED);
	return messages[0];
}

/* Report the recorder's last message after it has ended. */
static void report_failure(int messages)
{
	char text[200] = "";
	ssize_t len = read(messages, text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	COMPLAIN("the recorder ended: %s", text);
}

/*
 * Wait until a recorder has switched on what it wants of this program. @messages: the recorder's
 * messages; -1 if another copy of this library has started it. Return: true if events are recorded.
 */
static bool wait_until_ready(int messages, unsigned int most_ms)
{
	for (unsigned int ms = 0; ms < most_ms; ms++) {
		/*
		 * no events requested: poll() returns early only on POLLHUP, when the recorder
		 * ends, not for a message
		 */
		struct pollfd fd = { .fd = messages };

		uint8_t recording = __atomic_load_n(&tap_control->recording, __ATOMIC_ACQUIRE);

		if (recording == TAP_RECORDING_NONE)
			COMPLAIN("none of the events can be recorded: schedtap list says why");
		else if (recording == TAP_RECORDING_SOME)
			COMPLAIN("some of the events cannot be recorded: schedtap list says why");
		if (recording) {
			/* the watcher thread may not have patched all sites yet */
			tap_apply_objects();
			return recording != TAP_RECORDING_NONE;
		}
		if (poll(&fd, 1, 1) > 0 && fd.revents & POLLHUP) {
			report_failure(messages);
			return false;
		}
	}
	if (messages >= 0)
		COMPLAIN("the recorder is not ready after %u s", READY_MS / 1000);
	return false;
}

/*
 * Wait for the recorder to end, unless it reports that it stays because descendants of this process
 * still record.
 */
static void wait_unless_children(struct pollfd *fd)
{
	__atomic_store_n(&tap_control->ending, TAP_ENDING_NOW, __ATOMIC_RELEASE);
	for (unsigned int ms = 0; ms < FINISH_MS && poll(fd, 1, 1) == 0; ms++)
		if (__atomic_load_n(&tap_control->ending, __ATOMIC_ACQUIRE) == TAP_ENDING_CHILDREN)
			return;
}

/* @by_itself: the recorder ends when it sees `ending`; else send it SIGTERM. */
static void end_recorder(bool by_itself)
{
	struct pollfd fd = { .fd = (int)syscall(SYS_pidfd_open, recorder, 0), .events = POLLIN };

	if (fd.fd < 0)
		return;
	if (by_itself)
		wait_unless_children(&fd);
	else if (!syscall(SYS_pidfd_send_signal, fd.fd, SIGTERM, NULL, 0))
		poll(&fd, 1, FINISH_MS);
	close(fd.fd);
}

static void run_recorder(char *patterns, const char *file)
{
	/* two arguments per pattern, which takes at least two bytes with its comma */
	static const char *args[MAX_BYTES + 16];
	char pid[16];
	int messages;

	owner = getpid();
	snprintf(pid, sizeof(pid), "%d", (int)owner);
	make_args(args, pid, patterns, file);
	messages = start_recorder(args);
	if (messages < 0) {
		COMPLAIN("cannot start a recorder: %s", strerror(-messages));
		return;
	}
	if (!wait_until_ready(messages, READY_MS) && tap_control->recording == TAP_RECORDING_NONE) {
		end_recorder(false);
		recorder = -1;
	}
	close(messages);
}

/* Return: true if the user's request is valid and can be met. */
static bool read_environment(char patterns[MAX_BYTES], char file[PATH_MAX])
{
	const char *to = secure_getenv("TAP_TRACE_FILE");

	if (!tap_control)
		say_reason();
	else if (snprintf(patterns, MAX_BYTES, "%s", secure_getenv("TAP_TRACE")) >= MAX_BYTES)
		COMPLAIN("the list of events is longer than %u bytes", MAX_BYTES - 1);
	else if (!file_name(file, PATH_MAX, to && *to ? to : "trace.dat"))
		COMPLAIN("the name of the file is longer than %u bytes", PATH_MAX - 1);
	else
		return true;
	return false;
}

static bool is_on(void)
{
	const char *patterns = secure_getenv("TAP_TRACE");

	return patterns && *patterns;
}

/* In a child after a fork, `recorder` is set: the parent's recorder records the child. */
bool tap_env_is_awaited(void)
{
	return is_on() && !recorder;
}

void tap_env_start(void)
{
	char patterns[MAX_BYTES], file[PATH_MAX];
	static bool failed;

	if (!is_on() || recorder || failed)
		return;
	failed = !read_environment(patterns, file);
	if (!failed && tap_control_is_second && wait_until_ready(-1, FOUND_MS))
		return;
	if (!failed && has_any(patterns))
		run_recorder(patterns, file);
}

/*
 * When the program ends normally, wait for the recorder, so that the file is complete when the
 * program is gone.
 */
void tap_env_finish(void)
{
	if (recorder > 0 && owner == getpid())
		end_recorder(__atomic_load_n(&tap_control->forked, __ATOMIC_RELAXED));
}
