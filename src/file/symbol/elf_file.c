// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/symbol/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __aarch64__
#define THIS_MACHINE EM_AARCH64
#else
#define THIS_MACHINE EM_X86_64
#endif

#define MAX_SECTION ((uint64_t)1 << 27)
#define MAX_NOTES ((uint64_t)1 << 16) /* size of a loaded note segment */

#define NOTE_OWNER "stapsdt"
#define NOTE_TYPE 3u /* note type that sys/sdt.h writes since 2010 */

/*
 * A file that claims more sections or segments than 16 bits can count would make libelf allocate a
 * table of that size. Linkers do not make such files.
 */
static bool is_countable(int fd)
{
	union {
		Elf32_Ehdr w32;
		Elf64_Ehdr w64;
	} head = { 0 };

	if (pread(fd, &head, sizeof(head), 0) < (ssize_t)sizeof(head.w32))
		return false;
	if (head.w32.e_ident[EI_CLASS] == ELFCLASS32)
		return (!head.w32.e_shoff || head.w32.e_shnum) && head.w32.e_phnum != PN_XNUM;
	return (!head.w64.e_shoff || head.w64.e_shnum) && head.w64.e_phnum != PN_XNUM;
}

int tap_elf_begin(struct tap_elf *e, int fd)
{
	GElf_Ehdr head;

	*e = (struct tap_elf){ .fd = fd };
	elf_version(EV_CURRENT);
	if (is_countable(fd))
		/* not by mmap(): truncation of the file would raise SIGBUS */
		e->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf_kind(e->elf) == ELF_K_ELF && gelf_getehdr(e->elf, &head)) {
		e->machine = head.e_machine;
		return 0;
	}
	tap_elf_close(e);
	return -EINVAL;
}

static int check_program(const struct tap_elf *e, const char *path, struct tap_err *err)
{
	GElf_Ehdr head;

	gelf_getehdr(e->elf, &head);
	if (head.e_machine != THIS_MACHINE || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return tap_err_set(err, -EINVAL, "'%.300s' is built for another architecture",
				   path);
	if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
		return tap_err_set(err, -EINVAL,
				   "'%.300s' is neither a program nor a shared library", path);
	return 0;
}

static bool is_of_32_bits(int fd)
{
	unsigned char ident[EI_NIDENT];

	return pread(fd, ident, sizeof(ident), 0) == sizeof(ident) &&
	       !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] == ELFCLASS32;
}

int tap_elf_open(struct tap_elf *e, const char *path, struct tap_err *err)
{
	struct stat st;
	int ret, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*e = (struct tap_elf){ .fd = -1 };
	if (fd < 0)
		return tap_err_set(err, -errno, "cannot open '%.300s': %m", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return tap_err_set(err, -EINVAL, "'%.300s' is not a regular file", path);
	}
	if (is_of_32_bits(fd)) {
		close(fd);
		return tap_err_set(
			err, -EINVAL,
			"'%.300s' is a 32-bit program: the arguments of its probes cannot be read",
			path);
	}
	if (tap_elf_begin(e, fd))
		return tap_err_set(err, -EINVAL, "'%.300s' is not an ELF file", path);
	ret = check_program(e, path, err);
	if (ret)
		tap_elf_close(e);
	return ret;
}

void tap_elf_close(struct tap_elf *e)
{
	elf_end(e->elf);
	if (e->fd >= 0)
		close(e->fd);
	*e = (struct tap_elf){ .fd = -1 };
}

bool tap_elf_offset(const struct tap_elf *e, uint64_t address, bool code, uint64_t *offset)
{
	size_t nr = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_LOAD ||
		    (code && !(p.p_flags & PF_X)) || address < p.p_vaddr ||
		    address - p.p_vaddr >= p.p_memsz)
			continue;
		*offset = address - p.p_vaddr + p.p_offset;
		return true;
	}
	return false;
}

bool tap_elf_address(const struct tap_elf *e, uint64_t offset, uint64_t *address)
{
	size_t nr = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_LOAD ||
		    !(p.p_flags & PF_X) || offset < p.p_offset || offset - p.p_offset >= p.p_filesz)
			continue;
		*address = offset - p.p_offset + p.p_vaddr;
		return true;
	}
	return false;
}

/* ---- sections ---- */

/*
 * Return true if reading the section takes bounded memory: it is not larger than a linker may make
 * it, and not compressed, which could expand to any size.
 */
static bool is_bounded(const GElf_Shdr *head)
{
	return head->sh_size <= MAX_SECTION && !(head->sh_flags & SHF_COMPRESSED);
}

/* Return true if elf_strptr() may read strings from this section. */
static bool has_texts(const struct tap_elf *e, size_t section)
{
	GElf_Shdr head;

	return gelf_getshdr(elf_getscn(e->elf, section), &head) && is_bounded(&head);
}

/* ---- notes ---- */

/* Return the section's data if it has that type and @name (NULL: any), or NULL. */
static Elf_Data *section_data(const struct tap_elf *e, Elf_Scn *scn, GElf_Word type,
			      const char *name, GElf_Shdr *head)
{
	size_t names;
	const char *is;

	if (!gelf_getshdr(scn, head) || head->sh_type != type || !is_bounded(head))
		return NULL;
	if (!name)
		return elf_getdata(scn, NULL);
	if (elf_getshdrstrndx(e->elf, &names) || !has_texts(e, names))
		return NULL;
	is = elf_strptr(e->elf, names, head->sh_name);
	return is && !strcmp(is, name) ? elf_getdata(scn, NULL) : NULL;
}

/*
 * Return the address of ".stapsdt.base"; 0: none. Its distance from the address in a note is how
 * far prelink has moved the file.
 */
static uint64_t find_base(const struct tap_elf *e)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr head;

	while ((scn = elf_nextscn(e->elf, scn)))
		if (section_data(e, scn, SHT_PROGBITS, ".stapsdt.base", &head))
			return head.sh_addr;
	return 0;
}

/* Take a NUL-terminated text. Return: NULL: there is no NUL before @end. */
static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

	*at = nul ? nul + 1 : end;
	return nul ? text : NULL;
}

/* Parse a note. Return: false if its texts are incomplete. */
static bool read_note(const char *desc, size_t len, uint64_t base, struct tap_usdt_note *note)
{
	uint64_t v[3]; /* address, base, semaphore */
	const char *at = desc + sizeof(v);

	if (len < sizeof(v))
		return false;
	memcpy(v, desc, sizeof(v));
	note->provider = take_text(&at, desc + len);
	note->name = take_text(&at, desc + len);
	note->args = take_text(&at, desc + len);
	note->address = v[0] + (base && v[1] ? base - v[1] : 0);
	note->semaphore = v[2] ? v[2] + (note->address - v[0]) : 0;
	return note->provider && note->name && note->args;
}

static int notes_of(Elf_Data *data, uint64_t base,
		    int (*each)(void *ctx, const struct tap_usdt_note *note), void *ctx)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr head;
	int ret = 0;

	for (; !ret && at < data->d_size; at = next) {
		const char *bytes = data->d_buf;
		struct tap_usdt_note note;

		next = gelf_getnote(data, at, &head, &name, &desc);
		if (!next)
			return -EBADMSG;
		if (head.n_type != NOTE_TYPE || head.n_namesz != sizeof(NOTE_OWNER) ||
		    memcmp(bytes + name, NOTE_OWNER, sizeof(NOTE_OWNER)))
			continue;
		ret = read_note(bytes + desc, head.n_descsz, base, &note) ? each(ctx, &note)
									  : -EBADMSG;
	}
	return ret;
}

int tap_elf_notes(const struct tap_elf *e, int (*each)(void *ctx, const struct tap_usdt_note *note),
		  void *ctx)
{
	uint64_t base = find_base(e);
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	int ret = 0;

	while (!ret && (scn = elf_nextscn(e->elf, scn))) {
		Elf_Data *data = section_data(e, scn, SHT_NOTE, ".note.stapsdt", &head);

		if (data)
			ret = notes_of(data, base, each, ctx);
	}
	return ret;
}

/* Return the number of bytes written to @id. */
static size_t find_build_id(Elf_Data *notes, unsigned char id[TAP_BUILD_ID_MAX])
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr head;

	for (; (next = gelf_getnote(notes, at, &head, &name, &desc)); at = next) {
		const char *bytes = notes->d_buf;

		if (head.n_type != NT_GNU_BUILD_ID || head.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) ||
		    head.n_descsz > TAP_BUILD_ID_MAX)
			continue;
		memcpy(id, bytes + desc, head.n_descsz);
		return head.n_descsz;
	}
	return 0;
}

size_t tap_elf_build_id(const struct tap_elf *e, unsigned char id[TAP_BUILD_ID_MAX])
{
	size_t nr = 0, len = 0;
	GElf_Phdr p;

	if (elf_getphdrnum(e->elf, &nr))
		return 0;
	for (size_t i = 0; !len && i < nr; i++) {
		Elf_Data *notes;

		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_NOTE ||
		    p.p_filesz > MAX_NOTES)
			continue;
		notes = elf_getdata_rawchunk(e->elf, (int64_t)p.p_offset, p.p_filesz,
					     p.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		len = notes ? find_build_id(notes, id) : 0;
	}
	return len;
}

/* ---- symbols ---- */

static int symbols_of(const struct tap_elf *e, GElf_Word type,
		      int (*each)(void *ctx, const char *name, const GElf_Sym *sym), void *ctx)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	GElf_Sym sym;
	int ret = 0;

	while ((scn = elf_nextscn(e->elf, scn))) {
		Elf_Data *data = section_data(e, scn, type, NULL, &head);

		if (data && !has_texts(e, head.sh_link))
			continue;
		for (int i = 0; data && !ret && gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(e->elf, head.sh_link, sym.st_name);

			if (name && *name && sym.st_shndx != SHN_UNDEF)
				ret = each(ctx, name, &sym);
		}
	}
	return ret;
}

bool tap_elf_is_stripped(const struct tap_elf *e)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr head;

	while ((scn = elf_nextscn(e->elf, scn)))
		if (gelf_getshdr(scn, &head) && head.sh_type == SHT_SYMTAB)
			return false;
	return true;
}

bool tap_elf_code_of(const struct tap_elf *e, const GElf_Sym *sym, GElf_Shdr *section)
{
	return sym->st_shndx < SHN_LORESERVE &&
	       gelf_getshdr(elf_getscn(e->elf, sym->st_shndx), section) &&
	       section->sh_flags & SHF_EXECINSTR;
}

int tap_elf_symbols(const struct tap_elf *e,
		    int (*each)(void *ctx, const char *name, const GElf_Sym *sym), void *ctx)
{
	return symbols_of(e, SHT_SYMTAB, each, ctx) ?: symbols_of(e, SHT_DYNSYM, each, ctx);
}
