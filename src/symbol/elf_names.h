/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names from a program's file, or from the debug file that its build id names. */
#ifndef TAP_SYMBOL_ELF_NAMES_H
#define TAP_SYMBOL_ELF_NAMES_H

#include "symbol/named.h"

/*
 * Names those of @nr offsets in the file, ascending, that are in a function. Of its symbols those of the debug file
 * count where the file itself is stripped; else .symtab with .dynsym.
 */
void tap_elf_name(int fd, struct tap_named *all, size_t nr);

#endif
