/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Function names as their source has them. */
#ifndef TAP_SYMBOL_DEMANGLE_H
#define TAP_SYMBOL_DEMANGLE_H

#include <stddef.h>

#define TAP_DEMANGLED_MAX 1024u

/*
 * Writes the name of an ELF symbol to @out: C++ and Rust names without their parameters and hashes,
 * others as they are, all without a symbol version ("@@GLIBC_2.2.5"). A longer name is cut off.
 * @out: at least TAP_DEMANGLED_MAX bytes, no terminator. Return: its length.
 */
size_t tap_demangle(const char *symbol, char *out);

#endif
