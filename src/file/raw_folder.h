/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folders with sub-buffers as tracefs hands them out, next to the events' formats:
 *
 *   traces/cpu0, ...  formats/SYSTEM/EVENT/format  formats/header_page    as SchedViz collects them
 *   per_cpu/cpu0/trace_pipe_raw, ...  events/SYSTEM/EVENT/format  events/header_page   as in
 * tracefs
 */
#ifndef TAP_FILE_RAW_FOLDER_H
#define TAP_FILE_RAW_FOLDER_H

#include "file/dat_file.h"

/*
 * Read the files of the folder @dir into @r. Return: 1 if it is no such folder; 0; -EINVAL if it
 * has no formats; -E2BIG; -errno of its files; -ENOMEM.
 */
int tap_raw_open_folder(struct tap_reader *r, int dir, struct tap_err *err);

#endif
