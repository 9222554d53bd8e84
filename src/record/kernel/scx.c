// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/kernel/scx.h"

#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "record/kernel/file.h"

/* Parse "NAME NUMBER". Return: false: the line is something else. */
static bool parse_event(struct tap_scx_event *e, const char *line, const char *end)
{
	const char *blank = memchr(line, ' ', (size_t)(end - line));
	const char *at = blank ? blank + 1 : end;

	if (!blank || blank == line || (size_t)(blank - line) >= sizeof(e->name) ||
	    tap_text_take_digits(&at, end, 10, &e->count) || at != end)
		return false;
	tap_file_copy(e->name, sizeof(e->name), line, (size_t)(blank - line));
	return true;
}

static void read_events(struct tap_scx *s, const char *root)
{
	char text[TAP_FILE_BYTES];
	const char *end;

	tap_file_start(text, "%s/root/events", root);
	/* a line without an end may have been cut */
	for (const char *at = text; (end = strchr(at, '\n')) && s->nr_events < TAP_SCX_EVENTS;
	     at = end + 1)
		s->nr_events += parse_event(&s->events[s->nr_events], at, end);
}

void tap_scx_read(struct tap_scx *s, const char *root)
{
	*s = (struct tap_scx){ .is_supported = !access(root, F_OK) };
	tap_file_line(s->state, sizeof(s->state), "%s/state", root);
	/* the folder root/ exists while a scheduler is loaded: scx_alloc_and_add_sched() */
	tap_file_line(s->scheduler, sizeof(s->scheduler), "%s/root/ops", root);
	s->all_tasks = tap_file_number("%s/switch_all", root) == 1;
	s->rejected = tap_file_number("%s/nr_rejected", root);
	s->loads = tap_file_number("%s/enable_seq", root);
	read_events(s, root);
}
