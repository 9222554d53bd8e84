// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/report/stack_cells.h"

/* Remove the first name from @names, which are separated by newlines, and return it. */
static struct span next_name(struct span *names)
{
	const char *nl = memchr(names->s, '\n', names->len);
	struct span name = { names->s, nl ? (size_t)(nl - names->s) : names->len };
	size_t used = name.len + !!nl;

	*names = (struct span){ names->s + used, names->len - used };
	return name;
}

static void add_names(struct tap_buf *b, struct span names, bool escape, bool *more)
{
	while (names.len) {
		struct span name = next_name(&names);

		if (*more)
			tap_buf_puts(b, " <- ");
		*more = true;
		if (escape)
			tap_text_escape(b, name.s, name.len);
		else
			tap_buf_add(b, name.s, name.len);
	}
}

void tap_stack_add(struct tap_buf *b, const struct tap_event_stacks *stacks,
		   struct tap_stack_pair stack, bool escape)
{
	bool more = false;

	add_names(b, tap_event_stacks_names(stacks, stack.kernel), escape, &more);
	add_names(b, tap_event_stacks_names(stacks, stack.user), escape, &more);
}

static void put_names(struct tap_page *p, const char *key, struct span names)
{
	struct span name;

	if (!names.len) {
		tap_page_null(p, key);
		return;
	}
	tap_page_array(p, key);
	while (names.len) {
		name = next_name(&names);
		tap_page_text(p, NULL, name.s, name.len);
	}
	tap_page_array_end(p);
}

void tap_stack_members(struct tap_page *p, const struct tap_event_stacks *stacks,
		       struct tap_stack_pair stack)
{
	put_names(p, "kernel_frames", tap_event_stacks_names(stacks, stack.kernel));
	put_names(p, "user_frames", tap_event_stacks_names(stacks, stack.user));
}
