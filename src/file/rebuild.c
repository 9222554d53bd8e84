// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/rebuild.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/xxh64.h"
#include "event/defs.h"
#include "file/meta.h"
#include "file/spool.h"

#define SUM_SIZE 17u /* 16 hex digits and a NUL */

/* Write a built-in format, without names of cgroups and stacks. */
static int write_format(const struct tap_def *def, const bool *absent, struct tap_buf *out)
{
	static const struct tap_map none;

	tap_def_format(def, absent, &(struct tap_def_texts){ .cgroups = &none, .stacks = &none },
		       out);
	tap_buf_str(out);
	return out->err;
}

/*
 * Checksum of write_format()'s output: other versions of schedtap may have another layout under the
 * same name.
 */
static void sum_format(const struct tap_buf *text, char sum[SUM_SIZE])
{
	snprintf(sum, SUM_SIZE, "%016" PRIx64, tap_xxh64(text->data, text->len));
}

/* Describe a built-in format, on a kernel that may lack some of its fields. */
static int describe_definition(const struct tap_def *def, const struct tap_format *fmt, json_t *o)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	json_t *names = json_array();
	struct tap_buf text = { 0 };
	char sum[SUM_SIZE];
	int ret;

	for (unsigned int i = 0; i < def->nr_fields; i++) {
		absent[i] = !tap_format_field(fmt, def->fields[i].name);
		if (absent[i])
			json_array_append_new(names, json_string(def->fields[i].name));
	}
	ret = write_format(def, absent, &text);
	sum_format(&text, sum);
	tap_buf_release(&text);
	return ret || json_object_set_new(o, "absent", names) ||
	       json_object_set_new(o, "xxh64", json_string(sum));
}

/* Return: the built-in definition of the format; NULL: it has another one. */
static const struct tap_def *def_of(const struct tap_format *fmt)
{
	const struct tap_def *def =
		fmt->id < TAP_DEF_ID_BASE ? NULL : tap_def_at(fmt->id - TAP_DEF_ID_BASE);

	return def && !strcmp(def->system, fmt->system) &&
			       !strcmp(tap_def_record_name(def), fmt->name)
		       ? def
		       : NULL;
}

static json_t *describe_format(const struct tap_head_format *f)
{
	struct tap_format *fmt;
	const struct tap_def *def;
	json_t *o;

	if (tap_format_parse(f->system, f->text, f->len, (struct tap_abi){ .long_size = 8 }, &fmt,
			     NULL))
		return json_object(); /* readers ignore a format that cannot be parsed, too */
	def = def_of(fmt);
	o = json_pack("{s:s, s:s}", "system", f->system, "name", def ? def->name : fmt->name)
		    ?: json_object();
	if (o && def && describe_definition(def, fmt, o)) {
		json_decref(o);
		o = NULL;
	}
	tap_format_free(fmt);
	return o;
}

json_t *tap_rebuild_formats(const struct tap_head *head)
{
	json_t *all = json_array();

	for (unsigned int i = 0; all && i < head->nr_formats; i++) {
		if (json_array_append_new(all, describe_format(&head->formats[i]))) {
			json_decref(all);
			all = NULL;
		}
	}
	return all;
}

/* ---- rebuilding ---- */

static void read_absent(const struct tap_def *def, const json_t *names, bool *absent)
{
	const json_t *name;
	size_t k;

	json_array_foreach(names, k, name) {
		for (unsigned int i = 0; i < def->nr_fields; i++)
			absent[i] |= json_is_string(name) &&
				     !strcmp(json_string_value(name), def->fields[i].name);
	}
}

static int explain_missing(const char *system, const char *name, struct tap_err *err)
{
	return tap_err_set(err, -ENOTSUP, "schedtap has no built-in format that fits %.100s:%.100s",
			   system ?: "", name ?: "");
}

/* Make a format from its description @o. f->text may be set even on failure. */
static int make_format(const json_t *o, struct tap_head_format *f, struct tap_err *err)
{
	const char *system = json_string_value(json_object_get(o, "system")),
		   *name = json_string_value(json_object_get(o, "name"));
	const char *wanted = json_string_value(json_object_get(o, "xxh64"));
	const struct tap_def *def = system && name ? tap_def_find(system, name) : NULL;
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	struct tap_buf text = { 0 };
	char sum[SUM_SIZE];

	if (def)
		read_absent(def, json_object_get(o, "absent"), absent);
	if (!def || write_format(def, absent, &text)) {
		tap_buf_release(&text);
		return explain_missing(system, name, err);
	}
	sum_format(&text, sum);
	*f = (struct tap_head_format){ .system = def->system, .text = text.data, .len = text.len };
	return wanted && !strcmp(sum, wanted) ? 0 : explain_missing(system, name, err);
}

static const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key)) ?: "";
}

static int write_head(const json_t *meta, const char *text, struct tap_head *head,
		      struct tap_buf *out)
{
	const json_t *host = json_object_get(meta, "host");
	char uname[1024];

	tap_head_defaults(head);
	snprintf(uname, sizeof(uname), "Linux %s %s %s %s", text_of(host, "hostname"),
		 text_of(host, "release"), text_of(host, "version"), text_of(host, "machine"));
	head->uname = uname;
	head->tool = text_of(meta, "tool");
	head->meta = text;
	head->clock = "mono";
	head->nr_cpus = (unsigned int)json_array_size(json_object_get(meta, "cpus"));
	return tap_head_write(head, out);
}

static int make_formats(const json_t *meta, struct tap_head *head, struct tap_err *err)
{
	const json_t *all = json_object_get(meta, "formats"), *o;
	struct tap_head_format *formats = calloc(json_array_size(all) + 1, sizeof(*formats));
	size_t i;
	int ret = 0;

	if (!formats)
		return -ENOMEM;
	head->formats = formats;
	json_array_foreach(all, i, o) {
		head->nr_formats++;
		ret = make_format(o, &formats[i], err);
		if (ret)
			break;
	}
	return ret;
}

int tap_rebuild_head(const char *meta, size_t len, struct tap_buf *out, struct tap_err *err)
{
	struct tap_head head = { 0 };
	struct tap_buf text = { .max = TAP_META_MAX_BYTES };
	size_t whole = len;
	json_t *o = NULL;
	int ret = -ENODATA;

	if (!len || !tap_meta_open(meta, &len))
		return -ENODATA;
	tap_buf_add(&text, meta, len);
	if (len < whole && meta[len] == ',') /* the checksum, as the last key, follows */
		tap_buf_char(&text, '}');
	if (tap_meta_parse(tap_buf_str(&text), &o, err))
		ret = -ENOMEM;
	else if (json_array_size(json_object_get(o, "formats")))
		ret = make_formats(o, &head, err) ?: write_head(o, tap_buf_str(&text), &head, out);
	for (unsigned int i = 0; i < head.nr_formats; i++)
		free((char *)head.formats[i].text);
	free((void *)head.formats);
	json_decref(o);
	tap_buf_release(&text);
	return ret;
}
