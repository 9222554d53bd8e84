// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/type_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct tap_type_names {
	struct btf_dump *dump;
	struct tap_buf *out; /* buffer of the current call */
};

static void print_type(void *ctx, const char *fmt, va_list ap)
{
	const struct tap_type_names *t = ctx;
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	tap_buf_puts(t->out, text);
}

int tap_type_names_new(const struct btf *btf, struct tap_type_names **out)
{
	struct tap_type_names *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return -ENOMEM;
	t->dump = btf_dump__new(btf, print_type, t, NULL);
	if (t->dump)
		return 0;
	free(t);
	*out = NULL;
	return -ENOMEM;
}

void tap_type_names_free(struct tap_type_names *t)
{
	if (t)
		btf_dump__free(t->dump);
	free(t);
}

void tap_type_names_add(struct tap_type_names *t, uint32_t type, const char *name,
			struct tap_buf *out)
{
	LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = name);

	t->out = out;
	btf_dump__emit_type_decl(t->dump, type, &opts);
}
