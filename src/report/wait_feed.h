/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Feeds a run to the explanation of waits, and to nobody else. */
#ifndef TAP_REPORT_WAIT_FEED_H
#define TAP_REPORT_WAIT_FEED_H

#include "explain/waits.h"
#include "run/run.h"

/* @opts: .timeline and .has_placing are the run's, whatever they say. Behind the survey. Return: as tap_run_feed(). */
int tap_run_feed_waits(struct tap_run *run, const struct tap_explain_waits_opts *opts, struct tap_err *err);

#endif
