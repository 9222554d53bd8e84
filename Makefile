# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
SAN ?=
ARCH ?= $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
comma := ,
B := build$(if $(SAN),-san)$(if $(CROSS_COMPILE),-$(ARCH))

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wno-missing-field-initializers -Werror
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
LIBS := -lbpf -lelf -lz -ljansson -lzstd -ltraceevent -lpthread
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -DTAP_VERSION='"$(VERSION)"' -Iinclude -Isrc -fvisibility=hidden \
	-fPIC -MMD -MP $(WARNINGS) $(SANFLAGS) $(CFLAGS)

LIB_OBJ := $(patsubst %.c,$B/%.o,$(filter-out src/cli/%,$(wildcard src/*/*.c src/*/*/*.c)))
CLI_OBJ := $(patsubst %.c,$B/%.o,$(wildcard src/cli/*.c))
UNIT := $(patsubst %.c,$B/%,$(wildcard tests/unit/test_*.c tests/live/test_*.c))
HEADERS := $(wildcard include/schedtap/*.h)

all: $B/schedtap $B/libschedtap.a $B/libschedtap.so ## build the program and the library

$B/schedtap: $(CLI_OBJ) $B/libschedtap.a
	$(CC) $(SANFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)
$B/libschedtap.a: $(LIB_OBJ)
	@rm -f $@
	$(CROSS_COMPILE)ar rcs $@ $^
$B/libschedtap.so: $(LIB_OBJ)
	$(CC) -shared -Wl,-soname,libschedtap.so.0 $(SANFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

$B/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@
# kernels from 6.2 on have unsigned char: the tables must say so
$B/src/event/defs.o: ALL_CFLAGS += -Ievents -Isrc/event/shim -funsigned-char
$B/src/capture/bpf/%.o: ALL_CFLAGS += -Ibpf -DTAP_BPF_OBJECT='"$B/bpf/schedtap.bpf.o"'
$B/src/capture/bpf/load.o: $B/bpf/schedtap.bpf.o

# the BPF programs: bpftool keeps the BTF and drops the DWARF
BPF_TRIPLE := $(shell $(CC) -dumpmachine)
$B/bpf/schedtap.bpf.o: bpf/schedtap.bpf.c $(wildcard bpf/*.h bpf/shim/*/*.h events/*.h)
	@mkdir -p $(@D)
	clang -target bpf -mcpu=v3 -O2 -g -Wall -Wno-macro-redefined -Werror -funsigned-char -D__TARGET_ARCH_$(ARCH) \
		-Ibpf/shim -Ievents -Ibpf -idirafter /usr/include/$(BPF_TRIPLE) -c $< -o $@.full
	bpftool gen object $@ $@.full

$B/tests/%: tests/%.c $B/libschedtap.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Ibpf $< $B/libschedtap.a -o $@ -lcmocka $(LIBS)

-include $(shell find $B -name '*.d' 2>/dev/null)
.PHONY: all
