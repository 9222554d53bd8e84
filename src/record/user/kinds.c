// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/kinds.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "event/defs.h"
#include "event/print/print.h"
#include "tracepoint/shared.h"

#define ID_LINE "\nID: 0\n"
#define PRINT_LINE "\nprint fmt:" /* optional */

static const struct tap_abi abi = {
	.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
	.long_size = sizeof(long),
};

static void kind_free(struct tap_user_kind *k)
{
	if (!k)
		return;
	tap_format_free(k->fmt);
	free((char *)k->why);
	free(k);
}

void tap_user_kinds_release(struct tap_user_kinds *kinds)
{
	for (unsigned int i = 0; i < kinds->nr; i++)
		kind_free(kinds->v[i]);
	free(kinds->v);
	tap_map_release(&kinds->by_hash);
	*kinds = (struct tap_user_kinds){ 0 };
}

bool tap_user_name_ok(const char *name)
{
	size_t len = 0;

	/* not isgraph(), which depends on the locale */
	while (name[len] > ' ' && name[len] <= '~' && !strchr("/:", name[len]))
		len++;
	return !name[len] && len && len <= TAP_USER_NAME_MAX && strcmp(name, ".") &&
	       strcmp(name, "..");
}

static const char *bad_common(const struct tap_format *fmt)
{
	static const struct {
		const char *name;
		uint32_t offset, size;
	} common[] = {
		{ "common_type", 0, 2 },
		{ "common_flags", 2, 1 },
		{ "common_preempt_count", 3, 1 },
		{ "common_pid", 4, 4 },
	};

	if (fmt->nr_common != sizeof(common) / sizeof(common[0]))
		return "the event's common fields differ from those of the kernel's events";
	for (unsigned int i = 0; i < fmt->nr_common; i++) {
		const struct tap_field *f = &fmt->fields[i];

		if (strcmp(f->name, common[i].name) || f->offset != common[i].offset ||
		    f->size != common[i].size || f->kind != TAP_FIELD_NUMBER)
			return "the event's common fields differ from those of the kernel's events";
	}
	return NULL;
}

/*
 * Return why a text could be misread by a reader of the recording, schedtap or another; NULL if it
 * is safe.
 */
static const char *bad_text(const char *text, size_t len)
{
	const char *id = strstr(text, ID_LINE), *line = text;

	for (size_t i = 0; i < len; i++)
		if (((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') ||
		    text[i] == 0x7f)
			return "the event's format text contains a control character";
	if (!id)
		return "the event's format text has no line 'ID: 0'";
	/* a second name or ID, also after blanks */
	for (unsigned int nr = 0; line; line = strchr(line, '\n'), nr++) {
		line += strspn(line, " \t\n");
		if ((!strncmp(line, "ID:", 3) && line != id + 1) ||
		    (!strncmp(line, "name:", 5) && nr))
			return "the event's format text has two names or IDs";
	}
	return NULL;
}

static const char *bad_format(const struct tap_user_kind *k)
{
	if (strcmp(k->fmt->name, k->name))
		return "the event's format text has another name than the event";
	for (unsigned int i = 0; i < k->fmt->nr_fields; i++) {
		const struct tap_field *f = &k->fmt->fields[i];

		if (f->offset > TAP_RECORD_MAX || f->size > TAP_RECORD_MAX - f->offset)
			return "a field lies outside the record";
	}
	return bad_common(k->fmt);
}

/* Return true if reports would take the event for a kernel event, because of its name. */
static bool is_kernels(const struct tap_user_kind *k)
{
	return !strcmp(k->system, "ftrace") || !strcmp(k->system, "schedtap") ||
	       tap_def_find(k->system, k->name);
}

static int refuse_kind(struct tap_user_kind *k, const char *why)
{
	tap_format_free(k->fmt);
	k->fmt = NULL;
	k->why = strdup(why);
	return k->why ? 0 : -ENOMEM;
}

/* Check if the kind can be recorded. Return: 0, also if it cannot be; -ENOMEM. */
static int check_kind(struct tap_user_kind *k)
{
	const char *why = is_kernels(k) ? "the event has the name of a kernel event"
					: bad_text(k->text, k->len);
	struct tap_err err = { 0 };
	int ret;

	if (why)
		return refuse_kind(k, why);
	ret = tap_format_parse(k->system, k->text, k->len, abi, &k->fmt, &err);
	if (ret == -ENOMEM)
		return ret;
	why = ret ? err.text : bad_format(k);
	if (why)
		return refuse_kind(k, why);
	ret = tap_print_check(k->fmt);
	k->plain = ret == -EINVAL;
	return ret == -ENOMEM ? ret : 0;
}

/* Allocate a kind together with its texts. Return: NULL if out of memory. */
static struct tap_user_kind *kind_new(const char *system, const char *name, const char *text,
				      size_t len)
{
	size_t system_len = strlen(system) + 1, name_len = strlen(name) + 1;
	struct tap_user_kind *k = calloc(1, sizeof(*k) + system_len + name_len + len + 1);
	char *texts = (char *)(k + 1);

	if (!k)
		return NULL;
	k->system = memcpy(texts, system, system_len);
	k->name = memcpy(texts + system_len, name, name_len);
	k->text = memcpy(texts + system_len + name_len, text, len);
	k->len = len;
	if (!check_kind(k))
		return k;
	kind_free(k);
	return NULL;
}

static uint64_t hash_more(uint64_t hash, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)s[i]) * 0x100000001b3ull;
	return hash;
}

static bool is_kind(const struct tap_user_kind *k, const char *system, const char *name,
		    const char *text, size_t len)
{
	return k->len == len && !strcmp(k->system, system) && !strcmp(k->name, name) &&
	       !memcmp(k->text, text, len);
}

static int add_kind(struct tap_user_kinds *kinds, uint64_t *slot, struct tap_user_kind *k)
{
	if (tap_array_grow(&kinds->v, kinds->nr, &kinds->cap, sizeof(*kinds->v)))
		return -ENOMEM;
	k->nr = kinds->nr;
	kinds->v[kinds->nr++] = k;
	kinds->bytes += k->len;
	*slot = kinds->nr;
	return 0;
}

int tap_user_kind_get(struct tap_user_kinds *kinds, const char *system, const char *name,
		      const char *text, size_t len, const struct tap_user_kind **out)
{
	uint64_t hash = 0xcbf29ce484222325ull, *slot;
	struct tap_user_kind *k;

	*out = NULL;
	if (!tap_user_name_ok(system) || !tap_user_name_ok(name))
		return -EINVAL;
	if (len > TAP_USER_TEXT_MAX || kinds->bytes + len > TAP_USER_TEXTS_MAX)
		return -E2BIG;
	hash = hash_more(hash, system, strlen(system) + 1);
	hash = hash_more(hash, name, strlen(name) + 1);
	hash = hash_more(hash, text, len);
	/*
	 * texts with equal hashes, which can be made on purpose, become separate kinds: try the
	 * next key
	 */
	for (;; hash++) {
		slot = tap_map_put(&kinds->by_hash, hash);
		if (!slot)
			return -ENOMEM;
		if (!*slot)
			break;
		*out = kinds->v[*slot - 1];
		if (is_kind(*out, system, name, text, len))
			return 0;
	}
	*out = NULL;
	k = kind_new(system, name, text, len);
	if (!k || add_kind(kinds, slot, k)) {
		kind_free(k);
		return -ENOMEM;
	}
	*out = k;
	return 0;
}

/* Write a print format with name=value for each field that is a number or a text. */
static void put_fields(const struct tap_format *fmt, struct tap_buf *out)
{
	struct tap_buf args = { 0 };

	tap_buf_puts(out, "print fmt: \"");
	for (unsigned int i = fmt->nr_common; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];
		const char *space = args.len ? " " : "";

		if (f->kind == TAP_FIELD_REAL) {
			tap_buf_printf(out, "%s%s=%%g", space, f->name);
			tap_buf_printf(&args, ", REC->%s", f->name);
		} else if (f->kind == TAP_FIELD_NUMBER) {
			tap_buf_printf(out, "%s%s=%%ll%c", space, f->name,
				       f->is_signed ? 'd' : 'u');
			tap_buf_printf(&args, ", (%slong long)REC->%s",
				       f->is_signed ? "" : "unsigned ", f->name);
		} else if (f->kind == TAP_FIELD_CHARS || f->kind == TAP_FIELD_STRING) {
			tap_buf_printf(out, "%s%s=%%s", space, f->name);
			/* clang-format off */
			tap_buf_printf(&args,
				       f->kind == TAP_FIELD_CHARS ? ", REC->%s" :
				       f->is_rel ? ", __get_rel_str(%s)" : ", __get_str(%s)",
				       f->name);
			/* clang-format on */
		}
	}
	tap_buf_printf(out, "\"%s\n", tap_buf_str(&args));
	out->err = out->err ? out->err : args.err;
	tap_buf_release(&args);
}

void tap_user_kind_text(const struct tap_user_kind *kind, unsigned int id, struct tap_buf *out)
{
	const char *line = strstr(kind->text, ID_LINE), *print;
	size_t before = (size_t)(line - kind->text);

	tap_buf_add(out, kind->text, before);
	tap_buf_printf(out, "\nID: %u\n", id);
	line += strlen(ID_LINE);
	if (!kind->plain) {
		tap_buf_puts(out, line);
		return;
	}
	print = strstr(line, PRINT_LINE);
	tap_buf_add(out, line, print ? (size_t)(print - line) : strlen(line));
	tap_buf_char(out, '\n');
	put_fields(kind->fmt, out);
}
