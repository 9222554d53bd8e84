// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "file/pack.h"
#include "record/backend.h"
#include "record/session/priority.h"
#include "record/session/session.h"
#include "analysis/condition/watch.h"
#include "show/report/lost_programs.h"
#include "cli/child.h"
#include "cli/cmd.h"
#include "cli/define.h"
#include "cli/progress.h"
#include "cli/task_end.h"

#define PROGRESS_NS 250000000ull
#define SOON_NS 1000000u
#define NR_FDS 4 /* descriptors polled by record_events(), not counting those for tasks' ends */
/* Wait for a task's last sched_switch: its pidfd becomes readable before that event. */
#define LAST_SWITCH_US 10000

struct record_opts {
	const char *output, *compress, *backend;
	struct tap_select_words select;
	struct tap_strings definitions, triggers, stacks, conditions;
	const char *keep;
	uint64_t duration_ns, buffer_bytes, max_bytes, after_ns, disk_bytes;
	int64_t max_files;
	int64_t priority;
	bool lean, follow, command_lines;
};

/* State of a recording, and of the command that may run under it. */
struct run {
	const struct record_opts *opts;
	struct tap_select *select;
	struct tap_cli_defs own;
	struct tap_session *session;
	struct rlimit files; /* original limit of open files, restored for the command */
	int signals; /* signalfd with the signals that take_signals() handles */
	struct tap_task_end *ends; /* the tasks of -t, or else of -p */
	unsigned int nr_ends;
	struct tap_child command; /* TAP_CHILD_NONE: none */
	bool interrupted;
	const char *why; /* the reason for an early end, for the last line; or NULL */
	struct tap_flight_opts flight;
	struct tap_rotation_opts rotation;
	struct tap_condition **conditions;
	uint64_t *nr_met; /* owned; how often each of .conditions fired */
	unsigned int nr_conditions;
	struct tap_watch *watch; /* NULL: there are no conditions */
	bool is_refused; /* a condition can never fire in this recording */
	unsigned int nr_files; /* number of files written by the flight recorder or --on-disk */
	struct tap_progress packing;
};

#define T struct record_opts
static const struct tap_opt record_table[] = {
	TAP_OPT_OUTPUT(T, output, "trace.dat"),
	TAP_OPTION(T, select.events, "event", 'e', "EVENT", TAP_OPT_STRINGS,
		   "only these events: a name, group, system or SYSTEM:NAME, a glob, or a new "
		   "event such as 'sched_switch{prev=prev->pid}'; repeatable"),
	TAP_OPT_FILTER(T, select.filters, select.events),
	TAP_OPTION(T, lean, "lean", 0, NULL, TAP_OPT_FLAG,
		   "record only switches, in 40 bytes each, without wakeups: reports count waits "
		   "from the queue on; -e adds events"),
	TAP_OPT_DEFINE(T, definitions),
	TAP_OPTION(T, triggers, "trigger", 0, "TRIGGER", TAP_OPT_STRINGS,
		   "set an event trigger, such as 'sched_switch: traceoff:1 if next_pid == 42'; "
		   "repeatable"),
	TAP_OPTION(T, stacks, "stack", 0, "STACK", TAP_OPT_STRINGS,
		   "record stacks with an event: EVENT[:kernel|user|both][,depth=N], such as "
		   "sched_switch; repeatable"),
	TAP_OPTION(T, duration_ns, "duration", 'd', "TIME", TAP_OPT_TIME,
		   "stop after this time [until Ctrl-C]"),
	TAP_OPT_PIDS(T, select.tgids),
	TAP_OPTION(T, follow, "follow", 0, NULL, TAP_OPT_FLAG,
		   "record the child processes of -p processes as well"),
	TAP_OPT_TIDS(T, select.tids),
	TAP_OPT_COMMS(T, select.comms),
	TAP_OPT_CGROUPS(T, select.cgroups),
	TAP_OPT_CPUS(T, select.cpus),
	TAP_OPTION(T, backend, "backend", 'b', "NAME", TAP_OPT_STRING,
		   "use only this backend: bpf, tracefs, or user (programs' own events) [for each "
		   "event, the backend with the least overhead]"),
	TAP_OPTION(T, buffer_bytes, "buffer", 0, "SIZE", TAP_OPT_SIZE,
		   "ring buffer per CPU, rounded up to a power of two [8M; with over 32 CPUs less, "
		   "down to 1M]"),
	TAP_OPTION(T, max_bytes, "max-size", 0, "SIZE", TAP_OPT_SIZE,
		   "stop when SIZE bytes have been recorded [no limit]"),
	TAP_OPTION(T, keep, "keep", 0, "TIME|SIZE", TAP_OPT_STRING,
		   "flight recorder: keep the last 10s or 64M in memory, save a file when a "
		   "condition fires"),
	TAP_OPTION(T, disk_bytes, "on-disk", 0, "SIZE", TAP_OPT_SIZE,
		   "record to disk all the time, into several files of at most SIZE in total, and "
		   "remove the oldest files; with --keep 24h also older ones"),
	TAP_OPTION(T, conditions, "when", 0, "CONDITION", TAP_OPT_STRINGS,
		   "with --keep: save a file when this condition fires, such as 'waking > 5ms'; "
		   "with --on-disk: only mark it; repeatable"),
	TAP_OPTION(T, after_ns, "after", 0, "TIME", TAP_OPT_TIME,
		   "with --keep: record for TIME after a condition fires, then save the file [1s]"),
	{ "max-files", 0, "N", "with --keep: keep only the N newest files [0: keep all files]",
	  TAP_OPT_INT, .offset = offsetof(T, max_files), .max = INT32_MAX },
	{ "priority", 'r', "PRIO",
	  "real-time priority of the recorder; 0: no real-time priority [40 where allowed]",
	  TAP_OPT_INT, .offset = offsetof(T, priority), .max = 99 },
	TAP_OPTION(T, command_lines, "command-lines", 0, NULL, TAP_OPT_FLAG,
		   "store the command lines of processes, which may contain secrets"),
	TAP_OPTION(T, compress, "compress", 0, "METHOD", TAP_OPT_STRING,
		   "compress the data while recording: zstd or none [none]"),
	{ 0 }
};
#undef T

static const struct record_opts record_defaults = {
	.output = "trace.dat",
	.compress = "none",
	.duration_ns = UINT64_MAX,
	.after_ns = 1000000000,
	.priority = TAP_PRIORITY_DEFAULT,
};

static int check_options(const struct record_opts *o, struct tap_err *err)
{
	if (strcmp(o->compress, "none") && strcmp(o->compress, "zstd"))
		return tap_err_set(err, -EINVAL, "unknown compression '%s': use none or zstd",
				   o->compress);
	if (o->backend && strcmp(o->backend, "bpf") && strcmp(o->backend, "tracefs") &&
	    strcmp(o->backend, "user"))
		return tap_err_set(err, -EINVAL, "unknown backend '%s': use bpf, tracefs or user",
				   o->backend);
	if (!o->duration_ns)
		return tap_err_set(err, -EINVAL, "-d 0: the duration must be longer than 0");
	if (o->buffer_bytes > 256u << 20)
		return tap_err_set(err, -EINVAL, "--buffer: the size must be at most 256M per CPU");
	if (!*o->output)
		return tap_err_set(err, -EINVAL, "-o needs a file name");
	if (!strcmp(o->output, "-"))
		return tap_err_set(
			err, -EINVAL,
			"-o -: a recording cannot be written to standard output: name a file");
	if (o->disk_bytes && (o->after_ns != record_defaults.after_ns || o->max_files))
		return tap_err_set(err, -EINVAL, "%s cannot be combined with --on-disk",
				   o->max_files ? "--max-files" : "--after");
	if (o->disk_bytes && o->disk_bytes < TAP_ROTATION_MIN_BYTES)
		return tap_err_set(err, -EINVAL, "--on-disk: the size must be at least %dM",
				   (int)(TAP_ROTATION_MIN_BYTES >> 20));
	if (o->disk_bytes && o->triggers.nr)
		return tap_err_set(err, -EINVAL,
				   "--trigger cannot be combined with --on-disk: a file would not "
				   "say which events a trigger had switched off before its start");
	if (o->disk_bytes && o->max_bytes)
		return tap_err_set(err, -EINVAL,
				   "--max-size cannot be combined with --on-disk: use -d to end "
				   "the recording");
	if (!o->keep && (o->after_ns != record_defaults.after_ns || o->max_files))
		return tap_err_set(err, -EINVAL, "%s needs --keep",
				   o->max_files ? "--max-files" : "--after");
	if (!o->keep && !o->disk_bytes && o->conditions.nr)
		return tap_err_set(err, -EINVAL, "--when needs --keep or --on-disk");
	if (o->keep && o->triggers.nr)
		return tap_err_set(
			err, -EINVAL,
			"--trigger cannot be combined with --keep: a saved file would not say "
			"which events a trigger had switched off before its start; use --when");
	if (o->keep && o->max_bytes)
		return tap_err_set(err, -EINVAL,
				   "--max-size cannot be combined with --keep: a flight recorder "
				   "keeps only the newest events");
	if (o->follow && !o->select.tgids.nr)
		return tap_err_set(err, -EINVAL, "--follow needs -p");
	return 0;
}

static int read_on_disk(const struct record_opts *o, struct tap_rotation_opts *rotation,
			struct tap_err *err)
{
	rotation->max_bytes = o->disk_bytes;
	if (!o->keep)
		return 0;
	if (tap_text_parse_time(o->keep, &rotation->keep_ns) || !rotation->keep_ns)
		return tap_err_set(err, -EINVAL,
				   "--keep '%.100s' with --on-disk: expected a time, such as 24h",
				   o->keep);
	return 0;
}

/* Parse --keep: a time such as "10s" or a size such as "64M". */
static int read_keep(const struct record_opts *o, struct tap_flight_opts *flight,
		     struct tap_err *err)
{
	if (!o->keep)
		return 0;
	flight->after_ns = o->after_ns;
	flight->max_files = (unsigned int)o->max_files;
	if (tap_text_parse_time(o->keep, &flight->keep_ns) &&
	    tap_text_parse_size(o->keep, &flight->keep_bytes))
		return tap_err_set(
			err, -EINVAL,
			"--keep '%.100s': expected a time, such as 10s, or a size, such as 64M",
			o->keep);
	if (!flight->keep_ns && !flight->keep_bytes)
		return tap_err_set(err, -EINVAL,
				   "--keep %.100s: the time or size must be greater than 0",
				   o->keep);
	return 0;
}

static int read_conditions(struct run *run, struct tap_err *err)
{
	const struct tap_strings *texts = &run->opts->conditions;
	int ret = 0;

	run->conditions = calloc(texts->nr + 1, sizeof(*run->conditions));
	run->nr_met = calloc(texts->nr + 1, sizeof(*run->nr_met));
	if (!run->conditions || !run->nr_met)
		return tap_err_nomem(err);
	for (unsigned int i = 0; i < texts->nr && !ret; i++) {
		ret = tap_condition_parse(texts->v[i], &run->conditions[i], err);
		run->nr_conditions += !ret;
	}
	return ret;
}

static int follow_spool(void *ctx, const char *spool_path, struct tap_held *held,
			struct tap_err *err)
{
	struct run *run = ctx;
	int ret = 0;

	if (run->nr_conditions)
		ret = tap_watch_new(run->conditions, run->nr_conditions, spool_path, held,
				    &run->watch, err);
	run->is_refused = ret;
	return ret ?: run->watch != NULL;
}

static int on_read(void *ctx, uint64_t until_ns, struct tap_err *err)
{
	return tap_watch_read(((struct run *)ctx)->watch, until_ns, err);
}

static void on_packing(void *ctx, uint64_t done, uint64_t whole)
{
	tap_progress_step(&((struct run *)ctx)->packing, done, whole);
}

/*
 * Mark the conditions that fired. Shorten the time to the next drain, so that the mark is in the
 * recording soon.
 */
static int take_met(struct run *run, uint64_t *wait_ns, struct tap_err *err)
{
	struct tap_met met;
	int ret = 0;

	if (!run->watch)
		return 0;
	while (!ret && tap_watch_take(run->watch, &met)) {
		for (unsigned int i = 0; i < run->nr_conditions; i++)
			run->nr_met[i] += run->conditions[i] == met.condition;
		ret = tap_session_met(run->session, met.at_ns, met.tid, met.comm,
				      tap_condition_text(met.condition), err);
		if (*wait_ns > SOON_NS)
			*wait_ns = SOON_NS;
	}
	return ret;
}

static int on_read_all(void *ctx, struct tap_err *err)
{
	uint64_t wait_ns = 0;

	return take_met(ctx, &wait_ns, err);
}

static int open_session(struct run *run, struct tap_err *err)
{
	const struct record_opts *o = run->opts;
	struct tap_session_opts so = {
		.file = o->output,
		.select = run->select,
		.own = &run->own.defs,
		.kernel = run->own.kernel,
		.backend = o->backend,
		.triggers = &o->triggers,
		.stacks = &o->stacks,
		.lean = o->lean,
		.follow_children = o->follow,
		.buffer_bytes = o->buffer_bytes,
		.priority = (int)o->priority,
		.zstd = !strcmp(o->compress, "zstd"),
		.command_lines = o->command_lines,
		.flight = run->flight,
		.rotation = run->rotation,
		.follow = follow_spool,
		.read = on_read,
		.read_all = on_read_all,
		.packing = on_packing,
		.ctx = run,
	};

	return tap_session_open(&so, &run->session, err);
}

/*
 * Open the tasks of -p or -t. It is an error if one does not exist; the recording ends when all of
 * them have ended.
 */
static int watch_tasks(struct run *run, struct tap_err *err)
{
	bool threads = run->opts->select.tids.nr;
	const struct tap_select_ids *ids = threads ? &run->select->tids : &run->select->tgids;
	int ret = 0;

	run->ends = calloc(ids->nr + 1, sizeof(*run->ends));
	if (!run->ends)
		return tap_err_nomem(err);
	for (unsigned int i = 0; !ret && i < ids->nr; i++) {
		ret = tap_task_end_open(&run->ends[i], ids->v[i], threads, err);
		run->nr_ends += !ret;
	}
	return ret;
}

/* In the child: undo what we changed for ourselves. */
static void restore(void *arg)
{
	const struct run *run = arg;

	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_NOFILE, &run->files);
}

static void print_progress(const struct run *run)
{
	struct tap_buf name = { 0 };
	struct tap_session_stats st;
	double seconds;

	tap_session_stats(run->session, &st);
	seconds = (double)(tap_now_ns() - st.start_ns) / 1e9;
	tap_text_escape(&name, run->opts->output, strlen(run->opts->output));
	fprintf(stderr, "\r%.1f s  %.0f events/s  %.1f MB in %s%s  %llu lost \033[K", seconds,
		(double)st.events / seconds, (double)st.bytes / 1e6, tap_buf_str(&name),
		run->opts->disk_bytes ? "" : ".spool", (unsigned long long)st.lost);
	tap_buf_release(&name);
}

/* Handle pending signals: SIGUSR1 adds a mark, all others end the recording. */
static int take_signals(struct run *run, struct tap_err *err)
{
	struct signalfd_siginfo info;
	int ret = 0;

	while (!ret && !run->interrupted &&
	       read(run->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			ret = tap_session_mark(run->session, (pid_t)info.ssi_pid, "SIGUSR1", err);
		else
			run->interrupted = true;
	}
	return ret;
}

/* Return true if the recording is over, according to the signals and what poll() reported. */
static bool is_over(struct run *run, const struct pollfd *fds)
{
	unsigned int ended = 0;

	if (run->interrupted) {
		run->why = "stopped by a signal";
		return true;
	}
	if (fds[1].revents)
		return true; /* the command has ended */
	for (unsigned int i = 0; i < run->nr_ends; i++)
		ended += tap_task_end_came(&run->ends[i], fds[NR_FDS + i].revents);
	if (!run->nr_ends || run->opts->follow ||
	    tap_session_goes_on(run->session, run->nr_ends - ended))
		return false;
	usleep(LAST_SWITCH_US);
	run->why = run->opts->select.tids.nr ? "the thread ended" : "the process ended";
	return true;
}

static bool is_full(struct run *run)
{
	struct tap_session_stats st;

	tap_session_stats(run->session, &st);
	if (!run->opts->max_bytes || st.bytes < run->opts->max_bytes)
		return false;
	run->why = "reached --max-size";
	return true;
}

static int record_events(struct run *run, struct tap_err *err)
{
	uint64_t start = tap_now_ns(), wait_ns, shown = start;
	bool terminal = isatty(STDERR_FILENO);
	struct pollfd *fds = calloc(run->nr_ends + NR_FDS, sizeof(*fds));
	int ret;

	if (!fds)
		return tap_err_nomem(err);
	do {
		uint64_t now = tap_now_ns(), end = run->opts->duration_ns;
		struct timespec ts;

		ret = tap_session_drain(run->session, &wait_ns, err)
			      ?: take_met(run, &wait_ns, err);
		if (ret || now - start >= end || is_full(run))
			break;
		if (wait_ns > end - (now - start))
			wait_ns = end - (now - start);
		if (terminal && now - shown >= PROGRESS_NS) {
			print_progress(run);
			shown = now;
		}
		fds[0] = (struct pollfd){ .fd = run->signals, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = run->command.end_fd, .events = POLLIN };
		fds[2] = (struct pollfd){ .fd = tap_session_wake_fd(run->session),
					  .events = POLLIN };
		fds[3] = (struct pollfd){ .fd = tap_session_mark_fd(run->session),
					  .events = POLLIN };
		for (unsigned int i = 0; i < run->nr_ends; i++)
			fds[NR_FDS + i] =
				(struct pollfd){ .fd = run->ends[i].fd, .events = POLLIN };
		ts = (struct timespec){ .tv_sec = (time_t)(wait_ns / 1000000000u),
					.tv_nsec = (long)(wait_ns % 1000000000u) };
		ppoll(fds, run->nr_ends + NR_FDS, &ts, NULL);
		ret = take_signals(run, err);
	} while (!ret && !is_over(run, fds));
	free(fds);
	if (terminal)
		fputs("\r\033[K", stderr);
	return ret;
}

/*
 * Return true if an -e names this event, by its name or as SYSTEM:NAME, rather than a group of
 * events.
 */
static bool is_named(const struct tap_plan *plan, const struct tap_plan_event *ev)
{
	for (unsigned int i = 0; i < plan->select->nr_events; i++) {
		const char *word = plan->select->events[i].text, *colon = strchr(word, ':');
		size_t len = colon ? (size_t)(colon - word) : 0;

		if (!strcmp(colon ? colon + 1 : word, ev->name) &&
		    (!colon || (strlen(ev->system) == len && !strncmp(word, ev->system, len))))
			return true;
	}
	return false;
}

/*
 * Return true if the event must be reported as left out. Events of a group that the kernel lacks
 * are not reported.
 */
static bool is_left_out(const struct tap_plan *plan, const struct tap_plan_event *ev)
{
	return ev->reason && (ev->status == TAP_EVENT_FAILED ||
			      (ev->status == TAP_EVENT_ABSENT && is_named(plan, ev)));
}

/*
 * Return the number of events left out for the same reason as event @i; 0 if an earlier event has
 * that reason too.
 */
static unsigned int count_failed(const struct tap_plan *plan, unsigned int i)
{
	unsigned int nr = 0;

	for (unsigned int k = 0; k < plan->nr_events; k++) {
		const struct tap_plan_event *ev = &plan->events[k];

		if (!is_left_out(plan, ev) || strcmp(ev->reason, plan->events[i].reason))
			continue;
		if (k < i)
			return 0;
		nr++;
	}
	return nr;
}

/* Print a note, escaped: it may contain a user's pattern or a program's name. */
static void print_note(const char *note)
{
	struct tap_buf text = { 0 };

	tap_text_escape(&text, note, strlen(note));
	fprintf(stderr, "schedtap: %s\n", tap_buf_str(&text));
	tap_buf_release(&text);
}

static void on_flight_file(void *ctx, const struct tap_flight_file *file)
{
	struct run *run = ctx;
	struct tap_buf text = { 0 };

	tap_buf_printf(&text, "%s: ", file->path);
	if (file->is_left && !file->err && !file->bytes)
		goto out;
	if (file->err)
		tap_buf_printf(&text, "not written: %s", file->err->text);
	else if (file->is_left)
		tap_buf_printf(&text, "%.1f MB, repaired: its recorder was killed",
			       (double)file->bytes / 1e6);
	else
		tap_buf_printf(&text, "%.1f MB, %.3f s before and %.3f s after '%s'",
			       (double)file->bytes / 1e6,
			       (double)(file->at_ns - file->from_ns) / 1e9,
			       (double)(file->to_ns - file->at_ns) / 1e9, file->what);
	if (file->nr_met > 1)
		tap_buf_printf(&text, " (and %u more)", file->nr_met - 1);
	print_note(tap_buf_str(&text));
	run->nr_files += !file->err && !file->is_left;
out:
	tap_buf_release(&text);
}

static void on_not_spooled(void *ctx, const char *path, const struct tap_err *why)
{
	struct tap_buf text = { 0 };

	(void)ctx;
	tap_buf_printf(
		&text,
		"%s: its events are lost if the recorder is killed before the file is saved: %s",
		path, why->text);
	print_note(tap_buf_str(&text));
	tap_buf_release(&text);
}

static void on_disk_file(void *ctx, const char *path, const struct tap_err *err)
{
	struct run *run = ctx;
	struct tap_buf text = { 0 };

	run->nr_files += !err;
	if (!err)
		return;
	tap_buf_printf(&text, "%s: %s", path, err->text);
	print_note(tap_buf_str(&text));
	tap_buf_release(&text);
}

/*
 * Return true if -p also records child processes. tracefs's task filter covers both threads and
 * children, or neither.
 */
static bool takes_children(const struct tap_plan *plan)
{
	if (!plan->select->tgids.nr || plan->select->tids.nr || plan->follow)
		return false;
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].backend == &tap_backend_tracefs &&
		    plan->events[i].status == TAP_EVENT_ON)
			return true;
	return false;
}

static void print_patterns(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_patterns; i++)
		if (plan->patterns[i].note)
			print_note(plan->patterns[i].note);
}

static void print_afterwords(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].afterword)
			print_note(plan->events[i].afterword);
}

static void print_plan(const struct tap_plan *plan)
{
	if (takes_children(plan))
		print_note("over tracefs, -p records child processes as well, as with --follow");
	print_patterns(plan);
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].note)
			print_note(plan->events[i].note);
	for (unsigned int i = 0; i < plan->nr_events; i++) {
		const struct tap_plan_event *ev = &plan->events[i];
		unsigned int nr = 0;

		if (is_left_out(plan, ev))
			nr = count_failed(plan, i);
		if (nr > 1)
			fprintf(stderr, "schedtap: recording without %s:%s and %u more: %s\n",
				ev->system, ev->name, nr - 1, ev->reason);
		else if (nr)
			fprintf(stderr, "schedtap: recording without %s:%s: %s\n", ev->system,
				ev->name, ev->reason);
	}
}

/* Warn that no event was recorded: perhaps the options that select events are wrong. */
static void warn_empty(const struct record_opts *o)
{
	const struct {
		const char *option;
		bool given;
	} table[] = {
		{ "-e", o->select.events.nr },	{ "-p", o->select.tgids.nr },
		{ "-t", o->select.tids.nr },	{ "-c", o->select.comms.nr },
		{ "-g", o->select.cgroups.nr }, { "-C", o->select.cpus },
	};
	const char *before = ": no event matched";

	fputs("schedtap: no event was recorded", stderr);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!table[i].given)
			continue;
		fprintf(stderr, "%s %s", before, table[i].option);
		before = ",";
	}
	if (o->select.tgids.nr || o->select.tids.nr)
		fputs(" (a task that sleeps all the time causes no event)", stderr);
	fputc('\n', stderr);
}

#define NAMED 3u /* conditions to name, if many never fired */

/* Print the conditions that never fired, and how often conditions fired without getting a mark. */
static void print_conditions(const struct run *run)
{
	struct tap_buf text = { 0 };
	unsigned int nr = 0;

	for (unsigned int i = 0; i < run->nr_conditions; i++) {
		if (run->nr_met[i])
			continue;
		if (nr++ < NAMED)
			tap_buf_printf(&text, "%s'%s'",
				       nr > 1 ? ", " : "conditions that never fired: ",
				       tap_condition_text(run->conditions[i]));
	}
	if (nr > NAMED)
		tap_buf_printf(&text, " and %u more", nr - NAMED);
	if (nr)
		print_note(tap_buf_str(&text));
	tap_buf_release(&text);
	if (run->watch && tap_watch_dropped(run->watch))
		fprintf(stderr,
			"schedtap: conditions fired %llu more times without adding a mark\n",
			(unsigned long long)tap_watch_dropped(run->watch));
}

static void print_stacks(const struct tap_session_stats *st)
{
	if (st->stacks.records)
		fprintf(stderr, "%llu stacks, %llu different ones\n",
			(unsigned long long)st->stacks.records,
			(unsigned long long)st->stacks.distinct);
	if (st->stacks.not_kept)
		fprintf(stderr,
			"schedtap: %llu stacks were not kept: there were too many different "
			"stacks\n",
			(unsigned long long)st->stacks.not_kept);
	if (st->stacks.not_read)
		fprintf(stderr, "schedtap: %llu stacks could not be read\n",
			(unsigned long long)st->stacks.not_read);
}

/* @figure: negative if unknown */
static void print_figure(double figure, int decimals)
{
	if (figure < 0)
		fputc('-', stderr);
	else
		fprintf(stderr, "%.*f", decimals, figure);
}

/* Append the number of lost events; an unknown number must not look like "0 lost". */
static void add_lost(struct tap_buf *b, const struct tap_session_stats *st)
{
	if (st->lost_unknown)
		tap_buf_puts(b, st->lost ? "at least " : "an unknown number");
	if (st->lost || !st->lost_unknown)
		tap_buf_u64(b, st->lost);
	tap_buf_puts(b, " lost");
}

static void print_lost_programs(const struct tap_session *s)
{
	struct tap_buf names = { 0 };

	tap_lost_programs_text(tap_session_programs(s), &names);
	if (names.len)
		fprintf(stderr, "schedtap: lost events of programs: %s\n", tap_buf_str(&names));
	tap_buf_release(&names);
}

static bool is_flight(const struct run *run)
{
	return run->opts->keep && !run->opts->disk_bytes;
}

static bool makes_many_files(const struct run *run)
{
	return run->opts->keep || run->opts->disk_bytes;
}

static void print_result(const struct run *run)
{
	struct tap_buf where = { 0 }, lost = { 0 };
	struct tap_session_stats st;

	tap_session_stats(run->session, &st);
	print_patterns(tap_session_plan(run->session));
	print_afterwords(tap_session_plan(run->session));
	if (!st.events && !st.lost && !st.lost_unknown)
		warn_empty(run->opts);
	if (is_flight(run) && !run->nr_files)
		fprintf(stderr, "schedtap: no file was written: %s\n",
			run->opts->conditions.nr
				? "no condition fired"
				: "only `schedtap mark` and conditions (--when) write one");
	print_conditions(run);
	print_lost_programs(run->session);
	add_lost(&lost, &st);
	tap_buf_puts(&where, makes_many_files(run) ? "recorded, " : "in ");
	if (makes_many_files(run))
		tap_buf_printf(&where, "%u file%s", run->nr_files, run->nr_files == 1 ? "" : "s");
	else
		tap_text_escape(&where, run->opts->output, strlen(run->opts->output));
	fprintf(stderr, "%.3f s, %llu events, %.1f MB %s, %s%s%s%s\n",
		(double)(st.end_ns - st.start_ns) / 1e9, (unsigned long long)st.events,
		(double)st.bytes / 1e6, tap_buf_str(&where), tap_buf_str(&lost),
		st.lost_more ? " and more: another process reset the ring buffers" : "",
		run->why ? "; " : "", run->why ? run->why : "");
	tap_buf_release(&where);
	tap_buf_release(&lost);
	print_stacks(&st);
	fputs("overhead: ", stderr);
	print_figure(st.ns_per_event, 0);
	fputs(" ns per event, ", stderr);
	print_figure(st.probe_cpu_pct, 2);
	fprintf(stderr, " %% of all CPUs in the probes, %.2f %% in the recorder\n",
		st.recorder_cpu_pct);
}

static int start_recording(struct run *run, char **rest, struct tap_err *err)
{
	sigset_t set;
	int ret;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	/*
	 * Block SIGPIPE too: the recording must survive when the reader of our messages goes away,
	 * or the command dies early.
	 */
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (run->signals < 0)
		return tap_err_set(err, -errno, "cannot wait for signals: %m");
	ret = watch_tasks(run, err);
	if (!ret && rest && *rest)
		ret = tap_child_fork(&run->command, rest, restore, run, err);
	if (!ret && run->command.pid)
		tap_session_set_command(run->session, run->command.pid);
	ret = ret ?: tap_session_start(run->session, err);
	if (!ret && run->command.pid) {
		ret = tap_child_go(&run->command, err);
		if (ret)
			tap_session_cancel(run->session);
	}
	return ret;
}

/*
 * Two signals within this time count as one. timeout(1) sends its signal twice, to us and to our
 * process group, and on a busy machine the second one may come seconds later. A terminal sends one
 * per Ctrl-C.
 */
#define SAME_FROM_PROCESS_NS 5000000000ull
#define SAME_FROM_TERMINAL_NS 300000000ull

/* time of the first signal that ended the recording; 0: none yet */
static _Atomic uint64_t first_signal_ns;

/*
 * Signal handler once recording has stopped: a second Ctrl-C exits at once. The recorded data stays
 * in the spool folder.
 */
static void on_interrupt(int sig, siginfo_t *info, void *unused)
{
	uint64_t now = tap_now_ns();

	(void)sig;
	(void)unused;
	if (!first_signal_ns)
		first_signal_ns = now;
	else if (now - first_signal_ns >
		 (info->si_code > 0 ? SAME_FROM_TERMINAL_NS : SAME_FROM_PROCESS_NS))
		_exit(TAP_EXIT_INTERRUPTED);
}

static void let_signals_through(const struct run *run)
{
	const struct sigaction action = { .sa_sigaction = on_interrupt,
					  .sa_flags = SA_SIGINFO | SA_RESTART };
	struct signalfd_siginfo info;
	sigset_t set;

	while (read(run->signals, &info, sizeof(info)) > 0)
		;
	if (run->interrupted)
		first_signal_ns = tap_now_ns();
	sigaction(SIGINT, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* If no recording file could be made, add to the error where the recorded data is. */
static void name_spool(const char *file, struct tap_err *err)
{
	struct tap_err first = *err;
	struct tap_buf spool = { 0 };

	tap_buf_printf(&spool, "%s.spool/head.dat", file);
	if (!access(tap_buf_str(&spool), F_OK) && !strstr(first.text, "schedtap repair"))
		tap_err_set(err, first.code,
			    "%.500s; the recorded data is in the folder '%.300s.spool': run "
			    "`schedtap repair%s` to make a recording file from it",
			    first.text, file,
			    first.code == -ENOSPC ? " -o FILE-ON-ANOTHER-DISK" : "");
	tap_buf_release(&spool);
}

static int run_session(struct run *run, char **rest, struct tap_err *err)
{
	int ret = start_recording(run, rest, err), finished;

	if (ret)
		return ret;
	print_plan(tap_session_plan(run->session));
	ret = record_events(run, err);
	let_signals_through(run);
	if (!ret && tap_child_was_not_run(&run->command)) {
		tap_session_cancel(run->session); /* the child has printed the reason */
		return 0;
	}
	/* After a failure, still pack the events recorded so far. The first failure is reported. */
	tap_progress_start(&run->packing, STDERR_FILENO, "packing", tap_now_ns());
	finished = tap_session_finish(run->session, ret ? NULL : err);
	tap_progress_erase(&run->packing);
	tap_child_reap(&run->command);
	if (finished && !run->opts->disk_bytes)
		name_spool(run->opts->output, err);
	if (!finished && !ret)
		print_result(run);
	return ret ? ret : finished;
}

/*
 * Report a failure while recording. Privileges were checked when the session opened, so now a file
 * or a condition was refused: do not exit with TAP_EXIT_MISSING.
 */
static int fail_running(struct tap_err *err, bool is_refused)
{
	if (err->code == -EACCES || err->code == -EPERM)
		err->code = -EIO;
	return tap_cmd_fail(err, is_refused);
}

static int run_record(void *opts, const struct tap_strings *operands, char **rest)
{
	struct record_opts *o = opts;
	struct run run = {
		.opts = o,
		.signals = -1,
		.command = TAP_CHILD_NONE,
		.flight = { .written = on_flight_file, .not_spooled = on_not_spooled, .ctx = &run },
		.rotation = { .written = on_disk_file, .ctx = &run }
	};
	struct tap_err err = { 0 };
	int ret = check_options(o, &err)
			  ?: (o->disk_bytes ? read_on_disk(o, &run.rotation, &err)
					    : read_keep(o, &run.flight, &err));

	(void)operands;
	getrlimit(RLIMIT_NOFILE, &run.files);
	ret = ret ?: tap_cli_define(&run.own, &o->definitions, &o->select, &err);
	ret = ret ?: tap_select_read(&o->select, &run.select, &err);
	ret = ret ?: read_conditions(&run, &err) ?: open_session(&run, &err);
	if (ret) {
		ret = tap_cmd_fail(&err, true);
		goto out;
	}
	ret = run_session(&run, rest, &err);
	tap_child_reap(&run.command);
	ret = ret ? fail_running(&err, run.is_refused) : tap_child_exit_code(&run.command);
out:
	tap_watch_free(run.watch);
	tap_session_free(run.session);
	for (unsigned int i = 0; i < run.nr_conditions; i++)
		tap_condition_free(run.conditions[i]);
	free(run.conditions);
	free(run.nr_met);
	tap_select_free(run.select);
	tap_cli_defs_release(&run.own);
	for (unsigned int i = 0; i < run.nr_ends; i++)
		tap_task_end_close(&run.ends[i]);
	free(run.ends);
	return ret;
}

const struct tap_cmd tap_cmd_record = {
	.name = "record",
	.help = "record scheduler events on this machine",
	.exits = "the command's status, 126 it cannot be run, 127 it was not found; without a "
		 "command 0 complete,\n            1 failed, 2 usage error, 3 missing privilege or "
		 "kernel feature, 130 ended by a second Ctrl-C",
	.operands = TAP_CMD_COMMAND,
	.example = "schedtap record -d 1 -o demo.dat",
	.opts = record_table,
	.opts_size = sizeof(struct record_opts),
	.defaults = &record_defaults,
	.run = run_record,
};
