// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/rotation_room.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"

/* parts of the limit that are kept free, for the spool to grow until the keeper checks again */
#define SPARE_PARTS 2u

/*
 * Use priority inheritance if the kernel has PI futexes. Kernels without them need no real-time
 * priorities.
 */
static void init_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	if (pthread_mutex_init(mutex, &attr))
		pthread_mutex_init(mutex, NULL);
	pthread_mutexattr_destroy(&attr);
}

int tap_rotation_room_init(struct tap_rotation_room *room, const struct tap_rotation_opts *opts,
			   const char *file, struct tap_err *err)
{
	int ret;

	init_mutex(&room->mutex);
	init_mutex(&room->disk);
	room->max_bytes = opts->max_bytes;
	room->keep_ns = opts->keep_ns;
	room->part_bytes = room->max_written_bytes = opts->max_bytes / TAP_ROTATION_PARTS;
	room->current = tap_rotation_file_new(1);
	if (!room->current)
		return tap_err_nomem(err);
	ret = tap_stamped_init(&room->names, file, err);
	if (!ret)
		tap_rotation_room_name(room, room->current);
	return ret;
}

void tap_rotation_room_release(struct tap_rotation_room *room)
{
	tap_rotation_file_free(room->upcoming);
	tap_rotation_file_free(room->current);
	tap_stamped_release(&room->names);
	pthread_mutex_destroy(&room->mutex);
	pthread_mutex_destroy(&room->disk);
}

/* ---- the list of folders ---- */

void tap_rotation_room_expect(struct tap_rotation_room *room, struct tap_rotation_file *f)
{
	pthread_mutex_lock(&room->mutex);
	room->upcoming = f;
	pthread_mutex_unlock(&room->mutex);
}

void tap_rotation_room_begin_next(struct tap_rotation_room *room)
{
	pthread_mutex_lock(&room->mutex);
	room->finished = room->current;
	room->current = room->upcoming;
	room->upcoming = NULL;
	pthread_mutex_unlock(&room->mutex);
}

void tap_rotation_room_close_finished(struct tap_rotation_room *room, uint64_t bytes)
{
	struct tap_rotation_file **last = &room->queue;

	room->written_bytes += bytes;
	pthread_mutex_lock(&room->mutex);
	while (*last)
		last = &(*last)->next;
	*last = room->finished;
	room->finished = NULL;
	pthread_mutex_unlock(&room->mutex);
}

struct tap_rotation_file *tap_rotation_room_take(struct tap_rotation_room *room)
{
	struct tap_rotation_file *f;

	pthread_mutex_lock(&room->mutex);
	f = room->packing = room->queue;
	if (f)
		room->queue = f->next;
	pthread_mutex_unlock(&room->mutex);
	return f;
}

bool tap_rotation_room_end_packing(struct tap_rotation_room *room)
{
	bool is_kept;

	pthread_mutex_lock(&room->mutex);
	is_kept = room->packing->nr >= room->first_kept;
	room->packing = NULL;
	pthread_mutex_unlock(&room->mutex);
	return is_kept;
}

void tap_rotation_room_pack_current(struct tap_rotation_room *room)
{
	pthread_mutex_lock(&room->mutex);
	room->packing = room->current;
	pthread_mutex_unlock(&room->mutex);
}

static bool is_packing(struct tap_rotation_room *room, const char *path)
{
	bool ret;

	pthread_mutex_lock(&room->mutex);
	ret = tap_rotation_file_has_folder(room->packing, path);
	pthread_mutex_unlock(&room->mutex);
	return ret;
}

static bool is_in_use(struct tap_rotation_room *room, const char *path)
{
	bool in_use;

	pthread_mutex_lock(&room->mutex);
	in_use = tap_rotation_file_has_folder(room->current, path) ||
		 tap_rotation_file_has_folder(room->upcoming, path) ||
		 tap_rotation_file_has_folder(room->finished, path) ||
		 tap_rotation_file_has_folder(room->packing, path);
	for (const struct tap_rotation_file *f = room->queue; f; f = f->next)
		in_use |= tap_rotation_file_has_folder(f, path);
	pthread_mutex_unlock(&room->mutex);
	return in_use;
}

/*
 * Return: the oldest folder that waits for the packer, removed from the queue: it will not be
 * packed; NULL: none waits.
 */
static struct tap_rotation_file *drop_oldest(struct tap_rotation_room *room)
{
	struct tap_rotation_file *f;

	pthread_mutex_lock(&room->mutex);
	f = room->queue;
	if (f) {
		room->queue = f->next;
		room->first_kept = f->nr + 1;
	}
	pthread_mutex_unlock(&room->mutex);
	return f;
}

/* ---- what is on disk ---- */

void tap_rotation_room_name(struct tap_rotation_room *room, struct tap_rotation_file *f)
{
	char path[PATH_MAX];

	tap_stamped_name(&room->names, tap_now_ns(), path);
	pthread_mutex_lock(&room->mutex);
	memcpy(f->path, path, strlen(path) + 1);
	pthread_mutex_unlock(&room->mutex);
}

int tap_rotation_room_add(struct tap_rotation_room *room, const struct tap_rotation_file *f)
{
	int ret;

	pthread_mutex_lock(&room->disk);
	ret = tap_stamped_add(&room->names, f->path);
	pthread_mutex_unlock(&room->disk);
	return ret;
}

static uint64_t free_bytes(const struct tap_rotation_room *room)
{
	char path[PATH_MAX];
	struct statvfs st;

	snprintf(path, sizeof(path), "%s", room->names.prefix);
	return statvfs(dirname(path), &st) ? UINT64_MAX : (uint64_t)st.f_bavail * st.f_frsize;
}

/* Return: whether the file was removed. A folder in use stays. */
static bool remove_file(struct tap_rotation_room *room, const struct tap_stamped_file *file)
{
	if (!file->is_folder)
		return !unlink(file->path);
	return !is_in_use(room, file->path) && !tap_spool_remove_folder(file->path, NULL);
}

static void remove_folder(struct tap_rotation_file *f)
{
	char path[PATH_MAX + sizeof(TAP_SPOOL_SUFFIX)];

	snprintf(path, sizeof(path), "%s" TAP_SPOOL_SUFFIX, f->path);
	tap_rotation_file_free(f); /* it holds the folder's lock */
	tap_spool_remove_folder(path, NULL);
}

/* Return: the number of bytes that the folder took. */
static uint64_t remove_dropped(struct tap_rotation_file *f, const struct tap_stamped_file *files,
			       int nr)
{
	uint64_t bytes = 0;

	for (int i = 0; i < nr; i++)
		if (tap_rotation_file_has_folder(f, files[i].path))
			bytes = files[i].bytes;
	remove_folder(f);
	return bytes;
}

void tap_rotation_room_drop(struct tap_rotation_room *room, struct tap_rotation_file *f)
{
	pthread_mutex_lock(&room->disk);
	tap_rotation_room_end_packing(room);
	remove_folder(f);
	pthread_mutex_unlock(&room->disk);
}

static bool is_expired(const struct tap_rotation_room *room, const struct tap_stamped_file *file,
		       uint64_t now_ns)
{
	return room->keep_ns && file->modified_ns + room->keep_ns < now_ns;
}

static uint64_t sum_of(const struct tap_stamped_file *files, int nr)
{
	uint64_t bytes = 0;

	for (int i = 0; i < nr; i++)
		bytes += files[i].bytes;
	return bytes;
}

/* Return: the space that the file that is being packed takes in addition to its folder. */
static uint64_t packing_bytes(struct tap_rotation_room *room, const struct tap_stamped_file *files,
			      int nr)
{
	for (int i = 0; i < nr; i++)
		if (files[i].is_folder && is_packing(room, files[i].path))
			return files[i].bytes;
	return 0;
}

/* Return: the limit, or less if the disk has less free space. @total: bytes of our files. */
static uint64_t limit_of(const struct tap_rotation_room *room, uint64_t total)
{
	uint64_t free = free_bytes(room), max = room->max_bytes;

	return free < max && total + free < max ? total + free : max;
}

/* Call it with room->disk locked. Return: like tap_rotation_room_keep_limit(). */
static bool remove_old(struct tap_rotation_room *room)
{
	/*
	 * Read in this order: a folder that is closed in between counts at most once, so that the
	 * limit is too low rather than too high.
	 */
	uint64_t before_bytes = room->written_bytes,
		 written_bytes = before_bytes + tap_spool_folder_bytes(room->spool);
	uint64_t now_ns = tap_clock_ns(CLOCK_REALTIME), total, limit, spare;
	struct tap_rotation_file *dropped;
	struct tap_stamped_file *files;
	int nr = tap_stamped_list(&room->names, true, &files);

	if (nr < 0)
		return true;
	total = sum_of(files, nr);
	limit = limit_of(room, total);
	room->part_bytes = limit / TAP_ROTATION_PARTS;
	total += packing_bytes(room, files, nr) + room->heads_bytes;
	spare = SPARE_PARTS * room->part_bytes;
	for (int i = 0; i < nr; i++)
		if ((total + spare > limit || is_expired(room, &files[i], now_ns)) &&
		    remove_file(room, &files[i]))
			total -= files[i].bytes;
	while (total + spare > limit && (dropped = drop_oldest(room)) != NULL)
		total -= remove_dropped(dropped, files, nr);
	room->max_written_bytes = written_bytes + (total < limit ? limit - total : 0);
	tap_stamped_free_list(files, nr);
	return total <= limit;
}

bool tap_rotation_room_keep_limit(struct tap_rotation_room *room)
{
	bool has_room;

	pthread_mutex_lock(&room->disk);
	has_room = remove_old(room);
	pthread_mutex_unlock(&room->disk);
	return has_room;
}

bool tap_rotation_room_remove_oldest(struct tap_rotation_room *room)
{
	struct tap_stamped_file *files;
	bool is_removed = false;
	int nr;

	pthread_mutex_lock(&room->disk);
	nr = tap_stamped_list(&room->names, true, &files);
	for (int i = 0; i < nr && !is_removed; i++)
		is_removed = remove_file(room, &files[i]);
	tap_stamped_free_list(files, nr);
	pthread_mutex_unlock(&room->disk);
	return is_removed;
}

bool tap_rotation_room_fits(const struct tap_rotation_room *room, uint64_t bytes)
{
	return room->written_bytes + bytes <= room->max_written_bytes;
}
