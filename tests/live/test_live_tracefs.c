// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The tracefs backend against the running kernel, in instances of its own.
 * alone: any other recorder that starts removes the instance of one that was killed
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc.h"
#include "event/format.h"
#include "file/cursor.h"
#include "record/backend.h"
#include "record/tracefs/instance.h"
#include "record/tracefs/tracefs.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define OPS (&tap_backend_tracefs)
#define MAX_EVENTS 4

#define check(name, cond)                                                                          \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("%s: %s", name, #cond);                                           \
	} while (0)

static char *root;
static char dir[] = "/tmp/schedtap-live-XXXXXX";

/* One recording of sched:sched_switch and its result. */
struct session {
	struct tap_plan plan;
	struct tap_plan_event events[MAX_EVENTS];
	struct tap_select *select;
	void *state;
	struct tap_spool *spool;
	struct tap_page_writer *writer;
	struct tap_head head;
	struct tap_drain sum;
};

static struct session live, second; /* not on the stack: what a failed test leaves is released */
static char users_instance[PATH_MAX];

/* What its pages hold: switches that name the test's own thread, or else its helper, or neither. */
struct tally {
	uint64_t records, mine, helper, others, strange_comm, off_cpu0;
	uint64_t bytes;
	uint64_t gaps; /* pages that say that something is missing before them */
	uint64_t first_ns, last_ns;
};

static struct tap_plan_event *add_event(struct session *s, const char *name, const char *filter)
{
	struct tap_plan_event *ev = &s->events[s->plan.nr_events++];

	*ev = (struct tap_plan_event){ .system = (char *)"sched",
				       .name = (char *)name,
				       .filter = (char *)filter,
				       .backend = OPS };
	return ev;
}

/* What it is of. */
static void selects(struct session *s, struct tap_select_opts opts)
{
	opts.size = sizeof(opts);
	tap_select_free(s->select);
	assert_int_equal(tap_select_new(&opts, &s->select, NULL), 0);
	s->plan.select = s->select;
}

static void session_init(struct session *s, const char *filter)
{
	*s = (struct session){ .plan = {
				       .events = s->events,
				       .buffer_bytes = 8 << 20,
				       .nr_cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF),
			       } };
	add_event(s, "sched_switch", filter);
	selects(s, (struct tap_select_opts){ 0 });
}

static void session_release(struct session *s)
{
	tap_page_writer_free(s->writer);
	OPS->free(s->state);
	tap_spool_free(s->spool);
	for (unsigned int i = 0; i < s->plan.nr_events; i++)
		free(s->events[i].reason);
	tap_select_free(s->select);
	*s = (struct session){ 0 };
}

static int release_all(void **state)
{
	(void)state;
	session_release(&live);
	session_release(&second);
	return *users_instance ? rmdir(users_instance) : 0;
}

static void must(int ret, const struct tap_err *err)
{
	if (ret)
		fail_msg("%d: %s", ret, err->text);
}

static int session_try(struct session *s, const char *file, struct tap_err *err)
{
	char path[PATH_MAX];
	int ret = OPS->open(&s->plan, &s->state, err);

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	tap_head_defaults(&s->head);
	if (!ret)
		ret = OPS->describe(s->state, NULL, &s->head, err);
	s->head.uname = s->head.tool = s->head.cmdlines = s->head.meta = "";
	s->head.nr_cpus = s->plan.nr_cpus;
	if (!ret)
		ret = tap_spool_create(path, &s->head, &s->spool, err);
	if (!ret)
		ret = tap_page_writer_new(s->spool, &s->writer, err);
	return ret ? ret : OPS->add_buffer(s->state, s->writer, err) ?: OPS->start(s->state, err);
}

static void session_start(struct session *s, const char *file)
{
	struct tap_err err = { 0 };

	must(session_try(s, file, &err), &err);
}

static int session_drain(struct session *s, bool last, struct tap_err *err)
{
	int ret = OPS->drain(s->state, last, &s->sum, err);

	tap_page_writer_wait(s->writer);
	return ret ?: tap_page_writer_check(s->writer, err);
}

static void session_stop(struct session *s)
{
	struct tap_err err = { 0 };

	must(OPS->stop(s->state, &err), &err);
	must(session_drain(s, true, &err), &err);
}

static void tally_record(struct tally *t, const struct tap_format *fmt, const unsigned char *rec,
			 uint32_t size, unsigned int cpu, int helper)
{
	const struct tap_field *prev = tap_format_field(fmt, "prev_pid");
	const struct tap_field *next = tap_format_field(fmt, "next_pid");
	int a = (int)tap_field_u64(prev, rec, size), b = (int)tap_field_u64(next, rec, size);
	int me = (int)syscall(SYS_gettid), writer = tap_page_writer_tid(live.writer);
	uint32_t len;

	t->records++;
	t->off_cpu0 += cpu != 0;
	if (a == me || b == me)
		t->mine++;
	else if (helper && (a == helper || b == helper))
		t->helper++;
	else if (a != writer && b != writer) /* which is one of our threads */
		t->others++;
	t->strange_comm +=
		strncmp(tap_field_bytes(tap_format_field(fmt, "prev_comm"), rec, size, &len),
			"tap-live", 8) &&
		strncmp(tap_field_bytes(tap_format_field(fmt, "next_comm"), rec, size, &len),
			"tap-live", 8);
}

static void tally_cpu(struct tally *t, const struct tap_format *fmt, const struct tap_buf *pages,
		      unsigned int cpu, int helper)
{
	const struct tap_page_abi abi = { 4096, 16, 8, false };
	struct tap_page_head head;
	struct tap_cursor c = { 0 };
	enum tap_step step;

	assert_int_equal(pages->len % 4096, 0);
	t->bytes += pages->len;
	for (size_t at = 0; at < pages->len; at += 4096) {
		const unsigned char *page = (unsigned char *)pages->data + at;

		assert_true(tap_page_parse(&abi, page, &head));
		t->gaps += head.missed;
		tap_cursor_open(&c, &abi, page, &head, 0);
		while ((step = tap_cursor_step(&c)) == TAP_STEP_EVENT) {
			assert_int_equal(c.rec[0] | c.rec[1] << 8, fmt->id);
			t->first_ns = t->first_ns && t->first_ns < c.ts ? t->first_ns : c.ts;
			t->last_ns = t->last_ns > c.ts ? t->last_ns : c.ts;
			tally_record(t, fmt, c.rec, c.size, cpu, helper);
		}
		assert_int_equal(step, TAP_STEP_END);
	}
}

/* Reads the pages back from the spool folder; the session holds one kind of event. */
static struct tally session_tally(struct session *s, int helper)
{
	const struct tap_abi abi = { .long_size = 8 };
	struct tap_format *fmt;
	struct tap_err err = { 0 };
	struct tally t = { 0 };
	char path[PATH_MAX];

	must(tap_format_parse("sched", s->head.formats[0].text, s->head.formats[0].len, abi, &fmt,
			      &err),
	     &err);
	for (unsigned int cpu = 0; cpu < s->plan.nr_cpus; cpu++) {
		struct tap_buf pages = { 0 };

		snprintf(path, sizeof(path), "%s/0..mono.4096.cpu%u", tap_spool_path(s->spool),
			 cpu);
		if (!tap_buf_read_file(&pages, path))
			tally_cpu(&t, fmt, &pages, cpu, helper);
		tap_buf_release(&pages);
	}
	tap_format_free(fmt);
	return t;
}

/* How many instances there are whose name says that @pid made them. */
static int instances_of(pid_t pid)
{
	char path[PATH_MAX];
	struct dirent *ent;
	uint64_t start;
	pid_t owner;
	int nr = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/instances", root);
	d = opendir(path);
	assert_non_null(d);
	while ((ent = readdir(d)))
		nr += tap_instance_owner(ent->d_name, &owner, &start) && owner == pid;
	closedir(d);
	return nr;
}

#define NAPS 8
#define PATIENCE_S 60

static volatile int helper_tid;
static volatile bool helper_end;
static volatile unsigned int *naps; /* of the helper, which may be another process */

static void run_on(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void nap(void)
{
	usleep(1000);
	++*naps;
}

static void *nap_thread(void *arg)
{
	helper_tid = (int)syscall(SYS_gettid);
	prctl(PR_SET_NAME, "helper");
	run_on(live.plan.nr_cpus - 1);
	while (!helper_end)
		nap();
	return arg;
}

enum helper { NO_HELPER, A_THREAD, A_CHILD };
enum amount { ANY, NONE, SOME };

struct scope_case {
	const char *name;
	const char *filter, *comm, *cpus;
	bool tgid, tid, follow;
	enum helper helper; /* starts after the recording did */
	enum amount mine, helpers, others, strange_comms, off_cpu0;
};

static const struct scope_case scope_cases[] = {
	{ "no scope: everybody is recorded", .helper = A_THREAD, .mine = SOME, .helpers = SOME,
	  .strange_comms = SOME },
	{ "a filter holds in the kernel", .filter = "prev_comm == \"tap-live\"", .mine = SOME,
	  .others = NONE },
	{ "a filter that nothing passes", .filter = "prev_pid == -5", .mine = NONE,
	  .others = NONE },
	{ "a thread: only its switches", .tid = true, .helper = A_THREAD, .mine = SOME,
	  .helpers = NONE, .others = NONE },
	{ "a process: threads started later too", .tgid = true, .helper = A_THREAD, .mine = SOME,
	  .helpers = SOME, .others = NONE },
	{ "a process: its children too, the kernel does not know them from threads", .tgid = true,
	  .helper = A_CHILD, .mine = SOME, .helpers = SOME, .others = NONE },
	{ "follow: its children too", .tgid = true, .follow = true, .helper = A_CHILD, .mine = SOME,
	  .helpers = SOME, .others = NONE },
	{ "process and thread: both must match", .tgid = true, .tid = true, .helper = A_THREAD,
	  .mine = SOME, .helpers = NONE, .others = NONE },
	{ "a name: switches from and to it", .comm = "tap-l*", .helper = A_THREAD, .mine = SOME,
	  .helpers = ANY, .strange_comms = NONE },
	{ "a name and a filter: both must match", .comm = "tap-l*",
	  .filter = "next_comm != \"tap-live\" && prev_comm != \"tap-live\"", .mine = NONE,
	  .strange_comms = NONE },
	{ "a CPU: no other has pages", .cpus = "0", .helper = A_THREAD, .mine = SOME,
	  .off_cpu0 = NONE },
};

/* @other: a process, or 0: and another one. */
static void scope_of(struct session *s, const struct scope_case *c, pid_t other)
{
	char tgid[16], first[16], tid[16];

	snprintf(tgid, sizeof(tgid), "%d", getpid());
	snprintf(first, sizeof(first), "%d", other);
	snprintf(tid, sizeof(tid), "%d", (int)syscall(SYS_gettid));
	s->plan.follow = c->follow;
	selects(s, (struct tap_select_opts){
			   .tgids = (const char *[]){ tgid, first },
			   c->tgid ? 1 + !!other : 0,
			   .tids = (const char *[]){ tid },
			   c->tid,
			   .comms = &c->comm,
			   !!c->comm,
			   .cpus = c->cpus,
		   });
}

static void start_helper(enum helper kind, pthread_t *thread)
{
	helper_end = false;
	helper_tid = 0;
	*naps = 0;
	if (kind == A_THREAD)
		assert_int_equal(pthread_create(thread, NULL, nap_thread, NULL), 0);
	if (kind != A_CHILD)
		return;
	helper_tid = fork();
	assert_true(helper_tid >= 0);
	if (helper_tid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		nap();
}

static void end_helper(enum helper kind, pthread_t thread)
{
	helper_end = true;
	if (kind == A_THREAD)
		pthread_join(thread, NULL);
	if (kind == A_CHILD) {
		kill(helper_tid, SIGKILL);
		waitpid(helper_tid, NULL, 0);
	}
}

/* Sleep and drain, until the helper has slept often enough as well. */
static void drain_for_a_while(enum helper kind)
{
	struct tap_err err = { 0 };

	for (int n = 0; n < NAPS || (kind != NO_HELPER && *naps < NAPS); n++) {
		assert_true(n < PATIENCE_S * 200);
		usleep(5000);
		must(session_drain(&live, false, &err), &err);
	}
}

static void amount(const char *name, const char *what, enum amount want, uint64_t nr)
{
	if ((want == NONE && nr) || (want == SOME && !nr))
		fail_msg("%s: %s: %ju", name, what, (uintmax_t)nr);
}

static void test_scopes(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE(scope_cases); i++) {
		const struct scope_case *c = &scope_cases[i];
		struct tally t;
		pthread_t thread = 0;
		char file[32];

		snprintf(file, sizeof(file), "scope%zu", i);
		session_init(&live, c->filter);
		scope_of(&live, c, 0);
		session_start(&live, file);
		start_helper(c->helper, &thread);
		drain_for_a_while(c->helper);
		session_stop(&live);
		end_helper(c->helper, thread);
		t = session_tally(&live, helper_tid);
		amount(c->name, "mine", c->mine, t.mine);
		amount(c->name, "helper's", c->helpers, t.helper);
		amount(c->name, "others", c->others, t.others);
		amount(c->name, "strange comm", c->strange_comms, t.strange_comm);
		amount(c->name, "off CPU 0", c->off_cpu0, t.off_cpu0);
		check(c->name, t.records == live.sum.events);
		check(c->name, t.bytes == live.sum.bytes);
		check(c->name, !t.gaps && !live.sum.lost);
		session_release(&live);
		check(c->name, instances_of(getpid()) == 0);
	}
}

/* Two switches a round: both run on one CPU. */
static void ping_pong(int rounds)
{
	int a[2], b[2];
	char c = 0;

	assert_int_equal(pipe(a) | pipe(b), 0);
	if (!fork()) {
		while (rounds--)
			if (read(a[0], &c, 1) != 1 || write(b[1], &c, 1) != 1)
				break;
		_exit(0);
	}
	while (rounds--) {
		assert_int_equal(write(a[1], &c, 1), 1);
		assert_int_equal(read(b[0], &c, 1), 1);
	}
	wait(NULL);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}

/* The end of one process is no error, and does not hide the new threads of another. */
static void test_process_ends(void **state)
{
	pthread_t thread = 0;
	pid_t pid;

	(void)state;
	start_helper(A_CHILD, &thread);
	pid = helper_tid;
	session_init(&live, NULL);
	scope_of(&live, &(struct scope_case){ .tgid = true }, pid);
	session_start(&live, "ends");
	end_helper(A_CHILD, thread);
	start_helper(A_THREAD, &thread);
	drain_for_a_while(A_THREAD);
	session_stop(&live);
	end_helper(A_THREAD, thread);
	assert_true(session_tally(&live, helper_tid).helper > 0);
}

static void test_loss(void **state)
{
	struct tally t;

	(void)state;
	session_init(&live, NULL);
	live.plan.buffer_bytes = 16384;
	session_start(&live, "loss");
	ping_pong(2000);
	session_stop(&live);
	t = session_tally(&live, 0);
	assert_int_equal(t.records, live.sum.events);
	assert_true(t.records < 2000 && t.records + live.sum.lost >= 4000);
	assert_true(t.gaps > 0);
	session_release(&live);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void test_many_pages(void **state)
{
	uint64_t start, end;
	struct tap_err err = { 0 };
	struct tap_drain res = { 0 };
	struct tally t;

	(void)state;
	/* only our own: somebody else's load must not fill the ring */
	session_init(&live, "prev_comm == \"tap-live\"");
	start = now_ns();
	session_start(&live, "many");
	ping_pong(20000);
	must(session_drain(&live, false, &err), &err);
	session_stop(&live);
	end = now_ns();
	ping_pong(100);
	must(OPS->drain(live.state, true, &res, &err), &err);
	assert_int_equal(res.bytes + res.events + res.lost, 0);
	t = session_tally(&live, 0);
	assert_true(t.records >= 40000);
	assert_int_equal(t.records, live.sum.events);
	assert_int_equal(t.gaps + live.sum.lost, 0);
	assert_true(start <= t.first_ns && t.last_ns <= end);
	session_release(&live);
}

/* A write error, as on a full disk: data already written stays intact, and nothing is written after
 * the gap. RLIMIT_FSIZE makes the writes fail. */
static void test_write_error(void **state)
{
	const struct rlimit small = { 10000, RLIM_INFINITY },
			    none = { RLIM_INFINITY, RLIM_INFINITY };
	struct tap_err err = { 0 }, again = { 0 };
	struct tap_drain res = { 0 };
	struct tally t;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	session_init(&live, NULL);
	session_start(&live, "full");
	ping_pong(3000);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(OPS->drain(live.state, false, &res, NULL), 0);
	tap_page_writer_wait(live.writer);
	assert_int_equal(tap_page_writer_check(live.writer, &err), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_non_null(strstr(err.text, "File too large"));
	assert_int_equal(OPS->drain(live.state, true, &res, NULL), 0);
	tap_page_writer_wait(live.writer);
	assert_int_equal(tap_page_writer_check(live.writer, &again), -EFBIG);
	assert_string_equal(again.text, err.text);
	t = session_tally(&live, 0);
	assert_in_range(t.bytes, 8192, 8192 * live.plan.nr_cpus);
	assert_int_equal(t.bytes, tap_spool_bytes(live.spool));
	session_release(&live);
	assert_int_equal(instances_of(getpid()), 0);
}

static void read_file(const char *path, struct tap_buf *text)
{
	assert_int_equal(tap_buf_read_file(text, path), 0);
	tap_buf_str(text);
}

static uint64_t own_start(void)
{
	struct tap_buf stat = { 0 };
	uint64_t start;

	read_file("/proc/self/stat", &stat);
	assert_int_equal(tap_proc_start(stat.data, &start), 0);
	tap_buf_release(&stat);
	return start;
}

/* A file of the instance that this process has. */
static void own_file(const char *name, struct tap_buf *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/instances/schedtap-%d-%ju/%s", root, getpid(),
		 (uintmax_t)own_start(), name);
	read_file(path, text);
}

static void test_outcomes(void **state)
{
	struct tap_buf clock = { 0 };
	struct tap_err err = { 0 };

	(void)state;
	session_init(&live, NULL);
	add_event(&live, "sched_nosuch", NULL);
	add_event(&live, "../../tracing_on", NULL);
	add_event(&live, "sched_waking", NULL)->backend = &tap_backend_bpf;
	must(OPS->open(&live.plan, &live.state, &err), &err);
	assert_int_equal(live.events[0].status, TAP_EVENT_ON);
	assert_int_equal(live.events[1].status, TAP_EVENT_ABSENT);
	assert_string_equal(live.events[1].reason, "kernel has no such event");
	assert_int_equal(live.events[2].status, TAP_EVENT_ABSENT);
	assert_int_equal(live.events[3].status, TAP_EVENT_PLANNED);
	must(OPS->describe(live.state, NULL, &live.head, &err), &err);
	assert_int_equal(live.head.nr_formats, 1);
	assert_string_equal(live.head.formats[0].system, "sched");
	assert_true(!strncmp(live.head.formats[0].text, "name: sched_switch\nID: ", 23));
	assert_non_null(strstr(live.head.header_page, "field: local_t commit;"));
	assert_non_null(strstr(live.head.header_event, "type_len"));
	assert_string_equal(live.head.clock, "mono");
	own_file("trace_clock", &clock);
	assert_non_null(strstr(clock.data, "[mono]"));
	tap_buf_release(&clock);
	session_release(&live);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *name, *filter, *tgid, *tid, *comm, *cgroup, *cpus;
		int ret;
		const char *text;
	} cases[] = {
		{ "unknown field", .filter = "nosuch == 1", .ret = -EINVAL,
		  .text = "bad filter for 'sched:sched_switch': Field not found\n"
			  " nosuch == 1\n        ^" },
		{ "an errno that means nothing", .filter = "prev_pid == 1)", .ret = -EINVAL,
		  .text = "bad filter for 'sched:sched_switch': Too few '('" },
		{ "brackets that only fit together with ours", .comm = "x",
		  .filter = "prev_pid == 1) || (prev_pid == 2", .ret = -EINVAL,
		  .text = "bad filter for 'sched:sched_switch': Too few '('" },
		{ "no such process", .tgid = "4194304", .ret = -ESRCH,
		  .text = "there is no process 4194304" },
		{ "no such thread", .tid = "4194304", .ret = -ESRCH,
		  .text = "there is no thread 4194304" },
		{ "a thread of another process", .tgid = "1", .tid = "2", .ret = -ESRCH,
		  .text = "thread 2 (-t) does not belong to any process given with -p" },
		{ "quotes of both kinds", .comm = "a\"b'c", .ret = -EINVAL,
		  .text = "-c 'a\"b'c': tracefs cannot match a name that contains both single and "
			  "double quotes" },
		{ "a cgroup", .cgroup = "/sys/fs/cgroup", .ret = -EOPNOTSUPP,
		  .text = "-g needs the bpf backend: tracefs cannot filter by cgroup" },
		{ "no such CPU", .cpus = "60000", .ret = -EINVAL,
		  .text = "-C: this machine has none of the given CPUs" },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_err err = { 0 };

		session_init(&live, cases[i].filter);
		selects(&live, (struct tap_select_opts){ .tgids = &cases[i].tgid,
							 !!cases[i].tgid,
							 .tids = &cases[i].tid,
							 !!cases[i].tid,
							 .comms = &cases[i].comm,
							 !!cases[i].comm,
							 .cgroups = &cases[i].cgroup,
							 !!cases[i].cgroup,
							 .cpus = cases[i].cpus });
		check(cases[i].name, OPS->open(&live.plan, &live.state, &err) == cases[i].ret);
		if (strncmp(err.text, cases[i].text, strlen(cases[i].text)))
			fail_msg("%s: <%s>", cases[i].name, err.text);
		check(cases[i].name, !live.state && instances_of(getpid()) == 0);
		session_release(&live);
	}
}

static void test_second_recorder(void **state)
{
	struct tap_err err = { 0 };

	(void)state;
	session_init(&live, NULL);
	session_init(&second, NULL);
	session_start(&live, "first");
	assert_int_equal(OPS->open(&second.plan, &second.state, &err), -EBUSY);
	assert_int_equal(instances_of(getpid()), 1);
	usleep(5000);
	session_stop(&live);
	assert_true(live.sum.events > 0);
	session_release(&second);
	session_release(&live);
}

/* The kernel itself ends the tracing of a killed recorder; the next one removes the instance. */
static void test_killed(void **state)
{
	struct tap_buf text = { 0 };
	struct tap_err err = { 0 };
	char path[PATH_MAX];
	uint64_t start;
	pid_t pid;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	session_init(&live, NULL);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!session_try(&live, "killed", &err) && write(fds[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], path, 1), 1);
	close(fds[0]);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	read_file(path, &text);
	assert_int_equal(tap_proc_start(text.data, &start), 0);
	assert_int_equal(instances_of(pid), 1);
	tap_instance_sweep(root);
	assert_int_equal(instances_of(pid), 1); /* it lives */

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(instances_of(pid), 1);
	snprintf(path, sizeof(path), "%s/instances/schedtap-%d-%ju/tracing_on", root, pid,
		 (uintmax_t)start);
	tap_buf_clear(&text);
	read_file(path, &text);
	assert_string_equal(text.data, "0\n");
	must(OPS->open(&live.plan, &live.state, &err), &err);
	assert_int_equal(instances_of(pid), 0);
	session_release(&live);
	tap_buf_release(&text);
}

/* Its process has the same number, but it is another one. */
static void test_reused_pid(void **state)
{
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/instances/schedtap-%d-%ju", root, getpid(),
		 (uintmax_t)own_start() + 1);
	assert_int_equal(mkdir(path, 0700), 0);
	tap_instance_sweep(root);
	assert_int_equal(rmdir(path), -1);
}

static void snapshot(struct tap_buf *out, const char *user)
{
	static const char *const files[] = {
		"tracing_on",
		"current_tracer",
		"set_event",
		"set_event_pid",
		"trace_clock",
		"buffer_size_kb",
		"tracing_cpumask",
		"trace_options",
		"events/sched/sched_switch/enable",
		"events/sched/sched_switch/filter",
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < TABLE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		read_file(path, out);
		if (!strcmp(files[i], "trace_options"))
			continue;
		snprintf(path, sizeof(path), "%s/instances/%s/%s", root, user, files[i]);
		read_file(path, out);
	}
	tap_buf_str(out);
}

static void test_others_untouched(void **state)
{
	struct tap_buf before = { 0 }, during = { 0 }, after = { 0 };
	char user[32];

	(void)state;
	/* an instance of the user's own, with a name that looks like schedtap's */
	snprintf(user, sizeof(user), "schedtap-%d", getpid());
	snprintf(users_instance, sizeof(users_instance), "%s/instances/%s", root, user);
	assert_int_equal(mkdir(users_instance, 0700), 0);
	snapshot(&before, user);
	session_init(&live, "prev_pid != 0");
	scope_of(&live, &(struct scope_case){ .tgid = true, .follow = true, .cpus = "0" }, 0);
	session_start(&live, "untouched");
	snapshot(&during, user);
	usleep(5000);
	session_stop(&live);
	session_release(&live);
	snapshot(&after, user);
	assert_int_equal(rmdir(users_instance), 0);
	*users_instance = '\0';
	assert_string_equal(before.data, during.data);
	assert_string_equal(before.data, after.data);
	tap_buf_release(&before);
	tap_buf_release(&during);
	tap_buf_release(&after);
}

static void test_account(void **state)
{
	json_t *price = json_object();

	(void)state;
	session_init(&live, NULL);
	session_start(&live, "account");
	usleep(5000);
	session_stop(&live);
	OPS->add_price(live.state, price);
	assert_true(live.sum.events > 0);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(price, "tracefs"), "events")),
		live.sum.events);
	json_decref(price);
	session_release(&live);
}

static void test_list(void **state)
{
	struct tap_buf format = { 0 };
	struct tap_tracefs_list list;
	struct tap_err err = { 0 };
	unsigned int found = 0;

	(void)state;
	must(tap_tracefs_list(root, &list, &err), &err);
	must(tap_tracefs_format(root, "sched", "sched_switch", &format, &err), &err);
	assert_non_null(strstr(tap_buf_str(&format), "name: sched_switch\n"));
	for (unsigned int i = 0; i < list.nr; i++)
		found += !strcmp(list.v[i].system, "sched") &&
			 !strcmp(list.v[i].name, "sched_switch");
	assert_int_equal(found, 1);
	assert_int_equal(tap_tracefs_format(root, "sched", "nosuch", &format, &err), -ENOENT);
	tap_buf_release(&format);
	tap_tracefs_list_release(&list);
}

static int tear_down(void **state)
{
	char cmd[64];

	(void)state;
	free(root);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", dir);
	return system(cmd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_scopes, release_all),
		cmocka_unit_test_teardown(test_process_ends, release_all),
		cmocka_unit_test_teardown(test_loss, release_all),
		cmocka_unit_test_teardown(test_many_pages, release_all),
		cmocka_unit_test_teardown(test_write_error, release_all),
		cmocka_unit_test_teardown(test_outcomes, release_all),
		cmocka_unit_test_teardown(test_refusals, release_all),
		cmocka_unit_test_teardown(test_second_recorder, release_all),
		cmocka_unit_test_teardown(test_killed, release_all),
		cmocka_unit_test_teardown(test_reused_pid, release_all),
		cmocka_unit_test_teardown(test_others_untouched, release_all),
		cmocka_unit_test_teardown(test_account, release_all),
		cmocka_unit_test_teardown(test_list, release_all),
	};
	struct tap_err err = { 0 };

	if (geteuid() || tap_tracefs_find(TAP_TRACEFS_MOUNTS, &root, &err)) {
		printf("1..0 # SKIP %s\n", geteuid() ? "needs root" : err.text);
		return 0;
	}
	prctl(PR_SET_NAME, "tap-live");
	naps = mmap(NULL, sizeof(*naps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (naps == MAP_FAILED)
		return 1;
	run_on(0);
	if (!mkdtemp(dir))
		return 1;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("live_tracefs", tests, NULL, tear_down);
}
