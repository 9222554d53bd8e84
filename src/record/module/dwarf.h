/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The types of a kernel that has no BTF, out of its debug information (DWARF): the structs and
 * members that tap_members_init() names, and the functions that layout.c asks for; of everything
 * else just the name and the size.
 */
#ifndef TAP_MODULE_DWARF_H
#define TAP_MODULE_DWARF_H

#include <schedtap/err.h>

struct btf;

/*
 * @fd: of a linked ELF file, read at its own places; stays the caller's.
 * Return: 0 with *out, for btf__free(); -ENODATA: it has no DWARF, or none of those structs;
 * -ENOMEM, -errno.
 */
int tap_dwarf_types(int fd, struct btf **out, struct tap_err *err);

#endif
