// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "file/pack.h"
#include "file/pack_data.h"
#include "record/backend.h"
#include "record/machine.h"
#include "record/session/cgroup_watch.h"
#include "record/session/choose.h"
#include "record/session/description.h"
#include "record/session/flight.h"
#include "record/session/marks.h"
#include "record/session/priority.h"
#include "record/session/rotation.h"
#include "record/session/scx_watch.h"
#include "record/tracefs/tracefs.h"

/*
 * The time between two drains is long while few events come, because most of what a recorder costs
 * on an idle machine is waking up, and short while rings fill. With the longest one, a ring of 8
 * MiB is large enough for 6 million events per second and CPU; with the shortest one, a user-space
 * program's ring of 1 MiB for 100 million.
 */
#define WAIT_MIN_NS 100000ull
#define WAIT_MAX_NS 20000000ull
/*
 * A condition must be noticed within 50 ms. On an idle machine the flight recorder's cost is mostly
 * cold wakeups.
 */
#define WAIT_MAX_FLIGHT_NS 30000000ull
#define WAIT_GROWTH_NS 250000000ull
#define WAIT_FIRST_NS 500000ull
#define FILL_HIGH_PCT 25u
#define FILL_LOW_PCT 8u
#define MISSES_NS 1000000000u
/*
 * Minimum time between two drains that also take sub-buffers that are not full. They go to a spool
 * folder: if the recorder is killed, at most the last 100 ms are missing. A shorter time would fill
 * the memory or the disk with nearly empty sub-buffers.
 */
#define PARTLY_NS 40000000u
#define LATE_NS 1000000u /* maximum delay between an event's time stamp and its commit */

static const struct tap_backend_ops *const backends[] = {
	&tap_backend_bpf,
	&tap_backend_tracefs,
	&tap_backend_user,
};
#define NR_BACKENDS (sizeof(backends) / sizeof(backends[0]))

struct tap_session {
	char *file;
	bool zstd;
	bool command_lines;
	struct tap_plan plan;
	void *states[NR_BACKENDS]; /* NULL: the plan has no events for it */
	struct tap_spool *spool;
	struct tap_page_writer *writer; /* appends to .spool */
	struct tap_flight_opts flight_opts;
	struct tap_flight *flight; /* NULL: not a flight recorder */
	struct tap_rotation_opts rotation_opts;
	struct tap_rotation *rotation; /* NULL: not rotated, one file */
	int (*follow)(void *ctx, const char *spool_path, struct tap_held *held,
		      struct tap_err *err);
	int (*read)(void *ctx, uint64_t until_ns, struct tap_err *err);
	int (*read_all)(void *ctx, struct tap_err *err);
	pid_t command; /* process of the recorded command; 0: none */
	bool is_followed;
	struct tap_buf symbols; /* /proc/kallsyms, if a head needs it */
	struct tap_description description;
	struct tap_cgroup_watch new_cgroups;
	struct tap_scx_watch schedulers;
	struct tap_marks marks;
	struct tap_session_stats stats;
	struct { /* CPU and wall time of the recorder, without switching events on and off */
		uint64_t cpu_ns, wall_ns;
	} own;
	uint64_t wait_ns;
	/* when TAP_DRAIN_MISSES, and sub-buffers that are not full, were last drained */
	uint64_t misses_ns, partly_ns;
	void (*packing)(void *ctx, uint64_t done, uint64_t whole);
	void *ctx;
	int wanted_priority;
	pid_t keeper_tid; /* the keeper thread of .rotation */
	struct tap_priority priority, writer_priority, flight_priority, keeper_priority;
	bool running, failed; /* .failed: a drain lost events that it had taken from a ring */
};

/* Iterate over the backends that the plan has events for. */
#define for_each_backend(s, i)                                                                     \
	for (size_t i = 0; i < NR_BACKENDS; i++)                                                   \
		if ((s)->states[i])

static void begin_own_time(struct tap_session *s)
{
	s->own.cpu_ns -= tap_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	s->own.wall_ns -= tap_now_ns();
}

static void end_own_time(struct tap_session *s)
{
	s->own.cpu_ns += tap_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	s->own.wall_ns += tap_now_ns();
}

static bool is_used(const struct tap_plan *plan, const struct tap_backend_ops *ops)
{
	if (ops == &tap_backend_user)
		return plan->nr_patterns;
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].backend == ops && plan->events[i].status == TAP_EVENT_PLANNED)
			return true;
	return false;
}

/*
 * Let tracefs record what BPF cannot: the kernel's own events, and those of schedtap's kernel
 * module (docs/module.md) if it is loaded. The module's events only if they were selected by name:
 * sched_set_state alone is more frequent than all others together. @bpf_err: why BPF cannot be used
 * at all, or NULL.
 */
static void ask_tracefs(struct tap_plan *plan, bool by_name, const struct tap_err *bpf_err)
{
	char *root, path[PATH_MAX];

	tap_tracefs_find(TAP_TRACEFS_MOUNTS, &root, NULL);
	for (unsigned int i = 0; i < plan->nr_events; i++) {
		struct tap_plan_event *ev = &plan->events[i];
		bool own = !strcmp(ev->system, "schedtap");

		if (ev->backend != &tap_backend_bpf || ev->def->form_of ||
		    (ev->status == TAP_EVENT_PLANNED && !bpf_err))
			continue;
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", root ? root : "", ev->system,
			 ev->name);
		/* if tracefs is not mounted, its backend reports that */
		if (root ? (!own || by_name) && !faccessat(AT_FDCWD, path, F_OK, AT_EACCESS)
			 : !own && bpf_err) {
			ev->backend = &tap_backend_tracefs;
			tap_plan_outcome(ev, TAP_EVENT_PLANNED, NULL);
		} else if (ev->status == TAP_EVENT_PLANNED) {
			tap_plan_outcome(ev, TAP_EVENT_FAILED, "%s", bpf_err->text);
		}
	}
	free(root);
}

/*
 * If tracefs fails after BPF did, report both reasons. A bad filter is the user's mistake and is
 * reported alone.
 */
static int fail_open(const struct tap_err *no_bpf, const struct tap_err *why, struct tap_err *err)
{
	if (!no_bpf->code || why->code == -EINVAL)
		return tap_err_set(err, why->code, "%s", why->text);
	return tap_err_set(err, no_bpf->code,
			   "%s\n"
			   "recording over tracefs does not work either: %s",
			   no_bpf->text, why->text);
}

static int check_there(const struct tap_trigger *t, const struct tap_plan_event *ev,
		       struct tap_err *err)
{
	if (ev->status != TAP_EVENT_ABSENT && ev->status != TAP_EVENT_FAILED)
		return 0;
	return tap_err_set(err, -EOPNOTSUPP, "--trigger '%.200s': %s:%s cannot be recorded: %s",
			   t->text, ev->system, ev->name, ev->reason ?: "");
}

static int check_trigger(const struct tap_plan *plan, const struct tap_trigger *t,
			 struct tap_err *err)
{
	const struct tap_plan_event *ev = tap_plan_event_of(plan, t),
				    *of = tap_plan_target_of(plan, t) ?: ev;
	int ret = check_there(t, ev, err) ?: check_there(t, of, err);

	if (ret || ev->backend == of->backend)
		return ret;
	return tap_err_set(err, -EINVAL,
			   "--trigger '%.200s': %s:%s is recorded over %s, but %s:%s over %s: use "
			   "--backend tracefs for both events",
			   t->text, ev->system, ev->name, ev->backend->name, of->system, of->name,
			   of->backend->name);
}

/* Triggers control what is recorded, so a trigger whose event cannot be recorded is an error. */
static int check_triggers(const struct tap_plan *plan, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < plan->nr_triggers && !ret; i++)
		ret = check_trigger(plan, &plan->triggers[i], err);
	return ret;
}

/* Only BPF records short forms. */
static int check_lean(const struct tap_plan *plan, struct tap_err *err)
{
	for (unsigned int i = 0; i < plan->nr_events; i++) {
		const struct tap_plan_event *ev = &plan->events[i];

		if (ev->def && ev->def->form_of && ev->status != TAP_EVENT_PLANNED)
			return tap_err_set(err, -EOPNOTSUPP,
					   "--lean: %s:%s cannot be recorded in its short form: %s",
					   ev->system, ev->name, ev->reason);
	}
	return 0;
}

static int open_backends(struct tap_session *s, const struct tap_session_opts *opts,
			 struct tap_err *err)
{
	/* tracefs cannot filter by cgroup */
	bool may_fall_back =
		!opts->backend && !(s->plan.select->by & TAP_SELECT_CGROUPS) && !opts->lean;
	struct tap_err no_bpf = { 0 };

	for (unsigned int i = 0; i < NR_BACKENDS; i++) {
		struct tap_err why = { 0 };
		int ret;

		if (!is_used(&s->plan, backends[i]))
			continue;
		ret = check_triggers(&s->plan, &why)
			      ?: backends[i]->open(&s->plan, &s->states[i], &why);
		if (ret && (backends[i] != &tap_backend_bpf || !may_fall_back || ret == -EINVAL ||
			    ret == -ESRCH))
			return fail_open(&no_bpf, &why, err);
		if (backends[i] == &tap_backend_bpf && may_fall_back)
			ask_tracefs(&s->plan, s->plan.select->nr_events, ret ? &why : NULL);
		if (!ret)
			continue;
		no_bpf = why;
		if (!is_used(&s->plan, &tap_backend_tracefs))
			return tap_err_set(err, ret, "%s", why.text);
	}
	for_each_backend(s, i) {
		return check_triggers(&s->plan, err) ?: check_lean(&s->plan, err);
	}
	return tap_err_set(err, -EOPNOTSUPP, "nothing to record: %s",
			   s->plan.nr_events && s->plan.events[0].reason
				   ? s->plan.events[0].reason
				   : "none of the selected events can be recorded");
}

/* Tids are reused, so only running threads are accepted. */
static int check_ids(const struct tap_select *select, struct tap_err *err)
{
	const struct tap_select_ids *tids = &select->tids;

	if (tap_map_get(&select->tgids.set, 0) || tap_map_get(&tids->set, 0))
		return tap_err_set(err, -EINVAL,
				   "the idle tasks (PID 0) cannot be selected with -p or -t: use "
				   "-C to select CPUs");
	for (unsigned int i = 0; i < tids->nr; i++)
		if (kill(tids->v[i], 0) && errno == ESRCH)
			return tap_err_set(err, -ESRCH, "there is no thread %d", tids->v[i]);
	return 0;
}

static int check_cpus(const struct tap_plan *plan, struct tap_err *err)
{
	for (unsigned int cpu = 0; cpu < plan->nr_cpus; cpu++)
		if (tap_select_cpu(plan->select, (int)cpu))
			return 0;
	return tap_err_set(err, -EINVAL, "-C: this machine has none of the given CPUs");
}

/*
 * 8 MiB per CPU, a quarter of that for a lean recording, whose records take 56 bytes in the ring
 * per switch in place of 144 per switch and waking; with more than 32 CPUs less, so that all rings
 * together have at most 256 MiB, but at least 1 MiB per CPU.
 */
static uint64_t default_buffer(unsigned int nr_cpus, bool lean)
{
	uint64_t bytes = lean ? 2u << 20 : 8u << 20;

	while (bytes * nr_cpus > 256u << 20 && bytes > 1u << 20)
		bytes /= 2;
	return bytes;
}

/* Report a refused priority before anything is created. */
static int check_priority(struct tap_session *s, struct tap_err *err)
{
	int ret = tap_priority_raise(&s->priority, 0, s->wanted_priority, err);

	tap_priority_restore(&s->priority);
	return ret;
}

/* Every CPU and every traced program takes descriptors. */
static void raise_limit_of_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int tap_session_open(const struct tap_session_opts *opts, struct tap_session **out,
		     struct tap_err *err)
{
	struct tap_session *s = calloc(1, sizeof(*s));
	int ret;

	*out = NULL;
	if (!s)
		return tap_err_nomem(err);
	raise_limit_of_files();
	s->new_cgroups.fd = -1;
	s->marks = TAP_NO_MARKS;
	s->schedulers.root = TAP_SCX_ROOT;
	s->zstd = opts->zstd;
	s->command_lines = opts->command_lines;
	s->flight_opts = opts->flight;
	s->rotation_opts = opts->rotation;
	s->follow = opts->follow;
	s->read = opts->read;
	s->read_all = opts->read_all;
	s->packing = opts->packing;
	s->ctx = opts->ctx;
	s->wait_ns = WAIT_FIRST_NS;
	s->wanted_priority = opts->priority;
	s->plan.nr_cpus = tap_machine_nr_cpus();
	s->plan.buffer_bytes = opts->buffer_bytes ? opts->buffer_bytes
						  : default_buffer(s->plan.nr_cpus, opts->lean);
	s->plan.program_bytes = opts->buffer_bytes;
	s->file = opts->file ? strdup(opts->file) : NULL;
	s->plan.select = opts->select ? opts->select : &tap_select_all;
	s->plan.follow = opts->follow_children;
	s->plan.own = opts->own;
	s->plan.kernel = opts->kernel;
	if (opts->file && !s->file)
		ret = tap_err_nomem(err);
	else
		ret = check_cpus(&s->plan, err) ?: check_ids(s->plan.select, err) ?:
		      check_priority(s, err);
	ret = ret ?: tap_choose_events(&s->plan, opts, err);
	/* a recording of user-space events alone has the pids of its own namespace throughout */
	if (!ret && s->plan.nr_events)
		tap_pids_open(&s->plan.pids);
	if (!ret)
		s->plan.porter = tap_porter_new();
	ret = ret ?: open_backends(s, opts, err);
	tap_marks_open(&s->marks, &s->plan.pids, s->plan.porter);
	if (ret) {
		tap_session_free(s);
		return ret;
	}
	*out = s;
	return 0;
}

/*
 * Collect the format texts of all backends and of marks in @head. The caller frees the array
 * head->formats.
 */
static int collect_formats(struct tap_session *s, struct tap_head *head, struct tap_err *err)
{
	struct tap_head_format *all = NULL;
	unsigned int nr = 0, cap = 0;
	int ret = 0;

	for_each_backend(s, i) {
		if (!ret)
			ret = backends[i]->describe(s->states[i], &s->description.cgroups, head,
						    err);
		for (unsigned int k = 0; k < head->nr_formats && !ret; k++) {
			if (tap_array_grow(&all, nr, &cap, sizeof(*all)))
				ret = tap_err_nomem(err);
			else
				all[nr++] = head->formats[k];
		}
	}
	if (!ret && (tap_array_grow(&all, nr, &cap, sizeof(*all)) ||
		     tap_marks_describe(&s->marks, &all[nr++])))
		ret = tap_err_nomem(err);
	if (ret) {
		free(all);
		all = NULL;
	}
	head->formats = all;
	head->nr_formats = nr;
	return ret;
}

/* Return true if a format prints a function's name for an address: %ps, %pS and similar. */
static bool prints_symbols(const struct tap_head *head)
{
	for (unsigned int i = 0; i < head->nr_formats; i++) {
		const char *at = head->formats[i].text, *end = at + head->formats[i].len;

		while ((at = memmem(at, (size_t)(end - at), "%p", 2)) != NULL) {
			at += 2;
			if (at < end && *at && strchr("sSfFB", *at))
				return true;
		}
	}
	return false;
}

static bool is_flight(const struct tap_session *s)
{
	return s->flight_opts.keep_ns || s->flight_opts.keep_bytes;
}

/* Return true if files are made while the recording runs: they get the spool's head. */
static bool makes_many_files(const struct tap_session *s)
{
	return is_flight(s) || s->rotation_opts.max_bytes;
}

/* Describe what has been recorded so far. @text: set, owned by the caller; @head refers to it. */
static int describe_self(struct tap_session *s, struct tap_head *head, char **text,
			 struct tap_err *err)
{
	tap_description_set_events(&s->description, &s->plan);
	*text = tap_description_set_formats(&s->description, head)
			? NULL
			: tap_description_text(&s->description);
	head->meta = *text;
	return *text ? 0 : tap_err_nomem(err);
}

/*
 * Make the head of a recording from what is known so far, and call @use with it. @cmdlines: "pid
 * comm" lines; NULL: those of the tasks that existed at the start.
 */
static int with_head(struct tap_session *s, const char *cmdlines,
		     int (*use)(struct tap_session *, const struct tap_head *, struct tap_err *),
		     struct tap_err *err)
{
	struct tap_head head = { 0 };
	struct tap_buf comms = { 0 };
	char kernel[1024], *meta = NULL;
	struct utsname u;
	int ret;

	if (!cmdlines)
		tap_description_cmdlines(&s->description, &comms);
	tap_head_defaults(&head);
	uname(&u);
	snprintf(kernel, sizeof(kernel), "Linux %s %s %s %s", u.nodename, u.release, u.version,
		 u.machine);
	head.uname = kernel;
	head.tool = "schedtap " TAP_VERSION;
	head.cmdlines = cmdlines ?: tap_buf_str(&comms);
	head.clock = "mono";
	head.nr_cpus = s->plan.nr_cpus;
	ret = collect_formats(s, &head, err) ?: describe_self(s, &head, &meta, err);
	/*
	 * A single file has the symbols of the recording's end. Files that are made while recording
	 * get the symbols of its beginning, with the spool's head.
	 */
	if (!ret && !s->symbols.len && (cmdlines || makes_many_files(s)) && prints_symbols(&head))
		tap_machine_symbols(&s->symbols);
	head.kallsyms = tap_buf_str(&s->symbols);
	ret = ret ?: use(s, &head, err);
	free((void *)head.formats);
	tap_buf_release(&comms);
	free(meta);
	return ret;
}

/* Hand the description to the page writer: the draining thread must not wait for a disk. */
static int put_meta(struct tap_session *s, struct tap_err *err)
{
	char *text = tap_description_text(&s->description);

	if (!text)
		return tap_err_nomem(err);
	tap_page_writer_set_meta(s->writer, text);
	return 0;
}

static int set_head(struct tap_session *s, const struct tap_head *head, struct tap_err *err)
{
	return put_meta(s, err) ?: tap_page_writer_set_head(s->writer, head, err);
}

/* Return: the file that the spool folder will become. */
static const char *file_path(const struct tap_session *s)
{
	return s->rotation ? tap_rotation_path(s->rotation) : s->file;
}

static int create_spool(struct tap_session *s, const struct tap_head *head, struct tap_err *err)
{
	int ret = 0;

	if (s->rotation_opts.max_bytes)
		ret = tap_rotation_new(&s->rotation_opts, s->file, s->zstd, head, &s->rotation,
				       err);
	ret = ret ?: tap_spool_create(file_path(s), head, &s->spool, err);
	if (!ret && is_flight(s))
		return tap_spool_hold(s->spool, s->flight_opts.keep_bytes, err);
	return ret ? ret : s->zstd ? tap_spool_compress(s->spool, TAP_PACK_LEVEL, err) : 0;
}

static int pack_file(struct tap_session *s, const struct tap_head *head, struct tap_err *err)
{
	struct tap_pack_opts opts = {
		.zstd = s->zstd, .head = head, .show = s->packing, .ctx = s->ctx
	};
	int ret;

	do
		ret = tap_pack(tap_spool_path(s->spool), file_path(s), &opts, err);
	while (ret == -ENOSPC && s->rotation && tap_rotation_make_room(s->rotation));
	return ret;
}

/* Write the description to the spool folder, and wait until it would survive a power failure. */
static int write_meta(struct tap_session *s, struct tap_err *err)
{
	char *text = tap_description_text(&s->description);
	int ret = text ? tap_spool_set_meta(s->spool, text, true, err) : tap_err_nomem(err);

	free(text);
	return ret;
}

static void add_thread(struct tap_session *s, pid_t tid)
{
	if (s->plan.pids.nested) /* the thread is new, so its initial pid is not known yet */
		tap_pids_read(&s->plan.pids);
	tap_description_add_tid(&s->description, &s->plan.pids, tid);
}

static int start_writer(struct tap_session *s, struct tap_err *err)
{
	int ret = tap_page_writer_new(s->spool, &s->writer, err);

	if (!ret)
		add_thread(s, tap_page_writer_tid(s->writer));
	return ret;
}

static void on_mark(void *ctx, uint64_t at_ns, const char *text)
{
	tap_flight_met(ctx, at_ns, text);
}

static int start_flight(struct tap_session *s, struct tap_err *err)
{
	int ret = tap_flight_new(&s->flight_opts, s->file, s->zstd, s->spool, s->writer, &s->flight,
				 err);

	if (ret)
		return ret;
	add_thread(s, tap_flight_tid(s->flight));
	add_thread(s, tap_flight_spool_tid(s->flight));
	s->marks.added = on_mark;
	s->marks.ctx = s->flight;
	return 0;
}

static int start_rotation(struct tap_session *s, struct tap_err *err)
{
	struct tap_rotation_tids tids;
	int ret = tap_rotation_start(s->rotation, s->spool, s->writer, &tids, err);

	if (ret)
		return ret;
	add_thread(s, tids.keeper);
	add_thread(s, tids.maker);
	add_thread(s, tids.packer);
	s->keeper_tid = tids.keeper;
	return 0;
}

static int start_following(struct tap_session *s, struct tap_err *err)
{
	struct tap_spool *held = s->rotation ? tap_rotation_held(s->rotation) : s->spool;
	int ret =
		s->follow ? s->follow(s->ctx, tap_spool_path(held), tap_spool_held(held), err) : 0;

	s->is_followed = ret > 0;
	if (s->is_followed && s->rotation)
		tap_page_writer_copy_to(s->writer, held);
	return ret < 0 ? ret : 0;
}

static int raise_priorities(struct tap_session *s, struct tap_err *err)
{
	int ret = tap_priority_raise(&s->priority, 0, s->wanted_priority, err);

	if (!ret && s->flight)
		ret = tap_priority_raise(&s->flight_priority, tap_flight_spool_tid(s->flight),
					 s->wanted_priority, err);
	if (!ret && s->rotation)
		ret = tap_priority_raise(&s->keeper_priority, s->keeper_tid, s->wanted_priority,
					 err);
	return ret
		       ?: tap_priority_raise(&s->writer_priority, tap_page_writer_tid(s->writer),
					     s->wanted_priority, err);
}

static void restore_priorities(struct tap_session *s)
{
	tap_priority_restore(&s->priority);
	tap_priority_restore(&s->writer_priority);
	tap_priority_restore(&s->flight_priority);
	tap_priority_restore(&s->keeper_priority);
}

void tap_session_set_command(struct tap_session *s, pid_t pid)
{
	s->command = pid;
}

static int start_recording(struct tap_session *s, struct tap_err *err)
{
	const bool lean = tap_plan_is_lean(&s->plan);
	int ret;

	/* before the cgroups are listed, so that none is missed */
	tap_cgroup_watch_open(&s->new_cgroups);
	ret = tap_description_begin(&s->description, &s->plan.pids, s->command_lines);
	if (ret)
		return tap_err_set(err, ret, "out of memory");
	if (s->command)
		tap_description_set_command(&s->description, &s->plan.pids, s->command);
	if (s->plan.porter)
		add_thread(s, tap_porter_pid(s->plan.porter));
	if (s->plan.own)
		tap_description_set_definitions(&s->description, s->plan.own);
	ret = tap_pack_check(s->file, err)
		      ?: with_head(s, NULL, create_spool, err)
		      ?: start_writer(s, err)
		      ?: (s->rotation ? start_rotation(s, err) : 0)
		      ?: (is_flight(s) ? start_flight(s, err) : 0)
		      ?: (makes_many_files(s) ? start_following(s, err) : 0);
	/* a hundred tasks may be queued on the CPU between the first event and the first drain */
	ret = ret ?: raise_priorities(s, err);
	for_each_backend(s, i) {
		ret = ret
			      ?: backends[i]->add_buffer(s->states[i], s->writer, err)
			      ?: backends[i]->start(s->states[i], err);
	}
	ret = ret ?: check_triggers(&s->plan, err);
	/* from now on task_rename is recorded */
	if (!ret && lean && tap_description_read_names(&s->description, &s->plan.pids))
		ret = tap_err_nomem(err);
	if (ret)
		return ret;
	tap_marks_start(&s->marks, s->writer);
	s->stats.start_ns = tap_now_ns();
	begin_own_time(s);
	s->running = true;
	tap_description_set_events(&s->description, &s->plan);
	tap_description_set_window(&s->description, s->stats.start_ns, 0);
	tap_description_set_running(&s->description);
	tap_scx_watch_look(&s->schedulers, s->stats.start_ns, s->description.meta);
	return lean ? with_head(s, NULL, set_head, err) : put_meta(s, err);
}

/* Must precede end_writer(): a file that is being saved may wait for the page writer's thread. */
static void end_flight(struct tap_session *s)
{
	tap_flight_free(s->flight);
	s->flight = NULL;
	s->marks.added = NULL;
}

static void end_writer(struct tap_session *s)
{
	tap_page_writer_free(s->writer);
	s->writer = NULL;
}

/* Must follow end_writer(): the page writer's thread hands finished folders over. */
static void end_rotation(struct tap_session *s)
{
	tap_rotation_free(s->rotation);
	s->rotation = NULL;
}

void tap_session_cancel(struct tap_session *s)
{
	s->running = false;
	restore_priorities(s);
	end_flight(s);
	end_writer(s);
	if (s->spool)
		tap_spool_remove(s->spool);
	end_rotation(s);
}

int tap_session_start(struct tap_session *s, struct tap_err *err)
{
	int ret = start_recording(s, err);

	if (ret)
		tap_session_cancel(s);
	return ret;
}

int tap_session_try(struct tap_session *s, struct tap_err *err)
{
	int ret = 0;

	for_each_backend(s, i) {
		ret = ret ?: backends[i]->start(s->states[i], err);
		backends[i]->stop(s->states[i], NULL);
	}
	return ret;
}

/*
 * If one backend fails, the others are still called. Only the first failure is reported: later
 * calls get no @err.
 */
static struct tap_err *unless_failed(int failed, struct tap_err *err)
{
	return failed ? NULL : err;
}

static int find_events(struct tap_session *s, struct tap_err *err)
{
	bool anew = false;
	int ret = 0, one;

	for_each_backend(s, i) {
		if (!backends[i]->find)
			continue;
		one = backends[i]->find(s->states[i], &anew, unless_failed(ret, err));
		ret = ret ?: one;
	}
	one = anew ? with_head(s, NULL, set_head, unless_failed(ret, err)) : 0;
	ret = ret ?: one;
	if (tap_scx_watch_look(&s->schedulers, tap_now_ns(), s->description.meta) && s->running &&
	    !s->flight) {
		one = put_meta(s, unless_failed(ret, err));
		ret = ret ?: one;
	}
	if (tap_cgroup_watch_read(&s->new_cgroups, &s->description.cgroups))
		ret = ret ?: tap_err_nomem(err);
	return ret;
}

/*
 * Triggers control the whole recording: if one backend's trigger switched it on or off, switch the
 * other backends too.
 */
static void follow_triggers(struct tap_session *s)
{
	for_each_backend(s, i) {
		int on = backends[i]->switched ? backends[i]->switched(s->states[i]) : -1;

		if (on < 0)
			continue;
		for (size_t k = 0; k < NR_BACKENDS; k++)
			if (k != i && s->states[k] && backends[k]->switch_to)
				backends[k]->switch_to(s->states[k], on);
	}
}

static int drain_backends(struct tap_session *s, enum tap_drain_depth depth, struct tap_drain *res,
			  struct tap_err *err)
{
	int ret = 0, marked;

	if (s->plan.nr_triggers && depth != TAP_DRAIN_LAST)
		follow_triggers(s);
	for_each_backend(s, i) {
		int one = backends[i]->drain(s->states[i], depth, res, unless_failed(ret, err));

		ret = ret ?: one;
	}
	marked = tap_marks_drain(&s->marks, res, unless_failed(ret, err));
	ret = ret ?: marked;
	s->stats.events += res->events;
	s->stats.lost += res->lost;
	s->stats.lost_unknown |= res->lost_unknown;
	s->stats.lost_more |= res->reset;
	return ret;
}

int tap_session_wake_fd(const struct tap_session *s)
{
	for_each_backend(s, i) {
		if (backends[i]->wake_fd)
			return backends[i]->wake_fd(s->states[i]);
	}
	return -1;
}

int tap_session_mark_fd(const struct tap_session *s)
{
	return s->marks.from;
}

static int add_mark(struct tap_session *s, uint64_t at_ns, const struct tap_mark_task *task,
		    const char *text, struct tap_err *err)
{
	int ret = tap_marks_add(&s->marks, at_ns, task, text, strlen(text), err);

	s->stats.events += !ret;
	return ret;
}

int tap_session_mark(struct tap_session *s, pid_t pid, const char *text, struct tap_err *err)
{
	struct tap_mark_task task = tap_marks_task(&s->marks, pid);

	return add_mark(s, tap_now_ns(), &task, text, err);
}

int tap_session_met(struct tap_session *s, uint64_t at_ns, int tid, const char *comm,
		    const char *text, struct tap_err *err)
{
	struct tap_mark_task task = { .tid = tid < 0 ? 0 : tid };

	memcpy(task.comm, comm, strnlen(comm, sizeof(task.comm)));
	return add_mark(s, at_ns, &task, text, err);
}

bool tap_session_goes_on(const struct tap_session *s, unsigned int left)
{
	for_each_backend(s, i) {
		if (backends[i]->goes_on)
			return backends[i]->goes_on(s->states[i], left);
	}
	return left;
}

static int find_and_drain(struct tap_session *s, enum tap_drain_depth depth, struct tap_drain *res,
			  struct tap_err *err)
{
	int found = find_events(s, err),
	    ret = drain_backends(s, depth, res, unless_failed(found, err));

	return found ?: ret;
}

/*
 * Choose the time until the next drain. If a ring is more than FILL_HIGH_PCT full, aim at half of
 * that at the same event rate. If all rings are nearly empty, wait longer, but slowly (twice as
 * long in a sixth of a second): the task that filled a ring may only have lost its CPU for a
 * moment.
 */
static uint64_t next_wait(uint64_t wait_ns, uint64_t max_ns, const struct tap_drain *res)
{
	if (res->lost)
		return WAIT_MIN_NS; /* it is unknown how much too late this drain was */
	if (res->fill_pct > FILL_HIGH_PCT)
		wait_ns = wait_ns * FILL_HIGH_PCT / 2 / res->fill_pct;
	else if (res->fill_pct < FILL_LOW_PCT)
		wait_ns += wait_ns * wait_ns / WAIT_GROWTH_NS;
	return wait_ns < WAIT_MIN_NS ? WAIT_MIN_NS : wait_ns > max_ns ? max_ns : wait_ns;
}

/* Return: a number of the backends' overhead; < 0: they did not report it. */
static double price_of(const json_t *price, const char *what)
{
	const json_t *v = json_object_get(price, what);

	return v ? json_number_value(v) : -1;
}

static uint64_t count_of(const json_t *stacks, const char *what)
{
	return (uint64_t)json_integer_value(json_object_get(stacks, what));
}

static void set_stacks(struct tap_session_stats *st, const json_t *stacks)
{
	st->stacks.records = count_of(stacks, "records");
	st->stacks.distinct = count_of(stacks, "distinct");
	st->stacks.not_kept = count_of(stacks, "not_kept");
	st->stacks.not_read = count_of(stacks, "not_read");
}

static void set_price(struct tap_session *s)
{
	struct tap_session_stats *st = &s->stats;
	json_t *price = json_object();

	st->bytes = tap_spool_bytes(s->spool);
	st->recorder_cpu_pct = 100.0 * (double)s->own.cpu_ns / (double)s->own.wall_ns /
			       (double)sysconf(_SC_NPROCESSORS_ONLN);
	for_each_backend(s, i) {
		if (backends[i]->add_price)
			backends[i]->add_price(s->states[i], price);
	}
	st->recorder_ns_per_event = st->events ? (double)s->own.cpu_ns / (double)st->events : -1;
	st->ns_per_event = price_of(price, "ns_per_event");
	st->probe_cpu_pct = price_of(price, "probe_cpu_pct");
	set_stacks(st, json_object_get(price, "stacks"));
	tap_description_set_price(&s->description, price, st);
	for_each_backend(s, i) {
		if (backends[i]->add_meta)
			backends[i]->add_meta(s->states[i], s->description.meta);
	}
	tap_description_set_events(&s->description, &s->plan);
}

static void settle_backends(struct tap_session *s)
{
	for_each_backend(s, i) {
		if (backends[i]->settle)
			backends[i]->settle(s->states[i]);
	}
}

/*
 * Bring the spool's head up to date, so that files that are made while recording have all stacks.
 */
static int settle_head(struct tap_session *s, struct tap_err *err)
{
	if (!s->plan.has_stacks)
		return 0;
	settle_backends(s);
	return with_head(s, NULL, set_head, err);
}

static bool is_met(const struct tap_session *s)
{
	return s->flight && tap_flight_is_met(s->flight);
}

/* Bring the head and the description up to date for a file that is due. */
static int prepare_file(struct tap_session *s, struct tap_err *err)
{
	int ret = settle_head(s, err);

	if (ret)
		return ret;
	end_own_time(s);
	set_price(s);
	begin_own_time(s);
	return 0;
}

/* Call it after a drain. @is_due: a file of the buffered events must be saved now. */
static int step_flight(struct tap_session *s, bool is_due, struct tap_err *err)
{
	return (is_due ? prepare_file(s, err) : 0)
		       ?: tap_flight_step(s->flight, &s->description, is_due, err);
}

/* Call it after a drain. @is_due: that drain took all events before a cut between two files. */
static int step_rotation(struct tap_session *s, bool is_due, struct tap_err *err)
{
	int ret = (is_due ? prepare_file(s, err) : 0)
			  ?: tap_rotation_step(s->rotation, &s->description, is_due, err);

	if (ret <= 0)
		return ret;
	tap_marks_begin_file(&s->marks, tap_rotation_start_ns(s->rotation));
	return with_head(s, NULL, set_head, err);
}

/*
 * Return: whether to hand over sub-buffers that are not full. Each takes as much space as a full
 * one.
 */
static bool is_flush_due(const struct tap_session *s, uint64_t now_ns)
{
	if (s->is_followed && !s->rotation)
		return true; /* conditions must see all events of each drain */
	return (s->rotation || is_met(s)) && now_ns - s->partly_ns >= PARTLY_NS;
}

/*
 * Ask for TAP_DRAIN_MISSES when a file is due, and otherwise once a second at most: it takes system
 * calls, and such losses have no time stamp anyway.
 */
static enum tap_drain_depth depth_of(struct tap_session *s, bool is_due, uint64_t now_ns)
{
	if (!is_due && !is_flush_due(s, now_ns))
		return TAP_DRAIN_PAGES;
	s->partly_ns = now_ns;
	if (!is_due && now_ns - s->misses_ns < MISSES_NS)
		return TAP_DRAIN_ALL;
	s->misses_ns = now_ns;
	return TAP_DRAIN_MISSES;
}

/*
 * Let conditions read the events of a drain, which began at @now_ns. A rotated recording keeps
 * events in memory only for this, so all memory is then given back.
 */
static int read_followed(struct tap_session *s, uint64_t now_ns, struct tap_err *err)
{
	int ret = s->read(s->ctx, now_ns - LATE_NS, err);

	if (s->rotation)
		tap_held_give_back(tap_spool_held(tap_rotation_held(s->rotation)), UINT64_MAX, 0);
	return ret;
}

/* A write error of a rotated recording affects one file only, so the recording goes on. */
static int check_writer(const struct tap_session *s, struct tap_err *err)
{
	return s->rotation ? 0 : tap_page_writer_check(s->writer, err);
}

int tap_session_drain(struct tap_session *s, uint64_t *wait_ns, struct tap_err *err)
{
	struct tap_drain res = { 0 };
	uint64_t spent_ns = -tap_clock_ns(CLOCK_THREAD_CPUTIME_ID), least_ns = 0;
	uint64_t now_ns = tap_now_ns();
	bool is_due = s->flight ? tap_flight_is_due(s->flight, now_ns)
				: s->rotation && tap_rotation_is_due(s->rotation, now_ns);
	bool was_met = is_met(s);
	enum tap_drain_depth depth = depth_of(s, is_due, now_ns);
	int ret = find_and_drain(s, depth, &res, err), failed;

	/* a condition fired in this drain: the events before it go to the spool folder at once */
	if (!ret && !s->is_followed && !was_met && is_met(s))
		ret = drain_backends(s, TAP_DRAIN_ALL, &(struct tap_drain){ 0 }, err);
	if (s->is_followed && !ret && depth != TAP_DRAIN_PAGES &&
	    tap_page_writer_head_is_set(s->writer))
		ret = read_followed(s, now_ns, err);
	if (s->flight && !ret)
		ret = step_flight(s, is_due, err);
	if (s->rotation && !ret)
		ret = step_rotation(s, is_due, err);
	failed = check_writer(s, unless_failed(ret, err));
	ret = ret ?: failed;
	spent_ns += tap_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	s->wait_ns = next_wait(s->wait_ns, s->flight ? WAIT_MAX_FLIGHT_NS : WAIT_MAX_NS, &res);
	/*
	 * At real-time priority no other task would run: leave them half of the CPU, or a tenth
	 * while rings fill up.
	 */
	if (s->priority.raised)
		least_ns = res.lost || res.fill_pct > FILL_HIGH_PCT ? spent_ns / 9 : spent_ns;
	*wait_ns = s->wait_ns > least_ns ? s->wait_ns : least_ns;
	s->failed |= !!ret;
	return ret;
}

/* Call it after the last drain: conditions may fire for events that were not read yet. */
static int read_rest(struct tap_session *s, struct tap_err *err)
{
	struct tap_drain res = { 0 };
	int ret;

	if (!tap_page_writer_head_is_set(s->writer))
		tap_page_writer_wait(s->writer);
	ret = s->read(s->ctx, s->stats.end_ns, err)
		      ?: s->read_all(s->ctx, err)
		      ?: tap_marks_drain(&s->marks, &res, err);
	s->stats.events += res.events;
	return ret;
}

static int stop_recording(struct tap_session *s, struct tap_err *err)
{
	struct tap_drain res = { 0 };
	int ret = 0, one;

	s->running = false;
	end_own_time(s);
	s->stats.end_ns = tap_now_ns();
	for_each_backend(s, i) {
		one = backends[i]->stop(s->states[i], unless_failed(ret, err));
		ret = ret ?: one;
	}
	begin_own_time(s);
	one = find_and_drain(s, TAP_DRAIN_LAST, &res, unless_failed(ret, err));
	ret = ret ?: one;
	if (s->is_followed && !ret && !s->failed)
		ret = read_rest(s, err);
	if (s->rotation)
		tap_rotation_stop(s->rotation);
	tap_page_writer_wait(s->writer);
	one = check_writer(s, unless_failed(ret, err));
	end_own_time(s);
	restore_priorities(s);
	return ret ?: one;
}

/* Complete the description, and pack the file. */
static int finish_file(struct tap_session *s, struct tap_err *err)
{
	struct tap_buf cmdlines = { 0 };
	struct stat st;
	bool complete = !s->failed && !tap_spool_failed(s->spool);
	int ret = tap_description_end(&s->description, &s->plan.pids, s->spool, complete, &cmdlines,
				      err);

	ret = ret ?: write_meta(s, err);
	ret = ret ?: with_head(s, tap_buf_str(&cmdlines), pack_file, err);
	if (!ret && !s->rotation && !stat(s->file, &st))
		s->stats.bytes = (uint64_t)st.st_size;
	tap_buf_release(&cmdlines);
	return ret;
}

/* Save the file of a condition that fired before the end, if any. */
static int finish_flight(struct tap_session *s, struct tap_err *err)
{
	int ret = settle_head(s, err) ?: tap_flight_end(s->flight, &s->description, err);

	tap_spool_remove(s->spool);
	return ret;
}

/* Pack the last file, once the earlier ones are packed. */
static int finish_rotation(struct tap_session *s, struct tap_err *err)
{
	int ret;

	tap_rotation_wait(s->rotation);
	tap_description_end_window(&s->description, s->stats.end_ns);
	ret = finish_file(s, err);
	if (!ret && s->rotation_opts.written)
		s->rotation_opts.written(s->rotation_opts.ctx, file_path(s), NULL);
	return ret ?: tap_rotation_check(s->rotation, err);
}

int tap_session_finish(struct tap_session *s, struct tap_err *err)
{
	int ret = stop_recording(s, err);

	settle_backends(s);
	set_price(s);
	if (!ret && s->rotation)
		return finish_rotation(s, err);
	tap_description_set_window(&s->description, s->stats.start_ns, s->stats.end_ns);
	return ret ?: s->flight ? finish_flight(s, err) : finish_file(s, err);
}

void tap_session_free(struct tap_session *s)
{
	if (!s)
		return;
	end_flight(s);
	end_writer(s); /* it reads from the backends' pipes */
	end_rotation(s);
	for_each_backend(s, i) {
		backends[i]->free(s->states[i]);
	}
	tap_spool_free(s->spool);
	tap_description_release(&s->description);
	tap_cgroup_watch_release(&s->new_cgroups);
	tap_scx_watch_release(&s->schedulers);
	tap_marks_release(&s->marks);
	/* frees messages that are still in sockets, so all other users close those first */
	tap_porter_free(s->plan.porter);
	tap_plan_release(&s->plan);
	tap_buf_release(&s->symbols);
	free(s->file);
	free(s);
}

void tap_session_stats(const struct tap_session *s, struct tap_session_stats *stats)
{
	*stats = s->stats;
	if (s->running)
		stats->bytes = tap_spool_bytes(s->spool);
}

const json_t *tap_session_programs(const struct tap_session *s)
{
	return json_object_get(s->description.meta, "programs");
}

const struct tap_plan *tap_session_plan(const struct tap_session *s)
{
	return &s->plan;
}
