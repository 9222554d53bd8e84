/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Check recordings against rules (analysis/rule/rule.h). */
#ifndef TAP_REPORT_CHECK_H
#define TAP_REPORT_CHECK_H

#include "analysis/rule/rule.h"
#include "show/report/measured.h"

/* Result of one rule for one recording. */
struct tap_checked {
	bool is_there; /* .value, .low and .high are known */
	const char *why; /* the reason why there is no value, if !.is_there */
	double value, low, high;
	enum tap_rule_verdict verdict;
};

struct tap_check {
	const struct tap_rules *rules;
	const char *const *paths;
	unsigned int nr_paths;
	const char *window; /* argument of --time, or NULL */
	const char *between, *by; /* arguments of --between and --by, or NULL */
	bool is_strict; /* treat undecided as failed: for formats without a third verdict */
	struct tap_checked *each; /* owned; rule r for path p is at [r * nr_paths + p] */
	/* owned; per rule, over all recordings: the worst result, or the median */
	struct tap_checked *rule;
	unsigned int *worst; /* owned; per rule, the index of the recording with the worst result */
	struct tap_buf notes; /* notes from reading, one per line */
};

/* Output format of the results. */
struct tap_check_format {
	void (*put)(const struct tap_check *c, struct tap_buf *out);
};

extern const struct tap_check_format tap_check_text, tap_check_json, tap_check_tap, tap_check_junit;

/*
 * Read each recording, once for each selection of tasks in the rules. Return: 0; -errno with a
 * sentence: @usage says whether options are to blame. Release @c in either case.
 */
int tap_check_run(struct tap_check *c, bool *usage, struct tap_err *err);
void tap_check_release(struct tap_check *c);
/* returns the worst verdict of all rules */
enum tap_rule_verdict tap_check_verdict(const struct tap_check *c);

#endif
