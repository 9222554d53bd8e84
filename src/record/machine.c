// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "base/text.h"
#include "event/select/mount.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define SCHED_DIR "/sys/kernel/debug/sched"
#define SYMBOLS_MAX_BYTES ((size_t)64 << 20) /* a big kernel has 15 MB; limit of the readers */

static int64_t cpu_number(unsigned int cpu, const char *file)
{
	char path[192];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/%s", cpu, file);
	return tap_proc_number(path);
}

void tap_machine_symbols(struct tap_buf *kallsyms)
{
	static const char hidden[] = "0000000000000000 ";
	const char *last = NULL;

	kallsyms->max = SYMBOLS_MAX_BYTES;
	if (!tap_buf_read_file(kallsyms, "/proc/kallsyms") && kallsyms->len)
		last = memrchr(kallsyms->data, '\n', kallsyms->len - 1);
	if (!last || !strncmp(last + 1, hidden, strlen(hidden)))
		tap_buf_clear(kallsyms);
}

unsigned int tap_machine_nr_cpus(void)
{
	struct tap_buf b = { .max = 4096 };
	struct tap_cpus cpus = { 0 };
	unsigned int nr = 0;

	if (!tap_buf_read_file(&b, CPU_DIR "/present") && !tap_cpus_parse(&cpus, tap_buf_str(&b)))
		for (unsigned int cpu = 0; cpu < cpus.nr_words * 64; cpu++)
			nr = tap_cpus_has(&cpus, cpu) ? cpu + 1 : nr;
	tap_cpus_release(&cpus);
	tap_buf_release(&b);
	return nr ? nr : (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
}

int tap_machine_capacity(unsigned int cpu)
{
	return (int)cpu_number(cpu, "cpu_capacity");
}

/* Return: the first number of a list in a file; -1: there is none. */
static int first_of_list(const char *path)
{
	struct tap_buf b = { .max = 65536 };
	const char *text;
	uint64_t nr;
	int ret = -1;

	if (!tap_buf_read_file(&b, path)) {
		text = tap_buf_str(&b);
		ret = tap_text_take_digits(&text, NULL, 10, &nr) || nr > INT_MAX ? -1 : (int)nr;
	}
	tap_buf_release(&b);
	return ret;
}

unsigned int tap_machine_llc(unsigned int cpu)
{
	int64_t level, highest = -1;
	char path[128];
	int llc = -1;

	for (unsigned int i = 0;; i++) {
		snprintf(path, sizeof(path), "cache/index%u/level", i);
		level = cpu_number(cpu, path);
		if (level < 0)
			break;
		if (level <= highest)
			continue;
		highest = level;
		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cache/index%u/shared_cpu_list", cpu,
			 i);
		llc = first_of_list(path);
	}
	if (llc < 0) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/topology/package_cpus_list", cpu);
		llc = first_of_list(path);
	}
	return llc < 0 ? 0 : (unsigned int)llc;
}

unsigned int tap_machine_node(unsigned int cpu)
{
	char pattern[128];
	unsigned int node = 0;
	glob_t found;

	snprintf(pattern, sizeof(pattern), CPU_DIR "/cpu%u/node[0-9]*", cpu);
	if (!glob(pattern, GLOB_NOSORT, NULL, &found))
		sscanf(strrchr(found.gl_pathv[0], '/'), "/node%u", &node);
	globfree(&found);
	return node;
}

/*
 * Set @key to the word in a file of one line: the word in parentheses, which is the chosen one of
 * several, or else the whole line.
 */
static void set_word(json_t *to, const char *key, const char *path)
{
	struct tap_buf b = { .max = 4096 };
	const char *word, *chosen;

	if (!tap_buf_read_file(&b, path) && b.len) {
		word = tap_buf_str(&b);
		chosen = strchr(word, '(');
		word = chosen ? chosen + 1 : word;
		json_object_set_new(to, key,
				    json_stringn(word, strcspn(word, chosen ? ")" : "\n")));
	}
	tap_buf_release(&b);
}

bool tap_machine_trusts_counter(void)
{
	static const char *const sources[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
					       "arch_sys_counter" };
	struct tap_buf text = { .max = 4096 };
	bool trusts = false;
	size_t len;

	/* if it cannot be read, the text is empty and matches no source */
	(void)tap_buf_read_file(&text,
				"/sys/devices/system/clocksource/clocksource0/current_clocksource");
	len = strcspn(tap_buf_str(&text), "\n");
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		trusts |= strlen(sources[i]) == len && !memcmp(tap_buf_str(&text), sources[i], len);
	tap_buf_release(&text);
	return trusts;
}

json_t *tap_machine_host(void)
{
	struct utsname u;
	json_t *host;

	if (uname(&u))
		return json_object();
	host = json_pack("{s:s, s:s, s:s, s:s}", "hostname", u.nodename, "release", u.release,
			 "version", u.version, "machine", u.machine);
	set_word(host, "preempt", SCHED_DIR "/preempt");
	set_word(host, "base_slice_ns", SCHED_DIR "/base_slice_ns");
	return host;
}

static void set_if_known(json_t *to, const char *key, int64_t v)
{
	if (v >= 0)
		json_object_set_new(to, key, json_integer(v));
}

json_t *tap_machine_cpus(void)
{
	unsigned int nr = tap_machine_nr_cpus();
	json_t *cpus = json_array();

	for (unsigned int cpu = 0; cpu < nr; cpu++) {
		json_t *c = json_pack("{s:i}", "cpu", (int)cpu);
		char path[128];

		set_if_known(c, "capacity", tap_machine_capacity(cpu));
		set_if_known(c, "package", cpu_number(cpu, "topology/physical_package_id"));
		set_if_known(c, "core", cpu_number(cpu, "topology/core_id"));
		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpufreq/scaling_governor", cpu);
		set_word(c, "governor", path);
		/* a CPU that cannot be switched off has no such file; read as -1 */
		json_object_set_new(c, "online", json_boolean(cpu_number(cpu, "online") != 0));
		json_array_append_new(cpus, c);
	}
	return cpus;
}

json_t *tap_machine_clocks(void)
{
	/* read close together, in this order */
	uint64_t mono = tap_clock_ns(CLOCK_MONOTONIC), boot = tap_clock_ns(CLOCK_BOOTTIME);
	uint64_t real = tap_clock_ns(CLOCK_REALTIME);

	return json_pack("{s:I, s:I, s:I}", "monotonic_ns", (json_int_t)mono, "boottime_ns",
			 (json_int_t)boot, "realtime_ns", (json_int_t)real);
}

int tap_machine_put_text(struct tap_map *m, uint64_t key, const char *text)
{
	char *copy = strdup(text);
	/* make no slot if there is no memory for the text */
	uint64_t *slot = copy ? tap_map_put(m, key) : NULL;

	if (!slot) {
		free(copy);
		return -ENOMEM;
	}
	free((char *)(uintptr_t)*slot);
	*slot = (uint64_t)(uintptr_t)copy;
	return 0;
}

/*
 * Cut what the kernel shows after the name of a worker that works or has worked: "-events" of
 * "kworker/0:1-events", or of "kworker/u8:0H-events" (wq_worker_comm()). Events have the name
 * alone.
 */
static void cut_work(char *comm)
{
	char *at = comm + strlen("kworker/");

	if (strncmp(comm, "kworker/", strlen("kworker/")))
		return;
	at += *at == 'u';
	at += strspn(at, "0123456789");
	if (*at != ':')
		return;
	at += 1 + strspn(at + 1, "0123456789");
	at += *at == 'H';
	if (*at == '-' || *at == '+')
		*at = '\0';
}

static int add_task(uint64_t tgid, uint64_t tid, struct tap_map *tgids, struct tap_map *comms)
{
	char path[64], comm[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/task/%" PRIu64 "/comm", tgid, tid);
	if (!tap_proc_comm(path, comm, sizeof(comm)))
		return 0; /* the task has ended */
	cut_work(comm);
	return tap_map_set(tgids, tid, tgid) ?: tap_machine_put_text(comms, tid, comm);
}

/*
 * Add the tasks of a folder that has an entry for each task of @tgid; 0: of /proc, whose entries
 * each have such a folder.
 */
static int add_tasks(const char *path, uint64_t tgid, struct tap_map *tgids, struct tap_map *comms)
{
	DIR *dir = opendir(path);
	char threads[64];
	struct dirent *e;
	uint64_t id;
	int ret = 0;

	while (dir && !ret && (e = readdir(dir))) {
		const char *name = e->d_name;

		if (tap_text_take_digits(&name, NULL, 10, &id))
			continue;
		snprintf(threads, sizeof(threads), "/proc/%" PRIu64 "/task", id);
		ret = tgid ? add_task(tgid, id, tgids, comms)
			   : add_tasks(threads, id, tgids, comms);
	}
	if (dir)
		closedir(dir);
	return ret;
}

int tap_machine_tasks(struct tap_map *tgids, struct tap_map *comms)
{
	return add_tasks("/proc", 0, tgids, comms);
}

int tap_machine_online(struct tap_cpus *online)
{
	struct tap_buf list = { .max = 64 << 10 };
	int ret = 0;

	if (!tap_buf_read_file(&list, CPU_DIR "/online"))
		ret = tap_cpus_parse(online, tap_buf_str(&list));
	tap_buf_release(&list);
	return ret == -ENOMEM ? ret : 0;
}

/* One system call per task, instead of reading a file of /proc. */
int tap_machine_affinity(pid_t tid, const struct tap_cpus *online, uint64_t key,
			 struct tap_map *texts)
{
	const unsigned int width = 8 * sizeof(unsigned long);
	unsigned long bits[(TAP_CPU_MAX + 1) / width];
	long bytes = syscall(SYS_sched_getaffinity, tid, sizeof(bits), bits);
	struct tap_cpus cpus = { 0 };
	struct tap_buf text = { 0 };
	bool is_other = false;
	int ret = 0;

	if (bytes <= 0 || !online->nr_words)
		return tap_machine_put_text(texts, key, "");
	for (unsigned int cpu = 0; cpu < 8 * (unsigned int)bytes && !ret; cpu++) {
		bool has = bits[cpu / width] >> cpu % width & 1;

		is_other |= has != tap_cpus_has(online, cpu);
		ret = has ? tap_cpus_add(&cpus, cpu) : 0;
	}
	if (!ret && is_other) {
		tap_cpus_text(&cpus, &text);
		ret = text.err ? -ENOMEM : tap_machine_put_text(texts, key, tap_buf_str(&text));
	}
	tap_buf_release(&text);
	tap_cpus_release(&cpus);
	return ret;
}

/* One file per cgroup, instead of a file of /proc per task. */
static int add_members(const char *dir, const char *file, uint64_t cgroup, struct tap_map *members)
{
	struct tap_buf path = { 0 }, tids = { 0 };
	uint64_t tid; /* 0: a task of another pid namespace */
	int ret = 0;

	tap_buf_printf(&path, "%s/%s", dir, file);
	/* the cgroup may have been removed */
	if (!tap_buf_read_file(&tids, tap_buf_str(&path))) {
		const char *at = tap_buf_str(&tids);

		for (; !ret && !tap_text_take_digits(&at, NULL, 10, &tid); at += strspn(at, "\n"))
			ret = tid ? tap_map_set(members, tid, cgroup) : 0;
	}
	tap_buf_release(&path);
	tap_buf_release(&tids);
	return ret;
}

/* Without a quota, cpu.max of cgroup v2 is "max 100000", and cpu.cfs_quota_us of v1 is -1. */
static bool has_quota(const char *dir, bool is_v1)
{
	struct tap_buf path = { 0 }, text = { .max = 4096 };
	bool yes;

	tap_buf_printf(&path, "%s/%s", dir, is_v1 ? "cpu.cfs_quota_us" : "cpu.max");
	yes = !tap_buf_read_file(&text, tap_buf_str(&path)) &&
	      isdigit((unsigned char)*tap_buf_str(&text));
	tap_buf_release(&path);
	tap_buf_release(&text);
	return yes;
}

/* Return: 0 if it is not known. */
static uint64_t throttled_ns(const char *dir)
{
	struct tap_buf path = { 0 }, text = { .max = 4096 };
	uint64_t v = 0;

	tap_buf_printf(&path, "%s/cpu.stat", dir);
	if (tap_buf_read_file(&text, tap_buf_str(&path)) ||
	    tap_proc_throttled(tap_buf_str(&text), &v))
		v = 0;
	tap_buf_release(&path);
	tap_buf_release(&text);
	return v;
}

int tap_machine_walk_cgroups(const char *root, int (*visit)(void *ctx, FTSENT *e, const char *path),
			     void *ctx)
{
	char *paths[] = { (char *)(uintptr_t)root, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *e;
	int ret = 0;

	while (fts && !ret && (e = fts_read(fts))) {
		const char *below = e->fts_path + strlen(root);

		if (e->fts_info == FTS_D)
			ret = visit(ctx, e, *below ? below : "/");
	}
	if (fts)
		fts_close(fts);
	return ret;
}

struct cgroup_maps {
	const char *file; /* in each cgroup: lists its tasks */
	struct tap_map *cgroups, *members, *limited;
};

static int add_cgroup(void *ctx, FTSENT *e, const char *path)
{
	const struct cgroup_maps *m = ctx;
	uint64_t id = e->fts_statp->st_ino; /* a cgroup is a folder of kernfs */
	bool is_v1 = *m->file == 't';
	int ret = tap_machine_put_text(m->cgroups, id, path);

	if (!ret && m->members)
		ret = add_members(e->fts_path, m->file, id, m->members);
	if (ret || !m->limited)
		return ret;
	e->fts_number = e->fts_parent->fts_number || has_quota(e->fts_path, is_v1);
	return e->fts_number ? tap_map_set(m->limited, id, throttled_ns(e->fts_path)) : 0;
}

int tap_machine_cgroups(struct tap_map *cgroups, struct tap_map *members, struct tap_map *limited)
{
	struct cgroup_maps m = { .cgroups = cgroups, .members = members, .limited = limited };
	char root[4096];

	m.file = tap_cgroup_mount(root, sizeof(root));
	return m.file ? tap_machine_walk_cgroups(root, add_cgroup, &m) : 0;
}

void tap_machine_release_texts(struct tap_map *m)
{
	tap_map_for_each(m, s)
		free((char *)(uintptr_t)s->value);
	tap_map_release(m);
}
