# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The module from headers alone, as kheaders.tar.xz (CONFIG_IKHEADERS) has them: without kbuild and
# its tools. For arm64, which needs no tool between the compiler and the linker; x86 has objtool there.
# The flags are those of the kernel's Makefiles without which a module does not work. What hardens
# or traces the module's own functions (stack protector, ftrace) is left out: it may differ.
#
# usage: make -f kheaders.mk KHEADERS=DIR [SYMVERS=FILE] [CROSS_COMPILE=] [CC=] [LLVM=1]

comma := ,
CC := $(CROSS_COMPILE)gcc
LD := $(if $(LLVM),ld.lld,$(CROSS_COMPILE)ld)
NM := $(if $(LLVM),llvm-nm,$(CROSS_COMPILE)nm)
compile = $(CC) $(flags) -DKBUILD_BASENAME='"$(1)"' -c $(1).c -o $(1).o

switched_on := $(shell sed -n 's/^\#define CONFIG_\(\w*\) 1$$/\1/p' $(KHEADERS)/include/generated/autoconf.h)
config = $(filter $(1),$(switched_on))

arch := $(KHEADERS)/arch/arm64/include
includes := $(addprefix -I,$(arch) $(arch)/generated $(KHEADERS)/include $(arch)/uapi $(arch)/generated/uapi \
	$(KHEADERS)/include/uapi $(KHEADERS)/include/generated/uapi)
kconfig := -include $(KHEADERS)/include/linux/kconfig.h

flags := -nostdinc -isystem $(shell $(CC) -print-file-name=include) $(includes) $(kconfig) \
	-include $(KHEADERS)/include/linux/compiler_types.h
flags += -D__KERNEL__ -DMODULE -DKBUILD_MODNAME='"schedtap"' -D__KBUILD_MODNAME=kmod_schedtap
flags += $(if $(LLVM),--target=aarch64-linux-gnu) -std=gnu11 -fms-extensions -O2 -g
flags += -mlittle-endian -mgeneral-regs-only -fno-PIE -fno-common -fshort-wchar -funsigned-char
flags += -fno-strict-aliasing -fno-strict-overflow -fno-delete-null-pointer-checks
flags += -fno-omit-frame-pointer -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables -fno-unwind-tables
flags += -fno-stack-protector $(if $(LLVM),,-fno-allow-store-data-races -fno-stack-clash-protection)
flags += -Werror=implicit-function-declaration -Werror=incompatible-pointer-types -Wno-address-of-packed-member

# the shadow call stack's register, and where indirect branches may land
flags += $(if $(call config,SHADOW_CALL_STACK),-ffixed-x18)
flags += -mbranch-protection=$(or $(if $(call config,ARM64_BTI_KERNEL),pac-ret+bti),$\
	$(if $(call config,ARM64_PTR_AUTH_KERNEL),pac-ret),none)
# what inline assembly may use, where the kernel has checked that the CPU has it
newest := $(firstword $(foreach v,8_5 8_4 8_3 8_2,$(if $(call config,AS_HAS_ARMV$(v)),$(v))))
asm_arch := $(if $(newest),armv$(subst _,.,$(newest))-a)
flags += $(if $(asm_arch),-Wa$(comma)-march=$(asm_arch) -DARM64_ASM_ARCH='"$(asm_arch)"')
flags += $(if $(call config,KASAN_SW_TAGS),-DKASAN_SHADOW_SCALE_SHIFT=4)
flags += $(if $(call config,KASAN_GENERIC),-DKASAN_SHADOW_SCALE_SHIFT=3)

# as in Kbuild
symvers := $(or $(SYMVERS),/dev/null)
tap_exports = -DTAP_EXPORTS_$(1)=$(if $(shell grep -w $(1) $(symvers)),1,0)
flags += -I. -Ievents $(call tap_exports,arch_freq_scale)

# Checksums of the symbols that the module takes from the kernel, and of struct module. Where they are
# not known: a module without this section would have to be forced, and the kernel gives a forced one
# no trace events; symbols that the section does not have are taken with a warning. Not by Debian's.
define list_versions
	BEGIN { print "#include <linux/module.h>\nconst struct modversion_info versions[] __section(\"__versions\") = {" }
	is_symvers { checksum[$$2] = $$1; next }
	$$2 in checksum { printf "\t{ %s, \"%s\" },\n", checksum[$$2], $$2; next }
	knows_all { print "error: this kernel has no " $$2 " for modules" >"/dev/stderr"; exit 1 }
	END { print "\t{ 0, \"\" }\n};" }
endef
export list_versions

schedtap.ko:
	$(call compile,main)
	$(call compile,kheaders)
	$(LD) -r -EL -o schedtap.o main.o kheaders.o
	$(NM) -u schedtap.o >undefined
	echo U module_layout >>undefined
	awk "$$list_versions" is_symvers=1 $(symvers) is_symvers=0 knows_all=$(if $(SYMVERS),1,0) undefined >versions.c
	$(if $(call config,MODVERSIONS),$(call compile,versions))
	$(CC) -E -P -x c -nostdinc $(includes) $(kconfig) kheaders.lds.h -o kheaders.lds
	$(LD) -r -EL -z noexecstack --build-id=sha1 -T kheaders.lds -o $@ schedtap.o \
		$(if $(call config,MODVERSIONS),versions.o)
.PHONY: schedtap.ko
