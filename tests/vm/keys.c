// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * keys TRACEPOINT...: how many have switched on each tracepoint's static key, as the kernel's
 * memory (/proc/kcore) says. 0: the tracepoint is a no-op in the kernel's code, and nothing runs.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* struct tracepoint: its name, then struct static_key, whose first member is the count */
#define KEY_OFFSET sizeof(void *)

static uint64_t address_of(const char *symbol)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	uint64_t address;
	char line[256], name[200];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %*c %199s", &address, name) == 2 && !strcmp(name, symbol)) {
			fclose(f);
			return address;
		}
	if (f)
		fclose(f);
	return 0;
}

static int read_kernel(int core, uint64_t address, int32_t *value)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;

	if (pread(core, &head, sizeof(head), 0) != sizeof(head))
		return -1;
	for (unsigned int i = 0; i < head.e_phnum; i++) {
		off_t at = (off_t)(head.e_phoff + i * sizeof(part));

		if (pread(core, &part, sizeof(part), at) != sizeof(part))
			return -1;
		if (part.p_type != PT_LOAD || address < part.p_vaddr || address - part.p_vaddr >= part.p_filesz)
			continue;
		at = (off_t)(part.p_offset + (address - part.p_vaddr));
		return pread(core, value, sizeof(*value), at) == sizeof(*value) ? 0 : -1;
	}
	return -1;
}

int main(int argc, char **argv)
{
	int core = open("/proc/kcore", O_RDONLY), status = 0;

	for (int i = 1; i < argc; i++) {
		char symbol[128];
		uint64_t address;
		int32_t value;

		snprintf(symbol, sizeof(symbol), "__tracepoint_%s", argv[i]);
		address = address_of(symbol);
		if (!address)
			continue; /* not in this kernel */
		if (read_kernel(core, address + KEY_OFFSET, &value)) {
			fprintf(stderr, "keys: cannot read %s\n", symbol);
			status = 1;
			continue;
		}
		printf("%s %d\n", argv[i], value);
	}
	return status;
}
