// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * mkdat IN.txt OUT.dat [--zstd | --spool]: make a recording from a text that a person can check.
 * With --spool make OUT.dat.spool, as a killed recorder leaves it. Lines:
 *
 *   # a comment
 *   meta {"tool": "..."}            schedtap's description, on one line
 *   comm TID NAME                   a saved command line
 *   cpus N                          number of CPUs (default: as many as the lines name)
 *   uname TEXT                      the kernel (default: Linux mkdat)
 *   clock NAME                      the clock of the time stamps (default: mono)
 *   throttling                      the events of throttle.h were recorded, too (default: all but
 *                                   these)
 *   lean                            sched_switch is that of lean recordings: its name here is
 *                                   sched:sched_switch_lean
 *   lisa                            schedtap's events have the names that LISA's module gives them,
 *                                   and runnable its older name there
 *   sched_info                      sched_switch has the fields from sched_info (default: not)
 *   buffer NAME                     the buffer of the following lines (default: the top buffer)
 *   TIME CPU TID SYSTEM:NAME FIELD=VALUE...
 *   lost CPU FIRST LAST COUNT       a schedtap:events_lost record at LAST
 *   missed CPU COUNT                a new sub-buffer with lost events before it (0: unknown count)
 *   stack CPU[+NS] KIND [FRAME...]  a schedtap:kernel_stack or user_stack record after the CPU's
 *                                   last record, NS later, with its TID. KIND: kernel or user;
 *                                   FRAME...: names, innermost first, or #NUMBER: a stack that is
 *                                   in no table. Without a FRAME the stack could not be read
 *   callers CPU[+NS] KIND [ADDRESS...]
 *                                   the stack as ftrace writes it: ftrace:kernel_stack or
 *                                   user_stack
 *   symbol ADDRESS NAME             a line of kallsyms
 *
 * TIME is in ns (digits, optionally with _ between them) or SECONDS.NNNNNNNNN, and must not
 * decrease on a CPU. VALUE is a number, a text ("..." if it contains spaces; \xHH, \n, \\, \"), a
 * CPU list for a bitmask, or numbers separated by commas for an array. Fields without a value are
 * 0; common_flags and common_preempt_count may be set, too. Events are the built-in ones and
 * sched:sched_wakeup, which has the fields of sched_waking.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"
#include "event/defs.h"
#include "file/pack.h"
#include "file/page.h"
#include "file/spool.h"
#include "wakeup_format.h"

#define MAX_CPUS 512
#define MAX_BUFFERS 8
#define COMMON_BYTES 8u

/* One CPU of one buffer: its full sub-buffers, and the one being filled. */
struct cpu {
	struct tap_buf pages;
	struct tap_page page;
	unsigned char bytes[TAP_PAGE_SIZE];
	bool open, missed;
	uint64_t missed_cnt;
	uint64_t last_ns;
	int last_tid;
};

/* Stack events. If any are used, their format texts contain all stacks and are generated here. */
struct stacks {
	bool used, is_callers;
	const char *system, *name, *first; /* .first: the field before the callers */
	uint16_t id;
	/* the stacks' texts, each with a NUL; the first one has the number 1 */
	struct tap_buf texts;
};

struct buffer {
	char *name;
	struct cpu cpus[MAX_CPUS];
};

struct mkdat {
	const char *in;
	unsigned int line_nr;
	struct buffer *buffers[MAX_BUFFERS];
	unsigned int nr_buffers, nr_cpus;
	struct tap_buf comms, symbols;
	struct stacks stacks[4];
	char *meta;
	const char *clock, *uname;
	bool throttling, sched_info, lean, lisa, has_wakeups;
};

static _Noreturn void die(const struct mkdat *m, const char *fmt, ...) TAP_PRINTF(2, 3);

static _Noreturn void die(const struct mkdat *m, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%u: ", m->in, m->line_nr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/*
 * Take the next word from @p; quotes and escapes are resolved in place. Return: NULL if there is
 * none.
 */
static char *next_word(const struct mkdat *m, char **p)
{
	char *in = *p + strspn(*p, " \t"), *out = in, *word = in;
	bool quoted = false;
	unsigned int hex;
	int used;

	if (!*in)
		return NULL;
	for (; *in && (quoted || !strchr(" \t", *in)); in++) {
		if (*in == '"') {
			quoted = !quoted;
		} else if (*in != '\\') {
			*out++ = *in;
		} else if (*++in == 'n') {
			*out++ = '\n';
		} else if (*in == 'x' && sscanf(in + 1, "%2x%n", &hex, &used) == 1 && used == 2) {
			*out++ = (char)hex;
			in += 2;
		} else if (*in == '\\' || *in == '"') {
			*out++ = *in;
		} else {
			die(m, "unknown escape");
		}
	}
	if (quoted)
		die(m, "a quote is not closed");
	*p = *in ? in + 1 : in;
	*out = '\0';
	return word;
}

static char *need_word(const struct mkdat *m, char **p, const char *what)
{
	char *word = next_word(m, p);

	if (!word)
		die(m, "%s is missing", what);
	return word;
}

static int64_t number(const struct mkdat *m, const char *word)
{
	char *end;
	int64_t v;

	errno = 0;
	/* all 64-bit numbers: those above INT64_MAX are unsigned */
	v = *word == '-' ? strtoll(word, &end, 0) : (int64_t)strtoull(word, &end, 0);
	if (end == word || *end || errno)
		die(m, "'%s' is no number", word);
	return v;
}

static uint64_t time_ns(const struct mkdat *m, const char *word)
{
	uint64_t ns = 0;
	int places = -1;

	for (const char *s = word; *s; s++) {
		if (*s == '.' && places < 0 && s != word) {
			places = 0;
		} else if (*s >= '0' && *s <= '9' && places < 9) {
			ns = ns * 10 + (uint64_t)(*s - '0');
			places += places >= 0;
		} else if (*s != '_') {
			die(m, "'%s' is no time", word);
		}
	}
	for (; places >= 0 && places < 9; places++)
		ns *= 10;
	return ns;
}

static struct cpu *get_cpu(struct mkdat *m, const char *word)
{
	int64_t cpu = number(m, word);

	if (cpu < 0 || cpu >= MAX_CPUS)
		die(m, "CPU %" PRId64 " is out of bounds", cpu);
	if (cpu >= m->nr_cpus)
		m->nr_cpus = (unsigned int)cpu + 1;
	return &m->buffers[m->nr_buffers - 1]->cpus[cpu];
}

static void end_page(struct cpu *c)
{
	uint64_t commit;

	if (!c->open)
		return;
	tap_page_end(&c->page, c->missed_cnt);
	memcpy(&commit, c->bytes + 8, sizeof(commit));
	if (c->missed)
		commit |= TAP_PAGE_MISSED;
	memcpy(c->bytes + 8, &commit, sizeof(commit));
	tap_buf_add(&c->pages, c->bytes, sizeof(c->bytes));
	c->open = c->missed = false;
	c->missed_cnt = 0;
}

static void add_record(struct mkdat *m, struct cpu *c, uint64_t ts_ns, const struct tap_buf *rec)
{
	unsigned char *at = NULL;

	if (ts_ns < c->last_ns)
		die(m, "time goes back on this CPU");
	c->last_ns = ts_ns;
	memcpy(&c->last_tid, rec->data + 4, sizeof(c->last_tid));
	if (c->open)
		at = tap_page_add(&c->page, ts_ns, (uint32_t)rec->len);
	if (!at) {
		end_page(c);
		tap_page_begin(&c->page, c->bytes, ts_ns);
		c->open = true;
		at = tap_page_add(&c->page, ts_ns, (uint32_t)rec->len);
	}
	if (!at)
		die(m, "a record of %zu bytes does not fit a page", rec->len);
	memcpy(at, rec->data, rec->len);
}

static void begin_record(struct tap_buf *rec, unsigned int id_, uint32_t size, int tid)
{
	uint16_t id = (uint16_t)id_;

	tap_buf_clear(rec);
	tap_buf_reserve(rec, size);
	memset(rec->data, 0, size);
	rec->len = size;
	memcpy(rec->data, &id, sizeof(id));
	memcpy(rec->data + 4, &tid, sizeof(tid));
}

/* Append @len bytes to the record, and store their position in the field's location word. */
static void set_dynamic(struct tap_buf *rec, const struct tap_field *f, const void *data,
			size_t len)
{
	uint32_t loc = (uint32_t)rec->len | (uint32_t)len << 16;

	tap_buf_add(rec, data, len);
	memcpy(rec->data + f->offset, &loc, sizeof(loc));
}

static void set_bitmask(const struct mkdat *m, struct tap_buf *rec, const struct tap_field *f,
			const char *value)
{
	struct tap_cpus cpus = { 0 };

	if (tap_cpus_parse(&cpus, value))
		die(m, "'%s' is no CPU list", value);
	set_dynamic(rec, f, cpus.bits, cpus.nr_words * sizeof(*cpus.bits));
	tap_cpus_release(&cpus);
}

static void set_numbers(const struct mkdat *m, struct tap_buf *rec, const struct tap_field *f,
			const char *value)
{
	struct tap_buf numbers = { 0 };
	int64_t v;

	for (size_t len; *value; value += len + (value[len] == ',')) {
		char word[32];

		len = strcspn(value, ",");
		snprintf(word, sizeof(word), "%.*s", (int)len, value);
		v = (int64_t)htole64((uint64_t)number(m, word));
		tap_buf_add(&numbers, &v, f->elem_size);
	}
	set_dynamic(rec, f, numbers.data, numbers.len);
	tap_buf_release(&numbers);
}

static void set_number(const struct mkdat *m, struct tap_buf *rec, const struct tap_field *f,
		       const char *value)
{
	int64_t v = number(m, value);
	unsigned int bits = f->size * 8;

	if (bits < 64 && (v < -(INT64_C(1) << (bits - 1)) || v >= INT64_C(1) << bits))
		die(m, "%s does not fit %u bytes", value, f->size);
	/* the low bytes come first */
	v = (int64_t)htole64((uint64_t)v);
	memcpy(rec->data + f->offset, &v, f->size);
}

static void set_field(const struct mkdat *m, struct tap_buf *rec, const struct tap_field *f,
		      const char *value)
{
	switch (f->kind) {
	case TAP_FIELD_NUMBER:
		set_number(m, rec, f, value);
		break;
	case TAP_FIELD_CHARS:
		if (strlen(value) > f->size)
			die(m, "'%s' is longer than %u bytes", value, f->size);
		memcpy(rec->data + f->offset, value, strlen(value));
		break;
	case TAP_FIELD_STRING:
		set_dynamic(rec, f, value, strlen(value) + 1);
		break;
	case TAP_FIELD_DYNAMIC:
		(strstr(f->type, "unsigned long") ? set_bitmask : set_numbers)(m, rec, f, value);
		break;
	default:
		die(m, "field '%s' is of a kind that cannot be set", f->name);
	}
}

static const struct tap_field *find_field(const struct tap_def *def, const char *name)
{
	static const struct tap_field common[] = {
		{ .name = "common_flags",
		  .kind = TAP_FIELD_NUMBER,
		  .offset = 2,
		  .size = 1,
		  .elem_size = 1 },
		{ .name = "common_preempt_count",
		  .kind = TAP_FIELD_NUMBER,
		  .offset = 3,
		  .size = 1,
		  .elem_size = 1 },
	};

	for (unsigned int i = 0; i < def->nr_fields; i++) {
		if (!strcmp(def->fields[i].name, name))
			return &def->fields[i];
	}
	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		if (!strcmp(common[i].name, name))
			return &common[i];
	return NULL;
}

/* @id: set to the event ID of its records. */
static const struct tap_def *find_def(struct mkdat *m, char *word, uint32_t *id)
{
	char *colon = strchr(word, ':');
	const struct tap_def *def;
	bool is_wakeup = !strcmp(word, "sched:sched_wakeup");

	if (!colon)
		die(m, "'%s' is not SYSTEM:NAME", word);
	*colon = '\0';
	def = tap_def_find(word, is_wakeup ? "sched_waking" : colon + 1);
	if (!def)
		die(m, "there is no event '%s:%s'", word, colon + 1);
	m->has_wakeups |= is_wakeup;
	*id = is_wakeup ? WAKEUP_ID : def->id;
	return def;
}

/*
 * Return the number of a definition's fields that the recording has: without sched_info, the last
 * two of sched_switch are absent.
 */
static unsigned int nr_present(const struct mkdat *m, const struct tap_def *def)
{
	return !m->sched_info && def == tap_def_find("sched", "sched_switch") ? def->nr_fields - 2
									      : def->nr_fields;
}

static uint32_t record_size(const struct mkdat *m, const struct tap_def *def)
{
	unsigned int nr = nr_present(m, def);

	return nr < def->nr_fields ? def->fields[nr].offset : def->size;
}

/* Set the fields that the line names, in this order. */
static void set_fields(const struct mkdat *m, struct tap_buf *rec, const struct tap_def *def,
		       char *p)
{
	char *word, *value;

	while ((word = next_word(m, &p))) {
		const struct tap_field *f;

		value = strchr(word, '=');
		if (!value)
			die(m, "'%s' is not FIELD=VALUE", word);
		*value++ = '\0';
		f = find_field(def, word);
		if (!f || f->offset >= record_size(m, def))
			die(m, "%s:%s has no field '%s'", def->system, def->name, word);
		set_field(m, rec, f, value);
	}
}

static void do_event(struct mkdat *m, const char *first, char *p)
{
	uint64_t ts_ns = time_ns(m, first);
	struct cpu *c = get_cpu(m, need_word(m, &p, "the CPU"));
	int tid = (int)number(m, need_word(m, &p, "the thread id"));
	uint32_t id;
	const struct tap_def *def = find_def(m, need_word(m, &p, "the event"), &id);
	struct tap_buf rec = { 0 };

	begin_record(&rec, (uint16_t)id, record_size(m, def), tid);
	set_fields(m, &rec, def, p);
	add_record(m, c, ts_ns, &rec);
	tap_buf_release(&rec);
}

static void do_lost(struct mkdat *m, char *p)
{
	const struct tap_def *def = tap_def_find("schedtap", "events_lost");
	char *cpu = need_word(m, &p, "the CPU");
	struct cpu *c = get_cpu(m, cpu);
	uint64_t first_ns = time_ns(m, need_word(m, &p, "the first time"));
	uint64_t last_ns = time_ns(m, need_word(m, &p, "the last time"));
	uint64_t count = (uint64_t)number(m, need_word(m, &p, "the count"));
	struct tap_buf rec = { 0 };
	char fields[160];

	snprintf(fields, sizeof(fields),
		 "count=%" PRIu64 " first_ns=%" PRIu64 " last_ns=%" PRIu64 " lost_cpu=%s", count,
		 first_ns, last_ns, cpu);
	begin_record(&rec, def->id, def->size, 0);
	set_fields(m, &rec, def, fields);
	add_record(m, c, last_ns, &rec);
	tap_buf_release(&rec);
}

static void do_missed(struct mkdat *m, char *p)
{
	struct cpu *c = get_cpu(m, need_word(m, &p, "the CPU"));

	end_page(c);
	c->missed = true;
	c->missed_cnt = (uint64_t)number(m, need_word(m, &p, "the count"));
}

/* ---- stacks ---- */

static struct stacks *find_stacks(struct mkdat *m, const char *kind, bool is_callers)
{
	bool is_user = !strcmp(kind, "user");
	struct stacks *s = &m->stacks[is_callers * 2 + is_user];
	const struct tap_def *def;

	if (!is_user && strcmp(kind, "kernel"))
		die(m, "'%s' is neither kernel nor user", kind);
	*s = (struct stacks){
		.used = true,
		.is_callers = is_callers,
		.texts = s->texts,
		.system = is_callers ? "ftrace" : "schedtap",
		.name = is_user ? "user_stack" : "kernel_stack",
		.first = is_user ? "unsigned int tgid" : "int size",
		.id = (uint16_t)(is_callers ? 4u + 9u * is_user
					    : TAP_DEF_ID_BASE + 0xf00 + is_user),
	};
	def = tap_def_find(s->system, s->name);
	if (def)
		s->id = (uint16_t)def->id;
	return s;
}

static void add_frame(struct tap_buf *text, const char *name)
{
	tap_buf_puts(text, "\\n => ");
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			tap_buf_char(text, '\\');
		if (*name == '\n')
			tap_buf_puts(text, "\\n");
		else
			tap_buf_char(text, *name);
	}
}

/* Return the number of the stack with this text, which is added if needed. */
static uint32_t intern(struct tap_buf *texts, const char *text)
{
	uint32_t nr = 1;

	for (size_t at = 0; at < texts->len; at += strlen(texts->data + at) + 1, nr++)
		if (!strcmp(texts->data + at, text))
			return nr;
	tap_buf_add(texts, text, strlen(text) + 1);
	return nr;
}

/* Parse CPU[+NS]. @ts_ns: set to NS after the CPU's last record. */
static struct cpu *cpu_later(struct mkdat *m, char *word, uint64_t *ts_ns)
{
	char *plus = strchr(word, '+');
	struct cpu *c;

	if (plus)
		*plus = '\0';
	c = get_cpu(m, word);
	*ts_ns = c->last_ns + (plus ? time_ns(m, plus + 1) : 0);
	return c;
}

static void do_stack(struct mkdat *m, char *p)
{
	uint64_t ts_ns;
	struct cpu *c = cpu_later(m, need_word(m, &p, "the CPU"), &ts_ns);
	struct stacks *s = find_stacks(m, need_word(m, &p, "kernel or user"), false);
	struct tap_buf rec = { 0 }, text = { 0 };
	uint32_t nr = 0;
	char *word;

	while ((word = next_word(m, &p))) {
		if (*word == '#')
			nr = (uint32_t)number(m, word + 1);
		else
			add_frame(&text, word);
	}
	if (text.len)
		nr = intern(&s->texts, tap_buf_str(&text));
	begin_record(&rec, s->id, COMMON_BYTES + sizeof(nr), c->last_tid);
	memcpy(rec.data + COMMON_BYTES, &nr, sizeof(nr));
	add_record(m, c, ts_ns, &rec);
	tap_buf_release(&rec);
	tap_buf_release(&text);
}

static void do_callers(struct mkdat *m, char *p)
{
	uint64_t ts_ns;
	struct cpu *c = cpu_later(m, need_word(m, &p, "the CPU"), &ts_ns);
	struct stacks *s = find_stacks(m, need_word(m, &p, "kernel or user"), true);
	struct tap_buf rec = { 0 };
	uint32_t size = 0;
	char *word;

	begin_record(&rec, s->id, COMMON_BYTES + 8, c->last_tid);
	for (; (word = next_word(m, &p)); size++) {
		int64_t address = number(m, word);

		tap_buf_add(&rec, &address, sizeof(address));
	}
	if (!strcmp(s->name, "kernel_stack")) /* user_stack has the process ID there */
		memcpy(rec.data + COMMON_BYTES, &size, sizeof(size));
	add_record(m, c, ts_ns, &rec);
	tap_buf_release(&rec);
}

static void put_table(const struct stacks *s, struct tap_buf *out)
{
	uint32_t nr = 0;

	tap_buf_puts(out, "\tfield:u32 stack;\toffset:8;\tsize:4;\tsigned:0;\n\n"
			  "print fmt: \"%s\", __print_symbolic(REC->stack, { 0, \"\" }");
	for (size_t at = 0; at < s->texts.len; at += strlen(s->texts.data + at) + 1)
		tap_buf_printf(out, ", { %u, \"%s\" }", ++nr, s->texts.data + at);
	tap_buf_puts(out, ")\n");
}

static void put_callers(const struct stacks *s, struct tap_buf *out)
{
	tap_buf_printf(out,
		       "\tfield:%s;\toffset:8;\tsize:4;\tsigned:1;\n"
		       "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\n"
		       "print fmt: \"\\t=> %%ps\\n\", (void *)REC->caller[0]\n",
		       s->first);
}

static struct tap_head_format stacks_format(const struct stacks *s)
{
	struct tap_buf text = { 0 };

	tap_buf_printf(
		&text,
		"name: %s\nID: %u\nformat:\n"
		"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
		"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
		"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
		s->name, s->id);
	(s->is_callers ? put_callers : put_table)(s, &text);
	return (struct tap_head_format){ s->system, text.data, text.len };
}

static void do_symbol(struct mkdat *m, char *p)
{
	char *address = need_word(m, &p, "the address");

	tap_buf_printf(&m->symbols, "%016" PRIx64 " T %s\n", (uint64_t)number(m, address),
		       need_word(m, &p, "the name"));
}

static void do_comm(struct mkdat *m, char *p)
{
	int64_t tid = number(m, need_word(m, &p, "the thread id"));

	tap_buf_printf(&m->comms, "%" PRId64 " %s\n", tid, need_word(m, &p, "the name"));
}

static void do_buffer(struct mkdat *m, const char *name)
{
	struct buffer *b = calloc(1, sizeof(*b));

	if (!b || m->nr_buffers == MAX_BUFFERS)
		die(m, "too many buffers");
	b->name = strdup(name);
	m->buffers[m->nr_buffers++] = b;
}

static void do_line(struct mkdat *m, char *line)
{
	char *p = line, *word;

	if (!strncmp(line, "meta ", 5)) {
		/* verbatim: quotes and backslashes belong to the JSON */
		free(m->meta);
		m->meta = strdup(line + 5);
		return;
	}
	word = line[0] == '#' ? NULL : next_word(m, &p);
	if (!word)
		return;
	if (!strcmp(word, "comm"))
		do_comm(m, p);
	else if (!strcmp(word, "cpus"))
		m->nr_cpus = (unsigned int)number(m, need_word(m, &p, "the number"));
	else if (!strcmp(word, "clock"))
		m->clock = strdup(need_word(m, &p, "the name"));
	else if (!strcmp(word, "uname"))
		m->uname = strdup(p);
	else if (!strcmp(word, "throttling"))
		m->throttling = true;
	else if (!strcmp(word, "sched_info"))
		m->sched_info = true;
	else if (!strcmp(word, "lean"))
		m->lean = true;
	else if (!strcmp(word, "lisa"))
		m->lisa = true;
	else if (!strcmp(word, "buffer"))
		do_buffer(m, need_word(m, &p, "the name"));
	else if (!strcmp(word, "lost"))
		do_lost(m, p);
	else if (!strcmp(word, "missed"))
		do_missed(m, p);
	else if (!strcmp(word, "stack"))
		do_stack(m, p);
	else if (!strcmp(word, "callers"))
		do_callers(m, p);
	else if (!strcmp(word, "symbol"))
		do_symbol(m, p);
	else
		do_event(m, word, p);
}

static void read_text(struct mkdat *m)
{
	FILE *f = fopen(m->in, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;

	if (!f)
		die(m, "cannot open it: %s", strerror(errno));
	do_buffer(m, "");
	while ((len = getline(&line, &cap, f)) > 0) {
		m->line_nr++;
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		do_line(m, line);
	}
	free(line);
	fclose(f);
}

/* Return true if the event's format contains the stacks' texts. */
static bool has_stacks(const struct mkdat *m, const struct tap_def *def)
{
	for (unsigned int i = 0; i < 4; i++)
		if (m->stacks[i].used &&
		    def == tap_def_find(m->stacks[i].system, m->stacks[i].name))
			return true;
	return false;
}

static void name_as_lisa(struct tap_buf *text)
{
	struct tap_buf theirs = { 0 };
	const char *from = tap_buf_str(text) + strlen("name: "), *old;

	tap_buf_printf(&theirs, "name: lisa__");
	while ((old = strstr(from, "runnable;"))) {
		tap_buf_printf(&theirs, "%.*sRBL_load;", (int)(old - from), from);
		from = old + strlen("runnable;");
	}
	tap_buf_printf(&theirs, "%s", from);
	tap_buf_release(text);
	*text = theirs;
}

/*
 * Make the formats of all built-in events, and those of stacks and sched_wakeup if they are used.
 * They are never freed. Return: their number.
 */
static unsigned int all_formats(const struct mkdat *m, struct tap_head_format **out)
{
	const struct tap_def *def;
	unsigned int max = 0, nr = 0;

	while (tap_def_at(max))
		max++;
	*out = calloc(max + 5, sizeof(**out));
	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		bool absent[TAP_FORMAT_MAX_FIELDS] = { false };
		struct tap_buf text = { 0 };

		for (unsigned int f = nr_present(m, def); f < def->nr_fields; f++)
			absent[f] = true;
		if ((!m->throttling && !strcmp(def->group, "throttle")) || has_stacks(m, def) ||
		    !strcmp(def->name, m->lean ? "sched_switch" : "sched_switch_lean"))
			continue;
		tap_def_format(def, absent, NULL, &text);
		if (m->lisa && !strcmp(def->system, "schedtap"))
			name_as_lisa(&text);
		(*out)[nr++] = (struct tap_head_format){ def->system, text.data, text.len };
	}
	if (m->has_wakeups) {
		struct tap_buf text = { 0 };

		wakeup_format(&text);
		(*out)[nr++] = (struct tap_head_format){ "sched", text.data, text.len };
	}
	for (unsigned int i = 0; i < 4; i++)
		if (m->stacks[i].used)
			(*out)[nr++] = stacks_format(&m->stacks[i]);
	return nr;
}

static int write_buffer(struct mkdat *m, struct tap_spool *spool, struct buffer *b,
			struct tap_err *err)
{
	int index = tap_spool_add_buffer(spool, b->name, m->clock, TAP_PAGE_SIZE, m->nr_cpus, err);
	int ret = index < 0 ? index : 0;

	for (unsigned int i = 0; !ret && i < m->nr_cpus; i++) {
		struct cpu *c = &b->cpus[i];

		if (c->missed && !c->open)
			die(m, "no event follows a 'missed' of CPU %u", i);
		end_page(c);
		if (c->pages.len)
			ret = tap_spool_write(spool, (unsigned int)index, i, c->pages.data,
					      c->pages.len, err);
	}
	return ret;
}

static int write_file(struct mkdat *m, const char *file, const char *how, struct tap_err *err)
{
	struct tap_head_format *formats;
	struct tap_head head = {
		.nr_formats = all_formats(m, &formats),
		.uname = m->uname,
		.tool = "mkdat",
		.cmdlines = tap_buf_str(&m->comms),
		.meta = m->meta ? m->meta : "",
		.clock = m->clock,
		.printk = "",
		.kallsyms = tap_buf_str(&m->symbols),
		.nr_cpus = m->nr_cpus,
	};
	struct tap_spool *spool;
	char path[4096];
	int ret;

	head.formats = formats;
	tap_head_defaults(&head);
	ret = tap_spool_create(file, &head, &spool, err);
	for (unsigned int i = 0; !ret && i < m->nr_buffers; i++)
		ret = write_buffer(m, spool, m->buffers[i], err);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s", tap_spool_path(spool));
	tap_spool_free(spool);
	if (!strcmp(how, "--spool"))
		return 0;
	return tap_pack(path, file, &(struct tap_pack_opts){ .zstd = !strcmp(how, "--zstd") }, err);
}

/* This short-lived tool does not free its memory: disable the leak checker. */
TAP_API const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

int main(int argc, char **argv)
{
	struct mkdat m = { .in = argc > 1 ? argv[1] : "", .clock = "mono", .uname = "Linux mkdat" };
	const char *how = argc == 4 ? argv[3] : "";
	struct tap_err err;

	if (argc < 3 || argc > 4 || (*how && strcmp(how, "--zstd") && strcmp(how, "--spool"))) {
		fprintf(stderr, "usage: mkdat IN.txt OUT.dat [--zstd | --spool]\n");
		return 2;
	}
	read_text(&m);
	if (write_file(&m, argv[2], how, &err)) {
		fprintf(stderr, "mkdat: %s\n", err.text);
		return 1;
	}
	return 0;
}
