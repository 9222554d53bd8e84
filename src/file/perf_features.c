// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_features.h"

#include <errno.h>
#include <linux/perf_event.h>

enum {
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_COMPRESSED = 27,
	FEATURE_CLOCK_DATA = 29,
};

#define COMPRESSED_ZSTD 1u
#define FOLDER_VERSION 1u

/* Parse the tracing data, which is the head of a trace.dat version 6 without its CPUs. */
static int read_tracing_data(struct tap_perf *p, struct tap_bytes b, struct tap_err *err)
{
	const bool big_endian = p->r->info.big_endian;

	if (!tap_dat_read_begin(p->r, &b) || b.bad || p->r->info.big_endian != big_endian)
		return tap_dat_bad(p->r, err, "its tracing data is cut or invalid");
	return tap_dat_read_front(p->r, &b, err);
}

static int read_string(struct tap_bytes b, char **dst, struct tap_err *err)
{
	struct tap_bytes text = tap_bytes_sub(&b, tap_bytes_u32(&b));

	return text.bad ? 0 : tap_dat_set_text(dst, text.at, tap_bytes_left(&text), err);
}

static int read_compression(struct tap_perf *p, struct tap_bytes b, struct tap_err *err)
{
	uint32_t type;

	tap_bytes_u32(&b); /* version */
	type = tap_bytes_u32(&b);
	if (type != COMPRESSED_ZSTD)
		return tap_err_set(err, -ENOTSUP,
				   "'%.300s' has compression type %u: only zstd (1) can be read",
				   p->r->path, type);
	return tap_dat_set_text(&p->r->compression, "zstd", 4, err);
}

static int read_folder(struct tap_perf *p, struct tap_bytes b, struct tap_err *err)
{
	uint64_t version = tap_bytes_u64(&b);

	p->has_folder = true;
	return version == FOLDER_VERSION
		       ? 0
		       : tap_err_set(err, -ENOTSUP,
				     "'%.300s' is a folder of perf with layout %llu, and only "
				     "layout 1 can be read: record without --threads",
				     p->r->path, (unsigned long long)version);
}

static void read_clocks(struct tap_reader_info *info, struct tap_bytes b)
{
	info->wall_realtime_ns = info->wall_ts_ns = 0;
	tap_bytes_take(&b, 8); /* version, clock id */
	if (tap_bytes_left(&b) < 16)
		return;
	info->wall_realtime_ns = tap_bytes_u64(&b);
	info->wall_ts_ns = tap_bytes_u64(&b);
}

/*
 * Find the kernel's build id. Each entry has a record's head, a pid, the id with its length and
 * padding, and a path.
 */
static void read_build_ids(struct tap_perf *p, struct tap_bytes b)
{
	static const char kernel[] = "[kernel.kallsyms]";

	while (!b.bad && tap_bytes_left(&b) >= TAP_PERF_HEAD_BYTES) {
		uint16_t size = tap_get_u16(b.at + 6, b.big_endian);
		struct tap_bytes entry = tap_bytes_sub(&b, size);
		const unsigned char *id;

		tap_bytes_take(&entry, TAP_PERF_HEAD_BYTES + 4);
		id = tap_bytes_take(&entry, 24);
		if (size < TAP_PERF_HEAD_BYTES || strcmp(tap_bytes_str(&entry), kernel) ||
		    entry.bad)
			continue;
		memcpy(p->kernel.build_id, id, TAP_BUILD_ID_BYTES);
		p->kernel.has_build_id = true;
		return;
	}
}

int tap_perf_read_feature(struct tap_perf *p, unsigned int id, struct tap_bytes b,
			  struct tap_err *err)
{
	switch (id) {
	case TAP_PERF_TRACING_DATA:
		return read_tracing_data(p, b, err);
	case TAP_PERF_BUILD_ID:
		read_build_ids(p, b);
		return 0;
	case FEATURE_HOSTNAME:
		return read_string(b, &p->hostname, err);
	case FEATURE_OSRELEASE:
		return read_string(b, &p->release, err);
	case FEATURE_VERSION:
		return read_string(b, &p->version, err);
	case FEATURE_ARCH:
		return read_string(b, &p->machine, err);
	case FEATURE_NRCPUS:
		return tap_dat_read_option(p->r, TAP_OPTION_CPUCOUNT, b, err);
	case FEATURE_DIR_FORMAT:
		return read_folder(p, b, err);
	case FEATURE_COMPRESSED:
		return read_compression(p, b, err);
	case FEATURE_CLOCK_DATA:
		read_clocks(&p->r->info, b);
		return 0;
	default:
		return 0;
	}
}
