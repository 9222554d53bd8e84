/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Disk space of a rotated recording (rotation.h): which files and spool folders it has, which of
 * them a thread needs, and which one is removed next so that the limit on disk space holds.
 *
 * Files are listed and removed under .disk, a lock that neither the draining thread nor the page
 * writer's thread takes, so that they never wait for the disk here. The lock of the list of
 * folders, .mutex, is held for a few instructions only. Both are priority-inheritance locks.
 */
#ifndef TAP_RECORD_SESSION_ROTATION_ROOM_H
#define TAP_RECORD_SESSION_ROTATION_ROOM_H

#include <pthread.h>

#include "record/session/opts.h"
#include "record/session/rotation_file.h"
#include "record/session/stamped.h"

#define TAP_ROTATION_PARTS 16u /* size of one file: 1/16 of the limit, and of the time to keep */

struct tap_rotation_room {
	uint64_t max_bytes, keep_ns; /* struct tap_rotation_opts */
	uint64_t heads_bytes; /* of the next folder's head, and of heads while they are replaced */
	const struct tap_spool *spool; /* where events are recorded; borrowed */
	/* size of one file: its part of .max_bytes, or less if the disk has less free space */
	_Atomic uint64_t part_bytes;
	_Atomic uint64_t written_bytes; /* in page files of all folders before the current one */
	_Atomic uint64_t max_written_bytes; /* limit of .written_bytes plus the current folder */

	pthread_mutex_t disk; /* protects .names and the removal of files */
	struct tap_stamped names;

	pthread_mutex_t mutex; /* protects the members below */
	struct tap_rotation_file *current, *upcoming; /* changed by the draining thread only */
	/* the file before .current, until the page writer's thread has closed its folder */
	struct tap_rotation_file *finished;
	/* folders to pack, the oldest first; the folder that is being packed */
	struct tap_rotation_file *queue, *packing;
	/* files with a lower number are removed instead of kept, once they are packed */
	unsigned int first_kept;
};

/* Name the first file after @file. Return: 0; -ENAMETOOLONG, -ENOMEM with a sentence. */
int tap_rotation_room_init(struct tap_rotation_room *room, const struct tap_rotation_opts *opts,
			   const char *file, struct tap_err *err);
void tap_rotation_room_release(struct tap_rotation_room *room);

/* ---- in any thread except the draining thread and the page writer's ---- */

/*
 * Choose the path of a new file, whose folder is made next. Then, when the folder exists, note it
 * as the newest file. Return of the second: 0; -ENOMEM.
 */
void tap_rotation_room_name(struct tap_rotation_room *room, struct tap_rotation_file *f);
int tap_rotation_room_add(struct tap_rotation_room *room, const struct tap_rotation_file *f);

/*
 * Remove expired files, and the oldest files while all files together exceed the limit. Return:
 * whether there is space for the file that is being packed.
 */
bool tap_rotation_room_keep_limit(struct tap_rotation_room *room);
/* Remove the oldest file. Return: whether there was one. */
bool tap_rotation_room_remove_oldest(struct tap_rotation_room *room);

/* Return: the next folder to pack, now in .packing; NULL: there is none. */
struct tap_rotation_file *tap_rotation_room_take(struct tap_rotation_room *room);
/* Packing the folder in .packing ended. Return: whether the file is still wanted. */
bool tap_rotation_room_end_packing(struct tap_rotation_room *room);
/* Give up the folder in .packing: remove it, and free @f. */
void tap_rotation_room_drop(struct tap_rotation_room *room, struct tap_rotation_file *f);
/* Mark the current folder as the one that is being packed. Nothing more is recorded to it. */
void tap_rotation_room_pack_current(struct tap_rotation_room *room);

/* ---- in the draining thread and the page writer's ---- */

/* Set the upcoming file, whose folder is made next. @f: NULL: the folder could not be made. */
void tap_rotation_room_expect(struct tap_rotation_room *room, struct tap_rotation_file *f);
/* Make the upcoming file the current one; the previous one becomes .finished. */
void tap_rotation_room_begin_next(struct tap_rotation_room *room);
/*
 * Queue the finished folder for packing: events go to the current file's folder now. @bytes: size
 * of the finished folder's page files.
 */
void tap_rotation_room_close_finished(struct tap_rotation_room *room, uint64_t bytes);
/* Return: whether @bytes in the current folder's page files are within the limit. */
bool tap_rotation_room_fits(const struct tap_rotation_room *room, uint64_t bytes);

#endif
