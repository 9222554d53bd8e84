// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

static struct {
	bool known;
	unsigned int columns;
	bool color;
	pid_t pager; /* the pager's process; 0: no pager */
} screen;

static bool is_set(const char *variable)
{
	const char *v = getenv(variable);

	return v && *v;
}

static unsigned int find_columns(void)
{
	const char *typed = getenv("COLUMNS");
	struct winsize w;
	int64_t columns;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (typed && !tap_text_parse_int(typed, 1, 100000, &columns))
		return (unsigned int)columns;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		return w.ws_col;
	return TAP_SCREEN_COLUMNS;
}

/* See https://no-color.org and https://bixense.com/clicolors. */
static bool find_color(void)
{
	const char *term = getenv("TERM");

	if (is_set("NO_COLOR"))
		return false;
	if (is_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0"))
		return true;
	return screen.columns && term && *term && strcmp(term, "dumb");
}

static void find_screen(void)
{
	if (screen.known)
		return;
	screen.known = true;
	screen.columns = find_columns();
	screen.color = find_color();
}

unsigned int tap_screen_columns(void)
{
	find_screen();
	return screen.columns;
}

bool tap_screen_color(const char *when)
{
	find_screen();
	if (when && !strcmp(when, "always"))
		return true;
	return screen.color && (!when || strcmp(when, "never"));
}

bool tap_screen_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
	bool utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return utf8;
}

/* Start the pager with a pipe as its standard input. Return: the pipe's write end; -errno. */
static int start_pager(const char *pager)
{
	char *by_shell[] = { "sh", "-c", (char *)pager, NULL }, *alone[] = { "less", NULL };
	char **argv = pager ? by_shell : alone;
	posix_spawn_file_actions_t actions;
	int ends[2], ret;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	ret = posix_spawn_file_actions_init(&actions);
	if (!ret) {
		ret = posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
		if (!ret)
			ret = posix_spawnp(&screen.pager, argv[0], &actions, NULL, argv, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[0]);
	if (!ret)
		return ends[1];
	screen.pager = 0;
	close(ends[1]);
	return -ret;
}

/*
 * Start a pager as git does: LESS=FRX makes less quit if the output fits one screen, pass colors
 * through, and leave the text on the terminal. If the pager cannot be started, do without one.
 */
void tap_screen_page(void)
{
	const char *pager = getenv("PAGER");
	int fd;

	if (!tap_screen_columns() || screen.pager || (pager && (!*pager || !strcmp(pager, "cat"))))
		return;
	setenv("LESS", "FRX", 0);
	fflush(stdout);
	fd = start_pager(pager);
	if (fd < 0)
		return;
	dup2(fd, STDOUT_FILENO);
	if (isatty(STDERR_FILENO)) /* messages on the terminal would be overwritten by the pager */
		dup2(fd, STDERR_FILENO);
	close(fd);
	/*
	 * The user leaves the pager with its own key, not Ctrl-C. After that writes fail, which is
	 * not an error.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

void tap_screen_end(void)
{
	if (!screen.pager)
		return;
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(screen.pager, NULL, 0) < 0 && errno == EINTR)
		;
}
