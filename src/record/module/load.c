// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "record/module/load.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNSIGNED                                                                                   \
	"the kernel loads only signed modules (Secure Boot): sign it with a key that the kernel "  \
	"knows (mokutil), or record over BPF"

/*
 * Errors of finit_module(2): main.c, version.c and signing.c of kernel/module/. Unchanged since
 * v5.4, except that ENOKEY became EKEYREJECTED.
 */
static const struct refusal {
	int error, code;
	const char *why;
} refusals[] = {
	{ EPERM, -EPERM,
	  "loading needs root (CAP_SYS_MODULE), a kernel that is not locked down (Secure Boot), "
	  "and kernel.modules_disabled=0" },
	{ ENOSYS, -ENOSYS,
	  "this kernel does not support loadable modules (CONFIG_MODULES): record over BPF" },
	{ EKEYREJECTED, -EPERM, UNSIGNED },
	{ ENOKEY, -EPERM, UNSIGNED },
	{ EBADMSG, -EPERM,
	  "the module's signature is damaged: build the module again, then sign it" },
	/* vermagic differs, or the checksum of struct module differs or is missing */
	{ ENOEXEC, -ENOEXEC,
	  "the module was built for another kernel (`dmesg` says more): build it again" },
	/* checksum of a symbol differs */
	{ EINVAL, -ENOEXEC,
	  "the module was built with the headers of another kernel (`dmesg` says more): build it "
	  "again" },
	{ ENOENT, -ENOEXEC,
	  "the module calls functions that the kernel lacks or does not export (`dmesg` names "
	  "these functions)" },
	{ 0 }
};

static const struct refusal *find_refusal(int error)
{
	for (const struct refusal *r = refusals; r->error; r++)
		if (r->error == error)
			return r;
	return NULL;
}

int tap_module_load_refused(int error, const char *path, struct tap_err *err)
{
	const struct refusal *r = find_refusal(error);

	if (error == EEXIST)
		return tap_err_set(err, -EEXIST, "the schedtap module is already loaded");
	errno = error;
	if (!r)
		return tap_err_set(
			err, -error,
			"the kernel cannot load the module '%.300s': %m (`dmesg` says more)", path);
	return tap_err_set(err, r->code, "the kernel does not load the module '%.300s': %s", path,
			   r->why);
}

/*
 * Test whether a module may be loaded, with an invalid fd: the kernel checks permissions before it
 * looks at the fd. Return: 0; the errno.
 */
static int try_load(void)
{
	return syscall(SYS_finit_module, -1, "", 0) && errno != EBADF ? errno : 0;
}

int tap_module_check(struct tap_err *err)
{
	return try_load() == ENOSYS ? tap_err_set(err, -ENOSYS, "%s", find_refusal(ENOSYS)->why)
				    : 0;
}

int tap_module_try(struct tap_err *err)
{
	int error = try_load();
	const struct refusal *r = find_refusal(error);

	errno = error;
	return r       ? tap_err_set(err, r->code, "%s", r->why)
	       : error ? tap_err_set(err, -error, "%m")
		       : 0;
}

int tap_module_load(const char *path, struct tap_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return tap_err_set(err, -errno, "cannot read '%.300s': %m", path);
	if (syscall(SYS_finit_module, fd, "", 0))
		ret = tap_module_load_refused(errno, path, err);
	close(fd);
	return ret;
}

int tap_module_unload(struct tap_err *err)
{
	if (!syscall(SYS_delete_module, TAP_MODULE_NAME, O_NONBLOCK))
		return 0;
	switch (errno) {
	case ENOENT:
		return tap_err_set(err, -ENOENT, "the schedtap module is not loaded");
	case EWOULDBLOCK:
	case EBUSY:
		return tap_err_set(err, -EBUSY,
				   "the schedtap module is in use: perf or a BPF program has one "
				   "of its events open");
	case EPERM:
		return tap_err_set(err, -EPERM,
				   "unloading a module needs root (CAP_SYS_MODULE) and "
				   "kernel.modules_disabled=0");
	default:
		return tap_err_set(err, -errno, "the kernel cannot unload the schedtap module: %m");
	}
}
