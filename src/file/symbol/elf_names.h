/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Name addresses by a program's file, or by the debug file that its build id refers to. */
#ifndef TAP_SYMBOL_ELF_NAMES_H
#define TAP_SYMBOL_ELF_NAMES_H

#include "file/symbol/named.h"

#define TAP_DEBUG_FILES "/usr/lib/debug/.build-id"

/*
 * Name those of @nr file offsets, in ascending order, that are inside a function. If the file is
 * stripped, the symbols come from its debug file in the folder @debug_files. Otherwise, or if that
 * does not exist, they come from .symtab and .dynsym.
 */
void tap_elf_name(int fd, const char *debug_files, struct tap_named *all, size_t nr);

#endif
