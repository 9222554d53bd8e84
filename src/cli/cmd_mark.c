// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* schedtap mark TEXT: a moment that the recordings which run now have with a name. */
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

#define ANSWER_MS 2000 /* a recorder that is slower has a machine that is */

/* How many recorders there are, and how many took the mark. */
struct told {
	unsigned int nr, took;
};

/* From an address of its own, which the answer goes to. */
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

static bool tell(const char *name, const struct tap_mark_request *r, size_t bytes)
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
	/* with a full queue it would wait for a recorder that may be stopped */
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

/* Abstract names stand behind an '@', at the end of their lines. */
static int tell_all(const struct tap_mark_request *r, size_t bytes, struct told *told)
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
		told->nr++;
		told->took += tell(name, r, bytes);
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
	struct told told = { 0 };
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
	ret = tell_all(&r, offsetof(struct tap_mark_request, text) + len, &told);
	if (ret)
		tap_err_set(&err, ret, "cannot read /proc/net/unix: %s", strerror(-ret));
	else if (!told.nr)
		tap_err_set(&err, -ESRCH,
			    "no recording is running: start one with schedtap record");
	else if (!told.took)
		tap_err_set(&err, -EIO,
			    "%u %s, but none accepted the mark: only root and the user who started "
			    "a recording may add marks to it",
			    told.nr, told.nr == 1 ? "recorder runs" : "recorders run");
	if (err.code)
		return tap_cmd_fail(&err, false);
	printf("marked %u of %u running recording%s\n", told.took, told.nr,
	       told.nr == 1 ? "" : "s");
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
