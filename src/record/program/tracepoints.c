// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/tracepoints.h"

#include <errno.h>
#include <stdio.h>

#include "record/program/scope.h"

#define PREFIX "btf_trace_" /* prefix of the typedef of a tracepoint's probe */
#define MAX_DEPTH 3u /* nesting depth of structs */
#define NAME_COLUMNS 40

const char *tap_tracepoint_next(const struct btf *btf, uint32_t *id)
{
	unsigned int nr = btf__type_cnt(btf);

	for (uint32_t i = *id + 1; i < nr; i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);
		const char *name = btf_is_typedef(t) ? btf__name_by_offset(btf, t->name_off) : NULL;

		if (!name || strncmp(name, PREFIX, strlen(PREFIX)))
			continue;
		*id = i;
		return name + strlen(PREFIX);
	}
	return NULL;
}

/* Collects lines of text about a tracepoint. */
struct writer {
	struct tap_scope scope;
	struct tap_type_names *types;
	struct tap_buf *out;
};

int tap_tracepoint_params(const struct btf *btf, struct tap_type_names *types, const char *name,
			  struct tap_buf *out)
{
	struct writer w = { .types = types, .out = out };
	int ret = tap_scope_init(&w.scope, btf, &(struct tap_feed){ name }, NULL, 1);

	for (unsigned int i = 0; !ret && i < w.scope.nr_args; i++) {
		char arg[128];

		snprintf(arg, sizeof(arg), "%.*s", (int)w.scope.args[i].len, w.scope.args[i].s);
		tap_buf_puts(out, i ? ", " : "");
		tap_type_names_add(types, w.scope.arg_types[i], arg, out);
	}
	tap_scope_release(&w.scope);
	return ret ?: out->err;
}

static void write_value(struct writer *w, const char *path, uint32_t type)
{
	tap_buf_printf(w->out, "%-*s  ", NAME_COLUMNS, path);
	tap_type_names_add(w->types, type, "", w->out);
	tap_buf_char(w->out, '\n');
}

/*
 * Write the members of struct @id. @path: the expression for the struct, with the trailing "->" or
 * ".".
 */
static void write_members(struct writer *w, const char *path, uint32_t id, unsigned int depth)
{
	const struct btf_type *t = tap_scope_plain_type(&w->scope, &id);

	for (unsigned int i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		const char *name = btf__name_by_offset(w->scope.btf, m->name_off);
		uint32_t of = m->type;
		const struct btf_type *inner = tap_scope_plain_type(&w->scope, &of);
		bool nested =
			inner && btf_is_composite(inner) && btf_vlen(inner) && depth < MAX_DEPTH;
		char longer[512];

		snprintf(longer, sizeof(longer), "%s%s%s", path, name ?: "",
			 nested && name && *name ? "." : "");
		if (nested)
			write_members(w, longer, of, depth + 1);
		else if (name && *name)
			write_value(w, longer, m->type);
	}
}

int tap_tracepoint_members(const struct btf *btf, struct tap_type_names *types, const char *name,
			   struct tap_buf *out)
{
	struct writer w = { .types = types, .out = out };
	int ret = tap_scope_init(&w.scope, btf, &(struct tap_feed){ name }, NULL, 1);

	for (unsigned int i = 0; !ret && i < w.scope.nr_args; i++) {
		uint32_t id = tap_scope_arg_struct(&w.scope, i);
		char path[140];

		snprintf(path, sizeof(path), "%.*s%s", (int)w.scope.args[i].len, w.scope.args[i].s,
			 id ? "->" : "");
		if (id)
			write_members(&w, path, id, 0);
		else
			write_value(&w, path, w.scope.arg_types[i]);
	}
	tap_scope_release(&w.scope);
	return ret ?: out->err;
}
