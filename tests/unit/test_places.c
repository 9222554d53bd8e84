// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses of programs as places: this program's own, copies of it, others', and what is damaged
 * or hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "file/symbol/elf_file.h"
#include "file/symbol/elf_names.h"
#include "file/symbol/file.h"
#include "file/symbol/maps.h"
#include "file/symbol/perf_map.h"
#include "file/symbol/places.h"
#include "skip_test.h"
#include "tmp_dir.h"

#define LEN(table) (sizeof(table) / sizeof(*(table)))

static struct tap_places *places;
static struct tmp_dir dir;
static struct tap_buf self; /* this program's file */
static int life[2]; /* a pipe: children end with this program */

/* The maps are not read again at once: new mappings are known a little later. */
static uint32_t note(int pid, const void *addr)
{
	uint32_t nr = 0;

	for (int i = 0; !nr && i < 1000; i++) {
		nr = tap_places_note(places, pid, (uint64_t)addr);
		if (!nr)
			usleep(5000);
	}
	return nr;
}

static const char *name_of(const void *addr)
{
	return tap_places_name(places, note(getpid(), addr));
}

static void stay(void)
{
	char c;

	close(life[1]);
	_exit(read(life[0], &c, 1) != 0);
}

/* ---- maps ---- */

static const char some_maps[] =
	"00400000-00401000 r--p 00000000 fe:00 247134                             /usr/bin/cat\n"
	"00401000-00406000 r-xp 00001000 fe:00 247134                             /usr/bin/cat\n"
	"7f0000000000-7f0000010000 rwxp 00000000 00:00 0 \n"
	"7f0000008000-7f0000020000 rwxp 00000000 00:00 0                          overlaps\n"
	"7f0000020000-7f0000021000 --xs 7fffffff000 103:0a 18446744073709551615   /a b\\012c "
	"(deleted)\n"
	"no line at all\n"
	"7f0000030000-7f0000030000 r-xp 00000000 00:00 0                          [empty]\n"
	"7f0000030000-7f0000031000 r-xp\n"
	"7ffff7fc1000-7ffff7fc3000 r-xp 00000000 00:00 0                          [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n"
	"ffffffffff700000-ffffffffff701000 --xp 00000000 00:00 0                  [cut]";

static void test_maps(void **state)
{
	static const struct {
		struct tap_mapping is;
		const char *path;
	} want[] = {
		{ { 0x401000, 0x406000, 0x1000, 247134, 0xfe00 }, "/usr/bin/cat" },
		{ { 0x7f0000000000, 0x7f0000010000 }, "" },
		{ { 0x7f0000020000, 0x7f0000021000, 0x7fffffff000, UINT64_MAX, 0x1030a },
		  "/a b\\012c (deleted)" },
		{ { 0x7ffff7fc1000, 0x7ffff7fc3000 }, "[vdso]" },
		{ { 0xffffffffff600000, 0xffffffffff601000 }, "[vsyscall]" },
	};
	struct tap_maps m = { 0 };

	(void)state;
	assert_null(tap_maps_find(&m, 0));
	assert_int_equal(tap_maps_parse(&m, some_maps, sizeof(some_maps) - 1), 0);
	assert_int_equal(m.nr, 5);
	for (unsigned int i = 0; i < m.nr; i++) {
		const struct tap_mapping *is = &m.all[i];

		assert_int_equal(is->start, want[i].is.start);
		assert_int_equal(is->end, want[i].is.end);
		assert_int_equal(is->offset, want[i].is.offset);
		assert_int_equal(is->ino, want[i].is.ino);
		assert_int_equal(is->dev, want[i].is.dev);
		assert_string_equal(tap_mapping_path(&m, is), want[i].path);
		assert_ptr_equal(tap_maps_find(&m, is->start), is);
		assert_ptr_equal(tap_maps_find(&m, is->end - 1), is);
		assert_null(tap_maps_find(&m, is->start - 1));
		assert_null(tap_maps_find(&m, is->end));
	}
	tap_maps_release(&m);
}

/* ---- this program ---- */

static __attribute__((noinline)) int known_function(int v)
{
	__asm__ volatile("");
	return v + 1;
}

/* Names beside each other, in each other, and without a size. */
__asm__(".pushsection .text\n"
	".globl __many_names, _many_names, many_names\n"
	".type __many_names, @function\n .type _many_names, @function\n .type many_names, "
	"@function\n"
	"__many_names: _many_names: many_names: .skip 16, 0xcc\n"
	".size __many_names, 16\n .size _many_names, 16\n .size many_names, 16\n"
	".globl with_label\n .type with_label, @function\n"
	"with_label: .skip 8, 0xcc\n"
	"label_inside: .skip 8, 0xcc\n"
	".size with_label, 16\n"
	".globl in_a_gap\n"
	"in_a_gap: .skip 16, 0xcc\n"
	".globl without_size\n .type without_size, @function\n"
	"without_size: .skip 16, 0xcc\n"
	".globl behind_it\n .type behind_it, @function\n"
	"behind_it: .skip 16, 0xcc\n"
	".size behind_it, 16\n"
	".popsection\n");
extern const char many_names[], with_label[], in_a_gap[], without_size[], behind_it[];

static void test_functions(void **state)
{
	const struct {
		const void *addr;
		const char *name;
	} want[] = {
		{ (char *)known_function + 1, "known_function" },
		{ qsort, "qsort" },
		{ (char *)qsort + 1, "qsort" },
		{ write, "write" },
		{ many_names, "many_names" },
		{ many_names + 15, "many_names" },
		{ with_label + 7, "with_label" },
		{ with_label + 8, "with_label" },
		{ with_label + 15, "with_label" },
		{ in_a_gap, "in_a_gap" },
		{ without_size + 15, "without_size" },
		{ behind_it, "behind_it" },
	};
	uint32_t nr[LEN(want)];

	(void)state;
	for (size_t i = 0; i < LEN(want); i++)
		nr[i] = note(getpid(), want[i].addr);
	for (size_t i = 0; i < LEN(want); i++) {
		assert_string_equal(tap_places_name(places, nr[i]), want[i].name);
		assert_int_equal(tap_places_note(places, getpid(), (uint64_t)want[i].addr), nr[i]);
	}
	/* noted when others had their names */
	assert_string_equal(name_of((char *)known_function + 2), "known_function");
	assert_int_equal(known_function(1), 2);
}

static void test_vdso(void **state)
{
	(void)state;
	assert_string_equal(name_of((char *)getauxval(AT_SYSINFO_EHDR) + 0x2a), "[vdso]+0x2a");
}

static void test_unknown(void **state)
{
	int here;

	(void)state;
	assert_int_equal(tap_places_note(places, getpid(), 1), 0);
	assert_int_equal(tap_places_note(places, getpid(), UINT64_MAX), 0);
	assert_int_equal(tap_places_note(places, getpid(), (uint64_t)&here), 0); /* no code */
	assert_int_equal(tap_places_note(places, 0, (uint64_t)test_unknown), 0);
	assert_int_equal(tap_places_note(places, -1, (uint64_t)test_unknown), 0);
	assert_int_equal(tap_places_note(places, INT32_MAX, (uint64_t)test_unknown), 0);
	assert_string_equal(tap_places_name(places, 0), "?");
	assert_string_equal(tap_places_name(places, UINT32_MAX), "?");
}

/* ---- copies ---- */

static int get_offset(struct dl_phdr_info *info, size_t size, void *found)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t in = (uint64_t)known_function - info->dlpi_addr - p->p_vaddr;

		if (p->p_type == PT_LOAD && in < p->p_filesz)
			*(uint64_t *)found = in + p->p_offset;
	}
	return 0;
}

/* Where in this program's file it is, as its loader says. */
static uint64_t known_offset(void)
{
	uint64_t offset = 0;

	dl_iterate_phdr(get_offset, &offset);
	assert_int_not_equal(offset, 0);
	return offset;
}

static Elf64_Shdr *section(struct tap_buf *of, uint32_t type)
{
	const Elf64_Ehdr *head = (const void *)of->data;
	Elf64_Shdr *s = (void *)(of->data + head->e_shoff);

	for (int i = 0; i < head->e_shnum; i++)
		if (s[i].sh_type == type)
			return &s[i];
	return NULL;
}

/* A copy of this program's file, to change. */
static struct tap_buf copy_self(void)
{
	struct tap_buf copy = { 0 };

	tap_buf_add(&copy, self.data, self.len);
	assert_int_equal(copy.err, 0);
	return copy;
}

static void *map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at;

	assert_true(fd >= 0);
	at = mmap(NULL, self.len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(at != MAP_FAILED);
	close(fd);
	return at;
}

static void unmap(void *at)
{
	munmap(at, self.len);
}

/* Writes it over @name, and maps that. */
static void *map_written(const char *name, const void *data, size_t len)
{
	tmp_write(&dir, name, data, len);
	return map(tmp_at(&dir, name));
}

/* What stands in place of the function's name. */
static const char *no_name(const char *file)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s+0x%" PRIx64, file, known_offset());
	return text;
}

static void test_copy(void **state)
{
	char *one = map_written("copy", self.data, self.len), *two = map(tmp_at(&dir, "copy"));
	uint32_t nr = note(getpid(), one + known_offset());

	(void)state;
	assert_int_equal(note(getpid(), two + known_offset()), nr);
	assert_int_not_equal(note(getpid(), two + known_offset() + 1), nr);
	assert_int_not_equal(note(getpid(), known_function), nr); /* another file */
	assert_string_equal(tap_places_name(places, nr), "known_function");
	unmap(one);
	unmap(two);
}

static void test_stripped(void **state)
{
	struct tap_buf copy = copy_self();
	char *at;

	(void)state;
	section(&copy, SHT_SYMTAB)->sh_type = SHT_PROGBITS;
	at = map_written("stripped", copy.data, copy.len);
	assert_string_equal(name_of(at + known_offset()), no_name("stripped"));
	unmap(at);
	tap_buf_release(&copy);
}

/* Its place in the file, or 0: it has none. */
static size_t build_id(unsigned char id[TAP_BUILD_ID_MAX], size_t *len)
{
	struct tap_elf e;
	void *at;

	*len = 0;
	assert_int_equal(tap_elf_begin(&e, open("/proc/self/exe", O_RDONLY | O_CLOEXEC)), 0);
	*len = tap_elf_build_id(&e, id);
	tap_elf_close(&e);
	at = *len ? memmem(self.data, self.len, id, *len) : NULL;
	return at ? (size_t)((char *)at - self.data) : 0;
}

static char *name_in(const char *file, const char *debug_files)
{
	struct tap_named one = { .at = known_offset() };
	int fd = open(tmp_at(&dir, file), O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	tap_elf_name(fd, debug_files, &one, 1);
	close(fd);
	return one.name;
}

static void test_debug_file(void **state)
{
	unsigned char id[TAP_BUILD_ID_MAX];
	size_t len, at = build_id(id, &len);
	struct tap_buf copy = copy_self();
	char file[2 * TAP_BUILD_ID_MAX + 16], folder[8], *name;
	int end;

	(void)state;
	if (!at)
		return skip_test("a compiler that gives no build ids");
	section(&copy, SHT_SYMTAB)->sh_type = SHT_PROGBITS;
	tmp_write(&dir, "stripped", copy.data, copy.len);
	snprintf(folder, sizeof(folder), "%02x", id[0]);
	mkdir(tmp_at(&dir, folder), 0700);
	end = snprintf(file, sizeof(file), "%02x/", id[0]);
	for (size_t i = 1; i < len; i++)
		end += snprintf(file + end, sizeof(file) - (size_t)end, "%02x", id[i]);
	strcpy(file + end, ".debug");

	assert_null(name_in("stripped", dir.path));
	tmp_write(&dir, file, self.data, self.len);
	name = name_in("stripped", dir.path);
	assert_string_equal(name, "known_function");
	free(name);

	/* of another build */
	memcpy(copy.data, self.data, self.len);
	copy.data[at] ^= 1;
	tmp_write(&dir, file, copy.data, copy.len);
	assert_null(name_in("stripped", dir.path));
	tap_buf_release(&copy);
}

/* ---- replaced ---- */

static void replace(const char *name)
{
	char new[320];

	tmp_write(&dir, "new", "new", 3);
	snprintf(new, sizeof(new), "%s", tmp_at(&dir, "new"));
	assert_int_equal(rename(new, tmp_at(&dir, name)), 0);
}

static void test_replaced(void **state)
{
	char *at = map_written("replaced", self.data, self.len);
	uint32_t nr = note(getpid(), at + known_offset());

	(void)state;
	replace("replaced");
	assert_string_equal(tap_places_name(places, nr), "known_function");
	unmap(at);
}

static void test_removed_before(void **state)
{
	char *at = map_written("removed", self.data, self.len);

	(void)state;
	unlink(tmp_at(&dir, "removed"));
	if (geteuid())
		assert_string_equal(name_of(at + known_offset()), no_name("removed"));
	else
		assert_string_equal(name_of(at + known_offset()), "known_function");
	unmap(at);
}

/* A file keeps its inode but gets other content after a place in it was noted. */
static void test_written_over(void **state)
{
	struct tap_buf copy = copy_self();
	char *at = map_written("over", self.data, self.len), *again;
	uint32_t nr = note(getpid(), at + known_offset()), new_nr;

	(void)state;
	usleep(20000); /* a time stamp of a file system may be as old as a tick */
	again = map_written("over", copy.data, copy.len);
	new_nr = note(getpid(), again + known_offset());
	assert_int_not_equal(new_nr, nr);
	assert_string_equal(tap_places_name(places, nr), no_name("over"));
	assert_string_equal(tap_places_name(places, new_nr), "known_function");
	unmap(at);
	unmap(again);
	tap_buf_release(&copy);
}

/* So many files that those that follow are not held open. */
static void test_many_files(void **state)
{
	char *at[300], *stays, *goes;
	uint32_t stays_nr, goes_nr;
	char name[32];

	(void)state;
	for (size_t i = 0; i < LEN(at); i++) {
		snprintf(name, sizeof(name), "small%zu", i);
		at[i] = map_written(name, "small", 5);
	}
	stays = map_written("stays", self.data, self.len);
	goes = map_written("goes", self.data, self.len);
	for (size_t i = 0; i < LEN(at); i++)
		assert_int_not_equal(note(getpid(), at[i]), 0);
	stays_nr = note(getpid(), stays + known_offset());
	goes_nr = note(getpid(), goes + known_offset());
	replace("goes");
	assert_string_equal(tap_places_name(places, stays_nr), "known_function");
	assert_string_equal(tap_places_name(places, goes_nr), no_name("goes"));
	for (size_t i = 0; i < LEN(at); i++)
		unmap(at[i]);
	unmap(stays);
	unmap(goes);
}

/* ---- other processes ---- */

static void end_child(int pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A place is shared by all processes that map it, and keeps its name when the process and the file
 * are gone. */
static void test_ended(void **state)
{
	char *at = map_written("ended", self.data, self.len);
	uint32_t nr;
	int pid = fork();

	(void)state;
	if (!pid)
		stay();
	unmap(at);
	nr = note(pid, at + known_offset());
	assert_int_equal(note(pid, known_function), note(getpid(), known_function));
	end_child(pid);
	unlink(tmp_at(&dir, "ended"));
	assert_string_equal(tap_places_name(places, nr), "known_function");
	assert_int_equal(tap_places_note(places, pid, (uint64_t)at + known_offset()), nr);
}

/* Addresses of what it was mean nothing when it has become something else. */
static void test_exec(void **state)
{
	int go[2], pid, tries = 0;
	char c;

	(void)state;
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		close(life[1]);
		if (!read(go[0], &c, 1) && !dup2(life[0], 0))
			execlp("cat", "cat", NULL);
		_exit(1);
	}
	assert_int_not_equal(note(pid, known_function), 0);
	close(go[0]);
	close(go[1]);
	while (tap_places_note(places, pid, (uint64_t)known_function) && ++tries < 1000)
		usleep(10000);
	end_child(pid);
	assert_in_range(tries, 0, 500);
}

/* ---- perf maps ---- */

static void test_perf_map_lines(void **state)
{
	/* names of 0x1000, 0x1010, 0x1fff, 0x2000, UINT64_MAX, with "-" for none */
	static const struct {
		const char *text;
		const char *names[5];
	} cases[] = {
		{ "", { "-", "-", "-", "-", "-" } },
		{ "\n\n \n", { "-", "-", "-", "-", "-" } },
		{ "1000 10 one\n", { "one", "-", "-", "-", "-" } },
		{ "1000 11 one", { "one", "one", "-", "-", "-" } },
		{ "0x1000 0x10 one\n", { "one", "-", "-", "-", "-" } },
		{ "1000 1000 LazyCompile:~f g.js:1:2\n",
		  { "LazyCompile:~f g.js:1:2", "LazyCompile:~f g.js:1:2", "LazyCompile:~f g.js:1:2",
		    "-", "-" } },
		{ "2000 1 later\n1000 1 sooner\n", { "sooner", "-", "-", "later", "-" } },
		{ "1000 1000 all\n1010 1 one\n", { "all", "one", "all", "-", "-" } },
		{ "1010 1 one\n1000 1000 all\n", { "all", "all", "all", "-", "-" } },
		{ "1000 10 old\n1000 10 new\n", { "new", "-", "-", "-", "-" } },
		{ "1000 0 nothing\n", { "-", "-", "-", "-", "-" } },
		{ "0 ffffffffffffffff most\n", { "most", "most", "most", "most", "-" } },
		{ "1000 fffffffffffff000 over\n", { "-", "-", "-", "-", "-" } },
		{ "1000 ffffffffffffffff over\n", { "-", "-", "-", "-", "-" } },
		{ "ffffffffffffffff 1 over\n", { "-", "-", "-", "-", "-" } },
		{ "1000 1ffffffffffffffff longer than 64 bits\n", { "-", "-", "-", "-", "-" } },
		{ "1000 10\n", { "-", "-", "-", "-", "-" } },
		{ "1000 10 \n", { "-", "-", "-", "-", "-" } },
		{ "1000\n10 name\n", { "-", "-", "-", "-", "-" } },
		{ "1000 -10 minus\n-1000 10 minus\n", { "-", "-", "-", "-", "-" } },
		{ "x 10 name\n1000 x name\n", { "-", "-", "-", "-", "-" } },
		{ "1000 10 \033[31mred\177\r\n", { "?[31mred??", "-", "-", "-", "-" } },
		{ "1000 10 a;b\tc\n", { "a;b?c", "-", "-", "-", "-" } },
		{ "1000 10 \xc3\xa4\n", { "\xc3\xa4", "-", "-", "-", "-" } },
		{ "\177ELF\n1000 10 one\n", { "one", "-", "-", "-", "-" } },
	};

	(void)state;
	for (size_t i = 0; i < LEN(cases); i++) {
		struct tap_named all[] = {
			{ 0x1000 }, { 0x1010 }, { 0x1fff }, { 0x2000 }, { UINT64_MAX }
		};

		tap_perf_map_parse(cases[i].text, strlen(cases[i].text), all, LEN(all));
		for (size_t k = 0; k < LEN(all); k++) {
			assert_string_equal(all[k].name ? all[k].name : "-", cases[i].names[k]);
			free(all[k].name);
		}
	}
}

static void test_perf_map_long(void **state)
{
	static char text[100000] = "1000 10 ";
	struct tap_named one = { 0x1000 };

	(void)state;
	memset(text + 8, 'x', sizeof(text) - 8);
	text[1000] = '\0';
	tap_perf_map_parse(text, sizeof(text), &one, 1);
	assert_int_equal(strlen(one.name), 1024);
	assert_int_equal(one.name[992], '?');
	free(one.name);
}

/* NR lines, each of which covers all NR places, must not take NR * NR steps. */
static void test_perf_map_hostile(void **state)
{
	enum { NR = 100000 };
	struct tap_named *all = calloc(NR, sizeof(*all));
	struct tap_buf text = { 0 };

	(void)state;
	for (size_t i = 0; i < NR; i++) {
		all[i].at = i;
		tap_buf_printf(&text, "0 ffffffffffffffff f%zu\n", i);
	}
	tap_perf_map_parse(text.data, text.len, all, NR);
	for (size_t i = 0; i < NR; i++) {
		assert_string_equal(all[i].name, "f99999");
		free(all[i].name);
	}
	free(all);
	tap_buf_release(&text);
}

static char perf_map[64];

static void *map_code(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

static void write_perf_map(const char *path, const void *code)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "%" PRIx64 " 10 made_code\n", (uint64_t)code);
	assert_int_equal(fclose(f), 0);
}

static void test_perf_map(void **state)
{
	char *code = map_code(), name[32];
	uint32_t nr;

	(void)state;
	write_perf_map(perf_map, code);
	nr = note(getpid(), code + 15);
	unlink(perf_map);
	assert_string_equal(tap_places_name(places, nr), "made_code");
	snprintf(name, sizeof(name), "%p", (void *)(code + 16));
	assert_string_equal(name_of(code + 16), name);
	munmap(code, 4096);
}

/* Some programs write theirs when they are asked to, or at their end. */
static void test_perf_map_later(void **state)
{
	char *code = map_code();
	uint32_t nr = note(getpid(), code);

	(void)state;
	write_perf_map(perf_map, code);
	assert_string_equal(tap_places_name(places, nr), "made_code");
	unlink(perf_map);
	munmap(code, 4096);
}

static void make_link(const void *code)
{
	write_perf_map(tmp_at(&dir, "elsewhere"), code);
	assert_int_equal(symlink(tmp_at(&dir, "elsewhere"), perf_map), 0);
}

static void make_pipe(const void *code)
{
	(void)code;
	assert_int_equal(mkfifo(perf_map, 0600), 0);
}

static void make_folder(const void *code)
{
	(void)code;
	assert_int_equal(mkdir(perf_map, 0700), 0);
}

static void make_foreign(const void *code)
{
	write_perf_map(perf_map, code);
	assert_int_equal(chown(perf_map, 12345, 0), 0);
}

static void test_perf_map_refused(void **state)
{
	static void (*const makes[])(const void *code) = { make_link, make_pipe, make_folder,
							   make_foreign };
	char *code = map_code(), name[32];

	(void)state;
	snprintf(name, sizeof(name), "%p", (void *)code);
	for (size_t i = 0; i < LEN(makes); i++) {
		if (makes[i] == make_foreign && geteuid()) {
			skip_test("only root can give a file away");
			continue;
		}
		tap_places_free(places);
		assert_int_equal(tap_places_new(&places, NULL), 0);
		makes[i](code);
		assert_string_equal(name_of(code), name);
		remove(perf_map);
	}
	munmap(code, 4096);
}

/* ---- containers ---- */

/* Process 1 of namespaces of its own, with a /tmp of its own. Never returns. */
static void run_contained(int out)
{
	char *seen[2];

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/tmp", "tmpfs", 0, NULL))
		_exit(1);
	strcpy(dir.path, "/tmp");
	if (symlink("/tmp", "/tmp/link"))
		_exit(1);
	seen[0] = map_written("contained", self.data, self.len);
	seen[1] = map_code();
	write_perf_map("/tmp/perf-1.map", seen[1]);
	if (write(out, seen, sizeof(seen)) != sizeof(seen))
		_exit(1);
	stay();
}

/* Return: the contained one's pid here; 0: it may not be made. */
static int start_contained(int out)
{
	int here[2], pid = 0, middle;

	assert_int_equal(pipe(here), 0);
	middle = fork();
	if (!middle) {
		int is = unshare(CLONE_NEWNS | CLONE_NEWPID) ? 0 : fork();

		if (!is && getpid() == 1)
			run_contained(out);
		_exit(write(here[1], &is, sizeof(is)) != sizeof(is));
	}
	waitpid(middle, NULL, 0);
	assert_int_equal(read(here[0], &pid, sizeof(pid)), sizeof(pid));
	close(here[0]);
	close(here[1]);
	return pid;
}

static void check_contained(int pid, char *seen[2])
{
	uint32_t nr[2] = { note(pid, seen[0] + known_offset()), note(pid, seen[1]) };
	struct stat st, same;
	int fd = tap_file_open_in(pid, "/tmp/contained", &st);

	assert_true(fd >= 0);
	close(fd);
	fd = tap_file_open_in(pid, "/tmp/link/contained", &st); /* its own /tmp, not ours */
	assert_true(fd >= 0);
	close(fd);
	/* as those have to find it who may not follow its mapping */
	fd = tap_file_open_path(pid, "/tmp/contained", st.st_dev, st.st_ino, &same);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(tap_file_open_path(pid, "/tmp/contained", st.st_dev, st.st_ino + 1, &same),
			 -ENOENT);
	kill(pid, SIGKILL);
	assert_string_equal(tap_places_name(places, nr[0]), "known_function");
	assert_string_equal(tap_places_name(places, nr[1]), "made_code");
}

static void test_container(void **state)
{
	char *seen[2];
	int fds[2], pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = start_contained(fds[1]);
	close(fds[1]);
	if (pid && read(fds[0], seen, sizeof(seen)) == sizeof(seen))
		check_contained(pid, seen);
	else
		skip_test("namespaces cannot be made here");
	close(fds[0]);
}

/* ---- hostile files ---- */

static void test_no_plain_file(void **state)
{
	struct stat st;
	char link[320];

	(void)state;
	tmp_write(&dir, "file", "", 0);
	snprintf(link, sizeof(link), "%s", tmp_at(&dir, "link"));
	assert_int_equal(symlink(tmp_at(&dir, "file"), link), 0);
	assert_int_equal(mkfifo(tmp_at(&dir, "pipe"), 0600), 0);
	assert_int_equal(tap_file_open_in(getpid(), link, &st), -EINVAL);
	assert_int_equal(tap_file_open_in(getpid(), dir.at, &st), -EINVAL);
	assert_int_equal(tap_file_open_in(getpid(), dir.path, &st), -EINVAL);
	assert_int_equal(tap_file_open_in(getpid(), "/dev/zero", &st), -EINVAL);
	assert_int_equal(tap_file_open_in(getpid(), "/proc/self/exe", &st), -EINVAL);
	assert_int_equal(tap_file_open_in(getpid(), "/none", &st), -ENOENT);
	assert_int_equal(tap_file_open_in(INT32_MAX, "/", &st), -ENOENT);
}

static int begin_bytes(const void *data, size_t len)
{
	struct tap_elf e;
	int ret;

	tmp_write(&dir, "bytes", data, len);
	ret = tap_elf_begin(&e, open(tmp_at(&dir, "bytes"), O_RDONLY | O_CLOEXEC));
	if (!ret)
		tap_elf_close(&e);
	return ret;
}

static void test_elf_heads(void **state)
{
	struct tap_buf copy = copy_self();
	Elf64_Ehdr *head = (void *)copy.data;

	(void)state;
	assert_int_equal(begin_bytes(copy.data, copy.len), 0);
	for (size_t len = 0; len < 64; len++)
		assert_int_equal(begin_bytes(copy.data, len), -EINVAL);
	head->e_shnum = 0; /* as many as the first section says */
	assert_int_equal(begin_bytes(copy.data, copy.len), -EINVAL);
	memcpy(copy.data, self.data, 64);
	head->e_phnum = PN_XNUM;
	assert_int_equal(begin_bytes(copy.data, copy.len), -EINVAL);
	memcpy(copy.data, self.data, 64);
	*copy.data = '!';
	assert_int_equal(begin_bytes(copy.data, copy.len), -EINVAL);
	tap_buf_release(&copy);
}

/* A section that would be good but for its size, of which most is a hole. */
static void test_huge_section(void **state)
{
	struct tap_buf copy = copy_self();

	(void)state;
	section(&copy, SHT_SYMTAB)->sh_size = sizeof(Elf64_Sym) << 23;
	tmp_write(&dir, "huge", copy.data, copy.len);
	if (truncate(tmp_at(&dir, "huge"), (off_t)1 << 30)) {
		tap_buf_release(&copy);
		return skip_test("a file system without large files");
	}
	assert_null(name_in("huge", dir.path));
	tap_buf_release(&copy);
}

/* Names that are compressed, and would come out well: it could be any amount. */
static void test_compressed(void **state)
{
	struct tap_buf copy = copy_self();
	Elf64_Shdr *names = section(&copy, SHT_SYMTAB);
	Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 1 };
	unsigned long len = compressBound(self.len);
	void *small = malloc(len);

	(void)state;
	names = (Elf64_Shdr *)(copy.data + ((const Elf64_Ehdr *)(const void *)copy.data)->e_shoff) +
		names->sh_link;
	assert_int_equal(
		compress(small, &len, (void *)(copy.data + names->sh_offset), names->sh_size),
		Z_OK);
	head.ch_size = names->sh_size;
	names->sh_flags |= SHF_COMPRESSED;
	names->sh_offset = copy.len;
	names->sh_size = sizeof(head) + len;
	tap_buf_add(&copy, &head, sizeof(head));
	tap_buf_add(&copy, small, len);
	tmp_write(&dir, "compressed", copy.data, copy.len);
	assert_null(name_in("compressed", dir.path));
	free(small);
	tap_buf_release(&copy);
}

/* Cut anywhere, it has its name or none. */
static void test_cut(void **state)
{
	(void)state;
	for (size_t len = 0; len < self.len; len += 1 + self.len / 50) {
		char *name;

		tmp_write(&dir, "cut", self.data, len);
		name = name_in("cut", dir.path);
		assert_true(!name || !strcmp(name, "known_function"));
		free(name);
	}
}

/* ---- two threads ---- */

static void *note_all(void *code)
{
	for (int i = 0; i < 4000; i++) {
		tap_places_note(places, getpid(), (uint64_t)code + (uint64_t)i);
		tap_places_note(places, getpid(), (uint64_t)known_function + (uint64_t)i);
	}
	return NULL;
}

static void test_threads(void **state)
{
	char *code = map_code();
	uint32_t first = note(getpid(), code);
	pthread_t noter;

	(void)state;
	assert_int_equal(pthread_create(&noter, NULL, note_all, code), 0);
	for (uint32_t nr = first; nr < 4000; nr++)
		assert_non_null(tap_places_name(places, nr));
	pthread_join(noter, NULL);
	for (uint32_t nr = first; nr < 8000; nr++)
		assert_string_not_equal(tap_places_name(places, nr), "?");
	munmap(code, 4096);
}

static int begin(void **state)
{
	(void)state;
	return tap_places_new(&places, NULL);
}

static int end(void **state)
{
	(void)state;
	tap_places_free(places);
	return 0;
}

/* Where files can be mapped to be executed: not what tmp_make() prefers. */
static int begin_all(void **state)
{
	(void)state;
	strcpy(dir.path, "/tmp/schedtap-test-XXXXXX");
	assert_non_null(mkdtemp(dir.path));
	snprintf(perf_map, sizeof(perf_map), "/tmp/perf-%d.map", getpid());
	remove(perf_map);
	assert_int_equal(pipe2(life, O_CLOEXEC), 0);
	return tap_buf_read_file(&self, "/proc/self/exe");
}

static int end_all(void **state)
{
	(void)state;
	tap_buf_release(&self);
	remove(perf_map);
	tmp_remove(&dir);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		TEST(test_functions),
		TEST(test_vdso),
		TEST(test_unknown),
		TEST(test_copy),
		TEST(test_stripped),
		cmocka_unit_test(test_debug_file),
		TEST(test_replaced),
		TEST(test_removed_before),
		TEST(test_written_over),
		TEST(test_many_files),
		TEST(test_ended),
		TEST(test_exec),
		cmocka_unit_test(test_perf_map_lines),
		cmocka_unit_test(test_perf_map_long),
		cmocka_unit_test(test_perf_map_hostile),
		TEST(test_perf_map),
		TEST(test_perf_map_later),
		TEST(test_perf_map_refused),
		TEST(test_container),
		cmocka_unit_test(test_no_plain_file),
		cmocka_unit_test(test_elf_heads),
		cmocka_unit_test(test_huge_section),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_cut),
		TEST(test_threads),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("places", tests, begin_all, end_all);
}
