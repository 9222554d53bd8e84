// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * program_fuzz load NUMBER [SEED]: as many programs of random definitions and filters, about what
 * this kernel's tracepoints pass. Each must be one that the kernel takes. Prints seed and text of
 * one that it refuses, with which it starts again. program_fuzz write FOLDER [SEED]: values.h,
 * events that compute with the registers of a system call; and values.c, which makes such calls if
 * it has an argument, and else prints what each event must have recorded of them, as a compiler
 * sees it.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "event/define/define.h"
#include "record/bpf/kernel.h"
#include "record/machine.h"
#include "record/program/feed.h"
#include "record/program/filter.h"
#include "record/program/recorder.h"
#include "record/program/tracepoints.h"
#include "own_functions.h"
#include "random_def.h"
#include "random_filter.h"

struct fuzz {
	struct tap_kernel *kernel;
	struct tap_type_names *types;
	struct tap_functions functions;
	struct bpf_object *obj;
	struct tap_recorder_env env;
	const char **tracepoints, **ours; /* ours: those that begin with sched_, or end with _tp */
	unsigned int nr, cap, nr_ours, cap_ours;
	unsigned int nr_defs, nr_filters; /* that the kernel took */
	unsigned int nr_too_large, nr_undecided; /* refused with a sentence: definitions, filters */
};

static void die(const char *what)
{
	fprintf(stderr, "program_fuzz: %s\n", what);
	exit(2);
}

/* ---- tracepoints ---- */

static void add_name(const char ***names, unsigned int *nr, unsigned int *cap, const char *name)
{
	if (tap_array_grow(names, *nr, cap, sizeof(**names)))
		die("out of memory");
	(*names)[(*nr)++] = name;
}

static void find_tracepoints(struct fuzz *z)
{
	uint32_t id = 0;
	const char *name;

	while ((name = tap_tracepoint_next(z->env.btf, &id))) {
		size_t len = strlen(name);

		add_name(&z->tracepoints, &z->nr, &z->cap, name);
		if (!strncmp(name, "sched_", 6) || (len > 3 && !strcmp(name + len - 3, "_tp")))
			add_name(&z->ours, &z->nr_ours, &z->cap_ours, name);
	}
	if (!z->nr_ours)
		die("no tracepoints");
}

static void begin(struct fuzz *z)
{
	int ret = tap_kernel_new(&z->kernel, NULL);

	if (ret == -EOPNOTSUPP) {
		puts("the kernel has no BTF");
		exit(3);
	}
	z->obj = ret ? NULL : load_functions(&z->functions);
	if (!z->obj)
		die("the functions of bpf/own.h cannot be loaded");
	z->env = (struct tap_recorder_env){ .btf = tap_kernel_btf(z->kernel),
					    .functions = &z->functions,
					    .nr_cpus = tap_machine_nr_cpus() };
	if (tap_type_names_new(z->env.btf, &z->types))
		die("out of memory");
	find_tracepoints(z);
}

static void end(struct fuzz *z)
{
	tap_type_names_free(z->types);
	tap_kernel_free(z->kernel);
	bpf_object__close(z->obj);
	free(z->tracepoints);
	free(z->ours);
}

/* ---- filters ---- */

/* What a filter cannot have is documented: what is looked up while the event is recorded, and what
 * fills no BPF program. */
static bool is_documented(const char *why)
{
	return strstr(why, "known before the event is recorded") ||
	       strstr(why, "too long for a BPF program");
}

static bool load_filter(struct fuzz *z, const struct tap_def *def, const char *tracepoint,
			const struct tap_filter *f, int recorder, struct tap_err *err)
{
	struct tap_filter_program p;
	int ret = tap_filter_program_load(&p, z->env.btf, def, &(struct tap_feed){ tracepoint }, f,
					  NULL, &(struct tap_filter_ways){ recorder }, err);

	if (!ret)
		tap_filter_program_release(&p);
	z->nr_filters += !ret;
	z->nr_undecided += ret && is_documented(err->text);
	return !ret || is_documented(err->text);
}

/* A filter of the event that @recorder records; it is closed. Return: whether the kernel took it,
 * or could not have it. */
static bool try_filter_of(struct fuzz *z, const struct tap_def *def, const char *tracepoint,
			  int recorder)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	struct tap_buf text = { 0 };
	struct tap_filter *f = NULL;
	struct tap_format *fmt;
	struct tap_err err = { 0 };
	bool ok;

	tap_kernel_absent(z->kernel, def, absent);
	if (tap_def_parse(def, absent, &fmt, &err))
		die(err.text);
	do { /* a number that no field can have is refused */
		tap_buf_clear(&text);
		add_filter(&text, fmt, 0);
	} while (tap_filter_new(fmt, tap_buf_str(&text), &f, NULL));
	ok = load_filter(z, def, tracepoint, f, recorder, &err);
	if (!ok)
		printf("%s\n%s: '%s'\n", err.text, def->name, tap_buf_str(&text));
	close(recorder);
	tap_filter_free(f);
	tap_format_free(fmt);
	tap_buf_release(&text);
	return ok;
}

/* ---- definitions ---- */

/* The arguments as what expressions are about. @params: as C has them, "struct rq *rq, int change".
 */
static void add_args(struct fuzz *z, struct random_def *d, const char *tracepoint,
		     const char *params)
{
	char text[160], arg[32];
	const struct btf_type *t;
	int id;

	snprintf(text, sizeof(text), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(z->env.btf, text, BTF_KIND_TYPEDEF);
	t = btf__type_by_id(
		z->env.btf,
		btf__type_by_id(z->env.btf, btf__type_by_id(z->env.btf, (uint32_t)id)->type)->type);
	for (unsigned int i = 1; i < btf_vlen(t) && *params; i++) {
		size_t len = strcspn(params, ",");
		const char *name = params + len;
		uint32_t type = btf_params(t)[i].type;
		enum found found = kind_of(d, &type);

		while (name > params && (name[-1] == '_' || (name[-1] | 32) >= 'a' ||
					 (name[-1] >= '0' && name[-1] <= '9')))
			name--;
		snprintf(arg, sizeof(arg), "%.*s", (int)(params + len - name), name);
		if (found == A_NUMBER)
			add_number_name(d, "%s", arg);
		else if (found == A_POINTER)
			add_pointer_name(d, arg, type);
		params += len + strspn(params + len, ", ");
	}
}

static void write_header(struct random_def *d, const char *tracepoint, const char *params,
			 struct tap_buf *out)
{
	char args[512] = "";
	size_t len = 0;

	for (const char *s = params; *s; s += strcspn(s, ","), s += *s == ',')
		len += (size_t)snprintf(args + len, sizeof(args) - len, "%s%.*s", len ? ", " : "",
					1, "x");
	tap_buf_printf(
		out,
		"#define TRACE_SYSTEM random\nTRACE_EVENT(random, TP_PROTO(%s), TP_ARGS(%s),\n",
		params, args);
	tap_buf_printf(out, "\tTP_STRUCT__entry(\n%s),\n", tap_buf_str(&d->fields));
	tap_buf_printf(out, "\tTP_fast_assign(\n%s),\n\tTP_printk(\"x\"));\n",
		       tap_buf_str(&d->ours));
	tap_buf_printf(out, "TRACE_HOOK(random, %s, TP_PROTO(%s), TP_ARGS(%s));\n", tracepoint,
		       params, args);
}

/* Return: whether the kernel took it, or it is too large for a record or a program, which is said.
 * @filter: one as well. */
static bool load_text(struct fuzz *z, const char *text, size_t len, const char *tracepoint,
		      bool filter)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	struct tap_defs defs = { 0 };
	struct tap_err err = { 0 };
	const char *at = NULL;
	int fd = tap_defs_read_text(&defs, "random.h", text, len, &err);

	if (!fd)
		fd = tap_recorder_load(&z->env, tap_defs_at(&defs, 0),
				       &(struct tap_feed){ tracepoint }, absent, &at, &err);
	if (fd >= 0) {
		z->nr_defs++;
		fd = filter && !try_filter_of(z, tap_defs_at(&defs, 0), tracepoint, fd) ? -EINVAL
											: 0;
	} else if (strstr(err.text, "is too large") ||
		   strstr(err.text, "too long for a BPF program")) {
		z->nr_too_large++;
		fd = 0;
	} else {
		if (at)
			tap_defs_fail(tap_defs_at(&defs, 0), at, &err, "%s", err.text);
		printf("%s\n", err.text);
	}
	if (fd < 0)
		printf("%s\n", text);
	tap_defs_release(&defs);
	return fd >= 0;
}

/* Return: one that has no function among its arguments. */
static const char *pick_tracepoint(struct fuzz *z, struct tap_buf *params)
{
	const char *name;

	do {
		name = one_in(2) ? pick(z->ours, z->nr_ours) : pick(z->tracepoints, z->nr);
		tap_buf_clear(params);
		if (tap_tracepoint_params(z->env.btf, z->types, name, params))
			die("a tracepoint that cannot be had");
	} while (strchr(tap_buf_str(params), '('));
	return name;
}

static bool try_def(struct fuzz *z)
{
	struct random_def d = { .btf = z->env.btf };
	struct tap_buf params = { 0 }, text = { 0 };
	const char *tracepoint = pick_tracepoint(z, &params);
	bool ok;

	add_args(z, &d, tracepoint, tap_buf_str(&params));
	make_def(&d);
	write_header(&d, tracepoint, tap_buf_str(&params), &text);
	ok = load_text(z, tap_buf_str(&text), text.len, tracepoint, d.whole);
	release_def(&d);
	tap_buf_release(&params);
	tap_buf_release(&text);
	return ok;
}

/* ---- built-in events ---- */

/* Return: one that this kernel can have, and its tracepoint. */
static const struct tap_def *pick_built_in(const struct fuzz *z, const char **tracepoint)
{
	unsigned int nr = 0;

	while (tap_def_at(nr))
		nr++;
	for (;;) {
		const struct tap_def *def = tap_def_at(random_below(nr));
		struct tap_buf why = { 0 };
		const struct tap_hook *hook = tap_kernel_hook(z->kernel, def, &why);

		tap_buf_release(&why);
		if (hook) {
			*tracepoint = hook->tracepoint;
			return def;
		}
	}
}

/* The one that makes a record of it need not be built in, and is made here. */
static bool try_built_in(struct fuzz *z)
{
	bool absent[TAP_FORMAT_MAX_FIELDS] = { 0 };
	struct tap_err err = { 0 };
	const char *tracepoint, *at;
	const struct tap_def *def = pick_built_in(z, &tracepoint);
	int recorder;

	tap_kernel_absent(z->kernel, def, absent);
	recorder = tap_recorder_load(&z->env, def, &(struct tap_feed){ tracepoint }, absent, &at,
				     &err);
	if (recorder >= 0)
		return try_filter_of(z, def, tracepoint, recorder);
	z->nr_undecided++;
	if (!is_of_object_alone(def, err.text))
		printf("%s: %s\n", def->name, err.text);
	return is_of_object_alone(def, err.text);
}

static int load(int left)
{
	struct fuzz z = { 0 };
	uint64_t first;
	bool ok = true;

	beyond = with_past = true;
	begin(&z);
	for (; left && ok; left--) {
		first = seed;
		ok = one_in(5) ? try_built_in(&z) : try_def(&z);
		if (!ok)
			printf("failed with seed %llu\n", (unsigned long long)first);
		/* a guest in which nothing is said for long is taken for one that hangs */
		if (left % 50 == 0) {
			printf("%d left\n", left);
			fflush(stdout);
		}
	}
	printf("%u definitions, %u filters; too large: %u, cannot be had: %u\n", z.nr_defs,
	       z.nr_filters, z.nr_too_large, z.nr_undecided);
	end(&z);
	return !ok;
}

/* ---- values ---- */

#define NR_EVENTS 60
#define NR_CALLS 24
#define OURS                                                                                       \
	"id == 110 && regs->r9 == 0x7461706f7572" /* getppid() with this one is a call of values.c \
						   */

/* What values.c has in common with the kernel: the registers in their order, and types that it has
 * of the kernel's ABI. */
static const char values_c[] =
	"#include <linux/ip.h>\n#include <linux/tcp.h>\n#include <linux/sched/types.h>\n"
	"#include <stdbool.h>\n#include <stdio.h>\n#include <sys/types.h>\n#include <unistd.h>\n"
	"typedef unsigned char u8;\ntypedef signed char s8;\ntypedef unsigned short u16;\ntypedef "
	"short s16;\n"
	"typedef unsigned int u32;\ntypedef int s32;\ntypedef unsigned long u64;\ntypedef long "
	"s64;\n"
	"#define __field(type, name) type name;\n#define __array(type, name, nr) type name[nr];\n"
	"#define __entry (&e)\n"
	"#define OF(a, b) __auto_type a_ = +(a); __auto_type b_ = +(b)\n"
	"#define IS_MINUS_1(type) ((type)-1 < 0 && (type)b_ == (type)-1)\n"
	"#define DIV(a, b) ({ OF(a, b); typedef __typeof__(a_ / b_) t_; !b_ ? (t_)0 : "
	"IS_MINUS_1(t_) ? -(t_)a_ : a_ / b_; })\n"
	"#define MOD(a, b) ({ OF(a, b); typedef __typeof__(a_ / b_) t_; !b_ || IS_MINUS_1(t_) ? "
	"(t_)0 : a_ % b_; })\n"
	"#define IS_FAR (b_ < 0 || b_ >= 8 * sizeof(a_ << 0))\n"
	"#define SHL(a, b) ({ OF(a, b); IS_FAR ? 0 : a_ << b_; })\n"
	"#define SHR(a, b) ({ OF(a, b); IS_FAR ? a_ < 0 ? -1 : 0 : a_ >> b_; })\n"
	"struct words { u64 r10, r9, r8, ax, cx, dx, si, di; };\n";

static const char *const words[] = {
	"regs->di",
	"regs->si",
	"regs->dx",
	"regs->r10",
	"id",
	"(s8)regs->si",
	"(s16)regs->si",
	"(s32)regs->si",
	"(u8)regs->di",
	"(u16)regs->di",
	"(u32)regs->di",
	"(bool)regs->dx",
	"((struct iphdr *)&regs->dx)->ihl",
	"((struct iphdr *)&regs->dx)->ttl",
	"((struct iphdr *)&regs->dx)->frag_off",
	"((struct iphdr *)&regs->dx)->saddr",
	"((struct tcphdr *)&regs->dx)->syn",
	"((struct tcphdr *)&regs->dx)->doff",
	"((struct tcphdr *)&regs->dx)->window",
	"((struct sched_attr *)&regs->dx)->sched_nice",
	"((struct sched_attr *)&regs->dx)->sched_priority",
	"((struct sched_attr *)&regs->dx)->sched_flags",
};

/* Return: the printf() conversion for a field of this C type. */
static const char *conversion(const char *type)
{
	bool is_unsigned = *type == 'u' || !strcmp(type, "bool");

	if (strstr(type, "64") || strstr(type, "long"))
		return is_unsigned ? "%llu" : "%lld";
	return is_unsigned ? "%u" : "%d";
}

/* The format, and what it prints. */
static void write_print(const struct random_def *d, struct tap_buf *out)
{
	tap_buf_puts(out, "k=%llu");
	for (unsigned int i = 0; i < d->nr; i++)
		tap_buf_printf(out, " %s", conversion(d->v[i].type));
}

static void write_printed(const struct random_def *d, struct tap_buf *out)
{
	tap_buf_puts(out, "__entry->k");
	for (unsigned int i = 0; i < d->nr; i++)
		tap_buf_printf(out, ", __entry->%s", d->v[i].name);
}

static void write_event(unsigned int nr, struct tap_buf *h, struct tap_buf *c)
{
	static const char hook[] = "TP_PROTO(struct pt_regs *regs, long id), TP_ARGS(regs, id)";
	struct random_def d = { 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		add_number_name(&d, "%s", words[i]);
	make_def(&d);
	tap_buf_printf(h, "TRACE_EVENT_CONDITION(v%u, %s, TP_CONDITION(" OURS "),\n", nr, hook);
	tap_buf_printf(h, "TP_STRUCT__entry(__field(u64, k)\n%s),\n", tap_buf_str(&d.fields));
	tap_buf_printf(h, "TP_fast_assign(__entry->k = regs->r8;\n%s),\nTP_printk(\"",
		       tap_buf_str(&d.ours));
	write_print(&d, h);
	tap_buf_puts(h, "\", ");
	write_printed(&d, h);
	tap_buf_printf(h, "));\nTRACE_HOOK(v%u, sys_enter, %s);\n", nr, hook);

	tap_buf_printf(c,
		       "static void v%u(struct words *regs, long id)\n{\nstruct { u64 k;\n%s} e = "
		       "{ 0 };\n",
		       nr, tap_buf_str(&d.fields));
	tap_buf_printf(c, "__entry->k = regs->r8;\n%sprintf(\"v%u: ", tap_buf_str(&d.c), nr);
	write_print(&d, c);
	tap_buf_puts(c, "\\n\", ");
	write_printed(&d, c);
	tap_buf_puts(c, ");\n}\n");
	release_def(&d);
}

static uint64_t register_value(void)
{
	uint64_t v = (uint64_t)random_below(UINT32_MAX) << 32 | random_below(UINT32_MAX);

	switch (random_below(4)) {
	case 0:
		return random_below(4) - 1u + (one_in(2) ? 0 : v << 32);
	case 1:
		return ((uint64_t)1 << random_below(64)) - random_below(2);
	case 2:
		return -(uint64_t)random_below(300);
	default:
		return v;
	}
}

static void write_main(struct tap_buf *c)
{
	tap_buf_puts(c, "static struct words calls[] = {\n");
	for (unsigned int k = 0; k < NR_CALLS; k++)
		tap_buf_printf(c,
			       "{ .di = %#llxu, .si = %#llxu, .dx = %#llxu, .r10 = %#llxu, .r8 = "
			       "%u, .r9 = 0x7461706f7572 },\n",
			       (unsigned long long)register_value(),
			       (unsigned long long)register_value(),
			       (unsigned long long)register_value(),
			       (unsigned long long)register_value(), k);
	tap_buf_puts(c, "};\nstatic void (*const events[])(struct words *, long) = {\n");
	for (unsigned int i = 0; i < NR_EVENTS; i++)
		tap_buf_printf(c, "v%u, ", i);
	tap_buf_printf(c,
		       "};\nint main(int argc, char **argv)\n{\nfor (int k = 0; k < %d; k++) "
		       "{\nstruct words *w = &calls[k];\n"
		       "if (argc > 1)\nsyscall(110, w->di, w->si, w->dx, w->r10, w->r8, w->r9);\n"
		       "for (int i = 0; argc < 2 && i < %d; i++)\nevents[i](w, 110);\n}\n}\n",
		       NR_CALLS, NR_EVENTS);
}

static void save(const char *folder, const char *name, struct tap_buf *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	if (!f || text->err || fwrite(text->data, text->len, 1, f) != 1 || fclose(f))
		die(path);
	tap_buf_release(text);
}

static int write_values(const char *folder)
{
	struct tap_buf h = { 0 }, c = { 0 };

	tap_buf_puts(&h, "#define TRACE_SYSTEM values\n");
	tap_buf_puts(&c, values_c);
	for (unsigned int i = 0; i < NR_EVENTS; i++)
		write_event(i, &h, &c);
	write_main(&c);
	save(folder, "values.h", &h);
	save(folder, "values.c", &c);
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		return 2;
	seed = argc > 3 ? strtoull(argv[3], NULL, 0) : tap_now_ns();
	if (!strcmp(argv[1], "load"))
		return load(atoi(argv[2]));
	return strcmp(argv[1], "write") ? 2 : write_values(argv[2]);
}
