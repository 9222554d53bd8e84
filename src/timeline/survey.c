// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/survey.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "timeline/lists.h"

/*
 * Merging scans all losses or breaks. If more than this remain, the survey gives up instead of
 * merging again and again.
 */
#define MERGED_HOLES (TAP_MAX_HOLES - TAP_MAX_HOLES / 8)
/* A task counts as hidden if it was switched in at least so often and never seen at work. */
#define HIDDEN_INS 8

/* One CPU's chain of switches. */
struct tap_survey_cpu {
	unsigned int buffer; /* the buffer of its events; TAP_NO_BUFFER: no event yet */
	bool known; /* .tid was switched in at .since_ns */
	bool outside; /* a task that is not recorded was switched in; .tid is -1 */
	int tid;
	struct tap_survey_tid *ran; /* what is known of .tid */
	uint64_t since_ns;
	/*
	 * since this time no event of the CPU is lost; 0: since recording began; UINT64_MAX: not
	 * known
	 */
	uint64_t whole_ns;
	unsigned int whole_buffer; /* the buffer that .whole_ns is about */
	uint64_t hotplug_ns; /* when another CPU last moved it a step down or up in CPU hotplug */
	struct tap_survey_tid idle; /* the CPU's idle task */
	/* used by cut_origins(): index plus one of the CPU's last origin so far; 0: none */
	unsigned int origin;
	/* used by cut_origins(): of the CPU's losses so far the one that ends last, or NULL */
	const struct tap_loss *loss;
};

int tap_survey_init(struct tap_survey *s, struct tap_window window)
{
	*s = (struct tap_survey){ .window = window,
				  .on_from_ns = UINT64_MAX,
				  .first_switch_ns = UINT64_MAX };
	for (unsigned int i = 0; i < TAP_NR_SCHED_KINDS; i++)
		s->buffer[i] = TAP_NO_BUFFER;
	return tap_sched_formats_init(&s->formats);
}

static void release_inside(struct tap_survey *s)
{
	tap_sched_formats_release(&s->formats);
	free(s->cpus);
	s->cpus = NULL;
}

void tap_survey_release(struct tap_survey *s)
{
	release_inside(s);
	for (unsigned int i = 0; i < TAP_MAX_TIDS / TAP_SURVEY_TIDS; i++)
		free(s->tids[i]);
	free(s->kinds);
	free(s->losses);
	free(s->breaks);
	free(s->origins);
	free(s->holes);
	*s = (struct tap_survey){ 0 };
}

/* Return: NULL when out of memory. */
static struct tap_survey_cpu *get_cpu(struct tap_survey *s, unsigned int cpu)
{
	static const struct tap_survey_cpu fresh = { .buffer = TAP_NO_BUFFER,
						     .whole_buffer = TAP_NO_BUFFER };
	unsigned int cap = s->cap_cpus;

	if (!tap_array_at(&s->cpus, &s->cap_cpus, cpu, sizeof(fresh), &fresh))
		return NULL;
	for (unsigned int i = 0; s->cap_cpus != cap && i < s->nr_cpus; i++)
		if (!s->cpus[i].tid)
			s->cpus[i].ran = &s->cpus[i].idle;
	if (cpu >= s->nr_cpus)
		s->nr_cpus = cpu + 1;
	return &s->cpus[cpu];
}

/* Find a task, or @c's idle task for tid 0. Return: NULL: nothing is known of it. */
static inline struct tap_survey_tid *find_tid(const struct tap_survey *s, struct tap_survey_cpu *c,
					      int tid)
{
	return tid ? tap_survey_tid(s, tid) : &c->idle;
}

/*
 * Return true if, from the events so far, the task is hidden from tracing: it was switched in at
 * least @ins times and was never seen at work. @t: NULL: not seen.
 */
static bool looks_hidden(const struct tap_survey_tid *t, uint8_t ins)
{
	return t && t->ins >= ins && !t->at_work;
}

static bool is_hidden(const struct tap_survey *s, int tid, uint8_t ins)
{
	return tid && looks_hidden(tap_survey_tid(s, tid), ins);
}

/* Return true if a task that @cpu ran is hidden; each CPU has its own idle task (tid 0). */
static bool is_hidden_on(const struct tap_survey *s, int cpu, int tid, uint8_t ins)
{
	return looks_hidden(find_tid(s, &s->cpus[cpu], tid), ins);
}

/* Return: NULL when out of memory. */
static struct tap_survey_tid *get_tid(struct tap_survey *s, struct tap_survey_cpu *c, int tid)
{
	struct tap_survey_tid *t = find_tid(s, c, tid);

	if (t)
		return t;
	if ((unsigned int)tid >= TAP_MAX_TIDS)
		return &s->invalid_tid;
	s->tids[(unsigned int)tid / TAP_SURVEY_TIDS] = calloc(TAP_SURVEY_TIDS, sizeof(**s->tids));
	return tap_survey_tid(s, tid);
}

/* Merge adjacent breaks of one CPU in pairs. Return: the number that remains. */
static unsigned int merge_breaks(struct tap_break *b, unsigned int nr)
{
	unsigned int to = 0;

	for (unsigned int i = 0; i < nr; i++) {
		b[to] = b[i];
		if (i + 1 < nr && b[i + 1].cpu == b[i].cpu && b[i + 1].from_ns >= b[i].from_ns) {
			b[to].to_ns = b[++i].to_ns;
			b[to].what = TAP_BREAK_MISSED;
		}
		to++;
	}
	return to;
}

static void thin_breaks(struct tap_survey *s)
{
	unsigned int to = 0;

	for (unsigned int i = 0; i < s->nr_breaks; i++)
		if (!is_hidden_on(s, s->breaks[i].cpu, s->breaks[i].tid, HIDDEN_INS))
			s->breaks[to++] = s->breaks[i];
	s->blurred |= to < s->nr_breaks;
	s->nr_breaks = to > TAP_MAX_HOLES / 2 ? merge_breaks(s->breaks, to) : to;
}

static unsigned int merge_losses(struct tap_loss *l, unsigned int nr)
{
	unsigned int to = 0;

	for (unsigned int i = 0; i < nr; i++) {
		l[to] = l[i];
		if (i + 1 < nr && l[i + 1].cpu == l[i].cpu && l[i + 1].buffer == l[i].buffer &&
		    l[i + 1].is_off == l[i].is_off &&
		    l[i + 1].spares_switches == l[i].spares_switches &&
		    l[i + 1].from_ns >= l[i].from_ns) {
			i++;
			l[to].to_ns = l[i].to_ns;
			l[to].count = l[to].count && l[i].count ? l[to].count + l[i].count : 0;
		}
		to++;
	}
	return to;
}

static int add_break(struct tap_survey *s, int cpu, enum tap_break_what what, uint64_t to_ns)
{
	const struct tap_survey_cpu *c = &s->cpus[cpu];

	if (s->nr_breaks == TAP_MAX_HOLES && !s->wrong) {
		thin_breaks(s);
		s->wrong = s->nr_breaks > MERGED_HOLES;
	}
	/*
	 * merging can fail to shrink the array: at worst each break is on another CPU than the next
	 */
	if (s->nr_breaks == TAP_MAX_HOLES)
		s->wrong = true;
	else if (tap_array_grow(&s->breaks, s->nr_breaks, &s->cap_breaks, sizeof(*s->breaks)))
		return -ENOMEM;
	else
		s->breaks[s->nr_breaks++] =
			(struct tap_break){ c->since_ns, to_ns, cpu, c->tid, what };
	return 0;
}

/*
 * Return the time, ns, since when all of a CPU's switches are recorded, if no switch was seen yet;
 * UINT64_MAX: no such time.
 */
static uint64_t whole_from(const struct tap_survey_cpu *c)
{
	return c->known || c->outside || c->whole_buffer != c->buffer ? UINT64_MAX : c->whole_ns;
}

static int add_origin(struct tap_survey *s, const struct tap_origin *o)
{
	if (s->nr_origins == TAP_MAX_HOLES)
		return 0;
	if (tap_array_grow(&s->origins, s->nr_origins, &s->cap_origins, sizeof(*s->origins)))
		return -ENOMEM;
	s->origins[s->nr_origins++] = *o;
	return 0;
}

static bool begins_with(const struct tap_field *comm, const struct tap_event *ev, const char *name)
{
	uint32_t len = 0;
	const char *at = comm ? tap_field_bytes(comm, ev->data, ev->size, &len) : NULL;

	return len >= strlen(name) && !memcmp(at, name, strlen(name));
}

/*
 * Return true if a CPU that was offline may have come back online with this switch. The first
 * threads woken on such a CPU are its migration thread and its hotplug thread
 * (bringup_wait_for_ap_online()).
 */
static bool may_be_back(const struct tap_sched_fields *f, const struct tap_event *ev)
{
	return tap_num_int(&f->from, ev) == 0 &&
	       (begins_with(f->comm, ev, "cpuhp/") || begins_with(f->comm, ev, "migration/"));
}

/* Return why the CPU's chain broke at this switch. */
static enum tap_break_what what_broke(const struct tap_survey *s, const struct tap_survey_cpu *c,
				      const struct tap_sched_fields *f, const struct tap_event *ev)
{
	const struct tap_survey_tid *t = tap_survey_tid(s, c->tid);

	return t && t->stopper && may_be_back(f, ev) ? TAP_BREAK_OFFLINE : TAP_BREAK_MISSED;
}

/*
 * Add an origin at a CPU's first switch: @out ran since all switches of the CPU are recorded. Not
 * if the CPU may just have come online: it ran nothing before.
 */
static int begin_chain(struct tap_survey *s, const struct tap_survey_cpu *c,
		       const struct tap_sched_fields *f, const struct tap_event *ev, int out)
{
	uint64_t from = whole_from(c);

	if (from >= ev->ts_ns || may_be_back(f, ev) ||
	    !tap_promise_kept(s->promise, out, from, ev->ts_ns))
		return 0;
	return add_origin(s, &(struct tap_origin){ from, ev->ts_ns, ev->cpu, out, c->buffer });
}

/* Return true if the task that is switched in is a CPU's stopper (migration/N). */
static bool is_stopper(const struct tap_survey *s, const struct tap_sched_fields *f,
		       const struct tap_event *ev, int tid)
{
	struct tap_listed l = { 0 };

	if (f->comm)
		return begins_with(f->comm, ev, "migration/");
	tap_lists_find(s->lists, tid, TAP_LISTED_BEGAN | TAP_LISTED_SOMETIME | TAP_LISTED_ENDED,
		       &l);
	return tap_comm_is_stopper(l.comm);
}

static int on_switch(struct tap_survey *s, struct tap_survey_cpu *c,
		     const struct tap_sched_fields *f, const struct tap_event *ev)
{
	int out = tap_num_int(&f->from, ev), in = tap_num_int(&f->tid, ev);
	bool keeps_out = tap_promise_keeps(s->promise, out, f->from_comm, ev);
	bool keeps_in = tap_promise_keeps(s->promise, in, f->comm, ev);
	bool fits = (c->known ? c->tid == out : !c->outside || !keeps_out) ||
		    tap_promise_moved(s->promise, c->known ? c->tid : out, c->since_ns, ev->ts_ns);
	struct tap_survey_tid *left = fits && c->known ? c->ran : get_tid(s, c, out),
			      *came = get_tid(s, c, in);
	int ret = 0;

	if (!left || !came)
		return -ENOMEM;
	if (!c->known && ev->buffer == s->buffer[TAP_SCHED_SWITCH] &&
	    ev->ts_ns < s->first_switch_ns)
		s->first_switch_ns = ev->ts_ns;
	if (keeps_out && begin_chain(s, c, f, ev, out))
		return -ENOMEM;
	/* breaks after this task were dropped because it seemed to be hidden */
	if (s->blurred && is_hidden(s, out, HIDDEN_INS))
		s->wrong = true;
	left->at_work = true;
	if (!came->ins)
		came->stopper = is_stopper(s, f, ev, in);
	came->ins += keeps_in && came->ins < UINT8_MAX;
	if (!fits)
		ret = add_break(s, ev->cpu, what_broke(s, c, f, ev), ev->ts_ns);
	c->known = keeps_in;
	c->outside = !keeps_in;
	c->tid = keeps_in ? in : -1;
	c->ran = came;
	c->since_ns = ev->ts_ns;
	return ret;
}

/* Follow sched_process_exec: a thread that is not the leader took over the leader's tid. */
static int on_exec(struct tap_survey *s, struct tap_survey_cpu *c, const struct tap_sched_fields *f,
		   const struct tap_event *ev)
{
	if (!c->known && tap_num_int(&f->from, ev) != tap_num_int(&f->tid, ev))
		c->whole_ns = ev->ts_ns;
	if (!c->known || c->tid != tap_num_int(&f->from, ev))
		return 0;
	c->tid = tap_num_int(&f->tid, ev);
	c->ran = get_tid(s, c, c->tid);
	return c->ran ? 0 : -ENOMEM;
}

/*
 * Note that another CPU took @cpu a step down or up. A CPU's events about itself are ignored: it
 * still works, or works already.
 */
static int on_hotplug(struct tap_survey *s, const struct tap_sched_fields *f,
		      const struct tap_event *ev)
{
	int cpu = tap_num_int(&f->value, ev);
	struct tap_survey_cpu *c;

	if (cpu == ev->cpu || cpu < 0 || cpu >= (int)TAP_MAX_CPUS)
		return 0;
	c = get_cpu(s, (unsigned int)cpu);
	if (!c)
		return -ENOMEM;
	if (ev->ts_ns > c->hotplug_ns)
		c->hotplug_ns = ev->ts_ns;
	return 0;
}

/*
 * End a CPU's chain, since its events are missing from @now on. A hidden task or a migration thread
 * may have left the CPU before, as that is not recorded. tap_survey_end() decides which tasks are
 * hidden.
 */
static int cut_chain(struct tap_survey *s, int cpu, uint64_t now)
{
	struct tap_survey_cpu *c = &s->cpus[cpu];
	const struct tap_survey_tid *t = tap_survey_tid(s, c->tid);

	c->outside = false;
	if (!c->known)
		return 0;
	c->known = false;
	if (c->tid ? t && !t->stopper && t->at_work : c->idle.at_work)
		return 0;
	return add_break(s, cpu, TAP_BREAK_CUT, now);
}

/*
 * Return true if the events that were switched off do not change states: names, priorities, cgroups
 * and the like may be missing. @off: NULL: sched_switch.
 */
static bool leaves_states(const struct tap_format *off)
{
	enum tap_sched_kind kind = off ? tap_sched_kind(off) : TAP_SCHED_SWITCH;

	return kind == TAP_SCHED_NONE || kind == TAP_SCHED_RENAME || kind == TAP_SCHED_IOWAIT ||
	       kind == TAP_SCHED_SETPRIO || kind == TAP_SCHED_CGROUP_ATTACH ||
	       kind == TAP_SCHED_CGROUP_NAMED;
}

static void count_loss(struct tap_survey *s, const struct tap_event *ev)
{
	if (ev->lost.is_off) {
		s->nr_off++;
		return;
	}
	s->nr_losses++;
	s->lost_unknown |= !ev->lost.count;
	if (__builtin_add_overflow(s->lost, ev->lost.count, &s->lost))
		s->lost = UINT64_MAX;
}

bool tap_loss_has_switches(const struct tap_event *ev)
{
	return !ev->lost.is_off || !ev->lost.off ||
	       tap_sched_kind(ev->lost.off) == TAP_SCHED_SWITCH;
}

/*
 * Return the loss's end. A loss at a CPU's end has no later event: it lasts until the recording's
 * end (UINT64_MAX).
 */
static uint64_t loss_end(const struct tap_event *ev)
{
	if (ev->lost.last_ns == UINT64_MAX || (ev->lost.is_off && ev->lost.last_ns < ev->ts_ns))
		return ev->lost.last_ns;
	return ev->ts_ns;
}

static int on_loss(struct tap_survey *s, const struct tap_event *ev)
{
	/*
	 * an interval without events is reported when they are on again; a damaged file may have a
	 * start after the end
	 */
	uint64_t to = loss_end(ev);
	uint64_t from = ev->lost.first_ns < to ? ev->lost.first_ns : to;
	bool has_switches = tap_loss_has_switches(ev);
	struct tap_survey_cpu *c = NULL;

	if (ev->lost.is_off && leaves_states(ev->lost.off)) {
		if (tap_window_overlaps(&s->window, from, to))
			count_loss(s, ev);
		return 0;
	}
	if (ev->cpu >= 0) {
		c = get_cpu(s, (unsigned int)ev->cpu);
		if (!c || (has_switches && cut_chain(s, ev->cpu, from)))
			return -ENOMEM;
	}
	if (c && has_switches) {
		c->whole_ns = ev->lost.is_off || to == UINT64_MAX ? UINT64_MAX : to;
		c->whole_buffer = ev->buffer;
	}
	/* no earlier event limits the loss's start: the oldest events were overwritten */
	if (c && !ev->lost.is_off && from == to && c->buffer != ev->buffer)
		from = 0;
	if (s->nr_kept_losses == TAP_MAX_HOLES && !s->wrong) {
		s->nr_kept_losses = merge_losses(s->losses, s->nr_kept_losses);
		s->wrong = s->nr_kept_losses > MERGED_HOLES;
	}
	if (s->nr_kept_losses == TAP_MAX_HOLES)
		s->wrong = true;
	else if (tap_array_grow(&s->losses, s->nr_kept_losses, &s->cap_losses, sizeof(*s->losses)))
		return -ENOMEM;
	else
		s->losses[s->nr_kept_losses++] = (struct tap_loss){
			.cpu = ev->cpu,
			.buffer = ev->buffer,
			.from_ns = from,
			.to_ns = to,
			.count = ev->lost.count,
			.is_off = ev->lost.is_off,
			.spares_switches = !has_switches,
		};
	if (tap_window_overlaps(&s->window, from, to))
		count_loss(s, ev);
	return 0;
}

bool tap_survey_wants(const struct tap_format *fmt, bool one_buffer)
{
	enum tap_sched_kind kind = tap_sched_kind(fmt);

	return kind == TAP_SCHED_SWITCH || kind == TAP_SCHED_EXEC || kind == TAP_SCHED_HOTPLUG ||
	       (!one_buffer && kind != TAP_SCHED_NONE);
}

/* Handle an event of a new CPU or format. Return: 1 if the event counts; 0; -ENOMEM. */
static __attribute__((noinline, cold)) int check_new(struct tap_survey *s,
						     const struct tap_event *ev)
{
	const struct tap_sched_fields *f;

	if (ev->cpu < 0 || ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	f = tap_sched_formats_add(&s->formats, ev->fmt);
	if (!get_cpu(s, (unsigned int)ev->cpu) || !f)
		return -ENOMEM;
	s->tells_queued |= f->queued.size != 0;
	return 1;
}

static void begin_buffer(struct tap_survey_cpu *c, unsigned int buffer)
{
	*c = (struct tap_survey_cpu){
		.buffer = buffer,
		.hotplug_ns = c->hotplug_ns,
		.whole_buffer = buffer,
		/* a loss may come before the CPU's first event */
		.whole_ns = c->whole_buffer == buffer ? c->whole_ns : 0,
	};
}

static __attribute__((noinline)) int take_event(struct tap_survey *s, const struct tap_event *ev)
{
	const struct tap_sched_fields *f;
	struct tap_survey_cpu *c;

	if (!ev->fmt)
		return ev->cpu < (int)TAP_MAX_CPUS ? on_loss(s, ev) : 0;
	f = s->formats.by_id[ev->fmt->id];
	if (!f || (unsigned int)ev->cpu >= s->nr_cpus) {
		int ret = check_new(s, ev);

		if (ret <= 0)
			return ret;
		f = s->formats.by_id[ev->fmt->id];
	}
	c = &s->cpus[ev->cpu];
	if (c->buffer != ev->buffer)
		begin_buffer(c, ev->buffer);
	if (ev->buffer < s->buffer[f->kind]) {
		s->buffer[f->kind] = ev->buffer;
		if (f->kind == TAP_SCHED_SWITCH)
			s->first_switch_ns = UINT64_MAX;
	}
	if (f->kind == TAP_SCHED_HOTPLUG)
		return on_hotplug(s, f, ev);
	if (f->kind == TAP_SCHED_EXEC)
		return on_exec(s, c, f, ev);
	if (f->kind != TAP_SCHED_SWITCH)
		return 0;
	if (f->plain)
		s->switches = f;
	return on_switch(s, c, f, ev);
}

/*
 * Process the usual switch: it fits its CPU's chain, and switches in a task that was switched in
 * before. Return true if this is such a switch; then it was counted as on_switch() does.
 */
static inline bool usual_switch(struct tap_survey *s, const struct tap_event *ev)
{
	const struct tap_sched_fields *f = s->switches;
	struct tap_survey_tid *came;
	struct tap_survey_cpu *c;
	int out, in;

	if (!f || ev->fmt != f->fmt || (unsigned int)ev->cpu >= s->nr_cpus || s->blurred ||
	    s->promise)
		return false;
	c = &s->cpus[ev->cpu];
	out = tap_num_s32(&f->from, ev);
	in = tap_num_s32(&f->tid, ev);
	came = find_tid(s, c, in);
	if (c->buffer != ev->buffer || !c->known || c->tid != out || !came || !came->ins)
		return false;
	c->ran->at_work = true;
	came->ins += came->ins < UINT8_MAX;
	c->tid = in;
	c->ran = came;
	c->since_ns = ev->ts_ns;
	return true;
}

int tap_survey_events(struct tap_survey *s, const struct tap_event *const *events, unsigned int nr)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr; i++)
		if (!usual_switch(s, events[i]))
			ret = take_event(s, events[i]);
	return ret;
}

int tap_survey_beyond(struct tap_survey *s, const struct tap_event *ev)
{
	struct tap_survey_cpu *c;
	const struct tap_sched_fields *f;
	int ret;

	if (!ev->fmt && ev->lost.first_ns <= s->window.to_ns)
		return on_loss(s, ev) ? -ENOMEM : 1;
	if ((unsigned int)ev->cpu >= TAP_MAX_CPUS ||
	    (!ev->fmt && (unsigned int)ev->cpu >= s->nr_cpus))
		return 1;
	c = get_cpu(s, (unsigned int)ev->cpu);
	if (!c)
		return -ENOMEM;
	if (c->buffer == TAP_NO_BUFFER && ev->fmt)
		begin_buffer(c, ev->buffer);
	if (c->buffer != ev->buffer ||
	    (!(c->known || c->outside) && whole_from(c) > s->window.to_ns))
		return 1;
	f = ev->fmt ? tap_sched_formats_add(&s->formats, ev->fmt) : NULL;
	if (ev->fmt && !f)
		return -ENOMEM;
	if (f && f->kind == TAP_SCHED_EXEC)
		return on_exec(s, c, f, ev);
	if (f && f->kind != TAP_SCHED_SWITCH)
		return 0;
	ret = f ? on_switch(s, c, f, ev) : cut_chain(s, ev->cpu, ev->lost.first_ns);
	c->known = c->outside = false; /* later events of the CPU do not matter to the window */
	c->whole_ns = UINT64_MAX;
	return ret ? ret : 1;
}

void tap_survey_note(struct tap_survey *s, const struct tap_format *fmt)
{
	unsigned int *buffer = &s->buffer[tap_sched_kind(fmt)];

	if (*buffer == TAP_NO_BUFFER)
		*buffer = 0; /* the recording has only this buffer */
}

int tap_survey_count(struct tap_survey *s, const struct tap_format *fmt, uint64_t count)
{
	if (!count)
		return 0;
	if (tap_array_grow(&s->kinds, s->nr_kinds, &s->cap_kinds, sizeof(*s->kinds)))
		return -ENOMEM;
	s->kinds[s->nr_kinds++] = (struct tap_survey_kind){ fmt, count };
	s->events += count;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct tap_survey_kind *x = a, *y = b;
	int order;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	order = strcmp(x->fmt->system, y->fmt->system);
	return order ? order : strcmp(x->fmt->name, y->fmt->name);
}

/* Compare losses, breaks, origins or holes: their first member is .from_ns. */
static int by_from_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	static_assert(!offsetof(struct tap_loss, from_ns) && !offsetof(struct tap_break, from_ns) &&
			      !offsetof(struct tap_hole, from_ns),
		      "the first member");
	return (*x > *y) - (*x < *y);
}

bool tap_survey_counts_loss(const struct tap_survey *s, const struct tap_loss *l)
{
	for (unsigned int i = 0; i < TAP_NR_SCHED_KINDS; i++)
		if (l->is_off || s->buffer[i] == l->buffer)
			return true;
	return s->buffer[TAP_SCHED_SWITCH] == TAP_NO_BUFFER;
}

/*
 * Return how often a task must have been switched in to count as hidden if it was never seen at
 * work. If one task is proven to be hidden, any number suffices.
 */
static uint8_t hidden_from(const struct tap_survey *s)
{
	for (unsigned int i = 0; i < s->nr_breaks; i++)
		if (s->breaks[i].what == TAP_BREAK_MISSED &&
		    is_hidden_on(s, s->breaks[i].cpu, s->breaks[i].tid, HIDDEN_INS))
			return 0;
	return HIDDEN_INS;
}

static void add_hole(struct tap_survey *s, uint64_t from_ns, uint64_t to_ns)
{
	if (to_ns > from_ns)
		s->holes[s->nr_holes++] = (struct tap_hole){ from_ns, to_ns };
}

static void join_holes(struct tap_survey *s)
{
	unsigned int to = 0;

	qsort(s->holes, s->nr_holes, sizeof(*s->holes), by_from_ns);
	for (unsigned int i = 1; i < s->nr_holes; i++) {
		if (s->holes[i].from_ns > s->holes[to].to_ns)
			s->holes[++to] = s->holes[i];
		else if (s->holes[i].to_ns > s->holes[to].to_ns)
			s->holes[to].to_ns = s->holes[i].to_ns;
	}
	s->nr_holes = s->nr_holes ? to + 1 : 0;
}

/*
 * Add breaks for CPUs whose last task may have left unseen: a hidden task, or a migration thread.
 * If another CPU took this CPU a step down after that, the CPU is offline.
 */
static int add_open_breaks(struct tap_survey *s, uint8_t hidden)
{
	int ret = 0;

	for (int i = 0; !ret && i < (int)s->nr_cpus; i++) {
		const struct tap_survey_cpu *c = &s->cpus[i];
		const struct tap_survey_tid *t = tap_survey_tid(s, c->tid);

		if (!c->known)
			continue;
		if (t && t->stopper)
			ret = add_break(s, i,
					c->hotplug_ns > c->since_ns ? TAP_BREAK_OFFLINE
								    : TAP_BREAK_STOPPER,
					UINT64_MAX);
		else if (is_hidden_on(s, i, c->tid, hidden))
			ret = add_break(s, i, TAP_BREAK_MISSED, UINT64_MAX);
	}
	return ret;
}

static void settle_cut_breaks(struct tap_survey *s, uint8_t hidden)
{
	unsigned int to = 0;

	for (unsigned int i = 0; i < s->nr_breaks; i++) {
		struct tap_break b = s->breaks[i];
		const struct tap_survey_tid *t = tap_survey_tid(s, b.tid);

		if (b.what == TAP_BREAK_CUT && t && t->stopper)
			b.what = TAP_BREAK_STOPPER;
		else if (b.what == TAP_BREAK_CUT && is_hidden_on(s, b.cpu, b.tid, hidden))
			b.what = TAP_BREAK_MISSED;
		if (b.what != TAP_BREAK_CUT)
			s->breaks[to++] = b;
	}
	s->nr_breaks = to;
}

static int find_holes(struct tap_survey *s)
{
	uint8_t hidden = hidden_from(s);

	settle_cut_breaks(s, hidden);
	if (add_open_breaks(s, hidden))
		return -ENOMEM;
	s->holes = calloc((size_t)s->nr_kept_losses + s->nr_breaks + 1, sizeof(*s->holes));
	if (!s->holes)
		return -ENOMEM;
	for (unsigned int i = 0; i < s->nr_kept_losses; i++)
		/* the hole includes both ends of the loss */
		if (tap_survey_counts_loss(s, &s->losses[i]))
			add_hole(s, s->losses[i].from_ns,
				 s->losses[i].to_ns + (s->losses[i].to_ns < UINT64_MAX));
	s->has_breaks = s->blurred;
	for (unsigned int i = 0; i < s->nr_breaks; i++) {
		int tid = s->breaks[i].tid;

		if (s->breaks[i].what != TAP_BREAK_MISSED)
			continue;
		s->has_breaks = true;
		if (is_hidden(s, tid, 0))
			tap_survey_tid(s, tid)->hidden = true;
		if (!is_hidden_on(s, s->breaks[i].cpu, tid, hidden))
			add_hole(s, s->breaks[i].from_ns, s->breaks[i].to_ns);
	}
	if (s->wrong)
		add_hole(s, 0, UINT64_MAX);
	join_holes(s);
	return 0;
}

/*
 * Keep origins that are not empty and are from the buffer whose switches count. Sort them by time.
 */
static void keep_origins(struct tap_survey *s)
{
	unsigned int to = 0;

	for (unsigned int i = 0; i < s->nr_origins; i++)
		if (s->origins[i].from_ns < s->origins[i].to_ns &&
		    s->origins[i].buffer == s->buffer[TAP_SCHED_SWITCH])
			s->origins[to++] = s->origins[i];
	s->nr_origins = to;
	if (to)
		qsort(s->origins, to, sizeof(*s->origins), by_from_ns);
}

/* Let no origin begin before recording began. */
static void date_origins(struct tap_survey *s)
{
	uint64_t on_ns = s->on_from_ns ? s->on_from_ns : s->first_switch_ns;

	for (unsigned int i = 0; i < s->nr_origins; i++)
		if (s->origins[i].from_ns < on_ns)
			s->origins[i].from_ns = on_ns;
	keep_origins(s);
}

/* Return true if switches may be missing in the loss: of the CPU that it names, or of any CPU. */
static bool touches_origin(const struct tap_survey *s, const struct tap_loss *l)
{
	return !l->spares_switches && (l->is_off || l->buffer == s->buffer[TAP_SCHED_SWITCH]);
}

/* If a loss overlaps the origin, the task that ran before the loss's end is unknown. */
static void cut_origin(struct tap_origin *o, const struct tap_loss *l)
{
	if (l->from_ns < o->to_ns && l->to_ns > o->from_ns)
		o->from_ns = l->is_off ? UINT64_MAX : l->to_ns;
}

/* Losses on unknown CPUs are joined to one, from the recording's start on. */
static void join_loss(struct tap_loss *all, const struct tap_loss *l)
{
	all->to_ns = l->to_ns > all->to_ns ? l->to_ns : all->to_ns;
	all->is_off |= l->is_off;
}

/*
 * Apply a loss to its CPU's last origin, which began before it, and keep it for origins that begin
 * before the loss ends.
 */
static void pass_loss(struct tap_survey *s, const struct tap_loss *l)
{
	struct tap_survey_cpu *c = (unsigned int)l->cpu < s->nr_cpus ? &s->cpus[l->cpu] : NULL;

	if (!c || !touches_origin(s, l))
		return;
	if (c->origin)
		cut_origin(&s->origins[c->origin - 1], l);
	if (!c->loss || l->to_ns > c->loss->to_ns)
		c->loss = l;
}

/*
 * Shorten origins that losses overlap. Origins and losses are sorted by time, and one CPU's origins
 * do not overlap.
 */
static void cut_origins(struct tap_survey *s)
{
	struct tap_loss anywhere = { 0 };
	unsigned int next = 0;

	for (unsigned int i = 0; i < s->nr_kept_losses; i++)
		if (s->losses[i].cpu < 0 && touches_origin(s, &s->losses[i]))
			join_loss(&anywhere, &s->losses[i]);
	for (unsigned int i = 0; i < s->nr_origins; i++) {
		struct tap_origin *o = &s->origins[i];
		struct tap_survey_cpu *c = &s->cpus[o->cpu];

		while (next < s->nr_kept_losses && s->losses[next].from_ns <= o->from_ns)
			pass_loss(s, &s->losses[next++]);
		c->origin = i + 1;
		cut_origin(o, &anywhere);
		if (c->loss)
			cut_origin(o, c->loss);
	}
	while (next < s->nr_kept_losses)
		pass_loss(s, &s->losses[next++]);
}

uint64_t tap_survey_unswitched_ns(const struct tap_survey *s, unsigned int cpu)
{
	struct tap_survey_cpu c = { .buffer = TAP_NO_BUFFER, .whole_buffer = TAP_NO_BUFFER };

	if (!tap_survey_has_switches(s) || !tap_promise_has_cpu(s->promise, cpu))
		return UINT64_MAX;
	if (cpu < s->nr_cpus)
		c = s->cpus[cpu];
	if (c.buffer == TAP_NO_BUFFER)
		begin_buffer(&c, s->buffer[TAP_SCHED_SWITCH]);
	return c.buffer == s->buffer[TAP_SCHED_SWITCH] ? whole_from(&c) : UINT64_MAX;
}

/* Add an origin for a CPU without a switch, at which the look saw a task running. */
static int add_look(struct tap_survey *s, const struct tap_look *look)
{
	uint64_t from_ns = tap_survey_unswitched_ns(s, (unsigned int)look->cpu);

	if (from_ns >= look->ts_ns ||
	    !tap_promise_kept(s->promise, look->tid, from_ns, s->window.to_ns))
		return 0;
	if (!get_cpu(s, (unsigned int)look->cpu))
		return -ENOMEM;
	return add_origin(s, &(struct tap_origin){ from_ns, look->ts_ns, look->cpu, look->tid,
						   s->buffer[TAP_SCHED_SWITCH] });
}

static int add_looks(struct tap_survey *s)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < s->nr_looks; i++)
		ret = add_look(s, &s->looks[i]);
	return ret;
}

/*
 * Decide which origins hold. If switches are missing without a recorded loss, a task hidden from
 * tracing may have run before the task of a CPU's first switch.
 */
static void settle_origins(struct tap_survey *s)
{
	if (s->has_breaks || s->wrong)
		s->nr_origins = 0;
	date_origins(s);
	cut_origins(s);
	keep_origins(s);
}

int tap_survey_end(struct tap_survey *s)
{
	if (find_holes(s) || add_looks(s))
		return -ENOMEM;
	if (s->nr_kinds)
		qsort(s->kinds, s->nr_kinds, sizeof(*s->kinds), by_count);
	if (s->nr_kept_losses)
		qsort(s->losses, s->nr_kept_losses, sizeof(*s->losses), by_from_ns);
	if (s->nr_breaks)
		qsort(s->breaks, s->nr_breaks, sizeof(*s->breaks), by_from_ns);
	settle_origins(s);
	release_inside(s);
	return 0;
}

bool tap_survey_has_event(const struct tap_survey *s, const char *name)
{
	for (unsigned int i = 0; i < s->nr_kinds; i++)
		if (!strcmp(s->kinds[i].fmt->name, name))
			return true;
	return false;
}

const struct tap_origin *tap_survey_origin_at(const struct tap_survey *s, int cpu, uint64_t ns)
{
	unsigned int low = 0, high = s->nr_origins;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (s->origins[middle].from_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->nr_origins && s->origins[low].from_ns == ns; low++)
		if (s->origins[low].cpu == cpu)
			return &s->origins[low];
	return NULL;
}

const struct tap_hole *tap_survey_last_hole(const struct tap_survey *s, uint64_t ns)
{
	unsigned int low = 0, high = s->nr_holes;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;

		if (s->holes[middle].from_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->holes[low - 1] : NULL;
}
