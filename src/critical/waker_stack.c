// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "critical/waker_stack.h"

#include <string.h>

/* What the names of functions begin with: where interrupts come in on x86 and arm64, and what some are about. */
static const struct {
	const char *name;
	enum tap_woken what; /* TAP_WOKEN_NOT_KNOWN: it comes in */
} functions[] = {
	{ "asm_sysvec_", TAP_WOKEN_NOT_KNOWN },	   { "asm_common_interrupt", TAP_WOKEN_NOT_KNOWN },
	{ "el1_interrupt", TAP_WOKEN_NOT_KNOWN },  { "el0_interrupt", TAP_WOKEN_NOT_KNOWN },
	{ "el1h_64_irq", TAP_WOKEN_NOT_KNOWN },	   { "el0t_64_irq", TAP_WOKEN_NOT_KNOWN },
	{ "handle_softirqs", TAP_WOKEN_NOT_KNOWN }, { "__do_softirq", TAP_WOKEN_NOT_KNOWN },
	{ "hrtimer_", TAP_WOKEN_TIMER },	   { "__hrtimer_", TAP_WOKEN_TIMER },
	{ "run_timer_softirq", TAP_WOKEN_TIMER },  { "tick_", TAP_WOKEN_TIMER },
	{ "net_rx_action", TAP_WOKEN_NET },	   { "net_tx_action", TAP_WOKEN_NET },
	{ "blk_", TAP_WOKEN_BLOCK },		   { "bio_endio", TAP_WOKEN_BLOCK },
	{ "nvme_", TAP_WOKEN_BLOCK },		   { "scsi_", TAP_WOKEN_BLOCK },
	{ "virtblk_", TAP_WOKEN_BLOCK },
};

/* Return: which of them it is; their number: none. */
static size_t find(const char *name, size_t len)
{
	size_t i = 0, n = sizeof(functions) / sizeof(*functions);

	while (i < n && (len < strlen(functions[i].name) || memcmp(name, functions[i].name, strlen(functions[i].name))))
		i++;
	return i;
}

enum tap_woken tap_woken_of_stack(const char *names, size_t len)
{
	enum tap_woken what = TAP_WOKEN_INTERRUPT;
	const char *end = names + len, *next;

	/* what is outside of where it came in is of the task that it came upon */
	for (; names < end; names = next + 1) {
		size_t i;

		next = memchr(names, '\n', (size_t)(end - names));
		next = next ? next : end;
		i = find(names, (size_t)(next - names));
		if (i == sizeof(functions) / sizeof(*functions))
			continue;
		if (functions[i].what == TAP_WOKEN_NOT_KNOWN)
			return what;
		if (what == TAP_WOKEN_INTERRUPT)
			what = functions[i].what;
	}
	return TAP_WOKEN_NOT_KNOWN;
}
