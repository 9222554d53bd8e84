// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/interrupts.h"

#include <string.h>

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

enum tap_irq_event tap_irq_event(const struct tap_format *fmt)
{
	if (strcmp(fmt->system, "irq") && strcmp(fmt->system, "irq_vectors") &&
	    strcmp(fmt->system, "ipi"))
		return TAP_IRQ_NONE;
	if (ends_in(fmt->name, "_entry"))
		return TAP_IRQ_ENTRY;
	return ends_in(fmt->name, "_exit") ? TAP_IRQ_EXIT : TAP_IRQ_NONE;
}

bool tap_irq_is_soft(const struct tap_format *fmt)
{
	return !strncmp(fmt->name, "softirq_", sizeof("softirq_") - 1);
}
