/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A trigger of an event, as in `record --trigger`: "EVENT: ACTION[:COUNT] [if FILTER]". */
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
	TAP_TRIGGER_ENABLE, /* switches an event on */
	TAP_TRIGGER_DISABLE,
	TAP_TRIGGER_KERNELS, /* only the kernel's tracefs can do it: stacktrace, snapshot, hist */
};

struct tap_trigger {
	char *text; /* as typed; owned, as are the strings below */
	char *system, *name; /* of its event; .system NULL: any system */
	enum tap_trigger_action action;
	/* the action without count and filter; for TAP_TRIGGER_KERNELS all but the filter */
	char *words;
	char *of_system, *of_name; /* the event that it switches; or NULL */
	int64_t count; /* how often it may fire; or TAP_TRIGGER_UNLIMITED */
	char *filter; /* or NULL */
};

/* Parse the option. Return: 0; -EINVAL with a sentence; -ENOMEM. */
int tap_trigger_parse(const char *text, struct tap_trigger *t, struct tap_err *err);
void tap_trigger_release(struct tap_trigger *t);

/* Return: whether a switching trigger switches on. */
static inline bool tap_trigger_to(const struct tap_trigger *t)
{
	return t->action == TAP_TRIGGER_TRACEON || t->action == TAP_TRIGGER_ENABLE;
}

#endif
