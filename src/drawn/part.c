// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "drawn/part.h"

#include <errno.h>
#include <inttypes.h>

#include "drawn/levels.h"
#include "drawn/slices.h"

struct part {
	struct tap_run *run;
	const struct tap_drawn_opts *opts;
	struct tap_runners runners;
	struct tap_drawn_slices slices;
	struct tap_levels levels;
};

static int on_cpu(void *ctx, const struct tap_cpu_stretch *s)
{
	struct part *p = ctx;

	return tap_drawn_slices_cpu(&p->slices, s) ?: tap_levels_cpu(&p->levels, s);
}

static int on_stretch(void *ctx, const struct tap_stretch *s)
{
	struct part *p = ctx;

	tap_levels_stretch(&p->levels, s);
	return tap_drawn_slices_stretch(&p->slices, s);
}

static int on_wakeup(void *ctx, const struct tap_wakeup *w)
{
	return tap_drawn_slices_wakeup(&((struct part *)ctx)->slices, w);
}

static const struct tap_observer observer = {
	.states = TAP_STATE_ALL, .lost_states = TAP_STATE_ALL, .stretch = on_stretch, .cpu = on_cpu, .wakeup = on_wakeup,
};

static int init(struct part *p)
{
	const struct tap_drawn_opts *o = p->opts;

	p->slices = (struct tap_drawn_slices){ .run = p->run, .lanes = o->lanes, .max = o->max_slices, .runners = &p->runners };
	p->levels = (struct tap_levels){ .run = p->run, .lanes = o->lanes };
	tap_pyramid_init(&p->levels.pyramid, p->run->window, o->lanes->nr, o->buckets, o->one_level);
	return tap_drawn_slices_init(&p->slices) ?: tap_levels_init(&p->levels);
}

static void release(struct part *p)
{
	tap_levels_release(&p->levels);
	tap_drawn_slices_release(&p->slices);
	tap_runners_release(&p->runners);
}

/* Finer levels than the slices need are left out: where a bucket holds few of them these are drawn. Return: the first that is not. */
static unsigned int first_level(const struct part *p)
{
	const struct tap_pyramid *y = &p->levels.pyramid;
	unsigned int level = 0;

	while (!p->slices.is_over && level + 1 < y->nr_levels && y->buckets[level + 1] >= 1024 &&
	       (uint64_t)y->nr_rows * y->buckets[level] > p->slices.nr / 4)
		level++;
	return level;
}

static int put(struct part *p, struct tap_buf *out)
{
	const struct tap_pyramid *y = &p->levels.pyramid;
	const uint64_t origin_ns = p->opts->origin_ns;
	struct tap_drawn_columns columns = { 0 };
	struct tap_buf json = { 0 };
	int ret = tap_drawn_slices_end(&p->slices, &columns);
	const bool has_levels = p->slices.is_over || p->opts->has_levels;
	const unsigned int first = first_level(p);

	tap_buf_printf(&json, "{\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64, p->run->window.from_ns - origin_ns,
		       p->run->window.to_ns - origin_ns);
	if (!p->slices.is_over)
		tap_buf_printf(&json, ",\"slices\":%" PRIu64, p->slices.nr);
	if (has_levels) {
		ret = ret ?: tap_levels_end(&p->levels, first, &p->runners, &columns);
		tap_buf_printf(&json, ",\"levels\":{\"ns\":%" PRIu64 ",\"buckets\":%u,\"count\":%u}", tap_pyramid_ns(y, first),
			       y->buckets[first], y->nr_levels - first);
	}
	tap_runners_put(&p->runners, p->run->timeline, &json);
	tap_buf_puts(&json, ",\"curves\":[]");
	ret = ret ?: tap_drawn_columns_put(&columns, &json, out);
	tap_drawn_columns_release(&columns);
	tap_buf_release(&json);
	return ret;
}

int tap_drawn_part(struct tap_run *run, const struct tap_drawn_opts *opts, struct tap_buf *out, struct tap_drawn *drawn,
		   struct tap_err *err)
{
	struct part p = { .run = run, .opts = opts };
	int ret = init(&p) ? tap_err_set(err, -ENOMEM, "out of memory") : tap_run_feed(run, &observer, NULL, &p, err);

	if (!ret) {
		ret = put(&p, out);
		errno = -ret;
		ret = ret ? tap_err_set(err, ret, "cannot draw '%.300s': %m", run->rec.path) : 0;
	}
	if (drawn)
		*drawn = (struct tap_drawn){ .slices = p.slices.nr, .has_slices = !p.slices.is_over };
	release(&p);
	return ret;
}
