#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What compilers make of static keys: that they take them, in each language and way to link, that a
# branch that is off costs one instruction when it is patched and three when it loads its key, and
# what tracers see of a USDT probe. Each compiler with its newest standard in all ways, with the older one at -O2;
# SOAK=1: with both in all.
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap '' PIPE # a program that ends early is a failure of one test
n=0

result() { # NAME, of the last command
	local status=$?
	n=$((n + 1))
	if [ $status = 0 ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		sed 's/^/# /' "$dir/log" >&2
	fi
}

skip() {
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}

c_flags='-Wall -Wextra -Werror -Iinclude'
for file in patch static_key; do
	cc -std=gnu17 -D_GNU_SOURCE $c_flags -Isrc -O2 -fPIC -fvisibility=hidden \
		-c src/tracepoint/$file.c -o "$dir/$file.o" || exit 1
done

# Build and run every combination of options; stop at the first that fails, with its output in $dir/log.
builds() { # COMPILER LANGUAGE STANDARD
	local opt pic keys opts=(-O2)
	[[ $3 = *11 && ! $SOAK ]] || opts=(-O0 -Og -O2 '-O2 -flto')
	for opt in "${opts[@]}"; do
		[[ $1 = clang* && $opt = *lto ]] && ! command -v ld.lld >/dev/null && continue
		[[ $1 = clang* && $opt = *lto ]] && opt+=' -fuse-ld=lld'
		for pic in -fPIC '-fPIE -pie' '-fno-pic -no-pie'; do
			for keys in load patch; do
				set -- "$1" "$2" "$3" $opt $pic -DTAP_STATIC_KEYS=$keys
				echo "$*" >"$dir/log"
				"$1" -std="$3" $c_flags "${@:4}" -x "$2" tests/tracepoint/static_key_any.c \
					-x none "$dir"/{patch,static_key}.o -o "$dir/any" -lpthread \
					>>"$dir/log" 2>&1 || return
				"$dir/any" >>"$dir/log" 2>&1 || { echo "exit $?" >>"$dir/log"; return 1; }
			done
		done
	done
}

while read -r compiler language standard; do
	name="$compiler, $standard"
	if command -v "$compiler" >/dev/null; then
		builds "$compiler" "$language" "$standard"
		result "$name"
	else
		skip "$name" "no $compiler"
	fi
done <<'EOF'
gcc c gnu11
gcc c gnu17
clang c gnu11
clang c gnu17
g++ c++ c++11
g++ c++ c++17
clang++ c++ c++11
clang++ c++ c++17
EOF

# C++: two files have the same function
cat >"$dir/twice.cc" <<'EOF'
#include <schedtap/static_key.h>
DECLARE_STATIC_KEY_FALSE(off);
template <int twice> bool dropped()
{
	return TAP_BRANCH_USDT(&off.key, "schedtap_test", "dropped");
}
bool use_dropped();
bool use_dropped() { return dropped<1>(); }
EOF
twice() {
	g++ $c_flags -DTAP_STATIC_KEYS=patch -O1 -fno-inline -x c++ tests/tracepoint/static_key_any.c \
		"$dir/twice.cc" -x none "$dir"/{patch,static_key}.o -o "$dir/twice" -lpthread \
		>"$dir/log" 2>&1 && "$dir/twice" &&
		[ "$(readelf -n "$dir/twice" | grep -c 'Name: dropped')" = 1 ]
}
if command -v g++ >/dev/null; then
	twice
	result 'a C++ function that two files have has one branch'
else
	skip 'a C++ function that two files have has one branch' 'no g++'
fi

# the table of branches has only the code to need it
name='a linker that drops unused sections keeps the branches'
if command -v ld.lld >/dev/null; then
	cc $c_flags -O2 -ffunction-sections -fdata-sections -DTAP_STATIC_KEYS=patch -fuse-ld=lld \
		-Wl,--gc-sections tests/tracepoint/static_key_any.c "$dir"/{patch,static_key}.o \
		-o "$dir/any" -lpthread >"$dir/log" 2>&1 && "$dir/any"
	result "$name"
else
	skip "$name" 'no ld.lld'
fi

# what a branch costs: the instructions up to the function's return
cat >"$dir/site.c" <<'EOF'
#include <schedtap/static_key.h>
static DEFINE_STATIC_KEY_FALSE(key);
void hit(void);
void site(void);
void enable(void);
void enable(void)
{
	static_branch_inc(&key);
}
void site(void)
{
	if (BRANCH)
		hit();
}
EOF
plain='static_branch_unlikely(&key)'
usdt='TAP_BRANCH_USDT(&key.key,"schedtap_test","site")'
cost() { # KEYS PIC BRANCH: prints the instructions
	${compiler:-cc} $c_flags -O2 $2 -fcf-protection=none -DTAP_STATIC_KEYS=$1 "-DBRANCH=$3" \
		-c "$dir/site.c" -o "$dir/site.o" &&
		objdump -d --no-show-raw-insn "$dir/site.o" |
		awk -F'\t' '/<site>:/ { in_it = 1; next } in_it && /ret/ { exit } in_it { print $2 }'
}
for compiler in gcc clang; do
	for pic in -fPIC -fno-pic; do
		name="with $compiler $pic a branch that is off is"
		if ! command -v $compiler >/dev/null; then
			skip "$name one nop, two with a probe, three instructions loaded" "no $compiler"
			continue
		fi
		cost patch $pic "$plain" >"$dir/log" 2>&1
		[[ $(wc -l <"$dir/log") = 1 && $(<"$dir/log") = nop* ]]
		result "$name one nop"
		cost patch $pic "$usdt" >"$dir/log" 2>&1
		[[ $(wc -l <"$dir/log") = 2 && $(grep -c '^nop' "$dir/log") = 2 ]]
		result "$name two nops if it has a probe"
		cost load $pic "$plain" >"$dir/log" 2>&1
		[[ $(wc -l <"$dir/log") -le 3 && -s "$dir/log" ]]
		result "$name three instructions if it loads the key"
	done
done

# the note
cc $c_flags -O2 -DTAP_STATIC_KEYS=patch tests/tracepoint/static_key_any.c \
	"$dir"/{patch,static_key}.o -o "$dir/any" -lpthread >"$dir/log" 2>&1
readelf -n "$dir/any" >"$dir/log" 2>&1
grep -q 'Provider: schedtap_test' "$dir/log" && grep -q 'Name: dropped' "$dir/log"
result 'readelf sees a USDT probe'
at=$(awk '/Location:/ { print $2; exit }' "$dir/log" | sed 's/0x0*//; s/,//')
objdump -d --no-show-raw-insn "$dir/any" | grep "^ *$at:" >"$dir/log"
grep -q nop "$dir/log"
result 'its note says where the nop is'

# a tracer comes and goes while the key is on
cat >"$dir/traced.c" <<'EOF'
#include <schedtap/static_key.h>
#include <stdio.h>
static DEFINE_STATIC_KEY_FALSE(key);
static __attribute__((noinline)) bool site(void)
{
	return TAP_BRANCH_USDT(&key.key, "schedtap_test", "traced");
}
int main(void)
{
	static_branch_inc(&key);
	while (getchar() != EOF) {
		if (!site())
			return 1;
		putchar('.');
		fflush(stdout);
	}
	static_branch_dec(&key);
	return site() || tap_patch_error();
}
EOF
traced() {
	local tracer traced
	cc $c_flags -O2 -DTAP_STATIC_KEYS=patch "$dir"/{traced.c,patch.o,static_key.o} \
		-o "$dir/traced" -lpthread >"$dir/log" 2>&1 || return
	mkfifo "$dir/in"
	"$dir/traced" <"$dir/in" >"$dir/passed" 2>>"$dir/log" &
	traced=$!
	exec 3>"$dir/in"
	bpftrace -e "BEGIN { printf(\"here\n\"); } usdt:$dir/traced:schedtap_test:traced { @ = count(); }" \
		>"$dir/trace" 2>&1 &
	tracer=$!
	until grep -q here "$dir/trace"; do kill -0 $tracer && sleep 0.1 || break; done
	printf abc >&3 2>/dev/null
	until grep -q '\.\.\.' "$dir/passed"; do kill -0 $traced && sleep 0.1 || break; done
	kill -INT $tracer
	wait $tracer
	printf abc >&3 2>/dev/null
	exec 3>&-
	wait $traced && cat "$dir/trace" >>"$dir/log" && grep -q '^@: 3' "$dir/trace"
}
if command -v bpftrace >/dev/null && [ "$(id -u)" = 0 ]; then
	bpftrace -l "usdt:$dir/any:*" >"$dir/log" 2>&1
	grep -q 'schedtap_test:dropped' "$dir/log"
	result 'bpftrace lists it'
	traced
	result 'a tracer comes and goes while the key is on'
else
	skip 'bpftrace lists it' 'no bpftrace, or not root'
	skip 'a tracer comes and goes while the key is on' 'no bpftrace, or not root'
fi
echo "1..$n"
