// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/one_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/opt.h"
#include "event/defs.h"
#include "event/expr/parse.h"
#include "record/program/scope.h"

#define BYTES_MAX 256u /* maximum bytes of an array that becomes a field */

/* ---- the line ---- */

/* Parse from the "{" on. */
static int read_braces(const char *text, const char *open, struct tap_one_line *line,
		       struct tap_err *err)
{
	const char *close = strrchr(open, '}');
	struct span rest;

	if (!close)
		return tap_err_set(err, -EINVAL, "-e: '%.200s': the '}' is missing", text);
	line->fields = trim((struct span){ open + 1, (size_t)(close - open) - 1 });
	rest = trim((struct span){ close + 1, strlen(close + 1) });
	if (rest.len && (rest.len < 3 || strncmp(rest.s, "if", 2) || is_word(rest.s[2])))
		return tap_err_set(err, -EINVAL,
				   "-e: only 'if FILTER' may follow the '}' of '%.200s'", text);
	line->filter = rest.len ? rest.s + 2 : NULL;
	return line->fields.len
		       ? 0
		       : tap_err_set(err, -EINVAL,
				     "-e: '%.200s': expected fields in braces: {FIELD, ...}", text);
}

static int read_tracepoint(struct span name, struct tap_one_line *line, struct tap_err *err)
{
	if (name.len > 5 && !strncmp(name.s, "bare:", 5))
		name = (struct span){ name.s + 5, name.len - 5 };
	for (size_t i = 0; i < name.len; i++)
		if (!is_word(name.s[i]))
			return tap_err_set(err, -EINVAL, "-e: '%.*s' is not a tracepoint name",
					   (int)name.len, name.s);
	line->tracepoint = name;
	line->system = TAP_DEF_LINE_SYSTEM;
	snprintf(line->name, sizeof(line->name), "%.*s", name.len < 100 ? (int)name.len : 100,
		 name.s);
	return name.len ? 0
			: tap_err_set(
				  err, -EINVAL,
				  "-e: expected a tracepoint before '{': TRACEPOINT{FIELD, ...}");
}

/*
 * Make the list of fields of a probe given without braces: all arguments, "arg0, arg1". If the
 * probe has none, the program counter, because trace-cmd does not print events without fields.
 */
static int list_arguments(struct tap_one_line *line)
{
	struct tap_buf all = { 0 };

	for (unsigned int i = 0; i < line->probe->nr_args; i++) {
		char name[8];

		tap_probe_arg_name(line->probe, i, name);
		tap_buf_printf(&all, "%s%s", i ? ", " : "", name);
	}
	if (!all.len)
		tap_buf_puts(&all, "pc");
	tap_buf_str(&all);
	line->all = all.data;
	line->fields = (struct span){ all.data, all.len };
	return all.err;
}

static int read_probe(struct span word, struct tap_one_line *line, struct tap_err *err)
{
	struct tap_buf name = { 0 };
	int ret = tap_probe_new(word, &line->probe, err);

	if (ret)
		return ret;
	line->system = tap_probe_group(line->probe);
	tap_probe_event_name(line->probe, &name);
	snprintf(line->name, sizeof(line->name), "%s", tap_buf_str(&name));
	ret = name.err ?: line->fields.len ? 0 : list_arguments(line);
	tap_buf_release(&name);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

int tap_one_line_read(const char *text, struct tap_one_line *line, struct tap_err *err)
{
	const char *open = text + strcspn(text, "{");
	struct span feed = trim((struct span){ text, (size_t)(open - text) });
	int ret;

	*line = (struct tap_one_line){ 0 };
	if (strlen(text) > TAP_ONE_LINE_MAX_BYTES)
		return tap_err_set(err, -EINVAL,
				   "-e: the definition is longer than %u bytes: put it into a file "
				   "and use --define",
				   TAP_ONE_LINE_MAX_BYTES);
	ret = *open ? read_braces(text, open, line, err) : 0;
	if (!ret)
		ret = tap_probe_is(text) ? read_probe(feed, line, err)
					 : read_tracepoint(feed, line, err);
	if (ret)
		tap_one_line_release(line);
	return ret;
}

void tap_one_line_release(struct tap_one_line *line)
{
	tap_probe_free(line->probe);
	free(line->all);
	*line = (struct tap_one_line){ 0 };
}

/* ---- errors ---- */

/* State while the header is generated. */
struct maker {
	const struct tap_one_line *line;
	struct tap_scope scope;
	struct tap_type_names *types;
	struct tap_buf fields, assign, format, args;
	const char *name; /* the event's name */
	struct tap_err *err;
};

/* Report an error, with a caret below position @at of the fields' text. */
static int fail_at(struct maker *m, const char *at, const char *why)
{
	const struct span all = m->line->fields;
	size_t column = at >= all.s && at <= all.s + all.len ? (size_t)(at - all.s) : 0;

	return tap_err_set(m->err, -EINVAL, "%s: %s\n %.*s\n %*s^", m->name, why, (int)all.len,
			   all.s, (int)column, "");
}

static int fail_by_scope(struct maker *m, uint32_t node)
{
	uint32_t reason = tap_scope_why(&m->scope, node);

	return fail_at(m, reason ? m->scope.reasons[reason - 1].at : m->line->fields.s,
		       reason ? tap_scope_text(&m->scope, reason) : "cannot parse this");
}

/* ---- the parts of an item ---- */

struct item {
	struct span name, expr;
};

/* Return the text up to the next comma that is not inside parentheses or brackets. */
static struct span next_item(struct span *rest)
{
	struct span item = { rest->s, 0 };
	int depth = 0;

	while (item.len < rest->len && (depth || item.s[item.len] != ',')) {
		if (strchr("([", item.s[item.len]))
			depth++;
		else if (strchr(")]", item.s[item.len]))
			depth--;
		item.len++;
	}
	*rest = (struct span){ item.s + item.len + (item.len < rest->len),
			       rest->len - item.len - (item.len < rest->len) };
	return trim(item);
}

/* Split an item: "name = expression", or an expression that ends with the field's name. */
static void split_item(struct span text, struct item *item)
{
	size_t len = 0, end = text.len;

	while (len < text.len && is_word(text.s[len]))
		len++;
	item->name = (struct span){ text.s, len };
	while (len < text.len && isspace((unsigned char)text.s[len]))
		len++;
	if (item->name.len && len + 1 < text.len && text.s[len] == '=' && text.s[len + 1] != '=') {
		item->expr = trim((struct span){ text.s + len + 1, text.len - len - 1 });
		return;
	}
	while (end && is_word(text.s[end - 1]))
		end--;
	item->name = (struct span){ text.s + end, text.len - end };
	item->expr = text;
}

static bool is_name(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!is_word(s.s[i]))
			return false;
	return s.len && !isdigit((unsigned char)*s.s);
}

static bool is_argument(const struct maker *m, struct span name)
{
	for (unsigned int i = 0; i < m->scope.nr_args; i++)
		if (name.len == m->scope.args[i].len &&
		    !memcmp(name.s, m->scope.args[i].s, name.len))
			return true;
	return m->scope.probe && span_is(name, "pc");
}

/*
 * Return the node of an expression; 0: it has an error, or this kernel lacks something that it
 * needs.
 */
static uint32_t try_text(struct maker *m, const char *text)
{
	uint32_t node;

	tap_scope_begin(&m->scope, text);
	node = tap_expr_parse(&m->scope.p);
	return m->scope.p.err || *m->scope.p.at || node_at(&m->scope.p, node)->unknown ? 0 : node;
}

/*
 * Expressions that a single name may stand for: a member of an argument, or of the task that owns a
 * sched_entity.
 */
static const struct {
	const char *of; /* name of the argument's struct */
	const char *member; /* NULL: any member */
	const char *expr; /* @: the argument, $: the member */
} shorthands[] = {
	{ "sched_entity", "pid", "tp_se_pid(@)" },
	{ "sched_dl_entity", "pid", "tp_dl_pid(@)" },
	{ NULL, NULL, "@->$" },
	{ "sched_entity", NULL,
	  "(tp_se_is_task(@) ? container_of(@, struct task_struct, se)->$ : 0)" },
};

static void expand_shorthand(struct tap_buf *out, const char *expr, struct span arg,
			     struct span name)
{
	for (; *expr; expr++) {
		if (*expr == '@')
			tap_buf_add(out, arg.s, arg.len);
		else if (*expr == '$')
			tap_buf_add(out, name.s, name.len);
		else
			tap_buf_char(out, *expr);
	}
}

static const char *struct_name(const struct maker *m, unsigned int arg)
{
	uint32_t id = tap_scope_arg_struct(&m->scope, arg);

	return id ? btf__name_by_offset(m->scope.btf, btf__type_by_id(m->scope.btf, id)->name_off)
		  : "";
}

/* Write to @out the expression that a name stands for. Return: false: none fits. */
static bool expand_name(struct maker *m, struct span name, struct tap_buf *out)
{
	for (unsigned int i = 0; i < m->scope.nr_args; i++) {
		const char *of = struct_name(m, i);

		for (size_t k = 0; *of && k < sizeof(shorthands) / sizeof(*shorthands); k++) {
			if ((shorthands[k].of && strcmp(shorthands[k].of, of)) ||
			    (shorthands[k].member && !span_is(name, shorthands[k].member)))
				continue;
			out->len = 0;
			expand_shorthand(out, shorthands[k].expr, m->scope.args[i], name);
			if (try_text(m, tap_buf_str(out)))
				return true;
		}
	}
	return false;
}

/* ---- types ---- */

static const char *const conversions[9][2] = {
	[1] = { "u8\0%u", "s8\0%d" },
	[2] = { "u16\0%u", "s16\0%d" },
	[4] = { "u32\0%u", "s32\0%d" },
	[8] = { "u64\0%llu", "s64\0%lld" },
};

static bool is_char(const struct maker *m, uint32_t id)
{
	const struct btf_type *t = tap_scope_plain_type(&m->scope, &id);

	return t && btf_is_int(t) && t->size == 1;
}

static bool has_field(struct maker *m, struct span name)
{
	for (const char *at = tap_buf_str(&m->format); *at;
	     at += strcspn(at, " "), at += *at == ' ')
		if (!strncmp(at, name.s, name.len) && at[name.len] == '=')
			return true;
	return false;
}

static void add_format(struct maker *m, const struct item *item, const char *conversion)
{
	bool first = !m->format.len;

	tap_buf_printf(&m->format, "%s%.*s=%s", first ? "" : " ", (int)item->name.len, item->name.s,
		       conversion);
}

/* Append a field that is a number: its declaration, assignment and print argument. */
static void add_number(struct maker *m, const struct item *item, const char *type,
		       const char *conversion, const char *expr)
{
	int len = (int)item->name.len;
	const char *name = item->name.s;

	tap_buf_printf(&m->fields, "\t\t__field(%s, %.*s)\n", type, len, name);
	tap_buf_printf(&m->assign, "\t\t__entry->%.*s = %s;\n", len, name, expr);
	add_format(m, item, conversion);
	tap_buf_printf(&m->args, ", __entry->%.*s", len, name);
}

static void add_string(struct maker *m, const struct item *item, const char *expr)
{
	int len = (int)item->name.len;
	const char *name = item->name.s;

	tap_buf_printf(&m->fields, "\t\t__string(%.*s, %s)\n", len, name, expr);
	tap_buf_printf(&m->assign, "\t\t__assign_str(%.*s, %s);\n", len, name, expr);
	add_format(m, item, "%s");
	tap_buf_printf(&m->args, ", __get_str(%.*s)", len, name);
}

static int refuse_struct(struct maker *m, const struct item *item, uint32_t id)
{
	const struct btf_type *t = tap_scope_plain_type(&m->scope, &id);
	struct tap_buf why = { 0 };
	int ret;

	tap_buf_puts(&why, "this is a struct: name one of its members");
	for (unsigned int i = 0; t && btf_is_composite(t) && i < btf_vlen(t) && i < 8; i++)
		tap_buf_printf(&why, "%s%s", i ? ", " : ": ",
			       btf__name_by_offset(m->scope.btf, btf_members(t)[i].name_off));
	ret = fail_at(m, item->expr.s + item->expr.len, tap_buf_str(&why));
	tap_buf_release(&why);
	return ret;
}

static int add_array(struct maker *m, const struct item *item, uint32_t id, const char *expr)
{
	const struct btf_type *t = tap_scope_plain_type(&m->scope, &id);
	int len = (int)item->name.len;
	const char *name = item->name.s;
	uint32_t nr;

	if (!t || !btf_is_array(t))
		return refuse_struct(m, item, id);
	nr = btf_array(t)->nelems;
	if (!is_char(m, btf_array(t)->type) || !nr || nr > BYTES_MAX)
		return fail_at(m, item->expr.s + item->expr.len,
			       "this is an array, but not text: name one element");
	tap_buf_printf(&m->fields, "\t\t__array(char, %.*s, %u)\n", len, name, nr);
	tap_buf_printf(&m->assign, "\t\tmemcpy(__entry->%.*s, %s, %u);\n", len, name, expr, nr);
	add_format(m, item, "%s");
	tap_buf_printf(&m->args, ", __entry->%.*s", len, name);
	return 0;
}

/* ---- the header ---- */

/*
 * Add comm for an argument whose task is reached through an accessor, which fills the field itself.
 * Return: false: the item is not a comm, or no argument has such a task.
 */
static bool add_comm(struct maker *m, const struct item *item)
{
	static const char *const words[][2] = { { "sched_entity", "tp_se_comm" },
						{ "sched_dl_entity", "tp_dl_comm" } };
	int len = (int)item->name.len;

	for (unsigned int i = 0; span_is(item->expr, "comm") && i < m->scope.nr_args; i++)
		for (size_t k = 0; k < 2; k++) {
			if (strcmp(struct_name(m, i), words[k][0]))
				continue;
			tap_buf_printf(&m->fields, "\t\t__array(char, %.*s, 16)\n", len,
				       item->name.s);
			tap_buf_printf(&m->assign, "\t\t%s(__entry->%.*s, %.*s);\n", words[k][1],
				       len, item->name.s, (int)m->scope.args[i].len,
				       m->scope.args[i].s);
			add_format(m, item, "%s");
			tap_buf_printf(&m->args, ", __entry->%.*s", len, item->name.s);
			return true;
		}
	return false;
}

static int add_typed(struct maker *m, const struct item *item, uint32_t node, const char *expr)
{
	const struct expr_node *v = node_at(&m->scope.p, node);
	const char *type;

	if (v->op == OP_PLACE)
		return add_array(m, item, v->ctype, expr);
	if (v->class != EXPR_NUMBER)
		return fail_at(m, item->expr.s, "this is not a number");
	if (v->ctype && is_char(m, v->ctype)) {
		add_string(m, item, expr);
	} else if (v->ctype) {
		add_number(m, item, "void *", "%p", expr);
	} else {
		type = conversions[v->type.size][v->type.is_signed];
		add_number(m, item, type, type + strlen(type) + 1, expr);
	}
	return 0;
}

static int add_item(struct maker *m, struct span text)
{
	struct tap_buf expr = { 0 };
	struct item item;
	bool short_for;
	uint32_t node;
	int ret = 0;

	split_item(text, &item);
	if (!is_name(item.name))
		return fail_at(m, text.s, "a field needs a name: NAME=EXPRESSION");
	if (!item.expr.len)
		return fail_at(m, item.expr.s, "expected an expression");
	if (has_field(m, item.name))
		return fail_at(m, text.s,
			       "duplicate field name: choose another one with NAME=EXPRESSION");
	short_for = is_name(item.expr) && !is_argument(m, item.expr);
	if (short_for) {
		if (add_comm(m, &item))
			return 0;
		if (!expand_name(m, item.expr, &expr)) {
			tap_buf_release(&expr);
			tap_scope_begin(&m->scope, item.expr.s);
			tap_expr_parse(&m->scope.p); /* for its error message */
			return fail_by_scope(m, 0);
		}
	} else {
		tap_buf_add(&expr, item.expr.s, item.expr.len);
	}
	/* parse the user's text if possible, so that errors point into it */
	tap_buf_str(&expr);
	tap_scope_begin(&m->scope, short_for ? expr.data : item.expr.s);
	node = tap_expr_parse(&m->scope.p);
	if (m->scope.p.err || node_at(&m->scope.p, node)->unknown)
		ret = fail_by_scope(m, node);
	else if (!short_for && m->scope.p.at < item.expr.s + item.expr.len)
		ret = fail_at(m, m->scope.p.at, "expected the end of the expression");
	else
		ret = add_typed(m, &item, node, expr.data);
	tap_buf_release(&expr);
	return ret;
}

static int add_items(struct maker *m)
{
	struct span rest = m->line->fields;
	int ret = 0;

	while (!ret && rest.len)
		ret = add_item(m, next_item(&rest));
	return ret;
}

/*
 * Append the parameters, "struct sched_entity *se, int cpu", or with @types false the names alone.
 */
static void add_params(struct maker *m, struct tap_buf *out, bool types)
{
	const struct tap_probe *probe = m->scope.probe;

	for (unsigned int i = 0; i < m->scope.nr_args; i++) {
		char name[128];

		snprintf(name, sizeof(name), "%.*s", (int)m->scope.args[i].len, m->scope.args[i].s);
		tap_buf_puts(out, i ? ", " : "");
		if (types && probe) {
			tap_probe_add_type(tap_probe_arg_type(probe, i), out);
			tap_buf_printf(out, " %s", name);
		} else if (types) {
			tap_type_names_add(m->types, m->scope.arg_types[i], name, out);
		} else {
			tap_buf_puts(out, name);
		}
	}
	if (types && !m->scope.nr_args)
		tap_buf_puts(out, "void");
}

/* Append the source as TRACE_HOOK() takes it: a tracepoint's name, or a probe in quotes. */
static void add_feed(struct maker *m, struct tap_buf *out)
{
	if (m->scope.probe) {
		tap_buf_char(out, '"');
		tap_probe_word(m->scope.probe, out);
		tap_buf_char(out, '"');
	} else {
		tap_buf_add(out, m->line->tracepoint.s, m->line->tracepoint.len);
	}
}

static void write_header(struct maker *m, struct tap_buf *out)
{
	struct tap_buf params = { 0 }, args = { 0 }, feed = { 0 };

	add_params(m, &params, true);
	add_params(m, &args, false);
	add_feed(m, &feed);
	tap_buf_printf(out,
		       "#undef TRACE_SYSTEM\n#define TRACE_SYSTEM %s\n"
		       "#undef TRACE_INCLUDE_FILE\n#define TRACE_INCLUDE_FILE " TAP_DEF_LINE_GROUP
		       "\n"
		       "TRACE_EVENT(%s,\n\tTP_PROTO(%s),\n\tTP_ARGS(%s),\n\n\tTP_STRUCT__entry(\n%"
		       "s\t),\n\n"
		       "\tTP_fast_assign(\n%s\t),\n\n\tTP_printk(\"%s\"%s)\n);\n"
		       "TRACE_HOOK(%s, %s, TP_PROTO(%s), TP_ARGS(%s));\n",
		       m->line->system, m->name, tap_buf_str(&params), tap_buf_str(&args),
		       tap_buf_str(&m->fields), tap_buf_str(&m->assign), tap_buf_str(&m->format),
		       tap_buf_str(&m->args), m->name, tap_buf_str(&feed), tap_buf_str(&params),
		       tap_buf_str(&args));
	tap_buf_release(&params);
	tap_buf_release(&args);
	tap_buf_release(&feed);
}

static int open_maker(struct maker *m, const struct btf *btf)
{
	struct tap_probe *probe = m->line->probe;
	char tracepoint[128];
	int ret;

	snprintf(tracepoint, sizeof(tracepoint), "%.*s", (int)m->line->tracepoint.len,
		 m->line->tracepoint.s);
	ret = tap_scope_init(&m->scope, btf, &(struct tap_feed){ tracepoint, probe }, NULL, 1);
	if (ret == -ENOENT)
		return tap_err_set(m->err, ret,
				   "-e: the kernel's BTF has no tracepoint '%s': 'schedtap list "
				   "bare:*' lists the tracepoints that have no trace event",
				   tracepoint);
	return ret ? tap_err_set(m->err, ret, "out of memory") : 0;
}

int tap_one_line_header(const struct tap_one_line *line, const struct btf *btf,
			struct tap_type_names *types, const char *name, struct tap_buf *header,
			struct tap_err *err)
{
	struct maker m = { .line = line, .types = types, .name = name, .err = err };
	int ret = open_maker(&m, btf) ?: add_items(&m);

	if (!ret) {
		write_header(&m, header);
		ret = header->err ? tap_err_set(err, header->err, "out of memory") : 0;
	}
	tap_scope_release(&m.scope);
	tap_buf_release(&m.fields);
	tap_buf_release(&m.assign);
	tap_buf_release(&m.format);
	tap_buf_release(&m.args);
	return ret;
}
