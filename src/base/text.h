/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text from users and from the kernel. Names from the kernel (comm, cgroup, paths) are
 * hostile: anything may be in them but NUL. Everything that a person or a program typed
 * is parsed here, so that a time, a size or a CPU list means the same everywhere.
 */
#ifndef TAP_BASE_TEXT_H
#define TAP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Adds @len bytes of @s with control characters, DEL, backslash, characters that turn the
 * direction of writing or end a line (U+2028, U+2029) and bytes that are not UTF-8 as \n, \t, \\ or
 * \xHH: what a terminal shows is then what was there.
 */
void tap_text_escape(struct tap_buf *out, const char *s, size_t len);
/* Adds @s; bytes that are not UTF-8 become U+FFFD. */
void tap_text_utf8(struct tap_buf *out, const char *s, size_t len);
/* Adds a JSON string with its quotes, also for JavaScript (U+2028); bytes that are not UTF-8 become
 * U+FFFD. */
void tap_text_json(struct tap_buf *out, const char *s, size_t len);
/*
 * Adds a CSV field after RFC 4180: escaped as tap_text_escape() does, so that a record is one line
 * of UTF-8, and quoted where it must be. A spreadsheet may run what begins with = + - @: unless it
 * is a number, the first character is escaped, too.
 */
void tap_text_csv(struct tap_buf *out, const char *s, size_t len);
/*
 * Columns that a terminal takes for UTF-8 text: 2 for a wide character (CJK, emoji), 0 for one that
 * combines with that before it. It does not look at the locale.
 */
size_t tap_text_width(const char *s, size_t len);
/* Return: how many bytes of @s, whole characters, take @columns at most. */
size_t tap_text_fit(const char *s, size_t len, size_t columns);
/* Adds "SECONDS.NNNNNNNNN": nothing of a time stamp is rounded away. */
void tap_text_ns(struct tap_buf *out, uint64_t ns);

/*
 * "5", "1.5s", "200ms", "10us", "7ns", "2m", "1h": a bare number is in seconds.
 * Return: 0; -EINVAL for anything else, negative or above 2^63 ns.
 */
int tap_text_parse_time(const char *s, uint64_t *ns);
/* "4096", "64k", "8M", "1G" (1024-based). Return: 0; -EINVAL; -ERANGE above 2^62. */
int tap_text_parse_size(const char *s, uint64_t *bytes);
/* A whole decimal number within [min, max]. Return: 0; -EINVAL; -ERANGE. */
int tap_text_parse_int(const char *s, int64_t min, int64_t max, int64_t *v);

/*
 * Takes the digits at *@s, as many as there are before @end (NULL: the text ends with a NUL).
 * @base: 8, 10 or 16.
 * Return: 0; -EINVAL if there is none: *@v is 0; -ERANGE above 64 bits: *@v is UINT64_MAX.
 */
int tap_text_take_digits(const char **s, const char *end, unsigned int base, uint64_t *v);

/* A set of CPUs of any size. {0} is the empty set. */
struct tap_cpus {
	uint64_t *bits;
	unsigned int nr_words;
};

#define TAP_CPU_MAX 65535u

/*
 * The kernel's list format, "0-3,8"; a newline at the end, as files in /sys have it, is no
 * error, and alone it is the empty set. Replaces what was in @c; on failure @c is unchanged.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int tap_cpus_parse(struct tap_cpus *c, const char *list);
int tap_cpus_add(struct tap_cpus *c, unsigned int cpu);
void tap_cpus_release(struct tap_cpus *c);
/* as the kernel lists them: "0-3,8" */
void tap_cpus_text(const struct tap_cpus *c, struct tap_buf *out);

/* Return true if @all has each of @c. */
bool tap_cpus_within(const struct tap_cpus *c, const struct tap_cpus *all);

static inline bool tap_cpus_has(const struct tap_cpus *c, unsigned int cpu)
{
	return cpu / 64 < c->nr_words && (c->bits[cpu / 64] >> (cpu % 64) & 1);
}

#endif
