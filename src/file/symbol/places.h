/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Translate code addresses of programs to places (a file and an offset in it), and name these by
 * symbols.
 *
 * Addresses are noted while their process is alive, and named when a name is needed, possibly long
 * after the process and its files are gone. So a file is kept open from its first place on (the
 * first 256 files; for others, the path is remembered). A file that was replaced in the meantime
 * gives no names, as its symbols are not those of the code that ran.
 *
 * One thread may note addresses while another names them; noting never waits for file reads of
 * naming.
 */
#ifndef TAP_SYMBOL_PLACES_H
#define TAP_SYMBOL_PLACES_H

#include <stdint.h>

#include <schedtap/err.h>

struct tap_places;

int tap_places_new(struct tap_places **out, struct tap_err *err);
void tap_places_free(struct tap_places *p);

/*
 * Note an address of the live process @tgid, soon after it was seen. Reads /proc/PID/maps when
 * necessary: once per process, again after an exec (checked once per second), and, at a limited
 * rate, when no known executable mapping contains the address. A file mapped in place of another
 * one meanwhile is not noticed. Return: the place's number, >= 1, which is the same for all
 * processes with the same file and offset; 0: unknown, or more than a million places.
 */
uint32_t tap_places_note(struct tap_places *p, int tgid, uint64_t addr);

/*
 * Return a place's name, without control characters:
 *	function		demangled, see tap_demangle()
 *	libc.so.6+0x9ad1f	file name and offset, if no symbol is known
 *	[vdso]+0x7b6
 *	0x7f2b4c01a2e0		memory without a file or perf map entry
 * The first name from a file reads its symbols, and names all its places noted so far. The text is
 * valid as long as @p. "?": there is no such place.
 */
const char *tap_places_name(struct tap_places *p, uint32_t place);

#endif
