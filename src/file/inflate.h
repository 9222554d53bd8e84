/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decompress a recording that was compressed as a whole by gzip, zstd or xz, into a temporary file
 * (unnamed.h). Decompressing again is left to the user.
 */
#ifndef TAP_FILE_INFLATE_H
#define TAP_FILE_INFLATE_H

#include "file/dat_file.h"

/* Return the name of the compression that these first bytes of a file belong to, or NULL. */
const char *tap_inflate_name(const unsigned char *data, size_t len);

/*
 * Replace the only mapping of @r, which tap_inflate_name() recognizes, by its decompressed content.
 * The budget still counts the compressed bytes.
 * @is_cut: set to true if the compressed data ends early, and the content with it.
 * Return: 0; -EINVAL if the data is damaged; -E2BIG if its content is out of proportion to its
 * size, or needs too much memory to decompress; -ENOSPC and other errnos of the temporary file;
 * -ENOMEM.
 */
int tap_inflate(struct tap_reader *r, bool *is_cut, struct tap_err *err);

#endif
