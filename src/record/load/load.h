/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads for `schedtap bench`: tasks that wake each other, and what they measure themselves with
 * CLOCK_MONOTONIC. A load runs in a child process, so its threads and its memory are gone when it
 * ends.
 */
#ifndef TAP_RECORD_LOAD_H
#define TAP_RECORD_LOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/hist.h"
#include <schedtap/err.h>

enum tap_load_kind {
	/* messengers wake workers, each of which works and asks for the next message (schbench) */
	TAP_LOAD_MESSAGES,
	TAP_LOAD_PIPE, /* two processes wake each other through pipes (perf bench sched pipe) */
	TAP_LOAD_YIELD, /* threads that call sched_yield() */
	TAP_LOAD_FORK, /* fork a process that exits, and wait for it */
	TAP_LOAD_HOG, /* threads that never sleep */
	TAP_LOAD_MIXED, /* TAP_LOAD_MESSAGES, with a hog for each CPU */
	/*
	 * in each group every sender sends 100 bytes to every receiver, 100 times, over sockets
	 * (hackbench, perf bench sched messaging); ends when all is received
	 */
	TAP_LOAD_GROUPS,
	TAP_NR_LOADS,
};

#define TAP_LOAD_COMM 16

struct tap_load_opts {
	enum tap_load_kind kind;
	/*
	 * messages, mixed: workers of each messenger; groups: senders of each group, and as many
	 * receivers; yield, hog: threads; fork: threads that fork
	 */
	unsigned int threads;
	unsigned int messengers; /* groups: number of groups */
	uint64_t duration_ns, warm_up_ns; /* groups: not used */
	/* the work of a request: this many products of square matrices of this size */
	uint64_t products;
	unsigned int matrix;
	/*
	 * messages, mixed: sleep this long before the work, and let the request latency begin
	 * after the wakeup, as schbench does
	 */
	uint64_t sleep_ns;
	bool like_schbench;
};

/* What a load measured from .from_ns to .to_ns (CLOCK_MONOTONIC). All zero: empty. */
struct tap_load_result {
	pid_t pid; /* the load's process */
	uint64_t from_ns, to_ns;
	uint64_t operations;
	/*
	 * messages: from the wakeup to the end of the work; pipe: a round trip; yield: a call;
	 * fork: from the fork until the child was reaped
	 */
	struct tap_hist request;
	/*
	 * from just before the system call that wakes a task until that task runs; fork: until the
	 * child's first instruction; empty for yield, hog and groups
	 */
	struct tap_hist wakeup;
	struct tap_hist rate; /* operations per second, a value per second */
	uint64_t *cpu_ns; /* owned; hog: CPU time of each thread */
	unsigned int nr_cpu_ns;
	/* of the load's process and its children, also outside of .from_ns to .to_ns */
	uint64_t used_ns;
};

#define TAP_LOAD_RESULT_INIT                                                                       \
	{                                                                                          \
		.request = TAP_HIST_INIT, .wakeup = TAP_HIST_INIT, .rate = TAP_HIST_INIT           \
	}

void tap_load_result_release(struct tap_load_result *r);

/* Return: how many products of matrices of this size take @ns of an undisturbed CPU; at least 1. */
uint64_t tap_load_calibrate(unsigned int matrix, uint64_t ns);

/*
 * Run a load to its end. @stopped: the load is stopped early when it is not 0, which a signal
 * handler sets. @r: TAP_LOAD_RESULT_INIT. Return: 0; -EINTR: stopped; -errno with a sentence. The
 * caller releases @r in either case.
 */
int tap_load_run(const struct tap_load_opts *opts, const volatile sig_atomic_t *stopped,
		 struct tap_load_result *r, struct tap_err *err);

/*
 * The names of a load's tasks, by which a recording shows them. Threads of the load's process have
 * the role's name, and other processes of the load that of the process.
 */
extern const char tap_load_worker[], tap_load_messenger[], tap_load_hog[];
void tap_load_process_name(pid_t pid, char name[TAP_LOAD_COMM]);

#endif
