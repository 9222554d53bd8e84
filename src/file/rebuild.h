/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rebuild the head of a spool folder (spool.h) if both head.dat and its copy are damaged. The
 * description lists the head's formats, and schedtap has the formats of its own events built in.
 */
#ifndef TAP_FILE_REBUILD_H
#define TAP_FILE_REBUILD_H

#include <jansson.h>

#include "base/buf.h"
#include "file/head.h"

/* Return the key "formats" of the description (meta.h) for @head; NULL: out of memory. */
json_t *tap_rebuild_formats(const struct tap_head *head);

/*
 * Append the rebuilt head to @out. It lacks the names of tasks, cgroups and stacks, which only the
 * damaged head had. @meta: the contents of meta.json. Return: 0; -ENODATA: meta.json is damaged, or
 * was written by an older recorder and lists no formats; -ENOTSUP with an error text: a format is
 * not built into schedtap; -ENOMEM.
 */
int tap_rebuild_head(const char *meta, size_t len, struct tap_buf *out, struct tap_err *err);

#endif
