// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/expr/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Find a number field other than @but whose name is the first @len bytes of @prefix, followed by
 * @name.
 */
static const struct tap_field *other_field(const struct tap_format *fmt,
					   const struct tap_field *but, const char *prefix,
					   size_t len, const char *name)
{
	for (unsigned int i = 0; i < fmt->nr_fields; i++) {
		const struct tap_field *f = &fmt->fields[i];

		if (f != but && f->kind == TAP_FIELD_NUMBER && !strncmp(f->name, prefix, len) &&
		    !strcmp(f->name + len, name))
			return f;
	}
	return NULL;
}

static const struct tap_field *tid_of(const struct tap_format *fmt, const struct tap_field *field)
{
	const struct tap_field *tid = NULL;

	for (size_t len = strlen(field->name); !tid && len; len--)
		if (field->name[len - 1] == '_')
			tid = other_field(fmt, field, field->name, len, "pid");
	tid = tid ?: other_field(fmt, field, "", 0, "pid");
	return tid ?: other_field(fmt, field, "", 0, "tid");
}

struct tap_past_about tap_past_about(const struct tap_format *fmt, const struct tap_field *field)
{
	return (struct tap_past_about){
		.tid = tid_of(fmt, field),
		.cgroup = other_field(fmt, field, "", 0, "cgroup"),
		.cpu = other_field(fmt, field, "", 0, "cpu")
			       ?: other_field(fmt, field, "", 0, "cpu_id"),
	};
}

struct tap_past_key tap_past_key(const struct tap_past *p, const void *rec, uint32_t size, int cpu)
{
	const struct tap_past_about *a = &p->about;
	int64_t tid = a->tid ? (int64_t)tap_field_u64(a->tid, rec, size) : 0;

	if (tid > 0)
		return (struct tap_past_key){ (uint64_t)tid, UINT64_MAX };
	return (struct tap_past_key){
		a->cgroup ? tap_field_u64(a->cgroup, rec, size) : 0,
		a->cpu ? tap_field_u64(a->cpu, rec, size) : (uint64_t)cpu,
	};
}

static uint64_t hash_key(struct tap_past_key key)
{
	return key.id ^ key.cpu * 0x9e3779b97f4a7c15u;
}

/*
 * Find the value of a key. Return: its index + 1; 0 if there is none. @last: index + 1 of the
 * preceding value with the same hash, or 0.
 */
static uint32_t find_value(const struct tap_past *p, struct tap_past_key key, uint32_t *last)
{
	const uint64_t *first = tap_map_get(&p->first, hash_key(key));
	uint32_t i = first ? (uint32_t)*first : 0;

	for (*last = 0; i; i = p->values[i - 1].next) {
		const struct tap_past_value *v = &p->values[i - 1];

		if (v->key.id == key.id) /* same hash and ID, so the CPU is the same as well */
			break;
		*last = i;
	}
	return i;
}

const uint64_t *tap_past_get(const struct tap_past *p, struct tap_past_key key)
{
	uint32_t last, i = find_value(p, key, &last);

	return i ? &p->values[i - 1].value : NULL;
}

int tap_past_set(struct tap_past *p, struct tap_past_key key, uint64_t value)
{
	uint32_t last, i = find_value(p, key, &last);

	if (i) {
		p->values[i - 1].value = value;
		return 0;
	}
	if (tap_array_grow(&p->values, p->nr, &p->cap, sizeof(*p->values)) ||
	    (!last && tap_map_set(&p->first, hash_key(key), p->nr + 1)))
		return -ENOMEM;
	p->values[p->nr++] = (struct tap_past_value){ .key = key, .value = value };
	if (last)
		p->values[last - 1].next = p->nr;
	return 0;
}

void tap_past_release(struct tap_past *p)
{
	tap_map_release(&p->first);
	free(p->values);
}
