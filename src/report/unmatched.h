/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* -p -t -c -g -C that fit nothing: what was meant, perhaps. */
#ifndef TAP_REPORT_UNMATCHED_H
#define TAP_REPORT_UNMATCHED_H

#include "analysis/pick.h"
#include "report/recording.h"

/* What there was to pick from. */
struct tap_there {
	const struct tap_task **tasks; /* the array is owned */
	unsigned int nr_tasks, cap_tasks;
	unsigned int nr_cpus; /* of the machine */
};

int tap_there_add(struct tap_there *t, const struct tap_task *task); /* 0 or -ENOMEM */
void tap_there_release(struct tap_there *t);

/*
 * Notes a sentence for each option that fits nothing of what is there, with the nearest that is;
 * where each fits something, but no task fits all, that. Return: whether there was one.
 */
bool tap_unmatched(const struct tap_pick *pick, struct tap_recording *rec,
		   const struct tap_there *there);

#endif
