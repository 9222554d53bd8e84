/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads and unloads the kernel module, and explains why the kernel refuses it. */
#ifndef TAP_MODULE_LOAD_H
#define TAP_MODULE_LOAD_H

#include <schedtap/err.h>

#define TAP_MODULE_NAME "schedtap"

/* Check that the kernel supports modules. Return: 0; -ENOSYS. */
int tap_module_check(struct tap_err *err);

/*
 * Check that this process may load modules, without loading one. Return: 0; -EPERM, -ENOSYS,
 * -errno.
 */
int tap_module_try(struct tap_err *err);

/* Return: 0; the errors of tap_module_load_refused(); -errno: @path cannot be read. */
int tap_module_load(const char *path, struct tap_err *err);

/*
 * @error: errno of finit_module(2).
 * Return: -EPERM: signatures, lockdown or missing privileges; -EEXIST: the module is already
 * loaded; -ENOEXEC: built for another kernel; -ENOSYS: no module support; else -@error.
 */
int tap_module_load_refused(int error, const char *path, struct tap_err *err);

/*
 * Return: 0; -ENOENT: the module is not loaded; -EBUSY: perf or BPF has one of its events open;
 * -EPERM; -errno.
 */
int tap_module_unload(struct tap_err *err);

#endif
