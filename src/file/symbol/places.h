/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of programs as places: in which file, and where in it; and what symbols call them.
 *
 * Addresses are noted while their process lives, and named when a name is wanted, which may be long
 * after it and its files are gone: a file is held open from its first place on (the first 256 of
 * them, which are then not gone from their file system; of others the path is noted). One that was
 * replaced since gives no names: what it says now is not what ran.
 *
 * One thread may note while one other names: the first never waits until the second has read a
 * file.
 */
#ifndef TAP_SYMBOL_PLACES_H
#define TAP_SYMBOL_PLACES_H

#include <stdint.h>

#include <schedtap/err.h>

struct tap_places;

int tap_places_new(struct tap_places **out, struct tap_err *err);
void tap_places_free(struct tap_places *p);

/*
 * An address of a process, which is to live: soon after it was seen. Reads /proc/PID/maps when it
 * must: once in a process's life, when it has become another program, which is looked for once a
 * second, and again, within bounds, when the address is in none of the executable mappings that are
 * known. What was mapped in the place of another file meanwhile is not seen. Return: the place's
 * number, >= 1: the same for all processes where file and offset are the same; 0: not known, or
 * there are too many (a million).
 */
uint32_t tap_places_note(struct tap_places *p, int tgid, uint64_t addr);

/*
 * A place's name, never with control characters:
 *	function		as the symbol table says it: names of C++ and Rust are mangled
 *	libc.so.6+0x9ad1f	the file's name and the offset in it, where no symbol is known
 *	[vdso]+0x7b6
 *	0x7f2b4c01a2e0		memory of no file, of which no perf map tells
 * The first name of a file reads its symbols, for all its places that were noted by then.
 * Return: it, as long as @p; "?": there is no such place.
 */
const char *tap_places_name(struct tap_places *p, uint32_t place);

#endif
