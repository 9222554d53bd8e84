/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event output, as `dump` prints it. A style (page.h) formats events through its struct
 * tap_out_ops, which appends to a buffer; tap_out_event() writes the buffer out in big blocks.
 * Names from the kernel are untrusted: each style escapes or quotes them in its own way.
 */
#ifndef TAP_OUT_H
#define TAP_OUT_H

#include "event/print/print.h"
#include "timeline/run/event_kind.h"
#include "timeline/run/frames.h"
#include "timeline/run/identity.h"
#include "show/out/page.h"

struct tap_out;

/* Cached data of one kind of event. The style's kind() fills it in once. */
struct tap_out_kind {
	const struct tap_event_kind *kind; /* borrowed */
	struct tap_printer *printer; /* NULL if the style does not print the event's text */
	struct tap_buf label; /* the text between the time and the fields */
	struct tap_buf *keys; /* JSON only: "name":, one per field that is not common */
	unsigned int nr_keys;
	/* ftrace's text only; NULL: the record lacks the field */
	const struct tap_field *flags, *preempt_count;
	bool is_stack;
};

struct tap_out_ops {
	void (*begin)(struct tap_out *o); /* or NULL */
	/* Fill in @k for a new kind of event. @name: "system:event", as the kernel names it. */
	int (*kind)(const struct tap_out *o, struct tap_out_kind *k, const struct tap_buf *name);
	/* Append the task as this style shows it. */
	void (*label)(const struct tap_out *o, struct tap_buf *label, const struct tap_task *task);
	void (*event)(struct tap_out *o, const struct tap_out_kind *k, const struct tap_event *ev,
		      const struct tap_buf *current);
	void (*lost)(struct tap_out *o, const struct tap_event *ev);
};

/* Cached label of a task, built again when the task's tid, tgid or comm has changed. */
struct tap_out_label {
	struct tap_buf text;
	int tid, tgid;
	char comm[TAP_TASK_COMM];
};

struct tap_out {
	const struct tap_style *style;
	struct tap_identities *ids; /* borrowed */
	const struct tap_reader *reader; /* borrowed, or NULL */
	/* the recording's description, borrowed; NULL: it has none. tap_out_init() sets NULL. */
	const json_t *meta;
	struct tap_wall *wall; /* borrowed */
	int fd;
	/*
	 * Optional sink instead of .fd; it must empty the buffer. tap_out_init() sets NULL. Return:
	 * 0; -errno.
	 */
	int (*write)(void *ctx, struct tap_buf *b);
	void *ctx;
	bool color; /* use colors; only in text. tap_out_init() sets false */
	struct tap_buf buf, scratch;
	/* the recording's symbols, owned; created with the first printer */
	struct tap_symbols *symbols;
	struct tap_frames frames; /* frames of the last stack */
	struct tap_out_kind **kinds; /* indexed by tap_event_kind.index, owned */
	unsigned int nr_kinds;
	struct tap_out_label *labels; /* indexed by tap_task.index */
	unsigned int nr_labels;
	/* label of the last task that the timeline does not track, mostly idle */
	struct tap_out_label other;
};

/*
 * Prepare @o to write to @fd. @ids must outlive @o. @reader: the reader that the events come from,
 * or NULL.
 * @wall: how times are shown, as for tables (table.h).
 */
void tap_out_init(struct tap_out *o, const struct tap_style *style, struct tap_identities *ids,
		  const struct tap_reader *reader, struct tap_wall *wall, int fd);
void tap_out_release(struct tap_out *o); /* drops output that has not been flushed */
/*
 * Print one event. @kind: the kind of ev->fmt; NULL if @ev reports lost events. Return: 0; -ENOMEM;
 * -errno of write.
 */
int tap_out_event(struct tap_out *o, const struct tap_event_kind *kind, const struct tap_event *ev);
int tap_out_flush(struct tap_out *o);

/* For styles that people read: append "            comm-tid    ". */
void tap_out_task_text(struct tap_buf *b, const struct tap_task *task);
/* Write "seconds.nanoseconds", at most 30 bytes. Return: the address after the last byte. */
char *tap_out_time_text(char *to, uint64_t ts_ns);
/*
 * Write the CPU number with at least 3 and at most 10 digits. Return: the address after the last
 * byte.
 */
char *tap_out_cpu_text(char *to, unsigned int cpu);
/*
 * Append the event's fields as its print format defines them, with terminal control characters
 * escaped.
 */
void tap_out_fields_text(struct tap_out *o, const struct tap_out_kind *k,
			 const struct tap_event *ev);

/* Append "120 events lost between A and B", without a newline. */
void tap_out_lost_text(struct tap_buf *b, struct tap_wall *wall, const struct tap_event *ev);

#endif
