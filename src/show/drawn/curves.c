// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/drawn/curves.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "analysis/frequency.h"

#define MAX_CURVES 4096u
#define MAX_POINTS 4000u /* maximum per curve; less if there are many curves */
#define MIN_POINTS 60u
#define ALL_POINTS (1u << 18)
#define KEPT 3u /* points kept per interval: minimum, maximum, last */
#define FREQUENCY ((uint64_t)1 << 63) /* key bit for frequencies; the low bits are the CPU */

struct point {
	uint64_t ts_ns;
	float value; /* NAN: unknown from here on */
};

struct tap_drawn_curve {
	const struct tap_pelt_series *series; /* NULL: frequency of .cpu */
	int cpu;
	uint32_t task; /* task index, for signals of tasks */
	struct point *points; /* owned */
	unsigned int nr, cap;
};

static bool is_signal(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return tap_pelt_wants(fmt) || tap_is_cpu_frequency(fmt);
}

bool tap_curves_are_in(const struct tap_run *run)
{
	return tap_run_has(run, is_signal, NULL);
}

/* ---- points ---- */

/* Indices of the points to keep of an interval. */
struct kept {
	unsigned int least, most, last;
};

static void update_kept(const struct point *points, unsigned int i, struct kept *k)
{
	if (!(points[i].value >= points[k->least].value)) /* the negation also matches NAN */
		k->least = isnan(points[i].value) ? k->least : i;
	if (!(points[i].value <= points[k->most].value))
		k->most = isnan(points[i].value) ? k->most : i;
	k->last = i;
}

/*
 * Copy the kept points in their order, without duplicates, to the front. Return: the new number of
 * points.
 */
static unsigned int copy_kept(struct point *points, unsigned int nr, const struct kept *k,
			      unsigned int first)
{
	for (unsigned int i = first; i <= k->last; i++)
		if (i == k->least || i == k->most || i == k->last)
			points[nr++] = points[i];
	return nr;
}

/* Reduce the curve to half of its maximum number of points. */
static void thin_curve(struct tap_curves *c, struct tap_drawn_curve *curve)
{
	const uint64_t from_ns = c->run->window.from_ns;
	const uint64_t interval_ns =
		tap_window_ns(&c->run->window) / (c->max_points / 2 / KEPT) + 1;
	unsigned int nr = 0;

	for (unsigned int i = 0, first; i < curve->nr;) {
		const uint64_t interval = (curve->points[i].ts_ns - from_ns) / interval_ns;
		struct kept k = { i, i, i };

		for (first = i;
		     i < curve->nr && (curve->points[i].ts_ns - from_ns) / interval_ns == interval;
		     i++)
			update_kept(curve->points, i, &k);
		nr = copy_kept(curve->points, nr, &k, first);
	}
	c->nr_points -= curve->nr - nr;
	curve->nr = nr;
}

/* Halve the limit for all curves, because there are too many points in total. */
static void thin_all(struct tap_curves *c)
{
	c->max_points /= 2;
	for (unsigned int i = 0; i < c->nr; i++)
		if (c->v[i].nr > c->max_points)
			thin_curve(c, &c->v[i]);
}

static int add_point(struct tap_curves *c, struct tap_drawn_curve *curve, uint64_t ts_ns,
		     float value)
{
	if (curve->nr >= c->max_points)
		thin_curve(c, curve);
	if (c->nr_points >= ALL_POINTS && c->max_points > MIN_POINTS)
		thin_all(c);
	if (tap_array_grow(&curve->points, curve->nr, &curve->cap, sizeof(*curve->points)))
		return -ENOMEM;
	curve->points[curve->nr++] = (struct point){ ts_ns, value };
	c->nr_points++;
	return 0;
}

/* ---- callbacks ---- */

/* Return: NULL if out of memory. */
static struct tap_drawn_curve *find_curve(struct tap_curves *c, uint64_t key,
					  const struct tap_drawn_curve *fresh)
{
	uint64_t *index = tap_map_put(&c->by_series, key);

	if (!index || (!*index && tap_array_grow(&c->v, c->nr, &c->cap, sizeof(*c->v))))
		return NULL;
	if (!*index) {
		c->v[c->nr] = *fresh;
		*index = ++c->nr;
	}
	return &c->v[*index - 1];
}

static int on_point(void *ctx, const struct tap_pelt_series *s, uint64_t ts_ns, int64_t value)
{
	struct tap_curves *c = ctx;
	const struct tap_task *task =
		s->subject == TAP_PELT_TASK ? tap_timeline_task(c->run->timeline, s->tid) : NULL;
	struct tap_drawn_curve *curve;

	if (s->subject == TAP_PELT_TASK && !task)
		return 0;
	curve = find_curve(c, (uintptr_t)s,
			   &(const struct tap_drawn_curve){
				   .series = s, .cpu = s->cpu, .task = task ? task->index : 0 });
	return curve ? add_point(c, curve, ts_ns, value == TAP_PELT_GAP ? NAN : (float)value)
		     : -ENOMEM;
}

static bool wants_series(void *ctx, const struct tap_pelt_series *s)
{
	struct tap_curves *c = ctx;

	if (s->subject == TAP_PELT_TASK ? !tap_map_get(&c->tid_set, (uint64_t)s->tid)
					: tap_lane(c->lanes, s->cpu) == TAP_NO_LANE)
		return false;
	return c->nr_wanted < MAX_CURVES && ++c->nr_wanted;
}

static bool wants_frequency(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && tap_is_cpu_frequency(fmt);
}

static int on_frequency(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_curves *c = ctx;
	const struct tap_field *khz = tap_number_field(ev->fmt, "state"),
			       *cpu = tap_number_field(ev->fmt, "cpu_id");
	const uint64_t at = khz && cpu ? tap_field_u64(cpu, ev->data, ev->size) : UINT32_MAX;
	struct tap_drawn_curve *curve;

	(void)t;
	if (at >= c->lanes->nr_cpus || tap_lane(c->lanes, (int)at) == TAP_NO_LANE)
		return 0;
	curve = find_curve(c, FREQUENCY | at, &(const struct tap_drawn_curve){ .cpu = (int)at });
	return curve ? add_point(c, curve, ev->ts_ns, (float)tap_field_u64(khz, ev->data, ev->size))
		     : -ENOMEM;
}

const struct tap_watcher_ops tap_curves_frequency_ops = { .wants = wants_frequency,
							  .event = on_frequency };

int tap_curves_init(struct tap_curves *c)
{
	const struct tap_pelt_opts opts = {
		.window = c->run->window,
		.survey = &c->run->survey,
		.want = wants_series,
		.point = on_point,
		.ctx = c,
	};
	int ret = 0;

	c->max_points = MAX_POINTS;
	for (unsigned int i = 0; !ret && i < c->nr_tids; i++)
		ret = tap_map_set(&c->tid_set, (uint64_t)c->tids[i], 1);
	return ret ?: tap_pelt_new(&opts, &c->signals);
}

void tap_curves_release(struct tap_curves *c)
{
	for (unsigned int i = 0; i < c->nr; i++)
		free(c->v[i].points);
	free(c->v);
	tap_map_release(&c->tid_set);
	tap_map_release(&c->by_series);
	tap_pelt_free(c->signals);
	tap_buf_release(&c->t);
	tap_buf_release(&c->values);
}

/* ---- columns ---- */

static void put_cgroup(struct tap_curves *c, const struct tap_pelt_series *s, struct tap_buf *json)
{
	const char *path = tap_cgroups_path(&c->run->rec.ids.cgroups, s->cgroup);

	tap_buf_printf(json, "\"cpu\":%d,\"cgroup\":", s->cpu);
	if (path)
		tap_text_json(json, path, strlen(path));
	else
		tap_buf_printf(json, "\"%" PRIu64 "\"", s->cgroup);
}

static void put_subject(struct tap_curves *c, const struct tap_drawn_curve *curve,
			struct tap_runners *runners, struct tap_buf *json)
{
	const struct tap_pelt_series *s = curve->series;

	switch (s ? s->subject : TAP_PELT_CPU) {
	case TAP_PELT_CPU:
		tap_buf_printf(json, "\"cpu\":%d", curve->cpu);
		break;
	case TAP_PELT_TASK:
		tap_buf_printf(json, "\"task\":%u", tap_runner_number(runners, curve->task));
		break;
	case TAP_PELT_CGROUP:
		put_cgroup(c, s, json);
		break;
	case TAP_PELT_DOMAIN:
		tap_buf_puts(json, "\"domain\":\"");
		tap_cpus_text(&s->span, json);
		tap_buf_char(json, '"');
		break;
	}
}

static void put_curve(struct tap_curves *c, const struct tap_drawn_curve *curve,
		      struct tap_runners *runners, struct tap_buf *json)
{
	static const char *const scales[] = {
		[TAP_PELT_1024] = "1024",
		[TAP_PELT_OPEN] = "open",
		[TAP_PELT_COUNT] = "count",
		[TAP_PELT_FLAG] = "flag",
	};
	const struct tap_pelt_signal *signal = curve->series ? curve->series->signal : NULL;
	uint64_t before_ns = c->run->window.from_ns;

	tap_buf_printf(json, "%s{\"signal\":\"%s\",", json->len ? "," : "",
		       signal ? signal->name : "frequency");
	put_subject(c, curve, runners, json);
	tap_buf_printf(json, ",\"scale\":\"%s\",\"points\":%u}",
		       scales[signal ? signal->scale : TAP_PELT_OPEN], curve->nr);
	for (unsigned int i = 0; i < curve->nr; i++) {
		tap_varint_put(&c->t, curve->points[i].ts_ns - before_ns);
		tap_f32_put(&c->values, curve->points[i].value);
		before_ns = curve->points[i].ts_ns;
	}
}

int tap_curves_end(struct tap_curves *c, struct tap_runners *runners, struct tap_buf *json,
		   struct tap_drawn_columns *columns)
{
	for (unsigned int i = 0; i < c->nr; i++)
		put_curve(c, &c->v[i], runners, json);
	return json->err ?: runners->err ?:
	       tap_drawn_columns_add(columns, "curves.t", TAP_NUMBER_VARINT, &c->t) ?:
	       tap_drawn_columns_add(columns, "curves.v", TAP_NUMBER_F32, &c->values);
}
