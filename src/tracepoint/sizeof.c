// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Evaluates sizeof() in print formats: trace-cmd cannot parse sizeof() (libtraceevent 1.7.1), and
 * readers of a recording do not know the program's types.
 */
#include "tracepoint/internal.h"

/*
 * The program and the library have the same ABI. Names are arrays, because pointers would be
 * relocated in each process.
 */
#define TYPE(type)                                                                                 \
	{                                                                                          \
#type, sizeof(type)                                                                \
	}
static const struct {
	char name[sizeof("unsigned long long")];
	uint8_t size;
} types[] = {
	TYPE(char),
	TYPE(signed char),
	TYPE(unsigned char),
	TYPE(short),
	TYPE(unsigned short),
	TYPE(int),
	TYPE(unsigned),
	TYPE(unsigned int),
	TYPE(long),
	TYPE(unsigned long),
	TYPE(long long),
	TYPE(unsigned long long),
	TYPE(float),
	TYPE(double),
	TYPE(u8),
	TYPE(u16),
	TYPE(u32),
	TYPE(u64),
	TYPE(s8),
	TYPE(s16),
	TYPE(s32),
	TYPE(s64),
	TYPE(uint8_t),
	TYPE(uint16_t),
	TYPE(uint32_t),
	TYPE(uint64_t),
	TYPE(int8_t),
	TYPE(int16_t),
	TYPE(int32_t),
	TYPE(int64_t),
	TYPE(uintptr_t),
	TYPE(intptr_t),
	TYPE(size_t),
	TYPE(ssize_t),
	TYPE(pid_t),
	TYPE(bool),
	{ "_Bool", sizeof(bool) },
	{ "__u8", 1 },
	{ "__u16", 2 },
	{ "__u32", 4 },
	{ "__u64", 8 },
	{ "__s8", 1 },
	{ "__s16", 2 },
	{ "__s32", 4 },
	{ "__s64", 8 },
};

/* A part of a text, without surrounding blanks. */
struct span {
	const char *s;
	size_t len;
};

static struct span trim_blanks(struct span w)
{
	while (w.len && *w.s == ' ')
		w = (struct span){ w.s + 1, w.len - 1 };
	while (w.len && w.s[w.len - 1] == ' ')
		w.len--;
	return w;
}

static bool is_text(struct span w, const char *text)
{
	return strlen(text) == w.len && !memcmp(w.s, text, w.len);
}

/* Return: size of a type; 0 if it is unknown. */
static size_t type_bytes(struct span w)
{
	if (w.len && w.s[w.len - 1] == '*')
		return sizeof(void *);
	if (w.len > 6 && !memcmp(w.s, "const ", 6))
		w = trim_blanks((struct span){ w.s + 6, w.len - 6 });
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (is_text(w, types[i].name))
			return types[i].size;
	return 0;
}

/* Return: size of REC->name, or of an array element, REC->name[0]; 0 if @w is something else. */
static size_t field_bytes(struct span w, const struct trace_event_info *info)
{
	const char *type = info->names, *subscript = memchr(w.s, '[', w.len);

	if (w.len < 5 || memcmp(w.s, "REC->", 5))
		return 0;
	w = trim_blanks(
		(struct span){ w.s + 5, (subscript ? (size_t)(subscript - w.s) : w.len) - 5 });
	for (unsigned int i = 0; i < info->nr_fields; i++) {
		const struct trace_event_field *f = &info->fields[i];
		const char *name = type + strlen(type) + 1;

		if (is_text(w, name))
			return !subscript ? f->size : f->len ? (size_t)f->size / f->len : 0;
		type = name + strlen(name) + 1;
	}
	return 0;
}

size_t tap_sizeof(const char *p, const struct trace_event_info *info, long *bytes)
{
	const char *from = p + strlen("sizeof"), *end;
	struct span w;

	if (strncmp(p, "sizeof", strlen("sizeof")))
		return 0;
	while (*from == ' ')
		from++;
	end = strchr(from, ')');
	if (*from != '(' || !end)
		return 0;
	w = trim_blanks((struct span){ from + 1, (size_t)(end - from - 1) });
	*bytes = (long)(type_bytes(w) ?: field_bytes(w, info));
	return *bytes ? (size_t)(end + 1 - p) : 0;
}
