// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Settings and sched_ext as /sys and /proc show them, in folders made for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>

#include "record/kernel/file.h"
#include "record/kernel/scx.h"
#include "record/kernel/settings.h"
#include "tmp_dir.h"

#define SCHED "sys/kernel/debug/sched/"
#define SCX "sys/kernel/sched_ext/"
#define CPU "sys/devices/system/cpu/"
#define RAPL "sys/class/powercap/intel-rapl:"
#define VERSION(v, preempt)                                                                        \
	{                                                                                          \
		"proc/version", "Linux version " v " (a@b) (gcc) #1 SMP " preempt " Mon Jan 1\n"   \
	}

struct made_file {
	const char *path, *text;
};

/* Make files and the folders that they are in. */
static void make_files(struct tmp_dir *dir, const struct made_file *files)
{
	tmp_make(dir);
	for (; files->path; files++) {
		for (const char *end = files->path; (end = strchr(end, '/')); end++) {
			char folder[192];

			snprintf(folder, sizeof(folder), "%.*s", (int)(end - files->path),
				 files->path);
			mkdir(tmp_at(dir, folder), 0700);
		}
		tmp_write(dir, files->path, files->text, strlen(files->text));
	}
}

static const struct settings_case {
	const char *name;
	struct made_file files[8];
	struct tap_settings want;
} settings_cases[] = {
	{ "nothing can be read", { { 0 } }, { .base_slice_ns = -1 } },
	{ "EEVDF",
	  { { SCHED "base_slice_ns", "2800000\n" },
	    { SCHED "preempt", "none voluntary (full) lazy\n" },
	    { CPU "cpufreq/policy0/scaling_governor", "powersave\n" },
	    { CPU "cpufreq/policy4/scaling_governor", "powersave\n" } },
	  { "EEVDF", 2800000, "full", "powersave" } },
	{ "CFS",
	  { VERSION("6.1.0-44-amd64", "PREEMPT_DYNAMIC"),
	    { SCHED "min_granularity_ns", "3000000" } },
	  { "CFS", 3000000, "dynamic", "" } },
	{ "debugfs is not mounted, or locked",
	  { VERSION("6.12.44", "PREEMPT") },
	  { "EEVDF", -1, "full", "" } },
	{ "full or lazy preemption", { VERSION("6.13.0", "PREEMPT") }, { "EEVDF", -1, "", "" } },
	{ "the first version with EEVDF", { VERSION("6.6.0", "") }, { "EEVDF", -1, "", "" } },
	{ "the last version with CFS", { VERSION("6.5.13", "") }, { "CFS", -1, "", "" } },
	{ "a later version", { VERSION("7.0.0-rc1", "") }, { "EEVDF", -1, "", "" } },
	{ "EEVDF in an older version",
	  { VERSION("5.14.0-rh", ""), { SCHED "base_slice_ns", "3000000\n" } },
	  { "EEVDF", 3000000, "", "" } },
	{ "debugfs is locked down: the slice is in debug",
	  { { SCHED "debug", "Sched Debug Version: v0.11\nsysctl_sched\n"
			     "  .sysctl_sched_base_slice                 : 1.400000\n"
			     "  .sysctl_sched_features                   : 99674079\n" } },
	  { "", 1400000, "", "" } },
	{ "the slice of CFS is in debug",
	  { { SCHED "debug", "  .sysctl_sched_min_granularity            : 3.000001\n" } },
	  { "", 3000001, "", "" } },
	{ "a slice that is cut off",
	  { { SCHED "debug", "  .sysctl_sched_base_slice                 : 1.4" } },
	  { "", -1, "", "" } },
	{ "a slice without a number",
	  { { SCHED "debug", "  .sysctl_sched_base_slice \n : 1.400000" } },
	  { "", -1, "", "" } },
	{ "a slice of too many digits",
	  { { SCHED "debug", "  .sysctl_sched_base_slice : 99999999999999999.000000\n" } },
	  { "", -1, "", "" } },
	{ "a negative slice", { { SCHED "base_slice_ns", "-1\n" } }, { "EEVDF", -1, "", "" } },
	{ "a slice that is text", { { SCHED "base_slice_ns", "12x\n" } }, { "EEVDF", -1, "", "" } },
	{ "real time by its file",
	  { { "sys/kernel/realtime", "1\n" }, { SCHED "preempt", "full (lazy)\n" } },
	  { "", -1, "rt", "" } },
	{ "real time by the version", { VERSION("6.1.0", "PREEMPT_RT") }, { "CFS", -1, "rt", "" } },
	{ "the word must be whole",
	  { VERSION("6.1.0", "PREEMPT_RTX XPREEMPT") },
	  { "CFS", -1, "", "" } },
	{ "none of the models is marked",
	  { { SCHED "preempt", "none voluntary full\n" } },
	  { "", -1, "", "" } },
	{ "the mark has no end", { { SCHED "preempt", "none (full" } }, { "", -1, "", "" } },
	{ "a model that is too long",
	  { { SCHED "preempt", "none (voluntaryvoluntary)\n" } },
	  { "", -1, "voluntaryvolunt", "" } },
	{ "governors differ",
	  { { CPU "cpufreq/policy0/scaling_governor", "powersave\n" },
	    { CPU "cpufreq/policy1/scaling_governor", "performance\n" },
	    { CPU "cpufreq/policy2/scaling_governor", "powersave\n" } },
	  { "", -1, "", "mixed" } },
	{ "a policy without CPUs",
	  { { CPU "cpufreq/policy0/scaling_governor", "" },
	    { CPU "cpufreq/policy1/scaling_governor", "schedutil" } },
	  { "", -1, "", "schedutil" } },
	{ "bytes for a terminal",
	  { { CPU "cpufreq/policy0/scaling_governor", "a\033[2J\xff\x7f\n" } },
	  { "", -1, "", "a?[2J??" } },
	{ "sched_ext has all tasks",
	  { VERSION("6.12.0", ""), { SCX "switch_all", "1\n" }, { SCX "root/ops", "lavd\n" } },
	  { "lavd", -1, "", "" } },
	{ "sched_ext has some tasks",
	  { VERSION("6.12.0", ""), { SCX "switch_all", "0\n" }, { SCX "root/ops", "lavd\n" } },
	  { "EEVDF", -1, "", "" } },
};

static void read_settings(void **state)
{
	const struct settings_case *c = *state;
	struct tap_settings s;
	struct tmp_dir dir;

	make_files(&dir, c->files);
	memset(&s, 0xa5, sizeof(s));
	tap_settings_read(&s, dir.path);
	tmp_remove(&dir);
	assert_string_equal(s.scheduler, c->want.scheduler);
	assert_int_equal(s.base_slice_ns, c->want.base_slice_ns);
	assert_string_equal(s.preempt, c->want.preempt);
	assert_string_equal(s.governor, c->want.governor);
}

static const struct scx_case {
	const char *name;
	struct made_file files[8];
	struct tap_scx want;
} scx_cases[] = {
	{ "no sched_ext", { { "other", "" } }, { .rejected = -1, .loads = -1 } },
	{ "none is loaded",
	  { { SCX "state", "disabled\n" },
	    { SCX "switch_all", "0\n" },
	    { SCX "nr_rejected", "0\n" },
	    { SCX "hotplug_seq", "0\n" },
	    { SCX "enable_seq", "3\n" } },
	  { true, "disabled", .loads = 3 } },
	{ "all is there",
	  { { SCX "state", "enabled\n" },
	    { SCX "switch_all", "1\n" },
	    { SCX "nr_rejected", "7\n" },
	    { SCX "enable_seq", "1\n" },
	    { SCX "root/ops", "rusty_1.0.9_x86_64\n" },
	    { SCX "root/events",
	      "SCX_EV_SELECT_CPU_FALLBACK 0\nSCX_EV_BYPASS_DURATION 18446744073709551615\n" } },
	  { true,
	    "enabled",
	    "rusty_1.0.9_x86_64",
	    true,
	    7,
	    1,
	    { { "SCX_EV_SELECT_CPU_FALLBACK", 0 }, { "SCX_EV_BYPASS_DURATION", UINT64_MAX } },
	    2 } },
	{ "no file ends its line",
	  { { SCX "state", "enabled" }, { SCX "switch_all", "1" }, { SCX "root/ops", "x" } },
	  { true, "enabled", "x", true, -1, -1 } },
	{ "negative and too big numbers",
	  { { SCX "switch_all", "-1\n" },
	    { SCX "nr_rejected", "-5\n" },
	    { SCX "enable_seq", "99999999999999999999\n" } },
	  { true, .rejected = -1, .loads = -1 } },
	{ "lines that are no events",
	  { { SCX "root/events", "\nA\nB -1\nC x\nD 1 2\n 3\nE  4\nF 18446744073709551616\n"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMN 5\n"
				 "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLM 6\n\033\x80 7\nG 8" } },
	  { true, .rejected = -1, .loads = -1,
	    .events = { { "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLM", 6 }, { "??", 7 } },
	    .nr_events = 2 } },
	{ "names that are too long",
	  { { SCX "state", "enabledenabledenabled\n" },
	    { SCX "root/ops",
	      "0123456789012345678901234567890123456789012345678901234567890123456789\n" } },
	  { true, "enabledenablede",
	    "012345678901234567890123456789012345678901234567890123456789012", .rejected = -1,
	    .loads = -1 } },
};

static void check_scx(const struct tap_scx *s, const struct tap_scx *want)
{
	assert_int_equal(s->is_supported, want->is_supported);
	assert_string_equal(s->state, want->state);
	assert_string_equal(s->scheduler, want->scheduler);
	assert_int_equal(s->all_tasks, want->all_tasks);
	assert_int_equal(s->rejected, want->rejected);
	assert_int_equal(s->loads, want->loads);
	assert_int_equal(s->nr_events, want->nr_events);
	for (unsigned int i = 0; i < want->nr_events; i++) {
		assert_string_equal(s->events[i].name, want->events[i].name);
		assert_int_equal(s->events[i].count, want->events[i].count);
	}
}

static void read_scx(void **state)
{
	const struct scx_case *c = *state;
	struct tmp_dir dir;
	struct tap_scx s;

	make_files(&dir, c->files);
	memset(&s, 0xa5, sizeof(s));
	tap_scx_read(&s, tmp_at(&dir, "sys/kernel/sched_ext"));
	tmp_remove(&dir);
	check_scx(&s, &c->want);
}

/* Files of 1 MB: of one byte, of NULs, and of events. */
static void huge_files_are_bounded(void **state)
{
	static char huge[1 << 20];
	const struct made_file files[] = { { SCX "root/ops", "" }, { 0 } };
	struct tap_settings settings;
	struct tmp_dir dir;
	struct tap_scx s;

	(void)state;
	make_files(&dir, files);
	memset(huge, 'x', sizeof(huge));
	tmp_write(&dir, SCX "root/ops", huge, sizeof(huge));
	memset(huge, '1', sizeof(huge));
	tmp_write(&dir, SCX "nr_rejected", huge, sizeof(huge));
	memset(huge, 0, sizeof(huge));
	tmp_write(&dir, SCX "state", huge, sizeof(huge));
	for (size_t i = 0; i < sizeof(huge); i += 4)
		memcpy(huge + i, "E 1\n", 4);
	tmp_write(&dir, SCX "root/events", huge, sizeof(huge));

	tap_scx_read(&s, tmp_at(&dir, "sys/kernel/sched_ext"));
	assert_int_equal(strlen(s.scheduler), sizeof(s.scheduler) - 1);
	assert_int_equal(s.rejected, -1);
	assert_string_equal(s.state, "");
	assert_int_equal(s.nr_events, TAP_SCX_EVENTS);
	assert_string_equal(s.events[TAP_SCX_EVENTS - 1].name, "E");
	tap_settings_read(&settings, dir.path);
	tmp_remove(&dir);
}

/* A root that makes paths too long is a root without files. */
static void long_roots_are_refused(void **state)
{
	static char root[8192];
	struct tap_settings s;
	struct tap_cpu_power p;
	struct tap_scx scx;

	(void)state;
	memset(root, '/', sizeof(root) - 1);
	tap_settings_read(&s, root);
	assert_string_equal(s.scheduler, "");
	tap_scx_read(&scx, root);
	assert_string_equal(scx.state, "");
	tap_cpu_power_read(&p, 0, root);
	assert_int_equal(p.khz, -1);
	assert_int_equal(tap_energy_uj(root), -1);
}

static void check_power(const struct made_file *files, unsigned int cpu,
			const struct tap_cpu_power *want)
{
	struct tap_cpu_power p;
	struct tmp_dir dir;

	make_files(&dir, files);
	memset(&p, 0xa5, sizeof(p));
	tap_cpu_power_read(&p, cpu, dir.path);
	tmp_remove(&dir);
	assert_int_equal(p.khz, want->khz);
	assert_int_equal(p.min_khz, want->min_khz);
	assert_int_equal(p.max_khz, want->max_khz);
	assert_int_equal(p.capacity, want->capacity);
	assert_int_equal(p.nr_states, want->nr_states);
	for (unsigned int i = 0; i < want->nr_states; i++) {
		assert_string_equal(p.states[i].name, want->states[i].name);
		assert_int_equal(p.states[i].ns, want->states[i].ns);
		assert_int_equal(p.states[i].exit_ns, want->states[i].exit_ns);
	}
}

static void power_of_a_cpu(void **state)
{
	const struct made_file files[] = { { CPU "cpu12/cpu_capacity", "446\n" },
					   { CPU "cpu12/cpufreq/scaling_cur_freq", "1800000\n" },
					   { CPU "cpu12/cpufreq/scaling_min_freq", "800000\n" },
					   { CPU "cpu12/cpufreq/scaling_max_freq", "4200000\n" },
					   { CPU "cpu12/cpuidle/state0/name", "POLL\n" },
					   { CPU "cpu12/cpuidle/state0/time", "12\n" },
					   { CPU "cpu12/cpuidle/state0/latency", "0\n" },
					   { CPU "cpu12/cpuidle/state1/name", "C6\n" },
					   { CPU "cpu12/cpuidle/state1/time", "18446744073709552" },
					   { CPU "cpu12/cpuidle/state1/latency", "133\n" },
					   { CPU "cpu12/cpuidle/state3/name", "C9\n" },
					   { CPU "cpu12/cpuidle/state3/time", "5\n" },
					   { 0 } };

	(void)state;
	check_power(
		files, 12,
		&(struct tap_cpu_power){ 1800000,
					 800000,
					 4200000,
					 446,
					 2,
					 { { "POLL", 12000, 0 }, { "C6", UINT64_MAX, 133000 } } });
	check_power(files, 1, &(struct tap_cpu_power){ -1, -1, -1, -1 });
}

static void frequency_of_cpuinfo(void **state)
{
	char text[4096];
	const struct made_file files[] = { { "proc/cpuinfo", text },
					   { CPU "cpu0/cpu_capacity", "1025\n" },
					   { CPU "cpu1/cpufreq/scaling_cur_freq", "<unknown>\n" },
					   { 0 } };

	/* long lines, in which the key has any place */
	strcpy(text, "processor\t: 0\nmodel name\t: x\ncpu MHz\t\t: 2096.026\n\nprocessor\t: 1\n");
	for (int len = 250; len < 260; len++)
		sprintf(text + strlen(text), "%0*dcpu MHz : 9999.999\n", len, 0);
	strcat(text, "cpu MHz\t\t: 800.000\n\nprocessor\t: 3\n");

	(void)state;
	check_power(files, 0, &(struct tap_cpu_power){ 2096026, -1, -1, -1 });
	check_power(files, 1, &(struct tap_cpu_power){ 800000, -1, -1, -1 });
	check_power(files, 2, &(struct tap_cpu_power){ -1, -1, -1, -1 });
	check_power(files, 3, &(struct tap_cpu_power){ -1, -1, -1, -1 });
}

static const struct energy_case {
	const char *name;
	struct made_file files[10];
	int64_t want;
} energy_cases[] = {
	{ "no powercap", { { 0 } }, -1 },
	{ "packages, without their parts and without the platform",
	  { { RAPL "0/name", "package-0\n" },
	    { RAPL "0/energy_uj", "1000\n" },
	    { RAPL "0:0/name", "package-core\n" },
	    { RAPL "0:0/energy_uj", "70\n" },
	    { RAPL "1/name", "package-1\n" },
	    { RAPL "1/energy_uj", "200\n" },
	    { RAPL "2/name", "psys\n" },
	    { RAPL "2/energy_uj", "5000\n" } },
	  1200 },
	{ "a package that must not be read",
	  { { RAPL "0/name", "package-0\n" },
	    { RAPL "1/name", "package-1\n" },
	    { RAPL "1/energy_uj", "200\n" } },
	  -1 },
	{ "a negative number",
	  { { RAPL "0/name", "package-0\n" }, { RAPL "0/energy_uj", "-4\n" } },
	  -1 },
	{ "a sum of more than 63 bits",
	  { { RAPL "0/name", "package-0\n" },
	    { RAPL "0/energy_uj", "9223372036854775807\n" },
	    { RAPL "1/name", "package-1\n" },
	    { RAPL "1/energy_uj", "1\n" } },
	  -1 },
	{ "nothing was used yet",
	  { { RAPL "0/name", "package-0\n" }, { RAPL "0/energy_uj", "0\n" } },
	  0 },
};

static void read_energy(void **state)
{
	const struct energy_case *c = *state;
	struct tmp_dir dir;
	int64_t uj;

	make_files(&dir, c->files);
	uj = tap_energy_uj(dir.path);
	tmp_remove(&dir);
	assert_int_equal(uj, c->want);
}

#define NR(cases) (sizeof(cases) / sizeof(*(cases)))
#define ADD(cases, run)                                                                            \
	for (size_t i = 0; i < NR(cases); i++)                                                     \
		tests[nr++] = (struct CMUnitTest)                                                  \
		{                                                                                  \
			.name = (cases)[i].name, .test_func = (run),                               \
			.initial_state = (void *)&(cases)[i]                                       \
		}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(huge_files_are_bounded),
		cmocka_unit_test(long_roots_are_refused),
		cmocka_unit_test(power_of_a_cpu),
		cmocka_unit_test(frequency_of_cpuinfo),
	};
	struct CMUnitTest tests[NR(others) + NR(settings_cases) + NR(scx_cases) + NR(energy_cases)];
	size_t nr = NR(others);

	memcpy(tests, others, sizeof(others));
	ADD(settings_cases, read_settings);
	ADD(scx_cases, read_scx);
	ADD(energy_cases, read_energy);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
