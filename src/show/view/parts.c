// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/view/parts.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"

#define MAX_SLICES 20000u
#define MAX_TASKS 64u

static int parse_number(const char *name, const char *text, int64_t min, int64_t max, int64_t *v,
			struct tap_err *err)
{
	if (!text)
		return tap_err_set(err, -EINVAL, "'%s' is missing", name);
	if (tap_text_parse_int(text, min, max, v))
		return tap_err_set(err, -EINVAL,
				   "bad %s '%.100s': expected a number from %" PRId64
				   " to %" PRId64,
				   name, text, min, max);
	return 0;
}

static int parse_tids(struct tap_part_query *q, const char *text, struct tap_err *err)
{
	uint64_t tid;

	while (text && *text) {
		if (tap_text_take_digits(&text, NULL, 10, &tid) || tid > INT32_MAX ||
		    (*text && *text != ',') || (*text && !text[1]))
			return tap_err_set(err, -EINVAL,
					   "bad tasks: expected thread IDs separated by commas");
		if (q->nr_tids == TAP_PART_MAX_TIDS)
			return tap_err_set(err, -EINVAL,
					   "bad tasks: expected at most %u thread IDs",
					   TAP_PART_MAX_TIDS);
		q->tids[q->nr_tids++] = (int)tid;
		text += *text == ',';
	}
	return 0;
}

int tap_part_query_parse(struct tap_part_query *q, const char *from, const char *to,
			 const char *buckets, const char *tasks, uint64_t window_ns,
			 struct tap_err *err)
{
	int64_t from_ns, to_ns, nr;
	int ret = parse_number("to", to, 0, (int64_t)window_ns, &to_ns, err) ?:
		  parse_number("from", from, 0, to_ns, &from_ns, err) ?:
		  parse_number("buckets", buckets, 1, TAP_DRAWN_BUCKETS, &nr, err);

	if (ret)
		return ret;
	*q = (struct tap_part_query){ .from_ns = (uint64_t)from_ns,
				      .to_ns = (uint64_t)to_ns,
				      .buckets = (unsigned int)nr };
	q->has_most = tasks && !strcmp(tasks, "most");
	return q->has_most ? 0 : parse_tids(q, tasks, err);
}

int tap_parts_open(struct tap_parts *p, const struct tap_input_opts *opts,
		   const struct tap_listener *listener, bool *usage, struct tap_err *err)
{
	int ret;

	*p = (struct tap_parts){ .input = opts, .lock = PTHREAD_MUTEX_INITIALIZER };
	ret = tap_run_input(&p->run, opts, listener, usage, err) ?: tap_run_survey(&p->run, err);
	if (!ret && tap_lanes_init(&p->lanes, &p->run))
		ret = tap_err_nomem(err);
	tap_recording_note_incomplete(&p->run.rec);
	/* from now on no user at a terminal waits for notes or progress */
	p->run.rec.listener = (struct tap_listener){ 0 };
	if (p->run.rec.reader)
		tap_reader_watch(p->run.rec.reader, NULL, NULL);
	return ret;
}

void tap_parts_close(struct tap_parts *p)
{
	tap_buf_release(&p->whole);
	tap_lanes_release(&p->lanes);
	tap_run_close(&p->run);
}

static int draw_part(struct tap_parts *p, struct tap_run *run, const struct tap_part_query *q,
		     struct tap_buf *out, struct tap_err *err)
{
	const struct tap_drawn_opts opts = {
		.origin_ns = p->run.window.from_ns,
		.lanes = &p->lanes,
		.max_slices = MAX_SLICES,
		.one_level = run != &p->run,
		.buckets = q->buckets,
		.tids = q->tids,
		.nr_tids = q->nr_tids,
		.max_tasks = q->has_most ? MAX_TASKS : 0,
		.has_curves = q->has_most,
	};

	return tap_drawn_part(run, &opts, out, NULL, err);
}

/* Call it with the lock held. */
static void make_whole(struct tap_parts *p)
{
	const struct tap_part_query q = { .buckets = TAP_DRAWN_BUCKETS };

	if (!p->is_prepared)
		draw_part(p, &p->run, &q, &p->whole, &p->failed);
	p->is_prepared = true;
}

void tap_parts_prepare(struct tap_parts *p)
{
	pthread_mutex_lock(&p->lock);
	make_whole(p);
	pthread_mutex_unlock(&p->lock);
}

/* Return true if the query is for the whole window, without tasks. */
static bool is_whole(const struct tap_parts *p, const struct tap_part_query *q)
{
	return !q->from_ns && q->to_ns == tap_window_ns(&p->run.window) && !q->nr_tids &&
	       !q->has_most;
}

static int put_whole(struct tap_parts *p, struct tap_buf *out, struct tap_err *err)
{
	make_whole(p);
	tap_buf_add(out, p->whole.data, p->whole.len);
	*err = p->failed;
	return p->failed.code;
}

/* Append the window as an argument for --time. */
static void put_window(struct tap_buf *out, uint64_t from_ns, uint64_t to_ns)
{
	tap_text_ns(out, from_ns);
	tap_buf_char(out, ',');
	tap_text_ns(out, to_ns);
}

static int read_part(struct tap_parts *p, const struct tap_part_query *q, struct tap_buf *out,
		     struct tap_err *err)
{
	const uint64_t origin_ns = p->run.window.from_ns;
	struct tap_buf window = { 0 };
	struct tap_run run;
	int ret;

	put_window(&window, origin_ns + q->from_ns, origin_ns + q->to_ns);
	ret = tap_run_borrow(&run, p->run.rec.reader, p->run.pick.select, tap_buf_str(&window),
			     NULL, err) ?:
	      tap_run_survey(&run, err) ?:
	      draw_part(p, &run, q, out, err);
	tap_run_close(&run);
	tap_buf_release(&window);
	return ret;
}

int tap_parts_get(struct tap_parts *p, const struct tap_part_query *q, bool (*is_gone)(void *ctx),
		  void *ctx, struct tap_buf *out, struct tap_err *err)
{
	int ret = 0;

	pthread_mutex_lock(&p->lock);
	if (is_gone(ctx))
		ret = tap_err_set(err, -ECANCELED, "the browser cancelled the request");
	else if (is_whole(p, q))
		ret = put_whole(p, out, err);
	else
		ret = read_part(p, q, out, err);
	pthread_mutex_unlock(&p->lock);
	return ret;
}
