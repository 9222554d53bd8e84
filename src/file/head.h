/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The head of a recording: everything before the event data of a trace.dat, also stored alone as
 * head.dat in a spool folder.
 */
#ifndef TAP_FILE_HEAD_H
#define TAP_FILE_HEAD_H

#include <stddef.h>

/* The buffer of marks (events/mark.h). Marks belong to no CPU, so it has a single page file. */
#define TAP_HEAD_MARKS "marks"

/* One event's format text. */
struct tap_head_format {
	const char *system;
	const char *text;
	size_t len;
};

/* The data that a trace.dat needs besides the events. All strings are borrowed. */
struct tap_head {
	/* tracefs texts, or those of tap_head_defaults() */
	const char *header_page, *header_event;
	const struct tap_head_format *formats;
	unsigned int nr_formats;
	const char *uname;
	const char *tool;
	const char *cmdlines; /* "pid comm\n" lines */
	const char *meta; /* JSON */
	const char *clock; /* "mono" */
	const char *printk; /* printk_formats text, or "" */
	const char *kallsyms; /* kernel symbols, as in /proc/kallsyms, or "" */
	unsigned int nr_cpus;
};

#endif
