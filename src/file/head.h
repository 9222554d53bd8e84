/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stands in front of the data: of a trace.dat, and alone in the head.dat of a spool folder. */
#ifndef TAP_FILE_HEAD_H
#define TAP_FILE_HEAD_H

#include <stddef.h>

/* The buffer of marks (events/mark.h), which are no CPU's: it has one page file. */
#define TAP_HEAD_MARKS "marks"

/* One event's format text. */
struct tap_head_format {
	const char *system;
	const char *text;
	size_t len;
};

/* All that a trace.dat needs beside the data. Strings are borrowed by whom it is given to. */
struct tap_head {
	/* texts of tracefs, or what tap_head_defaults() set */
	const char *header_page, *header_event;
	const struct tap_head_format *formats;
	unsigned int nr_formats;
	const char *uname;
	const char *tool;
	const char *cmdlines; /* "pid comm\n" lines */
	const char *meta; /* JSON */
	const char *clock; /* "mono" */
	const char *printk; /* printk_formats text, or "" */
	const char *kallsyms; /* the kernel's symbols, as /proc/kallsyms, or "" */
	unsigned int nr_cpus;
};

#endif
