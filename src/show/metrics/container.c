// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/metrics/container.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define ID_CHARS 64u
#define MAX_FILE ((size_t)4 << 20)

/* Where a runtime describes a container, and the keys of its names there. */
static const struct runtime {
	const char *folder, *file; /* folder/ID/file */
	const char *within,
		*of; /* object with the names; .within: what it is a member of, or NULL */
	const char *name, *pod, *pod_namespace;
} runtimes[] = {
	{ "/run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json", NULL,
	  "annotations", "io.kubernetes.cri.container-name", "io.kubernetes.cri.sandbox-name",
	  "io.kubernetes.cri.sandbox-namespace" },
	{ "/run/containers/storage/overlay-containers", "userdata/config.json", NULL, "annotations",
	  "io.kubernetes.container.name", "io.kubernetes.pod.name", "io.kubernetes.pod.namespace" },
	{ "/var/lib/docker/containers", "config.v2.json", "Config", "Labels",
	  "io.kubernetes.container.name", "io.kubernetes.pod.name", "io.kubernetes.pod.namespace" },
};

/* Return: the last id in the path; NULL: there is none. */
static const char *find_id(const char *path)
{
	const char *found = NULL;
	size_t nr = 0;

	for (const char *s = path; *s; s++) {
		nr = isxdigit((unsigned char)*s) ? nr + 1 : 0;
		if (nr == ID_CHARS && !isxdigit((unsigned char)s[1]))
			found = s + 1 - ID_CHARS;
	}
	return found;
}

static json_t *read_json(const char *path)
{
	struct tap_buf text = { .max = MAX_FILE };
	json_t *json = NULL;

	if (!tap_buf_read_file(&text, path))
		json = json_loadb(text.data, text.len, 0, NULL);
	tap_buf_release(&text);
	return json;
}

static char *copy_of(const json_t *names, const char *key)
{
	const char *text = json_string_value(json_object_get(names, key));

	return text ? strdup(text) : NULL;
}

/* Docker's own name of a container, "/web". */
static char *docker_name(const json_t *json)
{
	const char *name = json_string_value(json_object_get(json, "Name"));

	return name ? strdup(name + (*name == '/')) : NULL;
}

static void read_names(const json_t *json, const struct runtime *r, struct tap_container *c)
{
	const json_t *within = r->within ? json_object_get(json, r->within) : json;
	const json_t *names = json_object_get(within, r->of);

	c->name = copy_of(names, r->name) ?: docker_name(json);
	c->pod = copy_of(names, r->pod);
	c->pod_namespace = copy_of(names, r->pod_namespace);
}

void tap_container_find(const char *path, const char *root, struct tap_container *c)
{
	const char *id = find_id(path);

	*c = (struct tap_container){ 0 };
	for (size_t i = 0; id && i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		const struct runtime *r = &runtimes[i];
		char file[PATH_MAX];
		json_t *json;

		snprintf(file, sizeof(file), "%s%s/%.*s/%s", root, r->folder, (int)ID_CHARS, id,
			 r->file);
		json = read_json(file);
		if (!json)
			continue;
		read_names(json, r, c);
		json_decref(json);
		return;
	}
}

void tap_container_release(struct tap_container *c)
{
	free(c->name);
	free(c->pod);
	free(c->pod_namespace);
	*c = (struct tap_container){ 0 };
}
