/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses a definition's TP_fast_assign() into one expression per field. Expressions have no side
 * effects and cannot fail, so the result has no branches: an assignment under an if becomes a value
 * that depends on the condition, and variables are names of values.
 */
#ifndef TAP_PROGRAM_ASSIGNMENTS_H
#define TAP_PROGRAM_ASSIGNMENTS_H

#include "record/program/scope.h"

enum tap_assigned {
	TAP_ASSIGNED_NUMBER,
	TAP_ASSIGNED_TEXT, /* up to a NUL; the rest of the field is 0 */
	TAP_ASSIGNED_BYTES,
};

struct tap_assignment {
	const struct tap_field *field;
	uint32_t element; /* index if the field is an array */
	enum tap_assigned what;
	uint32_t number; /* expression node */
	struct tap_scope_bytes bytes;
	uint32_t when; /* node: bytes are assigned only if it is not 0; 0: always */
	uint32_t reason; /* reason why the value is unavailable; 0: available */
};

struct tap_assignments {
	struct tap_scope scope;
	const struct tap_def *def;
	struct tap_assignment *v;
	unsigned int nr, cap;
	uint32_t condition; /* node of TP_CONDITION(); 0: no condition */
	/* only used while parsing */
	uint32_t when; /* node: conjunction of the enclosing ifs */
	const struct tap_field *target; /* field that the statement assigns */
};

/*
 * @btf, @def, @feed: borrowed. An assignment whose value is unavailable is included, with its
 * reason. An error in a condition or a variable is returned in @reason. Return: 0; -EINVAL with
 * @reason; -ENOENT: BTF does not have the tracepoint; -ENOMEM.
 */
int tap_assignments_init(struct tap_assignments *a, const struct btf *btf,
			 const struct tap_def *def, const struct tap_feed *feed,
			 unsigned int nr_cpus, uint32_t *reason);
void tap_assignments_release(struct tap_assignments *a);

/*
 * Return: the only assignment of a field that is a number, or text or bytes. NULL: the field has no
 * such value, and @why says why.
 */
const struct tap_assignment *tap_assignments_find(const struct tap_assignments *a,
						  const char *field, const char **why);

#endif
