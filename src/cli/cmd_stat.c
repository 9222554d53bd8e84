// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap stat: run a command, and print how it was scheduled when it ends. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "show/top/top.h"
#include "cli/child.h"
#include "cli/cmd.h"

#define MAX_CGROUPS 1024u

struct stat_opts {
	const char *output;
	bool json, from_waking;
};

static const struct tap_opt options[] = {
	TAP_OPT_OUTPUT(struct stat_opts, output, "standard error; with --json standard output"),
	TAP_OPT_FROM_WAKING(struct stat_opts, from_waking),
	TAP_OPTION(struct stat_opts, json, "json", 0, NULL, TAP_OPT_FLAG,
		   "print a JSON object, times in nanoseconds"),
	{ 0 },
};

/* In the command's process, which then waits: from then on it counts. */
static void join(void *tally)
{
	if (!tap_tally_join(tally))
		return;
	fprintf(stderr, "schedtap: cannot mark the command's process: %s\n", strerror(errno));
	_exit(TAP_EXIT_FAILED);
}

/* As in perf stat, Ctrl-C is for the command, whose numbers are printed then. */
static int run_to_end(struct tap_child *c, struct tap_err *err)
{
	int ret;

	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN); /* the command may be killed before it runs */
	ret = tap_child_go(c, err);
	while (!ret && waitid(P_PID, (id_t)c->pid, NULL, WEXITED | WNOWAIT) && errno == EINTR)
		;
	return ret;
}

static int print(const struct stat_opts *o, const struct tap_top_stat *s, struct tap_err *err)
{
	FILE *f = o->output ? fopen(o->output, "we") : o->json ? stdout : stderr;
	struct tap_buf out = { 0 };
	int ret;

	if (!f)
		return tap_err_set(err, -errno, "cannot write '%s': %m", o->output);
	(o->json ? tap_top_stat_json : tap_top_stat)(&out, s);
	ret = out.err;
	if (!ret && fwrite(out.data, 1, out.len, f) != out.len)
		ret = -errno;
	tap_buf_release(&out);
	if ((o->output ? fclose(f) : fflush(f)) && !ret)
		ret = -errno;
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the numbers: %m") : 0;
}

static int count(const struct stat_opts *o, struct tap_tally *t, struct tap_child *c,
		 char **command, struct tap_err *err)
{
	struct tap_top_stat s = { .command = command };
	struct tap_tally_view view;
	int ret = tap_child_fork(c, command, join, t, err);

	ret = ret ?: tap_tally_read(t, &view, err); /* what was before it began */
	ret = ret ?: run_to_end(c, err) ?: tap_tally_read(t, &view, err);
	tap_child_reap(c);
	if (ret || tap_child_was_not_run(c))
		return ret;
	s.view = &view;
	s.exit_code = tap_child_exit_code(c);
	return print(o, &s, err);
}

static int run_stat(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct stat_opts *o = opts;
	const struct tap_tally_opts tally = { .max_cgroups = MAX_CGROUPS,
					      .from_waking = o->from_waking,
					      .has_command = true };
	struct tap_child child = TAP_CHILD_NONE;
	struct tap_tally *t = NULL;
	struct tap_err err = { 0 };
	int ret;

	(void)operands;
	if (!rest || !*rest) {
		tap_err_set(&err, -EINVAL, "name a command: schedtap stat make");
		return tap_cmd_fail(&err, true);
	}
	ret = tap_tally_open(&t, &tally, &err) ?: count(o, t, &child, rest, &err);
	tap_tally_close(t);
	return ret ? tap_cmd_fail(&err, false) : tap_child_exit_code(&child);
}

const struct tap_cmd tap_cmd_stat = {
	.name = "stat",
	.help = "a command's waits and their culprits, when it ends",
	.exits = "the command's; 126 or 127 it could not be run, 1 failed, 2 usage error, 3 no "
		 "access, or BPF is not available",
	.operands = TAP_CMD_COMMAND,
	.example = "schedtap stat sleep 0.1",
	.opts = options,
	.opts_size = sizeof(struct stat_opts),
	.run = run_stat,
};
