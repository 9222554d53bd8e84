// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cap.h"

#define SETCAP                                                                                     \
	"run as root, or give the schedtap program the capabilities cap_bpf and cap_perfmon "      \
	"(setcap)"
#define NAMESPACE                                                                                  \
	"the capabilities of a user namespace are not enough: run as root outside of the "         \
	"container"
#define LOCKDOWN "the kernel is locked down (lockdown=confidentiality)"

static bool file_has(const char *path, const char *text)
{
	struct tap_buf content = { .max = 4096 };
	bool has = !tap_buf_read_file(&content, path) && strstr(tap_buf_str(&content), text);

	tap_buf_release(&content);
	return has;
}

static bool lacks_bpf(void)
{
	return !tap_cap_has(CAP_SYS_ADMIN) && !tap_cap_has(CAP_BPF);
}

static bool lacks_perfmon(void)
{
	return !tap_cap_has(CAP_SYS_ADMIN) && !tap_cap_has(CAP_PERFMON);
}

static bool lacks_admin(void)
{
	return !tap_cap_has(CAP_SYS_ADMIN);
}

static bool lacks_search(void)
{
	return !tap_cap_has(CAP_DAC_READ_SEARCH) && !tap_cap_has(CAP_DAC_OVERRIDE);
}

static bool lacks_override(void)
{
	return !tap_cap_has(CAP_DAC_OVERRIDE);
}

static bool lacks_nice(void)
{
	return !tap_cap_has(CAP_SYS_NICE);
}

/*
 * Return true in a user namespace that does not map all user IDs: capabilities there do not apply
 * to objects that belong to the whole machine.
 */
static bool in_user_namespace(void)
{
	return !file_has("/proc/self/uid_map", " 4294967295\n");
}

static bool is_locked_down(void)
{
	return file_has("/sys/kernel/security/lockdown", "[confidentiality]");
}

static bool is_always(void)
{
	return true;
}

/* The first row that matches gives the reason. */
static const struct row {
	enum tap_step step;
	int error;
	bool (*is_so)(void);
	const char *why;
} rows[] = {
	{ TAP_STEP_BPF, EPERM, lacks_bpf, "recording over BPF needs CAP_BPF: " SETCAP },
	{ TAP_STEP_BPF, EPERM, lacks_perfmon, "recording over BPF needs CAP_PERFMON: " SETCAP },
	{ TAP_STEP_BPF, EPERM, in_user_namespace, NAMESPACE },
	{ TAP_STEP_BPF, EPERM, is_locked_down, LOCKDOWN },
	{ TAP_STEP_BPF_STATS, EPERM, lacks_admin,
	  "timing BPF programs needs CAP_SYS_ADMIN: run as root" },
	{ TAP_STEP_BPF_STATS, EPERM, in_user_namespace, NAMESPACE },
	{ TAP_STEP_UPROBE, ENOENT, is_always,
	  "this kernel has no uprobes: boot a kernel built with CONFIG_UPROBE_EVENTS=y" },
	/*
	 * perf_uprobe_event_init(): v6.18 requires CAP_SYS_ADMIN; older kernels accepted
	 * CAP_PERFMON
	 */
	{ TAP_STEP_UPROBE, EACCES, lacks_admin,
	  "probes of programs need CAP_SYS_ADMIN (on older kernels CAP_PERFMON): run as root" },
	{ TAP_STEP_TRACEFS_READ, EACCES, lacks_search,
	  "tracefs needs CAP_DAC_OVERRIDE (to list its events CAP_DAC_READ_SEARCH): run as root" },
	{ TAP_STEP_TRACEFS_READ, EACCES, in_user_namespace, NAMESPACE },
	{ TAP_STEP_TRACEFS_READ, EPERM, is_locked_down, LOCKDOWN },
	{ TAP_STEP_TRACEFS_INSTANCE, EACCES, lacks_override,
	  "recording over tracefs needs CAP_DAC_OVERRIDE: run as root" },
	{ TAP_STEP_TRACEFS_INSTANCE, EACCES, in_user_namespace, NAMESPACE },
	{ TAP_STEP_TRACEFS_INSTANCE, EPERM, is_locked_down, LOCKDOWN },
	{ TAP_STEP_PRIORITY, EPERM, lacks_nice,
	  "a real-time priority needs CAP_SYS_NICE or a limit that allows it (ulimit -r): run as "
	  "root" },
	{ TAP_STEP_PRIORITY, EPERM, in_user_namespace, NAMESPACE },
};

const char *tap_refusal_why(enum tap_step step, int error)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].step == step && rows[i].error == abs(error) && rows[i].is_so())
			return rows[i].why;
	return NULL;
}

struct tap_refusal tap_refusal(enum tap_step step, int error)
{
	const char *why = tap_refusal_why(step, error);
	struct tap_refusal r;

	snprintf(r.text, sizeof(r.text), "%s%s%s", strerror(abs(error)), why ? ": " : "",
		 why ?: "");
	return r;
}
