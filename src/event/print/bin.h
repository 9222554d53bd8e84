/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trace_printk() records the address of its format string and the arguments as vbin_printf()
 * packs them: numbers of up to 4 bytes in one word, those of 8 in two (aligned to one), texts in
 * place with their NUL, %c as one byte.
 */
#ifndef TAP_PRINT_BIN_H
#define TAP_PRINT_BIN_H

#include "base/buf.h"
#include "event/format.h"
#include "event/print/symbols.h"

/*
 * @args: @len bytes, which may be anything: an argument that is not wholly in them is a '?', as are
 * all behind it and what this does not know.
 * @symbols: or NULL.
 */
void tap_print_bin(const char *fmt, const unsigned char *args, uint32_t len, struct tap_abi abi,
		   const struct tap_symbols *symbols, struct tap_buf *out);

#endif
