// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/page_writer.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/thread.h"

static_assert(TAP_BLOCK_BYTES == TAP_HELD_SLOT, "a slot is a block");

#define SPARE_BLOCKS 16u /* written blocks kept for reuse in the next burst */

enum job_kind { PAGES, PIPE, HEAD, META, CALL, WAIT, END };

struct job {
	enum job_kind kind;
	unsigned int buffer, cpu;
	int pipe;
	char *data; /* owned */
	size_t len;
	int (*call)(struct tap_spool *spool, void *ctx, uint64_t arg, struct tap_err *err);
	void *ctx;
	uint64_t arg;
};

/*
 * Two rings, each with one producer and one consumer: jobs to the thread, and written blocks back.
 * So the draining thread never waits for a lock whose holder was preempted.
 */
struct tap_page_writer {
	struct tap_spool *spool;
	bool is_held; /* sub-buffers stay in memory */
	struct tap_spool *copy; /* also gets all sub-buffers and heads; may be NULL */
	pthread_t thread;
	pid_t tid;
	struct job jobs[TAP_WRITER_BLOCKS];
	unsigned int nr_put;
	_Atomic unsigned int nr_heads, nr_heads_set;
	_Atomic unsigned int nr_done;
	uint64_t bytes_put; /* bytes of sub-buffers handed over */
	_Atomic uint64_t bytes_done;
	sem_t todo, room, reached;
	void *spare[SPARE_BLOCKS];
	_Atomic unsigned int nr_returned, nr_reused;
	struct tap_err failed; /* written once, before .has_failed */
	_Atomic bool is_failing, has_failed, in_a_hurry;
	uint64_t rested_ns;
};

/* ---- the writing thread ---- */

static void give_back(struct tap_page_writer *w, void *block)
{
	unsigned int nr = atomic_load_explicit(&w->nr_returned, memory_order_relaxed);

	if (nr - atomic_load_explicit(&w->nr_reused, memory_order_acquire) == SPARE_BLOCKS) {
		free(block);
		return;
	}
	w->spare[nr % SPARE_BLOCKS] = block;
	atomic_store_explicit(&w->nr_returned, nr + 1, memory_order_release);
}

static int try_job(struct tap_page_writer *w, const struct job *job, struct tap_err *err)
{
	int ret;

	switch (job->kind) {
	case PAGES:
		return tap_spool_write(w->spool, job->buffer, job->cpu, job->data, job->len, err);
	case PIPE:
		return tap_spool_splice(w->spool, job->buffer, job->cpu, job->pipe, job->len, err);
	case HEAD:
		ret = tap_spool_set_head(w->spool, job->data, job->len, err);
		if (w->copy)
			ret = ret ?: tap_spool_set_head(w->copy, job->data, job->len, err);
		w->nr_heads_set++;
		return ret;
	case META:
		return tap_spool_set_meta(w->spool, job->data, false, err);
	case CALL:
		return job->call(w->spool, job->ctx, job->arg, err);
	case WAIT:
		sem_post(&w->reached);
		return 0;
	case END:
		return 0;
	}
	return 0;
}

static void do_job(struct tap_page_writer *w, const struct job *job)
{
	struct tap_err err;

	if (!try_job(w, job, &err) || atomic_exchange(&w->is_failing, true))
		return;
	w->failed = err;
	w->has_failed = true;
}

static void *run_writer(void *arg)
{
	struct tap_page_writer *w = arg;

	w->tid = gettid();
	sem_post(&w->reached);
	for (unsigned int nr = 0;; nr++) {
		const struct job *job = &w->jobs[nr % TAP_WRITER_BLOCKS];
		enum job_kind kind;

		tap_sem_wait(&w->todo);
		kind = job->kind;
		do_job(w, job);
		if (kind == PAGES || kind == PIPE)
			w->bytes_done += job->len;
		if (kind == PAGES)
			give_back(w, job->data);
		else
			free(job->data);
		atomic_store_explicit(&w->nr_done, nr + 1, memory_order_release);
		sem_post(&w->room);
		if (kind == END)
			return NULL;
		if (!w->in_a_hurry)
			tap_thread_rest(&w->rested_ns);
	}
}

/* ---- called by the draining thread ---- */

unsigned char *tap_page_writer_block(void)
{
	return malloc(TAP_BLOCK_BYTES + 8);
}

int tap_page_writer_new(struct tap_spool *spool, struct tap_page_writer **out, struct tap_err *err)
{
	struct tap_page_writer *w = calloc(1, sizeof(*w));
	int ret = -ENOMEM;

	*out = NULL;
	if (!w)
		return tap_err_set(err, ret, "out of memory");
	w->spool = spool;
	w->is_held = tap_spool_held(spool);
	sem_init(&w->todo, 0, 0);
	sem_init(&w->room, 0, TAP_WRITER_BLOCKS);
	sem_init(&w->reached, 0, 0);
	/* one block is always here or queued, so a caller that waits gets one */
	w->spare[0] = tap_page_writer_block();
	w->nr_returned = 1;
	if (w->spare[0])
		ret = tap_thread_start(&w->thread, run_writer, w);
	if (ret) {
		free(w->spare[0]);
		free(w);
		errno = -ret;
		return tap_err_set(err, ret,
				   "cannot start the thread that writes the recording: %m");
	}
	tap_sem_wait(&w->reached);
	*out = w;
	return 0;
}

static unsigned int under_way(const struct tap_page_writer *w)
{
	return w->nr_put - atomic_load_explicit(&w->nr_done, memory_order_acquire);
}

static void put_job(struct tap_page_writer *w, const struct job *job)
{
	tap_sem_wait(&w->room);
	if (job->kind == PAGES || job->kind == PIPE)
		w->bytes_put += job->len;
	w->jobs[w->nr_put++ % TAP_WRITER_BLOCKS] = *job;
	sem_post(&w->todo);
}

int tap_page_writer_check(const struct tap_page_writer *w, struct tap_err *err)
{
	return w->has_failed ? tap_err_set(err, w->failed.code, "%s", w->failed.text) : 0;
}

void tap_page_writer_wait(struct tap_page_writer *w)
{
	w->in_a_hurry = true;
	put_job(w, &(struct job){ .kind = WAIT });
	tap_sem_wait(&w->reached);
	w->in_a_hurry = false;
}

void tap_page_writer_free(struct tap_page_writer *w)
{
	if (!w)
		return;
	w->in_a_hurry = true;
	put_job(w, &(struct job){ .kind = END });
	pthread_join(w->thread, NULL);
	while (w->nr_reused != w->nr_returned)
		free(w->spare[w->nr_reused++ % SPARE_BLOCKS]);
	sem_destroy(&w->todo);
	sem_destroy(&w->room);
	sem_destroy(&w->reached);
	free(w);
}

pid_t tap_page_writer_tid(const struct tap_page_writer *w)
{
	return w->tid;
}

int tap_page_writer_add_buffer(struct tap_page_writer *w, const char *name, const char *clock,
			       uint32_t page_size, unsigned int nr_cpus, struct tap_err *err)
{
	int index = tap_spool_add_buffer(w->spool, name, clock, page_size, nr_cpus, err);
	int same = w->copy && index >= 0
			   ? tap_spool_add_buffer(w->copy, name, clock, page_size, nr_cpus, err)
			   : index;

	return same < 0 ? same : index;
}

void tap_page_writer_copy_to(struct tap_page_writer *w, struct tap_spool *copy)
{
	w->copy = copy;
}

/* Return a written block, or NULL. */
static unsigned char *reuse_block(struct tap_page_writer *w)
{
	unsigned int nr = atomic_load_explicit(&w->nr_reused, memory_order_relaxed);
	unsigned char *block;

	if (nr == atomic_load_explicit(&w->nr_returned, memory_order_acquire))
		return NULL;
	block = w->spare[nr % SPARE_BLOCKS];
	atomic_store_explicit(&w->nr_reused, nr + 1, memory_order_release);
	return block;
}

static unsigned char *next_block(struct tap_page_writer *w)
{
	unsigned char *block = reuse_block(w);

	block = block ? block : tap_page_writer_block();
	if (block)
		return block;
	tap_page_writer_wait(w);
	return reuse_block(w);
}

void tap_page_writer_put(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			 unsigned char **block, size_t len, size_t keep)
{
	const struct job job = {
		.kind = PAGES, .buffer = buffer, .cpu = cpu, .data = (char *)*block, .len = len
	};
	unsigned char *next = *block;

	if (w->copy)
		tap_spool_write(w->copy, buffer, cpu, *block, len, NULL);
	if (w->is_held)
		do_job(w, &job);
	else
		next = next_block(w);
	memcpy(next, *block + len, keep);
	if (!w->is_held)
		put_job(w, &job);
	*block = next;
}

unsigned char *tap_page_writer_slot(struct tap_page_writer *w, unsigned int buffer,
				    unsigned int cpu, size_t *used)
{
	struct tap_held_lane *lane = tap_spool_lane(w->spool, buffer, cpu);

	return lane ? tap_held_slot(tap_spool_held(w->spool), lane, used) : NULL;
}

void tap_page_writer_add(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			 size_t len)
{
	tap_spool_add(w->spool, tap_spool_lane(w->spool, buffer, cpu), len);
}

/* Data for two spools must first be read into memory. */
static void put_from_pipe(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			  int pipe, size_t len)
{
	unsigned char *block = next_block(w);

	for (size_t part; len; len -= part) {
		part = len < TAP_BLOCK_BYTES ? len : TAP_BLOCK_BYTES;
		for (size_t at = 0; at < part;) {
			ssize_t n = read(pipe, block + at, part - at);

			if (n <= 0 && errno != EINTR)
				break;
			at += n > 0 ? (size_t)n : 0;
		}
		tap_page_writer_put(w, buffer, cpu, &block, part, 0);
	}
	free(block);
}

void tap_page_writer_put_pipe(struct tap_page_writer *w, unsigned int buffer, unsigned int cpu,
			      int pipe, size_t len)
{
	const struct job job = {
		.kind = PIPE, .buffer = buffer, .cpu = cpu, .pipe = pipe, .len = len
	};

	if (w->copy)
		put_from_pipe(w, buffer, cpu, pipe, len);
	else
		w->is_held ? do_job(w, &job) : put_job(w, &job);
}

bool tap_page_writer_is_behind(const struct tap_page_writer *w)
{
	return under_way(w) > TAP_WRITER_BLOCKS / 2;
}

bool tap_page_writer_is_busy(const struct tap_page_writer *w)
{
	return under_way(w) >= SPARE_BLOCKS / 2;
}

uint64_t tap_page_writer_waiting(const struct tap_page_writer *w)
{
	return w->bytes_put - w->bytes_done;
}

int tap_page_writer_set_head(struct tap_page_writer *w, const struct tap_head *head,
			     struct tap_err *err)
{
	struct tap_buf bytes = { 0 };
	int ret = tap_head_write(head, &bytes);

	if (!ret) {
		w->nr_heads++;
		put_job(w, &(struct job){ .kind = HEAD, .data = bytes.data, .len = bytes.len });
		return 0;
	}
	tap_buf_release(&bytes);
	return tap_err_set(err, ret, "out of memory");
}

unsigned int tap_page_writer_heads(const struct tap_page_writer *w)
{
	return w->nr_heads;
}

bool tap_page_writer_has_head(const struct tap_page_writer *w, unsigned int nr)
{
	return (int)(w->nr_heads_set - nr) >= 0;
}

bool tap_page_writer_head_is_set(const struct tap_page_writer *w)
{
	return tap_page_writer_has_head(w, w->nr_heads);
}

void tap_page_writer_set_meta(struct tap_page_writer *w, char *json)
{
	put_job(w, &(struct job){ .kind = META, .data = json });
}

void tap_page_writer_call(struct tap_page_writer *w,
			  int (*call)(struct tap_spool *spool, void *ctx, uint64_t arg,
				      struct tap_err *err),
			  void *ctx, uint64_t arg)
{
	put_job(w, &(struct job){ .kind = CALL, .call = call, .ctx = ctx, .arg = arg });
}
