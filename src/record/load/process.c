// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The load's process: start it, and receive its result through a pipe. */
#include "record/load/load.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "record/load/parts.h"

const char tap_load_worker[] = "bench-worker", tap_load_messenger[] = "bench-messenger",
	   tap_load_hog[] = "bench-hog";

void tap_load_process_name(pid_t pid, char name[TAP_LOAD_COMM])
{
	snprintf(name, TAP_LOAD_COMM, "bench-%d", pid % 10000000);
}

void tap_load_name(const char *name)
{
	prctl(PR_SET_NAME, name);
}

void tap_load_result_release(struct tap_load_result *r)
{
	tap_hist_release(&r->request);
	tap_hist_release(&r->wakeup);
	tap_hist_release(&r->rate);
	free(r->cpu_ns);
	*r = (struct tap_load_result)TAP_LOAD_RESULT_INIT;
}

/* ---- the result's way through the pipe; both ends are the same program ---- */

struct sent_head {
	struct tap_err err; /* .code: 0: success */
	uint64_t from_ns, to_ns, operations;
	unsigned int nr_cpu_ns;
};

struct sent_bucket {
	uint64_t value, weight;
};

struct sent_hist {
	uint64_t count, min, max;
	unsigned __int128 sum;
	uint64_t nr; /* buckets that follow */
};

static void put_bucket(void *ctx, uint64_t from, uint64_t to, uint64_t weight)
{
	const struct sent_bucket bucket = { from, weight };

	(void)to;
	tap_buf_add(ctx, &bucket, sizeof(bucket));
}

static void put_hist(struct tap_buf *out, const struct tap_hist *h)
{
	struct sent_hist head = { h->count, h->min, h->max, h->sum, 0 };
	struct tap_buf buckets = { 0 };

	tap_hist_for_each(h, put_bucket, &buckets);
	head.nr = buckets.len / sizeof(struct sent_bucket);
	tap_buf_add(out, &head, sizeof(head));
	tap_buf_add(out, buckets.data, buckets.len);
	out->err = out->err ?: buckets.err;
	tap_buf_release(&buckets);
}

/* Move *@at after @size bytes, which are copied. Return: 0; -EBADMSG if there are fewer. */
static int take(struct tap_buf *in, size_t *at, void *to, size_t size)
{
	if (in->len - *at < size)
		return -EBADMSG;
	memcpy(to, in->data + *at, size);
	*at += size;
	return 0;
}

static int take_hist(struct tap_buf *in, size_t *at, struct tap_hist *h)
{
	struct sent_bucket bucket;
	struct sent_hist head;
	int ret = take(in, at, &head, sizeof(head));

	for (uint64_t i = 0; !ret && i < head.nr; i++)
		ret = take(in, at, &bucket, sizeof(bucket))
			      ?: tap_hist_add_weighted(h, bucket.value, bucket.weight);
	if (ret)
		return ret;
	h->min = head.min;
	h->max = head.max;
	h->sum = head.sum;
	return 0;
}

static int send_result(int fd, const struct tap_load_result *r, const struct tap_err *err)
{
	const struct sent_head head = { *err, r->from_ns, r->to_ns, r->operations, r->nr_cpu_ns };
	struct tap_buf out = { 0 };
	int ret;

	tap_buf_add(&out, &head, sizeof(head));
	tap_buf_add(&out, r->cpu_ns, r->nr_cpu_ns * sizeof(*r->cpu_ns));
	put_hist(&out, &r->request);
	put_hist(&out, &r->wakeup);
	put_hist(&out, &r->rate);
	ret = out.err ?: tap_write_all(fd, out.data, out.len);
	tap_buf_release(&out);
	return ret;
}

static int take_result(struct tap_buf *in, struct tap_load_result *r, struct tap_err *err)
{
	struct sent_head head;
	size_t at = 0;
	int ret = take(in, &at, &head, sizeof(head));

	if (ret)
		return tap_err_set(err, -ECHILD, "the load's process ended before its time");
	if (head.err.code)
		return tap_err_set(err, head.err.code, "%s", head.err.text);
	r->from_ns = head.from_ns;
	r->to_ns = head.to_ns;
	r->operations = head.operations;
	r->nr_cpu_ns = head.nr_cpu_ns;
	r->cpu_ns = calloc((size_t)head.nr_cpu_ns + 1, sizeof(*r->cpu_ns));
	if (!r->cpu_ns)
		return tap_err_nomem(err);
	ret = take(in, &at, r->cpu_ns, head.nr_cpu_ns * sizeof(*r->cpu_ns)) ?:
	      take_hist(in, &at, &r->request) ?:
	      take_hist(in, &at, &r->wakeup) ?:
	      take_hist(in, &at, &r->rate);
	return ret ? tap_err_set(err, ret, "cannot read the load's result: %s", strerror(-ret)) : 0;
}

/* ---- the process ---- */

/* Run the load in the child. It has its own process group, so that all of it can be killed. */
static void become_load(const struct tap_load_opts *opts, int fd)
{
	static int (*const runs[TAP_NR_LOADS])(struct tap_load * l, struct tap_err * err) = {
		[TAP_LOAD_MESSAGES] = tap_load_messages, [TAP_LOAD_PIPE] = tap_load_pipe,
		[TAP_LOAD_YIELD] = tap_load_threads,	 [TAP_LOAD_FORK] = tap_load_threads,
		[TAP_LOAD_HOG] = tap_load_threads,	 [TAP_LOAD_MIXED] = tap_load_messages,
		[TAP_LOAD_GROUPS] = tap_load_groups,
	};
	struct tap_load_result result = TAP_LOAD_RESULT_INIT;
	struct tap_load load = { .opts = opts, .result = &result };
	struct tap_err err = { 0 };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	tap_load_process_name(getpid(), load.process_name);
	tap_load_name(load.process_name);
	if (!runs[opts->kind](&load, &err))
		err.code = 0;
	_exit(send_result(fd, &result, &err) ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* Read until the child has closed the pipe. Return: 0; -EINTR if stopped; -errno. */
static int receive(int fd, const volatile sig_atomic_t *stopped, struct tap_buf *in)
{
	for (;;) {
		char block[4096];
		ssize_t len;

		if (*stopped)
			return -EINTR;
		len = read(fd, block, sizeof(block));
		if (len < 0 && errno != EINTR)
			return -errno;
		if (!len)
			return in->err;
		if (len > 0)
			tap_buf_add(in, block, (size_t)len);
	}
}

/* Kill what is left of the load, and get the CPU time that it used. */
static void reap(struct tap_load_result *r)
{
	struct rusage usage = { 0 };

	while (wait4(r->pid, NULL, 0, &usage) < 0 && errno == EINTR)
		;
	r->used_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
		     (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

int tap_load_run(const struct tap_load_opts *opts, const volatile sig_atomic_t *stopped,
		 struct tap_load_result *r, struct tap_err *err)
{
	struct tap_buf in = { 0 };
	int fds[2], ret;

	if (pipe2(fds, O_CLOEXEC))
		return tap_err_set(err, -errno, "cannot make a pipe: %m");
	r->pid = fork();
	if (!r->pid) {
		close(fds[0]);
		become_load(opts, fds[1]);
	}
	close(fds[1]);
	if (r->pid < 0) {
		close(fds[0]);
		return tap_err_set(err, -errno, "cannot fork: %m");
	}
	setpgid(r->pid, r->pid); /* the child sets it, too: neither waits for the other */
	ret = receive(fds[0], stopped, &in);
	if (ret)
		kill(-r->pid, SIGKILL);
	close(fds[0]);
	reap(r);
	ret = ret ? tap_err_set(err, ret, "cannot run the load: %s", strerror(-ret))
		  : take_result(&in, r, err);
	tap_buf_release(&in);
	return ret;
}
