// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap view: serve a recording as a page to the user's browser, for as long as the page is
 * open.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "show/view/view.h"
#include "cli/cmd_report.h"
#include "cli/signals.h"

struct view_opts {
	struct tap_input_opts input;
	int64_t port; /* 0: any free port */
	bool no_browser;
};

static const struct tap_opt options[] = { TAP_OPT_ROWS(tap_input_task_options),
					  TAP_OPT_CPUS(struct view_opts, input.select.cpus),
					  TAP_OPT_WINDOW(struct view_opts, input.window),
					  { .name = "port",
					    .arg = "N",
					    .type = TAP_OPT_INT,
					    .help = "serve the page on this port [a free port]",
					    .offset = offsetof(struct view_opts, port),
					    .min = 1,
					    .max = UINT16_MAX },
					  TAP_OPTION(struct view_opts, no_browser, "no-browser", 0,
						     NULL, TAP_OPT_FLAG,
						     "print the address without opening a browser"),
					  { 0 } };

static int serve_page(struct tap_view *v, const struct view_opts *o, struct tap_err *err)
{
	int signals = tap_take_signals(err);
	int ret = signals < 0 ? signals : tap_view_start(v, err);

	if (!ret) {
		puts(tap_view_address(v));
		fflush(stdout);
		fputs("schedtap: ends when the page is closed, or by Ctrl-C\n", stderr);
		if (!o->no_browser)
			tap_view_browse(v);
		tap_view_wait(v, signals);
	}
	if (signals >= 0)
		close(signals);
	return ret;
}

static int run_view(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct view_opts *o = opts;
	struct tap_progress progress = { 0 };
	const struct tap_listener listener = tap_cmd_listener(&progress);
	struct tap_view *v;
	struct tap_err err = { 0 };
	bool usage;
	int ret = tap_view_open(&v, &o->input, (uint16_t)o->port, &listener, &usage, &err);

	(void)operands;
	(void)rest;
	tap_progress_erase(&progress);
	ret = ret ?: serve_page(v, o, &err);
	ret = ret ? tap_cmd_fail(&err, usage) : TAP_EXIT_OK;
	if (!tap_view_close(v)) /* threads are still running: let the kernel clean up */
		_exit(ret);
	return ret;
}

const struct tap_cmd tap_cmd_view = {
	.name = "view",
	.help = "open a recording of any size in the browser",
	.exits = "0 the page was closed, 1 failed, 2 usage error, 3 no access, unknown format or "
		 "no libmicrohttpd",
	.operands = TAP_CMD_FILE,
	.example = "schedtap view --no-browser",
	.opts = options,
	.opts_size = sizeof(struct view_opts),
	.run = run_view,
};
