// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Results of `check` as text, JSON, TAP and JUnit XML. */
#include "show/report/check.h"

#include <math.h>

/* ---- parts ---- */

static void put_number(struct tap_buf *out, enum tap_metric_unit unit, double v)
{
	static const char *const others[] = {
		[TAP_METRIC_PCT] = " %",
		[TAP_METRIC_PER_S] = " /s",
		[TAP_METRIC_KHZ] = " MHz",
		[TAP_METRIC_COUNT] = "",
	};

	if (unit != TAP_METRIC_NS)
		tap_buf_printf(out, "%.6g%s", unit == TAP_METRIC_KHZ ? v / 1e3 : v, others[unit]);
	else if (v >= 1e9)
		tap_buf_printf(out, "%.6g s", v / 1e9);
	else if (v >= 1e6)
		tap_buf_printf(out, "%.6g ms", v / 1e6);
	else if (v >= 1e3)
		tap_buf_printf(out, "%.6g us", v / 1e3);
	else
		tap_buf_printf(out, "%.6g ns", v);
}

/* Quote a word for a shell. */
static void put_word(struct tap_buf *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,+:@%";

	if (*word && strspn(word, plain) == strlen(word)) {
		tap_buf_puts(out, word);
		return;
	}
	tap_buf_char(out, '\'');
	for (const char *s = word; *s; s++)
		if (*s == '\'')
			/* not with a backslash, which the output would escape */
			tap_buf_puts(out, "'\"'\"'");
		else
			tap_buf_char(out, *s);
	tap_buf_char(out, '\'');
}

static void put_options(struct tap_buf *out, const struct tap_rule *rule)
{
	for (unsigned int by = 0; by < TAP_RULE_NR_BY; by++)
		for (unsigned int i = 0; i < rule->by[by].nr; i++) {
			tap_buf_printf(out, " -%c ", tap_rule_letters[by]);
			put_word(out, rule->by[by].v[i]);
		}
}

static void put_between(struct tap_buf *out, const struct tap_check *c, const struct tap_rule *rule)
{
	if (!c->between || strncmp(rule->metric, "critical.between.", strlen("critical.between.")))
		return;
	tap_buf_puts(out, " --between ");
	put_word(out, c->between);
	if (c->by) {
		tap_buf_puts(out, " --by ");
		put_word(out, c->by);
	}
}

/* Write the command that shows which times of the recording are unknown, and why. */
static void put_summary(struct tap_buf *out, const char *path)
{
	tap_buf_puts(out, "schedtap summary -i ");
	put_word(out, path);
}

/* Write the command that shows the worst violations of the rule. */
static void put_command(struct tap_buf *out, const struct tap_check *c, const struct tap_rule *rule,
			const char *path)
{
	static const char *const commands[][2] = {
		{ "latency.", "explain --worst 1" },
		{ "explain.", "explain --worst 1" },
		{ "balance.", "balance" },
		{ "resched.", "resched" },
		{ "migrations.", "migrations" },
		{ "frequency.", "dump -e cpu_frequency" },
		{ "pelt.util_est.", "pelt --util-est" },
		{ "eevdf.", "eevdf" },
		{ "critical.", "critical" },
		{ "", "summary" },
	};
	const char *state = rule->metric + strlen("latency.");
	int len = (int)strcspn(state, ".");
	bool of_state = !strncmp(rule->metric, "latency.", 8) && strncmp(state, "any.", 4);
	unsigned int i = 0;

	while (strncmp(rule->metric, commands[i][0], strlen(commands[i][0])))
		i++;
	tap_buf_printf(out, "schedtap %s -i ", commands[i][1]);
	put_word(out, path);
	put_between(out, c, rule);
	if (of_state)
		tap_buf_printf(out, " --state %.*s", len, state);
	put_options(out, rule);
	if (c->window) {
		tap_buf_puts(out, " --time ");
		put_word(out, c->window);
	}
}

/* Commands read recordings, so none shows more of bench's JSON. */
static bool is_of_bench(const struct tap_rule *rule)
{
	return !strncmp(rule->metric, "bench.", strlen("bench."));
}

static bool has_command(const struct tap_check *c, unsigned int r,
			const struct tap_checked *checked)
{
	return checked->verdict == TAP_RULE_FAILED && !is_of_bench(&c->rules->v[r]);
}

static void put_range(struct tap_buf *out, enum tap_metric_unit unit,
		      const struct tap_checked *checked)
{
	if (!isinf(checked->low)) {
		tap_buf_puts(out, ", at least ");
		put_number(out, unit, checked->low);
	}
	if (!isinf(checked->high)) {
		tap_buf_puts(out, isinf(checked->low) ? ", at most " : " and at most ");
		put_number(out, unit, checked->high);
	}
	if (isinf(checked->low) || isinf(checked->high))
		tap_buf_puts(out, isinf(checked->low) && isinf(checked->high)
					  ? ", but events are missing"
					  : ", and an unknown amount more");
}

/* Write "latency.waking.p99 -c web is 3 ms, wanted < 2 ms, in a.dat". */
static void put_finding(struct tap_buf *out, const struct tap_check *c, unsigned int r)
{
	const struct tap_rule *rule = &c->rules->v[r];
	const struct tap_checked *checked = &c->rule[r];

	tap_buf_puts(out, rule->metric);
	put_options(out, rule);
	if (!checked->is_there) {
		tap_buf_printf(out, " is not known: %s", checked->why);
	} else {
		tap_buf_puts(out, " is ");
		put_number(out, rule->unit, checked->value);
		if (checked->low != checked->high)
			put_range(out, rule->unit, checked);
	}
	tap_buf_printf(out, ", wanted %s ", tap_rule_op_name(rule->op));
	put_number(out, rule->unit, rule->limit);
	if (rule->is_median)
		tap_buf_printf(out, ", the median of %u recordings", c->nr_paths);
	else
		tap_buf_printf(out, ", in %s", c->paths[c->worst[r]]);
}

static const char *verdict_of(const struct tap_check *c, unsigned int r)
{
	return tap_rule_verdict_name(c->rule[r].verdict);
}

static unsigned int count_verdict(const struct tap_check *c, enum tap_rule_verdict v)
{
	unsigned int nr = 0;

	for (unsigned int r = 0; r < c->rules->nr; r++)
		nr += c->rule[r].verdict == v;
	return nr;
}

static bool counts_as_failed(const struct tap_check *c, unsigned int r)
{
	return c->rule[r].verdict == TAP_RULE_FAILED ||
	       (c->is_strict && c->rule[r].verdict == TAP_RULE_UNDECIDED);
}

/* ---- text ---- */

static void put_escaped(struct tap_buf *out, const struct tap_buf *text)
{
	tap_text_escape(out, text->data, text->len);
}

static void put_text(const struct tap_check *c, struct tap_buf *out)
{
	struct tap_buf b = { 0 };

	for (unsigned int r = 0; r < c->rules->nr; r++) {
		const char *worst = c->paths[c->worst[r]];

		tap_buf_clear(&b);
		tap_buf_printf(&b, "%-9s %s: ", verdict_of(c, r), c->rules->v[r].name);
		put_finding(&b, c, r);
		put_escaped(out, &b);
		tap_buf_char(out, '\n');
		tap_buf_clear(&b);
		if (has_command(c, r, &c->rule[r]))
			put_command(&b, c, &c->rules->v[r], worst);
		else if (c->rule[r].verdict == TAP_RULE_UNDECIDED && c->rule[r].is_there &&
			 !is_of_bench(&c->rules->v[r]))
			put_summary(&b, worst);
		if (!b.len)
			continue;
		tap_buf_puts(out, "          ");
		put_escaped(out, &b);
		tap_buf_char(out, '\n');
	}
	tap_buf_printf(out, "%u passed, %u failed, %u undecided\n",
		       count_verdict(c, TAP_RULE_PASSED), count_verdict(c, TAP_RULE_FAILED),
		       count_verdict(c, TAP_RULE_UNDECIDED));
	tap_buf_release(&b);
}

const struct tap_check_format tap_check_text = { put_text };

/* ---- TAP ---- */

/* Escape '#', which begins a TAP directive. */
static void put_tap_text(struct tap_buf *out, const struct tap_buf *text)
{
	struct tap_buf b = { 0 };

	put_escaped(&b, text);
	for (size_t i = 0; i < b.len; i++) {
		if (b.data[i] == '#')
			tap_buf_char(out, '\\');
		tap_buf_char(out, b.data[i]);
	}
	if (b.err)
		out->err = out->err ?: b.err;
	tap_buf_release(&b);
}

static void put_tap(const struct tap_check *c, struct tap_buf *out)
{
	struct tap_buf b = { 0 };

	tap_buf_printf(out, "TAP version 13\n1..%u\n", c->rules->nr);
	for (unsigned int r = 0; r < c->rules->nr; r++) {
		tap_buf_clear(&b);
		tap_buf_printf(&b, "%s: ", c->rules->v[r].name);
		put_finding(&b, c, r);
		tap_buf_printf(out, "%sok %u - ",
			       c->rule[r].verdict == TAP_RULE_PASSED ? "" : "not ", r + 1);
		put_tap_text(out, &b);
		tap_buf_puts(out, counts_as_failed(c, r) || c->rule[r].verdict == TAP_RULE_PASSED
					  ? "\n"
					  : " # TODO undecided\n");
		if (!has_command(c, r, &c->rule[r]))
			continue;
		tap_buf_clear(&b);
		put_command(&b, c, &c->rules->v[r], c->paths[c->worst[r]]);
		tap_buf_puts(out, "# ");
		put_escaped(out, &b);
		tap_buf_char(out, '\n');
	}
	tap_buf_release(&b);
}

const struct tap_check_format tap_check_tap = { put_tap };

/* ---- JUnit ---- */

static void put_xml_text(struct tap_buf *out, const struct tap_buf *text)
{
	struct tap_buf b = { 0 };

	put_escaped(&b, text); /* escape control characters, which XML does not allow */
	for (size_t i = 0; i < b.len; i++)
		switch (b.data[i]) {
		case '&':
			tap_buf_puts(out, "&amp;");
			break;
		case '<':
			tap_buf_puts(out, "&lt;");
			break;
		case '>':
			tap_buf_puts(out, "&gt;");
			break;
		case '"':
			tap_buf_puts(out, "&quot;");
			break;
		default:
			tap_buf_char(out, b.data[i]);
		}
	if (b.err)
		out->err = out->err ?: b.err;
	tap_buf_release(&b);
}

static void put_junit(const struct tap_check *c, struct tap_buf *out)
{
	unsigned int undecided = count_verdict(c, TAP_RULE_UNDECIDED),
		     failed = count_verdict(c, TAP_RULE_FAILED);
	struct tap_buf b = { 0 };

	tap_buf_printf(out,
		       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<testsuites>\n<testsuite name=\"schedtap check\" tests=\"%u\" "
		       "failures=\"%u\" skipped=\"%u\">\n",
		       c->rules->nr, c->is_strict ? failed + undecided : failed,
		       c->is_strict ? 0 : undecided);
	for (unsigned int r = 0; r < c->rules->nr; r++) {
		struct tap_buf name = { 0 };

		tap_buf_puts(&name, c->rules->v[r].name);
		tap_buf_printf(out, "<testcase classname=\"%s\" name=\"", c->rules->v[r].metric);
		put_xml_text(out, &name);
		tap_buf_puts(out, "\">");
		tap_buf_release(&name);
		tap_buf_clear(&b);
		put_finding(&b, c, r);
		if (has_command(c, r, &c->rule[r])) {
			tap_buf_puts(&b, "; see ");
			put_command(&b, c, &c->rules->v[r], c->paths[c->worst[r]]);
		}
		if (c->rule[r].verdict != TAP_RULE_PASSED) {
			tap_buf_puts(out, counts_as_failed(c, r)
						  ? "<failure message=\""
						  : "<skipped message=\"undecided: ");
			put_xml_text(out, &b);
			tap_buf_puts(out, "\"/>");
		}
		tap_buf_puts(out, "</testcase>\n");
	}
	tap_buf_puts(out, "</testsuite>\n</testsuites>\n");
	tap_buf_release(&b);
}

const struct tap_check_format tap_check_junit = { put_junit };

/* ---- JSON ---- */

static void put_key(struct tap_buf *out, const char *key, const char *text)
{
	tap_buf_printf(out, "\"%s\": ", key);
	if (text)
		tap_text_json(out, text, strlen(text));
	else
		tap_buf_puts(out, "null");
}

static void put_json_number(struct tap_buf *out, const char *key, double v)
{
	tap_buf_printf(out, ", \"%s\": ", key);
	if (isfinite(v))
		tap_buf_printf(out, "%.6f", v);
	else
		tap_buf_puts(out, "null");
}

static void put_checked(struct tap_buf *out, const struct tap_checked *checked)
{
	put_key(out, "verdict", tap_rule_verdict_name(checked->verdict));
	put_json_number(out, "value", checked->value);
	put_json_number(out, "low", checked->low);
	put_json_number(out, "high", checked->high);
	tap_buf_puts(out, ", ");
	put_key(out, "why", checked->why);
}

static void put_recording(const struct tap_check *c, unsigned int r, unsigned int p,
			  struct tap_buf *out)
{
	const struct tap_checked *checked = &c->each[(size_t)r * c->nr_paths + p];
	struct tap_buf command = { 0 };

	put_command(&command, c, &c->rules->v[r], c->paths[p]);
	tap_buf_puts(out, "{");
	put_key(out, "recording", c->paths[p]);
	tap_buf_puts(out, ", ");
	put_checked(out, checked);
	tap_buf_puts(out, ", ");
	put_key(out, "command", has_command(c, r, checked) ? tap_buf_str(&command) : NULL);
	tap_buf_puts(out, "}");
	tap_buf_release(&command);
}

static void put_rule(const struct tap_check *c, unsigned int r, struct tap_buf *out)
{
	const struct tap_rule *rule = &c->rules->v[r];
	struct tap_buf options = { 0 };

	put_options(&options, rule);
	tap_buf_puts(out, "{");
	put_key(out, "name", rule->name);
	tap_buf_puts(out, ", ");
	put_key(out, "metric", rule->metric);
	tap_buf_puts(out, ", ");
	put_key(out, "tasks", options.len ? tap_buf_str(&options) + 1 : NULL);
	tap_buf_printf(out, ", \"median\": %s, ", rule->is_median ? "true" : "false");
	put_key(out, "op", tap_rule_op_name(rule->op));
	put_json_number(out, "limit", rule->limit);
	tap_buf_puts(out, ", ");
	put_key(out, "unit", tap_metric_unit_name(rule->unit));
	tap_buf_puts(out, ", ");
	put_checked(out, &c->rule[r]);
	tap_buf_puts(out, ", \"recordings\": [");
	for (unsigned int p = 0; p < c->nr_paths; p++) {
		tap_buf_puts(out, p ? ", " : "");
		put_recording(c, r, p, out);
	}
	tap_buf_puts(out, "]}");
	tap_buf_release(&options);
}

static void put_json(const struct tap_check *c, struct tap_buf *out)
{
	tap_buf_puts(out, "{");
	put_key(out, "verdict", tap_rule_verdict_name(tap_check_verdict(c)));
	tap_buf_puts(out, ", \"rules\": [");
	for (unsigned int r = 0; r < c->rules->nr; r++) {
		tap_buf_puts(out, r ? ", " : "");
		put_rule(c, r, out);
	}
	tap_buf_puts(out, "]}\n");
}

const struct tap_check_format tap_check_json = { put_json };
