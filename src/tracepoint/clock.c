// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether the CPU's counter can be the clock of records. */
#include <fcntl.h>
#include <unistd.h>

#include "tracepoint/internal.h"

/* The counter's rate does not change with the CPU's speed or sleep. */
static bool counter_is_invariant(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0x80000000u), "c"(0));
	if (a < 0x80000007u)
		return false;
	__asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0x80000007u), "c"(0));
	return d & 1u << 8;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* The kernel watches the counter: it has another source where CPUs do not agree. */
static bool kernel_trusts_counter(void)
{
	static const char *const sources[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
					       "arch_sys_counter" };
	char text[64];
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (len <= 0)
		return false;
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (!strcmp(text, sources[i]))
			return true;
	return false;
}

enum tap_clock_kind tap_clock_choose(void)
{
	return counter_is_invariant() && kernel_trusts_counter() ? TAP_CLOCK_CYCLES : TAP_CLOCK_MONO;
}
