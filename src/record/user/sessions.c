// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"

#define TRIES 8
#define SOCKET_NAME 32
#define BACKLOG 4096 /* programs that may start between two scans */

/*
 * All accesses use descriptors, because the owner of a parent folder may replace a folder at any
 * time.
 */
struct tap_user_session_file {
	char *folder;
	char name[16]; /* the recorder's pid */
	int dir, sessions, fd; /* "FOLDER", "FOLDER/sessions", "FOLDER/sessions/PID" */
	int socket, from; /* the session's socket; where the porter delivers what it receives */
	bool made_folder;
};

/*
 * Make a folder with this mode, whatever the umask, or use an existing one that belongs to the
 * caller. Return: a descriptor, or -1.
 */
static int use_folder(int at, const char *path, mode_t mode, bool *made)
{
	struct stat st;
	int fd;

	*made = !mkdirat(at, path, mode);
	if (!*made && errno != EEXIST)
		return -1;
	fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 022 ||
			(*made && fchmod(fd, mode)))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Get the name of a session file's socket. Return: false: it is too long. */
static bool socket_name(char name[SOCKET_NAME], const char *file)
{
	return snprintf(name, SOCKET_NAME, "%s%s", file, TAP_SESSION_SOCKET) < SOCKET_NAME;
}

static void remove_names(int dir, const char *file)
{
	char name[SOCKET_NAME];

	if (socket_name(name, file))
		unlinkat(dir, name, 0);
	unlinkat(dir, file, 0);
}

/* Remove the files of recorders that were killed: their locks are free. */
static void clean_folder(int folder)
{
	int dir = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (e->d_name[strspn(e->d_name, "0123456789")])
			continue;
		fd = openat(dir, e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
			remove_names(dir, e->d_name);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	else if (dir >= 0)
		close(dir);
}

/*
 * Write a session file. The text is written before the lock is taken, because a file without a lock
 * is not valid; meanwhile another recorder may take it for a stale one and remove it. Return: 1:
 * that has happened; 0; -errno.
 */
static int try_file(struct tap_user_session_file *f, mode_t mode, const char *text)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, ret;
	struct stat st;

	f->fd = openat(f->sessions, f->name, flags, mode);
	if (f->fd < 0)
		return -errno;
	ret = fchmod(f->fd, mode) ? -errno : tap_write_all(f->fd, text, strlen(text));
	if (!ret && (flock(f->fd, LOCK_EX) || fstat(f->fd, &st)))
		ret = -errno;
	if (!ret && st.st_nlink)
		return 0;
	if (ret)
		unlinkat(f->sessions, f->name, 0);
	close(f->fd);
	f->fd = -1;
	return ret ? ret : 1;
}

/*
 * Make the socket for a session file that this recorder has locked; an existing socket of that name
 * is stale. The path goes through the folder's descriptor, because socket addresses have room for
 * short paths only. Without a socket, short-lived programs are missed.
 */
static void listen_at(struct tap_user_session_file *f, struct tap_porter *porter)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char name[SOCKET_NAME];

	if (!socket_name(name, f->name))
		return;
	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", f->sessions, name);
	unlinkat(f->sessions, name, 0);
	f->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (f->socket >= 0 && !bind(f->socket, (struct sockaddr *)&at, sizeof(at)) &&
	    /* for all users who can access the folder */
	    !fchmodat(f->sessions, name, 0666, 0) && !listen(f->socket, BACKLOG))
		f->from = tap_porter_serve(porter, f->socket, TAP_PORTER_CALLS);
	if (f->from >= 0)
		return;
	if (f->socket >= 0)
		close(f->socket);
	f->socket = -1;
}

/*
 * Watch for arriving files. Edge-triggered: a user who sends more than is accepted at a time must
 * not keep the recorder awake.
 */
static void watch_file(const struct tap_user_sessions *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };

	if (s->calls >= 0 && fd >= 0) /* if it fails they are found by the next scan */
		epoll_ctl(s->calls, EPOLL_CTL_ADD, fd, &ev);
}

static void end_file(struct tap_user_session_file *f)
{
	if (f->fd >= 0) {
		remove_names(f->sessions, f->name);
		close(f->fd);
	}
	f->fd = -1;
	/*
	 * remove it even if a recorder that was killed made it; fails while there are other
	 * sessions
	 */
	unlinkat(f->dir, "sessions", AT_REMOVEDIR);
}

static void remove_file(struct tap_user_session_file *f)
{
	end_file(f);
	if (f->from >= 0)
		close(f->from);
	if (f->socket >= 0)
		close(f->socket);
	if (f->sessions >= 0)
		close(f->sessions);
	if (f->dir >= 0)
		close(f->dir);
	if (f->made_folder)
		rmdir(f->folder);
	free(f->folder);
}

/* Return: 1: a session file was made; 0: it cannot be made there; -ENOMEM. */
static int add_file(struct tap_user_sessions *s, const char *folder, mode_t mode, const char *text)
{
	struct tap_user_session_file f = {
		.folder = strdup(folder), .sessions = -1, .fd = -1, .socket = -1, .from = -1
	};
	bool made;

	if (!f.folder || tap_array_grow(&s->files, s->nr, &s->cap, sizeof(*s->files))) {
		free(f.folder);
		return -ENOMEM;
	}
	snprintf(f.name, sizeof(f.name), "%d", (int)getpid());
	f.dir = use_folder(AT_FDCWD, folder, mode, &f.made_folder);
	if (f.dir >= 0)
		f.sessions = use_folder(f.dir, "sessions", mode, &made);
	if (f.sessions >= 0) {
		clean_folder(f.sessions);
		for (int i = 0; i < TRIES && try_file(&f, mode & 0644, text) == 1; i++)
			;
	}
	if (f.fd < 0) {
		remove_file(&f);
		return 0;
	}
	listen_at(&f, s->porter);
	watch_file(s, f.from);
	s->files[s->nr++] = f;
	return 1;
}

int tap_user_sessions_write(struct tap_user_sessions *s, struct tap_porter *porter,
			    const struct tap_user_folders *folders, const char *text)
{
	int ret = 0;

	*s = TAP_USER_NO_SESSIONS;
	s->porter = porter;
	if (strlen(text) > TAP_USER_SESSION_MAX)
		return -E2BIG;
	s->calls = epoll_create1(EPOLL_CLOEXEC);
	if (folders->all_users)
		ret = add_file(s, TAP_USER_EVERYBODY, 0755, text);
	for (unsigned int i = 0; ret >= 0 && i < folders->nr; i++)
		if (folders->v[i]->uid == geteuid())
			ret = add_file(s, folders->v[i]->path, 0700, text);
	return ret < 0 ? ret : (int)s->nr;
}

/* ---- control files from programs ---- */

bool tap_user_sessions_called(const struct tap_user_sessions *s)
{
	struct epoll_event ev;

	return s->calls >= 0 && epoll_wait(s->calls, &ev, 1, 0) > 0;
}

/*
 * After the sessions have ended, wait for files that programs sent before. Return: true if there
 * are more.
 */
static bool wait_for_more(const struct tap_user_sessions *s)
{
	int from[TAP_PORTER_MAX_SERVICES];
	unsigned int nr = 0;

	if (!s->are_over)
		return false;
	for (unsigned int i = 0; i < s->nr; i++)
		if (s->files[i].from >= 0 && nr < TAP_PORTER_MAX_SERVICES)
			from[nr++] = s->files[i].from;
	return tap_porter_brings(s->porter, from, nr);
}

bool tap_user_sessions_take(struct tap_user_sessions *s, struct tap_user_sent *sent)
{
	struct tap_parcel parcel;

	do {
		for (unsigned int i = 0; i < s->nr; i++) {
			sent->fd = -1;
			while (s->files[i].from >= 0 && sent->fd < 0 &&
			       tap_porter_take(s->files[i].from, &parcel, &sent->fd))
				;
			if (sent->fd < 0)
				continue;
			sent->pid = parcel.from.pid;
			sent->uid = parcel.from.uid;
			return true;
		}
	} while (wait_for_more(s));
	return false;
}

void tap_user_sessions_end(struct tap_user_sessions *s)
{
	for (unsigned int i = 0; i < s->nr; i++)
		end_file(&s->files[i]);
	s->are_over = true;
	tap_porter_finish(s->porter);
}

void tap_user_sessions_remove(struct tap_user_sessions *s)
{
	for (unsigned int i = 0; i < s->nr; i++)
		remove_file(&s->files[i]);
	free(s->files);
	if (s->calls >= 0)
		close(s->calls);
	*s = TAP_USER_NO_SESSIONS;
}
