/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Record to disk without end: the recording is cut into files that follow each other without a gap,
 * and the oldest files are removed so that a limit on disk space holds.
 *
 * The spool (file/spool.h) always has the newest file's folder, PREFIX-STAMP.dat.spool. When
 * that folder is large or old enough, one thread, the maker, reads the list of tasks and makes the
 * next file's folder. Then the draining thread chooses the instant of the cut; from there on, the
 * page writer's thread keeps later events in memory. After a drain that took all earlier events,
 * the page writer's thread replaces the folder in the spool. Another thread, the packer, makes the
 * finished folder's file. The draining thread waits for none of them.
 *
 * The page writer's thread writes nothing beyond the limit. A third thread, the keeper, removes old
 * files before that: it has the recorder's priority, because events are lost if it is late.
 *
 * A folder NAME.dat.spool without pages keeps other recorders from using the same names.
 */
#ifndef TAP_RECORD_SESSION_ROTATION_H
#define TAP_RECORD_SESSION_ROTATION_H

#include "file/page_writer.h"
#include "record/session/description.h"
#include "record/session/opts.h"

struct tap_rotation;

/*
 * Lock the name @file and choose the first file's name. Return: 0; -EEXIST like tap_spool_create();
 * -errno with a sentence.
 */
int tap_rotation_new(const struct tap_rotation_opts *opts, const char *file, bool zstd,
		     const struct tap_head *head, struct tap_rotation **out, struct tap_err *err);
/* Stop the threads once all finished folders are packed, and unlock the name. */
void tap_rotation_free(struct tap_rotation *r);

/* Return: the path of the file to which the recorder records now, as yet a spool folder. */
const char *tap_rotation_path(const struct tap_rotation *r);
/* Return: when the current file begins; not valid for the first file. */
uint64_t tap_rotation_start_ns(const struct tap_rotation *r);

/* Return: a spool that keeps sub-buffers in memory, for conditions (tap_page_writer_copy_to()). */
struct tap_spool *tap_rotation_held(const struct tap_rotation *r);

struct tap_rotation_tids {
	pid_t keeper, maker, packer;
};

/*
 * Start the threads. @spool: of the first file; borrowed, as is @writer. @tids: set. Return: 0;
 * -errno with a sentence.
 */
int tap_rotation_start(struct tap_rotation *r, struct tap_spool *spool,
		       struct tap_page_writer *writer, struct tap_rotation_tids *tids,
		       struct tap_err *err);

/*
 * Call it before a drain. Return: whether the drain must take all events, and @d must be up to date
 * in tap_rotation_step().
 */
bool tap_rotation_is_due(struct tap_rotation *r, uint64_t now_ns);
/*
 * Call it after a drain. @is_due: what tap_rotation_is_due() returned. @d: describes the file of
 * tap_rotation_path(). Return: 1: a new file was begun, @d describes it now, and the caller must
 * set the head; 0: no new file; -ENOMEM.
 */
int tap_rotation_step(struct tap_rotation *r, struct tap_description *d, bool is_due,
		      struct tap_err *err);

/*
 * Call it after the last drain and before tap_page_writer_wait(): all events that are still to be
 * written stay in the current file.
 */
void tap_rotation_stop(struct tap_rotation *r);
/*
 * Call it once all events are written: wait until all finished folders are packed, and make space
 * for the last file.
 */
void tap_rotation_wait(struct tap_rotation *r);
/* The disk is full: remove an old file. Return: whether one was removed. */
bool tap_rotation_make_room(struct tap_rotation *r);
/* Return: 0; -errno if the last file lacks events, otherwise the first failure to write a file. */
int tap_rotation_check(const struct tap_rotation *r, struct tap_err *err);

#endif
