// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * filter_fuzz SECONDS [SEED]: random filters, the kernel's answers against ours. In each round some
 * instances of tracefs record the same event of the same load, the first without a filter, the
 * others with one each: what the kernel let through must be what ours finds in the first. A filter
 * that disagrees is tried again, for a record may differ between two instances. Prints the seed of
 * a round that failed, with which it starts again. filter_fuzz -n EVENTS SEED: with filters for so
 * many events. filter_fuzz -p NUMBER SYSTEM NAME [SEED]: prints filters for this event, with what
 * the kernel's language lacks.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "event/expr/filter.h"
#include "file/cursor.h"
#include "random_filter.h"

#define ROOT "/sys/kernel/tracing"
#define NR_FILTERS 24
#define NR_INSTANCES (NR_FILTERS + 1)
#define ROUNDS 4 /* of an event */
#define TRIES 3
#define MAX_CPUS 64
/* No file is open under this number: to duplicate it switches all instances on, to close it
 * switches them off. */
#define NO_FD 99999

static const char *const events[][2] = {
	{ "sched", "sched_switch" },	   { "sched", "sched_wakeup" },
	{ "sched", "sched_migrate_task" }, { "sched", "sched_process_exec" },
	{ "sched", "sched_process_fork" }, { "raw_syscalls", "sys_exit" },
	{ "ipi", "ipi_send_cpumask" },	   { "irq", "softirq_entry" },
};
#define NR_EVENTS (sizeof(events) / sizeof(*events))

static char dirs[NR_INSTANCES][128];

static void die(const char *what)
{
	fprintf(stderr, "filter_fuzz: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- the kernel ---- */

static int open_in(const char *dir, int flags, const char *file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return open(path, flags | O_CLOEXEC);
}

static bool put(const char *dir, const char *file, const char *text)
{
	int fd = open_in(dir, O_WRONLY | O_TRUNC, file);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static void must_put(const char *dir, const char *file, const char *text)
{
	if (!put(dir, file, text))
		die(file);
}

static void remove_instances(void)
{
	for (int i = 0; i < NR_INSTANCES; i++)
		if (*dirs[i])
			rmdir(dirs[i]);
}

static void make_instances(pid_t pid)
{
	char text[16], on[64], off[64];

	snprintf(text, sizeof(text), "%d", pid);
	snprintf(on, sizeof(on), "traceon if fildes == %d", NO_FD);
	snprintf(off, sizeof(off), "traceoff if fd == %d", NO_FD);
	for (int i = 0; i < NR_INSTANCES; i++) {
		char dir[128];

		snprintf(dir, sizeof(dir), ROOT "/instances/filter-fuzz-%d-%d", getpid(), i);
		if (mkdir(dir, 0700))
			die(dir);
		strcpy(dirs[i], dir);
		must_put(dir, "buffer_size_kb", "1024");
		must_put(dir, "options/event-fork", "1");
		must_put(dir, "set_event_pid", text);
		must_put(dir, "tracing_on", "0");
		must_put(dir, "events/syscalls/sys_enter_dup/trigger", on);
		must_put(dir, "events/syscalls/sys_enter_close/trigger", off);
	}
}

/* What no field has is whatever was in the ring. So are flags of the moment. Return: a copy
 * without; NULL: of another kind. */
static unsigned char *copy_fields(const struct tap_format *fmt, const unsigned char *rec,
				  uint32_t size)
{
	unsigned char *copy = calloc(1, size);

	if (!copy || memcmp(rec, &fmt->id, sizeof(fmt->id))) {
		free(copy);
		return NULL;
	}
	for (unsigned int i = 0; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];
		uint32_t len;
		const char *at = tap_field_region(f, rec, size, &len);

		if (len)
			memcpy(copy + (at - (const char *)rec), at, len);
		memcpy(copy + f->offset, rec + f->offset, f->size);
	}
	copy[2] = copy[3] = 0;
	return copy;
}

/*
 * Whoever reaps a task while it leaves its CPU changes its exit state, which sched_switch reads
 * once for each instance: 0x20 (EXIT_ZOMBIE) in one and 0x10 (EXIT_DEAD) in the next.
 */
static bool may_differ(const struct tap_format *fmt, const unsigned char *rec, uint32_t size)
{
	const struct tap_field *state = tap_format_field(fmt, "prev_state");

	return state && tap_field_u64(state, rec, size) & 0x30;
}

static void read_page(struct records *out, int cpu, const unsigned char *page, uint32_t size,
		      const struct tap_format *fmt)
{
	const struct tap_page_abi abi = { .page_size = size,
					  .data_offset = TAP_PAGE_HEADER,
					  .commit_size = 8 };
	struct tap_page_head head;
	struct tap_cursor c = { 0 };

	if (!tap_page_parse(&abi, page, &head) || head.missed)
		die("a page is damaged, or something was lost");
	tap_cursor_open(&c, &abi, page, &head, 0);
	while (tap_cursor_step(&c) == TAP_STEP_EVENT) {
		struct record r = { cpu, c.size, copy_fields(fmt, c.rec, c.size) };

		if (r.bytes && may_differ(fmt, c.rec, c.size)) {
			free(r.bytes);
			r.bytes = NULL;
		}
		if (!r.bytes)
			continue;
		if (tap_array_grow(&out->v, out->nr, &out->cap, sizeof(r)))
			die("memory");
		out->v[out->nr++] = r;
	}
}

static void clear(struct records *r)
{
	while (r->nr)
		free(r->v[--r->nr].bytes);
}

static void read_records(const char *dir, struct records *out, const struct tap_format *fmt)
{
	uint32_t size = (uint32_t)sysconf(_SC_PAGESIZE);
	unsigned char *page = calloc(1, size);
	char file[64];

	clear(out);
	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		int fd;

		snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", cpu);
		fd = open_in(dir, O_RDONLY | O_NONBLOCK, file);
		while (fd >= 0 && page && read(fd, page, size) > 0)
			read_page(out, cpu, page, size, fmt);
		if (fd >= 0)
			close(fd);
	}
	free(page);
}

/* ---- the load ---- */

static void *spin(void *until)
{
	while (!__atomic_load_n((int *)until, __ATOMIC_RELAXED))
		;
	return NULL;
}

/* Interrupts to other CPUs: their view of this memory changes. */
static void shoot(void)
{
	pthread_t thread;
	int stop = 0;

	if (pthread_create(&thread, NULL, spin, &stop))
		return;
	for (int i = 0; i < 20; i++) {
		char *p = mmap(NULL, 1 << 14, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);

		*(volatile char *)p = 1;
		mprotect(p, 1 << 14, PROT_READ);
		munmap(p, 1 << 14);
		usleep(50);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static void work(void)
{
	static const char *const names[] = { "a",    "kworker/0:1",	"x[y]z",
					     "it's", "fifteen letters", "say \"hi\"",
					     "b*c?" };
	long nr = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	for (int i = 0; i < 40; i++) {
		prctl(PR_SET_NAME, names[i % 7]);
		CPU_ZERO(&set);
		CPU_SET(i % nr, &set);
		sched_setaffinity(0, sizeof(set), &set);
		usleep(i % 3 ? 1 : 300);
		close(-i);
		if (i % 8 == 0 && !vfork()) {
			execl(i % 16 ? "/bin/true" : "/bin/false", "x", NULL);
			_exit(1);
		}
	}
	shoot();
	while (wait(NULL) > 0)
		;
}

/* A process that works whenever it gets a byte. It switches the instances on and off itself, all of
 * them in one system call: whoever did it from outside would see it leave at different times,
 * however long it waits. */
static struct {
	pid_t pid;
	int go, done;
} load;

static void start_load(void)
{
	int in[2], out[2];
	char c;

	if (pipe(in) || pipe(out))
		die("pipe");
	load.pid = fork();
	if (!load.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(in[1]);
		while (read(in[0], &c, 1) == 1) {
			if (dup(NO_FD) >= 0)
				break;
			work();
			close(NO_FD);
			if (write(out[1], "d", 1) != 1)
				break;
		}
		_exit(0);
	}
	close(in[0]);
	close(out[1]);
	load.go = in[1];
	load.done = out[0];
}

static void run_load(void)
{
	char c;

	if (write(load.go, "g", 1) != 1 || read(load.done, &c, 1) != 1)
		die("the load");
}

static void put_all(const char *file, const char *text)
{
	for (int i = 0; i < NR_INSTANCES; i++)
		must_put(dirs[i], file, text);
}

/* ---- rounds ---- */

static struct tap_format *read_format(const char *system, const char *name)
{
	struct tap_buf text = { 0 };
	struct tap_format *fmt;
	char path[256];

	snprintf(path, sizeof(path), ROOT "/events/%s/%s/format", system, name);
	if (tap_buf_read_file(&text, path) ||
	    tap_format_parse(system, tap_buf_str(&text), text.len,
			     (struct tap_abi){ .long_size = sizeof(long) }, &fmt, NULL))
		fmt = NULL;
	tap_buf_release(&text);
	return fmt;
}

static bool is_same(const struct record *a, const struct record *b)
{
	return a->cpu == b->cpu && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* Return: of the first record on that they disagree about, the index in @all; -1: they agree. */
static int compare(const struct tap_filter *f, const struct records *all,
		   const struct records *kernel)
{
	/* the task that runs when sched_switch fires */
	const struct tap_field *comm = tap_format_field(f->fmt, "prev_comm");
	unsigned int k = 0;

	for (unsigned int i = 0; i < all->nr; i++) {
		const struct record *r = &all->v[i];
		struct tap_filter_about about = { .cpu = r->cpu };
		bool is_next = k < kernel->nr && is_same(r, &kernel->v[k]);

		if (comm)
			about.comm = tap_field_bytes(comm, r->bytes, r->size, &about.comm_len);
		if (tap_filter_match(f, r->bytes, r->size, &about)) {
			if (!is_next)
				return (int)i;
			k++;
		}
	}
	return k < kernel->nr ? (int)all->nr : -1;
}

struct tried {
	struct tap_buf text;
	struct tap_filter *f;
	bool taken; /* by the kernel */
	int at; /* of the last try: the first record on which both disagree, -1: they agree */
	unsigned int nr_kernel;
};

static unsigned int nr_filters, nr_hits, nr_records;

/* Both must take it, or neither; the kernel as it stands, or as we say it to the kernel. Return:
 * whether it is there. */
static bool set_filter(struct tried *t, const char *dir, const char *file,
		       const struct tap_format *fmt)
{
	struct tap_buf said = { 0 };
	struct tap_err err = { 0 };
	const char *text = tap_buf_str(&t->text);

	if (tap_filter_new(fmt, text, &t->f, &err))
		fprintf(stderr, "# %s\n", err.text);
	else if (one_in(2) && !tap_filter_kernel_text(t->f, text, &said))
		text = tap_buf_str(&said);
	t->taken = put(dir, file, text);
	tap_buf_release(&said);
	return t->taken && t->f;
}

static void print_record(const char *what, const struct record *r)
{
	fprintf(stderr, "# %s %d:", what, r->cpu);
	for (uint32_t k = 0; k < r->size; k++)
		fprintf(stderr, "%s%02x", k % 8 ? "" : " ", r->bytes[k]);
	fputc('\n', stderr);
}

static void print_records(const char *what, const struct records *r)
{
	for (unsigned int i = 0; i < r->nr && i < 60; i++)
		print_record(what, &r->v[i]);
}

static bool agrees(struct tried *t, const char *dir, const struct tap_format *fmt)
{
	struct records kernel = { 0 };

	/* of each try: the next one has its own alone */
	read_records(dir, &kernel, fmt);
	t->at = t->f ? compare(t->f, &seen, &kernel) : -1;
	t->nr_kernel = kernel.nr;
	if (t->at >= 0 && getenv("FILTER_FUZZ_V")) {
		fprintf(stderr, "# '%s': the first is %d of %u\n", t->text.data, t->at, seen.nr);
		print_records("all", &seen);
		print_records("the kernel's", &kernel);
	}
	nr_hits += kernel.nr > 0 && kernel.nr < seen.nr;
	clear(&kernel);
	free(kernel.v);
	return t->at < 0;
}

static void print_difference(const struct tap_format *fmt, const struct tried *t)
{
	printf("%s: different records: '%s'; the first is %d of %u, and the kernel has %u\n",
	       fmt->name, t->text.data, t->at, seen.nr, t->nr_kernel);
	for (int i = t->at - 2; i < t->at + 2; i++)
		if (i >= 0 && i < (int)seen.nr)
			print_record(i == t->at ? "that" : "near", &seen.v[i]);
}

/* Return: whether all agree. */
static bool round_of(const struct tap_format *fmt)
{
	char filter[128];
	struct tried t[NR_FILTERS] = { 0 };
	bool bad[NR_FILTERS], again = true, ok = true;

	snprintf(filter, sizeof(filter), "events/%s/%s/filter", fmt->system, fmt->name);
	for (int i = 0; i < NR_FILTERS; i++) {
		add_filter(&t[i].text, fmt, 0);
		bad[i] = true;
		if (!set_filter(&t[i], dirs[i + 1], filter, fmt)) {
			ok &= !t[i].taken && !t[i].f;
			printf("%s: %s '%s'\n", fmt->name,
			       t[i].taken ? "only the kernel takes" : "the kernel refuses",
			       t[i].text.data);
			bad[i] = false;
		}
	}
	for (int try = 0; again && try < TRIES; try++) {
		again = false;
		run_load();
		read_records(dirs[0], &seen, fmt);
		for (int i = 0; i < NR_FILTERS; i++)
			again |= bad[i] &= !agrees(&t[i], dirs[i + 1], fmt);
	}
	for (int i = 0; i < NR_FILTERS; i++) {
		if (bad[i])
			print_difference(fmt, &t[i]);
		ok &= !bad[i];
		tap_filter_free(t[i].f);
		tap_buf_release(&t[i].text);
		put(dirs[i + 1], filter, "0");
	}
	nr_filters += NR_FILTERS;
	nr_records += seen.nr;
	return ok;
}

static int print_filters(int argc, char **argv)
{
	struct tap_format *fmt = argc < 5 ? NULL : read_format(argv[3], argv[4]);

	beyond = true;
	seed = argc > 5 ? strtoull(argv[5], NULL, 0) : 1;
	for (int i = 0; fmt && i < atoi(argv[2]); i++) {
		struct tap_buf text = { 0 };

		add_filter(&text, fmt, 0);
		puts(tap_buf_str(&text));
		tap_buf_release(&text);
	}
	tap_format_free(fmt);
	return fmt ? 0 : 2;
}

int main(int argc, char **argv)
{
	bool is_number = argc > 3 && !strcmp(argv[1], "-n");
	uint64_t limit, end, first;
	bool ok = true;
	char enable[128];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "-p"))
		return print_filters(argc, argv);
	argc -= is_number;
	argv += is_number;
	if (argc < 2)
		return 2;
	limit = strtoull(argv[1], NULL, 0);
	end = tap_now_ns() + limit * 1000000000u;
	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : tap_now_ns();
	signal(SIGPIPE, SIG_IGN);
	atexit(remove_instances);
	start_load();
	make_instances(load.pid);
	do {
		struct tap_format *fmt;
		const char *const *event;

		first = seed;
		event = events[random_below(NR_EVENTS)];
		fmt = read_format(event[0], event[1]);
		clear(&seen);
		if (fmt) {
			snprintf(enable, sizeof(enable), "events/%s/%s/enable", fmt->system,
				 fmt->name);
			put_all(enable, "1");
			/* from the second on with values from the one before */
			for (int i = 0; i < ROUNDS; i++)
				ok &= round_of(fmt);
			put_all(enable, "0");
		}
		tap_format_free(fmt);
		if (!ok)
			printf("failed with seed %llu\n", (unsigned long long)first);
	} while (ok && (is_number ? --limit > 0 : tap_now_ns() < end));
	clear(&seen);
	free(seen.v);
	printf("%u filters, %u of them between all and nothing, %u records, seed %llu\n",
	       nr_filters, nr_hits, nr_records, (unsigned long long)first);
	return !ok;
}
