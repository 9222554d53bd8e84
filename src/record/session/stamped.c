// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/stamped.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"

#define SUFFIX ".dat"
#define FOLDER_SUFFIX ".spool"
#define STAMP_LEN (sizeof("-20261122T004705.825" SUFFIX) - 1)

int tap_stamped_init(struct tap_stamped *s, const char *file, struct tap_err *err)
{
	size_t len = strlen(file), suffix = strlen(SUFFIX);

	if (len + STAMP_LEN + strlen(FOLDER_SUFFIX) >= PATH_MAX)
		return tap_err_set(err, -ENAMETOOLONG, "the file name '%.300s' is too long", file);
	if (len > suffix && !strcmp(file + len - suffix, SUFFIX))
		len -= suffix;
	s->prefix = strndup(file, len);
	return s->prefix ? 0 : tap_err_nomem(err);
}

void tap_stamped_release(struct tap_stamped *s)
{
	for (unsigned int i = 0; i < s->nr_own; i++)
		free(s->own[i]);
	free(s->own);
	free(s->prefix);
	*s = (struct tap_stamped){ 0 };
}

static bool is_taken(const char *path)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s" FOLDER_SUFFIX, path);
	return !access(path, F_OK) || !access(folder, F_OK);
}

void tap_stamped_name(const struct tap_stamped *s, uint64_t at_ns, char path[PATH_MAX])
{
	uint64_t ms = (tap_clock_ns(CLOCK_REALTIME) - (tap_now_ns() - at_ns)) / 1000000u;
	struct tm tm;

	do {
		time_t seconds = (time_t)(ms / 1000);
		char stamp[32];

		localtime_r(&seconds, &tm);
		strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
		snprintf(path, PATH_MAX, "%s-%s.%03u" SUFFIX, s->prefix, stamp,
			 (unsigned int)(ms++ % 1000));
	} while (is_taken(path));
}

/* Forget leading files that were removed: they need no place in the order. */
static void forget_removed(struct tap_stamped *s)
{
	unsigned int nr = 0;

	while (nr < s->nr_own && !is_taken(s->own[nr]))
		free(s->own[nr++]);
	s->nr_own -= nr;
	memmove(s->own, s->own + nr, s->nr_own * sizeof(*s->own));
}

int tap_stamped_add(struct tap_stamped *s, const char *path)
{
	if (s->nr_own)
		forget_removed(s);
	if (tap_array_grow(&s->own, s->nr_own, &s->cap_own, sizeof(*s->own)))
		return -ENOMEM;
	s->own[s->nr_own] = strdup(path);
	if (!s->own[s->nr_own])
		return -ENOMEM;
	s->nr_own++;
	return 0;
}

/* Return: whether the name is PREFIX-STAMP.dat, or (@is_folder: set) that of its spool folder. */
static bool is_ours(const char *name, const char *prefix, bool *is_folder)
{
	size_t len = strlen(prefix);
	const char *at = name + len;

	if (strncmp(name, prefix, len))
		return false;
	for (const char *like = "-00000000T000000.000" SUFFIX; *like; like++, at++)
		if (*like == '0' ? *at < '0' || *at > '9' : *at != *like)
			return false;
	*is_folder = !strcmp(at, FOLDER_SUFFIX);
	return !*at || *is_folder;
}

static uint64_t size_on_disk(const struct stat *st)
{
	uint64_t blocks = (uint64_t)st->st_blocks * 512;

	return blocks > (uint64_t)st->st_size ? blocks : (uint64_t)st->st_size;
}

static uint64_t folder_size(const char *path)
{
	DIR *dir = opendir(path);
	uint64_t bytes = 0;
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir)))
		if (!fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			bytes += size_on_disk(&st);
	if (dir)
		closedir(dir);
	return bytes;
}

/* Return: whether it exists. @file: set; its .path is NULL when out of memory. */
static bool look_at(const char *path, bool is_folder, struct tap_stamped_file *file)
{
	struct stat st;

	if (lstat(path, &st) || !(is_folder ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode)))
		return false;
	*file = (struct tap_stamped_file){
		.path = strdup(path),
		.bytes = is_folder ? folder_size(path) : size_on_disk(&st),
		.modified_ns =
			(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec,
		.is_folder = is_folder,
	};
	return true;
}

/*
 * Return: the file's place in the order of this recorder's files, from 1 on; 0: another recorder
 * made it.
 */
static unsigned int place_of(const struct tap_stamped *s, const char *path)
{
	for (unsigned int i = s->nr_own; i > 0; i--) {
		size_t len = strlen(s->own[i - 1]);

		if (!strncmp(path, s->own[i - 1], len) &&
		    (!path[len] || !strcmp(path + len, FOLDER_SUFFIX)))
			return i;
	}
	return 0;
}

static int older_first(const void *a, const void *b, void *ctx)
{
	const struct tap_stamped_file *x = a, *y = b;
	unsigned int x_place = place_of(ctx, x->path), y_place = place_of(ctx, y->path);

	return x_place != y_place ? x_place < y_place ? -1 : 1 : strcmp(x->path, y->path);
}

int tap_stamped_list(const struct tap_stamped *s, bool with_folders,
		     struct tap_stamped_file **files)
{
	char folder[PATH_MAX], first[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	const char *prefix = basename(strcpy(first, s->prefix));
	size_t dir_len = strlen(s->prefix) - strlen(prefix);
	DIR *dir = opendir(dirname(strcpy(folder, s->prefix)));
	unsigned int nr = 0, cap = 0;
	bool is_folder;
	struct dirent *e;
	int ret = 0;

	*files = NULL;
	while (dir && !ret && (e = readdir(dir))) {
		if (!is_ours(e->d_name, prefix, &is_folder) || (is_folder && !with_folders))
			continue;
		snprintf(path, sizeof(path), "%.*s%s", (int)dir_len, s->prefix, e->d_name);
		ret = tap_array_grow(files, nr, &cap, sizeof(**files));
		if (!ret && look_at(path, is_folder, &(*files)[nr]))
			ret = (*files)[nr++].path ? 0 : -ENOMEM;
	}
	if (dir)
		closedir(dir);
	if (!ret && nr)
		qsort_r(*files, nr, sizeof(**files), older_first, (void *)s);
	if (!ret)
		return (int)nr;
	tap_stamped_free_list(*files, (int)nr);
	*files = NULL;
	return ret;
}

void tap_stamped_free_list(struct tap_stamped_file *files, int nr)
{
	for (int i = 0; i < nr; i++)
		free(files[i].path);
	free(files);
}
