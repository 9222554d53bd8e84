/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Perf maps: a program that generates code at run time describes it in /tmp/perf-PID.map, with
 * lines "START SIZE NAME", both numbers in hex (tools/perf/Documentation/jit-interface.txt).
 */
#ifndef TAP_SYMBOL_PERF_MAP_H
#define TAP_SYMBOL_PERF_MAP_H

#include "file/symbol/named.h"

/*
 * Open the map of a running process, in its own /tmp and by its own pid. The file must be owned by
 * the process's user or root, as perf requires. Return: a descriptor; -errno.
 */
int tap_perf_map_open(int tgid);

/*
 * Name those of @nr ascending addresses that have no name yet and are in a line of @text; the last
 * such line wins.
 */
void tap_perf_map_parse(const char *text, size_t len, struct tap_named *all, size_t nr);

/*
 * Name addresses by a perf map file, see tap_perf_map_parse(). Of a file above 64 MiB, only the end
 * is read.
 */
void tap_perf_map_name(int fd, struct tap_named *all, size_t nr);

#endif
