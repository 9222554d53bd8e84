/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A command: what `schedtap NAME` runs, and its options. */
#ifndef TAP_BASE_CMD_H
#define TAP_BASE_CMD_H

#include "base/opt.h"

/* The recording that commands read if none is named. */
#define TAP_INPUT_DEFAULT "trace.dat"
/* .operands of a command that reads recordings: main.c stores each FILE as if -i FILE was given. */
#define TAP_CMD_FILE "[FILE...]"
/*
 * .operands of a command that accepts a task before the files: main.c stores a TID as -t TID and a
 * COMM as -c COMM.
 */
#define TAP_CMD_TASK "[TASK] [FILE...]"
/* .operands of a command that takes a model before the files: main.c stores it as -m MODEL. */
#define TAP_CMD_MODEL "MODEL [FILE...]"
/*
 * .operands of a command that runs a program: the program's name (or "--" before it) starts @rest.
 */
#define TAP_CMD_COMMAND "[[--] CMD [ARG...]]"

struct tap_cmd {
	const char *name;
	const char *help; /* one line of at most 60 characters, lower case */
	/* its exit codes for the man page; NULL: the exit codes of a report */
	const char *exits;
	const char *operands; /* "[GLOB]", "-- CMD", or NULL if the command takes no operands */
	const char *example; /* a command line that the tests run */
	const struct tap_opt *opts;
	size_t opts_size;
	const void *defaults; /* opts_size bytes, or NULL: all zero */
	bool hidden; /* not listed by `schedtap help`: used by completion and tests */
	/*
	 * Run the command and return its exit code. tap_opt_parse() sets @operands and @rest. NULL
	 * for a report, whose functions are in a struct tap_report_type (show/report/report.h).
	 */
	int (*run)(void *opts, const struct tap_strings *operands, char **rest);
};

/*
 * Option rows that several commands share: a letter means the same in every command. @T is the
 * command's options struct and @m the member that stores the value: a const char * for
 * TAP_OPT_OUTPUT, TAP_OPT_CPUS, TAP_OPT_WINDOW and TAP_OPT_CLOCK, a bool for TAP_OPT_WIDE, a struct
 * tap_filters for TAP_OPT_FILTER, and a struct tap_strings for all others.
 */
#define TAP_OPTION(T, m, name_, letter_, arg_, type_, help_)                                       \
	{                                                                                          \
		.name = name_, .letter = letter_, .arg = arg_, .help = help_, .type = type_,       \
		.offset = offsetof(T, m),                                                          \
	}
#define TAP_OPT_INPUT(T, m)                                                                        \
	TAP_OPTION(T, m, "input", 'i', "FILE", TAP_OPT_STRINGS,                                    \
		   "read this recording (-: standard input), or this .spool folder of an "         \
		   "unfinished recording; "                                                        \
		   "repeatable for the "                                                           \
		   "files of one recorder, which are read as one recording [trace.dat]")
#define TAP_OPT_OUTPUT(T, m, default_)                                                             \
	TAP_OPTION(T, m, "output", 'o', "FILE", TAP_OPT_STRING, "write to this file [" default_ "]")
#define TAP_OPT_EVENT_HELP                                                                         \
	"only these events: a name, group, system or SYSTEM:NAME, or a glob; repeatable"
#define TAP_OPT_EVENTS(T, m)                                                                       \
	TAP_OPTION(T, m, "event", 'e', "EVENT", TAP_OPT_STRINGS, TAP_OPT_EVENT_HELP)
/* @m: a struct tap_filters; @events: the member that TAP_OPT_EVENTS() stores to. */
#define TAP_OPT_FILTER(T, m, events)                                                               \
	{                                                                                          \
		.name = "filter", .letter = 'f', .arg = "FILTER", .type = TAP_OPT_FILTERS,         \
		.help = "filter the events of the preceding -e, such as 'prev_pid == 42 && delay " \
			"> 5ms'; "                                                                 \
			"repeatable",                                                              \
		.offset = offsetof(T, m), .of = offsetof(T, events),                               \
	}
#define TAP_OPT_DEFINE(T, m)                                                                       \
	TAP_OPTION(T, m, "define", 0, "FILE", TAP_OPT_STRINGS,                                     \
		   "add events that this header defines in the kernel's TRACE_EVENT() syntax; "    \
		   "repeatable")
#define TAP_OPT_FROM_WAKING(T, m)                                                                  \
	TAP_OPTION(T, m, "from-waking", 0, NULL, TAP_OPT_FLAG,                                     \
		   "let waits begin at the waking, not at the queueing; runs a second program "    \
		   "at each waking")
#define TAP_OPT_PIDS(T, m)                                                                         \
	TAP_OPTION(T, m, "pid", 'p', "PID", TAP_OPT_STRINGS,                                       \
		   "only the threads of this process; repeatable")
#define TAP_OPT_TIDS(T, m)                                                                         \
	TAP_OPTION(T, m, "tid", 't', "TID", TAP_OPT_STRINGS, "only this thread; repeatable")
#define TAP_OPT_COMMS(T, m)                                                                        \
	TAP_OPTION(T, m, "comm", 'c', "COMM", TAP_OPT_STRINGS,                                     \
		   "only threads whose name matches this glob; repeatable")
#define TAP_OPT_CGROUPS(T, m)                                                                      \
	TAP_OPTION(T, m, "cgroup", 'g', "CGROUP", TAP_OPT_STRINGS,                                 \
		   "only threads in or below the cgroups that match this glob; repeatable")
#define TAP_OPT_CPUS(T, m)                                                                         \
	TAP_OPTION(T, m, "cpus", 'C', "CPUS", TAP_OPT_STRING, "only these CPUs, such as 0-3,8")
#define TAP_OPT_WINDOW(T, m)                                                                       \
	TAP_OPTION(T, m, "time", 0, "FROM,TO", TAP_OPT_STRING,                                     \
		   "only this time window: seconds on the recording's clock, +1s (after its "      \
		   "start), -10s "                                                                 \
		   "(before its end), 12:03:04.5 or 2026-11-20T12:03:04; FROM or TO may be left "  \
		   "out; or "                                                                      \
		   "@TIME+-DISTANCE")
#define TAP_OPT_CLOCK(T, m)                                                                        \
	TAP_OPTION(T, m, "clock", 0, "CLOCK", TAP_OPT_STRING,                                      \
		   "show times on the recording's clock (mono), as date and time (wall), or as "   \
		   "time of day "                                                                  \
		   "(tod) [mono]")
#define TAP_OPT_WIDE(T, m)                                                                         \
	TAP_OPTION(T, m, "wide", 0, NULL, TAP_OPT_FLAG,                                            \
		   "on a terminal: print all columns, even if lines do not fit")

#endif
