// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/export/events.h"

#include <errno.h>

#include "timeline/run/picked.h"
#include "show/out/out.h"

struct events {
	struct tap_export *e;
	struct tap_out out;
	struct tap_err failed; /* failure to write the file */
};

int tap_export_check_events(const struct tap_export_opts *opts, struct tap_err *err)
{
	if (opts->of)
		return tap_err_set(err, -EINVAL, "--of needs --to folded");
	if (opts->slices || opts->by)
		return tap_err_set(err, -EINVAL, "--slices and --by need --to perfetto");
	return 0;
}

static int write_block(void *ctx, struct tap_buf *b)
{
	struct events *v = ctx;

	return tap_export_file_write(v->e->file, b, &v->failed);
}

static int on_event(void *ctx, const struct tap_event_kind *kind, const struct tap_event *ev)
{
	struct events *v = ctx;

	v->e->is_empty &= !kind;
	return tap_out_event(&v->out, kind, ev);
}

int tap_export_write_events(struct tap_export *e, const struct tap_style *style,
			    struct tap_buf *head, struct tap_err *err)
{
	struct tap_run *run = &e->run;
	struct events v = { .e = e };
	int ret;

	e->is_empty = true;
	e->begin(e->ctx);
	tap_out_init(&v.out, style, &run->rec.ids, run->rec.reader, &run->rec.wall, -1);
	v.out.meta = run->rec.meta;
	v.out.write = write_block;
	v.out.ctx = &v;
	ret = tap_export_file_write(e->file, head, err)
		      ?: tap_run_feed_picked(run, on_event, &v, err);
	if (!ret)
		ret = tap_out_flush(&v.out);
	if (v.failed.code)
		*err = v.failed;
	else if (ret && !err->code)
		ret = tap_err_set(err, ret, "out of memory");
	if (!ret && e->is_empty && tap_run_add_listed(run))
		ret = tap_err_nomem(err);
	tap_out_release(&v.out);
	return ret;
}
