// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calls_of ID...: the kernel functions that BPF programs call, as the kernel has translated them: a
 * line "PROGRAM FUNCTION" for each call. A tail call has no function; a program without calls has
 * no line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>

#define MAX_CALLS 4096
#define MAX_INSNS 65536

static struct call {
	char program[128];
	int64_t offset; /* of the function from __bpf_call_base */
} calls[MAX_CALLS];
static unsigned int nr_calls;

static void fail(const char *what)
{
	fprintf(stderr, "calls_of: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The kernel itself stores only 15 characters of a name; BTF has all. */
static void read_name(const struct bpf_prog_info *info, char name[128])
{
	struct btf *btf = btf__load_from_kernel_by_id(info->btf_id);
	struct bpf_func_info first = { 0 };
	struct bpf_prog_info funcs = {
		.nr_func_info = 1,
		.func_info_rec_size = sizeof(first),
		.func_info = (uintptr_t)&first,
	};
	uint32_t len = sizeof(funcs);
	int fd = bpf_prog_get_fd_by_id(info->id);

	if (!btf || fd < 0 || bpf_obj_get_info_by_fd(fd, &funcs, &len))
		fail("cannot read a program's name");
	snprintf(name, 128, "%s",
		 btf__name_by_offset(btf, btf__type_by_id(btf, first.type_id)->name_off));
	btf__free(btf);
	close(fd);
}

static void add_calls(uint32_t id)
{
	static struct bpf_insn insns[MAX_INSNS];
	struct bpf_prog_info info = {
		.xlated_prog_len = sizeof(insns),
		.xlated_prog_insns = (uintptr_t)insns,
	};
	uint32_t len = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);
	char name[128];

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		fail("cannot read a program");
	close(fd);
	read_name(&info, name);
	for (uint32_t i = 0; i < info.xlated_prog_len / sizeof(*insns); i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg == BPF_PSEUDO_CALL)
			continue;
		if (nr_calls == MAX_CALLS)
			fail("too many calls");
		strcpy(calls[nr_calls].program, name);
		calls[nr_calls++].offset = insns[i].imm;
	}
}

/* Call @each for each symbol of the kernel. */
static void each_symbol(void (*each)(uint64_t address, const char *name))
{
	FILE *f = fopen("/proc/kallsyms", "re");
	uint64_t address;
	char name[512];

	if (!f)
		fail("/proc/kallsyms");
	while (fscanf(f, "%" SCNx64 " %*c %511s%*[^\n]", &address, name) == 2)
		each(address, name);
	fclose(f);
}

static uint64_t call_base;

static void find_base(uint64_t address, const char *name)
{
	if (!strcmp(name, "__bpf_call_base"))
		call_base = address;
}

static void print_calls(uint64_t address, const char *name)
{
	for (unsigned int i = 0; i < nr_calls; i++)
		if (call_base + (uint64_t)calls[i].offset == address)
			printf("%s %s\n", calls[i].program, name);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		add_calls((uint32_t)atoi(argv[i]));
	each_symbol(find_base);
	if (!call_base)
		fail("no __bpf_call_base in /proc/kallsyms");
	each_symbol(print_calls);
	return 0;
}
