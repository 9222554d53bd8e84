/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Previous values for changed() and moved(): a field's value in the last record that passed the
 * filter, per task, per cgroup and CPU, or per CPU, depending on what the field describes.
 */
#ifndef TAP_EXPR_PAST_H
#define TAP_EXPR_PAST_H

#include "base/map.h"
#include "event/format.h"

/*
 * The fields that identify what a field describes: a task if .tid is positive; otherwise a CPU, by
 * default the one that recorded the event, and on it a cgroup. Each may be NULL.
 */
struct tap_past_about {
	const struct tap_field *tid, *cgroup, *cpu;
};

/* BPF programs use the same key. */
struct tap_past_key {
	uint64_t id; /* of a task or a cgroup, or 0 */
	uint64_t cpu; /* UINT64_MAX for a task, on any CPU */
};

struct tap_past_value {
	struct tap_past_key key;
	uint64_t value;
	uint32_t next; /* next value with the same hash: index + 1, or 0 */
};

struct tap_past {
	const struct tap_field *field; /* a number field */
	struct tap_past_about about;
	struct tap_map first; /* hash of a key -> index + 1 of its first value */
	struct tap_past_value *values; /* owned */
	unsigned int nr, cap;
};

/* Find the fields that identify what @field describes. */
struct tap_past_about tap_past_about(const struct tap_format *fmt, const struct tap_field *field);

/* Return the key of a record. @rec: @size bytes, recorded on @cpu. */
struct tap_past_key tap_past_key(const struct tap_past *p, const void *rec, uint32_t size, int cpu);

/* Return the previous value, valid until the next tap_past_set(); NULL if there is none. */
const uint64_t *tap_past_get(const struct tap_past *p, struct tap_past_key key);
int tap_past_set(struct tap_past *p, struct tap_past_key key, uint64_t value); /* 0 or -ENOMEM */
void tap_past_release(struct tap_past *p);

/* Return true if two values differ by at least @least. */
static inline bool tap_past_moved(uint64_t a, uint64_t b, bool is_signed, uint64_t least)
{
	bool above = is_signed ? (int64_t)a > (int64_t)b : a > b;

	return (above ? a - b : b - a) >= least;
}

#endif
