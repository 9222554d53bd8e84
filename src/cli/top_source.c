// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/top_source.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "show/out/input.h"
#include "cli/cmd.h"

#define MAX_CGROUPS 1024u
/*
 * The overhead is measured this long, this often: switching the kernel's statistics on and off
 * patches code, which interrupts all CPUs, and the statistics slow down all BPF programs.
 */
#define SAMPLE_EVERY_NS 10000000000u

int tap_top_source_live(struct tap_top_source *s, const struct tap_top_source_opts *o,
			struct tap_err *err)
{
	const struct tap_tally_opts tally = { .max_cgroups = MAX_CGROUPS,
					      .reads_tasks = o->reads_tasks,
					      .counts_task_waits = o->reads_tasks,
					      .from_waking = o->from_waking };
	int ret;

	*s = (struct tap_top_source){ .o = *o };
	ret = tap_tally_open(&s->tally, &tally, &s->why);
	if (ret && tap_cmd_without_tally(&s->why, o->from_waking))
		ret = tap_accounts_open_machine(&s->accounts, o->reads_tasks, err);
	else if (ret)
		*err = s->why;
	s->own_ns = tap_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return ret;
}

static uint64_t bytes_of(const struct tap_strings *files)
{
	uint64_t bytes = 0;
	struct stat st;

	for (unsigned int i = 0; i < files->nr; i++)
		if (!stat(files->v[i], &st))
			bytes += (uint64_t)st.st_size;
	return bytes;
}

int tap_top_source_recording(struct tap_top_source *s, const struct tap_top_source_opts *o,
			     const struct tap_strings *files, bool *usage, struct tap_err *err)
{
	const struct tap_input_opts input = { .input = *files };
	int ret;

	*s = (struct tap_top_source){ .o = *o, .files = *files, .bytes = bytes_of(files) };
	ret = tap_run_input(&s->run, &input, NULL, usage, err);
	ret = ret ?: tap_run_survey(&s->run, err);
	ret = ret ?: tap_recorded_open(&s->recorded, &s->run, err);
	s->wall = s->run.rec.wall;
	return ret;
}

void tap_top_source_close(struct tap_top_source *s)
{
	tap_tally_close(s->tally);
	tap_accounts_close(s->accounts);
	if (s->recorded)
		tap_recorded_close(s->recorded);
	tap_run_close(&s->run);
}

int tap_top_source_find(struct tap_top_source *s, const char *at, uint64_t *step,
			struct tap_err *err)
{
	const struct tap_window *whole = &s->run.window;
	struct tap_time_option option;
	struct tap_window instant;
	int ret;

	*step = 0;
	if (!at)
		return 0;
	ret = tap_time_option_parse_instant(&option, "--at", at, err)
		      ?: tap_recording_window(&s->run.rec, &option, &instant, err);
	if (ret)
		return ret;
	if (instant.from_ns < whole->from_ns || instant.from_ns > whole->to_ns)
		return tap_err_set(err, -EINVAL, "--at: the time is not in the recording");
	if (instant.from_ns > whole->from_ns)
		*step = (instant.from_ns - whole->from_ns - 1) / s->o.delay_ns;
	return 0;
}

uint64_t tap_top_source_steps(const struct tap_top_source *s)
{
	uint64_t ns = s->run.window.to_ns - s->run.window.from_ns;

	return (ns + s->o.delay_ns - 1) / s->o.delay_ns;
}

void tap_top_source_sample(struct tap_top_source *s)
{
	uint64_t now_ns = tap_now_ns();
	int64_t ns;

	if (!s->tally || (s->sampled_ns && now_ns - s->sampled_ns < SAMPLE_EVERY_NS))
		return;
	s->sampled_ns = now_ns;
	ns = tap_tally_overhead(s->tally, TAP_TOP_SAMPLE_NS, NULL);
	s->ns_per_switch = ns > 0 ? (uint64_t)ns : 0;
}

static int read_recording(struct tap_top_source *s, uint64_t to_ns, struct tap_top_reading *r,
			  struct tap_err *err)
{
	uint64_t from_ns = to_ns > s->o.delay_ns ? to_ns - s->o.delay_ns : 0;
	int ret;

	/* the files are mapped: to read where a file has become shorter would be fatal */
	if (bytes_of(&s->files) < s->bytes)
		return tap_err_set(err, -ESTALE,
				   "'%.300s' became shorter, or was removed, while it was open",
				   s->files.v[0]);
	if (to_ns > s->run.window.to_ns) /* the last step is shorter */
		to_ns = s->run.window.to_ns;
	ret = tap_recorded_read(s->recorded, from_ns, to_ns, &r->tally, err);

	r->refresh = (struct tap_top_refresh){ .view = &r->tally, .is_recorded = true };
	if (s->wall.is_known)
		r->refresh.realtime_ns = tap_wall_from(&s->wall, to_ns);
	return ret;
}

static int read_live(struct tap_top_source *s, struct tap_top_reading *r, struct tap_err *err)
{
	uint64_t own_ns = tap_clock_ns(CLOCK_PROCESS_CPUTIME_ID), used_ns = own_ns - s->own_ns;
	int ret = s->tally ? tap_tally_read(s->tally, &r->tally, err)
			   : tap_accounts_read(s->accounts, &r->accounts, err);
	int64_t realtime_ns = (int64_t)tap_clock_ns(CLOCK_REALTIME);

	s->own_ns = own_ns;
	r->refresh = (struct tap_top_refresh){ .view = s->tally ? &r->tally : NULL,
					       .realtime_ns = realtime_ns,
					       .ns_per_switch = s->ns_per_switch,
					       .own_cpu_ns = used_ns };
	r->proc = (struct tap_top_accounts){ .view = &r->accounts,
					     .why = s->why.text,
					     .realtime_ns = realtime_ns,
					     .own_cpu_ns = used_ns };
	return ret;
}

int tap_top_source_read(struct tap_top_source *s, uint64_t to_ns, struct tap_top_reading *r,
			struct tap_err *err)
{
	return s->recorded ? read_recording(s, to_ns, r, err) : read_live(s, r, err);
}
