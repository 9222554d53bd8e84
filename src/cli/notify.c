// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void tap_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (len < 2 || len >= sizeof(at.sun_path))
		return;
	memcpy(at.sun_path, path, len);
	if (*path == '@') /* an abstract address */
		at.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* on failure the service manager waits until its own time limit, and says so */
	sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&at,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
}
