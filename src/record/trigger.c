// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/trigger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define BLANKS " \t"

static int refuse_trigger(const char *text, const char *why, struct tap_err *err)
{
	return tap_err_set(err, -EINVAL, "--trigger '%.200s': %s", text, why);
}

static int copy_text(const char *from, size_t len, char **to, struct tap_err *err)
{
	*to = strndup(from, len);
	return *to ? 0 : tap_err_nomem(err);
}

/* Read "SYSTEM:NAME", or if @bare also "NAME". Return: 0; -EINVAL; -ENOMEM. */
static int read_event(const char *at, size_t len, bool bare, char **system, char **name,
		      struct tap_err *err)
{
	const char *colon = memchr(at, ':', len);
	size_t first = colon ? (size_t)(colon - at) : 0;

	if ((!colon && !bare) ||
	    (colon && (!first || first + 1 == len || memchr(colon + 1, ':', len - first - 1))) ||
	    !len || memchr(at, '/', len))
		return -EINVAL;
	if (!colon)
		return copy_text(at, len, name, err);
	return copy_text(at, first, system, err)
		       ?: copy_text(colon + 1, len - first - 1, name, err);
}

/* Read "" or ":COUNT". */
static int read_count(const char *text, const char *at, size_t len, int64_t *count,
		      struct tap_err *err)
{
	uint64_t v;

	*count = TAP_TRIGGER_UNLIMITED;
	if (!len)
		return 0;
	at++;
	if (len < 2 || tap_text_take_digits(&at, NULL, 10, &v) || v > INT32_MAX ||
	    (*at && !strchr(BLANKS, *at)))
		return refuse_trigger(text, "the count must be a number up to 2147483647", err);
	*count = (int64_t)v;
	return 0;
}

static const struct {
	const char *word;
	enum tap_trigger_action action;
} actions[] = {
	{ "traceon", TAP_TRIGGER_TRACEON },	 { "traceoff", TAP_TRIGGER_TRACEOFF },
	{ "enable_event", TAP_TRIGGER_ENABLE },	 { "disable_event", TAP_TRIGGER_DISABLE },
	{ "stacktrace", TAP_TRIGGER_KERNELS },	 { "snapshot", TAP_TRIGGER_KERNELS },
	{ "hist", TAP_TRIGGER_KERNELS },	 { "enable_hist", TAP_TRIGGER_KERNELS },
	{ "disable_hist", TAP_TRIGGER_KERNELS },
};
#define NR_ACTIONS (sizeof(actions) / sizeof(*actions))

static int read_action(struct tap_trigger *t, const char *at, size_t len, struct tap_err *err)
{
	const char *end = at + len, *event = memchr(at, ':', len), *last;
	size_t word = event ? (size_t)(event - at) : len, i = 0;

	while (i < NR_ACTIONS &&
	       (strlen(actions[i].word) != word || memcmp(actions[i].word, at, word)))
		i++;
	if (i == NR_ACTIONS)
		return tap_err_set(
			err, -EINVAL,
			"--trigger '%.200s': unknown action '%.*s': use traceon, traceoff, "
			"enable_event:SYSTEM:NAME or disable_event:SYSTEM:NAME, or over tracefs "
			"stacktrace, snapshot or hist:...",
			t->text, word < 100 ? (int)word : 100, at);
	t->action = actions[i].action;
	if (t->action == TAP_TRIGGER_KERNELS) {
		t->count = TAP_TRIGGER_UNLIMITED;
		return copy_text(at, len, &t->words, err);
	}
	last = at + word;
	if (t->action == TAP_TRIGGER_ENABLE || t->action == TAP_TRIGGER_DISABLE) {
		const char *colon =
			event ? memchr(event + 1, ':', (size_t)(end - event - 1)) : NULL;
		int ret = -EINVAL;

		last = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) ?: end : end;
		if (colon)
			ret = read_event(event + 1, (size_t)(last - event - 1), false,
					 &t->of_system, &t->of_name, err);
		if (ret == -EINVAL)
			return refuse_trigger(t->text, "this action needs an event, SYSTEM:NAME",
					      err);
		if (ret)
			return ret;
	}
	return copy_text(at, (size_t)(last - at), &t->words, err)
		       ?: read_count(t->text, last, (size_t)(end - last), &t->count, err);
}

/* Return: where "if FILTER" begins, or the end of the text. */
static const char *find_if(const char *at)
{
	for (const char *p = at; (p = strstr(p, "if")) != NULL; p += 2)
		if (p > at && strchr(BLANKS, p[-1]) && p[2] && strchr(BLANKS, p[2]))
			return p;
	return at + strlen(at);
}

static int parse_trigger(struct tap_trigger *t, struct tap_err *err)
{
	const char *event = t->text + strspn(t->text, BLANKS),
		   *blank = event + strcspn(event, BLANKS), *action, *filter;
	size_t len;
	int ret;

	if (blank < event + 2 || blank[-1] != ':' || !*blank)
		return refuse_trigger(
			t->text,
			"expected 'EVENT: ACTION[:COUNT] [if FILTER]', with a blank after "
			"the event's colon",
			err);
	ret = read_event(event, (size_t)(blank - event - 1), true, &t->system, &t->name, err);
	if (ret == -EINVAL)
		return refuse_trigger(t->text, "the event must be NAME or SYSTEM:NAME", err);
	action = blank + strspn(blank, BLANKS);
	filter = find_if(action);
	for (len = (size_t)(filter - action); len && strchr(BLANKS, action[len - 1]); len--)
		;
	if (!ret && *action == '!')
		return refuse_trigger(
			t->text, "there is no trigger to remove: a recording starts without any",
			err);
	if (!ret && memchr(action, ' ', len) && strncmp(action, "hist:", 5))
		return refuse_trigger(t->text, "only 'if FILTER' may follow the action", err);
	ret = ret ?: read_action(t, action, len, err);
	if (ret || !*filter)
		return ret;
	filter += 2 + strspn(filter + 2, BLANKS);
	if (!*filter)
		return refuse_trigger(t->text, "there is no filter after 'if'", err);
	return copy_text(filter, strlen(filter), &t->filter, err);
}

int tap_trigger_parse(const char *text, struct tap_trigger *t, struct tap_err *err)
{
	int ret;

	*t = (struct tap_trigger){ 0 };
	if (strlen(text) > TAP_TRIGGER_MAX_BYTES)
		return refuse_trigger(text, "it is too long", err);
	ret = copy_text(text, strlen(text), &t->text, err) ?: parse_trigger(t, err);
	if (ret)
		tap_trigger_release(t);
	return ret;
}

void tap_trigger_release(struct tap_trigger *t)
{
	free(t->text);
	free(t->system);
	free(t->name);
	free(t->words);
	free(t->of_system);
	free(t->of_name);
	free(t->filter);
	*t = (struct tap_trigger){ 0 };
}
