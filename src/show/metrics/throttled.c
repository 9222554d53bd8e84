// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/metrics/throttled.h"

#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/accounts/known.h"

/* Add what a file says more than at the last reading; all, if its cgroup was made again. */
static void add(struct tap_total *c, uint64_t ns)
{
	c->throttled_ns += ns - (ns < c->throttled_read_ns ? 0 : c->throttled_read_ns);
	c->throttled_read_ns = ns;
}

static int read_one(struct tap_totals *t, const char *mount, const char *path, struct tap_buf *text)
{
	char file[2 * PATH_MAX];
	struct tap_known ns;
	struct tap_total *c;

	snprintf(file, sizeof(file), "%s%s/cpu.stat", mount, path);
	ns = tap_known_throttled(tap_known_read(text, file), tap_buf_str(text));
	if (ns.err || !ns.v)
		return 0;
	c = tap_totals_at(t, path);
	if (!c)
		return -ENOMEM;
	c->exists = true;
	add(c, ns.v);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Note a path that is not there yet. Return: 1; 0: it is there; -ENOMEM. */
static int note(void **paths, const char *path)
{
	char *own;

	if (tfind(path, paths, by_name))
		return 0;
	own = strdup(path);
	if (own && tsearch(own, paths, by_name))
		return 1;
	free(own);
	return -ENOMEM;
}

/* Read the files of a cgroup and its ancestors, up to one that was read before. */
static int read_path(struct tap_totals *t, const char *mount, char *path, void **paths,
		     struct tap_buf *text)
{
	int ret;

	do {
		ret = note(paths, path);
		if (ret <= 0)
			return ret;
		ret = read_one(t, mount, path, text);
	} while (!ret && tap_totals_cut(path));
	return ret;
}

int tap_throttled_read(struct tap_totals *t, const char *mount)
{
	struct tap_buf text = { .max = 65536 };
	unsigned int nr = t->nr; /* without those that come here */
	void *paths = NULL; /* a tree of those that were read */
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++) {
		const struct tap_total *c = t->v[i];
		char path[PATH_MAX];

		if (!c->exists || !c->waits[TAP_TALLY_THROTTLED])
			continue;
		snprintf(path, sizeof(path), "%s", c->path);
		ret = read_path(t, mount, path, &paths, &text);
	}
	tdestroy(paths, free);
	tap_buf_release(&text);
	return ret;
}
