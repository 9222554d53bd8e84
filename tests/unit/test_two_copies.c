// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A program and its plugin with a copy of libschedtap-tracepoint each: neither takes the other's
 * control file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <schedtap/trace_events.h>

#include "tmp_dir.h"

/* Loads a file of its own, so that the linker takes it for another library; it begins as with its
 * first event. */
static void load_copy(struct tmp_dir *tmp, const char *library, const char *name,
		      struct tap_object *object)
{
	const char *path = tmp_at(tmp, name);
	int from = open(library, O_RDONLY | O_CLOEXEC),
	    to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	void (*add)(struct tap_object *);
	struct stat st;
	void *lib;

	assert_int_equal(fstat(from, &st), 0);
	assert_int_equal(sendfile(to, from, NULL, (size_t)st.st_size), st.st_size);
	close(from);
	close(to);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(lib);
	*(void **)&add = dlsym(lib, "tap_object_add");
	assert_non_null(add);
	add(object);
}

static unsigned int count_links(const char *folder)
{
	unsigned int nr = 0;
	struct dirent *entry;
	DIR *dir = opendir(folder);

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		nr += entry->d_type == DT_LNK;
	closedir(dir);
	return nr;
}

static void test_two_copies(void **state)
{
	static struct tap_object objects[2];
	char library[4096] = "", *slash = library;
	struct tmp_dir tmp;

	(void)state;
	assert_int_equal(readlink("/proc/self/exe", library, sizeof(library) - 1) > 0, 1);
	for (unsigned int i = 0; i < 3; i++) { /* tests/unit/test_two_copies */
		slash = strrchr(library, '/');
		*slash = '\0';
	}
	strcpy(slash, "/libschedtap-tracepoint.so");
	tmp_make(&tmp);
	setenv("XDG_RUNTIME_DIR", tmp.path, 1);
	load_copy(&tmp, library, "one.so", &objects[0]);
	assert_int_equal(count_links(tmp_at(&tmp, "schedtap")), 1);
	load_copy(&tmp, library, "two.so", &objects[1]);
	assert_int_equal(count_links(tmp_at(&tmp, "schedtap")), 2);
	tmp_remove(&tmp);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_two_copies) };

	unsetenv("TAP_TRACE");
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("two copies", tests, NULL, NULL);
}
