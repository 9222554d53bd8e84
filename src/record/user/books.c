// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/user/books.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "record/user/pid_ns.h"

#define TAKEN_MAX 65536u
#define NAMED_MAX 64u /* per folder */

void tap_user_books_init(struct tap_user_books *b)
{
	*b = (struct tap_user_books){ 0 };
	snprintf(b->id, sizeof(b->id), "%x.%" PRIx64 ".%" PRIx64, (unsigned int)getpid(),
		 tap_pid_ns_own(), tap_clock_ns(CLOCK_BOOTTIME));
}

void tap_user_books_release(struct tap_user_books *b)
{
	tap_map_release(&b->taken[0]);
	tap_map_release(&b->taken[1]);
}

/* ---- recorded programs ---- */

static uint64_t make_identity(uid_t uid, uint32_t pid, uint64_t pid_ns, uint64_t made_ns)
{
	const uint64_t parts[] = { uid, pid, pid_ns, made_ns };

	return tap_map_key(parts, sizeof(parts));
}

uint64_t tap_user_identity(uid_t uid, const struct tap_control *head)
{
	return make_identity(uid, head->pid, head->pid_ns, head->made_ns);
}

/* If out of memory the program is not remembered and may be recorded twice. */
void tap_user_books_take(struct tap_user_books *b, uint64_t identity)
{
	if (b->taken[0].nr >= TAKEN_MAX) {
		tap_map_release(&b->taken[1]);
		b->taken[1] = b->taken[0];
		b->taken[0] = (struct tap_map){ 0 };
	}
	(void)tap_map_set(&b->taken[0], identity, 1);
}

bool tap_user_books_has(const struct tap_user_books *b, uint64_t identity)
{
	return tap_map_get(&b->taken[0], identity) || tap_map_get(&b->taken[1], identity);
}

/* ---- entries ---- */

static void entry_name(const struct tap_user_books *b, const struct tap_control *head,
		       char name[TAP_BOOK_NAME])
{
	int len = snprintf(name, TAP_BOOK_NAME, TAP_BOOK "%s-%x-%" PRIx64 "-%" PRIx64 "-", b->id,
			   head->pid, head->pid_ns, head->made_ns);

	snprintf(name + len, TAP_BOOK_NAME - (size_t)len, "%.15s", head->comm);
	for (char *c = name; *c; c++)
		*c = *c == '/' ? '!' : *c;
}

void tap_user_books_cross_off(const struct tap_user_books *b,
			      const struct tap_user_folders *folders, uid_t uid,
			      const struct tap_control *head)
{
	char name[TAP_BOOK_NAME];
	struct stat st;

	entry_name(b, head, name);
	for (unsigned int i = 0; i < folders->nr; i++) {
		int dir = folders->v[i]->uid == uid && folders->v[i]->ino
				  ? tap_user_folder_open(folders->v[i], &st)
				  : -1;

		if (dir < 0)
			continue;
		unlinkat(dir, name, 0);
		close(dir);
	}
}

/* Parse "NUMBER-" in hexadecimal. Return: false if the text is something else. */
static bool take_part(const char **at, uint64_t *number)
{
	return !tap_text_take_digits(at, NULL, 16, number) && *(*at)++ == '-';
}

/*
 * Parse an entry's name. @id: set to the start of the session's ID in @name. Return: false if it is
 * not an entry.
 */
static bool parse_entry(const char *name, const char **id, size_t *id_len, struct tap_user_entry *e)
{
	const char *at = name + strlen(TAP_BOOK);
	uint64_t pid;

	if (strncmp(name, TAP_BOOK, strlen(TAP_BOOK)) || strlen(name) >= TAP_BOOK_NAME)
		return false;
	*id = at;
	*id_len = strspn(at, "0123456789abcdef.");
	at += *id_len;
	if (*at++ != '-' || !take_part(&at, &pid) || pid > INT_MAX || !take_part(&at, &e->pid_ns) ||
	    !take_part(&at, &e->made_ns))
		return false;
	e->pid = (uint32_t)pid;
	e->comm = at;
	return true;
}

/* Return true if the session's recorder was in this pid namespace and has ended. */
static bool is_over(const char *id)
{
	uint64_t pid, ns;

	return !tap_text_take_digits(&id, NULL, 16, &pid) && *id++ == '.' &&
	       !tap_text_take_digits(&id, NULL, 16, &ns) && ns == tap_pid_ns_own() && pid &&
	       pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

/*
 * Only names are read, because the folder's owner may have put anything there. Return: the number
 * of programs that were not taken.
 */
static unsigned int close_folder(const struct tap_user_books *b, DIR *d, uid_t uid,
				 void (*fn)(void *ctx, const struct tap_user_entry *e), void *ctx)
{
	struct tap_user_entry e = { .uid = uid };
	unsigned int nr = 0;
	struct dirent *file;

	while ((file = readdir(d))) {
		const char *id;
		size_t len;
		bool is_ours;

		/* some file systems do not report types */
		if ((file->d_type != DT_LNK && file->d_type != DT_UNKNOWN) ||
		    !parse_entry(file->d_name, &id, &len, &e))
			continue;
		is_ours = len == strlen(b->id) && !memcmp(id, b->id, len);
		if (is_ours &&
		    !tap_user_books_has(b, make_identity(uid, e.pid, e.pid_ns, e.made_ns)) &&
		    nr++ < NAMED_MAX)
			fn(ctx, &e);
		if (is_ours || is_over(id))
			unlinkat(dirfd(d), file->d_name, 0);
	}
	return nr;
}

unsigned int tap_user_books_close(const struct tap_user_books *b,
				  const struct tap_user_folders *folders,
				  void (*fn)(void *ctx, const struct tap_user_entry *e), void *ctx)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < folders->nr; i++) {
		struct stat st;
		int dir = tap_user_folder_open(folders->v[i], &st);
		DIR *d = dir < 0 ? NULL : fdopendir(dir);

		if (d) {
			nr += close_folder(b, d, st.st_uid, fn, ctx);
			closedir(d);
		} else if (dir >= 0) {
			close(dir);
		}
	}
	return nr;
}
