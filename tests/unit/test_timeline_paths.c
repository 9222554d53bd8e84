// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The timeline's fast path (timeline/fast_path.h) writes the rules of events.c a second time. This
 * test proves that both agree.
 *
 * The test explores every state that a small machine of two CPUs and two tasks can reach: breadth
 * first, from a start in which nothing is known, by every event that could come next, after several
 * lengths of time. It takes each event twice from the same state, once with the fast path and once
 * without, and compares all calls of a watcher and all that the timeline then knows. States
 * that differ only in what no rule looks at (struct key lists what rules look at) are explored
 * once.
 *
 * SOAK=1 explores many more states.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "timeline/events.h"
#include "sanitized.h"
#include "steps.h"

static unsigned int nr_slow; /* events that events.c took */

static int take_slowly(struct tap_timeline *t, const struct tap_sched_fields *f,
		       const struct tap_event *ev)
{
	nr_slow++;
	return tap_event_take(t, f, ev);
}

#define tap_event_take take_slowly
#include "timeline/engine.c"
#undef tap_event_take

#define NR_CPUS 2
#define NR_TIDS 3 /* tasks 1 and 2, and idle */
#define START_NS 1000000u
#define SHORT_NS 1000u
#define LONG_NS (2u * TAP_ON_ITS_WAY_OUT_NS)
#define MAX_EVENTS 256u
#define MAX_TASKS 32u
#define MAX_CALLS 48u
#define SLOTS (1u << 19) /* of the hash table */
#define MAX_STATES (SLOTS / 2)

/* ---- the recordings: what each kind of recording has decides on many rules ---- */

struct recording {
	const char *name;
	struct tap_window window; /* relative to START_NS */
	bool no_waking, no_wakeup, no_migrate, lives_only, throttling, lean;
	const struct tap_survey *survey;
	const struct tap_promise *promise;
	bool silent; /* no watcher */
	/* nothing is missing, so that a task's phase follows from the table alone */
	bool follows_table;
};

/*
 * What events are about. A rule looks at one CPU, and at each task by itself: so a world with one
 * task shows all that can happen to it, and one with two shows that they do not get in each other's
 * way.
 */
static const struct world {
	int nr_cpus, nr_tasks;
	/* explored, of those that were reached; SOAK=1 is set */
	unsigned int max_states, soak_max_states;
	/* if there are fewer, the test proves less than it did */
	unsigned int min_states, min_fast;
} worlds[] = {
	{ 1, 1, 10000, 100000, 190, 500 },
	{ 2, 1, 2000, 100000, 377, 2500 },
	{ 2, 2, 1500, 20000, 1500, 6000 },
};

static bool keeps(void *ctx, int tid, uint64_t ns, const char *comm, uint32_t len)
{
	(void)ctx, (void)ns, (void)comm, (void)len;
	return tid == 1 || tid == 2;
}

static bool moved(void *ctx, int tid, uint64_t from_ns, uint64_t to_ns)
{
	(void)ctx, (void)tid, (void)from_ns, (void)to_ns;
	return false;
}

static const struct tap_promise two_tasks = { .keeps = keeps, .moved = moved };

#define AT(ns) (START_NS + (ns))
static struct tap_survey_tid tid_2_is_hidden[TAP_SURVEY_TIDS] = { [2] = { .hidden = true } };
static struct tap_loss losses[] = { { .from_ns = AT(45000), .to_ns = AT(80000), .cpu = 0 },
				    { .from_ns = AT(200000), .to_ns = AT(210000), .cpu = -1 } };
static struct tap_hole holes[] = { { AT(45000), AT(80000) }, { AT(200000), AT(210000) } };
static struct tap_break breaks[] = { { AT(45000), AT(80000), 0, 1, TAP_BREAK_MISSED },
				     { AT(45000), AT(80000), 1, 0, TAP_BREAK_OFFLINE },
				     { AT(150000), AT(180000), 1, 2, TAP_BREAK_CUT } };
static const struct tap_survey complete = { 0 };
static const struct tap_survey with_losses = {
	.losses = losses, .nr_kept_losses = 2, .holes = holes, .nr_holes = 2
};
static const struct tap_survey with_breaks = {
	.breaks = breaks, .nr_breaks = 3, .holes = holes, .nr_holes = 1, .has_breaks = true
};
/* Switches tell when their task was queued, and there are no wakeups. */
#define QUEUEINGS                                                                                  \
	.tells_queued = true, .buffer = {                                                          \
		[TAP_SCHED_WAKING] = TAP_NO_BUFFER,                                                \
		[TAP_SCHED_WAKEUP] = TAP_NO_BUFFER,                                                \
	}
static const struct tap_survey lean = { QUEUEINGS };
static const struct tap_survey lean_with_losses = { QUEUEINGS, .losses = losses,
						    .nr_kept_losses = 2, .holes = holes,
						    .nr_holes = 2 };
static const struct tap_survey with_hidden = { .has_breaks = true, .tids = { tid_2_is_hidden } };

#define WHOLE                                                                                      \
	{                                                                                          \
		1500, 1000000000                                                                   \
	}
static const struct recording recordings[] = {
	{ "without a survey", WHOLE, .throttling = true },
	{ "complete", WHOLE, .survey = &complete, .throttling = true, .follows_table = true },
	{ "with lost events", WHOLE, .survey = &with_losses },
	{ "with broken chains", WHOLE, .survey = &with_breaks, .throttling = true },
	{ "with a hidden task", WHOLE, .survey = &with_hidden },
	{ "of two tasks", WHOLE, .survey = &complete, .promise = &two_tasks },
	{ "of switches alone", WHOLE, .survey = &complete, .no_waking = true, .no_wakeup = true,
	  .no_migrate = true },
	{ "lean", WHOLE, .survey = &lean, .no_waking = true, .no_wakeup = true, .no_migrate = true,
	  .lean = true },
	{ "lean, with lost events", WHOLE, .survey = &lean_with_losses, .no_waking = true,
	  .no_wakeup = true, .no_migrate = true, .lean = true },
	{ "without sched_wakeup", WHOLE, .no_wakeup = true, .silent = true },
	{ "asked for lives alone", WHOLE, .survey = &complete, .lives_only = true },
};

/* ---- the events that may come next ---- */

/* How long after the one before. A border is the next instant at which rules change: of the window,
 * or of what the survey knows. */
enum when { AT_ONCE, SOON, LATER, BEFORE_BORDER, AT_BORDER, AFTER_BORDER, NR_WHEN };

#define OFTEN (1u << AT_ONCE | 1u << SOON | 1u << LATER)
#define ALWAYS (OFTEN | 1u << BEFORE_BORDER | 1u << AT_BORDER | 1u << AFTER_BORDER)

struct event {
	struct tap_event ev;
	unsigned char rec[STEPS_REC];
	char text[64];
	unsigned int whens;
	/* lean: the task that is switched in, and how long it was queued before it was moved, ns */
	int next;
	uint32_t moved_ns;
};

static struct event events[MAX_EVENTS];
static unsigned int nr_events;

static struct event *new_event(unsigned int whens)
{
	struct event *e = &events[nr_events++];

	assert_true(nr_events <= MAX_EVENTS);
	memset(e, 0, sizeof(*e));
	e->whens = whens;
	return e;
}

/* Add the event of a step of steps.h, given without its time. */
static void add(unsigned int whens, const char *fmt, ...)
{
	struct event *e = new_event(whens);
	static struct steps steps;
	char line[64];
	va_list args;

	va_start(args, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, args);
	va_end(args);
	snprintf(line, sizeof(line), "0 %s", e->text);
	steps_parse(&steps, line);
	memcpy(e->rec, steps.rec[0], sizeof(e->rec));
	e->ev = steps.ev[0];
	if (e->ev.data)
		e->ev.data = e->rec;
}

static void add_throttle(const char *name, int cpu, int by, int tid)
{
	struct event *e = new_event(1u << SOON);

	snprintf(e->text, sizeof(e->text), "%d %s %d by %d", cpu, name, tid, by);
	e->ev = (struct tap_event){ .fmt = steps_format(name), .cpu = cpu, .data = e->rec };
	e->ev.size = e->ev.fmt->min_size;
	steps_put_task(&e->ev, "", tid);
	steps_put(&e->ev, "common_pid", by);
}

/* @state: "Sd": it sleeps, and its dequeue is delayed. @queued_ns: -1: not known. */
static void add_lean(int cpu, int prev, const char *state, int next, int queued_ns,
		     uint32_t moved_ns)
{
	struct event *e = new_event(queued_ns || moved_ns ? OFTEN : ALWAYS);

	snprintf(e->text, sizeof(e->text), "%d lean %d %s %d queued %d moved %u", cpu, prev, state,
		 next, queued_ns, moved_ns);
	e->next = next;
	e->moved_ns = moved_ns;
	e->ev = (struct tap_event){ .fmt = steps_format("sched_switch_lean"),
				    .cpu = cpu,
				    .data = e->rec };
	e->ev.size = e->ev.fmt->min_size;
	steps_put(&e->ev, "common_pid", prev);
	steps_put(&e->ev, "prev_pid", prev);
	steps_put(&e->ev, "prev_prio", 120);
	steps_put(&e->ev, "prev_state", steps_state(state));
	steps_put(&e->ev, "prev_delayed", state[1] == 'd');
	steps_put(&e->ev, "next_pid", next);
	steps_put(&e->ev, "next_prio", 120);
	steps_put(&e->ev, "next_queued_ns", queued_ns);
}

/* Set what the kernel's account says, which goes on with each switch-in of the task. */
static void account(const struct tap_timeline *t, struct event *e)
{
	const struct task *task = tap_tasks_find(&t->tasks, e->next);

	if (e->ev.fmt == steps_format("sched_switch_lean"))
		steps_put(&e->ev, "next_delay_ns", (task ? task->delay_ns : 0) + e->moved_ns);
}

static void add_lean_switches(const struct world *w, int cpu)
{
	static const char *const states[] = { "R", "S", "Sd", "X" };
	static const struct {
		int queued_ns;
		uint32_t moved_ns;
	} waits[] = { { 0, 0 }, { 600, 0 }, { -1, 0 }, { 0, 300 }, { 30000, 0 } };

	for (int prev = 0; prev <= w->nr_tasks; prev++)
		for (int next = 0; next <= w->nr_tasks; next++)
			for (unsigned int i = 0; i < (prev ? 4 : 1); i++)
				for (unsigned int k = 0; k < (next ? 5 : 1); k++)
					add_lean(cpu, prev, states[i], next, waits[k].queued_ns,
						 waits[k].moved_ns);
}

static void add_switches(const struct recording *r, const struct world *w, int cpu)
{
	static const char *const states[] = { "R", "S", "D", "X", "?" };

	for (int prev = 0; prev <= w->nr_tasks; prev++)
		for (int next = 0; next <= w->nr_tasks; next++)
			for (unsigned int i = 0; i < (prev ? 5 : 1); i++)
				add(i < 2 ? ALWAYS : 1u << SOON, "%d switch %d %s %d", cpu, prev,
				    states[i], next);
	if (r->survey && r->survey->has_breaks)
		add(OFTEN, "%d switch 0 R 1=x", cpu);
}

static void add_wakeups(const struct recording *r, const struct world *w, int cpu)
{
	for (int tid = 1; tid <= w->nr_tasks; tid++) {
		for (int by = 0; by < NR_TIDS && !r->no_waking; by++)
			add(by == tid ? 1u << SOON : ALWAYS, "%d waking %d by %d to 0", cpu, tid,
			    by);
		if (!r->no_wakeup)
			add(1u << SOON, "%d wakeup %d by 0 to %d", cpu, tid, cpu);
		if (!r->no_migrate)
			add(1u << SOON, "%d migrate %d %d %d by 0", cpu, tid, cpu, !cpu);
	}
}

static void add_births(int tid)
{
	const int other = tid == 1 ? 8 : 1;

	add(1u << SOON, "0 new %d by %d", tid, other);
	add(1u << SOON, "0 newtask %d %d thread", other, tid);
	add(1u << SOON, "0 fork %d %d", other, tid);
	add(1u << SOON, "0 exec 1 2");
	add(1u << SOON, "0 exec 1 1");
}

static void add_losses(int cpu)
{
	/* AT_ONCE: from before the last event; SOON: from after it */
	add(1u << AT_ONCE | 1u << SOON, "%d lost %u 1", cpu, START_NS);
}

static void make_events(const struct recording *r, const struct world *w)
{
	nr_events = 0;
	for (int cpu = 0; cpu < w->nr_cpus; cpu++) {
		if (r->lean)
			add_lean_switches(w, cpu);
		else
			add_switches(r, w, cpu);
		add_wakeups(r, w, cpu);
		for (int tid = 1; tid <= w->nr_tasks && r->throttling; tid++) {
			add_throttle("sched_throttle", cpu, tid, tid);
			add_throttle("sched_throttle", cpu, 0, tid);
			add_throttle("sched_unthrottle", cpu, 0, tid);
		}
	}
	add_births(w->nr_tasks);
	for (int cpu = -1; cpu < w->nr_cpus; cpu++)
		add_losses(cpu);
}

/* ---- calls of a watcher ---- */

/* One call. Padding is zero, as calls are compared as bytes. */
struct call {
	enum { INTERVAL = 1, CPU, WAKEUP, MIGRATION, WAITS } what;
	unsigned int task, waker; /* .index + 1 */
	int n[6];
	uint64_t ns[3];
	char end[16];
	struct tap_task now; /* its task at the time of the call */
	struct tap_cpu cpu[NR_CPUS];
};

struct log {
	struct call calls[MAX_CALLS];
	unsigned int nr;
};

static unsigned int id(const struct tap_task *task)
{
	return task ? task->index + 1 : 0;
}

static struct call *log_call(struct log *l, const struct tap_timeline *t, int what,
			     const struct tap_task *task)
{
	struct call *call = &l->calls[l->nr++];

	assert_true(l->nr <= MAX_CALLS);
	memset(call, 0, sizeof(*call));
	call->what = what;
	call->task = id(task);
	if (task)
		call->now = *task;
	memcpy(call->cpu, t->cpus, sizeof(call->cpu));
	return call;
}

static int log_interval(void *ctx, const struct tap_timeline *t, const struct tap_interval *s)
{
	struct call *call = log_call(ctx, t, INTERVAL, s->task);
	const int n[] = { s->state, s->next,	 s->whole | s->late << 1,
			  s->cpu,   s->next_cpu, (int)s->back << 8 | (int)s->was };
	const uint64_t ns[] = { s->from_ns, s->to_ns, s->back_ns };

	memcpy(call->n, n, sizeof(n));
	memcpy(call->ns, ns, sizeof(ns));
	snprintf(call->end, sizeof(call->end), "%s", s->end);
	return 0;
}

static int log_cpu(void *ctx, const struct tap_timeline *t, const struct tap_cpu_interval *s)
{
	struct call *call = log_call(ctx, t, CPU, s->task);

	call->n[0] = s->cpu;
	call->n[1] = s->what;
	call->n[2] = s->outside;
	call->ns[0] = s->from_ns;
	call->ns[1] = s->to_ns;
	return 0;
}

static int log_wakeup(void *ctx, const struct tap_timeline *t, const struct tap_wakeup *w)
{
	struct call *call = log_call(ctx, t, WAKEUP, w->task);
	const int n[] = { w->cpu, w->target_cpu, w->is_new, w->in_interrupt, w->waker_tid, 0 };

	call->waker = id(w->waker);
	memcpy(call->n, n, sizeof(n));
	call->ns[0] = w->ts_ns;
	return 0;
}

static int log_migration(void *ctx, const struct tap_timeline *t, const struct tap_migration *m)
{
	struct call *call = log_call(ctx, t, MIGRATION, m->task);
	const int n[] = { m->from, m->to, m->cpu, m->why, 0, 0 };

	memcpy(call->n, n, sizeof(n));
	call->ns[0] = m->ts_ns;
	return 0;
}

static int log_waits(void *ctx, const struct tap_timeline *t, struct tap_task *task, uint64_t ts_ns)
{
	log_call(ctx, t, WAITS, task)->ns[0] = ts_ns;
	return 0;
}

static const struct tap_watcher_ops log_ops = {
	.states = TAP_STATE_ALL,
	.interval = log_interval,
	.cpu = log_cpu,
	.wakeup = log_wakeup,
	.migration = log_migration,
	.waits = log_waits,
};

/* ---- all that the timeline knows, to return to ---- */

#define REST                                                                                       \
	offsetof(struct tap_timeline, prev_states_of) /* members from here on change with events   \
						       */

struct snapshot {
	uint64_t now_ns;
	unsigned char rest[sizeof(struct tap_timeline) - REST];
	struct tap_cpu cpus[NR_CPUS];
	struct task *by_tid[NR_TIDS];
	unsigned int nr;
	struct task tasks[MAX_TASKS]; /* the last member: only .nr of them are kept */
};

static size_t snapshot_size(const struct snapshot *s)
{
	return offsetof(struct snapshot, tasks) + s->nr * sizeof(*s->tasks);
}

static void save(const struct tap_timeline *t, struct snapshot *s)
{
	assert_true(t->nr_cpus == NR_CPUS && t->tasks.nr <= MAX_TASKS && !t->tasks.free);
	s->now_ns = t->now_ns;
	memcpy(s->rest, (const char *)t + REST, sizeof(s->rest));
	memcpy(s->cpus, t->cpus, sizeof(s->cpus));
	for (int tid = 0; tid < NR_TIDS; tid++)
		s->by_tid[tid] = tap_tasks_find(&t->tasks, tid);
	s->nr = t->tasks.nr;
	for (unsigned int i = 0; i < s->nr; i++)
		s->tasks[i] = *tap_task_whole(t->tasks.all[i]);
}

/* Tasks come from one block: those that are added later have the same addresses each time. */
static void restore(struct tap_timeline *t, const struct snapshot *s)
{
	t->now_ns = s->now_ns;
	memcpy((char *)t + REST, s->rest, sizeof(s->rest));
	memcpy(t->cpus, s->cpus, sizeof(s->cpus));
	for (int tid = 0; tid < NR_TIDS; tid++)
		if (t->tasks.dir[0])
			t->tasks.dir[0][tid] = s->by_tid[tid];
	t->tasks.nr = s->nr;
	for (unsigned int i = 0; i < s->nr; i++)
		*tap_task_whole(t->tasks.all[i]) = s->tasks[i];
}

/* ---- what rules look at ---- */

/* What rules ask about a time: does it lie before a hole, or before the window, or is it now? Of a
 * wakeup also: was it just now? */
enum age { NEVER, BEFORE_HOLE, BEFORE_WINDOW, AGO, JUST_BEFORE, NOW, TO_COME };

static uint8_t age(const struct tap_timeline *t, uint64_t ns)
{
	if (!ns)
		return NEVER;
	if (ns >= t->now_ns)
		return ns == t->now_ns ? NOW : TO_COME;
	if (ns < t->hole_end_ns)
		return BEFORE_HOLE;
	return ns < t->opts.window.from_ns ? BEFORE_WINDOW : AGO;
}

/* @sleep_ns: of a task that sleeps: since when; else now. */
static uint8_t age_of_wakeup(const struct tap_timeline *t, uint64_t ns, uint64_t sleep_ns)
{
	return ns && ns < sleep_ns && sleep_ns - ns <= TAP_ON_ITS_WAY_OUT_NS ? JUST_BEFORE
									     : age(t, ns);
}

struct task_key {
	uint8_t state, phase, since, woken_running, slept, throttles, waited, back;
	int8_t run_cpu;
	uint8_t placed : 1, is_new : 1, is_told : 1, renamed : 1;
	uint8_t has_delay : 1, dequeued : 1, counted : 1; /* of lean recordings */
};

struct cpu_key {
	uint8_t since, task; /* 1 + tid; 1 + NR_TIDS: one that lost its tid */
	uint8_t known : 1, offline : 1, unfit : 1, cut : 1, outside : 1, seen : 1;
};

/* A state of the exploration. */
struct key {
	struct task_key tasks[NR_TIDS];
	struct cpu_key cpus[NR_CPUS];
	uint8_t hole_end, off_end, window_from, next_hole, next_loss, next_break, is_fast;
};

/* Only of a task that a wakeup made wait, or may turn out to have: whether its CPU was chosen
 * already. */
static bool is_placed_or_not(const struct task *task)
{
	return task->pub.state == TAP_STATE_WAKING ||
	       (tap_task_is_asleep(task) && task->woken_running_ns);
}

static struct task_key task_key(const struct tap_timeline *t, const struct task *task)
{
	const enum tap_state state = task->pub.state;
	const uint64_t since = task->pub.since_ns;

	if (state == TAP_STATE_DEAD) /* another comes in its place */
		return (struct task_key){ .state = 1 + TAP_STATE_DEAD };
	return (struct task_key){
		.state = (uint8_t)(1 + state),
		.phase = (uint8_t)task->phase,
		.since = age(t, since),
		.run_cpu = (int8_t)task->pub.run_cpu,
		.woken_running = age_of_wakeup(t, task->woken_running_ns,
					       tap_task_is_asleep(task) ? since : t->now_ns),
		.slept = state == TAP_STATE_WAKING ? (uint8_t)task->slept : 0,
		.throttles = age(t, task->throttles_ns < since ? 0 : task->throttles_ns),
		.waited = state == TAP_STATE_THROTTLED ? (uint8_t)task->waited : 0,
		.back = (uint8_t)task->back,
		.is_new = task->is_new,
		.is_told = task->is_told,
		.placed = task->placed && is_placed_or_not(task),
		.renamed = task->pub.comm[0] == 'x',
		.has_delay = t->has_queueings && task->has_delay,
		.dequeued = t->has_queueings && task->dequeued,
		.counted = t->has_queueings && task->counted_ns > t->hole_end_ns,
	};
}

static struct cpu_key cpu_key(const struct tap_timeline *t, const struct tap_cpu *c)
{
	struct cpu_key k = { .since = age(t, c->since_ns),
			     .known = c->known,
			     .offline = c->offline,
			     .unfit = c->unfit,
			     .cut = c->cut,
			     .outside = c->outside,
			     .seen = c->seen };

	if (c->known)
		k.task = c->task ? (uint8_t)(1 + c->task->tid) : 1;
	if (c->task && tap_timeline_task(t, c->task->tid) != c->task)
		k.task = 1 + NR_TIDS;
	return k;
}

static void make_key(const struct tap_timeline *t, struct key *k)
{
	memset(k, 0, sizeof(*k));
	for (int tid = 1; tid < NR_TIDS; tid++) {
		const struct task *task = tap_tasks_find(&t->tasks, tid);

		if (task)
			k->tasks[tid] = task_key(t, task);
	}
	for (unsigned int i = 0; i < NR_CPUS; i++)
		k->cpus[i] = cpu_key(t, &t->cpus[i]);
	k->hole_end = age_of_wakeup(t, t->hole_end_ns, t->now_ns);
	k->off_end = t->off_end_ns > t->now_ns;
	k->window_from = age(t, t->opts.window.from_ns);
	k->next_hole = (uint8_t)t->next_hole;
	k->next_loss = (uint8_t)t->next_loss;
	k->next_break = (uint8_t)t->next_break;
	k->is_fast = t->now_ns - t->fast_from_ns < t->fast_ns;
}

/* ---- the exploration ---- */

struct state {
	struct snapshot *at; /* until it was explored */
	unsigned int from; /* the state before, and by what it was left */
	uint16_t event;
	uint8_t when;
};

static struct state states[MAX_STATES];
static unsigned int nr_states;
static uint64_t seen[SLOTS];

static uint64_t hash(const void *data, size_t len)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3;
	return h ? h : 1;
}

/* Return: whether it was not there yet. */
static bool see(const struct key *k)
{
	uint64_t h = hash(k, sizeof(*k));
	unsigned int i = (unsigned int)(h >> 20) % SLOTS;

	for (; seen[i]; i = (i + 1) % SLOTS)
		if (seen[i] == h)
			return false;
	seen[i] = h;
	return true;
}

static void add_state(struct tap_timeline *t, const struct snapshot *at, unsigned int from,
		      unsigned int event, unsigned int when)
{
	struct key k;

	make_key(t, &k);
	if (nr_states == MAX_STATES || !see(&k))
		return;
	states[nr_states].at = malloc(snapshot_size(at));
	assert_non_null(states[nr_states].at);
	memcpy(states[nr_states].at, at, snapshot_size(at));
	states[nr_states].from = from;
	states[nr_states].event = (uint16_t)event;
	states[nr_states++].when = (uint8_t)when;
}

/* The next instant at which rules change; 0: none comes. */
static uint64_t next_border(const struct tap_timeline *t)
{
	const uint64_t at[] = { t->next_hole_ns, t->next_break_ns,	 t->hole_end_ns,
				t->fast_from_ns, t->opts.window.from_ns, t->opts.window.to_ns };
	uint64_t next = UINT64_MAX;

	for (unsigned int i = 0; i < sizeof(at) / sizeof(*at); i++)
		if (at[i] > t->now_ns + 1 && at[i] < next)
			next = at[i];
	return next == UINT64_MAX ? 0 : next;
}

/* Return: 0: there is no such instant. */
static uint64_t time_of(const struct tap_timeline *t, enum when when)
{
	uint64_t border = next_border(t);

	switch (when) {
	case AT_ONCE:
		return t->now_ns;
	case SOON:
		return t->now_ns + SHORT_NS;
	case LATER:
		return t->now_ns + LONG_NS;
	default:
		return border ? border + when - AT_BORDER : 0;
	}
}

/* What came out of an event. */
struct outcome {
	struct log log;
	struct snapshot after;
	bool fast;
};

static void take_event(struct tap_timeline *t, struct log *log, struct event *e, uint64_t now,
		       bool fast, struct outcome *out)
{
	const struct tap_format *switch_fmt = t->switch_fmt, *waking_fmt = t->waking_fmt,
				*lean_fmt = t->lean_fmt;

	account(t, e);
	e->ev.ts_ns = e->ev.lost.last_ns = now;
	if (!e->ev.fmt)
		e->ev.lost.first_ns = now - SHORT_NS / 2;
	if (!fast)
		t->switch_fmt = t->waking_fmt = t->lean_fmt = &t->no_format;
	log->nr = nr_slow = 0;
	assert_int_equal(tap_timeline_event(t, &e->ev), 0);
	t->switch_fmt = switch_fmt;
	t->waking_fmt = waking_fmt;
	t->lean_fmt = lean_fmt;
	out->fast = !nr_slow && e->ev.fmt;
	memcpy(out->log.calls, log->calls, log->nr * sizeof(*log->calls));
	out->log.nr = log->nr;
	save(t, &out->after);
}

/* What no rule may look at in a task's state becomes what would change the outcome: so a rule that
 * does is found. */
static void spoil_unused(struct snapshot *s)
{
	for (unsigned int i = 0; i < s->nr; i++) {
		struct task *task = &s->tasks[i];

		task->placed |= !is_placed_or_not(task);
		if (task->pub.state != TAP_STATE_THROTTLED)
			task->waited = TAP_STATE_DEAD;
	}
}

static const char *difference(struct outcome *fast, struct outcome *slow, bool lives_only)
{
	struct snapshot *a = &fast->after, *b = &slow->after;

	spoil_unused(a);
	spoil_unused(b);
	if (fast->log.nr != slow->log.nr)
		return "how often watchers are called";
	for (unsigned int i = 0; i < fast->log.nr; i++)
		if (memcmp(&fast->log.calls[i], &slow->log.calls[i], sizeof(struct call)))
			return "what watchers are called with";
	if (a->nr != b->nr)
		return "the number of tasks";
	if (memcmp(a->tasks, b->tasks, a->nr * sizeof(*a->tasks)))
		return "tasks";
	if (lives_only) /* it knows nothing of CPUs */
		memcpy(a->cpus, b->cpus, sizeof(a->cpus));
	if (memcmp(a->cpus, b->cpus, sizeof(a->cpus)))
		return "CPUs";
	return memcmp(a, b, snapshot_size(a)) ? "what the timeline knows beside tasks and CPUs"
					      : NULL;
}

static void print_way(unsigned int state)
{
	static const char *const whens[] = { "at once",		"soon",	       "later",
					     "before a border", "at a border", "after a border" };

	if (!state)
		return;
	print_way(states[state].from);
	print_message("#   %-16s %s\n", whens[states[state].when],
		      events[states[state].event].text);
}

static void print_tasks(const char *path, const struct snapshot *s)
{
	for (unsigned int i = 0; i < s->nr; i++) {
		const struct task *task = &s->tasks[i];

		print_message(
			"# %s: %d %s since %llu cpu %d run_cpu %d from_cpu %d prio %d slices %llu "
			"migrations %llu woken_ns %llu by %d on %d, woken_running %llu slept %d "
			"from %llu throttles %llu waited %d was %d back %d phase %d,%s%s%s%s\n",
			path, task->pub.tid, tap_state_name(task->pub.state),
			(unsigned long long)task->pub.since_ns, task->pub.cpu, task->pub.run_cpu,
			task->pub.from_cpu, task->pub.prio, (unsigned long long)task->pub.slices,
			(unsigned long long)task->pub.migrations,
			(unsigned long long)task->pub.woken_ns, task->pub.waker_tid,
			task->pub.waker_cpu, (unsigned long long)task->woken_running_ns,
			(int)task->slept, (unsigned long long)task->slept_from_ns,
			(unsigned long long)task->throttles_ns, (int)task->waited, (int)task->was,
			(int)task->back, (int)task->phase, task->placed ? " placed" : "",
			task->kept ? " kept" : "", task->is_new ? " is_new" : "",
			task->is_told ? " is_told" : "");
	}
}

/* ---- the table (timeline/transitions.h) ---- */

/* Return: the phase to which the rule's amendment leads. */
static enum tap_phase amended(enum tap_phase phase, enum tap_sign sign)
{
	switch (tap_rules[sign][phase].amend) {
	case TAP_AMEND_LOSE:
	case TAP_AMEND_BREAK:
		return TAP_PHASE_LOST;
	case TAP_AMEND_WAKE_LATE:
		return TAP_PHASE_WAKING_INFERRED;
	default:
		return phase;
	}
}

/* Whether the table has that way from phase to phase. */
static bool is_in_table(enum tap_phase from, enum tap_sign sign, enum tap_phase to)
{
	enum tap_phase phase = amended(from, sign);
	unsigned int next = tap_rules[sign][phase].next;

	/* by another than the task's waker */
	if (sign == TAP_SIGN_MOVED && from == TAP_PHASE_ASLEEP_WOKEN && to == from)
		return true;
	return next == TAP_PHASE_BY_EVENT || to == (next ? next : phase);
}

static void check_task(const struct snapshot *before, const struct snapshot *after, int tid,
		       enum tap_sign sign)
{
	const struct task *task = before->by_tid[tid];
	unsigned int i = task ? task->pub.index : 0;
	enum tap_phase from, to;

	if (!task || before->tasks[i].phase == TAP_PHASE_DEAD) /* another task comes in its place */
		return;
	from = before->tasks[i].phase;
	to = after->tasks[i].phase;
	/* two CPUs' clocks */
	if (sign == TAP_SIGN_WAKING && after->now_ns == before->tasks[i].pub.since_ns && to == from)
		return;
	if (!is_in_table(from, sign, to)) {
		print_message("# task %d: sign %d leads from phase %d to %d, which the table does "
			      "not have\n",
			      tid, (int)sign, (int)from, (int)to);
		fail();
	}
}

static void check_table(const struct event *e, const struct snapshot *before,
			const struct snapshot *after)
{
	static const char *const kinds[TAP_NR_SIGNS] = {
		[TAP_SIGN_WAKING] = "waking",
		[TAP_SIGN_WAKEUP] = "wakeup",
		[TAP_SIGN_MOVED] = "migrate",
		[TAP_SIGN_THROTTLED] = "sched_throttle",
		[TAP_SIGN_UNTHROTTLED] = "sched_unthrottle",
	};
	int tid, other;
	char kind[24];

	if (sscanf(e->text, "%*d switch %d %*s %d", &tid, &other) == 2) {
		if (tid && tid != other)
			check_task(before, after, tid, TAP_SIGN_OUT);
		if (other && tid != other)
			check_task(before, after, other, TAP_SIGN_IN);
		return;
	}
	/* what a task does to itself */
	if (sscanf(e->text, "%*d %23s %d by %d", kind, &tid, &other) == 3 && tid == other)
		return;
	for (int sign = 0; sign < TAP_NR_SIGNS; sign++)
		if (kinds[sign] && !strcmp(kind, kinds[sign]))
			check_task(before, after, tid, (enum tap_sign)sign);
}

struct figures {
	unsigned int steps, fast;
};

static void step(const struct recording *r, struct tap_timeline *t, struct log *log,
		 unsigned int from, unsigned int event, enum when when, struct figures *f)
{
	static struct outcome fast, slow;
	const struct snapshot *before = states[from].at;
	struct event *e = &events[event];
	const char *what;
	uint64_t now;

	restore(t, before);
	now = time_of(t, when);
	if (!now)
		return;
	take_event(t, log, e, now, false, &slow);
	assert_false(slow.fast);
	restore(t, before);
	take_event(t, log, e, now, true, &fast);
	what = difference(&fast, &slow, t->opts.lives_only);
	if (what) {
		print_message("# the fast path and events.c differ in %s, after:\n", what);
		print_way(from);
		print_message("# when this comes (%d): %s\n", (int)when, e->text);
		print_tasks("before", before);
		print_tasks("fast path", &fast.after);
		print_tasks("events.c", &slow.after);
		fail();
	}
	if (r->follows_table)
		check_table(e, before, &fast.after);
	f->steps++;
	f->fast += fast.fast;
	if (now <= t->opts.window.to_ns)
		add_state(t, &fast.after, from, event, when);
}

static struct tap_timeline *start(const struct recording *r, struct log *log)
{
	static const char *const introductions[] = { "0 switch 0 R 0",	"0 waking 0 by 0",
						     "0 wakeup 0 by 0", "0 migrate 0 0 1 by 0",
						     "0 new 0 by 0",	"0 newtask 0 0",
						     "0 fork 0 0",	"0 exec 0 0" };
	static const char *const throttles[] = { "sched_throttle", "sched_unthrottle" };
	const bool is_left_out[] = { false, r->no_waking, r->no_wakeup, r->no_migrate, false };
	static struct tap_watcher watcher; /* the timeline keeps its address */
	struct tap_timeline_opts opts = {
		.window = { START_NS + r->window.from_ns, START_NS + r->window.to_ns },
		.survey = r->survey,
		.promise = r->promise,
		.lives_only = r->lives_only,
		.throttling = r->throttling,
		.nr_cpus = NR_CPUS,
		.watchers = &watcher,
		.nr_watchers = !r->silent,
	};
	struct tap_timeline *t;
	struct tap_task *task;

	watcher = (struct tap_watcher){ .ops = &log_ops, .ctx = log };
	assert_int_equal(tap_timeline_new(&opts, &t), 0);
	/* every kind of event comes once, of idle, about which it says nothing */
	for (unsigned int i = 0; i < sizeof(introductions) / sizeof(*introductions); i++) {
		if (i < 4 && is_left_out[i])
			continue;
		nr_events = 0;
		if (!i && r->lean)
			add_lean(0, 0, "R", 0, 0, 0);
		else
			add(OFTEN, "%s", introductions[i]);
		events[0].ev.ts_ns = START_NS;
		assert_int_equal(tap_timeline_event(t, &events[0].ev), 0);
	}
	for (unsigned int i = 0; i < 2 && r->throttling; i++) {
		nr_events = 0;
		add_throttle(throttles[i], 0, 0, 0);
		events[0].ev.ts_ns = START_NS;
		assert_int_equal(tap_timeline_event(t, &events[0].ev), 0);
	}
	/* which allocates the block that all tasks come from */
	assert_int_equal(tap_timeline_see(t, 8, &task), 0);
	return t;
}

/* Return: how many states were explored. */
static unsigned int explore_states(const struct recording *r, struct tap_timeline *t,
				   struct log *log, unsigned int max, struct figures *f)
{
	unsigned int i;

	for (i = 0; i < nr_states && i < max; i++) {
		for (unsigned int e = 0; e < nr_events; e++)
			for (unsigned int when = 0; when < NR_WHEN; when++)
				if (events[e].whens >> when & 1)
					step(r, t, log, i, e, when, f);
		free(states[i].at);
	}
	for (unsigned int left = i; left < nr_states; left++)
		free(states[left].at);
	return i;
}

static void explore(const struct recording *r, const struct world *w)
{
	static struct snapshot first;
	static struct log log;
	struct figures f = { 0 };
	struct tap_timeline *t = start(r, &log);
	const unsigned int share = sanitized_step();
	unsigned int nr;

	make_events(r, w);
	memset(seen, 0, sizeof(seen));
	nr_states = 0;
	save(t, &first);
	add_state(t, &first, 0, 0, 0);
	nr = explore_states(r, t, &log, getenv("SOAK") ? w->soak_max_states : w->max_states / share,
			    &f);
	print_message("# %d CPUs, %d tasks: %u of %u states explored by %u steps, %u of them by "
		      "the fast path\n",
		      w->nr_cpus, w->nr_tasks, nr, nr_states, f.steps, f.fast);
	tap_timeline_free(t);
	steps_release();
	assert_true(nr >= w->min_states / share);
	assert_true(f.fast >= w->min_fast / share);
}

static void test_recording(void **state)
{
	for (unsigned int i = 0; i < sizeof(worlds) / sizeof(*worlds); i++)
		explore(*state, &worlds[i]);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(recordings) / sizeof(*recordings)];

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		tests[i] = (struct CMUnitTest){ .name = recordings[i].name,
						.test_func = test_recording,
						.initial_state = (void *)&recordings[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
