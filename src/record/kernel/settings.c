// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/kernel/settings.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "record/kernel/file.h"
#include "record/kernel/scx.h"

#define SCHED_DIR "sys/kernel/debug/sched"
#define CPU_DIR "sys/devices/system/cpu"
/* formats */
#define CPU "%s/" CPU_DIR "/cpu%u/"
#define STATE CPU "cpuidle/state%u/"

/* Call @visit for each path that matches, until it returns false. @pattern: below @root. */
static void visit_paths(const char *root, const char *pattern,
			bool (*visit)(void *ctx, const char *path), void *ctx)
{
	char full[PATH_MAX];
	glob_t found;

	if (snprintf(full, sizeof(full), "%s/%s", root, pattern) >= (int)sizeof(full))
		return;
	if (!glob(full, GLOB_NOSORT, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (!visit(ctx, found.gl_pathv[i]))
				break;
	}
	globfree(&found);
}

/* Parse what SEQ_printf() of kernel/sched/debug.c prints of ns: "1.400000", in ms. */
static int64_t parse_ms(const char *at)
{
	uint64_t ms, rest;

	if (tap_text_take_digits(&at, NULL, 10, &ms) || *at++ != '.' ||
	    strspn(at, "0123456789") != 6 || tap_text_take_digits(&at, NULL, 10, &rest) ||
	    ms > INT64_MAX / 1000000 - 1)
		return -1;
	return (int64_t)(ms * 1000000 + rest);
}

/*
 * A kernel that is locked down (Secure Boot) refuses the files of debugfs that somebody may write
 * (debugfs_locked_down(), since v5.5), but not this one.
 */
static int64_t slice_of_debug(const char *root, const char *name)
{
	char text[TAP_FILE_BYTES];
	const char *at;

	tap_file_start(text, "%s/" SCHED_DIR "/debug", root);
	at = strstr(text, name);
	at = at ? at + strcspn(at, ":\n") : "";
	return *at == ':' ? parse_ms(at + 1 + strspn(at + 1, " ")) : -1;
}

static bool exists(const char *root, const char *file)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", root, file) < (int)sizeof(path) &&
	       !access(path, F_OK);
}

/* v6.6 renamed the setting, when EEVDF replaced CFS. */
static int64_t read_slice(const char *root)
{
	static const char *const names[] = { "base_slice", "min_granularity" };
	char in_debug[48];
	int64_t ns = -1;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && ns < 0; i++) {
		snprintf(in_debug, sizeof(in_debug), ".sysctl_sched_%s ", names[i]);
		ns = tap_file_number("%s/" SCHED_DIR "/%s_ns", root, names[i]);
		ns = ns < 0 ? slice_of_debug(root, in_debug) : ns;
	}
	return ns;
}

/* @version: /proc/version. Return: false also if it is unknown. */
static bool is_since(const char *version, unsigned int major, unsigned int minor)
{
	unsigned int is_major, is_minor;

	return sscanf(version, "Linux version %5u.%5u", &is_major, &is_minor) == 2 &&
	       (is_major > major || (is_major == major && is_minor >= minor));
}

static void read_scheduler(struct tap_settings *s, const char *root, const char *version)
{
	char path[PATH_MAX];
	struct tap_scx scx;

	snprintf(path, sizeof(path), "%s/sys/kernel/sched_ext", root);
	tap_scx_read(&scx, path);
	if (*scx.scheduler && scx.all_tasks)
		memcpy(s->scheduler, scx.scheduler, sizeof(s->scheduler));
	else if (exists(root, SCHED_DIR "/base_slice_ns") || is_since(version, 6, 6))
		strcpy(s->scheduler, "EEVDF");
	else if (*version)
		strcpy(s->scheduler, "CFS");
}

/* Return true if @word is one of the words of @line. */
static bool has_word(const char *line, const char *word)
{
	size_t len = strlen(word);

	for (; *line; line += strspn(line, " ")) {
		size_t n = strcspn(line, " ");

		if (n == len && !memcmp(line, word, len))
			return true;
		line += n;
	}
	return false;
}

/*
 * The version says how the kernel was built (init/Makefile). PREEMPT alone is full preemption, or
 * since v6.13 full or lazy (PREEMPT_BUILD); without any word it is none or voluntary.
 */
static const char *preempt_of_build(const char *version)
{
	if (has_word(version, "PREEMPT_DYNAMIC"))
		return "dynamic";
	return has_word(version, "PREEMPT") && !is_since(version, 6, 13) ? "full" : "";
}

static void read_preempt(struct tap_settings *s, const char *root, const char *version)
{
	char line[64];
	const char *chosen;

	/* the file was in the RT patches only when v6.12 merged PREEMPT_RT */
	if (tap_file_number("%s/sys/kernel/realtime", root) == 1 ||
	    has_word(version, "PREEMPT_RT")) {
		strcpy(s->preempt, "rt");
		return;
	}
	tap_file_line(line, sizeof(line), "%s/" SCHED_DIR "/preempt", root);
	chosen = strchr(line, '(');
	if (chosen && strchr(chosen, ')'))
		tap_file_copy(s->preempt, sizeof(s->preempt), chosen + 1, strcspn(chosen + 1, ")"));
	else
		strcpy(s->preempt, preempt_of_build(version));
}

static bool add_governor(void *governor, const char *path)
{
	char *all = governor, one[sizeof(((struct tap_settings *)NULL)->governor)];

	if (!tap_file_line(one, sizeof(one), "%s", path)) /* all CPUs of the policy are offline */
		return true;
	if (!*all || !strcmp(all, one)) {
		strcpy(all, one);
		return true;
	}
	strcpy(all, "mixed");
	return false;
}

void tap_settings_read(struct tap_settings *s, const char *root)
{
	char version[512];

	*s = (struct tap_settings){ .base_slice_ns = read_slice(root) };
	tap_file_line(version, sizeof(version), "%s/proc/version", root);
	read_scheduler(s, root, version);
	read_preempt(s, root, version);
	visit_paths(root, CPU_DIR "/cpufreq/policy*/scaling_governor", add_governor, s->governor);
}

/* Return: "cpu MHz : 2096.026" below "processor : CPU" in kHz; -1: arm64, for one, has none. */
static int64_t cpuinfo_khz(unsigned int cpu, const char *root)
{
	unsigned int at = 0, mhz, khz;
	char path[PATH_MAX], line[256];
	bool begins = true; /* .line is not the rest of a longer one */
	int64_t ret = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
	f = fopen(path, "re");
	while (f && ret < 0 && at <= cpu && fgets(line, sizeof(line), f)) {
		if (begins && at == cpu && sscanf(line, "cpu MHz : %9u.%3u", &mhz, &khz) == 2)
			ret = (int64_t)mhz * 1000 + khz;
		if (begins)
			sscanf(line, "processor : %9u", &at);
		begins = strchr(line, '\n');
	}
	if (f)
		fclose(f);
	return ret;
}

static uint64_t us_to_ns(int64_t us)
{
	uint64_t ns;

	return us < 0 ? 0 : __builtin_mul_overflow((uint64_t)us, 1000u, &ns) ? UINT64_MAX : ns;
}

static void read_idle_states(struct tap_cpu_power *p, unsigned int cpu, const char *root)
{
	for (unsigned int i = 0; i < TAP_IDLE_STATES; i++) {
		struct tap_idle_state *s = &p->states[i];
		int64_t us = tap_file_number(STATE "time", root, cpu, i);

		if (us < 0 || !tap_file_line(s->name, sizeof(s->name), STATE "name", root, cpu, i))
			break;
		s->ns = us_to_ns(us);
		s->exit_ns = us_to_ns(tap_file_number(STATE "latency", root, cpu, i));
		p->nr_states = i + 1;
	}
}

void tap_cpu_power_read(struct tap_cpu_power *p, unsigned int cpu, const char *root)
{
	int64_t capacity = tap_file_number(CPU "cpu_capacity", root, cpu);

	*p = (struct tap_cpu_power){
		.khz = tap_file_number(CPU "cpufreq/scaling_cur_freq", root, cpu),
		.min_khz = tap_file_number(CPU "cpufreq/scaling_min_freq", root, cpu),
		.max_khz = tap_file_number(CPU "cpufreq/scaling_max_freq", root, cpu),
		.capacity = capacity <= 1024 ? (int)capacity : -1,
	};
	if (p->khz < 0)
		p->khz = cpuinfo_khz(cpu, root);
	read_idle_states(p, cpu, root);
}

/* @energy: -1: unknown so far. */
static bool add_energy(void *energy, const char *path)
{
	int64_t *sum = energy, uj;
	char name[16];

	/* "psys" is the whole platform, and intel-rapl:0:0 a part of package intel-rapl:0 */
	if (strchr(strrchr(path, '/'), ':') != strrchr(path, ':') ||
	    !tap_file_line(name, sizeof(name), "%s/name", path) ||
	    strncmp(name, "package", strlen("package")))
		return true;
	uj = tap_file_number("%s/energy_uj", path);
	if (uj < 0 || __builtin_add_overflow(*sum < 0 ? 0 : *sum, uj, sum)) {
		*sum = -1; /* a sum without one of the packages would say too little */
		return false;
	}
	return true;
}

int64_t tap_energy_uj(const char *root)
{
	int64_t uj = -1;

	visit_paths(root, "sys/class/powercap/intel-rapl:*", add_energy, &uj);
	return uj;
}
