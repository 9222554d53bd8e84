// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/top/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/expr/filter.h"

#define CGROUP_BYTES 256

/* A task's numbers as the record of an event. */
struct record {
	uint64_t cpu_pct, run, wait, waits, p99, max_wait, migrations;
	uint32_t tid, tgid;
	int32_t prio, util, cpu;
	char comm[16];
	char cgroup[CGROUP_BYTES];
};

#define FIELD(type, member, sign)                                                                  \
	"\tfield:" type " " #member ";\toffset:%zu;\tsize:%zu;\tsigned:" sign ";\n"
#define PLACE(member) offsetof(struct record, member), sizeof(((struct record *)NULL)->member)

const char tap_top_filter_fields[] = "comm, cgroup, tid, tgid, cpu, prio, util, cpu_pct, run, "
				     "waits, wait, p99, max_wait, migrations";

struct tap_top_filter {
	struct tap_format *fmt;
	struct tap_filter *filter;
};

static int parse_format(struct tap_format **fmt, struct tap_err *err)
{
	static const struct tap_abi abi = { .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
					    .long_size = sizeof(long) };
	char text[2048];
	int len = snprintf(
		text, sizeof(text),
		"name: task\nID: 1\nformat:\n" FIELD("u64", cpu_pct, "0") FIELD(
			"u64", run, "0") FIELD("u64", wait, "0") FIELD("u64", waits,
								       "0") FIELD("u64", p99, "0")
			FIELD("u64", max_wait, "0") FIELD("u64", migrations, "0") FIELD(
				"u32", tid, "0") FIELD("u32", tgid, "0") FIELD("s32", prio, "1")
				FIELD("s32", util, "1") FIELD(
					"s32", cpu,
					"1") "\tfield:char "
					     "comm[16];\toffset:%zu;\tsize:16;\tsigned:0;\n"
					     "\tfield:char "
					     "cgroup[256];\toffset:%zu;\tsize:256;\tsigned:0;\n"
					     "\nprint fmt: \"\"\n",
		PLACE(cpu_pct), PLACE(run), PLACE(wait), PLACE(waits), PLACE(p99), PLACE(max_wait),
		PLACE(migrations), PLACE(tid), PLACE(tgid), PLACE(prio), PLACE(util), PLACE(cpu),
		offsetof(struct record, comm), offsetof(struct record, cgroup));

	return tap_format_parse("top", text, (size_t)len, abi, fmt, err);
}

int tap_top_filter_new(struct tap_top_filter **out, const char *text, struct tap_err *err)
{
	struct tap_top_filter *f = calloc(1, sizeof(*f));
	int ret;

	*out = NULL;
	if (!f)
		return tap_err_nomem(err);
	ret = parse_format(&f->fmt, err) ?: tap_filter_new(f->fmt, text, &f->filter, err);
	if (ret)
		tap_top_filter_free(f);
	else
		*out = f;
	return ret;
}

void tap_top_filter_free(struct tap_top_filter *f)
{
	if (!f)
		return;
	tap_filter_free(f->filter);
	tap_format_free(f->fmt);
	free(f);
}

static uint64_t per_second(uint64_t v, double ns)
{
	return v == TAP_NOW_UNKNOWN ? 0 : (uint64_t)((double)v * 1e9 / ns);
}

/* An unknown time is 0: it is not above any limit. */
static uint64_t known(uint64_t v)
{
	return v == TAP_NOW_UNKNOWN ? 0 : v;
}

bool tap_top_filter_task(const struct tap_top_filter *f, const struct tap_now_task *t, double ns)
{
	struct record rec = {
		.cpu_pct = (uint64_t)(100 * (double)t->t->run_ns / ns),
		.run = per_second(t->t->run_ns, ns),
		.wait = per_second(t->wait_ns, ns),
		.waits = per_second(t->t->waits, ns),
		.p99 = known(t->p99_ns),
		.max_wait = known(t->max_ns),
		.migrations = per_second(t->migrations, ns),
		.tid = t->t->tid,
		.tgid = t->t->tgid,
		.prio = t->prio,
		.util = (int32_t)t->util,
		.cpu = (int32_t)t->cpu,
	};
	struct tap_filter_about about = { .cpu = rec.cpu,
					  .comm = t->t->comm,
					  .comm_len = (uint32_t)strnlen(t->t->comm, 16) };

	memcpy(rec.comm, t->t->comm, sizeof(rec.comm));
	strncpy(rec.cgroup, t->cgroup ?: "", sizeof(rec.cgroup) - 1);
	return tap_filter_match(f->filter, &rec, sizeof(rec), &about) == 1;
}
