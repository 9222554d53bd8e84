/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What somebody asserts of recordings, a rule a line:
 *
 *	rule NAME : [median] METRIC [-c COMM] [-p PID] [-t TID] [-g CGROUP] OP VALUE[UNIT]	# a
 *comment
 *
 * METRIC is one of analysis/metric/bounds.h's names, OP one of < <= > >= == !=, UNIT one of ns us
 *ms s % /s kHz MHz GHz or none, as the metric has it; 0 may go without. What the options name may
 *stand in quotes, single or double. With "median" the rule is about the median of all recordings,
 *else about each of them.
 *
 * A rule has three values, for a number has a least and a most (analysis/metric/bounds.h): passed
 *whatever the number is between them, failed whatever it is, or undecided.
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

/* In the order of how bad it is. */
enum tap_rule_verdict { TAP_RULE_PASSED, TAP_RULE_UNDECIDED, TAP_RULE_FAILED };

const char *tap_rule_verdict_name(enum tap_rule_verdict v); /* "passed", "undecided", "failed" */

/* Its options. */
enum tap_rule_by {
	TAP_RULE_BY_COMM,
	TAP_RULE_BY_PID,
	TAP_RULE_BY_TID,
	TAP_RULE_BY_CGROUP,
	TAP_RULE_NR_BY
};

extern const char tap_rule_letters[TAP_RULE_NR_BY + 1]; /* "cptg" */

struct tap_rule {
	const char *name, *metric; /* owned by the rules */
	bool is_median;
	struct tap_strings by[TAP_RULE_NR_BY]; /* their strings are the rules' */
	enum tap_rule_op op;
	double limit; /* in the metric's unit */
	enum tap_metric_unit unit;
};

/* {0} is empty. */
struct tap_rules {
	struct tap_rule *v; /* owned */
	unsigned int nr, cap;
	char **words; /* owned, as they are */
	unsigned int nr_words, cap_words;
};

#define TAP_RULES_MAX_BYTES ((size_t)1 << 20)

/*
 * Adds those of a file's text. @file: what the sentence calls it. Return: 0; -EINVAL with a
 * sentence, "FILE:LINE:COLUMN: ..."; -ENOMEM.
 */
int tap_rules_parse(struct tap_rules *rules, const char *file, const char *text, size_t len,
		    struct tap_err *err);
void tap_rules_release(struct tap_rules *rules);

/* Of a number that lies in [@low, @high]. */
enum tap_rule_verdict tap_rule_judge(const struct tap_rule *rule, double low, double high);

#endif
