// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/ab_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "show/bench/file.h"
#include "cli/cmd.h"
#include "cli/own_path.h"

/* The set-up's output would be in front of bench's JSON. */
#define SCRIPT "eval \"$1\" >/dev/null || exit 1; shift; exec \"$@\""
#define OWN_WORDS 12u /* at most: those before bench's words from the third on, and NULL */

int tap_ab_bench_check(char *const *words, struct tap_err *err)
{
	const char *slash = words[0] ? strrchr(words[0], '/') : NULL,
		   *program = slash ? slash + 1 : words[0];

	if (program && !strcmp(program, "schedtap") && words[1] && !strcmp(words[1], "bench"))
		return 0;
	return tap_err_set(err, -EINVAL,
			   "only `schedtap bench ...` may follow '--': for other commands use "
			   "`schedtap ab 'SET-UP A; CMD' 'SET-UP B; CMD'`");
}

static char **shell_words(const struct tap_ab_bench *b, const char *set_up, const char *program,
			  const char *products)
{
	unsigned int nr = 0, nr_words = 0;
	const char **v;

	while (b->words[nr_words])
		nr_words++;
	v = calloc(nr_words + OWN_WORDS, sizeof(*v));
	if (!v)
		return NULL;
	v[nr++] = "sh";
	v[nr++] = "-c";
	v[nr++] = SCRIPT;
	v[nr++] = "sh";
	v[nr++] = set_up;
	v[nr++] = program;
	v[nr++] = "bench";
	/* before the user's words, the last of which may be an option without its value */
	v[nr++] = "--json";
	v[nr++] = "--rounds=1";
	if (b->products)
		v[nr++] = products;
	for (unsigned int i = 2; i < nr_words; i++)
		v[nr++] = b->words[i];
	return (char **)v;
}

void tap_ab_bench_become(const struct tap_ab_bench *b, const char *set_up, const char *file,
			 int log)
{
	char path[PATH_MAX], products[40];
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC),
	    out = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	char **words;

	snprintf(products, sizeof(products), "--products=%llu", b->products);
	words = shell_words(b, set_up, tap_own_path(path), products);
	if (words && null >= 0 && out >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
	    dup2(log, STDERR_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execv("/bin/sh", words);
	_exit(TAP_EXIT_FAILED);
}

int tap_ab_bench_take_work(struct tap_ab_bench *b, const char *path, struct tap_err *err)
{
	struct tap_bench_file file = { .path = path };
	int ret = tap_bench_file_read(&file, err);

	if (!ret)
		b->products = tap_bench_file_products(&file);
	tap_bench_file_release(&file);
	return ret;
}
