// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Overhead of the tally: run time per switch as the kernel measures BPF programs, and that of a
 * program on the same tracepoint that does nothing. They take turns: of two that are attached at a
 * time, the first one finds cold caches, and costs twice as much.
 *
 * tally pipe [ROUNDS [MS]]: two processes that wake each other. tally as-is [ROUNDS [MS [LOAD]]]:
 * what runs anyway, beside a program that reads the clock. tally tasks [ROUNDS [MS]]: as pipe, but
 * each task's waits are counted by length, beside a tally that does not. tally hold
 * tally|empty|nothing: attach, say "ready", and detach when stdin ends.
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
#define MAX_CGROUPS 1024
#define WARM_UP_US 1200000 /* each task of the crowd (crowd.c) has woken once */

static void fail(const char *what)
{
	fprintf(stderr, "tally: %s: %s\n", what, strerror(errno));
	exit(1);
}

/*
 * Programs that the tally is compared with: one that returns at once, one that reads the clock, and
 * a tally that does not count the waits of single tasks.
 */
enum other { EMPTY, CLOCK, TALLY };

static const char *const other_names[] = { "empty", "reads the clock", "no waits of tasks" };

struct attached {
	int program, link;
};

static struct attached attach(const char *tracepoint, enum other other)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct bpf_insn *first = other == CLOCK ? code : code + 1;
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	int id = libbpf_find_vmlinux_btf_id(tracepoint, BPF_TRACE_RAW_TP);
	struct attached a;

	opts.attach_btf_id = (uint32_t)id;
	a.program = id < 0 ? id
			   : bpf_prog_load(BPF_PROG_TYPE_TRACING, "other", "GPL", first,
					   (size_t)(code + 3 - first), &opts);
	a.link = a.program < 0 ? -1 : bpf_raw_tracepoint_open(NULL, a.program);
	if (a.link < 0)
		fail("cannot attach a program");
	return a;
}

static void detach(struct attached a)
{
	close(a.link);
	close(a.program);
}

static struct tap_tally *open_tally(const struct tap_tally_opts *opts)
{
	struct tap_err err = { 0 };
	struct tap_tally *t;

	if (tap_tally_open(&t, opts, &err)) {
		fprintf(stderr, "tally: %s\n", err.text);
		exit(1);
	}
	return t;
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

/* Return: ns per run of a program during @ms, once it has run for a while. */
static double per_run(int fd, unsigned int ms)
{
	struct sample before, after;
	int stats;

	usleep(WARM_UP_US);
	stats = tap_bpf_stats_open(NULL);
	if (stats < 0)
		fail("cannot measure BPF programs");
	before = read_program(fd);
	usleep(ms * 1000);
	after = read_program(fd);
	close(stats);
	return (double)(after.ns - before.ns) / (double)(after.runs - before.runs);
}

static double tally_per_run(const struct tap_tally_opts *opts, unsigned int ms)
{
	struct tap_tally *t = open_tally(opts);
	int fd = find_switch();
	double ns = per_run(fd, ms);

	close(fd);
	tap_tally_close(t);
	return ns;
}

static double other_per_run(enum other other, unsigned int ms)
{
	const struct tap_tally_opts opts = { .max_cgroups = MAX_CGROUPS };
	struct attached a;
	double ns;

	if (other == TALLY)
		return tally_per_run(&opts, ms);
	a = attach("sched_switch", other);
	ns = per_run(a.program, ms);
	detach(a);
	return ns;
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

/* A measurement while the load named @load runs. */
struct measured {
	const char *load;
	enum other other;
	struct tap_tally_opts opts;
	int rounds;
	unsigned int ms;
};

static void measure(const struct measured *m)
{
	double other[MAX_ROUNDS], tally[MAX_ROUNDS], ratio[MAX_ROUNDS];

	for (int i = 0; i < m->rounds; i++) {
		other[i] = other_per_run(m->other, m->ms);
		tally[i] = tally_per_run(&m->opts, m->ms);
		ratio[i] = tally[i] / other[i];
	}
	printf("|%s|%s|%.0f|%.0f|%.2f|\n", m->load, other_names[m->other], median(other, m->rounds),
	       median(tally, m->rounds), median(ratio, m->rounds));
}

static void measure_pipe(const struct measured *m, int cpu_a, int cpu_b)
{
	int there[2], back[2];
	pid_t players[2];

	if (pipe(there) || pipe(back))
		fail("pipe");
	players[0] = start_player(there[0], back[1], cpu_a);
	players[1] = start_player(back[0], there[1], cpu_b);
	if (write(there[1], "b", 1) != 1)
		fail("write");
	measure(m);
	for (int i = 0; i < 2; i++) {
		kill(players[i], SIGKILL);
		waitpid(players[i], NULL, 0);
	}
}

/* Attach until stdin ends. */
static void hold(const char *what)
{
	const struct tap_tally_opts opts = { .max_cgroups = MAX_CGROUPS };
	struct tap_tally *t = NULL;
	char c;

	if (!strcmp(what, "tally")) {
		t = open_tally(&opts);
	} else if (!strcmp(what, "empty")) { /* the process ends with them */
		attach("sched_switch", EMPTY);
		attach("sched_waking", EMPTY);
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	tap_tally_close(t);
}

int main(int argc, char **argv)
{
	struct measured m = {
		.rounds = argc > 2 ? atoi(argv[2]) : 5,
		.ms = argc > 3 ? (unsigned int)atoi(argv[3]) : 300,
		.opts = { .max_cgroups = MAX_CGROUPS },
	};

	if (argc == 3 && !strcmp(argv[1], "hold")) {
		hold(argv[2]);
		return 0;
	}
	if (m.rounds < 1 || m.rounds > MAX_ROUNDS)
		return 2;
	if (argc > 1 && !strcmp(argv[1], "tasks")) {
		m.other = TALLY;
		m.opts.reads_tasks = m.opts.counts_task_waits = true;
	}
	if (argc > 1 && (!strcmp(argv[1], "pipe") || m.other == TALLY)) {
		m.load = "a pipe on one CPU";
		measure_pipe(&m, 0, 0);
		m.load = "a pipe between two CPUs";
		measure_pipe(&m, 0, 1);
	} else if (argc > 1 && !strcmp(argv[1], "as-is")) {
		m.load = argc > 4 ? argv[4] : "what runs";
		m.other = CLOCK;
		measure(&m);
	} else {
		return 2;
	}
	return 0;
}
