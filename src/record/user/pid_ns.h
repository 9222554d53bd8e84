/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The caller's pid namespace, and the ids there of tasks in nested namespaces. */
#ifndef TAP_RECORD_USER_PID_NS_H
#define TAP_RECORD_USER_PID_NS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/map.h"

/* Return the inode of the caller's own pid namespace. */
uint64_t tap_pid_ns_own(void);

/* Processes in other namespaces, as found by one walk through /proc. */
struct tap_pid_ns_walk {
	bool made;
	/* start of the walk, on CLOCK_REALTIME_COARSE, the clock of file time stamps */
	struct timespec begun;
	struct tap_map processes; /* namespace and id there -> id here */
};

/*
 * Find the process with id @pid in the namespace with inode @ns. The first call walks through
 * /proc. Return: its id here; 0: it was not found or may not be inspected; -ENOMEM.
 */
int tap_pid_ns_process(struct tap_pid_ns_walk *walk, uint64_t ns, int pid);
/* Return true if a process that existed at @then may be missing, because the walk began earlier. */
bool tap_pid_ns_may_miss(const struct tap_pid_ns_walk *walk, const struct timespec *then);
/* Forget the walk, so that the next lookup sees new processes. */
void tap_pid_ns_forget(struct tap_pid_ns_walk *walk);

/*
 * Find the thread of process @pid (id here) that has id @tid in its own namespace. Return: its id
 * here; 0 if it does not exist.
 */
uint32_t tap_pid_ns_thread(int pid, uint32_t tid);

#endif
