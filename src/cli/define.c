// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/define.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "record/program/one_line.h"

static bool has_name(const struct tap_defs *defs, const char *system, const char *name)
{
	for (unsigned int i = 0; i < defs->nr; i++) {
		const struct tap_def *def = tap_defs_at(defs, i);

		if (!strcmp(def->system, system) && !strcmp(def->name, name))
			return true;
	}
	return false;
}

/* Name the event after its tracepoint or probe; append a number if that name is already in use. */
static int choose_name(const struct tap_defs *defs, const struct tap_one_line *line, char **name)
{
	for (unsigned int i = 1; i <= TAP_DEFS_MAX; i++) {
		if ((i == 1 ? asprintf(name, "%s", line->name)
			    : asprintf(name, "%s_%u", line->name, i)) < 0)
			return -ENOMEM;
		if (!has_name(defs, line->system, *name))
			return 0;
		free(*name);
	}
	*name = NULL;
	return -E2BIG;
}

static int read_kernel(struct tap_cli_defs *d, struct tap_err *err)
{
	int ret = tap_kernel_new(&d->kernel, err);

	if (!ret && tap_type_names_new(tap_kernel_btf(d->kernel), &d->types))
		ret = tap_err_nomem(err);
	return ret;
}

static int read_line(struct tap_cli_defs *d, const struct tap_one_line *line, const char *name,
		     struct tap_err *err)
{
	struct tap_buf header = { 0 };
	int ret = d->types ? 0 : read_kernel(d, err);

	if (!ret)
		ret = tap_one_line_header(line, tap_kernel_btf(d->kernel), d->types, name, &header,
					  err);
	if (!ret)
		ret = tap_defs_read_text(&d->defs, "-e", tap_buf_str(&header), header.len, err);
	tap_buf_release(&header);
	return ret;
}

/* Store the event's name, and put it in place of the definition in -e. */
static int add_name(struct tap_cli_defs *d, const char *system, const char *name, const char **word)
{
	if (tap_array_grow(&d->names, d->nr_names, &d->cap_names, sizeof(*d->names)) ||
	    asprintf(&d->names[d->nr_names], "%s:%s", system, name) < 0)
		return -ENOMEM;
	*word = d->names[d->nr_names++];
	return 0;
}

static int define_line(struct tap_cli_defs *d, struct tap_select_words *words, unsigned int index,
		       const struct tap_one_line *line, struct tap_err *err)
{
	char *name = NULL;
	int ret = choose_name(&d->defs, line, &name);

	if (ret)
		return tap_err_set(err, ret,
				   ret == -ENOMEM ? "out of memory"
						  : "-e: there are too many definitions");
	ret = read_line(d, line, name, err);
	if (!ret && ((line->filter && tap_filters_add(&words->filters, index, line->filter)) ||
		     add_name(d, line->system, name, &words->events.v[index])))
		ret = tap_err_nomem(err);
	free(name);
	return ret;
}

static int define_word(struct tap_cli_defs *d, struct tap_select_words *words, unsigned int index,
		       struct tap_err *err)
{
	struct tap_one_line line;
	int ret = tap_one_line_read(words->events.v[index], &line, err);

	if (ret)
		return ret;
	ret = define_line(d, words, index, &line, err);
	tap_one_line_release(&line);
	return ret;
}

int tap_cli_define(struct tap_cli_defs *d, const struct tap_strings *files,
		   struct tap_select_words *words, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < files->nr; i++)
		ret = tap_defs_read(&d->defs, files->v[i], err);
	for (unsigned int i = 0; !ret && i < words->events.nr; i++)
		if (tap_one_line_is(words->events.v[i]))
			ret = define_word(d, words, i, err);
	return ret;
}

void tap_cli_defs_release(struct tap_cli_defs *d)
{
	tap_defs_release(&d->defs);
	tap_type_names_free(d->types);
	tap_kernel_free(d->kernel);
	while (d->nr_names)
		free(d->names[--d->nr_names]);
	free(d->names);
}
