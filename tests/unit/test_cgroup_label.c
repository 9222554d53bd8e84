// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/cgroup_label.h"

#define TABLE(t) (sizeof(t) / sizeof((t)[0]))
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void test_labels(void **state)
{
	static const struct {
		const char *path, *want; /* NULL: it says nothing */
	} cases[] = {
		{ "/", NULL },
		{ "", NULL },
		{ "/system.slice", NULL },
		{ "/a/b", NULL },
		{ "/system.slice/nginx.service", "nginx.service" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/x.service",
		  "x.service" },
		{ "/user.slice/user-1000.slice/user@1000.service", "user@1000.service" },
		{ "/system.slice/a.service/b/c.scope", "a.service/b/c.scope" },
		{ "/system.slice/docker-" ID ".scope", "docker/0123456789ab" },
		{ "/docker/" ID, "docker/0123456789ab" },
		{ "/docker/" ID "/init", "docker/0123456789ab/init" },
		{ "/machine.slice/libpod-" ID ".scope/container", "podman/0123456789ab/container" },
		{ "/lxc/" ID, "container/0123456789ab" },
		{ "/kubepods.slice/kubepods-burstable.slice/"
		  "kubepods-burstable-pod0fe12345_1234_5678_9abc_def012345678.slice/"
		  "cri-containerd-" ID ".scope",
		  "pod 0fe12345/0123456789ab" },
		{ "/kubepods/besteffort/pod0fe12345-1234-5678-9abc-def012345678/" ID,
		  "pod 0fe12345/0123456789ab" },
		{ "/kubepods.slice/kubepods-pod0fe12345_1234_5678_9abc_def012345678.slice",
		  "pod 0fe12345" },
		{ "/kubepods.slice/kubepods-pod0fe12345_1234_5678_9abc_def012345678.slice/crio-" ID
		  ".scope/x",
		  "pod 0fe12345/0123456789ab/x" },
		/* nearly */
		{ "/docker/" ID "0", NULL },
		{ "/docker/0123", NULL },
		{ "/podcast", NULL },
		{ "/pod0fe12345_1234_5678_9abc_def01234567", NULL },
		{ "/pod0fe12345x1234_5678_9abc_def012345678", NULL },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		struct tap_buf b = { 0 };
		bool is_named = tap_cgroup_label(cases[i].path, &b);

		if (is_named != !!cases[i].want || strcmp(tap_buf_str(&b), cases[i].want ?: ""))
			fail_msg("%s: '%s'", cases[i].path, tap_buf_str(&b));
		tap_buf_release(&b);
	}
}

static void test_common(void **state)
{
	static const struct {
		const char *a, *b;
		size_t want;
	} cases[] = {
		{ "/a/b", "/a/b", 4 },	{ "/a/b", "/a/c", 2 }, { "/a/b", "/a/bc", 2 },
		{ "/a/bc", "/a/b", 2 }, { "/a", "/a/b", 2 },   { "/a/b", "/a", 2 },
		{ "/a", "/b", 0 },	{ "/ab", "/ac", 0 },   { "/", "/a", 0 },
	};

	(void)state;
	for (size_t i = 0; i < TABLE(cases); i++) {
		size_t got = tap_cgroup_common(cases[i].a, strlen(cases[i].a), cases[i].b);

		if (got != cases[i].want)
			fail_msg("%s and %s: %zu, not %zu", cases[i].a, cases[i].b, got,
				 cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_common),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("cgroup_label", tests, NULL, NULL);
}
