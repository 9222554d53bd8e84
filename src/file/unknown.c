// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/unknown.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define SEARCHED_BYTES 4096u /* at the start of a text */
#define TEXT(s) s, sizeof(s) - 1

/* ---- files ---- */

struct magic {
	const char *bytes;
	size_t len;
	const char *what;
};

static const struct magic magics[] = {
	{ TEXT("BZh"), "compressed with bzip2: pipe it through 'bzip2 -dc' into '-i -'" },
	{ TEXT("\x04\x22\x4d\x18"), "compressed with lz4: pipe it through 'lz4 -dc' into '-i -'" },
	{ TEXT("\x02\x21\x4c\x18"), "compressed with lz4: pipe it through 'lz4 -dc' into '-i -'" },
	{ TEXT("PK\x03\x04"), "a zip archive: pipe a file of it through 'unzip -p' into '-i -'" },
	{ TEXT("\xc1\x1f\xfc\xc1"), "a stream of a CTF trace: 'babeltrace2 FOLDER' prints it" },
	{ TEXT("\xc1\xfc\x1f\xc1"), "a stream of a CTF trace: 'babeltrace2 FOLDER' prints it" },
};

static bool starts_with(const unsigned char *data, size_t len, const char *bytes, size_t n)
{
	return len >= n && !memcmp(data, bytes, n);
}

/* Return true if the start of the file has @text. */
static bool has_text(const struct tap_mapping *m, const char *text)
{
	size_t len = m->len < SEARCHED_BYTES ? m->len : SEARCHED_BYTES;

	return memmem(m->data, len, text, strlen(text));
}

static const char *name_text(const struct tap_mapping *m)
{
	size_t at = 0;

	while (at < m->len && at < SEARCHED_BYTES && strchr(" \t\r\n", m->data[at]) && m->data[at])
		at++;
	if (at == m->len)
		return NULL;
	if (m->data[at] == '<' && has_text(m, "<title>schedtap</title>"))
		return "an HTML report of schedtap: open it in a browser, or give the recording "
		       "that it shows";
	if ((m->data[at] == '{' && has_text(m, "\"traceEvents\"")) ||
	    (m->data[at] == '[' && has_text(m, "\"ph\"")))
		return "a Chrome JSON trace: open it at https://ui.perfetto.dev";
	return NULL;
}

static const char *name_file(const struct tap_mapping *m)
{
	if (m->len > 262 && !memcmp(m->data + 257, "ustar", 5))
		return "a tar archive: unpack it, and give a folder or a file of it";
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (starts_with(m->data, m->len, magics[i].bytes, magics[i].len))
			return magics[i].what;
	return name_text(m);
}

int tap_unknown_file(const struct tap_reader *r, struct tap_err *err)
{
	const char *what = name_file(&r->maps[0]);

	if (what)
		return tap_err_set(err, -EINVAL, "'%.300s' is not a recording but %s", r->path,
				   what);
	return tap_err_set(err, -EINVAL,
			   "'%.300s' is not a recording: expected a trace.dat, a perf.data, a "
			   "Perfetto trace, or text of ftrace, trace-cmd or perf",
			   r->path);
}

/* ---- folders ---- */

static bool has_file(int dir, const char *path)
{
	return !faccessat(dir, path, F_OK, 0);
}

int tap_unknown_folder(const struct tap_reader *r, int dir, struct tap_err *err)
{
	if (has_file(dir, "trace_pipe"))
		return tap_err_set(err, -EINVAL,
				   "'%.300s' is not a recording but a folder of tracefs: "
				   "'trace-cmd extract' saves its events to trace.dat",
				   r->path);
	return tap_err_set(err, -EINVAL, "'%.300s' is not a recording: it has no head.dat",
			   r->path);
}
