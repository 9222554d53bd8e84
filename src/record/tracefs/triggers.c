// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/tracefs/triggers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "event/expr/filter.h"
#include "event/format.h"

#define UNLIMITED INT32_MAX
#define COUNTED ":count="

static bool is_mine(const struct tap_plan_event *ev)
{
	return ev && ev->backend->kind == TAP_BY_TRACEFS;
}

static int read_event_file(const struct tap_tracefs_triggers *t, const struct tap_plan_event *ev,
			   const char *file, struct tap_buf *text)
{
	return tap_instance_get(t->in, text, "events/%s/%s/%s", ev->system, ev->name, file);
}

/* ---- text of a trigger ---- */

static int read_format(const struct tap_tracefs_triggers *t, const struct tap_plan_event *ev,
		       struct tap_format **fmt)
{
	const struct tap_abi abi = { .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
				     .long_size = sizeof(long) };
	struct tap_buf text = { .max = TAP_FORMAT_MAX_BYTES };
	int ret = read_event_file(t, ev, "format", &text);

	ret = ret ?: tap_format_parse(ev->system, tap_buf_str(&text), text.len, abi, fmt, NULL);
	tap_buf_release(&text);
	return ret;
}

/*
 * Append the trigger's filter in the kernel's syntax; a filter that we cannot parse is passed on
 * unchanged, because the kernel may accept it. Return: 0; -EINVAL with a sentence: the kernel
 * cannot express it; -errno.
 */
static int put_filter(const struct tap_tracefs_triggers *t, const struct tap_trigger *trigger,
		      struct tap_buf *out, struct tap_err *err)
{
	struct tap_filter *filter = NULL;
	struct tap_format *fmt = NULL;
	int ret = read_format(t, tap_plan_event_of(t->plan, trigger), &fmt);

	ret = ret ?: tap_filter_new(fmt, trigger->filter, &filter, NULL);
	if (!ret)
		ret = tap_filter_kernel_text(filter, trigger->filter, out);
	else if (ret == -EINVAL)
		ret = (tap_buf_puts(out, trigger->filter), 0);
	if (ret == -EOPNOTSUPP)
		tap_err_set(err, -EINVAL,
			    "--trigger '%.200s': the kernel cannot express the trigger's filter",
			    trigger->text);
	else if (ret)
		tap_err_set(err, ret, "--trigger '%.200s': %s", trigger->text, strerror(-ret));
	tap_filter_free(filter);
	tap_format_free(fmt);
	return ret == -EOPNOTSUPP ? -EINVAL : ret;
}

static int64_t count_of(const struct tap_trigger *trigger)
{
	return trigger->count < 0 ? UNLIMITED : trigger->count;
}

static int make_text(const struct tap_tracefs_triggers *t, const struct tap_trigger *trigger,
		     int64_t count, struct tap_buf *out, struct tap_err *err)
{
	tap_buf_puts(out, trigger->words);
	if (trigger->action != TAP_TRIGGER_KERNELS)
		tap_buf_printf(out, ":%" PRId64, count);
	if (!trigger->filter)
		return 0;
	tap_buf_puts(out, " if ");
	return put_filter(t, trigger, out, err);
}

/* ---- the kernel's answer ---- */

/* @list: "# Available triggers:\n# traceon traceoff ...". */
static bool is_available(const char *list, const char *words)
{
	size_t len = strcspn(words, ":");

	for (const char *at = list; (at = strstr(at, " ")) != NULL;) {
		at++;
		if (!strncmp(at, words, len) && (!at[len] || strchr(" \n", at[len])))
			return true;
	}
	return false;
}

/*
 * Append the last message of error_log: "[ 1.2] event filter parse error: error: Field not
 * found\n".
 */
static void add_complaint(const struct tap_tracefs_triggers *t, struct tap_buf *out)
{
	struct tap_buf log = { .max = 1 << 20 };
	const char *at, *found = NULL;

	if (!tap_instance_get(t->in, &log, "error_log"))
		for (at = tap_buf_str(&log); (at = strstr(at, "error: ")) != NULL; at++)
			found = at;
	if (found && !strncmp(found, "error: error: ", 14))
		found += 7;
	if (found)
		tap_buf_printf(out, ": %.*s", (int)strcspn(found + 7, "\n"), found + 7);
	tap_buf_release(&log);
}

static int report_refusal(const struct tap_tracefs_triggers *t, const struct tap_trigger *trigger,
			  const char *available, int ret, struct tap_err *err)
{
	struct tap_buf why = { 0 };

	if (*available == '#' && !is_available(available, trigger->words))
		return tap_err_set(
			err, -EOPNOTSUPP, "--trigger '%.200s': this kernel has no '%.*s' trigger",
			trigger->text, (int)strcspn(trigger->words, ":"), trigger->words);
	add_complaint(t, &why);
	if (!why.len)
		tap_buf_printf(&why, ": %s",
			       ret == -EEXIST ? "the event already has a trigger of this kind"
					      : strerror(-ret));
	ret = tap_err_set(err, -EINVAL, "--trigger '%.200s': the kernel refuses the trigger%s",
			  trigger->text, tap_buf_str(&why));
	tap_buf_release(&why);
	return ret;
}

/* ---- setting triggers ---- */

static int put_trigger(const struct tap_tracefs_triggers *t, const struct tap_trigger *trigger,
		       int64_t count, struct tap_err *err)
{
	struct tap_buf text = { 0 }, before = { .max = 1 << 16 };
	const struct tap_plan_event *ev = tap_plan_event_of(t->plan, trigger);
	int ret = make_text(t, trigger, count, &text, err);

	if (ret) {
		tap_buf_release(&text);
		return ret;
	}
	read_event_file(t, ev, "trigger", &before);
	/* cleared, so that a message in it belongs to this trigger */
	tap_instance_put(t->in, "0", "error_log");
	ret = tap_instance_put(t->in, tap_buf_str(&text), "events/%s/%s/trigger", ev->system,
			       ev->name);
	if (ret)
		ret = report_refusal(t, trigger, tap_buf_str(&before), ret, err);
	tap_buf_release(&before);
	tap_buf_release(&text);
	return ret;
}

/*
 * Remove a trigger, such as with "!traceoff": without count and filter, but a histogram needs all
 * its parameters.
 */
static void take_away(const struct tap_tracefs_triggers *t, const struct tap_trigger *trigger)
{
	struct tap_buf text = { 0 };

	tap_buf_printf(&text, "!%s", trigger->words);
	tap_instance_put(t->in, tap_buf_str(&text), "events/%s/%s/trigger", trigger->system,
			 trigger->name);
	tap_buf_release(&text);
}

/*
 * Use a count of 0, so that it does nothing: a disable_event that has fired leaves its event
 * disabled when it is removed (__ftrace_event_enable_disable() of v6.18).
 */
static int try_one(const struct tap_tracefs_triggers *t, const struct tap_trigger *trigger,
		   struct tap_err *err)
{
	struct tap_buf back = { .max = 1 << 16 };
	int ret = put_trigger(t, trigger, 0, err);

	if (ret)
		return ret;
	read_event_file(t, tap_plan_event_of(t->plan, trigger), "trigger", &back);
	if (!strstr(tap_buf_str(&back),
		    trigger->action == TAP_TRIGGER_KERNELS ? "" : trigger->words) ||
	    !strncmp(tap_buf_str(&back), "# Avail", 7))
		ret = tap_err_set(
			err, -EIO,
			"--trigger '%.200s': the kernel accepted the trigger, but does not list it",
			trigger->text);
	tap_buf_release(&back);
	return ret;
}

static int add_switches(struct tap_tracefs_triggers *t)
{
	t->switches = calloc(t->plan->nr_events + 1, sizeof(*t->switches));
	if (!t->switches)
		return -ENOMEM;
	t->nr_switches = 1;
	for (unsigned int i = 0; i < t->plan->nr_events; i++) {
		const struct tap_plan_event *ev = &t->plan->events[i];
		struct tap_format *fmt = NULL;
		bool switched = ev->is_switched;

		for (unsigned int k = 0; k < t->plan->nr_triggers; k++)
			switched |= tap_plan_target_of(t->plan, &t->plan->triggers[k]) == ev;
		if (!is_mine(ev) || ev->status != TAP_EVENT_ON || !switched ||
		    (ev->is_soft && !ev->is_switched) || read_format(t, ev, &fmt))
			continue;
		t->switches[t->nr_switches++] =
			(struct tap_tracefs_switch){ .ev = ev, .type = fmt->id };
		tap_format_free(fmt);
	}
	return 0;
}

int tap_tracefs_triggers_open(struct tap_tracefs_triggers *t, const struct tap_instance *in,
			      struct tap_plan *plan, struct tap_err *err)
{
	int ret = 0;

	if (!plan->nr_triggers)
		return 0;
	*t = (struct tap_tracefs_triggers){ .in = in, .plan = plan };
	for (unsigned int i = 0; i < plan->nr_triggers && !ret; i++)
		if (is_mine(tap_plan_event_of(plan, &plan->triggers[i])))
			ret = try_one(t, &plan->triggers[i], err);
	for (unsigned int i = plan->nr_triggers; i-- && !ret;)
		if (is_mine(tap_plan_event_of(plan, &plan->triggers[i])))
			take_away(t, &plan->triggers[i]);
	if (!ret && add_switches(t))
		ret = tap_err_nomem(err);
	return ret;
}

int tap_tracefs_triggers_start(struct tap_tracefs_triggers *t, struct tap_page_writer *writer,
			       struct tap_err *err)
{
	uint64_t now = tap_now_ns();
	int ret = 0;

	if (!t->plan)
		return 0;
	t->writer = writer;
	t->on = true;
	for (unsigned int i = 0; i < t->nr_switches; i++) {
		struct tap_tracefs_switch *s = &t->switches[i];

		s->looked_ns = now;
		s->off_ns = s->ev && s->ev->is_soft ? now : 0;
	}
	for (unsigned int i = 0; i < t->plan->nr_triggers && !ret; i++)
		if (is_mine(tap_plan_event_of(t->plan, &t->plan->triggers[i])))
			ret = put_trigger(t, &t->plan->triggers[i], count_of(&t->plan->triggers[i]),
					  err);
	return ret;
}

/* ---- what was switched off ---- */

/* Return: how often a trigger has fired. */
static uint64_t count_fired(const struct tap_tracefs_triggers *t, const struct tap_trigger *trigger)
{
	struct tap_buf text = { .max = 1 << 16 };
	int64_t count = count_of(trigger), left = count;
	const char *at;

	if (!read_event_file(t, tap_plan_event_of(t->plan, trigger), "trigger", &text))
		for (at = tap_buf_str(&text); *at; at += strcspn(at, "\n"), at += *at == '\n')
			if (!strncmp(at, trigger->words, strlen(trigger->words)) &&
			    !strncmp(at + strlen(trigger->words), COUNTED, strlen(COUNTED)))
				left = strtoll(at + strlen(trigger->words) + strlen(COUNTED), NULL,
					       10);
	tap_buf_release(&text);
	return left < count ? (uint64_t)(count - left) : 0;
}

/* Return: how often triggers have switched @s off. */
static uint64_t count_off(const struct tap_tracefs_triggers *t, const struct tap_tracefs_switch *s)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < t->plan->nr_triggers; i++) {
		const struct tap_trigger *trigger = &t->plan->triggers[i];

		if (is_mine(tap_plan_event_of(t->plan, trigger)) &&
		    trigger->action == (s->ev ? TAP_TRIGGER_DISABLE : TAP_TRIGGER_TRACEOFF) &&
		    (!s->ev || tap_plan_target_of(t->plan, trigger) == s->ev))
			sum += count_fired(t, trigger);
	}
	return sum;
}

static bool is_on(const struct tap_tracefs_triggers *t, const struct tap_tracefs_switch *s)
{
	struct tap_buf text = { .max = 1 << 12 };
	bool on = true;

	if (!(s->ev ? read_event_file(t, s->ev, "enable", &text)
		    : tap_instance_get(t->in, &text, "tracing_on")))
		on = *tap_buf_str(&text) == '1';
	tap_buf_release(&text);
	return on;
}

/* Add the buffer of events_off when it is first needed: most recordings do not have one. */
static int begin_lane(struct tap_tracefs_triggers *t, struct tap_err *err)
{
	int buffer;

	if (t->lane.pages)
		return 0;
	buffer = tap_page_writer_add_buffer(t->writer, "off", "mono", TAP_PAGE_SIZE, 1, err);
	if (buffer < 0)
		return buffer;
	t->lane = (struct tap_lane){ .buffer = (unsigned int)buffer };
	return tap_lane_init(&t->lane) ? tap_err_nomem(err) : 0;
}

static int report_off(struct tap_tracefs_triggers *t, struct tap_tracefs_switch *s, uint64_t to_ns,
		      struct tap_err *err)
{
	const struct tap_lane_off off = {
		.first_ns = s->off_ns, .last_ns = to_ns, .cpu = -1, .type = s->type
	};
	int ret = begin_lane(t, err);

	s->off_ns = 0;
	if (!ret)
		tap_lane_add_off(&t->lane, t->writer, to_ns, &off);
	return ret;
}

/*
 * Report when a switch was off. If it was switched off and on again between two looks, it may have
 * been off for all of that time.
 */
static int look_at_switch(struct tap_tracefs_triggers *t, struct tap_tracefs_switch *s, bool last,
			  struct tap_err *err)
{
	uint64_t before = tap_now_ns(), nr = count_off(t, s);
	bool on = !last || s->ev ? is_on(t, s) : t->on;

	if (!s->off_ns && (!on || nr != s->fired))
		s->off_ns = s->looked_ns;
	s->looked_ns = before;
	s->fired = nr;
	return s->off_ns && (on || last) ? report_off(t, s, tap_now_ns(), err) : 0;
}

int tap_tracefs_triggers_drain(struct tap_tracefs_triggers *t, bool last, struct tap_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < t->nr_switches && !ret; i++)
		ret = look_at_switch(t, &t->switches[i], last, err);
	if (t->lane.pages)
		/* they are rare, and should survive if the recorder is killed */
		tap_lane_flush(&t->lane, t->writer, true);
	return ret;
}

int tap_tracefs_triggers_switched(struct tap_tracefs_triggers *t)
{
	bool on = t->nr_switches ? is_on(t, &t->switches[0]) : t->on;

	if (!t->nr_switches || on == t->on)
		return -1;
	t->on = on;
	return on;
}

void tap_tracefs_triggers_switch(struct tap_tracefs_triggers *t, bool on)
{
	if (!t->nr_switches || t->on == on)
		return;
	t->on = on;
	tap_instance_put(t->in, on ? "1" : "0", "tracing_on");
}

void tap_tracefs_triggers_release(struct tap_tracefs_triggers *t)
{
	tap_lane_release(&t->lane);
	free(t->switches);
	*t = (struct tap_tracefs_triggers){ 0 };
}
