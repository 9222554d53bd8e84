// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "file/symbol/named.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CHARS 1024u

void tap_named_set(struct tap_named *of, const char *name, size_t len)
{
	char *copy;

	if (len > MAX_CHARS)
		len = MAX_CHARS;
	copy = malloc(len + 1);
	if (!copy)
		return;
	for (size_t i = 0; i < len; i++)
		copy[i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
	copy[len] = '\0';
	free(of->name);
	of->name = copy;
}

size_t tap_named_find(const struct tap_named *all, size_t nr, uint64_t at)
{
	size_t from = 0;

	while (from < nr) {
		size_t middle = from + (nr - from) / 2;

		if (all[middle].at < at)
			from = middle + 1;
		else
			nr = middle;
	}
	return from;
}
