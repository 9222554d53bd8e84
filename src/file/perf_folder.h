/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folders of perf.data: `perf record --threads` writes one file per thread. `data` is a perf.data
 * with the header, and data.0, data.1, ... have records alone. With --kcore, `data` is the only
 * one.
 */
#ifndef TAP_FILE_PERF_FOLDER_H
#define TAP_FILE_PERF_FOLDER_H

#include "file/dat_file.h"

/*
 * Read the files of the folder @dir into @r, as tap_perf_open() reads one. Return: 1 if its `data`
 * is not a perf.data; 0; -errno as tap_perf_open(), and of opening the files.
 */
int tap_perf_open_folder(struct tap_reader *r, int dir, struct tap_err *err);

#endif
