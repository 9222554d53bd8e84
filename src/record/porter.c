// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/porter.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/porter_process.h"

/* maximum time without a message: on a busy machine each step may wait for a CPU */
#define FINISH_MS 30000

struct tap_porter {
	pid_t pid;
	int control;
	bool is_finishing;
	struct {
		int from; /* -1: not set */
		void (*take)(void *ctx);
		void *ctx;
	} other;
};

struct tap_porter *tap_porter_new(void)
{
	struct tap_porter *p = calloc(1, sizeof(*p));
	int ends[2];

	if (!p || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		free(p);
		return NULL;
	}
	p->other.from = -1;
	p->control = ends[0];
	/*
	 * _Fork() runs no fork handlers of libraries, which would treat the porter as a traced
	 * program's child
	 */
	p->pid = _Fork();
	if (!p->pid)
		tap_porter_run(ends[1]);
	close(ends[1]);
	if (p->pid > 0)
		return p;
	close(p->control);
	free(p);
	return NULL;
}

void tap_porter_free(struct tap_porter *p)
{
	if (!p)
		return;
	close(p->control); /* the porter then exits; a blocked worker is a process of its own */
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(p);
}

pid_t tap_porter_pid(const struct tap_porter *p)
{
	return p ? p->pid : 0;
}

int tap_porter_serve(struct tap_porter *p, int socket, enum tap_porter_kind kind)
{
	const char byte = (char)kind;
	int ends[2], ret;

	if (!p)
		return -ESRCH;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	ret = tap_parcel_send(p->control, &byte, 1,
			      &(struct tap_passed){ .fds = { socket, ends[1] }, .nr = 2 });
	close(ends[1]);
	if (!ret)
		return ends[0];
	close(ends[0]);
	return ret;
}

bool tap_porter_take(int from, struct tap_parcel *out, int *fd)
{
	struct tap_passed passed;
	ssize_t len = tap_parcel_receive(from, out, sizeof(*out), &passed, MSG_DONTWAIT);

	if (len != sizeof(*out))
		return false;
	*fd = passed.nr ? passed.fds[0] : -1;
	return true;
}

void tap_porter_set_other(struct tap_porter *p, int from, void (*take)(void *ctx), void *ctx)
{
	if (!p)
		return;
	p->other.from = from;
	p->other.take = take;
	p->other.ctx = ctx;
}

void tap_porter_finish(struct tap_porter *p)
{
	const char byte = TAP_PORTER_FINISH;

	if (p)
		p->is_finishing = !tap_parcel_send(p->control, &byte, 1, NULL);
}

/* MSG_PEEK, because poll() always reports a channel as readable whose porter has exited. */
static bool any_has_parcel(const int *from, unsigned int nr)
{
	char byte;

	for (unsigned int i = 0; i < nr; i++)
		if (recv(from[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
			return true;
	return false;
}

/* Return: whether the porter may still have messages to hand on. */
static bool wait_for_porter(struct tap_porter *p, struct pollfd *ready, unsigned int nr)
{
	int found = poll(ready, nr, FINISH_MS);
	char byte;

	if (found < 0 && errno == EINTR)
		return true;
	if (found > 0 && ready[1].revents)
		p->other.take(p->other.ctx);
	if (found > 0 && ready[0].revents)
		recv(p->control, &byte, 1, MSG_DONTWAIT);
	return found > 0 && !ready[0].revents;
}

bool tap_porter_brings(struct tap_porter *p, const int *from, unsigned int nr)
{
	struct pollfd ready[2 + TAP_PORTER_MAX_SERVICES];

	if (!p)
		return any_has_parcel(from, nr);
	ready[0] = (struct pollfd){ .fd = p->control, .events = POLLIN };
	ready[1] = (struct pollfd){ .fd = p->other.from, .events = POLLIN };
	for (unsigned int i = 0; i < nr; i++)
		ready[2 + i] = (struct pollfd){ .fd = from[i], .events = POLLIN };
	while (p->is_finishing && !any_has_parcel(from, nr))
		p->is_finishing = wait_for_porter(p, ready, 2 + nr);
	return any_has_parcel(from, nr);
}
