/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the sub-buffers that a flight recorder keeps in memory (held.h) to spool folders
 * (spool.h), so that `schedtap repair` can make a recording of what a killed recorder had. A folder
 * begins when a condition fires. It gets the buffered sub-buffers, and new ones as they come, until
 * the file of the condition is saved.
 *
 * A thread of its own writes, and nobody waits for it. It writes the head and the description
 * first. From then on it writes the new sub-buffers in turn with old ones, of which the newest come
 * first: a folder whose writer was killed early has the time around the condition, and empty pages
 * in place of older sub-buffers, which readers report as lost events.
 */
#ifndef TAP_FILE_HELD_SPOOL_H
#define TAP_FILE_HELD_SPOOL_H

#include "file/page_writer.h"

/* At one time: a file is being saved, and the next condition has fired. */
#define TAP_HELD_SPOOL_FOLDERS 2u

struct tap_held_spool;

/* @spool: has the sub-buffers and the head; @writer: sets that head. Return: 0; -ENOMEM, -EAGAIN
 * (no thread) with a sentence. */
int tap_held_spool_new(const struct tap_spool *spool, const struct tap_page_writer *writer,
		       struct tap_held_spool **out, struct tap_err *err);
/* Leaves the folders that were not removed. */
void tap_held_spool_free(struct tap_held_spool *h);
pid_t tap_held_spool_tid(const struct tap_held_spool *h);

/*
 * Begins the folder FILE.spool. @from_ns: sub-buffers that end before are left out. @meta: the
 * description, taken; to be freed by free(). Less than TAP_HELD_SPOOL_FOLDERS are there. Return:
 * its number.
 */
unsigned int tap_held_spool_begin(struct tap_held_spool *h, const char *file, uint64_t from_ns,
				  char *meta);
/* Sub-buffers that come later are not for this folder. */
void tap_held_spool_end(struct tap_held_spool *h, unsigned int folder);
/* Removes the folder, and waits until it is gone; in any thread. */
void tap_held_spool_remove(struct tap_held_spool *h, unsigned int folder);
/*
 * A folder that cannot be written is removed at once, so that the saved file has the space. Return:
 * whether that has happened, with the reason: once.
 */
bool tap_held_spool_failed(struct tap_held_spool *h, unsigned int folder, struct tap_err *err);

#endif
