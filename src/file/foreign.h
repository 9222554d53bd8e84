/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of other programs that are translated when they are opened (made.h). */
#ifndef TAP_FILE_FOREIGN_H
#define TAP_FILE_FOREIGN_H

#include "file/dat_file.h"

struct tap_made;

/*
 * Translate the first mapping of @r if it is one of these formats. Return: 1 if it is not; 0;
 * -EINVAL if it is damaged or has no event; -E2BIG if translated it would be out of proportion to
 * its size; -ENOSPC and other errnos of the temporary files; -ENOMEM.
 */
int tap_foreign_open(struct tap_reader *r, struct tap_err *err);
/* The same of the folder @dir, whose path is r->path; -EOPNOTSUPP: a library is not installed. */
int tap_foreign_open_folder(struct tap_reader *r, int dir, struct tap_err *err);

/*
 * The formats. ..._is(): the first bytes of a file are those of this format. ..._read(): add all
 * its events. Return: 0 or -errno, with m->err set.
 */
bool tap_text_is(const unsigned char *data, size_t len);
int tap_text_read(struct tap_made *m, const unsigned char *data, size_t len);
bool tap_perfetto_is(const unsigned char *data, size_t len);
int tap_perfetto_read(struct tap_made *m, const unsigned char *data, size_t len);
/*
 * tap_ctf_is(): the folder @dir has a CTF trace: NULL if not, or its subfolder with "/" before it,
 * or
 * "". tap_ctf_read(): @path: that folder.
 */
const char *tap_ctf_is(int dir);
int tap_ctf_read(struct tap_made *m, const char *path);

#endif
