// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/metrics/totals.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With so many cgroups, those that are gone are not kept until they are shown. */
#define MAX_KEPT 2048u
#define KEPT_NS 300000000000u /* Prometheus takes a series for gone after five minutes, too */
#define REMOVED "/(removed)"
/* The part of the waits of one reading from which a culprit is counted by name: 1 / this. */
#define NAMED_PART 20
#define PATH_BYTES (PATH_MAX + sizeof(REMOVED))

/* ---- by path ---- */

static int by_path(const void *a, const void *b)
{
	const struct tap_total *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static void free_total(struct tap_total *c)
{
	if (!c)
		return;
	for (unsigned int i = 0; i < TAP_TOTALS_CULPRITS; i++)
		free(c->culprits[i].path);
	tap_container_release(&c->container);
	free(c->path);
	free(c);
}

static struct tap_total *add_total(struct tap_totals *t, const char *path)
{
	struct tap_total *c = calloc(1, sizeof(*c)), **v;

	v = realloc(t->v, (t->nr + 1) * sizeof(*v));
	if (v)
		t->v = v;
	if (c)
		c->path = strdup(path);
	if (!v || !c || !c->path || !tsearch(c, &t->by_path, by_path)) {
		free_total(c);
		return NULL;
	}
	tap_container_find(path, t->root ?: "", &c->container);
	t->v[t->nr++] = c;
	return c;
}

void tap_totals_find_containers(struct tap_totals *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		tap_container_release(&t->v[i]->container);
		tap_container_find(t->v[i]->path, t->root ?: "", &t->v[i]->container);
	}
}

/* Return: NULL: there is none. */
static struct tap_total *find_total(const struct tap_totals *t, const char *path)
{
	const struct tap_total key = { .path = (char *)path };
	struct tap_total **found = tfind(&key, &t->by_path, by_path);

	return found ? *found : NULL;
}

struct tap_total *tap_totals_at(struct tap_totals *t, const char *path)
{
	return find_total(t, path) ?: add_total(t, path);
}

static void remove_total(struct tap_totals *t, struct tap_total *c)
{
	tdelete(c, &t->by_path, by_path);
	free_total(c);
}

void tap_totals_release(struct tap_totals *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		remove_total(t, t->v[i]);
	free(t->v);
	free(t->llcs);
	*t = (struct tap_totals){ 0 };
}

/* ---- paths ---- */

bool tap_totals_cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

static unsigned int depth_of(const char *path)
{
	unsigned int nr = 0;

	for (; *path; path++)
		nr += *path == '/' && path[1];
	return nr;
}

/* The path under which the numbers of a slot's cgroup are shown: its own, or an ancestor's. */
static const char *shown_path(const struct tap_totals *t, const char *name, char *path)
{
	snprintf(path, PATH_BYTES, "%s", name);
	while (t->depth && depth_of(path) > t->depth)
		tap_totals_cut(path);
	while (t->glob && fnmatch(t->glob, path, 0) && tap_totals_cut(path))
		;
	return path;
}

static bool is_removed(const char *path)
{
	size_t len = strlen(path);

	return len >= strlen(REMOVED) && !strcmp(path + len - strlen(REMOVED), REMOVED);
}

/* ---- add ---- */

static int add_culprit(struct tap_total *c, const char *path, uint64_t ns, bool may_be_new)
{
	struct tap_total_culprit *place = c->culprits, *end = place + TAP_TOTALS_CULPRITS;

	if (!strcmp(path, c->path)) {
		c->self_ns += ns;
		return 0;
	}
	while (place < end && place->path && strcmp(place->path, path))
		place++;
	if (place == end || (!place->path && !may_be_new)) {
		c->other_ns += ns;
		return 0;
	}
	place->path = place->path ?: strdup(path);
	place->ns += ns;
	return place->path ? 0 : -ENOMEM;
}

static int add_culprits(const struct tap_totals *t, struct tap_total *c,
			const struct tap_tally_view *view, const struct tap_tally_row *row)
{
	uint64_t all_ns = 0;
	char path[PATH_BYTES];
	int ret = 0;

	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		all_ns += row->wait_ns[k];
	c->self_ns += row->self_ns;
	c->idle_ns += row->idle_ns;
	c->kernel_ns += row->kernel_ns;
	c->other_ns += row->other_ns;
	c->elsewhere_ns += row->elsewhere_ns;
	for (unsigned int i = 0; !ret && i < TAP_TALLY_CULPRITS; i++) {
		const struct tap_tally_culprit *p = &row->culprits[i];
		const char *name = p->slot < view->nr_slots ? view->names[p->slot] : NULL;

		if (p->ns)
			ret = add_culprit(c, shown_path(t, name ?: REMOVED, path), p->ns,
					  p->ns >= all_ns / NAMED_PART);
	}
	return ret;
}

static void add_waits(struct tap_total *c, enum tap_tally_kind kind,
		      const struct tap_tally_row *row)
{
	c->wait_ns[kind] += row->wait_ns[kind];
	for (unsigned int i = 0; i < TAP_TALLY_BUCKETS; i++) {
		c->buckets[kind][i] += row->buckets[kind][i];
		c->waits[kind] += row->buckets[kind][i];
	}
}

static int add_slot(struct tap_totals *t, const struct tap_tally_view *view, unsigned int slot)
{
	const struct tap_tally_row *row = &view->rows[slot];
	char buf[PATH_BYTES];
	const char *path = slot == TAP_TALLY_KERNEL ? TAP_TOTALS_KERNEL
						    : shown_path(t, view->names[slot], buf);
	struct tap_total *c = tap_totals_at(t, path);

	if (!c)
		return -ENOMEM;
	c->exists |= !view->released_ns[slot];
	if (tap_tally_is_empty(view, slot))
		return 0;
	c->changed_ns = view->to_ns;
	c->is_shown_last = false;
	c->run_ns += view->run_ns[slot];
	for (unsigned int i = 0; i < TAP_TALLY_REASONS; i++)
		c->censored += row->censored[i];
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++)
		if (tap_tally_has_waits(row, k))
			add_waits(c, k, row);
	return add_culprits(t, c, view, row);
}

/* ---- cgroups that are gone ---- */

static int fold(struct tap_total *into, const struct tap_total *c)
{
	int ret = 0;

	into->run_ns += c->run_ns;
	into->throttled_ns += c->throttled_ns;
	into->self_ns += c->self_ns;
	into->idle_ns += c->idle_ns;
	into->kernel_ns += c->kernel_ns;
	into->other_ns += c->other_ns;
	into->elsewhere_ns += c->elsewhere_ns;
	into->censored += c->censored;
	for (unsigned int k = 0; k < TAP_TALLY_KINDS; k++) {
		into->waits[k] += c->waits[k];
		into->wait_ns[k] += c->wait_ns[k];
		for (unsigned int i = 0; i < TAP_TALLY_BUCKETS; i++)
			into->buckets[k][i] += c->buckets[k][i];
	}
	for (unsigned int i = 0; !ret && i < TAP_TOTALS_CULPRITS && c->culprits[i].path; i++)
		ret = add_culprit(into, c->culprits[i].path, c->culprits[i].ns, true);
	return ret;
}

static int fold_removed(struct tap_totals *t, const struct tap_total *c)
{
	char path[PATH_BYTES];
	struct tap_total *into;

	snprintf(path, sizeof(path) - strlen(REMOVED), "%s", c->path);
	tap_totals_cut(path);
	strcpy(path + (path[1] ? strlen(path) : 0), REMOVED); /* of the root: not "//" */
	into = find_total(t, path);
	if (!into && t->nr >= MAX_KEPT) /* too many parents: one for all */
		into = find_total(t, strcpy(path, REMOVED));
	into = into ?: add_total(t, path);
	return into ? fold(into, c) : -ENOMEM;
}

/* Return: whether a cgroup's numbers are still to be shown. */
static bool is_due(const struct tap_total *c, uint64_t now_ns)
{
	return c->exists || is_removed(c->path) ||
	       (c->was_shown && !c->is_shown_last && now_ns - c->changed_ns < KEPT_NS);
}

static int drop_gone(struct tap_totals *t, uint64_t now_ns)
{
	struct tap_total **gone = malloc((t->nr + 1) * sizeof(*gone));
	unsigned int nr = t->nr, nr_gone = 0;
	int ret = 0;

	if (!gone)
		return -ENOMEM;
	t->nr = 0;
	for (unsigned int i = 0; i < nr; i++) {
		if (is_due(t->v[i], now_ns))
			t->v[t->nr++] = t->v[i];
		else
			gone[nr_gone++] = t->v[i];
	}
	for (unsigned int i = 0; i < nr_gone; i++) {
		ret = ret ?: gone[i]->was_shown ? 0 : fold_removed(t, gone[i]);
		remove_total(t, gone[i]);
	}
	free(gone);
	return ret;
}

static void add_cpu(struct tap_totals *t, const struct tap_tally_cpu_view *c)
{
	t->switches += c->switches;
	t->runnable_ns += c->runnable_ns;
	for (unsigned int i = 0; i < TAP_TALLY_LENGTHS; i++)
		t->length_ns[i] += c->length_ns[i];
}

/* Return: NULL: no memory. */
static struct tap_total_llc *llc_of(struct tap_totals *t, unsigned int llc)
{
	struct tap_total_llc *llcs;

	for (unsigned int i = 0; i < t->nr_llcs; i++)
		if (t->llcs[i].llc == llc)
			return &t->llcs[i];
	llcs = realloc(t->llcs, (t->nr_llcs + 1) * sizeof(*llcs));
	if (!llcs)
		return NULL;
	t->llcs = llcs;
	llcs[t->nr_llcs] = (struct tap_total_llc){ .llc = llc };
	return &llcs[t->nr_llcs++];
}

static int add_llc(struct tap_totals *t, const struct tap_tally_llc_view *v)
{
	struct tap_total_llc *llc = llc_of(t, v->llc);

	if (llc)
		llc->idle_while_waiting_ns += v->idle_while_waiting_ns;
	return llc ? 0 : -ENOMEM;
}

int tap_totals_add(struct tap_totals *t, const struct tap_tally_view *view)
{
	int ret = 0;

	for (unsigned int i = 0; i < t->nr; i++)
		t->v[i]->exists = false;
	for (unsigned int i = TAP_TALLY_KERNEL; !ret && i < view->nr_slots; i++)
		if (view->names[i])
			ret = add_slot(t, view, i);
	t->cpu_ns += view->cpu_ns;
	t->idle_ns += view->run_ns[TAP_TALLY_IDLE];
	for (unsigned int i = 0; i < TAP_TALLY_SCOPES; i++)
		t->migrations[i] += view->migrations[i];
	for (unsigned int i = 0; i < view->nr_cpus; i++)
		add_cpu(t, &view->cpus[i]);
	for (unsigned int i = 0; !ret && i < view->nr_llcs; i++)
		ret = add_llc(t, &view->llcs[i]);
	return ret || t->nr < MAX_KEPT ? ret : drop_gone(t, view->to_ns);
}

int tap_totals_prepare(struct tap_totals *t, uint64_t now_ns)
{
	int ret = drop_gone(t, now_ns);

	for (unsigned int i = 0; i < t->nr; i++)
		t->v[i]->was_shown = t->v[i]->is_shown_last = true;
	return ret;
}
