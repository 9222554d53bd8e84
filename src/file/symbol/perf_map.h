/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Perf maps: what a program that makes code while it runs says about it, in /tmp/perf-PID.map. A
 * line is "START SIZE NAME", both in hex (tools/perf/Documentation/jit-interface.txt).
 */
#ifndef TAP_SYMBOL_PERF_MAP_H
#define TAP_SYMBOL_PERF_MAP_H

#include "file/symbol/named.h"

/*
 * The map of a process that lives, in its own /tmp and by its own number; the program's user's or
 * root's, as perf wants it. Return: a descriptor; -errno.
 */
int tap_perf_map_open(int tgid);

/* Names those of @nr addresses, ascending, that have none and are in a line of @text: the last such
 * line counts. */
void tap_perf_map_parse(const char *text, size_t len, struct tap_named *all, size_t nr);

/* The same from a file; of a long one the end counts. */
void tap_perf_map_name(int fd, struct tap_named *all, size_t nr);

#endif
