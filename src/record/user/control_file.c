// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/control_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/user/kinds.h"
#include "record/user/pid_ns.h"

#define OBJECT_MAX_BYTES (16ull << 20)
#define OBJECTS_MAX_BYTES (64ull << 20) /* per program */

struct tap_user_object {
	uint32_t area; /* number of its area */
	uint64_t offset; /* offset of its words in the file */
	unsigned int nr; /* number of words */
	unsigned int first, events; /* its range in tap_user_control.events */
};

static bool area_ok(const struct tap_area *a)
{
	return a->offset >= TAP_CONTROL_HEAD && a->offset % TAP_CONTROL_PAGE == 0 &&
	       a->offset < TAP_CONTROL_MAX_BYTES && a->size <= TAP_CONTROL_MAX_BYTES - a->offset;
}

/*
 * Add a ring; only one of each kind per CPU, which limits the memory that a file can make the
 * recorder use.
 */
static int add_ring(struct tap_user_control *c, const struct tap_user_control_source *from,
		    const struct tap_area *a)
{
	if (a->nr >= from->nr_cpus)
		return -EINVAL;
	for (unsigned int i = 0; i < c->nr_rings; i++)
		if (c->rings[i].cpu == a->nr && c->rings[i].atomic == !!a->atomic)
			return -EINVAL;
	if (tap_array_grow(&c->rings, c->nr_rings, &c->cap_rings, sizeof(*c->rings)))
		return -ENOMEM;
	c->rings[c->nr_rings++] = (struct tap_user_ring){
		.offset = a->offset,
		.size = a->size,
		.cpu = a->nr,
		.atomic = a->atomic,
	};
	return 0;
}

/* Return the next of three texts at @at; NULL if it has no NUL before @end. */
static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

	*at = nul ? nul + 1 : end;
	return nul ? text : NULL;
}

/* Count an event that cannot be recorded, and keep the reason of the first one. */
static void note_bad(struct tap_user_control *c, const char *system, const char *name, int code)
{
	c->bad++;
	if (c->bad_events++)
		return;
	snprintf(c->why_bad, sizeof(c->why_bad), "cannot record '%.60s:%.60s': %s", system, name,
		 code == -E2BIG ? "its format text is too long"
				: "a name is empty, too long, or has '/', ':', a blank or a "
				  "control character");
}

static int add_event(struct tap_user_control *c, const struct tap_user_control_source *from,
		     const struct tap_user_event *ev, const char *at, const char *end)
{
	const char *system = take_text(&at, end), *name = take_text(&at, end);
	const char *text = take_text(&at, end);
	const struct tap_user_kind *kind;
	int ret = -EINVAL;

	if (text)
		ret = tap_user_kind_get(from->kinds, system, name, text, strlen(text), &kind);
	if (ret == -ENOMEM)
		return ret;
	if (ret) {
		note_bad(c, system ?: "", name ?: "", ret);
		return 0;
	}
	if (tap_array_grow(&c->events, c->nr_events, &c->cap_events, sizeof(*c->events)))
		return -ENOMEM;
	c->events[c->nr_events] = *ev;
	c->events[c->nr_events++].kind = kind;
	return 0;
}

/* Add an object's events. @data: the whole area of the object. */
static int add_texts(struct tap_user_control *c, const struct tap_user_control_source *from,
		     const struct tap_area *a, const char *data)
{
	uint64_t at = a->texts;
	uint32_t bytes, place;

	for (uint32_t i = 0; i < a->nr; i++, at += 8 + (((uint64_t)bytes + 7) & ~7ull)) {
		struct tap_user_event ev = { .id = (uint16_t)(a->first_id + i),
					     .takes_filter = a->filters };
		int ret;

		if (at > a->size || a->size - at < 8)
			return -EINVAL;
		memcpy(&bytes, data + at, sizeof(bytes));
		memcpy(&place, data + at + sizeof(bytes), sizeof(place));
		ev.mask = (uint8_t)(1u << (place >> TAP_WORD_BIT_SHIFT & 7));
		place &= (1u << TAP_WORD_BIT_SHIFT) - 1;
		ev.word = a->offset + place * sizeof(struct tap_word);
		if (bytes > a->size - at - 8 || place >= a->nr)
			return -EINVAL;
		ret = add_event(c, from, &ev, data + at + 8, data + at + 8 + bytes);
		if (ret)
			return ret;
	}
	return 0;
}

static int add_object(struct tap_user_control *c, const struct tap_user_control_source *from,
		      uint32_t area, const struct tap_area *a)
{
	struct tap_user_object o = {
		.area = area,
		.offset = a->offset,
		.nr = a->nr,
		.first = c->nr_events,
	};
	char *data;
	int ret;

	if (a->size > OBJECT_MAX_BYTES || a->size > OBJECTS_MAX_BYTES - c->object_bytes ||
	    a->first_id < TAP_ID_FIRST || a->first_id > UINT16_MAX ||
	    a->nr > UINT16_MAX + 1u - a->first_id || a->nr > a->size / sizeof(struct tap_word) ||
	    a->texts % 8 || a->texts / sizeof(struct tap_word) < a->nr)
		return -EINVAL;
	c->object_bytes += a->size;
	if (tap_array_grow(&c->objects, c->nr_objects, &c->cap_objects, sizeof(*c->objects)))
		return -ENOMEM;
	data = malloc(a->size + 1);
	ret = data ? tap_pread_all(from->fd, data, a->size, (off_t)a->offset) : -ENOMEM;
	ret = ret ?: add_texts(c, from, a, data);
	free(data);
	o.events = c->nr_events - o.first;
	if (o.events)
		c->objects[c->nr_objects++] = o;
	return ret;
}

/* Read new areas; a faulty one does not hide the others. */
static int read_areas(struct tap_user_control *c, const struct tap_user_control_source *from,
		      const struct tap_area *areas, struct tap_err *err)
{
	c->unread_areas = 0;
	for (uint32_t i = 0; i < c->nr_areas; i++) {
		const struct tap_area *a = &areas[i];
		int ret = -EINVAL;

		c->unread_areas += a->kind == TAP_AREA_NONE;
		if (c->areas[i] || a->kind == TAP_AREA_NONE)
			continue;
		c->areas[i] = 1;
		if (area_ok(a) && a->kind == TAP_AREA_RING)
			ret = add_ring(c, from, a);
		else if (area_ok(a) && a->kind == TAP_AREA_OBJECT)
			ret = add_object(c, from, i, a);
		if (ret == -ENOMEM)
			return tap_err_set(err, ret, "out of memory");
		c->bad += !!ret;
		c->bad_rings += ret && a->kind == TAP_AREA_RING;
	}
	return 0;
}

/* Read the words of each object, and whether it was unloaded. */
static int read_words(struct tap_user_control *c, int fd, const struct tap_area *areas)
{
	for (unsigned int i = 0; i < c->nr_objects; i++) {
		const struct tap_user_object *o = &c->objects[i];
		struct tap_word *words = malloc(o->nr * sizeof(*words));
		int ret = words ? tap_pread_all(fd, words, o->nr * sizeof(*words), (off_t)o->offset)
				: -ENOMEM;

		for (unsigned int k = 0; k < o->events && !ret; k++) {
			struct tap_user_event *ev = &c->events[o->first + k];
			const struct tap_word *w = &words[(ev->word - o->offset) / sizeof(*w)];

			ev->wanted = w->wanted & ev->mask;
			ev->applied = !(w->applied & TAP_WORD_CHILD) && w->applied & ev->mask;
			ev->new_filter = w->filters;
			ev->gone = areas[o->area].gone;
		}
		free(words);
		if (ret)
			return ret;
	}
	return 0;
}

static int bad_file(const struct tap_user_control_source *from, struct tap_err *err, int code,
		    const char *what)
{
	return tap_err_set(err, code, "cannot use the control file of process %d: %s", from->pid,
			   what);
}

/* Return true if the head belongs to the file that was read before, or if it is the first one. */
static bool is_same(const struct tap_control *before, const struct tap_control *now)
{
	return !before->magic || (before->pid == now->pid && before->pid_ns == now->pid_ns &&
				  before->made_ns == now->made_ns);
}

static int read_head(struct tap_user_control *c, const struct tap_user_control_source *from,
		     struct tap_err *err)
{
	struct tap_control head;

	if (tap_pread_all(from->fd, &head, sizeof(head), 0) || head.magic != TAP_CONTROL_MAGIC)
		return bad_file(from, err, -EINVAL,
				"it is not a control file, or it is incomplete");
	if (head.min_version > TAP_CONTROL_VERSION || head.version < TAP_CONTROL_MIN_VERSION)
		return bad_file(from, err, -EINVAL,
				"it is from an incompatible version of the library");
	c->nested = head.pid_ns != tap_pid_ns_own();
	if ((head.pid != (uint32_t)from->pid && !c->nested) || head.areas_nr > TAP_CONTROL_AREAS ||
	    head.clock > TAP_CLOCK_CYCLES)
		return bad_file(from, err, -EINVAL, "its contents are invalid");
	if (!is_same(&c->head, &head))
		return bad_file(from, err, -EINVAL, "its identity has changed");
	c->head = head;
	c->head.comm[sizeof(head.comm) - 1] = c->head.reason[sizeof(head.reason) - 1] = '\0';
	return 0;
}

int tap_user_control_read(struct tap_user_control *c, const struct tap_user_control_source *from,
			  struct tap_err *err)
{
	struct tap_area *areas;
	uint8_t *known;
	int ret = read_head(c, from, err);
	uint32_t nr = c->head.areas_nr;

	if (ret || nr < c->nr_areas)
		return ret ?: bad_file(from, err, -EINVAL, "it has shrunk");
	areas = calloc(nr + 1, sizeof(*areas));
	known = realloc(c->areas, nr + 1);
	if (known) {
		memset(known + c->nr_areas, 0, nr - c->nr_areas);
		c->areas = known;
		c->nr_areas = nr;
	}
	if (!areas || !known)
		ret = tap_err_nomem(err);
	else if (tap_pread_all(from->fd, areas, nr * sizeof(*areas), TAP_CONTROL_PAGE))
		ret = bad_file(from, err, -ENODATA, "it is truncated");
	ret = ret ?: read_areas(c, from, areas, err);
	if (!ret && read_words(c, from->fd, areas))
		ret = bad_file(from, err, -ENODATA, "it is truncated");
	free(areas);
	return ret;
}

void tap_user_control_release(struct tap_user_control *c)
{
	free(c->events);
	free(c->rings);
	free(c->objects);
	free(c->areas);
	*c = (struct tap_user_control){ 0 };
}
