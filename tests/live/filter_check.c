// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * filter_check SYSTEM FORMAT: check filters for this event. Reads one filter per line ("\n" is a
 * newline), and prints "ok", or the caret's column and the message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "event/expr/filter.h"

static void print_refusal(const char *why)
{
	const char *message = strstr(why, "': "), *end = strchr(why, '\n'),
		   *caret = strrchr(why, '\n');

	if (!message || !end || caret == end) {
		printf("- %s\n", why);
		return;
	}
	printf("%zu %.*s\n", strcspn(caret + 2, "^"), (int)strcspn(message + 3, "\n"), message + 3);
}

int main(int argc, char **argv)
{
	struct tap_buf text = { 0 };
	struct tap_format *fmt;
	struct tap_filter *f;
	struct tap_err err;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (argc != 3 || tap_buf_read_file(&text, argv[2]) ||
	    tap_format_parse(argv[1], tap_buf_str(&text), text.len,
			     (struct tap_abi){ .long_size = sizeof(long) }, &fmt, &err))
		return 2;
	while ((len = getline(&line, &cap, stdin)) > 0) {
		line[len - (line[len - 1] == '\n')] = '\0';
		for (char *n; (n = strstr(line, "\\n"));)
			memcpy(n, " \n", 2);
		if (tap_filter_new(fmt, line, &f, &err))
			print_refusal(err.text);
		else
			puts("ok");
		tap_filter_free(f);
	}
	free(line);
	tap_format_free(fmt);
	tap_buf_release(&text);
	return 0;
}
