/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The types of a kernel that is made up, which has one tracepoint: one(p, a, b, c, d, e) of the
 * types in small_btf(). */
#ifndef TAP_TESTS_SMALL_BTF_H
#define TAP_TESTS_SMALL_BTF_H

#include <bpf/btf.h>
#include <stdbool.h>

/* The layout must be that of small_btf(). */
struct task_struct {
	int pid;
	unsigned int low : 3;
	int high : 5;
	unsigned char small;
	signed char below;
	unsigned long mask[2];
	struct task_struct *parent;
	char *name;
	char comm[16];
};

enum {
	INT = 1,
	UNSIGNED,
	U8,
	S8,
	ULONG,
	LONG,
	SHORT,
	BOOL,
	CHAR,
	MASK,
	COMM,
	TASK,
	TO_TASK,
	TO_CHAR,
	TO_VOID,
	NR_SMALL
};

static inline void add_task(struct btf *btf)
{
	btf__add_array(btf, INT, ULONG, 2);
	btf__add_array(btf, INT, CHAR, 16);
	btf__add_struct(btf, "task_struct", sizeof(struct task_struct));
	btf__add_field(btf, "pid", INT, 0, 0);
	btf__add_field(btf, "low", UNSIGNED, 32, 3);
	btf__add_field(btf, "high", INT, 35, 5);
	btf__add_field(btf, "small", U8, 40, 0);
	btf__add_field(btf, "below", S8, 48, 0);
	btf__add_field(btf, "mask", MASK, 64, 0);
	btf__add_field(btf, "parent", TO_TASK, 192, 0);
	btf__add_field(btf, "name", TO_CHAR, 256, 0);
	btf__add_field(btf, "comm", COMM, 320, 0);
	btf__add_ptr(btf, TASK);
	btf__add_ptr(btf, CHAR);
	btf__add_ptr(btf, 0);
}

static inline void add_tracepoint(struct btf *btf)
{
	static const int types[] = { TO_VOID, TO_TASK, LONG, INT, U8, SHORT, BOOL };
	static const char *const names[] = { "__data", "p", "a", "b", "c", "d", "e" };
	int proto = btf__add_func_proto(btf, 0);

	for (unsigned int i = 0; i < sizeof(types) / sizeof(*types); i++)
		btf__add_func_param(btf, names[i], types[i]);
	btf__add_func(btf, "__traceiter_one", BTF_FUNC_STATIC, proto);
	btf__add_typedef(btf, "btf_trace_one", btf__add_ptr(btf, proto));
}

/* Return: the caller's to free. */
static inline struct btf *small_btf(void)
{
	struct btf *btf = btf__new_empty();

	btf__set_pointer_size(btf, 8);
	btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	btf__add_int(btf, "unsigned int", 4, 0);
	btf__add_int(btf, "unsigned char", 1, 0);
	btf__add_int(btf, "signed char", 1, BTF_INT_SIGNED);
	btf__add_int(btf, "unsigned long", 8, 0);
	btf__add_int(btf, "long", 8, BTF_INT_SIGNED);
	btf__add_int(btf, "short", 2, BTF_INT_SIGNED);
	btf__add_int(btf, "_Bool", 1, BTF_INT_BOOL);
	btf__add_int(btf, "char", 1, BTF_INT_CHAR);
	add_task(btf);
	btf__add_enum(btf, "", 4);
	btf__add_enum_value(btf, "TASK_COMM_LEN", 16);
	add_tracepoint(btf);
	return btf;
}

#endif
