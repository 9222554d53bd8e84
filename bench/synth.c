// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * synth CPUS EVENTS FILE: a recording of wakeups and switches such as no small machine could make.
 * On every CPU eight tasks take turns: a wakeup out of idle, the switch to the task, the switch back.
 * The CPUs' events alternate, so that a reader must look at another CPU for almost every one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "event/defs.h"
#include "recording/pack.h"
#include "recording/page.h"
#include "recording/spool.h"

#define START_NS 1000000000ull
#define TURN_NS 12000u /* a CPU's wakeup, switch and switch */
#define TASKS 8u
#define BATCH_PAGES 64u

struct cpu {
	struct tap_page page;
	unsigned char *pages; /* BATCH_PAGES */
	unsigned int nr_full;
};

struct field {
	uint32_t offset, size;
};

static struct tap_spool *spool;
static int buffer;

static _Noreturn void die(const struct tap_err *err)
{
	fprintf(stderr, "synth: %s\n", err->text);
	exit(1);
}

static void flush(struct cpu *c, unsigned int cpu)
{
	struct tap_err err;

	if (c->nr_full && tap_spool_write(spool, (unsigned int)buffer, cpu, c->pages,
					  (size_t)c->nr_full * TAP_PAGE_SIZE, &err))
		die(&err);
	c->nr_full = 0;
}

static void add(struct cpu *c, unsigned int cpu, uint64_t ts_ns, const void *rec, uint32_t size)
{
	unsigned char *at = c->page.bytes ? tap_page_add(&c->page, ts_ns, size) : NULL;

	if (!at) {
		if (c->page.bytes) {
			tap_page_end(&c->page, 0);
			c->nr_full++;
		}
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

static void run(unsigned int nr_cpus, uint64_t nr_events)
{
	const struct tap_def *sw = tap_def_find("sched", "sched_switch");
	const struct tap_def *wk = tap_def_find("sched", "sched_waking");
	struct field prev = find(sw, "prev_pid"), next = find(sw, "next_pid");
	struct field prev_comm = find(sw, "prev_comm"), next_comm = find(sw, "next_comm");
	struct field state = find(sw, "prev_state"), pid = find(wk, "pid"), comm = find(wk, "comm");
	struct field target = find(wk, "target_cpu"), id = { 0, 2 }, current = { 4, 4 };
	struct cpu *cpus = calloc(nr_cpus, sizeof(*cpus));
	unsigned char rec[256];

	for (unsigned int i = 0; i < nr_cpus; i++)
		cpus[i].pages = malloc((size_t)BATCH_PAGES * TAP_PAGE_SIZE);
	for (uint64_t turn = 0; turn * 3 < nr_events; turn++) {
		unsigned int cpu = (unsigned int)(turn % nr_cpus);
		unsigned int tid = 1000 + cpu * TASKS + (unsigned int)(turn / nr_cpus % TASKS);
		uint64_t at = START_NS + turn / nr_cpus * TURN_NS + cpu * (TURN_NS / 4) / nr_cpus;

		memset(rec, 0, sizeof(rec));
		set(rec, id, tap_def_id(wk));
		set(rec, pid, tid);
		set(rec, target, cpu);
		set_comm(rec, comm, tid);
		add(&cpus[cpu], cpu, at, rec, wk->size);
		for (unsigned int in = 1; in <= 2; in++) {
			memset(rec, 0, sizeof(rec));
			set(rec, id, tap_def_id(sw));
			set(rec, current, in == 1 ? 0 : tid);
			set(rec, prev, in == 1 ? 0 : tid);
			set(rec, next, in == 1 ? tid : 0);
			set(rec, state, in == 2);
			set_comm(rec, prev_comm, in == 1 ? 0 : tid);
			set_comm(rec, next_comm, in == 1 ? tid : 0);
			add(&cpus[cpu], cpu, at + in * TURN_NS / 4, rec, sw->size);
		}
	}
	for (unsigned int i = 0; i < nr_cpus; i++) {
		if (cpus[i].page.bytes) {
			tap_page_end(&cpus[i].page, 0);
			cpus[i].nr_full++;
		}
		flush(&cpus[i], i);
	}
}

int main(int argc, char **argv)
{
	struct tap_head_format formats[2];
	struct tap_head head = { .formats = formats, .nr_formats = 2, .uname = "Linux synth",
				 .tool = "synth", .cmdlines = "", .meta = "", .clock = "mono",
				 .printk = "" };
	static const char *const names[] = { "sched_switch", "sched_waking" };
	struct tap_pack_opts pack = { 0 };
	struct tap_err err;
	char path[4096];

	if (argc != 4)
		return 2;
	head.nr_cpus = (unsigned int)atoi(argv[1]);
	for (unsigned int i = 0; i < 2; i++) {
		struct tap_buf text = { 0 };

		tap_def_format(tap_def_find("sched", names[i]), NULL, NULL, &text);
		formats[i] = (struct tap_head_format){ "sched", text.data, text.len };
	}
	tap_head_defaults(&head);
	if (tap_spool_create(argv[3], &head, &spool, &err))
		die(&err);
	buffer = tap_spool_add_buffer(spool, "", "mono", TAP_PAGE_SIZE, head.nr_cpus, &err);
	if (buffer < 0)
		die(&err);
	run(head.nr_cpus, strtoull(argv[2], NULL, 10));
	snprintf(path, sizeof(path), "%s", tap_spool_path(spool));
	tap_spool_free(spool);
	if (tap_pack(path, argv[3], &pack, &err))
		die(&err);
	return 0;
}
