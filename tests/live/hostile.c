// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * hostile SOCKET KIND COUNT: a malicious client of a recorder's socket, COUNT times, then waits.
 * SOCKET: a path, or @NAME of an abstract socket for datagrams. With each message it passes
 * descriptors that it then closes itself:
 *
 *   two, many     two, or a hundred, descriptors
 *   wrong         a pipe
 *   lingers       a connection whose close() waits for a minute, as its data are not read
 *   fuse          a file whose file system does not respond when it is closed (root only)
 *   silent        nothing: it only connects
 */
#include <err.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PASSED 100

/* ---- descriptors that take long to close ---- */

static int lingering(void)
{
	const struct linger minute = { .l_onoff = 1, .l_linger = 60 };
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(at);
	char bytes[65536] = { 0 };

	if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &len) ||
	    connect(fd, (struct sockaddr *)&at, len) ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &minute, sizeof(minute)))
		err(2, "lingering");
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd; /* the listener stays open, or the connection would be reset */
}

static void reply(int fuse, uint64_t to, const void *data, size_t len)
{
	struct fuse_out_header head = { .len = (uint32_t)(sizeof(head) + len), .unique = to };
	char out[sizeof(head) + 512];

	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), data, len);
	if (write(fuse, out, head.len) < 0)
		warn("fuse");
}

/*
 * Serve a directory (1) with files (2). FLUSH and other requests get no answer until this process
 * is killed.
 */
static void serve_fuse(int fuse)
{
	static char in[FUSE_MIN_READ_BUFFER * 4];

	while (read(fuse, in, sizeof(in)) > 0) {
		const struct fuse_in_header *h = (const void *)in;
		struct fuse_attr attr = { .ino = h->nodeid,
					  .mode = h->nodeid == 1 ? S_IFDIR | 0755 : S_IFREG | 0666,
					  .nlink = 1 };

		if (h->opcode == FUSE_INIT) {
			reply(fuse, h->unique,
			      &(struct fuse_init_out){ .major = 7, .minor = 31, .max_write = 4096 },
			      sizeof(struct fuse_init_out));
		} else if (h->opcode == FUSE_LOOKUP) {
			attr.ino = 2;
			attr.mode = S_IFREG | 0666;
			reply(fuse, h->unique,
			      &(struct fuse_entry_out){ .nodeid = 2, .attr = attr },
			      sizeof(struct fuse_entry_out));
		} else if (h->opcode == FUSE_GETATTR) {
			reply(fuse, h->unique, &(struct fuse_attr_out){ .attr = attr },
			      sizeof(struct fuse_attr_out));
		} else if (h->opcode == FUSE_OPEN) {
			reply(fuse, h->unique, &(struct fuse_open_out){ .fh = 1 },
			      sizeof(struct fuse_open_out));
		}
	}
}

static int of_fuse(void)
{
	static pid_t server;
	char options[100];

	if (!server) {
		int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
		snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0",
			 fuse);
		mkdir("fuse", 0755);
		if (fuse < 0 || mount("hostile", "fuse", "fuse", 0, options))
			err(77, "no FUSE");
		server = fork();
		if (!server) {
			serve_fuse(fuse);
			_exit(0);
		}
		close(fuse);
		printf("server %d\n", (int)server);
		fflush(stdout);
	}
	return open("fuse/file", O_RDWR);
}

/* ---- messages ---- */

static int wrong(void)
{
	int ends[2];

	if (pipe(ends))
		err(2, "pipe");
	close(ends[0]);
	return ends[1];
}

static const struct kind {
	const char *name;
	unsigned int nr; /* descriptors per message */
	int (*open)(void);
} kinds[] = {
	{ "two", 2, wrong },	     { "many", MAX_PASSED, wrong }, { "wrong", 1, wrong },
	{ "lingers", 1, lingering }, { "fuse", 1, of_fuse },	    { "silent", 0, NULL },
};

static int call(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, *name == '@' ? SOCK_DGRAM : SOCK_STREAM, 0);
	size_t len = strlen(name);

	if (fd < 0 || len >= sizeof(at.sun_path))
		err(2, "socket");
	memcpy(at.sun_path, name, len);
	if (*name == '@')
		at.sun_path[0] = '\0';
	if (!connect(fd, (struct sockaddr *)&at,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (*name != '@'))))
		return fd;
	close(fd);
	return -1;
}

static void pass(int to, const struct kind *k)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(MAX_PASSED * sizeof(int))];
	} room = { .head = { .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS,
			     .cmsg_len = CMSG_LEN(k->nr * sizeof(int)) } };
	char text[] = "\0\0\0\0\0\0\0\0hostile"; /* a mark with its time */
	struct iovec iov = { text, sizeof(text) - 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &room,
			      .msg_controllen = CMSG_SPACE(k->nr * sizeof(int)) };
	int fds[MAX_PASSED];

	for (unsigned int i = 0; i < k->nr; i++)
		fds[i] = k->open();
	memcpy(CMSG_DATA(&room.head), fds, k->nr * sizeof(int));
	sendmsg(to, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * close() would also wait in this process; not at the end of a process, except for files of FUSE,
 * which therefore stay open.
 */
static void pass_and_forget(int to, const struct kind *k)
{
	pid_t child = strcmp(k->name, "fuse") ? fork() : 0;

	if (child > 0) {
		waitpid(child, NULL, 0);
		return;
	}
	pass(to, k);
	if (strcmp(k->name, "fuse"))
		_exit(0);
}

int main(int argc, char **argv)
{
	const struct kind *k = kinds;

	if (argc != 4)
		return 2;
	while (strcmp(k->name, argv[2]))
		if (++k == kinds + sizeof(kinds) / sizeof(*kinds))
			return 2;
	for (int i = atoi(argv[3]); i--;) {
		int fd = call(argv[1]);

		if (fd < 0 || !k->nr) {
			usleep(1000);
			/* it is silent, or there are too many connections at the moment */
			continue;
		}
		pass_and_forget(fd, k);
		close(fd);
	}
	puts("done");
	fflush(stdout);
	pause();
	return 0;
}
