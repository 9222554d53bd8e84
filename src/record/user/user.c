// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The backend for programs' own tracepoints: merges many rings, which the programs write, into one
 * buffer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/plan.h"
#include "record/user/state.h"
#include "record/user/user.h"

#define MAX_SYSTEMS 8u /* number of systems to list in a message */

static uint8_t ring_shift(uint64_t bytes)
{
	uint8_t shift = TAP_RING_SHIFT_MIN;

	while (bytes && shift < TAP_RING_SHIFT_MAX && 1ull << shift < bytes)
		shift++;
	return bytes ? shift : 0;
}

static void user_free(void *state)
{
	struct tap_user_state *s = state;

	if (!s)
		return;
	tap_user_sessions_remove(&s->sessions);
	for (unsigned int i = 0; i < s->nr_tracees; i++)
		tap_user_tracee_free(s->tracees[i]);
	for (unsigned int i = 0; i < s->nr_recorded; i++) {
		tap_buf_release(&s->recorded[i].text);
		tap_user_filter_free(s->recorded[i].filter);
	}
	for (unsigned int i = 0; s->cpus && i < s->plan->nr_cpus; i++)
		free(s->cpus[i].v);
	tap_user_pool_release(&s->pool);
	free(s->busy);
	tap_user_out_release(&s->out);
	tap_buf_release(&s->lost_text);
	tap_user_free(s->set);
	tap_map_release(&s->choice.families);
	json_decref(s->past);
	free(s->tracees);
	free(s->recorded);
	free(s->kind_ids);
	free(s->formats);
	free(s->cpus);
	free(s);
}

int tap_user_open_set(struct tap_plan *plan, struct tap_user_set *set, void **state,
		      struct tap_err *err)
{
	struct tap_user_state *s = calloc(1, sizeof(*s));
	int ret;

	*state = NULL;
	if (!s) {
		tap_user_free(set);
		return tap_err_nomem(err);
	}
	s->plan = plan;
	s->ops = &tap_backend_user;
	s->set = set;
	s->sessions = TAP_USER_NO_SESSIONS;
	s->choice = (struct tap_user_choice){ .plan = plan,
					      .ring_shift = ring_shift(plan->program_bytes),
					      .pool = &s->pool };
	tap_user_pool_init(&s->pool);
	s->cpus = calloc(plan->nr_cpus, sizeof(*s->cpus));
	s->past = json_array();
	tap_user_set_now(s);
	ret = s->cpus && s->past ? tap_user_discover_kinds(s, err) : tap_err_nomem(err);
	if (ret)
		user_free(s);
	else
		*state = s;
	return ret;
}

static int user_open(struct tap_plan *plan, void **state, struct tap_err *err)
{
	struct tap_user_set *set;

	*state = NULL;
	if (!tap_user_new_own(&set))
		return tap_user_open_set(plan, set, state, err);
	tap_user_free(set);
	return tap_err_nomem(err);
}

/* Return true if this backend must describe events_lost: the BPF backend does it if it records. */
static bool needs_lost(const struct tap_plan *plan)
{
	for (unsigned int i = 0; i < plan->nr_events; i++)
		if (plan->events[i].backend->kind == TAP_BY_BPF &&
		    (plan->events[i].status == TAP_EVENT_PLANNED ||
		     plan->events[i].status == TAP_EVENT_ON))
			return false;
	return true;
}

static int user_describe(void *state, const struct tap_map *cgroups, struct tap_head *head,
			 struct tap_err *err)
{
	struct tap_user_state *s = state;
	struct tap_head_format *f = reallocarray(s->formats, s->nr_recorded + 1, sizeof(*f));
	unsigned int nr = 0;

	(void)cgroups;
	if (!f)
		return tap_err_nomem(err);
	s->formats = f;
	for (; nr < s->nr_recorded; nr++)
		f[nr] = (struct tap_head_format){ .system = s->recorded[nr].kind->system,
						  .text = s->recorded[nr].text.data,
						  .len = s->recorded[nr].text.len };
	if (needs_lost(s->plan)) {
		tap_buf_clear(&s->lost_text);
		tap_def_format(tap_def_find("schedtap", "events_lost"), NULL, NULL, &s->lost_text);
		f[nr++] = (struct tap_head_format){ .system = "schedtap",
						    .text = tap_buf_str(&s->lost_text),
						    .len = s->lost_text.len };
	}
	head->formats = f;
	head->nr_formats = nr;
	s->anew = false;
	return s->lost_text.err ? tap_err_set(err, s->lost_text.err, "out of memory") : 0;
}

/* Write a selection to a session file as events: programs do not know groups. */
static void add_events(const struct tap_select_word *w, struct tap_buf *text)
{
	if (!w || !w->is_group)
		tap_buf_printf(text, "event %s\n", w ? w->text : "*:*");
	for (unsigned int i = 0; w && w->is_group && i < w->nr_globs; i++)
		tap_buf_printf(text, "event %s:%s\n", w->globs[i].system, w->globs[i].name);
}

/*
 * Write the session files. Not with -t: programs cannot know which threads will be selected, so
 * their events are switched on when the recorder finds them.
 */
static int write_sessions(struct tap_user_state *s)
{
	const struct tap_select *select = s->plan->select;
	struct tap_buf text = { 0 };
	int ret = 0;

	if (select->tids.nr)
		return 0;
	if (s->choice.ring_shift)
		tap_buf_printf(&text, "ring_shift %u\n", s->choice.ring_shift);
	tap_buf_printf(&text, "session %s\nmode %d\nclock %d\n", tap_user_session_id(s->set),
		       TAP_RING_DISCARD, tap_user_clock_choose());
	for (unsigned int i = 0; i < select->tgids.nr; i++)
		tap_buf_printf(&text, "tgid %d\n", select->tgids.v[i]);
	for (unsigned int i = 0; i < s->plan->nr_patterns; i++)
		add_events(s->plan->patterns[i].word, &text);
	if (!text.err)
		ret = tap_user_sessions_write(&s->sessions, s->plan->porter,
					      tap_user_folders(s->set), tap_buf_str(&text));
	tap_buf_release(&text);
	return ret == -ENOMEM ? ret : 0;
}

/* Note what the plan reports at the start, to report only later findings at the end. */
static void note_reported(struct tap_user_state *s)
{
	for (unsigned int i = 0; i < s->nr_recorded; i++) {
		const struct tap_user_kind *k = s->recorded[i].kind;
		const struct tap_plan_event *ev = tap_plan_find(s->plan, k->system, k->name);

		s->recorded[i].reported = ev && ev->note;
	}
	while (tap_user_kind_at(s->set, s->nr_first_kinds))
		s->nr_first_kinds++;
}

static int user_add_buffer(void *state, struct tap_page_writer *writer, struct tap_err *err)
{
	struct tap_user_state *s = state;

	return tap_user_out_init(&s->out, writer, s->plan->nr_cpus, err);
}

static int user_start(void *state, struct tap_err *err)
{
	struct tap_user_state *s = state;
	int ret;

	tap_user_set_now(s);
	s->start_ns = s->now.mono_ns;
	ret = tap_user_scan(s->set, err);
	if (ret < 0)
		return ret;
	if (write_sessions(s))
		return tap_err_nomem(err);
	ret = tap_user_discover_first(s, err);
	/* programs that came since the first scan */
	ret = ret ? ret : tap_user_discover_new(s, err);
	note_reported(s);
	return ret;
}

static int user_calls(const void *state)
{
	const struct tap_user_state *s = state;

	return s->sessions.calls;
}

static bool has_kind(const struct tap_user_state *s, const struct tap_plan_pattern *p)
{
	const struct tap_user_kind *k;

	for (unsigned int i = 0; (k = tap_user_kind_at(s->set, i)); i++)
		if (tap_plan_pattern_fits(p, k->system, k->name))
			return true;
	return false;
}

/* Add some of the systems that programs had. */
static void add_systems(const struct tap_user_state *s, struct tap_buf *text)
{
	const struct tap_user_kind *k;
	unsigned int nr = 0;

	for (unsigned int i = 0; (k = tap_user_kind_at(s->set, i)) && nr < MAX_SYSTEMS; i++) {
		const char *before = nr ? ", " : "; seen: ";
		unsigned int same = 0;

		while (same < i && strcmp(tap_user_kind_at(s->set, same)->system, k->system))
			same++;
		if (same < i)
			continue;
		tap_buf_printf(text, "%s%s", before, k->system);
		nr++;
	}
}

/* Add the kinds that came during the recording and could not be recorded. */
static void add_failed(const struct tap_user_state *s, const struct tap_plan_pattern *p,
		       struct tap_buf *text)
{
	const struct tap_user_kind *k;

	for (unsigned int i = s->nr_first_kinds; (k = tap_user_kind_at(s->set, i)); i++) {
		const struct tap_plan_event *ev = tap_plan_find(s->plan, k->system, k->name);

		if (ev && ev->status == TAP_EVENT_FAILED && ev->reason &&
		    tap_plan_pattern_fits(p, k->system, k->name))
			tap_buf_printf(text, "%swithout %s:%s: %s", text->len ? "; " : "",
				       k->system, k->name, ev->reason);
	}
}

/* Add the kinds that came during the recording and for which the filter is invalid. */
static void add_refused(const struct tap_user_state *s, const struct tap_plan_pattern *p,
			struct tap_buf *text)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < s->nr_recorded; i++) {
		const struct tap_user_recorded_kind *r = &s->recorded[i];

		if (!r->refused || r->reported ||
		    !tap_plan_pattern_fits(p, r->kind->system, r->kind->name))
			continue;
		if (nr++ == 0)
			tap_buf_printf(text, "%s-f '%.200s' does not apply to",
				       text->len ? "; " : "", r->refused);
		tap_buf_printf(text, " %s:%s,", r->kind->system, r->kind->name);
	}
	if (nr)
		tap_buf_puts(text, " all of which are recorded");
}

/*
 * At the end, note for each pattern the events that could not be recorded or filtered, or that no
 * program had a matching event.
 */
static void note_patterns(struct tap_user_state *s)
{
	for (unsigned int i = 0; i < s->plan->nr_patterns; i++) {
		struct tap_plan_pattern *p = &s->plan->patterns[i];
		struct tap_buf text = { 0 };

		free(p->note);
		p->note = NULL;
		if (has_kind(s, p)) {
			add_failed(s, p, &text);
			add_refused(s, p, &text);
		} else {
			tap_buf_printf(&text, "no program had the event '%s'",
				       p->word ? p->word->text : "*:*");
			add_systems(s, &text);
		}
		if (text.len)
			p->note = strdup(tap_buf_str(&text)); /* omitted if out of memory */
		tap_buf_release(&text);
	}
}

/*
 * Stop: programs that start from now on do not record. Programs that already record are found, and
 * switched off.
 */
static int user_stop(void *state, struct tap_err *err)
{
	struct tap_user_state *s = state;
	int ret;

	tap_user_set_now(s);
	tap_user_sessions_end(&s->sessions);
	s->choice.stopped = true;
	ret = tap_user_discover_new(s, err);
	for (unsigned int i = 0; i < s->nr_tracees; i++)
		if (s->tracees[i]->locked)
			tap_user_tracee_switch_off(s->tracees[i]);
	note_patterns(s);
	return ret;
}

/* Add the print formats that were replaced, as in the programs. */
static void add_print_formats(const struct tap_user_state *s, json_t *meta)
{
	json_t *o = json_object();

	for (unsigned int i = 0; i < s->nr_recorded; i++) {
		const struct tap_user_kind *k = s->recorded[i].kind;
		char name[2 * TAP_USER_NAME_MAX + 2];

		snprintf(name, sizeof(name), "%s:%s", k->system, k->name);
		if (k->plain)
			json_object_set_new(o, name, json_string(k->fmt->print_fmt));
	}
	if (json_object_size(o))
		json_object_set(meta, "print_formats", o);
	json_decref(o);
}

static void user_add_meta(void *state, json_t *meta)
{
	struct tap_user_state *s = state;

	for (unsigned int i = 0; i < s->nr_tracees; i++)
		json_array_append_new(s->past, tap_user_tracee_json(s->tracees[i]));
	json_object_set(meta, "programs", s->past);
	add_print_formats(s, meta);
}

const struct tap_backend_ops tap_backend_user = {
	.kind = TAP_BY_USER,
	.name = "user",
	.open = user_open,
	.describe = user_describe,
	.add_buffer = user_add_buffer,
	.start = user_start,
	.find = tap_user_discover,
	.drain = tap_user_drain,
	.goes_on = tap_user_lives,
	.wake_fd = user_calls,
	.stop = user_stop,
	.add_meta = user_add_meta,
	.free = user_free,
};
