#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# torture.c for SECONDS_EACH [1; 10 where SOAK is set] in each build, the library included: with the sanitizers as judges, and with
# patched sites, by clang, and where SOAK is set by gcc, too. Beside it, patch_torture.c: static keys alone.
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
seconds=${SECONDS_EACH:-${SOAK:+10}}
seconds=${seconds:-1}
nr=0
failed=0
mkdir -m 700 "$scratch/run"
export XDG_RUNTIME_DIR=$scratch/run
flags='-std=gnu17 -D_GNU_SOURCE -Iinclude -Isrc -Itests -fvisibility=hidden -fPIC -O2 -g -Wall -Wextra -Werror
	-Wno-missing-field-initializers'

# torture NAME CC FLAG...: the library, a provider to load and unload, and the program
torture()
{
	local name=$1 cc=$2 dir=$scratch/$((nr + 1))

	shift 2
	nr=$((nr + 1))
	mkdir "$dir"
	if { $cc $flags "$@" -shared -Wl,-z,nodelete -Wl,-soname,libtp.so -o "$dir/libtp.so" src/tracepoint/*.c &&
		$cc $flags "$@" -shared -o "$dir/provider.so" tests/tracepoint/provider.c -L"$dir" -ltp &&
		$cc $flags "$@" -o "$dir/torture" tests/tracepoint/torture.c -L"$dir" -ltp -Wl,-rpath,"$dir" -ldl -lpthread &&
		timeout $((seconds + 120)) "$dir/torture" "$seconds" "$dir/provider.so"; } >"$dir/log" 2>&1 &&
		grep -q '; nothing failed$' "$dir/log"; then
		echo "ok $nr - $name"
		sed 's/^/# /' "$dir/log"
	else
		echo "not ok $nr - $name"
		head -n 60 "$dir/log" | sed 's/^/# /' >&2
		failed=1
	fi
}

echo 1..$((SOAK ? 5 : 4))
torture 'plain' gcc
torture 'AddressSanitizer and UndefinedBehaviorSanitizer' gcc -fsanitize=address,undefined -fno-sanitize-recover=undefined
torture 'ThreadSanitizer' gcc -fsanitize=thread
[ -z "$SOAK" ] || torture 'patched sites' gcc -DTAP_STATIC_KEYS=patch
torture 'patched sites, built by clang' clang -DTAP_STATIC_KEYS=patch
exit $failed
