/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A report's cgroups: grouped to a depth, and as its tables for people name them. */
#ifndef TAP_REPORT_CGROUP_CELLS_H
#define TAP_REPORT_CGROUP_CELLS_H

#include "timeline/run/run.h"
#include "show/out/table.h"

#define TAP_CGROUP_WIDTH 28 /* of a label, in columns */
/* clang-format off */
#define TAP_OPT_DEPTH(opts)                                                                        \
	{ "depth", 0, "N", "show cgroups down to level N, which includes all cgroups below it [all levels]", \
			   TAP_OPT_INT, offsetof(opts, depth), .min = 1, .max = 64 }
/* clang-format on */

struct tap_cgroup_group {
	uint64_t id; /* the least of those that it has */
	char *path; /* owned */
	char *label; /* owned; NULL: as the path */
	bool is_shown;
};

struct tap_cgroup_groups {
	/* a kernfs id, or with a depth the key of a path -> index + 1 */
	struct tap_map of_id, by_path;
	struct tap_cgroup_group *v; /* owned; by id */
	unsigned int nr, cap;
	char *common; /* owned; NULL: shown paths have nothing in common that labels leave out */
};

/* @depth: levels below the root, of which each group is one at most; 0: each cgroup is a group.
 * Return: 0 or -ENOMEM. */
int tap_cgroup_groups_init(struct tap_cgroup_groups *g, const struct tap_cgroups *cgroups,
			   int64_t depth);
void tap_cgroup_groups_release(struct tap_cgroup_groups *g);
/* Return: its group's id; @id itself where its path is not known. */
uint64_t tap_cgroup_group_of(const struct tap_cgroup_groups *g, uint64_t id);

/* Marks the cgroup's group as one that the table will have. */
void tap_cgroup_show(struct tap_cgroup_groups *g, uint64_t id);
/* Makes labels for what is shown, none of them twice. Return: 0 or -ENOMEM. */
int tap_cgroup_make_labels(struct tap_cgroup_groups *g);
/* A sentence after the table, where labels leave something out. */
void tap_cgroup_common_sentence(const struct tap_cgroup_groups *g, struct tap_page *p);
/* For people the label, else the path. */
void tap_cgroup_cell(const struct tap_cgroup_groups *g, struct tap_table *t, uint64_t id);

#endif
