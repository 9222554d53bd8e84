// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/select/select.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "event/defs.h"
#include "event/select/mount.h"

const struct tap_select tap_select_all;

/* ---- -e ---- */

static int add_glob(struct tap_select_word *w, const char *system, size_t len, const char *name)
{
	struct tap_select_name *more = reallocarray(w->globs, w->nr_globs + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	w->globs = more;
	more += w->nr_globs++;
	*more = (struct tap_select_name){ strndup(system, len), strdup(name) };
	return more->system && more->name ? 0 : -ENOMEM;
}

/* @own_system: set if the group has the same name as its system. */
static int add_group(struct tap_select_word *w, bool *own_system)
{
	const struct tap_def *def;
	int ret = 0;

	for (unsigned int i = 0; !ret && (def = tap_def_at(i)); i++) {
		if (strcmp(def->group, w->text) || def->form_of)
			continue;
		w->is_group = true;
		*own_system |= !strcmp(def->system, w->text);
		ret = add_glob(w, def->system, strlen(def->system), def->name);
	}
	return ret;
}

static int read_word(struct tap_select_word *w, const char *text, struct tap_err *err)
{
	const char *colon = strchr(text, ':');
	bool own_system = false;
	int ret;

	if (!*text || colon == text || (colon && !colon[1]))
		return tap_err_set(err, -EINVAL,
				   "-e: '%s' is not an event: expected NAME or SYSTEM:NAME", text);
	w->text = strdup(text);
	if (!w->text)
		return -ENOMEM;
	if (colon)
		return add_glob(w, text, (size_t)(colon - text), colon + 1);
	ret = add_group(w, &own_system) ?: add_glob(w, "*", 1, text);
	if (!ret && !own_system && !strpbrk(text, "*?[\\")) /* a name alone may also be a system */
		ret = add_glob(w, text, strlen(text), "*");
	return ret;
}

static int read_words(struct tap_select *s, const struct tap_select_opts *o, struct tap_err *err)
{
	unsigned int nr = o->nr_events;
	int ret = 0;

	s->events = calloc(nr + 1, sizeof(*s->events));
	if (!s->events)
		return -ENOMEM;
	for (; !ret && s->nr_events < nr; s->nr_events++) {
		struct tap_select_word *w = &s->events[s->nr_events];
		const char *filter = s->nr_events < o->nr_filters ? o->filters[s->nr_events] : NULL;

		w->filter = filter ? strdup(filter) : NULL;
		ret = filter && !w->filter ? -ENOMEM : read_word(w, o->events[s->nr_events], err);
	}
	return ret;
}

bool tap_select_word_fits(const struct tap_select_word *w, const char *system, const char *name)
{
	for (unsigned int i = 0; i < w->nr_globs; i++)
		if (!fnmatch(w->globs[i].name, name, 0) && !fnmatch(w->globs[i].system, system, 0))
			return true;
	return false;
}

bool tap_select_event(const struct tap_select *s, const char *system, const char *name)
{
	for (unsigned int i = 0; i < s->nr_events; i++)
		if (tap_select_word_fits(&s->events[i], system, name))
			return true;
	return !(s->by & TAP_SELECT_EVENTS);
}

/*
 * Find the nearest name, group or system. If several are equally near, names precede groups, and
 * groups systems.
 */
static const char *find_near(const struct tap_select_word *w, const struct tap_select_name *names,
			     unsigned int nr)
{
	const char *colon = strchr(w->text, ':'),
		   **words = calloc(3 * (size_t)nr + 1, sizeof(*words)), *near;
	unsigned int nr_words = nr;

	if (!words)
		return NULL;
	for (unsigned int i = 0; i < nr; i++) {
		const struct tap_def *def = tap_def_find(names[i].system, names[i].name);

		words[i] = names[i].name;
		if (colon)
			continue;
		if (def)
			words[nr_words++] = def->group;
		words[nr_words++] = names[i].system;
	}
	near = tap_nearest(colon ? colon + 1 : w->text, words, nr_words);
	free(words);
	return near;
}

void tap_select_suggest(const struct tap_select_word *w, const struct tap_select_name *names,
			unsigned int nr, struct tap_buf *out)
{
	const char *near;

	for (unsigned int i = 0; w->is_group && i < nr; i++)
		if (!strcmp(names[i].system, w->text)) {
			tap_buf_printf(out, ": did you mean '%.100s:*'?", w->text);
			return;
		}
	near = find_near(w, names, nr);
	if (near && !strcmp(near, w->text))
		tap_buf_puts(out, ": the recorder writes that event itself");
	else if (near)
		tap_buf_printf(out, ": did you mean '%.100s'?", near);
}

/* ---- -p -t -c -g -C ---- */

static int copy_words(struct tap_strings *to, const char *const *words, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		char *copy = strdup(words[i]);

		if (!copy || tap_strings_add(to, copy)) {
			free(copy);
			return -ENOMEM;
		}
	}
	return 0;
}

static void free_words(struct tap_strings *s)
{
	for (unsigned int i = 0; i < s->nr; i++)
		free((char *)s->v[i]);
	tap_strings_release(s);
}

static int read_ids(struct tap_select_ids *ids, char letter, const char *const *words,
		    unsigned int nr, struct tap_err *err)
{
	ids->v = calloc(nr + 1, sizeof(*ids->v));
	if (!ids->v || copy_words(&ids->text, words, nr))
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		int64_t id;

		if (tap_text_parse_int(words[i], 0, TAP_SELECT_ID_MAX, &id))
			return tap_err_set(
				err, -EINVAL,
				"-%c: '%s' is not a process or thread ID: use -c to select by name",
				letter, words[i]);
		if (!tap_map_put(&ids->set, (uint64_t)id))
			return -ENOMEM;
		ids->v[ids->nr++] = (int)id;
	}
	return 0;
}

static void free_ids(struct tap_select_ids *ids)
{
	free_words(&ids->text);
	free(ids->v);
	tap_map_release(&ids->set);
}

/*
 * Add a thread name glob. One with more elements than an automaton has states is longer than any
 * name: it matches nothing and is not added.
 */
static int read_comm(struct tap_select *s, const char *glob)
{
	unsigned int nr = s->nr_comm_globs;
	int ret = nr ? tap_glob_add(&s->comm_globs[nr - 1], glob) : -E2BIG;
	struct tap_glob *more, alone = { 0 };

	if (ret != -E2BIG)
		return ret;
	ret = tap_glob_add(&alone, glob);
	if (ret)
		return ret == -E2BIG ? 0 : ret;
	more = reallocarray(s->comm_globs, nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->comm_globs = more;
	more[s->nr_comm_globs++] = alone;
	return 0;
}

static int read_comms(struct tap_select *s, const char *const *words, unsigned int nr)
{
	int ret = copy_words(&s->comms, words, nr);

	for (unsigned int i = 0; i < nr && !ret; i++)
		ret = read_comm(s, words[i]);
	return ret;
}

/* Convert a path, which may include the mount point, to a cgroup's path; the root becomes "". */
static char *cgroup_glob(const char *word, const char *mount, const char *suffix)
{
	size_t len = mount ? strlen(mount) : 0;
	char *glob;
	int ret;

	if (len && !strncmp(word, mount, len) && (!word[len] || word[len] == '/'))
		word += len;
	word += strspn(word, "/");
	len = strlen(word);
	while (len && word[len - 1] == '/')
		len--;
	ret = asprintf(&glob, "%s%.*s%s", len ? "/" : "", (int)len, word, suffix);
	return ret < 0 ? NULL : glob;
}

static int read_cgroups(struct tap_select *s, const char *const *words, unsigned int nr,
			const char *mount)
{
	char own[PATH_MAX];

	if (nr && !mount && tap_cgroup_mount(own, sizeof(own)))
		mount = own;
	s->cgroup_globs = calloc(2 * (size_t)nr + 1, sizeof(*s->cgroup_globs));
	if (!s->cgroup_globs || copy_words(&s->cgroups, words, nr))
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		s->cgroup_globs[2 * i] = cgroup_glob(words[i], mount, "");
		s->cgroup_globs[2 * i + 1] = cgroup_glob(words[i], mount, "/*");
		if (!s->cgroup_globs[2 * i] || !s->cgroup_globs[2 * i + 1])
			return -ENOMEM;
	}
	return 0;
}

static bool comm_fits(const struct tap_select *s, const char *comm, size_t len)
{
	for (unsigned int i = 0; comm && len && i < s->nr_comm_globs; i++)
		if (tap_glob_matches(&s->comm_globs[i], comm, (unsigned int)len))
			return true;
	return false;
}

bool tap_select_cgroup_fits(const struct tap_select *s, unsigned int index, const char *path)
{
	return !fnmatch(s->cgroup_globs[2 * index], path, 0) ||
	       !fnmatch(s->cgroup_globs[2 * index + 1], path, 0);
}

static bool cgroup_fits(const struct tap_select *s, const char *path)
{
	for (unsigned int i = 0; path && i < s->cgroups.nr; i++)
		if (tap_select_cgroup_fits(s, i, path))
			return true;
	return false;
}

bool tap_select_task_by(const struct tap_select *s, unsigned int by,
			const struct tap_select_task *t)
{
	by &= s->by;
	return (!(by & TAP_SELECT_TIDS) || tap_map_get(&s->tids.set, (uint64_t)t->tid)) &&
	       (!(by & TAP_SELECT_TGIDS) ||
		tap_map_get(&s->tgids.set, (uint64_t)(t->tgid < 0 ? t->tid : t->tgid))) &&
	       (!(by & TAP_SELECT_COMMS) || comm_fits(s, t->comm, t->comm_len)) &&
	       (!(by & TAP_SELECT_CGROUPS) || cgroup_fits(s, t->cgroup));
}

bool tap_select_task(const struct tap_select *s, const struct tap_select_task *task)
{
	return tap_select_task_by(s, TAP_SELECT_TASKS, task);
}

bool tap_select_cpu(const struct tap_select *s, int cpu)
{
	return !(s->by & TAP_SELECT_CPUS) || tap_cpus_has(&s->cpus, (unsigned int)cpu);
}

int tap_select_filter(const struct tap_select *s, const char *system, const char *name,
		      const char **filter, struct tap_err *err)
{
	const struct tap_select_word *w = s->events;

	*filter = NULL;
	for (; w < s->events + s->nr_events; w++) {
		if (!w->filter || !tap_select_word_fits(w, system, name))
			continue;
		if (*filter && strcmp(*filter, w->filter))
			return tap_err_set(
				err, -EINVAL,
				"'%s:%s' matches two -e options with different filters: combine "
				"the second filter, -f '%s', with the first one by && or ||",
				system, name, w->filter);
		*filter = w->filter;
	}
	return 0;
}

/* ---- all options ---- */

static unsigned int given_options(const struct tap_select_opts *o)
{
	return (o->nr_events ? TAP_SELECT_EVENTS : 0) | (o->nr_tgids ? TAP_SELECT_TGIDS : 0) |
	       (o->nr_tids ? TAP_SELECT_TIDS : 0) | (o->nr_comms ? TAP_SELECT_COMMS : 0) |
	       (o->nr_cgroups ? TAP_SELECT_CGROUPS : 0) | (o->cpus ? TAP_SELECT_CPUS : 0);
}

static int read_cpus(struct tap_select *s, const char *list, struct tap_err *err)
{
	int ret;

	if (!list)
		return 0;
	ret = tap_cpus_parse(&s->cpus, list);
	if (ret == -EINVAL)
		return tap_err_set(err, ret,
				   "-C: '%s' is not a list of CPUs: expected a list such as 0-3,8",
				   list);
	s->cpu_list = strdup(list);
	return s->cpu_list ? ret : -ENOMEM;
}

static int read_opts(struct tap_select *s, const struct tap_select_opts *o, struct tap_err *err)
{
	int ret = read_words(s, o, err);

	s->by = given_options(o);
	ret = ret ?: read_ids(&s->tgids, 'p', o->tgids, o->nr_tgids, err);
	ret = ret ?: read_ids(&s->tids, 't', o->tids, o->nr_tids, err);
	ret = ret ?: read_comms(s, o->comms, o->nr_comms);
	ret = ret ?: read_cgroups(s, o->cgroups, o->nr_cgroups, o->cgroup_mount);
	ret = ret ?: read_cpus(s, o->cpus, err);
	return ret == -ENOMEM ? tap_err_nomem(err) : ret;
}

int tap_select_new(const struct tap_select_opts *opts, struct tap_select **out, struct tap_err *err)
{
	struct tap_select_opts own = { 0 };
	struct tap_select *s;
	int ret;

	*out = NULL;
	ret = tap_sized_take(&own, sizeof(own), opts, err);
	if (ret)
		return ret;
	s = calloc(1, sizeof(*s));
	if (!s)
		return tap_err_nomem(err);
	ret = read_opts(s, &own, err);
	if (ret)
		tap_select_free(s);
	else
		*out = s;
	return ret;
}

int tap_select_read(const struct tap_select_words *w, struct tap_select **out, struct tap_err *err)
{
	const struct tap_select_opts opts = {
		.size = sizeof(opts),
		.events = w->events.v,
		.nr_events = w->events.nr,
		.filters = (const char *const *)w->filters.v,
		.nr_filters = w->filters.nr,
		.tgids = w->tgids.v,
		.nr_tgids = w->tgids.nr,
		.tids = w->tids.v,
		.nr_tids = w->tids.nr,
		.comms = w->comms.v,
		.nr_comms = w->comms.nr,
		.cgroups = w->cgroups.v,
		.nr_cgroups = w->cgroups.nr,
		.cpus = w->cpus,
	};

	return tap_select_new(&opts, out, err);
}

static void free_word(struct tap_select_word *w)
{
	for (unsigned int i = 0; i < w->nr_globs; i++) {
		free((char *)w->globs[i].system);
		free((char *)w->globs[i].name);
	}
	free(w->globs);
	free(w->text);
	free(w->filter);
}

void tap_select_free(struct tap_select *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->nr_events; i++)
		free_word(&s->events[i]);
	free(s->events);
	free_ids(&s->tgids);
	free_ids(&s->tids);
	free_words(&s->comms);
	free(s->comm_globs);
	for (unsigned int i = 0; s->cgroup_globs && i < 2 * s->cgroups.nr; i++)
		free(s->cgroup_globs[i]);
	free(s->cgroup_globs);
	free_words(&s->cgroups);
	free(s->cpu_list);
	tap_cpus_release(&s->cpus);
	free(s);
}
