/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which events a command looks at: -e -p -t -c -g -C and --time, the same in all of them. Of
 * several values of one option one must match, and every option that is given must. The
 * options about tasks must all match one task: the one that was running, or one that the
 * event speaks of. A loss is always picked: nobody knows what was in it.
 */
#ifndef TAP_ANALYSIS_PICK_H
#define TAP_ANALYSIS_PICK_H

#include "analysis/who.h"
#include "base/opt.h"
#include "base/text.h"

/* As typed; an option that was not given is empty or NULL. */
struct tap_pick_opts {
	struct tap_strings events;  /* NAME or group, SYSTEM:NAME; globs */
	struct tap_strings tgids, tids;
	struct tap_strings comms;   /* globs */
	struct tap_strings cgroups; /* globs of paths; what is below matches too */
	const char *cpus;
	const char *window; /* window.h; the caller resolves it into .from_ns and .to_ns */
};

struct tap_pick {
	const struct tap_pick_opts *opts; /* borrowed */
	uint64_t from_ns, to_ns;	  /* 0, UINT64_MAX: open, as tap_pick_init() leaves it */
	struct tap_map tgids, tids;
	struct tap_cpus cpus;
	signed char *wanted; /* by kind: 0 not looked at yet, 1 yes, -1 no */
	unsigned int nr_wanted;
};

/*
 * @formats: what the recording has: an event that is none of them is refused.
 * Return: 0; -EINVAL with a sentence that names the option; -ENOMEM.
 */
int tap_pick_init(struct tap_pick *p, const struct tap_pick_opts *opts,
		  const struct tap_format *const *formats, unsigned int nr, struct tap_err *err);
void tap_pick_release(struct tap_pick *p);

/* -e: whether events of this kind can match at all. */
bool tap_pick_wants(const struct tap_pick *p, const struct tap_format *fmt);

/* @kind: of ev->fmt; NULL for a loss. Return: 1 or 0; -ENOMEM. */
int tap_pick_match(struct tap_pick *p, struct tap_who *who, const struct tap_who_kind *kind,
		   const struct tap_event *ev);

/*
 * -p -t -c -g about a task alone. @tgid: its process, -1: not known, 0: the one that @who has;
 * @comm, @len: its name; @cgroup: its kernfs id, 0: the one that @who has.
 * Return: 1 or 0; -ENOMEM.
 */
int tap_pick_task(const struct tap_pick *p, struct tap_who *who, int tid, int tgid,
		  const char *comm, size_t len, uint64_t cgroup);

#endif
