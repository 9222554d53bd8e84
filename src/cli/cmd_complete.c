// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Shell completion (tools/schedtap.bash): print one candidate per line. The shell completes file
 * names itself.
 */
#include <stdio.h>

#include "event/defs.h"
#include "cli/cmd.h"

static void offer_word(const char *word, const char *system, const char *colon, const char *name)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s", system, colon, name);
	if (!strncmp(text, word, strlen(word)))
		puts(text);
}

static void offer_commands(const char *word)
{
	tap_cmd_for_each(c)
		if (!c->hidden)
			offer_word(word, "", "", c->name);
}

static void offer_options(const struct tap_cmd *cmd, const char *word)
{
	tap_opt_for_each(w, cmd->opts)
		offer_word(word, "", "--", w.o->name);
	offer_word(word, "", "--", "help");
}

static void offer_events(const char *word)
{
	const struct tap_def *def;
	const char *group = "";

	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		if (def->form_of)
			continue;
		if (strchr(word, ':')) {
			offer_word(word, def->system, ":", def->name);
			continue;
		}
		if (strcmp(group, def->group)) /* the definitions are sorted by group */
			offer_word(word, "", "", def->group);
		offer_word(word, "", "", def->name);
		group = def->group;
	}
}

/* Return the option whose value follows @word, or NULL. */
static const struct tap_opt *option_awaiting(const struct tap_cmd *cmd, const char *word)
{
	tap_opt_for_each(w, cmd->opts) {
		if (w.o->arg && !strncmp(word, "--", 2) && !strcmp(word + 2, w.o->name))
			return w.o;
		if (w.o->arg && w.o->letter && word[0] == '-' && word[1] == w.o->letter && !word[2])
			return w.o;
	}
	return NULL;
}

/*
 * @rest: the words after the program's name. The last one, which may be empty, is to be completed.
 */
static int run_complete(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct tap_cmd *cmd;
	const struct tap_opt *opt;
	const char *word;
	int nr = 0;

	(void)opts;
	(void)operands;
	while (rest && rest[nr])
		nr++;
	if (!nr)
		return TAP_EXIT_OK;
	word = rest[nr - 1];
	cmd = tap_cmd_find(rest[0]);
	if (nr == 1 || (nr == 2 && !strcmp(rest[0], "help"))) {
		offer_commands(word);
	} else if (cmd) {
		opt = option_awaiting(cmd, rest[nr - 2]);
		if (opt && !strcmp(opt->name, "event"))
			offer_events(word);
		else if (!opt && *word == '-')
			offer_options(cmd, word);
	}
	return TAP_EXIT_OK;
}

const struct tap_cmd tap_cmd_complete = {
	.name = "__complete",
	.help = "candidates for the last word",
	.operands = "-- WORDS",
	.hidden = true,
	.run = run_complete,
};
