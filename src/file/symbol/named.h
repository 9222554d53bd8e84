/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses to be named from an untrusted file: ELF symbols or a perf map. */
#ifndef TAP_SYMBOL_NAMED_H
#define TAP_SYMBOL_NAMED_H

#include <stddef.h>
#include <stdint.h>

struct tap_named {
	uint64_t at;
	uint32_t place;
	char *name; /* owned; NULL: not named yet */
};

/*
 * Set the name to a copy of @name, truncated if very long, with '?' for control characters. The
 * name stays unchanged if memory is short.
 */
void tap_named_set(struct tap_named *of, const char *name, size_t len);

/* Return the index of the first of @nr ascending entries that is not below @at; @nr: none. */
size_t tap_named_find(const struct tap_named *all, size_t nr, uint64_t at);

#endif
