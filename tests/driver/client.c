// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap-quick ARG...: runs schedtap's command line in a copy of the driver (driver.c) that
 * listens at $SCHEDTAP_DRIVER, with this process's arguments, environment, folder and descriptors,
 * and ends as it does. It is linked statically: it takes a fifth of the time that the program's own
 * loader needs for its libraries.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "request.h"

static void fail(const char *what)
{
	fprintf(stderr, "schedtap-quick: %s: %s\n", what, strerror(errno));
	exit(125);
}

static int connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(to.sun_path)) {
		errno = ENAMETOOLONG;
		fail(path);
	}
	strcpy(to.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		fail(path);
	/* beyond the descriptors that are passed on */
	fd = fcntl(fd, F_DUPFD_CLOEXEC, REQUEST_MAX_FDS);
	if (fd < 0)
		fail("fcntl");
	return fd;
}

static size_t count(char **texts, unsigned int *nr)
{
	size_t bytes = 0;

	for (*nr = 0; texts[*nr]; ++*nr)
		bytes += strlen(texts[*nr]) + 1;
	return bytes;
}

static char *append(char *at, char **texts)
{
	for (; *texts; texts++)
		at = stpcpy(at, *texts) + 1;
	return at;
}

static uint64_t ignored_signals(void)
{
	struct sigaction action;
	uint64_t ignored = 0;

	for (int nr = 1; nr < SIGRTMIN; nr++)
		if (!sigaction(nr, NULL, &action) && action.sa_handler == SIG_IGN)
			ignored |= 1ULL << (nr - 1);
	return ignored;
}

static void send_request(int to, struct request *r, int cwd)
{
	int fds[REQUEST_MAX_FDS + 1] = { cwd };
	size_t nr = 1;
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(fds))];
	} control = { 0 };
	struct iovec iov = { .iov_base = r, .iov_len = sizeof(*r) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };

	for (int fd = 0; fd < REQUEST_MAX_FDS; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		r->open_fds |= 1U << fd;
		fds[nr++] = fd;
	}
	control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(nr * sizeof(int)),
					 .cmsg_level = SOL_SOCKET,
					 .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), fds, nr * sizeof(int));
	msg.msg_controllen = CMSG_SPACE(nr * sizeof(int));
	if (sendmsg(to, &msg, MSG_NOSIGNAL) != sizeof(*r))
		fail("sendmsg");
}

static void send_texts(int to, const char *texts, size_t bytes)
{
	while (bytes) {
		ssize_t sent = send(to, texts, bytes, MSG_NOSIGNAL);

		if (sent < 0)
			fail("send");
		texts += sent;
		bytes -= (size_t)sent;
	}
}

/* End as the other process did. */
static int end_as(int status)
{
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const char *path = getenv("SCHEDTAP_DRIVER");
	struct request r = { .argc = (unsigned int)argc };
	int driver, cwd, status;
	char *texts;

	if (!path) {
		errno = EINVAL;
		fail("SCHEDTAP_DRIVER is not set");
	}
	driver = connect_to(path);
	cwd = open(".", O_PATH | O_CLOEXEC);
	if (cwd < 0)
		fail(".");
	cwd = fcntl(cwd, F_DUPFD_CLOEXEC, REQUEST_MAX_FDS);
	r.umask = umask(0);
	r.ignored = ignored_signals();
	r.bytes = (unsigned int)(count(argv, &r.argc) + count(environ, &r.envc));
	texts = malloc(r.bytes);
	if (cwd < 0 || !texts)
		fail("out of memory");
	append(append(texts, argv), environ);
	send_request(driver, &r, cwd);
	send_texts(driver, texts, r.bytes);
	/* the other process alone has them open: a pipe ends when it closes its end */
	for (int fd = 0; fd < REQUEST_MAX_FDS; fd++)
		close(fd);
	if (recv(driver, &status, sizeof(status), MSG_WAITALL) != sizeof(status))
		return 125;
	return end_as(status);
}
