// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/critical/waker_stack.h"

#include <string.h>

enum what { COMES_IN, SOFTIRQ, SETS_OFF, IS_ABOUT };

/*
 * Prefixes of function names: interrupt entries on x86 and arm64, softirqs, and functions that show
 * the kind of interrupt.
 */
static const struct {
	const char *name;
	enum what what;
	enum tap_woken about;
} functions[] = {
	{ "asm_sysvec_", COMES_IN },
	{ "asm_common_interrupt", COMES_IN },
	{ "el1_interrupt", COMES_IN },
	{ "el0_interrupt", COMES_IN },
	{ "el1h_64_irq", COMES_IN },
	{ "el0t_64_irq", COMES_IN },
	{ "handle_softirqs", SOFTIRQ },
	{ "__do_softirq", SOFTIRQ },
	{ "__local_bh_enable_ip", SETS_OFF },
	{ "hrtimer_", IS_ABOUT, TAP_WOKEN_TIMER },
	{ "__hrtimer_", IS_ABOUT, TAP_WOKEN_TIMER },
	{ "run_timer_softirq", IS_ABOUT, TAP_WOKEN_TIMER },
	{ "tick_", IS_ABOUT, TAP_WOKEN_TIMER },
	{ "net_rx_action", IS_ABOUT, TAP_WOKEN_NET },
	{ "net_tx_action", IS_ABOUT, TAP_WOKEN_NET },
	{ "blk_", IS_ABOUT, TAP_WOKEN_BLOCK },
	{ "bio_endio", IS_ABOUT, TAP_WOKEN_BLOCK },
	{ "nvme_", IS_ABOUT, TAP_WOKEN_BLOCK },
	{ "scsi_", IS_ABOUT, TAP_WOKEN_BLOCK },
	{ "virtblk_", IS_ABOUT, TAP_WOKEN_BLOCK },
};

#define NR_FUNCTIONS (sizeof(functions) / sizeof(*functions))

/* Return: index in functions[]; NR_FUNCTIONS: none. */
static size_t find_function(const char *name, size_t len)
{
	size_t i = 0;

	while (i < NR_FUNCTIONS &&
	       (len < strlen(functions[i].name) ||
		memcmp(name, functions[i].name, strlen(functions[i].name)) != 0))
		i++;
	return i;
}

enum tap_woken tap_woken_of_stack(const char *names, size_t len)
{
	enum tap_woken about = TAP_WOKEN_INTERRUPT;
	const char *end = names + len, *next;
	bool is_soft = false;

	/* frames outside of the interrupt's entry belong to the interrupted task */
	for (; names < end; names = next + 1) {
		size_t i;

		next = memchr(names, '\n', (size_t)(end - names));
		next = next ? next : end;
		i = find_function(names, (size_t)(next - names));
		if (i == NR_FUNCTIONS)
			continue;
		if (functions[i].what == COMES_IN)
			return about;
		if (functions[i].what == SETS_OFF && is_soft)
			return TAP_WOKEN_BY_TASK;
		is_soft |= functions[i].what == SOFTIRQ;
		if (functions[i].what == IS_ABOUT && about == TAP_WOKEN_INTERRUPT && !is_soft)
			about = functions[i].about;
	}
	return is_soft ? about : TAP_WOKEN_NOT_KNOWN;
}
