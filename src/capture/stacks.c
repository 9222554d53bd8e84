// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "capture/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "capture/machine.h"
#include "print/symbols.h"
#include "stack_maps.h"

struct tap_stacks {
	struct tap_symbols *symbols;
	bool named; /* the kernel's functions */
	struct tap_map kernel, user; /* number -> text, owned */
};

int tap_stacks_new(struct tap_stacks **out, struct tap_err *err)
{
	struct tap_stacks *s = calloc(1, sizeof(*s));
	struct tap_buf kallsyms = { 0 };
	int ret;

	*out = NULL;
	if (!s)
		return tap_err_set(err, -ENOMEM, "out of memory");
	tap_machine_symbols(&kallsyms);
	s->named = kallsyms.len;
	ret = tap_symbols_new("", tap_buf_str(&kallsyms), &s->symbols);
	tap_buf_release(&kallsyms);
	if (ret) {
		tap_stacks_free(s);
		return tap_err_set(err, ret, "out of memory");
	}
	*out = s;
	return 0;
}

void tap_stacks_free(struct tap_stacks *s)
{
	if (!s)
		return;
	tap_symbols_free(s->symbols);
	tap_machine_release_texts(&s->kernel);
	tap_machine_release_texts(&s->user);
	free(s);
}

bool tap_stacks_name_kernel(const struct tap_stacks *s)
{
	return s->named;
}

/* The functions that call a tracepoint's program, from the tracepoint inwards. */
static bool is_own(const char *name)
{
	static const char *const prefixes[] = { "__traceiter_", "__bpf_trace_", "bpf_trace_run" };

	for (size_t i = 0; name && i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* How many frames are of who read the stack. */
static unsigned int count_own(const struct tap_stacks *s, const uint64_t *addrs, unsigned int nr)
{
	unsigned int own = 0;
	uint64_t offset;

	for (unsigned int i = 0; i < nr && i < TAP_STACK_OWN_FRAMES; i++)
		if (is_own(tap_symbols_name(s->symbols, addrs[i], &offset)))
			own = i + 1;
	return own;
}

/* As ftrace prints a frame, in a string of a format text. */
static void add_frame(struct tap_buf *text, const char *name)
{
	tap_buf_puts(text, "\n => ");
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			tap_buf_char(text, '\\');
		tap_buf_char(text, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
	}
}

/* An address is told to who may see where the kernel is. */
static void add_kernel_frame(const struct tap_stacks *s, uint64_t addr, struct tap_buf *text)
{
	uint64_t offset;
	const char *name = tap_symbols_name(s->symbols, addr, &offset);
	char number[24];

	snprintf(number, sizeof(number), "0x%" PRIx64, addr);
	add_frame(text, name ?: s->named ? number : "?");
}

int tap_stacks_add(struct tap_stacks *s, const struct tap_stack_new *stack, unsigned int nr)
{
	bool user = stack->tgid;
	unsigned int from = user ? 0 : count_own(s, (const uint64_t *)stack->addrs, nr);
	struct tap_buf text = { 0 };
	int ret;

	for (unsigned int i = from; i < nr && i - from < stack->depth; i++)
		add_kernel_frame(s, stack->addrs[i], &text);
	tap_buf_str(&text);
	ret = text.err ?: tap_map_set(user ? &s->user : &s->kernel, stack->number, (uint64_t)(uintptr_t)text.data);
	if (ret)
		tap_buf_release(&text);
	return ret;
}

const struct tap_map *tap_stacks_texts(const struct tap_stacks *s, bool user)
{
	return user ? &s->user : &s->kernel;
}
