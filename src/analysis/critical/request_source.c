// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/request_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct tap_request_event {
	const struct tap_format *fmt;
	bool begins, finishes;
	struct tap_num pid;
	const struct tap_field *by; /* NULL: the current task */
};

static struct tap_request_word word_of(const char *s, size_t len)
{
	const char *colon = memchr(s, ':', len);
	size_t system = colon ? (size_t)(colon - s) : 0, before = colon ? system + 1 : 0;

	return (struct tap_request_word){ .system = { s, system },
					  .name = { s + before, len - before } };
}

int tap_request_source_init(struct tap_request_source *s, const char *words, const char *by,
			    struct tap_err *err)
{
	const char *comma = strchr(words, ',');

	*s = (struct tap_request_source){ .by = by };
	if (comma) {
		s->begin = word_of(words, (size_t)(comma - words));
		s->finish = word_of(comma + 1, strlen(comma + 1));
	}
	if (!s->begin.name.len || !s->finish.name.len || strchr(comma + 1, ','))
		return tap_err_set(err, -EINVAL,
				   "'%.100s' does not name two events: expected START,DONE", words);
	return 0;
}

void tap_request_source_release(struct tap_request_source *s)
{
	free(s->events);
}

static bool is_text(struct span s, const char *text)
{
	return strlen(text) == s.len && !memcmp(text, s.s, s.len);
}

static bool fits_word(const struct tap_request_word *w, const struct tap_format *fmt)
{
	return is_text(w->name, fmt->name) && (!w->system.len || is_text(w->system, fmt->system));
}

bool tap_request_source_wants(const struct tap_request_source *s, const struct tap_format *fmt)
{
	return fits_word(&s->begin, fmt) || fits_word(&s->finish, fmt);
}

static int check_word(const struct tap_request_source *s, const struct tap_request_word *w,
		      const struct tap_format *const *formats, unsigned int nr, struct tap_err *err)
{
	bool found = false;

	for (unsigned int i = 0; i < nr; i++) {
		if (!fits_word(w, formats[i]))
			continue;
		found = true;
		if (s->by && !tap_format_field(formats[i], s->by))
			return tap_err_set(err, -ENODATA, "--by: event %s:%s has no field '%.100s'",
					   formats[i]->system, formats[i]->name, s->by);
	}
	return found ? 0
		     : tap_err_set(err, -ENODATA, "the recording has no event '%.*s'",
				   (int)w->name.len, w->name.s);
}

int tap_request_source_check(const struct tap_request_source *s,
			     const struct tap_format *const *formats, unsigned int nr,
			     struct tap_err *err)
{
	return check_word(s, &s->begin, formats, nr, err)
		       ?: check_word(s, &s->finish, formats, nr, err);
}

/* Return: NULL when out of memory. */
static const struct tap_request_event *event_of(struct tap_request_source *s,
						const struct tap_format *fmt)
{
	struct tap_request_event *e;

	for (unsigned int i = 0; i < s->nr_events; i++)
		if (s->events[i].fmt == fmt)
			return &s->events[i];
	if (tap_array_grow(&s->events, s->nr_events, &s->cap_events, sizeof(*e)))
		return NULL;
	e = &s->events[s->nr_events++];
	*e = (struct tap_request_event){
		.fmt = fmt,
		.begins = fits_word(&s->begin, fmt),
		.finishes = fits_word(&s->finish, fmt),
		.by = s->by ? tap_format_field(fmt, s->by) : NULL,
	};
	tap_num_init(&e->pid, tap_number_field(fmt, "common_pid"));
	return e;
}

static uint64_t key_of(const struct tap_request_event *e, const struct tap_event *ev, int pid)
{
	uint32_t len;
	const char *bytes;

	if (!e->by)
		return (uint64_t)pid;
	if (e->by->kind == TAP_FIELD_NUMBER)
		return tap_field_u64(e->by, ev->data, ev->size);
	bytes = tap_field_bytes(e->by, ev->data, ev->size, &len);
	return tap_map_key(bytes, len);
}

int tap_request_source_event(struct tap_request_source *s, struct tap_requests *r,
			     const struct tap_timeline *timeline, const struct tap_event *ev)
{
	const struct tap_request_event *e = event_of(s, ev->fmt);
	const struct tap_task *task;
	uint64_t key;
	int pid, ret = 0;

	if (!e)
		return -ENOMEM;
	pid = tap_num_int(&e->pid, ev);
	task = tap_timeline_task(timeline, pid);
	key = key_of(e, ev, pid);
	if (e->finishes && task) /* no task finishes a request in an interrupt on an idle CPU */
		ret = tap_requests_finish(r, key, ev->ts_ns, task->index);
	if (!ret && e->begins)
		ret = tap_requests_begin(r, key, ev->ts_ns);
	return ret;
}

static bool wants_event(void *ctx, const struct tap_format *fmt)
{
	const struct tap_request_watch *w = ctx;

	return fmt && tap_request_source_wants(w->source, fmt);
}

static int on_event(void *ctx, const struct tap_timeline *t, const struct tap_event *ev)
{
	struct tap_request_watch *w = ctx;

	return tap_request_source_event(w->source, w->requests, t, ev);
}

const struct tap_watcher_ops tap_request_watch_ops = { .wants = wants_event, .event = on_event };
