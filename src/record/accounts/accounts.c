// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/accounts/accounts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "event/select/mount.h"
#include "record/accounts/cgroups.h"
#include "record/accounts/tasks.h"

#define MAX_STAT_BYTES ((size_t)16 << 20) /* its line of interrupts grows with the machine */

/* Fields of a CPU in /proc/stat, in clock ticks: proc(5). The time of guests is part of user. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, NR_FIELDS };
#define MIN_FIELDS 4u

struct cpu_ticks {
	unsigned int cpu;
	uint64_t v[NR_FIELDS];
};

/* Numbers of the whole machine since it booted. */
struct reading {
	uint64_t at_ns;
	struct cpu_ticks *cpus; /* owned; by number */
	unsigned int nr_cpus, cap_cpus;
	int cpus_err;
	struct tap_known switches, waits, wait_ns, pressure_ns;
};

struct tap_accounts {
	char *proc, *cgroup_root, *cpuacct;
	bool reads_tasks;
	struct reading before, now;
	struct tap_accounts_cpu *cpus; /* of the view */
	struct tap_cgroup_accounts cgroups;
	struct tap_task_accounts tasks;
	struct tap_buf text;
};

/* ---- files of the machine ---- */

static int read_file(struct tap_accounts *a, const char *name)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s", a->proc, name);

	return len < (int)sizeof(path) ? tap_known_read(&a->text, path) : -ENAMETOOLONG;
}

/*
 * Return: the next line that begins with "cpu" and a number, after the number, which is moved to
 * @cpu; NULL: there is none. @next: where to begin; moved to the line after it.
 */
static const char *next_cpu(const char **next, uint64_t *cpu)
{
	for (const char *line = *next; *line;) {
		const char *at = line + strlen("cpu");

		line += strcspn(line, "\n");
		line += *line == '\n';
		*next = line;
		if (!strncmp(at - strlen("cpu"), "cpu", strlen("cpu")) &&
		    !tap_text_take_digits(&at, NULL, 10, cpu) && *cpu <= TAP_CPU_MAX)
			return at;
	}
	return NULL;
}

/* Return: 0; -EBADMSG; -ENOMEM. */
static int parse_cpus(struct reading *r, const char *text)
{
	const char *next = text, *at;
	uint64_t cpu;

	while ((at = next_cpu(&next, &cpu))) {
		struct cpu_ticks c = { .cpu = (unsigned int)cpu };

		if ((r->nr_cpus && cpu <= r->cpus[r->nr_cpus - 1].cpu) ||
		    tap_proc_numbers(&at, c.v, NR_FIELDS) < MIN_FIELDS)
			return -EBADMSG;
		if (tap_array_grow(&r->cpus, r->nr_cpus, &r->cap_cpus, sizeof(*r->cpus)))
			return -ENOMEM;
		r->cpus[r->nr_cpus++] = c;
	}
	return r->nr_cpus ? 0 : -EBADMSG;
}

/*
 * Of a CPU's nine numbers since version 15 (v2.6.30), the last two are the time that tasks waited
 * for the CPU, and how often one was switched in. rq_sched_info_arrive() counts them, also while
 * kernel.sched_schedstats is 0.
 */
#define SCHEDSTAT_VERSION 15u
#define SCHEDSTAT_FIELDS 9u

static int parse_schedstat(struct reading *r, const char *text)
{
	uint64_t cpu, version, v[SCHEDSTAT_FIELDS];
	const char *next = text, *at;
	bool has_cpu = false;

	if (tap_proc_value(text, "version ", &version) || version < SCHEDSTAT_VERSION)
		return -EBADMSG;
	while ((at = next_cpu(&next, &cpu))) {
		if (tap_proc_numbers(&at, v, SCHEDSTAT_FIELDS) < SCHEDSTAT_FIELDS)
			return -EBADMSG;
		r->wait_ns.v += v[SCHEDSTAT_FIELDS - 2];
		r->waits.v += v[SCHEDSTAT_FIELDS - 1];
		has_cpu = true;
	}
	return has_cpu ? 0 : -EBADMSG;
}

static int read_machine(struct tap_accounts *a, struct reading *r)
{
	int ret;

	r->at_ns = tap_now_ns();
	ret = read_file(a, "stat");
	r->switches = tap_known_value(ret, tap_buf_str(&a->text), "ctxt ");
	r->cpus_err = ret ?: parse_cpus(r, tap_buf_str(&a->text));
	if (r->cpus_err == -ENOMEM)
		return -ENOMEM;
	ret = read_file(a, "schedstat") ?: parse_schedstat(r, tap_buf_str(&a->text));
	if (ret)
		r->waits = r->wait_ns = (struct tap_known){ .err = ret };
	ret = read_file(a, "pressure/cpu");
	r->pressure_ns = tap_known_pressure(ret, tap_buf_str(&a->text));
	return 0;
}

/* ---- the view ---- */

/* The kernel may count less idle time than before (get_cpu_iowait_time_us()). */
static struct tap_accounts_cpu cpu_since(const struct cpu_ticks *before,
					 const struct cpu_ticks *now)
{
	const uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	struct tap_accounts_cpu c = { .cpu = now->cpu };

	for (unsigned int i = 0; i < NR_FIELDS; i++) {
		uint64_t ticks = now->v[i] > before->v[i] ? now->v[i] - before->v[i] : 0;

		c.cpu_ns += ticks * tick_ns;
		if (i == IDLE || i == IOWAIT)
			c.idle_ns += ticks * tick_ns;
	}
	return c;
}

static void view_cpus(struct tap_accounts *a, struct tap_accounts_view *view)
{
	const struct reading *before = &a->before, *now = &a->now;
	unsigned int at = 0;

	view->cpus_err = now->cpus_err ?: before->cpus_err;
	if (view->cpus_err)
		return;
	view->cpus = a->cpus;
	for (unsigned int i = 0; i < now->nr_cpus; i++) {
		struct tap_accounts_cpu *c;

		while (at < before->nr_cpus && before->cpus[at].cpu < now->cpus[i].cpu)
			at++;
		if (at == before->nr_cpus || before->cpus[at].cpu != now->cpus[i].cpu)
			continue;
		c = &a->cpus[view->nr_cpus++];
		*c = cpu_since(&before->cpus[at], &now->cpus[i]);
		view->cpu_ns += c->cpu_ns;
		view->idle_ns += c->idle_ns;
	}
}

static void make_view(struct tap_accounts *a, struct tap_accounts_view *view)
{
	const struct reading *before = &a->before, *now = &a->now;

	*view = (struct tap_accounts_view){
		.from_ns = before->at_ns,
		.to_ns = now->at_ns,
		.switches = tap_known_since(before->switches, now->switches),
		.waits = tap_known_since(before->waits, now->waits),
		.wait_ns = tap_known_since(before->wait_ns, now->wait_ns),
		.pressure_ns = tap_known_since(before->pressure_ns, now->pressure_ns),
		.all_tasks.err = -ENOENT,
	};
	view_cpus(a, view);
	tap_cgroup_accounts_view(&a->cgroups, view);
	if (a->reads_tasks)
		tap_task_accounts_view(&a->tasks, view);
}

/* ---- open, read, close ---- */

static int read_all(struct tap_accounts *a)
{
	int ret;

	free(a->before.cpus);
	a->before = a->now;
	a->now = (struct reading){ 0 };
	ret = read_machine(a, &a->now)
		      ?: tap_cgroup_accounts_read(&a->cgroups, a->cgroup_root, a->cpuacct);
	if (!ret && a->reads_tasks)
		ret = tap_task_accounts_read(&a->tasks, a->proc);
	free(a->cpus);
	a->cpus = calloc(a->now.nr_cpus + 1, sizeof(*a->cpus));
	return a->cpus ? ret : -ENOMEM;
}

/* Return: a copy of the text, or NULL, which is what @text may be. */
static char *copy(const char *text, int *ret)
{
	char *c = text ? strdup(text) : NULL;

	if (text && !c)
		*ret = -ENOMEM;
	return c;
}

int tap_accounts_open(struct tap_accounts **out, const struct tap_accounts_opts *opts,
		      struct tap_err *err)
{
	struct tap_accounts *a = calloc(1, sizeof(*a));
	int ret = 0;

	*out = NULL;
	if (!a)
		return tap_err_nomem(err);
	a->text.max = MAX_STAT_BYTES;
	a->proc = copy(opts->proc, &ret);
	a->cgroup_root = copy(opts->cgroups, &ret);
	a->cpuacct = copy(opts->cpuacct, &ret);
	a->reads_tasks = opts->reads_tasks;
	ret = ret ?: read_all(a);
	if (ret) {
		tap_accounts_close(a);
		return tap_err_nomem(err);
	}
	*out = a;
	return 0;
}

int tap_accounts_open_machine(struct tap_accounts **out, bool reads_tasks, struct tap_err *err)
{
	struct tap_accounts_opts opts = { .proc = "/proc", .reads_tasks = reads_tasks };
	char cgroups[PATH_MAX], cpuacct[PATH_MAX];

	if (tap_cgroup_mount(cgroups, sizeof(cgroups)))
		opts.cgroups = cgroups;
	if (tap_cgroup_mount_v1("cpuacct", cpuacct, sizeof(cpuacct)))
		opts.cpuacct = cpuacct;
	return tap_accounts_open(out, &opts, err);
}

void tap_accounts_close(struct tap_accounts *a)
{
	if (!a)
		return;
	free(a->before.cpus);
	free(a->now.cpus);
	free(a->cpus);
	tap_cgroup_accounts_release(&a->cgroups);
	tap_task_accounts_release(&a->tasks);
	tap_buf_release(&a->text);
	free(a->proc);
	free(a->cgroup_root);
	free(a->cpuacct);
	free(a);
}

int tap_accounts_read(struct tap_accounts *a, struct tap_accounts_view *view, struct tap_err *err)
{
	if (read_all(a))
		return tap_err_nomem(err);
	make_view(a, view);
	return 0;
}
