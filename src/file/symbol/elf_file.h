/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Read a program's ELF file: its symbols, USDT notes, build id, and file offsets of addresses. */
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

/* The site of a USDT probe. The texts are valid while the file is open. */
struct tap_usdt_note {
	const char *provider, *name, *args;
	uint64_t address, semaphore; /* link-time addresses; semaphore: 0: none */
};

/*
 * Open a 64-bit program or library for this machine. Return: 0; -EINVAL with an error text if it is
 * something else; -errno.
 */
int tap_elf_open(struct tap_elf *e, const char *path, struct tap_err *err);
/*
 * Read the open file @fd, for any machine. It will be closed by tap_elf_close(), or here on
 * failure. Return: 0; -EINVAL: not an ELF file.
 */
int tap_elf_begin(struct tap_elf *e, int fd);
void tap_elf_close(struct tap_elf *e);

/*
 * Find the file offset of what is loaded at @address. @code: only in executable segments. Return:
 * false: no segment contains it.
 */
bool tap_elf_offset(const struct tap_elf *e, uint64_t address, bool code, uint64_t *offset);

/*
 * Find the address at which the file offset is loaded. Return: false: it is not in an executable
 * segment.
 */
bool tap_elf_address(const struct tap_elf *e, uint64_t offset, uint64_t *address);

/* Return the number of bytes written to @id; 0: the file has no build id. */
#define TAP_BUILD_ID_MAX 64
size_t tap_elf_build_id(const struct tap_elf *e, unsigned char id[TAP_BUILD_ID_MAX]);

/*
 * Call @each for all USDT notes in order, until it returns a value other than 0. Return: that
 * value; -EBADMSG: the notes are damaged.
 */
int tap_elf_notes(const struct tap_elf *e, int (*each)(void *ctx, const struct tap_usdt_note *note),
		  void *ctx);

/* Return true if the file has no symbols except those for dynamic linking. */
bool tap_elf_is_stripped(const struct tap_elf *e);

/* Get the section that contains a symbol. Return: false: the section is not executable. */
bool tap_elf_code_of(const struct tap_elf *e, const GElf_Sym *sym, GElf_Shdr *section);

/*
 * Call @each for all defined symbols, see tap_elf_notes(). Symbols in both .symtab and .dynsym come
 * twice.
 */
int tap_elf_symbols(const struct tap_elf *e,
		    int (*each)(void *ctx, const char *name, const GElf_Sym *sym), void *ctx);

#endif
