// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * confined STEP...: takes steps that leave a process with less than it had, and says "ready". Then
 * it waits until rules:plain is on and fires it 100 times, v = 0, 1, ...
 *
 *   fork       goes on in a child; the parent waits for it
 *   setuid     changes to the user nobody
 *   /FOLDER    sees that folder only
 *   close      closes all descriptors but 0, 1 and 2
 *   seccomp    is killed by the system calls that open, make or connect something
 *   site       passes a site
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "tracepoint/rules.h"

#define COUNT 100

int rules_reg(void)
{
	return 0;
}

void rules_unreg(void)
{
}

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	perror(what);
	exit(1);
}

#define KILL_AT(nr)                                                                                \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),                                             \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void be_filtered(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_open
		KILL_AT(SYS_open),
		KILL_AT(SYS_symlink),
#endif
		KILL_AT(SYS_openat),
		KILL_AT(SYS_symlinkat),
		KILL_AT(SYS_memfd_create),
		KILL_AT(SYS_ftruncate),
		KILL_AT(SYS_socket),
		KILL_AT(SYS_connect),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(filter) / sizeof(filter[0]), filter };

	must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges");
	must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), "seccomp");
}

static void go_on_in_child(void)
{
	pid_t child = fork();
	int status;

	if (!child)
		return;
	must(waitpid(child, &status, 0) != child, "waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void take(const char *step)
{
	if (!strcmp(step, "fork"))
		go_on_in_child();
	else if (!strcmp(step, "setuid"))
		must(setuid(65534), step);
	else if (!strcmp(step, "close"))
		must((int)syscall(SYS_close_range, 3u, ~0u, 0u), step);
	else if (!strcmp(step, "seccomp"))
		be_filtered();
	else if (!strcmp(step, "site"))
		trace_plain(1000, "too early");
	else
		must(chroot(step) || chdir("/"), step);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		take(argv[i]);
	puts("ready");
	fflush(stdout);
	while (!trace_plain_enabled())
		usleep(1000);
	for (int v = 0; v < COUNT; v++)
		trace_plain(v, "fifteen_chars__");
	return 0;
}
