/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The head of a spool folder (spool.h), made anew where head.dat and its copy are both damaged. The
 * description says which formats the head had, and schedtap has the formats of its own definitions
 * built in.
 */
#ifndef TAP_FILE_REBUILD_H
#define TAP_FILE_REBUILD_H

#include <jansson.h>

#include "base/buf.h"
#include "file/head.h"

/* Return: what the description says of @head's formats, its key "formats" (meta.h); NULL: out of
 * memory. */
json_t *tap_rebuild_formats(const struct tap_head *head);

/*
 * Appends the head to @out. @meta: meta.json as it was read. The new head lacks names of tasks,
 * cgroups and stacks, which only the damaged one had. Return: 0; -ENODATA: meta.json is damaged, or
 * an older recorder's that names no formats; -ENOTSUP with a sentence: schedtap has one of the
 * formats not built in; -ENOMEM.
 */
int tap_rebuild_head(const char *meta, size_t len, struct tap_buf *out, struct tap_err *err);

#endif
