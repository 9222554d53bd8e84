/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A trace instance of the recorder's own, with its own events, filters and ring buffers. Its name
 * identifies the process, so that the next recorder can remove an instance that a killed one left.
 */
#ifndef TAP_RECORD_TRACEFS_INSTANCE_H
#define TAP_RECORD_TRACEFS_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct tap_instance {
	char *path; /* ROOT/instances/schedtap-PID-STARTTIME; NULL: no instance */
	int guard; /* descriptor of its open file free_buffer; -1: none */
};

/*
 * Make the instance, with tracing off. Settings that it inherits from the top level and that would
 * show in the records are set to the values that we need.
 * Return: 0; -EPERM, -EACCES; -EOPNOTSUPP if the kernel has no instances; -EBUSY if this process
 * has one already; -errno.
 */
int tap_instance_make(const char *root, struct tap_instance *in, struct tap_err *err);
/*
 * Remove the instance in any state. Its files must be closed. If another process has one open, the
 * instance stays, and tap_instance_release() tries again.
 */
void tap_instance_remove(struct tap_instance *in);
void tap_instance_release(struct tap_instance *in);
/* Remove instances of recorders that no longer exist. */
void tap_instance_sweep(const char *root);

/* Open a file of the instance; @file: printf format. Return: the descriptor or -errno. */
int tap_instance_open(const struct tap_instance *in, int flags, const char *file, ...)
	TAP_PRINTF(3, 4);
/* Write @text to a file; some files of tracefs append it. Return: 0 or -errno. */
int tap_instance_put(const struct tap_instance *in, const char *text, const char *file, ...)
	TAP_PRINTF(3, 4);
/* Append the whole file to @text. Return: 0 or -errno. */
int tap_instance_get(const struct tap_instance *in, struct tap_buf *text, const char *file, ...)
	TAP_PRINTF(3, 4);

/*
 * Get the process from an instance's name. @start: its start time. Return: whether it is the name
 * of a recorder's instance.
 */
bool tap_instance_owner(const char *name, pid_t *pid, uint64_t *start);

#endif
