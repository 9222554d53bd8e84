/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The page of `summary`, from a pass that is over. */
#ifndef TAP_CLI_SUMMARY_PAGE_H
#define TAP_CLI_SUMMARY_PAGE_H

#include "analysis/gaps.h"
#include "analysis/pelt.h"
#include "cli/pass.h"

/*
 * @signals: util and nr_running of the CPUs; NULL: neither was recorded. @gaps: of the CPUs that
 * the options pick. @top: tasks to show.
 * Return: 0; -ENOMEM; -errno of write.
 */
int tap_summary_page(struct tap_pass *p, const struct tap_pelt *signals,
		     const struct tap_gaps *gaps, unsigned int top);

#endif
