// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Record kernel events through tracefs. The kernel fills the ring buffers of a trace instance of
 * our own. Full sub-buffers are spliced from there into a pipe per CPU, and from the pipe into the
 * spool, without being copied.
 */
#include "record/backend.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "event/format.h"
#include "file/page.h"
#include "record/tracefs/instance.h"
#include "record/tracefs/limit.h"
#include "record/tracefs/sieve.h"
#include "record/tracefs/stacks.h"
#include "record/tracefs/tracefs.h"
#include "record/tracefs/triggers.h"

#define PIPE_BYTES (1 << 20) /* the limit for unprivileged users */
#define SUBBUF_MAX_BYTES TAP_BLOCK_BYTES
#define PARTIAL_NS 1000000000u /* maximum time that events wait for their sub-buffer to be full */
#define TEXT_MAX_BYTES ((size_t)16 << 20)

struct tfs_cpu {
	int fd; /* trace_pipe_raw; -1: the CPU is not selected or not present yet */
	int pipe[2]; /* the page writer empties it */
	size_t pipe_bytes;
	uint64_t events, lost; /* so far */
	uint64_t rejected; /* by the sieve, and not yet subtracted from .events */
	/* when sub-buffers were last moved, or last asked for after PARTIAL_NS */
	uint64_t moved_ns;
};

struct tfs {
	struct tap_plan *plan;
	char *root;
	struct tap_instance in;
	struct tap_head_format *formats; /* .text is owned */
	unsigned int nr_formats;
	struct tap_buf header_page, header_event, printk;
	struct tfs_cpu *cpus;
	unsigned int nr_cpus;
	uint32_t page_bytes; /* of a sub-buffer */
	uint64_t ring_bytes; /* per CPU */
	unsigned char *block; /* for sub-buffers that are copied */
	struct tap_sieve sieve;
	struct tap_tracefs_triggers triggers;
	unsigned char *unsifted; /* a sub-buffer to sieve; NULL: the sieve is empty */
	struct tap_page_writer *writer;
	unsigned int buffer;
	struct tap_drain total;
};

static bool is_mine(const struct tap_plan_event *ev)
{
	return ev->backend->kind == TAP_BY_TRACEFS;
}

static int fail_on(const struct tfs *t, int ret, const char *what, struct tap_err *err)
{
	return tap_err_set(err, ret, "tracefs instance '%s': cannot %s: %s", t->in.path, what,
			   strerror(-ret));
}

static int get_number(const struct tfs *t, const char *file, uint64_t *v)
{
	struct tap_buf text = { .max = 1 << 16 };
	int ret = tap_instance_get(&t->in, &text, "%s", file);

	const char *at = tap_buf_str(&text);

	ret = ret ?: tap_text_take_digits(&at, NULL, 10, v);
	tap_buf_release(&text);
	return ret;
}

static int set_buffer(struct tfs *t, struct tap_err *err)
{
	uint64_t kb = t->plan->buffer_bytes / 1024;
	char text[24];
	int ret;

	snprintf(text, sizeof(text), "%" PRIu64, kb ? kb : 1);
	ret = tap_instance_put(&t->in, text, "buffer_size_kb");
	if (ret)
		return tap_err_set(err, ret, "cannot allocate a trace buffer of %s kB per CPU: %s",
				   text, strerror(-ret));
	ret = get_number(t, "buffer_size_kb", &kb);
	t->ring_bytes = kb * 1024;
	t->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	if (!ret && !get_number(t, "buffer_subbuf_size_kb", &kb)) /* since v6.8 */
		t->page_bytes = kb <= SUBBUF_MAX_BYTES / 1024 ? (uint32_t)kb * 1024 : 0;
	if (!ret && (!t->ring_bytes || !t->page_bytes))
		ret = -ERANGE;
	return ret ? fail_on(t, ret, "use the buffer size", err) : 0;
}

static int set_cpus(const struct tfs *t, struct tap_err *err)
{
	struct tap_buf mask = { 0 };
	int ret;

	if (!(t->plan->select->by & TAP_SELECT_CPUS))
		return 0;
	if (!tap_limit_cpus(&t->plan->select->cpus, t->nr_cpus, &mask)) {
		tap_buf_release(&mask);
		return tap_err_set(err, -EINVAL, "-C: this machine has none of the given CPUs");
	}
	ret = tap_instance_put(&t->in, tap_buf_str(&mask), "tracing_cpumask");
	tap_buf_release(&mask);
	return ret ? fail_on(t, ret, "set the CPUs", err) : 0;
}

/*
 * Set the threads to record. Repeat until no new ones are found, because tasks may start threads
 * while they are listed.
 * Return: like tap_limit_tids(); after -ESRCH the existing ones are set all the same.
 */
static int set_tids(struct tfs *t, struct tap_err *err)
{
	struct tap_map known = { 0 };
	struct tap_buf tids = { 0 };
	int ret, put = 0;

	do {
		tap_buf_clear(&tids);
		ret = tap_limit_tids(t->plan->select, &t->plan->pids, &known, &tids, err);
		if (tids.len)
			put = tap_instance_put(&t->in, tap_buf_str(&tids), "set_event_pid");
	} while (!put && (!ret || ret == -ESRCH) && tids.len);
	tap_map_release(&known);
	tap_buf_release(&tids);
	return put ? fail_on(t, put, "set the tasks", err) : ret;
}

static int set_scope(struct tfs *t, struct tap_err *err)
{
	const struct tap_select *select = t->plan->select;
	int ret = set_cpus(t, err);

	if (ret || !(select->by & (TAP_SELECT_TGIDS | TAP_SELECT_TIDS)))
		return ret;
	/*
	 * The kernel adds new threads of a process at once, but also its children, which `schedtap
	 * record` mentions.
	 */
	ret = tap_instance_put(&t->in, select->tids.nr ? "0" : "1", "options/event-fork");
	if (ret)
		return fail_on(t, ret, "set option 'event-fork'", err);
	return set_tids(t, err);
}

static int put_filter(const struct tfs *t, const struct tap_plan_event *ev, const char *filter,
		      struct tap_err *err)
{
	struct tap_buf said = { .max = 1 << 16 };
	int ret;

	ret = tap_instance_put(&t->in, filter, "events/%s/%s/filter", ev->system, ev->name);
	if (ret) {
		tap_instance_get(&t->in, &said, "events/%s/%s/filter", ev->system, ev->name);
		ret = tap_limit_refused(ev->system, ev->name, tap_buf_str(&said), ret, err);
	}
	tap_buf_release(&said);
	return ret;
}

static int parse_format(const struct tap_plan_event *ev, const char *text, struct tap_format **fmt,
			struct tap_err *err)
{
	const struct tap_abi abi = {
		.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
		.long_size = sizeof(long),
	};

	return tap_format_parse(ev->system, text, strlen(text), abi, fmt, err);
}

/*
 * Set the kernel's part of a filter, and put the rest into the sieve. @kernel: set to the kernel's
 * part. Return: 0; -EINVAL with a sentence: we cannot parse it; -errno.
 */
static int sift_event(struct tfs *t, struct tap_plan_event *ev, const char *format,
		      struct tap_buf *kernel, struct tap_err *err)
{
	struct tap_buf rest = { 0 };
	struct tap_format *fmt;
	int ret = parse_format(ev, format, &fmt, err);

	if (ret)
		return ret;
	ret = tap_sieve_split(fmt, ev->filter, kernel, &rest, err);
	if (!ret && kernel->len)
		ret = put_filter(t, ev, tap_buf_str(kernel), err);
	if (!ret && rest.len && ev->stacks.depth)
		ret = tap_err_set(err, -EOPNOTSUPP,
				  "--stack: over tracefs the kernel must filter events that have "
				  "stacks, but it cannot express the filter '%.200s' of %s:%s",
				  tap_buf_str(&rest), ev->system, ev->name);
	if (!ret && rest.len && sizeof(long) != sizeof(uint64_t))
		ret = tap_err_set(
			err, -EOPNOTSUPP,
			"-f: '%.200s' of %s:%s: 32-bit kernels cannot evaluate this filter",
			tap_buf_str(&rest), ev->system, ev->name);
	if (!ret && rest.len) {
		ret = tap_sieve_add(&t->sieve, fmt, tap_buf_str(&rest), err);
		fmt = NULL;
	}
	if (!ret && rest.len && !ev->note &&
	    asprintf(&ev->note,
		     "-f: the kernel cannot evaluate '%.200s' of %s:%s: the recorder evaluates "
		     "this filter instead",
		     tap_buf_str(&rest), ev->system, ev->name) < 0)
		ret = tap_err_nomem(err);
	tap_format_free(fmt);
	tap_buf_release(&rest);
	return ret;
}

/*
 * Set the user's own filter first, without -c, so that an error message shows what the user typed.
 * A filter that we cannot parse is passed to the kernel, which may accept it ("prev_comm.ustring ==
 * ...").
 */
static int set_filter(struct tfs *t, struct tap_plan_event *ev, const char *format,
		      struct tap_err *err)
{
	const struct tap_strings *comms = &t->plan->select->comms;
	struct tap_buf text = { 0 }, kernel = { 0 };
	struct tap_err theirs = { 0 };
	int ret = 0;

	if (ev->filter)
		ret = sift_event(t, ev, format, &kernel, err);
	if (ret == -EINVAL && !put_filter(t, ev, ev->filter, &theirs)) {
		tap_buf_puts(&kernel, ev->filter);
		ret = 0;
	}
	if (!ret && comms->nr)
		ret = tap_limit_comms(kernel.len ? tap_buf_str(&kernel) : NULL, comms, format,
				      &text, err)
			      ?: put_filter(t, ev, tap_buf_str(&text), err);
	tap_buf_release(&kernel);
	tap_buf_release(&text);
	return ret;
}

static bool is_file_name(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

/*
 * Switch an event on. An event that is not available is no failure; a bad filter or lack of memory
 * is.
 */
static int set_event(struct tfs *t, struct tap_plan_event *ev, struct tap_err *err)
{
	struct tap_buf format = { .max = TAP_FORMAT_MAX_BYTES };
	struct tap_err why = { 0 };
	int ret = -ENOENT, refused = 0;

	if (is_file_name(ev->system) && is_file_name(ev->name))
		ret = tap_tracefs_format(t->root, ev->system, ev->name, &format, &why);
	if (ret == -ENOENT)
		tap_plan_outcome(ev, TAP_EVENT_ABSENT, "kernel has no such event");
	else if (ret)
		tap_plan_outcome(ev, TAP_EVENT_FAILED, "%s", why.text);
	if (ret) {
		tap_buf_release(&format);
		return 0;
	}
	tap_buf_str(&format);
	ret = format.err ? tap_err_set(err, format.err, "out of memory")
			 : set_filter(t, ev, format.data, err)
				   ?: tap_tracefs_stacks_set(&t->in, ev, err);
	if (!ret && !ev->is_soft)
		refused =
			tap_instance_put(&t->in, "1", "events/%s/%s/enable", ev->system, ev->name);
	if (refused)
		tap_plan_outcome(ev, TAP_EVENT_FAILED, "cannot be switched on: %s",
				 strerror(-refused));
	if (ret || refused) {
		tap_buf_release(&format);
		return ret;
	}
	ev->status = TAP_EVENT_ON;
	t->formats[t->nr_formats++] = (struct tap_head_format){
		.system = ev->system,
		.text = format.data,
		.len = format.len,
	};
	return 0;
}

static int set_events(struct tfs *t, struct tap_err *err)
{
	struct tap_plan *plan = t->plan;
	int ret = 0;

	t->formats = calloc(plan->nr_events + 3, sizeof(*t->formats));
	if (!t->formats)
		return tap_err_nomem(err);
	for (unsigned int i = 0; !ret && i < plan->nr_events; i++)
		if (is_mine(&plan->events[i]))
			ret = set_event(t, &plan->events[i], err);
	return ret;
}

static int read_texts(struct tfs *t, struct tap_err *err)
{
	char path[PATH_MAX];
	int ret = tap_instance_get(&t->in, &t->header_page, "events/header_page")
			  ?: tap_instance_get(&t->in, &t->header_event, "events/header_event");

	if (ret)
		return fail_on(t, ret, "read the page headers", err);
	/* exists at the top level only; without it some %s are shown as addresses */
	if (snprintf(path, sizeof(path), "%s/printk_formats", t->root) < (int)sizeof(path))
		tap_buf_read_file(&t->printk, path);
	return 0;
}

static int open_pipe(const struct tfs *t, struct tfs_cpu *c)
{
	int size;

	if (pipe2(c->pipe, O_CLOEXEC | O_NONBLOCK)) {
		c->pipe[0] = c->pipe[1] = -1;
		return -errno;
	}
	/* fails if the user's limit for all pipes is reached: then use a smaller pipe */
	size = fcntl(c->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	if (size < 0)
		size = fcntl(c->pipe[1], F_GETPIPE_SZ);
	c->pipe_bytes = (size_t)(size > 0 ? size : 0) / t->page_bytes * t->page_bytes;
	if (c->pipe_bytes < t->page_bytes)
		c->pipe_bytes = t->page_bytes;
	return 0;
}

static int open_cpu(struct tfs *t, unsigned int cpu)
{
	struct tfs_cpu *c = &t->cpus[cpu];
	int fd = tap_instance_open(&t->in, O_RDONLY | O_NONBLOCK, "per_cpu/cpu%u/trace_pipe_raw",
				   cpu);
	int ret;

	if (fd == -ENOENT) /* a possible CPU that was never present; tried again at each drain */
		return 0;
	if (fd < 0)
		return fd;
	ret = open_pipe(t, c);
	if (ret)
		close(fd);
	else
		c->fd = fd;
	return ret;
}

static int open_cpus(struct tfs *t, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int cpu = 0; !ret && cpu < t->nr_cpus; cpu++)
		if (t->cpus[cpu].fd < 0 && tap_select_cpu(t->plan->select, (int)cpu))
			ret = open_cpu(t, cpu);
	return ret ? fail_on(t, ret, "open the ring buffers", err) : 0;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/*
 * Close the pipes first. A sub-buffer that was spliced belongs to the instance's ring; the kernel
 * gives it back when it leaves the pipe (buffer_pipe_buf_release()), but takes no reference to the
 * ring until then. So removing the instance earlier is a use after free, and the process that
 * closes the pipe oopses (seen on v6.18).
 */
static void remove_instance(struct tfs *t)
{
	for (unsigned int cpu = 0; t->cpus && cpu < t->nr_cpus; cpu++) {
		close_one(&t->cpus[cpu].pipe[0]);
		close_one(&t->cpus[cpu].pipe[1]);
		close_one(&t->cpus[cpu].fd);
	}
	tap_instance_remove(&t->in);
}

static void tfs_free(void *state)
{
	struct tfs *t = state;

	if (!t)
		return;
	remove_instance(t);
	tap_instance_release(&t->in);
	for (unsigned int i = 0; i < t->nr_formats; i++)
		free((char *)t->formats[i].text);
	free(t->formats);
	tap_buf_release(&t->header_page);
	tap_buf_release(&t->header_event);
	tap_buf_release(&t->printk);
	free(t->cpus);
	free(t->block);
	tap_sieve_release(&t->sieve);
	tap_tracefs_triggers_release(&t->triggers);
	free(t->unsifted);
	free(t->root);
	free(t);
}

static int tfs_new(struct tap_plan *plan, struct tfs **out, struct tap_err *err)
{
	struct tfs *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return tap_err_nomem(err);
	t->plan = plan;
	t->in.guard = -1;
	t->printk.max = TEXT_MAX_BYTES;
	t->nr_cpus = plan->nr_cpus;
	t->cpus = calloc(t->nr_cpus, sizeof(*t->cpus));
	if (!t->cpus)
		return tap_err_nomem(err);
	for (unsigned int cpu = 0; cpu < t->nr_cpus; cpu++)
		t->cpus[cpu].fd = t->cpus[cpu].pipe[0] = t->cpus[cpu].pipe[1] = -1;
	t->block = tap_page_writer_block();
	return t->block ? 0 : tap_err_nomem(err);
}

/* Add the format of the kernel's stack records, which stacktrace triggers write. */
static int describe_stacks(struct tfs *t, struct tap_err *err)
{
	struct tap_buf text = { .max = TAP_FORMAT_MAX_BYTES };

	if (!tap_tracefs_stacks_come(t->plan) ||
	    tap_tracefs_format(t->root, "ftrace", "kernel_stack", &text, NULL)) {
		tap_buf_release(&text);
		return 0;
	}
	tap_buf_str(&text);
	if (text.err)
		return tap_err_nomem(err);
	t->formats[t->nr_formats++] =
		(struct tap_head_format){ .system = "ftrace", .text = text.data, .len = text.len };
	return 0;
}

/* Add the format of events_off, unless the BPF backend records, too, and does it. */
static int describe_off(struct tfs *t, struct tap_err *err)
{
	const struct tap_def *def = tap_def_find("schedtap", "events_off");
	struct tap_buf text = { 0 };

	if (!t->plan->nr_triggers)
		return 0;
	for (unsigned int i = 0; i < t->plan->nr_events; i++)
		if (t->plan->events[i].backend->kind == TAP_BY_BPF &&
		    t->plan->events[i].status == TAP_EVENT_PLANNED)
			return 0;
	tap_def_format(def, NULL, NULL, &text);
	tap_buf_str(&text);
	if (text.err)
		return tap_err_nomem(err);
	t->formats[t->nr_formats++] = (struct tap_head_format){ .system = def->system,
								.text = text.data,
								.len = text.len };
	return 0;
}

static int make_unsifted(struct tfs *t, struct tap_err *err)
{
	if (t->sieve.by_id.nr)
		t->unsifted = malloc(t->page_bytes);
	return t->sieve.by_id.nr && !t->unsifted ? tap_err_nomem(err) : 0;
}

static int tfs_open(struct tap_plan *plan, void **state, struct tap_err *err)
{
	struct tfs *t;
	int ret;

	*state = NULL;
	if (plan->select->by & TAP_SELECT_CGROUPS)
		return tap_err_set(err, -EOPNOTSUPP,
				   "-g needs the bpf backend: tracefs cannot filter by cgroup");
	ret = tfs_new(plan, &t, err) ?: tap_tracefs_find(TAP_TRACEFS_MOUNTS, &t->root, err);
	if (!ret)
		tap_instance_sweep(t->root);
	ret = ret
		      ?: tap_instance_make(t->root, &t->in, err)
		      ?: set_buffer(t, err)
		      ?: set_scope(t, err)
		      ?: set_events(t, err)
		      ?: tap_tracefs_triggers_open(&t->triggers, &t->in, plan, err)
		      ?: describe_off(t, err)
		      ?: describe_stacks(t, err)
		      ?: make_unsifted(t, err)
		      ?: read_texts(t, err)
		      ?: open_cpus(t, err);
	if (ret)
		tfs_free(t);
	else
		*state = t;
	return ret;
}

static int tfs_describe(void *state, const struct tap_map *cgroups, struct tap_head *head,
			struct tap_err *err)
{
	struct tfs *t = state;

	(void)cgroups;
	head->header_page = tap_buf_str(&t->header_page);
	head->header_event = tap_buf_str(&t->header_event);
	head->printk = tap_buf_str(&t->printk);
	head->formats = t->formats;
	head->nr_formats = t->nr_formats;
	head->clock = "mono";
	if (t->header_page.err || t->header_event.err)
		return tap_err_nomem(err);
	return 0;
}

/*
 * KernelShark shows the first, unnamed stream of a file as the top buffer: it is ours if no other
 * backend records.
 */
static const char *buffer_name(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++) {
		const struct tap_plan_event *ev = &plan->events[i];

		if (!is_mine(ev) && ev->backend &&
		    (ev->status == TAP_EVENT_ON || ev->status == TAP_EVENT_PLANNED))
			return "tracefs";
	}
	return "";
}

static int tfs_add_buffer(void *state, struct tap_page_writer *writer, struct tap_err *err)
{
	struct tfs *t = state;
	int ret = tap_page_writer_add_buffer(writer, buffer_name(t->plan), "mono", t->page_bytes,
					     t->nr_cpus, err);

	if (ret < 0)
		return ret;
	t->writer = writer;
	t->buffer = (unsigned int)ret;
	return tap_tracefs_triggers_start(&t->triggers, writer, err);
}

static int tfs_start(void *state, struct tap_err *err)
{
	struct tfs *t = state;
	int ret = tap_instance_put(&t->in, "1", "tracing_on");

	return ret ? fail_on(t, ret, "switch on the tracing", err) : 0;
}

/* Return: bytes moved; 0: there is no full sub-buffer, or the pipe is full; -errno. */
static ssize_t move_pages(struct tfs *t, unsigned int cpu, struct tap_err *err)
{
	const struct tfs_cpu *c = &t->cpus[cpu];
	ssize_t n = splice(c->fd, NULL, c->pipe[1], NULL, c->pipe_bytes,
			   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return fail_on(t, -errno, "take pages from the ring buffers", err);
	if (n)
		tap_page_writer_put_pipe(t->writer, t->buffer, cpu, c->pipe[0], (size_t)n);
	return n;
}

/*
 * Return: whether the pipe has no space for another sub-buffer, because the page writer waits for a
 * disk.
 */
static bool is_full(const struct tfs *t, const struct tfs_cpu *c)
{
	int bytes;

	return !ioctl(c->pipe[0], FIONREAD, &bytes) &&
	       (size_t)bytes + t->page_bytes > c->pipe_bytes;
}

/* Copy a sub-buffer: those that splice() left, and the one that the kernel is filling. */
static ssize_t read_page(struct tfs *t, unsigned int cpu, unsigned char *to, struct tap_err *err)
{
	ssize_t n = read(t->cpus[cpu].fd, to, t->page_bytes);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return fail_on(t, -errno, "read the ring buffers", err);
	memset(to + n, 0, t->page_bytes - (size_t)n);
	return n;
}

/* Return: like read_page(). @keep: whether the sub-buffer must be written. */
static ssize_t read_sifted(struct tfs *t, unsigned int cpu, unsigned char *to, bool *keep,
			   struct tap_err *err)
{
	ssize_t n = read_page(t, cpu, t->unsifted ? t->unsifted : to, err);
	uint32_t left;

	*keep = true;
	if (n > 0 && t->unsifted) {
		t->cpus[cpu].rejected +=
			tap_sieve_page(&t->sieve, t->unsifted, to, t->page_bytes, (int)cpu, &left);
		*keep = left;
	}
	return n;
}

/* Copy up to @max sub-buffers, and hand them over in blocks. Return: bytes copied; -errno. */
static ssize_t copy_pages(struct tfs *t, unsigned int cpu, uint64_t max, struct tap_err *err)
{
	size_t copied = 0, len = 0;
	ssize_t n = 0;
	bool keep;

	while (max-- && (n = read_sifted(t, cpu, t->block + len, &keep, err)) > 0) {
		copied += t->page_bytes;
		len += keep ? t->page_bytes : 0;
		if (len + t->page_bytes > TAP_BLOCK_BYTES) {
			tap_page_writer_put(t->writer, t->buffer, cpu, &t->block, len, 0);
			len = 0;
		}
	}
	if (len)
		tap_page_writer_put(t->writer, t->buffer, cpu, &t->block, len, 0);
	return n < 0 ? n : (ssize_t)copied;
}

static uint64_t stat_value(const char *stats, const char *name)
{
	const char *at = strstr(stats, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/*
 * Count full sub-buffers in the ring. Copying others would fill the page writer's queue with nearly
 * empty ones.
 */
static uint64_t count_whole(struct tfs *t, unsigned int cpu)
{
	struct tap_buf stats = { .max = 1 << 16 };
	uint64_t bytes = 0;

	if (!tap_instance_get(&t->in, &stats, "per_cpu/cpu%u/stats", cpu))
		bytes = stat_value(tap_buf_str(&stats), "\nbytes: ");
	tap_buf_release(&stats);
	return bytes / t->page_bytes;
}

/* Write an empty sub-buffer whose header says that an unknown number of events is missing. */
static void mark_loss(struct tfs *t, unsigned int cpu)
{
	uint64_t now = tap_now_ns();
	unsigned long commit = TAP_PAGE_MISSED;

	memset(t->block, 0, t->page_bytes);
	memcpy(t->block, &now, sizeof(now));
	memcpy(t->block + sizeof(now), &commit, sizeof(commit));
	tap_page_writer_put(t->writer, t->buffer, cpu, &t->block, t->page_bytes, 0);
}

/*
 * Use the kernel's counters, which also count events that were dropped without a mark in a
 * sub-buffer. If they went back, another process has reset the ring, or unloaded a module with
 * events.
 */
static void count_events(struct tfs *t, unsigned int cpu, struct tap_drain *res)
{
	struct tap_buf stats = { .max = 1 << 16 };
	struct tfs_cpu *c = &t->cpus[cpu];
	uint64_t events, lost;
	const char *s;

	if (!tap_instance_get(&t->in, &stats, "per_cpu/cpu%u/stats", cpu)) {
		s = tap_buf_str(&stats);
		events = stat_value(s, "\nread events: ");
		lost = stat_value(s, "\noverrun: ") + stat_value(s, "\ncommit overrun: ") +
		       stat_value(s, "\ndropped events: ");
		if (events < c->events || lost < c->lost) {
			mark_loss(t, cpu);
			res->reset = true;
			c->events = c->lost = 0;
		}
		c->rejected = c->rejected < events - c->events ? c->rejected : events - c->events;
		res->events += events - c->events - c->rejected;
		c->rejected = 0;
		res->lost += lost - c->lost;
		c->events = events;
		c->lost = lost;
	}
	tap_buf_release(&stats);
}

static int drain_cpu(struct tfs *t, unsigned int cpu, enum tap_drain_depth depth,
		     struct tap_drain *res, struct tap_err *err)
{
	struct tfs_cpu *c = &t->cpus[cpu];
	uint64_t now = tap_now_ns(), moved = 0, fill;
	bool is_late = now - c->moved_ns > PARTIAL_NS;
	ssize_t n;

	/* at most one ring's size, so that a busy CPU does not keep us from the others */
	do {
		n = t->unsifted ? 0 : move_pages(t, cpu, err);
		moved += n > 0 ? (uint64_t)n : 0;
	} while (n > 0 && (depth == TAP_DRAIN_LAST || moved < t->ring_bytes));
	if (n >= 0) {
		n = copy_pages(t, cpu,
			       depth == TAP_DRAIN_LAST	      ? UINT64_MAX
			       : depth != TAP_DRAIN_PAGES     ? count_whole(t, cpu) + 1
			       : t->unsifted || is_full(t, c) ? count_whole(t, cpu) + is_late
			       : is_late && !moved	      ? 1
							      : 0,
			       err);
		moved += n > 0 ? (uint64_t)n : 0;
	}
	if (moved || is_late)
		c->moved_ns = now;

	fill = moved < t->ring_bytes ? moved * 100 / t->ring_bytes : 100;
	if (fill > res->fill_pct)
		res->fill_pct = (unsigned int)fill;
	res->bytes += moved;
	if (n >= 0 && (moved || depth == TAP_DRAIN_LAST))
		count_events(t, cpu, res);
	return n < 0 ? (int)n : 0;
}

/* @res: all backends add to it. */
static int tfs_drain(void *state, enum tap_drain_depth depth, struct tap_drain *res,
		     struct tap_err *err)
{
	const struct tap_drain before = *res;
	struct tfs *t = state;
	int ret = tap_tracefs_triggers_drain(&t->triggers, depth == TAP_DRAIN_LAST, err)
			  ?: open_cpus(t, err);

	for (unsigned int cpu = 0; !ret && cpu < t->nr_cpus; cpu++)
		if (t->cpus[cpu].fd >= 0)
			ret = drain_cpu(t, cpu, depth, res, err);
	/* not left to .free: packing takes time, and the recorder may be killed in it */
	if (depth == TAP_DRAIN_LAST) {
		/* after this the pipes are empty, or the writer failed and will not empty them */
		tap_page_writer_wait(t->writer);
		remove_instance(t);
	}
	t->total.events += res->events - before.events;
	t->total.bytes += res->bytes - before.bytes;
	t->total.lost += res->lost - before.lost;
	return ret;
}

static int tfs_stop(void *state, struct tap_err *err)
{
	struct tfs *t = state;
	int ret = tap_instance_put(&t->in, "0", "tracing_on");

	return ret ? fail_on(t, ret, "switch off the tracing", err) : 0;
}

static void tfs_account(void *state, json_t *price)
{
	const struct tfs *t = state;

	json_object_set_new(price, "tracefs",
			    json_pack("{sI sI sI}", "events", (json_int_t)t->total.events, "bytes",
				      (json_int_t)t->total.bytes, "lost",
				      (json_int_t)t->total.lost));
}

static int tfs_switched(void *state)
{
	struct tfs *t = state;

	return tap_tracefs_triggers_switched(&t->triggers);
}

static void tfs_switch(void *state, bool on)
{
	struct tfs *t = state;

	tap_tracefs_triggers_switch(&t->triggers, on);
}

const struct tap_backend_ops tap_backend_tracefs = {
	.kind = TAP_BY_TRACEFS,
	.name = "tracefs",
	.open = tfs_open,
	.describe = tfs_describe,
	.add_buffer = tfs_add_buffer,
	.start = tfs_start,
	.drain = tfs_drain,
	.switched = tfs_switched,
	.switch_to = tfs_switch,
	.stop = tfs_stop,
	.add_price = tfs_account,
	.free = tfs_free,
};
