// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs at a recorder's session socket. They connect, send bytes and descriptors of any kind,
 * write anything to their control files, and disconnect, while the recorder reads what they sent
 * and enables events. Whatever they do, the recorder leaks no descriptor, and no control file
 * changes its size.
 *
 * The input is a list of steps: action (a byte), client, argument, length (one byte each), bytes.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "record/user/filters.h"
#include "record/user/sessions.h"
#include "check.h"

#define assert_true(what) CHECK(what)
#define assert_int_equal(a, b) CHECK((a) == (b))
#include "../unit/user_program.h"

#define CLIENTS 8u
#define MAX_SENT 16u /* descriptors in one message */

enum step { CALL, SEND, LEAVE, WRITE, TAKE, NR_STEPS };

static const struct event_text events[] = {
	{ "app", "start", FORMAT_TEXT("start") },
	{ "app", "stop", FORMAT_TEXT("stop") },
};

static char folder[100], address[108];
/* folders of the session file. The set has none, as it would reread them depending on the time */
static struct tap_user_folders folders;
static struct tap_user_set *set;
static struct tap_user_sessions sessions;
static struct tap_porter *porter;

struct clients {
	int fd[CLIENTS]; /* -1: not connected */
	struct program programs[2];
	int others[6]; /* files that are not control files */
};

/* ---- clients ---- */

static int memory(int seals)
{
	int fd = memfd_create("schedtap", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && !ftruncate(fd, 1 << 20) && !fcntl(fd, F_ADD_SEALS, seals));
	return fd;
}

static void clients_init(struct clients *c)
{
	for (unsigned int i = 0; i < CLIENTS; i++)
		c->fd[i] = -1;
	for (unsigned int i = 0; i < 2; i++) {
		program_file(&c->programs[i], getpid());
		program_object(&c->programs[i], 16, events, 2);
		area_of(&c->programs[i], 0)->filters = 1;
	}
	c->others[0] = open("/dev/zero", O_RDWR | O_CLOEXEC);
	c->others[1] = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	c->others[2] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	c->others[3] = memory(0);
	c->others[4] = memory(F_SEAL_SHRINK);
	c->others[5] = memory(F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

static void leave(struct clients *c, unsigned int who)
{
	if (c->fd[who] >= 0)
		close(c->fd[who]);
	c->fd[who] = -1;
}

static void clients_release(struct clients *c)
{
	for (unsigned int i = 0; i < CLIENTS; i++)
		leave(c, i);
	for (unsigned int i = 0; i < 2; i++)
		program_unmap(&c->programs[i]);
	for (unsigned int i = 0; i < sizeof(c->others) / sizeof(*c->others); i++)
		close(c->others[i]);
}

static void call(struct clients *c, unsigned int who)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	leave(c, who);
	memcpy(to.sun_path, address, sizeof(address));
	c->fd[who] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	CHECK(c->fd[who] >= 0 && !connect(c->fd[who], (struct sockaddr *)&to, sizeof(to)));
}

/* Send @bytes; each of the first @nr bytes selects a descriptor to send along. */
static void send_all(const struct clients *c, unsigned int who, unsigned int nr,
		     const unsigned char *bytes, size_t len)
{
	char room[CMSG_SPACE(MAX_SENT * sizeof(int))] = { 0 };
	struct iovec data = { (void *)bytes, len };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *h = (struct cmsghdr *)room;

	nr = nr < len ? nr : (unsigned int)len;
	if (nr) {
		*h = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS,
				       .cmsg_len = CMSG_LEN(nr * sizeof(int)) };
		m.msg_control = room;
		m.msg_controllen = CMSG_SPACE(nr * sizeof(int));
	}
	for (unsigned int i = 0; i < nr; i++) {
		unsigned int which = bytes[i] % 8;
		int fd = which < 2 ? c->programs[which].fd : c->others[which - 2];

		memcpy(CMSG_DATA(h) + i * sizeof(fd), &fd, sizeof(fd));
	}
	if (c->fd[who] >= 0)
		sendmsg(c->fd[who], &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Overwrite the head, the areas, or the first area. */
static void write_over(const struct program *p, unsigned int where, const unsigned char *bytes,
		       size_t len)
{
	memcpy(p->map + where / 1024 % 3 * TAP_CONTROL_PAGE +
		       (where / 1024 % 3 == 2) * (p->end - 65536 - 2 * TAP_CONTROL_PAGE) +
		       where % 1024,
	       bytes, len);
}

/* ---- the recorder ---- */

static void use(struct tap_user_program *p)
{
	const struct tap_steps none = { .bytes = sizeof(none) };
	struct tap_buf text = { 0 };
	struct stat before, after;

	CHECK(p->pid == getpid() && p->uid == geteuid());
	CHECK(p->control.nr_areas <= TAP_CONTROL_AREAS &&
	      !p->control.head.reason[sizeof(p->control.head.reason) - 1]);
	if (tap_user_lock(p, NULL))
		return;
	CHECK(!fstat(p->fd, &before));
	(void)tap_user_refresh(set, p, NULL);
	for (unsigned int i = 0; i < p->control.nr_events && i < 8; i++) {
		struct tap_user_event *ev = &p->control.events[i];

		CHECK(tap_user_name_ok(ev->kind->system) && tap_user_name_ok(ev->kind->name));
		(void)tap_user_want(p, ev, true, NULL);
		(void)tap_user_put_filter(p, ev, "seq > 1", &none, NULL);
		(void)tap_user_get_filter(p, ev, &text, NULL);
		(void)tap_user_want(p, ev, false, NULL);
	}
	(void)tap_user_set_ring(p, TAP_RING_DISCARD, TAP_RING_SHIFT_MIN, NULL);
	tap_user_tell(p, offsetof(struct tap_control, recording), 1);
	CHECK(!fstat(p->fd, &after) && after.st_size == before.st_size);
	tap_user_unlock(p);
	tap_buf_release(&text);
}

static void take(void)
{
	struct tap_user_sent sent;
	struct tap_user_program *p;

	sessions.are_over = true; /* wait for everything that was sent before */
	tap_porter_finish(porter);
	while (tap_user_sessions_take(&sessions, &sent)) {
		CHECK(sent.pid == getpid() && sent.uid == geteuid());
		CHECK(!tap_user_add_sent(set, &sent));
	}
	for (unsigned int i = 0; (p = tap_user_program_at(set, i)); i++)
		use(p);
	CHECK(tap_user_scan(set, NULL) >= 0 &&
	      !tap_user_program_at(set, 0)); /* none of them has a link */
}

/* ---- steps ---- */

static void run(struct clients *c, const unsigned char *at, const unsigned char *end)
{
	while (end - at >= 4) {
		unsigned int what = at[0] % NR_STEPS, who = at[1] % CLIENTS, arg = at[2];
		size_t len = at[3] < end - at - 4 ? at[3] : (size_t)(end - at - 4);

		at += 4;
		if (what == CALL)
			call(c, who);
		else if (what == SEND)
			send_all(c, who, arg % (MAX_SENT + 1), at, len);
		else if (what == LEAVE)
			leave(c, who);
		else if (what == WRITE && len > 2)
			write_over(&c->programs[who % 2], arg << 8 | at[0], at + 1, len - 1);
		else if (what == TAKE)
			take();
		at += len;
	}
}

static void end_all(void)
{
	tap_user_sessions_remove(&sessions);
	tap_porter_free(porter);
	tap_user_folders_release(&folders);
	tap_user_free(set);
	rmdir(folder);
}

static void begin(void)
{
	snprintf(folder, sizeof(folder), "%s/fuzz_session.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	CHECK(mkdtemp(folder) && !tap_user_new(&set) &&
	      !tap_user_folders_add(&folders, folder, geteuid()));
	CHECK((porter = tap_porter_new()) != NULL);
	CHECK(tap_user_sessions_write(&sessions, porter, &folders, "event app:*\n") == 1);
	CHECK((size_t)snprintf(address, sizeof(address), "%s/sessions/%d" TAP_SESSION_SOCKET,
			       folder, (int)getpid()) < sizeof(address));
	atexit(end_all);
	take();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct clients c;
	unsigned int before;

	if (!set)
		begin();
	before = count_descriptors();
	clients_init(&c);
	run(&c, data, data + size);
	take();
	clients_release(&c);
	take(); /* forget programs that have disconnected */
	CHECK(count_descriptors() == before);
	return 0;
}
