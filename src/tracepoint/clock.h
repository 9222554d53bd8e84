/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The clock of records, and the CPU's counter. */
#ifndef TAP_TRACEPOINT_CLOCK_H
#define TAP_TRACEPOINT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t tap_ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t tap_mono_ns(void)
{
	return tap_ns_of(CLOCK_MONOTONIC);
}

/* CLOCK_BOOTTIME, the clock of start times in /proc/PID/stat. */
static inline uint64_t tap_boot_ns(void)
{
	return tap_ns_of(CLOCK_BOOTTIME);
}

/* Read the CPU's counter, unordered with other instructions: the value may be some 20 ns early. */
static inline uint64_t tap_cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return 0;
#endif
}

/*
 * Read the CPU's counter after all earlier loads: a stamp of another CPU that was loaded before is
 * not later than this one.
 */
static inline uint64_t tap_cycles_after_loads(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" : : : "memory");
#endif
	return tap_cycles();
}

#endif
