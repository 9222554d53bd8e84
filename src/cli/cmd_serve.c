// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap serve: live waits and their culprits as metrics for Prometheus. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/text.h"
#include "show/metrics/serve.h"
#include "cli/cmd.h"
#include "cli/notify.h"
#include "cli/signals.h"

struct serve_opts {
	const char *metrics, *cgroups;
	int64_t max_series, max_cgroups;
	bool from_waking;
};

static const struct tap_opt options[] = {
	TAP_OPTION(struct serve_opts, metrics, "metrics", 0, "ADDRESS", TAP_OPT_STRING,
		   "answer at ADDRESS: 127.0.0.1:PORT, [::1]:PORT or unix:PATH; port 0 is any "
		   "free port"),
	TAP_OPTION(struct serve_opts, cgroups, "cgroups", 0, "DEPTH|GLOB", TAP_OPT_STRING,
		   "only cgroups down to this depth, or whose path matches; the others count with "
		   "the nearest ancestor of this kind [all]"),
	TAP_OPT_FROM_WAKING(struct serve_opts, from_waking),
	{ .name = "max-cgroups",
	  .arg = "N",
	  .type = TAP_OPT_INT,
	  .help = "limit of cgroups that have numbers of their own at a time [1024]",
	  .offset = offsetof(struct serve_opts, max_cgroups),
	  .min = 1,
	  .max = 60000 },
	{ .name = "max-series",
	  .arg = "N",
	  .type = TAP_OPT_INT,
	  .help = "limit of series of cgroups in one answer [20000]",
	  .offset = offsetof(struct serve_opts, max_series),
	  .min = 0,
	  .max = INT32_MAX },
	{ 0 },
};

static const struct serve_opts defaults = { .max_series = 20000, .max_cgroups = 1024 };

/* Return: true: the signal was SIGHUP, and all goes on; false: another one. */
static bool is_reload(struct tap_serve *s, int signals)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info) || info.ssi_signo != SIGHUP)
		return false;
	tap_notify("RELOADING=1");
	tap_serve_reload(s);
	tap_notify("READY=1");
	return true;
}

static int serve(struct tap_serve *s, int signals, struct tap_err *err)
{
	int ret;

	puts(tap_serve_address(s));
	fflush(stdout);
	tap_notify("READY=1");
	do {
		ret = tap_serve_run(s, signals, err);
	} while (!ret && is_reload(s, signals));
	tap_notify("STOPPING=1");
	return ret;
}

static int run_serve(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct serve_opts *o = opts;
	struct tap_serve_opts to = { .address = o->metrics,
				     .glob = o->cgroups,
				     .from_waking = o->from_waking,
				     .max_cgroups = (unsigned int)o->max_cgroups,
				     .max_series = (unsigned int)o->max_series };
	struct tap_err err = { 0 };
	struct tap_serve *s = NULL;
	int64_t depth;
	int signals, ret;

	(void)operands;
	(void)rest;
	if (!o->metrics) {
		tap_err_set(&err, -EINVAL, "say where to answer: --metrics 127.0.0.1:9774");
		return tap_cmd_fail(&err, true);
	}
	if (o->cgroups && !tap_text_parse_int(o->cgroups, 1, 64, &depth)) {
		to.depth = (unsigned int)depth;
		to.glob = NULL;
	}
	signals = tap_take_signals(&err);
	ret = signals < 0 ? signals : tap_serve_open(&s, &to, &err);
	ret = ret ?: serve(s, signals, &err);
	tap_serve_close(s);
	if (signals >= 0)
		close(signals);
	return ret ? tap_cmd_fail(&err, true) : TAP_EXIT_OK;
}

const struct tap_cmd tap_cmd_serve = {
	.name = "serve",
	.help = "live waits and their culprits as metrics for Prometheus",
	.exits = "0 stopped by a signal, 1 failed, 2 usage error, 3 no access, no BPF or no "
		 "libmicrohttpd",
	.example = "schedtap serve --metrics 127.0.0.1:9774",
	.opts = options,
	.opts_size = sizeof(struct serve_opts),
	.defaults = &defaults,
	.run = run_serve,
};
