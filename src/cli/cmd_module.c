// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * schedtap module: build and load the kernel module that turns bare tracepoints into trace events.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record/module/build.h"
#include "record/module/layout.h"
#include "record/module/load.h"
#include "record/module/types.h"
#include "cli/cmd.h"

#define BUILT "/var/lib/schedtap"
#define EVENTS "/sys/kernel/tracing/events/" TAP_MODULE_NAME

struct module_opts {
	const char *types, *kernel_src, *symvers, *source, *out, *arch, *cross;
	bool llvm;
};

static const struct tap_opt module_opts[] = {
	TAP_OPTION(struct module_opts, types, "btf", 'b', "FILE", TAP_OPT_STRING,
		   "read kernel types from this BTF file, vmlinux or vmlinuz [those of the headers "
		   "or this kernel]"),
	TAP_OPTION(struct module_opts, kernel_src, "kernel-src", 'k', "PATH", TAP_OPT_STRING,
		   "for build: kernel headers, a built kernel tree, or on arm64 kheaders.tar.xz "
		   "[headers of the running kernel]"),
	TAP_OPTION(struct module_opts, symvers, "symvers", 0, "FILE", TAP_OPT_STRING,
		   "for build from kheaders.tar.xz: the kernel's Module.symvers"),
	TAP_OPTION(struct module_opts, out, "output", 'o', "DIR", TAP_OPT_STRING,
		   "folder where the module is built, and from which it is loaded [" BUILT
		   "/RELEASE]"),
	TAP_OPTION(struct module_opts, source, "source", 's', "DIR", TAP_OPT_STRING,
		   "for build: the module's source, a folder with kmod/ and events/ "
		   "[" TAP_MODULE_SOURCE "]"),
	TAP_OPTION(struct module_opts, arch, "arch", 0, "ARCH", TAP_OPT_STRING,
		   "for build: the kernel's ARCH, such as arm64 [this machine's]"),
	TAP_OPTION(struct module_opts, cross, "cross-compile", 0, "PREFIX", TAP_OPT_STRING,
		   "for build: the compiler's prefix, such as aarch64-linux-gnu-"),
	TAP_OPTION(struct module_opts, llvm, "llvm", 0, NULL, TAP_OPT_FLAG,
		   "for build: compile with clang and lld"),
	{ 0 }
};

static int print_layout(const struct module_opts *o, struct tap_err *err)
{
	const char *path = o->types ? o->types : TAP_RUNNING_TYPES;
	struct tap_buf out = { 0 };
	struct btf *btf;
	int ret = tap_types_open(path, &btf, err);

	if (ret)
		return ret;
	ret = tap_layout_write(btf, path, &out, err);
	if (!ret && tap_write_all(STDOUT_FILENO, out.data, out.len))
		ret = tap_err_set(err, -errno,
				  "cannot write the layout of the kernel's structs: %m");
	tap_buf_release(&out);
	btf__free(btf);
	return ret;
}

/* Return the folder in which the module is built, and from which it is loaded. */
static void folder_of(const struct module_opts *o, char *path, size_t size)
{
	struct utsname running;

	uname(&running);
	if (o->out)
		snprintf(path, size, "%s", o->out);
	else
		snprintf(path, size, BUILT "/%s", running.release);
}

static int build_module(const struct module_opts *o, struct tap_err *err)
{
	char out[PATH_MAX];
	struct tap_module_build b = {
		.source = o->source ? o->source : TAP_MODULE_SOURCE,
		.kernel_src = o->kernel_src,
		.symvers = o->symvers,
		.types = o->types,
		.out = out,
		.arch = o->arch,
		.cross = o->cross,
		.llvm = o->llvm,
	};
	int ret;

	if (o->kernel_src && !o->out) /* the default folder is for the running kernel */
		return tap_err_set(err, -EINVAL,
				   "--kernel-src needs --output DIR, the folder to build in");
	folder_of(o, out, sizeof(out));
	if (!o->out && mkdir(BUILT, 0755) && errno != EEXIST)
		return tap_err_set(err, -errno, "cannot make the folder '" BUILT "': %m");
	ret = tap_module_build(&b, err);
	if (!ret)
		printf("built %s/" TAP_MODULE_NAME ".ko\n", out);
	return ret;
}

/* Load the module, after building it if it does not exist. */
static int load_module(const struct module_opts *o, struct tap_err *err)
{
	char dir[PATH_MAX - 16], path[PATH_MAX];
	int ret = tap_module_check(err);

	if (ret)
		return ret;
	folder_of(o, dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/" TAP_MODULE_NAME ".ko", dir);
	if (access(path, F_OK))
		ret = build_module(o, err);
	if (ret)
		return ret;
	ret = tap_module_load(path, err);
	if (!ret)
		printf("loaded: %s has its events\n", EVENTS);
	return ret;
}

static int unload_module(struct tap_err *err)
{
	int ret = tap_module_check(err);

	return ret ? ret : tap_module_unload(err);
}

static bool is_enabled(const char *event)
{
	struct tap_buf text = { .max = PATH_MAX };
	char path[PATH_MAX];
	bool is;

	snprintf(path, sizeof(path), EVENTS "/%s/enable", event);
	is = !tap_buf_read_file(&text, path) && text.len && *text.data != '0';
	tap_buf_release(&text);
	return is;
}

static int print_status(struct tap_err *err)
{
	struct dirent **names;
	int nr;

	nr = tap_module_check(err);
	if (nr)
		return nr;
	if (access("/sys/module/" TAP_MODULE_NAME, F_OK))
		return tap_err_set(err, -ENOENT, "the schedtap module is not loaded");
	nr = scandir(EVENTS, &names, NULL, alphasort);
	if (nr < 0)
		return tap_err_set(err, -errno,
				   "the schedtap module is loaded, but '" EVENTS
				   "' cannot be read: %m");
	puts("loaded");
	for (int i = 0; i < nr; i++) {
		if (names[i]->d_type == DT_DIR && *names[i]->d_name != '.')
			printf("%-28s%s\n", names[i]->d_name,
			       is_enabled(names[i]->d_name) ? "enabled" : "");
		free(names[i]);
	}
	free(names);
	return 0;
}

static int run_module(void *opts, const struct tap_strings *operands, char **rest)
{
	const char *verb = operands->nr == 1 ? operands->v[0] : "";
	struct tap_err err = { 0 };
	int ret;

	(void)rest;
	libbpf_set_print(NULL);
	if (!strcmp(verb, "layout"))
		ret = print_layout(opts, &err);
	else if (!strcmp(verb, "build"))
		ret = build_module(opts, &err);
	else if (!strcmp(verb, "load"))
		ret = load_module(opts, &err);
	else if (!strcmp(verb, "unload"))
		ret = unload_module(&err);
	else if (!strcmp(verb, "status"))
		ret = print_status(&err);
	else
		ret = tap_err_set(&err, -EINVAL,
				  "expected one of build, load, unload, status and layout: see "
				  "'schedtap help module'");
	return ret ? tap_cmd_fail(&err, !*verb || ret == -EINVAL) : TAP_EXIT_OK;
}

const struct tap_cmd tap_cmd_module = {
	.name = "module",
	.help = "build, load and unload the kernel module",
	.exits = "0 done, 1 failed, 2 usage error, 3 missing privilege or kernel feature",
	.operands = "build|load|unload|status|layout",
	.example = "schedtap module layout",
	.opts = module_opts,
	.opts_size = sizeof(struct module_opts),
	.run = run_module,
};
