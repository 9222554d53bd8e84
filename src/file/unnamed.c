// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *find_dir(void)
{
	/* not /tmp, which is often in memory: recordings can be larger */
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/var/tmp";
}

int tap_unnamed_open(void)
{
	const char *dir = find_dir();
	char path[PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* some file systems, such as NFS, have no O_TMPFILE */
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd < 0 ? -errno : fd;
	if (snprintf(path, sizeof(path), "%s/schedtap-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int tap_unnamed_fail(int ret, const char *verb, const char *path, struct tap_err *err)
{
	if (ret == -EMFILE)
		return tap_err_set(err, ret,
				   "cannot %s '%.300s': it takes a file for each CPU, above the "
				   "limit of open files (ulimit -n)",
				   verb, path);
	return tap_err_set(err, ret,
			   "cannot %s '%.300s' into a temporary file in '%.100s' (set TMPDIR to "
			   "use another folder): %s",
			   verb, path, find_dir(), strerror(-ret));
}
