// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What recorders want of programs that start while they record: each has a session file, which is
 * valid as long as its recorder keeps it locked. Beside it is a socket, where a program from which
 * something is wanted leaves its control file, so that it can be read when the program is over. Only
 * system calls: a child after a fork reads them, too.
 */
#include "tracepoint/internal.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SESSION_MAX_BYTES 4096u

bool tap_event_matches(const struct trace_event_call *call, const char *pattern)
{
	struct trace_event_info info;
	char name[256];

	call->info(&info);
	if (!strchr(pattern, ':'))
		return !fnmatch(pattern, trace_event_name(call), 0) || !strcmp(pattern, info.system);
	snprintf(name, sizeof(name), "%s:%s", info.system, trace_event_name(call));
	return !fnmatch(pattern, name, 0);
}

/* Return: whether an event matches. */
static bool want_events(const struct tap_object *object, const char *pattern)
{
	bool any = false;

	for (struct trace_event_call *const *call = object->events; call < object->events_end; call++) {
		struct tap_word *word = (struct tap_word *)(*call)->tp->on;

		if (tap_event_matches(*call, pattern)) {
			__atomic_fetch_or(&word->wanted, (uint8_t)(1u << (*call)->bit),
					  __ATOMIC_RELEASE);
			any = true;
		}
	}
	return any;
}

/* Of a library that is loaded while other threads record. */
static void set_byte(uint8_t *byte, const char *number)
{
	__atomic_store_n(byte, (uint8_t)atoi(number), __ATOMIC_RELAXED);
}

/* Return: whether it wants an event. */
static bool apply_line(const struct tap_object *object, const char *line)
{
	if (!strncmp(line, "event ", 6))
		return want_events(object, line + 6);
	if (!strncmp(line, "ring_shift ", 11))
		set_byte(&tap_control->ring_shift, line + 11);
	else if (!strncmp(line, "mode ", 5))
		set_byte(&tap_control->mode, line + 5);
	else if (!strncmp(line, "clock ", 6))
		set_byte(&tap_control->use_clock, line + 6);
	return false;
}

/* Whether a session is for all programs, or for this one: a child after a fork is its parent, still. */
static bool is_for_us(const char *text)
{
	bool for_all = true;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "tgid ", 5))
			continue;
		if (tap_control_is_family((uint32_t)atoi(line + 5)))
			return true;
		for_all = false;
	}
	return for_all;
}

/* Return: whether an event is wanted. */
static bool apply_session(const struct tap_object *object, char *text)
{
	bool any = false;

	if (!is_for_us(text))
		return false;
	for (char *line = text, *end; *line; line = end) {
		end = strchrnul(line, '\n');
		if (*end)
			*end++ = '\0';
		any |= apply_line(object, line);
	}
	return any;
}

/* Connects by way of the folder's descriptor: an address has room for short names only. */
static void send_file(int dir, const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char *end;

	if (fd < 0)
		return;
	end = tap_put_number(stpcpy(to.sun_path, "/proc/self/fd/"), (unsigned int)dir, 10);
	stpcpy(stpcpy(stpcpy(end, "/"), name), TAP_SESSION_SOCKET);
	if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
		tap_control_send(fd);
	close(fd);
}

/* One session file: of the user or of root, and its recorder lives. */
static bool read_session(int dir, const char *name, void *object)
{
	char text[SESSION_MAX_BYTES + 1];
	struct stat st;
	ssize_t len;
	int fd;

	if (strspn(name, "0123456789") != strlen(name) || strlen(name) >= 16)
		return false;
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) &&
	    !(st.st_mode & 022) && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
		len = read(fd, text, SESSION_MAX_BYTES);
		while (len > 0 && text[len - 1] != '\n') /* a line that was cut says something else */
			len--;
		text[len > 0 ? len : 0] = '\0';
		if (apply_session(object, text) && !tap_env_is_awaited())
			send_file(dir, name);
	}
	close(fd);
	return false; /* there may be more */
}

void tap_sessions_apply(struct tap_object *object)
{
	char path[PATH_MAX];

	/* beside the control file: TAP_FOLDER_MAX leaves room for it */
	strcpy(path, tap_control_path);
	strcpy(strrchr(path, '/'), "/sessions");
	tap_folder_each(path, read_session, object);
	tap_folder_each("/run/schedtap/sessions", read_session, object);
}
