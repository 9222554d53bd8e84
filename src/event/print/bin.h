/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace_printk() records the address of its format string, and the arguments as vbin_printf() packs
 * them: numbers of up to 4 bytes in one word, numbers of 8 bytes in two (aligned to one word),
 * texts including their NUL, %c as one byte.
 */
#ifndef TAP_PRINT_BIN_H
#define TAP_PRINT_BIN_H

#include "base/buf.h"
#include "event/format.h"
#include "event/print/symbols.h"

/*
 * Print a message. @args: @len bytes of any content. An argument that is not completely inside them
 * prints '?', as do all later ones and conversions that are unknown.
 * @symbols: may be NULL.
 */
void tap_print_bin(const char *fmt, const unsigned char *args, uint32_t len, struct tap_abi abi,
		   const struct tap_symbols *symbols, struct tap_buf *out);

#endif
