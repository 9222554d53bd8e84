// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cmd.h"

/* A description that is damaged costs names, not the events. */
static void read_meta(struct tap_input *in, const char *path)
{
	const char *text = tap_reader_info(in->reader)->meta;
	struct tap_err err = { 0 };
	json_error_t why = { 0 };

	if (!*text)
		return;
	in->meta = json_loads(text, 0, &why);
	if (json_is_object(in->meta))
		return;
	tap_err_set(&err, -EINVAL, "'%s': going on without its description, which is damaged: %s",
		    path, in->meta ? "no object" : why.text);
	tap_cmd_fail(&err, false);
	json_decref(in->meta);
	in->meta = NULL;
}

/* What the user should know of the file as a whole: one line each. */
static void tell_notes(const struct tap_input *in)
{
	const char *line = tap_reader_info(in->reader)->notes;
	struct tap_err err = { 0 };
	size_t len;

	for (; *line; line += len + (line[len] != '\0')) {
		len = strcspn(line, "\n");
		if (!len)
			continue;
		tap_err_set(&err, -EINVAL, "%.*s", (int)len, line);
		tap_cmd_fail(&err, false);
	}
}

static uint64_t positive(const json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));

	return v > 0 ? (uint64_t)v : 0;
}

static void read_window(struct tap_input *in)
{
	const json_t *w = json_object_get(in->meta, "window");
	uint64_t end_ns = positive(w, "end_ns");

	in->said.from_ns = positive(w, "start_ns");
	in->said.to_ns = end_ns ? end_ns : UINT64_MAX;
}

/* Ours has readings from its beginning and its end; another's the one that its header tells. */
static void read_clocks(struct tap_input *in)
{
	const struct tap_reader_info *info = tap_reader_info(in->reader);
	const char *clock = info->nr_buffers ? info->buffers[0].clock : "";
	const char *key = !strcmp(clock, "mono") ? "monotonic_ns" :
			  !strcmp(clock, "boot") ? "boottime_ns" : "";
	json_t *pair;
	size_t i;

	json_array_foreach(json_object_get(in->meta, "clocks"), i, pair) {
		uint64_t ts_ns = positive(pair, key), real_ns = positive(pair, "realtime_ns");

		if (ts_ns && real_ns)
			tap_wall_learn(&in->wall, ts_ns, real_ns);
	}
	if (!in->wall.is_known && info->wall_realtime_ns)
		tap_wall_learn(&in->wall, info->wall_ts_ns, info->wall_realtime_ns);
}

int tap_input_open(struct tap_input *in, const char *path, struct tap_err *err)
{
	int ret;

	*in = (struct tap_input){ .path = path };
	ret = tap_reader_open(path, &in->reader, err);
	if (ret)
		return ret;
	tell_notes(in);
	read_meta(in, path);
	read_window(in);
	read_clocks(in);
	if (tap_who_init(&in->who, in->reader, in->meta))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	if (ret)
		tap_input_close(in);
	return ret;
}

void tap_input_tell_unknown(unsigned int nr)
{
	struct tap_err err = { 0 };

	if (!nr)
		return;
	tap_err_set(&err, -ENODATA, "-p leaves out %u task%s whose process is not known: record "
		    "task_newtask, which tells it", nr, nr == 1 ? "" : "s");
	tap_cmd_fail(&err, false);
}

void tap_input_close(struct tap_input *in)
{
	tap_progress_erase(&in->progress);
	tap_who_release(&in->who);
	json_decref(in->meta);
	tap_reader_free(in->reader);
	*in = (struct tap_input){ 0 };
}

/* ---- progress ------------------------------------------------------------------------------- */

static void on_watch(void *ctx)
{
	struct tap_input *in = ctx;
	uint64_t done, whole;

	tap_reader_position(in->reader, &done, &whole);
	tap_progress_show(&in->progress, done, whole, tap_now_ns());
}

void tap_input_watch(struct tap_input *in, const char *what)
{
	if (!in->progress.what)
		tap_progress_start(&in->progress, STDERR_FILENO, what, tap_now_ns());
	in->progress.what = what;
	tap_reader_watch(in->reader, in->progress.on ? on_watch : NULL, in);
}

void tap_input_unwatch(struct tap_input *in)
{
	tap_progress_erase(&in->progress);
	if (isatty(STDOUT_FILENO))
		tap_reader_watch(in->reader, NULL, NULL);
}

/* ---- times ---------------------------------------------------------------------------------- */

int tap_clock_parse(const char *name, enum tap_clock *clock, struct tap_err *err)
{
	static const char *const names[] = {
		[TAP_SHOW_MONO] = "mono", [TAP_SHOW_WALL] = "wall", [TAP_SHOW_TOD] = "tod",
	};

	for (*clock = TAP_SHOW_MONO; *clock <= TAP_SHOW_TOD; (*clock)++)
		if (!strcmp(name ? name : "mono", names[*clock]))
			return 0;
	return tap_err_set(err, -EINVAL,
			   "--clock: '%.100s' is none of mono (the recording's own), wall (date and "
			   "time), tod (time of day)", name);
}

int tap_input_show(struct tap_input *in, enum tap_clock clock, struct tap_err *err)
{
	in->wall.shown = clock;
	if (clock == TAP_SHOW_MONO || in->wall.is_known)
		return 0;
	return tap_err_set(err, -ENODATA, "--clock: '%.300s' does not know the wall time",
			   in->path);
}

static uint16_t mark_none(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	(void)fmt;
	return 0;
}

/* Of a recording that does not say it, from its first to its last event. */
static int find_range(struct tap_input *in, struct tap_range *range, struct tap_err *err)
{
	struct tap_reader_span span;
	struct tap_event ev;
	int ret;

	*range = in->said;
	if (range->from_ns && range->to_ns != UINT64_MAX)
		return 0;
	tap_reader_rewind(in->reader);
	tap_reader_limit(in->reader, 0, UINT64_MAX);
	tap_reader_mark(in->reader, mark_none, NULL);
	tap_reader_unmerged(in->reader, true);
	while ((ret = tap_reader_next(in->reader, &ev, err)) > 0)
		;
	span = tap_reader_span(in->reader);
	tap_reader_unmerged(in->reader, false);
	tap_reader_mark(in->reader, NULL, NULL);
	tap_reader_rewind(in->reader);
	if (!range->from_ns && span.first_ns <= span.last_ns)
		range->from_ns = span.first_ns;
	if (range->to_ns == UINT64_MAX)
		range->to_ns = span.last_ns > range->from_ns ? span.last_ns : range->from_ns;
	return ret;
}

static int outside(struct tap_input *in, const struct tap_window *w, struct tap_range recording,
		   struct tap_err *err)
{
	double length_s = (double)(recording.to_ns - recording.from_ns) / 1e9;
	struct tap_buf b = { 0 };
	int ret;

	in->wall.shown = tap_window_clock(w) == TAP_SHOW_MONO ? TAP_SHOW_MONO : TAP_SHOW_WALL;
	tap_wall_add(&in->wall, &b, recording.from_ns);
	tap_buf_puts(&b, " to ");
	tap_wall_add(&in->wall, &b, recording.to_ns);
	ret = tap_err_set(err, -ENODATA,
			  "--time: '%.100s' lies outside the recording, which is from %s (%.3f s)",
			  w->text, tap_buf_str(&b), length_s);
	tap_buf_release(&b);
	return ret;
}

static int check(struct tap_input *in, const struct tap_window *w, struct tap_range range,
		 struct tap_range recording, struct tap_err *err)
{
	if (range.from_ns <= recording.to_ns && range.to_ns >= recording.from_ns)
		return 0;
	return outside(in, w, recording, err);
}

int tap_input_window(struct tap_input *in, const struct tap_window *w, struct tap_range *out,
		     struct tap_err *err)
{
	struct tap_range recording = in->said;
	int ret = 0;

	if (tap_window_needs_range(w))
		ret = find_range(in, &recording, err);
	if (!ret)
		ret = tap_window_resolve(w, &in->wall, recording, out, err);
	return ret ? ret : check(in, w, *out, recording, err);
}

int tap_input_check_window(struct tap_input *in, const struct tap_window *w, struct tap_range range,
			   struct tap_err *err)
{
	struct tap_range recording;
	int ret = find_range(in, &recording, err);

	return ret ? ret : check(in, w, range, recording, err);
}
