/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our pid namespace, and tasks of those below: which numbers they have here. */
#ifndef TAP_CAPTURE_USER_PID_NS_H
#define TAP_CAPTURE_USER_PID_NS_H

#include <stdint.h>

/* The inode of our own. */
uint64_t tap_pid_ns_own(void);

/*
 * The process that has number @pid in the namespace with inode @ns. Walks all processes. Return: its number here; 0:
 * it is not there, or may not be looked at.
 */
int tap_pid_ns_process(uint64_t ns, int pid);

/* The thread of process @pid (here) that has number @tid in its namespace. Return: its number here; 0: not there. */
uint32_t tap_pid_ns_thread(int pid, uint32_t tid);

#endif
