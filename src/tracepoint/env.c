// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TAP_TRACE='app:*,db:query' TAP_TRACE_FILE=x.dat PROGRAM: the program starts with these events on
 * and a recorder of its own, `schedtap record -b user -p PID`, which outlives it and so completes
 * the file however it ends. The recorder is nobody's child, so that the program's wait() does not
 * see it. There is one once a library with such events is there.
 *
 * What cannot be had is said in a line on stderr, for the user asked for it: TAP_TRACE_QUIET=1
 * stops that.
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

#define MAX_BYTES 2048 /* of all patterns */
#define SEPARATORS ", " /* of patterns */
#define READY_MS 10000
#define FOUND_MS 100 /* a recorder looks for programs every 20 */
#define FINISH_MS 10000

static pid_t recorder, owner;

/* The reason is set, and said. */
#define COMPLAIN(fmt, ...) (tap_set_reason("TAP_TRACE: " fmt, ##__VA_ARGS__), say_reason())

static void say_reason(void)
{
	const char *quiet = getenv("TAP_TRACE_QUIET");

	if (!quiet || !*quiet || !strcmp(quiet, "0"))
		dprintf(STDERR_FILENO, "%s: schedtap: %s\n", program_invocation_short_name,
			tap_trace_reason());
}

/* ---- what is asked for ---- */

static bool has_event(const char *pattern)
{
	for (const struct tap_object *o = tap_objects; o; o = o->next)
		for (struct trace_event_call *const *call = o->events; call < o->events_end; call++)
			if (tap_event_matches(*call, pattern))
				return true;
	return false;
}

/* Whether any of the @patterns has an event by now; of those that have none the first time tells.
 */
static bool has_any(const char *patterns)
{
	char copy[MAX_BYTES], *at = copy, *pattern;
	static bool told;
	bool any = false;

	strcpy(copy, patterns);
	if (!tap_lock())
		return false;
	while ((pattern = strtok_r(NULL, SEPARATORS, &at))) {
		if (has_event(pattern))
			any = true;
		else if (!told)
			COMPLAIN("the program has no event '%s' so far", pattern);
	}
	told = true;
	tap_unlock();
	return any;
}

/* The name of the file: %p is the program's id, %c its name, %% is %. Return: false: it is too
 * long. */
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
				*c = *c == '/' ? '!' : *c; /* as in core_pattern */
			word = comm;
		}
		from += *from == '%' && from[1] && strchr("pc%", from[1]);
		to += snprintf(to, (size_t)(end - to), "%s", word);
	}
	return to < end;
}

/* ---- the recorder ---- */

/* The recorder's command line, from the patterns in @patterns, which is cut up. */
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
	__atomic_store_n(&tap_control->forked, 0, __ATOMIC_RELAXED); /* those were the recorder */
	return messages[0];
}

/* What the recorder says when it gives up. */
static void tell_failure(int messages)
{
	char text[200] = "";
	ssize_t len = read(messages, text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	COMPLAIN("the recorder ended: %s", text);
}

/*
 * Until a recorder has switched on what it wants of this program. @messages: -1: of another copy of
 * this library. Return: whether one has.
 */
static bool wait_until_ready(int messages, unsigned int most_ms)
{
	for (unsigned int ms = 0; ms < most_ms; ms++) {
		/* only for its end: a message that waits to be read would cut the waiting short */
		struct pollfd fd = { .fd = messages };

		uint8_t recording = __atomic_load_n(&tap_control->recording, __ATOMIC_ACQUIRE);

		if (recording == TAP_RECORDING_NONE)
			COMPLAIN("none of the events can be recorded: schedtap list says why");
		else if (recording == TAP_RECORDING_SOME)
			COMPLAIN("some of the events cannot be recorded: schedtap list says why");
		if (recording) {
			/* the thread that patches sites may not have got so far */
			tap_apply_objects();
			return recording != TAP_RECORDING_NONE;
		}
		if (poll(&fd, 1, 1) > 0 && fd.revents & POLLHUP) {
			tell_failure(messages);
			return false;
		}
	}
	if (messages >= 0)
		COMPLAIN("the recorder is not ready after %u s", READY_MS / 1000);
	return false;
}

/* Children, or theirs, may still record: the recorder finds out, and ends if there are none. */
static void wait_unless_children(struct pollfd *fd)
{
	__atomic_store_n(&tap_control->ending, TAP_ENDING_NOW, __ATOMIC_RELEASE);
	for (unsigned int ms = 0; ms < FINISH_MS && poll(fd, 1, 1) == 0; ms++)
		if (__atomic_load_n(&tap_control->ending, __ATOMIC_ACQUIRE) == TAP_ENDING_CHILDREN)
			return;
}

/* @by_itself: it finds out that it is to end. */
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

static void record(char *patterns, const char *file)
{
	/* two for each pattern, which has two bytes with its comma */
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

/* Return: whether what is asked for can be had. */
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

/* A child after a fork belongs to its parent's. */
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
		record(patterns, file);
}

/* Where the program ends as it should, the file is complete when it has ended. */
void tap_env_finish(void)
{
	if (recorder > 0 && owner == getpid())
		end_recorder(__atomic_load_n(&tap_control->forked, __ATOMIC_RELAXED));
}
