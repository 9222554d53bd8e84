/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What files of the kernel's say of a process, a lock or a number. */
#ifndef TAP_BASE_PROC_H
#define TAP_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* The first line of a file as a number, 0..INT64_MAX, or -1. */
int64_t tap_proc_number(const char *path);

/* The line of a comm file in /proc. Return: its length; 0: it is not known, and @comm is "". */
size_t tap_proc_comm(const char *path, char *comm, size_t size);

/* Field 22 of /proc/PID/stat, when the process started. Return: 0; -EINVAL. */
int tap_proc_start(const char *stat, uint64_t *start);
int tap_proc_read_start(pid_t pid, uint64_t *start); /* 0 or -errno */
pid_t tap_proc_parent(pid_t pid); /* 0: it has none here, or is not known */
/* Whether it is exiting, waits to be reaped, or is gone. */
bool tap_proc_has_ended(pid_t pid);

/* The process that holds the flock() on the file @st; 0 if the kernel does not say. */
int tap_proc_lock_holder(const struct stat *st);

#endif
