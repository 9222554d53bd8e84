/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Run time, throttled time and pressure of each cgroup since the last reading. */
#ifndef TAP_RECORD_ACCOUNTS_CGROUPS_H
#define TAP_RECORD_ACCOUNTS_CGROUPS_H

#include "base/map.h"
#include "record/accounts/view.h"

/* A cgroup's numbers since it was created, with those of the cgroups below it. */
struct tap_cgroup_reading {
	char *path; /* owned */
	unsigned int parent; /* index + 1 of another one; 0: it has none */
	struct tap_known run_ns, throttled_ns, pressure_ns;
};

struct tap_cgroups_reading {
	struct tap_cgroup_reading *v; /* owned; a parent comes before its children */
	unsigned int nr, cap;
	struct tap_map by_id; /* index */
};

struct tap_cgroup_accounts { /* zeroed: nothing read yet */
	struct tap_cgroups_reading before, now;
	struct tap_accounts_cgroup *v; /* owned; cgroups that have a number that is not 0 */
	unsigned int nr;
};

/*
 * Read all cgroups of the hierarchy at @root (NULL: there are none), and compare them with the last
 * reading. @cpuacct: as in struct tap_accounts_opts. Return: 0; -ENOMEM.
 */
int tap_cgroup_accounts_read(struct tap_cgroup_accounts *c, const char *root, const char *cpuacct);
/* Set the view's cgroups. */
void tap_cgroup_accounts_view(const struct tap_cgroup_accounts *c, struct tap_accounts_view *view);
void tap_cgroup_accounts_release(struct tap_cgroup_accounts *c);

#endif
