// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "base/cap.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

bool tap_cap_has(unsigned int cap)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return !syscall(SYS_capget, &head, data) && data[cap / 32].effective >> (cap % 32) & 1;
}

bool tap_cap_for_bpf(void)
{
	return tap_cap_has(CAP_SYS_ADMIN) || (tap_cap_has(CAP_BPF) && tap_cap_has(CAP_PERFMON));
}
