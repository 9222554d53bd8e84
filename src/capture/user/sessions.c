// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/user/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define TRIES 8

/* All by descriptors: whoever owns a folder above may put another in its place at any time. */
struct tap_user_session_file {
	char *folder;
	char name[16]; /* the recorder's pid */
	int dir, sessions, fd; /* "FOLDER", "FOLDER/sessions", "FOLDER/sessions/PID" */
	bool made_folder;
};

/*
 * Makes a folder with that mode, whatever the umask, or takes one that is there and the caller's.
 * Return: a descriptor, or -1.
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

/* The files of recorders that were killed: nobody holds their locks. */
static void clean(int folder)
{
	int dir = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (e->d_name[strspn(e->d_name, "0123456789")])
			continue;
		fd = openat(dir, e->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(dir, e->d_name, 0);
		if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
	else if (dir >= 0)
		close(dir);
}

/*
 * The text stands before the lock is held: a file without a lock is none. Then another recorder may
 * take it for one that was left behind. Return: 1: so it was; 0; -errno.
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

static void remove_file(struct tap_user_session_file *f)
{
	if (f->fd >= 0) {
		unlinkat(f->sessions, f->name, 0);
		close(f->fd);
	}
	if (f->sessions >= 0)
		close(f->sessions);
	/*
	 * whoever made it: another recorder may have been killed. It stays where there are others
	 */
	unlinkat(f->dir, "sessions", AT_REMOVEDIR);
	if (f->dir >= 0)
		close(f->dir);
	if (f->made_folder)
		rmdir(f->folder);
	free(f->folder);
}

/* Return: 1: there is a file; 0: it cannot be made there; -ENOMEM. */
static int add_file(struct tap_user_sessions *s, const char *folder, mode_t mode, const char *text)
{
	struct tap_user_session_file *more = reallocarray(s->files, s->nr + 1, sizeof(*more));
	struct tap_user_session_file f = { .folder = strdup(folder), .sessions = -1, .fd = -1 };
	bool made;

	if (more)
		s->files = more;
	if (!more || !f.folder) {
		free(f.folder);
		return -ENOMEM;
	}
	snprintf(f.name, sizeof(f.name), "%d", (int)getpid());
	f.dir = use_folder(AT_FDCWD, folder, mode, &f.made_folder);
	if (f.dir >= 0)
		f.sessions = use_folder(f.dir, "sessions", mode, &made);
	if (f.sessions >= 0) {
		clean(f.sessions);
		for (int i = 0; i < TRIES && try_file(&f, mode & 0644, text) == 1; i++)
			;
	}
	if (f.fd < 0) {
		remove_file(&f);
		return 0;
	}
	s->files[s->nr++] = f;
	return 1;
}

int tap_user_sessions_write(struct tap_user_sessions *s, const struct tap_user_set *set,
			    const char *text)
{
	const char *folder;
	int ret = 0;
	uid_t uid;

	*s = (struct tap_user_sessions){ 0 };
	if (strlen(text) > TAP_USER_SESSION_MAX)
		return -E2BIG;
	if (tap_user_of_all(set))
		ret = add_file(s, TAP_USER_EVERYBODY, 0755, text);
	for (unsigned int i = 0; ret >= 0 && (folder = tap_user_folder_at(set, i, &uid)); i++)
		if (uid == geteuid())
			ret = add_file(s, folder, 0700, text);
	return ret < 0 ? ret : (int)s->nr;
}

void tap_user_sessions_remove(struct tap_user_sessions *s)
{
	for (unsigned int i = 0; i < s->nr; i++)
		remove_file(&s->files[i]);
	free(s->files);
	*s = (struct tap_user_sessions){ 0 };
}
