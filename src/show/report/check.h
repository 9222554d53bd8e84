/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rules (analysis/rule/rule.h) held against recordings. */
#ifndef TAP_REPORT_CHECK_H
#define TAP_REPORT_CHECK_H

#include "analysis/rule/rule.h"
#include "show/report/measured.h"

/* Of a rule and a recording. */
struct tap_checked {
	bool is_there; /* else: */
	const char *why; /* there is no number */
	double value, low, high;
	enum tap_rule_verdict verdict;
};

struct tap_check {
	const struct tap_rules *rules;
	const char *const *paths;
	unsigned int nr_paths;
	const char *window; /* --time, or NULL */
	const char *between, *by; /* likewise */
	bool is_strict; /* undecided is failed: for formats that have no third value */
	struct tap_checked *each; /* owned; of rule r and path p: [r * nr_paths + p] */
	struct tap_checked *rule; /* owned; of all recordings: the worst, or their median */
	unsigned int *worst; /* owned; the recording that is worst for it */
	struct tap_buf notes; /* of reading; one a line */
};

/* How the outcome is written. */
struct tap_check_format {
	void (*put)(const struct tap_check *c, struct tap_buf *out);
};

extern const struct tap_check_format tap_check_text, tap_check_json, tap_check_tap, tap_check_junit;

/*
 * Reads the recordings, once for each choice of tasks. Return: 0; -errno with a sentence: @usage
 * says whether options are to blame. Release in either case.
 */
int tap_check_run(struct tap_check *c, bool *usage, struct tap_err *err);
void tap_check_release(struct tap_check *c);
enum tap_rule_verdict tap_check_verdict(const struct tap_check *c); /* the worst */

#endif
