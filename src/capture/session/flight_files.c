// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/session/flight_files.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "recording/spool.h"

#define SUFFIX ".dat"
#define STAMP_LEN (sizeof("-20261122T004705.825" SUFFIX) - 1)

int tap_flight_files_init(struct tap_flight_files *f, const char *file, unsigned int max_files, struct tap_err *err)
{
	size_t len = strlen(file), suffix = strlen(SUFFIX);

	*f = (struct tap_flight_files){ .max_files = max_files };
	if (len + STAMP_LEN >= PATH_MAX)
		return tap_err_set(err, -ENAMETOOLONG, "the file name '%.300s' is too long", file);
	if (len > suffix && !strcmp(file + len - suffix, SUFFIX))
		len -= suffix;
	f->prefix = strndup(file, len);
	return f->prefix ? 0 : tap_err_set(err, -ENOMEM, "out of memory");
}

/* Also by the folder that a killed recorder left. */
static bool is_taken(const char *path, const char *busy)
{
	char folder[PATH_MAX + sizeof(TAP_SPOOL_SUFFIX)];

	snprintf(folder, sizeof(folder), "%s" TAP_SPOOL_SUFFIX, path);
	return !access(path, F_OK) || !access(folder, F_OK) || !strcmp(path, busy);
}

/* By the wall time of what was met; two of one millisecond, or when the clock was set back, by the next that is free. */
void tap_flight_files_name(const struct tap_flight_files *f, uint64_t at_ns, const char *busy, char path[PATH_MAX])
{
	uint64_t ms = (tap_clock_ns(CLOCK_REALTIME) - (tap_now_ns() - at_ns)) / 1000000u;
	struct tm tm;

	do {
		time_t s = (time_t)(ms / 1000);
		char stamp[32];

		localtime_r(&s, &tm);
		strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
		snprintf(path, PATH_MAX, "%s-%s.%03u" SUFFIX, f->prefix, stamp, (unsigned int)(ms++ % 1000));
	} while (is_taken(path, busy));
}

/* @suffix: what follows the name of a file. */
static bool is_ours(const char *name, const char *prefix, const char *suffix)
{
	size_t len = strlen(prefix);
	const char *at = name + len;

	if (strncmp(name, prefix, len) || strlen(at) != STAMP_LEN + strlen(suffix))
		return false;
	for (const char *like = "-00000000T000000.000" SUFFIX; *like; like++, at++)
		if (*like == '0' ? *at < '0' || *at > '9' : *at != *like)
			return false;
	return !strcmp(at, suffix);
}

static void forget_written(struct tap_flight_files *f)
{
	free(f->written[0]);
	memmove(f->written, f->written + 1, --f->nr_written * sizeof(*f->written));
}

static bool is_written(const struct tap_flight_files *f, const char *path)
{
	for (unsigned int i = 0; i < f->nr_written; i++)
		if (!strcmp(f->written[i], path))
			return true;
	return false;
}

/*
 * The oldest ones: of recorders before this one by their names, then its own in the order in which it wrote them,
 * for the clock may have been set back. The newest stays.
 */
void tap_flight_files_remove_old(struct tap_flight_files *f)
{
	char folder[PATH_MAX], first[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	const char *prefix = basename(strcpy(first, f->prefix));
	size_t dir_len = strlen(f->prefix) - strlen(prefix);
	struct dirent **files = NULL;
	unsigned int left = 0;
	int nr = scandir(dirname(strcpy(folder, f->prefix)), &files, NULL, alphasort);

	for (int i = 0; i < nr; i++)
		left += is_ours(files[i]->d_name, prefix, "");
	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%.*s%s", (int)dir_len, f->prefix, files[i]->d_name);
		if (left > f->max_files && is_ours(files[i]->d_name, prefix, "") && !is_written(f, path))
			left -= !unlink(path);
		free(files[i]);
	}
	free(files);
	for (; left > f->max_files && f->nr_written > 1; forget_written(f))
		left -= !unlink(f->written[0]);
}

int tap_flight_files_note(struct tap_flight_files *f, const char *path)
{
	if (!f->max_files)
		return 0;
	if (tap_array_grow(&f->written, f->nr_written, &f->cap_written, sizeof(*f->written)))
		return -ENOMEM;
	f->written[f->nr_written] = strdup(path);
	if (!f->written[f->nr_written])
		return -ENOMEM;
	f->nr_written++;
	tap_flight_files_remove_old(f);
	while (f->nr_written > f->max_files) /* others were taken away by somebody else */
		forget_written(f);
	return 0;
}

bool tap_flight_files_next_left(struct tap_flight_files *f)
{
	char folder[PATH_MAX], first[PATH_MAX], path[PATH_MAX];
	const char *prefix = basename(strcpy(first, f->prefix));
	size_t dir_len = strlen(f->prefix) - strlen(prefix);
	struct dirent **files = NULL;
	bool found = false;
	int nr = scandir(dirname(strcpy(folder, f->prefix)), &files, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		if (!found && is_ours(files[i]->d_name, prefix, TAP_SPOOL_SUFFIX)) {
			snprintf(path, sizeof(path), "%.*s%.*s", (int)dir_len, f->prefix, (int)(strlen(prefix) + STAMP_LEN), files[i]->d_name);
			found = strcmp(path, f->left) > 0;
		}
		free(files[i]);
	}
	if (found)
		strcpy(f->left, path);
	free(files);
	return found;
}

void tap_flight_files_release(struct tap_flight_files *f)
{
	while (f->nr_written)
		forget_written(f);
	free(f->written);
	free(f->prefix);
}
