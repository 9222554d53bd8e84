/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Read files in which the kernel describes a process, a lock or a number. */
#ifndef TAP_BASE_PROC_H
#define TAP_BASE_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Read the first line of a file as a number. Return: 0..INT64_MAX; -1 on failure. */
int64_t tap_proc_number(const char *path);

/* Return the rest of the first line of @text that begins with @key; NULL: no line does. */
const char *tap_proc_line(const char *text, const char *key);
/*
 * Read the decimal number right after @key at the beginning of a line, such as "ctxt " in
 * /proc/stat. Return: 0; -EBADMSG if there is no such line, or no number of 64 bits.
 */
int tap_proc_value(const char *text, const char *key, uint64_t *value);

/*
 * Parse at most @max decimal numbers separated by blanks, and move *@at after them. Return: how
 * many there are.
 */
unsigned int tap_proc_numbers(const char **at, uint64_t *v, unsigned int max);

/*
 * Read how long a cgroup's own quota was used up, of all CPUs together, out of its cpu.stat:
 * version 2 has us, version 1 ns. Return: 0; -EBADMSG; -ERANGE.
 */
int tap_proc_throttled(const char *text, uint64_t *ns);

/* A task's /proc/PID/schedstat: when it ran and waited since it was created. */
struct tap_proc_schedstat {
	uint64_t run_ns, wait_ns, slices; /* slices: how often it was switched in */
};
/* Parse the text of such a file. Return: 0; -EBADMSG. */
int tap_proc_parse_schedstat(const char *text, struct tap_proc_schedstat *s);

/* Read a comm file in /proc. Return: the name's length; 0 if it is unknown, then @comm is "". */
size_t tap_proc_comm(const char *path, char *comm, size_t size);

/*
 * Read field 22 of a /proc/PID/stat file's text: the start time of the process. Return: 0; -EINVAL.
 */
int tap_proc_start(const char *stat, uint64_t *start);
int tap_proc_read_start(pid_t pid, uint64_t *start); /* reads the file itself; 0 or -errno */
/* 0: it has no parent in this PID namespace, or the parent is unknown */
pid_t tap_proc_parent(pid_t pid);
/* Return true if the process is exiting, a zombie, or gone. */
bool tap_proc_has_ended(pid_t pid);

/* Return the process that holds the flock() write lock on file @st; 0 if /proc/locks shows none. */
int tap_proc_lock_holder(const struct stat *st);

#endif
