// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/picked.h"

#include <errno.h>

/* Decode only events that -e selects, and those that identities are derived from. */
static uint16_t mark_wanted(void *pick, const struct tap_format *fmt)
{
	return tap_pick_wants(pick, fmt) || tap_timeline_tells_identity(fmt);
}

static bool is_selected(void *run, const struct tap_task *task, uint64_t ns)
{
	const struct tap_run *r = run;

	(void)ns;
	return tap_pick_task(&r->pick, &r->rec.ids.cgroups, task);
}

static int make_timeline(struct tap_run *run)
{
	const struct tap_timeline_opts opts = {
		.window = run->pick.window,
		.lists = &run->rec.ids.lists,
		.lives_only = true,
		.selected = { .task = is_selected, .ctx = run },
	};
	int ret = tap_timeline_new(&opts, &run->timeline);

	run->rec.ids.timeline = run->timeline;
	run->rec.ids.adds = true;
	return ret;
}

/* The timeline tracks lives and names, as it does for reports. Return: 0 or -ENOMEM. */
static int learn_identities(struct tap_identities *ids, const struct tap_event_kind *kind,
			    const struct tap_event *ev)
{
	int ret = tap_identities_advance(ids, ev->ts_ns);

	return !ret && kind && kind->tells_identity ? tap_timeline_event(ids->timeline, ev) : ret;
}

/* Return: as tap_pick_match(). */
static int is_picked(struct tap_run *run, const struct tap_event_kind *kind,
		     const struct tap_event *ev)
{
	if ((ev->fmt && !kind) || learn_identities(&run->rec.ids, kind, ev))
		return -ENOMEM;
	return tap_pick_match(&run->pick, &run->rec.ids, kind, ev);
}

int tap_run_feed_picked(struct tap_run *run,
			int (*event)(void *ctx, const struct tap_event_kind *kind,
				     const struct tap_event *ev),
			void *ctx, struct tap_err *err)
{
	const struct tap_window *window = &run->pick.window;
	struct tap_reader *reader = run->rec.reader;
	const struct tap_event *const *batch;
	int ret;

	tap_reader_rewind(reader);
	tap_reader_unmerged(reader, false);
	/* names that only a switch before the window shows are not worth reading further back */
	tap_reader_limit(reader, window->from_ns, window->to_ns);
	tap_reader_mark(reader, mark_wanted, &run->pick);
	if (make_timeline(run))
		return tap_err_nomem(err);
	while ((ret = tap_reader_batch(reader, &batch, err)) > 0)
		for (int i = 0, nr = ret; i < nr; i++) {
			const struct tap_event_kind *kind =
				batch[i]->fmt ? tap_event_kind(&run->rec.kinds, batch[i]->fmt)
					      : NULL;

			ret = is_picked(run, kind, batch[i]);
			if (ret < 0)
				return tap_err_set(err, ret, "out of memory");
			ret = ret ? event(ctx, kind, batch[i]) : 0;
			if (ret)
				return ret;
		}
	return ret;
}

int tap_run_add_listed(struct tap_run *run)
{
	struct tap_identities *ids = &run->rec.ids;

	for (unsigned int i = 0; i < ids->lists.nr_rows; i++)
		if (!tap_identity(ids, ids->lists.rows[i].tid))
			return -ENOMEM;
	return 0;
}
