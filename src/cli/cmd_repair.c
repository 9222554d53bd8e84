// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap repair: make a recording from the folder that a killed recorder left; check a recording
 * for damage.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "file/pack.h"
#include "record/session/stamped.h"
#include "cli/cmd.h"
#include "cli/cmd_report.h"
#include "cli/progress.h"

struct repair_opts {
	const char *compress, *output;
	bool verify;
};

static const struct tap_opt repair_opts[] = {
	TAP_OPTION(struct repair_opts, compress, "compress", 0, "HOW", TAP_OPT_STRING,
		   "compress the repaired file: zstd or none [none]"),
	TAP_OPTION(struct repair_opts, output, "output", 'o', "FILE", TAP_OPT_STRING,
		   "write the recording to this file, which may be on another disk [next to the "
		   "spool folder]"),
	TAP_OPTION(struct repair_opts, verify, "verify", 0, NULL, TAP_OPT_FLAG,
		   "check a recording against its checksums, without writing a file"),
	{ 0 }
};

/*
 * FILE and FILE.spool, whichever of them the user named, and the output: FILE, or the argument of
 * -o.
 */
struct paths {
	char *file, *spool;
	const char *target;
};

/* Summary of the repaired file. */
struct found {
	uint64_t events, lost, first_ns, last_ns;
	bool lost_unknown, killed;
};

static int paths_init(struct paths *p, const char *name, const char *output, struct tap_err *err)
{
	size_t len = strlen(name);

	while (len > 1 && name[len - 1] == '/')
		len--;
	if (len > strlen(TAP_SPOOL_SUFFIX) && !strncmp(name + len - strlen(TAP_SPOOL_SUFFIX),
						       TAP_SPOOL_SUFFIX, strlen(TAP_SPOOL_SUFFIX)))
		len -= strlen(TAP_SPOOL_SUFFIX);
	p->file = strndup(name, len);
	if (asprintf(&p->spool, "%.*s" TAP_SPOOL_SUFFIX, (int)len, name) < 0)
		p->spool = NULL;
	p->target = output ?: p->file;
	return p->file && p->spool ? 0 : tap_err_nomem(err);
}

static int count_found(struct found *f, const char *file, struct tap_err *err)
{
	struct tap_progress progress = { 0 };
	const struct tap_listener listener = tap_cmd_listener(&progress);
	struct tap_recording rec;
	struct tap_event ev;
	int ret = tap_recording_open(&rec, &file, 1, &listener, err);

	f->killed = json_is_false(json_object_get(rec.meta, "complete"));
	while (ret >= 0 && rec.reader && (ret = tap_reader_next(rec.reader, &ev, err)) > 0) {
		if (!f->events && !f->last_ns)
			f->first_ns = ev.ts_ns;
		f->last_ns = ev.ts_ns;
		f->events += !!ev.fmt;
		if (ev.fmt || ev.lost.is_off)
			continue;
		f->lost += ev.lost.count;
		f->lost_unknown |= !ev.lost.count;
	}
	tap_recording_close(&rec);
	return ret;
}

static void print_found(const struct found *f, const char *file)
{
	struct tap_buf b = { 0 };

	tap_text_escape(&b, file, strlen(file));
	tap_buf_printf(&b, ": %" PRIu64 " event%s, ", f->events, f->events == 1 ? "" : "s");
	if (f->lost_unknown && !f->lost)
		tap_buf_puts(&b, "some lost");
	else
		tap_buf_printf(&b, "%s%" PRIu64 " lost", f->lost_unknown ? "at least " : "",
			       f->lost);
	if (f->events) {
		tap_buf_puts(&b, ", from ");
		tap_text_ns(&b, f->first_ns);
		tap_buf_puts(&b, " to ");
		tap_text_ns(&b, f->last_ns);
	}
	if (f->killed)
		tap_buf_puts(&b, "; the recorder was killed: later events are missing");
	tap_buf_char(&b, '\n');
	fwrite(b.data, 1, b.len, stdout);
	tap_buf_release(&b);
}

static void on_note(void *progress, const char *sentence)
{
	struct tap_err note;

	tap_err_set(&note, -EINVAL, "%s", sentence);
	tap_progress_erase(progress);
	tap_cmd_fail(&note, false);
}

/* Repair while holding the folder's lock, which keeps other repairs out. */
static int repair_locked(const struct paths *p, bool zstd, struct tap_err *err)
{
	struct tap_progress progress;
	struct tap_pack_opts opts = {
		.zstd = zstd, .note = on_note, .show = tap_progress_step, .ctx = &progress
	};
	struct found found = { 0 };
	int ret = tap_pack_check_format(p->spool, err);

	if (ret)
		return ret;
	tap_progress_start(&progress, STDERR_FILENO, "packing", tap_now_ns());
	ret = tap_pack(p->spool, p->target, &opts, err);
	tap_progress_erase(&progress);
	if (!ret)
		ret = count_found(&found, p->target, err);
	if (!ret)
		print_found(&found, p->target);
	return ret;
}

static int explain_flight(const struct paths *p, struct tap_err *err)
{
	return tap_err_set(err, -ENODATA,
			   "cannot repair '%.300s': its flight recorder was killed, and the events "
			   "were only in memory; the folder was removed (if a condition had fired, "
			   "its file has a .spool folder of its own)",
			   p->spool);
}

/*
 * Append the first and the last path of the files (or with @are_folders, of the folders) in @files,
 * and their number.
 */
static void name_some(struct tap_buf *b, const struct tap_stamped_file *files, int nr,
		      bool are_folders)
{
	const char *first = NULL, *last = NULL;
	unsigned int nr_such = 0;

	for (int i = 0; i < nr; i++) {
		if (files[i].is_folder != are_folders)
			continue;
		first = first ?: files[i].path;
		last = files[i].path;
		nr_such++;
	}
	if (nr_such)
		tap_buf_printf(b, nr_such == 1 ? "'%.200s'" : "'%.200s' to '%.200s', %u %s", first,
			       last, nr_such, are_folders ? "folders" : "files");
	else
		tap_buf_puts(b, "none");
}

static int explain_ring(const struct paths *p, struct tap_err *err)
{
	struct tap_buf whole = { 0 }, left = { 0 };
	struct tap_stamped_file *files = NULL;
	struct tap_stamped names = { 0 };
	int ret = tap_stamped_init(&names, p->file, err),
	    nr = ret ?: tap_stamped_list(&names, true, &files);

	if (!ret && nr < 0)
		ret = tap_err_set(err, nr, "out of memory");
	if (ret)
		goto out;
	name_some(&whole, files, nr, false);
	name_some(&left, files, nr, true);
	ret = tap_err_set(err, -ENODATA,
			  "'%.200s' has no events: it only reserved the name of a ring on disk "
			  "(--on-disk), whose recorder was killed. It is removed now. Complete "
			  "files of the ring: %s. To be repaired: %s",
			  p->spool, tap_buf_str(&whole), tap_buf_str(&left));
out:
	tap_stamped_free_list(files, nr);
	tap_stamped_release(&names);
	tap_buf_release(&whole);
	tap_buf_release(&left);
	return ret;
}

static int repair_file(const char *name, const struct repair_opts *o, struct tap_err *err)
{
	struct paths p = { 0 };
	int ret = paths_init(&p, name, o->output, err), lock;
	enum tap_spool_kind kind;

	if (ret)
		goto out;
	kind = tap_spool_remove_held(p.spool);
	if (kind) {
		ret = kind == TAP_SPOOL_RING ? explain_ring(&p, err) : explain_flight(&p, err);
		goto out;
	}
	lock = tap_spool_lock(p.spool, err);
	if (lock == -ENOENT && !access(p.file, F_OK))
		ret = tap_err_set(err, -ENOENT,
				  "'%.300s' needs no repair: it has no .spool folder of an "
				  "interrupted recording",
				  p.file);
	else if (lock < 0)
		ret = lock;
	else
		ret = repair_locked(&p, !strcmp(o->compress, "zstd"), err);
	if (lock >= 0)
		close(lock);
out:
	free(p.file);
	free(p.spool);
	return ret;
}

/* ---- --verify ---- */

static void print_damage(const struct tap_event *ev, const char *file)
{
	struct tap_buf b = { 0 };

	tap_text_escape(&b, file, strlen(file));
	tap_buf_printf(&b, ": CPU %d is damaged from ", ev->cpu);
	if (ev->lost.first_ns)
		tap_text_ns(&b, ev->lost.first_ns);
	else
		tap_buf_puts(&b, "its beginning");
	tap_buf_puts(&b, " to ");
	if (ev->lost.last_ns != UINT64_MAX)
		tap_text_ns(&b, ev->lost.last_ns);
	else
		tap_buf_puts(&b, "its end");
	tap_buf_char(&b, '\n');
	fwrite(b.data, 1, b.len, stdout);
	tap_buf_release(&b);
}

/*
 * Read CPU by CPU instead of in time order, so that a loss is returned right after the damage that
 * caused it was found.
 */
static int verify_all(struct tap_reader *r, const char *file, uint64_t *events, struct tap_err *err)
{
	struct tap_event ev;
	uint64_t before = 0;
	int ret;

	tap_reader_verify(r, true);
	tap_reader_unmerged(r, true);
	while ((ret = tap_reader_next(r, &ev, err)) > 0) {
		*events += !!ev.fmt;
		if (ev.fmt || tap_reader_damaged(r) == before)
			continue;
		before = tap_reader_damaged(r);
		print_damage(&ev, file);
	}
	return ret;
}

static void print_verified(const struct tap_reader *r, const char *file, uint64_t events)
{
	struct tap_buf b = { 0 };

	tap_text_escape(&b, file, strlen(file));
	tap_buf_printf(&b, ": %" PRIu64 " event%s, ", events, events == 1 ? "" : "s");
	if (tap_reader_info(r)->checksums == TAP_CHECKSUMS_WHOLE)
		tap_buf_puts(&b, "all as they were written\n");
	else
		tap_buf_puts(&b, "which cannot be verified: the recording has no checksums\n");
	fwrite(b.data, 1, b.len, stdout);
	tap_buf_release(&b);
}

/* Return: 0; 1: the recording is damaged, which has been reported; -errno. */
static int verify_file(const char *name, struct tap_err *err)
{
	struct tap_progress progress = { 0 };
	const struct tap_listener listener = tap_cmd_listener(&progress);
	struct tap_recording rec;
	uint64_t events = 0;
	int ret = tap_recording_open(&rec, &name, 1, &listener, err);

	ret = ret ?: verify_all(rec.reader, name, &events, err);
	if (!ret) {
		tap_recording_note_damage(&rec);
		ret = tap_reader_damaged(rec.reader) ||
		      tap_reader_info(rec.reader)->checksums == TAP_CHECKSUMS_DAMAGED;
		if (!ret)
			print_verified(rec.reader, name, events);
	}
	tap_recording_close(&rec);
	return ret;
}

static int run_repair(void *opts, const struct tap_strings *operands, char **rest)
{
	const struct repair_opts *o = opts;
	const char *const standard = TAP_INPUT_DEFAULT;
	const char *const *names = operands->nr ? operands->v : &standard;
	struct tap_err err = { 0 };
	int code = TAP_EXIT_OK;

	(void)rest;
	if (strcmp(o->compress, "zstd") && strcmp(o->compress, "none")) {
		tap_err_set(&err, -EINVAL, "unknown compression '%.300s': use none or zstd",
			    o->compress);
		return tap_cmd_fail(&err, true);
	}
	if (o->output && operands->nr > 1) {
		tap_err_set(&err, -EINVAL, "-o names one file, so give only one recording");
		return tap_cmd_fail(&err, true);
	}
	for (unsigned int i = 0; i < (operands->nr ? operands->nr : 1); i++) {
		int ret = o->verify ? verify_file(names[i], &err) : repair_file(names[i], o, &err);

		if (ret)
			code = ret < 0 ? tap_cmd_fail(&err, false) : TAP_EXIT_FAILED;
	}
	return code;
}

const struct tap_cmd tap_cmd_repair = {
	.name = "repair",
	.help = "recover a recording after a crash or kill -9",
	.exits = "0 done, 1 failed or damaged, 2 usage error, 3 no access to the folder",
	.operands = "[FILE|FILE.spool]...",
	.example = "schedtap repair trace.dat",
	.opts = repair_opts,
	.opts_size = sizeof(struct repair_opts),
	.defaults = &(const struct repair_opts){ .compress = "none" },
	.run = run_repair,
};
