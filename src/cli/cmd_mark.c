// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap mark TEXT: add a named mark at the current time to all running recordings. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/session/mark_request.h"
#include "cli/cmd.h"

#define ANSWER_MS 2000 /* a recorder answers faster unless its machine is overloaded */

/* Numbers of running recorders, and of those that accepted the mark. */
struct recorders {
	unsigned int nr, took;
};

/* Open a datagram socket bound to an address of its own, which the recorder answers to. */
static int open_socket(void)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof(own.sun_family))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool send_mark(const char *name, const struct tap_mark_request *r, size_t bytes)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd = open_socket();
	struct pollfd answer = { .fd = fd, .events = POLLIN };
	char byte;
	bool took = false;

	if (fd < 0 || len >= sizeof(to.sun_path) - 1)
		goto out;
	memcpy(to.sun_path + 1, name, len);
	/* do not block on a full queue: the recorder may be stopped */
	if (connect(fd, (struct sockaddr *)&to,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) ||
	    send(fd, r, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		goto out;
	took = poll(&answer, 1, ANSWER_MS) == 1 && recv(fd, &byte, 1, MSG_DONTWAIT) == 1;
out:
	if (fd >= 0)
		close(fd);
	return took;
}

/*
 * Send the mark to all recorders. /proc/net/unix shows an abstract socket name after '@', at the
 * end of a line.
 */
static int send_marks(const struct tap_mark_request *r, size_t bytes, struct recorders *recorders)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return -errno;
	while (getline(&line, &size, f) > 0) {
		char *name = strstr(line, " @" TAP_MARK_SOCKET);

		if (!name)
			continue;
		name += 2;
		name[strcspn(name, "\n")] = '\0';
		recorders->nr++;
		recorders->took += send_mark(name, r, bytes);
	}
	free(line);
	fclose(f);
	return 0;
}

static int run_mark(void *opts, const struct tap_strings *operands, char **rest)
{
	const char *text = operands->nr ? operands->v[0] : "";
	size_t len = strlen(text);
	struct tap_mark_request r = { .at_ns = tap_now_ns() };
	struct recorders recorders = { 0 };
	struct tap_err err = { 0 };
	int ret;

	(void)opts, (void)rest;
	if (operands->nr > 1 || len > sizeof(r.text)) {
		tap_err_set(&err, -EINVAL,
			    operands->nr > 1 ? "expected one argument, the mark's text: put a text "
					       "with blanks in quotes"
					     : "a mark's text can have at most %zu bytes",
			    sizeof(r.text));
		return tap_cmd_fail(&err, true);
	}
	memcpy(r.text, text, len);
	ret = send_marks(&r, offsetof(struct tap_mark_request, text) + len, &recorders);
	if (ret)
		tap_err_set(&err, ret, "cannot read /proc/net/unix: %s", strerror(-ret));
	else if (!recorders.nr)
		tap_err_set(&err, -ESRCH,
			    "no recording is running: start one with schedtap record");
	else if (!recorders.took)
		tap_err_set(&err, -EIO,
			    "%u %s, but none accepted the mark: only root and the user who started "
			    "a recording may add marks to it",
			    recorders.nr, recorders.nr == 1 ? "recorder runs" : "recorders run");
	if (err.code)
		return tap_cmd_fail(&err, false);
	printf("marked %u of %u running recording%s\n", recorders.took, recorders.nr,
	       recorders.nr == 1 ? "" : "s");
	return TAP_EXIT_OK;
}

const struct tap_cmd tap_cmd_mark = {
	.name = "mark",
	.help = "add a named mark to running recordings",
	.exits = "0 a recording has the mark, 1 no recording took it, 2 usage error",
	.operands = "[TEXT]",
	.example = "schedtap mark 'deploy begins'",
	.run = run_mark,
};
