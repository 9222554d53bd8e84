// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "event/defs.h"
#include "file/perfetto/trace.h"

#define MAX_NAME 60u /* bytes of a field's name */

/* What a message has. */
struct layout {
	unsigned int number; /* in FtraceEvent */
	const char *system, *name;
	struct {
		const char *name;
		unsigned int number; /* in the event's message */
		/* for events without a definition in events/, as in struct tap_made_field */
		const char *type;
	} fields[8];
};

/* Numbers and names of protos/perfetto/trace/ftrace/ in Perfetto's source. */
/* clang-format off */
static const struct layout layouts[] = {
	{ 3, "ftrace", "print", { { "ip", 1, "u64" }, { "buf", 2, "char[]" } } },
	{ 11, "power", "cpu_frequency", { { "state", 1 }, { "cpu_id", 2 } } },
	{ 12, "power", "cpu_frequency_limits", { { "min_freq", 1, "u32" }, { "max_freq", 2, "u32" }, { "cpu_id", 3, "u32" } } },
	{ 13, "power", "cpu_idle", { { "state", 1 }, { "cpu_id", 2 } } },
	{ 14, "power", "clock_enable", { { "name", 1, "char[]" }, { "state", 2, "u64" }, { "cpu_id", 3, "u64" } } },
	{ 15, "power", "clock_disable", { { "name", 1, "char[]" }, { "state", 2, "u64" }, { "cpu_id", 3, "u64" } } },
	{ 16, "power", "clock_set_rate", { { "name", 1, "char[]" }, { "state", 2, "u64" }, { "cpu_id", 3, "u64" } } },
	{ 17, "sched", "sched_wakeup", { { "comm", 1, "char[]" }, { "pid", 2, "int" }, { "prio", 3, "int" }, { "target_cpu", 5, "int" } } },
	{ 18, "sched", "sched_blocked_reason", { { "pid", 1, "int" }, { "caller", 2, "u64" }, { "io_wait", 3, "u32" } } },
	{ 19, "sched", "sched_cpu_hotplug", { { "affected_cpu", 1, "int" }, { "error", 2, "int" }, { "status", 3, "int" } } },
	{ 21, "ipi", "ipi_entry", { { "reason", 1, "char[]" } } },
	{ 22, "ipi", "ipi_exit", { { "reason", 1, "char[]" } } },
	{ 23, "ipi", "ipi_raise", { { "target_cpus", 1, "u32" }, { "reason", 2, "char[]" } } },
	{ 24, "irq", "softirq_entry", { { "vec", 1 } } },
	{ 25, "irq", "softirq_exit", { { "vec", 1 } } },
	{ 26, "irq", "softirq_raise", { { "vec", 1, "u32" } } },
	{ 36, "irq", "irq_handler_entry", { { "irq", 1 }, { "name", 2 } } },
	{ 37, "irq", "irq_handler_exit", { { "irq", 1 }, { "ret", 2 } } },
	{ 67, "cgroup", "cgroup_attach_task", { { "dst_root", 1 }, { "dst_id", 2 }, { "pid", 3 }, { "comm", 4 }, { "dst_level", 6 }, { "dst_path", 7 } } },
	{ 68, "cgroup", "cgroup_mkdir", { { "root", 1 }, { "id", 2 }, { "level", 4 }, { "path", 5 } } },
	{ 113, "power", "suspend_resume", { { "action", 1, "char[]" }, { "val", 2, "int" }, { "start", 3, "u32" } } },
	{ 114, "sched", "sched_wakeup_new", { { "comm", 1 }, { "pid", 2 }, { "prio", 3 }, { "target_cpu", 5 } } },
	{ 235, "task", "task_newtask", { { "pid", 1 }, { "comm", 2 }, { "clone_flags", 3 }, { "oom_score_adj", 4 } } },
	{ 236, "task", "task_rename", { { "pid", 1 }, { "oldcomm", 2 }, { "newcomm", 3 }, { "oom_score_adj", 4 } } },
	{ 237, "sched", "sched_process_exec", { { "filename", 1 }, { "pid", 2 }, { "old_pid", 3 } } },
	{ 238, "sched", "sched_process_exit", { { "comm", 1 }, { "pid", 2 }, { "prio", 4 } } },
	{ 239, "sched", "sched_process_fork", { { "parent_comm", 1 }, { "parent_pid", 2 }, { "child_comm", 3 }, { "child_pid", 4 } } },
	{ 240, "sched", "sched_process_free", { { "comm", 1, "char[]" }, { "pid", 2, "int" }, { "prio", 3, "int" } } },
	{ 241, "sched", "sched_process_hang", { { "comm", 1, "char[]" }, { "pid", 2, "int" } } },
	{ 242, "sched", "sched_process_wait", { { "comm", 1, "char[]" }, { "pid", 2, "int" }, { "prio", 3, "int" } } },
	{ 343, "cpuhp", "cpuhp_exit", { { "cpu", 1 }, { "idx", 2 }, { "ret", 3 }, { "state", 4 } } },
	{ 344, "cpuhp", "cpuhp_multi_enter", { { "cpu", 1, "u32" }, { "fun", 2, "u64" }, { "idx", 3, "int" }, { "target", 4, "int" } } },
	{ 345, "cpuhp", "cpuhp_enter", { { "cpu", 1, "u32" }, { "fun", 2, "u64" }, { "idx", 3, "int" }, { "target", 4, "int" } } },
	{ 353, "sched", "sched_pi_setprio", { { "comm", 1 }, { "newprio", 2 }, { "oldprio", 3 }, { "pid", 4 } } },
	{ 491, "sched", "sched_migrate_task", { { "comm", 1 }, { "pid", 2 }, { "prio", 3 }, { "orig_cpu", 4 }, { "dest_cpu", 5 } } },
};
/* clang-format on */

static struct tap_pft_kind *new_kind(struct tap_pft *t)
{
	struct tap_pft_kind *kind = calloc(1, sizeof(*kind));

	if (!kind) {
		tap_made_fail(t->made, -ENOMEM, "not enough memory");
		return NULL;
	}
	kind->older = t->newest_kind;
	return t->newest_kind = kind;
}

/* ---- layouts ---- */

/* Fields that a message has, for tap_made_kind() or tap_made_layout(). */
struct had {
	struct tap_made_field fields[TAP_PFT_MAX_FIELDS];
	unsigned int numbers[TAP_PFT_MAX_FIELDS];
	char names[TAP_PFT_MAX_FIELDS][MAX_NAME + 1];
	unsigned int nr;
};

static bool has_field(void *ctx, const char *field)
{
	const struct had *had = ctx;

	for (unsigned int i = 0; i < had->nr; i++)
		if (!strcmp(had->fields[i].name, field))
			return true;
	return false;
}

static bool is_identifier(const struct tap_proto_in *in)
{
	const size_t len = tap_proto_len(in);

	for (size_t i = 0; i < len; i++)
		if (!isalnum(in->at[i]) && in->at[i] != '_')
			return false;
	return len && len <= MAX_NAME && !isdigit(*in->at);
}

/* Add a field of a strange message, unless another has the name or the number. */
static void had_add(struct had *had, const struct tap_proto_in *name, unsigned int number,
		    const char *type)
{
	char *copy = had->names[had->nr < TAP_PFT_MAX_FIELDS ? had->nr : 0];

	if (had->nr == TAP_PFT_MAX_FIELDS || number >= TAP_PFT_MAX_FIELDS || !is_identifier(name))
		return;
	memcpy(copy, name->at, tap_proto_len(name));
	copy[tap_proto_len(name)] = '\0';
	for (unsigned int i = 0; i < had->nr; i++)
		if (had->numbers[i] == number)
			return;
	if (has_field(had, copy) || !strncmp(copy, "common_", 7))
		return;
	had->numbers[had->nr] = number;
	had->fields[had->nr++] = (struct tap_made_field){ copy, type };
}

/* Get the layout of an event, as its definition or, if it has none, with all that it had. */
static void set_layout(struct tap_pft *t, struct tap_pft_kind *kind, const char *system,
		       const char *name, size_t len, struct had *had)
{
	char copy[MAX_NAME + 1] = { 0 };
	const struct tap_def *def;

	memcpy(copy, name, len <= MAX_NAME ? len : MAX_NAME);
	def = tap_def_find(NULL, copy);
	kind->fmt = def && tap_def_is_selectable(def)
			    ? tap_made_kind(t->made, system, name, len, has_field, had)
			    : tap_made_layout(t->made, system, name, len, had->fields, had->nr);
	for (unsigned int i = 0; kind->fmt && i < had->nr; i++) {
		const struct tap_field *f = tap_format_field(kind->fmt, had->fields[i].name);

		if (f && f->kind != TAP_FIELD_NUMBER && f->kind != TAP_FIELD_CHARS &&
		    f->kind != TAP_FIELD_STRING)
			f = NULL;
		kind->fields[had->numbers[i]] = f;
		kind->has_text |= f && f->kind == TAP_FIELD_STRING;
	}
}

static const struct layout *find_layout(unsigned int number)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].number == number)
			return &layouts[i];
	return NULL;
}

static struct tap_pft_kind *make_kind(struct tap_pft *t, unsigned int number)
{
	const struct layout *l = find_layout(number);
	struct tap_pft_kind *kind = new_kind(t);
	struct had had = { 0 };

	if (!kind)
		return NULL;
	for (unsigned int i = 0; l && i < 8 && l->fields[i].name; i++) {
		had.fields[i] = (struct tap_made_field){ l->fields[i].name, l->fields[i].type };
		had.numbers[had.nr++] = l->fields[i].number;
	}
	if (l)
		set_layout(t, kind, l->system, l->name, strlen(l->name), &had);
	return kind;
}

/* Return the place of a number's kind; NULL: failed. */
static struct tap_pft_kind *find_kind(struct tap_pft *t, unsigned int number, uint64_t **place)
{
	*place = tap_map_put(&t->by_other_number, number);
	if (*place)
		return (struct tap_pft_kind *)(uintptr_t) * *place;
	tap_made_fail(t->made, -ENOMEM, "not enough memory");
	return NULL;
}

struct tap_pft_kind *tap_pft_kind(struct tap_pft *t, unsigned int number)
{
	struct tap_pft_kind *kind;
	uint64_t *place;

	if (number < TAP_PFT_NR_TABLE) {
		if (!t->by_number[number])
			t->by_number[number] = make_kind(t, number);
		return t->by_number[number];
	}
	/* all that nothing describes share one, as a damaged file may have any number */
	kind = find_kind(t, number, &place);
	if (kind || !place)
		return kind;
	return tap_pft_kind(t, 0);
}

/* ---- events that name their fields ---- */

static const char *system_of(const struct tap_proto_in *name)
{
	return tap_proto_len(name) > 6 && !memcmp(name->at, "sched_", 6) ? "sched" : NULL;
}

struct tap_pft_kind *tap_pft_generic_kind(struct tap_pft *t, struct tap_proto_in message)
{
	struct tap_proto_in name = { 0 }, rest = message;
	struct tap_pft_kind *kind;
	struct tap_proto_field f, part;
	struct had had = { 0 };
	uint64_t *place;

	while (!name.at && tap_proto_next(&rest, &f))
		if (f.number == NR_GENERIC_NAME && f.type == TAP_PROTO_BYTES)
			name = f.bytes;
	if (!is_identifier(&name))
		return tap_pft_kind(t, NR_EVENT_GENERIC);
	place = tap_map_put(&t->by_name, tap_map_key(name.at, tap_proto_len(&name)));
	if (place && *place)
		return (struct tap_pft_kind *)(uintptr_t)*place;
	kind = place ? new_kind(t) : NULL;
	if (!kind)
		return NULL;
	*place = (uintptr_t)kind;
	for (unsigned int nr = 0; tap_proto_next(&message, &f);) {
		struct tap_proto_in field = { 0 };
		const char *type = NULL;

		if (f.number != NR_GENERIC_FIELD || f.type != TAP_PROTO_BYTES)
			continue;
		while (tap_proto_next(&f.bytes, &part)) {
			if (part.number == NR_GENERIC_FIELD_NAME && part.type == TAP_PROTO_BYTES)
				field = part.bytes;
			else if (part.number >= NR_GENERIC_FIELD_TEXT)
				type = part.type == TAP_PROTO_BYTES	     ? "char[]"
				       : part.number == NR_GENERIC_FIELD_INT ? "s64"
									     : "u64";
		}
		if (type)
			had_add(&had, &field, nr++, type);
	}
	set_layout(t, kind, system_of(&name), (const char *)name.at, tap_proto_len(&name), &had);
	return kind;
}

/* FieldDescriptorProto's types: those with a sign, and texts. */
static const char *type_of(uint64_t type)
{
	if (type == 9 || type == 12)
		return "char[]";
	return type == 3 || type == 5 || type == 15 || type == 16 || type == 17 || type == 18
		       ? "s64"
		       : "u64";
}

static void describe_field(struct had *had, struct tap_proto_in in)
{
	struct tap_proto_in name = { 0 };
	uint64_t number = 0, type = 0;
	struct tap_proto_field f;

	while (tap_proto_next(&in, &f)) {
		if (f.number == NR_TYPE_FIELD_NAME && f.type == TAP_PROTO_BYTES)
			name = f.bytes;
		if (f.number == NR_TYPE_FIELD_NUMBER && f.type == TAP_PROTO_VARINT)
			number = f.value;
		if (f.number == NR_TYPE_FIELD_TYPE && f.type == TAP_PROTO_VARINT)
			type = f.value;
	}
	if (number && number < TAP_PFT_MAX_FIELDS)
		had_add(had, &name, (unsigned int)number, type_of(type));
}

static void describe_type(struct tap_pft *t, unsigned int number, struct tap_proto_in in)
{
	struct tap_proto_in name = { 0 };
	struct tap_pft_kind *kind;
	struct had had = { 0 };
	struct tap_proto_field f;
	uint64_t *place;

	while (tap_proto_next(&in, &f)) {
		if (f.type != TAP_PROTO_BYTES)
			continue;
		if (f.number == NR_TYPE_NAME)
			name = f.bytes;
		if (f.number == NR_TYPE_FIELD)
			describe_field(&had, f.bytes);
	}
	if (!is_identifier(&name) || find_kind(t, number, &place) || !place)
		return;
	kind = new_kind(t);
	if (!kind)
		return;
	*place = (uintptr_t)kind;
	set_layout(t, kind, system_of(&name), (const char *)name.at, tap_proto_len(&name), &had);
}

void tap_pft_describe(struct tap_pft *t, struct tap_proto_in in)
{
	struct tap_proto_in type = { 0 };
	struct tap_proto_field f;
	uint64_t number = 0;

	while (tap_proto_next(&in, &f)) {
		if (f.number == NR_DESCRIPTOR_NUMBER && f.type == TAP_PROTO_VARINT)
			number = f.value;
		if (f.number == NR_DESCRIPTOR_TYPE && f.type == TAP_PROTO_BYTES)
			type = f.bytes;
	}
	if (number >= TAP_PFT_NR_TABLE && number <= TAP_PROTO_MAX_FIELD && type.at)
		describe_type(t, (unsigned int)number, type);
}

/* ---- the end ---- */

int tap_pft_note_unknown(struct tap_pft *t)
{
	struct tap_buf text = { 0 };
	uint64_t nr = 0;
	int ret = 0;

	for (unsigned int i = 1; i < TAP_PFT_NR_TABLE; i++) {
		const struct tap_pft_kind *kind = t->by_number[i];

		if (!kind || !kind->nr_unknown)
			continue;
		nr += kind->nr_unknown;
		if (text.len < 200)
			tap_buf_printf(&text, "%s%u (%llu)", text.len ? ", " : "", i,
				       (unsigned long long)kind->nr_unknown);
	}
	if (t->by_number[0] && t->by_number[0]->nr_unknown) {
		nr += t->by_number[0]->nr_unknown;
		tap_buf_printf(&text, "%sabove %u (%llu)", text.len ? ", " : "",
			       TAP_PFT_NR_TABLE - 1,
			       (unsigned long long)t->by_number[0]->nr_unknown);
	}
	if (nr)
		ret = tap_dat_note(t->made->r, t->made->err,
				   "ftrace events whose fields schedtap does not know are left out "
				   "(%llu), by their number in FtraceEvent: %s",
				   (unsigned long long)nr, tap_buf_str(&text));
	tap_buf_release(&text);
	return ret;
}

void tap_pft_kinds_release(struct tap_pft *t)
{
	for (struct tap_pft_kind *kind = t->newest_kind, *older; kind; kind = older) {
		older = kind->older;
		free(kind);
	}
	tap_map_release(&t->by_other_number);
	tap_map_release(&t->by_name);
}
