// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Overhead of the tally: run time per switch as the kernel measures BPF programs, beside a program
 * on the same tracepoint that does nothing, at the same switches. tally ROUNDS MS [from-waking]
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "record/bpf/stats.h"
#include "record/tally/tally.h"

#define MAX_ROUNDS 100

static void fail(const char *what)
{
	fprintf(stderr, "tally: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Attach a program to sched_switch that returns at once. Return: its descriptor. */
static int attach_empty(void)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	int id = libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP), fd;

	opts.attach_btf_id = (uint32_t)id;
	fd = id < 0 ? id : bpf_prog_load(BPF_PROG_TYPE_TRACING, "empty", "GPL", code, 2, &opts);
	if (fd < 0 || bpf_raw_tracepoint_open(NULL, fd) < 0)
		fail("cannot attach the empty program");
	return fd;
}

/* The tally's program at sched_switch, by its name. Return: a descriptor. */
static int find_switch(void)
{
	uint32_t id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    !strncmp(info.name, "tap_tally_switch", sizeof(info.name) - 1))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	fail("the tally's program is not there");
	return -1;
}

/* ---- load: two processes that wake each other ---- */

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static pid_t start_player(int from, int to, int cpu)
{
	pid_t pid = fork();
	char ball;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_on(cpu);
	while (read(from, &ball, 1) == 1 && write(to, &ball, 1) == 1)
		;
	_exit(0);
}

/* ---- measuring ---- */

struct sample {
	uint64_t ns, runs;
};

static struct sample read_program(int fd)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		fail("cannot read a program's statistics");
	return (struct sample){ info.run_time_ns, info.run_cnt };
}

static double per_run(struct sample before, struct sample after)
{
	return (double)(after.ns - before.ns) / (double)(after.runs - before.runs);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int nr)
{
	qsort(v, (size_t)nr, sizeof(*v), by_value);
	return v[nr / 2];
}

static void measure(const char *name, int rounds, unsigned int ms, int cpu_a, int cpu_b)
{
	double empty[MAX_ROUNDS], tally[MAX_ROUNDS], ratio[MAX_ROUNDS];
	int there[2], back[2], empty_fd, tally_fd;
	pid_t players[2];

	if (pipe(there) || pipe(back))
		fail("pipe");
	players[0] = start_player(there[0], back[1], cpu_a);
	players[1] = start_player(back[0], there[1], cpu_b);
	if (write(there[1], "b", 1) != 1)
		fail("write");
	empty_fd = attach_empty();
	tally_fd = find_switch();
	for (int i = 0; i < rounds; i++) {
		int stats = tap_bpf_stats_open(NULL);
		struct sample e, t;

		if (stats < 0)
			fail("cannot measure BPF programs");
		e = read_program(empty_fd);
		t = read_program(tally_fd);
		usleep(ms * 1000);
		empty[i] = per_run(e, read_program(empty_fd));
		tally[i] = per_run(t, read_program(tally_fd));
		ratio[i] = tally[i] / empty[i];
		close(stats);
	}
	for (int i = 0; i < 2; i++) {
		kill(players[i], SIGKILL);
		waitpid(players[i], NULL, 0);
	}
	printf("|%s|%.0f|%.0f|%.2f|\n", name, median(empty, rounds), median(tally, rounds),
	       median(ratio, rounds));
}

int main(int argc, char **argv)
{
	struct tap_tally_opts opts = { .max_cgroups = 1024 };
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	unsigned int ms = argc > 2 ? (unsigned int)atoi(argv[2]) : 300;
	struct tap_err err = { 0 };
	struct tap_tally *t;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		return 2;
	opts.from_waking = argc > 3 && !strcmp(argv[3], "from-waking");
	if (tap_tally_open(&t, &opts, &err)) {
		fprintf(stderr, "tally: %s\n", err.text);
		return 1;
	}
	measure("a pipe on one CPU", rounds, ms, 0, 0);
	measure("a pipe between two CPUs", rounds, ms, 0, 1);
	tap_tally_close(t);
	return 0;
}
