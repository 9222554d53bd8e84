// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/help.h"

#include <errno.h>

#include "cli/screen.h"

#define REPORT_EXITS                                                                               \
	"0 done, 1 failed, or nothing matches, 2 usage error, 3 no access or unknown format"

void tap_help_overview(FILE *to)
{
	fputs("usage: schedtap COMMAND [OPTIONS]\n", to);
	for (const struct tap_cmd_row *row = tap_cmd_rows; row->title || row->cmd; row++) {
		if (row->title)
			fprintf(to, "\n%s:\n", row->title);
		else if (!row->cmd->hidden)
			fprintf(to, "  %-10s %s\n", row->cmd->name, row->cmd->help);
	}
	fputs("\n'schedtap help COMMAND' prints a command's options and an example, 'schedtap "
	      "--version' the version.\n",
	      to);
}

void tap_help_cmd(const struct tap_cmd *cmd)
{
	struct tap_buf out = { 0 };

	tap_screen_page();
	tap_buf_printf(&out, "usage: schedtap %s%s%s%s\n\n%s\n", cmd->name,
		       !TAP_OPT_END(cmd->opts) ? " [OPTIONS]" : "", cmd->operands ? " " : "",
		       cmd->operands ? cmd->operands : "", cmd->help);
	if (!TAP_OPT_END(cmd->opts)) {
		tap_buf_puts(&out, "\noptions:\n");
		tap_opt_help(cmd->opts, &out);
	}
	if (cmd->example)
		tap_buf_printf(&out, "\nexample: %s\n", cmd->example);
	tap_buf_printf(&out, "\nexit codes: %s\n", cmd->exits ?: REPORT_EXITS);
	fwrite(out.data, 1, out.len, stdout);
	tap_buf_release(&out);
}

/*
 * Return true for commands of perf and trace-cmd. The nearest name to `report` would be `record`,
 * which would overwrite trace.dat.
 */
static bool is_of_others(const char *name)
{
	return !strcmp(name, "report") || !strcmp(name, "script");
}

int tap_help_unknown(const char *name, struct tap_err *err)
{
	const char *nearest = NULL;

	if (is_of_others(name))
		return tap_err_set(err, -EINVAL,
				   "unknown command '%s': 'schedtap summary' prints an overview, "
				   "'schedtap dump' prints all events",
				   name);
	tap_cmd_for_each(c) {
		const char *pair[] = { nearest, c->name };

		if (!c->hidden)
			nearest = tap_nearest(name, nearest ? pair : pair + 1, nearest ? 2 : 1);
	}
	if (!nearest)
		return tap_err_set(err, -EINVAL, "unknown command '%s': see 'schedtap help'", name);
	return tap_err_set(err, -EINVAL, "unknown command '%s': did you mean '%s'?", name, nearest);
}

/* Return the command that @operands names; NULL with @err set. */
static const struct tap_cmd *operand_command(const struct tap_strings *operands,
					     struct tap_err *err)
{
	const struct tap_cmd *cmd;

	if (operands->nr != 1) {
		tap_err_set(err, -EINVAL,
			    "expected the name of one command, as in 'schedtap help record'");
		return NULL;
	}
	cmd = tap_cmd_find(operands->v[0]);
	if (!cmd)
		tap_help_unknown(operands->v[0], err);
	return cmd;
}

static int run_help(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct tap_cmd *cmd;
	struct tap_err err = { 0 };

	(void)opts;
	(void)rest;
	if (!operands->nr) {
		tap_screen_page();
		tap_help_overview(stdout);
		return TAP_EXIT_OK;
	}
	cmd = operand_command(operands, &err);
	if (!cmd)
		return tap_cmd_fail(&err, true);
	tap_help_cmd(cmd);
	return TAP_EXIT_OK;
}

#define MAN_INDENT 4u
#define MAN_COLUMNS 100u

/* Append a definition list's paragraph in Markdown, with Markdown's special characters escaped. */
static void add_definition(struct tap_buf *out, const char *text)
{
	size_t line = out->len, word;

	tap_buf_puts(out, ":  ");
	while (*text) {
		tap_buf_char(out, ' ');
		word = out->len;
		for (; *text && *text != ' '; text++) {
			if (strchr("\\`*_[]<>|", *text))
				tap_buf_char(out, '\\');
			tap_buf_char(out, *text);
		}
		if (!out->err && out->len - line > MAN_COLUMNS) {
			out->data[word - 1] = '\n';
			tap_buf_blanks(out, MAN_INDENT);
			memmove(out->data + word + MAN_INDENT, out->data + word,
				out->len - MAN_INDENT - word);
			memset(out->data + word, ' ', MAN_INDENT);
			line = word;
		}
		text += *text == ' ';
	}
	tap_buf_puts(out, "\n\n");
}

static int run_man_options(void *opts, const struct tap_strings *operands, char **rest)
{
	struct tap_buf out = { 0 };
	const struct tap_cmd *cmd;
	struct tap_err err = { 0 };

	(void)opts;
	(void)rest;
	cmd = operand_command(operands, &err);
	if (!cmd)
		return tap_cmd_fail(&err, true);
	tap_opt_for_each(w, cmd->opts) {
		if (w.o->letter)
			tap_buf_printf(&out, "`-%c`, ", w.o->letter);
		tap_buf_printf(&out, "`--%s`", w.o->name);
		if (w.o->arg)
			tap_buf_printf(&out, " *%s*", w.o->arg);
		tap_buf_puts(&out, "\n\n");
		add_definition(&out, w.o->help);
	}
	fputs(tap_buf_str(&out), stdout);
	tap_buf_release(&out);
	return TAP_EXIT_OK;
}

const struct tap_cmd tap_cmd_help = {
	.name = "help",
	.help = "help for a command and its options",
	.exits = "0 done, 2 no such command",
	.operands = "[COMMAND]",
	.example = "schedtap help record",
	.run = run_help,
};

const struct tap_cmd tap_cmd_man_options = {
	.name = "__man-options",
	.help = "a command's options for its manual page",
	.operands = "COMMAND",
	.hidden = true,
	.run = run_man_options,
};
