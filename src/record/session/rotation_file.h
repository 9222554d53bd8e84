/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One file of a rotated recording (rotation.h). It begins as a spool folder with a head and a list
 * of tasks, which is read before events are recorded to it, and becomes a recording once later
 * events go to the next folder.
 */
#ifndef TAP_RECORD_SESSION_ROTATION_FILE_H
#define TAP_RECORD_SESSION_ROTATION_FILE_H

#include <limits.h>

#include "file/spool.h"
#include "record/session/description.h"

struct tap_rotation_file {
	struct tap_rotation_file *next; /* in the queue of folders to pack */
	char path[PATH_MAX];
	unsigned int nr;
	uint64_t start_ns; /* about when it began, CLOCK_MONOTONIC */
	struct tap_spool *spool; /* its folder; NULL while events are recorded to it */
	/*
	 * before events are recorded to it: its first tasks; later: the description of the
	 * recording
	 */
	struct tap_description d;
	json_t *clocks; /* readings of the clocks when it began */
};

/* Return: a file without a path; NULL: out of memory. */
struct tap_rotation_file *tap_rotation_file_new(unsigned int nr);
void tap_rotation_file_free(struct tap_rotation_file *f);

/* Return: whether @path is the file's spool folder. @f: or NULL. */
bool tap_rotation_file_has_folder(const struct tap_rotation_file *f, const char *path);

/*
 * Make the folder of f->path. Its head is that of @before, with this file's tasks. Return: 0;
 * -errno with a sentence.
 */
int tap_rotation_file_prepare(struct tap_rotation_file *f, const struct tap_rotation_file *before,
			      struct tap_err *err);

/*
 * Pack the folder, and remove it. @make_room: called if the disk is full; returns whether to try
 * again. Return: 0; -errno with a sentence, also if the file was made but lacks events.
 */
int tap_rotation_file_pack(struct tap_rotation_file *f, bool zstd, bool (*make_room)(void *ctx),
			   void *ctx, struct tap_err *err);

/* @failed: what tap_spool_failed() returned. Return: @failed, with a sentence. */
int tap_rotation_file_explain(int failed, struct tap_err *err);

#endif
