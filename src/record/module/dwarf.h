/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads types from a kernel's debug information (DWARF), for kernels without BTF: the structs and
 * members that tap_members_init() lists, and the functions that layout.c needs. Other types get
 * only their name and size.
 */
#ifndef TAP_MODULE_DWARF_H
#define TAP_MODULE_DWARF_H

#include <schedtap/err.h>

struct btf;

/*
 * @fd: a linked ELF file, read with pread(); remains the caller's.
 * Return: 0 with *out, to be freed with btf__free(); -ENODATA: it has no DWARF, or none of the
 * structs; -ENOMEM, -errno.
 */
int tap_dwarf_types(int fd, struct btf **out, struct tap_err *err);

#endif
