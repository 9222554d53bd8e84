/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A spool folder that grows by the steps of a schedule (steps.h). */
#ifndef GROWING_SPOOL_H
#define GROWING_SPOOL_H

#include <fcntl.h>
#include <sys/stat.h>

#include "file/page.h"
#include "file/spool.h"
#include "steps.h"
#include "tmp_dir.h"

#define GROWING_CPUS 8
#define GROWING_FILE "x.dat.spool/0.schedtap.mono.4096.cpu%d"

struct growing {
	struct tmp_dir dir;
	char path[320]; /* of the folder */
	struct tap_held *held; /* has the pages; NULL: they are in files */
	struct growing_cpu {
		int fd;
		off_t at;
		struct tap_held_lane *lane;
		struct tap_page page; /* its .bytes are NULL: none is begun */
		unsigned char bytes[TAP_PAGE_SIZE];
	} cpus[GROWING_CPUS];
};

static const char *const growing_events[] = {
	"sched_switch",	      "sched_waking",	    "sched_wakeup",	     "sched_wakeup_new",
	"sched_migrate_task", "sched_process_fork", "sched_process_exit",    "sched_process_exec",
	"task_newtask",	      "sched_throttle",	    "sched_throttle_wakeup", "sched_unthrottle",
	"events_lost",	      "cpuhp_exit",
};
#define GROWING_NR_EVENTS (sizeof(growing_events) / sizeof(*growing_events))

static inline void growing_set_head(struct growing *g, unsigned int nr_events, struct tap_spool **s)
{
	struct tap_head_format formats[GROWING_NR_EVENTS];
	struct tap_buf bytes = { 0 };
	struct tap_head head = {
		.formats = formats,
		.nr_formats = nr_events,
		.uname = "Linux",
		.tool = "test",
		.cmdlines = "",
		.meta = "{\"tasks\":[[7,70,\"listed\",5,\"began\"]]}",
		.clock = "mono",
		.printk = "",
		.kallsyms = "",
		.nr_cpus = GROWING_CPUS,
	};

	for (unsigned int i = 0; i < nr_events; i++) {
		const struct tap_format *fmt = steps_format(growing_events[i]);

		formats[i] = (struct tap_head_format){ fmt->system, fmt->text, strlen(fmt->text) };
	}
	tap_head_defaults(&head);
	if (!*s) {
		assert_int_equal(tap_spool_create(tmp_at(&g->dir, "x.dat"), &head, s, NULL), 0);
		return;
	}
	assert_int_equal(tap_head_write(&head, &bytes), 0);
	assert_int_equal(tap_spool_set_head(*s, bytes.data, bytes.len, NULL), 0);
	tap_buf_release(&bytes);
}

static inline void growing_make(struct growing *g)
{
	struct tap_spool *s = NULL;

	*g = (struct growing){ 0 };
	tmp_make(&g->dir);
	for (unsigned int cpu = 0; cpu < GROWING_CPUS; cpu++)
		g->cpus[cpu].fd = -1;
	growing_set_head(g, GROWING_NR_EVENTS, &s);
	tap_spool_free(s);
	snprintf(g->path, sizeof(g->path), "%s", tmp_at(&g->dir, "x.dat.spool"));
}

/* The pages to come are held in memory. */
static inline void growing_hold(struct growing *g, uint64_t bytes)
{
	assert_int_equal(tap_held_new(bytes, &g->held), 0);
	for (unsigned int cpu = 0; cpu < GROWING_CPUS; cpu++)
		g->cpus[cpu].lane = tap_held_add(g->held, 0, cpu, TAP_PAGE_SIZE);
}

static inline void growing_remove(struct growing *g)
{
	tap_held_free(g->held);
	for (unsigned int cpu = 0; cpu < GROWING_CPUS; cpu++)
		if (g->cpus[cpu].fd >= 0)
			close(g->cpus[cpu].fd);
	tmp_remove(&g->dir);
}

static inline void growing_end_page(struct growing *g, int cpu)
{
	struct growing_cpu *c = &g->cpus[cpu];
	char name[64];

	if (!c->page.bytes)
		return;
	tap_page_end(&c->page, 0);
	c->page.bytes = NULL;
	if (g->held) {
		size_t room;

		memcpy(tap_held_room(g->held, c->lane, &room), c->bytes, sizeof(c->bytes));
		tap_held_put(g->held, c->lane, sizeof(c->bytes));
		return;
	}
	snprintf(name, sizeof(name), GROWING_FILE, cpu);
	if (c->fd < 0)
		c->fd = open(tmp_at(&g->dir, name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(c->fd >= 0);
	assert_int_equal(pwrite(c->fd, c->bytes, sizeof(c->bytes), c->at), sizeof(c->bytes));
	c->at += TAP_PAGE_SIZE;
}

static inline void growing_flush(struct growing *g)
{
	for (int cpu = 0; cpu < GROWING_CPUS; cpu++)
		growing_end_page(g, cpu);
}

static inline void growing_add(struct growing *g, const struct tap_event *ev)
{
	unsigned char rec[STEPS_REC] = { 0 }, *to = NULL;
	int cpu = ev->cpu < 0 ? 0 : ev->cpu;
	struct growing_cpu *c = &g->cpus[cpu];
	struct tap_event lost = *ev;

	if (ev->fmt) {
		memcpy(rec, ev->data, ev->size);
	} else {
		lost.fmt = steps_format("events_lost");
		lost.data = rec;
		lost.size = lost.fmt->min_size;
		steps_put(&lost, "lost_cpu", ev->cpu);
		steps_put(&lost, "count", (int64_t)ev->lost.count);
		steps_put(&lost, "first_ns", (int64_t)ev->lost.first_ns);
		steps_put(&lost, "last_ns", (int64_t)ev->lost.last_ns);
	}
	memcpy(rec, &lost.fmt->id, sizeof(lost.fmt->id));
	if (c->page.bytes)
		to = tap_page_add(&c->page, ev->ts_ns, lost.size);
	if (!to) {
		growing_end_page(g, cpu);
		memset(c->bytes, 0, sizeof(c->bytes));
		tap_page_begin(&c->page, c->bytes, ev->ts_ns);
		to = tap_page_add(&c->page, ev->ts_ns, lost.size);
	}
	memcpy(to, rec, lost.size);
}

static inline void growing_steps(struct growing *g, const char *text)
{
	struct steps steps;

	steps_parse(&steps, text);
	for (unsigned int i = 0; i < steps.nr; i++)
		growing_add(g, &steps.ev[i]);
}

#endif
