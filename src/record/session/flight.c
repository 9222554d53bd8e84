// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/flight.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "file/held_spool.h"
#include "file/pack.h"
#include "record/machine.h"
#include "record/session/flight_files.h"

#define NOTICED_NS 100000000u /* maximum delay between an event and the condition that it fires */
#define WHAT_LEN 256u
#define NO_FOLDER UINT_MAX

/* The file that is being saved. It belongs to the thread while .is_writing. */
struct moment {
	struct tap_flight_file file;
	char path[PATH_MAX], what[WHAT_LEN];
	unsigned int folder; /* number of its spool folder; or NO_FOLDER */
	json_t *meta;
	struct tap_map cgroups;
	struct tap_err err;
};

struct tap_flight {
	struct tap_flight_opts opts;
	struct tap_flight_files files;
	unsigned int nr_files; /* files that were begun */
	bool zstd;
	struct tap_spool *spool;
	struct tap_page_writer *writer;
	struct tap_held *held;
	struct tap_held_spool *folders;
	uint64_t start_ns;
	/* the buffered events are in the file: their memory may be reused */
	_Atomic bool is_copied;
	bool is_full; /* more than opts.keep_bytes are needed for the pending file */
	struct { /* conditions that fired and are not in a file yet */
		uint64_t first_ns, due_ns; /* .due_ns: when the file ends; 0: no condition fired */
		uint64_t needed_ns; /* events from this time on must stay in memory for the file */
		unsigned int nr, folder; /* .folder: number of the spool folder; or NO_FOLDER */
		char path[PATH_MAX], what[WHAT_LEN];
	} met;
	uint64_t last_to_ns; /* end of the last file's window; 0: no file yet */
	pthread_t thread;
	pid_t tid;
	sem_t go, done;
	bool is_writing, is_over;
	const char *left; /* next file of which a killed recorder left the spool folder; or NULL */
	struct moment moment;
	struct tap_err failed; /* the first failure to write a file */
};

/* ---- the thread that saves files ---- */

static void on_copied(void *flight, uint64_t done, uint64_t whole)
{
	struct tap_flight *f = flight;

	if (done == whole)
		f->is_copied = true;
}

static void remove_folder(struct tap_flight *f, struct moment *m)
{
	if (m->folder != NO_FOLDER)
		tap_held_spool_remove(f->folders, m->folder);
	m->folder = NO_FOLDER;
}

/* If the disk is too full for both the spool folder and the file, remove the folder and retry. */
static int pack_file(struct tap_flight *f, struct moment *m, const struct tap_pack_opts *opts)
{
	int ret = tap_pack(tap_spool_path(f->spool), m->path, opts, &m->err);

	if (ret != -ENOSPC || m->folder == NO_FOLDER || f->is_copied)
		return ret;
	remove_folder(f, m);
	m->err = (struct tap_err){ 0 };
	return tap_pack(tap_spool_path(f->spool), m->path, opts, &m->err);
}

static int put_in_file(struct tap_flight *f, struct moment *m, struct tap_description *d,
		       struct tap_pids *pids)
{
	struct tap_buf cmdlines = { 0 };
	struct tap_pack_moment what = { .spool = f->spool, .from_ns = m->file.from_ns };
	struct tap_pack_opts opts = {
		.zstd = f->zstd, .moment = &what, .show = on_copied, .ctx = f
	};
	char *meta = NULL;
	int ret;

	tap_description_set_window(d, m->file.from_ns, m->file.to_ns);
	ret = tap_description_end(d, pids, f->spool, true, &cmdlines, &m->err);
	if (!ret && !(meta = tap_description_text(d)))
		ret = tap_err_nomem(&m->err);
	what.meta = meta;
	what.cmdlines = tap_buf_str(&cmdlines);
	ret = ret ?: pack_file(f, m, &opts);
	free(meta);
	tap_buf_release(&cmdlines);
	return ret;
}

static void write_file(struct tap_flight *f)
{
	struct moment *m = &f->moment;
	struct tap_description d = { .meta = m->meta, .cgroups = m->cgroups };
	struct tap_pids pids = { 0 };
	uint64_t whole_from_ns = tap_held_whole_from(f->held);
	struct stat st;

	if (whole_from_ns > m->file.from_ns)
		m->file.from_ns = whole_from_ns;
	tap_pids_open(&pids);
	if (!put_in_file(f, m, &d, &pids) && !stat(m->path, &st))
		m->file.bytes = (uint64_t)st.st_size;
	remove_folder(f, m);
	tap_pids_release(&pids);
	tap_description_release(&d);
	f->is_copied = true;
}

/*
 * Make the file of a spool folder that a killed recorder left. If that recorder had saved the file,
 * or was just making or removing the folder, remove the folder only.
 */
static void repair_file(struct tap_flight *f)
{
	const struct tap_pack_opts opts = { .zstd = f->zstd };
	struct moment *m = &f->moment;
	char folder[PATH_MAX + sizeof(TAP_SPOOL_SUFFIX)];
	struct stat st;
	int lock;

	snprintf(folder, sizeof(folder), "%s" TAP_SPOOL_SUFFIX, m->path);
	lock = tap_spool_lock(folder, &m->err);
	if (lock == -ENOENT || (lock >= 0 && !access(m->path, F_OK))) {
		tap_spool_remove_left(folder);
		m->err = (struct tap_err){ 0 };
	} else if (lock >= 0 && !tap_pack_check_format(folder, &m->err) &&
		   !tap_pack(folder, m->path, &opts, &m->err) && !stat(m->path, &st)) {
		m->file.bytes = (uint64_t)st.st_size;
	}
	if (lock >= 0)
		close(lock);
}

static void *run_thread(void *arg)
{
	struct tap_flight *f = arg;

	f->tid = gettid();
	sem_post(&f->done);
	for (;;) {
		tap_sem_wait(&f->go);
		if (f->is_over)
			return NULL;
		f->moment.file.is_left ? repair_file(f) : write_file(f);
		sem_post(&f->done);
	}
}

static int start_thread(struct tap_flight *f, struct tap_err *err)
{
	int ret = tap_thread_start(&f->thread, run_thread, f);

	errno = -ret;
	if (ret)
		return tap_err_set(
			err, ret,
			"cannot start the thread that saves the flight recorder's files: %m");
	tap_sem_wait(&f->done);
	return 0;
}

/* Called by the page writer's thread once the file's events are in memory and the head is set. */
static int begin_file(struct tap_spool *spool, void *ctx, uint64_t arg, struct tap_err *err)
{
	struct tap_flight *f = ctx;

	(void)spool;
	(void)arg;
	(void)err;
	sem_post(&f->go);
	return 0;
}

/* ---- the draining thread ---- */

int tap_flight_new(const struct tap_flight_opts *opts, const char *file, bool zstd,
		   struct tap_spool *spool, struct tap_page_writer *writer, struct tap_flight **out,
		   struct tap_err *err)
{
	struct tap_flight *f = calloc(1, sizeof(*f));
	int ret;

	*out = NULL;
	if (!f)
		return tap_err_nomem(err);
	f->opts = *opts;
	f->zstd = zstd;
	f->spool = spool;
	f->held = tap_spool_held(spool);
	f->writer = writer;
	f->start_ns = tap_now_ns();
	f->met.folder = f->moment.folder = NO_FOLDER;
	sem_init(&f->go, 0, 0);
	sem_init(&f->done, 0, 0);
	ret = tap_flight_files_init(&f->files, file, opts->max_files, err)
		      ?: tap_held_spool_new(spool, writer, &f->folders, err)
		      ?: start_thread(f, err);
	if (ret) {
		tap_held_spool_free(f->folders);
		tap_flight_files_release(&f->files);
		free(f);
		return ret;
	}
	f->left = tap_flight_files_next_left(&f->files);
	*out = f;
	return 0;
}

void tap_flight_free(struct tap_flight *f)
{
	if (!f)
		return;
	if (f->is_writing)
		tap_sem_wait(&f->done);
	f->is_over = true;
	sem_post(&f->go);
	pthread_join(f->thread, NULL);
	tap_held_spool_free(f->folders);
	sem_destroy(&f->go);
	sem_destroy(&f->done);
	tap_flight_files_release(&f->files);
	free(f);
}

pid_t tap_flight_tid(const struct tap_flight *f)
{
	return f->tid;
}

pid_t tap_flight_spool_tid(const struct tap_flight *f)
{
	return tap_held_spool_tid(f->folders);
}

/* Return: the time from which on no event is missing in memory. */
static uint64_t held_from_ns(const struct tap_flight *f)
{
	uint64_t from_ns = tap_held_whole_from(f->held);

	return from_ns > f->start_ns ? from_ns : f->start_ns;
}

/*
 * Return: the time from which events must stay in memory for a condition that fires at @at_ns. If
 * the memory is limited in bytes, it is unknown how long they will last: keep the newer half of the
 * buffered events.
 */
static uint64_t needed_ns(const struct tap_flight *f, uint64_t at_ns)
{
	uint64_t held_ns = held_from_ns(f);

	if (f->opts.keep_ns)
		return f->opts.keep_ns < at_ns ? at_ns - f->opts.keep_ns : 0;
	return held_ns < at_ns ? at_ns - (at_ns - held_ns) / 2 : at_ns;
}

void tap_flight_met(struct tap_flight *f, uint64_t at_ns, const char *what)
{
	uint64_t due_ns, next_ns = f->last_to_ns;

	if (at_ns < held_from_ns(f)) /* a mark may have any time */
		at_ns = tap_now_ns();
	due_ns = at_ns + f->opts.after_ns;
	if (!f->met.due_ns) {
		f->met.first_ns = at_ns;
		f->met.needed_ns = needed_ns(f, at_ns);
		snprintf(f->met.what, sizeof(f->met.what), "%s", what);
		tap_flight_files_name(&f->files, at_ns, f->moment.path, f->met.path);
		if (next_ns)
			next_ns += at_ns - f->met.needed_ns;
		f->met.due_ns = due_ns > next_ns ? due_ns : next_ns;
	} else if (due_ns > f->met.due_ns && f->met.due_ns > tap_now_ns()) {
		next_ns = f->met.first_ns + TAP_FLIGHT_LONGER * f->opts.after_ns;
		if (next_ns > f->met.due_ns)
			f->met.due_ns = due_ns < next_ns ? due_ns : next_ns;
	}
	f->met.nr++;
}

bool tap_flight_is_due(const struct tap_flight *f, uint64_t now_ns)
{
	return f->met.due_ns && f->met.due_ns <= now_ns && !f->is_writing;
}

bool tap_flight_is_met(const struct tap_flight *f)
{
	return f->met.due_ns;
}

/* Return: the begin of the window of the pending file. */
static uint64_t from_ns(const struct tap_flight *f)
{
	/* limited in bytes: as far back as events are buffered */
	uint64_t ns = f->opts.keep_ns ? f->met.needed_ns : 0;

	return ns > f->start_ns ? ns : f->start_ns;
}

/*
 * Return: the description for the spool folder: that of @d, with the window and the clocks of the
 * pending file; NULL when out of memory.
 */
static char *describe_file(const struct tap_flight *f, const struct tap_description *d)
{
	struct tap_description part = { .meta = json_copy(d->meta) };
	uint64_t begin_ns = from_ns(f), held_ns = held_from_ns(f);
	char *text;

	if (!part.meta)
		return NULL;
	tap_description_set_window(&part, begin_ns > held_ns ? begin_ns : held_ns, 0);
	json_object_set_new(part.meta, "recorder",
			    json_deep_copy(json_object_get(d->meta, "recorder")));
	tap_description_set_file(&part, f->nr_files + 1, false);
	json_object_set_new(part.meta, "clocks", json_pack("[o]", tap_machine_clocks()));
	text = tap_description_text(&part);
	json_decref(part.meta);
	return text;
}

static void begin_folder(struct tap_flight *f, const struct tap_description *d)
{
	char *meta = describe_file(f, d);

	if (meta)
		f->met.folder = tap_held_spool_begin(f->folders, f->met.path, from_ns(f), meta);
}

static void check_folder(const struct tap_flight *f, unsigned int folder, const char *path)
{
	struct tap_err err;

	if (folder != NO_FOLDER && tap_held_spool_failed(f->folders, folder, &err) &&
	    f->opts.not_spooled)
		f->opts.not_spooled(f->opts.ctx, path, &err);
}

static int begin_saving(struct tap_flight *f, struct tap_description *d, struct tap_err *err)
{
	struct moment *m = &f->moment;
	struct tap_description copy;
	int ret = tap_description_copy(d, &copy);

	if (ret)
		return tap_err_set(err, ret, "out of memory");
	tap_description_set_file(&copy, ++f->nr_files, false);
	*m = (struct moment){
		.meta = copy.meta,
		.cgroups = copy.cgroups,
		.folder = f->met.folder,
		.file = { .path = m->path,
			  .what = m->what,
			  .from_ns = from_ns(f),
			  .to_ns = f->met.due_ns,
			  .at_ns = f->met.first_ns,
			  .nr_met = f->met.nr },
	};
	memcpy(m->what, f->met.what, sizeof(m->what));
	memcpy(m->path, f->met.path, sizeof(m->path));
	/* the recording's first reading may be outdated: the wall clock may have been set since */
	json_object_set_new(m->meta, "clocks", json_array());
	if (m->folder != NO_FOLDER)
		tap_held_spool_end(f->folders, m->folder);
	f->last_to_ns = m->file.to_ns;
	f->met.due_ns = 0;
	f->met.nr = 0;
	f->met.folder = NO_FOLDER;
	f->is_writing = true;
	f->is_copied = f->is_full = false;
	tap_page_writer_call(f->writer, begin_file, f, 0);
	return 0;
}

/* The file is saved, or saving it failed. */
static void end_saving(struct tap_flight *f)
{
	struct moment *m = &f->moment;

	f->is_writing = false;
	if (m->file.is_left)
		tap_flight_files_remove_old(&f->files);
	else if (!m->err.code && tap_flight_files_note(&f->files, m->path))
		tap_err_nomem(&m->err);
	if (m->err.code && !f->failed.code && !m->file.is_left)
		f->failed = m->err;
	m->file.err = m->err.code ? &m->err : NULL;
	if (f->opts.written)
		f->opts.written(f->opts.ctx, &m->file);
}

static void begin_repair(struct tap_flight *f)
{
	struct moment *m = &f->moment;

	*m = (struct moment){ .folder = NO_FOLDER,
			      .file = { .path = m->path, .what = m->what, .is_left = true } };
	snprintf(m->path, sizeof(m->path), "%s", f->left);
	f->left = tap_flight_files_next_left(&f->files);
	f->is_writing = true;
	f->is_copied = true;
	sem_post(&f->go);
}

static void give_back(struct tap_flight *f, uint64_t now_ns)
{
	uint64_t from_ns = f->opts.keep_ns ? needed_ns(f, now_ns - NOTICED_NS) : UINT64_MAX;

	if (f->met.due_ns > now_ns && f->is_full)
		f->met.due_ns = now_ns;
	f->is_full = tap_held_give_back(f->held, f->met.due_ns ? f->met.needed_ns : from_ns,
					f->opts.keep_bytes);
}

int tap_flight_step(struct tap_flight *f, struct tap_description *d, bool is_due,
		    struct tap_err *err)
{
	uint64_t now_ns = tap_now_ns();

	check_folder(f, f->met.folder, f->met.path);
	if (f->is_writing && !sem_trywait(&f->done))
		end_saving(f);
	if (f->met.due_ns && f->met.folder == NO_FOLDER)
		begin_folder(f, d);
	if (is_due)
		return begin_saving(f, d, err);
	if (f->left && !f->is_writing)
		begin_repair(f);
	if (!f->is_writing || f->is_copied)
		give_back(f, now_ns);
	return 0;
}

int tap_flight_end(struct tap_flight *f, struct tap_description *d, struct tap_err *err)
{
	int ret;

	if (f->is_writing) {
		tap_sem_wait(&f->done);
		end_saving(f);
	}
	if (f->met.due_ns) {
		if (f->met.due_ns > tap_now_ns())
			f->met.due_ns = tap_now_ns();
		ret = begin_saving(f, d, err);
		if (ret)
			return ret;
		tap_sem_wait(&f->done);
		end_saving(f);
	}
	return f->failed.code ? tap_err_set(err, f->failed.code, "%s", f->failed.text) : 0;
}
