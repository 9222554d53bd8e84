// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/own_probe.h"

#include "schedtap/err.h"

#if __SIZEOF_POINTER__ == 8
#define ADDRESS ".8byte"
#else
#define ADDRESS ".4byte"
#endif

/* Semaphore of the USDT probe: the kernel increments it while a recorder is attached. */
volatile uint16_t tap_own_probe_semaphore __attribute__((section(".probes"), used));

/* Contains the probe: a nop, and a version 3 SystemTap note (sys/sdt.h) without arguments. */
TAP_API __attribute__((noinline)) void tap_own_probe(void)
{
	__asm__ volatile(
		"990:	nop\n"
		"	.pushsection .note.stapsdt, \"\", \"note\"\n"
		"	.balign 4\n"
		"	.4byte 992f - 991f, 994f - 993f, 3\n"
		"991:	.asciz \"stapsdt\"\n"
		"992:	.balign 4\n"
		"993:	" ADDRESS " 990b, _.stapsdt.base, tap_own_probe_semaphore\n"
		"	.asciz \"schedtap\"\n"
		"	.asciz \"doctor\"\n"
		"	.asciz \"\"\n"
		"994:	.balign 4\n"
		"	.popsection\n"
		"	.ifndef _.stapsdt.base\n"
		"	.pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"
		"	.weak _.stapsdt.base\n"
		"	.hidden _.stapsdt.base\n"
		"_.stapsdt.base: .space 1\n"
		"	.size _.stapsdt.base, 1\n"
		"	.popsection\n"
		"	.endif\n");
}
