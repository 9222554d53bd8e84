// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "analysis/cgroup_label.h"

#include <string.h>

#define ID_DIGITS 64u /* digits of a container's id */
#define SHORT_ID 12
#define SHORT_UID 8
#define HEX "0123456789abcdef"

/* A component of a path. */
struct part {
	const char *at;
	size_t len;
};

static bool next_part(const char **path, struct part *p)
{
	*path += strspn(*path, "/");
	*p = (struct part){ *path, strcspn(*path, "/") };
	*path += p->len;
	return p->len;
}

static bool ends_with(struct part p, const char *with)
{
	size_t len = strlen(with);

	return p.len > len && !memcmp(p.at + p.len - len, with, len);
}

/*
 * Find a pod's UID in a path component such as "kubepods-burstable-pod0123abcd_....slice" or
 * "pod0123abcd-...". Return: NULL: not a pod.
 */
static const char *pod_of(struct part p)
{
	static const size_t groups[] = { 8, 4, 4, 4, 12 };

	for (const char *at = p.at; at + strlen("pod") + 36 <= p.at + p.len; at++) {
		const char *uid = at + strlen("pod"), *digit = uid;
		size_t i;

		if (memcmp(at, "pod", strlen("pod")))
			continue;
		for (i = 0; i < 5 && strspn(digit, HEX) == groups[i]; i++)
			digit += groups[i] +
				 (i < 4 && (digit[groups[i]] == '-' || digit[groups[i]] == '_'));
		if (i == 5)
			return uid;
	}
	return NULL;
}

/*
 * Find a container's id in a path component such as "docker-ID.scope" or "ID". Return: NULL: not a
 * container.
 */
static const char *container_of(struct part p)
{
	size_t len = ends_with(p, ".scope") ? p.len - strlen(".scope") : p.len;
	const char *id;

	if (len < ID_DIGITS)
		return NULL;
	id = p.at + len - ID_DIGITS;
	return strspn(id, HEX) >= ID_DIGITS && (len == ID_DIGITS || id[-1] == '-') ? id : NULL;
}

/* Append the name of the container's runtime. @above: the component above the container's. */
static void put_runtime(struct tap_buf *b, struct part p, const char *id, struct part above)
{
	static const struct {
		const char *prefix, *name;
	} runtimes[] = {
		{ "docker-", "docker" },
		{ "cri-containerd-", "containerd" },
		{ "crio-", "crio" },
		{ "libpod-", "podman" },
	};

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++) {
		if (id == p.at + strlen(runtimes[i].prefix) &&
		    !strncmp(p.at, runtimes[i].prefix, strlen(runtimes[i].prefix))) {
			tap_buf_puts(b, runtimes[i].name);
			return;
		}
	}
	if (above.len == strlen("docker") && !memcmp(above.at, "docker", above.len))
		tap_buf_puts(b, "docker");
	else
		tap_buf_puts(b, "container");
}

static bool is_unit(struct part p)
{
	return ends_with(p, ".service") || ends_with(p, ".scope") || ends_with(p, ".socket") ||
	       ends_with(p, ".mount");
}

bool tap_cgroup_label(const char *path, struct tap_buf *b)
{
	bool has_pod = false, is_named = false, is_manager = false;
	const size_t begin = b->len;
	struct part p, above = { 0 };

	for (; next_part(&path, &p); above = p) {
		const char *uid = has_pod ? NULL : pod_of(p), *id = container_of(p);

		if (uid) {
			tap_buf_printf(b, "pod %.*s", SHORT_UID, uid);
			has_pod = is_named = true;
			continue;
		}
		if (!id && (ends_with(p, ".slice") || (!is_named && !is_unit(p))))
			/*
			 * leave out slices, and all that precedes the first unit, container or
			 * pod
			 */
			continue;
		if (is_manager) /* a user's service manager: its units have names of their own */
			b->len = begin;
		else if (is_named)
			tap_buf_char(b, '/');
		if (id && !has_pod) {
			put_runtime(b, p, id, above);
			tap_buf_char(b, '/');
		}
		tap_buf_add(b, id ? id : p.at, id ? SHORT_ID : p.len);
		is_manager = !is_named && p.len > strlen("user@") &&
			     !memcmp(p.at, "user@", strlen("user@"));
		is_named = true;
	}
	return is_named;
}

size_t tap_cgroup_common(const char *a, size_t a_len, const char *b)
{
	size_t same = 0, len = 0;

	while (same < a_len && b[same] == a[same])
		if (a[same++] == '/')
			len = same - 1;
	return (same == a_len || a[same] == '/') && (b[same] == '/' || !b[same]) ? same : len;
}
