// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Off-CPU time, preemptions and wakeups by stack, and waits by their components, as folded lines
 * for flame graph tools.
 */
#include "analysis/folded.h"

#include <errno.h>

#include "analysis/explain/wait_lines.h"
#include "show/export/export.h"

#define BLOCK_BYTES ((size_t)64 << 10)

struct folded {
	struct tap_export *e;
	struct tap_event_stacks *stacks;
	struct tap_folded folded;
	struct tap_keyed lines; /* for waits: entries are struct tap_wait_line */
};

static const struct kind {
	const char *name;
	enum tap_folded_of of;
	unsigned int needs;
} kinds[] = {
	{ "off-cpu", TAP_FOLDED_OFF_CPU, TAP_NEEDS_SWITCHES | TAP_NEEDS_STACKS },
	{ "preemptions", TAP_FOLDED_PREEMPTIONS, TAP_NEEDS_SWITCHES | TAP_NEEDS_STACKS },
	{ "wakeups", TAP_FOLDED_WAKEUPS,
	  TAP_NEEDS_SWITCHES | TAP_NEEDS_WAKEUPS | TAP_NEEDS_STACKS },
	{ "waits", .needs = TAP_NEEDS_SWITCHES }, /* needs no stacks */
};
#define WAITS (&kinds[sizeof(kinds) / sizeof(*kinds) - 1])

static const struct kind *find_kind(const struct tap_export_opts *opts)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, opts->of ? opts->of : kinds[0].name))
			return &kinds[i];
	return NULL;
}

static int check_options(const struct tap_export_opts *opts, struct tap_err *err)
{
	if (opts->slices || opts->by)
		return tap_err_set(err, -EINVAL, "--slices and --by need --to perfetto");
	if (!find_kind(opts))
		return tap_err_set(err, -EINVAL,
				   "bad --of '%s': use off-cpu, preemptions, wakeups, or waits",
				   opts->of);
	return 0;
}

static bool picks_task(void *ctx, const struct tap_task *task, int cpu)
{
	return tap_export_picks(ctx, task, cpu);
}

/* ---- waits: by task and component ---- */

static int on_wait(void *ctx, const struct tap_wait_told *w)
{
	struct folded *f = ctx;

	return tap_export_picks(f->e, w->task, w->cpu) ? tap_wait_lines_add(&f->lines, w) : 0;
}

static int fold_waits(struct folded *f, struct tap_err *err)
{
	struct tap_explain_waits waits;
	const struct tap_watcher watcher = { .ops = &tap_explain_waits_ops,
					     .ctx = &waits,
					     .states = TAP_EXPLAIN_STATES };
	int ret;

	tap_explain_waits_init(&waits,
			       &(const struct tap_explain_waits_opts){ .tell = on_wait, .ctx = f });
	ret = tap_run_watch(&f->e->run, &watcher, 1, err);
	tap_explain_waits_release(&waits);
	if (!ret)
		tap_wait_lines_end(&f->lines);
	return ret;
}

/* ---- stacks ---- */

static int fold_stacks(struct folded *f, const struct kind *kind, struct tap_err *err)
{
	struct tap_run *run = &f->e->run;
	struct tap_watcher watchers[2];

	if (tap_event_stacks_new(tap_reader_info(run->rec.reader), &run->survey, &f->stacks))
		return tap_err_nomem(err);
	f->folded = (struct tap_folded){ .of = kind->of,
					 .window = run->window,
					 .stacks = f->stacks,
					 .picks = picks_task,
					 .ctx = f->e };
	watchers[0] = (struct tap_watcher){ .ops = &tap_event_stacks_ops, .ctx = f->stacks };
	watchers[1] = (struct tap_watcher){ .ops = &tap_folded_ops,
					    .ctx = &f->folded,
					    .states = tap_folded_states(kind->of) };
	return tap_run_watch(run, watchers, 2, err);
}

/* Return the number of lines; only one of the two lists is used. */
static unsigned int nr_lines(const struct folded *f)
{
	return f->folded.lines.nr + f->lines.nr;
}

static int write_lines(const struct folded *f, struct tap_err *err)
{
	const struct tap_wait_line *waits = f->lines.v;
	const struct tap_folded_line *folded = f->folded.lines.v;
	struct tap_buf out = { 0 };
	int ret = 0;

	for (unsigned int i = 0; !ret && i < nr_lines(f); i++) {
		if (f->lines.nr)
			tap_wait_line_put(&waits[i], &out);
		else
			tap_folded_put(&f->folded, &folded[i], &out);
		if (out.len >= BLOCK_BYTES || i + 1 == nr_lines(f))
			ret = tap_export_file_write(f->e->file, &out, err);
	}
	tap_buf_release(&out);
	return ret;
}

static int write_folded(struct tap_export *e, struct tap_err *err)
{
	const struct kind *kind = find_kind(e->opts);
	struct folded f = { .e = e };
	int ret = tap_run_survey(&e->run, err) ?: tap_run_check_needs(&e->run, kind->needs, err);

	if (!ret)
		ret = kind == WAITS ? fold_waits(&f, err) : fold_stacks(&f, kind, err);
	if (!ret) {
		e->begin(e->ctx);
		ret = write_lines(&f, err);
		e->is_empty = !nr_lines(&f);
	}
	tap_folded_release(&f.folded);
	tap_keyed_release(&f.lines);
	tap_event_stacks_free(f.stacks);
	return ret;
}

const struct tap_export_form tap_export_folded = { .name = "folded",
						   .check = check_options,
						   .write = write_folded };
