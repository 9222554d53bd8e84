// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Replaces the file that kbuild's modpost generates, for builds with kheaders.mk. */
#include <linux/module.h>
#define INCLUDE_VERMAGIC
#include <linux/vermagic.h>

MODULE_INFO(vermagic, VERMAGIC_STRING);
MODULE_INFO(name, KBUILD_MODNAME);
MODULE_INFO(depends, "");

__visible struct module __this_module __section(".gnu.linkonce.this_module") = {
	.name = KBUILD_MODNAME,
	.init = init_module,
#ifdef CONFIG_MODULE_UNLOAD
	.exit = cleanup_module,
#endif
	.arch = MODULE_ARCH_INIT,
};
