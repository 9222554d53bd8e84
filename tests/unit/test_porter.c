// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The porter: it hands on all that was sent before it is to finish, whichever channel is full, and
 * its worker stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/porter.h"

#define SENT 2000

/* Bound to a name that the kernel chooses. */
static int name_socket(int kind, struct sockaddr_un *at, socklen_t *len)
{
	int fd = socket(AF_UNIX, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&(struct sockaddr_un){ .sun_family = AF_UNIX },
			      sizeof(sa_family_t)),
			 0);
	*len = sizeof(*at);
	assert_int_equal(getsockname(fd, (struct sockaddr *)at, len), 0);
	return fd;
}

/* Another process, which sends more than has room in the socket and in the channel. */
static pid_t send_many(const struct sockaddr_un *at, socklen_t len)
{
	pid_t pid = fork();

	if (!pid) {
		int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

		for (int i = 0; i < SENT; i++)
			if (sendto(fd, "m", 1, 0, (const struct sockaddr *)at, len) != 1)
				_exit(1);
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

struct other {
	int from;
	unsigned int nr;
};

static void take(void *ctx)
{
	struct other *o = ctx;
	struct tap_parcel parcel;
	int fd;

	while (tap_porter_take(o->from, &parcel, &fd))
		o->nr += parcel.len == 1;
}

/* Return the pid of the porter's child; 0: the kernel does not list children. */
static int worker_of(const struct tap_porter *p)
{
	char path[64];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)tap_porter_pid(p),
		 (int)tap_porter_pid(p));
	f = fopen(path, "re");
	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

static void test_finish(void **state)
{
	struct tap_porter *p = tap_porter_new();
	struct sockaddr_un at;
	struct other other = { 0 };
	socklen_t len;
	int calls = name_socket(SOCK_STREAM, &at, &len), marks = name_socket(SOCK_DGRAM, &at, &len),
	    from, status, worker;
	uint64_t start_ns;
	pid_t sender;

	(void)state;
	assert_non_null(p);
	assert_int_equal(listen(calls, 16), 0);
	from = tap_porter_serve(p, calls, TAP_PORTER_CALLS);
	while (!(worker = worker_of(p)) && !access("/proc/thread-self/children", F_OK))
		poll(NULL, 0, 1);
	other.from = tap_porter_serve(p, marks, TAP_PORTER_DATAGRAMS);
	tap_porter_set_other(p, other.from, take, &other);
	sender = send_many(&at, len);
	while (waitpid(sender, &status, WNOHANG) != sender && other.nr < SENT / 2)
		take(&other);
	/* from now on, nothing is taken before the end */
	poll(NULL, 0, 50);
	start_ns = tap_now_ns();
	tap_porter_finish(p);
	assert_false(tap_porter_brings(p, &from, 1));
	assert_true(tap_now_ns() - start_ns < 20000000000u);
	while (other.nr < SENT && tap_now_ns() - start_ns < 20000000000u)
		take(&other);
	assert_int_equal(other.nr, SENT);
	assert_int_equal(worker_of(p), worker);
	waitpid(sender, &status, 0);
	tap_porter_free(p);
	close(from);
	close(other.from);
	close(calls);
	close(marks);
}

/* A channel whose porter is gone brings nothing, and is not waited for. */
static void test_gone(void **state)
{
	struct tap_porter *p = tap_porter_new();
	struct sockaddr_un at;
	socklen_t len;
	int calls = name_socket(SOCK_STREAM, &at, &len), from;

	(void)state;
	assert_non_null(p);
	assert_int_equal(listen(calls, 16), 0);
	from = tap_porter_serve(p, calls, TAP_PORTER_CALLS);
	assert_int_equal(kill(tap_porter_pid(p), SIGKILL), 0);
	tap_porter_finish(p);
	assert_false(tap_porter_brings(p, &from, 1));
	assert_false(tap_porter_brings(p, &from, 1));
	tap_porter_free(p);
	close(from);
	close(calls);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finish),
		cmocka_unit_test(test_gone),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("porter", tests, NULL, NULL);
}
