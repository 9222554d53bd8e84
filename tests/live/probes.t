#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Probes of programs as events, on a program whose arguments are known (probed.c): values, filters, whose they are, what is
# left of them, and what is refused.
top=$(cd "$(dirname "$0")/../.." && pwd)
SCHEDTAP=$(realpath "${SCHEDTAP:-$top/build/schedtap}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. "$top/tests/live/lib.sh"
needs_root
[ "$(uname -m)" = x86_64 ] || plan_skip "the probes are those of x86-64"
[ -e /sys/bus/event_source/devices/uprobe/type ] || plan_skip "this kernel has no uprobes"
bin=$scratch/bin
mkdir "$bin"
gcc -O2 -o "$bin/probed" "$top/tests/live/probed.c" &&
	gcc -O2 -static -o "$bin/probed_static" "$top/tests/live/probed.c" || { echo 'Bail out! gcc'; exit 1; }

# fields FILE [OPTION...]: of each event its name and fields, in order
fields()
{
	events "$@" | sed 's/^.* [0-9.]*: //'
}

# ---- values ----

all='{a=arg0, b=arg1, c=arg2, d=arg3, e=arg4, f=arg5, g=arg6, h=arg7, text=str(arg8)}'

values_of()
{
	local file=$bin/$1

	run 0 "$SCHEDTAP" record -o t.dat -e "usdt:$file:demo:places$all" -e "usdt:$file:demo:two_places{i=arg0}" \
		-e "uprobe:$file:twice{i=arg0, text=str(arg1), low=(s8)(arg0 + 255)}" -e "uretprobe:$file:twice" -- "$file" 3
	must grep -q ' 12 events, .* 0 lost' err
	for i in 0 1 2; do
		echo "uprobe:twice: i=$i text=pass low=$((i - 1))"
		echo "uretprobe:twice: retval=$((2 * i))"
		echo "usdt:demo_places: a=$((-i)) b=$((1000 + i)) c=-5 d=$((70 + i)) e=$((-i)) f=2 g=$i h=66 text=pass"
		echo "usdt:demo_two_places: i=$i"
	done >want
	fields t.dat >got
	must diff want got
	# their common_pid is the program's, whose name the recording has
	[ "$(events t.dat | grep -c "^ *$(basename "$file")-[0-9]* ")" = 12 ] || fail "$(events t.dat)"
}

trace_cmd()
{
	run 0 "$SCHEDTAP" record -o t.dat -e "usdt:$bin/probed:demo:places{a=arg0, b=arg1, f=arg5, text=str(arg8)}" \
		-e "usdt:$bin/probed:demo:plain" -- "$bin/probed" 1
	trace-cmd report -i t.dat >text 2>/dev/null
	must grep -q 'demo_places: *a=0 b=1000 f=2 text=pass$' text
	must grep -q 'demo_plain: *pc=[0-9]' text
	must grep -aq 'TRACE_HOOK(demo_plain, ..usdt:' t.dat # its definition is in it
}

without_braces()
{
	run 0 "$SCHEDTAP" record -o t.dat -e "usdt:$bin/probed:demo:places" -e "uprobe:$bin/probed:twice" -- "$bin/probed" 1
	must grep -q '^usdt:demo_places: arg0=0 arg1=1000 arg2=-5 arg3=70 arg4=0 arg5=2 arg6=0 arg7=66 arg8=[0-9]*$' <(fields t.dat)
	must grep -q '^uprobe:twice: arg0=0 arg1=[0-9]* arg2=.* arg5=[0-9]*$' <(fields t.dat)
}

names()
{
	run 0 "$SCHEDTAP" record -o t.dat -e "uprobe:$bin/probed:twice{arg0}" -e "uprobe:$bin/probed:twice{second=arg0}" \
		-e "uprobe:$bin/probed:twice+0x0{third=arg0}" -- "$bin/probed" 1
	[ "$(fields t.dat | sort)" = 'uprobe:twice: arg0=0
uprobe:twice_2: second=0
uprobe:twice_3: third=0' ] || fail "$(fields t.dat)"
}

from_a_file()
{
	cat >own.h <<-END
	#undef TRACE_SYSTEM
	#define TRACE_SYSTEM mine
	TRACE_EVENT(passes,
		TP_PROTO(int minus, u64 on_stack), TP_ARGS(minus, on_stack),
		TP_STRUCT__entry(__field(s32, minus) __field(u32, sum) __array(char, name, 16)),
		TP_fast_assign(
			struct task_struct *p = tp_current();

			__entry->minus = minus;
			if (minus)
				__entry->sum = on_stack + minus;
			memcpy(__entry->name, p->comm, 16);),
		TP_printk("%d %u %s", __entry->minus, __entry->sum, __entry->name));
	TRACE_HOOK(passes, "usdt:$bin/probed:demo:places", TP_PROTO(int minus, u64 on_stack), TP_ARGS(minus, on_stack));
	END
	run 0 "$SCHEDTAP" record -o t.dat --define own.h -e passes -- "$bin/probed" 2
	[ "$(fields t.dat)" = 'mine:passes: 0 0 probed
mine:passes: -1 1000 probed' ] || fail "$(fields t.dat)"
	sed -i 's/demo:places/demo:place/' own.h
	run 1 "$SCHEDTAP" record -o u.dat --define own.h -e passes -d 1
	says "did you mean 'demo:places'?"
	sed -i 's/"usdt:.*:place"/"usdt"/' own.h
	run 2 "$SCHEDTAP" record -o u.dat --define own.h -e passes -d 1
	says 'own.h:' 'not a probe:'
	sed -i 's/"usdt"/"kprobe:a:b:c"/' own.h
	run 2 "$SCHEDTAP" record -o u.dat --define own.h -e passes -d 1
	says "'kprobe:a:b:c' is incomplete"
}

# ---- which, and whose ----

# count COUNT [OPTION...]: 1000 passes are recorded so often
count()
{
	local want=$1

	shift
	# on one CPU: changed() and moved() keep a separate previous value per CPU where an event is not of a task
	run 0 "$SCHEDTAP" record -o t.dat "$@" -- taskset -c 0 "$bin/probed" 1000
	grep -q " $want events, .* 0 lost" err || fail "not $want events of: $*: $(cat err)"
}

filters()
{
	count 1000 -e "uprobe:$bin/probed:twice"
	count 10 -e "uprobe:$bin/probed:twice{i=arg0} if i >= 990"
	count 10 -e "uprobe:$bin/probed:twice{i=arg0}" -f 'i >= 990'
	count 1 -e "uprobe:$bin/probed:twice{i=arg0} if i >= 990" -f 'i < 991'
	count 0 -e "uprobe:$bin/probed:twice{text=str(arg1)} if text == \"fail\""
	count 1000 -e "uprobe:$bin/probed:twice{text=str(arg1)} if text ~ \"pa*\""
	# the places of one probe have one past
	count 100 -e "usdt:$bin/probed:demo:two_places{tens=arg0 / 10} if changed(tens)"
}

# Two programs, of which one is recorded.
one_process()
{
	local one two

	mkfifo go_one go_two
	"$bin/probed" 100 wait <go_one >/dev/null & one=$!
	"$bin/probed" 100 wait <go_two >/dev/null & two=$!
	exec 3>go_one 4>go_two
	start t.dat -e "uprobe:$bin/probed:twice" "$@" -p $one
	echo >&4
	wait $two
	echo >&3
	ends 0
	must grep -q ' 100 events, ' t.dat.err
	[ "$(events t.dat | sed 's/^ *\([^ ]*\) .*/\1/' | sort -u)" = "probed-$one" ] || fail "$(events t.dat | head -3)"
}

scope()
{
	count 1000 -e "uprobe:$bin/probed:twice" -c 'prob*'
	count 0 -e "uprobe:$bin/probed:twice" -c absent
	one_process
}

# ---- what is left ----

# The program says whether somebody has its semaphore.
semaphore_is()
{
	[ "$("$bin/probed")" = "semaphore $1" ]
}

nothing_left()
{
	must semaphore_is 0
	start t.dat -e "usdt:$bin/probed:demo:places"
	programs $recorder >ids
	must test -s ids
	must semaphore_is 1
	ends 0 INT
	must semaphore_is 0
	must wait_for programs_gone ids
	start u.dat -e "usdt:$bin/probed:demo:places{arg0} if arg0 < 0"
	must semaphore_is 1
	ends 137 KILL
	must wait_for semaphore_is 0
}

# ---- what is refused ----

# refused RC WORD TEXT...: recording it, with nothing recorded
refused()
{
	local rc=$1 word=$2

	shift 2
	run "$rc" "$SCHEDTAP" record -o none.dat -d 5 -e "$word"
	[ "$(wc -l <err)" -le 3 ] || fail "$(cat err)"
	says "$@"
	must_not [ -e none.dat ] && must_not [ -e none.dat.spool ]
}

# The file with byte @2 of its header set.
with_byte()
{
	cp "$bin/probed" "$1"
	printf "\\x$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

refusals()
{
	refused 1 'usdt:./none:a:b' "cannot find the program or library './none'"
	refused 2 'usdt:/tmp:a:b' 'is not a regular file'
	refused 2 'usdt:/etc/passwd:a:b' 'is not an ELF file'
	refused 2 'usdt::a:b' 'is incomplete'
	refused 2 "usdt:$bin/probed:demo:a\"b" "a probe cannot contain quotes"
	refused 2 "usdt:$bin/probed:demo:a"$'\n'b "a probe cannot contain quotes"
	cp "$bin/probed" 'with"quote'
	ln -s 'with"quote' link
	refused 2 'usdt:./link:demo:plain' "a probe's path cannot contain quotes"
	refused 1 "usdt:$bin/probed:demo:plainn" "did you mean 'demo:plain'?"
	refused 1 "usdt:$bin/probed:x:y" "'schedtap list usdt:"
	refused 2 "usdt:$bin/probed:demo:two_places" "'arg1' ('8@%xmm1' in the file) cannot be read"
	refused 2 "usdt:$bin/probed:demo:places{x}" "'x' is neither a variable nor an argument of the probe, which has arg0"
	refused 2 "usdt:$bin/probed:demo:places{arg0" "the '}' is missing"
	refused 1 "uprobe:$bin/probed:twise" "did you mean 'twice'?"
	refused 2 "uprobe:$bin/probed:twice+0x1000" "is beyond the function's end"
	refused 2 "uprobe:$bin/probed:twice+x" 'only +OFFSET'
	refused 2 "uretprobe:$bin/probed:twice+1" 'a uretprobe cannot have an offset'
	refused 1 "uprobe:$bin/probed:printf" "has no function 'printf'"
	refused 2 'uprobe:libc.so.6:memcpy' 'IFUNC'
	strip -o stripped "$bin/probed"
	refused 1 'uprobe:./stripped:twice' 'the file is stripped'
	refused 2 'usdt:./stripped:demo:places{arg3}' 'the file has no such symbol: it may be stripped'
	with_byte of_32_bits 4 01
	refused 2 'uprobe:./of_32_bits:twice' 'is a 32-bit program'
	with_byte of_arm64 18 b7
	refused 2 'uprobe:./of_arm64:twice' 'built for another architecture'
	with_byte object 16 01
	refused 2 'uprobe:./object:twice' 'neither a program nor a shared library'
}

# The kernel takes one place with a semaphore and without one not at the same time.
cannot_attach()
{
	local at

	run 0 "$SCHEDTAP" record -o t.dat -e "usdt:$bin/probed_static:demo:places{pc}" -- "$bin/probed_static"
	at=$(fields t.dat | sed -n 's/.*pc=//p')
	at=$((at - 0x$(nm "$bin/probed_static" | sed -n 's/ T main$//p')))
	start t.dat -e "usdt:$bin/probed_static:demo:places"
	run 1 "$SCHEDTAP" record -o none.dat -d 1 -e "uprobe:$bin/probed_static:main+$at"
	says 'no event can be recorded over BPF: cannot attach its BPF program: Invalid argument'
	must_not [ -e none.dat ] && must_not [ -e none.dat.spool ]
	run 0 "$SCHEDTAP" record -o u.dat -d 0.2 -e "uprobe:$bin/probed_static:main+$at" -e sched_switch
	says "without uprobe:main_0x$(printf %x "$at"): cannot attach"
	ends 0 INT
}

# Where /sys does not have it, as it is without CONFIG_UPROBE_EVENTS.
no_uprobes()
{
	echo 'mount -t tmpfs none /sys/bus/event_source && exec "$@"' >hide
	without="unshare -m sh $PWD/hide"
	$without true || skip 'no mount namespaces here'
	run 3 $without "$SCHEDTAP" record -o none.dat -e "usdt:$bin/probed:demo:plain" -- touch ran
	[ "$(cat err)" = 'schedtap: usdt:demo_plain: this kernel has no uprobes: boot a kernel built with CONFIG_UPROBE_EVENTS=y' ] ||
		fail "$(cat err)"
	must_not [ -e none.dat ] && must_not [ -e none.dat.spool ] && must_not [ -e ran ]
	run 0 $without "$SCHEDTAP" record -o t.dat -e sched_switch -e "usdt:$bin/probed:demo:plain" -d 0.2
	says 'without usdt:demo_plain: this kernel has no uprobes'
	finished t.dat
	run 0 $without "$SCHEDTAP" list "usdt:$bin/probed:demo:plain"
	must grep -q '^- *usdt:demo_plain: this kernel has no uprobes' out
	run 0 $without "$SCHEDTAP" doctor
	must grep -q '^no *uprobes ' out
}

listed()
{
	run 0 "$SCHEDTAP" list "usdt:$bin/probed"
	diff - out <<-END
	usdt      usdt:$bin/probed:demo:places(s32 arg0, u64 arg1, s8 arg2, u64 arg3, s16 arg4, u8 arg5, u8 arg6, u8 arg7, u64 arg8)
	usdt      usdt:$bin/probed:demo:plain()
	usdt      usdt:$bin/probed:demo:two_places(s64 arg0, u64 arg1) in 2 places
	END
	run 1 "$SCHEDTAP" list usdt:libc.so.6:x
	run 0 "$SCHEDTAP" doctor
	must grep -q '^ok *uprobes ' out
}

check 'USDT, uprobe and uretprobe of a program that is moved: values' values_of probed
check 'of a static one' values_of probed_static
check 'trace-cmd prints them' trace_cmd
check 'without braces all arguments are fields' without_braces
check 'names of several on one probe' names
check 'from a header' from_a_file
check 'filters' filters
check '-c and -p' scope
check 'nothing is left, and the semaphore is back' nothing_left
check 'what is wrong is said, and nothing recorded' refusals
check 'a kernel without uprobes' no_uprobes
check 'a place that the kernel refuses' cannot_attach
check 'list and doctor' listed
done_testing
