// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any bytes as a kernel's types: they are refused with a sentence, or a layout.h is generated from
 * them or refused with a sentence. Built by clang with -fsanitize=fuzzer,address,undefined.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/module/layout.h"
#include "record/module/types.h"
#include "check.h"

#define MAX_HEADER_BYTES ((size_t)1 << 20)

static void check_file(const char *path)
{
	struct tap_buf header = { .max = MAX_HEADER_BYTES };
	struct tap_err err = { 0 };
	struct btf *btf;
	int ret = tap_types_open(path, &btf, &err);

	CHECK(ret <= 0 && !ret == !!btf && ret == err.code && !ret == !*err.text);
	if (ret)
		return;
	ret = tap_layout_write(btf, path, &header, &err);
	CHECK(ret <= 0 && ret == err.code && !ret == !*err.text);
	if (!ret)
		CHECK(strstr(tap_buf_str(&header), "\n#endif\n"));
	tap_buf_release(&header);
	btf__free(btf);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz_types", MFD_CLOEXEC);
	char path[64];

	libbpf_set_print(NULL);
	if (fd < 0 || tap_write_all(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_file(path);
	close(fd);
	return 0;
}
