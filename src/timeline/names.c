// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Printable names: a program can set its name to any bytes. */
#include <string.h>

#include "base/text.h"
#include "timeline/timeline.h"

void tap_task_add_label(struct tap_buf *b, const struct tap_task *task)
{
	size_t len = strnlen(task->comm, TAP_TASK_COMM);
	int tgid = tap_task_tgid(task);

	if (len)
		tap_text_escape(b, task->comm, len);
	else
		tap_buf_puts(b, "<...>");
	if (!task->tid) /* the idle task */
		return;
	tap_buf_puts(b, " [");
	tap_buf_s64(b, task->tid);
	if (tgid >= 0 && tgid != task->tid) {
		tap_buf_char(b, '/');
		tap_buf_s64(b, tgid);
	}
	tap_buf_char(b, ']');
}

size_t tap_name_escape(char *to, size_t size, const char *name, size_t len)
{
	struct tap_buf b = { 0 };
	size_t whole, cut;

	tap_text_escape(&b, name, len);
	whole = b.err ? 0 : b.len;
	cut = whole < size ? whole : size - 1;
	if (size) {
		if (cut)
			memcpy(to, b.data, cut);
		to[cut] = '\0';
	}
	tap_buf_release(&b);
	return whole;
}
