// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cap.h"
#include "capture/bpf/kernel.h"
#include "capture/tracefs/tracefs.h"
#include "cli/cmd.h"
#include "cli/probe.h"
#include "program/attach.h"

/* One line of the report. */
struct check {
	const char *what;    /* "CAP_BPF" */
	bool ok;
	const char *enables; /* what it is good for */
	const char *fix;     /* one command; NULL: none */
};

static void print_check(const struct check *c)
{
	printf("%-4s %-24s %s\n", c->ok ? "ok" : "no", c->what, c->enables);
	if (!c->ok && c->fix)
		printf("     %-24s fix: %s\n", "", c->fix);
}

static bool can_write(const char *root)
{
	char path[4200];

	return root && snprintf(path, sizeof(path), "%s/instances", root) < (int)sizeof(path) &&
	       !access(path, W_OK);
}

/* @loaded: the kernel took a program; else its types are all that is known. */
static void print_events(const struct tap_kernel *kernel, bool loaded)
{
	const struct tap_def *def;
	unsigned int have = 0, all = 0;

	for (unsigned int i = 0; (def = tap_def_at(i)); i++) {
		struct tap_buf why = { 0 };

		if (tap_kernel_hook(kernel, def, &why)) {
			have++;
			all++;
		} else if (def->nr_hooks) {
			all++;
			printf("no   %-24s %s\n", def->name, tap_buf_str(&why));
		}
		tap_buf_release(&why);
	}
	printf("%u of %u built-in events can be recorded over BPF here%s\n", have, all,
	       loaded ? "" : ", judging by the kernel's types only");
}

static int run_doctor(void *opts, const struct tap_strings *operands, char **rest)
{
	struct tap_kernel *kernel = NULL;
	char *root = NULL;
	bool admin = tap_cap_has(CAP_SYS_ADMIN);
	bool btf = !tap_kernel_new(&kernel, NULL);
	int tracefs = tap_tracefs_find(TAP_TRACEFS_MOUNTS, &root, NULL);
	struct tap_err why = { 0 };
	bool bpf = btf && !tap_cap_missing_for_bpf() && !tap_probe_bpf(&why);
	const struct check checks[] = {
		{ "CAP_BPF", admin || tap_cap_has(CAP_BPF), "loading BPF programs",
		  "sudo setcap cap_bpf,cap_perfmon+ep $(command -v schedtap)" },
		{ "CAP_PERFMON", admin || tap_cap_has(CAP_PERFMON), "attaching BPF programs to tracepoints",
		  "sudo setcap cap_bpf,cap_perfmon+ep $(command -v schedtap)" },
		{ "CAP_SYS_ADMIN", admin, "measuring the overhead of the probes",
		  "run as root" },
		{ "BTF", btf, "recording over BPF: switches, wakeups, PELT, run queues, ...",
		  "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y" },
		{ "uprobes", tap_attach_knows_probes(), "recording programs' probes over BPF: usdt:, uprobe:, uretprobe:",
		  "boot a kernel built with CONFIG_UPROBE_EVENTS=y" },
		{ "tracefs", !tracefs, "all other events of the kernel, and kernel filters (-f)",
		  tracefs == -EACCES ? "run as root: tracefs is mounted, but this user cannot read it" :
				       "mount -t tracefs tracefs /sys/kernel/tracing" },
		{ "tracefs instances", can_write(root), "recording from tracefs", "run as root" },
	};

	(void)opts;
	(void)operands;
	(void)rest;
	for (unsigned int i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		print_check(&checks[i]);
	if (why.code)
		printf("no   %-24s %s\n", "BPF", why.text);
	else if (btf)
		print_events(kernel, bpf);
	printf("recording works here: %s\n",
	       bpf ? "yes, over BPF" : can_write(root) ? "yes, from tracefs only" : "no");
	bpf |= can_write(root);
	tap_kernel_free(kernel);
	free(root);
	return bpf ? TAP_EXIT_OK : TAP_EXIT_MISSING;
}

const struct tap_cmd tap_cmd_doctor = {
	.name = "doctor",
	.help = "what works here, what is missing and how to fix it",
	.exits = "0 recording works, 1 the checks failed, 2 usage error, 3 recording is not possible",
	.example = "schedtap doctor",
	.run = run_doctor,
};
