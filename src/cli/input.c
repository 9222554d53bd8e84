// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/input.h"

#include <errno.h>
#include <string.h>

#include "cli/cmd.h"

/* A description that is damaged costs names, not the events. */
static void read_meta(struct tap_input *in, const char *path)
{
	const char *text = tap_reader_info(in->reader)->meta;
	struct tap_err err = { 0 };
	json_error_t why = { 0 };

	if (!*text)
		return;
	in->meta = json_loads(text, 0, &why);
	if (json_is_object(in->meta))
		return;
	tap_err_set(&err, -EINVAL, "'%s': going on without its description, which is damaged: %s",
		    path, in->meta ? "no object" : why.text);
	tap_cmd_fail(&err, false);
	json_decref(in->meta);
	in->meta = NULL;
}

/* What the user should know of the file as a whole: one line each. */
static void tell_notes(const struct tap_input *in)
{
	const char *line = tap_reader_info(in->reader)->notes;
	struct tap_err err = { 0 };
	size_t len;

	for (; *line; line += len + (line[len] != '\0')) {
		len = strcspn(line, "\n");
		if (!len)
			continue;
		tap_err_set(&err, -EINVAL, "%.*s", (int)len, line);
		tap_cmd_fail(&err, false);
	}
}

int tap_input_open(struct tap_input *in, const char *path, struct tap_err *err)
{
	int ret;

	*in = (struct tap_input){ 0 };
	ret = tap_reader_open(path, &in->reader, err);
	if (ret)
		return ret;
	tell_notes(in);
	read_meta(in, path);
	if (tap_who_init(&in->who, in->reader, in->meta))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	if (ret)
		tap_input_close(in);
	return ret;
}

void tap_input_close(struct tap_input *in)
{
	tap_who_release(&in->who);
	json_decref(in->meta);
	tap_reader_free(in->reader);
	*in = (struct tap_input){ 0 };
}
