// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/rotation.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "record/session/priority.h"
#include "record/session/rotation_file.h"
#include "record/session/rotation_room.h"

#define LATE_NS 1000000u /* maximum delay between an event's time stamp and its commit */
#define MIN_PART_NS 1000000000u
/*
 * Limit of one folder, in parts of the limit on disk space, if the maker is late: packing takes the
 * folder's space twice, and up to three parts are written to the next folder meanwhile.
 */
#define LARGEST_PARTS 6u
#define HURRY_PARTS 2u /* from this folder size on the maker is late */
#define RETRY_NS 1000000000u /* time until the maker tries again after a failure */
/* maximum number of heads on disk at once: of the next folder, and while they are replaced */
#define HEADS 5u
/* maximum size of the events between two drains, which are kept in memory for conditions */
#define HELD_BYTES ((uint64_t)64 << 20)
#define WAIT_FOR_ROOM_MS 1000u

enum state { RECORDING, PREPARING, CUTTING, MOVING };

struct tap_rotation {
	struct tap_rotation_opts opts;
	bool zstd;
	uint64_t part_ns, largest_bytes;
	struct tap_spool *lock, *spool;
	struct tap_page_writer *writer;
	struct tap_rotation_room room;

	/* used by the draining thread only */
	enum state state;
	uint64_t cut_ns, retry_ns, kept_bytes;
	struct tap_priority hurry; /* the maker's raised priority */

	_Atomic bool is_prepared, is_moved;

	pthread_mutex_t reports; /* protects the next two members: several threads make files */
	struct tap_err failed; /* the first failure to write a file */
	bool is_failing; /* used by the maker only: it could not make the last folder */

	struct thread {
		pthread_t id;
		pid_t tid;
		bool is_there;
	} keeper, maker, packer;
	sem_t look, make, prepared, packable, started;
	_Atomic bool is_over;
};

/* Report that a file is written, or that it could not be (@err). */
static void report_file(struct tap_rotation *r, const char *path, const struct tap_err *err)
{
	pthread_mutex_lock(&r->reports);
	if (err && !r->failed.code)
		tap_err_set(&r->failed, err->code, "%.300s: %s", path, err->text);
	if (r->opts.written)
		r->opts.written(r->opts.ctx, path, err);
	pthread_mutex_unlock(&r->reports);
}

bool tap_rotation_make_room(struct tap_rotation *r)
{
	return tap_rotation_room_remove_oldest(&r->room);
}

static void say_started(struct tap_rotation *r, struct thread *t)
{
	t->tid = gettid();
	sem_post(&r->started);
}

/* ---- the keeper thread: removes old files ---- */

/* Wait for a request to check the limit. Several requests count as one. */
static void wait_for_wish(struct tap_rotation *r)
{
	tap_sem_wait(&r->look);
	while (!sem_trywait(&r->look))
		;
}

/* It may have a real-time priority, so it leaves half of the CPU to other tasks. */
static void *run_keeper(void *arg)
{
	struct tap_rotation *r = arg;
	uint64_t rested_ns = 0;

	say_started(r, &r->keeper);
	for (;;) {
		wait_for_wish(r);
		if (r->is_over)
			return NULL;
		tap_rotation_room_keep_limit(&r->room);
		tap_thread_rest(&rested_ns);
	}
}

/* ---- the maker thread: makes folders ---- */

static int prepare_file(struct tap_rotation *r, struct tap_rotation_file *f, struct tap_err *err)
{
	int ret;

	tap_rotation_room_name(&r->room, f);
	ret = tap_rotation_file_prepare(f, r->room.current, err);
	if (ret)
		return ret;
	ret = tap_rotation_room_add(&r->room, f);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

static void prepare_next(struct tap_rotation *r)
{
	struct tap_rotation_file *f = r->room.upcoming;
	struct tap_err err = { 0 };

	if (prepare_file(r, f, &err)) {
		if (f->spool)
			tap_spool_remove(f->spool);
		tap_spool_free(f->spool);
		f->spool = NULL;
		if (!r->is_failing)
			report_file(r, f->path, &err);
	}
	r->is_failing = !f->spool;
	r->is_prepared = true;
	sem_post(&r->prepared);
}

static void *run_maker(void *arg)
{
	struct tap_rotation *r = arg;

	say_started(r, &r->maker);
	for (;;) {
		tap_sem_wait(&r->make);
		if (r->is_over)
			return NULL;
		/* while the disk is full, nothing is written, so the keeper is not woken */
		tap_rotation_room_keep_limit(&r->room);
		prepare_next(r);
	}
}

/* ---- the packer thread ---- */

static bool make_room(void *ctx)
{
	return tap_rotation_make_room(ctx);
}

/* No older file is left to remove. Waiting would not help, because newer files only grow. */
static void drop_file(struct tap_rotation *r, struct tap_rotation_file *f)
{
	struct tap_err err;

	tap_err_set(&err, -EDQUOT,
		    "removed, because it could not be completed: events came too fast for "
		    "--on-disk of this size");
	report_file(r, f->path, &err);
	tap_rotation_room_drop(&r->room, f);
}

static void pack_next(struct tap_rotation *r)
{
	struct tap_rotation_file *f = tap_rotation_room_take(&r->room);
	struct tap_err err = { 0 };
	int ret;

	if (!f)
		return;
	if (!tap_rotation_room_keep_limit(&r->room)) {
		drop_file(r, f);
		return;
	}
	ret = tap_rotation_file_pack(f, r->zstd, make_room, r, &err);
	if (tap_rotation_room_end_packing(&r->room) || ret)
		report_file(r, f->path, ret ? &err : NULL);
	else
		unlink(f->path);
	tap_rotation_file_free(f);
}

static void *run_packer(void *arg)
{
	struct tap_rotation *r = arg;

	say_started(r, &r->packer);
	for (;;) {
		tap_sem_wait(&r->packable);
		if (r->is_over && !r->room.queue)
			return NULL;
		pack_next(r);
	}
}

/* ---- the page writer's thread ---- */

/*
 * Called before sub-buffers are written, so that the limit holds even if the keeper is late. If the
 * folder is too large, waiting would not help: only this thread can begin the next one. Return: 0;
 * -EDQUOT.
 */
static int wait_for_room(void *ctx, uint64_t bytes)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct tap_rotation *r = ctx;

	if (bytes > r->largest_bytes)
		return -EDQUOT;
	for (unsigned int i = 0; !tap_rotation_room_fits(&r->room, bytes); i++) {
		if (i == WAIT_FOR_ROOM_MS || r->is_over)
			return -EDQUOT;
		sem_post(&r->look);
		nanosleep(&ms, NULL);
	}
	return 0;
}

static int begin_cut(struct tap_spool *spool, void *ctx, uint64_t cut_ns, struct tap_err *err)
{
	(void)ctx;
	(void)err;
	tap_spool_cut(spool, cut_ns);
	return 0;
}

static int cancel_cut(struct tap_spool *spool, void *ctx, uint64_t arg, struct tap_err *err)
{
	(void)ctx;
	(void)arg;
	return tap_spool_uncut(spool, err);
}

static int move_spool(struct tap_spool *spool, void *ctx, uint64_t arg, struct tap_err *err)
{
	struct tap_rotation *r = ctx;
	uint64_t bytes = tap_spool_folder_bytes(spool);

	(void)arg;
	tap_spool_move(spool, r->room.finished->spool);
	tap_rotation_room_close_finished(&r->room, bytes);
	r->is_moved = true;
	sem_post(&r->packable);
	return tap_spool_uncut(spool, err);
}

/* ---- the draining thread ---- */

static int lock_name(struct tap_rotation *r, const char *file, const struct tap_head *head,
		     struct tap_err *err)
{
	struct tap_buf bytes = { 0 };
	int ret = tap_head_write(head, &bytes);

	if (ret)
		tap_err_set(err, ret, "out of memory");
	else if (HEADS * bytes.len > r->room.part_bytes)
		ret = tap_err_set(err, -EINVAL,
				  "--on-disk: the size must be at least %zuM: each file has %.1f "
				  "MB that describe these events",
				  (HEADS * bytes.len * TAP_ROTATION_PARTS >> 20) + 1,
				  (double)bytes.len / 1e6);
	r->room.heads_bytes = HEADS * bytes.len;
	ret = ret ?: tap_spool_create_from(file, &bytes, true, &r->lock, err);
	tap_buf_release(&bytes);
	return ret ?: tap_spool_hold(r->lock, HELD_BYTES, err) ?: tap_spool_set_ring(r->lock, err);
}

static int init_rotation(struct tap_rotation *r, const char *file, const struct tap_head *head,
			 struct tap_err *err)
{
	int ret = tap_rotation_room_init(&r->room, &r->opts, file, err)
			  ?: lock_name(r, file, head, err);

	if (ret)
		return ret;
	ret = tap_rotation_room_add(&r->room, r->room.current);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

int tap_rotation_new(const struct tap_rotation_opts *opts, const char *file, bool zstd,
		     const struct tap_head *head, struct tap_rotation **out, struct tap_err *err)
{
	struct tap_rotation *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	if (!r)
		return tap_err_nomem(err);
	r->opts = *opts;
	r->zstd = zstd;
	r->part_ns = opts->keep_ns ? opts->keep_ns / TAP_ROTATION_PARTS : UINT64_MAX;
	if (r->part_ns < MIN_PART_NS)
		r->part_ns = MIN_PART_NS;
	r->largest_bytes = opts->max_bytes / TAP_ROTATION_PARTS * LARGEST_PARTS;
	pthread_mutex_init(&r->reports, NULL);
	sem_init(&r->look, 0, 0);
	sem_init(&r->make, 0, 0);
	sem_init(&r->prepared, 0, 0);
	sem_init(&r->packable, 0, 0);
	sem_init(&r->started, 0, 0);
	ret = init_rotation(r, file, head, err);
	if (ret) {
		tap_rotation_free(r);
		return ret;
	}
	*out = r;
	return 0;
}

static void join_thread(struct thread *t)
{
	if (t->is_there)
		pthread_join(t->id, NULL);
	t->is_there = false;
}

static void join_threads(struct tap_rotation *r)
{
	r->is_over = true;
	sem_post(&r->look);
	sem_post(&r->make);
	sem_post(&r->packable);
	join_thread(&r->keeper);
	join_thread(&r->maker);
	join_thread(&r->packer);
}

void tap_rotation_free(struct tap_rotation *r)
{
	if (!r)
		return;
	join_threads(r);
	if (r->room.upcoming && r->room.upcoming->spool)
		tap_spool_remove(r->room.upcoming->spool);
	tap_rotation_room_release(&r->room);
	if (r->lock)
		tap_spool_remove(r->lock);
	tap_spool_free(r->lock);
	pthread_mutex_destroy(&r->reports);
	sem_destroy(&r->look);
	sem_destroy(&r->make);
	sem_destroy(&r->prepared);
	sem_destroy(&r->packable);
	sem_destroy(&r->started);
	free(r);
}

const char *tap_rotation_path(const struct tap_rotation *r)
{
	return r->room.current->path;
}

static int start_thread(struct tap_rotation *r, struct thread *t, void *(*run)(void *arg))
{
	int ret = tap_thread_start(&t->id, run, r);

	t->is_there = !ret;
	if (!ret)
		tap_sem_wait(&r->started);
	return ret;
}

int tap_rotation_start(struct tap_rotation *r, struct tap_spool *spool,
		       struct tap_page_writer *writer, struct tap_rotation_tids *tids,
		       struct tap_err *err)
{
	int ret;

	r->spool = spool;
	r->room.spool = spool;
	r->writer = writer;
	r->room.current->start_ns = tap_now_ns();
	ret = start_thread(r, &r->keeper, run_keeper) ?: start_thread(r, &r->maker, run_maker) ?:
	      start_thread(r, &r->packer, run_packer);
	errno = -ret;
	if (ret)
		return tap_err_set(err, ret, "cannot start the threads that make files: %m");
	tap_spool_set_room(spool, wait_for_room, r);
	*tids = (struct tap_rotation_tids){ .keeper = r->keeper.tid,
					    .maker = r->maker.tid,
					    .packer = r->packer.tid };
	sem_post(&r->look); /* files of earlier recorders may already exceed the limit */
	return 0;
}

uint64_t tap_rotation_start_ns(const struct tap_rotation *r)
{
	return r->room.current->start_ns;
}

struct tap_spool *tap_rotation_held(const struct tap_rotation *r)
{
	return r->lock;
}

static uint64_t spool_bytes(const struct tap_rotation *r)
{
	return tap_spool_folder_bytes(r->spool) + tap_page_writer_waiting(r->writer);
}

/* Return: whether the next file should begin soon: by size, by time, or because a write failed. */
static bool is_full(const struct tap_rotation *r, uint64_t now_ns)
{
	uint64_t bytes = spool_bytes(r);

	if (now_ns < r->retry_ns)
		return false;
	if (bytes >= r->room.part_bytes || tap_spool_failed(r->spool))
		return true;
	return bytes && now_ns - r->room.current->start_ns >= r->part_ns;
}

/* Let the maker make the next file's folder. Return: 0; -ENOMEM. */
static int begin_preparing(struct tap_rotation *r, const struct tap_description *d,
			   struct tap_err *err)
{
	struct tap_rotation_file *f = tap_rotation_file_new(r->room.current->nr + 1);

	if (!f || tap_description_copy(d, &f->d)) {
		tap_rotation_file_free(f);
		return tap_err_nomem(err);
	}
	tap_rotation_room_expect(&r->room, f);
	r->is_prepared = false;
	r->state = PREPARING;
	sem_post(&r->make);
	return 0;
}

/* The maker is done: begin the cut. If it failed, it tries again after RETRY_NS. */
static void begin_cutting(struct tap_rotation *r, uint64_t now_ns)
{
	struct tap_rotation_file *f = r->room.upcoming;

	tap_sem_wait(&r->prepared);
	tap_priority_restore(&r->hurry);
	if (f->spool) {
		r->cut_ns = now_ns;
		r->state = CUTTING;
		tap_page_writer_call(r->writer, begin_cut, NULL, now_ns);
		return;
	}
	tap_rotation_room_expect(&r->room, NULL);
	tap_rotation_file_free(f);
	r->retry_ns = now_ns + RETRY_NS;
	r->state = RECORDING;
}

bool tap_rotation_is_due(struct tap_rotation *r, uint64_t now_ns)
{
	if (r->state == PREPARING && r->is_prepared)
		begin_cutting(r, now_ns);
	return r->state == CUTTING && now_ns >= r->cut_ns + LATE_NS;
}

/*
 * All events before the cut were handed over: make the upcoming file the current one. Return: 1;
 * -ENOMEM.
 */
static int begin_moving(struct tap_rotation *r, struct tap_description *d, struct tap_err *err)
{
	struct tap_rotation_file *old = r->room.current, *f = r->room.upcoming;
	struct tap_description copy;

	if (tap_description_copy(d, &copy))
		return tap_err_nomem(err);
	tap_description_end_window(&copy, r->cut_ns);
	if (old->clocks)
		json_object_set(copy.meta, "clocks", old->clocks);
	copy.began = d->began;
	d->began = f->d.began;
	f->d.began = (struct tap_task_list){ 0 };
	f->start_ns = r->cut_ns;
	tap_description_release(&f->d);
	f->d = (struct tap_description){ 0 };
	json_object_set(d->meta, "clocks", f->clocks);
	tap_description_set_window(d, f->start_ns, 0);
	tap_description_set_file(d, f->nr, true);
	tap_description_release(&old->d);
	old->d = copy;
	/* the folder that the page writer's thread will exchange for the old one */
	old->spool = f->spool;
	f->spool = NULL;
	tap_rotation_room_begin_next(&r->room);
	r->is_moved = false;
	r->state = MOVING;
	tap_page_writer_call(r->writer, move_spool, r, 0);
	return 1;
}

/*
 * Busy tasks may keep the maker from a CPU for seconds, and events are lost if the folder gets too
 * large. The maker gets this thread's real-time priority only if it is late, because reading all of
 * /proc takes long if there are many tasks.
 */
static void hurry_maker(struct tap_rotation *r, uint64_t bytes)
{
	struct sched_param own;

	if (r->state == PREPARING && !r->hurry.raised && bytes > HURRY_PARTS * r->room.part_bytes &&
	    !sched_getparam(0, &own) && own.sched_priority)
		tap_priority_raise(&r->hurry, r->maker.tid, own.sched_priority, NULL);
}

int tap_rotation_step(struct tap_rotation *r, struct tap_description *d, bool is_due,
		      struct tap_err *err)
{
	uint64_t bytes = spool_bytes(r);

	if (r->state == MOVING && r->is_moved) {
		r->state = RECORDING;
		r->kept_bytes = 0;
	}
	if (bytes > r->kept_bytes + r->room.part_bytes / 8) {
		r->kept_bytes = bytes;
		sem_post(&r->look);
	}
	hurry_maker(r, bytes);
	if (is_due)
		return begin_moving(r, d, err);
	return r->state == RECORDING && is_full(r, tap_now_ns()) ? begin_preparing(r, d, err) : 0;
}

void tap_rotation_stop(struct tap_rotation *r)
{
	if (r->state == PREPARING)
		tap_sem_wait(&r->prepared);
	if (r->state == CUTTING)
		tap_page_writer_call(r->writer, cancel_cut, NULL, 0);
}

void tap_rotation_wait(struct tap_rotation *r)
{
	join_threads(r);
	tap_rotation_room_pack_current(&r->room);
	tap_rotation_room_keep_limit(&r->room);
}

int tap_rotation_check(const struct tap_rotation *r, struct tap_err *err)
{
	int ret = tap_rotation_file_explain(tap_spool_failed(r->spool), err);

	return ret || !r->failed.code ? ret
				      : tap_err_set(err, r->failed.code, "%s", r->failed.text);
}
