/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which task each CPU runs at the moment, read by a BPF program that runs once on each CPU. This is
 * for CPUs that do not switch for long, such as an idle CPU or one with a single busy task. Other
 * CPUs soon have a sched_switch event, which shows it.
 */
#ifndef TAP_RECORD_SESSION_RUNNING_H
#define TAP_RECORD_SESSION_RUNNING_H

#include <jansson.h>

/*
 * Return: the value of the key "running" (file/meta.h), owned by the caller; NULL: BPF is refused,
 * or out of memory.
 */
json_t *tap_running_read(void);

#endif
