/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds the kernel module (kmod/) for one kernel. */
#ifndef TAP_MODULE_BUILD_H
#define TAP_MODULE_BUILD_H

#include <stdbool.h>

#include <schedtap/err.h>

struct tap_module_build {
	const char *source; /* folder that contains kmod/ and events/ */
	/* headers, built tree or kheaders.tar.xz (arm64); NULL: the running kernel's headers */
	const char *kernel_src;
	/* with headers without kbuild: Module.symvers; NULL: the one in kernel_src, if any */
	const char *symvers;
	/* path for tap_types_open(); NULL: kernel_src's types, or the kernel's own */
	const char *types;
	/* output folder, created if missing: sources, objects, schedtap.ko, make.log */
	const char *out;
	const char *arch, *cross; /* kbuild's ARCH and CROSS_COMPILE; NULL: this machine's */
	bool llvm; /* build with clang and lld */
};

/*
 * Return: 0, and the module is out/schedtap.ko; -ENOENT: headers, types, sources or a compiler are
 * missing, and the message names the package; -EOPNOTSUPP: headers without kbuild do not suffice
 * for this kernel; -EIO: make failed, and the message has its first error; -errno.
 */
int tap_module_build(const struct tap_module_build *b, struct tap_err *err);

#endif
