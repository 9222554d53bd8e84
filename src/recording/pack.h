/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a spool folder to one trace.dat version 7, plain or zstd: at a clean stop and by
 * `schedtap repair`. The file appears under its name only when it is whole (written beside it,
 * synced, renamed); only then is the folder removed.
 */
#ifndef TAP_RECORDING_PACK_H
#define TAP_RECORDING_PACK_H

#include <stdbool.h>

#include "recording/spool.h"

struct tap_pack_opts {
	bool zstd;
	int level; /* of zstd; 0: the default */
	const struct tap_head *head; /* what to write at the front; NULL: what head.dat says */
};

/*
 * Packs FILE.spool at @spool_path into @file (mode 0600). An existing @file is replaced.
 * Return: 0; -ENOSPC and other errnos, with the folder left as it was.
 */
int tap_pack(const char *spool_path, const char *file, const struct tap_pack_opts *opts,
	     struct tap_err *err);

#endif
