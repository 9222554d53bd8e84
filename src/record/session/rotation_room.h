/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which files and spool folders a ring on disk has (rotation.h), which of them a thread needs, and
 * which one is removed next so that the limit on disk space holds.
 *
 * Files are listed and removed under a lock of its own, which neither the draining thread nor the
 * page writer's thread takes: they never wait for a disk here. The lock of the list of folders is
 * held for a few instructions, and whoever holds it inherits the priority of a thread that waits
 * for it.
 */
#ifndef TAP_RECORD_SESSION_ROTATION_ROOM_H
#define TAP_RECORD_SESSION_ROTATION_ROOM_H

#include <pthread.h>

#include "record/session/opts.h"
#include "record/session/rotation_file.h"
#include "record/session/stamped.h"

#define TAP_ROTATION_PARTS 16u /* a file gets this part of the limit, and of the time to keep */

struct tap_rotation_room {
	uint64_t max_bytes, keep_ns; /* struct tap_rotation_opts */
	uint64_t heads_bytes; /* of the next folder, and while they are replaced */
	const struct tap_spool *spool; /* to which events are recorded; borrowed */
	/* a file's part of the limit, or of the disk where that has less space */
	_Atomic uint64_t part_bytes;
	_Atomic uint64_t written_bytes; /* in page files of all folders before the current one */
	_Atomic uint64_t max_written_bytes; /* more may not be written, with the current folder */

	pthread_mutex_t disk; /* of .names, and of what is removed */
	struct tap_stamped names;

	pthread_mutex_t mutex; /* of all below */
	struct tap_rotation_file *current, *upcoming; /* changed by the draining thread only */
	/* the page writer's thread has not closed its folder yet */
	struct tap_rotation_file *finished;
	/* folders to be packed, the oldest first; the one that is being packed */
	struct tap_rotation_file *queue, *packing;
	unsigned int first_kept; /* older files are removed once they are packed */
};

/* Name the first file after @file. Return: 0; -ENAMETOOLONG, -ENOMEM with a sentence. */
int tap_rotation_room_init(struct tap_rotation_room *room, const struct tap_rotation_opts *opts,
			   const char *file, struct tap_err *err);
void tap_rotation_room_release(struct tap_rotation_room *room);

/* ---- in any thread but the two above ---- */

/* Set the path of a file that is made now, and once its folder is there, note that it is the newest
 * file. Return: 0; -ENOMEM. */
void tap_rotation_room_name(struct tap_rotation_room *room, struct tap_rotation_file *f);
int tap_rotation_room_add(struct tap_rotation_room *room, const struct tap_rotation_file *f);

/*
 * Remove files that are too old, and the oldest files while there are too many bytes. Return:
 * whether there is room for the file that is being packed.
 */
bool tap_rotation_room_keep_limit(struct tap_rotation_room *room);
/* Remove the oldest file. Return: whether there was one. */
bool tap_rotation_room_remove_oldest(struct tap_rotation_room *room);

/* Return: the next folder, which is .packing now; NULL: none waits. */
struct tap_rotation_file *tap_rotation_room_take(struct tap_rotation_room *room);
/* It is packed, or could not be. Return: whether the file is still wanted. */
bool tap_rotation_room_end_packing(struct tap_rotation_room *room);
/* Or it is not packed: remove the folder, and free @f. */
void tap_rotation_room_drop(struct tap_rotation_room *room, struct tap_rotation_file *f);
/* The current folder is packed next, and nothing more is recorded. */
void tap_rotation_room_pack_current(struct tap_rotation_room *room);

/* ---- the draining thread and the page writer's ---- */

/* @f: the file whose folder is made next; NULL: it could not be made. */
void tap_rotation_room_expect(struct tap_rotation_room *room, struct tap_rotation_file *f);
/* The upcoming file is the current one from now on, and the one before is finished. */
void tap_rotation_room_begin_next(struct tap_rotation_room *room);
/* Events are recorded to the current file's folder: the one before, with @bytes in page files,
 * waits to be packed. */
void tap_rotation_room_close_finished(struct tap_rotation_room *room, uint64_t bytes);
/* Return: whether the limit allows @bytes in the current folder's page files. */
bool tap_rotation_room_fits(const struct tap_rotation_room *room, uint64_t bytes);

#endif
