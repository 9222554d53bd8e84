/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a kernel's types as BTF from any file that contains them. */
#ifndef TAP_MODULE_TYPES_H
#define TAP_MODULE_TYPES_H

#include <schedtap/err.h>

struct btf;

#define TAP_RUNNING_TYPES "/sys/kernel/btf/vmlinux"

/*
 * @path: raw BTF such as /sys/kernel/btf/vmlinux, an ELF file with a .BTF section (vmlinux), or a
 * bootable kernel (Image, vmlinuz, Image.gz), compressed with gzip, zstd, xz or lz4. If there is no
 * BTF, a vmlinux with debug information (DWARF), from which only the types that the events use are
 * read.
 * Return: 0 with *out, to be freed with btf__free(); -ENODATA: the file has no types; -EINVAL: not
 * a regular file; -ENOMEM, -errno.
 */
int tap_types_open(const char *path, struct btf **out, struct tap_err *err);

#endif
