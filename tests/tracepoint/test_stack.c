// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How much stack a site takes: measured on a signal's stack that is painted, against a handler that
 * does nothing. And that nothing of it gets into a record.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracepoint/shared.h"

#define CREATE_TRACE_POINTS
#include "ring_events.h"

#define STACK_BYTES 65536
#define PAINT 0xa5

static _Alignas(64) unsigned char stack[STACK_BYTES];
static volatile bool has_site, is_empty;

static void handler(int sig)
{
	(void)sig;
	if (has_site && is_empty)
		trace_empty("text");
	else if (has_site)
		trace_step(0, 0, "text");
}

static size_t used_by_handler(bool site)
{
	size_t at = 0;

	memset(stack, PAINT, sizeof(stack));
	has_site = site;
	raise(SIGUSR1);
	while (at < sizeof(stack) && stack[at] == PAINT)
		at++;
	return sizeof(stack) - at;
}

/* And one CPU, so that there is one ring. */
static void use_stack(void)
{
	const stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sigaltstack(&alt, NULL) ||
	    sigaction(SIGUSR1, &action, NULL))
		_exit(2);
}

/* Stack that the site takes. */
static size_t taken(void)
{
	size_t without = used_by_handler(false);

	return used_by_handler(true) - without;
}

static int control_file(void)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/schedtap/%d-0", getenv("XDG_RUNTIME_DIR"), (int)getpid());
	return open(path, O_RDWR | O_CLOEXEC);
}

static void want_events(void)
{
	int fd = control_file();
	struct tap_area a;
	uint8_t on = 1;

	if (pread(fd, &a, sizeof(a), TAP_CONTROL_PAGE) != sizeof(a)) {
		printf("# no control file: %s\n", tap_trace_reason());
		_exit(2);
	}
	for (uint32_t i = 0; i < a.nr; i++)
		if (pwrite(fd, &on, 1, (off_t)(a.offset + i * sizeof(struct tap_word))) != 1)
			_exit(2);
	close(fd);
}

/* The ring is there, with the event. */
static bool has_ring(void)
{
	int fd = control_file();
	struct tap_ring_head head;
	struct tap_area a;
	bool has = pread(fd, &a, sizeof(a), TAP_CONTROL_PAGE + sizeof(a)) == sizeof(a) &&
		   a.kind == TAP_AREA_RING &&
		   pread(fd, &head, sizeof(head), (off_t)a.offset) == sizeof(head) && head.head > 0;

	close(fd);
	return has;
}

static bool check(unsigned int nr, const char *what, size_t bytes, size_t most, bool done)
{
	bool ok = bytes <= most && done;

	printf("%sok %u - %s: %zu bytes of stack\n", ok ? "" : "not ", nr, what, bytes);
	if (!ok)
		printf("# at most %zu%s\n", most, done ? "" : "; nothing was done");
	fflush(stdout);
	return ok;
}

static bool check_process(void)
{
	size_t bytes;
	bool ok;

	use_stack();
	ok = check(1, "a site, events off", taken(), 1024, true);
	want_events();
	bytes = taken();
	return check(2, "the first event", bytes, 4096, has_ring()) & ok;
}

/* Its first site makes a file. */
static bool check_child(void)
{
	size_t bytes = taken();
	int fd = control_file();
	bool ok;

	ok = check(3, "the first site in a child after a fork, events off", bytes, 1024, fd >= 0);
	close(fd);
	want_events();
	bytes = taken();
	return check(4, "the first event in a child", bytes, 4096, has_ring()) & ok;
}

/* An event that assigns nothing, recorded after the first one in the same ring. */
static bool check_paint(void)
{
	unsigned char sub[TAP_SUB_BYTES];
	struct tap_area a;
	int fd = control_file();
	unsigned int painted = 0, texts = 0;

	is_empty = true;
	used_by_handler(true);
	if (pread(fd, &a, sizeof(a), TAP_CONTROL_PAGE + sizeof(a)) != sizeof(a) ||
	    pread(fd, sub, sizeof(sub), (off_t)(a.offset + a.size - (1ull << TAP_RING_SHIFT))) !=
		    sizeof(sub))
		_exit(2);
	close(fd);
	for (size_t i = 0; i + 4 <= sizeof(sub); i++) {
		painted += sub[i] == PAINT && sub[i + 1] == PAINT;
		texts += !memcmp(sub + i, "text", 4);
	}
	/* the first event's, and this one's */
	printf("%sok 5 - what is not assigned holds a text or 0: %u bytes of the stack, %u texts\n",
	       painted || texts != 3 ? "not " : "", painted, texts);
	fflush(stdout);
	return !painted && texts == 3;
}

static bool in_child(bool (*fn)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(!fn());
	return waitpid(pid, &status, 0) == pid && !status;
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/test_stack.XXXXXX", command[64];
	int status = -1;
	pid_t pid;

	(void)argv;
	/* with the folder from the start: the library has looked for one when main() begins */
	if (argc > 1) {
		printf("1..5\n");
		return !(check_process() & in_child(check_child) & check_paint());
	}
	if (!mkdtemp(folder) || setenv("XDG_RUNTIME_DIR", folder, 1))
		return 1;
	pid = fork();
	if (!pid)
		execl("/proc/self/exe", "test_stack", "run", (char *)NULL);
	waitpid(pid, &status, 0);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) || status;
}
