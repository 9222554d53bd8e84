/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off */
/* The linker script of kheaders.mk: of scripts/module.lds.S what this module has. */
#if __has_include(<asm/codetag.lds.h>)
#include <asm/codetag.lds.h>
#endif

SECTIONS {
	/DISCARD/ : { *(.discard) *(.discard.*) }
	/* assembly makes these, and aligns them to less than the structs that they hold */
	.altinstructions 0 : ALIGN(8) { KEEP(*(.altinstructions)) }
	__bug_table 0 : ALIGN(8) { KEEP(*(__bug_table)) }
	__jump_table 0 : ALIGN(8) { KEEP(*(__jump_table)) }
	__ex_table 0 : ALIGN(4) { KEEP(*(__ex_table)) }
#ifdef CODETAG_SECTIONS /* since v6.10: allocations are counted by where they are made */
	.data : { CODETAG_SECTIONS() }
#endif
#ifdef MOD_SEPARATE_CODETAG_SECTIONS /* since v6.13 */
	MOD_SEPARATE_CODETAG_SECTIONS()
#endif
}

#include <asm/module.lds.h>
