// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/session/flight.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/thread.h"
#include "capture/machine.h"
#include "recording/pack.h"

#define NOTICED_NS 100000000u /* what is met is known so much later, at most */
#define WHAT_LEN 256u
#define SUFFIX ".dat"
#define STAMP_LEN (sizeof("-20261122T004705.825" SUFFIX) - 1)

/* What a file is made of: the thread's, while .is_writing. */
struct moment {
	struct tap_flight_file file;
	char path[PATH_MAX], what[WHAT_LEN];
	json_t *meta;
	struct tap_map cgroups;
	struct tap_err err;
};

struct tap_flight {
	struct tap_flight_opts opts;
	char *prefix; /* of the files' names */
	bool zstd;
	struct tap_spool *spool;
	struct tap_page_writer *writer;
	struct tap_held *held;
	uint64_t start_ns;
	_Atomic bool is_copied; /* what is held to the file: it is needed no more */
	bool is_full; /* of what is needed */
	struct { /* met, and in no file yet */
		uint64_t first_ns, due_ns; /* due: 0: nothing was */
		uint64_t needed_ns; /* what came then and later is to be in the file */
		unsigned int nr;
		char what[WHAT_LEN];
	} met;
	uint64_t last_to_ns; /* of the last file */
	pthread_t thread;
	pid_t tid;
	sem_t go, done;
	bool is_writing, is_over;
	struct moment moment;
	char **written; /* owned; paths of this recorder's files that are to stay, in their order */
	unsigned int nr_written, cap_written;
	struct tap_err failed; /* the first one */
};

/* ---- the thread ----------------------------------------------------------------------------- */

static void on_copied(void *flight, uint64_t done, uint64_t whole)
{
	struct tap_flight *f = flight;

	if (done == whole)
		f->is_copied = true;
}

static int put_in_file(struct tap_flight *f, struct moment *m, struct tap_description *d, struct tap_pids *pids)
{
	struct tap_buf cmdlines = { 0 };
	struct tap_pack_moment what = { .spool = f->spool, .from_ns = m->file.from_ns };
	struct tap_pack_opts opts = { .zstd = f->zstd, .moment = &what, .show = on_copied, .ctx = f };
	char *meta = NULL;
	int ret;

	tap_description_set_window(d, m->file.from_ns, m->file.to_ns);
	ret = tap_description_end(d, pids, f->spool, true, &cmdlines, &m->err);
	if (!ret && !(meta = tap_description_text(d)))
		ret = tap_err_set(&m->err, -ENOMEM, "out of memory");
	what.meta = meta;
	what.cmdlines = tap_buf_str(&cmdlines);
	ret = ret ?: tap_pack(tap_spool_path(f->spool), m->path, &opts, &m->err);
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
	tap_pids_release(&pids);
	tap_description_release(&d);
	f->is_copied = true;
}

static void *run(void *arg)
{
	struct tap_flight *f = arg;

	f->tid = gettid();
	sem_post(&f->done);
	for (;;) {
		tap_sem_wait(&f->go);
		if (f->is_over)
			return NULL;
		write_file(f);
		sem_post(&f->done);
	}
}

static int start_thread(struct tap_flight *f, struct tap_err *err)
{
	int ret = tap_thread_start(&f->thread, run, f);

	errno = -ret;
	if (ret)
		return tap_err_set(err, ret, "cannot start the thread that saves the flight recorder's files: %m");
	tap_sem_wait(&f->done);
	return 0;
}

/* All that is to be in the file is held, and the head has what it is of. */
static int begin_file(struct tap_spool *spool, void *ctx, uint64_t arg, struct tap_err *err)
{
	struct tap_flight *f = ctx;

	(void)spool;
	(void)arg;
	(void)err;
	sem_post(&f->go);
	return 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* By the wall time of what was met; two of one millisecond, or when the clock was set back, by the next that is free. */
static void name_file(const struct tap_flight *f, uint64_t at_ns, char path[PATH_MAX])
{
	uint64_t ms = (tap_clock_ns(CLOCK_REALTIME) - (tap_now_ns() - at_ns)) / 1000000u;
	struct tm tm;

	do {
		time_t s = (time_t)(ms / 1000);
		char stamp[32];

		localtime_r(&s, &tm);
		strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
		snprintf(path, PATH_MAX, "%s-%s.%03u" SUFFIX, f->prefix, stamp, (unsigned int)(ms++ % 1000));
	} while (!access(path, F_OK));
}

static bool is_ours(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	const char *at = name + len;

	if (strncmp(name, prefix, len) || strlen(at) != STAMP_LEN)
		return false;
	for (const char *like = "-00000000T000000.000" SUFFIX; *like; like++, at++)
		if (*like == '0' ? *at < '0' || *at > '9' : *at != *like)
			return false;
	return true;
}

static void forget_written(struct tap_flight *f)
{
	free(f->written[0]);
	memmove(f->written, f->written + 1, --f->nr_written * sizeof(*f->written));
}

static bool is_written(const struct tap_flight *f, const char *path)
{
	for (unsigned int i = 0; i < f->nr_written; i++)
		if (!strcmp(f->written[i], path))
			return true;
	return false;
}

/*
 * The oldest ones: of recorders before this one by their names, then its own in the order in which it wrote them,
 * for the clock may have been set back. The newest stays.
 */
static void remove_old(struct tap_flight *f)
{
	char folder[PATH_MAX], first[PATH_MAX], path[PATH_MAX + NAME_MAX + 2];
	const char *prefix = basename(strcpy(first, f->prefix));
	size_t dir_len = strlen(f->prefix) - strlen(prefix);
	struct dirent **files = NULL;
	unsigned int left = 0;
	int nr = scandir(dirname(strcpy(folder, f->prefix)), &files, NULL, alphasort);

	for (int i = 0; i < nr; i++)
		left += is_ours(files[i]->d_name, prefix);
	for (int i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%.*s%s", (int)dir_len, f->prefix, files[i]->d_name);
		if (left > f->opts.max_files && is_ours(files[i]->d_name, prefix) && !is_written(f, path))
			left -= !unlink(path);
		free(files[i]);
	}
	free(files);
	for (; left > f->opts.max_files && f->nr_written > 1; forget_written(f))
		left -= !unlink(f->written[0]);
}

/* Return: 0 or -ENOMEM. */
static int note_written(struct tap_flight *f, const char *path)
{
	if (!f->opts.max_files)
		return 0;
	if (tap_array_grow(&f->written, f->nr_written, &f->cap_written, sizeof(*f->written)))
		return -ENOMEM;
	f->written[f->nr_written] = strdup(path);
	if (!f->written[f->nr_written])
		return -ENOMEM;
	f->nr_written++;
	remove_old(f);
	while (f->nr_written > f->opts.max_files) /* others were taken away by somebody else */
		forget_written(f);
	return 0;
}

/* ---- who drains ----------------------------------------------------------------------------- */

int tap_flight_new(const struct tap_flight_opts *opts, const char *file, bool zstd, struct tap_spool *spool,
		   struct tap_page_writer *writer, struct tap_flight **out, struct tap_err *err)
{
	struct tap_flight *f = calloc(1, sizeof(*f));
	size_t len = strlen(file), suffix = strlen(SUFFIX);
	int ret;

	*out = NULL;
	if (!f)
		return tap_err_set(err, -ENOMEM, "out of memory");
	if (len + STAMP_LEN >= PATH_MAX) {
		free(f);
		return tap_err_set(err, -ENAMETOOLONG, "the file name '%.300s' is too long", file);
	}
	f->opts = *opts;
	f->zstd = zstd;
	f->spool = spool;
	f->held = tap_spool_held(spool);
	f->writer = writer;
	f->start_ns = tap_now_ns();
	if (len > suffix && !strcmp(file + len - suffix, SUFFIX))
		len -= suffix;
	f->prefix = strndup(file, len);
	sem_init(&f->go, 0, 0);
	sem_init(&f->done, 0, 0);
	ret = f->prefix ? start_thread(f, err) : tap_err_set(err, -ENOMEM, "out of memory");
	if (ret) {
		free(f->prefix);
		free(f);
		return ret;
	}
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
	sem_destroy(&f->go);
	sem_destroy(&f->done);
	while (f->nr_written)
		forget_written(f);
	free(f->written);
	free(f->prefix);
	free(f);
}

pid_t tap_flight_tid(const struct tap_flight *f)
{
	return f->tid;
}

/* From when on all is held. */
static uint64_t held_from_ns(const struct tap_flight *f)
{
	uint64_t from_ns = tap_held_whole_from(f->held);

	return from_ns > f->start_ns ? from_ns : f->start_ns;
}

/*
 * What came then and later is to be in the file of what is met at @at_ns. By bytes, how long they will last nobody knows:
 * half of what led to it.
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

	if (at_ns < held_from_ns(f)) /* a mark may be of any time */
		at_ns = tap_now_ns();
	due_ns = at_ns + f->opts.after_ns;
	if (!f->met.due_ns) {
		f->met.first_ns = at_ns;
		f->met.needed_ns = needed_ns(f, at_ns);
		snprintf(f->met.what, sizeof(f->met.what), "%s", what);
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

static int begin(struct tap_flight *f, struct tap_description *d, struct tap_err *err)
{
	struct moment *m = &f->moment;
	uint64_t from_ns = f->opts.keep_ns ? f->met.needed_ns : 0; /* by bytes, as far as there is something */
	int ret = 0;

	if (from_ns < f->start_ns)
		from_ns = f->start_ns;
	*m = (struct moment){
		.meta = json_deep_copy(d->meta),
		.file = { .path = m->path, .what = m->what, .from_ns = from_ns, .to_ns = f->met.due_ns,
			  .at_ns = f->met.first_ns, .nr_met = f->met.nr },
	};
	memcpy(m->what, f->met.what, sizeof(m->what));
	tap_map_for_each(&d->cgroups, c)
		ret = ret ?: tap_machine_put_text(&m->cgroups, c->key, (const char *)(uintptr_t)c->value);
	if (!m->meta || ret) {
		json_decref(m->meta);
		tap_machine_release_texts(&m->cgroups);
		return tap_err_set(err, -ENOMEM, "out of memory");
	}
	/* a clock may have been set since the recording began */
	json_object_set_new(m->meta, "clocks", json_array());
	name_file(f, f->met.first_ns, m->path);
	f->last_to_ns = m->file.to_ns;
	f->met.due_ns = 0;
	f->met.nr = 0;
	f->is_writing = true;
	f->is_copied = f->is_full = false;
	tap_page_writer_call(f->writer, begin_file, f, 0);
	return 0;
}

/* The file is written, or could not be. */
static void end(struct tap_flight *f)
{
	struct moment *m = &f->moment;

	f->is_writing = false;
	if (!m->err.code && note_written(f, m->path))
		tap_err_set(&m->err, -ENOMEM, "out of memory");
	if (m->err.code && !f->failed.code)
		f->failed = m->err;
	m->file.err = m->err.code ? &m->err : NULL;
	if (f->opts.written)
		f->opts.written(f->opts.ctx, &m->file);
}

static void give_back(struct tap_flight *f, uint64_t now_ns)
{
	uint64_t from_ns = f->opts.keep_ns ? needed_ns(f, now_ns - NOTICED_NS) : UINT64_MAX;

	if (f->met.due_ns > now_ns && f->is_full)
		f->met.due_ns = now_ns;
	f->is_full = tap_held_give_back(f->held, f->met.due_ns ? f->met.needed_ns : from_ns, f->opts.keep_bytes);
}

int tap_flight_step(struct tap_flight *f, struct tap_description *d, bool is_due, struct tap_err *err)
{
	uint64_t now_ns = tap_now_ns();

	if (f->is_writing && !sem_trywait(&f->done))
		end(f);
	if (is_due)
		return begin(f, d, err);
	if (!f->is_writing || f->is_copied)
		give_back(f, now_ns);
	return 0;
}

int tap_flight_end(struct tap_flight *f, struct tap_description *d, struct tap_err *err)
{
	int ret;

	if (f->is_writing) {
		tap_sem_wait(&f->done);
		end(f);
	}
	if (f->met.due_ns) {
		if (f->met.due_ns > tap_now_ns())
			f->met.due_ns = tap_now_ns();
		ret = begin(f, d, err);
		if (ret)
			return ret;
		tap_sem_wait(&f->done);
		end(f);
	}
	return f->failed.code ? tap_err_set(err, f->failed.code, "%s", f->failed.text) : 0;
}
