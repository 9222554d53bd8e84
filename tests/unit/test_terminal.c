// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A pseudoterminal as a screen. Some tests use it from this process; the others start a small
 * program as a shell does, in the foreground of a session of its own, and look at what is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "base/clock.h"
#include "show/screen/keys.h"
#include "show/screen/terminal.h"

#define SECOND 1000000000ull
#define LIMIT (20 * SECOND) /* of a wait: a slow machine, but not forever */

/* ---- in this process ---- */

struct pair {
	int master, slave;
	struct termios before;
	struct tap_terminal *t;
};

static void open_pair(struct pair *p, unsigned short rows, unsigned short columns)
{
	const struct winsize size = { .ws_row = rows, .ws_col = columns };

	assert_int_equal(openpty(&p->master, &p->slave, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(p->slave, &p->before), 0);
	assert_int_equal(tap_terminal_open(&p->t, p->slave, p->slave, NULL), 0);
}

static void assert_restored(int fd, const struct termios *before)
{
	struct termios now;

	assert_int_equal(tcgetattr(fd, &now), 0);
	assert_int_equal(now.c_lflag, before->c_lflag);
	assert_int_equal(now.c_iflag, before->c_iflag);
	assert_int_equal(now.c_oflag, before->c_oflag);
	assert_memory_equal(now.c_cc, before->c_cc, sizeof(now.c_cc));
}

static bool is_raw(int fd)
{
	struct termios now;

	return !tcgetattr(fd, &now) && !(now.c_lflag & (ICANON | ECHO));
}

static void close_pair(struct pair *p)
{
	tap_terminal_close(p->t);
	assert_restored(p->slave, &p->before);
	close(p->master);
	close(p->slave);
}

static void assert_key(struct tap_terminal *t, uint32_t want)
{
	uint32_t key = 0;

	assert_int_equal(tap_terminal_wait(t, tap_now_ns() + LIMIT, -1, &key), TAP_TERMINAL_KEY);
	assert_int_equal(key, want);
}

static void test_keys(void **state)
{
	struct pair p;

	(void)state;
	open_pair(&p, 24, 80);
	assert_true(is_raw(p.slave));
	assert_int_equal(write(p.master, "a\r\033[A\033", 6), 6);
	assert_key(p.t, 'a');
	assert_key(p.t, TAP_KEY_ENTER);
	assert_key(p.t, TAP_KEY_UP);
	assert_key(p.t, TAP_KEY_ESCAPE);
	close_pair(&p);
}

/* The rest of a key has long come while the program was busy: ESC is not alone. */
static void test_busy_program(void **state)
{
	uint32_t key;
	struct pair p;

	(void)state;
	open_pair(&p, 24, 80);
	assert_int_equal(write(p.master, "\033", 1), 1);
	assert_int_equal(tap_terminal_wait(p.t, 0, -1, &key), TAP_TERMINAL_TIME);
	assert_int_equal(write(p.master, "[", 1), 1);
	usleep(100000);
	assert_int_equal(tap_terminal_wait(p.t, 0, -1, &key), TAP_TERMINAL_TIME);
	assert_int_equal(write(p.master, "A", 1), 1);
	usleep(100000);
	assert_key(p.t, TAP_KEY_UP);
	close_pair(&p);
}

static void test_time_and_fd(void **state)
{
	uint64_t until = tap_now_ns() + SECOND / 50;
	int ends[2];
	uint32_t key;
	struct pair p;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	open_pair(&p, 24, 80);
	assert_int_equal(tap_terminal_wait(p.t, until, ends[0], &key), TAP_TERMINAL_TIME);
	assert_true(tap_now_ns() >= until);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(tap_terminal_wait(p.t, UINT64_MAX, ends[0], &key), TAP_TERMINAL_FD);
	close_pair(&p);
	close(ends[0]);
	close(ends[1]);
}

/* Read until the bytes end with @last: the kernel hands them over in pieces, a bit later. */
static void read_until(int master, char *bytes, size_t size, const char *last)
{
	struct pollfd p = { .fd = master, .events = POLLIN };
	size_t len = 0;
	ssize_t n;

	bytes[0] = '\0';
	do {
		if (poll(&p, 1, LIMIT / 1000000) != 1)
			fail_msg("'%s' does not end with '%s'", bytes, last);
		n = read(master, bytes + len, size - 1 - len);
		assert_true(n > 0);
		len += (size_t)n;
		bytes[len] = '\0';
	} while (len < strlen(last) || strcmp(bytes + len - strlen(last), last));
}

static void test_show(void **state)
{
	struct tap_frame f = { 0 };
	unsigned int rows, columns;
	char bytes[4096];
	struct pair p;

	(void)state;
	open_pair(&p, 3, 20);
	tap_terminal_size(p.t, &rows, &columns);
	assert_int_equal(rows, 3);
	assert_int_equal(tap_frame_reset(&f, rows, columns), 0);
	tap_frame_put(&f, 0, 0, 0, "hello");
	assert_int_equal(tap_terminal_show(p.t, &f, NULL), 0);
	read_until(p.master, bytes, sizeof(bytes), "\033[2J\033[1;1Hhello\033[?2026l");
	assert_non_null(strstr(bytes, "\033[?1049h"));
	tap_frame_put(&f, 0, 1, 0, "a");
	assert_int_equal(tap_terminal_show(p.t, &f, NULL), 0);
	read_until(p.master, bytes, sizeof(bytes), "\033[?2026l");
	assert_string_equal(bytes, "\033[?2026h\033[1;2Ha\033[?2026l");
	tap_frame_release(&f);
	close_pair(&p);
}

static void test_no_size(void **state)
{
	struct tap_frame f = { 0 };
	unsigned int rows = 1, columns = 1;
	struct pair p;

	(void)state;
	open_pair(&p, 0, 0);
	tap_terminal_size(p.t, &rows, &columns);
	assert_int_equal(rows + columns, 0);
	assert_int_equal(tap_frame_reset(&f, rows, columns), 0);
	assert_int_equal(tap_terminal_show(p.t, &f, NULL), 0);
	close_pair(&p);
}

static void test_vanished(void **state)
{
	struct tap_frame f = { 0 };
	struct tap_err err;
	uint32_t key;
	struct pair p;

	(void)state;
	open_pair(&p, 24, 80);
	close(p.master);
	assert_int_equal(tap_terminal_wait(p.t, UINT64_MAX, -1, &key), TAP_TERMINAL_END);
	assert_int_equal(tap_terminal_signal(p.t), SIGHUP);
	assert_int_equal(tap_terminal_show(p.t, &f, &err), -EIO);
	tap_terminal_close(p.t);
	close(p.slave);
}

static void test_no_terminal(void **state)
{
	struct tap_terminal *t;
	struct tap_err err;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_false(tap_terminal_can(fd, fd));
	assert_int_equal(tap_terminal_open(&t, fd, fd, &err), -ENOTTY);
	assert_null(t);
	close(fd);
}

static void test_dumb(void **state)
{
	int master, slave;

	(void)state;
	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	setenv("TERM", "vt100", 1);
	assert_true(tap_terminal_can(slave, slave));
	setenv("TERM", "dumb", 1);
	assert_false(tap_terminal_can(slave, slave));
	unsetenv("TERM");
	assert_false(tap_terminal_can(slave, slave));
	close(master);
	close(slave);
}

static void test_handlers_are_given_back(void **state)
{
	struct sigaction before[NSIG], now;
	struct pair p;

	(void)state;
	signal(SIGUSR1, SIG_IGN);
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, NULL, &before[sig]);
	open_pair(&p, 24, 80);
	sigaction(SIGUSR1, NULL, &now);
	assert_ptr_equal(now.sa_handler, SIG_IGN);
	sigaction(SIGALRM, NULL, &now);
	assert_ptr_not_equal(now.sa_handler, SIG_DFL);
	close_pair(&p);
	for (int sig = 1; sig < NSIG; sig++)
		if (!sigaction(sig, NULL, &now) && now.sa_handler != before[sig].sa_handler)
			fail_msg("signal %d", sig);
	signal(SIGUSR1, SIG_DFL);
}

/* ---- in a session ---- */

enum report_kind { STARTED, EVENT, STATUS };

struct report {
	enum report_kind kind;
	int value; /* pid, event, status of wait() */
	uint32_t detail; /* key, signal */
};

struct session {
	int master, reports;
	pid_t leader, program;
	struct termios before;
};

static void send_report(int fd, enum report_kind kind, int value, uint32_t detail)
{
	const struct report r = { kind, value, detail };

	if (write(fd, &r, sizeof(r)) != sizeof(r))
		_exit(99);
}

static volatile bool endless = true; /* a compiler refuses what is endless for certain */

static __attribute__((noinline)) int overflow(volatile char *above)
{
	volatile char large[4096];

	large[0] = above ? above[0] : 0;
	return endless ? overflow(large) + large[0] : 0;
}

/* Report events until the end, q, x (exit) or o (overflow of the stack). */
static void run_program(int reports)
{
	enum tap_terminal_event event;
	struct tap_terminal *t;
	uint32_t key;

	if (tap_terminal_open(&t, STDIN_FILENO, STDOUT_FILENO, NULL))
		_exit(98);
	send_report(reports, STARTED, getpid(), 0);
	do {
		event = tap_terminal_wait(t, UINT64_MAX, -1, &key);
		send_report(reports, EVENT, event,
			    event == TAP_TERMINAL_KEY ? key : (uint32_t)tap_terminal_signal(t));
		if (event == TAP_TERMINAL_KEY && key == 'x')
			exit(3);
		if (event == TAP_TERMINAL_KEY && key == 'o')
			overflow(NULL);
	} while (event != TAP_TERMINAL_END && !(event == TAP_TERMINAL_KEY && key == 'q'));
	tap_terminal_close(t);
	_exit(0);
}

static pid_t led; /* by lead() */

static void bring_to_foreground(int sig)
{
	(void)sig;
	tcsetpgrp(STDIN_FILENO, led);
	kill(led, SIGCONT);
}

/* Do a shell's part: start the program in the foreground, and report how it stops and ends. */
static void lead(int reports)
{
	int status;

	signal(SIGTTOU, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	led = fork();
	if (!led) {
		setpgid(0, 0);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGTTOU, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		signal(SIGSEGV, SIG_DFL); /* cmocka's */
		run_program(reports);
	}
	signal(SIGUSR1, bring_to_foreground);
	while (waitpid(led, &status, WUNTRACED) == led) {
		if (WIFSTOPPED(status))
			tcsetpgrp(STDIN_FILENO, getpid());
		send_report(reports, STATUS, status, 0);
		if (!WIFSTOPPED(status))
			break;
	}
	_exit(0);
}

static struct report next_report(const struct session *s)
{
	struct pollfd p = { .fd = s->reports, .events = POLLIN };
	struct report r = { 0 };

	assert_int_equal(poll(&p, 1, LIMIT / 1000000), 1);
	assert_int_equal(read(s->reports, &r, sizeof(r)), sizeof(r));
	return r;
}

static void assert_event(const struct session *s, enum tap_terminal_event event, uint32_t detail)
{
	struct report r = next_report(s);

	assert_int_equal(r.kind, EVENT);
	assert_int_equal(r.value, event);
	assert_int_equal(r.detail, detail);
}

static int next_status(const struct session *s)
{
	struct report r = next_report(s);

	assert_int_equal(r.kind, STATUS);
	return r.value;
}

static void start(struct session *s)
{
	static const struct rlimit no_core = { 0 };
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	int ends[2], slave;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(openpty(&s->master, &slave, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(slave, &s->before), 0);
	s->leader = fork();
	if (!s->leader) {
		setrlimit(RLIMIT_CORE, &no_core);
		close(s->master);
		login_tty(slave);
		lead(ends[1]);
	}
	close(slave);
	close(ends[1]);
	s->reports = ends[0];
	s->program = next_report(s).value;
	assert_true(is_raw(s->master));
}

static void finish(struct session *s)
{
	waitpid(s->leader, NULL, 0);
	close(s->reports);
	if (s->master >= 0)
		close(s->master);
}

/* The terminal has its modes back, and the last bytes that were written restore the screen. */
static void assert_left(const struct session *s)
{
	char bytes[8192];

	assert_restored(s->master, &s->before);
	read_until(s->master, bytes, sizeof(bytes), "\033[?7h\033[?25h\033[?1049l");
}

static void type(const struct session *s, const char *bytes)
{
	assert_int_equal(write(s->master, bytes, strlen(bytes)), strlen(bytes));
}

static const struct end_case {
	const char *name, *typed;
	int sig; /* sent to the program */
	int ends_wait; /* the signal that tap_terminal_signal() returns */
	int exit_code, killed_by;
} ends[] = {
	{ .name = "closed by the program", .typed = "q" },
	{ .name = "exit() without a close", .typed = "x", .exit_code = 3 },
	{ .name = "Ctrl-C", .typed = "\003", .ends_wait = SIGINT },
	{ .name = "Ctrl-backslash", .typed = "\034", .ends_wait = SIGQUIT },
	{ .name = "SIGTERM", .sig = SIGTERM, .ends_wait = SIGTERM },
	{ .name = "SIGHUP", .sig = SIGHUP, .ends_wait = SIGHUP },
	{ .name = "SIGSEGV", .sig = SIGSEGV, .killed_by = SIGSEGV },
	{ .name = "SIGABRT", .sig = SIGABRT, .killed_by = SIGABRT },
	{ .name = "SIGALRM", .sig = SIGALRM, .killed_by = SIGALRM },
	{ .name = "overflow of the stack", .typed = "o", .killed_by = SIGSEGV },
};

static void test_end(void **state)
{
	const struct end_case *c = *state;
	struct session s;
	int status;

	start(&s);
	if (c->typed)
		type(&s, c->typed);
	if (c->sig)
		kill(s.program, c->sig);
	if (c->ends_wait)
		assert_event(&s, TAP_TERMINAL_END, (uint32_t)c->ends_wait);
	else if (c->typed)
		assert_event(&s, TAP_TERMINAL_KEY, (unsigned char)*c->typed);
	status = next_status(&s);
	assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, c->killed_by);
	if (!c->killed_by)
		assert_int_equal(WEXITSTATUS(status), c->exit_code);
	assert_left(&s);
	finish(&s);
}

static void test_resize(void **state)
{
	const struct winsize size = { .ws_row = 10, .ws_col = 40 };
	struct session s;

	(void)state;
	start(&s);
	assert_int_equal(ioctl(s.master, TIOCSWINSZ, &size), 0);
	assert_event(&s, TAP_TERMINAL_RESIZED, 0);
	type(&s, "q");
	assert_event(&s, TAP_TERMINAL_KEY, 'q');
	assert_int_equal(next_status(&s), 0);
	finish(&s);
}

static void test_hangup(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	close(s.master);
	s.master = -1;
	assert_event(&s, TAP_TERMINAL_END, SIGHUP);
	assert_int_equal(next_status(&s), 0);
	finish(&s);
}

static void stop_by_key(struct session *s)
{
	type(s, "\032");
	assert_true(WIFSTOPPED(next_status(s)));
	assert_left(s);
}

static void test_stop_and_continue(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	stop_by_key(&s);
	kill(s.leader, SIGUSR1);
	assert_event(&s, TAP_TERMINAL_RESIZED, 0);
	assert_true(is_raw(s.master));
	type(&s, "q");
	assert_event(&s, TAP_TERMINAL_KEY, 'q');
	assert_int_equal(next_status(&s), 0);
	assert_left(&s);
	finish(&s);
}

/* SIGSTOP cannot be caught; a shell changes the modes meanwhile. */
static void test_stopped_by_force(void **state)
{
	struct session s;

	(void)state;
	start(&s);
	kill(s.program, SIGSTOP);
	assert_true(WIFSTOPPED(next_status(&s)));
	assert_int_equal(tcsetattr(s.master, TCSANOW, &s.before), 0);
	kill(s.leader, SIGUSR1);
	assert_event(&s, TAP_TERMINAL_RESIZED, 0);
	assert_true(is_raw(s.master));
	kill(s.program, SIGTERM);
	assert_event(&s, TAP_TERMINAL_END, SIGTERM);
	assert_int_equal(next_status(&s), 0);
	assert_left(&s);
	finish(&s);
}

static void test_killed_while_stopped(void **state)
{
	struct pollfd p = { .events = POLLIN };
	struct session s;

	(void)state;
	start(&s);
	stop_by_key(&s);
	kill(s.program, SIGTERM);
	kill(s.program, SIGCONT);
	assert_event(&s, TAP_TERMINAL_END, SIGTERM);
	assert_int_equal(next_status(&s), 0);
	assert_restored(s.master, &s.before);
	p.fd = s.master; /* nothing was written: the screen is the shell's */
	poll(&p, 1, 100);
	assert_int_equal(p.revents & POLLIN, 0);
	finish(&s);
}

int main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_busy_program),
		cmocka_unit_test(test_time_and_fd),
		cmocka_unit_test(test_show),
		cmocka_unit_test(test_no_size),
		cmocka_unit_test(test_vanished),
		cmocka_unit_test(test_no_terminal),
		cmocka_unit_test(test_dumb),
		cmocka_unit_test(test_handlers_are_given_back),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_hangup),
		cmocka_unit_test(test_stop_and_continue),
		cmocka_unit_test(test_stopped_by_force),
		cmocka_unit_test(test_killed_while_stopped),
	};
	enum {
		NR_OTHERS = sizeof(others) / sizeof(*others),
		NR_ENDS = sizeof(ends) / sizeof(*ends)
	};
	struct CMUnitTest tests[NR_OTHERS + NR_ENDS];

	memcpy(tests, others, sizeof(others));
	for (int i = 0; i < NR_ENDS; i++)
		tests[NR_OTHERS + i] = (struct CMUnitTest){ .name = ends[i].name,
							    .test_func = test_end,
							    .initial_state = (void *)&ends[i] };
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
