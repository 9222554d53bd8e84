// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "module/load.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNSIGNED                                                                                   \
	"the kernel loads only signed modules (Secure Boot): sign it with a key that the kernel " \
	"knows (mokutil), or record over BPF"

/* kernel/module/: main.c, version.c, signing.c; the same since 5.4 but for ENOKEY, now EKEYREJECTED */
static const struct refusal {
	int error, code;
	const char *why;
} refusals[] = {
	{ EPERM, -EPERM,
	  "loading needs root (CAP_SYS_MODULE), a kernel that is not locked down (Secure Boot), and "
	  "kernel.modules_disabled=0" },
	{ EKEYREJECTED, -EPERM, UNSIGNED },
	{ ENOKEY, -EPERM, UNSIGNED },
	{ EBADMSG, -EPERM, "the module's signature is damaged: build the module again, then sign it" },
	/* another vermagic; no checksum, or another, of struct module */
	{ ENOEXEC, -ENOEXEC, "the module was built for another kernel (`dmesg` says more): build it again" },
	/* another checksum of a symbol */
	{ EINVAL, -ENOEXEC,
	  "the module was built with the headers of another kernel (`dmesg` says more): build it again" },
	{ ENOENT, -ENOEXEC,
	  "the module calls functions that the kernel lacks or does not export (`dmesg` names these "
	  "functions)" },
	{ 0 }
};

int tap_module_load_refused(int error, const char *path, struct tap_err *err)
{
	const struct refusal *r = refusals;

	if (error == EEXIST)
		return tap_err_set(err, -EEXIST, "the schedtap module is already loaded");
	while (r->error && r->error != error)
		r++;
	errno = error;
	if (!r->error)
		return tap_err_set(err, -error, "the kernel cannot load the module '%.300s': %m (`dmesg` says more)", path);
	return tap_err_set(err, r->code, "the kernel does not load the module '%.300s': %s", path, r->why);
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
		return tap_err_set(err, -EBUSY, "the schedtap module is in use: perf or a BPF program has "
				   "one of its events open");
	case EPERM:
		return tap_err_set(err, -EPERM, "unloading a module needs root (CAP_SYS_MODULE) and "
				   "kernel.modules_disabled=0");
	default:
		return tap_err_set(err, -errno, "the kernel cannot unload the schedtap module: %m");
	}
}
