// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/monitor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "timeline/sched_fields.h"

#define BIT(event) (1u << (event))
#define SET_STATES (BIT(TAP_MONITOR_SET_RUNNABLE) | BIT(TAP_MONITOR_SET_SLEEPABLE))
#define SWITCHES                                                                                   \
	(BIT(TAP_MONITOR_SWITCH_IN) | BIT(TAP_MONITOR_SWITCH_PREEMPT) |                            \
	 BIT(TAP_MONITOR_SWITCH_YIELD) | BIT(TAP_MONITOR_SWITCH_SUSPEND) |                         \
	 BIT(TAP_MONITOR_SWITCH))
/*
 * The bit of prev_state for a preemption: TASK_REPORT_MAX in include/linux/sched.h since v4.14.
 * Older kernels (4096) are not supported.
 */
#define PREEMPTED 256

static const struct {
	const char *system, *name;
	uint32_t events;
} sources[] = {
	{ "sched", "sched_switch", SWITCHES },
	/* sched_waking may come before the switch that suspends the woken task */
	{ "sched", "sched_wakeup", BIT(TAP_MONITOR_WAKEUP) },
	{ "schedtap", "sched_set_state", SET_STATES },
	{ "schedtap", "sched_entry", BIT(TAP_MONITOR_ENTRY) },
	{ "schedtap", "sched_exit", BIT(TAP_MONITOR_EXIT) },
	{ "signal", "signal_deliver", BIT(TAP_MONITOR_SIGNAL) },
};

struct tap_monitor_source {
	const struct tap_format *fmt;
	uint32_t events;
	struct tap_num prev, prev_state, next, tid, state, current;
};

uint32_t tap_monitor_events_of(const struct tap_format *fmt)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (!strcmp(fmt->name, sources[i].name) && !strcmp(fmt->system, sources[i].system))
			return sources[i].events;
	return 0;
}

/* ---- states ---- */

static uint8_t all_states(const struct tap_monitor_model *model)
{
	return (uint8_t)((1u << model->nr_states) - 1);
}

/* Return the states that can follow @states at the event. */
static uint8_t states_after(const struct tap_monitor_model *model, uint8_t states,
			    enum tap_monitor_event event)
{
	uint8_t to = 0;

	for (unsigned int s = 0; s < model->nr_states; s++) {
		uint8_t next = model->next[s][event];

		if (states & 1u << s && next && next != TAP_MONITOR_NEVER)
			to |= (uint8_t)(1u << (next - 1));
	}
	return to;
}

/* Return the states that can follow @states after any number of these events. */
static uint8_t after_any(const struct tap_monitor_model *model, uint8_t states, uint32_t events)
{
	uint8_t before;

	do {
		before = states;
		for (enum tap_monitor_event e = 0; e < TAP_MONITOR_NR_EVENTS; e++)
			if (events & BIT(e))
				states |= states_after(model, before, e);
	} while (states != before);
	return states;
}

static bool has_event(const struct tap_monitor_model *model, enum tap_monitor_event event)
{
	return model->next[0][event];
}

bool tap_monitor_decides(const struct tap_monitor_model *model, uint32_t recorded)
{
	for (unsigned int s = 0; s < model->nr_states; s++) {
		uint8_t states = after_any(model, (uint8_t)(1u << s), ~recorded);

		for (enum tap_monitor_event e = 0; e < TAP_MONITOR_NR_EVENTS; e++)
			if (recorded & BIT(e) && has_event(model, e) &&
			    !states_after(model, states, e))
				return true;
	}
	return false;
}

/* ---- missing events ---- */

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Take in the survey's holes and breaks that begin by @ts_ns. Return: 0 or -ENOMEM. */
static int find_hidden(struct tap_monitor *m, uint64_t ts_ns)
{
	const struct tap_survey *s = m->opts.survey;

	for (; m->next_hole < s->nr_holes && s->holes[m->next_hole].from_ns <= ts_ns;
	     m->next_hole++)
		m->hole_to_ns = later_of(m->hole_to_ns, s->holes[m->next_hole].to_ns);
	for (; m->next_break < s->nr_breaks && s->breaks[m->next_break].from_ns <= ts_ns;
	     m->next_break++) {
		const struct tap_break *b = &s->breaks[m->next_break];
		uint64_t *to_ns = tap_array_at(&m->hidden_on_ns, &m->nr_cpus, (unsigned int)b->cpu,
					       sizeof(*to_ns), NULL);

		if (!to_ns)
			return -ENOMEM;
		*to_ns = later_of(*to_ns, b->to_ns);
	}
	return 0;
}

static bool is_hidden_since(const struct tap_monitor *m, int cpu, uint64_t ns)
{
	return cpu >= 0 && (unsigned int)cpu < m->nr_cpus && m->hidden_on_ns[cpu] >= ns;
}

/* Return true if events of the task or CPU may be missing since its last event. */
static bool is_in_doubt(struct tap_monitor *m, const struct tap_monitored *of, int cpu,
			uint64_t ts_ns)
{
	return !of->is_known || tap_losses_between(&m->losses, of->at_ns, ts_ns) ||
	       (m->hole_to_ns && m->hole_to_ns >= of->at_ns) ||
	       is_hidden_since(m, of->cpu, of->at_ns) || is_hidden_since(m, cpu, of->at_ns);
}

/* ---- events ---- */

void tap_monitor_init(struct tap_monitor *m, const struct tap_monitor_opts *opts)
{
	uint32_t unrecorded = ~opts->recorded;

	*m = (struct tap_monitor){ .opts = *opts, .losses.survey = opts->survey };
	if (opts->survey->has_breaks)
		unrecorded |= BIT(TAP_MONITOR_WAKEUP);
	for (unsigned int s = 0; s < opts->model->nr_states; s++)
		m->unrecorded[s] = after_any(opts->model, (uint8_t)(1u << s), unrecorded);
}

void tap_monitor_release(struct tap_monitor *m)
{
	free(m->of);
	free(m->violations);
	free(m->hidden_on_ns);
	free(m->sources);
}

static uint8_t with_unrecorded(const struct tap_monitor *m, uint8_t states)
{
	uint8_t to = 0;

	for (unsigned int s = 0; s < m->opts.model->nr_states; s++)
		if (states & 1u << s)
			to |= m->unrecorded[s];
	return to;
}

static int add_violation(struct tap_monitor *m, struct tap_monitored *of,
			 enum tap_monitor_event event, uint64_t ts_ns, int cpu, uint8_t states)
{
	of->violations++;
	m->violated++;
	if (m->nr_violations == m->opts.max_violations)
		return 0;
	if (tap_array_grow(&m->violations, m->nr_violations, &m->cap_violations,
			   sizeof(*m->violations)))
		return -ENOMEM;
	m->violations[m->nr_violations++] =
		(struct tap_monitor_violation){ ts_ns, of->task, cpu, event, states };
	return 0;
}

/*
 * Process a model event of @task, or of @cpu if @task is NULL. After a violation any state is
 * possible, so one fault is not reported twice.
 */
static int process_event(struct tap_monitor *m, const struct tap_task *task, int cpu,
			 enum tap_monitor_event event, uint64_t ts_ns)
{
	const struct tap_monitor_model *model = m->opts.model;
	struct tap_monitored *of;
	uint8_t states, to;
	int ret = 0;

	if (!has_event(model, event) || cpu < 0 || cpu >= (int)TAP_MAX_CPUS ||
	    !m->opts.want(m->opts.ctx, task, cpu))
		return 0;
	of = tap_array_at(&m->of, &m->nr, task ? task->index : (unsigned int)cpu, sizeof(*of),
			  NULL);
	if (!of)
		return -ENOMEM;
	states =
		is_in_doubt(m, of, cpu, ts_ns) ? all_states(model) : with_unrecorded(m, of->states);
	to = states_after(model, states, event);
	of->task = task;
	of->cpu = cpu;
	of->at_ns = ts_ns;
	of->is_known = true;
	of->events++;
	m->events++;
	of->decided += !(states & (states - 1));
	m->decided += !(states & (states - 1));
	if (!to)
		ret = add_violation(m, of, event, ts_ns, cpu, states);
	of->states = to ? to : all_states(model);
	return ret;
}

/*
 * Process a model event of a task. Idle tasks are left out, because they share tid 0. Return: 0 or
 * -ENOMEM.
 */
static int process_task_event(struct tap_monitor *m, int tid, int cpu, enum tap_monitor_event event,
			      uint64_t ts_ns)
{
	struct tap_task *task = NULL;

	if (m->opts.model->of_cpus || tid <= 0)
		return 0;
	if (tap_timeline_see(*m->opts.timeline, tid, &task))
		return -ENOMEM;
	return task ? process_event(m, task, cpu, event, ts_ns) : 0;
}

static enum tap_monitor_event how_it_left(int64_t prev_state)
{
	if (prev_state & PREEMPTED)
		return TAP_MONITOR_SWITCH_PREEMPT;
	return prev_state ? TAP_MONITOR_SWITCH_SUSPEND : TAP_MONITOR_SWITCH_YIELD;
}

static int process_switch(struct tap_monitor *m, const struct tap_monitor_source *s,
			  const struct tap_event *ev)
{
	int ret;

	if (m->opts.model->of_cpus)
		return process_event(m, NULL, ev->cpu, TAP_MONITOR_SWITCH, ev->ts_ns);
	ret = process_task_event(m, tap_num_int(&s->prev, ev), ev->cpu,
				 how_it_left(tap_num_get(&s->prev_state, ev)), ev->ts_ns);
	return ret
		       ?: process_task_event(m, tap_num_int(&s->next, ev), ev->cpu,
					     TAP_MONITOR_SWITCH_IN, ev->ts_ns);
}

static int set_state(struct tap_monitor *m, const struct tap_monitor_source *s,
		     const struct tap_event *ev)
{
	enum tap_monitor_event event =
		tap_num_get(&s->state, ev) ? TAP_MONITOR_SET_SLEEPABLE : TAP_MONITOR_SET_RUNNABLE;

	if (m->opts.model->of_cpus)
		return process_event(m, NULL, ev->cpu, event, ev->ts_ns);
	return process_task_event(m, tap_num_int(&s->tid, ev), ev->cpu, event, ev->ts_ns);
}

static void source_init(struct tap_monitor_source *s, const struct tap_format *fmt)
{
	*s = (struct tap_monitor_source){ .fmt = fmt, .events = tap_monitor_events_of(fmt) };
	tap_num_init(&s->prev, tap_number_field(fmt, "prev_pid"));
	tap_num_init(&s->prev_state, tap_number_field(fmt, "prev_state"));
	tap_num_init(&s->next, tap_number_field(fmt, "next_pid"));
	tap_num_init(&s->tid, tap_number_field(fmt, "pid"));
	tap_num_init(&s->state, tap_number_field(fmt, "state"));
	tap_num_init(&s->current, tap_number_field(fmt, "common_pid"));
}

/* Return: NULL when out of memory. */
static const struct tap_monitor_source *source_get(struct tap_monitor *m,
						   const struct tap_format *fmt)
{
	for (unsigned int i = 0; i < m->nr_sources; i++)
		if (m->sources[i].fmt == fmt)
			return &m->sources[i];
	if (tap_array_grow(&m->sources, m->nr_sources, &m->cap_sources, sizeof(*m->sources)))
		return NULL;
	source_init(&m->sources[m->nr_sources], fmt);
	return &m->sources[m->nr_sources++];
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	(void)ctx;
	return fmt && tap_monitor_events_of(fmt);
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_monitor *m = ctx;
	const struct tap_monitor_source *s = source_get(m, ev->fmt);

	(void)t;
	if (!s || find_hidden(m, ev->ts_ns))
		return -ENOMEM;
	switch (s->events) {
	case SWITCHES:
		return process_switch(m, s, ev);
	case SET_STATES:
		return set_state(m, s, ev);
	case BIT(TAP_MONITOR_WAKEUP):
		return process_task_event(m, tap_num_int(&s->tid, ev), ev->cpu, TAP_MONITOR_WAKEUP,
					  ev->ts_ns);
	case BIT(TAP_MONITOR_SIGNAL):
		return process_task_event(m, tap_num_int(&s->current, ev), ev->cpu,
					  TAP_MONITOR_SIGNAL, ev->ts_ns);
	case BIT(TAP_MONITOR_ENTRY): /* models of tasks have no entry and exit */
		return process_event(m, NULL, ev->cpu, TAP_MONITOR_ENTRY, ev->ts_ns);
	default:
		return process_event(m, NULL, ev->cpu, TAP_MONITOR_EXIT, ev->ts_ns);
	}
}

const struct tap_watcher_ops tap_monitor_ops = { .wants = wants_event, .event = on_event };
