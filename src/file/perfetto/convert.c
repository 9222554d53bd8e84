// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perfetto/trace.h"

/* task_rename and sched_process_exec, and the numbers of their fields */
enum {
	RENAMED = 236,
	RENAMED_PID = 1,
	RENAMED_TO = 3,
	EXECUTED = 237,
	EXECUTED_FILE = 1,
	EXECUTED_PID = 2
};

/* What all FtraceEvents have. */
struct event {
	unsigned int cpu;
	uint64_t ts_ns;
	int tid; /* that was running */
	unsigned int flags, number;
	struct tap_proto_in message;
};

/* An event is damaged: it is lost. */
static void lose(struct tap_pft *t, unsigned int cpu)
{
	t->nr_damaged++;
	tap_made_loss(t->made, cpu, 1);
}

static bool is_whole(struct tap_proto_in in)
{
	struct tap_proto_field f;

	while (tap_proto_next(&in, &f))
		;
	return !in.bad;
}

static void add_switch(struct tap_pft *t, const struct event *e)
{
	char prev[TAP_PFT_COMM] = { 0 }, next[TAP_PFT_COMM] = { 0 };
	struct tap_pft_switch s = {
		.ts_ns = e->ts_ns, .prev_comm = prev, .next_comm = next, .flags = e->flags
	};
	struct tap_proto_in in = e->message;
	struct tap_proto_field f;

	while (tap_proto_next(&in, &f)) {
		if (f.type == TAP_PROTO_BYTES ? f.number != 1 && f.number != 5
					      : f.number == 1 || f.number == 5)
			continue;
		switch (f.number) {
		case 1:
			tap_pft_copy_comm(prev, &f.bytes);
			break;
		case 2:
			s.prev = tap_pft_tid(f.value);
			break;
		case 3:
			s.prev_prio = (int)f.value;
			break;
		case 4:
			s.prev_state = (int64_t)f.value;
			break;
		case 5:
			tap_pft_copy_comm(next, &f.bytes);
			break;
		case 6:
			s.next = tap_pft_tid(f.value);
			break;
		case 7:
			s.next_prio = (int)f.value;
			break;
		}
	}
	if (in.bad)
		lose(t, e->cpu);
	else
		tap_pft_add_switch(t, e->cpu, s, false);
}

static void add_waking(struct tap_pft *t, const struct event *e)
{
	char comm[TAP_PFT_COMM] = { 0 };
	struct tap_pft_waking w = {
		.ts_ns = e->ts_ns, .by = e->tid, .comm = comm, .flags = e->flags
	};
	struct tap_proto_in in = e->message;
	struct tap_proto_field f;

	while (tap_proto_next(&in, &f)) {
		if ((f.type == TAP_PROTO_BYTES) != (f.number == 1))
			continue;
		switch (f.number) {
		case 1:
			tap_pft_copy_comm(comm, &f.bytes);
			break;
		case 2:
			w.tid = tap_pft_tid(f.value);
			break;
		case 3:
			w.prio = (int)f.value;
			break;
		case 5:
			w.target_cpu = (int)f.value;
			break;
		}
	}
	if (in.bad)
		lose(t, e->cpu);
	else
		tap_pft_add_waking(t, e->cpu, &w);
}

/* Set a field of the record. */
static void set_field(const struct tap_pft_kind *kind, unsigned char *rec,
		      const struct tap_field *to, const struct tap_proto_field *f,
		      uint32_t text_bytes, uint32_t *used)
{
	if (!to)
		return;
	if (f->type != TAP_PROTO_BYTES && to->kind == TAP_FIELD_NUMBER)
		tap_made_number(rec, to, f->value);
	else if (f->type == TAP_PROTO_BYTES && to->kind != TAP_FIELD_NUMBER)
		tap_made_text(kind->fmt, rec, to, (const char *)f->bytes.at,
			      tap_proto_len(&f->bytes), text_bytes, used);
}

static unsigned char *add_record(struct tap_pft *t, const struct event *e,
				 const struct tap_pft_kind *kind, uint64_t text_bytes)
{
	unsigned char *rec;

	rec = tap_made_add(t->made, kind->fmt, e->cpu, e->ts_ns, e->tid,
			   text_bytes < TAP_MADE_MAX_TEXT ? (uint32_t)text_bytes
							  : TAP_MADE_MAX_TEXT);
	if (rec)
		rec[2] = (unsigned char)e->flags;
	t->nr_added += rec != NULL;
	return rec;
}

static const struct tap_field *field_of(const struct tap_pft_kind *kind, unsigned int number)
{
	return number < TAP_PFT_MAX_FIELDS ? kind->fields[number] : NULL;
}

static uint64_t sum_texts(const struct tap_pft_kind *kind, struct tap_proto_in in)
{
	struct tap_proto_field f;
	uint64_t sum = 0;

	while (kind->has_text && tap_proto_next(&in, &f)) {
		const struct tap_field *to = field_of(kind, f.number);

		if (f.type == TAP_PROTO_BYTES && to && to->kind == TAP_FIELD_STRING)
			sum += tap_proto_len(&f.bytes) + 1;
	}
	return sum;
}

static void add_numbered(struct tap_pft *t, const struct event *e, const struct tap_pft_kind *kind)
{
	const uint64_t text_bytes = sum_texts(kind, e->message);
	unsigned char *rec = add_record(t, e, kind, text_bytes);
	struct tap_proto_in in = e->message;
	struct tap_proto_field f;
	uint32_t used = 0;

	while (rec && tap_proto_next(&in, &f))
		set_field(kind, rec, field_of(kind, f.number), &f,
			  text_bytes < TAP_MADE_MAX_TEXT ? (uint32_t)text_bytes : TAP_MADE_MAX_TEXT,
			  &used);
}

/* A field of a GenericFtraceEvent: its name and its value. */
static bool read_named(struct tap_proto_in in, struct tap_proto_in *name,
		       struct tap_proto_field *value)
{
	struct tap_proto_field f;

	*name = (struct tap_proto_in){ 0 };
	value->number = 0;
	while (tap_proto_next(&in, &f)) {
		if (f.number == NR_GENERIC_FIELD_NAME && f.type == TAP_PROTO_BYTES)
			*name = f.bytes;
		else if (f.number >= NR_GENERIC_FIELD_TEXT)
			*value = f;
	}
	return name->at && value->number;
}

static bool is_named(const struct tap_field *f, const struct tap_proto_in *name)
{
	return f && !strncmp(f->name, (const char *)name->at, tap_proto_len(name)) &&
	       !f->name[tap_proto_len(name)];
}

/* Events of a kind mostly have the same fields in the same order: @nr is where to look first. */
static const struct tap_field *find_named(const struct tap_pft_kind *kind, unsigned int nr,
					  const struct tap_proto_in *name)
{
	if (is_named(field_of(kind, nr), name))
		return kind->fields[nr];
	for (unsigned int i = 0; i < TAP_PFT_MAX_FIELDS; i++)
		if (is_named(kind->fields[i], name))
			return kind->fields[i];
	return NULL;
}

static void add_generic(struct tap_pft *t, const struct event *e, const struct tap_pft_kind *kind)
{
	struct tap_proto_in in = e->message, name;
	struct tap_proto_field f, value;
	uint64_t text_bytes = 0;
	uint32_t limit, used = 0;
	unsigned char *rec;

	while (tap_proto_next(&in, &f))
		if (f.number == NR_GENERIC_FIELD && f.type == TAP_PROTO_BYTES &&
		    read_named(f.bytes, &name, &value) && value.type == TAP_PROTO_BYTES)
			text_bytes += tap_proto_len(&value.bytes) + 1;
	limit = text_bytes < TAP_MADE_MAX_TEXT ? (uint32_t)text_bytes : TAP_MADE_MAX_TEXT;
	rec = add_record(t, e, kind, kind->has_text ? limit : 0);
	in = e->message;
	for (unsigned int nr = 0; rec && tap_proto_next(&in, &f);)
		if (f.number == NR_GENERIC_FIELD && f.type == TAP_PROTO_BYTES &&
		    read_named(f.bytes, &name, &value))
			set_field(kind, rec, find_named(kind, nr++, &name), &value, limit, &used);
}

/*
 * The columns of switches do not have the name of the task that is left, so follow its changes. A
 * program's task gets the last part of its file's name (begin_new_exec() in fs/exec.c).
 */
static void note_name(struct tap_pft *t, const struct event *e)
{
	const bool is_exec = e->number == EXECUTED;
	struct tap_pft_cpu *c = tap_pft_cpu(t, e->cpu);
	struct tap_proto_in in = e->message, name = { 0 };
	struct tap_proto_field f;
	int tid = TAP_PFT_NO_TASK;

	while (tap_proto_next(&in, &f)) {
		if (f.number == (is_exec ? EXECUTED_PID : RENAMED_PID) &&
		    f.type == TAP_PROTO_VARINT)
			tid = tap_pft_tid(f.value);
		if (f.number == (is_exec ? EXECUTED_FILE : RENAMED_TO) && f.type == TAP_PROTO_BYTES)
			name = f.bytes;
	}
	for (const unsigned char *p = name.at; is_exec && p < name.end; p++)
		if (*p == '/')
			name.at = p + 1;
	if (c && c->tid == tid && name.at)
		tap_pft_copy_comm(c->comm, &name);
}

static void add_other(struct tap_pft *t, const struct event *e)
{
	struct tap_pft_kind *kind = e->number == NR_EVENT_GENERIC
					    ? tap_pft_generic_kind(t, e->message)
					    : tap_pft_kind(t, e->number);

	if (!kind)
		return;
	if (!is_whole(e->message)) {
		lose(t, e->cpu);
		return;
	}
	if (!kind->fmt) {
		kind->nr_unknown++;
		return;
	}
	if (e->number == NR_EVENT_GENERIC)
		add_generic(t, e, kind);
	else
		add_numbered(t, e, kind);
	if (e->number == RENAMED || e->number == EXECUTED)
		note_name(t, e);
}

void tap_pft_add_event(struct tap_pft *t, unsigned int cpu, const struct tap_pft_event *ev)
{
	struct event e = { .cpu = cpu, .ts_ns = ev->ts_ns };
	struct tap_proto_in in = ev->message;
	struct tap_proto_field f;

	while (tap_proto_next(&in, &f)) {
		if (f.type == TAP_PROTO_BYTES) {
			e.number = f.number;
			e.message = f.bytes;
		} else if (f.number == NR_EVENT_PID) {
			e.tid = tap_pft_tid(f.value);
		} else if (f.number == NR_EVENT_FLAGS) {
			e.flags = (unsigned int)f.value;
		}
	}
	if (in.bad)
		lose(t, cpu);
	else if (e.number == NR_EVENT_SWITCH)
		add_switch(t, &e);
	else if (e.number == NR_EVENT_WAKING)
		add_waking(t, &e);
	else if (e.message.at)
		add_other(t, &e);
}
