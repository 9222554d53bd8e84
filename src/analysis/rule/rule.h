/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assertions about recordings, one rule per line:
 *
 *   rule NAME : [median] METRIC [-c COMM] [-p PID] [-t TID] [-g CGROUP] OP VALUE[UNIT]  # comment
 *
 * METRIC is a name from tap_metrics_names() (analysis/metric/bounds.h). OP is one of < <= > >= ==
 * !=. UNIT is one of ns us ms s % /s kHz MHz GHz or nothing, as fits the metric; 0 needs no unit.
 * Values of options may be in single or double quotes. With "median" the rule is about the median
 * of all recordings, otherwise about each recording.
 *
 * A number has a lower and an upper bound (analysis/metric/bounds.h), so a rule has three possible
 * results: it passed if it holds for all values between the bounds, it failed if it holds for none,
 * and otherwise it is undecided.
 */
#ifndef TAP_RULE_RULE_H
#define TAP_RULE_RULE_H

#include "base/opt.h"
#include "analysis/metric/metrics.h"

enum tap_rule_op {
	TAP_RULE_LESS,
	TAP_RULE_AT_MOST,
	TAP_RULE_MORE,
	TAP_RULE_AT_LEAST,
	TAP_RULE_EQUAL,
	TAP_RULE_UNEQUAL
};

const char *tap_rule_op_name(enum tap_rule_op op); /* "<" */

/* From best to worst. */
enum tap_rule_verdict { TAP_RULE_PASSED, TAP_RULE_UNDECIDED, TAP_RULE_FAILED };

const char *tap_rule_verdict_name(enum tap_rule_verdict v); /* "passed", "undecided", "failed" */

/* A rule's options. */
enum tap_rule_by {
	TAP_RULE_BY_COMM,
	TAP_RULE_BY_PID,
	TAP_RULE_BY_TID,
	TAP_RULE_BY_CGROUP,
	TAP_RULE_NR_BY
};

extern const char tap_rule_letters[TAP_RULE_NR_BY + 1]; /* the options' letters: "cptg" */

struct tap_rule {
	const char *name, *metric; /* owned by struct tap_rules */
	bool is_median;
	/* by option; the strings are owned by struct tap_rules */
	struct tap_strings by[TAP_RULE_NR_BY];
	enum tap_rule_op op;
	double limit; /* in the metric's unit */
	enum tap_metric_unit unit;
};

/* All zero: empty. */
struct tap_rules {
	struct tap_rule *v; /* owned */
	unsigned int nr, cap;
	char **words; /* owned, and so is each string */
	unsigned int nr_words, cap_words;
};

#define TAP_RULES_MAX_BYTES ((size_t)1 << 20)

/*
 * Append the rules in a file's text. @file: its name for error messages. Return: 0; -EINVAL with a
 * sentence, "FILE:LINE:COLUMN: ..."; -ENOMEM.
 */
int tap_rules_parse(struct tap_rules *rules, const char *file, const char *text, size_t len,
		    struct tap_err *err);
/*
 * Append one rule, named "condition", whose text is the part after the colon. Return: as
 * tap_rules_parse().
 */
int tap_rules_parse_condition(struct tap_rules *rules, const char *text, struct tap_err *err);
void tap_rules_release(struct tap_rules *rules);

/* Judge a rule on a number that lies in [@low, @high]. */
enum tap_rule_verdict tap_rule_judge(const struct tap_rule *rule, double low, double high);

#endif
