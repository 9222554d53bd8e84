/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the pages of a mapped file cost. To touch one for the first time is a fault, or a part of
 * one: between machines, with their hypervisors, and files, in small folios or large ones, that
 * differs by a factor of thirty, from well below what it costs to copy the page to several times as
 * much.
 */
#ifndef TAP_FILE_PAGE_COST_H
#define TAP_FILE_PAGE_COST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Return: whether a file of which most is read twice, and which is mapped at @data, is better
 * copied. Of large files it is tried, in the middle, where nobody was before; small ones are
 * copied, which is never far from the best.
 * @fd: -1: it cannot be copied.
 */
bool tap_page_copy_pays(const unsigned char *data, size_t len, int fd);

#endif
