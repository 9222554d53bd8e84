// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events in the format of tracefs's file `trace`, with the option record-tgid and times in ns. */
#include "show/export/events.h"

#include "base/digits.h"
#include "base/text.h"
#include "show/out/out.h"

#define HEAD_BYTES 64u /* "CPU] flags seconds.nanoseconds: " has at most 50 bytes */
#define SECONDS_WIDTH 5u
#define NR_FLAGS 5u

/*
 * Return true for trace_printk() events, whose text begins with the calling function instead of the
 * event's name.
 */
static bool is_printk(const struct tap_format *fmt)
{
	return !strcmp(fmt->system, "ftrace") &&
	       (!strcmp(fmt->name, "print") || !strcmp(fmt->name, "bprint") ||
		!strcmp(fmt->name, "bputs"));
}

/* Return: the event's row in the recording's description, borrowed; or NULL. */
static const json_t *find_row(const json_t *events, const struct tap_format *fmt)
{
	const json_t *row;
	size_t i;

	json_array_foreach(events, i, row) {
		const char *system = json_string_value(json_object_get(row, "system"));
		const char *name = json_string_value(json_object_get(row, "name"));

		if (system && name && !strcmp(system, fmt->system) && !strcmp(name, fmt->name))
			return row;
	}
	return NULL;
}

/*
 * Return: true if the kernel wrote common_flags and common_preempt_count of an event. BPF programs
 * and the tracepoints of programs leave both 0, which would mean: interrupts on, preemptible.
 * Events of the system schedtap without a row are stacks and losses.
 */
static bool has_flags(const json_t *meta, const struct tap_format *fmt)
{
	const json_t *events = json_object_get(meta, "events"), *row = find_row(events, fmt);
	const char *backend = json_string_value(json_object_get(row, "backend"));

	if (!events)
		return true; /* no list of events: another program made the recording */
	return backend ? !strcmp(backend, "tracefs") : strcmp(fmt->system, "schedtap") != 0;
}

static int ftrace_kind(const struct tap_out *o, struct tap_out_kind *k, const struct tap_buf *name)
{
	const struct tap_format *fmt = k->kind->fmt;

	(void)name;
	if (has_flags(o->meta, fmt)) {
		k->flags = tap_format_field(fmt, "common_flags");
		k->preempt_count = tap_format_field(fmt, "common_preempt_count");
	}
	if (!is_printk(fmt)) {
		tap_text_escape(&k->label, fmt->name, strlen(fmt->name));
		tap_buf_puts(&k->label, ": ");
	}
	return tap_printer_new(fmt, &k->printer, NULL);
}

static void ftrace_label(const struct tap_out *o, struct tap_buf *label,
			 const struct tap_task *task)
{
	const int tgid = tap_task_tgid(task);

	(void)o;
	tap_out_task_text(label, task);
	if (tgid >= 0)
		tap_buf_printf(label, "(%7d) [", tgid);
	else
		tap_buf_puts(label, "(-------) [");
}

static unsigned int number_of(const struct tap_field *f, const struct tap_event *ev)
{
	return f ? (unsigned int)tap_field_u64(f, ev->data, ev->size) : 0;
}

static char count_char(unsigned int count)
{
	return count ? "0123456789abcdef"[count & 15] : '.';
}

/*
 * Format the flags as trace_print_lat_fmt() in v6.13 does, which uses a bit for lazy preemption
 * that earlier kernels used for "not supported".
 */
static char *put_flags(char *to, unsigned int flags, unsigned int preempt_count)
{
	enum {
		IRQS_OFF = 1,
		RESCHED_LAZY = 2,
		RESCHED = 4,
		HARDIRQ = 8,
		SOFTIRQ = 16,
		PREEMPT_RESCHED = 32,
		NMI = 64,
		BH_OFF = 128
	};
	const unsigned int resched = (flags & RESCHED ? 1 : 0) | (flags & RESCHED_LAZY ? 2 : 0) |
				     (flags & PREEMPT_RESCHED ? 4 : 0);

	*to++ = flags & IRQS_OFF ? flags & BH_OFF ? 'D' : 'd' : flags & BH_OFF ? 'b' : '.';
	*to++ = ".nlbpNLB"[resched];
	*to++ = flags & NMI	  ? flags & HARDIRQ ? 'Z' : 'z'
		: flags & HARDIRQ ? flags & SOFTIRQ ? 'H' : 'h'
		: flags & SOFTIRQ ? 's'
				  : '.';
	*to++ = count_char(preempt_count & 15);
	*to++ = count_char(preempt_count >> 4 & 15); /* migration-disable depth */
	return to;
}

/*
 * Blanks where the flags are not known: tracefs' own form without the option irq-info, which
 * Perfetto reads. Perfetto's reader of text (systrace_line_tokenizer.cc) takes letters, digits and
 * dots only, so a line with "?" among its flags would be lost.
 */
static char *put_flags_of(char *to, const struct tap_out_kind *k, const struct tap_event *ev)
{
	if (!k->flags)
		return (char *)memset(to, ' ', NR_FLAGS) + NR_FLAGS;
	return put_flags(to, number_of(k->flags, ev), number_of(k->preempt_count, ev));
}

static void ftrace_event(struct tap_out *o, const struct tap_out_kind *k,
			 const struct tap_event *ev, const struct tap_buf *current)
{
	struct tap_buf *b = &o->buf;
	char *to;

	if (!tap_buf_reserve(b, current->len + HEAD_BYTES + k->label.len))
		return;
	to = mempcpy(b->data + b->len, current->data, current->len);
	to = tap_out_cpu_text(to, (unsigned int)ev->cpu);
	to = mempcpy(to, "] ", 2);
	to = put_flags_of(to, k, ev);
	*to++ = ' ';
	for (unsigned int digits = tap_nr_digits(ev->ts_ns / 1000000000); digits < SECONDS_WIDTH;
	     digits++)
		*to++ = ' ';
	to = tap_out_time_text(to, ev->ts_ns);
	to = mempcpy(to, ": ", 2);
	to = mempcpy(to, k->label.data, k->label.len);
	b->len = (size_t)(to - b->data);
	tap_out_fields_text(o, k, ev);
	tap_buf_char(b, '\n');
}

/*
 * Write a line about lost events. Events that triggers had switched off are not lost, and the
 * kernel prints no line.
 */
static void ftrace_lost(struct tap_out *o, const struct tap_event *ev)
{
	if (ev->cpu < 0 || ev->lost.is_off)
		return;
	tap_buf_printf(&o->buf, "CPU:%d [LOST ", ev->cpu);
	if (ev->lost.count)
		tap_buf_printf(&o->buf, "%llu ", (unsigned long long)ev->lost.count);
	tap_buf_puts(&o->buf, "EVENTS]\n");
}

static const struct tap_style style = {
	.audience = TAP_FOR_PROGRAMS,
	.events =
		&(const struct tap_out_ops){
			.kind = ftrace_kind,
			.label = ftrace_label,
			.event = ftrace_event,
			.lost = ftrace_lost,
		},
};

static void put_head(struct tap_buf *b, const struct tap_run *run)
{
	const struct tap_survey *s = &run->survey;
	uint64_t written;

	if (__builtin_add_overflow(s->events, s->lost, &written))
		written = UINT64_MAX; /* a damaged file may claim any number of lost events */
	tap_buf_printf(b,
		       "# tracer: nop\n#\n# entries-in-buffer/entries-written: %llu/%llu   #P:%u\n",
		       (unsigned long long)s->events, (unsigned long long)written,
		       tap_reader_info(run->rec.reader)->nr_cpus);
	tap_buf_puts(b, "#\n"
			"#                                          _-----=> irqs-off/BH-disabled\n"
			"#                                         / _----=> need-resched\n"
			"#                                        | / _---=> hardirq/softirq\n"
			"#                                        || / _--=> preempt-depth\n"
			"#                                        ||| / _-=> migrate-disable\n"
			"#                                        |||| /     delay\n"
			"#           TASK-PID      TGID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
			"#              | |          |        |   |||||     |         |\n");
}

static int write_ftrace(struct tap_export *e, struct tap_err *err)
{
	struct tap_buf head = { 0 };
	int ret = tap_run_survey(&e->run, err);

	if (!ret) {
		put_head(&head, &e->run);
		ret = tap_export_write_events(e, &style, &head, err);
	}
	tap_buf_release(&head);
	return ret;
}

const struct tap_export_form tap_export_ftrace = {
	.name = "ftrace",
	.check = tap_export_check_events,
	.write = write_ftrace,
};
