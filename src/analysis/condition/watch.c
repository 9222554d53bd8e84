// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/condition/watch.h"

#include <errno.h>
#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "file/follow.h"
#include "timeline/run/identity.h"
#include "analysis/balance.h"
#include "analysis/condition/parsed.h"
#include "analysis/condition/waits.h"

/* room for matches in the queue; plus one for each condition that has none in it */
#define QUEUED 256u
#define FORGET_EVERY_NS 1000000000u
#define SECOND_NS 1000000000u
#define NR_STEPS 100u /* parts of a second in which events are counted */
#define VIOLATION TAP_NR_STATES /* a kind of wait, in addition to the states */
#define NR_KINDS_OF_WAITS (VIOLATION + 1u)
#define MAX_CONDITIONS 10000u

/* A condition on events of one format. */
struct use {
	unsigned int condition;
	struct tap_filter *filter; /* owned; may be NULL */
};

/* A format whose events are wanted. Its index plus one is the mark of these events. */
struct kind {
	const struct tap_format *fmt;
	bool for_timeline;
	const struct tap_field *pid, *tid, *comm; /* each may be NULL */
	struct use *uses; /* owned */
	unsigned int nr_uses, cap_uses;
};

/* The state of one condition. */
struct watched {
	const struct tap_condition *condition;
	uint64_t lost; /* events lost since the last match */
	struct { /* events of the last second, in steps */
		uint64_t step; /* the latest step */
		uint64_t nr;
		uint32_t steps[NR_STEPS];
		bool is_told;
	} * rate; /* owned */
	unsigned int nr_queued;
};

struct limit {
	uint64_t ns;
	unsigned int condition;
};

/* The conditions' limits for one kind of wait. */
struct limits {
	struct limit *v; /* owned; the shortest first */
	unsigned int nr, cap;
	unsigned int slot; /* index among a task's kinds of waits that have limits */
};

/* Since when a task is in a violation; all zero: it is not. */
struct violated {
	bool is_in;
	uint64_t since_ns;
};

struct tap_watch {
	struct watched *watched; /* by condition */
	unsigned int nr;
	struct tap_follow *follow;
	struct kind *kinds;
	unsigned int nr_kinds, cap_kinds;
	struct tap_timeline *timeline; /* NULL: not needed */
	struct tap_watcher watchers[2];
	json_t *meta;
	struct tap_identities ids;
	bool has_ids, wants_cgroups;
	struct tap_balance balance;
	bool has_balance;
	struct limits limits[NR_KINDS_OF_WAITS];
	unsigned int nr_slots;
	uint64_t shortest_ns; /* the shortest limit */
	struct tap_waits waits; /* index: task->index * .nr_slots + .slot */
	struct tap_task **tasks; /* by .index, if they are in .waits */
	unsigned int nr_tasks;
	struct violated *violated; /* by the task's .index */
	unsigned int nr_violated;
	/* an event after this time must not be processed before waits are looked at */
	uint64_t look_ns;
	uint64_t forget_ns;
	struct tap_err callback_err; /* an error in a callback that cannot return one */

	struct tap_met *queue; /* owned; QUEUED + .nr */
	unsigned int queue_len;
	uint64_t nr_put, nr_taken, nr_dropped;
};

/* ---- matches ---- */

/* Queue a match. @met: without .condition. */
static void queue_match(struct tap_watch *w, unsigned int condition, const struct tap_met *met)
{
	struct watched *c = &w->watched[condition];
	uint64_t queued = w->nr_put - w->nr_taken;
	struct tap_met *to = &w->queue[w->nr_put % w->queue_len];

	if (queued == w->queue_len || (queued >= QUEUED && c->nr_queued)) {
		w->nr_dropped++;
		return;
	}
	*to = *met;
	to->condition = c->condition;
	c->nr_queued++;
	w->nr_put++;
}

static bool task_fits(const struct tap_condition *c, const struct tap_task *task)
{
	struct tap_condition_task rec = {
		.type = 1,
		.common_pid = task->tid,
		.tid = task->tid,
		.pid = task->tid,
		.tgid = tap_task_tgid(task),
		.prio = task->prio,
		.cpu = task->cpu,
		.cgroup = task->cgroup,
	};
	struct tap_filter_about about = { .cpu = task->cpu, .comm = task->comm };

	if (!c->of_task)
		return true;
	about.comm_len = (uint32_t)strnlen(task->comm, TAP_TASK_COMM);
	memcpy(rec.comm, task->comm, sizeof(rec.comm));
	return tap_filter_match(c->of_task, &rec, sizeof(rec), &about) > 0;
}

static void queue_task_match(struct tap_watch *w, unsigned int condition,
			     const struct tap_task *task, uint64_t at_ns)
{
	struct tap_met met = { .at_ns = at_ns, .tid = task->tid };

	if (!task_fits(w->watched[condition].condition, task))
		return;
	memcpy(met.comm, task->comm, sizeof(met.comm));
	queue_match(w, condition, &met);
}

/* ---- waits ---- */

/* Track a wait that has reached @nr_told of its limits. Return: 0 or -ENOMEM. */
static int set_wait(struct tap_watch *w, const struct limits *limits, struct tap_task *task,
		    uint64_t since_ns, unsigned int nr_told)
{
	struct tap_task **place;

	place = tap_array_at(&w->tasks, &w->nr_tasks, task->index, sizeof(struct tap_task *), NULL);
	if (!place)
		return -ENOMEM;
	*place = task;
	return tap_waits_set(&w->waits, task->index * w->nr_slots + limits->slot, since_ns, nr_told,
			     since_ns + limits->v[nr_told].ns);
}

/* Return: 0 or -ENOMEM. */
static int begin_wait(struct tap_watch *w, unsigned int kind, struct tap_task *task,
		      uint64_t since_ns)
{
	const struct limits *limits = &w->limits[kind];
	unsigned int i = task->index * w->nr_slots + limits->slot;

	/* it is looked at before this wait can reach any limit */
	if (i < w->waits.nr_waits && w->waits.waits[i].place && !w->waits.waits[i].nr_told)
		return 0;
	return set_wait(w, limits, task, since_ns, 0);
}

/* Return the start of the task's present wait of this kind; TAP_NOT_WAITING: it is in none. */
static uint64_t waits_since(const struct tap_watch *w, unsigned int kind,
			    const struct tap_task *task)
{
	if (kind != VIOLATION)
		return task->state == (enum tap_state)kind ? task->since_ns : TAP_NOT_WAITING;
	return w->violated[task->index].is_in ? w->violated[task->index].since_ns : TAP_NOT_WAITING;
}

static unsigned int kind_of_slot(const struct tap_watch *w, unsigned int slot)
{
	unsigned int kind = 0;

	while (!w->limits[kind].nr || w->limits[kind].slot != slot)
		kind++;
	return kind;
}

/* Look at the wait that is due first. Return: 0 or -ENOMEM. */
static int look_at_wait(struct tap_watch *w)
{
	const struct tap_wait_due due = w->waits.heap[0];
	const struct tap_watched_wait wait = w->waits.waits[due.wait];
	const struct tap_task *task = w->tasks[due.wait / w->nr_slots];
	unsigned int kind = kind_of_slot(w, due.wait % w->nr_slots);
	const struct limits *limits = &w->limits[kind];
	uint64_t since_ns = waits_since(w, kind, task);

	if (since_ns == TAP_NOT_WAITING) {
		tap_waits_drop(&w->waits, due.wait);
		return 0;
	}
	if (since_ns != wait.since_ns) /* another wait by now */
		return tap_waits_set(&w->waits, due.wait, since_ns, 0, since_ns + limits->v[0].ns);
	if (tap_timeline_is_certain(w->timeline, task))
		queue_task_match(w, limits->v[wait.nr_told].condition, task, due.at_ns);
	if (wait.nr_told + 1 < limits->nr)
		return tap_waits_set(&w->waits, due.wait, since_ns, wait.nr_told + 1,
				     since_ns + limits->v[wait.nr_told + 1].ns);
	tap_waits_drop(&w->waits, due.wait);
	return 0;
}

/*
 * Everything before @ns was processed: look at the waits that have reached a limit by then. Return:
 * 0 or -ENOMEM.
 */
static int look_at_waits(struct tap_watch *w, uint64_t ns)
{
	int ret = w->has_balance ? tap_balance_advance(&w->balance, w->timeline, ns) : 0;

	while (!ret && tap_waits_due_ns(&w->waits) < ns)
		ret = look_at_wait(w);
	return ret;
}

static int on_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct tap_watch *w = ctx;

	(void)t;
	return w->limits[s->next].nr ? begin_wait(w, s->next, s->task, s->to_ns) : 0;
}

/*
 * A wait that was noticed late. It may end right now, so report the limits that it has already
 * reached.
 */
static int on_waits(void *ctx, const struct tap_timeline *t, struct tap_task *task, uint64_t ts_ns)
{
	struct tap_watch *w = ctx;
	const struct limits *limits = &w->limits[task->state];
	unsigned int nr = 0;

	for (; nr < limits->nr && task->since_ns + limits->v[nr].ns < ts_ns; nr++)
		if (tap_timeline_is_certain(t, task))
			queue_task_match(w, limits->v[nr].condition, task,
					 task->since_ns + limits->v[nr].ns);
	if (nr < limits->nr)
		return set_wait(w, limits, task, task->since_ns, nr);
	if (limits->nr)
		tap_waits_drop(&w->waits, task->index * w->nr_slots + limits->slot);
	return 0;
}

static const struct tap_watcher_ops waits_ops = { .states = TAP_STATE_ALL,
						  .interval = on_interval,
						  .waits = on_waits };

static void on_violation(void *ctx, const struct tap_wait *wait)
{
	struct tap_watch *w = ctx;
	struct violated *v;

	v = tap_array_at(&w->violated, &w->nr_violated, wait->task->index, sizeof(*v), NULL);
	if (!v) {
		tap_err_nomem(&w->callback_err);
		return;
	}
	v->is_in = wait->mode == TAP_WAIT_VIOLATION;
	v->since_ns = wait->mode_since_ns;
	if (v->is_in && begin_wait(w, VIOLATION, (struct tap_task *)wait->task, v->since_ns))
		tap_err_nomem(&w->callback_err);
}

static void on_forget(void *ctx, const struct tap_task *task)
{
	struct tap_watch *w = ctx;

	for (unsigned int slot = 0; slot < w->nr_slots; slot++)
		tap_waits_drop(&w->waits, task->index * w->nr_slots + slot);
	if (task->index < w->nr_violated)
		w->violated[task->index].is_in = false;
	if (w->has_balance)
		tap_balance_forget(&w->balance, task);
	tap_lists_drop(&w->ids.lists, task->tid);
}

/* ---- events ---- */

/* Move the window of one second to @ts_ns. */
static void rate_advance(struct watched *c, uint64_t ts_ns)
{
	uint64_t step = ts_ns / (SECOND_NS / NR_STEPS), from = c->rate->step;

	if (step <= from)
		return;
	if (step - from > NR_STEPS)
		from = step - NR_STEPS;
	while (from++ < step) {
		c->rate->nr -= c->rate->steps[from % NR_STEPS];
		c->rate->steps[from % NR_STEPS] = 0;
	}
	c->rate->step = step;
	if (c->rate->nr <= c->condition->limit)
		c->rate->is_told = false;
}

/* Return true if the rate now exceeds the limit, and did not before. */
static bool rate_add(struct watched *c, uint64_t ts_ns)
{
	rate_advance(c, ts_ns);
	c->rate->nr++;
	c->rate->steps[c->rate->step % NR_STEPS]++;
	if (c->rate->nr <= c->condition->limit || c->rate->is_told)
		return false;
	c->rate->is_told = true;
	return true;
}

/* Name the current task. If the event contains its name, that is the latest one. */
static void name_event(const struct tap_watch *w, const struct kind *k, const struct tap_event *ev,
		       struct tap_met *met)
{
	const struct tap_task *task = w->timeline ? tap_timeline_task(w->timeline, met->tid) : NULL;
	uint32_t len;
	const char *comm;

	if (task)
		memcpy(met->comm, task->comm, sizeof(met->comm));
	if (!k->comm || !k->tid || (int)tap_field_u64(k->tid, ev->data, ev->size) != met->tid)
		return;
	comm = tap_field_bytes(k->comm, ev->data, ev->size, &len);
	memset(met->comm, 0, sizeof(met->comm));
	memcpy(met->comm, comm, len < sizeof(met->comm) ? len : sizeof(met->comm));
}

static void use_event(struct tap_watch *w, const struct kind *k, const struct tap_event *ev)
{
	struct tap_met met = { .at_ns = ev->ts_ns,
			       .tid = k->pid ? (int)tap_field_u64(k->pid, ev->data, ev->size)
					     : -1 };
	struct tap_filter_about about = { .cpu = ev->cpu };

	name_event(w, k, ev, &met);
	if (*met.comm) {
		about.comm = met.comm;
		about.comm_len = (uint32_t)strnlen(met.comm, sizeof(met.comm));
	}
	for (unsigned int i = 0; i < k->nr_uses; i++) {
		const struct use *u = &k->uses[i];
		struct watched *c = &w->watched[u->condition];

		if (u->filter && tap_filter_match(u->filter, ev->data, ev->size, &about) <= 0)
			continue;
		if (c->rate && !rate_add(c, ev->ts_ns))
			continue;
		queue_match(w, u->condition, &met);
	}
}

static void use_loss(struct tap_watch *w, const struct tap_event *ev)
{
	struct tap_met met = { .at_ns = ev->ts_ns, .tid = -1 };

	for (unsigned int i = 0; i < w->nr && !ev->lost.is_off; i++) {
		struct watched *c = &w->watched[i];

		if (c->condition->kind != TAP_CONDITION_LOST)
			continue;
		if (__builtin_add_overflow(c->lost, ev->lost.count ? ev->lost.count : 1, &c->lost))
			c->lost = UINT64_MAX;
		if (c->lost <= c->condition->limit)
			continue;
		c->lost = 0;
		queue_match(w, i, &met);
	}
}

/* Return: 0 or -ENOMEM. */
static int to_timeline(struct tap_watch *w, const struct tap_event *const *events, unsigned int nr)
{
	return w->timeline && nr ? tap_timeline_events(w->timeline, events, nr) : 0;
}

/*
 * Feed as many events as possible to the timeline at once: up to an event that a condition needs,
 * and up to the time when a wait can reach its limit, including a wait that begins meanwhile.
 */
static int take_events(struct tap_watch *w, const struct tap_event *const *events, unsigned int nr)
{
	unsigned int from = 0;
	int ret = 0;

	for (unsigned int i = 0; i < nr && !ret; i++) {
		const struct tap_event *ev = events[i];
		const struct kind *k = ev->fmt ? &w->kinds[ev->mark - 1] : NULL;

		if (__builtin_expect(ev->ts_ns > w->look_ns, 0)) {
			ret = to_timeline(w, events + from, i - from)
				      ?: look_at_waits(w, ev->ts_ns);
			from = i;
			w->look_ns = tap_waits_due_ns(&w->waits);
			if (w->look_ns - ev->ts_ns > w->shortest_ns)
				w->look_ns = ev->ts_ns + w->shortest_ns;
		}
		if (__builtin_expect(k && k->for_timeline && !k->nr_uses, 1))
			continue;
		ret = ret ?: to_timeline(w, events + from, i - from);
		from = k && !k->for_timeline ? i + 1 : i;
		if (k)
			use_event(w, k, ev);
		else
			use_loss(w, ev);
	}
	return ret ?: to_timeline(w, events + from, nr - from);
}

int tap_watch_read(struct tap_watch *w, uint64_t until_ns, struct tap_err *err)
{
	const struct tap_event *const *events;
	int nr, ret = tap_follow_note(w->follow, err);

	if (ret)
		return ret;
	while (!ret && (nr = tap_follow_batch(w->follow, until_ns - 1, &events, err)) != 0) {
		if (nr < 0)
			return nr;
		if (!w->callback_err.code)
			ret = take_events(w, events, (unsigned int)nr);
		if (w->callback_err.code)
			return tap_err_set(err, w->callback_err.code, "%s", w->callback_err.text);
	}
	if (w->timeline)
		ret = ret ?: look_at_waits(w, until_ns);
	if (ret)
		return tap_err_set(err, ret, "cannot test whether a condition of --when holds: %s",
				   strerror(-ret));
	if (w->timeline && until_ns >= w->forget_ns) {
		w->forget_ns = until_ns + FORGET_EVERY_NS;
		tap_timeline_forget(w->timeline,
				    until_ns > FORGET_EVERY_NS ? until_ns - FORGET_EVERY_NS : 0,
				    on_forget, w);
	}
	return 0;
}

/* ---- which events ---- */

static bool fits_format(const struct tap_condition *c, const struct tap_format *fmt)
{
	return c->event && tap_select_word_fits(tap_condition_word(c), fmt->system, fmt->name);
}

/* Return: 0; -EINVAL: the event lacks a field of the filter; -ENOMEM. */
static int add_use(struct kind *k, unsigned int condition, const struct tap_condition *c,
		   struct tap_err *err)
{
	struct use u = { .condition = condition };
	int ret;

	if (tap_array_grow(&k->uses, k->nr_uses, &k->cap_uses, sizeof(*k->uses)))
		return tap_err_nomem(err);
	ret = c->filter ? tap_filter_new(k->fmt, c->filter, &u.filter, err) : 0;
	if (!ret && u.filter && u.filter->nr_pasts) {
		tap_filter_free(u.filter);
		ret = tap_err_set(err, -EINVAL,
				  "condition '%.300s' uses changed() or moved(), which work only "
				  "in the filter of a recorded event (-f)",
				  c->text);
	}
	if (ret)
		return ret;
	k->uses[k->nr_uses++] = u;
	return 0;
}

static void release_kind(struct kind *k)
{
	for (unsigned int i = 0; i < k->nr_uses; i++)
		tap_filter_free(k->uses[i].filter);
	free(k->uses);
}

static bool needs_timeline(const struct tap_condition *c)
{
	return c->kind == TAP_CONDITION_STATE || c->kind == TAP_CONDITION_VIOLATION;
}

/* Return true if the timeline is needed only for the names of current tasks. */
static bool is_for_names(const struct tap_watch *w)
{
	for (unsigned int i = 0; i < w->nr; i++)
		if (needs_timeline(w->watched[i].condition))
			return false;
	return true;
}

static bool is_for_timeline(const struct tap_watch *w, const struct tap_format *fmt)
{
	if (!w->timeline)
		return false;
	return is_for_names(w) ? tap_timeline_tells_identity(fmt)
			       : tap_timeline_wants(fmt, w->wants_cgroups);
}

/* Find or add a format. *@index: its index; .nr_kinds: no condition wants it. Return: 0; -errno. */
static int add_kind(struct tap_watch *w, const struct tap_format *fmt, unsigned int *index,
		    struct tap_err *err)
{
	struct kind k = {
		.fmt = fmt,
		.pid = tap_number_field(fmt, "common_pid"),
		.tid = tap_number_field(fmt, "pid"),
		.comm = tap_text_field(fmt, "comm"),
	};
	int ret = 0;

	for (*index = 0; *index < w->nr_kinds; ++*index)
		if (w->kinds[*index].fmt == fmt)
			return 0;
	for (unsigned int i = 0; i < w->nr && ret != -ENOMEM; i++)
		if (fits_format(w->watched[i].condition, fmt))
			ret = add_use(&k, i, w->watched[i].condition, err);
	k.for_timeline = is_for_timeline(w, fmt);
	if (ret != -ENOMEM && !k.nr_uses && !k.for_timeline)
		return 0;
	if (ret == -ENOMEM || *index == UINT16_MAX - 1u ||
	    tap_array_grow(&w->kinds, w->nr_kinds, &w->cap_kinds, sizeof(k))) {
		release_kind(&k);
		return tap_err_nomem(err);
	}
	w->kinds[w->nr_kinds++] = k;
	return 0;
}

/* The mark function. It is also called for formats that are added while the recording runs. */
static uint16_t mark_format(void *ctx, const struct tap_format *fmt)
{
	struct tap_watch *w = ctx;
	unsigned int index;

	if (add_kind(w, fmt, &index, &w->callback_err))
		return 0;
	w->callback_err.code = 0; /* a filter does not apply to this format */
	return (uint16_t)(index < w->nr_kinds ? index + 1 : 0);
}

/* Check that the word matches a recorded event, and that the filter applies to one such event. */
static int check_event(const struct tap_watch *w, const struct tap_condition *c,
		       struct tap_err *err)
{
	unsigned int nr, nr_fit = 0;
	const struct tap_format *const *formats = tap_follow_formats(w->follow, &nr);
	int ret = 0;

	for (unsigned int i = 0; i < nr; i++) {
		struct kind k = { .fmt = formats[i] };

		if (!fits_format(c, formats[i]))
			continue;
		nr_fit++;
		ret = add_use(&k, 0, c, err);
		release_kind(&k);
		if (ret != -EINVAL)
			return ret;
	}
	return nr_fit ? ret
		      : tap_err_set(err, -EINVAL,
				    "condition '%.300s' needs the event '%.200s', which is not "
				    "recorded: select it with -e",
				    c->text, tap_condition_word(c)->text);
}

static bool has_event(const struct tap_watch *w, const char *system, const char *name)
{
	unsigned int nr;
	const struct tap_format *const *formats = tap_follow_formats(w->follow, &nr);

	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(formats[i]->system, system) && !strcmp(formats[i]->name, name))
			return true;
	return false;
}

static int check_task(const struct tap_watch *w, const struct tap_condition *c, struct tap_err *err)
{
	bool wakes = c->kind == TAP_CONDITION_VIOLATION || tap_state_is_sleep(c->state) ||
		     c->state == TAP_STATE_WAKING;

	if (!has_event(w, "sched", "sched_switch"))
		return tap_err_set(err, -EINVAL,
				   "condition '%.300s' needs the event 'sched_switch', which is "
				   "not recorded: select it with -e",
				   c->text);
	if (wakes && !has_event(w, "sched", "sched_waking") &&
	    !has_event(w, "sched", "sched_wakeup"))
		return tap_err_set(err, -EINVAL,
				   "condition '%.300s' needs the event 'sched_waking', which is "
				   "not recorded: select it with -e",
				   c->text);
	if (c->state == TAP_STATE_THROTTLED && !has_event(w, "schedtap", "sched_throttle"))
		return tap_err_set(err, -EINVAL,
				   "condition '%.300s' needs the event 'sched_throttle', which is "
				   "not recorded: select it with -e",
				   c->text);
	return 0;
}

/* ---- begin and end ---- */

static int by_length(const void *a, const void *b)
{
	const struct limit *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->condition < y->condition ? -1 : x->condition > y->condition;
}

static int add_limit(struct tap_watch *w, unsigned int condition, const struct tap_condition *c)
{
	struct limits *l =
		&w->limits[c->kind == TAP_CONDITION_VIOLATION ? VIOLATION : (unsigned int)c->state];

	if (tap_array_grow(&l->v, l->nr, &l->cap, sizeof(*l->v)))
		return -ENOMEM;
	if (!l->nr)
		l->slot = w->nr_slots++;
	l->v[l->nr++] = (struct limit){ c->limit, condition };
	qsort(l->v, l->nr, sizeof(*l->v), by_length);
	if (c->limit < w->shortest_ns)
		w->shortest_ns = c->limit;
	return 0;
}

static int add_condition(struct tap_watch *w, unsigned int i, struct tap_err *err)
{
	struct watched *c = &w->watched[i];
	int ret;

	if (c->condition->event) {
		ret = check_event(w, c->condition, err);
		if (!ret && c->condition->kind == TAP_CONDITION_RATE) {
			c->rate = calloc(1, sizeof(*c->rate));
			ret = c->rate ? 0 : tap_err_nomem(err);
		}
		return ret;
	}
	if (!needs_timeline(c->condition))
		return 0;
	w->wants_cgroups |= c->condition->filter && strstr(c->condition->filter, "cgroup");
	ret = check_task(w, c->condition, err);
	return ret ? ret : add_limit(w, i, c->condition) ? tap_err_nomem(err) : 0;
}

/* Return the states that can precede a wait for which there is a limit. */
static uint32_t states_before(const struct tap_watch *w)
{
	const uint32_t sleeps = TAP_STATE_BIT(TAP_STATE_SLEEPING) |
				TAP_STATE_BIT(TAP_STATE_BLOCKED) | TAP_STATE_BIT(TAP_STATE_STOPPED);
	uint32_t states = TAP_STATE_BIT(TAP_STATE_UNKNOWN);

	if (w->limits[TAP_STATE_WAKING].nr)
		states |= sleeps;
	if (w->limits[TAP_STATE_RUNNING].nr)
		states |= sleeps | TAP_STATE_BIT(TAP_STATE_WAKING) |
			  TAP_STATE_BIT(TAP_STATE_PREEMPTED) | TAP_STATE_BIT(TAP_STATE_THROTTLED);
	if (w->limits[TAP_STATE_THROTTLED].nr)
		states |= TAP_STATE_BIT(TAP_STATE_RUNNING) | TAP_STATE_BIT(TAP_STATE_WAKING) |
			  TAP_STATE_BIT(TAP_STATE_PREEMPTED);
	if (w->limits[TAP_STATE_WAKING].nr || w->limits[TAP_STATE_PREEMPTED].nr)
		states |= TAP_STATE_BIT(TAP_STATE_THROTTLED);
	if (w->limits[TAP_STATE_PREEMPTED].nr || w->limits[TAP_STATE_SLEEPING].nr ||
	    w->limits[TAP_STATE_BLOCKED].nr || w->limits[TAP_STATE_STOPPED].nr)
		states |= TAP_STATE_BIT(TAP_STATE_RUNNING);
	return states;
}

static int start_balance(struct tap_watch *w)
{
	const struct tap_balance_opts opts = { .ctx = w,
					       .lengths_told = true,
					       .tell = on_violation };

	w->has_balance = true;
	return tap_balance_init(&w->balance, &opts);
}

static bool asks_for_names(const struct tap_watch *w)
{
	for (unsigned int i = 0; i < w->nr; i++)
		if (w->watched[i].condition->event)
			return true;
	return false;
}

static int start_timeline(struct tap_watch *w)
{
	struct tap_timeline_opts opts = {
		.window = TAP_WINDOW_ALL,
		.lists = &w->ids.lists,
		.forgets = true,
		.watchers = w->watchers,
		.lives_only = is_for_names(w),
		.throttling = has_event(w, "schedtap", "sched_throttle"),
	};

	if (!w->nr_slots && !asks_for_names(w))
		return 0;
	w->meta = json_loads(tap_follow_meta(w->follow), 0, NULL);
	w->has_ids = true;
	if (tap_identities_init(&w->ids, NULL, w->meta))
		return -ENOMEM;
	if (w->limits[VIOLATION].nr) {
		w->watchers[opts.nr_watchers++] =
			(struct tap_watcher){ .ops = &tap_balance_ops, .ctx = &w->balance };
		if (start_balance(w))
			return -ENOMEM;
	}
	w->watchers[opts.nr_watchers++] =
		(struct tap_watcher){ .ops = &waits_ops, .ctx = w, .states = states_before(w) };
	return tap_timeline_new(&opts, &w->timeline);
}

static int begin_watch(struct tap_watch *w, const char *spool_path, struct tap_held *held,
		       struct tap_err *err)
{
	int ret = tap_follow_open(spool_path, held, held != NULL, &w->follow, err);

	for (unsigned int i = 0; i < w->nr && !ret; i++)
		ret = add_condition(w, i, err);
	if (ret)
		return ret;
	if (start_timeline(w))
		return tap_err_nomem(err);
	tap_follow_mark(w->follow, mark_format, w);
	if (w->callback_err.code == -ENOMEM)
		return tap_err_nomem(err);
	return 0;
}

int tap_watch_new(struct tap_condition *const *conditions, unsigned int nr, const char *spool_path,
		  struct tap_held *held, struct tap_watch **out, struct tap_err *err)
{
	struct tap_watch *w;
	int ret = -ENOMEM;

	*out = NULL;
	if (nr > MAX_CONDITIONS)
		return tap_err_set(err, -EINVAL, "--when: more than %u conditions are given",
				   MAX_CONDITIONS);
	w = calloc(1, sizeof(*w));
	if (!w)
		return tap_err_nomem(err);
	w->nr = nr;
	w->shortest_ns = UINT64_MAX;
	w->queue_len = QUEUED + nr;
	w->watched = calloc(nr + 1, sizeof(*w->watched));
	w->queue = calloc(w->queue_len, sizeof(*w->queue));
	for (unsigned int i = 0; w->watched && i < nr; i++)
		w->watched[i].condition = conditions[i];
	if (w->watched && w->queue)
		ret = begin_watch(w, spool_path, held, err);
	else
		tap_err_nomem(err);
	if (!ret) {
		*out = w;
		w = NULL;
	}
	tap_watch_free(w);
	return ret;
}

void tap_watch_free(struct tap_watch *w)
{
	if (!w)
		return;
	for (unsigned int i = 0; i < w->nr_kinds; i++)
		release_kind(&w->kinds[i]);
	free(w->kinds);
	for (unsigned int i = 0; w->watched && i < w->nr; i++)
		free(w->watched[i].rate);
	for (unsigned int i = 0; i < NR_KINDS_OF_WAITS; i++)
		free(w->limits[i].v);
	if (w->has_balance)
		tap_balance_release(&w->balance);
	tap_timeline_free(w->timeline);
	if (w->has_ids)
		tap_identities_release(&w->ids);
	json_decref(w->meta);
	tap_waits_release(&w->waits);
	tap_follow_free(w->follow);
	free(w->watched);
	free(w->tasks);
	free(w->violated);
	free(w->queue);
	free(w);
}

bool tap_watch_take(struct tap_watch *w, struct tap_met *met)
{
	if (w->nr_taken == w->nr_put)
		return false;
	*met = w->queue[w->nr_taken++ % w->queue_len];
	for (unsigned int i = 0; i < w->nr; i++)
		if (w->watched[i].condition == met->condition) {
			w->watched[i].nr_queued--;
			break;
		}
	return true;
}

uint64_t tap_watch_dropped(const struct tap_watch *w)
{
	return w->nr_dropped;
}
