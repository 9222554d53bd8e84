// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * driver --listen SOCKET: schedtap's command line as a process that is there already. It forks for
 * each client (client.c) and calls in the child what main() calls; the client gets its exit status.
 * A child is killed when its client is gone. Prints a line when it listens; ends when its standard
 * input is closed.
 *
 * With any other words it is schedtap, for commands that start their own program (/proc/self/exe).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "request.h"

#define MAX_CLIENTS 256

/* standard input, ends of children, the socket, clients */
static struct pollfd polled[3 + MAX_CLIENTS];
static pid_t child_of[3 + MAX_CLIENTS];
static nfds_t nr_polled = 3;

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "driver: %s: %s\n", what, strerror(errno));
	exit(125);
}

/* ---- the child ---- */

static unsigned int receive_request(int from, struct request *r, int *fds)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int) * (REQUEST_MAX_FDS + 1))];
	} control = { 0 };
	struct iovec iov = { .iov_base = r, .iov_len = sizeof(*r) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *head;
	size_t bytes;

	must(recvmsg(from, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL) == sizeof(*r), "recvmsg");
	head = CMSG_FIRSTHDR(&msg);
	must(head && head->cmsg_type == SCM_RIGHTS, "no descriptors");
	bytes = head->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(head), bytes);
	return (unsigned int)(bytes / sizeof(int));
}

/* Move what came to the numbers that it has in the client; the others are closed. */
static void take_fds(const struct request *r, int *fds, unsigned int nr)
{
	unsigned int next = 1;

	for (unsigned int i = 0; i < nr; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, REQUEST_MAX_FDS);
		must(fds[i] >= 0, "fcntl");
	}
	for (int fd = 0; fd < REQUEST_MAX_FDS; fd++) {
		if (r->open_fds >> fd & 1)
			must(next < nr && dup2(fds[next++], fd) == fd, "dup2");
		else
			close(fd);
	}
	must(!fchdir(fds[0]), "fchdir");
	must(!close_range(REQUEST_MAX_FDS, ~0U, 0), "close_range");
}

/* Pointers to the texts at *@at, with a NULL. */
static char **point_to(char **at, unsigned int nr)
{
	char **texts = calloc(nr + 1, sizeof(*texts));

	must(texts, "calloc");
	for (unsigned int i = 0; i < nr; i++) {
		texts[i] = *at;
		*at += strlen(*at) + 1;
	}
	return texts;
}

static int run(int client)
{
	/* static: setenv() replaces environ, and what nothing points to would be a leak */
	static char *texts, **argv, **env;
	int fds[REQUEST_MAX_FDS + 1];
	unsigned int nr_fds;
	struct request r;
	sigset_t none;
	char *at;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	nr_fds = receive_request(client, &r, fds);
	at = texts = malloc(r.bytes);
	must(texts && recv(client, texts, r.bytes, MSG_WAITALL) == (ssize_t)r.bytes, "recv");
	argv = point_to(&at, r.argc);
	environ = env = point_to(&at, r.envc);
	umask(r.umask);
	for (int nr = 1; nr < SIGRTMIN; nr++)
		if (r.ignored >> (nr - 1) & 1)
			signal(nr, SIG_IGN);
	take_fds(&r, fds, nr_fds);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	return tap_cli_run((int)r.argc, argv);
}

/* ---- the parent ---- */

static void accept_client(int listening)
{
	int client = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid;

	must(client >= 0, "accept");
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid)
		exit(run(client));
	polled[nr_polled] = (struct pollfd){ .fd = client, .events = POLLRDHUP };
	child_of[nr_polled++] = pid;
}

static void answer_ended(int signals)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	must(read(signals, &info, sizeof(info)) == sizeof(info), "read");
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (nfds_t i = 3; i < nr_polled; i++) {
			if (child_of[i] != pid)
				continue;
			if (polled[i].fd >= 0) {
				(void)!send(polled[i].fd, &status, sizeof(status), MSG_NOSIGNAL);
				close(polled[i].fd);
			}
			polled[i] = polled[--nr_polled];
			child_of[i] = child_of[nr_polled];
			break;
		}
	}
}

static void kill_abandoned(void)
{
	for (nfds_t i = 3; i < nr_polled; i++) {
		if (!polled[i].revents)
			continue;
		kill(child_of[i], SIGKILL);
		close(polled[i].fd);
		polled[i].fd = -1;
	}
}

static int listen_at(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0, "socket");
	must(strlen(path) < sizeof(at.sun_path), path);
	strcpy(at.sun_path, path);
	must(!bind(fd, (struct sockaddr *)&at, sizeof(at)) && !listen(fd, MAX_CLIENTS), path);
	return fd;
}

int main(int argc, char **argv)
{
	sigset_t ends;

	if (argc != 3 || strcmp(argv[1], "--listen"))
		return tap_cli_run(argc, argv);
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	polled[0] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
	polled[1] = (struct pollfd){ .fd = signalfd(-1, &ends, SFD_CLOEXEC), .events = POLLIN };
	polled[2] = (struct pollfd){ .fd = listen_at(argv[2]), .events = POLLIN };
	must(polled[1].fd >= 0 && write(STDOUT_FILENO, "ready\n", 6) == 6, "cannot start");
	for (;;) {
		must(poll(polled, nr_polled, -1) > 0 || errno == EINTR, "poll");
		if (polled[0].revents)
			return 0;
		if (polled[1].revents)
			answer_ended(polled[1].fd);
		else
			kill_abandoned();
		if (polled[2].revents && nr_polled < 3 + MAX_CLIENTS)
			accept_client(polled[2].fd);
	}
}
