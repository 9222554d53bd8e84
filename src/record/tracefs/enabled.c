// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tracefs/enabled.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/tracefs/instance.h"

struct reporter {
	void (*report)(void *ctx, const struct tap_tracefs_enabled *ev);
	void *ctx;
};

/*
 * Read a file of an event, without its last newline. Return: NULL: it is empty, "none" or a
 * comment.
 */
static const char *read_words(const struct tap_instance *in, const struct tap_tracefs_enabled *ev,
			      const char *file, struct tap_buf *text)
{
	if (tap_instance_get(in, text, "events/%s/%s/%s", ev->system, ev->name, file) ||
	    !text->len || *text->data == '#')
		return NULL;
	if (text->data[text->len - 1] == '\n')
		text->data[text->len - 1] = '\0';
	return !strcmp(tap_buf_str(text), "none") ? NULL : tap_buf_str(text);
}

static void report_event(const struct reporter *to, const struct tap_instance *in,
			 const char *instance, char *line)
{
	struct tap_tracefs_enabled ev = { .instance = instance, .system = line };
	struct tap_buf filter = { 0 }, triggers = { 0 }, enable = { 0 };
	const char *state;
	char *colon = strchr(line, ':');

	/* "SYSTEM:EVENT:mod:NAME" waits for a module and is not an event yet */
	if (!colon || strchr(colon + 1, ':'))
		return;
	*colon = '\0';
	ev.name = colon + 1;
	ev.filter = read_words(in, &ev, "filter", &filter);
	ev.triggers = read_words(in, &ev, "trigger", &triggers);
	state = read_words(in, &ev, "enable", &enable);
	ev.is_soft = state && !strcmp(state, "0*");
	to->report(to->ctx, &ev);
	tap_buf_release(&filter);
	tap_buf_release(&triggers);
	tap_buf_release(&enable);
}

/* @folder: of the top-level buffer or an instance. Return: 0; -errno. */
static int report_buffer(const struct reporter *to, char *folder, const char *instance)
{
	const struct tap_instance in = { .path = folder, .guard = -1 };
	struct tap_buf text = { 0 };
	char *save = NULL;
	int ret = tap_instance_get(&in, &text, "set_event");

	tap_buf_char(&text, '\0');
	ret = ret ?: text.err;
	if (!ret)
		for (char *s = strtok_r(text.data, "\n", &save); s; s = strtok_r(NULL, "\n", &save))
			report_event(to, &in, instance, s);
	tap_buf_release(&text);
	return ret;
}

static int is_instance(const struct dirent *e)
{
	return *e->d_name != '.';
}

static int report_instances(const struct reporter *to, const char *root)
{
	struct dirent **all;
	char path[PATH_MAX];
	int nr, ret = 0;

	if (snprintf(path, sizeof(path), "%s/instances", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	nr = scandir(path, &all, is_instance, alphasort);
	if (nr < 0)
		return errno == ENOENT ? 0 : -errno;
	for (int i = 0; i < nr; i++) {
		if (!ret && snprintf(path, sizeof(path), "%s/instances/%s", root, all[i]->d_name) <
				    (int)sizeof(path))
			ret = report_buffer(to, path, all[i]->d_name);
		if (ret == -ENOENT || ret == -ENODEV) /* it was removed in the meantime */
			ret = 0;
		free(all[i]);
	}
	free(all);
	return ret;
}

int tap_tracefs_enabled(char *root, void (*report)(void *ctx, const struct tap_tracefs_enabled *ev),
			void *ctx, struct tap_err *err)
{
	const struct reporter to = { report, ctx };
	int ret = report_buffer(&to, root, NULL) ?: report_instances(&to, root);

	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot read which events are enabled in '%.300s': %m",
				 root)
		   : 0;
}
