/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A trace instance of our own: its events, filters and ring buffers are nobody else's. Its
 * name tells whose it is, so that the next recorder can remove what a killed one left.
 */
#ifndef TAP_RECORD_TRACEFS_INSTANCE_H
#define TAP_RECORD_TRACEFS_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct tap_instance {
	char *path; /* ROOT/instances/schedtap-PID-STARTTIME; NULL: there is none */
	int guard; /* its free_buffer, held open; -1 */
};

/*
 * Makes the instance with tracing off and all that is inherited from the top level and would
 * show in the records set to what we need.
 * Return: 0; -EPERM, -EACCES; -EOPNOTSUPP if the kernel has no instances; -EBUSY if this
 * process has one; -errno.
 */
int tap_instance_make(const char *root, struct tap_instance *in, struct tap_err *err);
/*
 * Whatever state it is in; no descriptor of the instance may be open any more. Where another
 * process still has one, the instance stays for tap_instance_release() to try again.
 */
void tap_instance_remove(struct tap_instance *in);
void tap_instance_release(struct tap_instance *in);
/* Removes the instances whose recorder is gone. */
void tap_instance_sweep(const char *root);

/* A file of the instance, by printf format. Return: the descriptor or -errno. */
int tap_instance_open(const struct tap_instance *in, int flags, const char *file, ...)
	TAP_PRINTF(3, 4);
/* Writes, or adds, @text. Return: 0 or -errno. */
int tap_instance_put(const struct tap_instance *in, const char *text, const char *file, ...)
	TAP_PRINTF(3, 4);
/* Reads the whole file, at the end of @text. Return: 0 or -errno. */
int tap_instance_get(const struct tap_instance *in, struct tap_buf *text, const char *file, ...)
	TAP_PRINTF(3, 4);

/* The process that an instance's name speaks of. Return: whether it is such a name. */
bool tap_instance_owner(const char *name, pid_t *pid, uint64_t *start);

#endif
