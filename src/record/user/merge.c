// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Moves events: merges the rings of all programs by CPU and time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/user/pid_ns.h"
#include "record/user/state.h"

#define MAX_TIDS 65536u /* thread ids remembered per program */
#define LOSS_NS 4u /* minimum time that a CPU takes to lose an event */
#define PREFETCH_BYTES 512
#define BUSY_PCT 5u /* percent of a ring; a fuller one may fill up within a drain */
#define SAVE_PCT 20u
#define RELIEVE_NS 50000u
#define STEPS 512u /* records between two reads of the clock */
#define PAUSE_NS 1000000u /* maximum time per drain, because other backends have rings, too */
/* A stamp that is further in the future than this is wrong, and its ring is not waited for. */
#define AHEAD_NS 1000000000ull

/* ---- items ---- */

static uint64_t to_ns(const struct tap_user_state *s, const struct tap_user_source *src,
		      uint64_t stamp)
{
	const struct tap_user_pair *pair = &src->reader.pair;
	struct tap_user_pair near;

	if (src->tracee->p->control.head.clock != TAP_CLOCK_CYCLES || !s->clock.nr)
		return stamp;
	near = (struct tap_user_pair){ tap_user_clock_extend(&s->clock, pair->cycles),
				       pair->mono_ns };
	return tap_user_clock_ns(&s->clock, tap_user_clock_extend(&s->clock, stamp), &near);
}

static void source_fails(struct tap_user_source *src, int code)
{
	char why[96];

	snprintf(why, sizeof(why),
		 code == -ENODATA ? "the ring of CPU %u is truncated"
				  : "the ring of CPU %u is corrupt",
		 src->reader.ring.cpu);
	tap_user_tracee_fail(src->tracee, why);
	src->failed = true;
	src->item.kind = TAP_USER_NOTHING;
}

/* Read the source's next item, if it has one. */
static int advance_source(struct tap_user_state *s, struct tap_user_source *src, bool last)
{
	int ret = tap_user_reader_next(&src->reader, &src->item);

	if (ret == -ENOMEM)
		return ret;
	if (ret)
		source_fails(src, ret);
	if (src->item.kind == TAP_USER_NOTHING)
		return 0;
	src->ns = to_ns(s, src, src->item.stamp);
	if (src->ns < src->last_ns)
		src->ns = src->last_ns;
	if (src->ns > s->now.mono_ns &&
	    (last || src->reader.dead || src->ns - s->now.mono_ns > AHEAD_NS))
		src->ns = s->now.mono_ns > src->last_ns ? s->now.mono_ns : src->last_ns;
	return 0;
}

static int report_loss(struct tap_user_state *s, struct tap_user_source *src, uint64_t count,
		       uint64_t first_ns, struct tap_drain *res, struct tap_err *err)
{
	struct tap_user_tracee *t = src->tracee;

	tap_user_count_lost(t, count, res);
	return tap_user_out_lost(&s->out, (int)src->reader.ring.cpu, count,
				 first_ns < src->ns ? first_ns : src->ns, src->ns, err);
}

/*
 * Return the number of lost events that a program reports; 0 (an unknown number) if there was not
 * enough time to lose so many.
 */
static uint64_t credible_count(const struct tap_user_state *s, uint64_t count, unsigned int nr_cpus)
{
	return count / nr_cpus <= (s->now.mono_ns - s->start_ns) / LOSS_NS ? count : 0;
}

static const struct tap_user_recorded_kind *find_recorded(const struct tap_user_state *s,
							  unsigned int id)
{
	return &s->recorded[id - TAP_USER_ID_FIRST];
}

static bool tid_is_wanted(const struct tap_user_state *s, const unsigned char *payload)
{
	uint32_t tid;

	if (!s->plan->select->tids.nr)
		return true;
	memcpy(&tid, payload + 4, sizeof(tid));
	return tap_select_tid(s->plan->select, (int)tid);
}

/*
 * Return true if the thread exists and belongs to another program: it is not one of this process,
 * nor of a child that shares the control file.
 */
static bool is_anothers(const struct tap_user_program *p, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%u", p->pid, tid);
	return access(path, F_OK) && tap_user_is_unmapped(p, (int)tid);
}

/*
 * Return the id in the recorder's pid namespace of the thread that a record names; UINT32_MAX if it
 * is not one of the program's threads.
 */
static uint32_t find_own_tid(const struct tap_user_program *p, uint32_t tid)
{
	uint32_t nr = tid;

	if (p->control.nested)
		nr = tid == p->control.head.pid ? (uint32_t)p->pid : tap_pid_ns_thread(p->pid, tid);
	return (p->control.nested && !nr) || is_anothers(p, nr) ? UINT32_MAX : nr;
}

/*
 * Replace the thread id in a record: -1 if the thread belongs to another program. A thread that has
 * ended is taken for one of the program's.
 */
static void check_tid(struct tap_user_source *src, unsigned char *payload)
{
	struct tap_user_tracee *t = src->tracee;
	uint64_t *known;
	uint32_t tid, nr;

	memcpy(&tid, payload + 4, sizeof(tid));
	if (tid != src->tid) {
		known = tap_map_get(&t->tids, tid);
		nr = known ? (uint32_t)*known : find_own_tid(t->p, tid);
		if (!known && t->tids.nr >= MAX_TIDS)
			tap_map_release(&t->tids);
		if (!known && (known = tap_map_put(&t->tids, tid)) != NULL)
			*known = nr;
		src->tid = tid;
		src->tid_here = nr;
	}
	memcpy(payload + 4, &src->tid_here, sizeof(src->tid_here));
}

/*
 * Convert the thread id to the initial pid namespace, which kernel events use; -1 if the thread
 * ended before its id was first looked up.
 */
static void set_tid(struct tap_user_state *s, unsigned char *payload)
{
	struct tap_pids *pids = &s->plan->pids;
	uint32_t own, tid;

	if (!pids->nested)
		return;
	memcpy(&own, payload + 4, sizeof(own));
	tid = tap_pids_initial(pids, own);
	if (!tid && s->pids_read_ns != s->now.mono_ns) {
		s->pids_read_ns = s->now.mono_ns; /* at most once per drain */
		tap_pids_read(pids);
		tid = tap_pids_initial(pids, own);
	}
	tid = tid ? tid : UINT32_MAX;
	memcpy(payload + 4, &tid, sizeof(tid));
}

/*
 * Apply the kind's filter: programs apply it, too, but need not. @payload: as it will be recorded.
 */
static bool is_rejected(const struct tap_user_state *s, const struct tap_user_source *src,
			unsigned int id, const unsigned char *payload, uint32_t len)
{
	const struct tap_user_filter *f = find_recorded(s, id)->filter;

	return f && !tap_user_filter_match(f, payload, len, src->reader.ring.cpu);
}

/*
 * Record an item. Its payload, in the reader's copy, is modified: until here it has the program's
 * common_type.
 */
static int put_record(struct tap_user_state *s, struct tap_user_source *src, unsigned int id,
		      struct tap_drain *res, struct tap_err *err)
{
	struct tap_user_tracee *t = src->tracee;
	uint16_t type = (uint16_t)id;
	unsigned char *payload = (unsigned char *)src->item.payload;

	if (src->item.len < find_recorded(s, id)->kind->fmt->min_size)
		return report_loss(s, src, 1, src->ns, res, err);
	check_tid(src, payload);
	if (!tid_is_wanted(s, payload))
		return 0;
	set_tid(s, payload);
	memcpy(payload, &type, sizeof(type));
	if (is_rejected(s, src, id, payload, src->item.len))
		return 0;
	t->events++;
	res->events++;
	return tap_user_out_add(&s->out, src->reader.ring.cpu, src->ns, payload, src->item.len,
				&t->raised, err);
}

/* Return: 0; 1: not yet, because its kind must be discovered first; -errno. */
static int put_item(struct tap_user_state *s, struct tap_user_source *src, bool last,
		    struct tap_drain *res, struct tap_err *err)
{
	struct tap_user_tracee *t = src->tracee;
	unsigned int id;

	if (src->item.kind == TAP_USER_LOSS)
		return report_loss(s, src, credible_count(s, src->item.count, 1),
				   src->item.first ? to_ns(s, src, src->item.first) : s->start_ns,
				   res, err);
	id = src->item.type < t->nr_ids ? t->ids[src->item.type] : TAP_USER_ID_UNKNOWN;
	if (id == TAP_USER_ID_UNKNOWN && !src->stuck && !last) {
		src->stuck = true;
		return 1;
	}
	src->stuck = false;
	if (id == TAP_USER_ID_UNKNOWN)
		return report_loss(s, src, 1, src->ns, res, err);
	return id == TAP_USER_ID_UNWANTED ? 0 : put_record(s, src, id, res, err);
}

/* ---- runs ---- */

/*
 * The fast path. Most records follow a record of the same thread, with no record of another program
 * between them. They are converted one after the other directly from the ring into a page. Anything
 * unusual (another thread, an unwanted event, an invalid or late record) ends the run and takes the
 * normal path. The program can change the memory that is read here, so each word is read once and
 * checked afterwards.
 */
struct run {
	const unsigned char *at, *end;
	struct tap_user_interval interval;
	uint64_t high; /* the high bits that stamps lack */
	/*
	 * stamp and time of the last record. A record later than limit_ns belongs to the next
	 * drain, or comes after another source's
	 */
	uint64_t stamp, ns, limit_ns;
	uint32_t tid, tid_here;
	uint32_t type, id, min_size; /* of the last record's kind */
	bool filtered;
	uint32_t events, rejected;
};

/* A checked record. */
struct run_record {
	uint64_t stamp, ns;
	uint64_t first; /* first word of the payload: common_type, flags, preempt count, tid */
	uint32_t len;
};

static inline uint64_t word_at(const unsigned char *at)
{
	return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
}

static bool use_type(const struct tap_user_state *s, const struct tap_user_tracee *t,
		     struct run *run, uint32_t type)
{
	run->type = type;
	run->id = type < t->nr_ids ? t->ids[type] : TAP_USER_ID_UNKNOWN;
	if (run->id <= TAP_USER_ID_UNWANTED)
		return false;
	run->min_size = find_recorded(s, run->id)->kind->fmt->min_size;
	run->filtered = find_recorded(s, run->id)->filter;
	return true;
}

static inline bool next_record(const struct run *run, struct run_record *rec)
{
	size_t left = (size_t)(run->end - run->at);
	struct tap_record_head h;
	uint64_t words[2], cycles;

	if (left < sizeof(h) + 8)
		return false;
	__builtin_prefetch(run->at + PREFETCH_BYTES); /* the data was written by another CPU */
	words[0] = word_at(run->at);
	words[1] = word_at(run->at + 8);
	memcpy(&h, words, sizeof(h));
	rec->len = h.length - 4;
	if ((h.stamp_low & 31) != 31 || h.word || rec->len % 8 || rec->len < 8 ||
	    rec->len > TAP_RECORD_MAX || rec->len > left - sizeof(h))
		return false;
	rec->first = word_at(run->at + sizeof(h));
	rec->stamp = (uint64_t)h.stamp_high << 27 | h.stamp_low >> 5;
	cycles = run->high | rec->stamp;
	if (rec->stamp < run->stamp || cycles < run->interval.from || cycles >= run->interval.to)
		return false;
	rec->ns = run->interval.from_ns +
		  (uint64_t)((double)(cycles - run->interval.from) * run->interval.rate);
	return rec->ns >= run->ns && rec->ns <= run->limit_ns;
}

static inline void copy_record(const struct run *run, const struct run_record *rec,
			       unsigned char *to)
{
	const unsigned char *from = run->at + sizeof(struct tap_record_head);
	uint64_t first = (rec->first & 0xffff0000u) | run->id | (uint64_t)run->tid_here << 32;

	memcpy(to, &first, sizeof(first));
	for (uint32_t i = 8; i < rec->len; i += 8)
		memcpy(to + i, from + i, 8);
}

/*
 * Write a record of a kind that has a filter. The filter reads a copy, which the program cannot
 * change any more.
 */
static __attribute__((noinline)) void put_filtered(struct tap_user_state *s,
						   const struct tap_user_source *src,
						   struct run *run, struct tap_lane *lane,
						   const struct run_record *rec)
{
	unsigned char copy[TAP_RECORD_MAX + 8];

	copy_record(run, rec, copy);
	if (is_rejected(s, src, run->id, copy, rec->len))
		run->rejected++;
	else
		memcpy(tap_lane_room(lane, s->out.writer, rec->ns, rec->len), copy, rec->len);
}

static inline void put_run_record(struct tap_user_state *s, const struct tap_user_source *src,
				  struct run *run, struct tap_lane *lane,
				  const struct run_record *rec)
{
	if (run->filtered)
		put_filtered(s, src, run, lane, rec);
	else
		copy_record(run, rec, tap_lane_room(lane, s->out.writer, rec->ns, rec->len));
	run->at += sizeof(struct tap_record_head) + rec->len;
	run->stamp = rec->stamp;
	run->ns = rec->ns;
	run->events++;
}

static void put_records(struct tap_user_state *s, const struct tap_user_source *src,
			struct run *run, struct tap_lane *lane)
{
	struct run_record rec;

	while (next_record(run, &rec)) {
		uint32_t type = rec.first & 0xffff;

		if (rec.first >> 32 != run->tid ||
		    (type != run->type && !use_type(s, src->tracee, run, type)) ||
		    rec.len < run->min_size)
			return;
		put_run_record(s, src, run, lane, &rec);
	}
}

/* Return the time up to which no other source on this CPU has an item. */
static uint64_t limit_ns(const struct tap_user_state *s, const struct tap_user_cpu *c)
{
	uint64_t limit = s->now.mono_ns;

	for (unsigned int i = 1; i <= 2 && i < c->ready; i++)
		if (c->v[i]->ns < limit)
			limit = c->v[i]->ns;
	return limit;
}

/* Return: false if @src's stamp is not within an interval of the clock. */
static bool set_clock(const struct tap_user_state *s, const struct tap_user_source *src,
		      struct run *run)
{
	uint64_t cycles;

	if (src->tracee->p->control.head.clock != TAP_CLOCK_CYCLES || !s->clock.nr) {
		run->interval = (struct tap_user_interval){ run->stamp, UINT64_MAX, run->stamp, 1 };
		return true;
	}
	cycles = tap_user_clock_extend(&s->clock, run->stamp);
	run->high = cycles & ~((1ull << TAP_STAMP_BITS) - 1);
	return tap_user_clock_interval(&s->clock, cycles, &run->interval);
}

/* Record the records after @src's item, which was recorded. */
static void put_run(struct tap_user_state *s, const struct tap_user_cpu *c,
		    struct tap_user_source *src, struct tap_drain *res)
{
	struct tap_user_lane *l = tap_user_out_lane(&s->out, src->reader.ring.cpu);
	struct run run = { .type = UINT32_MAX,
			   .stamp = src->item.stamp,
			   .ns = src->ns,
			   .tid = src->tid,
			   .tid_here = src->tid_here,
			   .limit_ns = limit_ns(s, c) };
	const unsigned char *from;

	run.at = from = tap_user_reader_run(&src->reader, &run.end);
	if (!from || !l || run.ns < l->last_ns || s->plan->select->tids.nr ||
	    s->plan->pids.nested || !set_clock(s, src, &run))
		return;
	put_records(s, src, &run, &l->lane);
	if (!run.events)
		return;
	s->steps += run.events;
	l->last_ns = src->ns = run.ns;
	src->taken += run.events;
	src->tracee->events += run.events - run.rejected;
	res->events += run.events - run.rejected;
	tap_user_reader_pass(&src->reader, (uint32_t)(run.at - from), run.events, run.stamp);
}

/* ---- merging ---- */

static void swap_sources(struct tap_user_cpu *c, unsigned int a, unsigned int b)
{
	struct tap_user_source *src = c->v[a];

	c->v[a] = c->v[b];
	c->v[b] = src;
}

/* Move the source at @i down to its place in the heap. */
static void sink_source(struct tap_user_cpu *c, unsigned int i)
{
	for (unsigned int child = 2 * i + 1; child < c->ready; i = child, child = 2 * i + 1) {
		if (child + 1 < c->ready && c->v[child + 1]->ns < c->v[child]->ns)
			child++;
		if (c->v[i]->ns <= c->v[child]->ns)
			return;
		swap_sources(c, i, child);
	}
}

/* Remove the heap's top for the rest of this drain. */
static void take_out(struct tap_user_cpu *c)
{
	swap_sources(c, 0, --c->ready);
	sink_source(c, 0);
}

static int fill_heap(struct tap_user_state *s, struct tap_user_cpu *c, bool last)
{
	c->ready = 0;
	for (unsigned int i = 0; i < c->nr; i++) {
		struct tap_user_source *src = c->v[i];

		if (!src->failed && src->item.kind == TAP_USER_NOTHING &&
		    advance_source(s, src, last))
			return -ENOMEM;
		if (src->item.kind != TAP_USER_NOTHING)
			swap_sources(c, i, c->ready++);
	}
	for (unsigned int i = c->ready / 2; i--;)
		sink_source(c, i);
	return 0;
}

/* Copy data out of rings that fill up while others are read. */
static void relieve_rings(struct tap_user_state *s)
{
	for (unsigned int i = 0; i < s->nr_busy; i++) {
		struct tap_user_source *src = s->busy[i];

		/* the next drain handles errors */
		if (src->failed || tap_user_reader_poll(&src->reader, src->reader.dead))
			continue;
		if (tap_user_reader_fill_pct(&src->reader) >= SAVE_PCT)
			tap_user_reader_save(&src->reader);
	}
}

/* Return true if the rest should be left to the next drain. */
static bool make_way(struct tap_user_state *s)
{
	uint64_t now;
	bool is_time;

	if (s->steps < STEPS)
		return false;
	s->steps = 0;
	now = tap_now_ns();
	if (now >= s->relieve_ns) {
		relieve_rings(s);
		s->relieve_ns = tap_now_ns() + RELIEVE_NS;
	}
	is_time = now >= s->pause_ns || tap_page_writer_is_busy(s->out.writer);
	s->paused |= is_time;
	return is_time;
}

static int merge_cpu(struct tap_user_state *s, struct tap_user_cpu *c, bool last,
		     struct tap_drain *res, struct tap_err *err)
{
	int ret = fill_heap(s, c, last);

	while (!ret && c->ready && (last || (c->v[0]->ns <= s->now.mono_ns && !make_way(s)))) {
		struct tap_user_source *src = c->v[0];

		ret = put_item(s, src, last, res, err);
		if (ret == 1) {
			take_out(c);
			ret = 0;
			continue;
		}
		if (ret)
			return ret;
		s->steps++;
		if (src->item.kind == TAP_USER_RECORD) {
			src->taken++;
			put_run(s, c, src, res);
		}
		src->last_ns = src->ns;
		ret = advance_source(s, src, last);
		if (src->item.kind == TAP_USER_NOTHING)
			take_out(c);
		else
			sink_source(c, 0);
	}
	return ret == -ENOMEM ? tap_err_nomem(err) : ret;
}

/* ---- draining ---- */

/* If out of memory, the ring is only read in its turn. */
static void add_busy(struct tap_user_state *s, struct tap_user_source *src)
{
	if (!tap_array_grow(&s->busy, s->nr_busy, &s->cap_busy, sizeof(*s->busy)))
		s->busy[s->nr_busy++] = src;
}

static void poll_heads(struct tap_user_state *s, struct tap_drain *res)
{
	s->nr_busy = 0;
	for (unsigned int i = 0; i < s->nr_tracees; i++) {
		struct tap_user_tracee *t = s->tracees[i];
		bool moved = false, waits;

		for (unsigned int k = 0; k < t->nr_sources; k++) {
			struct tap_user_source *src = t->sources[k];
			uint64_t head = src->reader.head;
			int ret =
				src->failed ? 0 : tap_user_reader_poll(&src->reader, !t->p->alive);
			unsigned int fill_pct =
				src->failed || ret ? 0 : tap_user_reader_fill_pct(&src->reader);

			moved |= head != src->reader.head;
			if (ret)
				source_fails(src, ret);
			if (fill_pct >= BUSY_PCT)
				add_busy(s, src);
			if (fill_pct > res->fill_pct)
				res->fill_pct = fill_pct;
		}
		if (!moved)
			continue;
		waits = tap_user_tracee_waits(t);
		for (unsigned int k = 0; k < t->nr_sources; k++)
			t->sources[k]->reader.discard = waits;
	}
}

/*
 * Return the number of events that the program says it put into the ring, but that were not read.
 */
static uint64_t count_untaken(struct tap_user_source *src)
{
	uint64_t counted;

	if (!tap_user_reader_count(&src->reader, &counted) || counted == src->taken)
		return 0;
	if (counted > src->taken)
		return counted - src->taken;
	/* in an atomic ring, a thread that was killed may not have counted its last record */
	if (!src->reader.ring.atomic)
		tap_user_tracee_fail(src->tracee,
				     "there are more events than the program has counted");
	return 0;
}

/* Report losses that are in no ring's stream, after the last item. */
static int end_source(struct tap_user_state *s, struct tap_user_source *src, struct tap_drain *res,
		      struct tap_err *err)
{
	uint64_t first, untaken;
	int ret = 0;

	if (src->failed) {
		/* the number of events in it is unknown */
		src->ns = s->now.mono_ns;
		return report_loss(s, src, 0, src->last_ns ? src->last_ns : s->start_ns, res, err);
	}
	untaken = count_untaken(src);
	if (untaken) {
		src->ns = s->now.mono_ns;
		ret = report_loss(s, src, credible_count(s, untaken, 1),
				  src->last_ns ? src->last_ns : s->start_ns, res, err);
	}
	if (ret || tap_user_reader_rest(&src->reader, &src->item) ||
	    src->item.kind == TAP_USER_NOTHING)
		return ret;
	first = src->item.first ? to_ns(s, src, src->item.first) : s->start_ns;
	src->ns = to_ns(s, src, src->item.stamp);
	if (src->ns < src->last_ns || src->ns > s->now.mono_ns)
		src->ns = s->now.mono_ns;
	src->last_ns = src->ns;
	return report_loss(s, src, credible_count(s, src->item.count, 1), first, res, err);
}

/* Report events that found no ring: on an unknown CPU, since the last time this was checked. */
static int report_ringless(struct tap_user_state *s, struct tap_user_tracee *t,
			   struct tap_drain *res, struct tap_err *err)
{
	uint64_t lost = t->p->control.head.lost, count;
	uint64_t since = t->lost_ns ? t->lost_ns : s->start_ns;

	t->lost_ns = s->now.mono_ns;
	if (lost <= t->told_lost)
		return 0;
	count = credible_count(s, lost - t->told_lost, s->plan->nr_cpus);
	t->told_lost = lost;
	tap_user_count_lost(t, count, res);
	return tap_user_out_lost(&s->out, -1, count, since, s->now.mono_ns, err);
}

/* Return true if a source has an item left, whose kind must be discovered first. */
static bool has_items(const struct tap_user_tracee *t)
{
	for (unsigned int i = 0; i < t->nr_sources; i++)
		if (!t->sources[i]->failed && t->sources[i]->item.kind != TAP_USER_NOTHING)
			return true;
	return false;
}

/* Return true if an ended program was read to its end. */
static bool is_read(const struct tap_user_tracee *t)
{
	return !t->p->alive && !has_items(t) && !tap_user_has_unread_areas(t->p);
}

/* Report rings that cannot be read as a loss. */
static int lose_rings(struct tap_user_state *s, struct tap_user_tracee *t, struct tap_drain *res,
		      struct tap_err *err)
{
	bool is_unread = !t->p->alive && tap_user_has_unread_areas(t->p);

	if (!t->p->control.bad_rings && !is_unread)
		return 0;
	tap_user_tracee_fail(t, "some of its rings cannot be read");
	tap_user_count_lost(t, 0, res);
	return tap_user_out_lost(&s->out, -1, 0, s->start_ns, s->now.mono_ns, err);
}

static int end_tracee(struct tap_user_state *s, struct tap_user_tracee *t, struct tap_drain *res,
		      struct tap_err *err)
{
	int ret = t->over ? 0 : lose_rings(s, t, res, err);

	for (unsigned int i = 0; i < t->nr_sources && !ret && !t->over; i++)
		ret = end_source(s, t->sources[i], res, err);
	t->over = true;
	return ret;
}

static void drop_sources(struct tap_user_state *s, const struct tap_user_tracee *t)
{
	for (unsigned int cpu = 0; cpu < s->plan->nr_cpus; cpu++) {
		struct tap_user_cpu *c = &s->cpus[cpu];
		unsigned int kept = 0;

		for (unsigned int i = 0; i < c->nr; i++)
			if (c->v[i]->tracee != t)
				c->v[kept++] = c->v[i];
		c->nr = kept;
	}
}

/*
 * Return true if the program needs no more work: it has ended and was drained, or was never locked
 * and has no file any more.
 */
static bool is_finished(const struct tap_user_tracee *t)
{
	return t->locked ? t->over && !t->p->alive : !t->p->seen;
}

/* Remove finished programs, and the links and entries of those that have ended. */
static void remove_finished(struct tap_user_state *s)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < s->nr_tracees; i++) {
		struct tap_user_tracee *t = s->tracees[i];

		if (!is_finished(t)) {
			s->tracees[kept++] = t;
			continue;
		}
		drop_sources(s, t);
		if (t->locked) {
			tap_user_remove(t->p, NULL);
			tap_user_cross_off(s->set, t->p);
		}
		json_array_append_new(s->past, tap_user_tracee_json(t));
		t->p->user = s; /* never add it again, even if its link could not be removed */
		tap_user_tracee_free(t);
	}
	s->nr_tracees = kept;
}

int tap_user_drain(void *state, enum tap_drain_depth depth, struct tap_drain *res,
		   struct tap_err *err)
{
	struct tap_user_state *s = state;
	const bool last = depth == TAP_DRAIN_LAST;
	int ret = 0;

	tap_user_set_now(s);
	poll_heads(s, res);
	s->pause_ns = s->now.mono_ns + PAUSE_NS;
	s->relieve_ns = 0;
	s->steps = STEPS;
	s->paused = false;
	for (unsigned int i = 0; i < s->plan->nr_cpus && !ret; i++)
		ret = merge_cpu(s, &s->cpus[(s->first_cpu + i) % s->plan->nr_cpus], last, res, err);
	s->first_cpu++;
	if (s->paused)
		res->fill_pct = 100; /* drain again at once */
	for (unsigned int i = 0; i < s->nr_tracees && !ret; i++) {
		struct tap_user_tracee *t = s->tracees[i];

		if (t->locked)
			ret = report_ringless(s, t, res, err);
		if (!ret && t->locked && (last || (is_read(t) && !s->paused)))
			ret = end_tracee(s, t, res, err);
	}
	if (!ret && last)
		ret = tap_user_lose_programs(s, res, err);
	remove_finished(s);
	tap_user_out_flush(&s->out, depth != TAP_DRAIN_PAGES);
	return ret;
}
