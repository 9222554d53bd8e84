/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a program's file says: its symbols, notes of USDT, its build id, and where in the file
 * addresses are. */
#ifndef TAP_SYMBOL_ELF_FILE_H
#define TAP_SYMBOL_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>

#include <schedtap/err.h>

struct tap_elf {
	int fd;
	Elf *elf;
	GElf_Half machine; /* EM_* */
};

/* A place where a USDT probe is: the texts lie in the file's sections, as long as it is open. */
struct tap_usdt_note {
	const char *provider, *name, *args;
	uint64_t address, semaphore; /* as the file is linked; semaphore: 0: none */
};

/* Return: 0; -EINVAL with a sentence: it is no program of 64 bits, or of another machine; -errno.
 */
int tap_elf_open(struct tap_elf *e, const char *path, struct tap_err *err);
/* Of a file that is open, and is closed with it, also when this fails; for any machine. Return: 0;
 * -EINVAL: it is none. */
int tap_elf_begin(struct tap_elf *e, int fd);
void tap_elf_close(struct tap_elf *e);

/* Where in the file it is, what is loaded to that address; of @code: executable. Return: false: it
 * is not there. */
bool tap_elf_offset(const struct tap_elf *e, uint64_t address, bool code, uint64_t *offset);

/* The other way round. Return: false: it is in no part that is loaded to be executed. */
bool tap_elf_address(const struct tap_elf *e, uint64_t offset, uint64_t *address);

/* Return: how many bytes @id got; 0: it has no build id. */
#define TAP_BUILD_ID_MAX 64
size_t tap_elf_build_id(const struct tap_elf *e, unsigned char id[TAP_BUILD_ID_MAX]);

/* Calls @each for the notes, in their order, until it returns other than 0. Return: that; -EBADMSG:
 * they are damaged. */
int tap_elf_notes(const struct tap_elf *e, int (*each)(void *ctx, const struct tap_usdt_note *note),
		  void *ctx);

/* Whether it has no names but those that the dynamic linker needs. */
bool tap_elf_is_stripped(const struct tap_elf *e);

/* The section that a symbol is in. Return: false: in none that can be executed. */
bool tap_elf_code_of(const struct tap_elf *e, const GElf_Sym *sym, GElf_Shdr *section);

/* The same of symbols that are defined; those of .symtab come again if .dynsym has them as well. */
int tap_elf_symbols(const struct tap_elf *e,
		    int (*each)(void *ctx, const char *name, const GElf_Sym *sym), void *ctx);

#endif
