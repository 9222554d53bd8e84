/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names and texts at addresses of the recorded kernel, from two texts in a trace.dat:
 * printk_formats (address : "text") and kallsyms (address type name [module]).
 */
#ifndef TAP_PRINT_SYMBOLS_H
#define TAP_PRINT_SYMBOLS_H

#include <stdint.h>

struct tap_symbols;

/*
 * Parse both texts, which are copied; "" is an empty table. Malformed lines are ignored. Return: 0;
 * -ENOMEM.
 */
int tap_symbols_new(const char *printk, const char *kallsyms, struct tap_symbols **out);
void tap_symbols_free(struct tap_symbols *s);

/* Return the text at @addr without a trailing newline, borrowed from @s; NULL if there is none. */
const char *tap_symbols_text(const struct tap_symbols *s, uint64_t addr);

/*
 * Return the symbol that contains @addr, borrowed from @s; NULL if there is none. @offset: from its
 * start.
 */
const char *tap_symbols_name(const struct tap_symbols *s, uint64_t addr, uint64_t *offset);

#endif
