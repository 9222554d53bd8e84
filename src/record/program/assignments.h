/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A definition's TP_fast_assign(), read as what each field gets. Nothing that it computes has an
 * effect or can fail, so there are no branches in it: what stands behind an if is a value that
 * depends on the condition, and variables are names of values.
 */
#ifndef TAP_PROGRAM_ASSIGNMENTS_H
#define TAP_PROGRAM_ASSIGNMENTS_H

#include "record/program/scope.h"

enum tap_assigned {
	TAP_ASSIGNED_NUMBER,
	TAP_ASSIGNED_TEXT, /* up to a NUL; what is behind it in the field is 0 */
	TAP_ASSIGNED_BYTES,
};

struct tap_assignment {
	const struct tap_field *field;
	uint32_t element; /* of an array */
	enum tap_assigned what;
	uint32_t number; /* node */
	struct tap_scope_bytes bytes;
	uint32_t when; /* node: bytes are only assigned where this is not 0; 0: always */
	uint32_t reason; /* why it cannot be had; 0: it can */
};

struct tap_assignments {
	struct tap_scope scope;
	const struct tap_def *def;
	struct tap_assignment *v;
	unsigned int nr, cap;
	uint32_t condition; /* TP_CONDITION(), a node; 0: there is none */
	/* while it is read */
	uint32_t when; /* of the ifs around */
	const struct tap_field *target; /* what the statement fills */
};

/*
 * @btf, @def, @feed: borrowed. An assignment that cannot be had is there, with a reason; what is
 * wrong in a condition or a variable is in @reason. Return: 0; -EINVAL with @reason; -ENOENT: BTF
 * does not have the tracepoint; -ENOMEM.
 */
int tap_assignments_init(struct tap_assignments *a, const struct btf *btf,
			 const struct tap_def *def, const struct tap_feed *feed,
			 unsigned int nr_cpus, uint32_t *reason);
void tap_assignments_release(struct tap_assignments *a);

/* Return: the only assignment of a field that is a number, or of text or bytes; NULL: @why it is
 * not to be had. */
const struct tap_assignment *tap_assignments_find(const struct tap_assignments *a,
						  const char *field, const char **why);

#endif
