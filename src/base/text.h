/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text from users and from the kernel. The kernel's names (comm, cgroup, paths) are hostile: they
 * may contain any byte but NUL. All input that a person or a program typed is parsed here, so that
 * times, sizes and CPU lists mean the same everywhere.
 */
#ifndef TAP_BASE_TEXT_H
#define TAP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Add @len bytes of @s for a terminal. Control characters, DEL, backslash, bidirectional controls,
 * line separators (U+2028, U+2029) and bytes that are not UTF-8 become \n, \t, \\ or \xHH, so that
 * the terminal shows exactly what the text contains.
 */
void tap_text_escape(struct tap_buf *out, const char *s, size_t len);
/* Add @s; each byte that is not UTF-8 becomes U+FFFD. */
void tap_text_utf8(struct tap_buf *out, const char *s, size_t len);
/*
 * Add a JSON string with its quotes, which is valid JavaScript as well (U+2028 and U+2029 are
 * escaped). Each byte that is not UTF-8 becomes U+FFFD.
 */
void tap_text_json(struct tap_buf *out, const char *s, size_t len);
/*
 * Add an RFC 4180 CSV field, quoted if needed and escaped as by tap_text_escape(), so that each
 * record is one line of UTF-8. Spreadsheets may run text that starts with = + - or @: unless the
 * field is a number, its first character is then escaped, too.
 */
void tap_text_csv(struct tap_buf *out, const char *s, size_t len);
/*
 * Return the number of terminal columns of UTF-8 text: 2 for wide characters (CJK, emoji), 0 for
 * combining characters. Does not depend on the locale.
 */
size_t tap_text_width(const char *s, size_t len);
/* Return how many bytes of @s, in whole characters, fit into @columns. */
size_t tap_text_fit(const char *s, size_t len, size_t columns);
/* Add "SECONDS.NNNNNNNNN": a time stamp without rounding. */
void tap_text_ns(struct tap_buf *out, uint64_t ns);
/* Add a duration with its unit, two digits or more: "820 ns", "1.4 ms", "21 ms". */
void tap_text_time(struct tap_buf *out, uint64_t ns);

/*
 * Parse a time: "5", "1.5s", "200ms", "10us", "7ns", "2m", "1h". Without a unit it is in seconds.
 * Return: 0; -EINVAL for anything else, including negative times and times above 2^63 ns.
 */
int tap_text_parse_time(const char *s, uint64_t *ns);
/*
 * Parse a size: "4096", "64k", "8M", "1G" (powers of 1024). Return: 0; -EINVAL; -ERANGE above 2^62
 * bytes.
 */
int tap_text_parse_size(const char *s, uint64_t *bytes);
/* Parse a decimal integer within [min, max]. Return: 0; -EINVAL; -ERANGE. */
int tap_text_parse_int(const char *s, int64_t min, int64_t max, int64_t *v);

/*
 * Parse the digits at *@s and move *@s after them. @end: the end of the text; NULL: a NUL ends it.
 * @base: 8, 10 or 16.
 * Return: 0; -EINVAL if there is no digit (*@v is 0); -ERANGE above 64 bits (*@v is UINT64_MAX).
 */
int tap_text_take_digits(const char **s, const char *end, unsigned int base, uint64_t *v);

/* A set of CPUs of any size. A zeroed struct is the empty set. */
struct tap_cpus {
	uint64_t *bits;
	unsigned int nr_words;
};

#define TAP_CPU_MAX 65535u

/*
 * Parse the kernel's list format, "0-3,8". A final newline, as in /sys files, is allowed; a newline
 * alone is the empty set. Replaces the content of @c; on failure @c does not change.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int tap_cpus_parse(struct tap_cpus *c, const char *list);
/* Return: 0; -EINVAL if @cpu is above TAP_CPU_MAX; -ENOMEM. */
int tap_cpus_add(struct tap_cpus *c, unsigned int cpu);
void tap_cpus_release(struct tap_cpus *c);
/* Add the CPUs in the kernel's list format: "0-3,8". */
void tap_cpus_text(const struct tap_cpus *c, struct tap_buf *out);

/* Return true if @c is a subset of @all. */
bool tap_cpus_within(const struct tap_cpus *c, const struct tap_cpus *all);

static inline bool tap_cpus_has(const struct tap_cpus *c, unsigned int cpu)
{
	return cpu / 64 < c->nr_words && (c->bits[cpu / 64] >> (cpu % 64) & 1);
}

#endif
