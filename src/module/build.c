// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "module/build.h"

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
#include "module/layout.h"
#include "module/types.h"

#define MAX_FILE_BYTES ((size_t)16 << 20)

struct build {
	const struct tap_module_build *opts;
	struct utsname running;
	char kernel_src[PATH_MAX], release[256], out[PATH_MAX];
	char types_of[PATH_MAX]; /* where .types come from */
	struct btf *types;
	char compiler[PATH_MAX]; /* "": kbuild's own choice */
	bool other_compiler;	 /* than the one that built the kernel */
	char *args[16], *strings[8]; /* make's; the strings are owned */
	struct tap_err *err;
};

/* ---- files ---- */

static int path_of(struct build *b, char *to, const char *dir, const char *name)
{
	int len = snprintf(to, PATH_MAX, "%s/%s", dir, name);

	return len < PATH_MAX ? 0 : tap_err_set(b->err, -ENAMETOOLONG, "'%.200s/...': the name is too long",
						dir);
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

static int copy_into(struct build *b, const char *from, const char *dir)
{
	struct tap_buf bytes = { .max = MAX_FILE_BYTES };
	char to[PATH_MAX];
	int ret = path_of(b, to, dir, strrchr(from, '/') + 1);

	if (!ret && (ret = tap_buf_read_file(&bytes, from))) {
		errno = -ret;
		tap_err_set(b->err, ret, "cannot read '%.300s': %m", from);
	}
	if (!ret)
		ret = write_file(b, to, &bytes);
	tap_buf_release(&bytes);
	return ret;
}

static int make_dir(struct build *b, const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		return tap_err_set(b->err, -errno, "cannot make the folder '%.300s': %m", path);
	return 0;
}

/* All of source/@sub/@pattern, to @dir. */
static int copy_all(struct build *b, const char *sub, const char *pattern, const char *dir)
{
	glob_t found = { 0 };
	char path[PATH_MAX], all[PATH_MAX];
	int ret = path_of(b, path, b->opts->source, sub);

	if (!ret)
		ret = path_of(b, all, path, pattern);
	if (!ret && glob(all, 0, NULL, &found))
		ret = tap_err_set(b->err, -ENOENT,
				  "the module's sources are not in '%.200s': give their folder with --source, "
				  "or install schedtap's", b->opts->source);
	for (size_t i = 0; !ret && i < found.gl_pathc; i++)
		ret = copy_into(b, found.gl_pathv[i], dir);
	globfree(&found);
	return ret;
}

static int put_sources(struct build *b)
{
	char events[PATH_MAX];
	int ret = make_dir(b, b->opts->out);

	if (!ret && !realpath(b->opts->out, b->out))
		ret = tap_err_set(b->err, -errno, "cannot find '%.300s': %m", b->opts->out);
	if (!ret)
		ret = path_of(b, events, b->out, "events");
	if (!ret)
		ret = make_dir(b, events);
	if (!ret)
		ret = copy_all(b, "kmod", "*.[ch]", b->out);
	if (!ret)
		ret = copy_all(b, "kmod", "Kbuild", b->out);
	return ret ? ret : copy_all(b, "events", "*.h", events);
}

/* ---- the kernel ---- */

static int find_kernel(struct build *b)
{
	struct tap_buf release = { .max = MAX_FILE_BYTES };
	char path[PATH_MAX];
	int ret;

	uname(&b->running);
	if (b->opts->kernel_src)
		snprintf(b->kernel_src, PATH_MAX, "%s", b->opts->kernel_src);
	else
		snprintf(b->kernel_src, PATH_MAX, "/lib/modules/%s/build", b->running.release);
	ret = path_of(b, path, b->kernel_src, "include/config/kernel.release");
	if (ret)
		return ret;
	ret = tap_buf_read_file(&release, path);
	if (!ret)
		snprintf(b->release, sizeof(b->release), "%.*s",
			 (int)strcspn(tap_buf_str(&release), "\n"), tap_buf_str(&release));
	tap_buf_release(&release);
	if (!ret)
		return 0;
	if (b->opts->kernel_src)
		return tap_err_set(b->err, -ENOENT, "'%.300s' has no kernel headers: it is neither a headers "
				   "package's folder nor a built kernel tree", b->kernel_src);
	return tap_err_set(b->err, -ENOENT, "the headers of this kernel are missing: install the package "
			   "linux-headers-%.100s, or name a folder with --kernel-src", b->running.release);
}

/* Those that were given; else the headers', which newer packages have; else the running kernel's. */
static int find_types(struct build *b)
{
	struct tap_err ignored;
	int ret = path_of(b, b->types_of, b->kernel_src, "vmlinux");

	if (ret)
		return ret;
	if (b->opts->types)
		snprintf(b->types_of, PATH_MAX, "%s", b->opts->types);
	else if (!tap_types_open(b->types_of, &b->types, &ignored))
		return 0;
	else if (strcmp(b->release, b->running.release))
		return tap_err_set(b->err, -ENOENT, "the types of kernel %.100s are missing: give its "
				   "vmlinux, its vmlinuz or its BTF with --btf", b->release);
	else
		snprintf(b->types_of, PATH_MAX, TAP_RUNNING_TYPES);
	return tap_types_open(b->types_of, &b->types, b->err);
}

static int put_layout(struct build *b)
{
	struct tap_buf text = { 0 };
	char path[PATH_MAX];
	int ret = tap_layout_write(b->types, b->types_of, &text, b->err);

	if (!ret)
		ret = path_of(b, path, b->out, "layout.h");
	if (!ret)
		ret = write_file(b, path, &text);
	tap_buf_release(&text);
	return ret;
}

/* ---- the compiler ---- */

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

/* The headers name the compiler that built the kernel; another of its kind will do. */
static int find_compiler(struct build *b)
{
	static const char key[] = "CONFIG_CC_VERSION_TEXT="; /* "gcc-12 (Debian ...", quoted until 6.11 */
	struct tap_buf conf = { .max = MAX_FILE_BYTES };
	char path[PATH_MAX], theirs[256] = "";
	const char *at;
	int ret = path_of(b, path, b->kernel_src, "include/config/auto.conf");

	if (ret)
		return ret;
	if (!tap_buf_read_file(&conf, path) && (at = strstr(tap_buf_str(&conf), key))) {
		at += strlen(key);
		at += *at == '"';
		snprintf(theirs, sizeof(theirs), "%.*s", (int)strcspn(at, " \"\n"), at);
	}
	tap_buf_release(&conf);
	if (b->opts->llvm)
		return in_path("clang") && in_path("ld.lld") ? 0 :
		       tap_err_set(b->err, -ENOENT, "clang or ld.lld is missing: install the packages clang and lld");
	if (*theirs && in_path(theirs)) {
		snprintf(b->compiler, sizeof(b->compiler), "%s", theirs);
		return 0;
	}
	b->other_compiler = true;
	snprintf(b->compiler, sizeof(b->compiler), "%sgcc", b->opts->cross ? b->opts->cross : "");
	if (in_path(b->compiler))
		return 0;
	return tap_err_set(b->err, -ENOENT, "no compiler: install the package %s%s",
			   b->opts->cross ? "gcc-" : "gcc",
			   b->opts->cross ? "aarch64-linux-gnu (or that of your architecture)" : "");
}

/* ---- make ---- */

static void make_args(struct build *b)
{
	unsigned int nr = 0, text = 0;
	const struct { const char *name, *value; } vars[] = {
		{ "M", b->out },
		{ "ARCH", b->opts->arch },
		{ "CROSS_COMPILE", b->opts->cross },
		{ "CC", *b->compiler ? b->compiler : NULL },
		{ "LLVM", b->opts->llvm ? "1" : NULL },
		/* the module's own types would need pahole, and nobody reads them */
		{ "CONFIG_DEBUG_INFO_BTF_MODULES", "" },
		/* an older compiler does not know -fmin-function-alignment */
		{ "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT", b->other_compiler ? "" : NULL },
	};

	b->args[nr++] = "make";
	b->args[nr++] = "-C";
	b->args[nr++] = b->kernel_src;
	for (size_t i = 0; i < sizeof(vars) / sizeof(*vars); i++)
		if (vars[i].value && asprintf(&b->strings[text], "%s=%s", vars[i].name, vars[i].value) > 0)
			b->args[nr++] = b->strings[text++];
	b->args[nr++] = "modules";
}

/* The line of the log that says what went wrong first; else its last. */
static void first_error(struct build *b, const char *log)
{
	struct tap_buf text = { .max = MAX_FILE_BYTES };
	static const char *const signs[] = { "error: ", "ERROR: ", "not found", "***" };
	const char *all, *at = NULL, *from;

	if (tap_buf_read_file(&text, log)) {
		tap_err_set(b->err, -EIO, "make failed, and its log '%.300s' cannot be read", log);
		return;
	}
	all = tap_buf_str(&text);
	for (size_t i = 0; !at && i < sizeof(signs) / sizeof(*signs); i++)
		at = strstr(all, signs[i]);
	for (from = at ? at : all; from > all && from[-1] != '\n'; from--)
		;
	tap_err_set(b->err, -EIO, "the module could not be built (%.200s has all of it): %.*s", log,
		    (int)strcspn(from, "\n"), from);
	tap_buf_release(&text);
}

static int run_make(struct build *b)
{
	char log[PATH_MAX];
	int status = 0, ret = path_of(b, log, b->out, "make.log"), fd;
	pid_t pid;

	if (ret)
		return ret;
	if (!in_path("make"))
		return tap_err_set(b->err, -ENOENT, "make is missing: install the package make");
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return tap_err_set(b->err, -errno, "cannot write '%.300s': %m", log);
	make_args(b);
	pid = fork();
	if (!pid) {
		unsetenv("MAKEFLAGS"); /* of a make that calls us */
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execvp(b->args[0], b->args);
		_exit(127);
	}
	close(fd);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	for (size_t i = 0; i < sizeof(b->strings) / sizeof(*b->strings); i++)
		free(b->strings[i]);
	if (pid < 0)
		return tap_err_set(b->err, -errno, "cannot start make: %m");
	if (status)
		first_error(b, log);
	return status ? -EIO : 0;
}

int tap_module_build(const struct tap_module_build *opts, struct tap_err *err)
{
	struct build *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return tap_err_set(err, -ENOMEM, "out of memory");
	b->opts = opts;
	b->err = err;
	ret = find_kernel(b);
	if (!ret)
		ret = find_types(b);
	if (!ret)
		ret = find_compiler(b);
	if (!ret)
		ret = put_sources(b);
	if (!ret)
		ret = put_layout(b);
	if (!ret)
		ret = run_make(b);
	btf__free(b->types);
	free(b);
	return ret;
}
