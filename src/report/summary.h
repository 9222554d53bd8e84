/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of `summary`: what it is made of, and its sections (summary_page.c). */
#ifndef TAP_REPORT_SUMMARY_H
#define TAP_REPORT_SUMMARY_H

#include "analysis/gaps.h"
#include "analysis/pelt.h"
#include "report/report.h"

struct summary_opts {
	struct tap_report_opts common;
	bool check;
};

struct summary {
	struct tap_report report;
	struct tap_pelt *signals; /* util and nr_running of the CPUs; NULL: neither was recorded */
	struct tap_gaps gaps;	  /* of the CPUs that the options pick */
	struct tap_task **tasks;  /* that lived in the window, and that the options pick: the busiest first; owned */
	unsigned int nr_tasks;
	bool any_own; /* of the recorder's own was shown */
};

/* Return: 0 or -ENOMEM. */
int tap_summary_find_tasks(struct summary *s);

extern const struct tap_section tap_summary_sections[];

#endif
