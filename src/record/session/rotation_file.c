// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/rotation_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "file/pack.h"
#include "record/machine.h"

struct tap_rotation_file *tap_rotation_file_new(unsigned int nr)
{
	struct tap_rotation_file *f = calloc(1, sizeof(*f));

	if (f)
		f->nr = nr;
	return f;
}

void tap_rotation_file_free(struct tap_rotation_file *f)
{
	if (!f)
		return;
	tap_spool_free(f->spool);
	tap_description_release(&f->d);
	json_decref(f->clocks);
	free(f);
}

bool tap_rotation_file_has_folder(const struct tap_rotation_file *f, const char *path)
{
	size_t len = f ? strlen(f->path) : 0;

	return f && !strncmp(path, f->path, len) && !strcmp(path + len, TAP_SPOOL_SUFFIX);
}

/* ---- before events are recorded to it ---- */

static int read_head(const struct tap_rotation_file *f, struct tap_buf *head, struct tap_err *err)
{
	char path[PATH_MAX + 32];
	int ret;

	snprintf(path, sizeof(path), "%s" TAP_SPOOL_SUFFIX "/head.dat", f->path);
	ret = tap_buf_read_file(head, path);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot read '%.300s': %m", path) : 0;
}

static int make_folder(struct tap_rotation_file *f, const struct tap_rotation_file *before,
		       struct tap_err *err)
{
	struct tap_buf old = { 0 }, head = { 0 }, cmdlines = { 0 };
	char *meta = tap_description_text(&f->d);
	int ret = meta ? read_head(before, &old, err) : tap_err_nomem(err);

	tap_description_cmdlines(&f->d, &cmdlines);
	ret = ret ?: tap_head_change(&old, meta, tap_buf_str(&cmdlines), &head, err);
	ret = ret ?: tap_spool_create_from(f->path, &head, false, &f->spool, err);
	free(meta);
	tap_buf_release(&old);
	tap_buf_release(&head);
	tap_buf_release(&cmdlines);
	return ret;
}

int tap_rotation_file_prepare(struct tap_rotation_file *f, const struct tap_rotation_file *before,
			      struct tap_err *err)
{
	struct tap_pids pids = { 0 };
	int ret;

	tap_pids_open(&pids);
	ret = tap_description_read_tasks(&f->d, &pids);
	tap_pids_release(&pids);
	f->clocks = json_pack("[o]", tap_machine_clocks());
	if (ret || !f->clocks)
		return tap_err_nomem(err);
	json_object_set(f->d.meta, "clocks", f->clocks);
	tap_description_set_window(&f->d, tap_now_ns(), 0);
	tap_description_set_file(&f->d, f->nr, true);
	return make_folder(f, before, err);
}

/* ---- after the last event ---- */

int tap_rotation_file_explain(int failed, struct tap_err *err)
{
	errno = -failed;
	if (failed == -EDQUOT)
		return tap_err_set(err, failed,
				   "the file lacks events before its end: they came too fast for "
				   "--on-disk of this size");
	return failed ? tap_err_set(err, failed, "the file lacks events before its end: %m") : 0;
}

static int try_pack(struct tap_rotation_file *f, bool zstd, const char *meta, const char *cmdlines,
		    struct tap_err *err)
{
	struct tap_pack_opts opts = { .zstd = zstd, .cmdlines = cmdlines };

	return tap_spool_set_meta(f->spool, meta, true, err)
		       ?: tap_pack(tap_spool_path(f->spool), f->path, &opts, err);
}

int tap_rotation_file_pack(struct tap_rotation_file *f, bool zstd, bool (*make_room)(void *ctx),
			   void *ctx, struct tap_err *err)
{
	struct tap_buf cmdlines = { 0 };
	struct tap_pids pids = { 0 };
	int failed = tap_spool_failed(f->spool), ret;
	char *meta = NULL;

	tap_pids_open(&pids);
	ret = tap_description_end(&f->d, &pids, f->spool, !failed, &cmdlines, err);
	tap_pids_release(&pids);
	if (!ret && !(meta = tap_description_text(&f->d)))
		ret = tap_err_nomem(err);
	if (!ret)
		do
			ret = try_pack(f, zstd, meta, tap_buf_str(&cmdlines), err);
		while (ret == -ENOSPC && make_room(ctx));
	free(meta);
	tap_buf_release(&cmdlines);
	return ret ?: tap_rotation_file_explain(failed, err);
}
