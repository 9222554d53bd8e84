/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events, as `dump` prints them: what a style (page.h) has for them is one struct tap_out_ops,
 * which adds to a buffer; tap_out_event() writes that out in big blocks. Names from the kernel are
 * hostile: each style escapes or quotes them in its own way.
 */
#ifndef TAP_OUT_H
#define TAP_OUT_H

#include "event/print/print.h"
#include "timeline/run/event_kind.h"
#include "timeline/run/frames.h"
#include "timeline/run/identity.h"
#include "show/out/page.h"

struct tap_out;

/* What is kept per kind of event: made once, by the format's kind(). */
struct tap_out_kind {
	const struct tap_event_kind *kind; /* borrowed */
	struct tap_printer *printer; /* NULL where the format prints no text of events */
	struct tap_buf label; /* what stands between the time and the fields */
	struct tap_buf *keys; /* of JSON: "name":, one per field that is not common */
	unsigned int nr_keys;
	/* of ftrace's text; NULL: the record does not have them */
	const struct tap_field *flags, *preempt_count;
	bool is_stack;
};

struct tap_out_ops {
	void (*begin)(struct tap_out *o); /* or NULL */
	/* @name: "system:event", as the kernel has it. */
	int (*kind)(const struct tap_out *o, struct tap_out_kind *k, const struct tap_buf *name);
	/* Makes the task as this format shows it. */
	void (*label)(const struct tap_out *o, struct tap_buf *label, const struct tap_task *task);
	void (*event)(struct tap_out *o, const struct tap_out_kind *k, const struct tap_event *ev,
		      const struct tap_buf *current);
	void (*lost)(struct tap_out *o, const struct tap_event *ev);
};

/* A task, as it is shown: made again when it is known as another. */
struct tap_out_label {
	struct tap_buf text;
	int tid, tgid;
	char comm[TAP_TASK_COMM];
};

struct tap_out {
	const struct tap_style *style;
	struct tap_identities *ids; /* borrowed */
	const struct tap_reader *reader; /* borrowed, or NULL */
	/* the recording's description, borrowed; NULL after tap_out_init(): it has none */
	const json_t *meta;
	struct tap_wall *wall; /* borrowed */
	int fd;
	/* Where it goes instead, and then is empty; NULL after tap_out_init(). Return: 0; -errno.
	 */
	int (*write)(void *ctx, struct tap_buf *b);
	void *ctx;
	bool color; /* of text; false after tap_out_init() */
	struct tap_buf buf, scratch;
	struct tap_symbols *symbols; /* of the recording, owned; made with the first printer */
	struct tap_frames frames; /* of the last stack */
	struct tap_out_kind **kinds; /* by tap_event_kind.index, owned */
	unsigned int nr_kinds;
	struct tap_out_label *labels; /* by tap_task.index */
	unsigned int nr_labels;
	struct tap_out_label other; /* of the last one that is not in the timeline: idle, mostly */
};

/*
 * @ids must outlive @o. @reader: whose events they are, or NULL. @wall: how times are shown, as
 * tables show them (table.h).
 */
void tap_out_init(struct tap_out *o, const struct tap_style *style, struct tap_identities *ids,
		  const struct tap_reader *reader, struct tap_wall *wall, int fd);
void tap_out_release(struct tap_out *o); /* what is not flushed is dropped */
/* @kind: of ev->fmt; NULL for a loss. Return: 0; -ENOMEM; -errno of write. */
int tap_out_event(struct tap_out *o, const struct tap_event_kind *kind, const struct tap_event *ev);
int tap_out_flush(struct tap_out *o);

/* Of styles for people: "            comm-tid    ". */
void tap_out_task_text(struct tap_buf *b, const struct tap_task *task);
/* "seconds.nanoseconds", 30 bytes at most. Return: behind it. */
char *tap_out_time_text(char *to, uint64_t ts_ns);
/* The CPU, three digits at least, 10 at most. Return: behind it. */
char *tap_out_cpu_text(char *to, unsigned int cpu);
/* The fields, as their print format has them, and nothing in them that a terminal obeys. */
void tap_out_fields_text(struct tap_out *o, const struct tap_out_kind *k,
			 const struct tap_event *ev);

/* "120 events lost between A and B", without a newline. */
void tap_out_lost_text(struct tap_buf *b, struct tap_wall *wall, const struct tap_event *ev);

#endif
