/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Say what a file or folder is that the reader does not know, and which command helps. */
#ifndef TAP_FILE_UNKNOWN_H
#define TAP_FILE_UNKNOWN_H

#include "file/dat_file.h"

/* Refuse the first mapping of @r, by its content. Return: -EINVAL. */
int tap_unknown_file(const struct tap_reader *r, struct tap_err *err);
/* Refuse the folder @dir, whose path is r->path, by the files in it. Return: -EINVAL. */
int tap_unknown_folder(const struct tap_reader *r, int dir, struct tap_err *err);

#endif
