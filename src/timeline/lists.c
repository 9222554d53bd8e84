// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/lists.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define MAX_SET_WORDS (1u << 20) /* limit for all sets together: 8 MiB */

int tap_lists_add(struct tap_lists *lists, int tid, unsigned int when, const struct tap_listed *l)
{
	uint64_t *first;

	if (tap_array_grow(&lists->rows, lists->nr_rows, &lists->cap_rows, sizeof(*lists->rows)))
		return -ENOMEM;
	first = tap_map_put(&lists->by_tid, (uint64_t)tid);
	if (!first)
		return -ENOMEM;
	lists->rows[lists->nr_rows++] =
		(struct tap_listed_row){ tid, when, (unsigned int)*first, *l };
	*first = lists->nr_rows;
	return 0;
}

static bool are_equal(const struct tap_cpus *a, const struct tap_cpus *b)
{
	return a->nr_words == b->nr_words &&
	       !memcmp(a->bits, b->bits, a->nr_words * sizeof(*a->bits));
}

int tap_lists_cpus(struct tap_lists *lists, const char *text, unsigned int *cpus)
{
	struct tap_cpus set = { 0 };
	uint64_t *place;
	int ret = tap_cpus_parse(&set, text);

	*cpus = TAP_CPUS_NOT_KNOWN;
	if (ret || !set.nr_words || set.nr_words > MAX_SET_WORDS - lists->nr_set_words) {
		tap_cpus_release(&set);
		return ret == -ENOMEM ? ret : 0;
	}
	/* on a hash collision the next key is used */
	for (uint64_t key = tap_map_key(set.bits, set.nr_words * sizeof(*set.bits));; key++) {
		place = tap_map_put(&lists->by_bits, key);
		if (!place ||
		    tap_array_grow(&lists->sets, lists->nr_sets, &lists->cap_sets, sizeof(set))) {
			tap_cpus_release(&set);
			return -ENOMEM;
		}
		if (!*place) {
			*place = lists->nr_sets + TAP_CPUS_SOME;
			lists->sets[lists->nr_sets++] = set;
			lists->nr_set_words += set.nr_words;
			break;
		}
		if (are_equal(&lists->sets[*place - TAP_CPUS_SOME], &set)) {
			tap_cpus_release(&set);
			break;
		}
	}
	*cpus = (unsigned int)*place;
	return 0;
}

void tap_lists_release(struct tap_lists *lists)
{
	for (unsigned int i = 0; i < lists->nr_sets; i++)
		tap_cpus_release(&lists->sets[i]);
	free(lists->sets);
	tap_map_release(&lists->by_bits);
	free(lists->rows);
	tap_map_release(&lists->by_tid);
	*lists = (struct tap_lists){ 0 };
}

void tap_lists_drop(struct tap_lists *lists, int tid)
{
	uint64_t *first = tap_map_get(&lists->by_tid, (uint64_t)tid);

	if (first)
		*first = 0;
}

static void apply_row(struct tap_listed *l, const struct tap_listed *row)
{
	if (row->tgid && l->tgid && row->tgid != l->tgid) /* the row describes another task */
		return;
	if (row->tgid)
		l->tgid = row->tgid;
	if (row->cpus)
		l->cpus = l->cpus && l->cpus != row->cpus ? TAP_CPUS_DIFFER : row->cpus;
	if (row->cgroup)
		l->cgroup = row->cgroup;
	if (*row->comm)
		memcpy(l->comm, row->comm, sizeof(l->comm));
}

bool tap_lists_find(const struct tap_lists *lists, int tid, unsigned int when, struct tap_listed *l)
{
	const uint64_t *first = lists ? tap_map_get(&lists->by_tid, (uint64_t)tid) : NULL;

	*l = (struct tap_listed){ 0 };
	/* in order of time; a row read at several of these times counts as one of the first */
	for (unsigned int at = TAP_LISTED_BEGAN; first && at <= TAP_LISTED_ENDED; at <<= 1) {
		for (unsigned int i = (unsigned int)*first; i && (when & at);
		     i = lists->rows[i - 1].next)
			if (lists->rows[i - 1].when & at)
				apply_row(l, &lists->rows[i - 1].listed);
	}
	if (lists && !first && lists->saved && (when & TAP_LISTED_SOMETIME))
		lists->saved(lists->ctx, tid, l);
	return first;
}
