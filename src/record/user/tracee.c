// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/tracee.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "record/plan.h"

#define MAX_ANCESTORS 64

/* ---- selection of programs ---- */

static bool is_tgid(const struct tap_plan *plan, int pid)
{
	for (int i = 0; i <= MAX_ANCESTORS; i++, pid = tap_proc_parent(pid)) {
		if (tap_map_get(&plan->select->tgids.set, (uint64_t)pid))
			return true;
		if (!plan->follow || pid <= 1)
			break;
	}
	return false;
}

static bool has_tid(const struct tap_select_ids *tids, int pid)
{
	for (unsigned int i = 0; i < tids->nr; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tids->v[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

/*
 * Return true if the program is a selected process or a descendant of one. Its parent_ns proves
 * that, because other programs cannot know that value. If out of memory, its children are not
 * found.
 */
static bool in_family(struct tap_user_choice *c, struct tap_user_program *p)
{
	const struct tap_control *head = &p->control.head;
	uint64_t *slot;

	p->with_children = is_tgid(c->plan, p->pid) ||
			   (head->parent_ns && tap_map_get(&c->families, head->parent_ns));
	if (p->with_children && head->made_ns && (slot = tap_map_put(&c->families, head->made_ns)))
		*slot = 1;
	return p->with_children;
}

bool tap_user_in_scope(struct tap_user_choice *c, struct tap_user_program *p)
{
	const struct tap_select *select = c->plan->select;
	const char *comm = p->control.head.comm;
	const struct tap_select_task task = { .comm = comm, .comm_len = strlen(comm) };

	return (!select->tgids.nr || in_family(c, p)) &&
	       (!select->tids.nr || has_tid(&select->tids, p->pid)) &&
	       tap_select_task_by(select, TAP_SELECT_COMMS, &task);
}

bool tap_user_is_wanted(const struct tap_plan *plan, const struct tap_user_kind *kind)
{
	for (unsigned int i = 0; i < plan->nr_patterns; i++)
		if (tap_plan_pattern_fits(&plan->patterns[i], kind->system, kind->name))
			return true;
	return false;
}

/* ---- a program ---- */

struct tap_user_tracee *tap_user_tracee_new(struct tap_user_program *p, enum tap_user_from from)
{
	struct tap_user_tracee *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct tap_user_tracee){ .p = p, .from = from };
	p->kept = true;
	return t;
}

void tap_user_tracee_fail(struct tap_user_tracee *t, const char *why)
{
	if (!t->why)
		t->why = strdup(why);
}

void tap_user_tracee_switch_off(struct tap_user_tracee *t)
{
	for (unsigned int i = 0; i < t->events_seen; i++) {
		if (t->switched[i])
			tap_user_want(t->p, &t->p->control.events[i], false, NULL);
		t->switched[i] = false;
		if (t->filtered[i])
			tap_user_put_filter(t->p, &t->p->control.events[i], NULL, NULL, NULL);
		t->filtered[i] = false;
	}
	tap_user_tell(t->p, offsetof(struct tap_control, recording), 0);
}

static void give_back(const struct tap_user_tracee *t)
{
	for (unsigned int i = 0; i < t->p->control.nr_events; i++)
		if (t->p->control.events[i].wanted) /* by another recorder */
			return;
	for (unsigned int i = 0; i < t->nr_sources; i++)
		if (!t->sources[i]->failed)
			tap_user_reader_give_back(&t->sources[i]->reader);
}

void tap_user_tracee_free(struct tap_user_tracee *t)
{
	if (!t)
		return;
	if (t->locked) {
		tap_user_tracee_switch_off(t);
		if (t->p->alive) {
			give_back(t);
			tap_user_set_ring(t->p, (enum tap_ring_mode)t->mode, 0, NULL);
		}
		tap_user_unlock(t->p);
	}
	t->p->kept = false;
	for (unsigned int i = 0; i < t->nr_sources; i++) {
		tap_user_reader_release(&t->sources[i]->reader);
		free(t->sources[i]);
	}
	free(t->sources);
	tap_map_release(&t->tids);
	free(t->switched);
	free(t->filtered);
	free(t->ids);
	free(t->why);
	free(t);
}

void tap_user_tracee_attach(struct tap_user_tracee *t, const struct tap_user_choice *c)
{
	struct tap_err err = { 0 };
	int ret = tap_user_lock(t->p, &err);

	t->is_anothers = ret == -EBUSY;
	t->pid = tap_pids_initial(&c->plan->pids, (uint32_t)t->p->pid);
	if (ret == -EMFILE || ret == -ENFILE)
		tap_err_set(&err, ret,
			    "cannot record so many programs: the limit of open files (ulimit -n) "
			    "is too low");
	if (ret) {
		tap_user_tracee_fail(t, err.text);
		return;
	}
	free(t->why);
	t->why = NULL;
	t->locked = true;
	t->mode = t->from == TAP_USER_NOW ? t->p->control.head.mode : TAP_RING_OVERWRITE;
	if (!t->p->alive)
		return;
	ret = tap_user_set_ring(t->p, TAP_RING_DISCARD, c->ring_shift, &err);
	if (ret)
		tap_user_tracee_fail(t, err.text);
}

/* ---- its rings ---- */

static int add_source(struct tap_user_tracee *t, const struct tap_user_ring *ring,
		      enum tap_user_from from, struct tap_user_pool *pool)
{
	struct tap_user_source *s = calloc(1, sizeof(*s));
	bool discard = t->p->alive || t->p->control.head.mode == TAP_RING_DISCARD;
	char why[80];
	int ret;

	if (!s ||
	    tap_array_grow(&t->sources, t->nr_sources, &t->cap_sources, sizeof(*t->sources))) {
		free(s);
		return -ENOMEM;
	}
	s->tracee = t;
	ret = tap_user_reader_init(&s->reader, t->p->fd, ring, discard, from);
	if (ret) {
		snprintf(why, sizeof(why), "the ring of CPU %u is corrupt", ring->cpu);
		tap_user_tracee_fail(t, ret == -ENOMEM ? "out of memory" : why);
		s->failed = true;
	}
	s->reader.pool = pool;
	t->sources[t->nr_sources++] = s;
	return 0;
}

/*
 * Add new rings. Rings that were made after the first update contain only records of this
 * recording.
 */
static int add_rings(struct tap_user_tracee *t, const struct tap_user_choice *c)
{
	enum tap_user_from from = t->rings_seen || t->events_seen ? TAP_USER_ALL : t->from;
	int ret = 0;

	for (; t->rings_seen < t->p->control.nr_rings && !ret; t->rings_seen++) {
		const struct tap_user_ring *ring = &t->p->control.rings[t->rings_seen];

		if (ring->cpu < c->plan->nr_cpus && tap_select_cpu(c->plan->select, (int)ring->cpu))
			ret = add_source(t, ring, from, c->pool);
	}
	return ret;
}

/* ---- its events ---- */

/*
 * Give an event's filter to the program if it can run it; else remove any earlier filter. The
 * recorder filters the drained records in any case.
 */
static void give_filter(struct tap_user_tracee *t, unsigned int i, const struct tap_user_filter *f,
			const struct tap_user_choice *c)
{
	bool same_tids = !t->p->control.nested && !c->plan->pids.nested;
	bool can = f && f->steps && (same_tids || !f->reads_tid);
	struct tap_err err = { 0 };
	int ret = tap_user_put_filter(t->p, &t->p->control.events[i], can ? f->text : NULL,
				      can ? f->steps : NULL, &err);

	if (ret && ret != -EOPNOTSUPP)
		tap_user_tracee_fail(t, err.text);
	t->filtered[i] = true;
}

/*
 * Switch an event on. Events that other recorders wanted stay on at the end. @by_file: if it is on,
 * this recording's session file is the reason. Called again for known events, because a library
 * that was loaded again has lost its state.
 */
static void switch_on(struct tap_user_tracee *t, unsigned int i,
		      const struct tap_user_filter *filter, bool by_file,
		      const struct tap_user_choice *c)
{
	struct tap_user_event *ev = &t->p->control.events[i];
	struct tap_err err = { 0 };

	if (!t->p->alive || ev->gone)
		return;
	if ((!ev->wanted || !t->filtered[i]) && !c->stopped)
		give_filter(t, i, filter, c);
	if (ev->wanted) {
		t->switched[i] |= by_file;
	} else if (!c->stopped) {
		t->switched[i] = !tap_user_want(t->p, ev, true, &err);
		if (!t->switched[i])
			tap_user_tracee_fail(t, err.text);
	}
}

int tap_user_tracee_update(struct tap_user_tracee *t, const struct tap_user_choice *c,
			   struct tap_user_use (*use_of)(void *ctx,
							 const struct tap_user_kind *kind),
			   void *ctx)
{
	unsigned int known = t->events_seen;

	if (t->locked && add_rings(t, c))
		return -ENOMEM;
	for (; t->events_seen < t->p->control.nr_events; t->events_seen++) {
		const struct tap_user_event *ev = &t->p->control.events[t->events_seen];
		bool wanted = tap_user_is_wanted(c->plan, ev->kind);
		uint16_t *id = tap_array_at(&t->ids, &t->nr_ids, ev->id, sizeof(*id), NULL);

		if (!id ||
		    !tap_array_at(&t->switched, &t->nr_switched, t->events_seen,
				  sizeof(*t->switched), NULL) ||
		    !tap_array_at(&t->filtered, &t->nr_filtered, t->events_seen,
				  sizeof(*t->filtered), NULL))
			return -ENOMEM;
		*id = wanted ? (uint16_t)use_of(ctx, ev->kind).id : TAP_USER_ID_UNWANTED;
	}
	for (unsigned int i = 0; i < t->p->control.nr_events && t->locked; i++)
		if (t->ids[t->p->control.events[i].id] > TAP_USER_ID_UNWANTED)
			switch_on(t, i, use_of(ctx, t->p->control.events[i].kind).filter,
				  t->from != TAP_USER_NOW || (known && i >= known), c);
	return 0;
}

bool tap_user_tracee_waits(struct tap_user_tracee *t)
{
	uint8_t mode = TAP_RING_DISCARD;

	if (!t->p->alive)
		return t->p->control.head.mode == TAP_RING_DISCARD;
	tap_user_tell(t->p, offsetof(struct tap_control, drained), ++t->drained);
	if (pread(t->p->fd, &mode, 1, offsetof(struct tap_control, mode)) != 1 ||
	    mode == TAP_RING_DISCARD)
		return true;
	tap_user_set_ring(t->p, TAP_RING_DISCARD, 0, NULL);
	return false;
}

void tap_user_count_lost(struct tap_user_tracee *t, uint64_t count, struct tap_drain *res)
{
	t->lost += count;
	t->lost_unknown |= !count;
	res->lost += count;
	res->lost_unknown |= !count;
}

/* Set a number unless it is 0. */
static void set_number(json_t *o, const char *key, uint64_t v)
{
	if (v)
		json_object_set_new(o, key, json_integer((json_int_t)v));
}

json_t *tap_user_tracee_json(const struct tap_user_tracee *t)
{
	/* in this order, so that the offset is never negative */
	uint64_t mono_ns = tap_now_ns(), offset_ns = tap_clock_ns(CLOCK_BOOTTIME) - mono_ns;
	const char *reason = t->why ? t->why : t->p->control.head.reason;
	struct tap_buf comm = { 0 }, why = { 0 };
	json_t *o;

	/* both are untrusted */
	tap_text_escape(&comm, t->p->control.head.comm, strlen(t->p->control.head.comm));
	tap_text_escape(&why, reason, strlen(reason));
	o = json_pack("{s:i, s:s, s:I, s:I}", "pid", (int)t->pid, "comm", tap_buf_str(&comm),
		      "events", (json_int_t)t->events, "lost", (json_int_t)t->lost);
	/* the time from which the process has this name: exec keeps the pid */
	if (t->p->control.head.made_ns > offset_ns)
		set_number(o, "start_ns", t->p->control.head.made_ns - offset_ns);
	if (t->lost_unknown)
		json_object_set_new(o, "lost_is_lower_bound", json_true());
	set_number(o, "raised", t->raised);
	set_number(o, "cut", t->p->control.head.cut);
	if (why.len)
		json_object_set_new(o, "reason", json_string(tap_buf_str(&why)));
	tap_buf_release(&comm);
	tap_buf_release(&why);
	return o;
}
