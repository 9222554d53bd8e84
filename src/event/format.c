// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/format.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "event/span.h"

/* A record fits into an ftrace sub-buffer: at most 64 pages of 64 KiB. */
#define RECORD_MAX_BYTES ((uint64_t)4 << 20)

/* The public struct with the memory that it points to. */
struct owned_format {
	struct tap_format fmt; /* first, as tap_format_free() casts its address */
	struct tap_field *fields;
	char *words; /* all strings, one after the other */
};

struct parser {
	struct owned_format *of;
	struct tap_abi abi;
	char *free_word;
	unsigned int line;
	bool has_id, common_over;
	struct tap_err *err;
};

static const struct {
	const char *name;
	uint8_t size; /* 0: sizeof(long) */
	bool is_signed;
} typedefs[] = {
	{ "u8", 1, false },	    { "s8", 1, true },	       { "u16", 2, false },
	{ "s16", 2, true },	    { "u32", 4, false },       { "s32", 4, true },
	{ "u64", 8, false },	    { "s64", 8, true },	       { "__u8", 1, false },
	{ "__s8", 1, true },	    { "__u16", 2, false },     { "__s16", 2, true },
	{ "__u32", 4, false },	    { "__s32", 4, true },      { "__u64", 8, false },
	{ "__s64", 8, true },	    { "uint8_t", 1, false },   { "int8_t", 1, true },
	{ "uint16_t", 2, false },   { "int16_t", 2, true },    { "uint32_t", 4, false },
	{ "int32_t", 4, true },	    { "uint64_t", 8, false },  { "int64_t", 8, true },
	{ "bool", 1, false },	    { "_Bool", 1, false },     { "uint", 4, false },
	{ "ushort", 2, false },	    { "ulong", 0, false },     { "size_t", 0, false },
	{ "ssize_t", 0, true },	    { "uintptr_t", 0, false }, { "cpumask_t", 0, false },
	{ "nodemask_t", 0, false }, { "pid_t", 4, true },      { "uid_t", 4, false },
	{ "gid_t", 4, false },	    { "dev_t", 4, false },     { "gfp_t", 4, false },
	{ "loff_t", 8, true },	    { "ktime_t", 8, true },    { "sector_t", 8, false },
	{ "__be16", 2, false },	    { "__be32", 4, false },    { "__kernel_rwf_t", 4, true },
};

static bool strip_prefix(struct span *t, const char *prefix)
{
	size_t len = strlen(prefix);

	if (t->len < len || memcmp(t->s, prefix, len))
		return false;
	*t = (struct span){ t->s + len, t->len - len };
	return true;
}

static struct span next_word(struct span *t)
{
	struct span w;

	while (t->len && !is_word(t->s[0]))
		*t = (struct span){ t->s + 1, t->len - 1 };
	w = (struct span){ t->s, 0 };
	while (w.len < t->len && is_word(w.s[w.len]))
		w.len++;
	*t = (struct span){ t->s + w.len, t->len - w.len };
	return w;
}

static bool typedef_find(struct span word, struct tap_abi abi, struct tap_ctype *type)
{
	for (size_t i = 0; i < sizeof(typedefs) / sizeof(typedefs[0]); i++) {
		if (!span_is(word, typedefs[i].name))
			continue;
		type->size = typedefs[i].size ? typedefs[i].size : abi.long_size;
		type->is_signed = typedefs[i].is_signed;
		type->is_bool = span_is(word, "bool") || span_is(word, "_Bool");
		return true;
	}
	return false;
}

bool tap_ctype_find(const char *s, size_t len, struct tap_abi abi, struct tap_ctype *type)
{
	struct span rest = { s, len }, word;
	unsigned int longs = 0;
	bool is_unsigned = false, known = false;

	if (memchr(s, '*', len)) {
		*type = (struct tap_ctype){ abi.long_size, false };
		return true;
	}
	*type = (struct tap_ctype){ 4, true };
	while ((word = next_word(&rest)).len) {
		if (span_is(word, "const") || span_is(word, "volatile"))
			continue;
		if (span_is(word, "enum"))
			return true;
		if (span_is(word, "long")) {
			type->size = ++longs > 1 ? 8 : abi.long_size;
		} else if (span_is(word, "short")) {
			type->size = 2;
		} else if (span_is(word, "char")) {
			type->size = 1;
		} else if (span_is(word, "unsigned")) {
			is_unsigned = true;
		} else if (span_is(word, "float") || span_is(word, "double")) {
			*type = (struct tap_ctype){ span_is(word, "float") ? 4 : 8, true, true };
			return !known;
		} else if (!span_is(word, "int") && !span_is(word, "signed")) {
			return !known && typedef_find(word, abi, type);
		}
		known = true;
	}
	if (is_unsigned)
		type->is_signed = false;
	return known;
}

static int bad_line(struct parser *p, const char *what)
{
	return tap_err_set(p->err, -EINVAL, "bad event format, line %u: %s", p->line, what);
}

static const char *keep_word(struct parser *p, struct span t)
{
	char *w = p->free_word;

	memcpy(w, t.s, t.len);
	w[t.len] = '\0';
	p->free_word += t.len + 1;
	return w;
}

static bool parse_u32(struct span t, uint32_t *v)
{
	const char *end;
	uint64_t n;

	t = trim(t);
	end = t.s + t.len;
	if (tap_text_take_digits(&t.s, end, 10, &n) || t.s != end || n > UINT32_MAX)
		return false;
	*v = (uint32_t)n;
	return true;
}

/*
 * "T" and "N" of "T name[N]". count is 0 if the array's length is not a number (a macro, or
 * nothing).
 */
struct declaration {
	struct span type, name;
	bool is_array;
	uint32_t count;
};

static bool parse_declaration(struct span t, struct declaration *d)
{
	size_t at;

	*d = (struct declaration){ 0 };
	t = trim(t);
	if (t.len && t.s[t.len - 1] == ']') {
		const char *open = memrchr(t.s, '[', t.len);

		if (!open)
			return false;
		d->is_array = true;
		at = (size_t)(open - t.s);
		parse_u32((struct span){ open + 1, t.len - at - 2 }, &d->count);
		t = trim((struct span){ t.s, at });
	}
	for (at = t.len; at && is_word(t.s[at - 1]); at--)
		;
	d->name = (struct span){ t.s + at, t.len - at };
	d->type = trim((struct span){ t.s, at });
	return d->name.len && d->type.len;
}

/* Return true for a struct or a union, whose content the format text does not describe. */
static bool is_struct(struct span type)
{
	struct span word = next_word(&type);

	while (span_is(word, "const") || span_is(word, "volatile"))
		word = next_word(&type);
	return (span_is(word, "struct") || span_is(word, "union")) &&
	       !memchr(type.s, '*', type.len);
}

static void set_kind(struct tap_field *f, const struct declaration *d, struct tap_abi abi)
{
	struct span elem = d->type;
	bool dynamic = strip_prefix(&elem, "__data_loc "), known;
	struct tap_ctype type = { 0 };

	if (!dynamic && strip_prefix(&elem, "__rel_loc "))
		dynamic = f->is_rel = true;
	if (dynamic && elem.len > 2 && !memcmp(elem.s + elem.len - 2, "[]", 2))
		elem.len -= 2;
	elem = trim(elem);
	known = tap_ctype_find(elem.s, elem.len, abi, &type);
	f->elem_size = f->size ? f->size : 1;
	if (dynamic || d->is_array) {
		bool text = span_is(elem, "char") || span_is(elem, "const char");

		if (dynamic)
			f->kind = text ? TAP_FIELD_STRING : TAP_FIELD_DYNAMIC;
		else
			f->kind = text ? TAP_FIELD_CHARS : TAP_FIELD_ARRAY;
		if (!dynamic && d->count && f->size && f->size % d->count == 0)
			f->elem_size = f->size / d->count;
		else
			f->elem_size = known ? type.size : 1;
	} else if (is_struct(elem)) {
		f->kind = TAP_FIELD_ARRAY;
		f->elem_size = 1;
	} else {
		f->kind = f->size && f->size <= 8 && !(f->size & (f->size - 1)) ? TAP_FIELD_NUMBER
										: TAP_FIELD_ARRAY;
	}
	f->is_real = known && type.is_real && f->elem_size == type.size;
	if (f->is_real && f->kind == TAP_FIELD_NUMBER)
		f->kind = TAP_FIELD_REAL;
}

/*
 * Parse "offset:8;", "size:16;" and "signed:0;" in any order; kernels before 2.6.34 have no
 * "signed".
 */
static bool parse_places(struct span rest, struct tap_field *f, bool *has_sign)
{
	bool has_offset = false, has_size = false;
	uint32_t sign;

	*has_sign = false;
	while ((rest = trim(rest)).len) {
		const char *end = memchr(rest.s, ';', rest.len);
		struct span item = { rest.s, end ? (size_t)(end - rest.s) : 0 };

		if (!end)
			return false;
		rest = (struct span){ end + 1, rest.len - item.len - 1 };
		if (strip_prefix(&item, "offset:")) {
			has_offset = parse_u32(item, &f->offset);
		} else if (strip_prefix(&item, "size:")) {
			has_size = parse_u32(item, &f->size);
		} else if (strip_prefix(&item, "signed:")) {
			*has_sign = parse_u32(item, &sign);
			if (*has_sign)
				f->is_signed = sign != 0;
		}
	}
	return has_offset && has_size;
}

static int add_field(struct parser *p, struct span line)
{
	struct tap_format *fmt = &p->of->fmt;
	const char *end = memchr(line.s, ';', line.len);
	struct tap_ctype type = { 0 };
	struct declaration d;
	struct tap_field *f;
	bool has_sign;

	if (fmt->nr_fields == TAP_FORMAT_MAX_FIELDS)
		return tap_err_set(p->err, -E2BIG, "bad event format, line %u: more than %u fields",
				   p->line, TAP_FORMAT_MAX_FIELDS);
	f = &p->of->fields[fmt->nr_fields];
	if (!end || !parse_declaration((struct span){ line.s, (size_t)(end - line.s) }, &d))
		return bad_line(p, "no type and name before ';'");
	line.len -= (size_t)(end + 1 - line.s);
	line.s = end + 1;
	if (!parse_places(line, f, &has_sign))
		return bad_line(p, "no offset and size");
	if ((uint64_t)f->offset + f->size > RECORD_MAX_BYTES)
		return bad_line(p, "field lies outside any record");
	if (!has_sign && tap_ctype_find(d.type.s, d.type.len, p->abi, &type))
		f->is_signed = type.is_signed;
	f->swap = p->abi.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	set_kind(f, &d, p->abi);
	if ((f->kind == TAP_FIELD_STRING || f->kind == TAP_FIELD_DYNAMIC) && f->size != 4)
		return bad_line(p, "a __data_loc or __rel_loc field must have 4 bytes");
	f->name = keep_word(p, d.name);
	f->type = keep_word(p, d.type);
	if (strncmp(f->name, "common_", 7))
		p->common_over = true;
	fmt->nr_common += !p->common_over;
	fmt->nr_fields++;
	return 0;
}

static int parse_line(struct parser *p, struct span line)
{
	struct tap_format *fmt = &p->of->fmt;
	uint32_t id;

	line = trim(line);
	if (strip_prefix(&line, "name:")) {
		fmt->name = keep_word(p, trim(line));
	} else if (strip_prefix(&line, "ID:")) {
		if (!parse_u32(line, &id) || id > UINT16_MAX)
			return bad_line(p, "no event id");
		fmt->id = (uint16_t)id;
		p->has_id = true;
	} else if (strip_prefix(&line, "field:") || strip_prefix(&line, "field special:")) {
		return add_field(p, line);
	} else if (line.len && !span_is(line, "format:")) {
		return bad_line(p, "neither name, ID, field nor print fmt");
	}
	return 0;
}

static int parse_text(struct parser *p, struct span text)
{
	struct tap_format *fmt = &p->of->fmt;
	int ret;

	fmt->print_fmt = "";
	while (text.len) {
		const char *nl = memchr(text.s, '\n', text.len);
		struct span line = { text.s, nl ? (size_t)(nl - text.s) : text.len };

		p->line++;
		/* to the end of the text: the print fmt comes last and may contain line breaks */
		if (strip_prefix(&text, "print fmt:")) {
			fmt->print_fmt = keep_word(p, trim(text));
			break;
		}
		ret = parse_line(p, line);
		if (ret)
			return ret;
		line.len += nl != NULL;
		text = (struct span){ text.s + line.len, text.len - line.len };
	}
	if (!fmt->name || !*fmt->name)
		return bad_line(p, "the event has no name");
	return p->has_id ? 0 : bad_line(p, "the event has no ID");
}

/*
 * Return the minimum record size in bytes. Without a trailing array of ftrace's own events: its
 * stack events declare caller[8] but store only as many entries as there are.
 */
static uint32_t min_size(const struct tap_format *fmt)
{
	uint32_t size = 0;

	for (unsigned int i = 0; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];
		bool open_end = i + 1 == fmt->nr_fields && f->kind == TAP_FIELD_ARRAY &&
				!strcmp(fmt->system, "ftrace");
		uint32_t end = f->offset + (open_end ? 0 : f->size);

		if (end > size)
			size = end;
	}
	return size;
}

static int alloc_strings(struct parser *p, const char *system, struct span text)
{
	struct owned_format *of = p->of;
	size_t lines = 1;

	for (size_t i = 0; i < text.len; i++)
		lines += text.s[i] == '\n';
	if (lines > TAP_FORMAT_MAX_FIELDS)
		lines = TAP_FORMAT_MAX_FIELDS;
	/* each byte of the text is part of at most one word, each line ends at most two words */
	of->words = malloc(2 * (text.len + 1) + strlen(system) + 1 + 2 * lines + 2);
	of->fields = calloc(lines, sizeof(*of->fields));
	if (!of->words || !of->fields)
		return tap_err_nomem(p->err);
	p->free_word = of->words;
	of->fmt.fields = of->fields;
	of->fmt.text = keep_word(p, text);
	of->fmt.system = keep_word(p, (struct span){ system, strlen(system) });
	return 0;
}

int tap_format_parse(const char *system, const char *text, size_t len, struct tap_abi abi,
		     struct tap_format **out, struct tap_err *err)
{
	struct parser p = { .abi = abi, .err = err };
	struct span all = { text, len };
	int ret;

	*out = NULL;
	if (len > TAP_FORMAT_MAX_BYTES)
		return tap_err_set(err, -E2BIG, "event format of %zu bytes is too long", len);
	if (memchr(text, '\0', len) || (abi.long_size != 4 && abi.long_size != 8))
		return tap_err_set(err, -EINVAL,
				   "bad event format: it contains a zero byte, or the kernel's "
				   "long has neither 4 nor 8 bytes");
	p.of = calloc(1, sizeof(*p.of));
	if (!p.of)
		return tap_err_nomem(err);
	p.of->fmt.big_endian = abi.big_endian;
	p.of->fmt.long_size = abi.long_size;
	ret = alloc_strings(&p, system, all);
	if (!ret)
		ret = parse_text(&p, all);
	if (ret) {
		tap_format_free(&p.of->fmt);
		return ret;
	}
	p.of->fmt.min_size = min_size(&p.of->fmt);
	*out = &p.of->fmt;
	return 0;
}

void tap_format_free(struct tap_format *fmt)
{
	struct owned_format *of = (struct owned_format *)fmt;

	if (!of)
		return;
	free(of->fields);
	free(of->words);
	free(of);
}

const struct tap_field *tap_format_field(const struct tap_format *fmt, const char *name)
{
	for (unsigned int i = 0; i < fmt->nr_fields; i++)
		if (!strcmp(fmt->fields[i].name, name))
			return &fmt->fields[i];
	return NULL;
}

uint64_t tap_field_u64(const struct tap_field *f, const void *rec, uint32_t size)
{
	const unsigned char *p = (const unsigned char *)rec + f->offset;

	if (f->offset > size || f->size > size - f->offset || !f->size || f->size > 8)
		return 0;
	return tap_fit(tap_load(p, f->size, f->swap), f->size, f->is_signed);
}

double tap_field_real(const struct tap_field *f, const void *rec, uint32_t size)
{
	return tap_real_of(tap_field_u64(f, rec, size), f->size);
}

const char *tap_field_region(const struct tap_field *f, const void *rec, uint32_t size,
			     uint32_t *len)
{
	bool dynamic = f->kind == TAP_FIELD_STRING || f->kind == TAP_FIELD_DYNAMIC;
	uint64_t at = f->offset, bytes = f->size;

	*len = 0;
	if (dynamic) {
		uint32_t loc = (uint32_t)tap_field_u64(f, rec, size);

		at = (loc & 0xffff) + (f->is_rel ? (uint64_t)f->offset + 4 : 0);
		bytes = loc >> 16;
	}
	if (at > size)
		return "";
	/* ftrace uses a size of 0 for data that extends to the record's end */
	if (!dynamic && (!bytes || bytes > size - at))
		bytes = size - at;
	if (bytes > size - at)
		return "";
	*len = (uint32_t)bytes;
	return (const char *)rec + at;
}

const char *tap_field_bytes(const struct tap_field *f, const void *rec, uint32_t size,
			    uint32_t *len)
{
	const char *s = tap_field_region(f, rec, size, len);

	if (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING)
		*len = (uint32_t)strnlen(s, *len);
	return s;
}
