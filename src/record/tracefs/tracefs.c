// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tracefs/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/refusal.h"

#define LIST_MAX_BYTES ((size_t)16 << 20)

static int find_mount(const char *mounts, char **root)
{
	struct mntent ent, *e;
	char buf[PATH_MAX + 512];
	FILE *f = setmntent(mounts, "re");

	if (!f)
		return -errno;
	while ((e = getmntent_r(f, &ent, buf, sizeof(buf))))
		if (!strcmp(e->mnt_type, "tracefs")) {
			*root = strdup(e->mnt_dir);
			break;
		}
	endmntent(f);
	return e && !*root ? -ENOMEM : 0;
}

int tap_tracefs_find(const char *mounts, char **root, struct tap_err *err)
{
	int ret;

	*root = NULL;
	ret = find_mount(mounts, root);
	if (ret)
		return tap_err_set(err, ret, "cannot look for tracefs in '%s': %s", mounts,
				   strerror(-ret));
	if (!*root)
		return tap_err_set(err, -EOPNOTSUPP,
				   "tracefs is not mounted: run 'mount -t tracefs tracefs "
				   "/sys/kernel/tracing'");
	/* access() would ignore the capabilities of a user other than root */
	if (faccessat(AT_FDCWD, *root, R_OK | X_OK, AT_EACCESS)) {
		ret = -errno;
		tap_err_set(err, ret, "cannot read tracefs at '%s': %s", *root,
			    tap_refusal(TAP_STEP_TRACEFS_READ, ret).text);
		free(*root);
		*root = NULL;
	}
	return ret;
}

static int compare_events(const void *a, const void *b)
{
	const struct tap_tracefs_event *x = a, *y = b;
	int diff = strcmp(x->system, y->system);

	return diff ? diff : strcmp(x->name, y->name);
}

static int parse_list(struct tap_tracefs_list *list)
{
	unsigned int lines = 0;
	char *save = NULL;

	for (const char *p = list->text; *p; p++)
		lines += *p == '\n';
	list->v = calloc(lines + 1, sizeof(*list->v));
	if (!list->v)
		return -ENOMEM;
	for (char *s = strtok_r(list->text, "\n", &save); s; s = strtok_r(NULL, "\n", &save)) {
		char *colon = strchr(s, ':');

		if (!colon)
			continue;
		*colon = '\0';
		list->v[list->nr++] = (struct tap_tracefs_event){ s, colon + 1 };
	}
	qsort(list->v, list->nr, sizeof(*list->v), compare_events);
	return 0;
}

int tap_tracefs_list(const char *root, struct tap_tracefs_list *out, struct tap_err *err)
{
	struct tap_buf text = { .max = LIST_MAX_BYTES };
	char path[PATH_MAX];
	int ret;

	*out = (struct tap_tracefs_list){ 0 };
	if (snprintf(path, sizeof(path), "%s/available_events", root) >= (int)sizeof(path))
		return tap_err_set(err, -ENAMETOOLONG, "the path of tracefs is too long");
	ret = tap_buf_read_file(&text, path);
	tap_buf_char(&text, '\0');
	out->text = text.data;
	ret = ret ?: text.err ?: parse_list(out);
	if (!ret)
		return 0;
	tap_tracefs_list_release(out);
	return tap_err_set(err, ret, "cannot read '%s': %s", path, strerror(-ret));
}

const struct tap_tracefs_event *tap_tracefs_named(const struct tap_tracefs_list *list,
						  const char *name)
{
	for (unsigned int i = 0; i < list->nr; i++)
		if (!strcmp(list->v[i].name, name))
			return &list->v[i];
	return NULL;
}

void tap_tracefs_list_release(struct tap_tracefs_list *list)
{
	free(list->v);
	free(list->text);
	*list = (struct tap_tracefs_list){ 0 };
}

int tap_tracefs_format(const char *root, const char *system, const char *name, struct tap_buf *text,
		       struct tap_err *err)
{
	char path[PATH_MAX];
	int ret = snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, system, name);

	ret = ret < (int)sizeof(path) ? tap_buf_read_file(text, path) : -ENAMETOOLONG;
	if (ret == -ENOENT)
		return tap_err_set(err, ret, "the kernel has no event '%s:%s'", system, name);
	return ret ? tap_err_set(err, ret, "cannot read '%s': %s", path, strerror(-ret)) : 0;
}
