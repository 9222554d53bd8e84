// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The event definitions of events/ as user-space tables. As in the kernel, the headers are included
 * several times, with different definitions of TRACE_EVENT() and its parts: stage 1 makes the
 * struct of a record, stage 2 its fields, stage 3 its print format, stages 4 and 5 the table of
 * events.
 */
#include "event/defs.h"

#include <assert.h>
#include <inttypes.h>
#include <linux/types.h>

#include "event/span.h"

/* the headers' text is kept as strings, so these must not be macros */
#undef bool
#undef true
#undef false
typedef _Bool bool;
enum { false, true };

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef int32_t s32;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;

struct trace_entry {
	unsigned short type;
	unsigned char flags, preempt_count;
	int pid;
};

/* the macros that mean the same in every stage */
#define TRACE_HEADER_MULTI_READ
#define TP_PROTO(args...) args
#define TP_ARGS(args...) args
#define TP_CONDITION(args...) args
/* keep @args here; the recorder drops them if its kernel lacks @member */
#define tp_if(member, args...) args
#define TP_STRUCT__entry(args...) args
#define TP_fast_assign(args...) args
#define TP_printk(args...) STRINGIFY(args)
#define STRINGIFY(x...) STRINGIFY_1(x)
#define STRINGIFY_1(x...) #x
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)                                     \
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),    \
			    PARAMS(print));                                                        \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)                     \
	EVENT_CLASS(name, PARAMS(proto), PARAMS(args), STRINGIFY(cond), PARAMS(tstruct),           \
		    PARAMS(assign), PARAMS(print));                                                \
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args))
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)                             \
	EVENT_CLASS(name, PARAMS(proto), PARAMS(args), 0, PARAMS(tstruct), PARAMS(assign),         \
		    PARAMS(print))
#define PARAMS(args...) args

#define NOTHING _Static_assert(1, "")
#define TRACE_HOOK(event, tracepoint, proto, args) NOTHING
#define TRACE_NEEDS(event, field, spec) NOTHING
#define TRACE_FORM_OF(event, name) NOTHING
#define DEFINE_EVENT(class, name, proto, args) NOTHING

/* stage 1: struct raw_<class>, with the same layout as the kernel's records */
#define __field(type, item) type item;
#define __array(type, item, len) type item[len];
#define __string(item, src) u32 __data_loc_##item;
#define __bitmask(item, nr_bits) u32 __data_loc_##item;
#define __dynamic_array(type, item, len) u32 __data_loc_##item;
/* clang-format off */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign, print)                              \
	struct raw_##class {                                                                       \
		struct trace_entry ent;                                                            \
		tstruct                                                                            \
	}
/* clang-format on */
#include "all.h"
#undef __field
#undef __array
#undef __string
#undef __bitmask
#undef __dynamic_array
#undef EVENT_CLASS

/* stage 2: fields_<class>(), a function because offsetof() needs a fixed name for the struct */
#define IS_SIGNED(type) ((type)-1 < (type)1)
#define __field(type_, item)                                                                       \
	{ .name = STRINGIFY(item),                                                                 \
	  .type = STRINGIFY(type_),                                                                \
	  .kind = TAP_FIELD_NUMBER,                                                                \
	  .offset = offsetof(RAW, item),                                                           \
	  .size = sizeof(type_),                                                                   \
	  .elem_size = sizeof(type_),                                                              \
	  .is_signed = IS_SIGNED(type_) },
/* clang-format off */
#define __array(type_, item, len)                                                                  \
	{ .name = STRINGIFY(item),                                                                 \
	  .type = STRINGIFY(type_),                                                                \
	  .kind = _Generic((type_)0, char: TAP_FIELD_CHARS, default: TAP_FIELD_ARRAY),             \
	  .offset = offsetof(RAW, item),                                                           \
	  .size = sizeof(type_[len]),                                                              \
	  .elem_size = sizeof(type_),                                                              \
	  .is_signed = IS_SIGNED(type_) },
/* clang-format on */
#define __string(item, src)                                                                        \
	{ .name = STRINGIFY(item),                                                                 \
	  .type = "__data_loc char[]",                                                             \
	  .kind = TAP_FIELD_STRING,                                                                \
	  .offset = offsetof(RAW, __data_loc_##item),                                              \
	  .size = sizeof(u32),                                                                     \
	  .elem_size = 1 },
#define __bitmask(item, nr_bits)                                                                   \
	{ .name = STRINGIFY(item),                                                                 \
	  .type = "__data_loc unsigned long[]",                                                    \
	  .kind = TAP_FIELD_DYNAMIC,                                                               \
	  .offset = offsetof(RAW, __data_loc_##item),                                              \
	  .size = sizeof(u32),                                                                     \
	  .elem_size = sizeof(unsigned long) },
#define __dynamic_array(type_, item, len)                                                          \
	{ .name = STRINGIFY(item),                                                                 \
	  .type = "__data_loc " STRINGIFY(type_) "[]",                                             \
	  .kind = TAP_FIELD_DYNAMIC,                                                               \
	  .offset = offsetof(RAW, __data_loc_##item),                                              \
	  .size = sizeof(u32),                                                                     \
	  .elem_size = sizeof(type_),                                                              \
	  .is_signed = IS_SIGNED(type_) },
/* clang-format off */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign, print)                              \
	static const struct tap_field *fields_##class(unsigned int *nr)                            \
	{                                                                                          \
		typedef struct raw_##class RAW;                                                    \
		static const struct tap_field fields[] = { tstruct };                              \
		*nr = sizeof(fields) / sizeof(fields[0]);                                          \
		return fields;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")
/* clang-format on */
#include "all.h"
#undef EVENT_CLASS

/*
 * stage 3: print_<class> with __entry as in the format text, and the texts of the prototype, the
 * assignments and the condition
 */
#define __entry REC
#pragma push_macro("NULL")
#undef NULL
/* clang-format off */
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign, print)                              \
	static const char print_##class[] = print;                                                 \
	static const char proto_##class[] = STRINGIFY(proto);                                      \
	static const char assign_##class[] = STRINGIFY(assign);                                    \
	static const char *const condition_##class = cond
/* clang-format on */
#include "all.h"
#undef EVENT_CLASS
#define EVENT_CLASS(class, proto, args, cond, tstruct, assign, print) NOTHING
#pragma pop_macro("NULL")

/* stage 4: event_<event>; fill_table() sets its fields, hooks and needs at load time */
struct event {
	struct tap_def def;
	struct tap_hook hooks[TAP_DEF_MAX_HOOKS];
	struct tap_need needs[TAP_DEF_MAX_NEEDS];
};

#undef DEFINE_EVENT
#define DEFINE_EVENT(class, name_, proto, args)                                                    \
	static struct event event_##name_ = { {                                                    \
		.system = STRINGIFY(TRACE_SYSTEM),                                                 \
		.name = #name_,                                                                    \
		.group = STRINGIFY(TRACE_INCLUDE_FILE),                                            \
		.print_fmt = print_##class,                                                        \
		.params = proto_##class,                                                           \
		.assign = assign_##class,                                                          \
		.size = sizeof(struct raw_##class),                                                \
	} }
#include "all.h"

/* stage 5: the table; each line of a header becomes one statement of fill_table() */
static const struct tap_def *defs[256];
static unsigned int nr_defs;

static void add_event(struct event *ev)
{
	ev->def.id = TAP_DEF_ID_BASE + nr_defs;
	ev->def.hooks = ev->hooks;
	ev->def.needs = ev->needs;
	assert(nr_defs < sizeof(defs) / sizeof(*defs));
	defs[nr_defs++] = &ev->def;
}

static void add_hook(struct event *ev, struct tap_hook hook)
{
	assert(ev->def.nr_hooks < TAP_DEF_MAX_HOOKS);
	ev->hooks[ev->def.nr_hooks++] = hook;
}

static void add_need(struct event *ev, struct tap_need need)
{
	assert(ev->def.nr_needs < TAP_DEF_MAX_NEEDS);
	ev->needs[ev->def.nr_needs++] = need;
}

#define COUNT(args...) COUNT_1(args, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define COUNT_1(a, b, c, d, e, f, g, h, n, ...) n

#undef DEFINE_EVENT
#define DEFINE_EVENT(class, event, proto, args)                                                    \
	event_##event.def.fields = fields_##class(&event_##event.def.nr_fields);                   \
	event_##event.def.condition = condition_##class;                                           \
	add_event(&event_##event)
#undef TRACE_HOOK
#define TRACE_HOOK(event, tracepoint, proto, args)                                                 \
	add_hook(&event_##event, (struct tap_hook){ #tracepoint, COUNT(args) })
#undef TRACE_NEEDS
#define TRACE_NEEDS(event, field, spec) add_need(&event_##event, (struct tap_need){ #field, spec })
#undef TRACE_FORM_OF
#define TRACE_FORM_OF(event, name_) event_##event.def.form_of = #name_

__attribute__((constructor)) static void fill_table(void)
{
#include "all.h"
}

const struct tap_def *tap_def_at(unsigned int index)
{
	return index < nr_defs ? defs[index] : NULL;
}

const struct tap_def *tap_def_find(const char *system, const char *name)
{
	const struct tap_def *def;

	for (unsigned int i = 0; (def = tap_def_at(i)); i++)
		if (!strcmp(def->name, name) && (!system || !strcmp(def->system, system)))
			return def;
	return NULL;
}

static void add_field(struct tap_buf *out, const struct tap_field *f)
{
	tap_buf_printf(out, "\tfield:%s %s", f->type, f->name);
	if (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_ARRAY)
		tap_buf_printf(out, "[%u]", f->size / f->elem_size);
	tap_buf_printf(out, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", f->offset, f->size,
		       f->is_signed);
}

/* Return true if the argument at [arg, end) uses the field: REC->name, __get_str(name), ... */
static bool arg_reads(const char *arg, const char *end, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = arg; p + len <= end; p++)
		if (!memcmp(p, name, len) && (p == arg || !is_word(p[-1])) &&
		    (p + len == end || !is_word(p[len])))
			return true;
	return false;
}

/* Return the end of the string literal that starts at @p. */
static const char *string_end(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		p += *p == '\\' && p[1];
	return p + (*p == '"');
}

/*
 * Return the end of the argument that starts at @p: the next comma outside brackets and strings, or
 * a closing bracket that has no opening one.
 */
static const char *arg_end(const char *p)
{
	int depth = 0;

	while (*p && (depth || *p != ',')) {
		if (*p == '"') {
			p = string_end(p);
			continue;
		}
		depth += *p == '(' || *p == '{' || *p == '[';
		depth -= *p == ')' || *p == '}' || *p == ']';
		if (depth < 0)
			break;
		p++;
	}
	return p;
}

static bool reads_absent(const struct tap_def *def, const bool *absent, struct span arg)
{
	for (unsigned int i = 0; absent && i < def->nr_fields; i++)
		if (absent[i] && arg_reads(arg.s, arg.s + arg.len, def->fields[i].name))
			return true;
	return false;
}

/*
 * Add a path, which may contain anything, without characters that would end the string or confuse a
 * parser.
 */
static void add_path(struct tap_buf *out, const char *path)
{
	for (; *path; path++)
		tap_buf_char(out, *path == '"' || *path == '\\' || *path < ' ' ? '?' : *path);
}

/* A call in a print format that tap_def_texts can replace by a table of texts. */
struct call {
	const char *begin;
	const struct tap_map *texts;
	void (*add)(struct tap_buf *out, const char *text);
};

/* Add a __print_symbolic() of @value that replaces the call. */
static void add_table(struct tap_buf *out, struct span value, const struct call *call)
{
	tap_buf_puts(out, "__print_symbolic(");
	tap_buf_add(out, value.s, value.len);
	/*
	 * 0 is a task of an autogroup, or an unknown stack; the entry also keeps the table from
	 * being empty
	 */
	tap_buf_puts(out, ", { 0, \"-\" }");
	tap_map_for_each(call->texts, s) {
		tap_buf_printf(out, ", { %" PRIu64 ", \"", s->key);
		call->add(out, (const char *)(uintptr_t)s->value);
		tap_buf_puts(out, "\" }");
	}
	tap_buf_char(out, ')');
}

/* Return the call that starts at @p and has a table of texts; NULL if there is none. */
static const struct call *find_call(const struct call *calls, size_t nr, const char *p)
{
	for (size_t i = 0; i < nr; i++)
		if (calls[i].texts && !strncmp(p, calls[i].begin, strlen(calls[i].begin)))
			return &calls[i];
	return NULL;
}

/* Add arguments and replace calls by tables. */
static void add_args(struct tap_buf *out, struct span args, const struct tap_def_texts *texts)
{
	const struct call calls[] = {
		{ "tp_cgroup_path(", texts ? texts->cgroups : NULL, add_path },
		{ "tp_stack(", texts ? texts->stacks : NULL, tap_buf_puts },
	};
	const char *end = args.s + args.len, *next;

	for (const char *p = args.s; p < end; p = next) {
		const struct call *call = find_call(calls, sizeof(calls) / sizeof(*calls), p);

		next = *p == '"' ? string_end(p) : p + 1;
		if (call) {
			struct span value = { p + strlen(call->begin), 0 };

			value.len = (size_t)(arg_end(value.s) - value.s);
			add_table(out, value, call);
			next = value.s + value.len + 1;
		} else {
			tap_buf_add(out, p, (size_t)(next - p));
		}
	}
}

/* Add the string literals as one, without quotes. Return: the start of the arguments after them. */
static const char *join_literals(struct tap_buf *out, const char *p)
{
	for (p += strspn(p, " "); *p == '"'; p += strspn(p, " ")) {
		const char *end = string_end(p);

		tap_buf_add(out, p + 1, (size_t)(end - p) - 2);
		p = end;
	}
	return p + strspn(p, ", ");
}

/*
 * Find the arguments of the printf() conversion at @p: one, plus one per '*'. Return: the end of
 * the conversion.
 */
static const char *take_conversion(const char *p, const char **args, struct span *taken)
{
	unsigned int nr = 1;

	if (p[1] == '%')
		nr = 0;
	for (p++; strchr("0123456789+-# .*hlLqjzt", *p) && *p; p++)
		nr += *p == '*';
	*taken = (struct span){ *args, 0 };
	while (nr-- && **args) {
		const char *end = arg_end(*args);

		taken->len = (size_t)(end - taken->s);
		*args = end + strspn(end, ", ");
	}
	return *p ? p + 1 : p;
}

/* A part of the format between spaces, with the arguments that it prints. */
struct word {
	struct span text, args;
	bool reads_absent;
};

static const char *take_word(const char *p, const char **args, const struct tap_def *def,
			     const bool *absent, struct word *w)
{
	*w = (struct word){ .text = { p, 0 }, .args = { *args, 0 } };
	do {
		struct span arg = { 0 };

		p = *p == '%' ? take_conversion(p, args, &arg) : p + 1;
		if (!arg.len)
			continue;
		w->args.len = (size_t)(arg.s + arg.len - w->args.s);
		w->reads_absent |= reads_absent(def, absent, arg);
	} while (*p && *p != ' ');
	w->text.len = (size_t)(p - w->text.s);
	return p;
}

/*
 * Add the print format without words that print an absent field, and without a leading space if the
 * first words are left out.
 */
static void add_words(struct tap_buf *out, const char *fmt, const char *args,
		      const struct tap_def *def, const bool *absent,
		      const struct tap_def_texts *texts)
{
	struct tap_buf kept = { 0 };
	size_t start = out->len;
	struct word w;

	for (const char *p = fmt; *p;) {
		p = take_word(p, &args, def, absent, &w);
		if (w.reads_absent)
			continue;
		if (out->len == start && w.text.s > fmt && *w.text.s == ' ')
			w.text = (struct span){ w.text.s + 1, w.text.len - 1 };
		tap_buf_add(out, w.text.s, w.text.len);
		if (kept.len && w.args.len)
			tap_buf_puts(&kept, ", ");
		add_args(&kept, w.args, texts);
	}
	tap_buf_puts(out, "\", ");
	tap_buf_add(out, kept.data, kept.len);
	out->err = out->err ? out->err : kept.err;
	tap_buf_release(&kept);
}

/* Add the print format as the kernel prints it, with its string literals joined. */
static void add_print_fmt(struct tap_buf *out, const struct tap_def *def, const bool *absent,
			  const struct tap_def_texts *texts)
{
	struct tap_buf fmt = { 0 };
	const char *args = join_literals(&fmt, def->print_fmt);
	bool any_absent = false;

	for (unsigned int i = 0; absent && i < def->nr_fields; i++)
		any_absent |= absent[i];
	tap_buf_char(out, '"');
	if (any_absent) {
		add_words(out, tap_buf_str(&fmt), args, def, absent, texts);
	} else {
		tap_buf_add(out, fmt.data, fmt.len);
		tap_buf_puts(out, "\", ");
		add_args(out, (struct span){ args, strlen(args) }, texts);
	}
	out->err = out->err ? out->err : fmt.err;
	tap_buf_release(&fmt);
}

void tap_def_format(const struct tap_def *def, const bool *absent,
		    const struct tap_def_texts *texts, struct tap_buf *out)
{
	tap_buf_printf(out, "name: %s\nID: %u\nformat:\n", tap_def_record_name(def), def->id);
	tap_buf_puts(out,
		     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		     "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		     "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n");
	for (unsigned int i = 0; i < def->nr_fields; i++)
		if (!absent || !absent[i])
			add_field(out, &def->fields[i]);
	tap_buf_puts(out, "\nprint fmt: ");
	add_print_fmt(out, def, absent, texts);
	tap_buf_char(out, '\n');
}

int tap_def_parse(const struct tap_def *def, const bool *absent, struct tap_format **fmt,
		  struct tap_err *err)
{
	struct tap_buf text = { 0 };
	int ret;

	tap_def_format(def, absent, NULL, &text);
	ret = text.err ? tap_err_set(err, text.err, "out of memory")
		       : tap_format_parse(def->system, text.data, text.len,
					  (struct tap_abi){ .long_size = sizeof(long) }, fmt, err);
	tap_buf_release(&text);
	return ret;
}
