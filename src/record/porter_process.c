// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The porter is two processes. The porter itself accepts connections, but never receives or closes
 * what a stranger has sent. It passes one connection at a time to its worker, which receives and
 * closes, and reports to the porter before and after. The porter abandons a worker that is blocked;
 * only that one connection is lost. Both processes are forks of the recorder, but use none of its
 * data.
 */
#include "record/porter_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/parcel.h"

#define MAX_CALLERS 256u
/* limit of abandoned workers that still live: a stranger could make any number otherwise */
#define MAX_LEFT 8u
#define BLOCKED_MS 250
#define MAX_OFFENDERS 64u
#define DATAGRAMS_AT_ONCE 100u
#define CALLER_NS 1000000000ull /* time to send something */
#define RETRY_MS 10 /* pause if too many descriptors are in flight (ETOOMANYREFS) */
#define RETRIES 100u
/* what the worker reports to the porter */
#define AT_ONE 'b' /* it begins to handle what a stranger sent */
#define BACK 'i' /* it has handled that */
#define DONE 'd' /* it has handled the connection that it was passed */

struct service {
	int socket, to; /* .to: the recorder's channel */
	enum tap_porter_kind kind;
};

/* used by both processes */
static struct service services[TAP_PORTER_MAX_SERVICES];
static unsigned int nr_services;
static dev_t memory_dev;

/* ---- the worker ---- */

static void close_passed(struct tap_passed *passed)
{
	while (passed->nr)
		close(passed->fds[--passed->nr]);
}

static void send_byte(int to, char byte)
{
	send(to, &byte, 1, MSG_NOSIGNAL);
}

/* Return: whether @fd is a memfd. Asks no file system, whose server may not answer. */
static bool is_memory(int fd)
{
	struct statx st;

	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) &&
	       makedev(st.stx_dev_major, st.stx_dev_minor) == memory_dev;
}

static void hand_on(int to, const struct tap_parcel *parcel, const struct tap_passed *passed)
{
	for (unsigned int i = 0;
	     tap_parcel_send(to, parcel, sizeof(*parcel), passed) == -ETOOMANYREFS && i < RETRIES;
	     i++)
		poll(NULL, 0, RETRY_MS);
}

/*
 * Receive one datagram, and ignore it unless root or our own user sent it. @parcel: its .len is 0
 * if there is nothing to hand on. Return: whether there was one.
 */
static bool take_datagram(const struct service *s, struct tap_parcel *parcel)
{
	union {
		struct cmsghdr head;
		/* no space for descriptors: the kernel closes them */
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} room;
	struct iovec iov = { parcel->bytes, sizeof(parcel->bytes) };
	struct msghdr msg = { .msg_name = &parcel->at,
			      .msg_namelen = sizeof(parcel->at),
			      .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &room,
			      .msg_controllen = sizeof(room) };
	ssize_t len = recvmsg(s->socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = len < 0 ? NULL : CMSG_FIRSTHDR(&msg);

	if (len < 0 || !c || c->cmsg_type != SCM_CREDENTIALS)
		return len >= 0;
	memcpy(&parcel->from, CMSG_DATA(c), sizeof(parcel->from));
	/* if a path fills the address, the kernel counts a NUL for which there is no space */
	parcel->at_len =
		msg.msg_namelen < sizeof(parcel->at) ? msg.msg_namelen : sizeof(parcel->at);
	parcel->len = !parcel->from.uid || parcel->from.uid == geteuid() ? (size_t)len : 0;
	return true;
}

/* After DATAGRAMS_AT_ONCE datagrams the other sockets are served first. */
static void serve_datagrams(const struct service *s, int porter)
{
	bool any = true;

	for (unsigned int i = 0; any && i < DATAGRAMS_AT_ONCE; i++) {
		struct tap_parcel parcel = { 0 };

		send_byte(porter, AT_ONE); /* recvmsg() closes descriptors that came with it */
		any = take_datagram(s, &parcel);
		send_byte(porter, BACK);
		if (parcel.len)
			hand_on(s->to, &parcel, NULL);
	}
}

/*
 * Receive the caller's message. Its descriptors are closed, unless it is a single memfd, which is
 * handed on.
 */
static void take_message(int caller, struct tap_parcel *parcel, struct tap_passed *passed)
{
	socklen_t size = sizeof(parcel->from);
	ssize_t len = tap_parcel_receive(caller, parcel->bytes, sizeof(parcel->bytes), passed,
					 MSG_DONTWAIT);

	parcel->len = len > 0 ? (size_t)len : 0;
	if (passed->nr != 1 || !is_memory(passed->fds[0]) ||
	    getsockopt(caller, SOL_SOCKET, SO_PEERCRED, &parcel->from, &size))
		close_passed(passed);
}

static void serve_caller(int caller, int to, int porter)
{
	struct tap_parcel parcel = { 0 };
	struct tap_passed passed;

	send_byte(porter, AT_ONE);
	take_message(caller, &parcel, &passed);
	close(caller); /* closes descriptors in messages that were not received, too */
	send_byte(porter, DONE);
	if (passed.nr)
		hand_on(to, &parcel, &passed);
	close_passed(&passed);
}

/*
 * The porter sends a caller with the recorder's channel of its service, a service of datagrams, or
 * the request to finish.
 */
static void hear_porter(int porter)
{
	struct tap_passed passed;
	char byte;

	if (tap_parcel_receive(porter, &byte, 1, &passed, MSG_DONTWAIT) <= 0)
		_exit(0);
	if (byte == TAP_PORTER_FINISH) {
		send_byte(porter, byte);
	} else if (passed.nr == 2 && byte == TAP_PORTER_DATAGRAMS) {
		services[nr_services++] =
			(struct service){ passed.fds[0], passed.fds[1], TAP_PORTER_DATAGRAMS };
	} else if (passed.nr == 2) {
		serve_caller(passed.fds[0], passed.fds[1], porter);
		close(passed.fds[1]);
	} else { /* the process had too few free descriptors */
		close_passed(&passed);
		send_byte(porter, DONE);
	}
}

_Noreturn static void run_worker(int porter)
{
	struct pollfd fds[1 + TAP_PORTER_MAX_SERVICES];

	for (;;) {
		unsigned int nr = 0;

		fds[nr++] = (struct pollfd){ .fd = porter, .events = POLLIN };
		for (unsigned int i = 0; i < nr_services; i++)
			if (services[i].kind == TAP_PORTER_DATAGRAMS)
				fds[nr++] = (struct pollfd){ .fd = services[i].socket,
							     .events = POLLIN };
		poll(fds, nr, -1);
		for (unsigned int i = 0; i < nr_services; i++)
			if (services[i].kind == TAP_PORTER_DATAGRAMS)
				serve_datagrams(&services[i], porter);
		if (fds[0].revents)
			hear_porter(porter);
	}
}

/* ---- the porter ---- */

static struct caller {
	int fd;
	unsigned char service; /* index in services */
	bool is_ready; /* it sent something, or its time is over */
	uid_t uid;
	uint64_t since_ns;
} callers[MAX_CALLERS]; /* the oldest first */
static unsigned int nr_callers;

static pid_t worker;
static int line = -1; /* socket to the worker; -1: there is no worker */
static bool is_handed; /* the worker has a caller and has not reported DONE */
static uid_t handed_uid;
/* users who blocked a worker: callers of other users come first */
static uid_t offenders[MAX_OFFENDERS];
static unsigned int nr_offenders;
static pid_t left[MAX_LEFT];
static unsigned int nr_left;
static enum { NOT, WANTED, ASKED } finish;
/* when the worker began to handle what a stranger sent; 0: it does not */
static uint64_t at_one_ns;

/* Close the line to the worker, which exits when it notices. */
static void drop_worker(void)
{
	if (line >= 0)
		close(line);
	line = -1;
	is_handed = false;
	finish = finish == ASKED ? WANTED : finish;
}

static void start_worker(int control)
{
	int ends[2];

	at_one_ns = 0;
	if (!nr_services || nr_left >= MAX_LEFT ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	worker = _Fork();
	if (!worker) {
		close(control);
		close(ends[0]);
		for (unsigned int i = 0; i < nr_callers; i++)
			close(callers[i].fd);
		run_worker(ends[1]);
	}
	close(ends[1]);
	line = ends[0];
	if (worker < 0) {
		worker = 0;
		drop_worker();
	}
}

static bool is_offender(uid_t uid)
{
	for (unsigned int i = 0; i < nr_offenders; i++)
		if (offenders[i] == uid)
			return true;
	return false;
}

static void leave_worker(int control)
{
	/* root and the recorder's user are trusted: they could harm the recorder anyway */
	if (is_handed && handed_uid && handed_uid != geteuid() && !is_offender(handed_uid) &&
	    nr_offenders < MAX_OFFENDERS)
		offenders[nr_offenders++] = handed_uid;
	if (worker) /* otherwise it has ended, and its pid may be another process's */
		kill(worker, SIGKILL);
	drop_worker();
	if (worker)
		left[nr_left++] = worker;
	start_worker(control);
}

/* Reap workers that have ended. If too many were left, a new worker can be started now. */
static void reap_workers(int control)
{
	for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;) {
		worker = worker == pid ? 0 : worker;
		for (unsigned int i = 0; i < nr_left; i++)
			if (left[i] == pid)
				left[i] = left[--nr_left];
	}
	if (line < 0)
		start_worker(control);
}

static void hear_worker(int control)
{
	char byte;

	if (recv(line, &byte, 1, MSG_DONTWAIT) != 1) {
		leave_worker(control);
	} else if (byte == TAP_PORTER_FINISH) {
		finish = NOT;
		send_byte(control, TAP_PORTER_FINISH);
	} else {
		at_one_ns = byte == AT_ONE ? tap_now_ns() : 0;
		is_handed &= byte != DONE;
	}
}

static void hear_recorder(int control)
{
	struct tap_passed passed;
	char byte;

	if (tap_parcel_receive(control, &byte, 1, &passed, MSG_DONTWAIT) <= 0)
		_exit(0); /* the worker exits, too */
	if (passed.nr == 2 && nr_services < TAP_PORTER_MAX_SERVICES) {
		services[nr_services++] = (struct service){ passed.fds[0], passed.fds[1],
							    (enum tap_porter_kind)byte };
		/*
		 * callers are passed to the worker together with their channel; a worker started
		 * now has a copy of services
		 */
		if (line < 0)
			start_worker(control);
		else if (byte == TAP_PORTER_DATAGRAMS && tap_parcel_send(line, &byte, 1, &passed))
			leave_worker(control);
		return;
	}
	close_passed(&passed);
	finish = WANTED;
}

/* Return: whether there was a caller. */
static bool accept_caller(unsigned int service)
{
	int fd = accept4(services[service].socket, NULL, NULL, SOCK_CLOEXEC);
	struct ucred from = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(from);

	if (fd < 0)
		return false;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &from, &len);
	callers[nr_callers++] = (struct caller){ .fd = fd,
						 .service = (unsigned char)service,
						 .uid = from.uid,
						 .since_ns = tap_now_ns() };
	return true;
}

/*
 * Mark callers that can be served. Programs of schedtap send at once after connecting; if there are
 * too many callers, the oldest is served although it is silent.
 */
static void note_ready(void)
{
	for (unsigned int i = 0; i < nr_callers; i++) {
		struct pollfd ready = { .fd = callers[i].fd, .events = POLLIN };

		callers[i].is_ready |=
			poll(&ready, 1, 0) == 1 || tap_now_ns() - callers[i].since_ns >= CALLER_NS;
	}
	if (nr_callers == MAX_CALLERS)
		callers[0].is_ready = true;
}

static void accept_callers(void)
{
	for (unsigned int i = 0; i < nr_services; i++)
		while (services[i].kind == TAP_PORTER_CALLS && nr_callers < MAX_CALLERS &&
		       accept_caller(i))
			;
	note_ready();
}

/*
 * Pass a caller to the worker. Closing our copy here is safe: the last one is in flight to the
 * worker, so that messages and descriptors of the caller are closed there. Return: whether there is
 * a caller for the worker, now or later.
 */
static bool hand_caller(bool of_offender)
{
	unsigned int i = 0;
	int to;

	while (i < nr_callers &&
	       (!callers[i].is_ready || is_offender(callers[i].uid) != of_offender))
		i++;
	if (i == nr_callers)
		return false;
	handed_uid = callers[i].uid;
	to = services[callers[i].service].to;
	if (tap_parcel_send(line, "", 1,
			    &(struct tap_passed){ .fds = { callers[i].fd, to }, .nr = 2 })) {
		poll(NULL, 0, RETRY_MS);
		return true;
	}
	is_handed = true;
	close(callers[i].fd);
	memmove(&callers[i], &callers[i + 1], (--nr_callers - i) * sizeof(*callers));
	return true;
}

static bool is_idle(void)
{
	return line >= 0 && !is_handed && !at_one_ns;
}

static void give_work(int control)
{
	accept_callers();
	if (is_idle() && !hand_caller(false) && finish == WANTED) {
		send_byte(line, TAP_PORTER_FINISH);
		finish = ASKED;
	} else if (is_idle() && !finish) {
		hand_caller(true);
	} else if (line < 0 && finish) {
		send_byte(control, TAP_PORTER_FINISH);
		finish = NOT;
	}
}

/*
 * Drop what the porter inherits from the recorder: descriptors, real-time priority, and signals
 * that end the recorder.
 */
static void become_porter(int control)
{
	static const int ignored[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2
	};
	struct sched_param none = { 0 };
	sigset_t nothing;
	struct stat st;
	int fd;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&nothing);
	sigprocmask(SIG_SETMASK, &nothing, NULL);
	sched_setscheduler(0, SCHED_OTHER, &none);
	prctl(PR_SET_NAME, "schedtap-porter");
	if (control)
		close_range(0, (unsigned int)control - 1, 0);
	close_range((unsigned int)control + 1, ~0u, 0);
	if (chdir("/"))
		_exit(1);
	fd = memfd_create("schedtap", MFD_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		_exit(1);
	memory_dev = st.st_dev;
	close(fd);
}

/*
 * Return: whether the process is runnable: it may wait long for a CPU on a busy machine, but it is
 * not blocked.
 */
static bool is_runnable(pid_t pid)
{
	char path[32], text[256];
	const char *end;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	end = strrchr(text, ')');
	return end && !strncmp(end, ") R", 3);
}

static void check_worker(int control)
{
	if (!at_one_ns || tap_now_ns() - at_one_ns < BLOCKED_MS * 1000000ull)
		return;
	if (is_runnable(worker))
		at_one_ns = tap_now_ns();
	else
		leave_worker(control);
}

/* Wait until there is something to do. Callers that are still silent are polled, too. */
static void wait_for_work(int control)
{
	struct pollfd fds[2 + TAP_PORTER_MAX_SERVICES + MAX_CALLERS];
	unsigned int nr = 0;
	int ready;

	fds[nr++] = (struct pollfd){ .fd = control, .events = POLLIN };
	fds[nr++] = (struct pollfd){ .fd = line, .events = POLLIN };
	for (unsigned int i = 0; is_idle() && i < nr_services; i++)
		if (services[i].kind == TAP_PORTER_CALLS && nr_callers < MAX_CALLERS)
			fds[nr++] = (struct pollfd){ .fd = services[i].socket, .events = POLLIN };
	for (unsigned int i = 0; is_idle() && i < nr_callers; i++)
		fds[nr++] = (struct pollfd){ .fd = callers[i].fd, .events = POLLIN };
	ready = poll(fds, nr, at_one_ns || nr_left || nr_callers ? BLOCKED_MS : -1);
	if (fds[1].revents)
		hear_worker(control);
	else if (ready >= 0)
		check_worker(control);
	if (fds[0].revents)
		hear_recorder(control);
}

_Noreturn void tap_porter_run(int control)
{
	become_porter(control);
	for (;;) {
		wait_for_work(control);
		reap_workers(control);
		give_work(control);
	}
}
