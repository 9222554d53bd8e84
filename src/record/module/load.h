/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loading and unloading the kernel module, and what it means when the kernel refuses. */
#ifndef TAP_MODULE_LOAD_H
#define TAP_MODULE_LOAD_H

#include <schedtap/err.h>

#define TAP_MODULE_NAME "schedtap"

/* Whether the kernel has modules. Return: 0; -ENOSYS. */
int tap_module_check(struct tap_err *err);

/* Whether this process may load modules; loads none. Return: 0; -EPERM, -ENOSYS, -errno. */
int tap_module_try(struct tap_err *err);

/* Return: 0; what tap_module_load_refused() returns; -errno: @path cannot be read. */
int tap_module_load(const char *path, struct tap_err *err);

/*
 * @error: of finit_module(2).
 * Return: -EPERM: signatures, lockdown or missing privileges; -EEXIST: it is loaded; -@error.
 */
int tap_module_load_refused(int error, const char *path, struct tap_err *err);

/* Return: 0; -ENOENT: it is not loaded; -EBUSY: perf or BPF hold an event; -EPERM; -errno. */
int tap_module_unload(struct tap_err *err);

#endif
