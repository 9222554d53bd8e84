// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Discovers what can be recorded: kinds of events, programs, and changes in known programs. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "record/plan.h"
#include "record/user/kinds.h"
#include "record/user/state.h"

#define SCAN_NS 10000000ull /* interval between scans for new programs */
#define REFRESH_NS 100000000ull /* interval between reads of known programs */
/* interval between checks that a program runs, beyond looking at its pid */
#define ALIVE_NS 1000000000ull

/* control files accepted per scan; rings might fill while more are read */
#define SENT_AT_ONCE 1024u
#define REFRESH_OTHERS 16u /* programs without wanted events to read per scan */
#define REFRESH_TRACEES 64u /* recorded programs that may be read per call */

/*
 * Values of struct tap_user_program.user for programs without wanted events: found at the start of
 * the recording, or later.
 */
static char was_there, came_later;

void tap_user_set_now(struct tap_user_state *s)
{
	if (tap_user_pair_now(&s->now))
		tap_user_clock_add(&s->clock, &s->now);
}

/* ---- kinds ---- */

static struct tap_plan_event *plan_event(struct tap_user_state *s, const struct tap_user_kind *k)
{
	struct tap_plan_event *ev = tap_plan_find(s->plan, k->system, k->name);

	/* the kernel may have an event of that name, which another backend records */
	if (ev)
		return ev->backend->kind == TAP_BY_USER ? ev : NULL;
	if (tap_plan_add(s->plan, k->system, k->name, NULL, s->ops, NULL))
		return NULL;
	return tap_plan_find(s->plan, k->system, k->name);
}

static void kind_fails(struct tap_user_state *s, const struct tap_user_kind *k, const char *why)
{
	struct tap_plan_event *ev = plan_event(s, k);

	if (ev && ev->status != TAP_EVENT_ON)
		tap_plan_outcome(ev, TAP_EVENT_FAILED, "%s", why);
}

/*
 * Compile the kind's filter. An invalid filter is reported, and the events are recorded unfiltered.
 */
static int make_filter(const struct tap_user_state *s, struct tap_user_recorded_kind *r,
		       struct tap_err *err)
{
	const char *text;
	int ret = tap_select_filter(s->plan->select, r->kind->system, r->kind->name, &text, err);

	if (ret || !text)
		return ret;
	ret = tap_user_filter_new(r->kind->fmt, text, &r->filter, err);
	if (ret != -EINVAL)
		return ret;
	r->refused = text;
	return 0;
}

static int record_kind(struct tap_user_state *s, const struct tap_user_kind *k, struct tap_err *err)
{
	struct tap_user_recorded_kind *r;
	int ret;

	if (tap_array_grow(&s->recorded, s->nr_recorded, &s->cap_recorded, sizeof(*s->recorded)))
		return tap_err_nomem(err);
	r = &s->recorded[s->nr_recorded];
	*r = (struct tap_user_recorded_kind){ .kind = k, .id = TAP_USER_ID_FIRST + s->nr_recorded };
	ret = make_filter(s, r, err);
	if (ret)
		return ret;
	tap_user_kind_text(k, r->id, &r->text);
	if (r->text.err) {
		tap_user_filter_free(r->filter);
		return tap_err_nomem(err);
	}
	s->nr_recorded++;
	s->anew = true;
	return 0;
}

/* Return the id that the recording uses for a kind, or TAP_USER_ID_UNWANTED. */
static unsigned int id_of(struct tap_user_state *s, const struct tap_user_kind *k)
{
	uint16_t *id = tap_array_at(&s->kind_ids, &s->nr_kind_ids, k->nr, sizeof(*id), NULL);
	struct tap_err err = { 0 };

	if (!id)
		return TAP_USER_ID_UNWANTED;
	if (*id)
		return *id;
	*id = TAP_USER_ID_UNWANTED;
	if (!k->fmt)
		kind_fails(s, k, k->why);
	else if (s->nr_recorded > TAP_USER_ID_LAST - TAP_USER_ID_FIRST)
		kind_fails(s, k, "too many kinds of events");
	else if (record_kind(s, k, &err))
		kind_fails(s, k, err.text);
	else
		*id = (uint16_t)s->recorded[s->nr_recorded - 1].id;
	return *id;
}

static struct tap_user_use use_of(void *ctx, const struct tap_user_kind *k)
{
	const struct tap_user_state *s = ctx;
	unsigned int id = id_of(ctx, k);

	return (struct tap_user_use){ id, id > TAP_USER_ID_UNWANTED
						  ? s->recorded[id - TAP_USER_ID_FIRST].filter
						  : NULL };
}

/* Add the filter's state to the plan; omitted if out of memory. */
static void report_filter(const struct tap_user_state *s, unsigned int id,
			  struct tap_plan_event *ev)
{
	const struct tap_user_recorded_kind *r = &s->recorded[id - TAP_USER_ID_FIRST];

	if (r->filter && !ev->filter)
		ev->filter = strdup(r->filter->text);
	if (r->refused && !ev->note)
		tap_plan_note_whole(ev, r->refused);
}

/* Update the plan for the events of a program: they are recorded, or cannot be. */
static void report_plan(struct tap_user_state *s, const struct tap_user_tracee *t)
{
	for (unsigned int i = 0; i < t->p->control.nr_events; i++) {
		const struct tap_user_kind *k = t->p->control.events[i].kind;
		unsigned int id = t->ids[t->p->control.events[i].id];
		struct tap_plan_event *ev;

		if (id <= TAP_USER_ID_UNWANTED)
			continue;
		if (!t->locked) {
			kind_fails(s, k, t->why ? t->why : "the program cannot be recorded");
			continue;
		}
		ev = plan_event(s, k);
		if (!ev)
			continue;
		report_filter(s, id, ev);
		if (ev->status != TAP_EVENT_ON)
			tap_plan_outcome(ev, TAP_EVENT_ON, NULL);
	}
}

/* ---- programs ---- */

static bool has_wanted(const struct tap_user_state *s, const struct tap_user_program *p)
{
	for (unsigned int i = 0; i < p->control.nr_events; i++)
		if (tap_user_is_wanted(s->plan, p->control.events[i].kind))
			return true;
	return false;
}

static int add_sources(struct tap_user_state *s, struct tap_user_tracee *t, unsigned int from)
{
	for (unsigned int i = from; i < t->nr_sources; i++) {
		struct tap_user_cpu *c = &s->cpus[t->sources[i]->reader.ring.cpu];

		if (tap_array_grow(&c->v, c->nr, &c->cap, sizeof(*c->v)))
			return -ENOMEM;
		c->v[c->nr++] = t->sources[i];
	}
	return 0;
}

static int update_tracee(struct tap_user_state *s, struct tap_user_tracee *t)
{
	unsigned int before = t->nr_sources, events = t->events_seen;
	int ret = tap_user_tracee_update(t, &s->choice, use_of, s);

	ret = ret ?: add_sources(s, t, before);
	if (!ret && t->p->control.nr_events != events)
		report_plan(s, t);
	return ret;
}

static int refresh_tracee(struct tap_user_state *s, struct tap_user_tracee *t)
{
	struct tap_err why = { 0 };
	int ret = tap_user_refresh(s->set, t->p, &why);

	t->refreshed_ns = s->now.mono_ns;
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		tap_user_tracee_fail(t, why.text);
		return 0;
	}
	return update_tracee(s, t);
}

/* Return the state (enum tap_recording) for which a program with its own recorder waits. */
static uint8_t find_readiness(const struct tap_user_state *s, const struct tap_user_tracee *t)
{
	const struct tap_user_control *c = &t->p->control;
	unsigned int taken = 0, refused = c->bad_events;

	for (unsigned int i = 0; i < t->events_seen; i++) {
		if (!tap_user_is_wanted(s->plan, c->events[i].kind))
			continue;
		taken += t->ids[c->events[i].id] > TAP_USER_ID_UNWANTED;
		refused += t->ids[c->events[i].id] <= TAP_USER_ID_UNWANTED;
	}
	return !taken ? TAP_RECORDING_NONE : refused ? TAP_RECORDING_SOME : TAP_RECORDING_ALL;
}

/*
 * Lock a program that has wanted events, and begin to record it. If another recorder has locked it,
 * this is tried again later.
 */
static int try_attach(struct tap_user_state *s, struct tap_user_tracee *t)
{
	int ret;

	tap_user_tracee_attach(t, &s->choice);
	t->alive_ns = s->now.mono_ns;
	t->p->sent_is_new = false;
	if (!t->locked)
		return update_tracee(s, t);
	tap_user_take(s->set, t->p);
	/* read the program again after the change of its ring mode, to record all it has now */
	t->events_seen = 0;
	ret = refresh_tracee(s, t);
	tap_user_tell(t->p, offsetof(struct tap_control, recording), find_readiness(s, t));
	return ret;
}

static int add_tracee(struct tap_user_state *s, struct tap_user_program *p, enum tap_user_from from)
{
	struct tap_user_tracee *t;
	int ret;

	if (tap_array_grow(&s->tracees, s->nr_tracees, &s->cap_tracees, sizeof(*s->tracees)))
		return -ENOMEM;
	t = tap_user_tracee_new(p, from);
	if (!t)
		return -ENOMEM;
	p->user = t;
	s->tracees[s->nr_tracees++] = t;
	ret = try_attach(s, t);
	if (from == TAP_USER_NOW)
		t->told_lost = p->control.head.lost;
	return ret;
}

/*
 * Switch off the events that this recording's session file switched on in a program that the
 * recording does not select.
 */
static void switch_off(struct tap_user_state *s, struct tap_user_program *p)
{
	for (unsigned int i = 0; i < p->control.nr_events; i++)
		if (p->control.events[i].wanted &&
		    tap_user_is_wanted(s->plan, p->control.events[i].kind))
			tap_user_want(p, &p->control.events[i], false, NULL);
}

static int add_if_wanted(struct tap_user_state *s, struct tap_user_program *p,
			 enum tap_user_from from)
{
	if (!p->user)
		p->user = from == TAP_USER_ALL ? &came_later : &was_there;
	if (!has_wanted(s, p)) {
		if (p->control.bad_events && p->with_children)
			tap_user_refuse(p);
		return 0;
	}
	if (tap_user_is_taken(s->set, p)) {
		p->user = s; /* ended and recorded: never add it again */
		return 0;
	}
	if (tap_user_in_scope(&s->choice, p))
		return add_tracee(s, p, from);
	/*
	 * not selected, but it may have made an entry: do not report it as missing. With -p only
	 * selected programs make entries
	 */
	if (!s->plan->select->tgids.nr)
		tap_user_take(s->set, p);
	if (from == TAP_USER_ALL && s->sessions.nr && p->alive)
		switch_off(s, p);
	return 0;
}

static bool has_nothing(const struct tap_user_program *p)
{
	return p->user == &was_there || p->user == &came_later;
}

/* Read some of the programs without wanted events again: they may have loaded a library since. */
static int refresh_others(struct tap_user_state *s)
{
	for (unsigned int i = 0; i < REFRESH_OTHERS; i++) {
		struct tap_user_program *p = tap_user_program_at(s->set, s->next_other++);
		unsigned int had = p ? p->control.nr_events : 0;
		int ret;

		if (!p) {
			s->next_other = 0;
			return 0;
		}
		if (!has_nothing(p) || !p->alive)
			continue;
		ret = tap_user_refresh(s->set, p, NULL);
		/* its wanted events are new, so all of their records belong to this recording */
		if (!ret && p->control.nr_events != had)
			ret = add_if_wanted(s, p,
					    p->user == &came_later ? TAP_USER_ALL : TAP_USER_REST);
		if (ret == -ENOMEM)
			return ret;
	}
	return 0;
}

/*
 * Add a new program. A program that was found by its link may have had no events then, or could not
 * be opened because it had ended: it counts as new again when its control file has arrived through
 * the socket.
 */
static int add_new(struct tap_user_state *s, struct tap_user_program *p)
{
	bool is_recorded = p->user && !has_nothing(p) && p->user != s;
	enum tap_user_from from = p->user == &was_there ? TAP_USER_REST : TAP_USER_ALL;

	if (is_recorded || (p->user && !p->sent_is_new))
		return 0;
	if (p->sent_is_new && tap_user_refresh(s->set, p, NULL) == -ENOMEM)
		return -ENOMEM;
	p->sent_is_new = false;
	p->user = NULL;
	return add_if_wanted(s, p, from);
}

/*
 * Find out which new programs belong to the families of selected processes. A child may be listed
 * before its parent, so repeat until no program is added.
 */
static void note_families(struct tap_user_state *s)
{
	const struct tap_map *families = &s->choice.families;
	struct tap_user_program *p;
	size_t known;

	do {
		known = families->nr;
		for (unsigned int i = 0;
		     s->plan->select->tgids.nr && (p = tap_user_program_at(s->set, i)); i++)
			if (!p->user)
				tap_user_in_scope(&s->choice, p);
	} while (families->nr > known);
}

/* Add new programs, and find new events in those without wanted events. */
int tap_user_discover_new(struct tap_user_state *s, struct tap_err *err)
{
	struct tap_user_program *p;
	struct tap_user_sent sent;
	int ret = tap_user_scan(s->set, err);

	if (ret < 0)
		return ret;
	s->scanned_ns = s->now.mono_ns;
	for (unsigned int i = 0; ret >= 0 && (s->choice.stopped || i < SENT_AT_ONCE) &&
				 tap_user_sessions_take(&s->sessions, &sent);
	     i++)
		ret = tap_user_add_sent(s->set, &sent);
	ret = ret < 0 ? ret : refresh_others(s);
	note_families(s);
	for (unsigned int i = 0; !ret && (p = tap_user_program_at(s->set, i)); i++)
		ret = add_new(s, p);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

int tap_user_discover_first(struct tap_user_state *s, struct tap_err *err)
{
	struct tap_user_program *p;
	int ret = 0;

	note_families(s);
	for (unsigned int i = 0; !ret && (p = tap_user_program_at(s->set, i)); i++)
		ret = add_if_wanted(s, p, p->alive ? TAP_USER_NOW : TAP_USER_REST);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

/*
 * Check that the pid exists on each call, and its mappings from time to time, because the pid may
 * have been reused.
 */
static void refresh_alive(const struct tap_user_state *s, struct tap_user_tracee *t)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", t->p->pid);
	if (t->p->alive &&
	    (s->choice.stopped || access(path, F_OK) || s->now.mono_ns - t->alive_ns >= ALIVE_NS)) {
		t->alive_ns = s->now.mono_ns;
		tap_user_is_alive(t->p);
	}
}

/*
 * Return true if the recording must go on for this program: it was selected by -p and runs, or it
 * waits for its recorder to end but has children that may still record. False if only threads are
 * selected, because only their end counts.
 */
static bool may_record(struct tap_user_state *s, struct tap_user_tracee *t, unsigned int *ending)
{
	refresh_alive(s, t);
	if (!t->p->with_children || !t->locked || !t->p->alive)
		return false;
	if (!tap_user_is_ending(t->p))
		return true;
	++*ending;
	return tap_user_has_children(t->p);
}

static bool any_may_record(struct tap_user_state *s, unsigned int *ending)
{
	bool any = false;

	*ending = 0;
	for (unsigned int i = 0; i < s->nr_tracees; i++)
		any |= may_record(s, s->tracees[i], ending);
	return any;
}

/*
 * Return true for a child of a selected program that has a control file, but no events in it yet:
 * the library links the file before it adds the events.
 */
static bool is_being_set_up(struct tap_user_state *s, struct tap_user_program *p)
{
	const struct tap_control *head = &p->control.head;

	return has_nothing(p) && head->parent_ns && !head->areas_nr && !head->reason[0] &&
	       tap_user_in_scope(&s->choice, p) && p->with_children && tap_user_is_alive(p);
}

static bool any_is_being_set_up(struct tap_user_state *s)
{
	struct tap_user_program *p;
	bool any = false;

	for (unsigned int i = 0; !any && (p = tap_user_program_at(s->set, i)); i++)
		any = is_being_set_up(s, p);
	return any;
}

bool tap_user_lives(void *state, unsigned int left)
{
	struct tap_user_state *s = state;
	unsigned int ending;
	bool any = any_may_record(s, &ending);

	/* a child that no longer maps its parent's file has one of its own by now: find it */
	if (!any && ending >= left && !tap_user_discover_new(s, NULL))
		any = any_may_record(s, &ending) || any_is_being_set_up(s);
	for (unsigned int i = 0; i < s->nr_tracees && any && ending; i++)
		if (s->tracees[i]->locked && tap_user_is_ending(s->tracees[i]->p))
			tap_user_tell(s->tracees[i]->p, offsetof(struct tap_control, ending),
				      TAP_ENDING_CHILDREN);
	return any || ending < left;
}

static bool is_stuck(const struct tap_user_tracee *t)
{
	for (unsigned int i = 0; i < t->nr_sources; i++)
		if (t->sources[i]->stuck)
			return true;
	return false;
}

/*
 * Return true if attaching to a program should be tried again: its control file has arrived, or
 * ALIVE_NS have passed and another recorder may have unlocked it.
 */
static bool may_attach(const struct tap_user_state *s, const struct tap_user_tracee *t)
{
	bool is_due = t->p->alive && s->now.mono_ns - t->alive_ns >= ALIVE_NS;

	return (t->p->sent_is_new || is_due) && !tap_user_is_taken(s->set, t->p);
}

/* @turn: it is this program's turn to be read again. */
static int check_tracee(struct tap_user_state *s, struct tap_user_tracee *t, bool turn)
{
	if (!t->locked)
		return may_attach(s, t) ? try_attach(s, t) : 0;
	if (!(turn && s->now.mono_ns - t->refreshed_ns >= REFRESH_NS) && !s->choice.stopped &&
	    !tap_user_has_new_areas(t->p) && !is_stuck(t))
		return 0;
	/* first check whether it runs: then a ring that it made just before its end is found */
	refresh_alive(s, t);
	return refresh_tracee(s, t);
}

int tap_user_discover(void *state, bool *anew, struct tap_err *err)
{
	struct tap_user_state *s = state;
	int ret = 0;

	tap_user_set_now(s);
	if (s->choice.stopped || s->now.mono_ns - s->scanned_ns >= SCAN_NS ||
	    tap_user_sessions_called(&s->sessions))
		ret = tap_user_discover_new(s, err);
	for (unsigned int i = 0; i < s->nr_tracees && !ret; i++)
		if (check_tracee(s, s->tracees[i], i - s->next_to_refresh < REFRESH_TRACEES))
			ret = tap_err_nomem(err);
	s->next_to_refresh += REFRESH_TRACEES;
	if (s->next_to_refresh >= s->nr_tracees)
		s->next_to_refresh = 0;
	*anew |= s->anew;
	return ret;
}

int tap_user_discover_kinds(struct tap_user_state *s, struct tap_err *err)
{
	struct tap_user_program *p;
	int ret = tap_user_scan(s->set, err);

	note_families(s);
	for (unsigned int i = 0; ret >= 0 && (p = tap_user_program_at(s->set, i)); i++) {
		if (!tap_user_in_scope(&s->choice, p))
			continue;
		for (unsigned int k = 0; k < p->control.nr_events; k++)
			if (tap_user_is_wanted(s->plan, p->control.events[k].kind))
				id_of(s, p->control.events[k].kind);
	}
	return ret < 0 ? ret : 0;
}
