// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/cmd_report.h"
#include "cli/help.h"
#include "cli/screen.h"

static int check_words(const struct tap_cmd *cmd, const struct tap_strings *operands, char **rest,
		       struct tap_err *err)
{
	const char *takes = cmd->operands ? cmd->operands : "";

	if (operands->nr && (!*takes || !strncmp(takes, "--", 2)))
		return tap_err_set(err, -EINVAL, "unexpected word '%s': see 'schedtap help %s'",
				   operands->v[0], cmd->name);
	if (rest && !strstr(takes, "--"))
		return tap_err_set(err, -EINVAL, "unexpected '--': see 'schedtap help %s'",
				   cmd->name);
	return 0;
}

/*
 * Return the address at which the command stores the option's value; NULL: it has no such option.
 */
static void *option_of(const struct tap_cmd *cmd, void *opts, const char *name)
{
	tap_opt_for_each(w, cmd->opts)
		if (!strcmp(w.o->name, name))
			return (char *)opts + w.o->offset;
	return NULL;
}

static bool takes_operands(const struct tap_cmd *cmd, const char *operands)
{
	return cmd->operands && !strcmp(cmd->operands, operands);
}

static bool file_exists(const char *path)
{
	return !access(path, F_OK);
}

/* A recording that does not exist must not be taken for the name of a task. */
static bool looks_like_recording(const char *word)
{
	const char *dot = strrchr(word, '.');

	if (!strcmp(word, "-")) /* standard input */
		return true;
	return dot && (!strcmp(dot, ".dat") || !strcmp(dot, ".data") || !strcmp(dot, ".spool"));
}

/*
 * Take a first operand that is not a recording: a model, or a task. The first of several operands
 * is a task unless it looks like a recording's name; a single one only if it is not a file and
 * there is a recording to read. Return: the number of operands taken, 0 or 1; -ENOMEM.
 */
static int take_first(const struct tap_cmd *cmd, void *opts, const struct tap_strings *operands,
		      bool has_input)
{
	const char *word = operands->nr ? operands->v[0] : NULL;
	bool is_tid = word && *word && !word[strspn(word, "0123456789")];

	if (word && takes_operands(cmd, TAP_CMD_MODEL)) {
		*(const char **)option_of(cmd, opts, "model") = word;
		return 1;
	}
	if (!word || !takes_operands(cmd, TAP_CMD_TASK))
		return 0;
	if (looks_like_recording(word))
		return 0;
	if (operands->nr == 1 && !has_input &&
	    (strchr(word, '/') || file_exists(word) || !file_exists(TAP_INPUT_DEFAULT)))
		return 0;
	return tap_strings_add(option_of(cmd, opts, is_tid ? "tid" : "comm"), word) ?: 1;
}

/*
 * Whoever can write to the current folder may have put a FIFO there, whose data would be waited
 * for.
 */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int take_words(const struct tap_cmd *cmd, void *opts, const struct tap_strings *operands,
		      struct tap_err *err)
{
	struct tap_strings *input = option_of(cmd, opts, "input");
	int ret;

	if (!takes_operands(cmd, TAP_CMD_FILE) && !takes_operands(cmd, TAP_CMD_TASK) &&
	    !takes_operands(cmd, TAP_CMD_MODEL))
		return 0;
	ret = take_first(cmd, opts, operands, input->nr);
	for (unsigned int i = (unsigned int)ret; ret >= 0 && i < operands->nr; i++)
		ret = tap_strings_add(input, operands->v[i]);
	if (ret >= 0 && !input->nr) {
		if (is_special(TAP_INPUT_DEFAULT))
			return tap_err_set(err, -EINVAL,
					   "'" TAP_INPUT_DEFAULT "' is not a regular file: give "
					   "its name to read it");
		ret = tap_strings_add(input, TAP_INPUT_DEFAULT);
	}
	return ret < 0 ? tap_err_set(err, ret, "out of memory") : 0;
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

static int run_cmd(const struct tap_cmd *cmd, int argc, char **argv)
{
	bool command = takes_operands(cmd, TAP_CMD_COMMAND);
	void *opts = calloc(1, cmd->opts_size + 1);
	struct tap_strings operands;
	struct tap_err err = { 0 };
	char **rest;
	int ret;

	if (!opts) {
		tap_err_nomem(&err);
		return tap_cmd_fail(&err, false);
	}
	if (cmd->defaults)
		memcpy(opts, cmd->defaults, cmd->opts_size);
	ret = tap_opt_parse(cmd->opts, opts, argc, argv, command, &operands, &rest, &err);
	/* ignore --help in the arguments of a recorded command */
	if (wants_help(rest ? (int)(rest - argv) : argc, argv)) {
		tap_help_cmd(cmd);
		ret = TAP_EXIT_OK;
	} else if (ret || check_words(cmd, &operands, rest, &err) ||
		   take_words(cmd, opts, &operands, &err)) {
		ret = tap_cmd_fail(&err, true);
	} else {
		ret = cmd->run ? cmd->run(opts, &operands, rest) : tap_cmd_report(cmd, opts);
	}
	tap_opt_release(cmd->opts, opts);
	tap_strings_release(&operands);
	free(opts);
	return ret;
}

/* Handle a first word that is not a command's name. */
static int run_word(const char *word)
{
	struct tap_err err = { 0 };

	if (!strcmp(word, "--version")) {
		puts("schedtap " TAP_VERSION);
		return TAP_EXIT_OK;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		tap_screen_page();
		tap_help_overview(stdout);
		return TAP_EXIT_OK;
	}
	if (*word == '-')
		tap_err_set(&err, -EINVAL, "unknown option '%s': see 'schedtap help'", word);
	else
		tap_help_unknown(word, &err);
	return tap_cmd_fail(&err, true);
}

/*
 * Return true if stdout is a pipe whose reader has gone, as with `| head`: that is not a failure.
 */
static bool reader_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

static int finish_output(int code)
{
	struct tap_err err = { 0 };
	bool failed = ferror(stdout);

	errno = EIO; /* ferror() does not keep the reason for an earlier failure */
	if (fflush(stdout))
		failed = true;
	if (!failed || reader_gone())
		return code;
	tap_err_set(&err, -errno, "cannot write to standard output: %m");
	tap_cmd_fail(&err, false);
	return code ? code : TAP_EXIT_FAILED;
}

int tap_cli_run(int argc, char **argv)
{
	const struct tap_cmd *cmd;
	int code;

	/* make write() fail with EFBIG at the file size limit, instead of killing us */
	signal(SIGXFSZ, SIG_IGN);
	if (argc < 2) {
		tap_help_overview(stderr);
		return TAP_EXIT_USAGE;
	}
	cmd = tap_cmd_find(argv[1]);
	code = finish_output(cmd ? run_cmd(cmd, argc - 2, argv + 2) : run_word(argv[1]));
	tap_screen_end();
	return code;
}
