// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Loads a scheduler of scx.bpf.c (noted, impatient) while a command runs, and writes what it noted:
 * a line each.
 *
 * usage: scx OBJECT SCHEDULER NOTES CMD [ARGS]
 *        scx held    has a child that the scheduler keeps once it has slept
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/types.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "scx.h"

static int fail(const char *what, int err)
{
	fprintf(stderr, "scx: %s: %s\n", what, strerror(err < 0 ? -err : err));
	return 1;
}

static int write_note(void *to, void *data, size_t size)
{
	static const char *const what[] = { [SCX_ENQUEUED] = "enqueued", [SCX_WEIGHT] = "weight" };
	const struct scx_note *n = data;

	(void)size;
	fprintf(to,
		"%s ts_ns=%" PRIu64 " tid=%u dsq=%" PRIu64 " slice=%" PRIu64 " vtime=%" PRIu64
		" nr=%u weight=%u\n",
		what[n->what], (uint64_t)n->ts_ns, n->tid, (uint64_t)n->dsq, (uint64_t)n->slice,
		(uint64_t)n->vtime, n->nr, n->weight);
	return 0;
}

static int write_notes(struct bpf_object *o, const char *path)
{
	FILE *to = fopen(path, "w");
	struct ring_buffer *rb;

	if (!to)
		return fail(path, errno);
	rb = ring_buffer__new(bpf_object__find_map_fd_by_name(o, "notes"), write_note, to, NULL);
	if (!rb)
		return fail("notes", errno);
	ring_buffer__consume(rb);
	ring_buffer__free(rb);
	return fclose(to) ? fail(path, errno) : 0;
}

static int run(char **command)
{
	int status, pid = fork();

	if (pid < 0)
		return fail("fork", errno);
	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Run a task called "held", which the scheduler keeps out of its queues. It is SCHED_FIFO until it
 * sleeps: as a sched_ext task it might be kept when it is preempted, which is not a wakeup. */
static int be_held(void)
{
	const struct sched_param fifo = { .sched_priority = 1 }, other = { 0 };
	int pid;

	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return fail("SCHED_FIFO", errno);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_NAME, "held");
		_exit(!!usleep(900000));
	}
	usleep(300000);
	if (pid < 0 || sched_setscheduler(pid, SCHED_OTHER, &other))
		return fail("SCHED_OTHER", errno);
	waitpid(pid, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *o;
	struct bpf_link *link;
	int ret;

	if (argc == 2)
		return be_held();
	if (argc < 5)
		return fail("usage: scx OBJECT SCHEDULER NOTES CMD [ARGS]", EINVAL);
	o = bpf_object__open_file(argv[1], NULL);
	if (!o)
		return fail(argv[1], errno);
	/* queues are made in a program that may sleep, for which libbpf 1.1 has no word */
	bpf_program__set_flags(bpf_object__find_program_by_name(o, "init"), BPF_F_SLEEPABLE);
	ret = bpf_object__load(o);
	if (ret)
		return fail("load", ret);
	link = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(o, argv[2]));
	if (!link)
		return fail("attach", errno);
	ret = run(argv + 4);
	bpf_link__destroy(link);
	ret = write_notes(o, argv[3]) ?: ret;
	bpf_object__close(o);
	return ret;
}
