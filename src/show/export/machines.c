// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/export/machines.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

/* Return the host's name in "Linux HOST 6.1.0 ...", of *@len bytes; none: *@len is 0. */
static const char *find_host(const struct tap_export *e, size_t *len)
{
	const char *uname = tap_reader_info(e->run.rec.reader)->uname, *space = strchr(uname, ' '),
		   *host = space ? space + 1 : "";

	*len = strcspn(host, " ");
	return host;
}

static bool has_same_host(const struct tap_export *a, const struct tap_export *b)
{
	size_t len, other_len;
	const char *host = find_host(a, &len), *other = find_host(b, &other_len);

	return len == other_len && !memcmp(host, other, len);
}

/* Set the machine's name to its host's, or its file's if another machine has the same host name. */
static int set_name(struct tap_export *exports, unsigned int nr, unsigned int i)
{
	struct tap_buf *name = &exports[i].name;
	size_t len;
	const char *host = find_host(&exports[i], &len);
	bool is_unique = len;

	for (unsigned int k = 0; k < nr; k++)
		is_unique &= k == i || !has_same_host(&exports[i], &exports[k]);
	tap_buf_clear(name);
	if (is_unique)
		tap_buf_add(name, host, len);
	else
		tap_buf_puts(name, exports[i].run.rec.path);
	exports[i].machine.name = tap_buf_str(name);
	return name->err;
}

/* Return true if one is the recording of the other's host, or both have the same host. */
static bool share_clock(const struct tap_export *a, const struct tap_export *b)
{
	const struct tap_reader_info *x = tap_reader_info(a->run.rec.reader),
				     *y = tap_reader_info(b->run.rec.reader);
	const uint64_t of_x = x->host_trace_id ?: x->trace_id,
		       of_y = y->host_trace_id ?: y->trace_id;

	return of_x && of_x == of_y;
}

static int set_shift(struct tap_export *e, const struct tap_export *first, struct tap_err *err)
{
	const struct tap_wall *wall = &e->run.rec.wall;

	if (share_clock(e, first))
		return 0;
	if (!wall->is_known)
		return tap_err_set(
			err, -ENODATA,
			"'%.300s' contains no wall-clock time, so its place next to other "
			"recordings is unknown: record with `schedtap record`, `trace-cmd "
			"record --date`, or `perf record -k CLOCK_MONOTONIC`",
			e->run.rec.path);
	if (__builtin_sub_overflow(wall->offset_ns, first->run.rec.wall.offset_ns,
				   &e->machine.shift_ns))
		return tap_err_set(err, -ERANGE,
				   "the times of '%.300s' and '%.300s' are too far apart",
				   first->run.rec.path, e->run.rec.path);
	if (wall->moved_ns)
		tap_recording_note(
			&e->run.rec,
			"the wall clock was set while '%.300s' was recorded: its times in "
			"the export may be wrong by %.3f s",
			e->run.rec.path, (double)wall->moved_ns / 1e9);
	return 0;
}

/* Return a time of the first machine on this machine's clock. */
static uint64_t shift_back(const struct tap_pf_machine *m, uint64_t ts_ns)
{
	const struct tap_pf_machine back = { .shift_ns = -m->shift_ns };

	return ts_ns && ts_ns != UINT64_MAX ? tap_pf_time(&back, ts_ns) : ts_ns;
}

/* Set the window to the first machine's. Return: 0 or -ENOMEM. */
static int set_window(struct tap_export *e, const struct tap_export *first)
{
	const struct tap_window *window = &first->run.pick.window;

	e->run.time = first->run.time;
	e->run.pick.window = (struct tap_window){ shift_back(&e->machine, window->from_ns),
						  shift_back(&e->machine, window->to_ns) };
	tap_text_ns(&e->window, e->run.pick.window.from_ns);
	tap_buf_char(&e->window, ',');
	if (e->run.pick.window.to_ns != UINT64_MAX)
		tap_text_ns(&e->window, e->run.pick.window.to_ns);
	e->input.window = tap_buf_str(&e->window);
	return e->window.err;
}

int tap_export_machines(struct tap_export *exports, unsigned int nr, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++) {
		struct tap_export *e = &exports[i];

		e->machine = (struct tap_pf_machine){ .number = i, .nr = nr };
		if (nr == 1)
			break;
		ret = set_shift(e, exports, err);
		if (!ret && set_name(exports, nr, i))
			ret = tap_err_nomem(err);
		if (!ret && i && exports->run.time.text && set_window(e, exports))
			ret = tap_err_nomem(err);
	}
	return ret;
}
