// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Any files as a spool folder: it is refused or read. Repair, which packs it, makes a file of each
 * readable folder, except those with damaged heads; the file is readable and contains exactly the
 * folder's events. If repair fails, the folder is unchanged.
 *
 * The input: flags (a byte), then files: name length (a byte), name, length (four bytes), bytes.
 * Without a head.dat one with some built-in events is added, and without a head.copy a copy of the
 * head. In meta.json @formats stands for the text that names the formats.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <schedtap/reader.h>

#include "base/buf.h"
#include "base/xxh64.h"
#include "event/defs.h"
#include "file/meta.h"
#include "file/pack.h"
#include "file/rebuild.h"
#include "check.h"
#include "mutate.h"

#define MAX_EVENTS 20000u

enum flag {
	COMPRESS = 1, /* when packing */
	DAMAGE_HEAD = 2,
	DAMAGE_COPY = 4,
	WITHOUT_COPY = 8,
	AS_IT_IS = 16, /* otherwise checksums are recomputed */
};

static char folder[100], spool[120], file[120];

/* ---- the folder ---- */

static void empty(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

static void remove_all(void)
{
	empty(spool);
	rmdir(spool);
	unlink(file);
}

static void remove_folder(void)
{
	remove_all();
	rmdir(folder);
}

static void make_folder(void)
{
	snprintf(folder, sizeof(folder), "%s/fuzz_spool.XXXXXX",
		 getenv("TMPDIR")
			 ?: access("/dev/shm", W_OK) ? "/tmp"
						     : "/dev/shm");
	CHECK(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/x.dat", folder);
	snprintf(spool, sizeof(spool), "%s.spool", file);
	atexit(remove_folder);
}

static void write_file(const char *name, const void *data, size_t len)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", spool, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && !tap_write_all(fd, data, len));
	close(fd);
}

/* Make a head. @formats: set to the names of the formats for @meta. */
static void make_head(const char *meta, struct tap_buf *head, char **formats)
{
	static const char *const names[][2] = {
		{ "sched", "sched_switch" },
		{ "sched", "sched_waking" },
		{ "schedtap", "events_lost" },
		{ "schedtap", "mark" },
	};
	struct tap_head_format all[4];
	struct tap_buf texts[4] = { 0 };
	struct tap_head h = {
		.formats = all,
		.nr_formats = 4,
		.uname = "Linux fuzz",
		.tool = "fuzz",
		.cmdlines = "7 seven\n",
		.meta = meta,
		.clock = "mono",
		.printk = "",
		.nr_cpus = 2,
	};
	json_t *json;

	tap_head_defaults(&h);
	for (unsigned int i = 0; i < 4; i++) {
		static const struct tap_map none;

		tap_def_format(tap_def_find(names[i][0], names[i][1]), NULL,
			       &(struct tap_def_texts){ .cgroups = &none, .stacks = &none },
			       &texts[i]);
		all[i] = (struct tap_head_format){ names[i][0], tap_buf_str(&texts[i]),
						   texts[i].len };
	}
	json = tap_rebuild_formats(&h);
	*formats = json_dumps(json, JSON_COMPACT);
	CHECK(!tap_head_write(&h, head) && *formats);
	json_decref(json);
	for (unsigned int i = 0; i < 4; i++)
		tap_buf_release(&texts[i]);
}

/* Write the metadata with @formats replaced, and with its checksum. */
static void write_meta(const char *data, size_t len, const char *formats, bool as_it_is)
{
	static const char word[] = "@formats";
	const char *at = memmem(data, len, word, sizeof(word) - 1);
	struct tap_buf text = { 0 }, sealed = { 0 };

	tap_buf_add(&text, data, at ? (size_t)(at - data) : len);
	if (at) {
		tap_buf_puts(&text, formats);
		tap_buf_add(&text, at + sizeof(word) - 1,
			    (size_t)(data + len - at) - sizeof(word) + 1);
	}
	if (as_it_is || memchr(tap_buf_str(&text), 0, text.len))
		write_file("meta.json", text.data, text.len);
	else
		write_file("meta.json", (tap_meta_seal(tap_buf_str(&text), &sealed), sealed.data),
			   sealed.len);
	tap_buf_release(&sealed);
	tap_buf_release(&text);
}

/* Write head and copy as the flags demand. */
static void write_heads(struct tap_buf *head, const unsigned char *copy, size_t copy_len,
			unsigned int flags)
{
	size_t at = head->len / 2;

	if (!(flags & AS_IT_IS))
		fix_checksums((unsigned char *)head->data, head->len);
	for (unsigned int i = 0; i < 2; i++) {
		bool damages = head->len && flags & (i ? DAMAGE_COPY : DAMAGE_HEAD);

		if (i && flags & WITHOUT_COPY)
			return;
		if (damages)
			head->data[at] ^= 1;
		if (i && copy)
			write_file("head.copy", copy, copy_len);
		else
			write_file(i ? "head.copy" : "head.dat", head->data, head->len);
		if (damages)
			head->data[at] ^= 1;
	}
}

struct part {
	char name[256];
	const unsigned char *data;
	uint32_t len;
};

/* Return: false after the last one. */
static bool next_part(const unsigned char **at, const unsigned char *end, struct part *p)
{
	size_t name_len;

	if (*at == end || end - *at < **at + 5)
		return false;
	name_len = **at;
	memcpy(p->name, *at + 1, name_len);
	p->name[name_len] = '\0';
	memcpy(&p->len, *at + 1 + name_len, 4);
	*at += name_len + 5;
	if (p->len > end - *at)
		p->len = (uint32_t)(end - *at);
	p->data = *at;
	*at += p->len;
	return true;
}

/* Return: true if the input contains a head.dat. */
static bool write_folder(unsigned int flags, const unsigned char *at, const unsigned char *end)
{
	struct part p, head = { 0 }, copy = { 0 };
	struct tap_buf bytes = { 0 };
	char *formats;

	CHECK(!mkdir(spool, 0700));
	make_head("{\"complete\":false}", &bytes, &formats);
	while (next_part(&at, end, &p)) {
		if (!strcmp(p.name, "head.dat"))
			head = p;
		else if (!strcmp(p.name, "head.copy"))
			copy = p;
		else if (!strcmp(p.name, "meta.json"))
			write_meta((const char *)p.data, p.len, formats, flags & AS_IT_IS);
		else if (*p.name && *p.name != '.' && !strchr(p.name, '/'))
			write_file(p.name, p.data, p.len);
	}
	if (head.data) {
		tap_buf_clear(&bytes);
		tap_buf_add(&bytes, head.data, head.len);
	}
	write_heads(&bytes, copy.data, copy.len, flags);
	tap_buf_release(&bytes);
	free(formats);
	return head.data;
}

/* ---- mutations of the input ---- */

size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t max_size,
			       unsigned int seed);

size_t LLVMFuzzerCustomMutator(unsigned char *data, size_t size, size_t max_size, unsigned int seed)
{
	static struct scan s;
	const unsigned char *at = data + !!size, *from = at;
	struct tap_spool_name name;
	struct part p;

	s = (struct scan){ .data = data, .len = size, .max = max_size };
	scan_value(&s, OTHER, 0, 1);
	for (; next_part(&at, data + size, &p); from = at) {
		size_t begin = (size_t)(from - data), bytes = (size_t)(p.data - data);

		scan_piece(&s, FILE_IN_FOLDER, begin, (size_t)(at - from), 1);
		scan_piece(&s, FILE_NAME, begin + 1, *from, 1);
		scan_length(&s, FILE_NAME, begin, 1, begin + 1, bytes - 4, 1);
		scan_length(&s, FILE_IN_FOLDER, bytes - 4, 4, bytes, bytes + p.len, 1);
		if (tap_spool_parse_name(p.name, &name) && !name.zstd)
			scan_pages(&s, bytes, p.len, name.page_size);
		else if (!scan_recording(&s, bytes, p.len))
			scan_piece(&s, OTHER, bytes, p.len, 1);
	}
	mutate(&s, seed);
	return s.len;
}

/* ---- reading ---- */

struct seen {
	int ret;
	unsigned int nr;
	uint64_t events[MAX_EVENTS]; /* checksums of the events, sorted */
};

static int compare_sums(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t sum_up(const struct tap_event *ev)
{
	struct tap_xxh64 x;

	tap_xxh64_init(&x);
	tap_xxh64_add(&x, &ev->ts_ns, sizeof(ev->ts_ns));
	tap_xxh64_add(&x, &ev->cpu, sizeof(ev->cpu));
	tap_xxh64_add(&x, ev->data, ev->size);
	return tap_xxh64_sum(&x);
}

static void look(struct seen *s, const char *path)
{
	struct tap_reader *r;
	struct tap_event ev;
	struct tap_err err = { 0 };

	s->nr = 0;
	s->ret = tap_reader_open(path, &r, &err);
	CHECK(!s->ret || (s->ret < 0 && *err.text));
	while (!s->ret && s->nr < MAX_EVENTS && tap_reader_next(r, &ev, NULL) == 1)
		if (ev.fmt)
			s->events[s->nr++] = sum_up(&ev);
	qsort(s->events, s->nr, sizeof(*s->events), compare_sums);
	tap_reader_free(r);
}

static void check_packed(const struct seen *before, const struct seen *after)
{
	unsigned int k = 0;

	CHECK(!after->ret || before->ret);
	for (unsigned int i = 0; !before->ret && before->nr < MAX_EVENTS && i < after->nr; i++) {
		while (k < before->nr && before->events[k] < after->events[i])
			k++;
		CHECK(k < before->nr && before->events[k++] == after->events[i]);
	}
	CHECK(before->ret || before->nr == after->nr);
}

static void on_note(void *ctx, const char *sentence)
{
	CHECK(!ctx && *sentence);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	static struct seen before, after;
	unsigned int flags = size ? *data : 0, open = count_descriptors();
	struct tap_err err = { 0 };
	bool has_head;
	int ret;

	if (!*folder)
		make_folder();
	has_head = write_folder(flags, data + !!size, data + size);
	look(&before, spool);
	ret = before.ret == -ENOTSUP ? before.ret : /* as repair does */
		      tap_pack(spool, file,
			       &(struct tap_pack_opts){ .zstd = flags & COMPRESS, .note = on_note },
			       &err);
	look(&after, ret ? spool : file);
	/* without checksums in the head the reader accepts more than repair does */
	CHECK(!ret || before.ret || has_head);
	if (ret)
		CHECK(after.ret == before.ret && after.nr == before.nr &&
		      !memcmp(after.events, before.events, after.nr * 8ul));
	else
		check_packed(&before, &after);
	remove_all();
	CHECK(count_descriptors() == open);
	return 0;
}
