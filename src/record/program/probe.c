// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/program/probe.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/opt.h"
#include "file/symbol/elf_file.h"

#define MAX_NAMES 4096u /* candidates for "did you mean" */
#define MAX_EVENT_NAME 90u

static const struct {
	const char *group;
	unsigned int colons; /* after the path */
} kinds[] = {
	[TAP_PROBE_USDT] = { "usdt", 2 },
	[TAP_PROBE_ENTRY] = { "uprobe", 1 },
	[TAP_PROBE_RETURN] = { "uretprobe", 1 },
};

static int kind_of(const char *word)
{
	const struct span group = { word, strcspn(word, ":") };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (span_is(group, kinds[i].group))
			return (int)i;
	return -1;
}

bool tap_probe_is(const char *word)
{
	int kind = kind_of(word);
	unsigned int colons = 0;

	for (size_t i = 0, len = strcspn(word, "{"); kind >= 0 && i < len; i++)
		colons += word[i] == ':';
	return kind >= 0 && colons > kinds[kind].colons;
}

/* ---- the word ---- */

/* Split off the text after the last colon. */
static struct span take_last(struct span *s)
{
	size_t len = 0;
	struct span last;

	while (len < s->len && s->s[s->len - len - 1] != ':')
		len++;
	last = (struct span){ s->s + s->len - len, len };
	s->len -= len + (len < s->len);
	return last;
}

/*
 * Return true if a text can be embedded unquoted in a header and in a probe's word: no control
 * characters and none of @without.
 */
static bool is_plain(const char *s, const char *without)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || strchr(without, *s))
			return false;
	return true;
}

/* Split off an offset such as "+0x10" after a symbol. Return: false: not a number. */
static bool split_offset(struct tap_probe *p)
{
	const char *plus = memchr(p->name.s, '+', p->name.len);
	char digits[24], *end;

	if (!plus)
		return true;
	snprintf(digits, sizeof(digits), "%.*s", (int)(p->name.s + p->name.len - plus - 1),
		 plus + 1);
	p->offset = strtoull(digits, &end, 0);
	p->name.len = (size_t)(plus - p->name.s);
	return isdigit((unsigned char)*digits) && !*end;
}

static int split_word(struct tap_probe *p, struct span *path, struct tap_err *err)
{
	const char *word = p->word;
	struct span rest = { word, strlen(word) };

	if (tap_probe_is(word)) {
		p->kind = (enum tap_probe_kind)kind_of(word);
		p->name = take_last(&rest);
		if (p->kind == TAP_PROBE_USDT)
			p->group = take_last(&rest);
		path->s = word + strlen(kinds[p->kind].group) + 1;
		path->len = (size_t)(rest.s + rest.len - path->s);
	}
	if (!path->len || !p->name.len || (p->kind == TAP_PROBE_USDT && !p->group.len))
		return tap_err_set(
			err, -EINVAL,
			"probe '%.200s' is incomplete: expected usdt:PATH:PROVIDER:NAME, "
			"uprobe:PATH:SYMBOL or uretprobe:PATH:SYMBOL",
			word);
	if (!is_plain(word, "\"\\{}"))
		return tap_err_set(err, -EINVAL,
				   "'%.200s': a probe cannot contain quotes, backslashes or braces",
				   word);
	if (p->kind == TAP_PROBE_USDT)
		return 0;
	if (!split_offset(p) || !p->name.len)
		return tap_err_set(err, -EINVAL,
				   "'%.200s': only +OFFSET (a number) may follow the symbol", word);
	if (p->kind == TAP_PROBE_RETURN && p->offset)
		return tap_err_set(err, -EINVAL, "'%.200s': a uretprobe cannot have an offset",
				   word);
	return 0;
}

/* ---- the file ---- */

/* Library folders searched after LD_LIBRARY_PATH. */
#define LIBRARY_PATH                                                                               \
	"/lib64:/usr/lib64:/lib/" TAP_MULTIARCH ":/usr/lib/" TAP_MULTIARCH                         \
	":/lib:/usr/lib:/usr/local/lib"
#ifdef __aarch64__
#define TAP_MULTIARCH "aarch64-linux-gnu"
#else
#define TAP_MULTIARCH "x86_64-linux-gnu"
#endif

/*
 * Find a file in one of the folders of a colon-separated list. Return: owned path; NULL: not found.
 */
static char *find_in(const char *folders, const char *name)
{
	for (size_t len; folders && *folders; folders += len + (folders[len] == ':')) {
		char path[PATH_MAX];

		len = strcspn(folders, ":");
		if (len &&
		    snprintf(path, sizeof(path), "%.*s/%s", (int)len, folders, name) <
			    (int)sizeof(path) &&
		    !access(path, R_OK))
			return realpath(path, NULL);
	}
	return NULL;
}

/*
 * Return true for "/proc/PID/root/...": realpath() would resolve that link to "/" and leave the
 * process's mount namespace.
 */
static bool is_below_root(const char *name)
{
	const char *pid = strncmp(name, "/proc/", 6) ? NULL : name + 6,
		   *end = pid ? strchr(pid, '/') : NULL;

	return end && !strncmp(end, "/root/", 6);
}

/* Find a file by path, or by name a library or a program. Return: owned path; NULL: not found. */
static char *find_file(const char *name)
{
	char *found = NULL;

	if (is_below_root(name))
		return access(name, F_OK) ? NULL : strdup(name);
	if (strchr(name, '/'))
		return realpath(name, NULL);
	if (strstr(name, ".so"))
		found = find_in(getenv("LD_LIBRARY_PATH"), name) ?: find_in(LIBRARY_PATH, name);
	return found ?: find_in(getenv("PATH"), name);
}

static int open_file(struct span path, char **file, struct tap_elf *elf, struct tap_err *err)
{
	char name[PATH_MAX];
	int ret;

	if (path.len >= sizeof(name))
		return tap_err_set(err, -EINVAL,
				   "the path of the probed file is longer than %d bytes",
				   PATH_MAX - 1);
	snprintf(name, sizeof(name), "%.*s", (int)path.len, path.s);
	*file = find_file(name);
	if (!*file)
		return tap_err_set(err, -errno, "cannot find the program or library '%.300s': %m",
				   name);
	ret = is_plain(*file, "\"\\{}:") ? tap_elf_open(elf, *file, err)
					 : tap_err_set(err, -EINVAL,
						       "'%.300s': a probe's path cannot contain "
						       "quotes, backslashes, braces or colons",
						       *file);
	if (ret) {
		free(*file);
		*file = NULL;
	}
	return ret;
}

/* ---- places ---- */

/* State while a file is read. */
struct reader {
	struct tap_probe *p;
	const struct tap_elf *elf;
	char **names; /* owned: other names in the file, for suggestions */
	unsigned int nr_names, cap_names;
	bool is_chosen; /* the symbol is an IFUNC, resolved at load time */
	struct tap_err *err;
};

static bool same_arg(const struct tap_probe_arg *a, const struct tap_probe_arg *b)
{
	return a->type.size == b->type.size && a->type.is_signed == b->type.is_signed &&
	       a->place == b->place && a->reg == b->reg && a->index == b->index &&
	       a->shift == b->shift && a->scale == b->scale && a->num == b->num && a->why == b->why;
}

static bool same_way(const struct tap_probe_way *a, const struct tap_probe_way *b)
{
	for (unsigned int i = 0; a->nr_args == b->nr_args && i < a->nr_args; i++)
		if (!same_arg(&a->args[i], &b->args[i]))
			return false;
	return a->nr_args == b->nr_args;
}

/*
 * Find or add a way: the locations of all arguments at a place. Return: its index; -ENOMEM;
 * -E2BIG if there are too many.
 */
static int find_way(struct tap_probe *p, const struct tap_probe_way *way)
{
	for (unsigned int i = 0; i < p->nr_ways; i++)
		if (same_way(&p->ways[i], way))
			return (int)i;
	if (p->nr_ways == TAP_PROBE_MAX_WAYS)
		return -E2BIG;
	if (tap_array_grow(&p->ways, p->nr_ways, &p->cap_ways, sizeof(*p->ways)))
		return -ENOMEM;
	p->ways[p->nr_ways] = *way;
	if (way->nr_args > p->nr_args)
		p->nr_args = way->nr_args;
	return (int)p->nr_ways++;
}

/*
 * Add a place. A place that was added already is ignored, because two symbols may name one
 * function.
 */
static int add_site(struct reader *r, uint64_t address, uint64_t semaphore,
		    const struct tap_probe_way *way)
{
	struct tap_probe *p = r->p;
	struct tap_probe_site site = { 0 };
	int index;

	if (!tap_elf_offset(r->elf, address, true, &site.offset) ||
	    (semaphore && !tap_elf_offset(r->elf, semaphore, false, &site.semaphore)) ||
	    site.semaphore > UINT32_MAX)
		return tap_err_set(
			r->err, -EINVAL,
			"'%.300s' is damaged: the probe's address is not in the file's code",
			p->path);
	for (unsigned int i = 0; i < p->nr_sites; i++)
		if (p->sites[i].offset == site.offset)
			return 0;
	index = p->nr_sites < TAP_PROBE_MAX_SITES ? find_way(p, way) : -E2BIG;
	if (index == -E2BIG)
		return tap_err_set(r->err, -EINVAL,
				   "'%.300s' contains the probe at more than %u addresses, or with "
				   "more than %u different argument layouts",
				   p->path, TAP_PROBE_MAX_SITES, TAP_PROBE_MAX_WAYS);
	if (index < 0 || tap_array_grow(&p->sites, p->nr_sites, &p->cap_sites, sizeof(site)))
		return tap_err_nomem(r->err);
	site.way = (unsigned int)index;
	p->sites[p->nr_sites++] = site;
	return 0;
}

/*
 * Remember a name for suggestions. If memory is short or there are too many, fewer can be
 * suggested.
 */
static void keep_name(struct reader *r, const char *group, const char *name)
{
	if (r->nr_names < MAX_NAMES &&
	    !tap_array_grow(&r->names, r->nr_names, &r->cap_names, sizeof(*r->names)) &&
	    asprintf(&r->names[r->nr_names], "%s%s%s", group, *group ? ":" : "", name) >= 0)
		r->nr_names++;
}

static int damaged_notes(const char *path, struct tap_err *err)
{
	return tap_err_set(err, -EINVAL, "the USDT notes (.note.stapsdt) in '%.300s' are damaged",
			   path);
}

/* ---- USDT ---- */

struct symbol {
	struct span name;
	uint64_t address;
	unsigned int nr; /* number of different addresses */
};

static int match_symbol(void *ctx, const char *name, const GElf_Sym *sym)
{
	struct symbol *s = ctx;

	if (!span_is(s->name, name) || (s->nr && s->address == sym->st_value))
		return 0;
	s->address = sym->st_value;
	s->nr++;
	return 0;
}

/*
 * Resolve a symbol as in "counter(%rip)": its distance from the probe is the same in memory as in
 * the file.
 */
static void resolve_symbol(const struct reader *r, uint64_t address, struct tap_probe_arg *a)
{
	struct symbol s = { .name = a->symbol };

	if (a->why || !a->symbol.s)
		return;
	tap_elf_symbols(r->elf, match_symbol, &s);
	a->num += s.address - address;
	if (s.nr != 1)
		a->why = s.nr ? "several symbols have this name"
			      : "the file has no such symbol: it may be stripped";
}

static int add_note(struct reader *r, const struct tap_usdt_note *note)
{
	struct tap_probe *p = r->p;
	struct tap_probe_way way;
	char *args;

	if (tap_array_grow(&p->texts, p->nr_texts, &p->cap_texts, sizeof(*p->texts)) ||
	    !(args = strdup(note->args)))
		return tap_err_nomem(r->err);
	p->texts[p->nr_texts++] = args;
	way.nr_args = tap_probe_args_read(args, r->elf->machine, way.args);
	for (unsigned int i = 0; i < way.nr_args; i++)
		resolve_symbol(r, note->address, &way.args[i]);
	return add_site(r, note->address, note->semaphore, &way);
}

static int match_note(void *ctx, const struct tap_usdt_note *note)
{
	struct reader *r = ctx;

	if (span_is(r->p->group, note->provider) && span_is(r->p->name, note->name))
		return add_note(r, note);
	keep_name(r, note->provider, note->name);
	return 0;
}

static int refuse_name(struct reader *r, const char *what, const char *word)
{
	const char *near = tap_nearest(word, (const char *const *)r->names, r->nr_names);

	if (r->p->kind == TAP_PROBE_USDT && !near)
		return tap_err_set(r->err, -ENOENT, "'%.300s' has no USDT probe '%.100s'%s%.300s%s",
				   r->p->path, word,
				   r->nr_names ? ": 'schedtap list usdt:"
					       : ": the file has no USDT probes at all",
				   r->nr_names ? r->p->path : "",
				   r->nr_names ? "' lists its probes" : "");
	if (r->p->kind != TAP_PROBE_USDT && !near && tap_elf_is_stripped(r->elf))
		return tap_err_set(r->err, -ENOENT,
				   "'%.300s' has no function '%.100s': the file is stripped, so it "
				   "names only exported functions",
				   r->p->path, word);
	return tap_err_set(r->err, -ENOENT, "'%.300s' has no %s '%.100s'%s%.100s%s", r->p->path,
			   what, word, near ? ": did you mean '" : "", near ?: "",
			   near ? "'?" : "");
}

static int read_notes(struct reader *r)
{
	int ret = tap_elf_notes(r->elf, match_note, r);
	char word[204];

	if (ret == -EBADMSG)
		return damaged_notes(r->p->path, r->err);
	if (ret)
		return ret;
	snprintf(word, sizeof(word), "%.*s:%.*s", (int)r->p->group.len, r->p->group.s,
		 (int)r->p->name.len, r->p->name.s);
	return r->p->nr_sites ? 0 : refuse_name(r, "USDT probe", word);
}

/* ---- functions ---- */

static void way_of_function(const struct tap_probe *p, unsigned int machine,
			    struct tap_probe_way *way)
{
	way->nr_args = 0;
	if (p->kind == TAP_PROBE_RETURN)
		way->nr_args = tap_probe_args_of_function(machine, -1, way->args);
	else
		while (tap_probe_args_of_function(machine, (int)way->nr_args,
						  &way->args[way->nr_args]))
			way->nr_args++;
}

static int match_function(void *ctx, const char *name, const GElf_Sym *sym)
{
	struct reader *r = ctx;
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	struct tap_probe_way way;

	if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return 0;
	if (!span_is(r->p->name, name)) {
		keep_name(r, "", name);
		return 0;
	}
	r->is_chosen |= type == STT_GNU_IFUNC;
	if (type == STT_GNU_IFUNC)
		return 0;
	if (r->p->offset && r->p->offset >= sym->st_size)
		return tap_err_set(r->err, -EINVAL,
				   "function '%.100s' in '%.300s' has %" PRIu64
				   " bytes: offset +0x%" PRIx64 " is beyond the function's end",
				   name, r->p->path, sym->st_size, r->p->offset);
	way_of_function(r->p, r->elf->machine, &way);
	return add_site(r, sym->st_value + r->p->offset, 0, &way);
}

static int read_functions(struct reader *r)
{
	int ret = tap_elf_symbols(r->elf, match_function, r);
	char word[104];

	snprintf(word, sizeof(word), "%.*s", r->p->name.len < 100 ? (int)r->p->name.len : 100,
		 r->p->name.s);
	if (ret)
		return ret;
	if (r->is_chosen)
		return tap_err_set(r->err, -EINVAL,
				   "'%s' in '%.300s' is an IFUNC, which is resolved to one of "
				   "several functions at load time: name one of those functions",
				   word, r->p->path);
	return r->p->nr_sites ? 0 : refuse_name(r, "function", word);
}

/* ---- a probe ---- */

static int read_file(struct tap_probe *p, struct tap_err *err)
{
	struct reader r = { .p = p, .err = err };
	struct tap_elf elf;
	struct span path = { 0 };
	int ret = split_word(p, &path, err) ?: open_file(path, &p->path, &elf, err);

	if (ret)
		return ret;
	r.elf = &elf;
	p->machine = elf.machine;
	ret = p->kind == TAP_PROBE_USDT ? read_notes(&r) : read_functions(&r);
	while (r.nr_names)
		free(r.names[--r.nr_names]);
	free(r.names);
	tap_elf_close(&elf);
	return ret;
}

int tap_probe_new(struct span word, struct tap_probe **out, struct tap_err *err)
{
	struct tap_probe *p = calloc(1, sizeof(*p));
	int ret;

	*out = NULL;
	if (p)
		p->word = strndup(word.s, word.len);
	ret = p && p->word ? read_file(p, err) : tap_err_nomem(err);
	if (ret)
		tap_probe_free(p);
	else
		*out = p;
	return ret;
}

void tap_probe_free(struct tap_probe *p)
{
	if (!p)
		return;
	free(p->word);
	while (p->nr_texts)
		free(p->texts[--p->nr_texts]);
	free(p->texts);
	free(p->ways);
	free(p->sites);
	free(p->path);
	free(p);
}

/* ---- names ---- */

void tap_probe_word(const struct tap_probe *p, struct tap_buf *out)
{
	tap_buf_printf(out, "%s:%s:", kinds[p->kind].group, p->path);
	if (p->kind == TAP_PROBE_USDT)
		tap_buf_printf(out, "%.*s:", (int)p->group.len, p->group.s);
	tap_buf_add(out, p->name.s, p->name.len);
	if (p->offset)
		tap_buf_printf(out, "+0x%" PRIx64, p->offset);
}

const char *tap_probe_group(const struct tap_probe *p)
{
	return kinds[p->kind].group;
}

void tap_probe_event_name(const struct tap_probe *p, struct tap_buf *out)
{
	char text[MAX_EVENT_NAME + 1];

	snprintf(text, sizeof(text), "%.*s%s%.*s", (int)p->group.len, p->group.s ?: "",
		 p->group.len ? "_" : "", (int)p->name.len, p->name.s);
	if (isdigit((unsigned char)*text))
		tap_buf_char(out, '_');
	for (const char *c = text; *c; c++)
		tap_buf_char(out, is_word(*c) ? *c : '_');
	if (p->offset)
		tap_buf_printf(out, "_0x%" PRIx64, p->offset);
}

void tap_probe_arg_name(const struct tap_probe *p, unsigned int arg, char name[8])
{
	snprintf(name, 8, p->kind == TAP_PROBE_RETURN ? "retval" : "arg%u", arg % 100);
}

struct tap_ctype tap_probe_arg_type(const struct tap_probe *p, unsigned int arg)
{
	struct tap_ctype widest = { 0 };

	for (unsigned int i = 0; i < p->nr_ways; i++)
		if (arg < p->ways[i].nr_args && p->ways[i].args[arg].type.size > widest.size)
			widest = p->ways[i].args[arg].type;
	return widest;
}

void tap_probe_add_type(struct tap_ctype type, struct tap_buf *out)
{
	tap_buf_printf(out, "%c%u", type.is_signed ? 's' : 'u', type.size * 8);
}

/* ---- a file's probes ---- */

struct lister {
	const char *path;
	unsigned int machine;
	char **lines; /* owned */
	unsigned int nr, cap;
};

static int add_line(void *ctx, const struct tap_usdt_note *note)
{
	struct lister *l = ctx;
	struct tap_probe_arg args[TAP_PROBE_MAX_ARGS];
	unsigned int nr = tap_probe_args_read(note->args, l->machine, args);
	struct tap_buf line = { 0 };

	tap_buf_printf(&line, "usdt:%s:%s:%s(", l->path, note->provider, note->name);
	for (unsigned int i = 0; i < nr; i++) {
		tap_buf_puts(&line, i ? ", " : "");
		tap_probe_add_type(args[i].type, &line);
		tap_buf_printf(&line, " arg%u", i);
	}
	tap_buf_char(&line, ')');
	tap_buf_str(&line);
	if (line.err || tap_array_grow(&l->lines, l->nr, &l->cap, sizeof(*l->lines))) {
		tap_buf_release(&line);
		return -ENOMEM;
	}
	l->lines[l->nr++] = line.data;
	return 0;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void write_lines(struct lister *l, struct tap_buf *out)
{
	if (l->nr)
		qsort(l->lines, l->nr, sizeof(*l->lines), compare_lines);
	for (unsigned int i = 0, nr; i < l->nr; i += nr) {
		for (nr = 1; i + nr < l->nr && !strcmp(l->lines[i], l->lines[i + nr]); nr++)
			;
		tap_buf_puts(out, l->lines[i]);
		if (nr > 1)
			tap_buf_printf(out, " in %u places", nr);
		tap_buf_char(out, '\n');
	}
}

int tap_probe_list(const char *path, struct tap_buf *out, struct tap_err *err)
{
	struct lister l = { 0 };
	struct tap_elf elf;
	char *file;
	int ret = open_file((struct span){ path, strlen(path) }, &file, &elf, err);

	if (ret)
		return ret;
	l.path = file;
	l.machine = elf.machine;
	ret = tap_elf_notes(&elf, add_line, &l);
	if (ret == -ENOMEM)
		tap_err_set(err, ret, "out of memory");
	else if (ret)
		ret = damaged_notes(file, err);
	else if (!l.nr)
		ret = tap_err_set(err, -ENODATA, "'%.300s' has no USDT probes", file);
	else
		write_lines(&l, out);
	while (l.nr)
		free(l.lines[--l.nr]);
	free(l.lines);
	free(file);
	tap_elf_close(&elf);
	return ret;
}
