// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/porter.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/porter_process.h"

#define FINISH_MS 30000 /* without anything new: on a busy machine each step may wait for a CPU */

struct tap_porter {
	pid_t pid;
	int control;
	bool is_finishing;
};

struct tap_porter *tap_porter_new(void)
{
	struct tap_porter *p = calloc(1, sizeof(*p));
	int ends[2];

	if (!p || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		free(p);
		return NULL;
	}
	p->control = ends[0];
	p->pid = _Fork(); /* without the handlers of libraries, which would take it for a program's child */
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
	close(p->control); /* at which it ends; what is blocked is not its own process */
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
	ret = tap_parcel_send(p->control, &byte, 1, &(struct tap_passed){ .fds = { socket, ends[1] }, .nr = 2 });
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

void tap_porter_finish(struct tap_porter *p)
{
	const char byte = TAP_PORTER_FINISH;

	if (p)
		p->is_finishing = !tap_parcel_send(p->control, &byte, 1, NULL);
}

bool tap_porter_brings(struct tap_porter *p, const int *from, unsigned int nr)
{
	struct pollfd ready[TAP_PORTER_MAX_SERVICES + 1];
	char byte;

	for (unsigned int i = 0; i < nr; i++)
		ready[i] = (struct pollfd){ .fd = from[i], .events = POLLIN };
	ready[nr] = (struct pollfd){ .fd = p ? p->control : -1, .events = POLLIN };
	while (p && p->is_finishing) {
		int found = poll(ready, nr + 1, FINISH_MS);

		if (found < 0 && errno == EINTR)
			continue;
		if (found > 0 && !ready[nr].revents)
			return true;
		if (found > 0)
			recv(p->control, &byte, 1, MSG_DONTWAIT);
		p->is_finishing = false;
	}
	return poll(ready, nr, 0) > 0;
}
