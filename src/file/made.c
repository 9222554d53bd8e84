// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/made.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "event/defs.h"
#include "file/made_cpu.h"
#include "file/unnamed.h"

#define MAX_LATE_NS 1000000u
#define MAX_TEXT_KINDS 4096u
#define MAX_NAME_BYTES 100u
#define MAX_RUNS 64u

int tap_made_fail(struct tap_made *m, int ret, const char *fmt, ...)
{
	char text[512];
	va_list args;

	if (m->failed)
		return m->failed;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return m->failed = tap_err_set(m->err, ret, "%s", text);
}

static int fail_nomem(struct tap_made *m)
{
	return tap_made_fail(m, -ENOMEM, "not enough memory");
}

void tap_made_begin(struct tap_made *m, struct tap_reader *r, struct tap_err *err)
{
	*m = (struct tap_made){ .r = r,
				.err = err,
				.file_bytes = r->budget.file_bytes,
				.first_ns = TAP_CURSOR_MAX_NS };
	r->info.big_endian = r->decoder.big_endian = TAP_HOST_BIG_ENDIAN;
	r->info.long_size = r->decoder.long_size = 8;
	r->page_size = TAP_PAGE_SIZE;
	r->data_offset = TAP_PAGE_HEADER;
	r->commit_size = 8;
}

/* ---- kinds ---- */

/* schedtap adds fields to some of the kernel's events. */
static bool is_added(const struct tap_def *def, const char *field)
{
	for (unsigned int i = 0; i < def->nr_needs; i++)
		if (!strcmp(def->needs[i].field, field))
			return true;
	return false;
}

static int add_built_in(struct tap_made *m, const struct tap_def *def,
			bool (*has)(void *ctx, const char *field), void *ctx)
{
	const struct tap_abi abi = { .big_endian = TAP_HOST_BIG_ENDIAN, .long_size = 8 };
	bool absent[TAP_FORMAT_MAX_FIELDS] = { false };
	struct tap_buf text = { 0 };
	int ret;

	for (unsigned int i = 0; i < def->nr_fields; i++)
		absent[i] =
			has ? !has(ctx, def->fields[i].name) : is_added(def, def->fields[i].name);
	tap_def_format(def, absent, NULL, &text);
	ret = text.err ? fail_nomem(m)
		       : tap_dat_add_format(m->r, def->system, text.data, text.len, abi, m->err);
	tap_buf_release(&text);
	return ret;
}

static void add_field(struct tap_buf *text, const struct tap_made_field *f, unsigned int *offset)
{
	const struct tap_abi abi = { .big_endian = TAP_HOST_BIG_ENDIAN, .long_size = 8 };
	const bool is_text = !strcmp(f->type, "char[]");
	struct tap_ctype type = { .size = 4 };

	if (!is_text)
		tap_ctype_find(f->type, strlen(f->type), abi, &type);
	*offset = (*offset + type.size - 1) / type.size * type.size;
	tap_buf_printf(text, "\tfield:%s%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
		       is_text ? "__data_loc " : "", f->type, f->name, *offset, type.size,
		       type.is_signed);
	*offset += type.size;
}

/* Add the field's part of the print format, or its argument. */
static void add_print(struct tap_buf *text, const struct tap_made_field *f, bool is_argument)
{
	const bool is_text = !strcmp(f->type, "char[]");

	if (is_argument)
		tap_buf_printf(text, is_text ? ", __get_str(%s)" : ", REC->%s", f->name);
	else
		tap_buf_printf(text, "%s=%s ", f->name,
			       is_text		      ? "%s"
			       : strchr(f->type, '6') ? (*f->type == 'u' ? "%llu" : "%lld")
			       : *f->type == 'u'      ? "%u"
						      : "%d");
}

static int add_layout(struct tap_made *m, const char *system, const char *name, unsigned int id,
		      const struct tap_made_field *fields, unsigned int nr)
{
	const struct tap_abi abi = { .big_endian = TAP_HOST_BIG_ENDIAN, .long_size = 8 };
	const bool is_text = nr == 1 && !strcmp(fields->name, "text");
	struct tap_buf text = { 0 };
	unsigned int offset = 8;
	int ret;

	tap_buf_printf(
		&text,
		"name: %.100s\nID: %u\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		name, id);
	for (unsigned int i = 0; i < nr; i++)
		add_field(&text, &fields[i], &offset);
	tap_buf_puts(&text, "\nprint fmt: \"");
	for (unsigned int i = 0; !is_text && i < nr; i++)
		add_print(&text, &fields[i], false);
	if (is_text)
		tap_buf_puts(&text, "%s");
	else if (nr)
		text.len -= !text.err; /* the last space */
	tap_buf_char(&text, '"');
	for (unsigned int i = 0; i < nr; i++)
		add_print(&text, &fields[i], true);
	tap_buf_char(&text, '\n');
	ret = text.err ? fail_nomem(m)
		       : tap_dat_add_format(m->r, system ?: "text", text.data, text.len, abi,
					    m->err);
	tap_buf_release(&text);
	return ret;
}

static const struct tap_made_field text_field = { "text", "char[]" };

/* Return the place of a kind; its value is 0 if it is new. */
static uint64_t *find_kind(struct tap_made *m, const char *name, size_t len)
{
	uint64_t key = tap_map_key(name, len), *place;

	/* another name with this key takes the next one */
	while ((place = tap_map_put(&m->kinds, key)) && *place) {
		const struct tap_format *fmt = (const struct tap_format *)(uintptr_t)*place;

		if (strlen(fmt->name) == len && !memcmp(fmt->name, name, len))
			return place;
		key++;
	}
	return place;
}

/* Copy the name of a new kind. Return: false: failed. */
static bool copy_name(struct tap_made *m, const char *name, size_t len,
		      char copy[MAX_NAME_BYTES + 1])
{
	if (len > MAX_NAME_BYTES || m->nr_text_kinds == MAX_TEXT_KINDS) {
		tap_made_fail(m, -EINVAL,
			      "'%.300s' is damaged: it has names of events above %u bytes, or "
			      "above %u of them",
			      m->r->path, MAX_NAME_BYTES, MAX_TEXT_KINDS);
		return false;
	}
	snprintf(copy, MAX_NAME_BYTES + 1, "%.*s", (int)len, name);
	return true;
}

/* @ret: what adding the kind returned. */
static const struct tap_format *keep_kind(struct tap_made *m, uint64_t *place, unsigned int id,
					  int ret)
{
	if (ret) {
		m->failed = m->failed ?: ret;
		return NULL;
	}
	*place = (uintptr_t)m->r->decoder.slots[id].fmt;
	return m->r->decoder.slots[id].fmt;
}

const struct tap_format *tap_made_kind(struct tap_made *m, const char *system, const char *name,
				       size_t len, bool (*has)(void *ctx, const char *field),
				       void *ctx)
{
	uint64_t *place = m->failed ? NULL : find_kind(m, name, len);
	const struct tap_def *def;
	unsigned int id;
	char copy[MAX_NAME_BYTES + 1];

	if (m->failed || !place) {
		fail_nomem(m);
		return NULL;
	}
	if (*place)
		return (const struct tap_format *)(uintptr_t)*place;
	if (!copy_name(m, name, len, copy))
		return NULL;
	def = tap_def_find(NULL, copy);
	def = def && tap_def_is_selectable(def) ? def : NULL;
	id = def ? def->id : ++m->nr_text_kinds;
	return keep_kind(m, place, id,
			 def ? add_built_in(m, def, has, ctx)
			     : add_layout(m, system, copy, id, &text_field, 1));
}

const struct tap_format *tap_made_layout(struct tap_made *m, const char *system, const char *name,
					 size_t len, const struct tap_made_field *fields,
					 unsigned int nr)
{
	uint64_t *place = m->failed ? NULL : find_kind(m, name, len);
	char copy[MAX_NAME_BYTES + 1];

	if (m->failed || !place) {
		fail_nomem(m);
		return NULL;
	}
	if (*place)
		return (const struct tap_format *)(uintptr_t)*place;
	if (!copy_name(m, name, len, copy))
		return NULL;
	m->nr_text_kinds++;
	return keep_kind(m, place, m->nr_text_kinds,
			 add_layout(m, system, copy, m->nr_text_kinds, fields, nr));
}

const struct tap_format *tap_made_text_kind(struct tap_made *m, const char *system,
					    const char *name, size_t len)
{
	char copy[MAX_NAME_BYTES + 1];
	int ret;

	if (m->failed || !copy_name(m, name, len, copy))
		return NULL;
	m->nr_text_kinds++;
	ret = add_layout(m, system, copy, m->nr_text_kinds, &text_field, 1);
	if (ret) {
		m->failed = m->failed ?: ret;
		return NULL;
	}
	return m->r->decoder.slots[m->nr_text_kinds].fmt;
}

/* ---- events ---- */

static int fail_file(struct tap_made *m, int ret)
{
	if (m->failed)
		return m->failed;
	return m->failed = tap_unnamed_fail(ret, "translate", m->r->path, m->err);
}

static struct tap_made_cpu *find_cpu(struct tap_made *m, unsigned int cpu)
{
	static const struct tap_made_cpu fresh = { .fd = -1 };
	struct tap_made_cpu *c;

	if (cpu >= TAP_DAT_MAX_CPUS) {
		tap_made_fail(m, -EINVAL, "'%.300s' is damaged: it has an event of CPU %u",
			      m->r->path, cpu);
		return NULL;
	}
	c = tap_array_at(&m->cpus, &m->nr_cpus, cpu, sizeof(*c), &fresh);
	if (!c)
		fail_nomem(m);
	return c;
}

static int write_block(struct tap_made *m, struct tap_made_cpu *c)
{
	const size_t len = c->nr_pages * TAP_PAGE_SIZE;
	const uint64_t limit = m->file_bytes * TAP_BUDGET_FACTOR;
	int ret;

	c->nr_pages = 0;
	c->bytes += len;
	m->written += len;
	if (m->written > limit && m->written > TAP_BUDGET_FLOOR)
		return tap_made_fail(
			m, -E2BIG,
			"'%.300s' is refused: translated it has more than %u times its size",
			m->r->path, TAP_BUDGET_FACTOR);
	ret = tap_write_all(c->fd, c->block, len);
	return ret ? fail_file(m, ret) : 0;
}

static int end_page(struct tap_made *m, struct tap_made_cpu *c)
{
	if (!c->is_open)
		return 0;
	tap_page_end(&c->page, c->missed);
	c->is_open = false;
	c->missed = 0;
	return ++c->nr_pages == TAP_MADE_BLOCK_PAGES ? write_block(m, c) : 0;
}

static int begin_page(struct tap_made *m, struct tap_made_cpu *c, uint64_t ts_ns)
{
	if (c->fd < 0) {
		int fd = tap_unnamed_open();

		if (fd < 0)
			return fail_file(m, fd);
		c->fd = fd;
		c->block = malloc(TAP_MADE_BLOCK_PAGES * TAP_PAGE_SIZE);
	}
	if (!c->block)
		return fail_nomem(m);
	tap_page_begin(&c->page, c->block + c->nr_pages * TAP_PAGE_SIZE, ts_ns);
	c->is_open = true;
	c->missed = c->loss;
	c->loss = 0;
	return 0;
}

/* Return the event's time, not before the CPU's previous one; UINT64_MAX: failed. */
static uint64_t place_in_order(struct tap_made *m, struct tap_made_cpu *c, unsigned int cpu,
			       uint64_t ts_ns)
{
	if (ts_ns >= c->last_ns && ts_ns <= TAP_CURSOR_MAX_NS)
		return c->last_ns = ts_ns;
	if (ts_ns > TAP_CURSOR_MAX_NS || c->last_ns - ts_ns > MAX_LATE_NS) {
		tap_made_fail(
			m, -EINVAL,
			"the events of CPU %u in '%.300s' are not in the order of time: sort the "
			"file",
			cpu, m->r->path);
		return UINT64_MAX;
	}
	m->nr_late++;
	return c->last_ns;
}

/* Return the first of the CPU's runs that may have an event of this time last; NULL: failed. */
static struct tap_made_cpu *find_run(struct tap_made *m, struct tap_made_cpu *c, unsigned int cpu,
				     uint64_t ts_ns)
{
	for (unsigned int i = 0; i < MAX_RUNS; i++, c = c->later) {
		if (ts_ns >= c->last_ns)
			return c;
		if (!c->later) {
			c->later = calloc(1, sizeof(*c));
			if (!c->later) {
				fail_nomem(m);
				return NULL;
			}
			c->later->fd = -1;
		}
	}
	tap_made_fail(m, -EINVAL, "the events of CPU %u in '%.300s' are not in the order of time",
		      cpu, m->r->path);
	return NULL;
}

/* Return where the event of this time goes, and move the loss before it there; NULL: failed. */
static struct tap_made_cpu *place_in_run(struct tap_made *m, struct tap_made_cpu *c,
					 unsigned int cpu, uint64_t ts_ns)
{
	struct tap_made_cpu *run = c;

	if (ts_ns > TAP_CURSOR_MAX_NS) {
		tap_made_fail(m, -EINVAL, "'%.300s' is damaged: it has an event after 292 years",
			      m->r->path);
		return NULL;
	}
	if (ts_ns < c->last_ns)
		run = find_run(m, c, cpu, ts_ns);
	if (!run)
		return NULL;
	if (run != c && c->loss) {
		run->loss = c->loss;
		c->loss = 0;
	}
	run->last_ns = ts_ns;
	return run;
}

unsigned char *tap_made_put(struct tap_made *m, struct tap_made_cpu *c, uint64_t ts_ns,
			    uint32_t size)
{
	unsigned char *rec = c->is_open && !c->loss ? tap_page_add(&c->page, ts_ns, size) : NULL;

	if (rec)
		return rec;
	if (end_page(m, c) || begin_page(m, c, ts_ns))
		return NULL;
	return tap_page_add(&c->page, ts_ns, size);
}

unsigned char *tap_made_add(struct tap_made *m, const struct tap_format *fmt, unsigned int cpu,
			    uint64_t ts_ns, int tid, uint32_t text_bytes)
{
	struct tap_made_cpu *c = m->failed ? NULL : find_cpu(m, cpu);
	uint32_t size = fmt->min_size;
	unsigned char *rec;

	if (c && m->sorts)
		c = place_in_run(m, c, cpu, ts_ns);
	else if (c)
		ts_ns = place_in_order(m, c, cpu, ts_ns);
	if (!c || ts_ns == UINT64_MAX)
		return NULL;
	size += text_bytes < TAP_MADE_MAX_TEXT ? text_bytes : TAP_MADE_MAX_TEXT;
	rec = tap_made_put(m, c, ts_ns, size);
	if (!rec)
		return NULL;
	if (ts_ns < m->first_ns)
		m->first_ns = ts_ns;
	memset(rec, 0, size);
	memcpy(rec, &fmt->id, sizeof(fmt->id));
	memcpy(rec + 4, &tid, sizeof(tid));
	return rec;
}

void tap_made_text(const struct tap_format *fmt, unsigned char *rec, const struct tap_field *f,
		   const char *text, size_t len, uint32_t text_bytes, uint32_t *used)
{
	uint32_t at = fmt->min_size + *used, word;

	if (f->kind == TAP_FIELD_CHARS) {
		memcpy(rec + f->offset, text, len < f->size ? len : f->size - 1);
		return;
	}
	text_bytes = text_bytes < TAP_MADE_MAX_TEXT ? text_bytes : TAP_MADE_MAX_TEXT;
	if (f->kind != TAP_FIELD_STRING || *used == text_bytes)
		return;
	if (len > text_bytes - *used - 1)
		len = text_bytes - *used - 1;
	memcpy(rec + at, text, len);
	word = ((uint32_t)len + 1) << 16 | at;
	memcpy(rec + f->offset, &word, sizeof(word));
	*used += (uint32_t)len + 1;
}

void tap_made_loss(struct tap_made *m, unsigned int cpu, uint64_t count)
{
	struct tap_made_cpu *c = m->failed ? NULL : find_cpu(m, cpu);

	if (!c || !count)
		return;
	if (count == TAP_MADE_UNKNOWN || c->loss == TAP_MADE_UNKNOWN)
		c->loss = TAP_MADE_UNKNOWN;
	else
		c->loss += count < UINT32_MAX ? count : UINT32_MAX;
}

/* ---- tasks ---- */

void tap_made_task(struct tap_made *m, int tid, const char *comm, size_t len, int tgid)
{
	uint64_t *place = tid > 0 && !m->failed ? tap_map_put(&m->places, (uint64_t)tid) : NULL;
	struct tap_made_task *task;

	if (!place) {
		if (tid > 0)
			fail_nomem(m);
		return;
	}
	if (!*place) {
		if (tap_array_grow(&m->tasks, m->nr_tasks, &m->cap_tasks, sizeof(*m->tasks))) {
			fail_nomem(m);
			return;
		}
		m->tasks[m->nr_tasks++] = (struct tap_made_task){ .tid = tid };
		*place = m->nr_tasks;
	}
	task = &m->tasks[*place - 1];
	if (tgid > 0)
		task->tgid = tgid;
	if (comm && !*task->comm)
		memcpy(task->comm, comm, len < sizeof(task->comm) ? len : sizeof(task->comm) - 1);
}

static int give_tasks(struct tap_made *m)
{
	struct tap_reader *r = m->r;

	r->cmdlines = malloc(m->nr_tasks * sizeof(m->tasks->comm) + 1);
	if (!r->cmdlines)
		return fail_nomem(m);
	for (unsigned int i = 0; i < m->nr_tasks; i++) {
		const struct tap_made_task *t = &m->tasks[i];
		char *comm = r->cmdlines + i * sizeof(t->comm);

		memcpy(comm, t->comm, sizeof(t->comm));
		if (*comm && tap_map_set(&r->comms, (uint64_t)t->tid, (uintptr_t)comm))
			return fail_nomem(m);
		if (t->tgid && tap_map_set(&r->tgids, (uint64_t)t->tid, (uint64_t)t->tgid))
			return fail_nomem(m);
	}
	return 0;
}

/* ---- the end ---- */

int tap_made_flush(struct tap_made *m, struct tap_made_cpu *c)
{
	/* a CPU that has only a loss may have lost its events at any time */
	const uint64_t from_ns = c->fd < 0 ? m->first_ns : c->last_ns;
	int ret = c->loss ? end_page(m, c) ?: begin_page(m, c, from_ns) : 0;

	ret = ret ?: end_page(m, c);
	return ret || c->fd < 0 ? ret : write_block(m, c);
}

static int give_cpu(struct tap_made *m, unsigned int cpu, int buffer)
{
	struct tap_made_cpu *c = &m->cpus[cpu];
	const struct tap_mapping *map;
	struct tap_stream *s;
	int ret = tap_made_flush(m, c);

	if (c->fd < 0)
		return ret;
	if (!ret && c->later)
		ret = tap_made_merge(m, c);
	if (!ret) {
		ret = tap_dat_add_map(m->r, c->fd, &map);
		ret = ret ? fail_file(m, ret)
			  : tap_dat_add_stream(m->r, (unsigned int)buffer, cpu, &s, m->err);
	}
	if (ret)
		return m->failed = ret;
	tap_dat_set_pages(s, map, map->data, map->len);
	return 0;
}

int tap_made_end(struct tap_made *m, const char *clock)
{
	int buffer = m->failed ?: tap_dat_add_buffer(m->r, "", clock, TAP_PAGE_SIZE, m->err), ret;

	if (buffer < 0)
		return buffer;
	for (unsigned int cpu = 0; cpu < m->nr_cpus; cpu++) {
		ret = give_cpu(m, cpu, buffer);
		if (ret)
			return ret;
	}
	m->r->budget.file_bytes = m->file_bytes; /* the temporary files must not raise the limit */
	ret = give_tasks(m);
	if (!ret && m->nr_late)
		ret = tap_dat_note(
			m->r, m->err,
			"%llu events were earlier than the one before them on their CPU, by up to "
			"1 ms: they got its time",
			(unsigned long long)m->nr_late);
	return ret ?: tap_dat_set_text(&m->r->compression, "none", 4, m->err);
}

void tap_made_cpu_release(struct tap_made_cpu *c)
{
	for (struct tap_made_cpu *run = c->later, *later; run; run = later) {
		later = run->later;
		run->later = NULL;
		tap_made_cpu_release(run);
		free(run);
	}
	if (c->fd >= 0)
		close(c->fd);
	free(c->block);
	*c = (struct tap_made_cpu){ .fd = -1 };
}

void tap_made_release(struct tap_made *m)
{
	for (unsigned int i = 0; i < m->nr_cpus; i++)
		tap_made_cpu_release(&m->cpus[i]);
	free(m->cpus);
	free(m->tasks);
	tap_map_release(&m->places);
	tap_map_release(&m->kinds);
}
