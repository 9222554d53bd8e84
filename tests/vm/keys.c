// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * keys TRACEPOINT...: how many have switched on each tracepoint's static key, as the kernel's
 * memory (/proc/kcore) says. 0: the tracepoint is a no-op in the kernel's code, and nothing runs.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* struct tracepoint: its name, then struct static_key, whose first member is the count */
#define KEY_OFFSET sizeof(void *)

#define PREFIX "__tracepoint_" /* of a struct tracepoint's name */

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
		if (part.p_type != PT_LOAD || address < part.p_vaddr ||
		    address - part.p_vaddr >= part.p_filesz)
			continue;
		at = (off_t)(part.p_offset + (address - part.p_vaddr));
		return pread(core, value, sizeof(*value), at) == sizeof(*value) ? 0 : -1;
	}
	return -1;
}

static int print_key(int core, const char *symbol, uint64_t address)
{
	int32_t value;

	if (read_kernel(core, address + KEY_OFFSET, &value)) {
		fprintf(stderr, "keys: cannot read %s\n", symbol);
		return 1;
	}
	printf("%s %d\n", symbol + strlen(PREFIX), value);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	int core = open("/proc/kcore", O_RDONLY), status = 0;
	char line[512], *name;

	while (symbols && fgets(line, sizeof(line), symbols)) {
		name = strstr(line, " " PREFIX);
		if (!name || strchr(++name, '\t')) /* a tab: of a module */
			continue;
		name[strcspn(name, "\n")] = '\0';
		for (int i = 1; i < argc; i++)
			if (!strcmp(argv[i], name + strlen(PREFIX)))
				status |= print_key(core, name, strtoull(line, NULL, 16));
	}
	return status;
}
