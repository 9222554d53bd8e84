// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "program/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __aarch64__
#define THIS_MACHINE EM_AARCH64
#else
#define THIS_MACHINE EM_X86_64
#endif

#define NOTE_OWNER "stapsdt"
#define NOTE_TYPE 3u /* what sys/sdt.h writes since 2010 */

static int check(struct tap_elf *e, const char *path, struct tap_err *err)
{
	GElf_Ehdr head;

	if (elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &head))
		return tap_err_set(err, -EINVAL, "'%.300s' is no ELF file", path);
	if (gelf_getclass(e->elf) != ELFCLASS64)
		return tap_err_set(err, -EINVAL, "'%.300s' is a program of 32 bits, whose arguments are not known here", path);
	if (head.e_machine != THIS_MACHINE || head.e_ident[EI_DATA] != ELFDATA2LSB)
		return tap_err_set(err, -EINVAL, "'%.300s' is a program of another machine", path);
	if (head.e_type != ET_EXEC && head.e_type != ET_DYN)
		return tap_err_set(err, -EINVAL, "'%.300s' is neither a program nor a shared library", path);
	e->machine = head.e_machine;
	return 0;
}

int tap_elf_open(struct tap_elf *e, const char *path, struct tap_err *err)
{
	struct stat st;
	int ret;

	*e = (struct tap_elf){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	if (e->fd < 0)
		return tap_err_set(err, -errno, "cannot open '%.300s': %m", path);
	if (fstat(e->fd, &st) || !S_ISREG(st.st_mode)) {
		ret = tap_err_set(err, -EINVAL, "'%.300s' is no file", path);
	} else {
		elf_version(EV_CURRENT);
		e->elf = elf_begin(e->fd, ELF_C_READ, NULL); /* mapped, one that shrinks would end us */
		ret = check(e, path, err);
	}
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
		if (!gelf_getphdr(e->elf, (int)i, &p) || p.p_type != PT_LOAD || (code && !(p.p_flags & PF_X)) ||
		    address < p.p_vaddr || address - p.p_vaddr >= p.p_memsz)
			continue;
		*offset = address - p.p_vaddr + p.p_offset;
		return true;
	}
	return false;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* Return: the section's data, or NULL. @name: NULL: any. */
static Elf_Data *section_data(const struct tap_elf *e, Elf_Scn *scn, GElf_Word type, const char *name, GElf_Shdr *head)
{
	size_t names;
	const char *is;

	if (!gelf_getshdr(scn, head) || head->sh_type != type || elf_getshdrstrndx(e->elf, &names))
		return NULL;
	is = elf_strptr(e->elf, names, head->sh_name);
	return !name || (is && !strcmp(is, name)) ? elf_getdata(scn, NULL) : NULL;
}

/* Where the linker put ".stapsdt.base": how far it is from where notes say is how far all was moved (prelink). */
static uint64_t find_base(const struct tap_elf *e)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr head;

	while ((scn = elf_nextscn(e->elf, scn)))
		if (section_data(e, scn, SHT_PROGBITS, ".stapsdt.base", &head))
			return head.sh_addr;
	return 0;
}

/* Takes a text and its NUL. Return: NULL: there is none before @end. */
static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

	*at = nul ? nul + 1 : end;
	return nul ? text : NULL;
}

/* Return: whether the note's texts are there. */
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

static int notes_of(Elf_Data *data, uint64_t base, int (*each)(void *ctx, const struct tap_usdt_note *note), void *ctx)
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
		ret = read_note(bytes + desc, head.n_descsz, base, &note) ? each(ctx, &note) : -EBADMSG;
	}
	return ret;
}

int tap_elf_notes(const struct tap_elf *e, int (*each)(void *ctx, const struct tap_usdt_note *note), void *ctx)
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

/* ---- symbols --------------------------------------------------------------------------------- */

static int symbols_of(const struct tap_elf *e, GElf_Word type, int (*each)(void *ctx, const char *name, const GElf_Sym *sym),
		      void *ctx)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	GElf_Sym sym;
	int ret = 0;

	while ((scn = elf_nextscn(e->elf, scn))) {
		Elf_Data *data = section_data(e, scn, type, NULL, &head);

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

int tap_elf_symbols(const struct tap_elf *e, int (*each)(void *ctx, const char *name, const GElf_Sym *sym), void *ctx)
{
	return symbols_of(e, SHT_SYMTAB, each, ctx) ?: symbols_of(e, SHT_DYNSYM, each, ctx);
}
