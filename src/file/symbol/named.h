/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Places that get names from a file, which is hostile: symbols of ELF, perf maps. */
#ifndef TAP_SYMBOL_NAMED_H
#define TAP_SYMBOL_NAMED_H

#include <stddef.h>
#include <stdint.h>

struct tap_named {
	uint64_t at;
	uint32_t place;
	char *name; /* owned; NULL: none yet */
};

/* Takes a copy, cut off at some length, with '?' for control characters; nothing when out of
 * memory. */
void tap_named_set(struct tap_named *of, const char *name, size_t len);

/* Return: the first of @nr, ascending, that is not below @at; @nr: none. */
size_t tap_named_find(const struct tap_named *all, size_t nr, uint64_t at);

#endif
