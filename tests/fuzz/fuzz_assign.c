// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The input is the text of a TP_fast_assign(), optionally followed by a line "?" and the text of a
 * TP_CONDITION(). Either a BPF program can be made of it, or it is refused with a message whose
 * position lies in the text. The kernel's types are those of small_btf.h.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../small_btf.h"
#include "record/program/feed.h"
#include "record/program/recorder.h"
#include "check.h"

/* clang-format off */
#define NUMBER(name_, type_, offset_, size_, sign)                                                 \
	{ .name = name_, .type = type_, .offset = offset_, .size = size_, .elem_size = size_,      \
	  .is_signed = sign, .kind = TAP_FIELD_NUMBER }
/* clang-format on */
static const struct tap_field fields[] = {
	NUMBER("narrow", "u8", 8, 1, false),
	NUMBER("truth", "bool", 9, 1, false),
	NUMBER("half", "s16", 10, 2, true),
	NUMBER("word", "u32", 12, 4, false),
	NUMBER("wide", "s64", 16, 8, true),
	{ .name = "two",
	  .type = "u16",
	  .offset = 24,
	  .size = 4,
	  .elem_size = 2,
	  .kind = TAP_FIELD_ARRAY },
	{ .name = "comm",
	  .type = "char",
	  .offset = 28,
	  .size = 16,
	  .elem_size = 1,
	  .kind = TAP_FIELD_CHARS },
	{ .name = "text",
	  .type = "__data_loc char[]",
	  .offset = 44,
	  .size = 4,
	  .elem_size = 1,
	  .kind = TAP_FIELD_STRING },
	{ .name = "bits",
	  .type = "__data_loc unsigned long[]",
	  .offset = 48,
	  .size = 4,
	  .elem_size = 8,
	  .kind = TAP_FIELD_DYNAMIC },
};

static bool is_in(const char *at, const char *text)
{
	return text && at >= text && at <= text + strlen(text);
}

static void check(const struct tap_def *def)
{
	static struct btf *btf; /* for all */
	const bool absent[sizeof(fields) / sizeof(*fields)] = { [4] = true };
	struct tap_recorder_env env = {
		.btf = btf = btf ?: small_btf(), .nr_cpus = 4, .by_cpu = true, .by_task = true
	};
	struct tap_err err = { 0 };
	const char *at;
	int ret = tap_recorder_check(&env, def, &(struct tap_feed){ "one" }, absent, &at, &err);

	CHECK(!ret || ret == -EINVAL || ret == -E2BIG);
	CHECK(!ret == !*err.text && ret == err.code);
	if (ret == -EINVAL)
		CHECK(is_in(at, def->assign) || is_in(at, def->condition) || at == def->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1), *condition;
	struct tap_def def = {
		.system = "s",
		.name = "one",
		.params = "struct task_struct *p, long a, int b, unsigned char c, short d, bool e",
		.fields = fields,
		.nr_fields = sizeof(fields) / sizeof(*fields),
		.size = 52
	};

	CHECK(text);
	memcpy(text, data, size);
	condition = strstr(text, "\n?\n");
	if (condition) {
		*condition = '\0';
		def.condition = condition + 3;
	}
	def.assign = text;
	check(&def);
	free(text);
	return 0;
}
