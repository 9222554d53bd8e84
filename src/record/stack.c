// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define DEPTH "depth="

static int refuse_stack(const char *text, const char *why, struct tap_err *err)
{
	return tap_err_set(err, -EINVAL, "--stack '%.200s': %s", text, why);
}

/* Cut ",depth=N" off @event. */
static int take_depth(struct tap_stack *stack, char *event, struct tap_err *err)
{
	char *comma = strchr(event, ',');
	const char *at = comma ? comma + 1 : NULL;
	uint64_t depth;

	stack->kinds.depth = TAP_STACK_DEPTH;
	if (!comma)
		return 0;
	*comma = '\0';
	if (strncmp(at, DEPTH, strlen(DEPTH)))
		return refuse_stack(stack->text, "only depth=N may follow the comma", err);
	at += strlen(DEPTH);
	if (tap_text_take_digits(&at, NULL, 10, &depth) || *at || !depth || depth > TAP_STACK_DEPTH)
		return refuse_stack(stack->text, "the depth must be 1 to 127 frames", err);
	stack->kinds.depth = (unsigned int)depth;
	return 0;
}

/*
 * Cut ":user", ":kernel" or ":both" off @event. For an event with such a name, the user must add
 * the kind.
 */
static void take_kinds(struct tap_stack *stack, char *event)
{
	char *colon = strrchr(event, ':');
	const char *word = colon ? colon + 1 : "";
	bool both = !strcmp(word, "both"), user = both || !strcmp(word, "user"),
	     kernel = both || !strcmp(word, "kernel");

	stack->kinds.user = user;
	stack->kinds.kernel = kernel || !user;
	if (user || kernel)
		*colon = '\0';
}

static int parse_stack(struct tap_stack *stack, char *event, struct tap_err *err)
{
	struct tap_select_opts opts = { .size = sizeof(opts),
					.events = (const char *[]){ event },
					.nr_events = 1 };
	struct tap_err why = { 0 };
	int ret = take_depth(stack, event, err);

	if (ret)
		return ret;
	take_kinds(stack, event);
	if (!*event)
		return refuse_stack(stack->text, "expected 'EVENT[:kernel|user|both][,depth=N]'",
				    err);
	ret = tap_select_new(&opts, &stack->events, &why);
	return ret ? tap_err_set(err, ret, "--stack '%.200s': %s", stack->text, why.text) : 0;
}

int tap_stack_parse(const char *text, struct tap_stack *stack, struct tap_err *err)
{
	char *event = strdup(text);
	int ret;

	*stack = (struct tap_stack){ .text = strdup(text) };
	if (!event || !stack->text)
		ret = tap_err_nomem(err);
	else
		ret = parse_stack(stack, event, err);
	free(event);
	if (ret)
		tap_stack_release(stack);
	return ret;
}

void tap_stack_release(struct tap_stack *stack)
{
	free(stack->text);
	tap_select_free(stack->events);
	*stack = (struct tap_stack){ 0 };
}
