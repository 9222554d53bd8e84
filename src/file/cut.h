/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cut one CPU's sub-buffers in two at a time stamp, to continue a recording in another file. The
 * sub-buffers must have this machine's byte order and an 8-byte commit word.
 */
#ifndef TAP_FILE_CUT_H
#define TAP_FILE_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Find where the events of @cut_ns and later begin in @pages, @len bytes of whole sub-buffers. A
 * sub-buffer with events of both sides is split: the earlier events are moved to @first (@page_size
 * bytes), the later ones stay in its place.
 * @is_split: set to whether a sub-buffer was split.
 * Return: the number of bytes of sub-buffers that have only earlier events.
 */
size_t tap_cut_pages(unsigned char *pages, size_t len, uint32_t page_size, uint64_t cut_ns,
		     unsigned char *first, bool *is_split);

#endif
