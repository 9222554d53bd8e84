// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a program's file: its probes are listed, and a probe and a function are opened or
 * refused with a sentence. Then the same bytes as the argument text of a note.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/program/probe.h"
#include "check.h"

static void check_args(const char *text)
{
	static const unsigned int machines[] = { EM_X86_64, EM_AARCH64 };
	struct tap_probe_arg args[TAP_PROBE_MAX_ARGS];

	for (unsigned int i = 0; i < 2; i++) {
		unsigned int nr = tap_probe_args_read(text, machines[i], args);

		CHECK(nr <= TAP_PROBE_MAX_ARGS);
		for (unsigned int k = 0; k < nr; k++) {
			const struct tap_probe_arg *a = &args[k];

			CHECK(a->text.len && a->text.s >= text &&
			      a->text.s + a->text.len <= text + strlen(text));
			CHECK(a->why ||
			      (a->type.size && a->type.size <= 8 && a->reg < 33 && a->index < 33));
			CHECK(a->why || a->place != TAP_PROBE_REGISTER || a->reg >= 0);
		}
	}
}

static void check_word(const char *kind, const char *path, const char *name)
{
	struct tap_err err = { 0 };
	struct tap_probe *p;
	char word[200];
	int ret;

	snprintf(word, sizeof(word), "%s:%s:%s", kind, path, name);
	ret = tap_probe_new((struct span){ word, strlen(word) }, &p, &err);
	CHECK(ret <= 0 && ret == err.code && !ret == !*err.text && !ret == !!p);
	if (ret)
		return;
	CHECK(p->nr_sites && p->nr_ways && p->nr_args <= TAP_PROBE_MAX_ARGS);
	for (unsigned int i = 0; i < p->nr_sites; i++)
		CHECK(p->sites[i].way < p->nr_ways);
	for (unsigned int i = 0; i < p->nr_args; i++)
		CHECK(tap_probe_arg_type(p, i).size);
	tap_probe_free(p);
}

static void check_list(const char *path)
{
	struct tap_buf lines = { 0 };
	struct tap_err err = { 0 };
	int ret = tap_probe_list(path, &lines, &err);

	CHECK(ret <= 0 && ret == err.code && !ret == !*err.text);
	if (!ret)
		CHECK(!strncmp(tap_buf_str(&lines), "usdt:/", 6));
	tap_buf_release(&lines);
}

static char path[100];

static void remove_file(void)
{
	unlink(path);
}

/* Probes need a file with a name. A run that fails leaves it in $TMPDIR. */
static int file(void)
{
	static int fd = -1;

	if (fd < 0) {
		snprintf(path, sizeof(path), "%s/fuzz_usdt.XXXXXX", getenv("TMPDIR") ?: "/tmp");
		fd = mkstemp(path);
		atexit(remove_file);
	}
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);

	if (!text || ftruncate(file(), 0) || pwrite(file(), data, size, 0) != (ssize_t)size)
		abort();
	check_args(text);
	free(text);
	check_list(path);
	check_word("usdt", path, "demo:one");
	check_word("uprobe", path, "function+4");
	check_word("uretprobe", path, "function");
	return 0;
}
