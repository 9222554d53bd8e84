// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which files of a ring on disk are removed so that its limit holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/session/rotation_room.h"
#include "tmp_dir.h"

#define PART 4096u
#define LIMIT (TAP_ROTATION_PARTS * PART)

struct ring {
	struct tmp_dir dir;
	struct tap_rotation_room room;
	struct tap_spool *spool;
};

static const struct tap_head_format no_formats[1];

static void begin(struct ring *r, uint64_t keep_ns)
{
	const struct tap_rotation_opts opts = { .max_bytes = LIMIT, .keep_ns = keep_ns };
	struct tap_head head = { .formats = no_formats,
				 .uname = "",
				 .tool = "",
				 .cmdlines = "",
				 .meta = "{}",
				 .clock = "mono",
				 .printk = "" };

	*r = (struct ring){ 0 };
	tap_head_defaults(&head);
	tmp_make(&r->dir);
	assert_int_equal(tap_rotation_room_init(&r->room, &opts, tmp_at(&r->dir, "x.dat"), NULL),
			 0);
	/* not among the ring's own, so that the sizes are those of the case */
	assert_int_equal(tap_spool_create(tmp_at(&r->dir, "spool"), &head, &r->spool, NULL), 0);
	r->room.spool = r->spool;
}

static void end(struct ring *r)
{
	tap_spool_remove(r->spool);
	tap_spool_free(r->spool);
	tap_rotation_room_release(&r->room);
	tmp_remove(&r->dir);
}

static void make(const char *path, unsigned int parts)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (unsigned int i = 0; i < parts * PART; i++)
		putc('x', f);
	assert_int_equal(fclose(f), 0);
}

/* Return: the path of an earlier recorder's file number @nr. */
static const char *earlier(struct ring *r, unsigned int nr)
{
	static char name[64];

	snprintf(name, sizeof(name), "x-20200101T000000.%03u.dat", nr);
	return tmp_at(&r->dir, name);
}

static bool is_there(struct ring *r, unsigned int nr)
{
	return !access(earlier(r, nr), F_OK);
}

static void the_oldest_goes_first(void **state)
{
	struct ring r;

	(void)state;
	begin(&r, 0);
	for (unsigned int nr = 0; nr < 3; nr++)
		make(earlier(&r, nr), 5);
	make(tmp_at(&r.dir, "y-20200101T000000.000.dat"), 20);
	assert_true(tap_rotation_room_keep_limit(&r.room)); /* 15 parts, and 2 must be free */
	assert_false(is_there(&r, 0));
	assert_true(is_there(&r, 1));
	assert_true(is_there(&r, 2));
	assert_false(access(tmp_at(&r.dir, "y-20200101T000000.000.dat"), F_OK));
	/* 6 parts are left */
	assert_true(tap_rotation_room_fits(&r.room, 6 * PART));
	assert_false(tap_rotation_room_fits(&r.room, 6 * PART + 1));
	end(&r);
}

/* The bytes of a folder that has just been closed count against the limit. */
static void bytes_of_a_closed_folder_count(void **state)
{
	struct tap_rotation_file *f;
	struct ring r;

	(void)state;
	begin(&r, 0);
	assert_true(tap_rotation_room_keep_limit(&r.room));
	assert_true(tap_rotation_room_fits(&r.room, 16 * PART));
	tap_rotation_room_expect(&r.room, tap_rotation_file_new(2));
	tap_rotation_room_begin_next(&r.room);
	tap_rotation_room_close_finished(&r.room, 7 * PART);
	assert_true(tap_rotation_room_fits(&r.room, 9 * PART));
	assert_false(tap_rotation_room_fits(&r.room, 9 * PART + 1));
	f = tap_rotation_room_take(&r.room);
	assert_int_equal(f->nr, 1);
	tap_rotation_room_drop(&r.room, f);
	assert_null(tap_rotation_room_take(&r.room));
	end(&r);
}

static void folders_in_use_stay(void **state)
{
	struct ring r;

	(void)state;
	begin(&r, 0);
	snprintf(r.room.current->path, sizeof(r.room.current->path), "%s", earlier(&r, 1));
	assert_int_equal(mkdir(tmp_at(&r.dir, "x-20200101T000000.001.dat.spool"), 0700), 0);
	make(tmp_at(&r.dir, "x-20200101T000000.001.dat.spool/head.dat"), 5);
	make(earlier(&r, 2), 5);
	tap_rotation_room_pack_current(&r.room);
	/* 5 more for what is packed: 15 parts */
	assert_true(tap_rotation_room_keep_limit(&r.room));
	assert_int_equal(access(tmp_at(&r.dir, "x-20200101T000000.001.dat.spool/head.dat"), F_OK),
			 0);
	assert_false(is_there(&r, 2));
	end(&r);
}

static void what_is_too_old_goes(void **state)
{
	struct ring r;

	(void)state;
	begin(&r, 1000000000u);
	make(earlier(&r, 0), 1);
	make(earlier(&r, 1), 1);
	assert_int_equal(utimensat(AT_FDCWD, earlier(&r, 1), (struct timespec[2]){ 0 }, 0), 0);
	assert_true(tap_rotation_room_keep_limit(&r.room));
	assert_false(is_there(&r, 1));
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_goes_first),
		cmocka_unit_test(bytes_of_a_closed_folder_count),
		cmocka_unit_test(folders_in_use_stay),
		cmocka_unit_test(what_is_too_old_goes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
