// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/session/rotation.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "capture/machine.h"
#include "capture/session/stamped.h"
#include "recording/pack.h"

#define LATE_NS 1000000u /* maximum delay between an event's time stamp and its commit */
#define MIN_PART_NS 1000000000u
#define RETRY_NS 1000000000u /* after the next folder could not be made */
#define SPARE_PARTS 2u /* free below the limit: what the spool may grow by before the keeper looks again */
#define HEADS 5u /* of the next folder, and while they are replaced */
#define HELD_BYTES ((uint64_t)64 << 20) /* of events between two drains, at most, where there are conditions */
#define WAIT_FOR_ROOM_MS 1000u

struct file {
	struct file *next; /* in the queue to be packed */
	char path[PATH_MAX];
	unsigned int nr;
	uint64_t start_ns; /* about when it began */
	struct tap_spool *spool; /* its folder, unless that is still recorded to */
	struct tap_description d; /* before it is recorded to: its first tasks; after that, what it is to have */
	json_t *clocks; /* when it began */
};

enum state { RECORDING, PREPARING, CUTTING, MOVING };

struct tap_rotation {
	struct tap_rotation_opts opts;
	bool zstd;
	_Atomic uint64_t part_bytes;
	uint64_t part_ns, heads_bytes;
	struct tap_spool *lock, *spool;
	struct tap_page_writer *writer;

	/* the draining thread's */
	enum state state;
	uint64_t cut_ns, retry_ns, kept_bytes;

	_Atomic bool wants_next, is_prepared, is_moved;
	struct file *current, *upcoming; /* changed by the draining thread with .mutex held */
	struct file *finished; /* what the page writer's thread makes of .current */

	pthread_mutex_t mutex; /* of all below, and of files on disk */
	struct tap_stamped names;
	_Atomic uint64_t max_spool_bytes; /* so large may the current folder's page files become */
	unsigned int first_kept; /* older files are removed once they are packed */
	struct file *queue, *packing; /* folders to be packed, the oldest first; the one that is being packed */
	struct tap_err failed; /* the first failure */

	bool is_failing; /* the keeper's: it could not make a folder */
	pthread_t keeper, packer;
	pid_t tids[2];
	sem_t go, prepared, packable, started;
	bool has_keeper, has_packer;
	_Atomic bool is_over;
};

static void free_file(struct file *f)
{
	if (!f)
		return;
	tap_spool_free(f->spool);
	tap_description_release(&f->d);
	json_decref(f->clocks);
	free(f);
}

/* ---- what is on disk; with .mutex held ------------------------------------------------------- */

static void report(struct tap_rotation *r, const char *path, const struct tap_err *err)
{
	if (err && !r->failed.code)
		tap_err_set(&r->failed, err->code, "%.300s: %s", path, err->text);
	if (r->opts.written)
		r->opts.written(r->opts.ctx, path, err);
}

static uint64_t free_bytes(const struct tap_rotation *r)
{
	char path[PATH_MAX];
	struct statvfs st;

	snprintf(path, sizeof(path), "%s", r->current->path);
	return statvfs(dirname(path), &st) ? UINT64_MAX : (uint64_t)st.f_bavail * st.f_frsize;
}

static bool is_folder_of(const struct file *f, const char *path)
{
	size_t len = f ? strlen(f->path) : 0;

	return f && !strncmp(path, f->path, len) && !strcmp(path + len, ".spool");
}

static bool is_in_use(const struct tap_rotation *r, const char *path)
{
	bool in_use = is_folder_of(r->current, path) || is_folder_of(r->upcoming, path) || is_folder_of(r->finished, path) ||
		      is_folder_of(r->packing, path);

	for (const struct file *f = r->queue; f; f = f->next)
		in_use |= is_folder_of(f, path);
	return in_use;
}

/* Return: whether it is removed. */
static bool remove_file(const struct tap_rotation *r, const struct tap_stamped_file *file)
{
	if (!file->is_folder)
		return !unlink(file->path);
	return !is_in_use(r, file->path) && !tap_spool_remove_folder(file->path, NULL);
}

/* Remove the oldest folder that waits for the packer: no file is left but the one that is being packed. Return: its bytes. */
static uint64_t drop_folder(struct tap_rotation *r, const struct tap_stamped_file *files, int nr)
{
	char path[PATH_MAX + 16];
	struct file *f = r->queue;
	uint64_t bytes = 0;

	for (int i = 0; i < nr; i++)
		if (is_folder_of(f, files[i].path))
			bytes = files[i].bytes;
	r->queue = f->next;
	r->first_kept = f->nr + 1;
	snprintf(path, sizeof(path), "%s.spool", f->path);
	free_file(f); /* which has it locked */
	tap_spool_remove_folder(path, NULL);
	return bytes;
}

static bool is_expired(const struct tap_rotation *r, const struct tap_stamped_file *file, uint64_t now_ns)
{
	return r->opts.keep_ns && file->modified_ns + r->opts.keep_ns < now_ns;
}

static uint64_t sum_of(const struct tap_stamped_file *files, int nr)
{
	uint64_t bytes = 0;

	for (int i = 0; i < nr; i++)
		bytes += files[i].bytes;
	return bytes;
}

/* What the file that is being packed takes beside its folder. */
static uint64_t packing_bytes(const struct tap_rotation *r, const struct tap_stamped_file *files, int nr)
{
	for (int i = 0; i < nr; i++)
		if (is_folder_of(r->packing, files[i].path))
			return files[i].bytes;
	return 0;
}

/* The limit is lower where the disk has less space than that for our @total bytes and more. */
static uint64_t limit_of(const struct tap_rotation *r, uint64_t total)
{
	uint64_t free = free_bytes(r), max = r->opts.max_bytes;

	return free < max && total + free < max ? total + free : max;
}

/* Remove what is too old, and the oldest files while there are too many bytes. Return: whether the limit holds. */
static bool remove_old(struct tap_rotation *r)
{
	uint64_t now_ns = tap_clock_ns(CLOCK_REALTIME), spool_bytes = tap_spool_folder_bytes(r->spool), total, limit, room;
	struct tap_stamped_file *files;
	int nr = tap_stamped_list(&r->names, true, &files);

	if (nr < 0)
		return true;
	total = sum_of(files, nr);
	limit = limit_of(r, total);
	r->part_bytes = limit / TAP_ROTATION_PARTS;
	total += packing_bytes(r, files, nr) + r->heads_bytes;
	room = SPARE_PARTS * r->part_bytes;
	for (int i = 0; i < nr; i++)
		if ((total + room > limit || is_expired(r, &files[i], now_ns)) && remove_file(r, &files[i]))
			total -= files[i].bytes;
	while (total + room > limit && r->queue)
		total -= drop_folder(r, files, nr);
	r->max_spool_bytes = spool_bytes + (total < limit ? limit - total : 0);
	tap_stamped_free_list(files, nr);
	return total <= limit;
}

/* Return: whether there is room for the file that is being packed. */
static bool keep_limit(struct tap_rotation *r)
{
	bool has_room;

	pthread_mutex_lock(&r->mutex);
	has_room = remove_old(r);
	pthread_mutex_unlock(&r->mutex);
	return has_room;
}

bool tap_rotation_make_room(struct tap_rotation *r)
{
	struct tap_stamped_file *files;
	bool is_removed = false;
	int nr;

	pthread_mutex_lock(&r->mutex);
	nr = tap_stamped_list(&r->names, true, &files);
	for (int i = 0; i < nr && !is_removed; i++)
		is_removed = remove_file(r, &files[i]);
	tap_stamped_free_list(files, nr);
	pthread_mutex_unlock(&r->mutex);
	return is_removed;
}

/* ---- the keeper: makes folders, removes old files -------------------------------------------- */

static int read_head(struct tap_rotation *r, struct tap_buf *head, struct tap_err *err)
{
	char path[PATH_MAX + 32];
	int ret;

	snprintf(path, sizeof(path), "%s.spool/head.dat", r->current->path);
	ret = tap_buf_read_file(head, path);
	errno = -ret;
	return ret ? tap_err_set(err, ret, "cannot read '%.300s': %m", path) : 0;
}

static int make_folder(struct tap_rotation *r, struct file *f, struct tap_err *err)
{
	struct tap_buf old = { 0 }, head = { 0 }, cmdlines = { 0 };
	char *meta = tap_description_text(&f->d);
	int ret = meta ? read_head(r, &old, err) : tap_err_set(err, -ENOMEM, "out of memory");

	tap_description_cmdlines(&f->d, &cmdlines);
	ret = ret ?: tap_head_change(&old, meta, tap_buf_str(&cmdlines), &head, err);
	tap_stamped_name(&r->names, tap_now_ns(), f->path);
	ret = ret ?: tap_spool_create_from(f->path, &head, false, &f->spool, err);
	free(meta);
	tap_buf_release(&old);
	tap_buf_release(&head);
	tap_buf_release(&cmdlines);
	return ret;
}

static int prepare(struct tap_rotation *r, struct file *f, struct tap_err *err)
{
	struct tap_pids pids = { 0 };
	int ret;

	tap_pids_open(&pids);
	ret = tap_description_read_tasks(&f->d, &pids);
	tap_pids_release(&pids);
	f->clocks = json_pack("[o]", tap_machine_clocks());
	if (ret || !f->clocks)
		return tap_err_set(err, -ENOMEM, "out of memory");
	json_object_set(f->d.meta, "clocks", f->clocks);
	tap_description_set_window(&f->d, tap_now_ns(), 0);
	tap_description_set_file(&f->d, f->nr, true);
	ret = make_folder(r, f, err);
	if (ret)
		return ret;
	pthread_mutex_lock(&r->mutex);
	ret = tap_stamped_add(&r->names, f->path);
	pthread_mutex_unlock(&r->mutex);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

static void prepare_next(struct tap_rotation *r)
{
	struct file *f = r->upcoming;
	struct tap_err err = { 0 };

	if (prepare(r, f, &err)) {
		if (f->spool)
			tap_spool_remove(f->spool);
		tap_spool_free(f->spool);
		f->spool = NULL;
		pthread_mutex_lock(&r->mutex);
		if (!r->is_failing)
			report(r, f->path, &err);
		pthread_mutex_unlock(&r->mutex);
	}
	r->is_failing = !f->spool;
	r->is_prepared = true;
	sem_post(&r->prepared);
}

static void *run_keeper(void *arg)
{
	struct tap_rotation *r = arg;

	r->tids[0] = gettid();
	sem_post(&r->started);
	for (;;) {
		tap_sem_wait(&r->go);
		if (r->is_over)
			return NULL;
		keep_limit(r);
		if (atomic_exchange(&r->wants_next, false))
			prepare_next(r);
	}
}

int tap_rotation_explain(int failed, struct tap_err *err)
{
	errno = -failed;
	if (failed == -EDQUOT)
		return tap_err_set(err, failed, "the file lacks events before its end: they came too fast for --on-disk of this size");
	return failed ? tap_err_set(err, failed, "the file lacks events before its end: %m") : 0;
}

/* ---- the packer ----------------------------------------------------------------------------- */

static int try_pack(struct tap_rotation *r, struct file *f, const char *meta, const char *cmdlines, struct tap_err *err)
{
	struct tap_pack_opts opts = { .zstd = r->zstd, .cmdlines = cmdlines };

	return tap_spool_set_meta(f->spool, meta, true, err) ?: tap_pack(tap_spool_path(f->spool), f->path, &opts, err);
}

static int pack(struct tap_rotation *r, struct file *f, struct tap_err *err)
{
	struct tap_buf cmdlines = { 0 };
	struct tap_pids pids = { 0 };
	int failed = tap_spool_failed(f->spool), ret;
	char *meta = NULL;

	tap_pids_open(&pids);
	ret = tap_description_end(&f->d, &pids, f->spool, !failed, &cmdlines, err);
	tap_pids_release(&pids);
	if (!ret && !(meta = tap_description_text(&f->d)))
		ret = tap_err_set(err, -ENOMEM, "out of memory");
	if (!ret)
		do
			ret = try_pack(r, f, meta, tap_buf_str(&cmdlines), err);
		while (ret == -ENOSPC && tap_rotation_make_room(r));
	free(meta);
	tap_buf_release(&cmdlines);
	return ret ?: tap_rotation_explain(failed, err);
}

/* Return: the next folder, which is .packing now; NULL: none waits. */
static struct file *take_folder(struct tap_rotation *r)
{
	struct file *f;

	pthread_mutex_lock(&r->mutex);
	f = r->packing = r->queue;
	if (f)
		r->queue = f->next;
	pthread_mutex_unlock(&r->mutex);
	return f;
}

static void put_back(struct tap_rotation *r, struct file *f)
{
	pthread_mutex_lock(&r->mutex);
	f->next = r->queue;
	r->queue = f;
	r->packing = NULL;
	pthread_mutex_unlock(&r->mutex);
}

static void pack_next(struct tap_rotation *r)
{
	struct file *f = take_folder(r);
	struct tap_err err = { 0 };
	int ret;

	if (!f)
		return;
	if (!keep_limit(r)) {
		put_back(r, f);
		keep_limit(r); /* which removes it if it is still too much */
		sem_post(&r->packable);
		return;
	}
	ret = pack(r, f, &err);
	pthread_mutex_lock(&r->mutex);
	r->packing = NULL;
	if (!ret && f->nr < r->first_kept)
		unlink(f->path);
	else
		report(r, f->path, ret ? &err : NULL);
	pthread_mutex_unlock(&r->mutex);
	free_file(f);
}

static void *run_packer(void *arg)
{
	struct tap_rotation *r = arg;

	r->tids[1] = gettid();
	sem_post(&r->started);
	for (;;) {
		tap_sem_wait(&r->packable);
		if (r->is_over && !r->queue)
			return NULL;
		pack_next(r);
	}
}

/* ---- the page writer's thread ---------------------------------------------------------------- */

/* Called before pages are written: the limit holds even where the keeper is late. */
static int wait_for_room(void *ctx, uint64_t bytes)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct tap_rotation *r = ctx;

	for (unsigned int i = 0; bytes > r->max_spool_bytes; i++) {
		if (i == WAIT_FOR_ROOM_MS || r->is_over)
			return -EDQUOT;
		sem_post(&r->go);
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

static void add_to_queue(struct tap_rotation *r, struct file *f)
{
	struct file **last = &r->queue;

	while (*last)
		last = &(*last)->next;
	*last = f;
}

static int move(struct tap_spool *spool, void *ctx, uint64_t arg, struct tap_err *err)
{
	struct tap_rotation *r = ctx;
	uint64_t bytes;

	(void)arg;
	pthread_mutex_lock(&r->mutex);
	bytes = tap_spool_folder_bytes(spool);
	tap_spool_move(spool, r->finished->spool);
	r->max_spool_bytes -= bytes < r->max_spool_bytes ? bytes : r->max_spool_bytes;
	add_to_queue(r, r->finished);
	r->finished = NULL;
	pthread_mutex_unlock(&r->mutex);
	r->is_moved = true;
	sem_post(&r->packable);
	return tap_spool_uncut(spool, err);
}

/* ---- the draining thread --------------------------------------------------------------------- */

static struct file *new_file(unsigned int nr)
{
	struct file *f = calloc(1, sizeof(*f));

	if (f)
		f->nr = nr;
	return f;
}

static int lock_name(struct tap_rotation *r, const char *file, const struct tap_head *head, struct tap_err *err)
{
	struct tap_buf bytes = { 0 };
	int ret = tap_head_write(head, &bytes);

	if (ret)
		tap_err_set(err, ret, "out of memory");
	else if (HEADS * bytes.len > r->part_bytes)
		ret = tap_err_set(err, -EINVAL, "--on-disk: the size must be at least %zuM: each file has %.1f MB that describe these events",
				  (HEADS * bytes.len * TAP_ROTATION_PARTS >> 20) + 1, (double)bytes.len / 1e6);
	r->heads_bytes = HEADS * bytes.len;
	ret = ret ?: tap_spool_create_from(file, &bytes, true, &r->lock, err);
	tap_buf_release(&bytes);
	return ret ?: tap_spool_hold(r->lock, HELD_BYTES, err);
}

static int init(struct tap_rotation *r, const char *file, const struct tap_head *head, struct tap_err *err)
{
	int ret = r->current ? 0 : tap_err_set(err, -ENOMEM, "out of memory");

	ret = ret ?: tap_stamped_init(&r->names, file, err) ?: lock_name(r, file, head, err);
	if (ret)
		return ret;
	tap_stamped_name(&r->names, tap_now_ns(), r->current->path);
	ret = tap_stamped_add(&r->names, r->current->path);
	return ret ? tap_err_set(err, ret, "out of memory") : 0;
}

int tap_rotation_new(const struct tap_rotation_opts *opts, const char *file, bool zstd, const struct tap_head *head,
		     struct tap_rotation **out, struct tap_err *err)
{
	struct tap_rotation *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	if (!r)
		return tap_err_set(err, -ENOMEM, "out of memory");
	r->opts = *opts;
	r->zstd = zstd;
	r->part_bytes = opts->max_bytes / TAP_ROTATION_PARTS;
	r->part_ns = opts->keep_ns ? opts->keep_ns / TAP_ROTATION_PARTS : UINT64_MAX;
	if (r->part_ns < MIN_PART_NS)
		r->part_ns = MIN_PART_NS;
	r->current = new_file(1);
	pthread_mutex_init(&r->mutex, NULL);
	sem_init(&r->go, 0, 0);
	sem_init(&r->prepared, 0, 0);
	sem_init(&r->packable, 0, 0);
	sem_init(&r->started, 0, 0);
	ret = init(r, file, head, err);
	if (ret) {
		tap_rotation_free(r);
		return ret;
	}
	*out = r;
	return 0;
}

static void join(struct tap_rotation *r)
{
	r->is_over = true;
	sem_post(&r->go);
	sem_post(&r->packable);
	if (r->has_keeper)
		pthread_join(r->keeper, NULL);
	if (r->has_packer)
		pthread_join(r->packer, NULL);
	r->has_keeper = r->has_packer = false;
}

void tap_rotation_free(struct tap_rotation *r)
{
	if (!r)
		return;
	join(r);
	if (r->upcoming && r->upcoming->spool)
		tap_spool_remove(r->upcoming->spool);
	free_file(r->upcoming);
	free_file(r->current);
	if (r->lock)
		tap_spool_remove(r->lock);
	tap_spool_free(r->lock);
	tap_stamped_release(&r->names);
	pthread_mutex_destroy(&r->mutex);
	sem_destroy(&r->go);
	sem_destroy(&r->prepared);
	sem_destroy(&r->packable);
	sem_destroy(&r->started);
	free(r);
}

const char *tap_rotation_path(const struct tap_rotation *r)
{
	return r->current->path;
}

int tap_rotation_start(struct tap_rotation *r, struct tap_spool *spool, struct tap_page_writer *writer, pid_t tids[2],
		       struct tap_err *err)
{
	int ret;

	r->spool = spool;
	r->writer = writer;
	r->max_spool_bytes = r->part_bytes;
	r->current->start_ns = tap_now_ns();
	ret = tap_thread_start(&r->keeper, run_keeper, r);
	r->has_keeper = !ret;
	ret = ret ?: tap_thread_start(&r->packer, run_packer, r);
	r->has_packer = r->has_keeper && !ret;
	errno = -ret;
	if (ret)
		return tap_err_set(err, ret, "cannot start the threads that make files: %m");
	tap_sem_wait(&r->started);
	tap_sem_wait(&r->started);
	tap_spool_set_room(spool, wait_for_room, r);
	memcpy(tids, r->tids, sizeof(r->tids));
	sem_post(&r->go); /* files of earlier recorders may already be too much */
	return 0;
}

uint64_t tap_rotation_start_ns(const struct tap_rotation *r)
{
	return r->current->start_ns;
}

struct tap_spool *tap_rotation_held(const struct tap_rotation *r)
{
	return r->lock;
}

static uint64_t spool_bytes(const struct tap_rotation *r)
{
	return tap_spool_folder_bytes(r->spool) + tap_page_writer_waiting(r->writer);
}

/* Return: whether the next file should begin soon. */
static bool is_full(const struct tap_rotation *r, uint64_t now_ns)
{
	uint64_t bytes = spool_bytes(r);

	if (now_ns < r->retry_ns)
		return false;
	if (bytes >= r->part_bytes || tap_spool_failed(r->spool))
		return true;
	return bytes && now_ns - r->current->start_ns >= r->part_ns;
}

/* Let the keeper make the next file's folder. */
static int begin_preparing(struct tap_rotation *r, const struct tap_description *d, struct tap_err *err)
{
	struct file *f = new_file(r->current->nr + 1);

	if (!f || tap_description_copy(d, &f->d)) {
		free_file(f);
		return tap_err_set(err, -ENOMEM, "out of memory");
	}
	pthread_mutex_lock(&r->mutex);
	r->upcoming = f;
	pthread_mutex_unlock(&r->mutex);
	r->is_prepared = false;
	r->wants_next = true;
	r->state = PREPARING;
	sem_post(&r->go);
	return 0;
}

/* The keeper is done. Where it made no folder, it will try again. */
static void begin_cutting(struct tap_rotation *r, uint64_t now_ns)
{
	tap_sem_wait(&r->prepared);
	if (r->upcoming->spool) {
		r->cut_ns = now_ns;
		r->state = CUTTING;
		tap_page_writer_call(r->writer, begin_cut, NULL, now_ns);
		return;
	}
	pthread_mutex_lock(&r->mutex);
	free_file(r->upcoming);
	r->upcoming = NULL;
	pthread_mutex_unlock(&r->mutex);
	r->retry_ns = now_ns + RETRY_NS;
	r->state = RECORDING;
}

bool tap_rotation_is_due(struct tap_rotation *r, uint64_t now_ns)
{
	if (r->state == PREPARING && r->is_prepared)
		begin_cutting(r, now_ns);
	return r->state == CUTTING && now_ns >= r->cut_ns + LATE_NS;
}

/* All events before the cut are handed over. */
static int begin_moving(struct tap_rotation *r, struct tap_description *d, struct tap_err *err)
{
	struct file *old = r->current, *f = r->upcoming;
	struct tap_description copy;

	if (tap_description_copy(d, &copy))
		return tap_err_set(err, -ENOMEM, "out of memory");
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
	pthread_mutex_lock(&r->mutex);
	old->spool = f->spool; /* which gets the old folder */
	f->spool = NULL;
	r->finished = old;
	r->current = f;
	r->upcoming = NULL;
	pthread_mutex_unlock(&r->mutex);
	r->is_moved = false;
	r->state = MOVING;
	tap_page_writer_call(r->writer, move, r, 0);
	return 1;
}

int tap_rotation_step(struct tap_rotation *r, struct tap_description *d, bool is_due, struct tap_err *err)
{
	uint64_t bytes = spool_bytes(r);

	if (r->state == MOVING && r->is_moved) {
		r->state = RECORDING;
		r->kept_bytes = 0;
	}
	if (bytes > r->kept_bytes + r->part_bytes / 8) {
		r->kept_bytes = bytes;
		sem_post(&r->go);
	}
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
	join(r);
	r->packing = r->current;
	keep_limit(r);
}

int tap_rotation_check(const struct tap_rotation *r, struct tap_err *err)
{
	return r->failed.code ? tap_err_set(err, r->failed.code, "%s", r->failed.text) : 0;
}
