// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/define/record.h"

#include <stdio.h>

#include "base/opt.h"
#include "event/define/constant.h"
#include "event/define/quote.h"

/* Maximum bytes of dynamic fields in the macros of bpf/schedtap.bpf.c. */
#define STRING_MAX 256u
#define BITMASK_MAX 128u
#define ARRAY_MAX 504u

struct layout {
	struct tap_pp *pp;
	struct tap_arena *arena;
	struct tap_record *out;
	uint32_t align; /* the strictest alignment of any field */
	uint32_t dynamic; /* maximum size of the data after the fixed part, in bytes */
};

/* Assign the field's offset and add the field. */
static void add_field(struct layout *l, struct tap_field f, uint32_t align,
		      const struct tap_part *name)
{
	struct tap_record *r = l->out;

	for (unsigned int i = 0; i < r->nr; i++)
		if (!strcmp(r->fields[i].name, f.name))
			tap_pp_fail(l->pp, &name->at, "duplicate field '%s'", f.name);
	if (!strncmp(f.name, "common_", strlen("common_")))
		tap_pp_fail(l->pp, &name->at, "'%s': names that begin with common_ are reserved",
			    f.name);
	if (r->nr == TAP_FORMAT_MAX_FIELDS - 4)
		tap_pp_fail(l->pp, &name->at, "more than %u fields", TAP_FORMAT_MAX_FIELDS - 4);
	if (tap_pp_err(l->pp))
		return;
	f.offset = (r->size + align - 1) & ~(align - 1);
	r->size = f.offset + f.size;
	l->align = align > l->align ? align : l->align;
	if (r->size + l->dynamic > TAP_RECORD_MAX_BYTES)
		tap_pp_fail(l->pp, &name->at,
			    "with '%s' a record takes %u bytes: the limit is %u, counting %u per "
			    "__string and %u per __bitmask",
			    f.name, r->size + l->dynamic, TAP_RECORD_MAX_BYTES, STRING_MAX,
			    BITMASK_MAX);
	r->fields[r->nr++] = f;
}

static const char *keep_text(struct layout *l, struct span s)
{
	char *copy = tap_arena_get(l->arena, s.len + 1);

	if (!copy)
		tap_pp_no_memory(l->pp);
	return copy ? memcpy(copy, s.s, s.len) : "";
}

/* Other tokens would break the syntax of a line in a format file. */
static bool has_only_words_and_stars(const struct tap_part *part)
{
	for (unsigned int i = 0; i < part->nr; i++)
		if (part->v[i].kind != TOKEN_WORD && !token_is(&part->v[i], "*"))
			return false;
	return true;
}

static bool read_type(struct layout *l, const struct tap_part *part, struct tap_field *f)
{
	struct tap_ctype type = { 0 };
	struct tap_quote text;

	if (!part->nr) {
		tap_pp_fail(l->pp, &part->at, "the field's type is missing");
		return false;
	}
	if (!tap_quote_make(l->pp, l->arena, part, &text))
		return false;
	if (strlen(text.s) > 100 || !has_only_words_and_stars(part) ||
	    !tap_ctype_find(text.s, strlen(text.s), (struct tap_abi){ .long_size = sizeof(long) },
			    &type) ||
	    type.is_real) {
		tap_pp_fail(l->pp, &part->at,
			    "'%.100s' is not a field type: use u8 to u64, s8 to s64, int, long, "
			    "char, bool, pid_t, enum or a pointer",
			    text.s);
		return false;
	}
	f->type = text.s;
	f->size = f->elem_size = type.size;
	/* char is unsigned since v6.2; enums without negative values are unsigned */
	f->is_signed = type.is_signed && strcmp(text.s, "char") && !token_is(part->v, "enum");
	return true;
}

static bool read_length(struct layout *l, const struct tap_part *part, uint32_t elem_size,
			uint32_t *size)
{
	struct tap_constant c = tap_constant_of(part->v, part->nr, false);

	if (c.error) {
		tap_pp_fail(l->pp, c.at < part->nr ? &part->v[c.at] : &part->at, "%s", c.error);
		return false;
	}
	if (c.value < 1 || c.value > TAP_RECORD_MAX_BYTES / elem_size) {
		tap_pp_fail(l->pp, &part->at,
			    "%lld elements: an array of this type can have 1 to %u",
			    (long long)c.value, TAP_RECORD_MAX_BYTES / elem_size);
		return false;
	}
	*size = (uint32_t)c.value * elem_size;
	return true;
}

static void read_number(struct layout *l, const struct tap_call *c)
{
	struct tap_field f = { .kind = TAP_FIELD_NUMBER };
	struct span name;

	if (!tap_call_has(l->pp, c, 2, "type, name") || !read_type(l, &c->args[0], &f) ||
	    !tap_call_name(l->pp, &c->args[1], "a field's name", &name))
		return;
	f.name = keep_text(l, name);
	add_field(l, f, f.size, &c->args[1]);
}

static void read_array(struct layout *l, const struct tap_call *c)
{
	struct tap_field f = { .kind = TAP_FIELD_ARRAY };
	struct span name;

	if (!tap_call_has(l->pp, c, 3, "type, name, length") || !read_type(l, &c->args[0], &f) ||
	    !tap_call_name(l->pp, &c->args[1], "a field's name", &name) ||
	    !read_length(l, &c->args[2], f.elem_size, &f.size))
		return;
	f.name = keep_text(l, name);
	if (!strcmp(f.type, "char"))
		f.kind = TAP_FIELD_CHARS;
	add_field(l, f, f.elem_size, &c->args[1]);
}

static void read_dynamic(struct layout *l, const struct tap_call *c, struct tap_field f,
			 uint32_t max)
{
	struct span name;

	if (!tap_call_has(l->pp, c, 2,
			  f.kind == TAP_FIELD_STRING ? "name, source" : "name, number of bits") ||
	    !tap_call_name(l->pp, &c->args[0], "a field's name", &name))
		return;
	f.name = keep_text(l, name);
	f.size = sizeof(uint32_t);
	l->dynamic += max;
	add_field(l, f, f.size, &c->args[0]);
}

/* Only built-in BPF programs can fill a dynamic array, whose length is then tp_pick_words. */
static bool is_built_in_array(const struct tap_call *c)
{
	return c->nr_args == 3 && c->args[2].nr && token_is(c->args[2].v, "tp_pick_words");
}

static void read_dynamic_array(struct layout *l, const struct tap_call *c)
{
	struct tap_field f = { .kind = TAP_FIELD_DYNAMIC };
	struct span name;
	char *type;

	if (!read_type(l, &c->args[0], &f) ||
	    !tap_call_name(l->pp, &c->args[1], "a field's name", &name))
		return;
	type = tap_arena_get(l->arena, strlen(f.type) + sizeof("__data_loc []"));
	if (!type) {
		tap_pp_no_memory(l->pp);
		return;
	}
	sprintf(type, "__data_loc %s[]", f.type);
	f.type = type;
	f.name = keep_text(l, name);
	f.size = sizeof(uint32_t);
	l->dynamic += ARRAY_MAX;
	add_field(l, f, f.size, &c->args[1]);
}

static void unknown_word(struct layout *l, const struct tap_token *t)
{
	static const char *const words[] = { "__field", "__array", "__string", "__bitmask" };
	const char *near;
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)t->text.len, t->text.s);
	near = tap_nearest(word, words, sizeof(words) / sizeof(*words));
	tap_pp_fail(l->pp, t,
		    "'%s' is not supported here: use __field, __array, __string or __bitmask%s%s%s",
		    word, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void read_field(struct layout *l, const struct tap_part *part, unsigned int *i)
{
	const struct tap_field text = {
		.kind = TAP_FIELD_STRING,
		.type = "__data_loc char[]",
		.elem_size = 1,
	};
	const struct tap_field bits = {
		.kind = TAP_FIELD_DYNAMIC,
		.type = "__data_loc unsigned long[]",
		.elem_size = sizeof(long),
	};
	const struct tap_token *t = &part->v[*i];
	struct tap_call c;

	if (t->kind != TOKEN_WORD || strncmp(t->text.s, "__", 2)) {
		tap_pp_fail(l->pp, t, "expected a field: __field, __array, __string or __bitmask");
		return;
	}
	if (!tap_call_take(l->pp, part, i, &c))
		return;
	if (token_is(t, "__field"))
		read_number(l, &c);
	else if (token_is(t, "__array"))
		read_array(l, &c);
	else if (token_is(t, "__string"))
		read_dynamic(l, &c, text, STRING_MAX);
	else if (token_is(t, "__bitmask"))
		read_dynamic(l, &c, bits, BITMASK_MAX);
	else if (token_is(t, "__dynamic_array") && is_built_in_array(&c))
		read_dynamic_array(l, &c);
	else
		unknown_word(l, t);
}

bool tap_record_read(struct tap_pp *pp, struct tap_arena *arena, const struct tap_part *part,
		     struct tap_record *out)
{
	struct layout l = { .pp = pp, .arena = arena, .out = out, .align = 4 };

	/* a field takes at least 4 tokens */
	*out = (struct tap_record){ .size = 8 };
	out->fields = tap_arena_get(arena, (part->nr / 4 + 1) * sizeof(*out->fields));
	if (!out->fields)
		tap_pp_no_memory(pp);
	for (unsigned int i = 0; i < part->nr && !tap_pp_err(pp);)
		read_field(&l, part, &i);
	out->size = (out->size + l.align - 1) & ~(l.align - 1);
	return !tap_pp_err(pp);
}
