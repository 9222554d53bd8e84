// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which command lines of older recorders say to which tasks a recording is limited, and which do
 * not. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "timeline/run/limits_command.h"
#include "main_of_cases.h"

#define TASKS "\"tasks\":[[100,100,\"a\",null,\"both\"],[101,100,\"a\",null,\"both\"]]"
#define SWITCH(more)                                                                               \
	"\"events\":[{\"system\":\"sched\",\"name\":\"sched_switch\"" more "},"                    \
	"{\"system\":\"sched\",\"name\":\"sched_migrate_task\"" more "}]"
#define META(words, more)                                                                          \
	"{\"tool\":\"schedtap 0.1\",\"command_line\":[\"schedtap\",\"record\"," words              \
	"]," TASKS more "}"
#define ONLY(p, t, c, more)                                                                        \
	"{\"cgroups\":[]," more "\"names\":[" c "],\"processes\":[" p "],\"threads\":[" t "]}"

static const struct command_case {
	const char *name, *meta, *want; /* want: keys in order; NULL: nothing */
} cases[] = {
	{ "no option", META("\"-o\",\"x\"", ""), NULL },
	{ "a name", META("\"-c\",\"job\"", ""), ONLY("", "", "\"job\"", "") },
	{ "several, in each spelling",
	  META("\"-cjob\",\"--comm\",\"b*\",\"--comm=c\",\"-p100\"", ""),
	  ONLY("\"100\"", "", "\"job\",\"b*\",\"c\"", "") },
	{ "a value that looks like an option", META("\"-o\",\"-c\",\"-t\",\"101\"", ""),
	  ONLY("", "\"101\"", "", "") },
	{ "the command's own options", META("\"-d\",\"1\",\"--\",\"sh\",\"-c\",\"true\"", ""),
	  NULL },
	{ "a command without --", META("\"sh\",\"-c\",\"true\"", ""), NULL },
	{ "children", META("\"-p\",\"100\",\"--follow\"", ""),
	  ONLY("\"100\"", "", "", "\"follow\":true,") },
	{ "a number that no task has", META("\"-p\",\"7\"", ""), NULL },
	{ "a thread is no process", META("\"-p\",\"101\"", ""), NULL },
	{ "not known to whom: a cgroup", META("\"-c\",\"job\",\"-g\",\"/a\"", ""), NULL },
	{ "CPUs", META("\"-C\",\"0,2\"", ""),
	  "{\"cgroups\":[],\"cpus\":\"0,2\",\"names\":[],\"processes\":[],\"threads\":[]}" },
	{ "a name on some CPUs", META("\"-c\",\"job\",\"-C0\"", ""),
	  "{\"cgroups\":[],\"cpus\":\"0\",\"names\":[\"job\"],\"processes\":[],\"threads\":[]}" },
	{ "an option of another version", META("\"-c\",\"job\",\"--new\"", ""), NULL },
	{ "over BPF", META("\"-p\",\"100\"", "," SWITCH(",\"backend\":\"bpf\"")),
	  ONLY("\"100\"", "", "", "") },
	{ "over tracefs children come, and migrations are missing",
	  META("\"-p\",\"100\"", "," SWITCH(",\"backend\":\"tracefs\"")),
	  ONLY("\"100\"", "", "", "\"follow\":true,\"lacks_migrations\":true,") },
	{ "over tracefs, by name", META("\"-c\",\"job\"", "," SWITCH(",\"backend\":\"tracefs\"")),
	  ONLY("", "", "\"job\"", "") },
	{ "not all of them: filters",
	  META("\"-c\",\"job\"", "," SWITCH(",\"filter\":\"prev_pid > 3\"")), NULL },
	{ "not all of them: triggers",
	  META("\"-c\",\"job\"", ",\"triggers\":[\"sched_switch: traceoff\"]"), NULL },
	{ "another program's",
	  "{\"tool\":\"other\",\"command_line\":[\"schedtap\",\"record\",\"-c\",\"job\"]}", NULL },
	{ "another command's",
	  "{\"tool\":\"schedtap 0.1\",\"command_line\":[\"schedtap\",\"ab\",\"-c\",\"job\"]}",
	  NULL },
	{ "words that are none",
	  "{\"tool\":\"schedtap 0.1\",\"command_line\":[\"schedtap\",\"record\",7,\"-c\"]}", NULL },
	{ "a value is missing",
	  "{\"tool\":\"schedtap 0.1\",\"command_line\":[\"schedtap\",\"record\",\"-c\"]}", NULL },
};

static void run_case(void **state)
{
	const struct command_case *c = *state;
	json_t *meta = json_loads(c->meta, 0, NULL), *only;
	char *got;

	assert_non_null(meta);
	only = tap_limits_of_command(meta);
	got = only ? json_dumps(only, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	if (c->want)
		assert_string_equal(got ? got : "nothing", c->want);
	else
		assert_null(got);
	free(got);
	json_decref(only);
	json_decref(meta);
}

MAIN_OF_CASES(cases, run_case)
