// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * synth CPUS EVENTS FILE [SEED]: a recording of wakeups and switches such as no small machine could
 * make. On every CPU eight tasks take turns: a wakeup out of idle, the switch to the task, the
 * switch back. The CPUs' turns alternate, so that a reader must look at another CPU all the time.
 * With a SEED nothing is regular: tasks are woken, wait, run, are preempted and sleep at random, so
 * that compression is measured on realistic data.
 */
#include <stdio.h>
#include <stdlib.h>

#include "event/defs.h"
#include "file/pack.h"
#include "file/page.h"
#include "file/spool.h"

#define START_NS 1000000000ull
#define TURN_NS 12000u /* a CPU's wakeup, switch and switch */
#define TASKS 8u
#define BATCH_PAGES 64u
#define MAX_RECORD 256u
#define TASK_INTERRUPTIBLE 1

struct cpu {
	struct tap_page page;
	unsigned char *pages; /* BATCH_PAGES */
	unsigned int nr_full;
};

struct field {
	uint32_t offset, size;
};

static const struct field common_type = { 0, 2 }, common_pid = { 4, 4 };
static struct {
	const struct tap_def *def;
	struct field pid, comm, target_cpu;
} waking;
static struct {
	const struct tap_def *def;
	struct field prev_pid, next_pid, prev_comm, next_comm, prev_state;
} sw;
static struct tap_spool *spool;
static unsigned int buffer;

static _Noreturn void die(const struct tap_err *err)
{
	fprintf(stderr, "synth: %s\n", err->text);
	exit(1);
}

static void *alloc(size_t size)
{
	void *mem = calloc(1, size);

	if (!mem)
		abort();
	return mem;
}

static void flush(struct cpu *c, unsigned int cpu)
{
	struct tap_err err;

	if (c->nr_full &&
	    tap_spool_write(spool, buffer, cpu, c->pages, (size_t)c->nr_full * TAP_PAGE_SIZE, &err))
		die(&err);
	c->nr_full = 0;
}

static void end_page(struct cpu *c)
{
	tap_page_end(&c->page, 0);
	c->nr_full++;
}

static void add(struct cpu *c, unsigned int cpu, uint64_t ts_ns, const void *rec, uint32_t size)
{
	unsigned char *at = c->page.bytes ? tap_page_add(&c->page, ts_ns, size) : NULL;

	if (!at) {
		if (c->page.bytes)
			end_page(c);
		if (c->nr_full == BATCH_PAGES)
			flush(c, cpu);
		tap_page_begin(&c->page, c->pages + (size_t)c->nr_full * TAP_PAGE_SIZE, ts_ns);
		at = tap_page_add(&c->page, ts_ns, size);
	}
	memcpy(at, rec, size);
}

static struct field find(const struct tap_def *def, const char *name)
{
	for (unsigned int i = 0; i < def->nr_fields; i++)
		if (!strcmp(def->fields[i].name, name))
			return (struct field){ def->fields[i].offset, def->fields[i].size };
	abort();
}

static void set(unsigned char *rec, struct field f, int64_t v)
{
	memcpy(rec + f.offset, &v, f.size);
}

static void set_comm(unsigned char *rec, struct field f, unsigned int tid)
{
	char name[16] = "swapper";

	if (tid)
		snprintf(name, sizeof(name), "task-%u", tid % 100000);
	memcpy(rec + f.offset, name, sizeof(name));
}

static void add_waking(struct cpu *c, unsigned int cpu, uint64_t ts_ns, unsigned int tid)
{
	unsigned char rec[MAX_RECORD] = { 0 };

	set(rec, common_type, waking.def->id);
	set(rec, waking.pid, tid);
	set(rec, waking.target_cpu, cpu);
	set_comm(rec, waking.comm, tid);
	add(c, cpu, ts_ns, rec, waking.def->size);
}

static void add_switch(struct cpu *c, unsigned int cpu, uint64_t ts_ns, unsigned int prev,
		       int prev_state, unsigned int next)
{
	unsigned char rec[MAX_RECORD] = { 0 };

	set(rec, common_type, sw.def->id);
	set(rec, common_pid, prev);
	set(rec, sw.prev_pid, prev);
	set(rec, sw.next_pid, next);
	set(rec, sw.prev_state, prev_state);
	set_comm(rec, sw.prev_comm, prev);
	set_comm(rec, sw.next_comm, next);
	add(c, cpu, ts_ns, rec, sw.def->size);
}

static void find_fields(void)
{
	waking.def = tap_def_find("sched", "sched_waking");
	waking.pid = find(waking.def, "pid");
	waking.comm = find(waking.def, "comm");
	waking.target_cpu = find(waking.def, "target_cpu");
	sw.def = tap_def_find("sched", "sched_switch");
	sw.prev_pid = find(sw.def, "prev_pid");
	sw.next_pid = find(sw.def, "next_pid");
	sw.prev_comm = find(sw.def, "prev_comm");
	sw.next_comm = find(sw.def, "next_comm");
	sw.prev_state = find(sw.def, "prev_state");
}

static void run_regular(struct cpu *cpus, unsigned int nr_cpus, uint64_t nr_events)
{
	for (uint64_t turn = 0; turn * 3 < nr_events; turn++) {
		unsigned int cpu = (unsigned int)(turn % nr_cpus);
		unsigned int tid = 1000 + cpu * TASKS + (unsigned int)(turn / nr_cpus % TASKS);
		uint64_t at = START_NS + turn / nr_cpus * TURN_NS + cpu * (TURN_NS / 4) / nr_cpus;

		add_waking(&cpus[cpu], cpu, at, tid);
		add_switch(&cpus[cpu], cpu, at + TURN_NS / 4, 0, 0, tid);
		add_switch(&cpus[cpu], cpu, at + TURN_NS / 2, tid, TASK_INTERRUPTIBLE, 0);
	}
}

/* Of one CPU, at random. */
struct random_cpu {
	unsigned int seed, current; /* number of its task, plus one; 0: idle */
	unsigned int runnable; /* bits, without .current */
	uint64_t at_ns;
};

/* One of @bits, plus one; 0: there is none. */
static unsigned int any_of(struct random_cpu *r, unsigned int bits)
{
	unsigned int i = (unsigned int)rand_r(&r->seed) % TASKS;

	while (bits && !(bits >> i & 1))
		i = (i + 1) % TASKS;
	return bits ? i + 1 : 0;
}

static unsigned int tid_of(unsigned int cpu, unsigned int task)
{
	return task ? 1000 + cpu * TASKS + task - 1 : 0;
}

static void step(struct cpu *c, unsigned int cpu, struct random_cpu *r)
{
	const unsigned int running = r->current ? 1u << (r->current - 1) : 0,
			   all = (1u << TASKS) - 1;
	const unsigned int woken = rand_r(&r->seed) % 100 < 45 || !(r->runnable | running)
					   ? any_of(r, all & ~(r->runnable | running))
					   : 0;
	const bool is_preempted = !woken && r->runnable && running && rand_r(&r->seed) % 100 < 30;

	/* from 0.5 to 32 us: as many short ones as long ones */
	r->at_ns += (512u << rand_r(&r->seed) % 6) + (unsigned int)rand_r(&r->seed) % 512;
	if (woken) {
		r->runnable |= 1u << (woken - 1);
		add_waking(c, cpu, r->at_ns, tid_of(cpu, woken));
		return;
	}
	r->current = any_of(r, r->runnable);
	r->runnable = (r->runnable & ~(r->current ? 1u << (r->current - 1) : 0)) |
		      (is_preempted ? running : 0);
	add_switch(c, cpu, r->at_ns,
		   tid_of(cpu, running ? (unsigned int)__builtin_ctz(running) + 1 : 0),
		   is_preempted || !running ? 0 : TASK_INTERRUPTIBLE, tid_of(cpu, r->current));
}

static void run_random(struct cpu *cpus, unsigned int nr_cpus, uint64_t nr_events,
		       unsigned int seed)
{
	for (unsigned int i = 0; i < nr_cpus; i++) {
		struct random_cpu r = { .seed = seed + i, .at_ns = START_NS };

		for (uint64_t k = 0; k < nr_events / nr_cpus; k++)
			step(&cpus[i], i, &r);
	}
}

/* @seed: 0: regularly. */
static void run(unsigned int nr_cpus, uint64_t nr_events, unsigned int seed)
{
	struct cpu *cpus = alloc(nr_cpus * sizeof(*cpus));

	for (unsigned int i = 0; i < nr_cpus; i++)
		cpus[i].pages = alloc(BATCH_PAGES * TAP_PAGE_SIZE);
	if (seed)
		run_random(cpus, nr_cpus, nr_events, seed);
	else
		run_regular(cpus, nr_cpus, nr_events);
	for (unsigned int i = 0; i < nr_cpus; i++) {
		if (cpus[i].page.bytes)
			end_page(&cpus[i]);
		flush(&cpus[i], i);
	}
}

static void create(const char *file, unsigned int nr_cpus)
{
	const struct tap_def *defs[] = { sw.def, waking.def };
	struct tap_head_format formats[2];
	struct tap_head head = { .formats = formats,
				 .nr_formats = 2,
				 .uname = "Linux synth",
				 .tool = "synth",
				 .cmdlines = "",
				 .meta = "",
				 .clock = "mono",
				 .printk = "",
				 .nr_cpus = nr_cpus };
	struct tap_buf texts[2] = { 0 };
	struct tap_err err;
	int nr;

	for (unsigned int i = 0; i < 2; i++) {
		tap_def_format(defs[i], NULL, NULL, &texts[i]);
		formats[i] = (struct tap_head_format){ "sched", texts[i].data, texts[i].len };
	}
	tap_head_defaults(&head);
	if (tap_spool_create(file, &head, &spool, &err))
		die(&err);
	nr = tap_spool_add_buffer(spool, "", "mono", TAP_PAGE_SIZE, nr_cpus, &err);
	if (nr < 0)
		die(&err);
	buffer = (unsigned int)nr;
	for (unsigned int i = 0; i < 2; i++)
		tap_buf_release(&texts[i]);
}

int main(int argc, char **argv)
{
	unsigned long nr_cpus = argc == 4 || argc == 5 ? strtoul(argv[1], NULL, 10) : 0;
	struct tap_pack_opts pack = { 0 };
	struct tap_err err;
	char path[4096];

	if (!nr_cpus || nr_cpus > TAP_SPOOL_MAX_CPUS) {
		fprintf(stderr, "usage: synth CPUS EVENTS FILE [SEED]\n");
		return 2;
	}
	find_fields();
	create(argv[3], (unsigned int)nr_cpus);
	run((unsigned int)nr_cpus, strtoull(argv[2], NULL, 10),
	    argc == 5 ? (unsigned int)strtoul(argv[4], NULL, 10) : 0);
	snprintf(path, sizeof(path), "%s", tap_spool_path(spool));
	tap_spool_free(spool);
	if (tap_pack(path, argv[3], &pack, &err))
		die(&err);
	return 0;
}
