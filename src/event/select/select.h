/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a selection (schedtap/select.h) is made of, for those who say it in the kernel's words: they
 * translate, and parse nothing. And what each option says by itself, for telling which of them fits
 * nothing.
 */
#ifndef TAP_SELECT_SELECT_H
#define TAP_SELECT_SELECT_H

#include <schedtap/select.h>

#include "base/buf.h"
#include "base/glob.h"
#include "base/map.h"
#include "base/opt.h"
#include "base/text.h"

#define TAP_SELECT_ID_MAX 4194304 /* PID_MAX_LIMIT of include/linux/threads.h: ids are below it */

/* The options. */
enum tap_select_by {
	TAP_SELECT_EVENTS = 1,
	TAP_SELECT_TGIDS = 2,
	TAP_SELECT_TIDS = 4,
	TAP_SELECT_COMMS = 8,
	TAP_SELECT_CGROUPS = 16,
	TAP_SELECT_CPUS = 32,
	TAP_SELECT_TASKS =
		TAP_SELECT_TGIDS | TAP_SELECT_TIDS | TAP_SELECT_COMMS | TAP_SELECT_CGROUPS,
};

struct tap_select_name {
	const char *system, *name; /* of an event; globs of both in a tap_select_word */
};

/* One -e: an event fits one of the globs, or none. */
struct tap_select_word {
	char *text; /* as typed */
	char *filter; /* -f, or NULL */
	bool is_group;
	struct tap_select_name *globs;
	unsigned int nr_globs;
};

struct tap_select_ids {
	struct tap_strings text; /* as typed, as are all of these */
	int *v;
	unsigned int nr;
	struct tap_map set;
};

struct tap_select {
	unsigned int by; /* enum tap_select_by: the options that are given */
	struct tap_select_word *events;
	unsigned int nr_events;
	struct tap_select_ids tgids, tids;
	struct tap_strings comms;
	struct tap_glob *comm_globs; /* as many as it takes: one has room for a few */
	unsigned int nr_comm_globs;
	struct tap_strings cgroups;
	char **cgroup_globs; /* two for each: of itself, and of those below it */
	char *cpu_list;
	struct tap_cpus cpus;
};

extern const struct tap_select tap_select_all; /* without any option */

/* The options of a command, as typed; one that was not given is empty or NULL. */
struct tap_select_words {
	struct tap_strings events, tgids, tids, comms, cgroups;
	struct tap_filters filters; /* of .events */
	const char *cpus;
};

/* tap_select_new(), of these. */
int tap_select_read(const struct tap_select_words *words, struct tap_select **out,
		    struct tap_err *err);

/*
 * The one filter of an event: of those of -e that it fits. @filter: borrowed; NULL: none has one.
 * Return: 0; -EINVAL with a sentence: they have several; which counts nobody knows.
 */
int tap_select_filter(const struct tap_select *s, const char *system, const char *name,
		      const char **filter, struct tap_err *err);

bool tap_select_word_fits(const struct tap_select_word *w, const char *system, const char *name);

/* tap_select_task() by the given ones of its options alone. */
bool tap_select_task_by(const struct tap_select *s, unsigned int by,
			const struct tap_select_task *task);

/* Whether the cgroup of this path is that of the -g at @index, or below it. */
bool tap_select_cgroup_fits(const struct tap_select *s, unsigned int index, const char *path);

static inline bool tap_select_tid(const struct tap_select *s, int tid)
{
	return !(s->by & TAP_SELECT_TIDS) || tap_map_get(&s->tids.set, (uint64_t)tid);
}

/* Adds ": did you mean 'THIS'?" to what is said of a -e that fits none of @nr events, if one of
 * them is near. */
void tap_select_suggest(const struct tap_select_word *w, const struct tap_select_name *names,
			unsigned int nr, struct tap_buf *out);

#endif
