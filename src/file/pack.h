/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Make one trace.dat version 7, plain or zstd, from a spool folder: at the normal end of a
 * recording, and for `schedtap repair`. The file gets its name only once complete (it is written
 * under another name, synced, renamed); only then is the folder removed.
 */
#ifndef TAP_FILE_PACK_H
#define TAP_FILE_PACK_H

#include <stdbool.h>

#include "file/spool.h"

/*
 * What a running flight recorder has in memory now. .meta and .cmdlines replace those of head.dat.
 */
struct tap_pack_moment {
	const struct tap_spool *spool;
	const char *meta, *cmdlines;
	uint64_t from_ns; /* sub-buffers that end before are left out */
};

struct tap_pack_opts {
	bool zstd;
	int level; /* zstd level; 0: the default */
	const struct tap_head *head; /* the head to write; NULL: use head.dat */
	const char *cmdlines; /* replaces the "pid comm" lines of head.dat; NULL: keep them */
	const struct tap_pack_moment *moment; /* NULL: pack and then remove the folder */
	/* reports damage in the folder, and what was used instead; may be NULL */
	void (*note)(void *ctx, const char *sentence);
	void (*show)(void *ctx, uint64_t done, uint64_t whole); /* reports progress; may be NULL */
	void *ctx;
};

/*
 * Check whether tap_pack() may write @file: it does not exist, or is a regular file, which will be
 * renamed to "@file.old", replacing an earlier one. Devices, folders and links are never replaced.
 * Return: 0; -EEXIST with an error text that names the obstacle; -ENOMEM.
 */
int tap_pack_check(const char *file, struct tap_err *err);

/*
 * Pack the folder @spool_path into @file (mode 0600). Return: 0; -EEXIST as for tap_pack_check();
 * -ENOSPC and other errnos. The folder is kept on failure.
 */
int tap_pack(const char *spool_path, const char *file, const struct tap_pack_opts *opts,
	     struct tap_err *err);

/*
 * Check that this program knows the folder's format (meta.h); packing a newer one would drop what
 * it does not know. Return: 0; -ENOTSUP with an error text.
 */
int tap_pack_check_format(const char *spool_path, struct tap_err *err);

#endif
