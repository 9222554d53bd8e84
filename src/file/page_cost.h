/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The cost of reading a mapped file. The first access to a page causes a page fault, or a share of
 * one. Its cost differs by a factor of thirty between machines (hypervisors) and files (small or
 * large folios): from well below a copy of the page to several times that.
 */
#ifndef TAP_FILE_PAGE_COST_H
#define TAP_FILE_PAGE_COST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Return true if a mapped file, most of which will be read twice, is better copied by pread(). For
 * large files both ways are timed in the middle of the file, which must not have been accessed yet.
 * Small files are copied, which is never much worse. @data: the mapping. @fd: -1: it cannot be
 * copied.
 */
bool tap_page_copy_pays(const unsigned char *data, size_t len, int fd);

#endif
