/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* TP_STRUCT__entry(): the fields of a record, with the layout that the kernel would use. */
#ifndef TAP_DEFINE_RECORD_H
#define TAP_DEFINE_RECORD_H

#include "event/define/arena.h"
#include "event/define/call.h"
#include "event/defs.h"

struct tap_record {
	struct tap_field *fields; /* without the common fields */
	unsigned int nr;
	uint32_t size; /* bytes of the fixed part */
};

/* Read the fields. All memory comes from @arena. Return: false after an error. */
bool tap_record_read(struct tap_pp *pp, struct tap_arena *arena, const struct tap_part *part,
		     struct tap_record *out);

#endif
