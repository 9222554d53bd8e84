#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The cost of a site in instructions: read from the disassembly for an event that is off; counted by
# valgrind, which has no rseq, for one that is on.
cd "$(dirname "$0")/../.." || exit 1
library=${LIBRARY:-build/libschedtap-tracepoint.a}
most=200
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0
failed=0

ok() { n=$((n + 1)); echo "ok $n - $1"; }
skip() { ok "$1 # SKIP $2"; }
not_ok() { n=$((n + 1)); failed=1; echo "not ok $n - $1"; sed 's/^/# /' "$tmp/out" >&2; }

cat >"$tmp/site.c" <<'END'
#include "tracepoint_events.h"
void site(void);
void site(void)
{
	trace_request(1, 2, "");
}
END

# The instructions of site() up to where it returns or goes on to the tracepoint.
disassemble() { # OBJECT
	objdump -d --no-show-raw-insn "$1" | awk '/<site>:/ { on = 1; next } /^$/ { on = 0 }
		on && !/\t(endbr64|nop)/ { sub(/^[^\t]*\t/, ""); print }'
}

# The path of a site that is off, without its return: a jump that is not taken ends the test.
is_off_path() {
	awk 'NR == 1 { a = /^mov +0x0\(%rip\),%r/ } NR == 2 { b = /^cmpl +\$0x0,\(%r/ }
		NR == 3 { c = /^jne/ } NR == 4 { d = /^ret/ } END { exit !(a && b && c && d) }' "$tmp/out"
}

# Whether it can be compiled and read here; a skip where not.
can() { # NAME COMPILER
	if [ "$(uname -m)" != x86_64 ]; then
		skip "$1" 'written for x86-64'
	elif ! command -v "$2" >/dev/null; then
		skip "$1" "no $2"
	else
		return 0
	fi
	return 1
}

flag_load() { # COMPILER FLAG
	local name="a site that is off is a load, a test and a jump: $1 $2"

	can "$name" "$1" || return
	"$1" -O2 "$2" -Iinclude -Ibench -c "$tmp/site.c" -o "$tmp/site.o" &&
		disassemble "$tmp/site.o" >"$tmp/out"
	is_off_path && ok "$name" || not_ok "$name"
}

# A patched site that is off: its nop, and what comes after it.
flag_patch() { # COMPILER FLAG
	local name="a patched site that is off is a nop: $1 $2"

	can "$name" "$1" || return
	"$1" -O2 "$2" -DTAP_STATIC_KEYS=patch -Iinclude -Ibench -c "$tmp/site.c" -o "$tmp/site.o" &&
		objdump -d --no-show-raw-insn "$tmp/site.o" | awk '/<site>:/ { on = 1; next } /^$/ { on = 0 }
			on && !/\tendbr64/ { sub(/^[^\t]*\t/, ""); print }' | head -n 2 >"$tmp/out"
	printf 'nopl 0x0(%%rax,%%rax,1)\nret\n' | diff -bB - "$tmp/out" >/dev/null && ok "$name" || not_ok "$name"
}

# Callgrind's count of one event more.
slope() { # on|off
	local events

	for events in 10000 110000; do
		XDG_RUNTIME_DIR=$tmp valgrind --tool=callgrind --callgrind-out-file=/dev/null \
			"$tmp/load" "$1" $events 2>&1 >/dev/null | sed -n 's/.*Collected : //p'
	done | awk '{ v[NR] = $1 } END { printf "%.0f\n", (v[2] - v[1]) / 100000 }'
}

enabled() {
	local name="an event that is on is at most $most instructions, the loop around it left out" count

	if ! command -v valgrind >/dev/null; then
		skip "$name" 'no valgrind'
		return
	fi
	cc -std=gnu17 -D_GNU_SOURCE -O2 -Iinclude -Isrc -Ibench bench/tracepoint_load.c "$library" \
		-o "$tmp/load" -lpthread
	# the site itself, three instructions, is part of it
	count=$(($(slope on) - $(slope off) + 3))
	echo "$count instructions" | tee "$tmp/out" | sed 's/^/# /'
	[ "$count" -gt 50 ] && [ "$count" -le "$most" ] && ok "$name" || not_ok "$name"
}

for compiler in gcc clang; do
	flag_load $compiler -fno-pic
	flag_load $compiler -fPIC
	flag_patch $compiler -fno-pic
	flag_patch $compiler -fPIC
done
enabled
echo "1..$n"
exit $failed
