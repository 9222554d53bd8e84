/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Short files of /proc and /sys. The paths are printf() formats: most have a number. */
#ifndef TAP_RECORD_KERNEL_FILE_H
#define TAP_RECORD_KERNEL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedtap/err.h>

#define TAP_FILE_BYTES 4096u /* limit of what is read: sysfs files are not longer */

/*
 * Read the beginning of a file, up to its first NUL. Return: false: the file cannot be read, and
 * @text is "".
 */
bool tap_file_start(char text[TAP_FILE_BYTES], const char *path, ...) TAP_PRINTF(2, 3);
/*
 * Read the first line. What does not fit into @size is cut, and bytes that are not printable ASCII
 * become '?'. Return: false: the file cannot be read, or it is empty; @line is "".
 */
bool tap_file_line(char *line, size_t size, const char *path, ...) TAP_PRINTF(3, 4);
/* Read the first line as a number. Return: 0..INT64_MAX; -1 on failure. */
int64_t tap_file_number(const char *path, ...) TAP_PRINTF(1, 2);
/* Copy @len bytes of @text as tap_file_line() does. */
void tap_file_copy(char *to, size_t size, const char *text, size_t len);

#endif
