// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/ctf/kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "event/defs.h"

/* ---- fields ---- */

const bt_field *tap_ctf_member(const struct tap_ctf *r, const bt_field *of, const char *name)
{
	if (!of || r->bt.field_get_class_type(of) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return NULL;
	return r->bt.field_structure_borrow_member_field_by_name_const(of, name);
}

/* Return false if the field is not a number. */
bool tap_ctf_number(const struct tap_ctf *r, const bt_field *f, uint64_t *value)
{
	const bt_field_class_type type = f ? r->bt.field_get_class_type(f) : 0;

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*value = r->bt.field_integer_unsigned_get_value(f);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*value = (uint64_t)r->bt.field_integer_signed_get_value(f);
	else
		return false;
	return true;
}

bool tap_ctf_is_text(const struct tap_ctf *r, const bt_field *f)
{
	return f && r->bt.field_get_class_type(f) == BT_FIELD_CLASS_TYPE_STRING;
}

/* ---- kinds ---- */

/* What a kind asks about its fields. */
struct asked {
	const struct tap_ctf *r;
	const bt_field *payload;
};

/*
 * Return the name of the payload's member for one of our fields, or NULL. LTTng's "tid" is the
 * kernel's "pid", and its "pid" a process.
 */
static const char *find_member(const struct tap_ctf *r, const bt_field *payload, const char *field)
{
	const size_t len = strlen(field);
	char tid[64];

	if (len >= 3 && len < sizeof(tid) && !strcmp(field + len - 3, "pid")) {
		snprintf(tid, sizeof(tid), "%.*stid", (int)len - 3, field);
		if (tap_ctf_member(r, payload, tid))
			return strdup(tid);
	}
	return tap_ctf_member(r, payload, field) ? strdup(field) : NULL;
}

static bool has_member(void *ctx, const char *field)
{
	const struct asked *a = ctx;
	char *name = (char *)find_member(a->r, a->payload, field);

	free(name);
	return name;
}

/* LTTng's names of the kernel's events. */
static const char *kernel_name(const char *name)
{
	static const char *const other[][2] = {
		{ "irq_softirq_entry", "softirq_entry" },
		{ "irq_softirq_exit", "softirq_exit" },
		{ "irq_softirq_raise", "softirq_raise" },
		{ "power_cpu_frequency", "cpu_frequency" },
		{ "power_cpu_idle", "cpu_idle" },
	};
	const char *colon = strchr(name, ':'); /* perf puts the system before it */

	name = colon ? colon + 1 : name;
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
		if (!strcmp(name, other[i][0]))
			return other[i][1];
	return name;
}

static bool is_identifier(const char *s)
{
	const size_t len =
		strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return len && !s[len] && (*s < '0' || *s > '9');
}

/* What perf adds to each event: the record's own fields, and those of the sample. */
static bool is_added_by_perf(const char *name)
{
	return !strncmp(name, "common_", 7) || !strncmp(name, "perf_", 5);
}

/* The fields that a payload has, for an event that schedtap does not define. */
struct layout {
	struct tap_made_field v[TAP_CTF_MAX_FIELDS];
	char names[TAP_CTF_MAX_FIELDS][64];
	unsigned int nr;
};

/* Add a member, unless it is neither a number nor a text. LTTng's "tid" becomes "pid". */
static void add_field(const struct tap_ctf *r, struct layout *l, const bt_field *payload,
		      const char *name, const bt_field *f)
{
	const size_t len = strlen(name);
	char *ours = l->names[l->nr];
	uint64_t value;

	if (l->nr == TAP_CTF_MAX_FIELDS || len >= sizeof(l->names[0]) || !is_identifier(name) ||
	    is_added_by_perf(name) || (!tap_ctf_is_text(r, f) && !tap_ctf_number(r, f, &value)))
		return;
	memcpy(ours, name, len + 1);
	if (len >= 3 && !strcmp(ours + len - 3, "tid")) {
		ours[len - 3] = 'p';
		if (tap_ctf_member(r, payload, ours))
			ours[len - 3] = 't';
	}
	l->v[l->nr++] = (struct tap_made_field){ ours, tap_ctf_is_text(r, f) ? "char[]" : "s64" };
}

static const struct tap_format *make_layout(struct tap_ctf *r, const char *system, const char *name,
					    const bt_field *payload)
{
	const struct tap_babeltrace *bt = &r->bt;
	const bt_field_class *class = bt->field_borrow_class_const(payload);
	const uint64_t nr = bt->field_class_structure_get_member_count(class);
	struct layout l = { .nr = 0 };

	for (uint64_t i = 0; i < nr; i++)
		add_field(r, &l, payload,
			  bt->field_class_structure_member_get_name(
				  bt->field_class_structure_borrow_member_by_index_const(class, i)),
			  bt->field_structure_borrow_member_field_by_index_const(payload, i));
	return tap_made_layout(r->m, system, name, strlen(name), l.v, l.nr);
}

/* The event's system: perf puts it before the name, LTTng leaves it out. */
static void find_system(const char *whole, char system[64])
{
	const char *colon = strchr(whole, ':');

	if (colon)
		snprintf(system, 64, "%.*s", (int)(colon - whole), whole);
	else
		snprintf(system, 64, "%s",
			 !strncmp(whole, "sched_", 6)  ? "sched"
			 : !strncmp(whole, "perf_", 5) ? "perf"
						       : "lttng");
}

/*
 * LTTng subtracts MAX_RT_PRIO from priorities: 20 is the kernel's 120. Before 2.8 it did not do so
 * in wakeups.
 */
static enum tap_ctf_how find_how(const struct tap_ctf *r, const char *event, const char *field)
{
	const size_t len = strlen(field);

	if (strncmp(event, "sched_", 6) != 0)
		return TAP_CTF_AS_IT_IS;
	if (!strcmp(field, "prev_state") && r->release && r->release < 414)
		return TAP_CTF_OLD_STATE;
	return r->is_lttng && len >= 4 && !strcmp(field + len - 4, "prio") &&
			       !(r->has_whole_prio && !strncmp(event, "sched_wak", 9))
		       ? TAP_CTF_PRIO
		       : TAP_CTF_AS_IT_IS;
}

static struct tap_ctf_kind *add_kind(struct tap_ctf *r, const bt_event_class *class,
				     const bt_field *payload)
{
	const char *whole = r->bt.event_class_get_name(class) ?: "unnamed",
		   *name = kernel_name(whole);
	const struct tap_def *def = tap_def_find(NULL, name);
	struct asked asked = { r, payload };
	struct tap_ctf_kind *k = calloc(1, sizeof(*k));
	char system[64];

	if (!k) {
		tap_made_fail(r->m, -ENOMEM, "not enough memory");
		return NULL;
	}
	*k = (struct tap_ctf_kind){ .class = class, .older = r->newest };
	r->newest = k;
	find_system(whole, system);
	if ((def && tap_def_is_selectable(def)) || !is_identifier(name))
		k->fmt = tap_made_kind(r->m, system, name, strlen(name), has_member, &asked);
	else
		k->fmt = make_layout(r, system, name, payload);
	if (!k->fmt)
		return NULL;
	for (unsigned int i = k->fmt->nr_common; i < k->fmt->nr_fields && i < TAP_CTF_MAX_FIELDS;
	     i++) {
		k->members[i] = find_member(r, payload, k->fmt->fields[i].name);
		k->how[i] = find_how(r, name, k->fmt->fields[i].name);
	}
	return k;
}

struct tap_ctf_kind *tap_ctf_find_kind(struct tap_ctf *r, const bt_event_class *class,
				       const bt_field *payload)
{
	struct tap_ctf_kind *k = r->newest;

	while (k && k->class != class)
		k = k->older;
	return k ?: add_kind(r, class, payload);
}

void tap_ctf_kinds_release(struct tap_ctf *r)
{
	for (struct tap_ctf_kind *k = r->newest, *older; k; k = older) {
		older = k->older;
		for (unsigned int i = 0; i < TAP_CTF_MAX_FIELDS; i++)
			free((char *)k->members[i]);
		free(k);
	}
}
