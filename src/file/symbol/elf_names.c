// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/symbol/elf_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "file/symbol/demangle.h"
#include "file/symbol/elf_file.h"

#define MAX_SYMBOLS (1u << 21)
#define MAX_BEFORE 8u /* symbols before an address to check for one that contains it */

struct symbol {
	uint64_t start, end; /* .end: of the section, for symbols without a size */
	const char *name;
	bool sized, is_local;
};

struct symbols {
	const struct tap_elf *elf;
	struct symbol *all;
	unsigned int nr, cap;
};

/* ---- symbols ---- */

static bool is_function(const GElf_Sym *sym, const char *name)
{
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE: /* assembly code, but not ARM's "$x" or an assembler's local label */
		return *name != '$' && strncmp(name, ".L", 2);
	default:
		return false;
	}
}

static int add_symbol(void *ctx, const char *name, const GElf_Sym *sym)
{
	struct symbols *s = ctx;
	GElf_Shdr section;
	uint64_t end;

	if (!is_function(sym, name) || !tap_elf_code_of(s->elf, sym, &section) ||
	    sym->st_value - section.sh_addr >= section.sh_size)
		return 0;
	end = section.sh_addr + section.sh_size;
	if (sym->st_size && sym->st_size < end - sym->st_value)
		end = sym->st_value + sym->st_size;
	if (s->nr == MAX_SYMBOLS || tap_array_grow(&s->all, s->nr, &s->cap, sizeof(*s->all)))
		return -ENOMEM;
	s->all[s->nr++] = (struct symbol){ sym->st_value, end, name, sym->st_size != 0,
					   GELF_ST_BIND(sym->st_info) == STB_LOCAL };
	return 0;
}

/*
 * Of several names for an address, the first in this order is the best known: "read" rather than
 * "__read" or "__libc_read".
 */
static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	size_t x_len, y_len;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->sized != y->sized)
		return x->sized ? -1 : 1;
	x_len = strspn(x->name, "_");
	y_len = strspn(y->name, "_");
	if (x_len != y_len)
		return x_len < y_len ? -1 : 1;
	if (x->is_local != y->is_local)
		return x->is_local ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void sort_symbols(struct symbols *s)
{
	unsigned int nr = 0;

	if (s->nr)
		qsort(s->all, s->nr, sizeof(*s->all), compare_symbols);
	for (unsigned int i = 0; i < s->nr; i++)
		if (!nr || s->all[nr - 1].start != s->all[i].start)
			s->all[nr++] = s->all[i];
	s->nr = nr;
}

/*
 * Return the function that contains @address, or NULL. A label inside a sized function is not its
 * name.
 */
static const struct symbol *find_symbol(const struct symbols *s, uint64_t address)
{
	unsigned int from = 0, to = s->nr;
	const struct symbol *label = NULL;

	while (from < to) {
		unsigned int middle = from + (to - from) / 2;

		if (s->all[middle].start <= address)
			from = middle + 1;
		else
			to = middle;
	}
	for (unsigned int i = from; i > 0 && from - i < MAX_BEFORE; i--) {
		const struct symbol *is = &s->all[i - 1];

		if (address >= is->end)
			continue;
		if (is->sized)
			return is;
		if (!label)
			label = is;
	}
	return label;
}

/* ---- files ---- */

/* Open the debug file for the build id of @of. Return: 0; -errno: missing, or of another build. */
static int open_debug(const struct tap_elf *of, const char *debug_files, struct tap_elf *debug)
{
	unsigned char id[TAP_BUILD_ID_MAX], is[TAP_BUILD_ID_MAX];
	size_t len = tap_elf_build_id(of, id);
	char hex[2 * sizeof(id) + 1], path[512];
	int fd;

	if (len < 2)
		return -ENOENT;
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	snprintf(path, sizeof(path), "%s/%.2s/%s.debug", debug_files, hex, hex + 2);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (tap_elf_begin(debug, fd))
		return -EINVAL;
	if (tap_elf_build_id(debug, is) == len && !memcmp(id, is, len))
		return 0;
	tap_elf_close(debug);
	return -ESTALE;
}

/* Name file offsets of @of by the symbols of @from. */
static void name_all(const struct tap_elf *of, const struct tap_elf *from, struct tap_named *all,
		     size_t nr)
{
	struct symbols s = { .elf = from };
	char name[TAP_DEMANGLED_MAX];
	uint64_t address;

	tap_elf_symbols(from, add_symbol, &s); /* too many: the first MAX_SYMBOLS are used */
	sort_symbols(&s);
	for (size_t i = 0; i < nr; i++) {
		const struct symbol *is =
			tap_elf_address(of, all[i].at, &address) ? find_symbol(&s, address) : NULL;

		if (is)
			tap_named_set(&all[i], name, tap_demangle(is->name, name));
	}
	free(s.all);
}

void tap_elf_name(int fd, const char *debug_files, struct tap_named *all, size_t nr)
{
	struct tap_elf elf, debug;
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0 || tap_elf_begin(&elf, own))
		return;
	if (tap_elf_is_stripped(&elf) && !open_debug(&elf, debug_files, &debug)) {
		name_all(&elf, &debug, all, nr);
		tap_elf_close(&debug);
	} else {
		name_all(&elf, &elf, all, nr);
	}
	tap_elf_close(&elf);
}
