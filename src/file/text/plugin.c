// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/text/plugin.h"

#include <limits.h>

#include "file/text/line.h"
#include "file/text/state.h"

#define MAX_COMM_BYTES 15
#define MAX_WAKEUP_BYTES 256

/* Parse "NAME:123 [120]" that ends at @end, backward: names may contain anything. */
static bool take_task(struct tap_plugin_task *t, const char *begin, const char *end)
{
	const char *p = end, *prio;
	uint64_t sign = 0;

	if (p - begin < 6 || p[-1] != ']')
		return false;
	for (p--; p > begin && (unsigned char)(p[-1] - '0') < 10;)
		p--;
	prio = p;
	if (p > begin && p[-1] == '-') {
		sign = 1;
		p--;
	}
	if (tap_line_number(prio, end - 1, INT_MAX, &t->prio) != end - 1 || p - begin < 2 ||
	    p[-1] != '[' || p[-2] != ' ')
		return false;
	t->prio = sign ? -t->prio : t->prio;
	end = p - 2;
	for (p = end; p > begin && (unsigned char)(p[-1] - '0') < 10;)
		p--;
	if (tap_line_number(p, end, INT_MAX, &t->tid) != end || p == begin || p[-1] != ':' ||
	    p - 1 - begin > MAX_COMM_BYTES)
		return false;
	t->comm = (struct span){ begin, (size_t)(p - 1 - begin) };
	return true;
}

/* Parse what is before an arrow: the task, a space, its state. */
static bool take_prev(struct tap_plugin_switch *s, const char *begin, const char *end)
{
	const char *p = end;

	while (p > begin && p[-1] != ' ')
		p--;
	return p > begin && tap_state_parse(p, end, true, &s->state) == end &&
	       take_task(&s->prev, begin, p - 1);
}

bool tap_plugin_switch(struct tap_plugin_switch *s, struct span body, int tid)
{
	static const char arrow[] = " ==> ";
	const char *end = body.s + body.len, *at = body.s;
	struct tap_plugin_switch found;
	bool has_found = false;

	while (end > body.s && end[-1] == ' ')
		end--;
	for (; (at = memmem(at, (size_t)(end - at), arrow, sizeof(arrow) - 1)); at++) {
		if (at - body.s > MAX_COMM_BYTES + 64)
			break;
		if (!take_prev(&found, body.s, at) ||
		    !take_task(&found.next, at + sizeof(arrow) - 1, end))
			continue;
		if (!has_found || (int)found.prev.tid == tid)
			*s = found;
		has_found = true;
		if ((int)found.prev.tid == tid)
			break;
	}
	return has_found;
}

/* Return the start of the last @text before @end, or NULL. */
static const char *find_last(const char *begin, const char *end, const char *text)
{
	const size_t len = strlen(text);

	for (const char *p = end - len; end - begin >= (ptrdiff_t)len && p >= begin; p--)
		if (!memcmp(p, text, len))
			return p;
	return NULL;
}

bool tap_plugin_wakeup(struct tap_plugin_wakeup *w, struct span body)
{
	static const char success[] = " success=1";
	const char *end, *cpu;

	end = body.s + (body.len < MAX_WAKEUP_BYTES ? body.len : MAX_WAKEUP_BYTES);
	while (end > body.s && end[-1] == ' ')
		end--;
	if (end > body.s && end[-1] == '>')
		end--;
	cpu = find_last(body.s, end, "CPU:");
	if (!cpu || tap_line_number(cpu + 4, end, UINT_MAX, &w->cpu) != end)
		return false;
	end = cpu;
	if (end > body.s && (end[-1] == '<' || end[-1] == ' '))
		end--;
	if (end - body.s > (ptrdiff_t)sizeof(success) &&
	    !memcmp(end - sizeof(success) + 1, success, sizeof(success) - 1))
		end -= sizeof(success) - 1;
	return take_task(&w->task, body.s, end);
}
