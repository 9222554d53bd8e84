/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For changed() and moved(): a field's value in the last record that a filter let through, of each
 * task, of each cgroup on each CPU, or of each CPU, whichever the field is about.
 */
#ifndef TAP_EXPR_PAST_H
#define TAP_EXPR_PAST_H

#include "base/map.h"
#include "event/format.h"

/* Whom a field is about: a task if .tid says so, else what the other two say. Any may be NULL. */
struct tap_past_about {
	const struct tap_field *tid, *cgroup, *cpu;
};

/* As BPF programs have it, too. */
struct tap_past_key {
	uint64_t id; /* a task's, or a cgroup's, or 0 */
	uint64_t cpu; /* UINT64_MAX: of a task, wherever it is */
};

struct tap_past {
	const struct tap_field *field; /* a number */
	struct tap_past_about about;
	struct tap_map first; /* of a key's hash: index + 1 of its first value */
	struct tap_past_value {
		struct tap_past_key key;
		uint64_t value;
		uint32_t next; /* of the same hash: index + 1, or 0 */
	} * values; /* owned */
	unsigned int nr, cap;
};

/* The fields beside @field that say whom it is about. */
struct tap_past_about tap_past_about(const struct tap_format *fmt, const struct tap_field *field);

/* @rec: a record of @size bytes, recorded on @cpu. */
struct tap_past_key tap_past_key(const struct tap_past *p, const void *rec, uint32_t size, int cpu);

/* Return: the value; NULL: there is none yet. Until the next tap_past_set(). */
const uint64_t *tap_past_get(const struct tap_past *p, struct tap_past_key key);
int tap_past_set(struct tap_past *p, struct tap_past_key key, uint64_t value); /* 0 or -ENOMEM */
void tap_past_release(struct tap_past *p);

/* Whether two values differ by @least or more. */
static inline bool tap_past_moved(uint64_t a, uint64_t b, bool is_signed, uint64_t least)
{
	bool above = is_signed ? (int64_t)a > (int64_t)b : a > b;

	return (above ? a - b : b - a) >= least;
}

#endif
