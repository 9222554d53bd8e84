# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
SAN ?=
ARCH ?= $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
CROSS_COMPILE ?=
ifeq ($(origin CC),default)
CC := $(if $(SAN),clang,$(CROSS_COMPILE)gcc)
endif
# bpftool is there, which not every user's PATH has
export PATH := $(PATH):/usr/sbin:/sbin
V ?=
Q := $(if $V,,@)
say = $(if $V,,@printf '  %-4s %s\n' $(1) $(2))
comma := ,
B := build$(if $(SAN),-san)$(if $(CROSS_COMPILE),-$(ARCH))

CFLAGS ?= $(if $(SAN),-O1,-O2) -g
WARNINGS := -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -Wno-missing-field-initializers -Werror
# one build for units, golden tests and fuzzers: clang's, with what its fuzzer looks at
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined$(comma)fuzzer-no-link -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
# what reads strangers' files and runs as root; a sanitizer has checks of its own. CFLAGS of a package may choose another level
FORTIFY := $(if $(findstring _FORTIFY_SOURCE,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
HARD_CFLAGS := $(if $(SAN),,-fstack-protector $(FORTIFY))
HARD_LDFLAGS := -Wl,-z,relro,-z,now
# the program may be static, what is loaded cannot
SO_LDFLAGS = $(HARD_LDFLAGS) $(filter-out -static,$(LDFLAGS))
LIBS := -lbpf -liberty -ldw -lelf -lz -llz4 -llzma -ljansson -lzstd -lpthread -lm
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE -DTAP_VERSION='"$(VERSION)"' -Iinclude -Isrc -fvisibility=hidden \
	-fPIC -MMD -MP $(WARNINGS) $(SANFLAGS) $(HARD_CFLAGS) $(CFLAGS)

OBJ := $(patsubst %.c,$B/%.o,$(filter-out src/cli/% src/tracepoint/%,$(wildcard src/*/*.c src/*/*/*.c)))
# the library reads recordings, and needs zlib, liblzma, zstd and jansson alone: what include/schedtap/ declares, and what that takes
LIB_OBJ := $(filter-out $(addprefix $B/src/,event/define/% file/symbol/% record/% show/bench/% show/drawn/% show/export/% show/http/% show/metrics/% show/recorded/% show/screen/% show/view/%),$(OBJ))
LIB_PUBLIC := $(addprefix $B/src/,base/err.o event/format.o event/select/select.o file/reader.o timeline/tasks.o timeline/queries.o \
	timeline/names.o timeline/run/library.o) $(patsubst %.c,$B/%.o,$(wildcard src/analysis/library/*.c))
LIB_LIBS := -lz -llzma -lzstd -ljansson
TP_OBJ := $(patsubst %.c,$B/%.o,$(wildcard src/tracepoint/*.c))
CLI_OBJ := $(patsubst %.c,$B/%.o,$(wildcard src/cli/*.c))
UNIT := $(patsubst %.c,$B/%,$(wildcard tests/unit/test_*.c tests/live/test_*.c))
HEADERS := $(wildcard $(patsubst %,include/schedtap/%.h,* */* */*/* */*/*/*))

all: $B/schedtap $B/libschedtap.a $B/libschedtap.so tracepoint ## build the program and the libraries
tracepoint: $B/libschedtap-tracepoint.a $B/libschedtap-tracepoint.so ## build the library for programs' own tracepoints

# doctor's uprobe finds its function in a stripped program too
$B/schedtap: $(CLI_OBJ) $B/parts.a
	$(call say,LD,$@)
	$Q$(CC) $(SANFLAGS) $(HARD_LDFLAGS) -Wl,--export-dynamic-symbol=tap_own_probe $(LDFLAGS) $^ -o $@ $(LIBS)
# everything but the commands, for the program and the tests
$B/parts.a: $(OBJ)
$B/libschedtap.a: $(LIB_OBJ)
$B/libschedtap-tracepoint.a: $(TP_OBJ)
$B/%.a:
	@rm -f $@
	$(call say,AR,$@)
	$Q$(CROSS_COMPILE)ar rcs $@ $^
$B/libschedtap.so: $(LIB_PUBLIC) $B/libschedtap.a src/libschedtap.map
	$(call say,LD,$@)
	$Q$(CC) -shared -Wl,-soname,libschedtap.so.0 -Wl,--version-script=src/libschedtap.map $(if $(SAN),,-Wl$(comma)-z$(comma)defs) $(SANFLAGS) $(SO_LDFLAGS) $(filter-out %.map,$^) -o $@ $(LIB_LIBS)

# once loaded it stays: threads may be in it when the library that brought it goes
$B/libschedtap-tracepoint.so: $(TP_OBJ)
	$(call say,LD,$@)
	$Q$(CC) -shared -Wl,-soname,libschedtap-tracepoint.so.0 -Wl,-z,nodelete $(SANFLAGS) $(SO_LDFLAGS) $^ -o $@

$B/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$Q$(CC) $(ALL_CFLAGS) -c $< -o $@
# to resolve a function when it is first called takes 3 KB of the stack of a thread that passes a site
$B/src/tracepoint/%.o: ALL_CFLAGS += -fno-plt
# what is static cannot load a library
$B/src/show/http/http.o: ALL_CFLAGS += $(if $(filter -static,$(LDFLAGS)),-DTAP_STATIC)
$B/src/cli/cmd_module.o: ALL_CFLAGS += -DTAP_MODULE_SOURCE='"$(PREFIX)/share/schedtap/module"'
# kernels from 6.2 on have unsigned char: the tables must say so
$B/src/event/defs.o: ALL_CFLAGS += -Ievents -Isrc/event/shim -funsigned-char
$B/src/record/%.o $B/src/show/top/%.o $B/src/show/metrics/%.o $B/src/show/recorded/%.o $B/src/cli/cmd_top.o $B/src/cli/top_source.o $B/src/cli/top_screens.o $B/src/cli/cmd_stat.o: ALL_CFLAGS += -Ibpf
$B/src/record/object/object.o: ALL_CFLAGS += -DTAP_BPF_OBJECT='"$B/bpf/schedtap.bpf.o"' -DTAP_BPF_TALLY='"$B/bpf/tally.bpf.o"'
$B/src/record/object/object.o: $B/bpf/schedtap.bpf.o $B/bpf/tally.bpf.o

# the page of exports to HTML
HTML_SOURCES := $(wildcard src/show/html/* third_party/uplot/*)
$B/html/page.html: tools/html-page $(HTML_SOURCES)
	$(call say,HTML,$@)
	$Qtools/html-page $(@D)
$B/src/show/export/html_file.o: ALL_CFLAGS += -DTAP_HTML_PAGES='"$B/html"'
$B/src/show/export/html_file.o: $B/html/page.html

# the BPF programs: bpftool keeps the BTF and drops the DWARF
BPF_TRIPLE = $(shell $(CROSS_COMPILE)gcc -dumpmachine)
$B/bpf/%.bpf.o: bpf/%.bpf.c src/base/glob.h $(wildcard bpf/*.h bpf/shim/*/*.h events/*.h)
	@mkdir -p $(@D)
	$(call say,BPF,$@)
	$Qclang -target bpf -mcpu=v3 -O2 -g -Wall -Wno-macro-redefined -Werror -funsigned-char -D__TARGET_ARCH_$(ARCH) \
		-Ibpf/shim -Ievents -Ibpf -Isrc -idirafter /usr/include/$(BPF_TRIPLE) -c $< -o $@.full
	$Qbpftool gen object $@ $@.full

# ---- tests ----------------------------------------------------------------------------------
# programs with tracepoints, as their own builds link them
TP_UNIT := $(addprefix $B/tests/tracepoint/,test_probes test_rcu test_ring test_filter test_stack test_print \
	test_format test_decoded test_static_key_load test_static_key_patch)
TP_TOOLS := $(addprefix $B/tests/tracepoint/,emit emit_static emit_patched confined)
TP_LINK = $Q$(CC) $(ALL_CFLAGS) -Itests -Itests/tracepoint $(TP_CFLAGS) $(filter %.c %.a,$^) -o $@ $(TP_LIBS) -ldl -lpthread
$B/tests/tracepoint/%: tests/tracepoint/%.c $B/libschedtap-tracepoint.a
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(TP_LINK)
$(TP_UNIT): TP_LIBS := -rdynamic -lcmocka
$B/tests/tracepoint/test_rcu: TP_LIBS += -Wl,--wrap=syscall
$B/tests/tracepoint/test_decoded: $B/libschedtap.a
$B/tests/tracepoint/emit_static $B/tests/tracepoint/emit_patched: tests/tracepoint/emit.c $B/libschedtap-tracepoint.a
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(TP_LINK)
$B/tests/tracepoint/emit_static: TP_CFLAGS := -static -fno-pic
$B/tests/tracepoint/emit_patched: TP_CFLAGS := -DTAP_STATIC_KEYS=patch
# static keys, built both ways: the library that they load is built the same way
define STATIC_KEY_TEST
$B/tests/tracepoint/test_static_key_$(1): TP_CFLAGS := -DTAP_STATIC_KEYS=$(1)
$B/tests/tracepoint/test_static_key_$(1): tests/tracepoint/test_static_key.c tests/tracepoint/static_key_load.c \
		$B/libschedtap-tracepoint.a | $B/tests/tracepoint/static_key_object_$(1).so
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(TP_LINK)
$B/tests/tracepoint/static_key_object_$(1).so: tests/tracepoint/static_key_object.c
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$Q$$(CC) $$(ALL_CFLAGS) -Itests -DTAP_STATIC_KEYS=$(1) -shared $$< -o $$@
endef
$(foreach mode,load patch,$(eval $(call STATIC_KEY_TEST,$(mode))))

LIVE_TOOLS := $B/tests/tracepoint/test_decoded $B/tests/live/counter.bpf.o $(addprefix $B/tests/live/,calls_of filter_check filter_fuzz hostile idle_load program_fuzz tally_faults tally_load)
TOOLS := $B/tests/mkdat $B/tests/on_terminal $B/tests/bombs/bombs $B/tests/truth/generate $B/tests/truth/overruns $B/tests/recorded/read $B/tests/house/lookups $B/tests/stats/calculate $B/tests/fuzz/fuzz_report $B/tests/fuzz/dat2perf
$B/tests/%: tests/%.c $B/parts.a
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$Q$(CC) $(ALL_CFLAGS) -Ibpf -Itests $(TEST_CFLAGS) $(filter tests/%.c %.o,$^) $B/parts.a -o $@ -lcmocka $(TEST_LIBS) $(LIBS)
$B/tests/fuzz/fuzz_report: TEST_CFLAGS := -DFUZZ_MAIN
$B/tests/unit/test_progress: $B/src/cli/progress.o
# what overflows wraps around, as in the kernel
$B/tests/unit/test_program: TEST_CFLAGS := -fwrapv
# the built-in events and some more, in place of those in the library
$B/tests/unit/test_define: $B/tests/unit/define/defs.o
$B/tests/unit/define/defs.o: ALL_CFLAGS += -Itests/unit/define -Isrc/event/shim -funsigned-char
$B/tests/unit/define/defs.o: src/event/defs.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$Q$(CC) $(ALL_CFLAGS) -c $< -o $@
$B/tests/unit/test_user_filters: $B/src/tracepoint/steps.o
# names of the simulation's tasks, which are short, in a length that a compiler cannot know
$B/tests/unit/test_watch_referee: TEST_CFLAGS := -Wno-unknown-warning-option -Wno-format-truncation
# it includes the .c file, whose inline function is external: clang looks at that where the file is not a header
$B/tests/unit/test_drain: TEST_CFLAGS := -Wno-static-in-inline
# the program, which prints the fields that it looks up by name
$B/tests/house/lookups: $(CLI_OBJ)
$B/tests/house/lookups: TEST_LIBS := -Wl,--wrap=main -Wl,--wrap=tap_format_field
$B/tests/live/test_live_waits: TEST_LIBS := -Wl,--wrap=tap_bpf_open_tally
$B/tests/live/test_live_waits: | $B/tests/live/waits.bpf.o
$B/tests/live/test_live_tally: TEST_LIBS := -Wl,--wrap=tap_bpf_open_tally
$B/tests/live/test_live_tally: | $B/tests/live/few_entries.bpf.o
# another reader of print formats, to compare with
$B/tests/unit/test_print: TEST_LIBS := -ltraceevent
# a terminal emulator, to see what frames look like
$B/tests/unit/test_frame $B/tests/on_terminal: TEST_LIBS := -lvterm -lutil
# the program as a process that tests ask, and what asks it (tests/driver)
$B/driver: tests/driver/driver.c $(filter-out %/main.o,$(CLI_OBJ)) $B/parts.a
	$(call say,LD,$@)
	$Q$(CC) $(ALL_CFLAGS) -Itests $(HARD_LDFLAGS) $(LDFLAGS) $(filter %.c %.o %.a,$^) -o $@ $(LIBS)
$B/schedtap-quick: tests/driver/client.c tests/driver/request.h
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$Q$(CC) -std=gnu17 -D_GNU_SOURCE $(WARNINGS) -O2 -static $< -o $@
$B/bench-%: bench/%.c $B/parts.a
	$(call say,LD,$@)
	$Q$(CC) $(ALL_CFLAGS) -Ibpf $(filter %.c,$^) $B/parts.a -o $@ $(LIBS)
$B/fuzz_%: tests/fuzz/fuzz_%.c $B/parts.a
	$(call say,LD,$@)
	$Q$(CC) $(ALL_CFLAGS) -Ibpf -fsanitize=fuzzer $(filter tests/%.c %.o,$^) $B/parts.a -o $@ $(LIBS)
$B/fuzz_steps: $B/src/tracepoint/steps.o
$B/fuzz_report $B/fuzz_spool: $B/tests/fuzz/mutate.o $B/tests/fuzz/scan.o

# what installs packages builds in a second make, which then sees them
AGAIN = +@$(MAKE) --no-print-directory
# of what builds much, where make was not told how many
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
# targets with a program of their own; fuzz_report has dat and perf
FUZZED_ALONE := types user print filter steps define assign usdt condition symbol rules session mark http spool text bench perfetto
FUZZERS := $(addprefix $B/fuzz_,report $(FUZZED_ALONE))
RUN = BUILD=$(abspath $B) tests/run

check: check-programs ## after every edit: units, golden tests, a few simulated schedules, any user: a minute
	@$(RUN) check
test: ## packages, build, and everything that a change can break: this kernel, two guests, sanitizers
	@tools/deps build test source || { tools/deps build && echo 'going on with the tests that can run without the rest'; }
	$(AGAIN) $(PARALLEL) test-programs
	$(AGAIN) $(PARALLEL) SAN=1 san-programs || echo 'going on without the tests that need them'
	@$(RUN) test
soak: ## what takes hours: random seeds, fuzzing, all guests, load; HOURS=2 goes on where the last one stopped
	@tools/deps build test source debug
	$(AGAIN) $(PARALLEL) test-programs
	$(AGAIN) $(PARALLEL) SAN=1 san-programs
	@BUILD=$(abspath $B) tests/soak $(HOURS)

# what tests are made of
check-programs: all $(UNIT) $(TP_UNIT) $(TOOLS) $B/driver $B/schedtap-quick
test-programs: check-programs $(TP_TOOLS) $(LIVE_TOOLS)
san-programs: all $(filter $B/tests/unit/%,$(UNIT)) $(TOOLS) $B/driver $B/schedtap-quick $(FUZZERS)

# check-TIER: the files of one row of tests/tiers
TIERS := $(shell sed -n 's/^\([a-z]\S*\) .*/\1/p' tests/tiers | sort -u)
$(patsubst %,check-%,$(filter-out %-san fuzz,$(TIERS))): check-%: test-programs
	@$(RUN) $*
$(patsubst %,check-%,$(filter %-san fuzz,$(TIERS))): check-%:
	$(AGAIN) $(PARALLEL) SAN=1 san-programs
	@$(RUN) $*
mutations: check-programs $(TP_UNIT) ## small faults, one after the other: does `make check` see them?
	tests/mutations
matrix: test-programs ## all kernels that Debian has, before a release: kernel by event (docs/module.md)
	KERNELS='$(shell sed -n 's/^\([0-9a-z][^ ]*\) .*/\1/p' tests/vm/kernels.lock)' \
		BUILD=$(abspath $B) SCHEDTAP=$(abspath $B/schedtap) SOAK=1 prove -v tests/vm/guests.t tests/vm/arm64.t >$B/matrix.log; \
		status=$$?; tests/vm/table <$B/matrix.log; grep '^ *not ok' $B/matrix.log; exit $$status
test-debug-kernel: ## the module in a kernel that checks memory, locks and RCU: builds it, once
	@tools/deps build test debug
	$(AGAIN) $(PARALLEL) all
	@$(RUN) tests/vm/debug.t
test-rtla: ## explain against rtla's analysis of timerlat: builds a kernel that has it, once
	@tools/deps build test debug
	$(AGAIN) $(PARALLEL) all
	@$(RUN) tests/vm/rtla.t
check-builds: ## what CONTRIBUTING.md says to build, on a Debian 12 made for it: static, and for arm64
	.ci/run builds
FUZZ_OF ?= dat
FUZZ_PROGRAM := build-san/fuzz_$(if $(filter $(FUZZED_ALONE),$(FUZZ_OF)),$(FUZZ_OF),report)
fuzz: ## one fuzzer until Ctrl-C; FUZZ_OF=dat, perf, types, user, print, filter, steps, define, assign, usdt, condition, symbol, rules, session, mark, http, spool, text, bench, perfetto
	$(AGAIN) $(PARALLEL) SAN=1 san-programs
	@mkdir -p build-san/corpus/$(FUZZ_OF)
	@! [ -e tests/fuzz/seed_$(FUZZ_OF) ] || MKDAT=build-san/tests/mkdat tests/fuzz/seed_$(FUZZ_OF) build-san/corpus/$(FUZZ_OF)
	$(FUZZ_PROGRAM) -max_len=65536 -rss_limit_mb=4096 -artifact_prefix=build-san/ $(addprefix -dict=,$(wildcard tests/fuzz/dict/$(FUZZ_OF))) \
		$(FUZZ_ARGS) build-san/corpus/$(FUZZ_OF) tests/fuzz/corpus/$(FUZZ_OF)

$B/tests/live/%.bpf.o: tests/live/%.bpf.c $(wildcard tests/live/*.h bpf/*.h) bpf/tally.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$@)
	$Qclang -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(ARCH) -Ibpf \
		-idirafter /usr/include/$(BPF_TRIPLE) -c $< -o $@

bench: ## measure, as ratios in one run (docs/performance.md)
	@tools/deps build bench
	$(AGAIN) $(PARALLEL) all $B/bench-tally
	bench/run

# ---- use ------------------------------------------------------------------------------------
demo: ## record this machine for 5 s under a small load, and show what happened
	@tools/deps build
	$(AGAIN) $(PARALLEL) all
	@tools/demo $B/schedtap

MAN := $(patsubst docs/man/%.md,$B/man/%,$(wildcard docs/man/*.md))
$B/man/%: docs/man/%.md tools/man-page Makefile
	@mkdir -p $(@D)
	$(call say,MAN,$@)
	$Qtools/man-page $(VERSION) $< >$@.new && mv $@.new $@

# the program is this machine's, also where the module is another's
kmod: CROSS := $(CROSS_COMPILE)
kmod: ## the kernel module in build/kmod; KERNEL_SRC= VMLINUX= SYMVERS= ARCH= CROSS_COMPILE= LLVM=1
	$(if $(filter pahole,$(HEADERS)),$(error HEADERS=pahole: pahole is not needed: `schedtap module layout` \
		reads the same types, and checks what it writes, where pahole before 1.23 misaligns members))
	@$(MAKE) --no-print-directory ARCH= CROSS_COMPILE= build/schedtap
	build/schedtap module build --source . --output build/kmod \
		$(if $(KERNEL_SRC),--kernel-src '$(KERNEL_SRC)') $(if $(VMLINUX),--btf '$(VMLINUX)') $(if $(SYMVERS),--symvers '$(SYMVERS)') \
		$(if $(CROSS),--arch $(ARCH) --cross-compile $(CROSS)) $(if $(LLVM),--llvm)
install: all $(MAN) ## PREFIX, DESTDIR
	install -Dm755 $B/schedtap $(DESTDIR)$(PREFIX)/bin/schedtap
	install -Dm644 $B/libschedtap.a $(DESTDIR)$(PREFIX)/lib/libschedtap.a
	install -Dm755 $B/libschedtap.so $(DESTDIR)$(PREFIX)/lib/libschedtap.so.0
	ln -sf libschedtap.so.0 $(DESTDIR)$(PREFIX)/lib/libschedtap.so
	install -Dm644 $B/libschedtap-tracepoint.a $(DESTDIR)$(PREFIX)/lib/libschedtap-tracepoint.a
	install -Dm755 $B/libschedtap-tracepoint.so $(DESTDIR)$(PREFIX)/lib/libschedtap-tracepoint.so.0
	ln -sf libschedtap-tracepoint.so.0 $(DESTDIR)$(PREFIX)/lib/libschedtap-tracepoint.so
	for header in $(HEADERS); do \
		install -Dm644 $$header $(DESTDIR)$(PREFIX)/$$header || exit 1; \
	done
	tools/kernel-stubs $(DESTDIR)$(PREFIX)/include/schedtap/kernel
	for page in $(MAN); do \
		install -Dm644 $$page $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$${page##*/} || exit 1; \
	done
	for page in $(notdir $(filter %.3,$(MAN))); do \
		for name in $$(sed -n '/^# NAME/,/ - /p' docs/man/$$page.md | grep -o 'tap_[a-z0-9_]*'); do \
			echo ".so man3/$$page" >$(DESTDIR)$(PREFIX)/share/man/man3/$$name.3 || exit 1; \
		done; \
	done
	for unit in flight metrics; do \
		sed 's|@BIN@|$(PREFIX)/bin|' tools/schedtap-$$unit.service | \
			install -Dm644 /dev/stdin $(DESTDIR)$(PREFIX)/lib/systemd/system/schedtap-$$unit.service || exit 1; \
	done
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/schedtap/metrics examples/metrics/*
	install -Dm644 tools/schedtap.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/schedtap
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/schedtap/rules rules/*.rules
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/schedtap/module/kmod kmod/*.[ch] kmod/Kbuild kmod/kheaders.mk
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/schedtap/module/events events/*.h
	sed 's|@PREFIX@|$(PREFIX)|;s|@VERSION@|$(VERSION)|' kmod/dkms.conf.in \
		> $(DESTDIR)$(PREFIX)/share/schedtap/module/dkms.conf
	@mkdir -p $(DESTDIR)$(PREFIX)/lib/pkgconfig
	for pc in schedtap schedtap-tracepoint; do \
		sed 's|@PREFIX@|$(PREFIX)|;s|@VERSION@|$(VERSION)|' tools/$$pc.pc.in \
			> $(DESTDIR)$(PREFIX)/lib/pkgconfig/$$pc.pc || exit 1; \
	done

deps: ## name and install the Debian packages that are missing
	@tools/deps build test bench source
format: ## lay out the code as .clang-format says
	@clang-format -i $(shell git ls-files -s '*.[ch]' | sed -n 's/^100.*\t//p')
clean: ## remove what was built
	rm -rf build build-*
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 19
	@echo 'Variables: V=1 (show commands)  SAN=1 (ASan and UBSan)  CC=clang  ARCH= CROSS_COMPILE= (cross build)  PREFIX= DESTDIR='

-include $(shell find $B -name '*.d' 2>/dev/null)
.PHONY: all tracepoint kmod check test soak check-programs test-programs san-programs $(addprefix check-,$(TIERS)) mutations matrix \
	test-debug-kernel test-rtla check-builds fuzz bench demo install deps format clean help
