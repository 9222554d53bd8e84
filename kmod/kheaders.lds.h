/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off */
/* The linker script for kheaders.mk: the parts of scripts/module.lds.S that this module needs. */
#if __has_include(<asm/codetag.lds.h>)
#include <asm/codetag.lds.h>
#endif

SECTIONS {
	/DISCARD/ : { *(.discard) *(.discard.*) }
	/* These sections are emitted by assembly, with less alignment than their structs need. */
	.altinstructions 0 : ALIGN(8) { KEEP(*(.altinstructions)) }
	__bug_table 0 : ALIGN(8) { KEEP(*(__bug_table)) }
	__jump_table 0 : ALIGN(8) { KEEP(*(__jump_table)) }
	__ex_table 0 : ALIGN(4) { KEEP(*(__ex_table)) }
#ifdef CODETAG_SECTIONS /* since v6.10: memory allocation profiling */
	.data : { CODETAG_SECTIONS() }
#endif
#ifdef MOD_SEPARATE_CODETAG_SECTIONS /* since v6.13 */
	MOD_SEPARATE_CODETAG_SECTIONS()
#endif
}

#include <asm/module.lds.h>
