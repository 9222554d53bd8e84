#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The library that reads recordings has the functions of its headers and no others, and needs what reading needs: not
# what recording does.
cd "$(dirname "$0")/../.." || exit 1
build=$(dirname "${SCHEDTAP:-build/schedtap}")
so=$build/libschedtap.so
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
# all but those for programs' tracepoints, which are another library's
headers=$(printf '%s\n' include/schedtap/*.h | grep -vE '/(define_trace|object|static_|trace)')
n=0
same() # what, got, wanted
{
	n=$((n + 1))
	[ "$2" = "$3" ] && echo "ok $n - $1" && return
	echo "not ok $n - $1"
	diff <(echo "$3") <(echo "$2") | sed 's/^/# /' >&2
}

names() { nm -D --defined-only "$so" | sed -n 's/.* T \(.*\)@@SCHEDTAP_0\.1$/\1/p'; }

echo 1..3
# beside the C library, and what a build with sanitizers brings
needed=$(readelf -d "$so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.|ld-linux|lib[a-z]*san\.|libpthread\.)' | sort)
same 'it needs zlib, liblzma, zstd and jansson' "$needed" $'libjansson.so.4\nliblzma.so.5\nlibz.so.1\nlibzstd.so.1'
same 'it has what its headers declare' "$(names | sort)" \
	"$(cat $headers | tr '\n' ' ' | grep -oE 'TAP_API[^;{]*' |
		grep -oE 'tap_[a-z0-9_]+\(' | tr -d '(' | sort -u)"

# linked with what the .pc file says, a program that uses all of it has nothing left over
{
	sed 's|include/\(.*\)|#include <\1>|' <<<"$headers"
	echo 'int main(int argc, char **argv) { (void)argv; return argc > 1 ? '
	names | sed 's/.*/(long)(void *)& == 1 ||/'
	echo '0 : 0; }'
} >"$dir/all.c"
static=$(sed -n 's/^Libs\.private: //p' tools/schedtap.pc.in)
san=$(nm "$build/libschedtap.a" 2>/dev/null | grep -q __asan_init && echo -fsanitize=address,undefined)
# shellcheck disable=SC2086
same 'the static library too' "$(cc $san -Iinclude "$dir/all.c" "$build/libschedtap.a" $static -o "$dir/all" 2>&1 && "$dir/all" 2>&1)" ''
