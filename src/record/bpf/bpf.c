// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The BPF backend: CO-RE programs on tracepoints, one ring per CPU, drained by polling. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/bpf/chain.h"
#include "record/bpf/filters.h"
#include "record/bpf/load.h"
#include "record/bpf/stacks.h"
#include "record/bpf/stats.h"
#include "record/bpf/switches.h"
#include "record/drain.h"
#include "record/machine.h"
#include "record/object/object.h"

/*
 * The kernel measures programs only while BPF statistics are enabled, which costs two clock reads
 * per run. So the recorder enables them for a few percent of the time, and estimates the overhead
 * from these samples. Switching them on and off patches the kernel's text (static_key_slow_inc()),
 * which blocks the drain for 10 ms on some virtual machines, so the interval between samples
 * doubles up to STATS_PERIOD_MAX_NS.
 */
#define STATS_FIRST_NS 20000000ull
#define STATS_ON_NS 20000000ull
#define STATS_PERIOD_NS 1000000000ull
#define STATS_PERIOD_MAX_NS (16 * STATS_PERIOD_NS)
/* minimum of all samples together; less is not representative of the recording */
#define STATS_LEAST_NS 5000000ull

struct run_stats {
	uint64_t time_ns, count, misses;
};

struct bpf_state {
	struct tap_plan *plan; /* borrowed from the session */
	/* .own_kernel: owned, if the session has not read it */
	struct tap_kernel *kernel, *own_kernel;
	struct tap_bpf_object o;
	struct bpf_link **links;
	unsigned int nr_links, nr_attached;
	/* a program was not attached because a privilege or a kernel feature is missing */
	bool is_refused;
	struct entry {
		int prog; /* descriptor of the attached program */
		unsigned int nr_events; /* number of events that its chain records */
	} * entries;
	unsigned int nr_entries;
	struct tap_bpf_own own;
	struct tap_bpf_filters filters;
	struct tap_bpf_switches switches;
	struct tap_bpf_stacks stacks;
	struct tap_lane *lanes; /* one per CPU */
	unsigned int nr_lanes;
	unsigned char *rings;
	size_t rings_bytes;
	struct ring_buffer *ringbuf; /* the fallback transport; or NULL */
	int missed_fd; /* a map with one struct tap_missed */
	struct tap_head_format *formats; /* .text is owned */
	unsigned int nr_formats;
	struct tap_page_writer *writer;
	struct tap_drain *res; /* of the current drain; for on_ringbuf() */
	uint64_t started_ns, stopped_ns;
	int stats_fd; /* >= 0: a sample is being taken */
	uint64_t stats_on_ns, stats_period_ns;
	struct run_stats at_on; /* counters at the start of the sample */
	struct run_stats sampled; /* sum of all samples */
	uint64_t sampled_ns;
	uint64_t runs; /* program runs that left a record or a counted loss */
	uint64_t nr_stacks; /* number of stack records */
	uint64_t misses; /* losses without a time stamp that report_misses() has already reported */
};

/* Add one submission of the BPF ring buffer, which all CPUs share. */
static int on_ringbuf(void *ctx, void *data, size_t len)
{
	struct bpf_state *s = ctx;
	const struct tap_rec *rec;

	for (size_t at = 0; at < len; at += rec->space) { /* an event and its stacks */
		rec = (const struct tap_rec *)((const char *)data + at);
		tap_lane_count(&s->lanes[rec->cpu], rec, s->res);
		tap_lane_add(&s->lanes[rec->cpu], s->writer, rec->ts_ns, rec + 1, rec->used);
	}
	return 0;
}

static int map_rings(struct bpf_state *s, struct tap_err *err)
{
	int ringbuf = bpf_object__find_map_fd_by_name(s->o.obj, "tap_ringbuf");

	s->rings_bytes = s->nr_lanes * tap_bpf_stride(&s->o);
	s->rings = tap_bpf_map_array(s->o.obj, "tap_rings", s->rings_bytes);
	if (!s->rings)
		return tap_err_set(err, -errno,
				   "cannot map the BPF map that holds the per-CPU rings: %m");
	if (s->o.ringbuf)
		s->ringbuf = ring_buffer__new(ringbuf, on_ringbuf, s, NULL);
	if (s->o.ringbuf && !s->ringbuf)
		return tap_err_set(err, -errno, "cannot map the BPF ring buffer: %m");
	return 0;
}

/* bpf_map_lookup_elem() writes a whole value, however large the map's values are. */
static int find_missed(struct bpf_state *s, struct tap_err *err)
{
	struct bpf_map *map = bpf_object__find_map_by_name(s->o.obj, ".bss.missed");

	if (!map || bpf_map__value_size(map) != sizeof(struct tap_missed))
		return tap_err_set(err, -EINVAL,
				   "the BPF programs' count of missed events is not "
				   "one struct tap_missed");
	s->missed_fd = bpf_map__fd(map);
	return 0;
}

/* Return: whether lean switches are recorded, and no events whose order to them it would change. */
static bool may_use_clock(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].backend->kind == TAP_BY_TRACEFS)
			return false;
	return tap_plan_is_lean(plan);
}

/*
 * Stamp switches by the run queues' clocks as long as those follow the CPUs' counter: otherwise
 * they may jump, and differ between CPUs. Such a stamp is a little older than the switch. That
 * changes no order in the rings, but the order to events in the buffers of tracefs.
 */
static void choose_clock(struct bpf_state *s)
{
	uint64_t has_clock = may_use_clock(s->plan) && tap_machine_trusts_counter();

	for (unsigned int i = 0; i < s->nr_lanes; i++)
		__atomic_store_n(&s->lanes[i].ring->has_clock, has_clock, __ATOMIC_RELAXED);
}

static int make_lanes(struct bpf_state *s, struct tap_err *err)
{
	unsigned int lost_id = tap_def_find("schedtap", "events_lost")->id;

	s->lanes = calloc(s->nr_lanes, sizeof(*s->lanes));
	if (!s->lanes)
		return tap_err_nomem(err);
	for (unsigned int cpu = 0; cpu < s->nr_lanes; cpu++) {
		unsigned char *ring = s->rings + cpu * tap_bpf_stride(&s->o);
		struct tap_lane *lane = &s->lanes[cpu];

		*lane = (struct tap_lane){
			.cpu = cpu,
			.ring = (struct tap_ring *)ring,
			.data = ring + TAP_RING_DATA,
			.ring_bytes = s->o.ring_bytes,
			.lost_id = (uint16_t)lost_id,
			.stack_id = s->stacks.table
					    ? (uint16_t)tap_def_find("schedtap", "kernel_stack")->id
					    : 0,
		};
		if (tap_lane_init(lane))
			return tap_err_nomem(err);
	}
	choose_clock(s);
	return 0;
}

static int learn_own(struct bpf_state *s, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; s->plan->own && i < s->plan->own->nr && !ret; i++)
		ret = tap_kernel_learn(s->kernel, tap_defs_at(s->plan->own, i));
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

/*
 * Mark events that this kernel cannot provide, so that no program is loaded for them. A uprobe is
 * always selected explicitly, so it is an error if it cannot be recorded, not only absent. Return:
 * 0; -EOPNOTSUPP with a sentence: uprobes are not possible, and there is nothing else to record.
 */
static int find_absent(struct bpf_state *s, struct tap_err *err)
{
	const struct tap_plan_event *probe = NULL;
	bool any = false;

	for (unsigned int i = 0; i < s->plan->nr_events; i++) {
		struct tap_plan_event *ev = &s->plan->events[i];
		struct tap_buf why = { 0 };

		if (tap_bpf_is_planned(ev) && !tap_kernel_hook(s->kernel, ev->def, &why)) {
			if (ev->def->nr_hooks && tap_hook_is_probe(ev->def->hooks))
				probe = ev;
			tap_plan_outcome(ev, probe == ev ? TAP_EVENT_FAILED : TAP_EVENT_ABSENT,
					 "%s", tap_buf_str(&why));
		}
		any |= tap_bpf_is_planned(ev);
		tap_buf_release(&why);
	}
	return probe && !any ? tap_err_set(err, -EOPNOTSUPP, "%s:%s: %s", probe->system,
					   probe->name, probe->reason ?: "")
			     : 0;
}

static void release_formats(struct bpf_state *s)
{
	while (s->nr_formats)
		free((char *)s->formats[--s->nr_formats].text);
	free(s->formats);
}

static void bpf_free(void *state)
{
	struct bpf_state *s = state;

	tap_bpf_filters_release(&s->filters);
	tap_bpf_switches_release(&s->switches);
	tap_bpf_stacks_release(&s->stacks);
	tap_bpf_own_release(&s->own);
	for (unsigned int i = 0; i < s->nr_links; i++)
		bpf_link__destroy(s->links[i]);
	for (unsigned int i = 0; s->lanes && i < s->nr_lanes; i++)
		tap_lane_release(&s->lanes[i]);
	ring_buffer__free(s->ringbuf);
	if (s->rings)
		munmap(s->rings, s->rings_bytes);
	if (s->stats_fd >= 0)
		close(s->stats_fd);
	bpf_object__close(s->o.obj);
	tap_kernel_free(s->own_kernel);
	free(s->links);
	free(s->entries);
	free(s->lanes);
	release_formats(s);
	free(s);
}

/* Set the outcome of an event. @step: the step that failed if @ret is not 0. */
static void note_attached(struct bpf_state *s, struct tap_plan_event *ev, enum tap_step step,
			  int ret)
{
	s->nr_attached += !ret;
	if (ret && tap_refusal_why(step, ret))
		s->is_refused = true;
	if (ev && !ret)
		tap_plan_outcome(ev, TAP_EVENT_ON, NULL);
	else if (ev)
		tap_plan_outcome(ev, TAP_EVENT_FAILED, "cannot attach its BPF program: %s",
				 tap_refusal(step, ret).text);
}

static void note_chain(struct bpf_state *s, const struct bpf_program *first, int ret)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, s->o.obj)
		if (tap_bpf_chain_leads_to(s->o.obj, first, prog))
			note_attached(s, tap_bpf_event_of(s->plan, bpf_program__name(prog)),
				      TAP_STEP_BPF, ret);
}

/* Attach a program, or the program of its event's filter. Return: 0 or -errno. */
static int attach_program(struct bpf_state *s, struct bpf_program *prog)
{
	struct tap_filter_program *filter = tap_bpf_filter_of(&s->filters, bpf_program__fd(prog));
	struct bpf_link *link = filter ? NULL : bpf_program__attach(prog);
	int ret = filter ? tap_filter_program_attach(filter, NULL) : link ? 0 : -errno;

	if (link)
		s->links[s->nr_links++] = link;
	note_chain(s, prog, ret);
	return ret;
}

static void attach_own(struct bpf_state *s, struct tap_bpf_own_program *own)
{
	struct tap_filter_program *filter = tap_bpf_filter_of(&s->filters, own->prog);
	int ret = filter ? tap_filter_program_attach(filter, own->feed.probe)
			 : tap_attach(&own->links, own->prog, own->feed.probe);

	note_attached(s, tap_plan_find(s->plan, own->def->system, own->def->name),
		      tap_attach_step(own->feed.probe), ret);
}

static void add_entry(struct bpf_state *s, int recorder, unsigned int nr_events)
{
	s->entries[s->nr_entries++] =
		(struct entry){ tap_bpf_front_of(&s->filters, recorder), nr_events };
}

static bool keeps_scope(const struct bpf_program *prog)
{
	enum tap_bpf_kind kind = tap_bpf_kind(prog);

	return kind == TAP_BPF_KEEPS_TASKS || kind == TAP_BPF_KEEPS_CGROUPS;
}

static int tie_programs(struct bpf_state *s, struct tap_err *err)
{
	struct bpf_program *prog;
	unsigned int nr = 0;
	int ret = 0;

	bpf_object__for_each_program(prog, s->o.obj)
		nr += bpf_program__autoload(prog);
	s->links = calloc(nr, sizeof(struct bpf_link *));
	s->entries = calloc(nr + s->own.nr, sizeof(*s->entries));
	if (!s->links || !s->entries)
		return tap_err_nomem(err);
	bpf_object__for_each_program(prog, s->o.obj) {
		unsigned int nr_events = tap_bpf_chain_length(s->o.obj, prog);

		if (!bpf_program__autoload(prog) || ret)
			continue;
		ret = tap_bpf_chain_tie(s->o.obj, prog,
					tap_bpf_front_of(&s->filters, bpf_program__fd(prog)));
		if (nr_events || keeps_scope(prog))
			add_entry(s, bpf_program__fd(prog), nr_events);
	}
	for (unsigned int i = 0; i < s->own.nr; i++)
		add_entry(s, s->own.v[i].prog, 1);
	return ret ? tap_err_set(err, ret, "cannot chain the BPF programs of a tracepoint: %s",
				 strerror(-ret))
		   : 0;
}

/*
 * Attach the programs that keep track of tasks and cgroups. They update the set of tasks before it
 * is filled, so that tasks that start or end meanwhile are seen.
 */
static int keep_scope(struct bpf_state *s, struct tap_err *err)
{
	struct bpf_program *prog;
	int ret = 0;

	bpf_object__for_each_program(prog, s->o.obj)
		if (!ret && bpf_program__autoload(prog) && keeps_scope(prog))
			ret = attach_program(s, prog);
	if (ret)
		return tap_err_set(err, ret,
				   "cannot attach the BPF programs that keep track of tasks and "
				   "cgroups: %s",
				   strerror(-ret));
	return tap_bpf_by_task(s->plan->select) ? tap_bpf_find_tasks(s->o.obj, s->plan->select, err)
						: 0;
}

static int bpf_open(struct tap_plan *plan, void **state, struct tap_err *err)
{
	struct bpf_state *s = calloc(1, sizeof(*s));
	int ret;

	*state = NULL;
	if (!s)
		return tap_err_nomem(err);
	s->plan = plan;
	s->nr_lanes = plan->nr_cpus;
	s->stats_fd = -1;
	ret = plan->kernel ? 0 : tap_kernel_new(&s->own_kernel, err);
	s->kernel = plan->kernel ?: s->own_kernel;
	ret = ret ?: learn_own(s, err);
	ret = ret ?: find_absent(s, err) ?: tap_bpf_load(&s->o, plan, s->kernel, err) ?:
	      tap_bpf_own_load(&s->own, s->o.obj, plan, s->kernel, err) ?:
	      tap_bpf_switches_open(&s->switches, s->o.obj, plan, err) ?:
	      tap_bpf_stacks_open(&s->stacks, s->o.obj, plan, err) ?:
	      tap_bpf_filters_load(&s->filters, s->o.obj, &s->own, plan, s->kernel, err);
	if (s->kernel)
		tap_kernel_drop_btf(s->kernel);
	ret = ret
		      ?: tie_programs(s, err)
		      ?: keep_scope(s, err)
		      ?: map_rings(s, err)
		      ?: find_missed(s, err)
		      ?: make_lanes(s, err);
	if (ret)
		bpf_free(s);
	else
		*state = s;
	return ret;
}

static int describe_event(struct bpf_state *s, const struct tap_def *def,
			  const struct tap_def_texts *texts)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	struct tap_buf text = { 0 };

	tap_kernel_absent(s->kernel, def, absent);
	tap_def_format(def, absent, texts, &text);
	tap_buf_str(&text);
	s->formats[s->nr_formats++] = (struct tap_head_format){
		.system = def->system,
		.text = text.data,
		.len = text.len,
	};
	return text.err;
}

static int describe_stacks(struct bpf_state *s, bool user)
{
	struct tap_def_texts texts = { .stacks = tap_stacks_texts(s->stacks.table, user) };
	bool any = false;

	for (unsigned int i = 0; i < s->plan->nr_events; i++) {
		const struct tap_plan_event *ev = &s->plan->events[i];

		any |= ev->backend->kind == TAP_BY_BPF &&
		       (user ? ev->stacks.user : ev->stacks.kernel);
	}
	return any ? describe_event(s,
				    tap_def_find("schedtap", user ? "user_stack" : "kernel_stack"),
				    &texts)
		   : 0;
}

static int bpf_describe(void *state, const struct tap_map *cgroups, struct tap_head *head,
			struct tap_err *err)
{
	struct tap_def_texts texts = { .cgroups = cgroups };
	struct bpf_state *s = state;
	int ret;

	release_formats(s);
	s->formats = calloc(s->plan->nr_events + 4, sizeof(*s->formats));
	if (!s->formats)
		return tap_err_nomem(err);
	ret = describe_event(s, tap_def_find("schedtap", "events_lost"), &texts);
	if (!ret && s->plan->nr_triggers)
		ret = describe_event(s, tap_def_find("schedtap", "events_off"), &texts);
	for (unsigned int i = 0; i < s->plan->nr_events && !ret; i++) {
		const struct tap_plan_event *ev = &s->plan->events[i];

		if (ev->backend->kind == TAP_BY_BPF &&
		    (ev->status == TAP_EVENT_PLANNED || ev->status == TAP_EVENT_ON))
			ret = describe_event(s, ev->def, &texts);
	}
	if (s->stacks.table)
		ret = ret ?: describe_stacks(s, false) ?: describe_stacks(s, true);
	head->formats = s->formats;
	head->nr_formats = s->nr_formats;
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

static int bpf_add_buffer(void *state, struct tap_page_writer *writer, struct tap_err *err)
{
	struct bpf_state *s = state;
	int buffer =
		tap_page_writer_add_buffer(writer, "", "mono", TAP_PAGE_SIZE, s->nr_lanes, err);

	if (buffer < 0)
		return buffer;
	s->writer = writer;
	for (unsigned int i = 0; i < s->nr_lanes; i++)
		s->lanes[i].buffer = (unsigned int)buffer;
	return 0;
}

static int bpf_start(void *state, struct tap_err *err)
{
	struct bpf_state *s = state;
	struct bpf_program *prog;

	s->started_ns = tap_now_ns();
	s->nr_attached = 0;
	bpf_object__for_each_program(prog, s->o.obj)
		if (tap_bpf_records(prog) && tap_bpf_chain_length(s->o.obj, prog))
			attach_program(s, prog);
	for (unsigned int i = 0; i < s->own.nr; i++)
		attach_own(s, &s->own.v[i]);
	if (!s->nr_attached)
		return tap_err_set(err, s->is_refused ? -EOPNOTSUPP : -EIO,
				   "no event can be recorded over BPF: %s",
				   tap_plan_reason(s->plan));
	return 0;
}

static void add_stats(struct run_stats *sum, const struct entry *entry)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(entry->prog, &info, &len))
		return;
	sum->time_ns += info.run_time_ns;
	sum->count += info.run_cnt * entry->nr_events;
	sum->misses += info.recursion_misses * entry->nr_events;
}

/*
 * Each event counts as one program: the kernel counts a tail-called program neither as a run nor as
 * a miss.
 */
static struct run_stats run_stats(const struct bpf_state *s)
{
	struct run_stats sum = { 0 };

	for (unsigned int i = 0; i < s->nr_entries; i++)
		add_stats(&sum, &s->entries[i]);
	return sum;
}

/* If statistics are refused, the overhead is unknown. */
static void begin_sample(struct bpf_state *s)
{
	s->stats_fd = tap_bpf_stats_open(NULL);
	s->stats_on_ns = tap_now_ns();
	s->at_on = run_stats(s);
}

/*
 * Add what the kernel counted since begin_sample(). It also counts between samples while another
 * process has statistics on. Both readings of the counters are taken between the two time stamps,
 * so that a delay of the recorder makes the overhead too small, never too large.
 */
static void end_sample(struct bpf_state *s)
{
	struct run_stats now;

	if (s->stats_fd < 0)
		return;
	now = run_stats(s);
	s->sampled_ns += tap_now_ns() - s->stats_on_ns;
	close(s->stats_fd);
	s->stats_fd = -1;
	s->sampled.time_ns += now.time_ns - s->at_on.time_ns;
	s->sampled.count += now.count - s->at_on.count;
}

static void sample_run_time(struct bpf_state *s)
{
	uint64_t now = tap_now_ns(), age = now - s->started_ns;

	if (s->stats_fd >= 0 && now - s->stats_on_ns >= STATS_ON_NS) {
		end_sample(s);
	} else if (s->stats_fd < 0 && age >= STATS_FIRST_NS &&
		   now - s->stats_on_ns >= s->stats_period_ns) {
		s->stats_period_ns = s->stats_on_ns ? 2 * s->stats_period_ns : STATS_PERIOD_NS;
		if (s->stats_period_ns > STATS_PERIOD_MAX_NS)
			s->stats_period_ns = STATS_PERIOD_MAX_NS;
		begin_sample(s);
	}
}

static int drain_ringbuf(struct bpf_state *s, struct tap_drain *res, struct tap_err *err)
{
	int ret;

	s->res = res;
	for (unsigned int i = 0; i < s->nr_lanes; i++)
		tap_lane_note_lost(&s->lanes[i]);
	ret = ring_buffer__consume(s->ringbuf);
	if (ret < 0)
		return tap_err_set(err, ret, "cannot read the BPF ring buffer: %s", strerror(-ret));
	for (unsigned int i = 0; i < s->nr_lanes; i++) {
		tap_lane_lost(&s->lanes[i], s->writer, res);
		tap_lane_flush(&s->lanes[i], s->writer, false);
	}
	return 0;
}

static uint64_t without_ring_or_task(const struct bpf_state *s)
{
	struct tap_missed missed = { 0 };
	uint32_t zero = 0;

	bpf_map_lookup_elem(s->missed_fd, &zero, &missed);
	return missed.no_ring + missed.no_task;
}

/*
 * The kernel skips a program that interrupts itself on a CPU and counts this without time or CPU:
 * report a loss on an unknown CPU over the whole recording. Events on CPUs without a ring are
 * reported like that, too, and tasks that could not be added to the set of recorded tasks: one lost
 * event per task, because the number of its events is unknown.
 */
static void report_misses(struct bpf_state *s, struct tap_drain *res)
{
	uint64_t misses = run_stats(s).misses + without_ring_or_task(s) - s->misses,
		 now = tap_now_ns();
	const struct tap_lane_hole hole = {
		.count = misses,
		.first_ns = s->started_ns,
		.last_ns = now,
		.cpu = -1,
	};

	if (!misses)
		return;
	tap_lane_add_lost(&s->lanes[0], s->writer, now, &hole);
	res->lost += misses;
	s->misses += misses;
}

/* Report what is still switched off at the end: no later record in the ring does it. */
static void report_off(struct bpf_state *s)
{
	for (unsigned int i = 0; s->switches.off && i < s->plan->nr_events; i++)
		for (unsigned int cpu = 0; cpu < s->nr_lanes; cpu++) {
			const struct tap_off *off = &s->switches.off[i * s->nr_lanes + cpu];

			if (off->count)
				tap_lane_add_off(&s->lanes[cpu], s->writer, off->last_ns,
						 &(struct tap_lane_off){
							 .count = off->count,
							 .first_ns = off->first_ns,
							 .last_ns = off->last_ns,
							 .cpu = (int32_t)cpu,
							 .type = s->switches.switches[1 + i].type,
						 });
		}
}

static int bpf_find(void *state, bool *anew, struct tap_err *err)
{
	struct bpf_state *s = state;

	(void)err;
	*anew |= tap_bpf_stacks_find(&s->stacks, s->writer);
	return 0;
}

static void bpf_settle(void *state)
{
	struct bpf_state *s = state;

	if (s->stacks.table)
		tap_stacks_finish(s->stacks.table);
}

static int bpf_drain(void *state, enum tap_drain_depth depth, struct tap_drain *res,
		     struct tap_err *err)
{
	struct bpf_state *s = state;
	uint64_t before = res->events - res->stacks + res->lost, stacks = res->stacks;
	int ret = 0;

	sample_run_time(s);
	if (s->ringbuf)
		ret = drain_ringbuf(s, res, err);
	else
		for (unsigned int i = 0; i < s->nr_lanes; i++)
			tap_lane_drain(&s->lanes[i], s->writer, res);
	s->runs += res->events - res->stacks + res->lost - before;
	s->nr_stacks += res->stacks - stacks;
	ret = ret ?: tap_bpf_stacks_drain(&s->stacks, err);
	if (depth == TAP_DRAIN_PAGES || ret)
		return ret;
	if (depth >= TAP_DRAIN_MISSES) {
		report_misses(s, res);
		choose_clock(s);
	}
	if (depth == TAP_DRAIN_LAST) {
		report_off(s);
		tap_bpf_filters_tell(&s->filters, s->plan);
	}
	for (unsigned int i = 0; i < s->nr_lanes; i++)
		tap_lane_flush(&s->lanes[i], s->writer, true);
	return 0;
}

static int bpf_stop(void *state, struct tap_err *err)
{
	struct bpf_state *s = state;

	(void)err;
	end_sample(s);
	for (unsigned int i = 0; i < s->filters.nr; i++)
		tap_filter_program_detach(&s->filters.v[i].program);
	tap_bpf_own_detach(&s->own);
	while (s->nr_links)
		bpf_link__destroy(s->links[--s->nr_links]);
	s->stopped_ns = tap_now_ns();
	/* Wait for a grace period: programs that were running on other CPUs have then finished. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return 0;
}

static uint64_t end_ns(const struct bpf_state *s)
{
	return s->stopped_ns ?: tap_now_ns();
}

/*
 * Estimate the CPU time of all programs in @run_ns, the recording's duration. With a filter it is
 * the sampled time, scaled to @run_ns, because runs that reject their event leave no trace in the
 * rings. Otherwise it is the mean time of a sampled run times the number of runs, which is right
 * even if the event rate was different between the samples.
 */
static double probe_ns(const struct bpf_state *s, double run_ns)
{
	double time_ns = (double)s->sampled.time_ns;

	if (s->filters.nr || (s->plan->select->by & (TAP_SELECT_TASKS | TAP_SELECT_CPUS)))
		return time_ns / (double)s->sampled_ns * run_ns;
	return time_ns / (double)s->sampled.count * (double)s->runs;
}

static void bpf_account(void *state, json_t *price)
{
	struct bpf_state *s = state;
	double run_ns = (double)(end_ns(s) - s->started_ns),
	       all_ns = run_ns * (double)sysconf(_SC_NPROCESSORS_ONLN), ns;
	uint64_t ring = s->o.ring_bytes / (s->o.ringbuf ? s->nr_lanes : 1);

	json_object_set_new(price, "ring_bytes_per_cpu", json_integer((json_int_t)ring));
	tap_bpf_stacks_add_price(&s->stacks, s->nr_stacks, price);
	if (!s->sampled.count || s->sampled_ns < STATS_LEAST_NS)
		return;
	/*
	 * a program's time includes that of programs in interrupts, so the sum can exceed all CPU
	 * time
	 */
	ns = fmin(probe_ns(s, run_ns), all_ns);
	json_object_set_new(price, "probe_cpu_pct", json_real(100 * ns / all_ns));
	json_object_set_new(price, "ns_per_run",
			    json_real((double)s->sampled.time_ns / (double)s->sampled.count));
	if (s->runs)
		json_object_set_new(price, "ns_per_event", json_real(ns / (double)s->runs));
}

static int bpf_switched(void *state)
{
	struct bpf_state *s = state;
	const struct tap_switch *all = s->switches.switches;
	unsigned int changes = __atomic_load_n(&all->changes, __ATOMIC_ACQUIRE);

	if (changes == s->switches.seen)
		return -1;
	s->switches.seen = changes;
	return (int)__atomic_load_n(&all->on, __ATOMIC_RELAXED);
}

static void bpf_switch(void *state, bool on)
{
	struct bpf_state *s = state;

	__atomic_store_n(&s->switches.switches->on, on, __ATOMIC_RELEASE);
}

const struct tap_backend_ops tap_backend_bpf = {
	.kind = TAP_BY_BPF,
	.name = "bpf",
	.open = bpf_open,
	.describe = bpf_describe,
	.add_buffer = bpf_add_buffer,
	.start = bpf_start,
	.find = bpf_find,
	.settle = bpf_settle,
	.drain = bpf_drain,
	.switched = bpf_switched,
	.switch_to = bpf_switch,
	.stop = bpf_stop,
	.add_price = bpf_account,
	.free = bpf_free,
};
