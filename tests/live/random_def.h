/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random event definitions: fields and assignments of all kinds that use the arguments of a
 * tracepoint and what they point to. A definition is also written for a C compiler, with macros for
 * what C leaves undefined, so that its values can be computed independently.
 */
#ifndef TAP_TESTS_LIVE_RANDOM_DEF_H
#define TAP_TESTS_LIVE_RANDOM_DEF_H

#include <bpf/btf.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "random.h"

#define MAX_NAMES 64u
#define MAX_FIELDS 24u

struct random_def {
	const struct btf *btf; /* NULL: only numbers */
	struct tap_buf ours, c; /* TP_fast_assign(), for schedtap and for C */
	struct tap_buf fields; /* TP_STRUCT__entry() */
	char numbers[MAX_NAMES][96]; /* expressions that can be read */
	unsigned int nr_numbers;
	struct {
		char name[32];
		uint32_t type; /* BTF ID of the struct that it points to */
	} pointers[MAX_NAMES];
	unsigned int nr_pointers;
	struct {
		const char *type;
		char name[16]; /* "f3", "f4[1]" */
	} v[MAX_FIELDS]; /* number fields and array elements */
	unsigned int nr, nr_vars, nr_texts, nr_masks, nr_arrays;
	/* current nesting of blocks; maximum depth of expressions */
	unsigned int blocks, max_depth;
	/*
	 * All fields are numbers, each is assigned, and no value needs a lookup: a filter can use
	 * all of them.
	 */
	bool whole;
};

static void put(struct random_def *d, const char *ours)
{
	tap_buf_puts(&d->ours, ours);
	tap_buf_puts(&d->c, ours);
}

static void put_two(struct random_def *d, const char *ours, const char *c)
{
	tap_buf_puts(&d->ours, ours);
	tap_buf_puts(&d->c, c);
}

__attribute__((format(printf, 2, 3))) static void putf(struct random_def *d, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put(d, text);
}

static const char *number_type(void)
{
	return PICK("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "bool", "int",
		    "unsigned int", "long", "unsigned long", "short", "unsigned short",
		    "unsigned char", "signed char", "pid_t");
}

static void add_number_name(struct random_def *d, const char *fmt, const char *name)
{
	if (d->nr_numbers < MAX_NAMES)
		snprintf(d->numbers[d->nr_numbers++], sizeof(d->numbers[0]), fmt, name);
}

static void add_pointer_name(struct random_def *d, const char *name, uint32_t type)
{
	if (d->nr_pointers == MAX_NAMES)
		return;
	snprintf(d->pointers[d->nr_pointers].name, sizeof(d->pointers[0].name), "%s", name);
	d->pointers[d->nr_pointers++].type = type;
}

/* ---- what the arguments point to ---- */

enum found { NOTHING, A_NUMBER, A_POINTER, A_TEXT, TEXT_POINTER, A_PLACE };

static const struct btf_type *plain(const struct random_def *d, uint32_t *id)
{
	const struct btf_type *t = btf__type_by_id(d->btf, *id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t))) {
		*id = t->type;
		t = btf__type_by_id(d->btf, *id);
	}
	return t;
}

static bool is_number(const struct btf_type *t)
{
	return t && (btf_is_int(t) || btf_is_enum(t) || btf_is_enum64(t)) && t->size <= 8 &&
	       !(t->size & (t->size - 1));
}

static bool is_char(const struct random_def *d, uint32_t id)
{
	const struct btf_type *t = plain(d, &id);

	return t && btf_is_int(t) && t->size == 1;
}

/* Return the kind of a value of this type. */
static enum found kind_of(const struct random_def *d, uint32_t *id)
{
	const struct btf_type *t = plain(d, id), *to;
	uint32_t of;

	if (is_number(t))
		return A_NUMBER;
	if (t && btf_is_array(t))
		return is_char(d, btf_array(t)->type) && btf_array(t)->nelems ? A_TEXT : NOTHING;
	if (!t || !btf_is_ptr(t))
		return t && btf_is_composite(t) ? A_PLACE : NOTHING;
	of = t->type;
	to = plain(d, &of);
	if (to && btf_is_struct(to) && btf_vlen(to)) {
		*id = of;
		return A_POINTER;
	}
	return to && btf_is_int(to) && to->size == 1 ? TEXT_POINTER : NOTHING;
}

/*
 * Append a member of the struct to @path, and possibly one of its own members. @id: set to its
 * type, or to the type that a pointer points to.
 */
static enum found step(const struct random_def *d, char *path, size_t size, uint32_t *id,
		       const char *sign)
{
	const struct btf_type *t = plain(d, id), *array;
	const struct btf_member *m;
	const char *name;
	size_t len = strlen(path);
	enum found found;
	char index[16] = "";

	if (!t || !btf_is_composite(t) || !btf_vlen(t) || len > size - 100)
		return NOTHING;
	m = &btf_members(t)[random_below(btf_vlen(t))];
	name = btf__name_by_offset(d->btf, m->name_off);
	*id = m->type;
	if (!*name)
		return step(d, path, size, id, sign);
	array = plain(d, id);
	if (btf_is_array(array) && !is_char(d, btf_array(array)->type) &&
	    btf_array(array)->nelems) {
		snprintf(index, sizeof(index), "[%u]", random_below(btf_array(array)->nelems));
		*id = btf_array(array)->type;
	}
	snprintf(path + len, size - len, "%s%s%s", sign, name, index);
	found = kind_of(d, id);
	if (found == A_PLACE)
		return step(d, path, size, id, ".");
	if (found == A_POINTER && !one_in(3))
		return step(d, path, size, id, "->");
	return found;
}

/* Return: true if an expression of kind @want was found and stored in @path. */
static bool find_path(const struct random_def *d, char *path, size_t size, enum found want,
		      uint32_t *id)
{
	for (unsigned int try = 0; d->nr_pointers && try < 50; try++) {
		unsigned int i = random_below(d->nr_pointers);

		*id = d->pointers[i].type;
		snprintf(path, size, "%s", d->pointers[i].name);
		if (want == A_POINTER && one_in(4))
			return true;
		if (step(d, path, size, id, "->") == want)
			return true;
	}
	return false;
}

/* ---- expressions ---- */

static void add_literal(struct random_def *d)
{
	uint64_t v = one_in(2) ? random_below(10)
			       : ((uint64_t)1 << random_below(64)) + random_below(3) - 1;
	char text[48];

	if (one_in(12)) {
		put(d, PICK("'a'", "'\\n'", "'0'", "true", "false"));
		return;
	}
	snprintf(text, sizeof(text),
		 v > INT64_MAX || one_in(3) ? "0x%llx"
		 : one_in(6)		    ? "0%llo"
					    : "%llu",
		 (unsigned long long)v);
	putf(d, "%s%s", text, PICK("", "", "", "u", "l", "UL", "ll", "ull"));
}

/* Return a helper for a pointer to this type; NULL if there is none. */
static const char *word_of(const char *type)
{
	static const char *const words[][2] = {
		{ "task_struct", "tp_task_cpu(%s)" },
		{ "task_struct", "tp_task_group_dead(%s)" },
		{ "sched_entity", "tp_se_pid(%s)" },
		{ "sched_entity", "tp_se_cpu(%s)" },
		{ "sched_entity", "tp_se_cgroup(%s)" },
		{ "sched_entity", "tp_se_is_task(%s)" },
		{ "sched_entity", "tp_se_uclamp(%s, TP_UCLAMP_MAX)" },
		{ "cfs_rq", "tp_cfs_rq_cpu(%s)" },
		{ "cfs_rq", "tp_cfs_rq_cgroup(%s)" },
		{ "rq", "tp_rq_uclamp(%s, TP_UCLAMP_MIN)" },
		{ "rq", "tp_rq_capacity_orig(%s)" },
		{ "sched_avg", "tp_util_est_enqueued(%s)" },
		{ "sched_dl_entity", "tp_dl_is_server(%s)" },
		{ "sched_dl_entity", "tp_dl_pid(%s)" },
		{ "task_struct", "container_of(&%s->se, struct task_struct, se)->pid" },
	};
	const size_t nr = sizeof(words) / sizeof(*words);
	size_t first = random_below((uint32_t)nr);

	for (size_t i = 0; i < nr; i++)
		if (!strcmp(words[(first + i) % nr][0], type))
			return words[(first + i) % nr][1];
	return NULL;
}

/* Add a pointer as a number, or a helper's result for it. */
static void add_of_pointer(struct random_def *d)
{
	char path[256], text[512];
	const char *word, *name;
	uint32_t id;

	if (!find_path(d, path, sizeof(path), A_POINTER, &id)) {
		put(d, "1");
		return;
	}
	name = btf__name_by_offset(d->btf, btf__type_by_id(d->btf, id)->name_off);
	word = one_in(4) ? NULL : word_of(name);
	word = word && d->whole && strstr(word, "capacity") ? NULL : word;
	snprintf(text, sizeof(text),
		 word
			 ?: PICK("!%s", "(unsigned long)%s", "(u32)(u64)%s", "(%s != NULL)",
				 "(%s ? 1 : 2)"),
		 path);
	put(d, text);
}

static void add_member(struct random_def *d)
{
	char path[256];
	uint32_t id;

	if (!find_path(d, path, sizeof(path), A_NUMBER, &id))
		add_literal(d);
	else
		putf(d, one_in(6) ? "READ_ONCE(%s)" : "%s", path);
}

static void add_leaf(struct random_def *d)
{
	uint32_t what = random_below(10);

	if (what < 2)
		add_literal(d);
	else if (d->nr_pointers && what < 4)
		add_of_pointer(d);
	else if (d->nr_pointers && what < 8)
		add_member(d);
	else if (d->nr_pointers && what == 8)
		put(d, PICK("tp_current()->pid", "tp_current()->prio", "TASK_COMM_LEN",
			    d->whole ? "3" : "tp_nr_cpu_ids()"));
	else if (d->nr_numbers)
		put(d, d->numbers[random_below(d->nr_numbers)]);
	else
		add_literal(d);
}

static void add_expr(struct random_def *d, unsigned int depth);

static void add_in_parens(struct random_def *d, unsigned int depth)
{
	put(d, "(");
	add_expr(d, depth);
	put(d, ")");
}

/* Add an operation that C may leave undefined; the C version uses a macro. */
static void add_checked(struct random_def *d, unsigned int depth)
{
	static const char *const ops[][2] = {
		{ " / ", "DIV(" }, { " % ", "MOD(" }, { " << ", "SHL(" }, { " >> ", "SHR(" }
	};
	uint32_t i = random_below(4);

	put_two(d, "(", ops[i][1]);
	add_in_parens(d, depth);
	put_two(d, ops[i][0], ", ");
	add_in_parens(d, depth);
	put(d, ")");
}

static void add_binary(struct random_def *d, unsigned int depth)
{
	bool parens = !one_in(4);

	put(d, parens ? "(" : "");
	add_expr(d, depth);
	put(d, PICK(" + ", " - ", " * ", " & ", " | ", " ^ ", " < ", " <= ", " > ",
		    " >= ", " == ", " != ", " && ", " || "));
	add_expr(d, depth);
	put(d, parens ? ")" : "");
}

static void add_expr(struct random_def *d, unsigned int depth)
{
	if (depth >= d->max_depth || one_in(4)) {
		add_leaf(d);
		return;
	}
	depth++;
	switch (random_below(10)) {
	case 0:
		put(d, PICK("-", "~", "!", "!!", "+"));
		add_in_parens(d, depth);
		break;
	case 1:
	case 2:
		putf(d, "(%s)", number_type());
		add_in_parens(d, depth);
		break;
	case 3:
		put(d, "(");
		add_in_parens(d, depth);
		put(d, " ? ");
		add_expr(d, depth);
		put(d, " : ");
		add_expr(d, depth);
		put(d, ")");
		break;
	case 4:
	case 5:
	case 6:
		add_checked(d, depth);
		break;
	default:
		add_binary(d, depth);
	}
}

/* ---- statements ---- */

static void add_assignment(struct random_def *d, const char *to)
{
	static const char *const ops[][3] = {
		{ "/=", "DIV" },
		{ "%=", "MOD" },
		{ "<<=", "SHL" },
		{ ">>=", "SHR" },
	};
	uint32_t i = random_below(16);

	if (i < 4) {
		char c[160];

		snprintf(c, sizeof(c), " = %s(%s, ", ops[i][1], to);
		put(d, to);
		put_two(d, " ", c);
		put_two(d, ops[i][0], "");
		put_two(d, " ", "");
		add_expr(d, 1);
		put_two(d, "", ")");
	} else {
		putf(d, "%s %s ", to, i < 9 ? PICK("+=", "-=", "*=", "&=", "|=", "^=") : "=");
		add_expr(d, 0);
	}
	put(d, ";\n");
}

static void add_number_statement(struct random_def *d)
{
	char to[48];

	snprintf(to, sizeof(to), "__entry->%s", d->v[random_below(d->nr)].name);
	add_assignment(d, to);
	if (!strchr(to, '['))
		add_number_name(d, "%s", to);
}

static void add_variable(struct random_def *d)
{
	char name[16], path[256];
	uint32_t id;

	snprintf(name, sizeof(name), "v%u", d->nr_vars++);
	if (one_in(2) && find_path(d, path, sizeof(path), A_POINTER, &id)) {
		const char *of = btf__name_by_offset(d->btf, btf__type_by_id(d->btf, id)->name_off);

		if (*of) {
			putf(d, "struct %s *%s = %s;\n", of, name, path);
			add_pointer_name(d, name, id);
			return;
		}
	}
	putf(d, "%s %s = ", number_type(), name);
	add_expr(d, 0);
	put(d, ";\n");
	add_number_name(d, "%s", name);
}

/* Only variables can be changed; arguments belong to the caller. */
static void change_variable(struct random_def *d)
{
	for (unsigned int i = d->nr_numbers; i--;) {
		if (d->numbers[i][0] != 'v' || !strchr("0123456789", d->numbers[i][1]))
			continue;
		if (one_in(4))
			putf(d, one_in(2) ? "%s++;\n" : "%s--;\n", d->numbers[i]);
		else
			add_assignment(d, d->numbers[i]);
		return;
	}
	add_variable(d);
}

static void add_text(struct random_def *d)
{
	char path[256];
	uint32_t id;

	if (!d->nr_texts ||
	    !find_path(d, path, sizeof(path), one_in(3) ? TEXT_POINTER : A_TEXT, &id))
		return;
	switch (random_below(3)) {
	case 0:
		putf(d, "strscpy(__entry->t0, %s, 16);\n", path);
		break;
	case 1:
		putf(d, "memcpy(__entry->t0, %s, %u);\n", path, 1 + random_below(16));
		break;
	default:
		putf(d, "__assign_str(t%u, %s);\n", 1 + random_below(d->nr_texts - 1), path);
	}
}

static void add_bytes(struct random_def *d)
{
	char path[256];
	uint32_t id;

	if (d->nr_masks && one_in(2) && find_path(d, path, sizeof(path), A_POINTER, &id))
		putf(d, "__assign_bitmask(m0, %s, %u);\n", path, 1 + random_below(300));
	else if (d->nr_texts)
		put(d, one_in(2) ? "tp_comm(__entry->t0, tp_current());\n"
				 : "memcpy(__entry->t0, tp_current()->comm, TASK_COMM_LEN);\n");
}

static void add_statement(struct random_def *d);

static void add_block(struct random_def *d)
{
	unsigned int nr_numbers = d->nr_numbers, nr_pointers = d->nr_pointers;

	put(d, "{\n");
	for (unsigned int i = 1 + random_below(3); i; i--)
		add_statement(d);
	put(d, "}\n");
	d->nr_numbers = nr_numbers;
	d->nr_pointers = nr_pointers;
}

static void add_if(struct random_def *d)
{
	d->blocks++;
	put(d, "if (");
	add_expr(d, 1);
	put(d, ")\n");
	if (one_in(3))
		add_number_statement(d);
	else
		add_block(d);
	if (one_in(2)) {
		put(d, "else ");
		add_block(d);
	}
	d->blocks--;
}

static void add_statement(struct random_def *d)
{
	switch (random_below(12)) {
	case 0:
		add_variable(d);
		break;
	case 1:
		change_variable(d);
		break;
	case 2:
		if (d->blocks < 2) {
			add_if(d);
			break;
		}
		/* fall through */
	case 3:
		if (d->btf) {
			add_text(d);
			break;
		}
		/* fall through */
	case 4:
		if (d->btf) {
			add_bytes(d);
			break;
		}
		/* fall through */
	default:
		add_number_statement(d);
	}
}

/* ---- fields ---- */

static void add_fields(struct random_def *d)
{
	/* TP_printk() allows at most 20 arguments */
	unsigned int nr = 1 + random_below(d->btf ? MAX_FIELDS - 4 : 11);

	while (d->nr < nr) {
		const char *type = number_type();
		unsigned int elements = d->nr && one_in(8) ? 1 + random_below(3) : 0;

		if (elements)
			tap_buf_printf(&d->fields, "\t\t__array(%s, a%u, %u)\n", type, d->nr,
				       elements);
		else
			tap_buf_printf(&d->fields, "\t\t__field(%s, f%u)\n", type, d->nr);
		for (unsigned int i = 0, of = d->nr; i < (elements ?: 1); i++) {
			d->v[d->nr].type = type;
			snprintf(d->v[d->nr].name, sizeof(d->v[0].name),
				 elements ? "a%u[%u]" : "f%u", of, i);
			d->nr++;
		}
	}
	if (!d->btf || d->whole)
		return;
	if (one_in(2)) {
		tap_buf_puts(&d->fields, "\t\t__array(char, t0, 16)\n\t\t__string(t1, NULL)\n");
		d->nr_texts = 2;
	}
	if (one_in(3)) {
		tap_buf_puts(&d->fields, "\t\t__bitmask(m0, 300)\n");
		d->nr_masks = 1;
	}
}

static void make_def(struct random_def *d)
{
	d->max_depth = 2 + random_below(one_in(4) ? 3 : 2);
	d->whole = one_in(4);
	add_fields(d);
	for (unsigned int i = 0; d->whole && i < d->nr; i++) {
		putf(d, "__entry->%s = ", d->v[i].name);
		add_expr(d, d->max_depth - 1);
		put(d, ";\n");
	}
	for (unsigned int i = 1 + random_below(one_in(10) ? 24 : 6); i; i--)
		add_statement(d);
}

static void release_def(struct random_def *d)
{
	tap_buf_release(&d->ours);
	tap_buf_release(&d->c);
	tap_buf_release(&d->fields);
}

#endif
