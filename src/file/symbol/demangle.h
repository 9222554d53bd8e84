/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Demangle function names. */
#ifndef TAP_SYMBOL_DEMANGLE_H
#define TAP_SYMBOL_DEMANGLE_H

#include <stddef.h>

#define TAP_DEMANGLED_MAX 1024u

/*
 * Write the name of an ELF symbol to @out: C++ and Rust names without parameters and hashes, other
 * names unchanged, all without a symbol version ("@@GLIBC_2.2.5"). A longer name is truncated.
 * @out: at least TAP_DEMANGLED_MAX bytes; not NUL-terminated. Return: its length.
 */
size_t tap_demangle(const char *symbol, char *out);

#endif
