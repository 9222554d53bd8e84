// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event/print/symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

struct symbol {
	uint64_t addr;
	const char *text; /* points into the table's copy */
};

struct table {
	char *copy; /* of the whole text, with NULs after names and texts */
	struct symbol *v;
	unsigned int nr, cap;
	bool unsorted;
};

struct tap_symbols {
	struct table texts, names;
};

static int add_symbol(struct table *t, uint64_t addr, const char *text)
{
	if (tap_array_grow(&t->v, t->nr, &t->cap, sizeof(*t->v)))
		return -ENOMEM;
	t->unsorted |= t->nr && addr < t->v[t->nr - 1].addr;
	t->v[t->nr++] = (struct symbol){ addr, text };
	return 0;
}

/* Of equal addresses the first in the text comes first and is kept, as the kernel does. */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->text < y->text ? -1 : x->text > y->text;
}

/* Parse a hexadecimal number. Return: its end; NULL if there is none or it exceeds 64 bits. */
static char *take_address(char *s, uint64_t *addr)
{
	const char *at = strncmp(s, "0x", 2) ? s : s + 2;

	return tap_text_take_digits(&at, NULL, 16, addr) ? NULL : s + (at - s);
}

/* The kernel escapes newline, tab and quote as \n, \t and \", but not the backslash itself. */
static void unescape_text(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1] && strchr("nt\"", s[1])) {
			s++;
			*out++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : '"';
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

/* Parse a line: 0xffffffff82345678 : "text" */
static int add_text(struct table *t, char *line)
{
	uint64_t addr;
	char *s = take_address(line, &addr), *end;
	size_t len;

	if (!s || strncmp(s, " : \"", 4))
		return 0;
	s += 4;
	end = strrchr(s, '"');
	if (!end)
		return 0;
	*end = '\0';
	unescape_text(s);
	len = strlen(s);
	if (len && s[len - 1] == '\n')
		s[len - 1] = '\0';
	return add_symbol(t, addr, s);
}

/*
 * Parse a line: ffffffff81000000 T _text [module]. Absolute symbols (a, A) are offsets of per-CPU
 * variables (x86), and '$' marks the start of instructions or data (arm). Without the permission to
 * see addresses they are all 0.
 */
static int add_name(struct table *t, char *line)
{
	uint64_t addr;
	char *s = take_address(line, &addr);

	if (!s || !addr || *s != ' ' || !s[1] || s[2] != ' ' || strchr("aA", s[1]) || s[3] == '$')
		return 0;
	s += 3;
	s[strcspn(s, " \t")] = '\0';
	return *s ? add_symbol(t, addr, s) : 0;
}

static int read_lines(struct table *t, const char *text, int (*add_line)(struct table *, char *))
{
	unsigned int nr = 0;
	char *next;
	int ret = 0;

	t->copy = strdup(text);
	if (!t->copy)
		return -ENOMEM;
	for (char *line = t->copy; !ret && *line; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		ret = add_line(t, line);
	}
	if (t->unsorted)
		qsort(t->v, t->nr, sizeof(*t->v), by_address);
	for (unsigned int i = 0; i < t->nr; i++)
		if (!nr || t->v[nr - 1].addr != t->v[i].addr)
			t->v[nr++] = t->v[i];
	t->nr = nr;
	return ret;
}

/* Return the symbol with the highest address up to @addr, or NULL. */
static const struct symbol *find_symbol(const struct table *t, uint64_t addr)
{
	unsigned int from = 0, to = t->nr;

	while (from < to) {
		unsigned int mid = from + (to - from) / 2;

		if (t->v[mid].addr <= addr)
			from = mid + 1;
		else
			to = mid;
	}
	return from ? &t->v[from - 1] : NULL;
}

int tap_symbols_new(const char *printk, const char *kallsyms, struct tap_symbols **out)
{
	struct tap_symbols *s = calloc(1, sizeof(*s));
	int ret;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	ret = read_lines(&s->texts, printk, add_text);
	if (!ret)
		ret = read_lines(&s->names, kallsyms, add_name);
	if (ret)
		tap_symbols_free(s);
	else
		*out = s;
	return ret;
}

void tap_symbols_free(struct tap_symbols *s)
{
	if (!s)
		return;
	free(s->texts.copy);
	free(s->texts.v);
	free(s->names.copy);
	free(s->names.v);
	free(s);
}

const char *tap_symbols_text(const struct tap_symbols *s, uint64_t addr)
{
	const struct symbol *found = find_symbol(&s->texts, addr);

	return found && found->addr == addr ? found->text : NULL;
}

const char *tap_symbols_name(const struct tap_symbols *s, uint64_t addr, uint64_t *offset)
{
	const struct symbol *found = find_symbol(&s->names, addr);

	/* the size of the last symbol is unknown */
	if (!found || (addr != found->addr && found->addr == s->names.v[s->names.nr - 1].addr))
		return NULL;
	*offset = addr - found->addr;
	return found->text;
}
