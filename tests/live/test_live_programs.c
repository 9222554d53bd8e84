// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Are the numbers of BPF programs those that the kernel has? For a program that this test loads and
 * calls, and for the one of `schedtap top`, which another process has loaded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/filter.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/skip_test.h"
#include "base/clock.h"
#include "base/proc.h"
#include "record/kernel/file.h"
#include "record/kernel/programs.h"

#define CALLS 1000u
#define LIMIT_NS 20000000000u /* for what takes a moment */

static char schedtap[PATH_MAX];
static pid_t top; /* 0: not running */

/* Return: NULL: the test was skipped. */
static struct tap_bpf_programs *open_programs(void)
{
	struct tap_bpf_programs *p;
	struct tap_err err = { 0 };

	if (tap_bpf_programs_open(&p, &err))
		skip_test(err.text);
	return p;
}

/* Return: the number of programs. */
static unsigned int read_list(struct tap_bpf_programs *p, const struct tap_bpf_program **list)
{
	struct tap_err err = { 0 };
	int nr = tap_bpf_programs_read(p, list, &err);

	assert_true(nr >= 0);
	for (int i = 1; i < nr; i++)
		assert_true((*list)[i].run_ns <= (*list)[i - 1].run_ns);
	return (unsigned int)nr;
}

/* Return: the program in the next reading; .id 0: it is not in it. */
static struct tap_bpf_program read_program(struct tap_bpf_programs *p, uint32_t id)
{
	const struct tap_bpf_program *list;
	unsigned int nr = read_list(p, &list);

	for (unsigned int i = 0; i < nr; i++)
		if (list[i].id == id)
			return list[i];
	return (struct tap_bpf_program){ 0 };
}

/* Return: a descriptor. */
static int load(uint32_t *id)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "tap_test_load", "GPL", insns, 2, NULL);

	assert_true(fd >= 0);
	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &len), 0);
	*id = info.id;
	return fd;
}

static void call(int fd, unsigned int times)
{
	char packet[64] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = (int)times);

	assert_int_equal(bpf_prog_test_run_opts(fd, &opts), 0);
}

static void calls_are_counted_exactly(void **state)
{
	struct tap_bpf_programs *p = open_programs();
	struct tap_bpf_program found;
	uint32_t id;
	int fd;

	(void)state;
	if (!p)
		return;
	fd = load(&id);
	call(fd, CALLS);
	found = read_program(p, id); /* counts from its loading */
	assert_string_equal(found.name, "tap_test_load");
	assert_string_equal(found.type, "socket_filter");
	assert_true(found.is_ours);
	assert_int_equal(found.calls, CALLS);
	assert_true(found.run_ns > 0);

	found = read_program(p, id);
	assert_int_equal(found.calls, 0);
	assert_int_equal(found.run_ns, 0);
	assert_true(found.is_ours);

	call(fd, 3);
	assert_int_equal(read_program(p, id).calls, 3);
	close(fd);
	tap_bpf_programs_close(p);
}

static void the_first_reading_counts_from_the_beginning(void **state)
{
	struct tap_bpf_programs *before = open_programs(), *p;
	uint32_t id;
	int fd;

	(void)state;
	if (!before)
		return;
	fd = load(&id);
	call(fd, CALLS); /* counted by the kernel, for .before */
	p = open_programs();
	assert_non_null(p);
	call(fd, 5);
	assert_int_equal(read_program(p, id).calls, 5);
	close(fd);
	tap_bpf_programs_close(p);
	tap_bpf_programs_close(before);
}

static void a_program_goes_and_another_comes(void **state)
{
	struct tap_bpf_programs *p = open_programs();
	uint32_t gone, id;
	int fd;

	(void)state;
	if (!p)
		return;
	fd = load(&gone);
	assert_int_equal(read_program(p, gone).id, gone);
	close(fd);
	fd = load(&id);
	call(fd, 2);
	for (uint64_t end = tap_now_ns() + LIMIT_NS; read_program(p, gone).id;) {
		assert_true(tap_now_ns() < end); /* the kernel frees it after a grace period */
		usleep(10000);
	}
	assert_int_equal(read_program(p, id).id, id);
	close(fd);
	tap_bpf_programs_close(p);
}

/* Return: how often the kernel has counted the program of a descriptor. */
static uint64_t counted(pid_t pid, const char *fd)
{
	char text[TAP_FILE_BYTES];
	uint64_t calls = 0;

	assert_true(tap_file_start(text, "/proc/%d/fdinfo/%s", pid, fd));
	assert_int_equal(tap_proc_value(text, "run_cnt:\t", &calls), 0);
	return calls;
}

/* Others may have the calls counted for a while. */
static void wait_until_nothing_is_counted(int fd, const char *text)
{
	uint64_t before, end = tap_now_ns() + LIMIT_NS;

	do {
		assert_true(tap_now_ns() < end);
		usleep(10000);
		before = counted(getpid(), text);
		call(fd, CALLS);
	} while (counted(getpid(), text) != before);
}

static void nothing_is_counted_afterwards(void **state)
{
	int64_t enabled = tap_file_number("/proc/sys/kernel/bpf_stats_enabled");
	struct tap_bpf_programs *p = open_programs();
	char text[16];
	uint32_t id;
	int fd;

	(void)state;
	if (!p)
		return;
	assert_int_equal(tap_file_number("/proc/sys/kernel/bpf_stats_enabled"), enabled);
	fd = load(&id);
	snprintf(text, sizeof(text), "%d", fd);
	call(fd, CALLS);
	assert_int_equal(counted(getpid(), text), CALLS);
	tap_bpf_programs_close(p);
	assert_int_equal(tap_file_number("/proc/sys/kernel/bpf_stats_enabled"), enabled);
	if (enabled)
		skip_test("kernel.bpf_stats_enabled is on");
	else
		wait_until_nothing_is_counted(fd, text);
	close(fd);
}

static void start_top(void)
{
	top = fork();
	assert_true(top >= 0);
	if (top)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (freopen("/dev/null", "w", stdout))
		execl(schedtap, schedtap, "top", "-b", "-n", "1000", "-d", "500ms", (char *)NULL);
	_exit(127);
}

static int stop_top(void **state)
{
	(void)state;
	if (top > 0) {
		kill(top, SIGKILL);
		waitpid(top, NULL, 0);
	}
	top = 0;
	return 0;
}

/* Find top's descriptor of a program. Return: false: it has none. */
static bool find_fd(uint32_t id, char fd[16])
{
	char path[64], text[TAP_FILE_BYTES];
	bool found = false;
	struct dirent *e;
	uint64_t v, calls;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", top);
	dir = opendir(path);
	assert_non_null(dir);
	while (!found && (e = readdir(dir))) {
		found = tap_file_start(text, "%s/%s", path, e->d_name) &&
			!tap_proc_value(text, "prog_id:\t", &v) && v == id &&
			!tap_proc_value(text, "run_cnt:\t", &calls);
		snprintf(fd, 16, "%.15s", e->d_name);
	}
	closedir(dir);
	return found;
}

/*
 * The kernel goes on counting while its numbers are read. What fdinfo shows before and after each
 * of two readings gives the limits of their difference.
 */
static void compare_with_fdinfo(struct tap_bpf_programs *p, uint32_t id)
{
	uint64_t from[2], to[2];
	struct tap_bpf_program found;
	char fd[16];

	assert_true(find_fd(id, fd));
	from[0] = counted(top, fd);
	read_program(p, id);
	from[1] = counted(top, fd);
	usleep(300000);
	to[0] = counted(top, fd);
	found = read_program(p, id);
	to[1] = counted(top, fd);
	print_message("# %lu calls, of fdinfo %lu to %lu; %lu ns each\n",
		      (unsigned long)found.calls, (unsigned long)(to[0] - from[1]),
		      (unsigned long)(to[1] - from[0]),
		      (unsigned long)(found.run_ns / (found.calls + !found.calls)));
	assert_true(found.calls > 0 && found.run_ns > 0);
	assert_in_range(found.calls, to[0] - from[1], to[1] - from[0]);
}

/* Return: top's program in the next reading; others may have one of that name as well. */
static struct tap_bpf_program read_tops(struct tap_bpf_programs *p)
{
	const struct tap_bpf_program *list;
	unsigned int nr = read_list(p, &list);
	char fd[16];

	/* one byte longer than what the kernel has without BTF */
	for (unsigned int i = 0; i < nr; i++)
		if (!strcmp(list[i].name, "tap_tally_switch") && find_fd(list[i].id, fd))
			return list[i];
	return (struct tap_bpf_program){ 0 };
}

static void another_process_has_one(void **state)
{
	struct tap_bpf_programs *p = open_programs();
	struct tap_bpf_program found = { 0 };
	uint32_t id;
	int own;

	(void)state;
	if (!p)
		return;
	own = load(&id); /* not all programs are ours if one is */
	start_top();
	for (uint64_t end = tap_now_ns() + LIMIT_NS; !found.id && tap_now_ns() < end;) {
		usleep(20000);
		found = read_tops(p);
	}
	if (waitpid(top, NULL, WNOHANG)) {
		top = 0;
		skip_test("schedtap top does not run here");
		close(own);
		tap_bpf_programs_close(p);
		return;
	}
	id = found.id;
	assert_true(id);
	assert_string_equal(found.type, "tracing");
	assert_false(found.is_ours);
	usleep(200000);
	compare_with_fdinfo(p, id);
	stop_top(NULL);
	for (uint64_t end = tap_now_ns() + LIMIT_NS; read_program(p, id).id;) {
		assert_true(tap_now_ns() < end);
		usleep(10000);
	}
	close(own);
	tap_bpf_programs_close(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_counted_exactly),
		cmocka_unit_test(the_first_reading_counts_from_the_beginning),
		cmocka_unit_test(a_program_goes_and_another_comes),
		cmocka_unit_test(nothing_is_counted_afterwards),
		cmocka_unit_test_teardown(another_process_has_one, stop_top),
	};
	const char *program = getenv("SCHEDTAP");

	(void)argc;
	if (program)
		snprintf(schedtap, sizeof(schedtap), "%s", program);
	else
		snprintf(schedtap, sizeof(schedtap), "%.4000s/../../schedtap", dirname(argv[0]));
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
