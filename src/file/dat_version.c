// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Read the start of a trace.dat, and select the parser for its version. */
#include <errno.h>

#include "file/dat_file.h"
#include "file/unknown.h"

#define MAGIC "\x17\x08\x44tracing"
#define MAGIC_LEN 10u

const char *tap_dat_read_begin(struct tap_reader *r, struct tap_bytes *b)
{
	const unsigned char *magic = tap_bytes_take(b, MAGIC_LEN);
	const char *version = tap_bytes_str(b);
	unsigned int endian = tap_bytes_u8(b);

	if (!magic || memcmp(magic, MAGIC, MAGIC_LEN))
		return NULL;
	b->big_endian = r->info.big_endian = r->decoder.big_endian = endian;
	r->info.long_size = r->decoder.long_size = tap_bytes_u8(b);
	r->page_size = tap_bytes_u32(b);
	b->bad |= endian > 1 || (r->info.long_size != 4 && r->info.long_size != 8);
	return version;
}

int tap_dat_read_file(struct tap_reader *r, struct tap_err *err)
{
	struct tap_bytes b = tap_dat_bytes(r, 0);
	const char *version = tap_dat_read_begin(r, &b);

	if (!version)
		return tap_unknown_file(r, err);
	if (b.bad)
		return tap_dat_bad(r, err, "its header is invalid");
	r->info.begins_at_once = true;
	if (!strcmp(version, "7")) {
		r->info.version = 7;
		return tap_dat_read_v7(r, &b, err);
	}
	if (!strcmp(version, "6")) {
		r->info.version = 6;
		return tap_dat_read_v6(r, &b, err);
	}
	return tap_err_set(err, -ENOTSUP,
			   "'%.300s' is a trace.dat file of version '%.16s': only versions 6 and 7 "
			   "can be read",
			   r->path, version);
}
