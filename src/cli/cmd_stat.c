// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap stat: run a command, and print how it was scheduled when it ends. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
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

/* Print what is in @out. */
static int print(const struct stat_opts *o, const struct tap_buf *out, struct tap_err *err)
{
	FILE *f = o->output ? fopen(o->output, "we") : o->json ? stdout : stderr;
	int ret;

	if (!f)
		return tap_err_set(err, -errno, "cannot write '%s': %m", o->output);
	ret = out->err;
	if (!ret && fwrite(out->data, 1, out->len, f) != out->len)
		ret = -errno;
	if ((o->output ? fclose(f) : fflush(f)) && !ret)
		ret = -errno;
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot write the numbers: %m") : 0;
}

static int count(const struct stat_opts *o, struct tap_tally *t, struct tap_child *c,
		 char **command, struct tap_err *err)
{
	struct tap_top_stat s = { .command = command };
	struct tap_buf out = { 0 };
	struct tap_tally_view view;
	int ret = tap_child_fork(c, command, join, t, err);

	ret = ret ?: tap_tally_read(t, &view, err); /* what was before it began */
	ret = ret ?: run_to_end(c, err) ?: tap_tally_read(t, &view, err);
	tap_child_reap(c);
	if (ret || tap_child_was_not_run(c))
		return ret;
	s.view = &view;
	s.exit_code = tap_child_exit_code(c);
	(o->json ? tap_top_stat_json : tap_top_stat)(&out, &s);
	ret = print(o, &out, err);
	tap_buf_release(&out);
	return ret;
}

/* ---- without the tally ---- */

static void join_nothing(void *ctx)
{
	(void)ctx;
}

/* The process has ended, but is not reaped. Return: 0; -errno. */
static int read_main_thread(pid_t pid, struct tap_proc_schedstat *s)
{
	struct tap_buf text = { .max = 4096 };
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	ret = tap_buf_read_file(&text, path);
	ret = ret ?: tap_proc_parse_schedstat(tap_buf_str(&text), s);
	tap_buf_release(&text);
	return ret;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static int measure(const struct stat_opts *o, const char *why, struct tap_child *c, char **command,
		   struct tap_err *err)
{
	struct tap_top_usage u = { .command = command, .why = why };
	struct tap_buf out = { 0 };
	int ret = tap_child_fork(c, command, join_nothing, NULL, err);

	u.elapsed_ns = tap_now_ns();
	ret = ret ?: run_to_end(c, err);
	u.elapsed_ns = tap_now_ns() - u.elapsed_ns;
	u.main_thread_err = read_main_thread(c->pid, &u.main_thread);
	tap_child_reap(c);
	if (ret || tap_child_was_not_run(c))
		return ret;
	u.exit_code = tap_child_exit_code(c);
	u.run_ns = timeval_ns(c->usage.ru_utime) + timeval_ns(c->usage.ru_stime);
	u.voluntary = (uint64_t)c->usage.ru_nvcsw;
	u.involuntary = (uint64_t)c->usage.ru_nivcsw;
	(o->json ? tap_top_usage_json : tap_top_usage)(&out, &u);
	ret = print(o, &out, err);
	tap_buf_release(&out);
	return ret;
}

static int run_stat(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct stat_opts *o = opts;
	const struct tap_tally_opts tally = { .max_cgroups = MAX_CGROUPS,
					      .from_waking = o->from_waking,
					      .has_command = true };
	struct tap_child child = TAP_CHILD_NONE;
	struct tap_tally *t = NULL;
	struct tap_err why = { 0 }, err = { 0 };
	int ret;

	(void)operands;
	if (!rest || !*rest) {
		tap_err_set(&err, -EINVAL, "name a command: schedtap stat make");
		return tap_cmd_fail(&err, true);
	}
	ret = tap_tally_open(&t, &tally, &why);
	if (!ret)
		ret = count(o, t, &child, rest, &err);
	else if (tap_cmd_without_tally(&why, o->from_waking))
		ret = measure(o, why.text, &child, rest, &err);
	else
		err = why;
	tap_tally_close(t);
	return ret ? tap_cmd_fail(&err, false) : tap_child_exit_code(&child);
}

const struct tap_cmd tap_cmd_stat = {
	.name = "stat",
	.help = "a command's waits and their culprits, when it ends",
	.exits = "the command's; 126 or 127 it could not be run, 1 failed, 2 usage error, 3 "
		 "--from-waking: no access, or BPF is not available",
	.operands = TAP_CMD_COMMAND,
	.example = "schedtap stat sleep 0.1",
	.opts = options,
	.opts_size = sizeof(struct stat_opts),
	.run = run_stat,
};
