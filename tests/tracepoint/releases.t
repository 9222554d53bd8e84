#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A program that is built with the headers of a later release runs with this library, unless they say that it cannot.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-$PWD/build}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export XDG_RUNTIME_DIR=$scratch LD_LIBRARY_PATH=$scratch
ln -s "$build/libschedtap-tracepoint.so" "$scratch/libschedtap-tracepoint.so.0"

# later ABI LIBRARY LINES: headers of a release whose structs have grown; so many lines are other ones
later()
{
	rm -rf "$scratch/include"
	cp -r include "$scratch/include"
	sed -i "s/^#define TAP_ABI 2$/#define TAP_ABI $1/; s/^#define TAP_ABI_LIBRARY 1 /#define TAP_ABI_LIBRARY $2 /
		s/^\tuint8_t filtered;.*/&\n\tuint64_t more[3];/; s/^\tuint32_t uses;.*/&\n\tuint64_t later[4];/" \
		"$scratch/include/schedtap/trace_events.h"
	sed -i 's/^\tstruct static_key key;.*/&\n\tuint64_t later[2];/' "$scratch/include/schedtap/tracepoint.h"
	sed -i 's/^\(\t* *0\) };$/\1, { 0 } };/' "$scratch/include/schedtap/object.h"
	[ "$(diff -r include "$scratch/include" | grep -c '^>')" = "$3" ] || return 1
	${CC:-cc} -std=gnu11 -O2 -I"$scratch/include" -Itests -Itests/tracepoint tests/tracepoint/emit.c \
		-o "$scratch/emit" -L"$build" -lschedtap-tracepoint
}

nr=0
check() # WHAT COMMAND...
{
	local what=$1 result=ok

	shift
	"$@" >"$scratch/log" 2>&1 || result='not ok'
	echo "$result $((++nr)) - $what"
	[ "$result" = ok ] || sed 's/^/# /' "$scratch/log"
}

records()
{
	local said

	later 3 1 5 || return 1
	said=$(TAP_TRACE='rules:*' TAP_TRACE_FILE=$scratch/r.dat TAP_TRACE_RECORDER=$build/schedtap "$scratch/emit" 10 0)
	[ "$said" = 'nothing failed' ] && [ "$("$build/schedtap" dump -i "$scratch/r.dat" | grep -c 'v=[0-9] text=fifteen')" = 10 ]
}

refuses()
{
	later 4 3 6 || return 1
	"$scratch/emit" 10 0 | grep -x 'events of a library are off: the library was built for a later libschedtap-tracepoint'
}

check 'structs that have grown' records
check 'headers that need a later library' refuses
echo 1..$nr
