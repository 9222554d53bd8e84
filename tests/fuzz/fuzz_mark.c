// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any datagrams to a recorder's mark socket, from sockets with and without addresses. The recorder
 * is a flight recorder: each request of sufficient length becomes a mark in the file that is
 * written at the end, with its text and with a time within the recording, and each sender with an
 * address receives one byte. No descriptor stays open.
 *
 * The input is a list of datagrams: sender and method (one byte each), length (two bytes), bytes.
 */
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <schedtap/reader.h>

#include "base/buf.h"
#include "base/clock.h"
#include "file/pack.h"
#include "file/page_writer.h"
#include "record/pids.h"
#include "record/session/marks.h"
#include "check.h"

#define MAX_WAITING 8u /* datagrams: net.unix.max_dgram_qlen is 10 */
#define MAX_MARKS 100u
#define HEAD offsetof(struct tap_mark_request, text)

enum from { UNBOUND, NUMBERED, NAMED, LONG_PATH, NR_FROM };

struct mark {
	uint64_t ts_ns; /* 0: between the previous mark and now */
	char text[TAP_MARK_MAX_TEXT + 1];
};

struct recorder {
	struct tap_pids pids;
	struct tap_marks marks;
	struct tap_porter *porter;
	struct tap_spool *spool;
	struct tap_page_writer *writer;
	struct sockaddr_un address;
	socklen_t address_len;
	uint64_t start_ns;
	struct mark want[MAX_MARKS];
	unsigned int nr_want;
	int waiting[MAX_WAITING]; /* senders of datagrams that the recorder has not read yet */
	bool is_answered[MAX_WAITING];
	unsigned int nr_waiting;
};

static char folder[100], file[120];

static void remove_folder(void)
{
	unlink(file);
	rmdir(folder);
}

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "%s/fuzz_mark.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	CHECK(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/file", folder);
	atexit(remove_folder);
}

static void start(struct recorder *r)
{
	struct tap_head_format format;
	struct tap_head head = {
		.formats = &format,
		.nr_formats = 1,
		.uname = "Linux",
		.tool = "fuzz",
		.cmdlines = "",
		.meta = "{}",
		.clock = "mono",
		.printk = "",
		.nr_cpus = 1,
	};

	r->porter = tap_porter_new();
	tap_marks_open(&r->marks, &r->pids, r->porter);
	r->address_len = sizeof(r->address);
	CHECK(r->marks.fd >= 0 &&
	      !getsockname(r->marks.fd, (struct sockaddr *)&r->address, &r->address_len));
	CHECK(!tap_marks_describe(&r->marks, &format));
	tap_head_defaults(&head);
	CHECK(!tap_spool_create(file, &head, &r->spool, NULL) &&
	      !tap_spool_hold(r->spool, 1 << 20, NULL));
	CHECK(!tap_page_writer_new(r->spool, &r->writer, NULL));
	CHECK(tap_page_writer_add_buffer(r->writer, "", "mono", TAP_PAGE_SIZE, 1, NULL) == 0);
	r->start_ns = tap_now_ns();
	tap_marks_start(&r->marks, r->writer);
}

/* ---- senders ---- */

static int open_sender(enum from from, unsigned int nr, const unsigned char *bytes, size_t len)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(own.sun_family);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	if (from == NAMED) { /* an abstract name */
		len = len < sizeof(own.sun_path) - 1 ? len : sizeof(own.sun_path) - 1;
		memcpy(own.sun_path + 1, bytes, len);
		size += 1 + (socklen_t)len;
	} else if (from == LONG_PATH) { /* fills sun_path without a terminating NUL */
		memset(own.sun_path, '/', sizeof(own.sun_path));
		memcpy(own.sun_path, folder, strlen(folder));
		own.sun_path[sizeof(own.sun_path) - 1] = (char)('0' + nr);
		size = sizeof(own);
	}
	if (from != UNBOUND)
		(void)bind(fd, (struct sockaddr *)&own, size); /* the name may be in use already */
	return fd;
}

/* Return: true if the kernel accepts it: newer ones refuse descriptors. */
static bool send_all(const struct recorder *r, int fd, bool with_descriptor,
		     const unsigned char *bytes, size_t len)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { (void *)bytes, len };
	struct msghdr m = { .msg_name = (void *)&r->address,
			    .msg_namelen = r->address_len,
			    .msg_iov = &data,
			    .msg_iovlen = 1 };
	struct cmsghdr *h = (struct cmsghdr *)room;

	*h = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS,
			       .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	if (with_descriptor) {
		m.msg_control = room;
		m.msg_controllen = sizeof(room);
	}
	if (sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len)
		return true;
	CHECK(with_descriptor);
	return false;
}

static void want(struct recorder *r, const unsigned char *bytes, size_t len)
{
	struct mark *m = &r->want[r->nr_want++];
	uint64_t ts_ns;

	*m = (struct mark){ 0 };
	memcpy(&ts_ns, bytes, sizeof(ts_ns));
	memcpy(m->text, bytes + HEAD,
	       len - HEAD < TAP_MARK_MAX_TEXT ? len - HEAD : TAP_MARK_MAX_TEXT);
	m->ts_ns = ts_ns > r->start_ns && ts_ns < tap_now_ns() ? ts_ns : 0;
}

static void take(struct recorder *r)
{
	struct tap_drain res = { 0 };
	char byte, path[120];

	tap_porter_finish(r->porter);
	CHECK(!tap_porter_brings(r->porter, NULL, 0)); /* meanwhile it reads marks */
	CHECK(!tap_marks_drain(&r->marks, &res, NULL));
	for (unsigned int i = 0; i < r->nr_waiting; i++) {
		CHECK(recv(r->waiting[i], &byte, 1, MSG_DONTWAIT) == (r->is_answered[i] ? 1 : -1));
		close(r->waiting[i]);
		snprintf(path, sizeof(path), "%s/%u", folder, i);
		unlink(path);
	}
	r->nr_waiting = 0;
}

/* Send the next datagram of the input. Return: false if there is none. */
static bool send_next(struct recorder *r, const unsigned char **at, const unsigned char *end)
{
	const unsigned char *p = *at;
	struct sockaddr_un own;
	socklen_t size = sizeof(own);
	uint16_t len;
	bool is_sent;
	int fd;

	if (end - p < 4 || r->nr_want == MAX_MARKS)
		return false;
	memcpy(&len, p + 2, sizeof(len));
	if (len > end - p - 4)
		len = (uint16_t)(end - p - 4);
	fd = open_sender(p[0] % NR_FROM, r->nr_waiting, p + 4, len);
	is_sent = send_all(r, fd, p[1] & 1, p + 4, len);
	CHECK(!getsockname(fd, (struct sockaddr *)&own, &size));
	r->waiting[r->nr_waiting] = fd;
	r->is_answered[r->nr_waiting++] = is_sent && len >= HEAD && size > sizeof(own.sun_family);
	if (is_sent && len >= HEAD)
		want(r, p + 4, len);
	if (p[1] & 2 || r->nr_waiting == MAX_WAITING)
		take(r);
	*at = p + 4 + len;
	return true;
}

/* ---- the recording ---- */

static void compare(const struct recorder *r, const struct tap_event *ev, const struct mark *m,
		    uint64_t last_ns)
{
	const struct tap_field *f = tap_format_field(ev->fmt, "text");
	const char *text;
	uint32_t len;

	CHECK(!strcmp(ev->fmt->name, "mark") && f);
	text = tap_field_bytes(f, ev->data, ev->size, &len);
	CHECK(len == strlen(m->text) && !memcmp(text, m->text, len));
	CHECK(ev->ts_ns >= r->start_ns && ev->ts_ns <= tap_now_ns());
	CHECK(!m->ts_ns || ev->ts_ns == (m->ts_ns > last_ns ? m->ts_ns : last_ns));
}

static void read_file(const struct recorder *r)
{
	const struct tap_pack_moment moment = { .spool = r->spool, .meta = "{}", .cmdlines = "" };
	struct tap_reader *reader;
	struct tap_event ev;
	struct tap_err err;
	unsigned int nr = 0;
	uint64_t last_ns = 0;

	CHECK(!tap_pack(tap_spool_path(r->spool), file,
			&(struct tap_pack_opts){ .moment = &moment }, &err));
	CHECK(!tap_reader_open(file, &reader, &err));
	for (; tap_reader_next(reader, &ev, &err) == 1; last_ns = ev.ts_ns) {
		CHECK(ev.fmt && nr < r->nr_want);
		compare(r, &ev, &r->want[nr++], last_ns);
	}
	CHECK(nr == r->nr_want);
	tap_reader_free(reader);
	unlink(file);
}

/*
 * Use a separate network namespace, before libFuzzer starts threads: otherwise any `schedtap mark`
 * on this machine would mark this recorder as well.
 */
int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (unshare(CLONE_NEWNET))
		fprintf(stderr, "fuzz_mark: without a network namespace of its own (%m): marks of "
				"others make it fail\n");
	return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct recorder r;
	const unsigned char *end = data + size;
	unsigned int before;

	if (!*folder)
		make_folder();
	before = count_descriptors();
	memset(&r, 0, sizeof(r));
	start(&r);
	while (send_next(&r, &data, end))
		;
	take(&r);
	read_file(&r);
	tap_marks_release(&r.marks);
	tap_porter_free(r.porter);
	tap_page_writer_free(r.writer);
	tap_spool_remove(r.spool);
	tap_spool_free(r.spool);
	CHECK(count_descriptors() == before);
	return 0;
}
