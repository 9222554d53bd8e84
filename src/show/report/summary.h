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
	struct tap_gaps gaps; /* only CPUs that the options select */
	bool any_own; /* a task of the recorder itself was shown */
	struct tap_cgroup_groups cgroups;
};

extern const struct tap_section tap_summary_sections[];

#endif
