/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `schedtap explain --at` for people: the tasks at one instant, in groups of tasks that did the
 * same. */
#ifndef TAP_REPORT_EXPLAIN_AT_H
#define TAP_REPORT_EXPLAIN_AT_H

#include "analysis/explain/explain.h"
#include "show/report/explain_words.h"

struct tap_explain_group {
	enum tap_state state;
	enum tap_verdict verdict; /* for waits; otherwise TAP_VERDICT_UNKNOWN */
	struct tap_stack_pair stack; /* for sleeps; otherwise none */
	unsigned int nr; /* number of tasks in the group */
	/* index of the task that had been in this state, or waits, for the longest time */
	unsigned int longest;
	uint64_t longest_ns;
};

struct tap_explain_groups { /* all zero: no groups */
	struct tap_explain_group *v; /* owned */
	unsigned int nr, cap;
};

/* Group @e->worst by state and verdict. The group with the longest wait comes first. Return: 0 or
 * -ENOMEM. */
int tap_explain_group_waits(struct tap_explain_groups *groups, const struct tap_explain *e);
/* Group what @nr tasks did by state and stack. The largest group comes first. Return: 0 or -ENOMEM.
 */
int tap_explain_group_apart(struct tap_explain_groups *groups, const struct tap_explained_apart *v,
			    unsigned int nr);
void tap_explain_groups_release(struct tap_explain_groups *groups);

#endif
