/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef TAP_RECORDING_PERF_INFO_H
#define TAP_RECORDING_PERF_INFO_H

#include <stdbool.h>
#include <stdint.h>

/* What a perf.data says about itself. Absent texts are "". */
struct tap_perf_info {
	const char *uname; /* "Linux HOST RELEASE MACHINE" */
	const char *hostname;
	const char *tool;	 /* "perf VERSION" */
	const char *clock;	 /* as tap_buffer_info's: "local", "mono", ... */
	const char *compression; /* "none", "zstd" */
	const char *printk, *kallsyms;
	const char *note; /* what a user must know of the file as a whole: that it is cut, ... */
	uint64_t wall_ts_ns, wall_realtime_ns; /* as tap_reader_info's */
	unsigned int nr_cpus;
	bool big_endian;
	uint8_t long_size;
};

#endif
