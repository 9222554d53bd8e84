// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap summary: what happened, on one page. */
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "analysis/pick.h"
#include "cli/cmd.h"
#include "cli/input.h"
#include "out/out.h"

struct summary_opts {
	const char *input, *window;
	int64_t top;
	bool json;
};

static const struct tap_opt summary_opts[] = {
	TAP_OPT_INPUT(struct summary_opts, input),
	TAP_OPT_WINDOW(struct summary_opts, window),
	{ "number", 'n', "N", "show the N tasks that ran most [10]", TAP_OPT_INT,
	  offsetof(struct summary_opts, top), .min = 0, .max = INT_MAX },
	TAP_OPT_JSON(struct summary_opts, json),
	{ 0 }
};

/* The window of the recording, if it says one, within --time. */
static void find_window(const json_t *meta, uint64_t *start_ns, uint64_t *end_ns)
{
	const json_t *w = json_object_get(meta, "window");
	json_int_t start = json_integer_value(json_object_get(w, "start_ns"));
	json_int_t end = json_integer_value(json_object_get(w, "end_ns"));

	if (start > 0 && (uint64_t)start > *start_ns)
		*start_ns = (uint64_t)start;
	if (end > 0 && (uint64_t)end < *end_ns)
		*end_ns = (uint64_t)end;
	if (*end_ns == UINT64_MAX)
		*end_ns = 0; /* the last event's time */
}

static int read_all(struct tap_reader *r, struct tap_summary *s, struct tap_err *err)
{
	struct tap_event ev;
	int ret;

	while ((ret = tap_reader_next(r, &ev, err)) > 0) {
		if (tap_summary_event(s, &ev))
			return tap_err_set(err, -ENOMEM, "out of memory");
	}
	if (!ret && tap_summary_end(s))
		return tap_err_set(err, -ENOMEM, "out of memory");
	return ret;
}

static int print(struct tap_input *in, const struct summary_opts *o, const struct tap_summary *s,
		 struct tap_err *err)
{
	struct tap_summary_page page = {
		.file = o->input, .info = tap_reader_info(in->reader), .meta = in->meta,
		.who = &in->who, .summary = s, .top = (unsigned int)o->top,
	};
	struct tap_buf b = { 0 };
	int ret;

	if (o->json)
		tap_out_summary_json(&b, &page);
	else
		tap_out_summary_text(&b, &page);
	ret = b.err ? b.err : tap_write_all(STDOUT_FILENO, b.data, b.len);
	tap_buf_release(&b);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the summary: %m") : 0;
}

static int summarise(struct tap_input *in, const struct summary_opts *o, uint64_t start_ns,
		     uint64_t end_ns, struct tap_err *err)
{
	struct tap_summary *s;
	int ret;

	/* what lies before the window tells what ran when it began */
	tap_reader_limit(in->reader, 0, end_ns);
	find_window(in->meta, &start_ns, &end_ns);
	if (tap_summary_new(start_ns, end_ns, &s))
		return tap_err_set(err, -ENOMEM, "out of memory");
	ret = read_all(in->reader, s, err);
	if (!ret)
		ret = print(in, o, s, err);
	tap_summary_free(s);
	return ret;
}

static int run_summary(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct summary_opts *o = opts;
	uint64_t start_ns, end_ns;
	struct tap_err err = { 0 };
	struct tap_input in;
	int ret;

	(void)operands;
	(void)rest;
	if (tap_pick_window(o->window, &start_ns, &end_ns, &err))
		return tap_cmd_fail(&err, true);
	if (tap_input_open(&in, o->input, &err))
		return tap_cmd_fail(&err, false);
	ret = summarise(&in, o, start_ns, end_ns, &err);
	tap_input_close(&in);
	return ret ? tap_cmd_fail(&err, false) : TAP_EXIT_OK;
}

const struct tap_cmd tap_cmd_summary = {
	.name = "summary",
	.help = "one page: what happened",
	.example = "schedtap summary -i demo/trace.dat -n 20",
	.opts = summary_opts,
	.opts_size = sizeof(struct summary_opts),
	.defaults = &(const struct summary_opts){ .input = TAP_INPUT_DEFAULT, .top = 10 },
	.run = run_summary,
};
