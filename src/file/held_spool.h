/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Write the sub-buffers that a flight recorder keeps in memory (held.h) to spool folders (spool.h),
 * so that `schedtap repair` can make a recording of what a killed recorder had. A folder is started
 * when a condition fires. It gets the buffered sub-buffers, and new ones as they come, until the
 * condition's file is saved.
 *
 * A separate thread writes; the recorder never waits for it. It writes the head and the description
 * first. After that it alternates between new sub-buffers and old ones, the newest of these first.
 * So a folder whose writer was killed early has the time around the condition. Older sub-buffers
 * are then replaced by empty ones, which readers report as lost events.
 */
#ifndef TAP_FILE_HELD_SPOOL_H
#define TAP_FILE_HELD_SPOOL_H

#include "file/page_writer.h"

/* Two at a time: one file is being saved when the next condition fires. */
#define TAP_HELD_SPOOL_FOLDERS 2u

struct tap_held_spool;

/*
 * Start the thread. @spool: has the sub-buffers and the head; @writer: updates that head. Return:
 * 0; -ENOMEM, -EAGAIN (no thread) with an error text.
 */
int tap_held_spool_new(const struct tap_spool *spool, const struct tap_page_writer *writer,
		       struct tap_held_spool **out, struct tap_err *err);
/* Stop the thread. Folders that were not removed remain. */
void tap_held_spool_free(struct tap_held_spool *h);
pid_t tap_held_spool_tid(const struct tap_held_spool *h);

/*
 * Start the folder FILE.spool. The caller must keep the number of folders below
 * TAP_HELD_SPOOL_FOLDERS.
 * @from_ns: sub-buffers that end before are left out.
 * @meta: the description; ownership is taken, from malloc().
 * Return: the folder's number.
 */
unsigned int tap_held_spool_begin(struct tap_held_spool *h, const char *file, uint64_t from_ns,
				  char *meta);
/* Stop adding sub-buffers to this folder that are recorded from now on. */
void tap_held_spool_end(struct tap_held_spool *h, unsigned int folder);
/* Remove the folder, and wait until it is gone. Any thread may call this. */
void tap_held_spool_remove(struct tap_held_spool *h, unsigned int folder);
/*
 * Return true, once, if the folder could not be written; @err is set to the reason. Such a folder
 * is removed at once, to leave its space to the saved file.
 */
bool tap_held_spool_failed(struct tap_held_spool *h, unsigned int folder, struct tap_err *err);

#endif
