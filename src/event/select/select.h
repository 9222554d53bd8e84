/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The inner structure of a selection (schedtap/select.h), for code that translates it to the
 * kernel's terms without parsing anything, and functions that evaluate single options, to report
 * which option matches nothing.
 */
#ifndef TAP_SELECT_SELECT_H
#define TAP_SELECT_SELECT_H

#include <schedtap/select.h>

#include "base/buf.h"
#include "base/glob.h"
#include "base/map.h"
#include "base/opt.h"
#include "base/text.h"

#define TAP_SELECT_ID_MAX 4194304 /* PID_MAX_LIMIT (include/linux/threads.h): IDs are below it */

/* The options, as a bit mask. */
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
	const char *system, *name; /* of an event; in a tap_select_word both are globs */
};

/* One -e word: an event matches if any of the globs matches. */
struct tap_select_word {
	char *text; /* as typed */
	char *filter; /* its -f filter, or NULL */
	bool is_group;
	struct tap_select_name *globs;
	unsigned int nr_globs;
};

struct tap_select_ids {
	struct tap_strings text; /* the words as typed */
	int *v;
	unsigned int nr;
	struct tap_map set;
};

struct tap_select {
	unsigned int by; /* enum tap_select_by: options that were given */
	struct tap_select_word *events;
	unsigned int nr_events;
	struct tap_select_ids tgids, tids;
	struct tap_strings comms;
	struct tap_glob *comm_globs; /* several, if one automaton has too few states */
	unsigned int nr_comm_globs;
	struct tap_strings cgroups;
	char **cgroup_globs; /* two for each -g: the cgroup, and its descendants */
	char *cpu_list;
	struct tap_cpus cpus;
};

extern const struct tap_select tap_select_all; /* the selection without options */

/* The options of a command as typed; options that were not given are empty or NULL. */
struct tap_select_words {
	struct tap_strings events, tgids, tids, comms, cgroups;
	struct tap_filters filters; /* for .events, by index */
	const char *cpus;
};

/* Call tap_select_new() with these words. */
int tap_select_read(const struct tap_select_words *words, struct tap_select **out,
		    struct tap_err *err);

/*
 * Find an event's filter: the -f of the -e words that match it. @filter: borrowed; NULL if there is
 * none. Return: 0; -EINVAL with a sentence if these words have different filters.
 */
int tap_select_filter(const struct tap_select *s, const char *system, const char *name,
		      const char **filter, struct tap_err *err);

bool tap_select_word_fits(const struct tap_select_word *w, const char *system, const char *name);

/* Evaluate only the options in @by, as tap_select_task() does. */
bool tap_select_task_by(const struct tap_select *s, unsigned int by,
			const struct tap_select_task *task);

/* Return true if the -g at @index matches this path or one of its ancestors. */
bool tap_select_cgroup_fits(const struct tap_select *s, unsigned int index, const char *path);

static inline bool tap_select_tid(const struct tap_select *s, int tid)
{
	return !(s->by & TAP_SELECT_TIDS) || tap_map_get(&s->tids.set, (uint64_t)tid);
}

/*
 * Add ": did you mean 'THIS'?" to the error for a -e that matches none of @nr events, if an event's
 * name is similar.
 */
void tap_select_suggest(const struct tap_select_word *w, const struct tap_select_name *names,
			unsigned int nr, struct tap_buf *out);

#endif
