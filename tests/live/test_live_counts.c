// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Are the numbers right? One thread does known kinds of work while a recording runs, and BPF
 * programs of the test's own (counter.bpf.c) count and add up what the same tracepoints say about
 * it. Recording and counters must agree to the last event and the last bit; where the recording
 * lost events, its loss figure must close the gap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include <schedtap/reader.h>

#include "../unit/tmp_dir.h"
#include "record/session/session.h"
#include "counter.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))
#define COMM "tap-counted"
#define ROUND_TRIPS 3000
#define PATIENCE_S 30
#define TRIES 3

/* The names in a recording of what the counters count. */
static const struct {
	const char *system, *name;
	const char *who[2]; /* fields that contain a thread, in addition to the current one */
	struct {
		/* sum of this field over the records whose field @who is the thread */
		const char *who, *value;
	} of[COUNTER_SUMS];
} kinds[NR_COUNTS] = {
	[COUNT_SWITCH] = { "sched",
			   "sched_switch",
			   { "prev_pid", "next_pid" },
			   { { "prev_pid", "prev_prio" }, { "next_pid", "next_prio" } } },
	[COUNT_WAKING] = { "sched", "sched_waking", { "pid" }, { { "pid", "prio" } } },
	[COUNT_PELT_SE] = { "schedtap",
			    "sched_pelt_se",
			    { "pid" },
			    { { "pid", "load" }, { "pid", "util" }, { "pid", "update_time" } } },
	[COUNT_UTIL_EST_SE] = { "schedtap",
				"sched_util_est_se",
				{ "pid" },
				{ { "pid", "enqueued" }, { "pid", "util" } } },
	[COUNT_NR_RUNNING] = { "schedtap",
			       "sched_update_nr_running",
			       { 0 },
			       { { "common_pid", "nr_running" }, { "common_pid", "change" } } },
	[COUNT_ENTRY] = { "schedtap", "sched_entry", { 0 }, { { "common_pid", "preempt" } } },
	[COUNT_EXIT] = { "schedtap", "sched_exit", { 0 }, { { "common_pid", "is_switch" } } },
	[COUNT_PROCESS_EXIT] = { "sched", "sched_process_exit", { "pid" }, { { "pid", "prio" } } },
};

/* ---- the counted thread ---- */

struct target {
	pid_t pid, tid;
	/*
	 * selected as well, as a recording with -t ends with its last thread, but that thread's
	 * last switch comes later
	 */
	pid_t sleeper;
	int go; /* a byte: work; end of file: exit */
};

struct work {
	int up, go, ping[2], pong[2];
};

static void compute(unsigned int ms)
{
	struct timespec ts;
	int64_t end, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	end = ts.tv_sec * 1000000000ll + ts.tv_nsec + ms * 1000000ll;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		now = ts.tv_sec * 1000000000ll + ts.tv_nsec;
	} while (now < end);
}

static void *work(void *arg)
{
	struct work *w = arg;
	int tid = gettid();
	char byte;

	prctl(PR_SET_NAME, COMM);
	if (write(w->up, &tid, sizeof(tid)) != sizeof(tid) || read(w->go, &byte, 1) != 1)
		_exit(1);
	for (int i = 0; i < ROUND_TRIPS; i++)
		if (write(w->ping[1], "x", 1) != 1 || read(w->pong[0], &byte, 1) != 1)
			_exit(1);
	for (int i = 0; i < 20; i++)
		usleep(300);
	compute(30);
	close(w->ping[1]);
	return NULL;
}

static void run_target(struct work *w)
{
	pthread_t thread;
	char byte;

	if (pipe(w->ping) || pipe(w->pong) || pthread_create(&thread, NULL, work, w))
		_exit(1);
	while (read(w->ping[0], &byte, 1) == 1)
		if (write(w->pong[1], &byte, 1) != 1)
			_exit(1);
	_exit(pthread_join(thread, NULL) || read(w->go, &byte, 1) != 0);
}

/* Wait until it sleeps in its first read(): only what follows is counted. */
static void wait_until_asleep(int tid)
{
	char path[64], stat[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	for (int i = 0; !strstr(stat, ") S "); i++) {
		FILE *f = fopen(path, "re");
		size_t len;

		if (!f || i > PATIENCE_S * 200)
			fail_msg("the thread does not wait");
		len = fread(stat, 1, sizeof(stat) - 1, f);
		stat[len] = '\0';
		fclose(f);
		usleep(5000);
	}
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	wait_until_asleep(pid);
	return pid;
}

static struct target start_target(void)
{
	/* before the pipes are created, which it would keep open */
	struct target t = { .sleeper = start_sleeper() };
	int up[2], go[2];

	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	t.pid = fork();
	assert_true(t.pid >= 0);
	if (!t.pid) {
		struct work w = { .up = up[1], .go = go[0] };

		close(go[1]);
		run_target(&w);
	}
	close(up[1]);
	close(go[0]);
	assert_int_equal(read(up[0], &t.tid, sizeof(t.tid)), sizeof(t.tid));
	close(up[0]);
	wait_until_asleep(t.tid);
	t.go = go[1];
	return t;
}

static void end_target(const struct target *t)
{
	int status;

	close(t->go);
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	assert_int_equal(status, 0);
	kill(t->sleeper, SIGKILL);
	assert_int_equal(waitpid(t->sleeper, &status, 0), t->sleeper);
}

/* ---- the counters ---- */

static char object[PATH_MAX];

struct counting {
	struct bpf_object *obj;
	struct bpf_link *links[NR_COUNTS];
	unsigned int nr_links;
};

static bool kernel_has(const struct bpf_program *prog)
{
	const char *tracepoint = strchr(bpf_program__section_name(prog), '/') + 1;

	return libbpf_find_vmlinux_btf_id(tracepoint, BPF_TRACE_RAW_TP) > 0;
}

static void set_target(struct bpf_object *obj, int tid)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata");
	size_t size;
	int *value = (int *)(uintptr_t)bpf_map__initial_value(map, &size);

	assert_int_equal(size, sizeof(*value));
	*value = tid;
}

static struct counting start_counting(int tid)
{
	struct counting c = { .obj = bpf_object__open_file(object, NULL) };
	struct bpf_program *prog;

	assert_non_null(c.obj);
	set_target(c.obj, tid);
	bpf_object__for_each_program(prog, c.obj)
		bpf_program__set_autoload(prog, kernel_has(prog));
	assert_int_equal(bpf_object__load(c.obj), 0);
	bpf_object__for_each_program(prog, c.obj) {
		if (!bpf_program__autoload(prog))
			continue;
		c.links[c.nr_links] = bpf_program__attach(prog);
		assert_non_null(c.links[c.nr_links++]);
	}
	return c;
}

static struct counters read_counters(const struct counting *c)
{
	int fd = bpf_object__find_map_fd_by_name(c->obj, "counts");
	struct counters now;
	uint32_t zero = 0;

	assert_int_equal(bpf_map_lookup_elem(fd, &zero, &now), 0);
	return now;
}

/*
 * A sleeping thread may stay in its run queue for a while (delayed dequeue), and its signals are
 * updated there. Start counting only after that.
 */
static void begin_when_quiet(const struct counting *c)
{
	int fd = bpf_object__find_map_fd_by_name(c->obj, "counts");
	struct counters before, now = read_counters(c);
	const struct counters none = { 0 };
	uint32_t zero = 0;

	for (int i = 0; i == 0 || memcmp(&before, &now, sizeof(now)); i++) {
		if (i > PATIENCE_S * 5)
			fail_msg("the thread's signals do not rest");
		before = now;
		usleep(200000);
		now = read_counters(c);
	}
	assert_int_equal(bpf_map_update_elem(fd, &zero, &none, 0), 0);
}

/* Return how often the kernel skipped a counter because it had interrupted itself. */
static uint64_t stop_counting(struct counting *c)
{
	struct bpf_program *prog;
	uint64_t misses = 0;

	while (c->nr_links)
		bpf_link__destroy(c->links[--c->nr_links]);
	bpf_object__for_each_program(prog, c->obj) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);

		if (!bpf_program__autoload(prog))
			continue;
		assert_int_equal(bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len), 0);
		misses += info.recursion_misses;
	}
	return misses;
}

/* ---- the recorder ---- */

struct run_case {
	const char *name;
	enum { EVERYTHING, ONE_PROCESS, ONE_THREAD } scope;
	bool only; /* only the counted events, otherwise the default ones */
	bool zstd, ringbuf;
	unsigned int buffer; /* bytes per CPU; 0: the default */
	bool loses;
};

static void record_by_program(const struct run_case *c, const struct target *t, const char *file)
{
	char id[16], sleeper[16], buffer[16],
		*argv[32] = { getenv("SCHEDTAP"), "record", "-o", (char *)file };
	int n = 4;

	snprintf(id, sizeof(id), "%d", c->scope == ONE_PROCESS ? t->pid : t->tid);
	snprintf(buffer, sizeof(buffer), "%u", c->buffer);
	if (c->scope != EVERYTHING) {
		argv[n++] = c->scope == ONE_PROCESS ? "-p" : "-t";
		argv[n++] = id;
	}
	snprintf(sleeper, sizeof(sleeper), "%d", t->sleeper);
	if (c->scope == ONE_THREAD) {
		argv[n++] = "-t";
		argv[n++] = sleeper;
	}
	for (unsigned int i = 0; c->only && i < NR_COUNTS; i++) {
		argv[n++] = "-e";
		argv[n++] = (char *)kinds[i].name;
	}
	if (c->buffer) {
		argv[n++] = "--buffer";
		argv[n++] = buffer;
	}
	if (c->zstd) {
		argv[n++] = "--compress";
		argv[n++] = "zstd";
	}
	execv(argv[0], argv);
}

static int run_session(const struct tap_session_opts *opts, struct tap_err *err)
{
	struct tap_session *s;
	sigset_t set;
	uint64_t wait_ns;
	int ret;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ret = tap_session_open(opts, &s, err);
	if (ret)
		return ret;
	ret = tap_session_start(s, err);
	while (!ret) {
		struct timespec ts = { 0 };

		ret = tap_session_drain(s, &wait_ns, err);
		ts.tv_nsec = (long)wait_ns;
		if (ret || sigtimedwait(&set, NULL, &ts) == SIGINT)
			break;
	}
	ret = ret ?: tap_session_finish(s, err);
	tap_session_free(s);
	return ret;
}

/* Record with an option that the program lacks: the fallback transport. */
/*
 * The rings' map is one large allocation. If the kernel refuses it, the recorder uses a BPF ring
 * buffer: this takes the place of libbpf's function and refuses the first one.
 */
static bool refuses_load;

int bpf_object__load(struct bpf_object *obj)
{
	int (*load)(struct bpf_object *) = (int (*)(struct bpf_object *))dlsym(RTLD_NEXT, __func__);

	if (refuses_load) {
		refuses_load = false;
		return -ENOMEM;
	}
	return load(obj);
}

static void record_by_library(const struct run_case *c, const struct target *t, const char *file)
{
	const char *events[NR_COUNTS], *id;
	struct tap_select_opts words = {
		.size = sizeof(words),
		.events = events,
		.nr_events = c->only ? NR_COUNTS : 0,
		.tgids = &id,
		.nr_tgids = c->scope == ONE_PROCESS,
		.tids = &id,
		.nr_tids = c->scope == ONE_THREAD,
	};
	struct tap_session_opts opts = {
		.file = file,
		.buffer_bytes = c->buffer ? c->buffer : 8 << 20,
		.zstd = c->zstd,
	};
	struct tap_err err = { 0 };
	struct tap_select *select;
	char text[16];

	refuses_load = c->ringbuf;

	for (unsigned int i = 0; i < NR_COUNTS; i++)
		events[i] = kinds[i].name;
	snprintf(text, sizeof(text), "%d", c->scope == ONE_PROCESS ? t->pid : t->tid);
	id = text;
	if (tap_select_new(&words, &select, &err) ||
	    (opts.select = select, run_session(&opts, &err))) {
		fprintf(stderr, "%s\n", err.text);
		_exit(1);
	}
	_exit(0);
}

static void fail_with_log(struct tmp_dir *tmp, const char *what)
{
	char text[2000];
	FILE *f = fopen(tmp_at(tmp, "log"), "r");
	size_t len = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	text[len] = '\0';
	fail_msg("%s: %s", what, text);
}

/* Returns once events are being recorded. */
static pid_t start_recorder(const struct run_case *c, const struct target *t, struct tmp_dir *tmp)
{
	char file[400];
	pid_t pid;

	snprintf(file, sizeof(file), "%s", tmp_at(tmp, "x.dat"));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		int log = open(tmp_at(tmp, "log"), O_WRONLY | O_CREAT, 0600);

		dup2(log, STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		if (c->ringbuf)
			record_by_library(c, t, file);
		record_by_program(c, t, file);
		_exit(127);
	}
	for (int i = 0; access(tmp_at(tmp, "x.dat.spool/meta.json"), F_OK); i++) {
		if (waitpid(pid, NULL, WNOHANG) || i > PATIENCE_S * 200)
			fail_with_log(tmp, "the recording did not start");
		usleep(5000);
	}
	return pid;
}

static void stop_recorder(pid_t pid, struct tmp_dir *tmp)
{
	int status;

	kill(pid, SIGINT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_with_log(tmp, "the recording failed");
}

/* Wait until the thread was switched out for the last time, after everything else it did. */
static void wait_for_end(const struct counting *counting)
{
	for (int i = 0; !read_counters(counting).states[STATE_DEAD]; i++) {
		if (i > PATIENCE_S * 200)
			fail_msg("the thread did not end");
		usleep(5000);
	}
	usleep(20000);
}

/* ---- the recording ---- */

struct found {
	struct counters c;
	uint64_t records, lost;
	bool missed; /* some events were lost because programs interrupted themselves */
	uint64_t foreign; /* records that are not about the thread */
	uint64_t strange_names, strange_values, strange_times;
	uint64_t cpu_ns[1024]; /* of the last record per CPU */
};

static uint64_t field(const struct tap_event *ev, const char *name)
{
	const struct tap_field *f = tap_format_field(ev->fmt, name);

	if (!f)
		fail_msg("%s has no field %s", ev->fmt->name, name);
	return tap_field_u64(f, ev->data, ev->size);
}

static bool text_is(const struct tap_event *ev, const char *name, const char *want)
{
	uint32_t len;
	const char *text =
		tap_field_bytes(tap_format_field(ev->fmt, name), ev->data, ev->size, &len);

	return len == strlen(want) && !memcmp(text, want, len);
}

static enum counter_state state_of(uint64_t prev_state)
{
	switch (prev_state) {
	case 0:
		return STATE_RUNNING;
	case 1:
		return STATE_SLEEPS;
	case 2:
		return STATE_BLOCKED;
	case 0x10: /* X */
	case 0x20: /* Z */
		return STATE_DEAD;
	case 0x100:
		return STATE_PREEMPTED;
	}
	fail_msg("prev_state=%llx", (unsigned long long)prev_state);
	return NR_STATES;
}

/* Switches in and out need not alternate: a kernel may hide some, from the counters as well. */
static void find_switch(struct found *f, const struct tap_event *ev, int tid)
{
	bool out = (int)field(ev, "prev_pid") == tid;

	f->c.first_ns = f->c.first_ns ? f->c.first_ns : ev->ts_ns;
	f->c.last_ns = ev->ts_ns;
	if (out)
		f->c.states[state_of(field(ev, "prev_state"))]++;
	f->strange_names += !text_is(ev, out ? "prev_comm" : "next_comm", COMM);
}

/* Check the range of each value. A cgroup's entity (pid -1) sums up its tasks. */
static void check_values(struct found *f, const struct tap_event *ev, enum counter_kind kind)
{
	if (kind == COUNT_PELT_SE && (int)field(ev, "pid") >= 0)
		f->strange_values += field(ev, "util") > 1024 || field(ev, "runnable") > 1024;
	if (kind == COUNT_UTIL_EST_SE)
		f->strange_values += field(ev, "util") > 1024 || field(ev, "enqueued") > 1024;
	if (kind == COUNT_NR_RUNNING)
		f->strange_values += field(ev, "nr_running") > 100000 || field(ev, "cpu") > 8191;
}

static bool concerns(const struct tap_event *ev, const char *const *who, int tid)
{
	if ((int)field(ev, "common_pid") == tid)
		return true;
	for (int i = 0; i < 2 && who[i]; i++)
		if ((int)field(ev, who[i]) == tid)
			return true;
	return false;
}

static void find_event(struct found *f, const struct tap_event *ev, int tid)
{
	unsigned int k = 0;

	while (k < NR_COUNTS &&
	       (strcmp(ev->fmt->name, kinds[k].name) || strcmp(ev->fmt->system, kinds[k].system)))
		k++;
	if (k == NR_COUNTS)
		return;
	check_values(f, ev, k);
	if (!concerns(ev, kinds[k].who, tid)) {
		f->foreign++;
		return;
	}
	f->c.kinds[k].any++;
	for (int i = 0; i < COUNTER_SUMS && kinds[k].of[i].who; i++)
		if ((int)field(ev, kinds[k].of[i].who) == tid) {
			f->c.kinds[k].of[i].nr++;
			f->c.kinds[k].of[i].sum += field(ev, kinds[k].of[i].value);
		}
	if (k == COUNT_SWITCH && (f->c.kinds[k].of[0].nr + f->c.kinds[k].of[1].nr))
		find_switch(f, ev, tid);
}

static void find_one(struct found *f, const struct tap_event *ev, int tid)
{
	uint64_t *last = ev->cpu >= 0 ? &f->cpu_ns[ev->cpu % 1024] : NULL;

	if (!ev->fmt) {
		assert_true(ev->lost.count);
		f->lost += ev->lost.count;
		f->missed |= ev->cpu < 0;
		return;
	}
	f->records++;
	f->strange_times += ev->ts_ns < *last;
	*last = ev->ts_ns;
	find_event(f, ev, tid);
}

static void find(const char *file, int tid, struct found *f)
{
	struct tap_err err = { 0 };
	struct tap_reader *r;
	struct tap_event ev;
	int ret = tap_reader_open(file, &r, &err);

	memset(f, 0, sizeof(*f));
	while (!ret && (ret = tap_reader_next(r, &ev, &err)) == 1) {
		find_one(f, &ev, tid);
		ret = 0;
	}
	if (ret)
		fail_msg("%s", err.text);
	tap_reader_free(r);
}

/* ---- comparison ---- */

static void equal(const char *what, const char *part, uint64_t recorded, uint64_t counted)
{
	if (recorded != counted)
		fail_msg("%s, %s: recorded %llu, counted %llu", what, part,
			 (unsigned long long)recorded, (unsigned long long)counted);
}

static void all_equal(const struct counters *recorded, const struct counters *counted)
{
	for (unsigned int k = 0; k < NR_COUNTS; k++) {
		const struct counter *r = &recorded->kinds[k], *c = &counted->kinds[k];

		equal(kinds[k].name, "events", r->any, c->any);
		for (int i = 0; i < COUNTER_SUMS && kinds[k].of[i].who; i++) {
			equal(kinds[k].name, kinds[k].of[i].who, r->of[i].nr, c->of[i].nr);
			equal(kinds[k].name, kinds[k].of[i].value, r->of[i].sum, c->of[i].sum);
		}
	}
	for (unsigned int i = 0; i < NR_STATES; i++)
		equal("sched_switch", "prev_state", recorded->states[i], counted->states[i]);
	/* the counter was attached first, so it also reads the clock first */
	assert_in_range(recorded->first_ns - counted->first_ns, 0, 50000000);
	assert_in_range(recorded->last_ns - counted->last_ns, 0, 50000000);
}

static void loss_closes_the_gap(const struct run_case *c, const struct found *f,
				const struct counters *counted)
{
	uint64_t sum_recorded = 0, sum_counted = 0;

	for (unsigned int k = 0; k < NR_COUNTS; k++) {
		uint64_t r = f->c.kinds[k].any, all = counted->kinds[k].any;

		sum_recorded += r;
		sum_counted += all;
		if (r > all || all > r + f->lost)
			fail_msg("%s: recorded %llu, counted %llu, lost %llu", kinds[k].name,
				 (unsigned long long)r, (unsigned long long)all,
				 (unsigned long long)f->lost);
	}
	/*
	 * If no other events could be lost, the numbers match, but for events that interrupt
	 * another event's filter: they take space in the ring before they are filtered
	 * (trace_event_buffer_lock_reserve()), and count as lost if there is none.
	 */
	if (c->only && c->scope == ONE_THREAD)
		assert_in_range(sum_recorded + f->lost, sum_counted,
				sum_counted + sum_counted / 200);
}

/* Stop the recorder long enough for its rings to overflow, however slow the machine is. */
static void pause_recorder(pid_t recorder)
{
	usleep(20000);
	kill(recorder, SIGSTOP);
	usleep(100000);
	kill(recorder, SIGCONT);
}

/* Return: false if a program interrupted itself: then the numbers cannot be compared. */
static bool try_run(const struct run_case *c)
{
	static struct found f;
	struct target t = start_target();
	struct counting counting = start_counting(t.tid);
	struct counters counted;
	struct tmp_dir tmp;
	uint64_t misses;
	pid_t recorder;

	begin_when_quiet(&counting);
	tmp_make(&tmp);
	recorder = start_recorder(c, &t, &tmp);
	assert_int_equal(write(t.go, "g", 1), 1);
	if (c->loses)
		pause_recorder(recorder);
	wait_for_end(&counting);
	stop_recorder(recorder, &tmp);
	misses = stop_counting(&counting);
	counted = read_counters(&counting);
	bpf_object__close(counting.obj);
	end_target(&t);
	find(tmp_at(&tmp, "x.dat"), t.tid, &f);
	tmp_remove(&tmp);
	print_message("# %llu records, %llu lost; of the thread, %llu switches of %llu\n",
		      (unsigned long long)f.records, (unsigned long long)f.lost,
		      (unsigned long long)f.c.kinds[COUNT_SWITCH].any,
		      (unsigned long long)counted.kinds[COUNT_SWITCH].any);
	if (misses || f.missed)
		return false;
	assert_true(counted.kinds[COUNT_SWITCH].of[1].nr >= 20); /* number of its sleeps */
	assert_int_equal(counted.kinds[COUNT_PROCESS_EXIT].any, 1);
	assert_int_equal(f.strange_names, 0);
	assert_int_equal(f.strange_values, 0);
	assert_int_equal(f.strange_times, 0);
	if (c->scope == ONE_THREAD)
		assert_int_equal(f.foreign, 0);
	if (c->loses)
		assert_int_not_equal(f.lost, 0);
	if (f.lost)
		loss_closes_the_gap(c, &f, &counted);
	else
		all_equal(&f.c, &counted);
	return true;
}

static const struct run_case cases[] = {
	{ "everything on the machine", EVERYTHING },
	{ "a process", ONE_PROCESS },
	{ "a thread, compressed", ONE_THREAD, .zstd = true },
	{ "everything, by way of a BPF ring buffer", EVERYTHING, .ringbuf = true },
	{ "a process, by way of a BPF ring buffer", ONE_PROCESS, .ringbuf = true },
	{ "everything, with loss", EVERYTHING, .buffer = 4096, .loses = true },
	{ "a thread, with loss", ONE_THREAD, .only = true, .buffer = 4096, .loses = true },
	{ "a thread, with loss, by way of a BPF ring buffer", ONE_THREAD, .only = true,
	  .ringbuf = true, .buffer = 4096, .loses = true },
};

static void test_run(void **state)
{
	const struct run_case *c = *state;

	for (int i = 0; i < TRIES; i++)
		if (try_run(c))
			return;
	fail_msg("programs interrupted themselves in each of %d runs", TRIES);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[LEN(cases)];

	(void)argc;
	snprintf(object, sizeof(object), "%s/counter.bpf.o", dirname(strdupa(argv[0])));
	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK) || !getenv("SCHEDTAP")) {
		printf("1..0 # SKIP needs root, the kernel's BTF and $SCHEDTAP\n");
		return 0;
	}
	for (size_t i = 0; i < LEN(cases); i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, test_run, NULL, NULL,
						(void *)(uintptr_t)&cases[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("live_counts", tests, NULL, NULL);
}
