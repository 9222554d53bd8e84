/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A folder of a test's own, and paths in it. */
#ifndef TAP_TEST_TMP_DIR_H
#define TAP_TEST_TMP_DIR_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct tmp_dir {
	char path[64];
	char at[320]; /* what tmp_at() gave last */
};

static inline void tmp_make(struct tmp_dir *t)
{
	/* in memory where there is such a place: these tests sync a thousand times */
	strcpy(t->path, "/dev/shm/schedtap-test-XXXXXX");
	if (mkdtemp(t->path))
		return;
	strcpy(t->path, "/tmp/schedtap-test-XXXXXX");
	assert_non_null(mkdtemp(t->path));
}

static inline int tmp_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void tmp_remove(struct tmp_dir *t)
{
	assert_int_equal(nftw(t->path, tmp_unlink, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Valid until the next call. */
static inline const char *tmp_at(struct tmp_dir *t, const char *name)
{
	snprintf(t->at, sizeof(t->at), "%s/%s", t->path, name);
	return t->at;
}

static inline void tmp_write(struct tmp_dir *t, const char *name, const void *data, size_t len)
{
	FILE *f = fopen(tmp_at(t, name), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

#endif
