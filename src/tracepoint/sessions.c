// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Applies running recorders' sessions to a program that starts. Each recorder has a session file,
 * which is valid while the recorder keeps it locked. Next to it is a socket, to which a selected
 * program sends its control file's descriptor, so that the recorder can read the file after the
 * program has ended. Only system calls and functions that are safe in a child after a fork, which
 * reads sessions, too.
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
		return !fnmatch(pattern, trace_event_name(call), 0) ||
		       !strcmp(pattern, info.system);
	snprintf(name, sizeof(name), "%s:%s", info.system, trace_event_name(call));
	return !fnmatch(pattern, name, 0);
}

/* The object that sessions are applied to. */
struct joining {
	const struct tap_object *object;
	const char *folder; /* folder of the link to the control file */
};

static void want_events(const struct tap_object *object, const char *pattern)
{
	for (struct trace_event_call *const *call = object->events; call < object->events_end;
	     call++) {
		struct tap_word *word = (struct tap_word *)(*call)->tp->on;

		if (tap_event_matches(*call, pattern))
			__atomic_fetch_or(&word->wanted, (uint8_t)(1u << (*call)->bit),
					  __ATOMIC_RELEASE);
	}
}

static bool has_events(const struct tap_object *object, const char *pattern)
{
	for (struct trace_event_call *const *call = object->events; call < object->events_end;
	     call++)
		if (tap_event_matches(*call, pattern))
			return true;
	return false;
}

/* Atomic, because other threads may record while a library is loaded. */
static void set_byte(uint8_t *byte, const char *number)
{
	__atomic_store_n(byte, (uint8_t)atoi(number), __ATOMIC_RELAXED);
}

static void apply_line(const struct tap_object *object, const char *line)
{
	if (!strncmp(line, "event ", 6))
		want_events(object, line + 6);
	else if (!strncmp(line, "ring_shift ", 11))
		set_byte(&tap_control->ring_shift, line + 11);
	else if (!strncmp(line, "mode ", 5))
		set_byte(&tap_control->mode, line + 5);
	else if (!strncmp(line, "clock ", 6))
		set_byte(&tap_control->use_clock, line + 6);
}

/* Replace newlines by NULs. Return: the end of the text. */
static const char *cut_lines(char *text)
{
	char *end = text;

	for (; *end; end++)
		*end = *end == '\n' ? '\0' : *end;
	return end;
}

#define for_each_line(line, text, end)                                                             \
	for (const char *line = (text); line < (end); line += strlen(line) + 1)

/*
 * Return true if a session selects an event of the object, and is for all programs or for this one
 * or an ancestor of it.
 */
static bool is_selected(const struct tap_object *object, const char *text, const char *end)
{
	bool is_for_all = true, is_for_us = false, has_event = false;

	for_each_line(line, text, end) {
		has_event |= !strncmp(line, "event ", 6) && has_events(object, line + 6);
		is_for_all &= !!strncmp(line, "tgid ", 5);
		is_for_us |= !strncmp(line, "tgid ", 5) &&
			     tap_control_is_family((uint32_t)atoi(line + 5));
	}
	return has_event && (is_for_all || is_for_us);
}

/*
 * Send the control file to a session's socket. It is connected through the folder's descriptor,
 * because socket addresses have room for short paths only. Return: true if it was sent.
 */
static bool send_file(int dir, const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool is_sent;
	char *end;

	if (fd < 0)
		return false;
	end = tap_put_number(stpcpy(to.sun_path, "/proc/self/fd/"), (unsigned int)dir, 10);
	stpcpy(stpcpy(stpcpy(end, "/"), name), TAP_SESSION_SOCKET);
	is_sent = !connect(fd, (struct sockaddr *)&to, sizeof(to)) && tap_control_send(fd);
	close(fd);
	return is_sent;
}

/* Write "-" and a number in hexadecimal. Return: the end. */
static char *put_part(char *to, uint64_t number)
{
	*to++ = '-';
	return tap_put_number(to, number, 16);
}

/* Build the name of this program's entry. Return: false if the session has no ID. */
static bool entry_name(char name[TAP_BOOK_NAME], const char *text, const char *end)
{
	for_each_line(line, text, end) {
		const char *id = line + strlen("session ");
		char *to, *comm;

		if (strncmp(line, "session ", strlen("session ")) || strlen(id) >= TAP_BOOK_ID_MAX)
			continue;
		to = put_part(stpcpy(stpcpy(name, TAP_BOOK), id), tap_control->pid);
		comm = put_part(put_part(to, tap_control->pid_ns), tap_control->made_ns);
		*comm = '-';
		strcpy(comm + 1, tap_control->comm);
		for (char *c = comm; *c; c++)
			*c = *c == '/' ? '!' : *c;
		return true;
	}
	return false;
}

/* Return true if the recorder has ended: while it runs it holds the file's lock. */
static bool is_over(int session)
{
	return !flock(session, LOCK_SH | LOCK_NB);
}

/*
 * Create the entry, then switch on events, then send the control file: no event is recorded before
 * the recorder can know of the program. If the session has ended before the file could be sent, its
 * recorder may have looked at the entries before, so the entry is removed.
 */
static void join_session(const struct joining *j, const char *text, const char *end, int session,
			 int dir, const char *name)
{
	char entry[TAP_BOOK_NAME];
	bool is_theirs = !tap_env_is_awaited(), is_entered, is_sent;
	int folder;

	if (!is_selected(j->object, text, end))
		return;
	folder = is_theirs && entry_name(entry, text, end)
			 ? open(j->folder, O_PATH | O_DIRECTORY | O_CLOEXEC)
			 : -1;
	is_entered = folder >= 0 && !symlinkat(TAP_BOOK_TARGET, folder, entry);
	for_each_line(line, text, end)
		apply_line(j->object, line);
	is_sent = is_theirs && send_file(dir, name);
	if (is_entered && !is_sent && is_over(session))
		unlinkat(folder, entry, 0);
	if (folder >= 0)
		close(folder);
}

/* Apply one session file, if it belongs to the user or to root and its recorder runs. */
static bool read_session(int dir, const char *name, void *joining)
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
	    !(st.st_mode & 022) && !is_over(fd) && errno == EWOULDBLOCK) {
		len = read(fd, text, SESSION_MAX_BYTES);
		/* ignore a last line that was cut: it could mean something else */
		while (len > 0 && text[len - 1] != '\n')
			len--;
		text[len > 0 ? len : 0] = '\0';
		join_session(joining, text, cut_lines(text), fd, dir, name);
	}
	close(fd);
	return false; /* continue with other session files */
}

void tap_sessions_apply(struct tap_object *object)
{
	char folder[TAP_FOLDER_MAX], path[PATH_MAX];
	struct joining joining = { object, folder };

	/* next to the link to the control file; TAP_FOLDER_MAX leaves room for the name */
	strcpy(folder, tap_control_path);
	*strrchr(folder, '/') = '\0';
	strcpy(stpcpy(path, folder), "/sessions");
	tap_folder_each(path, read_session, &joining);
	tap_folder_each("/run/schedtap/sessions", read_session, &joining);
}
