/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the branches of static_key.h are compiled: as a load of the key, or as code that is patched.
 * A patched branch is a nop or a jump of the same length, plus an entry in a table that each
 * program and library registers when it is loaded (src/tracepoint/patch.c). The address of a
 * patched branch's key must be a link-time constant: in a library, keys must be static, declared
 * with DECLARE_STATIC_KEY_*(), or hidden.
 */
#pragma GCC system_header
#ifndef SCHEDTAP_STATIC_KEY_PATCH_H
#define SCHEDTAP_STATIC_KEY_PATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <schedtap/err.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAP_HIDDEN __attribute__((visibility("hidden")))
#define TAP_INLINE static inline __attribute__((always_inline, unused))

#ifndef TAP_STATIC_KEYS
#define TAP_STATIC_KEYS load
#endif
#define TAP_STATIC_KEYS_is_load 1
#define TAP_STATIC_KEYS_is_patch 2
#define TAP_STATIC_KEYS_is_usdt 3
#define TAP_PASTE_1(a, b) a##b
#define TAP_PASTE(a, b) TAP_PASTE_1(a, b)
#define TAP_STATIC_KEYS_is TAP_PASTE(TAP_STATIC_KEYS_is_, TAP_STATIC_KEYS)
#if !TAP_STATIC_KEYS_is
#error "TAP_STATIC_KEYS is load, patch or usdt"
#endif
#if TAP_STATIC_KEYS_is >= 2 && defined(__OPTIMIZE__) && defined(__LP64__) &&                       \
	(defined(__x86_64__) || defined(__aarch64__))
#define TAP_PATCHED 1
#else
#define TAP_PATCHED 0
#endif

struct static_key;

/* A branch in the code. Offsets are relative to their own field, so nothing needs relocation. */
struct tap_site {
	int32_t code, target;
	/*
	 * bit 0: the branch jumps while the key is off, else while it is on; bit 1: compiled as a
	 * jump
	 */
	int32_t key;
};

/**
 * struct tap_sites - The patched branches of a program or library. It must stay valid until
 * tap_sites_remove().
 */
struct tap_sites {
	const struct tap_site *start, *stop;
	struct tap_sites *next;
	bool known;
};

/**
 * tap_sites_add() - Register branches and patch them to match their keys.
 *
 * Does nothing if called again: each file of a program or library registers the same branches.
 */
TAP_API void tap_sites_add(struct tap_sites *sites);

/** tap_sites_remove() - Unregister branches: their code is about to be unmapped. */
TAP_API void tap_sites_remove(struct tap_sites *sites);

#if !TAP_PATCHED
#define TAP_BRANCH_LIKELY(key, starts_true) tap_key_is_on(key)
#define TAP_BRANCH_UNLIKELY(key, starts_true) tap_key_is_on(key)
#define TAP_BRANCH_USDT(key, provider, name) static_key_false(key)
#else
extern const struct tap_site __start_tap_sites[] __attribute__((weak, visibility("hidden")));
extern const struct tap_site __stop_tap_sites[] __attribute__((weak, visibility("hidden")));

/* one per program or library: the linker merges weak definitions */
__attribute__((weak, visibility("hidden"))) struct tap_sites tap_sites_here = { __start_tap_sites,
										__stop_tap_sites, 0,
										false };

/* runs before other constructors and after other destructors, because those may switch keys */
__attribute__((constructor(101))) static void tap_sites_begin(void)
{
	tap_sites_add(&tap_sites_here);
}

__attribute__((destructor(101))) static void tap_sites_end(void)
{
	tap_sites_remove(&tap_sites_here);
}

#if defined(__x86_64__)
#define TAP_CODE_NOP ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"
#define TAP_CODE_JMP(label) ".byte 0xe9\n\t.long " label " - (. + 4)\n\t"
#define TAP_SYMBOL(key) "i"(key)
#define TAP_RELOC_NONE "R_X86_64_NONE"
#else
#define TAP_CODE_NOP "nop\n\t"
#define TAP_CODE_JMP(label) "b " label "\n\t"
/* in a PIE, gcc's "i" accepts no symbol; clang's "S" accepts no symbol plus offset */
#define TAP_SYMBOL(key) "Si"(key)
#define TAP_RELOC_NONE "R_AARCH64_NONE"
#endif

/*
 * "?" drops the entry together with a C++ inline function that the linker drops. The relocation of
 * type NONE changes nothing: it marks the entry as needed by the code, or lld --gc-sections drops
 * it.
 */
#define TAP_SITE(label)                                                                            \
	".reloc ., " TAP_RELOC_NONE ", 2f\n\t"                                                     \
	".pushsection tap_sites, \"a?\"\n\t"                                                       \
	".balign 4\n\t"                                                                            \
	"2:\t.long 1b - .\n\t"                                                                     \
	".long " label " - .\n\t"                                                                  \
	".long %c0 + %c1 - .\n\t"                                                                  \
	".popsection\n\t"

/* "cc": a branch may clobber the flags while it is being patched, see patch.c */
TAP_INLINE bool tap_site_nop(const struct static_key *key, const bool likely)
{
	__asm__ goto("1:\t" TAP_CODE_NOP TAP_SITE("%l[jumps]")
		     :
		     : TAP_SYMBOL(key), "i"(likely)
		     : "cc"
		     : jumps);
	return false;
jumps:
	return true;
}

TAP_INLINE bool tap_site_jmp(const struct static_key *key, const bool likely)
{
	__asm__ goto("1:\t" TAP_CODE_JMP("%l[jumps]") TAP_SITE("%l[jumps]")
		     :
		     : TAP_SYMBOL(key), "i"(2 | likely)
		     : "cc"
		     : jumps);
	return false;
jumps:
	return true;
}

/* @starts_true: the key's initial value, which the unpatched code must match */
#define TAP_BRANCH_LIKELY(key, starts_true)                                                        \
	((starts_true) ? !tap_site_nop(key, true) : !tap_site_jmp(key, true))
#define TAP_BRANCH_UNLIKELY(key, starts_true)                                                      \
	((starts_true) ? tap_site_jmp(key, false) : tap_site_nop(key, false))

/* The note of a USDT probe without arguments, as <sys/sdt.h> writes it. */
#define TAP_USDT_NOTE(provider, name)                                                              \
	".pushsection .note.stapsdt, \"?\", \"note\"\n\t"                                          \
	".balign 4\n\t"                                                                            \
	".4byte 3f - 2f, 5f - 4f, 3\n"                                                             \
	"2:\t.asciz \"stapsdt\"\n"                                                                 \
	"3:\t.balign 4\n"                                                                          \
	"4:\t.8byte 1b, _.stapsdt.base, 0\n\t"                                                     \
	".asciz \"" provider "\"\n\t"                                                              \
	".asciz \"" name "\"\n\t"                                                                  \
	".asciz \"\"\n"                                                                            \
	"5:\t.balign 4\n\t"                                                                        \
	".popsection\n\t"                                                                          \
	".ifndef _.stapsdt.base\n\t"                                                               \
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n\t"              \
	".weak _.stapsdt.base\n\t"                                                                 \
	".hidden _.stapsdt.base\n"                                                                 \
	"_.stapsdt.base:\t.space 1\n\t"                                                            \
	".size _.stapsdt.base, 1\n\t"                                                              \
	".popsection\n\t"                                                                          \
	".endif\n\t"

/*
 * static_key_false() with a USDT probe before it, which bpftrace and perf find whether the key is
 * on or off. Branches that load their key have no USDT probe. @provider and @name are string
 * literals. The probe has a nop of its own: if it shared the branch's, a tracer that detaches while
 * the branch is patched to jump would restore only the nop's first byte.
 */
#define TAP_BRANCH_USDT(key, provider, name)                                                       \
	__extension__({                                                                            \
		__asm__ volatile("1:\t" TAP_CODE_NOP TAP_USDT_NOTE(provider, name));               \
		static_key_false(key);                                                             \
	})
#endif

#ifdef __cplusplus
}
#endif
#endif
