// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stacks as samples at their event's time. If both stacks were recorded, the user frames are the
 * callers of the kernel frames. Each name and each stack is written once.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "show/export/perfetto.h"
#include "show/perfetto/fields.h"

/*
 * Perfetto requires a mapping for each frame. Recordings only have names, so there is one mapping
 * for each side.
 */
enum { OF_KERNEL = 1, OF_PROGRAM };

static bool is_name(const struct tap_pf_stacks *s, uint64_t number, struct span name)
{
	const struct tap_pf_name *known = &s->names[number - 1];

	return known->len == name.len && !memcmp(s->text.data + known->at, name.s, name.len);
}

/* Find the name's number, from 1 on, or assign one. Return: 0 or -ENOMEM. */
static int find_name(struct tap_pf_stacks *s, struct span name, uint64_t *number)
{
	uint64_t *slot;

	/* on a hash collision with another name, try the next key */
	for (uint64_t key = tap_map_key(name.s, name.len);; key++) {
		slot = tap_map_put(&s->by_name, key);
		if (!slot ||
		    tap_array_grow(&s->names, s->nr_names, &s->cap_names, sizeof(*s->names)))
			return -ENOMEM;
		if (!*slot || is_name(s, *slot, name))
			break;
	}
	if (!*slot) {
		s->names[s->nr_names] = (struct tap_pf_name){ .at = s->text.len, .len = name.len };
		tap_buf_add(&s->text, name.s, name.len);
		*slot = ++s->nr_names;
	}
	*number = *slot;
	return s->text.err;
}

static void put_text(struct tap_buf *out, unsigned int field, uint64_t number, struct span text)
{
	size_t begun = tap_proto_begin(out, field);

	tap_proto_u64(out, TAP_PF_INTERNED_IID, number);
	tap_proto_text(out, TAP_PF_INTERNED_TEXT, text.s, text.len);
	tap_proto_end(out, begun);
}

static void put_mapping(struct tap_buf *out, uint64_t number, const char *name)
{
	size_t begun;

	put_text(out, TAP_PF_INTERNED_MAPPING_PATH, number, (struct span){ name, strlen(name) });
	begun = tap_proto_begin(out, TAP_PF_INTERNED_MAPPING);
	tap_proto_u64(out, TAP_PF_INTERNED_IID, number);
	tap_proto_u64(out, TAP_PF_MAPPING_PATH, number);
	tap_proto_end(out, begun);
}

/* A name has one frame per mapping: the kernel's have odd numbers. */
static uint64_t frame_number(uint64_t name, unsigned int mapping)
{
	return 2 * name + (mapping == OF_KERNEL);
}

static void put_frame(struct tap_buf *out, uint64_t name, unsigned int mapping)
{
	size_t begun = tap_proto_begin(out, TAP_PF_INTERNED_FRAME);

	tap_proto_u64(out, TAP_PF_INTERNED_IID, frame_number(name, mapping));
	tap_proto_u64(out, TAP_PF_FRAME_FUNCTION, name);
	tap_proto_u64(out, TAP_PF_FRAME_MAPPING, mapping);
	tap_proto_u64(out, TAP_PF_FRAME_REL_PC, 0); /* relative PC: unknown */
	tap_proto_end(out, begun);
}

/*
 * Append the frames of stack @number to @stack, outermost first, and write new names and frames to
 * .out. Return: 0 or -ENOMEM.
 */
static int add_frames(struct tap_pf *pf, uint32_t number, unsigned int mapping,
		      struct tap_buf *stack)
{
	struct tap_pf_stacks *s = &pf->stacks;
	struct span names = tap_event_stacks_names(s->events, number);
	uint64_t name = 0;
	int ret = 0;

	while (names.len && !ret) {
		const char *newline = memrchr(names.s, '\n', names.len),
			   *begin = newline ? newline + 1 : names.s;
		const unsigned int known = s->nr_names;
		const struct span text = { begin, (size_t)(names.s + names.len - begin) };

		ret = find_name(s, text, &name);
		if (!ret && s->nr_names > known) {
			put_text(&pf->out, TAP_PF_INTERNED_FUNCTION, name, text);
			put_frame(&pf->out, name, OF_KERNEL);
			put_frame(&pf->out, name, OF_PROGRAM);
		}
		tap_proto_u64(stack, TAP_PF_CALLSTACK_FRAME, frame_number(name, mapping));
		names.len = newline ? (size_t)(newline - names.s) : 0;
	}
	return ret;
}

/* Write a packet with the stack and its new names. Return: 0 or -ENOMEM. */
static int put_callstack(struct tap_pf *pf, struct tap_stack_pair pair, uint64_t number)
{
	struct tap_buf stack = { 0 };
	size_t packet = tap_tracks_packet(&pf->tracks, 0),
	       interned = tap_proto_begin(&pf->out, TAP_PF_PACKET_INTERNED);
	int ret;

	if (number == 1) {
		put_mapping(&pf->out, OF_KERNEL, "[kernel]");
		put_mapping(&pf->out, OF_PROGRAM, "[program]");
	}
	tap_proto_u64(&stack, TAP_PF_INTERNED_IID, number);
	ret = add_frames(pf, pair.user, OF_PROGRAM, &stack)
		      ?: add_frames(pf, pair.kernel, OF_KERNEL, &stack);
	tap_proto_bytes(&pf->out, TAP_PF_INTERNED_CALLSTACK, stack.data, stack.len);
	tap_proto_end(&pf->out, interned);
	tap_proto_end(&pf->out, packet);
	ret = ret ?: stack.err;
	tap_buf_release(&stack);
	return ret;
}

/* Write the sample, if it has stacks. Return: 0 or -ENOMEM. */
static int put_sample(struct tap_pf *pf, int cpu, struct tap_pf_sample *sample)
{
	const struct tap_task *task =
		sample->tid > 0 ? tap_identity(&pf->e->run.rec.ids, sample->tid) : NULL;
	const struct tap_stack_pair pair = sample->pair;
	const int tgid = task ? tap_task_tgid(task) : 0;
	uint64_t *number;
	size_t packet, perf;

	sample->pair = (struct tap_stack_pair){ 0 };
	if (tap_stack_pair_is_none(pair))
		return 0;
	number = tap_map_put(&pf->stacks.by_pair, (uint64_t)pair.kernel << 32 | pair.user);
	if (!number)
		return -ENOMEM;
	if (!*number) {
		*number = pf->stacks.by_pair.nr;
		if (put_callstack(pf, pair, *number))
			return -ENOMEM;
	}
	packet = tap_tracks_packet(&pf->tracks, TAP_PF_NEEDS_INCREMENTAL);
	tap_tracks_stamp(&pf->tracks, sample->ts_ns);
	perf = tap_proto_begin(&pf->out, TAP_PF_PACKET_SAMPLE);
	tap_proto_s64(&pf->out, TAP_PF_SAMPLE_CPU, cpu);
	/* if the tgid is unknown use the tid: for pid 0 Perfetto would show the idle process */
	tap_proto_s64(&pf->out, TAP_PF_SAMPLE_PID, tgid > 0 ? tgid : sample->tid);
	tap_proto_s64(&pf->out, TAP_PF_SAMPLE_TID, sample->tid);
	tap_proto_u64(&pf->out, TAP_PF_SAMPLE_CALLSTACK, *number);
	tap_proto_u64(&pf->out, TAP_PF_SAMPLE_MODE,
		      pair.kernel ? TAP_PF_MODE_KERNEL : TAP_PF_MODE_USER);
	tap_proto_end(&pf->out, perf);
	tap_proto_end(&pf->out, packet);
	return 0;
}

/*
 * Add a stack to the CPU's sample. The kernel stack comes first; the sample then waits for the user
 * stack.
 */
int tap_pf_put_stack(struct tap_pf *pf, const struct tap_pf_kind *kind, const struct tap_event *ev)
{
	struct tap_pf_stacks *s = &pf->stacks;
	const bool is_kernel = tap_frames_kind(ev->fmt) == TAP_FRAMES_KERNEL;
	const int tid = tap_num_int(&kind->ftrace.current, ev);
	struct tap_pf_sample *sample;
	bool is_same;
	int ret;

	if (ev->cpu < 0 || ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	sample = tap_array_at(&s->samples, &s->nr_samples, (unsigned int)ev->cpu, sizeof(*sample),
			      NULL);
	if (!sample)
		return -ENOMEM;
	is_same = !is_kernel && sample->tid == tid && ev->ts_ns - sample->ts_ns <= s->within_ns;
	ret = is_same ? 0 : put_sample(pf, ev->cpu, sample);
	if (ret || tid < 0 || !tap_pf_picks_tid(pf, tid))
		return ret;
	if (!is_same)
		*sample = (struct tap_pf_sample){ .ts_ns = ev->ts_ns, .tid = tid };
	return tap_event_stacks_read(s->events, ev,
				     is_kernel ? &sample->pair.kernel : &sample->pair.user)
		       ?: is_kernel ? 0
				    : put_sample(pf, ev->cpu, sample);
}

int tap_pf_end_stacks(struct tap_pf *pf)
{
	int ret = 0;

	for (unsigned int cpu = 0; !ret && cpu < pf->stacks.nr_samples; cpu++)
		ret = put_sample(pf, (int)cpu, &pf->stacks.samples[cpu]);
	return ret;
}

int tap_pf_init_stacks(struct tap_pf *pf)
{
	const struct tap_run *run = &pf->e->run;

	pf->stacks.within_ns = tap_event_stacks_within_ns(&run->survey);
	return tap_event_stacks_new(tap_reader_info(run->rec.reader), &run->survey,
				    &pf->stacks.events);
}

void tap_pf_release_stacks(struct tap_pf *pf)
{
	tap_event_stacks_free(pf->stacks.events);
	tap_map_release(&pf->stacks.by_name);
	tap_map_release(&pf->stacks.by_pair);
	tap_buf_release(&pf->stacks.text);
	free(pf->stacks.names);
	free(pf->stacks.samples);
}
