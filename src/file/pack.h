/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a spool folder to one trace.dat version 7, plain or zstd: at a clean stop and by
 * `schedtap repair`. The file appears under its name only when it is whole (written beside it,
 * synced, renamed); only then is the folder removed.
 */
#ifndef TAP_FILE_PACK_H
#define TAP_FILE_PACK_H

#include <stdbool.h>

#include "file/spool.h"

/* What is held by now of a recording that goes on. With head.dat, but for: */
struct tap_pack_moment {
	const struct tap_spool *spool;
	const char *meta, *cmdlines;
	uint64_t from_ns; /* pages that end before are left out */
};

struct tap_pack_opts {
	bool zstd;
	int level; /* of zstd; 0: the default */
	const struct tap_head *head; /* what to write at the front; NULL: what head.dat says */
	const char *cmdlines; /* in place of the "pid comm" lines in head.dat; NULL: those */
	const struct tap_pack_moment *moment; /* NULL: all of the folder, which is removed then */
	/* what of the folder was damaged, and what was used instead; or NULL */
	void (*note)(void *ctx, const char *sentence);
	void (*show)(void *ctx, uint64_t done, uint64_t whole); /* how far it has come; or NULL */
	void *ctx;
};

/*
 * Whether tap_pack() may put a file there: nothing is, or a regular file, which will then be kept
 * as
 * "@file.old" in place of an earlier one. A device, a folder or a link is never replaced.
 * Return: 0; -EEXIST with a sentence that says what is in the way; -ENOMEM.
 */
int tap_pack_check(const char *file, struct tap_err *err);

/*
 * Packs FILE.spool at @spool_path into @file (mode 0600).
 * Return: 0; -EEXIST as above; -ENOSPC and other errnos, with the
 * folder left as it was.
 */
int tap_pack(const char *spool_path, const char *file, const struct tap_pack_opts *opts,
	     struct tap_err *err);

/* Packing would drop what a folder of a newer format (meta.h) holds beyond what this program knows.
 * Return: 0; -ENOTSUP with a sentence. */
int tap_pack_check_format(const char *spool_path, struct tap_err *err);

#endif
