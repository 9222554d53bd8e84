// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/text/line.h"

#include <limits.h>

#include "file/cursor.h"

/* A CPU's bracket is within this many bytes: a name of 15 escaped bytes, and two numbers. */
#define MAX_HEAD_BYTES 128
#define MAX_FLAGS_BYTES 16
#define MIN_FRACTION 6 /* digits; heads in names are too long with as many */
#define PADDED_NAME 22 /* trace-cmd pads "NAME:" to as many bytes */
#define BRIEF_NAME 8 /* bytes of a name that trace-cmd report -l prints */

/* Old kernels print the address 0 in place of the function that writes marks. */
static const char old_mark[] = "0: ", mark[] = "tracing_mark_write";

static const uint32_t units_ns[] = { 1000, 100, 10, 1 };

/* Parse "12.345678: ". Return: its end; NULL if it is no time. */
static const char *take_time(struct tap_line *l, const char *p, const char *end)
{
	uint64_t s, fraction;
	const char *point = tap_line_number(p, end, TAP_CURSOR_MAX_NS / 1000000000 - 1, &s), *colon;

	if (!point || point == end || *point != '.')
		return NULL;
	colon = tap_line_number(point + 1, end, 999999999, &fraction);
	if (!colon || colon - point - 1 < MIN_FRACTION || colon - point - 1 > 9 ||
	    end - colon < 2 || colon[0] != ':' || colon[1] != ' ')
		return NULL;
	l->unit_ns = units_ns[colon - point - 1 - MIN_FRACTION];
	l->ts_ns = s * 1000000000 + fraction * l->unit_ns;
	return colon + 2;
}

/* Parse what is between the CPU and the event: flags, which may be missing, and the time. */
static const char *take_flags_and_time(struct tap_line *l, const char *p, const char *end)
{
	const char *flags = p = tap_line_blanks(p, end), *time = take_time(l, p, end);

	if (time)
		return time;
	while (p < end && *p != ' ' && *p != '[' && p - flags < MAX_FLAGS_BYTES)
		p++;
	if (p == flags || p == end || *p != ' ')
		return NULL;
	return take_time(l, tap_line_blanks(p, end), end);
}

static inline bool is_name(char c)
{
	return is_word(c) || c == '.' || c == '-';
}

static inline const char *name_end(const char *p, const char *end)
{
	if (p == end || (unsigned char)(*p - '0') < 10)
		return p;
	while (p < end && is_name(*p))
		p++;
	return p;
}

/* trace-cmd pads the name. What is before the body's column belongs to the padding, but no more. */
static const char *find_body(const struct tap_line *l, const char *p, const char *end)
{
	const char *column = l->name.s + PADDED_NAME;

	if (p == end)
		return p;
	if (!l->system.len && l->has_dash && p < column && column <= end &&
	    tap_line_blanks(p, column) == column)
		return column;
	return p + 1;
}

static enum tap_line_kind take_event(struct tap_line *l, const char *p, const char *end)
{
	uint64_t period;
	const char *name = tap_line_blanks(p, end), *colon;

	l->body = (struct span){ name, (size_t)(end - name) };
	p = tap_line_number(name, end, UINT64_MAX, &period);
	if (p && p < end && *p == ' ') /* perf's period */
		name = tap_line_blanks(p, end);
	l->system = (struct span){ name, 0 };
	if (end - name > 2 && !memcmp(name, old_mark, 3)) {
		l->name = (struct span){ mark, sizeof(mark) - 1 };
		l->body = (struct span){ name + 3, (size_t)(end - name) - 3 };
		return TAP_LINE_EVENT;
	}
	colon = name_end(name, end);
	if (end - colon > 1 && colon > name && *colon == ':' && is_name(colon[1])) {
		l->system.len = (size_t)(colon - name);
		name = colon + 1;
		colon = name_end(name, end);
	}
	if (colon == name || colon == end || *colon != ':' || (end - colon > 1 && colon[1] != ' '))
		return TAP_LINE_HEAD;
	l->name = (struct span){ name, (size_t)(colon - name) };
	p = find_body(l, colon + 1, end);
	l->body = (struct span){ p, (size_t)(end - p) };
	return TAP_LINE_EVENT;
}

/* Parse backward "(  120) ", or "(-----) " if it is not known. @end: its end, and its start. */
static bool take_tgid(struct tap_line *l, const char *begin, const char **end)
{
	const char *p = *end - 1, *number;
	uint64_t v;

	while (p > begin && ((unsigned char)(p[-1] - '0') < 10 || p[-1] == '-'))
		p--;
	number = p;
	while (p > begin && p[-1] == ' ')
		p--;
	if (p == begin || p[-1] != '(')
		return false;
	if (tap_line_number(number, *end - 1, INT_MAX, &v) == *end - 1)
		l->tgid = (int)v;
	for (*end = p - 1; *end > begin && (*end)[-1] == ' ';)
		--*end;
	return true;
}

static const char *digits_begin(const char *begin, const char *end)
{
	while (end > begin && (unsigned char)(end[-1] - '0') < 10)
		end--;
	return end;
}

/* Parse the task before the CPU backward from @end: "bash-123", "bash 123", "bash 120/123". */
static bool take_task(struct tap_line *l, const char *begin, const char *end)
{
	const char *p = end;
	uint64_t v;

	l->tgid = -1;
	while (p > begin && p[-1] == ' ')
		p--;
	if (p > begin && p[-1] == ')' && !take_tgid(l, begin, &p))
		return false;
	end = p;
	p = digits_begin(begin, end);
	if (tap_line_number(p, end, INT_MAX, &v) != end)
		return false;
	l->tid = (int)v;
	l->has_dash = p > begin && p[-1] == '-';
	if (p > begin && p[-1] == '/') {
		end = p - 1;
		p = digits_begin(begin, end);
		if (tap_line_number(p, end, INT_MAX, &v) != end)
			return false;
		l->tgid = (int)v;
	}
	if (p > begin && !l->has_dash && p[-1] != ' ')
		return false;
	p -= p > begin;
	begin = tap_line_blanks(begin, p);
	while (!l->has_dash && p > begin && p[-1] == ' ')
		p--;
	l->comm = (struct span){ begin, (size_t)(p - begin) };
	return true;
}

/* Parse a line of trace-cmd report -l, whose CPU has no brackets: "bash-123     1d..2.  TIME". */
static enum tap_line_kind parse_brief(struct tap_line *l, const char *begin, const char *end)
{
	const char *first = tap_line_blanks(begin, end);
	const char *last = end - first > BRIEF_NAME + 1 ? first + BRIEF_NAME + 1 : end;

	for (const char *dash = first; dash < last; dash++) {
		uint64_t tid, cpu;
		const char *p = *dash == '-' ? tap_line_number(dash + 1, end, INT_MAX, &tid) : NULL;

		if (!p || p == end || *p != ' ')
			continue;
		p = tap_line_number(tap_line_blanks(p, end), end, UINT_MAX, &cpu);
		p = p ? take_flags_and_time(l, p, end) : NULL;
		if (!p)
			continue;
		l->comm = (struct span){ first, (size_t)(dash - first) };
		l->tid = (int)tid;
		l->tgid = -1;
		l->cpu = (unsigned int)cpu;
		l->has_dash = l->is_brief = true;
		return take_event(l, p, end);
	}
	return TAP_LINE_OTHER;
}

enum tap_line_kind tap_line_parse(struct tap_line *l, const char *p, const char *end)
{
	const char *last = end - p > MAX_HEAD_BYTES ? p + MAX_HEAD_BYTES : end, *at = p;

	l->is_brief = false;
	while (at < last && (at = memchr(at, '[', (size_t)(last - at)))) {
		uint64_t cpu;
		const char *rest = tap_line_number(++at, end, UINT_MAX, &cpu);

		if (!rest || end - rest < 2 || rest[0] != ']' || rest[1] != ' ')
			continue;
		rest = take_flags_and_time(l, rest + 1, end);
		if (!rest || !take_task(l, p, at - 1))
			continue;
		l->cpu = (unsigned int)cpu;
		return take_event(l, rest, end);
	}
	return parse_brief(l, p, end);
}
