// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/thread.h"
#include "file/unpack.h"

#define MAX_THREADS 4
/*
 * Chunks are decompressed in advance only while all buffers stay below this size: 128 CPUs with
 * chunks of 256 KiB need 32 MiB for the current chunks alone.
 */
#define AHEAD_MAX_BYTES ((size_t)40 << 20)
/* Window size limit (8 MiB) when only the first bytes of a frame are wanted. */
#define FRONT_WINDOW_LOG 23

struct tap_unpack_pool {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct tap_chunk *first, **last; /* the queue */
	bool stop;
	pthread_t threads[MAX_THREADS];
	unsigned int nr_threads;
};

static int decompress_frame(ZSTD_DCtx **ctx, const void *src, size_t len, void *dst, size_t size)
{
	if (!*ctx)
		*ctx = ZSTD_createDCtx();
	if (!*ctx)
		return -ENOMEM;
	return ZSTD_decompressDCtx(*ctx, dst, size, src, len) == size ? 0 : -EINVAL;
}

int tap_unzstd(struct tap_unpack *u, const void *src, size_t len, void *dst, size_t size)
{
	return decompress_frame(&u->zstd, src, len, dst, size);
}

int tap_unzstd_front(struct tap_unpack *u, const void *src, size_t len, void *dst, size_t size)
{
	ZSTD_inBuffer in = { src, len, 0 };
	ZSTD_outBuffer out = { dst, size, 0 };
	size_t ret = 1;

	if (!u->zstd)
		u->zstd = ZSTD_createDCtx();
	if (!u->zstd)
		return -ENOMEM;
	ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
	ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, FRONT_WINDOW_LOG);
	while (out.pos < size && ret) {
		size_t before = in.pos + out.pos;

		ret = ZSTD_decompressStream(u->zstd, &out, &in);
		if (ZSTD_isError(ret) || in.pos + out.pos == before)
			break;
	}
	return out.pos == size ? 0 : -EINVAL;
}

static void unqueue_chunk(struct tap_unpack_pool *p, struct tap_chunk *c)
{
	struct tap_chunk **at = &p->first;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (!*at)
		p->last = at;
}

static struct tap_chunk *pop_chunk(struct tap_unpack_pool *p)
{
	struct tap_chunk *c = p->first;

	if (c)
		unqueue_chunk(p, c);
	return c;
}

/* Decompress @c. The pool's lock is held on entry and return, and dropped in between. */
static void work_on_chunk(struct tap_unpack_pool *p, ZSTD_DCtx **ctx, struct tap_chunk *c)
{
	int ret;

	c->state = TAP_CHUNK_BUSY;
	pthread_mutex_unlock(&p->lock);
	ret = decompress_frame(ctx, c->src, c->len, c->data, c->size);
	pthread_mutex_lock(&p->lock);
	c->ret = ret;
	c->state = TAP_CHUNK_DONE;
	pthread_cond_signal(&p->done);
}

static void *run_thread(void *arg)
{
	struct tap_unpack_pool *p = arg;
	ZSTD_DCtx *ctx = NULL;
	struct tap_chunk *c;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		c = pop_chunk(p);
		if (c)
			work_on_chunk(p, &ctx, c);
		else
			pthread_cond_wait(&p->work, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	ZSTD_freeDCtx(ctx);
	return NULL;
}

/*
 * Return the number of threads to start. The reader's thread decompresses too, so it keeps one CPU.
 */
static unsigned int spare_cpus(void)
{
	cpu_set_t set;
	int nr = sched_getaffinity(0, sizeof(set), &set) ? 2 : CPU_COUNT(&set);

	return nr > MAX_THREADS ? MAX_THREADS : (unsigned int)nr - 1;
}

static void start_threads(struct tap_unpack_pool *p, unsigned int nr)
{
	while (p->nr_threads < nr && !tap_thread_start(&p->threads[p->nr_threads], run_thread, p))
		p->nr_threads++;
}

static void free_pool(struct tap_unpack_pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->work);
	pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->nr_threads; i++)
		pthread_join(p->threads[i], NULL);
	pthread_cond_destroy(&p->work);
	pthread_cond_destroy(&p->done);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static struct tap_unpack_pool *get_pool(struct tap_unpack *u)
{
	struct tap_unpack_pool *p;

	if (u->pool || u->no_pool)
		return u->pool;
	u->no_pool = true; /* try only once */
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	pthread_cond_init(&p->done, NULL);
	p->last = &p->first;
	start_threads(p, spare_cpus());
	if (p->nr_threads)
		u->pool = p;
	else
		free_pool(p);
	return u->pool;
}

/* Enlarge a buffer, dropping its contents. */
static int make_room(struct tap_unpack *u, struct tap_chunk *c)
{
	if (c->size <= c->cap)
		return 0;
	tap_chunk_release(u, c);
	c->data = malloc(c->size);
	if (!c->data)
		return -ENOMEM;
	c->cap = c->size;
	u->bytes += c->cap;
	return 0;
}

void tap_unpack_ahead(struct tap_unpack *u, struct tap_chunk *c)
{
	struct tap_unpack_pool *p = get_pool(u);

	if (!p || c->queued || u->bytes - c->cap + c->size > AHEAD_MAX_BYTES || make_room(u, c))
		return;
	c->queued = true;
	pthread_mutex_lock(&p->lock);
	c->state = TAP_CHUNK_QUEUED;
	c->next = NULL;
	*p->last = c;
	p->last = &c->next;
	pthread_cond_signal(&p->work);
	pthread_mutex_unlock(&p->lock);
}

/* Wait for @c. If another thread is working on it, decompress other chunks meanwhile. */
static int wait_for_pool(struct tap_unpack *u, struct tap_chunk *c)
{
	struct tap_unpack_pool *p = u->pool;

	pthread_mutex_lock(&p->lock);
	if (c->state == TAP_CHUNK_QUEUED) {
		unqueue_chunk(p, c);
		work_on_chunk(p, &u->zstd, c);
	}
	while (c->state != TAP_CHUNK_DONE) {
		struct tap_chunk *other = pop_chunk(p);

		if (other)
			work_on_chunk(p, &u->zstd, other);
		else
			pthread_cond_wait(&p->done, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	c->queued = false;
	return c->ret;
}

int tap_unpack_wait(struct tap_unpack *u, struct tap_chunk *c)
{
	if (c->queued)
		return wait_for_pool(u, c);
	return make_room(u, c) ? -ENOMEM
			       : decompress_frame(&u->zstd, c->src, c->len, c->data, c->size);
}

void tap_unpack_cancel(struct tap_unpack *u, struct tap_chunk *c)
{
	struct tap_unpack_pool *p = u->pool;

	if (c->queued) {
		pthread_mutex_lock(&p->lock);
		if (c->state == TAP_CHUNK_QUEUED)
			unqueue_chunk(p, c);
		while (c->state == TAP_CHUNK_BUSY)
			pthread_cond_wait(&p->done, &p->lock);
		pthread_mutex_unlock(&p->lock);
		c->queued = false;
	}
	c->src = NULL;
}

void tap_unpack_trim(struct tap_unpack *u, struct tap_chunk *c)
{
	if (u->bytes > AHEAD_MAX_BYTES / 2)
		tap_chunk_release(u, c);
}

void tap_chunk_release(struct tap_unpack *u, struct tap_chunk *c)
{
	free(c->data);
	u->bytes -= c->cap;
	c->data = NULL;
	c->cap = 0;
}

void tap_unpack_release(struct tap_unpack *u)
{
	free_pool(u->pool);
	ZSTD_freeDCtx(u->zstd);
}
