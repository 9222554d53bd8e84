/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tally's numbers since the beginning, by cgroup, for counters that never decrease. A cgroup is
 * identified by its path: one that is removed and made again goes on with its numbers.
 */
#ifndef TAP_SHOW_METRICS_TOTALS_H
#define TAP_SHOW_METRICS_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/tally/tally.h"
#include "show/metrics/container.h"

#define TAP_TOTALS_CULPRITS 8 /* that a cgroup has by name */
#define TAP_TOTALS_KERNEL "kernel" /* .path of kernel threads */

/* A cgroup that others waited for. */
struct tap_total_culprit {
	char *path; /* owned; NULL: none */
	uint64_t ns;
};

/* Numbers of a cgroup. All times in ns. */
struct tap_total {
	char *path; /* owned */
	struct tap_container container; /* that it belongs to, as found when it came */
	uint64_t run_ns;
	uint64_t waits[TAP_TALLY_KINDS], wait_ns[TAP_TALLY_KINDS]; /* number, and their sum */
	uint64_t buckets[TAP_TALLY_KINDS][TAP_TALLY_BUCKETS]; /* of tap_tally_bucket() */
	/*
	 * The waits by what ran meanwhile: these and .culprits add up to .wait_ns. A culprit that
	 * is here by name stays as long as the cgroup; what comes later counts in .other_ns.
	 */
	uint64_t self_ns, idle_ns, kernel_ns, other_ns, elsewhere_ns;
	struct tap_total_culprit culprits[TAP_TOTALS_CULPRITS];
	uint64_t censored; /* number of waits whose length is not known */
	/*
	 * Time that its own quota was used up, of all CPUs together (cpu.stat), and the file's
	 * number at the last reading. Read of cgroups with throttled waits, and their ancestors.
	 */
	uint64_t throttled_ns, throttled_read_ns;
	uint64_t changed_ns; /* CLOCK_MONOTONIC: when numbers were last added */
	bool exists; /* a cgroup has this path now */
	bool was_shown, is_shown_last; /* shown at all; since .changed_ns */
};

/* CPUs that share the last level of cache. */
struct tap_total_llc {
	unsigned int llc;
	uint64_t idle_while_waiting_ns;
};

struct tap_totals { /* zeroed: empty, all cgroups by themselves */
	/* set by the user: */
	unsigned int depth; /* cgroups below count with their ancestor at this depth; 0: no limit */
	const char *glob; /* cgroups that do not match count with an ancestor; NULL: all match */
	const char *root; /* of tap_container_find(); NULL: "" */

	struct tap_total **v; /* owned; in the order in which they came */
	unsigned int nr;
	uint64_t cpu_ns, idle_ns, switches;
	/* of struct tap_tally_view and its CPUs together */
	uint64_t migrations[TAP_TALLY_SCOPES];
	uint64_t length_ns[TAP_TALLY_LENGTHS], runnable_ns;
	struct tap_total_llc *llcs; /* owned */
	unsigned int nr_llcs;
	void *by_path; /* tsearch(3) of them */
};

void tap_totals_release(struct tap_totals *t);
/* Add the numbers of a reading. Return: 0 or -ENOMEM. */
int tap_totals_add(struct tap_totals *t, const struct tap_tally_view *view);
/*
 * Get ready to be shown at @now_ns. Cgroups that are gone are left out once their last numbers were
 * shown, or after five minutes. A cgroup that came and went unseen counts with "PARENT/(removed)".
 * Return: 0 or -ENOMEM.
 */
int tap_totals_prepare(struct tap_totals *t, uint64_t now_ns);

/* Return: the numbers of a path, with those of a new cgroup if there are none; NULL: no memory. */
struct tap_total *tap_totals_at(struct tap_totals *t, const char *path);
/* Cut a path's last part off. Return: false: there was only one. */
bool tap_totals_cut(char *path);

/* Find the containers again. */
void tap_totals_find_containers(struct tap_totals *t);

#endif
