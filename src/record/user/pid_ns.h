/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our pid namespace, and tasks of those below: which numbers they have here. */
#ifndef TAP_RECORD_USER_PID_NS_H
#define TAP_RECORD_USER_PID_NS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/map.h"

/* The inode of our own. */
uint64_t tap_pid_ns_own(void);

/* The processes of other namespaces, as one walk through all processes found them. */
struct tap_pid_ns_walk {
	bool made;
	struct timespec begun; /* CLOCK_REALTIME_COARSE, which stamps files */
	struct tap_map processes; /* namespace and number there -> number here */
};

/*
 * The process that has number @pid in the namespace with inode @ns. Walks when it is first asked.
 * Return: its number here; 0: it was not there, or may not be looked at; -ENOMEM.
 */
int tap_pid_ns_process(struct tap_pid_ns_walk *walk, uint64_t ns, int pid);
/* Whether a process that existed at @then may be missing: the walk began before it. */
bool tap_pid_ns_may_miss(const struct tap_pid_ns_walk *walk, const struct timespec *then);
/* The next one that asks sees new processes. */
void tap_pid_ns_forget(struct tap_pid_ns_walk *walk);

/* The thread of process @pid (here) that has number @tid in its namespace. Return: its number here;
 * 0: not there. */
uint32_t tap_pid_ns_thread(int pid, uint32_t tid);

#endif
