// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/meta.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/xxh64.h"

/* The last key of the object, with its separator. */
#define KEY ",\"xxh64\":\""
#define KEY_LEN (sizeof(KEY) - 1)
#define DIGITS 16u
#define SUFFIX_LEN (KEY_LEN + DIGITS + 2) /* "} */

void tap_meta_seal(const char *json, struct tap_buf *out)
{
	size_t len = strlen(json);

	tap_buf_add(out, json, len);
	/* an object without keys has nothing to protect */
	if (len < 4 || json[len - 1] != '}' || out->err)
		return;
	out->len--;
	tap_buf_printf(out, KEY "%0*" PRIx64 "\"}", (int)DIGITS, tap_xxh64(json, len - 1));
}

bool tap_meta_open(const char *text, size_t *len)
{
	size_t end = *len;
	char sum[DIGITS + 1];

	while (end && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	if (!end || text[0] != '{' || text[end - 1] != '}' || memchr(text, 0, end))
		return false;
	if (end <= SUFFIX_LEN || memcmp(text + end - SUFFIX_LEN, KEY, KEY_LEN))
		return true;
	*len = end - SUFFIX_LEN;
	snprintf(sum, sizeof(sum), "%0*" PRIx64, (int)DIGITS, tap_xxh64(text, *len));
	return !memcmp(text + *len + KEY_LEN, sum, DIGITS);
}

int tap_meta_parse(const char *json, json_t **out, struct tap_err *err)
{
	json_error_t why = { 0 };

	*out = json_loads(json, 0, &why);
	return *out || json_error_code(&why) != json_error_out_of_memory ? 0 : tap_err_nomem(err);
}

int tap_meta_check_format(const char *json, struct tap_err *err)
{
	json_t *meta, *format;
	const char *tool;
	int ret;

	/* most descriptions lack this key, and parsing may take long */
	if (!strstr(json, "\"format\""))
		return 0;
	ret = tap_meta_parse(json, &meta, err);
	if (ret)
		return ret;
	format = json_object_get(meta, "format");
	tool = json_string_value(json_object_get(meta, "tool"));
	if (json_is_integer(format) && json_integer_value(format) > TAP_META_FORMAT)
		ret = tap_err_set(
			err, -ENOTSUP,
			"the recording has format %lld of %.100s, but schedtap " TAP_VERSION
			" reads formats only up to %d",
			(long long)json_integer_value(format), tool ?: "an unknown tool",
			TAP_META_FORMAT);
	json_decref(meta);
	return ret;
}

/*
 * Works without a JSON parser: quotes are escaped in strings, so only a key is followed by a quote
 * and a colon. No nested object has this key.
 */
bool tap_meta_is_incomplete(const char *text)
{
	static const char key[] = "\"complete\"", blanks[] = " \t\r\n";
	const char *at = strstr(text, key);

	if (!at)
		return false;
	at += sizeof(key) - 1;
	at += strspn(at, blanks);
	if (*at != ':')
		return false;
	at++;
	at += strspn(at, blanks);
	return !strncmp(at, "false", strlen("false"));
}
