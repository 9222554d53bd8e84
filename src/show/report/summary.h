/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* State of `summary`, and its sections (summary_page.c). */
#ifndef TAP_REPORT_SUMMARY_H
#define TAP_REPORT_SUMMARY_H

#include "analysis/gaps.h"
#include "show/report/cgroup_cells.h"
#include "show/report/report.h"

struct summary_opts {
	struct tap_report_opts common;
	bool check;
	int64_t depth;
};

struct summary {
	struct tap_report report;
	/* unknown times, and their causes, of the CPUs that the options select */
	struct tap_gaps gaps;
	bool any_own; /* the table of tasks shows the recorder itself */
	struct tap_cgroup_groups cgroups;
};

extern const struct tap_section tap_summary_sections[];

#endif
