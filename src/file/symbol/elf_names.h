/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names from a program's file, or from the debug file that its build id names. */
#ifndef TAP_SYMBOL_ELF_NAMES_H
#define TAP_SYMBOL_ELF_NAMES_H

#include "file/symbol/named.h"

#define TAP_DEBUG_FILES "/usr/lib/debug/.build-id"

/*
 * Names those of @nr offsets in the file, ascending, that are in a function. Where it is stripped,
 * the symbols of its debug file count, which is in the folder @debug_files; else, or if there is
 * none, .symtab with .dynsym.
 */
void tap_elf_name(int fd, const char *debug_files, struct tap_named *all, size_t nr);

#endif
