// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

#define UNIX_PREFIX "unix:"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

/* ---- parse ---- */

static int parse_unix(const char *path, union address *at, struct tap_err *err)
{
	at->local.sun_family = AF_UNIX;
	if (!*path || strlen(path) >= sizeof(at->local.sun_path))
		return tap_err_set(err, -EINVAL,
				   "'%.200s' is not a path for a Unix socket: use 1 to %zu bytes",
				   path, sizeof(at->local.sun_path) - 1);
	strcpy(at->local.sun_path, path);
	return 0;
}

/* The part before the port: a loopback address. */
static bool parse_host(const char *host, size_t len, in_port_t port, union address *at)
{
	char text[INET6_ADDRSTRLEN];

	if (len == strlen("localhost") && !memcmp(host, "localhost", len))
		return parse_host("127.0.0.1", strlen("127.0.0.1"), port, at);
	if (len >= sizeof(text))
		return false;
	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		snprintf(text, sizeof(text), "%.*s", (int)len - 2, host + 1);
		at->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = port };
		return inet_pton(AF_INET6, text, &at->v6.sin6_addr) == 1 &&
		       IN6_IS_ADDR_LOOPBACK(&at->v6.sin6_addr);
	}
	snprintf(text, sizeof(text), "%.*s", (int)len, host);
	at->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = port };
	return inet_pton(AF_INET, text, &at->v4.sin_addr) == 1 &&
	       ntohl(at->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static int parse(const char *address, union address *at, struct tap_err *err)
{
	const char *colon = strrchr(address, ':');
	int64_t port;

	if (!strncmp(address, UNIX_PREFIX, strlen(UNIX_PREFIX)))
		return parse_unix(address + strlen(UNIX_PREFIX), at, err);
	if (!colon || tap_text_parse_int(colon + 1, 0, UINT16_MAX, &port))
		return tap_err_set(err, -EINVAL,
				   "'%.200s' is not an address: use 127.0.0.1:PORT or unix:PATH",
				   address);
	if (!parse_host(address, (size_t)(colon - address), htons((uint16_t)port), at))
		return tap_err_set(err, -EINVAL,
				   "'%.200s' is not on the loopback interface: use 127.0.0.1:PORT, "
				   "[::1]:PORT or unix:PATH, and a proxy for other machines",
				   address);
	return 0;
}

/* ---- listen ---- */

static socklen_t size_of(const union address *at)
{
	return at->any.sa_family == AF_INET    ? sizeof(at->v4)
	       : at->any.sa_family == AF_INET6 ? sizeof(at->v6)
					       : sizeof(at->local);
}

/* Connect to a Unix socket. Return: 0; -ECONNREFUSED: no server listens at it; -errno. */
static int try_connect(const union address *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret = fd >= 0 && !connect(fd, &at->any, size_of(at)) ? 0 : -errno;

	if (fd >= 0)
		close(fd);
	return ret;
}

/* Remove the socket of a server that was killed. Return: 0; -errno with a sentence. */
static int remove_unused(const union address *at, struct tap_err *err)
{
	const char *path = at->local.sun_path;
	struct stat st;
	int ret;

	if (lstat(path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return tap_err_set(err, -EEXIST,
				   "cannot listen at unix:%s: the path exists and is not a socket",
				   path);
	ret = try_connect(at);
	if (ret == -EACCES)
		return tap_err_set(err, -EADDRINUSE,
				   "cannot listen at unix:%s: the socket of another user is there",
				   path);
	if (ret == -ECONNREFUSED && unlink(path) && errno != ENOENT)
		return tap_err_set(err, -errno,
				   "cannot remove '%s', the socket of a server that has ended: %m",
				   path);
	return 0;
}

static int listen_at(int fd, union address *at)
{
	socklen_t size = size_of(at);
	int on = 1;

	/* connections of a previous server in TIME_WAIT must not block the port */
	return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
			       bind(fd, &at->any, size) || listen(fd, SOMAXCONN) ||
			       getsockname(fd, &at->any, &size)
		       ? -errno
		       : 0;
}

int tap_listen(struct tap_listening *l, const char *address, struct tap_err *err)
{
	union address at = { 0 };
	int ret = parse(address, &at, err);
	struct stat st;

	*l = (struct tap_listening){ .fd = -1 };
	if (ret)
		return ret;
	if (at.any.sa_family == AF_UNIX)
		ret = remove_unused(&at, err);
	if (ret)
		return ret;
	l->fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ret = l->fd < 0 ? -errno : listen_at(l->fd, &at);
	if (ret) {
		if (l->fd >= 0)
			close(l->fd);
		l->fd = -1;
		errno = -ret;
		return tap_err_set(err, ret, "cannot listen at %.200s: %m", address);
	}
	if (at.any.sa_family == AF_UNIX) {
		l->path = address + strlen(UNIX_PREFIX);
		l->inode = lstat(l->path, &st) ? 0 : st.st_ino;
	} else {
		l->port = ntohs(at.any.sa_family == AF_INET ? at.v4.sin_port : at.v6.sin6_port);
	}
	return 0;
}

void tap_listen_end(const struct tap_listening *l)
{
	struct stat st;

	if (l->path && !lstat(l->path, &st) && st.st_ino == l->inode)
		unlink(l->path);
}
