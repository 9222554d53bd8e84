/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A trigger of an event, as `record --trigger` takes it: "EVENT: ACTION[:COUNT] [if FILTER]". */
#ifndef TAP_RECORD_TRIGGER_H
#define TAP_RECORD_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "schedtap/err.h"

#define TAP_TRIGGER_MAX_BYTES 4096u
#define TAP_TRIGGER_UNLIMITED (-1)

enum tap_trigger_action {
	TAP_TRIGGER_TRACEON,
	TAP_TRIGGER_TRACEOFF,
	TAP_TRIGGER_ENABLE, /* an event */
	TAP_TRIGGER_DISABLE,
	TAP_TRIGGER_KERNELS, /* one that only the kernel can do */
};

struct tap_trigger {
	char *text; /* owned, as are all: as typed */
	char *system, *name; /* of its event; system: NULL: any */
	enum tap_trigger_action action;
	/* the action without count and filter; of TAP_TRIGGER_KERNELS with all but the filter */
	char *words;
	char *of_system, *of_name; /* the event that is switched; or NULL */
	int64_t count; /* TAP_TRIGGER_UNLIMITED */
	char *filter; /* or NULL */
};

/* Return: 0; -EINVAL with a sentence; -ENOMEM. */
int tap_trigger_parse(const char *text, struct tap_trigger *t, struct tap_err *err);
void tap_trigger_release(struct tap_trigger *t);

/* What it switches to; of those that switch something. */
static inline bool tap_trigger_to(const struct tap_trigger *t)
{
	return t->action == TAP_TRIGGER_TRACEON || t->action == TAP_TRIGGER_ENABLE;
}

#endif
