// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/rule/rule.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "analysis/metric/bounds.h"

const char tap_rule_letters[TAP_RULE_NR_BY + 1] = "cptg";

static const char *const op_names[] = {
	[TAP_RULE_LESS] = "<",	    [TAP_RULE_AT_MOST] = "<=", [TAP_RULE_MORE] = ">",
	[TAP_RULE_AT_LEAST] = ">=", [TAP_RULE_EQUAL] = "==",   [TAP_RULE_UNEQUAL] = "!=",
};
#define NR_OPS (sizeof(op_names) / sizeof(*op_names))

const char *tap_rule_op_name(enum tap_rule_op op)
{
	return op_names[op];
}

const char *tap_rule_verdict_name(enum tap_rule_verdict v)
{
	static const char *const names[] = {
		[TAP_RULE_PASSED] = "passed",
		[TAP_RULE_UNDECIDED] = "undecided",
		[TAP_RULE_FAILED] = "failed",
	};

	return names[v];
}

void tap_rules_release(struct tap_rules *rules)
{
	for (unsigned int i = 0; i < rules->nr; i++)
		for (unsigned int by = 0; by < TAP_RULE_NR_BY; by++)
			tap_strings_release(&rules->v[i].by[by]);
	for (unsigned int i = 0; i < rules->nr_words; i++)
		free(rules->words[i]);
	free(rules->v);
	free(rules->words);
	*rules = (struct tap_rules){ 0 };
}

/* ---- words ---- */

struct line {
	const char *file;
	const char *start, *s; /* .s: the next character to parse */
	unsigned int nr;
	struct tap_rules *rules;
	const struct tap_metrics *metrics; /* all metrics that exist */
	const char **names; /* their names */
	bool is_condition; /* without "rule NAME :" */
	struct tap_err *err;
};

static int TAP_PRINTF(3, 4) fail_at(const struct line *l, const char *at, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return tap_err_set(l->err, -EINVAL, "%.200s:%u:%zu: %s", l->file, l->nr,
			   (size_t)(at - l->start) + 1, text);
}

/* Skip blanks. Return true if the line ends there or a comment begins. */
static bool is_over(struct line *l)
{
	l->s += strspn(l->s, " \t\r");
	return !*l->s || *l->s == '#';
}

#define WORD_ENDS " \t\r#"
#define NAME_ENDS WORD_ENDS ":<>=!"

/* Copy a word; the rules own the copy. */
static int keep_word(struct line *l, const char *s, size_t len, const char **word)
{
	struct tap_rules *rules = l->rules;
	char *copy = strndup(s, len);

	if (!copy || tap_array_grow(&rules->words, rules->nr_words, &rules->cap_words,
				    sizeof(*rules->words))) {
		free(copy);
		return tap_err_nomem(l->err);
	}
	rules->words[rules->nr_words++] = copy;
	*word = copy;
	return 0;
}

/* ---- parts of a rule ---- */

static int read_name(struct line *l, struct tap_rule *r)
{
	const char *at;
	size_t len;
	int ret;

	if (strncmp(l->s, "rule", 4) || (l->s[4] != ' ' && l->s[4] != '\t'))
		return fail_at(l, l->s, "expected 'rule NAME : METRIC OP VALUE'");
	l->s += 4;
	if (is_over(l) || !(len = strcspn(l->s, NAME_ENDS)))
		return fail_at(l, l->s, "expected the rule's name");
	at = l->s;
	ret = keep_word(l, at, len, &r->name);
	if (ret)
		return ret;
	for (const struct tap_rule *other = l->rules->v; other < r; other++)
		if (!strcmp(other->name, r->name))
			return fail_at(l, at, "duplicate rule '%.100s'", r->name);
	l->s += len;
	if (is_over(l) || *l->s != ':')
		return fail_at(l, l->s, "expected ':' after the rule's name");
	l->s++;
	return 0;
}

static int read_metric(struct line *l, struct tap_rule *r)
{
	size_t len = is_over(l) ? 0 : strcspn(l->s, NAME_ENDS);
	const struct tap_metric *metric;
	const char *near;
	int ret;

	if (len == 6 && !memcmp(l->s, "median", 6)) {
		r->is_median = true;
		l->s += len;
		len = is_over(l) ? 0 : strcspn(l->s, NAME_ENDS);
	}
	if (!len)
		return fail_at(l, l->s, "expected a metric, such as latency.waking.p99");
	ret = keep_word(l, l->s, len, &r->metric);
	if (ret)
		return ret;
	metric = tap_metrics_find(l->metrics, r->metric);
	if (!metric) {
		near = tap_nearest(r->metric, l->names, l->metrics->nr);
		return near ? fail_at(l, l->s, "no metric '%.100s'; the nearest is '%s'", r->metric,
				      near)
			    : fail_at(l, l->s,
				      "no metric '%.100s'; `schedtap check --list` names them",
				      r->metric);
	}
	r->unit = metric->unit;
	l->s += len;
	return 0;
}

/* Read an option's value, which may be quoted. */
static int read_value(struct line *l, const char **value)
{
	const char *end;
	size_t len;
	int ret;

	if (is_over(l))
		return fail_at(l, l->s, "expected a value");
	if (*l->s != '\'' && *l->s != '"') {
		len = strcspn(l->s, " \t\r");
		ret = keep_word(l, l->s, len, value);
		l->s += len;
		return ret;
	}
	end = strchr(l->s + 1, *l->s);
	if (!end)
		return fail_at(l, l->s, "unterminated quote");
	ret = keep_word(l, l->s + 1, (size_t)(end - l->s) - 1, value);
	l->s = end + 1;
	return ret;
}

static int read_options(struct line *l, struct tap_rule *r)
{
	while (!is_over(l) && *l->s == '-') {
		const char *letter = l->s[1] ? strchr(tap_rule_letters, l->s[1]) : NULL, *value;
		int ret;

		if (!letter || (l->s[2] != ' ' && l->s[2] != '\t'))
			return fail_at(l, l->s, "expected -c COMM, -p PID, -t TID or -g CGROUP");
		l->s += 2;
		ret = read_value(l, &value);
		if (ret)
			return ret;
		if (tap_strings_add(&r->by[letter - tap_rule_letters], value))
			return tap_err_nomem(l->err);
	}
	return 0;
}

static int read_op(struct line *l, struct tap_rule *r)
{
	size_t len;

	if (is_over(l))
		return fail_at(l, l->s, "expected one of < <= > >= == != and a value");
	len = strspn(l->s, "<>=!");
	for (size_t i = 0; i < NR_OPS; i++)
		if (len == strlen(op_names[i]) && !memcmp(l->s, op_names[i], len)) {
			r->op = (enum tap_rule_op)i;
			l->s += len;
			return 0;
		}
	return fail_at(l, l->s, "expected one of < <= > >= == !=");
}

static const struct {
	const char *name;
	enum tap_metric_unit unit;
	double factor;
} units[] = {
	{ "ns", TAP_METRIC_NS, 1 },	{ "us", TAP_METRIC_NS, 1e3 },
	{ "ms", TAP_METRIC_NS, 1e6 },	{ "s", TAP_METRIC_NS, 1e9 },
	{ "%", TAP_METRIC_PCT, 1 },	{ "/s", TAP_METRIC_PER_S, 1 },
	{ "kHz", TAP_METRIC_KHZ, 1 },	{ "MHz", TAP_METRIC_KHZ, 1e3 },
	{ "GHz", TAP_METRIC_KHZ, 1e6 }, { "", TAP_METRIC_PER_S, 1 },
	{ "", TAP_METRIC_COUNT, 1 },
};

static int read_limit(struct line *l, struct tap_rule *r)
{
	static const char *const wants[] = {
		[TAP_METRIC_NS] = "ns, us, ms or s", [TAP_METRIC_PCT] = "%",
		[TAP_METRIC_PER_S] = "/s or none",   [TAP_METRIC_KHZ] = "kHz, MHz or GHz",
		[TAP_METRIC_COUNT] = "none",
	};
	char number[32];
	size_t len, of_unit;
	char *end;

	len = is_over(l) ? 0 : strspn(l->s, "0123456789.");
	if (!len || len >= sizeof(number))
		return fail_at(l, l->s, "expected a number, 0 or more");
	memcpy(number, l->s, len);
	number[len] = '\0';
	r->limit = strtod(number, &end);
	if (*end)
		return fail_at(l, l->s, "'%s' is not a number", number);
	l->s += len;
	/* a blank may stand before the unit: "5 ms" */
	of_unit = is_over(l) ? 0 : strcspn(l->s, WORD_ENDS);
	if (!of_unit && !r->limit)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (units[i].unit == r->unit && strlen(units[i].name) == of_unit &&
		    !memcmp(units[i].name, l->s, of_unit)) {
			r->limit *= units[i].factor;
			l->s += of_unit;
			return 0;
		}
	return fail_at(l, l->s, "the unit of %s is %s%s%.*s", r->metric, wants[r->unit],
		       of_unit ? ", not " : "", (int)(of_unit < 100 ? of_unit : 100), l->s);
}

static int read_rule(struct line *l, struct tap_rule *r)
{
	int ret = (l->is_condition ? keep_word(l, "condition", strlen("condition"), &r->name)
				   : read_name(l, r))
			  ?: read_metric(l, r) ?: read_options(l, r) ?:
		  read_op(l, r) ?: read_limit(l, r);

	return !ret && !is_over(l) ? fail_at(l, l->s, "unexpected text after the rule") : ret;
}

/* ---- a file ---- */

static int add_rule(struct line *l)
{
	struct tap_rules *rules = l->rules;

	if (tap_array_grow(&rules->v, rules->nr, &rules->cap, sizeof(*rules->v)))
		return tap_err_nomem(l->err);
	rules->v[rules->nr] = (struct tap_rule){ 0 };
	return read_rule(l, &rules->v[rules->nr++]);
}

static int read_lines(struct line *l, char *text)
{
	int ret = 0;

	for (char *next; !ret && text; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		l->start = l->s = text;
		l->nr++;
		if (!is_over(l))
			ret = add_rule(l);
	}
	return ret;
}

static int read_text(struct line *l, const char *text, size_t len)
{
	unsigned int before = l->rules->nr;
	char *copy = strndup(text, len);
	int ret;

	l->names = calloc(l->metrics->nr + 1, sizeof(*l->names));
	if (!copy || !l->names) {
		free(copy);
		return tap_err_nomem(l->err);
	}
	for (unsigned int i = 0; i < l->metrics->nr; i++)
		l->names[i] = l->metrics->v[i].name;
	if (l->is_condition) {
		l->start = l->s = copy;
		l->nr = 1;
		ret = add_rule(l);
	} else {
		ret = read_lines(l, copy);
	}
	free(copy);
	if (!ret && l->rules->nr == before)
		ret = tap_err_set(l->err, -EINVAL, "%.200s: the rules file contains no rules",
				  l->file);
	return ret;
}

static int parse(struct line *l, const char *text, size_t len)
{
	struct tap_metrics metrics = { 0 };
	int ret;

	l->metrics = &metrics;
	ret = tap_metrics_names(&metrics) ? tap_err_nomem(l->err) : read_text(l, text, len);
	free(l->names);
	tap_metrics_release(&metrics);
	return ret;
}

int tap_rules_parse(struct tap_rules *rules, const char *file, const char *text, size_t len,
		    struct tap_err *err)
{
	struct line l = { .file = file, .rules = rules, .err = err };

	if (memchr(text, '\0', len))
		return tap_err_set(
			err, -EINVAL,
			"%.200s: the rules file is not a text file: it contains a NUL byte", file);
	return parse(&l, text, len);
}

int tap_rules_parse_condition(struct tap_rules *rules, const char *text, struct tap_err *err)
{
	struct line l = { .file = "condition", .rules = rules, .is_condition = true, .err = err };

	return parse(&l, text, strlen(text));
}

/* ---- judging ---- */

static bool op_holds(enum tap_rule_op op, double value, double limit)
{
	switch (op) {
	case TAP_RULE_LESS:
		return value < limit;
	case TAP_RULE_AT_MOST:
		return value <= limit;
	case TAP_RULE_MORE:
		return value > limit;
	case TAP_RULE_AT_LEAST:
		return value >= limit;
	case TAP_RULE_EQUAL:
		return value == limit;
	default:
		return value != limit;
	}
}

enum tap_rule_verdict tap_rule_judge(const struct tap_rule *rule, double low, double high)
{
	bool at_low = op_holds(rule->op, low, rule->limit),
	     at_high = op_holds(rule->op, high, rule->limit);
	bool between = low < rule->limit && rule->limit < high;

	/* the result of any other operator changes only once, at the limit */
	if (at_low != at_high ||
	    (between && (rule->op == TAP_RULE_EQUAL || rule->op == TAP_RULE_UNEQUAL)))
		return TAP_RULE_UNDECIDED;
	/* == holds at both ends only if both are the limit, and then it holds in between */
	return at_low ? TAP_RULE_PASSED : TAP_RULE_FAILED;
}
