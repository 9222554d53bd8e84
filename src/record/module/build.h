/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Building the kernel module (kmod/) for one kernel. */
#ifndef TAP_MODULE_BUILD_H
#define TAP_MODULE_BUILD_H

#include <stdbool.h>

#include <schedtap/err.h>

struct tap_module_build {
	const char *source; /* the folder that has kmod/ and events/ */
	/* headers, a built tree, or kheaders.tar.xz (arm64); NULL: headers of the running kernel */
	const char *kernel_src;
	/* with headers alone: the kernel's Module.symvers; NULL: that in there */
	const char *symvers;
	const char *types; /* for tap_types_open(); NULL: kernel_src's, or the kernel's own */
	/* folder, made if need be: sources, objects, schedtap.ko, make.log */
	const char *out;
	const char *arch, *cross; /* as kbuild's ARCH and CROSS_COMPILE; NULL: of this machine */
	bool llvm; /* with clang and lld */
};

/*
 * Return: 0, with out/schedtap.ko; -ENOENT: headers, types, sources or a compiler are missing, and
 * the sentence names the package; -EOPNOTSUPP: headers alone are not enough for this kernel;
 * -EIO: make failed, and the sentence has its first error; -errno.
 */
int tap_module_build(const struct tap_module_build *b, struct tap_err *err);

#endif
