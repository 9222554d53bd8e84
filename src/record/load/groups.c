// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Groups of senders and receivers, as in hackbench and `perf bench sched messaging`. Each is a
 * process. In each group every sender sends to every receiver, and the time is measured until all
 * processes have ended.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "record/load/parts.h"

#define MESSAGE_BYTES 100u
#define LOOPS 100u

struct hall {
	struct tap_load *load;
	int ready[2]; /* each process writes a byte when it could begin */
	int start[2]; /* closed when all begin */
	int (*sockets)[2]; /* of the group that is being made, a pair for each receiver */
	unsigned int nr_processes;
};

/* Say that this process is ready, and wait until all begin. */
static void line_up(const struct hall *h)
{
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(h->start[1]);
	if (write(h->ready[1], &byte, 1) != 1 || read(h->start[0], &byte, 1))
		_exit(EXIT_FAILURE);
}

static void receive(const struct hall *h, unsigned int index)
{
	size_t left = (size_t)h->load->opts->threads * LOOPS * MESSAGE_BYTES;
	char message[MESSAGE_BYTES];

	for (unsigned int i = 0; i < h->load->opts->threads; i++)
		close(h->sockets[i][1]);
	line_up(h);
	while (left) {
		size_t want = left < sizeof(message) ? left : sizeof(message);
		ssize_t len = read(h->sockets[index][0], message, want);

		if (len <= 0)
			_exit(EXIT_FAILURE);
		left -= (size_t)len;
	}
	_exit(EXIT_SUCCESS);
}

static void send_all(const struct hall *h)
{
	static const char message[MESSAGE_BYTES];

	line_up(h);
	for (unsigned int i = 0; i < LOOPS; i++)
		for (unsigned int k = 0; k < h->load->opts->threads; k++)
			if (tap_write_all(h->sockets[k][1], message, sizeof(message)))
				_exit(EXIT_FAILURE);
	_exit(EXIT_SUCCESS);
}

static int make_process(struct hall *h, bool sends, unsigned int index, struct tap_err *err)
{
	pid_t pid = fork();

	if (pid < 0)
		return tap_err_set(err, -errno, "cannot fork process %u: %m", h->nr_processes + 1);
	if (!pid && sends)
		send_all(h);
	if (!pid)
		receive(h, index);
	h->nr_processes++;
	return 0;
}

static int make_group(struct hall *h, struct tap_err *err)
{
	unsigned int nr = h->load->opts->threads, nr_sockets = 0;
	int ret = 0;

	for (; nr_sockets < nr; nr_sockets++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, h->sockets[nr_sockets])) {
			ret = tap_err_set(err, -errno, "cannot make a pair of sockets: %m");
			break;
		}
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = make_process(h, false, i, err);
	for (unsigned int i = 0; !ret && i < nr; i++)
		ret = make_process(h, true, i, err);
	while (nr_sockets--) {
		close(h->sockets[nr_sockets][0]);
		close(h->sockets[nr_sockets][1]);
	}
	return ret;
}

static int wait_until_ready(const struct hall *h, struct tap_err *err)
{
	char byte;

	for (unsigned int i = 0; i < h->nr_processes; i++)
		if (read(h->ready[0], &byte, 1) != 1)
			return tap_err_set(err, -EIO, "a process of the load did not start");
	return 0;
}

static int run_groups(struct hall *h, struct tap_err *err)
{
	const struct tap_load_opts *o = h->load->opts;
	struct tap_load_result *r = h->load->result;
	int ret = 0, failed = 0;

	for (unsigned int i = 0; !ret && i < o->messengers; i++)
		ret = make_group(h, err);
	ret = ret ?: wait_until_ready(h, err);
	if (ret)
		return ret; /* the load's process ends, and so do its children */
	r->from_ns = tap_now_ns();
	close(h->start[1]);
	for (unsigned int i = 0; i < h->nr_processes; i++) {
		int status = 0;

		failed |= wait(&status) < 0 || status;
	}
	r->to_ns = tap_now_ns();
	r->operations = (uint64_t)o->messengers * o->threads * o->threads * LOOPS;
	return failed ? tap_err_set(err, -EIO, "a process of the load failed") : 0;
}

int tap_load_groups(struct tap_load *l, struct tap_err *err)
{
	struct hall h = { .load = l, .sockets = calloc(l->opts->threads, sizeof(*h.sockets)) };
	int ret;

	if (!h.sockets)
		return tap_err_nomem(err);
	ret = pipe(h.ready) || pipe(h.start) ? tap_err_set(err, -errno, "cannot make a pipe: %m")
					     : run_groups(&h, err);
	free(h.sockets);
	return ret;
}
