// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/cgroup_watch.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/select/mount.h"
#include "record/machine.h"

static int add_folder(struct tap_cgroup_watch *w, const char *path)
{
	int wd = inotify_add_watch(w->fd, path, IN_CREATE | IN_ONLYDIR);

	/* the cgroup is gone, or the user has the maximum number of watches */
	return wd < 0 ? 0 : tap_machine_put_text(&w->folders, (uint64_t)wd, path);
}

/*
 * Watch a cgroup and those below it, which may have been made before it was watched. @cgroups: gets
 * their names; NULL: they are known.
 */
static int add_tree(struct tap_cgroup_watch *w, const char *root, struct tap_map *cgroups)
{
	char *paths[] = { (char *)root, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	int ret = 0;
	FTSENT *e;

	while (fts && !ret && (e = fts_read(fts))) {
		const char *below = e->fts_path + w->root_len;

		if (e->fts_info != FTS_D)
			continue;
		ret = add_folder(w, e->fts_path);
		if (!ret && cgroups)
			ret = tap_machine_put_text(cgroups, e->fts_statp->st_ino,
						   *below ? below : "/");
	}
	if (fts)
		fts_close(fts);
	return ret;
}

void tap_cgroup_watch_open(struct tap_cgroup_watch *w)
{
	char root[PATH_MAX];

	*w = (struct tap_cgroup_watch){ .fd = -1 };
	if (!tap_cgroup_mount(root, sizeof(root)))
		return;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	w->root_len = strlen(root);
	if (w->fd >= 0 && add_tree(w, root, NULL))
		tap_cgroup_watch_release(w);
}

static int take_event(struct tap_cgroup_watch *w, const struct inotify_event *ev,
		      struct tap_map *cgroups)
{
	uint64_t *slot = tap_map_get(&w->folders, (uint64_t)ev->wd);
	char root[PATH_MAX], *path;
	int ret;

	if (ev->mask & IN_Q_OVERFLOW)
		return tap_cgroup_mount(root, sizeof(root)) ? add_tree(w, root, cgroups) : 0;
	if (slot && ev->mask & IN_IGNORED) {
		free((char *)(uintptr_t)*slot);
		*slot = 0;
	}
	if (!(ev->mask & IN_CREATE) || !(ev->mask & IN_ISDIR) || !slot || !*slot)
		return 0;
	if (asprintf(&path, "%s/%s", (const char *)(uintptr_t)*slot, ev->name) < 0)
		return -ENOMEM;
	ret = add_tree(w, path, cgroups);
	free(path);
	return ret;
}

int tap_cgroup_watch_read(struct tap_cgroup_watch *w, struct tap_map *cgroups)
{
	char buf[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)]
		__attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t len;
	int ret = 0;

	while (!ret && w->fd >= 0 && (len = read(w->fd, buf, sizeof(buf))) > 0)
		for (const char *at = buf; !ret && at < buf + len;) {
			const struct inotify_event *ev = (const void *)at;

			ret = take_event(w, ev, cgroups);
			at += sizeof(*ev) + ev->len;
		}
	return ret;
}

void tap_cgroup_watch_release(struct tap_cgroup_watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	tap_machine_release_texts(&w->folders);
}
