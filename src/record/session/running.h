/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which task each CPU runs, by a BPF program that is run there once. A CPU that switches says so by
 * itself: this is for those that do not, such as an idle CPU, or one that a busy task has to
 * itself.
 */
#ifndef TAP_RECORD_SESSION_RUNNING_H
#define TAP_RECORD_SESSION_RUNNING_H

#include <jansson.h>

/* Return: the key "running" of file/meta.h, the caller's; NULL: BPF is refused, or out of
 * memory. */
json_t *tap_running_read(void);

#endif
