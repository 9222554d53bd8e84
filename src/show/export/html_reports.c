// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/export/html_reports.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "show/export/json_cut.h"

extern const struct tap_report_type tap_report_summary, tap_report_explain, tap_report_latency,
	tap_report_balance, tap_report_wakers, tap_report_migrations;

#define MAX_WORDS 4u

static const struct {
	const char *name;
	const struct tap_report_type *type;
	const char *words[MAX_WORDS]; /* options in addition to --json */
} reports[] = {
	{ "summary", &tap_report_summary, { 0 } },
	{ "explain", &tap_report_explain, { 0 } },
	{ "latency", &tap_report_latency, { "--over-time", "--hist" } },
	{ "balance", &tap_report_balance, { 0 } },
	{ "wakers", &tap_report_wakers, { 0 } },
	{ "migrations", &tap_report_migrations, { 0 } },
	{ "cgroups", &tap_report_explain, { "--by", "cgroup" } },
};

const char *tap_html_report_name(unsigned int i)
{
	return i < sizeof(reports) / sizeof(*reports) ? reports[i].name : NULL;
}

int tap_html_report_check(unsigned int i, const struct tap_run *run, struct tap_err *err)
{
	return tap_run_check_needs(run, reports[i].type->needs, err);
}

/* Return: the report's options struct, as if .words had been typed; NULL with -errno in @err. */
static void *make_opts(unsigned int i, const struct tap_input_opts *input, struct tap_err *err)
{
	const struct tap_cmd *cmd = &reports[i].type->cmd;
	char *words[MAX_WORDS + 1] = { 0 };
	struct tap_strings operands = { 0 };
	void *opts = calloc(1, cmd->opts_size);
	char **rest;
	int nr = 0;

	while (nr < (int)MAX_WORDS && reports[i].words[nr]) {
		words[nr] = (char *)reports[i].words[nr];
		nr++;
	}
	if (!opts) {
		tap_err_nomem(err);
		return NULL;
	}
	if (cmd->defaults)
		memcpy(opts, cmd->defaults, cmd->opts_size);
	if (tap_opt_parse(cmd->opts, opts, nr, words, false, &operands, &rest, err)) {
		free(opts);
		opts = NULL;
	} else {
		((struct tap_report_opts *)opts)->input = *input;
		((struct tap_report_opts *)opts)->input.style = &tap_style_json;
	}
	tap_strings_release(&operands);
	return opts;
}

static int read_back(int fd, struct tap_buf *json, struct tap_err *err)
{
	struct tap_json_cut cut = { .out = json, .rows = TAP_HTML_ROWS };
	char bytes[16 << 10];
	off_t at = 0;
	ssize_t n;
	int ret;

	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		tap_json_cut_add(&cut, bytes, (size_t)n);
		at += n;
	}
	ret = tap_json_cut_end(&cut) ?: n < 0 ? -errno : 0;
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot read back a report for the HTML page: %m") : 0;
}

int tap_html_report_run(unsigned int i, const struct tap_input_opts *input,
			const struct tap_listener *listener, struct tap_buf *json,
			struct tap_err *err)
{
	struct tap_screen screen = { .fd = memfd_create("report", MFD_CLOEXEC) };
	struct tap_report *report = NULL;
	void *opts;
	int ret;

	if (screen.fd < 0)
		return tap_err_set(err, -errno,
				   "cannot create a memory file for a report of the HTML page: %m");
	if (listener)
		screen.listener = *listener;
	opts = make_opts(i, input, err);
	ret = opts ? tap_report_run(reports[i].type, opts, &screen, &report, err) : err->code;
	if (!ret)
		ret = read_back(screen.fd, json, err);
	tap_report_free(report);
	free(opts);
	close(screen.fd);
	return ret;
}
