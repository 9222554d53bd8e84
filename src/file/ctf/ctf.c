// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * CTF traces of kernels: LTTng's, and those of `perf data convert --to-ctf`. A graph of
 * libbabeltrace2 reads them: its CTF source, its muxer, and a sink, which makes records.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file/ctf/kinds.h"
#include "file/foreign.h"

/* ---- events ---- */

/* Set r->text to "name=value name=value" of the payload's numbers and texts. */
static void print_payload(struct tap_ctf *r, const bt_field *payload)
{
	const struct tap_babeltrace *bt = &r->bt;
	const bt_field_class *class = bt->field_borrow_class_const(payload);
	const uint64_t nr = bt->field_class_structure_get_member_count(class);

	for (uint64_t i = 0; i < nr; i++) {
		const bt_field *f =
			bt->field_structure_borrow_member_field_by_index_const(payload, i);
		const char *name = bt->field_class_structure_member_get_name(
			bt->field_class_structure_borrow_member_by_index_const(class, i));
		uint64_t value;

		if (tap_ctf_number(r, f, &value))
			tap_buf_printf(&r->text, "%s%s=%" PRId64, r->text.len ? " " : "", name,
				       (int64_t)value);
		else if (tap_ctf_is_text(r, f))
			tap_buf_printf(&r->text, "%s%s=%s", r->text.len ? " " : "", name,
				       bt->field_string_get_value(f));
	}
}

static uint32_t text_bytes(const struct tap_ctf *r, const struct tap_ctf_kind *k,
			   const bt_field *payload)
{
	uint64_t bytes = 0;

	for (unsigned int i = k->fmt->nr_common; i < k->fmt->nr_fields && i < TAP_CTF_MAX_FIELDS;
	     i++) {
		const bt_field *f =
			k->members[i] ? tap_ctf_member(r, payload, k->members[i]) : NULL;

		if (k->fmt->fields[i].kind == TAP_FIELD_STRING && tap_ctf_is_text(r, f))
			bytes += r->bt.field_string_get_length(f) + 1;
	}
	return bytes < TAP_MADE_MAX_TEXT ? (uint32_t)bytes : TAP_MADE_MAX_TEXT;
}

/*
 * Return the bits of events/sched.h for prev_state of a kernel before v4.14, which has the task's
 * state as the kernel keeps it, and TASK_STATE_MAX for a preempted task.
 */
static uint64_t old_state(unsigned int release, uint64_t raw)
{
	enum { IDLE = 0x402, KEPT = 0x3f, OLD_DEAD = 0x40, OLD_PARKED = 0x200 };
	const uint64_t max = release < 309   ? 0x200
			     : release < 402 ? 0x400
			     : release < 408 ? 0x800
					     : 0x1000;

	if (raw & max)
		return 0x100; /* R+ */
	if (release >= 402 && (raw & IDLE) == IDLE)
		return 0x80; /* I */
	return (raw & KEPT) | (raw & OLD_DEAD ? 0x10 /* X */ : 0) |
	       (raw & OLD_PARKED ? 0x40 /* P */ : 0);
}

static uint64_t convert(const struct tap_ctf *r, enum tap_ctf_how how, uint64_t value)
{
	switch (how) {
	case TAP_CTF_PRIO:
		return value + 100;
	case TAP_CTF_OLD_STATE:
		return old_state(r->release, value);
	default:
		return value;
	}
}

static void set_fields(const struct tap_ctf *r, const struct tap_ctf_kind *k,
		       const bt_field *payload, unsigned char *rec, uint32_t bytes)
{
	uint32_t used = 0;
	uint64_t value;

	for (unsigned int i = k->fmt->nr_common; i < k->fmt->nr_fields && i < TAP_CTF_MAX_FIELDS;
	     i++) {
		const struct tap_field *to = &k->fmt->fields[i];
		const bt_field *f =
			k->members[i] ? tap_ctf_member(r, payload, k->members[i]) : NULL;

		if (to->kind == TAP_FIELD_NUMBER && tap_ctf_number(r, f, &value))
			tap_made_number(rec, to, convert(r, k->how[i], value));
		else if (to->kind != TAP_FIELD_NUMBER && tap_ctf_is_text(r, f))
			tap_made_text(k->fmt, rec, to, r->bt.field_string_get_value(f),
				      (size_t)r->bt.field_string_get_length(f), bytes, &used);
	}
}

/* Read a task and its process from the fields that perf adds, or from LTTng's context. */
static bool read_task(const struct tap_ctf *r, const bt_field *of, const char *tid_name,
		      const char *tgid_name, int *tid)
{
	uint64_t value, tgid;

	if (!tap_ctf_number(r, tap_ctf_member(r, of, tid_name), &value))
		return false;
	*tid = (int)value;
	if (tap_ctf_number(r, tap_ctf_member(r, of, tgid_name), &tgid))
		tap_made_task(r->m, *tid, NULL, 0, (int)tgid);
	return true;
}

/* Read a task's number from either of two members: LTTng calls it a tid, the kernel a pid. */
static bool read_tid(const struct tap_ctf *r, const bt_field *of, const char *lttng,
		     const char *kernel, int *tid)
{
	uint64_t value;

	if (!tap_ctf_number(r, tap_ctf_member(r, of, lttng), &value) &&
	    !tap_ctf_number(r, tap_ctf_member(r, of, kernel), &value))
		return false;
	*tid = (int)(value & INT32_MAX);
	return true;
}

/* Return the task that was running; -1: not known. */
static int current_task(const struct tap_ctf *r, const bt_event *ev, const bt_field *payload,
			unsigned int cpu)
{
	const bt_field *context = r->bt.event_borrow_common_context_field_const(ev);
	const uint64_t *current = tap_map_get(&r->current, cpu);
	int tid;

	if (read_task(r, context, "tid", "pid", &tid) ||
	    read_task(r, payload, "perf_tid", "perf_pid", &tid))
		return tid;
	if (current && *current)
		return (int)(*current - 1);
	return read_tid(r, payload, "prev_tid", "prev_pid", &tid) ? tid : -1;
}

static void note_switch(struct tap_ctf *r, const struct tap_ctf_kind *k, const bt_field *payload,
			unsigned int cpu)
{
	int tid;

	if (strcmp(k->fmt->name, "sched_switch") ||
	    !read_tid(r, payload, "next_tid", "next_pid", &tid))
		return;
	if (tap_map_set(&r->current, cpu, (uint64_t)tid + 1))
		tap_made_fail(r->m, -ENOMEM, "not enough memory");
}

/* Return a text of the trace's environment, "" if it does not have it. */
static const char *environment(const struct tap_ctf *r, const bt_trace *trace, const char *name)
{
	const bt_value *v = r->bt.trace_borrow_environment_entry_value_by_name_const(trace, name);

	return v && r->bt.value_get_type(v) == BT_VALUE_TYPE_STRING ? r->bt.value_string_get(v)
								    : "";
}

/* Return the kernel's release, 414 for "4.14.1", or 0. */
static unsigned int parse_release(const char *s)
{
	unsigned int major, minor;

	return sscanf(s, "%3u.%2u", &major, &minor) == 2 ? major * 100 + minor : 0;
}

/* Return true if the trace names a version of its tracer that is before 2.8. */
static bool is_before_2_8(const struct tap_ctf *r, const bt_trace *trace)
{
	static const char *const names[] = { "tracer_major", "tracer_minor" };
	int64_t version[2];

	for (unsigned int i = 0; i < 2; i++) {
		const bt_value *v =
			r->bt.trace_borrow_environment_entry_value_by_name_const(trace, names[i]);

		if (!v || r->bt.value_get_type(v) != BT_VALUE_TYPE_SIGNED_INTEGER)
			return false;
		version[i] = r->bt.value_integer_signed_get(v);
	}
	return version[0] < 2 || (version[0] == 2 && version[1] < 8);
}

/* The names that LTTng gives, and those of perf. A trace of user space does not name the kernel. */
static void learn_machine(struct tap_ctf *r, const bt_trace *trace)
{
	const char *host = environment(r, trace, "hostname"),
		   *host2 = environment(r, trace, "host");
	const char *release = environment(r, trace, "kernel_release"),
		   *release2 = environment(r, trace, "release");
	const char *tracer = environment(r, trace, "tracer_name");

	if (r->m->r->tool)
		return;
	r->is_lttng = !strcmp(tracer, "lttng-modules");
	r->has_whole_prio = is_before_2_8(r, trace);
	r->release = parse_release(*release ? release : release2);
	if (((*release || *release2) &&
	     asprintf(&r->m->r->uname, "Linux %s %s", *host ? host : host2,
		      *release ? release : release2) < 0) ||
	    asprintf(&r->m->r->tool, "CTF%s%s", *tracer ? " of " : "", tracer) < 0)
		tap_made_fail(r->m, -ENOMEM, "not enough memory");
}

/* Losses that came before the stream's first event belong before that. */
static void learn_stream(struct tap_ctf *r, const bt_event *ev, unsigned int cpu)
{
	const bt_stream *of = r->bt.event_borrow_stream_const(ev);
	const uint64_t stream = (uintptr_t)of;
	uint64_t *early = tap_map_get(&r->early, stream);

	if (tap_map_set(&r->streams, stream, cpu + 1))
		tap_made_fail(r->m, -ENOMEM, "not enough memory");
	if (early)
		tap_made_loss(r->m, cpu, *early);
	if (early)
		*early = 0;
}

/*
 * Find the event's CPU. LTTng's packets have it, and then the stream is of that CPU. A stream of
 * perf may have the events of all CPUs: then each event has its CPU.
 */
static bool find_cpu(struct tap_ctf *r, const bt_event *ev, const bt_field *payload, uint64_t *cpu)
{
	const struct tap_babeltrace *bt = &r->bt;
	const bt_packet *packet = bt->event_borrow_packet_const(ev);
	const bt_field *context = packet ? bt->packet_borrow_context_field_const(packet) : NULL;
	const bool is_of_stream =
		context && tap_ctf_number(r, tap_ctf_member(r, context, "cpu_id"), cpu);

	if (!is_of_stream && !tap_ctf_number(r, tap_ctf_member(r, payload, "perf_cpu"), cpu))
		return false;
	if (*cpu >= TAP_DAT_MAX_CPUS)
		return false;
	if (is_of_stream)
		learn_stream(r, ev, (unsigned int)*cpu);
	return true;
}

static void take_event(struct tap_ctf *r, const bt_message *msg)
{
	const struct tap_babeltrace *bt = &r->bt;
	const bt_event *ev = bt->message_event_borrow_event_const(msg);
	const bt_field *payload = bt->event_borrow_payload_field_const(ev);
	const bt_clock_snapshot *clock = bt->message_event_borrow_default_clock_snapshot_const(msg);
	unsigned char *rec;
	struct tap_ctf_kind *k;
	uint64_t cpu;
	uint32_t bytes;
	int64_t ns;

	if (!payload || !clock || bt->clock_snapshot_get_ns_from_origin(clock, &ns) || ns <= 0 ||
	    !find_cpu(r, ev, payload, &cpu)) {
		r->nr_skipped++;
		return;
	}
	learn_machine(r, bt->stream_borrow_trace_const(bt->event_borrow_stream_const(ev)));
	k = tap_ctf_find_kind(r, bt->event_borrow_class_const(ev), payload);
	if (!k)
		return;
	r->nr_events++;
	tap_buf_clear(&r->text);
	if (tap_made_is_text(k->fmt))
		print_payload(r, payload);
	bytes = tap_made_is_text(k->fmt) ? (uint32_t)r->text.len + 1 : text_bytes(r, k, payload);
	rec = tap_made_add(r->m, k->fmt, (unsigned int)cpu, (uint64_t)ns,
			   current_task(r, ev, payload, (unsigned int)cpu), bytes);
	if (!rec)
		return;
	if (tap_made_is_text(k->fmt))
		tap_made_text(k->fmt, rec, &k->fmt->fields[k->fmt->nr_common],
			      tap_buf_str(&r->text), r->text.len, bytes, &(uint32_t){ 0 });
	else
		set_fields(r, k, payload, rec, bytes);
	note_switch(r, k, payload, (unsigned int)cpu);
}

static void take_loss(struct tap_ctf *r, const bt_stream *stream, uint64_t count)
{
	const uint64_t *cpu = tap_map_get(&r->streams, (uintptr_t)stream);
	uint64_t *early;

	if (cpu) {
		tap_made_loss(r->m, (unsigned int)*cpu - 1, count);
		return;
	}
	early = tap_map_put(&r->early, (uintptr_t)stream);
	if (!early)
		tap_made_fail(r->m, -ENOMEM, "not enough memory");
	else
		*early = count == TAP_MADE_UNKNOWN || *early == TAP_MADE_UNKNOWN ? TAP_MADE_UNKNOWN
										 : *early + count;
}

static void take_message(struct tap_ctf *r, const bt_message *msg)
{
	const struct tap_babeltrace *bt = &r->bt;
	uint64_t count;

	switch (bt->message_get_type(msg)) {
	case BT_MESSAGE_TYPE_EVENT:
		take_event(r, msg);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		if (bt->message_discarded_events_get_count(msg, &count) !=
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			count = TAP_MADE_UNKNOWN;
		take_loss(r, bt->message_discarded_events_borrow_stream_const(msg), count);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		take_loss(r, bt->message_discarded_packets_borrow_stream_const(msg),
			  TAP_MADE_UNKNOWN);
		break;
	default:
		break;
	}
}

/* ---- the graph ---- */

static bt_graph_simple_sink_component_initialize_func_status begin(bt_message_iterator *messages,
								   void *ctx)
{
	(void)messages;
	(void)ctx;
	return BT_GRAPH_SIMPLE_SINK_COMPONENT_INITIALIZE_FUNC_STATUS_OK;
}

static bt_graph_simple_sink_component_consume_func_status consume(bt_message_iterator *messages,
								  void *ctx)
{
	struct tap_ctf *r = ctx;
	bt_message_array_const v;
	uint64_t nr;

	switch (r->bt.message_iterator_next(messages, &v, &nr)) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_AGAIN;
	default:
		return BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR;
	}
	for (uint64_t i = 0; i < nr; i++) {
		if (!r->m->failed)
			take_message(r, v[i]);
		r->bt.message_put_ref(v[i]);
	}
	return r->m->failed ? BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_ERROR
			    : BT_GRAPH_SIMPLE_SINK_COMPONENT_CONSUME_FUNC_STATUS_OK;
}

/* The parts of a graph, all to be released. */
struct parts {
	const bt_plugin *ctf, *utils;
	bt_graph *graph;
	bt_value *params;
	const bt_component_source *source;
	const bt_component_filter *muxer;
	const bt_component_sink *sink;
};

/* Plugins come from the library's own folder alone, not from those that a user can name. */
static const bt_plugin *find_plugin(const struct tap_babeltrace *bt, const char *name)
{
	const bt_plugin *plugin = NULL;

	return bt->plugin_find(name, BT_FALSE, BT_FALSE, BT_TRUE, BT_FALSE, BT_FALSE, &plugin)
		       ? NULL
		       : plugin;
}

static bool add_components(struct tap_ctf *r, struct parts *p, const char *path)
{
	const struct tap_babeltrace *bt = &r->bt;
	const bt_component_class_source *fs;
	const bt_component_class_filter *muxer;
	bt_value *inputs;

	p->ctf = find_plugin(bt, "ctf");
	p->utils = find_plugin(bt, "utils");
	fs = p->ctf ? bt->plugin_borrow_source_component_class_by_name_const(p->ctf, "fs") : NULL;
	muxer = p->utils ? bt->plugin_borrow_filter_component_class_by_name_const(p->utils, "muxer")
			 : NULL;
	p->graph = bt->graph_create(0);
	p->params = bt->value_map_create();
	return fs && muxer && p->graph && p->params &&
	       !bt->value_map_insert_empty_array_entry(p->params, "inputs", &inputs) &&
	       !bt->value_array_append_string_element(inputs, path) &&
	       !bt->graph_add_source_component(p->graph, fs, "source", p->params,
					       BT_LOGGING_LEVEL_NONE, &p->source) &&
	       !bt->graph_add_filter_component(p->graph, muxer, "muxer", NULL,
					       BT_LOGGING_LEVEL_NONE, &p->muxer) &&
	       !bt->graph_add_simple_sink_component(p->graph, "sink", begin, consume, NULL, r,
						    &p->sink);
}

static bool connect_all(const struct tap_babeltrace *bt, const struct parts *p)
{
	const uint64_t nr = bt->component_source_get_output_port_count(p->source);

	for (uint64_t i = 0; i < nr; i++)
		/* the muxer gets another port whenever one is connected */
		if (bt->graph_connect_ports(
			    p->graph,
			    bt->component_source_borrow_output_port_by_index_const(p->source, i),
			    bt->component_filter_borrow_input_port_by_index_const(p->muxer, i),
			    NULL))
			return false;
	return nr && !bt->graph_connect_ports(
			     p->graph,
			     bt->component_filter_borrow_output_port_by_index_const(p->muxer, 0),
			     bt->component_sink_borrow_input_port_by_index_const(p->sink, 0), NULL);
}

static int run_graph(struct tap_ctf *r, const char *path)
{
	const struct tap_babeltrace *bt = &r->bt;
	struct parts p = { 0 };
	bt_graph_run_status status = BT_GRAPH_RUN_STATUS_ERROR;
	bool is_empty;

	if (add_components(r, &p, path) && connect_all(bt, &p))
		do
			status = bt->graph_run(p.graph);
		while (status == BT_GRAPH_RUN_STATUS_AGAIN);
	is_empty = p.source && !bt->component_source_get_output_port_count(p.source);
	if (p.graph)
		bt->graph_put_ref(p.graph);
	if (p.params)
		bt->value_put_ref(p.params);
	if (p.ctf)
		bt->plugin_put_ref(p.ctf);
	if (p.utils)
		bt->plugin_put_ref(p.utils);
	if (status == BT_GRAPH_RUN_STATUS_OK || r->m->failed)
		return r->m->failed;
	if (is_empty)
		return tap_made_fail(r->m, -EINVAL,
				     "'%.300s' is a CTF trace without streams: the folder needs "
				     "the channels' files beside metadata",
				     r->m->r->path);
	return tap_made_fail(r->m, -EINVAL,
			     "'%.300s' is a CTF trace that cannot be read to its end: `babeltrace2 "
			     "%.300s` says why",
			     r->m->r->path, r->m->r->path);
}

/* Losses of streams without an event, whose CPU is not known. */
static int note_early(const struct tap_ctf *r)
{
	bool has_any = false;

	tap_map_for_each(&r->early, s)
		has_any |= s->value;
	if (!has_any)
		return 0;
	r->m->r->info.hides_losses = true;
	return tap_dat_note(r->m->r, r->m->err,
			    "events were lost on CPUs of which the trace has no event");
}

static void release(struct tap_ctf *r)
{
	tap_ctf_kinds_release(r);
	tap_map_release(&r->streams);
	tap_map_release(&r->early);
	tap_map_release(&r->current);
	tap_buf_release(&r->text);
}

int tap_ctf_read(struct tap_made *m, const char *path)
{
	struct tap_ctf r = { .m = m };
	int ret = tap_babeltrace_load(&r.bt, m->err);

	if (ret)
		return m->failed = ret;
	ret = run_graph(&r, path);
	if (!ret && !r.nr_events)
		ret = tap_made_fail(m, -EINVAL, "'%.300s' is a CTF trace without events of CPUs",
				    path);
	if (!ret && r.nr_skipped)
		ret = tap_dat_note(m->r, m->err,
				   "%" PRIu64 " events without a CPU or a time are left out",
				   r.nr_skipped);
	ret = ret ?: note_early(&r) ?: tap_made_end(m, "");
	release(&r);
	return ret;
}

/* Return true if the file at @path in @dir is the metadata of a CTF trace, as text or in packets.
 */
static bool is_metadata(int dir, const char *path)
{
	static const char text[] = "/* CTF";
	unsigned char start[6];
	int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, start, sizeof(start));

	if (fd >= 0)
		close(fd);
	return n == sizeof(start) &&
	       (!memcmp(start, text, sizeof(start)) || !memcmp(start, "\x75\xd1\x1d\x57", 4) ||
		!memcmp(start, "\x57\x1d\xd1\x75", 4));
}

/* LTTng keeps the kernel's events in a folder of their own. */
const char *tap_ctf_is(int dir)
{
	if (is_metadata(dir, "metadata"))
		return "";
	return is_metadata(dir, "kernel/metadata") ? "/kernel" : NULL;
}
