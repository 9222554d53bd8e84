// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/rings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

#define NO_SUB UINT64_MAX
/* byte of a sub-buffer's state that the reader clears; the program uses the rest */
#define TAKEN 0xffu
#define TYPE_PADDING 29u
#define POS_MAX (1ull << 62)
#define SLACK 24u /* bytes after the copy: heads are read whole, and copies are made by words */
/* A ring with more consecutive invalid sub-buffers is given up. */
#define MAX_BAD_SUBS 16u

static uint64_t sub_of(uint64_t pos)
{
	return pos & ~(uint64_t)(TAP_SUB_BYTES - 1);
}

static uint64_t index_of(const struct tap_user_reader *r, uint64_t pos)
{
	return (pos & (r->bytes - 1)) / TAP_SUB_BYTES;
}

/* Offsets in the area. */
static uint64_t sub_offset(const struct tap_user_reader *r, uint64_t pos)
{
	return r->subs + (pos & (r->bytes - 1));
}

static uint64_t state_offset(uint64_t index)
{
	return TAP_RING_STATES + index * sizeof(uint64_t);
}

/* Copy from the area, because the program may change it between two reads. */
static int get_bytes(const struct tap_user_reader *r, void *to, size_t bytes, uint64_t offset)
{
	if (!r->map)
		return tap_pread_all(r->fd, to, bytes, (off_t)(r->ring.offset + offset));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	memcpy(to, r->map + offset, bytes);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return 0;
}

/* Copy a part of a sub-buffer, from the ring or the backlog. */
static int get_sub(const struct tap_user_reader *r, void *to, size_t bytes, uint64_t pos)
{
	if (!tap_user_backlog_has(&r->backlog, pos))
		return get_bytes(r, to, bytes, sub_offset(r, pos));
	memcpy(to, tap_user_backlog_first(&r->backlog) + (pos & (TAP_SUB_BYTES - 1)), bytes);
	return 0;
}

static int read_head(const struct tap_user_reader *r, struct tap_ring_head *head)
{
	int ret = get_bytes(r, head, sizeof(*head), 0);

	return ret ? ret : head->head < POS_MAX ? 0 : -EINVAL;
}

/*
 * Distance of the writer from a sub-buffer's start at which it may have overwritten that
 * sub-buffer. A writer that overwrites fills the next sub-buffer before it moves head.
 */
static uint64_t lap_distance(const struct tap_user_reader *r)
{
	return r->discard ? r->bytes : r->bytes - TAP_SUB_BYTES;
}

/* Return the first sub-buffer that is still intact while the writer is at @head. */
static uint64_t first_whole(const struct tap_user_reader *r, uint64_t head)
{
	return head > lap_distance(r) ? sub_of(head - lap_distance(r) + TAP_SUB_BYTES - 1) : 0;
}

static int set_free(const struct tap_user_reader *r, uint64_t index)
{
	if (!r->map)
		return pwrite(r->fd, "", 1, (off_t)(r->ring.offset + state_offset(index))) == 1
			       ? 0
			       : -EIO;
	__atomic_store_n(r->map + state_offset(index), 0, __ATOMIC_RELEASE);
	return 0;
}

/* Return: the states, owned by the caller; NULL with *ret set. */
static uint64_t *read_states(const struct tap_user_reader *r, int *ret)
{
	size_t bytes = r->bytes / TAP_SUB_BYTES * sizeof(uint64_t);
	uint64_t *states = malloc(bytes);

	*ret = states ? get_bytes(r, states, bytes, state_offset(0)) : -ENOMEM;
	if (!*ret)
		return states;
	free(states);
	return NULL;
}

/*
 * Free the sub-buffers that were recorded earlier. The writer only takes free sub-buffers, so one
 * that was taken when the states were read is old, unless it was taken between the two reads of
 * head.
 */
static int free_old(struct tap_user_reader *r)
{
	uint64_t nr = r->bytes / TAP_SUB_BYTES, from = index_of(r, r->head), taken;
	struct tap_ring_head later;
	int ret;
	uint64_t *states = read_states(r, &ret);

	ret = ret ?: read_head(r, &later);
	if (!ret && later.head < r->head)
		ret = -EINVAL;
	taken = ret ? 0 : (later.head - sub_of(r->head) + TAP_SUB_BYTES - 1) / TAP_SUB_BYTES;
	for (uint64_t i = taken; i < nr && !ret; i++)
		if (states[(from + i) % nr] & TAKEN)
			ret = set_free(r, (from + i) % nr);
	free(states);
	return ret;
}

/*
 * Start after the sub-buffers that an earlier reader has drained. A ring that has wrapped must have
 * been overwritten, whatever its mode is now.
 */
static int find_oldest(struct tap_user_reader *r)
{
	bool discard = r->discard;
	int ret;
	uint64_t *states = read_states(r, &ret);

	r->discard &= r->head <= r->bytes;
	r->pos = first_whole(r, r->head);
	r->discard = discard;
	while (!ret && r->pos + TAP_SUB_BYTES <= r->head && !(states[index_of(r, r->pos)] & TAKEN))
		r->pos += TAP_SUB_BYTES;
	free(states);
	return ret;
}

static bool head_ok(const struct tap_user_ring *ring, const struct tap_ring_head *h)
{
	uint64_t states = TAP_RING_STATES + h->bytes / TAP_SUB_BYTES * sizeof(uint64_t);

	return h->bytes >= 1ull << TAP_RING_SHIFT_MIN && h->bytes <= 1ull << TAP_RING_SHIFT_MAX &&
	       !(h->bytes & (h->bytes - 1)) && h->bytes <= ring->size && h->subs_offset >= states &&
	       h->subs_offset <= ring->size - h->bytes;
}

/*
 * In an atomic ring the program does not know the number of events before a sub-buffer, because
 * some may just be being written. It counts for each sub-buffer how many events it held in earlier
 * rounds, when these are complete.
 */
static int count_by_sub(struct tap_user_reader *r)
{
	uint64_t nr = r->bytes / TAP_SUB_BYTES;

	r->sub_events = malloc(nr * sizeof(*r->sub_events));
	if (!r->sub_events)
		return -ENOMEM;
	for (uint64_t i = 0; i < nr; i++)
		r->sub_events[i] = r->counted ? 0 : UINT64_MAX;
	return 0;
}

/* Map the area, but only if the file cannot shrink, which would raise SIGBUS. */
static void map_area(struct tap_user_reader *r)
{
	const struct tap_user_ring *ring = &r->ring;
	int seals = fcntl(r->fd, F_GET_SEALS);
	struct stat st;
	void *p;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(r->fd, &st) ||
	    ring->size > (uint64_t)st.st_size || ring->offset > (uint64_t)st.st_size - ring->size)
		return;
	p = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, (off_t)ring->offset);
	r->map = p == MAP_FAILED ? NULL : p;
}

int tap_user_reader_init(struct tap_user_reader *r, int fd, const struct tap_user_ring *ring,
			 bool discard, enum tap_user_from from)
{
	struct tap_ring_head head;
	int ret;

	*r = (struct tap_user_reader){
		.fd = fd, .ring = *ring, .discard = discard, .loaded = NO_SUB
	};
	map_area(r);
	ret = read_head(r, &head);
	if (ret || !head_ok(ring, &head))
		return ret ? ret : -EINVAL;
	r->bytes = head.bytes;
	r->subs = head.subs_offset;
	r->head = head.head;
	if (from == TAP_USER_NOW) {
		r->lost = head.lost;
		/* begin at the sub-buffer's start, to count its events */
		r->skip_to = r->head;
		r->pos = sub_of(r->head);
	}
	ret = from == TAP_USER_NOW ? free_old(r) : find_oldest(r);
	r->counted = !r->pos || from == TAP_USER_ALL; /* .events starts at 0 */
	r->base = r->counted ? 0 : UINT64_MAX;
	if (!ret && ring->atomic)
		ret = count_by_sub(r);
	return ret;
}

void tap_user_reader_release(struct tap_user_reader *r)
{
	if (r->map)
		munmap(r->map, r->ring.size);
	r->map = NULL;
	free(r->copy);
	r->copy = NULL;
	free(r->sub_events);
	r->sub_events = NULL;
	if (r->pool)
		tap_user_backlog_release(&r->backlog, r->pool);
}

unsigned int tap_user_reader_fill_pct(const struct tap_user_reader *r)
{
	uint64_t from = r->backlog.to > r->pos ? r->backlog.to : r->pos;

	return r->head <= from ? 0 : (unsigned int)((r->head - from) * 100 / r->bytes);
}

int tap_user_reader_poll(struct tap_user_reader *r, bool dead)
{
	struct tap_ring_head head;
	int ret = read_head(r, &head);

	if (ret || head.head < r->head)
		return ret ? ret : -EINVAL;
	r->head = head.head;
	r->dead = dead;
	return 0;
}

/*
 * Return where the sub-buffer in the copy ends: at its end, or at the writer's position. In an
 * atomic ring the commit word is the number of complete bytes, which need not be contiguous.
 */
static uint32_t sub_limit(const struct tap_user_reader *r)
{
	if (r->head - r->loaded < TAP_SUB_BYTES)
		return (uint32_t)(r->head - r->loaded);
	return r->commit ? TAP_SUB_HEADER + r->commit : TAP_SUB_BYTES;
}

/*
 * Return true if records can be read in place: in a discarding ring undrained data is never
 * overwritten. In an atomic ring it is not possible, because records are completed one by one.
 */
static bool can_run(const struct tap_user_reader *r)
{
	return r->map && r->discard && !r->ring.atomic;
}

static int read_sub(const struct tap_user_reader *r, uint32_t from, uint32_t to)
{
	return get_sub(r, r->copy + from, to - from, r->loaded + from);
}

/* Check if the writer may have overwritten the data that was just copied. */
static int was_lapped(const struct tap_user_reader *r, bool *lapped)
{
	struct tap_ring_head now;
	int ret;

	if (r->dead || r->discard || tap_user_backlog_has(&r->backlog, r->loaded))
		return 0;
	ret = read_head(r, &now);
	*lapped = !ret && now.head > r->loaded && now.head - r->loaded > lap_distance(r);
	return ret;
}

static int read_commit(struct tap_user_reader *r)
{
	uint64_t commit;
	int ret = get_sub(r, &commit, sizeof(commit), r->loaded + 8);

	commit &= UINT32_MAX;
	if (!ret && commit <= TAP_SUB_BYTES - TAP_SUB_HEADER)
		r->commit = (uint32_t)commit;
	return ret;
}

/* Return up to where the records in the copy are complete, if their lengths are right. */
static uint32_t real_end(const struct tap_user_reader *r, uint32_t end)
{
	uint32_t at = r->to;
	struct tap_record_head h;

	while (at < end) {
		memcpy(&h, r->copy + at, sizeof(h));
		if ((h.stamp_low & 31) != 31 || h.length > end - at || h.length < 4 ||
		    h.length + sizeof(h) - 4 > end - at)
			return at;
		at += h.length + (uint32_t)sizeof(h) - 4;
	}
	return at;
}

/* Return where the record at pos ends, at most @end. */
static uint32_t record_end(const struct tap_user_reader *r, uint32_t end)
{
	uint32_t at = (uint32_t)(r->pos - r->loaded);
	struct tap_record_head h;

	if (end - at < sizeof(h) || get_sub(r, &h, sizeof(h), r->pos) ||
	    h.length > end - at - sizeof(h))
		return end;
	return at + (uint32_t)sizeof(h) + (h.length & ~7u);
}

/*
 * Copy more of the sub-buffer, if the copied part is used up: one record if the records after it
 * can be read in place (tap_user_reader_run()), else all.
 */
static int fill_copy(struct tap_user_reader *r, bool *lapped)
{
	uint32_t end;
	int ret = 0;

	if (r->head - r->loaded >= TAP_SUB_BYTES && !r->commit && !r->ring.atomic)
		ret = read_commit(r);
	end = sub_limit(r);
	if (ret || r->to >= end || r->pos < r->loaded + r->to)
		return ret;
	if (can_run(r))
		end = record_end(r, end);
	ret = read_sub(r, r->to, end);
	/*
	 * In an atomic ring a record is complete once its first word is written: only data read
	 * after that word is sure to be what the writer stored.
	 */
	if (!ret && r->ring.atomic && !r->dead) {
		end = real_end(r, end);
		ret = read_sub(r, r->to, end);
	}
	r->to = end;
	return ret ?: was_lapped(r, lapped);
}

/* Copy the complete sub-buffer at @sub. Return: false if its length is unknown or out of memory. */
static bool save_sub(struct tap_user_reader *r, uint64_t sub)
{
	const unsigned char *from = r->map + sub_offset(r, sub);
	uint64_t commit =
		__atomic_load_n((const uint64_t *)(from + 8), __ATOMIC_ACQUIRE) & UINT32_MAX;
	unsigned char *to;

	if (!commit || commit > TAP_SUB_BYTES - TAP_SUB_HEADER)
		return false;
	to = tap_user_backlog_room(&r->backlog, r->pool);
	if (!to)
		return false;
	memcpy(to, from, TAP_SUB_HEADER + commit);
	memcpy(to + 8, &commit, sizeof(commit)); /* the program may have changed it meanwhile */
	r->backlog.to = sub + TAP_SUB_BYTES;
	return !set_free(r, index_of(r, sub));
}

void tap_user_reader_save(struct tap_user_reader *r)
{
	if (!r->pool || !can_run(r) || r->dead)
		return;
	if (r->backlog.from == r->backlog.to)
		r->backlog.from = r->backlog.to = r->loaded == NO_SUB ? sub_of(r->pos) : r->loaded;
	while (r->head - r->backlog.to >= TAP_SUB_BYTES && r->head - r->backlog.to <= r->bytes &&
	       save_sub(r, r->backlog.to))
		;
}

static void punch_hole(const struct tap_user_reader *r, uint64_t from, uint64_t to)
{
	if (from < to)
		fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)(r->ring.offset + r->subs + from), (off_t)(to - from));
}

/*
 * The writer's sub-buffer is kept, because it continues the counts there. An atomic ring needs the
 * counts of all of its sub-buffers, so nothing is freed.
 */
void tap_user_reader_give_back(const struct tap_user_reader *r)
{
	struct tap_ring_head head;
	uint64_t last;

	if (!can_run(r) || read_head(r, &head) || !head.head)
		return;
	last = index_of(r, head.head - 1) * TAP_SUB_BYTES;
	punch_hole(r, 0, last);
	punch_hole(r, last + TAP_SUB_BYTES, r->bytes);
}

static void forget_sub(struct tap_user_reader *r)
{
	r->loaded = NO_SUB;
	r->commit = 0;
}

/* Copy data of the sub-buffer at pos, which the writer has taken. */
static int load_sub(struct tap_user_reader *r, bool *lapped)
{
	if (!r->copy)
		r->copy = calloc(1, TAP_SUB_BYTES + SLACK);
	if (!r->copy)
		return -ENOMEM;
	if (r->loaded == NO_SUB) {
		r->loaded = sub_of(r->pos);
		r->to = TAP_SUB_HEADER;
		if (r->pos == r->loaded)
			r->pos += TAP_SUB_HEADER;
	}
	return fill_copy(r, lapped);
}

enum verdict { REAL, NOT_YET, EMPTY, BAD };

/*
 * Check a sub-buffer's first record, whose count of events must not decrease. In an atomic ring it
 * may, because the count lacks records that were not complete when the sub-buffer was taken.
 */
static bool info_ok(const struct tap_user_reader *r, const struct tap_user_item *item)
{
	struct tap_sub_info info;

	if (item->type != TAP_ID_SUB || item->len < sizeof(info))
		return false;
	memcpy(&info, item->payload, sizeof(info));
	return !r->counted || r->ring.atomic || info.events >= r->events;
}

/* Parse the record at pos, if there is one. Its payload must be a multiple of 8 bytes. */
static enum verdict parse_record(const struct tap_user_reader *r, struct tap_user_item *item)
{
	uint32_t at = (uint32_t)(r->pos - r->loaded), left = r->to > at ? r->to - at : 0;
	struct tap_record_head h;

	memcpy(&h, r->copy + at, sizeof(h));
	if (!h.stamp_low)
		return NOT_YET;
	if (h.stamp_low == TYPE_PADDING && r->ring.atomic && r->head - r->loaded >= TAP_SUB_BYTES)
		return EMPTY;
	if (left < sizeof(h) + 8 || (h.stamp_low & 31) != 31 || h.word || h.length < 12 ||
	    h.length % 8 != 4 || h.length - 4 > left - sizeof(h) || h.length - 4 > TAP_RECORD_MAX)
		return BAD;
	*item = (struct tap_user_item){
		.kind = TAP_USER_RECORD,
		.stamp = (uint64_t)h.stamp_high << 27 | h.stamp_low >> 5,
		.payload = r->copy + at + sizeof(h),
		.len = h.length - 4,
	};
	memcpy(&item->type, item->payload, sizeof(item->type));
	/* data after the last record may be left from an earlier round */
	if (!r->ring.atomic && item->stamp < r->last_stamp)
		return BAD;
	if (at != TAP_SUB_HEADER)
		return item->type == TAP_ID_SUB ? BAD : REAL;
	return info_ok(r, item) ? REAL : BAD;
}

/* Add what is missing between two stamps to a loss, which may be empty. */
static void add_loss(struct tap_user_item *loss, uint64_t count, uint64_t first, uint64_t last)
{
	if (loss->kind != TAP_USER_LOSS)
		*loss = (struct tap_user_item){ .kind = TAP_USER_LOSS,
						.first = first,
						.stamp = last };
	loss->count += count;
	if (first < loss->first)
		loss->first = first;
	if (last > loss->stamp)
		loss->stamp = last;
}

/*
 * Return the number of events missing before the sub-buffer whose first record says @events, and
 * count from there on.
 */
static uint64_t count_missing(struct tap_user_reader *r, uint64_t events)
{
	uint64_t *known = r->ring.atomic ? &r->sub_events[index_of(r, r->loaded)] : &r->events;
	bool is_known = r->ring.atomic ? *known != UINT64_MAX : r->counted;
	uint64_t missing = is_known && events > *known ? events - *known : 0;

	*known = events;
	r->missing += missing;
	if (!r->ring.atomic && r->base == UINT64_MAX)
		r->base = events;
	return missing;
}

/*
 * Process the first record of a sub-buffer: @item becomes the loss that it reports, or
 * TAP_USER_NOTHING.
 */
static void take_info(struct tap_user_reader *r, struct tap_user_item *item)
{
	uint64_t stamp = item->stamp, missing;
	struct tap_sub_info info;

	memcpy(&info, item->payload, sizeof(info));
	missing = count_missing(r, info.events);
	*item = (struct tap_user_item){ 0 };
	r->pair = (struct tap_user_pair){ stamp, info.mono_ns };
	/* in an atomic ring the number of events skipped in other sub-buffers is unknown */
	if (r->cut && r->ring.atomic)
		add_loss(item, 0, r->last_stamp, stamp);
	else if (missing)
		add_loss(item, missing, r->last_stamp, stamp);
	/* if reading began in the middle, earlier losses were reported before */
	if (!r->counted && !r->skip_to)
		r->lost = info.lost;
	if (info.lost > r->lost) {
		add_loss(item, info.lost - r->lost, info.lost_first, info.lost_last);
		r->lost = info.lost;
	}
	r->last_stamp = stamp;
	r->counted = true;
	r->cut = false;
	r->bad_subs = 0;
}

/* Finish the sub-buffer and free it. Return: 1: go on; -errno. */
static int end_sub(struct tap_user_reader *r)
{
	uint64_t sub = r->loaded;

	r->pos = sub + TAP_SUB_BYTES;
	forget_sub(r);
	if (tap_user_backlog_has(&r->backlog, sub)) {
		tap_user_backlog_pop(&r->backlog, r->pool);
		return 1;
	}
	return r->dead ? 1 : set_free(r, index_of(r, sub)) ?: 1;
}

/*
 * Skip the rest of the sub-buffer, which is invalid. The number of skipped events follows from the
 * next sub-buffer's count, if there is one. Return: as take_step().
 */
static int pass_over(struct tap_user_reader *r, bool complete)
{
	r->cut = true;
	if (complete)
		return ++r->bad_subs > MAX_BAD_SUBS ? -EINVAL : end_sub(r);
	r->to = (uint32_t)(r->head - r->loaded);
	r->pos = r->head;
	return 0;
}

/*
 * Process a record that was at @pos. Return: 1: go on, the caller does not get it; 0: @item is an
 * item.
 */
static int take_record(struct tap_user_reader *r, struct tap_user_item *item, uint64_t pos)
{
	if (item->type == TAP_ID_SUB) {
		take_info(r, item);
		return !item->kind;
	}
	++*(r->ring.atomic ? &r->sub_events[index_of(r, pos)] : &r->events);
	r->last_stamp = item->stamp;
	r->skipped += pos < r->skip_to;
	return pos < r->skip_to;
}

/*
 * One step of tap_user_reader_next(), with @item empty. Return: 1: go on; 0: @item is the result;
 * -errno.
 */
static int take_step(struct tap_user_reader *r, struct tap_user_item *item)
{
	uint64_t sub = r->loaded == NO_SUB ? sub_of(r->pos) : r->loaded;
	bool lapped = r->head - sub > lap_distance(r) && !tap_user_backlog_has(&r->backlog, sub),
	     complete = r->head - sub >= TAP_SUB_BYTES;
	enum verdict verdict;
	uint64_t pos;
	int ret = lapped ? 0 : load_sub(r, &lapped);

	if (ret)
		return ret;
	if (lapped) {
		/* the writer may be further than at the last poll */
		r->pos = first_whole(r, r->head);
		r->pos = r->pos > sub ? r->pos : sub + TAP_SUB_BYTES;
		r->cut = true;
		forget_sub(r);
		return 1;
	}
	if (r->pos - sub >= sub_limit(r))
		return complete ? end_sub(r) : 0;
	verdict = parse_record(r, item);
	if (verdict == NOT_YET && r->ring.atomic && !r->dead)
		return 0;
	if (verdict == EMPTY)
		return end_sub(r);
	if (verdict != REAL) {
		*item = (struct tap_user_item){ 0 };
		return pass_over(r, complete);
	}
	pos = r->pos;
	r->pos += sizeof(struct tap_record_head) + item->len;
	return take_record(r, item, pos);
}

int tap_user_reader_next(struct tap_user_reader *r, struct tap_user_item *item)
{
	int ret;

	do {
		*item = (struct tap_user_item){ 0 };
		ret = r->pos < r->head ? take_step(r, item) : 0;
	} while (ret == 1);
	return ret;
}

const unsigned char *tap_user_reader_run(const struct tap_user_reader *r, const unsigned char **end)
{
	const unsigned char *sub;

	if (!can_run(r) || r->loaded == NO_SUB || r->pos < r->skip_to ||
	    (r->head - r->loaded >= TAP_SUB_BYTES && !r->commit))
		return NULL;
	sub = tap_user_backlog_has(&r->backlog, r->loaded) ? tap_user_backlog_first(&r->backlog)
							   : r->map + sub_offset(r, r->loaded);
	*end = sub + sub_limit(r);
	return r->pos - r->loaded < sub_limit(r) ? sub + (r->pos - r->loaded) : NULL;
}

void tap_user_reader_pass(struct tap_user_reader *r, uint32_t bytes, uint32_t events,
			  uint64_t stamp)
{
	r->pos += bytes;
	r->events += events;
	r->last_stamp = stamp;
	if (r->to < r->pos - r->loaded)
		r->to = (uint32_t)(r->pos - r->loaded);
}

int tap_user_reader_rest(struct tap_user_reader *r, struct tap_user_item *item)
{
	struct tap_ring_head head;
	int ret = read_head(r, &head);

	*item = (struct tap_user_item){ 0 };
	if (ret)
		return ret;
	if (r->cut)
		add_loss(item, 0, r->last_stamp, r->last_stamp);
	if (head.lost > r->lost)
		add_loss(item, head.lost - r->lost, head.lost_first, head.lost_last);
	if (r->cut) /* because the total is unknown then */
		item->count = 0;
	r->cut = false;
	r->lost = head.lost > r->lost ? head.lost : r->lost;
	return 0;
}

/* Read the start of the sub-buffer at @sub. Return: false if it has no valid first record. */
static bool get_start(const struct tap_user_reader *r, uint64_t sub, uint64_t *commit,
		      struct tap_sub_info *info)
{
	const uint64_t at = sub_offset(r, sub);

	return !get_bytes(r, commit, sizeof(*commit), at + 8) &&
	       !get_bytes(r, info, sizeof(*info),
			  at + TAP_SUB_HEADER + sizeof(struct tap_record_head)) &&
	       info->type == TAP_ID_SUB;
}

/*
 * Count the events in a ring written in order. A thread that was stopped before it moved head has
 * counted a record that does not exist (tracepoint/ring.c).
 */
static bool count_in_order(const struct tap_user_reader *r, uint64_t *events)
{
	uint64_t used = r->head % TAP_SUB_BYTES, commit;
	struct tap_sub_info info;

	*events = 0;
	if (!r->head)
		return true;
	if (!get_start(r, sub_of(r->head - 1), &commit, &info))
		return false;
	*events =
		info.events + (commit >> 32) - (used && (uint32_t)commit != used - TAP_SUB_HEADER);
	return true;
}

/*
 * Count the events in an atomic ring, whose sub-buffers each count their own. A thread that was
 * killed may have written a record without counting it.
 */
static void count_by_subs(const struct tap_user_reader *r, uint64_t *events)
{
	uint64_t commit, end = r->head < r->bytes ? r->head : r->bytes;
	struct tap_sub_info info;

	*events = 0;
	for (uint64_t sub = 0; sub < end; sub += TAP_SUB_BYTES)
		if (get_start(r, sub, &commit, &info))
			*events += info.events + (commit >> 32);
}

bool tap_user_reader_count(const struct tap_user_reader *r, uint64_t *events)
{
	struct tap_ring_head now;
	uint64_t all;

	if (r->cut || r->pos != r->head || (r->base == UINT64_MAX && r->head) ||
	    read_head(r, &now) || now.head != r->head)
		return false;
	if (!r->ring.atomic && !count_in_order(r, &all))
		return false;
	if (r->ring.atomic)
		count_by_subs(r, &all);
	/* the program's counts may be wrong */
	*events = r->base != UINT64_MAX && all >= r->base + r->skipped + r->missing
			  ? all - r->base - r->skipped - r->missing
			  : 0;
	return true;
}
