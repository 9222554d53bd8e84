// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/running.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <unistd.h>

#include "base/cap.h"
#include "base/clock.h"
#include "record/machine.h"

/*
 * Load a program that returns the current task's tid, the lower half of bpf_get_current_pid_tgid().
 * It is run by BPF_PROG_TEST_RUN and never attached. Return: a descriptor; < 0: failed.
 */
static int load_program(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return tap_cap_for_bpf() ? bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "tap_running",
						 "Dual BSD/GPL", insns, 2, NULL)
				 : -1;
}

json_t *tap_running_read(void)
{
	unsigned int nr_cpus = tap_machine_nr_cpus();
	json_t *running;
	int fd = load_program();

	if (fd < 0)
		return NULL;
	running = json_array();
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
		uint64_t now_ns = tap_now_ns();

		if (!bpf_prog_test_run_opts(fd, &opts)) /* fails if the CPU is offline */
			json_array_append_new(running, json_pack("[I,I,I]", (json_int_t)cpu,
								 (json_int_t)opts.retval,
								 (json_int_t)now_ns));
	}
	close(fd);
	return running;
}
