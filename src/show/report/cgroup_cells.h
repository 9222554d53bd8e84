/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cgroups of a report: grouped at a depth of the hierarchy, and labelled in tables for people. */
#ifndef TAP_REPORT_CGROUP_CELLS_H
#define TAP_REPORT_CGROUP_CELLS_H

#include "timeline/run/run.h"
#include "show/out/table.h"

#define TAP_CGROUP_WIDTH 28 /* maximum width of a label, in columns */
/* clang-format off */
#define TAP_OPT_DEPTH(opts)                                                                        \
	{ "depth", 0, "N",                                                                         \
	  "show cgroups down to level N, which includes all cgroups below it [all levels]",  \
	  TAP_OPT_INT, offsetof(opts, depth), .min = 1, .max = 64 }
/* clang-format on */

struct tap_cgroup_group {
	uint64_t id; /* the least cgroup id in the group */
	char *path; /* owned */
	char *label; /* owned; NULL: the label is the path */
	bool is_shown;
};

struct tap_cgroup_groups {
	/*
	 * .of_id maps a cgroup's kernfs id, and .by_path with a depth the key of a path, to index +
	 * 1 in .v.
	 */
	struct tap_map of_id, by_path;
	struct tap_cgroup_group *v; /* owned; sorted by id */
	unsigned int nr, cap;
	/* owned; path that all shown paths begin with and that labels omit; NULL: none */
	char *common;
};

/*
 * Group the cgroups of a recording. @depth: level below the root at which cgroups are merged with
 * their descendants; 0: each cgroup is its own group. Return: 0 or -ENOMEM.
 */
int tap_cgroup_groups_init(struct tap_cgroup_groups *g, const struct tap_cgroups *cgroups,
			   int64_t depth);
void tap_cgroup_groups_release(struct tap_cgroup_groups *g);
/* Return: the id of the cgroup's group; @id itself if its path is unknown. */
uint64_t tap_cgroup_group_of(const struct tap_cgroup_groups *g, uint64_t id);

/* Mark the cgroup's group as shown in the table. */
void tap_cgroup_show(struct tap_cgroup_groups *g, uint64_t id);
/* Make unique labels for the shown groups. Return: 0 or -ENOMEM. */
int tap_cgroup_make_labels(struct tap_cgroup_groups *g);
/* Print a sentence after the table that names the path prefix which labels omit, if any. */
void tap_cgroup_common_sentence(const struct tap_cgroup_groups *g, struct tap_page *p);
/* Add a cell: the label for people, otherwise the path. */
void tap_cgroup_cell(const struct tap_cgroup_groups *g, struct tap_table *t, uint64_t id);

#endif
