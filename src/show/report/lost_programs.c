// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/lost_programs.h"

#include <string.h>

#include "base/text.h"

#define NAMED 3u

bool tap_lost_program_next(const json_t *programs, size_t *at, struct tap_lost_program *p)
{
	const json_t *o;

	while ((o = json_array_get(programs, (*at)++))) {
		*p = (struct tap_lost_program){
			.comm = json_string_value(json_object_get(o, "comm")),
			.pid = (int)json_integer_value(json_object_get(o, "pid")),
			.lost = (uint64_t)json_integer_value(json_object_get(o, "lost")),
			.is_lower_bound = json_is_true(json_object_get(o, "lost_is_lower_bound")),
		};
		if (p->comm && (p->lost || p->is_lower_bound))
			return true;
	}
	return false;
}

static void add_program(const struct tap_lost_program *p, struct tap_buf *text)
{
	if (text->len)
		tap_buf_puts(text, ", ");
	tap_text_escape(text, p->comm, strlen(p->comm));
	if (p->pid)
		tap_buf_printf(text, " (pid %d)", p->pid);
	tap_buf_puts(text, !p->is_lower_bound ? ": "
			   : p->lost	      ? ": at least "
					      : ": an unknown number");
	if (p->lost)
		tap_buf_u64(text, p->lost);
}

void tap_lost_programs_text(const json_t *programs, struct tap_buf *text)
{
	struct tap_lost_program p;
	unsigned int nr = 0;
	size_t at = 0;

	while (tap_lost_program_next(programs, &at, &p))
		if (nr++ < NAMED)
			add_program(&p, text);
	if (nr > NAMED)
		tap_buf_printf(text, ", and %u more program%s", nr - NAMED,
			       nr == NAMED + 1 ? "" : "s");
}
