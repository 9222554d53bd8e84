// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes format texts as the kernel's trace_events.c does: f_show() for the fields; in the print
 * format, values replace the names declared with TRACE_DEFINE_ENUM() and TRACE_DEFINE_SIZEOF()
 * (update_event_printk()), and sizes replace sizeof() of common types and of fields (sizeof.c).
 */
#include "tracepoint/internal.h"

#include <ctype.h>
#include <sys/mman.h>

static const char common[] =
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/* Buffer of the first text, used under the lock. */
static char first[16384];

/* From mmap(): a fork or a signal may have interrupted malloc(). */
static bool make_room(struct tap_text *t, size_t more)
{
	size_t cap = t->cap ? t->cap : sizeof(first);
	void *p = first;

	while (cap - t->len < more)
		cap *= 2;
	if (cap == t->cap)
		return true;
	if (t->data && t->data != first)
		p = mremap(t->data, t->cap, cap, MREMAP_MAYMOVE);
	else if (cap > sizeof(first))
		p = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	if (t->data == first)
		memcpy(p, first, t->len);
	t->data = p;
	t->cap = cap;
	return true;
}

void tap_text_add(struct tap_text *t, const char *s, size_t len)
{
	t->failed |= !make_room(t, len);
	if (t->failed)
		return;
	memcpy(t->data + t->len, s, len);
	t->len += len;
}

char *tap_put_number(char *to, unsigned long v, unsigned int base)
{
	unsigned int nr = 1;

	for (unsigned long left = v; left >= base; left /= base)
		nr++;
	for (unsigned int i = nr; i-- > 0; v /= base)
		to[i] = "0123456789abcdef"[v % base];
	return to + nr;
}

void tap_text_release(struct tap_text *t)
{
	if (t->data && t->data != first)
		munmap(t->data, t->cap);
	*t = (struct tap_text){ 0 };
}

static void puts_to(struct tap_text *t, const char *s)
{
	tap_text_add(t, s, strlen(s));
}

static void put_number(struct tap_text *t, const char *before, long v, const char *after)
{
	char digits[24], *end = digits;

	if (v < 0)
		*end++ = '-';
	end = tap_put_number(end, v < 0 ? -(unsigned long)v : (unsigned long)v, 10);
	puts_to(t, before);
	tap_text_add(t, digits, (size_t)(end - digits));
	puts_to(t, after);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Return the map entry for the word at @p, or NULL. */
static const struct trace_eval_map *find_eval(const struct tap_object *o, const char *system,
					      const char *p, size_t *len)
{
	for (const struct trace_eval_map *const *at = o->evals; at < o->evals_end; at++) {
		*len = strlen((*at)->name);
		if (!strncmp(p, (*at)->name, *len) && !is_word(p[*len]) &&
		    !strcmp((*at)->system, system))
			return *at;
	}
	return NULL;
}

/*
 * Return the number of bytes at @p that are copied unchanged: quoted text, a name, a member access
 * or one character.
 */
static size_t plain_bytes(const char *p)
{
	const char *end = p + 1;
	bool member;

	if (*p == '"') {
		while (*end && *end != '"')
			end += *end == '\\' && end[1] ? 2 : 1;
		return (size_t)(end - p) + (*end == '"');
	}
	member = *p == '.' || (*p == '-' && *end == '>');
	if (member)
		for (end += *p == '-'; *end == ' ';)
			end++;
	if (is_word(*p) || member) /* a member's name is never replaced */
		while (is_word(*end))
			end++;
	return (size_t)(end - p);
}

/*
 * Find the value of the word at @p; TRACE_DEFINE_SIZEOF() takes precedence over the library's
 * sizeof(). Return: bytes of the text that the value replaces; 0 if there is no value.
 */
static size_t find_value(const char *p, const struct tap_object *o,
			 const struct trace_event_info *info, long *value)
{
	size_t len;
	const struct trace_eval_map *eval = find_eval(o, info->system, p, &len);

	if (!eval)
		return tap_sizeof(p, info, value);
	*value = (long)eval->value;
	return len;
}

static void put_with_values(struct tap_text *t, const struct trace_event_info *info,
			    const struct tap_object *o)
{
	for (const char *p = info->print_fmt; *p;) {
		long value;
		size_t len = is_word(*p) ? find_value(p, o, info, &value) : 0;

		if (len) {
			put_number(t, "", value, "");
		} else {
			len = plain_bytes(p);
			tap_text_add(t, p, len);
		}
		p += len;
	}
}

/*
 * In the kernel a format without arguments ends in a comma. Some readers take that for an error and
 * print nothing, so it is removed.
 */
static void trim_comma(struct tap_text *t)
{
	if (t->len >= 2 && !memcmp(t->data + t->len - 2, ", ", 2))
		t->len -= 2;
}

static void put_field(struct tap_text *t, const char *type, const char *name,
		      const struct trace_event_field *f)
{
	/* the kernel prints "char name[16]", for __rel_loc, too, but "__data_loc char[] name" */
	const char *array = strncmp(type, "__data_loc", 10) ? strchr(type, '[') : NULL;

	puts_to(t, "\tfield:");
	tap_text_add(t, type, array ? (size_t)(array - type) : strlen(type));
	puts_to(t, " ");
	puts_to(t, name);
	if (array && f->len)
		put_number(t, "[", f->len, "]");
	else if (array)
		puts_to(t, "[]");
	put_number(t, ";\toffset:", f->offset, ";");
	put_number(t, "\tsize:", f->size, ";");
	put_number(t, "\tsigned:", f->is_signed, ";\n");
}

void tap_format_text(struct tap_text *t, const char *event, const struct trace_event_info *info,
		     const struct tap_object *object)
{
	const char *type = info->names;

	puts_to(t, "name: ");
	puts_to(t, event);
	puts_to(t, "\nID: 0\nformat:\n");
	puts_to(t, common);
	for (unsigned int i = 0; i < info->nr_fields; i++) {
		const char *name = type + strlen(type) + 1;

		put_field(t, type, name, &info->fields[i]);
		type = name + strlen(name) + 1;
	}
	puts_to(t, "\nprint fmt: ");
	put_with_values(t, info, object);
	trim_comma(t);
	puts_to(t, "\n");
}
