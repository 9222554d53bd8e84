// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/tries.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/bpf/stats.h"
#include "record/module/load.h"
#include "record/session/session.h"
#include "record/tracefs/instance.h"
#include "record/tracefs/tracefs.h"
#include "cli/define.h"
#include "cli/own_probe.h"

#define SELF "/proc/self/exe"

static int try_stats(struct tap_err *err)
{
	int fd = tap_bpf_stats_open(err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

const struct tap_try_row tap_tries[] = {
	[TAP_TRY_BPF] = { "BPF",
			  "events on the kernel's tracepoints: switches, wakeups, migrations, ...",
			  .backend = "bpf", .event = "sched_waking" },
	[TAP_TRY_BARE] = { "bare tracepoints",
			   "events that tracefs does not have: PELT, run queues, ...",
			   .backend = "bpf", .event = "sched_pelt_cfs" },
	[TAP_TRY_OWN] = { "own events", "-e 'TRACEPOINT{FIELD, ...}', --define", .backend = "bpf",
			  .event = "sched_waking{pid=p->pid}" },
	[TAP_TRY_STACKS] = { "stacks", "--stack, over BPF", .backend = "bpf",
			     .event = "sched_waking", .stack = "sched_waking:both" },
	[TAP_TRY_TASKS] = { "tasks", "-p and -t, over BPF", .backend = "bpf",
			    .event = "sched_waking" },
	[TAP_TRY_UPROBE] = { "uprobes", "functions of programs: -e uprobe:PATH:FUNCTION",
			     .backend = "bpf", .event = "uprobe:" SELF ":" TAP_OWN_PROBE_FUNCTION },
	[TAP_TRY_URETPROBE] = { "uretprobes",
				"returns of programs' functions: -e uretprobe:PATH:FUNCTION",
				.backend = "bpf",
				.event = "uretprobe:" SELF ":" TAP_OWN_PROBE_FUNCTION },
	[TAP_TRY_USDT] = { "USDT probes", "-e usdt:PATH:PROVIDER:NAME", .backend = "bpf",
			   .event = "usdt:" SELF ":" TAP_OWN_PROBE_USDT },
	[TAP_TRY_TRACEFS] = { "tracefs", "all other events of the kernel", .backend = "tracefs",
			      .event = "sched:sched_waking" },
	[TAP_TRY_TRACEFS_STACKS] = { "tracefs stacks", "--stack, over tracefs",
				     .backend = "tracefs", .event = "sched:sched_waking",
				     .stack = "sched_waking" },
	[TAP_TRY_PROGRAMS] = { "programs' events",
			       "tracepoints of programs (libschedtap-tracepoint)",
			       .backend = "user", .event = "*:*" },
	[TAP_TRY_OVERHEAD] = { "overhead", "the overhead of the BPF programs in the recording",
			       .try = try_stats },
	[TAP_TRY_PRIORITY] = { "priority", "-r: no events are lost while the machine is busy",
			       .backend = "user", .event = "*:*", .priority = 40 },
	[TAP_TRY_MODULE] = { "kernel module",
			     "schedtap module: the events for trace-cmd, perf and bpftrace",
			     .try = tap_module_try },
};

static int try_recording(const struct tap_try_row *t, const struct tap_select *select,
			 const struct tap_cli_defs *own, struct tap_err *err)
{
	const char *stack = t->stack;
	const struct tap_strings stacks = { &stack, !!stack };
	const struct tap_session_opts opts = {
		.select = select,
		.own = &own->defs,
		.kernel = own->kernel,
		.backend = t->backend,
		.stacks = &stacks,
		.priority = t->priority,
		.buffer_bytes = 4096,
	};
	struct tap_session *session;
	int ret = tap_session_open(&opts, &session, err);

	/* Do not start programs' events: all instrumented programs would be affected. */
	if (!ret && t != &tap_tries[TAP_TRY_PROGRAMS] && t != &tap_tries[TAP_TRY_PRIORITY])
		ret = tap_session_try(session, err);
	tap_session_free(session);
	return ret;
}

static int try_one(const struct tap_try_row *t, struct tap_err *err)
{
	char pid[16];
	const char *event = t->event, *self = pid;
	struct tap_select_words words = { .events = { &event, 1 } };
	struct tap_cli_defs own = { 0 };
	struct tap_select *select = NULL;
	int ret;

	if (t->try)
		return t->try(err);
	snprintf(pid, sizeof(pid), "%d", getpid());
	if (t == &tap_tries[TAP_TRY_TASKS])
		words.tgids = (struct tap_strings){ &self, 1 };
	ret = tap_cli_define(&own, &(struct tap_strings){ 0 }, &words, err)
		      ?: tap_select_read(&words, &select, err);
	ret = ret ?: try_recording(t, select, &own, err);
	tap_select_free(select);
	tap_cli_defs_release(&own);
	return ret;
}

/*
 * Run all checks in the child. It has its own session, so that signals from the terminal do not
 * reach it. It exits early if the parent is gone.
 */
static void try_each(int to)
{
	setsid();
	signal(SIGPIPE, SIG_IGN);
	for (unsigned int i = 0; i < TAP_NR_TRIES; i++) {
		struct tap_err result = { 0 };

		try_one(&tap_tries[i], &result);
		if (write(to, &result, sizeof(result)) != sizeof(result))
			break;
	}
	_exit(0);
}

/* Remove the tracefs instances that a killed child left. */
static void sweep_instances(void)
{
	char *root;

	if (!tap_tracefs_find(TAP_TRACEFS_MOUNTS, &root, NULL))
		tap_instance_sweep(root);
	free(root);
}

int tap_try_all(struct tap_err results[TAP_NR_TRIES], struct tap_err *err)
{
	int fds[2], status = 0;
	pid_t child;

	if (pipe(fds))
		return tap_err_set(err, -errno, "cannot make a pipe: %m");
	fflush(stdout);
	child = fork();
	if (!child) {
		close(fds[0]);
		try_each(fds[1]);
	}
	close(fds[1]);
	for (unsigned int i = 0; i < TAP_NR_TRIES; i++)
		if (child < 0 ||
		    read(fds[0], &results[i], sizeof(results[i])) != sizeof(results[i]))
			tap_err_set(&results[i], -EIO,
				    "the process that tried to record it was killed");
	close(fds[0]);
	if (child < 0)
		return tap_err_set(err, -errno, "cannot fork: %m");
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		sweep_instances();
	return 0;
}
