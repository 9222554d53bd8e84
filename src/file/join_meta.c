// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall.h"
#include "file/join.h"
#include "file/meta.h"

static uint64_t get_positive(const json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));

	return v > 0 ? (uint64_t)v : 0;
}

int tap_join_read(struct tap_join_file *f, struct tap_err *err)
{
	const json_t *recorder, *window;
	int ret = tap_meta_parse(f->reader->meta ?: "", &f->meta, err);

	if (ret)
		return ret;
	recorder = json_object_get(f->meta, "recorder");
	window = json_object_get(f->meta, "window");
	f->id = json_string_value(json_object_get(recorder, "id"));
	f->nr = json_integer_value(json_object_get(recorder, "file"));
	f->continues = json_is_true(json_object_get(recorder, "continues"));
	f->from_ns = get_positive(window, "start_ns");
	f->to_ns = get_positive(window, "end_ns");
	return 0;
}

static int by_nr(const void *a, const void *b)
{
	const struct tap_join_file *x = a, *y = b;

	return (x->nr > y->nr) - (x->nr < y->nr);
}

#define INSTEAD                                                                                    \
	"run the command on each file, or show them side by side with `schedtap export --to "      \
	"html` or `--to perfetto`"

/* Set @wall to the file's window by the wall clock, in seconds. Return false if it is unknown. */
static bool find_wall(const struct tap_join_file *f, double wall[2])
{
	const json_t *clocks = json_array_get(json_object_get(f->meta, "clocks"), 0);
	const uint64_t ts_ns = get_positive(clocks, "monotonic_ns"),
		       real_ns = get_positive(clocks, "realtime_ns");
	struct tap_wall w = { 0 };

	if (!ts_ns || !real_ns || !f->from_ns || f->to_ns < f->from_ns)
		return false;
	tap_wall_learn(&w, ts_ns, real_ns);
	wall[0] = (double)tap_wall_from(&w, f->from_ns) / 1e9;
	wall[1] = (double)tap_wall_from(&w, f->to_ns) / 1e9;
	return true;
}

static int refuse_recorders(const struct tap_join_file *a, const struct tap_join_file *b,
			    struct tap_err *err)
{
	double x[2], y[2];
	char when[96] = "";
	const bool is_known = find_wall(a, x) && find_wall(b, y);

	if (is_known && y[0] > x[1])
		snprintf(when, sizeof(when), " (the second begins %.3f s after the first ends)",
			 y[0] - x[1]);
	else if (is_known && x[0] > y[1])
		snprintf(when, sizeof(when), " (the first begins %.3f s after the second ends)",
			 x[0] - y[1]);
	else if (is_known)
		snprintf(when, sizeof(when), " (they overlap for %.3f s)",
			 (x[1] < y[1] ? x[1] : y[1]) - (x[0] > y[0] ? x[0] : y[0]));
	return tap_err_set(
		err, -EINVAL,
		"'%.300s' and '%.300s' were made by different recorders, so they cannot be "
		"read as one recording: " INSTEAD "%s",
		a->path, b->path, when);
}

int tap_join_order(struct tap_join_file *files, unsigned int nr, struct tap_err *err)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (!files[i].id)
			return tap_err_set(err, -EINVAL,
					   "'%.300s' does not say which recorder made it, so it "
					   "cannot be read together with other files: " INSTEAD,
					   files[i].path);
		if (strcmp(files[i].id, files[0].id))
			return refuse_recorders(&files[0], &files[i], err);
	}
	qsort(files, nr, sizeof(*files), by_nr);
	for (unsigned int i = 1; i < nr; i++) {
		files[i].continues &=
			files[i].nr == files[i - 1].nr + 1 &&
			!json_is_false(json_object_get(files[i - 1].meta, "complete"));
		if (files[i].nr == files[i - 1].nr)
			return tap_err_set(err, -EINVAL,
					   "'%.300s' and '%.300s' are the same part of a recording",
					   files[i - 1].path, files[i].path);
	}
	return 0;
}

/* Append @from's rows under @key to those in @to. Return: 0; -1: out of memory. */
static int add_rows(json_t *to, const json_t *from, const char *key)
{
	json_t *rows = json_object_get(from, key), *all = json_object_get(to, key);

	if (!json_is_array(rows))
		return 0;
	if (!json_is_array(all))
		return json_object_set(to, key, rows);
	return json_array_extend(all, rows);
}

/*
 * Fix the word at index @at of each row, which is the time of reading ("began", "ended" or "both",
 * see meta.h). Only the first file's rows that were read when it began, and the last file's that
 * were read when it ended, keep it; it is removed from all others.
 */
static int date_rows(json_t *meta, const char *key, size_t at, bool is_first, bool is_last)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(meta, key), i, row) {
		const char *when = json_string_value(json_array_get(row, at));
		bool began = when && is_first && strcmp(when, "ended"),
		     ended = when && is_last && strcmp(when, "began");

		if (!when)
			continue;
		if (!began && !ended) {
			while (json_array_size(row) > at)
				json_array_remove(row, at);
		} else if (json_array_set_new(row, at,
					      json_string(began && ended ? "both"
							  : began	 ? "began"
									 : "ended"))) {
			return -1;
		}
	}
	return 0;
}

/*
 * The last file has the end of the recording; if the recorder did not finish it, there is no end.
 */
static int set_end(json_t *all, const json_t *last)
{
	json_t *window = json_object_get(all, "window"),
	       *end = json_object_get(json_object_get(last, "window"), "end_ns");

	json_object_del(window, "end_ns");
	return (end && json_object_set(window, "end_ns", end)) ||
	       json_object_set_new(all, "complete",
				   json_boolean(!json_is_false(json_object_get(last, "complete"))));
}

char *tap_join_meta(const struct tap_join_file *files, unsigned int nr)
{
	static const char *const rows[] = { "tasks",	     "command_lines", "cgroups",
					    "quota_cgroups", "clocks",	      "schedulers",
					    "own_tids",	     "formats",	      "programs" };
	json_t *all = json_deep_copy(files[0].meta);
	int ret = all ? date_rows(all, "tasks", 4, true, false) : -1;
	char *text;

	/* numbers that only apply to one file's window */
	json_object_del(all, "throttled");
	json_object_del(all, "price");
	for (unsigned int i = 1; !ret && i < nr; i++) {
		json_t *meta = json_deep_copy(files[i].meta);

		ret = meta ? date_rows(meta, "tasks", 4, false, i + 1 == nr) : -1;
		for (size_t k = 0; !ret && k < sizeof(rows) / sizeof(*rows); k++)
			ret = add_rows(all, meta, rows[k]);
		json_decref(meta);
	}
	ret = ret ?: set_end(all, files[nr - 1].meta);
	text = ret ? NULL : json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return text;
}
