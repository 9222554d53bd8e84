/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One run of `pelt`. Its modes other than curves (--verify, --util-est, --what-if) have a file
 * each.
 */
#ifndef TAP_REPORT_PELT_H
#define TAP_REPORT_PELT_H

#include "analysis/pelt_verify.h"
#include "analysis/pelt_what_if.h"
#include "analysis/util_est.h"
#include "show/out/pelt.h"
#include "show/report/report.h"

struct tap_pelt_report_opts {
	struct tap_report_opts common;
	struct tap_strings signals;
	const char *what_if;
	bool table, points, while_running, verify, util_est;
};

struct tap_pelt_report {
	struct tap_report report;
	const struct tap_pelt_report_opts *opts;
	enum tap_pelt_subject subject; /* TAP_PELT_CPU: CPUs and domains */
	const char *by_default; /* the signal to show without -s */
	struct tap_plot plot;
	struct tap_pelt_verify verify;
	struct tap_util_est util_est;
	struct tap_pelt_what_if what_if;
	struct tap_pelt_group *groups; /* for --what-if; owned */
	unsigned int nr_groups;
};

/*
 * Return: B, if @word is "A,B", the argument of -s for two signals in one plot; NULL: @word is a
 * glob.
 */
const char *tap_pelt_report_second(const char *word);
/* Return true if -s names @signal; @by_default if there is no -s. */
bool tap_pelt_report_names(const struct tap_pelt_report_opts *o, const char *signal,
			   bool by_default);

/* Return true if -g selects this cgroup. */
bool tap_pelt_report_wants_cgroup(const struct tap_pelt_report *p, uint64_t cgroup);

/* Return the series with what the recording knows about its subject. */
struct tap_out_pelt tap_pelt_report_about(struct tap_pelt_report *p,
					  const struct tap_pelt_series *s);
/* Show series as plots or tables, for people and programs. */
void tap_pelt_report_put(struct tap_pelt_report *p, struct tap_page *page,
			 struct tap_pelt_series *const *all, unsigned int nr);

/* --verify: called from the report's .begin and .end. */
int tap_pelt_report_verify(struct tap_pelt_report *p, struct tap_err *err);
void tap_pelt_report_verify_end(struct tap_pelt_report *p);
/* --util-est: called from the report's .begin and .end. */
int tap_pelt_report_util_est(struct tap_pelt_report *p, struct tap_err *err);
int tap_pelt_report_util_est_end(struct tap_pelt_report *p, struct tap_err *err);
/* --what-if: called from the report's .begin. */
int tap_pelt_report_what_if(struct tap_pelt_report *p, struct tap_err *err);

#endif
