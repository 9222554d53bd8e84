// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/tracefs/tracefs.h"

#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/proc.h"

#define LIST_MAX_BYTES ((size_t)16 << 20)
#define ID_MAX 65535 /* common_type is 16 bits */

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
	if (ret) {
		errno = -ret;
		return tap_err_set(err, ret, "cannot look for tracefs in '%s': %m", mounts);
	}
	if (!*root)
		return tap_err_set(err, -EOPNOTSUPP,
				   "tracefs is not mounted: run "
				   "'mount -t tracefs tracefs /sys/kernel/tracing'");
	if (access(*root, R_OK | X_OK)) {
		ret = tap_err_set(err, -errno, "cannot read tracefs at '%s': %m: run as root",
				  *root);
		free(*root);
		*root = NULL;
	}
	return ret;
}

static unsigned int read_id(const char *root, const struct tap_tracefs_event *ev)
{
	char path[PATH_MAX];
	int64_t id = 0;
	int len;

	len = snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, ev->system, ev->name);
	if (len < (int)sizeof(path))
		id = tap_proc_number(path);
	return id >= 0 && id <= ID_MAX ? (unsigned int)id : 0;
}

static void read_ids(const char *root, struct tap_tracefs_list *list)
{
	for (unsigned int i = 0; i < list->nr; i++) {
		list->v[i].id = read_id(root, &list->v[i]);
		if (list->v[i].id > list->max_id)
			list->max_id = list->v[i].id;
	}
}

static int compare(const void *a, const void *b)
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
	qsort(list->v, list->nr, sizeof(*list->v), compare);
	return 0;
}

int tap_tracefs_list(const char *root, bool ids, struct tap_tracefs_list *out, struct tap_err *err)
{
	struct tap_buf text = { .max = LIST_MAX_BYTES };
	char path[PATH_MAX];
	int ret;

	*out = (struct tap_tracefs_list){ 0 };
	if (snprintf(path, sizeof(path), "%s/available_events", root) >= (int)sizeof(path))
		return tap_err_set(err, -ENAMETOOLONG, "path of tracefs is too long");
	ret = tap_buf_read_file(&text, path);
	tap_buf_char(&text, '\0');
	if (!ret)
		ret = text.err;
	out->text = text.data;
	if (!ret)
		ret = parse_list(out);
	if (ret) {
		tap_tracefs_list_release(out);
		errno = -ret;
		return tap_err_set(err, ret, "cannot read '%s': %m", path);
	}
	if (ids)
		read_ids(root, out);
	return 0;
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
	int ret;

	ret = snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, system, name);
	ret = ret < (int)sizeof(path) ? tap_buf_read_file(text, path) : -ENAMETOOLONG;
	if (ret == -ENOENT)
		return tap_err_set(err, ret, "kernel has no event '%s:%s'", system, name);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot read '%s': %m", path) : 0;
}
