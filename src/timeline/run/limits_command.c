// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "timeline/run/limits_command.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/*
 * The options of `schedtap record` 0.1. Parsing stops at any other option, since it is unknown
 * whether that takes a value.
 */
static const struct option {
	char letter; /* 0: long form only */
	const char *name, *key; /* .key: member of "only" that gets the value, or NULL */
	enum { FLAG, VALUE, FOLLOW, CPUS, REFUSED } kind;
} options[] = {
	{ 'p', "pid", "processes", VALUE }, { 't', "tid", "threads", VALUE },
	{ 'c', "comm", "names", VALUE },    { 0, "follow", NULL, FOLLOW },
	{ 'g', "cgroup", NULL, REFUSED },   { 'C', "cpus", NULL, CPUS },
	{ 0, "trigger", NULL, REFUSED },    { 'o', "output", NULL, VALUE },
	{ 'e', "event", NULL, VALUE },	    { 'f', "filter", NULL, VALUE },
	{ 'd', "duration", NULL, VALUE },   { 'b', "backend", NULL, VALUE },
	{ 'r', "priority", NULL, VALUE },   { 0, "define", NULL, VALUE },
	{ 0, "stack", NULL, VALUE },	    { 0, "buffer", NULL, VALUE },
	{ 0, "max-size", NULL, VALUE },	    { 0, "keep", NULL, VALUE },
	{ 0, "when", NULL, VALUE },	    { 0, "after", NULL, VALUE },
	{ 0, "max-files", NULL, VALUE },    { 0, "compress", NULL, VALUE },
	{ 0, "command-lines", NULL, FLAG },
};

/*
 * Find the option that @word names. *@value: its value if it is part of the same word, else NULL.
 * Return: NULL: unknown option.
 */
static const struct option *find_option(const char *word, const char **value)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		const struct option *o = &options[i];

		if (word[1] != '-' && o->letter && word[1] == o->letter) {
			*value = word[2] ? word + 2 : NULL;
			return o;
		}
		if (word[1] == '-' && strlen(o->name) == len - 2 &&
		    !memcmp(o->name, word + 2, len - 2)) {
			*value = equals ? equals + 1 : NULL;
			return o;
		}
	}
	return NULL;
}

/* Read the options up to the recorded command. Return false if an option was not understood. */
static bool read_words(const json_t *line, json_t *only)
{
	size_t nr = json_array_size(line);

	for (size_t i = 2; i < nr; i++) {
		const char *word = json_string_value(json_array_get(line, i)), *value = NULL;
		const struct option *o;

		if (!word)
			return false;
		if (!strcmp(word, "--") || *word != '-')
			return true;
		o = find_option(word, &value);
		if (!o || o->kind == REFUSED)
			return false;
		if (o->kind == FOLLOW)
			json_object_set_new(only, "follow", json_true());
		if (o->kind != VALUE && o->kind != CPUS)
			continue;
		value = value ? value : json_string_value(json_array_get(line, ++i));
		if (value && o->kind == CPUS)
			json_object_set_new(only, "cpus", json_string(value));
		if (value && o->key)
			json_array_append_new(json_object_get(only, o->key), json_string(value));
	}
	return true;
}

/* Return true if every one of @numbers occurs in column @column of the task list. */
static bool are_known(const json_t *numbers, const json_t *tasks, size_t column)
{
	const json_t *number, *row;
	struct tap_map known = { 0 };
	bool all = true;
	size_t i;

	if (!json_array_size(numbers))
		return true;
	json_array_foreach(tasks, i, row)
		all &= tap_map_put(&known, (uint64_t)json_integer_value(
						   json_array_get(row, column))) != NULL;
	json_array_foreach(numbers, i, number)
		all &= tap_map_get(&known, strtoull(json_string_value(number), NULL, 10)) != NULL;
	tap_map_release(&known);
	return all;
}

/*
 * Add what the events' backends imply to @only. Return false if an event filter may have dropped
 * events of the tasks.
 */
static bool check_events(const json_t *events, json_t *only)
{
	bool by_id = json_array_size(json_object_get(only, "processes")) ||
		     json_array_size(json_object_get(only, "threads"));
	const json_t *e;
	size_t i;

	json_array_foreach(events, i, e) {
		const char *system = json_string_value(json_object_get(e, "system")),
			   *name = json_string_value(json_object_get(e, "name"));
		const char *backend = json_string_value(json_object_get(e, "backend"));

		if (!system || strcmp(system, "sched") != 0)
			continue;
		if (json_object_get(e, "filter"))
			return false;
		if (!name || !backend || strcmp(backend, "tracefs") != 0 || !by_id)
			continue;
		/* with -p or -t the tracefs backend uses set_event_pid and the event-fork option */
		if (!strcmp(name, "sched_switch"))
			json_object_set_new(only, "follow", json_true());
		if (!strcmp(name, "sched_migrate_task"))
			json_object_set_new(only, "lacks_migrations", json_true());
	}
	return true;
}

json_t *tap_limits_of_command(const json_t *meta)
{
	const json_t *line = json_object_get(meta, "command_line"),
		     *tasks = json_object_get(meta, "tasks");
	const char *tool = json_string_value(json_object_get(meta, "tool")),
		   *command = json_string_value(json_array_get(line, 1));
	json_t *only, *processes, *threads;

	if (!tool || strncmp(tool, "schedtap ", 9) != 0 || !command ||
	    strcmp(command, "record") != 0 || json_array_size(json_object_get(meta, "triggers")))
		return NULL;
	only = json_pack("{s:[], s:[], s:[], s:[]}", "processes", "threads", "names", "cgroups");
	processes = json_object_get(only, "processes");
	threads = json_object_get(only, "threads");
	if (read_words(line, only) && check_events(json_object_get(meta, "events"), only) &&
	    are_known(processes, tasks, 1) && are_known(threads, tasks, 0) &&
	    (json_object_get(only, "cpus") ||
	     json_array_size(processes) + json_array_size(threads) +
		     json_array_size(json_object_get(only, "names"))))
		return only;
	json_decref(only);
	return NULL;
}
