// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/session/flight_files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "file/spool.h"

#define STAMP_NS 1000000u /* minimum difference between two stamps */

int tap_flight_files_init(struct tap_flight_files *f, const char *file, unsigned int max_files,
			  struct tap_err *err)
{
	int ret;

	*f = (struct tap_flight_files){ .max_files = max_files };
	ret = tap_stamped_init(&f->names, file, err);
	if (ret)
		return ret;
	f->nr_found = tap_stamped_list(&f->names, true, &f->found);
	if (f->nr_found >= 0)
		return 0;
	f->nr_found = 0;
	return tap_err_nomem(err);
}

void tap_flight_files_release(struct tap_flight_files *f)
{
	tap_stamped_free_list(f->found, f->nr_found);
	tap_stamped_release(&f->names);
}

void tap_flight_files_name(const struct tap_flight_files *f, uint64_t at_ns, const char *busy,
			   char path[PATH_MAX])
{
	do {
		tap_stamped_name(&f->names, at_ns, path);
		at_ns += STAMP_NS;
	} while (!strcmp(path, busy));
}

/* Keep at least the newest file. */
void tap_flight_files_remove_old(struct tap_flight_files *f)
{
	struct tap_stamped_file *files;
	int nr = f->max_files ? tap_stamped_list(&f->names, false, &files) : -1;

	if (nr < 0)
		return;
	for (int i = 0; i + (int)f->max_files < nr; i++)
		unlink(files[i].path);
	tap_stamped_free_list(files, nr);
}

int tap_flight_files_note(struct tap_flight_files *f, const char *path)
{
	int ret = f->max_files ? tap_stamped_add(&f->names, path) : 0;

	if (!ret)
		tap_flight_files_remove_old(f);
	return ret;
}

const char *tap_flight_files_next_left(struct tap_flight_files *f)
{
	while (f->next < f->nr_found) {
		struct tap_stamped_file *file = &f->found[f->next++];

		if (!file->is_folder)
			continue;
		file->path[strlen(file->path) - strlen(TAP_SPOOL_SUFFIX)] = '\0';
		return file->path;
	}
	return NULL;
}
