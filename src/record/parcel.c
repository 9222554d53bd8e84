// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/parcel.h"

#include <errno.h>
#include <string.h>

union room {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(2 * sizeof(int))];
};

int tap_parcel_send(int to, const void *data, size_t len, const struct tap_passed *passed)
{
	size_t bytes = passed ? passed->nr * sizeof(int) : 0;
	union room room = { .head = { .cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(bytes) } };
	struct iovec iov = { (void *)data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t ret;

	if (bytes) {
		memcpy(CMSG_DATA(&room.head), passed->fds, bytes);
		msg.msg_control = &room;
		msg.msg_controllen = CMSG_SPACE(bytes);
	}
	do
		ret = sendmsg(to, &msg, MSG_NOSIGNAL);
	while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

ssize_t tap_parcel_receive(int from, void *data, size_t len, struct tap_passed *passed, int flags)
{
	union room room;
	struct iovec iov = { data, len };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &room,
			      .msg_controllen = sizeof(room) };
	ssize_t ret = recvmsg(from, &msg, flags | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = ret < 0 ? NULL : CMSG_FIRSTHDR(&msg);
	size_t bytes = 0;

	passed->nr = 0;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		bytes = c->cmsg_len - CMSG_LEN(0);
		memcpy(passed->fds, CMSG_DATA(c), bytes);
		passed->nr = (unsigned int)(bytes / sizeof(int));
	}
	return ret < 0 ? -errno : ret;
}
