// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Export to a Perfetto trace. */
#include "show/export/perfetto.h"

#include <errno.h>
#include <stdlib.h>

/* Small enough that a block is still in the CPU's cache when it is written. */
#define BLOCK_BYTES ((size_t)256 << 10)
/* Room for what one event adds to a block that is not full, mostly a bundle at most. */
#define ROOM_BYTES ((size_t)128 << 10)

static int check_options(const struct tap_export_opts *opts, struct tap_err *err)
{
	struct tap_request_source source;

	if (opts->of)
		return tap_err_set(err, -EINVAL, "--of needs --to folded");
	if (opts->by && !opts->slices)
		return tap_err_set(err, -EINVAL, "--by needs --slices");
	return opts->slices ? tap_request_source_init(&source, opts->slices, opts->by, err) : 0;
}

/* ---- kinds of events ---- */

static enum tap_pf_way way_of(const struct tap_pf *pf, const struct tap_format *fmt,
			      unsigned int buffer, const struct tap_ftrace_event *ftrace)
{
	const unsigned int *buffers = pf->e->run.survey.buffer;
	const enum tap_sched_kind kind = tap_sched_kind(fmt);

	/* an event in several buffers is converted only once */
	if (kind != TAP_SCHED_NONE && kind != TAP_SCHED_CGROUP_NAMED &&
	    buffers[kind] != TAP_NO_BUFFER && buffers[kind] != buffer)
		return TAP_PF_NOTHING;
	switch (kind) {
	case TAP_SCHED_SWITCH:
		return TAP_PF_SWITCH;
	case TAP_SCHED_WAKING:
		return TAP_PF_WAKING;
	case TAP_SCHED_WAKEUP: /* prefer sched_waking, which also identifies the waker */
		return buffers[TAP_SCHED_WAKING] != TAP_NO_BUFFER ? TAP_PF_NOTHING : TAP_PF_FTRACE;
	default:
		if (tap_frames_kind(fmt))
			return TAP_PF_STACK;
		return ftrace->number	     ? TAP_PF_FTRACE
		       : tap_pelt_wants(fmt) ? TAP_PF_NOTHING
					     : TAP_PF_INSTANT;
	}
}

/*
 * Return the name under which the event is written. Perfetto derives wakeups from sched_waking, and
 * the first wakeup of a new task from task_newtask; if the recording lacks these, write other
 * wakeup events as sched_waking.
 */
static const char *name_of(const struct tap_pf *pf, const struct tap_format *fmt)
{
	const unsigned int *buffers = pf->e->run.survey.buffer;
	const enum tap_sched_kind kind = tap_sched_kind(fmt);
	const bool goes_as_waking =
		kind == TAP_SCHED_WAKEUP ||
		(kind == TAP_SCHED_WAKEUP_NEW && buffers[TAP_SCHED_NEWTASK] == TAP_NO_BUFFER);

	return goes_as_waking ? "sched_waking" : fmt->name;
}

/* Return: NULL if out of memory. */
static __attribute__((noinline)) struct tap_pf_kind *add_kind(struct tap_pf *pf,
							      const struct tap_event *ev)
{
	const struct tap_format *fmt = ev->fmt;
	struct tap_pf_kind *kind = pf->kinds[fmt->id] = calloc(1, sizeof(*kind));

	if (!kind)
		return NULL;
	kind->older = pf->newest_kind;
	pf->newest_kind = kind;
	tap_ftrace_event_init(&kind->ftrace, fmt, name_of(pf, fmt));
	kind->way = way_of(pf, fmt, ev->buffer, &kind->ftrace);
	kind->bounds_slices = pf->e->opts->slices && tap_request_source_wants(&pf->source, fmt);
	if (kind->way == TAP_PF_INSTANT && tap_instant_init(&kind->instant, &pf->tracks, fmt))
		return NULL;
	kind->moves = tap_sched_kind(fmt) == TAP_SCHED_CGROUP_ATTACH ||
		      (tap_sched_kind(fmt) == TAP_SCHED_CGROUP_NAMED &&
		       (pf->e->run.pick.select->by & TAP_SELECT_CGROUPS));
	kind->does_more = kind->bounds_slices || kind->moves;
	if (kind->way == TAP_PF_SWITCH || kind->way == TAP_PF_WAKING || kind->moves) {
		kind->sched = tap_sched_formats_add(&pf->formats, fmt);
		if (!kind->sched)
			return NULL;
	}
	return kind;
}

/* ---- events ---- */

static int put_event(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev)
{
	switch (kind->way) {
	case TAP_PF_SWITCH:
		return tap_pf_put_switch(pf, kind, ev);
	case TAP_PF_WAKING:
		return tap_pf_put_waking(pf, kind, ev);
	case TAP_PF_FTRACE:
		return tap_pf_put_ftrace(pf, kind, ev);
	case TAP_PF_STACK:
		return tap_pf_put_stack(pf, kind, ev);
	case TAP_PF_INSTANT:
		return tap_pf_put_instant(pf, kind, ev);
	default:
		return 0;
	}
}

static int flush_block(struct tap_pf *pf)
{
	return pf->out.len >= BLOCK_BYTES || pf->out.err
		       ? tap_export_file_write(pf->e->file, &pf->out, &pf->failed)
		       : 0;
}

static __attribute__((noinline)) int put_loss(struct tap_pf *pf, const struct tap_event *ev)
{
	return tap_pf_put_loss(pf, ev) ?: tap_pf_count_loss(pf, ev);
}

/* Handle --slices and cgroup moves, which happen in addition to the event's conversion. */
static __attribute__((noinline)) int do_more(struct tap_pf *pf, const struct tap_pf_kind *kind,
					     const struct tap_event *ev)
{
	int ret = 0;

	if (kind->bounds_slices)
		ret = tap_pf_put_slices(pf, ev);
	if (!ret && kind->moves)
		ret = tap_pf_move(pf, kind, ev);
	return ret;
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_pf *pf = ctx;
	struct tap_pf_kind *kind;
	int ret;

	(void)t;
	if (ev->cpu >= 0 && !tap_run_cpu(&pf->e->run, ev->cpu))
		return 0;
	if (!ev->fmt)
		return put_loss(pf, ev);
	kind = pf->kinds[ev->fmt->id] ?: add_kind(pf, ev);
	if (!kind)
		return -ENOMEM;
	ret = kind->does_more ? do_more(pf, kind, ev) : 0;
	return ret ?: put_event(pf, kind, ev) ?: flush_block(pf);
}

static int on_begin(void *ctx, const struct tap_timeline *t)
{
	(void)t;
	return tap_pf_begin_cpus(ctx);
}

static bool wants_all(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	(void)fmt;
	return true;
}

static const struct tap_watcher_ops events_ops = { .begin = on_begin,
						   .wants = wants_all,
						   .event = on_event };

static int feed_events(struct tap_pf *pf, struct tap_err *err)
{
	struct tap_watcher watchers[TAP_MAX_WATCHERS] = { { .ops = &events_ops, .ctx = pf } };
	int ret = tap_pf_init_tracks(pf) ?: tap_pf_init_stacks(pf) ?:
		  tap_sched_formats_init(&pf->formats) ?: tap_pf_put_head(pf);

	pf->kinds = calloc(TAP_NR_IDS, sizeof(*pf->kinds));
	if (ret || !pf->kinds || !tap_buf_reserve(&pf->out, BLOCK_BYTES + ROOM_BYTES))
		return tap_err_nomem(err);
	ret = tap_run_watch(&pf->e->run, watchers, 1 + tap_pf_add_watchers(pf, watchers + 1), err);
	if (ret && pf->failed.code)
		*err = pf->failed;
	if (!ret && (tap_pf_end_cpus(pf) || tap_pf_end_stacks(pf) || tap_pf_end_cgroups(pf) ||
		     tap_pf_put_schedulers(pf) || tap_pf_put_end(pf)))
		ret = tap_err_nomem(err);
	return ret ?: tap_export_file_write(pf->e->file, &pf->out, err);
}

static void release_all(struct tap_pf *pf)
{
	tap_pf_release_tracks(pf);
	tap_pf_release_stacks(pf);
	for (unsigned int cpu = 0; cpu < pf->nr_bundles; cpu++)
		tap_bundle_free(pf->bundles[cpu]);
	free(pf->bundles);
	for (struct tap_pf_kind *kind = pf->newest_kind, *older; kind; kind = older) {
		older = kind->older;
		tap_instant_release(&kind->instant);
		free(kind);
	}
	free(pf->kinds);
	tap_sched_formats_release(&pf->formats);
	tap_buf_release(&pf->out);
}

static int init_slices(struct tap_pf *pf, struct tap_err *err)
{
	const struct tap_export_opts *opts = pf->e->opts;
	unsigned int nr;
	const struct tap_format *const *formats = tap_reader_formats(pf->e->run.rec.reader, &nr);

	return !opts->slices ? 0 :
	       tap_request_source_init(&pf->source, opts->slices, opts->by, err) ?:
	       tap_request_source_check(&pf->source, formats, nr, err);
}

/* Return true if the machine, which is not the first one, has nothing in the window of --time. */
static bool is_outside(struct tap_export *e)
{
	struct tap_run *run = &e->run;

	return e->machine.number && run->time.text &&
	       tap_recording_check_window(&run->rec, &run->time, run->pick.window, NULL) ==
		       -ENODATA;
}

/* Return -ERANGE if the trace's clock cannot express the machine's times. */
static int check_begin(const struct tap_export *e, struct tap_err *err)
{
	int64_t ns;

	if (!__builtin_add_overflow(e->run.window.from_ns, e->machine.shift_ns, &ns) && ns >= 0)
		return 0;
	return tap_err_set(err, -ERANGE,
			   "'%.300s' was recorded before the first machine's clock began: name it "
			   "before the other recordings",
			   e->run.rec.path);
}

static int write_perfetto(struct tap_export *e, struct tap_err *err)
{
	struct tap_pf pf = { .e = e };
	int ret;

	e->is_empty = is_outside(e);
	if (e->is_empty)
		return 0;
	ret = tap_run_survey(&e->run, err) ?: check_begin(e, err) ?: init_slices(&pf, err);
	if (!ret)
		ret = feed_events(&pf, err);
	e->is_empty = !ret && !tap_export_has_picked(&e->run);
	release_all(&pf);
	return ret;
}

const struct tap_export_form tap_export_perfetto = {
	.name = "perfetto",
	.file = "trace.pftrace",
	.side_by_side = true,
	.check = check_options,
	.write = write_perfetto,
};
