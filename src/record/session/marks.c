// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/marks.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "event/defs.h"

#ifndef SO_PASSRIGHTS /* Linux 6.16 */
#define SO_PASSRIGHTS 83
#endif
#define MARKS_PER_DRAIN 100u /* the requests of a sender of more wait until the next drain */
#define COMM_LEN 16u

static const struct tap_def *mark_definition(void)
{
	return tap_def_find("schedtap", "mark");
}

/*
 * Bind a free name: two recorders may run in one process, or have the same pid in two pid
 * namespaces.
 */
static int bind_name(int fd)
{
	for (unsigned int i = 0; i < 1000; i++) {
		struct sockaddr_un to = { .sun_family = AF_UNIX };
		int len = snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1,
				   TAP_MARK_SOCKET "%d.%u", (int)getpid(), i);

		if (!bind(fd, (struct sockaddr *)&to,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) + (socklen_t)len))
			return 0;
		if (errno != EADDRINUSE)
			return -errno;
	}
	return -EADDRINUSE;
}

static void close_socket(struct tap_marks *m)
{
	if (m->from >= 0)
		close(m->from);
	if (m->fd >= 0)
		close(m->fd);
	m->fd = m->from = -1;
}

void tap_marks_release(struct tap_marks *m)
{
	close_socket(m);
	tap_lane_release(&m->lane);
	tap_buf_release(&m->format);
}

int tap_marks_describe(struct tap_marks *m, struct tap_head_format *f)
{
	tap_buf_clear(&m->format);
	tap_def_format(mark_definition(), NULL, NULL, &m->format);
	*f = (struct tap_head_format){ .system = mark_definition()->system,
				       .text = tap_buf_str(&m->format),
				       .len = m->format.len };
	return m->format.err;
}

void tap_marks_start(struct tap_marks *m, struct tap_page_writer *writer)
{
	m->writer = writer;
	m->last_ns = tap_now_ns();
}

void tap_marks_begin_file(struct tap_marks *m, uint64_t start_ns)
{
	m->last_ns = start_ns > m->last_ns ? start_ns : m->last_ns;
}

/* Add the buffer of marks with the first mark: a recording without marks has no such buffer. */
static int begin_lane(struct tap_marks *m, struct tap_err *err)
{
	int buffer;

	if (m->lane.pages)
		return 0;
	buffer = tap_page_writer_add_buffer(m->writer, TAP_HEAD_MARKS, "mono", TAP_PAGE_SIZE, 1,
					    err);
	if (buffer < 0)
		return buffer;
	m->lane = (struct tap_lane){ .buffer = (unsigned int)buffer };
	return tap_lane_init(&m->lane) ? tap_err_nomem(err) : 0;
}

/* Return: the pid in the initial namespace; 0: not known. */
static int32_t initial_pid(struct tap_pids *pids, pid_t pid)
{
	if (pids->nested)
		tap_pids_read(pids); /* the task may be newer than the last reading */
	return pids->nested ? (int32_t)tap_pids_initial(pids, (uint32_t)pid) : pid;
}

static uint32_t data_loc(size_t at, size_t len)
{
	return (uint32_t)(len << 16 | at);
}

struct tap_mark_task tap_marks_task(const struct tap_marks *m, pid_t pid)
{
	struct tap_mark_task task = { .tid = initial_pid(m->pids, pid) };
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	tap_proc_comm(path, task.comm, sizeof(task.comm));
	return task;
}

int tap_marks_add(struct tap_marks *m, uint64_t at_ns, const struct tap_mark_task *task,
		  const char *text, size_t len, struct tap_err *err)
{
	struct { /* events/mark.h, after the common fields */
		uint16_t type;
		uint8_t flags, preempt_count;
		int32_t common_pid, pid;
		uint32_t comm, text;
		char texts[COMM_LEN + TAP_MARK_MAX_TEXT + 1 + 8];
	} rec = { .type = (uint16_t)mark_definition()->id };
	const size_t at = offsetof(__typeof__(rec), texts);
	size_t comm_len = strnlen(task->comm, COMM_LEN - 1) + 1;
	int ret = begin_lane(m, err);

	if (ret)
		return ret;
	if (len > TAP_MARK_MAX_TEXT)
		len = TAP_MARK_MAX_TEXT;
	memcpy(rec.texts, task->comm, comm_len - 1);
	memcpy(rec.texts + comm_len, text, len);
	rec.texts[comm_len + len] = '\0';
	rec.comm = data_loc(at, comm_len);
	rec.text = data_loc(at + comm_len, len + 1);
	rec.common_pid = rec.pid = task->tid;
	/*
	 * Of two requests, the later one may arrive first. Keep the marks in order, because each
	 * sub-buffer begins where the previous one ended.
	 */
	m->last_ns = at_ns > m->last_ns ? at_ns : m->last_ns;
	tap_lane_add(&m->lane, m->writer, m->last_ns, &rec, (uint32_t)(at + comm_len + len + 1));
	if (m->added)
		m->added(m->ctx, m->last_ns, rec.texts + comm_len);
	return 0;
}

/* Return: whether there was a request. */
static bool take_request(struct tap_marks *m, struct tap_drain *res, int *ret, struct tap_err *err)
{
	const size_t head = offsetof(struct tap_mark_request, text);
	struct tap_mark_request r;
	struct tap_mark_task task;
	struct tap_parcel parcel;
	uint64_t now = tap_now_ns();
	int none;

	if (!tap_porter_take(m->from, &parcel, &none))
		return false;
	if (parcel.len < head)
		return true;
	if (parcel.len > sizeof(r))
		parcel.len = sizeof(r);
	memcpy(&r, parcel.bytes, parcel.len);
	/* mark the task that called `schedtap mark` */
	task = tap_marks_task(m, parcel.from.pid > 0 ? tap_proc_parent(parcel.from.pid) : 0);
	*ret = tap_marks_add(m, r.at_ns < now ? r.at_ns : now, &task, r.text, parcel.len - head,
			     err);
	res->events += !*ret;
	if (!*ret && parcel.at_len)
		sendto(m->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&parcel.at,
		       parcel.at_len);
	return true;
}

int tap_marks_drain(struct tap_marks *m, struct tap_drain *res, struct tap_err *err)
{
	int ret = m->early_ret ? tap_err_set(err, m->early_ret, "cannot record marks") : 0;

	res->events += m->early;
	m->early = 0;
	for (unsigned int i = 0;
	     m->from >= 0 && i < MARKS_PER_DRAIN && !ret && take_request(m, res, &ret, err); i++)
		;
	if (m->lane.pages)
		/* marks are rare, and should survive if the recorder is killed */
		tap_lane_flush(&m->lane, m->writer, true);
	return ret;
}

/*
 * Called while the recorder waits for other messages of the porter, which blocks if its requests
 * are not taken.
 */
static void take_early(void *ctx)
{
	struct tap_marks *m = ctx;
	struct tap_drain res = { 0 };

	while (!m->early_ret && take_request(m, &res, &m->early_ret, NULL))
		;
	m->early += res.events;
}

void tap_marks_open(struct tap_marks *m, struct tap_pids *pids, struct tap_porter *porter)
{
	int on = 1, off = 0;

	*m = TAP_NO_MARKS;
	m->pids = pids;
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* on older kernels, the porter closes descriptors that come with a request */
	if (m->fd >= 0)
		setsockopt(m->fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
	if (m->fd >= 0 && !setsockopt(m->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) &&
	    !bind_name(m->fd))
		m->from = tap_porter_serve(porter, m->fd, TAP_PORTER_DATAGRAMS);
	if (m->from < 0)
		close_socket(m);
	else
		tap_porter_set_other(porter, m->from, take_early, m);
}
