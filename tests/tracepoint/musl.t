#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The library and programs with events, built against musl: they record what they fire, dynamic and static, with
# loaded and with patched sites, and stand the torture.
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
command -v musl-gcc >/dev/null || { echo '1..0 # SKIP no musl-gcc on this machine (package musl-tools)'; exit 0; }
schedtap=${BUILD:-$top/build}/schedtap
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -m 700 "$scratch/run"
export XDG_RUNTIME_DIR=$scratch/run
nr=0
failed=0

# the kernel's headers, and no others of glibc's folder
multiarch=/usr/include/$(gcc -print-multiarch)
mkdir "$scratch/kernel"
for folder in linux asm-generic asm; do
	ln -s "$([ -d "/usr/include/$folder" ] && echo /usr/include || echo "$multiarch")/$folder" "$scratch/kernel/$folder"
done
cc="musl-gcc -idirafter $scratch/kernel -std=gnu17 -D_GNU_SOURCE -Iinclude -Isrc -Itests -fvisibility=hidden -fPIC -O2 -g
	-Wall -Wextra -Wno-missing-field-initializers -Werror"

# tap NAME COMMAND...: ok if it succeeds
tap()
{
	local name=$1

	shift
	nr=$((nr + 1))
	if "$@" >"$scratch/log" 2>&1; then
		echo "ok $nr - $name"
	else
		echo "not ok $nr - $name"
		head -n 30 "$scratch/log" | sed 's/^/# /' >&2
		failed=1
	fi
}

library()
{
	local file

	for file in src/tracepoint/*.c; do
		$cc -fno-plt -c "$file" -o "$scratch/$(basename "$file" .c).o" || return
	done
	ar rcs "$scratch/libtp.a" "$scratch"/*.o &&
		$cc -shared -Wl,-z,nodelete -Wl,-soname,libtp.so "$scratch"/*.o -o "$scratch/libtp.so"
}

# recorded FLAG...: a program, and all that it and its child fire
recorded()
{
	$cc "$@" -Wl,-rpath,"$scratch" -o "$scratch/emit" &&
		"$schedtap" record -o "$scratch/emit.dat" -b user -e 'rules:*' -- "$scratch/emit" 500 10 fork &&
		"$schedtap" dump -i "$scratch/emit.dat" >"$scratch/out" &&
		[ "$(sed -n 's/.*rules:plain: .*v=\([0-9]*\) .*/\1/p' "$scratch/out" | sort -n | tr '\n' ' ')" = "$(seq -s ' ' 0 1499) " ]
}

tortured()
{
	$cc "$@" -shared -o "$scratch/provider.so" tests/tracepoint/provider.c "$scratch/libtp.so" -Wl,-rpath,"$scratch" &&
		$cc "$@" -o "$scratch/torture" tests/tracepoint/torture.c "$scratch/libtp.so" -Wl,-rpath,"$scratch" &&
		timeout 120 "$scratch/torture" 2 "$scratch/provider.so" >"$scratch/out" && grep -q '; nothing failed$' "$scratch/out"
}

echo 1..6
tap 'the library compiles, without a word' library
tap 'a program with the shared library' recorded tests/tracepoint/emit.c "$scratch/libtp.so"
tap 'a static program' recorded -static -fno-pic tests/tracepoint/emit.c "$scratch/libtp.a"
tap 'a static program with patched sites' recorded -static -fno-pic -DTAP_STATIC_KEYS=patch tests/tracepoint/emit.c "$scratch/libtp.a"
tap 'torture' tortured
tap 'torture of patched sites' tortured -DTAP_STATIC_KEYS=patch
exit $failed
