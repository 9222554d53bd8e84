#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# list -p, on a program of known probes: USDT in the program and in its library, and an event of its own.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
LIBRARY=${TRACEPOINT_LIB:-$top/build/libschedtap-tracepoint.a}
. "$top/tests/live/lib.sh"
needs_root
apart
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
bin=$scratch/bin
mkdir "$bin"

cat >"$bin/usdt.h" <<'END'
/* What sys/sdt.h writes. */
#define USDT(name)                                                                                  \
	__asm__ volatile("990: nop\n"                                                                    \
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"                                           \
			 ".balign 4\n"                                                                            \
			 ".4byte 992f - 991f, 994f - 993f, 3\n"                                                   \
			 "991: .asciz \"stapsdt\"\n"                                                              \
			 "992: .balign 4\n"                                                                       \
			 "993: .8byte 990b, _.stapsdt.base, 0\n"                                                  \
			 ".asciz \"listed\"\n"                                                                    \
			 ".asciz \"" name "\"\n"                                                                  \
			 ".asciz \"-4@%0 8@%1\"\n"                                                                \
			 "994: .balign 4\n"                                                                       \
			 ".popsection\n"                                                                          \
			 ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"               \
			 ".weak _.stapsdt.base\n"                                                                 \
			 ".hidden _.stapsdt.base\n"                                                               \
			 "_.stapsdt.base: .space 1\n"                                                             \
			 ".popsection\n" : : "r"(1), "r"(2L))
END
cat >"$bin/library.c" <<'END'
#include "usdt.h"
void in_library(void);
void in_library(void) { USDT("in_library"); }
END
cat >"$bin/own.h" <<'END'
#undef TRACE_SYSTEM
#define TRACE_SYSTEM listed
#if !defined(HEADER_OWN) || defined(TRACE_HEADER_MULTI_READ)
#define HEADER_OWN
#include <schedtap/tracepoint.h>
TRACE_EVENT(own, TP_PROTO(int id), TP_ARGS(id), TP_STRUCT__entry(__field(int, id)), TP_fast_assign(__entry->id = id;),
	TP_printk("id=%d", __entry->id));
#endif
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE own
#include <schedtap/define_trace.h>
END
cat >"$bin/program.c" <<'END'
#include <stdio.h>
#include "usdt.h"
#define CREATE_TRACE_POINTS
#include "own.h"
void in_library(void);
int main(void)
{
	trace_own(1);
	in_library();
	USDT("in_program");
	puts("there");
	fflush(stdout);
	return getchar() == EOF;
}
END
(
	cd "$bin"
	cc=${CC:-cc}
	$cc -shared -fPIC -o liblisted.so library.c &&
		$cc -std=gnu17 -I"$top/include" -I. -o program program.c "$LIBRARY" -lpthread -L. -llisted -Wl,-rpath,'$ORIGIN'
) || { echo 'Bail out! the program cannot be compiled'; exit 1; }

is_there()
{
	[ "$(cat there)" = there ]
}

# begin COMMAND...: the program, as $listed, until the case ends
begin()
{
	mkfifo stdin
	"$@" <stdin >there &
	listed=$!
	exec 3>stdin
	wait_for is_there
}

# The libraries that others made may have probes, too.
of_ours()
{
	grep -e listed -e '^-' out || :
}

all()
{
	begin "$bin/program"
	run 0 "$SCHEDTAP" list -p $listed
	must diff - <(of_ours) <<-END
	usdt      usdt:$bin/program:listed:in_program(s32 arg0, u64 arg1)
	usdt      usdt:$bin/liblisted.so:listed:in_library(s32 arg0, u64 arg1)
	user      listed:own: program [$listed]
	END
}

# The word that list -p prints for a USDT probe works with record -e.
recorded()
{
	local word

	begin "$bin/program"
	run 0 "$SCHEDTAP" list -p $listed
	word=$(sed -n 's/^usdt  *\(.*:in_program\)(.*/\1/p' out)
	run 0 "$SCHEDTAP" record -d 0.01 -o t.dat -e "$word"
}

in_a_namespace()
{
	unshare -m true || skip 'no mount namespaces here'
	mkdir "$scratch/hidden"
	begin unshare -m sh -c 'mount -t tmpfs tmpfs "$1" && cp "$2"/program "$2"/liblisted.so "$1" && exec "$1/program"' \
		- "$scratch/hidden" "$bin"
	must_not [ -e "$scratch/hidden/program" ]
	run 0 "$SCHEDTAP" list -p $listed
	must diff - <(of_ours) <<-END
	usdt      usdt:/proc/$listed/root$scratch/hidden/program:listed:in_program(s32 arg0, u64 arg1)
	usdt      usdt:/proc/$listed/root$scratch/hidden/liblisted.so:listed:in_library(s32 arg0, u64 arg1)
	user      listed:own: program [$listed]
	END
	run 0 "$SCHEDTAP" record -d 0.01 -o t.dat -e "usdt:/proc/$listed/root$scratch/hidden/program:listed:in_program"
}

deleted()
{
	cp "$bin/program" "$bin/liblisted.so" .
	begin ./program
	rm liblisted.so
	run 0 "$SCHEDTAP" list -p $listed
	must grep -q "^-  *$PWD/liblisted.so (deleted): its probes cannot be listed" out
	must grep -q '^usdt .*:in_program(' out
}

without_any()
{
	sleep 100 &
	run 1 "$SCHEDTAP" list -p $!
	says "process $! has no USDT probes and no schedtap tracepoints"
}

refused()
{
	sleep 0 &
	listed=$!
	wait $listed
	run 1 "$SCHEDTAP" list -p $listed
	says "there is no process $listed"
	begin "$bin/program"
	cp "$SCHEDTAP" "$scratch/schedtap"
	run 3 setpriv --reuid 65534 --clear-groups --bounding-set=-all env -u XDG_RUNTIME_DIR "$scratch/schedtap" list -p $listed
	says "cannot read which files process $listed has mapped: it is another user's: run as root"
	run 2 "$SCHEDTAP" list -p $listed sched_switch
	says '-p lists all probes of a process'
	run 2 "$SCHEDTAP" list -p $listed --enabled
}

check 'probes of the program and its library, and its own event' all
check 'what is listed can be recorded' recorded
check 'a process in another mount namespace' in_a_namespace
check 'a library that was deleted' deleted
check 'a process without probes' without_any
check 'a process that is gone, and of another user; other options' refused
done_testing
