// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/perf_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_KALLSYMS ((size_t)64 << 20)
#define MAX_NOTES 65536u
#define NOTE_BUILD_ID 3u

/* Read a file up to about @max bytes; on read errors, what was read so far. Return: 0; -ENOMEM. */
static int read_file(const char *path, size_t max, struct tap_buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char part[16384];
	ssize_t n = 0;

	if (fd < 0)
		return 0;
	while (out->len < max && (n = read(fd, part, sizeof(part))) > 0)
		tap_buf_add(out, part, (size_t)n);
	close(fd);
	return out->err ? -ENOMEM : 0;
}

/*
 * Return true if @notes, the running kernel's ELF notes, have this build id. A note has u32 sizes
 * of name and contents, a u32 type, then both, padded to 4 bytes.
 */
static bool is_build(const struct tap_buf *notes, const unsigned char *build_id)
{
	size_t at = 0;

	while (notes->len - at >= 12) {
		uint32_t head[3], name, desc;

		memcpy(head, notes->data + at, sizeof(head));
		at += sizeof(head);
		if (head[0] > MAX_NOTES || head[1] > MAX_NOTES)
			return false;
		name = (head[0] + 3) & ~3u;
		desc = (head[1] + 3) & ~3u;
		if (notes->len - at < (size_t)name + desc)
			return false;
		if (head[2] == NOTE_BUILD_ID && head[0] == 4 &&
		    !memcmp(notes->data + at, "GNU", 4) && head[1] == TAP_BUILD_ID_BYTES)
			return !memcmp(notes->data + at + name, build_id, TAP_BUILD_ID_BYTES);
		at += name + desc;
	}
	return false;
}

static bool has_symbol(struct tap_buf *kallsyms, const struct tap_perf_kernel *k)
{
	char line[64];

	for (const char *type = "Tt"; *type; type++) {
		snprintf(line, sizeof(line), "%016" PRIx64 " %c %s\n", k->at, *type, k->symbol);
		if (strstr(tap_buf_str(kallsyms), line))
			return true;
	}
	return false;
}

int tap_perf_kernel_symbols(const struct tap_perf_kernel *k, struct tap_buf *text)
{
	struct tap_buf notes = { 0 };
	int ret;

	if (!k->has_build_id || !*k->symbol || !k->at)
		return 0;
	ret = read_file("/sys/kernel/notes", MAX_NOTES, &notes);
	if (!ret && is_build(&notes, k->build_id))
		ret = read_file("/proc/kallsyms", MAX_KALLSYMS, text);
	tap_buf_release(&notes);
	if (!ret && text->len && !has_symbol(text, k))
		tap_buf_clear(text);
	return ret;
}
