// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * generate SEED EVENTS FOLDER: write recordings of a simulated scheduler (sim.h), and the truth
 * about them. The same seed makes the same files:
 *
 *   truth.jsonl     one flat JSON object per line; "what" is its kind:
 *     window        from_ns, to_ns: first and last event of the undamaged recording
 *     cpu           cpu; first_ns: from when its switches show what it ran; switch_ns: the first
 *                   switch; switches; run_ns, idle_ns, offline_ns; away_ns: the part of offline_ns
 *                   that lasts until the end
 *     task          task (its number), tid, comm, first_ns: from when events show its state (null:
 *                   never), born_ns, died_ns (or the window's ends), migrations
 *     run, waking, preempted, throttled, sleep, blocked, stopped, new, gone
 *                   task, from_ns, to_ns, cpu; of a run: state; of waking: waker, waker_cpu, and
 *                   wakeup_cpu, wakeup_ns of its sched_wakeup; not clipped to the window; to_ns is
 *                   null if it continues after it; doubt: 1 if only its end shows what it is;
 *                   unseen: 1 for a wait after "gone". "gone" is a migration thread whose CPU is
 *                   offline, which no event shows
 *     move          task, ts_ns, from, to: CPUs
 *     pick          cpu, ts_ns, and the numbers of a sched_pick (picks.h)
 *   causes.jsonl    for the recordings with causes in addition (causes.h):
 *     class         task, prio, cpus: bits of the CPUs that it may use, 0 if not in the recording
 *     irq, softirq  cpu, ts_ns, begins
 *     idle_state    cpu, ts_ns, begins
 *     ask           cpu, ts_ns, lazy
 *     place         task, ts_ns, place: local, shared, held
 *     pick          see truth.jsonl
 *   wakeup.jsonl    like truth.jsonl, but waits begin with sched_wakeup instead of sched_waking
 *   switch.jsonl    like truth.jsonl, but a sleep lasts until its task runs
 *   queue.jsonl     like wakeup.jsonl, for recordings whose switches tell when that was
 *   <damage>.dat    whole.dat is undamaged; see damages[]
 */
#include <inttypes.h>

#include "truth/causes.h"
#include "truth/write_dat.h"

#define BIT(kind) (1u << (kind))
#define ALL (BIT(NR_SCHED_KINDS) - 1)
#define THROTTLING (BIT(THROTTLE) | BIT(THROTTLE_WAKEUP) | BIT(UNTHROTTLE))
#define NO_WAKEUPS (ALL & ~BIT(WAKING) & ~BIT(WAKEUP))
#define QUEUE (NO_WAKEUPS | SIM_QUEUEINGS)
#define LEAN (QUEUE | SIM_LEAN)
#define CAUSES (BIT(NR_KINDS) - BIT(IRQ_ENTRY) + BIT(PICK))

/* The events of one CPU that may be damaged, in order of time. */
struct stream {
	struct event **events;
	unsigned int nr;
};

static struct stream stream_of(const struct sim *s, struct event *events, int cpu)
{
	struct stream st = { .events = calloc(s->nr_events, sizeof(*st.events)) };

	if (!st.events)
		abort();
	for (unsigned int i = 0; i < s->nr_events - s->nr_protected; i++) {
		if (events[i].cpu == cpu)
			st.events[st.nr++] = &events[i];
	}
	/* no later event of an offline CPU could show a loss */
	st.nr -= st.nr && s->cpus[cpu].offline;
	return st;
}

/* Lose the events @from to @to, and replace the last one by the record of the loss. */
static void lose(struct stream *st, unsigned int from, unsigned int to, enum event_kind how)
{
	struct event *last = st->events[to];

	for (unsigned int i = from; i < to; i++)
		st->events[i]->gone = true;
	last->kind = how;
	last->first_ns = st->events[from]->ts_ns;
	last->count = to - from + 1;
	last->current_tid = 0;
	last->gone = false;
}

static void lose_on(struct sim *s, struct event *events, int cpu)
{
	/*
	 * the same way for all: a record right after a sub-buffer's flag would merge both into one
	 * loss
	 */
	enum event_kind how = dice(s, 2) ? LOST : MISSED;
	struct stream st = stream_of(s, events, cpu);

	for (unsigned int at = dice(s, 60); at < st.nr; at += 2 + dice(s, 120)) {
		unsigned int to = at + dice(s, dice(s, 2) ? 5 : 60);

		if (to >= st.nr)
			break;
		lose(&st, at, to, how);
		at = to;
	}
	free(st.events);
}

static void damage_none(struct sim *s, struct event *events)
{
	(void)s;
	(void)events;
}

static void damage_loss(struct sim *s, struct event *events)
{
	lose_on(s, events, (int)dice(s, s->nr_cpus));
}

static void damage_losses(struct sim *s, struct event *events)
{
	for (int cpu = 0; cpu < (int)s->nr_cpus; cpu++)
		lose_on(s, events, cpu);
}

/* Lose the first events of each CPU, as in a ring that was overwritten. */
static void damage_overwritten(struct sim *s, struct event *events)
{
	for (int cpu = 0; cpu < (int)s->nr_cpus; cpu++) {
		struct stream st = stream_of(s, events, cpu);

		if (st.nr)
			lose(&st, 0, dice(s, st.nr), MISSED);
		free(st.events);
	}
}

static void damage_no_cpu(struct sim *s, struct event *events)
{
	struct stream st = stream_of(s, events, (int)dice(s, s->nr_cpus));

	for (unsigned int i = s->nr_events - s->nr_protected; i < s->nr_events; i++) {
		if (st.nr && events[i].cpu == st.events[0]->cpu)
			st.events[st.nr++] = &events[i];
	}
	if (st.nr)
		lose(&st, 0, st.nr - 1, LOST);
	free(st.events);
}

/*
 * If a waking is lost after one that had no effect, the recording looks as if the task was woken
 * while it was leaving: no event can distinguish the two. So drop the waking without effect as
 * well.
 */
static void drop_vain(struct sim *s, struct event *events)
{
	for (unsigned int i = 0; i < s->nr_events; i++) {
		if (!events[i].gone || events[i].kind != WAKING || events[i].in_vain)
			continue;
		for (unsigned int k = i; k-- > 0;) {
			if (events[k].task != events[i].task)
				continue;
			if (events[k].kind == WAKING && !events[k].in_vain)
				break;
			events[k].gone |= events[k].in_vain;
		}
	}
}

/* Do not record what some tasks do, and do not record this as a loss. */
static void damage_hidden(struct sim *s, struct event *events)
{
	bool hidden[SIM_TASKS] = { 0 };
	unsigned int share = 2 + dice(s, 6);

	for (unsigned int i = 3 * s->nr_cpus; i < s->nr_tasks; i++) /* the first tasks are pinned */
		hidden[i] = !dice(s, share);
	for (unsigned int i = 0; i < s->nr_events; i++)
		events[i].gone = events[i].current >= 0 && hidden[events[i].current];
	drop_vain(s, events);
}

static void damage_single(struct sim *s, struct event *events)
{
	for (unsigned int n = 1 + dice(s, 4); n > 0; n--)
		events[dice(s, s->nr_events - s->nr_protected)].gone = true;
	drop_vain(s, events);
}

static const struct damage {
	const char *name;
	void (*fn)(struct sim *s, struct event *events);
	unsigned int kinds;
} damages[] = {
	{ "whole", damage_none, ALL },
	{ "picks", damage_none, ALL | BIT(PICK) },
	{ "waking", damage_none, ALL & ~BIT(WAKEUP) & ~BIT(HOTPLUG) },
	{ "wakeup", damage_none, ALL & ~BIT(WAKING) },
	{ "few", damage_none, BIT(SWITCH) | BIT(WAKING) | THROTTLING },
	{ "switch", damage_none, NO_WAKEUPS },
	{ "switch_losses", damage_losses, NO_WAKEUPS },
	{ "queue", damage_none, QUEUE },
	{ "queue_losses", damage_losses, QUEUE },
	{ "queue_hidden", damage_hidden, QUEUE },
	{ "queue_lean", damage_none, LEAN },
	{ "queue_lean_losses", damage_losses, LEAN },
	{ "queue_lean_hidden", damage_hidden, LEAN },
	{ "loss", damage_loss, ALL & ~BIT(WAKEUP) },
	{ "losses", damage_losses, ALL },
	{ "overwritten", damage_overwritten, ALL & ~BIT(WAKEUP) },
	{ "no_cpu", damage_no_cpu, ALL & ~BIT(WAKEUP) },
	{ "hidden", damage_hidden, ALL & ~BIT(WAKEUP) },
	{ "single", damage_single, ALL & ~BIT(WAKEUP) },
	{ "picks_losses", damage_losses, ALL | BIT(PICK) },
};

/* For the simulation with causes. */
static const struct damage cause_damages[] = {
	{ "causes", damage_none, ALL | CAUSES },
	{ "causes_loss", damage_loss, ALL | CAUSES },
	{ "causes_losses", damage_losses, ALL | CAUSES },
};

/* The list of the tasks that were there at the start: lean switches do not name them. */
static void list_names(const struct sim *s, struct tap_buf *meta)
{
	const char *comma = "";

	tap_buf_puts(meta, "{\"tasks\":[");
	for (unsigned int i = 0; i < s->nr_tasks; i++) {
		const struct task *t = &s->tasks[i];

		if (t->born_ns)
			continue;
		tap_buf_printf(meta, "%s[%d,%d,\"%s\",null,\"began\",null]", comma, t->tid, t->tid,
			       t->comm);
		comma = ",";
	}
	tap_buf_puts(meta, "]}");
}

static int write_damaged(struct sim *s, const struct damage *d, const char *folder,
			 const char *meta, struct tap_err *err)
{
	struct event *events = calloc(s->nr_events, sizeof(*events));
	struct tap_buf names = { 0 };
	char path[4096];
	int ret;

	if (!events)
		abort();
	memcpy(events, s->events, s->nr_events * sizeof(*events));
	d->fn(s, events);
	for (unsigned int i = 0; i < s->nr_events; i++)
		events[i].gone |=
			events[i].kind < NR_SCHED_KINDS && !(d->kinds & BIT(events[i].kind));
	snprintf(path, sizeof(path), "%s/%s.dat", folder, d->name);
	if (d->kinds & SIM_LEAN)
		list_names(s, &names);
	ret = write_dat(path, s, events, d->kinds, names.len ? tap_buf_str(&names) : meta, err);
	tap_buf_release(&names);
	free(events);
	return ret;
}

/*
 * Return the start of the recording. Its end is that of the simulation, as the last event is a
 * switch.
 */
static uint64_t start_ns(const struct sim *s, unsigned int kinds)
{
	const struct event *e = s->events;

	while (!(kinds & BIT(e->kind)))
		e++;
	return e->ts_ns;
}

/* Return the first switch of @cpu, or of any CPU if @cpu is -1; NULL if there is none. */
static const struct event *first_switch(const struct sim *s, int cpu)
{
	for (const struct event *e = s->events; e < s->events + s->nr_events; e++)
		if (e->kind == SWITCH && (cpu < 0 || e->cpu == cpu))
			return e;
	return NULL;
}

/*
 * Return from when switches show what a CPU ran: its first switch shows what ran since the first
 * switch of all CPUs. But the switch to a thread that brings a CPU online does not show that the
 * CPU was online before.
 */
static uint64_t shown_from_ns(const struct sim *s, int cpu)
{
	const struct event *e = first_switch(s, cpu);

	if (!e)
		return 0;
	if (e->current < 0 && e->task >= s->first_stopper &&
	    e->task < s->first_hotplug + (int)s->nr_cpus)
		return e->ts_ns;
	return first_switch(s, -1)->ts_ns;
}

static void print_cpu(FILE *f, const struct sim *s, int cpu, uint64_t start)
{
	const struct sim_cpu *c = &s->cpus[cpu];
	const struct event *first = first_switch(s, cpu);
	uint64_t run_ns = 0, away_ns = c->offline ? s->now - c->down_ns : 0;
	uint64_t offline_ns = c->offline_ns + away_ns;
	unsigned int switches = 0;

	for (const struct event *e = s->events; e < s->events + s->nr_events; e++)
		switches += e->cpu == cpu && e->kind == SWITCH;
	for (const struct segment *g = s->segments + 1; g < s->segments + s->nr_segments; g++) {
		uint64_t from = g->from_ns < start ? start : g->from_ns;
		uint64_t to = g->to_ns > s->now ? s->now : g->to_ns;

		if (g->cpu == cpu && !strcmp(g->what, "run") && to > from)
			run_ns += to - from;
	}
	fprintf(f,
		"{\"what\":\"cpu\",\"cpu\":%d,\"first_ns\":%" PRIu64 ",\"switch_ns\":%" PRIu64
		",\"switches\":%u,\"run_ns\":%" PRIu64 ",\"idle_ns\":%" PRIu64
		",\"offline_ns\":%" PRIu64 ",\"away_ns\":%" PRIu64 "}\n",
		cpu, shown_from_ns(s, cpu), first ? first->ts_ns : 0, switches, run_ns,
		s->now - start - run_ns - offline_ns, offline_ns, away_ns);
}

/* Return when an event of these kinds first shows the task's state; 0 if none does. */
static uint64_t first_ns(const struct sim *s, int task, unsigned int kinds)
{
	/*
	 * a migration does not show the state, nor does a waking of a task that is awake; for a
	 * task that is throttled while it runs, the following switch shows it
	 */
	kinds &= BIT(SWITCH) | BIT(WAKING) | BIT(WAKEUP) | BIT(WAKEUP_NEW) | BIT(THROTTLE) |
		 BIT(THROTTLE_WAKEUP);
	for (const struct event *e = s->events; e < s->events + s->nr_events; e++) {
		bool leaves = e->kind == SWITCH && e->current == task;

		if (kinds & BIT(e->kind) && !e->awake &&
		    ((e->task == task && (e->kind != THROTTLE || e->current != task)) || leaves))
			return leaves && e == first_switch(s, e->cpu) ? shown_from_ns(s, e->cpu)
								      : e->ts_ns;
	}
	return 0;
}

static void print_task(FILE *f, const struct sim *s, int task, unsigned int kinds)
{
	const struct task *t = &s->tasks[task];
	uint64_t first = first_ns(s, task, kinds);
	char first_text[24] = "null";

	if (first)
		snprintf(first_text, sizeof(first_text), "%" PRIu64, first);
	fprintf(f,
		"{\"what\":\"task\",\"task\":%d,\"tid\":%d,\"comm\":\"%s\",\"first_ns\":%s,\"born_"
		"ns\":%" PRIu64 ",\"died_ns\":%" PRIu64 ",\"migrations\":%u}\n",
		task, t->tid, t->comm, first_text, t->born_ns ? t->born_ns : start_ns(s, kinds),
		t->died_ns ? t->died_ns : s->now, t->migrations);
}

static void print_segment(FILE *f, const struct segment *g, bool wakeup)
{
	bool wait = !strcmp(g->what, "waking");
	uint64_t from = wakeup && g->wakeup_ns && wait ? g->wakeup_ns : g->from_ns;
	uint64_t to = wakeup && g->wakeup_ns && !wait ? g->wakeup_ns : g->to_ns;
	char to_text[24] = "null";

	if (from == to)
		return;
	if (to != SIM_OPEN)
		snprintf(to_text, sizeof(to_text), "%" PRIu64, to);
	fprintf(f,
		"{\"what\":\"%s\",\"task\":%d,\"from_ns\":%" PRIu64
		",\"to_ns\":%s,\"cpu\":%d,\"state\":%u,\"doubt\":%d,\"unseen\":%d,\"waker\":%d,"
		"\"waker_cpu\":%d,\"wakeup_cpu\":%d,\"wakeup_ns\":%" PRIu64 "}\n",
		g->what, g->task, from, to_text, g->cpu, g->state, g->doubt, g->unseen, g->waker,
		g->waker_cpu, g->wakeup_cpu, g->wakeup_ns);
}

static void print_moves(FILE *f, const struct sim *s)
{
	for (const struct event *e = s->events; e < s->events + s->nr_events; e++)
		if (e->kind == MIGRATE)
			fprintf(f,
				"{\"what\":\"move\",\"task\":%d,\"ts_ns\":%" PRIu64
				",\"from\":%d,\"to\":%d}\n",
				e->task, e->ts_ns, e->from, e->to);
}

static void print_picks(FILE *f, const struct sim *s)
{
	struct pick p;

	for (const struct event *e = s->events; e < s->events + s->nr_events; e++)
		if (pick_of(e, &p) && p.weight)
			fprintf(f,
				"{\"what\":\"pick\",\"cpu\":%d,\"ts_ns\":%" PRIu64
				",\"vtime\":%" PRId64 ",\"lag\":%" PRId64 ",\"deadline\":%" PRId64
				",\"vprot\":%" PRId64 ",\"weight\":%u,\"group\":%d}\n",
				e->cpu, e->ts_ns, p.vtime, p.lag, p.deadline, p.vprot, p.weight,
				p.group);
}

/* Return the task's next segment; NULL if there is none. */
static struct segment *next_segment(const struct sim *s, const struct segment *g)
{
	for (struct segment *n = s->segments + (g - s->segments) + 1;
	     n < s->segments + s->nr_segments; n++)
		if (n->task == g->task)
			return n;
	return NULL;
}

/*
 * If the first event that shows a task's state throttles it, the cause of the wait after that is
 * unknown.
 */
static void doubt_first(struct sim *s, unsigned int kinds)
{
	for (struct segment *g = s->segments + 1; g < s->segments + s->nr_segments; g++) {
		struct segment *next = g;

		if (strcmp(g->what, "throttled") || g->from_ns != first_ns(s, g->task, kinds))
			continue;
		while ((next = next_segment(s, next)) && strcmp(next->what, "run"))
			next->unseen = strcmp(next->what, "throttled");
	}
}

/* Switches alone show a task that waits after its sleep as still asleep. */
static void join_sleep(const struct sim *s, bool *gone)
{
	for (unsigned int i = 1; i < s->nr_segments; i++) {
		struct segment *g = &s->segments[i], *next = next_segment(s, g);

		if (!next || strcmp(next->what, "waking") || !strcmp(g->what, "throttled"))
			continue;
		g->to_ns = next->to_ns;
		gone[next - s->segments] = true;
	}
}

static int write_truth(struct sim *s, const char *folder, const char *name, unsigned int kinds)
{
	bool *gone = calloc(s->nr_segments, sizeof(*gone));
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.jsonl", folder, name);
	f = fopen(path, "w");
	if (!f || !gone)
		return -1;
	if (kinds == NO_WAKEUPS) {
		doubt_first(s, kinds);
		join_sleep(s, gone);
	}
	fprintf(f, "{\"what\":\"window\",\"from_ns\":%" PRIu64 ",\"to_ns\":%" PRIu64 "}\n",
		start_ns(s, kinds), s->now);
	for (int cpu = 0; cpu < (int)s->nr_cpus; cpu++)
		print_cpu(f, s, cpu, start_ns(s, kinds));
	for (int task = 0; task < (int)s->nr_tasks; task++)
		print_task(f, s, task, kinds);
	print_moves(f, s);
	print_picks(f, s);
	for (unsigned int i = 1; i < s->nr_segments; i++)
		if (!gone[i])
			print_segment(f, &s->segments[i],
				      kinds == QUEUE || kinds == (ALL & ~BIT(WAKING)));
	free(gone);
	return fclose(f);
}

static void print_cause(FILE *f, const struct event *e)
{
	static const char *const names[NR_KINDS] = {
		[IRQ_ENTRY] = "irq",	    [IRQ_EXIT] = "irq",	       [SOFTIRQ_ENTRY] = "softirq",
		[SOFTIRQ_EXIT] = "softirq", [CPU_IDLE] = "idle_state", [RESCHED] = "ask",
	};
	bool is_local = e->dsq == SCX_NONE || e->dsq == SCX_LOCAL || e->dsq == SCX_LOCAL_OF_CPU;

	if (names[e->kind])
		fprintf(f,
			"{\"what\":\"%s\",\"cpu\":%d,\"ts_ns\":%" PRIu64
			",\"begins\":%d,\"lazy\":%d}\n",
			names[e->kind], e->to, e->ts_ns,
			e->kind == IRQ_ENTRY || e->kind == SOFTIRQ_ENTRY ||
				(e->kind == CPU_IDLE && e->state != NOT_IDLE),
			e->kind == RESCHED && e->state == TIF_LAZY);
	if (e->kind >= SCX_WAKEUP && e->kind <= SCX_SWITCH)
		fprintf(f,
			"{\"what\":\"place\",\"task\":%d,\"ts_ns\":%" PRIu64 ",\"place\":\"%s\"}\n",
			e->kind == SCX_SWITCH ? e->current : e->task, e->ts_ns,
			e->held	   ? "held"
			: is_local ? "local"
				   : "shared");
}

static int write_causes(const struct sim *s, const char *folder)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/causes.jsonl", folder);
	f = fopen(path, "w");
	if (!f)
		return -1;
	for (unsigned int i = 0; i < s->nr_tasks; i++)
		fprintf(f, "{\"what\":\"class\",\"task\":%u,\"prio\":%d,\"cpus\":%u}\n", i,
			s->tasks[i].prio, s->tasks[i].listed);
	for (const struct event *e = s->events; e < s->events + s->nr_events; e++)
		print_cause(f, e);
	print_picks(f, s);
	return fclose(f);
}

/* This short-lived tool does not free its memory: disable the leak checker. */
TAP_API const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static int write_all(struct sim *s, const struct damage *d, size_t nr, const char *folder,
		     const char *meta)
{
	struct tap_err err = { 0 };

	for (size_t i = 0; i < nr; i++) {
		if (write_damaged(s, &d[i], folder, meta, &err)) {
			fprintf(stderr, "generate: %s\n", err.text);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct sim s, causes;
	struct tap_buf meta = { 0 };
	uint64_t seed;

	if (argc != 4) {
		fprintf(stderr, "usage: generate SEED EVENTS FOLDER\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	simulate(&s, seed, (unsigned int)strtoul(argv[2], NULL, 0));
	causes = with_causes(&s, seed, &meta);
	/* the last call changes the segments */
	if (write_truth(&s, argv[3], "truth", ALL) || write_causes(&causes, argv[3]) ||
	    write_truth(&s, argv[3], "wakeup", ALL & ~BIT(WAKING)) ||
	    write_truth(&s, argv[3], "queue", QUEUE) ||
	    write_truth(&s, argv[3], "switch", NO_WAKEUPS)) {
		perror(argv[3]);
		return 1;
	}
	return write_all(&s, damages, sizeof(damages) / sizeof(*damages), argv[3], "") ||
	       write_all(&causes, cause_damages, sizeof(cause_damages) / sizeof(*cause_damages),
			 argv[3], tap_buf_str(&meta));
}
