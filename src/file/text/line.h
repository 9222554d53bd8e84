/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The head of a line that shows an event: task, CPU, time, and the event's name.
 *
 *   ftrace      bash-123   (  120) [001] d..2.   12.345678: sched_waking: BODY
 *   trace-cmd   bash-123   [001]    12.345678: sched_waking:         BODY
 *   its -l      bash-123     1d..2.    12.345678: sched_waking:         BODY
 *   perf        bash   120/123   [001]    12.345678:      1 sched:sched_waking: BODY
 *   schedtap    bash-123   [001] 12.345678901: sched:sched_waking: BODY
 *
 * A task's name may look like such a head, but it has at most 15 bytes, and "-1 [0] 1.234567: " has
 * 17: what is found from the left is the real one.
 */
#ifndef TAP_FILE_TEXT_LINE_H
#define TAP_FILE_TEXT_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/span.h"

enum tap_line_kind {
	TAP_LINE_OTHER, /* no head */
	TAP_LINE_HEAD, /* a head without an event's name: .body is all that follows it */
	TAP_LINE_EVENT,
};

struct tap_line {
	struct span comm;
	int tid, tgid; /* .tgid: -1 if the line does not have it */
	unsigned int cpu;
	uint64_t ts_ns;
	uint32_t unit_ns; /* of the time's last digit */
	bool has_dash; /* "bash-123"; perf prints "bash 123" */
	bool is_brief; /* trace-cmd report -l, which cuts the names */
	struct span system; /* "" if the line does not have it */
	struct span name, body;
};

/* Parse a line without its end of line. */
enum tap_line_kind tap_line_parse(struct tap_line *l, const char *p, const char *end);

/*
 * Parse the decimal number at @p; NULL if there is none, or it is above @max. Return: its end.
 */
static inline const char *tap_line_number(const char *p, const char *end, uint64_t max, uint64_t *v)
{
	const char *first = p;

	for (*v = 0; p < end && (unsigned char)(*p - '0') < 10; p++)
		if (__builtin_mul_overflow(*v, 10, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(*p - '0'), v))
			return NULL;
	return p == first || *v > max ? NULL : p;
}

static inline const char *tap_line_blanks(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	return p;
}

#endif
