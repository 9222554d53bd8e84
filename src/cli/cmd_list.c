// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/bpf/kernel.h"
#include "capture/tracefs/tracefs.h"
#include "cli/cmd.h"

struct list_opts {
	bool verbose;
};

/* What the two backends can tell; either may be missing, with the reason why. */
struct sources {
	struct tap_kernel *kernel;
	struct tap_err no_kernel;
	char *root;
	struct tap_tracefs_list list;
	struct tap_err no_tracefs;
};

static void open_sources(struct sources *s)
{
	tap_kernel_new(&s->kernel, &s->no_kernel);
	if (!tap_tracefs_find(TAP_TRACEFS_MOUNTS, &s->root, &s->no_tracefs))
		tap_tracefs_list(s->root, false, &s->list, &s->no_tracefs);
}

static void close_sources(struct sources *s)
{
	tap_kernel_free(s->kernel);
	tap_tracefs_list_release(&s->list);
	free(s->root);
}

static void print_indented(const char *text)
{
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		printf("    %.*s\n", (int)len, text);
	}
}

static bool in_tracefs(const struct sources *s, const char *system, const char *name)
{
	for (unsigned int i = 0; i < s->list.nr; i++)
		if (!strcmp(s->list.v[i].system, system) && !strcmp(s->list.v[i].name, name))
			return true;
	return false;
}

static void print_def(const struct sources *s, const struct tap_def *def, bool verbose)
{
	struct tap_buf why = { 0 }, text = { 0 };
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	const struct tap_hook *hook;
	bool bpf = false, tracefs = in_tracefs(s, def->system, def->name);

	if (s->kernel)
		bpf = tap_kernel_can(s->kernel, def, &hook, &why);
	else
		tap_buf_puts(&why, s->no_kernel.text);
	printf("%-9s %s:%s", bpf ? "bpf" : tracefs ? "tracefs" : "-", def->system, def->name);
	if (!bpf && !tracefs)
		printf(": %s", tap_buf_str(&why));
	putchar('\n');
	if (verbose && bpf) {
		tap_kernel_absent(s->kernel, def, absent);
		for (unsigned int i = 0; i < def->nr_fields; i++)
			if (absent[i])
				printf("    (no %s on this kernel)\n", def->fields[i].name);
		tap_def_format(def, absent, NULL, &text);
		print_indented(tap_buf_str(&text));
	}
	tap_buf_release(&why);
	tap_buf_release(&text);
}

static void print_tracefs_event(const struct sources *s, const struct tap_tracefs_event *ev,
				bool verbose)
{
	struct tap_buf text = { 0 };

	printf("%-9s %s:%s\n", "tracefs", ev->system, ev->name);
	if (verbose && !tap_tracefs_format(s->root, ev->system, ev->name, &text, NULL))
		print_indented(tap_buf_str(&text));
	tap_buf_release(&text);
}

static unsigned int print_matching(const struct sources *s, const char *pattern, bool verbose)
{
	const struct tap_def *def;
	unsigned int nr = 0;

	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		if (pattern && strcmp(def->group, pattern) &&
		    !tap_tracefs_match(pattern, def->system, def->name))
			continue;
		print_def(s, def, verbose);
		nr++;
	}
	for (unsigned int i = 0; i < s->list.nr; i++) {
		const struct tap_tracefs_event *ev = &s->list.v[i];

		if (tap_def_find(ev->system, ev->name) ||
		    (pattern && !tap_tracefs_match(pattern, ev->system, ev->name)))
			continue;
		print_tracefs_event(s, ev, verbose);
		nr++;
	}
	return nr;
}

static int run_list(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct list_opts *o = opts;
	struct sources s = { 0 };
	struct tap_err err = { 0 };
	int ret = TAP_EXIT_OK;

	(void)rest;
	open_sources(&s);
	for (unsigned int i = 0; i < (operands->nr ? operands->nr : 1); i++) {
		const char *pattern = operands->nr ? operands->v[i] : NULL;

		if (print_matching(&s, pattern, o->verbose))
			continue;
		tap_err_set(&err, -EINVAL, "no event matches '%s'", pattern);
		ret = tap_cmd_fail(&err, true);
	}
	if (s.no_tracefs.code)
		fprintf(stderr, "schedtap: the kernel's other events are not listed: %s\n",
			s.no_tracefs.text);
	close_sources(&s);
	return ret;
}

static const struct tap_opt list_table[] = {
	TAP_OPTION(struct list_opts, verbose, "verbose", 'v', NULL, TAP_OPT_FLAG,
		   "print each event's format text"),
	{ 0 }
};

const struct tap_cmd tap_cmd_list = {
	.name = "list",
	.help = "events that this machine can give, and why not",
	.operands = "[GLOB...]",
	.example = "schedtap list pelt",
	.opts = list_table,
	.opts_size = sizeof(struct list_opts),
	.run = run_list,
};
