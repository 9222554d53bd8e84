/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The types of a kernel as BTF, from any file that has them. */
#ifndef TAP_MODULE_TYPES_H
#define TAP_MODULE_TYPES_H

#include <schedtap/err.h>

struct btf;

#define TAP_RUNNING_TYPES "/sys/kernel/btf/vmlinux"

/*
 * @path: BTF as /sys/kernel/btf/vmlinux has it, an ELF file with a .BTF section (vmlinux), or a
 * kernel as it is booted (Image, vmlinuz, Image.gz), packed by gzip, zstd, xz or lz4. If there is
 * no BTF, a vmlinux with debug information (DWARF): then only those that the events use.
 * Return: 0 with *out, for btf__free(); -ENODATA if there are none in it; -EINVAL if it is no
 * regular file; -ENOMEM, -errno.
 */
int tap_types_open(const char *path, struct btf **out, struct tap_err *err);

#endif
