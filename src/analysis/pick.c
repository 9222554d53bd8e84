// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/pick.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "event/defs.h"

/* Does what was typed after -e mean this event? */
static bool event_is(const char *glob, const struct tap_format *fmt)
{
	const struct tap_def *def = tap_def_find(fmt->system, fmt->name);
	const char *colon = strchr(glob, ':');
	char system[128];

	if (!colon)
		return !fnmatch(glob, fmt->name, 0) || (def && !strcmp(glob, def->group));
	if ((size_t)(colon - glob) >= sizeof(system))
		return false;
	memcpy(system, glob, (size_t)(colon - glob));
	system[colon - glob] = '\0';
	return !fnmatch(system, fmt->system, 0) && !fnmatch(colon + 1, fmt->name, 0);
}

static int no_such_event(const char *glob, const struct tap_format *const *formats,
			 unsigned int nr, struct tap_err *err)
{
	const char *colon = strchr(glob, ':');
	const char **names = calloc(nr + 1, sizeof(*names));
	const char *near = NULL;
	unsigned int i;

	for (i = 0; names && i < nr; i++)
		names[i] = formats[i]->name;
	if (names)
		near = tap_nearest(colon ? colon + 1 : glob, names, nr);
	free(names);
	if (near)
		return tap_err_set(err, -EINVAL,
				   "-e: the recording has no event '%s': did you mean '%s'?", glob,
				   near);
	return tap_err_set(err, -EINVAL, "-e: the recording has no event '%s'", glob);
}

static int check_events(const struct tap_strings *events, const struct tap_format *const *formats,
			unsigned int nr, struct tap_err *err)
{
	unsigned int i, k;

	for (i = 0; i < events->nr; i++) {
		for (k = 0; k < nr && !event_is(events->v[i], formats[k]); k++)
			;
		if (k == nr)
			return no_such_event(events->v[i], formats, nr, err);
	}
	return 0;
}

static int parse_ids(struct tap_map *ids, const struct tap_strings *words, char letter,
		     struct tap_err *err)
{
	unsigned int i;
	int64_t id;

	for (i = 0; i < words->nr; i++) {
		if (tap_text_parse_int(words->v[i], 0, INT32_MAX, &id))
			return tap_err_set(err, -EINVAL, "-%c: '%s' is no task's number", letter,
					   words->v[i]);
		if (!tap_map_put(ids, (uint64_t)id))
			return tap_err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

int tap_pick_init(struct tap_pick *p, const struct tap_pick_opts *opts,
		  const struct tap_format *const *formats, unsigned int nr, struct tap_err *err)
{
	int ret;

	*p = (struct tap_pick){ .opts = opts, .to_ns = UINT64_MAX };
	ret = check_events(&opts->events, formats, nr, err);
	if (!ret)
		ret = parse_ids(&p->tgids, &opts->tgids, 'p', err);
	if (!ret)
		ret = parse_ids(&p->tids, &opts->tids, 't', err);
	if (!ret && opts->cpus) {
		ret = tap_cpus_parse(&p->cpus, opts->cpus);
		if (ret)
			tap_err_set(err, ret, "-C: '%s' is no list of CPUs, such as 0-3,8",
				    opts->cpus);
	}
	if (ret)
		tap_pick_release(p);
	return ret;
}

void tap_pick_release(struct tap_pick *p)
{
	tap_map_release(&p->tgids);
	tap_map_release(&p->tids);
	tap_cpus_release(&p->cpus);
	free(p->wanted);
	*p = (struct tap_pick){ 0 };
}

bool tap_pick_wants(const struct tap_pick *p, const struct tap_format *fmt)
{
	const struct tap_strings *events = &p->opts->events;
	unsigned int i;

	for (i = 0; i < events->nr && !event_is(events->v[i], fmt); i++)
		;
	return !events->nr || i < events->nr;
}

/* Return: 1 or 0; -ENOMEM. */
static int event_wanted(struct tap_pick *p, const struct tap_who_kind *kind)
{
	signed char *wanted;

	if (kind->index >= p->nr_wanted) {
		wanted = realloc(p->wanted, kind->index + 1);
		if (!wanted)
			return -ENOMEM;
		memset(wanted + p->nr_wanted, 0, kind->index + 1 - p->nr_wanted);
		p->wanted = wanted;
		p->nr_wanted = kind->index + 1;
	}
	wanted = &p->wanted[kind->index];
	if (!*wanted)
		*wanted = tap_pick_wants(p, kind->fmt) ? 1 : -1;
	return *wanted > 0;
}

static bool comm_matches(const struct tap_strings *globs, const char *comm, size_t len)
{
	char text[TAP_WHO_COMM];
	unsigned int i;

	if (!len) /* a name that is not known matches nothing, not even "*" */
		return false;
	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	memcpy(text, comm, len);
	text[len] = '\0';
	for (i = 0; i < globs->nr; i++)
		if (!fnmatch(globs->v[i], text, 0))
			return true;
	return false;
}

/*
 * @tgid: -1: not known, 0: as @who has it. @comm: as the event has it; NULL: as it is known.
 * Return: 1 or 0; -ENOMEM.
 */
static int task_matches(const struct tap_pick *p, struct tap_who *who, int tid, int tgid,
			const char *comm, size_t len)
{
	struct tap_who_task *t;

	if (p->tids.nr && !tap_map_get(&p->tids, (uint64_t)tid))
		return 0;
	if (!p->tgids.nr && !p->opts->comms.nr)
		return 1;
	t = tap_who_task(who, tid);
	if (!t)
		return -ENOMEM;
	tgid = tgid ? tgid : t->tgid;
	if (p->tgids.nr && !tap_map_get(&p->tgids, (uint64_t)(tgid >= 0 ? tgid : tid)))
		return 0;
	if (!p->opts->comms.nr)
		return 1;
	return comm_matches(&p->opts->comms, comm ? comm : t->comm, comm ? len : t->comm_len);
}

static bool cgroup_matches(const struct tap_strings *globs, const char *path)
{
	struct tap_buf below = { 0 };
	bool yes = false;

	for (unsigned int i = 0; i < globs->nr && !yes; i++) {
		tap_buf_clear(&below);
		tap_buf_puts(&below, globs->v[i]);
		tap_buf_puts(&below, "/*");
		yes = !fnmatch(globs->v[i], path, 0) || !fnmatch(tap_buf_str(&below), path, 0);
	}
	tap_buf_release(&below);
	return yes;
}

static bool cgroup_wanted(const struct tap_pick *p, const struct tap_who *who, uint64_t id)
{
	const char *path = tap_who_cgroup(who, id);

	return path && cgroup_matches(&p->opts->cgroups, path);
}

int tap_pick_task(const struct tap_pick *p, struct tap_who *who, int tid, int tgid,
		  const char *comm, size_t len, uint64_t cgroup)
{
	const struct tap_who_task *t;

	if (p->opts->cgroups.nr && !cgroup) {
		t = tap_who_task(who, tid);
		if (!t)
			return -ENOMEM;
		cgroup = t->cgroup;
	}
	if (p->opts->cgroups.nr && !cgroup_wanted(p, who, cgroup))
		return 0;
	return task_matches(p, who, tid, tgid, comm, len);
}

/* Of an event that names a cgroup -g has judged that one. */
static int event_task_matches(struct tap_pick *p, struct tap_who *who,
			      const struct tap_who_kind *kind, int tid, const char *comm,
			      size_t len)
{
	return kind->cgroup ? task_matches(p, who, tid, 0, comm, len) :
			      tap_pick_task(p, who, tid, 0, comm, len, 0);
}

static int tasks_match(struct tap_pick *p, struct tap_who *who, const struct tap_who_kind *kind,
		       const struct tap_event *ev)
{
	int ret = 0;

	if (kind->current)
		ret = event_task_matches(p, who, kind, tap_who_current(kind, ev), NULL, 0);
	for (unsigned int i = 0; i < kind->nr_tasks && !ret; i++) {
		const struct tap_field *comm = kind->tasks[i].comm;
		const char *text = NULL;
		uint32_t len = 0;

		if (comm)
			text = tap_field_bytes(comm, ev->data, ev->size, &len);
		ret = event_task_matches(
			p, who, kind, (int)tap_field_u64(kind->tasks[i].tid, ev->data, ev->size),
			text, len);
	}
	return ret;
}

int tap_pick_match(struct tap_pick *p, struct tap_who *who, const struct tap_who_kind *kind,
		   const struct tap_event *ev)
{
	bool by_cgroup = p->opts->cgroups.nr;
	int ret;

	if (ev->ts_ns < p->from_ns || (kind ? ev->ts_ns : ev->lost.first_ns) > p->to_ns)
		return 0;
	if (!kind)
		return 1;
	if (p->opts->cpus && !tap_cpus_has(&p->cpus, (unsigned int)ev->cpu))
		return 0;
	if (p->opts->events.nr) {
		ret = event_wanted(p, kind);
		if (ret <= 0)
			return ret;
	}
	if (by_cgroup && kind->cgroup) {
		if (!cgroup_wanted(p, who, tap_field_u64(kind->cgroup, ev->data, ev->size)))
			return 0;
		by_cgroup = false;
	}
	if (!by_cgroup && !p->tids.nr && !p->tgids.nr && !p->opts->comms.nr)
		return 1;
	return tasks_match(p, who, kind, ev);
}
