// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Parse the records of a perf.data: perf_event_open(2), and tools/perf/util/event.h for perf's own.
 */
#include "file/perf_records.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"

#define PREFETCH_BYTES 8192
#define MAX_COPIES 32u /* per round, 64 MB; further records are read from the mapping */
/* copied at once, so that they are still in the CPU cache when read */
#define COPY_BYTES ((size_t)256 << 10)

struct record {
	const unsigned char *body;
	uint32_t type, len; /* .len: bytes of the body */
};

static uint32_t u32_at(const struct tap_perf *p, const unsigned char *at)
{
	return tap_get_u32(at, p->r->info.big_endian);
}

static uint64_t u64_at(const struct tap_perf *p, const unsigned char *at)
{
	return tap_get_u64(at, p->r->info.big_endian);
}

static struct tap_bytes bytes_of(const struct tap_perf *p, const struct record *rec)
{
	return (struct tap_bytes){
		.at = rec->body,
		.end = rec->body + rec->len,
		.big_endian = p->r->info.big_endian,
	};
}

/* Parse a record's head. Return: true if the whole record is in the @left bytes at @at. */
static bool parse_head(const struct tap_perf *p, const unsigned char *at, size_t left,
		       struct record *rec)
{
	uint16_t size;

	if (left < TAP_PERF_HEAD_BYTES)
		return false;
	size = tap_get_u16(at + 6, p->r->info.big_endian);
	*rec = (struct record){ at + TAP_PERF_HEAD_BYTES, u32_at(p, at),
				size - TAP_PERF_HEAD_BYTES };
	return size >= TAP_PERF_HEAD_BYTES && size <= left;
}

static int push_item(struct tap_perf *p, int cpu, struct tap_perf_item item, struct tap_err *err)
{
	int ret = tap_perf_queue_push(&p->queue, cpu, item);

	if (ret == -E2BIG)
		return tap_err_set(err, ret,
				   "cannot sort the events: there are no FINISHED_ROUND records "
				   "between more than %zu million of them",
				   TAP_PERF_MAX_ITEMS >> 20);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

/*
 * Push a loss. @cpu: -1: unknown. @count: 0: unknown. A loss cannot end before events that were
 * already returned.
 */
static int push_loss(struct tap_perf *p, int cpu, uint64_t first_ns, uint64_t last_ns,
		     uint64_t count, struct tap_err *err)
{
	struct tap_perf_loss *loss;
	int ret;

	if (last_ns < p->last_ns)
		last_ns = p->last_ns;
	if (first_ns > last_ns)
		first_ns = last_ns;
	if ((first_ns > p->r->decoder.to && !p->r->decoder.beyond) || last_ns < p->r->decoder.from)
		return 0;
	loss = malloc(sizeof(*loss));
	if (!loss)
		return tap_dat_nomem(err);
	*loss = (struct tap_perf_loss){ first_ns, count };
	ret = push_item(p, cpu, (struct tap_perf_item){ .ts = last_ns, .loss = loss }, err);
	if (ret)
		free(loss);
	return ret;
}

/* Report a damaged record as one lost event, at @ts if that is plausible. */
static int lose_one(struct tap_perf *p, uint64_t ts, struct tap_err *err)
{
	if (!ts || ts > TAP_CURSOR_MAX_NS)
		ts = p->max_ns;
	return push_loss(p, -1, ts, ts, 1, err);
}

static void lose_from(struct tap_perf *p, uint64_t ns)
{
	p->is_broken = true;
	if (ns < p->broken_ns)
		p->broken_ns = ns;
}

static void break_off(struct tap_perf *p)
{
	p->part_is_broken = true;
	lose_from(p, p->part_max_ns);
}

static struct tap_perf_cpu *cpu_get(struct tap_perf *p, int cpu)
{
	return tap_array_at(&p->cpus, &p->nr_cpus, (uint32_t)(cpu + 1), sizeof(*p->cpus), NULL);
}

/*
 * Return the earliest time at which the next loss of @c can have begun; UINT64_MAX: no record was
 * read yet.
 */
static uint64_t seen_before(const struct tap_perf *p, const struct tap_perf_cpu *c)
{
	return c->last_ns && c != p->cpus ? c->last_ns : p->first_ns;
}

/*
 * Return how many of the events that LOST_SAMPLES counted for slot @i were reported by LOST
 * records.
 */
static uint64_t reported_by_lost(const struct tap_perf *p, uint32_t i)
{
	uint64_t sum = 0;

	if (i) /* a CPU; slot 0 has records whose CPU is unknown */
		return p->cpus[i].reported;
	for (i = 0; i < p->nr_cpus; i++)
		if (!i || !p->cpus[i].counted)
			sum += p->cpus[i].reported;
	return sum;
}

static void note_time(struct tap_perf *p, struct tap_perf_cpu *c, uint64_t ts)
{
	c->last_ns = ts;
	if (ts > p->part_max_ns)
		p->part_max_ns = ts;
	if (ts > p->max_ns)
		p->max_ns = ts;
	if (ts < p->first_ns)
		p->first_ns = ts;
}

static const struct tap_perf_attr *attr_by_id(const struct tap_perf *p, uint64_t id)
{
	const uint64_t *i = tap_map_get(&p->ids, id);

	/* records that perf synthesizes have id 0 and the layout of the first event */
	if (!i)
		return id ? NULL : &p->attrs[0];
	return &p->attrs[*i - 1];
}

/* ---- samples */

/* Skip the data of PERF_SAMPLE_READ. */
static void skip_read(const struct tap_perf_attr *a, struct tap_bytes *b)
{
	unsigned int times = !!(a->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			     !!(a->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	unsigned int value =
		1 + !!(a->read_format & PERF_FORMAT_ID) + !!(a->read_format & PERF_FORMAT_LOST);
	uint64_t nr = 1;

	if (a->read_format & PERF_FORMAT_GROUP)
		nr = tap_bytes_u64(b);
	if (nr > tap_bytes_left(b) / 8)
		b->bad = true;
	tap_bytes_take(b, 8 * (times + nr * value));
}

static void skip_callchain(struct tap_bytes *b)
{
	uint64_t nr = tap_bytes_u64(b);

	if (nr > tap_bytes_left(b) / 8)
		b->bad = true;
	tap_bytes_take(b, 8 * nr);
}

/* Return the tracepoint's own data, from common_type on; bad if it is missing. */
static struct tap_bytes raw_of(const struct tap_perf *p, const struct record *rec,
			       const struct tap_perf_attr *a)
{
	struct tap_bytes b = bytes_of(p, rec);

	tap_bytes_take(&b, a->fixed);
	if (a->sample_type & PERF_SAMPLE_READ)
		skip_read(a, &b);
	if (a->sample_type & PERF_SAMPLE_CALLCHAIN)
		skip_callchain(&b);
	return tap_bytes_sub(&b, tap_bytes_u32(&b));
}

static inline struct tap_perf_item event_item(uint64_t ts, const unsigned char *data, uint32_t size,
					      const struct tap_format *fmt)
{
	return (struct tap_perf_item){ .ts = ts, .data = data, .size = size, .id = fmt->id };
}

/*
 * Count an event of @slot; NULL: the event is damaged. Return: 1 if the caller must push it; 0 if
 * it is not wanted, or was replaced by a loss; -errno.
 */
static inline __attribute__((always_inline)) int admit(struct tap_perf *p, struct tap_slot *slot,
						       int cpu, uint64_t ts, size_t bytes,
						       struct tap_err *err)
{
	struct tap_decoder *d = &p->r->decoder;

	d->span.before |= ts < d->from;
	d->span.beyond |= ts > d->to;
	if (slot && ts >= d->from && ts <= d->to)
		tap_decoder_passed(d, slot, ts, bytes);
	/*
	 * An event that is older than those already returned cannot be sorted in any more: report
	 * it as a loss, even if its kind is not wanted, so that all passes report the same losses.
	 */
	if (!slot || ts < p->last_ns)
		return push_loss(p, cpu, ts, ts, 1, err);
	return slot->mark && ts >= d->from && (ts <= d->to || d->beyond);
}

/* Note a record of @cpu at @ts. Return: NULL: out of memory. */
static inline __attribute__((always_inline)) struct tap_perf_cpu *arrive(struct tap_perf *p,
									 int cpu, uint64_t ts)
{
	struct tap_perf_cpu *c = cpu_get(p, cpu);

	if (!c)
		return NULL;
	/*
	 * Any record ends a loss, wanted or not, so that the loss ends at the same time in each
	 * pass.
	 */
	if (c->just_lost && ts >= p->last_ns)
		tap_perf_queue_end_loss(&p->queue, cpu, ts);
	c->just_lost = false;
	note_time(p, c, ts);
	return c;
}

static void add_frame(struct tap_perf_chain *chain, uint64_t address)
{
	if (chain->nr < TAP_PERF_MAX_FRAMES)
		chain->at[chain->nr++] = address;
}

/* Split a sample's callchain into kernel and user addresses, by its PERF_CONTEXT_* markers. */
static void split_chain(const struct tap_perf *p, const struct record *rec,
			const struct tap_perf_attr *a, struct tap_perf_chain *kernel,
			struct tap_perf_chain *user)
{
	const uint16_t mode =
		tap_get_u16(rec->body - 4, p->r->info.big_endian) & PERF_RECORD_MISC_CPUMODE_MASK;
	struct tap_perf_chain *into = mode == PERF_RECORD_MISC_KERNEL ? kernel
				      : mode == PERF_RECORD_MISC_USER ? user
								      : NULL;
	struct tap_bytes b = bytes_of(p, rec);
	uint64_t nr;

	kernel->nr = user->nr = 0;
	tap_bytes_take(&b, a->fixed);
	if (a->sample_type & PERF_SAMPLE_READ)
		skip_read(a, &b);
	nr = tap_bytes_u64(&b);
	while (nr-- && !b.bad) {
		uint64_t at = tap_bytes_u64(&b);

		if (b.bad)
			return;
		if (at == PERF_CONTEXT_KERNEL)
			into = kernel;
		else if (at == PERF_CONTEXT_USER)
			into = user;
		else if (at >= PERF_CONTEXT_MAX) /* of a guest or hypervisor */
			into = NULL;
		else if (into)
			add_frame(into, at);
	}
}

/* Push the stacks of an event of the task @pid, as events that follow it. */
static int take_chain(struct tap_perf *p, const struct record *rec, const struct tap_perf_attr *a,
		      int cpu, uint64_t ts, int pid, struct tap_err *err)
{
	const struct tap_format *of_kernel = p->made.kernel_stack, *of_user = p->made.user_stack;
	struct tap_perf_chain kernel, user;
	const unsigned char *data = NULL;
	uint32_t size = 0;
	int ret = 0, tgid;

	if (!of_kernel || !of_user)
		return 0;
	split_chain(p, rec, a, &kernel, &user);
	tgid = a->tgid_at == UINT32_MAX ? -1 : (int)u32_at(p, rec->body + a->tgid_at);
	if (kernel.nr)
		ret = admit(p, &p->r->decoder.slots[of_kernel->id], cpu, ts, 8 * (size_t)kernel.nr,
			    err);
	if (ret > 0)
		ret = tap_perf_made_kernel_stack(&p->made, p->round, pid, &kernel, &data, &size,
						 err)
			      ?: push_item(p, cpu, event_item(ts, data, size, of_kernel), err);
	if (ret || !user.nr)
		return ret;
	ret = admit(p, &p->r->decoder.slots[of_user->id], cpu, ts, 8 * (size_t)user.nr, err);
	if (ret > 0)
		ret = tap_perf_made_user_stack(&p->made, p->round, pid, &user, tgid, &data, &size,
					       err)
			      ?: push_item(p, cpu, event_item(ts, data, size, of_user), err);
	return ret;
}

static int take_event(struct tap_perf *p, const struct record *rec, const struct tap_perf_attr *a,
		      int cpu, uint64_t ts, struct tap_err *err)
{
	struct tap_decoder *d = &p->r->decoder;
	struct tap_bytes raw = raw_of(p, rec, a);
	struct tap_slot *slot = NULL; /* NULL: the event is damaged */
	int ret;

	if (tap_bytes_left(&raw) >= sizeof(uint16_t)) {
		slot = &d->slots[tap_get_u16(raw.at, raw.big_endian)];
		if (!slot->fmt) {
			ret = tap_decoder_add_unknown(d, (unsigned int)(slot - d->slots), err);
			if (ret)
				return ret;
		}
		if (tap_bytes_left(&raw) < slot->min_size)
			slot = NULL;
	}
	ret = admit(p, slot, cpu, ts, tap_bytes_left(&raw), err);
	if (ret > 0)
		ret = push_item(p, cpu,
				event_item(ts, raw.at, (uint32_t)tap_bytes_left(&raw), slot->fmt),
				err);
	if (!(a->sample_type & PERF_SAMPLE_CALLCHAIN) || ret || !slot || ts < p->last_ns ||
	    tap_bytes_left(&raw) < 8)
		return ret;
	return take_chain(p, rec, a, cpu, ts, (int)u32_at(p, raw.at + 4), err);
}

/* This sample's id is a tracepoint: take_plain() may decode further samples with it. */
static void note_plain(struct tap_perf *p, const struct record *rec)
{
	uint64_t id = tap_perf_has_ids(p) ? u64_at(p, rec->body + p->id_at) : 0;

	p->plain_ids[id % TAP_PERF_PLAIN_IDS] = id;
}

static int take_sample(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	const struct tap_perf_attr *a = &p->attrs[0];
	uint32_t cpu;
	uint64_t ts;

	if (tap_perf_has_ids(p))
		a = rec->len < p->id_at + 8 ? NULL : attr_by_id(p, u64_at(p, rec->body + p->id_at));
	if (!a || rec->len < a->fixed)
		return push_loss(p, -1, p->max_ns, p->max_ns, 1, err);
	if (!a->is_tracepoint)
		return 0;
	note_plain(p, rec);
	cpu = u32_at(p, rec->body + a->cpu_at);
	ts = u64_at(p, rec->body + a->time_at);
	if (cpu >= TAP_DAT_MAX_CPUS || ts > TAP_CURSOR_MAX_NS)
		return lose_one(p, ts, err);
	if (!arrive(p, (int)cpu, ts))
		return tap_dat_nomem(err);
	return take_event(p, rec, a, (int)cpu, ts, err);
}

/*
 * Decode a CPU's samples in [@at, @end), like take_sample(), up to the first unusual one, such as
 * one that is older than its predecessor. Return: the end of the decoded samples.
 */
static inline __attribute__((always_inline)) const unsigned char *
take_plain_of(struct tap_perf *p, const struct tap_perf_plain plain, uint32_t cpu,
	      const unsigned char *at, const unsigned char *end)
{
	const bool host = TAP_HOST_BIG_ENDIAN;
	struct tap_decoder *d = &p->r->decoder;
	struct tap_perf_item *full, *first = tap_perf_queue_room(&p->queue, (int)cpu, &full),
				    *to = first;
	const unsigned char *start = at;
	uint64_t last_ns, bytes = 0;

	if (!first)
		return at;
	last_ns = tap_perf_queue_last(&p->queue, (int)cpu);
	last_ns = last_ns > p->last_ns ? last_ns : p->last_ns;
	last_ns = last_ns > d->from ? last_ns : d->from;
	while (to < full && (size_t)(end - at) >= plain.raw + 2) {
		const unsigned char *raw = at + plain.raw;
		uint32_t size = tap_get_u16(at + 6, host), raw_len = tap_get_u32(raw - 4, host);
		uint64_t id = plain.id ? tap_get_u64(at + plain.id, host) : 0;
		struct tap_slot *slot = &d->slots[tap_get_u16(raw, host)];
		uint64_t ts = tap_get_u64(at + plain.time, host);

		/*
		 * .min_size is 0 for an id without a format: 0 - 1 wraps, and take_sample() gets
		 * its records
		 */
		if (tap_get_u32(at, host) != PERF_RECORD_SAMPLE ||
		    tap_get_u32(at + plain.cpu, host) != cpu || size > (size_t)(end - at) ||
		    (uint64_t)plain.raw + raw_len > size || raw_len < 2 ||
		    p->plain_ids[id % TAP_PERF_PLAIN_IDS] != id || raw_len <= slot->min_size - 1 ||
		    ts < last_ns || ts > d->to)
			break;
		/*
		 * an unwanted event is overwritten by the next: a branch would be mispredicted
		 * often
		 */
		*to = event_item(ts, raw, raw_len, slot->fmt);
		to += slot->is_marked;
		slot->passed++;
		bytes += raw_len;
		last_ns = ts;
		at += size;
		__builtin_prefetch(at + PREFETCH_BYTES);
		__builtin_prefetch(at + PREFETCH_BYTES + 64);
	}
	if (at == start)
		return at;
	tap_perf_queue_append(&p->queue, (int)cpu, (size_t)(to - first));
	note_time(p, &p->cpus[cpu + 1], tap_get_u64(start + plain.time, host));
	note_time(p, &p->cpus[cpu + 1], last_ns);
	tap_decoder_span(d, tap_get_u64(start + plain.time, host), last_ns, bytes);
	return at;
}

/*
 * Decode samples of any CPU with take_plain_of(), as those of one CPU come in long sequences.
 * Return: the number of bytes decoded.
 */
static size_t take_plain(struct tap_perf *p, const unsigned char *at, size_t len)
{
	/* perf's default layout, as constants: the compiler makes a separate loop for it */
	const struct tap_perf_plain usual = { .id = 8, .time = 32, .cpu = 40, .raw = 60 };
	const bool is_usual = !memcmp(&p->plain, &usual, sizeof(usual));
	/* @at may be NULL if @len is 0 */
	const unsigned char *start = at, *end = len ? at + len : at, *last = NULL;
	uint32_t cpu;

	while (p->plain.raw && at != last && (size_t)(end - at) >= p->plain.raw) {
		last = at;
		cpu = tap_get_u32(at + p->plain.cpu, TAP_HOST_BIG_ENDIAN);
		if (cpu >= TAP_DAT_MAX_CPUS || cpu + 1 >= p->nr_cpus || p->cpus[cpu + 1].just_lost)
			break;
		at = is_usual ? take_plain_of(p, usual, cpu, at, end)
			      : take_plain_of(p, p->plain, cpu, at, end);
	}
	return (size_t)(at - start);
}

/* ---- losses */

struct trailer {
	uint64_t id, ts; /* 0: absent */
	int cpu; /* -1: unknown */
	int tid; /* -1: unknown, or the task was already reaped and has no tid */
	uint32_t len; /* bytes */
};

static struct trailer trailer_of(const struct tap_perf *p, const struct record *rec)
{
	const unsigned char *end = rec->body + rec->len;
	const struct tap_perf_attr *a = &p->attrs[0];
	struct trailer t = { .cpu = -1, .tid = -1 };
	uint32_t cpu;

	if (p->id_back != UINT32_MAX && rec->len >= p->id_back) {
		t.id = u64_at(p, end - p->id_back);
		a = attr_by_id(p, t.id);
	}
	if (!a || !a->trailer || rec->len < a->trailer)
		return t;
	t.len = a->trailer;
	if (a->sample_type & PERF_SAMPLE_TID)
		t.tid = (int)u32_at(p, end - a->trailer + 4); /* after the process id */
	if (a->time_back)
		t.ts = u64_at(p, end - a->time_back);
	if (t.ts > TAP_CURSOR_MAX_NS)
		t.ts = 0;
	cpu = a->cpu_back ? u32_at(p, end - a->cpu_back) : UINT32_MAX;
	if (cpu < TAP_DAT_MAX_CPUS)
		t.cpu = (int)cpu;
	return t;
}

static int cpu_by_id(const struct tap_perf *p, uint64_t id)
{
	const uint64_t *cpu = tap_map_get(&p->id_cpus, id);

	return cpu ? (int)*cpu - 1 : -1;
}

/*
 * A LOST record: the CPU's ring was full, and has space again. __perf_output_begin() writes it
 * before the next record.
 */
static int take_lost(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	struct tap_bytes b = bytes_of(p, rec);
	uint64_t id = tap_bytes_u64(&b), lost = tap_bytes_u64(&b), first;
	struct trailer t = trailer_of(p, rec);
	struct tap_perf_cpu *c;

	if (b.bad)
		return push_loss(p, -1, p->max_ns, p->max_ns, 0, err);
	if (!t.ts) {
		t.ts = p->max_ns;
		t.cpu = cpu_by_id(p, id);
	}
	c = cpu_get(p, t.cpu);
	if (!c)
		return tap_dat_nomem(err);
	first = seen_before(p, c);
	if (__builtin_add_overflow(c->reported, lost, &c->reported))
		c->reported = UINT64_MAX;
	note_time(p, c, t.ts);
	c->just_lost = lost;
	c->runs = 0;
	return lost ? push_loss(p, t.cpu, first, t.ts, lost, err) : 0;
}

/*
 * A LOST_SAMPLES record. With a time it is from the kernel; without, it is the total that perf
 * writes when it ends.
 */
static int take_lost_samples(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	struct tap_bytes b = bytes_of(p, rec);
	uint64_t lost = tap_bytes_u64(&b);
	struct trailer t = trailer_of(p, rec);
	struct tap_perf_cpu *c;

	if (b.bad)
		return push_loss(p, -1, p->max_ns, p->max_ns, 0, err);
	c = cpu_get(p, t.ts ? t.cpu : cpu_by_id(p, t.id));
	if (!c)
		return tap_dat_nomem(err);
	if (t.ts) {
		c->just_lost = true;
		c->runs = 0;
		return push_loss(p, t.cpu, seen_before(p, c), t.ts, lost, err);
	}
	if (__builtin_add_overflow(c->counted, lost, &c->counted))
		c->counted = UINT64_MAX;
	return 0;
}

/* ---- tasks and ids */

struct tap_perf_task *tap_perf_task(const struct tap_perf *p, int tid)
{
	const uint64_t *place = tap_map_get(&p->tasks, (uint64_t)tid);

	return place ? (struct tap_perf_task *)(uintptr_t)*place : NULL;
}

static struct tap_perf_task *task_get(struct tap_perf *p, int tid)
{
	uint64_t *slot = tap_map_put(&p->tasks, (uint64_t)tid);
	struct tap_perf_task *task;

	if (!slot || *slot)
		return slot ? (struct tap_perf_task *)(uintptr_t)*slot : NULL;
	task = calloc(1, sizeof(*task));
	*slot = (uintptr_t)task;
	return task;
}

/*
 * The rings are read one after another. So an older name may be read after a newer one, and a FORK
 * after the name that its task took later.
 */
static void set_comm(struct tap_perf_task *task, const char *comm, uint64_t ns)
{
	memset(task->comm, 0, sizeof(task->comm));
	memcpy(task->comm, comm, strnlen(comm, sizeof(task->comm) - 1));
	task->named_ns = ns;
}

static int take_comm(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	struct tap_bytes b = bytes_of(p, rec);
	int tgid = (int)tap_bytes_u32(&b), tid = (int)tap_bytes_u32(&b);
	const char *comm = tap_bytes_str(&b);
	struct trailer t = trailer_of(p, rec);
	struct tap_perf_task *task;

	if (b.bad || tid < 0)
		return 0;
	task = task_get(p, tid);
	if (!task)
		return tap_dat_nomem(err);
	task->tgid = tgid;
	if (t.ts >= task->named_ns)
		set_comm(task, comm, t.ts);
	return 0;
}

/* A new task inherits its parent's name. */
static int take_fork(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	struct tap_bytes b = bytes_of(p, rec);
	int tgid = (int)tap_bytes_u32(&b);
	const struct tap_perf_task *parent;
	struct tap_perf_task *task;
	int ptgid, tid, ptid;
	uint64_t ns;

	ptgid = (int)tap_bytes_u32(&b);
	tid = (int)tap_bytes_u32(&b);
	ptid = (int)tap_bytes_u32(&b);
	ns = tap_bytes_u64(&b);
	if (b.bad || tid < 0)
		return 0;
	task = task_get(p, tid);
	if (!task)
		return tap_dat_nomem(err);
	task->tgid = tgid;
	task->exit_ns = 0;
	parent = tap_perf_task(p, ptid);
	if (parent && (ns > task->named_ns || !*task->comm))
		set_comm(task, parent->comm, ns);
	if (p->has_chains && tap_perf_maps_fork(&p->maps, tgid, ptgid, ns))
		return tap_dat_nomem(err);
	return 0;
}

/*
 * A mapping of a process, or of the kernel (pid -1): that one is named after a symbol, whose
 * address is in the offset.
 */
static int take_mmap(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	static const char of_kernel[] = "[kernel.kallsyms]_";
	struct tap_bytes b = bytes_of(p, rec);
	struct trailer t = trailer_of(p, rec);
	int pid = (int)tap_bytes_u32(&b);
	uint64_t from, len, offset;
	const char *path;

	tap_bytes_u32(&b); /* thread */
	from = tap_bytes_u64(&b);
	len = tap_bytes_u64(&b);
	offset = tap_bytes_u64(&b);
	if (rec->type == PERF_RECORD_MMAP2)
		tap_bytes_take(&b, 32); /* device and inode, or build id; protection; flags */
	path = tap_bytes_str(&b);
	if (b.bad)
		return 0;
	if (pid >= 0)
		return tap_perf_maps_add(&p->maps, pid, from, len, offset, t.ts, path)
			       ? tap_dat_nomem(err)
			       : 0;
	if (!*p->kernel.symbol && !strncmp(path, of_kernel, strlen(of_kernel))) {
		snprintf(p->kernel.symbol, sizeof(p->kernel.symbol), "%s",
			 path + strlen(of_kernel) - 1);
		p->kernel.at = offset;
	}
	return 0;
}

/* ---- switches */

/* Push a switch at @ts that is derived from other records. */
static int push_switch(struct tap_perf *p, int cpu, uint64_t ts, const struct tap_perf_switch *s,
		       struct tap_err *err)
{
	const struct tap_format *fmt = p->made.sched_switch;
	struct tap_perf_item item;
	const unsigned char *data;
	uint32_t size;
	int ret = admit(p, &p->r->decoder.slots[fmt->id], cpu, ts, fmt->min_size, err);

	if (ret <= 0)
		return ret;
	ret = tap_perf_made_switch(&p->made, p->round, s, &data, &size, err);
	if (ret)
		return ret;
	item = event_item(ts, data, size, fmt);
	return push_item(p, cpu, item, err);
}

/*
 * Return why a task left its CPU. A task that was reaped before its last switch has tid -1
 * (perf_event_pid_type()); other dead tasks are still zombies.
 */
static enum tap_perf_left left_as(const struct tap_perf *p, const struct trailer *t, uint16_t misc)
{
	const struct tap_perf_task *task = t->tid > 0 ? tap_perf_task(p, t->tid) : NULL;

	if (t->tid < 0)
		return TAP_PERF_LEFT_DEAD;
	if (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		return TAP_PERF_LEFT_PREEMPTED;
	return task && task->exit_ns && task->exit_ns <= t->ts ? TAP_PERF_LEFT_DEAD
							       : TAP_PERF_LEFT_ASLEEP;
}

/* Find the CPU of a record. Return: 0 with @c set; 1: the record was replaced by a loss; -errno. */
static int place_record(struct tap_perf *p, struct trailer *t, struct tap_perf_cpu **c,
			struct tap_err *err)
{
	if (t->cpu < 0)
		t->cpu = cpu_by_id(p, t->id);
	if (!t->ts || t->cpu < 0)
		return lose_one(p, t->ts, err) ?: 1;
	*c = arrive(p, t->cpu, t->ts);
	return *c ? 0 : tap_dat_nomem(err);
}

/* Return the value for tap_perf_cpu.runs. */
static int runs_of(int tid)
{
	return tid < 0 || tid == INT32_MAX ? 0 : tid + 1;
}

/*
 * perf_event_switch() writes two records per switch: for the outgoing task, at the position of the
 * tracepoint, and for the incoming one. Only records of whole CPUs (SWITCH_CPU_WIDE) name the other
 * task. Then the first has all data, and the second is needed only if the first was lost.
 */
static int take_switch(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	const uint16_t misc = tap_get_u16(rec->body - 4, p->r->info.big_endian);
	const bool is_out = misc & PERF_RECORD_MISC_SWITCH_OUT,
		   is_wide = rec->type == PERF_RECORD_SWITCH_CPU_WIDE;
	struct tap_perf_switch s = { .prev = -1, .next = -1, .left = TAP_PERF_LEFT_UNKNOWN };
	struct trailer t = trailer_of(p, rec);
	struct tap_bytes b = bytes_of(p, rec);
	struct tap_perf_cpu *c;
	int ret, other = -1;

	tap_bytes_u32(&b); /* process of the other task */
	if (is_wide)
		other = (int)tap_bytes_u32(&b);
	if (is_wide && (b.bad || tap_bytes_left(&b) < t.len))
		return push_loss(p, -1, p->max_ns, p->max_ns, 1, err);
	ret = place_record(p, &t, &c, err);
	if (ret)
		return ret < 0 ? ret : 0;
	p->by_task |= !is_wide;
	if (is_out) {
		s.prev = t.tid >= 0 ? t.tid : c->runs - 1;
		s.next = other;
		s.left = left_as(p, &t, misc);
	} else {
		if (t.tid < 0 || (is_wide && c->runs && c->runs == runs_of(t.tid)))
			return 0;
		s.prev = other;
		s.next = t.tid;
	}
	c->runs = runs_of(s.next);
	return push_switch(p, t.cpu, t.ts, &s, err);
}

/* If tasks are recorded, rather than CPUs, the EXIT record is a task's last. */
static int take_exit(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	struct tap_bytes b = bytes_of(p, rec);
	struct trailer t = trailer_of(p, rec);
	struct tap_perf_task *task;
	struct tap_perf_cpu *c;
	uint64_t ns;
	int tid, ret;

	tap_bytes_take(&b, 8); /* pid and parent pid */
	tid = (int)tap_bytes_u32(&b);
	tap_bytes_u32(&b);
	ns = tap_bytes_u64(&b);
	if (b.bad || tid <= 0)
		return 0;
	task = task_get(p, tid);
	if (!task)
		return tap_dat_nomem(err);
	task->exit_ns = ns;
	if (!p->by_task)
		return 0;
	ret = place_record(p, &t, &c, err);
	if (ret)
		return ret < 0 ? ret : 0;
	c->runs = 0;
	return push_switch(p, t.cpu, t.ts, &(struct tap_perf_switch){ tid, -1, TAP_PERF_LEFT_DEAD },
			   err);
}

static int take_id_index(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	struct tap_bytes b = bytes_of(p, rec);
	uint64_t nr = tap_bytes_u64(&b);

	while (nr-- && !b.bad) {
		uint64_t id = tap_bytes_u64(&b), cpu, *place;

		tap_bytes_u64(&b); /* index of the ring */
		cpu = tap_bytes_u64(&b);
		tap_bytes_u64(&b); /* tid */
		if (b.bad || cpu >= TAP_DAT_MAX_CPUS)
			continue;
		place = tap_map_put(&p->id_cpus, id);
		if (!place)
			return tap_dat_nomem(err);
		*place = cpu + 1;
	}
	return 0;
}

static int take_record(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	switch (rec->type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(p, rec, err);
	case PERF_RECORD_LOST:
		return take_lost(p, rec, err);
	case PERF_RECORD_LOST_SAMPLES:
		return take_lost_samples(p, rec, err);
	case PERF_RECORD_COMM:
		return take_comm(p, rec, err);
	case PERF_RECORD_FORK:
		return take_fork(p, rec, err);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return p->has_chains ? take_mmap(p, rec, err) : 0;
	case PERF_RECORD_EXIT:
		return p->made.sched_switch ? take_exit(p, rec, err) : 0;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return p->made.sched_switch ? take_switch(p, rec, err) : 0;
	case TAP_PERF_ID_INDEX:
		return take_id_index(p, rec, err);
	default:
		return 0;
	}
}

/* ---- compressed records */

/* Add a block that starts with the incomplete record at the end of the previous block. */
static int add_block(struct tap_perf *p, struct tap_err *err)
{
	/* arrays grow by doubling, and sorting needs a copy */
	const uint64_t items = 3 * p->queue.nr_items * sizeof(struct tap_perf_item);
	struct tap_perf_block *before = p->unpacked.newest, *b;
	int ret;

	ret = tap_budget_set(&p->r->budget, TAP_COST_UNSORTED,
			     (p->unpacked.nr + 1) * TAP_PERF_BLOCK_BYTES + items, err)
		      ?: tap_budget_add(&p->r->budget, TAP_COST_PAGES, TAP_PERF_BLOCK_BYTES, err);
	if (ret)
		return ret;
	b = tap_perf_blocks_add(&p->unpacked);
	if (!b)
		return tap_dat_nomem(err);
	if (before) {
		b->len = before->len - before->parsed;
		memcpy(b->data, before->data + before->parsed, b->len);
	}
	return 0;
}

static int take_block(struct tap_perf *p, struct tap_perf_block *b, struct tap_err *err)
{
	struct record rec;

	for (;;) {
		size_t len = take_plain(p, b->data + b->parsed, b->len - b->parsed);
		int ret;

		b->parsed += len;
		if (len)
			b->round = p->round;
		if (!parse_head(p, b->data + b->parsed, b->len - b->parsed, &rec))
			break;
		ret = take_record(p, &rec, err);
		if (ret)
			return ret;
		b->parsed += TAP_PERF_HEAD_BYTES + rec.len;
		b->round = p->round;
	}
	/* a record shorter than its head can never become complete */
	if (b->len - b->parsed >= TAP_PERF_HEAD_BYTES && rec.len > UINT16_MAX)
		break_off(p);
	return 0;
}

/* Decompress a record. All compressed records form one zstd stream, flushed by perf after each. */
static int unpack_records(struct tap_perf *p, struct tap_bytes *b, struct tap_err *err)
{
	ZSTD_inBuffer in = { b->at, tap_bytes_left(b), 0 };
	ZSTD_outBuffer out;

	if (!p->zstd)
		p->zstd = ZSTD_createDCtx();
	if (!p->zstd)
		return tap_dat_nomem(err);
	do {
		struct tap_perf_block *block = p->unpacked.newest;
		int ret = block && block->len < TAP_PERF_BLOCK_BYTES ? 0 : add_block(p, err);

		if (ret)
			return ret;
		block = p->unpacked.newest;
		out = (ZSTD_outBuffer){ block->data, TAP_PERF_BLOCK_BYTES, block->len };
		if (ZSTD_isError(ZSTD_decompressStream(p->zstd, &out, &in))) {
			break_off(p);
			return 0;
		}
		block->len = out.pos;
		ret = take_block(p, block, err);
		if (ret)
			return ret;
	} while (!p->part_is_broken && (in.pos < in.size || out.pos == out.size));
	return 0;
}

static int take_compressed(struct tap_perf *p, const struct record *rec, struct tap_err *err)
{
	struct tap_bytes b = bytes_of(p, rec);

	/* after one that cannot be decompressed, all later ones are lost too */
	if (p->part_is_broken)
		return 0;
	if (rec->type == TAP_PERF_COMPRESSED2)
		b = tap_bytes_sub(&b, tap_bytes_u64(&b));
	if (b.bad) {
		break_off(p);
		return 0;
	}
	return unpack_records(p, &b, err);
}

/* ---- the file */

/* Find where the records from p->at on can be read. Return: the number of bytes there. */
static size_t find_records(const struct tap_perf *p, const unsigned char **at)
{
	const struct tap_perf_block *b = p->copied.newest;

	if (!p->is_copied) {
		*at = p->data + p->at;
		return p->to - p->at;
	}
	*at = NULL;
	if (!b || p->at < b->from || p->at - b->from >= b->len)
		return 0;
	*at = b->data + (p->at - b->from);
	return b->len - (p->at - b->from);
}

/*
 * Copy more of the file, after the present copy or from p->at on: copying a page costs less than
 * the page fault of its first access in the mapping. Small files, and what cannot be copied, are
 * read from the mapping.
 */
static void copy_more(struct tap_perf *p)
{
	struct tap_perf_block *b = p->copied.newest;
	size_t room, left;
	ssize_t n;

	if (!b || b->len == TAP_PERF_BLOCK_BYTES || p->at < b->from || p->at - b->from > b->len) {
		b = p->copied.nr < MAX_COPIES ? tap_perf_blocks_add(&p->copied) : NULL;
		if (!b) {
			p->is_copied = false;
			return;
		}
		if (b->older)
			b->older->round = p->round;
		b->from = p->at;
	}
	room = TAP_PERF_BLOCK_BYTES - b->len;
	left = p->to - (b->from + b->len);
	room = room < COPY_BYTES ? room : COPY_BYTES;
	n = pread(p->fd, b->data + b->len, left < room ? left : room, (off_t)(b->from + b->len));
	if (n > 0)
		b->len += (size_t)n;
	else
		p->is_copied = false;
}

/* Return: 1 with the record at p->at, and p->at advanced; 0 at the end. */
static int next_record(struct tap_perf *p, struct record *rec)
{
	size_t left = p->to - p->at, found;
	const unsigned char *at;
	uint64_t more;

	if (!left)
		return 0;
	while (found = find_records(p, &at), !parse_head(p, at, found, rec)) {
		if (found == left) {
			break_off(p);
			p->at = p->to;
			return 0;
		}
		copy_more(p);
	}
	left -= TAP_PERF_HEAD_BYTES + rec->len;
	more = tap_perf_data_after(rec->type, bytes_of(p, rec));
	if (more > left) {
		break_off(p);
		more = left;
	}
	p->at = p->to - left + (size_t)more;
	return 1;
}

/* ---- parts */

static void enter_part(struct tap_perf *p, unsigned int i)
{
	const struct tap_perf_part *part = &p->parts[i];

	p->part = i;
	p->data = part->data;
	p->from = p->at = part->from;
	p->to = part->to;
	p->fd = part->fd;
	p->is_copied = p->fd >= 0 && p->to - p->from >= TAP_PERF_BLOCK_BYTES;
	p->part_max_ns = 0;
	p->part_is_broken = false;
	if (p->copied.newest) /* it is of another file: no position is in it */
		p->copied.newest->from = SIZE_MAX;
	if (p->zstd)
		ZSTD_DCtx_reset(p->zstd, ZSTD_reset_session_only);
}

static void end_part(struct tap_perf *p)
{
	struct tap_perf_block *last = p->unpacked.newest;

	if (last && last->parsed < last->len) {
		last->parsed = last->len;
		break_off(p);
	}
}

/* Read on in the next part, if there is one. */
static bool next_part(struct tap_perf *p)
{
	end_part(p);
	if (p->part + 1 >= p->nr_parts)
		return false;
	enter_part(p, p->part + 1);
	return true;
}

int tap_perf_append_part(struct tap_perf *p, struct tap_perf_part part, struct tap_err *err)
{
	if (tap_array_grow(&p->parts, p->nr_parts, &p->cap_parts, sizeof(part)))
		return tap_dat_nomem(err);
	p->parts[p->nr_parts++] = part;
	return 0;
}

/* ---- rounds */

/* Report losses that no later record follows. */
static int finish_file(struct tap_perf *p, struct tap_err *err)
{
	p->ended = true;
	p->ripe_ns = UINT64_MAX;
	if (p->cut)
		lose_from(p, p->max_ns);
	for (uint32_t i = 0; i < p->nr_cpus; i++) {
		const struct tap_perf_cpu *c = &p->cpus[i];
		uint64_t reported = c->counted ? reported_by_lost(p, i) : 0;
		int ret;

		if (c->counted <= reported)
			continue;
		ret = push_loss(p, (int)i - 1, seen_before(p, c), p->max_ns, c->counted - reported,
				err);
		if (ret)
			return ret;
	}
	/* a part may be broken before its first record with a time */
	if (p->broken_ns < p->first_ns && p->first_ns != UINT64_MAX)
		p->broken_ns = p->first_ns;
	return p->is_broken ? push_loss(p, -1, p->broken_ns, p->max_ns, 0, err) : 0;
}

int tap_perf_read_round(struct tap_perf *p, struct tap_err *err)
{
	const bool has_rounds = p->nr_parts == 1;
	struct record rec = { 0 };
	const unsigned char *at;
	bool at_end = false;
	size_t found;
	int ret = 0;

	/* all records up to the round before the last one were returned */
	tap_perf_blocks_let_go(&p->copied, p->round < 2 ? 0 : p->round - 1);
	tap_perf_blocks_let_go(&p->unpacked, p->round < 2 ? 0 : p->round - 1);
	tap_perf_blocks_let_go(&p->made.blocks, p->round < 2 ? 0 : p->round - 1);
	while (!ret && !at_end && !(has_rounds && rec.type == TAP_PERF_FINISHED_ROUND)) {
		found = find_records(p, &at);
		p->at += take_plain(p, at, found);
		if (!next_record(p, &rec))
			at_end = !next_part(p);
		else if (rec.type == TAP_PERF_COMPRESSED || rec.type == TAP_PERF_COMPRESSED2)
			ret = take_compressed(p, &rec, err);
		else
			ret = take_record(p, &rec, err);
	}
	if (ret)
		return ret;
	/*
	 * In each round perf empties all rings, one after another. So the next round may have
	 * records older than this round's newest one, but none older than the newest of the round
	 * before this one. The rounds of several threads say nothing about each other: their
	 * records are sorted as one round.
	 */
	p->queue.by_cpu = p->r->unmerged;
	p->ripe_ns = p->round_max_ns;
	p->round_max_ns = p->max_ns;
	p->round++;
	if (at_end)
		ret = finish_file(p, err);
	if (!ret && tap_perf_queue_order(&p->queue, p->ripe_ns))
		ret = tap_dat_nomem(err);
	return ret;
}

int tap_perf_read_front(struct tap_perf *p, struct tap_err *err)
{
	struct record rec;
	int ret = 0;

	tap_perf_start_over(p);
	while (!ret && next_record(p, &rec) && rec.type != PERF_RECORD_SAMPLE &&
	       rec.type != TAP_PERF_COMPRESSED && rec.type != TAP_PERF_COMPRESSED2)
		ret = take_record(p, &rec, err);
	tap_perf_start_over(p);
	return ret;
}

void tap_perf_start_over(struct tap_perf *p)
{
	tap_perf_queue_release(&p->queue);
	tap_perf_blocks_let_go_all(&p->copied);
	tap_perf_blocks_let_go_all(&p->unpacked);
	tap_perf_blocks_let_go_all(&p->made.blocks);
	if (p->nr_parts)
		enter_part(p, 0);
	free(p->cpus);
	p->cpus = NULL;
	p->nr_cpus = 0;
	p->round = 0;
	p->first_ns = UINT64_MAX;
	p->max_ns = p->round_max_ns = p->ripe_ns = p->last_ns = 0;
	p->broken_ns = UINT64_MAX;
	p->is_broken = p->ended = p->by_task = false;
}
