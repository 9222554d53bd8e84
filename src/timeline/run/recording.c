// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "file/group.h"

int tap_recording_command(const struct tap_recording *r)
{
	json_int_t tid = json_integer_value(json_object_get(r->meta, "command_tid"));

	return tid > 0 && tid <= INT32_MAX ? (int)tid : 0;
}

const char *tap_recording_incomplete(const struct tap_recording *r)
{
	return json_is_false(json_object_get(r->meta, "complete"))
		       ? "its recorder did not finish, so what a CPU did after its last event is "
			 "unknown"
		       : NULL;
}

void tap_recording_note_damage(const struct tap_recording *r)
{
	uint64_t nr = r->reader ? tap_reader_damaged(r->reader) : 0;

	if (nr)
		tap_recording_note(
			r,
			"'%.300s': %" PRIu64
			" part%s of its data %s cut or damaged: all events in %s count as lost",
			r->path, nr, nr == 1 ? "" : "s", nr == 1 ? "is" : "are",
			nr == 1 ? "it" : "them");
}

void tap_recording_note_incomplete(const struct tap_recording *r)
{
	if (tap_recording_incomplete(r))
		tap_recording_note(r, "'%.300s' is incomplete: %s", r->path,
				   tap_recording_incomplete(r));
}

void tap_recording_note(const struct tap_recording *r, const char *fmt, ...)
{
	struct tap_err note = { .code = -ENODATA };
	va_list args;

	if (!r->listener.note)
		return;
	va_start(args, fmt);
	vsnprintf(note.text, sizeof(note.text), fmt, args);
	va_end(args);
	r->listener.note(r->listener.ctx, &note);
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
	if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
		return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
	return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/*
 * While a recorder runs, and after one that did not finish, a spool folder is next to its output
 * file. That file may be from an earlier recording.
 */
static void note_newer_spool(const struct tap_recording *r)
{
	struct tap_buf head = { 0 };
	struct stat file, spool;

	tap_buf_printf(&head, "%s.spool/head.dat", r->path);
	if (!head.err && !stat(r->path, &file) && !stat(tap_buf_str(&head), &spool) &&
	    is_newer(&spool, &file))
		tap_recording_note(
			r,
			"'%.300s' is an earlier recording: '%.300s.spool' has a newer one, which "
			"still runs or did not finish: read it with -i, or run `schedtap repair`",
			r->path, r->path);
	tap_buf_release(&head);
}

/*
 * Read the description. If it is damaged, the events are still usable, without names. Return: 0;
 * -ENOMEM.
 */
static int read_meta(struct tap_recording *r, struct tap_err *err)
{
	const char *text = tap_reader_info(r->reader)->meta;
	json_error_t why = { 0 };

	if (!*text)
		return 0;
	r->meta = json_loads(text, 0, &why);
	if (json_is_object(r->meta))
		return 0;
	if (!r->meta && json_error_code(&why) == json_error_out_of_memory)
		return tap_err_set(err, -ENOMEM,
				   "cannot read the description of '%.300s': out of memory",
				   r->path);
	tap_recording_note(r, "the description of recording '%s' is damaged and ignored: %s",
			   r->path, r->meta ? "it is not a JSON object" : why.text);
	json_decref(r->meta);
	r->meta = NULL;
	return 0;
}

/* Send the reader's notes about the file as a whole, one per line. */
static void send_file_notes(const struct tap_recording *r)
{
	const char *line = tap_reader_info(r->reader)->notes;
	size_t len;

	for (; *line; line += len + (line[len] != '\0')) {
		len = strcspn(line, "\n");
		if (len)
			tap_recording_note(r, "%.*s", (int)len, line);
	}
}

static uint64_t read_positive(const json_t *object, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(object, key));

	return v > 0 ? (uint64_t)v : 0;
}

static void read_window(struct tap_recording *r)
{
	const json_t *w = json_object_get(r->meta, "window");
	uint64_t end_ns = read_positive(w, "end_ns");

	r->said.from_ns = read_positive(w, "start_ns");
	r->said.to_ns = end_ns ? end_ns : UINT64_MAX;
}

static int read_looks(struct tap_recording *r)
{
	const json_t *running = json_object_get(r->meta, "running");
	json_t *look;
	size_t i;

	r->looks = calloc(json_array_size(running) + 1, sizeof(*r->looks));
	if (!r->looks)
		return -ENOMEM;
	json_array_foreach(running, i, look) {
		json_int_t cpu, tid, ts_ns;

		if (!json_unpack(look, "[I,I,I]", &cpu, &tid, &ts_ns) && cpu >= 0 &&
		    cpu < tap_reader_info(r->reader)->nr_cpus && tid >= 0 && tid < TAP_MAX_TIDS &&
		    ts_ns > 0)
			r->looks[r->nr_looks++] =
				(struct tap_look){ (uint64_t)ts_ns, (int)cpu, (int)tid };
	}
	return 0;
}

/*
 * A recording of schedtap has clock readings from its start and its end; one of another program has
 * only the one in its header.
 */
static void read_clocks(struct tap_recording *r)
{
	const struct tap_reader_info *info = tap_reader_info(r->reader);
	const char *clock = info->nr_buffers ? info->buffers[0].clock : "";
	const char *key = !strcmp(clock, "mono")   ? "monotonic_ns"
			  : !strcmp(clock, "boot") ? "boottime_ns"
						   : "";
	json_t *pair;
	size_t i;

	json_array_foreach(json_object_get(r->meta, "clocks"), i, pair) {
		uint64_t ts_ns = read_positive(pair, key),
			 real_ns = read_positive(pair, "realtime_ns");

		if (ts_ns && real_ns)
			tap_wall_learn(&r->wall, ts_ns, real_ns);
	}
	if (!r->wall.is_known && info->wall_realtime_ns)
		tap_wall_learn(&r->wall, info->wall_ts_ns, info->wall_realtime_ns);
}

/*
 * Linux 4.14 changed what sched_switch records of a state from its bit to its index, but not the
 * print format, which shows an idle kernel thread as traced. Corrected in 4.15 and, for some 4.14
 * kernels, by their distributors.
 */
static void read_states(struct tap_recording *r)
{
	if (!strstr(tap_reader_info(r->reader)->uname, " 4.14."))
		return;
	r->ids.lists.indexed_states = true;
	tap_recording_note(
		r, "Linux 4.14 recorded the numbers of task states instead of their bits: "
		   "prev_state 8 is taken as an idle kernel thread (I), not as a traced task (t)");
}

static int read_all(struct tap_recording *r, const struct tap_listener *listener,
		    struct tap_err *err)
{
	int ret;

	if (listener)
		r->listener = *listener;
	send_file_notes(r);
	ret = read_meta(r, err);
	if (ret)
		return ret;
	read_window(r);
	read_clocks(r);
	ret = read_looks(r) ?:
	      tap_identities_init(&r->ids, r->reader, r->meta) ?:
	      tap_limits_init(&r->limits, r->meta, &r->ids.cgroups);
	read_states(r);
	if (ret == -E2BIG)
		return tap_err_set(err, ret,
				   "'%.300s' is refused: its filter has too many patterns of task "
				   "names or cgroups. It is damaged, or was made to use up time",
				   r->path);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

int tap_recording_open(struct tap_recording *r, const char *const *paths, unsigned int nr,
		       const struct tap_listener *listener, struct tap_err *err)
{
	struct tap_reader_group group = { .paths = paths, .nr = nr };
	int ret = tap_reader_open_files(paths, nr, &group.reader, err);

	*r = (struct tap_recording){ .path = paths[0] };
	return ret ?: tap_recording_adopt(r, &group, listener, err);
}

int tap_recording_adopt(struct tap_recording *r, struct tap_reader_group *group,
			const struct tap_listener *listener, struct tap_err *err)
{
	const char *const *paths = group->paths;
	const unsigned int nr = group->nr;
	int ret;

	*r = (struct tap_recording){ .reader = group->reader, .path = paths[0] };
	group->reader = NULL;
	if (nr > 1 && asprintf(&r->several, "%s and %u more", paths[0], nr - 1) < 0) {
		r->several = NULL;
		return tap_err_nomem(err);
	}
	r->path = r->several ?: r->path;
	ret = read_all(r, listener, err);
	if (!ret)
		note_newer_spool(r);
	return ret;
}

int tap_recording_borrow(struct tap_recording *r, struct tap_reader *reader,
			 const struct tap_listener *listener, struct tap_err *err)
{
	*r = (struct tap_recording){ .reader = reader,
				     .is_borrowed = true,
				     .path = "the recording" };
	return read_all(r, listener, err);
}

void tap_recording_close(struct tap_recording *r)
{
	tap_identities_release(&r->ids);
	tap_limits_release(&r->limits);
	tap_event_kinds_release(&r->kinds);
	json_decref(r->meta);
	free(r->looks);
	free(r->several);
	if (!r->is_borrowed)
		tap_reader_free(r->reader);
	*r = (struct tap_recording){ 0 };
}

static void on_watch(void *ctx)
{
	struct tap_recording *r = ctx;
	uint64_t done, whole;

	tap_reader_position(r->reader, &done, &whole);
	r->listener.progress(r->listener.ctx, r->what, done, whole);
}

void tap_recording_watch(struct tap_recording *r, const char *what)
{
	r->what = what;
	if (r->listener.progress)
		tap_reader_watch(r->reader, on_watch, r);
}

/* ---- times ---- */

int tap_clock_parse(const char *name, enum tap_clock *clock, struct tap_err *err)
{
	static const char *const names[] = {
		[TAP_SHOW_MONO] = "mono",
		[TAP_SHOW_WALL] = "wall",
		[TAP_SHOW_TOD] = "tod",
	};

	for (*clock = TAP_SHOW_MONO; *clock <= TAP_SHOW_TOD; (*clock)++)
		if (!strcmp(name ? name : "mono", names[*clock]))
			return 0;
	return tap_err_set(err, -EINVAL,
			   "--clock: '%.100s' is not one of mono (the recording's own), wall (date "
			   "and time), tod (time of day)",
			   name);
}

int tap_recording_show(struct tap_recording *r, enum tap_clock clock, struct tap_err *err)
{
	r->wall.shown = clock;
	if (clock == TAP_SHOW_MONO || r->wall.is_known)
		return 0;
	return tap_err_set(err, -ENODATA,
			   "--clock: the recording '%.300s' does not contain the wall-clock time",
			   r->path);
}

static uint16_t mark_none(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	(void)fmt;
	return 0;
}

int tap_recording_count(struct tap_recording *r, uint64_t from_ns, uint64_t to_ns,
			struct tap_err *err)
{
	const struct tap_event *const *events;
	int nr;

	tap_reader_rewind(r->reader);
	tap_reader_limit(r->reader, from_ns, to_ns);
	tap_reader_mark(r->reader, mark_none, NULL);
	tap_reader_unmerged(r->reader, true);
	do
		nr = tap_reader_batch(r->reader, &events, err);
	while (nr > 0);
	return nr;
}

/*
 * Find the recording's window. Where the description does not contain it, read the first and the
 * last event.
 */
static int find_range(struct tap_recording *r, struct tap_window *recording, struct tap_err *err)
{
	struct tap_reader_span span;
	int ret;

	*recording = r->said;
	if (recording->from_ns && recording->to_ns != UINT64_MAX)
		return 0;
	ret = tap_recording_count(r, 0, UINT64_MAX, err);
	span = tap_reader_span(r->reader);
	tap_reader_unmerged(r->reader, false);
	tap_reader_mark(r->reader, NULL, NULL);
	tap_reader_rewind(r->reader);
	if (!recording->from_ns && span.first_ns <= span.last_ns)
		recording->from_ns = span.first_ns;
	if (recording->to_ns == UINT64_MAX)
		recording->to_ns =
			span.last_ns > recording->from_ns ? span.last_ns : recording->from_ns;
	return ret;
}

/* Return -ENODATA if @window and @recording do not overlap. */
static int check_overlap(struct tap_recording *r, const struct tap_time_option *w,
			 struct tap_window window, struct tap_window recording, struct tap_err *err)
{
	struct tap_buf b = { 0 };
	int ret;

	if (tap_window_overlaps(&recording, window.from_ns, window.to_ns))
		return 0;
	r->wall.shown = tap_time_option_clock(w) == TAP_SHOW_MONO ? TAP_SHOW_MONO : TAP_SHOW_WALL;
	tap_wall_add(&r->wall, &b, recording.from_ns);
	tap_buf_puts(&b, " to ");
	tap_wall_add(&r->wall, &b, recording.to_ns);
	ret = tap_err_set(
		err, -ENODATA, "%s: '%.100s' lies outside the recording, which covers %s (%.3f s)",
		w->name, w->text, tap_buf_str(&b), (double)tap_window_ns(&recording) / 1e9);
	tap_buf_release(&b);
	return ret;
}

int tap_recording_window(struct tap_recording *r, const struct tap_time_option *w,
			 struct tap_window *out, struct tap_err *err)
{
	struct tap_window recording = r->said;
	int ret = 0;

	if (tap_time_option_needs_range(w))
		ret = find_range(r, &recording, err);
	if (!ret)
		ret = tap_time_option_resolve(w, &r->wall, recording, out, err);
	return ret ? ret : check_overlap(r, w, *out, recording, err);
}

int tap_recording_check_window(struct tap_recording *r, const struct tap_time_option *w,
			       struct tap_window window, struct tap_err *err)
{
	struct tap_window recording;
	int ret = find_range(r, &recording, err);

	return ret ? ret : check_overlap(r, w, window, recording, err);
}
