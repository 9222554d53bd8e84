// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "timeline/run/frames.h"

/* An upper bound of the time that ftrace takes to walk a stack. */
#define OF_FTRACE_WITHIN_NS 100000u

/* The last event on a CPU, if a stack may follow it. */
struct before {
	enum { OF_NONE, OF_SWITCH, OF_WAKEUP } what;
	uint64_t ts_ns;
	int tid; /* the current task at the event, which the stack belongs to */
	unsigned int buffer, task; /* .task: the task whose stacks to set, by .index */
	bool has_kernel;
};

struct tap_event_stacks {
	struct tap_frames frames;
	const struct tap_survey *survey; /* borrowed */
	struct tap_sched_formats formats;
	struct before *before; /* by CPU */
	unsigned int nr_cpus;
	struct tap_task_stacks *tasks; /* by .index */
	unsigned int nr_tasks;
	/* format and stack number of schedtap's records -> number in .texts, plus one */
	struct tap_map by_record;
	struct tap_map by_key; /* hash of a text -> its number */
	struct tap_buf text; /* all texts: names, innermost first, separated by newlines */
	struct text {
		size_t at;
		uint32_t len;
	} * texts; /* .texts[0] is number 1 */
	unsigned int nr_texts, cap_texts;
};

static bool is_of_ftrace(const struct tap_format *fmt)
{
	return !strcmp(fmt->system, "ftrace");
}

bool tap_event_stacks_are_in(const struct tap_survey *s)
{
	for (unsigned int i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].count && tap_frames_kind(s->kinds[i].fmt))
			return true;
	return false;
}

uint64_t tap_event_stacks_within_ns(const struct tap_survey *s)
{
	for (unsigned int i = 0; i < s->nr_kinds; i++)
		if (is_of_ftrace(s->kinds[i].fmt) && tap_frames_kind(s->kinds[i].fmt))
			return OF_FTRACE_WITHIN_NS;
	return 0;
}

int tap_event_stacks_new(const struct tap_reader_info *info, const struct tap_survey *survey,
			 struct tap_event_stacks **out)
{
	struct tap_event_stacks *s = calloc(1, sizeof(*s));

	*out = NULL;
	if (!s || tap_sched_formats_init(&s->formats)) {
		free(s);
		return -ENOMEM;
	}
	s->frames.info = info;
	s->survey = survey;
	*out = s;
	return 0;
}

void tap_event_stacks_free(struct tap_event_stacks *s)
{
	if (!s)
		return;
	tap_frames_release(&s->frames);
	tap_sched_formats_release(&s->formats);
	free(s->before);
	free(s->tasks);
	tap_map_release(&s->by_record);
	tap_map_release(&s->by_key);
	tap_buf_release(&s->text);
	free(s->texts);
	free(s);
}

struct span tap_event_stacks_names(const struct tap_event_stacks *s, uint32_t number)
{
	const struct text *t = number ? &s->texts[number - 1] : NULL;

	return t ? (struct span){ s->text.data + t->at, t->len } : (struct span){ "", 0 };
}

/* ---- texts ---- */

/* Append the names in .frames to .text. Return: 0 or -ENOMEM. */
static int add_text(struct tap_event_stacks *s, struct text *t)
{
	*t = (struct text){ .at = s->text.len };
	for (unsigned int i = 0; i < s->frames.nr; i++) {
		if (i)
			tap_buf_char(&s->text, '\n');
		tap_buf_add(&s->text, s->frames.names[i].s, s->frames.names[i].len);
	}
	t->len = (uint32_t)(s->text.len - t->at);
	return s->text.err ? -ENOMEM : 0;
}

static bool is_text(const struct tap_event_stacks *s, uint32_t number, const struct text *t)
{
	struct span known = tap_event_stacks_names(s, number);

	return known.len == t->len && !memcmp(known.s, s->text.data + t->at, t->len);
}

/*
 * Return the number of the text in .frames, in *@number, adding it if it is new. Return: 0 or
 * -ENOMEM.
 */
static int find_text(struct tap_event_stacks *s, uint32_t *number)
{
	struct text t;
	uint64_t *slot;
	int ret = add_text(s, &t);

	for (uint64_t key = ret ? 0 : tap_map_key(s->text.data + t.at, t.len); !ret; key++) {
		slot = tap_map_put(&s->by_key, key);
		if (!slot ||
		    tap_array_grow(&s->texts, s->nr_texts, &s->cap_texts, sizeof(*s->texts)))
			return -ENOMEM;
		if (!*slot) {
			s->texts[s->nr_texts++] = t;
			*number = (uint32_t)(*slot = s->nr_texts);
			return 0;
		}
		*number = (uint32_t)*slot;
		/* on a hash collision try the next key */
		if (is_text(s, *number, &t))
			break;
	}
	s->text.len = t.at;
	return ret;
}

int tap_event_stacks_read(struct tap_event_stacks *s, const struct tap_event *ev, uint32_t *number)
{
	const struct tap_field *f = tap_number_field(ev->fmt, "stack");
	uint64_t *known = NULL;
	int ret;

	*number = 0;
	if (f && f->size <= 4) {
		known = tap_map_put(&s->by_record,
				    (uint64_t)ev->fmt->id << 32 |
					    (uint32_t)tap_field_u64(f, ev->data, ev->size));
		if (!known)
			return -ENOMEM;
	}
	if (known && *known) { /* stored plus one, as number 0 is valid */
		*number = (uint32_t)*known - 1;
		return 0;
	}
	ret = tap_frames_read(&s->frames, ev);
	if (!ret && s->frames.nr)
		ret = find_text(s, number);
	if (!ret && known)
		*known = *number + 1ull;
	return ret;
}

/* ---- events ---- */

/* Return true if the recording's timeline takes wakeups from events of this kind. */
static bool is_wakeup(const struct tap_event_stacks *s, enum tap_sched_kind kind)
{
	return kind == TAP_SCHED_WAKING || kind == TAP_SCHED_WAKEUP_NEW ||
	       (kind == TAP_SCHED_WAKEUP && s->survey->buffer[TAP_SCHED_WAKING] == TAP_NO_BUFFER);
}

/* Remember an event that a stack may follow. Return: 0 or -ENOMEM. */
static int take_event(struct tap_event_stacks *s, const struct tap_timeline *timeline,
		      const struct tap_sched_fields *f, const struct tap_event *ev,
		      struct before *before)
{
	bool is_switch = f->kind == TAP_SCHED_SWITCH;
	const struct tap_task *task = NULL;
	struct tap_task_stacks *of;

	if (is_switch || is_wakeup(s, f->kind))
		task = tap_timeline_task(timeline, tap_num_int(is_switch ? &f->from : &f->tid, ev));
	if (!task)
		return 0;
	of = tap_array_at(&s->tasks, &s->nr_tasks, task->index, sizeof(*of), NULL);
	if (!of)
		return -ENOMEM;
	*before = (struct before){
		.what = is_switch ? OF_SWITCH : OF_WAKEUP,
		.ts_ns = ev->ts_ns,
		.tid = tap_num_int(&f->current, ev),
		.buffer = ev->buffer,
		.task = task->index,
	};
	if (is_switch) {
		of->left = (struct tap_stack_pair){ 0 };
		of->left_ns = ev->ts_ns;
		of->left_cpu = ev->cpu;
	} else {
		of->woken = (struct tap_stack_pair){ 0 };
	}
	return 0;
}

static bool fits_event(const struct before *before, const struct tap_sched_fields *f,
		       const struct tap_event *ev)
{
	return before->what && before->tid == tap_num_int(&f->current, ev) &&
	       (before->ts_ns == ev->ts_ns || is_of_ftrace(ev->fmt)) &&
	       !(before->has_kernel && tap_frames_kind(ev->fmt) == TAP_FRAMES_KERNEL);
}

static int take_stack(struct tap_event_stacks *s, const struct tap_sched_fields *f,
		      const struct tap_event *ev, struct before *before)
{
	bool is_kernel = tap_frames_kind(ev->fmt) == TAP_FRAMES_KERNEL;
	struct tap_stack_pair *stack;
	int ret = 0;

	if (fits_event(before, f, ev)) {
		stack = before->what == OF_SWITCH ? &s->tasks[before->task].left
						  : &s->tasks[before->task].woken;
		ret = tap_event_stacks_read(s, ev, is_kernel ? &stack->kernel : &stack->user);
		before->has_kernel = true;
	} else {
		is_kernel = false;
	}
	if (!is_kernel) /* the event's last stack */
		before->what = OF_NONE;
	return ret;
}

static void take_loss(struct tap_event_stacks *s, int cpu)
{
	for (unsigned int i = 0; i < s->nr_cpus; i++)
		if (cpu < 0 || (unsigned int)cpu == i)
			s->before[i].what = OF_NONE;
}

static bool wants_all(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	(void)fmt;
	return true;
}

static int on_event(void *ctx, const struct tap_timeline *timeline, const struct tap_event *ev)
{
	struct tap_event_stacks *s = ctx;
	struct before *before;
	const struct tap_sched_fields *f;

	if (!ev->fmt) {
		take_loss(s, ev->cpu);
		return 0;
	}
	if (ev->cpu < 0 || ev->cpu >= (int)TAP_MAX_CPUS)
		return 0;
	before =
		tap_array_at(&s->before, &s->nr_cpus, (unsigned int)ev->cpu, sizeof(*before), NULL);
	f = tap_sched_formats_add(&s->formats, ev->fmt);
	if (!before || !f)
		return -ENOMEM;
	if (before->what && before->buffer != ev->buffer)
		return 0;
	if (tap_frames_kind(ev->fmt))
		return take_stack(s, f, ev, before);
	before->what = OF_NONE;
	if (f->kind == TAP_SCHED_NONE || s->survey->buffer[f->kind] != ev->buffer)
		return 0;
	return take_event(s, timeline, f, ev, before);
}

const struct tap_watcher_ops tap_event_stacks_ops = { .early = true,
						      .wants = wants_all,
						      .event = on_event };

const struct tap_task_stacks *tap_event_stacks_left(const struct tap_event_stacks *s,
						    const struct tap_task *task, uint64_t ns)
{
	const struct tap_task_stacks *of =
		task->index < s->nr_tasks ? &s->tasks[task->index] : NULL;

	return of && of->left_ns && of->left_ns == ns ? of : NULL;
}

struct tap_stack_pair tap_event_stacks_woken(const struct tap_event_stacks *s,
					     const struct tap_task *task)
{
	return task->index < s->nr_tasks ? s->tasks[task->index].woken
					 : (struct tap_stack_pair){ 0 };
}
