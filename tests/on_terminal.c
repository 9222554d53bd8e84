// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * on_terminal ROWSxCOLUMNS [--] COMMAND...: runs a command on a terminal, which libvterm emulates,
 * and does what standard input says, a line each:
 *
 *   await REGEX    wait until the screen's text matches (extended, at most 20 s)
 *   key TEXT       type it; \e, \r, \t and \xHH are bytes
 *   size RxC       resize the terminal
 *   print          print the screen, without spaces at the ends of lines
 *   styles         as print, with a letter below each cell that is not plain
 *   run COMMAND    run it by a shell, without the terminal
 *   hang           the terminal vanishes
 *   signal N       send a signal
 *   wait           wait until the command ends, and print its exit code
 *
 * At the end of the input the command gets SIGTERM. Exit code: 0; 1 if an await had no match or the
 * command did not end, which is printed with the screen; 2 wrong use.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vterm.h>

#define PATIENCE_MS 20000

static VTerm *vt;
static VTermScreen *screen;
static int rows, columns, master = -1;
static pid_t child;
static bool in_update; /* the frame is not complete */

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Send the terminal's replies to the command. */
static void answer(const char *s, size_t len, void *ctx)
{
	(void)ctx;
	if (master >= 0 && write(master, s, len) < 0)
		return;
}

/* Note where frames begin and end: \e[?2026h, \e[?2026l. */
static void note_updates(const char *bytes, size_t len)
{
	static const char begin[] = "\033[?2026";
	static size_t at; /* number of its bytes that came last */

	for (size_t i = 0; i < len; i++) {
		if (at == sizeof(begin) - 1 && (bytes[i] == 'h' || bytes[i] == 'l'))
			in_update = bytes[i] == 'h';
		at = bytes[i] == begin[at] ? at + 1 : bytes[i] == begin[0];
	}
}

/* Wait at most @ms for output, and feed it to libvterm. Return: false: it has closed the terminal.
 */
static bool take_output(int ms)
{
	struct pollfd p = { .fd = master, .events = POLLIN };
	char bytes[65536];
	ssize_t len;

	if (master < 0 || poll(&p, 1, ms) <= 0)
		return master >= 0;
	len = read(master, bytes, sizeof(bytes));
	if (len <= 0)
		return false;
	vterm_input_write(vt, bytes, (size_t)len);
	note_updates(bytes, (size_t)len);
	return true;
}

static void add_char(char **to, uint32_t c)
{
	char *p = *to;

	if (c < 0x80) {
		*p++ = (char)c;
	} else if (c < 0x800) {
		*p++ = (char)(0xc0 | c >> 6);
		*p++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*p++ = (char)(0xe0 | c >> 12);
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
		*p++ = (char)(0x80 | (c & 0x3f));
	} else {
		*p++ = (char)(0xf0 | c >> 18);
		*p++ = (char)(0x80 | (c >> 12 & 0x3f));
		*p++ = (char)(0x80 | (c >> 6 & 0x3f));
		*p++ = (char)(0x80 | (c & 0x3f));
	}
	*to = p;
}

static char letter_of(const VTermScreenCell *cell)
{
	VTermColor fg = cell->fg;
	char c = ' ';

	if (VTERM_COLOR_IS_INDEXED(&fg) && !VTERM_COLOR_IS_DEFAULT_FG(&fg))
		c = " rgylmc"[fg.indexed.idx & 7];
	if (cell->attrs.reverse)
		return c == ' ' ? 'v' : (char)(c - 32);
	if (cell->attrs.bold)
		return c == ' ' ? 'b' : (char)(c - 32);
	return c;
}

static void end_line(char **to, char *begin)
{
	while (*to > begin && (*to)[-1] == ' ')
		(*to)--;
	*(*to)++ = '\n';
}

/* The screen as text, in @text. */
static void screen_text(char *text, bool styles)
{
	for (int row = 0; row < rows; row++) {
		char *begin = text, line[1024] = "";
		bool any = false;
		int column;

		for (column = 0; column < columns; column++) {
			VTermScreenCell cell;

			vterm_screen_get_cell(screen, (VTermPos){ row, column }, &cell);
			line[column] = letter_of(&cell);
			any |= line[column] != ' ';
			if (cell.chars[0] == (uint32_t)-1)
				continue; /* the right half of a wide character */
			if (!cell.chars[0])
				*text++ = ' ';
			for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i]; i++)
				add_char(&text, cell.chars[i]);
		}
		end_line(&text, begin);
		if (!styles || !any)
			continue;
		begin = text;
		memcpy(text, line, (size_t)column);
		text += column;
		end_line(&text, begin);
	}
	*text = 0;
}

static char *text_of_screen(bool styles)
{
	char *text = malloc((size_t)rows * (size_t)(columns * 24 + 2) + 1);

	if (!text)
		exit(2);
	screen_text(text, styles);
	return text;
}

static bool matches(const char *regex)
{
	char *text = text_of_screen(false);
	regex_t re;
	bool is;

	if (regcomp(&re, regex, REG_EXTENDED | REG_NOSUB | REG_NEWLINE)) {
		fprintf(stderr, "on_terminal: not a regex: %s\n", regex);
		exit(2);
	}
	is = !regexec(&re, text, 0, NULL, 0);
	regfree(&re);
	free(text);
	return is;
}

/* The frame, as soon as it is complete. */
static void print(bool styles)
{
	char *text;

	while (in_update && take_output(PATIENCE_MS))
		;
	text = text_of_screen(styles);

	fputs(text, stdout);
	free(text);
}

static int fail(const char *why, const char *what)
{
	printf("on_terminal: %s %s; the screen is:\n", why, what);
	print(false);
	if (child > 0)
		kill(child, SIGKILL);
	return 1;
}

static int await(const char *regex)
{
	long long until = now_ms() + PATIENCE_MS;
	bool is_open = true;

	while (in_update || !matches(regex)) {
		if (!is_open || now_ms() > until)
			return fail("no match for", regex);
		is_open = take_output(20);
	}
	return 0;
}

static void type(const char *text)
{
	char bytes[1024];
	size_t len = 0;

	for (; *text && len < sizeof(bytes); text++) {
		char hex[3] = "";

		if (*text != '\\' || !text[1]) {
			bytes[len++] = *text;
			continue;
		}
		switch (*++text) {
		case 'e':
			bytes[len++] = 27;
			break;
		case 'r':
			bytes[len++] = '\r';
			break;
		case 't':
			bytes[len++] = '\t';
			break;
		case 'x':
			strncpy(hex, text + 1, 2);
			bytes[len++] = (char)strtol(hex, NULL, 16);
			text += strlen(hex);
			break;
		default:
			bytes[len++] = *text;
		}
	}
	if (write(master, bytes, len) < 0)
		return;
}

static int set_size(const char *text)
{
	struct winsize size = { 0 };

	if (sscanf(text, "%dx%d", &rows, &columns) != 2 || rows < 0 || columns < 0 || rows > 1000 ||
	    columns > 1000)
		return fail("not a size:", text);
	size.ws_row = (unsigned short)rows;
	size.ws_col = (unsigned short)columns;
	if (vt && rows && columns)
		vterm_set_size(vt, rows, columns);
	if (master >= 0)
		ioctl(master, TIOCSWINSZ, &size);
	return 0;
}

static int wait_for_end(void)
{
	int status;

	for (long long until = now_ms() + PATIENCE_MS; now_ms() < until; take_output(20)) {
		if (waitpid(child, &status, WNOHANG) != child)
			continue;
		while (master >= 0 && take_output(0) &&
		       poll(&(struct pollfd){ .fd = master, .events = POLLIN }, 1, 0) > 0)
			;
		child = 0;
		if (WIFSIGNALED(status))
			printf("ended by signal %d\n", WTERMSIG(status));
		else
			printf("exit: %d\n", WEXITSTATUS(status));
		return 0;
	}
	return fail("the command does not end", "");
}

static int step(char *line)
{
	char *rest = line + strcspn(line, " ");

	line[strcspn(line, "\n")] = 0;
	if (*rest)
		*rest++ = 0;
	if (!strcmp(line, "await"))
		return await(rest);
	if (!strcmp(line, "key"))
		type(rest);
	else if (!strcmp(line, "size"))
		return set_size(rest);
	else if (!strcmp(line, "print") || !strcmp(line, "styles"))
		print(*line == 's');
	else if (!strcmp(line, "run"))
		return system(rest) ? fail("failed:", rest) : 0;
	else if (!strcmp(line, "signal"))
		kill(child, atoi(rest));
	else if (!strcmp(line, "wait"))
		return wait_for_end();
	else if (!strcmp(line, "hang")) {
		close(master);
		master = -1;
	} else if (*line) {
		fprintf(stderr, "on_terminal: what is '%s'?\n", line);
		return 2;
	}
	return 0;
}

static void begin(char **argv)
{
	struct winsize size = { .ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns };

	child = forkpty(&master, NULL, NULL, &size);
	if (child < 0) {
		perror("forkpty");
		exit(2);
	}
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	vt = vterm_new(rows ?: 1, columns ?: 1);
	vterm_set_utf8(vt, 1);
	vterm_output_set_callback(vt, answer, NULL);
	screen = vterm_obtain_screen(vt);
	vterm_screen_enable_altscreen(screen, 1);
	vterm_screen_reset(screen, 1);
}

int main(int argc, char **argv)
{
	char line[4096];
	int ret = 0;

	if (argc < 3 || set_size(argv[1]))
		return 2;
	begin(argv + 2 + !strcmp(argv[2], "--"));
	while (!ret && fgets(line, sizeof(line), stdin))
		ret = step(line);
	if (child > 0) {
		kill(child, SIGTERM);
		ret = ret ?: wait_for_end();
	}
	vterm_free(vt);
	return ret;
}
