// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What kbuild's modpost writes; kheaders.mk takes this instead. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/utsname.h>
#define INCLUDE_VERMAGIC
#include <linux/vermagic.h>

MODULE_INFO(vermagic, VERMAGIC_STRING);
MODULE_INFO(name, KBUILD_MODNAME);
MODULE_INFO(depends, "");

/*
 * The kernel does not compare the release when it has checksums to compare (CONFIG_MODVERSIONS), and
 * its private structs are in no checksum.
 */
static int __init init_checked(void)
{
	if (!strcmp(init_uts_ns.name.release, UTS_RELEASE))
		return init_module();
	pr_err("built for kernel " UTS_RELEASE ", this is %s\n", init_uts_ns.name.release);
	return -ENOEXEC;
}

__visible struct module __this_module __section(".gnu.linkonce.this_module") = {
	.name = KBUILD_MODNAME,
	.init = init_checked,
#ifdef CONFIG_MODULE_UNLOAD
	.exit = cleanup_module,
#endif
	.arch = MODULE_ARCH_INIT,
};
