// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/module/build.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "record/module/layout.h"
#include "record/module/types.h"

#define MAX_FILE_BYTES ((size_t)16 << 20)

struct build {
	const struct tap_module_build *opts;
	struct utsname running;
	char kernel_src[PATH_MAX], release[256], out[PATH_MAX];
	char *config; /* text of auto.conf, or of autoconf.h; owned */
	bool headers_alone; /* true: headers without kbuild, as in kheaders.tar.xz */
	char symvers[PATH_MAX]; /* "": none */
	char types_of[PATH_MAX]; /* file that .types were read from */
	struct btf *types;
	char compiler[PATH_MAX];
	bool llvm, other_compiler; /* compiler differs from the one that built the kernel */
	char *args[24], *strings[20]; /* arguments of make; .strings are owned */
	struct tap_err *err;
};

/* ---- files ---- */

static int path_of(struct build *b, char *to, const char *dir, const char *name)
{
	int len = snprintf(to, PATH_MAX, "%s/%s", dir, name);

	return len < PATH_MAX ? 0
			      : tap_err_set(b->err, -ENAMETOOLONG,
					    "the path '%.200s/...' is too long", dir);
}

static int write_file(struct build *b, const char *path, const struct tap_buf *bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), ret;

	ret = fd < 0 ? -errno : tap_write_all(fd, bytes->data, bytes->len);
	if (fd >= 0 && close(fd) && !ret)
		ret = -errno;
	errno = -ret;
	return ret ? tap_err_set(b->err, ret, "cannot write '%.300s': %m", path) : 0;
}

/* Return: the file's text, owned by the caller; NULL: it cannot be read. */
static char *text_of(struct build *b, const char *dir, const char *name)
{
	struct tap_buf bytes = { .max = MAX_FILE_BYTES };
	char path[PATH_MAX], *text = NULL;

	if (!path_of(b, path, dir, name) && !tap_buf_read_file(&bytes, path))
		text = strdup(tap_buf_str(&bytes));
	tap_buf_release(&bytes);
	return text;
}

static int copy_into(struct build *b, const char *from, const char *dir)
{
	struct tap_buf bytes = { .max = MAX_FILE_BYTES };
	char to[PATH_MAX];
	int ret = path_of(b, to, dir, strrchr(from, '/') + 1);

	if (!ret && (ret = tap_buf_read_file(&bytes, from)))
		tap_err_set(b->err, ret, "cannot read '%.300s': %s", from, strerror(-ret));
	ret = ret ?: write_file(b, to, &bytes);
	tap_buf_release(&bytes);
	return ret;
}

/*
 * Create a folder. Refuse an existing one that another user can write to: that user could redirect
 * the files, or have another module built.
 */
static int make_dir(struct build *b, const char *path)
{
	struct stat st;

	if (!mkdir(path, 0755))
		return 0;
	if (errno != EEXIST || lstat(path, &st))
		return tap_err_set(b->err, -errno, "cannot make the folder '%.300s': %m", path);
	if (!S_ISDIR(st.st_mode))
		return tap_err_set(b->err, -ENOTDIR, "cannot build in '%.300s': it is not a folder",
				   path);
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & S_IWOTH)
		return tap_err_set(b->err, -EPERM,
				   "cannot build in '%.300s': other users can write to it", path);
	return 0;
}

/* Copy source/@sub/@pattern to @dir. */
static int copy_all(struct build *b, const char *sub, const char *pattern, const char *dir)
{
	glob_t found = { 0 };
	char path[PATH_MAX], all[PATH_MAX];
	int ret = path_of(b, path, b->opts->source, sub) ?: path_of(b, all, path, pattern);

	if (!ret && glob(all, 0, NULL, &found))
		ret = tap_err_set(b->err, -ENOENT,
				  "the module's sources are not in '%.200s': give their folder "
				  "with --source, or install schedtap's module sources",
				  b->opts->source);
	for (size_t i = 0; !ret && i < found.gl_pathc; i++)
		ret = copy_into(b, found.gl_pathv[i], dir);
	globfree(&found);
	return ret;
}

static int make_out(struct build *b)
{
	char old[PATH_MAX];
	int ret = make_dir(b, b->opts->out);

	if (!ret && !realpath(b->opts->out, b->out))
		ret = tap_err_set(b->err, -errno, "cannot find '%.300s': %m", b->opts->out);
	ret = ret ?: path_of(b, old, b->out, "schedtap.ko");
	if (!ret)
		unlink(old); /* so that a failed build leaves no module to load */
	return ret;
}

static int put_sources(struct build *b)
{
	static const char *const files[] = { "*.[ch]", "Kbuild", "kheaders.mk" };
	char events[PATH_MAX];
	int ret = path_of(b, events, b->out, "events") ?: make_dir(b, events);

	for (size_t i = 0; !ret && i < sizeof(files) / sizeof(*files); i++)
		ret = copy_all(b, "kmod", files[i], b->out);
	return ret ?: copy_all(b, "events", "*.h", events);
}

/* ---- programs ---- */

static bool in_path(const char *program)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	if (strchr(program, '/'))
		return !access(program, X_OK);
	while (path && *path) {
		size_t len = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, program);
		if (!access(file, X_OK))
			return true;
		path += len + (path[len] == ':');
	}
	return false;
}

/* Report the first error in the log of make, or its first line if no error is found. */
static void first_error(struct build *b, const char *log)
{
	static const char *const signs[] = { "error: ", "ERROR: ", "not found", "***" };
	static const char *const too_old[] = { "unknown argument",
					       "unrecognized command-line option" };
	struct tap_buf text = { .max = MAX_FILE_BYTES };
	const char *all, *at = NULL, *from, *hint = "";
	int len;

	if (tap_buf_read_file(&text, log)) {
		tap_err_set(b->err, -EIO, "make failed, and its log '%.300s' cannot be read", log);
		return;
	}
	all = tap_buf_str(&text);
	for (size_t i = 0; !at && i < sizeof(signs) / sizeof(*signs); i++)
		at = strstr(all, signs[i]);
	for (from = at ? at : all; from > all && from[-1] != '\n'; from--)
		;
	len = (int)strcspn(from, "\n");
	for (size_t i = 0; i < sizeof(too_old) / sizeof(*too_old); i++)
		if (memmem(from, (size_t)len, too_old[i], strlen(too_old[i])))
			hint = ": this kernel needs a newer compiler";
	tap_err_set(b->err, -EIO, "the module could not be built (full log: %.200s): %.*s%s", log,
		    len, from, hint);
	tap_buf_release(&text);
}

/* Run a program; its output goes to make.log. */
static int run_program(struct build *b, char **args)
{
	char log[PATH_MAX];
	int status = 0, ret = path_of(b, log, b->out, "make.log"), fd;
	pid_t pid;

	if (ret)
		return ret;
	if (!in_path(args[0]))
		return tap_err_set(b->err, -ENOENT, "%s is missing: install the package %s",
				   args[0], args[0]);
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return tap_err_set(b->err, -errno, "cannot write '%.300s': %m", log);
	pid = fork();
	if (!pid) {
		unsetenv("MAKEFLAGS"); /* set if make runs this program */
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execvp(args[0], args);
		_exit(127);
	}
	if (pid < 0)
		ret = tap_err_set(b->err, -errno, "cannot start %s: %m", args[0]);
	close(fd);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		first_error(b, log);
	return status ? -EIO : ret;
}

/* ---- the kernel ---- */

/*
 * Copy the word after @key, as in NAME=word or #define NAME "word". Return: false: @key is not in
 * @text.
 */
static bool value_of(const char *text, const char *key, char *to, size_t size)
{
	const char *at = text ? strstr(text, key) : NULL;

	if (at) {
		at += strlen(key);
		at += strspn(at, "= \"");
		snprintf(to, size, "%.*s", (int)strcspn(at, " \"\n"), at);
	}
	return at;
}

/* Unpack an archive of headers, such as /sys/kernel/kheaders.tar.xz. */
static int unpack_headers(struct build *b, const char *archive)
{
	char *args[] = { "sh",
			 "-c",
			 "rm -rf \"$2\" && mkdir \"$2\" && tar -xf \"$1\" -C \"$2\"",
			 "sh",
			 (char *)archive,
			 b->kernel_src,
			 NULL };
	int ret = path_of(b, b->kernel_src, b->out, "kheaders");

	if (!ret && !in_path("xz"))
		ret = tap_err_set(b->err, -ENOENT, "xz is missing: install the package xz-utils");
	ret = ret ?: run_program(b, args);
	if (ret == -EIO)
		tap_err_set(b->err, ret,
			    "cannot unpack '%.300s': it is not an archive of kernel headers",
			    archive);
	return ret;
}

/* Return: 0; -ENOENT: kernel_src has no kernel headers. */
static int read_headers(struct build *b)
{
	/* include/config/kernel.release does not do: on Debian it may differ from uname -r */
	char *release = text_of(b, b->kernel_src, "include/generated/utsrelease.h");

	value_of(release, "UTS_RELEASE", b->release, sizeof(b->release));
	free(release);
	b->config = text_of(b, b->kernel_src, "include/config/auto.conf");
	b->headers_alone = !b->config;
	if (b->headers_alone)
		b->config = text_of(b, b->kernel_src, "include/generated/autoconf.h");
	return *b->release && b->config ? 0 : -ENOENT;
}

/* Refuse kernels for which a module built by kheaders.mk, without kbuild, could crash. */
static int check_headers_alone(struct build *b)
{
	static const struct {
		const char *on, *what;
	} refused[] = {
		{ "CONFIG_CFI 1\n", "the kernel checks call targets (CONFIG_CFI)" },
		{ "CONFIG_CFI_CLANG 1\n", "the kernel checks call targets (CONFIG_CFI_CLANG)" },
		{ "CONFIG_RANDSTRUCT 1\n",
		  "the kernel's structs are shuffled (CONFIG_RANDSTRUCT)" },
		{ "CONFIG_GCC_PLUGIN_RANDSTRUCT 1\n",
		  "the kernel's structs are shuffled (CONFIG_GCC_PLUGIN_RANDSTRUCT)" },
		{ "CONFIG_CPU_BIG_ENDIAN 1\n", "the kernel is big-endian" },
	};
	const char *what =
		strstr(b->config, "CONFIG_ARM64 1\n") ? NULL : "the kernel is not for arm64";

	for (size_t i = 0; !what && i < sizeof(refused) / sizeof(*refused); i++)
		if (strstr(b->config, refused[i].on))
			what = refused[i].what;
	if (!what)
		return 0;
	return tap_err_set(b->err, -EOPNOTSUPP,
			   "'%.300s' contains kernel headers without kbuild, which do not suffice "
			   "because %s: give the kernel's headers package or its built tree",
			   b->kernel_src, what);
}

/*
 * Check the architecture, because a compiler of another one fails with unclear messages or not at
 * all.
 */
static int check_arch(struct build *b)
{
	static const struct {
		const char *arch, *machine, *on;
	} known[] = {
		{ "x86", "x86_64", "CONFIG_X86=y\n" },
		{ "arm64", "aarch64", "CONFIG_ARM64=y\n" },
	};
	const char *arch = b->opts->arch ? b->opts->arch : b->running.machine, *theirs = NULL,
		   *ours = NULL;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (strstr(b->config, known[i].on))
			theirs = known[i].arch;
		if (!strcmp(arch, known[i].arch) || !strcmp(arch, known[i].machine))
			ours = known[i].arch;
	}
	if (!theirs || !ours || theirs == ours)
		return 0;
	return tap_err_set(b->err, -EINVAL,
			   "'%.300s' contains kernel headers for %s, not for %s: use --arch %s",
			   b->kernel_src, theirs, ours, theirs);
}

static int find_kernel(struct build *b)
{
	const char *given = b->opts->kernel_src;
	struct stat st;
	int ret = 0;

	uname(&b->running);
	if (given && !stat(given, &st) && S_ISREG(st.st_mode))
		ret = unpack_headers(b, given);
	else if (given && !realpath(given, b->kernel_src))
		ret = tap_err_set(b->err, -errno, "cannot find '%.300s': %m", given);
	else if (!given)
		snprintf(b->kernel_src, PATH_MAX, "/lib/modules/%s/build", b->running.release);
	if (ret)
		return ret;
	if (!read_headers(b))
		return b->headers_alone ? check_headers_alone(b) : check_arch(b);
	if (given)
		return tap_err_set(b->err, -ENOENT,
				   "'%.300s' has no kernel headers: it is neither a headers "
				   "package's folder, nor a built kernel tree, nor kheaders.tar.xz",
				   given);
	return tap_err_set(
		b->err, -ENOENT,
		"the headers of this kernel are missing: install the package linux-headers-%.100s, "
		"or name a folder or kheaders.tar.xz with --kernel-src",
		b->running.release);
}

/*
 * Find the kernel's types: those given by the caller, or else vmlinux among the headers, which
 * newer packages have, or else those of the kernel itself.
 */
static int find_types(struct build *b)
{
	bool is_running = !strcmp(b->release, b->running.release);
	struct tap_err ignored;

	if (b->opts->types) {
		snprintf(b->types_of, PATH_MAX, "%s", b->opts->types);
		return tap_types_open(b->types_of, &b->types, b->err);
	}
	snprintf(b->types_of, PATH_MAX, "%.4000s/vmlinux", b->kernel_src);
	if (!tap_types_open(b->types_of, &b->types, &ignored))
		return 0;
	if (is_running)
		snprintf(b->types_of, PATH_MAX, TAP_RUNNING_TYPES);
	else /* an installed kernel that is not running */
		snprintf(b->types_of, PATH_MAX, "/boot/vmlinuz-%s", b->release);
	if (is_running || !access(b->types_of, F_OK))
		return tap_types_open(b->types_of, &b->types, b->err);
	return tap_err_set(b->err, -ENOENT,
			   "the type information of kernel %.100s is missing: give its vmlinux, "
			   "its vmlinuz or its BTF with --btf",
			   b->release);
}

/*
 * Find Module.symvers, the symbols that a kernel exports to modules and their checksums.
 * kheaders.tar.xz does not contain it.
 */
static int find_symvers(struct build *b)
{
	int ret = path_of(b, b->symvers, b->kernel_src, "Module.symvers");

	if (!ret && b->opts->symvers && !realpath(b->opts->symvers, b->symvers))
		return tap_err_set(b->err, -errno, "cannot read '%.300s': %m", b->opts->symvers);
	if (!ret && access(b->symvers, R_OK))
		*b->symvers = '\0';
	return ret;
}

static int put_layout(struct build *b)
{
	struct tap_buf text = { 0 };
	char path[PATH_MAX];
	int ret = tap_layout_write(b->types, b->types_of, &text, b->err);

	ret = ret ?: path_of(b, path, b->out, "layout.h") ?: write_file(b, path, &text);
	tap_buf_release(&text);
	return ret;
}

/* ---- the compiler ---- */

static int find_llvm(struct build *b)
{
	snprintf(b->compiler, sizeof(b->compiler), "clang");
	if (!in_path("clang") || !in_path("ld.lld"))
		return tap_err_set(
			b->err, -ENOENT,
			"clang or ld.lld is missing: install the packages clang and lld");
	if (b->headers_alone && !in_path("llvm-nm"))
		return tap_err_set(b->err, -ENOENT, "llvm-nm is missing: install the package llvm");
	return 0;
}

static bool has_compiler(struct build *b, const char *prefix, const char *name)
{
	snprintf(b->compiler, sizeof(b->compiler), "%s%s", prefix, name);
	return in_path(b->compiler);
}

/* Find gcc, or the newest gcc-VERSION. */
static bool has_gcc(struct build *b, const char *prefix)
{
	char name[16];

	if (has_compiler(b, prefix, "gcc"))
		return true;
	for (unsigned int version = 30; version >= 8; version--) {
		snprintf(name, sizeof(name), "gcc-%u", version);
		if (has_compiler(b, prefix, name))
			return true;
	}
	return false;
}

/*
 * Find the compiler. The headers name the one that built the kernel, which may not have been a
 * cross compiler as it is here; otherwise use another gcc.
 */
static int find_compiler(struct build *b)
{
	const char *cross = b->opts->cross ? b->opts->cross : "";
	char theirs[256] = "";

	b->llvm = b->opts->llvm || strstr(b->config, "CONFIG_CC_IS_CLANG=y\n") ||
		  strstr(b->config, "CONFIG_CC_IS_CLANG 1\n");
	if (b->llvm)
		return find_llvm(b);
	if (b->headers_alone && !*cross && strcmp(b->running.machine, "aarch64"))
		return tap_err_set(b->err, -EINVAL,
				   "'%.300s' contains headers of an arm64 kernel: give "
				   "--cross-compile aarch64-linux-gnu-, or --llvm",
				   b->kernel_src);
	/* the value is text such as "gcc-12 (Debian ...": use its first word */
	value_of(b->config, "CONFIG_CC_VERSION_TEXT", theirs, sizeof(theirs));
	if (*theirs && has_compiler(b, strncmp(theirs, cross, strlen(cross)) ? cross : "", theirs))
		return 0;
	b->other_compiler = true;
	if (has_gcc(b, cross))
		return 0;
	return tap_err_set(b->err, -ENOENT, "no compiler was found: install the package %s%s",
			   *cross ? "gcc-" : "gcc",
			   *cross ? "aarch64-linux-gnu (or that of your architecture)" : "");
}

/* ---- make ---- */

struct var {
	const char *name, *value; /* NULL: not passed */
};

static void add_vars(struct build *b, unsigned int *nr, const struct var *vars)
{
	for (char **string = b->strings; vars->name; vars++)
		if (vars->value && asprintf(string, "%s=%s", vars->name, vars->value) > 0)
			b->args[(*nr)++] = *string++;
}

static void make_args(struct build *b)
{
	/* a gcc-built kernel's configuration describes gcc's features: override it for clang */
	bool override_gcc = b->llvm && strstr(b->config, "CONFIG_CC_IS_GCC=y\n");
	const char *off = override_gcc ? "" : NULL, *on = override_gcc ? "y" : NULL;
	const struct var kbuild[] = { { "M", b->out },
				      { "ARCH", b->opts->arch },
				      { "CROSS_COMPILE", b->opts->cross },
				      { "CC", b->compiler },
				      /* the module's own BTF would need pahole, and is not used */
				      { "CONFIG_DEBUG_INFO_BTF_MODULES", "" },
				      /* older compilers do not support -fmin-function-alignment */
				      { "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT",
					b->other_compiler ? "" : NULL },
				      { "LLVM", b->llvm ? "1" : NULL },
				      { "CONFIG_CC_IS_GCC", off },
				      { "CONFIG_CC_IS_CLANG", on },
				      { "CONFIG_LD_IS_BFD", off },
				      { "CONFIG_LD_IS_LLD", on },
				      /* clang renamed this option */
				      { "CONFIG_INIT_STACK_ALL_ZERO", off },
				      /* it means -mrecord-mcount, which only gcc has */
				      { "CONFIG_FTRACE_MCOUNT_USE_CC", off },
				      { "KCFLAGS",
					override_gcc ? "-Wno-unknown-warning-option" : NULL },
				      { 0 } },
			 alone[] = { { "KHEADERS", b->kernel_src },
				     { "SYMVERS", *b->symvers ? b->symvers : NULL },
				     { "CROSS_COMPILE", b->opts->cross },
				     { "CC", b->compiler },
				     { "LLVM", b->llvm ? "1" : NULL },
				     { 0 } };
	unsigned int nr = 0;

	b->args[nr++] = "make";
	b->args[nr++] = "-C";
	b->args[nr++] = b->headers_alone ? b->out : b->kernel_src;
	add_vars(b, &nr, b->headers_alone ? alone : kbuild);
	if (b->headers_alone)
		b->args[nr++] = "-f";
	b->args[nr] = b->headers_alone ? "kheaders.mk" : "modules";
}

static int run_make(struct build *b)
{
	int ret;

	make_args(b);
	ret = run_program(b, b->args);
	for (size_t i = 0; i < sizeof(b->strings) / sizeof(*b->strings); i++)
		free(b->strings[i]);
	return ret;
}

int tap_module_build(const struct tap_module_build *opts, struct tap_err *err)
{
	struct build *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return tap_err_nomem(err);
	b->opts = opts;
	b->err = err;
	ret = make_out(b) ?: find_kernel(b) ?: find_types(b) ?: find_symvers(b) ?:
	      find_compiler(b) ?: put_sources(b) ?: put_layout(b) ?: run_make(b);
	btf__free(b->types);
	free(b->config);
	free(b);
	return ret;
}
