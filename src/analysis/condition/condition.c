// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/condition/condition.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/condition/parsed.h"

#define MAX_BYTES 4096u
#define SHOWN_BEFORE 60
#define SHOWN 76

static const char task_fields[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t tid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t pid;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t tgid;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\tfield:int cpu;\toffset:40;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 cgroup;\toffset:48;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"\"\n";

struct parser {
	struct tap_condition *c;
	const char *at; /* in .c->text */
	struct tap_err *err;
};

/* Report an error in the text, with a caret below @at. A long text is shortened. */
static int fail_at(const struct parser *p, const char *at, const char *message)
{
	size_t column = (size_t)(at - p->c->text),
	       from = column > SHOWN_BEFORE ? column - SHOWN_BEFORE : 0;
	char shown[SHOWN + 1];

	snprintf(shown, sizeof(shown), "%s", p->c->text + from);
	for (char *s = shown; *s; s++)
		*s = iscntrl((unsigned char)*s) ? ' ' : *s;
	return tap_err_set(p->err, -EINVAL, "bad condition: %s\n %s\n %*s^", message, shown,
			   (int)(column - from), "");
}

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool accept_sign(struct parser *p, char sign)
{
	skip_blanks(p);
	if (*p->at != sign)
		return false;
	p->at++;
	return true;
}

/* Return the length of the next word, which ends at a blank or at one of @ends. */
static size_t word_len(struct parser *p, const char *ends)
{
	size_t len = 0;

	skip_blanks(p);
	while (p->at[len] && !isspace((unsigned char)p->at[len]) && !strchr(ends, p->at[len]))
		len++;
	return len;
}

static bool is_word(const char *at, size_t len, const char *word)
{
	return len == strlen(word) && !memcmp(at, word, len);
}

static int expect_above(struct parser *p)
{
	if (!accept_sign(p, '>'))
		return fail_at(p, p->at, "expected '>'");
	return *p->at == '=' ? fail_at(p, p->at, "expected '>': other comparisons do not work here")
			     : 0;
}

static int parse_time(struct parser *p)
{
	size_t len = word_len(p, "");
	char *word = strndup(p->at, len);
	int ret = word ? tap_text_parse_time(word, &p->c->limit) : -ENOMEM;

	free(word);
	if (ret == -ENOMEM)
		return tap_err_set(p->err, ret, "out of memory");
	/* options take a number without unit as seconds, but in a condition ms is usually meant */
	if (ret || (p->c->limit && isdigit((unsigned char)p->at[len - 1])))
		return fail_at(p, p->at, "expected a time with its unit [10us, 4ms, 1s]");
	p->at += len;
	return 0;
}

static int parse_number(struct parser *p, const char *after, const char *expected)
{
	const char *at, *end;

	skip_blanks(p);
	at = p->at;
	if (tap_text_take_digits(&p->at, NULL, 10, &p->c->limit) ||
	    strncmp(p->at, after, strlen(after)))
		return fail_at(p, at, expected);
	end = p->at + strlen(after);
	if (*end && !isspace((unsigned char)*end))
		return fail_at(p, at, expected);
	p->at = end;
	return 0;
}

static int parse_event(struct parser *p, const char *ends)
{
	struct tap_select_words words = { 0 };
	size_t len = word_len(p, ends);
	char *word = strndup(p->at, len);
	int ret = word && len ? tap_strings_add(&words.events, word) : 0;
	struct tap_err why = { 0 };

	if (!word || ret)
		ret = tap_err_nomem(p->err);
	else if (!len)
		ret = fail_at(p, p->at, "expected an event");
	else
		ret = tap_select_read(&words, &p->c->event, &why);
	if (ret && why.code)
		ret = ret == -EINVAL ? fail_at(p, p->at, why.text)
				     : tap_err_set(p->err, ret, "%s", why.text);
	p->at += len;
	tap_strings_release(&words.events);
	free(word);
	return ret;
}

static int make_task_filter(struct parser *p)
{
	struct tap_condition *c = p->c;
	const char *name = c->kind == TAP_CONDITION_STATE ? tap_state_name(c->state) : "violation";
	struct tap_abi abi = { .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
			       .long_size = sizeof(long) };
	struct tap_buf text = { 0 };
	int ret;

	tap_buf_printf(&text, "name: %s\nID: 1\n%s", name, task_fields);
	ret = text.err ? tap_err_set(p->err, text.err, "out of memory")
		       : tap_format_parse("condition", text.data, text.len, abi, &c->task, p->err);
	tap_buf_release(&text);
	ret = ret ?: tap_filter_new(c->task, c->filter, &c->of_task, p->err);
	if (!ret && c->of_task->nr_pasts)
		ret = fail_at(p, c->filter,
			      "a condition cannot use changed() or moved(), which work only in the "
			      "filter of a recorded event (-f)");
	return ret;
}

/* Parse "if FILTER", if anything follows. */
static int parse_filter(struct parser *p)
{
	size_t len = word_len(p, "(\"'");
	const char *word = p->at;
	bool is_of_task =
		p->c->kind == TAP_CONDITION_STATE || p->c->kind == TAP_CONDITION_VIOLATION;

	if (!*word)
		return 0;
	if (!is_word(word, len, "if"))
		return fail_at(p, word, "expected 'if' or the end of the condition");
	if (p->c->kind == TAP_CONDITION_LOST)
		return fail_at(p, word, "lost events cannot be filtered");
	p->at += len;
	skip_blanks(p);
	if (!*p->at)
		return fail_at(p, p->at, "expected a filter");
	p->c->filter = p->at;
	return is_of_task ? make_task_filter(p) : 0;
}

/* Set p->c->kind from the first word. Return: 0; -EINVAL. */
static int parse_kind(struct parser *p, const char *word, size_t len)
{
	struct tap_condition *c = p->c;

	c->kind = TAP_CONDITION_EVENT;
	if (is_word(word, len, "rate") && word[len] == '(')
		c->kind = TAP_CONDITION_RATE;
	else if (is_word(word, len, "lost"))
		c->kind = TAP_CONDITION_LOST;
	else if (is_word(word, len, "violation"))
		c->kind = TAP_CONDITION_VIOLATION;
	for (c->state = TAP_STATE_UNKNOWN;
	     c->kind == TAP_CONDITION_EVENT && c->state < TAP_NR_STATES; c->state++) {
		if (!is_word(word, len, tap_state_name(c->state)))
			continue;
		if (c->state == TAP_STATE_UNKNOWN || c->state == TAP_STATE_DEAD)
			return fail_at(p, word,
				       "the time that tasks spend in this state is not known");
		c->kind = TAP_CONDITION_STATE;
		return 0;
	}
	return 0;
}

/* An event cannot be compared with a time: if '>' follows, the word was meant to be a state. */
static int refuse_limit(struct parser *p, const char *word)
{
	skip_blanks(p);
	return *p->at != '>' ? 0
			     : fail_at(p, word,
				       "only these can be compared with a time: waking, preempted, "
				       "throttled, blocked, sleeping, stopped, running, violation");
}

static int parse_condition(struct parser *p)
{
	const char *word;
	size_t len = word_len(p, "(>");
	int ret;

	word = p->at;
	ret = len ? parse_kind(p, word, len) : fail_at(p, word, "expected an event or a state");
	if (ret)
		return ret;
	if (p->c->kind == TAP_CONDITION_EVENT)
		return parse_event(p, ">") ?: refuse_limit(p, word) ?: parse_filter(p);
	p->at += len;
	switch (p->c->kind) {
	case TAP_CONDITION_RATE:
		p->at++;
		ret = parse_event(p, ")");
		if (!ret && !accept_sign(p, ')'))
			ret = fail_at(p, p->at, "expected ')'");
		ret = ret ?: expect_above(p) ?:
		      parse_number(p, "/s", "expected a number per second [10000/s]");
		break;
	case TAP_CONDITION_LOST:
		ret = expect_above(p) ?: parse_number(p, "", "expected a number");
		break;
	default:
		ret = expect_above(p) ?: parse_time(p);
	}
	return ret ?: parse_filter(p);
}

int tap_condition_parse(const char *text, struct tap_condition **out, struct tap_err *err)
{
	struct tap_condition *c = calloc(1, sizeof(*c));
	struct parser p = { .c = c, .err = err };
	int ret;

	*out = NULL;
	if (c)
		p.at = c->text = strdup(text);
	if (!c || !c->text)
		ret = tap_err_nomem(err);
	else if (strlen(text) > MAX_BYTES)
		ret = tap_err_set(err, -EINVAL, "bad condition: it is longer than %u bytes",
				  MAX_BYTES);
	else
		ret = parse_condition(&p);
	if (!ret) {
		*out = c;
		c = NULL;
	}
	tap_condition_free(c);
	return ret;
}

void tap_condition_free(struct tap_condition *c)
{
	if (!c)
		return;
	tap_filter_free(c->of_task);
	tap_format_free(c->task);
	tap_select_free(c->event);
	free(c->text);
	free(c);
}

const char *tap_condition_text(const struct tap_condition *c)
{
	return c->text;
}
