/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Schedules as text, for tests of code that reads events. One step a line (or after a ';'):
 *
 *   TIME CPU switch PREV STATE NEXT        STATE as the kernel prints it: S, R+, X, ...
 *   TIME CPU waking TID by TID [to CPU]    also wakeup, new (sched_wakeup_new)
 *   TIME CPU newtask PARENT CHILD [thread] (task_newtask)
 *   TIME CPU fork PARENT CHILD             exit TID; exec TID OLD_TID; migrate TID FROM TO by TID
 *   TIME CPU lost FROM COUNT               the loss ends at TIME; CPU -1: not known
 *   TIME CPU stat TID NS                   sched_stat_iowait
 *   TIME CPU hotplug OTHER_CPU             cpuhp_exit, of a step that CPU takes OTHER_CPU down
 *
 * A task is called after its tid, but for 90N, "migration/N", and 95N, "cpuhp/N"; NEXT=x: its name
 * begins with x now; NEXT!7: its priority is 7, else 120. " @1" at the end: from buffer 1.
 */
#ifndef STEPS_H
#define STEPS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/defs.h"

#define STEPS_MAX 64
#define STEPS_REC 128

struct steps {
	struct tap_event ev[STEPS_MAX];
	unsigned char rec[STEPS_MAX][STEPS_REC];
	unsigned int nr;
};

static struct tap_format *steps_formats[2][256]; /* by what they are: made once, kept */
/* Events are laid out as those of nearly all kernels, but for priorities, which are unsigned. */
static bool steps_odd;

static const char steps_iowait[] =
	"name: sched_stat_iowait\nID: 900\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 delay;\toffset:32;\tsize:8;\tsigned:0;\n\nprint fmt: \"\"\n";

/* Not built in: laid out as sched_waking is. */
static const char steps_wakeup[] =
	"name: sched_wakeup\nID: 901\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";

static const char steps_newtask[] =
	"name: task_newtask\nID: 902\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:40;\tsize:2;\tsigned:1;\n\nprint fmt: \"\"\n";

/* An event as a recording would describe it. */
static inline const struct tap_format *steps_format(const char *name)
{
	struct tap_abi abi = { .long_size = 8 };
	const struct tap_def *def = tap_def_find(NULL, name);
	bool wakeup = !strcmp(name, "sched_wakeup"), newtask = !strcmp(name, "task_newtask");
	unsigned int slot = def ? def->id & 127 : 128u + wakeup + 2 * newtask;
	struct tap_format **made = &steps_formats[steps_odd][slot];
	bool absent[TAP_FORMAT_MAX_FIELDS] = { false };
	struct tap_buf text = { 0 };

	if (*made)
		return *made;
	/* without wakeups, switches would tell when sleeps end (tests/golden/latency/from-queue) */
	if (!strcmp(name, "sched_switch"))
		absent[def->nr_fields - 1] = absent[def->nr_fields - 2] = true;
	if (def)
		tap_def_format(def, absent, NULL, &text);
	else
		tap_buf_puts(&text, wakeup ? steps_wakeup : newtask ? steps_newtask : steps_iowait);
	for (char *at = (char *)tap_buf_str(&text);
	     steps_odd && (at = strstr(at, "prio;")) != NULL;) {
		at = strstr(at, "signed:") + strlen("signed:");
		*at = '0';
	}
	if (tap_format_parse(def       ? def->system
			     : newtask ? "task"
				       : "sched",
			     text.data, text.len, abi, made, NULL))
		abort();
	tap_buf_release(&text);
	return *made;
}

static inline void steps_put(struct tap_event *ev, const char *field, int64_t v)
{
	const struct tap_field *f = tap_format_field(ev->fmt, field);

	if (!f)
		abort();
	memcpy((char *)ev->data + f->offset, &v, f->size);
}

/* "X_pid" and its "X_comm". */
static inline void steps_put_task(struct tap_event *ev, const char *prefix, int tid)
{
	const struct tap_field *f;
	char name[32];

	snprintf(name, sizeof(name), "%spid", prefix);
	steps_put(ev, name, tid);
	snprintf(name, sizeof(name), "%scomm", prefix);
	f = tap_format_field(ev->fmt, name);
	if (f && f->kind == TAP_FIELD_CHARS && (tid / 10 == 90 || tid / 10 == 95))
		snprintf((char *)ev->data + f->offset, f->size, "%s/%d",
			 tid / 10 == 90 ? "migration" : "cpuhp", tid % 10);
	else if (f && f->kind == TAP_FIELD_CHARS)
		snprintf((char *)ev->data + f->offset, f->size, "%s%d", tid ? "t" : "swapper/",
			 tid);
}

static inline int64_t steps_state(const char *letters)
{
	static const char order[] = "SDTtXZPI";
	const char *at = strchr(order, *letters);

	if (*letters == 'R')
		return letters[1] == '+' ? 0x100 : 0;
	return at ? 1 << (at - order) : 0x80000;
}

static inline void steps_line(struct steps *s, const char *line)
{
	struct tap_event *ev = &s->ev[s->nr];
	char kind[16], a[16] = "", b[16] = "", c[16] = "", d[16] = "", e[16] = "";
	const char *buffer = strchr(line, '@');
	unsigned long long ts;
	int cpu;

	if (s->nr == STEPS_MAX || sscanf(line, "%llu %d %15s %15s %15s %15s %15s %15s", &ts, &cpu,
					 kind, a, b, c, d, e) < 4)
		abort();
	s->nr++;
	*ev = (struct tap_event){ .ts_ns = ts,
				  .cpu = cpu,
				  .buffer = buffer ? atoi(buffer + 1) : 0 };
	if (!strcmp(kind, "lost")) {
		ev->lost.first_ns = strtoull(a, NULL, 10);
		ev->lost.last_ns = ts;
		ev->lost.count = strtoull(b, NULL, 10);
		return;
	}
	ev->data = s->rec[s->nr - 1];
	memset(s->rec[s->nr - 1], 0, STEPS_REC);
	if (!strcmp(kind, "switch")) {
		ev->fmt = steps_format("sched_switch");
		steps_put_task(ev, "prev_", atoi(a));
		steps_put(ev, "prev_state", steps_state(b));
		steps_put_task(ev, "next_", atoi(c));
		if (strchr(c, '='))
			*((char *)ev->data + tap_format_field(ev->fmt, "next_comm")->offset) =
				strchr(c, '=')[1];
		steps_put(ev, "prev_prio", 120);
		steps_put(ev, "next_prio", strchr(c, '!') ? atoi(strchr(c, '!') + 1) : 120);
		steps_put(ev, "common_pid", atoi(a));
	} else if (!strcmp(kind, "waking") || !strcmp(kind, "wakeup") || !strcmp(kind, "new")) {
		ev->fmt = steps_format(!strcmp(kind, "new")	 ? "sched_wakeup_new"
				       : !strcmp(kind, "wakeup") ? "sched_wakeup"
								 : "sched_waking");
		steps_put_task(ev, "", atoi(a));
		steps_put(ev, "common_pid", atoi(c));
		steps_put(ev, "target_cpu", *d == 't' ? atoi(e) : cpu);
	} else if (!strcmp(kind, "newtask")) {
		ev->fmt = steps_format("task_newtask");
		steps_put_task(ev, "", atoi(b));
		steps_put(ev, "clone_flags", *c == 't' ? 0x10f00 : 0x11);
		steps_put(ev, "common_pid", atoi(a));
	} else if (!strcmp(kind, "fork")) {
		ev->fmt = steps_format("sched_process_fork");
		steps_put_task(ev, "parent_", atoi(a));
		steps_put_task(ev, "child_", atoi(b));
		steps_put(ev, "common_pid", atoi(a));
	} else if (!strcmp(kind, "exec")) {
		ev->fmt = steps_format("sched_process_exec");
		steps_put(ev, "pid", atoi(a));
		steps_put(ev, "old_pid", atoi(b));
		steps_put(ev, "common_pid", atoi(a));
	} else if (!strcmp(kind, "migrate")) {
		ev->fmt = steps_format("sched_migrate_task");
		steps_put_task(ev, "", atoi(a));
		steps_put(ev, "orig_cpu", atoi(b));
		steps_put(ev, "dest_cpu", atoi(c));
		steps_put(ev, "common_pid", atoi(e));
	} else if (!strcmp(kind, "exit")) {
		ev->fmt = steps_format("sched_process_exit");
		steps_put_task(ev, "", atoi(a));
		steps_put(ev, "common_pid", atoi(a));
	} else if (!strcmp(kind, "hotplug")) {
		ev->fmt = steps_format("cpuhp_exit");
		steps_put(ev, "cpu", atoi(a));
	} else if (!strcmp(kind, "stat")) {
		ev->fmt = steps_format("sched_stat_iowait");
		steps_put_task(ev, "", atoi(a));
		steps_put(ev, "delay", atoi(b));
	} else {
		abort();
	}
	ev->size = ev->fmt->min_size;
	if (ev->size > STEPS_REC)
		abort();
}

static inline void steps_parse(struct steps *s, const char *text)
{
	char line[128];
	size_t len;

	s->nr = 0;
	for (; *text; text += len + (text[len] != '\0')) {
		len = strcspn(text, ";\n");
		if (strspn(text, " \t") >= len)
			continue;
		if (len >= sizeof(line))
			abort();
		memcpy(line, text, len);
		line[len] = '\0';
		steps_line(s, line);
	}
}

static inline void steps_release(void)
{
	for (unsigned int i = 0; i < 256; i++) {
		tap_format_free(steps_formats[steps_odd][i]);
		steps_formats[steps_odd][i] = NULL;
	}
}

#endif
