/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tasks of a pid namespace below ours: which numbers they have here. */
#ifndef TAP_CAPTURE_USER_NESTED_H
#define TAP_CAPTURE_USER_NESTED_H

#include <stdint.h>

/*
 * The process that has number @pid in the namespace with inode @ns. Walks all processes. Return: its number here; 0:
 * it is not there, or may not be looked at.
 */
int tap_nested_process(uint64_t ns, int pid);

/* The thread of process @pid (here) that has number @tid in its namespace. Return: its number here; 0: not there. */
uint32_t tap_nested_thread(int pid, uint32_t tid);

#endif
