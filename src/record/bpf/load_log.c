// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/load_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * libbpf reports only in its log which program the verifier refused, and why. There is one log
 * callback per process, without a context pointer: hence the thread-local variable.
 */
static __thread struct tap_load_log *current_log;

static void keep_reason(struct tap_load_log *log, const char *text)
{
	size_t len;

	for (const char *line = text; *line; line += len + (line[len] == '\n')) {
		len = strcspn(line, "\n");
		if (!len || !strncmp(line, "processed ", 10) || !strncmp(line, "-- ", 3) ||
		    !strncmp(line, "libbpf: ", 8))
			continue;
		snprintf(log->reason, sizeof(log->reason), "%.*s", (int)len, line);
	}
}

static int on_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[16384];
	const char *quote;

	if (level != LIBBPF_WARN || !current_log)
		return 0;
	vsnprintf(text, sizeof(text), fmt, ap);
	quote = strstr(text, "prog '");
	if (strstr(text, "BEGIN PROG LOAD LOG"))
		keep_reason(current_log, strchr(text, '\n') ? strchr(text, '\n') : "");
	else if (quote && strstr(text, "failed to load"))
		snprintf(current_log->program, sizeof(current_log->program), "%.*s",
			 (int)strcspn(quote + 6, "'"), quote + 6);
	return 0;
}

int tap_bpf_load_logged(struct bpf_object *obj, struct tap_load_log *log)
{
	libbpf_print_fn_t old = libbpf_set_print(on_log);
	int ret;

	*log = (struct tap_load_log){ 0 };
	current_log = log;
	ret = bpf_object__load(obj);
	libbpf_set_print(old);
	current_log = NULL;
	return ret;
}
