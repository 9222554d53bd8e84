// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lookups ARG...: run schedtap, and append a line "SYSTEM:EVENT FIELD" to the file $LOOKUPS for
 * each event field that it finds by name. lookups, without arguments: print such a line for each
 * field of the built-in events.
 */
#include <stdio.h>
#include <stdlib.h>

#include "event/defs.h"

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
const struct tap_field *__real_tap_format_field(const struct tap_format *fmt, const char *name);
const struct tap_field *__wrap_tap_format_field(const struct tap_format *fmt, const char *name);

static FILE *lookups;

const struct tap_field *__wrap_tap_format_field(const struct tap_format *fmt, const char *name)
{
	const struct tap_field *f = __real_tap_format_field(fmt, name);

	if (f && lookups)
		fprintf(lookups, "%s:%s %s\n", fmt->system, fmt->name, name);
	return f;
}

static int print_all(void)
{
	const struct tap_def *def;

	for (unsigned int i = 0; (def = tap_def_at(i)); i++)
		/* mkdat writes no short forms: tests/truth has recordings of them */
		for (unsigned int k = 0; k < def->nr_fields && !def->form_of; k++)
			printf("%s:%s %s\n", def->system, def->name, def->fields[k].name);
	return fflush(stdout);
}

int __wrap_main(int argc, char **argv)
{
	const char *path = getenv("LOOKUPS");
	int ret;

	if (argc == 1)
		return print_all();
	if (path)
		lookups = fopen(path, "a");
	ret = __real_main(argc, argv);
	if (lookups && fclose(lookups))
		ret = 1;
	return ret;
}
