// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/bpf/attached.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 128u
#define TYPED "btf_trace_" /* name prefix of the BTF type that a typed program is attached to */

/*
 * Return: the tracepoint's name; NULL: a program of another kind. @raw: the name if it is a raw
 * tracepoint.
 */
static const char *tracepoint_of(const struct btf *btf, const struct bpf_link_info *link,
				 const struct bpf_prog_info *prog, const char *raw)
{
	const struct btf_type *type;
	const char *name;

	if (link->type == BPF_LINK_TYPE_RAW_TRACEPOINT)
		return raw;
	/* a module's type ids are not in the kernel's BTF */
	type = link->type == BPF_LINK_TYPE_TRACING ? btf__type_by_id(btf, prog->attach_btf_id)
						   : NULL;
	name = type && btf_is_typedef(type) ? btf__name_by_offset(btf, type->name_off) : "";
	return strncmp(name, TYPED, strlen(TYPED)) ? NULL : name + strlen(TYPED);
}

static int get_program(uint32_t id, struct bpf_prog_info *prog)
{
	uint32_t len = sizeof(*prog);
	int fd = bpf_prog_get_fd_by_id(id), ret;

	if (fd < 0)
		return -errno;
	ret = bpf_obj_get_info_by_fd(fd, prog, &len) ? -errno : 0;
	close(fd);
	return ret;
}

/* @fd: a link. If it is removed in the meantime, it is skipped. */
static void report_link(const struct btf *btf, int fd,
			void (*report)(void *ctx, const struct tap_attached *a), void *ctx)
{
	char raw[NAME_BYTES] = "";
	struct bpf_link_info link = {
		.raw_tracepoint.tp_name = (uint64_t)(uintptr_t)raw,
		.raw_tracepoint.tp_name_len = sizeof(raw),
	};
	struct bpf_prog_info prog = { 0 };
	uint32_t len = sizeof(link);
	struct tap_attached a;

	if (bpf_obj_get_info_by_fd(fd, &link, &len) || get_program(link.prog_id, &prog))
		return;
	a = (struct tap_attached){ tracepoint_of(btf, &link, &prog, raw), prog.name, prog.id };
	if (a.tracepoint)
		report(ctx, &a);
}

int tap_attached(const struct btf *btf, void (*report)(void *ctx, const struct tap_attached *a),
		 void *ctx, struct tap_err *err)
{
	uint32_t id = 0;

	while (!bpf_link_get_next_id(id, &id)) {
		int fd = bpf_link_get_fd_by_id(id);

		if (fd < 0)
			continue;
		report_link(btf, fd, report, ctx);
		close(fd);
	}
	return errno == ENOENT ? 0 : tap_err_set(err, -errno, "cannot list BPF programs: %m");
}
