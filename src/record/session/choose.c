// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/choose.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cap.h"
#include "event/expr/filter.h"
#include "record/backend.h"
#include "record/tracefs/tracefs.h"
#include "record/user/filters.h"
#include "record/user/programs.h"

/*
 * Return true if a recording without -e includes the event: scheduling, task creation, CPU hotplug,
 * sched_ext, schedtap's own events, and events that the user defined. Excluded are events of
 * throttling, which cost time at every switch, and sched_dl_pick, which would have to be looked for
 * at every switch although deadline tasks are rare.
 */
static bool is_default(const struct tap_def *def)
{
	static const char *const groups[] = { "sched", "task", "cpuhp", "sched_ext" };

	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (!strcmp(def->group, groups[i]))
			return true;
	return (!strcmp(def->system, "schedtap") && strcmp(def->group, "throttle") &&
		strcmp(def->name, "sched_dl_pick")) ||
	       !tap_def_is_built_in(def);
}

/*
 * Return true if a lean recording includes the event beside its switches: what names tasks, begins
 * and ends them, and takes CPUs away.
 */
static bool is_of_lean(const struct tap_def *def)
{
	static const char *const names[] = { "task_newtask",	   "task_rename",
					     "sched_process_fork", "sched_process_exec",
					     "sched_process_exit", "cpuhp_exit" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(def->name, names[i]))
			return true;
	return false;
}

/* State while the plan is made from the -e options. */
struct maker {
	struct tap_plan *plan;
	const struct tap_session_opts *opts;
	char *root; /* mount point of tracefs; NULL: not mounted */
	struct tap_tracefs_list list; /* the kernel's events, read when first needed */
	struct tap_err no_tracefs; /* why .root is NULL */
};

/* Return the form of the definition in which the event is recorded: a short one is in the plan. */
static const struct tap_def *planned_form(const struct maker *m, const struct tap_def *def)
{
	const struct tap_plan_event *ev = tap_plan_find(m->plan, def->system, def->name);

	return ev && ev->def && ev->def->form_of ? ev->def : def;
}

static bool backend_allows(const struct maker *m, const struct tap_backend_ops *ops)
{
	return !m->opts->backend || !strcmp(m->opts->backend, ops->name);
}

/* @w: NULL: the events without -e. */
static bool is_wanted(const struct maker *m, const struct tap_select_word *w, const char *system,
		      const char *name, const struct tap_def *def)
{
	if (w)
		return tap_select_word_fits(w, system, name);
	return def && (m->opts->lean ? is_of_lean(def) : is_default(def));
}

static bool is_line(const struct tap_def *def)
{
	return !strcmp(def->group, TAP_DEF_LINE_GROUP);
}

/*
 * Return: whether @w selects the definition. A one-line definition, which a -e contains itself
 * (TAP_DEF_LINE_GROUP), is selected only by that -e: an event may have the same name.
 */
static bool is_asked_for(const struct maker *m, const struct tap_select_word *w,
			 const struct tap_def *def)
{
	size_t len = strlen(def->system);

	if (!is_line(def))
		return is_wanted(m, w, def->system, def->name, def);
	return w && !strncmp(w->text, def->system, len) && w->text[len] == ':' &&
	       !strcmp(w->text + len + 1, def->name);
}

static int list_tracefs(struct maker *m, struct tap_err *err)
{
	if (m->list.v)
		return 0;
	if (!m->root)
		return tap_err_set(err, m->no_tracefs.code, "%s", m->no_tracefs.text);
	return tap_tracefs_list(m->root, &m->list, err);
}

static int add_note(struct tap_plan_event *ev, const char *filter)
{
	return ev->filter || ev->note ? 0 : tap_plan_note_whole(ev, filter);
}

/* Return: 0; -EINVAL with a sentence: the event has no such field or value; -ENOMEM. */
static int check_filter(const struct tap_def *def, const char *filter, struct tap_err *err)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	struct tap_filter *f = NULL;
	struct tap_format *fmt;
	int ret;

	for (unsigned int i = 0; def->form_of && i < def->nr_fields; i++)
		absent[i] = def->fields[i].kind == TAP_FIELD_CHARS; /* empty in short forms */
	ret = tap_def_parse(def, absent, &fmt, err);
	if (ret)
		return ret;
	ret = tap_filter_new(fmt, filter, &f, err);
	tap_filter_free(f);
	tap_format_free(fmt);
	return ret;
}

/*
 * Add the matching definitions, for BPF. If the filter applies to some of them only, the others are
 * recorded without it, with a note for the user. Return: their number, or -errno with a sentence.
 */
static int add_defs(struct maker *m, const struct tap_select_word *w, const char *filter,
		    struct tap_err *err)
{
	const struct tap_def *def;
	struct tap_err why, first = { 0 };
	const char *one, *name;
	bool fits = !filter;
	int nr = 0, ret;

	for (unsigned int i = 0; (def = tap_plan_def_at(m->plan, i)); i++) {
		if (!is_asked_for(m, w, def) || !tap_def_is_selectable(def))
			continue;
		name = def->name;
		def = planned_form(m, def);
		/* fails if several filters apply to the event */
		ret = is_line(def)
			      ? 0
			      : tap_select_filter(m->plan->select, def->system, name, &one, err);
		if (ret)
			return ret;
		ret = filter ? check_filter(def, filter, first.code ? &why : &first) : 0;
		fits |= !ret;
		if (ret && ret != -EINVAL)
			return tap_err_set(err, ret, "out of memory");
		if (tap_plan_add(m->plan, def->system, name, def, &tap_backend_bpf,
				 ret ? NULL : filter) == -ENOMEM)
			return tap_err_nomem(err);
		if (ret && add_note(tap_plan_find(m->plan, def->system, name), filter))
			return tap_err_nomem(err);
		nr++;
	}
	return nr && !fits ? tap_err_set(err, -EINVAL, "%s", first.text) : nr;
}

/*
 * Add the kernel's matching events, for tracefs. Events that BPF records stay there, so that the
 * order of -e options does not matter. Return: their number, or -errno with a sentence.
 */
static int add_kernel_events(struct maker *m, const struct tap_select_word *w, const char *filter,
			     struct tap_err *err)
{
	const char *one; /* result of tap_select_filter(), which fails if several filters apply */
	int nr = 0, ret = list_tracefs(m, err);

	if (ret)
		return ret;
	for (unsigned int i = 0; i < m->list.nr; i++) {
		const struct tap_tracefs_event *te = &m->list.v[i];

		if (!is_wanted(m, w, te->system, te->name,
			       w ? NULL : tap_def_find(te->system, te->name)))
			continue;
		nr++;
		if (backend_allows(m, &tap_backend_bpf) &&
		    tap_plan_find(m->plan, te->system, te->name))
			continue;
		ret = tap_select_filter(m->plan->select, te->system, te->name, &one, err);
		if (ret)
			return ret;
		if (tap_plan_add(m->plan, te->system, te->name, NULL, &tap_backend_tracefs, filter))
			return tap_err_nomem(err);
	}
	return nr;
}

/* Out of memory only means fewer suggestions. */
static int refuse_unknown(struct maker *m, const struct tap_select_word *w, struct tap_err *err)
{
	struct tap_select_name *names = NULL;
	struct tap_buf near = { 0 };
	const struct tap_def *def;
	unsigned int nr = 0, cap = 0;
	int ret;

	for (; (def = tap_plan_def_at(m->plan, nr)) &&
	       !tap_array_grow(&names, nr, &cap, sizeof(*names));
	     nr++)
		names[nr] = (struct tap_select_name){ def->system, def->name };
	for (unsigned int i = 0;
	     i < m->list.nr && !tap_array_grow(&names, nr, &cap, sizeof(*names)); i++)
		names[nr++] = (struct tap_select_name){ m->list.v[i].system, m->list.v[i].name };
	tap_select_suggest(w, names, nr, &near);
	ret = tap_err_set(err, -ENODATA, "no event matches '%s'%s", w->text,
			  strchr(w->text, ',') ? ": give each event its own -e"
			  : near.len	       ? tap_buf_str(&near)
					       : ": 'schedtap list' shows all events");
	tap_buf_release(&near);
	free(names);
	return ret;
}

static bool is_def(const struct maker *m, const struct tap_select_word *w)
{
	const struct tap_def *def;

	for (unsigned int i = 0; (def = tap_plan_def_at(m->plan, i)); i++)
		if (is_asked_for(m, w, def) && tap_def_is_selectable(def))
			return true;
	return false;
}

/* Report why nothing matched: no such event, or it cannot be recorded with this -f or -b. */
static int refuse_word(struct maker *m, const struct tap_select_word *w, const char *filter,
		       struct tap_err *err)
{
	if (filter && !backend_allows(m, &tap_backend_tracefs))
		return tap_err_set(
			err, -EINVAL,
			"-f '%s' can be applied only over tracefs, which -b %s does not use",
			filter, m->opts->backend);
	if (!w || is_def(m, w))
		return tap_err_set(err, -EINVAL,
				   "'%s' is not one of the kernel's own events, and only the "
				   "kernel's own events %s",
				   w ? w->text : "(default)",
				   filter ? "can be filtered over tracefs"
					  : "can be recorded over tracefs");
	if (m->root)
		list_tracefs(m, NULL);
	for (unsigned int i = 0; i < m->list.nr; i++)
		if (tap_select_word_fits(w, m->list.v[i].system, m->list.v[i].name))
			return tap_err_set(err, -EINVAL,
					   "event '%s' can be recorded only over tracefs, which -b "
					   "%s does not use",
					   w->text, m->opts->backend);
	return refuse_unknown(m, w, err);
}

static int add_pattern(struct maker *m, const struct tap_select_word *w, const char *note,
		       struct tap_err *err)
{
	struct tap_plan *plan = m->plan;
	struct tap_plan_pattern *p;

	if (tap_array_grow(&plan->patterns, plan->nr_patterns, &plan->cap_patterns, sizeof(*p)))
		return tap_err_nomem(err);
	p = &plan->patterns[plan->nr_patterns++];
	*p = (struct tap_plan_pattern){ .word = w, .note = note ? strdup(note) : NULL };
	return p->note || !note ? 0 : tap_err_nomem(err);
}

/*
 * Return: like check_filter(). An event that cannot be recorded (no .fmt) is reported once it is
 * found.
 */
static int check_kind(const struct tap_user_kind *k, const char *filter, struct tap_err *err)
{
	struct tap_user_filter *f = NULL;
	int ret = filter && k->fmt ? tap_user_filter_new(k->fmt, filter, &f, err) : 0;

	tap_user_filter_free(f);
	return ret;
}

/*
 * Look for a matching event of a running program. @found: set. Return: 0; -EINVAL with a sentence:
 * the filter applies to none of them; -errno.
 */
static int ask_programs(const struct maker *m, const struct tap_select_word *w, const char *filter,
			bool *found, struct tap_err *err)
{
	struct tap_err why, first = { 0 };
	const char *one; /* result of tap_select_filter(), which fails if several filters apply */
	const struct tap_user_kind *k;
	struct tap_user_set *set;
	int ret = tap_user_new_own(&set);
	bool fits = false;

	*found = false;
	if (ret)
		tap_err_set(err, ret, "out of memory");
	ret = ret ?: tap_user_scan(set, err);
	for (unsigned int i = 0; ret >= 0 && !fits && (k = tap_user_kind_at(set, i)); i++) {
		if (w && !tap_select_word_fits(w, k->system, k->name))
			continue;
		*found = true;
		ret = tap_select_filter(m->plan->select, k->system, k->name, &one, err);
		fits = !check_kind(k, filter, first.code ? &why : &first);
	}
	tap_user_free(set);
	if (ret < 0)
		return ret;
	return *found && !fits ? tap_err_set(err, first.code, "%s", first.text) : 0;
}

/*
 * Return: whether @word is this system. @near: set to @system if it differs by one letter: one
 * more, one less or another.
 */
static bool is_system(const char *word, const char *system, const char **near)
{
	unsigned int distance = tap_edit_distance(word, system);

	if (distance == 1)
		*near = system;
	return !distance;
}

/*
 * Return: whether the pattern's system is one of the kernel's. @near: set to a similar one, or
 * NULL.
 */
static bool is_kernels_system(const struct maker *m, const char *pattern, const char **near)
{
	/* systems of events that users make: tracefs lists them only if there are such events */
	static const char *const made[] = { "kprobes", "uprobes",   "eprobes",
					    "fprobes", "synthetic", "user_events" };
	const struct tap_def *def;
	char system[256];

	*near = NULL;
	snprintf(system, sizeof(system), "%.*s", (int)strcspn(pattern, ":"), pattern);
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++)
		if (is_system(system, made[i], near))
			return true;
	for (unsigned int i = 0; (def = tap_plan_def_at(m->plan, i)); i++)
		if (is_system(system, def->system, near))
			return true;
	for (unsigned int i = 0; i < m->list.nr; i++)
		if (is_system(system, m->list.v[i].system, near))
			return true;
	return false;
}

/* Return: whether the kernel's events could be listed if the user mounted tracefs. */
static bool may_mount_tracefs(const struct maker *m)
{
	return !m->root && m->no_tracefs.code == -EOPNOTSUPP && tap_cap_has(CAP_SYS_ADMIN);
}

static int check_program_event(const struct maker *m, const char *pattern, struct tap_err *err)
{
	if (m->plan->select->by & TAP_SELECT_CGROUPS)
		return tap_err_set(err, -EINVAL,
				   "'%s' matches events of user-space programs, which cannot be "
				   "filtered by cgroup (-g)",
				   pattern);
	return 0;
}

/*
 * Take a word that matches no event of the kernel as a pattern for programs, including programs
 * that start later. If its system is the kernel's, the name is misspelled instead. @no_list: why
 * the kernel's events could not be listed, or NULL. Return: 0; -ENOENT: not for programs; -errno.
 */
static int add_programs(struct maker *m, const struct tap_select_word *w, const char *filter,
			const struct tap_err *no_list, struct tap_err *err)
{
	const char *pattern = w ? w->text : "*:*";
	const char *near = NULL;
	bool found = true;
	char note[512];
	int ret = 0;

	if (!backend_allows(m, &tap_backend_user))
		return -ENOENT;
	if (!m->opts->backend || filter)
		ret = ask_programs(m, w, filter, &found, err);
	found |= !!m->opts->backend; /* -b user was given */
	if (!ret && !found &&
	    (!strchr(pattern, ':') || is_kernels_system(m, pattern, &near) || may_mount_tracefs(m)))
		return -ENOENT;
	ret = ret ?: check_program_event(m, pattern, err);
	if (ret)
		return ret;
	if (no_list)
		snprintf(note, sizeof(note),
			 "'%.100s' selects only events of user-space programs, because the "
			 "kernel's events cannot be listed (%.200s)",
			 pattern, no_list->text);
	else
		snprintf(note, sizeof(note),
			 "'%.100s' is not an event of this kernel: waiting for user-space programs "
			 "that have such an event%s%.100s%s",
			 pattern, near ? "; did you mean the kernel's '" : "", near ? near : "",
			 near ? "'?" : "");
	return add_pattern(m, w, found ? NULL : note, err);
}

static int add_wanted(struct maker *m, const struct tap_select_word *w, const char *filter,
		      struct tap_err *err)
{
	struct tap_err why = { 0 };
	int defs = 0, kernel = 0, ret;

	if (m->opts->backend && !strcmp(m->opts->backend, "user"))
		return add_programs(m, w, filter, NULL, err);
	if (backend_allows(m, &tap_backend_bpf))
		defs = add_defs(m, w, filter, err);
	if (defs < 0)
		return defs;
	if (backend_allows(m, &tap_backend_tracefs) && (w || !defs)) {
		kernel = add_kernel_events(m, w, filter, &why);
		/* definitions match, which is enough without tracefs */
		if (kernel < 0 && defs && !m->root)
			return 0;
	}
	if (kernel >= 0 && defs + kernel > 0)
		return 0;
	if (w && !defs && !is_def(m, w)) {
		ret = add_programs(m, w, filter, kernel < 0 ? &why : NULL, err);
		if (ret != -ENOENT)
			return ret;
	}
	if (kernel < 0)
		return tap_err_set(
			err, kernel, "%s%s", why.text,
			w && may_mount_tracefs(m) ? ", or use -b user for programs' events" : "");
	return refuse_word(m, w, filter, err);
}

/* ---- triggers ---- */

static struct tap_plan_event *find_named(const struct tap_plan *plan, const char *system,
					 const char *name)
{
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (!strcmp(plan->events[i].name, name) &&
		    (!system || !strcmp(plan->events[i].system, system)))
			return &plan->events[i];
	return NULL;
}

static int refuse_event(struct maker *m, const struct tap_trigger *t, const char *system,
			const char *name, struct tap_err *err)
{
	struct tap_select_word w = { 0 };
	struct tap_err why = { 0 };
	int ret;

	if (asprintf(&w.text, "%s%s%s", system ?: "", system ? ":" : "", name) < 0)
		return tap_err_nomem(err);
	refuse_unknown(m, &w, &why);
	ret = tap_err_set(err, -EINVAL, "--trigger '%.200s': %s", t->text, why.text);
	free(w.text);
	return ret;
}

/*
 * Add the event of a trigger to the plan if it is not selected; it is off until a trigger switches
 * it on. @ev: set. Return: 0; -errno with a sentence.
 */
static int add_soft(struct maker *m, const struct tap_trigger *t, const char *system,
		    const char *name, struct tap_plan_event **ev, struct tap_err *err)
{
	const struct tap_tracefs_event *te = NULL;
	const struct tap_def *def = NULL;
	int ret = 0;

	*ev = find_named(m->plan, system, name);
	if (*ev)
		return 0;
	for (unsigned int i = 0;
	     backend_allows(m, &tap_backend_bpf) && (def = tap_plan_def_at(m->plan, i)); i++)
		if (tap_def_is_selectable(def) && !strcmp(def->name, name) &&
		    (!system || !strcmp(def->system, system)))
			break;
	if (!def && backend_allows(m, &tap_backend_tracefs))
		ret = list_tracefs(m, err);
	for (unsigned int i = 0; !te && !def && i < m->list.nr; i++)
		if (!strcmp(m->list.v[i].name, name) &&
		    (!system || !strcmp(m->list.v[i].system, system)))
			te = &m->list.v[i];
	if (ret || (!def && !te))
		return ret ?: refuse_event(m, t, system, name, err);
	system = def ? def->system : te->system;
	if (tap_plan_add(m->plan, system, name, def, def ? &tap_backend_bpf : &tap_backend_tracefs,
			 NULL))
		return tap_err_nomem(err);
	*ev = tap_plan_find(m->plan, system, name);
	(*ev)->is_soft = true;
	return 0;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/*
 * Allow one trigger of a kind per event, as the kernel does; enable_event and disable_event for the
 * same target are one kind.
 */
static int check_twice(const struct tap_plan *plan, const struct tap_trigger *t,
		       struct tap_err *err)
{
	for (unsigned int i = 0; i < plan->nr_triggers; i++) {
		const struct tap_trigger *other = &plan->triggers[i];

		if (t->action != TAP_TRIGGER_KERNELS && other->action != TAP_TRIGGER_KERNELS &&
		    other != t && is_same(other->system, t->system) &&
		    is_same(other->name, t->name) && is_same(other->of_system, t->of_system) &&
		    is_same(other->of_name, t->of_name))
			return tap_err_set(
				err, -EINVAL,
				"--trigger '%.200s': the event already has a trigger of this kind",
				t->text);
	}
	return 0;
}

static int add_trigger(struct maker *m, const char *text, struct tap_err *err)
{
	struct tap_plan *plan = m->plan;
	struct tap_plan_event *ev, *of;
	struct tap_trigger *t;
	int ret;

	if (tap_array_grow(&plan->triggers, plan->nr_triggers, &plan->cap_triggers, sizeof(*t)))
		return tap_err_nomem(err);
	t = &plan->triggers[plan->nr_triggers];
	ret = tap_trigger_parse(text, t, err);
	if (ret)
		return ret;
	plan->nr_triggers++;
	ret = add_soft(m, t, t->system, t->name, &ev, err);
	if (ret)
		return ret;
	if (!t->system && !(t->system = strdup(ev->system)))
		return tap_err_nomem(err);
	ret = check_twice(plan, t, err);
	if (ret || !t->of_name)
		return ret;
	ret = add_soft(m, t, t->of_system, t->of_name, &of, err);
	if (!ret)
		of->is_switched |= t->action == TAP_TRIGGER_ENABLE;
	return ret;
}

/* ---- stacks ---- */

/* Return: 0; -EINVAL with a sentence: another --stack selects this event. */
static int set_stacks(struct tap_plan *plan, struct tap_plan_event *ev,
		      const struct tap_stack *stack, struct tap_err *err)
{
	if (ev->stacks.depth)
		return tap_err_set(err, -EINVAL,
				   "--stack '%.200s': another --stack already selects %s:%s",
				   stack->text, ev->system, ev->name);
	ev->stacks = stack->kinds;
	plan->has_stacks = true;
	return 0;
}

static int add_stack(struct tap_plan *plan, const char *text, struct tap_err *err)
{
	struct tap_stack stack;
	int ret = tap_stack_parse(text, &stack, err);
	bool any = false;

	if (ret)
		return ret;
	for (unsigned int i = 0; i < plan->nr_events && !ret; i++) {
		struct tap_plan_event *ev = &plan->events[i];

		if (!tap_select_event(stack.events, ev->system, ev->name))
			continue;
		any = true;
		ret = set_stacks(plan, ev, &stack, err);
	}
	if (!ret && !any)
		ret = tap_err_set(
			err, -EINVAL,
			"--stack '%.200s' matches no recorded event: select the event with -e",
			text);
	tap_stack_release(&stack);
	return ret;
}

/*
 * Add the events that move tasks between cgroups to every recording of sched_switch, over the same
 * backend: reports need them for -g, and they are rare. It is no error if a kernel lacks them.
 * Return: 0 or -ENOMEM.
 */
static int add_cgroup_moves(struct maker *m)
{
	static const char *const names[] = { "cgroup_attach_task", "cgroup_mkdir" };
	const struct tap_plan_event *switches = tap_plan_find(m->plan, "sched", "sched_switch");
	const struct tap_backend_ops *backend = switches ? switches->backend : NULL;
	int ret = 0;

	for (size_t i = 0; backend && i < sizeof(names) / sizeof(*names) && !ret; i++)
		if (!tap_plan_find(m->plan, "cgroup", names[i]))
			ret = tap_plan_add(m->plan, "cgroup", names[i],
					   backend == &tap_backend_bpf
						   ? tap_def_find("cgroup", names[i])
						   : NULL,
					   backend, NULL);
	return ret;
}

/* Add the short forms of lean recordings. */
static int add_lean(struct maker *m, struct tap_err *err)
{
	const struct tap_def *def;

	if (!backend_allows(m, &tap_backend_bpf))
		return tap_err_set(err, -EINVAL,
				   "--lean records over BPF, which -b %s does not use",
				   m->opts->backend);
	for (unsigned int i = 0; (def = tap_def_at(i)); i++)
		if (def->form_of &&
		    tap_plan_add(m->plan, def->system, def->form_of, def, &tap_backend_bpf, NULL))
			return tap_err_nomem(err);
	return 0;
}

int tap_choose_events(struct tap_plan *plan, const struct tap_session_opts *opts,
		      struct tap_err *err)
{
	struct maker m = { .plan = plan, .opts = opts };
	const struct tap_select *select = plan->select;
	int ret = 0;

	tap_tracefs_find(TAP_TRACEFS_MOUNTS, &m.root, &m.no_tracefs);
	if (opts->lean)
		ret = add_lean(&m, err);
	if (!ret && (opts->lean || !select->nr_events))
		ret = add_wanted(&m, NULL, NULL, err);
	for (unsigned int i = 0; i < select->nr_events && !ret; i++)
		ret = add_wanted(&m, &select->events[i], select->events[i].filter, err);
	for (unsigned int i = 0; opts->triggers && i < opts->triggers->nr && !ret; i++)
		ret = add_trigger(&m, opts->triggers->v[i], err);
	for (unsigned int i = 0; opts->stacks && i < opts->stacks->nr && !ret; i++)
		ret = add_stack(plan, opts->stacks->v[i], err);
	if (!ret && add_cgroup_moves(&m))
		ret = tap_err_nomem(err);
	tap_tracefs_list_release(&m.list);
	free(m.root);
	return ret;
}
