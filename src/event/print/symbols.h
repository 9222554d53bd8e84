/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the recording kernel's addresses stand for, from the texts that a trace.dat carries beside
 * its events: printk_formats (address : "text") and kallsyms (address type name [module]).
 */
#ifndef TAP_PRINT_SYMBOLS_H
#define TAP_PRINT_SYMBOLS_H

#include <stdint.h>

struct tap_symbols;

/*
 * Both texts are copied; "" is an empty table. Lines that are not as they should be are passed
 * over. Return: 0; -ENOMEM.
 */
int tap_symbols_new(const char *printk, const char *kallsyms, struct tap_symbols **out);
void tap_symbols_free(struct tap_symbols *s);

/* Return: the text at @addr without the newline at its end, borrowed from @s; NULL: none. */
const char *tap_symbols_text(const struct tap_symbols *s, uint64_t addr);

/* Return: the name of what @addr lies in, borrowed from @s; NULL: none. @offset: from its start. */
const char *tap_symbols_name(const struct tap_symbols *s, uint64_t addr, uint64_t *offset);

#endif
