/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cut one CPU's sub-buffers in two at a time stamp: what goes on one side of it into one file, and
 * the rest into the next file. Sub-buffers are of this machine, as a recorder makes or gets them.
 */
#ifndef TAP_FILE_CUT_H
#define TAP_FILE_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Find where the events of @cut_ns and later begin in @pages, @len bytes of whole sub-buffers. The
 * sub-buffer that has events of both sides is split: @first, of @page_size bytes, gets the earlier
 * ones, and the later ones stay in its place.
 * @is_split: set to whether there is such a sub-buffer.
 * Return: the number of bytes of sub-buffers that have only earlier events.
 */
size_t tap_cut_pages(unsigned char *pages, size_t len, uint32_t page_size, uint64_t cut_ns,
		     unsigned char *first, bool *is_split);

#endif
