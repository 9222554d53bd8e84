// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/accounts/cgroups.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "record/machine.h"

/* Arguments of visit(). */
struct walk {
	struct tap_cgroups_reading *to;
	const char *cpuacct;
	struct tap_buf text;
};

/* Read the file DIR PATH NAME into .text. Return: 0; -errno. */
static int read_file(struct walk *w, const char *dir, const char *path, const char *name)
{
	char file[PATH_MAX];
	int len = snprintf(file, sizeof(file), "%s%s/%s", dir, path, name);

	return len < (int)sizeof(file) ? tap_known_read(&w->text, file) : -ENAMETOOLONG;
}

/* cpuacct.usage of version 1 has ns. */
static struct tap_known usage_ns(struct walk *w, const char *dir, const char *path)
{
	int ret = read_file(w, dir, "", "cpuacct.usage");

	if (ret == -ENOENT && w->cpuacct)
		ret = read_file(w, w->cpuacct, path, "cpuacct.usage");
	return tap_known_value(ret, tap_buf_str(&w->text), "");
}

/* cpu.stat of version 2 has us. Without the CPU controller it has only the usage. */
static void read_numbers(struct walk *w, const char *dir, const char *path,
			 struct tap_cgroup_reading *r)
{
	int ret = read_file(w, dir, "", "cpu.stat");
	const char *text = tap_buf_str(&w->text);

	r->run_ns = tap_known_times(tap_known_value(ret, text, "usage_usec "), 1000);
	r->throttled_ns = tap_known_throttled(ret, text);
	if (r->run_ns.err)
		r->run_ns = usage_ns(w, dir, path);
	ret = read_file(w, dir, "", "cpu.pressure");
	r->pressure_ns = tap_known_pressure(ret, tap_buf_str(&w->text));
}

static int visit(void *ctx, FTSENT *e, const char *path)
{
	struct walk *w = ctx;
	struct tap_cgroups_reading *to = w->to;
	struct tap_cgroup_reading *r;

	if (tap_array_grow(&to->v, to->nr, &to->cap, sizeof(*to->v)) ||
	    tap_map_set(&to->by_id, e->fts_statp->st_ino, to->nr))
		return -ENOMEM;
	r = &to->v[to->nr];
	*r = (struct tap_cgroup_reading){ .path = strdup(path),
					  .parent = (unsigned int)e->fts_parent->fts_number };
	if (!r->path)
		return -ENOMEM;
	e->fts_number = ++to->nr;
	read_numbers(w, e->fts_path, path, r);
	return 0;
}

static void release(struct tap_cgroups_reading *r)
{
	for (unsigned int i = 0; i < r->nr; i++)
		free(r->v[i].path);
	free(r->v);
	tap_map_release(&r->by_id);
	*r = (struct tap_cgroups_reading){ 0 };
}

/* Return: the numbers of a cgroup at the last reading; all 0 for one that is new. */
static const struct tap_cgroup_reading *find_before(const struct tap_cgroup_accounts *c,
						    uint64_t id)
{
	static const struct tap_cgroup_reading none;
	const uint64_t *i = tap_map_get(&c->before.by_id, id);

	return i ? &c->before.v[*i] : &none;
}

static bool has_number(struct tap_known n)
{
	return !n.err && n.v;
}

/* Keep the cgroups in which something happened. */
static void keep_used(struct tap_cgroup_accounts *c)
{
	for (unsigned int i = 0; i < c->now.nr; i++) {
		const struct tap_accounts_cgroup *v = &c->v[i];

		if (has_number(v->run_ns) || has_number(v->throttled_ns) ||
		    has_number(v->pressure_ns))
			c->v[c->nr++] = *v;
	}
}

/*
 * A parent comes before its children, so the time of cgroups below a child is still part of the
 * child's when that is subtracted. The parent's file was read first, and may lack a little.
 */
static void subtract_children(struct tap_cgroup_accounts *c)
{
	for (unsigned int i = 0; i < c->now.nr; i++) {
		uint64_t ns = c->v[i].run_ns.v, *above;
		unsigned int parent = c->now.v[i].parent;

		while (parent && c->v[parent - 1].run_ns.err)
			parent = c->now.v[parent - 1].parent;
		if (!parent)
			continue;
		above = &c->v[parent - 1].run_ns.v;
		*above -= ns < *above ? ns : *above;
	}
}

static int compare(struct tap_cgroup_accounts *c)
{
	c->nr = 0;
	free(c->v);
	c->v = calloc(c->now.nr + 1, sizeof(*c->v));
	if (!c->v)
		return -ENOMEM;
	tap_map_for_each(&c->now.by_id, s) {
		const struct tap_cgroup_reading *now = &c->now.v[s->value],
						*before = find_before(c, s->key);
		struct tap_accounts_cgroup *v = &c->v[s->value];

		v->path = now->path;
		v->run_ns = tap_known_since(before->run_ns, now->run_ns);
		v->throttled_ns = tap_known_since(before->throttled_ns, now->throttled_ns);
		v->pressure_ns = tap_known_since(before->pressure_ns, now->pressure_ns);
	}
	subtract_children(c);
	keep_used(c);
	return 0;
}

int tap_cgroup_accounts_read(struct tap_cgroup_accounts *c, const char *root, const char *cpuacct)
{
	struct walk w = { .to = &c->now, .cpuacct = cpuacct, .text = { .max = 1 << 16 } };
	int ret;

	release(&c->before);
	c->before = c->now;
	c->now = (struct tap_cgroups_reading){ 0 };
	ret = root ? tap_machine_walk_cgroups(root, visit, &w) : 0;
	tap_buf_release(&w.text);
	return ret ?: compare(c);
}

void tap_cgroup_accounts_view(const struct tap_cgroup_accounts *c, struct tap_accounts_view *view)
{
	view->cgroups = c->v;
	view->nr_cgroups = c->nr;
	view->run_err = view->throttled_err = view->cgroup_pressure_err = -ENOENT;
	for (unsigned int i = 0; i < c->now.nr; i++) {
		const struct tap_cgroup_reading *r = &c->now.v[i];

		view->run_err = view->run_err ? r->run_ns.err : 0;
		view->throttled_err = view->throttled_err ? r->throttled_ns.err : 0;
		view->cgroup_pressure_err = view->cgroup_pressure_err ? r->pressure_ns.err : 0;
	}
}

void tap_cgroup_accounts_release(struct tap_cgroup_accounts *c)
{
	release(&c->before);
	release(&c->now);
	free(c->v);
}
