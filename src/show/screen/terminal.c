// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/screen/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "show/screen/keys.h"
#include "show/screen/signals.h"

#define NS_PER_S 1000000000ull
#define ESCAPE_NS 50000000u /* a lone ESC is a key once no byte came for this long */

struct tap_terminal {
	int in_fd, out_fd;
	int event_fd; /* readable: a signal was noted */
	pid_t pid; /* a child after fork() leaves the terminal alone */
	struct termios before, raw;
	atomic_bool is_raw;
	bool colours, utf8;
	bool is_shown; /* .shown is on the screen */
	struct tap_frame shown;
	struct tap_buf out;
	struct tap_keys keys;
	uint64_t keys_ns; /* when the last bytes of .keys came */
	int signal; /* what ended tap_terminal_wait(); 0: nothing */
};

bool tap_terminal_can(int in_fd, int out_fd)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") && isatty(in_fd) && isatty(out_fd);
}

/* ---- modes ---- */

/* Without autowrap, a frame that is larger than the terminal neither wraps nor scrolls. */
/* Between these, terminals that know them (mode 2026) show nothing of a half-drawn frame. */
#define BEGIN_UPDATE "\033[?2026h"
#define END_UPDATE "\033[?2026l"
#define SET_UP "\033[?1049h\033[?25l\033[?7l\033[m"
/* Clear first: not every terminal has an alternate screen. */
#define RESTORE "\033[m\033[H\033[2J\033[?7h\033[?25h\033[?1049l"

/*
 * Write a few bytes unless the terminal takes none for a second, as after a lost connection: the
 * process is about to end. Async-signal-safe.
 */
static void write_soon(int fd, const char *s, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (poll(&p, 1, 1000) == 1 && p.revents & POLLOUT)
		(void)!write(fd, s, len);
}

/* Async-signal-safe. */
static void restore(struct tap_terminal *t)
{
	sigset_t ttou, mask;

	if (!atomic_exchange(&t->is_raw, false) || getpid() != t->pid)
		return;
	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU); /* blocked: a process in the background may change modes */
	pthread_sigmask(SIG_BLOCK, &ttou, &mask);
	write_soon(t->out_fd, RESTORE, strlen(RESTORE));
	tcsetattr(t->in_fd, TCSANOW, &t->before);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Write, but stop where a signal ends the program: the terminal may take no more bytes. */
static int write_out(const struct tap_terminal *t, const char *s, size_t len)
{
	struct pollfd p = { .fd = t->out_fd, .events = POLLOUT };

	while (len && !tap_terminal_signals_peek(TAP_SIGNALS_END)) {
		ssize_t n = write(t->out_fd, s, len);

		if (n < 0 && errno == EAGAIN) /* another program has made it so */
			poll(&p, 1, -1);
		else if (n < 0 && errno != EINTR)
			return -errno;
		s += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/*
 * In the background, tcsetattr() stops the process by SIGTTOU until the user brings it to the
 * foreground, or kills it.
 */
static int set_up(struct tap_terminal *t)
{
	t->is_shown = false;
	while (tcsetattr(t->in_fd, TCSANOW, &t->raw))
		if (errno != EINTR || tap_terminal_signals_peek(TAP_SIGNALS_END))
			return -errno;
	t->is_raw = true;
	return write_out(t, SET_UP, strlen(SET_UP));
}

/* Ctrl-C and Ctrl-Z stay signals (ISIG), so they work while the program does not wait for keys. */
static int read_modes(struct tap_terminal *t)
{
	if (tcgetattr(t->in_fd, &t->before))
		return -errno;
	t->raw = t->before;
	t->raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
	t->raw.c_lflag |= ISIG;
	t->raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | ISTRIP | IXON);
	t->raw.c_cc[VMIN] = 1;
	t->raw.c_cc[VTIME] = 0;
	return 0;
}

/* ---- signals ---- */

static struct tap_terminal *open_terminal; /* for what ends the process */

static void restore_open(void)
{
	restore(open_terminal);
}

/*
 * Stop until a shell continues the process. A stopped process that is killed gets its SIGTERM when
 * it continues, maybe in the background: then it must not set up the terminal again.
 */
static void stop(struct tap_terminal *t)
{
	restore(t);
	tap_terminal_signals_stop();
	tap_terminal_signals_get(TAP_SIGNAL(SIGCONT));
}

/* Handle the signals that came. Return: true: *@event is set. */
static bool handle_signals(struct tap_terminal *t, enum tap_terminal_event *event)
{
	unsigned int ends = tap_terminal_signals_get(TAP_SIGNALS_END);
	unsigned int others = tap_terminal_signals_get(TAP_SIGNALS_NOTED & ~TAP_SIGNALS_END);

	if (!ends && others & TAP_SIGNAL(SIGTSTP)) {
		stop(t);
		ends = tap_terminal_signals_get(TAP_SIGNALS_END);
	}
	if (ends)
		t->signal = __builtin_ctz(ends);
	else if (others & ~TAP_SIGNAL(SIGWINCH) && set_up(t))
		t->signal = SIGHUP;
	if (others)
		t->is_shown = false;
	*event = t->signal ? TAP_TERMINAL_END : TAP_TERMINAL_RESIZED;
	return t->signal || others;
}

/* ---- the terminal ---- */

int tap_terminal_open(struct tap_terminal **out, int in_fd, int out_fd, struct tap_err *err)
{
	struct tap_terminal *t = calloc(1, sizeof(*t));
	int ret;

	*out = NULL;
	if (!t)
		return tap_err_nomem(err);
	*t = (struct tap_terminal){ .in_fd = in_fd,
				    .out_fd = out_fd,
				    .event_fd = -1,
				    .pid = getpid(),
				    .colours = true,
				    .utf8 = true };
	ret = read_modes(t);
	if (!ret) {
		open_terminal = t;
		t->event_fd = tap_terminal_signals_take(restore_open);
		ret = t->event_fd < 0 ? t->event_fd : set_up(t);
	}
	if (ret) {
		tap_terminal_close(t);
		return tap_err_set(err, ret, "cannot use the terminal: %s", strerror(-ret));
	}
	*out = t;
	return 0;
}

void tap_terminal_close(struct tap_terminal *t)
{
	if (!t)
		return;
	restore(t);
	if (t->event_fd >= 0)
		tap_terminal_signals_give_back();
	tap_frame_release(&t->shown);
	tap_buf_release(&t->out);
	free(t);
}

void tap_terminal_looks(struct tap_terminal *t, bool colours, bool utf8)
{
	t->is_shown = false;
	t->colours = colours;
	t->utf8 = utf8;
}

void tap_terminal_size(const struct tap_terminal *t, unsigned int *rows, unsigned int *columns)
{
	struct winsize size;

	*rows = *columns = 0;
	if (ioctl(t->out_fd, TIOCGWINSZ, &size))
		return;
	*rows = size.ws_row;
	*columns = size.ws_col;
}

int tap_terminal_show(struct tap_terminal *t, const struct tap_frame *f, struct tap_err *err)
{
	int ret;

	tap_buf_clear(&t->out);
	tap_buf_puts(&t->out, BEGIN_UPDATE);
	tap_frame_update(&t->out, t->is_shown ? &t->shown : NULL, f, t->colours, t->utf8);
	tap_buf_puts(&t->out, END_UPDATE);
	t->is_shown = false;
	ret = t->out.err ?: tap_frame_reset(&t->shown, f->rows, f->columns);
	if (ret)
		return tap_err_nomem(err);
	if (f->rows && f->columns)
		memcpy(t->shown.cells, f->cells, (size_t)f->rows * f->columns * sizeof(*f->cells));
	ret = write_out(t, t->out.data, t->out.len);
	if (ret)
		return tap_err_set(err, ret, "cannot write to the terminal: %s", strerror(-ret));
	t->is_shown = true;
	return 0;
}

/* Return: false if the terminal has vanished. */
static bool read_keys(struct tap_terminal *t)
{
	char bytes[sizeof(t->keys.bytes)];
	ssize_t n = read(t->in_fd, bytes, sizeof(bytes) - t->keys.nr);

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	tap_keys_add(&t->keys, bytes, (size_t)n);
	t->keys_ns = tap_now_ns();
	return true;
}

/* Wait until a time, but at most an hour, because seconds may have 32 bits. */
static void poll_until(struct pollfd *fds, nfds_t nr, uint64_t until_ns)
{
	uint64_t now = tap_now_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec ts = { .tv_sec = 3600 };

	if (left < 3600 * NS_PER_S)
		ts = (struct timespec){ .tv_sec = (time_t)(left / NS_PER_S),
					.tv_nsec = (long)(left % NS_PER_S) };
	if (ppoll(fds, nr, &ts, NULL) < 0) /* EINTR: revents are as before */
		for (nfds_t i = 0; i < nr; i++)
			fds[i].revents = 0;
}

enum tap_terminal_event tap_terminal_wait(struct tap_terminal *t, uint64_t until_ns, int fd,
					  uint32_t *key)
{
	struct pollfd fds[] = { { t->event_fd, POLLIN, 0 },
				{ t->in_fd, POLLIN, 0 },
				{ fd, POLLIN, 0 } };
	enum tap_terminal_event event;
	uint64_t count, escape_ns;
	bool complete = false;

	for (;;) {
		if (handle_signals(t, &event))
			return event;
		if (tap_keys_take(&t->keys, complete, key))
			return TAP_TERMINAL_KEY;
		escape_ns = t->keys.nr ? t->keys_ns + ESCAPE_NS : UINT64_MAX;
		poll_until(fds, 3, until_ns < escape_ns ? until_ns : escape_ns);
		if (fds[0].revents)
			(void)!read(t->event_fd, &count, sizeof(count));
		else if (fds[1].revents && !read_keys(t))
			t->signal = SIGHUP;
		else if (!fds[1].revents && tap_now_ns() >= escape_ns)
			complete = true;
		else if (!fds[1].revents && fds[2].revents)
			return TAP_TERMINAL_FD;
		else if (!fds[1].revents && tap_now_ns() >= until_ns)
			return TAP_TERMINAL_TIME;
	}
}

int tap_terminal_signal(const struct tap_terminal *t)
{
	return t->signal;
}
