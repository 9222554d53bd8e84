// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/held_spool.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/thread.h"

/*
 * New sub-buffers must reach the folder within 100 ms. Most of that is left to the recorder, which
 * sleeps up to 30 ms.
 */
#define LOOK_NS 10000000
/*
 * Bytes written at once. Lanes that have less when the folder starts are written first; that
 * includes the lane of the mark.
 */
#define BLOCK_BYTES (64u << 10)

enum state {
	FREE,
	GROWS,
	ENDS,
	GOES,
	LEFT, /* the thread no longer uses it */
};

/* The written parts of a lane, in byte positions of the lane. */
struct part {
	uint64_t base; /* lane position at which the page file starts */
	uint64_t from, to; /* [from, to): written, or freed before it could be */
	uint64_t end; /* write up to here: the folder's head has the formats of this data */
};

struct folder {
	_Atomic enum state state;
	char file[PATH_MAX], *meta; /* .meta: owned */
	uint64_t from_ns;
	sem_t left;
	_Atomic bool has_failed;
	struct tap_err err;
	/* members that only the thread uses */
	struct tap_spool *spool; /* NULL: not created yet, or failed */
	bool is_given_up, has_ended;
	unsigned int nr_heads; /* number of the recorder's head that was copied last */
	struct part *parts; /* one per lane, in the lanes' order */
	unsigned int nr_parts, cap_parts;
};

struct tap_held_spool {
	const struct tap_spool *spool;
	const struct tap_page_writer *writer;
	const struct tap_held *held;
	struct folder folders[TAP_HELD_SPOOL_FOLDERS];
	pthread_t thread;
	pid_t tid;
	sem_t go, started;
	_Atomic bool is_over;
	unsigned char *block; /* TAP_HELD_SLOT bytes */
	uint64_t rested_ns;
};

/* ---- the writing thread ---- */

static void release_folder(struct folder *f)
{
	tap_spool_free(f->spool);
	free(f->meta);
	free(f->parts);
	f->spool = NULL;
	f->meta = NULL;
	f->parts = NULL;
	f->nr_parts = f->cap_parts = 0;
}

static void give_up(struct folder *f, const struct tap_err *why)
{
	if (f->spool)
		tap_spool_remove(f->spool);
	tap_spool_free(f->spool);
	f->spool = NULL;
	f->is_given_up = true;
	f->err = *why;
	f->has_failed = true;
}

/* Add a part for a new lane. Return: 0; -ENOMEM. */
static int add_part(const struct tap_held_spool *h, struct folder *f,
		    const struct tap_held_lane *lane)
{
	uint64_t from, to;

	if (tap_array_grow(&f->parts, f->nr_parts, &f->cap_parts, sizeof(*f->parts)))
		return -ENOMEM;
	tap_held_since(h->held, lane, f->from_ns, &from, &to);
	f->parts[f->nr_parts].base = from;
	from = to - from < BLOCK_BYTES ? from : to;
	f->parts[f->nr_parts].from = f->parts[f->nr_parts].to = from;
	f->nr_parts++;
	return 0;
}

/* Note the present end of each lane, and add parts for new lanes. */
static int note_ends(const struct tap_held_spool *h, struct folder *f, struct tap_err *err)
{
	unsigned int i = 0;

	for (const struct tap_held_lane *lane = tap_held_lanes(h->held); lane;
	     lane = lane->next, i++) {
		if (i == f->nr_parts && add_part(h, f, lane))
			return tap_err_nomem(err);
		f->parts[i].end = atomic_load_explicit(&lane->end, memory_order_acquire);
	}
	return 0;
}

/*
 * Copy the head that has the formats of everything up to each part's .end. Return: 1: it is in the
 * folder; 0: the recorder has not written it yet; -errno.
 */
static int bring_head(const struct tap_held_spool *h, struct folder *f, struct tap_err *err)
{
	unsigned int nr = tap_page_writer_heads(h->writer);
	int ret;

	if (f->spool && f->nr_heads == nr)
		return 1;
	if (!tap_page_writer_has_head(h->writer, nr))
		return 0;
	ret = f->spool ? tap_spool_copy_head(f->spool, h->spool, err)
		       : tap_spool_create_like(f->file, h->spool, f->meta, &f->spool, err);
	f->nr_heads = nr;
	return ret ?: 1;
}

/* Return the size of a block: a fraction of a slot, whole sub-buffers. */
static size_t block_bytes(const struct tap_held_lane *lane)
{
	return lane->page_size > BLOCK_BYTES ? lane->page_size : BLOCK_BYTES;
}

/*
 * Write the lane's data [@at, @end), at most to the end of a block. Return: the number of bytes; 0:
 * they were freed; -errno.
 */
static ssize_t write_pages(const struct tap_held_spool *h, const struct folder *f,
			   const struct tap_held_lane *lane, const struct part *p, uint64_t at,
			   uint64_t end, struct tap_err *err)
{
	size_t left = block_bytes(lane) - at % block_bytes(lane);
	size_t len = tap_held_read(h->held, lane, at, h->block,
				   end - at < left ? (size_t)(end - at) : left);
	int ret = len ? tap_spool_write_lane(f->spool, h->spool, lane, h->block, len, at - p->base,
					     err)
		      : 0;

	return ret ?: (ssize_t)len;
}

/*
 * Write up to one block of new data per lane. Return: the number of lanes that have more; -errno.
 */
static int write_new(const struct tap_held_spool *h, struct folder *f, struct tap_err *err)
{
	const struct tap_held_lane *lane = tap_held_lanes(h->held);
	int nr_left = 0;

	for (unsigned int i = 0; i < f->nr_parts; i++, lane = lane->next) {
		struct part *p = &f->parts[i];
		ssize_t len = p->to < p->end ? write_pages(h, f, lane, p, p->to, p->end, err) : 0;

		if (len < 0)
			return (int)len;
		if (!len && p->to < p->end) /* freed: the page file has empty sub-buffers there */
			len = (ssize_t)(block_bytes(lane) - p->to % block_bytes(lane));
		p->to = p->to + (uint64_t)len < p->end ? p->to + (uint64_t)len : p->end;
		nr_left += p->to < p->end;
	}
	return nr_left;
}

/*
 * Return the lane whose last unwritten old sub-buffer is the newest of all. NULL: all were written
 * or freed.
 */
static const struct tap_held_lane *find_newest(const struct tap_held_spool *h, struct folder *f,
					       struct part **newest)
{
	const struct tap_held_lane *lane = tap_held_lanes(h->held), *found = NULL;
	uint64_t stamp, last = 0;

	for (unsigned int i = 0; i < f->nr_parts; i++, lane = lane->next) {
		struct part *p = &f->parts[i];

		if (p->from == p->base)
			continue;
		if (!tap_held_read(h->held, lane, p->from - lane->page_size, &stamp,
				   sizeof(stamp))) {
			p->from = p->base;
			continue;
		}
		if (found && stamp < last)
			continue;
		found = lane;
		*newest = p;
		last = stamp;
	}
	return found;
}

/* Write one block of old data, the newest first. Return: 1; 0: all is written; -errno. */
static int write_old(const struct tap_held_spool *h, struct folder *f, struct tap_err *err)
{
	struct part *p;
	const struct tap_held_lane *lane = find_newest(h, f, &p);
	ssize_t len;
	uint64_t at;

	if (!lane)
		return 0;
	at = (p->from - 1) / block_bytes(lane) * block_bytes(lane);
	at = at > p->base ? at : p->base;
	len = write_pages(h, f, lane, p, at, p->from, err);
	p->from = len ? at : p->base;
	return len < 0 ? (int)len : 1;
}

/* Write what is due in a folder. Return: true if more can be written at once. */
static bool grow_folder(const struct tap_held_spool *h, struct folder *f)
{
	bool is_last = f->state == ENDS;
	struct tap_err err;
	int ret = f->has_ended ? 0 : note_ends(h, f, &err), old;

	f->has_ended |= is_last;
	ret = ret ?: bring_head(h, f, &err);
	if (ret > 0) {
		ret = write_new(h, f, &err);
		old = ret < 0 ? ret : write_old(h, f, &err);
		ret = old < 0 ? old : ret + old;
	}
	if (ret < 0)
		give_up(f, &err);
	return ret > 0;
}

static void *run_writer(void *arg)
{
	struct tap_held_spool *h = arg;

	h->tid = gettid();
	sem_post(&h->started);
	while (!h->is_over) {
		bool is_used = false, is_busy = false;

		for (struct folder *f = h->folders; f < h->folders + TAP_HELD_SPOOL_FOLDERS; f++) {
			enum state state = f->state;

			is_used |= state == GROWS || state == ENDS;
			if (state == GOES) {
				f->state = LEFT;
				sem_post(&f->left);
			} else if ((state == GROWS || state == ENDS) && !f->is_given_up) {
				is_busy |= grow_folder(h, f);
			}
		}
		if (is_busy)
			tap_thread_rest(&h->rested_ns);
		else if (is_used)
			tap_thread_sleep(LOOK_NS, &h->rested_ns);
		else
			tap_sem_wait(&h->go);
	}
	return NULL;
}

/* ---- called by other threads ---- */

int tap_held_spool_new(const struct tap_spool *spool, const struct tap_page_writer *writer,
		       struct tap_held_spool **out, struct tap_err *err)
{
	struct tap_held_spool *h = calloc(1, sizeof(*h));
	int ret = -ENOMEM;

	*out = NULL;
	if (!h)
		return tap_err_set(err, ret, "out of memory");
	h->spool = spool;
	h->writer = writer;
	h->held = tap_spool_held(spool);
	h->block = calloc(1, TAP_HELD_SLOT);
	sem_init(&h->go, 0, 0);
	sem_init(&h->started, 0, 0);
	for (unsigned int i = 0; i < TAP_HELD_SPOOL_FOLDERS; i++)
		sem_init(&h->folders[i].left, 0, 0);
	if (h->block)
		ret = tap_thread_start(&h->thread, run_writer, h);
	if (ret) {
		free(h->block);
		free(h);
		errno = -ret;
		return tap_err_set(
			err, ret,
			"cannot start the thread that writes the flight recorder's events: %m");
	}
	tap_sem_wait(&h->started);
	*out = h;
	return 0;
}

void tap_held_spool_free(struct tap_held_spool *h)
{
	if (!h)
		return;
	h->is_over = true;
	sem_post(&h->go);
	pthread_join(h->thread, NULL);
	for (unsigned int i = 0; i < TAP_HELD_SPOOL_FOLDERS; i++) {
		release_folder(&h->folders[i]);
		sem_destroy(&h->folders[i].left);
	}
	sem_destroy(&h->go);
	sem_destroy(&h->started);
	free(h->block);
	free(h);
}

pid_t tap_held_spool_tid(const struct tap_held_spool *h)
{
	return h->tid;
}

unsigned int tap_held_spool_begin(struct tap_held_spool *h, const char *file, uint64_t from_ns,
				  char *meta)
{
	unsigned int i = 0;
	struct folder *f;

	while (i < TAP_HELD_SPOOL_FOLDERS && h->folders[i].state != FREE)
		i++;
	assert(i < TAP_HELD_SPOOL_FOLDERS);
	f = &h->folders[i];
	snprintf(f->file, sizeof(f->file), "%s", file);
	f->meta = meta;
	f->from_ns = from_ns;
	f->is_given_up = f->has_ended = false;
	f->has_failed = false;
	f->state = GROWS;
	sem_post(&h->go);
	return i;
}

void tap_held_spool_end(struct tap_held_spool *h, unsigned int folder)
{
	h->folders[folder].state = ENDS;
}

/*
 * Runs in the caller's thread: the writing thread may be busy with the next condition's events, and
 * freeing many pages of the page cache takes long.
 */
void tap_held_spool_remove(struct tap_held_spool *h, unsigned int folder)
{
	struct folder *f = &h->folders[folder];

	f->state = GOES;
	sem_post(&h->go);
	tap_sem_wait(&f->left);
	if (f->spool)
		tap_spool_remove(f->spool);
	release_folder(f);
	f->state = FREE;
}

bool tap_held_spool_failed(struct tap_held_spool *h, unsigned int folder, struct tap_err *err)
{
	struct folder *f = &h->folders[folder];

	if (!atomic_exchange(&f->has_failed, false))
		return false;
	*err = f->err;
	return true;
}
